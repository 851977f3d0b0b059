"""A table as numbers: what a tree is grown on, and what it predicts from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from treekit.numeric import Array, Ints, Numbers

__all__ = [
    "Feature",
    "all_numbers",
    "learn_features",
    "encode",
    "encode_table",
    "match_labels",
    "plain_table",
    "MISSING",
    "UNSEEN",
]

#: Code of a missing category; a missing number is NaN.
MISSING = -1

#: Code of a category that the training rows did not have.
UNSEEN = -2

#: Types of Python objects that are numbers.
NUMBERS = (int, float, np.integer, np.floating, np.bool_)

WANTED = "X: the argument must be a table, each column of which holds a string or else a number in every row"


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
    categories: Array | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers, which a node cuts at a threshold."""
        return self.categories is None

    @property
    def n_values(self) -> int:
        """Number of categories; 0 for numbers."""
        return 0 if self.categories is None else len(self.categories)

    @cached_property
    def holds_or(self) -> bool:
        """Whether a category holds the word " or ", which joins those of one branch."""
        return self.categories is not None and any(" or " in str(category) for category in self.categories.tolist())


def all_numbers(features: Iterable[Feature]) -> bool:
    """Whether all columns hold numbers."""
    return all(feature.is_numeric for feature in features)


def learn_features(X: pd.DataFrame, numbers_are_categories: bool = False) -> tuple[Feature, ...]:
    """The columns of X: numeric, or categorical with the values that the column holds.

    Columns of numbers are numeric unless ``numbers_are_categories``, even of Python's own numbers. The categories
    of a pandas categorical column keep their order, those of any other column are sorted. Raises TypeError where a
    column mixes kinds or holds neither text nor numbers.
    """
    if _is_one_kind_of_float(X) and not numbers_are_categories:
        return tuple(Feature(str(name)) for name in X)
    return tuple(_learn_feature(name, column, numbers_are_categories) for name, column in X.items())


def _learn_feature(name: object, column: pd.Series, numbers_are_categories: bool) -> Feature:
    column = _plain(name, column)
    is_numeric = _holds_numbers(column) and not numbers_are_categories
    return Feature(str(name), None if is_numeric else _categories(name, column))


def encode(X: pd.DataFrame, features: tuple[Feature, ...]) -> Numbers:
    """X as an array of shape (n_features, n_rows).

    Categories become their codes, MISSING or UNSEEN; numbers stay as they are. Values that compare equal are the same
    category: True is 1 and 1.0. A column that held numbers in fit and now holds text, or the reverse, is an error. The
    array is float32 where every column of numbers is, float64 otherwise, and of the smallest sufficient integers when
    there are only categories. Takes linear time. A table of floats of one kind is not copied: the array is then a view.

    pandas and NumPy set two limits: whole numbers above 2**53 are no longer told apart where they come as floats, as in
    a list with a fraction, and text must be such as UTF-8 can hold.
    """
    if all_numbers(features) and _is_one_kind_of_float(X):
        values = X.to_numpy().T
        # Each column is looked at only where something may be infinite; a missing number makes both ends NaN.
        if not -np.inf < values.min(initial=0) <= values.max(initial=0) < np.inf:
            for row, name in zip(values, X.columns):
                _refuse_infinite(name, row)
        return values
    columns = [(name, _plain(name, column)) for name, column in X.items()]
    numeric = [column.dtype for feature, (_, column) in zip(features, columns) if feature.is_numeric]
    if numeric:
        kind = np.dtype(np.float32 if all(d == np.float32 for d in numeric) else np.float64)
    else:
        kind = np.min_scalar_type(min(-max(feature.n_values for feature in features), MISSING, UNSEEN))
    values = np.empty((len(features), len(X)), dtype=kind)
    for row, feature, (name, column) in zip(values, features, columns):
        row[:] = _numbers(name, column) if feature.categories is None else _codes(name, column, feature.categories)
    return values


def encode_table(X: ArrayLike, features: tuple[Feature, ...]) -> Numbers:
    """A table of shape (n_rows, n_features), with the columns of the training table, as :func:`encode` gives it.

    Raises ValueError where X is empty or has other columns.
    """
    names = [feature.name for feature in features]
    refuse_masked("X", X)
    table = X if isinstance(X, pd.DataFrame) else objects_if_mixed(X)
    if table.ndim != 2:
        raise ValueError(f"X must be a table of shape (n_rows, n_features); got {type(X).__name__}.")
    frame = table if isinstance(table, pd.DataFrame) else as_frame(table)
    if frame.shape[1] != len(names):
        raise ValueError(f"X must have the {len(names)} columns of the training table; got {frame.shape[1]}.")
    if len(frame) == 0:
        raise ValueError("X is empty: give at least one row.")
    # A tree grown on an array calls its columns x0, x1, ...; a frame made of an array has the numbers alone.
    is_unnamed = names == [f"x{j}" for j in range(len(names))] and isinstance(frame.columns, pd.RangeIndex)
    if isinstance(X, pd.DataFrame) and not is_unnamed and [str(name) for name in frame] != names:
        raise ValueError(f"X must have the columns of the training table, {names}; got {[*frame]}.")
    return encode(frame, features)


def plain_table(X: pd.DataFrame) -> pd.DataFrame:
    """X with every column as text, categories or numbers that NumPy can compare; an error for anything else.

    Numbers that are Python objects become floats, and half or foreign floats native ones; the rest is not copied.
    """
    columns = [column for _, column in X.items()]
    plain = [_plain(name, column) for name, column in zip(X.columns, columns)]
    if all(new is old for new, old in zip(plain, columns)):
        return X
    return pd.concat(plain, axis=1).set_axis(X.columns, axis=1)


def as_frame(array: Array, names: pd.Index | None = None) -> pd.DataFrame:
    """An array as a data frame, Python objects left as they are."""
    return pd.DataFrame(array, columns=names, dtype=object if array.dtype == object else None, copy=False)


def objects_if_mixed(x: ArrayLike) -> Array:
    """x as an array; of objects where NumPy would make other text, as of a number beside text, or of "a\\0"."""
    array = np.asarray(x)
    if array.dtype.kind not in "US" or isinstance(x, np.ndarray):
        return array
    objects = np.asarray(x, dtype=object)
    return array if np.all(array == objects) else objects


def refuse_masked(name: str, x: object) -> None:
    """Refuse an array with masked entries, which NumPy would take for known."""
    if np.ma.is_masked(x):
        raise ValueError(f"{name} has masked entries: fill them, or leave those rows out.")


def match_labels(classes: Array, label: Array) -> Ints:
    """Index of each label in ``classes``, -1 for one that is not there; labels that compare equal are the same.

    Raises ValueError where one holds text and the other numbers.
    """
    known, now = _as_index(classes), _as_index(label)
    _refuse_other_kind("y", known, now)
    return known.get_indexer(now)


def _plain(name: object, column: pd.Series) -> pd.Series:
    """The column as text, categories or numbers that NumPy can compare; an error for anything else."""
    kind = column.dtype
    if pd.api.types.is_object_dtype(kind) or (isinstance(kind, pd.ArrowDtype) and kind.kind == "b"):
        return _from_objects(name, column)  # Arrow's Booleans are not numbers to pandas
    if isinstance(kind, pd.CategoricalDtype) or pd.api.types.is_string_dtype(kind):
        return column
    if kind.kind == "c":
        raise ValueError(f"Complex data not supported: X, column {name!r}; give its two parts as two columns.")
    if kind.kind not in "biuf":
        raise _neither_text_nor_numbers(name, "dates or times" if kind.kind in "mM" else str(kind))
    if isinstance(kind, np.dtype) and kind.kind == "f" and kind.itemsize not in (4, 8):
        return column.astype(np.float32 if kind.itemsize < 4 else np.float64)
    if isinstance(kind, np.dtype) and not kind.isnative:
        return column.astype(kind.newbyteorder("="))
    return column


def _from_objects(name: object, column: pd.Series) -> pd.Series:
    """A column of Python objects: numbers become floats, text stays."""
    known = column.dropna()
    kinds = set(map(type, known))
    others = sorted({kind.__name__ for kind in kinds if not issubclass(kind, (str, *NUMBERS))})
    if others:
        raise _neither_text_nor_numbers(name, ", ".join(others))
    if not kinds or any(issubclass(kind, str) for kind in kinds):
        return column
    _refuse_inexact(name, max((abs(int(v)) for v in known if isinstance(v, (int, np.integer))), default=0))
    return column.where(column.notna(), np.nan).astype(float)


def _neither_text_nor_numbers(name: object, held: str) -> TypeError:
    return TypeError(
        f"{WANTED}; column {name!r} holds {held}: make each entry text or a number, such as the days since a start for "
        "a date."
    )


def _refuse_inexact(name: object, largest: int) -> None:
    if largest > 2**53:
        raise ValueError(
            f"X: column {name!r} holds whole numbers above 2**53, which floats can't tell apart: subtract an offset."
        )


def _as_index(values: Any) -> pd.Index:
    """Values to look up, where equal ones of different types become the same: True is 1, and 1 is 1.0."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        values = values.astype(np.float32 if values.dtype == np.float16 else values.dtype.newbyteorder("="))
    index = pd.Index(values).infer_objects()
    if pd.api.types.is_bool_dtype(index.dtype):
        return index.astype("Int64" if index.hasnans else np.int64)
    return index


def _codes(name: object, column: pd.Series, categories: Array) -> Ints:
    known = _as_index(categories)
    if isinstance(column.dtype, pd.CategoricalDtype):
        now = _as_index(column.cat.categories)
        code = np.append(known.get_indexer(now), MISSING)[column.cat.codes]
    else:
        now = _as_index(column)
        code = known.get_indexer(now)
    unknown = np.flatnonzero(code < 0)
    if not len(unknown):
        return code
    is_missing = column.iloc[unknown].isna().to_numpy()
    if not is_missing.all():
        _refuse_other_kind(f"X: column {name!r}", known, now)
    code[unknown] = np.where(is_missing, MISSING, UNSEEN)
    return code


def _refuse_other_kind(name: str, known: pd.Index, now: pd.Index) -> None:
    """The text '1' and the number 1 are not the same; nor is 0.1 with the digits of a float32 and of a float64."""
    if not len(known) or not len(now.dropna()):
        return
    kinds = [_kind(index) for index in (known, now)]
    if kinds[0] != kinds[1]:
        raise ValueError(f"{name} held {kinds[0]} in fit and holds {kinds[1]} now: make them one kind.")
    widths = [index.dtype.itemsize if index.dtype.kind == "f" else 0 for index in (known, now)]
    if 0 < min(widths) < max(widths):
        raise ValueError(
            f"{name} held {known.dtype} in fit and holds {now.dtype} now, where 0.1 is another number: convert it by "
            f"astype({str(known.dtype)!r})."
        )


def _kind(index: pd.Index) -> str:
    kinds = set(map(type, index.dropna())) if index.dtype == object else set()
    is_numeric = pd.api.types.is_numeric_dtype(index.dtype) or (kinds and all(issubclass(k, NUMBERS) for k in kinds))
    return "numbers" if is_numeric else "text"


def _holds_numbers(column: pd.Series) -> bool:
    kind = column.dtype
    return pd.api.types.is_numeric_dtype(kind) and not isinstance(kind, pd.CategoricalDtype)


def _is_one_kind_of_float(X: pd.DataFrame) -> bool:
    kinds = set(X.dtypes)
    return len(kinds) == 1 and kinds <= {np.dtype(np.float32), np.dtype(np.float64)} and next(iter(kinds)).isnative


def _numbers(name: object, column: pd.Series) -> Numbers:
    known: Any
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":  # the usual case, without pandas
        known = numbers = column.to_numpy()
    else:
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = _plain(name, pd.Series(column.to_numpy()))
        known = column.dropna()
        if not len(known):
            return np.full(len(column), np.nan)
        if not _holds_numbers(column):
            kinds = set(map(type, known))
            if len(kinds) > 1:
                _refuse_mixture(name, kinds)
            raise ValueError(f"X: column {name!r} held numbers in fit; it can't be read as numbers now.")
        kind = np.float32 if column.dtype == np.float32 else np.float64
        numbers = column.to_numpy(dtype=kind, na_value=np.nan)
    if known.dtype.kind in "iu" and len(known):
        _refuse_inexact(name, max(abs(int(known.min())), abs(int(known.max()))))
    _refuse_infinite(name, numbers)
    return numbers


def _refuse_infinite(name: object, numbers: Numbers) -> None:
    infinite = np.isinf(numbers)
    if infinite.any():
        raise ValueError(
            f"Input X contains infinity in column {name!r}, first in row {infinite.argmax()}; a threshold needs finite "
            "numbers: clip them, or make them missing."
        )


def _categories(name: object, column: pd.Series) -> Array:
    """Distinct values of a column in the order of its branches."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        categories = column.cat.categories
        if categories.inferred_type.startswith("mixed"):
            _refuse_mixture(name, set(map(type, categories)))
        return categories.to_numpy()
    try:
        # Strings are slow to compare: only the distinct ones are sorted.
        return np.unique(column.drop_duplicates().dropna().to_numpy())
    except TypeError:
        _refuse_mixture(name, set(map(type, column.dropna())))


def _refuse_mixture(name: object, kinds: set[type]) -> NoReturn:
    raise TypeError(f"{WANTED}; column {name!r} mixes {', '.join(sorted(kind.__name__ for kind in kinds))}.")
