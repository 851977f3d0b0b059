"""Formulas that chapters work out in code of their own, against other programs.

SciPy and scikit-learn are asked directly; ``tests/data/chapters.md`` and ``tests/data/shapley.md`` say where the other
numbers come from.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import digamma
from scipy.stats import chi2_contingency
from sklearn.datasets import load_diabetes
from sklearn.ensemble import IsolationForest
from sklearn.ensemble._iforest import _average_path_length

from tests.book.cells import defined_by, recorded
from treekit import gain_of_counts, plain
from treekit.datasets import load_watermelon

STORED, SHAP = recorded("chapters"), recorded("shapley")
TOOLS = {"np": np, "pd": pd, "plain": plain}  # what the chapters have imported above these cells


# -- Explaining --------------------------------------------------------------------------------------------------


def test_both_kinds_of_shapley_values_are_those_of_shap():
    """Of a tree that asks four columns, two of which have a correlation of 0.89. Stored to ten decimals."""
    chapter = defined_by(
        "explaining", "explaining-shapley-code", "explaining-eight", "explaining-both-branches", **TOOLS
    )
    table, stored = load_diabetes(as_frame=True, scaled=False), SHAP["small tree"]
    columns = stored["columns"]
    D, attributes = plain.read((table.data[columns][:150] * 1e4).round(), table.target[:150].tolist())
    cut = partial(plain.best_cut, impurity=plain.squared_error)
    tree = plain.grow(D, attributes, cut, leaf=plain.mean, depth=3)
    games = {
        "interventional, set by set": lambda row: chapter["filled_in"](tree, row, D[100:120]),
        "path-dependent": lambda row: chapter["down_both"](tree, row),
    }
    for kind, game in games.items():
        ours = [[*chapter["shapley"](game(row), columns).values(), game(row)(frozenset())] for row in D[:4]]
        np.testing.assert_allclose(ours, stored[kind], rtol=0, atol=1e-9)


# -- Forests -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def isolation():
    return defined_by("forests", "forests-isolation-plain", **TOOLS)


def test_the_mean_depth_is_scikit_learns_with_the_sum_in_place_of_its_approximation(isolation):
    """scikit-learn takes log(n - 1) + 0.5772 for the sum of 1, 1/2, ..., 1/(n - 1), which is digamma(n) + 0.5772."""
    n = np.arange(1, 300)
    ours, theirs = np.array([isolation["mean_depth"](one) for one in n]), _average_path_length(n)
    assert [*ours[:2]] == [*theirs[:2]] == [0, 1]
    assert ours[2:] - theirs[2:] == pytest.approx(2 * (digamma(n) - np.log(np.maximum(n - 1, 1)))[2:], abs=1e-12)


class Repeated:
    """Draws the cuts of a tree of scikit-learn's, in the order in which the chapter's code asks for them."""

    def __init__(self, tree):
        nodes = np.flatnonzero(tree.feature >= 0)
        self.columns, self.cuts = iter(tree.feature[nodes].tolist()), iter(tree.threshold[nodes].tolist())

    def integers(self, n_usable):
        assert n_usable == 4  # or the column would have another number here
        return next(self.columns)

    def uniform(self, low, high):
        cut = next(self.cuts)
        assert low <= cut <= high
        return cut


def test_the_same_cuts_isolate_as_in_scikit_learn(isolation, monkeypatch):
    """The scores of its forest, to twelve digits, when both take its approximate mean depth."""
    monkeypatch.setitem(isolation, "mean_depth", lambda n: _average_path_length([n])[0])
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    forest = IsolationForest(n_estimators=10, max_samples=64, random_state=0).fit(X)
    sampled = zip(forest.estimators_, forest.estimators_samples_)
    h = [isolation["isolate"](X[rows], X, Repeated(tree.tree_), limit=6) for tree, rows in sampled]
    ours = 2 ** (-np.mean(h, axis=0) / isolation["mean_depth"](64))
    assert ours == pytest.approx(-forest.score_samples(X), rel=1e-12)


def test_the_quantiles_of_a_forest_are_those_of_quantile_forest():
    """The same rows, not only near ones; and the means, but for rounding."""
    chapter, stored = defined_by("forests", "forests-quantile-plain", **TOOLS), STORED["quantile forest"]
    labels = np.array(stored["labels"])
    leaves = {"training rows": np.array(stored["held"]), "new rows": np.array(stored["reached"])}
    forest = SimpleNamespace(apply=leaves.get, in_bag_=np.array(stored["drawn"]))
    w = chapter["leaf_weights"](forest, *leaves)
    assert w @ labels == pytest.approx(np.array(stored["means"]), rel=1e-12)
    for q, theirs in stored["quantiles"].items():
        assert chapter["quantile"](w, labels, float(q)).tolist() == theirs


# -- C4.5 --------------------------------------------------------------------------------------------------------


def test_the_p_values_are_those_of_scipy():
    """Of words, of bins of numbers, of two to four classes, and where some values never come up; to ten digits."""
    p_by_chi_square = defined_by(
        "c45", "c45-unbiased-rules", gain_of_counts=gain_of_counts, entropy_of_counts=None, **TOOLS
    )["p_by_chi_square"]
    melons, rng = load_watermelon("3.0"), np.random.default_rng(0)
    patients = load_diabetes(as_frame=True).frame
    thirds = pd.qcut(patients["target"], 3, labels=False)
    tables = [pd.crosstab(melons[A], melons["ripe"]) for A in melons.columns[:6]]
    tables += [
        pd.crosstab(pd.qcut(patients[A], 7, labels=False, duplicates="drop"), thirds) for A in ("age", "bmi", "s4")
    ]
    tables += [pd.DataFrame(rng.integers(1, 30, shape)) for shape in ((2, 2), (5, 4), (12, 2))]
    for table in tables:
        counts = table.to_numpy(dtype=float)
        expected = chi2_contingency(counts, correction=False).pvalue
        with_gaps = np.insert(counts, [0, 1], 0, axis=0)  # two values that no row has
        found = p_by_chi_square(np.array([with_gaps, np.roll(with_gaps, 1, axis=0)]))
        assert [p_by_chi_square(counts), *found] == pytest.approx([expected] * 3, rel=1e-10)


# -- Pruning -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(STORED["best trees"]))
def test_the_best_tree_of_two_levels_errs_as_often_as_streeds(name):
    best_tree = defined_by("pruning", "pruning-optimal-plain", **TOOLS)["best_tree"]
    stored = STORED["best trees"][name]
    X, y = np.array(stored["X"], dtype=float), np.array(stored["y"], dtype=float)
    wrong, *cuts = best_tree(X, y)
    root, low, high = (X[:, j] > cut for j, cut in cuts)
    of_leaf = pd.crosstab([root, np.where(root, high, low)], y)
    assert wrong == stored["errors"] == of_leaf.min(axis=1).sum()  # and the tree returned makes just these
