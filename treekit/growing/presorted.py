"""The rows of a level in the order of each numeric column, sorted once and kept sorted on the way down."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from treekit.numeric import Integers, Numbers

__all__ = ["PresortedColumns", "sort_columns", "blocks", "index_dtype"]

#: The order of no column, for a search that needs none.
NO_ORDER = np.empty((0, 0), dtype=np.intp)

#: Elements per block: a few arrays of this length fit in a core's cache.
BLOCK = 2**16

#: The side of an entry that is in no open node.
INACTIVE = -1

MOVED_ON = "the orders have moved on to another level: read them before its rows take branches"


class PresortedColumns:
    """The entries in the order of each numeric column: node by node, and within a node by value, missing values last.

    The one mutable part of a growing tree: a workspace that all its levels share, because a second set of orders would
    be the largest thing in memory. Branches are only recorded; the orders are brought up to date in one pass when a
    level reads them, and entries that it does not have are dropped. So a level whose rows have moved on is refused when
    it reads its orders or sends its rows down once more, and so is a level that has other entries than the last reader
    when it reads.

    Three invariants hold between calls:

    1. Every order holds the same entries, each of them once, among them all entries in open nodes.
    2. ``side[e]`` is the branch that entry e has taken since the last update, 0 if none. So moving all entries of side
       0 to the front, then those of side 1, and so on, updates an order.
    3. ``_has_branches`` says whether entries have taken branches since. Only one set of branches fits in ``side``, so a
       second one needs an update first.

    Parameters
    ----------
    columns : list of int
        Which columns of the table.
    order : array of shape (n_columns, n_rows)
        The entries in the order of each column. It becomes part of the workspace and is overwritten.
    side : integer array of shape (n_entries,)
        See above; it is overwritten as well.
    """

    #: How often rows have taken branches.
    depth = 0

    def __init__(self, columns: list[int], order: Integers, side: Integers):
        self.columns, self.side = columns, side
        self._order, self._n_kept, self._has_branches = order, order.shape[1], False
        self._reader: Integers | None = None  # the entries of the last level that has read

    def take_branches(self, entries: Integers, branch: Integers, depth: int) -> None:
        """Record which branches the entries in the open nodes of a level take; ``depth`` is that of the level."""
        if self._has_branches:
            self.up_to_date(entries, depth)
        if depth != self.depth:
            raise RuntimeError(MOVED_ON)
        self.side[entries] = branch
        self._has_branches = True
        self.depth += 1

    def up_to_date(self, entries: Integers, depth: int) -> Integers:
        """The orders of the entries in open nodes, each in the place of its branch, of shape (n_columns, n_alive)."""
        if depth != self.depth:
            raise RuntimeError(MOVED_ON)
        if self._has_branches or len(entries) < self._n_kept:
            side = np.full_like(self.side, INACTIVE)
            side[entries] = self.side[entries]
            n_branches = int(side.max()) + 1
            for block in blocks(len(self.columns), self._n_kept):
                moved = partition_by_branch(self._order[block, : self._n_kept], side, n_branches)
                self._order[block, : len(entries)] = moved
            self._n_kept, self._has_branches = len(entries), False
            self.side[:] = 0
            self._reader = None
        if len(self._order) and not (self._reader is None or np.array_equal(self._reader, entries)):
            raise RuntimeError(MOVED_ON)
        self._reader = entries
        return self._order[:, : self._n_kept]

    def renumbered(self, renumber: Callable[[Integers], Integers], side: Integers) -> PresortedColumns:
        """A new workspace for entries with new numbers, and their new sides.

        Parameters
        ----------
        renumber : function of an array of entries
            Puts the new entries in the place of every old one, in order.
        side : integer array of shape (n_new_entries,)
            The branch that each new entry has taken.
        """
        order = [renumber(order) for order in self._order[:, : self._n_kept]]
        moved = PresortedColumns(self.columns, np.array(order or self._order), side.astype(self.side.dtype))
        moved._has_branches, moved.depth = True, self.depth
        return moved


def blocks(n_columns: int, n_alive: int) -> Iterator[slice]:
    """Slices of columns, each narrow enough for the intermediate arrays of a block to stay in the cache."""
    n_at_once = max(1, BLOCK // max(n_alive, 1))
    for first in range(0, n_columns, n_at_once):
        yield slice(first, first + n_at_once)


def sort_columns(values: Numbers, columns: list[int]) -> Integers:
    """The rows of a table in the order of each of some columns, missing values last, of shape (n_columns, n_rows).

    Equal values may come in any order: no cut lies between them, and sums of whole numbers do not depend on it. Takes
    O(rows log rows) for each column.
    """
    order = np.empty((len(columns), values.shape[1]), dtype=index_dtype(values.shape[1]))
    for block in blocks(*order.shape):
        order[block] = np.argsort(values[columns[block]], axis=1)
    return order


def index_dtype(n_rows: int) -> type[np.integer]:
    """int32 from 2**16 to 2**31 rows: half the memory of the orders, which are the largest thing in memory.

    int64 for more rows; and for fewer, whose orders fit in the cache, so that NumPy would only convert each index.
    """
    return np.int32 if 2**16 <= n_rows < 2**31 else np.int64


def partition_by_branch(orders: Integers, side: Integers, n_branches: int) -> Integers:
    """Orders of the same entries, of shape (n_orders, n_alive): branch by branch, without the inactive ones.

    A stable partition: within a branch the entries keep their order.
    """
    side = side.take(orders)
    if n_branches > 2:
        # A stable sort, which takes linear time for numbers of one or two bytes.
        place = np.argsort(side, axis=1, kind="stable")[:, np.count_nonzero(side[:1] == INACTIVE) :]
        return np.take_along_axis(orders, place, axis=1)
    # Two selections need no sort (trick: no sort), and taking the places where a mask is true is
    # faster than indexing by the mask (trick: places of a mask): each takes a third off the time of a
    # tree. As all orders lose the same entries, the lines of the result have the same length.
    places = ((side == b).ravel().nonzero()[0] for b in (0, 1))
    return np.concatenate([orders.ravel().take(place).reshape(len(side), -1) for place in places], axis=1)
