"""Splits on a column of numbers: where to put the threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treekit.growing.candidates import ChildLimits, SplitCandidates, merge_candidates
from treekit.growing.criteria import Criterion, DeviationCriterion
from treekit.growing.level import Level
from treekit.growing.presorted import BLOCK, blocks
from treekit.numeric import TIE, Floats
from treekit.trees.structure import MAJORITY

__all__ = ["score_thresholds", "score_cuts", "score_sparse_cuts"]


def score_thresholds(
    level: Level,
    values: NDArray,
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits = ChildLimits(),
    learn_missing: bool = False,
    best_only: bool = False,
) -> SplitCandidates:
    """The best cut of each node on the columns of numbers that the level keeps in order. See :func:`score_cuts`.

    With ``best_only`` columns that can't be the best of a node may be left out; the scores then tell the columns.
    """
    orders, parts = level.sorted.up_to_date(), []
    for block in blocks(*orders.shape):
        columns, order = np.array(level.sorted.columns[block])[:, np.newaxis], orders[block]
        x = level.gather(values, columns, order)
        candidates = score_cuts(level, x, order, criterion, impurity, limits, learn_missing, best_only)
        if best_only:
            nth = candidates.feature
            candidates.feature = np.repeat(columns, level.n_nodes, axis=1) if nth is None else columns[nth, 0]
        parts.append(candidates)
    nowhere = np.empty((0, level.n_nodes))
    return merge_candidates(parts or [SplitCandidates(nowhere, nowhere)])


def score_cuts(
    level: Level,
    x: NDArray,
    order: NDArray[np.integer],
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits = ChildLimits(),
    learn_missing: bool = False,
    best_only: bool = False,
) -> SplitCandidates:
    """The best cut of each node on some columns of numbers.

    The candidates are the midpoints between neighbouring distinct values. The entries lie in the order of (node,
    value), so the sums below every cut of every node are one running sum: a level costs O(entries) a column, where
    summing anew for each cut would cost O(entries^2).

    Parameters
    ----------
    level : Level
        The open nodes.
    x : array of shape (n_columns, n_alive)
        The values, in the order of (node, value).
    order : array of shape (n_columns, n_alive)
        The entries whose values they are.
    criterion, impurity, room
        What a cut is to lower; the impurity of the nodes, which says what counts as equal; what a side must hold.
    learn_missing : bool
        Whether to try the rows where a column is missing on either side of every cut, and all known rows against them.
        In a node where none is missing there is nothing to learn: the branch is left open.
    best_only : bool
        Whether a node needs but the best of its cuts on all columns; where none has gaps, only that is told then.
    """
    is_cut = cut_places(level, x)
    # Missing values come last in a node: one look there tells whether there are any.
    is_picked = np.isnan(x[:, level.start[1:] - 1]).any(axis=1)
    if x.size > BLOCK and np.count_nonzero(is_cut) < x.size / 2:
        is_picked[:] = True
    if not is_picked.any():
        candidates = score_dense_cuts(level, x, order, is_cut, criterion, impurity, limits, best_only)
    else:
        picked, rest = np.flatnonzero(is_picked), np.flatnonzero(~is_picked)
        parts = [score_sparse_cuts(level, x[k], order[k], criterion, impurity, limits, learn_missing) for k in picked]
        if len(rest):
            parts.append(score_dense_cuts(level, x[rest], order[rest], is_cut[rest], criterion, impurity, limits))
        candidates = merge_candidates(parts, np.concatenate([picked, rest]).tolist())
    if learn_missing and candidates.missing is None:
        candidates.missing = np.full(candidates.gain.shape, MAJORITY)
    return candidates


def score_dense_cuts(
    level: Level,
    x: NDArray,
    order: NDArray[np.integer],
    is_cut: NDArray[np.bool_],
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits,
    best_only: bool = False,
) -> SplitCandidates:
    """The best cuts of columns without gaps: every place is worked out, and masked where there is no cut.

    Where most places are cuts, that is faster than to pick the cuts out.
    """
    if level.has_unit_weights and isinstance(criterion, DeviationCriterion):
        # Where rows are counted, as many lie below a place in every column: what follows from that is worked out once.
        if criterion not in level.cache:
            level.cache[criterion] = criterion.savings(level.n_below, _at_places(level, level.sums))
        saving = level.cache[criterion](level.running_sums(order, slice(1, None)) * level.unit[1:, np.newaxis])
        weight_below: NDArray = level.n_below
    else:
        below = level.running_sums(order) * level.unit[:, np.newaxis]
        saving, weight_below = criterion.saving(below, _at_places(level, level.sums)), criterion.weight(below)
    node_weight = criterion.weight(level.sums)
    if limits.rows > 1:
        is_cut &= _both_sides_reach(level.n_below, level.n_samples[level.node], limits.rows)
    if limits.limits_weight:
        is_cut &= _both_sides_reach(weight_below, node_weight[level.node], limits.of(level.node).weight)
    saving = np.where(is_cut, saving, -np.inf)

    tolerance = TIE * impurity * criterion.divisor(level.sums)
    best = (first_of_all if best_only else first_maximum_per_column)(level, saving, tolerance)
    gain = criterion.gain(saving.take(best), level.sums)
    candidates = SplitCandidates(gain, threshold_after(x, best))
    if best_only:
        candidates.feature = best // saving.shape[1]
    elif weight_below.ndim == 2:
        left = weight_below.take(best)
        candidates.branch_weight = dict(enumerate(np.stack([left, node_weight - left], axis=-1)))
    return candidates


def first_maximum_per_column(level: Level, saving: NDArray, tolerance: NDArray) -> NDArray[np.intp]:
    """The first place of each node in each column that saves the most, up to the tolerance.

    ``saving`` is of shape (n_columns, n_alive), the answer of shape (n_columns, n_nodes); places count on from column to
    column.
    """
    largest = np.maximum.reduceat(saving, level.start[:-1], axis=1)
    good = np.flatnonzero(saving >= np.repeat(largest - tolerance, level.n_samples, axis=1))
    if len(good) > largest.size:
        first = np.arange(0, saving.size, saving.shape[1])[:, np.newaxis] + level.start[:-1]
        good = good[np.searchsorted(good, first)]
    return good.reshape(largest.shape)


def first_of_all(level: Level, saving: NDArray, tolerance: NDArray) -> NDArray[np.intp]:
    """The first place of each node, column by column, that saves the most of all, up to the tolerance.

    The answer is of shape (1, n_nodes). Where only the best column counts, that is less to look for.
    """
    largest = np.maximum.reduceat(saving.max(axis=0), level.start[:-1])
    good = np.flatnonzero(saving >= np.repeat(largest - tolerance, level.n_samples))
    node = level.node.take(good % saving.shape[1])
    # Noted from the last to the first, the first of each node is what stays.
    best = np.empty((1, level.n_nodes), dtype=np.intp)
    best[0, node[::-1]] = good[::-1]
    return best


def _at_places(level: Level, of_nodes: NDArray) -> NDArray:
    """What each node has at each of its places, with an axis for columns: of shape (n_sums, 1, n_alive)."""
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
        Midpoint of the two values; infinity where the one above is missing.
    n_below : array of shape (n_cuts,)
        Number of entries of the node below the cut.
    n_known : array of shape (n_nodes,)
        Number of entries of each node where the column is known; they come first in the node.
    """

    place: NDArray[np.intp]
    node: NDArray[np.intp]
    threshold: Floats
    n_below: NDArray[np.intp]
    n_known: NDArray[np.intp]


def find_cuts(level: Level, x: NDArray, before_missing: bool = False) -> CandidateCuts:
    """The cuts of every node on a column of numbers, whose values come in the order of (node, value).

    With ``before_missing`` the last cut of a node has all known values below it.
    """
    is_cut, n_known = cut_places(level, x[np.newaxis])[0], level.n_samples
    # Missing values come last in a node: one look there tells whether there are any.
    if np.isnan(x[level.start[1:] - 1]).any():
        is_known = ~np.isnan(x)
        n_known = np.bincount(level.node, is_known, minlength=level.n_nodes).astype(np.intp)
        if before_missing:
            is_cut[level.start[:-1] + n_known - 1] |= (n_known > 0) & (n_known < level.n_samples)
    place = np.flatnonzero(is_cut)
    above = x.take(place + 1)
    threshold = np.where(np.isnan(above), np.inf, midpoint(x.take(place), above))
    return CandidateCuts(place, level.node.take(place), threshold, level.n_below.take(place), n_known)


def cut_places(level: Level, x: NDArray) -> NDArray[np.bool_]:
    """Whether a larger value of the same node follows, for columns in the order of (node, value)."""
    is_cut = np.empty(x.shape, dtype=bool)
    np.less(x[:, :-1], x[:, 1:], out=is_cut[:, :-1])
    is_cut[:, level.start[1:] - 1] = False
    return is_cut


def score_sparse_cuts(
    level: Level,
    x: NDArray,
    order: NDArray[np.integer],
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits,
    learn_missing: bool = False,
) -> SplitCandidates:
    """The best cuts of a column with gaps, or with few values: the cuts are picked out first."""
    cuts = find_cuts(level, x, before_missing=learn_missing)
    if level.has_unit_weights and isinstance(criterion, DeviationCriterion) and (cuts.n_known == level.n_samples).all():
        return _score_counted(level, cuts, order, criterion, impurity, limits)
    at = cuts.node
    running = level.running_sums(order[np.newaxis])[:, 0]
    below = running.take(cuts.place, axis=1) * level.unit
    last_known = np.maximum(level.start[:-1] + cuts.n_known - 1, 0)
    known = np.where(cuts.n_known > 0, running.take(last_known, axis=1) * level.unit, 0)
    lost, n_lost = level.sums - known, level.n_samples - cuts.n_known
    tolerance = TIE * impurity * criterion.divisor(level.sums)
    if not learn_missing:
        saving = _saving_within_limits(criterion, below, known[:, at], cuts.n_below, cuts.n_known[at], limits.of(at))
    else:
        to_left, to_right = (
            _saving_within_limits(
                criterion,
                below + side * lost[:, at],
                level.sums[:, at],
                cuts.n_below + side * n_lost[at],
                level.n_samples[at],
                limits.of(at),
            )
            for side in (1, 0)
        )
        saving = np.maximum(to_left, to_right)
    node, best = first_maximum(cuts, saving, tolerance)
    candidates = candidates_from_cuts(level, cuts, node, best, saving, criterion)
    candidates.n_candidates = np.bincount(at, np.isfinite(saving), minlength=level.n_nodes).astype(float)[np.newaxis]
    candidates.branch_weight[0] = np.zeros((level.n_nodes, 2))
    candidates.branch_weight[0][node, 0] = criterion.weight(below[:, best])
    candidates.branch_weight[0][node, 1] = criterion.weight(known[:, node] - below[:, best])
    if learn_missing:
        # Of two equal gains the right side wins, as in XGBoost.
        is_better = to_left[best] > to_right[best] + tolerance[node]
        candidates.missing = np.full((1, level.n_nodes), MAJORITY)
        candidates.missing[0, node] = np.where(n_lost[node] == 0, MAJORITY, np.where(is_better, 0, 1))
    return candidates


def _score_counted(
    level: Level,
    cuts: CandidateCuts,
    order: NDArray[np.integer],
    criterion: DeviationCriterion,
    impurity: Floats,
    limits: ChildLimits,
) -> SplitCandidates:
    """The best of some cuts, where rows are counted and known: the first sum need not be added up."""
    at, others = cuts.node, slice(1, None)
    below = level.running_sums(order[np.newaxis], others)[:, 0].take(cuts.place, axis=1) * level.unit[others]
    saving = criterion.savings(cuts.n_below, level.sums[:, at])(below)
    fits = _both_sides_reach(cuts.n_below, level.n_samples[at], np.maximum(limits.rows, limits.of(at).weight))
    np.copyto(saving, -np.inf, where=~fits)
    node, best = first_maximum(cuts, saving, TIE * impurity * criterion.divisor(level.sums))
    return candidates_from_cuts(level, cuts, node, best, saving, criterion)


def first_maximum(cuts: CandidateCuts, saving: Floats, tolerance: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
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
    node: NDArray[np.intp],
    best: NDArray[np.intp],
    saving: Floats,
    criterion: Criterion,
) -> SplitCandidates:
    """The best cuts of some nodes on a column, as scores of all nodes."""
    gain, threshold = np.full((1, level.n_nodes), -np.inf), np.full((1, level.n_nodes), np.nan)
    gain[0, node], threshold[0, node] = criterion.gain(saving[best], level.sums[:, node]), cuts.threshold[best]
    return SplitCandidates(gain, threshold)


def _both_sides_reach(below: NDArray, total: NDArray, least: float | Floats) -> NDArray[np.bool_]:
    """Whether there is so much on both sides of a cut."""
    return (below >= least) & (total - below >= least)


def _saving_within_limits(
    criterion: Criterion, left: Floats, total: Floats, n_left: NDArray, n: NDArray, limits: ChildLimits
) -> Floats:
    """What each cut saves; -inf where a side has no room."""
    fits = _both_sides_reach(n_left, n, limits.rows)
    if limits.limits_weight:
        fits &= _both_sides_reach(criterion.weight(left), criterion.weight(total), limits.weight)
    return np.where(fits, criterion.saving(left, total), -np.inf)


def midpoint(low: NDArray, high: NDArray) -> Floats:
    """Halfway between two neighbouring values, but never the upper one, to which close floats may round."""
    middle = np.divide(low, 2, dtype=float) + np.divide(high, 2, dtype=float)
    return np.where(middle < high, middle, low)


def threshold_after(x: NDArray, place: NDArray[np.intp]) -> Floats:
    """The threshold between each place and the next; places count on from column to column, and behind the last is none."""
    return midpoint(x.take(place), x.take(place + 1, mode="clip"))
