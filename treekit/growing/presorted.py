"""The rows of a level in the order of each numeric column, sorted once and kept sorted on the way down."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["PresortedColumns", "sort_columns", "blocks", "index_dtype"]

#: The order of no column, where none is asked for.
NO_ORDER = np.empty((0, 0), dtype=np.intp)

#: As many numbers as a few arrays of may stay in the cache of a processor.
BLOCK = 2**16

#: The side of an entry that is in no open node any more.
INACTIVE = -1


class PresortedColumns:
    """The entries in the order of each numeric column: node by node, and within a node by value, missing values last.

    Which way an entry goes is noted, and all orders are brought up to date in one pass when they are asked for. That is
    done in place, as two sets of orders would be the largest thing in memory: the levels of a tree share one.

    Parameters
    ----------
    columns : list of int
        Which columns of the table.
    order : array of shape (n_columns, n_alive)
        The entries by each.
    side : integer array of shape (n_entries,)
        Branch by which each entry went down since; GONE if it is in no open node any more.
    """

    def __init__(self, columns: list[int], order: NDArray[np.integer], side: NDArray[np.integer]):
        self.columns, self.side = columns, side
        self._order, self._n_alive = order, order.shape[1]
        self._is_stale, self._has_moved = bool(side.any()), False

    def send(self, entries: NDArray[np.integer], branch: int | NDArray[np.integer]) -> None:
        """Note which way some entries go, or that they are GONE."""
        if isinstance(branch, np.ndarray):
            if self._has_moved:
                self.up_to_date()
            self._has_moved = True
        self.side[entries] = branch
        self._is_stale = True

    def up_to_date(self) -> NDArray[np.integer]:
        """The orders, with every entry where it went, of shape (n_columns, n_alive)."""
        if self._is_stale:
            n_branches, n_alive = int(self.side.max()) + 1, 0
            for block in blocks(len(self.columns), self._n_alive):
                moved = partition_by_branch(self._order[block, : self._n_alive], self.side, n_branches)
                n_alive = moved.shape[1]
                self._order[block, :n_alive] = moved
            self._n_alive, self._is_stale, self._has_moved = n_alive, False, False
            np.minimum(self.side, 0, out=self.side)
        return self._order[:, : self._n_alive]

    def follow(
        self, follow: Callable[[NDArray[np.integer]], NDArray[np.integer]], side: NDArray[np.integer]
    ) -> PresortedColumns:
        """The same for entries that have new numbers, and new sides."""
        order = [follow(order) for order in self._order[:, : self._n_alive]]
        moved = PresortedColumns(self.columns, np.array(order or self._order), side.astype(self.side.dtype))
        moved._is_stale = moved._has_moved = True
        return moved


def blocks(n_columns: int, n_alive: int) -> Iterator[slice]:
    """Some columns, so few at a time that what is worked out for them stays in the cache."""
    n_at_once = max(1, BLOCK // max(n_alive, 1))
    for first in range(0, n_columns, n_at_once):
        yield slice(first, first + n_at_once)


def sort_columns(values: NDArray, columns: list[int]) -> NDArray[np.integer]:
    """The rows of a table in the order of each of some columns, missing values last, of shape (n_columns, n_rows).

    Equal values may come in any order: no cut lies between them, and sums of whole numbers do not depend on it. Takes
    O(rows log rows) for each column.
    """
    order = np.empty((len(columns), values.shape[1]), dtype=index_dtype(values.shape[1]))
    for block in blocks(*order.shape):
        order[block] = argsort_rows(values[columns[block]])
    return order


def argsort_rows(x: NDArray) -> NDArray[np.integer]:
    """The rows in the order of each of some columns, of shape (n_columns, n_rows), missing values last."""
    if x.dtype != np.float32 or x.shape[1] >= 2**31:
        return np.argsort(x, axis=1)
    # The bits of a float, those of a negative one turned round, are in the order of the numbers. Value and row make one
    # whole number of 64 bits: to sort those takes half the time.
    bits = (x + np.float32(0)).view(np.int32)
    bits[np.isnan(x)] = np.iinfo(np.int32).max
    bits ^= (bits >> 31) & 0x7FFFFFFF
    both = bits.astype(np.int64)
    both <<= 32
    both |= np.arange(x.shape[1])
    both.sort(axis=1)
    both &= 0xFFFFFFFF
    return both


def index_dtype(n_rows: int) -> type[np.integer]:
    """Whole numbers of four bytes where there are many rows: half the memory. NumPy looks up places by eight."""
    return np.int32 if 2**16 <= n_rows < 2**31 else np.int64


def partition_by_branch(
    entries: NDArray[np.integer], side: NDArray[np.integer], n_branches: int
) -> NDArray[np.integer]:
    """Orders of the same entries, of shape (n_orders, n_alive): branch by branch, without those that are gone."""
    side = side.take(entries)
    if n_branches > 2:
        # A stable sort, which takes linear time for numbers of one or two bytes.
        place = np.argsort(side, axis=1, kind="stable")[:, np.count_nonzero(side[:1] == INACTIVE) :]
        return np.take_along_axis(entries, place, axis=1)
    # Two selections need no sort. To take the places where a mask is true is several times faster than the mask itself
    # as index; and all orders lose the same entries, so they stay as long as each other.
    entries = entries.ravel()
    sides = ((side == b).ravel().nonzero()[0] for b in (0, 1))
    return np.concatenate([entries.take(place).reshape(len(side), -1) for place in sides], axis=1)
