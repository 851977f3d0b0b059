"""Which split is best? All open nodes of a level are scored at once, a column at a time.

A column of numbers is cut at a threshold; a column of categories opens a branch for each, or is cut into two groups of
categories. Each way answers with :class:`Scores`. Rows where the column is missing are left out of the score, and the
gain is multiplied by the share of the weight that is left in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treekit.criteria import Criterion, SurplusCriterion
from treekit.level import Level
from treekit.tree import MAJORITY

__all__ = ["Scores", "Room", "score_thresholds", "score_branches", "score_groups", "largest_gain"]

Floats = NDArray[np.float64]

#: Gains that differ by less, as a part of the node's impurity, count as equal: rounding never chooses.
TIE = 1e-10

#: With three classes or more, all groupings of up to this many categories are tried.
MAX_EXHAUSTIVE = 10


@dataclass(eq=False)
class Scores:
    """The best split of each open node on one column.

    Attributes
    ----------
    gain : array of shape (n_nodes,)
        How much it lowers the impurity; -inf where the column can't split the node.
    branch_weight : array of shape (n_nodes, n_branches) or None
        Weight of the known rows that take each branch, where a criterion may ask for it.
    threshold : array of shape (n_nodes,) or None
        For a column of numbers: branch 0 is at or below it, branch 1 above.
    route : array of shape (n_nodes, n_values) or None
        For a column of categories, the branch of each; -1 for none.
    n_branches : int
        Number of branches.
    missing : array of shape (n_nodes,) or None
        Branch for the rows where the column is missing, where the score has learned it; MAJORITY where it could not.
    n_candidates : array of shape (n_nodes,) or None
        Number of cuts that had room, where they were counted.
    split_information : array of shape (n_nodes,) or None
        Entropy, in bits, of the branches, for those who choose by it.
    """

    gain: Floats
    branch_weight: Floats | None = None
    threshold: Floats | None = None
    route: NDArray[np.intp] | None = None
    n_branches: int = 2
    missing: NDArray[np.intp] | None = None
    n_candidates: Floats | None = None
    split_information: Floats | None = None


@dataclass(frozen=True)
class Room:
    """What a child must hold: so many rows, and so much weight; the weight may differ from node to node."""

    rows: float = 1
    weight: float | Floats = 0.0

    def of(self, node: NDArray[np.intp]) -> Room:
        """The same for the children of each of these nodes."""
        return Room(self.rows, self.weight[node] if isinstance(self.weight, np.ndarray) else self.weight)


@dataclass(frozen=True, eq=False)
class Cuts:
    """Cuts of a column of numbers, in the order of (node, value).

    Attributes
    ----------
    x : array of shape (n_alive,)
        The column in that order.
    place : array of shape (n_cuts,)
        Place of the last entry below each cut.
    node : array of shape (n_cuts,)
        Node of each cut.
    n_below : array of shape (n_cuts,)
        Number of entries of the node below the cut.
    n_known : array of shape (n_nodes,)
        Number of entries of each node where the column is known; they come first in the node.
    is_cut : array of shape (n_alive,) or None
        None where these are the cuts between distinct values; otherwise every place stands for one, and this tells
        which are.
    """

    x: NDArray
    place: NDArray[np.intp]
    node: NDArray[np.intp]
    n_below: NDArray[np.intp]
    n_known: NDArray[np.intp]
    is_cut: NDArray[np.bool_] | None = None

    def threshold(self, cut: NDArray[np.intp]) -> Floats:
        """Midpoint of the two values beside some cuts; infinity where the one above is missing."""
        place = self.place[cut]
        above = self.x[place + 1]
        return np.where(np.isnan(above), np.inf, midpoint(self.x[place], above))


def find_cuts(
    level: Level, column: NDArray, order: NDArray[np.integer], before_missing: bool = False, everywhere: bool = False
) -> Cuts:
    """The cuts of every node on a column of numbers, whose entries lie in the order of (node, value).

    With ``before_missing`` the last cut of a node has all known values below it. With ``everywhere`` a column without
    gaps, most of whose places are cuts, is not picked over: to look at all places is faster then.
    """
    x = level.values(column, order)
    last = level.start[1:] - 1
    is_cut = np.zeros(len(x), dtype=bool)
    np.less(x[:-1], x[1:], out=is_cut[:-1])
    n_known = level.n_samples
    # Missing values come last, so one look at the end of each node tells whether there are any.
    has_gaps = np.isnan(x[last]).any()
    if has_gaps:
        is_known = ~np.isnan(x)
        n_known = np.bincount(level.node, is_known, minlength=level.n_nodes).astype(np.intp)
        if before_missing:
            is_cut[:-1] |= is_known[:-1] & ~is_known[1:]
    is_cut[last] = False
    if everywhere and not has_gaps and np.count_nonzero(is_cut) > len(x) / 2:
        return Cuts(x, level.place, level.node, level.n_below, n_known, is_cut)
    place = np.flatnonzero(is_cut)
    return Cuts(x, place, level.node.take(place), level.n_below.take(place), n_known)


def score_thresholds(
    level: Level,
    column: NDArray,
    order: NDArray[np.integer],
    criterion: Criterion,
    impurity: Floats,
    room: Room = Room(),
    learn_missing: bool = False,
    count_candidates: bool = False,
) -> Scores:
    """The best cut of each node on a column of numbers.

    The candidates are the midpoints between neighbouring distinct values. The entries lie in the order of (node,
    value), so the sums below every cut of every node are one running sum: a level costs O(entries), where summing
    anew for each cut would cost O(entries^2).

    With ``learn_missing`` the rows where the column is missing are tried on either side of every cut, and all known
    rows against them. In a node where none is missing there is nothing to learn: the branch is left open.
    """
    can_share = level.is_counted and isinstance(criterion, SurplusCriterion)
    cuts = find_cuts(level, column, order, before_missing=learn_missing, everywhere=can_share)
    tolerance = TIE * impurity * criterion.divisor(level.sums)
    if cuts.is_cut is not None:
        saving = _savings_everywhere(level, order, cuts.is_cut, criterion, room)
        node, best = first_best(cuts, saving, tolerance)
        return scores_of(level, cuts, node, best, saving[best], criterion)

    running = level.sums_below(order)
    last_known = np.maximum(level.start[:-1] + cuts.n_known - 1, 0)
    known = np.where(cuts.n_known > 0, running.take(last_known, axis=1) * level.unit, 0)
    below, n_lost = running.take(cuts.place, axis=1) * level.unit, level.n_samples - cuts.n_known
    learns = learn_missing and n_lost.any()
    if not learns:
        saving = _saving_with_room(criterion, below, known, cuts.n_below, cuts.n_known, cuts.node, room)
    else:
        lost, at = level.sums - known, cuts.node
        to_left, to_right = (
            _saving_with_room(criterion, below + side * lost[:, at], level.sums, cuts.n_below + side * n_lost[at], level.n_samples, at, room)
            for side in (1, 0)
        )
        saving = np.maximum(to_left, to_right)
    node, best = first_best(cuts, saving, tolerance)
    scores = scores_of(level, cuts, node, best, saving[best], criterion)
    scores.branch_weight = np.zeros((level.n_nodes, 2))
    scores.branch_weight[node, 0] = criterion.weight(below[:, best])
    scores.branch_weight[node, 1] = criterion.weight(known[:, node] - below[:, best])
    if count_candidates:
        scores.n_candidates = np.bincount(cuts.node, np.isfinite(saving), minlength=level.n_nodes).astype(float)
    if learn_missing:
        scores.missing = np.full(level.n_nodes, MAJORITY)
    if learns:
        # Of two equal gains the right side wins, as in XGBoost.
        is_better = to_left[best] > to_right[best] + tolerance[node]
        scores.missing[node] = np.where(n_lost[node] == 0, MAJORITY, np.where(is_better, 0, 1))
    return scores


def _savings_everywhere(
    level: Level, order: NDArray[np.integer], is_cut: NDArray[np.bool_], criterion: Criterion, room: Room
) -> Floats:
    """What a cut at every place saves, where rows are counted and known; -inf where there is no cut or no room.

    What lies below a place weighs the same in every column then, and what follows from it is worked out once a level.
    """
    assert isinstance(criterion, SurplusCriterion)
    if criterion not in level.once:
        level.once[criterion] = criterion.savings(level.n_below, np.repeat(level.sums, level.n_samples, axis=1))
    saving = level.once[criterion](level.sums_below(order, slice(1, None)) * level.unit[1:])
    n_rows = np.maximum(room.rows, room.weight)
    if np.any(n_rows > 1):
        is_cut &= _both_hold(level.n_below, level.n_samples[level.node], n_rows)
    return np.where(is_cut, saving, -np.inf)


def first_best(cuts: Cuts, saving: Floats, tolerance: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The nodes that a cut can split, and the first cut of each that saves the most, up to the node's tolerance."""
    if not len(saving):
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    first = np.flatnonzero(np.diff(cuts.node, prepend=-1))
    node, n_cuts = cuts.node[first], np.diff(first, append=len(saving))
    largest = np.maximum.reduceat(saving, first)
    good = np.flatnonzero(saving >= np.repeat(largest - tolerance[node], n_cuts))
    can_split = np.isfinite(largest)
    return node[can_split], good[np.searchsorted(good, first[can_split])]


def scores_of(
    level: Level, cuts: Cuts, node: NDArray[np.intp], best: NDArray[np.intp], saving: Floats, criterion: Criterion
) -> Scores:
    """The best cuts of some nodes, and what they save, as scores of all nodes."""
    gain, threshold = np.full(level.n_nodes, -np.inf), np.full(level.n_nodes, np.nan)
    gain[node], threshold[node] = criterion.gain(saving, level.sums[:, node]), cuts.threshold(best)
    return Scores(gain, threshold=threshold)


def _both_hold(below: Floats, total: Floats, least: float | Floats) -> NDArray[np.bool_]:
    """Whether there is so much on both sides of a cut."""
    return (below >= least) & (total - below >= least)


def _saving_with_room(
    criterion: Criterion,
    left: Floats,
    total: Floats,
    n_left: NDArray,
    n: NDArray,
    node: NDArray[np.intp],
    room: Room,
) -> Floats:
    """What each cut saves; -inf where a side has no room."""
    total, room = total.take(node, axis=1), room.of(node)
    fits = _both_hold(n_left, n[node], room.rows)
    if np.any(room.weight):
        fits &= _both_hold(criterion.weight(left), criterion.weight(total), room.weight)
    return np.where(fits, criterion.saving(left, total), -np.inf)


def score_branches(level: Level, column: NDArray, n_values: int, criterion: Criterion, min_weight: float = 0.0) -> Scores:
    """A branch for each category: what it gains in each node.

    A node can be split when at least two categories have rows in it, and ``min_weight`` or more of the weight.
    """
    counts = _sums_by_category(level, column, n_values)
    weight = criterion.weight(counts)
    saving = criterion.cost(counts.sum(axis=2)) - criterion.cost(counts).sum(axis=1)
    can_split = np.count_nonzero((weight > 0) & (weight >= min_weight), axis=1) >= 2
    gain = np.where(can_split, criterion.gain(saving, level.sums), -np.inf)
    route = np.broadcast_to(np.arange(n_values), (level.n_nodes, n_values))
    return Scores(gain, weight, route=route, n_branches=n_values)


def score_groups(
    level: Level,
    column: NDArray,
    n_values: int,
    criterion: Criterion,
    impurity: Floats,
    room: Room = Room(),
    one_vs_rest: bool = False,
) -> Scores:
    """The best cut of the categories into two groups.

    Three ways to list the groups. One category against the rest is what the sources describe. Where a category is told
    by one number, the share of a class of two or a mean, the best of all groupings is a cut in the order of that
    number (Breiman et al., 1984, theorem 4.5), so V - 1 candidates do. With more classes all 2^(V-1) - 1 are tried
    for up to ten categories; beyond that, the cuts in the order of each class's share.
    """
    counts = _sums_by_category(level, column, n_values)
    n_rows = _rows_by_category(level, column, n_values)
    known, n_known, nodes = counts.sum(axis=2), n_rows.sum(axis=1), np.arange(level.n_nodes)
    best_gain = np.full(level.n_nodes, -np.inf)
    best_left = np.zeros((level.n_nodes, n_values), dtype=bool)
    for left in _groupings(counts, n_rows, criterion, one_vs_rest):
        n_left = (n_rows * left).sum(axis=1)
        saving = _saving_with_room(criterion, (counts * left).sum(axis=2), known, n_left, n_known, nodes, room)
        gain = criterion.gain(saving, level.sums)
        better = np.isfinite(gain) & ~(gain <= best_gain + TIE * impurity)
        best_gain[better] = gain[better]
        best_left[better] = np.broadcast_to(left, best_left.shape)[better]
    return Scores(best_gain, route=np.where(n_rows > 0, np.where(best_left, 0, 1), -1))


def _groupings(
    counts: Floats, n_rows: NDArray[np.intp], criterion: Criterion, one_vs_rest: bool
) -> Iterator[NDArray[np.bool_]]:
    """The groups to try as left side, each of shape (n_nodes, n_values) or (1, n_values)."""
    n_sums, n_nodes, n_values = counts.shape
    if one_vs_rest:
        yield from np.eye(n_values, dtype=bool)[:, np.newaxis, :]
        return
    keys = criterion.order_keys(counts)
    if len(keys) > 1 and n_values <= MAX_EXHAUSTIVE:
        # The last category stays on the right: its being on the left would be the same cut, named the other way.
        for mask in range(1, 2 ** (n_values - 1)):
            yield ((mask >> np.arange(n_values)) & 1).astype(bool)[np.newaxis, :]
        return
    for key in keys:
        rank = np.argsort(np.argsort(np.where(n_rows > 0, key, np.inf), axis=1, kind="stable"), axis=1)
        for size in range(1, n_values):
            yield rank < size


def midpoint(low: NDArray, high: NDArray) -> Floats:
    """Halfway between two neighbouring values, but never the upper one, to which close floats may round."""
    low, high = low.astype(float), high.astype(float)
    middle = low / 2 + high / 2
    return np.where(middle < high, middle, low)


def _sums_by_category(level: Level, column: NDArray, n_values: int) -> Floats:
    """Sums of the known entries, of shape (n_sums, n_nodes, n_values)."""
    entry, cell = _cells(level, column, n_values)
    n_cells = level.n_nodes * n_values
    sums = np.stack([np.bincount(cell, addend, minlength=n_cells) for addend in level.addend[:, entry]]) * level.unit
    return sums.reshape(len(sums), level.n_nodes, n_values)


def _rows_by_category(level: Level, column: NDArray, n_values: int) -> NDArray[np.intp]:
    """Number of known entries, of shape (n_nodes, n_values)."""
    cell = _cells(level, column, n_values)[1]
    return np.bincount(cell, minlength=level.n_nodes * n_values).reshape(level.n_nodes, n_values)


def _cells(level: Level, column: NDArray, n_values: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The entries where the column is known, and which (node, category) they belong to."""
    code = level.values(column, level.entry).astype(np.intp)
    known = np.flatnonzero(code >= 0)
    return level.entry[known], level.node[known] * n_values + code[known]


def largest_gain(scores: list[Scores], impurity: Floats) -> NDArray[np.intp]:
    """The column of the largest gain in each node; of equal ones the first."""
    gain = np.array([scored.gain for scored in scores])
    return np.argmax(gain >= gain.max(axis=0) - TIE * impurity, axis=0)


def largest_gain_of(n_drawn: int, rng: np.random.Generator) -> Callable[[list[Scores], Floats], NDArray[np.intp]]:
    """Like :func:`largest_gain`, among ``n_drawn`` columns that each node draws at random.

    Columns that can't split a node don't count: drawing goes on until enough are found that can. Of equal gains the
    first drawn wins, so that no column is favoured.
    """

    def choose(scores: list[Scores], impurity: Floats) -> NDArray[np.intp]:
        gain = np.array([scored.gain for scored in scores])
        drawn = rng.random(gain.shape).argsort(axis=0)
        gain = np.take_along_axis(gain, drawn, axis=0)
        gain[np.isfinite(gain).cumsum(axis=0) > n_drawn] = -np.inf
        best = np.argmax(gain >= gain.max(axis=0) - TIE * impurity, axis=0)
        return np.take_along_axis(drawn, best[np.newaxis], axis=0)[0]

    return choose
