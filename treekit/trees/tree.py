"""One Tree for all algorithms: flat arrays, read node by node, traversed by all rows at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from numbers import Integral

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix
from sklearn.metrics import r2_score

from treekit.numeric import Array, Floats, Ints, Numbers
from treekit.reading.encoding import encode_table, match_labels
from treekit.reading.validation import read_labels, read_targets, row_weights
from treekit.trees import drawing, export
from treekit.trees.node import Node, walk
from treekit.trees.structure import TreeStructure, majority
from treekit.trees.traversal import LevelwiseTraversal, membership, rows_by_level

__all__ = ["Tree"]

#: Where the rows of a single tree start.
FIRST_ROOT = np.zeros(1, dtype=np.intp)


class Tree(TreeStructure):
    __doc__ = TreeStructure.__doc__

    # -- reading ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.n_nodes

    def __getitem__(self, node: int) -> Node:
        if not (isinstance(node, Integral) and 0 <= node < self.n_nodes):
            raise IndexError(f"node must be a number from 0 to {self.n_nodes - 1}; got {node!r}.")
        return Node(self, int(node))

    @property
    def root(self) -> Node:
        """The node where every row starts."""
        return self[0]

    def walk(self) -> Iterator[Node]:
        """All nodes, each before its children, branch by branch: the depth-first order in which a tree is read."""
        return walk(self)

    def __repr__(self) -> str:
        return f"Tree of {self.n_nodes} nodes, {self.n_leaves} of them leaves, depth {self.max_depth}"

    # -- prediction ---------------------------------------------------------------------------------------------
    #
    # The rows come as a data frame with the columns of the training table; or, as the growers have them, already
    # encoded, as an array of shape (n_features, n_rows) from treekit.reading.encoding.encode.

    def predict(self, X: pd.DataFrame | Numbers) -> Array:
        """Predict the rows of a data frame as the estimator that grew the tree does: labels or numbers.

        Parameters
        ----------
        X : data frame of shape (n_rows, n_features)
            With the columns of the training table. An array of shape (n_features, n_rows) is taken as encoded; the
            result is then that of :meth:`mean_value`.

        Returns
        -------
        array of shape (n_rows,)
            For classes, the one with the largest share, on a tie the first.

        Raises
        ------
        ValueError
            If X has other columns than the training table, is empty, or is neither of the two.
        """
        if not isinstance(X, pd.DataFrame):
            return self.mean_value(X)
        values = self._encoded(X)
        return self.mean_value(values)[:, 0] if self.classes is None else self.classes[self.predict_code(values)]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """How well the tree predicts some rows: the accuracy, or R squared where it predicts numbers.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)
            With the columns of the training table.
        y : array of shape (n_rows,)
            The labels, of the same kind as ``classes``, or the numbers.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row.

        Returns
        -------
        float
            The share of the weight that is predicted correctly; for numbers 1 minus the squared error over that of the
            mean.

        Raises
        ------
        ValueError, TypeError
            If X, y or sample_weight do not fit the tree or each other; the message says which.
        """
        values = encode_table(X, self.features)
        weight = row_weights(sample_weight, values.shape[1])
        if self.classes is None:
            return float(r2_score(read_targets(y, len(weight)), self.mean_value(values)[:, 0], sample_weight=weight))
        is_right = self.predict_code(values) == match_labels(self.classes, read_labels(y, len(weight)))
        return float(np.average(is_right, weights=weight))

    def mean_value(self, X: pd.DataFrame | Numbers) -> Floats:
        """The values of the nodes where each row ends, averaged by its shares; of shape (n_rows, n_values).

        These are the shares of the classes, or a single number. It is ``membership(X) @ value``. A row that ends in a
        single node is looked up instead, which takes 8 bytes per row beside the result.
        """
        return self.values_below_roots(self._encoded(X))[0]

    def values_below_roots(self, values: Numbers, roots: slice = slice(None)) -> Floats:
        """:meth:`mean_value` below each root, or some of them, of shape (n_roots, n_rows, n_values)."""
        end, (root, row) = self._end_nodes(values, np.arange(self.n_roots)[roots])
        mean = self.value.take(end, axis=0)
        if len(row):
            mean[root, row] = membership(self, values, row, root + (roots.start or 0)) @ self.value
        return mean

    def predict_code(self, X: pd.DataFrame | Numbers) -> Ints:
        """Index in ``classes`` of the predicted class, of shape (n_rows,); on a tie the first."""
        values = self._encoded(X)
        end, (_, rest) = self._end_nodes(values)
        # With few rows only the nodes where they end are looked at; with many, each node once.
        few = end.size < self.n_nodes
        code = majority(self.value.take(end[0], axis=0)) if few else majority(self.value).take(end[0])
        if len(rest):
            code[rest] = majority(membership(self, values, rest) @ self.value)
        return code

    # -- traversal ----------------------------------------------------------------------------------------------

    def membership(self, X: pd.DataFrame | Numbers) -> csr_matrix:
        """Which share of each row ends in which node. See :func:`treekit.trees.traversal.membership`."""
        return membership(self, self._encoded(X))

    def apply(self, X: pd.DataFrame | Numbers) -> Ints:
        """Node where each row, or the largest share of it, ends; of shape (n_rows,). See :meth:`membership`.

        Takes time linear in the summed lengths of the paths; see `treekit.trees.traversal.LevelwiseTraversal`.
        """
        return self.ends_below_roots(self._encoded(X))[0]

    def ends_below_roots(self, values: Numbers) -> Ints:
        """:meth:`apply` below each root, of shape (n_roots, n_rows)."""
        end, (root, row) = self._end_nodes(values, np.arange(self.n_roots))
        if len(row):
            share = membership(self, values, row, root).tocoo()
            largest_first = np.lexsort((share.col, -share.data, share.row))
            first = np.searchsorted(share.row[largest_first], np.arange(len(row)))
            end[root, row] = share.col[largest_first[first]]
        return end

    def decision_path(self, X: pd.DataFrame | Numbers) -> csr_matrix:
        """Which nodes each row passes: a sparse matrix of ones, of shape (n_rows, n_nodes)."""
        values = self._encoded(X)
        row, node = (np.concatenate(part) for part in zip(*(step[:2] for step in rows_by_level(self, values))))
        return csr_matrix((np.ones(len(row), dtype=np.intp), (row, node)), shape=(values.shape[1], self.n_nodes))

    def _encoded(self, X: pd.DataFrame | Numbers) -> Numbers:
        if isinstance(X, pd.DataFrame):
            return encode_table(X, self.features)
        if not isinstance(X, np.ndarray) or X.ndim != 2 or len(X) != len(self.features) or X.dtype.kind not in "biuf":
            got = f"an array of shape {X.shape}" if isinstance(X, np.ndarray) else f"{type(X).__name__}"
            raise ValueError(
                f"X must be a data frame with the {len(self.features)} columns of the training table, or its encoded "
                f"values, an array of shape (n_features, n_rows); got {got}."
            )
        return X

    def _end_nodes(self, values: Numbers, roots: Ints = FIRST_ROOT) -> tuple[Ints, tuple[Ints, Ints]]:
        """Node where each row ends below some roots; and the pairs of root and row that need :meth:`membership`, for
        which the node given is 0."""
        if self.direction is not None:
            end = np.full((len(roots), values.shape[1]), self.n_nodes)
        else:
            end = self._traversal.ends(values, roots)
        root, row = np.nonzero(end == self.n_nodes)
        end[root, row] = 0
        return end, (root, row)

    @cached_property
    def _traversal(self) -> LevelwiseTraversal:
        return LevelwiseTraversal(self)

    def importances(self) -> Floats:
        """Share of each column in the impurity that the splits remove, of shape (n_features,).

        A split removes its gain times the weight of its node; or simply its gain, where that is a sum over the rows of
        the node. All are zero where no split removes any, as in a tree of a single leaf.

        Raises
        ------
        ValueError
            If the tree tests linear combinations: their gain belongs to several columns, whose scales the tree does
            not hold.
        """
        if self.direction is not None:
            raise ValueError(
                "importances is for trees that test one column at a node; for linear combinations ask the estimator "
                "for its feature_importances_."
            )
        inner = ~self.is_leaf
        removed = self.gain if self.gain_is_sum else self.weight * self.gain
        total = np.bincount(self.feature[inner], removed[inner], minlength=len(self.features)).astype(float)
        return total / total.sum() if total.sum() > 0 else total

    # -- showing ------------------------------------------------------------------------------------------------

    def to_frame(self) -> pd.DataFrame:
        """The tree as a data frame, one row for each node. See :func:`treekit.trees.export.to_frame`."""
        return export.to_frame(self)

    def export_text(self) -> str:
        """The tree as indented text. See :func:`treekit.trees.export.export_text`."""
        return export.export_text(self)

    def export_rules(self) -> list[str]:
        """The tree as rules, one for each leaf. See :func:`treekit.trees.export.export_rules`."""
        return export.export_rules(self)

    def draw(self, max_nodes: int = 80) -> drawing.Drawing:
        """The tree as a drawing. See :func:`treekit.trees.drawing.draw_tree`."""
        return drawing.draw_tree(self, max_nodes)

    def _repr_html_(self) -> str:
        return self.draw()._repr_html_()


def refuse_other_than_tree(tree: object) -> None:
    """Refuse what is not a tree, such as the estimator that has grown one."""
    if not isinstance(tree, Tree):
        raise TypeError(f"tree must be a Tree, such as model.tree_; got {type(tree).__name__}.")
