"""Probabilities of leaves that hold few rows: their class shares, drawn towards those of a prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from treekit.numeric import Floats
from treekit.trees.tree import Tree, refuse_other_than_tree

__all__ = ["smooth_shares"]


def smooth_shares(tree: Tree, m: float | None = None, prior: ArrayLike | None = None) -> Tree:
    r"""The tree with smoothed class shares: each node counts as if m more rows had the shares of a prior.

    .. math:: \hat p_k = \frac{|C_k| + m \pi_k}{|D| + m}

    With its defaults this is Laplace's estimate, one more row of each class; with other priors the m-estimate,
    :eq:`eq-m-estimate`. Pure leaves of different sizes then differ in their shares, so that their rows can be ranked.

    Parameters
    ----------
    tree : Tree
        A tree for classes, such as ``model.tree_``.
    m : float, optional
        How many rows the prior counts for, more than 0; by default the number of classes.
    prior : array of shape (n_classes,), optional
        The share :math:`\pi_k` of each class, in the order of ``tree.classes``; by default all are equal. The shares
        among the training rows are ``tree.value[0]``.

    Returns
    -------
    Tree
        A new tree, with the same nodes and weights. Equal priors leave each node's largest share the largest.

    Raises
    ------
    TypeError
        If ``tree`` is not a :class:`treekit.Tree`.
    ValueError
        If the tree predicts numbers, if m is not a positive number, or if the prior does not hold one share for each
        class, with the sum 1.

    Notes
    -----
    Rows count with their weights, those of ``class_weight`` included. Prune first, because pruning works the numbers of
    each class out from the shares. Costs O(nodes x classes). Sources: Cestnik (1990); Provost and Domingos (2003).

    Examples
    --------
    >>> from treekit import CARTClassifier
    >>> tree = CARTClassifier().fit([[1], [2], [3], [4]], ["no", "no", "no", "yes"]).tree_
    >>> smooth_shares(tree).value.round(2).tolist()
    [[0.67, 0.33], [0.8, 0.2], [0.33, 0.67]]
    """
    refuse_other_than_tree(tree)
    if tree.classes is None:
        raise ValueError("tree predicts numbers: only a tree for classes has shares to smooth.")
    n_classes = len(tree.classes)
    m = n_classes if m is None else m
    if not 0 < m < np.inf:
        raise ValueError(f"m must be a positive number of rows; got {m!r}.")
    share = _read_prior(prior, n_classes)
    of_prior = (m / (tree.weight + m))[:, np.newaxis]
    return replace(tree, value=(1 - of_prior) * tree.value + of_prior * share)


def _read_prior(prior: ArrayLike | None, n_classes: int) -> Floats:
    share = np.full(n_classes, 1 / n_classes) if prior is None else np.asarray(prior, dtype=float)
    if share.shape != (n_classes,) or not (share >= 0).all() or abs(share.sum() - 1) > 1e-9:
        raise ValueError(f"prior must hold {n_classes} shares with the sum 1, one for each class; got {prior!r}.")
    return share
