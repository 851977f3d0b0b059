"""Splits on a column of numbers: where to put the threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from treekit.growing.candidates import ChildLimits, SplitCandidates, merge_candidates
from treekit.growing.criteria import Criterion, DeviationCriterion
from treekit.growing.level import Level
from treekit.growing.presorted import BLOCK, blocks
from treekit.measures import entropy_of_counts
from treekit.numeric import TIE, Bools, Floats, Integers, Ints, Numbers

__all__ = ["score_thresholds", "score_cuts", "score_sparse_cuts"]


def score_thresholds(
    level: Level,
    values: Numbers,
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits = ChildLimits(),
) -> SplitCandidates:
    """The best cut of each node on each column of numbers that the level keeps in order: see :func:`score_cuts`.

    The columns are scored in blocks that fit in the cache, which saves a third of the time (trick: columns in blocks).
    """
    orders, parts = level.orders, []
    for block in blocks(*orders.shape):
        columns, order = np.array(level.sorted.columns[block])[:, np.newaxis], orders[block]
        x = level.gather(values, columns, order)
        of_block = limits.of_columns(level.sorted.columns[block])
        parts.append(score_cuts(level, x, order, criterion, impurity, of_block))
    no_column = np.empty((0, level.n_nodes))
    return merge_candidates(parts or [SplitCandidates(no_column, no_column)])


def score_cuts(
    level: Level,
    x: Numbers,
    order: Integers,
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits = ChildLimits(),
) -> SplitCandidates:
    """The best cut of each node on each of some columns of numbers.

    The candidates are the midpoints between neighbouring distinct values. The entries lie in the order of (node,
    value), so one running sum gives the sums below every cut of every node: a level costs O(entries) per column, where
    a new sum for each cut would cost O(entries^2).

    Parameters
    ----------
    level : Level
        The open nodes.
    x : array of shape (n_columns, n_alive)
        The values, in the order of (node, value).
    order : array of shape (n_columns, n_alive)
        The entries whose values they are.
    criterion, impurity, limits
        What a cut is to lower; the impurity of the nodes, which decides what counts as equal; what a side must hold.
    """
    is_cut = cut_places(level, x)
    # Missing values come last in a node, so the last value shows whether there are any.
    is_sparse = np.isnan(x[:, level.start[1:] - 1]).any(axis=1)
    # Large levels of few distinct values have few cuts. Selecting them first saves about two thirds of entropy's time,
    # which goes into logarithms (trick: few cuts).
    if x.size > BLOCK and np.count_nonzero(is_cut) < x.size / 2 and limits.monotone is None:
        is_sparse = np.ones_like(is_sparse)
    if not is_sparse.any():
        return score_dense_cuts(level, x, order, is_cut, criterion, impurity, limits)
    sparse, dense = np.flatnonzero(is_sparse), np.flatnonzero(~is_sparse)
    parts = [score_sparse_cuts(level, x[k], order[k], criterion, impurity, limits) for k in sparse]
    if len(dense):
        parts.append(score_dense_cuts(level, x[dense], order[dense], is_cut[dense], criterion, impurity, limits))
    return merge_candidates(parts, np.concatenate([sparse, dense]).tolist())


def score_dense_cuts(
    level: Level,
    x: Numbers,
    order: Integers,
    is_cut: Bools,
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits,
) -> SplitCandidates:
    """The best cuts of columns without missing values: all places are scored, and masked where there is no cut.

    Where most places are cuts, that takes four tenths of the time of selecting the cuts first (trick: all places).
    """
    unit: Floats | float = 1.0
    if has_unit_weight_shortcut(criterion, level) and limits.monotone is None:
        saving, unit = unit_weight_savings(level, order, criterion)
        weight_below: Numbers = level.n_below
    else:
        below = level.running_sums(order) * level.unit[:, np.newaxis]
        total = _at_places(level, level.sums)
        saving, weight_below = criterion.saving(below, total), criterion.weight(below)
        if limits.monotone is not None:
            (left,), (right,) = criterion.order_keys(below), criterion.order_keys(total - below)
            is_cut = is_cut & limits.monotone.of(level.node).allows(left, right)
    node_weight = criterion.weight(level.sums)
    if limits.rows > 1:
        is_cut = is_cut & _both_sides_reach(level.n_below, level.n_samples[level.node], limits.rows)
    if limits.limits_weight:
        is_cut = is_cut & _both_sides_reach(weight_below, node_weight[level.node], limits.of(level.node).weight)
    saving = np.where(is_cut, saving, -np.inf)

    tolerance = TIE * impurity * criterion.divisor(level.sums) / unit / unit
    best = first_maximum_per_column(level, saving, tolerance)
    gain = criterion.gain(saving.take(best) * unit * unit, level.sums)
    candidates = SplitCandidates(gain, threshold_after(x, best))
    if not criterion.may_choose_by_ratio:
        return candidates
    return replace(candidates, split_information=entropy_of_sides(weight_below.take(best), node_weight))


def entropy_of_sides(left: Numbers, total: Floats) -> Floats:
    """Entropy, in bits, of the two sides of a cut, from the weight on the left and that of both."""
    return entropy_of_counts(np.stack([left, total - left], axis=-1))


def has_unit_weight_shortcut(criterion: Criterion, level: Level) -> TypeGuard[DeviationCriterion]:
    """Whether the weight below a place is the number of rows, and the criterion can use that."""
    if not (level.has_unit_weights and criterion.uses_deviations):
        return False
    # The unit of weights is 1 unless rows are to be shared out; where it is 1, only targets have another unit.
    return bool(level.unit[0, 0] == 1)


def unit_weight_savings(level: Level, order: Integers, criterion: DeviationCriterion) -> tuple[Floats, Floats]:
    """The savings at all places of some columns where every row has weight 1, in squared units, and the units.

    The fifth place of a node has five rows below it in every column. So whatever depends on the weights alone is
    computed once per level, and the first sum needs no running sum, which saves four tenths of the time (trick:
    weights of 1). The other sums stay in units, powers of two, so that nothing is rounded differently.

    Returns
    -------
    saving : array of shape (n_columns, n_alive)
    unit : array of shape (1,) or (n_nodes,)
    """
    unit = level.unit[1]
    if criterion not in level.cache:
        level.cache[criterion] = criterion.savings(level.n_below, _at_places(level, level.total.astype(float)))
    return level.cache[criterion](level.running_sums(order, slice(1, None))), unit


def first_maximum_per_column(level: Level, saving: Numbers, tolerance: Numbers) -> Ints:
    """The first place of each node in each column that saves the most, up to the tolerance.

    Parameters
    ----------
    saving : array of shape (n_columns, n_alive)
    tolerance : array of shape (n_nodes,)

    Returns
    -------
    array of shape (n_columns, n_nodes)
        Places in the flattened ``saving``.
    """
    largest = np.maximum.reduceat(saving, level.start[:-1], axis=1)
    good = np.flatnonzero(saving >= np.repeat(largest - tolerance, level.n_samples, axis=1))
    if len(good) > largest.size:
        first = np.arange(0, saving.size, saving.shape[1])[:, np.newaxis] + level.start[:-1]
        good = good[np.searchsorted(good, first)]
    return good.reshape(largest.shape)


def _at_places(level: Level, of_nodes: Floats) -> Floats:
    """Numbers of the nodes repeated at each of their places, with an axis for columns: shape (n_sums, 1, n_alive)."""
    return np.repeat(of_nodes[:, np.newaxis], level.n_samples, axis=2)


@dataclass(frozen=True, eq=False)
class CandidateCuts:
    """All cuts of a column of numbers between neighbouring distinct values, in the order of (node, value).

    Attributes
    ----------
    place : array of shape (n_cuts,)
        Place of the last entry below each cut.
    node : array of shape (n_cuts,)
        Node of each cut.
    threshold : array of shape (n_cuts,)
        Midpoint of the two values.
    n_below : array of shape (n_cuts,)
        Number of entries of the node below the cut.
    n_known : array of shape (n_nodes,)
        Number of entries of each node where the column is known; these entries come first in the node.
    """

    place: Ints
    node: Ints
    threshold: Floats
    n_below: Ints
    n_known: Ints


def find_cuts(level: Level, x: Numbers) -> CandidateCuts:
    """The cuts of every node on a column of numbers, whose values come in the order of (node, value)."""
    is_cut, n_known = cut_places(level, x), level.n_samples
    # Missing values come last in a node, so the last value shows whether there are any.
    if np.isnan(x[level.start[1:] - 1]).any():
        n_known = np.bincount(level.node, ~np.isnan(x), minlength=level.n_nodes).astype(np.intp)
    place = np.flatnonzero(is_cut)
    threshold = midpoint(x.take(place), x.take(place + 1))
    return CandidateCuts(place, level.node.take(place), threshold, level.n_below.take(place), n_known)


def cut_places(level: Level, x: Numbers) -> Bools:
    """Whether a larger value of the same node follows, for columns (or one) in the order of (node, value)."""
    is_cut = np.empty(x.shape, dtype=bool)
    np.less(x[..., :-1], x[..., 1:], out=is_cut[..., :-1])
    is_cut[..., level.start[1:] - 1] = False
    return is_cut


def score_sparse_cuts(
    level: Level,
    x: Numbers,
    order: Integers,
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits,
) -> SplitCandidates:
    """The best cuts of one column with missing values, or with few values: the cuts are selected, then scored."""
    cuts = find_cuts(level, x)
    if has_unit_weight_shortcut(criterion, level) and (cuts.n_known == level.n_samples).all():
        return _score_sparse_unit_weights(level, cuts, order, criterion, impurity, limits)
    below, known = sums_at_cuts(level, cuts, order)
    at, n_known = cuts.node, cuts.n_known
    saving = saving_within_limits(criterion, below, known[:, at], cuts.n_below, n_known[at], limits.of(at))
    node, best = first_maximum(cuts, saving, TIE * impurity * criterion.divisor(level.sums))
    candidates = candidates_from_cuts(level, cuts, node, best, saving, criterion)
    if not criterion.may_choose_by_ratio:
        return candidates
    left = np.zeros(level.n_nodes)  # weight of the known rows below the best cut
    left[node] = criterion.weight(below)[best]
    return replace(
        candidates,
        n_candidates=np.bincount(cuts.node, np.isfinite(saving), minlength=level.n_nodes).astype(float)[np.newaxis],
        split_information=entropy_of_sides(left, criterion.weight(known))[np.newaxis],
    )


def sums_at_cuts(level: Level, cuts: CandidateCuts, order: Integers) -> tuple[Floats, Floats]:
    """The sums of the rows below each cut, and those of all known rows of each node.

    Both are read from the running sums of the column, which restart in every node: the known rows of a node are those
    up to the last known place.
    """
    running = level.running_sums(order[np.newaxis])[:, 0]
    below = running.take(cuts.place, axis=1) * level.unit
    last_known = np.maximum(level.start[:-1] + cuts.n_known - 1, 0)
    known = np.where(cuts.n_known > 0, running.take(last_known, axis=1) * level.unit, 0)
    return below, known


def _score_sparse_unit_weights(
    level: Level,
    cuts: CandidateCuts,
    order: Integers,
    criterion: DeviationCriterion,
    impurity: Floats,
    limits: ChildLimits,
) -> SplitCandidates:
    """The best of some cuts where every row has weight 1 and a value: the first sum needs no running sum."""
    at, others = cuts.node, slice(1, None)
    below = level.running_sums(order[np.newaxis], others)[:, 0].take(cuts.place, axis=1) * level.unit[others]
    saving = criterion.savings(cuts.n_below, level.sums.take(at, axis=1))(below)
    fits = _both_sides_reach(cuts.n_below, level.n_samples[at], np.maximum(limits.rows, limits.of(at).weight))
    np.copyto(saving, -np.inf, where=~fits)
    node, best = first_maximum(cuts, saving, TIE * impurity * criterion.divisor(level.sums))
    return candidates_from_cuts(level, cuts, node, best, saving, criterion)


def first_maximum(cuts: CandidateCuts, saving: Floats, tolerance: Floats) -> tuple[Ints, Ints]:
    """The nodes that a cut can split, and the first cut of each that saves the most, up to the node's tolerance."""
    if not len(saving):
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    first = np.flatnonzero(np.diff(cuts.node, prepend=-1))
    node, n_cuts = cuts.node[first], np.diff(first, append=len(saving))
    largest = np.maximum.reduceat(saving, first)
    good = np.flatnonzero(saving >= np.repeat(largest - tolerance[node], n_cuts))
    can_split = np.isfinite(largest)
    return node[can_split], good[np.searchsorted(good, first[can_split])]


def candidates_from_cuts(
    level: Level,
    cuts: CandidateCuts,
    node: Ints,
    best: Ints,
    saving: Floats,
    criterion: Criterion,
) -> SplitCandidates:
    """The best cuts of some nodes on a column, as candidates of all nodes."""
    gain, threshold = np.full((1, level.n_nodes), -np.inf), np.full((1, level.n_nodes), np.nan)
    gain[0, node] = criterion.gain(saving[best], level.sums.take(node, axis=1))
    threshold[0, node] = cuts.threshold[best]
    return SplitCandidates(gain, threshold)


def _both_sides_reach(below: Numbers, total: Numbers, least: float | Floats) -> Bools:
    """Whether both sides of a cut hold at least ``least``."""
    return (below >= least) & (total - below >= least)


def saving_within_limits(
    criterion: Criterion, left: Floats, total: Floats, n_left: Ints, n: Ints, limits: ChildLimits
) -> Floats:
    """What each cut saves; -inf where a side is below the limits."""
    fits = _both_sides_reach(n_left, n, limits.rows)
    if limits.limits_weight:
        fits &= _both_sides_reach(criterion.weight(left), criterion.weight(total), limits.weight)
    return np.where(fits, criterion.saving(left, total), -np.inf)


def midpoint(low: Numbers, high: Numbers) -> Floats:
    """Halfway between two neighbouring values, but never the upper one, to which close floats may round."""
    middle = np.divide(low, 2, dtype=float) + np.divide(high, 2, dtype=float)
    return np.where(middle < high, middle, low)


def threshold_after(x: Numbers, place: Ints) -> Floats:
    """The threshold between each place of the flattened columns and the next; after the last place, its own value."""
    return midpoint(x.take(place), x.take(place + 1, mode="clip"))
