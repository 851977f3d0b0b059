"""What the estimators share: they read a table with its labels or targets, and predict from trees.

TreeClassifier and TreeRegressor grow one tree; TableClassifier and TableRegressor are the bases of the ensembles.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from treekit.models.transaction import unchanged_if_interrupted
from treekit.numeric import Array, Bools, Floats, Ints, Numbers
from treekit.reading.encoding import (
    Feature,
    all_numbers,
    as_frame,
    encode,
    learn_features,
    objects_if_mixed,
    plain_table,
    refuse_masked,
)
from treekit.reading.validation import read_labels, read_targets, refuse_missing, row_weights
from treekit.trees.structure import majority
from treekit.trees.tree import Tree

__all__ = ["TrainingTable", "TableClassifier", "TableRegressor", "TreeClassifier", "TreeRegressor"]


class TrainingTable(NamedTuple):
    """The rows to learn from: those of positive weight alone, because the others do not count, whatever they hold.

    Attributes
    ----------
    values : array of shape (n_features, n_rows)
        The table as numbers.
    features : tuple of Feature
        Its columns.
    y : array of shape (n_rows,)
        Targets, or codes of the labels: their places among ``classes_``.
    weight : array of shape (n_rows,)
        Weight of each row.
    given : booleans of shape (n_given,)
        Which of the rows given to ``fit`` these are.
    """

    values: Numbers
    features: tuple[Feature, ...]
    y: Array
    weight: Floats
    given: Bools

    def as_given(self, x: Array, elsewhere: float) -> Array:
        """x, with its last axis for the rows to learn from, for all rows; ``elsewhere`` at those of weight zero."""
        if self.given.all():
            return x
        spread = np.full((*x.shape[:-1], len(self.given)), elsewhere, dtype=x.dtype)
        spread[..., self.given] = x
        return spread


class TableEstimator(BaseEstimator):
    """Base of the estimators that learn from a table."""

    _features: tuple[Feature, ...]
    #: The columns in fit, where their names are not text.
    _other_names: pd.Index | None
    _numbers_are_categories = False
    _accepts_missing = True
    #: Whether growing reads one column after the other, so that each should lie in one stretch of memory.
    _reads_by_column = True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._accepts_missing
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _read_outcome(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[pd.DataFrame, Array, Floats]:
        """The training table as a frame, its targets or the codes of its labels, and the weights."""
        raise NotImplementedError

    def _training_table(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> TrainingTable:
        """The rows to learn from, as numbers."""
        frame, y, weight = self._read_outcome(X, y, sample_weight)
        given = weight > 0
        if not given.all():
            frame, y, weight = frame[given], y[given], weight[given]
        self._features = learn_features(frame, self._numbers_are_categories)
        if not self._accepts_missing:
            refuse_missing(frame)
        values = encode(frame, self._features)
        if self._reads_by_column:
            values = np.ascontiguousarray(values)
        return TrainingTable(values, self._features, y, weight, given)

    def _values(self, X: ArrayLike) -> Numbers:
        """The rows to predict, as numbers."""
        check_is_fitted(self)
        # Making a frame of a plain array would take longer than predicting one row. A masked array is not plain.
        is_plain = type(X) is np.ndarray and X.dtype in (np.float32, np.float64) and bool(np.isfinite(X).all())
        if is_plain and all_numbers(self._features):
            return validate_data(self, X, reset=False, dtype=None, ensure_all_finite=False).T
        frame = self._read(X, reset=False)
        if not self._accepts_missing:
            refuse_missing(frame)
        return encode(frame, self._features)

    def _read(self, X: ArrayLike, reset: bool) -> pd.DataFrame:
        """X as a data frame, with its shape and column names checked (or, with ``reset``, remembered)."""
        refuse_masked("X", X)
        if isinstance(X, pd.DataFrame):
            if len(X) == 0:
                raise ValueError("X is empty: 0 sample(s) while a minimum of 1 is required.")
            if X.shape[1] == 0:
                raise ValueError(f"X has no columns: 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
            if not X.columns.is_unique:
                twice = X.columns[X.columns.duplicated()][0]
                raise ValueError(f"X has more than one column named {twice!r}: rename all but one of them.")
            validate_data(self, X, reset=reset, skip_check_array=True)
            if reset:  # names that are text are scikit-learn's to compare
                self._other_names = None if hasattr(self, "feature_names_in_") else X.columns
            elif self._other_names is not None and not self._other_names.equals(X.columns):
                raise ValueError(
                    f"X must have the columns of the training table, {[*self._other_names]}; got {[*X.columns]}."
                )
            return plain_table(X)
        if reset:
            self._other_names = None
        # Where entries may be missing, infinite ones are refused later, by column and row: see `encode`.
        if isinstance(X, (list, tuple)):
            X = objects_if_mixed(X)
        array = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=not self._accepts_missing)
        # Without dtype=object pandas builds Arrow strings, the slowest step of a small fit.
        names = pd.Index([f"x{j}" for j in range(array.shape[1])], dtype=object)
        frame = as_frame(array, names)
        is_plain = array.dtype in (np.float32, np.float64)
        return frame if is_plain else plain_table(frame)


class TableClassifier(ClassifierMixin, TableEstimator):
    """Base of the classifiers."""

    classes_: Array

    def _read_outcome(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[pd.DataFrame, Ints, Floats]:
        frame = self._read(X, reset=True)
        label = read_labels(y, len(frame))
        weight = row_weights(sample_weight, len(frame))
        self.classes_, code = np.unique(label, return_inverse=True)
        return frame, code, weight

    def predict(self, X: ArrayLike) -> Array:
        """Class of the largest share in :meth:`predict_proba`; on a tie the first of ``classes_``.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has other columns than in ``fit``, or missing entries where it may not.
        """
        code = self._predict_code(X)
        return self.classes_[code]

    def _predict_code(self, X: ArrayLike) -> Ints:
        """Index in ``classes_`` of the class predicted for each row."""
        shares = self.predict_proba(X)
        return majority(shares)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Shares of the classes, of shape (n_rows, n_classes)."""
        raise NotImplementedError


class TableRegressor(RegressorMixin, TableEstimator):
    """Base of the regressors."""

    def _read_outcome(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[pd.DataFrame, Floats, Floats]:
        frame = self._read(X, reset=True)
        target = read_targets(y, len(frame))
        return frame, target, row_weights(sample_weight, len(frame))


class TreeEstimator(TableEstimator):
    """Base of the estimators that grow one tree; a subclass implements ``_grow``."""

    tree_: Tree

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)
            The attributes. Text and pandas categories are categories, booleans the numbers 0 and 1. Whether numbers
            are cut at thresholds or taken as categories, and whether entries may be missing, depends on the estimator.
        y : array of shape (n_rows,)
            The labels of a classifier, none of them missing; the finite numbers of a regressor.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; weight 2 is the same as the row twice, weight 0 the same as no row; less than 1e-18 of
            the sum of all weights may be lost in rounding. But limits on numbers of rows, the surrogates of CART and
            the samples of forests count a row once, whatever it weighs.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If the table is empty or has missing entries where it may not, if X and y differ in length, if y holds
            numbers that are not classes, if a parameter is out of its range, or if ``sample_weight`` does not fit; the
            message names the argument. After an error the estimator is as it was before.
        """
        with unchanged_if_interrupted(self):
            self.tree_ = self._grow(self._training_table(X, y, sample_weight))
        return self

    def _grow(self, table: TrainingTable) -> Tree:
        raise NotImplementedError

    def apply(self, X: ArrayLike) -> Ints:
        """Number of the node where each row ends, of shape (n_rows,). Arguments and errors are those of ``predict``."""
        values = self._values(X)
        return self.tree_.apply(values)

    def decision_path(self, X: ArrayLike) -> csr_matrix:
        """Which nodes each row passes, a sparse matrix of shape (n_rows, n_nodes). See ``predict``."""
        values = self._values(X)
        return self.tree_.decision_path(values)

    def get_depth(self) -> int:
        """Largest number of questions on a path."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves, empty ones included."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> Floats:
        """Share of each column in the impurity that the splits of the tree remove, of shape (n_features,)."""
        check_is_fitted(self)
        return self.tree_.importances()


class TreeClassifier(TreeEstimator, TableClassifier):
    """Base of the classifiers that grow one tree."""

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Shares of the classes where each row ends, of shape (n_rows, n_classes). See :meth:`predict`."""
        values = self._values(X)
        return self.tree_.mean_value(values)

    def _predict_code(self, X: ArrayLike) -> Ints:
        values = self._values(X)
        return self.tree_.predict_code(values)


class TreeRegressor(TreeEstimator, TableRegressor):
    """Base of the regressors that grow one tree."""

    def predict(self, X: ArrayLike) -> Floats:
        """Prediction of the leaf where each row ends, of shape (n_rows,).

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has other columns than in ``fit``.
        """
        values = self._values(X)
        return self.tree_.mean_value(values)[:, 0]
