"""The generator: every tree of the book is grown here, one level at a time.

The rows that are still on their way down are a table (row, node, weight). One turn of the loop asks three questions of
every node of a level at once: what does a leaf say, when to stop, and which split is best. ID3, C4.5 and CART are
answers to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.criteria import Criterion
from treekit.level import Level, descend, first_level, sort_columns
from treekit.measures import quotient
from treekit.splits import TIE, Scores
from treekit.table import Feature
from treekit.tree import MAJORITY, SHARE, STOP, Surrogate, Tree, branches

__all__ = ["grow", "grow_levels", "Stop", "Splits"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Score = Callable[[Level, Floats], list[Scores]]
FindSplits = Callable[[Any, NDArray[np.bool_], Floats, Floats], "Splits"]
Move = Callable[[Any, "Splits", int], tuple[Any, Ints]]
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

    def only(self, chosen: NDArray) -> Splits:
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
    order: NDArray[np.integer] | None = None,
    find_surrogates: FindSurrogates | None = None,
    leaves: Ints | None = None,
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
    score : function of (level, impurity)
        The best split of each open node on every column, as a list; or on each of the columns that a node draws.
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
    order : array of shape (n_sorted, n_rows), optional
        The order of the rows by the first numeric columns, from :func:`treekit.level.sort_columns`, for many trees on
        one table; NO_ORDER when the score needs none. Otherwise all numeric columns are sorted here.
    find_surrogates : function of (level, branch, feature), optional
        Finds what to ask, split by split, where the answer is missing.
    leaves : array of shape (n_rows,), optional
        Is filled with the number of the leaf where each row of positive weight ends.

    Returns
    -------
    Tree

    Notes
    -----
    A level costs O(entries x features), a tree O(rows x features x (depth + log rows)): the logarithm is for sorting
    the numeric columns, once. No column is ever struck off: where it has one value left it cannot split.
    """
    columns = [j for j, feature in enumerate(features) if feature.is_numeric]
    n_branches = max(2, *(feature.n_values for feature in features))
    order = sort_columns(values, columns) if order is None else order.copy()
    surrogates: list[list[Surrogate]] = []

    def find_splits(level: Level, is_open: NDArray[np.bool_], impurity: Floats, least: Floats) -> Splits:
        scores = score(level.only(is_open), impurity[is_open])
        chosen = choose(scores, impurity[is_open])
        return best_splits(features, is_open, scores, chosen, least - TIE * impurity, missing)

    def move(level: Level, split: Splits, next_id: int) -> tuple[Level, Ints]:
        splits = split.n_children > 0
        note_leaves(level, ~splits)
        level = level.only(splits)
        found: list[Surrogate] = []
        branch = _answers(level, values, split, find_surrogates, found)
        surrogates.append(found)
        levels[0], parent = descend(level, branch, split.n_children[splits], next_id)
        return levels[0], np.flatnonzero(splits)[parent]

    def note_leaves(level: Level, is_leaf: NDArray[np.bool_]) -> None:
        if leaves is not None:
            place = np.flatnonzero(np.repeat(is_leaf, level.n_samples))
            leaves[level.row[level.entry[place]]] = level.id[level.node[place]]

    levels = [first_level(criterion.per_row, weight, columns[: len(order)], order, missing == SHARE, n_branches)]
    tree = grow_levels(features, criterion, levels[0], find_splits, move, stop, classes, surrogates)
    note_leaves(levels[0], np.ones(levels[0].n_nodes, dtype=bool))
    return tree


def grow_levels(
    features: tuple[Feature, ...],
    criterion: Criterion,
    level: Any,
    find_splits: FindSplits,
    move: Move,
    stop: Stop = Stop(),
    classes: NDArray | None = None,
    surrogates: Sequence[list[Surrogate]] = (),
) -> Tree:
    """The loop alone. It never looks at rows, only at what they add up to, node by node: so they may lie elsewhere.

    Parameters
    ----------
    features, criterion, stop, classes
        As for :func:`grow`.
    level : Level, or what has id, n_nodes, n_samples and sums as it does
        The root.
    find_splits : function of (level, is_open, impurity, least)
        The best split of each open node; one that gains less than ``least`` is none.
    move : function of (level, splits, next_id)
        The next level, whose nodes are numbered from ``next_id`` on, and the place of each node's parent in this one.
    surrogates : sequence of lists
        What ``move`` finds to ask where answers are missing, a list for each level.
    """
    total, inherited = criterion.weight(level.sums)[0], criterion.value(level)
    grown: list[Grown] = []
    n_nodes = 1
    while True:
        node_weight, impurity = criterion.weight(level.sums), criterion.impurity(level)

        # What does a leaf say? What its rows say; an empty branch repeats its parent.
        value = np.where((node_weight > 0)[:, np.newaxis], criterion.value(level), inherited)

        # When to stop? When the rows agree, the tree is deep or the rows are few; or when no split gains enough.
        pure = (impurity <= PURE * (grown[0].impurity[0] if grown else impurity[0])) & criterion.measures_purity
        is_open = ~pure & (level.n_samples >= stop.min_samples_split) & (len(grown) < stop.max_depth)
        least = np.maximum(stop.min_gain, quotient(stop.min_impurity_decrease * total, node_weight))

        # Which split is best?
        split = find_splits(level, is_open, impurity, least) if is_open.any() else no_splits(level.n_nodes, features)
        grown.append(Grown(level.id, level.n_samples, node_weight, impurity, value, split))
        if not split.n_children.any():
            return _as_tree(features, classes, grown, surrogates)

        # Every row goes down the branch of its answer.
        level, parent = move(level, split, n_nodes)
        inherited = value[parent]
        n_nodes += level.n_nodes


def no_splits(n_nodes: int, features: tuple[Feature, ...], missing: int = STOP) -> Splits:
    """Leaves all over, to be filled in."""
    n_values = max(feature.n_values for feature in features)
    return Splits(
        feature=np.full(n_nodes, -1),
        gain=np.zeros(n_nodes),
        threshold=np.full(n_nodes, np.nan),
        route=np.full((n_nodes, n_values), -1),
        n_children=np.zeros(n_nodes, dtype=np.intp),
        missing=np.full(n_nodes, missing),
    )


def best_splits(
    features: tuple[Feature, ...],
    is_open: NDArray[np.bool_],
    scores: list[Scores],
    chosen: Ints,
    least: Floats,
    missing: int,
) -> Splits:
    """The chosen column's split of each open node, unless it gains less than ``least``."""
    split = no_splits(len(is_open), features, missing)
    open_nodes = np.arange(len(chosen))
    gain = np.array([scored.gain for scored in scores])[chosen, open_nodes]
    wins = np.flatnonzero((chosen >= 0) & (gain >= least[is_open]))
    node, column = np.flatnonzero(is_open)[wins], chosen[wins]
    split.feature[node] = column
    if scores[0].feature is not None:
        split.feature[node] = np.array([scored.feature for scored in scores])[column, wins]
    split.gain[node] = np.maximum(gain[wins], 0)
    split.n_children[node] = np.array([scored.n_branches for scored in scores])[column]
    for into, told in (
        (split.threshold, [scored.threshold for scored in scores]),
        (split.missing, [scored.missing for scored in scores]),
    ):
        if any(part is not None for part in told):
            as_it_is = into[is_open]
            into[node] = np.array([as_it_is if part is None else part for part in told])[column, wins]
    for j, scored in enumerate(scores):
        if scored.route is not None:
            asks = wins[column == j]
            split.route[node[column == j], : features[j].n_values] = scored.route[asks]
    return split


def _answers(
    level: Level, values: NDArray, every: Splits, find_surrogates: FindSurrogates | None, found: list[Surrogate]
) -> Ints:
    """The branch of each entry in the nodes that split; SHARE where it is to be shared out.

    A missing answer comes from the surrogates, which are looked for here, or else from the node's rule; where that is
    the majority's branch it is settled here.
    """
    splits = every.n_children > 0
    split = every.only(splits)
    row = level.rows(level.entry)
    x = level.table(values, split.feature.take(level.node), level.entry)
    branch = branches(x, split.threshold.take(level.node), split.route, level.node)
    if find_surrogates is not None:
        for surrogate in find_surrogates(level, branch, split.feature):
            lost = np.flatnonzero(branch < 0)
            branch[lost] = surrogate.answer(values, level.node[lost], row[lost])
            found.append(surrogate)
    rule = np.where(split.missing == MAJORITY, _heavier_branch(level, branch), split.missing)
    every.missing[splits] = rule
    return np.where(branch < 0, rule[level.node], branch)


def _heavier_branch(level: Level, branch: Ints) -> Ints:
    """The branch of each node that gets the most weight of its known rows; of two equal ones the first."""
    known = slice(None) if (branch >= 0).all() else np.flatnonzero(branch >= 0)
    n_branches = int(branch.max(initial=0)) + 1
    cell = level.node[known] * n_branches + branch[known]
    of_each = None if level.is_counted else level.weight[level.entry[known]]
    weight = np.bincount(cell, of_each, minlength=level.n_nodes * n_branches)
    return weight.reshape(level.n_nodes, n_branches).argmax(axis=1)


def _as_tree(
    features: tuple[Feature, ...], classes: NDArray | None, grown: list[Grown], surrogates: Sequence[list[Surrogate]]
) -> Tree:
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
        surrogates=_by_node(grown, surrogates, feature),
    )


def _by_node(grown: list[Grown], surrogates: Sequence[list[Surrogate]], feature: Ints) -> tuple[Surrogate, ...]:
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
        for rank in zip(*surrogates)
    )
