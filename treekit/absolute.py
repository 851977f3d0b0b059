"""The absolute error: the one criterion that is no function of sums, because a median is none.

What a group of rows costs is the sum of its upper half minus the sum of its lower half, halves by weight. So one
quantity tells all: the sum of the smallest values that make up half of the weight. :func:`sum_of_smallest` finds it
for any number of stretches of a column at once, bit by bit of the values' ranks (a wavelet matrix).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treekit.criteria import Criterion
from treekit.level import Level
from treekit.losses import quantile
from treekit.splits import TIE, Room, Scores, find_cuts, first_best, scores_of

__all__ = ["AbsoluteError", "score_thresholds_absolute", "absolute_cost", "sum_of_smallest"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class AbsoluteError(Criterion):
    r"""Mean absolute error about the median: :math:`\frac{1}{|D|} \sum_{i \in D} |y_i - \mathrm{median}(D)|`.

    Of an even number of rows the median is the mean of the middle two; with weights, of the two values between which
    the weight halves.
    """

    def __init__(self, target: Floats):
        self.target = target
        # Only the weight is a sum.
        self.per_row = np.ones((1, len(target)))

    def weight(self, sums: Floats) -> Floats:
        return sums[0]

    def value(self, level: Level) -> Floats:
        target, weight = level.values(self.target, level.entry), level.weight[level.entry]
        return quantile(target, weight, level.node, level.n_nodes)[:, np.newaxis]

    def impurity(self, level: Level) -> Floats:
        median = self.value(level)[:, 0]
        return level.mean(np.abs(level.values(self.target, level.entry) - median[level.node]))


def score_thresholds_absolute(
    level: Level, column: NDArray, order: Ints, criterion: AbsoluteError, impurity: Floats, room: Room = Room()
) -> Scores:
    """The best cut of each node on a column of numbers: the one that lowers the absolute error the most.

    Takes O(entries x log entries) for a level.
    """
    cuts = find_cuts(level, level.values(column, order))
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
