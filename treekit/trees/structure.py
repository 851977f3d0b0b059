"""The arrays of a tree: what each node tests, how the nodes are linked, and which branch a row takes at a node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from treekit.numeric import TIE, VOTE_TIE, Array, Bools, Floats, Integers, Ints, Numbers, repeat_with_index
from treekit.reading.encoding import Feature
from treekit.trees.routes import Routes

__all__ = ["TreeStructure", "Surrogate"]

#: What a row does at a node whose feature it lacks: stay there, take all branches in shares, or, while a tree grows,
#: take the branch with the most weight (the grown tree then holds the number of that branch).
STOP, SHARE, MAJORITY = -1, -2, -3

#: The arrays of a tree with an entry for each node.
OF_NODES = ("feature", "threshold", "n_children", "missing", "gain", "impurity", "n_samples", "weight", "value")

#: Unit of the impurity and the gain, by the name of the criterion; "" where they have none or it is not known.
UNITS = {
    "entropy": "bits",
    "gini": "",
    "squared_error": "squared units of y",
    "absolute_error": "units of y",
    "poisson": "half deviance",
    "newton": "units of the loss",
}


class Surrogate(NamedTuple):
    """For each node another question that stands in for its own; ``feature`` is -1 where there is none.

    ``threshold`` and ``routes`` are as in :class:`Tree`; where ``is_reversed``, branches 0 and 1 are exchanged.

    ``agreement`` is the share of the weight that the surrogate sends where the node does, among the training rows whose
    value is known in the node; a row that lacks the surrogate's value counts as sent elsewhere. ``adjusted`` is how far
    that goes beyond what the heavier branch alone gets right, from 0 for no further to 1 for all the way:
    (agreement - majority) / (1 - majority). rpart prints the two as "agree" and "adj".
    """

    feature: Ints
    threshold: Floats
    is_reversed: Bools
    agreement: Floats
    adjusted: Floats
    routes: Routes

    def of(self, nodes: Ints | slice | Bools) -> Surrogate:
        """The surrogates of some nodes, given by their numbers or by booleans."""
        *arrays, routes = self
        return Surrogate._make([*(array[nodes] for array in arrays), routes.of(nodes, len(self.feature))])

    def branch_taken(self, values: Numbers, node: Ints, row: Integers) -> Ints:
        """Branch of each row at its node; -1 where the row lacks the surrogate's feature, too."""
        branch = np.full(len(node), -1)
        has_test = np.flatnonzero(self.feature[node] >= 0)
        at = node[has_test]
        side = branches(values[self.feature[at], row[has_test]], self.threshold[at], self.routes, at)
        branch[has_test] = np.where(side >= 0, side ^ self.is_reversed[at], -1)
        return branch


#: The fields of a surrogate at a node without one, but for the routes.
NO_SURROGATE = (-1, np.nan, False, np.nan, np.nan)


@dataclass(frozen=True, eq=False, repr=False)
class TreeStructure:
    """A grown tree; or many, of a forest or of boosting, as one structure with many roots.

    Node 0 is the root, or nodes 0, 1, ... are the roots; the nodes are numbered level by level, the children of a node
    one after the other.

    Attributes
    ----------
    features : tuple of Feature
        The columns of the training table: names and, for categories, values.
    classes : array of shape (n_classes,) or None
        The labels; None for a tree that predicts numbers.
    feature : array of shape (n_nodes,)
        The column that a node tests; -1 at a leaf.
    threshold : array of shape (n_nodes,)
        Where a node cuts numbers: branch 0 is at or below, branch 1 above, or missing if it is infinite. NaN elsewhere.
    routes : Routes
        For the nodes that test a column of categories, the branch of each category that has one: pairs of a node and
        a category. Where a node cuts the categories in two, only those of its training rows have one.
    n_children : array of shape (n_nodes,)
        Number of branches; 0 at a leaf.
    missing : array of shape (n_nodes,)
        What a row does whose value is missing: the number of a branch, or STOP, or SHARE.
    gain : array of shape (n_nodes,)
        How much the split lowers the impurity; 0 at a leaf. A mean over the rows of the node, unless ``gain_is_sum``.
    impurity : array of shape (n_nodes,)
        Impurity of the training rows in the node, in the unit of ``criterion``.
    n_samples, weight : arrays of shape (n_nodes,)
        Number of training rows in the node, and their weight.
    value : array of shape (n_nodes, n_values)
        What a node predicts: the shares of the classes, or a number. A node without rows predicts what its parent does.
    surrogates : tuple of Surrogate
        The questions to fall back on, one after the other, where the value is missing; each has its ``feature`` and
        ``threshold`` at every node, and ``agreement`` and ``adjusted``, how often it sends rows where the node does.
    direction : array of shape (n_nodes, n_features) or None
        For a tree that tests linear combinations, the coefficients of the combination that each node cuts; zeros where
        the node tests a single column. ``feature`` is then the column that counts most in the combination.
    criterion : str
        Name of the impurity, such as "entropy" or "squared_error"; "" where it is not known.
    gain_is_sum : bool
        Whether ``gain`` and ``impurity`` are sums over the rows of the node, as in second-order boosting, instead of
        means.
    only_leaves_predict : bool
        Whether only the leaves hold predictions, as in first-order boosting, where a line search finds the step of each
        leaf. Such a tree can't be pruned: nothing is known of the step of a node that becomes a leaf.
    n_roots : int
        How many of the nodes are roots.
    """

    features: tuple[Feature, ...]
    classes: Array | None
    feature: Ints
    threshold: Floats
    routes: Routes
    n_children: Ints
    missing: Ints
    gain: Floats
    impurity: Floats
    n_samples: Ints
    weight: Floats
    value: Floats
    surrogates: tuple[Surrogate, ...] = ()
    direction: Floats | None = None
    criterion: str = ""
    gain_is_sum: bool = False
    only_leaves_predict: bool = False
    n_roots: int = 1

    # -- shape --------------------------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def is_leaf(self) -> Bools:
        """Which nodes are leaves."""
        return self.feature < 0

    @property
    def n_leaves(self) -> int:
        """Number of leaves, empty ones included."""
        return int(np.count_nonzero(self.is_leaf))

    @cached_property
    def first_child(self) -> Ints:
        """First child of each node; the others follow it. Numbering by levels makes this a running sum."""
        return self.n_roots + np.cumsum(self.n_children) - self.n_children

    @cached_property
    def parent(self) -> Ints:
        """Parent of each node; -1 for a root."""
        return np.concatenate([np.full(self.n_roots, -1), np.repeat(np.arange(self.n_nodes), self.n_children)])

    @cached_property
    def branch(self) -> Ints:
        """Which branch of its parent leads to each node; -1 for a root."""
        branch = np.arange(self.n_nodes) - self.first_child[self.parent]
        branch[: self.n_roots] = -1
        return branch

    @cached_property
    def depth(self) -> Ints:
        """Number of questions above each node."""
        depth = np.zeros(self.n_nodes, dtype=np.intp)
        for children in self.levels():
            depth[children] = depth[self.parent[children]] + 1
        return depth

    @cached_property
    def root_of(self) -> Ints:
        """The root above each node."""
        root = np.arange(self.n_nodes)
        for children in self.levels():
            root[children] = root[self.parent[children]]
        return root

    @cached_property
    def number_below_root(self) -> Ints:
        """Number of each node in the tree of its root alone."""
        number = np.empty(self.n_nodes, dtype=np.intp)
        by_root = np.argsort(self.root_of, kind="stable")
        number[by_root] = repeat_with_index(np.arange(self.n_roots), np.bincount(self.root_of))[1]
        return number

    def levels(self) -> Iterator[slice]:
        """The nodes of each level below the roots, which lie one after the other."""
        first, last = 0, self.n_roots
        while self.n_children[first:last].any():
            first, last = last, last + int(self.n_children[first:last].sum())
            yield slice(first, last)

    def heaviest_branch(self, weight: Floats) -> Ints:
        """The branch of each node whose child weighs most, of those that weigh the same the first; 0 at a leaf.

        ``weight`` has one entry per node; the children of a node lie one after the other.
        """
        inner = np.flatnonzero(self.n_children)
        branch = np.zeros(self.n_nodes, dtype=np.intp)
        if len(inner):
            first = self.first_child[inner]
            largest = np.repeat(np.maximum.reduceat(weight, first), self.n_children[inner])
            good = 1 + np.flatnonzero(weight[1:] >= (1 - TIE) * largest)
            branch[inner] = good[np.searchsorted(good, first)] - first
        return branch

    @property
    def max_depth(self) -> int:
        """Largest number of questions on a path; 0 when the root is a leaf."""
        return int(self.depth.max())

    def at_nodes(self, nodes: Ints | slice | Bools, n_roots: int = 1) -> Self:
        """The arrays at some nodes, in an order in which the children of each node lie as in :class:`Tree`."""
        return replace(
            self,
            **{name: getattr(self, name)[nodes] for name in OF_NODES},
            routes=self.routes.of(nodes, self.n_nodes),
            surrogates=tuple(surrogate.of(nodes) for surrogate in self.surrogates),
            direction=None if self.direction is None else self.direction[nodes],
            n_roots=n_roots,
        )

    def with_leaves(self, is_leaf: Bools) -> Self:
        """The same nodes, but some of them test nothing and have no children."""
        splits = ~is_leaf
        return replace(
            self,
            feature=np.where(splits, self.feature, -1),
            threshold=np.where(splits, self.threshold, np.nan),
            routes=self.routes.renumbered(np.where(splits, np.arange(self.n_nodes), -1)),
            n_children=np.where(splits, self.n_children, 0),
            missing=np.where(splits, self.missing, STOP),
            gain=np.where(splits, self.gain, 0.0),
            surrogates=tuple(s._replace(feature=np.where(splits, s.feature, -1)) for s in self.surrogates),
            direction=None if self.direction is None else np.where(splits[:, np.newaxis], self.direction, 0.0),
        )

    # -- questions of the nodes ---------------------------------------------------------------------------------

    @cached_property
    def has_category_test(self) -> Bools:
        """Which nodes test a column of categories."""
        is_categorical = np.array([not feature.is_numeric for feature in self.features])
        return ~self.is_leaf & is_categorical[self.feature]

    def _tested_value(self, values: Numbers, node: Ints, row: Ints) -> Numbers:
        """What the node of each row tests: the row's value, or its linear combination."""
        x = values[self.feature[node], row]
        if self.direction is None:
            return x
        is_tilted = self.direction[node].any(axis=1)
        return np.where(is_tilted, combine(values, self.direction[node], row), x)

    def branch_taken(self, values: Numbers, node: Ints, row: Ints) -> Ints:
        """Branch of each row by its node's question; -1 where the value is missing, or a category without a branch."""
        return branches(self._tested_value(values, node, row), self.threshold[node], self.routes, node)

    def branch_or_surrogate(self, values: Numbers, node: Ints, row: Ints) -> Ints:
        """:meth:`branch_taken`, with the surrogates, one after the other, for the rows that have no branch."""
        branch = self.branch_taken(values, node, row)
        for surrogate in self.surrogates:
            unanswered = np.flatnonzero(branch < 0)
            branch[unanswered] = surrogate.branch_taken(values, node[unanswered], row[unanswered])
        return branch


def branches(x: Numbers, threshold: Floats, routes: Routes, node: Ints) -> Ints:
    """The branch that each value takes; -1 where it is missing, or a category without a branch.

    Parameters
    ----------
    x : array of shape (n,)
        A number, or the code of a category.
    threshold : array of shape (n,)
        Where the node cuts a column of numbers; NaN where it tests a column of categories.
    routes : Routes
        Branches of the categories at each node.
    node : array of shape (n,)
        The node that tests each value.
    """
    branch = np.where(np.isnan(x), -1, x > threshold)
    if routes.n_pairs:
        category = np.flatnonzero(np.isnan(threshold))
        branch[category] = routes.branch_of(node[category], x[category])
    return branch


def majority(shares: Floats) -> Ints:
    """Index of the largest share along the last axis; of shares that are equal but for rounding the first."""
    # With the classes on the first axis, NumPy's loops run along the rows, which are many.
    share = np.ascontiguousarray(np.moveaxis(shares, -1, 0))
    return np.argmax(share >= share.max(axis=0) - VOTE_TIE, axis=0)


def combine(values: Numbers, direction: Floats, row: Integers) -> Floats:
    """A linear combination of the columns for each of some rows; ``direction`` has one row for each of them.

    It is summed column by column, so that a row gets the same number to the last digit whichever rows are beside it.
    """
    total = np.zeros(len(row))
    for j, column in enumerate(values):
        total += direction[:, j] * column[row]
    return total
