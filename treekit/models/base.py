"""What the estimators share: they read a table and its labels or targets, and predict from trees.

TreeClassifier and TreeRegressor grow one tree; TableClassifier and TableRegressor are the bases of the ensembles.
"""

from __future__ import annotations

from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from treekit.models.transaction import unchanged_if_interrupted
from treekit.numeric import Array, Floats, Ints, Numbers
from treekit.reading.encoding import (
    Feature,
    as_frame,
    encode,
    learn_features,
    objects_if_mixed,
    plain_table,
)
from treekit.reading.validation import read_labels, read_targets, refuse_missing, row_weights
from treekit.trees.structure import majority
from treekit.trees.tree import Tree

__all__ = ["TableClassifier", "TableRegressor", "TreeClassifier", "TreeRegressor"]


class TableEstimator(BaseEstimator):
    """Base of the estimators that learn from a table; a subclass implements ``_fit``."""

    _features: tuple[Feature, ...]
    _numbers_are_categories = False
    _accepts_missing = True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._accepts_missing
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _learn(self, X: pd.DataFrame, weight: Floats) -> tuple[tuple[Feature, ...], Numbers]:
        """The columns of the training table, and the table as numbers."""
        self._features = learn_features(X, self._numbers_are_categories, weight)
        if not self._accepts_missing:
            refuse_missing(X)
        # Growing works column by column, so each column is made contiguous in memory.
        return self._features, np.ascontiguousarray(encode(X, self._features))

    def _values(self, X: ArrayLike) -> Numbers:
        """The rows to predict, as numbers."""
        check_is_fitted(self)
        frame = self._read(X, reset=False)
        if not self._accepts_missing:
            refuse_missing(frame)
        return encode(frame, self._features)

    def _read(self, X: ArrayLike, reset: bool) -> pd.DataFrame:
        """X as a data frame, with its shape and column names checked (or, with ``reset``, remembered)."""
        if isinstance(X, pd.DataFrame):
            if len(X) == 0:
                raise ValueError("X is empty: 0 sample(s) while a minimum of 1 is required.")
            if X.shape[1] == 0:
                raise ValueError(f"X has no columns: 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
            if not X.columns.is_unique:
                twice = X.columns[X.columns.duplicated()][0]
                raise ValueError(f"X has more than one column named {twice!r}: rename all but one of them.")
            validate_data(self, X, reset=reset, skip_check_array=True)
            return plain_table(X)
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

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)
            The attributes. Text and pandas categories are categories, booleans the numbers 0 and 1. Whether numbers
            are cut at thresholds or taken as categories, and whether entries may be missing, depends on the class.
        y : array of shape (n_rows,)
            The labels, none of them missing.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; weight 2 is the same as the row twice, weight 0 the same as no row; less than 1e-18 of
            the sum of all weights may be lost in rounding. Only where a parameter limits numbers of rows, and in the
            surrogates of CART, a row counts once, whatever it weighs.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If the table is empty or has missing entries where it may not, if X and y differ in length, if y holds
            numbers that are no classes, if a parameter is out of its range, or if ``sample_weight`` does not fit; the
            message names the argument. After an error the estimator is as it was before.
        """
        with unchanged_if_interrupted(self):
            frame, code, weight = self._examples(X, y, sample_weight)
            features, values = self._learn(frame, weight)
            self._fit(values, features, code, weight)
        return self

    def _examples(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[pd.DataFrame, Ints, Floats]:
        """The training table as a frame, its labels as codes (indices into ``classes_``, which is set), its weights."""
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
            If there was no ``fit`` yet.
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

    def _fit(self, values: Numbers, features: tuple[Feature, ...], y: Array, weight: Floats) -> None:
        raise NotImplementedError


class TableRegressor(RegressorMixin, TableEstimator):
    """Base of the regressors."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a table. Parameters and errors are those of a classifier, but y holds finite numbers."""
        with unchanged_if_interrupted(self):
            frame = self._read(X, reset=True)
            target = read_targets(y, len(frame))
            weight = row_weights(sample_weight, len(frame))
            features, values = self._learn(frame, weight)
            self._fit(values, features, target, weight)
        return self

    def _fit(self, values: Numbers, features: tuple[Feature, ...], y: Array, weight: Floats) -> None:
        raise NotImplementedError


class TreeEstimator(TableEstimator):
    """Base of the estimators that grow one tree; a subclass implements ``_grow``."""

    tree_: Tree

    def _fit(self, values: Numbers, features: tuple[Feature, ...], y: Array, weight: Floats) -> None:
        self.tree_ = self._grow(values, features, y, weight)

    def apply(self, X: ArrayLike) -> Ints:
        """Number of the node where each row ends, of shape (n_rows,). Arguments and errors are those of ``predict``."""
        values = self._values(X)
        return self.tree_.apply(values)

    def decision_path(self, X: ArrayLike) -> csr_matrix:
        """Which nodes each row passes, a sparse matrix of shape (n_rows, n_nodes). See ``predict``."""
        values = self._values(X)
        return self.tree_.decision_path(values)

    def get_depth(self) -> int:
        """Largest number of tests on a path."""
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

    def _grow(self, values: Numbers, features: tuple[Feature, ...], y: Array, weight: Floats) -> Tree:
        raise NotImplementedError


class TreeClassifier(TreeEstimator, TableClassifier):
    """Base of the classifiers that grow one tree."""

    def _examples(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[pd.DataFrame, Ints, Floats]:
        """The rows of positive weight: the others must not even contribute categories. Their classes remain known."""
        frame, code, weight = super()._examples(X, y, sample_weight)
        present = weight > 0
        return (frame, code, weight) if present.all() else (frame[present], code[present], weight[present])

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
            If the tree is not grown yet.
        ValueError
            If X has other columns than in ``fit``.
        """
        values = self._values(X)
        return self.tree_.mean_value(values)[:, 0]
