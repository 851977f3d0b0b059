"""Checks of what users pass in: parameters, labels, targets, weights."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from treekit.numeric import Array, Floats, Ints
from treekit.reading.encoding import NUMBERS, Feature, objects_if_mixed, refuse_masked

__all__ = [
    "row_weights",
    "class_factors",
    "check_number",
    "check_choice",
    "refuse_missing",
    "read_targets",
    "read_labels",
    "generator",
    "count_features",
    "read_signs",
]


def row_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    """Weights of the rows as floats, ones by default; errors name the argument."""
    if sample_weight is None:
        return np.ones(n_rows)
    refuse_masked("sample_weight", sample_weight)
    try:
        given = np.asarray(sample_weight)
        of_numbers = given.dtype == object and all(isinstance(value, NUMBERS) for value in given.flat)
        if given.dtype.kind not in "biuf" and not of_numbers:
            raise TypeError(given.dtype)
        weight = given.astype(float)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError("sample_weight must hold numbers, none of them too large for a float.") from error
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must have one entry per row, shape ({n_rows},); got shape {weight.shape}.")
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise ValueError("sample_weight must be finite and not negative.")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if total == 0:
        raise ValueError("sample_weight is zero everywhere: at least one row must count.")
    if not 1e-100 < total < 1e100:
        raise ValueError(f"sample_weight sums to {total:g}, too far from 1 for floats: multiply it by a constant.")
    return weight


def class_factors(class_weight: dict[Any, float] | str | None, label: Array) -> Floats:
    """What the weight of each row is multiplied by for its class; errors name ``class_weight``."""
    if class_weight is None:
        return np.ones(len(label))
    other = () if isinstance(class_weight, str) else [class_weight]
    given = class_weight.values() if isinstance(class_weight, dict) else other
    if not all(isinstance(value, (int, float, np.number)) and 0 <= value < 1e100 for value in given):
        raise ValueError(
            f"class_weight must be None, 'balanced', or numbers from 0 to 1e100 by class; got {class_weight!r}."
        )
    factor = compute_sample_weight(class_weight, label)
    if not factor.any():
        raise ValueError(f"class_weight is zero for every class: at least one must count; got {class_weight!r}.")
    return factor


def check_number(
    estimator: BaseEstimator, name: str, low: float, whole: bool = False, none: bool = False, high: float = np.inf
) -> None:
    """Refuse a parameter that is not a number of its kind from ``low`` to ``high`` (or None, where that is allowed)."""
    value: Any = getattr(estimator, name)
    kind = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    if none and value is None:
        return
    # Numbers above 2**1000 can't be made floats, or only just.
    if not isinstance(value, kind) or isinstance(value, bool) or not low <= value <= min(high, 2**1000):
        wanted = f"{'None or ' if none else ''}a {'whole ' if whole else ''}number, {low:g} or more"
        upper = "" if high == np.inf else f" and at most {high:g}"
        raise ValueError(f"{name} must be {wanted}{upper}; got {value!r}.")


def check_choice(estimator: BaseEstimator, name: str, choices: Iterable[object]) -> None:
    """Refuse a parameter that is none of the choices."""
    value = getattr(estimator, name)
    if not (isinstance(value, Hashable) and value in set(choices)):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")


def refuse_missing(X: pd.DataFrame) -> None:
    """Refuse a table with missing entries."""
    for name, column in X.items():
        missing = column.isna()
        if missing.any():
            raise ValueError(
                f"Input X contains NaN or None in column {name!r}, first in row {missing.argmax()}; this method has no "
                "rule for missing values: fill or drop those rows."
            )


def read_targets(y: ArrayLike, n_rows: int) -> Floats:
    """y as an array of finite numbers; errors name it."""
    if y is None:
        raise ValueError("This regressor requires y to be passed, but the target y is None.")
    refuse_masked("y", y)
    target = column_or_1d(y, warn=True)
    _check_length(target, n_rows)
    if target.dtype.kind in "mM":
        raise ValueError("y holds dates or times; make them numbers first, such as days since a start.")
    try:
        if isinstance(target[0], str):
            raise TypeError("text")
        target = target.astype(float)
    except OverflowError as error:
        raise ValueError("y holds whole numbers too large for a float: divide y by a constant.") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold numbers; got {target.dtype} with {target[0]!r}.") from error
    if not np.isfinite(target).all():
        raise ValueError(f"Input y contains NaN or infinity, first in row {np.isfinite(target).argmin()}.")
    spread = target.max() / 2 - target.min() / 2
    if spread > 0 and not 1e-100 < spread < 1e100:
        width = f"{2 * spread:g}" if spread < 1e307 else "more than 1e307"
        raise ValueError(f"y spreads over {width}, whose squares leave the range of floats: multiply y by a constant.")
    return target


def _check_length(y: Array, n_rows: int) -> None:
    if len(y) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has {len(y)}."
        )


def read_labels(y: ArrayLike, n_rows: int) -> Array:
    """y as an array of labels; errors name it. A number and a text are never taken for the same label."""
    if y is None:
        raise ValueError("This classifier requires y to be passed, but the target y is None.")
    refuse_masked("y", y)
    label = column_or_1d(np.asarray(y) if isinstance(y, pd.Categorical) else objects_if_mixed(y), warn=True)
    _check_length(label, n_rows)
    missing = pd.isna(label)
    if missing.any():
        raise ValueError(f"Input y contains NaN or None, first in row {missing.argmax()}; drop rows without a label.")
    if label.dtype.kind in "OS":
        label = _plain_labels(label)
    if label.dtype.kind == "f" and not np.isfinite(label).all():
        raise ValueError("Input y contains infinity; drop those rows, or make the labels text.")
    try:
        np.unique(label)
        check_classification_targets(label)
    except TypeError as error:
        kinds = ", ".join(sorted({type(value).__name__ for value in label}))
        raise TypeError(
            f"y mixes {kinds}, which have no common order; make the labels all text or all numbers."
        ) from error
    return label


def _plain_labels(label: Array) -> Array:
    """Labels that are Python objects as NumPy's own kinds of number or text, where they are all of one kind."""
    kinds = set(map(type, label))
    others = sorted(kind.__name__ for kind in kinds if not issubclass(kind, (str, *NUMBERS)))
    if others:
        raise TypeError(f"Unknown label type: y holds {', '.join(others)}; make the labels text or whole numbers.")
    try:
        return label if kinds == {str} else np.asarray(pd.Series(label).infer_objects())
    except OverflowError as error:
        raise ValueError("y holds whole numbers too large for a float; make the labels text.") from error


def generator(random_state: Any) -> np.random.Generator:
    """A generator seeded by scikit-learn's kind of random_state: it draws the same numbers on every platform."""
    try:
        seed = check_random_state(random_state).randint(2**31)
    except (TypeError, ValueError) as error:
        raise ValueError(f"random_state: {error}") from error
    return np.random.default_rng(seed)


def count_features(max_features: float | str | None, n_features: int) -> int:
    """Number of columns that a node draws, at least one."""
    if max_features is None:
        return n_features
    named = {"sqrt": np.sqrt, "log2": np.log2}
    if isinstance(max_features, str) and max_features in named:
        return max(1, int(named[max_features](n_features)))
    if isinstance(max_features, Integral) and not isinstance(max_features, bool) and 1 <= max_features <= n_features:
        return int(max_features)
    if isinstance(max_features, Real) and not isinstance(max_features, Integral) and 0 < max_features <= 1:
        return max(1, int(max_features * n_features))
    raise ValueError(
        f"max_features must be None, 'sqrt', 'log2', a whole number from 1 to {n_features}, the number of columns, or "
        f"a share above 0 and at most 1; got {max_features!r}."
    )


def read_signs(monotonic_cst: Any, features: tuple[Feature, ...]) -> Ints | None:
    """The sign of each column: 1 where it may only raise the prediction, -1 where it may only lower it, else 0.

    None where no column is constrained; errors name ``monotonic_cst``.
    """
    if monotonic_cst is None:
        return None
    names = [feature.name for feature in features]
    if isinstance(monotonic_cst, dict):
        unknown = [name for name in monotonic_cst if name not in names]
        if unknown:
            raise ValueError(f"monotonic_cst names the column {unknown[0]!r}, which X lacks; X has {names}.")
        monotonic_cst = [monotonic_cst.get(name, 0) for name in names]
    given = np.asarray(monotonic_cst, dtype=object)
    if given.shape != (len(names),) or not all(sign in (-1, 0, 1) for sign in given):
        raise ValueError(
            f"monotonic_cst must hold -1, 0 or 1 for each of the {len(names)} columns of X, or be a dict by their "
            f"names; got {monotonic_cst!r}."
        )
    sign = given.astype(np.intp)
    for feature, s in zip(features, sign):
        if s and not feature.is_numeric:
            raise ValueError(f"monotonic_cst of {feature.name!r} must be 0: its values are categories, without order.")
    return sign if sign.any() else None
