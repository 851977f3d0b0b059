"""Cascade forest: class vectors out of fold, levels that stop, plain composition of forests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

from treekit.models.bootstrap import draw_seeds
from treekit.models.deep_forest import CascadeForestClassifier, assign_folds, out_of_fold
from treekit.models.random_forest import RandomForestClassifier

IRIS = load_iris(return_X_y=True)
WINE = load_wine(return_X_y=True)


def small(**parameters) -> CascadeForestClassifier:
    return CascadeForestClassifier(
        **{"n_forests": 1, "n_estimators": 3, "max_levels": 2, "random_state": 0} | parameters
    )


# -- what it is made of -----------------------------------------------------------------------------------------


def test_folds_share_every_class_evenly():
    code, weight = np.repeat([0, 1, 2], [10, 7, 4]), np.ones(21)
    fold = assign_folds(code, weight, 3, np.random.default_rng(0))
    table = np.array([[np.sum((fold == f) & (code == k)) for k in range(3)] for f in range(3)])
    assert np.ptp(table, axis=0).max() <= 1
    assert np.ptp(table.sum(axis=1)) == 0
    assert not np.array_equal(fold, assign_folds(code, weight, 3, np.random.default_rng(1)))


def test_rows_of_weight_zero_do_not_move_the_others():
    code, weight = np.repeat([0, 1], 12), np.ones(24)
    weight[:6] = weight[12:20] = 0
    for seed in range(5):
        fold = assign_folds(code, weight, 3, np.random.default_rng(seed))
        kept = np.array([[np.sum((fold == f) & (code == k) & (weight > 0)) for k in range(2)] for f in range(3)])
        assert np.ptp(kept, axis=0).max() <= 1


def test_class_vectors_come_from_forests_that_have_not_seen_the_row():
    """Labels without any meaning: a forest asked about its own rows knows them, out of fold it can't."""
    rng = np.random.default_rng(0)
    table, label = (
        pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc")),
        np.array(["u", "v"])[rng.integers(0, 2, 120)],
    )
    forest = RandomForestClassifier(15, random_state=0)
    fold = assign_folds((label == "v").astype(int), np.ones(120), 3, rng)
    vectors = out_of_fold(forest, table, label, np.ones(120), fold)
    honest = np.mean(np.array(["u", "v"])[vectors.argmax(axis=1)] == label)
    assert forest.fit(table, label).score(table, label) > 0.95
    assert honest == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / 120))


def test_out_of_fold_by_hand():
    """Fold by fold with the rows taken out, where out_of_fold only takes their weight."""
    X, y = IRIS
    table = pd.DataFrame(X, columns=list("abcd"))
    fold = np.arange(150) % 3
    forest = RandomForestClassifier(4, random_state=7)
    vectors = out_of_fold(forest, table, y, np.ones(150), fold)
    for k in range(3):
        left = RandomForestClassifier(4, random_state=7).fit(table[fold != k], y[fold != k])
        assert vectors[fold == k] == pytest.approx(left.predict_proba(table[fold == k]))


def test_a_level_is_two_kinds_of_forests_on_the_table_and_the_class_vectors():
    X, y = WINE
    model = small(n_forests=2, n_estimators=1, max_levels=3, random_state=3).fit(X, y)
    first, *later = model.levels_
    assert [forest.max_features for forest in first] == ["sqrt", "sqrt", 1, 1]
    assert [forest.n_features_in_ for forest in first] == [13] * 4
    assert later and all(forest.n_features_in_ == 13 + 4 * 3 for level in later for forest in level)
    assert len({forest.random_state for level in model.levels_ for forest in level}) == 4 * len(model.levels_)


def test_prediction_composes_the_levels():
    """predict_proba, written out: the table, then the table beside the vectors of the forests of each level."""
    X, y = WINE
    model = small(n_estimators=2, max_levels=3).fit(X, y)
    assert len(model.levels_) >= 2
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(13)])
    for level in model.levels_:
        vectors = [forest.predict_proba(table) for forest in level]
        table = table.iloc[:, :13].copy()
        for i, vector in enumerate(vectors):
            for k in range(3):
                table[f"forest {i} class {k}"] = vector[:, k]
    assert model.predict_proba(X) == pytest.approx(sum(vectors) / len(vectors))


# -- levels -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_levels_end_where_accuracy_does_not_rise(seed):
    X, y = WINE
    model = small(n_estimators=2, max_levels=6, random_state=seed).fit(X, y)
    scores = model.level_scores_
    kept = len(model.levels_)
    assert (np.diff(scores[:kept]) > 0).all()
    assert len(scores) == kept or (len(scores) == kept + 1 and scores[-1] <= scores[-2])
    assert len(scores) == kept + 1 or kept == 6


def test_level_scores_are_the_accuracy_of_the_class_vectors():
    X, y = IRIS
    weight = np.where(y == 0, 3.0, 1.0)
    model = small(max_levels=1).fit(X, y, sample_weight=weight)
    rng = np.random.default_rng(next(draw_seeds(0)))
    fold = assign_folds(y, weight, 3, rng)
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(4)])
    vectors = [out_of_fold(forest, table, y, weight, fold) for forest in model.levels_[0]]
    right = np.mean(vectors, axis=0).argmax(axis=1) == y
    assert model.level_scores_ == pytest.approx([(right * weight).sum() / weight.sum()])


def test_a_level_that_is_no_better_is_not_used():
    X, y = IRIS
    model = small(max_levels=5).fit(X, y)
    alone = small(max_levels=len(model.levels_)).fit(X, y)
    assert len(model.level_scores_) > len(model.levels_)
    assert np.array_equal(model.predict_proba(X), alone.predict_proba(X))


def test_as_good_as_a_forest():
    """On new rows, within three standard errors; no more is claimed."""
    X, y = WINE
    train, rest = np.arange(178) % 2 == 0, np.arange(178) % 2 == 1
    cascade = small(n_estimators=10).fit(X[train], y[train])
    p = RandomForestClassifier(20, random_state=0).fit(X[train], y[train]).score(X[rest], y[rest])
    assert cascade.score(X[rest], y[rest]) == pytest.approx(p, abs=3 * np.sqrt(2 * p * (1 - p) / rest.sum()))


# -- tables of all kinds ----------------------------------------------------------------------------------------


def test_few_rows():
    assert small().fit([[1.0], [2]], ["a", "a"]).predict([[1.0]]).tolist() == ["a"]
    lone = small().fit([[1.0], [2], [3], [4]], ["a", "a", "a", "b"])
    assert lone.predict_proba([[1.0]]).shape == (1, 2)
    conflict = small(n_estimators=20).fit(np.ones((6, 1)), ["a", "b"] * 3)
    assert conflict.predict_proba([[1.0]])[0] == pytest.approx([0.5, 0.5], abs=0.25)


def test_verbose_tells_each_level(capsys):
    small(max_levels=1, verbose=1).fit(*IRIS)
    assert capsys.readouterr().out.startswith("level 1 of 1, ")
