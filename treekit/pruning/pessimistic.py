"""C4.5's pruning: a pessimistic estimate of the errors from the training rows."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv
from scipy.stats import norm

from treekit.numeric import COST_TIE, Floats
from treekit.pruning.cut import cut, nodes_to_prune, tie_slack
from treekit.trees.tree import Tree, refuse_other_than_tree

__all__ = ["prune_pessimistic", "collapse", "binomial_limit", "normal_limit", "weka_limit", "LIMITS"]
Limit = Callable[[Floats, Floats, float], Floats]


def binomial_limit(errors: ArrayLike, n: ArrayLike, confidence: float = 0.25) -> Floats:
    r"""Upper limit of an error rate: the rate at which so few errors, or fewer, have probability ``confidence``.

    .. math:: U_{CF}(E, N) = p \quad\text{with}\quad \sum_{i=0}^{E} \binom{N}{i} p^i (1 - p)^{N - i} = CF

    This is :eq:`eq-upper-limit` of the book.

    Parameters
    ----------
    errors, n : arrays of one shape
        Errors seen, from 0 to n, and rows that they were seen in; both may be fractions, as the limit inverts the
        incomplete beta function. Others are refused by a ValueError.
    confidence : float
        CF, above 0 and below 1; others are refused by a ValueError.

    Returns
    -------
    array of the shape of ``errors``
        A rate between ``errors / n`` (or a little below, for a CF over one half) and 1; 0 where n is 0.

    Notes
    -----
    Without errors it is :math:`1 - CF^{1/N}`. Source: Quinlan (1993), section 4.2; Clopper and Pearson (1934).
    """
    errors, n = np.asarray(errors, dtype=float), np.asarray(n, dtype=float)
    correct = n - errors
    _check_limit(errors, n, confidence)
    rate = betaincinv(errors + 1, np.where(correct > 0, correct, 1.0), 1 - confidence)
    return np.where(n > 0, np.where(correct > 0, rate, 1.0), 0.0)


def _check_limit(errors: Floats, n: Floats, confidence: float) -> None:
    check_confidence(confidence)
    if not np.all((errors >= 0) & (errors <= np.asarray(n) * (1 + COST_TIE) + COST_TIE)):
        raise ValueError("errors must lie between 0 and n, none of them missing.")


def normal_limit(errors: ArrayLike, n: ArrayLike, confidence: float = 0.25) -> Floats:
    r"""The limit as Quinlan's program, releases 5 to 8, computes it: a normal approximation, exact without errors.

    With one error or more it is the larger root p of

    .. math:: \frac{(E + \tfrac12 - N p)^2}{N p (1 - p)} = z^2

    where z comes from a table of a few values, with straight lines between them: 0.6925 for a confidence of 0.25, where
    0.6745 is right. Between no error and one the limit follows a straight line, and where all but half a row are errors
    it lies 0.67 of the way from the rate seen to 1. So :math:`U_{0.25}(1, 16) = 0.157`, where the binomial limit is
    0.160.

    Parameters and result are those of :func:`treekit.binomial_limit`; but of less than one row, as parts of rows may
    be, it can be up to 1.32, or with a high confidence below ``errors / n``, as in his program. Source: Quinlan (1993),
    whose book prints its numbers.
    """
    check_confidence(confidence)
    z = np.interp(
        confidence, [0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.4, 1], [4, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0]
    )
    return _approximate_limit(errors, n, confidence, float(z), at_the_end=0.67)


def _approximate_limit(errors: ArrayLike, n: ArrayLike, confidence: float, z: float, at_the_end: float) -> Floats:
    """The normal approximation for a quantile z; ``at_the_end`` is how far the limit lies from the rate seen to 1."""
    errors, n = np.asarray(errors, dtype=float), np.asarray(n, dtype=float)
    rows = np.where(n > 0, n, 1.0)
    _check_limit(errors, n, confidence)
    none = 1 - confidence ** (1 / rows)

    def some(errors: Floats) -> Floats:
        seen = errors + 0.5
        spread = z * np.sqrt(np.maximum(seen * (1 - seen / rows) + z**2 / 4, 0))
        high = (errors + at_the_end * (rows - errors)) / rows
        return np.where(seen >= rows, high, (seen + z**2 / 2 + spread) / (rows + z**2))

    few = none + errors * (some(np.ones_like(errors)) - none)
    return np.where(n > 0, np.where(errors < 1, few, some(errors)), 0.0)


def weka_limit(errors: ArrayLike, n: ArrayLike, confidence: float = 0.25) -> Floats:
    r"""The limit as J48 of Weka computes it: as :func:`treekit.normal_limit`, but with two differences.

    z is the exact quantile of the normal distribution, and where all but half a row are errors the limit is 1.

    Parameters and result are those of :func:`treekit.binomial_limit`, but ``confidence`` is at most one half; for parts
    of a row the limit can be a little below ``errors / n``. Source: ``addErrs`` in Weka's class
    ``weka.classifiers.trees.j48.Stats``.
    """
    if not confidence <= 0.5:
        raise ValueError(f"confidence must be at most 0.5 for Weka's limit; got {confidence!r}.")
    return _approximate_limit(errors, n, confidence, z=norm.isf(confidence), at_the_end=1.0)


#: The limits by name, for the prunings and C4.5: the exact one, that of Quinlan's program, and that of Weka's J48.
LIMITS: dict[str, Limit] = {"binomial": binomial_limit, "normal": normal_limit, "weka": weka_limit}


def named_limit(limit: Limit | str) -> Limit:
    """A limit of ``LIMITS`` by its name; a function is returned as it is."""
    if callable(limit):
        return limit
    if limit not in LIMITS:
        raise ValueError(f"limit must be one of {', '.join(map(repr, LIMITS))}, or a function; got {limit!r}.")
    return LIMITS[limit]


def prune_pessimistic(
    tree: Tree, confidence: float = 0.25, limit: Limit | str = "binomial", slack: float = 0.0
) -> Tree:
    r"""C4.5's pruning: from the bottom up, cut the branches that a pessimist expects to be no better than a leaf.

    No held-out rows are needed. A leaf with N training rows, E of them not of its class, is expected to make
    :math:`N\,U_{CF}(E, N)` errors on as many new rows. A node is cut when as a leaf it is expected to make no more
    errors than its pruned branches together.

    Parameters
    ----------
    tree : Tree
        Of a classifier.
    confidence : float
        CF, above 0 and below 1; the smaller, the more is cut.
    limit : {"binomial", "normal", "weka"} or function of (errors, n, confidence)
        U: the exact limit, :func:`treekit.binomial_limit`; that of Quinlan's program, :func:`treekit.normal_limit`;
        that of Weka's J48, :func:`treekit.weka_limit`; or a function of your own.
    slack : float
        How many more errors a leaf may make and still be preferred; Quinlan's program allows 0.1.

    Returns
    -------
    Tree

    Raises
    ------
    ValueError
        If the tree predicts numbers, or a parameter is out of its range.

    Notes
    -----
    Branches are replaced by leaves; they are not raised. Equal expectations cut. Rows are counted by their weights,
    fractions included. Takes time linear in the number of nodes. Source: Quinlan (1993), chapter 4.
    """
    check_pruning(tree, confidence, slack)
    expected = tree.weight * named_limit(limit)(_errors(tree), tree.weight, confidence)
    return cut(tree, nodes_to_prune(tree, expected, tie_slack(slack, tree.weight)))


def collapse(tree: Tree, slack: float = 0.0) -> Tree:
    """Cut branches that make no fewer errors on the training rows than a leaf would, or at most ``slack`` fewer.

    Without slack the smaller tree makes as many errors on the training rows. Takes O(nodes). Raises ValueError if the
    tree predicts numbers or ``slack`` is negative. Source: Quinlan (1993).
    """
    check_pruning(tree, slack=slack)
    errors = _errors(tree)
    return cut(tree, nodes_to_prune(tree, errors, tie_slack(slack, tree.weight)))


def _errors(tree: Tree) -> Floats:
    """Weight of the training rows of each node that are not of its class."""
    return tree.weight * np.maximum(1 - tree.value.max(axis=1), 0)


def _errors_of(counts: Floats) -> Floats:
    """Weight that is not of the largest class, for counts of shape (n_nodes, n_classes)."""
    return np.maximum(counts.sum(axis=1) - counts.max(axis=1), 0)


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is not between 0 and 1; at either end no error rate fits."""
    if not (isinstance(confidence, Real) and 0 < confidence < 1):
        raise ValueError(f"confidence must be above 0 and below 1; got {confidence!r}.")


def check_pruning(tree: Tree, confidence: float = 0.25, slack: float = 0.0) -> None:
    """Refuse a tree without error rates, and parameters out of their range."""
    refuse_other_than_tree(tree)
    if tree.classes is None:
        raise ValueError("tree must be a classifier's: a tree that predicts numbers has no error rates.")
    check_confidence(confidence)
    if not (isinstance(slack, Real) and slack >= 0):
        raise ValueError(f"slack must be a number, 0 or more; got {slack!r}.")
