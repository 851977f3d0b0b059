"""One Tree for all: flat arrays, read node by node, asked row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from treekit import draw, export
from treekit.table import Feature

__all__ = ["Tree", "Node"]


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A grown tree. Node 0 is the root; the nodes are numbered level by level, the children of a node in a row.

    Attributes
    ----------
    features : tuple of Feature
        The columns of the training table: names and, in the order of the branches, values.
    classes : array of shape (n_classes,)
        The labels.
    feature : array of shape (n_nodes,)
        The column that a node asks for; -1 at a leaf.
    n_children : array of shape (n_nodes,)
        Number of branches; 0 at a leaf.
    gain : array of shape (n_nodes,)
        What the split gains, in bits; 0 at a leaf.
    impurity : array of shape (n_nodes,)
        Entropy of the labels in the node, in bits.
    n_samples, weight : arrays of shape (n_nodes,)
        Number of training rows in the node, and their weight.
    value : array of shape (n_nodes, n_classes)
        Shares of the classes; a node without rows has its parent's.
    """

    features: tuple[Feature, ...]
    classes: NDArray
    feature: NDArray[np.intp]
    n_children: NDArray[np.intp]
    gain: NDArray[np.float64]
    impurity: NDArray[np.float64]
    n_samples: NDArray[np.intp]
    weight: NDArray[np.float64]
    value: NDArray[np.float64]

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

    def _paths(self, codes: NDArray[np.int32]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Level by level, the rows that reach a node of that level and the nodes that they reach."""
        row = np.arange(codes.shape[1])
        node = np.zeros_like(row)
        while len(row):
            yield row, node
            branch = codes[self.feature[node], row]
            # A value that the training rows did not have leads nowhere: its row stays where it is.
            moves = np.flatnonzero((self.feature[node] >= 0) & (branch >= 0))
            row, node = row[moves], self.first_child[node[moves]] + branch[moves]

    def apply(self, codes: NDArray[np.int32]) -> NDArray[np.intp]:
        """Node where each row ends: a leaf, or the node whose question its value is no answer to.

        Parameters
        ----------
        codes : array of shape (n_features, n_rows)
            The rows, from :func:`treekit.table.encode`.

        Returns
        -------
        array of shape (n_rows,)

        Notes
        -----
        Takes time linear in the summed lengths of the paths, and one vectorised step a level.
        """
        end = np.zeros(codes.shape[1], dtype=np.intp)
        for row, node in self._paths(codes):
            end[row] = node
        return end

    def predict(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Shares of the classes where each row ends, of shape (n_rows, n_classes). See :meth:`apply`."""
        return self.value[self.apply(codes)]

    def decision_path(self, codes: NDArray[np.int32]) -> csr_matrix:
        """Which nodes each row passes: a sparse matrix of ones, of shape (n_rows, n_nodes). See :meth:`apply`."""
        row, node = (np.concatenate(part) for part in zip(*self._paths(codes)))
        return csr_matrix((np.ones(len(row), dtype=np.intp), (row, node)), shape=(codes.shape[1], self.n_nodes))

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
        """Name of the attribute that the node asks for; None at a leaf."""
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
        return dict(zip(self.tree.classes.tolist(), weights.tolist()))

    @property
    def label(self) -> object:
        """The class that the node would predict: its most frequent one, the first of them on a tie."""
        return self.tree.classes.tolist()[self.tree.value[self.id].argmax()]

    @property
    def parent(self) -> Node | None:
        """The node above; None for the root."""
        return None if self.id == 0 else Node(self.tree, int(self.tree.parent[self.id]))

    @property
    def branch(self) -> object:
        """The parent's answer that leads here; None for the root."""
        parent = self.parent
        if parent is None:
            return None
        return self.tree.features[self.tree.feature[parent.id]].categories.tolist()[self.tree.branch[self.id]]

    @property
    def children(self) -> dict[object, Node]:
        """The nodes below, by the answer that leads to them."""
        first = int(self.tree.first_child[self.id])
        below = (Node(self.tree, first + k) for k in range(int(self.tree.n_children[self.id])))
        return {child.branch: child for child in below}
