"""The rows of one level of a growing tree, and how they move on to the next.

A row on its way down is an entry (row, node, weight). A hard split moves an entry to one child. A row whose value is
missing may be shared out: it becomes several entries, one per child, each with a share of the weight. That is all the
difference. And a level does not care how many trees its nodes belong to: a forest begins with one root for each tree,
and a row has an entry in every root whose sample holds it.

An entry keeps its number until some entry is shared out; then all are numbered again. For each numeric column the level
holds the entries in the order of (node, value), so that one running sum scores all cuts of all nodes. They are sorted
once, at the root: sending some to the left and some to the right keeps the order on either side.

A level never changes except for ``cache``, which keeps results, and ``sorted``, a workspace that all levels of a tree
share: it holds the orders of the level that read them last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.growing.fixed_point import to_units
from treekit.growing.presorted import NO_ORDER, PresortedColumns, index_dtype, partition_by_branch
from treekit.numeric import Bools, Floats, Integers, Ints, Kind, Numbers, Wholes, repeat_with_index, safe_divide

__all__ = ["Level", "first_level", "descend"]

#: No sample holds a row so often: in a bootstrap sample the chance of that is below 1e-35 for each row.
MOST_OFTEN = 32


@dataclass(frozen=True, eq=False)
class Level:
    """The open nodes of one level and the entries in them.

    Attributes
    ----------
    row, weight : arrays of shape (n_entries,)
        Row and weight of every entry, in an open node or not.
    whole_weight : array of shape (n_entries,)
        Weight that every entry had at the root, of which ``weight`` may be a share.
    addend : array of shape (n_sums, n_entries)
        What every entry adds to the sums of its node, in units.
    unit : array of shape (n_sums, 1)
        Size of the units.
    id : array of shape (n_nodes,)
        Number of each open node among all that were grown.
    tree : array of shape (n_nodes,)
        The tree that each open node belongs to: the number of its root.
    start : array of shape (n_nodes + 1,)
        Where in ``entry`` and in the orders the entries of each node begin.
    entry : array of shape (n_alive,)
        The entries of the open nodes, node by node.
    total : array of shape (n_sums, n_nodes)
        What the entries of each node add up to, in units.
    sorted : PresortedColumns
        For each numeric column the same entries, node by node and within a node by value: the shared workspace.
    has_unit_weights : bool
        Whether every entry in an open node has weight 1, so that weighing entries is counting them.
    rows_are_entries : bool
        Whether entries have the numbers of their rows: in a single tree, until a row is shared out.
    depth : int
        Number of splits above the nodes.
    bounds : array of shape (2, n_nodes), optional
        The least and the largest value that may be predicted below each node, where columns are constrained.
    """

    row: Integers
    weight: Floats
    whole_weight: Floats
    addend: Wholes
    unit: Floats
    id: Ints
    tree: Ints
    start: Ints
    entry: Integers
    total: Wholes
    sorted: PresortedColumns
    has_unit_weights: bool
    rows_are_entries: bool
    depth: int = 0
    bounds: Floats | None = None

    @property
    def n_nodes(self) -> int:
        """Number of open nodes."""
        return len(self.id)

    @cached_property
    def n_samples(self) -> Ints:
        """Number of entries in each node."""
        return self.start[1:] - self.start[:-1]

    @cached_property
    def node(self) -> Ints:
        """The node of each place in ``entry`` and in the orders, of shape (n_alive,)."""
        return np.repeat(np.arange(self.n_nodes), self.n_samples)

    @cached_property
    def cache(self) -> dict[object, Any]:
        """What a scorer computes once for all columns of the level."""
        return {}

    @cached_property
    def place(self) -> Ints:
        """The places of ``entry`` and of the orders, of shape (n_alive,)."""
        return np.arange(len(self.entry))

    @cached_property
    def n_below(self) -> Ints:
        """Number of entries of the node up to and including each place, of shape (n_alive,)."""
        return self.place + 1 - np.repeat(self.start[:-1], self.n_samples)

    def running_sums(self, order: Integers, which: slice = slice(None)) -> Wholes:
        """What the entries of the node up to each place of some orders add up to, in units.

        Whole numbers make it exact, and are added up faster than floats.

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
        # Where a node begins, the total of the node before it is subtracted: so one running sum serves all nodes.
        running[:, :, self.start[1:-1]] -= self.total[which, np.newaxis, :-1]
        return np.cumsum(running, axis=-1)

    def values(self, column: NDArray[Kind], entries: Integers) -> NDArray[Kind]:
        """The values of some entries in a column of the rows, or in one of the entries at the root."""
        return column.take(entries if column.size == self.row.size else self.rows(entries))

    def gather(self, values: Numbers, columns: Integers, entries: Integers) -> Numbers:
        """The values of some entries in some columns of a table (n_features, n_rows); the two are broadcast."""
        # One index into the flattened table: with two indices a tree takes a third longer (trick: one index).
        return values.ravel().take(columns * values.shape[1] + self.rows(entries))

    def rows(self, entries: Integers | None = None) -> Integers:
        """The rows of some entries; by default, of those at all places."""
        entries = self.entry if entries is None else entries
        return entries if self.rows_are_entries else self.row.take(entries)

    def range_of(self, x: Floats) -> tuple[Floats, Floats]:
        """Smallest and largest in each node of x, one number for each place of ``entry``; 0 for a node without rows."""
        if self.n_samples.all():
            return np.minimum.reduceat(x, self.start[:-1]), np.maximum.reduceat(x, self.start[:-1])
        low, high = np.zeros(self.n_nodes), np.zeros(self.n_nodes)
        filled = np.flatnonzero(self.n_samples)
        low[filled] = np.minimum.reduceat(x, self.start[filled])
        high[filled] = np.maximum.reduceat(x, self.start[filled])
        return low, high

    @cached_property
    def sums(self) -> Floats:
        """What the entries of each node add up to, of shape (n_sums, n_nodes)."""
        return self.total * self.unit

    def sums_where(self, is_wanted: Bools, order: Integers) -> Floats:
        """What the entries of each node at some places of an order add up to, of shape (n_sums, n_nodes)."""
        n_wanted = np.bincount(self.node[is_wanted], minlength=self.n_nodes)
        return segment_sums(self.addend, order[is_wanted], segment_starts(n_wanted)) * self.unit

    def mean(self, x: Floats) -> Floats:
        """Weighted mean in each node of x, one number for each place of ``entry``; 0 for a node without rows."""
        if self.has_unit_weights:
            return np.bincount(self.node, x, minlength=self.n_nodes) / np.maximum(self.n_samples, 1)
        weight = self.weight.take(self.entry)
        total = np.bincount(self.node, weight, minlength=self.n_nodes)
        return safe_divide(np.bincount(self.node, weight * x, minlength=self.n_nodes), total)

    @property
    def orders(self) -> Integers:
        """The entries in the order of each column of ``sorted``, of shape (n_columns, n_alive). Once one level has read
        them, a level with other entries may not."""
        return self.sorted.up_to_date(self.entry, self.depth)

    def keep_only(self, nodes: Ints) -> Level:
        """The level of these nodes, in ascending order."""
        if len(nodes) == self.n_nodes:
            return self
        is_kept = np.zeros(self.n_nodes, dtype=bool)
        is_kept[nodes] = True
        # ``total[:, nodes]`` would lay the sums out node by node, and adding them up over the classes would be slow.
        return replace(
            self,
            id=self.id[nodes],
            tree=self.tree[nodes],
            start=segment_starts(self.n_samples[nodes]),
            entry=self.entry.take(np.flatnonzero(is_kept.take(self.node))),
            total=self.total.take(nodes, axis=1),
            bounds=None if self.bounds is None else self.bounds[:, nodes],
        )


def first_level(
    per_row: Floats,
    weight: Floats,
    columns: Sequence[int] = (),
    order: Integers = NO_ORDER,
    shares: bool = False,
    n_branches: int = 2,
    counts: Ints | None = None,
) -> Level:
    """All rows of positive weight in the root; or in each of many roots, with targets or a sample of its own.

    Row r has the entry ``m * n_rows + r`` in root m.

    Parameters
    ----------
    per_row : array of shape (n_sums, n_rows) or (n_sums, n_roots, n_rows)
        What each row adds to the sums, for each unit of weight.
    weight : array of shape (n_rows,)
        Weight of the rows.
    columns : sequence of int
        The columns that are to be kept in order.
    order : array of shape (n_columns, n_rows)
        Their orders, from :func:`treekit.growing.presorted.sort_columns`; they become the level's
        workspace and are overwritten.
    shares : bool
        Whether rows may be shared out later, so that weights need room for fractions.
    n_branches : int
        Largest number of branches that a split may have.
    counts : array of shape (n_roots, n_rows), optional
        How often the sample of each root holds each row; without it each root holds all rows.
    """
    n_sums, n_rows = len(per_row), len(weight)
    n_targets = per_row.size // (n_sums * n_rows)
    n_roots = n_targets if counts is None else len(counts)
    most = 1 if counts is None else MOST_OFTEN
    addend, unit = to_units((per_row * weight).reshape(n_sums, n_targets * n_rows), shares, most)
    row, dtype = np.arange(n_rows), index_dtype(n_roots * n_rows)
    if counts is not None:
        # Whole units, times whole numbers: a tree is the same to the last digit whichever others grow with it.
        addend = (addend[:, np.newaxis] * counts).reshape(n_sums, n_roots * n_rows)
    if n_roots > 1 or counts is not None:
        weight, row = (weight * (np.ones((n_roots, 1)) if counts is None else counts)).ravel(), np.tile(row, n_roots)
        order = np.concatenate([order + m * n_rows for m in range(n_roots)], axis=1)
    entry = np.flatnonzero(weight > 0).astype(dtype)
    start = np.searchsorted(entry, n_rows * np.arange(n_roots + 1))
    side = np.zeros(len(weight), dtype=np.min_scalar_type(-max(n_branches, 2)))
    return Level(
        row=row.astype(dtype),
        weight=weight,
        whole_weight=weight,
        addend=addend,
        unit=unit,
        id=np.arange(n_roots),
        tree=np.arange(n_roots),
        start=start,
        entry=entry,
        total=segment_sums(addend, entry, start),
        sorted=PresortedColumns(list(columns), order.astype(dtype, copy=False), side),
        has_unit_weights=bool((weight[entry] == 1).all()),
        rows_are_entries=n_roots == 1,
    )


def segment_starts(n_samples: Ints) -> Ints:
    """Where the entries of each node begin when they lie one node after the other, and where the last ends."""
    start = np.zeros(len(n_samples) + 1, dtype=np.intp)
    n_samples.cumsum(out=start[1:])
    return start


def segment_sums(addend: Wholes, entry: Integers, start: Ints) -> Wholes:
    """What the entries of each node add up to, of shape (n_sums, n_nodes); a node may be without entries."""
    total = np.zeros((len(addend), len(start) - 1), dtype=np.int64)
    filled = np.flatnonzero(start[:-1] < start[1:])
    total[:, filled] = np.add.reduceat(addend.take(entry, axis=1), start[filled], axis=1)
    return total


def descend(level: Level, branch: Ints, n_children: Ints, next_id: int) -> tuple[Level, Ints]:
    """The next level: every entry takes its branch; one without a branch is shared out among the children.

    Two numberings meet here. In the tree, siblings are numbered one after the other, in the order of their parents'
    numbers. In the new level the first children of all nodes come first, then all second children, and so on, so that
    a stable partition of the entries moves them (see ``presorted.partition_by_branch``). Nodes 5 and 3 of a level, with
    two children and three, and ``next_id`` 10::

        place in the old level     0        1
        number in the tree         5        3
        children's numbers         13 14    10 11 12

        order of children          first    first    second   second   third
        place in the new level     0        1        2        3        4
        parent (old place)         0        1        0        1        1
        number in the tree         13       10       14       11       12

    Parameters
    ----------
    level : Level
        Nodes that split, all of them. Its orders pass to the new level.
    branch : array of shape (n_alive,)
        Branch of each entry in ``level.entry``; SHARE to share it out.
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
    level.sorted.take_branches(level.entry, branch, level.depth)
    if (branch < 0).any():
        level = _share_out(level, branch, n_children)
    side = level.sorted.side.take(level.entry)

    nth_child, parent = order_of_children(n_children)
    cell = level.node * n_branches + side
    n_samples = np.bincount(cell, minlength=level.n_nodes * n_branches)[parent * n_branches + nth_child]
    start = segment_starts(n_samples)
    entry = partition_by_branch(level.entry[np.newaxis], level.sorted.side, n_branches)[0]
    moved = replace(
        level,
        id=first_id[parent] + nth_child,
        tree=level.tree[parent],
        start=start,
        entry=entry,
        total=segment_sums(level.addend, entry, start),
        depth=level.depth + 1,
    )
    return moved, parent


def order_of_children(n_children: Ints) -> tuple[Ints, Ints]:
    """For each child, in the order of a new level: which child of its parent it is, and the place of the parent."""
    nth_child, parent = (np.arange(n_children.max())[:, np.newaxis] < n_children).nonzero()
    return nth_child, parent


class Copies(NamedTuple):
    """New entries made from old ones. The new numbers follow the old order, the copies of one entry side by side.

    Attributes
    ----------
    origin, nth : arrays of shape (n_new,)
        The old entry that each new one is a copy of, and which of its copies; of an entry that is shared out, copy k
        takes branch k.
    share : array of shape (n_new,)
        The new entry's share of the old one's weight.
    n_copies, first : arrays of shape (n_old,)
        Number of copies of each old entry, and the number of the first.
    """

    origin: Ints
    nth: Ints
    share: Floats
    n_copies: Ints
    first: Ints

    def in_place_of(self, entries: Integers) -> Integers:
        """The entries, each replaced by its copies of positive share."""
        old, nth = repeat_with_index(entries, self.n_copies[entries])
        new = self.first[old] + nth
        return new[self.share[new] > 0].astype(entries.dtype)


def _share_out(level: Level, branch: Ints, n_children: Ints) -> Level:
    """Replace every entry without a branch by one entry for each branch that known rows take.

    Four entries of weight 1 in a node with two children; the branch of entry 2 is missing. The known entries send the
    weights 2 and 1 down the branches, so the shares are 2/3 and 1/3, and entry 2 becomes the entries 2 and 3::

        old entry   branch   copies     new entry   origin   nth   share   branch
        0           0        1          0           0        0     1       0
        1           1        1          1           1        0     1       1
        2           SHARE    2          2           2        0     2/3     0
        3           0        1          3           2        1     1/3     1
                                        4           3        0     1       0
    """
    share_of_child = _shares_of_children(level, branch, n_children)
    copies = _copies(level, branch, n_children, share_of_child)
    is_shared = copies.n_copies[copies.origin] > 1
    entry = copies.in_place_of(level.entry)
    in_node = np.zeros(len(level.row), dtype=np.intp)
    in_node[level.entry] = level.node
    n_samples = np.bincount(in_node[copies.origin[entry]], minlength=level.n_nodes)
    side = np.where(is_shared, copies.nth, level.sorted.side[copies.origin])
    return replace(
        level,
        row=level.row[copies.origin],
        weight=level.weight[copies.origin] * copies.share,
        whole_weight=level.whole_weight[copies.origin],
        addend=np.rint(level.addend[:, copies.origin] * copies.share).astype(np.int64),
        start=segment_starts(n_samples),
        entry=entry,
        sorted=level.sorted.renumbered(copies.in_place_of, side),
        has_unit_weights=False,
        rows_are_entries=False,
    )


def _shares_of_children(level: Level, branch: Ints, n_children: Ints) -> Floats:
    """Each child's share of the known weight of its node; the children come node by node."""
    first = segment_starts(n_children)[:-1]
    is_known = branch >= 0
    weight = level.weight[level.entry[is_known]]
    child = (first[level.node] + branch)[is_known]
    into_child = np.bincount(child, weight, minlength=int(n_children.sum()))
    return into_child / np.repeat(np.add.reduceat(into_child, first), n_children)


def _copies(level: Level, branch: Ints, n_children: Ints, share_of_child: Floats) -> Copies:
    """As many copies of an entry without a branch as its node has children, and one of every other entry.

    Entries in no open node are kept too, so that the numbers of all others follow from one running sum.
    """
    is_missing = branch < 0
    node, entry = level.node[is_missing], level.entry[is_missing]
    n_copies = np.ones(len(level.row), dtype=np.intp)
    n_copies[entry] = n_children[node]
    origin, nth = repeat_with_index(np.arange(len(level.row)), n_copies)
    first = segment_starts(n_copies)[:-1]
    share = np.ones(len(origin))
    # Copy k of an entry gets the share of child k of its node.
    nodes_first_child = segment_starts(n_children)[:-1]
    child, k = repeat_with_index(nodes_first_child[node], n_children[node])
    copy = np.repeat(first[entry], n_children[node]) + k
    share[copy] = share_of_child[child + k]
    return Copies(origin, nth, share, n_copies, first)
