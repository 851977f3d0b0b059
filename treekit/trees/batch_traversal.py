"""How rows find their leaves in many shallow trees at once, by comparing bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.numeric import Floats, Ints
from treekit.trees.traversal import BLOCK, round_thresholds_to
from treekit.trees.tree import Tree

__all__ = ["BatchedTrees", "can_be_batched", "leaf_values"]

#: Depth up to which all questions of a tree are asked; at most 8, as the place of a leaf is kept in one byte.
SHALLOW = 8

#: Trees that are asked together; more share more questions, but every tree takes a byte a row.
TREES_AT_ONCE = 64

#: Bytes of the answers among which a level chooses: about a core's cache.
CACHE = 2**20


class ThresholdTests(NamedTuple):
    """Questions for one column of numbers: is it above each threshold? A missing one answers ``missing``."""

    column: int
    threshold: NDArray
    missing: bool

    def answers(self, x: NDArray) -> NDArray[np.bool_]:
        # What is missing is neither above a threshold nor below.
        return ~(x <= self.threshold[:, np.newaxis]) if self.missing else x > self.threshold[:, np.newaxis]


class CategoryTests(NamedTuple):
    """Questions for one column of categories: is it one of a group? The last two entries are those of missing codes."""

    column: int
    is_in: NDArray[np.bool_]

    def answers(self, x: NDArray) -> NDArray[np.bool_]:
        return self.is_in.take(x.astype(np.intp), axis=1)


class BatchedTrees:
    """The leaves of rows in many shallow trees at once.

    A tree of depth d has at most :math:`2^d - 1` questions. It is cheaper to ask all of them, one after the other down a
    whole column, than to fetch for every row the question that is its turn:

    1. Each distinct question of all trees is asked once; the answers are packed, those of eight rows in a byte. Trees
       grown on bins share many questions.
    2. On level k of a tree one of :math:`2^k` answers counts. It is found as in a knock-out: the root's answer tells
       which half of them stays in, the next one which half of these. ``low ^ ((low ^ high) & bit)`` is ``high`` where
       the bit is set and ``low`` elsewhere, for eight rows a byte.
    3. The answers that count, read as a binary number, tell the place of the leaf.

    (Lucchese and others, 2015, find leaves by bits too: they strike off what a false answer rules out.)

    Parameters
    ----------
    trees : sequence of Tree
        Trees for which :func:`can_be_batched` holds, on the same columns.
    kind : dtype
        Kind of number of the rows.

    Attributes
    ----------
    node : array of shape (n_trees, 2 ** depth)
        The leaf at each place. A leaf above the lowest level has several.
    """

    def __init__(self, trees: Sequence[Tree], kind: np.dtype):
        root = np.cumsum([0] + [tree.n_nodes for tree in trees])[:-1]
        n_nodes, leaf = sum(map(len, trees)), np.concatenate([tree.is_leaf for tree in trees])
        first = np.concatenate([tree.first_child + start for tree, start in zip(trees, root)])
        left = np.where(leaf, np.arange(n_nodes), first)
        right = left + ~leaf
        self.depth = max(tree.max_depth for tree in trees)
        self.questions, test = distinct_tests(trees, kind)
        # A leaf asks on, but both answers lead back to it: so every tree is complete.
        node = root[np.newaxis]
        self.asked: list[Ints] = []
        for _ in range(self.depth):
            self.asked.append(test[node])
            node = np.stack([left[node], right[node]], axis=1).reshape(-1, len(trees))
        self.node = (node - root).T

    def places(self, values: NDArray) -> NDArray[np.uint8]:
        """Place of the leaf of each row in each tree, of shape (n_trees, n_rows).

        Takes O(rows x distinct questions) comparisons, and in each tree three operations on bits for every question and
        eight rows; memory one byte a row and tree.
        """
        place = np.zeros((len(self.node), values.shape[1]), dtype=np.uint8)
        if self.depth == 0:
            return place
        n_candidates = 2 ** (self.depth - 1) * len(self.node)
        # On fewer rows than these 4096 NumPy may compare through a buffer, five times slower.
        n_rows = int(np.clip(8 * CACHE // n_candidates, 2**12, BLOCK))
        for start in range(0, values.shape[1], n_rows):
            block = np.ascontiguousarray(values[:, start : start + n_rows])
            self._place(block, place[:, start : start + n_rows])
        return place

    def _place(self, values: NDArray, place: NDArray[np.uint8]) -> None:
        packed = [np.packbits(test.answers(values[test.column]), axis=1) for test in self.questions]
        answers = np.concatenate(packed)
        bits: list[NDArray[np.uint8]] = []
        for asked in self.asked:
            candidates = answers[asked]
            for bit in bits:
                low, high = candidates[: len(candidates) // 2], candidates[len(candidates) // 2 :]
                high ^= low
                high &= bit
                high ^= low
                candidates = high
            bits.append(candidates[0])
        for bit in bits:
            place += place
            place += np.unpackbits(bit, axis=1, count=place.shape[1])


def distinct_tests(trees: Sequence[Tree], kind: np.dtype) -> tuple[list[ThresholdTests | CategoryTests], Ints]:
    """The distinct questions of some trees, column by column, and which of them each node of all trees asks.

    A leaf gets any of them.
    """
    features = trees[0].features
    feature = np.concatenate([tree.feature for tree in trees])
    threshold = np.concatenate([tree.threshold for tree in trees])
    missing = np.concatenate([tree.missing for tree in trees])
    parts: list[tuple[Ints, ThresholdTests | CategoryTests, Ints]] = []
    for j in np.unique(feature[feature >= 0]).tolist():
        node = np.flatnonzero(feature == j)
        if features[j].is_numeric:
            for way in np.unique(missing[node]).tolist():
                alike = node[missing[node] == way]
                distinct, which = np.unique(round_thresholds_to(threshold[alike], kind), return_inverse=True)
                parts.append((alike, ThresholdTests(j, distinct, bool(way)), which))
        else:
            route = np.concatenate([tree.routes_of(j) for tree in trees])
            by_rule = missing[node, np.newaxis]
            group = np.hstack([np.where(route >= 0, route, by_rule), by_rule, by_rule]) == 1
            distinct, which = np.unique(group, axis=0, return_inverse=True)
            parts.append((node, CategoryTests(j, distinct), which.ravel()))
    test = np.zeros(len(feature), dtype=np.intp)
    n_questions = 0
    for node, _, which in parts:
        test[node] = n_questions + which
        n_questions += which.max() + 1
    return [asked for _, asked, _ in parts], test


def can_be_batched(trees: Sequence[Tree]) -> bool:
    """Whether :class:`BatchedTrees` holds: no tree deeper than SHALLOW, two branches a node, one of them for a row that
    can't answer."""
    return all(
        tree.max_depth <= SHALLOW
        and tree.direction is None
        and not tree.surrogates
        and ((tree.n_children == 2) & (tree.missing >= 0) | tree.is_leaf).all()
        for tree in trees
    )


def leaf_values(trees: Sequence[Tree], says: Sequence[Floats], values: NDArray) -> Iterator[Floats]:
    """For one tree after the other what the node says in which each row ends, of shape (n_rows,).

    Parameters
    ----------
    trees : sequence of Tree
        The trees.
    says : sequence of arrays of shape (n_nodes,)
        What the nodes of each tree say.
    values : array of shape (n_features, n_rows)
        The rows, from :func:`treekit.growing.encoding.encode`.
    """
    if not can_be_batched(trees):
        values = np.ascontiguousarray(values)
        yield from (said.take(tree.apply(values)) for tree, said in zip(trees, says))
        return
    for start in range(0, len(trees), TREES_AT_ONCE):
        batch = BatchedTrees(trees[start : start + TREES_AT_ONCE], values.dtype)
        for said, node, place in zip(says[start:], batch.node, batch.places(values)):
            yield said[node].take(place)
