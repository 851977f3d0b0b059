"""A table as numbers: what a tree is grown on, and what it is asked with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["Feature", "learn_features", "encode", "MISSING", "UNSEEN"]

#: Code of a missing category; a missing number is NaN.
MISSING = -1

#: Code of a category that the training rows did not have.
UNSEEN = -2


@dataclass(frozen=True, eq=False)
class Feature:
    """A column of the training table.

    Attributes
    ----------
    name : str
        Name of the column, or x0, x1, ... where columns have no names.
    categories : array or None
        Its values, if it is a column of categories: a row with ``categories[v]`` has code v. None for numbers.
    """

    name: str
    categories: NDArray | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers, which a node asks for with a threshold."""
        return self.categories is None

    @property
    def n_values(self) -> int:
        """Number of categories; 0 for numbers."""
        return 0 if self.categories is None else len(self.categories)


def learn_features(X: pd.DataFrame, numbers_are_categories: bool = False) -> tuple[Feature, ...]:
    """The columns of X: a categorical column keeps its own values and their order, any other one is sorted.

    Columns of numbers are numeric unless ``numbers_are_categories``. Raises TypeError where a column mixes kinds.
    """
    return tuple(
        Feature(
            str(name), None if _is_numeric(kind) and not numbers_are_categories else _categories(name, X.iloc[:, j])
        )
        for j, (name, kind) in enumerate(zip(X.columns, X.dtypes))
    )


def encode(X: pd.DataFrame, features: tuple[Feature, ...]) -> NDArray:
    """X as an array of shape (n_features, n_rows).

    Categories become their codes, MISSING or UNSEEN; numbers stay what they are. The array is float32 where every
    column of numbers is, float64 otherwise, and of the smallest integers that do when there are only categories. Takes
    linear time. A table of floats of one kind is not copied: the array is then a view of it.
    """
    if all(feature.is_numeric for feature in features) and _is_one_kind_of_float(X):
        values = X.to_numpy().T
        # Each column is looked at only where something may be infinite; a missing number makes both ends NaN.
        if not -np.inf < values.min(initial=0) <= values.max(initial=0) < np.inf:
            for row, name in zip(values, X.columns):
                _refuse_infinite(name, row)
        return values
    numeric = [column.dtype for feature, (_, column) in zip(features, X.items()) if feature.is_numeric]
    if numeric:
        kind = np.dtype(np.float32 if all(d == np.float32 for d in numeric) else np.float64)
    else:
        kind = np.min_scalar_type(min(-max(feature.n_values for feature in features), MISSING, UNSEEN))
    values = np.empty((len(features), len(X)), dtype=kind)
    for row, feature, (name, column) in zip(values, features, X.items()):
        _refuse_kind(name, column)
        row[:] = _numbers(name, column) if feature.categories is None else _codes(name, column, feature.categories)
    return values


def _codes(name: object, column: pd.Series, categories: NDArray) -> NDArray[np.intp]:
    codes = pd.Index(categories).get_indexer(pd.Index(column))
    unknown = np.flatnonzero(codes < 0)
    is_missing = column.iloc[unknown].isna().to_numpy()
    if not is_missing.all():
        _refuse_other_kind(name, column, categories)
    codes[unknown] = np.where(is_missing, MISSING, UNSEEN)
    return codes


def _refuse_kind(name: object, column: pd.Series) -> None:
    """Dates have no distance that a threshold could use as it is, and complex numbers no order."""
    if column.dtype.kind in "mM":
        raise ValueError(
            f"X: column {name!r} holds dates or times; make them numbers first, such as days since a start."
        )
    if column.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X, column {name!r}.")


def _refuse_other_kind(name: object, column: pd.Series, categories: NDArray) -> None:
    """A text '1' and a number 1 are not the same category; taking one for the other would go unseen."""
    known = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column.dropna()
    kinds = [pd.api.types.is_numeric_dtype(pd.Index(values).dtype) for values in (categories, known)]
    if len(categories) and len(known) and kinds[0] != kinds[1]:
        in_fit, now = ("numbers" if is_numeric else "text" for is_numeric in kinds)
        raise ValueError(f"X: column {name!r} held {in_fit} in fit and holds {now} now.")


def _is_numeric(kind: Any) -> bool:
    return pd.api.types.is_numeric_dtype(kind) and not isinstance(kind, pd.CategoricalDtype)


def _is_one_kind_of_float(X: pd.DataFrame) -> bool:
    kinds = set(X.dtypes)
    return len(kinds) == 1 and kinds <= {np.dtype(np.float32), np.dtype(np.float64)}


def _numbers(name: object, column: pd.Series) -> NDArray:
    try:
        numbers = column.to_numpy(dtype=np.float32 if column.dtype == np.float32 else np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X: column {name!r} held numbers in fit; it can't be read as numbers now.") from error
    if column.dtype.kind in "iu" and len(column) and max(abs(int(column.min())), abs(int(column.max()))) > 2**53:
        raise ValueError(
            f"X: column {name!r} holds whole numbers above 2**53, which run together as floats: subtract an offset."
        )
    _refuse_infinite(name, numbers)
    return numbers


def _refuse_infinite(name: object, numbers: NDArray) -> None:
    infinite = np.isinf(numbers)
    if infinite.any():
        raise ValueError(
            f"Input X contains infinity in column {name!r}, first in row {infinite.argmax()}; a threshold needs finite "
            "numbers: clip them, or make them missing."
        )


def _categories(name: object, column: pd.Series) -> NDArray:
    """Distinct values of a column in the order of its branches."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.categories.to_numpy()
    try:
        # Strings are dear to compare: only the distinct ones are sorted.
        return np.unique(column.drop_duplicates().dropna().to_numpy())
    except TypeError as error:
        kinds = ", ".join(sorted({type(value).__name__ for value in column.dropna()}))
        raise TypeError(
            f"X: the argument must be a table with a string, or else a number, in every row of a column; "
            f"column {name!r} mixes {kinds}."
        ) from error
