"""The rows of one level of a growing tree, and how they move on to the next.

A row on its way down is an entry (row, node, weight). A hard split moves an entry to one child. A row whose value is
missing may be shared out: it becomes several entries, one a child, each with a share of the weight. That is all the
difference.

An entry keeps its number as long as it lives. For each numeric column the level holds the entries in the order of
(node, value), so that one running sum scores all cuts of all nodes. They are sorted once, at the root: sending some
to the left and some to the right keeps the order on either side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treekit.measures import quotient

__all__ = ["Level", "GONE", "copies", "sort_columns", "row_type", "first_level", "descend"]

#: The side of an entry that is in no open node any more.
GONE = -1


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
    parent : array of shape (n_nodes,)
        Number of its parent; -1 for the root.
    start : array of shape (n_nodes + 1,)
        Where in ``entry`` and ``order`` the entries of each node begin.
    entry : array of shape (n_alive,)
        The living entries, node by node.
    order : dict of arrays of shape (n_alive,)
        For each numeric column the same entries, node by node and within a node by value, missing values last; but
        see :meth:`in_order`.
    side : integer array of shape (n_entries,)
        Branch by which each entry came down since ``order`` was last brought up to date; GONE if it lives no more.
    is_counted : bool
        Whether every living entry has weight 1, so that to weigh entries is to count them.
    """

    row: NDArray[np.intp]
    weight: NDArray[np.float64]
    addend: NDArray[np.integer]
    unit: NDArray[np.float64]
    id: NDArray[np.intp]
    parent: NDArray[np.intp]
    start: NDArray[np.intp]
    entry: NDArray[np.integer]
    order: dict[int, NDArray[np.integer]]
    side: NDArray[np.integer]
    is_counted: bool

    @property
    def n_nodes(self) -> int:
        """Number of open nodes."""
        return len(self.id)

    @property
    def n_samples(self) -> NDArray[np.intp]:
        """Number of entries in each node."""
        return np.diff(self.start)

    @cached_property
    def node(self) -> NDArray[np.intp]:
        """Which node the places of ``entry`` and ``order`` belong to, of shape (n_alive,)."""
        return np.repeat(np.arange(self.n_nodes), self.n_samples)

    @cached_property
    def once(self) -> dict:
        """What a scorer works out once for all columns of the level."""
        return {}

    @cached_property
    def place(self) -> NDArray[np.intp]:
        """The places of ``entry`` and ``order``, of shape (n_alive,)."""
        return np.arange(len(self.entry))

    @cached_property
    def n_below(self) -> NDArray[np.intp]:
        """Number of entries of the node up to each place, this one among them, of shape (n_alive,)."""
        return self.place + 1 - np.repeat(self.start[:-1], self.n_samples)

    @cached_property
    def _sums_before(self) -> NDArray[np.int64]:
        """What all entries of the nodes before a place's own add up to, in units, of shape (n_sums, n_alive)."""
        before = np.cumsum(self._totals, axis=1) - self._totals
        return np.repeat(before.astype(self.addend.dtype), self.n_samples, axis=1)

    def sums_below(self, order: NDArray[np.integer], which: slice = slice(None)) -> NDArray[np.int64]:
        """What the entries of the node up to each place of an order add up to, in units, of shape (n_sums, n_alive).

        The nodes lie one after the other, so one running sum does for all of them. Whole numbers make it exact, and
        ten times as fast as one of floats.
        """
        running = self.addend[which].take(order, axis=1)
        running = np.cumsum(running, axis=1, dtype=running.dtype)
        running -= self._sums_before[which]
        return running

    def values(self, column: NDArray, entries: NDArray[np.integer]) -> NDArray:
        """What some entries have in a column."""
        # Entries have the numbers of their rows until rows are shared out.
        return column.take(entries if len(self.row) == len(column) else self.row.take(entries))

    @cached_property
    def _totals(self) -> NDArray[np.int64]:
        """What the entries of each node add up to, in units, of shape (n_sums, n_nodes)."""
        running = np.zeros((len(self.addend), len(self.entry) + 1), dtype=np.int64)
        np.cumsum(self.addend.take(self.entry, axis=1), axis=1, out=running[:, 1:])
        return np.diff(running[:, self.start], axis=1)

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """What the entries of each node add up to, of shape (n_sums, n_nodes)."""
        return self._totals * self.unit

    def mean(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weighted mean in each node of a number that every place of ``entry`` has; 0 for a node without rows."""
        weight = self.weight[self.entry]
        total = np.bincount(self.node, weight, minlength=self.n_nodes)
        sums = np.bincount(self.node, weight * x, minlength=self.n_nodes)
        return quotient(sums, total)

    def only(self, chosen: NDArray[np.bool_]) -> Level:
        """The level without the nodes that are not chosen."""
        if chosen.all():
            return self
        stays = np.repeat(chosen, self.n_samples)
        side = self.side.copy()
        side[self.entry.take(np.flatnonzero(~stays))] = GONE
        return replace(
            self,
            id=self.id[chosen],
            parent=self.parent[chosen],
            start=np.concatenate([[0], np.cumsum(self.n_samples[chosen])]),
            entry=self.entry.take(np.flatnonzero(stays)),
            side=side,
        )

    def in_order(self) -> Level:
        """The level with its orders brought up to date: what went down and what is gone is moved in one pass.

        It is done in place, for two sets of orders would be the largest thing in memory; older levels lose theirs.
        """
        if not self.side.any():
            return self
        n_branches = int(self.side.max()) + 1
        for j, order in self.order.items():
            self.order[j] = by_branch(order, self.side.take(order), n_branches)
        return replace(self, side=np.minimum(self.side, 0))


def sort_columns(values: NDArray, columns: list[int]) -> dict[int, NDArray[np.integer]]:
    """The rows of a table in the order of each of some columns, missing values last. Takes O(rows log rows) for each.

    Equal values may come in any order: no cut lies between them, and the sums of whole numbers do not depend on it.
    """
    return {j: np.argsort(values[j]).astype(row_type(values.shape[1])) for j in columns}


def row_type(n_rows: int) -> type[np.integer]:
    """Whole numbers of four bytes where they can count the rows: half the memory."""
    return np.int32 if n_rows < 2**31 else np.int64


def first_level(
    order: dict[int, NDArray[np.integer]], per_row: NDArray[np.float64], weight: NDArray[np.float64], shares: bool
) -> Level:
    """All rows of positive weight in the root.

    Parameters
    ----------
    order : dict of arrays of shape (n_rows,)
        The order of the rows by each column that is to be kept in order, from :func:`sort_columns`.
    per_row : array of shape (n_sums, n_rows)
        What each row adds to the sums, for each unit of weight.
    weight : array of shape (n_rows,)
        Weight of the rows.
    shares : bool
        Whether rows may be shared out later, so that weights need room for fractions.
    """
    addend, unit = in_units(per_row * weight, shares)
    entry = np.flatnonzero(weight > 0).astype(row_type(len(weight)))
    if len(entry) < len(weight):
        order = {j: rows.take(np.flatnonzero(weight.take(rows) > 0)) for j, rows in order.items()}
    return Level(
        row=np.arange(len(weight)),
        weight=weight,
        addend=addend,
        unit=unit,
        id=np.array([0]),
        parent=np.array([-1]),
        start=np.array([0, len(entry)]),
        entry=entry,
        order=dict(order),
        side=np.where(weight > 0, 0, GONE).astype(np.int16),
        is_counted=bool((weight[entry] == 1).all()),
    )


def in_units(x: NDArray[np.float64], fractions: bool) -> tuple[NDArray[np.integer], NDArray[np.float64]]:
    """Each row of x as whole multiples of a unit of its own, and the units.

    Sums of whole numbers are exact: they do not depend on the order of the rows, and equal sums are equal. The unit is
    1 where x is whole and no fractions are to come, otherwise a power of 2 that leaves about 60 bits for the sum.
    Numbers whose sum is small take four bytes, which makes adding them up faster.
    """
    total = np.abs(x).sum(axis=1, keepdims=True)
    whole = (x == np.rint(x)).all(axis=1, keepdims=True) & (total < 2.0**53) & (not fractions)
    unit = np.where(whole, 1.0, np.exp2(np.frexp(total)[1] - 60.0))
    is_small = (unit == 1).all() and total.max(initial=0) < 2**31
    return np.rint(x / unit).astype(np.int32 if is_small else np.int64), unit


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
    first_id[by_id] = next_id + np.cumsum(n_children[by_id]) - n_children[by_id]
    side = level.side.astype(np.int16 if n_branches < 2**15 else np.int32)
    side[level.entry] = branch
    if (branch < 0).any():
        level, side = _share_out(level, branch, n_children, side)

    # All first children come first, then all second ones, each in the order of their parents: so two selections in the
    # old order move a binary tree's entries, and no sort is needed.
    parents = [np.flatnonzero(n_children > b) for b in range(n_branches)]
    parent = np.concatenate(parents)
    number = np.repeat(np.arange(n_branches), [len(nodes) for nodes in parents])
    cell = (level.node * n_branches + side.take(level.entry)).astype(np.intp)
    n_samples = np.bincount(cell, minlength=level.n_nodes * n_branches)[parent * n_branches + number]
    moved = replace(
        level,
        id=first_id[parent] + number,
        parent=level.id[parent],
        start=np.concatenate([[0], np.cumsum(n_samples)]),
        entry=by_branch(level.entry, side.take(level.entry), n_branches),
        side=side,
    )
    return moved, parent


def by_branch(entries: NDArray[np.integer], side: NDArray[np.integer], n_branches: int) -> NDArray[np.integer]:
    """The entries branch by branch, each in their old order, without those that are gone."""
    if n_branches <= 2:
        # Taking the places where a mask is true is several times faster than the mask itself as index.
        return entries.take(np.concatenate([np.flatnonzero(side == b) for b in (0, 1)]))
    # A stable sort, which takes linear time for numbers of two bytes.
    return entries.take(np.argsort(side, kind="stable")[np.count_nonzero(side == GONE) :])


def _share_out(
    level: Level, branch: NDArray[np.intp], n_children: NDArray[np.intp], side: NDArray[np.integer]
) -> tuple[Level, NDArray[np.integer]]:
    """Replace every entry without a branch by one entry for each branch that known rows take.

    A branch's share is its part of the weight of the known rows.
    """
    entry, node, weight = level.entry, level.node, level.weight[level.entry]
    first = np.cumsum(n_children) - n_children
    is_known = branch >= 0
    into_child = np.bincount((first[node] + branch)[is_known], weight[is_known], minlength=int(n_children.sum()))
    share = into_child / np.repeat(np.add.reduceat(into_child, first), n_children)

    # Every entry is copied as often as it has places to go; the dead ones stay, which keeps the numbering simple.
    lost, in_node = np.zeros(len(level.row), dtype=bool), np.zeros(len(level.row), dtype=np.intp)
    lost[entry[~is_known]], in_node[entry] = True, node
    n_copies = np.where(lost, n_children[in_node], 1)
    origin, copy = copies(np.arange(len(level.row)), n_copies)
    is_copy = lost[origin]
    side = np.where(is_copy, copy, side[origin]).astype(side.dtype)
    part = np.where(is_copy, share[np.minimum(first[in_node[origin]] + copy, len(share) - 1)], 1.0)
    number = np.cumsum(n_copies) - n_copies

    def follow(entries: NDArray[np.integer]) -> NDArray[np.integer]:
        old, copy = copies(entries, n_copies[entries])
        new = number[old] + copy
        return new[part[new] > 0].astype(entries.dtype)

    level.order.update({j: follow(order) for j, order in level.order.items()})
    living = follow(level.entry)
    n_samples = np.bincount(in_node[origin[living]], minlength=level.n_nodes)
    shared = replace(
        level,
        row=level.row[origin],
        weight=level.weight[origin] * part,
        addend=np.rint(level.addend[:, origin] * part).astype(np.int64),
        start=np.concatenate([[0], np.cumsum(n_samples)]),
        entry=living,
        is_counted=False,
    )
    return shared, side


def copies(x: NDArray[np.intp], n_copies: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Each x as often as told, and the numbers 0, 1, ... of its copies."""
    first = np.cumsum(n_copies) - n_copies
    return np.repeat(x, n_copies), np.arange(int(n_copies.sum())) - np.repeat(first, n_copies)
