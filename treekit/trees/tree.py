"""One Tree for all algorithms: flat arrays, read node by node, traversed by all rows at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from treekit.trees import drawing, export
from treekit.trees.node import Node, walk
from treekit.trees.structure import TreeStructure, majority
from treekit.trees.traversal import LevelwiseTraversal, membership, rows_by_level

__all__ = ["Tree"]


class Tree(TreeStructure):
    __doc__ = TreeStructure.__doc__

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
        return walk(self)

    def __repr__(self) -> str:
        return f"Tree of {self.n_nodes} nodes, {self.n_leaves} of them leaves, depth {self.max_depth}"

    # -- traversal ----------------------------------------------------------------------------------------------

    def membership(self, values: NDArray) -> csr_matrix:
        """Which share of each row ends in which node. See :func:`treekit.trees.traversal.membership`."""
        return membership(self, values)

    def apply(self, values: NDArray) -> NDArray[np.intp]:
        """Node where each row ends, or the largest share of it; of shape (n_rows,). See :meth:`membership`.

        Takes time linear in the summed lengths of the paths; see `treekit.trees.traversal.LevelwiseTraversal`.
        """
        end, rest = self._end_nodes(values)
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
        end, rest = self._end_nodes(values)
        says = self.value.T.take(end, axis=1).T
        if len(rest):
            says[rest] = self.membership(values[:, rest]) @ self.value
        return says

    def predict_code(self, values: NDArray) -> NDArray[np.intp]:
        """Place in ``classes`` of the largest share in :meth:`predict`, of shape (n_rows,); on a tie the first."""
        end, rest = self._end_nodes(values)
        code = majority(self.value).take(end)
        if len(rest):
            code[rest] = majority(self.membership(values[:, rest]) @ self.value)
        return code

    def _end_nodes(self, values: NDArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Node where each row ends, found fast; and the rows that only :meth:`membership` can place, here at the root."""
        if self.direction is not None:
            every_row = np.arange(values.shape[1])
            return np.zeros_like(every_row), every_row
        end = self._traversal.ends(values)
        rest = np.flatnonzero(end == self.n_nodes)
        end[rest] = 0
        return end, rest

    @cached_property
    def _traversal(self) -> LevelwiseTraversal:
        return LevelwiseTraversal(self)

    def decision_path(self, values: NDArray) -> csr_matrix:
        """Which nodes each row passes: a sparse matrix of ones, of shape (n_rows, n_nodes)."""
        row, node = (np.concatenate(part) for part in zip(*(step[:2] for step in rows_by_level(self, values))))
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
        """The tree as a data frame, one row a node. See :func:`treekit.trees.export.to_frame`."""
        return export.to_frame(self)

    def export_text(self) -> str:
        """The tree as indented text. See :func:`treekit.trees.export.export_text`."""
        return export.export_text(self)

    def export_rules(self) -> list[str]:
        """The tree as rules, one a leaf. See :func:`treekit.trees.export.export_rules`."""
        return export.export_rules(self)

    def draw(self, max_nodes: int = 80) -> drawing.Drawing:
        """The tree as a drawing. See :func:`treekit.trees.drawing.draw_tree`."""
        return drawing.draw_tree(self, max_nodes)

    def _repr_html_(self) -> str:
        return self.draw()._repr_html_()
