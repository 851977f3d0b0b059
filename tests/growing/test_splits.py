"""The fast search against plain ones: the same sums row by row, the same columns scored one and all."""

from functools import partial
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from treekit import plain
from treekit.growing import thresholds
from treekit.growing.candidates import ChildLimits, largest_gain_among_sampled
from treekit.growing.criteria import Entropy, Gini, Poisson, SquaredError
from treekit.growing.feature_sampling import RankedColumns, SampledFeatures
from treekit.growing.grow import SplitSearch, grow
from treekit.growing.level import descend, first_level
from treekit.growing.presorted import BLOCK, NO_ORDER, sort_columns
from treekit.growing.thresholds import score_thresholds
from treekit.models.cart import CARTClassifier, CARTRegressor
from treekit.plain import Row
from treekit.reading.encoding import Feature


def best_cut(D: list[Row], gain, limits: ChildLimits) -> tuple[float, float]:
    """The largest gain of a cut within the limits, every cut summed anew by plain formulas; its threshold."""
    best = (-np.inf, np.nan)
    for threshold in plain.thresholds(D, "x"):
        sides = plain.divide(D, ("x", threshold)).values()
        heavy = (sum(row.w * row.h for row in side) >= limits.weight for side in sides)
        if all(len(side) >= limits.rows for side in sides) and all(heavy):
            found = gain(D, ("x", threshold))
            best = (found, threshold) if found > best[0] + 1e-9 else best
    return best


def poisson_deviance(D: list[Row]) -> float:
    """Half of it: at the mean c only ``Σ y ln (y / c) / |D|`` is left."""
    c = plain.mean(D)
    return sum(row.w * row.y * log(row.y / c) for row in D) / plain.weight(D)


def criteria_of(rng, n):
    """Each with the same gain in plain Python, and what a row is labelled with."""
    label, y = rng.integers(0, 3, n), rng.normal(size=n)
    by_gini, by_squares = (partial(plain.gain, impurity=impurity) for impurity in (plain.gini, plain.squared_error))
    return [
        (Gini(label % 2, 2), by_gini, label % 2),
        (Gini(label, 3), by_gini, label),
        (Entropy(label, 3), plain.gain, label),
        (SquaredError(y), by_squares, y),
        (Poisson(np.abs(y)), partial(plain.gain, impurity=poisson_deviance), np.abs(y)),
    ]


@pytest.mark.parametrize("weighted", (False, True))
@pytest.mark.parametrize("n_values", (3, 1000))
@pytest.mark.parametrize("limits", (ChildLimits(), ChildLimits(rows=4), ChildLimits(weight=5.0)))
def test_all_cuts_of_all_nodes_at_once_are_those_summed_anew(weighted, n_values, limits):
    """Two levels down, every criterion, few values and many, with and without weights."""
    rng = np.random.default_rng(n_values + weighted)
    n = 200
    values = rng.integers(0, n_values, (5, n)).astype(float)
    weight = rng.integers(0, 4, n).astype(float) if weighted else np.ones(n)
    for criterion, gain_of, y in criteria_of(rng, n):
        columns = list(range(5))
        level = first_level(criterion.per_row, weight, columns, sort_columns(values, columns))
        level, _ = descend(level, rng.integers(0, 2, len(level.entry)), np.array([2]), 1)
        level, _ = descend(level, rng.integers(0, 2, len(level.entry)), np.array([2, 2]), 3)
        candidates = score_thresholds(level, values, criterion, np.ones(4), limits)
        for node in range(4):
            row = level.entry[level.node == node]
            for j in columns:
                entries = zip(*(x[row].tolist() for x in (values[j], y, weight)))
                gain, threshold = best_cut([Row({"x": x}, *entry) for x, *entry in entries], gain_of, limits)
                np.testing.assert_allclose(candidates.gain[j, node], gain, rtol=1e-9, atol=1e-9)
                assert np.isinf(gain) or candidates.threshold[j, node] == threshold


def test_a_large_level_is_scored_like_a_small_one():
    """Beyond the size of a block the columns come one at a time, and cuts of few values are picked out."""
    rng = np.random.default_rng(0)
    n = BLOCK + 1000
    values = np.array([rng.normal(size=n), rng.integers(0, 5, n), rng.normal(size=n).round(1)])
    criterion = SquaredError(values[0] ** 2 + values[1] + rng.normal(size=n))
    level = first_level(criterion.per_row, np.ones(n), [0, 1, 2], sort_columns(values, [0, 1, 2]))
    candidates = score_thresholds(level, values, criterion, np.ones(1))
    for j in range(3):
        order = np.argsort(values[j], kind="stable")
        x, left = values[j, order], np.cumsum(criterion.per_row[:, order], axis=1)[:, :-1]
        saving = criterion.saving(left, np.repeat(criterion.per_row.sum(axis=1)[:, None], n - 1, axis=1))
        saving[x[1:] == x[:-1]] = -np.inf
        np.testing.assert_allclose(candidates.gain[j, 0], saving.max() / n, rtol=1e-9)
        at = saving[np.searchsorted(x, candidates.threshold[j, 0]) - 1] / n
        assert abs(at - candidates.gain[j, 0]) < 1e-9


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from([2, 3, 50]), st.booleans())
def test_to_score_the_drawn_columns_alone_grows_the_same_tree(seed, n_sampled, n_values, weighted):
    """The fast way of forests against the plain one: score all columns, then let those compete that are drawn."""
    rng = np.random.default_rng(seed)
    n = 80
    values = rng.integers(0, n_values, (6, n)).astype(float)
    criterion = Gini(rng.integers(0, 3, n), 3)
    weight = rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    weight[0] = 1.0
    limits = ChildLimits(rows=int(rng.integers(1, 4)))
    features = tuple(Feature(f"x{j}") for j in range(6))

    def score_all(level, impurity):
        return score_thresholds(level, values, criterion, impurity, limits)

    among_sampled = largest_gain_among_sampled(n_sampled, [np.random.default_rng(seed)])
    plain = grow(values, features, criterion, weight, SplitSearch(score_all, among_sampled))
    sampled = SampledFeatures(RankedColumns(values), n_sampled, [np.random.default_rng(seed)], criterion, limits)
    fast = grow(values, features, criterion, weight, SplitSearch(sampled.score, order=NO_ORDER))
    assert plain.to_frame().equals(fast.to_frame())


def test_equal_gains_are_equal_whatever_the_order_of_the_rows():
    """Whole numbers of units: sums don't depend on the order, so neither do ties."""
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 4, (300, 6)).astype(float), rng.normal(size=300)
    X[:, 5] = X[:, 1]
    shuffled = rng.permutation(300)
    for tree, y_ in ((CARTRegressor(max_depth=6), y), (CARTClassifier(), (y > 0).astype(int))):
        one, other = tree.fit(X, y_).tree_, clone(tree).fit(X[shuffled], y_[shuffled]).tree_
        np.testing.assert_array_equal(one.feature, other.feature)
        np.testing.assert_array_equal(one.threshold, other.threshold)
        assert one.n_nodes > 20 and 5 not in one.feature


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 50]), st.booleans())
def test_shortcuts_of_the_search_change_no_tree(seed, n_values, sparse):
    """Unit weights, and cuts selected or masked: against weights of 2, which go the general way."""
    rng = np.random.default_rng(seed)
    n = 80
    values = rng.integers(0, n_values, (5, n)).astype(float)
    label, target = rng.integers(0, 3, n), rng.integers(0, 50, n).astype(float)
    features = tuple(Feature(f"x{j}") for j in range(5))
    for criterion in (Gini(label, 3), SquaredError(target)):

        def frame(weight, criterion=criterion):
            def score(level, impurity):
                return score_thresholds(level, values, criterion, impurity, ChildLimits(rows=2))

            frame = grow(values, features, criterion, np.full(n, weight), SplitSearch(score)).to_frame()
            return frame[["parent", "branch", "feature", "n_samples"]]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(thresholds, "BLOCK", 0 if sparse else 2**30)
            short = frame(1.0)
        assert short.equals(frame(2.0))
