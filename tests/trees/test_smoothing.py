"""Smoothed shares of leaves, against another program's estimate of the same numbers, and the formula."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import CategoricalNB

from treekit import CARTClassifier, CARTRegressor, ID3Classifier, smooth_shares
from treekit.datasets import load_watermelon

RPART = json.loads((Path(__file__).parents[1] / "data" / "rpart_loss.json").read_text())


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, y, CARTClassifier(max_depth=3).fit(X, y)


@pytest.mark.parametrize("alpha", [0.5, 1, 4])
def test_equal_priors_are_what_naive_bayes_adds_to_its_counts(wine, alpha):
    """scikit-learn estimates the shares of a column's values in each class, here of the classes in each leaf."""
    X, y, model = wine
    leaves, leaf = np.unique(model.apply(X), return_inverse=True)
    theirs = np.exp(CategoricalNB(alpha=alpha).fit(y[:, np.newaxis], leaf).feature_log_prob_[0])
    ours = smooth_shares(model.tree_, m=3 * alpha)
    assert ours.value[leaves] == pytest.approx(theirs, rel=1e-12)
    if alpha == 1:
        assert np.array_equal(smooth_shares(model.tree_).value, ours.value)


def test_the_m_estimate_adds_rows_of_the_prior(wine):
    *_, model = wine
    tree, prior = model.tree_, [0.5, 0.3, 0.2]
    counts = tree.value * tree.n_samples[:, np.newaxis]
    by_formula = (counts + 7 * np.array(prior)) / (tree.n_samples[:, np.newaxis] + 7)
    assert smooth_shares(tree, 7, prior).value == pytest.approx(by_formula, rel=1e-12)
    assert smooth_shares(tree, 7, tree.value[0]).value[0] == pytest.approx(tree.value[0])


def test_a_model_predicts_by_the_smoothed_tree(wine):
    X, y, model = wine
    smoothed = CARTClassifier(max_depth=3).fit(X, y)
    smoothed.tree_ = smooth_shares(model.tree_)
    assert smoothed.predict_proba(X) == pytest.approx(smoothed.tree_.value[model.apply(X)])
    assert np.array_equal(smoothed.predict(X), model.predict(X))
    assert model.tree_.value[model.tree_.is_leaf].max() == 1  # the tree itself stays as it was


def test_a_leaf_without_rows_has_the_prior():
    melons = load_watermelon()
    tree = ID3Classifier().fit(melons.drop(columns="ripe"), melons["ripe"]).tree_
    empty = tree.n_samples == 0
    assert empty.any()
    smoothed = smooth_shares(tree, 5, [0.25, 0.75]).value[empty]
    assert smoothed == pytest.approx(np.tile([0.25, 0.75], (len(smoothed), 1)))


def test_pure_leaves_can_be_ranked():
    """Provost and Domingos: without it all pure leaves of a class share one score."""
    X, y = load_diabetes(return_X_y=True)
    is_high, half = y > 265, np.arange(len(y)) % 2 == 0
    model = CARTClassifier().fit(X[half], is_high[half])
    raw = roc_auc_score(is_high[~half], model.predict_proba(X[~half])[:, 1])
    model.tree_ = smooth_shares(model.tree_)
    assert roc_auc_score(is_high[~half], model.predict_proba(X[~half])[:, 1]) > raw + 0.05


@pytest.mark.parametrize("wrong", [0, -1, np.nan, np.inf])
def test_m_must_be_a_positive_number(wine, wrong):
    with pytest.raises(ValueError, match="m must be a positive number"):
        smooth_shares(wine[2].tree_, m=wrong)


@pytest.mark.parametrize("wrong", [[0.5, 0.5], [0.5, 0.4, 0.2], [1.5, -0.5, 0], [np.nan, 0.5, 0.5]])
def test_a_prior_holds_a_share_for_each_class(wine, wrong):
    with pytest.raises(ValueError, match="prior must hold 3 shares"):
        smooth_shares(wine[2].tree_, prior=wrong)


def test_what_has_no_shares_is_refused():
    with pytest.raises(TypeError, match="tree must be a Tree"):
        smooth_shares(CARTClassifier())
    with pytest.raises(ValueError, match="predicts numbers"):
        smooth_shares(CARTRegressor().fit([[1], [2]], [1, 2]).tree_)


@pytest.mark.parametrize("case", RPART, ids=lambda case: f"{case['table']}-{case['cost']}")
def test_class_weights_are_the_loss_matrix_of_rpart(case):
    """Two classes: depths, columns, cuts, rows, classes and what their mistakes cost are those of rpart's nodes.

    rpart sends rows above a cut to the left where that side has more of the first class, so its nodes have another
    order.
    """
    X, y = (load_breast_cancer if case["table"] == "cancer" else load_diabetes)(return_X_y=True)
    y, rare = (y, 0) if case["table"] == "cancer" else ((y > 265).astype(int), 1)
    limits = dict(max_depth=3, min_samples_split=20, min_samples_leaf=7)
    tree = CARTClassifier(class_weight={rare: case["cost"], 1 - rare: 1}, **limits).fit(X, y).tree_
    loss = tree.weight * tree.value.min(axis=1)
    ours = zip(
        tree.depth,
        tree.feature,
        np.nan_to_num(tree.threshold),
        tree.n_samples,
        tree.value.argmax(axis=1),
        loss,
        strict=True,
    )
    theirs = zip(
        np.log2(case["node"]).astype(int),
        [-1 if column is None else column for column in case["column"]],
        [0 if cut is None else cut for cut in case["cut"]],
        *(case[name] for name in ("rows", "predicted", "loss")),
        strict=True,
    )
    assert np.array(sorted(ours)) == pytest.approx(np.array(sorted(theirs)))
