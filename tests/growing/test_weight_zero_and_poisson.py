"""A row of weight zero is no row; and a Poisson mean is positive."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import RegressorMixin, clone
from sklearn.tree import DecisionTreeRegressor

from tests.helpers import answers
from treekit import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CascadeForestClassifier,
    GBDTClassifier,
    GBDTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

FIELDS = ("feature", "threshold", "routes", "n_children", "missing", "gain", "impurity", "n_samples", "weight", "value")
REGRESSORS = tuple(
    CARTRegressor(criterion=name) for name in ("squared_error", "friedman_mse", "absolute_error", "poisson")
)
CLASSIFIERS = (
    CARTClassifier(),
    CARTClassifier(criterion="entropy", max_features=2, random_state=0),
    ID3Classifier(),
    C45Classifier(),
    C45Classifier(conventions="quinlan"),
    ObliqueTreeClassifier(random_state=0, max_depth=3, n_restarts=1),
)


def same_tree(one, other) -> None:
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), err_msg=field)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from(REGRESSORS + CLASSIFIERS), st.booleans())
def test_a_row_of_weight_zero_is_no_row(seed, model, weighted):
    rng = np.random.default_rng(seed)
    n, n_without = 40, 8
    X = rng.integers(0, 6, (n + n_without, 3)).astype(float)
    X[n:] += 10.0  # values, and to ID3 categories, of these rows alone
    y = rng.integers(0, 3, n + n_without).astype(float)
    if isinstance(model, CARTRegressor):
        y[n:] = 10.0 ** rng.integers(0, 19, n_without)
    weight = np.where(np.arange(len(y)) < n, rng.integers(1, 4, len(y)) if weighted else 1, 0).astype(float)
    rows = rng.permutation(len(y))
    with_them = model.fit(X[rows], y[rows], weight[rows]).tree_
    kept = rows[rows < n]
    same_tree(with_them, model.fit(X[kept], y[kept], weight[kept]).tree_)


ENSEMBLES = (
    BaggingClassifier(n_estimators=2, random_state=0),
    RandomForestClassifier(n_estimators=2, random_state=0),
    RandomForestClassifier(n_estimators=2, class_weight="balanced", oob_score=True, random_state=0),
    RandomForestRegressor(n_estimators=2, random_state=0),
    AdaBoostClassifier(n_estimators=3),
    CascadeForestClassifier(n_forests=1, n_estimators=1, n_folds=2, max_levels=1, random_state=0),
    GBDTClassifier(n_estimators=2, subsample=0.5, max_features=2, random_state=0),
    GBDTClassifier(n_estimators=2, method="newton", max_bins=8),
    GBDTRegressor(n_estimators=9, n_iter_no_change=1, validation_fraction=0.3, random_state=0),
)


@pytest.mark.filterwarnings("ignore:oob_score")
@pytest.mark.parametrize("model", ENSEMBLES, ids=lambda model: type(model).__name__)
def test_a_row_of_weight_zero_is_none_of_an_ensembles_rows(model):
    """Not for its samples, folds and bins, nor for the list of categories, nor for whether the table has gaps."""
    rng = np.random.default_rng(0)
    n = 40
    X = pd.DataFrame({"a": rng.integers(0, 6, n), "b": rng.normal(size=n), "c": rng.choice(list("abcdefg"), n)})
    no_rows = pd.DataFrame({"a": [99, -5, 2], "b": [1e6, np.nan, np.nan], "c": ["new", "a", None]})
    y, w = rng.integers(0, 3, n), rng.choice([0.1, 0.2, 3.0], n)
    asked = X.mask(rng.random(X.shape) < 0.2)
    both = pd.concat([no_rows[:2], X, no_rows[2:]], ignore_index=True)
    targets = [10**9, 0, *y, 10**9] if isinstance(model, RegressorMixin) else [2, 0, *y, 2]
    for columns in (["a", "b", "c"], ["a", "b"]):
        alone = answers(clone(model).fit(X[columns], y, w), asked[columns])
        with_them = answers(clone(model).fit(both[columns], targets, [0, 0, *w, 0]), asked[columns])
        np.testing.assert_array_equal(with_them, alone)


def test_an_unweighted_outlier_is_not_seen_by_a_tree_or_a_forest():
    X, y, weight = np.arange(4.0)[:, np.newaxis], [1.1, 2.2, 3.3, 1e18], [1, 1, 1, 0]
    np.testing.assert_array_equal(CARTRegressor().fit(X, y, weight).predict(X), [1.1, 2.2, 3.3, 3.3])
    forest = RandomForestRegressor(5, bootstrap=False, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(forest.predict(X), [1.1, 2.2, 3.3, 3.3], rtol=1e-15)


@pytest.mark.parametrize("model", (ID3Classifier(), C45Classifier()))
def test_a_category_of_rows_without_weight_gets_no_branch(model):
    frame = pd.DataFrame({"colour": ["red", "green", "red", "green", "blue"]})
    tree = model.fit(frame, ["a", "b", "a", "b", "b"], [3, 3, 3, 3, 0]).tree_
    assert list(tree.root.children) == ["green", "red"]


def test_a_declared_category_gets_a_branch_with_or_without_rows():
    frame = pd.DataFrame({"colour": pd.Categorical(["red", "green", "green"], categories=["blue", "green", "red"])})
    tree = ID3Classifier().fit(frame, ["a", "b", "b"], [1, 1, 0]).tree_
    assert list(tree.root.children) == ["blue", "green", "red"]


def test_poisson_cuts_where_both_sides_have_a_positive_mean():
    X, y = np.arange(1.0, 8.0)[:, np.newaxis], np.array([0, 0, 0, 1, 1, 1, 1.0])
    ours = CARTRegressor(criterion="poisson", max_depth=1).fit(X, y)
    theirs = DecisionTreeRegressor(criterion="poisson", max_depth=1).fit(X, y)
    assert ours.tree_.threshold[0] == theirs.tree_.threshold[0] == 4.5
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_no_poisson_leaf_is_zero(seed, weighted, categories):
    rng = np.random.default_rng(seed)
    y = rng.poisson(0.4, 40).astype(float)
    y[0] = 1.0
    X = pd.DataFrame(rng.integers(0, 12, (40, 3)).astype(float), columns=list("abc"))
    if categories:
        X["d"] = rng.choice(list("uvwxyz"), 40)
    weight = rng.uniform(0.5, 2, 40) if weighted else None
    assert (CARTRegressor(criterion="poisson").fit(X, y, weight).tree_.value > 0).all()


@pytest.mark.parametrize("categories", (False, True))
def test_a_bootstrap_sample_of_zeros_grows_a_leaf(categories):
    X = pd.DataFrame({"a": np.arange(6.0)})
    if categories:
        X["b"] = list("uvwuvw")
    y = np.array([0, 0, 0, 0, 0, 3.0])
    forest = RandomForestRegressor(20, criterion="poisson", random_state=0).fit(X, y)
    zeros = [member.tree_ for member in forest.estimators_ if not member.tree_.value.any()]
    assert zeros and all(tree.n_nodes == 1 for tree in zeros)
    with pytest.raises(ValueError, match="y must not be negative, nor zero everywhere"):
        forest.fit(X, np.zeros(6))
