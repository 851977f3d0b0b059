"""Columns of values as small integers: what a tree is grown on, and what it is asked with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["Feature", "learn_features", "encode"]

#: Code of a value that the training rows did not have.
UNSEEN = -1


@dataclass(frozen=True, eq=False)
class Feature:
    """A column of the training table.

    Attributes
    ----------
    name : str
        Name of the column, or x0, x1, ... where columns have no names.
    categories : array
        Its values; a row with ``categories[v]`` takes branch v of a node that asks for this column.
    """

    name: str
    categories: NDArray


def learn_features(X: pd.DataFrame) -> tuple[Feature, ...]:
    """The columns of X: a categorical column keeps its own values and their order, any other is sorted.

    Raises ValueError where an entry is missing and TypeError where a column mixes kinds that can't be sorted.
    """
    return tuple(Feature(str(name), _categories(name, column)) for name, column in X.items())


def encode(X: pd.DataFrame, features: tuple[Feature, ...]) -> NDArray[np.int32]:
    """X as codes of shape (n_features, n_rows), a column of X in one stretch of memory; UNSEEN for a new value.

    Raises ValueError where an entry is missing. Takes time linear in the number of entries.
    """
    codes = np.empty((len(features), len(X)), dtype=np.int32)
    for j, (feature, (name, column)) in enumerate(zip(features, X.items())):
        _refuse_missing(name, column)
        codes[j] = pd.Index(feature.categories).get_indexer(pd.Index(column))
    return codes


def _categories(name: object, column: pd.Series) -> NDArray:
    """Distinct values of a column in the order of its branches."""
    _refuse_missing(name, column)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.categories.to_numpy()
    try:
        return np.unique(column.to_numpy())
    except TypeError as error:
        kinds = ", ".join(sorted({type(value).__name__ for value in column}))
        raise TypeError(
            f"X: the argument must be a table with a string, or else a number, in every row of a column; "
            f"column {name!r} mixes {kinds}."
        ) from error


def _refuse_missing(name: object, column: pd.Series) -> None:
    missing = column.isna()
    if missing.any():
        raise ValueError(
            f"Input X contains NaN or None in column {name!r}, first in row {missing.argmax()}; fill or drop those rows."
        )
