r"""The losses that boosting lowers.

A loss compares the target of a row with the model's score :math:`F(x)`: in regression the score is the prediction, for
a probability its log-odds, for a rate its logarithm. From a loss boosting needs to know where to start, in which
direction the score of each row should move (the negative gradient), how much the loss is curved (its second
derivative), and by how much all rows of a leaf should move together.

Scores and derivatives have the shape (n_scores, n_rows): one score for each row, or one for each row and class.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from treekit.growing.fixed_point import quantile, weighted_mean
from treekit.numeric import Floats, Ints, safe_divide

__all__ = ["Loss", "SquaredLoss", "AbsoluteLoss", "HuberLoss", "PoissonLoss", "LogisticLoss", "SoftmaxLoss"]

#: Probabilities are kept so far from 0 and 1 that their log-odds stay finite.
SMALLEST_SHARE = float(np.finfo(float).eps)

#: Numbers are equal but for rounding when no more floats than this lie between them.
ROUNDING_OF_SCORES = 64


class Loss:
    r"""Base of the losses.

    Attributes
    ----------
    n_scores : int
        Number of scores of a row; each has a tree of its own in every round.
    is_curved : bool
        Whether the second derivative is positive, so that a Newton step is defined.
    """

    n_scores = 1
    is_curved = True

    def outcome(self, y: Floats) -> Floats:
        """What predictions should match in the mean, of shape (n_scores, n_rows): the target, or 0 and 1 by class."""
        return y[np.newaxis]

    def start(self, y: Floats, weight: Floats) -> Floats:
        r"""The best constant scores :math:`\arg\min_c \sum_i w_i\, l(y_i, c)`, of shape (n_scores,).

        For most losses the mean outcome is the best constant prediction.
        """
        return self.score_of(weighted_mean(self.outcome(y), weight))

    def adapt(self, y: Floats, score: Floats, weight: Floats) -> None:
        """Set what the loss learns from the residuals before each round: for most losses nothing."""

    def value(self, y: Floats, score: Floats) -> Floats:
        """Loss of each row, of shape (n_rows,)."""
        raise NotImplementedError

    def derivatives(self, y: Floats, score: Floats) -> tuple[Floats, Floats]:
        """The negative gradient and the second derivative of each row."""
        raise NotImplementedError

    def negative_gradient(self, y: Floats, score: Floats) -> Floats:
        r""":math:`-\partial l / \partial F` of each row, of shape (n_scores, n_rows)."""
        return self.derivatives(y, score)[0]

    def second_derivative(self, y: Floats, score: Floats) -> Floats:
        r""":math:`\partial^2 l / \partial F^2` of each row, of shape (n_scores, n_rows)."""
        return self.derivatives(y, score)[1]

    def line_search(
        self, y: Floats, score: Floats, r: Floats, h: Floats, weight: Floats, leaf: Ints, n_leaves: int
    ) -> Floats:
        r"""By how much one score of the rows of each leaf should move, of shape (n_leaves,).

        .. math:: c_j = \arg\min_c \sum_{i \in R_j} w_i\, l(y_i, F(x_i) + c)

        Here it is one Newton step towards it, :math:`\sum w r / \sum w h`; a leaf without curvature does not move.
        Losses for which this minimum is known take it instead.

        Parameters
        ----------
        y, weight : arrays of shape (n_rows,)
            Targets and weights.
        score, r, h : arrays of shape (n_rows,)
            The score that is to move, its negative gradient and its second derivative.
        leaf : array of shape (n_rows,)
            Leaf of each row, a number from 0 to ``n_leaves`` - 1.
        """
        return safe_divide(_sums(leaf, weight * r, n_leaves), _sums(leaf, weight * h, n_leaves))

    def prediction(self, score: Floats) -> Floats:
        """Scores as predictions in units of the target, of shape (n_rows,); or class shares, (n_rows, n_classes)."""
        return score[0]

    def score_of(self, prediction: ArrayLike) -> Floats:
        """The scores, of shape (n_scores,), that give the one ``prediction``: the inverse of :meth:`prediction`."""
        return np.atleast_1d(np.asarray(prediction, dtype=float))


def residuals(y: Floats, score: Floats) -> Floats:
    """y - F; 0 where the two differ by no more than rounding, which a tree must not learn.

    The score of a row is the sum of many steps, each of them rounded.
    """
    residual = y - score
    rounding = ROUNDING_OF_SCORES * np.spacing(np.maximum(np.abs(y), np.abs(score)))
    return np.where(np.abs(residual) > rounding, residual, 0.0)


class SquaredLoss(Loss):
    r"""Half the squared error, :math:`\frac12 (y - F)^2`: the negative gradient is the residual."""

    def value(self, y: Floats, score: Floats) -> Floats:
        return (y - score[0]) ** 2 / 2

    def derivatives(self, y: Floats, score: Floats) -> tuple[Floats, Floats]:
        return residuals(y, score), np.ones_like(score)


class AbsoluteLoss(Loss):
    r"""The absolute error, :math:`|y - F|`: the negative gradient is the residual's sign, a leaf's step the median."""

    is_curved = False

    def start(self, y: Floats, weight: Floats) -> Floats:
        return quantile(y, weight)

    def value(self, y: Floats, score: Floats) -> Floats:
        return np.abs(y - score[0])

    def derivatives(self, y: Floats, score: Floats) -> tuple[Floats, Floats]:
        return np.sign(residuals(y, score)), np.zeros_like(score)

    def line_search(
        self, y: Floats, score: Floats, r: Floats, h: Floats, weight: Floats, leaf: Ints, n_leaves: int
    ) -> Floats:
        return quantile(y - score, weight, leaf, n_leaves)


class HuberLoss(Loss):
    r"""Squared for small residuals, absolute for large ones, so that outliers pull no harder than other rows.

    .. math:: l = \begin{cases} \frac12 (y - F)^2 & |y - F| \le \delta \\
              \delta\, (|y - F| - \frac12 \delta) & \text{otherwise} \end{cases}

    Before each round :math:`\delta` is set to the quantile ``alpha`` of the absolute residuals. A leaf moves by
    Friedman's step: the median of its residuals, plus the mean of their deviations from it, clipped at
    :math:`\pm\delta`.
    """

    is_curved = False

    def __init__(self, alpha: float = 0.9, delta: float = 1.0):
        self.alpha = alpha
        self.delta = delta

    def start(self, y: Floats, weight: Floats) -> Floats:
        return quantile(y, weight)

    def adapt(self, y: Floats, score: Floats, weight: Floats) -> None:
        self.delta = float(quantile(np.abs(residuals(y, score[0])), weight, q=self.alpha)[0])

    def value(self, y: Floats, score: Floats) -> Floats:
        error = np.abs(y - score[0])
        return np.where(error <= self.delta, error**2 / 2, self.delta * (error - self.delta / 2))

    def derivatives(self, y: Floats, score: Floats) -> tuple[Floats, Floats]:
        is_small = np.abs(y - score) <= self.delta
        return np.clip(residuals(y, score), -self.delta, self.delta), is_small.astype(float)

    def line_search(
        self, y: Floats, score: Floats, r: Floats, h: Floats, weight: Floats, leaf: Ints, n_leaves: int
    ) -> Floats:
        residual = y - score
        median = quantile(residual, weight, leaf, n_leaves)
        left = np.clip(residual - median[leaf], -self.delta, self.delta)
        return median + safe_divide(_sums(leaf, weight * left, n_leaves), _sums(leaf, weight, n_leaves))


class PoissonLoss(Loss):
    r"""For counts, :math:`e^F - y F`: the score is the logarithm of the expected count.

    A leaf moves by :math:`\ln (\sum w y / \sum w e^F)`, which is exact. Where nothing was counted this is minus
    infinity, so such a leaf takes one Newton step, which is -1.
    """

    def value(self, y: Floats, score: Floats) -> Floats:
        return rate(score[0]) - y * score[0]

    def derivatives(self, y: Floats, score: Floats) -> tuple[Floats, Floats]:
        expected = rate(score)
        return y - expected, expected

    def line_search(
        self, y: Floats, score: Floats, r: Floats, h: Floats, weight: Floats, leaf: Ints, n_leaves: int
    ) -> Floats:
        ratio = safe_divide(_sums(leaf, weight * y, n_leaves), _sums(leaf, weight * rate(score), n_leaves))
        return np.log(ratio, out=np.full(n_leaves, -1.0), where=ratio > 0)

    def prediction(self, score: Floats) -> Floats:
        return rate(score[0])

    def score_of(self, prediction: ArrayLike) -> Floats:
        return np.log(np.atleast_1d(prediction))


class LogisticLoss(Loss):
    r"""For two classes 0 and 1, :math:`\ln(1 + e^F) - y F`: the score is the log-odds of class 1.

    With :math:`p = 1 / (1 + e^{-F})` the negative gradient is :math:`y - p` and the second derivative
    :math:`p (1 - p)`. Friedman (2001) calls the classes -1 and 1 and takes half the log-odds as score; the model is the
    same, its scores are half of these.
    """

    def value(self, y: Floats, score: Floats) -> Floats:
        return np.logaddexp(0, score[0]) - y * score[0]

    def derivatives(self, y: Floats, score: Floats) -> tuple[Floats, Floats]:
        p = sigmoid(score)
        return y - p, p * (1 - p)

    def prediction(self, score: Floats) -> Floats:
        p = sigmoid(score[0])
        return np.stack([1 - p, p], axis=1)

    def score_of(self, prediction: ArrayLike) -> Floats:
        p = np.clip(np.atleast_1d(prediction), SMALLEST_SHARE, 1 - SMALLEST_SHARE)
        return np.log(p / (1 - p))


class SoftmaxLoss(Loss):
    r"""For K classes, :math:`-\ln p_y` with :math:`p_k = e^{F_k} / \sum_j e^{F_j}`: a score for each class.

    The negative gradient is :math:`[y = k] - p_k` and the second derivative, of each score on its own,
    :math:`p_k (1 - p_k)`. A leaf takes Friedman's step, a Newton step times :math:`(K - 1) / K`, since the K trees of a
    round move together. XGBoost doubles this second derivative: its reg_lambda, min_child_weight and learning rate,
    halved, give the same trees here.
    """

    def __init__(self, n_classes: int):
        self.n_scores = n_classes

    def outcome(self, y: Floats) -> Floats:
        return y == np.arange(self.n_scores)[:, np.newaxis]

    def value(self, y: Floats, score: Floats) -> Floats:
        _, total, top = _powers(score)
        return np.log(total) + top - score[y.astype(np.intp), np.arange(len(y))]

    def derivatives(self, y: Floats, score: Floats) -> tuple[Floats, Floats]:
        p = softmax(score)
        return self.outcome(y) - p, p * (1 - p)

    def line_search(
        self, y: Floats, score: Floats, r: Floats, h: Floats, weight: Floats, leaf: Ints, n_leaves: int
    ) -> Floats:
        return (self.n_scores - 1) / self.n_scores * super().line_search(y, score, r, h, weight, leaf, n_leaves)

    def prediction(self, score: Floats) -> Floats:
        return softmax(score).T

    def score_of(self, prediction: ArrayLike) -> Floats:
        # Only differences of scores matter: they are centred, to sum to zero.
        score = np.log(np.maximum(np.asarray(prediction), SMALLEST_SHARE))
        return score - score.mean()


def softmax(score: Floats) -> Floats:
    """e^F of each class over the sum of all, of shape (n_scores, n_rows)."""
    power, total, _ = _powers(score)
    return np.divide(power, total, out=power)


def _powers(score: Floats) -> tuple[Floats, Floats, Floats]:
    """e^(F - top) of each class, their sum, and each row's largest score, the top: so no power is too large."""
    top = score.max(axis=0)
    power = np.exp(score - top)
    # Class after class, because NumPy's own sum may add up in another order where there is a single row.
    return power, sum(power), top


def rate(score: Floats) -> Floats:
    """e^F; where this is infinite, so is the loss, and boosting stops with an error."""
    with np.errstate(over="ignore"):
        return np.exp(score)


def sigmoid(score: Floats) -> Floats:
    """1 / (1 + e^-F), in place step by step: new arrays would cost more than the arithmetic."""
    p = np.negative(score)
    with np.errstate(over="ignore"):  # e^-F may be infinite; then p is 0, as it should be
        np.exp(p, out=p)
    p += 1
    return np.divide(1, p, out=p)


def _sums(leaf: Ints, x: Floats, n_leaves: int) -> Floats:
    return np.bincount(leaf, x, minlength=n_leaves).astype(float)
