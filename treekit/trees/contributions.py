r"""What each column contributes to a prediction: along the path of a row, and as a Shapley value.

A path is a sum: it starts with the mean at the root, and every split moves it to the mean of a child, so each move
belongs to the column that was tested.

For Shapley values, look at one leaf, of value v. Let the splits above it test the columns j = 1, ..., m, and let
:math:`o_j` be the share of the row that follows all of these splits on column j (0 or 1, or a part of a row that is
shared out), and :math:`z_j` that of the rows with which it is compared. If the columns of a set S are known, the leaf
brings :math:`v \prod_{j \in S} o_j \prod_{j \notin S} z_j`. The mean of what column j adds, over all orders in which
the columns may become known, is an integral (:eq:`eq-owen-integral`),

.. math:: v \, (o_j - z_j) \int_0^1 \prod_{i \ne j} \bigl( (1 - t) z_i + t o_i \bigr) \, dt

of a polynomial of degree m - 1, which Gauss's rule with m / 2 points finds exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from treekit.numeric import Floats, Ints, Numbers, safe_divide
from treekit.trees.structure import TreeStructure
from treekit.trees.traversal import rows_by_level

__all__ = ["expected_values", "path_contributions", "shapley_values"]

#: How many terms x pairs of rows are worked out at a time.
TERMS_AT_ONCE = 2**21


def expected_values(tree: TreeStructure, value: Floats) -> Floats:
    """The mean of the leaves below each node, weighted by their training rows; of a leaf its own value.

    Parameters
    ----------
    tree : Tree
    value : array of shape (n_nodes, n_outputs)
        What the leaves predict; that of other nodes is not read.
    """
    mean = np.where(tree.is_leaf[:, np.newaxis], value, 0.0)
    share = shares_of_parent(tree)[:, np.newaxis]
    for children in reversed(list(tree.levels())):
        np.add.at(mean, tree.parent[children], share[children] * mean[children])
    return mean


def shares_of_parent(tree: TreeStructure) -> Floats:
    """The share of each node in the training rows of its parent; 1 for a root."""
    above = np.where(tree.parent >= 0, tree.weight[tree.parent], tree.weight)
    return safe_divide(tree.weight, above)


def path_contributions(tree: TreeStructure, values: Numbers, value: Floats) -> Floats:
    """By how much the splits on each column move the rows on their way down, summed over all roots.

    Parameters
    ----------
    tree : Tree
        Without linear combinations.
    values : array of shape (n_features, n_rows)
        The rows, encoded.
    value : array of shape (n_nodes, n_outputs)
        What each node predicts.

    Returns
    -------
    array of shape (n_rows, n_outputs, n_features)
    """
    n_features, n_rows = values.shape
    moved = np.zeros((n_rows, n_features, value.shape[1]))
    step = value - value[np.where(tree.parent >= 0, tree.parent, np.arange(tree.n_nodes))]
    column = np.where(tree.parent >= 0, tree.feature[tree.parent], 0)
    root, row = np.divmod(np.arange(tree.n_roots * n_rows), n_rows)
    for place, node, share, _ in rows_by_level(tree, values[:, row], root):
        np.add.at(moved, (row[place], column[node]), share[:, np.newaxis] * step[node])
    return moved.transpose(0, 2, 1)


@dataclass(frozen=True)
class LeafTerms:
    """The pairs of a leaf and a column that is tested above it, leaf by leaf.

    Attributes
    ----------
    node : array of shape (n_tests,)
        The nodes on the paths to the leaves, but for the roots, sorted by (leaf, column tested above).
    first : array of shape (n_terms,)
        Where the nodes of each pair begin.
    leaf, column : arrays of shape (n_terms,)
        The pair.
    first_of_leaf : array of shape (n_leaves,)
        Where the terms of each leaf begin; a root that is a leaf has none.
    of_leaf : array of shape (n_terms,)
        The place of each term's leaf in ``first_of_leaf``.
    """

    node: Ints
    first: Ints
    leaf: Ints
    column: Ints
    first_of_leaf: Ints
    of_leaf: Ints

    @property
    def longest(self) -> int:
        """The largest number of columns above a leaf."""
        return int(np.diff(self.first_of_leaf, append=len(self.leaf)).max(initial=0))


def leaf_terms(tree: TreeStructure) -> LeafTerms:
    """All pairs of a leaf and a column tested above it."""
    leaf = node = np.flatnonzero(tree.is_leaf)
    pairs = [(leaf[:0], leaf[:0])]
    while len(node):
        leaf, node = (part[tree.parent[node] >= 0] for part in (leaf, node))
        pairs.append((leaf, node))
        node = tree.parent[node]
    leaf, node = (np.concatenate(part) for part in zip(*pairs))
    column = tree.feature[tree.parent[node]]
    order = np.lexsort((column, leaf))
    leaf, column, node = leaf[order], column[order], node[order]
    first = np.flatnonzero((np.diff(leaf, prepend=-1) != 0) | (np.diff(column, prepend=-1) != 0))
    leaf, column = leaf[first], column[first]
    is_first = np.diff(leaf, prepend=-1) != 0
    return LeafTerms(node, first, leaf, column, np.flatnonzero(is_first), np.cumsum(is_first) - 1)


def shares_taken(tree: TreeStructure, values: Numbers) -> Floats:
    """The share of each row that goes on to each node once it is in the parent, of shape (n_nodes, n_rows).

    It is 0 or 1, except for a row without a branch, which goes to each child in the child's share of the training rows:
    where the parent keeps such a row instead, the mean of what lies below is the same.
    """
    inner, n_rows = np.flatnonzero(~tree.is_leaf), values.shape[1]
    node, row = np.repeat(inner, n_rows), np.tile(np.arange(n_rows), len(inner))
    branch = tree.branch_or_surrogate(values, node, row)
    branch = np.where(branch < 0, tree.missing[node], branch).reshape(len(inner), n_rows)
    children = np.flatnonzero(tree.parent >= 0)
    taken = branch[np.searchsorted(inner, tree.parent[children])]
    share, branch = shares_of_parent(tree)[:, np.newaxis], tree.branch[children, np.newaxis]
    shares = np.ones((tree.n_nodes, n_rows))
    shares[children] = np.where(taken < 0, share[children], taken == branch)
    return shares


def owen_integrals(o: Floats, z: Floats, terms: LeafTerms) -> Floats:
    """The integral above, times :math:`o_j - z_j`, of every term; o and z are broadcast behind their first axis."""
    t, weight = np.polynomial.legendre.leggauss((terms.longest + 1) // 2)
    found = np.zeros(np.broadcast_shapes(o.shape, z.shape))
    for t_k, weight_k in zip((1 + t) / 2, weight / 2):
        factor = (1 - t_k) * z + t_k * o
        product = np.multiply.reduceat(factor, terms.first_of_leaf, axis=0)[terms.of_leaf]
        found += weight_k * safe_divide(product, factor)
    found *= o - z
    return found


def shapley_values(tree: TreeStructure, values: Numbers, value: Floats, background: Numbers | None = None) -> Floats:
    """The Shapley values of the columns, summed over all roots.

    Parameters
    ----------
    tree, values, value
        As for :func:`path_contributions`; of ``value`` only the leaves are read.
    background : array of shape (n_features, n_background), optional
        The rows that supply the columns that are not known: the mean over all of them is taken. Without it a row goes
        down all branches of a split on such a column, in the shares of the training rows.

    Returns
    -------
    array of shape (n_rows, n_outputs, n_features)

    Notes
    -----
    Takes O(L m^2) for each row, with L leaves and m columns above each, times the rows of the background. Sources: Owen
    (1972) for the integral, Lundberg, Erion and Lee (2018) for trees in polynomial time.
    """
    terms, (n_features, n_rows) = leaf_terms(tree), values.shape
    phi = np.zeros((n_rows, value.shape[1], n_features))
    if not len(terms.leaf):
        return phi

    def of_terms(shares: Floats) -> Floats:
        return np.multiply.reduceat(shares[terms.node], terms.first, axis=0)

    z = of_terms(shares_of_parent(tree)[:, np.newaxis] if background is None else shares_taken(tree, background))
    place, n_pairs = np.arange(len(terms.leaf)), max(1, TERMS_AT_ONCE // len(terms.node))
    of_columns = [csr_matrix((v, (terms.column, place)), (n_features, len(place))) for v in value[terms.leaf].T]
    for compared in np.array_split(z, -(-z.shape[1] // n_pairs), axis=1):
        n_at_once = max(1, n_pairs // compared.shape[1])
        for start in range(0, n_rows, n_at_once):
            block = slice(start, start + n_at_once)
            o = of_terms(shares_taken(tree, values[:, block]))
            change = owen_integrals(o[:, :, np.newaxis], compared[:, np.newaxis], terms).sum(axis=2)
            for k, of_column in enumerate(of_columns):
                phi[block, k] += (of_column @ change).T / z.shape[1]
    return phi
