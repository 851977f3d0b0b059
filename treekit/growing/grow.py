"""The generator: every tree of the book is grown here, one level at a time.

The rows that are still on their way down form a table (row, node, weight). One turn of the loop asks three questions of
every node of a level at once: what would it predict as a leaf, is it a leaf, and if not, which split is best. ID3, C4.5
and CART are answers to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from treekit.growing.candidates import SplitCandidates, largest_gain
from treekit.growing.criteria import Criterion
from treekit.growing.level import Level, descend, first_level
from treekit.growing.monotone import bounds_of_children, no_bounds, value_within_bounds
from treekit.growing.presorted import sort_columns
from treekit.numeric import LEAST_SHARE, TIE, Array, Bools, Floats, Integers, Ints, Numbers, safe_divide
from treekit.reading.encoding import Feature
from treekit.trees.routes import Routes, join_routes
from treekit.trees.structure import MAJORITY, NO_SURROGATE, SHARE, STOP, Surrogate, branches, combine
from treekit.trees.tree import Tree

__all__ = ["grow", "grow_levels", "SplitSearch", "StoppingRule", "ChosenSplits", "NextLevel"]


class OpenNodes(Protocol):
    """What the loop reads of a level: of :class:`treekit.growing.level.Level`, or of one that holds sums alone."""

    @property
    def id(self) -> Ints:
        """Number of each node in the tree."""

    @property
    def tree(self) -> Ints:
        """Number of the root above each node."""

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""

    @property
    def n_samples(self) -> Ints:
        """Number of rows in each node."""

    @property
    def sums(self) -> Floats:
        """What the rows of each node add up to, of shape (n_sums, n_nodes)."""

    @property
    def bounds(self) -> Floats | None:
        """The least and the largest value that may be predicted below each node, of shape (2, n_nodes), where columns
        are constrained."""

    def keep_only(self, nodes: Ints, /) -> Self:
        """The level without all other nodes."""


AnyLevel = TypeVar("AnyLevel", bound=OpenNodes)
LevelIn = TypeVar("LevelIn", bound=OpenNodes, contravariant=True)
ScoreSplits = Callable[[Level, Floats], SplitCandidates]
FindSplits = Callable[[AnyLevel, Floats, Floats], "ChosenSplits"]
Move = Callable[[AnyLevel, "ChosenSplits", int], "NextLevel[AnyLevel]"]
ChooseFeature = Callable[[SplitCandidates, Floats, Ints], Ints]
FindSurrogates = Callable[[Level, Ints, Ints], list[Surrogate]]


class NodeCriterion(Protocol[LevelIn]):
    """What the loop asks of a criterion: see :class:`treekit.growing.criteria.Criterion`."""

    name: str
    gain_is_sum: bool

    def weight(self, sums: Floats, /) -> Floats: ...

    def value(self, level: LevelIn, /) -> Floats: ...

    def impurity(self, level: LevelIn, /) -> Floats: ...

    def is_pure(self, level: LevelIn, impurity: Floats, /) -> Bools: ...

    def order_keys(self, sums: Floats, /) -> Floats: ...

    def value_of_key(self, key: Floats, /) -> Floats: ...


class StoppingRule(NamedTuple):
    """A node becomes a leaf at ``max_depth``, with fewer rows than ``min_samples_split``, when its best split gains
    less than ``min_gain``, or when that gain times the node's share of the weight is below ``min_impurity_decrease``.
    """

    max_depth: float = np.inf
    min_samples_split: float = 2
    min_gain: float = 0.0
    min_impurity_decrease: float = 0.0

    def may_split(self, n_samples: Ints, depth: int) -> Bools:
        """Whether nodes of a level are high and large enough to be split."""
        return (n_samples >= self.min_samples_split) & (depth < self.max_depth)

    def least_gain(self, weight: Floats, total: Floats) -> Floats:
        """What the split of each node must gain, worked out from the weight of the node and that of its root."""
        return np.maximum(self.min_gain, safe_divide(self.min_impurity_decrease * total, weight))


@dataclass(frozen=True)
class SplitSearch:
    """How a node finds its split, and what its rows do whose value is missing.

    Attributes
    ----------
    score : function of (level, impurity)
        The best split of each open node on every column; or on each of the columns that a node draws.
    choose : function of (candidates, impurity, tree)
        The column that each open node splits on, given which tree it belongs to.
    missing : int
        The branch of a row whose value is missing: SHARE sends it down all branches with a share of its weight,
        MAJORITY down the heaviest; STOP is for tables without missing values, and leaves a row with an unseen category
        at the node that tests it.
    find_surrogates : function of (level, branch, feature), optional
        Finds, split by split, what a node tests when the value of its own feature is missing.
    monotone : integer array of shape (n_features,), optional
        1 for a column with which the values may only rise, -1 for one with which they may only fall, else 0; every
        split is then binary.
    order : array of shape (n_sorted, n_rows), optional
        The order of the rows by the first numeric columns, from :func:`treekit.growing.presorted.sort_columns`, for
        many trees on one table; it is copied. NO_ORDER when the score needs none. Without it all numeric columns are
        sorted for each tree.
    """

    score: ScoreSplits
    choose: ChooseFeature = largest_gain
    missing: int = STOP
    find_surrogates: FindSurrogates | None = None
    monotone: Ints | None = None
    order: Integers | None = None


class ChosenSplits(NamedTuple):
    """The splits of a level.

    Attributes
    ----------
    node : array of shape (n_splits,)
        Place in the level of each node that splits.
    feature, gain, threshold, n_children : arrays of shape (n_splits,)
        As in :class:`treekit.Tree`.
    routes : Routes
        Branches of the categories, for the splits that test a column of categories.
    missing : array of shape (n_splits,)
        Branch of missing values, SHARE or STOP; or MAJORITY as long as the heaviest branch is not known.
    direction : array of shape (n_splits, n_features) or None
        The linear combination that a split cuts instead of a column, as in :class:`treekit.Tree`.
    surrogates : tuple of Surrogate
        The surrogates of these splits, the best of each first.
    """

    node: Ints
    feature: Ints
    gain: Floats
    threshold: Floats
    routes: Routes
    n_children: Ints
    missing: Ints
    direction: Floats | None = None
    surrogates: tuple[Surrogate, ...] = ()


class NextLevel(NamedTuple, Generic[AnyLevel]):
    """What a move returns.

    Attributes
    ----------
    level : Level
        The next level.
    parent : array of shape (n_nodes,)
        For each of its nodes, the place of its parent among the splits.
    splits : ChosenSplits
        The splits that led there, with the branch of missing values resolved: no MAJORITY is left in it.
    """

    level: AnyLevel
    parent: Ints
    splits: ChosenSplits


class LevelStatistics(NamedTuple):
    """What is known of the nodes of a level: as in :class:`treekit.Tree`, and their numbers."""

    id: Ints
    n_samples: Ints
    weight: Floats
    impurity: Floats
    value: Floats


def grow(
    values: Numbers,
    features: tuple[Feature, ...],
    criterion: Criterion,
    weight: Floats,
    search: SplitSearch,
    stop: StoppingRule = StoppingRule(),
    classes: Array | None = None,
    counts: Ints | None = None,
) -> Tree:
    """Grow a tree; or many side by side, as one structure with many roots.

    Parameters
    ----------
    values : array of shape (n_features, n_rows)
        The table, from :func:`treekit.reading.encoding.encode`.
    features : tuple of Feature
        Its columns.
    criterion : Criterion
        What a split is to lower, and what a leaf predicts.
    weight : array of shape (n_rows,)
        Weight of each row; rows of weight zero are left out.
    search : SplitSearch
        How a node finds its split.
    stop : StoppingRule
        When a node becomes a leaf although its rows differ.
    classes : array, optional
        The labels, for a classifier.
    counts : array of shape (n_roots, n_rows), optional
        How often the sample of each tree holds each row; without it one tree grows from all rows.

    Returns
    -------
    Tree
        With a root for each sample; see :func:`treekit.trees.roots.split_roots`.

    Notes
    -----
    A level costs O(entries x features), a tree O(rows x features x (depth + log rows)): the logarithm is for sorting
    the numeric columns, once. No column is ever removed: one that has a single value left in a node cannot split it.
    """

    def root() -> Level:
        columns = [j for j, feature in enumerate(features) if feature.is_numeric]
        order = sort_columns(values, columns) if search.order is None else search.order.copy()
        n_branches = max(2, *(feature.n_values for feature in features))
        shares, sorted_columns = search.missing == SHARE, columns[: len(order)]
        level = first_level(criterion.per_row, weight, sorted_columns, order, shares, n_branches, counts)
        return level if search.monotone is None else replace(level, bounds=no_bounds(level.n_nodes))

    def find_splits(level: Level, impurity: Floats, least: Floats) -> ChosenSplits:
        candidates = search.score(level, impurity)
        return choose_splits(
            candidates, search.choose(candidates, impurity, level.tree), least - TIE * impurity, search.missing
        )

    def move(level: Level, splits: ChosenSplits, next_id: int) -> NextLevel[Level]:
        level = level.keep_only(splits.node)
        branch, splits = take_branches(level, values, splits, search.find_surrogates)
        above = level.bounds
        level, parent = descend(level, branch, splits.n_children, next_id)
        if above is not None and search.monotone is not None:
            (value,) = criterion.order_keys(level.sums)
            level = replace(level, bounds=bounds_of_children(above, search.monotone[splits.feature], value))
        return NextLevel(level, parent, splits)

    # The root has no name here, because a name would keep its arrays alive.
    return grow_levels(features, criterion, root(), find_splits, move, stop, classes)


def grow_levels(
    features: tuple[Feature, ...],
    criterion: NodeCriterion[AnyLevel],
    level: AnyLevel,
    find_splits: FindSplits[AnyLevel],
    move: Move[AnyLevel],
    stop: StoppingRule = StoppingRule(),
    classes: Array | None = None,
) -> Tree:
    """The loop alone. It never reads rows, only the sums over the rows of each node, so the rows may lie elsewhere.

    Parameters
    ----------
    features, criterion, stop, classes
        As for :func:`grow`.
    level : Level or another OpenNodes
        The root, or the roots of many trees.
    find_splits : function of (level, impurity, least)
        The best split of each node, unless it gains less than ``least``; all nodes are open.
    move : function of (level, splits, next_id)
        The :class:`NextLevel`, whose nodes are numbered from ``next_id`` on.
    """
    total, inherited = criterion.weight(level.sums), criterion.value(level)
    grown: list[LevelStatistics] = []
    splits: list[ChosenSplits] = []
    split_ids: list[Ints] = []  # the numbers of their nodes in the tree
    n_nodes = n_roots = level.n_nodes
    while True:
        weight, impurity = criterion.weight(level.sums), criterion.impurity(level)

        # What would a node predict as a leaf? An empty branch predicts what its parent would.
        value = np.where((weight > 0)[:, np.newaxis], value_within_bounds(criterion, level), inherited)
        grown.append(LevelStatistics(level.id, level.n_samples, weight, impurity, value))

        # Is it a leaf? When its rows agree, when it is deep or its rows are few; or when no split gains enough.
        may_split = stop.may_split(level.n_samples, depth=len(splits)) & ~criterion.is_pure(level, impurity)
        opened = np.flatnonzero(may_split)
        if not len(opened):
            break

        # Which split is best?
        level = level.keep_only(opened)
        chosen = find_splits(level, impurity[opened], stop.least_gain(weight[opened], total[level.tree]))
        if not len(chosen.node):
            break

        # Every row takes its branch.
        split_ids.append(level.id[chosen.node])
        level, parent, chosen = move(level, chosen, n_nodes)
        splits.append(chosen)
        inherited = value[opened[chosen.node[parent]]]
        n_nodes += level.n_nodes
    return assemble_tree(features, classes, criterion, grown, splits, split_ids, n_roots)


def choose_splits(candidates: SplitCandidates, chosen: Ints, least: Floats, missing: int) -> ChosenSplits:
    """The split of each node on its chosen column, unless it gains less than ``least``; -1 chooses no column."""
    gain = candidates.gain[chosen, np.arange(len(chosen))]
    node = np.flatnonzero((chosen >= 0) & (gain >= least))
    column = chosen[node]
    routes = candidates.routes_of(node, column)
    n_children = np.full(len(node), 2)
    if routes.n_pairs:
        np.maximum.at(n_children, routes.node, routes.branch + 1)
    direction = candidates.direction
    if direction is not None:
        is_combination = column == len(candidates.gain) - 1
        direction = np.where(is_combination[:, np.newaxis], direction[node], 0.0)
    return ChosenSplits(
        node,
        feature=column if candidates.feature is None else candidates.feature[column, node],
        gain=np.maximum(gain[node], 0),
        threshold=candidates.threshold[column, node],
        routes=routes,
        n_children=n_children,
        missing=np.full(len(node), missing),
        direction=direction,
    )


def take_branches(
    level: Level, values: Numbers, splits: ChosenSplits, find_surrogates: FindSurrogates | None
) -> tuple[Ints, ChosenSplits]:
    """The branch of each entry, SHARE where it is to be shared out; and the splits, as a move returns them.

    A row whose value is missing takes the branch of the node's first surrogate whose value it has, or else the branch
    for missing values; for MAJORITY that is the branch which is heaviest before the surrogates send any row, as in
    rpart. A part of a row that is less than LEAST_SHARE of it is not shared out any further but takes the heaviest
    branch. So a row has at most branches / LEAST_SHARE entries, whatever it lacks, and no weight is lost.

    Parameters
    ----------
    level : Level
        The nodes that split.
    values : array of shape (n_features, n_rows)
        The table.
    splits : ChosenSplits
        Their splits.
    find_surrogates : function, optional
        As in :class:`SplitSearch`.
    """
    x = level.gather(values, splits.feature.take(level.node), level.entry)
    if splits.direction is not None:
        is_combination = np.any(splits.direction != 0, axis=1)
        place = np.flatnonzero(is_combination[level.node])
        row = level.rows(level.entry[place]).astype(np.intp)
        x[place] = combine(values, splits.direction[level.node[place]], row)
    branch = branches(x, splits.threshold.take(level.node), splits.routes, level.node)
    heaviest = _heaviest_branch(level, branch, int(splits.n_children.max()))
    surrogates = () if find_surrogates is None else tuple(find_surrogates(level, branch, splits.feature))
    if surrogates:
        rows = level.rows()
        for surrogate in surrogates:
            unknown = np.flatnonzero(branch < 0)
            branch[unknown] = surrogate.branch_taken(values, level.node[unknown], rows[unknown])
    missing = np.where(splits.missing == MAJORITY, heaviest, splits.missing)
    unknown = np.flatnonzero(branch < 0)
    if len(unknown):
        branch[unknown] = missing[level.node[unknown]]
        if (missing == SHARE).any():
            entry = level.entry[unknown]
            is_small = level.weight[entry] < LEAST_SHARE * level.whole_weight[entry]
            small = unknown[is_small & (branch[unknown] == SHARE)]
            branch[small] = heaviest[level.node[small]]
    return branch, splits._replace(missing=missing, surrogates=surrogates)


def _heaviest_branch(level: Level, branch: Ints, n_branches: int) -> Ints:
    """The branch of each node that gets the most weight of the rows whose value is known; of equal ones the first."""
    # One cell for each branch of each node, and one before them for the rows without a branch, -1.
    cell = level.node * (n_branches + 1) + branch + 1
    of_each = None if level.has_unit_weights else level.weight[level.entry]
    n_cells = level.n_nodes * (n_branches + 1)
    weight = np.bincount(cell, of_each, minlength=n_cells).reshape(level.n_nodes, n_branches + 1)[:, 1:]
    if level.has_unit_weights:
        return weight.argmax(axis=1)
    # Sums of weights are rounded, differently in another order of the rows: rounding must not decide.
    return np.argmax(weight >= (1 - TIE) * weight.max(axis=1, keepdims=True), axis=1)


def assemble_tree(
    features: tuple[Feature, ...],
    classes: Array | None,
    criterion: NodeCriterion[AnyLevel],
    levels: list[LevelStatistics],
    splits: list[ChosenSplits],
    split_ids: list[Ints],
    n_roots: int,
) -> Tree:
    """The levels as one Tree, its nodes in the order of their numbers.

    Parameters
    ----------
    features, classes, criterion
        As for :func:`grow`.
    levels : list of LevelStatistics
        All nodes.
    splits, split_ids : lists
        The splits of each level, and the numbers of their nodes in the tree.
    n_roots : int
        How many of the nodes are roots.
    """
    # From a list of levels to one array for each field.
    numbers, n_samples, weight, impurity, value = (np.concatenate(parts) for parts in zip(*levels))
    by_id = np.argsort(numbers)
    split = splits_of_tree(splits, split_ids, len(by_id))
    return Tree(
        features=features,
        classes=classes,
        feature=split.feature,
        threshold=split.threshold,
        routes=split.routes,
        n_children=split.n_children,
        missing=split.missing,
        gain=split.gain,
        impurity=impurity[by_id],
        n_samples=n_samples[by_id],
        weight=weight[by_id],
        value=value[by_id],
        surrogates=split.surrogates,
        direction=split.direction,
        criterion=criterion.name,
        gain_is_sum=criterion.gain_is_sum,
        n_roots=n_roots,
    )


def splits_of_tree(splits: list[ChosenSplits], split_ids: list[Ints], n_nodes: int) -> ChosenSplits:
    """The splits of all levels as one, with an entry for each node of the tree, leaves among them."""
    ids = np.concatenate([np.zeros(0, dtype=np.intp), *split_ids])

    def at_nodes(parts: Sequence[Array], elsewhere: float) -> Array:
        """One entry for each node of the tree: those of nodes that split, level by level; ``elsewhere`` at others."""
        if not parts:
            return np.full(n_nodes, elsewhere)
        kind = np.result_type(parts[0], np.asarray(elsewhere))
        spread = np.full((n_nodes, *parts[0].shape[1:]), elsewhere, dtype=kind)
        spread[ids] = np.concatenate(parts)
        return spread

    def in_tree(of_levels: Iterable[Routes]) -> Routes:
        """The routes of all levels, under the numbers of the nodes in the tree."""
        return join_routes([routes.renumbered(numbers) for routes, numbers in zip(of_levels, split_ids)])

    def surrogate(levels: Sequence[Surrogate]) -> Surrogate:
        *fields, routes = zip(*levels)
        return Surrogate._make([*map(at_nodes, fields, NO_SURROGATE), in_tree(routes)])

    directions = [split.direction for split in splits if split.direction is not None]
    return ChosenSplits(
        node=np.arange(n_nodes),
        feature=at_nodes([split.feature for split in splits], -1),
        gain=at_nodes([split.gain for split in splits], 0.0),
        threshold=at_nodes([split.threshold for split in splits], np.nan),
        routes=in_tree(split.routes for split in splits),
        n_children=at_nodes([split.n_children for split in splits], 0),
        missing=at_nodes([split.missing for split in splits], STOP),
        direction=at_nodes(directions, 0.0) if directions else None,
        surrogates=tuple(map(surrogate, zip(*(split.surrogates for split in splits)))),
    )
