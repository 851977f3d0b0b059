"""Cost-complexity pruning: each leaf has a price."""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import numpy as np

from treekit.numeric import COST_TIE, Floats, Ints
from treekit.pruning.cut import cut, levels_bottom_up, minimum_on_path, sum_over_children
from treekit.pruning.pessimistic import _errors
from treekit.trees.tree import Tree, refuse_other_than_tree

__all__ = ["cost_complexity_path", "CostComplexityPath", "prune_cost_complexity"]


class CostComplexityPath(NamedTuple):
    """All pruned trees that are best for some price of a leaf, from the largest to the root alone.

    Attributes
    ----------
    ccp_alphas : array of shape (n_trees,)
        The lowest price for which each tree is the smallest best one, rising from 0.
    impurities : array of shape (n_trees,)
        Risk of each tree, the summed risks of its leaves.
    n_leaves : integer array of shape (n_trees,)
        Number of its leaves.
    """

    ccp_alphas: Floats
    impurities: Floats
    n_leaves: Ints


def cost_complexity_path(tree: Tree, risk: str = "impurity") -> CostComplexityPath:
    r"""The pruned trees of least cost for every price of a leaf, by cutting the weakest link again and again.

    .. math:: C_\alpha(T) = R(T) + \alpha |T|, \qquad g(t) = \frac{R(t) - R(T_t)}{|T_t| - 1}

    These are :eq:`eq-cost-complexity` and :eq:`eq-weakest-link` of the book. R(T) adds up, over the :math:`|T|` leaves,
    each leaf's share of the training weight times what a row costs there. As the price :math:`\alpha` rises, node t
    is cut when the price reaches g(t), what the branch of t saves for each leaf that it adds.

    Parameters
    ----------
    tree : Tree
    risk : {"impurity", "misclassification"}
        What a row of a leaf costs: the impurity that the tree was grown with, as in scikit-learn (for a regression
        tree its squared error, or the like), or 1 when it is not of the leaf's class, as in Breiman and rpart. rpart
        prints prices and risks as fractions of the root's risk.

    Returns
    -------
    CostComplexityPath
        Its first tree, for price 0, is the smallest that has the risk of the whole tree. Equal links are cut together.

    Raises
    ------
    ValueError
        If ``risk`` is neither, if it is "misclassification" and the tree predicts numbers, or if the tree is a step of
        second-order boosting, where ``gamma`` is the price of a leaf.

    Notes
    -----
    All prices are found in one pass from the bottom up; see ``pruning_prices``. Source: Breiman, Friedman, Olshen and
    Stone (1984), chapter 3.
    """
    risks, rounding = _risks(tree, risk)
    saved = _saved(tree, risks)
    inner = np.flatnonzero(~tree.is_leaf)
    price = pruning_prices(tree, saved)
    price = np.where(price <= rounding, 0.0, price)
    inner = inner[np.argsort(-price[inner], kind="stable")]
    # The k splits that are cut last make a tree, for k = 0 (the root alone), 1, 2, ...; it is the smallest best one
    # from the price of the next split on. Splits that are cut together make no trees of their own.
    lowest, tie = np.append(price[inner], 0.0), np.append(rounding[inner], 0.0)
    is_step = np.append(True, lowest[1:] < lowest[:-1] - np.maximum(tie[1:], tie[:-1]))
    # Added up from the least: taken from the risk of the root, a small one would be lost in rounding.
    impurities = risks[tree.is_leaf].sum() + np.append(np.cumsum(saved[inner][::-1])[::-1], 0.0)
    n_leaves = 1 + np.append(0, np.cumsum(tree.n_children[inner] - 1))
    return CostComplexityPath(*(part[is_step][::-1] for part in (lowest, impurities, n_leaves)))


def prune_cost_complexity(tree: Tree, ccp_alpha: float, risk: str = "impurity") -> Tree:
    r"""The smallest pruned tree of least cost :math:`C_\alpha(T) = R(T) + \alpha |T|`, :eq:`eq-cost-complexity`.

    Parameters
    ----------
    tree : Tree
    ccp_alpha : float
        Price of a leaf, 0 or more. With 0 only splits that save nothing are cut.
    risk : {"impurity", "misclassification"}
        See :func:`cost_complexity_path`.

    Returns
    -------
    Tree

    Raises
    ------
    ValueError
        As :func:`cost_complexity_path`, and if ``ccp_alpha`` is negative.

    Notes
    -----
    Equal costs cut. Takes as long as :func:`cost_complexity_path`. Source: Breiman et al. (1984), chapter 3.
    """
    if not (isinstance(ccp_alpha, Real) and ccp_alpha >= 0):
        raise ValueError(f"ccp_alpha must be a number, 0 or more; got {ccp_alpha!r}.")
    risks, rounding = _risks(tree, risk)
    return cut(tree, pruning_prices(tree, _saved(tree, risks)) <= ccp_alpha + rounding)


def _risks(tree: Tree, risk: str) -> tuple[Floats, Floats]:
    """Each node's share of the training weight times what a row costs there; and how much rounding may change that."""
    refuse_other_than_tree(tree)
    if risk not in ("impurity", "misclassification"):
        raise ValueError(f"risk must be 'impurity' or 'misclassification'; got {risk!r}.")
    if tree.gain_is_sum:
        raise ValueError(
            "tree is a step of second-order boosting, whose gains are sums that reg_lambda has lowered: there the "
            "price of a leaf is gamma, which is set before the tree grows."
        )
    if risk == "misclassification":
        if tree.classes is None:
            raise ValueError("risk must be 'impurity' for a tree that predicts numbers: it misclassifies nothing.")
        risks = _errors(tree) / tree.weight[0]
    else:
        risks = tree.weight * tree.impurity / tree.weight[0]
    # The impurity of classes is 1 minus something: near 0 it is as uncertain as near 1.
    return risks, COST_TIE * (risks if tree.classes is None else tree.weight / tree.weight[0])


def _saved(tree: Tree, risks: Floats) -> Floats:
    """How much the split of each node lowers the risk; 0 for a leaf."""
    saved = np.zeros(tree.n_nodes)
    for nodes in levels_bottom_up(tree):
        saved[nodes] = risks[nodes] - sum_over_children(tree, risks, nodes)
    return np.maximum(saved, 0)


def pruning_prices(tree: Tree, saved: Floats) -> Floats:
    """The price of a leaf from which on each inner node is cut, itself or with a node above it; infinite for leaves.

    Breiman's algorithm cuts the weakest link, the branch that saves least per leaf, looks for the weakest link of what
    is left, and so on: one pass over the tree for each cut. Here all prices come from one pass, bottom up. An example
    with four splits, and what each saves::

        a: 4 ── b: 2 ── c: 6          every split adds one leaf
         └───── d: 1

    * c and d, at the bottom, save 6 and 1 for their one leaf: that is what each is worth alone.
    * b saves 2, but the branch of b, with c, saves 8 for 2 leaves. c is worth more than b: as long as b stays, c stays,
      too. They form a group of price 8 / 2 = 4: from there on both are cut.
    * a saves 4. The group of b is worth no less than that, 4 per leaf, and joins: (4 + 8) / 3 = 4. d is worth less, 1,
      so it is cut on its own before.
    * Prices: d 1; a, b and c 4. Breiman: d is the weakest link (1), then b and a tie (8 / 2 = 12 / 3 = 4).

    In general each split starts a group of its own. Bottom up, it takes in the groups below it, the most valuable per
    leaf first, as long as they are worth at least as much per leaf as the group is by then. What is left out is cut
    earlier, so when a node is cut, its branch is exactly its group, and g(t) the group's mean saving per leaf.
    """
    save, n_added = saved.copy(), np.maximum(tree.n_children - 1, 0).astype(float)
    price = np.full(tree.n_nodes, np.inf)
    group = owner = np.zeros(0, dtype=np.intp)
    for nodes in levels_bottom_up(tree):
        # ``group``: the top nodes of the groups so far; ``owner``: the node of this level that each lies below.
        owner = tree.parent[owner]
        # Fractions are compared by cross-multiplication: save / n_added of the group with that of its owner.
        richer = np.flatnonzero(save[group] * n_added[owner] >= save[owner] * n_added[group])
        if len(richer):
            richer = richer[np.lexsort((-save[group[richer]] / n_added[group[richer]], owner[richer]))]
            at, s, n = owner[richer], save[group[richer]], n_added[group[richer]]
            joins = s * prefix_per_owner(n_added, at, n) >= prefix_per_owner(save, at, s) * n
            np.add.at(save, at[joins], s[joins])
            np.add.at(n_added, at[joins], n[joins])
            is_left = np.ones(len(group), dtype=bool)
            is_left[richer[joins]] = False
            group, owner = group[is_left], owner[is_left]
        price[nodes] = save[nodes] / n_added[nodes]
        group, owner = np.append(group, nodes), np.append(owner, nodes)
    return np.where(tree.is_leaf, np.inf, minimum_on_path(tree, price))


def prefix_per_owner(start: Floats, owner: Ints, amount: Floats) -> Floats:
    """Running total of each owner before each amount: its start plus the amounts ahead of this one.

    Equal owners stand next to each other.
    """
    running = np.cumsum(amount) - amount
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    return start[owner] + running - np.repeat(running[first], np.diff(first, append=len(owner)))
