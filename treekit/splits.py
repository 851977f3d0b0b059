"""Which split is best? All open nodes of a level are scored at once, a column at a time.

A column of numbers is cut at a threshold; a column of categories opens a branch for each, or is cut into two groups of
categories. Each way answers with :class:`Scores`. Rows where the column is missing are left out of the score, and the
gain is multiplied by the share of the weight that is left in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treekit.criteria import Criterion, SurplusCriterion
from treekit.level import BLOCK, Level, blocks
from treekit.table import Feature
from treekit.tree import MAJORITY

__all__ = [
    "Scores",
    "joined",
    "with_categories",
    "Room",
    "score_thresholds",
    "score_cuts",
    "score_picked",
    "score_branches",
    "score_groups",
    "largest_gain",
]

Floats = NDArray[np.float64]

#: Gains that differ by less, as a part of the node's impurity, count as equal: rounding never chooses.
TIE = 1e-10

#: With three classes or more, all groupings of up to this many categories are tried.
MAX_EXHAUSTIVE = 10


@dataclass(eq=False)
class Scores:
    """The best split of each open node on each of some columns.

    Attributes
    ----------
    gain : array of shape (n_columns, n_nodes)
        How much it lowers the impurity; -inf where the column can't split the node.
    threshold : array of shape (n_columns, n_nodes)
        Branch 0 is at or below it, branch 1 above; NaN for a column of categories. It means nothing without a gain.
    routes : dict of arrays of shape (n_nodes, n_values)
        For each column of categories, the branch of each category; -1 for none.
    missing : array of shape (n_columns, n_nodes) or None
        Branch for the rows where the column is missing, where the score has learned it; MAJORITY where it could not.
    branch_weight : dict of arrays of shape (n_nodes, n_branches)
        Weight of the known rows that take each branch, for columns where a criterion may ask for it.
    n_candidates : array of shape (n_columns, n_nodes) or None
        Number of cuts that had room, where they were counted.
    split_information : array of shape (n_columns, n_nodes) or None
        Entropy, in bits, of the branches, for those who choose by it.
    feature : array of shape (n_columns, n_nodes) or None
        The columns, where each node has its own.
    """

    gain: Floats
    threshold: Floats
    routes: dict[int, NDArray[np.intp]] = field(default_factory=dict)
    missing: NDArray[np.intp] | None = None
    branch_weight: dict[int, Floats] = field(default_factory=dict)
    n_candidates: Floats | None = None
    split_information: Floats | None = None
    feature: NDArray[np.intp] | None = None


def joined(parts: Sequence[Scores], columns: Sequence[int] | None = None) -> Scores:
    """The scores of several groups of columns as one; ``columns`` are the numbers of theirs, unless they come in order."""
    if len(parts) == 1:
        return parts[0]
    if columns is None:
        columns = range(sum(len(part.gain) for part in parts))
    place = np.argsort(columns)

    def of_all(name: str, otherwise: float = np.nan) -> Any:
        told = [getattr(part, name) for part in parts]
        if all(one is None for one in told):
            return None
        return np.concatenate(
            [np.full(part.gain.shape, otherwise) if one is None else one for part, one in zip(parts, told)]
        )[place]

    numbers = np.split(columns, np.cumsum([len(part.gain) for part in parts])[:-1])
    routes, branch_weight = (
        {int(of[k]): told for of, part in zip(numbers, parts) for k, told in getattr(part, name).items()}
        for name in ("routes", "branch_weight")
    )
    return Scores(
        of_all("gain"),
        of_all("threshold"),
        routes,
        of_all("missing", MAJORITY),
        branch_weight,
        of_all("n_candidates"),
        of_all("split_information"),
        of_all("feature", -1),
    )


def with_categories(numbers: Scores, features: Sequence[Feature], score_category: Callable[[int], Scores]) -> Scores:
    """The scores of all columns, from those of the columns of numbers and a function that scores one of categories."""
    categories = [j for j, feature in enumerate(features) if not feature.is_numeric]
    columns = [j for j, feature in enumerate(features) if feature.is_numeric]
    return joined([numbers, *(score_category(j) for j in categories)], columns + categories)


@dataclass(frozen=True)
class Room:
    """What a child must hold: so many rows, and so much weight; the weight may differ from node to node."""

    rows: float = 1
    weight: float | Floats = 0.0

    @cached_property
    def asks_weight(self) -> bool:
        """Whether any weight is asked for."""
        return bool(np.any(self.weight))

    def of(self, node: NDArray[np.intp]) -> Room:
        """The same for the children of each of these nodes."""
        return Room(self.rows, self.weight[node] if isinstance(self.weight, np.ndarray) else self.weight)


def score_thresholds(
    level: Level,
    values: NDArray,
    criterion: Criterion,
    impurity: Floats,
    room: Room = Room(),
    learn_missing: bool = False,
    best_only: bool = False,
) -> Scores:
    """The best cut of each node on the columns of numbers that the level keeps in order. See :func:`score_cuts`.

    With ``best_only`` columns that can't be the best of a node may be left out; the scores then tell the columns.
    """
    orders, parts = level.sorted.up_to_date(), []
    for block in blocks(*orders.shape):
        columns, order = np.array(level.sorted.columns[block])[:, np.newaxis], orders[block]
        x = level.table(values, columns, order)
        scores = score_cuts(level, x, order, criterion, impurity, room, learn_missing, best_only)
        if best_only:
            nth = scores.feature
            scores.feature = np.repeat(columns, level.n_nodes, axis=1) if nth is None else columns[nth, 0]
        parts.append(scores)
    nowhere = np.empty((0, level.n_nodes))
    return joined(parts or [Scores(nowhere, nowhere)])


def score_cuts(
    level: Level,
    x: NDArray,
    order: NDArray[np.integer],
    criterion: Criterion,
    impurity: Floats,
    room: Room = Room(),
    learn_missing: bool = False,
    best_only: bool = False,
) -> Scores:
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
        scores = _score_all_places(level, x, order, is_cut, criterion, impurity, room, best_only)
    else:
        picked, rest = np.flatnonzero(is_picked), np.flatnonzero(~is_picked)
        parts = [score_picked(level, x[k], order[k], criterion, impurity, room, learn_missing) for k in picked]
        if len(rest):
            parts.append(_score_all_places(level, x[rest], order[rest], is_cut[rest], criterion, impurity, room))
        scores = joined(parts, np.concatenate([picked, rest]).tolist())
    if learn_missing and scores.missing is None:
        scores.missing = np.full(scores.gain.shape, MAJORITY)
    return scores


def _score_all_places(
    level: Level,
    x: NDArray,
    order: NDArray[np.integer],
    is_cut: NDArray[np.bool_],
    criterion: Criterion,
    impurity: Floats,
    room: Room,
    best_only: bool = False,
) -> Scores:
    """The best cuts of columns without gaps: every place is worked out, and masked where there is no cut.

    Where most places are cuts, that is faster than to pick the cuts out.
    """
    if level.is_counted and isinstance(criterion, SurplusCriterion):
        # Where rows are counted, as many lie below a place in every column: what follows from that is worked out once.
        if criterion not in level.once:
            level.once[criterion] = criterion.savings(level.n_below, _at_places(level, level.sums))
        saving = level.once[criterion](level.running_sums(order, slice(1, None)) * level.unit[1:, np.newaxis])
        weight_below: NDArray = level.n_below
    else:
        below = level.running_sums(order) * level.unit[:, np.newaxis]
        saving, weight_below = criterion.saving(below, _at_places(level, level.sums)), criterion.weight(below)
    node_weight = criterion.weight(level.sums)
    if room.rows > 1:
        is_cut &= _both_hold(level.n_below, level.n_samples[level.node], room.rows)
    if room.asks_weight:
        is_cut &= _both_hold(weight_below, node_weight[level.node], room.of(level.node).weight)
    saving = np.where(is_cut, saving, -np.inf)

    tolerance = TIE * impurity * criterion.divisor(level.sums)
    best = (first_of_all if best_only else first_of_largest)(level, saving, tolerance)
    gain = criterion.gain(saving.take(best), level.sums)
    scores = Scores(gain, threshold_behind(x, best))
    if best_only:
        scores.feature = best // saving.shape[1]
    elif weight_below.ndim == 2:
        left = weight_below.take(best)
        scores.branch_weight = dict(enumerate(np.stack([left, node_weight - left], axis=-1)))
    return scores


def first_of_largest(level: Level, saving: NDArray, tolerance: NDArray) -> NDArray[np.intp]:
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
class Cuts:
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


def find_cuts(level: Level, x: NDArray, before_missing: bool = False) -> Cuts:
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
    return Cuts(place, level.node.take(place), threshold, level.n_below.take(place), n_known)


def cut_places(level: Level, x: NDArray) -> NDArray[np.bool_]:
    """Whether a larger value of the same node follows, for columns in the order of (node, value)."""
    is_cut = np.empty(x.shape, dtype=bool)
    np.less(x[:, :-1], x[:, 1:], out=is_cut[:, :-1])
    is_cut[:, level.start[1:] - 1] = False
    return is_cut


def score_picked(
    level: Level,
    x: NDArray,
    order: NDArray[np.integer],
    criterion: Criterion,
    impurity: Floats,
    room: Room,
    learn_missing: bool = False,
) -> Scores:
    """The best cuts of a column with gaps, or with few values: the cuts are picked out first."""
    cuts = find_cuts(level, x, before_missing=learn_missing)
    if level.is_counted and isinstance(criterion, SurplusCriterion) and (cuts.n_known == level.n_samples).all():
        return _score_counted(level, cuts, order, criterion, impurity, room)
    at = cuts.node
    running = level.running_sums(order[np.newaxis])[:, 0]
    below = running.take(cuts.place, axis=1) * level.unit
    last_known = np.maximum(level.start[:-1] + cuts.n_known - 1, 0)
    known = np.where(cuts.n_known > 0, running.take(last_known, axis=1) * level.unit, 0)
    lost, n_lost = level.sums - known, level.n_samples - cuts.n_known
    tolerance = TIE * impurity * criterion.divisor(level.sums)
    if not learn_missing:
        saving = _saving_with_room(criterion, below, known[:, at], cuts.n_below, cuts.n_known[at], room.of(at))
    else:
        to_left, to_right = (
            _saving_with_room(
                criterion,
                below + side * lost[:, at],
                level.sums[:, at],
                cuts.n_below + side * n_lost[at],
                level.n_samples[at],
                room.of(at),
            )
            for side in (1, 0)
        )
        saving = np.maximum(to_left, to_right)
    node, best = first_best(cuts, saving, tolerance)
    scores = scores_of(level, cuts, node, best, saving, criterion)
    scores.n_candidates = np.bincount(at, np.isfinite(saving), minlength=level.n_nodes).astype(float)[np.newaxis]
    scores.branch_weight[0] = np.zeros((level.n_nodes, 2))
    scores.branch_weight[0][node, 0] = criterion.weight(below[:, best])
    scores.branch_weight[0][node, 1] = criterion.weight(known[:, node] - below[:, best])
    if learn_missing:
        # Of two equal gains the right side wins, as in XGBoost.
        is_better = to_left[best] > to_right[best] + tolerance[node]
        scores.missing = np.full((1, level.n_nodes), MAJORITY)
        scores.missing[0, node] = np.where(n_lost[node] == 0, MAJORITY, np.where(is_better, 0, 1))
    return scores


def _score_counted(
    level: Level, cuts: Cuts, order: NDArray[np.integer], criterion: SurplusCriterion, impurity: Floats, room: Room
) -> Scores:
    """The best of some cuts, where rows are counted and known: the first sum need not be added up."""
    at, others = cuts.node, slice(1, None)
    below = level.running_sums(order[np.newaxis], others)[:, 0].take(cuts.place, axis=1) * level.unit[others]
    saving = criterion.savings(cuts.n_below, level.sums[:, at])(below)
    fits = _both_hold(cuts.n_below, level.n_samples[at], np.maximum(room.rows, room.of(at).weight))
    np.copyto(saving, -np.inf, where=~fits)
    node, best = first_best(cuts, saving, TIE * impurity * criterion.divisor(level.sums))
    return scores_of(level, cuts, node, best, saving, criterion)


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
    """The best cuts of some nodes on a column, as scores of all nodes."""
    gain, threshold = np.full((1, level.n_nodes), -np.inf), np.full((1, level.n_nodes), np.nan)
    gain[0, node], threshold[0, node] = criterion.gain(saving[best], level.sums[:, node]), cuts.threshold[best]
    return Scores(gain, threshold)


def _both_hold(below: NDArray, total: NDArray, least: float | Floats) -> NDArray[np.bool_]:
    """Whether there is so much on both sides of a cut."""
    return (below >= least) & (total - below >= least)


def _saving_with_room(
    criterion: Criterion, left: Floats, total: Floats, n_left: NDArray, n: NDArray, room: Room
) -> Floats:
    """What each cut saves; -inf where a side has no room."""
    fits = _both_hold(n_left, n, room.rows)
    if room.asks_weight:
        fits &= _both_hold(criterion.weight(left), criterion.weight(total), room.weight)
    return np.where(fits, criterion.saving(left, total), -np.inf)


def score_branches(
    level: Level, column: NDArray, n_values: int, criterion: Criterion, min_weight: float = 0.0
) -> Scores:
    """A branch for each category: what it gains in each node.

    A node can be split when at least two categories have rows in it, and ``min_weight`` or more of the weight.
    """
    counts = _sums_by_category(level, column, n_values)
    weight = criterion.weight(counts)
    saving = criterion.cost(counts.sum(axis=2)) - criterion.cost(counts).sum(axis=1)
    can_split = np.count_nonzero((weight > 0) & (weight >= min_weight), axis=1) >= 2
    gain = np.where(can_split, criterion.gain(saving, level.sums), -np.inf)
    route = np.broadcast_to(np.arange(n_values), (level.n_nodes, n_values))
    return _of_categories(gain, route, weight)


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
    return best_groups(counts, n_rows, level.sums, criterion, impurity, room, one_vs_rest)


def best_groups(
    counts: Floats,
    n_rows: NDArray[np.intp],
    node: Floats,
    criterion: Criterion,
    impurity: Floats,
    room: Room = Room(),
    one_vs_rest: bool = False,
) -> Scores:
    """The same from sums of shape (n_sums, n_nodes, n_values) and numbers of rows, those of the nodes beside them."""
    known, n_known = counts.sum(axis=2), n_rows.sum(axis=1)
    best_gain = np.full(len(n_rows), -np.inf)
    best_left = np.zeros(n_rows.shape, dtype=bool)
    for left in _groupings(counts, n_rows, criterion, one_vs_rest):
        n_left = (n_rows * left).sum(axis=1)
        gain = criterion.gain(
            _saving_with_room(criterion, (counts * left).sum(axis=2), known, n_left, n_known, room), node
        )
        better = np.isfinite(gain) & ~(gain <= best_gain + TIE * impurity)
        best_gain[better] = gain[better]
        best_left[better] = np.broadcast_to(left, best_left.shape)[better]
    return _of_categories(best_gain, np.where(n_rows > 0, np.where(best_left, 0, 1), -1))


def _of_categories(gain: Floats, route: NDArray[np.intp], weight: Floats | None = None) -> Scores:
    """The scores of one column of categories."""
    threshold = np.full((1, len(gain)), np.nan)
    return Scores(gain[np.newaxis], threshold, {0: route}, branch_weight={} if weight is None else {0: weight})


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
    middle = np.divide(low, 2, dtype=float) + np.divide(high, 2, dtype=float)
    return np.where(middle < high, middle, low)


def threshold_behind(x: NDArray, place: NDArray[np.intp]) -> Floats:
    """The threshold between each place and the next; places count on from column to column, and behind the last is none."""
    return midpoint(x.take(place), x.take(place + 1, mode="clip"))


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


def _cells(level: Level, column: NDArray, n_values: int) -> tuple[NDArray[np.integer], NDArray[np.intp]]:
    """The entries where the column is known, and which (node, category) they belong to."""
    code = level.values(column, level.entry).astype(np.intp)
    known = np.flatnonzero(code >= 0)
    return level.entry[known], level.node[known] * n_values + code[known]


def largest_gain(scores: Scores, impurity: Floats) -> NDArray[np.intp]:
    """The column of the largest gain in each node; of equal ones the first."""
    return np.argmax(scores.gain >= scores.gain.max(axis=0) - TIE * impurity, axis=0)


def largest_gain_of(n_drawn: int, rng: np.random.Generator) -> Callable[[Scores, Floats], NDArray[np.intp]]:
    """Like :func:`largest_gain`, among ``n_drawn`` columns that each node draws at random.

    Columns that can't split a node don't count: drawing goes on until enough are found that can. Of equal gains the
    first drawn wins, so that no column is favoured.
    """

    def choose(scores: Scores, impurity: Floats) -> NDArray[np.intp]:
        drawn = rng.random(scores.gain.shape).argsort(axis=0)
        gain = np.take_along_axis(scores.gain, drawn, axis=0)
        gain[np.isfinite(gain).cumsum(axis=0) > n_drawn] = -np.inf
        best = np.argmax(gain >= gain.max(axis=0) - TIE * impurity, axis=0)
        return np.take_along_axis(drawn, best[np.newaxis], axis=0)[0]

    return choose
