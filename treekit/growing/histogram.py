"""Splits by histograms: the values of a column are put into bins once, and only the edges of bins are tried as cuts.

What a node's rows add up to, bin by bin, is its histogram: all that is needed to choose its split. A level costs one
addition for each row and column, however many cuts there are. Two more savings: of two siblings only the lighter is
added up, the other is what is left of their parent; and histograms of blocks of rows add up, so that the blocks may lie
on different machines. The sums are whole numbers of units, so they are exact: neither saving changes a digit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.growing.binning import BinnedRows, Bins
from treekit.growing.candidates import ChildLimits, SplitCandidates, combine_numeric_and_categorical
from treekit.growing.categories import best_groups
from treekit.growing.criteria import Criterion, Newton
from treekit.growing.fixed_point import GradientSums, GradientUnits, gradient_units, largest_magnitude, to_gradient_sums
from treekit.growing.grow import ChooseFeature, ChosenSplits, NextLevel, StoppingRule, choose_splits, grow_levels
from treekit.numeric import ROUNDING, TIE, Floats, Ints, safe_divide
from treekit.trees.structure import MAJORITY
from treekit.trees.tree import Tree

__all__ = ["histograms", "move", "score_bins", "LocalRows", "HistogramGrower"]


#: So many cells of histograms are scored at a time: what is worked on stays in the processor's cache.
CELLS_AT_A_TIME = 2**16


class RowPartition(NamedTuple):
    """Where the rows of a block stand in a growing tree: node by node. The rows of a leaf keep their places.

    ``row`` lists the rows, ``start``, of shape (n_nodes + 1,), says where each node begins.
    """

    row: Ints
    start: Ints

    @property
    def n_rows(self) -> Ints:
        """Number of rows in each node."""
        return np.diff(self.start)


def histograms(binned: BinnedRows, pair: GradientSums, row: Ints, n_rows: Ints) -> GradientSums:
    """What some rows add up to in each bin of each column, node by node, of shape (n_nodes, n_cells).

    The histograms of several blocks of rows add up. Takes one addition for each row and column.

    Parameters
    ----------
    binned : Binned
        A block of rows.
    pair : array of shape (n_block,)
        What each row of the block adds, from :func:`to_gradient_sums`.
    row : array of integers
        The rows to add up, node by node.
    n_rows : array of shape (n_nodes,)
        How many each node has.
    """
    sums = np.zeros(len(n_rows) * binned.n_cells, dtype=np.complex128)
    first = np.repeat(np.arange(len(n_rows)) * binned.n_cells, n_rows)
    is_whole = len(n_rows) == 1 and len(row) == len(pair)  # the root: nothing to pick out
    added = pair if is_whole else pair.take(row)
    for code, first_cell in zip(binned.codes, binned.first_cell):
        # Shifting where the sums begin is cheaper than adding the first cell to every row's.
        np.add.at(sums[first_cell:], first + (code if is_whole else code.take(row)), added)
    return sums.reshape(len(n_rows), binned.n_cells)


def node_histograms(binned: BinnedRows, pair: GradientSums, places: RowPartition, nodes: Ints) -> GradientSums:
    """The histograms of some nodes."""
    row, start = places
    rows = np.concatenate([row[start[node] : start[node + 1]] for node in nodes])
    return histograms(binned, pair, rows, places.n_rows[nodes])


def move(binned: BinnedRows, places: RowPartition, column: Ints, goes_right: NDArray[np.bool_]) -> RowPartition:
    """The places of the rows on the next level: a node that splits is followed by its left child, then its right one.

    Parameters
    ----------
    column : array of shape (n_nodes,)
        What each node asks for; -1 where it does not split.
    goes_right : array of shape (n_nodes, n_bins)
        Which bins go right.
    """
    parts = []
    for j, right_bins, first, last in zip(column, goes_right, places.start[:-1], places.start[1:]):
        row = places.row[first:last]
        if j < 0:
            parts.append(row)
            continue
        goes = right_bins.take(binned.codes[j].take(row))
        # Taking the places where a mask is true is several times faster than the mask itself as index.
        parts += [row.take((~goes).nonzero()[0]), row.take(goes.nonzero()[0])]
    start = np.cumsum([0, *map(len, parts)])
    return RowPartition(np.concatenate(parts), start)


class LocalRows:
    """The training rows of one tree after the other, all on this machine: what growing by histograms asks of them."""

    def __init__(self, binned: BinnedRows):
        self.binned = binned

    def begin(self, g: Floats, h: Floats, weight: Floats) -> tuple[GradientUnits, Ints, GradientSums]:
        """Put all rows into the root: the units of their sums, their number, and their histogram.

        Rows of weight zero add nothing, but find their leaf like all others.
        """
        learns = weight > 0
        n_rows = int(np.count_nonzero(learns))
        if (weight != 1).any():
            g, h = g * weight, h * weight
        units = gradient_units(largest_magnitude(g), largest_magnitude(h), n_rows)
        self.pair = to_gradient_sums(g, h, units)
        self.places = RowPartition(np.flatnonzero(learns), np.array([0, n_rows]))
        self.others = RowPartition(np.flatnonzero(~learns), np.array([0, len(weight) - n_rows]))
        return units, self.places.n_rows, node_histograms(self.binned, self.pair, self.places, np.array([0]))

    def move(self, column: Ints, goes_right: NDArray[np.bool_], nodes: Ints) -> tuple[Ints, GradientSums | None]:
        """Move on to the next level: the number of rows in each node, and the histograms of some of them."""
        self.places = move(self.binned, self.places, column, goes_right)
        if len(self.others.row):
            self.others = move(self.binned, self.others, column, goes_right)
        return self.places.n_rows, node_histograms(self.binned, self.pair, self.places, nodes) if len(nodes) else None

    def squared_error(self) -> Floats:
        """Mean square of g / h about its mean in each node, weighted by h, in units."""
        g, h = self.pair.take(self.places.row).real, self.pair.take(self.places.row).imag
        n_nodes = len(self.places.n_rows)
        node = np.repeat(np.arange(n_nodes), self.places.n_rows)
        total_h = np.bincount(node, h, minlength=n_nodes)
        mean = safe_divide(np.bincount(node, g, minlength=n_nodes), total_h)
        error = safe_divide(g, h) - mean[node]
        return safe_divide(np.bincount(node, h * error * error, minlength=n_nodes), total_h)

    def spread(self, of_node: NDArray) -> NDArray:
        """For each row what its node has."""
        spread = np.empty(len(self.pair), dtype=of_node.dtype)
        for places in (self.places, self.others):
            spread[places.row] = np.repeat(of_node, places.n_rows)
        return spread


def score_bins(
    sums: GradientSums, whole: GradientSums, missing: Ints, units: GradientUnits, reg_lambda: float, least: float
) -> tuple[Floats, Ints, Ints]:
    r"""The best cut of each node on each column of numbers: that of the largest

    .. math:: \frac{G_L^2}{H_L + \lambda} + \frac{G_R^2}{H_R + \lambda}

    Both sides need an H of ``least``, above 0. The rows where the column is missing are tried on both sides; the last
    cut is that of all known rows against them. Of equal cuts the first wins, with the missing rows on its right.

    Parameters
    ----------
    sums : array of shape (n_nodes, n_columns, n_bins)
        Histograms.
    whole : array of shape (n_nodes,)
        The sums of the nodes.
    missing : array of shape (n_columns,)
        The bin of missing values of each column, the last that is not empty.

    Returns
    -------
    worth : array of shape (n_nodes, n_columns)
        The number above; -inf where there is no cut.
    last : array of shape (n_nodes, n_columns)
        The last bin below the cut.
    branch : array of shape (n_nodes, n_columns)
        Branch of the missing rows; MAJORITY where there are none to learn from.
    """
    whole = whole[:, np.newaxis, np.newaxis]
    lost = np.take_along_axis(sums, missing[np.newaxis, :, np.newaxis], axis=2)
    below = sums.cumsum(axis=2)
    worth = to_right = objective_of_cuts(below, whole, units, reg_lambda, least)
    if lost.any():
        # A cut needs known rows on either side; only the last one has all of them below it.
        is_between = (below.imag > 0) & (below.imag < (whole - lost).imag)
        to_left = np.where(is_between, objective_of_cuts(below + lost, whole, units, reg_lambda, least), -np.inf)
        np.put_along_axis(is_between, missing[np.newaxis, :, np.newaxis] - 1, True, axis=2)
        to_right = np.where(is_between, to_right, -np.inf)
        worth = np.maximum(to_left, to_right)
    # The first cut of the largest worth; differences that are small beside what it saves, or by rounding, don't count.
    largest = worth.max(axis=2, keepdims=True)
    uncut = (whole.real * units.first) ** 2 / np.maximum(whole.imag * units.second + reg_lambda, units.second)
    enough = largest - TIE * np.maximum(largest - uncut, 0) - ROUNDING * np.maximum(largest, 0)
    last = np.argmax(worth >= enough, axis=2)
    to_right = np.take_along_axis(to_right, last[:, :, np.newaxis], axis=2)
    branch = np.where(lost.imag == 0, MAJORITY, np.where(to_right < enough, 0, 1))
    return largest[:, :, 0], last, branch[:, :, 0]


def objective_of_cuts(
    left: GradientSums, whole: GradientSums, units: GradientUnits, reg_lambda: float, least: float
) -> Floats:
    """Both sides' G^2 / (H + lambda), added; -inf where a side holds less than ``least``."""
    g, h = left.real * units.first, left.imag * units.second
    whole_g, whole_h = whole.real * units.first, whole.imag * units.second
    unfit = (h < least) | (h > whole_h - least)
    right = whole_g - g
    # In place, step by step: new arrays would cost more than the arithmetic.
    right *= right
    g *= g
    with np.errstate(divide="ignore", invalid="ignore"):
        g /= h + reg_lambda
        right /= np.subtract(whole_h + reg_lambda, h, out=h)
    g += right
    np.copyto(g, -np.inf, where=unfit)
    return g


class HistogramLevel(NamedTuple):
    """What the rows of the open nodes of a level add up to; of the rows themselves it holds nothing.

    Attributes
    ----------
    id, place : arrays of shape (n_nodes,)
        Numbers of the nodes in the tree, and where they stand among the nodes of :class:`RowPartition`.
    n_samples : array of shape (n_nodes,)
        Numbers of rows.
    whole : array of shape (n_nodes,)
        G + iH, in units.
    histogram : array of shape (n_nodes, n_cells) or None
        The same, bin by bin; None on the last level, whose nodes are leaves.
    sums : array of shape (2, n_nodes)
        The same as ``whole``, as the criterion has them.
    impurity : array of shape (n_nodes,)
        Impurity of the nodes.
    """

    id: Ints
    place: Ints
    n_samples: Ints
    whole: GradientSums
    histogram: GradientSums | None
    sums: Floats
    impurity: Floats

    @property
    def n_nodes(self) -> int:
        """Number of open nodes."""
        return len(self.id)

    def keep_only(self, nodes: Ints) -> HistogramLevel:
        """The level without all other nodes."""
        if len(nodes) == self.n_nodes:
            return self
        assert self.histogram is not None
        return HistogramLevel(
            self.id[nodes],
            self.place[nodes],
            self.n_samples[nodes],
            self.whole[nodes],
            self.histogram[nodes],
            self.sums[:, nodes],
            self.impurity[nodes],
        )


class SumsOnlyCriterion(Criterion):
    """A criterion that is asked about levels without rows, which bring their impurity along."""

    def __init__(self, criterion: Criterion):
        self.weight, self.value = criterion.weight, criterion.value  # type: ignore[method-assign]
        self.measures_purity = not isinstance(criterion, Newton)

    def impurity(self, level: HistogramLevel) -> Floats:  # type: ignore[override]
        return level.impurity


def derivatives_of(criterion: Criterion) -> tuple[Floats, Floats]:
    """g and h of the rows of a criterion: to a histogram the squared error has the target as g, and h = 1."""
    g, h = criterion.per_row if isinstance(criterion, Newton) else criterion.per_row[::-1]
    return g, h


class HistogramGrower:
    """Grows a tree from histograms: the answers to the questions of :func:`treekit.growing.grow.grow_levels`.

    Parameters
    ----------
    bins : Bins
        The columns.
    rows : Rows, or what answers begin and move as it does
        The training rows.
    criterion : Newton or SquaredError
        What a split is to lower; of its rows nothing is asked.
    room : Room
        What H a child must hold.
    choose : function of (scores, scale of their rounding)
        Which column each node splits on.
    stop : Stop
        When a node becomes a leaf.
    """

    def __init__(
        self,
        bins: Bins,
        rows: Any,
        criterion: Criterion,
        limits: ChildLimits,
        choose: ChooseFeature,
        stop: StoppingRule,
    ):
        self.bins, self.rows, self.criterion, self.room, self.choose, self.stop = (
            bins,
            rows,
            criterion,
            limits,
            choose,
            stop,
        )
        self.is_newton = isinstance(criterion, Newton)
        self.reg_lambda = criterion.reg_lambda if isinstance(criterion, Newton) else 0.0
        self.node, self.depth = np.array([0]), 0

    def grow(self, units: GradientUnits, n_rows: Ints, histogram: GradientSums) -> Tree:
        """The tree, from what is known of its root; the nodes where the rows end are then in ``node``."""
        self.units = units
        whole = self.bins.of_column(histogram, self.node).sum(axis=1)
        root = self._level(self.node, self.node, n_rows, whole, histogram)
        return grow_levels(
            self.bins.features, SumsOnlyCriterion(self.criterion), root, self.find_splits, self.move, self.stop
        )

    def _level(
        self, id: Ints, place: Ints, n_samples: Ints, whole: GradientSums, histogram: GradientSums | None
    ) -> HistogramLevel:
        sums = self._sums(whole)
        if self.is_newton:
            impurity = self.criterion.cost(sums)
        else:
            impurity = self.rows.squared_error()[place] * (self.units.first / self.units.second) ** 2
        return HistogramLevel(id, place, n_samples, whole, histogram, sums, impurity)

    def _sums(self, pairs: GradientSums) -> Floats:
        """G and H apart, as the criterion has them."""
        g, h = pairs.real * self.units.first, pairs.imag * self.units.second
        return np.stack([g, h] if self.is_newton else [h, g])

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
        """Scores of the columns of numbers, and how far gains may lie apart in each node that count as equal."""
        assert level.histogram is not None
        sums, is_numeric = self.bins.numbers(level.histogram), self.bins.is_numeric
        least = max(float(self.room.weight), self.units.second)
        at_a_time = max(1, CELLS_AT_A_TIME // max(sums[0].size, 1))
        parts = [
            score_bins(sums[some], level.whole[some], self.bins.missing[is_numeric], self.units, self.reg_lambda, least)
            for some in (slice(first, first + at_a_time) for first in range(0, level.n_nodes, at_a_time))
        ]
        worth, last, branch = (np.concatenate(part).T for part in zip(*parts))

        # Newton's objective has a factor of one half that the squared error has not.
        worth = worth / 2 if self.is_newton else worth
        saving = worth + self.criterion.cost(level.sums)
        rounding = ROUNDING * np.maximum(worth.max(axis=0, initial=0), -self.criterion.cost(level.sums))
        saving[np.abs(saving) <= rounding] = 0.0
        tolerance = TIE * saving.max(axis=0, initial=0) + rounding

        threshold = np.take_along_axis(self.bins.upper_edge[is_numeric], last, axis=1)
        candidates = SplitCandidates(self.criterion.gain(saving, level.sums), threshold, missing=branch)
        return candidates, tolerance / self.criterion.divisor(level.sums)

    def _score_categories(self, level: HistogramLevel, j: int, scale: Floats) -> SplitCandidates:
        """The best groups of a column of categories."""
        assert level.histogram is not None
        first, n_values = self.bins.first_cell[j], self.bins.features[j].n_values
        counts = self._sums(level.histogram[:, first : first + n_values])
        has_rows = (self.criterion.weight(counts) > 0).astype(np.intp)
        candidates = best_groups(counts, has_rows, level.sums, self.criterion, scale, self.room)
        if self.is_newton:
            # What is no more than rounding is no gain.
            candidates.gain[candidates.gain <= -ROUNDING * self.criterion.cost(level.sums)] = -np.inf
        return candidates

    def move(self, level: HistogramLevel, split: ChosenSplits, next_id: int) -> NextLevel[HistogramLevel]:
        """The next level, from one trip to the rows; of two siblings only the lighter is added up."""
        level = level.keep_only(split.node)
        assert level.histogram is not None
        sums = self.bins.of_column(level.histogram, split.feature)
        goes_right, missing = self._directions(sums, split)
        right = (sums * goes_right).sum(axis=1)
        whole = np.stack([level.whole - right, right], axis=1).ravel()

        # Every node that splits makes room for two, left and right; the others keep their order.
        is_split = np.isin(np.arange(len(self.node)), level.place)
        column, bins_right = np.full(len(self.node), -1), np.zeros((len(self.node), goes_right.shape[1]), dtype=bool)
        column[is_split], bins_right[is_split] = split.feature, goes_right
        self.node = np.repeat(self.node, 1 + is_split)
        place = np.flatnonzero(np.repeat(is_split, 1 + is_split))
        self.node[place] = id = next_id + np.arange(len(place))

        left = np.arange(0, len(place), 2)
        lighter = left + (whole.imag[1::2] < whole.imag[::2])
        heavier = 2 * left + 1 - lighter
        self.depth += 1
        is_last = self.depth >= self.stop.max_depth
        n_rows, added = self.rows.move(column, bins_right, place[:0] if is_last else place[lighter])
        histogram = None
        if added is not None:
            histogram = np.empty((len(place), self.bins.n_cells), dtype=np.complex128)
            for one, other, above, sums in zip(lighter, heavier, level.histogram, added):
                histogram[one] = sums
                histogram[other] = above - sums
        parent = np.repeat(np.arange(level.n_nodes), 2)
        next_level = self._level(id, place, n_rows[place], whole, histogram)
        return NextLevel(next_level, parent, split._replace(missing=missing))

    def _directions(self, sums: GradientSums, split: ChosenSplits) -> tuple[NDArray[np.bool_], Ints]:
        """Which bins go right at some splits, and the branch of missing values: of two the heavier, if none is learned."""
        answer = self.bins.answers(split)
        left, right = ((sums.imag * (answer == branch)).sum(axis=1) for branch in (0, 1))
        rule = np.where(split.missing == MAJORITY, right > left, split.missing)
        return np.where(answer < 0, rule[:, np.newaxis], answer) == 1, rule
