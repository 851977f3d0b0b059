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
from treekit.level import Level, in_units, row_type
from treekit.losses import quantile
from treekit.splits import TIE, Room, Scores, cut_places, find_cuts, first_best, midpoint, scores_of

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

#: Longer nodes are walked through in stretches of so many places, all at the same time. An even number.
STRETCH = 512

#: About so many lists are walked through at once: enough that a step takes longer than to call for it, and few enough
#: that they stay in the cache of a processor.
LISTS = 1024


class AbsoluteError(Criterion):
    r"""Mean absolute error about the median: :math:`\frac{1}{|D|} \sum_{i \in D} |y_i - \mathrm{median}(D)|`.

    Of an even number of rows the median is the mean of the middle two; with weights, of the two values between which
    the weight halves.

    Attributes
    ----------
    target : array of shape (n_rows,)
        The target.
    whole : integer array of shape (n_rows,)
        The target in units. Sums of whole numbers are exact, so equal savings are equal.
    unit : float
        Size of the unit.
    rank : integer array of shape (n_rows,)
        The place of each row in the order of the target.
    """

    def __init__(self, target: Floats):
        self.target = target
        # Only the weight is a sum.
        self.per_row = np.ones((1, len(target)))
        whole, unit = in_units(target[np.newaxis], fractions=False)
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
) -> list[Scores]:
    """The best cut of each node on every column, all of numbers: the one that lowers the absolute error the most."""
    orders, columns = level.sorted.up_to_date(), np.array(level.sorted.columns)[:, np.newaxis]
    if not level.is_counted:
        lines = zip(level.table(values, columns, orders), orders)
        return [score_by_weight(level, x, order, criterion, impurity, room) for x, order in lines]
    by_target = sort_by_target(level, criterion)
    longest = min(int(level.n_samples.max()), STRETCH)
    n_columns = max(1, LISTS * longest // (2 * len(level.entry)))
    scores = []
    for first in range(0, len(orders), n_columns):
        block = slice(first, first + n_columns)
        x = level.table(values, columns[block], orders[block])
        scores += score_by_count(level, x, orders[block], by_target, criterion, impurity, room)
    return scores


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
) -> list[Scores]:
    """The best cut of each node on some columns, of shape (n_columns, n_alive), where every row has weight 1."""
    first, is_cut, n_known = level.start[:-1], cut_places(level, x), level.n_samples[np.newaxis]
    # Missing values come last in a node: one look there tells whether there are any.
    if np.isnan(x[:, level.start[1:] - 1]).any():
        n_known = np.add.reduceat(~np.isnan(x), first, axis=1, dtype=np.intp)
    least_rows = max(room.rows, room.weight)
    if least_rows > 1:
        n_above = np.repeat(n_known, level.n_samples, axis=1) - level.n_below
        is_cut &= (level.n_below >= least_rows) & (n_above >= least_rows)
    saving = savings_by_count(level, order, n_known, by_target)
    # Two sides never cost more than the whole, so any cut saves more than -1.
    np.copyto(saving, -1, where=~is_cut)

    # The first place of each node, column by column, that saves the most.
    places = np.arange(0, x.size, x.shape[1])[:, np.newaxis] + first
    largest = np.maximum.reduceat(saving, first, axis=1)
    tolerance = (TIE * impurity * level.n_samples / criterion.unit).astype(np.int64)
    good = np.flatnonzero(saving >= np.repeat(largest - tolerance, level.n_samples, axis=1))
    best = good[np.searchsorted(good, places)]
    can_split = largest >= 0
    gain = np.where(can_split, criterion.gain(saving.take(best) * criterion.unit, level.sums), -np.inf)
    threshold = np.where(can_split, midpoint(x.take(best), x.take(best + 1, mode="clip")), np.nan)
    return [Scores(*column) for column in zip(gain, threshold)]


def savings_by_count(level: Level, order: NDArray[np.integer], n_known: Ints, by_target: ByTarget) -> Wholes:
    """What a cut behind each place saves, in units, of shape (n_columns, n_alive).

    The known rows below a cut are a prefix of their node; those above it are a prefix of the node read backwards.
    """
    n_columns = len(order)
    below, above = np.arange(n_columns), np.arange(n_columns, 2 * n_columns)
    # Read backwards, the known rows change places; the missing ones are still the last.
    end = level.start[:-1] + n_known
    mirror = np.repeat(level.start[:-1] + end - 1, level.n_samples, axis=1) - level.place
    if (end < level.start[1:]).any():
        mirror = np.where(level.place < np.repeat(end, level.n_samples, axis=1), mirror, level.place)
    mirror = 2 * n_columns * mirror.T
    rank = np.empty((order.shape[1], 2 * n_columns), dtype=order.dtype)
    rank[:, below] = by_target.rank.take(order).T
    rank[:, above] = rank.take(mirror + below)
    cost = costs_of_prefixes(by_target.y, level.start, rank)
    # The costs run on from node to node; what the nodes before cost cancels.
    known = cost.take(2 * n_columns * end.T + below) + cost[level.start[:-1], n_columns:]
    saving = np.repeat(known, level.n_samples, axis=0)
    saving -= cost[1:, :n_columns]
    saving -= cost.take(mirror + above)
    return np.ascontiguousarray(saving.T)


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
    cost = np.zeros((len(rank) + 1, rank.shape[1]), dtype=np.int64)
    np.subtract(y.take(rank), running_medians(y, start, rank), out=cost[1:])
    np.abs(cost, out=cost)
    return np.cumsum(cost, axis=0, out=cost)


def running_medians(y: Wholes, start: Ints, rank: NDArray[np.integer]) -> Wholes:
    n_alive, n_seq = rank.shape
    size = np.diff(start)
    n_stretches = -(-size // STRETCH)
    node = np.repeat(np.arange(len(size)), n_stretches)
    nth = np.arange(len(node)) - np.repeat(np.cumsum(n_stretches) - n_stretches, n_stretches)
    a = nth * STRETCH
    b = np.minimum(a + STRETCH, size[node])
    low = (a - 1) // 2
    length = b - a
    base = start[node] + a + 3 * np.arange(len(node))
    n_slots = n_alive + 3 * len(node)
    shift = np.repeat(3 * np.arange(len(node)) + 2, length).astype(rank.dtype)
    slot = rank + shift[:, np.newaxis]
    content = np.zeros(n_slots, dtype=np.int64)
    content[np.arange(n_alive) + shift] = y
    last = np.cumsum(n_stretches) - 1
    longs = np.flatnonzero(n_stretches > 1)
    if len(longs):
        content = np.tile(content, (n_seq, 1))
    seqs = np.arange(n_seq)[:, np.newaxis]
    for long in longs:
        s, e = start[long], start[long + 1]
        P = np.empty((n_seq, e - s), dtype=np.intp)
        P[np.arange(n_seq), rank[s:e] - s] = np.arange(e - s)[:, np.newaxis]
        for c in range(last[long], last[long] - n_stretches[long], -1):
            lo, skip = max(low[c], 0), max(-low[c], 0)
            window = P[:, lo : low[c] + length[c] + 1]
            at = base[c] + 1 + skip
            content[:, at : at + window.shape[1]] = y.take(rank.ravel().take((s + window) * n_seq + seqs))
            chosen = np.flatnonzero(P >= a[c])
            index = chosen.reshape(n_seq, -1) % b[c]
            place = P.ravel().take(chosen).reshape(n_seq, -1)
            slot.ravel()[(s + place) * n_seq + seqs] = base[c] + np.clip(index - low[c] + 1, 0, length[c] + 2)
            P = P.ravel().take(np.flatnonzero(P < a[c])).reshape(n_seq, -1)
    first = base + (b - 1) // 2 - low + 1
    median, at = walk(length, base, first, slot)
    if content.ndim == 1:
        median -= np.arange(n_seq, dtype=median.dtype) * n_slots
    return content.take(median.take(at, axis=0))


def walk(size, base, middle, slot):
    n_alive, n_seq = slot.shape
    n_slots = n_alive + 3 * len(size)
    node = np.repeat(np.arange(len(size)), size)
    nth = np.arange(n_alive) - np.repeat(np.cumsum(size) - size, size)
    by_size = np.argsort(-size, kind="stable")
    turn = np.empty(len(size), dtype=np.intp)
    turn[by_size] = np.arange(len(size))
    n_active = np.bincount(nth)
    first = np.cumsum(n_active) - n_active
    at = first[nth] + turn[node]
    inv = np.empty(n_alive, dtype=np.intp)
    inv[at] = np.arange(n_alive)
    seq = np.arange(n_seq, dtype=slot.dtype) * n_slots
    D = slot.take(inv, axis=0)
    D += seq
    here = (middle[by_size].astype(slot.dtype)[:, np.newaxis] + seq).ravel()
    after = np.arange(1, n_slots * n_seq + 1, dtype=slot.dtype)
    before = np.arange(-1, n_slots * n_seq - 1, dtype=slot.dtype)
    after.reshape(n_seq, -1)[:, base + size + 2] -= 1
    before.reshape(n_seq, -1)[:, base] += 1
    D = D.ravel()
    e = D.size
    firsts = (first * n_seq).tolist()
    for k in range(len(n_active), 0, -1):
        s = firsts[k - 1]
        gone, m = D[s:e], here[: e - s]
        p, q = before.take(gone), after.take(gone)
        if k % 2:
            moves = gone >= m
            gone[:] = m
            np.copyto(m, before.take(m), where=moves)
        else:
            np.copyto(m, after.take(m), where=gone <= m)
            gone[:] = m
        after[p] = q
        before[q] = p
        e = s
    return D.reshape(-1, n_seq), at


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
