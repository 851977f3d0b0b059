"""Pruning with held-out rows: reduced error, and pre-pruning."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from treekit.numeric import Floats
from treekit.pruning.cut import cut, nodes_to_prune, sum_over_children, tie_slack
from treekit.reading.encoding import encode_table, match_labels
from treekit.reading.validation import read_labels, read_targets, row_weights
from treekit.trees.structure import majority
from treekit.trees.traversal import rows_by_level
from treekit.trees.tree import Tree, refuse_other_than_tree

__all__ = ["preprune", "prune_reduced_error"]


def prune_reduced_error(
    tree: Tree, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, ties: str = "cut"
) -> Tree:
    """Reduced-error pruning: from the bottom up, cut what does not help on held-out rows.

    A node becomes a leaf when its held-out rows are then predicted no worse than by its branches, which have been
    pruned before. So no other pruned tree has a smaller error on these rows.

    Parameters
    ----------
    tree : Tree
        A grown tree, of a classifier or a regressor.
    X : data frame or array of shape (n_rows, n_features)
        Held-out rows, with the columns of the training table.
    y : array of shape (n_rows,)
        Their labels, of the same kind as in fit (errors are counted), or numbers (squared errors are summed).
    sample_weight : array of shape (n_rows,), optional
        Weight of each row.
    ties : {"cut", "keep"}
        What happens to branches that make no difference, as at a node that no held-out row reaches. "cut" leaves the
        smallest of the best trees, as Quinlan does; "keep" cuts only for a gain, as in figure 4.7 of Zhou.

    Returns
    -------
    Tree

    Raises
    ------
    ValueError, TypeError
        If X, y or sample_weight do not fit the tree or each other, or if ``ties`` is neither; the message says which.

    Notes
    -----
    A row with a missing value counts in several leaves, in each with its share. Takes time linear in the summed
    lengths of the rows' paths. Source: Quinlan (1987), Simplifying decision trees; Mitchell (1997), section 3.7.
    """
    as_leaf, stopped = _held_out_costs(tree, X, y, sample_weight)
    return cut(tree, nodes_to_prune(tree, as_leaf, _slack_towards(ties, as_leaf), stopped))


def preprune(tree: Tree, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, ties: str = "cut") -> Tree:
    """Pre-pruning: from the top down, stop at the first split that does not help on held-out rows.

    A node keeps its split when the held-out rows are predicted better by its children, taken as leaves, than by the
    node as a leaf. What further splits would gain below the children is not considered: the rule is greedy.

    A split depends on the rows of its node alone, not on the splits below it. So cutting the grown tree where growing
    would have stopped gives the same tree as testing while it grows; only the time to grow the rest is wasted.

    Parameters, errors and cost are those of :func:`prune_reduced_error`. With ``ties="cut"`` a split must help to be
    kept, as in figure 4.6 of Zhou; with "keep" it must not harm.

    Returns
    -------
    Tree
    """
    as_leaf, stopped = _held_out_costs(tree, X, y, sample_weight)
    slack, is_cut = _slack_towards(ties, as_leaf), np.zeros(tree.n_nodes, dtype=bool)
    inner = np.flatnonzero(~tree.is_leaf)
    if len(inner):
        is_cut[inner] = as_leaf[inner] <= sum_over_children(tree, as_leaf, inner) + stopped[inner] + slack[inner]
    return cut(tree, is_cut)


def _slack_towards(ties: str, cost: Floats) -> Floats:
    """How much more than its branches a leaf may cost, just over nothing; if negative, how much less it must cost."""
    if ties not in ("cut", "keep"):
        raise ValueError(f"ties must be 'cut' or 'keep'; got {ties!r}.")
    slack = np.maximum(tie_slack(0.0, cost), np.finfo(float).tiny)
    return slack if ties == "cut" else -slack


def _held_out_costs(tree: Tree, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Floats, Floats]:
    """What the rows of each node cost if it is a leaf, and what the rows cost that stop there."""
    refuse_other_than_tree(tree)
    values = encode_table(X, tree.features)
    n_rows = values.shape[1]
    weight = row_weights(sample_weight, n_rows)
    if tree.classes is not None:
        # A label that the tree has never seen is an error in every leaf.
        code, label = match_labels(tree.classes, read_labels(y, n_rows)), majority(tree.value)
    else:
        target, value = read_targets(y, n_rows), tree.value[:, 0]
    as_leaf, stopped = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    for row, node, share, stays in rows_by_level(tree, values):
        loss = code[row] != label[node] if tree.classes is not None else (target[row] - value[node]) ** 2
        cost = share * weight[row] * loss
        np.add.at(as_leaf, node, cost)
        np.add.at(stopped, node[stays], cost[stays])
    return as_leaf, stopped
