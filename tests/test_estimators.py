"""One contract for all estimators: what scikit-learn asks of them, what they say of bad input, and their laws.

Each row of a table is a case, and each runs for every estimator that it concerns. What only one estimator does is
tested in the file of its own.
"""

from __future__ import annotations

import pickle
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from packaging.version import Version
from sklearn.base import ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import estimator_checks_generator

import treekit
from tests.helpers import MODELS, answers, assert_same_trees
from treekit import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CascadeForestClassifier,
    GBDTClassifier,
    GBDTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from treekit.models.cart import CLASSIFICATION, REGRESSION_CRITERIA
from treekit.models.gbdt import REGRESSION_LOSSES

each_model = pytest.mark.parametrize("model", [pytest.param(model, id=name) for name, model in MODELS.items()])


def is_classifier(model) -> bool:
    return isinstance(model, ClassifierMixin)


def test_no_estimator_is_left_out():
    public = {name for name in treekit.__all__ if hasattr(getattr(treekit, name), "fit")}
    assert public == set(MODELS)


# -- scikit-learn's conventions ---------------------------------------------------------------------------------

#: A bootstrap sample and a fold depend on the number and order of the rows, so a row of weight 2 is not the row twice.
OF_SAMPLING = {"check_sample_weight_equivalence_on_dense_data"}

#: What scikit-learn checks of a class and its reading of X and y, whatever its parameters: once for each class.
OF_THE_CLASS = {
    "check_classifier_data_not_an_array", "check_complex_data", "check_do_not_raise_errors_in_init_or_set_params",
    "check_dont_overwrite_parameters", "check_dtype_object", "check_estimator_cloneable", "check_estimator_repr",
    "check_estimator_sparse_array", "check_estimator_sparse_matrix", "check_estimator_sparse_tag",
    "check_estimator_tags_renamed", "check_estimators_empty_data_messages", "check_estimators_fit_returns_self",
    "check_estimators_partial_fit_n_features", "check_estimators_unfitted", "check_fit1d", "check_fit2d_predict1d",
    "check_fit_check_is_fitted", "check_fit_score_takes_y", "check_get_params_invariance", "check_mixin_order",
    "check_n_features_in", "check_n_features_in_after_fitting", "check_no_attributes_set_in_init",
    "check_non_transformer_estimators_n_iter", "check_parameters_default_constructible", "check_pipeline_consistency",
    "check_positive_only_tag_during_fit", "check_readonly_memmap_input", "check_regressor_data_not_an_array",
    "check_requires_y_none", "check_sample_weights_list", "check_sample_weights_not_an_array",
    "check_sample_weights_pandas_series", "check_sample_weights_shape", "check_set_params", "check_supervised_y_2d",
    "check_supervised_y_no_nan", "check_valid_tag_types",
}  # fmt: skip

#: The estimators that take all checks, and those of them that may not.
WHOLE = [
    (ID3Classifier(), set()),
    (C45Classifier(), set()),
    (CARTClassifier(), set()),
    (CARTRegressor(), set()),
    (ObliqueTreeClassifier(n_restarts=1), set()),
    (BaggingClassifier(n_estimators=3), OF_SAMPLING),
    (RandomForestClassifier(n_estimators=3), OF_SAMPLING),
    (RandomForestRegressor(n_estimators=3), OF_SAMPLING),
    (AdaBoostClassifier(n_estimators=5), set()),
    (GBDTClassifier(n_estimators=5, learning_rate=0.5), set()),
    (GBDTRegressor(n_estimators=5, learning_rate=0.5), set()),
    (CascadeForestClassifier(n_forests=1, n_estimators=1, n_folds=2, max_levels=2, random_state=0), OF_SAMPLING),
]

#: Other ways through the code of the same classes: only what looks at how they fit and predict.
OTHER_WAYS = [
    C45Classifier(conventions="quinlan", subtree_raising=True, limit="weka"),
    CARTClassifier(criterion="entropy", max_features="sqrt", random_state=0),
    CARTRegressor(criterion="absolute_error"),
    # Without a sample there is no exception: random columns alone pass the check of the weights.
    RandomForestClassifier(n_estimators=2, bootstrap=False),
    RandomForestRegressor(n_estimators=2, bootstrap=False, max_features=0.5),
    GBDTClassifier(n_estimators=5, learning_rate=0.5, method="newton"),
    GBDTRegressor(n_estimators=5, learning_rate=0.5, method="newton"),
]


def conventions():
    for model, without in [*WHOLE, *((model, OF_THE_CLASS) for model in OTHER_WAYS)]:
        for estimator, check in estimator_checks_generator(model):
            name = check.func.__name__
            if name not in without:
                yield pytest.param(estimator, check, id=f"{model!r}-{name}")


@pytest.mark.slow
@pytest.mark.parametrize("estimator, check", list(conventions()))
def test_scikit_learn_conventions(estimator, check):
    of_whole_numbers = isinstance(estimator, ID3Classifier) and "positive_only_tag" in check.func.__name__
    if of_whole_numbers and Version(sklearn.__version__) < Version("1.7.1"):
        # Before 1.7.1 the check itself breaks off on a table of whole numbers, which categories are: it subtracts a
        # float from them in place.
        with pytest.raises(TypeError, match="Cannot cast ufunc 'subtract' output"):
            check(estimator)
        return
    check(estimator)


# -- bad tables, labels and weights -----------------------------------------------------------------------------

X = [[1.0], [2.0], [3.0], [4.0]]
Y = [0, 1, 0, 1]
NAMED = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [4.0, 2, 3, 1]})


def column(*values, name="c") -> pd.DataFrame:
    return pd.DataFrame({name: list(values)})


#: X, y, sample_weight, and what the message says.
REFUSED_BY_ALL = {
    "X an empty list": ([], [], None, "Expected 2D array"),
    "X an array without rows": (np.zeros((0, 2)), [], None, r"0 sample\(s\)"),
    "X a frame without rows": (pd.DataFrame({"a": []}), [], None, "X is empty"),
    "X without columns": (pd.DataFrame(index=range(4)), Y, None, "X has no columns"),
    "X holds dates": (column(*pd.to_datetime(["2020", "2021"] * 2)), Y, None, "column 'c' holds dates"),
    "X holds complex numbers": (column(1j, 2j, 3j, 4j), Y, None, "Complex data not supported: X, column 'c'"),
    "y is shorter than X": (X, [0, 1], None, "X has 4 rows, y has 2"),
    "y is left out": (X, None, None, "requires y"),
    "y has two columns": (X, [[0, 1]] * 4, None, "y should be a 1d array"),
    "y contains NaN": (X, [0, 1, 0, np.nan], None, "y contains NaN.*first in row 3"),
    "y contains infinity": (X, [0, 1, 0, np.inf], None, "y contains .*infinity"),
    "sample_weight is zero": (X, Y, [0, 0, 0, 0], "sample_weight is zero everywhere"),
    "sample_weight is too short": (X, Y, [1], "sample_weight must have one entry per row"),
    "sample_weight is one number": (X, Y, 3.0, "sample_weight must have one entry per row"),
    "sample_weight has two axes": (X, Y, np.ones((4, 1)), "sample_weight must have one entry per row"),
    "sample_weight is negative": (X, Y, [1, 1, 1, -1], "sample_weight must be finite and not negative"),
    "sample_weight contains NaN": (X, Y, [1, 1, 1, np.nan], "sample_weight must be finite"),
    "sample_weight contains infinity": (X, Y, [1, 1, 1, np.inf], "sample_weight must be finite"),
    "sample_weight holds text": (X, Y, list("abcd"), "sample_weight must hold numbers"),
    "sample_weight is huge": (X, Y, [1e200] * 4, "sample_weight sums to"),
}
REFUSED_BY_CLASSIFIERS = {
    "y mixes kinds": (X, pd.Series(["a", 1, "a", 1]), None, "y mixes int, str"),
    "y contains None": (X, ["a", "b", "a", None], None, "y contains NaN or None, first in row 3"),
    "y is continuous": (X, [0.5, 1.5, 0.5, 1.5], None, "Unknown label type"),
}
REFUSED_BY_REGRESSORS = {
    "y holds text": (X, list("abab"), None, "y must hold numbers"),
    "y holds dates": (X, pd.to_datetime(["2020", "2021"] * 2), None, "y holds dates"),
    "y spreads too far": (X, [0, 0, 0, 1e200], None, "y spreads over 1e.200"),
    "y spreads too little": (X, [0, 0, 0, 1e-200], None, "y spreads over"),
}
#: Refused by all but one class, which has its own answer (see the name).
REFUSED_BY_OTHERS = {
    "X contains infinity, not ID3": (column(1, np.inf, 2, 3), Y, None, "X contains infinity in column 'c'"),
    "X in an array contains infinity": ([[1], [np.inf], [2], [3]], Y, None, "X contains infinity"),
    "X holds whole numbers above 2**53, not ID3": (
        column(*[2**60, 2**60 + 1] * 2), Y, None, "column 'c' holds whole numbers above",
    ),
    "X mixes kinds, not Oblique": (column("a", 1, "a", 1), Y, None, "column 'c' mixes int, str"),
}  # fmt: skip
NO_RULE_FOR_MISSING = {
    "X contains NaN": ([[1.0], [np.nan], [2.0], [3.0]], Y, None, "X contains NaN"),
    "X in an array contains None": (np.array([[1], [None], [2], [3]], dtype=object), Y, None, "(?i)X contains NaN"),
    "X in a frame contains None": (column("a", None, "b", "b"), Y, None, "column 'c'"),
    "X in a frame contains NaN": (column(1.0, None, 2.0, 3.0), Y, None, "NaN or None in column 'c', first in row 1"),
    "X has nothing in a column": (column(None, None, None, None), Y, None, "column 'c'"),
}
NO_CATEGORIES = {
    "X holds text": (column("u", "v", "u", "v"), Y, None, "column 'c' holds text; .*get_dummies"),
    "X holds text and numbers": (column("u", 1, "u", 1), Y, None, "column 'c' holds text"),
    "X holds categories": (column("u", "v", "u", "v").astype("category"), Y, None, "column 'c' holds categories"),
}


def refusals():
    for name, model in MODELS.items():
        cases = REFUSED_BY_ALL | (REFUSED_BY_CLASSIFIERS if is_classifier(model) else REFUSED_BY_REGRESSORS)
        cases |= {case: row for case, row in REFUSED_BY_OTHERS.items() if case.rpartition("not ")[2] not in name}
        if isinstance(model, (ID3Classifier, ObliqueTreeClassifier)):
            cases |= NO_RULE_FOR_MISSING
        if isinstance(model, ObliqueTreeClassifier):
            cases |= NO_CATEGORIES
        for case, row in cases.items():
            yield pytest.param(model, *row, id=f"{name}-{case}")


@pytest.mark.parametrize("model, X, y, weight, message", list(refusals()))
def test_bad_input_is_named(model, X, y, weight, message):
    with pytest.raises((ValueError, TypeError), match=message):
        clone(model).fit(X, y, sample_weight=weight)


def test_a_mixture_is_a_type_error():
    """What is of the wrong type, not of a wrong value."""
    for model in MODELS.values():
        if not isinstance(model, ObliqueTreeClassifier):
            with pytest.raises(TypeError, match="column 'c' mixes int, str"):
                clone(model).fit(column("a", 1, "a", 1), Y)
        if is_classifier(model):
            with pytest.raises(TypeError, match="y mixes int, str"):
                clone(model).fit(X, pd.Series(["a", 1, "a", 1]))


#: What is asked of a model fitted on the columns a and b, and what the message says.
BAD_QUESTIONS = {
    "one column more": (np.ones((1, 3)), "X has 3 features"),
    "one column fewer": (NAMED[["a"]], "feature names .*\n(.*\n)*.*missing"),
    "another name": (NAMED.rename(columns={"a": "z"}), "feature names .*\n.*unseen at fit time:\n- z"),
    "another order": (NAMED[["b", "a"]], "must be in the same order"),
    "no rows": (NAMED[:0], "X is empty"),
    "text for numbers": (NAMED.assign(a="u"), "column 'a'"),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("X, message", BAD_QUESTIONS.values(), ids=BAD_QUESTIONS)
@each_model
def test_bad_questions_are_named(model, X, message):
    model = clone(model)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(NAMED)
    model.fit(NAMED, Y)
    with pytest.raises(ValueError, match=message):
        model.predict(X)


@each_model
def test_what_a_threshold_cannot_tell_is_refused_in_prediction_too(model):
    model = clone(model).fit(NAMED, Y)
    if isinstance(model, ID3Classifier):
        assert len(model.predict(NAMED.assign(a=np.inf))) == 4  # a category like any other
        return
    with pytest.raises(ValueError, match="X contains infinity in column 'a'"):
        model.predict(NAMED.assign(a=np.inf))
    if isinstance(model, ObliqueTreeClassifier):
        with pytest.raises(ValueError, match="NaN or None in column 'a', first in row 0"):
            model.predict(NAMED.assign(a=np.nan))


@each_model
def test_a_column_of_text_stays_one(model):
    if isinstance(model, ObliqueTreeClassifier):
        return
    model = clone(model).fit(column("1", "2", "1", "2"), Y)
    with pytest.raises(ValueError, match="column 'c' held text in fit and holds numbers now"):
        model.predict(column(1, 2))


# -- bad parameters ---------------------------------------------------------------------------------------------

#: Values that a parameter of that name may take in no class.
BAD_VALUES = {
    "n_estimators": [0, -1, 2.5, "many", None],
    "max_depth": [-1, 1.5, "deep", np.nan, True],
    "min_samples_split": [1, -1, "two", 1.5],
    "min_samples_leaf": [-1, "2", np.nan],
    "min_weight_fraction_leaf": [-0.1, 0.6, "half"],
    "min_impurity_decrease": [-1, np.inf, np.nan, "some"],
    "min_gain": [-1, np.nan, "some"],
    "criterion": ["mse", None, 1, pd.NA, np.array(["gini", "gini"])],
    "conventions": ["weka", None],
    "confidence": [0, -0.1, 1.5, "high"],
    "subtree_raising": ["yes", 2],
    "limit": ["exact", 0.1],
    "max_features": [0, 2.0, 5, "all", "cube", -1, True],
    "categorical_split": ["both", None],
    "max_surrogates": [-1, 1.5, "all"],
    "max_leaf_nodes": [1, 0, 2.5, "many"],
    "ccp_alpha": [-0.1, np.nan, "none"],
    "monotonic_cst": ["rising", 1, [1], [[1], [0, 1]], {"no such column": 1}, [np.nan, 0, 0, 0]],
    "class_weight": [
        "nonsense",
        1.5,
        [1, 2],
        {0: 0, 1: 0},
        *({0: weight, 1: 1} for weight in (-1, np.nan, np.inf, 1e300, 10**400, "much", None)),
    ],
    "random_state": ["dice", -1.5, -1],
    "n_restarts": [-1, 1.5],
    "voting": ["loud", None],
    "learning_rate": [0, -1, "slow", np.nan, Fraction(1, 2), 10**400],
    "method": ["second", 2, None],
    "max_bins": [1, 2.5, "all"],
    "reg_lambda": [-1, np.nan],
    "gamma": [-0.1, "high"],
    "min_child_weight": [-1, np.nan],
    "subsample": [0, 1.5, -1],
    "validation_fraction": [0, 1.5],
    "n_iter_no_change": [0, 2.5],
    "tol": [-1, np.nan],
    "base_score": ["high", "0.5", [0.5, 0.5], np.nan],
    "loss": ["log_loss", None],
    "alpha": [-0.1, 1.5, "high"],
    "n_forests": [0, 1.5],
    "n_folds": [1, 2.5],
    "max_levels": [0, 1.5],
    "estimator": ["tree", KNeighborsClassifier(), CARTRegressor(), CARTClassifier, KMeans(), 3],
    "bootstrap": ["no", 2],
    "oob_score": ["yes", 2],
    "verbose": ["loud", -1],
}

#: Values that only some classes take: C4.5 asks for a weight, and 0 of it leaves a leaf as small as it likes.
BAD_VALUES_BUT_FOR_C45 = {"min_samples_leaf": [0, 1.5]}


def bad_parameters():
    for name, model in MODELS.items():
        for parameter in model.get_params(deep=False):
            # Whether to print is a truth in most classes; boosting counts rounds.
            if parameter == "verbose" and not name.startswith("GBDT"):
                continue
            more = [] if name == "C45Classifier" else BAD_VALUES_BUT_FOR_C45.get(parameter, [])
            for value in BAD_VALUES[parameter] + more:
                yield pytest.param(model, parameter, value, id=f"{name}-{parameter}={value!r}")


@pytest.mark.parametrize("model, parameter, value", list(bad_parameters()))
def test_bad_parameters_are_named(model, parameter, value):
    model = clone(model).set_params(**{parameter: value})
    if parameter == "random_state" and "max_features" in model.get_params(deep=False):
        model.set_params(max_features=1)
    # The message begins with the name; that of scikit-learn's own check of class weights puts it in quotation marks.
    with pytest.raises((ValueError, TypeError), match=rf"^(The '|){parameter}\b"):
        model.fit(NAMED, Y)


def test_combinations_of_parameters_that_do_not_fit_each_other():
    for forest in (RandomForestClassifier, RandomForestRegressor):
        with pytest.raises(ValueError, match="oob_score needs bootstrap=True"):
            forest(bootstrap=False, oob_score=True).fit(X, Y)
    for model in (RandomForestClassifier, RandomForestRegressor, BaggingClassifier):
        with pytest.raises(ValueError, match="oob_score: no row was left out of any sample"):
            model(n_estimators=5, oob_score=True, random_state=0).fit([[1.0]], [1])
    with pytest.raises(ValueError, match="estimator must have predict_proba"):
        BaggingClassifier(LinearSVC()).fit(X, Y)
    for model in (
        CARTRegressor(criterion="poisson"),
        RandomForestRegressor(criterion="poisson"),
        GBDTRegressor("poisson"),
    ):
        for y, fault in (([-1, 1, 1, 1], "y must not be negative"), ([0, 0, 0, 0], "nor zero everywhere")):
            with pytest.raises(ValueError, match=fault):
                model.fit(X, y)
    for loss in ("absolute_error", "huber"):
        with pytest.raises(ValueError, match=f"loss='{loss}'.*method='gradient'"):
            GBDTRegressor(loss, method="newton").fit(X, Y)
    with pytest.raises(ValueError, match="validation_fraction=1 can't be held out of 4 rows"):
        GBDTRegressor(n_iter_no_change=2, validation_fraction=1).fit(X, Y)
    with pytest.raises(ValueError, match="sample_weight sums to .*, too far from 1"):
        CARTClassifier(class_weight={0: 1e99, 1: 1}).fit(X, Y, [1e97] * 4)
    for model in (
        GBDTRegressor("poisson", base_score=-1.0),
        GBDTClassifier(base_score=-0.5),
        GBDTClassifier(base_score=1.5),
    ):
        with pytest.raises(ValueError, match="base_score must be"):
            model.fit(X, Y)
    for model in (GBDTRegressor(n_iter_no_change=2), GBDTClassifier(n_iter_no_change=2)):
        with pytest.raises(ValueError, match="validation_fraction=0.1 can't be held out of 1 rows"):
            model.fit([[1.0]], [1])
    with pytest.raises(ValueError, match="numbers only"):
        CARTRegressor(criterion="absolute_error").fit(column("a", "b", "a", "b"), Y)
    with pytest.raises(ValueError, match="column named 'forest 0 class 0'"):
        CascadeForestClassifier(n_estimators=1).fit(column(1.0, 2.0, 3.0, 4.0, name="forest 0 class 0"), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="X has 1 sample"):
        CascadeForestClassifier().fit([[1.0]], [1])
    with pytest.raises(ValueError, match="X has 1 sample of positive weight"):
        CascadeForestClassifier().fit(X, Y, sample_weight=[1, 0, 0, 0])
    with pytest.raises(ValueError, match="estimator is no better than chance in the first round"):
        AdaBoostClassifier().fit(np.ones((4, 1)), Y)


# -- what a fitted estimator is ---------------------------------------------------------------------------------


def grown_table() -> tuple[pd.DataFrame, np.ndarray]:
    """Two columns of numbers and one of words, in which every model finds something to ask."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.integers(0, 5, 40), "b": rng.normal(size=40).round(1), "c": rng.choice(list("uvw"), 40)}
    )
    return frame, (frame["a"] + 2 * frame["b"] + (frame["c"] == "u") > 2).to_numpy().astype(int)


def suited(frame: pd.DataFrame, model) -> pd.DataFrame:
    """Of the columns a, b and c those that the model can take, without gaps where it has no rule for them."""
    if isinstance(model, ObliqueTreeClassifier) or getattr(model, "criterion", None) == "absolute_error":
        frame = frame.drop(columns="c")
    if isinstance(model, (ID3Classifier, ObliqueTreeClassifier)):
        numbers = [name for name in frame if name != "c"]
        frame = frame.fillna(dict.fromkeys(numbers, 0)).dropna(axis=1)
    return frame


@each_model
def test_pickle_and_clone_round_trip(model):
    frame, y = grown_table()
    frame, model = suited(frame, model), clone(model).fit(suited(frame, model), y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(answers(again, frame), answers(model, frame))
    assert again.get_params().keys() == model.get_params().keys()
    assert_same_trees(again, model)
    copy = clone(model)
    assert repr(copy) == repr(model)
    with pytest.raises(NotFittedError):
        copy.predict(frame)
    assert np.array_equal(answers(copy.fit(frame, y), frame), answers(model, frame))


@each_model
def test_what_scikit_learn_has_noted_outlives_a_fit(model):
    frame, y = grown_table()
    model = clone(model)
    model._noted_by_scikit_learn = "such as a request for metadata"
    model.fit(suited(frame, model), y).fit(suited(frame, model), y)
    assert model._noted_by_scikit_learn == "such as a request for metadata"


@each_model
def test_before_a_fit_there_is_nothing_to_read(model):
    model = clone(model)
    asked = {"feature_importances_", "n_estimators_", "get_depth", "get_n_leaves"} & set(dir(type(model)))
    assert asked or isinstance(model, (BaggingClassifier, CascadeForestClassifier))
    for name in asked:
        with pytest.raises(NotFittedError, match="not fitted yet"):
            value = getattr(model, name)
            value()
    learned = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    assert learned == []


@each_model
def test_names_of_columns_and_labels(model):
    frame, y = grown_table()
    frame = suited(frame, model)
    model = clone(model).fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame) and model.n_features_in_ == frame.shape[1]
    if is_classifier(model):
        assert model.classes_.tolist() == [0, 1]
        words = np.array(["down", "up"])[y]
        named = clone(model).fit(frame, words)
        assert np.array_equal(named.predict_proba(frame), model.predict_proba(frame))
        assert set(named.predict(frame)) <= {"down", "up"}
    bare = clone(model).fit(frame[["a", "b"]].to_numpy(), y)
    assert not hasattr(bare, "feature_names_in_") and bare.n_features_in_ == 2


@each_model
def test_an_array_where_a_frame_was_is_warned_of(model):
    model = clone(model).fit(NAMED, Y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert np.array_equal(answers(model, NAMED.to_numpy()), answers(model, NAMED))
    bare = clone(model).fit(NAMED.to_numpy(), Y)
    with pytest.warns(UserWarning, match="X has feature names"):
        assert np.array_equal(answers(bare, NAMED), answers(bare, NAMED.to_numpy()))


#: Models in which something is random, with enough of it that two seeds differ.
RANDOM = [
    CARTClassifier(max_features=2),
    CARTRegressor(max_features=2),
    ObliqueTreeClassifier(),
    BaggingClassifier(n_estimators=3),
    RandomForestClassifier(n_estimators=3),
    RandomForestRegressor(n_estimators=3),
    RandomForestClassifier(n_estimators=3, bootstrap=False),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=2, max_features=1), n_estimators=3),
    GBDTClassifier(n_estimators=2, subsample=0.5),
    GBDTRegressor(n_estimators=2, max_features=1),
    GBDTRegressor(n_estimators=2, method="newton", subsample=0.5),
    CascadeForestClassifier(n_forests=1, n_estimators=2, max_levels=1),
]


@pytest.mark.parametrize("model", RANDOM, ids=repr)
def test_a_seed_gives_one_model_and_another_seed_another(model):
    # Labels by chance, on which every draw matters, and rows that the model has not seen.
    rng = np.random.default_rng(1)
    X, y, others = rng.normal(size=(40, 4)), rng.integers(0, 2, 40), rng.normal(size=(200, 4))

    def fitted(random_state) -> np.ndarray:
        return answers(clone(model).set_params(random_state=random_state).fit(X, y), others)

    first = fitted(0)
    assert np.array_equal(fitted(0), first)
    assert np.array_equal(fitted(np.random.RandomState(0)), first)
    assert not np.array_equal(fitted(1), first)


@each_model
def test_without_random_choices_a_fit_is_the_same_every_time(model):
    if isinstance(model, (BaggingClassifier, RandomForestClassifier, RandomForestRegressor, CascadeForestClassifier)):
        model = clone(model).set_params(random_state=3)
    elif "random_state" in model.get_params() and not isinstance(model, ObliqueTreeClassifier):
        model = clone(model).set_params(random_state=None)
    frame, y = grown_table()
    frame = suited(frame, model)
    one, other = clone(model).fit(frame, y), clone(model).fit(frame, y)
    assert_same_trees(one, other)
    assert np.array_equal(answers(one, frame), answers(other, frame))


# -- laws of rows and weights -----------------------------------------------------------------------------------

#: Models whose docstrings promise that the order of the rows changes nothing, and that a weight counts rows; with every
#: criterion and loss that has a name, so also with a new one.
ORDERLESS = [
    ID3Classifier(),
    C45Classifier(),
    *(CARTClassifier(criterion) for criterion in CLASSIFICATION),
    *(CARTRegressor(criterion) for criterion in REGRESSION_CRITERIA),
    RandomForestRegressor(n_estimators=1, bootstrap=False),
    AdaBoostClassifier(n_estimators=3),
    GBDTClassifier(n_estimators=2, learning_rate=0.5),
    *(
        GBDTRegressor(name, n_estimators=2, learning_rate=0.5, method=method)
        for name, loss in REGRESSION_LOSSES.items()
        for method in ("gradient", "newton")[: 1 + loss.is_curved]
    ),
    GBDTClassifier(n_estimators=2, learning_rate=0.5, method="newton"),
]
#: The average gain leaves out columns with many categories for their rows, so it counts rows, not weights.
QUINLAN = C45Classifier(conventions="quinlan")
#: A combination of columns is searched for by steps that round, so only what the best one gains is compared.
OBLIQUE = ObliqueTreeClassifier(max_depth=1, n_restarts=1, random_state=0)
#: CART's trees, alone or as members.
HAVE_SURROGATES = (CARTClassifier, CARTRegressor, RandomForestRegressor, AdaBoostClassifier)
#: A sample depends on the number and order of the rows; but rows of weight zero are never drawn.
SAMPLED = [MODELS[name] for name in ("BaggingClassifier", "RandomForestClassifier", "RandomForestRegressor")]


def entries(values, n: int):
    return st.lists(values, min_size=n, max_size=n)


def tables():
    """Rows with two columns of numbers and one of words, the last two with gaps, and labels from 0 to 2."""
    return st.integers(4, 18).flatmap(
        lambda n: st.fixed_dictionaries(
            {
                "a": entries(st.integers(0, 4), n),
                "b": entries(st.sampled_from([None, 0.5, 1.0, 2.0, 3.5]), n),
                "c": entries(st.sampled_from([None, "u", "v", "w"]), n),
                "y": entries(st.integers(0, 2), n),
            }
        )
    )


def as_frame(table: dict) -> tuple[pd.DataFrame, np.ndarray]:
    words = pd.CategoricalDtype(["u", "v", "w"])
    frame = pd.DataFrame(
        {"a": table["a"], "b": np.array(table["b"], dtype=float), "c": pd.Series(table["c"], dtype=words)}
    )
    return frame, np.array(table["y"])


def fitted_or_rejected(model, frame, y, weight=None):
    """The fitted model; where AdaBoost beats no chance, or Poisson counts nothing, the example tells nothing."""
    try:
        return clone(model).fit(suited(frame, model), y, weight)
    except ValueError as error:
        if "y must be positive" in str(error):
            return clone(model).fit(suited(frame, model), y + 1, weight)
        assume(not re.search("no better than chance|zero everywhere", str(error)))
        raise


def assert_same_model(one, other, frame):
    frame = suited(frame, one)
    if isinstance(one, ObliqueTreeClassifier):
        assert one.tree_.gain[0] == pytest.approx(other.tree_.gain[0], abs=1e-9)
        return
    assert_same_trees(one, other)
    np.testing.assert_allclose(answers(one, frame), answers(other, frame), rtol=1e-6, atol=1e-9)
    if isinstance(one, AdaBoostClassifier):
        np.testing.assert_allclose(one.estimator_errors_, other.estimator_errors_, atol=1e-9)
        np.testing.assert_allclose(one.estimator_weights_, other.estimator_weights_, atol=1e-6)


few = settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


@pytest.mark.parametrize("model", [*ORDERLESS, OBLIQUE], ids=repr)
@few
@given(table=tables(), data=st.data())
def test_a_whole_weight_is_the_row_so_often(model, table, data):
    frame, y = as_frame(table)
    if isinstance(model, HAVE_SURROGATES):
        # A surrogate must send two rows either way, as in rpart: it counts them, whatever they weigh.
        frame = frame.fillna({"b": 0.0, "c": "u"})
    weight = np.array(data.draw(entries(st.integers(1, 3), len(y))))
    rows = np.repeat(np.arange(len(y)), weight)
    one, other = fitted_or_rejected(model, frame, y, weight), fitted_or_rejected(model, frame.iloc[rows], y[rows])
    assert_same_model(one, other, frame)


@pytest.mark.parametrize("model", [*ORDERLESS, QUINLAN, OBLIQUE, *SAMPLED], ids=repr)
@few
@given(table=tables(), data=st.data())
def test_a_row_of_weight_zero_is_no_row_and_the_order_of_rows_does_not_matter(model, table, data):
    """Of a table whose other rows hold the same categories and classes; where they do not, see test_edges.py."""
    frame, y = as_frame(table)
    counts = np.array(data.draw(entries(st.booleans(), len(y)).filter(any)))
    if is_classifier(model):
        assume(set(y[counts]) == set(y))
    if isinstance(model, ID3Classifier):
        assume(set(frame["a"][counts]) == set(frame["a"]))
        assume(set(frame["b"].fillna(0)[counts]) == set(frame["b"].fillna(0)))
        frame = frame.drop(columns="c" if frame["c"].hasnans else [])
    rows = np.flatnonzero(counts)
    if model not in SAMPLED:  # which row is drawn depends on its place
        rows = np.array(data.draw(st.permutations(rows)))
    one = fitted_or_rejected(model, frame, y, counts.astype(float))
    other = fitted_or_rejected(model, frame.iloc[rows], y[rows])
    assert_same_model(one, other, frame[counts])


@pytest.mark.parametrize(
    ("model", "peer"),
    [
        *((CARTClassifier(name), DecisionTreeClassifier(criterion=name)) for name in CLASSIFICATION),
        *((CARTRegressor(name), DecisionTreeRegressor(criterion=name)) for name in REGRESSION_CRITERIA),
    ],
    ids=repr,
)
def test_an_impurity_is_that_of_scikit_learn(model, peer):
    """Of each node, under every criterion that has a name; a new one is met here, and needs a peer or a formula."""
    rng = np.random.default_rng(0)
    X, y, weight = rng.random((60, 1)), rng.integers(1, 5, 60), rng.integers(1, 4, 60)
    mine = model.set_params(max_depth=2).fit(X, y, weight).tree_
    theirs = peer.set_params(max_depth=2).fit(X, y, weight).tree_
    # They number nodes depth first.
    np.testing.assert_allclose(sorted(mine.impurity), sorted(theirs.impurity), rtol=1e-9, atol=1e-12)
    assert mine.n_nodes == 7


@pytest.mark.parametrize("model", SAMPLED, ids=repr)
def test_a_share_of_the_weight_is_no_share_of_the_rows(model):
    """Weights scaled as a whole change nothing: only their ratios count."""
    frame, y = grown_table()
    weight = np.arange(len(y)) % 3 + 1.0
    one, other = clone(model).fit(frame, y, weight), clone(model).fit(frame, y, 4 * weight)
    np.testing.assert_allclose(answers(one, frame), answers(other, frame), rtol=1e-12)
