"""How rows find their leaves in many shallow trees at once, by comparing bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.numeric import Bools, Floats, Ints, Numbers
from treekit.trees.routes import join_routes
from treekit.trees.traversal import round_thresholds_to
from treekit.trees.tree import Tree

__all__ = ["BatchedTrees", "can_be_batched", "leaf_values"]

#: Greatest depth of a tree in a batch; at most 8, because the index of a leaf is kept in one byte.
SHALLOW = 8

#: Most categories of a column: no more than the rows of a block, so that what a test says of each category takes no
#: more memory than what it says of each row.
MOST_CATEGORIES = 2**12

#: Trees in one batch. More trees share more tests: with 16 prediction takes a fifth longer (trick: large batches). But
#: every tree takes a byte a row.
TREES_AT_ONCE = 64

#: Rows whose answers are found together, so that these stay in the cache: all at once take half as long again
#: (trick: answers in the cache). With fewer than 2**12 NumPy may compare through a buffer, which is slow.
ROWS_ANSWERED_AT_ONCE = 2**13


class ThresholdTests(NamedTuple):
    """Tests of one column of numbers: is it above each threshold? For a missing value the answer is ``missing``."""

    column: int
    threshold: Numbers
    missing: bool

    def answers(self, x: Numbers) -> Bools:
        # NaN is neither above a threshold nor below: the two forms differ in what they give for it.
        return ~(x <= self.threshold[:, np.newaxis]) if self.missing else x > self.threshold[:, np.newaxis]


class CategoryTests(NamedTuple):
    """Tests of one column of categories: is it in each group? The last two entries serve the codes UNSEEN, MISSING."""

    column: int
    is_in: Bools

    def answers(self, x: Numbers) -> Bools:
        return self.is_in.take(x.astype(np.intp), axis=1)


class BatchedTrees:
    """The leaves of rows in many shallow trees at once.

    A tree of depth d has at most :math:`2^d - 1` tests. It is cheaper to apply all of them, each to a whole column,
    than to look up for every row the test whose turn it is: 100 trees of depth 6 take some 40 % of the time (trick:
    trees in batches).

    1. Each distinct test of all trees is applied once; the answers (0: left, 1: right) are packed, those of eight rows
       in a byte. Trees grown on bins share many tests.
    2. Level k of a tree holds :math:`2^k` tests, but a row meets only one of them. Its answer is found by elimination:
       the root's answer says which half of the tests remains, the next answer which half of these.
    3. The answers that the row meets, read as a binary number, are the index of its leaf among the :math:`2^d`
       positions below the last level.

    With three levels, and a row that goes right, left, right::

        level 0             a             answer 1
        level 1       b0         b1       1 keeps b1, which answers 0
        level 2     c0  c1     c2  c3     1 keeps c2 and c3, then 0 keeps c2, which answers 1
        leaves     0 1 2 3     4 5 6 7    1, 0, 1 in binary: leaf 5

    (Lucchese and others, 2015, find leaves by bits, too: they delete the leaves that a false test rules out.)

    Parameters
    ----------
    trees : sequence of Tree
        Trees for which :func:`can_be_batched` holds, on the same columns.
    kind : dtype
        Kind of number of the rows.

    Attributes
    ----------
    node : array of shape (n_trees, 2 ** depth)
        Node at each position below the last level. A leaf above the last level fills several positions.
    """

    def __init__(self, trees: Sequence[Tree], kind: np.dtype):
        root = np.cumsum([0] + [tree.n_nodes for tree in trees])[:-1]
        n_nodes, leaf = sum(map(len, trees)), np.concatenate([tree.is_leaf for tree in trees])
        first = np.concatenate([tree.first_child + start for tree, start in zip(trees, root)])
        left = np.where(leaf, np.arange(n_nodes), first)
        right = left + ~leaf
        self.depth = max(tree.max_depth for tree in trees)
        self.tests, test = distinct_tests(trees, kind)
        # Both children of a leaf are the leaf itself: so every tree is complete, 2 ** k nodes on level k.
        node = root[np.newaxis]
        self.tests_of_level: list[Ints] = []  # level k: array of shape (2 ** k, n_trees)
        for _ in range(self.depth):
            self.tests_of_level.append(test[node])
            # The children of index i are 2 i and 2 i + 1: the root's answer is the first binary digit of the index.
            node = np.stack([left[node], right[node]], axis=1).reshape(-1, len(trees))
        self.node = (node - root).T

    def positions(self, values: Numbers) -> NDArray[np.uint8]:
        """Index in ``node`` of the leaf of each row in each tree, of shape (n_trees, n_rows).

        Takes O(rows x distinct tests) comparisons, and in each tree three operations on bits for every test and eight
        rows; memory one byte per row and tree.
        """
        position = np.zeros((len(self.node), values.shape[1]), dtype=np.uint8)
        if self.depth == 0:
            return position
        for start in range(0, values.shape[1], ROWS_ANSWERED_AT_ONCE):
            block = np.ascontiguousarray(values[:, start : start + ROWS_ANSWERED_AT_ONCE])
            self._add_positions(block, position[:, start : start + ROWS_ANSWERED_AT_ONCE])
        return position

    def _add_positions(self, values: Numbers, position: NDArray[np.uint8]) -> None:
        """Write the positions of a block of rows into ``position``, which holds zeros."""
        packed = [np.packbits(test.answers(values[test.column]), axis=1) for test in self.tests]
        answers = np.concatenate(packed)
        path: list[NDArray[np.uint8]] = []  # the answers that each row meets, from the root down
        for tests in self.tests_of_level:
            candidates = answers[tests]
            for bit in path:
                # Bitwise selection, eight rows a byte: low ^ ((low ^ high) & bit) is high where the bit is 1, else low.
                low, high = candidates[: len(candidates) // 2], candidates[len(candidates) // 2 :]
                high ^= low
                high &= bit
                high ^= low
                candidates = high
            path.append(candidates[0])
        for bit in path:
            # Binary digits, the first one first: double what is there, and add the next.
            position += position
            position += np.unpackbits(bit, axis=1, count=position.shape[1])


def distinct_tests(trees: Sequence[Tree], kind: np.dtype) -> tuple[list[ThresholdTests | CategoryTests], Ints]:
    """The distinct tests of some trees, column by column, and for each node of all trees the number of its test.

    A leaf gets number 0; whatever that test answers, both children of a leaf are the leaf.
    """
    features = trees[0].features
    feature = np.concatenate([tree.feature for tree in trees])
    threshold = np.concatenate([tree.threshold for tree in trees])
    missing = np.concatenate([tree.missing for tree in trees])
    root = np.cumsum([0] + [tree.n_nodes for tree in trees])
    routes = join_routes([t.routes.renumbered(first + np.arange(t.n_nodes)) for t, first in zip(trees, root)])
    groups: list[tuple[Ints, ThresholdTests | CategoryTests, Ints]] = []  # nodes, their tests, the test of each node
    for j in np.unique(feature[feature >= 0]).tolist():
        node = np.flatnonzero(feature == j)
        if features[j].is_numeric:
            for branch in np.unique(missing[node]).tolist():
                alike = node[missing[node] == branch]
                distinct, which = np.unique(round_thresholds_to(threshold[alike], kind), return_inverse=True)
                groups.append((alike, ThresholdTests(j, distinct, bool(branch)), which))
        else:
            # The codes -2 (UNSEEN) and -1 (MISSING) index the last two entries.
            goes_right = np.repeat(missing[node, np.newaxis] == 1, features[j].n_values + 2, axis=1)
            of_column = routes.of(node, len(feature))
            goes_right[of_column.node, of_column.category] = of_column.branch == 1
            is_in, which = np.unique(goes_right, axis=0, return_inverse=True)
            groups.append((node, CategoryTests(j, is_in), which.ravel()))
    number = np.zeros(len(feature), dtype=np.intp)
    n_tests = 0
    for node, _, which in groups:
        number[node] = n_tests + which
        n_tests += which.max() + 1
    return [tests for _, tests, _ in groups], number


def can_be_batched(trees: Sequence[Tree]) -> bool:
    """Whether :class:`BatchedTrees` holds: no tree below SHALLOW, two branches per node, one for missing values; and
    whether no column has more than MOST_CATEGORIES.
    """
    return all(feature.n_values <= MOST_CATEGORIES for feature in trees[0].features) and all(
        tree.max_depth <= SHALLOW
        and tree.direction is None
        and not tree.surrogates
        and ((tree.n_children == 2) & (tree.missing >= 0) | tree.is_leaf).all()
        for tree in trees
    )


def leaf_values(trees: Sequence[Tree], node_values: Sequence[Floats], values: Numbers) -> Iterator[Floats]:
    """For one tree after the other the value of the node where each row ends, of shape (n_rows,).

    Parameters
    ----------
    trees : sequence of Tree
        The trees.
    node_values : sequence of arrays of shape (n_nodes,)
        The value of each node of each tree.
    values : array of shape (n_features, n_rows)
        The rows, from :func:`treekit.reading.encoding.encode`.
    """
    if not can_be_batched(trees):
        values = np.ascontiguousarray(values)
        yield from (of_node.take(tree.apply(values)) for tree, of_node in zip(trees, node_values))
        return
    for start in range(0, len(trees), TREES_AT_ONCE):
        batch = BatchedTrees(trees[start : start + TREES_AT_ONCE], values.dtype)
        for of_node, node, position in zip(node_values[start:], batch.node, batch.positions(values)):
            yield of_node[node].take(position)
