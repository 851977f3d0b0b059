"""Subtree raising, the other half of C4.5's pruning: a branch replaces the node above it.

As a recursion, over the training rows that reach a node:

    prune(node, rows):
        for each branch: prune(branch, the rows that take it)
        expect errors of the node: (1) as a leaf, (2) with its branches as they are now,
                                   (3) with its largest branch in its place, which then gets all of ``rows``
        if (1) is no more than (2) and (3), but for the slack: make it a leaf
        else if (3) is no more than (2), but for the slack: put the branch in its place, and prune(branch, rows) again
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from treekit.measures import entropy_of_counts, gini_of_counts
from treekit.numeric import LEAST_SHARE, SHARED_TIE, TIE, Array, Floats, Ints, Numbers
from treekit.pruning.cut import tie_slack
from treekit.pruning.pessimistic import Limit, _errors_of, check_pruning, named_limit
from treekit.reading.encoding import encode_table, match_labels
from treekit.reading.validation import read_labels, row_weights
from treekit.trees.structure import SHARE
from treekit.trees.tree import Tree

__all__ = ["prune_and_raise"]

#: Python allows a thousand calls within each other, and each level takes up to three.
DEEPEST = 300


def prune_and_raise(
    tree: Tree,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.25,
    limit: Limit | str = "binomial",
    slack: float = 0.0,
) -> Tree:
    """C4.5's pruning with its third choice: a node may also be replaced by its largest branch.

    From the bottom up, the expected errors of a node are compared: as a leaf; with its branches, which have been pruned
    before; and with its largest branch in its place, which then gets all of the node's training rows. The node becomes
    a leaf unless another choice promises more than ``slack`` errors fewer; otherwise the branch replaces it, unless
    keeping the node promises that. A raised branch is pruned again with its new rows.

    Parameters
    ----------
    tree : Tree
        Of a classifier.
    X : data frame or array of shape (n_rows, n_features)
        The training table.
    y : array of shape (n_rows,)
        Its labels.
    sample_weight : array of shape (n_rows,), optional
        Weight of each row.
    confidence, limit, slack
        See :func:`treekit.prune_pessimistic`.

    Returns
    -------
    Tree
        A new tree; a raised split keeps the gain that it was chosen by.

    Raises
    ------
    ValueError, TypeError
        If the tree predicts numbers or is deeper than 300 levels, if X, y or sample_weight do not fit the tree or each
        other, or if a parameter is out of its range; the message says which.

    Notes
    -----
    Of equally large branches the last counts, as in J48. Takes O(rows x depth^2) for the whole tree, and as much again
    for each raised branch with its own rows and depth: some seconds for a chain of 300 levels with 2,000 rows. Source:
    Quinlan (1993), section 4.2; J48 of Weka.
    """
    check_pruning(tree, confidence, slack)
    assert tree.classes is not None
    values = encode_table(X, tree.features)
    weight = row_weights(sample_weight, values.shape[1])
    code = match_labels(tree.classes, read_labels(y, len(weight)))
    if (code < 0).any():
        raise ValueError(
            f"y holds a label that the tree has not been grown on, first in row {(code < 0).argmax()}: give the "
            "training table."
        )
    return raise_encoded(tree, values, code, weight, confidence, named_limit(limit), slack)


def raise_encoded(
    tree: Tree, values: Numbers, y: Ints, weight: Floats, confidence: float, limit: Limit, slack: float
) -> Tree:
    """:func:`prune_and_raise` for rows as the growers have them.

    Parameters
    ----------
    tree, confidence, limit, slack
        See :func:`prune_and_raise`.
    values : array of shape (n_features, n_rows)
        The training table, from :func:`treekit.reading.encoding.encode`.
    y : integer array of shape (n_rows,)
        Index of each row's label in ``tree.classes``.
    weight : array of shape (n_rows,)
        Weight of each row.
    """
    if tree.max_depth > DEEPEST:
        raise ValueError(
            f"subtree raising is for trees of up to {DEEPEST} levels; this one has {tree.max_depth}: set max_depth, or "
            "prune without it."
        )
    row = np.flatnonzero(weight > 0)
    rows = Rows(row, weight[row], LEAST_SHARE * weight[row])
    return assemble(tree, Raising(tree, values, y, confidence, limit, slack).prune(branches_of(tree), rows))


class Rows(NamedTuple):
    """Rows that reach a node, with the part of their weight that does; less than ``least`` is not shared out."""

    row: Ints
    weight: Floats
    least: Floats

    def some(self, which: Array) -> Rows:
        """Some of the rows."""
        return Rows(self.row[which], self.weight[which], self.least[which])


@dataclass(eq=False)
class Branch:
    """A node on its way through pruning, with the branches that are left.

    Attributes
    ----------
    node : int
        Its number in the grown tree, whose question it keeps.
    counts : array of shape (n_classes,)
        Weight of each class among its rows.
    n_samples : int
        Number of its rows.
    children : list of Branch
        Empty for a leaf.
    """

    node: int
    counts: Floats
    n_samples: int
    children: list[Branch] = field(default_factory=list)

    def leaves(self) -> list[Branch]:
        """The leaves below the node, or itself."""
        return [leaf for child in self.children for leaf in child.leaves()] or [self]

    def largest(self) -> Branch:
        """The child with the most weight, the last of equal ones."""
        weight = np.array([child.counts.sum() for child in self.children])
        return self.children[np.flatnonzero(weight >= (1 - SHARED_TIE) * weight.max())[-1]]


class Raising(NamedTuple):
    """The recursion, with what it compares and the training rows that it needs."""

    tree: Tree
    values: Numbers
    y: Ints
    confidence: float
    limit: Limit
    slack: float

    def prune(self, branch: Branch, rows: Rows) -> Branch:
        """The branch after pruning, or what takes its place."""
        if not branch.children:
            return branch
        branch.children = [self.prune(*part) for part in zip(branch.children, self.parts(branch.node, rows))]
        raised = self.with_rows(branch.largest(), rows)
        as_leaf, as_is, as_raised = (self.errors(leaves) for leaves in ([branch], branch.leaves(), raised.leaves()))
        slack = float(tie_slack(self.slack, branch.counts.sum()))
        if as_leaf <= as_is + slack and as_leaf <= as_raised + slack:
            branch.children = []
        elif as_raised <= as_is + slack:
            return self.prune(raised, rows)
        return branch

    def errors(self, leaves: list[Branch]) -> float:
        """How many errors to expect of some leaves."""
        counts = np.array([leaf.counts for leaf in leaves])
        n = counts.sum(axis=1)
        return float((n * self.limit(_errors_of(counts), n, self.confidence)).sum())

    def with_rows(self, branch: Branch, rows: Rows) -> Branch:
        """The branch with these rows in place of its own."""
        counts = np.bincount(self.y[rows.row], rows.weight, minlength=len(branch.counts)).astype(float)
        parts = self.parts(branch.node, rows) if branch.children else []
        children = [self.with_rows(*part) for part in zip(branch.children, parts)]
        return Branch(branch.node, counts, len(rows.row), children)

    def parts(self, node: int, rows: Rows) -> list[Rows]:
        """The rows that take each branch of a node; those without one are shared out as in growth."""
        tree, rule = self.tree, self.tree.missing[node]
        branch = tree.branch_or_surrogate(self.values, np.full(len(rows.row), node), rows.row)
        branch = np.where((branch < 0) & (rule >= 0), rule, branch)
        if rule != SHARE or (branch >= 0).all():
            return [rows.some(branch == k) for k in range(tree.n_children[node])]
        # A row of which little is left goes down the heaviest branch whole, and counts there as if it were known.
        weight = self.weight_of_branches(node, rows, branch)
        heaviest = np.argmax(weight >= (1 - TIE) * weight.max())
        branch = np.where((branch < 0) & (rows.weight < rows.least), heaviest, branch)
        weight = self.weight_of_branches(node, rows, branch)
        # Where no row has the value, all branches get the same share.
        share = weight / weight.sum() if weight.any() else np.full(len(weight), 1 / len(weight))
        parts = [
            rows._replace(weight=rows.weight * np.where(branch < 0, share[k], branch == k)) for k in range(len(share))
        ]
        return [part.some(part.weight > 0) for part in parts]

    def weight_of_branches(self, node: int, rows: Rows, branch: Ints) -> Floats:
        """Weight that the rows with a branch bring to each."""
        known = branch >= 0
        return np.bincount(branch[known], rows.weight[known], minlength=self.tree.n_children[node]).astype(float)


def branches_of(tree: Tree) -> Branch:
    """The root of a grown tree, with all that is below it."""
    counts = tree.value * tree.weight[:, np.newaxis]
    nodes = [Branch(node, of_node, int(n)) for node, (of_node, n) in enumerate(zip(counts, tree.n_samples))]
    for node, parent in zip(nodes[1:], tree.parent[1:]):
        nodes[parent].children.append(node)
    return nodes[0]


def assemble(tree: Tree, root: Branch) -> Tree:
    """What pruning has left, as a tree: level by level, with the questions as they grew and the rows counted again."""
    kept, parent = [root], [0]
    value: list[Floats] = []
    for k, branch in enumerate(kept):  # it grows on the way
        kept += branch.children
        parent += [k] * len(branch.children)
        # A node without rows predicts as its parent.
        value.append(branch.counts / branch.counts.sum() if branch.counts.any() else value[parent[k]])
    counts = np.array([branch.counts for branch in kept])
    pruned = tree.at_nodes(np.array([branch.node for branch in kept]))
    return replace(
        pruned.with_leaves(np.array([not branch.children for branch in kept])),
        value=np.array(value),
        weight=counts.sum(axis=1),
        n_samples=np.array([branch.n_samples for branch in kept]),
        impurity=gini_of_counts(counts) if tree.criterion == "gini" else entropy_of_counts(counts),
    )
