"""How rows find their leaves fast: down one tree level by level, or in many shallow trees at once.

:meth:`treekit.Tree.membership` says what is meant; both ways here end in the same nodes. They hold for trees whose nodes
ask for one column. Nothing is done row by row or node by node: every step is one call of NumPy for many rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from treekit.tree import Tree

__all__ = ["Descent", "ShallowTrees", "are_shallow", "looked_up"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Rows that go down a tree together: their nodes and answers stay in the cache.
BLOCK = 2**15
#: After so many levels, and every few from then on, the rows that have reached a leaf are put aside.
FIRST_LEVELS, LEVELS = 8, 4
#: Depth up to which all questions of a tree are asked; at most 8, as the place of a leaf is kept in one byte.
SHALLOW = 8
#: Trees that are asked together; more share more questions, but every tree takes a byte a row.
TREES_AT_ONCE = 64
#: Bytes of the answers among which a level chooses: about a core's cache.
CACHE = 2**20


def as_kind(threshold: Floats, kind: np.dtype) -> NDArray:
    """The thresholds as numbers of the kind of the rows, rounded down: a row of that kind is above one or the other.

    So comparing needs no conversion of the rows. Of other kinds than floats nothing is changed.
    """
    if kind.kind != "f" or kind == threshold.dtype:
        return threshold
    with np.errstate(over="ignore"):
        rounded = threshold.astype(kind)
    return np.where(rounded > threshold, np.nextafter(rounded, kind.type(-np.inf)), rounded)


class Descent:
    """Rows go down one tree, all by one level in each turn, by a few lookups in flat arrays.

    A leaf leads back to itself, so a row that has arrived may go on asking. One more node, the last, takes the rows that
    can't answer where the tree does not send them down one branch.

    Parameters
    ----------
    tree : Tree
        A tree without linear combinations.
    """

    def __init__(self, tree: Tree):
        leaf, itself = tree.is_leaf, np.arange(tree.n_nodes)
        one_branch = tree.missing >= 0 if not tree.surrogates else np.zeros_like(leaf)
        by_rule = np.where(one_branch, tree.first_child + tree.missing, tree.n_nodes)
        self.tree, self.lost = tree, tree.n_nodes
        self.column = np.append(np.where(leaf, 0, tree.feature), 0)
        # Nothing is above an infinite threshold: at a leaf branch 0 is taken, which is the leaf itself.
        self.threshold = np.append(np.where(leaf, np.inf, tree.threshold), np.inf)
        self.first_child = np.append(np.where(leaf, itself, tree.first_child), self.lost)
        self.unanswered = np.append(np.where(leaf, itself, by_rule), self.lost)
        self.asks_category = np.append(tree.asks_category, False)

    def ends(self, values: NDArray) -> Ints:
        """Node where each row ends, of shape (n_rows,); the number of nodes for a row that is not sent down one branch.

        Takes time linear in the summed lengths of the paths, and beside the answer the memory of one block of rows.
        """
        if not (values.flags.c_contiguous or values.flags.f_contiguous):
            values = np.ascontiguousarray(values)
        # The table as it lies in memory, columns or rows one after the other: entry (j, i) is number j * down + i * right.
        flat = values.ravel(order="K")
        down, right = (step // values.itemsize for step in values.strides)
        column, threshold = self.column * down, as_kind(self.threshold, values.dtype)
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
                self._answer_categories(x, node, below)
            node = below
        end[row] = node
        return end

    def _answer_categories(self, x: NDArray, node: Ints, below: Ints) -> None:
        """Put right where the rows go that are asked for a category."""
        asked = np.flatnonzero(self.asks_category.take(node))
        at = node.take(asked)
        branch = self.tree.branch_of_category(x.take(asked), at)
        below[asked] = np.where(branch >= 0, self.first_child.take(at) + branch, self.unanswered.take(at))


class Cuts(NamedTuple):
    """Questions for one column of numbers: is it above each threshold? A missing one answers ``missing``."""

    column: int
    threshold: NDArray
    missing: bool

    def answers(self, x: NDArray) -> NDArray[np.bool_]:
        # What is missing is neither above a threshold nor below.
        return ~(x <= self.threshold[:, np.newaxis]) if self.missing else x > self.threshold[:, np.newaxis]


class Groups(NamedTuple):
    """Questions for one column of categories: is it one of a group? The last two entries are those of missing codes."""

    column: int
    is_in: NDArray[np.bool_]

    def answers(self, x: NDArray) -> NDArray[np.bool_]:
        return self.is_in.take(x.astype(np.intp), axis=1)


class ShallowTrees:
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
        Trees for which :func:`are_shallow` holds, on the same columns.
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
        self.questions, question = distinct_questions(trees, kind)
        # A leaf asks on, but both answers lead back to it: so every tree is complete.
        node = root[np.newaxis]
        self.asked: list[Ints] = []
        for _ in range(self.depth):
            self.asked.append(question[node])
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
        packed = [np.packbits(question.answers(values[question.column]), axis=1) for question in self.questions]
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


def distinct_questions(trees: Sequence[Tree], kind: np.dtype) -> tuple[list[Cuts | Groups], Ints]:
    """The distinct questions of some trees, column by column, and which of them each node of all trees asks.

    A leaf gets any of them.
    """
    features = trees[0].features
    feature = np.concatenate([tree.feature for tree in trees])
    threshold = np.concatenate([tree.threshold for tree in trees])
    missing = np.concatenate([tree.missing for tree in trees])
    parts: list[tuple[Ints, Cuts | Groups, Ints]] = []
    for j in np.unique(feature[feature >= 0]).tolist():
        node = np.flatnonzero(feature == j)
        if features[j].is_numeric:
            for way in np.unique(missing[node]).tolist():
                alike = node[missing[node] == way]
                distinct, which = np.unique(as_kind(threshold[alike], kind), return_inverse=True)
                parts.append((alike, Cuts(j, distinct, bool(way)), which))
        else:
            route = np.concatenate([tree.routes_of(j) for tree in trees])
            by_rule = missing[node, np.newaxis]
            group = np.hstack([np.where(route >= 0, route, by_rule), by_rule, by_rule]) == 1
            distinct, which = np.unique(group, axis=0, return_inverse=True)
            parts.append((node, Groups(j, distinct), which.ravel()))
    question = np.zeros(len(feature), dtype=np.intp)
    n_questions = 0
    for node, _, which in parts:
        question[node] = n_questions + which
        n_questions += which.max() + 1
    return [asked for _, asked, _ in parts], question


def are_shallow(trees: Sequence[Tree]) -> bool:
    """Whether :class:`ShallowTrees` holds: no tree deeper than SHALLOW, two branches a node, one of them for a row that
    can't answer."""
    return all(
        tree.max_depth <= SHALLOW
        and tree.direction is None
        and not tree.surrogates
        and ((tree.n_children == 2) & (tree.missing >= 0) | tree.is_leaf).all()
        for tree in trees
    )


def looked_up(trees: Sequence[Tree], says: Sequence[Floats], values: NDArray) -> Iterator[Floats]:
    """For one tree after the other what the node says in which each row ends, of shape (n_rows,).

    Parameters
    ----------
    trees : sequence of Tree
        The trees.
    says : sequence of arrays of shape (n_nodes,)
        What the nodes of each tree say.
    values : array of shape (n_features, n_rows)
        The rows, from :func:`treekit.table.encode`.
    """
    if not are_shallow(trees):
        values = np.ascontiguousarray(values)
        yield from (said.take(tree.apply(values)) for tree, said in zip(trees, says))
        return
    for start in range(0, len(trees), TREES_AT_ONCE):
        batch = ShallowTrees(trees[start : start + TREES_AT_ONCE], values.dtype)
        for said, node, place in zip(says[start:], batch.node, batch.places(values)):
            yield said[node].take(place)
