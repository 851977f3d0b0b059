"""Oblique trees: tilted boundaries, scikit-learn's linear classifiers, the search against brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from treekit.growing.candidates import ChildLimits
from treekit.growing.criteria import Gini
from treekit.growing.level import first_level
from treekit.measures import gain_of_counts, gini, gini_index, gini_of_counts
from treekit.models.cart import CARTClassifier
from treekit.models.oblique import ObliqueCut, ObliqueSearch, ObliqueTreeClassifier, better, separates
from treekit.pruning.cut import cut
from treekit.pruning.pessimistic import prune_pessimistic

IRIS = load_iris(return_X_y=True)


def tilted(n: int, d: int, gap: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows on either side of a hyperplane through the origin, none within ``gap`` standard deviations of it."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    distance = X @ w / np.linalg.norm(w)
    far = np.abs(distance) > gap
    return X[far], distance[far] > 0, w


# -- the tilted boundary ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 5, 10])
def test_one_tilted_cut_replaces_a_staircase(d):
    X, y, w = tilted(400, d, gap=0.1)
    X_new, y_new, _ = tilted(4000, d, gap=0.0)
    y_new = X_new @ w > 0
    oblique, axis = ObliqueTreeClassifier(random_state=0).fit(X, y), CARTClassifier().fit(X, y)
    assert oblique.get_n_leaves() == 2 and oblique.score(X, y) == 1
    assert axis.get_n_leaves() >= 12
    assert oblique.score(X_new, y_new) > axis.score(X_new, y_new) + 0.02
    direction = oblique.tree_.direction[0]
    assert abs(direction @ w) / (np.linalg.norm(direction) * np.linalg.norm(w)) > 0.95


@pytest.mark.parametrize("seed", range(5))
def test_as_accurate_as_a_linear_classifier_on_separable_rows(seed):
    X, y, w = tilted(300, 4, gap=0.1, seed=seed)
    X_new = np.random.default_rng(99).normal(size=(4000, 4))
    y_new = X_new @ w > 0
    oblique = ObliqueTreeClassifier(random_state=0).fit(X, y)
    logistic = LogisticRegression(C=1e4, max_iter=1000).fit(X, y)
    assert oblique.score(X, y) == logistic.score(X, y) == 1
    assert oblique.get_n_leaves() == 2
    assert oblique.score(X_new, y_new) == pytest.approx(logistic.score(X_new, y_new), abs=0.03)


@pytest.mark.slow
def test_better_than_single_columns_on_real_data():
    """Fewer leaves on three bundled sets, and no less accuracy on new rows up to three times its error."""
    for load in (load_iris, load_wine, load_breast_cancer):
        X, y = load(return_X_y=True)
        oblique, axis = ObliqueTreeClassifier(random_state=0), CARTClassifier()
        assert oblique.fit(X, y).get_n_leaves() <= axis.fit(X, y).get_n_leaves() * 2 / 3
        assert oblique.score(X, y) == 1
        p = cross_val_score(axis, X, y, cv=3).mean()
        assert cross_val_score(oblique, X, y, cv=3).mean() > p - 3 * np.sqrt(p * (1 - p) / len(y))


def test_the_axis_wins_where_nothing_is_better():
    """A boundary along one column: every node asks for a single column, and the tree is CART's."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X[:, 1] > 0.3
    oblique = ObliqueTreeClassifier(random_state=0).fit(X, y)
    assert not oblique.tree_.direction.any()
    assert oblique.tree_.export_text() == CARTClassifier().fit(X, y).tree_.export_text()


def test_a_single_column_leaves_nothing_to_combine():
    X, y = IRIS
    oblique, axis = ObliqueTreeClassifier().fit(X[:, [2]], y), CARTClassifier().fit(X[:, [2]], y)
    assert oblique.tree_.export_text() == axis.tree_.export_text()


# -- the search -------------------------------------------------------------------------------------------------


def best_gain(is_above, y) -> float:
    """The largest gain of Gini impurity of many ways to cut the rows in two, of shape (n_cuts, n_rows)."""
    sides = np.stack([~is_above, is_above], axis=1).astype(float)
    return float(gain_of_counts(sides @ (y[:, np.newaxis] == np.unique(y)), gini_of_counts).max())


def root_of(X, y) -> tuple[ObliqueSearch, object, np.ndarray]:
    """The search, the level of the root, and its impurity."""
    values = np.asarray(X, dtype=float).T
    criterion = Gini(y, int(y.max()) + 1)
    search = ObliqueSearch(values, criterion, ChildLimits(1), 3, np.random.default_rng(0))
    return search, first_level(criterion.per_row, np.ones(len(y))), np.array([gini(y)])


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_a_step_is_the_best_change_of_one_coefficient(seed):
    """Against brute force over a fine grid of changes, all rows cut anew for each."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(25, 3)), rng.integers(0, 3, 25)
    search, level, impurity = root_of(X, y)
    now = search._scored(level, impurity, rng.normal(size=(1, 3)))
    v = X @ now.direction[0] - now.threshold[0]
    for moved in search.moved:
        step = search._scored(level, impurity, search._changed(level, impurity, now, moved))
        grid = np.tan(np.linspace(-1.57, 1.57, 301))
        assert step.gain[0] >= best_gain(v + grid[:, np.newaxis] * moved[2] > 0, y) - 1e-9
        assert step.gain[0] >= now.gain[0] - 1e-9


@pytest.mark.parametrize("is_separable", [False, True])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_climb_ends_where_no_step_gains(is_separable, seed):
    """Labels by chance leave much impurity to the end, those that a plane separates little or none."""
    rng = np.random.default_rng(seed)
    X, plane = rng.normal(size=(100, 3)), rng.normal(size=3)
    y = (X @ plane > 0).astype(int) if is_separable else rng.integers(0, 2, 100)
    search, level, impurity = root_of(X, y)
    start = search._scored(level, impurity, plane + 0.3 * rng.normal(size=(1, 3)))
    end = search.climb(level, impurity, start)
    assert end.gain[0] >= start.gain[0]
    for moved in search.moved:
        assert (
            search._scored(level, impurity, search._changed(level, impurity, end, moved)).gain[0] <= end.gain[0] + 1e-9
        )


def best_line(X, y) -> float:
    """Gain of the best line in the plane, by force: every way to cut the rows in two lies along two of them."""
    best = 0.0
    for a in range(len(y)):
        for b in range(a):
            along = X[a] - X[b]
            for turn in (1e-7, -1e-7):
                order = np.argsort(X @ ([-along[1], along[0]] + turn * along))
                best = max(best, best_gain(order.argsort() > np.arange(len(y) - 1)[:, np.newaxis], y))
    return best


def test_near_the_best_of_all_lines():
    """Labels without any pattern: the search finds the best of all lines more often than not."""
    reached = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(12, 2)), rng.integers(0, 2, 12)
        tree = ObliqueTreeClassifier(max_depth=1, n_restarts=10, random_state=0).fit(X, y).tree_
        reached.append(tree.gain[0] / best_line(X, y))
    assert max(reached) <= 1 + 1e-9
    assert np.mean(np.array(reached) > 1 - 1e-9) > 0.6 and min(reached) > 0.7


def test_the_logistic_direction():
    """Against scikit-learn's; with three classes there is one of each against the rest."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4] / np.ptp(X[:, :4], axis=0)
    search, level, _ = root_of(X, y)
    (direction,) = search._logistic(level)
    theirs = LogisticRegression(C=1 / (1e-5 * len(y)), max_iter=2000, tol=1e-8).fit(X, y).coef_[0]
    # Up to the sign, as a cut is one from either side; theirs does not punish the constant.
    cosine = direction[0] @ theirs / np.linalg.norm(direction[0]) / np.linalg.norm(theirs)
    assert abs(cosine) > 0.99
    assert len(root_of(*IRIS)[0]._logistic(root_of(*IRIS)[1])) == 3


def test_more_restarts_never_gain_less_at_the_root():
    gains = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
        trees = [
            ObliqueTreeClassifier(max_depth=1, n_restarts=n, random_state=0).fit(X, y).tree_ for n in (0, 1, 5, 20)
        ]
        gains.append([tree.gain[0] for tree in trees])
        assert gains[-1] == sorted(gains[-1])
        assert gains[-1][0] >= CARTClassifier(max_depth=1).fit(X, y).tree_.gain[0]
    assert np.mean(gains, axis=0)[-1] > np.mean(gains, axis=0)[0]


# -- the tree ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> ObliqueTreeClassifier:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 3, 120)
    return ObliqueTreeClassifier(max_depth=4, random_state=0).fit(pd.DataFrame(X, columns=list("abc")), y)


def test_rows_take_the_side_that_the_combination_says(model):
    """Node by node, with the stored coefficients and thresholds."""
    rng = np.random.default_rng(6)
    X, tree = pd.DataFrame(rng.normal(size=(50, 3)), columns=list("abc")), model.tree_
    assert tree.direction.any()
    for row, leaf in zip(X.to_numpy(), model.apply(X)):
        node = 0
        while not tree.is_leaf[node]:
            value = tree.direction[node] @ row if tree.direction[node].any() else row[tree.feature[node]]
            node = tree.first_child[node] + (value > tree.threshold[node])
        assert node == leaf
    assert (model.decision_path(X)[np.arange(50), model.apply(X)] == 1).all()


def test_training_rows_end_where_they_were_counted(model):
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    tree = model.tree_
    assert np.array_equal(np.bincount(model.apply(X), minlength=len(tree)), np.where(tree.is_leaf, tree.n_samples, 0))


def test_gain_is_that_of_the_formula(model):
    rng = np.random.default_rng(5)
    X, y = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc")), rng.integers(0, 3, 120)
    tree, path = model.tree_, model.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(~tree.is_leaf):
        here, right = path[:, node], path[:, tree.first_child[node] + 1]
        assert tree.gain[node] == pytest.approx(gini(y[here]) - gini_index(right[here], y[here]))


def test_text_rules_frame_and_drawing_name_the_combination():
    X = pd.DataFrame({"u": [0.0, 1, 2, 0, 1, 2], "v": [1.0, 2, 3, -1, 0, 1]})
    model = ObliqueTreeClassifier(random_state=0).fit(X, ["up"] * 3 + ["down"] * 3)
    question = model.tree_.root.question
    coefficient = [float(part) for part in question.replace("- ", "-").replace("+ ", "").split() if part not in "uv"]
    assert coefficient == pytest.approx(model.tree_.direction[0], rel=5e-3)
    assert question.split()[-1] == "v" and model.tree_.n_leaves == 2
    assert question in model.tree_.export_text() and question in model.tree_.export_rules()[0]
    assert question in model.tree_.draw().svg and question in model.tree_._repr_html_()
    assert model.tree_.to_frame()["feature"][0] == question


def test_a_rule_names_both_of_two_combinations_that_are_written_alike():
    """Only of bounds on one column does the last stand for all."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    tree = ObliqueTreeClassifier(max_depth=2, random_state=0).fit(X, y).tree_
    assert np.all(tree.direction[:2] != 0)
    tree.direction[1] = tree.direction[0]
    thresholds = [f"<= {tree.threshold[k]:.4g}" for k in (0, 1)]
    assert all(text in tree.export_rules()[0] for text in thresholds) and thresholds[0] != thresholds[1]


def test_many_terms_are_counted_not_listed():
    X, y, _ = tilted(200, 6, gap=0.1)
    assert ObliqueTreeClassifier(random_state=0).fit(X, y).tree_.root.question == "combination of 6 columns"


def test_pruning_keeps_the_combinations(model):
    pruned = cut(model.tree_, [1])
    kept = ~pruned.is_leaf
    assert pruned.n_nodes < model.tree_.n_nodes
    assert pruned.direction.shape == (pruned.n_nodes, 3)
    assert pruned[0].question == model.tree_[0].question and pruned.is_leaf[1]
    assert not pruned.direction[~kept].any()
    values = np.random.default_rng(1).normal(size=(3, 40))
    assert prune_pessimistic(model.tree_).predict(values).shape == (40, 3)


def test_importances_are_shared_out_by_the_columns_parts():
    X, y, _ = tilted(300, 2, gap=0.1, seed=3)
    model = ObliqueTreeClassifier(random_state=0).fit(X, y)
    part = np.abs(model.tree_.direction[0]) * np.ptp(X, axis=0)
    assert model.feature_importances_ == pytest.approx(part / part.sum())
    lone = ObliqueTreeClassifier().fit([[0.0, 1], [1, 1]], [0, 1])
    assert lone.feature_importances_.tolist() == [1, 0]


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 2},
        {"min_samples_leaf": 9},
        {"min_samples_split": 30},
        {"min_impurity_decrease": 0.02},
        {"criterion": "entropy"},
    ],
)
def test_stopping_rules(parameters):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    tree = ObliqueTreeClassifier(random_state=0, **parameters).fit(X, y).tree_
    inner = ~tree.is_leaf
    assert inner.any()
    assert tree.max_depth <= parameters.get("max_depth", np.inf)
    assert tree.n_samples.min() >= parameters.get("min_samples_leaf", 1)
    assert tree.n_samples[inner].min() >= parameters.get("min_samples_split", 2)
    assert (tree.gain * tree.weight / tree.weight[0])[inner].min() >= parameters.get("min_impurity_decrease", 0)


# -- properties -------------------------------------------------------------------------------------------------

tables = st.integers(2, 20).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.integers(-5, 5), min_size=n, max_size=n) for _ in range(2)],
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
    )
)


def fitted(X, y, **parameters) -> ObliqueTreeClassifier:
    return ObliqueTreeClassifier(n_restarts=1, random_state=0, **parameters).fit(X, y)


@settings(max_examples=25)
@given(tables)
def test_training_rows_are_told_apart_where_they_can_be(columns):
    a, b, y = map(np.array, columns)
    X = np.column_stack([a, b]).astype(float)
    tree = fitted(X, y)
    wanted = (
        pd.DataFrame({"a": a, "b": b, "y": y})
        .groupby(["a", "b"])["y"]
        .transform(lambda s: s.value_counts().sort_index().idxmax())
    )
    assert tree.predict(X).tolist() == wanted.tolist()
    assert (tree.tree_.gain >= 0).all()


@settings(max_examples=25)
@given(tables, st.sampled_from([0.25, 1.0, 4.0]), st.integers(-8, 8))
def test_units_of_the_columns_do_not_matter(columns, scale, shift):
    """By powers of two, so that rounding is the same."""
    a, b, y = map(np.array, columns)
    X = np.column_stack([a, b]).astype(float)
    moved = X * [scale, 1] + [shift, 0]
    assert fitted(X, y, max_depth=1).tree_.gain[0] == pytest.approx(fitted(moved, y, max_depth=1).tree_.gain[0])


# -- hard cases --------------------------------------------------------------------------------------------------


def test_a_large_offset_of_the_columns():
    X, y, _ = tilted(200, 2, gap=0.1)
    assert ObliqueTreeClassifier(random_state=0).fit(X + 1e9, y).score(X + 1e9, y) == 1


def test_a_cut_that_gains_more_by_rounding_alone_is_no_better():
    """Otherwise a climb would go on and on, and whether it does would depend on the order of the rows."""
    impurity, zero = np.array([0.5, 0.5]), np.zeros(2)
    now = ObliqueCut(np.eye(2), np.array([0.3, 0.3]), zero)
    turned = ObliqueCut(-np.eye(2), np.array([0.3 + 1e-15, 0.31]), zero)
    assert better(now, turned, impurity).direction.tolist() == [[1, 0], [0, -1]]
    assert separates(now._replace(gain=impurity - 1e-15), impurity) and not separates(now, impurity)
