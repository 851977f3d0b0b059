"""Many trees as one structure with many roots: the same trees, the same answers."""

import numpy as np
import pandas as pd
import pytest

from treekit import BaggingClassifier, CARTClassifier, CARTRegressor, RandomForestClassifier, RandomForestRegressor
from treekit.models import side_by_side
from treekit.reading.encoding import encode
from treekit.trees.roots import join_trees, split_roots
from treekit.trees.structure import OF_NODES

RNG = np.random.default_rng(0)
N = 120
TABLE = pd.DataFrame({"word": RNG.choice(list("abcdef"), N), "x": RNG.normal(size=N), "z": RNG.normal(size=N)})
GAPS = TABLE.mask(RNG.random(TABLE.shape) < 0.15)
Y = RNG.integers(0, 3, N)


def same(tree, other):
    for name in OF_NODES:
        np.testing.assert_array_equal(getattr(tree, name), getattr(other, name), err_msg=name)
    np.testing.assert_array_equal(tree.routes.key, other.routes.key)
    np.testing.assert_array_equal(tree.routes.branch, other.routes.branch)
    assert tree.n_roots == other.n_roots and len(tree.surrogates) >= len(other.surrogates)
    for surrogate, another in zip(tree.surrogates, other.surrogates):
        np.testing.assert_array_equal(surrogate.feature, another.feature)
        np.testing.assert_array_equal(surrogate.threshold, another.threshold)
        np.testing.assert_array_equal(surrogate.routes.key, another.routes.key)


def trees_of_one_table(X):
    """Trees of all sizes, one of them a single leaf."""
    grown = [CARTClassifier(max_depth=depth).fit(X, np.roll(Y, depth)).tree_ for depth in (3, 0, 7, 1)]
    return [*grown, CARTClassifier(max_surrogates=1).fit(X, Y).tree_]


@pytest.mark.parametrize("X", (TABLE, GAPS), ids=("whole", "gaps"))
def test_trees_are_joined_and_split_again(X):
    trees = trees_of_one_table(X)
    together = join_trees(trees)
    assert together.n_roots == 5 and together.n_nodes == sum(tree.n_nodes for tree in trees)
    for part, tree in zip(split_roots(together), trees, strict=True):
        same(part, tree)
    same(join_trees([join_trees(trees[:2]), join_trees(trees[2:])]), together)


@pytest.mark.parametrize("X", (TABLE, GAPS), ids=("whole", "gaps"))
def test_rows_go_down_all_trees_at_once(X):
    trees = trees_of_one_table(X)
    together, values = join_trees(trees), encode(X, trees[0].features)
    shares = together.values_below_roots(values)
    for root, tree in enumerate(trees):
        np.testing.assert_array_equal(shares[root], tree.mean_value(values))
        nodes = np.flatnonzero(together.root_of == root)
        assert (together.depth[nodes] == tree.depth).all()
        assert (together.parent[nodes] == np.append(-1, nodes[tree.parent[1:]])).all()


MODELS = (
    RandomForestClassifier(9, random_state=0),
    RandomForestRegressor(9, random_state=0, min_samples_leaf=2),
    RandomForestRegressor(5, criterion="poisson", random_state=0, max_features=2),
    BaggingClassifier(CARTClassifier(max_features=2, max_leaf_nodes=8), 9, random_state=0),
)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("X", (TABLE, GAPS, TABLE[["x", "z"]]), ids=("whole", "gaps", "numbers"))
def test_a_tree_is_the_same_whichever_grow_beside_it(model, X, monkeypatch):
    """One at a time, a few, or all at once: to the last digit, so the first ten of a hundred are the forest of ten."""
    forests = []
    for n_at_once in (1, 4, 100):
        monkeypatch.setattr(side_by_side, "ENTRIES_AT_ONCE", n_at_once * N)
        forests.append(model.fit(X, Y).forest_)
    assert forests[0].n_nodes > 30
    same(forests[0], forests[1])
    same(forests[0], forests[2])


@pytest.mark.parametrize("Model", (CARTClassifier, CARTRegressor))
def test_each_root_holds_the_tree_of_its_sample(Model):
    """The tree that grows alone from the rows of the sample, each as often as it was drawn."""
    X = TABLE[["x", "z"]].to_numpy()
    forest = {CARTClassifier: RandomForestClassifier, CARTRegressor: RandomForestRegressor}[Model](
        20, max_features=None, oob_score=True, random_state=1
    ).fit(X, Y)
    for tree, count in zip(split_roots(forest.forest_), forest.in_bag_, strict=True):
        alone = Model().fit(np.repeat(X, count, axis=0), np.repeat(Y, count)).tree_
        np.testing.assert_array_equal(tree.feature, alone.feature)
        np.testing.assert_array_equal(tree.threshold, alone.threshold)
        np.testing.assert_allclose(tree.value, alone.value, rtol=1e-12)


def test_a_row_gets_the_same_answer_alone_and_among_others():
    X = TABLE[["x", "z"]]
    forest = RandomForestRegressor(50, random_state=0).fit(X, Y / 7)
    together = forest.predict(X)
    assert [forest.predict(X[i : i + 1])[0] for i in range(N)] == together.tolist()


def test_a_second_fit_keeps_nothing_of_the_first():
    forest = RandomForestClassifier(20, oob_score=True, random_state=0).fit(TABLE, Y)
    assert len(forest.estimators_) == 20 and hasattr(forest, "oob_score_")
    forest.set_params(oob_score=False, n_estimators=3).fit(TABLE, Y)
    assert len(forest.estimators_) == 3 and not hasattr(forest, "oob_score_") and not hasattr(forest, "in_bag_")
