"""CART: classification and regression trees (Breiman, Friedman, Olshen and Stone, 1984)."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from treekit.growing.absolute_error import AbsoluteError, score_thresholds_absolute
from treekit.growing.candidates import (
    ChildLimits,
    SplitCandidates,
    combine_numeric_and_categorical,
    largest_gain,
    largest_gain_among_sampled,
)
from treekit.growing.categories import score_groups
from treekit.growing.criteria import ClassCriterion, Criterion, Entropy, FriedmanMSE, Gini, Poisson, SquaredError
from treekit.growing.feature_sampling import RankedColumns, SampledFeatures
from treekit.growing.grow import SplitSearch, StoppingRule, grow
from treekit.growing.level import Level
from treekit.growing.presorted import NO_ORDER
from treekit.growing.surrogates import ScoreAll, find_surrogates
from treekit.growing.thresholds import score_thresholds
from treekit.models.base import TreeClassifier, TreeRegressor
from treekit.numeric import Array, Floats, Ints, Numbers
from treekit.pruning.cost_complexity import prune_cost_complexity
from treekit.pruning.cut import cut
from treekit.reading.encoding import Feature
from treekit.reading.validation import check_choice, check_number, class_factors, count_features, generator
from treekit.trees.structure import MAJORITY, Surrogate
from treekit.trees.tree import Tree

__all__ = ["CARTClassifier", "CARTRegressor"]
CLASSIFICATION: dict[str, Callable[..., ClassCriterion]] = {"gini": Gini, "entropy": Entropy}
REGRESSION_CRITERIA: dict[str, Callable[..., Criterion]] = {
    "squared_error": SquaredError,
    "friedman_mse": FriedmanMSE,
    "absolute_error": AbsoluteError,
    "poisson": Poisson,
}


class CARTClassifier(TreeClassifier):
    r"""CART for classes: a binary tree whose splits lower the Gini impurity, or the entropy, the most.

    .. math:: \mathrm{Gini}(D) - \frac{|D_1|}{|D|} \mathrm{Gini}(D_1) - \frac{|D_2|}{|D|} \mathrm{Gini}(D_2)

    A column of numbers is cut at a midpoint between neighbouring values; a column of categories (text or
    pandas categories) into two groups. Of equal gains the first column wins, and in it the smallest threshold.

    Parameters
    ----------
    criterion : {"gini", "entropy"}
        The impurity; gains are in bits for "entropy" and have no unit for "gini".
    max_depth : int or None
        Largest number of questions on a path; None for no limit.
    min_samples_split : int or float
        A node with fewer rows becomes a leaf; a float from 0 to 1 is a share of all rows, rounded up.
    min_samples_leaf : int or float
        A split must leave so many rows, or such a share of all rows, on either side.
    min_weight_fraction_leaf : float
        A split must leave such a share of the weight of all rows on either side.
    min_impurity_decrease : float
        A split must gain so much, times the node's share of the weight.
    max_features : int, float, "sqrt", "log2" or None
        Number of columns that each node draws at random to choose from: so many, a share, the root or the binary
        logarithm of their number; None for all. Columns that can't split the node do not count.
    categorical_split : {"subset", "one_vs_rest"}
        Two groups of categories, or one category against the rest. See :func:`treekit.growing.categories.score_groups`.
    max_surrogates : int
        How many other questions a node keeps for rows whose answer is missing; they are looked for only when X has
        gaps. With 0 such rows go down the branch with more weight. A surrogate must send two rows or more to either
        side, whatever they weigh: like the other limits on numbers of rows, this one counts rows, as rpart does.
    class_weight : dict, "balanced" or None
        Weight of each class, by which the weights of its rows are multiplied.
    ccp_alpha : float
        Price of a leaf in cost-complexity pruning; 0 for none. See :func:`treekit.prune_cost_complexity`.
    random_state : int, RandomState instance or None
        Draws the columns when ``max_features`` is set; nothing else is random.
    max_leaf_nodes : int or None
        Largest number of leaves, 2 or more: the tree is then grown best first, and splits the leaf next
        whose split lowers the impurity of the tree the most.

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
        criterion: str = "gini",
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

    def _grow(
        self,
        values: Numbers,
        features: tuple[Feature, ...],
        y: Array,
        weight: Floats,
        ranked: RankedColumns | None = None,
    ) -> Tree:
        check_choice(self, "criterion", CLASSIFICATION)
        weight = weight * class_factors(self.class_weight, self.classes_[y])
        criterion = CLASSIFICATION[self.criterion](y, len(self.classes_))
        return grow_binary(self, values, features, criterion, weight, self.classes_, ranked)


class CARTRegressor(TreeRegressor):
    r"""CART for numbers: a binary tree whose splits lower the error of its leaves the most.

    .. math:: \frac{1}{|D|} \Bigl( \sum_{i \in D} (y_i - \bar y)^2
              - \sum_{i \in D_1} (y_i - \bar y_1)^2 - \sum_{i \in D_2} (y_i - \bar y_2)^2 \Bigr)

    Columns, ties, missing values and cost are as for :class:`CARTClassifier`.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}
        Squared error about the mean; the same in Friedman's form; absolute error about the median, for columns of
        numbers only; half Poisson deviance about the mean, for targets that are not negative. A Poisson mean must be
        positive: a split leaves a positive sum on either side. Only in a forest, where a bootstrap sample holds nothing
        but zeros, the tree is one leaf that predicts zero.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, min_impurity_decrease
        As for :class:`CARTClassifier`.
    max_features, categorical_split, max_surrogates, ccp_alpha, random_state, max_leaf_nodes
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

    def _fit(self, values: Numbers, features: tuple[Feature, ...], y: Array, weight: Floats) -> None:
        present = weight > 0
        if not present.all():
            values, y, weight = np.ascontiguousarray(values[:, present]), y[present], weight[present]
        super()._fit(values, features, y, weight)

    def _grow(
        self,
        values: Numbers,
        features: tuple[Feature, ...],
        y: Array,
        weight: Floats,
        ranked: RankedColumns | None = None,
    ) -> Tree:
        check_choice(self, "criterion", REGRESSION_CRITERIA)
        if self.criterion == "poisson" and (y.min() < 0 or not y.any()):
            raise ValueError("y must not be negative, nor zero everywhere, with criterion='poisson'.")
        return grow_binary(self, values, features, REGRESSION_CRITERIA[self.criterion](y, weight), weight, None, ranked)


def grow_binary(
    estimator: CARTClassifier | CARTRegressor,
    values: Numbers,
    features: tuple[Feature, ...],
    criterion: Criterion,
    weight: Floats,
    classes: Array | None,
    ranked: RankedColumns | None = None,
) -> Tree:
    """Grow a tree of binary splits with the estimator's parameters; trees on one table may share its sorting."""
    _check_parameters(estimator)
    if isinstance(criterion, AbsoluteError) and not all(feature.is_numeric for feature in features):
        raise ValueError(
            "criterion='absolute_error' needs columns of numbers only; X has categories: encode them first."
        )
    n_rows = int(np.count_nonzero(weight > 0))
    limits = ChildLimits(_count(estimator.min_samples_leaf, n_rows), estimator.min_weight_fraction_leaf * weight.sum())
    score_all = _cut_scorer(values, features, estimator.categorical_split == "one_vs_rest")
    has_gaps = any((np.isnan(column) if f.is_numeric else column < 0).any() for f, column in zip(features, values))

    def surrogates(level: Level, branch: Ints, feature: Ints) -> list[Surrogate]:
        return find_surrogates(level, branch, feature, values, estimator.max_surrogates, score_all)

    search = _search(estimator, values, features, criterion, limits, score_all, has_gaps, ranked)
    if has_gaps and estimator.max_surrogates > 0:
        search = replace(search, find_surrogates=surrogates)
    tree = grow(values, features, criterion, weight, search, _stop(estimator, n_rows), classes)
    if estimator.max_leaf_nodes is not None:
        tree = keep_best_first(tree, estimator.max_leaf_nodes)
    return prune_cost_complexity(tree, estimator.ccp_alpha) if estimator.ccp_alpha > 0 else tree


def keep_best_first(tree: Tree, max_leaf_nodes: int) -> Tree:
    """The subtree of up to ``max_leaf_nodes`` leaves that best-first growth reaches.

    Best-first growth splits, of all leaves of the tree so far, the one whose split lowers the impurity of the whole
    tree the most: the largest gain times weight; of equal ones the first in the tree. A split depends on the rows of
    its node alone, so to grow the full tree and then to choose among its splits gives the same tree. It costs the full
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


def _search(
    estimator: CARTClassifier | CARTRegressor,
    values: Numbers,
    features: tuple[Feature, ...],
    criterion: Criterion,
    limits: ChildLimits,
    score_all: ScoreAll,
    has_gaps: bool,
    ranked: RankedColumns | None,
) -> SplitSearch:
    """How the best split is found: among all columns, or among those that each node draws."""

    def score(level: Level, impurity: Floats) -> SplitCandidates:
        return score_all(level, impurity, criterion, limits)

    order = None if ranked is None else ranked.order
    is_plain = all(feature.is_numeric for feature in features) and not isinstance(criterion, AbsoluteError)
    n_sampled = count_features(estimator.max_features, len(features))
    if n_sampled == len(features):
        return SplitSearch(score, largest_gain, MAJORITY, order=order)
    rng = generator(estimator.random_state)
    if has_gaps or not is_plain:
        return SplitSearch(score, largest_gain_among_sampled(n_sampled, rng), MAJORITY, order=order)
    sampled = SampledFeatures(ranked or RankedColumns(values), n_sampled, rng, criterion, limits)
    return SplitSearch(sampled.score, largest_gain, MAJORITY, order=NO_ORDER)


def _stop(estimator: CARTClassifier | CARTRegressor, n_rows: int) -> StoppingRule:
    """When a node becomes a leaf."""
    return StoppingRule(
        max_depth=np.inf if estimator.max_depth is None else estimator.max_depth,
        min_samples_split=_count(estimator.min_samples_split, n_rows),
        min_impurity_decrease=estimator.min_impurity_decrease,
    )


def _cut_scorer(values: Numbers, features: tuple[Feature, ...], one_vs_rest: bool) -> ScoreAll:
    """The best cut in two of every column in each open node: a threshold for numbers, two groups for categories."""

    def score(level: Level, impurity: Floats, criterion: Criterion, limits: ChildLimits) -> SplitCandidates:
        if isinstance(criterion, AbsoluteError):
            return score_thresholds_absolute(level, values, criterion, impurity, limits)

        def score_category(j: int) -> SplitCandidates:
            return score_groups(level, values[j], features[j].n_values, criterion, impurity, limits, one_vs_rest)

        return combine_numeric_and_categorical(
            score_thresholds(level, values, criterion, impurity, limits), features, score_category
        )

    return score


def _count(number_or_share: float, n_rows: int) -> int:
    """A number of rows; a float is a share of all rows, rounded up."""
    return int(number_or_share) if isinstance(number_or_share, Integral) else int(np.ceil(number_or_share * n_rows))


def _check_parameters(estimator: CARTClassifier | CARTRegressor) -> None:
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
