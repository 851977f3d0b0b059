"""The generator: every tree of the book is grown here, one level at a time.

The rows that are still on their way down are a table (row, node, weight). One turn of the loop asks three questions of
every node of a level at once: what does a leaf say, when to stop, and which split is best. ID3, C4.5 and CART are
answers to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.criteria import Criterion
from treekit.level import Level, descend, first_level, sort_columns
from treekit.splits import TIE, Scores
from treekit.table import Feature
from treekit.tree import MAJORITY, SHARE, STOP, Surrogate, Tree, branches

__all__ = ["grow", "Stop"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Score = Callable[[Level, int, Floats], Scores]
Choose = Callable[[list[Scores], Floats], Ints]
FindSurrogates = Callable[[Level, Ints, Ints], list[Surrogate]]

#: A node whose impurity is a smaller part of the root's is pure but for rounding.
PURE = 1e-14


class Stop(NamedTuple):
    """A node becomes a leaf at ``max_depth``, with fewer rows than ``min_samples_split``, when its best split gains
    less than ``min_gain``, or when that gain times the node's share of the weight is below ``min_impurity_decrease``.
    """

    max_depth: float = np.inf
    min_samples_split: float = 2
    min_gain: float = 0.0
    min_impurity_decrease: float = 0.0


class Splits(NamedTuple):
    """The split of each node of a level; ``n_children`` is 0, and ``feature`` -1, where there is none."""

    feature: Ints
    gain: Floats
    threshold: Floats
    route: Ints
    n_children: Ints
    missing: Ints

    def only(self, chosen: NDArray[np.bool_]) -> Splits:
        """The splits of the chosen nodes."""
        return Splits._make(part[chosen] for part in self)


class Grown(NamedTuple):
    """What is known of the nodes of a level once they are grown."""

    id: Ints
    n_samples: Ints
    weight: Floats
    impurity: Floats
    value: Floats
    split: Splits
    surrogates: list[Surrogate]


def grow(
    values: NDArray,
    features: tuple[Feature, ...],
    criterion: Criterion,
    weight: Floats,
    score: Score,
    choose: Choose,
    stop: Stop = Stop(),
    missing: int = STOP,
    classes: NDArray | None = None,
    order: dict[int, Ints] | None = None,
    find_surrogates: FindSurrogates | None = None,
) -> Tree:
    """Grow a tree.

    Parameters
    ----------
    values : array of shape (n_features, n_rows)
        The table, from :func:`treekit.table.encode`.
    features : tuple of Feature
        Its columns.
    criterion : Criterion
        What a split is to lower, and what a leaf says.
    weight : array of shape (n_rows,)
        Weight of each row; rows of weight zero are left out.
    score : function of (level, j, impurity)
        The best split of each open node on column j.
    choose : function of (list of scores, one a column; impurity)
        Which column each open node splits on.
    stop : Stop
        When a node becomes a leaf although its rows differ.
    missing : int
        What a row does whose value is missing: SHARE sends it down all branches with a share of its weight, MAJORITY
        down the heaviest, unless the score has learned a branch for it; STOP is for tables without gaps, and lets a
        category never seen end where it is asked for.
    classes : array, optional
        The labels, for a classifier.
    order : dict of arrays, optional
        The order of the rows by each numeric column, from :func:`treekit.level.sort_columns`, for many trees on one
        table; empty when the score needs none. Otherwise the columns are sorted here.
    find_surrogates : function of (level, branch, feature), optional
        Finds what to ask, split by split, where the answer is missing.

    Returns
    -------
    Tree

    Notes
    -----
    A level costs O(entries x features), a tree O(rows x features x (depth + log rows)): the logarithm is for sorting
    the numeric columns, once. No column is ever struck off: where it has one value left it cannot split.
    """
    if order is None:
        order = sort_columns(values, [j for j, feature in enumerate(features) if feature.is_numeric])
    level = first_level(order, criterion.per_row, weight, shares=missing == SHARE)
    total, inherited = criterion.weight(level.sums)[0], criterion.value(level)
    grown: list[Grown] = []
    n_nodes = 1
    while True:
        node_weight, impurity = criterion.weight(level.sums), criterion.impurity(level)

        # What does a leaf say? What its rows say; an empty branch repeats its parent.
        value = np.where((node_weight > 0)[:, np.newaxis], criterion.value(level), inherited)

        # When to stop? When the rows agree, the tree is deep or the rows are few; or when no split gains enough.
        pure = impurity <= PURE * (grown[0].impurity[0] if grown else impurity[0])
        is_open = ~pure & (level.n_samples >= stop.min_samples_split) & (len(grown) < stop.max_depth)
        least = np.maximum(stop.min_gain, stop.min_impurity_decrease * total / np.where(is_open, node_weight, 1))

        # Which split is best?
        open_level = level.only(is_open).in_order()
        split = best_splits(open_level, is_open, features, impurity, least, score, choose, missing)
        splits = split.n_children > 0
        grown.append(Grown(level.id, level.n_samples, node_weight, impurity, value, split, []))
        if not splits.any():
            return _as_tree(features, classes, grown)

        # Every row goes down the branch of its answer.
        level = open_level.only(splits[is_open])
        branch = _answers(level, values, splits, grown[-1], find_surrogates)
        level, parent = descend(level, branch, split.n_children[splits], n_nodes)
        inherited = value[splits][parent]
        n_nodes += level.n_nodes


def best_splits(
    open_level: Level,
    is_open: NDArray[np.bool_],
    features: tuple[Feature, ...],
    impurity: Floats,
    least: Floats,
    score: Score,
    choose: Choose,
    missing: int,
) -> Splits:
    """Score every column in all open nodes at once, and choose; a split that gains less than ``least`` is none."""
    n_nodes, n_values = len(is_open), max(feature.n_values for feature in features)
    split = Splits(
        feature=np.full(n_nodes, -1),
        gain=np.zeros(n_nodes),
        threshold=np.full(n_nodes, np.nan),
        route=np.full((n_nodes, n_values), -1),
        n_children=np.zeros(n_nodes, dtype=np.intp),
        missing=np.full(n_nodes, missing),
    )
    if not is_open.any():
        return split
    scores = [score(open_level, j, impurity[is_open]) for j in range(len(features))]
    chosen = choose(scores, impurity[is_open])
    for j, scored in enumerate(scores):
        # Rounding must not refuse a gain that is just enough, a gain of zero above all.
        wins = (chosen == j) & (scored.gain >= least[is_open] - TIE * impurity[is_open])
        node = np.flatnonzero(is_open)[wins]
        split.feature[node] = j
        split.gain[node] = np.maximum(scored.gain[wins], 0)
        split.n_children[node] = scored.n_branches
        if scored.threshold is not None:
            split.threshold[node] = scored.threshold[wins]
        if scored.route is not None:
            split.route[node, : features[j].n_values] = scored.route[wins]
        if scored.missing is not None:
            split.missing[node] = scored.missing[wins]
    return split


def _answers(
    level: Level, values: NDArray, splits: NDArray[np.bool_], grown: Grown, find_surrogates: FindSurrogates | None
) -> Ints:
    """The branch of each entry in the nodes that split; SHARE where it is to be shared out.

    A missing answer comes from the surrogates, which are looked for here, or else from the node's rule; where that is
    the majority's branch it is settled here.
    """
    split = grown.split.only(splits)
    x = values[split.feature[level.node], level.row[level.entry]]
    branch = branches(x, split.threshold[level.node], split.route, level.node)
    if find_surrogates is not None:
        level = level.in_order()
        for surrogate in find_surrogates(level, branch, split.feature):
            lost = np.flatnonzero(branch < 0)
            branch[lost] = surrogate.answer(values, level.node[lost], level.row[level.entry[lost]])
            grown.surrogates.append(surrogate)
    rule = np.where(split.missing == MAJORITY, _heavier_branch(level, branch), split.missing)
    grown.split.missing[splits] = rule
    return np.where(branch < 0, rule[level.node], branch)


def _heavier_branch(level: Level, branch: Ints) -> Ints:
    """The branch of each node that gets the most weight of its known rows; of two equal ones the first."""
    known = np.flatnonzero(branch >= 0)
    n_branches = int(branch.max(initial=0)) + 1
    cell = level.node[known] * n_branches + branch[known]
    weight = np.bincount(cell, level.weight[level.entry[known]], minlength=level.n_nodes * n_branches)
    return weight.reshape(level.n_nodes, n_branches).argmax(axis=1)


def _as_tree(features: tuple[Feature, ...], classes: NDArray | None, grown: list[Grown]) -> Tree:
    """The levels as one Tree, its nodes in the order of their numbers."""
    by_id = np.argsort(np.concatenate([part.id for part in grown]))

    def joined(parts: list[NDArray]) -> NDArray:
        return np.concatenate(parts)[by_id]

    feature = joined([part.split.feature for part in grown])
    n_values = np.array([f.n_values for f in features])
    route = joined([part.split.route for part in grown])
    n_routes = np.where(feature >= 0, n_values[feature], 0)
    return Tree(
        features=features,
        classes=classes,
        feature=feature,
        threshold=joined([part.split.threshold for part in grown]),
        route=route[np.arange(route.shape[1]) < n_routes[:, np.newaxis]],
        n_children=joined([part.split.n_children for part in grown]),
        missing=np.where(feature >= 0, joined([part.split.missing for part in grown]), STOP),
        gain=joined([part.split.gain for part in grown]),
        impurity=joined([part.impurity for part in grown]),
        n_samples=joined([part.n_samples for part in grown]),
        weight=joined([part.weight for part in grown]),
        value=joined([part.value for part in grown]),
        surrogates=_by_node(grown, feature),
    )


def _by_node(grown: list[Grown], feature: Ints) -> tuple[Surrogate, ...]:
    """The surrogates of all levels, rank by rank, as arrays with one entry for each node of the tree."""
    # The levels list the nodes that split in an order of their own.
    ids = np.concatenate([part.id[part.split.n_children > 0] for part in grown])

    def spread(rank: tuple[Surrogate, ...], name: str, otherwise: float) -> NDArray:
        found = np.concatenate([getattr(surrogate, name) for surrogate in rank])
        everywhere = np.full((len(feature), *found.shape[1:]), otherwise, dtype=found.dtype)
        everywhere[ids] = found
        return everywhere

    return tuple(
        Surrogate(
            feature=spread(rank, "feature", -1),
            threshold=spread(rank, "threshold", np.nan),
            route=spread(rank, "route", -1),
            is_turned=spread(rank, "is_turned", False),
        )
        for rank in zip(*(part.surrogates for part in grown[:-1]))
    )
