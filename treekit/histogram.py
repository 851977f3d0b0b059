"""Splits by histograms: the values of a column are put into bins once, and only the edges of bins are tried as cuts.

What a node's rows add up to, bin by bin, is its histogram. A level costs one addition for each row and column, however
many cuts there are. Two more savings: of two siblings only the smaller is added up, the other is what is left of their
parent; and histograms of blocks of rows add up, so that the blocks may lie on different machines. The sums are whole
numbers of units, so they are exact: neither saving changes a digit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treekit.criteria import Criterion
from treekit.level import Level
from treekit.splits import TIE, Room, Scores, midpoint
from treekit.tree import MAJORITY

__all__ = ["bin_edges", "bin_codes", "histograms", "score_bins", "HistogramScorer"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def bin_edges(column: NDArray, max_bins: int) -> Floats:
    """Where to cut a column of numbers into bins, of shape (n_bins - 1,), in increasing order.

    The edges are midpoints between neighbouring distinct values. With up to ``max_bins`` distinct values all midpoints
    are edges, so that a histogram can choose whatever an exact search could. With more, those edges are kept that leave
    equally many distinct values in every bin, up to one. Missing values take a bin of their own, one of ``max_bins``.
    Takes O(rows log rows).
    """
    is_missing = np.isnan(column)
    value = np.unique(column[~is_missing])
    n_bins = min(len(value), max_bins - bool(is_missing.any()))
    last_below = np.arange(1, n_bins) * len(value) // max(n_bins, 1) - 1
    return midpoint(value[last_below], value[last_below + 1])


def bin_codes(column: NDArray, edges: Floats) -> NDArray[np.unsignedinteger]:
    """Bin of each value, the one that ends at the first edge not below it; a missing value is one bin further than all."""
    code = np.searchsorted(edges, column, side="left")
    code[np.isnan(column)] = len(edges) + 1
    return code.astype(np.uint8 if code.max(initial=0) < 256 else np.uint16)


def histograms(
    codes: NDArray[np.unsignedinteger], row: Ints, node: Ints, addend: NDArray[np.integer], n_nodes: int, n_bins: int
) -> NDArray[np.int64]:
    """What some rows add up to in each bin of each column, node by node. The histograms of several blocks add up.

    Parameters
    ----------
    codes : array of shape (n_columns, n_rows)
        The bins, from :func:`bin_codes`.
    row, node : arrays of shape (n_entries,)
        The rows to add up, and the node of each.
    addend : array of shape (n_sums, n_entries)
        What each adds.
    n_nodes, n_bins : int
        Number of nodes, and of bins of the column that has most.

    Returns
    -------
    array of shape (n_columns, n_sums, n_nodes, n_bins)
    """
    sums = np.zeros((len(codes), len(addend), n_nodes * n_bins), dtype=np.int64)
    first_bin = node * n_bins
    for column_sums, code in zip(sums, codes):
        cell = first_bin + code[row]
        for total, added in zip(column_sums, addend):
            np.add.at(total, cell, added)
    return sums.reshape(len(codes), len(addend), n_nodes, n_bins)


def score_bins(
    level: Level, sums: NDArray[np.int64], edges: Floats, criterion: Criterion, impurity: Floats, room: Room = Room()
) -> Scores:
    """The best cut of each node on a column in bins.

    A cut needs known rows of positive weight on either side. The rows where the column is missing are tried on both;
    the last cut is that of all known rows against them. Of equal gains the first cut wins, with the missing rows on its
    right.

    Parameters
    ----------
    level : Level
        The open nodes.
    sums : array of shape (n_sums, n_nodes, n_bins)
        Their histograms in units; the bin after the known ones is that of missing values.
    edges : array of shape (n_known_bins - 1,)
        The edges of the bins.
    """
    whole, unit = level.sums[:, :, np.newaxis], level.unit[:, np.newaxis]
    below = sums[:, :, : len(edges) + 1].cumsum(axis=2) * unit
    lost = sums[:, :, len(edges) + 1, np.newaxis] * unit
    n_below, n_lost = criterion.weight(below), criterion.weight(lost)
    is_cut = (n_below > 0) & (n_below < n_below[:, -1:])
    is_cut[:, -1:] = (n_below[:, -1:] > 0) & (n_lost > 0)
    gain = to_right = _gain_with_room(criterion, below, whole, is_cut, room)
    if n_lost.any():
        is_cut[:, -1] = False
        gain = np.maximum(_gain_with_room(criterion, below + lost, whole, is_cut, room), to_right)
    # The first cut of the largest gain; differences by rounding don't count.
    best = np.argmax(gain >= gain.max(axis=1, keepdims=True) - TIE * impurity[:, np.newaxis], axis=1)
    node = np.arange(len(best))
    gain, to_right = gain[node, best], to_right[node, best]
    return Scores(
        gain,
        threshold=np.append(edges, np.inf)[best],
        missing=np.where(n_lost[:, 0] == 0, MAJORITY, np.where(gain > to_right + TIE * impurity, 0, 1)),
    )


def _gain_with_room(criterion: Criterion, left: Floats, whole: Floats, is_cut: NDArray[np.bool_], room: Room) -> Floats:
    """Gain of each cut; -inf where there is none, or a side has too little weight."""
    fits = is_cut & (np.minimum(criterion.weight(left), criterion.weight(whole - left)) >= room.weight)
    return np.where(fits, criterion.gain(criterion.saving(left, whole), whole), -np.inf)


class HistogramScorer:
    """Scores the columns of numbers of a growing tree by histograms, and keeps those of the level above.

    Parameters
    ----------
    edges : list of arrays
        The edges of the bins of each column, from :func:`bin_edges`.
    codes : array of shape (n_columns, n_rows)
        The bins, from :func:`bin_codes`.
    criterion : Criterion
        What a split is to lower.
    room : Room
        What weight a child must hold.
    """

    def __init__(self, edges: list[Floats], codes: NDArray[np.unsignedinteger], criterion: Criterion, room: Room):
        self.edges, self.codes, self.criterion, self.room = edges, codes, criterion, room
        self.n_bins = max((len(e) for e in edges), default=0) + 2
        self.level: Level | None = None

    def score(self, level: Level, column: int, impurity: Floats) -> Scores:
        """The best cut of each open node on a column."""
        if level is not self.level:
            self.sums = self._add_up(level)
            self.level = level
        return score_bins(level, self.sums[column], self.edges[column], self.criterion, impurity, self.room)

    def _add_up(self, level: Level) -> NDArray[np.int64]:
        """Histograms of all open nodes: the larger of two siblings is its parent without the smaller."""
        smaller, larger = siblings(level)
        is_added = np.ones(level.n_nodes, dtype=bool)
        is_added[larger] = False
        place = np.flatnonzero(is_added[level.node])
        entry, slot = level.entry[place], (np.cumsum(is_added) - 1)[level.node[place]]
        added = histograms(
            self.codes, level.row[entry], slot, level.addend.take(entry, axis=1), int(is_added.sum()), self.n_bins
        )
        if len(larger) == 0:
            return added
        assert self.level is not None
        by_id = np.argsort(self.level.id)
        above = by_id[np.searchsorted(self.level.id, level.parent[larger], sorter=by_id)]
        sums = np.empty((*added.shape[:2], level.n_nodes, self.n_bins), dtype=np.int64)
        sums[:, :, is_added] = added
        sums[:, :, larger] = self.sums[:, :, above] - sums[:, :, smaller]
        return sums


def siblings(level: Level) -> tuple[Ints, Ints]:
    """The pairs of open nodes with the same parent: the one with fewer rows, the one with more."""
    by_parent = np.argsort(level.parent, kind="stable")
    first = np.flatnonzero(np.diff(level.parent[by_parent]) == 0)
    one, other = by_parent[first], by_parent[first + 1]
    swap = level.n_samples[one] > level.n_samples[other]
    return np.where(swap, other, one), np.where(swap, one, other)
