"""Splits by histograms: the values of a column are put into bins once, and only the edges of bins are tried as cuts.

The histogram of a node is what its rows add up to, bin by bin: all that is needed to choose its split. A level costs
one addition for each row and column, however many cuts there are. Two more savings: of two siblings only the lighter is
added up, the other is their parent minus the lighter; and histograms of blocks of rows add up, so the blocks may lie on
different machines. The sums are whole numbers of units, so they are exact: neither saving changes a digit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from treekit.growing.binning import BinnedRows, Bins
from treekit.growing.candidates import ChildLimits, SplitCandidates, combine_numeric_and_categorical
from treekit.growing.categories import best_groups
from treekit.growing.criteria import Criterion, Newton
from treekit.growing.fixed_point import (
    GradientSums,
    GradientUnits,
    grad,
    gradient_units,
    hess,
    largest_magnitude,
    to_gradient_sums,
)
from treekit.growing.grow import ChooseFeature, ChosenSplits, NextLevel, StoppingRule, choose_splits, grow_levels
from treekit.numeric import ROUNDING, TIE, Array, Bools, Floats, Ints, Kind, Numbers, safe_divide
from treekit.trees.structure import MAJORITY
from treekit.trees.tree import Tree

__all__ = ["histograms", "split_rows", "score_bins", "Histograms", "LocalRows", "RowStore", "HistogramGrower"]


#: Sums that differ by no more than so many units are equal but for rounding.
ROUNDING_UNITS = 64

#: Cells of histograms that are scored at a time, so that arrays stay in the processor's cache: trees of ten levels take
#: @@ of the time (trick: cells in the cache), and scoring hardly any memory beside the histograms.
CELLS_AT_A_TIME = 2**16


# -- the rows of a growing tree -----------------------------------------------------------------------------------


class RowPartition(NamedTuple):
    """The rows of a block, node by node. A leaf keeps its rows, so all rows can be traced when the tree is grown.

    ``row`` lists the rows; those of node k stand from ``start[k]`` to ``start[k + 1]``.
    """

    row: Ints
    start: Ints

    @property
    def n_rows(self) -> Ints:
        """Number of rows in each node."""
        return np.diff(self.start)

    def rows_of(self, nodes: Ints) -> Ints:
        """The rows of some nodes, one node after the other."""
        return np.concatenate([self.row[self.start[node] : self.start[node + 1]] for node in nodes])


def all_in_root(row: Ints) -> RowPartition:
    """Some rows, all of them in one node."""
    return RowPartition(row, np.array([0, len(row)]))


def split_rows(binned: BinnedRows, partition: RowPartition, column: Ints, goes_right: Bools) -> RowPartition:
    """The rows on the next level: in the place of a node that splits stand its left child and then its right one.

    Parameters
    ----------
    column : array of shape (n_nodes,)
        The column that each node tests; -1 where it does not split.
    goes_right : array of shape (n_nodes, n_bins)
        Which bins of that column go right.
    """
    parts = []
    for j, right_bins, first, last in zip(column, goes_right, partition.start[:-1], partition.start[1:]):
        row = partition.row[first:last]
        if j < 0:
            parts.append(row)
            continue
        goes = right_bins.take(binned.codes[j].take(row))
        # The places where a mask is true, not the mask as index: @@ (trick: rows of a side).
        parts += [row.take((~goes).nonzero()[0]), row.take(goes.nonzero()[0])]
    start = np.cumsum([0, *map(len, parts)])
    return RowPartition(np.concatenate(parts), start)


class Histograms(NamedTuple):
    """The histograms of some nodes.

    Attributes
    ----------
    sums : array of shape (n_nodes, n_cells)
        G + iH of the rows in each bin.
    counts : array of shape (n_nodes, n_cells) or None
        Number of rows in each bin; None where no child must hold more than one row, or where H is that number.
    """

    sums: GradientSums
    counts: Ints | None = None


def apply_to_each(function: Callable[..., Array], *several: Histograms) -> Histograms:
    """The same function of the sums, and of the counts where there are any."""
    sums, counts = zip(*several)
    return Histograms(function(*sums), None if counts[0] is None else function(*counts))


def nodes_of(histogram: Histograms, nodes: Ints | slice) -> Histograms:
    """The histograms of some of the nodes."""
    return apply_to_each(lambda of_all: of_all[nodes], histogram)


def add_histograms(parts: Sequence[Histograms]) -> Histograms:
    """The histograms of several blocks of rows as one."""
    return apply_to_each(lambda *several: sum(several), *parts)


def histograms(binned: BinnedRows, addend: NDArray[Kind], row: Ints, n_rows: Ints) -> NDArray[Kind]:
    """What some rows add up to in each bin of each column, node by node, of shape (n_nodes, n_cells).

    The histograms of several blocks of rows add up. Takes one addition for each row and column.

    Parameters
    ----------
    binned : BinnedRows
        A block of rows.
    addend : array of shape (n_block,)
        What each row of the block adds, from :func:`treekit.growing.fixed_point.to_gradient_sums`; ones to count rows.
    row : array of integers
        The rows to add up, node by node.
    n_rows : array of shape (n_nodes,)
        How many of them each node has.
    """
    sums = np.zeros(len(n_rows) * binned.n_cells, dtype=addend.dtype)
    # Cell of a row: the cells of the nodes before its own, those of the columns before this one, and the row's bin.
    first, added = np.repeat(np.arange(len(n_rows)) * binned.n_cells, n_rows), addend.take(row)
    for code, first_cell in zip(binned.codes, binned.first_cell):
        np.add.at(sums, first + first_cell + code.take(row), added)
    return sums.reshape(len(n_rows), binned.n_cells)


def count_and_sum_rows(
    binned: BinnedRows, addend: GradientSums, partition: RowPartition, nodes: Ints, has_counts: bool
) -> tuple[Ints, Histograms | None]:
    """The number of rows in each node of a block, and the histograms of some ``nodes``; None for no nodes."""
    if not len(nodes):
        return partition.n_rows, None
    row, n_rows = partition.rows_of(nodes), partition.n_rows[nodes]
    sums = histograms(binned, addend, row, n_rows)
    counts = histograms(binned, np.ones(len(addend), dtype=np.intp), row, n_rows) if has_counts else None
    return partition.n_rows, Histograms(sums, counts)


class RowStore(Protocol):
    """The training rows of a tree that is grown from histograms, wherever they lie.

    The nodes where the rows are stand in an order of their own: see :class:`RowPartition`.
    """

    def next_level(self, column: Ints, goes_right: Bools, nodes: Ints) -> tuple[Ints, Histograms | None]:
        """Send all rows down one level, as :func:`split_rows` does.

        Answers with the number of rows in each node, and the histograms of some ``nodes``; None for no nodes.
        """

    def squared_error(self) -> Floats:
        """Mean square of g / h about its mean in each node, weighted by h, in units; 0 but for rounding is 0."""


class LocalRows:
    """A :class:`RowStore` for rows on this machine; it serves one tree after the other."""

    def __init__(self, binned: BinnedRows):
        self.binned = binned

    def start_tree(
        self, g: Floats, h: Floats, weight: Floats, min_rows: float = 1
    ) -> tuple[GradientUnits, Ints, Histograms]:
        """Put all rows into the root: the units of their sums, their number, and their histogram.

        Rows of weight zero add nothing, but end in a leaf like all others. With ``min_rows`` above 1 rows are counted.
        """
        learns, left_out = np.flatnonzero(weight > 0), np.flatnonzero(weight == 0)
        if (weight != 1).any():
            g, h = g * weight, h * weight
        # Where each h is 1, as for the squared error of rows without weights, H is the number of rows. To count them
        # as well would nearly double the time of adding up.
        self.has_counts = min_rows > 1 and bool((h.take(learns) != 1).any())
        units = gradient_units(largest_magnitude(g), largest_magnitude(h), len(learns))
        self.addend = to_gradient_sums(g, h, units)
        self.partition, self.left_out = all_in_root(learns), all_in_root(left_out)
        n_rows, histogram = self._count_and_sum(np.array([0]))
        assert histogram is not None
        return units, n_rows, histogram

    def next_level(self, column: Ints, goes_right: Bools, nodes: Ints) -> tuple[Ints, Histograms | None]:
        self.partition = split_rows(self.binned, self.partition, column, goes_right)
        if len(self.left_out.row):
            self.left_out = split_rows(self.binned, self.left_out, column, goes_right)
        return self._count_and_sum(nodes)

    def _count_and_sum(self, nodes: Ints) -> tuple[Ints, Histograms | None]:
        return count_and_sum_rows(self.binned, self.addend, self.partition, nodes, self.has_counts)

    def squared_error(self) -> Floats:
        addend, n_nodes = self.addend.take(self.partition.row), len(self.partition.n_rows)
        g, h, node = grad(addend), hess(addend), np.repeat(np.arange(n_nodes), self.partition.n_rows)
        total_h = np.bincount(node, h, minlength=n_nodes)
        mean = safe_divide(np.bincount(node, g, minlength=n_nodes), total_h)
        error = safe_divide(g, h) - mean[node]
        # g and h are rounded to whole units: a node is pure where no row is further from the mean than that explains.
        is_far = h * np.abs(error) > 1 + np.abs(mean[node])
        is_pure = np.bincount(node, is_far, minlength=n_nodes) == 0
        return np.where(is_pure, 0.0, safe_divide(np.bincount(node, h * error * error, minlength=n_nodes), total_h))

    def per_row(self, per_node: NDArray[Kind]) -> NDArray[Kind]:
        """For each row the entry of its node."""
        per_row = np.empty(len(self.addend), dtype=per_node.dtype)
        for partition in (self.partition, self.left_out):
            per_row[partition.row] = np.repeat(per_node, partition.n_rows)
        return per_row


# -- the best cut -------------------------------------------------------------------------------------------------


def tie_tolerance(saving: Floats | float, objective: Floats, smallest: Floats | float) -> Floats:
    """How far two splits of a node may differ in what they save and yet count as equal.

    By the fraction TIE of the saving, as in an exact search; and by the rounding of the objective: a saving is the
    difference of two objectives, and beside large ones it has few digits. Both are the node's own, so no outlier
    elsewhere hides a split. ``smallest`` is what sums of nothing but rounding would save, see
    :func:`objective_of_rounding`.
    """
    return TIE * np.maximum(saving, 0) + ROUNDING * np.maximum(objective, 0) + smallest


def objective_of_rounding(h: Floats, units: GradientUnits, reg_lambda: float) -> Floats:
    """The objective of groups of rows whose gradients would add up to zero, if they were not rounded: a few units."""
    rounding = ROUNDING_UNITS * units.grad
    return rounding * rounding / np.maximum(h + reg_lambda, units.hess)


class ChildMinima(NamedTuple):
    """The H and the number of rows that each side of a cut must hold; the H is above 0."""

    hess: float
    rows: float = 1


def score_bins(
    histogram: Histograms,
    total: Histograms,
    missing: Ints,
    units: GradientUnits,
    reg_lambda: float,
    minima: ChildMinima,
) -> tuple[Floats, Ints, Ints]:
    r"""The best cut of each node on each column of numbers: that of the largest objective

    .. math:: \frac{G_L^2}{H_L + \lambda} + \frac{G_R^2}{H_R + \lambda}

    The rows where the column is missing are tried on both sides; the last cut is that of all known rows against them.
    Of equal cuts the first wins, with the missing rows on its right.

    Parameters
    ----------
    histogram : Histograms, with arrays of shape (n_nodes, n_columns, n_bins)
        The rows of each node, bin by bin.
    total : Histograms, with arrays of shape (n_nodes,)
        All rows of each node.
    missing : array of shape (n_columns,)
        The bin of missing values of each column, the last that is not empty.
    minima : ChildMinima
        What each side must hold.

    Returns
    -------
    objective : array of shape (n_nodes, n_columns)
        The objective above; -inf where there is no cut.
    last : array of shape (n_nodes, n_columns)
        The last bin below the cut.
    branch : array of shape (n_nodes, n_columns)
        Branch of the missing rows; MAJORITY where there are none to learn from.
    """
    missing = missing[np.newaxis, :, np.newaxis]
    total = apply_to_each(lambda of_nodes: of_nodes[:, np.newaxis, np.newaxis], total)
    of_missing = apply_to_each(lambda bins: np.take_along_axis(bins, missing, axis=2), histogram)
    below = apply_to_each(lambda bins: bins.cumsum(axis=2), histogram)
    objective = to_right = objective_of_cuts(below, total, units, reg_lambda, minima)
    if of_missing.sums.any():
        # A cut needs known rows on either side; only the last one has all of them below it.
        h_below = hess(below.sums)
        is_between = (h_below > 0) & (h_below < hess(total.sums - of_missing.sums))
        with_missing = apply_to_each(np.add, below, of_missing)
        to_left = np.where(is_between, objective_of_cuts(with_missing, total, units, reg_lambda, minima), -np.inf)
        np.put_along_axis(is_between, missing - 1, True, axis=2)
        to_right = np.where(is_between, to_right, -np.inf)
        objective = np.maximum(to_left, to_right)
    # The first cut whose objective is the largest, up to the tolerance.
    largest = objective.max(axis=2, keepdims=True)
    g, h = units.to_floats(total.sums)
    uncut = g * g / np.maximum(h + reg_lambda, units.hess)
    enough = largest - tie_tolerance(largest - uncut, largest, objective_of_rounding(h, units, reg_lambda))
    last = np.argmax(objective >= enough, axis=2)
    to_right = np.take_along_axis(to_right, last[:, :, np.newaxis], axis=2)
    branch = np.where(hess(of_missing.sums) == 0, MAJORITY, np.where(to_right < enough, 0, 1))
    return largest[:, :, 0], last, branch[:, :, 0]


def objective_of_cuts(
    left: Histograms, total: Histograms, units: GradientUnits, reg_lambda: float, minima: ChildMinima
) -> Floats:
    """G^2 / (H + lambda) of both sides, added; -inf where a side holds too little."""
    (g, h), (total_g, total_h) = units.to_floats(left.sums), units.to_floats(total.sums)
    too_little = is_outside(h, total_h, minima.hess)
    if left.counts is not None and total.counts is not None:
        too_little |= is_outside(left.counts, total.counts, minima.rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        objective = g**2 / (h + reg_lambda) + (total_g - g) ** 2 / (total_h + reg_lambda - h)
    return np.where(too_little, -np.inf, objective)


def is_outside(below: Numbers, total: Numbers, least: float) -> Bools:
    """Whether a side of a cut holds less than ``least``."""
    return (below < least) | (below > total - least)


# -- growing ------------------------------------------------------------------------------------------------------


class HistogramLevel(NamedTuple):
    """The open nodes of a level, as :class:`treekit.growing.level.Level` has them, but sums alone: no rows.

    Attributes
    ----------
    id, place : arrays of shape (n_nodes,)
        Numbers of the nodes in the tree, and where they stand among the nodes of :class:`RowPartition`.
    n_samples : array of shape (n_nodes,)
        Numbers of rows.
    total : array of shape (n_nodes,)
        G + iH of all rows of the node, in units.
    histogram : Histograms or None
        The same, bin by bin; None on the last level, whose nodes are leaves.
    sums : array of shape (2, n_nodes)
        The same as ``total``, in the criterion's order.
    impurity : array of shape (n_nodes,)
        Impurity of the nodes.
    """

    id: Ints
    place: Ints
    n_samples: Ints
    total: GradientSums
    histogram: Histograms | None
    sums: Floats
    impurity: Floats

    @property
    def n_nodes(self) -> int:
        """Number of open nodes."""
        return len(self.id)

    @property
    def open_histogram(self) -> Histograms:
        """The histogram of a level that is not the last."""
        assert self.histogram is not None
        return self.histogram

    def keep_only(self, nodes: Ints) -> HistogramLevel:
        """The level without all other nodes."""
        if len(nodes) == self.n_nodes:
            return self
        return HistogramLevel(
            self.id[nodes],
            self.place[nodes],
            self.n_samples[nodes],
            self.total[nodes],
            nodes_of(self.open_histogram, nodes),
            self.sums[:, nodes],
            self.impurity[nodes],
        )


class SumsOnlyCriterion:
    """A criterion for levels without rows, which bring their impurity along."""

    def __init__(self, criterion: Criterion):
        self.criterion, self.name, self.gain_is_sum = criterion, criterion.name, criterion.gain_is_sum

    def is_pure(self, level: HistogramLevel, impurity: Floats) -> Bools:
        # RowStore.squared_error is 0 where rows differ by no more than the node's own rounding. Newton's impurity is
        # another number; its splits must gain something, which is enough.
        return np.zeros(len(impurity), dtype=bool) if isinstance(self.criterion, Newton) else impurity == 0

    def weight(self, sums: Floats) -> Floats:
        return self.criterion.weight(sums)

    def value(self, level: HistogramLevel) -> Floats:
        return self.criterion.value_from(level.sums)

    def impurity(self, level: HistogramLevel) -> Floats:
        return level.impurity


def derivatives_of(criterion: Criterion) -> tuple[Floats, Floats]:
    """g and h of the rows of a criterion: to a histogram the squared error has the target as g, and h = 1."""
    g, h = criterion.per_row if isinstance(criterion, Newton) else criterion.per_row[::-1]
    return g, h


class HistogramGrower:
    """Grows a tree from histograms, by the loop of :func:`treekit.growing.grow.grow_levels`.

    Parameters
    ----------
    bins : Bins
        The columns.
    rows : RowStore
        The training rows, all in the root.
    criterion : Newton or SquaredError
        What a split is to lower; only its functions of sums are used, not its rows.
    limits : ChildLimits
        The rows and the H that a child must hold.
    choose : function of (candidates, scale of their rounding)
        Which column each node splits on.
    stop : StoppingRule
        When a node becomes a leaf.

    Attributes
    ----------
    node : array of integers
        Numbers in the tree of the nodes where rows are, in the order of the rows; in the end its leaves.
    """

    def __init__(
        self,
        bins: Bins,
        rows: RowStore,
        criterion: Criterion,
        limits: ChildLimits,
        choose: ChooseFeature,
        stop: StoppingRule,
    ):
        self.bins, self.rows, self.criterion, self.limits = bins, rows, criterion, limits
        self.choose, self.stop = choose, stop
        self.is_newton = isinstance(criterion, Newton)
        self.reg_lambda = criterion.reg_lambda if isinstance(criterion, Newton) else 0.0
        self.node, self.depth = np.array([0]), 0

    def grow(self, units: GradientUnits, n_rows: Ints, histogram: Histograms) -> Tree:
        """The tree, from the units, the number of rows and the histogram of its root."""
        self.units = units
        weight = max(float(np.max(self.limits.weight)), units.hess)  # an empty side is no side
        if histogram.counts is None and self.limits.rows > 1:
            weight = max(weight, self.limits.rows)  # H counts the rows
        self.minima = ChildMinima(weight, self.limits.rows)
        total = self.bins.of_column(histogram.sums, self.node).sum(axis=1)
        root = self._level(self.node, self.node, n_rows, total, histogram)
        criterion = SumsOnlyCriterion(self.criterion)
        return grow_levels(self.bins.features, criterion, root, self.find_splits, self.next_level, self.stop)

    def _level(
        self, id: Ints, place: Ints, n_samples: Ints, total: GradientSums, histogram: Histograms | None
    ) -> HistogramLevel:
        sums = self._in_criterions_order(total)
        if self.is_newton:
            impurity = self.criterion.cost(sums)
        else:
            impurity = self.rows.squared_error()[place] * (self.units.grad / self.units.hess) ** 2
        return HistogramLevel(id, place, n_samples, total, histogram, sums, impurity)

    def _in_criterions_order(self, sums: GradientSums) -> Floats:
        """G and H as floats: the squared error adds up the weight first and then the target."""
        g, h = self.units.to_floats(sums)
        return np.stack([g, h] if self.is_newton else [h, g])

    # -- which split is best?

    def find_splits(self, level: HistogramLevel, impurity: Floats, least: Floats) -> ChosenSplits:
        """The best split of each node, unless it gains less than ``least``."""
        numbers, tolerance = self._score_numbers(level)
        scale = tolerance / TIE
        candidates = combine_numeric_and_categorical(
            numbers, self.bins.features, lambda j: self._score_categories(level, j, scale)
        )
        # Rounding must not refuse a gain that is just enough, a gain of zero above all.
        return choose_splits(candidates, self.choose(candidates, scale), least - tolerance, MAJORITY)

    def _score_numbers(self, level: HistogramLevel) -> tuple[SplitCandidates, Floats]:
        """The best cuts on the columns of numbers, and how far gains may differ in each node and yet count as equal."""
        is_numeric = self.bins.is_numeric
        objective, last, branch = self._best_cuts(level)
        # Newton's objective has a factor of one half that the squared error has not.
        objective = objective / 2 if self.is_newton else objective
        cost = self.criterion.cost(level.sums)
        saving, largest = objective + cost, np.maximum(objective.max(axis=0, initial=0), -cost)
        smallest = self._objective_of_rounding(level)
        saving[np.abs(saving) <= tie_tolerance(0, largest, smallest)] = 0.0
        tolerance = tie_tolerance(saving.max(axis=0, initial=0), largest, smallest)

        threshold = np.take_along_axis(self.bins.upper_edge[is_numeric], last, axis=1)
        candidates = SplitCandidates(self.criterion.gain(saving, level.sums), threshold, missing=branch)
        return candidates, tolerance / self.criterion.divisor(level.sums)

    def _objective_of_rounding(self, level: HistogramLevel) -> Floats:
        return objective_of_rounding(self.criterion.weight(level.sums), self.units, self.reg_lambda)

    def _best_cuts(self, level: HistogramLevel) -> tuple[Floats, Ints, Ints]:
        """:func:`score_bins` for all nodes, a few at a time, with arrays of shape (n_columns, n_nodes)."""
        histogram = apply_to_each(self.bins.numbers, level.open_histogram)
        missing = self.bins.missing[self.bins.is_numeric]
        total = Histograms(level.total, None if histogram.counts is None else level.n_samples)
        n_nodes = max(1, CELLS_AT_A_TIME // max(histogram.sums[0].size, 1))
        parts = []
        for first in range(0, level.n_nodes, n_nodes):
            some, of_some = (nodes_of(part, slice(first, first + n_nodes)) for part in (histogram, total))
            parts.append(score_bins(some, of_some, missing, self.units, self.reg_lambda, self.minima))
        objective, last, branch = (np.concatenate(part).T for part in zip(*parts))
        return objective, last, branch

    def _score_categories(self, level: HistogramLevel, j: int, scale: Floats) -> SplitCandidates:
        """The best groups of a column of categories."""
        first, n_values = self.bins.first_cell[j], self.bins.features[j].n_values
        of_categories = apply_to_each(lambda cells: cells[:, first : first + n_values], level.open_histogram)
        sums = self._in_criterions_order(of_categories.sums)
        n_rows = of_categories.counts
        if n_rows is None:
            weight = self.criterion.weight(sums)
            # Either H counts the rows, or all that matters is whether there are any.
            n_rows = (np.rint(weight) if self.limits.rows > 1 else weight > 0).astype(np.intp)
        candidates = best_groups(sums, n_rows, level.sums, self.criterion, scale, self.limits)
        if self.is_newton:
            rounding = tie_tolerance(0, -self.criterion.cost(level.sums), self._objective_of_rounding(level))
            return replace(candidates, gain=np.where(candidates.gain > rounding, candidates.gain, -np.inf))
        return candidates

    # -- every row takes its branch

    def next_level(self, level: HistogramLevel, splits: ChosenSplits, next_id: int) -> NextLevel[HistogramLevel]:
        """The next level, its nodes numbered from ``next_id`` on; takes one call of ``rows``, which may be far away."""
        level = level.keep_only(splits.node)
        resolved, goes_right, total = self._resolve_directions(level, splits)
        id, place, column, bins_right = self._place_children(level, resolved, goes_right, next_id)

        lighter, heavier = lighter_and_heavier(total)
        self.depth += 1
        is_last = self.depth >= self.stop.max_depth
        n_rows, added = self.rows.next_level(column, bins_right, place[:0] if is_last else place[lighter])
        histogram = None
        if added is not None:
            histogram = apply_to_each(
                lambda above, of_lighter: with_siblings(above, of_lighter, lighter, heavier),
                level.open_histogram,
                added,
            )
        parent = np.repeat(np.arange(level.n_nodes), 2)
        return NextLevel(self._level(id, place, n_rows[place], total, histogram), parent, resolved)

    def _resolve_directions(
        self, level: HistogramLevel, splits: ChosenSplits
    ) -> tuple[ChosenSplits, Bools, GradientSums]:
        """The splits with a branch for missing values in each; which bins go right; the sums of all children.

        Where no branch was learned, missing values take the heavier one.
        """
        sums, branch = self.bins.of_column(level.open_histogram.sums, splits.feature), self.bins.branch_of_bins(splits)
        left, right = ((hess(sums) * (branch == side)).sum(axis=1) for side in (0, 1))
        # Weights that differ by no more than the rounding of their rows to units are equal.
        missing = np.where(splits.missing == MAJORITY, right > left + ROUNDING_UNITS, splits.missing)
        goes_right = np.where(branch < 0, missing[:, np.newaxis], branch) == 1
        of_right = (sums * goes_right).sum(axis=1)
        total = np.stack([level.total - of_right, of_right], axis=1).ravel()
        return splits._replace(missing=missing), goes_right, total

    def _place_children(
        self, level: HistogramLevel, splits: ChosenSplits, goes_right: Bools, next_id: int
    ) -> tuple[Ints, Ints, Ints, Bools]:
        """The children's numbers in the tree and places among the nodes of the rows; then, as :func:`split_rows` takes
        them, the column and the bins that go right of every node that has rows.
        """
        is_split = np.zeros(len(self.node), dtype=bool)
        is_split[level.place] = True
        column, bins_right = np.full(len(self.node), -1), np.zeros((len(self.node), goes_right.shape[1]), dtype=bool)
        column[level.place], bins_right[level.place] = splits.feature, goes_right
        # A node that splits makes room for two, left and right; the others keep their order.
        place = np.flatnonzero(np.repeat(is_split, 1 + is_split))
        id = next_id + np.arange(len(place))
        self.node = np.repeat(self.node, 1 + is_split)
        self.node[place] = id
        return id, place, column, bins_right


def lighter_and_heavier(total: GradientSums) -> tuple[Ints, Ints]:
    """Of each two siblings, which stand side by side, the one of the smaller H (the left if equal), and the other."""
    h = hess(total)
    left = np.arange(0, len(total), 2)
    lighter = left + (h[1::2] < h[::2])
    return lighter, 2 * left + 1 - lighter


def with_siblings(above: Array, of_lighter: Array, lighter: Ints, heavier: Ints) -> Array:
    """The histograms of all children, from those of their parents and of the lighter of each two siblings.

    The lighter hold about a third of the rows; not to add up the others saves boosting @@ of its time (trick: lighter
    siblings).
    """
    histogram = np.empty((2 * len(above), above.shape[1]), dtype=above.dtype)
    histogram[lighter] = of_lighter
    histogram[heavier] = above - of_lighter
    return histogram
