"""Bagging and random forests: exact identities, out-of-bag by hand, scikit-learn's forests, properties."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.ensemble import RandomForestRegressor as TheirRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from treekit.models.bagging import BaggingClassifier
from treekit.models.bootstrap import bootstrap_counts, draw_seeds
from treekit.models.cart import CARTClassifier, CARTRegressor
from treekit.models.random_forest import RandomForestClassifier, RandomForestRegressor

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)

# -- exact identities -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_a_forest_of_one_whole_tree_is_cart(criterion):
    X, y = CANCER
    forest = RandomForestClassifier(1, criterion=criterion, bootstrap=False, max_features=None).fit(X, y)
    cart = CARTClassifier(criterion=criterion).fit(X, y)
    assert forest.estimators_[0].tree_.export_text() == cart.tree_.export_text()
    assert np.array_equal(forest.predict_proba(X), cart.predict_proba(X))
    assert forest.feature_importances_ == pytest.approx(cart.feature_importances_)
    assert np.array_equal(forest.apply(X)[:, 0], cart.apply(X))


@pytest.mark.parametrize("has_gaps", [False, True])
def test_apply_gives_each_tree_its_own_node_numbers(has_gaps):
    """All trees are asked at once; the numbers are those of each one alone, also where rows ask surrogates."""
    X, y = CANCER
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X) if has_gaps else X
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    assert np.array_equal(forest.apply(X), np.stack([tree.apply(X) for tree in forest.estimators_], axis=1))


def test_class_weights_reach_the_trees():
    X, y = CANCER
    weights = {0: 5.0, 1: 1.0}
    forest = RandomForestClassifier(1, bootstrap=False, max_features=None, max_depth=3, class_weight=weights).fit(X, y)
    cart = CARTClassifier(max_depth=3, class_weight=weights).fit(X, y)
    assert forest.estimators_[0].tree_.export_text() == cart.tree_.export_text()
    assert cart.tree_.export_text() != CARTClassifier(max_depth=3).fit(X, y).tree_.export_text()


def test_a_forest_of_one_whole_regression_tree_is_cart():
    X, y = DIABETES
    forest = RandomForestRegressor(1, bootstrap=False, max_depth=4).fit(X, y)
    np.testing.assert_allclose(forest.predict(X), CARTRegressor(max_depth=4).fit(X, y).predict(X), rtol=1e-14)


@pytest.mark.parametrize("Forest", [RandomForestClassifier, RandomForestRegressor])
def test_a_forest_is_the_mean_of_its_trees(Forest):
    X, y = IRIS
    forest = Forest(7, random_state=3).fit(X, y)
    answer = "predict_proba" if Forest is RandomForestClassifier else "predict"
    mean = np.mean([getattr(tree, answer)(X) for tree in forest.estimators_], axis=0)
    assert getattr(forest, answer)(X) == pytest.approx(mean, abs=1e-14)
    importances = np.mean([tree.feature_importances_ for tree in forest.estimators_], axis=0)
    assert forest.feature_importances_ == pytest.approx(importances / importances.sum())


@pytest.mark.parametrize(
    "Forest, Tree", [(RandomForestClassifier, CARTClassifier), (RandomForestRegressor, CARTRegressor)]
)
def test_each_tree_is_cart_with_the_sample_as_weights(Forest, Tree):
    """in_bag_ and the tree's seed are all that there is to a tree of a forest."""
    X, y = IRIS
    frame = pd.DataFrame(X, columns=list("abcd"))
    forest = Forest(4, max_features=2, oob_score=True, random_state=5)
    with pytest.warns(UserWarning, match="rows are in the sample of every tree"):
        forest.fit(frame, y)
    for tree, count in zip(forest.estimators_, forest.in_bag_):
        alone = Tree(max_features=2, random_state=tree.random_state).fit(frame, y, sample_weight=count)
        assert alone.tree_.export_text() == tree.tree_.export_text()
        assert count.sum() == len(y) and count.max() > 1


def test_bagging_is_its_members_fitted_on_the_samples():
    """Against scikit-learn's own tree, fitted here by hand."""
    X, y = CANCER
    bag = BaggingClassifier(DecisionTreeClassifier(max_depth=3), 5, oob_score=True, random_state=2)
    with pytest.warns(UserWarning, match="oob_score"):
        bag.fit(X, y)
    members = [
        DecisionTreeClassifier(max_depth=3, random_state=member.random_state).fit(X, y, sample_weight=count)
        for member, count in zip(bag.estimators_, bag.in_bag_)
    ]
    assert bag.predict_proba(X) == pytest.approx(np.mean([m.predict_proba(X) for m in members], axis=0))
    votes = BaggingClassifier(DecisionTreeClassifier(max_depth=3), 5, voting="hard", random_state=2).fit(X, y)
    assert votes.predict_proba(X)[:, 1] == pytest.approx(np.mean([m.predict(X) for m in members], axis=0))


def test_bagging_is_a_forest_that_draws_no_columns():
    X, y = IRIS
    bag = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    forest = RandomForestClassifier(5, max_features=None, random_state=0).fit(X, y)
    assert np.array_equal(bag.predict_proba(X), forest.predict_proba(X))


def test_soft_and_hard_votes_can_differ():
    """One sure member outshouts two that are nearly undecided; by heads it loses."""

    class Says(DecisionTreeClassifier):
        def predict_proba(self, X):
            return np.tile([0.0, 1.0] if self.random_state % 3 == 0 else [0.55, 0.45], (len(X), 1))

        def predict(self, X):
            return self.predict_proba(X).argmax(axis=1)

    X, y = np.zeros((4, 1)), [0, 1, 0, 1]
    for seed in range(100):
        soft = BaggingClassifier(Says(), 3, random_state=seed).fit(X, y)
        if sum(member.random_state % 3 == 0 for member in soft.estimators_) == 1:
            break
    hard = BaggingClassifier(Says(), 3, voting="hard", random_state=seed).fit(X, y)
    assert soft.predict_proba(X)[0] == pytest.approx([1.1 / 3, 1.9 / 3]) and soft.predict(X)[0] == 1
    assert hard.predict_proba(X)[0] == pytest.approx([2 / 3, 1 / 3]) and hard.predict(X)[0] == 0


def test_an_even_vote_goes_to_the_first_class():
    X, y = np.zeros((2, 1)), ["b", "a"]
    bag = BaggingClassifier(n_estimators=2, voting="hard", random_state=0).fit(X, y)
    for seed in range(50):
        bag = BaggingClassifier(n_estimators=2, voting="hard", random_state=seed).fit(X, y)
        if bag.predict_proba(X)[0, 0] == 0.5:
            break
    assert bag.predict_proba(X)[0].tolist() == [0.5, 0.5]
    assert bag.predict(X).tolist() == ["a", "a"]


def test_any_classifier_with_weights_can_be_bagged():
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    logistic = BaggingClassifier(LogisticRegression(max_iter=1000), 3, random_state=0).fit(X, names)
    assert logistic.score(X, names) > 0.95
    vectors = BaggingClassifier(LinearSVC(), 3, voting="hard", random_state=0).fit(X, names)
    assert vectors.score(X, names) > 0.9


def test_a_member_that_does_not_know_a_class():
    class OnlyItsRows(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight):
            rows = np.flatnonzero(sample_weight)
            return super().fit(X[rows], y[rows], sample_weight[rows])

    X, y = np.arange(6.0).reshape(-1, 1), np.array(["a", "a", "b", "b", "c", "c"])
    bag = BaggingClassifier(OnlyItsRows(), 20, random_state=0).fit(X, y)
    assert min(len(member.classes_) for member in bag.estimators_) < 3
    shares = bag.predict_proba(X)
    assert shares.shape == (6, 3) and shares.sum(axis=1) == pytest.approx(np.ones(6))
    assert bag.predict(X).tolist() == y.tolist()


# -- samples and seeds ------------------------------------------------------------------------------------------


def test_a_sample_leaves_out_a_third():
    """Each row is left out with probability (1 - 1/n)^n; the share over many samples is that within its error."""
    rng, n, times = np.random.default_rng(0), 200, 500
    counts = np.array([bootstrap_counts(np.ones(n), rng) for _ in range(times)])
    expected = (1 - 1 / n) ** n
    assert (counts.sum(axis=1) == n).all()
    assert (counts == 0).mean() == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / (n * times)))
    assert counts.mean(axis=0) == pytest.approx(np.ones(n), abs=5 / np.sqrt(times))


def test_each_node_draws_its_own_columns():
    """With one column a node, the roots ask for each column equally often, and the nodes of a tree for several."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), rng.integers(0, 2, 40)
    trees = [
        t.tree_ for t in RandomForestClassifier(200, max_depth=3, max_features=1, random_state=0).fit(X, y).estimators_
    ]
    roots = np.bincount([tree.feature[0] for tree in trees], minlength=4)
    assert roots == pytest.approx(np.full(4, 50), abs=4 * np.sqrt(200 * 0.25 * 0.75))
    assert np.mean([len(np.unique(tree.feature[tree.feature >= 0])) for tree in trees]) > 2


def test_a_column_that_can_split_is_always_found():
    X = np.zeros((6, 5))
    X[:, 3] = range(6)
    y = [0, 0, 0, 1, 1, 1]
    forest = RandomForestClassifier(20, max_features=1, bootstrap=False, random_state=0).fit(X, y)
    assert all(tree.tree_.feature[0] == 3 for tree in forest.estimators_)
    assert forest.feature_importances_.tolist() == [0, 0, 0, 1, 0]


@pytest.mark.parametrize("Model", [BaggingClassifier, RandomForestClassifier, RandomForestRegressor])
def test_more_trees_change_none_of_the_first(Model):
    models = [Model(n_estimators=n, random_state=0).fit(*IRIS) for n in (4, 6)]
    fewer, more = ([tree.tree_.export_text() for tree in model.estimators_] for model in models)
    assert more[:4] == fewer


def test_the_forest_of_a_seed_is_this_one():
    """Pinned: the samples, the drawn columns and so the trees are these on every platform."""
    X, y = IRIS
    forest = RandomForestClassifier(8, random_state=0).fit(X, y)
    assert [tree.tree_.n_nodes for tree in forest.estimators_] == [15, 21, 19, 13, 19, 15, 15, 15]
    assert [tree.tree_.feature[0] for tree in forest.estimators_] == [3, 0, 3, 2, 0, 2, 2, 2]


# -- out of bag -------------------------------------------------------------------------------------------------


def test_out_of_bag_by_hand():
    """Row by row, the answers of the trees whose samples lack it, added up in plain Python."""
    X, y = np.array([[1.0], [2], [3], [4], [5], [6]]), np.array(["n", "n", "y", "n", "y", "y"])
    weight = np.array([1.0, 1, 1, 1, 2, 3])
    forest = RandomForestClassifier(20, oob_score=True, random_state=1).fit(X, y, sample_weight=weight)
    right = 0.0
    for i in range(6):
        answers = [
            tree.predict_proba(X[[i]])[0] for tree, count in zip(forest.estimators_, forest.in_bag_) if count[i] == 0
        ]
        assert 0 < len(answers) < 20
        assert forest.oob_decision_function_[i] == pytest.approx(sum(answers) / len(answers))
        right += weight[i] * (forest.classes_[np.argmax(sum(answers))] == y[i])
    assert forest.oob_score_ == pytest.approx(right / weight.sum())


def test_out_of_bag_of_a_regressor_by_hand():
    X, y = DIABETES
    X, y = X[:40], y[:40]
    forest = RandomForestRegressor(25, oob_score=True, random_state=1).fit(X, y)
    answers = np.ma.masked_array([tree.predict(X) for tree in forest.estimators_], forest.in_bag_ > 0)
    assert forest.oob_prediction_ == pytest.approx(answers.mean(axis=0).data)
    assert forest.oob_score_ == pytest.approx(r2_score(y, answers.mean(axis=0).data))
    weight = np.arange(40) % 4 + 1.0
    weighted = RandomForestRegressor(25, oob_score=True, random_state=1).fit(X, y, sample_weight=weight)
    assert weighted.oob_score_ == pytest.approx(r2_score(y, weighted.oob_prediction_, sample_weight=weight))
    assert weighted.oob_score_ != pytest.approx(r2_score(y, weighted.oob_prediction_))


def test_a_row_of_weight_zero_has_no_part_in_the_out_of_bag_score():
    X, y = IRIS
    kept = np.arange(150) % 3 > 0
    forest = RandomForestClassifier(20, oob_score=True, random_state=0)
    score = forest.fit(X[kept], y[kept]).oob_score_
    assert forest.fit(X, y, sample_weight=kept.astype(float)).oob_score_ == score


def test_out_of_bag_of_bagging_by_hand():
    X, y = IRIS
    bag = BaggingClassifier(n_estimators=30, voting="hard", oob_score=True, random_state=1).fit(X, y)
    votes = np.ma.masked_array([member.predict(X)[:, None] == range(3) for member in bag.estimators_])
    votes.mask = np.repeat((bag.in_bag_ > 0)[:, :, None], 3, axis=2)
    assert bag.oob_decision_function_ == pytest.approx(votes.mean(axis=0).data)
    assert bag.oob_score_ == pytest.approx((votes.mean(axis=0).argmax(axis=1) == y).mean())


def test_a_row_in_every_sample_has_no_answer():
    X, y = IRIS
    with pytest.warns(UserWarning, match=r"oob_score: \d+ rows are in the sample of every tree"):
        forest = RandomForestClassifier(2, oob_score=True, random_state=0).fit(X, y)
    seen = (forest.in_bag_ > 0).all(axis=0)
    assert np.array_equal(np.isnan(forest.oob_decision_function_).all(axis=1), seen) and seen.any()
    answered = forest.oob_decision_function_[~seen].argmax(axis=1)
    assert forest.oob_score_ == pytest.approx((answered == y[~seen]).mean())


def test_out_of_bag_score_is_that_of_new_rows():
    """On half of the rows it foretells the accuracy on the other half, within three standard errors of both."""
    X, y = CANCER
    X1, X2, y1, y2 = train_test_split(X, y, test_size=0.5, random_state=0)
    forest = RandomForestClassifier(40, max_depth=6, oob_score=True, random_state=0).fit(X1, y1)
    p = forest.score(X2, y2)
    assert forest.score(X1, y1) > forest.oob_score_
    assert forest.oob_score_ == pytest.approx(p, abs=3 * np.sqrt(p * (1 - p) * (1 / len(y1) + 1 / len(y2))))


# -- against scikit-learn ---------------------------------------------------------------------------------------


def test_as_good_as_scikit_learns_forest():
    """Accuracy within three standard errors, importances in nearly the same order."""
    X, y = CANCER
    X1, X2, y1, y2 = train_test_split(X, y, test_size=0.5, random_state=1)
    ours = RandomForestClassifier(60, random_state=0).fit(X1, y1)
    theirs = TheirForest(60, random_state=0).fit(X1, y1)
    p = theirs.score(X2, y2)
    assert ours.score(X2, y2) == pytest.approx(p, abs=3 * np.sqrt(2 * p * (1 - p) / len(y2)))
    # Two forests of scikit-learn's with other seeds agree to 0.87 and 0.91.
    assert spearmanr(ours.feature_importances_, theirs.feature_importances_).statistic > 0.8
    assert np.corrcoef(ours.predict_proba(X2)[:, 1], theirs.predict_proba(X2)[:, 1])[0, 1] > 0.98
    assert np.mean([t.get_n_leaves() for t in ours.estimators_]) == pytest.approx(
        np.mean([t.get_n_leaves() for t in theirs.estimators_]), rel=0.15
    )


def test_as_good_as_scikit_learns_regressor():
    X, y = DIABETES
    ours = RandomForestRegressor(40, max_features=1 / 3, max_depth=6, oob_score=True, random_state=0).fit(X, y)
    theirs = TheirRegressor(40, max_features=1 / 3, max_depth=6, oob_score=True, random_state=0).fit(X, y)
    assert ours.oob_score_ == pytest.approx(theirs.oob_score_, abs=0.05)
    assert spearmanr(ours.feature_importances_, theirs.feature_importances_).statistic > 0.85
    assert np.corrcoef(ours.oob_prediction_, theirs.oob_prediction_)[0, 1] > 0.9


def test_a_forest_is_better_than_its_trees():
    X, y = CANCER
    X1, X2, y1, y2 = train_test_split(X, y, test_size=0.5, random_state=1)
    forest = RandomForestClassifier(30, random_state=0).fit(X1, y1)
    alone = [tree.score(X2, y2) for tree in forest.estimators_]
    assert forest.score(X2, y2) > np.mean(alone) + 0.02


def test_permutation_importance_of_scikit_learn():
    """An id column impresses the trees, not the rows kept aside."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"signal": rng.integers(0, 2, 300), "id": rng.permutation(300).astype(float)})
    y = np.where(rng.random(300) < 0.2, 1 - X["signal"], X["signal"])
    forest = RandomForestClassifier(20, max_features=None, random_state=0).fit(X[:150], y[:150])
    assert forest.feature_importances_[1] > 0.3
    permuted = permutation_importance(forest, X[150:], y[150:], n_repeats=5, random_state=0)
    assert permuted.importances_mean[0] > 0.1
    assert permuted.importances_mean[1] < 0.05


# -- properties -------------------------------------------------------------------------------------------------

tables = st.integers(2, 25).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.integers(-4, 4), min_size=n, max_size=n) for _ in range(3)], st.integers(0, 2**20)
    )
)


def as_table(columns) -> tuple[np.ndarray, np.ndarray, int]:
    a, b, y, seed = columns
    return np.array([a, b], dtype=float).T, np.array(y), seed


@settings(max_examples=25)
@given(tables)
def test_answers_are_shares_and_means(columns):
    X, y, seed = as_table(columns)
    shares = RandomForestClassifier(3, random_state=seed).fit(X, y).predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(y))) and shares.min() >= 0
    means = RandomForestRegressor(3, random_state=seed).fit(X, y).predict(X)
    assert means.min() >= y.min() - 1e-9 and means.max() <= y.max() + 1e-9


@settings(max_examples=25)
@given(tables)
def test_names_of_classes_do_not_matter(columns):
    X, y, seed = as_table(columns)
    forest = RandomForestClassifier(3, random_state=seed).fit(X, y)
    renamed = RandomForestClassifier(3, random_state=seed).fit(X, -y)
    assert renamed.predict_proba(X)[:, ::-1] == pytest.approx(forest.predict_proba(X))


@settings(max_examples=25)
@given(tables)
def test_a_rising_transform_changes_no_answer(columns):
    """For the rows of a sample, that is: of a row outside it a cut that moves may take the other side."""
    X, y, seed = as_table(columns)
    forest = RandomForestClassifier(3, oob_score=False, random_state=seed).fit(X, y)
    cubed = RandomForestClassifier(3, oob_score=False, random_state=seed).fit(X**3, y)
    for k, tree_seed in enumerate(islice(draw_seeds(seed), 3)):
        seen = bootstrap_counts(np.ones(len(y)), np.random.default_rng(tree_seed)) > 0
        assert np.array_equal(cubed.apply(X[seen] ** 3)[:, k], forest.apply(X[seen])[:, k])


# -- tables of all kinds ----------------------------------------------------------------------------------------


def test_a_column_without_any_entry_tells_nothing():
    X, y = IRIS
    X = np.column_stack([X, np.full(len(y), np.nan)])
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    assert forest.feature_importances_[-1] == 0 and forest.score(X, y) > 0.9


@pytest.mark.parametrize("criterion", ["squared_error", "friedman_mse", "absolute_error", "poisson"])
def test_every_criterion_of_regression(criterion):
    X, y = DIABETES
    forest = RandomForestRegressor(3, criterion=criterion, max_depth=4, random_state=0).fit(X[:100], y[:100])
    assert forest.score(X[:100], y[:100]) > 0.4


def test_verbose_tells_each_group_of_trees(capsys):
    RandomForestClassifier(2, random_state=0).fit(*IRIS)
    assert capsys.readouterr().out == ""
    RandomForestClassifier(400, max_depth=1, random_state=0, verbose=1).fit(*IRIS)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == ["tree 333 of 400", "tree 400 of 400"]
    BaggingClassifier(LogisticRegression(max_iter=1000), n_estimators=1, verbose=True).fit(*IRIS)
    assert capsys.readouterr().out.startswith("member 1 of 1, ")
