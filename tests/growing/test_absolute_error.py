"""The absolute error, against its plain definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treekit import CARTRegressor
from treekit.growing import absolute_error
from treekit.growing.fixed_point import quantile


def weighted_median(y, weight) -> float:
    """The value at which half of the weight is reached; between two values their mean."""
    order = np.argsort(y)
    y, running = y[order], np.cumsum(weight[order])
    half = running[-1] / 2
    return (y[np.argmax(running >= half)] + y[np.argmax(running > half)]) / 2


def plain_cost(y, weight=None) -> float:
    """Weighted sum of the distances from the median."""
    weight = np.ones(len(y)) if weight is None else weight
    return 0.0 if len(y) == 0 else float((weight * np.abs(y - weighted_median(y, weight))).sum())


@given(st.data())
def test_cost_of_stretches_with_weights(data):
    n = data.draw(st.integers(1, 12))
    y = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=n, max_size=n)), dtype=float)
    weight = np.array(data.draw(st.lists(st.sampled_from([0.25, 0.5, 1, 3]), min_size=n, max_size=n)))
    ends = np.array(list(itertools.combinations(range(n + 1), 2)))
    weighed = absolute_error.WeighedTargets(
        rank=np.unique(y, return_inverse=True)[1],
        weight=(4 * weight).astype(np.int64),
        distance=y,
        term=(4 * weight * y).astype(np.int64),
        unit=np.array([0.25]),
    )
    cost = absolute_error.absolute_cost(weighed, ends[:, 0], ends[:, 1]) / 4
    assert cost == pytest.approx([plain_cost(y[a:b], weight[a:b]) for a, b in ends], abs=1e-9)


@given(st.data())
def test_a_median_is_that_of_its_own_group(data):
    """Whatever weighs in another group; and it is a mean where the weight is halved but for rounding."""
    n = data.draw(st.integers(1, 12))
    y = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=n, max_size=n)), dtype=float)
    times = np.array(data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    far = data.draw(st.sampled_from([1e-6, 0.3, 1e6]))
    beside = np.append(y, [7.0, 8.0]), np.append(0.1 * times, [far, far])
    group = np.append(np.full(n, data.draw(st.integers(0, 1))), 0)
    group = np.append(group, 1 - group[0])
    group[n] = group[n + 1]
    found = quantile(*beside, group, 2)[group[0]]
    assert found == np.median(np.repeat(y, times))


def best_cut(X, y, weight, min_rows=1, min_weight=0.0):
    """Column, threshold and gain of the best cut by trying all; of equal ones the first."""
    best = (-1, np.nan, -np.inf)
    for j, x in enumerate(X.T):
        known = ~np.isnan(x)
        whole = plain_cost(y[known], weight[known])
        for a, b in itertools.pairwise(np.unique(x[known])):
            left, right = known & (x <= a), known & (x >= b)
            if min(left.sum(), right.sum()) < min_rows or min(weight[left].sum(), weight[right].sum()) < min_weight:
                continue
            gain = (whole - plain_cost(y[left], weight[left]) - plain_cost(y[right], weight[right])) / weight.sum()
            if gain > best[2] + 1e-9:
                best = (j, (a + b) / 2, gain)
    return best


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("seed", range(8))
def test_best_cut_of_all_columns(seed, missing, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    X = rng.integers(0, (4, 100)[seed % 2], (n, 3)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    y = rng.integers(0, (3, 50)[seed // 2 % 2], n) / 4
    y[0] = y.max() + 1
    weight = rng.integers(1, 5, n) / 2 if weighted else np.ones(n)
    for min_rows, fraction in ((1, 0.0), (3, 0.0), (1, 0.2)):
        model = CARTRegressor(
            criterion="absolute_error", max_depth=1, min_samples_leaf=min_rows, min_weight_fraction_leaf=fraction
        )
        tree = model.fit(X, y, weight).tree_
        j, threshold, gain = best_cut(X, y, weight, min_rows, fraction * weight.sum())
        assert tree.feature[0] == j
        if j >= 0:
            assert tree.threshold[0] == threshold
            assert tree.gain[0] == pytest.approx(gain, abs=1e-9)


def test_equal_targets_are_not_cut():
    tree = CARTRegressor(criterion="absolute_error").fit(np.arange(6.0)[:, np.newaxis], np.full(6, 0.1)).tree_
    assert tree.n_nodes == 1


def test_far_from_zero_the_cuts_are_the_same():
    rng = np.random.default_rng(0)
    X, far = rng.normal(size=(200, 3)), rng.normal(size=200) + 1e9
    trees = [CARTRegressor(criterion="absolute_error").fit(X, y).tree_ for y in (far - 1e9, far)]
    assert trees[0].n_nodes == trees[1].n_nodes > 100
    assert (trees[0].feature == trees[1].feature).all()
    assert np.array_equal(trees[0].threshold, trees[1].threshold, equal_nan=True)
