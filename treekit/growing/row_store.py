"""The rows of growing trees in bins: they go down level by level, and are added up into histograms.

Several trees may grow side by side, each from a root of its own: every row is then in a node of each tree.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from treekit.growing.binning import BinnedRows
from treekit.growing.fixed_point import GradientSums
from treekit.growing.histogram import histograms
from treekit.numeric import Bools, Floats, Ints

__all__ = ["BinSplits", "NodeRows", "RowStore", "LocalRows"]


class BinSplits(NamedTuple):
    """The splits of a level. The nodes that it leaves out are leaves.

    Attributes
    ----------
    node : array of shape (n_splits,)
        Places of the nodes that split, in ascending order: the roots in the order of the trees; then on each level all
        left children, in the order of their parents, and all right ones.
    column : array of shape (n_splits,)
        The column that each tests.
    goes_right : array of shape (n_splits, n_bins)
        Which bins of that column go right.
    """

    node: Ints
    column: Ints
    goes_right: Bools


class NodeRows(NamedTuple):
    """What is known of the rows of a level.

    Attributes
    ----------
    n_rows : array of shape (n_nodes,)
        The number of rows in each node.
    sums : array of shape (n_layers, n_wanted, n_cells)
        The histograms of the nodes that are wanted: G + iH, in units; and in a second layer the number of rows, if it
        is needed and does not follow from H.
    """

    n_rows: Ints
    sums: GradientSums


class RowStore(Protocol):
    """The training rows of trees that are grown from histograms, wherever they lie."""

    def next_level(self, splits: BinSplits, wanted: Ints) -> NodeRows:
        """Send all rows down one level, and return the histograms of some of the new nodes."""


class LocalRows:
    """A :class:`RowStore` for rows on this machine; it serves one round of trees after the other."""

    def __init__(self, binned: BinnedRows):
        self.binned, self.n_rows = binned, len(binned.codes[0])

    def to_roots(self, n_trees: int, row: Ints) -> None:
        """Put the rows to learn from into the roots of some trees."""
        self.row, self.tree = [row] * n_trees, np.arange(n_trees)
        self.ended: list[tuple[int, int, Ints]] = []  # leaves: number, tree and rows
        self.first = 0  # how many nodes the levels above have

    def learn(self, addend: GradientSums, has_counts: bool) -> None:
        """What each row adds to the sums of each tree, of shape (n_trees, n_rows), and whether to count rows, too.

        Counting nearly doubles the time that adding up takes.
        """
        self.addend, self.has_counts = addend.ravel(), has_counts

    def next_level(self, splits: BinSplits, wanted: Ints) -> NodeRows:
        self.split(splits)
        return self.add_up(wanted)

    def split(self, splits: BinSplits) -> None:
        """Send all rows down one level."""
        is_leaf = np.ones(len(self.row), dtype=bool)
        is_leaf[splits.node] = False
        self._end(is_leaf.nonzero()[0])
        self.first += len(self.row)
        left, right = [], []
        for node, j, right_bins in zip(*splits):
            row = self.row[node]
            sides = two_sides(row, right_bins.take(self.binned.codes[j].take(row)))
            left.append(sides[0])
            right.append(sides[1])
        self.row, self.tree = left + right, np.tile(self.tree[splits.node], 2)

    def add_up(self, wanted: Ints) -> NodeRows:
        """The number of rows in each node, and the histograms of some nodes."""
        n_rows = np.array([len(row) for row in self.row])
        row = np.concatenate([self.row[node] for node in wanted] or [np.zeros(0, dtype=np.intp)])
        added = self.addend.take(row + np.repeat(self.tree[wanted] * self.n_rows, n_rows[wanted]))
        sums = histograms(self.binned, added, row, n_rows[wanted])[np.newaxis]
        if self.has_counts:
            counts = histograms(self.binned, np.ones_like(added), row, n_rows[wanted])
            sums = np.concatenate([sums, counts[np.newaxis]])
        return NodeRows(n_rows, sums)

    def _end(self, nodes: Ints) -> None:
        self.ended += [(self.first + node, self.tree[node], self.row[node]) for node in nodes]

    def per_row(self, n_trees: int, per_node: Floats) -> Floats:
        """For each tree and row the entry of the row's leaf, of shape (n_trees, n_rows); 0 for a row that the
        trees did not learn from. The nodes are numbered level by level, as :class:`BinSplits` has them."""
        self._end(np.arange(len(self.row)))
        at_rows = np.zeros((n_trees, self.n_rows))
        for node, tree, row in self.ended:
            at_rows[tree, row] = per_node[node]
        return at_rows


def two_sides(row: Ints, goes_right: Bools) -> tuple[Ints, Ints]:
    """The rows of a node that go left, and those that go right."""
    # Boosting would take a fifth longer if the mask itself were the index (trick: rows of a side).
    return row.take((~goes_right).nonzero()[0]), row.take(goes_right.nonzero()[0])
