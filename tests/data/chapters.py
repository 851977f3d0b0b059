"""Records what other programs make of formulas of the book's chapters: see chapters.md."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from baycomp import CorrelatedTTest
from pystreed import STreeDClassifier
from quantile_forest import RandomForestQuantileRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from treekit.datasets import load_tuning


def corrected_errors() -> list[dict[str, Any]]:
    """Leads of one model over another on twenty splits, and the square roots of baycomp's corrected variances."""
    left = load_tuning().pivot(index="split", columns=["table", "model"], values="left")
    pairs = [
        ("tumours", "and reg_lambda", "linear"),
        ("friedman", "defaults", "CatBoost"),
        ("wine", "forest", "linear"),
    ]
    found = []
    for table, behind, ahead in pairs:
        x, y = (left[table, model].to_numpy().round(5) for model in (ahead, behind))
        errors = {}
        for tenths in (1, 2, 3, 5):
            # Each of ten folds tests on a tenth of the rows, so twenty splits are two runs. For three tenths we need
            # runs of 10 / 3 folds, which only this method takes.
            _, variance, _ = CorrelatedTTest.compute_statistics(x, y, runs=2 * tenths)
            errors[f"{tenths / 10}"] = variance**0.5
        assert np.isclose(CorrelatedTTest(x, y, runs=4).var, errors["0.2"] ** 2)
        found.append({"lead": (y - x).round(5).tolist(), "errors": errors})
    return found


def quantiles() -> dict[str, Any]:
    """A forest as its leaves tell it, and for new rows the means and the quantiles that quantile-forest finds."""
    X, y = load_diabetes(return_X_y=True)
    X, X_new, y = X[:60], X[60:90], y[:60]
    forest = RandomForestQuantileRegressor(
        8, min_samples_leaf=3, max_features=1 / 3, max_samples_leaf=None, random_state=0
    )
    forest.fit(X, y)
    held, reached = forest.apply(X), forest.apply(X_new)
    drawn = np.array([np.bincount(rows, minlength=len(y)) for rows in forest.estimators_samples_])
    n_in_leaves = [sum(drawn[m][held[:, m] == leaf].sum() for m, leaf in enumerate(leaves)) for leaves in reached]
    found = {}
    for q in (0.07, 0.31, 0.53, 0.94):
        # Of W rows its quantile q is number (W - 1) q + 1. We ask for number W q, or the next if that is between two.
        asked = [(n * q - 1) / (n - 1) for n in n_in_leaves]
        ways = dict(interpolation="higher", weighted_leaves=True)
        found[q] = [forest.predict(row[np.newaxis], [one], **ways).item() for row, one in zip(X_new, asked)]
    means = forest.predict(X_new, "mean", weighted_leaves=True)
    leaves = {"held": held.tolist(), "drawn": drawn.tolist(), "reached": reached.tolist()}
    return {"labels": y.tolist(), **leaves, "means": means.tolist(), "quantiles": found}


def best_trees() -> dict[str, dict[str, Any]]:
    """Small tables of two classes, and how many errors STreeD's best tree of two levels makes there."""
    rng = np.random.default_rng(0)
    corners = rng.integers(0, 4, (60, 4))
    is_odd = (corners[:, 0] > 1) ^ (corners[:, 1] > 1) ^ (rng.random(60) < 0.1)
    (iris, kind), (wines, grape) = load_iris(return_X_y=True), load_wine(return_X_y=True)
    (patients, progress), (tumours, is_benign) = load_diabetes(return_X_y=True), load_breast_cancer(return_X_y=True)
    tables = {
        "corners": (corners, is_odd),
        "noise": (rng.integers(0, 9, (40, 4)), rng.random(40) < 0.4),
        "iris": (iris[50:], kind[50:] == 1),
        "wine": (wines[40:130, :5], grape[40:130] == 1),
        "patients": ((100 * patients[:70, 2:7]).round(2), progress[:70] > 140),
        "tumours": (tumours[:80, :4], is_benign[:80]),
    }
    found = {}
    for name, (X, y) in tables.items():
        answers = np.column_stack([X[:, [j]] <= np.unique(X[:, j])[:-1] for j in range(X.shape[1])]).astype(int)
        model = STreeDClassifier("accuracy", max_depth=2, max_num_nodes=3).fit(answers, y.astype(int))
        assert model.fit_result.is_optimal()
        wrong = int((model.predict(answers) != y).sum())
        found[name] = {"X": X.tolist(), "y": y.astype(int).tolist(), "errors": wrong}
    return found


def main() -> None:
    stored = {"corrected errors": corrected_errors(), "quantile forest": quantiles(), "best trees": best_trees()}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in stored.items()]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
