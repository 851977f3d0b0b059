"""Monotone constraints: no prediction turns round, and scikit-learn and XGBoost grow the same trees."""

import numpy as np
import pandas as pd
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from treekit import CARTClassifier, CARTRegressor, GBDTClassifier, GBDTRegressor
from treekit.growing.monotone import bounds_of_children


def numbers(seed, n=250, d=4):
    """A table whose target rises, falls and turns with its columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] + np.sin(2 * X[:, 1]) - X[:, 2] * X[:, 0] + rng.normal(size=n)
    return X, y, rng.integers(-1, 2, d), rng.integers(1, 4, n).astype(float)


def largest_fall(predict, X, column, sign):
    """By how much a prediction moves against the sign when one column rises, at most."""
    steps = np.linspace(np.nanmin(X[:, column]) - 1, np.nanmax(X[:, column]) + 1, 25)
    curves = []
    for value in steps:
        changed = X.copy()
        changed[:, column] = value
        curves.append(predict(changed))
    return float(-(sign * np.diff(curves, axis=0)).min())


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
@pytest.mark.parametrize("seed", range(6))
def test_scikit_learn_grows_the_same_regression_trees(seed, criterion):
    X, y, sign, weight = numbers(seed)
    y = np.abs(y) + 0.1 if criterion == "poisson" else y
    limits = dict(criterion=criterion, min_samples_leaf=5, monotonic_cst=sign)
    ours = CARTRegressor(**limits).fit(X, y, weight)
    theirs = DecisionTreeRegressor(random_state=0, **limits).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_scikit_learn_grows_the_same_classification_trees(seed):
    X, y, sign, weight = numbers(seed)
    weight = weight + np.random.default_rng(seed).random(len(y))  # no two cuts gain the same
    limits = dict(max_depth=5, min_samples_leaf=8, monotonic_cst=sign)
    ours = CARTClassifier(**limits).fit(X, y > 0.5, weight)
    theirs = DecisionTreeClassifier(random_state=0, **limits).fit(X, y > 0.5, weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("gaps", [0, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_xgboost_boosts_alike(seed, gaps):
    X, y, sign, _ = numbers(seed)
    X = np.where(np.random.default_rng(seed).random(X.shape) < gaps, np.nan, X).astype(np.float32)
    common = dict(n_estimators=10, max_depth=4, learning_rate=0.3, base_score=0.0, min_child_weight=1e-6)
    ours = GBDTRegressor(method="newton", max_bins=None, monotonic_cst=sign, **common).fit(X, y)
    theirs = xgboost.XGBRegressor(max_bin=1024, n_jobs=1, monotone_constraints=tuple(sign.tolist()), **common).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_no_prediction_turns_round(seed, gaps):
    """Trees and boosting, with a column of categories beside; in boosting numbers may be missing."""
    X, y, sign, _ = numbers(seed, n=60)
    sign[0] = sign[0] or 1
    models = [(CARTRegressor(monotonic_cst=sign), y), (CARTClassifier(monotonic_cst=sign), y > 0)]
    boosted = GBDTClassifier(method="newton", n_estimators=6, monotonic_cst=sign)
    predictions = [(m.fit(X, t), X) for m, t in models]
    with_gaps = np.where(np.random.default_rng(seed).random(X.shape) < 0.2 * gaps, np.nan, X)
    predictions.append((boosted.fit(with_gaps, y > 0), with_gaps))
    for model, table in predictions:
        predict = (lambda Z, m=model: m.predict_proba(Z)[:, 1]) if hasattr(model, "classes_") else model.predict
        for j in np.flatnonzero(sign):
            assert largest_fall(predict, table, j, sign[j]) <= 1e-12


def test_categories_beside_a_constrained_column_stay_within_bounds():
    X, y, *_ = numbers(3, n=120)
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(c=np.where(X[:, 2] > 0, "x", "y"))
    for model in (
        CARTRegressor(monotonic_cst={"a": 1}),
        GBDTRegressor(method="newton", n_estimators=5, monotonic_cst={"a": 1}),
    ):
        model.fit(frame, y)
        curves = [model.predict(frame.assign(a=value)) for value in np.linspace(-3, 3, 25)]
        assert np.diff(curves, axis=0).min() >= -1e-12


def test_pruned_best_first_and_sampled_trees_obey_too():
    X, y, *_ = numbers(5)
    for more in ({"ccp_alpha": 0.01}, {"max_leaf_nodes": 9}, {"max_features": 2, "random_state": 0}):
        tree = CARTRegressor(monotonic_cst=[1, 0, 0, -1], **more).fit(X, y)
        assert largest_fall(tree.predict, X, 0, 1) <= 1e-12
        assert largest_fall(tree.predict, X, 3, -1) <= 1e-12


def test_a_value_out_of_its_bounds_is_moved_to_the_midpoint():
    table = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]).repeat(2, axis=0)
    tree = CARTRegressor(monotonic_cst=[1, 0]).fit(table, [1, 1, 6, 6, 8, 8, 5, 5])
    assert tree.predict(table).tolist() == [1, 1, 5, 5, 8, 8, 5, 5]


def test_bounds_of_children_meet_in_the_middle():
    bounds = np.array([[-np.inf, 0.0], [np.inf, 1.0]])
    found = bounds_of_children(bounds, np.array([1, -1]), np.array([2.0, 0.9, 4.0, 0.3]))
    assert found.T.tolist() == [[-np.inf, 3.0], [0.6, 1.0], [3.0, np.inf], [0.0, 0.6]]


def test_without_a_sign_nothing_is_constrained():
    X, y, *_ = numbers(0)
    for constrained in ([0, 0, 0, 0], {}):
        for model in (CARTRegressor, lambda **c: GBDTRegressor(method="newton", n_estimators=3, **c)):
            free, same = model().fit(X, y), model(monotonic_cst=constrained).fit(X, y)
            assert (free.predict(X) == same.predict(X)).all()


@pytest.mark.parametrize(
    ("model", "table", "message"),
    [
        (CARTClassifier(monotonic_cst=[1, 0, 0, 0]), "iris", "monotonic_cst needs two classes"),
        (GBDTClassifier(method="newton", monotonic_cst=[1, 0, 0, 0]), "iris", "at most two classes"),
        (GBDTRegressor(monotonic_cst=[1, 0, 0, 0]), "numbers", "monotonic_cst needs method='newton'"),
        (CARTRegressor(criterion="absolute_error", monotonic_cst=[1, 0, 0, 0]), "numbers", "use 'squared_error'"),
        (CARTRegressor(monotonic_cst=[1, 0, 0, 0]), "gaps", "without missing values"),
        (CARTRegressor(monotonic_cst=[1, 0]), "numbers", "for each of the 4 columns"),
        (CARTRegressor(monotonic_cst=[2, 0, 0, 0]), "numbers", "-1, 0 or 1"),
        (CARTRegressor(monotonic_cst="rising"), "numbers", "-1, 0 or 1"),
        (CARTRegressor(monotonic_cst={"sweet": 1}), "numbers", "names the column 'sweet'"),
        (CARTRegressor(monotonic_cst={"word": 1}), "words", "monotonic_cst of 'word' must be 0"),
    ],
)
def test_what_has_no_order_is_refused(model, table, message):
    X, y, *_ = numbers(0, n=30)
    if table == "iris":
        X, y = load_iris(return_X_y=True)
    if table == "gaps":
        X[0, 0] = np.nan
    if table == "words":
        X = pd.DataFrame({"word": np.where(X[:, 0] > 0, "a", "b"), "x": X[:, 1]})
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
