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

from treekit.criteria import Criterion
from treekit.level import Level
from treekit.measures import entropy_of_counts
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
    split_information : array of shape (n_nodes,)
        Entropy, in bits, of the branches that the known rows take.
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
    """

    gain: Floats
    split_information: Floats
    threshold: Floats | None = None
    route: NDArray[np.intp] | None = None
    n_branches: int = 2
    missing: NDArray[np.intp] | None = None
    n_candidates: Floats | None = None


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
    """All cuts of a column of numbers between neighbouring distinct values, node by node.

    Attributes
    ----------
    place : array of shape (n_cuts,)
        Place in ``order`` of the last entry below each cut.
    node : array of shape (n_cuts,)
        Node of each cut.
    threshold : array of shape (n_cuts,)
        Midpoint of the two values.
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


def find_cuts(level: Level, column: NDArray, order: NDArray[np.intp], before_missing: bool = False) -> Cuts:
    """The cuts of every node on a column of numbers, whose entries lie in the order of (node, value).

    With ``before_missing`` the last cut of a node has all known values below it: its threshold is infinite.
    """
    x = column.take(level.row.take(order))
    is_cut = x[:-1] < x[1:]
    if before_missing:
        is_cut |= ~np.isnan(x[:-1]) & np.isnan(x[1:])
    place = np.flatnonzero(is_cut & (level.node[:-1] == level.node[1:]))
    node = level.node[place]
    n_known = np.bincount(level.node, ~np.isnan(x), minlength=level.n_nodes).astype(np.intp)
    threshold = np.where(np.isnan(x[place + 1]), np.inf, midpoint(x[place], x[place + 1]))
    return Cuts(place, node, threshold, place + 1 - level.start[node], n_known)


def score_thresholds(
    level: Level,
    column: NDArray,
    order: NDArray[np.intp],
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
    cuts = find_cuts(level, column, order, before_missing=learn_missing)
    at, first = cuts.node, level.start[:-1]
    room = room.of(at)
    running = np.zeros((len(level.addend), len(order) + 1), dtype=np.int64)
    # take(axis=1) keeps the sums one after the other in memory, as x[:, order] would not: several times faster.
    np.cumsum(level.addend.take(order, axis=1), axis=1, out=running[:, 1:])
    known = ((running[:, first + cuts.n_known] - running[:, first]) * level.unit).take(at, axis=1)
    below = (running.take(cuts.place + 1, axis=1) - running.take(first[at], axis=1)) * level.unit
    whole = level.sums.take(at, axis=1)
    if not learn_missing:
        gain = _gain_with_room(criterion, below, known, cuts.n_below, cuts.n_known[at], whole, room)
    else:
        n_lost, lost = (level.n_samples - cuts.n_known)[at], whole - known
        n = level.n_samples[at]
        to_left, to_right = (
            _gain_with_room(criterion, below + side * lost, whole, cuts.n_below + side * n_lost, n, whole, room)
            for side in (1, 0)
        )
        gain = np.maximum(to_left, to_right)
    best = first_best(cuts, gain, TIE * impurity)
    scores = scores_of(level.n_nodes, cuts, best, gain)
    scores.split_information[at[best]] = _two_way_information(criterion, below[:, best], known[:, best])
    if count_candidates:
        scores.n_candidates = np.bincount(at, np.isfinite(gain), minlength=level.n_nodes).astype(float)
    if learn_missing:
        # Of two equal gains the right side wins, as in XGBoost.
        is_better = to_left[best] > to_right[best] + TIE * impurity[at[best]]
        missing = np.full(level.n_nodes, MAJORITY)
        scores.missing = missing
        missing[at[best]] = np.where(n_lost[best] == 0, MAJORITY, np.where(is_better, 0, 1))
    return scores


def first_best(cuts: Cuts, gain: Floats, tolerance: Floats) -> NDArray[np.intp]:
    """The first cut of each node whose gain is the largest up to the node's tolerance; none for a node without room."""
    if not len(gain):
        return np.zeros(0, dtype=np.intp)
    first = np.flatnonzero(np.diff(cuts.node, prepend=-1))
    least = np.maximum.reduceat(gain, first) - tolerance[cuts.node[first]]
    good = np.flatnonzero((gain >= np.repeat(least, np.diff(first, append=len(gain)))) & np.isfinite(gain))
    return good[np.unique(cuts.node[good], return_index=True)[1]]


def scores_of(n_nodes: int, cuts: Cuts, best: NDArray[np.intp], gain: Floats) -> Scores:
    """The best cuts as scores of their nodes."""
    best_gain, threshold = np.full(n_nodes, -np.inf), np.full(n_nodes, np.nan)
    best_gain[cuts.node[best]], threshold[cuts.node[best]] = gain[best], cuts.threshold[best]
    return Scores(best_gain, np.zeros(n_nodes), threshold=threshold)


def _gain_with_room(
    criterion: Criterion, left: Floats, total: Floats, n_left: NDArray, n: NDArray, node: Floats, room: Room
) -> Floats:
    """Gain of each cut; -inf where a side has no room."""
    fits = (n_left >= room.rows) & (n - n_left >= room.rows)
    if np.any(room.weight):
        fits &= (criterion.weight(left) >= room.weight) & (criterion.weight(total - left) >= room.weight)
    return np.where(fits, criterion.gain(criterion.saving(left, total), node), -np.inf)


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
    return Scores(gain, entropy_of_counts(weight), route=route, n_branches=n_values)


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
    known, n_known = counts.sum(axis=2), n_rows.sum(axis=1)
    best_gain = np.full(level.n_nodes, -np.inf)
    best_left = np.zeros((level.n_nodes, n_values), dtype=bool)
    for left in _groupings(counts, n_rows, criterion, one_vs_rest):
        n_left = (n_rows * left).sum(axis=1)
        gain = _gain_with_room(criterion, (counts * left).sum(axis=2), known, n_left, n_known, level.sums, room)
        better = np.isfinite(gain) & ~(gain <= best_gain + TIE * impurity)
        best_gain[better] = gain[better]
        best_left[better] = np.broadcast_to(left, best_left.shape)[better]
    below = (counts * best_left).sum(axis=2)
    route = np.where(n_rows > 0, np.where(best_left, 0, 1), -1)
    return Scores(best_gain, _two_way_information(criterion, below, known), route=route)


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
    code = column[level.row[level.entry]].astype(np.intp)
    known = np.flatnonzero(code >= 0)
    return level.entry[known], level.node[known] * n_values + code[known]


def _two_way_information(criterion: Criterion, left: Floats, total: Floats) -> Floats:
    below, above = criterion.weight(left), criterion.weight(total - left)
    return entropy_of_counts(np.stack([below, above], axis=-1))


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
