"""Before two programs are timed, they must have done the same work. Each function says in which sense, or raises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, r2_score

from treekit.numeric import Array
from treekit.plain import Node
from treekit.trees.structure import STOP
from treekit.trees.tree import Tree


class Differ(Exception):
    """Two programs did different work, so their times say nothing about each other."""


def require(holds: bool, message: str) -> None:
    """Refuse the comparison."""
    if not holds:
        raise Differ(message)


def close(name: str, ours: Any, theirs: Any, relative: float = 1e-9, absolute: float = 0.0) -> None:
    """Refuse numbers that are further apart."""
    apart = ~np.isclose(ours, theirs, rtol=relative, atol=absolute)
    if np.any(apart):
        k = int(np.argmax(apart))
        raise Differ(f"{name}: {np.ravel(ours)[k]!r} against {np.ravel(theirs)[k]!r}")


def translated(theirs: Any, template: Tree) -> Tree:
    """scikit-learn's tree as treekit's, whose nodes are numbered by level; columns and classes from the template."""
    left, right, weight = theirs.children_left, theirs.children_right, theirs.weighted_n_node_samples
    below = (weight[left] * theirs.impurity[left] + weight[right] * theirs.impurity[right]) / weight
    order = level = np.zeros(1, dtype=np.intp)
    while len(level):
        inner = level[left[level] >= 0]
        level = np.stack([left[inner], right[inner]], axis=1).ravel()
        order = np.append(order, level)
    is_leaf = left[order] < 0
    return replace(
        template,
        feature=np.where(is_leaf, -1, theirs.feature[order]),
        threshold=np.where(is_leaf, np.nan, theirs.threshold[order]),
        n_children=np.where(is_leaf, 0, 2),
        missing=np.where(is_leaf, STOP, 0),
        gain=np.where(is_leaf, 0, (theirs.impurity - below)[order]),
        impurity=theirs.impurity[order],
        n_samples=theirs.n_node_samples[order],
        weight=weight[order],
        value=theirs.value[order, 0],
    )


def same_tree(ours: Tree, theirs: Tree) -> str:
    """Walk treekit's tree and scikit-learn's, translated, together, from the root down, level by level.

    Nodes must agree in rows, weight and impurity, and in the gain of their split. Where two splits gain the same but
    ask different questions there is a tie, which scikit-learn breaks at random; the walk ends there. More nodes must be
    the same than tied. Below ties the trees are others, so whole trees must agree in the number of splits, within 5 %,
    and in the impurity that the leaves leave, within 1 % of the root's.
    """
    rounding = 1e-10 * theirs.impurity[0]  # scikit-learn's variance is a difference of large numbers
    n_same, tied = 0, []
    a = b = np.zeros(1, dtype=np.intp)
    while len(a):
        close("rows of a node", ours.n_samples[a], theirs.n_samples[b], relative=0)
        close("weight of a node", ours.weight[a], theirs.weight[b])
        close("impurity of a node", ours.impurity[a], theirs.impurity[b], absolute=rounding)
        # With weights scikit-learn's impurity of a pure node may round to above 0; it then splits it, for nothing.
        asks, for_nothing = ~ours.is_leaf[a], theirs.impurity[b] <= rounding
        close("whether a node splits", asks, ~theirs.is_leaf[b] & (asks | ~for_nothing), relative=0)
        a, b, n_same = a[asks], b[asks], n_same + int((~asks).sum())
        close("gain of a split", ours.gain[a], theirs.gain[b], absolute=rounding)
        same = (ours.feature[a] == theirs.feature[b]) & np.isclose(ours.threshold[a], theirs.threshold[b], rtol=1e-9)
        tied += ours.n_samples[a[~same]].tolist()
        a, b, n_same = a[same], b[same], n_same + int(same.sum())
        a, b = children(ours, a), children(theirs, b)
    require(n_same > len(tied), f"only {n_same} nodes are the same, {len(tied)} tie")
    n_splits = [np.count_nonzero(~tree.is_leaf & (tree.impurity > rounding)) for tree in (ours, theirs)]
    close("number of splits", n_splits[0], n_splits[1], relative=0.05, absolute=3)
    close("impurity left", impurity_left(ours), impurity_left(theirs), relative=0, absolute=0.01 * theirs.impurity[0])
    largest = f", the largest of {max(tied)} rows" if tied else ""
    return f"same tree: {n_same} nodes alike, {len(tied)} ties{largest}"


def children(tree: Tree, nodes: Array) -> Array:
    """The two children of each node: first all left ones, then all right ones."""
    return np.concatenate([tree.first_child[nodes], tree.first_child[nodes] + 1])


def impurity_left(tree: Tree) -> float:
    """Mean impurity of the leaves, by weight."""
    return float(np.average(tree.impurity[tree.is_leaf], weights=tree.weight[tree.is_leaf]))


def same_as_plain(ours: Tree, theirs: Node) -> str:
    """Node by node the same question and the same rows; the plain way breaks ties as treekit does."""
    waiting = [(0, theirs)]
    while waiting:
        place, node = waiting.pop()
        column, threshold = node.question or (-1, np.nan)
        close("rows of a node", ours.n_samples[place], len(node.rows), relative=0)
        close("column of a node", ours.feature[place], column, relative=0)
        if node.branches:
            close("threshold of a node", ours.threshold[place], threshold)
            waiting += zip(ours.first_child[place] + np.arange(2), node.branches.values())
    return f"same tree: {ours.n_nodes} nodes alike"


def same_loss(y: Array, shares: dict[str, Array], within: float) -> str:
    """The mean log-loss of the training rows under treekit's class shares, and under each other program's, in nats."""
    loss = {who: log_loss(y, p) for who, p in shares.items()}
    for who in loss:
        close(f"training log-loss, treekit against {who}", loss["treekit"], loss[who], relative=0, absolute=within)
    return f"training log-loss within {within:.2g}: " + ", ".join(f"{who} {value:.6f}" for who, value in loss.items())


def same_answers(answers: dict[str, Array]) -> str:
    """What each program says of each row."""
    for who in answers:
        close(f"answers, treekit against {who}", answers["treekit"], answers[who])
    return f"same answers for {len(answers['treekit'])} rows"


def same_path(ours: Any, theirs: dict[str, Array]) -> str:
    """The risk of the best tree just above each price of treekit's path, and its end. The tree is the same for both."""
    price = ours.ccp_alphas + 1e-12
    risk = theirs["impurities"][np.searchsorted(theirs["ccp_alphas"], price, side="right") - 1]
    close("risk at a price", ours.impurities, risk, absolute=1e-9)
    close("last price", ours.ccp_alphas[-1], theirs["ccp_alphas"][-1])
    return f"same path: risk at {len(price)} prices"


def same_forest(ours: Any, theirs: Any, X: Array, y: Array) -> str:
    """Forests draw at random: they must agree in leaves a tree, within 3 %, and in the training loss, within 0.01."""
    n_leaves = [float(np.mean([tree.get_n_leaves() for tree in forest.estimators_])) for forest in (ours, theirs)]
    close("leaves of a tree", n_leaves[0], n_leaves[1], relative=0.03)
    loss = same_loss(y, {"treekit": ours.predict_proba(X), "scikit-learn": theirs.predict_proba(X)}, within=0.01)
    return f"{n_leaves[0]:.0f} and {n_leaves[1]:.0f} leaves a tree; {loss}"


def same_forest_of_numbers(ours: Any, theirs: Any, X: Array, y: Array) -> str:
    """The same for forests of numbers: leaves a tree within 3 %, and R squared on the training rows within 0.01."""
    n_leaves = [float(np.mean([tree.get_n_leaves() for tree in forest.estimators_])) for forest in (ours, theirs)]
    close("leaves of a tree", n_leaves[0], n_leaves[1], relative=0.03)
    fit = same_fit(y, {"treekit": ours.predict(X), "scikit-learn": theirs.predict(X)})
    return f"{n_leaves[0]:.0f} and {n_leaves[1]:.0f} leaves a tree; {fit}"


def same_fit(y: Array, answers: dict[str, Array]) -> str:
    """R squared on the training rows, within 0.02."""
    fit = {who: r2_score(y, answer) for who, answer in answers.items()}
    for who in fit:
        close(f"R squared, treekit against {who}", fit["treekit"], fit[who], relative=0, absolute=0.02)
    return "R squared within 0.02: " + ", ".join(f"{who} {value:.4f}" for who, value in fit.items())


def no_worse_fit(y: Array, answers: dict[str, Array]) -> str:
    """R squared on the training rows: treekit's is above zero, and no more than 0.02 below any other."""
    fit = {who: r2_score(y, answer) for who, answer in answers.items()}
    close("R squared above zero", max(fit["treekit"], 0), fit["treekit"], relative=0)
    for who in fit:
        close(f"R squared, treekit against {who}", min(fit["treekit"], fit[who]), fit[who], relative=0, absolute=0.02)
    return "R squared " + ", ".join(f"{who} {value:.4f}" for who, value in fit.items())


def both_perfect(ours: Any, frame: Any, theirs: Any, one_hot: Array, y: Array) -> str:
    """Grown to the end, both trees know every training row. The trees are others: eight branches against two."""
    close("training accuracy", ours.score(frame, y), 1, relative=0)
    close("training accuracy", theirs.score(one_hot, y), 1, relative=0)
    return f"no error on the training rows; {ours.get_n_leaves()} and {theirs.get_n_leaves()} leaves"
