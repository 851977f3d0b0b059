"""Pruning: which questions of a grown tree to take back.

Every way here answers one question of a node: would a leaf do as well? They differ in what a leaf costs, and in the
order of asking. From the bottom up, a node is cut when as a leaf it costs no more than its branches do, pruned as they
are by then: with errors on held-out rows (reduced error), with a pessimistic guess from the training rows (C4.5), with
risk plus a price for each leaf (cost complexity). From the top down, with held-out rows, it is what stopping early
would have done.

Each function returns a new tree; the old one stays as it is. None recurses, so a tree may be deep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from treekit.base import read_labels, read_targets
from treekit.measures import row_weights
from treekit.table import encode
from treekit.tree import STOP, Surrogate, Tree, majority

__all__ = [
    "cut",
    "preprune",
    "prune_reduced_error",
    "prune_pessimistic",
    "collapse",
    "binomial_limit",
    "normal_limit",
    "cost_complexity_path",
    "CostComplexityPath",
    "prune_cost_complexity",
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Limit = Callable[[Floats, Floats, float], Floats]

#: Costs and alphas that differ by less, as a part of the root's, count as equal: rounding never decides.
TIE = 1e-12


def cut(tree: Tree, nodes: ArrayLike) -> Tree:
    """The tree with the branches below some nodes cut off: these nodes become leaves.

    Parameters
    ----------
    tree : Tree
    nodes : array of numbers, or of booleans with one entry a node
        Which nodes become leaves. A node that is one already, or lies below another one, changes nothing.

    Returns
    -------
    Tree
        A new tree; a leaf says what its training rows say.

    Raises
    ------
    IndexError
        If ``nodes`` holds a number that is no node's, or booleans for another number of nodes.

    Notes
    -----
    Takes O(nodes x log depth) time.
    """
    nodes = np.asarray(nodes)
    if nodes.dtype == bool and nodes.shape == (tree.n_nodes,):
        is_cut = nodes
    elif nodes.size == 0 or (nodes.dtype.kind in "iu" and nodes.min() >= 0 and nodes.max() < tree.n_nodes):
        is_cut = np.isin(np.arange(tree.n_nodes), nodes)
    else:
        raise IndexError(f"nodes must be numbers from 0 to {tree.n_nodes - 1}, or booleans, one a node; got {nodes}.")
    # A node stays when none of the nodes above it is cut.
    stays = least_on_path(tree, ~is_cut)[tree.parent]
    stays[0] = True
    asks = stays & ~is_cut & ~tree.is_leaf
    n_routes = np.where(tree.is_leaf, 0, np.array([feature.n_values for feature in tree.features])[tree.feature])
    return replace(
        tree,
        feature=np.where(asks, tree.feature, -1)[stays],
        threshold=np.where(asks, tree.threshold, np.nan)[stays],
        route=tree.route[np.repeat(asks, n_routes)],
        n_children=np.where(asks, tree.n_children, 0)[stays],
        missing=np.where(asks, tree.missing, STOP)[stays],
        gain=np.where(asks, tree.gain, 0.0)[stays],
        impurity=tree.impurity[stays],
        n_samples=tree.n_samples[stays],
        weight=tree.weight[stays],
        value=tree.value[stays],
        surrogates=tuple(
            Surrogate(np.where(asks, s.feature, -1)[stays], s.threshold[stays], s.route[stays], s.is_turned[stays])
            for s in tree.surrogates
        ),
        direction=None if tree.direction is None else np.where(asks[:, np.newaxis], tree.direction, 0.0)[stays],
    )


def least_on_path(tree: Tree, x: NDArray) -> NDArray:
    """The least x on the path from the root to each node, both included."""
    least, up = x, np.maximum(tree.parent, 0)
    while True:
        # ``least`` looks 1, 2, 4, ... nodes up, and ``up`` is the next one that it has not seen.
        least = np.minimum(least, least[up])
        if not up.any():
            return least
        up = up[up]


def levels_up(tree: Tree) -> Iterator[NDArray[np.intp]]:
    """The inner nodes, level by level, the deepest first."""
    inner = np.flatnonzero(~tree.is_leaf)
    if len(inner):
        yield from reversed(np.split(inner, np.flatnonzero(np.diff(tree.depth[inner])) + 1))


def over_children(tree: Tree, x: NDArray, nodes: NDArray[np.intp]) -> NDArray:
    """Sum of x over the children of each inner node of a level; they lie one after the other."""
    last = tree.first_child[nodes[-1]] + tree.n_children[nodes[-1]]
    return np.add.reduceat(x[..., :last], tree.first_child[nodes], axis=-1)


def _dear(tree: Tree, as_leaf: Floats, slack: float, stopped: Floats | float = 0.0) -> Bools:
    """Which nodes to cut so that the costs of the leaves add up to least.

    ``as_leaf`` is the cost of each node as a leaf, ``stopped`` that of the rows that get no further than an inner
    node. A node is cut when as a leaf it costs no more than its pruned branches and ``slack``.
    """
    cost, is_cut = as_leaf.copy(), np.zeros(tree.n_nodes, dtype=bool)
    stopped = np.broadcast_to(stopped, tree.n_nodes)
    for nodes in levels_up(tree):
        branches = over_children(tree, cost, nodes) + stopped[nodes]
        is_cut[nodes] = as_leaf[nodes] <= branches + slack
        cost[nodes] = np.where(is_cut[nodes], as_leaf[nodes], branches)
    return is_cut


# -- held-out rows ----------------------------------------------------------------------------------------------


def prune_reduced_error(
    tree: Tree, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, ties: str = "cut"
) -> Tree:
    """Reduced-error pruning: from the bottom up, cut what does not help on held-out rows.

    A node becomes a leaf when its held-out rows are then predicted no worse than by its branches, pruned as they are
    by then. So no other way of cutting makes fewer errors on these rows.

    Parameters
    ----------
    tree : Tree
        A grown tree, of a classifier or a regressor.
    X : data frame or array of shape (n_rows, n_features)
        Held-out rows, with the columns of the training table.
    y : array of shape (n_rows,)
        Their labels (errors are counted) or numbers (squared errors are summed).
    sample_weight : array of shape (n_rows,), optional
        Weight of each row.
    ties : {"cut", "keep"}
        What happens to branches that neither help nor harm. "cut" leaves the smallest of the best trees, as Quinlan
        has it; "keep" cuts only for a gain, as in figure 4.7 of Zhou. Where no held-out row comes, all is a tie.

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
    return cut(tree, _dear(tree, as_leaf, _tie_slack(ties, as_leaf), stopped))


def preprune(tree: Tree, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, ties: str = "cut") -> Tree:
    """Pre-pruning: from the top down, stop at the first question that does not help on held-out rows.

    A node keeps its question when the held-out rows are predicted better by its children, taken as leaves, than by the
    node as a leaf. What a child's own questions would make of it later is not looked at: the rule is greedy.

    A split depends on the rows of its node alone, not on the splits below it. So cutting the grown tree where growing
    would have stopped gives the same tree as asking while it grows; only the time to grow the rest is lost.

    Parameters, errors and cost are those of :func:`prune_reduced_error`. With ``ties="cut"`` a question must help to
    be kept, as in figure 4.6 of Zhou; with "keep" it must not harm.

    Returns
    -------
    Tree
    """
    as_leaf, stopped = _held_out_costs(tree, X, y, sample_weight)
    slack, is_cut = _tie_slack(ties, as_leaf), np.zeros(tree.n_nodes, dtype=bool)
    inner = np.flatnonzero(~tree.is_leaf)
    if len(inner):
        is_cut[inner] = as_leaf[inner] <= over_children(tree, as_leaf, inner) + stopped[inner] + slack
    return cut(tree, is_cut)


def _tie_slack(ties: str, cost: Floats) -> float:
    """How much dearer than its branches a leaf may be, just over nothing; or how much cheaper it must be."""
    if ties not in ("cut", "keep"):
        raise ValueError(f"ties must be 'cut' or 'keep'; got {ties!r}.")
    slack = max(TIE * cost.max(), np.finfo(float).tiny)
    return slack if ties == "cut" else -slack


def _held_out_costs(tree: Tree, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Floats, Floats]:
    """What the rows of each node cost if it is a leaf, and what those cost that get no further than there."""
    frame = _table_for(tree, X)
    weight = row_weights(sample_weight, len(frame))
    if tree.classes is not None:
        code = pd.Index(tree.classes).get_indexer(pd.Index(read_labels(y, len(frame))))
        # A label that the tree has never seen is an error wherever it ends.
        per_row = (
            np.concatenate([code == np.arange(len(tree.classes))[:, np.newaxis], np.ones((1, len(code)))]) * weight
        )
        label = majority(tree.value)

        def cost(sums: Floats) -> Floats:
            return sums[-1] - sums[label, np.arange(tree.n_nodes)]

    else:
        # Measured from the root's number, so that a large one costs no digits.
        away = read_targets(y, len(frame)) - tree.value[0, 0]
        per_row = np.stack([np.ones_like(away), away, away**2]) * weight
        says = tree.value[:, 0] - tree.value[0, 0]

        def cost(sums: Floats) -> Floats:
            return sums[2] - 2 * says * sums[1] + says**2 * sums[0]

    end = per_row @ tree.membership(encode(frame, tree.features))
    passing = end.copy()
    for nodes in levels_up(tree):
        passing[:, nodes] += over_children(tree, passing, nodes)
    return cost(passing), cost(end)


def _table_for(tree: Tree, X: ArrayLike) -> pd.DataFrame:
    """X as a data frame with the tree's columns."""
    names = [feature.name for feature in tree.features]
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    if frame.shape[1] != len(names):
        raise ValueError(f"X must have the {len(names)} columns of the training table; got {frame.shape[1]}.")
    if len(frame) == 0:
        raise ValueError("X is empty: give at least one held-out row.")
    if isinstance(X, pd.DataFrame) and [str(name) for name in frame] != names:
        raise ValueError(f"X must have the columns of the training table, {names}; got {[*frame]}.")
    return frame


# -- pessimistic ------------------------------------------------------------------------------------------------


def binomial_limit(errors: ArrayLike, n: ArrayLike, confidence: float = 0.25) -> Floats:
    r"""Upper limit of an error rate: the rate with which so few errors, or fewer, would have probability ``confidence``.

    .. math:: U_{CF}(E, N) = p \quad\text{with}\quad \sum_{i=0}^{E} \binom{N}{i} p^i (1 - p)^{N - i} = CF

    Parameters
    ----------
    errors, n : arrays of one shape
        Errors seen, and rows that they were seen in; both may be fractions, which the incomplete beta function allows.
    confidence : float
        CF, above 0 and at most 1.

    Returns
    -------
    array of the shape of ``errors``
        A rate between ``errors / n`` (or a little below, for a CF over one half) and 1; 0 where n is 0.

    Notes
    -----
    Without errors it is :math:`1 - CF^{1/N}`. Source: Quinlan (1993), section 4.2; Clopper and Pearson (1934).
    """
    errors, n = np.asarray(errors, dtype=float), np.asarray(n, dtype=float)
    correct = n - errors
    _check_limit(errors, n, confidence)
    rate = betaincinv(errors + 1, np.where(correct > 0, correct, 1.0), 1 - confidence)
    return np.where(n > 0, np.where(correct > 0, rate, 1.0), 0.0)


def _check_limit(errors: Floats, n: Floats, confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1; got {confidence!r}.")
    if not np.all((errors >= 0) & (errors <= np.asarray(n) * (1 + 1e-12) + 1e-12)):
        raise ValueError("errors must lie between 0 and n, none of them missing.")


def normal_limit(errors: ArrayLike, n: ArrayLike, confidence: float = 0.25) -> Floats:
    r"""The limit as Quinlan's program computes it, from release 5 to 8: a normal approximation, exact without errors.

    With one error or more it is the larger root p of

    .. math:: \frac{(E + \tfrac12 - N p)^2}{N p (1 - p)} = z^2

    where z is read off a table of eight values, a straight line between them: 0.6925 for a confidence of 0.25, where
    0.6745 is right. Between no error and one it is a straight line, and where all but half a row are errors
    it is two thirds of the way, 0.67, from the rate seen to 1. So :math:`U_{0.25}(1, 16) = 0.157`, where the binomial
    limit is 0.160.

    Parameters and result are those of :func:`treekit.binomial_limit`. Source: Quinlan (1993), whose book prints this
    program's numbers.
    """
    errors, n = np.asarray(errors, dtype=float), np.asarray(n, dtype=float)
    rows = np.where(n > 0, n, 1.0)
    _check_limit(errors, n, confidence)
    z = np.interp(
        confidence, [0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.4, 1], [4, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0]
    )
    none = 1 - confidence ** (1 / rows)

    def some(errors: Floats) -> Floats:
        seen = errors + 0.5
        spread = z * np.sqrt(np.maximum(seen * (1 - seen / rows) + z**2 / 4, 0))
        high = (errors + 0.67 * (rows - errors)) / rows
        return np.where(seen >= rows, high, (seen + z**2 / 2 + spread) / (rows + z**2))

    few = none + errors * (some(np.ones_like(errors)) - none)
    return np.where(n > 0, np.where(errors < 1 - 1e-9, few, some(errors)), 0.0)


def prune_pessimistic(tree: Tree, confidence: float = 0.25, limit: Limit = binomial_limit, slack: float = 0.0) -> Tree:
    r"""C4.5's pruning: from the bottom up, cut what a pessimist expects to be no loss. No held-out rows are needed.

    A leaf with N training rows, E of them not of its class, is expected to make :math:`N\,U_{CF}(E, N)` errors on as
    many new rows. A node is cut when as a leaf it is expected to make no more errors than its pruned branches together.

    Parameters
    ----------
    tree : Tree
        Of a classifier.
    confidence : float
        CF, above 0 and at most 1; the smaller, the more is cut.
    limit : function of (errors, n, confidence)
        U: :func:`treekit.binomial_limit`, :func:`treekit.normal_limit`, or one of your own.
    slack : float
        So many errors more a leaf may make and still be preferred; Quinlan's program allows 0.1.

    Returns
    -------
    Tree

    Raises
    ------
    ValueError
        If the tree predicts numbers, or a parameter is out of its range.

    Notes
    -----
    Branches are replaced by leaves; they are not raised. Equal expectations cut. Rows are counted by their weights,
    fractions included. Takes time linear in the number of nodes. Source: Quinlan (1993), chapter 4.
    """
    if tree.classes is None:
        raise ValueError("tree must be a classifier's: a tree that predicts numbers has no error rates.")
    if not 0 < confidence <= 1:
        raise ValueError(f"confidence must be above 0 and at most 1; got {confidence!r}.")
    if not slack >= 0:
        raise ValueError(f"slack must be 0 or more; got {slack!r}.")
    expected = tree.weight * limit(_errors(tree), tree.weight, confidence)
    return cut(tree, _dear(tree, expected, slack + TIE * expected[0]))


def collapse(tree: Tree, slack: float = 0.0) -> Tree:
    """Cut branches that make no fewer errors on the training rows than a leaf would, or fewer by no more than ``slack``.

    What is left says the same of every training row, in fewer words. ``tree`` is a classifier's. Source: Quinlan (1993).
    """
    if tree.classes is None:
        raise ValueError("tree must be a classifier's: a tree that predicts numbers has no error rates.")
    errors = _errors(tree)
    return cut(tree, _dear(tree, errors, slack + TIE * tree.weight[0]))


def _errors(tree: Tree) -> Floats:
    """Weight of the training rows of each node that are not of its class."""
    return tree.weight * np.maximum(1 - tree.value.max(axis=1), 0)


# -- cost complexity --------------------------------------------------------------------------------------------


class CostComplexityPath(NamedTuple):
    """All trees that are best for some price of a leaf, from the largest to the root alone.

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
    n_leaves: NDArray[np.intp]


def cost_complexity_path(tree: Tree, risk: str = "impurity") -> CostComplexityPath:
    r"""The pruned trees of least cost for every price of a leaf, by cutting the weakest link again and again.

    .. math:: C_\alpha(T) = R(T) + \alpha |T|, \qquad g(t) = \frac{R(t) - R(T_t)}{|T_t| - 1}

    R(T) sums over the :math:`|T|` leaves the share of the training weight times what it costs. As the price
    :math:`\alpha` rises, a node t is cut when it reaches what its branch saves for each leaf that it has more, g(t).

    Parameters
    ----------
    tree : Tree
    risk : {"impurity", "misclassification"}
        What a row of a leaf costs: the impurity that the tree was grown with, as in scikit-learn (for a regression
        tree its squared error, or the like), or 1 when it is not of the leaf's class, as Breiman and rpart have it. rpart
        prints prices and risks in parts of the root's risk.

    Returns
    -------
    CostComplexityPath
        Its first tree, for price 0, is the smallest that has the risk of the whole tree. Equal links are cut together.

    Raises
    ------
    ValueError
        If ``risk`` is neither, or if the misclassifications of a tree of numbers are asked for.

    Notes
    -----
    All prices are found in one pass from the bottom up; see the comments. Source: Breiman, Friedman, Olshen and
    Stone (1984), chapter 3.
    """
    risks = _risks(tree, risk)
    saved, tolerance = _saved(tree, risks), TIE * risks[0]
    inner = np.flatnonzero(~tree.is_leaf)
    alpha = _cut_prices(tree, saved)[inner]
    inner = inner[np.argsort(-alpha, kind="stable")]
    alpha = np.sort(np.where(alpha <= tolerance, 0.0, alpha))[::-1]
    # From the root alone to the whole tree: the k splits that last longest make a tree, which is the smallest best one
    # from the price of the next split on. Splits that are cut together make no trees of their own.
    lowest = np.append(alpha, 0.0)
    is_step = np.append(True, lowest[1:] < lowest[:-1] - tolerance)
    impurities = risks[0] - np.append(0.0, np.cumsum(saved[inner]))
    n_leaves = 1 + np.append(0, np.cumsum(tree.n_children[inner] - 1))
    return CostComplexityPath(*(part[is_step][::-1] for part in (lowest, np.maximum(impurities, 0), n_leaves)))


def prune_cost_complexity(tree: Tree, ccp_alpha: float, risk: str = "impurity") -> Tree:
    r"""The smallest pruned tree of least cost :math:`C_\alpha(T) = R(T) + \alpha |T|`.

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
    Equal costs cut. Source: Breiman, Friedman, Olshen and Stone (1984), chapter 3.
    """
    if not ccp_alpha >= 0:
        raise ValueError(f"ccp_alpha must be 0 or more; got {ccp_alpha!r}.")
    risks = _risks(tree, risk)
    return cut(tree, _cut_prices(tree, _saved(tree, risks)) <= ccp_alpha + TIE * risks[0])


def _risks(tree: Tree, risk: str) -> Floats:
    """Share of the training weight in each node times what it costs there."""
    if risk not in ("impurity", "misclassification"):
        raise ValueError(f"risk must be 'impurity' or 'misclassification'; got {risk!r}.")
    if risk == "misclassification":
        if tree.classes is None:
            raise ValueError("risk must be 'impurity' for a tree that predicts numbers: it misclassifies nothing.")
        return _errors(tree) / tree.weight[0]
    return tree.weight * tree.impurity / tree.weight[0]


def _saved(tree: Tree, risks: Floats) -> Floats:
    """How much the split of each node lowers the risk; 0 for a leaf."""
    saved = np.zeros(tree.n_nodes)
    for nodes in levels_up(tree):
        saved[nodes] = risks[nodes] - over_children(tree, risks, nodes)
    return np.maximum(saved, 0)


def _cut_prices(tree: Tree, saved: Floats) -> Floats:
    """The price of a leaf from which on each inner node is cut, or cut off with a node above it; infinite for leaves.

    What a branch saves, and how many leaves it has more than a leaf, are sums over its splits. So g(t) of the branch
    that is left when t is cut is the mean saving for each leaf in a group of splits that hang together below t. The
    deeper splits outside the group were cut earlier, because they, or the groups that they head, save less for each
    leaf than this group. From the bottom up, each split therefore starts a group of its own and takes in, richest
    first, the groups below it that are richer than it is by then: those splits will stay as long as it does.
    """
    save, gain = saved.copy(), np.maximum(tree.n_children - 1, 0).astype(float)
    price = np.full(tree.n_nodes, np.inf)
    group = owner = np.zeros(0, dtype=np.intp)
    for nodes in levels_up(tree):
        # ``group``: the heads of the groups so far; ``owner``: the node of this level that each lies below.
        owner = tree.parent[owner]
        richer = np.flatnonzero(save[group] * gain[owner] >= save[owner] * gain[group])
        if len(richer):
            richer = richer[np.lexsort((-save[group[richer]] / gain[group[richer]], owner[richer]))]
            at, s, n = owner[richer], save[group[richer]], gain[group[richer]]
            is_taken = s * _before(gain, at, n) >= _before(save, at, s) * n
            np.add.at(save, at[is_taken], s[is_taken])
            np.add.at(gain, at[is_taken], n[is_taken])
            is_left = np.ones(len(group), dtype=bool)
            is_left[richer[is_taken]] = False
            group, owner = group[is_left], owner[is_left]
        price[nodes] = save[nodes] / gain[nodes]
        group, owner = np.append(group, nodes), np.append(owner, nodes)
    return np.where(tree.is_leaf, np.inf, least_on_path(tree, price))


def _before(own: Floats, owner: NDArray[np.intp], amount: Floats) -> Floats:
    """What each owner has, its own and all amounts that came to it before this one; the owners lie in order."""
    running = np.cumsum(amount) - amount
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    return own[owner] + running - np.repeat(running[first], np.diff(first, append=len(owner)))
