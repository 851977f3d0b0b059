"""Trees from histograms: the loop of :func:`treekit.growing.grow.grow_levels` on sums alone, without rows."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from treekit.growing.binning import Bins
from treekit.growing.candidates import ChildLimits, SplitCandidates, merge_kinds
from treekit.growing.categories import best_groups
from treekit.growing.criteria import Newton
from treekit.growing.fixed_point import GradientSums, GradientUnits, hess
from treekit.growing.grow import ChooseFeature, ChosenSplits, NextLevel, StoppingRule, choose_splits, grow_levels
from treekit.growing.histogram import (
    ROUNDING_UNITS,
    ChildMinima,
    lighter_and_heavier,
    objective_of_rounding,
    score_bins,
    tie_tolerance,
    with_siblings,
)
from treekit.growing.monotone import Monotone, bounds_of_children, no_bounds
from treekit.growing.row_store import BinSplits, NodeRows, RowStore
from treekit.numeric import TIE, Bools, Floats, Ints
from treekit.trees.structure import MAJORITY
from treekit.trees.tree import Tree

__all__ = ["HistogramLevel", "HistogramGrower"]

#: Cells of histograms that are scored at a time, so that arrays stay in the processor's cache: trees of ten levels take
#: three quarters of the time (trick: cells in the cache), and scoring takes hardly any memory beside the histograms.
CELLS_AT_A_TIME = 2**16


class HistogramLevel(NamedTuple):
    """The open nodes of a level, as :class:`treekit.growing.level.Level` has them, but sums alone: no rows.

    Attributes
    ----------
    depth : int
        Number of splits above the nodes.
    id, tree, place : arrays of shape (n_nodes,)
        Numbers of the nodes, their trees, and their places on the level: see :class:`BinSplits`.
    n_samples : array of shape (n_nodes,)
        Numbers of rows.
    total : array of shape (n_nodes,)
        G + iH of all rows of the node, in units.
    histogram : array of shape (n_layers, n_nodes, n_cells)
        The same, bin by bin: see :class:`NodeRows`. On the last level, whose nodes are leaves, of no nodes.
    sums : array of shape (2, n_nodes)
        G and H of all rows, in floats.
    bounds : array of shape (2, n_nodes), optional
        The least and the largest value that may be predicted below each node, where columns are constrained.
    """

    depth: int
    id: Ints
    tree: Ints
    place: Ints
    n_samples: Ints
    total: GradientSums
    histogram: GradientSums
    sums: Floats
    bounds: Floats | None = None

    @property
    def n_nodes(self) -> int:
        """Number of open nodes."""
        return len(self.id)

    def keep_only(self, nodes: Ints) -> HistogramLevel:
        """The level without all other nodes."""
        if len(nodes) == self.n_nodes:
            return self
        return HistogramLevel(
            self.depth,
            self.id[nodes],
            self.tree[nodes],
            self.place[nodes],
            self.n_samples[nodes],
            self.total[nodes],
            self.histogram[:, nodes],
            self.sums[:, nodes],
            None if self.bounds is None else self.bounds[:, nodes],
        )


class HistogramGrower:
    """Grows trees side by side, each from a root of its own.

    Parameters
    ----------
    bins : Bins
        The columns.
    rows : RowStore
        The training rows, all in the roots.
    units : GradientUnits
        The units of their sums.
    criterion : Newton
        What a split is to lower.
    limits : ChildLimits
        The rows and the H that a child must hold.
    choose : function of (candidates, scale of their rounding, tree)
        Which column each node splits on.
    stop : StoppingRule
        When a node becomes a leaf.
    monotone : integer array of shape (n_features,), optional
        The sign of each column, as in :class:`treekit.growing.grow.SplitSearch`.
    """

    def __init__(
        self,
        bins: Bins,
        rows: RowStore,
        units: GradientUnits,
        criterion: Newton,
        limits: ChildLimits,
        choose: ChooseFeature,
        stop: StoppingRule,
        monotone: Ints | None = None,
    ):
        self.bins, self.rows, self.units, self.criterion, self.limits = bins, rows, units, criterion, limits
        self.choose, self.stop, self.monotone = choose, stop, monotone

    def grow(self, roots: NodeRows) -> tuple[Tree, Floats]:
        """The trees, and what each of their nodes predicts, in the order in which ``rows`` numbers the nodes."""
        root = np.arange(len(roots.n_rows))
        total = self.bins.of_column(roots.sums[0], np.zeros_like(root)).sum(axis=1)
        bounds = None if self.monotone is None else no_bounds(len(root))
        first = self._level(0, root, root, roots.n_rows, total, roots.sums)._replace(bounds=bounds)
        ids = [root]

        def move(level: HistogramLevel, splits: ChosenSplits, next_id: int) -> NextLevel[HistogramLevel]:
            below = self.next_level(level, splits, next_id)
            ids.append(below.level.id)
            return below

        trees = grow_levels(self.bins.features, self.criterion, first, self.find_splits, move, self.stop)
        return trees, trees.value[np.concatenate(ids), 0]

    def _level(
        self, depth: int, id: Ints, tree: Ints, n_samples: Ints, total: GradientSums, histogram: GradientSums
    ) -> HistogramLevel:
        sums = np.stack(self.units.to_floats(total))
        return HistogramLevel(depth, id, tree, np.arange(len(id)), n_samples, total, histogram, sums)

    # -- which split is best?

    def find_splits(self, level: HistogramLevel, impurity: Floats, least: Floats) -> ChosenSplits:
        """The best split of each node, unless it gains less than ``least``."""
        numbers, branch, tolerance = self._score_numbers(level)
        scale = tolerance / TIE
        features = self.bins.features
        groups = [self._score_categories(level, j, scale) for j, column in enumerate(features) if not column.is_numeric]
        candidates = merge_kinds(numbers, groups, features)
        splits = choose_splits(candidates, self.choose(candidates, scale, level.tree), least, MAJORITY)
        missing = np.full(candidates.gain.shape, MAJORITY)
        missing[self.bins.is_numeric] = branch
        return splits._replace(missing=missing[splits.feature, splits.node])

    def _score_numbers(self, level: HistogramLevel) -> tuple[SplitCandidates, Ints, Floats]:
        """The best cuts on the columns of numbers, the branches of their missing values, and how far gains may differ
        in each node and yet count as equal.
        """
        objective, last, branch = self._best_cuts(level)
        objective = objective / 2  # the one half of Newton's gain
        cost = self.criterion.impurity(level)
        saving, largest = objective + cost, np.maximum(objective.max(axis=0, initial=0), -cost)
        smallest = self._objective_of_rounding(level)
        saving[np.abs(saving) <= tie_tolerance(0, largest, smallest)] = 0.0
        tolerance = tie_tolerance(saving.max(axis=0, initial=0), largest, smallest)

        threshold = np.take_along_axis(self.bins.upper_edge[self.bins.is_numeric], last, axis=1)
        return SplitCandidates(self.criterion.gain(saving, level.sums), threshold), branch, tolerance

    def _objective_of_rounding(self, level: HistogramLevel) -> Floats:
        return objective_of_rounding(level.sums[1], self.units, self.criterion.reg_lambda)

    def _best_cuts(self, level: HistogramLevel) -> tuple[Floats, Ints, Ints]:
        """:func:`score_bins` for all nodes, a few at a time, with arrays of shape (n_columns, n_nodes)."""
        n_layers = len(level.histogram)
        least = max(float(np.max(self.limits.weight)), self.units.hess)  # no side may be empty
        if n_layers == 1 and self.limits.rows > 1:
            least = max(least, self.limits.rows)  # H counts the rows
        minima = ChildMinima(least, self.limits.rows)
        total = np.stack([level.total, level.n_samples])[:n_layers]
        missing = self.bins.missing[self.bins.is_numeric]
        n_nodes = max(1, CELLS_AT_A_TIME // self.bins.n_cells)
        monotone = None
        if self.monotone is not None and level.bounds is not None:
            monotone = Monotone(self.monotone, level.bounds).of_columns(np.flatnonzero(self.bins.is_numeric))
        parts = []
        for first in range(0, level.n_nodes, n_nodes):
            some = slice(first, first + n_nodes)
            numbers = self.bins.numbers(level.histogram[:, some])
            order = monotone and monotone.of(np.arange(level.n_nodes)[some])
            parts.append(
                score_bins(numbers, total[:, some], missing, self.units, self.criterion.reg_lambda, minima, order)
            )
        objective, last, branch = (np.concatenate(part).T for part in zip(*parts))
        return objective, last, branch

    def _score_categories(self, level: HistogramLevel, j: int, scale: Floats) -> SplitCandidates:
        """The best groups of a column of categories."""
        first, n_values = self.bins.first_cell[j], self.bins.features[j].n_values
        of_categories = level.histogram[:, :, first : first + n_values]
        sums = np.stack(self.units.to_floats(of_categories[0]))
        # Where rows were not counted, either H counts them, or all that matters is whether there are any.
        n_rows = of_categories[1].real if len(of_categories) > 1 else sums[1] if self.limits.rows > 1 else sums[1] > 0
        n_rows = np.rint(n_rows).astype(np.intp)
        candidates = best_groups(sums, n_rows, level.sums, self.criterion, scale, self.limits)
        rounding = tie_tolerance(0, -self.criterion.cost(level.sums), self._objective_of_rounding(level))
        return replace(candidates, gain=np.where(candidates.gain > rounding, candidates.gain, -np.inf))

    # -- every row takes its branch

    def next_level(self, level: HistogramLevel, splits: ChosenSplits, next_id: int) -> NextLevel[HistogramLevel]:
        """The next level, its nodes numbered from ``next_id`` on; takes one call of ``rows``, which may be far away."""
        level = level.keep_only(splits.node)
        resolved, goes_right, total = self._resolve_directions(level, splits)
        lighter, heavier = lighter_and_heavier(total)
        is_last = level.depth + 1 >= self.stop.max_depth
        n_rows, added = self.rows.next_level(
            BinSplits(level.place, splits.feature, goes_right), lighter[:0] if is_last else lighter
        )
        histogram = added if is_last else with_siblings(level.histogram, added, lighter, heavier)
        # In the tree siblings have numbers one after the other, in the order of their parents' numbers.
        left = np.empty_like(level.id)
        left[np.argsort(level.id)] = next_id + 2 * np.arange(level.n_nodes)
        id, parent = np.concatenate([left, left + 1]), np.tile(np.arange(level.n_nodes), 2)
        below = self._level(level.depth + 1, id, level.tree[parent], n_rows, total, histogram)
        if self.monotone is not None and level.bounds is not None:
            (step,) = self.criterion.order_keys(below.sums)
            sign, n = self.monotone[splits.feature], level.n_nodes
            # A cut of known rows against missing ones: whichever are lower stay lower, as in XGBoost.
            found = np.sign(step[n:] - step[:n]).astype(np.intp)
            sign = np.where((sign != 0) & np.isinf(splits.threshold), found, sign)
            bounds = bounds_of_children(level.bounds, sign, step)
            below = below._replace(bounds=bounds)
        return NextLevel(below, parent, resolved)

    def _resolve_directions(
        self, level: HistogramLevel, splits: ChosenSplits
    ) -> tuple[ChosenSplits, Bools, GradientSums]:
        """The splits with a branch for missing values in each; which bins go right; the sums of all children.

        Where no branch was learned, missing values take the heavier one.
        """
        sums, branch = self.bins.of_column(level.histogram[0], splits.feature), self.bins.branch_of_bins(splits)
        left, right = ((hess(sums) * (branch == side)).sum(axis=1) for side in (0, 1))
        # Weights count as equal if they differ by no more than the rounding of their rows to units.
        missing = np.where(splits.missing == MAJORITY, right > left + ROUNDING_UNITS, splits.missing)
        goes_right = np.where(branch < 0, missing[:, np.newaxis], branch) == 1
        of_right = (sums * goes_right).sum(axis=1)
        return splits._replace(missing=missing), goes_right, np.concatenate([level.total - of_right, of_right])
