"""The fast search against plain ones: the same sums row by row, the same columns scored one and all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from treekit.growing import thresholds
from treekit.growing.candidates import ChildLimits, largest_gain_among_sampled
from treekit.growing.criteria import Criterion, Entropy, FriedmanMSE, Gini, Newton, Poisson, SquaredError
from treekit.growing.encoding import Feature
from treekit.growing.feature_sampling import RankedColumns, SampledFeatures
from treekit.growing.grow import SplitSearch, grow, grow_and_apply
from treekit.growing.level import descend, first_level
from treekit.growing.presorted import BLOCK, NO_ORDER, sort_columns
from treekit.growing.thresholds import score_thresholds
from treekit.models.cart import CARTClassifier, CARTRegressor


def plain_best_cut(x, addend, criterion: Criterion, limits: ChildLimits) -> tuple[float, float]:
    """The best gain and its threshold, every cut summed anew: what the running sums must agree with."""
    whole = addend.sum(axis=1)
    best = (-np.inf, np.nan)
    for low, high in zip(np.unique(x)[:-1], np.unique(x)[1:]):
        left, right = addend[:, x <= low].sum(axis=1), addend[:, x > low].sum(axis=1)
        if min((x <= low).sum(), (x > low).sum()) < limits.rows:
            continue
        if min(criterion.weight(left), criterion.weight(right)) < limits.weight:
            continue
        saving = criterion.cost(whole) - criterion.cost(left) - criterion.cost(right)
        gain = float(criterion.gain(saving, whole))
        if gain > best[0] + 1e-9:
            best = (gain, float(low) / 2 + float(high) / 2)
    return best


def criteria_of(rng, n):
    label, y = rng.integers(0, 3, n), rng.normal(size=n)
    return [
        Gini(label % 2, 2),
        Gini(label, 3),
        Entropy(label, 3),
        SquaredError(y),
        FriedmanMSE(y),
        Poisson(np.abs(y)),
        Newton(y, np.abs(y) + 0.1, reg_lambda=1.0),
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
    for criterion in criteria_of(rng, n):
        columns = list(range(5))
        level = first_level(criterion.per_row, weight, columns, sort_columns(values, columns))
        level, _ = descend(level, rng.integers(0, 2, len(level.entry)), np.array([2]), 1)
        level, _ = descend(level, rng.integers(0, 2, len(level.entry)), np.array([2, 2]), 3)
        candidates = score_thresholds(level, values, criterion, np.ones(4), limits)
        for node in range(4):
            row = level.entry[level.node == node]
            for j in columns:
                addend = criterion.per_row[:, row] * weight[row]
                gain, threshold = plain_best_cut(values[j, row], addend, criterion, limits)
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
    for j in (1, 2):
        gain, threshold = plain_best_cut(values[j], criterion.per_row, criterion, ChildLimits())
        np.testing.assert_allclose(candidates.gain[j, 0], gain, rtol=1e-9)
        assert candidates.threshold[j, 0] == threshold
    # The first column has a cut at every place, too many to sum anew: the running sums by floats.
    order = np.argsort(values[0])
    left = np.cumsum(criterion.per_row[:, order], axis=1)[:, :-1]
    saving = criterion.saving(left, np.repeat(criterion.per_row.sum(axis=1)[:, None], n - 1, axis=1))
    np.testing.assert_allclose(candidates.gain[0, 0], saving.max() / n, rtol=1e-9)
    assert (
        abs(saving[np.searchsorted(values[0][order], candidates.threshold[0, 0]) - 1] / n - candidates.gain[0, 0])
        < 1e-9
    )


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

    among_sampled = largest_gain_among_sampled(n_sampled, np.random.default_rng(seed))
    plain = grow(values, features, criterion, weight, SplitSearch(score_all, among_sampled))
    sampled = SampledFeatures(RankedColumns(values), n_sampled, np.random.default_rng(seed), criterion, limits)
    fast = grow(values, features, criterion, weight, SplitSearch(sampled.score, order=NO_ORDER))
    assert plain.to_frame().equals(fast.to_frame())


@pytest.mark.parametrize("share", (0.0, 0.3))
def test_leaves_are_recorded_while_the_tree_grows(share):
    rng = np.random.default_rng(5)
    values = rng.integers(0, 20, (3, 120)).astype(float)
    weight = (rng.random(120) >= share).astype(float)
    criterion = SquaredError(rng.normal(size=120))
    features = tuple(Feature(f"x{j}") for j in range(3))

    def score(level, impurity):
        return score_thresholds(level, values, criterion, impurity)

    tree, leaf = grow_and_apply(values, features, criterion, weight, SplitSearch(score))
    assert tree.n_nodes > 100
    np.testing.assert_array_equal(leaf, tree.apply(values))


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
    for criterion in (Gini(label, 3), SquaredError(target), FriedmanMSE(target)):

        def frame(weight, criterion=criterion):
            def score(level, impurity):
                return score_thresholds(level, values, criterion, impurity, ChildLimits(rows=2))

            frame = grow(values, features, criterion, np.full(n, weight), SplitSearch(score)).to_frame()
            return frame[["parent", "branch", "feature", "n_samples"]]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(thresholds, "BLOCK", 0 if sparse else 2**30)
            short = frame(1.0)
        assert short.equals(frame(2.0))
