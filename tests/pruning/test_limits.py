"""The limits by name, and by their definitions; test_c45.py has the trees that J48 prunes by Weka's."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from tests.models.test_c45 import table
from treekit import C45Classifier, CARTClassifier, binomial_limit, normal_limit, prune_and_raise, prune_pessimistic
from treekit.pruning.pessimistic import LIMITS, weka_limit


@cache
def unpruned_tree(name: str, conventions: str):
    """What prunes it leaves it as it is."""
    return C45Classifier(conventions=conventions, confidence=None).fit(*table(name)).tree_


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
