"""What grows with NumPy: forests, boosting, CART on many rows. The page runs the very cell that it shows.

Nothing of these estimators is imported here: the cell does that, once the page has fetched what they need.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from treekit import by_hand
from your_table.cell import READ, as_csv, words_of
from your_table.growing import SEED, Rows
from your_table.reading import Refusal

__all__ = ["ESTIMATORS", "Fitted", "fit"]
#: For each model what the page calls it, the estimators for classes and for numbers, and what the reader cannot set.
ESTIMATORS: dict[str, tuple[str, tuple[str, str], dict[str, Any]]] = {
    "forest": ("the forest", ("RandomForestClassifier", "RandomForestRegressor"), {"random_state": SEED}),
    "boosting": ("boosting", ("GBDTClassifier", "GBDTRegressor"), {"method": "newton"}),
    "large": ("CART’s own tree", ("CARTClassifier", "CARTRegressor"), {}),
}
CELL = """\
from random import Random

import pandas as pd
from sklearn.dummy import {guess}
{more}from treekit import {estimator}

{read}
held = Random({seed}).sample(range(len(table)), {n_held})  # rows that the model does not see
model = {estimator}({parameters})
for learner in (model, {guess}()):  # the other one always says the same
    learner.fit(table.drop(held), labels.drop(held))
    {judged}
    print({score})
"""
FOLDS = 5  # if there are few rows, each is judged by what has grown without its fold
FOLDED = "from sklearn.model_selection import KFold, cross_val_predict\n"
JUDGED_BY_HELD = "predicted, true = learner.predict(table.loc[held]), labels.loc[held]"
JUDGED_BY_ALL = (
    "folds = KFold({folds}, shuffle=True, random_state={seed})\n"
    "    predicted, true = cross_val_predict(learner, table, labels, cv=folds), labels"
)


class Fitted(NamedTuple):
    """A model, the cell that has made it, and how good it and the plainest guess are."""

    model: Any
    code: str
    scores: list[dict[str, Any]]


def cell(rows: Rows, file: str) -> str:
    """The cell: it reads the table, fits the model, and prints how right it is on rows that it has not seen."""
    settings = rows.settings
    _, names, fixed = ESTIMATORS[settings.method]
    parameters = settings.parameters | fixed
    if "max_features" in parameters:
        parameters["max_features"] = min(parameters["max_features"], len(rows.columns))
    return CELL.format(
        guess="DummyRegressor" if rows.is_numbers else "DummyClassifier",
        more="" if rows.held else FOLDED,
        estimator=names[rows.is_numbers],
        read=READ.format(words=words_of(rows), file=file, target=settings.target),
        seed=SEED,
        n_held=rows.n_held,
        parameters=", ".join(f"{name}={value!r}" for name, value in parameters.items()),
        judged=JUDGED_BY_HELD if rows.held else JUDGED_BY_ALL.format(folds=min(FOLDS, len(rows.D)), seed=SEED),
        score="(predicted - true).abs().mean()" if rows.is_numbers else "(predicted == true).mean()",
    )


def fit(rows: Rows, file: str) -> Fitted:
    """Run the cell beside the table that it reads."""
    code = cell(rows, file)
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path(file).write_text(as_csv(rows), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                exec(code, names)
            except ValueError as error:
                raise Refusal(f"treekit cannot learn from this table: {error}") from None
    X, y = (names[name].drop(names["held"]) for name in ("table", "labels"))
    model, guess = names["model"], names["learner"]
    says = guess.predict(X[:1])[0]
    always = f"always the mean, “{by_hand.says({None: says})}”" if rows.is_numbers else f"always “{says}”"
    told = zip((ESTIMATORS[rows.settings.method][0], always), (model, guess), printed.getvalue().split())
    scores = [
        {"name": name, "leaves": n_leaves(learner), "grown": score(learner.predict(X), y), "new": float(new)}
        for name, learner, new in told
    ]
    return Fitted(model, code, scores)


def n_leaves(learner: Any) -> int:
    """The number of leaves in all trees of a model; one that always predicts the same counts as a leaf."""
    grown = getattr(learner, "forest_", None) or getattr(learner, "tree_", None)
    return grown.n_leaves if grown else 1


def score(predicted: Any, true: Any) -> float:
    """The score as the cell counts it: the share that is right; for numbers how far off they are, on average."""
    is_numbers = true.dtype.kind in "if"
    return float((predicted - true).abs().mean() if is_numbers else (predicted == true).mean())
