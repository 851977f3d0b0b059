"""Many classes: the same trees as with few, and memory that does not grow with rows x classes."""

from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from tests.helpers import peak_bytes
from treekit import C45Classifier, CARTClassifier, ID3Classifier, RandomForestClassifier
from treekit.growing import categories, criteria, thresholds
from treekit.growing.criteria import Entropy, Gini
from treekit.growing.many_classes import ClassPairs, Labels, sums_at_places

CRITERIA = (Gini(np.zeros(1, dtype=int), 1), Entropy(np.zeros(1, dtype=int), 1))
by_criterion = pytest.mark.parametrize("criterion", CRITERIA, ids=("gini", "entropy"))

# -- the sums, beside their plain twin ------------------------------------------------------------------------------


def plain_sums(amount, label, is_in, is_in_node, criterion) -> tuple[int, float, float]:
    """Weight and sum of the terms of a group's rows, as shares, without the largest class of the node."""
    weight = {k: amount[is_in_node & (label == k)].sum() for k in range(label.max() + 1)}
    others = [k for k in weight if k != max(weight, key=weight.get)]
    whole = max(sum(weight[k] for k in others), 1)
    shares = np.array([amount[is_in & (label == k)].sum() for k in others]) / whole
    return amount[is_in].sum(), shares.sum(), criterion.term(shares).sum()


def items(rng, n_nodes=4, n_classes=5):
    """Amounts and labels of the items of some nodes, of which one has none."""
    start = np.append(0, np.cumsum(rng.integers(1, 12, n_nodes) * (np.arange(n_nodes) != 1)))
    return rng.integers(1, 100, start[-1]), rng.integers(0, n_classes, start[-1]), start


@by_criterion
@pytest.mark.parametrize("seed", range(5))
def test_sums_on_both_sides_of_every_place(seed, criterion):
    amount, label, start = items(np.random.default_rng(seed))
    found = sums_at_places(amount, label, start, criterion.term)
    place = np.arange(len(label))
    for node, (low, high) in enumerate(zip(start, start[1:])):
        in_node = (low <= place) & (place < high)
        whole = plain_sums(amount, label, in_node, in_node, criterion)
        np.testing.assert_allclose(found.total.take([node]), np.array([whole]).T, rtol=1e-14, atol=1e-15)
        for last in range(low, high):
            for sums, is_in in ((found.left, place <= last), (found.right, place > last)):
                expected = plain_sums(amount, label, in_node & is_in, in_node, criterion)
                np.testing.assert_allclose(sums.take([last]), np.array([expected]).T, rtol=1e-13, atol=1e-15)


@by_criterion
def test_sums_do_not_depend_on_other_nodes_nor_on_the_order_of_the_rows(criterion):
    """To the last digit, beside a node that weighs 1e12 times as much."""
    rng = np.random.default_rng(0)
    amount, label = rng.integers(1, 1000, 300), rng.integers(0, 40, 300)
    alone = sums_at_places(amount, label, np.array([0, 300]), criterion.term)
    shuffled = np.concatenate([rng.permutation(200), 200 + rng.permutation(100)])
    both = sums_at_places(
        np.concatenate([amount * 10**12, amount[shuffled]]),
        np.concatenate([label, label[shuffled]]),
        np.array([0, 300, 600]),
        criterion.term,
    )
    assert both.left.take([300 + 199]) == alone.left.take([199])
    assert both.right.take([300 + 199]) == alone.right.take([199])
    assert both.total.take([1]) == alone.total


@by_criterion
def test_the_sum_of_a_small_side_keeps_its_digits(criterion):
    """A row that weighs 1e-9 of its node: its square is 1e-18."""
    amount = np.array([1, 10**9, 10**9, 10**9, 1])
    found = sums_at_places(amount, np.arange(5), np.array([0, 5]), criterion.term)
    alone = criterion.term(np.array([1 / (2 * 10**9 + 2)]))
    np.testing.assert_allclose([found.left.terms[0], found.right.terms[3]], np.repeat(alone, 2), rtol=1e-9)
    assert found.right.terms[4] == found.right.others[4] == 0


@by_criterion
def test_a_node_that_is_nearly_pure_keeps_the_digits_of_what_a_cut_saves(criterion):
    """A node of 1e12 rows of one class and three of others, by exact fractions."""
    n, amount, label = 10**12, np.array([1, 10**12, 1, 1]), np.array([1, 0, 2, 3])
    sums = sums_at_places(amount, label, np.array([0, 4]), criterion.term)
    sums = sums._replace(left=sums.left.take(range(3)), right=sums.right.take(range(3)))
    found = (n + 3) * criterion.saving_of_classes(sums, np.zeros(3, dtype=int))

    def exact_cost(counts):
        whole = sum(counts)
        with localcontext() as context:
            context.prec = 60
            if isinstance(criterion, Gini):
                return whole - sum(Decimal(c) ** 2 for c in counts) / whole
            return -sum(c * (Decimal(c) / whole).ln() for c in counts if c) / Decimal(2).ln()

    sides = (((1, 0, 0, 0), (0, n, 1, 1)), ((1, n, 0, 0), (0, 0, 1, 1)), ((1, n, 1, 0), (0, 0, 0, 1)))
    with localcontext() as context:
        context.prec = 60
        exact = [float(exact_cost((1, n, 1, 1)) - exact_cost(left) - exact_cost(right)) for left, right in sides]
    np.testing.assert_allclose(found, exact, rtol=1e-12)


@by_criterion
@pytest.mark.parametrize("seed", range(5))
def test_sums_of_groups_of_categories(seed, criterion):
    """Each against the rest, all up to each, and a mask, in the order given and in another."""
    rng = np.random.default_rng(seed)
    amount, label, start = items(rng)
    row_node = np.repeat(np.arange(4), np.diff(start))
    cell, group = np.unique(row_node * 3 + rng.integers(0, 3, len(label)), return_inverse=True)
    row = np.argsort(group, kind="stable")
    amount, label, group, node = amount[row], label[row], group[row], cell // 3
    pairs = ClassPairs.of_rows(Labels(label, 5), amount, group, node, 4)
    for k, j in product(range(5), range(len(cell))):
        share = amount[(group == j) & (label == k)].sum() / amount[group == j].sum()
        assert pairs.share_in_group(np.full(len(cell), k))[j] == pytest.approx(share)

    order = np.lexsort((rng.random(len(cell)), node))
    is_left = rng.random(len(cell)) < 0.5
    each, masked = pairs.each(criterion.term), pairs.some(is_left, criterion.term)
    up_to_each, number = pairs.in_order(order).up_to_each(criterion.term), np.argsort(order)
    for j in range(len(cell)):
        in_node = node[group] == node[j]
        for found, at, is_in in (
            (each, j, group == j),
            (masked, node[j], is_left[group]),
            (up_to_each, number[j], number[group] <= number[j]),
        ):
            for sums, side in ((found.left, in_node & is_in), (found.right, in_node & ~is_in)):
                expected = plain_sums(amount, label, side, in_node, criterion)
                np.testing.assert_allclose(sums.take([at]), np.array([expected]).T, atol=1e-14)


# -- the same trees -------------------------------------------------------------------------------------------------

MODELS = {
    "cart": CARTClassifier(),
    "entropy": CARTClassifier(criterion="entropy"),
    "one against the rest": CARTClassifier(categorical_split="one_vs_rest"),
    "limits": CARTClassifier(min_samples_leaf=4, min_weight_fraction_leaf=0.01),
    "drawn columns": CARTClassifier(max_features=2, random_state=0),
    "c45": C45Classifier(),
    "quinlan": C45Classifier(conventions="quinlan"),
    "id3": ID3Classifier(),
    "forest": RandomForestClassifier(n_estimators=1, random_state=0),
}


def table(rng, n, gaps, words):
    """Numbers with ties; few categories in one column, and in another more than are tried in full."""
    X = pd.DataFrame({f"x{j}": rng.integers(0, (3, 10, 1000)[j], n).astype(float) for j in range(3)})
    if words:
        X["few"], X["more"] = (rng.integers(0, n_words, n).astype(str) for n_words in (4, 15))
    return X.mask(rng.random(X.shape) < 0.1 * gaps)


KINDS_OF_WEIGHTS = ("ones", "whole", "fractions", "spread")


def weights(rng, kind, n):
    match kind:
        case "ones":
            return None
        case "whole":
            return rng.integers(0, 4, n).astype(float)
        case "fractions":
            return rng.random(n)
        case "spread":
            return 10.0 ** rng.uniform(-5, 0, n)


def assert_same(tree, other):
    for name in ("feature", "n_children", "missing", "n_samples", "threshold", "gain", "impurity", "value", "weight"):
        np.testing.assert_allclose(getattr(tree, name), getattr(other, name), rtol=1e-8, atol=1e-11, err_msg=name)
    for routes, others in zip(tree.routes, other.routes):
        np.testing.assert_array_equal(routes, others)


@pytest.fixture
def grown_both_ways(monkeypatch):
    """A model's trees by columns of all classes, and those by labels alone, whatever the number of classes."""
    # Up to thirty classes the orders of the categories are tried in the order of the classes, else by frequency.
    monkeypatch.setattr(
        categories, "_most_frequent", lambda known: np.repeat(np.arange(len(known))[:, None], known.shape[1], axis=1)
    )

    def trees(model, X, y, weight):
        found = []
        for many in (np.inf, 3):
            monkeypatch.setattr(criteria, "MANY", many)
            model.fit(X, y, sample_weight=weight)
            found.append([model.tree_] if hasattr(model, "tree_") else [m.tree_ for m in model.estimators_])
        return zip(*found, strict=True)

    return trees


@pytest.mark.parametrize("kind", KINDS_OF_WEIGHTS)
@pytest.mark.parametrize("words", (False, True), ids=("numbers", "words"))
@pytest.mark.parametrize(
    ("name", "gaps"), [(name, gaps) for name in MODELS for gaps in (False, True) if name != "id3" or not gaps]
)
def test_trees_are_the_same_as_by_columns(name, gaps, words, kind, grown_both_ways):
    rng = np.random.default_rng(KINDS_OF_WEIGHTS.index(kind))  # a table of its own for each kind
    n = int(rng.integers(20, 60))
    X, y = table(rng, n, gaps, words), rng.integers(0, rng.integers(3, 12), n)
    for tree, other in grown_both_ways(MODELS[name], X, y, weights(rng, kind, n)):
        assert_same(tree, other)


@pytest.mark.parametrize("criterion", ("gini", "entropy"))
def test_splits_are_those_of_scikit_learn(criterion):
    rng = np.random.default_rng(1)
    X, weight = rng.normal(size=(2000, 4)), rng.integers(1, 4, 2000)
    y = (np.floor(4 * X[:, 0]) * 10 + np.floor(3 * X[:, 1])).astype(int)
    ours = CARTClassifier(criterion, max_depth=5).fit(X, y, weight)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=5).fit(X.astype(np.float32), y, weight)
    assert len(ours.classes_) > criteria.MANY
    split = theirs.tree_.feature >= 0
    assert ours.tree_.n_nodes == theirs.tree_.node_count
    by_threshold = [np.sort(t) for t in (ours.tree_.threshold[~ours.tree_.is_leaf], theirs.tree_.threshold[split])]
    np.testing.assert_allclose(*by_threshold, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X.astype(np.float32)), atol=1e-12)


def test_a_power_of_two_in_all_weights_changes_nothing():
    rng = np.random.default_rng(2)
    X, y, weight = rng.integers(0, 20, (400, 3)).astype(float), rng.integers(0, 80, 400), rng.random(400)
    small, large = (CARTClassifier().fit(X, y, weight * scale).tree_ for scale in (2.0**-60, 2.0**60))
    for name in ("feature", "threshold", "gain", "value"):
        np.testing.assert_array_equal(getattr(small, name), getattr(large, name))


def test_the_order_of_the_rows_changes_nothing():
    rng = np.random.default_rng(3)
    X, y, weight = rng.integers(0, 20, (400, 3)).astype(float), rng.integers(0, 80, 400), rng.random(400)
    order = rng.permutation(400)
    for model in (CARTClassifier(), CARTClassifier(criterion="entropy"), C45Classifier()):
        one = model.fit(X, y, weight).tree_
        other = model.fit(X[order], y[order], weight[order]).tree_
        for name in ("feature", "threshold", "n_samples"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


# -- memory and work ------------------------------------------------------------------------------------------------


def large_table(kind, n):
    rng = np.random.default_rng(0)
    match kind:
        case "numbers":
            return pd.DataFrame(rng.normal(size=(n, 5)))
        case "gaps":
            return (X := pd.DataFrame(rng.normal(size=(n, 5)))).mask(rng.random(X.shape) < 0.02)
        case "words":
            return pd.DataFrame({f"c{j}": rng.integers(0, 4, n).astype(str) for j in range(5)})
        case "names":
            return pd.DataFrame({"a": rng.integers(0, 3000, n).astype(str), "b": rng.normal(size=n)})


@pytest.mark.parametrize(
    ("model", "kind"),
    (
        (CARTClassifier(max_depth=8), "numbers"),
        (CARTClassifier(criterion="entropy", max_depth=8, class_weight="balanced"), "numbers"),
        (CARTClassifier(max_depth=8), "gaps"),
        (CARTClassifier(max_depth=1), "names"),
        (CARTClassifier(max_depth=1, categorical_split="one_vs_rest"), "names"),
        (C45Classifier(max_depth=8), "numbers"),
        (C45Classifier(max_depth=5, conventions="quinlan"), "gaps"),
        (ID3Classifier(max_depth=4), "words"),
        (RandomForestClassifier(n_estimators=2, max_depth=6, random_state=0), "numbers"),
    ),
)
def test_memory_grows_with_rows_and_with_nodes_x_classes(model, kind):
    """A byte for each row and class would be 60 MB, and a number for each 480 MB."""
    n, n_classes = 20_000, 3000
    X = large_table(kind, n)
    y = np.random.default_rng(1).permutation(np.arange(n) % n_classes)
    fit = peak_bytes(lambda: model.fit(X, y))
    trees = [m.tree_ for m in getattr(model, "estimators_", [model])]
    of_tree = sum(8 * tree.n_nodes * n_classes for tree in trees)
    assert fit < 15e6 + 5 * of_tree < 100e6
    # Shares of rows that were shared out are averaged, so a prediction has them in full.
    if kind != "gaps":
        assert peak_bytes(lambda: model.predict(X)) < 100e6


def test_work_does_not_grow_with_the_number_of_classes(monkeypatch):
    """Counted in the rows whose sums are made: as many as a level has, for each column."""
    count = []

    def counting(amount, *args):
        count.append(len(amount))
        return sums_at_places(amount, *args)

    monkeypatch.setattr(thresholds, "sums_at_places", counting)
    X = np.random.default_rng(0).normal(size=(1000, 3))
    for n_classes in (50, 200, 400):
        count.clear()
        CARTClassifier(max_depth=4).fit(X, np.arange(1000) % n_classes)
        assert 0 < sum(count) <= 4 * 3 * 1000
