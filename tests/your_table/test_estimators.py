"""What the page learns with NumPy: about as well as scikit-learn on public tables, and the same as on a desk."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.model_selection import KFold, cross_val_predict

from scripts.execute import ROOT
from tests.your_table.conftest import TABLES
from tests.your_table.test_growing import grown, of_the_book, run
from treekit import CARTClassifier, GBDTClassifier
from treekit.datasets import load_watermelon
from your_table import page, reading

FOREST = {"method": "forest", "parameters": {"n_estimators": 40, "min_samples_leaf": 1, "max_depth": 20}}
BOOSTING = {"method": "boosting", "parameters": {"n_estimators": 40, "learning_rate": 0.1, "max_depth": 3}}
TREE = {"method": "large", "parameters": {"max_depth": 4, "min_samples_leaf": 3}}
STAGEC = ROOT / "tests" / "data" / "stagec.csv"
PEERS = {
    "forest": (ensemble.RandomForestClassifier, ensemble.RandomForestRegressor),
    "boosting": (ensemble.HistGradientBoostingClassifier, ensemble.HistGradientBoostingRegressor),
}


@pytest.mark.parametrize("settings", [FOREST, BOOSTING], ids=["forest", "boosting"])
@pytest.mark.parametrize("name", TABLES)
def test_a_model_is_about_as_right_as_that_of_scikit_learn(name, settings, frames):
    """On the same held-out rows, and better than the plainest guess, which is counted here anew."""
    table = frames(name)
    answer = grown(table.to_csv(index=False), **settings)
    held = page.state["plot"].held
    X, y = table.drop(columns="target"), table["target"]
    is_numbers = name == "diabetes"
    peer = PEERS[settings["method"]][is_numbers](random_state=0).fit(X.drop(held), y.drop(held))
    peer_says, true = peer.predict(X.loc[held]), y.loc[held]
    own, guess = answer["scores"]
    if is_numbers:
        assert own["new"] == pytest.approx(abs(peer_says - true).mean(), rel=0.1)
        assert guess["new"] == pytest.approx(abs(y.drop(held).mean() - true).mean())
        assert own["new"] < guess["new"] - 10
    else:
        assert own["new"] == pytest.approx((peer_says == true).mean(), abs=0.06)
        assert guess["new"] == pytest.approx((y.drop(held).mode()[0] == true).mean())
        assert own["new"] > guess["new"] + 0.2 and guess["leaves"] == 1
    assert sum(share for _, share in answer["importance"]) == pytest.approx(1)
    assert answer["n_held"] == len(held) and own["leaves"] > 40


@pytest.mark.parametrize("settings", [FOREST, BOOSTING, TREE], ids=["forest", "boosting", "tree"])
@pytest.mark.parametrize("name", ["iris", "diabetes", "watermelon_missing", "loan", "stagec"])
def test_the_cell_prints_on_a_desk_what_the_page_tells(name, settings, frames, tmp_path, monkeypatch):
    """With words, gaps, few rows that are judged in folds, and targets that are numbers."""
    answer = of_the_book(name, **settings) if name in ("watermelon_missing", "loan") else None
    if answer is None:
        answer = grown(STAGEC.read_bytes() if name == "stagec" else frames(name).to_csv(index=False), **settings)
    assert [float(line) for line in run(answer, tmp_path, monkeypatch)] == [one["new"] for one in answer["scores"]]
    json.dumps(answer, allow_nan=False)


def test_of_few_rows_each_is_judged_by_what_has_not_seen_it():
    melons = load_watermelon("3.0-alpha")
    answer = grown(melons.to_csv(index=False), method="large", parameters={"max_depth": 2})
    X, y = melons[["density", "sugar"]], melons["ripe"].astype(str)
    tree, folds = CARTClassifier(max_depth=2), KFold(5, shuffle=True, random_state=0)
    assert answer["scores"][0]["new"] == pytest.approx((cross_val_predict(tree, X, y, cv=folds) == y).mean())


def test_what_the_reader_sets_is_what_is_fitted(frames):
    table = frames("wine")
    parameters = {"n_estimators": 7, "learning_rate": 0.3, "max_depth": 2, "reg_lambda": 5}
    answer = grown(table.to_csv(index=False), method="boosting", parameters=parameters)
    plot = page.state["plot"]
    model = GBDTClassifier(method="newton", **parameters)
    model.fit(table.drop(columns="target").drop(plot.held), table["target"].drop(plot.held))
    shares = dict(answer["importance"])
    assert [shares.get(A, 0) for A in plot.columns] == model.feature_importances_.tolist()
    assert grown(table.to_csv(index=False), method="forest", parameters={"max_features": 99})["importance"]


def test_a_single_tree_is_that_of_the_plain_page(frames):
    """Where no gap and no word makes them differ. It is drawn, and its rules are told."""
    text = frames("breast_cancer").to_csv(index=False)
    own, fast = grown(text, depth=4, least=3), grown(text, **TREE)
    assert fast["rules"] == own["rules"] and fast["scores"] == own["scores"]
    assert fast["svg"].startswith("<svg xmlns") and "data-node" not in fast["html"]
    assert dict(fast["importance"]) == pytest.approx(dict(own["importance"]))


def test_of_many_rows_numpy_takes_more():
    n = reading.MOST_ROWS + 5000
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3)).round(3)
    y = np.where(x[:, 0] + x[:, 1] > 0, "up", "down")
    rows = "\n".join(f"{a},{b},{c},{label}" for (a, b, c), label in zip(x.tolist(), y))
    about = page.take(f"a,b,c,y\n{rows}\n".encode(), "many.csv")
    assert about["is_large"] and about["rows"] == reading.MOST_ROWS
    [note] = about["notes"]
    assert note.startswith("Of the 15,000 rows 10,000 were drawn at random;")
    assert note.endswith(" Methods that fetch NumPy learn from 15,000.")
    own = page.grow(about["suggested"])
    assert own["n_grown"] + own["n_held"] == reading.MOST_ROWS
    for _ in range(2):  # the second time the rows have been read
        fast = page.grow(about["suggested"] | TREE)
        assert fast["n_grown"] + fast["n_held"] == n
    held = page.state["plot"].held
    seen = np.delete(np.arange(n), held)
    model = CARTClassifier(max_depth=4, min_samples_leaf=3).fit(x[seen], y[seen])
    assert fast["scores"][0]["new"] == pytest.approx(model.score(x[held], y[held]))
    assert page.table()["text"].count("\n") == n + 1


def test_what_cannot_be_learned_is_refused_in_a_sentence(frames):
    settings = {"method": "boosting", "parameters": {"learning_rate": 50.0, "n_estimators": 400}}
    refused = grown(frames("diabetes").to_csv(index=False), **settings)["refused"]
    assert refused.startswith("treekit cannot learn from this table: ")
