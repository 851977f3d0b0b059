"""How rows find their leaves fast: down one tree level by level, or in many shallow trees at once.

:meth:`treekit.Tree.membership` says what is meant; both ways here end in the same nodes. They hold for trees whose nodes
ask for one column. Nothing is done row by row or node by node: every step is one call of NumPy for many rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from treekit.numeric import Bools, Floats, Ints, repeat_with_index
from treekit.trees.structure import SHARE, STOP, TreeStructure

__all__ = ["membership", "rows_by_level", "LevelwiseTraversal"]

#: Rows that go down a tree together: their nodes and answers stay in the cache.
BLOCK = 2**15

#: After so many levels, and every few from then on, the rows that have reached a leaf are put aside.
FIRST_LEVELS, LEVELS = 8, 4


def membership(tree: TreeStructure, values: NDArray) -> csr_matrix:
    """Which share of each row ends in which node: a sparse matrix of shape (n_rows, n_nodes), rows summing to 1.

    A row ends in a leaf, or at a node whose test it can't answer when that node's rule is to stop. It ends in several
    leaves when its weight is shared among branches on the way.

    Parameters
    ----------
    tree : Tree
    values : array of shape (n_features, n_rows)
        The rows, from :func:`treekit.growing.encoding.encode`.

    Notes
    -----
    Takes time linear in the summed lengths of the paths, in one vectorised step per level.
    """
    ends = [(row[stays], node[stays], share[stays]) for row, node, share, stays in rows_by_level(tree, values)]
    row, node, share = map(np.concatenate, zip(*ends))
    return csr_matrix((share, (row, node)), shape=(values.shape[1], tree.n_nodes))


def rows_by_level(tree: TreeStructure, values: NDArray) -> Iterator[tuple[Ints, Ints, Floats, Bools]]:
    """Level by level: which rows are in which nodes, with what share of their weight, and whether they stay there."""
    row = np.arange(values.shape[1])
    node, share = np.zeros_like(row), np.ones(len(row))
    while len(row):
        branch = np.full(len(row), STOP)
        inner = np.flatnonzero(tree.feature[node] >= 0)
        at = node[inner]
        taken = tree.branch_taken(values, at, row[inner])
        for surrogate in tree.surrogates:
            unanswered = np.flatnonzero(taken < 0)
            taken[unanswered] = surrogate.branch_taken(values, at[unanswered], row[inner[unanswered]])
        branch[inner] = np.where(taken >= 0, taken, tree.missing[at])
        stays = branch == STOP
        yield row, node, share, stays
        row, node, share, branch = _share_out(tree, *(part[~stays] for part in (row, node, share, branch)))
        node = tree.first_child[node] + branch


def _share_out(
    tree: TreeStructure, row: Ints, node: Ints, share: Floats, branch: Ints
) -> tuple[Ints, Ints, Floats, Ints]:
    """Replace every row whose branch is SHARE by one copy for each branch, with that branch's share of the weight."""
    if not (branch == SHARE).any():
        return row, node, share, branch
    n_copies = np.where(branch == SHARE, tree.n_children[node], 1)
    origin, copy = repeat_with_index(np.arange(len(row)), n_copies)
    row, node, share, branch = (part[origin] for part in (row, node, share, branch))
    is_copy = branch == SHARE
    branch = np.where(is_copy, copy, branch)
    share = share * np.where(is_copy, tree.weight[tree.first_child[node] + branch] / tree.weight[node], 1)
    kept = np.flatnonzero(share > 0)
    return row[kept], node[kept], share[kept], branch[kept]


def round_thresholds_to(threshold: Floats, kind: np.dtype) -> NDArray:
    """The thresholds as numbers of the kind of the rows, rounded down: a row of that kind is above one or the other.

    So comparing needs no conversion of the rows. Of other kinds than floats nothing is changed.
    """
    if kind.kind != "f" or kind == threshold.dtype:
        return threshold
    with np.errstate(over="ignore"):
        rounded = threshold.astype(kind)
    return np.where(rounded > threshold, np.nextafter(rounded, kind.type(-np.inf)), rounded)


class LevelwiseTraversal:
    """Rows go down one tree, all by one level in each turn, by a few lookups in flat arrays.

    A leaf leads back to itself, so a row that has arrived may go on asking. One more node, the last, takes the rows that
    can't answer where the tree does not send them down one branch.

    Parameters
    ----------
    tree : Tree
        A tree without linear combinations.
    """

    def __init__(self, tree: TreeStructure):
        leaf, itself = tree.is_leaf, np.arange(tree.n_nodes)
        one_branch = tree.missing >= 0 if not tree.surrogates else np.zeros_like(leaf)
        by_rule = np.where(one_branch, tree.first_child + tree.missing, tree.n_nodes)
        self.tree, self.lost = tree, tree.n_nodes
        self.column = np.append(np.where(leaf, 0, tree.feature), 0)
        # Nothing is above an infinite threshold: at a leaf branch 0 is taken, which is the leaf itself.
        self.threshold = np.append(np.where(leaf, np.inf, tree.threshold), np.inf)
        self.first_child = np.append(np.where(leaf, itself, tree.first_child), self.lost)
        self.unanswered = np.append(np.where(leaf, itself, by_rule), self.lost)
        self.tests_category = np.append(tree.tests_category, False)

    def ends(self, values: NDArray) -> Ints:
        """Node where each row ends, of shape (n_rows,); the number of nodes for a row that is not sent down one branch.

        Takes time linear in the summed lengths of the paths, and beside the answer the memory of one block of rows.
        """
        if not (values.flags.c_contiguous or values.flags.f_contiguous):
            values = np.ascontiguousarray(values)
        # The table as it lies in memory, columns or rows one after the other: entry (j, i) is number j * down + i * right.
        flat = values.ravel(order="K")
        down, right = (step // values.itemsize for step in values.strides)
        column, threshold = self.column * down, round_thresholds_to(self.threshold, values.dtype)
        end = np.empty(values.shape[1], dtype=np.intp)
        for start in range(0, len(end), BLOCK):
            entry = right * np.arange(start, min(start + BLOCK, len(end)))
            end[start : start + BLOCK] = self._ends_of_block(flat, entry, column, threshold)
        return end

    def _ends_of_block(self, flat: NDArray, entry: Ints, column: Ints, threshold: NDArray) -> Ints:
        """Node where each row of a block ends; ``entry`` is where its first column lies, ``column`` how far further."""
        row, node, end = np.arange(len(entry)), np.zeros_like(entry), np.empty_like(entry)
        for level in range(self.tree.max_depth):
            if level >= FIRST_LEVELS and level % LEVELS == 0:
                end[row] = node
                going = np.flatnonzero(self.first_child.take(node) != node)
                row, entry, node = row.take(going), entry.take(going), node.take(going)
                if not len(row):
                    break
            x = flat.take(column.take(node) + entry)
            below = self.first_child.take(node)
            below += x > threshold.take(node)
            is_missing = np.isnan(x)
            if is_missing.any():
                missing = np.flatnonzero(is_missing)
                below[missing] = self.unanswered.take(node.take(missing))
            if len(self.tree.route):
                self._branch_categories(x, node, below)
            node = below
        end[row] = node
        return end

    def _branch_categories(self, x: NDArray, node: Ints, below: Ints) -> None:
        """Put right where the rows go that are asked for a category."""
        asked = np.flatnonzero(self.tests_category.take(node))
        at = node.take(asked)
        branch = self.tree.branch_of_category(x.take(asked), at)
        below[asked] = np.where(branch >= 0, self.first_child.take(at) + branch, self.unanswered.take(at))
