"""What is measured: a table of cases, and the contests that they are made of.

A contest is the same job done by treekit and by its peers, and a check that they did the same. Parameters are set so
that models are the same, or as near as the programs allow; `benchmarks.agree` says how near that is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import xgboost
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import ccp_pruning_path

import treekit
from benchmarks import agree, data
from benchmarks.data import Table
from treekit import plain

try:
    import lightgbm
except ImportError:  # only `make bench` installs it: the tests of the book do without
    lightgbm = None  # type: ignore[assignment]

Jobs = dict[str, Callable[[], Any]]

SKLEARN, XGBOOST, LIGHTGBM, PLAIN = "scikit-learn", "xgboost", "LightGBM", "each cut from scratch"


class Contest(NamedTuple):
    """The same job for each program, by name, treekit first; and a check of the results, by the same names."""

    jobs: Jobs
    check: Callable[[dict[str, Any]], str]


class Target(NamedTuple):
    """What the figure of a row should not exceed, and what would be a surprise."""

    wanted: float
    moonshot: float


class Case(NamedTuple):
    """A contest of some size: a row of the table for each peer, with its target or with none."""

    group: str
    what: str
    n_rows: int
    contest: Callable[[int, int], Contest]
    peers: dict[str, Target | None]


class Memory(NamedTuple):
    """The peak memory of the jobs of a contest, in parts of the input: treekit's, and each peer's."""

    what: str
    n_rows: int
    how: str
    target: Target | None
    peers: tuple[str, ...] = ()


# -- one tree -------------------------------------------------------------------------------------------------


def one_tree(ours: Any, theirs: Any, table: Table) -> Contest:
    """Fit one tree each on the same table."""
    jobs = {"treekit": lambda: ours.fit(*table), SKLEARN: lambda: theirs.fit(*table)}

    def check(fitted: dict[str, Any]) -> str:
        tree = fitted["treekit"].tree_
        return agree.same_tree(tree, agree.translated(fitted[SKLEARN].tree_, tree))

    return Contest(jobs, check)


def classifier(
    max_depth: int | None, make: Callable[[int, int], Table] = data.classes
) -> Callable[[int, int], Contest]:
    """Classification trees by Gini impurity."""
    return lambda n, seed: one_tree(
        treekit.CARTClassifier(max_depth=max_depth),
        DecisionTreeClassifier(max_depth=max_depth, random_state=0),
        make(n, seed),
    )


def regressor(max_depth: int | None, criterion: str = "squared_error") -> Callable[[int, int], Contest]:
    """Regression trees."""
    return lambda n, seed: one_tree(
        treekit.CARTRegressor(criterion=criterion, max_depth=max_depth),
        DecisionTreeRegressor(criterion=criterion, max_depth=max_depth, random_state=0),
        data.numbers(n, seed),
    )


def five_classes(n: int, seed: int) -> Table:
    return data.classes(n, seed, n_classes=5)


def plain_way(n: int, seed: int) -> Contest:
    """Entropy trees of depth 8, by treekit and by treekit.plain, which measures both sides of each cut from scratch."""
    X, y, _ = data.classes(n, seed)
    D = [plain.Row(dict(enumerate(x)), label) for x, label in zip(X.tolist(), y.tolist())]
    numbers = dict.fromkeys(range(X.shape[1]))
    ours = treekit.CARTClassifier(criterion="entropy", max_depth=8)
    jobs = {"treekit": lambda: ours.fit(X, y), PLAIN: lambda: plain.grow(D, numbers, plain.best_cut, depth=8)}
    return Contest(jobs, lambda grown: agree.same_as_plain(grown["treekit"].tree_, grown[PLAIN]))


def categorical(make: Callable[[], Any]) -> Callable[[int, int], Contest]:
    """A tree on categories, against one on their one-hot codes. Making the codes is not timed."""

    def contest(n: int, seed: int) -> Contest:
        frame, one_hot, y = data.categories(n, seed)
        ours, theirs = make(), DecisionTreeClassifier(criterion="entropy", random_state=0)
        jobs = {"treekit": lambda: ours.fit(frame, y), SKLEARN: lambda: theirs.fit(one_hot, y)}
        return Contest(jobs, lambda fitted: agree.both_perfect(fitted["treekit"], frame, fitted[SKLEARN], one_hot, y))

    return contest


def c45() -> treekit.C45Classifier:
    """C4.5 grown to the end, as scikit-learn's tree is: without pruning, and down to leaves of one row."""
    return treekit.C45Classifier(confidence=None, min_samples_leaf=1)


def twins(n: int, seed: int, max_depth: int | None) -> tuple[treekit.CARTClassifier, DecisionTreeClassifier, Table]:
    """The same fitted tree in both programs, ties and all: scikit-learn's, translated. Not timed."""
    table = data.classes(n, seed)
    theirs = DecisionTreeClassifier(max_depth=max_depth, random_state=0).fit(*table)
    ours = treekit.CARTClassifier(max_depth=1).fit(*table)
    ours.tree_ = agree.translated(theirs.tree_, ours.tree_)
    return ours, theirs, table


def pruning_path(n: int, seed: int) -> Contest:
    """The cost-complexity path of a grown tree. scikit-learn's public method would first grow the tree again.

    A tree keeps what it has once computed, such as the parents of its nodes: a fresh copy has to compute it again.
    """
    ours, theirs, _ = twins(n, seed, max_depth=None)
    jobs = {
        "treekit": lambda: treekit.cost_complexity_path(replace(ours.tree_)),
        SKLEARN: lambda: ccp_pruning_path(theirs.tree_),
    }
    return Contest(jobs, lambda paths: agree.same_path(paths["treekit"], paths[SKLEARN]))


def predict_tree(max_depth: int | None) -> Callable[[int, int], Contest]:
    """The classes of the training rows."""

    def contest(n: int, seed: int) -> Contest:
        ours, theirs, (X, _, _) = twins(n, seed, max_depth)
        return Contest({"treekit": lambda: ours.predict(X), SKLEARN: lambda: theirs.predict(X)}, agree.same_answers)

    return contest


# -- many trees -----------------------------------------------------------------------------------------------


def forest(n: int, seed: int) -> Contest:
    """20 trees that draw 4 of the 20 columns at each node."""
    X, y, _ = data.classes(n, seed)
    parameters: dict[str, Any] = dict(n_estimators=20, max_features="sqrt", random_state=0)
    ours, theirs = treekit.RandomForestClassifier(**parameters), RandomForestClassifier(n_jobs=1, **parameters)
    jobs = {"treekit": lambda: ours.fit(X, y), SKLEARN: lambda: theirs.fit(X, y)}
    return Contest(jobs, lambda fitted: agree.same_forest(fitted["treekit"], fitted[SKLEARN], X, y))


def exact_boosting(n: int, seed: int) -> Contest:
    """20 trees of depth 3 by the first order, as GradientBoosting grows them."""
    X, y, _ = data.classes(n, seed)
    ours = treekit.GBDTClassifier(n_estimators=20, max_depth=3)
    theirs = GradientBoostingClassifier(criterion="squared_error", n_estimators=20, max_depth=3, random_state=0)
    jobs = {"treekit": lambda: ours.fit(X, y), SKLEARN: lambda: theirs.fit(X, y)}
    return Contest(jobs, lambda fitted: agree.same_loss(y, class_shares(fitted, X), within=1e-6))


def boosters(n_trees: int, y: np.ndarray) -> dict[str, Any]:
    """Second-order boosting of the logistic loss by histograms: depth 6, rate 0.1, lambda 1, H of a child at least 1.

    XGBoost grows level by level, as treekit. LightGBM and HistGradientBoosting grow the best leaf first; with no limit
    on the leaves but the depth that gives the same trees. Both keep a 256th bin for missing values. A row adds at most
    1/4 to H, so H of 1 takes four rows, which is what HistGradientBoosting can be told.
    """
    models = {
        "treekit": treekit.GBDTClassifier(
            method="newton", n_estimators=n_trees, max_depth=6, max_bins=256, reg_lambda=1,
            min_child_weight=1,
        ),
        XGBOOST: xgboost.XGBClassifier(
            tree_method="hist", n_estimators=n_trees, max_depth=6, max_bin=256, learning_rate=0.1, reg_lambda=1,
            min_child_weight=1, base_score=float(np.mean(y)), n_jobs=1,
        ),
        SKLEARN: HistGradientBoostingClassifier(
            max_iter=n_trees, max_depth=6, max_leaf_nodes=None, max_bins=255, learning_rate=0.1, l2_regularization=1,
            min_samples_leaf=4, early_stopping=False, random_state=0,
        ),
    }  # fmt: skip
    if lightgbm is not None:
        models[LIGHTGBM] = lightgbm.LGBMClassifier(
            n_estimators=n_trees, max_depth=6, num_leaves=64, max_bin=255, learning_rate=0.1, reg_lambda=1,
            min_child_weight=1, min_child_samples=1, min_data_in_bin=1, n_jobs=1, random_state=0, verbose=-1,
        )  # fmt: skip
    return models


def bins_apart(n: int) -> float:
    """How far training losses, 0.69 before the first tree, may lie apart: hardly more than 0.005 from 100,000 rows on.

    With a bin for every value treekit's and XGBoost's losses are the same, and the tests of the benchmarks say so. With
    256 bins each program puts the edges elsewhere; the fewer rows, the more a tree gains or loses by that luck.
    """
    return 0.005 + 30 / n


def class_shares(fitted: dict[str, Any], X: np.ndarray) -> dict[str, np.ndarray]:
    return {who: model.predict_proba(X) for who, model in fitted.items()}


def histogram_boosting(n_trees: int) -> Callable[[int, int], Contest]:
    """Fit; each program makes its bins in that time."""

    def contest(n: int, seed: int) -> Contest:
        X, y, _ = data.classes(n, seed)
        jobs: Jobs = {who: partial(model.fit, X, y) for who, model in boosters(n_trees, y).items()}
        return Contest(jobs, lambda fitted: agree.same_loss(y, class_shares(fitted, X), bins_apart(n)))

    return contest


def predict_boosted(n: int, seed: int) -> Contest:
    """The class shares of the training rows, by 100 trees; fitting is not timed."""
    X, y, _ = data.classes(n, seed)
    jobs: Jobs = {who: partial(model.fit(X, y).predict_proba, X) for who, model in boosters(100, y).items()}
    return Contest(jobs, lambda shares: agree.same_loss(y, shares, bins_apart(n)))


# -- small tables, and one row --------------------------------------------------------------------------------


def of_scikit_learn(load: Callable[..., tuple[np.ndarray, np.ndarray]], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """One of its tables; with another seed than 0 the labels are dealt out at random."""
    X, y = load(return_X_y=True)
    return X, np.random.default_rng(seed).permutation(y) if seed else y


def small_forest(n: int, seed: int) -> Contest:
    """100 trees on scikit-learn's tumours, 569 x 30, at its default settings."""
    X, y = of_scikit_learn(load_breast_cancer, seed)
    return forests(treekit.RandomForestClassifier, RandomForestClassifier, X, y, agree.same_forest)


def small_forest_of_numbers(n: int, seed: int) -> Contest:
    """100 trees on scikit-learn's diabetes patients, 442 x 10, at its default settings: all columns at each node."""
    X, y = of_scikit_learn(load_diabetes, seed)
    return forests(treekit.RandomForestRegressor, RandomForestRegressor, X, y, agree.same_forest_of_numbers)


def forests(ours: Any, theirs: Any, X: np.ndarray, y: np.ndarray, agreement: Callable[..., str]) -> Contest:
    forests = ours(n_estimators=100, random_state=0), theirs(n_estimators=100, random_state=0)
    jobs = {"treekit": lambda: forests[0].fit(X, y), SKLEARN: lambda: forests[1].fit(X, y)}
    return Contest(jobs, lambda fitted: agreement(fitted["treekit"], fitted[SKLEARN], X, y))


def row_by_row(predict: Callable[[np.ndarray], np.ndarray], X: np.ndarray) -> Callable[[], Any]:
    """Ask a model for its answer to one row, then to the next, a hundred times."""
    return lambda: np.concatenate([predict(X[i : i + 1]) for i in range(100)])


def one_row(ours: Any, theirs: Any) -> Callable[[int, int], Contest]:
    """One of scikit-learn's tumours, 569 x 30."""

    def contest(n: int, seed: int) -> Contest:
        X, y = of_scikit_learn(load_breast_cancer, seed)
        jobs: Jobs = {
            who: row_by_row(model.fit(X, y).predict, X) for who, model in (("treekit", ours), (SKLEARN, theirs))
        }
        return Contest(jobs, agree.same_answers)

    return contest


def one_row_of_boosting(n: int, seed: int) -> Contest:
    X, y, _ = data.classes(n, seed)
    models = {who: model.fit(X, y) for who, model in boosters(100, y).items() if who != SKLEARN}
    jobs: Jobs = {who: row_by_row(model.predict_proba, X) for who, model in models.items()}
    return Contest(jobs, lambda shares: agree.same_loss(y[:100], shares, within=0.05))


# -- many classes, many categories ----------------------------------------------------------------------------


def ten_classes(n: int, seed: int) -> Contest:
    """20 rounds of ten trees of depth 3 on scikit-learn's digits, 1,797 x 64.

    XGBoost takes twice the second derivative: its rate, lambda and least H are doubled, too.
    """
    X, y = of_scikit_learn(load_digits, seed)
    ours = treekit.GBDTClassifier(method="newton", n_estimators=20, max_depth=3, reg_lambda=1, min_child_weight=1e-3)
    theirs = xgboost.XGBClassifier(
        tree_method="hist", n_estimators=20, max_depth=3, learning_rate=0.2, reg_lambda=2, min_child_weight=2e-3,
        n_jobs=1,
    )  # fmt: skip
    jobs = {"treekit": lambda: ours.fit(X, y), XGBOOST: lambda: theirs.fit(X, y)}
    return Contest(jobs, lambda fitted: agree.same_loss(y, class_shares(fitted, X), within=0.005))


def many_categories(n: int, seed: int) -> Contest:
    """20 trees of depth 6 on two columns, of 5,000 and of 50 categories; LightGBM leaves rare categories out."""
    frame, y = data.two_columns_of_categories(n, seed)
    models: dict[str, Any] = {"treekit": treekit.GBDTRegressor(method="newton", n_estimators=20, max_depth=6)}
    if lightgbm is not None:
        models[LIGHTGBM] = lightgbm.LGBMRegressor(
            n_estimators=20, max_depth=6, num_leaves=64, min_child_samples=1, min_data_in_bin=1, cat_smooth=0,
            cat_l2=1, max_cat_threshold=5000, min_data_per_group=1, max_bin=5001, n_jobs=1, verbose=-1,
        )  # fmt: skip
    jobs: Jobs = {who: partial(model.fit, frame, y) for who, model in models.items()}
    return Contest(jobs, lambda fitted: agree.no_worse_fit(y, {who: m.predict(frame) for who, m in fitted.items()}))


# -- the table ------------------------------------------------------------------------------------------------

CART_8, REGRESSOR_8, HISTOGRAMS = (
    "CARTClassifier fit, depth 8",
    "CARTRegressor fit, depth 8",
    "GBDT histogram fit, 10 trees",
)
PLAIN_TREE = "entropy tree fit, depth 8"


def sklearn(wanted: float, moonshot: float) -> dict[str, Target | None]:
    return {SKLEARN: Target(wanted, moonshot)}


SHOWN: dict[str, Target | None] = {SKLEARN: None}
BOOSTED: dict[str, Target | None] = {XGBOOST: Target(2.0, 1.0), LIGHTGBM: Target(2.2, 1.0), SKLEARN: None}

CASES = [
    Case("cart", CART_8, 1_000, classifier(8), sklearn(0.8, 0.3)),
    Case("cart", CART_8, 10_000, classifier(8), SHOWN),
    Case("cart", CART_8, 100_000, classifier(8), sklearn(0.18, 0.10)),
    Case("cart", CART_8, 1_000_000, classifier(8), sklearn(0.25, 0.12)),
    Case("cart", "CARTClassifier fit, unlimited", 1_000, classifier(None), sklearn(0.8, 0.3)),
    Case("cart", "CARTClassifier fit, unlimited", 100_000, classifier(None), sklearn(0.22, 0.10)),
    Case("regression", REGRESSOR_8, 1_000, regressor(8), sklearn(0.8, 0.3)),
    Case("regression", REGRESSOR_8, 10_000, regressor(8), SHOWN),
    Case("regression", REGRESSOR_8, 100_000, regressor(8), sklearn(0.22, 0.12)),
    Case("regression", REGRESSOR_8, 1_000_000, regressor(8), sklearn(0.25, 0.12)),
    Case("regression", "CARTRegressor fit, unlimited", 1_000, regressor(None), sklearn(1.1, 0.3)),
    Case("regression", "CARTRegressor fit, unlimited", 100_000, regressor(None), sklearn(0.32, 0.12)),
    Case("harder", "five classes, depth 8", 100_000, classifier(8, five_classes), sklearn(0.6, 0.25)),
    Case("harder", "five classes, unlimited", 100_000, classifier(None, five_classes), sklearn(0.6, 0.25)),
    Case("harder", "ten-valued columns, depth 8", 100_000, classifier(8, data.ten_values), sklearn(0.6, 0.25)),
    Case("harder", "ten-valued columns, unlimited", 100_000, classifier(None, data.ten_values), sklearn(0.6, 0.25)),
    Case("harder", "sample weights, depth 8", 100_000, classifier(8, data.weighted), sklearn(0.6, 0.25)),
    Case("harder", "sample weights, unlimited", 100_000, classifier(None, data.weighted), sklearn(0.6, 0.25)),
    Case("harder", "absolute error, depth 8", 10_000, regressor(8, "absolute_error"), sklearn(5.0, 1.0)),
    Case("harder", "absolute error, unlimited", 10_000, regressor(None, "absolute_error"), sklearn(5.0, 1.0)),
    Case("forest", "RandomForestClassifier fit, 20 trees", 100_000, forest, sklearn(0.9, 0.4)),
    Case("forest", "RandomForestClassifier fit, 100 trees", 569, small_forest, sklearn(0.5, 0.25)),
    Case("forest", "RandomForestRegressor fit, 100 trees", 442, small_forest_of_numbers, sklearn(1.0, 0.5)),
    Case("exact", "GBDT gradient fit, 20 trees of depth 3", 100_000, exact_boosting, sklearn(0.45, 0.08)),
    Case("hist", "GBDT histogram fit, 100 trees", 100_000, histogram_boosting(100), BOOSTED),
    *(
        Case("hist", HISTOGRAMS, n, histogram_boosting(10), dict.fromkeys(BOOSTED))
        for n in (1_000, 10_000, 100_000, 1_000_000)
    ),
    Case("predict", "CARTClassifier predict, depth 8", 100_000, predict_tree(8), sklearn(1.3, 1.0)),
    Case("predict", "CARTClassifier predict, unlimited", 100_000, predict_tree(None), sklearn(1.3, 1.0)),
    Case(
        "predict", "GBDT predict, 100 trees", 100_000, predict_boosted,
        {LIGHTGBM: Target(0.6, 0.2), XGBOOST: None, SKLEARN: None},
    ),
    Case(
        "row", "CARTClassifier predict, one row, 100 times", 569,
        one_row(treekit.CARTClassifier(), DecisionTreeClassifier(random_state=0)), sklearn(3.0, 1.0),
    ),
    Case(
        "row", "RandomForestClassifier predict, one row, 100 times", 569,
        one_row(treekit.RandomForestClassifier(random_state=0), RandomForestClassifier(random_state=0)),
        sklearn(0.2, 0.05),
    ),
    Case(
        "row", "GBDT predict, one row, 100 times", 10_000, one_row_of_boosting,
        {XGBOOST: Target(2.0, 0.5), LIGHTGBM: None},
    ),
    Case("many", "GBDT histogram fit, ten classes, 20 rounds", 1_797, ten_classes, {XGBOOST: Target(5.0, 2.0)}),
    Case("many", "GBDT histogram fit, 5,000 and 50 categories", 100_000, many_categories, {LIGHTGBM: Target(5.0, 1.0)}),
    Case(
        "categories", "ID3 fit, one-hot for the other", 100_000, categorical(treekit.ID3Classifier), sklearn(0.3, 0.1),
    ),
    Case("categories", "C4.5 fit, one-hot for the other", 100_000, categorical(c45), sklearn(0.3, 0.1)),
    Case("path", "cost-complexity path, unlimited tree", 100_000, pruning_path, sklearn(0.5, 0.1)),
    *(Case("plain", PLAIN_TREE, n, plain_way, {PLAIN: None}) for n in (100, 300)),
    Case("plain", PLAIN_TREE, 1_000, plain_way, {PLAIN: Target(1 / 300, np.nan)}),
]  # fmt: skip

#: Curves whose slope from 10,000 to 1,000,000 rows is wanted, on log axes; with their peers.
SLOPES = {CART_8: (SKLEARN,), REGRESSOR_8: (SKLEARN,), HISTOGRAMS: (XGBOOST, LIGHTGBM, SKLEARN)}
SLOPE = Target(1.2, 1.1)

#: The peak that NumPy allocates is exact, but misses what C++ allocates; so peers are compared by what is resident.
MEMORY = [
    Memory(CART_8, 1_000_000, "allocated", Target(4, 2)),
    Memory("CARTClassifier fit, unlimited", 100_000, "allocated", Target(4, 2)),
    Memory(REGRESSOR_8, 1_000_000, "allocated", Target(4, 2)),
    Memory(HISTOGRAMS, 1_000_000, "allocated", Target(2.5, 2)),
    Memory(CART_8, 1_000_000, "resident", None, (SKLEARN,)),
    Memory(HISTOGRAMS, 1_000_000, "resident", None, (XGBOOST, LIGHTGBM, SKLEARN)),
]
GROUPS = [*dict.fromkeys(case.group for case in CASES), "memory"]
