"""What a check answers: in words, by the name of the mistake, without a traceback."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell

from treekit.exercises import NotYet, check


def double(x):
    print("a trace")
    warnings.warn("careful", stacklevel=1)
    return 2 * x


def sort_in_place(values):
    values.sort()
    return values


def nothing(x):
    x = x + 1


def reciprocal(x):
    return 1 / x


def endless(x):
    return endless(x)


empty = ...
typed = 0.30612


def answer(name, *arguments, gives, mistakes=None):
    with pytest.raises(NotYet) as raised:
        check(name, *arguments, gives=gives, mistakes=mistakes)
    return str(raised.value)


def test_a_right_answer_is_confirmed_and_what_it_prints_is_not_shown(capsys):
    check("double", 4, gives=8)
    assert capsys.readouterr().out == "Right: double(4)\n"


@pytest.mark.parametrize(
    ("value", "gives"),
    [
        (0.12345, 0.1234),
        (np.float64(2), 2),
        (np.array([1.0, 2.0]), [1, 2]),
        (pd.Series(["a", "b"]), ("a", "b")),
        (pd.DataFrame({"a": [1, 2], "b": [3, 4]}), [[1, 3], [2, 4]]),
        ({"a": np.int64(1)}, {"a": 1.00005}),
        ([[1, "x"], None], [[1, "x"], None]),
        (np.bool_(True), True),
        ({1, 2}, {2, 1}),
        ([Fraction(1, 4), Decimal("0.5")], [0.25, 0.5]),
    ],
)
def test_equal_values_count_as_equal(value, gives):
    check("double", 0, gives=0)
    globals()["given"] = value
    check("given", gives=gives)


@pytest.mark.parametrize(
    ("value", "gives"),
    [(0.1237, 0.1234), (1, True), (float("nan"), 0), ([1, 2], [1, 2, 3]), ({"a": 1}, {"b": 1}), ("1", 1), ({1}, [1])],
)
def test_other_values_do_not(value, gives):
    globals()["given"] = value
    assert answer("given", gives=gives).startswith(("another value: given gives", "wrong kind: given gives"))


@pytest.mark.parametrize(
    ("name", "arguments", "gives", "reply"),
    [
        ("unknown", (), 1, "not there yet: there is no unknown."),
        ("empty", (), 1, "no value: empty gives nothing."),
        ("nothing", (1,), 1, "no value: nothing(1) gives nothing."),
        ("double", ("a",), 2, "wrong kind: double('a') gives text, but it should give a number."),
        ("double", (2,), 5, "another value: double(2) gives 4, but it should give 5."),
        ("reciprocal", (0,), 1, "stopped: reciprocal(0) ends in ZeroDivisionError: division by zero, in the line: ret"),
        ("endless", (0,), 1, "stopped: endless(0) ends in RecursionError"),
    ],
)
def test_what_is_wrong_is_said_in_words(name, arguments, gives, reply):
    assert answer(name, *arguments, gives=gives).startswith(reply)


def test_a_mistake_is_named_by_its_value_or_its_error():
    mistakes = {"half": (0.3061, "It is halved."), "zero": (ZeroDivisionError, "Leave zeros out.")}
    assert answer("typed", gives=0.6122, mistakes=mistakes) == "half: It is halved."
    assert answer("reciprocal", 0, gives=1, mistakes=mistakes) == "zero: Leave zeros out."
    none = {"zero times infinity": (float("nan"), "Leave zeros out.")}
    globals()["given"] = np.float64("nan")
    assert answer("given", gives=0, mistakes=none) == "zero times infinity: Leave zeros out."
    either = {"zero": ((KeyError, ArithmeticError), "Leave zeros out.")}
    assert answer("reciprocal", 0, gives=1, mistakes=either) == "zero: Leave zeros out."


def test_arguments_stay_as_they_are():
    values = [3, 1, 2]
    check("sort_in_place", values, gives=[1, 2, 3])
    assert values == [3, 1, 2]


def test_long_arguments_are_cut():
    text = answer("double", list(range(1000)), gives=[])
    assert len(text) < 300 and "..." in text
    assert "<3 x 2 DataFrame>" in answer("double", pd.DataFrame(np.ones((3, 2))), gives=1)


def test_a_notebook_shows_the_message_and_no_traceback(capsys):
    shell = InteractiveShell()
    shell.run_cell("from treekit.exercises import check\ncheck('unknown', gives=1)")
    assert capsys.readouterr().out.strip() == (
        "not there yet: there is no unknown. Write it in the cell above, and run that cell."
    )
