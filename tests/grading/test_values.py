"""What crosses the wall: plain values, whole; nothing that could run."""

from __future__ import annotations

import json
from collections import Counter, namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from grading.values import NotPlain, decoded, encoded

TABLE = pd.DataFrame(
    {"n": [1, 2], "word": ["x", None], "x": [1.5, np.nan], "kind": pd.Categorical(["u", "v"]), "yes": [True, False]},
    index=["r", "s"],
)
Pair = namedtuple("Pair", "a b")


class Odd(list):
    def __eq__(self, other):
        return True

    __hash__ = None


def passed(value):
    return decoded(json.loads(json.dumps(encoded(value))))


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 2.5, float("inf"), "text", ..., 1 + 2j, b"ab", [1, (2, [3])], {1: "a", (1, 2): [None]}, {1, 2}]
    + [frozenset({"a"}), np.float64(2.5), np.int64(3), np.bool_(True), np.datetime64("2020-01-01")],
    ids=repr,
)  # fmt: skip
def test_values_pass_whole(value):
    assert passed(value) == value and type(passed(value)) is type(value)


@pytest.mark.parametrize(
    "array",
    [np.arange(6).reshape(2, 3), np.array(["a", "bc"]), np.array([1, "a", None], object), np.zeros((0, 2))]
    + [np.array(3.0), np.array(["2020-01-01"], "M8[D]"), np.array([True, False])],
    ids=str,
)  # fmt: skip
def test_arrays_pass_whole(array):
    np.testing.assert_array_equal(passed(array), array)
    assert passed(array).dtype == array.dtype


def test_tables_pass_whole():
    pd.testing.assert_frame_equal(passed(TABLE), TABLE)
    for name in TABLE:
        pd.testing.assert_series_equal(passed(TABLE[name]), TABLE[name])
    pd.testing.assert_index_equal(passed(TABLE.index), TABLE.index)
    counts = TABLE["word"].value_counts()
    pd.testing.assert_series_equal(passed(counts), counts)
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    pd.testing.assert_frame_equal(passed(twice), twice)


def test_relatives_pass_as_what_they_are_built_on():
    assert type(passed(Odd([1]))) is list and passed(Odd([1])) != [2]
    assert passed(Counter("aab")) == {"a": 2, "b": 1}
    assert passed(Pair(1, 2)) == (1, 2)
    assert passed([Fraction(1, 4), Decimal("0.5")]) == [0.25, 0.5]
    assert passed({"a": 1}.keys()) == ["a"] and passed(range(3)) == [0, 1, 2]
    assert list(passed(x * x for x in (1, 2))) == [1, 4]


@pytest.mark.parametrize("value", [object(), len, pd, [object()], {"a": lambda: 1}, np.array([object()])])
def test_other_things_stay_inside(value):
    with pytest.raises(NotPlain, match="can't be checked: give a number"):
        encoded(value)


@pytest.mark.parametrize(
    "text",
    [
        '{"is": "pickle", "of": "gASVKAAAAA=="}',
        '{"is": "array", "of": [1, 2], "shape": [3], "dtype": "<i8"}',
        '{"is": "array", "of": [1], "shape": [1], "dtype": "V8"}',
        '{"is": "array", "of": ["a"], "shape": [1], "dtype": "<U9999999"}',
        '{"is": "series", "of": {"entries": [1], "dtype": "nonsense"}, "name": null, "index": []}',
        '{"is": "set", "of": [{"is": "list", "of": []}]}',
        '{"is": "list"}',
        '{"is": ["list"], "of": []}',
        "[1]",
    ],
)  # fmt: skip
def test_damaged_text_is_refused(text):
    with pytest.raises(NotPlain, match="damaged"):
        decoded(json.loads(text))
