"""The rows of one level of a growing tree, and how they move on to the next.

A row on its way down is an entry (row, node, weight). A hard split moves an entry to one child. A row whose value is
missing may be shared out: it becomes several entries, one a child, each with a share of the weight. That is all the
difference.

An entry keeps its number as long as it lives. For each numeric column the level holds the entries in the order of
(node, value), so that one running sum scores all cuts of all nodes. They are sorted once, at the root: sending some
to the left and some to the right keeps the order on either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treekit.growing.fixed_point import to_units
from treekit.growing.presorted import INACTIVE, NO_ORDER, PresortedColumns, index_dtype, partition_by_branch
from treekit.numeric import repeat_with_index, safe_divide

__all__ = ["Level", "first_level", "descend"]


@dataclass(frozen=True, eq=False)
class Level:
    """The open nodes of one level and the entries in them.

    Attributes
    ----------
    row, weight : arrays of shape (n_entries,)
        Row and weight of every entry, alive or not.
    addend : integer array of shape (n_sums, n_entries)
        What every entry adds to the sums of its node, in units.
    unit : array of shape (n_sums, 1)
        Size of the units.
    id : array of shape (n_nodes,)
        Number of each open node in the tree.
    start : array of shape (n_nodes + 1,)
        Where in ``entry`` and in the orders the entries of each node begin.
    entry : array of shape (n_alive,)
        The living entries, node by node.
    total : array of shape (n_sums, n_nodes)
        What the entries of each node add up to, in units.
    sorted : Sorted
        For each numeric column the same entries, node by node and within a node by value.
    is_counted : bool
        Whether every living entry has weight 1, so that to weigh entries is to count them.
    has_whole_rows : bool
        Whether no row was shared out yet, so that entries have the numbers of their rows.
    """

    row: NDArray[np.integer]
    weight: NDArray[np.float64]
    addend: NDArray[np.integer]
    unit: NDArray[np.float64]
    id: NDArray[np.intp]
    start: NDArray[np.intp]
    entry: NDArray[np.integer]
    total: NDArray[np.int64]
    sorted: PresortedColumns
    has_unit_weights: bool
    has_whole_rows: bool = True

    @property
    def n_nodes(self) -> int:
        """Number of open nodes."""
        return len(self.id)

    @cached_property
    def n_samples(self) -> NDArray[np.intp]:
        """Number of entries in each node."""
        return self.start[1:] - self.start[:-1]

    @cached_property
    def node(self) -> NDArray[np.intp]:
        """Which node the places of ``entry`` and of the orders belong to, of shape (n_alive,)."""
        return np.repeat(np.arange(self.n_nodes), self.n_samples)

    @cached_property
    def cache(self) -> dict:
        """What a scorer works out once for all columns of the level."""
        return {}

    @cached_property
    def place(self) -> NDArray[np.intp]:
        """The places of ``entry`` and of the orders, of shape (n_alive,)."""
        return np.arange(len(self.entry))

    @cached_property
    def n_below(self) -> NDArray[np.intp]:
        """Number of entries of the node up to each place, this one among them, of shape (n_alive,)."""
        return self.place + 1 - np.repeat(self.start[:-1], self.n_samples)

    def running_sums(self, order: NDArray[np.integer], which: slice = slice(None)) -> NDArray[np.integer]:
        """What the entries of the node up to each place of some orders add up to, in units.

        Whole numbers make it exact, and ten times as fast as sums of floats.

        Parameters
        ----------
        order : array of shape (n_columns, n_alive)
            Orders of the entries of the level, whose nodes have one entry at least.
        which : slice
            Which of the sums.

        Returns
        -------
        array of shape (n_sums, n_columns, n_alive)
        """
        running = self.addend[which].take(order, axis=1)
        # Where a node begins, what the one before it adds is taken off: so one running sum does for all nodes.
        running[:, :, self.start[1:-1]] -= self.total[which, np.newaxis, :-1].astype(running.dtype)
        return np.cumsum(running, axis=-1, dtype=running.dtype)

    def values(self, column: NDArray, entries: NDArray[np.integer]) -> NDArray:
        """What some entries have in a column."""
        return column.take(self.rows(entries))

    def gather(self, values: NDArray, columns: NDArray[np.integer], entries: NDArray[np.integer]) -> NDArray:
        """What some entries have in some columns of a table of shape (n_features, n_rows); the two are broadcast."""
        if columns.size == 1:
            return values[columns.item()].take(self.rows(entries))
        # One index into the table laid out in a line is faster than two.
        return values.ravel().take(columns * values.shape[1] + self.rows(entries))

    def rows(self, entries: NDArray[np.integer]) -> NDArray[np.integer]:
        """The rows of some entries, which have the numbers of their rows until rows are shared out."""
        return entries if self.has_whole_rows else self.row.take(entries)

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """What the entries of each node add up to, of shape (n_sums, n_nodes)."""
        return self.total * self.unit

    def mean(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weighted mean in each node of a number that every place of ``entry`` has; 0 for a node without rows."""
        if self.has_unit_weights:
            return safe_divide(np.bincount(self.node, x, minlength=self.n_nodes), self.n_samples)
        weight = self.weight.take(self.entry)
        total = np.bincount(self.node, weight, minlength=self.n_nodes)
        return safe_divide(np.bincount(self.node, weight * x, minlength=self.n_nodes), total)

    def view(self, nodes: NDArray[np.intp]) -> Level:
        """Some of the nodes alone, in their old order; the orders stay those of all."""
        return self._part(nodes, self._is_in(nodes))

    def keep_only(self, nodes: NDArray[np.intp]) -> Level:
        """The level without all other nodes, whose entries are gone for good."""
        if len(nodes) == self.n_nodes:
            return self
        stays = self._is_in(nodes)
        self.sorted.send(self.entry.take(np.flatnonzero(~stays)), INACTIVE)
        return self._part(nodes, stays)

    def _is_in(self, nodes: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the places are those of some nodes."""
        is_one = np.zeros(self.n_nodes, dtype=bool)
        is_one[nodes] = True
        return is_one.take(self.node)

    def _part(self, nodes: NDArray[np.intp], stays: NDArray[np.bool_]) -> Level:
        return replace(
            self,
            id=self.id[nodes],
            start=segment_starts(self.n_samples[nodes]),
            entry=self.entry.take(np.flatnonzero(stays)),
            total=self.total[:, nodes],
        )


def first_level(
    per_row: NDArray,
    weight: NDArray[np.float64],
    columns: Sequence[int] = (),
    order: NDArray[np.integer] = NO_ORDER,
    shares: bool = False,
    n_branches: int = 2,
) -> Level:
    """All rows of positive weight in the root.

    Parameters
    ----------
    per_row : array of shape (n_sums, n_rows)
        What each row adds to the sums, for each unit of weight.
    weight : array of shape (n_rows,)
        Weight of the rows.
    columns : sequence of int
        The columns that are to be kept in order.
    order : array of shape (n_columns, n_rows)
        Their orders, from :func:`sort_columns`; the level makes them its own.
    shares : bool
        Whether rows may be shared out later, so that weights need room for fractions.
    n_branches : int
        Largest number of branches that a split may have.
    """
    addend, unit = to_units(per_row * weight, shares)
    entry = np.flatnonzero(weight > 0).astype(index_dtype(len(weight)))
    side = np.where(weight > 0, 0, INACTIVE).astype(np.min_scalar_type(-max(n_branches, 2)))
    return Level(
        row=np.arange(len(weight), dtype=entry.dtype),
        weight=weight,
        addend=addend,
        unit=unit,
        id=np.array([0]),
        start=np.array([0, len(entry)]),
        entry=entry,
        total=segment_sums(addend, entry, np.array([0, len(entry)])),
        sorted=PresortedColumns(list(columns), order, side),
        has_unit_weights=bool((weight[entry] == 1).all()),
    )


def segment_starts(n_samples: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where the entries of each node begin when they lie one node after the other, and where the last ends."""
    start = np.zeros(len(n_samples) + 1, dtype=np.intp)
    n_samples.cumsum(out=start[1:])
    return start


def segment_sums(addend: NDArray[np.integer], entry: NDArray[np.integer], start: NDArray[np.intp]) -> NDArray[np.int64]:
    """What the entries of each node add up to; a node may have none."""
    total = np.zeros((len(addend), len(start) - 1), dtype=np.int64)
    filled = np.flatnonzero(start[:-1] < start[1:])
    total[:, filled] = np.add.reduceat(addend.take(entry, axis=1), start[filled], axis=1, dtype=np.int64)
    return total


def descend(
    level: Level, branch: NDArray[np.intp], n_children: NDArray[np.intp], next_id: int
) -> tuple[Level, NDArray[np.intp]]:
    """The next level: every entry goes down its branch; one without a branch is shared out among the children.

    Parameters
    ----------
    level : Level
        Nodes that split, all of them.
    branch : array of shape (n_alive,)
        Branch of each entry in ``level.entry``; -1 to share it out.
    n_children : array of shape (n_nodes,)
        Number of branches of each node.
    next_id : int
        Number of the first child in the tree; the others follow, in the order of their parents' numbers.

    Returns
    -------
    Level
    parent : array of shape (n_nodes of the new level,)
        Place of each new node's parent in the old level.
    """
    by_id = np.argsort(level.id)
    n_branches = int(n_children.max())
    first_id = np.empty_like(n_children)
    first_id[by_id] = next_id + segment_starts(n_children[by_id])[:-1]
    level.sorted.send(level.entry, branch)
    if (branch < 0).any():
        level = _share_out(level, branch, n_children)
    side = level.sorted.side.take(level.entry)

    # All first children come first, then all second ones, each in the order of their parents: so two selections in the
    # old order move a binary tree's entries, and no sort is needed.
    number, parent = (np.arange(n_branches)[:, np.newaxis] < n_children).nonzero()
    cell = level.node * n_branches + side
    n_samples = np.bincount(cell, minlength=level.n_nodes * n_branches)[parent * n_branches + number]
    start = segment_starts(n_samples)
    entry = partition_by_branch(level.entry[np.newaxis], level.sorted.side, n_branches)[0]
    moved = replace(
        level,
        id=first_id[parent] + number,
        start=start,
        entry=entry,
        total=segment_sums(level.addend, entry, start),
    )
    return moved, parent


def _share_out(level: Level, branch: NDArray[np.intp], n_children: NDArray[np.intp]) -> Level:
    """Replace every entry without a branch by one entry for each branch that known rows take.

    A branch's share is its part of the weight of the known rows.
    """
    entry, node, weight = level.entry, level.node, level.weight[level.entry]
    first = np.cumsum(n_children) - n_children
    is_known = branch >= 0
    into_child = np.bincount((first[node] + branch)[is_known], weight[is_known], minlength=int(n_children.sum()))
    share = into_child / np.repeat(np.add.reduceat(into_child, first), n_children)

    # Every entry is copied as often as it has places to go; the dead ones stay, which keeps the numbering simple.
    is_lost, in_node = np.zeros(len(level.row), dtype=bool), np.zeros(len(level.row), dtype=np.intp)
    is_lost[entry[~is_known]], in_node[entry] = True, node
    n_copies = np.where(is_lost, n_children[in_node], 1)
    origin, copy = repeat_with_index(np.arange(len(level.row)), n_copies)
    is_copy, in_node = is_lost[origin], in_node[origin]
    part = np.ones(len(origin))
    part[is_copy] = share[first[in_node[is_copy]] + copy[is_copy]]
    number = np.cumsum(n_copies) - n_copies

    def follow(entries: NDArray[np.integer]) -> NDArray[np.integer]:
        old, copy = repeat_with_index(entries, n_copies[entries])
        new = number[old] + copy
        return new[part[new] > 0].astype(entries.dtype)

    living = follow(entry)
    n_samples = np.bincount(in_node[living], minlength=level.n_nodes)
    return replace(
        level,
        row=level.row[origin],
        weight=level.weight[origin] * part,
        addend=np.rint(level.addend[:, origin] * part).astype(np.int64),
        start=segment_starts(n_samples),
        entry=living,
        sorted=level.sorted.follow(follow, np.where(is_copy, copy, level.sorted.side[origin])),
        has_unit_weights=False,
        has_whole_rows=False,
    )
