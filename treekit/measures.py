"""The formulas of the book: information, entropy, gain, gain ratio, Gini.

Most functions take columns of data, one entry per row, and return one number. The three that end in ``_of_counts``
take tables of class counts instead, any number of them at once: the tree grower calls those.

Entropies are in bits (``base=2``) unless another base is given; ``base=numpy.e`` gives nats.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from treekit.numeric import SHARED_TIE, Bools, Floats, Ints
from treekit.reading.encoding import objects_if_mixed, refuse_masked
from treekit.reading.validation import row_weights

__all__ = [
    "self_information",
    "entropy",
    "joint_entropy",
    "conditional_entropy",
    "information_gain",
    "split_information",
    "gain_ratio",
    "gini",
    "gini_index",
    "entropy_of_counts",
    "gini_of_counts",
    "gain_of_counts",
]


#: A table of (value, label) with more entries than this leaves out those that are zero.
LARGE_TABLE = 2**20


def _shares(counts: ArrayLike) -> Floats:
    """Each count over the total of its last axis; zeros where the total is zero."""
    counts = np.asarray(counts, dtype=float)
    with np.errstate(over="ignore"):
        total = counts.sum(axis=-1, keepdims=True)
    # A difference of sums may round to -1e-17.
    if not (np.isfinite(total).all() and np.all(counts >= -SHARED_TIE * np.abs(total))):
        raise ValueError("counts must hold numbers, none of them negative or missing, of a finite sum.")
    counts = np.maximum(counts, 0)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return np.minimum(share, 1)


def _log_of(base: float) -> float:
    """Natural logarithm of the base: how many nats its unit holds."""
    if not (base > 0 and base != 1 and math.isfinite(base)):
        raise ValueError(f"base must be a positive number other than 1, such as 2 for bits; got {base!r}.")
    return math.log(base)


def entropy_of_counts(counts: ArrayLike, base: float = 2) -> Floats:
    r"""Entropy of the distributions that the last axis of ``counts`` describes.

    .. math:: H = -\sum_k p_k \log p_k, \qquad p_k = n_k / n, \qquad 0 \log 0 = 0

    This is :eq:`eq-entropy` of the book.

    Parameters
    ----------
    counts : array of shape (..., n_classes)
        Non-negative counts, weights or probabilities; they need not sum to one.
    base : float
        Base of the logarithm: 2 for bits, ``numpy.e`` for nats.

    Returns
    -------
    array of shape (...)
        One entropy for each distribution; 0 where there is nothing to count.

    Notes
    -----
    Takes time linear in the number of counts. Source: Shannon (1948), section 6.
    """
    p = _shares(counts)
    log_p = np.log(p, out=np.zeros_like(p), where=p > 0)
    # Adding zero turns the -0.0 of a pure distribution into 0.0.
    return -(p * log_p).sum(axis=-1) / _log_of(base) + 0.0


def gini_of_counts(counts: ArrayLike) -> Floats:
    r"""Gini impurity of the distributions that the last axis of ``counts`` describes.

    .. math:: \mathrm{Gini} = \sum_k p_k (1 - p_k)

    This is :eq:`eq-gini` of the book.

    Parameters
    ----------
    counts : array of shape (..., n_classes)
        Non-negative counts, weights or probabilities; they need not sum to one.

    Returns
    -------
    array of shape (...)
        One impurity between 0 and 1 for each distribution; 0 where there is nothing to count. It has no unit.

    Notes
    -----
    Takes time linear in the number of counts. Source: Breiman, Friedman, Olshen and Stone (1984), section 4.3.
    """
    p = _shares(counts)
    return (p * (1 - p)).sum(axis=-1)


def gain_of_counts(counts: ArrayLike, impurity: Callable[..., Floats] = entropy_of_counts) -> Floats:
    r"""How much a split lowers an impurity: before, minus the weighted mean after.

    .. math:: H(D) - \sum_{m=1}^{M} \frac{|D_m|}{|D|} H(D_m)

    This is :eq:`eq-information-gain` of the book, with ``impurity`` in the place of the entropy.

    Parameters
    ----------
    counts : array of shape (..., n_values, n_classes)
        Weights of the rows by (value of the attribute, label), none of them negative: otherwise a ValueError.
    impurity : function
        :func:`entropy_of_counts` (the gain is then in bits) or :func:`gini_of_counts`.

    Returns
    -------
    array of shape (...)
        One gain for each table, never negative.

    Notes
    -----
    Takes time linear in the number of counts. Source: Quinlan (1986); Breiman et al. (1984).
    """
    counts = np.asarray(counts, dtype=float)
    if counts.ndim < 2:
        raise ValueError(f"counts must have the shape (..., n_values, n_classes); got shape {counts.shape}.")
    gain = impurity(counts.sum(axis=-2)) - mean_impurity(counts, impurity)
    # Both impurities are concave, so no split raises them; rounding may give -1e-17.
    return np.maximum(gain, 0)


def mean_impurity(counts: Floats, impurity: Callable[..., Floats]) -> Floats:
    """Mean impurity over the values of an attribute, each weighted by its share of the rows."""
    return (_shares(counts.sum(axis=-1)) * impurity(counts)).sum(axis=-1)


def self_information(p: ArrayLike, base: float = 2) -> Floats:
    r"""Self-information, or surprise, of an event of probability ``p``.

    .. math:: I(p) = -\log p

    This is :eq:`eq-self-information` of the book.

    Parameters
    ----------
    p : float or array of floats
        Probabilities in [0, 1].
    base : float
        Base of the logarithm: 2 for bits, ``numpy.e`` for nats.

    Returns
    -------
    array of the shape of ``p``
        0 for a certain event, infinity for an impossible one.

    Raises
    ------
    ValueError
        If a probability lies outside [0, 1], or if ``base`` is not positive or is 1.

    Notes
    -----
    Source: Shannon (1948).
    """
    p = np.asarray(p, dtype=float)
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("p must hold probabilities between 0 and 1; found a value outside, or NaN.")
    with np.errstate(divide="ignore"):
        return -np.log(p) / _log_of(base) + 0.0


def entropy(y: ArrayLike, base: float = 2, sample_weight: ArrayLike | None = None) -> float:
    r"""Empirical entropy of a column.

    .. math:: H(D) = -\sum_{k=1}^{K} \frac{|C_k|}{|D|} \log \frac{|C_k|}{|D|}

    This is :eq:`eq-empirical-entropy` of the book.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Labels of any kind, none of them missing.
    base : float
        Base of the logarithm: 2 for bits, ``numpy.e`` for nats.
    sample_weight : array of shape (n_rows,), optional
        Weight of each row; every row counts once by default.

    Returns
    -------
    float
        Between 0 (one label only) and log K (K labels, equally frequent).

    Raises
    ------
    ValueError
        If ``y`` is empty, not one-dimensional or has missing entries, or if ``sample_weight`` or ``base`` does not fit.

    Notes
    -----
    Takes time linear in the number of rows. Source: Shannon (1948), section 6.
    """
    return float(entropy_of_counts(_label_counts(y, sample_weight), base))


def joint_entropy(x: ArrayLike, y: ArrayLike, base: float = 2, sample_weight: ArrayLike | None = None) -> float:
    r"""Empirical entropy of the pairs (x, y).

    .. math:: H(X, Y) = -\sum_{i,j} p_{ij} \log p_{ij}

    This is :eq:`eq-joint-entropy` of the book: at least the larger entropy of the two, at most their sum. Parameters,
    errors, cost and source are those of :func:`conditional_entropy`; rows where x is missing are left out.
    """
    counts, _, _ = _cross_table(x, y, sample_weight)
    return float(entropy_of_counts(counts.ravel(), base))


def conditional_entropy(x: ArrayLike, y: ArrayLike, base: float = 2, sample_weight: ArrayLike | None = None) -> float:
    r"""Entropy that is left in ``y`` once ``x`` is known, H(Y|X).

    .. math:: H(D \mid A) = \sum_{m=1}^{M} \frac{|D_m|}{|D|} H(D_m)

    This is :eq:`eq-conditional-entropy` of the book. Note the order of the arguments: first what is known, then what is
    to be predicted.

    Parameters
    ----------
    x : array of shape (n_rows,)
        Values of an attribute. Rows where x is missing (None or NaN) are left out.
    y : array of shape (n_rows,)
        Labels, none of them missing.
    base : float
        Base of the logarithm: 2 for bits, ``numpy.e`` for nats.
    sample_weight : array of shape (n_rows,), optional
        Weight of each row; every row counts once by default.

    Returns
    -------
    float
        Between 0 (x determines y) and the entropy of y (the two are independent).

    Raises
    ------
    ValueError
        If the columns are empty, differ in length or are not one-dimensional, if ``y`` has missing entries, if
        every x is missing, if ``sample_weight`` does not fit, or if ``base`` is not positive or is 1.

    Notes
    -----
    Takes time linear in the number of rows, or sorts them if there are over a million pairs of a value and a label.
    Source: Shannon (1948), section 6; Quinlan (1986).
    """
    counts, _, _ = _cross_table(x, y, sample_weight)
    return float(mean_impurity(counts, partial(entropy_of_counts, base=base)))


def information_gain(x: ArrayLike, y: ArrayLike, base: float = 2, sample_weight: ArrayLike | None = None) -> float:
    r"""How much knowing ``x`` lowers the entropy of ``y``; the mutual information of the two.

    .. math:: g(D, A) = \rho \, \bigl( H(\tilde D) - H(\tilde D \mid A) \bigr)

    This is :eq:`eq-information-gain` of the book. :math:`\tilde D` are the rows where x is known and
    :math:`\rho` is their share of the weight; with nothing missing, :math:`\rho = 1` and :math:`\tilde D = D`.
    Parameters and errors are those of :func:`conditional_entropy`.

    Returns
    -------
    float
        Between 0 (x and y are independent) and the entropy of y (x determines y).

    Notes
    -----
    Costs as much as :func:`conditional_entropy`. Source: Quinlan (1986); Quinlan (1993), chapter 3, for missing x.
    """
    counts, of_label, known = _cross_table(x, y, sample_weight)
    impurity = partial(entropy_of_counts, base=base)
    return float(known * np.maximum(impurity(of_label) - mean_impurity(counts, impurity), 0))


def split_information(x: ArrayLike, base: float = 2, sample_weight: ArrayLike | None = None) -> float:
    r"""Entropy of the attribute itself: the information in which branch a row takes.

    .. math:: H_A(D) = -\sum_{m=1}^{M} \frac{|D_m|}{|D|} \log \frac{|D_m|}{|D|}

    This is :eq:`eq-split-information` of the book. Also called the intrinsic value of the attribute. Rows where x is
    missing are left out.

    Parameters
    ----------
    x : array of shape (n_rows,)
        Values of an attribute.
    base : float
        Base of the logarithm: 2 for bits, ``numpy.e`` for nats.
    sample_weight : array of shape (n_rows,), optional
        Weight of each row; every row counts once by default.

    Returns
    -------
    float
        Between 0 (one value only) and log M (M values, equally frequent).

    Raises
    ------
    ValueError
        If ``x`` is empty, not one-dimensional or missing everywhere, or if ``sample_weight`` does not fit it.

    Notes
    -----
    Takes time linear in the number of rows. Source: Quinlan (1993), chapter 2.
    """
    value = _codes("x", x)
    weight = row_weights(sample_weight, len(value))
    known = _known(value, weight)
    return float(entropy_of_counts(np.bincount(value[known], weight[known]), base))


def gain_ratio(x: ArrayLike, y: ArrayLike, base: float = 2, sample_weight: ArrayLike | None = None) -> float:
    r"""Information gain over split information.

    .. math:: g_R(D, A) = \frac{g(D, A)}{H_A(D)}

    This is :eq:`eq-gain-ratio` of the book. Parameters, errors and cost are those of :func:`conditional_entropy`. The
    base cancels out.

    Returns
    -------
    float
        Between 0 and 1; 0 when x has one value only, since such an attribute splits nothing.

    Notes
    -----
    Source: Quinlan (1993), chapter 2.
    """
    price = split_information(x, base, sample_weight)
    return information_gain(x, y, base, sample_weight) / price if price > 0 else 0.0


def gini(y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    r"""Gini impurity of a column: the chance that two rows drawn with replacement differ in their label.

    .. math:: \mathrm{Gini}(D) = 1 - \sum_{k=1}^{K} \left( \frac{|C_k|}{|D|} \right)^2

    This is :eq:`eq-gini` of the book, for counted shares. Parameters and errors are those of :func:`entropy`.

    Returns
    -------
    float
        Between 0 (one label only) and 1 - 1/K (K labels, equally frequent). It has no unit.

    Notes
    -----
    Takes time linear in the number of rows. Source: Breiman, Friedman, Olshen and Stone (1984).
    """
    return float(gini_of_counts(_label_counts(y, sample_weight)))


def gini_index(x: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    r"""Gini impurity that is left in ``y`` once ``x`` is known.

    .. math:: \mathrm{Gini}(D, A) = \sum_{m=1}^{M} \frac{|D_m|}{|D|} \mathrm{Gini}(D_m)

    This is :eq:`eq-gini-index` of the book. Parameters, errors and cost are those of :func:`conditional_entropy`; rows
    where x is missing are left out.

    Returns
    -------
    float
        Between 0 (x determines y) and the Gini impurity of y. It has no unit.

    Notes
    -----
    Source: Breiman, Friedman, Olshen and Stone (1984).
    """
    counts, _, _ = _cross_table(x, y, sample_weight)
    return float(mean_impurity(counts, gini_of_counts))


def _label_counts(y: ArrayLike, sample_weight: ArrayLike | None) -> Floats:
    """Weight of the rows of each label."""
    codes = _codes("y", y)
    _refuse_missing_labels(codes)
    return np.bincount(codes, row_weights(sample_weight, len(codes))).astype(float)


def _cross_table(x: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Floats, Floats, float]:
    """Weight of the rows where x is known, by (value of x, label) and by label; and their share of the weight.

    In a large table the labels of each value stand side by side, without those that it lacks: that takes a sort.
    """
    value, label = _codes("x", x), _codes("y", y)
    if len(value) != len(label):
        raise ValueError(f"x and y must have as many rows as each other; got {len(value)} and {len(label)}.")
    _refuse_missing_labels(label)
    weight = row_weights(sample_weight, len(value))
    known = _known(value, weight)
    n_values, n_classes = int(value.max()) + 1, int(label.max()) + 1
    of_label = np.bincount(label[known], weight[known]).astype(float)
    cell = value[known].astype(np.int64) * n_classes + label[known]  # not of 32 bits, whatever NumPy's own have
    if n_values * n_classes > LARGE_TABLE:
        distinct, which = np.unique(cell, return_inverse=True)
        of_value = distinct // n_classes
        place = np.arange(len(distinct)) - np.searchsorted(of_value, of_value)
        n_classes = int(place.max()) + 1
        cell = (of_value * n_classes + place)[which]
    counts = np.bincount(cell.astype(np.intp), weight[known], minlength=n_values * n_classes)
    return counts.astype(float).reshape(n_values, n_classes), of_label, float(weight[known].sum() / weight.sum())


def _codes(name: str, column: ArrayLike) -> Ints:
    """A column as integers, one for each distinct entry, -1 where it is missing; pandas reads text up to a NUL."""
    refuse_masked(name, column)
    if not isinstance(column, (pd.Series, pd.Categorical)):
        # [1, "1"] are two values, and NaN is missing beside text, too.
        column = objects_if_mixed(column)
    if column.ndim != 1:
        raise ValueError(f"{name} must be one column, an array of shape (n_rows,); got shape {column.shape}.")
    if len(column) == 0:
        raise ValueError(f"{name} is empty: give at least one row.")
    return pd.factorize(column)[0]


def _refuse_missing_labels(label: Ints) -> None:
    if label.min() < 0:
        raise ValueError(f"y has missing entries, the first in row {label.argmin()}: drop those rows first.")


def _known(value: Ints, weight: Floats) -> Bools:
    """Where x is not missing."""
    known = value >= 0
    if weight[known].sum() == 0:
        raise ValueError("x is missing in every row that has weight: there is nothing to measure.")
    return known
