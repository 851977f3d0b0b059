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

__all__ = ["Level", "copies", "sort_columns", "first_level", "descend"]


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
        For each numeric column the same entries, node by node and within a node by value, missing values last.
    """

    row: NDArray[np.intp]
    weight: NDArray[np.float64]
    addend: NDArray[np.int64]
    unit: NDArray[np.float64]
    id: NDArray[np.intp]
    parent: NDArray[np.intp]
    start: NDArray[np.intp]
    entry: NDArray[np.intp]
    order: dict[int, NDArray[np.intp]]

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
    def sums(self) -> NDArray[np.float64]:
        """What the entries of each node add up to, of shape (n_sums, n_nodes)."""
        running = self.addend.take(self.entry, axis=1).cumsum(axis=1)
        running = np.concatenate([np.zeros_like(running, shape=(len(running), 1)), running], axis=1)
        return np.diff(running[:, self.start], axis=1) * self.unit

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
        place = np.flatnonzero(np.repeat(chosen, self.n_samples))
        return replace(
            self,
            id=self.id[chosen],
            parent=self.parent[chosen],
            start=np.concatenate([[0], np.cumsum(self.n_samples[chosen])]),
            entry=self.entry[place],
            order={j: order[place] for j, order in self.order.items()},
        )


def sort_columns(values: NDArray, columns: list[int]) -> dict[int, NDArray[np.intp]]:
    """The rows of a table in the order of each of some columns, missing values last. Takes O(rows log rows) for each."""
    return {j: np.argsort(values[j], kind="stable") for j in columns}


def first_level(
    order: dict[int, NDArray[np.intp]], per_row: NDArray[np.float64], weight: NDArray[np.float64], shares: bool
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
    row = np.flatnonzero(weight > 0)
    addend, unit = in_units(per_row[:, row] * weight[row], shares)
    entry = np.arange(len(row))
    if len(row) < len(weight):
        place = np.cumsum(weight > 0) - 1
        order = {j: place[rows.take(np.flatnonzero(weight[rows] > 0))] for j, rows in order.items()}
    return Level(row, weight[row], addend, unit, np.array([0]), np.array([-1]), np.array([0, len(row)]), entry, order)


def in_units(x: NDArray[np.float64], fractions: bool) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Each row of x as whole multiples of a unit of its own, and the units.

    Sums of whole numbers are exact: they do not depend on the order of the rows, and equal sums are equal. The unit is
    1 where x is whole and no fractions are to come, otherwise a power of 2 that leaves about 60 bits for the sum.
    """
    total = np.abs(x).sum(axis=1, keepdims=True)
    whole = (x == np.rint(x)).all(axis=1, keepdims=True) & (total < 2.0**53) & (not fractions)
    unit = np.where(whole, 1.0, np.exp2(np.frexp(total)[1] - 60.0))
    return np.rint(x / unit).astype(np.int64), unit


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
    first_child = np.empty_like(n_children)
    first_child[by_id] = np.cumsum(n_children[by_id]) - n_children[by_id]
    parent = np.repeat(by_id, n_children[by_id])
    child = np.full(len(level.row), -1)
    child[level.entry] = np.where(branch >= 0, first_child[level.node] + branch, -1)
    if (branch < 0).any():
        level, child = _share_out(level, child, first_child, n_children, parent)

    local = np.arange(len(parent))
    orders = [level.entry, *level.order.values()]
    if (n_children == 2).all():
        # All left children, then all right ones: two selections, each in the old order, replace a sort.
        local = np.concatenate([first_child, first_child + 1])
        is_right = child % 2 == 1
        orders = [_left_then_right(o, is_right) for o in orders]
    else:
        orders = [o[np.argsort(child[o], kind="stable")] for o in orders]
    n_samples = np.bincount(child[orders[0]], minlength=len(parent))[local]
    start = np.concatenate([[0], np.cumsum(n_samples)])
    moved = replace(
        level,
        id=next_id + local,
        parent=level.id[parent[local]],
        start=start,
        entry=orders[0],
        order=dict(zip(level.order, orders[1:])),
    )
    return moved, parent[local]


def _left_then_right(entries: NDArray[np.intp], is_right: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The entries that go left, then those that go right, each in their old order."""
    goes_right = is_right.take(entries)
    # Taking the places where a mask is true is several times faster than the mask itself as index.
    left, right = (entries.take(np.flatnonzero(side)) for side in (~goes_right, goes_right))
    return np.concatenate([left, right])


def _share_out(
    level: Level,
    child: NDArray[np.intp],
    first_child: NDArray[np.intp],
    n_children: NDArray[np.intp],
    parent: NDArray[np.intp],
) -> tuple[Level, NDArray[np.intp]]:
    """Replace every entry without a child by one entry for each child that known rows go to.

    A child's share is its part of the weight of the known rows.
    """
    alive, node, weight = level.entry, level.node, level.weight[level.entry]
    is_known = child[alive] >= 0
    into_child = np.bincount(child[alive[is_known]], weight[is_known], minlength=len(parent))
    share = into_child / np.bincount(node[is_known], weight[is_known], minlength=level.n_nodes)[parent]

    # Every entry is copied as often as it has places to go; the dead ones stay, which keeps the numbering simple.
    lost, first = np.zeros(len(level.row), dtype=bool), np.zeros(len(level.row), dtype=np.intp)
    lost[alive[~is_known]], first[alive] = True, first_child[node]
    n_copies = np.ones(len(level.row), dtype=np.intp)
    n_copies[alive[~is_known]] = n_children[node[~is_known]]
    origin, copy = copies(np.arange(len(level.row)), n_copies)
    child = np.where(lost[origin], first[origin] + copy, child[origin])
    part = np.where(lost[origin], share[child], 1.0)

    number = np.cumsum(n_copies) - n_copies

    def follow(entries: NDArray[np.intp]) -> NDArray[np.intp]:
        old, copy = copies(entries, n_copies[entries])
        new = number[old] + copy
        return new[part[new] > 0]

    shared = replace(
        level,
        row=level.row[origin],
        weight=level.weight[origin] * part,
        addend=np.rint(level.addend[:, origin] * part).astype(np.int64),
        entry=follow(level.entry),
        order={j: follow(order) for j, order in level.order.items()},
    )
    return shared, child


def copies(x: NDArray[np.intp], n_copies: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Each x as often as told, and the numbers 0, 1, ... of its copies."""
    first = np.cumsum(n_copies) - n_copies
    return np.repeat(x, n_copies), np.arange(int(n_copies.sum())) - np.repeat(first, n_copies)
