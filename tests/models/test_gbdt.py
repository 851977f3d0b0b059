"""Gradient boosting against XGBoost, scikit-learn, published figures, brute force and its own laws."""

import json

import numpy as np
import pandas as pd
import pytest
import sklearn._loss.loss
import sklearn.ensemble._gb
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.model_selection import train_test_split

from treekit import plain
from treekit.growing import histogram_grower
from treekit.growing.binning import bin_codes, bin_edges, learn_bins
from treekit.growing.candidates import ChildLimits, largest_gain
from treekit.growing.criteria import Newton
from treekit.growing.fixed_point import GradientUnits
from treekit.growing.grow import StoppingRule
from treekit.growing.histogram import histograms
from treekit.growing.histogram_grower import HistogramGrower
from treekit.growing.row_store import LocalRows
from treekit.models.boosting import stopped_improving
from treekit.models.gbdt import GBDTClassifier, GBDTRegressor
from treekit.plain import Row
from treekit.reading.encoding import Feature
from treekit.trees.roots import split_roots

METHODS = ("gradient", "newton")


# -- published figures ------------------------------------------------------------------------------------------

LI_HANG_X = np.arange(1, 11)[:, np.newaxis]
LI_HANG_Y = np.array([5.56, 5.70, 5.91, 6.40, 6.80, 7.05, 8.90, 8.70, 9.00, 9.05])
#: Threshold, left and right leaf of each of the six trees, as printed (Li Hang, example 8.2).
LI_HANG_TREES = [
    (6.5, 6.24, 8.91),
    (3.5, -0.52, 0.22),
    (6.5, 0.15, -0.22),
    (4.5, -0.16, 0.11),
    (6.5, 0.07, -0.11),
    (2.5, -0.15, 0.04),
]
LI_HANG_LOSSES = [1.93, 0.79, 0.47, 0.30, 0.23, 0.17]


@pytest.mark.parametrize("method", METHODS)
def test_li_hang_example_8_2(method):
    """The printed trees come out to two digits; the book rounds each before it goes on, and so its losses differ."""
    model = GBDTRegressor(method=method, n_estimators=6, learning_rate=1, max_depth=1, reg_lambda=0)
    model.fit(LI_HANG_X, LI_HANG_Y)
    start = model.start_[0]
    for m, ((tree,), (threshold, left, right)) in enumerate(zip(model.trees_, LI_HANG_TREES)):
        assert tree.threshold[0] == threshold
        # The book starts from zero, so its first tree holds the mean too.
        leaves = tree.value[1:, 0] + (start if m == 0 else 0)
        # -0.5133 is printed as -0.52: the book computes it from rounded residuals.
        np.testing.assert_allclose(leaves, [left, right], atol=0.005 if m != 1 else 0.007)
    exact = 2 * len(LI_HANG_Y) * model.train_score_
    np.testing.assert_allclose(exact.round(2), [1.93, 0.80, 0.48, 0.31, 0.23, 0.17])

    score, printed = 0.0, []
    for threshold, left, right in LI_HANG_TREES:
        score = score + np.where(LI_HANG_X[:, 0] < threshold, left, right)
        printed.append(round(float(np.sum((LI_HANG_Y - score) ** 2)), 2))
    assert printed == LI_HANG_LOSSES


def test_gain_of_chen_and_guestrin_by_hand():
    """Residuals -10.5, 6.5, 7.5, -7.5 and lambda = 1: the three cuts gain 31.24, 1.07 and 13.99."""
    y = np.array([-10.5, 6.5, 7.5, -7.5])
    x = np.arange(4.0)
    gains = []
    for cut in (0.5, 1.5, 2.5):
        stump = GBDTRegressor(method="newton", n_estimators=1, max_depth=1, reg_lambda=1, base_score=0)
        gains.append(stump.fit((x > cut)[:, np.newaxis].astype(float), y).trees_[0][0].gain[0])
    np.testing.assert_allclose(gains, [31.24, 1.07, 13.99], atol=0.005)
    model = GBDTRegressor(method="newton", n_estimators=1, max_depth=1, base_score=0)
    tree = model.fit(x[:, np.newaxis], y).trees_[0][0]
    assert tree.threshold[0] == 0.5 and tree.gain[0] == gains[0]
    np.testing.assert_allclose(tree.value[:, 0], [-4 / 5, -10.5 / 2, 6.5 / 4])
    priced, refused = (clone(model).set_params(gamma=gamma).fit(x[:, np.newaxis], y) for gamma in (31.0, 31.3))
    assert priced.trees_[0][0].gain[0] == pytest.approx(gains[0] - 31)
    assert refused.trees_[0][0].n_nodes == 1


# -- XGBoost ----------------------------------------------------------------------------------------------------


def table(load, missing, seed=0):
    """A bundled table with numbers that 32 bits hold, and, where asked, holes in 15 of 100 places."""
    X, y = load(return_X_y=True)
    X = X.astype(np.float32).astype(float)
    if missing:
        X = np.where(np.random.default_rng(seed).random(X.shape) < 0.15, np.nan, X)
    return X, y


def assert_same_tree(tree, dump, rate, gain_factor=2.0, cover_factor=1.0, gamma=0.0):
    """Node by node: split column, gain, cover and leaf value, which XGBoost stores shrunk."""
    waiting = [(0, dump)]
    while waiting:
        node, other = waiting.pop()
        assert tree.is_leaf[node] == ("leaf" in other)
        assert tree.weight[node] * cover_factor == pytest.approx(other["cover"], rel=1e-5)
        if tree.is_leaf[node]:
            assert tree.value[node, 0] * rate == pytest.approx(other["leaf"], rel=2e-4, abs=1e-5)
            continue
        assert f"f{tree.feature[node]}" == other["split"]
        assert gain_factor * (tree.gain[node] + gamma) == pytest.approx(other["gain"], rel=2e-4, abs=1e-5)
        child = {part["nodeid"]: part for part in other["children"]}
        left, right = child.pop(other["yes"]), child.pop(other["no"])
        if np.isinf(tree.threshold[node]) and other["missing"] == other["yes"]:
            left, right = right, left  # missing values against all others, which may stand on either side
        waiting += [(tree.first_child[node], left), (tree.first_child[node] + 1, right)]


def both(model, objective, X, y, tree_method="hist", weight=None, factor=1.0, base_score=0.5, **parameters):
    """Fit treekit's model and XGBoost's; ``factor`` is how much larger XGBoost's second derivative is."""
    model = clone(model).set_params(method="newton", max_bins=1024, base_score=base_score)
    scaled = dict(
        learning_rate=model.learning_rate * factor,
        reg_lambda=model.reg_lambda * factor,
        min_child_weight=model.min_child_weight * factor,
        gamma=2 * model.gamma / factor,
    )
    settings_ = dict(tree_method=tree_method, max_depth=model.max_depth, max_bin=1024, base_score=base_score, nthread=1)
    data = xgboost.DMatrix(X, y, weight=weight)
    booster = xgboost.train(dict(objective=objective, **scaled, **settings_, **parameters), data, model.n_estimators)
    dumps = [json.loads(dump) for dump in booster.get_dump(dump_format="json", with_stats=True)]
    model.fit(X, y, weight)
    trees = [tree for trees in model.trees_ for tree in trees]
    assert len(trees) == len(dumps)
    # XGBoost adds up gains before gamma is taken off.
    saved = booster.get_score(importance_type="total_gain")
    saved = np.array([saved.get(f"f{j}", 0.0) for j in range(X.shape[1])])
    if model.gamma == 0:
        np.testing.assert_allclose(model.feature_importances_, saved / saved.sum(), atol=1e-5)
    for tree, dump in zip(trees, dumps):
        assert_same_tree(tree, dump, model.learning_rate, 2 / factor, factor, model.gamma)
    return model, booster.predict(data)


xgboost_cases = pytest.mark.parametrize("missing", [False, True], ids=["whole", "missing"])
xgboost_methods = pytest.mark.parametrize("method", ["exact", "hist"])


@xgboost_cases
@xgboost_methods
def test_squared_loss_is_xgboosts(method, missing):
    X, y = table(load_diabetes, missing)
    model = GBDTRegressor(n_estimators=6, learning_rate=0.3, max_depth=4)
    model, predicted = both(model, "reg:squarederror", X, y / 100, method)
    np.testing.assert_allclose(model.predict(X), predicted, atol=2e-6)


@xgboost_cases
@xgboost_methods
def test_logistic_loss_is_xgboosts(method, missing):
    X, y = table(load_breast_cancer, missing)
    model = GBDTClassifier(n_estimators=6, learning_rate=0.3, max_depth=4)
    model, predicted = both(model, "binary:logistic", X, y, method)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], predicted, atol=2e-6)


@xgboost_cases
@xgboost_methods
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_softmax_is_xgboosts(load, method, missing):
    """XGBoost doubles the second derivative of softmax, which its lambda, rate and child weight make up for."""
    X, y = table(load, missing, seed=4)
    model = GBDTClassifier(n_estimators=4, learning_rate=0.15, max_depth=3, reg_lambda=0.5, min_child_weight=0.5)
    third = [1 / 3, 1 / 3, 1 / 3]
    model, predicted = both(model, "multi:softprob", X, y, method, factor=2.0, base_score=third, num_class=3)
    np.testing.assert_allclose(model.predict_proba(X), predicted, atol=2e-6)


@xgboost_methods
def test_poisson_loss_is_xgboosts(method):
    """XGBoost's second derivative for counts is larger by e to the max_delta_step, 0.7 by default."""
    X, y = table(load_diabetes, False)
    y = np.floor(y / 40)
    model = GBDTRegressor(loss="poisson", n_estimators=5, learning_rate=0.1, max_depth=3)
    model, predicted = both(model, "count:poisson", X, y, method, factor=np.exp(0.7), base_score=3.0)
    np.testing.assert_allclose(model.predict(X), predicted, rtol=1e-5)


@pytest.mark.parametrize(
    "parameters",
    [
        dict(gamma=1.0),
        dict(reg_lambda=0.0),
        dict(reg_lambda=20.0),
        dict(min_child_weight=25.0),
        dict(max_depth=1),
        dict(max_depth=7),
    ],
)
def test_regularisation_is_xgboosts(parameters):
    X, y = table(load_diabetes, True)
    model = GBDTRegressor(n_estimators=3, learning_rate=0.3, max_depth=4).set_params(**parameters)
    model, predicted = both(model, "reg:squarederror", X, y / 100)
    np.testing.assert_allclose(model.predict(X), predicted, atol=2e-6)


@xgboost_methods
def test_sample_weights_are_xgboosts(method):
    X, y = table(load_breast_cancer, True)
    weight = np.random.default_rng(0).integers(1, 5, len(y)) / 2
    model, predicted = both(GBDTClassifier(n_estimators=4), "binary:logistic", X, y, method, weight)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], predicted, atol=2e-6)


def test_gamma_prunes_at_once_where_xgboosts_exact_method_prunes_afterwards():
    """The first cut of exclusive-or hardly gains, those below do; XGBoost's methods differ, treekit's is its hist."""
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, dtype=float), np.array([1, -1, -1, 1.2] * 5)
    n_nodes = {}
    for method in ("exact", "hist"):
        parameters = dict(tree_method=method, max_depth=2, gamma=3, base_score=0.0)
        booster = xgboost.train(parameters, xgboost.DMatrix(X, y), 1)
        n_nodes[method] = len(booster.trees_to_dataframe())
    ours = GBDTRegressor(method="newton", n_estimators=1, max_depth=2, gamma=1.5, base_score=0).fit(X, y)
    assert ours.trees_[0][0].n_nodes == 1
    assert n_nodes == {"exact": 7, "hist": 1}


# -- scikit-learn -----------------------------------------------------------------------------------------------


@pytest.fixture
def usual_medians(monkeypatch):
    """scikit-learn takes the lower of two middle values as median; let it take their mean, as treekit does."""
    for module in (sklearn._loss.loss, sklearn.ensemble._gb):
        lower = module._weighted_percentile

        def usual(x, weight, percentile=50, lower=lower):
            """Half the lower one and half the upper, which is the lower one seen from above."""
            return (lower(x, weight, percentile) - lower(-x, weight, 100 - percentile)) / 2

        monkeypatch.setattr(module, "_weighted_percentile", usual)


@pytest.mark.parametrize(
    "loss, depth",
    [
        ("squared_error", 1),
        ("squared_error", 4),
        ("absolute_error", 2),
        ("huber", 2),
        ("huber", 4),
    ],
)
def test_first_order_regression_is_scikit_learns(loss, depth, usual_medians):
    X, y = table(load_diabetes, False)
    parameters = dict(loss=loss, n_estimators=20, max_depth=depth)
    theirs = GradientBoostingRegressor(criterion="squared_error", random_state=0, **parameters).fit(X, y)
    ours = GBDTRegressor(**parameters).fit(X, y)
    for mine, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12)
    # scikit-learn prints the squared error whole, treekit its half, whose gradient is the residual.
    factor = 2 if loss == "squared_error" else 1
    np.testing.assert_allclose(factor * ours.train_score_, theirs.train_score_, rtol=1e-12)
    if loss == "squared_error" and depth == 1:  # further down columns tie that part the few rows of a node alike
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-12)


def test_the_lower_median_is_the_only_difference_to_scikit_learn():
    X, y = table(load_diabetes, False)
    parameters = dict(loss="absolute_error", n_estimators=1, max_depth=1, learning_rate=1.0)
    theirs = GradientBoostingRegressor(criterion="squared_error", **parameters).fit(X, y)
    ((tree,),) = GBDTRegressor(**parameters).fit(X, y).trees_
    residual = y - np.median(y)
    for leaf, other in zip((1, 2), theirs.estimators_[0, 0].tree_.value[1:, 0, 0]):
        here = np.sort(residual[tree.apply(X.T) == leaf])
        assert tree.value[leaf, 0] == np.median(here)
        assert other == here[(len(here) - 1) // 2]


@pytest.mark.parametrize(
    "load, depth",
    [
        (load_breast_cancer, 1),
        (load_breast_cancer, 3),
        (load_wine, 1),
        (load_iris, 1),
        (load_iris, 3),
    ],
)
def test_first_order_classification_is_scikit_learns(load, depth):
    X, y = table(load, False)
    parameters = dict(n_estimators=15, max_depth=depth)
    theirs = GradientBoostingClassifier(random_state=0, **parameters).fit(X, y)
    ours = GBDTClassifier(**parameters).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10)
    for mine, other in zip(ours.staged_predict_proba(X), theirs.staged_predict_proba(X), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-10)


def test_sample_weights_are_scikit_learns():
    X, y = table(load_breast_cancer, False)
    weight = np.random.default_rng(0).integers(0, 4, len(y)) / 2
    theirs = GradientBoostingClassifier(n_estimators=10, max_depth=1, random_state=0).fit(X, y, weight)
    ours = GBDTClassifier(n_estimators=10, max_depth=1).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10)
    X, y = table(load_diabetes, False)
    weight = np.random.default_rng(0).integers(0, 4, len(y)) / 2
    theirs = GradientBoostingRegressor(n_estimators=10, max_depth=1, random_state=0).fit(X, y, weight)
    ours = GBDTRegressor(n_estimators=10, max_depth=1).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-10)


def test_where_scikit_learn_differs_cuts_tie():
    """Of equal gains scikit-learn takes one by its random_state and by rounding; treekit takes the first column."""
    X, y = table(load_wine, False)
    theirs = GradientBoostingClassifier(n_estimators=1, max_depth=2, random_state=0).fit(X, y)
    ours = GBDTClassifier(n_estimators=1, max_depth=2).fit(X, y)
    assert not np.allclose(ours.decision_function(X), theirs.decision_function(X))
    for tree, other in zip(ours.trees_[0], theirs.estimators_[0]):
        error = np.sort((tree.weight * tree.impurity)[tree.is_leaf])
        other_error = np.sort((other.tree_.weighted_n_node_samples * other.tree_.impurity)[other.tree_.feature < 0])
        np.testing.assert_allclose(error, other_error, atol=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_early_stopping_is_scikit_learns(seed):
    X, y = table(load_diabetes, False)
    parameters = dict(n_estimators=300, max_depth=3, n_iter_no_change=4, random_state=seed)
    theirs = GradientBoostingRegressor(criterion="squared_error", tol=1.0, **parameters).fit(X, y)
    ours = GBDTRegressor(tol=0.5, **parameters).fit(X, y)
    assert ours.n_estimators_ == theirs.n_estimators_ < 300
    np.testing.assert_allclose(2 * ours.train_score_, theirs.train_score_, rtol=1e-12)
    assert len(ours.validation_score_) == len(ours.train_score_) == ours.n_estimators_


def test_held_out_rows_count_by_their_weight():
    X, y = table(load_diabetes, False)
    weight = np.arange(len(y)) % 4 + 1.0
    model = GBDTRegressor(n_estimators=5, n_iter_no_change=5, random_state=0).fit(X, y, weight)
    _, held_out = train_test_split(np.arange(len(y)), test_size=0.1, random_state=0)
    squares = (y[held_out] - model.predict(X[held_out])) ** 2 / 2
    assert model.validation_score_[-1] == pytest.approx(np.average(squares, weights=weight[held_out]))
    assert model.validation_score_[-1] != pytest.approx(squares.mean())


def test_when_a_loss_no_longer_falls():
    assert not stopped_improving([3.0], 2, 0.0) and not stopped_improving([3.0, 3.0], 2, 0.0)
    assert stopped_improving([3.0, 3.0, 3.0], 2, 0.0) and not stopped_improving([3.0, 4.0, 3.5], 2, 0.0)
    assert not stopped_improving([9.0, 3.0, 2.0, 1.5], 2, 0.4) and stopped_improving([9.0, 2.0, 1.9, 1.6], 2, 0.4)


def test_early_stopping_of_a_classifier_holds_out_rows_of_each_class():
    X, y = table(load_iris, False)
    model = GBDTClassifier(n_estimators=500, n_iter_no_change=3, validation_fraction=0.2, random_state=0).fit(X, y)
    assert model.n_estimators_ < 500
    np.testing.assert_allclose(model.start_, 0)  # equal shares in what is left, as in the whole
    assert model.trees_[0][0].n_samples[0] == 120


# -- brute force ------------------------------------------------------------------------------------------------

small_tables = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 4)), st.one_of(st.none(), st.integers(0, 3)), st.integers(-3, 3)),
    min_size=2,
    max_size=14,
).map(lambda rows: (np.array([row[:2] for row in rows], dtype=float), np.array([row[2] for row in rows], dtype=float)))


def best_gain(X, y, reg_lambda):
    """Largest gain of any cut, where the missing values lie below all others or above them; zero without a cut."""
    columns = [np.where(np.isnan(x), end, x).tolist() for x in X.T for end in (-9, 9)]
    D = [Row(dict(enumerate(x)), target) for *x, target in zip(*columns, y.tolist())]
    question = plain.best_cut(D, dict.fromkeys(range(len(columns))), plain.newton_gain, lam=reg_lambda)
    return max(0.0, plain.newton_gain(D, question, reg_lambda)) if question else 0.0


@settings(max_examples=80)
@given(small_tables, st.sampled_from([0.0, 0.5, 3.0]))
def test_root_split_is_the_best_of_all(data, reg_lambda):
    X, y = data
    model = GBDTRegressor(method="newton", n_estimators=1, max_depth=1, reg_lambda=reg_lambda, base_score=0)
    tree = model.fit(X, y).trees_[0][0]
    expected = best_gain(X, y, reg_lambda)
    assert tree.gain[0] == pytest.approx(expected, abs=1e-9)
    if expected > 1e-9:
        at = tree.apply(X.T)
        for leaf in (1, 2):
            assert tree.n_samples[leaf] == np.count_nonzero(at == leaf)
            assert tree.value[leaf, 0] == pytest.approx(y[at == leaf].sum() / (np.sum(at == leaf) + reg_lambda))


# -- laws -------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(small_tables, st.sampled_from(METHODS), st.integers(1, 3))
def test_loss_never_rises_with_exact_line_search(data, method, depth):
    X, y = data
    for loss in ("squared_error", "absolute_error") if method == "gradient" else ("squared_error",):
        model = GBDTRegressor(
            loss, method, 5, learning_rate=1.0, max_depth=depth, reg_lambda=0, min_child_weight=0
        ).fit(X, y)
        start = np.average(model.loss_.value(y, np.repeat(model.start_[:, np.newaxis], len(y), axis=1)))
        assert np.all(np.diff([start, *model.train_score_]) <= 1e-9)


@settings(max_examples=25)
@given(small_tables, st.sampled_from(METHODS), st.booleans())
def test_loss_never_rises_with_small_steps(data, method, softmax):
    X, y = data
    label = y.astype(int) if softmax else y > 0
    parameters = dict(method=method, n_estimators=8, learning_rate=0.1)
    for model in (GBDTClassifier(**parameters).fit(X, label), GBDTRegressor("poisson", **parameters).fit(X, y + 4)):
        assert np.all(np.diff(model.train_score_) <= 1e-9)


@settings(max_examples=25)
@given(small_tables, st.sampled_from(METHODS))
def test_monotone_transforms_leave_the_partition(data, method):
    X, y = data
    model = GBDTRegressor(method=method, n_estimators=3, learning_rate=0.5)
    np.testing.assert_allclose(clone(model).fit(X, y).predict(X), clone(model).fit(np.exp(X), y).predict(np.exp(X)))


@pytest.mark.parametrize("n_rows, depth", [(300, 3), (300, 6), (2000, 4)])
def test_with_every_edge_histograms_find_what_the_exact_search_finds(n_rows, depth):
    """By the squared error, without regularisation, both ways to boost grow the same trees."""
    rng = np.random.default_rng(n_rows)
    X = np.column_stack([rng.normal(size=(n_rows, 3)), rng.integers(0, 9, n_rows)])
    y = X[:, 0] * X[:, 1] + X[:, 3] + rng.normal(size=n_rows) / 4
    model = GBDTRegressor(n_estimators=9, max_depth=depth, reg_lambda=0, max_bins=None)
    exact, hist = (clone(model).set_params(method=method).fit(X, y) for method in METHODS)
    for (tree,), (same,) in zip(exact.trees_, hist.trees_):
        np.testing.assert_array_equal(tree.feature, same.feature)
        np.testing.assert_allclose(tree.gain * tree.weight, 2 * same.gain, rtol=1e-9)
    np.testing.assert_allclose(exact.predict(X), hist.predict(X), rtol=1e-10)


def test_renamed_classes_change_nothing():
    X, y = table(load_iris, False)
    names = np.array(["setosa", "versicolor", "virginica"])
    for method in METHODS:
        numbers, texts = (GBDTClassifier(method=method, n_estimators=5).fit(X, label) for label in (y, names[y]))
        np.testing.assert_array_equal(names[numbers.predict(X)], texts.predict(X))
        np.testing.assert_array_equal(numbers.predict_proba(X), texts.predict_proba(X))


# -- histograms -------------------------------------------------------------------------------------------------


@given(st.lists(st.one_of(st.just(np.nan), st.integers(-20, 20).map(float)), max_size=60), st.integers(2, 12))
def test_bins_hold_equally_many_distinct_values(column, max_bins):
    column = np.array(column)
    edges = bin_edges(column, max_bins)
    code = bin_codes(column, edges)
    value = np.unique(column[~np.isnan(column)])
    n_known = min(len(value), max_bins - np.isnan(column).any())
    assert len(edges) == max(n_known - 1, 0)
    assert np.all(np.diff(edges) > 0)
    assert np.all(code[np.isnan(column)] == len(edges) + 1)
    if len(value):
        in_bin = np.bincount(bin_codes(value, edges), minlength=n_known)
        assert len(in_bin) == n_known and in_bin.max() - in_bin.min() <= 1
    for b, edge in enumerate(edges):
        np.testing.assert_array_equal(code[~np.isnan(column)] <= b, column[~np.isnan(column)] <= edge)


def test_more_bins_than_a_byte_counts():
    x = np.arange(1000.0)
    assert bin_codes(x, bin_edges(x, 1000)).tolist() == list(range(1000))
    assert bin_codes(x, bin_edges(x, 256)).dtype == np.uint8
    with_hole = np.append(x, np.nan)
    code = bin_codes(with_hole, bin_edges(with_hole, 256))
    assert code.dtype == np.uint8 and code[-1] == 255 and code[-2] == 254


def test_rows_of_weight_zero_do_not_move_the_bins():
    X, y = table(load_diabetes, False)
    far = np.vstack([X, X + 100])
    model = GBDTRegressor(method="newton", max_bins=8, n_estimators=3)
    one = clone(model).fit(X, y)
    other = clone(model).fit(far, np.tile(y, 2), np.repeat([1, 0], len(y)))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def mixed_table(rng, n_rows):
    """Two columns of numbers, the first with holes, and one of categories between them, some of them missing."""
    hole = rng.random(n_rows) < 0.2
    first = np.where(hole, np.nan, rng.normal(size=n_rows).round(1))
    features = (Feature("a"), Feature("b", np.array(list("uvw"))), Feature("c"))
    return np.array([first, rng.integers(-1, 3, n_rows), rng.integers(0, 5, n_rows)], dtype=float), features


def by_loop(binned, pair, rows):
    """The histogram of some rows: one addition for each row and column."""
    sums = np.zeros(binned.n_cells, dtype=complex)
    for first_cell, code in zip(binned.first_cell, binned.codes):
        for i in rows:
            sums[first_cell + code[i]] += pair[i]
    return sums


def test_histograms_of_blocks_add_up_to_the_whole():
    rng = np.random.default_rng(0)
    values, features = mixed_table(rng, 400)
    bins = learn_bins(values, features, np.ones(400), 8)
    node = rng.integers(0, 4, 400)
    pair = rng.integers(-(2**40), 2**40, 400) + 1j * rng.integers(0, 2**40, 400)

    def sums(block):
        row = np.argsort(node[block], kind="stable")
        n_rows = np.bincount(node[block], minlength=4)
        return histograms(bins.encode(values[:, block]), pair[block][row], row, n_rows)

    whole = sums(slice(0, 400))
    np.testing.assert_array_equal(sum(sums(slice(*block)) for block in [(0, 100), (100, 101), (101, 400)]), whole)
    for n in range(4):
        np.testing.assert_array_equal(whole[n], by_loop(bins.encode(values), pair, np.flatnonzero(node == n)))


@pytest.mark.parametrize("max_depth", [4, np.inf])
def test_a_sibling_is_its_parent_without_the_other(max_depth):
    """The histograms of two trees that grow side by side, subtracted where siblings allow it, are those of a loop."""
    rng = np.random.default_rng(1)
    values, features = mixed_table(rng, 300)
    bins = learn_bins(values, features, np.ones(300), 16)
    seen = []

    class Watched(HistogramGrower):
        def find_splits(self, level, *others):
            for tree, place, sums, total in zip(level.tree, level.place, level.histogram[0], level.total):
                rows = self.rows.row[place]
                np.testing.assert_array_equal(sums, by_loop(self.rows.binned, addend[tree], rows))
                assert total == addend[tree, rows].sum()
                seen.append(len(rows))
            return super().find_splits(level, *others)

    rows, learns = LocalRows(bins.encode(values)), np.flatnonzero(rng.random(300) < 0.7)
    addend = rng.integers(-(2**40), 2**40, (2, 300)) + 1j * rng.integers(0, 2**40, (2, 300))
    rows.to_roots(2, learns)
    units, stop = GradientUnits(2.0**-40, 2.0**-40), StoppingRule(max_depth)
    grower = Watched(bins, rows, units, Newton(), ChildLimits(), largest_gain, stop)
    rows.learn(addend, has_counts=False)
    trees, per_node = grower.grow(rows.add_up(np.arange(2)))
    assert len(seen) >= 16 and seen[:2] == [len(learns)] * 2 and sum(seen) > 900
    for tree, found in zip(split_roots(trees), rows.per_row(2, per_node), strict=True):
        leaf = tree.apply(values[:, learns])
        np.testing.assert_array_equal(found[learns], tree.value[leaf, 0])
        np.testing.assert_array_equal(
            tree.n_samples[tree.is_leaf], np.bincount(leaf, minlength=len(tree))[tree.is_leaf]
        )


@pytest.mark.parametrize("missing", [0, 0.2])
def test_nodes_scored_a_few_at_a_time_are_scored_alike(missing, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.normal(size=400)
    X[rng.random(X.shape) < missing] = np.nan
    frames = []
    for cells in (1, 10**9):
        monkeypatch.setattr(histogram_grower, "CELLS_AT_A_TIME", cells)
        model = GBDTRegressor(method="newton", n_estimators=3, min_samples_leaf=3).fit(X, y)
        frames.append(pd.concat([tree.to_frame() for (tree,) in model.trees_]))
    assert len(frames[0]) > 30 and frames[0].equals(frames[1])


def test_few_bins_cut_only_between_them():
    X, y = table(load_diabetes, False)
    model = GBDTRegressor(method="newton", max_bins=8, n_estimators=10).fit(X, y)
    for (tree,) in model.trees_:
        for j, threshold in zip(tree.feature[~tree.is_leaf], tree.threshold[~tree.is_leaf]):
            assert threshold in bin_edges(X[:, j], 8)
    coarse, fine = model.score(X, y), clone(model).set_params(max_bins=None).fit(X, y).score(X, y)
    assert 0.8 * fine < coarse < fine


# -- missing values and categories ------------------------------------------------------------------------------


def test_missing_values_go_where_they_save_more():
    x = np.array([1.0, 2, 3, 4, np.nan, np.nan])[:, np.newaxis]
    stump = GBDTRegressor(method="newton", n_estimators=1, max_depth=1, learning_rate=1, reg_lambda=0)
    for y, branch in (([0, 0, 9, 9, 0, 0], 0), ([0, 0, 9, 9, 9, 9], 1)):
        model = clone(stump).fit(x, y)
        ((tree,),) = model.trees_
        assert tree.threshold[0] == 2.5 and tree.missing[0] == branch
        np.testing.assert_allclose(model.predict(x), y, atol=1e-12)
    # Whether the value is known may be all that matters.
    model = clone(stump).fit(x, [1, 1, 1, 1, 5, 5])
    ((tree,),) = model.trees_
    assert tree.threshold[0] == np.inf and list(tree.root.children) == ["known", "missing"]
    np.testing.assert_allclose(model.predict([[99.0], [-99.0], [np.nan]]), [1, 1, 5])
    # With nothing missing in training, the heavier branch.
    model = clone(stump).fit(x[:4], [0, 9, 9, 9])
    assert model.predict([[np.nan]]) == pytest.approx(9)


@pytest.mark.parametrize("method", METHODS)
def test_categories_are_cut_in_the_order_of_their_steps(method):
    frame = pd.DataFrame({"colour": list("abcdabcd") * 5, "size": np.arange(40) % 3})
    y = np.array([3.0, -1, 3, -1] * 10)
    model = GBDTRegressor(method=method, n_estimators=1, max_depth=1, learning_rate=1, reg_lambda=0)
    model.fit(frame, y)
    ((tree,),) = model.trees_
    assert tree.root.question == "colour" and list(tree.root.children) == ["b or d", "a or c"]
    np.testing.assert_allclose(model.predict(frame), y)
    # Both branches are equally heavy: an unseen category takes the first.
    unseen = pd.DataFrame({"colour": ["z", None], "size": [0, 1]})
    np.testing.assert_allclose(model.predict(unseen), [-1, -1])
    classes = GBDTClassifier(method=method, n_estimators=3).fit(frame[["colour"]], y > 0)
    assert classes.score(frame[["colour"]], y > 0) == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(5))
def test_rounding_splits_no_pure_node(method, seed):
    """Where three groups of categories tell all, a tree ends with them: what rounding leaves is no gain."""
    letters = np.array(list("abcdef") * 50)
    y = np.repeat(np.random.default_rng(seed).random(3), 2)[np.arange(300) % 6]
    frame = pd.DataFrame({"one": letters, "other": np.roll(letters, 7)})
    model = GBDTRegressor(method=method, n_estimators=1, max_depth=8, reg_lambda=0).fit(frame, y)
    assert model.trees_[0][0].n_leaves == 3
    numbers = pd.DataFrame({"one": np.arange(300) % 6, "other": np.arange(300) % 7})
    model.fit(numbers, y)
    assert model.trees_[0][0].n_leaves == 3


@pytest.mark.parametrize("seed", range(3))
def test_boosting_ends_where_residuals_are_rounding(seed):
    """After 40 rounds what is left of the targets is the rounding of scores near 1,000: no split tells it apart."""
    rng = np.random.default_rng(seed)
    X, y = rng.random((60, 1)), 1000 + rng.random(60)
    model = GBDTRegressor(method="newton", n_estimators=40, learning_rate=1, max_depth=None).fit(X, y)
    assert model.trees_[0][0].n_leaves > 20
    assert model.trees_[-1][0].n_leaves == 1
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_the_first_tree_leaves_nothing_but_rounding(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.random((60, 1)), rng.random(60)
    model = GBDTRegressor(n_estimators=2, learning_rate=1, max_depth=None).fit(X, y)
    assert [of_round[0].n_leaves for of_round in model.trees_] == [60, 1]


@pytest.mark.parametrize("seed", range(6))
def test_histograms_gain_nothing_by_gradients_that_are_rounded_to_units(seed):
    """On both sides of the only cut the gradients add up to zero, which their rounded values may miss by a unit."""
    a = np.random.default_rng(seed).random((2, 3)).round(1)
    y = np.column_stack([a, -a.sum(axis=1)]).ravel()
    parameters = dict(method="newton", reg_lambda=0, min_child_weight=0, base_score=0.0, n_estimators=1)
    model = GBDTRegressor(**parameters).fit(np.repeat([[0.0], [1.0]], 4, axis=0), y)
    assert model.trees_[0][0].n_nodes == 1


@pytest.mark.parametrize("one, other", [(0.8, 0.6), (0.7, 0.9), (0.9, 0.4), (0.1, 0.2)])
def test_of_two_branches_that_weigh_the_same_missing_values_take_the_left(one, other):
    """The weights are equal but for rounding: 0.1 + 0.2 is not 0.3."""
    both = round(one + other, 1)
    for x, weight in (([0, 1, 1], [both, one, other]), ([0, 0, 1], [one, other, both])):
        model = GBDTRegressor(method="newton", min_child_weight=0)
        model.fit(np.c_[x].astype(float), x, sample_weight=weight)
        assert model.predict([[np.nan]]) < 0.5


# -- options ----------------------------------------------------------------------------------------------------


def test_staged_predictions_end_with_the_prediction():
    X, y = table(load_breast_cancer, True)
    model = GBDTClassifier(method="newton", n_estimators=7).fit(X, y)
    last = list(zip(model.staged_predict(X), model.staged_predict_proba(X), model.staged_decision_function(X)))
    assert len(last) == 7
    np.testing.assert_array_equal(last[-1][0], model.predict(X))
    np.testing.assert_array_equal(last[-1][1], model.predict_proba(X))
    np.testing.assert_array_equal(last[-1][2], model.decision_function(X))
    assert not np.array_equal(last[0][2], last[-1][2])
    np.testing.assert_allclose(model.train_score_[-1], -np.log(model.predict_proba(X)[np.arange(len(y)), y]).mean())
    shorter = GBDTClassifier(method="newton", n_estimators=4).fit(X, y)
    np.testing.assert_array_equal(shorter.predict_proba(X), last[3][1])


def test_random_rows_and_columns_follow_random_state():
    X, y = table(load_diabetes, False)
    model = GBDTRegressor(method="newton", n_estimators=5, subsample=0.5, max_features=0.3, random_state=1)
    one, same, other = (clone(model).set_params(random_state=seed).fit(X, y).predict(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    fitted = model.fit(X, y)
    assert {tree.n_samples[0] for (tree,) in fitted.trees_} == {221}
    assert len({tree.feature[0] for (tree,) in fitted.trees_}) > 1
    without = [GBDTRegressor(n_estimators=3, random_state=seed).fit(X, y).predict(X) for seed in (1, 2)]
    np.testing.assert_array_equal(*without)


def test_a_small_share_of_few_rows_is_one_row():
    X, y = np.arange(8.0)[:, np.newaxis], np.arange(8.0)
    model = GBDTRegressor(subsample=0.01, n_estimators=4, random_state=0).fit(X, y)
    assert [tree.n_samples[0] for (tree,) in model.trees_] == [1] * 4
    assert np.isfinite(model.predict(X)).all()


def test_verbose_tells_every_so_many_rounds(capsys):
    X, y = table(load_iris, False)
    GBDTRegressor(n_estimators=6, verbose=3).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["round 3 of 6", "round 6 of 6"]
    GBDTRegressor(n_estimators=2, verbose=1, n_iter_no_change=5, random_state=0).fit(X, y)
    assert "held out" in capsys.readouterr().out


def test_unlimited_depth_fits_every_row():
    X, y = table(load_diabetes, False)
    model = GBDTRegressor(n_estimators=1, learning_rate=1, max_depth=None).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y)
    assert GBDTRegressor(n_estimators=1, max_depth=0).fit(X, y).trees_[0][0].n_nodes == 1


def test_a_split_that_gains_nothing():
    """Exclusive-or: the first order splits on, as scikit-learn, and finds it; the second order wants a gain at once."""
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float), np.array([1.0, -1, -1, 1])
    parameters = dict(n_estimators=1, learning_rate=1, max_depth=2, reg_lambda=0, base_score=0)
    np.testing.assert_allclose(GBDTRegressor(**parameters).fit(X, y).predict(X), y)
    assert GBDTRegressor(method="newton", **parameters).fit(X, y).trees_[0][0].n_nodes == 1


def test_base_score_is_in_units_of_the_target():
    X, y = table(load_iris, False)
    assert GBDTRegressor(base_score=7.0, max_depth=0, method="newton", n_estimators=1, learning_rate=1e-9).fit(
        X, y + 1
    ).predict(X)[0] == pytest.approx(7)
    two = GBDTClassifier(base_score=0.2, n_estimators=1, learning_rate=1e-9).fit(X[:100], y[:100])
    np.testing.assert_allclose(two.predict_proba(X)[0], [0.8, 0.2])
    three = GBDTClassifier(base_score=[0.2, 0.5, 0.3], n_estimators=1, learning_rate=1e-9).fit(X, y)
    np.testing.assert_allclose(three.predict_proba(X)[0], [0.2, 0.5, 0.3])


def test_a_large_offset_costs_no_digits():
    X, y = table(load_diabetes, False)
    for method in METHODS:
        model = GBDTRegressor(method=method, n_estimators=5, learning_rate=0.5)
        near, far = clone(model).fit(X, y), clone(model).fit(X, y + 1e9)
        for (tree,), (same,) in zip(near.trees_, far.trees_):
            np.testing.assert_array_equal(tree.feature, same.feature)
        np.testing.assert_allclose(near.predict(X), far.predict(X) - 1e9, atol=1e-5)


def test_a_start_far_away_hides_no_split():
    """Beside sums of squares of 1e16 the savings, of 1e6, are still told apart, as by the exact search."""
    X, y = table(load_diabetes, False)
    model = GBDTRegressor(n_estimators=2, reg_lambda=0, base_score=1e7, max_depth=2, max_bins=None)
    exact, hist = (clone(model).set_params(method=method).fit(X, y) for method in METHODS)
    for (tree,), (same,) in zip(exact.trees_, hist.trees_):
        assert tree.n_nodes == 7
        np.testing.assert_array_equal(tree.feature, same.feature)
        np.testing.assert_array_equal(tree.threshold, same.threshold)


# -- hard input -----------------------------------------------------------------------------------------

each_estimator = pytest.mark.parametrize(
    "model",
    [e(method=method, n_estimators=3) for e in (GBDTClassifier, GBDTRegressor) for method in METHODS],
)


@each_estimator
def test_hard_but_sound_input(model):
    y = np.array([0, 1, 0, 1])
    model.fit(np.ones((4, 2)), y)  # constant columns, mixed labels
    assert all(tree.n_nodes == 1 for trees in model.trees_ for tree in trees)
    assert model.feature_importances_.tolist() == [0, 0]
    assert model.fit([[1.0]], [1]).predict([[5.0]]) == [1]  # one row, and one class
    assert model.fit([[1.0], [2.0]], [1, 1]).predict([[5.0]]) == [1]
    model.fit([[1.0], [1.0], [2.0]], [0, 1, 1])  # the same row with two labels
    model.fit([[np.nan, 1], [np.nan, 2], [np.nan, 3]], [0, 1, 1])  # a column with nothing in it
    assert all(tree.feature.max() <= 1 and 0 not in tree.feature for trees in model.trees_ for tree in trees)
    near = np.array([[1.0], [np.nextafter(1.0, 2)]])
    model.set_params(min_child_weight=0).fit(near, [0, 1])  # neighbouring floats
    low, high = model.predict_proba(near)[:, 1] if isinstance(model, GBDTClassifier) else model.predict(near)
    assert low < 0.5 < high
    assert model.trees_[0][0].n_leaves == 2


def test_a_class_of_weight_zero_has_no_share():
    X, y = table(load_iris, False)
    for label in (y, np.minimum(y, 1)):
        model = GBDTClassifier(n_estimators=2).fit(X, label, sample_weight=(label != 0).astype(float))
        shares = model.predict_proba(X)
        assert np.isfinite(shares).all() and shares[:, 0].max() < 1e-12


def test_newtons_tree_reads_like_any_other():
    """Cover is its weight, and what its splits gain is what the impurity of its nodes falls by."""
    X, y = np.array([[0.0], [1], [2], [3]]), np.array([1.0, 1, -2, -3])
    model = GBDTRegressor(method="newton", n_estimators=1, max_depth=1, base_score=0, gamma=0.5)
    frame = model.fit(X, y).trees_[0][0].to_frame()
    assert frame["weight"].tolist() == [4, 2, 2]
    np.testing.assert_allclose(frame["impurity"], [-9 / 10, -4 / 6, -25 / 6])
    assert frame["gain"][0] == pytest.approx(frame["impurity"][0] - frame["impurity"][1:].sum() - 0.5)
