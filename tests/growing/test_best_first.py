"""Best-first growth: the splits of the full tree, the most useful first."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from treekit import CARTClassifier, CARTRegressor


@pytest.mark.parametrize("max_leaf_nodes", (2, 3, 7, 12))
@pytest.mark.parametrize("limits", ({}, {"max_depth": 4}, {"min_samples_leaf": 5}))
@pytest.mark.parametrize(
    ("ours", "theirs", "criterion"),
    (
        (CARTClassifier, DecisionTreeClassifier, "gini"),
        (CARTClassifier, DecisionTreeClassifier, "entropy"),
        (CARTRegressor, DecisionTreeRegressor, "squared_error"),
    ),
)
def test_the_leaves_are_those_of_scikit_learn(ours, theirs, criterion, limits, max_leaf_nodes):
    rng = np.random.default_rng(max_leaf_nodes)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    weight = rng.uniform(0.5, 2, 300)
    y = X[:, 0] * X[:, 1] + rng.normal(size=300)
    y = y if theirs is DecisionTreeRegressor else (y > 0).astype(int)
    settings = {"criterion": criterion, "max_leaf_nodes": max_leaf_nodes, **limits}
    one = ours(**settings).fit(X, y, weight)
    other = theirs(**settings, random_state=0).fit(X, y, weight)
    assert one.get_n_leaves() == other.get_n_leaves() <= max_leaf_nodes
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_of_equal_splits_the_first_comes_first(seed):
    """Two halves with the same targets, but for a constant: rounding differs, and must not decide."""
    half = np.random.default_rng(seed).integers(0, 50, 6) / 10
    tree = CARTRegressor(max_leaf_nodes=3).fit(np.arange(12.0)[:, np.newaxis], [*half, *(half + 100)]).tree_
    assert tree.threshold[0] == 5.5 and not tree.is_leaf[1] and tree.is_leaf[2]


def test_fewer_leaves_are_a_subtree_and_a_bad_number_is_named():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    trees = [CARTRegressor(max_leaf_nodes=k).fit(X, y).tree_ for k in range(2, 30)]
    assert [tree.n_leaves for tree in trees] == list(range(2, 30))
    errors = [((tree.impurity * tree.weight)[tree.is_leaf]).sum() for tree in trees]
    assert (np.diff(errors) < 0).all()
    with pytest.raises(ValueError, match="max_leaf_nodes"):
        CARTRegressor(max_leaf_nodes=1).fit(X, y)
