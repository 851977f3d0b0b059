"""Splits on a column of categories: a branch for each category, or two groups of categories.

What the rows of each (node, category) add up to is all that a split needs. Most nodes have rows of few categories, so
only the cells that have rows are kept, in the order of (node, category): their number is bounded by the rows, however
many categories and nodes there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from treekit.growing.candidates import ChildLimits, SplitCandidates
from treekit.growing.criteria import Criterion, Entropy
from treekit.growing.level import Level
from treekit.growing.thresholds import saving_within_limits
from treekit.numeric import TIE, Array, Bools, Floats, Ints, Kind, Numbers, Wholes, safe_divide
from treekit.trees.routes import BranchPerCategory, Routes, routes_of_pairs

__all__ = ["score_branches", "score_groups"]

#: With three classes or more, all groupings are tried in nodes that have up to this many categories.
MAX_EXHAUSTIVE = 10

#: With up to so many (node, category) pairs per entry, all of them are looked at to find those that have rows.
CELLS_PER_ENTRY = 8


@dataclass(frozen=True, eq=False)
class CategoryCells:
    """The (node, category) pairs that have rows, in this order.

    Attributes
    ----------
    node, category : arrays of shape (n_cells,)
        Node and category of each cell.
    sums : array of shape (n_sums, n_cells)
        What the rows of each cell add up to: whole numbers, or floats that are exact multiples of a unit.
    unit : array of shape (n_sums, 1)
        Size of the units of ``sums``.
    n_rows : array of shape (n_cells,)
        Number of rows in each cell.
    n_nodes, n_values : int
        Numbers of nodes and of categories, with rows or without.
    """

    node: Ints
    category: Ints
    sums: Array
    unit: Floats
    n_rows: Ints
    n_nodes: int
    n_values: int

    @cached_property
    def counts(self) -> Floats:
        """``sums`` as floats."""
        return self.sums * self.unit

    @cached_property
    def known(self) -> Floats:
        """The sums of the known rows of each node, of shape (n_sums, n_nodes)."""
        return self.by_node(self.counts)

    @cached_property
    def n_known(self) -> Ints:
        """The number of known rows of each node."""
        return self.by_node(self.n_rows)

    @cached_property
    def n_cells(self) -> Ints:
        """The number of categories that have rows in each node."""
        return np.bincount(self.node, minlength=self.n_nodes)

    @cached_property
    def first_of_node(self) -> Ints:
        """The first cell of each node that has cells."""
        return np.flatnonzero(np.diff(self.node, prepend=-1))

    def by_node(self, x: NDArray[Kind]) -> NDArray[Kind]:
        """Sum of x over the cells of each node, of shape (..., n_nodes); 0 for a node without cells."""
        total = np.zeros((*x.shape[:-1], self.n_nodes), dtype=x.dtype)
        if len(self.node):
            total[..., self.node[self.first_of_node]] = np.add.reduceat(x, self.first_of_node, axis=-1)
        return total

    def in_order(self, order: Ints) -> CategoryCells:
        """The cells in another order that keeps those of a node together."""
        return replace(
            self,
            node=self.node[order],
            category=self.category[order],
            sums=self.sums[:, order],
            n_rows=self.n_rows[order],
        )


def category_cells(level: Level, column: Numbers, n_values: int) -> CategoryCells:
    """The cells of a level on a column. Takes O(entries), times their logarithm where far more cells are possible."""
    code, node, entry = level.values(column, level.entry).astype(np.intp), level.node, level.entry
    if code.min(initial=0) < 0:
        known = np.flatnonzero(code >= 0)
        code, node, entry = code.take(known), node.take(known), entry.take(known)
    # 64 bits also where NumPy's own integers have 32: there may be more cells than a table has entries.
    cell, group = _cells_with_rows(node.astype(np.int64) * n_values + code, level.n_nodes * n_values)
    sums = np.zeros((len(level.addend), len(cell)), dtype=np.int64)
    for of_cells, addend in zip(sums, level.addend):
        np.add.at(of_cells, group, addend.take(entry))
    n_rows = np.bincount(group, minlength=len(cell))
    node, category = (part.astype(np.intp) for part in np.divmod(cell, max(n_values, 1)))
    return CategoryCells(node, category, sums, level.unit, n_rows, level.n_nodes, n_values)


def _cells_with_rows(cell: Wholes, n_cells: int) -> tuple[Wholes, Ints]:
    """The numbers of the cells that have rows, in order; and for each row the place of its cell among them.

    Parameters
    ----------
    cell : array of shape (n_known,)
        The number of each row's cell.
    n_cells : int
        Number of cells, with rows or without.
    """
    if n_cells > CELLS_PER_ENTRY * len(cell):
        return np.unique(cell, return_inverse=True)
    # Looking at all cells beats sorting the rows: a tree takes six tenths of the time (trick: categories looked up).
    has_rows = np.zeros(n_cells, dtype=bool)
    has_rows[cell] = True
    with_rows = np.flatnonzero(has_rows).astype(np.int64)
    place = np.empty(n_cells, dtype=np.intp)
    place[with_rows] = np.arange(len(with_rows))
    return with_rows, place.take(cell)


def score_branches(
    level: Level, column: Numbers, n_values: int, criterion: Entropy, min_weight: float = 0.0
) -> SplitCandidates:
    """A branch for each category: what it gains in each node.

    A node can be split when at least two categories have rows in it, and ``min_weight`` or more of the weight.
    """
    cells = category_cells(level, column, n_values)
    weight = criterion.weight(cells.counts)
    saving = criterion.cost(cells.known) - cells.by_node(criterion.cost(cells.counts))
    can_split = cells.by_node(((weight > 0) & (weight >= min_weight)).astype(np.intp)) >= 2
    gain = np.where(can_split, criterion.gain(saving, level.sums), -np.inf)
    share = safe_divide(weight, cells.by_node(weight)[cells.node])
    entropy_of_branches = -cells.by_node(share * np.log2(np.where(share > 0, share, 1.0)))
    return replace(
        _category_candidates(gain, BranchPerCategory(n_values)), split_information=entropy_of_branches[np.newaxis]
    )


def score_groups(
    level: Level,
    column: Numbers,
    n_values: int,
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits = ChildLimits(),
    one_vs_rest: bool = False,
) -> SplitCandidates:
    """The best cut of the categories into two groups.

    The groups are listed in one of three ways. One category against the rest is what the sources describe. Where one
    number describes a category, its share of the second class or its mean, the best of all groupings is a cut in the
    order of that number (Breiman et al., 1984, theorem 4.5), so V - 1 candidates suffice. With more classes all
    2^(V-1) - 1 are tried in nodes with rows of up to ten categories; in others the cuts in the order of each class's
    share. A level takes O(entries log entries) for each order.
    """
    cells = category_cells(level, column, n_values)
    return best_groups_of_cells(cells, level.sums, criterion, impurity, limits, one_vs_rest)


def best_groups(
    counts: Floats,
    n_rows: Ints,
    node: Floats,
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits = ChildLimits(),
    one_vs_rest: bool = False,
) -> SplitCandidates:
    """:func:`score_groups` from sums of shape (n_sums, n_nodes, n_values), numbers of rows, and the sums of nodes."""
    at, category = n_rows.nonzero()
    cells = CategoryCells(at, category, counts[:, at, category], np.ones((1, 1)), n_rows[at, category], *n_rows.shape)
    return best_groups_of_cells(cells, node, criterion, impurity, limits, one_vs_rest)


def best_groups_of_cells(
    cells: CategoryCells,
    node: Floats,
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits,
    one_vs_rest: bool,
) -> SplitCandidates:
    """The best grouping of each node; of equal gains the first in the list of groupings."""
    best_gain = np.full(cells.n_nodes, -np.inf)
    goes_left = np.zeros(len(cells.node), dtype=bool)
    keys = criterion.order_keys(cells.counts)
    if one_vs_rest:
        best_gain, best = _best_left_sides(cells, cells.counts, cells.n_rows, node, criterion, impurity, limits)
        goes_left[best[best >= 0]] = True
        return _category_candidates(best_gain, routes_of_pairs(cells.node, cells.category, np.where(goes_left, 0, 1)))
    few = cells.n_cells <= MAX_EXHAUSTIVE if len(keys) > 1 else np.zeros(cells.n_nodes, dtype=bool)
    sides = [_all_groupings(cells, few, node, criterion, limits)] if few.any() else []
    if not few.all():
        sides.append(_cuts_in_orders(cells, keys, ~few, node, criterion, impurity, limits))
    for gain, is_left in chain.from_iterable(sides):
        better = np.isfinite(gain) & ~(gain <= best_gain + TIE * impurity)
        best_gain[better] = gain[better]
        goes_left = np.where(better[cells.node], is_left, goes_left)
    return _category_candidates(best_gain, routes_of_pairs(cells.node, cells.category, np.where(goes_left, 0, 1)))


#: Groupings of all nodes, one after the other: what each gains in each node, and which cells it sends left.
Groupings = Iterator[tuple[Floats, Bools]]


def _all_groupings(
    cells: CategoryCells, few: Bools, node: Floats, criterion: Criterion, limits: ChildLimits
) -> Groupings:
    """Every grouping of the categories of the nodes that have ``few``."""
    every_node = np.arange(cells.n_nodes)
    place = np.arange(len(cells.node)) - np.repeat(cells.first_of_node, cells.n_cells[cells.n_cells > 0])
    # The last category stays on the right: with it on the left the cuts would be the same, named the other way.
    for mask in range(1, 2 ** max(int(cells.n_cells[few].max()) - 1, 0)):
        is_left = (mask >> np.minimum(place, MAX_EXHAUSTIVE)) & 1 == 1
        n_left = cells.by_node(cells.n_rows * is_left)
        saving = _saving(cells, cells.by_node(cells.counts * is_left), n_left, every_node, criterion, limits)
        fits = few & (n_left > 0) & (n_left < cells.n_known)
        yield np.where(fits, criterion.gain(saving, node), -np.inf), is_left


def _cuts_in_orders(
    cells: CategoryCells,
    keys: Floats,
    many: Bools,
    node: Floats,
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits,
) -> Groupings:
    """The best cut in the order of each key, in the nodes that have ``many`` categories."""
    for key in keys:
        order = _order_in_nodes(cells, key)
        gain, best = _best_prefix(cells.in_order(order), node, criterion, impurity, limits)
        is_left = np.zeros(len(order), dtype=bool)
        is_left[order] = np.arange(len(order)) <= best[cells.node]
        yield np.where(many, gain, -np.inf), is_left


def _order_in_nodes(cells: CategoryCells, key: Floats) -> Ints:
    """The cells of each node in the order of their keys; where keys tie, in the order of their categories.

    Rounding must not decide: a limit on the rows of a leaf may allow a cut in one order and forbid it in the other.
    """
    node, order = cells.node, np.lexsort((key, cells.node))
    largest = np.zeros(cells.n_nodes)
    np.maximum.at(largest, node, np.abs(key))
    step = np.diff(key[order])
    ties = (node[1:] == node[:-1]) & (step <= TIE * largest[node[1:]])
    if not (ties & (step > 0)).any():
        return order  # equal keys already are in that order: the sort is stable
    return order[np.lexsort((order, np.cumsum(np.append(True, ~ties))))]


def _best_prefix(
    cells: CategoryCells, node: Floats, criterion: Criterion, impurity: Floats, limits: ChildLimits
) -> tuple[Floats, Ints]:
    """The gain of the best cut of each node in the order of its cells, and the last cell on its left; -inf and -1."""
    if not len(cells.node):
        return np.full(cells.n_nodes, -np.inf), np.full(cells.n_nodes, -1)
    first = cells.first_of_node
    size = np.diff(first, append=len(cells.node))

    def up_to_each(x: NDArray[Kind]) -> NDArray[Kind]:
        # One running sum for all nodes. It is exact, so what the nodes before add up to can be subtracted.
        running = np.cumsum(x, axis=-1)
        return running - np.repeat(running[..., first] - x[..., first], size, axis=-1)

    left, n_left = up_to_each(cells.sums) * cells.unit, up_to_each(cells.n_rows)
    return _best_left_sides(cells, left, n_left, node, criterion, impurity, limits)


def _saving(
    cells: CategoryCells, left: Floats, n_left: Ints, at: Ints, criterion: Criterion, limits: ChildLimits
) -> Floats:
    """What left sides in the nodes ``at`` save; -inf where a side is below the limits."""
    return saving_within_limits(criterion, left, cells.known[:, at], n_left, cells.n_known[at], limits.of(at))


def _best_left_sides(
    cells: CategoryCells,
    left: Floats,
    n_left: Ints,
    node: Floats,
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits,
) -> tuple[Floats, Ints]:
    """Of one left side for each cell, the best of each node: its gain, and its cell; -inf and -1 if there is none."""
    at = cells.node
    saving = _saving(cells, left, n_left, at, criterion, limits)
    gain = np.where(n_left < cells.n_known[at], criterion.gain(saving, node[:, at]), -np.inf)
    best_gain, best = np.full(cells.n_nodes, -np.inf), np.full(cells.n_nodes, -1)
    np.maximum.at(best_gain, at, gain)
    # Assign in reverse: the first cell of a node is written last and wins.
    good = np.flatnonzero(np.isfinite(gain) & (gain >= (best_gain - TIE * impurity)[at]))[::-1]
    best[at[good]] = good
    has_best = best >= 0
    best_gain[has_best] = gain[best[has_best]]
    return best_gain, best


def _category_candidates(gain: Floats, routes: Routes | BranchPerCategory) -> SplitCandidates:
    """The candidates of one column of categories."""
    return SplitCandidates(gain[np.newaxis], np.full((1, len(gain)), np.nan), {0: routes})
