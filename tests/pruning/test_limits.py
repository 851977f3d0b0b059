"""The limits by name; Weka's against the trees that J48 prints."""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from treekit import C45Classifier, CARTClassifier, binomial_limit, normal_limit, prune_and_raise, prune_pessimistic
from treekit.pruning.pessimistic import LIMITS, weka_limit

J48 = json.loads((Path(__file__).parents[1] / "data" / "j48.json").read_text(encoding="utf-8"))


@cache
def table(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """The tables of ``tests/data/j48.md`` that hold numbers only."""
    load, _, kind = name.partition(" ")
    X, y = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}[load](return_X_y=True)
    row, column = np.indices(X.shape)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return frame.mask((7 * row + 3 * column) % 11 == 0) if kind else frame, pd.Series(y).map("c{}".format)


@cache
def unpruned_tree(name: str, conventions: str):
    """What prunes it leaves it as it is."""
    return C45Classifier(conventions=conventions, confidence=None).fit(*table(name)).tree_


def printed_leaves(lines: list[str]) -> list[tuple[str, float, float]]:
    """Label, weight and errors of each leaf that J48 prints, in order."""
    found = (re.search(r": (\S+) \(([\d.]+)(?:/([\d.]+))?\)", line) for line in lines)
    return [(leaf[1], float(leaf[2]), float(leaf[3] or 0)) for leaf in found if leaf]


def leaves(tree) -> list[tuple[str, float, float]]:
    parts = [(node.label, [*node.counts.values()]) for node in tree.walk() if node.is_leaf]
    return [(label, sum(counts), sum(counts) - max(counts)) for label, counts in parts]


@pytest.mark.parametrize("name", ["iris", "iris gaps", "wine", "wine gaps", "cancer", "cancer gaps"])
def test_trees_pruned_by_wekas_limit_are_those_of_j48(name):
    X, y = table(name)
    tree = unpruned_tree(name, "quinlan")
    pruned = prune_pessimistic(tree, 0.25, "weka", slack=0.1)
    raised = prune_and_raise(tree, X, y, confidence=0.25, limit="weka", slack=0.1)
    j48 = C45Classifier(conventions="quinlan", limit="weka")
    fitted, with_raising = (clone(j48).set_params(subtree_raising=raises).fit(X, y).tree_ for raises in (False, True))
    for ours, theirs in (
        (pruned, J48[name]["pruned"]),
        (fitted, J48[name]["pruned"]),
        (raised, J48[name]["raised"]),
        (with_raising, J48[name]["raised"]),
    ):
        ours, theirs = leaves(ours), printed_leaves(theirs)
        assert [leaf[0] for leaf in ours] == [leaf[0] for leaf in theirs]
        assert np.array([leaf[1:] for leaf in ours]) == pytest.approx(
            np.array([leaf[1:] for leaf in theirs]), abs=0.0051
        )


@pytest.mark.parametrize("confidence", [0.01, 0.1, 0.25, 0.5])
def test_wekas_limit_by_its_definition(confidence):
    """The larger root of the quadratic equation with the exact quantile; 1 where all but half a row are errors."""
    n, z = np.arange(3.0, 60), norm.isf(confidence)
    for errors in (1.0, 1.5, 2.0):
        p = weka_limit(np.full_like(n, errors), n, confidence)
        assert (errors + 0.5 - n * p) ** 2 == pytest.approx(z**2 * n * p * (1 - p), abs=1e-9)
        assert (p >= (errors + 0.5) / n - 1e-12).all()
    assert weka_limit(0, 6, confidence) == pytest.approx(1 - confidence ** (1 / 6))
    half = (weka_limit(0, 6, confidence) + weka_limit(1, 6, confidence)) / 2
    assert weka_limit(0.5, 6, confidence) == pytest.approx(half)
    assert weka_limit([5.5, 6, 0], [6, 6, 0], confidence).tolist() == [1, 1, 0]


def test_limits_have_names():
    assert LIMITS["binomial"] is binomial_limit and LIMITS["normal"] is normal_limit and LIMITS["weka"] is weka_limit
    for limit in LIMITS.values():
        assert 0 <= limit(1, 16, 0.25) <= 1
    with pytest.raises(ValueError, match=r"confidence must be at most 0.5 for Weka's limit; got 0.6"):
        weka_limit(1, 4, 0.6)


@pytest.mark.parametrize("conventions", ["textbook", "quinlan"])
@pytest.mark.parametrize("limit", [None, *LIMITS])
@pytest.mark.parametrize("name", ["cancer", "wine gaps"])
def test_c45_prunes_by_the_limit_that_it_is_given(name, limit, conventions):
    """As the two prunings do with its unpruned tree; without one the convention decides."""
    (X, y), unpruned = table(name), unpruned_tree(name, conventions)
    by, slack = limit or ("normal" if conventions == "quinlan" else "binomial"), 0.1 * (conventions == "quinlan")
    model = C45Classifier(conventions=conventions, confidence=0.1, limit=limit)
    assert model.fit(X, y).tree_.export_text() == prune_pessimistic(unpruned, 0.1, by, slack).export_text()
    model.set_params(subtree_raising=True)
    raised = prune_and_raise(unpruned, X, y, None, 0.1, LIMITS[by], slack)
    assert model.fit(X, y).tree_.export_text() == raised.export_text()


def test_an_unknown_limit_is_refused_by_name():
    X, y = table("iris")
    tree = C45Classifier(confidence=None).fit(X, y).tree_
    for call in (
        lambda: prune_pessimistic(tree, limit="exact"),
        lambda: prune_and_raise(tree, X, y, limit="exact"),
        lambda: C45Classifier(limit="exact").fit(X, y),
    ):
        with pytest.raises(ValueError, match="limit must be one of .*'binomial', 'normal', 'weka'.*; got 'exact'"):
            call()
    with pytest.raises(ValueError, match="confidence must be at most 0.5 for Weka's limit"):
        C45Classifier(limit="weka", confidence=0.6).fit(X, y)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_both_prunings_see_the_same_ties(seed):
    """Where the leaves of a node are expected to make as many errors as the node, both cut it, whatever rounds."""
    rng = np.random.default_rng(seed)
    rows, share = rng.integers(1, 6, 8), rng.integers(1, 9) / 10

    def proportional(errors, n, confidence):
        """A share of the rows, right or wrong: the leaves of any split tie with its node but for rounding."""
        return np.where(n > 0, share + 0 * errors, 0)

    X = pd.DataFrame({"a": np.repeat(np.arange(8.0), rows), "b": np.repeat(rng.permutation(8) / 3, rows)})
    y, weight = np.repeat(rng.integers(0, 2, 8), rows), rng.choice([0.1, 0.3, 0.7], rows.sum())
    tree = CARTClassifier().fit(X, y, weight).tree_
    assert prune_pessimistic(tree, limit=proportional).n_nodes == 1
    assert prune_and_raise(tree, X, y, weight, limit=proportional).n_nodes == 1
