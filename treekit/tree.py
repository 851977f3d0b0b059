"""One Tree for all: flat arrays, read node by node, asked row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from treekit import draw, export
from treekit.asking import Descent
from treekit.level import copies
from treekit.table import Feature

__all__ = ["Tree", "Node", "Surrogate"]


#: What a row does at a node whose question it can't answer: stay there, go down all branches in shares, or, while a
#: tree grows, go down the branch with the most weight (the grown tree then holds the number of that branch).
STOP, SHARE, MAJORITY = -1, -2, -3


class Surrogate(NamedTuple):
    """For each node another question that stands in for its own; ``feature`` is -1 where there is none.

    ``threshold`` and ``route`` are as in :class:`Tree`, ``route`` with one row a node; where ``is_turned``, branches 0
    and 1 are exchanged.
    """

    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    route: NDArray[np.intp]
    is_turned: NDArray[np.bool_]

    def answer(self, values: NDArray, node: NDArray[np.intp], row: NDArray[np.integer]) -> NDArray[np.intp]:
        """Branch of each row at its node; -1 where the surrogate can't tell either."""
        answer = np.full(len(node), -1)
        asks = np.flatnonzero(self.feature[node] >= 0)
        at = node[asks]
        side = branches(values[self.feature[at], row[asks]], self.threshold[at], self.route, at)
        answer[asks] = np.where(side >= 0, side ^ self.is_turned[at], -1)
        return answer


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A grown tree. Node 0 is the root; the nodes are numbered level by level, the children of a node in a row.

    Attributes
    ----------
    features : tuple of Feature
        The columns of the training table: names and, for categories, values.
    classes : array of shape (n_classes,) or None
        The labels; None for a tree that predicts numbers.
    feature : array of shape (n_nodes,)
        The column that a node asks for; -1 at a leaf.
    threshold : array of shape (n_nodes,)
        Where a node cuts a column of numbers: branch 0 is at or below, branch 1 above. NaN elsewhere.
    route : integer array
        For the nodes that ask for a column of categories, one after the other, the branch of each category; -1 where
        the training rows of the node did not have it.
    n_children : array of shape (n_nodes,)
        Number of branches; 0 at a leaf.
    missing : array of shape (n_nodes,)
        What a row does that can't answer: a branch, or STOP, or SHARE.
    gain : array of shape (n_nodes,)
        How much the split lowers the impurity; 0 at a leaf.
    impurity : array of shape (n_nodes,)
        Impurity of the training rows in the node: for entropy, in bits.
    n_samples, weight : arrays of shape (n_nodes,)
        Number of training rows in the node, and their weight.
    value : array of shape (n_nodes, n_values)
        What a node says: the shares of the classes, or a number. A node without rows says what its parent says.
    surrogates : tuple of Surrogate
        What to ask, one after the other, where the answer is missing.
    direction : array of shape (n_nodes, n_features) or None
        For a tree that asks for linear combinations, the coefficients of the one that each node cuts at its threshold;
        zeros where it asks for a single column. ``feature`` is then the column that counts most in it.
    """

    features: tuple[Feature, ...]
    classes: NDArray | None
    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    route: NDArray[np.intp]
    n_children: NDArray[np.intp]
    missing: NDArray[np.intp]
    gain: NDArray[np.float64]
    impurity: NDArray[np.float64]
    n_samples: NDArray[np.intp]
    weight: NDArray[np.float64]
    value: NDArray[np.float64]
    surrogates: tuple[Surrogate, ...] = ()
    direction: NDArray[np.float64] | None = None

    # -- shape --------------------------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return self.feature < 0

    @property
    def n_leaves(self) -> int:
        """Number of leaves, empty ones included."""
        return int(np.count_nonzero(self.is_leaf))

    @cached_property
    def first_child(self) -> NDArray[np.intp]:
        """First child of each node; the others follow it. Numbering by levels makes this a running sum."""
        return 1 + np.cumsum(self.n_children) - self.n_children

    @cached_property
    def parent(self) -> NDArray[np.intp]:
        """Parent of each node; -1 for the root."""
        return np.concatenate([[-1], np.repeat(np.arange(self.n_nodes), self.n_children)])

    @cached_property
    def branch(self) -> NDArray[np.intp]:
        """Which branch of its parent leads to each node; -1 for the root."""
        branch = np.arange(self.n_nodes) - self.first_child[self.parent]
        branch[0] = -1
        return branch

    @cached_property
    def depth(self) -> NDArray[np.intp]:
        """Number of questions above each node."""
        depth = np.zeros(self.n_nodes, dtype=np.intp)
        level = np.flatnonzero(self.n_children[:1])
        while len(level):
            first, last = self.first_child[level[0]], self.first_child[level[-1]] + self.n_children[level[-1]]
            depth[first:last] = depth[level[0]] + 1
            level = first + np.flatnonzero(self.n_children[first:last])
        return depth

    @property
    def max_depth(self) -> int:
        """Largest number of questions on a path; 0 when the root is a leaf."""
        return int(self.depth.max())

    # -- reading ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.n_nodes

    def __getitem__(self, node: int) -> Node:
        if not 0 <= node < self.n_nodes:
            raise IndexError(f"node must be between 0 and {self.n_nodes - 1}; got {node}.")
        return Node(self, int(node))

    @property
    def root(self) -> Node:
        """The node where every row starts."""
        return self[0]

    def walk(self) -> Iterator[Node]:
        """All nodes, each before its children, branch by branch: the order in which a tree is read aloud."""
        waiting = [0]
        while waiting:
            node = waiting.pop()
            yield Node(self, node)
            first = int(self.first_child[node])
            waiting.extend(reversed(range(first, first + int(self.n_children[node]))))

    def __repr__(self) -> str:
        return f"Tree of {self.n_nodes} nodes, {self.n_leaves} of them leaves, depth {self.max_depth}"

    # -- asking -------------------------------------------------------------------------------------------------

    @cached_property
    def asks_category(self) -> NDArray[np.bool_]:
        """Which nodes ask for a column of categories."""
        is_category = np.array([not feature.is_numeric for feature in self.features])
        return ~self.is_leaf & is_category[self.feature]

    @cached_property
    def _first_route(self) -> NDArray[np.intp]:
        """Where the branches of each node begin in ``route``."""
        n_values = np.array([feature.n_values for feature in self.features])
        n_routes = np.where(self.is_leaf, 0, n_values[self.feature])
        return np.cumsum(n_routes) - n_routes

    def routes_of(self, j: int) -> NDArray[np.intp]:
        """Branch of each category in the nodes that ask for column j, of shape (n_such_nodes, n_categories)."""
        node = np.flatnonzero(self.feature == j)
        return self.route[self._first_route[node][:, np.newaxis] + np.arange(self.features[j].n_values)]

    def branch_of_category(self, code: NDArray, node: NDArray[np.intp]) -> NDArray[np.intp]:
        """The branch that the code of a category takes at its node; -1 for one that is missing or has no branch."""
        place = self._first_route[node] + code.astype(np.intp)
        return np.where(code >= 0, self.route.take(place, mode="clip"), -1)

    @cached_property
    def _route_table(self) -> NDArray[np.intp]:
        """``route`` as one row a node, filled up with -1."""
        n_values = np.array([feature.n_values for feature in self.features])
        table = np.full((self.n_nodes, int(n_values.max())), -1)
        table[np.arange(table.shape[1]) < np.where(self.is_leaf, 0, n_values[self.feature])[:, np.newaxis]] = self.route
        return table

    def _asked(self, values: NDArray, node: NDArray[np.intp], row: NDArray[np.intp]) -> NDArray:
        """What each row answers to the question of its node."""
        x = values[self.feature[node], row]
        if self.direction is None:
            return x
        is_tilted = self.direction[node].any(axis=1)
        return np.where(is_tilted, combine(values, self.direction[node], row), x)

    def answer(self, values: NDArray, node: NDArray[np.intp], row: NDArray[np.intp]) -> NDArray[np.intp]:
        """Branch of each row at its node; -1 where it can't answer."""
        x = self._asked(values, node, row)
        branch = np.where(np.isnan(x), -1, x > self.threshold[node])
        asked = np.flatnonzero(self.asks_category[node])
        branch[asked] = self.branch_of_category(x[asked], node[asked])
        return branch

    def _table(self, values: NDArray) -> Iterator[tuple[NDArray, NDArray, NDArray, NDArray]]:
        """Level by level: which rows are in which nodes, with what share of them, and whether they stay there."""
        row = np.arange(values.shape[1])
        node, share = np.zeros_like(row), np.ones(len(row))
        while len(row):
            branch = np.full(len(row), STOP)
            asks = np.flatnonzero(self.feature[node] >= 0)
            at = node[asks]
            answer = self.answer(values, at, row[asks])
            for surrogate in self.surrogates:
                lost = np.flatnonzero(answer < 0)
                answer[lost] = surrogate.answer(values, at[lost], row[asks[lost]])
            branch[asks] = np.where(answer >= 0, answer, self.missing[at])
            yield row, node, share, branch == STOP
            row, node, share, branch = self._shared_out(*(part[branch != STOP] for part in (row, node, share, branch)))
            node = self.first_child[node] + branch

    def _shared_out(self, row: NDArray, node: NDArray, share: NDArray, branch: NDArray) -> tuple[NDArray, ...]:
        """The table with every row of branch SHARE replaced by one for each branch, its share that of the weight."""
        if not (branch == SHARE).any():
            return row, node, share, branch
        n_copies = np.where(branch == SHARE, self.n_children[node], 1)
        origin, copy = copies(np.arange(len(row)), n_copies)
        row, node, share, branch = (part[origin] for part in (row, node, share, branch))
        is_copy = branch == SHARE
        branch = np.where(is_copy, copy, branch)
        share = share * np.where(is_copy, self.weight[self.first_child[node] + branch] / self.weight[node], 1)
        return tuple(part[share > 0] for part in (row, node, share, branch))

    def membership(self, values: NDArray) -> csr_matrix:
        """Which share of each row ends in which node: a sparse matrix of shape (n_rows, n_nodes), rows summing to 1.

        A row ends in a leaf, or at a node that it can't answer when that node's rule is to stop. It ends in several
        leaves when it is shared out on the way.

        Parameters
        ----------
        values : array of shape (n_features, n_rows)
            The rows, from :func:`treekit.table.encode`.

        Notes
        -----
        Takes time linear in the summed lengths of the paths, in one vectorised step a level.
        """
        ends = [(row[stays], node[stays], share[stays]) for row, node, share, stays in self._table(values)]
        row, node, share = map(np.concatenate, zip(*ends))
        return csr_matrix((share, (row, node)), shape=(values.shape[1], self.n_nodes))

    def apply(self, values: NDArray) -> NDArray[np.intp]:
        """Node where each row ends, or the largest share of it; of shape (n_rows,). See :meth:`membership`.

        Takes time linear in the summed lengths of the paths; see `treekit.asking.Descent`.
        """
        end, rest = self._ends(values)
        if len(rest):
            share = self.membership(values[:, rest]).tocoo()
            largest_first = np.lexsort((share.col, -share.data, share.row))
            first = np.searchsorted(share.row[largest_first], np.arange(len(rest)))
            end[rest] = share.col[largest_first[first]]
        return end

    def predict(self, values: NDArray) -> NDArray[np.float64]:
        """What the nodes say in which each row ends, by its shares; of shape (n_rows, n_values).

        This is ``membership(values) @ value``. A row that ends in one node as a whole is looked up instead, which takes
        8 bytes a row beside the answer.
        """
        end, rest = self._ends(values)
        says = self.value.T.take(end, axis=1).T
        if len(rest):
            says[rest] = self.membership(values[:, rest]) @ self.value
        return says

    def predict_code(self, values: NDArray) -> NDArray[np.intp]:
        """Place in ``classes`` of the largest share in :meth:`predict`, of shape (n_rows,); on a tie the first."""
        end, rest = self._ends(values)
        code = majority(self.value).take(end)
        if len(rest):
            code[rest] = majority(self.membership(values[:, rest]) @ self.value)
        return code

    def _ends(self, values: NDArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Node where each row ends, found fast; and the rows that only :meth:`membership` can place, here at the root."""
        if self.direction is not None:
            every_row = np.arange(values.shape[1])
            return np.zeros_like(every_row), every_row
        end = self._descent.ends(values)
        rest = np.flatnonzero(end == self.n_nodes)
        end[rest] = 0
        return end, rest

    @cached_property
    def _descent(self) -> Descent:
        return Descent(self)

    def decision_path(self, values: NDArray) -> csr_matrix:
        """Which nodes each row passes: a sparse matrix of ones, of shape (n_rows, n_nodes)."""
        row, node = (np.concatenate(part) for part in zip(*(step[:2] for step in self._table(values))))
        return csr_matrix((np.ones(len(row), dtype=np.intp), (row, node)), shape=(values.shape[1], self.n_nodes))

    def importances(self) -> NDArray[np.float64]:
        """Share of each column in the impurity that the splits take away, of shape (n_features,); zeros
        where no split takes any away, as in a tree of a single leaf.

        A split takes away its gain times the weight of its node.
        """
        inner = ~self.is_leaf
        taken = np.bincount(self.feature[inner], (self.weight * self.gain)[inner], minlength=len(self.features)).astype(
            float
        )
        return taken / taken.sum() if taken.sum() > 0 else taken

    # -- showing ------------------------------------------------------------------------------------------------

    def to_frame(self) -> pd.DataFrame:
        """The tree as a data frame, one row a node. See :func:`treekit.export.to_frame`."""
        return export.to_frame(self)

    def export_text(self) -> str:
        """The tree as indented text. See :func:`treekit.export.export_text`."""
        return export.export_text(self)

    def export_rules(self) -> list[str]:
        """The tree as rules, one a leaf. See :func:`treekit.export.export_rules`."""
        return export.export_rules(self)

    def draw(self, max_nodes: int = 80) -> draw.Drawing:
        """The tree as a drawing. See :func:`treekit.draw.draw_tree`."""
        return draw.draw_tree(self, max_nodes)

    def _repr_html_(self) -> str:
        return self.draw()._repr_html_()


def branches(
    x: NDArray, threshold: NDArray[np.float64], route: NDArray[np.intp], node: NDArray[np.intp]
) -> NDArray[np.intp]:
    """The branch that each value takes; -1 where it is missing, or a category without a branch.

    Parameters
    ----------
    x : array of shape (n,)
        A number, or the code of a category.
    threshold : array of shape (n,)
        Where the node cuts a column of numbers; NaN where it asks for a column of categories.
    route : array of shape (n_nodes, n_values)
        Branch of each category.
    node : array of shape (n,)
        Which row of ``route`` counts.
    """
    branch = np.where(np.isnan(x), -1, x > threshold)
    if route.size:
        is_category = np.isnan(threshold)
        branch[is_category] = -1
        known = np.flatnonzero(is_category & (x >= 0))
        branch[known] = route[node[known], x[known].astype(np.intp)]
    return branch


def majority(shares: NDArray[np.float64]) -> NDArray[np.intp]:
    """Place of the largest share along the last axis; of shares that are equal but for rounding the first."""
    # The classes first: then NumPy's loops run along the rows, which are many.
    share = np.ascontiguousarray(np.moveaxis(shares, -1, 0))
    return np.argmax(share >= share.max(axis=0) - 1e-12, axis=0)


def combine(values: NDArray, direction: NDArray[np.float64], row: NDArray[np.intp]) -> NDArray[np.float64]:
    """A linear combination of the columns for each of some rows; ``direction`` has one row for each of them.

    It is summed column by column, so that a row gets the same number to the last digit whatever is asked beside it.
    """
    total = np.zeros(len(row))
    for j, column in enumerate(values):
        total += direction[:, j] * column[row]
    return total


@dataclass(frozen=True)
class Node:
    """One node of a tree, for reading.

    Attributes
    ----------
    tree : Tree
        The tree that it belongs to.
    id : int
        Its number in the tree.
    """

    tree: Tree
    id: int

    @property
    def is_leaf(self) -> bool:
        """Whether the node asks nothing."""
        return bool(self.tree.feature[self.id] < 0)

    @property
    def question(self) -> str | None:
        """Name of the attribute that the node asks for, or a linear combination such as "2 a - 0.5 b"; None at a leaf."""
        if self.tree.direction is not None and self.tree.direction[self.id].any():
            return _terms(self.tree.direction[self.id], self.tree.features)
        return None if self.is_leaf else self.tree.features[self.tree.feature[self.id]].name

    @property
    def gain(self) -> float:
        """What the node's split gains; 0 at a leaf."""
        return float(self.tree.gain[self.id])

    @property
    def impurity(self) -> float:
        """Impurity of the training rows in the node."""
        return float(self.tree.impurity[self.id])

    @property
    def depth(self) -> int:
        """Number of questions above the node."""
        return int(self.tree.depth[self.id])

    @property
    def n_samples(self) -> int:
        """Number of training rows in the node; 0 for an empty branch."""
        return int(self.tree.n_samples[self.id])

    @property
    def counts(self) -> dict[object, float]:
        """Weight of the training rows of each class in the node."""
        weights = np.round(self.tree.value[self.id] * self.tree.weight[self.id], 10)
        return dict(zip(self._classes, weights.tolist()))

    @property
    def label(self) -> object:
        """What the node would predict: its most frequent class, the first of them on a tie; or its number."""
        value = self.tree.value[self.id]
        return float(value[0]) if self.tree.classes is None else self._classes[int(majority(value))]

    @property
    def _classes(self) -> list:
        return [] if self.tree.classes is None else self.tree.classes.tolist()

    @property
    def parent(self) -> Node | None:
        """The node above; None for the root."""
        return None if self.id == 0 else Node(self.tree, int(self.tree.parent[self.id]))

    @property
    def branch(self) -> object:
        """The answer that leads here: a category, a list of them joined by "or", or "<= 3.5"; None for the root."""
        parent = self.parent
        if parent is None:
            return None
        k, tree = int(self.tree.branch[self.id]), self.tree
        categories = tree.features[tree.feature[parent.id]].categories
        if categories is None and np.isinf(tree.threshold[parent.id]):
            return "missing" if k else "known"
        if categories is None:
            return f"{'> ' if k else '<= '}{tree.threshold[parent.id]:.4g}"
        first = tree._first_route[parent.id]
        routes = tree.route[first : first + len(categories)].tolist()
        answers = [c for c, route in zip(categories.tolist(), routes) if route == k]
        return answers[0] if len(answers) == 1 else " or ".join(map(str, answers))

    @property
    def children(self) -> dict[object, Node]:
        """The nodes below, by the answer that leads to them."""
        first = int(self.tree.first_child[self.id])
        below = (Node(self.tree, first + k) for k in range(int(self.tree.n_children[self.id])))
        return {child.branch: child for child in below}


def _terms(direction: NDArray[np.float64], features: tuple[Feature, ...]) -> str:
    """A linear combination in words, or their number where they are too many to read."""
    terms = [(c, feature.name) for c, feature in zip(direction.tolist(), features) if c != 0]
    if len(terms) > 4:
        return f"combination of {len(terms)} columns"
    return " ".join(f"{'-' if c < 0 else '+'} {abs(c):.3g} {name}" for c, name in terms).removeprefix("+ ")
