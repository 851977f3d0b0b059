"""Subtree raising, the other half of C4.5's pruning: a branch replaces the node above it.

As a recursion, over the training rows that reach a node:

    prune(node, rows):
        for each branch: prune(branch, the rows that take it)
        expect errors of the node: (1) as a leaf, (2) with its branches as they are now,
                                   (3) with its largest branch in its place, which then gets all of ``rows``
        if (1) is no more than (2) and (3), but for the slack: make it a leaf
        else if (3) is no more than (2), but for the slack: put the branch in its place, and prune(branch, rows) again

Below, all nodes of a level take a step together, and a list of tasks replaces the recursion: a task prunes the branches
below some nodes of one level, from the deepest level up. Where branches are raised, a new task prunes these first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from treekit.measures import entropy_of_counts, gini_of_counts
from treekit.numeric import LEAST_SHARE, SHARED_TIE, Bools, Floats, Ints, Numbers, repeat_with_index
from treekit.pruning.cut import cut, levels_bottom_up, minimum_on_path, sum_over_children, tie_slack
from treekit.pruning.pessimistic import Limit, _errors_of, check_pruning, named_limit
from treekit.reading.encoding import encode_table, match_labels
from treekit.reading.validation import read_labels, row_weights
from treekit.trees.structure import STOP
from treekit.trees.tree import Tree

__all__ = ["prune_and_raise"]


class Rows(NamedTuple):
    """Rows on their way down, some of them in several nodes: one entry for each row and node.

    An entry that weighs less than ``least``, a small part of its row, is not shared out any further.
    """

    row: Ints
    node: Ints
    weight: Floats
    least: Floats


def _some(rows: Rows, which: Bools) -> Rows:
    """Some entries of the rows."""
    return Rows(rows.row[which], rows.node[which], rows.weight[which], rows.least[which])


class Task(NamedTuple):
    """Prune the branches below some nodes of one level.

    Attributes
    ----------
    depth : int
        The level of the nodes.
    nodes : array
        The nodes; a level and all above it keep their numbers whatever changes below them.
    rows : list of Rows
        The rows in these nodes, and level by level below.
    """

    depth: int
    nodes: Ints
    rows: list[Rows]


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
    before; and with its largest branch in its place, which then gets all of the node's training rows. A leaf is best if
    neither other choice promises to make more than ``slack`` errors fewer; otherwise the branch, if the node as it is
    does not. A raised branch is pruned again with its new rows.

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
        If the tree predicts numbers, if X, y or sample_weight do not fit the tree or each other, or if a parameter is
        out of its range; the message says which.

    Notes
    -----
    Of equally large branches the last counts, as in J48. All nodes of a level are compared at once, with their rows on
    their way down: O(rows x depth^2) for the whole tree, and as much again for each raised branch with its own rows and
    depth. Source: Quinlan (1993), section 4.2; J48 of Weka.
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

    def expected(counts: Floats) -> Floats:
        n = counts.sum(axis=1)
        return n * limit(_errors_of(counts), n, confidence)

    row = np.flatnonzero(weight > 0)
    in_root = Rows(row, np.zeros(len(row), dtype=np.intp), weight[row], LEAST_SHARE * weight[row])
    tasks = [Task(0, np.array([0]), [*_rows_by_level(tree, values, in_root)])]
    depth = tree.max_depth
    while tasks:
        task, depth = tasks[-1], depth - 1
        if depth < task.depth:
            tasks.pop()
            depth = task.depth
            continue
        nodes = np.flatnonzero((tree.depth == depth) & ~tree.is_leaf & _is_below(tree, task.nodes))
        if not len(nodes):
            continue
        level = depth - task.depth
        rows = task.rows[level] if level < len(task.rows) else _no_rows()
        child = _largest_branch(tree, nodes)
        branch = tree.branch[child]
        is_leaf, is_raised = _choices(tree, values, y, nodes, child, rows, expected, slack)
        tree = cut(tree, nodes[is_leaf])
        if is_raised.any():
            # A raised branch has new rows: prune it again before the next level.
            nodes, child = nodes[is_raised], (tree.first_child[nodes] + branch)[is_raised]
            tree = _replaced(tree, nodes, child)
            below = [*_rows_by_level(tree, values, _sent_to(rows, nodes, nodes))]
            tree = _with_rows(tree, y, below, _is_below(tree, nodes))
            tasks.append(Task(depth, nodes, below))
            depth = tree.max_depth
    return tree


def _choices(
    tree: Tree,
    values: Numbers,
    y: Ints,
    nodes: Ints,
    child: Ints,
    rows: Rows,
    expected: Callable[[Floats], Floats],
    slack: float,
) -> tuple[Bools, Bools]:
    """Which of some nodes become leaves, and which are replaced by ``child``, which then gets their ``rows``.

    ``expected`` works out the expected errors from the weight of each class.
    """
    error = expected(tree.value * tree.weight[:, np.newaxis])
    as_leaf, as_is = error[nodes], _sum_over_leaves(tree, error)[nodes]
    moved = [*_rows_by_level(tree, values, _sent_to(rows, nodes, child))]
    raised = _sum_over_leaves(tree, expected(_counts(tree, y, moved)))[child]
    least = tie_slack(slack, tree.weight[nodes])
    is_leaf = (as_leaf <= as_is + least) & (as_leaf <= raised + least)
    return is_leaf, ~is_leaf & (raised <= as_is + least)


def _no_rows() -> Rows:
    return Rows(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0))


def _is_below(tree: Tree, nodes: Ints) -> Bools:
    """Which nodes of the tree are among ``nodes`` or lie below one of them."""
    return ~minimum_on_path(tree, ~np.isin(np.arange(tree.n_nodes), nodes))


def _rows_by_level(tree: Tree, values: Numbers, rows: Rows) -> Iterator[Rows]:
    """The rows on their way down, level by level; one with a missing value is shared out as the others are."""
    while len(rows.row):
        yield rows
        rows = _some(rows, tree.feature[rows.node] >= 0)
        branch = tree.branch_or_surrogate(values, rows.node, rows.row)
        branch = np.where((branch < 0) & (tree.missing[rows.node] >= 0), tree.missing[rows.node], branch)
        moves = (branch >= 0) | (tree.missing[rows.node] != STOP)
        rows = _share_out(tree, _some(rows, moves), branch[moves])


def _share_out(tree: Tree, rows: Rows, branch: Ints) -> Rows:
    """The rows in the children: each in its branch, those without one in all branches, by the weights in these.

    Of a row of which little is left all goes down the heaviest branch; as in growth, it then counts there like a row
    that has the value.
    """
    is_small = (branch < 0) & (rows.weight < rows.least)
    if is_small.any():
        branch = np.where(is_small, tree.heaviest_branch(_weight_of_children(tree, rows, branch))[rows.node], branch)
    node, is_known = rows.node, branch >= 0
    of_child = _weight_of_children(tree, rows, branch)
    of_node = np.bincount(node[is_known], rows.weight[is_known], minlength=tree.n_nodes)
    origin, copy = repeat_with_index(np.arange(len(node)), np.where(is_known, 1, tree.n_children[node]))
    node, is_known = node[origin], is_known[origin]
    child = tree.first_child[node] + np.where(is_known, branch[origin], copy)
    # Where no row of the node has the value, all branches get the same share.
    among = of_node[node]
    share = np.where(among > 0, of_child[child] / np.where(among > 0, among, 1), 1 / tree.n_children[node])
    weight = rows.weight[origin] * np.where(is_known, 1, share)
    kept = weight > 0
    return Rows(rows.row[origin[kept]], child[kept], weight[kept], rows.least[origin[kept]])


def _weight_of_children(tree: Tree, rows: Rows, branch: Ints) -> Floats:
    """Weight that the rows with a branch bring to each child, of shape (n_nodes,)."""
    is_known = branch >= 0
    child = tree.first_child[rows.node[is_known]] + branch[is_known]
    return np.bincount(child, rows.weight[is_known], minlength=tree.n_nodes).astype(float)


def _counts(tree: Tree, y: Ints, levels: list[Rows]) -> Floats:
    """Weight of the rows of each class that pass or end in each node, of shape (n_nodes, n_classes)."""
    n_classes = tree.value.shape[1]
    row, node, weight, _ = (np.concatenate(part) for part in zip(*levels, _no_rows()))
    counts = np.bincount(node * n_classes + y[row], weight, minlength=tree.n_nodes * n_classes)
    return counts.astype(float).reshape(tree.n_nodes, n_classes)


def _sum_over_leaves(tree: Tree, cost: Floats) -> Floats:
    """Sum of the costs of the leaves below each node."""
    total = cost.copy()
    for nodes in levels_bottom_up(tree):
        total[nodes] = sum_over_children(tree, total, nodes)
    return total


def _largest_branch(tree: Tree, nodes: Ints) -> Ints:
    """The child of each node with the most weight, the last of equal ones."""
    child = np.flatnonzero(np.isin(tree.parent, nodes))
    weight, n_children = tree.weight[child], tree.n_children[nodes]
    largest = np.maximum.reduceat(weight, np.cumsum(n_children) - n_children)
    large = child[weight >= (1 - SHARED_TIE) * np.repeat(largest, n_children)]
    return large[np.append(np.diff(tree.parent[large]) > 0, True)]


def _sent_to(rows: Rows, nodes: Ints, target: Ints) -> Rows:
    """The rows of some nodes, those of ``nodes[k]`` put into ``target[k]``."""
    inside = _some(rows, np.isin(rows.node, nodes))
    return inside._replace(node=target[np.searchsorted(nodes, inside.node)])


def _replaced(tree: Tree, nodes: Ints, branch: Ints) -> Tree:
    """The tree with each of some nodes replaced by one of its children, and the branch below that child."""
    # Number the nodes of the new tree level by level; ``old`` holds their numbers in the tree as it was.
    successor = np.arange(tree.n_nodes)
    successor[nodes] = branch
    levels, level = [], successor[:1]
    while len(level):
        levels.append(level)
        parent, child = repeat_with_index(level, tree.n_children[level])
        level = successor[tree.first_child[parent] + child]
    old = np.concatenate(levels)
    names = ("feature", "threshold", "n_children", "missing", "gain", "impurity", "n_samples", "weight", "value")
    return replace(
        tree,
        routes=tree.routes.of(old, tree.n_nodes),
        surrogates=tuple(surrogate.of(old) for surrogate in tree.surrogates),
        direction=None if tree.direction is None else tree.direction[old],
        **{name: getattr(tree, name)[old] for name in names},
    )


def _with_rows(tree: Tree, y: Ints, levels: list[Rows], changes: Bools) -> Tree:
    """The tree with some of its nodes counted again from these rows; a node without rows predicts as its parent."""
    counts = np.where(changes[:, np.newaxis], _counts(tree, y, levels), tree.value * tree.weight[:, np.newaxis])
    weight = counts.sum(axis=1)
    is_empty = changes & (weight == 0)
    value = np.where(changes[:, np.newaxis], counts / np.where(weight > 0, weight, 1)[:, np.newaxis], tree.value)
    for nodes in reversed([*levels_bottom_up(tree)]):
        child = np.flatnonzero(np.isin(tree.parent, nodes) & is_empty)
        value[child] = value[tree.parent[child]]
    n_samples = np.bincount(np.concatenate([rows.node for rows in levels]), minlength=tree.n_nodes)
    impurity = gini_of_counts(counts) if tree.criterion == "gini" else entropy_of_counts(counts)
    return replace(
        tree,
        value=value,
        weight=np.where(changes, weight, tree.weight),
        n_samples=np.where(changes, n_samples, tree.n_samples),
        impurity=np.where(changes, impurity, tree.impurity),
    )
