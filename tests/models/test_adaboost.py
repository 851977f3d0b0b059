"""AdaBoost: Li Hang's example, scikit-learn's rounds, the bound on the training error, stops, properties."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier as Theirs
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from treekit.models.adaboost import AdaBoostClassifier
from treekit.models.cart import CARTClassifier

# -- Li Hang, example 8.1 ---------------------------------------------------------------------------------------

TEN_X = np.arange(10.0).reshape(-1, 1)
TEN_Y = np.array([1, 1, 1, -1, -1, -1, 1, 1, 1, -1])


def stages(model: AdaBoostClassifier, X, y) -> list[np.ndarray]:
    """Weights of the rows after each round, which follow from the vote: w is proportional to exp(-y f)."""
    weights = [np.exp(-y * f) for f in model.staged_decision_function(X)]
    return [w / w.sum() for w in weights]


def test_example_of_li_hang():
    """Statistical Learning Methods, example 8.1: cuts, errors, alphas and weights to the printed digits.

    Its third alpha, 0.7514, comes from the rounded error 0.1820; the exact 2/11 gives 0.7520.
    """
    model = AdaBoostClassifier(n_estimators=3).fit(TEN_X, TEN_Y)
    assert [stump.tree_.threshold[0] for stump in model.estimators_] == [2.5, 8.5, 5.5]
    assert [stump.predict([[0], [9]]).tolist() for stump in model.estimators_] == [[1, -1], [1, -1], [-1, 1]]
    assert model.estimator_errors_.round(4).tolist() == [0.3, 0.2143, 0.1818]
    assert model.estimator_errors_[2] == pytest.approx(0.1820, abs=2e-4)
    assert model.estimator_weights_[:2].round(4).tolist() == [0.4236, 0.6496]
    assert 0.5 * np.log((1 - 0.1820) / 0.1820) == pytest.approx(0.7514, abs=5e-5)
    assert model.estimator_weights_[2] == pytest.approx(0.5 * np.log((1 - 2 / 11) / (2 / 11)))
    second, third, fourth = stages(model, TEN_X, TEN_Y)
    assert model.sample_weights_[1:] == pytest.approx(np.array([second, third]))
    assert second == pytest.approx([0.07143] * 6 + [0.16667] * 3 + [0.07143], abs=5e-6)
    assert third == pytest.approx([0.0455] * 3 + [0.1667] * 3 + [0.1060] * 3 + [0.0455], abs=1e-4)
    assert fourth == pytest.approx([0.125] * 3 + [0.102] * 3 + [0.065] * 3 + [0.125], abs=5e-4)


def test_training_errors_of_li_hang():
    """Three rows are wrong after one round, three after two, none after three."""
    model = AdaBoostClassifier(n_estimators=3).fit(TEN_X, TEN_Y)
    assert [int((label != TEN_Y).sum()) for label in model.staged_predict(TEN_X)] == [3, 3, 0]
    assert model.predict(TEN_X).tolist() == TEN_Y.tolist()
    f = sum(
        a * np.where(stump.predict(TEN_X) > 0, 1, -1) for a, stump in zip(model.estimator_weights_, model.estimators_)
    )
    assert model.decision_function(TEN_X) == pytest.approx(f)


# -- against scikit-learn ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [1.0, 0.3])
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine, load_digits])
def test_scikit_learns_rounds(load, rate):
    """SAMME round for round: errors, alphas (twice ours for two classes), votes and answers."""
    X, y = load(return_X_y=True)
    ours = AdaBoostClassifier(n_estimators=10, learning_rate=rate).fit(X, y)
    theirs = Theirs(DecisionTreeClassifier(max_depth=1), n_estimators=10, learning_rate=rate, random_state=0).fit(X, y)
    factor = 2 if len(ours.classes_) == 2 else 1
    assert len(ours.estimators_) == 10
    assert ours.estimator_errors_ == pytest.approx(theirs.estimator_errors_, abs=1e-12)
    assert factor * ours.estimator_weights_ == pytest.approx(theirs.estimator_weights_)
    for mine, yours in zip(ours.staged_predict(X), theirs.staged_predict(X)):
        assert np.array_equal(mine, yours)
    margin = ours.decision_function(X) / ours.estimator_weights_.sum()
    assert factor * margin == pytest.approx(theirs.decision_function(X))
    if load is not load_iris:  # there two columns tie, and the programs choose differently
        assert ours.feature_importances_ == pytest.approx(theirs.feature_importances_)


def test_deeper_trees_of_scikit_learn_as_members():
    X, y = load_wine(return_X_y=True)
    y = np.array(["one", "two", "three"])[y]
    ours = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2, max_features=3), 10, random_state=0).fit(X, y)
    assert len({member.random_state for member in ours.estimators_}) == len(ours.estimators_)
    assert ours.score(X, y) > 0.95


def test_any_classifier_with_weights_can_be_boosted():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(LogisticRegression(), 5).fit(X, y)
    theirs = Theirs(LogisticRegression(), n_estimators=5).fit(X, y)
    assert model.estimator_weights_ == pytest.approx(theirs.estimator_weights_, rel=1e-3)
    assert np.array_equal(model.predict(X), theirs.predict(X))
    with pytest.raises(AttributeError, match="feature_importances_"):
        _ = model.feature_importances_


# -- formulas and stops -----------------------------------------------------------------------------------------


def test_the_shares_are_those_of_the_vote():
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    assert model.predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp(-2 * model.decision_function(X))))
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    f = model.decision_function(X)
    assert f.shape == (150, 3) and f.sum(axis=1) == pytest.approx(np.zeros(150))
    assert model.predict_proba(X) == pytest.approx(np.exp(f / 2) / np.exp(f / 2).sum(axis=1, keepdims=True))
    assert np.array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))


def test_weights_of_samme():
    """Three classes: each round's error, recomputed from weights that are raised by exp(alpha) where it was wrong."""
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    w = np.full(150, 1 / 150)
    for stump, alpha, e in zip(model.estimators_, model.estimator_weights_, model.estimator_errors_):
        miss = stump.predict(X) != y
        assert e == pytest.approx(w[miss].sum())
        assert alpha == pytest.approx(np.log((1 - e) / e) + np.log(2))
        w = w * np.exp(alpha * miss)
        w /= w.sum()


def test_a_classifier_without_error_is_the_last_and_decides_alone():
    model = AdaBoostClassifier().fit([[1.0], [2], [3]], ["a", "a", "b"])
    assert (model.estimator_errors_.tolist(), model.estimator_weights_.tolist()) == ([0], [1])
    assert model.predict([[1], [3]]).tolist() == ["a", "b"]

    class Learner(DecisionTreeClassifier):
        """Knows one answer at first, and the whole table from the third round on."""

        rounds = 0

        def fit(self, X, y, sample_weight):
            Learner.rounds += 1
            self.max_depth = None if Learner.rounds > 2 else 1
            return super().fit(X, y, sample_weight)

    model = AdaBoostClassifier(Learner()).fit(TEN_X, TEN_Y)
    alpha = model.estimator_weights_
    assert len(alpha) == 3 and alpha[2] == 1 + alpha[0] + alpha[1]
    assert model.predict(TEN_X).tolist() == TEN_Y.tolist()


def test_no_better_than_chance_ends_the_rounds():
    """A member that always says the same: after the first round its error is exactly one half."""

    class Stubborn(DecisionTreeClassifier):
        def predict(self, X):
            return np.where(np.asarray(X)[:, 0] < 7.5, 1, -1)

    model = AdaBoostClassifier(Stubborn()).fit(TEN_X, TEN_Y)
    assert model.estimator_errors_.tolist() == pytest.approx([0.4]) and len(model.estimators_) == 1


def test_worse_than_chance_at_once_is_an_error():
    xor = [[0, 0], [0, 1], [1, 0], [1, 1]]
    with pytest.raises(
        ValueError, match="estimator is no better than chance in the first round: its weighted error is 0.5"
    ):
        AdaBoostClassifier().fit(xor, [0, 1, 1, 0])
    assert AdaBoostClassifier(CARTClassifier(max_depth=2)).fit(xor, [0, 1, 1, 0]).score(xor, [0, 1, 1, 0]) == 1


def test_three_classes_need_less_than_two_thirds():
    """A stump that knows one class of three is weak by the rule for two classes, and good enough for SAMME."""
    X, y = np.arange(9.0).reshape(-1, 1), np.repeat([0, 1, 2], 3)
    constant = AdaBoostClassifier(CARTClassifier(max_depth=0), n_estimators=1)
    with pytest.raises(ValueError, match="error is 0.667, with 3 classes"):
        constant.fit(X, y)
    weights = np.where(y == 0, 1.2, 1.0)
    model = constant.fit(X, y, sample_weight=weights)
    assert 0.5 < model.estimator_errors_[0] < 2 / 3 and model.estimator_weights_[0] > 0
    assert AdaBoostClassifier(n_estimators=10).fit(X, y).score(X, y) == 1


def test_a_large_learning_rate_is_used_or_refused():
    """Refused where the weights of the rows, or the votes, would leave the floats."""
    used = []
    for rate in (1, 50, 5000):
        try:
            model = AdaBoostClassifier(n_estimators=9, learning_rate=rate).fit(TEN_X, TEN_Y)
        except ValueError as error:
            assert "no better than chance" in str(error) or f"learning_rate={rate} is too large" in str(error)
        else:
            used.append(rate)
            assert np.isfinite(model.decision_function(TEN_X)).all()
    assert 1 in used and 5000 not in used


def test_a_tie_of_the_vote_goes_to_the_first_class():
    model = AdaBoostClassifier(n_estimators=2).fit(TEN_X, TEN_Y)
    model.estimator_weights_ = np.array([1.0, 1.0])
    assert model.decision_function([[5.0]]).tolist() == [0.0]
    assert model.predict([[5.0]]).tolist() == [-1]
    # 0.1 + 0.2 - 0.3 is not 0 in binary, but the vote is a tie all the same.
    yes, no = sorted(model.estimators_, key=lambda member: member.predict([[5.0]])[0], reverse=True)
    model.estimators_, model.estimator_weights_ = [yes, yes, no], np.array([0.1, 0.2, 0.3])
    assert model.decision_function([[5.0]]) > 0 and model.predict([[5.0]]).tolist() == [-1]


@pytest.mark.parametrize("n_first, n_second", [(a, b) for a in range(2, 9) for b in range(1, a)])
def test_rounding_of_weights_does_not_beat_chance(n_first, n_second):
    """After the first round both classes of a constant column weigh one half, but for rounding."""
    y = np.repeat([0, 1], [n_first, n_second])
    assert len(AdaBoostClassifier(n_estimators=3).fit(np.ones((len(y), 1)), y).estimators_) == 1


def test_small_votes_decide_as_large_ones_do():
    small, large = (AdaBoostClassifier(learning_rate=rate, n_estimators=1).fit(TEN_X, TEN_Y) for rate in (1e-13, 1.0))
    assert small.predict(TEN_X).tolist() == large.predict(TEN_X).tolist()


@pytest.mark.parametrize("y", [TEN_Y, np.arange(10) % 3], ids=["two classes", "three"])
def test_a_reader_may_change_what_a_stage_gives(y):
    model = AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=3).fit(TEN_X, y)
    stages = []
    for f in model.staged_decision_function(TEN_X):
        stages.append(f.copy())
        f[:] = 0
    assert len(stages) == 3
    assert np.array_equal(stages[-1], model.decision_function(TEN_X))


def test_seeds_are_drawn_as_they_are_needed():
    """A member without error is the last, however many there may be."""
    assert len(AdaBoostClassifier(n_estimators=2**40).fit([[0.0], [1.0]], [0, 1]).estimators_) == 1


# -- properties -------------------------------------------------------------------------------------------------

tables = st.integers(2, 20).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-5, 5), min_size=n, max_size=n),
        st.lists(st.integers(-5, 5), min_size=n, max_size=n),
        st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n),
    )
)


def boosted(columns, **parameters) -> tuple[AdaBoostClassifier, np.ndarray, np.ndarray]:
    a, b, y = map(np.array, columns)
    X = np.column_stack([a, b]).astype(float)
    assume(len(set(columns[2])) == 2)
    try:
        return AdaBoostClassifier(n_estimators=12, **parameters).fit(X, y), X, y
    except ValueError as error:
        assume("no better than chance" not in str(error))
        raise


@settings(max_examples=20)
@given(tables)
def test_training_error_keeps_its_bound(columns):
    r"""Freund and Schapire, theorem 6: at most the product of 2 sqrt(e (1 - e)), which is the mean exponential loss."""
    model, X, y = boosted(columns)
    e = model.estimator_errors_
    bound = np.cumprod(2 * np.sqrt(e * (1 - e)))
    assert (np.diff(bound, prepend=1.0) <= 1e-12).all()
    for m, (f, label) in enumerate(zip(model.staged_decision_function(X), model.staged_predict(X))):
        assert np.mean(label != y) <= bound[m] + 1e-9
        if e[m] > 0:
            assert np.exp(-y * f).mean() == pytest.approx(bound[m])


@settings(max_examples=20)
@given(tables, st.floats(0.05, 1.0))
def test_exponential_loss_never_rises(columns, rate):
    model, X, y = boosted(columns, learning_rate=rate)
    losses = [1.0] + [np.exp(-y * f).mean() for f in model.staged_decision_function(X)]
    if model.estimator_errors_[-1] > 0:
        assert (np.diff(losses) <= 1e-12).all()


@settings(max_examples=12)
@given(tables)
def test_exchanging_the_classes_turns_the_vote_around(columns):
    """Until a leaf ties, that is: it says the first class, which is now the other one."""
    model, X, y = boosted(columns)
    turned = AdaBoostClassifier(n_estimators=12).fit(X, -y)
    ties = [np.any(np.abs(stump.tree_.value[stump.tree_.is_leaf, 0] - 0.5) < 1e-6) for stump in model.estimators_]
    n = ties.index(True) + 1 if any(ties) else len(ties)
    assert turned.estimator_errors_[:n] == pytest.approx(model.estimator_errors_[:n], abs=1e-9)
    votes = [list(m.staged_decision_function(X)) for m in (model, turned)]
    for f, g in zip(*(stages[: n - 1] for stages in votes)):
        assert f == pytest.approx(-g, abs=1e-6)


# -- tables of all kinds ----------------------------------------------------------------------------------------


def test_unequal_shares_of_a_constant_column_are_better_than_chance():
    model = AdaBoostClassifier().fit(np.ones((3, 1)), ["a", "b", "b"])
    assert model.estimator_errors_ == pytest.approx([1 / 3]) and model.predict([[1.0]]).tolist() == ["b"]


def test_verbose_tells_each_round(capsys):
    AdaBoostClassifier(n_estimators=2, verbose=1).fit(TEN_X, TEN_Y)
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == ["round 1 of 2", "round 2 of 2"]
    AdaBoostClassifier(n_estimators=2).fit(TEN_X, TEN_Y)
    assert capsys.readouterr().out == ""


def test_the_rounding_of_weights_decides_about_no_surrogate():
    """Rows of weight zero change the last digits of the others' weights, and nothing else.

    Column a repeats the split on c no better than the heavier branch does: as a surrogate it gains 0, or by rounding
    a little more.
    """
    c = pd.Categorical([None, None, None, None, "v", "v", None, "u", None, None, None], categories=["u", "v", "w"])
    X = pd.DataFrame({"a": [0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0], "b": np.full(11, np.nan), "c": c})
    y = np.array([0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0])
    counts = np.isin(np.arange(11), [2, 3, 4, 5, 7, 9])
    one = AdaBoostClassifier(n_estimators=4).fit(X, y, counts.astype(float))
    other = AdaBoostClassifier(n_estimators=4).fit(X[counts], y[counts])
    for model in (one, other):
        assert not any((rank.feature >= 0).any() for rank in model.estimators_[0].tree_.surrogates)
    np.testing.assert_allclose(one.estimator_weights_, other.estimator_weights_, rtol=1e-9)
