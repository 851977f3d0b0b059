"""Subtree raising, the other half of C4.5's pruning: a branch takes the place of the node above it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treekit.measures import entropy_of_counts
from treekit.numeric import Floats, Ints
from treekit.pruning.cut import cut, levels_bottom_up, minimum_on_path, sum_over_children
from treekit.pruning.pessimistic import Limit, binomial_limit
from treekit.trees.tree import Tree

__all__ = ["prune_and_raise"]

#: Rows on their way down: row, node and weight of each entry.
Table = tuple[Ints, Ints, Floats]


def prune_and_raise(
    tree: Tree,
    values: NDArray,
    y: Ints,
    weight: Floats,
    confidence: float = 0.25,
    limit: Limit = binomial_limit,
    slack: float = 0.0,
) -> Tree:
    """C4.5's pruning with its third choice: a node may also be replaced by its largest branch.

    From the bottom up, the errors to be expected of a node are compared: as a leaf; with its branches, pruned as they
    are by then; and with its largest branch in its place, which then gets all of its training rows. A leaf is best if
    neither other choice promises more than ``slack`` errors less; else the branch, if the node as it is does not. A
    raised branch is pruned anew with its new rows.

    Parameters
    ----------
    tree : Tree
        Of a classifier that shares out rows with gaps.
    values : array of shape (n_features, n_rows)
        The training table, from :func:`treekit.growing.encoding.encode`.
    y : integer array of shape (n_rows,)
        Place of each row's label in ``tree.classes``.
    weight : array of shape (n_rows,)
        Weight of each row.
    confidence, limit, slack
        See :func:`treekit.prune_pessimistic`.

    Returns
    -------
    Tree
        A new tree; the gain of a raised question is the one that it was chosen by.

    Notes
    -----
    Of equally large branches the last counts, as in J48. All nodes of a level are compared at once, with their rows on
    their way down: O(rows x depth^2) for the whole tree, and as much again for each raised branch with its own rows and
    depth. Source: Quinlan (1993), section 4.2; J48 of Weka.
    """

    def expected(counts: Floats) -> Floats:
        n = counts.sum(axis=1)
        return n * limit(np.maximum(n - counts.max(axis=1), 0), n, confidence)

    row = np.flatnonzero(weight > 0)
    tables = [*_tables(tree, values, (row, np.zeros(len(row), dtype=np.intp), weight[row]))]
    # Each entry is a task: prune below these nodes of this level, whose rows pass in these tables. The last one is at
    # work, level by level. The nodes of a level and above keep their numbers whatever happens below them.
    tasks = [(0, np.array([0]), tables)]
    depth = tree.max_depth
    while tasks:
        top, roots, tables = tasks[-1]
        depth -= 1
        if depth < top:
            tasks.pop()
            depth = top
            continue
        nodes = np.flatnonzero((tree.depth == depth) & ~tree.is_leaf & _below(tree, roots))
        if not len(nodes):
            continue
        as_leaf = expected(tree.value * tree.weight[:, np.newaxis])
        as_is = _sum_over_leaves(tree, as_leaf)[nodes]
        here = tables[depth - top] if depth - top < len(tables) else _no_rows()
        branch = _largest_branch(tree, nodes)
        which = tree.branch[branch]
        moved = [*_tables(tree, values, rows_sent_to(here, nodes, branch))]
        raised = _sum_over_leaves(tree, expected(_counts(tree, y, moved)))[branch]

        is_leaf = (as_leaf[nodes] <= as_is + slack) & (as_leaf[nodes] <= raised + slack)
        is_raised = ~is_leaf & (raised <= as_is + slack)
        tree = cut(tree, nodes[is_leaf])
        if is_raised.any():
            # What was raised has new rows: prune it anew before going on.
            roots = nodes[is_raised]
            tree = _replaced(tree, roots, (tree.first_child[nodes] + which)[is_raised])
            tables = [*_tables(tree, values, rows_sent_to(here, roots, roots))]
            tree = _with_rows(tree, y, tables, _below(tree, roots))
            tasks.append((depth, roots, tables))
            depth = tree.max_depth
    return tree


def _no_rows() -> Table:
    return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0)


def _below(tree: Tree, roots: Ints) -> NDArray[np.bool_]:
    """Which nodes are one of the roots or lie below one."""
    return ~minimum_on_path(tree, ~np.isin(np.arange(tree.n_nodes), roots))


def _tables(tree: Tree, values: NDArray, table: Table) -> Iterator[Table]:
    """The rows on their way down, step by step; where one can't answer, it is shared out as the others went."""
    row, node, weight = table
    while len(row):
        yield row, node, weight
        asks = tree.feature[node] >= 0
        row, node, weight = row[asks], node[asks], weight[asks]
        branch = tree.branch_taken(values, node, row)
        is_known = branch >= 0
        n_copies = np.where(is_known, 1, tree.n_children[node])
        into = np.bincount((tree.first_child[node] + branch)[is_known], weight[is_known], minlength=tree.n_nodes)
        known = np.bincount(node[is_known], weight[is_known], minlength=tree.n_nodes)
        origin = np.repeat(np.arange(len(row)), n_copies)
        copy = np.arange(len(origin)) - (np.cumsum(n_copies) - n_copies)[origin]
        child = tree.first_child[node[origin]] + np.where(is_known[origin], branch[origin], copy)
        # Where nobody can answer, all branches get the same.
        among = known[node[origin]]
        share = np.where(among > 0, into[child] / np.where(among > 0, among, 1), 1 / tree.n_children[node[origin]])
        weight = weight[origin] * np.where(is_known[origin], 1, share)
        moves = weight > 0
        row, node, weight = row[origin[moves]], child[moves], weight[moves]


def _counts(tree: Tree, y: Ints, tables: list[Table]) -> Floats:
    """Weight of the rows of each class that pass or end in each node, of shape (n_nodes, n_classes)."""
    n_classes = tree.value.shape[1]
    row, node, weight = (np.concatenate(part) for part in zip(*tables, _no_rows()))
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
    parent = np.repeat(np.arange(len(nodes)), tree.n_children[nodes])
    child = np.flatnonzero(np.isin(tree.parent, nodes))
    order = np.lexsort((child, tree.weight[child].round(6), parent))
    return child[order][np.append(np.diff(parent) > 0, True)]


def rows_sent_to(table: Table, nodes: Ints, branch: Ints) -> Table:
    """The rows of these nodes, each sent on to the branch given for its node."""
    row, node, weight = table
    here = np.isin(node, nodes)
    return row[here], branch[np.searchsorted(nodes, node[here])], weight[here]


def _replaced(tree: Tree, nodes: Ints, branch: Ints) -> Tree:
    """The tree with each of some nodes replaced by a child of its own, and what is below that child."""
    instead = np.arange(tree.n_nodes)
    instead[nodes] = branch
    order, level = [], instead[:1]
    while len(level):
        order.append(level)
        inner = level[~tree.is_leaf[level]]
        n = tree.n_children[inner]
        level = instead[np.repeat(tree.first_child[inner] - np.cumsum(n) + n, n) + np.arange(n.sum())]
    old = np.concatenate(order)
    n_routes = np.where(tree.is_leaf, 0, np.array([feature.n_values for feature in tree.features])[tree.feature])[old]
    names = ("feature", "threshold", "n_children", "missing", "gain", "impurity", "n_samples", "weight", "value")
    route = tree._route_table[old]
    return replace(
        tree,
        route=route[np.arange(route.shape[1]) < n_routes[:, np.newaxis]],
        **{name: getattr(tree, name)[old] for name in names},
    )


def _with_rows(tree: Tree, y: Ints, tables: list[Table], changes: NDArray[np.bool_]) -> Tree:
    """The tree with what some of its nodes say of these rows; a node without rows says what its parent says."""
    counts = np.where(changes[:, np.newaxis], _counts(tree, y, tables), tree.value * tree.weight[:, np.newaxis])
    weight = counts.sum(axis=1)
    is_empty = changes & (weight == 0)
    value = np.where(changes[:, np.newaxis], counts / np.where(weight > 0, weight, 1)[:, np.newaxis], tree.value)
    for nodes in reversed([*levels_bottom_up(tree)]):
        child = np.flatnonzero(np.isin(tree.parent, nodes) & is_empty)
        value[child] = value[tree.parent[child]]
    n_samples = np.bincount(np.concatenate([node for _, node, _ in tables]), minlength=tree.n_nodes)
    return replace(
        tree,
        value=value,
        weight=np.where(changes, weight, tree.weight),
        n_samples=np.where(changes, n_samples, tree.n_samples),
        impurity=np.where(changes, entropy_of_counts(counts), tree.impurity),
    )
