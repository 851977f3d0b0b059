"""Columns of many categories: the plain search finds the same groups, and work grows with the rows."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from tests.helpers import peak_bytes
from treekit import C45Classifier, CARTClassifier, CARTRegressor, ID3Classifier, plain
from treekit.growing import categories
from treekit.growing.candidates import ChildLimits
from treekit.growing.categories import category_cells, score_groups
from treekit.growing.criteria import Entropy, Gini, SquaredError
from treekit.growing.level import descend, first_level
from treekit.growing.surrogates import Agreement
from treekit.plain import Row
from treekit.trees import routes
from treekit.trees.routes import Routes


def best_gain(column, y, groups, impurity) -> float:
    """Every group against the rest, summed anew by the plain formula; a category of -1 is missing."""

    def rows(group):
        return [Row({"is in": None if c < 0 else c in group}, k) for c, k in zip(column.tolist(), y.tolist())]

    return max(plain.gain(rows(group), ("is in", None), impurity) for group in groups)


def all_groups(categories):
    return (g for size in range(1, len(categories)) for g in itertools.combinations(categories, size))


def singles(categories):
    return ((c,) for c in categories)


@pytest.mark.parametrize("one_vs_rest", (False, True))
@pytest.mark.parametrize("n_classes", (2, 3, 0))
@pytest.mark.parametrize("seed", range(4))
def test_groups_are_the_best_of_all_groupings_in_every_node(seed, n_classes, one_vs_rest):
    rng = np.random.default_rng(seed)
    n, n_values = 60, 6
    column = rng.integers(-1, n_values, n)  # -1 is missing
    y = rng.integers(0, n_classes, n) if n_classes else rng.normal(size=n)
    criterion, impurity = (Gini(y, n_classes), plain.gini) if n_classes else (SquaredError(y), plain.squared_error)
    level = first_level(criterion.per_row, np.ones(n))
    level, _ = descend(level, rng.integers(0, 2, n), np.array([2]), 1)
    found = score_groups(level, column, n_values, criterion, np.ones(2), ChildLimits(), one_vs_rest=one_vs_rest)
    for node in range(2):
        rows = level.entry[level.node == node]
        categories = {c for c in column[rows].tolist() if c >= 0}
        groups = singles(categories) if one_vs_rest else all_groups(categories)
        gain = best_gain(column[rows], y[rows], groups, impurity)
        np.testing.assert_allclose(found.gain[0, node], gain, atol=1e-12)
        found_routes = found.routes[0]
        assert set(found_routes.category[found_routes.node == node]) == categories


@pytest.mark.parametrize("model", (CARTClassifier(), C45Classifier()))
def test_categories_are_found_alike_by_a_look_at_all_and_by_sorting(model, monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 20, (200, 4)).astype(str), columns=list("abcd")).mask(rng.random((200, 4)) < 0.1)
    y = rng.integers(0, 3, 200)
    frames = []
    for cells in (0, 10**6):
        monkeypatch.setattr(categories, "CELLS_PER_ENTRY", cells)
        frames.append(model.fit(X, y).tree_.to_frame())
    assert len(frames[0]) > 50 and frames[0].equals(frames[1])


def names(n):
    return [f"name {i}" for i in range(n)]


def tables(kind, n):
    rng = np.random.default_rng(n)
    match kind:
        case "distinct names beside a number":
            return pd.DataFrame({"a": names(n), "b": rng.normal(size=n)}), rng.integers(0, 2, n)
        case "distinct names":
            return pd.DataFrame({"a": rng.permutation(names(n))}), rng.normal(size=n)
        case "names of four rows" | "names of four rows, and gaps":
            X = pd.DataFrame({"a": rng.choice(names(n // 4), n), "b": rng.choice(names(n // 4), n)})
            return X.mask(rng.random(X.shape) < 0.05 * ("gaps" in kind)), rng.integers(0, 3, n)
        case "distinct numbers":
            return pd.DataFrame({"a": rng.normal(size=n), "b": rng.integers(0, 3, n)}), rng.integers(0, 2, n)


@pytest.mark.parametrize(
    ("model", "kind"),
    (
        (C45Classifier(), "distinct names beside a number"),
        (C45Classifier(conventions="quinlan"), "distinct names beside a number"),
        (ID3Classifier(), "distinct numbers"),
    ),
)
def test_memory_grows_with_the_rows(model, kind):
    few, many = (peak_bytes(lambda n=n: model.fit(*tables(kind, n))) for n in (1000, 4000))
    assert many < 6 * few


CART = (
    (CARTRegressor(), "distinct names"),
    (CARTRegressor(ccp_alpha=1e-4), "distinct names"),
    (CARTClassifier(), "names of four rows"),
    (CARTClassifier(categorical_split="one_vs_rest", max_depth=12), "names of four rows"),
    # Rows with gaps may leave a node one by one, so that trees in full are far deeper than the logarithm of the rows.
    (CARTRegressor(max_depth=12), "names of four rows, and gaps"),
    (CARTClassifier(max_depth=12), "names of four rows, and gaps"),
)


@pytest.mark.parametrize(("model", "kind"), CART)
def test_memory_of_cart_grows_as_rows_log_rows(model, kind):
    """Four times the rows: 4.8 times as much, and never a number for each node and category, which is 16 times."""
    few, many = tables(kind, 1000), tables(kind, 4000)
    small, grown = clone(model), clone(model)
    assert peak_bytes(lambda: grown.fit(*many)) < 6 * peak_bytes(lambda: small.fit(*few))
    assert peak_bytes(lambda: grown.tree_.predict(many[0])) < 6 * peak_bytes(lambda: small.tree_.predict(few[0]))


@pytest.mark.parametrize(("model", "kind"), CART)
def test_routes_of_cart_are_those_of_the_rows(model, kind):
    """A level has no more pairs of a node and a category than rows, in the tree and in each surrogate."""
    X, y = tables(kind, 1000)
    tree = model.fit(X, y).tree_
    for of_tree in (tree.routes, *(surrogate.routes for surrogate in tree.surrogates)):
        of_level = np.bincount(tree.depth[of_tree.node], minlength=tree.max_depth)
        assert (of_level <= len(X)).all()
    assert tree.routes.n_pairs > 0


@pytest.mark.parametrize(("model", "kind"), CART)
def test_work_of_cart_grows_as_rows_log_rows(model, kind, monkeypatch):
    """Counted in the pairs that are sorted, the categories that are looked up, and the sums that are scored."""
    count = [0]

    def count_work_of(owner, name, size):
        plain = getattr(owner, name)

        def counting(*args):
            count[0] += size(*args)
            return plain(*args)

        monkeypatch.setattr(owner, name, counting)

    count_work_of(routes, "_in_order", lambda key, branch: len(key))
    count_work_of(Routes, "branch_of", lambda self, node, category: len(node))
    for criterion in (Gini, SquaredError, Agreement):
        count_work_of(criterion, "saving", lambda self, left, total: left[0].size)

    def work(n):
        X, y = tables(kind, n)
        count[0] = 0
        model.fit(X, y).predict(X)
        return count[0]

    assert 0 < work(4000) < 6 * work(1000)


@pytest.mark.parametrize("model", (CARTClassifier(max_depth=3), CARTRegressor(max_depth=3)))
def test_cart_adds_up_each_row_once_for_each_order_of_the_categories(model, monkeypatch):
    """Counted in the numbers that the criterion is asked about, level by level."""
    asked = []
    for criterion in (Gini, SquaredError):

        def saving(self, left, total, plain=criterion.saving):
            asked.append(left[0].size)
            return plain(self, left, total)

        monkeypatch.setattr(criterion, "saving", saving)
    rng = np.random.default_rng(0)
    n = 3000
    X = pd.DataFrame({"a": rng.permutation(names(n))})
    model.fit(X, rng.integers(0, 3, n))
    assert 0 < sum(asked) <= 3 * 3 * n  # three levels, at most three orders: one for each class


def test_categories_without_rows_do_not_keep_the_others_from_being_tried():
    """Which groupings are tried depends on the node's own categories, not on how many the column once had."""
    rng = np.random.default_rng(1)
    letter, y = rng.choice(list("abcdef"), 60), rng.integers(0, 3, 60)
    used = CARTClassifier(max_depth=1).fit(pd.DataFrame({"c": letter}), y).tree_
    dtype = pd.CategoricalDtype(list("abcdefghijklmnop"))
    unused = CARTClassifier(max_depth=1).fit(pd.DataFrame({"c": pd.Categorical(letter, dtype=dtype)}), y).tree_
    assert unused.gain[0] == used.gain[0] and unused.value.tolist() == used.value.tolist()


def test_a_share_of_nothing_still_leaves_a_row_on_either_side():
    """An empty side would gain nothing, and be split again without end."""
    X = pd.DataFrame({"a": list("xyzxyz"), "b": list("ppqqpp")})
    tree = CARTClassifier(min_samples_leaf=0.0).fit(X, [0, 1, 2, 1, 2, 0]).tree_
    assert (tree.n_samples > 0).all()


def test_entropy_of_groups_too():
    rng = np.random.default_rng(1)
    column, label = rng.integers(0, 30, 200), rng.integers(0, 2, 200)
    criterion = Entropy(label, 2)
    level = first_level(criterion.per_row, np.ones(200))
    found = score_groups(level, column, 30, criterion, np.ones(1))
    share = np.array([label[column == c].mean() for c in range(30)])
    groups = (np.flatnonzero(share <= bound) for bound in np.unique(share)[:-1])
    np.testing.assert_allclose(found.gain[0, 0], best_gain(column, label, groups, plain.entropy), rtol=1e-12)


@pytest.mark.parametrize("n_classes", (2, 3))
def test_a_column_of_categories_without_any_splits_nothing(n_classes):
    X = pd.DataFrame({"empty": [None] * 6, "x": [1.0, 2, 3, 4, 5, 6]})
    tree = CARTClassifier().fit(X, np.arange(6) % n_classes).tree_
    assert set(tree.feature) == {1, -1}


def test_cells_are_numbered_in_64_bits_where_numpys_own_integers_have_32():
    """60,000 nodes times 50,000 categories, of which two have rows."""
    node = np.array([0, 59_999], dtype=np.int32)
    level = SimpleNamespace(node=node, entry=np.arange(2), n_nodes=60_000, addend=np.ones((1, 2), np.int64))
    level.unit, level.values = np.ones((1, 1)), lambda column, entries: column.take(entries)
    cells = category_cells(level, np.array([3, 49_999]), 50_000)
    assert cells.node.tolist() == [0, 59_999] and cells.category.tolist() == [3, 49_999]


@pytest.mark.parametrize("unit", [1, 10, 100])
def test_categories_of_equal_means_keep_their_order_whatever_rounding_does(unit):
    """The means of a and b are 5 units. In the order b, a, c three rows could be cut off, in a, b, c only two."""
    table = pd.DataFrame({"c": [*"aabbbcc"]})
    for spread in range(1, 5):
        y = np.array([5 - spread, 5 + spread, 5, 5, 5, 90, 90]) / unit
        assert CARTRegressor(min_samples_leaf=3).fit(table, y).tree_.n_nodes == 1
