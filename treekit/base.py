"""What all tree classifiers share: reading the table, predicting, showing."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from treekit.measures import row_weights
from treekit.table import encode, learn_features
from treekit.tree import Tree

__all__ = ["TreeClassifier"]


class TreeClassifier(ClassifierMixin, BaseEstimator):
    """Base of the classifiers that grow one tree; a subclass says in ``_grow`` how."""

    tree_: Tree
    classes_: NDArray

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> TreeClassifier:
        """Grow the tree.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)
            The attributes: text, numbers, booleans or pandas categories, none of them missing. A categorical
            column gets one branch for each of its categories, any other for each of its distinct values.
        y : array of shape (n_rows,)
            The labels, none of them missing.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; weight 2 is the same as the row twice, weight 0 the same as no row.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If the table is empty or has missing entries, if X and y differ in length, if y holds numbers that are
            no classes, or if ``sample_weight`` does not fit; the message names the argument.
        """
        frame = self._read(X, reset=True)
        label = _read_labels(y, len(frame))
        weight = row_weights(sample_weight, len(frame))
        self.classes_, code = np.unique(label, return_inverse=True)
        features = learn_features(frame)
        self.tree_ = self._grow(encode(frame, features), features, code, weight)
        return self

    def _grow(self, codes: NDArray, features: tuple, label: NDArray, weight: NDArray) -> Tree:
        raise NotImplementedError

    def predict(self, X: ArrayLike) -> NDArray:
        """Most frequent training label where each row ends; on a tie the first of ``classes_``.

        A row whose value the training rows did not have stops at the node that asks for it.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)

        Raises
        ------
        NotFittedError
            If the tree is not grown yet.
        ValueError
            If X has other columns than in ``fit``, or missing entries.
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Shares of the classes where each row ends, of shape (n_rows, n_classes). See :meth:`predict`."""
        codes = self._codes(X)
        return self.tree_.predict(codes)

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Number of the node where each row ends, of shape (n_rows,). See :meth:`predict`."""
        codes = self._codes(X)
        return self.tree_.apply(codes)

    def decision_path(self, X: ArrayLike) -> csr_matrix:
        """Which nodes each row passes, a sparse matrix of shape (n_rows, n_nodes). See :meth:`predict`."""
        codes = self._codes(X)
        return self.tree_.decision_path(codes)

    def get_depth(self) -> int:
        """Largest number of questions on a path."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves, empty ones included."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def _codes(self, X: ArrayLike) -> NDArray[np.int32]:
        check_is_fitted(self)
        return encode(self._read(X, reset=False), self.tree_.features)

    def _read(self, X: ArrayLike, reset: bool) -> pd.DataFrame:
        """X as a data frame, with its shape and column names checked (or, with ``reset``, remembered)."""
        if isinstance(X, pd.DataFrame):
            if len(X) == 0:
                raise ValueError("X is empty: 0 sample(s) while a minimum of 1 is required.")
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        array = validate_data(self, X, reset=reset, dtype=None)
        return pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])])


def _read_labels(y: ArrayLike, n_rows: int) -> NDArray:
    """y as an array of labels; errors name it."""
    if y is None:
        raise ValueError("This classifier requires y to be passed, but the target y is None.")
    if isinstance(y, (pd.Series, pd.Categorical)):
        y = np.asarray(y)
    label = column_or_1d(y, warn=True)
    if len(label) != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has {len(label)}.")
    missing = pd.isna(label)
    if missing.any():
        raise ValueError(f"Input y contains NaN or None, first in row {missing.argmax()}; drop rows without a label.")
    if label.dtype.kind == "f" and not np.isfinite(label).all():
        raise ValueError("Input y contains infinity.")
    try:
        check_classification_targets(label)
        np.unique(label)
    except TypeError as error:
        kinds = ", ".join(sorted({type(value).__name__ for value in label}))
        raise TypeError(f"y mixes {kinds}, which have no common order; make the labels all text or all numbers.") from error
    return label
