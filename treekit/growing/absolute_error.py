"""The absolute error: the one criterion that is no function of sums, because a median is none.

Where every row has weight 1, the costs follow from running medians, which one walk backwards through all nodes and
columns at once finds: see :func:`treekit.growing.running_medians.costs_of_prefixes`. With weights, they follow from the
sum of the smallest values that make up half of the weight: :func:`sum_of_smallest` finds it bit by bit.

Either way the targets of a node are whole numbers of units that suit this node. Sums of whole numbers are exact, so
what lies in another node, and in which order the rows come, changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treekit.growing.candidates import ChildLimits, SplitCandidates, merge_candidates
from treekit.growing.criteria import Criterion, with_fine_weights
from treekit.growing.fixed_point import quantile, to_units, unit_for_sum
from treekit.growing.level import Level
from treekit.growing.running_medians import LISTS, costs_of_prefixes, stretches_of
from treekit.growing.thresholds import (
    candidates_from_cuts,
    cut_places,
    find_cuts,
    first_maximum,
    first_maximum_per_column,
    threshold_after,
)
from treekit.numeric import RESOLUTION, TIE, Bools, Floats, Integers, Ints, Numbers, Wholes

__all__ = ["AbsoluteError", "score_thresholds_absolute", "absolute_cost", "sum_of_smallest"]

#: Sentinel below every possible saving, in units.
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
        The place of each row's target among the distinct ones, in order.
    """

    name = "absolute_error"

    def __init__(self, target: Floats, weight: Floats | None = None):
        self.target = target
        # Only the weight is a sum.
        self.per_row = np.ones((1, len(target)))
        # Costs do not depend on where zero is: near the targets, the units are fine.
        distance = target - np.median(target)
        if weight is not None:  # a row of weight zero is no row
            distance = np.where(weight > 0, target - np.median(target[weight > 0]), 0.0)
        whole, unit = to_units(distance[np.newaxis], fractions=False)
        self.whole, self.unit = whole[0], float(unit[0, 0])
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

    def refined(self, level: Level) -> Level:
        return with_fine_weights(level, 1, lambda entry: level.weight[np.newaxis, entry])

    def impurity(self, level: Level) -> Floats:
        median = self.value(level)[:, 0]
        return level.mean(np.abs(level.values(self.target, level.entry) - median[level.node]))


def score_thresholds_absolute(
    level: Level, values: Numbers, criterion: AbsoluteError, impurity: Floats, limits: ChildLimits = ChildLimits()
) -> SplitCandidates:
    """The best cut of each node on every column, all of numbers: the one that lowers the absolute error the most.

    A level takes O(entries) a column where every row has weight 1, after sorting the targets once; with weights,
    O(entries x log entries) a column.
    """
    orders, columns = level.orders, np.array(level.sorted.columns)[:, np.newaxis]
    if not level.has_unit_weights:
        lines, weighed = zip(level.gather(values, columns, orders), orders), weigh_targets(level, criterion)
        parts = [score_by_weight(level, x, order, weighed, criterion, impurity, limits) for x, order in lines]
        return merge_candidates(parts)
    by_target = sort_by_target(level, criterion, impurity)
    # Each column is walked through in two directions.
    n_columns = max(1, LISTS * stretches_of(level.start).longest // (2 * len(level.entry)))
    parts = []
    for first in range(0, len(orders), n_columns):
        block = slice(first, first + n_columns)
        x = level.gather(values, columns[block], orders[block])
        parts.append(score_by_count(level, x, orders[block], by_target, criterion, impurity, limits))
    return merge_candidates(parts)


class ByTarget(NamedTuple):
    """The entries of a level in the order of (node, target).

    Attributes
    ----------
    y : array of shape (n_alive,)
        Their targets, in units of their node.
    unit : array of shape (n_nodes,)
        Size of the units: the criterion's, or a finer one in nodes whose targets lie close together.
    rank : integer array of shape (n_entries,)
        The place of each entry in that order.
    """

    y: Wholes
    unit: Floats
    rank: Integers


def sort_by_target(level: Level, criterion: AbsoluteError, impurity: Floats) -> ByTarget:
    """The entries of a level in the order of (node, target)."""
    key = level.node * len(criterion.rank) + level.values(criterion.rank, level.entry)
    entry = level.entry.take(np.argsort(key))
    rank = np.zeros(len(level.row), dtype=level.entry.dtype)
    rank[entry] = level.place
    y, unit = level.values(criterion.whole, entry), np.full(level.n_nodes, criterion.unit)
    target = level.values(criterion.target, entry)
    low, high = target[level.start[:-1]], target[level.start[1:] - 1]
    is_coarse = (criterion.unit / 2 > RESOLUTION * impurity) & (low < high)
    if is_coarse.any():
        # As for the other criteria of regression: targets measured from the smallest, 60 bits for their sum.
        unit[is_coarse] = unit_for_sum(((high - low) * level.n_samples)[is_coarse])
        place = np.flatnonzero(is_coarse[level.node])
        node = level.node[place]
        y[place] = np.rint((target[place] - low[node]) / unit[node])
    return ByTarget(y, unit, rank)


def score_by_count(
    level: Level,
    x: Numbers,
    order: Integers,
    by_target: ByTarget,
    criterion: AbsoluteError,
    impurity: Floats,
    limits: ChildLimits,
) -> SplitCandidates:
    """The best cut of each node on some columns, of shape (n_columns, n_alive), where every row has weight 1."""
    is_cut, n_known = cut_places(level, x), level.n_samples[np.newaxis]
    # Missing values come last in a node: one look there tells whether there are any.
    if np.isnan(x[:, level.start[1:] - 1]).any():
        n_known = np.add.reduceat(~np.isnan(x), level.start[:-1], axis=1, dtype=np.intp)
    least_rows = max(limits.rows, limits.weight)
    if least_rows > 1:
        n_above = np.repeat(n_known, level.n_samples, axis=1) - level.n_below
        is_cut &= (level.n_below >= least_rows) & (n_above >= least_rows)
    saving = savings_by_count(level, order, n_known, by_target)
    np.copyto(saving, NO_CUT, where=~is_cut)

    tolerance = (TIE * impurity * level.n_samples / by_target.unit).astype(np.int64)
    best = first_maximum_per_column(level, saving, tolerance)
    saved = saving.take(best)
    # Two sides never cost more than the whole.
    gain = np.where(saved >= 0, saved * by_target.unit / criterion.divisor(level.sums), -np.inf)
    return SplitCandidates(gain, threshold_after(x, best))


def savings_by_count(level: Level, order: Integers, n_known: Ints, by_target: ByTarget) -> Wholes:
    """What a cut after each place saves, in units, of shape (n_columns, n_alive).

    The known rows below a cut are a prefix of their node; those above it are a prefix of the node read backwards. So
    every column gives two sequences. A node of four rows a, b, c, d by value, d missing, at the places 0 to 3::

        place                   0    1    2    3
        forwards                a    b    c    d
        mirror                  2    1    0    3      the missing row stays last
        backwards               c    b    a    d
        cost of the prefix      C(a) C(ab) C(abc)     forwards, up to and including the place
                                C(c) C(cb) C(cba)     backwards

    A cut after place 0 leaves {a} below, and above it {b, c}: the rows before ``mirror[0]`` = 2 read backwards.
    """
    n_columns = len(order)
    first, end = level.start[:-1], level.start[:-1] + n_known
    # Read backwards, the known rows change places; the missing ones stay last.
    mirror = np.repeat(first + end - 1, level.n_samples, axis=1) - level.place
    if (end < level.start[1:]).any():
        mirror = np.where(level.place < np.repeat(end, level.n_samples, axis=1), mirror, level.place)

    # The first half of the sequences is read forwards, the second backwards. `mirrored` holds flat indices of the
    # mirrored places in the first half.
    rank = np.empty((order.shape[1], 2 * n_columns), dtype=np.intp)
    rank[:, :n_columns] = by_target.rank.take(order).T
    mirrored = 2 * n_columns * mirror.T + np.arange(n_columns)
    rank[:, n_columns:] = rank.take(mirrored)
    cost = costs_of_prefixes(by_target.y, level.start, rank)

    # The rows above the cut after a place are those before its mirror place, read backwards. The costs run on from node
    # to node: in the difference below, the costs of the nodes before cancel.
    known = cost.take(2 * n_columns * end.T + np.arange(n_columns)) + cost[first, n_columns:]
    mirrored += n_columns
    both_sides = cost.take(mirrored)
    both_sides += cost[1:, :n_columns]
    return np.ascontiguousarray((np.repeat(known, level.n_samples, axis=0) - both_sides).T)


class WeighedTargets(NamedTuple):
    """The targets of a level's entries, measured from the median of their node, and their weights.

    The terms of a node add up to its cost without their signs. So they, and all sums of them, are known to a tiny
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
    weight_unit = level.unit_of(node)[0]
    from_median = level.values(criterion.target, entry) - criterion.value(level)[node, 0]
    exact = from_median * level.weight[entry]
    unit = unit_for_sum(np.bincount(node, np.abs(exact), minlength=level.n_nodes).astype(float))
    rank[entry] = level.values(criterion.rank, entry)
    distance[entry] = from_median * (weight_unit / unit[node])
    term[entry] = np.rint(exact / unit[node])
    return WeighedTargets(rank, level.addend[0], distance, term, unit)


def score_by_weight(
    level: Level,
    x: Numbers,
    order: Integers,
    weighed: WeighedTargets,
    criterion: AbsoluteError,
    impurity: Floats,
    limits: ChildLimits,
) -> SplitCandidates:
    """The best cut of each node on a column where rows have weights. Takes O(entries x log entries)."""
    cuts = find_cuts(level, x)
    first, at = level.start[:-1], cuts.node
    last_known = first + cuts.n_known
    # Stretches: all known rows of each node, the rows below each cut, the known rows above it.
    low = np.concatenate([first, first[at], cuts.place + 1])
    high = np.concatenate([last_known, cuts.place + 1, last_known[at]])
    in_order = weighed.of(order)
    known, below, above = np.split(absolute_cost(in_order, low, high), [level.n_nodes, level.n_nodes + len(at)])
    in_stretch = sums_of_stretches(in_order.weight, low, high)[level.n_nodes :]
    weight_below, weight_above = np.split(in_stretch, 2) * level.unit_of(at)[0]
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
