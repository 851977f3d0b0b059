"""Plain values as text: the only form in which anything of a student's leaves the sandbox.

Nothing that is read here runs code, so a forged answer can be no more than a wrong or a right value. Numbers, text,
lists, tuples, sets, dictionaries, arrays and tables pass; a class of one's own passes as what it is built on, or not
at all.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

# Imported where they are needed: a student's process starts in half the time without them.
if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

__all__ = ["NotPlain", "decoded", "encoded"]

#: The kinds of NumPy's numbers, truth values, texts and times; an array of objects goes as the list of its entries.
KINDS = "biufcUSmM"
#: Entries of a set or a dictionary. Each may have been made to collide with all before it.
MOST_KEYS = 10_000


class NotPlain(TypeError):
    """A value that can't leave the sandbox."""


def encoded(value: Any) -> Any:
    """A value in the terms of JSON: as it is, or as ``{"is": its kind, ...}``.

    Raises
    ------
    NotPlain
        If the value is no number, text, list, tuple, set, dictionary, array or table of such.
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    # Who has a value of theirs has imported them.
    np, pd = sys.modules.get("numpy"), sys.modules.get("pandas")
    if np and isinstance(value, np.generic):
        return {"is": "scalar", "array": _array(np.asarray(value))}
    for kinds, kind in ((bool, bool), (int, int), ((float, Fraction, Decimal), float), (str, str)):
        if isinstance(value, kinds):  # a student's subclass of it
            return kind(value)
    if isinstance(value, complex):
        return {"is": "complex", "parts": [value.real, value.imag]}
    if isinstance(value, (bytes, bytearray)):
        return {"is": "bytes", "text": base64.b64encode(value).decode()}
    for name, several in (("list", list), ("tuple", tuple), ("set", set), ("frozenset", frozenset)):
        if isinstance(value, several):
            return {"is": name, "of": [encoded(entry) for entry in value]}
    if isinstance(value, dict):
        return {"is": "dict", "of": [[encoded(key), encoded(entry)] for key, entry in value.items()]}
    if value is ...:
        return {"is": "ellipsis"}
    if np and isinstance(value, np.ndarray):
        return _array(value)
    if pd and isinstance(value, (pd.Index, pd.Series, pd.DataFrame)):
        return _encoded_table(value)
    if isinstance(value, (range, Iterator)) or type(value) in (type({}.keys()), type({}.values()), type({}.items())):
        return {"is": "iterator" if isinstance(value, Iterator) else "list", "of": [encoded(entry) for entry in value]}
    raise NotPlain(
        f"a {type(value).__name__} can't be checked: give a number, text, list, tuple, set, dictionary, array or table"
    )


def _encoded_table(value: pd.Index | pd.Series | pd.DataFrame) -> dict[str, Any]:
    import pandas as pd

    if isinstance(value, pd.Index):
        return {"is": "index", "of": _column(value), "name": encoded(value.name)}
    if isinstance(value, pd.Series):
        return {"is": "series", "of": _column(value), "name": encoded(value.name), "index": encoded(value.index)}
    columns = [_column(value.iloc[:, place]) for place in range(value.shape[1])]
    return {"is": "frame", "of": columns, "columns": encoded(value.columns), "index": encoded(value.index)}


def _array(value: np.ndarray) -> dict[str, Any]:
    flat, kept = value.ravel(), value.dtype.kind in KINDS
    entries = flat.astype("i8") if value.dtype.kind in "mM" else flat
    data = [encoded(entry) for entry in entries.tolist()]
    return {"is": "array", "of": data, "shape": list(value.shape), "dtype": value.dtype.str if kept else "O"}


def _column(column: pd.Series | pd.Index) -> dict[str, Any]:
    import pandas as pd

    entries = [None if missing else encoded(entry) for entry, missing in zip(column.tolist(), pd.isna(column))]
    found: dict[str, Any] = {"entries": entries, "dtype": str(column.dtype)}
    if isinstance(column.dtype, pd.CategoricalDtype):
        found |= {"categories": encoded(column.dtype.categories.tolist()), "ordered": bool(column.dtype.ordered)}
    return found


def decoded(data: Any) -> Any:
    """The value that a text stands for.

    Raises
    ------
    NotPlain
        If the text isn't one that :func:`encoded` writes.
    """
    try:
        return _decoded(data)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, RecursionError, AttributeError) as error:
        raise NotPlain(f"the answer is damaged: {type(error).__name__}") from None


def _decoded(data: Any) -> Any:
    if not isinstance(data, dict):
        if data is None or isinstance(data, (bool, int, float, str)):
            return data
        raise NotPlain("the answer is damaged")
    kind = data["is"]
    if kind in ("set", "frozenset", "dict") and len(data["of"]) > MOST_KEYS:
        raise NotPlain(f"a {kind} of more than {MOST_KEYS:,} entries can't be checked")
    if kind in SEQUENCES:
        return SEQUENCES[kind](_decoded(entry) for entry in data["of"])
    if kind == "dict":
        return {_decoded(key): _decoded(entry) for key, entry in data["of"]}
    if kind == "complex":
        return complex(*map(float, data["parts"]))
    if kind == "bytes":
        return base64.b64decode(data["text"])
    if kind == "ellipsis":
        return ...
    if kind == "scalar":
        return _decoded_array(data["array"]).reshape(())[()]
    if kind == "array":
        return _decoded_array(data)
    if kind in ("index", "series", "frame"):
        return _decoded_table(data)
    raise NotPlain("the answer is damaged")


#: What makes a sequence of its entries.
SEQUENCES: dict[str, Callable[[Iterable[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "iterator": lambda entries: iter(list(entries)),
}


def _decoded_array(data: dict[str, Any]) -> np.ndarray:
    import numpy as np

    dtype = np.dtype(str(data["dtype"]))
    if dtype.kind not in KINDS + "O" or dtype.itemsize > 4096:
        raise NotPlain("the answer is damaged")
    entries = [_decoded(entry) for entry in data["of"]]
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.astype(dtype).reshape(data["shape"])


def _decoded_table(data: dict[str, Any]) -> pd.Index | pd.Series | pd.DataFrame:
    import pandas as pd

    if data["is"] == "index":
        return pd.Index(_decoded_column(data["of"]), name=_decoded(data["name"]))
    if data["is"] == "series":
        return pd.Series(_decoded_column(data["of"]), index=_decoded(data["index"]), name=_decoded(data["name"]))
    index, columns = _decoded(data["index"]), _decoded(data["columns"])
    series = {place: pd.Series(_decoded_column(column), index=index) for place, column in enumerate(data["of"])}
    return pd.DataFrame(series, index=index).set_axis(columns, axis=1)


def _decoded_column(data: dict[str, Any]) -> Any:
    import numpy as np
    import pandas as pd

    entries = [_decoded(entry) for entry in data["entries"]]
    if "categories" in data:
        dtype = pd.CategoricalDtype(_decoded(data["categories"]), ordered=bool(data["ordered"]))
    else:
        dtype = pd.api.types.pandas_dtype(str(data["dtype"]))
    return pd.array(entries, dtype=dtype) if dtype.kind not in "biuf" or None in entries else np.array(entries, dtype)
