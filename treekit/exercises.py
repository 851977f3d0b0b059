"""Checks of the graded exercises; they read the reader's answers among the globals of the caller's frame.

A check calls what the reader wrote and compares the result with the right one and with those of well-known mistakes.
It answers in plain words, and the notebook shows the answer alone, without a traceback.
"""

from __future__ import annotations

import io
import linecache
import math
import reprlib
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from typing import Any

__all__ = ["check", "NotYet"]

TOLERANCE = 1e-4  # so that an answer rounded to four decimals is right


class NotYet(AssertionError):
    """An answer that is not right yet. Its message begins with a short name of what is wrong, and a colon."""

    def __init__(self, what: str, sentence: str) -> None:
        super().__init__(f"{what}: {sentence}")

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in the place of a traceback."""
        return [str(self)]


def check(name: str, *arguments: Any, gives: Any, mistakes: dict[str, tuple[Any, str]] | None = None) -> None:
    """See whether a function or a variable of the notebook gives what it should, and name the mistake if not.

    Parameters
    ----------
    name : str
        What the reader was to write. A function is called with copies of the arguments, so it cannot change them; a
        variable is compared as it is. What the function prints is not shown.
    *arguments
        For the function.
    gives
        The right result: a number, text, or a list, tuple, set or dictionary of these. Numbers may differ by 0.0001, or
        by that share of the larger; a NumPy array or pandas Series is as good as a list, a data frame as its rows.
    mistakes : dict of {name: (result, sentence)}, optional
        What well-known mistakes give, or the error in which they end, and what to tell the reader who made one.

    Raises
    ------
    NotYet
        If the result is not right. Its message names the mistake, or says ``not there yet`` (there is no such name),
        ``no value`` (nothing is returned), ``stopped`` (by an error), ``wrong kind`` (text for a number ...) or
        ``another value``.
    """
    scope, mistakes = sys._getframe(1).f_globals, mistakes or {}
    if name not in scope:
        raise NotYet("not there yet", f"there is no {name}. Write it in the cell above, and run that cell.")
    call, value = name, scope[name]
    if callable(value):
        call = f"{name}({', '.join(map(_SHORT.repr, arguments))})"
        try:
            value = _call_quietly(value, arguments)
        except Exception as error:
            for mistake, (result, sentence) in mistakes.items():
                if _is_error(result) and isinstance(error, result):
                    raise NotYet(mistake, sentence) from None
            line = _line_of(error, scope)
            raise NotYet("stopped", f"{call} ends in {type(error).__name__}: {error}{line}") from None
    if value is None or value is ...:
        raise NotYet("no value", f"{call} gives nothing. Write your answer above; a function ends with return.")
    value, right = _plain(value), _plain(gives)
    if _same(value, right):
        print(f"Right: {call}")
        return
    for mistake, (result, sentence) in mistakes.items():
        if _same(value, _plain(result)):
            raise NotYet(mistake, sentence)
    if _kind(value) != _kind(right):
        raise NotYet("wrong kind", f"{call} gives {_kind(value)}, but it should give {_kind(right)}.")
    raise NotYet("another value", f"{call} gives {_SHORT.repr(value)}, but it should give {_SHORT.repr(right)}.")


def _call_quietly(function: Any, arguments: tuple[Any, ...]) -> Any:
    """The result of a reader's function, without what it prints and warns of."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*deepcopy(arguments))


def _is_error(result: Any) -> bool:
    """Whether a mistake is one that ends in an error, of one kind or of several."""
    kinds = result if isinstance(result, tuple) else (result,)
    return all(isinstance(kind, type) for kind in kinds)


def _line_of(error: Exception, scope: dict[str, Any]) -> str:
    """The last line of the notebook that ran before an error, as the end of a sentence."""
    line, step = "", error.__traceback__
    while step is not None:
        if step.tb_frame.f_globals is scope:
            line = linecache.getline(step.tb_frame.f_code.co_filename, step.tb_lineno).strip()
        step = step.tb_next
    return f", in the line: {line}" if line else ""


def _plain(value: Any) -> Any:
    """A result in Python's own types, for NumPy's and pandas's."""
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (Fraction, Decimal)):
        return float(value)
    if isinstance(value, dict):
        return {_plain(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value


def _same(value: Any, right: Any) -> bool:
    """Whether two plain results agree, but for rounding."""
    kind = _kind(right)
    if _kind(value) != kind:
        return False
    if kind == "a number":
        if math.isnan(right):  # no right result is NaN, but a mistake's may be: 0 times the logarithm of 0
            return math.isnan(value)
        return math.isclose(value, right, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if kind == "a list":
        return len(value) == len(right) and all(map(_same, value, right))
    if kind == "a dictionary":
        return value.keys() == right.keys() and all(_same(value[key], right[key]) for key in right)
    return bool(value == right)


def _kind(value: Any) -> str:
    """What a result is, in words."""
    kinds: dict[Any, str] = {
        bool: "True or False",
        (int, float): "a number",
        str: "text",
        list: "a list",
        dict: "a dictionary",
    }
    return next((kind for types, kind in kinds.items() if isinstance(value, types)), f"a {type(value).__name__}")


class _Short(reprlib.Repr):
    """Shows results and arguments in a sentence: numbers are rounded, long lists cut, tables given by their size."""

    def repr1(self, x: Any, level: int) -> str:
        if isinstance(x, float):
            return f"{x:.4g}"
        if hasattr(x, "shape"):
            return f"<{' x '.join(map(str, x.shape))} {type(x).__name__}>"
        return super().repr1(x, level)


_SHORT = _Short()
_SHORT.maxlevel = 4
_SHORT.maxstring = _SHORT.maxother = 60
