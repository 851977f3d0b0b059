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

from treekit.growing.candidates import SplitCandidates
from treekit.growing.criteria import Criterion
from treekit.growing.encoding import Feature
from treekit.growing.level import Level, descend, first_level
from treekit.growing.presorted import sort_columns
from treekit.numeric import PURE, TIE, Floats, Ints, safe_divide
from treekit.trees.structure import MAJORITY, SHARE, STOP, Surrogate, branches
from treekit.trees.tree import Tree

__all__ = ["grow", "grow_levels", "StoppingRule", "ChosenSplits"]
ScoreSplits = Callable[[Level, Floats], SplitCandidates]
FindSplits = Callable[[Any, Floats, Floats], "ChosenSplits"]
Move = Callable[[Any, "ChosenSplits", int], tuple[Any, Ints]]
ChooseFeature = Callable[[SplitCandidates, Floats], Ints]
FindSurrogates = Callable[[Level, Ints, Ints], list[Surrogate]]


class StoppingRule(NamedTuple):
    """A node becomes a leaf at ``max_depth``, with fewer rows than ``min_samples_split``, when its best split gains
    less than ``min_gain``, or when that gain times the node's share of the weight is below ``min_impurity_decrease``.
    """

    max_depth: float = np.inf
    min_samples_split: float = 2
    min_gain: float = 0.0
    min_impurity_decrease: float = 0.0


class ChosenSplits(NamedTuple):
    """The nodes of a level that split, by their places in it, and how."""

    node: Ints
    feature: Ints
    gain: Floats
    threshold: Floats
    route: Ints
    n_children: Ints
    missing: Ints


class LevelStatistics(NamedTuple):
    """What is known of the nodes of a level once they are grown."""

    id: Ints
    n_samples: Ints
    weight: Floats
    impurity: Floats
    value: Floats


def grow(
    values: NDArray,
    features: tuple[Feature, ...],
    criterion: Criterion,
    weight: Floats,
    score: ScoreSplits,
    choose: ChooseFeature,
    stop: StoppingRule = StoppingRule(),
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
        The table, from :func:`treekit.growing.encoding.encode`.
    features : tuple of Feature
        Its columns.
    criterion : Criterion
        What a split is to lower, and what a leaf says.
    weight : array of shape (n_rows,)
        Weight of each row; rows of weight zero are left out.
    score : function of (level, impurity)
        The best split of each open node on every column; or on each of the columns that a node draws.
    choose : function of (scores, impurity)
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
        The order of the rows by the first numeric columns, from :func:`treekit.growing.presorted.sort_columns`, for many trees on
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

    def find_splits(level: Level, impurity: Floats, least: Floats) -> ChosenSplits:
        candidates = score(level, impurity)
        return choose_splits(candidates, choose(candidates, impurity), least - TIE * impurity, missing)

    def move(level: Level, split: ChosenSplits, next_id: int) -> tuple[Level, Ints]:
        level = level.keep_only(split.node)
        found: list[Surrogate] = []
        branch = _answers(level, values, split, find_surrogates, found)
        surrogates.append(found)
        level, parent = descend(level, branch, split.n_children, next_id)
        return noted(level), parent

    def noted(level: Level) -> Level:
        # A row that goes further down is noted again.
        if leaves is not None:
            leaves[level.rows(level.entry)] = level.id.take(level.node)
        return level

    # The root has no name here: it is to go when the next level stands.
    return grow_levels(
        features,
        criterion,
        noted(first_level(criterion.per_row, weight, columns[: len(order)], order, missing == SHARE, n_branches)),
        find_splits,
        move,
        stop,
        classes,
        surrogates,
    )


def grow_levels(
    features: tuple[Feature, ...],
    criterion: Criterion,
    level: Any,
    find_splits: FindSplits,
    move: Move,
    stop: StoppingRule = StoppingRule(),
    classes: NDArray | None = None,
    surrogates: Sequence[list[Surrogate]] = (),
) -> Tree:
    """The loop alone. It never looks at rows, only at what they add up to, node by node: so they may lie elsewhere.

    Parameters
    ----------
    features, criterion, stop, classes
        As for :func:`grow`.
    level : Level, or what has id, n_nodes, n_samples, sums and only as it does
        The root.
    find_splits : function of (level, impurity, least)
        The best split of each node, unless it gains less than ``least``; all nodes are open.
    move : function of (level, splits, next_id)
        The next level, whose nodes are numbered from ``next_id`` on, and for each the place of its parent in ``splits``.
    surrogates : sequence of lists
        What ``move`` finds to ask where answers are missing, a list for each level.
    """
    total, inherited = criterion.weight(level.sums)[0], criterion.value(level)
    grown: list[LevelStatistics] = []
    splits: list[tuple[Ints, ChosenSplits]] = []  # with the numbers of their nodes in the tree
    n_nodes = 1
    while True:
        node_weight, impurity = criterion.weight(level.sums), criterion.impurity(level)

        # What does a leaf say? What its rows say; an empty branch repeats its parent.
        value = np.where((node_weight > 0)[:, np.newaxis], criterion.value(level), inherited)
        grown.append(LevelStatistics(level.id, level.n_samples, node_weight, impurity, value))

        # When to stop? When the rows agree, the tree is deep or the rows are few; or when no split gains enough.
        pure = (impurity <= PURE * grown[0].impurity[0]) & criterion.measures_purity
        is_open = ~pure & (level.n_samples >= stop.min_samples_split) & (len(splits) < stop.max_depth)
        if not is_open.any():
            break
        least = np.maximum(stop.min_gain, safe_divide(stop.min_impurity_decrease * total, node_weight))

        # Which split is best?
        opened = np.flatnonzero(is_open)
        level = level.keep_only(opened)
        split = find_splits(level, impurity[opened], least[opened])
        if not len(split.node):
            break
        splits.append((level.id[split.node], split))

        # Every row goes down the branch of its answer.
        level, parent = move(level, split, n_nodes)
        inherited = value[opened[split.node[parent]]]
        n_nodes += level.n_nodes
    return assemble_tree(features, classes, grown, splits, surrogates)


def choose_splits(candidates: SplitCandidates, chosen: Ints, least: Floats, missing: int) -> ChosenSplits:
    """The chosen column's split of each node, unless it gains less than ``least``."""
    gain = candidates.gain[chosen, np.arange(len(chosen))]
    node = np.flatnonzero((chosen >= 0) & (gain >= least))
    column, n_values = chosen[node], max((route.shape[1] for route in candidates.routes.values()), default=0)
    split = ChosenSplits(
        node,
        feature=column if candidates.feature is None else candidates.feature[column, node],
        gain=np.maximum(gain[node], 0),
        threshold=candidates.threshold[column, node],
        route=np.full((len(node), n_values), -1),
        n_children=np.full(len(node), 2),
        missing=np.full(len(node), missing) if candidates.missing is None else candidates.missing[column, node],
    )
    for j, route in candidates.routes.items():
        asks = np.flatnonzero(column == j)
        split.route[asks, : route.shape[1]] = told = route[node[asks]]
        split.n_children[asks] = told.max(axis=1, initial=-1) + 1
    return split


def _answers(
    level: Level, values: NDArray, split: ChosenSplits, find_surrogates: FindSurrogates | None, found: list[Surrogate]
) -> Ints:
    """The branch of each entry; SHARE where it is to be shared out.

    A missing answer comes from the surrogates, which are looked for here, or else from the node's rule; where that is
    the majority's branch it is settled here.
    """
    x = level.gather(values, split.feature.take(level.node), level.entry)
    branch = branches(x, split.threshold.take(level.node), split.route, level.node)
    if find_surrogates is not None:
        row = level.rows(level.entry)
        for surrogate in find_surrogates(level, branch, split.feature):
            lost = np.flatnonzero(branch < 0)
            branch[lost] = surrogate.branch_taken(values, level.node[lost], row[lost])
            found.append(surrogate)
    np.copyto(split.missing, _heavier_branch(level, branch), where=split.missing == MAJORITY)
    return np.where(branch < 0, split.missing[level.node], branch)


def _heavier_branch(level: Level, branch: Ints) -> Ints:
    """The branch of each node that gets the most weight of its known rows; of two equal ones the first."""
    known = slice(None) if (branch >= 0).all() else np.flatnonzero(branch >= 0)
    n_branches = int(branch.max(initial=0)) + 1
    cell = level.node[known] * n_branches + branch[known]
    of_each = None if level.has_unit_weights else level.weight[level.entry[known]]
    weight = np.bincount(cell, of_each, minlength=level.n_nodes * n_branches)
    return weight.reshape(level.n_nodes, n_branches).argmax(axis=1)


def assemble_tree(
    features: tuple[Feature, ...],
    classes: NDArray | None,
    grown: list[LevelStatistics],
    splits: list[tuple[Ints, ChosenSplits]],
    surrogates: Sequence[list[Surrogate]],
) -> Tree:
    """The levels as one Tree, its nodes in the order of their numbers; with the splits come those of their nodes."""
    by_id = np.argsort(np.concatenate([part.id for part in grown]))
    ids = np.concatenate([np.zeros(0, dtype=np.intp), *(numbers for numbers, _ in splits)])

    def merge_candidates(name: str) -> NDArray:
        return np.concatenate([getattr(part, name) for part in grown])[by_id]

    def where_split(name: str, otherwise: float) -> NDArray:
        return _scatter([getattr(split, name) for _, split in splits], ids, np.full(len(by_id), otherwise))

    feature = where_split("feature", -1)
    n_values = np.array([f.n_values for f in features])
    no_route = np.full((len(by_id), n_values.max()), -1)
    route = _scatter([split.route for _, split in splits], ids, no_route)
    n_routes = np.where(feature >= 0, n_values[feature], 0)
    return Tree(
        features=features,
        classes=classes,
        feature=feature,
        threshold=where_split("threshold", np.nan),
        route=route[np.arange(route.shape[1]) < n_routes[:, np.newaxis]],
        n_children=where_split("n_children", 0),
        missing=where_split("missing", STOP),
        gain=where_split("gain", 0.0),
        impurity=merge_candidates("impurity"),
        n_samples=merge_candidates("n_samples"),
        weight=merge_candidates("weight"),
        value=merge_candidates("value"),
        surrogates=_by_node(surrogates, ids, len(by_id)),
    )


def _by_node(surrogates: Sequence[list[Surrogate]], ids: Ints, n_nodes: int) -> tuple[Surrogate, ...]:
    """The surrogates of all levels, rank by rank, as arrays with one entry for each node of the tree."""

    def spread(rank: tuple[Surrogate, ...], name: str, otherwise: float) -> NDArray:
        parts = [getattr(surrogate, name) for surrogate in rank]
        return _scatter(parts, ids, np.full((n_nodes, *parts[0].shape[1:]), otherwise, dtype=parts[0].dtype))

    return tuple(
        Surrogate(
            feature=spread(rank, "feature", -1),
            threshold=spread(rank, "threshold", np.nan),
            route=spread(rank, "route", -1),
            is_reversed=spread(rank, "is_reversed", False),
        )
        for rank in zip(*surrogates)
    )


def _scatter(parts: list[NDArray], ids: Ints, everywhere: NDArray) -> NDArray:
    """What the nodes that split have, level by level, put where they are among all nodes."""
    if parts:
        everywhere[ids] = np.concatenate(parts)
    return everywhere
