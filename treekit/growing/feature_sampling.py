"""Random columns: each node draws a few columns and scores only those, as the trees of a random forest do.

Keeping every column in order on the way down would cost as much as scoring it, and most are not drawn. Instead the rows
of each node are sorted by the columns it has drawn. That is a sort of whole numbers, the ranks of the values in the
table, which are found once for all trees. A forest that draws 4 columns of 20 takes half of the time on 100,000 rows
(trick: columns drawn), and six tenths on 1,000 (trick: columns drawn, few rows).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from treekit.growing.candidates import ChildLimits, SplitCandidates, draw_order, merge_candidates
from treekit.growing.criteria import Criterion
from treekit.growing.level import Level
from treekit.growing.presorted import blocks, sort_columns
from treekit.growing.thresholds import score_cuts
from treekit.numeric import Floats, Integers, Ints, Numbers

__all__ = ["RankedColumns", "SampledFeatures"]


class RankedColumns:
    """A table of numbers, and the rank of every value in its column; for any number of trees.

    Parameters
    ----------
    values : array of shape (n_features, n_rows)
        The table.
    """

    def __init__(self, values: Numbers):
        self.values = values

    @cached_property
    def order(self) -> Integers:
        """The rows by each column, of shape (n_features, n_rows)."""
        return sort_columns(self.values, list(range(len(self.values))))

    @cached_property
    def rank(self) -> Integers:
        """Place of each row in the order of each column, of shape (n_features, n_rows)."""
        rank = np.empty_like(self.order)
        for place, order in zip(rank, self.order):
            place[order] = np.arange(len(order))
        return rank

    def by_value(self, level: Level, columns: Ints) -> tuple[Integers, Numbers]:
        """The entries of each node in the order of the node's own columns, and their values.

        Parameters
        ----------
        level : Level
        columns : array of shape (n_draws, n_nodes)
            The columns of each node.

        Returns
        -------
        order, x : arrays of shape (n_draws, n_alive)
        """
        n_rows = self.values.shape[1]
        first = np.repeat(columns * n_rows, level.n_samples, axis=1)
        rank = self.rank.ravel().take(first + level.rows())
        # Node and rank in one number: sorting it sorts by both.
        by_node = np.sort((level.node.astype(np.int64) << 32) | rank, axis=1)
        row = self.order.ravel().take(first + (by_node & 0xFFFFFFFF))
        x = self.values.ravel().take(first + row)
        return (row if level.rows_are_entries else row + (level.tree * n_rows)[level.node]), x


class SampledFeatures:
    """Scores the columns that each node draws.

    A column that can't split a node does not count: the node draws on until it has ``n_sampled`` that can. So the same
    columns compete as with :func:`treekit.growing.candidates.largest_gain_among_sampled`, but only they are scored.

    Parameters
    ----------
    ranked : RankedColumns
        The table, all numbers, none missing.
    n_sampled : int
        How many columns a node draws.
    rngs : list of Generator
        Draw them, one for each tree.
    criterion, limits
        What a cut is to lower, and what a side must hold.
    """

    def __init__(
        self,
        ranked: RankedColumns,
        n_sampled: int,
        rngs: list[np.random.Generator],
        criterion: Criterion,
        limits: ChildLimits,
    ):
        self.ranked, self.n_sampled, self.rngs, self.criterion, self.limits = ranked, n_sampled, rngs, criterion, limits

    def score(self, level: Level, impurity: Floats) -> SplitCandidates:
        """The best cuts of the columns drawn, first those of every node's first column. Takes O(entries x n_sampled x
        log entries)."""
        sampled, limits = draw_order(self.rngs, level.tree, len(self.ranked.values)), self.limits.of(level.tree)
        parts = self._score_columns(level, sampled[: self.n_sampled], impurity, limits)
        n_found = np.sum([np.isfinite(part.gain).sum(axis=0) for part in parts], axis=0)
        for columns in sampled[self.n_sampled :]:
            lacks = np.flatnonzero(n_found < self.n_sampled)
            if not len(lacks):
                break
            part = level.keep_only(lacks)
            (found,) = self._score_columns(part, columns[np.newaxis, lacks], impurity[lacks], limits.of(lacks))
            n_found[lacks] += np.isfinite(found.gain[0])
            gain, threshold = np.full((1, level.n_nodes), -np.inf), np.full((1, level.n_nodes), np.nan)
            gain[:, lacks], threshold[:, lacks] = found.gain, found.threshold
            parts.append(SplitCandidates(gain, threshold, feature=columns[np.newaxis]))
        return merge_candidates(parts)

    def _score_columns(
        self, level: Level, columns: Ints, impurity: Floats, limits: ChildLimits
    ) -> list[SplitCandidates]:
        """The best cuts of each node on some columns of its own, of shape (n_draws, n_nodes), block by block."""
        parts = []
        for block in blocks(len(columns), len(level.entry)):
            order, x = self.ranked.by_value(level, columns[block])
            candidates = score_cuts(level, x, order, self.criterion, impurity, limits)
            parts.append(replace(candidates, feature=columns[block]))
        return parts
