"""Cutting branches off a tree, and sums up and down its levels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treekit.numeric import COST_TIE, Bools, Floats, Ints, Kind
from treekit.trees.tree import Tree, refuse_other_than_tree

__all__ = ["cut"]


def cut(tree: Tree, nodes: ArrayLike) -> Tree:
    """The tree with the branches below some nodes cut off: these nodes become leaves.

    Parameters
    ----------
    tree : Tree
    nodes : array of numbers, or of booleans with one entry per node
        Which nodes become leaves. One that is a leaf already, or lies below another of them, changes nothing.

    Returns
    -------
    Tree
        A new tree; a new leaf predicts by the training rows of its node.

    Raises
    ------
    IndexError
        If ``nodes`` holds a number that no node has, or booleans for another number of nodes.
    ValueError
        If only the leaves of the tree hold predictions, as in first-order boosting.

    Notes
    -----
    Takes O(nodes x log depth) time.
    """
    refuse_other_than_tree(tree)
    if tree.only_leaves_predict:
        raise ValueError(
            "tree is a step of first-order boosting: only its leaves hold predictions, so it can't be pruned; limit "
            "its size by max_depth instead."
        )
    nodes = np.asarray(nodes)
    if nodes.dtype == bool and nodes.shape == (tree.n_nodes,):
        is_cut = nodes
    elif nodes.size == 0 or (nodes.dtype.kind in "iu" and nodes.min() >= 0 and nodes.max() < tree.n_nodes):
        is_cut = np.isin(np.arange(tree.n_nodes), nodes)
    else:
        raise IndexError(f"nodes must be numbers from 0 to {tree.n_nodes - 1}, or booleans, one per node; got {nodes}.")
    # A node stays when none of the nodes above it is cut.
    stays = minimum_on_path(tree, ~is_cut)[tree.parent]
    stays[0] = True
    return tree.with_leaves(is_cut | tree.is_leaf).at_nodes(stays)


def minimum_on_path(tree: Tree, x: NDArray[Kind]) -> NDArray[Kind]:
    """The least x on the path from the root to each node, both included."""
    # By doubling: after k turns ``least`` covers 2 ** k nodes of the path, and ``up`` is the next one above them.
    least, up = x, np.maximum(tree.parent, 0)
    while True:
        least = np.minimum(least, least[up])
        if not up.any():
            return least
        up = up[up]


def levels_bottom_up(tree: Tree) -> Iterator[Ints]:
    """The inner nodes, level by level, the deepest first."""
    inner = np.flatnonzero(~tree.is_leaf)
    if len(inner):
        yield from reversed(np.split(inner, np.flatnonzero(np.diff(tree.depth[inner])) + 1))


def sum_over_children(tree: Tree, x: NDArray[Kind], nodes: Ints) -> NDArray[Kind]:
    """Sum of x over the children of each inner node of a level; they lie one after the other."""
    last = tree.first_child[nodes[-1]] + tree.n_children[nodes[-1]]
    return np.add.reduceat(x[..., :last], tree.first_child[nodes], axis=-1)


def tie_slack(slack: float, scale: Floats) -> Floats:
    """How much more a choice of pruning may cost at each node and still be preferred: ``slack``, and what rounding may
    add there to costs of the size ``scale``. The rounding at a large node must not decide about a small one."""
    return slack + COST_TIE * scale


def nodes_to_prune(tree: Tree, as_leaf: Floats, slack: Floats, stopped: Floats | float = 0.0) -> Bools:
    """Which nodes to prune so that the total cost of the leaves is least.

    ``as_leaf`` is the cost of each node as a leaf, ``stopped`` that of the rows that stop at an inner node. A node is
    pruned when as a leaf it costs no more than its pruned branches plus ``slack``; see :func:`tie_slack`.
    """
    cost, is_cut = as_leaf.copy(), np.zeros(tree.n_nodes, dtype=bool)
    stopped = np.broadcast_to(stopped, tree.n_nodes)
    for nodes in levels_bottom_up(tree):
        branches = sum_over_children(tree, cost, nodes) + stopped[nodes]
        is_cut[nodes] = as_leaf[nodes] <= branches + slack[nodes]
        cost[nodes] = np.where(is_cut[nodes], as_leaf[nodes], branches)
    return is_cut
