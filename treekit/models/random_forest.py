"""Random forests: bagged trees whose nodes draw the columns that they may split on."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from treekit.growing.criteria import ClassCriterion
from treekit.models.base import TableClassifier, TableEstimator, TableRegressor, TrainingTable
from treekit.models.bootstrap import OutOfBag, oob_accuracy
from treekit.models.cart import CARTClassifier, CARTRegressor
from treekit.models.side_by_side import answers, as_estimators, ask_out_of_bag, grow_side_by_side, mean_over_roots
from treekit.models.transaction import unchanged_if_interrupted
from treekit.numeric import Floats, Ints, sum_in_turn
from treekit.reading.validation import check_choice, check_number
from treekit.trees.structure import majority
from treekit.trees.tree import Tree

__all__ = ["RandomForestClassifier", "RandomForestRegressor"]


class _RandomForest(TableEstimator):
    """What the two forests share."""

    forest_: Tree

    def _tree(self) -> CARTClassifier | CARTRegressor:
        """An unfitted tree with the parameters of the forest."""
        tree = CARTClassifier() if is_classifier(self) else CARTRegressor()
        own = tree.get_params()
        return tree.set_params(**{name: value for name, value in self.get_params().items() if name in own})

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a table. Parameters and errors are those of :meth:`treekit.CARTClassifier.fit`."""
        with unchanged_if_interrupted(self):
            table = self._training_table(X, y, sample_weight)
            check_number(self, "n_estimators", low=1, whole=True)
            check_choice(self, "bootstrap", (False, True))
            check_choice(self, "oob_score", (False, True))
            if self.oob_score and not self.bootstrap:
                raise ValueError("oob_score needs bootstrap=True: without it every tree sees every row.")
            self.forest_, self._seeds, counts = grow_side_by_side(self, self._tree(), table, self.bootstrap)
            if self.oob_score:
                self.in_bag_ = table.as_given(counts, 0)
                self._score_out_of_bag(table, ask_out_of_bag(self.forest_, table, counts, lambda values: values))
        return self

    def _score_out_of_bag(self, table: TrainingTable, out_of_bag: OutOfBag) -> None:
        """Keep the out-of-bag predictions, and their score."""
        raise NotImplementedError

    @property
    def estimators_(self) -> list[Any]:
        """The trees one by one, as estimators."""
        check_is_fitted(self)
        if "_members_" not in vars(self):
            self._members_ = as_estimators(self, self._tree(), self.forest_, self._seeds)
        return self._members_

    def _mean(self, X: ArrayLike) -> Floats:
        """Mean prediction of the trees, of shape (n_rows, n_values)."""
        values = self._values(X)
        return mean_over_roots(self.forest_, values)

    def apply(self, X: ArrayLike) -> Ints:
        """Node of each tree where each row ends, of shape (n_rows, n_estimators)."""
        values = self._values(X)
        return self.forest_.number_below_root[self.forest_.ends_below_roots(values)].T

    @property
    def feature_importances_(self) -> Floats:
        """Share of each column in the impurity that splits remove, averaged over the trees; of shape (n_features,).

        Columns with many distinct values are favoured, even if they are random;
        ``sklearn.inspection.permutation_importance`` on held-out rows does not have this fault.
        """
        mean = np.mean([member.tree_.importances() for member in self.estimators_], axis=0)
        return mean / mean.sum() if mean.sum() > 0 else mean


class RandomForestClassifier(_RandomForest, TableClassifier):
    r"""Random forest for classes: CART trees on bootstrap samples; each split is chosen from a few random columns.

    .. math:: \hat p_k(x) = \frac{1}{M} \sum_{m=1}^{M} \hat p_k^{(m)}(x)

    The trees' class shares are averaged (soft voting, :eq:`eq-bagging`). The less the trees' predictions correlate, the
    more this lowers their variance: with M predictions of variance :math:`\sigma^2` and correlation :math:`\rho` it is
    :math:`\rho \sigma^2 + (1 - \rho) \sigma^2 / M`, :eq:`eq-variance-of-average`.

    Parameters
    ----------
    n_estimators : int
        Number of trees, M.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, class_weight
        Of each tree; see :class:`~treekit.CARTClassifier`.
    max_features : int, float, "sqrt", "log2" or None
        Number of columns that each node draws; see :class:`~treekit.CARTClassifier`.
    bootstrap : bool
        Whether each tree gets a sample with replacement, as large as the table, or all rows.
    oob_score : bool
        Whether to score each row by the trees whose samples left it out.
    random_state : int, RandomState instance or None
        Draws the samples and the columns. It gives each tree a seed of its own, so the first ten trees of a forest of
        a hundred are the forest of ten. Streams of NumPy's PCG64 are the same on every platform.
    verbose : bool or int
        Whether to report the finished trees, group by group.

    Attributes
    ----------
    forest_ : Tree
        All trees as one structure with many roots.
    estimators_ : list of CARTClassifier
        The trees one by one; ``estimators_[0].tree_`` can be drawn.
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the impurity that the splits remove.
    in_bag_ : int array of shape (n_estimators, n_rows)
        How often each sample holds each row; only with ``oob_score``.
    oob_decision_function_ : array of shape (n_rows, n_classes)
        Mean class shares by the trees that have not seen the row; NaN where all have. Only with ``oob_score``.
    oob_score_ : float
        Accuracy of those predictions, by the rows' weights. Only with ``oob_score``.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Notes
    -----
    The table is read once for all trees, which grow side by side; there is no ``n_jobs``. A sample depends on the order
    and number of the rows, so a row of weight 2 and the same row twice give different samples. Costs O(columns x rows x
    log rows) for sorting the table once, and for each tree O(rows x max_features x depth x log rows); on a table with
    categories or gaps O(rows x columns x depth). Source: Breiman (2001).
    """

    def __init__(
        self,
        n_estimators: int = 100,
        criterion: str | type[ClassCriterion] = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = "sqrt",
        bootstrap: bool = True,
        oob_score: bool = False,
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
        verbose: bool | int = 0,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Mean of the trees' class shares, of shape (n_rows, n_classes)."""
        return self._mean(X)

    def _predict_code(self, X: ArrayLike) -> Ints:
        values = self._values(X)
        # The shares of all rows are never held at once: with many classes they would take much memory.
        parts = [
            majority(sum_in_turn(of_trees) / self.forest_.n_roots) for _, of_trees in answers(self.forest_, values)
        ]
        return np.concatenate(parts)

    def _score_out_of_bag(self, table: TrainingTable, out_of_bag: OutOfBag) -> None:
        self.oob_decision_function_ = table.as_given(out_of_bag.mean.T, np.nan).T
        self.oob_score_ = oob_accuracy(out_of_bag, table.y)


class RandomForestRegressor(_RandomForest, TableRegressor):
    r"""Random forest for numbers: the mean of CART trees, grown as by :class:`RandomForestClassifier`.

    .. math:: \hat y(x) = \frac{1}{M} \sum_{m=1}^{M} \hat y^{(m)}(x)

    Parameters
    ----------
    n_estimators : int
        Number of trees, M.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        Of each tree; see :class:`~treekit.CARTRegressor`.
    max_features : int, float, "sqrt", "log2" or None
        Number of columns that each node draws. A third of them is customary (Hastie, Tibshirani and Friedman,
        2009, section 15.3); the default, all, is scikit-learn's, and makes this bagging.
    bootstrap, oob_score, random_state, verbose
        As for :class:`RandomForestClassifier`.

    Attributes
    ----------
    forest_ : Tree
        All trees as one structure with many roots.
    estimators_ : list of CARTRegressor
        The trees one by one.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the error that the splits remove.
    in_bag_ : int array of shape (n_estimators, n_rows)
        How often each sample holds each row; only with ``oob_score``.
    oob_prediction_ : array of shape (n_rows,)
        Mean prediction of the trees that have not seen the row; NaN where all have. Only with ``oob_score``.
    oob_score_ : float
        Coefficient of determination, R squared, of those predictions, by the rows' weights. Only with ``oob_score``.
    n_features_in_, feature_names_in_
        Number and names of the columns.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = 1.0,
        bootstrap: bool = True,
        oob_score: bool = False,
        random_state: Any = None,
        verbose: bool | int = 0,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.random_state = random_state
        self.verbose = verbose

    def predict(self, X: ArrayLike) -> Floats:
        """Mean prediction of the trees, of shape (n_rows,). Arguments and errors are those of
        :meth:`treekit.CARTRegressor.predict`."""
        return self._mean(X)[:, 0]

    def _score_out_of_bag(self, table: TrainingTable, out_of_bag: OutOfBag) -> None:
        row, mean = out_of_bag.rows_predicted(), out_of_bag.mean[:, 0]
        self.oob_prediction_ = table.as_given(mean, np.nan)
        self.oob_score_ = float(r2_score(table.y[row], mean[row], sample_weight=table.weight[row]))
