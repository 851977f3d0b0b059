"""CART: classification and regression trees (Breiman, Friedman, Olshen and Stone, 1984)."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from treekit.growing.absolute_error import AbsoluteError, score_thresholds_absolute
from treekit.growing.candidates import ChildLimits, SplitCandidates, largest_gain_among_sampled, merge_kinds
from treekit.growing.categories import score_groups
from treekit.growing.criteria import ClassCriterion, Criterion, Entropy, Gini, Poisson, SquaredError
from treekit.growing.feature_sampling import RankedColumns, SampledFeatures
from treekit.growing.grow import SplitSearch, StoppingRule, grow
from treekit.growing.level import Level
from treekit.growing.monotone import Monotone
from treekit.growing.presorted import NO_ORDER
from treekit.growing.surrogates import Agreement, find_surrogates
from treekit.growing.thresholds import score_thresholds
from treekit.models.base import TrainingTable, TreeClassifier, TreeEstimator, TreeRegressor
from treekit.numeric import Floats, Ints, Numbers
from treekit.pruning.cost_complexity import prune_cost_complexity
from treekit.pruning.cut import cut
from treekit.reading.encoding import Feature, all_numbers
from treekit.reading.validation import (
    check_choice,
    check_number,
    class_factors,
    count_features,
    generator,
    read_signs,
    row_weights,
)
from treekit.trees.roots import join_trees, split_roots
from treekit.trees.structure import MAJORITY, Surrogate
from treekit.trees.tree import Tree

__all__ = ["CARTClassifier", "CARTRegressor"]
CLASSIFICATION: dict[str, Callable[..., ClassCriterion]] = {"gini": Gini, "entropy": Entropy}
REGRESSION_CRITERIA: dict[str, Callable[..., Criterion]] = {
    "squared_error": SquaredError,
    "friedman_mse": SquaredError,  # another name: Friedman's form of it is the same number
    "absolute_error": AbsoluteError,
    "poisson": Poisson,
}


class Samples(NamedTuple):
    """What trees that grow side by side on one table do not share, and the sorted table, which they do.

    Attributes
    ----------
    counts : array of shape (n_trees, n_rows) or None
        How often the sample of each tree holds each row; None for one tree of all rows.
    seeds : list of int
        The ``random_state`` of each tree.
    ranked : RankedColumns or None
        The table in order, if all its columns are numbers.
    """

    counts: Ints | None
    seeds: list[int]
    ranked: RankedColumns | None


class CutSearch(NamedTuple):
    """How the nodes of CART are cut in two: by a threshold of a column of numbers, or into two groups of categories.

    Attributes
    ----------
    values, features : array of shape (n_features, n_rows), tuple of Feature
        The table.
    criterion : Criterion
        What a cut is to lower.
    limits : ChildLimits
        What a side must hold, tree by tree.
    one_vs_rest : bool
        Whether one of the two groups is a single category.
    n_surrogates : int
        How many other questions a node keeps for rows with gaps.
    monotone : integer array of shape (n_features,), optional
        The sign of each column, where some are constrained.
    """

    values: Numbers
    features: tuple[Feature, ...]
    criterion: Criterion
    limits: ChildLimits
    one_vs_rest: bool
    n_surrogates: int
    monotone: Ints | None = None

    def score(self, level: Level, impurity: Floats) -> SplitCandidates:
        """The best cut of every column in each open node."""
        criterion, limits = self.criterion, self.limits.of(level.tree)
        if self.monotone is not None and level.bounds is not None:
            limits = replace(limits, monotone=Monotone(self.monotone, level.bounds))
        best_thresholds: Callable[..., SplitCandidates] = (
            score_thresholds if criterion.is_function_of_sums else score_thresholds_absolute
        )
        groups = [
            score_groups(level, column, feature.n_values, criterion, impurity, limits, self.one_vs_rest)
            for feature, column in zip(self.features, self.values)
            if not feature.is_numeric
        ]
        return merge_kinds(best_thresholds(level, self.values, criterion, impurity, limits), groups, self.features)

    def surrogates(self, level: Level, branch: Ints, feature: Ints) -> list[Surrogate]:
        """The surrogates of splits that have sent the rows down these branches."""
        by_agreement = self._replace(criterion=Agreement(), limits=ChildLimits(rows=2), monotone=None)
        return find_surrogates(level, branch, feature, self.values, self.n_surrogates, by_agreement.score)


class _CART(TreeEstimator):
    """What the two trees share: how they grow. A subclass says what a split is to lower."""

    def _to_lower(self, table: TrainingTable) -> tuple[Criterion, Floats]:
        """The criterion, and the weights of the rows."""
        raise NotImplementedError

    def _grow(self, table: TrainingTable, samples: Samples | None = None) -> Tree:
        """A tree of binary splits, or one for each of some samples of the rows."""
        criterion, weight = self._to_lower(table)
        _check_parameters(self)
        if not (criterion.is_function_of_sums or all_numbers(table.features)):
            raise ValueError(
                "criterion='absolute_error' needs columns of numbers only; X has categories: encode them first."
            )
        n_rows, counts = len(weight), None if samples is None else samples.counts
        total = weight.sum() if counts is None else counts @ weight
        limits = ChildLimits(_count(self.min_samples_leaf, n_rows), self.min_weight_fraction_leaf * total)
        search = self._search(table, criterion, limits, samples)
        stop = StoppingRule(
            max_depth=np.inf if self.max_depth is None else self.max_depth,
            min_samples_split=_count(self.min_samples_split, n_rows),
            min_impurity_decrease=self.min_impurity_decrease,
        )
        classes = getattr(self, "classes_", None)
        tree = grow(table.values, table.features, criterion, weight, search, stop, classes, counts)
        if self.max_leaf_nodes is None and self.ccp_alpha == 0:
            return tree
        return join_trees([self._pruned(one) for one in split_roots(tree)])

    def _search(
        self, table: TrainingTable, criterion: Criterion, limits: ChildLimits, samples: Samples | None
    ) -> SplitSearch:
        """How a node finds its split: among all columns, or among those that it draws."""
        values, features, *_ = table
        one_vs_rest = self.categorical_split == "one_vs_rest"
        has_gaps = any((np.isnan(column) if f.is_numeric else column < 0).any() for f, column in zip(features, values))
        monotone = read_signs(self.monotonic_cst, features)
        if monotone is not None:
            _refuse_unordered(criterion, has_gaps)
        cuts = CutSearch(values, features, criterion, limits, one_vs_rest, self.max_surrogates, monotone)
        ranked = None if samples is None else samples.ranked
        search = SplitSearch(
            cuts.score,
            missing=MAJORITY,
            find_surrogates=cuts.surrogates if has_gaps and self.max_surrogates > 0 else None,
            monotone=monotone,
            order=None if ranked is None else ranked.order,
        )
        n_sampled = count_features(self.max_features, len(features))
        if n_sampled < len(features):
            rngs = [generator(seed) for seed in ([self.random_state] if samples is None else samples.seeds)]
            search = replace(search, choose=largest_gain_among_sampled(n_sampled, rngs))
            if monotone is None and can_score_drawn_columns_alone(criterion, features, has_gaps):
                sampled = SampledFeatures(ranked or RankedColumns(values), n_sampled, rngs, criterion, limits)
                search = SplitSearch(sampled.score, missing=MAJORITY, order=NO_ORDER)
        return search

    def _pruned(self, tree: Tree) -> Tree:
        """The tree without the branches that the parameters take away once it is grown."""
        if self.max_leaf_nodes is not None:
            tree = keep_best_first(tree, self.max_leaf_nodes)
        return prune_cost_complexity(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree


class CARTClassifier(_CART, TreeClassifier):
    r"""CART for classes: a binary tree whose splits lower the Gini impurity, or the entropy, the most.

    .. math:: \mathrm{Gini}(D) - \frac{|D_1|}{|D|} \mathrm{Gini}(D_1) - \frac{|D_2|}{|D|} \mathrm{Gini}(D_2)

    This is :eq:`eq-threshold-gain` with :eq:`eq-gini` for H. A column of numbers is cut midway between neighbouring
    values, a column of categories (text or pandas categories) into two groups. Of equal gains the first column wins,
    and in it the smallest threshold.

    Parameters
    ----------
    criterion : {"gini", "entropy"} or a subclass of :class:`~treekit.growing.criteria.ClassCriterion`
        The impurity; gains are in bits for "entropy" and have no unit for "gini". A subclass brings a cost of its own.
    max_depth : int or None
        Largest number of questions on a path; None for no limit.
    min_samples_split : int or float
        A node with fewer rows becomes a leaf; a float from 0 to 1 is a share of the table's rows, rounded up.
    min_samples_leaf : int or float
        A split must leave so many rows, or such a share of the table's rows, on either side.
    min_weight_fraction_leaf : float
        A split must leave such a share of the weight of all rows on either side.
    min_impurity_decrease : float
        What a split gains, times its node's share of the weight, must be at least this.
    max_features : int, float, "sqrt", "log2" or None
        Number of columns that each node draws at random to choose from: so many, a share of them, or the square root
        or binary logarithm of their number; None for all. Columns that can't split the node do not count.
    categorical_split : {"subset", "one_vs_rest"}
        Two groups of categories, or one category against the rest. Many categories then make the tree a chain: 4,000
        take some seconds, twice as many four times as long. See :func:`treekit.growing.categories.score_groups`.
    max_surrogates : int
        How many other questions a node keeps for rows whose answer is missing; they are looked for only when X has
        gaps. With 0 such rows go down the branch with more weight. A surrogate must send two rows or more to either
        side, whatever they weigh: like the other limits on numbers of rows, this one counts rows, as rpart does.
    class_weight : dict, "balanced" or None
        Weight of each class, by which the weights of its rows are multiplied. "balanced" is inversely proportional to
        the number of its rows, whatever they weigh, as in scikit-learn.
    ccp_alpha : float
        Price of a leaf in cost-complexity pruning; 0 for none. See :func:`treekit.prune_cost_complexity`.
    random_state : int, RandomState instance or None
        Draws the columns when ``max_features`` is set; nothing else is random.
    max_leaf_nodes : int or None
        Largest number of leaves, 2 or more: the tree is then grown best first, which means that the next leaf to split
        is the one whose split lowers the impurity of the tree the most.
    monotonic_cst : array of shape (n_features,), dict or None
        For each column, or by name for some, 1 if the prediction may only rise with it, -1 if it may only fall, 0 if it
        is free (:eq:`eq-monotone`). With two classes the prediction is the share of the second. Not for more classes,
        and not where X has gaps.

    Attributes
    ----------
    tree_ : Tree
        The grown tree.
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Notes
    -----
    The gain of a column with gaps is that of its known rows, times their share. A row whose value is missing, or is a
    category that the node has not seen, takes the branch of the first of the node's surrogates whose value it has;
    without one it goes down the branch with more weight. Growing costs O(rows x columns x (depth + log rows)). Source:
    Breiman et al. (1984).
    """

    def __init__(
        self,
        criterion: str | type[ClassCriterion] = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: float | str | None = None,
        categorical_split: str = "subset",
        max_surrogates: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        ccp_alpha: float = 0.0,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
    ):
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.categorical_split = categorical_split
        self.max_surrogates = max_surrogates
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.monotonic_cst = monotonic_cst

    def _to_lower(self, table: TrainingTable) -> tuple[Criterion, Floats]:
        kind: Any = self.criterion
        if not (isinstance(kind, type) and issubclass(kind, ClassCriterion)):
            check_choice(self, "criterion", CLASSIFICATION)
            kind = CLASSIFICATION[kind]
        factor = class_factors(self.class_weight, self.classes_[table.y])
        return kind(table.y, len(self.classes_)), row_weights(table.weight * factor, len(factor))


class CARTRegressor(_CART, TreeRegressor):
    r"""CART for numbers: a binary tree whose splits lower the error of its leaves the most.

    .. math:: \frac{1}{|D|} \Bigl( \sum_{i \in D} (y_i - \bar y)^2
              - \sum_{i \in D_1} (y_i - \bar y_1)^2 - \sum_{i \in D_2} (y_i - \bar y_2)^2 \Bigr)

    The last two sums over :math:`|D|` are :eq:`eq-regression-cost`. Columns, ties, missing values, cost and source are
    as for :class:`CARTClassifier`. Targets are added up as whole numbers of one unit, which leaves 60 bits for the
    sum of their distances from the mean: with an outlier 1e12 times their spread, the others are known to six digits.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}
        Squared error about the mean; the same in Friedman's form; absolute error about the median, for columns of
        numbers only; half Poisson deviance about the mean, for targets that are not negative. A Poisson mean must be
        positive: a split leaves a positive sum on either side. Only in a forest may a sample hold nothing but zeros;
        its tree is one leaf that predicts zero.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, min_impurity_decrease
        As for :class:`CARTClassifier`.
    max_features, categorical_split, max_surrogates, ccp_alpha, random_state, max_leaf_nodes, monotonic_cst
        As for :class:`CARTClassifier`.

    Attributes
    ----------
    tree_ : Tree
        The grown tree.
    n_features_in_, feature_names_in_
        Number and names of the columns.
    """

    def __init__(
        self,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: float | str | None = None,
        categorical_split: str = "subset",
        max_surrogates: int = 5,
        ccp_alpha: float = 0.0,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
    ):
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.categorical_split = categorical_split
        self.max_surrogates = max_surrogates
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.monotonic_cst = monotonic_cst

    def _to_lower(self, table: TrainingTable) -> tuple[Criterion, Floats]:
        check_choice(self, "criterion", REGRESSION_CRITERIA)
        if self.criterion == "poisson" and (table.y.min() < 0 or not table.y.any()):
            raise ValueError("y must not be negative, nor zero everywhere, with criterion='poisson'.")
        return REGRESSION_CRITERIA[self.criterion](table.y, table.weight), table.weight


def _refuse_unordered(criterion: Criterion, has_gaps: bool) -> None:
    """Refuse constraints where the values of two children have no order, or where rows with gaps may change it."""
    if isinstance(criterion, ClassCriterion) and criterion.n_classes > 2:
        raise ValueError(f"monotonic_cst needs two classes, whose order is clear; y has {criterion.n_classes}.")
    if not criterion.is_function_of_sums:
        raise ValueError("monotonic_cst is not for criterion='absolute_error': use 'squared_error'.")
    if has_gaps:
        raise ValueError("monotonic_cst needs X without missing values: fill them, or use GBDT with method='newton'.")


def can_score_drawn_columns_alone(criterion: Criterion, features: tuple[Feature, ...], has_gaps: bool) -> bool:
    """Whether :class:`SampledFeatures` can be used for a table."""
    return all_numbers(features) and not has_gaps and criterion.is_function_of_sums


def keep_best_first(tree: Tree, max_leaf_nodes: int) -> Tree:
    """The subtree of up to ``max_leaf_nodes`` leaves that best-first growth reaches.

    Best-first growth splits, of all leaves of the tree so far, the one whose split lowers the impurity of the whole
    tree the most: the largest gain times weight; of equal ones the first in the tree. A split depends on the rows of
    its node alone, so growing the full tree and then choosing among its splits gives the same tree. That costs the full
    tree, and O(max_leaf_nodes log max_leaf_nodes) for the choice.
    """
    # Ten digits: equal splits of two nodes differ by rounding, which must not decide.
    fraction, power = np.frexp(tree.gain * tree.weight)
    lowers = np.ldexp(np.rint(fraction * 2**33), power - 33).tolist()
    is_split = np.zeros(tree.n_nodes, dtype=bool)
    frontier, n_leaves = [(-lowers[0], 0)], 1
    while frontier and n_leaves < max_leaf_nodes:
        node = heapq.heappop(frontier)[1]
        if tree.feature[node] < 0:
            continue
        is_split[node] = True
        n_leaves += int(tree.n_children[node]) - 1
        first = int(tree.first_child[node])
        for child in range(first, first + int(tree.n_children[node])):
            heapq.heappush(frontier, (-lowers[child], child))
    return cut(tree, ~is_split)


def _count(number_or_share: float, n_rows: int) -> int:
    """A number of rows, one at least; a float is a share of all rows, rounded up."""
    if isinstance(number_or_share, Integral):
        return int(number_or_share)
    return max(1, int(np.ceil(number_or_share * n_rows)))


def _check_parameters(estimator: _CART) -> None:
    check_number(estimator, "max_depth", low=0, whole=True, none=True)
    for name, low in (("min_samples_split", 2), ("min_samples_leaf", 1)):
        if isinstance(getattr(estimator, name), Integral):
            check_number(estimator, name, low=low, whole=True)
        else:
            check_number(estimator, name, low=0, high=1)
    check_number(estimator, "min_weight_fraction_leaf", low=0, high=0.5)
    check_number(estimator, "min_impurity_decrease", low=0)
    check_number(estimator, "max_surrogates", low=0, whole=True)
    check_number(estimator, "ccp_alpha", low=0)
    check_number(estimator, "max_leaf_nodes", low=2, whole=True, none=True)
    check_choice(estimator, "categorical_split", ("subset", "one_vs_rest"))
