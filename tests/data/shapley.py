"""Records the Shapley values that the package shap finds for scikit-learn's models: see shapley.md."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import shap
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

N_ROWS, ROWS, BACKGROUND = 150, slice(4), slice(100, 120)


def cases() -> dict[str, tuple[Any, list[str], Any]]:
    """A model, the columns that it gets, and the table."""
    patients, tumours = load_diabetes(as_frame=True, scaled=False), load_breast_cancer(as_frame=True)
    related = ["mean radius", "mean texture", "mean perimeter", "mean smoothness"]
    return {
        "small tree": (DecisionTreeRegressor(max_depth=3, random_state=0), ["bmi", "s1", "s2", "s5"], patients),
        "tree": (DecisionTreeRegressor(max_depth=5, min_samples_leaf=5, random_state=0), [*patients.data], patients),
        "boosted": (
            GradientBoostingRegressor(n_estimators=20, min_samples_leaf=5, random_state=0), [*patients.data], patients,
        ),
        "log odds": (
            GradientBoostingClassifier(n_estimators=10, min_samples_leaf=5, random_state=0), related, tumours,
        ),
    }  # fmt: skip


def explained(model: Any, columns: list[str], table: Any) -> dict[str, Any]:
    """Both kinds of values for four rows, each line ending with what they start from."""
    X = (table.data[columns].to_numpy()[:N_ROWS] * 1e4).round()  # whole numbers, which single precision holds
    model.fit(X, table.target.to_numpy()[:N_ROWS])
    rows, background = X[ROWS], X[BACKGROUND]
    predict = getattr(model, "decision_function", model.predict)
    exact = shap.explainers.ExactExplainer(predict, shap.maskers.Independent(background, max_samples=len(background)))
    found = {"interventional, set by set": exact(rows)}
    for kind, data in (("interventional", background), ("tree_path_dependent", None)):
        explainer = shap.TreeExplainer(model, data, feature_perturbation=kind, model_output="raw")
        found[kind.removeprefix("tree_").replace("_", "-")] = explainer(rows)
    lines = {kind: np.column_stack([one.values, one.base_values]).round(10).tolist() for kind, one in found.items()}
    return {"columns": columns, **lines}


def main() -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(explained(*case))}" for name, case in cases().items()]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
