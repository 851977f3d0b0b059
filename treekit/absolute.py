"""The absolute error: the one criterion that is no function of sums, because a median is none.

Where rows are counted, what they cost follows from running medians, and one walk backwards through all nodes and
columns at once finds those: see :func:`costs_of_prefixes` and :func:`running_medians`. Where they are weighed, the sum
of the smallest values that make up half of the weight tells all: :func:`sum_of_smallest` finds it bit by bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.criteria import Criterion
from treekit.level import Level, copies, in_units, row_type
from treekit.losses import quantile
from treekit.splits import (
    TIE,
    Room,
    Scores,
    cut_places,
    find_cuts,
    first_best,
    first_of_largest,
    joined,
    scores_of,
    threshold_behind,
)

__all__ = [
    "AbsoluteError",
    "score_thresholds_absolute",
    "costs_of_prefixes",
    "running_medians",
    "absolute_cost",
    "sum_of_smallest",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Wholes = NDArray[np.int64]

#: A node of more rows than this is cut into stretches of that length or longer, at most so many of one node.
STRETCH, MAX_STRETCHES = 512, 8

#: About so many lists are walked through at once: enough that a step is worth its calls, and few enough that they stay
#: in the cache of a processor.
LISTS = 512

#: What is less than any saving, in units.
NO_CUT = -(2**62)


class AbsoluteError(Criterion):
    r"""Mean absolute error about the median: :math:`\frac{1}{|D|} \sum_{i \in D} |y_i - \mathrm{median}(D)|`.

    Of an even number of rows the median is the mean of the middle two; with weights, of the two values between which
    the weight halves.

    Attributes
    ----------
    target : array of shape (n_rows,)
        The target.
    whole : integer array of shape (n_rows,)
        The target's distance from its median, in units. Sums of whole numbers are exact, so equal savings are equal.
    unit : float
        Size of the unit.
    rank : integer array of shape (n_rows,)
        The place of each row in the order of the target.
    """

    def __init__(self, target: Floats):
        self.target = target
        # Only the weight is a sum.
        self.per_row = np.ones((1, len(target)))
        # Costs do not depend on where zero is: near the targets, the units are fine.
        whole, unit = in_units((target - np.median(target))[np.newaxis], fractions=False)
        self.whole, self.unit = whole[0].astype(np.int64), float(unit[0, 0])
        self.rank = np.argsort(np.argsort(target))

    def weight(self, sums: Floats) -> Floats:
        return sums[0]

    def value(self, level: Level) -> Floats:
        if self not in level.once:
            target, weight = level.values(self.target, level.entry), level.weight[level.entry]
            level.once[self] = quantile(target, weight, level.node, level.n_nodes)[:, np.newaxis]
        return level.once[self]

    def impurity(self, level: Level) -> Floats:
        median = self.value(level)[:, 0]
        return level.mean(np.abs(level.values(self.target, level.entry) - median[level.node]))


def score_thresholds_absolute(
    level: Level, values: NDArray, criterion: AbsoluteError, impurity: Floats, room: Room = Room()
) -> Scores:
    """The best cut of each node on every column, all of numbers: the one that lowers the absolute error the most.

    A level takes O(entries) a column where rows are counted, and a logarithm more for sorting the targets once; where
    rows have weights, O(entries x log entries) a column.
    """
    orders, columns = level.sorted.up_to_date(), np.array(level.sorted.columns)[:, np.newaxis]
    if not level.is_counted:
        lines = zip(level.table(values, columns, orders), orders)
        parts = [score_by_weight(level, x, order, criterion, impurity, room) for x, order in lines]
        return joined(parts)
    by_target = sort_by_target(level, criterion)
    # Each column is walked through in two directions.
    n_columns = max(1, LISTS * stretches_of(level.start).longest // (2 * len(level.entry)))
    parts = []
    for first in range(0, len(orders), n_columns):
        block = slice(first, first + n_columns)
        x = level.table(values, columns[block], orders[block])
        parts.append(score_by_count(level, x, orders[block], by_target, criterion, impurity, room))
    return joined(parts)


# -- rows that count the same ---------------------------------------------------------------------------------------


class ByTarget(NamedTuple):
    """The entries of a level in the order of (node, target).

    Attributes
    ----------
    y : array of shape (n_alive,)
        Their targets, in units.
    rank : integer array of shape (n_entries,)
        The place of each entry in that order.
    """

    y: Wholes
    rank: NDArray[np.integer]


def sort_by_target(level: Level, criterion: AbsoluteError) -> ByTarget:
    """The entries of a level in the order of (node, target)."""
    key = level.node * len(criterion.rank) + level.values(criterion.rank, level.entry)
    entry = level.entry.take(np.argsort(key))
    rank = np.zeros(len(level.row), dtype=level.entry.dtype)
    rank[entry] = level.place
    return ByTarget(level.values(criterion.whole, entry), rank)


def score_by_count(
    level: Level,
    x: NDArray,
    order: NDArray[np.integer],
    by_target: ByTarget,
    criterion: AbsoluteError,
    impurity: Floats,
    room: Room,
) -> Scores:
    """The best cut of each node on some columns, of shape (n_columns, n_alive), where every row has weight 1."""
    is_cut, n_known = cut_places(level, x), level.n_samples[np.newaxis]
    # Missing values come last in a node: one look there tells whether there are any.
    if np.isnan(x[:, level.start[1:] - 1]).any():
        n_known = np.add.reduceat(~np.isnan(x), level.start[:-1], axis=1, dtype=np.intp)
    least_rows = max(room.rows, room.weight)
    if least_rows > 1:
        n_above = np.repeat(n_known, level.n_samples, axis=1) - level.n_below
        is_cut &= (level.n_below >= least_rows) & (n_above >= least_rows)
    saving = savings_by_count(level, order, n_known, by_target)
    np.copyto(saving, NO_CUT, where=~is_cut)

    tolerance = (TIE * impurity * level.n_samples / criterion.unit).astype(np.int64)
    best = first_of_largest(level, saving, tolerance)
    saved = saving.take(best)
    # Two sides never cost more than the whole.
    gain = np.where(saved >= 0, saved * criterion.unit / criterion.divisor(level.sums), -np.inf)
    return Scores(gain, threshold_behind(x, best))


def savings_by_count(level: Level, order: NDArray[np.integer], n_known: Ints, by_target: ByTarget) -> Wholes:
    """What a cut behind each place saves, in units, of shape (n_columns, n_alive).

    The known rows below a cut are a prefix of their node; those above it are a prefix of the node read backwards.
    """
    n_columns = len(order)
    first, end = level.start[:-1], level.start[:-1] + n_known
    # Read backwards, the known rows change places; the missing ones are still the last.
    mirror = np.repeat(first + end - 1, level.n_samples, axis=1) - level.place
    if (end < level.start[1:]).any():
        mirror = np.where(level.place < np.repeat(end, level.n_samples, axis=1), mirror, level.place)

    # The first half of the sequences is read forwards, the second backwards.
    rank = np.empty((order.shape[1], 2 * n_columns), dtype=np.intp)
    rank[:, :n_columns] = by_target.rank.take(order).T
    mirrored = 2 * n_columns * mirror.T + np.arange(n_columns)
    rank[:, n_columns:] = rank.take(mirrored)
    cost = costs_of_prefixes(by_target.y, level.start, rank)

    # As many rows lie above the cut behind a place as come before that place read backwards. The costs run on from
    # node to node; what the nodes before cost cancels.
    known = cost.take(2 * n_columns * end.T + np.arange(n_columns)) + cost[first, n_columns:]
    mirrored += n_columns
    both_sides = cost.take(mirrored)
    both_sides += cost[1:, :n_columns]
    return np.ascontiguousarray((np.repeat(known, level.n_samples, axis=0) - both_sides).T)


def costs_of_prefixes(y: Wholes, start: Ints, rank: NDArray[np.integer]) -> Wholes:
    r"""What the first rows of each node cost about their own median, for every number of rows.

    A median of k - 1 rows is a median of k rows as well if it is taken of the odd one of the two numbers, for of an
    even number of rows all between the middle two are medians. About it the rows before cost the same, so the row that
    comes in adds its distance alone:

    .. math:: C_k = C_{k-1} + |y_k - m_k|, \quad m_k = \text{median of the first } 2 \lceil k/2 \rceil - 1 \text{ rows}

    and the costs are running sums.

    Parameters
    ----------
    y : array of shape (n_alive,)
        The targets in the order of (node, target).
    start : array of shape (n_nodes + 1,)
        Where the rows of each node begin.
    rank : integer array of shape (n_alive, n_sequences)
        The rows of each node in the order in which they come in, as places in ``y``; a column for each sequence.

    Returns
    -------
    array of shape (n_alive + 1, n_sequences)
        What the rows of the nodes before cost, and the rows up to each place in their node.
    """
    # In place: to ask for new memory would take a good part of the time. To clip spares np.take a copy of its own.
    cost = np.zeros((len(rank) + 1, rank.shape[1]), dtype=np.int64)
    np.take(y, rank, out=cost[1:], mode="clip")
    cost[1:] -= running_medians(y, start, rank)
    np.abs(cost, out=cost)
    return np.cumsum(cost, axis=0, out=cost)


def running_medians(y: Wholes, start: Ints, rank: NDArray[np.integer]) -> Wholes:
    r"""The median of the first :math:`2 \lceil k/2 \rceil - 1` rows of each node, for every k.

    To put a row into a sorted list one has to look for its place; to take it out of a linked list one has not. So all
    rows are sorted first, and taken out again, the last one first. With every row that goes the median moves to one of
    its neighbours or stays, so each step is the same few operations for all nodes and sequences at once.

    As many steps are needed as the longest node has rows. Long nodes are cut into a few stretches, which are walked
    through at the same time; their lists come from ``fill_long_lists``. Takes O(n_alive) for each sequence.

    Parameters and shapes are those of :func:`costs_of_prefixes`; the answer has the shape of ``rank``.
    """
    n_alive, n_sequences = rank.shape
    stretches = stretches_of(start)
    # A list begins and ends with a slot for what lies outside. A whole node leaves the next slot free.
    slot_of_place = np.arange(n_alive) + np.repeat(3 * np.arange(len(stretches.node)) + 2, stretches.length)
    slot = slot_of_place.astype(row_type(stretches.n_slots * n_sequences)).take(rank)
    content = np.zeros((n_sequences, stretches.n_slots), dtype=np.int64)
    content[:, slot_of_place] = y
    fill_long_lists(slot, content, y, start, rank, stretches)
    return content.take(walk_backwards(slot, stretches))


class Stretches(NamedTuple):
    """The nodes of a level, long ones in parts, and where the linked list of each part lies.

    Attributes
    ----------
    node : array of shape (n_stretches,)
        The node of each stretch.
    begin, end : arrays of shape (n_stretches,)
        How many rows of the node come before the stretch, and how many with it. ``begin`` is even.
    slot : array of shape (n_stretches,)
        The first slot of its list, which has three slots more than the stretch has places.
    """

    node: NDArray[np.integer]
    begin: Ints
    end: Ints
    slot: Ints

    @property
    def length(self) -> Ints:
        """Number of places."""
        return self.end - self.begin

    @property
    def longest(self) -> int:
        """Number of places of the longest."""
        return int(self.length.max())

    @property
    def n_slots(self) -> int:
        """Number of slots in all lists."""
        return int(self.slot[-1] + self.length[-1] + 3)

    @property
    def lowest(self) -> Ints:
        """The lowest of the ``end`` first rows, in the order of the target from 0 on, that is in the list.

        The lower median of k rows is the number (k - 1) // 2 among them. The other end - k of the ``end`` first rows
        can lie below it or not. So for all k from begin to end it is one of ``length`` + 1 middle ones.
        """
        return (self.begin - 1) // 2


def stretches_of(start: Ints) -> Stretches:
    """The nodes, and those that are long in stretches of equal even length, but for the last."""
    size = np.diff(start)
    longest = max(STRETCH, 2 * -(-int(size.max()) // (2 * MAX_STRETCHES)))
    n_stretches = -(-size // longest)
    node, number = copies(np.arange(len(size)), n_stretches)
    begin = number * longest
    slot = start[node] + begin + 3 * np.arange(len(node))
    return Stretches(node, begin, np.minimum(begin + longest, size[node]), slot)


def fill_long_lists(
    slot: NDArray[np.integer],
    content: Wholes,
    y: Wholes,
    start: Ints,
    rank: NDArray[np.integer],
    stretches: Stretches,
) -> None:
    """Put right the slots of the rows of long nodes, and what their lists contain, stretch by stretch from the last.

    The list of a stretch holds the middle ones of all rows up to its end: see ``Stretches.lowest``. Of a row that
    is not among them it is enough to know the side; it gets the slot at that end of the list. Takes O(rows) for each
    stretch of a node.
    """
    n_sequences = rank.shape[1]
    sequence = np.arange(n_sequences)[:, np.newaxis]
    for node in np.flatnonzero(np.bincount(stretches.node) > 1):
        # The places of the node's rows in the order of the target, for each sequence.
        place = np.empty((n_sequences, start[node + 1] - start[node]), dtype=np.intp)
        place[sequence.T, rank[start[node] : start[node + 1]] - start[node]] = np.arange(place.shape[1])[:, np.newaxis]
        for i in np.flatnonzero(stretches.node == node)[::-1]:
            first, begin, end = stretches.slot[i], stretches.begin[i], stretches.end[i]
            lowest, length = stretches.lowest[i], end - begin
            # In the first stretch lowest is -1: there is no such row, and its slot stays free.
            middle = place[:, max(lowest, 0) : lowest + length + 1]
            into = slice(first + length + 2 - middle.shape[1], first + length + 2)
            content[:, into] = y.take(rank.take((start[node] + middle) * n_sequences + sequence))
            # Of the rows up to the end of the stretch, those of the stretch get their slots and go.
            stays = place < begin
            inside, outside = np.flatnonzero(~stays).reshape(n_sequences, -1), np.flatnonzero(stays)
            at = (start[node] + place.take(inside)) * n_sequences + sequence
            slot.ravel()[at] = first + np.clip(inside % end - lowest + 1, 0, length + 2)
            place = place.take(outside).reshape(n_sequences, -1)


def walk_backwards(slot: NDArray[np.integer], stretches: Stretches) -> NDArray[np.integer]:
    """Where the running median is when each row comes in, as a slot of the lists of all sequences laid out in a line.

    Parameters
    ----------
    slot : array of shape (n_alive, n_sequences)
        The slot of each row, in the order in which they come in; the answer takes its place.
    stretches : Stretches
        The lists.
    """
    n_sequences = slot.shape[1]
    stretch, nth = copies(np.arange(len(stretches.node)), stretches.length)
    # Laid out step by step, the longest stretches first, those that take part in a step lie side by side.
    by_length = np.argsort(-stretches.length, kind="stable")
    turn = np.argsort(by_length)
    n_active = np.bincount(nth)
    first = np.cumsum(n_active) - n_active
    in_steps = first[nth] + turn[stretch]
    line = (stretches.n_slots * np.arange(n_sequences)).astype(slot.dtype)
    row = np.empty_like(slot)
    row[in_steps] = slot
    row += line
    row = row.ravel()

    # The neighbours of every slot. The ends of a list are their own: to take them out changes nothing, however often.
    after = np.arange(1, stretches.n_slots * n_sequences + 1, dtype=slot.dtype)
    before = after - 2
    after.reshape(n_sequences, -1)[:, stretches.slot + stretches.length + 2] -= 1
    before.reshape(n_sequences, -1)[:, stretches.slot] += 1

    lower_median = (stretches.slot + 1 + (stretches.end - 1) // 2 - stretches.lowest).astype(slot.dtype)
    medians = (lower_median[by_length][:, np.newaxis] + line).ravel()
    # Step k takes row k out of every stretch that has so many, and notes the median of the odd one of k and k - 1 rows.
    end = row.size
    for k, begin in reversed(list(enumerate((first * n_sequences).tolist(), start=1))):
        gone, median = row[begin:end], medians[: end - begin]
        lower, upper = before.take(gone), after.take(gone)
        if k % 2:
            # Without a row at the median of an odd number or above, the lower median is the one before.
            moves = gone >= median
            gone[:] = median
            np.copyto(median, before.take(median), where=moves)
        else:
            # Without a row at the lower median of an even number or below, the median is the one after.
            np.copyto(median, after.take(median), where=gone <= median)
            gone[:] = median
        after[lower], before[upper] = upper, lower
        end = begin
    return np.take(row.reshape(slot.shape), in_steps, axis=0, out=slot, mode="clip")


# -- rows that weigh differently ------------------------------------------------------------------------------------


def score_by_weight(
    level: Level,
    x: NDArray,
    order: NDArray[np.integer],
    criterion: AbsoluteError,
    impurity: Floats,
    room: Room,
) -> Scores:
    """The best cut of each node on a column where rows have weights. Takes O(entries x log entries)."""
    cuts = find_cuts(level, x)
    first, at = level.start[:-1], cuts.node
    last_known = first + cuts.n_known
    # Stretches: all known rows of each node, the rows below each cut, the known rows above it.
    low = np.concatenate([first, first[at], cuts.place + 1])
    high = np.concatenate([last_known, cuts.place + 1, last_known[at]])
    cost = absolute_cost(level.values(criterion.target, order), level.weight[order], low, high)
    known, below, above = np.split(cost, [level.n_nodes, level.n_nodes + len(at)])
    running = np.concatenate([[0.0], np.cumsum(level.weight[order])])
    weight_below, weight_above = np.split((running[high] - running[low])[level.n_nodes :], 2)
    fits = (cuts.n_below >= room.rows) & (cuts.n_known[at] - cuts.n_below >= room.rows)
    fits &= (weight_below >= room.weight) & (weight_above >= room.weight)
    saving = np.where(fits, known[at] - below - above, -np.inf)
    node, best = first_best(cuts, saving, TIE * impurity * level.sums[0])
    return scores_of(level, cuts, node, best, saving, criterion)


def absolute_cost(y: Floats, weight: Floats, low: Ints, high: Ints) -> Floats:
    """Weighted sum of the absolute errors of y[low:high] about its median, for each of many stretches."""
    total_weight = np.concatenate([[0.0], np.cumsum(weight)])
    total = np.concatenate([[0.0], np.cumsum(weight * y)])
    half = (total_weight[high] - total_weight[low]) / 2
    return total[high] - total[low] - 2 * sum_of_smallest(y, weight, low, high, half)


def sum_of_smallest(y: Floats, weight: Floats, low: Ints, high: Ints, amount: Floats) -> Floats:
    """Sum of the smallest values of y[low:high] that make up the weight ``amount``, for each of many stretches.

    The ranks of the values are read bit by bit, the highest first. Where the zeros of a stretch weigh more than the
    amount that is left, all of it is among the zeros; otherwise they are all taken, and the rest is among the ones.
    Zeros then move before ones, each in their old order, so that a stretch stays a stretch.
    """
    rank = np.unique(y, return_inverse=True)[1]
    taken, amount = np.zeros(len(low)), amount.copy()
    for bit in reversed(range(int(rank.max(initial=0)).bit_length())):
        is_zero = (rank >> bit) & 1 == 0
        n_zeros, weight_of_zeros, sum_of_zeros = (
            np.concatenate([[0], np.cumsum(np.where(is_zero, x, 0))]) for x in (1, weight, weight * y)
        )
        here = weight_of_zeros[high] - weight_of_zeros[low]
        among_ones = here <= amount
        taken += np.where(among_ones, sum_of_zeros[high] - sum_of_zeros[low], 0)
        amount -= np.where(among_ones, here, 0)
        low, high = (np.where(among_ones, n_zeros[-1] + end - n_zeros[end], n_zeros[end]) for end in (low, high))
        moved = np.concatenate([np.flatnonzero(is_zero), np.flatnonzero(~is_zero)])
        rank, y, weight = rank[moved], y[moved], weight[moved]
    # What is left of a stretch is one value.
    return taken + amount * np.append(y, 0)[np.minimum(low, len(y))]
