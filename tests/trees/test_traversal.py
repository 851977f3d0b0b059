"""The fast ways down a tree end where the plain one does: each row followed alone, question by question."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from tests.helpers import peak_bytes
from treekit import C45Classifier, CARTClassifier, CARTRegressor, GBDTClassifier, GBDTRegressor, Tree
from treekit.models import boosting
from treekit.reading.encoding import MISSING, UNSEEN, Feature, encode, learn_features
from treekit.trees import traversal
from treekit.trees.roots import join_trees
from treekit.trees.routes import Routes, join_routes, routes_of_pairs
from treekit.trees.structure import SHARE, STOP, Surrogate
from treekit.trees.traversal import round_thresholds_to

NUMBERS = Feature("x")
#: Cuts and values from a grid, so that many rows lie on a cut; 0.1 lies between two float32 numbers.
GRID = np.array([-np.inf, -1.5, -0.1, 0.0, 0.1, 0.25, 1e-300, 1e300, np.inf])


# -- the oracle -------------------------------------------------------------------------------------------------


def follow(tree: Tree, x: np.ndarray, node: int = 0) -> dict[int, float]:
    """Where one row ends, from a node on, with what share: a walk that asks one question after the other.

    `treekit.plain.follow` knows neither surrogates nor the rules for gaps.
    """
    if tree.n_children[node] == 0:
        return {node: 1.0}
    branch = answer(tree.features, x, node, tree)
    for surrogate in tree.surrogates:
        if branch is None and surrogate.feature[node] >= 0:
            branch = answer(tree.features, x, node, surrogate)
            branch = branch if branch is None else branch ^ bool(surrogate.is_reversed[node])
    rule = tree.missing[node] if branch is None else branch
    if rule == STOP:
        return {node: 1.0}
    first = tree.first_child[node]
    if rule != SHARE:
        return follow(tree, x, int(first + rule))
    ends = {}
    for child in range(first, first + tree.n_children[node]):
        part = tree.weight[child] / tree.weight[node]
        if part > 0:
            ends |= {end: part * share for end, share in follow(tree, x, child).items()}
    return ends


def answer(features, x: np.ndarray, node: int, asks: Tree | Surrogate) -> int | None:
    """The branch that a node, or its surrogate, sends a row down; a category without one has no answer."""
    asked = asks.feature[node]
    if features[asked].is_numeric:
        return None if np.isnan(x[asked]) else int(float(x[asked]) > asks.threshold[node])
    routes = asks.routes
    found = routes.branch[(routes.node == node) & (routes.category == x[asked])].tolist()
    assert len(found) <= 1
    return found[0] if found else None


def table_of(tree: Tree, values: np.ndarray) -> np.ndarray:
    """The oracle's form of ``membership``."""
    table = np.zeros((values.shape[1], tree.n_nodes))
    for i, x in enumerate(values.T):
        for end, share in follow(tree, x).items():
            table[i, end] = share
    return table


# -- random trees and rows --------------------------------------------------------------------------------------


def random_tree(rng, features, depth, rules=(0, 1), n_branches=2, n_surrogates=0) -> Tree:
    """A tree of no meaning, with leaves at any depth; numbers are cut in two, a category in up to ``n_branches``."""
    feature, threshold, routes, n_children, missing = [], [], [], [], []
    level = 1
    for k in range(depth + 1):
        below = 0
        for _ in range(level):
            is_leaf = k == depth or (k > 0 and rng.random() < 0.25)
            j = -1 if is_leaf else int(rng.integers(len(features)))
            numeric = j >= 0 and features[j].is_numeric
            width = 0 if is_leaf else 2 if numeric else int(rng.integers(2, n_branches + 1))
            if j >= 0 and not numeric:
                routes.append(random_routes(rng, len(feature), width, features[j].n_values))
            feature.append(j)
            threshold.append(rng.choice(GRID) if numeric else np.nan)
            n_children.append(width)
            missing.append(STOP if is_leaf else rng.choice(rules))
            below += width
        level = below
    n = len(feature)
    tree = Tree(
        features=tuple(features),
        classes=np.array(["a", "b", "c"]),
        feature=np.array(feature),
        threshold=np.array(threshold),
        routes=join_routes(routes),
        n_children=np.array(n_children),
        missing=np.array(missing),
        gain=np.zeros(n),
        impurity=np.zeros(n),
        n_samples=np.ones(n, dtype=int),
        weight=np.ones(n),
        value=rng.dirichlet(np.ones(3), n).round(1),
        surrogates=tuple(random_surrogate(rng, features, np.array(feature)) for _ in range(n_surrogates)),
    )
    # Down the tree the weight of a node is dealt out to its children; a leaf may get nothing.
    for node in np.flatnonzero(tree.n_children):
        children = tree.first_child[node] + np.arange(tree.n_children[node])
        part = rng.integers(0, 3, len(children)) + ~tree.is_leaf[children]
        part[0] += 1
        tree.weight[children] = tree.weight[node] * part / part.sum()
    return tree


def random_routes(rng, node, width, n_values) -> Routes:
    """Of one node; some categories have no branch."""
    branch = rng.integers(-1, width, n_values)
    category = np.flatnonzero(branch >= 0)
    return routes_of_pairs(np.full(len(category), node), category, branch[category])


def random_surrogate(rng, features, feature) -> Surrogate:
    asks = np.where(feature >= 0, rng.integers(-1, len(features), len(feature)), -1)
    numeric = np.array([f.is_numeric for f in features])[asks]
    by_category = np.flatnonzero(~numeric & (asks >= 0))
    return Surrogate(
        feature=asks,
        threshold=np.where(numeric & (asks >= 0), rng.choice(GRID, len(asks)), np.nan),
        is_reversed=rng.random(len(asks)) < 0.5,
        agreement=np.zeros(len(asks)),
        adjusted=np.zeros(len(asks)),
        routes=join_routes([random_routes(rng, node, 2, features[asks[node]].n_values) for node in by_category]),
    )


def random_values(rng, features, n_rows, kind, share_missing=0.2) -> np.ndarray:
    values = np.empty((len(features), n_rows), dtype=kind)
    for row, feature in zip(values, features):
        if feature.is_numeric:
            with np.errstate(over="ignore"):
                row[:] = rng.choice(GRID[1:-1], n_rows).astype(kind)
            row[~np.isfinite(row)] = 3
            row[rng.random(n_rows) < share_missing] = np.nan
        else:
            row[:] = rng.integers(0, feature.n_values, n_rows)
            row[rng.random(n_rows) < share_missing / 2] = MISSING
            row[rng.random(n_rows) < share_missing / 2] = UNSEEN
    return values


CATEGORIES = Feature("c", np.array(list("pqrst")))
MANY = Feature("m", np.arange(11))
TABLES = {
    "numbers": ([NUMBERS] * 3, np.float64),
    "float32": ([NUMBERS] * 3, np.float32),
    "mixed": ([NUMBERS, CATEGORIES, NUMBERS, MANY], np.float64),
    "mixed float32": ([CATEGORIES, NUMBERS, MANY], np.float32),
    "categories": ([CATEGORIES, MANY], np.int8),
}
RULES = {
    "a branch": dict(),
    "stop": dict(rules=(STOP, 0, 1)),
    "share": dict(rules=(SHARE, SHARE, 0)),
    "many branches": dict(rules=(SHARE, STOP, 1), n_branches=5),
    "surrogates": dict(rules=(0, 1, STOP), n_surrogates=2),
}


@pytest.fixture(params=[3, 10**6], ids=["blocks of 3", "one block"])
def block(request, monkeypatch):
    """Rows in blocks, and the rows that have arrived put aside early."""
    monkeypatch.setattr(traversal, "ROWS_AT_ONCE", request.param)
    if request.param == 3:
        monkeypatch.setattr(traversal, "FIRST_LEVELS", 1)
        monkeypatch.setattr(traversal, "LEVELS", 2)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("share_missing", [0, 0.3])
def test_fast_ways_end_where_each_row_ends(table, rules, share_missing, block):
    features, kind = TABLES[table]
    for depth in range(6):
        rng = np.random.default_rng(depth)
        tree = random_tree(rng, features, depth, **RULES[rules])
        values = random_values(rng, features, 25, kind, share_missing)
        wanted, found = table_of(tree, values), tree.membership(values)
        np.testing.assert_allclose(found.toarray(), wanted, rtol=1e-6, atol=1e-15)
        end = (wanted >= wanted.max(axis=1, keepdims=True) - 1e-15).argmax(axis=1)
        shares = wanted @ tree.value
        label = (shares >= shares.max(axis=1, keepdims=True) - 1e-12).argmax(axis=1)
        for lies in (values, np.asfortranarray(values), np.repeat(values, 2, axis=1)[:, ::2], values[:, ::-1][:, ::-1]):
            assert tree.apply(lies).tolist() == end.tolist()
            assert np.array_equal(tree.predict(lies), found @ tree.value)
            assert tree.predict_code(lies).tolist() == label.tolist()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("rules", RULES)
def test_many_trees_end_each_row_where_each_tree_does(table, rules, block):
    features, kind = TABLES[table]
    rng = np.random.default_rng(0)
    trees = [random_tree(rng, features, depth, **RULES[rules]) for depth in (2, 0, 5, 3)]
    values = random_values(rng, features, 37, kind, 0.3)
    together = join_trees(trees)
    shares = together.values_below_roots(values)
    for root, tree in enumerate(trees):
        np.testing.assert_allclose(shares[root], table_of(tree, values) @ tree.value, rtol=1e-6, atol=1e-12)
    assert np.array_equal(together.values_below_roots(values, slice(1, 3)), shares[1:3])


@pytest.mark.parametrize("one, other", [(0.1, 0.2), (0.7, 0.1), (0.2, 0.4), (0.2, 0.7), (0.3, 0.6)])
@pytest.mark.parametrize("model", [CARTClassifier(), C45Classifier(confidence=None, min_samples_leaf=0)])
def test_of_branches_that_weigh_the_same_the_first_is_the_heaviest(model, one, other):
    """The weights are equal but for rounding: 0.1 + 0.2 is not 0.3."""
    both = round(one + other, 1)
    for x, weight in (([0, 1, 1], [both, one, other]), ([0, 0, 1], [one, other, both])):
        tree = model.fit(np.c_[x], x, sample_weight=weight).tree_
        assert tree.heaviest_branch(tree.weight).tolist() == [0, 0, 0]


def test_thresholds_are_rounded_down():
    exact = np.array([0.1, -0.1, 0.25, 1e300, -1e300, np.inf, -np.inf, 1e-300, -1e-300, np.nan])
    small = round_thresholds_to(exact, np.dtype(np.float32))
    assert small.dtype == np.float32
    # Every float32 number near a threshold is above one as it is above the other.
    for t, s in zip(exact, small):
        with np.errstate(over="ignore"):
            near = np.nextafter(np.float32([s, s, s]), np.float32([-np.inf, s, np.inf]))
        near = near[np.isfinite(near)]
        assert np.array_equal(near.astype(float) > t, near > s)
    assert (
        round_thresholds_to(exact, np.dtype(float)) is exact and round_thresholds_to(exact, np.dtype(np.int8)) is exact
    )


# -- grown trees ------------------------------------------------------------------------------------------------


def grown_table(n_rows=700):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n_rows, 4)).round(1), columns=list("abcd"))
    X["e"] = rng.choice(list("pqrstu"), n_rows)
    X["f"] = pd.Categorical(rng.choice(list("xyz"), n_rows))
    y = X["a"] * X["b"] + (X["e"] > "r") * X["c"] + rng.normal(size=n_rows) / 4
    return X.mask(rng.random(X.shape) < 0.1), y


@pytest.mark.parametrize("method, depth", [("gradient", 3), ("newton", 6), ("newton", None)])
def test_boosted_scores_are_sums_over_trees(method, depth, monkeypatch):
    """Round by round and at the end, in blocks of rows, for a model with missing values and categories."""
    monkeypatch.setattr(boosting, "ROWS_SCORED_AT_ONCE", 300)
    monkeypatch.setattr(boosting, "STEPS_AT_ONCE", 600)
    X, y = grown_table()
    model = GBDTRegressor(method=method, max_depth=depth, n_estimators=4).fit(X[:500], y[:500])
    values = encode(X, model._features)
    score = np.full(len(X), model.start_[0])
    for stage, (tree,) in zip(model.staged_predict(X), model.trees_, strict=True):
        end = [max(follow(tree, x)) for x in values.T]
        score += model.learning_rate * tree.value[end, 0]
        assert np.array_equal(stage, score)
    assert np.array_equal(model.predict(X), score)


def test_boosted_classes_are_sums_over_trees():
    X, y = grown_table()
    label = pd.cut(y, 3, labels=["low", "mid", "high"]).astype(str)
    model = GBDTClassifier(n_estimators=10, max_depth=2).fit(X, label)
    values = encode(X, model._features)
    score = np.repeat(model.start_[:, np.newaxis], len(X), axis=1)
    for trees in model.trees_:
        for k, tree in enumerate(trees):
            score[k] += model.learning_rate * tree.value[tree.membership(values).argmax(axis=1).A1, 0]
    assert np.array_equal(model.decision_function(X), score.T)


def test_grown_trees_answer_alike_in_every_form():
    """A frame, an array in rows or in columns, float32 or float64: the same nodes; and predict is the plain product."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3 * traversal.ROWS_AT_ONCE // 2, 5)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + rng.normal(size=len(X))
    model = CARTRegressor(min_samples_leaf=200).fit(X, y)
    end = model.apply(X)
    assert model.tree_.max_depth > traversal.FIRST_LEVELS
    plain = model.tree_.membership(encode(pd.DataFrame(X), model.tree_.features))
    assert isinstance(plain, csr_matrix) and np.array_equal(plain.argmax(axis=1).A1, end)
    for form in (
        np.asfortranarray(X),
        X.astype(float),
        pd.DataFrame(X, columns=[f"x{j}" for j in range(5)]),
        X[:, ::-1][:, ::-1],
    ):
        assert np.array_equal(model.apply(np.asarray(form)), end)
    assert np.array_equal(model.predict(X), (plain @ model.tree_.value)[:, 0])


# -- reading the table ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_table_of_floats_is_not_copied(kind):
    X = np.arange(12, dtype=kind).reshape(6, 2)
    frame = pd.DataFrame(X, columns=["a", "b"], copy=False)
    values = encode(frame, learn_features(frame))
    assert np.shares_memory(values, X) and values.dtype == kind and np.array_equal(values, X.T)
    model = CARTClassifier().fit(X, X[:, 0] > 3)
    assert np.shares_memory(model._values(X), X)
    assert model._training_table(frame, np.arange(6) % 2, None).values.flags.c_contiguous


@pytest.mark.parametrize("n_values, kind", [(2, np.int8), (128, np.int8), (129, np.int16), (40_000, np.int32)])
def test_categories_are_small_codes(n_values, kind):
    frame = pd.DataFrame({"c": pd.Categorical(np.arange(n_values))})
    values = encode(frame, learn_features(frame))
    assert values.dtype == kind and np.array_equal(values[0], np.arange(n_values))


def test_missing_and_unseen_categories_are_told_apart():
    seen = pd.DataFrame({"c": ["a", "b"], "d": pd.Categorical(["u", "v"])})
    asked = pd.DataFrame({"c": ["z", None, "b"], "d": pd.Categorical([None, "w", "v"])})
    assert encode(asked, learn_features(seen)).tolist() == [[UNSEEN, MISSING, 1], [MISSING, UNSEEN, 1]]
    numbers = pd.DataFrame({"c": [1, 2], "d": [3, 4]})
    with pytest.raises(ValueError, match="column 'c' held text in fit and holds numbers now"):
        encode(numbers, learn_features(seen))


@pytest.mark.parametrize("other", [1.5, "text"])
@pytest.mark.parametrize("sign", [1, -1])
def test_infinity_is_named_whichever_way_the_table_is_read(sign, other):
    seen = pd.DataFrame({"a": np.zeros(3), "b": np.zeros(3), "c": [other] * 3})
    asked = seen.assign(b=[np.nan, 0, sign * np.inf])
    with pytest.raises(ValueError, match="infinity in column 'b', first in row 2"):
        encode(asked, learn_features(seen))
    huge = pd.DataFrame({"a": np.full(3, 3e38), "b": np.full(3, 3e38)}, dtype=np.float32)
    assert np.isfinite(encode(huge, learn_features(huge))).all()


def test_peak_memory_of_predict(monkeypatch):
    """One tree takes 16 bytes a row and a block, boosted trees their scores and a block; never a copy of the table."""
    monkeypatch.setattr(traversal, "ROWS_AT_ONCE", 2**12)
    monkeypatch.setattr(boosting, "ROWS_SCORED_AT_ONCE", 2**13)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 20)).astype(np.float32)
    y = X[:, 0] * X[:, 1]
    small = slice(3000)
    single = CARTRegressor(max_depth=8).fit(X[small], y[small])
    boosted = GBDTRegressor(method="newton", n_estimators=10, max_depth=6).fit(X[small], y[small])
    for table in (X, np.asfortranarray(X)):
        assert peak_of(single.predict, table) < X.nbytes / 3
        assert peak_of(boosted.predict, table) < X.nbytes / 2


def peak_of(call, table) -> int:
    call(table)
    return peak_bytes(lambda: call(table))


def test_of_children_that_weigh_the_same_the_first_is_the_heaviest_whatever_rounding_does():
    tree = CARTClassifier().fit([[0.0], [1]], [0, 1]).tree_
    assert tree.heaviest_branch(np.array([0.6, 0.3, 0.1 + 0.2])).tolist() == [0, 0, 0]
    assert tree.heaviest_branch(np.array([0.6, 0.3, 0.31])).tolist() == [1, 0, 0]
