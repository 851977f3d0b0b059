"""What rounding can do at the root must not decide about a small node: ties of prunings are judged node by node."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

from treekit import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    collapse,
    cost_complexity_path,
    preprune,
    prune_and_raise,
    prune_cost_complexity,
    prune_pessimistic,
    prune_reduced_error,
)

X = np.sort(np.random.default_rng(0).uniform(0, 3, 100))[:, np.newaxis]
SINE = np.sin(3 * X[:, 0])


def with_outlier(outlier: float) -> np.ndarray:
    return np.where(X[:, 0] == X[50, 0], outlier, SINE)


@pytest.mark.parametrize("outlier", (1e3, 1e6, 1e9))
def test_an_outlier_does_not_prune_the_other_rows(outlier):
    y = with_outlier(outlier)
    tree = CARTRegressor().fit(X, y).tree_
    assert tree.n_leaves == 100
    assert prune_cost_complexity(tree, 0).n_leaves == 100
    assert prune_reduced_error(tree, X, y).n_leaves == 100
    assert preprune(tree, X, y, ties="keep").n_leaves == 100
    # A price of 0.001 sees the sine beside any outlier.
    assert prune_cost_complexity(tree, 1e-3).n_leaves == prune_cost_complexity(tree, 1e-3 * (1 + 1e-9)).n_leaves == 13


@pytest.mark.parametrize("outlier", (1e3, 1e6))
def test_the_path_beside_an_outlier_is_that_of_scikit_learn(outlier):
    y = with_outlier(outlier)
    path = cost_complexity_path(CARTRegressor().fit(X, y).tree_)
    theirs = DecisionTreeRegressor(random_state=0).cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(path.ccp_alphas[1:], theirs.ccp_alphas[1:], rtol=1e-5)
    np.testing.assert_allclose(path.impurities[1:], theirs.impurities[1:], rtol=1e-5)


@pytest.mark.parametrize("heavy", (1e3, 1e10, 1e12))
def test_a_heavy_group_does_not_prune_another(heavy):
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 8, (60, 2)).astype(float), rng.integers(0, 2, 60)
    both, label = np.vstack([x, [[99.0, 0.0]] * 5]), np.append(y, [0] * 5)
    weight = np.append(np.ones(60), np.full(5, heavy))
    grown = CARTClassifier().fit(both, label, weight).tree_
    assert grown.threshold[0] > 8
    alone = CARTClassifier().fit(x, y).tree_
    for prune in (
        lambda tree, *rows: prune_cost_complexity(tree, 0, "misclassification"),
        lambda tree, *rows: prune_pessimistic(tree, 0.4),
        lambda tree, *rows: collapse(tree),
        lambda tree, *rows: prune_reduced_error(tree, *rows),
        lambda tree, *rows: prune_and_raise(tree, *rows, confidence=0.4),
    ):
        wanted = prune(alone, x, y)
        assert prune(grown, both, label, weight).n_leaves == wanted.n_leaves + 1 > 2


def test_light_rows_are_raised_as_heavy_ones_are():
    """With a limit that scales with the weights, a power of two in all of them changes nothing."""
    rng = np.random.default_rng(8)
    x, y = pd.DataFrame(rng.integers(0, 3, (80, 4)).astype(str)), rng.integers(0, 3, 80)
    raised = []

    def limit(errors, n, confidence):
        return 0.1 + 0.8 * errors / np.maximum(n, 1e-300)

    for scale in (1.0, 2.0**-40):
        weight = np.full(80, scale)
        tree = C45Classifier(confidence=None, min_samples_leaf=scale).fit(x, y, weight).tree_
        assert prune_pessimistic(tree, limit=limit).n_leaves == 43
        raised.append(prune_and_raise(tree, x, y, weight, limit=limit))
    assert raised[0].n_leaves == raised[1].n_leaves == 39
    np.testing.assert_array_equal(raised[0].feature, raised[1].feature)
