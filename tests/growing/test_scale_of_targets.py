"""Regression trees of targets and weights of any size: sums are whole numbers of one unit, which their size sets."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor

from treekit import CARTClassifier, CARTRegressor, ID3Classifier, RandomForestRegressor
from treekit.growing.fixed_point import to_units

CRITERIA = ("squared_error", "friedman_mse", "absolute_error", "poisson")
FOUR = np.arange(4.0)[:, np.newaxis]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    "y",
    (
        [1.1, 2.2, 3.3, 1e9],
        [1.1, 2.2, 3.3, 1e18],
        [1e100, 1.1, 2.2, 3.3],
        [0.1, 0.2, 1e15, 2e15],
        [1e9 + 0.25, 1e9 + 0.5, 1e9 + 0.75, 1e9 + 1],
        [1e-300, 2e-300, 3e-300, 1.0],
        [1e-9, 2e-9, 1.0, 1e9],
        [1e-200, 2e-200, 1.0, 2.0],
        [1e15 + 1, 1e15 + 2, 1e15 + 3, 1e15 + 4],
    ),
)
def test_four_rows_far_apart_get_a_leaf_each(criterion, y):
    np.testing.assert_array_equal(CARTRegressor(criterion=criterion).fit(FOUR, y).predict(FOUR), y)


def heavy_tailed(kind, rng, x):
    match kind:
        case "cauchy":
            return rng.standard_cauchy(len(x))
        case "lognormal":
            return np.exp(5 * rng.normal(size=len(x)))
        case _:
            y = np.sin(3 * x)
            y[7] = float(kind)
            return y


KINDS = ("cauchy", "lognormal", "1e6", "1e9", "1e12", "1e15", "1e100")


@pytest.mark.parametrize("criterion", ("squared_error", "friedman_mse", "absolute_error"))
@pytest.mark.parametrize("kind", KINDS)
def test_a_full_tree_reproduces_heavy_tailed_targets(kind, criterion):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 3, (200, 2))
    y = heavy_tailed(kind, rng, X[:, 0])
    tree = CARTRegressor(criterion=criterion).fit(X, y)
    assert tree.get_n_leaves() == len(np.unique(y))
    np.testing.assert_array_equal(tree.predict(X), y)


@pytest.mark.parametrize("kind", ("cauchy", "lognormal", "1e6"))
@pytest.mark.parametrize("max_depth", (4, None))
def test_heavy_tailed_targets_give_the_leaves_of_scikit_learn(kind, max_depth):
    """With outliers of 1e9 and more scikit-learn stops early: the variance that is left is below its own epsilon."""
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 3, 1000)
    y, X = heavy_tailed(kind, rng, x), x[:, np.newaxis]
    ours = CARTRegressor(max_depth=max_depth).fit(X, y)
    theirs = DecisionTreeRegressor(max_depth=max_depth, random_state=0).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)


@pytest.mark.parametrize("criterion", ("squared_error", "friedman_mse", "absolute_error"))
@pytest.mark.parametrize("outlier", (1e3, 1e6))
def test_an_outlier_in_a_leaf_of_its_own_leaves_the_others_their_tree(criterion, outlier):
    """Below the split that takes the outlier away stands the tree of the other rows."""
    rng = np.random.default_rng(2)
    X = rng.uniform(0, 1, (200, 3))
    y = rng.normal(size=200)
    X[0, 0], y[0] = 9.0, outlier
    rows = CARTRegressor(criterion=criterion, max_depth=5).fit(X, y)
    alone = CARTRegressor(criterion=criterion, max_depth=4).fit(X[1:], y[1:])
    assert rows.tree_.n_samples[2] == 1
    np.testing.assert_allclose(rows.predict(X[1:]), alone.predict(X[1:]), rtol=1e-9)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(-100, 100), st.sampled_from(CRITERIA), st.booleans())
def test_scaling_by_a_power_of_two_scales_the_predictions(seed, power, criterion, weighted):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (40, 3)).astype(float)
    y = np.exp(rng.uniform(0, 40) * rng.normal(size=40))
    weight = rng.choice([0.1, 0.7, 1.0, 3.0, 1e-3], 40) if weighted else None
    one, other = (CARTRegressor(criterion=criterion).fit(X, y * s, weight) for s in (1.0, 2.0**power))
    np.testing.assert_array_equal(one.tree_.feature, other.tree_.feature)
    np.testing.assert_array_equal(one.tree_.threshold, other.tree_.threshold)
    np.testing.assert_array_equal(one.predict(X) * 2.0**power, other.predict(X))


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(-60, 60),
    st.sampled_from([CARTClassifier(), CARTClassifier("entropy"), ID3Classifier(), CARTRegressor()]),
)
@example(seed=0, power=35, model=CARTRegressor())  # a unit that happens to be 1
def test_a_power_of_two_in_all_weights_changes_nothing(seed, power, model):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 7, (50, 3)).astype(float), rng.integers(0, 3, 50)
    weight = 10.0 ** rng.integers(-8, 8, 50)
    one, other = (clone(model).fit(X, y, weight * s).tree_ for s in (1.0, 2.0**power))
    for name in ("feature", "threshold", "gain", "value"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(CRITERIA))
def test_the_order_of_rows_changes_nothing_beside_heavy_tails(seed, criterion):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (60, 4)).astype(float)
    X[:, 3] = X[:, 1]  # of equal gains the first column wins
    y = np.exp(20 * rng.normal(size=60))
    shuffled = rng.permutation(60)
    one, other = (CARTRegressor(criterion=criterion).fit(X[rows], y[rows]).tree_ for rows in (np.arange(60), shuffled))
    np.testing.assert_array_equal(one.feature, other.feature)
    np.testing.assert_array_equal(one.threshold, other.threshold)
    assert 3 not in one.feature


def test_the_unit_does_not_depend_on_the_order_of_rows():
    """Added up as floats, 0.1, 0.2 and 0.7 make 1 or a little less, on either side of a power of two."""
    orders = [np.array([order]) for order in permutations([0.1, 0.2, 0.7])]
    assert len({x.sum().item() for x in orders}) == 2
    assert len({to_units(x, fractions=False)[1].item() for x in orders}) == 1


@pytest.mark.parametrize("criterion", ("squared_error", "absolute_error"))
def test_no_order_of_weighted_rows_changes_a_digit(criterion):
    X, trees = np.array([1.0, 2, 2, 3, 3, 4])[:, np.newaxis], set()
    y, weight = np.array([0.1, 0.2, 0.7, -0.1, -0.2, -0.7]), np.array([0.1, 0.2, 0.7, 0.3, 0.3, 0.4])
    for rows in map(list, permutations(range(6))):
        tree = CARTRegressor(criterion=criterion, max_depth=3).fit(X[rows], y[rows], weight[rows]).tree_
        trees.add((tuple(np.nan_to_num(tree.threshold)), tuple(tree.gain), tuple(tree.value.ravel())))
    assert len(trees) == 1


def test_a_forest_with_an_outlier_still_follows_the_curve():
    x = np.random.default_rng(3).uniform(0, 3, 500)
    y = np.sin(3 * x)
    X, with_outlier = x[:, np.newaxis], np.where(x == x.max(), 1e12, y)
    near = x < np.sort(x)[-20]
    forest = RandomForestRegressor(10, random_state=0).fit(X, with_outlier)
    assert np.abs(forest.predict(X) - y)[near].max() < 0.1


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("has_gaps", [False, True])
def test_of_equal_cuts_the_first_wins_whatever_the_unit_of_the_targets(criterion, has_gaps):
    """Cuts that gain the same of whole targets gain nearly the same of tenths: rounding must not decide."""
    for seed in range(40):
        y, X = np.random.default_rng(seed).integers(0, 6, 9).astype(float), np.arange(9.0)[:, np.newaxis]
        y[0], X[8] = 1, np.nan if has_gaps else 8
        trees = [CARTRegressor(criterion=criterion, max_depth=1).fit(X, y / unit).tree_ for unit in (1, 10, 100)]
        assert [tree.threshold[0] for tree in trees] == [trees[0].threshold[0]] * 3 or trees[0].n_nodes == 1
