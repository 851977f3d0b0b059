"""Values, labels and parameters of every kind, in every estimator: each has its documented outcome."""

import warnings

import numpy as np
import pandas as pd
import pytest

import treekit
from treekit import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CascadeForestClassifier,
    GBDTClassifier,
    ID3Classifier,
    ObliqueTreeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

ESTIMATORS = {
    "ID3": ID3Classifier(),
    "C4.5": C45Classifier(min_samples_leaf=1),
    "CART": CARTClassifier(),
    "oblique": ObliqueTreeClassifier(random_state=0),
    "bagging": BaggingClassifier(n_estimators=3, random_state=0),
    "forest": RandomForestClassifier(n_estimators=3, random_state=0),
    "AdaBoost": AdaBoostClassifier(n_estimators=3),
    "GBDT": GBDTClassifier(n_estimators=3),
    "cascade": CascadeForestClassifier(n_forests=1, n_estimators=1, n_folds=2, max_levels=2, random_state=0),
}
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)

PLAIN = [0.5, 1.0, 2.5, 3.0, 0.5, 3.0, 1.0, 2.5]
LABEL = ["a", "a", "b", "b", "a", "b", "a", "b"]


def objects(values):
    return pd.Series(values, dtype=object)


def frame(values):
    return pd.DataFrame({"x": values})


@pytest.mark.parametrize("name", ["ID3", "C4.5", "CART", "forest", "cascade"])
@pytest.mark.parametrize(
    "fitted, asked, same",
    [
        ([True, False], [1, 0], True),
        ([1, 0], [True, False], True),
        ([1, 0], [1.0, 0.0], True),
        ([1, 0], pd.array([True, False], dtype="boolean"), True),
        (["1", "0"], [1, 0], False),
        ([1, 0], ["1", "0"], False),
        (["True", "False"], [True, False], False),
    ],
)
def test_equal_values_are_the_same_category(name, fitted, asked, same):
    """As numbers and as pandas categories; text is never equal to a number."""
    for make in (frame, lambda x: frame(pd.Categorical(x))):
        model = ESTIMATORS[name].fit(make(list(fitted) * 4), ["p", "q"] * 4)
        wanted = model.predict(make(fitted)).tolist()
        if same:
            assert model.predict(make(asked)).tolist() == wanted == ["p", "q"]
        else:
            with pytest.raises(ValueError, match="column 'x' held (text|numbers) in fit"):
                model.predict(make(asked))


def test_the_width_of_floats_is_part_of_a_category():
    model = ID3Classifier().fit(frame(np.float32([0.1, 0.25])), ["p", "q"])
    with pytest.raises(ValueError, match="column 'x' held float32 in fit and holds float64 now"):
        model.predict(frame([0.1, 0.25]))
    assert model.predict(frame([0.25, 0.25])).tolist() == ["q", "q"]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "Int8"])
@pytest.mark.parametrize("name", ["C4.5", "CART", "forest", "GBDT", "cascade"])
def test_single_rows_with_a_missing_nullable_entry(name, dtype):
    table = frame(pd.array([0, 1] * 4, dtype=dtype))
    model = ESTIMATORS[name].fit(table, ["p", "q"] * 4)
    missing = frame(pd.array([None], dtype=dtype))
    assert model.predict(missing)[0] in ("p", "q")
    assert model.predict(table.iloc[1:2]).tolist() == ["q"]


@every_estimator
def test_nested_lists_keep_the_kinds_of_their_columns(name):
    if name == "oblique":
        return
    rows = [["u", 1.5], ["v", 2.5], ["u", 3.5], ["v", 4.5]] * 2
    table = pd.DataFrame(rows)
    from_lists, from_frame = (ESTIMATORS[name].fit(X, LABEL).predict(X).tolist() for X in (rows, table.to_numpy()))
    assert from_lists == from_frame
    if name == "CART":
        assert ESTIMATORS[name].fit(rows, LABEL).tree_.features[1].is_numeric


# -- labels -------------------------------------------------------------------------------------------------------


@every_estimator
@pytest.mark.parametrize(
    "label, error, message",
    [
        ([1, "1"] * 4, TypeError, "y mixes int, str"),
        (["a", float("nan"), "b", "a"] * 2, ValueError, "y contains NaN or None, first in row 1"),
        ([1.0, "a"] * 4, TypeError, "y mixes float, str"),
        ([True, "True"] * 4, TypeError, "y mixes bool, str"),
    ],
)
def test_labels_are_never_merged(name, label, error, message):
    """In lists, of which NumPy would make text."""
    with pytest.raises(error, match=message):
        ESTIMATORS[name].fit(frame(PLAIN), label)


def test_formulas_tell_numbers_and_text_apart():
    assert treekit.entropy([1, "1"]) == 1 and treekit.gini([1, "1"]) == 0.5
    assert treekit.entropy([1, True, 1.0]) == 0
    assert treekit.conditional_entropy([1, "1"], ["a", "b"]) == 0
    assert treekit.conditional_entropy(["u", float("nan"), "u"], ["a", "b", "a"]) == 0
    with pytest.raises(ValueError, match="y has missing entries, the first in row 1"):
        treekit.entropy(["a", float("nan"), "b"])


@pytest.mark.parametrize("prune", [treekit.prune_reduced_error, treekit.preprune, treekit.prune_and_raise])
def test_prunings_know_labels_of_another_type(prune):
    table = frame([1, 2, 3, 4] * 5)
    tree = CARTClassifier().fit(table, [1, 0, 1, 0] * 5).tree_
    wanted = prune(tree, table, [1, 0, 1, 0] * 5)
    assert wanted.n_leaves == 4 or prune is treekit.preprune
    for label in ([True, False] * 10, [1.0, 0.0] * 10, objects([1, 0] * 10)):
        assert prune(tree, table, label).export_text() == wanted.export_text()
        assert tree.score(table, label) == 1
    for call in (prune, lambda tree, X, y: tree.score(X, y)):
        with pytest.raises(ValueError, match="y held numbers in fit and holds text now"):
            call(tree, table, ["1", "0"] * 10)
    with pytest.raises(TypeError, match="y mixes int, str"):
        prune(tree, table, [1, "0"] * 10)


# -- frames and arrays --------------------------------------------------------------------------------------------


@every_estimator
def test_frames_and_arrays_warn_and_are_read_by_position(name):
    model = ESTIMATORS[name].fit(frame(PLAIN), LABEL)
    wanted = model.predict(frame(PLAIN)).tolist()
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert model.predict(np.array(PLAIN)[:, np.newaxis]).tolist() == wanted
    model = ESTIMATORS[name].fit(np.array(PLAIN)[:, np.newaxis], LABEL)
    with pytest.warns(UserWarning, match="X has feature names"):
        assert model.predict(frame(PLAIN)).tolist() == wanted


# -- fits that fail ------------------------------------------------------------------------------------------------


class Interrupted(BaseException):
    """As KeyboardInterrupt, it is no Exception."""


REGRESSORS = {"CART numbers": CARTRegressor(), "forest numbers": RandomForestRegressor(n_estimators=3, random_state=0)}
OURS = {k: v for k, v in {**ESTIMATORS, **REGRESSORS}.items() if k != "GBDT"}


@pytest.mark.parametrize("name", OURS)
def test_a_failed_fit_changes_nothing(name, monkeypatch):
    """Refused at once, or interrupted while the second member grows: the estimator is as it was, or not fitted."""
    model = OURS[name].__class__(**OURS[name].get_params())
    y = np.arange(8.0) if name in REGRESSORS else LABEL
    other = pd.DataFrame({"u": PLAIN, "v": PLAIN[::-1]})

    def interrupted(*_, **__):
        calls.append(1)
        if len(calls) > (2 if "estimators_" in vars(OURS[name]) else 0):
            raise Interrupted
        return original(*_, **__)

    failures = [(ValueError, lambda: model.fit(other, list(y)[:3]))]
    module = {"ID3": "id3", "C4.5": "c45", "oblique": "oblique"}.get(name, "cart")
    grow = __import__(f"treekit.models.{module}", fromlist=["grow"]).grow
    calls, original = [], grow
    for fitted_before in (False, True):
        if fitted_before:
            model.fit(frame(PLAIN), y)
        before = dict(vars(model))
        for error, call in failures:
            with pytest.raises(error):
                call()
            assert vars(model) == before
        with monkeypatch.context() as patch:
            calls.clear()
            patch.setattr(f"treekit.models.{module}.grow", interrupted)
            with pytest.raises(Interrupted):
                model.fit(other, y if name in REGRESSORS else ["new"] * 3 + ["b"] * 5)
        assert vars(model) == before
    assert len(model.predict(frame(PLAIN))) == 8


# -- parameters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: RandomForestClassifier(bootstrap="no"), "bootstrap must be one of False, True; got 'no'"),
        (lambda: RandomForestClassifier(oob_score="yes"), "oob_score must be one of"),
        (lambda: BaggingClassifier(oob_score="yes"), "oob_score must be one of"),
        (lambda: RandomForestClassifier(class_weight={"a": 0, "b": 0}), "class_weight is zero for every class"),
        *(
            (
                lambda weight=weight: RandomForestClassifier(class_weight={"a": weight, "b": 1}),
                "class_weight must hold n",
            )
            for weight in (-1, np.nan, np.inf, 1e300, 10**400, "much", None)
        ),
        (lambda: CARTClassifier(max_features=True), "max_features must be None, 'sqrt'"),
        (lambda: AdaBoostClassifier(CARTRegressor()), "estimator must be a classifier"),
        (lambda: BaggingClassifier(CARTClassifier), "estimator must be a classifier"),
        (
            lambda: AdaBoostClassifier(n_estimators=9, learning_rate=5000),
            "learning_rate=5000 is too large: after round",
        ),
    ],
)
def test_parameters_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make().fit(frame([0.5, 1, 2.5, 3, 0.5, 3, 1, 2.5]), ["a", "a", "b", "a", "b", "b", "a", "b"])


def test_a_large_learning_rate_is_used_or_refused():
    X, y = frame([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), [1, 1, 1, -1, -1, -1, 1, 1, 1, -1]
    for rate in (1, 5, 20, 50, 200, 1000):
        try:
            model = AdaBoostClassifier(learning_rate=rate).fit(X, y)
        except ValueError as error:
            assert "learning_rate" in str(error) or "no better than chance" in str(error)
        else:
            assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("make", [RandomForestClassifier, RandomForestRegressor, BaggingClassifier])
def test_out_of_bag_of_one_row(make):
    with pytest.raises(ValueError, match="oob_score: no row was left out of any sample"):
        make(n_estimators=5, oob_score=True, random_state=0).fit([[1.0]], [1])


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, float("nan")])
def test_confidence_lies_inside(confidence):
    tree = CARTClassifier().fit(frame(PLAIN), LABEL).tree_
    for call in (
        lambda: treekit.binomial_limit([1], [4], confidence),
        lambda: treekit.normal_limit([1], [4], confidence),
        lambda: treekit.prune_pessimistic(tree, confidence),
        lambda: treekit.prune_and_raise(tree, frame(PLAIN), LABEL, confidence=confidence),
    ):
        with pytest.raises(ValueError, match="confidence must be above 0 and below 1"):
            call()


def test_weights_of_adaboost():
    """Li Hang's ten rows, example 8.1: the weights of the first three rounds as he prints them."""
    X, y = np.arange(10.0)[:, np.newaxis], [1, 1, 1, -1, -1, -1, 1, 1, 1, -1]
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    printed = [
        [0.1] * 10,
        [0.07143] * 6 + [0.16667] * 3 + [0.07143],
        [0.0455] * 3 + [0.1667] * 3 + [0.1060] * 3 + [0.0455],
    ]
    assert model.sample_weights_ == pytest.approx(np.array(printed), abs=2e-4)
    for w, member, e in zip(model.sample_weights_, model.estimators_, model.estimator_errors_):
        assert w.sum() == pytest.approx(1) and w[member.predict(X) != y].sum() == pytest.approx(e)


def test_no_warning_comes_from_reading_tables():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in (objects([1, None, 2]), pd.array([1, None, 2], dtype="Int64"), ["u", None, "v"]):
            CARTClassifier().fit(frame(values), [0, 1, 1]).predict(frame(values))
