"""Input at the edges: more than eighty kinds of it, each for all estimators that it concerns, each with its answer.

A row of the table is an :class:`Edge`: what is learned, what is asked, and one of three answers. ``like`` is another
training table that must give the same answers; ``predicts`` are the predictions, worked out here; ``refuses`` is what
the error says, which names the argument.
"""

from __future__ import annotations

import datetime
import inspect
import sys
import warnings
import xml.etree.ElementTree as ET
from copy import deepcopy
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import NotFittedError

from tests.helpers import MODELS as QUICK
from tests.helpers import answers
from treekit import CARTClassifier, ObliqueTreeClassifier

#: The search for directions as short as it comes: what it does with input is the same.
MODELS = QUICK | {"ObliqueTreeClassifier": ObliqueTreeClassifier(n_restarts=0)}
ALL = set(MODELS)
CLASSIFIERS = {name for name, model in MODELS.items() if isinstance(model, ClassifierMixin)}
REGRESSORS = ALL - CLASSIFIERS
#: These have a rule for missing values, for categories, and for numbers as numbers.
TAKE_GAPS = ALL - {"ID3Classifier", "ObliqueTreeClassifier"}
TAKE_WORDS = ALL - {"ObliqueTreeClassifier"}
READ_NUMBERS = ALL - {"ID3Classifier"}
#: These learn from every row. Where a sample leaves rows out, a cut may fall on one of them, and rounding decides.
ALL_ROWS = ALL - {"BaggingClassifier", "RandomForestClassifier", "RandomForestRegressor", "CascadeForestClassifier"}
#: Every row is in the training set of each of their trees, so they can learn a table by heart.
SINGLE = {"CARTClassifier", "CARTRegressor", "C45Classifier", "ID3Classifier", "ObliqueTreeClassifier"}

# -- a plain table, which the edges change ------------------------------------------------------------------------

NUMBERS = np.array([[0, 4], [1, 2], [2, 6], [3, 1], [4, 5], [5, 3], [6, 0], [7, 7], [1, 5], [6, 2], [0, 7], [7, 3]])
Y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1])
FRAME = pd.DataFrame(NUMBERS, columns=["a", "b"])
FLAGS = NUMBERS > 3
WORDS = pd.DataFrame(np.array(list("pqrstuvw"))[NUMBERS], columns=["a", "b"])
GAPPY = FRAME.astype(float).mask((np.add.outer(np.arange(12), 3 * np.arange(2)) % 5) == 0)


#: A word and a number in each row, as nested lists.
MIXED = [[word, number] for word, number in zip(WORDS["a"], NUMBERS[:, 1].tolist())]


def flags(kind) -> pd.DataFrame:
    """The Booleans as categories of another kind."""
    return pd.DataFrame(FLAGS, columns=["a", "b"]).map(kind).astype("category")


def objects(kind) -> pd.DataFrame:
    """The plain table with every number as an object of another kind."""
    return pd.DataFrame([[kind(int(v)) for v in row] for row in NUMBERS], columns=["a", "b"], dtype=object)


@dataclass(frozen=True)
class Edge:
    name: str
    X: Any
    y: Any = field(default_factory=lambda: Y)
    weight: Any = None
    ask: Any = None  #: what is asked of the model; the training table, if nothing else
    like: tuple | None = None  #: (X, y), (X, y, weight) or (X, y, weight, ask) with the same answers
    predicts: Any = None
    refuses: str | None = None
    models: set = field(default_factory=lambda: ALL)


PLAIN = (FRAME, Y)
PLAIN_FLAGS = (pd.DataFrame(1 * FLAGS, columns=["a", "b"]), Y)
PLAIN_WORDS = (WORDS, Y)
PLAIN_GAPS = (GAPPY, Y)


def same(name: str, X, **options) -> Edge:
    """The plain table in another form."""
    return Edge(name, X, **{"like": PLAIN, **options})


def asked(name: str, X, ask, **options) -> Edge:
    """A form in training, another one in prediction, the same values."""
    return Edge(name, X, ask=ask, like=(X, Y), **options)


def named(*names) -> pd.DataFrame:
    return FRAME.set_axis(list(names), axis=1)


TYPES = [
    same("lists", NUMBERS.tolist()),
    same("tuples", tuple(map(tuple, NUMBERS.tolist()))),
    same("an array of bytes-wide integers", NUMBERS.astype(np.int8)),
    same("an array of unsigned integers", NUMBERS.astype(np.uint64)),
    same("an array of float32", NUMBERS.astype(np.float32)),
    same("an array of float16", NUMBERS.astype(np.float16)),
    same("an array of long doubles", NUMBERS.astype(np.longdouble), models=READ_NUMBERS),
    same("an array of big-endian floats", NUMBERS.astype(">f8")),
    same("a frame of big-endian floats", FRAME.astype(">f8")),
    same("an array of big-endian integers", NUMBERS.astype(">i4")),
    same("an array of objects", NUMBERS.astype(object)),
    same("an array by columns", np.asfortranarray(NUMBERS)),
    same("an array turned round twice", NUMBERS[::-1, ::-1][::-1, ::-1]),
    same("a frame of objects", FRAME.astype(object)),
    same("a frame of mixed widths", FRAME.astype({"a": np.int8, "b": np.float32})),
    same("a frame of float16", FRAME.astype(np.float16)),
    same("nullable integers", FRAME.astype("Int64")),
    same("nullable floats", FRAME.astype("Float32")),
    same("pandas' sparse columns", FRAME.astype(pd.SparseDtype("float", np.nan))),
    same("Python floats among integers", objects(lambda v: float(v) if v % 2 else v)),
    same("Booleans", pd.DataFrame(FLAGS, columns=["a", "b"]), like=PLAIN_FLAGS),
    same("nullable Booleans", pd.DataFrame(FLAGS).astype("boolean"), like=PLAIN_FLAGS),
    same("Boolean objects", pd.DataFrame(FLAGS).astype(object), like=PLAIN_FLAGS),
    Edge("text as categories", WORDS.astype("category"), like=PLAIN_WORDS, models=TAKE_WORDS),
    Edge("text as pandas' strings", WORDS.astype("string"), like=PLAIN_WORDS, models=TAKE_WORDS),
    Edge("a sparse matrix", csr_matrix(NUMBERS), refuses="(?i)sparse"),
    Edge("Decimal", objects(Decimal), refuses="column 'a' holds Decimal: make each entry text or a number"),
    Edge("Fraction", objects(Fraction), refuses="column 'a' holds Fraction"),
    Edge("dates", FRAME.assign(a=pd.date_range("2020", periods=12)), refuses="column 'a' holds dates or times"),
    Edge("date objects", FRAME.assign(a=[datetime.date(2020, 1, d + 1) for d in range(12)]), refuses="column 'a'"),
    Edge("periods", FRAME.assign(a=pd.period_range("2020", periods=12, freq="M")), refuses="column 'a'"),
    Edge("lengths of time", FRAME.assign(a=pd.to_timedelta(range(12), "D")), refuses="column 'a'"),
    Edge("complex numbers", FRAME.astype(complex), refuses="Complex data not supported"),
    Edge("bytes", objects(lambda v: bytes([97 + v])), refuses="column 'a'"),
    Edge("intervals", FRAME.assign(a=pd.IntervalIndex.from_breaks(range(13))), refuses="column 'a' holds interval"),
    Edge("neither text nor numbers", objects(lambda v: PurePath(str(v))), refuses="column 'a' holds Pure"),
    Edge("byte arrays", objects(lambda v: bytearray([v])), refuses="column 'a' holds bytearray"),
    Edge("columns in a column", objects(lambda v: pd.Series([v])), refuses="column 'a' holds Series"),
    Edge("lists in a column", objects(lambda v: [v]), refuses="column 'a'"),
    Edge("a masked array", np.ma.masked_less(NUMBERS, 3), refuses="X has masked entries"),
    Edge("categories of numbers and text", objects(lambda v: str(v) if v % 2 else v).astype("category"),
         refuses="column 'a' mixes int, str", models=TAKE_WORDS),
    Edge("words that differ by a NUL at the end", [[["a", "a\0"][v]] for v in Y], predicts=Y,
         models={"CARTClassifier", "ID3Classifier", "GBDTClassifier"}),
    Edge("whole numbers above 2**53", FRAME.assign(a=2**53 + 2 * np.arange(12)),
         refuses="column 'a' holds whole numbers",
         models=READ_NUMBERS),
    Edge("whole numbers above 2**63", FRAME.assign(a=[2**63 + 2**12 * i for i in range(12)]),
         refuses="column 'a' holds whole numbers", models=READ_NUMBERS),
    Edge("whole numbers above 2**64", FRAME.assign(a=[2**65 + i for i in range(12)]),
         refuses="column 'a'", models=READ_NUMBERS),
    Edge("a whole number of 400 digits", objects(lambda v: 10**400 + v), refuses="column 'a' holds"),
    Edge("a whole number of 400 digits among fractions", objects(lambda v: v + 0.5 if v else 10**400),
         refuses="column 'a' holds whole numbers above"),
    Edge("lists with a whole number of 400 digits", [[10**400, 1.5], [0, 2.5]] * 6,
         refuses="column 'x0' holds whole numbers above"),
    Edge("whole numbers above 2**53 beside a fraction", FRAME.astype(object).assign(a=pd.Series(
         [2**53, 2**53 + 1, *[0.5] * 10], dtype=object)), refuses="column 'a' holds whole numbers above"),
    Edge("infinity beside whole numbers", FRAME.assign(a=[*range(11), np.inf]),
         refuses="X contains infinity in column 'a'", models=READ_NUMBERS),
    Edge("text and numbers that look alike in a column", FRAME.assign(a=[1, "1"] * 6), refuses="column 'a'"),
    Edge("digits as text where a sum is made", FRAME.assign(a=list("012345678901")), refuses="column 'a' holds text",
         models={"ObliqueTreeClassifier"}),
    Edge("lists of words and numbers", MIXED, like=(pd.DataFrame(MIXED), Y), models=TAKE_WORDS),
    Edge("an array of words and numbers", np.array(MIXED, dtype=object), like=(pd.DataFrame(MIXED), Y),
         models=TAKE_WORDS),
    asked("Booleans as categories, then integers", flags(bool), flags(int), models=TAKE_WORDS),
    asked("integers as categories, then floats", flags(int), flags(float), models=TAKE_WORDS),
    Edge("digits as categories, then integers", flags(lambda v: str(int(v))), ask=flags(int),
         refuses="column 'a' held text in fit and holds numbers", models=TAKE_WORDS),
    Edge("integers as categories, then digits", flags(int), ask=flags(lambda v: str(int(v))),
         refuses="column 'a' held numbers in fit and holds text", models=TAKE_WORDS),
    asked("Booleans, then integers", pd.DataFrame(FLAGS), pd.DataFrame(1 * FLAGS)),
    asked("integers, then Booleans", pd.DataFrame(1 * FLAGS), pd.DataFrame(FLAGS)),
    asked("integers, then floats", FRAME, FRAME.astype(float)),
    asked("float32, then float64", FRAME.astype(np.float32) / 4, FRAME / 4),
    asked("a tenth in float32, then in float64", FRAME.astype(np.float32) / 10, FRAME / 10,
         models=ALL_ROWS - {"ID3Classifier"}),
    asked("nullable integers, then plain ones", FRAME.astype("Int64"), FRAME),
    asked("text, then categories in another order", WORDS, WORDS.astype(pd.CategoricalDtype(list("wvutsrqp"))),
          models=TAKE_WORDS),
    Edge("numbers, then text", FRAME, ask=WORDS, refuses="column 'a'"),
    Edge("text, then numbers", WORDS, ask=FRAME, refuses="column 'a' held text", models=TAKE_WORDS),
]  # fmt: skip

if find_spec("pyarrow"):
    TYPES += [
        same("Arrow's integers", FRAME.astype("int32[pyarrow]")),
        same("Arrow's Booleans", pd.DataFrame(FLAGS).astype("bool[pyarrow]"), like=PLAIN_FLAGS),
        Edge("Arrow's text", WORDS.astype("large_string[pyarrow]"), like=PLAIN_WORDS, models=TAKE_WORDS),
        Edge("Arrow's bytes", WORDS.astype("large_binary[pyarrow]"), refuses="column 'a' holds large_binary"),
        Edge(
            "Arrow's dates",
            FRAME.astype("int32[pyarrow]").astype("date32[pyarrow]"),
            refuses="column 'a' holds dates or times",
        ),
    ]

LABELS = [
    Edge("labels as Booleans", FRAME, Y == 1, predicts=None, like=PLAIN, models=CLASSIFIERS),
    Edge("labels as text", FRAME, np.array(["no", "yes"])[Y], like=PLAIN, models=CLASSIFIERS),
    Edge("labels as objects", FRAME, Y.astype(object), like=PLAIN, models=ALL),
    Edge("labels as pandas' strings", FRAME, pd.Series(Y).map({0: "a", 1: "b"}).astype("string"), like=PLAIN,
         models=CLASSIFIERS),
    Edge("labels as nullable integers", FRAME, pd.Series(Y, dtype="Int64"), like=PLAIN),
    Edge("labels as categories, one of them unused", FRAME,
         pd.Categorical.from_codes(Y, ["a", "b", "c"]), like=PLAIN, models=CLASSIFIERS),
    Edge("labels as a column of a frame", FRAME, pd.Series(Y, name="y", index=np.arange(12) * 7), like=PLAIN),
    Edge("labels as Decimal", FRAME, [Decimal(int(v)) for v in Y], refuses="y holds Decimal", models=CLASSIFIERS),
    Edge("the label 'nan'", FRAME, np.array(["a", "nan"])[Y], like=PLAIN, models=CLASSIFIERS),
    Edge("the labels 0 and -0", FRAME, np.where(NUMBERS[:, 0] % 2, 0.0, -0.0) + Y, like=PLAIN),
    # NumPy would make text of such lists.
    Edge("numbers and digits in a list of labels", FRAME, [1, "1"] * 6, refuses="y mixes int, str", models=CLASSIFIERS),
    Edge("numbers and text in a list of labels", FRAME, [1.0, "a"] * 6, refuses="y mixes float, str",
         models=CLASSIFIERS),
    Edge("Booleans and text in a list of labels", FRAME, [True, "True"] * 6, refuses="y mixes bool, str",
         models=CLASSIFIERS),
    Edge("NaN in a list of labels", FRAME, ["a", np.nan, "b"] * 4, refuses="y contains NaN or None, first in row 1",
         models=CLASSIFIERS),
    Edge("one class", FRAME, ["only"] * 12, predicts=["only"] * 12, models=CLASSIFIERS),
    Edge("one value", FRAME, [0.1] * 12, predicts=[0.1] * 12, models=REGRESSORS),
    Edge("a class for each row", FRAME, list("abcdefghijkl"), predicts=list("abcdefghijkl"),
         models={"CARTClassifier", "ID3Classifier", "ObliqueTreeClassifier"}),
    Edge("bytes and text that look alike", FRAME, [b"a", "a"] * 6, refuses="y holds bytes", models=CLASSIFIERS),
    Edge("labels of 400 digits", FRAME, [10**400, 1] * 6, refuses="y holds whole numbers too", models=CLASSIFIERS),
    Edge("digits as targets", FRAME, ["1", "2"] * 6, refuses="y must hold numbers", models=REGRESSORS),
    Edge("labels in a masked array", FRAME, np.ma.masked_equal(Y, 0), refuses="y has masked entries"),
    Edge("labels that differ by a NUL at the end", FRAME, ["a", "a\0"] * 6, like=(FRAME, [0, 1] * 6),
         models=CLASSIFIERS),
    Edge("targets of 400 digits", FRAME, [10**400, 1] * 6, refuses="y holds whole numbers too large for a float",
         models=REGRESSORS),
    Edge("a missing nullable label", FRAME, pd.Series([0, None, 1] * 4, dtype="Int64"), refuses="y contains NaN"),
]  # fmt: skip

LINE, ONES = np.arange(4.0)[:, np.newaxis], np.ones(4)
LEARN_NUMBERS = {"CARTRegressor"}


def by_heart(name: str, y, X=LINE, **options) -> Edge:
    """A tree without limits whose rows all differ predicts each target as it is."""
    return Edge(name, X, y, **{"predicts": y, "models": LEARN_NUMBERS, **options})


ODD = np.nextafter(1, 2), np.nextafter(np.float32(1), np.float32(2))
NEIGHBOURS = dict(
    zip(("floats", "float32", "floats of odd digits", "float32 of odd digits"), (1.0, np.float32(1), *ODD))
)

SCALES = [
    by_heart("one outlier in the target", [1.1, 2.2, 3.3, 1e9]),
    by_heart("a target of two scales", [0.1, 0.2, 1e15, 2e15]),
    by_heart("a target with a huge mean", [1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4]),
    by_heart("a target with a mean near 2**53", [1e15, 1e15 + 1, 1e15 + 2, 1e15 + 3]),
    by_heart("a tiny target", [1e-30, 2e-30, 3e-30, 5e-30]),
    by_heart("a huge target", [1e90, 2e90, 3e90, 5e90]),
    by_heart("an outlier among a thousand rows", [*np.sin(np.arange(300.0)), 1e9], np.arange(301.0)[:, np.newaxis]),
    Edge("targets of 1e300", LINE, [0, 1, 2, 1e300], refuses="y spreads over", models=REGRESSORS),
    Edge("targets of 1e308", LINE, [1e308, -1e308, 0, 0], refuses="y spreads over", models=REGRESSORS),
    Edge("targets of 1e-300", LINE, [0, 0, 0, 1e-300], refuses="y spreads over", models=REGRESSORS),
    Edge("a target times a power of two", FRAME, Y * 2.0**40, like=PLAIN, models=REGRESSORS),
    same("columns times a power of two", FRAME * 2.0**-60, models=READ_NUMBERS),
    Edge("columns of 1e300", FRAME * 1e300, like=PLAIN, models=ALL_ROWS - {"ID3Classifier"}),
    Edge("columns of 1e-300", FRAME * 1e-300, like=PLAIN, models=ALL_ROWS - {"ID3Classifier"}),
    Edge("subnormal columns", FRAME * 5e-324, like=PLAIN, models=ALL_ROWS - {"ID3Classifier", "ObliqueTreeClassifier"}),
    Edge("combinations of subnormal columns", FRAME * 5e-324, refuses="column 'a' spreads over 3.4",
         models={"ObliqueTreeClassifier"}),
    Edge("combinations from one end of the floats to the other", [[-1.7e308], [1.7e308]] * 4, [0, 1] * 4,
         refuses="column 'x0' spreads over inf", models={"ObliqueTreeClassifier"}),
    Edge("columns from one end of the floats to the other", [[-1.7e308], [1.7e308]] * 4, [0, 1] * 4,
         ask=[[-1.7e308], [-1.0], [1.0], [1.7e308]], predicts=[0, 0, 1, 1], models={"CARTClassifier", "C45Classifier",
         "CARTRegressor", "AdaBoostClassifier"}),
    # Halfway between each two rounding goes down, or up to the larger, which a cut must not do.
    *(Edge(f"neighbouring {name}", np.array([[low], [np.nextafter(low, low + 1)]] * 4), [0, 1] * 4,
           predicts=[0, 1] * 4, models=SINGLE | {"AdaBoostClassifier", "GBDTClassifier"})
      for name, low in NEIGHBOURS.items()),
    Edge("columns with a huge mean", FRAME + 2.0**40, like=PLAIN, models=READ_NUMBERS),
    Edge("0 and -0", [[0.0], [-0.0], [1.0], [1.0]] * 2, [0, 1, 1, 1] * 2, like=([[0.0], [0.0], [1.0], [1.0]] * 2,
         [0, 1, 1, 1] * 2)),
    Edge("constant columns", np.ones((4, 2)), [0, 0, 0, 1], like=(np.zeros((4, 2)), [0, 0, 0, 1])),
    Edge("constant columns with more of one label", np.ones((3, 2)), ["b", "a", "b"], predicts=["b"] * 3,
         models=CLASSIFIERS & (SINGLE | {"AdaBoostClassifier", "GBDTClassifier"})),
    Edge("rows alike with as many of each label", [["u"], ["u"]], ["b", "a"], predicts=["a", "a"],
         models=CLASSIFIERS & SINGLE - {"ObliqueTreeClassifier"}),
    Edge("numbers alike with as many of each label", [[1.0], [1.0]], ["b", "a"], predicts=["a", "a"],
         models=CLASSIFIERS & SINGLE),
    Edge("numbers alike with two targets", [[1.0], [1.0]], [0, 1], predicts=[0.5, 0.5], models=LEARN_NUMBERS),
    Edge("two columns that tie", FRAME.assign(b=FRAME["a"]), like=(FRAME[["a"]].assign(b=0), Y), models=READ_NUMBERS
         - {"RandomForestClassifier", "CascadeForestClassifier", "ObliqueTreeClassifier", "ID3Classifier"}),
]  # fmt: skip

MORE = pd.concat([FRAME, FRAME[:2] + 100], ignore_index=True)
ZEROED = np.append(np.ones(12), [0, 0])

WEIGHTS = [
    same("weights as a list", FRAME, weight=[1] * 12),
    same("weights as a column", FRAME, weight=pd.Series(np.ones(12), index=np.arange(12) * 3)),
    same("weights as Booleans", FRAME, weight=np.ones(12, dtype=bool)),
    same("weights as whole numbers of a byte", FRAME, weight=np.ones(12, dtype=np.uint8)),
    Edge("weights times a power of two", FRAME, weight=np.full(12, 2.0**20), like=PLAIN,
         models=ALL - {"C45Classifier", "GBDTClassifier"}),
    Edge("weights of 1e-12", FRAME, weight=np.full(12, 1e-12), like=PLAIN, models=ALL - {"C45Classifier"}),
    Edge("weights of 1e50", FRAME, weight=np.full(12, 1e50), like=PLAIN, models=ALL - {"C45Classifier"}),
    Edge("weights from 1e-6 to 1e6", LINE, [0.0, 1.0, 0.0, 1.0], weight=[1e-6, 1, 1e3, 1e6], predicts=[0, 1, 0, 1],
         models={"CARTClassifier", "CARTRegressor"}),
    Edge("a row of weight zero far away", MORE, np.append(Y, [1, 0]), ZEROED, ask=FRAME, like=(FRAME, Y, None, FRAME)),
    Edge("a row of weight zero with a huge target", MORE, np.append(Y, [1e18, -1e18]), ZEROED, ask=FRAME,
         like=(FRAME, Y, None, FRAME), models=REGRESSORS),
    Edge("weight zero where the target is 1e18", LINE, [1.1, 2.2, 3.3, 1e18], [1, 1, 1, 0], ask=LINE[:3],
         predicts=[1.1, 2.2, 3.3], models=LEARN_NUMBERS),
    Edge("a row of weight zero with nothing in it", pd.concat([FRAME, FRAME[:2].astype(float) * np.nan]),
         np.append(Y, [1, 0]), ZEROED, ask=FRAME, like=(FRAME, Y, None, FRAME), models=TAKE_GAPS),
    Edge("weights as dates", FRAME, weight=pd.date_range("2020", periods=12), refuses="sample_weight must hold"),
    Edge("weights as lengths of time", FRAME, weight=pd.to_timedelta(range(12)), refuses="sample_weight must hold"),
    Edge("weights as digits", FRAME, weight=["1"] * 12, refuses="sample_weight must hold numbers"),
    Edge("weights in a masked array", FRAME, weight=np.ma.masked_equal(Y, 0), refuses="sample_weight has masked"),
    Edge("a weight of 400 digits", FRAME, weight=[10**400, *[1] * 11], refuses="sample_weight must hold numbers"),
    Edge("weights of 1e308", FRAME, weight=np.full(12, 1e308), refuses="sample_weight sums to inf"),
    Edge("one row with weight", FRAME, weight=np.arange(12) == 0, predicts=np.zeros(12),
         models=ALL - {"CascadeForestClassifier"}),
]  # fmt: skip

NO_FLAG = pd.DataFrame({"a": [None], "b": [True]}, dtype="boolean")
UNKNOWN = pd.DataFrame({"a": [1, None], "b": [4, 2]}, dtype="Int64")

MISSING = [
    Edge("NaN", GAPPY, like=(GAPPY.to_numpy(), Y), models=TAKE_GAPS),
    Edge("None among numbers", GAPPY.astype(object).where(GAPPY.notna(), None), like=PLAIN_GAPS, models=TAKE_GAPS),
    Edge("pd.NA in nullable integers", GAPPY.astype("Int64"), like=PLAIN_GAPS, models=TAKE_GAPS),
    Edge("pd.NA among Python integers", GAPPY.astype("Int64").astype(object), models=TAKE_GAPS,
         ask=FRAME + 0.25, like=(GAPPY, Y, None, FRAME + 0.25)),
    Edge("a column without any entry", FRAME.assign(b=np.nan), like=(FRAME.assign(b=0.0), Y),
         models=TAKE_GAPS - {"RandomForestClassifier", "CascadeForestClassifier"}),
    Edge("a column of None", FRAME.assign(b=None), like=(FRAME.assign(b=np.nan), Y), models=TAKE_GAPS),
    Edge("None among words", WORDS.mask(GAPPY.isna(), None), like=(WORDS.mask(GAPPY.isna()).astype("category"), Y),
         models=TAKE_WORDS - {"ID3Classifier"}),
    Edge("a missing nullable integer is asked of, alone", FRAME.astype("Int64"), ask=UNKNOWN[1:],
         like=(FRAME, Y, None, UNKNOWN[1:].astype(float)), models=TAKE_GAPS),
    Edge("a missing nullable Boolean is asked of, alone", pd.DataFrame(FLAGS, columns=["a", "b"]).astype("boolean"),
         ask=NO_FLAG, like=(*PLAIN_FLAGS, None, NO_FLAG.astype(float)), models=TAKE_GAPS),
    Edge("a missing nullable integer in an array of objects", FRAME.astype("Int64"),
         ask=UNKNOWN[1:].astype(object), like=(FRAME, Y, None, UNKNOWN[1:].astype(float)), models=TAKE_GAPS),
    Edge("a column of words without an entry is asked of", WORDS, ask=WORDS.assign(a=None), models=TAKE_GAPS,
         like=(WORDS.astype("category"), Y, None, WORDS.assign(a=pd.Categorical([None] * 12, list("pqrstuvw"))))),
    Edge("a category never seen", WORDS, ask=WORDS.replace("p", "new"), models=TAKE_WORDS,
         like=(WORDS, Y, None, WORDS.replace("p", "newer"))),
    Edge("NaN where there is no rule for it", GAPPY, refuses="NaN or None in column 'a', first in row 0",
         models=ALL - TAKE_GAPS),
    Edge("pd.NA where there is no rule for it", GAPPY.astype("Int64"), refuses="NaN or None in column 'a'",
         models=ALL - TAKE_GAPS),
]  # fmt: skip

NAMES = [
    same("names with a line break", named("a\nb", "c\rd")),
    same("names in Chinese", named("色泽", "根蒂")),
    same("names with markup", named("<b>&", '"')),
    same("names with control characters", named("a\x00", "b\x1b")),
    same("empty names", named("", " ")),
    same("names that are numbers", named(0, 1)),
    Edge(
        "names that are numbers, in another order",
        named(0, 1),
        ask=named(0, 1)[[1, 0]],
        refuses=r"X must have the columns of the training table, \[0, 1\]; got \[1, 0\]",
    ),
    Edge("the same name twice", named("a", "a"), refuses="more than one column named 'a'"),
    same("names that are pairs", FRAME.set_axis(pd.MultiIndex.from_tuples([("u", "a"), ("u", "b")]), axis=1)),
    Edge("names of two kinds", named("a", 1), refuses="(?i)feature names"),
    same("row names that repeat", FRAME.set_axis([3] * 12)),
]

WIDE = np.tile(NUMBERS, 30)
SIZES = [
    Edge("one row", [[1.0, 2.0]], [7], ask=[[5.0, 5.0]], predicts=[7], models=ALL - {"CascadeForestClassifier"}),
    Edge("one row of a cascade", [[1.0, 2.0]], [7], refuses="X has 1 sample", models={"CascadeForestClassifier"}),
    Edge("two rows", [[1.0], [2.0]], [0, 1], predicts=[0, 1],
         models=(SINGLE - {"C45Classifier"}) | {"AdaBoostClassifier"}),
    Edge("one column", NUMBERS[:, :1], like=(NUMBERS[:, :1].astype(float), Y)),
    Edge("sixty columns", WIDE, like=(NUMBERS, Y), models={"CARTClassifier", "CARTRegressor", "C45Classifier",
         "ID3Classifier", "AdaBoostClassifier", "GBDTClassifier", "GBDTRegressor"}),
    Edge("two hundred categories", pd.DataFrame({"c": [f"v{i}" for i in range(200)]}), np.arange(200) % 2,
         predicts=np.arange(200) % 2, models={"CARTClassifier", "CARTRegressor", "ID3Classifier", "GBDTClassifier"}),
    Edge("categories that no row has", WORDS.astype(pd.CategoricalDtype(list("opqrstuvwxyz"))), like=PLAIN_WORDS,
         models=TAKE_WORDS - {"ID3Classifier"}),
    Edge("eighty classes", np.arange(80.0)[:, np.newaxis], np.arange(80), predicts=np.arange(80),
         models={"CARTClassifier", "ObliqueTreeClassifier"} - {"ObliqueTreeClassifier"}),
]  # fmt: skip

EDGES = [*TYPES, *LABELS, *SCALES, *WEIGHTS, *MISSING, *NAMES, *SIZES]


EACH = [pytest.param(edge, MODELS[name], id=f"{edge.name}-{name}") for edge in EDGES for name in sorted(edge.models)]


def test_there_are_eighty_kinds_each_with_one_name():
    names = [edge.name for edge in EDGES]
    assert len(set(names)) == len(names) >= 80


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("edge, model", EACH)
def test_edge(edge, model):
    model, ask = clone(model), edge.X if edge.ask is None else edge.ask
    if edge.refuses is not None:
        with pytest.raises((ValueError, TypeError), match=edge.refuses):
            model.fit(edge.X, edge.y, edge.weight).predict(ask)
        return
    model.fit(edge.X, edge.y, edge.weight)
    if edge.predicts is not None:
        assert_agree(model.predict(ask), edge.predicts, atol=0)
        return
    wanted = plain_answers(model, edge.like)
    if isinstance(model, ClassifierMixin):
        assert_agree(answers(model, ask), wanted)
    else:
        # A target that is scaled as a whole scales the predictions.
        scale = np.ptp(np.asarray(edge.y, dtype=float)) if edge.name.startswith("a target times") else 1.0
        assert_agree(answers(model, ask) / scale, wanted)


#: What a model answers about a table that others are like, by the class and the table: most edges share theirs.
ANSWERS: dict[tuple[str, int], np.ndarray] = {}


def plain_answers(model, like: tuple) -> np.ndarray:
    key = type(model).__name__, id(like)
    if key not in ANSWERS:
        X, y, weight, ask = (*like, None, None, None)[:4]
        ANSWERS[key] = answers(clone(model).fit(X, y, weight), X if ask is None else ask)
    return ANSWERS[key]


def assert_agree(found, wanted, atol=1e-12):
    found, wanted = np.asarray(found), np.asarray(wanted)
    if wanted.dtype.kind in "fiub":
        np.testing.assert_allclose(found.astype(float), wanted.astype(float), rtol=1e-9, atol=atol)
    else:
        assert found.tolist() == wanted.tolist()


def test_no_warning_comes_from_reading_tables():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in (np.array([1, None, 2]), pd.array([1, None, 2], dtype="Int64"), ["u", None, "v"]):
            table = pd.DataFrame({"x": values})
            CARTClassifier().fit(table, [0, 1, 1]).predict(table)


# -- a fit that does not end well -------------------------------------------------------------------------------

LARGER = pd.DataFrame(np.hstack([NUMBERS, NUMBERS[:, :1] % 3]), columns=["u", "v", "w"])


@cache
def learned(name: str):
    """The model of a class that has learned the plain table; a test changes a copy."""
    return clone(MODELS[name]).fit(*PLAIN)


def behaviour(model, frame=FRAME) -> object:
    """What a model answers, or that it is not fitted."""
    try:
        labels = model.classes_.tolist() if isinstance(model, ClassifierMixin) else None
        return answers(model, frame).tolist(), labels, model.n_features_in_
    except (NotFittedError, AttributeError) as error:
        assert isinstance(error, NotFittedError) or "classes_" in str(error)
        return "not fitted"


class Interruption:
    """Raises KeyboardInterrupt at the n-th call of a function of treekit's, as a user's Ctrl+C may."""

    def __init__(self, at: float):
        self.at, self.n_calls = at, 0

    def __call__(self, frame, event, argument):
        # What is raised in a generator that is being thrown away is lost, so generators don't count.
        is_function = not frame.f_code.co_flags & inspect.CO_GENERATOR
        if event == "call" and is_function and "treekit" in frame.f_code.co_filename:
            self.n_calls += 1
            if self.n_calls >= self.at:
                sys.settrace(None)
                raise KeyboardInterrupt

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self)
        return self

    def __exit__(self, *error):
        sys.settrace(self.before)


#: A second table to learn from: the same columns, others; its labels are others in any case.
SECOND = {"the same columns": FRAME[::-1].reset_index(drop=True), "other columns": LARGER}

#: After which share of its calls a fit on it is interrupted.
INTERRUPTED = {"the same columns": (0.1, 0.7), "other columns": (0.4, 0.85)}


def second_labels(name: str) -> np.ndarray:
    return 2.5 - Y if name in REGRESSORS else np.array(["x", "y"])[Y]


@pytest.mark.parametrize("columns", SECOND)
@pytest.mark.parametrize("name", sorted(MODELS))
def test_an_interrupted_fit_leaves_the_old_model_or_none(name, columns):
    """At any point of a second fit; and at any point of a first one, after which there is no model."""
    second = SECOND[columns], second_labels(name)
    with Interruption(np.inf) as counter:
        clone(MODELS[name]).fit(*second)
    for share in INTERRUPTED[columns]:
        model, new = deepcopy(learned(name)), clone(MODELS[name])
        before = behaviour(model)
        for each in (model, new):
            with pytest.raises(KeyboardInterrupt), Interruption(share * counter.n_calls):
                each.fit(*second)
        assert behaviour(model) in (before, "not fitted")
        assert behaviour(new, second[0]) == "not fitted"


#: What makes a second fit fail, from its first check to its last.
SPOILT = {
    "X": lambda frame: dict(X=frame.assign(**{frame.columns[1]: [np.inf, [1]] * 6})),
    "y": lambda frame: dict(y=[None] * 12),
    "the weights": lambda frame: dict(weight=np.zeros(12)),
    "a parameter": lambda frame: dict(parameters={"max_depth": "deep", "n_estimators": "many"}),
}


@pytest.mark.parametrize("fault", SPOILT)
@pytest.mark.parametrize("columns", SECOND)
@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_refused_fit_leaves_the_old_model_or_none(name, columns, fault):
    second = dict(X=SECOND[columns], y=second_labels(name), weight=None, parameters={})
    second |= SPOILT[fault](second["X"])
    model = deepcopy(learned(name))
    before = behaviour(model)
    model.set_params(**{key: value for key, value in second["parameters"].items() if key in model.get_params()})
    with pytest.raises((ValueError, TypeError)):
        model.fit(second["X"], second["y"], second["weight"])
    assert behaviour(model) in (before, "not fitted")


# -- what is shown of names and numbers -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "a\x00b", "a\x1bb", "色泽", "<b>&\"'", "", "a = b and c"])
@pytest.mark.parametrize("is_number", [True, False])
def test_names_break_neither_text_nor_drawing(name, is_number):
    """In columns, categories and labels alike: a line of text a node, a rule a leaf, and a drawing that is XML."""
    X = pd.DataFrame({name: [1.0, 2.0, 3.0] if is_number else [name, f"{name}2", f"{name}3"]})
    tree = CARTClassifier().fit(X, [name, f"{name}2", f"{name}3"]).tree_
    assert len(tree.export_text().splitlines()) == tree.n_nodes
    assert all(len(rule.splitlines()) == 1 for rule in tree.export_rules())
    ET.fromstring(tree.draw().svg)
    assert len(tree.to_frame()) == tree.n_nodes


@pytest.mark.parametrize(
    "scale, shift",
    [
        (1, 0),
        (1e-12, 0),
        (1e9, 0),
        (1e-7, 1),
        (1, 2.0**40),
    ],
)
def test_printed_thresholds_tell_neighbours_apart(scale, shift):
    """Rows that follow the printed questions end where the tree sends them."""
    X = (np.arange(16.0) * scale + shift)[:, np.newaxis]
    tree = CARTClassifier().fit(X, np.arange(16) % 2).tree_
    for node in tree.walk():
        if not node.is_leaf:
            below = list(node.children)
            assert len(below) == 2, "two branches of one name"
            printed = float(below[0].removeprefix("<= "))
            assert np.array_equal(printed >= X, tree.threshold[node.id] >= X)


def test_masked_entries_are_refused_in_the_rows_asked_too():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = CARTClassifier().fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="X has masked entries"):
        model.predict(np.ma.masked_greater(X, 1))
