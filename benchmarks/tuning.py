"""Which parameter of boosting pays? XGBoost tuned step by step, and other models beside it, on six tables.

The test rows of a split are seen once, by the model that was chosen without them: each choice is made by
cross-validation on the training rows. `make tuning` measures again and writes the file that the chapter *Choosing a
model* reads, in some 30 minutes; a test repeats one of its splits, but for the two programs that only `make tuning`
installs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine, make_friedman1
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier, XGBRegressor

from benchmarks.measure import ROOT
from treekit.numeric import Array

try:
    import catboost
    import lightgbm
except ImportError:  # only `make tuning` installs both: the tests of the book do without
    catboost = lightgbm = None  # type: ignore[assignment]

FILE = ROOT / "treekit" / "data" / "tuning.csv"
N_SPLITS, N_FOLDS, MOST_ROUNDS, PATIENCE = 20, 3, 500, 20
Settings = dict[str, Any]
#: For CatBoost: one thread, and nothing written.
QUIET: Settings = dict(thread_count=1, allow_writing_files=False, verbose=0)

#: Parameter by parameter the values that are tried; the first is XGBoost's own, and the order is that of the steps.
VALUES: dict[str, tuple[float, ...]] = {
    "max_depth": (6, 1, 2, 3, 4),
    "learning_rate": (0.3, 0.1),
    "subsample": (1.0, 0.5),
    "colsample_bynode": (1.0, 0.5, 0.25),
    "reg_lambda": (1.0, 10.0, 100.0),
}


def cars() -> tuple[Array, Array]:
    """How many miles 392 cars go on a gallon, by seven columns; a column of zeros and ones for each origin.

    This is *Auto MPG* of the UCI repository (R. Quinlan, 1993; licence CC BY 4.0), without the six cars whose power is
    not known.
    """
    table = pd.read_csv(ROOT / "benchmarks" / "cars.csv")
    return pd.get_dummies(table.drop(columns="mpg")).to_numpy(float), table["mpg"].to_numpy()


#: The first four come with scikit-learn; the last is made by a formula, Friedman's first.
TABLES: dict[str, Callable[[], tuple[Array, Array]]] = {
    "diabetes": partial(load_diabetes, return_X_y=True),
    "wine": partial(load_wine, return_X_y=True),
    "tumours": partial(load_breast_cancer, return_X_y=True),
    "digits": lambda: tuple(part[::3] for part in load_digits(return_X_y=True)),  # every third
    "cars": cars,
    "friedman": partial(make_friedman1, n_samples=1000, noise=1.0, random_state=0),
}


def is_numbers(y: Array) -> bool:
    """Whether a number is predicted, and not a class."""
    return y.dtype.kind == "f"


def loss(model: Any, X: Array, y: Array) -> float:
    """Mean squared error, or log loss in nats where a probability below a thousandth counts as one."""
    if is_numbers(y):
        return float(((y - model.predict(X)) ** 2).mean())
    of_truth = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(-np.log(np.maximum(of_truth, 1e-3)).mean())


def boosted(y: Array, settings: Settings) -> Any:
    """XGBoost with one thread; what is not set is its default."""
    kind = XGBRegressor if is_numbers(y) else XGBClassifier
    return kind(n_jobs=1, random_state=0, **settings)


def catboosted(y: Array, **settings: Any) -> Any:
    """CatBoost with one thread; what is not set is its default."""
    kind = catboost.CatBoostRegressor if is_numbers(y) else catboost.CatBoostClassifier
    return kind(**QUIET, random_seed=0, **settings)


def lightboosted(y: Array) -> Any:
    """LightGBM with one thread, and its defaults."""
    kind = lightgbm.LGBMRegressor if is_numbers(y) else lightgbm.LGBMClassifier
    return kind(n_jobs=1, verbosity=-1)


def folds() -> KFold:
    """The folds of the training rows by which all is chosen."""
    return KFold(N_FOLDS, shuffle=True, random_state=0)


def validated(settings: Settings, X: Array, y: Array) -> tuple[float, int]:
    """The mean over the folds of the lowest loss, and of the rounds that it took."""
    scores, rounds = [], []
    for fit, rest in folds().split(X):
        early = {"n_estimators": MOST_ROUNDS, "early_stopping_rounds": PATIENCE}
        model = boosted(y, settings | early).fit(X[fit], y[fit], eval_set=[(X[rest], y[rest])], verbose=False)
        scores.append(model.best_score)
        rounds.append(model.best_iteration + 1)
    return float(np.mean(scores)), round(np.mean(rounds))


def choose(settings: Settings, name: str, X: Array, y: Array) -> Settings:
    """The settings with the best value of one parameter, and its number of rounds."""
    tried = [settings | {name: value} for value in VALUES[name]]
    results = [validated(each, X, y) for each in tried]
    best = min(range(len(tried)), key=lambda i: results[i][0])
    return tried[best] | {"n_estimators": results[best][1]}


def linear(X: Array, y: Array) -> Any:
    """A linear model whose penalty is chosen by cross-validation, on columns of variance 1."""
    if is_numbers(y):
        return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 13))).fit(X, y)
    inner = {"l1_ratios": (0,), "use_legacy_attributes": False, "scoring": "neg_log_loss"}
    return make_pipeline(StandardScaler(), LogisticRegressionCV(Cs=7, cv=N_FOLDS, max_iter=2000, **inner)).fit(X, y)


def forest(X: Array, y: Array) -> Any:
    """A random forest, as it comes from the shelf but for 300 trees and, for numbers too, the root of the columns."""
    kind = RandomForestRegressor if is_numbers(y) else RandomForestClassifier
    return kind(300, max_features="sqrt", random_state=0).fit(X, y)


def better(X: Array, y: Array) -> Any:
    """The linear model or CatBoost, whichever loses less on the folds."""
    fits = (linear, lambda X, y: catboosted(y).fit(X, y))
    losses = [sum(loss(fit(X[a], y[a]), X[b], y[b]) for a, b in folds().split(X)) for fit in fits]
    return fits[int(np.argmin(losses))](X, y)


def models(X: Array, y: Array) -> Iterator[tuple[str, Any]]:
    """Each model by its name, tuned on these rows and fitted to them; each *and* goes on from the one before."""
    yield "linear", linear(X, y)
    yield "forest", forest(X, y)
    yield "defaults", boosted(y, {}).fit(X, y)
    if catboost is not None:
        yield "LightGBM", lightboosted(y).fit(X, y)
        yield "CatBoost", catboosted(y).fit(X, y)
        yield "linear or CatBoost", better(X, y)
    settings: Settings = {"n_estimators": validated({}, X, y)[1]}
    yield "rounds", boosted(y, settings).fit(X, y)
    for name in VALUES:
        yield f"only {name}", boosted(y, choose({}, name, X, y)).fit(X, y)
    for name in VALUES:
        settings = choose(settings, name, X, y)
        yield f"and {name}", boosted(y, settings).fit(X, y)


def divided(name: str, split: int) -> list[Array]:
    """The training rows, the test rows and the labels of both, of one split of a table."""
    X, y = TABLES[name]()
    return train_test_split(X, y, test_size=0.3, random_state=split, stratify=None if is_numbers(y) else y)


def loss_of_constant(a: Array, b: Array, y_a: Array, y_b: Array) -> float:
    """The loss on the test rows of a model that predicts the same for all, learned from the training rows."""
    return loss((DummyRegressor() if is_numbers(y_a) else DummyClassifier()).fit(a, y_a), b, y_b)


def measured(name: str, split: int) -> Iterator[dict[str, Any]]:
    """For one table and one split a row for each model: its loss as a share of a constant's, and its CPU seconds."""
    a, b, y_a, y_b = parts = divided(name, split)
    whole = loss_of_constant(*parts)
    start = time.process_time()
    for model, fitted in models(a, y_a):
        seconds = time.process_time() - start
        left = loss(fitted, b, y_b) / whole
        yield {"table": name, "split": split, "model": model, "left": left, "seconds": seconds}
        start = time.process_time()


def main() -> None:
    if catboost is None:
        sys.exit("LightGBM or CatBoost is missing; `make tuning` installs both.")
    rows: list[dict[str, Any]] = []
    for name in TABLES:
        for split in range(N_SPLITS):
            rows += measured(name, split)
        print(f"{name}: {sum(row['seconds'] for row in rows):.0f} seconds so far", flush=True)
    pd.DataFrame(rows).to_csv(FILE, index=False, float_format="%.5g", lineterminator="\n")


if __name__ == "__main__":
    main()
