"""How rows find their leaves: level by level, all rows at once.

:func:`membership` is the definition: which share of each row ends in which node of any tree. For trees whose nodes
test one column, and for rows that are not shared out, :class:`LevelwiseTraversal` finds the same nodes about four
times as fast (trick: level by level). No loop runs over rows or nodes: every step is one call of NumPy for many rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_matrix

from treekit.numeric import LEAST_SHARE, Bools, Floats, Ints, Numbers, repeat_with_index
from treekit.trees.structure import SHARE, STOP, TreeStructure

__all__ = ["membership", "rows_by_level", "LevelwiseTraversal"]

#: Rows that go down a tree together: their nodes and answers stay in the cache. A million rows at once would take 1.6
#: times as long (trick: rows in blocks), and far more memory.
ROWS_AT_ONCE = 2**15

#: After the first 12 levels, and then after every 4, the rows that have reached a leaf are set aside, so that a
#: tree of 90 levels takes two thirds of the time (trick: rows set aside). Doing it after every level would cost more
#: than it saves.
FIRST_LEVELS, LEVELS = 12, 4


def membership(tree: TreeStructure, values: Numbers, rows: Ints | None = None, root: Ints | None = None) -> csr_matrix:
    """Which share of each row ends in which node: a sparse matrix of shape (n_rows, n_nodes), rows summing to 1.

    A row ends in a leaf, or at a node that tests a value which the row lacks, if the node's rule is to stop. It ends in
    several leaves when its weight is shared among branches on the way. A part of a row that is less than LEAST_SHARE,
    1/256, is not shared out any further: it goes down the heaviest branch, as in training. So a row ends in a bounded
    number of leaves, however many of its values are missing.

    Parameters
    ----------
    tree : Tree
    values : array of shape (n_features, n_rows)
        The rows, from :func:`treekit.reading.encoding.encode`.
    rows, root : arrays of shape (n,), optional
        Some rows, and the root where each of them starts; without them all rows start at root 0.

    Notes
    -----
    Takes time linear in the summed lengths of the paths, in one vectorised step per level.
    """
    if rows is not None:
        values = values[:, rows]
    levels = rows_by_level(tree, values, root)
    ends = [(row[stays], node[stays], share[stays]) for row, node, share, stays in levels]
    row, node, share = map(np.concatenate, zip(*ends))
    return csr_matrix((share, (row, node)), shape=(values.shape[1], tree.n_nodes))


def rows_by_level(
    tree: TreeStructure, values: Numbers, root: Ints | None = None
) -> Iterator[tuple[Ints, Ints, Floats, Bools]]:
    """Level by level: which rows are in which nodes, with what share of their weight, and whether they stay there."""
    row = np.arange(values.shape[1])
    node, share = np.zeros_like(row) if root is None else root, np.ones(len(row))
    while len(row):
        branch = np.full(len(row), STOP)
        inner = np.flatnonzero(tree.feature[node] >= 0)
        at = node[inner]
        taken = tree.branch_or_surrogate(values, at, row[inner])
        branch[inner] = np.where(taken >= 0, taken, tree.missing[at])
        stays = branch == STOP
        yield row, node, share, stays
        row, node, share, branch = _share_out(tree, *(part[~stays] for part in (row, node, share, branch)))
        node = tree.first_child[node] + branch


def _share_out(
    tree: TreeStructure, row: Ints, node: Ints, share: Floats, branch: Ints
) -> tuple[Ints, Ints, Floats, Ints]:
    """Replace every row whose branch is SHARE by one copy for each branch, with that branch's share of the weight.

    A row of which less than LEAST_SHARE is left takes the heaviest branch instead.
    """
    if not (branch == SHARE).any():
        return row, node, share, branch
    is_small = (branch == SHARE) & (share < LEAST_SHARE)
    if is_small.any():
        branch = np.where(is_small, tree.heaviest_branch(tree.weight)[node], branch)
    n_copies = np.where(branch == SHARE, tree.n_children[node], 1)
    origin, copy = repeat_with_index(np.arange(len(row)), n_copies)
    row, node, share, branch = row[origin], node[origin], share[origin], branch[origin]
    is_copy = branch == SHARE
    branch = np.where(is_copy, copy, branch)
    share = share * np.where(is_copy, tree.weight[tree.first_child[node] + branch] / tree.weight[node], 1)
    kept = np.flatnonzero(share > 0)
    return row[kept], node[kept], share[kept], branch[kept]


def round_thresholds_to(threshold: Floats, kind: np.dtype[np.floating | np.integer]) -> Numbers:
    """The thresholds as floats of the rows' kind, rounded down: no number of that kind lies between the two.

    So every row takes the same branch, and comparing needs no conversion of the rows. Thresholds for integers are
    left as they are.
    """
    if kind.kind != "f" or kind == threshold.dtype:
        return threshold
    with np.errstate(over="ignore"):
        rounded = threshold.astype(kind)
    return np.where(rounded > threshold, np.nextafter(rounded, kind.type(-np.inf)), rounded)


class LevelwiseTraversal:
    """Rows go down from every root, all by one level in each turn, by a few lookups in flat arrays.

    A leaf leads back to itself, so a row that has arrived may keep moving with the others. One more node, the last,
    collects the rows with a missing value that the tree does not send down a single branch.

    Parameters
    ----------
    tree : Tree
        A tree without linear combinations.
    """

    def __init__(self, tree: TreeStructure):
        leaf, itself = tree.is_leaf, np.arange(tree.n_nodes)
        one_branch = tree.missing >= 0 if not tree.surrogates else np.zeros_like(leaf)
        by_rule = np.where(one_branch, tree.first_child + tree.missing, tree.n_nodes)
        self.tree, self.max_depth = tree, tree.max_depth
        self.column = np.append(np.where(leaf, 0, tree.feature), 0)
        # Nothing is above an infinite threshold: at a leaf every row takes branch 0, which is the leaf itself.
        self.threshold = np.append(np.where(leaf, np.inf, tree.threshold), np.inf)
        self.first_child = np.append(np.where(leaf, itself, tree.first_child), tree.n_nodes)
        self.child_if_missing = np.append(np.where(leaf, itself, by_rule), tree.n_nodes)
        self.has_category_test = np.append(tree.has_category_test, False)

    def ends(self, values: Numbers, roots: Ints) -> Ints:
        """Node where each row ends below some roots, of shape (n_roots, n_rows); ``n_nodes`` for a row that does not
        take a single branch.

        Takes time linear in the summed lengths of the paths, and beside the result the memory of one block of rows.
        """
        if not (values.flags.c_contiguous or values.flags.f_contiguous):
            values = np.ascontiguousarray(values)
        # The table as it lies in memory, by columns or by rows: entry (j, i) is number j * down + i * right.
        flat = values.ravel(order="K")
        down, right = (step // values.itemsize for step in values.strides)
        has_gaps = bool(np.isnan(values).any())
        column, threshold = self.column * down, round_thresholds_to(self.threshold, values.dtype)
        n_roots, n_rows = len(roots), values.shape[1]
        end, n_at_once = np.empty((n_roots, n_rows), dtype=np.intp), max(1, ROWS_AT_ONCE // max(n_roots, 1))
        for start in range(0, n_rows, n_at_once):
            row = np.arange(start, min(start + n_at_once, n_rows))
            entry, node = np.tile(right * row, n_roots), np.repeat(roots, len(row))
            block = self._ends_of_block(flat, entry, node, column, threshold, has_gaps)
            end[:, start : start + n_at_once] = block.reshape(n_roots, -1)
        return end

    def _ends_of_block(
        self, flat: Numbers, entry: Ints, node: Ints, column: Ints, threshold: Numbers, has_gaps: bool
    ) -> Ints:
        """Node where each row of a block ends; its value at a node is ``flat[entry + column[node]]``."""
        row, end = np.arange(len(entry)), np.empty_like(entry)
        for level in range(self.max_depth):
            if level >= FIRST_LEVELS and level % LEVELS == 0:
                end[row] = node
                moving = np.flatnonzero(self.first_child.take(node) != node)
                row, entry, node = row.take(moving), entry.take(moving), node.take(moving)
                if not len(row):
                    break
            x = flat.take(column.take(node) + entry)
            below = self.first_child.take(node)
            below += x > threshold.take(node)
            if has_gaps:
                missing = np.flatnonzero(np.isnan(x))
                below[missing] = self.child_if_missing.take(node.take(missing))
            if self.tree.routes.n_pairs:
                self._overwrite_category_tests(x, node, below)
            node = below
        end[row] = node
        return end

    def _overwrite_category_tests(self, x: Numbers, node: Ints, below: Ints) -> None:
        """Overwrite, in place, the child of the rows whose nodes test a category."""
        tested = np.flatnonzero(self.has_category_test.take(node))
        at = node.take(tested)
        branch = self.tree.routes.branch_of(at, x.take(tested))
        below[tested] = np.where(branch >= 0, self.first_child.take(at) + branch, self.child_if_missing.take(at))
