"""What columns contribute to a prediction, against the definition, set by set, and against XGBoost and shap."""

import json
from functools import partial
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError

from treekit import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    GBDTClassifier,
    GBDTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    contributions,
)
from treekit.datasets import load_watermelon
from treekit.trees import contributions as module


def shapley_by_definition(v, n_columns):
    """The Shapley values of a game, all sets one by one."""
    phi = np.zeros(n_columns)
    for j in range(n_columns):
        others = [i for i in range(n_columns) if i != j]
        for size in range(n_columns):
            share = factorial(size) * factorial(n_columns - size - 1) / factorial(n_columns)
            for S in combinations(others, size):
                phi[j] += share * (v({*S, j}) - v({*S}))
    return phi


def down_both(tree, row, known, node=0):
    """The mean below a node: an unknown column sends the row down both branches."""
    if tree.feature[node] < 0:
        return tree.value[node, 0]
    children = tree.first_child[node] + np.arange(tree.n_children[node])
    if tree.feature[node] in known:
        return down_both(tree, row, known, children[int(row[tree.feature[node]] > tree.threshold[node])])
    return np.average([down_both(tree, row, known, child) for child in children], weights=tree.weight[children])


@pytest.fixture(scope="module")
def patients():
    X, y = load_diabetes(return_X_y=True)
    return X[:, :5], y


def test_path_dependent_values_are_those_of_all_sets(patients):
    """A column is tested several times on a path, and weights differ."""
    X, y = patients
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    tree = CARTRegressor(max_depth=5).fit(X, y, weight)
    found = contributions(tree, X[:4])
    for row, values in zip(X, found):
        by_sets = shapley_by_definition(partial(down_both, tree.tree_, row), 5)
        np.testing.assert_allclose(values[:5], by_sets, atol=1e-9)
    np.testing.assert_allclose(found[:, 5], np.average(y, weights=weight))


@pytest.mark.parametrize(
    ("model", "share_missing"),
    [
        (RandomForestRegressor(4, max_depth=5, random_state=0), 0.0),
        (GBDTRegressor(n_estimators=5, max_depth=4), 0.0),
        (GBDTRegressor(method="newton", n_estimators=5, max_depth=4), 0.2),
    ],
)
def test_interventional_values_are_those_of_all_sets(patients, model, share_missing):
    X, y = patients
    X = np.where(np.random.default_rng(0).random(X.shape) < share_missing, np.nan, X)
    background, model = X[200:215], model.fit(X, y)
    found = contributions(model, X[:3], background=background)

    def filled_in(row, S):
        known = background.copy()
        known[:, list(S)] = row[list(S)]
        return model.predict(known).mean()

    for row, values in zip(X, found):
        np.testing.assert_allclose(values[:5], shapley_by_definition(partial(filled_in, row), 5), atol=1e-9)
    np.testing.assert_allclose(found[:, 5], model.predict(background).mean())


def test_xgboost_gives_the_same_numbers():
    """Shapley values and path sums. (Where values are missing, XGBoost cuts elsewhere between two training rows.)"""
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32)
    common = dict(n_estimators=12, max_depth=5, learning_rate=0.3, base_score=150.0, min_child_weight=1e-6)
    ours = GBDTRegressor(method="newton", max_bins=None, **common).fit(X, y)
    theirs = xgboost.XGBRegressor(max_bin=1024, n_jobs=1, **common).fit(X, y).get_booster()
    rows = xgboost.DMatrix(X)
    for method, is_approximate in (("shapley", False), ("path", True)):
        expected = theirs.predict(rows, pred_contribs=True, approx_contribs=is_approximate)
        np.testing.assert_allclose(contributions(ours, X, method), expected, atol=2e-3)


SHAP = json.loads((Path(__file__).parents[1] / "data" / "shapley.json").read_text())


@pytest.mark.parametrize(
    ("name", "model", "load"),
    [
        ("small tree", CARTRegressor(max_depth=3), partial(load_diabetes, scaled=False)),
        ("tree", CARTRegressor(max_depth=5, min_samples_leaf=5), partial(load_diabetes, scaled=False)),
        ("boosted", GBDTRegressor(n_estimators=20, min_samples_leaf=5), partial(load_diabetes, scaled=False)),
        ("log odds", GBDTClassifier(n_estimators=10, min_samples_leaf=5), load_breast_cancer),
    ],
    ids=list(SHAP),
)
def test_shap_gives_the_same_numbers(name, model, load):
    """Both kinds, where columns go together; to ten decimals, the interventional ones of its trees to seven digits."""
    table, stored = load(as_frame=True), SHAP[name]
    X = (table.data[stored["columns"]][:150] * 1e4).round()
    model.fit(X, table.target[:150])
    filled, both_branches = contributions(model, X[:4], background=X[100:120]), contributions(model, X[:4])
    np.testing.assert_allclose(filled, stored["interventional, set by set"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(filled, stored["interventional"], rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(both_branches, stored["path-dependent"], rtol=0, atol=1e-9)
    assert np.abs(filled - both_branches).max() > 0.5  # so neither kind could stand in for the other


MELONS = load_watermelon("3.0")
WORDS, RIPE = MELONS.drop(columns="ripe"), MELONS["ripe"]


@pytest.mark.parametrize("share_missing", [0.0, 0.2])
@pytest.mark.parametrize(
    "model",
    [
        C45Classifier(),
        CARTClassifier(),
        CARTClassifier(max_depth=0),
        RandomForestClassifier(5, random_state=0),
        BaggingClassifier(n_estimators=4, voting="soft", random_state=0),
    ],
    ids=str,
)
def test_they_add_up_to_the_shares_of_the_classes(model, share_missing):
    X = WORDS.mask(np.random.default_rng(1).random(WORDS.shape) < share_missing)
    add_up(model.fit(X, RIPE), X)


def test_they_add_up_with_a_branch_for_each_word():
    X = WORDS.drop(columns=["density", "sugar"])
    add_up(ID3Classifier().fit(X, RIPE), X)


def add_up(model, X):
    for arguments in ({}, {"method": "path"}, {"background": X[:9]}):
        parts = contributions(model, X, **arguments)
        assert parts.shape == (17, 2, X.shape[1] + 1)
        np.testing.assert_allclose(parts.sum(axis=2), model.predict_proba(X), atol=1e-12)


def test_they_add_up_to_the_scores_of_boosting():
    X, y = load_iris(return_X_y=True)
    three = GBDTClassifier(n_estimators=4).fit(X, y)
    parts = contributions(three, X)
    assert parts.shape == (150, 3, 5)
    np.testing.assert_allclose(parts.sum(axis=2), three.decision_function(X))
    two = GBDTClassifier(n_estimators=4, method="newton").fit(X, y > 1)
    np.testing.assert_allclose(contributions(two, X).sum(axis=1), two.decision_function(X))


def test_blocks_of_rows_change_nothing(patients, monkeypatch):
    X, y = patients
    forest = RandomForestRegressor(3, max_depth=4, random_state=0).fit(X, y)
    whole, filled = contributions(forest, X[:20]), contributions(forest, X[:20], background=X[:7])
    monkeypatch.setattr(module, "TERMS_AT_ONCE", 500)
    np.testing.assert_allclose(contributions(forest, X[:20]), whole, atol=1e-9)
    np.testing.assert_allclose(contributions(forest, X[:20], background=X[:7]), filled, atol=1e-9)


def test_a_column_that_no_tree_tests_gets_nothing():
    X = pd.DataFrame({"width": [1, 2, 3, 4], "girth": [1, 2, 3, 4]})
    tree = CARTRegressor().fit(X, [1, 2, 3, 9])
    for arguments in ({}, {"method": "path"}, {"background": X}):
        assert not contributions(tree, X, **arguments)[:, 1].any()


def test_what_can_not_be_explained_is_refused(patients):
    X, y = patients
    tree, label = CARTRegressor(max_depth=2).fit(X, y), y > 140
    with pytest.raises(NotFittedError):
        contributions(CARTRegressor(), X)
    with pytest.raises(ValueError, match="method must be 'shapley' or 'path'; got 'tree'"):
        contributions(tree, X, method="tree")
    with pytest.raises(ValueError, match="background is for method='shapley'"):
        contributions(tree, X, method="path", background=X)
    with pytest.raises(TypeError, match="got dict"):
        contributions({}, X)
    for other in (
        ObliqueTreeClassifier(random_state=0),
        BaggingClassifier(n_estimators=2, voting="hard"),
        AdaBoostClassifier(n_estimators=2),
    ):
        with pytest.raises(TypeError, match=type(other).__name__):
            contributions(other.fit(X, label), X)
