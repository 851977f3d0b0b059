"""What the estimators share: reading a table and its labels or targets, asking a tree, checking parameters.

Of one tree: TreeClassifier, TreeRegressor. Of several, which share the table: TableClassifier, TableRegressor.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from treekit.measures import row_weights
from treekit.table import Feature, encode, learn_features
from treekit.tree import Tree, majority

__all__ = ["TableClassifier", "TableRegressor", "TreeClassifier", "TreeRegressor"]


class TableEstimator(BaseEstimator):
    """Base of the estimators that learn from a table; a subclass says in ``_fit`` how."""

    _features: tuple[Feature, ...]
    _numbers_are_categories = False
    _accepts_missing = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._accepts_missing
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _learn(self, X: pd.DataFrame) -> tuple[tuple[Feature, ...], NDArray]:
        """The columns of the training table, and the table as numbers."""
        self._features = learn_features(X, self._numbers_are_categories)
        if not self._accepts_missing:
            _refuse_missing(X)
        # Growing goes down the columns: each in one stretch of memory.
        return self._features, np.ascontiguousarray(encode(X, self._features))

    def _values(self, X: ArrayLike) -> NDArray:
        """Rows to ask about, as numbers."""
        check_is_fitted(self)
        frame = self._read(X, reset=False)
        if not self._accepts_missing:
            _refuse_missing(frame)
        return encode(frame, self._features)

    def _read(self, X: ArrayLike, reset: bool) -> pd.DataFrame:
        """X as a data frame, with its shape and column names checked (or, with ``reset``, remembered)."""
        if isinstance(X, pd.DataFrame):
            if len(X) == 0:
                raise ValueError("X is empty: 0 sample(s) while a minimum of 1 is required.")
            if X.shape[1] == 0:
                raise ValueError(f"X has no columns: 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X.infer_objects()
        # Where entries may be missing, those that are infinite are refused later, by column and row: see `encode`.
        array = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=not self._accepts_missing)
        # Left to itself, pandas makes the names text of its own kind, which takes longer than all the rest.
        names = pd.Index([f"x{j}" for j in range(array.shape[1])], dtype=object)
        frame = pd.DataFrame(array, columns=names, copy=False)
        return frame.infer_objects() if array.dtype == object else frame


class TableClassifier(ClassifierMixin, TableEstimator):
    """Base of the classifiers."""

    classes_: NDArray

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)
            The attributes. Text and pandas categories are categories, booleans the numbers 0 and 1. What numbers are,
            and whether entries may be missing, the class says.
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
            If the table is empty or has missing entries where it may not, if X and y differ in length, if y holds
            numbers that are no classes, if a parameter is out of its range, or if ``sample_weight`` does not fit; the
            message names the argument.
        """
        frame, code, weight = self._examples(X, y, sample_weight)
        features, values = self._learn(frame)
        self._fit(values, features, code, weight)
        return self

    def _examples(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[pd.DataFrame, NDArray[np.intp], NDArray[np.float64]]:
        """The training table as a frame, its labels as codes (places in ``classes_``, which is set), its weights."""
        frame = self._read(X, reset=True)
        label = read_labels(y, len(frame))
        weight = row_weights(sample_weight, len(frame))
        self.classes_, code = np.unique(label, return_inverse=True)
        return frame, code, weight

    def predict(self, X: ArrayLike) -> NDArray:
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

    def _predict_code(self, X: ArrayLike) -> NDArray[np.intp]:
        """Place in ``classes_`` of what is predicted for each row."""
        shares = self.predict_proba(X)
        return majority(shares)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Shares of the classes, of shape (n_rows, n_classes)."""
        raise NotImplementedError

    def _fit(self, values: NDArray, features: tuple[Feature, ...], y: NDArray, weight: NDArray) -> None:
        raise NotImplementedError


class TableRegressor(RegressorMixin, TableEstimator):
    """Base of the regressors."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a table. Parameters and errors are those of a classifier, but y holds finite numbers."""
        frame = self._read(X, reset=True)
        target = read_targets(y, len(frame))
        weight = row_weights(sample_weight, len(frame))
        features, values = self._learn(frame)
        self._fit(values, features, target, weight)
        return self

    def _fit(self, values: NDArray, features: tuple[Feature, ...], y: NDArray, weight: NDArray) -> None:
        raise NotImplementedError


class TreeEstimator(TableEstimator):
    """Base of the estimators that grow one tree; a subclass says in ``_grow`` how."""

    tree_: Tree

    def _fit(self, values: NDArray, features: tuple[Feature, ...], y: NDArray, weight: NDArray) -> None:
        self.tree_ = self._grow(values, features, y, weight)

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
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
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in the impurity that the splits of the tree take away, of shape (n_features,)."""
        check_is_fitted(self)
        return self.tree_.importances()

    def _grow(self, values: NDArray, features: tuple[Feature, ...], y: NDArray, weight: NDArray) -> Tree:
        raise NotImplementedError


class TreeClassifier(TreeEstimator, TableClassifier):
    """Base of the classifiers that grow one tree."""

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Shares of the classes where each row ends, of shape (n_rows, n_classes). See :meth:`predict`."""
        values = self._values(X)
        return self.tree_.predict(values)

    def _predict_code(self, X: ArrayLike) -> NDArray[np.intp]:
        values = self._values(X)
        return self.tree_.predict_code(values)


class TreeRegressor(TreeEstimator, TableRegressor):
    """Base of the regressors that grow one tree."""

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """What the leaf says in which each row ends, of shape (n_rows,).

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
        return self.tree_.predict(values)[:, 0]


def check_number(
    estimator: BaseEstimator, name: str, low: float, whole: bool = False, none: bool = False, high: float = np.inf
) -> None:
    """Refuse a parameter that is not a number of its kind from ``low`` to ``high`` (or None, where that is allowed)."""
    value: Any = getattr(estimator, name)
    kind: Any = Integral if whole else Real
    if none and value is None:
        return
    if not isinstance(value, kind) or isinstance(value, bool) or not low <= float(value) <= high or np.isinf(value):
        wanted = f"{'None or ' if none else ''}a {'whole ' if whole else ''}number, {low:g} or more"
        upper = "" if high == np.inf else f" and at most {high:g}"
        raise ValueError(f"{name} must be {wanted}{upper}; got {value!r}.")


def check_choice(estimator: BaseEstimator, name: str, choices: Iterable[object]) -> None:
    """Refuse a parameter that is none of the choices."""
    value = getattr(estimator, name)
    if value not in list(choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")


def _refuse_missing(X: pd.DataFrame) -> None:
    for name, column in X.items():
        missing = column.isna()
        if missing.any():
            raise ValueError(
                f"Input X contains NaN or None in column {name!r}, first in row {missing.argmax()}; this method has no "
                "rule for missing values: fill or drop those rows."
            )


def read_targets(y: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """y as an array of finite numbers; errors name it."""
    if y is None:
        raise ValueError("This regressor requires y to be passed, but the target y is None.")
    target = column_or_1d(y, warn=True)
    _check_length(target, n_rows)
    if target.dtype.kind in "mM":
        raise ValueError("y holds dates or times; make them numbers first, such as days since a start.")
    try:
        target = target.astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold numbers; got {target.dtype} with {target[0]!r}.") from error
    if not np.isfinite(target).all():
        raise ValueError(f"Input y contains NaN or infinity, first in row {np.isfinite(target).argmin()}.")
    spread = target.max() / 2 - target.min() / 2
    if spread > 0 and not 1e-100 < spread < 1e100:
        raise ValueError(
            f"y spreads over {2 * spread:g}, whose squares leave the range of floats: multiply y by a constant."
        )
    return target


def _check_length(y: NDArray, n_rows: int) -> None:
    if len(y) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has {len(y)}."
        )


def read_labels(y: ArrayLike, n_rows: int) -> NDArray:
    """y as an array of labels; errors name it."""
    if y is None:
        raise ValueError("This classifier requires y to be passed, but the target y is None.")
    if isinstance(y, (pd.Series, pd.Categorical)):
        y = np.asarray(y)
    label = column_or_1d(y, warn=True)
    if label.dtype == object:
        label = np.asarray(pd.Series(label).infer_objects())
    _check_length(label, n_rows)
    missing = pd.isna(label)
    if missing.any():
        raise ValueError(f"Input y contains NaN or None, first in row {missing.argmax()}; drop rows without a label.")
    if label.dtype.kind == "f" and not np.isfinite(label).all():
        raise ValueError("Input y contains infinity.")
    try:
        np.unique(label)
        check_classification_targets(label)
    except TypeError as error:
        kinds = ", ".join(sorted({type(value).__name__ for value in label}))
        raise TypeError(
            f"y mixes {kinds}, which have no common order; make the labels all text or all numbers."
        ) from error
    return label
