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
from treekit.level import BLOCK, Level, in_units
from treekit.losses import quantile
from treekit.splits import TIE, Cuts, Room, Scores, find_cuts, first_best, scores_of

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

#: Longer nodes are walked through in stretches of so many places, all of them at the same time. An even number.
STRETCH = 512

#: So many times as many numbers as stay in the cache are walked through at once: a step costs more than its numbers.
WIDE = 4


class AbsoluteError(Criterion):
    r"""Mean absolute error about the median: :math:`\frac{1}{|D|} \sum_{i \in D} |y_i - \mathrm{median}(D)|`.

    Of an even number of rows the median is the mean of the middle two; with weights, of the two values between which
    the weight halves.

    Attributes
    ----------
    target : array of shape (n_rows,)
        The target.
    whole, unit : integer array of shape (n_rows,), float
        The target as multiples of a unit. Sums of whole numbers are exact, so equal savings are equal.
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
        target, weight = level.values(self.target, level.entry), level.weight[level.entry]
        return quantile(target, weight, level.node, level.n_nodes)[:, np.newaxis]

    def impurity(self, level: Level) -> Floats:
        median = self.value(level)[:, 0]
        return level.mean(np.abs(level.values(self.target, level.entry) - median[level.node]))


def score_thresholds_absolute(
    level: Level, values: NDArray, criterion: AbsoluteError, impurity: Floats, room: Room = Room()
) -> list[Scores]:
    """The best cut of each node on every column, all of numbers: the one that lowers the absolute error the most."""
    scores = []
    orders = level.sorted.up_to_date()
    n_columns = max(1, WIDE * BLOCK // orders.shape[1])
    for first in range(0, len(orders), n_columns):
        columns, order = level.sorted.columns[first : first + n_columns], orders[first : first + n_columns]
        x = level.table(values, np.array(columns)[:, np.newaxis], order)
        cuts = [find_cuts(level, column) for column in x]
        savings_of = savings_by_count if level.is_counted else savings_by_weight
        for found, saving, line in zip(cuts, savings_of(level, order, cuts, criterion), order):
            saving = np.where(has_room(level, line, found, room), saving, -np.inf)
            node, best = first_best(found, saving, TIE * impurity * level.sums[0])
            scores.append(scores_of(level, found, node, best, saving, criterion))
    return scores


def has_room(level: Level, order: NDArray[np.integer], cuts: Cuts, room: Room) -> NDArray[np.bool_]:
    """Whether both sides of each cut hold enough rows and weight."""
    n_above = cuts.n_known[cuts.node] - cuts.n_below
    fits = (cuts.n_below >= room.rows) & (n_above >= room.rows)
    if room.weight:
        running = np.concatenate([[0.0], np.cumsum(level.weight[order])])
        first = level.start[cuts.node]
        below, known = (running[end] - running[first] for end in (first + cuts.n_below, first + cuts.n_known[cuts.node]))
        fits &= (below >= room.weight) & (known - below >= room.weight)
    return fits


# -- rows that count the same ---------------------------------------------------------------------------------------


def savings_by_count(
    level: Level, order: NDArray[np.integer], cuts: list[Cuts], criterion: AbsoluteError
) -> list[Floats]:
    """What every cut saves, column by column, where every row has weight 1.

    What the rows below each cut cost are costs of prefixes; what those above cost are costs of prefixes of the node
    read backwards.
    """
    if criterion not in level.once:
        level.once[criterion] = by_target(level, criterion)
    y, rank_of_entry = level.once[criterion]

    # Read backwards, the known rows change places; the missing ones are still the last.
    n_columns = len(order)
    first, end = level.start[:-1], level.start[:-1] + np.array([found.n_known for found in cuts])
    if (end == level.start[1:]).all():
        end = end[:1]
    first, end = np.repeat(first, level.n_samples)[:, np.newaxis], np.repeat(end, level.n_samples, axis=1).T
    place = level.place[:, np.newaxis]
    mirror = np.where(place < end, first + end - 1 - place, place)
    rank = np.empty((len(order.T), 2 * n_columns), dtype=rank_of_entry.dtype)
    rank[:, :n_columns] = rank_of_entry.take(order.T)
    rank[:, n_columns:] = rank.ravel().take(mirror * (2 * n_columns) + np.arange(n_columns))
    cost = costs_of_prefixes(y, level.start, rank)

    savings = []
    for k, found in enumerate(cuts):
        up_to, onward = cost[:, k], cost[:, n_columns + k]
        start = level.start.take(found.node)
        flipped = mirror[:, k % mirror.shape[1]].take(found.place + 1)
        known = up_to.take(start + found.n_known.take(found.node))
        saving = known - up_to.take(found.place + 1) - onward.take(flipped + 1) + onward.take(start)
        savings.append(saving * criterion.unit)
    return savings


def by_target(level: Level, criterion: AbsoluteError) -> tuple[NDArray[np.int64], Ints]:
    """The targets in the order of (node, target), and the place that every entry has in it."""
    entry = level.entry.take(np.argsort(level.node * len(criterion.rank) + level.values(criterion.rank, level.entry)))
    rank = np.empty(len(level.row), dtype=np.int32)
    rank[entry] = level.place
    return level.values(criterion.whole, entry), rank


def costs_of_prefixes(y, start, rank):
    cost = np.zeros((len(rank) + 1, rank.shape[1]), dtype=np.int64)
    np.subtract(y.take(rank), running_medians(y, start, rank), out=cost[1:])
    np.abs(cost, out=cost)
    return np.cumsum(cost, axis=0, out=cost)


def running_medians(y, start, rank):
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
    shift = np.repeat(3 * np.arange(len(node)) + 2, length).astype(np.int32)
    slot = rank + shift[:, np.newaxis]
    content = np.zeros(n_slots, dtype=np.int64)
    content[np.arange(n_alive) + shift] = y
    content = np.repeat(content, n_seq).reshape(n_slots, n_seq)
    last = np.cumsum(n_stretches) - 1
    seqs = np.arange(n_seq)[:, np.newaxis]
    for long in np.flatnonzero(n_stretches > 1):
        s, e = start[long], start[long + 1]
        P = np.empty((n_seq, e - s), dtype=np.intp)
        P[np.arange(n_seq), rank[s:e] - s] = np.arange(e - s)[:, np.newaxis]
        for c in range(last[long], last[long] - n_stretches[long], -1):
            lo, skip = max(low[c], 0), max(-low[c], 0)
            window = P[:, lo : low[c] + length[c] + 1]
            at = base[c] + 1 + skip
            content[at : at + window.shape[1]] = y.take(rank.ravel().take((s + window) * n_seq + seqs).T)
            chosen = np.flatnonzero(P >= a[c])
            index = chosen.reshape(n_seq, -1) % b[c]
            place = P.ravel().take(chosen).reshape(n_seq, -1)
            slot.ravel()[(s + place) * n_seq + seqs] = base[c] + np.clip(index - low[c] + 1, 0, length[c] + 2)
            P = P.ravel().take(np.flatnonzero(P < a[c])).reshape(n_seq, -1)
    first = base + (b - 1) // 2 - low + 1
    median = walk(length, base, first, slot)
    return content.ravel().take(median)


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
    seq = np.arange(n_seq, dtype=np.int32)
    D = slot.take(inv, axis=0)
    D *= n_seq
    D += seq
    here = (middle[by_size][:, np.newaxis] * n_seq + seq).ravel().astype(np.int32)
    after = np.arange(n_seq, (n_slots + 1) * n_seq, dtype=np.int32)
    before = np.arange(-n_seq, (n_slots - 1) * n_seq, dtype=np.int32)
    after.reshape(-1, n_seq)[base + size + 2] -= n_seq
    before.reshape(-1, n_seq)[base] += n_seq
    D = D.ravel()
    e = D.size
    for k in range(len(n_active), 0, -1):
        s = first[k - 1] * n_seq
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
    return D.reshape(-1, n_seq).take(at, axis=0)


# -- rows that weigh differently ------------------------------------------------------------------------------------


def savings_by_weight(
    level: Level, order: NDArray[np.integer], cuts: list[Cuts], criterion: AbsoluteError
) -> list[Floats]:
    """What every cut saves, column by column, where rows have weights. Takes O(entries x log entries) a column."""
    savings = []
    for found, line in zip(cuts, order):
        first, at = level.start[:-1], found.node
        last_known = first + found.n_known
        # Stretches: all known rows of each node, the rows below each cut, the known rows above it.
        low = np.concatenate([first, first[at], found.place + 1])
        high = np.concatenate([last_known, found.place + 1, last_known[at]])
        cost = absolute_cost(level.values(criterion.target, line), level.weight[line], low, high)
        known, below, above = np.split(cost, [level.n_nodes, level.n_nodes + len(at)])
        savings.append(known[at] - below - above)
    return savings


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
