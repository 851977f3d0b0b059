"""What a split is to lower.

Every criterion here is a function of sums: what a group of rows costs follows from what its rows add up to, be it class
weights, or weight and target. So the costs of both sides of any cut are known from one running sum. The one criterion
that is not such a function has a file of its own, ``absolute_error.py``.

Four words, for a group of rows that weigh n together:

=========  ===========================================================================================================
cost       n times the impurity, up to a term that is the same for the node and for both of its sides together
saving     cost of a node - cost of its left side - cost of its right side
gain       saving / n; :class:`Newton` adds up instead of taking a mean: saving - gamma
objective  in histograms, - cost of the left side - cost of the right side: the saving without the node's own cost,
           which all of its cuts share; with :class:`Newton` twice that: the objective has no factor of one half
=========  ===========================================================================================================

Sums have the shape (n_sums, ...): one for each thing that is added up, for any number of groups of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from treekit.growing.level import Level
from treekit.measures import gini_of_counts
from treekit.numeric import Bools, Floats, Ints, Numbers, safe_divide

__all__ = ["Criterion", "ClassCriterion", "Entropy", "Gini", "SquaredError", "Poisson", "Newton"]

#: Poisson: a mean must be positive, so a positive target counts as at least this share of the sum of all: then no sum
#: of positive targets is zero, nor the difference of two sums. Sums have some 60 bits, floats 53.
POSITIVE = 2.0**-50

#: Stands in for 0 in a divisor, or in 0 log 0.
TINY = np.finfo(float).tiny


class Criterion:
    """Base of the criteria.

    Attributes
    ----------
    name : str
        Name of the impurity, as :class:`treekit.Tree` keeps it; "" for a criterion that grows no tree.
    gain_is_sum : bool
        Whether gains and impurities are sums over the rows of a node instead of means.
    is_function_of_sums : bool
        Whether the cost of a group follows from its sums alone: the absolute error alone needs the rows.
    uses_deviations : bool
        Whether it is a :class:`DeviationCriterion`.
    may_choose_by_ratio : bool
        Whether splits come with their split information, by which C4.5 divides their gain.
    per_row : array of shape (n_sums, n_rows), or (n_sums, n_roots, n_rows) where each root has targets of its own
        What each training row adds to the sums, for each unit of its weight.
    """

    name = ""
    gain_is_sum = False
    is_function_of_sums = True
    uses_deviations = False
    may_choose_by_ratio = False
    per_row: Floats

    def cost(self, sums: Floats) -> Floats:
        """Weight times impurity of each group, up to a term that adds up as well and so cancels in every gain."""
        raise NotImplementedError

    def saving(self, left: Floats, total: Floats) -> Floats:
        """How much it saves to cut groups with sums ``total`` into ``left`` and the rest."""
        return self.cost(total) - self.cost(left) - self.cost(total - left)

    def gain(self, saving: Floats, node: Floats) -> Floats:
        """Gain of a split in nodes with sums ``node``: what it saves, over the weight of the node."""
        return saving / self.divisor(node)

    def divisor(self, node: Floats) -> Floats:
        """What a saving in nodes with sums ``node`` is divided by to be a gain: the weight of the node."""
        return self.weight(node)

    def weight(self, sums: Floats) -> Floats:
        """Weight of the rows in each group."""
        raise NotImplementedError

    def value_from(self, sums: Floats) -> Floats:
        """Prediction of each group as a leaf, of shape (n_groups, n_values); anything for a group without rows."""
        raise NotImplementedError

    def value(self, level: Level) -> Floats:
        """Prediction of each node as a leaf, of shape (n_nodes, n_values)."""
        return self.value_from(level.sums)

    def impurity(self, level: Level) -> Floats:
        """Impurity of each node, of shape (n_nodes,)."""
        raise NotImplementedError

    def is_pure(self, level: Level, impurity: Floats) -> Bools:
        """Which nodes no split can improve, because their rows agree."""
        raise NotImplementedError

    def order_keys(self, sums: Floats) -> Floats:
        """Keys by which the categories of a node are ordered, of shape (n_keys, ...); one key where one is enough."""
        raise NotImplementedError

    def value_of_key(self, key: Floats) -> Floats:
        """Prediction, of shape (n_groups, n_values), of groups that one key is enough for."""
        raise NotImplementedError


class DeviationCriterion(Criterion):
    r"""Base of the criteria whose savings follow from how far the sum on the left is from its expectation.

    If the left side were like its node, its :math:`n_l` of :math:`n` rows would add up to :math:`n_l` times the node's
    mean. With the deviation :math:`S` of their sum from that number, a cut saves

    .. math:: \frac{n}{n_l n_r} \, S^2

    It is the difference of the costs, written so that no two large numbers cancel. The first sum follows from the
    weight and the other sums, so it need not be added up where the weight is known.
    """

    uses_deviations = True

    def saving(self, left: Floats, total: Floats) -> Floats:
        return self.savings(self.weight(left), total)(left[1:])

    def savings(self, n_left: Numbers, total: Floats) -> Callable[[Floats], Floats]:
        """The saving as a function of all sums but the first, for cuts with the weight ``n_left`` below them.

        What follows from the weights alone is worked out once; where every row has weight 1, that serves all columns.
        """
        raise NotImplementedError


def saving_by_one_sum(n_left: Numbers, n: Floats, total: Floats, times: float = 1) -> Callable[[Floats], Floats]:
    """``times`` the saving of :class:`DeviationCriterion`, as a function of the sum on the left.

    Parameters
    ----------
    n_left, n, total : arrays
        Weight on the left of each cut, weight of its node, and sum of its node.
    times : float
        2 for two classes, whose deviations differ in sign alone.
    """
    factor = times * safe_divide(n, n_left * (n - n_left))
    expected = safe_divide(total, n) * n_left

    def saving(left: Floats) -> Floats:
        deviation = left[0] - expected
        deviation *= deviation
        deviation *= factor
        return deviation

    return saving


class ClassCriterion(Criterion):
    """The rows add up to the weights of the classes; a leaf predicts their shares."""

    def __init__(self, label: Ints, n_classes: int):
        self.label, self.n_classes = label, n_classes
        self.per_row = label == np.arange(n_classes)[:, np.newaxis]

    def weight(self, sums: Floats) -> Floats:
        return sums.sum(axis=0)

    def value_from(self, sums: Floats) -> Floats:
        return safe_divide(sums, sums.sum(axis=0)).T

    def impurity(self, level: Level) -> Floats:
        return safe_divide(self.cost(level.sums), self.weight(level.sums))

    def is_pure(self, level: Level, impurity: Floats) -> Bools:
        return np.count_nonzero(level.total, axis=0) <= 1

    def order_keys(self, sums: Floats) -> Floats:
        shares = safe_divide(sums, sums.sum(axis=0))
        return shares[1:] if len(shares) == 2 else shares

    def value_of_key(self, key: Floats) -> Floats:
        return np.stack([1 - key, key], axis=1)


class Entropy(ClassCriterion):
    r"""Entropy of the labels, in bits: cost :math:`n H = -\sum_k n_k \log_2 (n_k / n)`.

    Logarithms of shares do not grow with the weights. So nearly pure nodes, where the impurity is small, lose the least
    in rounding, and multiplying all weights by a power of two changes nothing.
    """

    name = "entropy"
    may_choose_by_ratio = True

    def cost(self, sums: Floats) -> Floats:
        share = sums / np.maximum(sums.sum(axis=0), TINY)
        return 0 - (sums * np.log2(np.maximum(share, TINY))).sum(axis=0)  # a pure group costs 0, not -0


class Gini(ClassCriterion, DeviationCriterion):
    r"""Gini impurity of the labels: cost :math:`n \,\mathrm{Gini} = n - \sum_k n_k^2 / n`.

    A cut saves :math:`n / (n_l n_r) \sum_k S_k^2`. The deviations of all classes add up to 0, which gives that of the
    first; with two classes the sum is twice one square.
    """

    name = "gini"

    def cost(self, sums: Floats) -> Floats:
        total = sums.sum(axis=0)
        return total - safe_divide((sums * sums).sum(axis=0), total)

    def savings(self, n_left: Numbers, total: Floats) -> Callable[[Floats], Floats]:
        n = total.sum(axis=0)
        if len(total) == 2:
            return saving_by_one_sum(n_left, n, total[1], times=2)
        factor = safe_divide(n, n_left * (n - n_left))
        expected = safe_divide(total[1:], n) * n_left

        def saving(left: Floats) -> Floats:
            deviation = left - expected
            squares = np.square(deviation.sum(axis=0))  # of the first class
            for one in deviation:
                squares += np.square(one, out=one)
            squares *= factor
            return squares

        return saving

    def impurity(self, level: Level) -> Floats:
        return gini_of_counts(level.sums.T)


class _Mean(Criterion):
    """The rows add up to (weight, weight x target); a leaf predicts their mean.

    A node is pure when its targets are equal. Its mean is kept between the smallest and the largest of them, whatever
    rounding does.
    """

    def __init__(self, target: Floats, offset: float):
        # Targets are measured from an offset. If that is their mean, a large mean costs no digits.
        self.target, self.offset = target, offset
        self.per_row = np.stack([np.ones(target.shape), target - offset])

    def weight(self, sums: Floats) -> Floats:
        return sums[0]

    def value_from(self, sums: Floats) -> Floats:
        return (safe_divide(sums[1], sums[0]) + self.offset)[:, np.newaxis]

    def value(self, level: Level) -> Floats:
        low, high = self._range(level)
        return np.minimum(np.maximum(self.mean(level) + self.offset, low), high)[:, np.newaxis]

    def is_pure(self, level: Level, impurity: Floats) -> Bools:
        low, high = self._range(level)
        return high == low

    def mean(self, level: Level) -> Floats:
        """Mean target of each node, measured from the offset."""
        return safe_divide(level.sums[1], level.sums[0])

    def _range(self, level: Level) -> tuple[Floats, Floats]:
        """The smallest and the largest target of each node, found once per level."""
        if "range" not in level.cache:
            level.cache["range"] = level.range_of(level.values(self.target, level.entry))
        return level.cache["range"]

    def order_keys(self, sums: Floats) -> Floats:
        return safe_divide(sums[1:], sums[0])

    def value_of_key(self, key: Floats) -> Floats:
        return (key + self.offset)[:, np.newaxis]


class SquaredError(_Mean, DeviationCriterion):
    r"""Squared error about the mean: cost :math:`\sum w (y - \bar y)^2`, which is

    .. math:: \sum w y^2 - \frac{(\sum w y)^2}{\sum w}

    Its first term adds up, so it is left out.
    """

    name = "squared_error"

    def __init__(self, target: Floats, weight: Floats | None = None):
        # A row of weight zero does not count. The exact sum makes the mean independent of the order of the rows.
        counted = (target if weight is None else target[..., weight > 0]).ravel()
        super().__init__(target, offset=math.fsum(counted) / len(counted))

    def cost(self, sums: Floats) -> Floats:
        return -safe_divide(sums[1] * sums[1], sums[0])

    def savings(self, n_left: Numbers, total: Floats) -> Callable[[Floats], Floats]:
        return saving_by_one_sum(n_left, total[0], total[1])

    def impurity(self, level: Level) -> Floats:
        error = level.values(self.per_row[1], level.entry) - self.mean(level)[level.node]
        return level.mean(error * error)


class Poisson(_Mean):
    r"""Half Poisson deviance about the mean: cost :math:`\sum w (y \ln (y / \bar y) - y + \bar y)`.

    At the mean the last two terms cancel, and :math:`y \ln y` adds up: :math:`-(\sum w y) \ln \bar y` is left.
    """

    name = "poisson"

    def __init__(self, target: Floats, weight: Floats | None = None):
        super().__init__(target, offset=0.0)
        if weight is None:
            weight = np.ones_like(target)
        least = safe_divide(POSITIVE * (target * weight).sum(), weight)
        self.per_row[1] = np.where(target > 0, np.maximum(target, least), target)

    def cost(self, sums: Floats) -> Floats:
        mean = safe_divide(sums[1], sums[0])
        return -sums[1] * np.log(mean, out=np.zeros_like(mean), where=mean > 0)

    def saving(self, left: Floats, total: Floats) -> Floats:
        # Measured from the node's mean: the cost of the node is zero then, and nothing cancels.
        mean, saved = safe_divide(total[1], total[0]), np.zeros(left.shape[1:])
        sides = (left, total - left)
        for side in sides:
            saved += side[1] * _log_of_ratio(side[1], side[0] * mean)
        # A Poisson mean is positive: a side of zeros alone would have none.
        return np.where((sides[0][1] > 0) & (sides[1][1] > 0), saved, -np.inf)

    def impurity(self, level: Level) -> Floats:
        y = level.values(self.target, level.entry)
        # Over the rows of a node y - mean adds up to 0; and 0 log 0 = 0.
        return np.maximum(level.mean(y * _log_of_ratio(y, self.mean(level)[level.node])), 0.0)


def _log_of_ratio(x: Floats, expected: Floats) -> Floats:
    """ln(x / expected), exact also where the two are nearly equal; 0 where x is negligible or ``expected`` is 0."""
    difference = safe_divide(x - expected, expected)
    return np.log1p(difference, out=np.zeros_like(difference), where=difference > -1)


class HasSums(Protocol):
    """The nodes of a level, whose rows may lie elsewhere."""

    @property
    def sums(self) -> Floats:
        """What the rows of each node add up to, of shape (n_sums, n_nodes)."""

    @property
    def bounds(self) -> Floats | None:
        """The least and the largest value that may be predicted below each node, of shape (2, n_nodes), where columns
        are constrained."""


class Newton(Criterion):
    r"""Objective of second-order boosting: cost :math:`-\frac12 G^2 / (H + \lambda)`.

    A leaf predicts :math:`-G / (H + \lambda)`. The rows add up to :math:`G = \sum g` and :math:`H = \sum h`, the first
    and second derivatives of the loss. The gain of a split is what it saves minus :math:`\gamma`, the price of a leaf,
    and a split that does not gain is not made; as every row brings its own scale, the gain is not divided by a weight.
    :math:`H` stands for the weight; XGBoost calls it cover.

    .. math:: \mathrm{gain} = \frac12 \left[ \frac{G_L^2}{H_L + \lambda} + \frac{G_R^2}{H_R + \lambda}
              - \frac{G^2}{H + \lambda} \right] - \gamma

    The impurity of a node is its cost, so a split lowers the sum of the impurities by gain :math:`+ \gamma`. Source:
    Chen and Guestrin (2016), equations 5-7.
    """

    name = "newton"
    gain_is_sum = True

    def __init__(self, reg_lambda: float = 0.0, gamma: float = 0.0):
        self.reg_lambda = reg_lambda
        self.gamma = gamma

    def cost(self, sums: Floats) -> Floats:
        return -safe_divide(sums[0] * sums[0], sums[1] + self.reg_lambda) / 2

    def gain(self, saving: Floats, node: Floats) -> Floats:
        gain = saving - self.gamma
        return np.where(gain > 0, gain, -np.inf)

    def divisor(self, node: Floats) -> Floats:
        return np.ones_like(node[0])

    def weight(self, sums: Floats) -> Floats:
        return sums[1]

    def value_from(self, sums: Floats) -> Floats:
        return -safe_divide(sums[0], sums[1] + self.reg_lambda)[:, np.newaxis]

    def value(self, level: HasSums) -> Floats:
        return self.value_from(level.sums)

    def impurity(self, level: HasSums) -> Floats:
        if level.bounds is None:
            return self.cost(level.sums)
        (g, h), (w,) = level.sums, self.order_keys(level.sums)
        w = np.clip(w, *level.bounds)
        return g * w + (h + self.reg_lambda) * w * w / 2

    def is_pure(self, level: HasSums, impurity: Floats) -> Bools:
        return np.zeros(len(impurity), dtype=bool)  # a split of equal rows gains nothing

    def order_keys(self, sums: Floats) -> Floats:
        return -safe_divide(sums[:1], sums[1] + self.reg_lambda)

    def value_of_key(self, key: Floats) -> Floats:
        return key[:, np.newaxis]
