"""The absolute error: the one criterion that is not a function of sums, because a median is not one.

What a side of a cut costs about its median follows from the sum of its smallest values that make up half of its
weight, and :func:`sum_of_smallest` finds that sum for all cuts of a column at once, bit by bit. The targets of a node
are whole numbers of a unit that suits this node. Sums of whole numbers are exact, so neither what lies in another node
nor the order of the rows changes anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treekit.growing.candidates import ChildLimits, SplitCandidates, merge_candidates
from treekit.growing.criteria import Criterion
from treekit.growing.fixed_point import FLOAT_BITS, quantile, unit_for, unit_of_sum
from treekit.growing.level import Level
from treekit.growing.thresholds import candidates_from_cuts, find_cuts, first_maximum
from treekit.numeric import TIE, Bools, Floats, Integers, Ints, Numbers, Wholes

__all__ = ["AbsoluteError", "score_thresholds_absolute", "absolute_cost", "sum_of_smallest"]


class AbsoluteError(Criterion):
    r"""Mean absolute error about the median: :math:`\frac{1}{|D|} \sum_{i \in D} |y_i - \mathrm{median}(D)|`.

    Of an even number of rows the median is the mean of the middle two; with weights, of the two values between which
    the weight halves.

    Attributes
    ----------
    target : array of shape (n_rows,)
        The target.
    rank : integer array of shape (n_rows,)
        The place of each row's target among the distinct ones, in order.
    """

    name = "absolute_error"
    is_function_of_sums = False

    def __init__(self, target: Floats, weight: Floats | None = None):
        self.target = target
        # Only the weight is a sum.
        self.per_row = np.ones((1, len(target)))
        self.rank = np.unique(target, return_inverse=True)[1]

    def weight(self, sums: Floats) -> Floats:
        return sums[0]

    def value(self, level: Level) -> Floats:
        if self not in level.cache:
            target, weight = level.values(self.target, level.entry), level.weight[level.entry]
            level.cache[self] = quantile(target, weight, level.node, level.n_nodes)[:, np.newaxis]
        return level.cache[self]

    def is_pure(self, level: Level, impurity: Floats) -> Bools:
        return impurity <= 0

    def impurity(self, level: Level) -> Floats:
        median = self.value(level)[:, 0]
        return level.mean(np.abs(level.values(self.target, level.entry) - median[level.node]))


def score_thresholds_absolute(
    level: Level, values: Numbers, criterion: AbsoluteError, impurity: Floats, limits: ChildLimits = ChildLimits()
) -> SplitCandidates:
    """The best cut of each node on every column, all of numbers: the one that lowers the absolute error the most.

    A level takes O(entries x log entries) per column.
    """
    orders, columns = level.orders, np.array(level.sorted.columns)[:, np.newaxis]
    lines, weighed = zip(level.gather(values, columns, orders), orders), weigh_targets(level, criterion)
    return merge_candidates([score_column(level, x, order, weighed, criterion, impurity, limits) for x, order in lines])


class WeighedTargets(NamedTuple):
    """The targets of a level's entries, measured from the median of their node, and their weights.

    Without their signs the terms of a node add up to its cost. So they, and all sums of them, are known to a tiny
    fraction of that cost, whatever lies in other nodes.

    Attributes
    ----------
    rank : integer array of shape (n_entries,)
        The order of the targets.
    weight : integer array of shape (n_entries,)
        The weights, in units.
    distance : array of shape (n_entries,)
        Target minus median, in units: times a weight it is a term.
    term : integer array of shape (n_entries,)
        Weight times distance, in units of their node.
    unit : array of shape (n_nodes,)
        Size of the units of the terms.
    """

    rank: Ints
    weight: Wholes
    distance: Floats
    term: Wholes
    unit: Floats

    def of(self, order: Integers) -> WeighedTargets:
        """Those of some entries, in order."""
        return WeighedTargets(
            self.rank.take(order), self.weight.take(order), self.distance.take(order), self.term.take(order), self.unit
        )


def weigh_targets(level: Level, criterion: AbsoluteError) -> WeighedTargets:
    """The targets of a level in units of their node that leave 60 bits for the sum of its terms."""
    entry, node, n_entries = level.entry, level.node, len(level.row)
    rank, distance, term = np.zeros(n_entries, dtype=np.intp), np.zeros(n_entries), np.zeros(n_entries, dtype=np.int64)
    weight_unit = level.unit[0]
    from_median = level.values(criterion.target, entry) - criterion.value(level)[node, 0]
    exact = from_median * level.weight[entry]
    low, high = level.range_of(exact)
    rough = unit_for(np.maximum(high, -low), level.n_samples, FLOAT_BITS)  # in which sums of floats are exact
    unit = unit_of_sum(np.bincount(node, np.rint(np.abs(exact) / rough[node]), minlength=level.n_nodes) * rough)
    rank[entry] = level.values(criterion.rank, entry)
    distance[entry] = from_median * (weight_unit / unit[node])
    term[entry] = np.rint(exact / unit[node])
    return WeighedTargets(rank, level.addend[0], distance, term, unit)


def score_column(
    level: Level,
    x: Numbers,
    order: Integers,
    weighed: WeighedTargets,
    criterion: AbsoluteError,
    impurity: Floats,
    limits: ChildLimits,
) -> SplitCandidates:
    """The best cut of each node on one column. Takes O(entries x log entries)."""
    cuts = find_cuts(level, x)
    first, at = level.start[:-1], cuts.node
    last_known = first + cuts.n_known
    # Stretches: all known rows of each node, the rows below each cut, the known rows above it.
    low = np.concatenate([first, first[at], cuts.place + 1])
    high = np.concatenate([last_known, cuts.place + 1, last_known[at]])
    in_order = weighed.of(order)
    known, below, above = np.split(absolute_cost(in_order, low, high), [level.n_nodes, level.n_nodes + len(at)])
    in_stretch = sums_of_stretches(in_order.weight, low, high)[level.n_nodes :]
    weight_below, weight_above = np.split(in_stretch, 2) * level.unit[0]
    limits = limits.of(at)
    fits = (cuts.n_below >= limits.rows) & (cuts.n_known[at] - cuts.n_below >= limits.rows)
    fits &= (weight_below >= limits.weight) & (weight_above >= limits.weight)
    saving = np.where(fits, known[at] - below - above, -np.inf)
    node, best = first_maximum(cuts, saving, TIE * impurity * level.sums[0] / weighed.unit)
    saving *= weighed.unit[at]
    return candidates_from_cuts(level, cuts, node, best, saving, criterion)


def sums_of_stretches(x: Wholes, low: Ints, high: Ints) -> Wholes:
    """Sum of x[low:high] for each of many stretches, within one node each.

    The running sum goes through all nodes and may overflow 64 bits; it wraps around, and the difference is exact
    all the same.
    """
    running = np.zeros(len(x) + 1, dtype=np.int64)
    np.cumsum(x, out=running[1:])
    return running[high] - running[low]


def absolute_cost(weighed: WeighedTargets, low: Ints, high: Ints) -> Floats:
    """What each of many stretches of rows, low:high, costs about its own median, in units of its node."""
    weight, total = (sums_of_stretches(part, low, high) for part in (weighed.weight, weighed.term))
    taken, rest = sum_of_smallest(weighed, low, high, weight / 2)
    return (total - 2 * taken) - 2 * rest


def sum_of_smallest(weighed: WeighedTargets, low: Ints, high: Ints, amount: Floats) -> tuple[Wholes, Floats]:
    """Sum of the terms of the smallest targets that make up the weight ``amount``, for each stretch low:high.

    The ranks of the targets are read bit by bit, the highest first. Where the zeros of a stretch weigh more than the
    amount that is left, all of it is among the zeros; otherwise they are all taken, and the rest is among the ones.
    Zeros then move before ones, each in their old order, so that a stretch stays a stretch.

    Returns
    -------
    taken : integer array
        The sum of the terms that are taken whole.
    rest : array
        The part of the last one, which is taken until the amount is reached.
    """
    taken, amount = np.zeros(len(low), dtype=np.int64), amount.copy()
    for bit in reversed(range(int(weighed.rank.max(initial=0)).bit_length())):
        is_zero = (weighed.rank >> bit) & 1 == 0
        here, terms = (sums_of_stretches(part * is_zero, low, high) for part in (weighed.weight, weighed.term))
        among_ones = here <= amount
        taken += np.where(among_ones, terms, 0)
        amount -= np.where(among_ones, here, 0)
        n_zeros = np.concatenate([[0], np.cumsum(is_zero)])
        low, high = (np.where(among_ones, n_zeros[-1] + end - n_zeros[end], n_zeros[end]) for end in (low, high))
        weighed = weighed.of(np.concatenate([np.flatnonzero(is_zero), np.flatnonzero(~is_zero)]))
    # What is left of a stretch is one target.
    return taken, amount * np.append(weighed.distance, 0)[np.minimum(low, len(weighed.distance))]
