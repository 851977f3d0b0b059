"""C4.5 (Quinlan, 1993)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from treekit.growing.candidates import (
    ChildLimits,
    SplitCandidates,
    largest_gain,
    merge_candidates,
    merge_kinds,
)
from treekit.growing.categories import score_branches
from treekit.growing.criteria import Entropy
from treekit.growing.grow import ChooseFeature, ScoreSplits, SplitSearch, StoppingRule, grow
from treekit.growing.level import Level, first_level
from treekit.growing.presorted import sort_columns
from treekit.growing.thresholds import score_sparse_cuts, score_thresholds
from treekit.measures import entropy_of_counts
from treekit.models.base import TrainingTable, TreeClassifier
from treekit.numeric import SHARED_TIE, Bools, Floats, Ints, Numbers
from treekit.pruning.pessimistic import LIMITS, collapse, prune_pessimistic
from treekit.pruning.subtree_raising import raise_encoded
from treekit.reading.encoding import Feature, match_labels
from treekit.reading.validation import check_choice, check_number, read_labels, row_weights
from treekit.trees.structure import SHARE
from treekit.trees.traversal import rows_by_level
from treekit.trees.tree import Tree

__all__ = ["C45Classifier"]

#: The average gain in each node, of shape (n_nodes,), and which columns compete, of shape (n_columns, n_nodes).
Compare = Callable[[SplitCandidates], tuple[Floats, Bools]]


class C45Classifier(TreeClassifier):
    r"""C4.5: each node tests the attribute with the largest gain ratio; with numbers, missing values and pruning.

    .. math::

        A^* = \arg\max_{A :\, g(D, A) \ge \bar g} \frac{g(D, A)}{H_A(D)}, \qquad
        g(D, A) = \rho \, \bigl( H(\tilde D) - H(\tilde D \mid A) \bigr)

    These are :eq:`eq-c45-choice` and :eq:`eq-missing-gain`. The ratio alone would favour attributes of few or uneven
    values. So only those compete whose gain is at least :math:`\bar g`, the mean over the attributes that can split the
    node. One can when at least two branches get ``min_samples_leaf`` or more of the weight. A column of numbers comes
    with its best cut, the one with the largest gain; a node below may test it again. A column of categories opens a
    branch for each of them; one without rows becomes a leaf with its parent's majority class.

    :math:`\tilde D` are the rows where A is known and :math:`\rho` is their share of the weight. A row where it is not
    known goes down every branch, with a share of its weight as large as that of the branch in the known rows; so it
    does in prediction, where the leaves' answers are averaged. A category never seen is treated in the same way. A part
    of a row that is less than 1/256 of it is not shared out any further but goes down the heaviest branch, and counts
    there as known: so memory and time stay bounded, however many values are missing, and no weight is lost.

    Of equal ratios the first column wins, of equal cuts the lowest, of equal classes the first in sorted order.

    Parameters
    ----------
    criterion : {"gain_ratio", "gain"}
        "gain" chooses the largest gain, as ID3 does. Quinlan's program has this option too.
    confidence : float or None, default 0.25
        CF of the pessimistic pruning, above 0 and below 1; the smaller, the more is cut. None for no pruning. See
        :func:`treekit.prune_pessimistic`.
    min_samples_leaf : float, default 2
        At least two branches of a split must have so much of the weight, for a cut both; a row weighs 1 unless
        ``sample_weight`` says otherwise. 0 asks only that two branches are not empty.
    max_depth : int or None, default None
        Largest number of questions on a path; None for no limit.
    subtree_raising : bool, default False
        Whether pruning may also put the largest branch of a node in its place, as Quinlan's program does. See
        :func:`treekit.prune_and_raise`; it takes several times as long as growing the tree.
    conventions : {"textbook", "quinlan"}
        "textbook" is what the formulas say. "quinlan" is what Quinlan's program does, in its release 8, and Weka's
        J48 after it:

        * a cut is moved from the midpoint down to the largest value of the training table that is not above it;
        * a cut must leave a tenth of the known weight over the number of classes on either side, if that is more than
          ``min_samples_leaf``, but never more than 25;
        * from the gain of a column of numbers the binary logarithm of the number of possible cuts, over N, in bits, is
          subtracted, and the rest must be above 0;
        * split information counts "unknown" as one more outcome, with :math:`1 - \rho` of the weight;
        * the average leaves out columns with very many categories, at least 0.3 per row of the table, unless there
          are no others; a gain may be 0.001 bits below it; a split must gain something;
        * branches that make no fewer errors in training than a leaf would are cut, even with ``confidence=None``;
        * pruning uses :func:`treekit.normal_limit`, unless ``limit`` names another, and a leaf may be expected to make
          0.1 errors more.
    limit : {"binomial", "normal", "weka"} or None
        The upper limit of the error rate that pruning expects. "binomial" is the exact one,
        :func:`treekit.binomial_limit`; "normal" that of Quinlan's program, :func:`treekit.normal_limit`; "weka" that of
        J48, the same approximation with the exact quantile, for a ``confidence`` of at most one half. None takes
        "binomial" with the textbook's conventions and "normal" with Quinlan's.

    Attributes
    ----------
    tree_ : Tree
        The grown tree. ``gain`` is in bits; under "quinlan" it is what the choice goes by, below what a split gains.
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns; only when X is a data frame whose names are all strings.

    Notes
    -----
    With ``conventions="quinlan"`` and ``limit="weka"`` the trees are those of J48, except where numbers differ by
    0.00001 or less, which J48 does not tell apart. Growing costs O(rows x attributes x (depth + log rows)), where a row
    that is shared out counts once for each part. Source: Quinlan (1993), chapters 2 to 4; Quinlan (1996), Improved use
    of continuous attributes in C4.5; Zhou (2016), sections 4.2 to 4.4.

    Examples
    --------
    >>> from treekit import C45Classifier
    >>> from treekit.datasets import load_playtennis
    >>> days = load_playtennis()
    >>> c45 = C45Classifier().fit(days.drop(columns="play"), days["play"])
    >>> print(c45.tree_.export_text())
    outlook?
    ├── sunny: humidity?
    │   ├── high: no  [no 3, yes 0]
    │   └── normal: yes  [no 0, yes 2]
    ├── overcast: yes  [no 0, yes 4]
    └── rain: wind?
        ├── weak: yes  [no 0, yes 3]
        └── strong: no  [no 2, yes 0]
    """

    def __init__(
        self,
        criterion: str = "gain_ratio",
        confidence: float | None = 0.25,
        min_samples_leaf: float = 2,
        max_depth: int | None = None,
        subtree_raising: bool = False,
        conventions: str = "textbook",
        limit: str | None = None,
    ):
        self.criterion = criterion
        self.confidence = confidence
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.subtree_raising = subtree_raising
        self.conventions = conventions
        self.limit = limit

    def _grow(self, table: TrainingTable) -> Tree:
        values, features, y, weight, _ = table
        check_choice(self, "criterion", ("gain_ratio", "gain"))
        check_choice(self, "conventions", ("textbook", "quinlan"))
        check_choice(self, "subtree_raising", (False, True))
        check_choice(self, "limit", (None, *LIMITS))
        check_number(self, "min_samples_leaf", low=0)
        check_number(self, "max_depth", low=0, whole=True, none=True)
        check_number(self, "confidence", low=0, none=True, high=1)
        if self.confidence in (0, 1):
            raise ValueError(
                f"confidence must be above 0 and below 1, or None for no pruning; got {self.confidence!r}."
            )
        entropy = Entropy(y, len(self.classes_))
        score, compare = self._search(values, features, entropy, weight)
        choose = largest_gain if self.criterion == "gain" else _largest_ratio(compare)
        stop = StoppingRule(
            max_depth=np.inf if self.max_depth is None else self.max_depth,
            min_gain=SHARED_TIE if self.conventions == "quinlan" else 0.0,
        )
        tree = grow(values, features, entropy, weight, SplitSearch(score, choose, SHARE), stop, self.classes_)
        if self.conventions == "quinlan":
            tree = collapse(tree, slack=1e-3)
        if self.confidence is None:
            return tree
        by_convention, slack = ("normal", 0.1) if self.conventions == "quinlan" else ("binomial", 0.0)
        limit = LIMITS[self.limit or by_convention]
        if self.subtree_raising:
            return raise_encoded(tree, values, y, weight, self.confidence, limit, slack)
        return prune_pessimistic(tree, self.confidence, limit, slack)

    def _search(
        self, values: Numbers, features: tuple[Feature, ...], entropy: Entropy, weight: Floats
    ) -> tuple[ScoreSplits, Compare]:
        """What each attribute offers in each open node, and how the attributes are compared."""
        # Shares of weight are rounded: what is meant to weigh 2 may weigh a little less.
        least = self.min_samples_leaf * (1 - SHARED_TIE)
        if self.conventions == "quinlan":
            in_average = _not_too_many(features, int(np.count_nonzero(weight)))
            score = _quinlan_score(values, features, entropy, least, weight > 0)
            return score, lambda candidates: _compare(candidates, 1e-3, in_average)
        return _textbook_score(values, features, entropy, least), _compare

    def candidates(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, node: int = 0
    ) -> pd.DataFrame:
        r"""What each attribute offers at a node of the grown tree: the table from which the node's test was chosen.

        The tree keeps no rows, so the training table is given again; it is sent down the tree, and the attributes are
        scored once more with the rows that reach the node.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        node : int
            Number of the node, as in ``tree_``; 0 is the root.

        Returns
        -------
        data frame with one row per attribute
            ``attribute``; ``cut``, the best one, for a column of numbers; ``gain`` in bits, NaN where it cannot split
            the node; ``split_information`` in bits; ``ratio`` of the two; ``average``, the mean gain that an attribute
            must reach; ``competes``, whether it does; ``chosen``, whether its ratio is the largest of those that do
            (with ``criterion="gain"``, whether its gain is the largest of all).

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError, TypeError
            If X, y or ``sample_weight`` do not fit the tree or each other.
        IndexError
            If there is no such node, or no row reaches it.

        Notes
        -----
        ``conventions`` decides what a gain and the average are. ``chosen`` is what the node would test if it were to
        be split: a leaf has candidates, too. Takes the time of one level of growing, and of one prediction.
        """
        values = self._values(X)
        weight = row_weights(sample_weight, values.shape[1])
        code = match_labels(self.classes_, read_labels(y, len(weight)))
        if (code < 0).any():
            raise ValueError(f"y holds a label that was not in fit, first in row {(code < 0).argmax()}: use fit's y.")
        in_node = weight * _share_in_node(self.tree_, values, node)
        if not in_node.any():
            raise IndexError(f"node must be one of the tree's {self.tree_.n_nodes}, and reached by rows; got {node!r}.")

        features = self._features
        values, entropy = np.ascontiguousarray(values), Entropy(code, len(self.classes_))
        score, compare = self._search(values, features, entropy, weight)
        numbers = [j for j, feature in enumerate(features) if feature.is_numeric]
        order = sort_columns(values, numbers)
        level = first_level(entropy.per_row, in_node, numbers, order, shares=True)
        found = score(level, entropy.impurity(level))
        assert found.split_information is not None
        average, competes = compare(found)
        gain, price = np.where(found.gain > -np.inf, found.gain, np.nan)[:, 0], found.split_information[:, 0]
        choose = largest_gain if self.criterion == "gain" else _largest_ratio(compare)
        is_chosen = np.arange(len(features)) == choose(found, entropy.impurity(level), level.tree)
        return pd.DataFrame(
            {
                "attribute": [feature.name for feature in features],
                "cut": found.threshold[:, 0],
                "gain": gain,
                "split_information": price,
                "ratio": np.divide(gain, price, out=np.full_like(gain, np.nan), where=price > 0),
                "average": average[0],
                "competes": competes[:, 0],
                "chosen": is_chosen & ~np.isnan(gain),
            }
        )


def _share_in_node(tree: Tree, values: Numbers, node: int) -> Floats:
    """The share of each row that passes a node or ends there, of shape (n_rows,)."""
    share_in_node = np.zeros(values.shape[1])
    for row, at, share, _ in rows_by_level(tree, values):
        here = at == node
        share_in_node[row[here]] = share[here]
    return share_in_node


def _textbook_score(values: Numbers, features: tuple[Feature, ...], entropy: Entropy, least: float) -> ScoreSplits:
    """The best cut of a column of numbers, or a branch for each category, by plain gain."""

    def score(level: Level, impurity: Floats) -> SplitCandidates:
        numbers = score_thresholds(level, values, entropy, impurity, ChildLimits(weight=least))
        columns = [(column, feature.n_values) for column, feature in zip(values, features) if not feature.is_numeric]
        branches = [score_branches(level, *column, entropy, least) for column in columns]
        return merge_kinds(numbers, branches, features)

    return score


def _quinlan_score(
    values: Numbers, features: tuple[Feature, ...], entropy: Entropy, least: float, counts: Bools
) -> ScoreSplits:
    """As :func:`_textbook_score`, by the conventions of Quinlan's program; ``counts`` says which rows have weight."""
    in_table = {j: np.unique(values[j, counts]) for j, feature in enumerate(features) if feature.is_numeric}

    def score_column(level: Level, j: int, impurity: Floats) -> SplitCandidates:
        total = entropy.weight(level.sums)
        known = _known_weight(level, values[j], features[j], entropy)
        if features[j].is_numeric:
            limits = ChildLimits(weight=np.maximum(least, np.minimum(0.1 * known / entropy.n_classes, 25.0)))
            order = level.orders[level.sorted.columns.index(j)]
            candidates = score_sparse_cuts(level, level.values(values[j], order), order, entropy, impurity, limits)
            assert candidates.n_candidates is not None
            # Having many cuts to choose from is a reason not to trust the best one.
            gain = candidates.gain - np.log2(np.maximum(candidates.n_candidates, 1)) / total
            gain[gain <= SHARED_TIE] = -np.inf
            candidates = replace(candidates, gain=gain, threshold=_moved_down(candidates.threshold, in_table[j]))
        else:
            candidates = score_branches(level, values[j], features[j].n_values, entropy, least)
        # The entropy of (unknown, branch 1, branch 2, ...) is that of unknown or not, and then that of the branches.
        share = known / total
        is_unknown = entropy_of_counts(np.stack([share, 1 - share], axis=-1))
        assert candidates.split_information is not None
        return replace(candidates, split_information=is_unknown + share * candidates.split_information)

    def score(level: Level, impurity: Floats) -> SplitCandidates:
        return merge_candidates([score_column(level, j, impurity) for j in range(len(features))])

    return score


def _moved_down(threshold: Floats, in_table: Numbers) -> Floats:
    """The largest value of the table that is not above each threshold; NaN where there is none."""
    # In decimals 14.97 is halfway between 14.96 and 14.98, in binary halfway is a little less. So a value that is above
    # by rounding alone counts as well, unless the table is so fine that a lower value is as close.
    ulp = np.spacing(np.abs(threshold))
    exact, rounded = (np.searchsorted(in_table, threshold + slack, side="right") - 1 for slack in (0, 2 * ulp))
    place = np.where(threshold - in_table[exact] > 3 * ulp, rounded, exact)
    return np.where(np.isnan(threshold), np.nan, in_table[place])


def _known_weight(level: Level, column: Numbers, feature: Feature, entropy: Entropy) -> Floats:
    """Weight of the rows of each node where the column is known, added up as for all rows, so that it is never more."""
    x = level.values(column, level.entry)
    is_known = ~np.isnan(x) if feature.is_numeric else x >= 0
    return entropy.weight(level.sums_where(is_known, level.entry))


def _not_too_many(features: tuple[Feature, ...], n_rows: int) -> Bools:
    """Which columns count in the average gain."""
    counts = np.array([feature.n_values < 0.3 * n_rows for feature in features])
    return counts if counts.any() else ~counts


def _compare(candidates: SplitCandidates, slack: float = 0.0, in_average: Bools | None = None) -> tuple[Floats, Bools]:
    """The average gain in each node, and which columns compete there: those that reach it, or nearly so."""
    can_split = candidates.gain > -np.inf
    counts = can_split if in_average is None else can_split & in_average[:, np.newaxis]
    n = np.count_nonzero(counts, axis=0)
    average = np.where(counts, candidates.gain, 0).sum(axis=0) / np.maximum(n, 1)
    return average, can_split & (candidates.gain >= average - slack - SHARED_TIE) & (n > 0)


def _largest_ratio(compare: Compare) -> ChooseFeature:
    """The column of the largest gain ratio among those that compete; -1 where none does."""

    def choose(candidates: SplitCandidates, impurity: Floats, tree: Ints) -> Ints:
        gain, price = candidates.gain, candidates.split_information
        assert price is not None
        _, competes = compare(candidates)
        ratio = np.divide(gain, price, out=np.full_like(gain, -np.inf), where=competes)
        return np.where(competes.any(axis=0), np.argmax(ratio >= ratio.max(axis=0) - SHARED_TIE, axis=0), -1)

    return choose
