"""Sums that come out the same in any order of the rows, and so the same from blocks of rows on several machines.

Floats rounded to whole multiples of one small unit, a power of two, add up without rounding. :func:`unit_of_sum` and
:func:`unit_for` choose the unit so that no sum needs more than a number of bits. They have four uses:

* :func:`to_units`, for the levels of a tree: whole numbers of 64 bits. The size of the sum is known.
* :func:`weighted_mean`, for scores and losses: whole numbers of 64 bits, from blocks of rows. A block knows the largest
  number of all blocks and how many rows there are, but not their sum.
* :func:`quantile`, for medians: the weights of a group of rows, in units of the group.
* :func:`to_gradient_sums`, for histograms: floats, which hold whole numbers of up to 53 bits.

A large number costs the small ones digits: beside an outlier of 1e9 among 1,000 rows the gradients of a histogram are
rounded to 1e-4. In boosting that does not last, because the unit follows the residuals from round to round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.numeric import ROUNDING, Floats, Ints, Numbers, Wholes

__all__ = [
    "largest_magnitude",
    "unit_for",
    "unit_of_sum",
    "to_whole",
    "to_units",
    "weighted_mean",
    "quantile",
    "to_gradient_sums",
    "grad",
    "hess",
]

#: Bits that a sum of whole numbers of 64 bits may take: one fewer than they have beside their sign.
INTEGER_BITS = 62

#: Bits that the sums of a level may take, whose running sums start by subtracting what the node before adds up to.
SUM_BITS = 60

#: Bits of the whole numbers that a float holds exactly.
FLOAT_BITS = 53


def largest_magnitude(x: Numbers) -> Floats:
    """The largest absolute value along the last axis; 0 if that is empty."""
    return np.maximum(x.max(axis=-1, initial=0), -x.min(axis=-1, initial=0)).astype(float)


def unit_of_sum(total: Floats | float, bits: Ints | int = SUM_BITS) -> Floats:
    """The power of two in which a sum up to ``total`` is less than 2**bits; infinite where ``total`` is."""
    power = np.frexp(total)[1] - bits
    return np.where(np.isfinite(total), np.ldexp(1.0, np.maximum(power, -1000)), np.inf)


def unit_for(largest: Floats | float, n_rows: Ints | int, bits: int) -> Floats:
    """The unit of any sum, below 2**bits, of ``n_rows`` numbers up to ``largest``: blocks of rows agree on it."""
    return unit_of_sum(largest, bits - np.frexp(n_rows)[1])


def to_whole(x: Numbers, unit: Floats) -> Wholes:
    """Rows of numbers, of shape (n_sums, n_rows), as whole multiples of a unit for each."""
    with np.errstate(invalid="ignore"):
        return np.rint(x / unit[:, np.newaxis]).astype(np.int64)


def sum_of_sizes(x: Floats) -> Floats:
    """The sum of the absolute values of each row of x, the same in any order of them."""
    unit = unit_for(largest_magnitude(x), x.shape[1], INTEGER_BITS)
    return np.abs(to_whole(x, unit)).sum(axis=1) * unit


# -- the sums of a level ------------------------------------------------------------------------------------------


def to_units(x: Floats, fractions: bool, most: int = 1) -> tuple[Wholes, Floats]:
    """Each row of x as whole multiples of a unit of its own, and the units, of shape (n_sums, 1).

    The unit is 1 where x is whole and no ``fractions`` are to come, otherwise a power of 2 that leaves about 60 bits
    for the sum, in which each number counts up to ``most`` times.
    """
    total = most * sum_of_sizes(x)
    is_whole = (x == np.rint(x)).all(axis=1) & (total < 2.0**FLOAT_BITS) & (not fractions)
    unit = np.where(is_whole, 1.0, unit_of_sum(total))
    return to_whole(x, unit), unit[:, np.newaxis]


# -- means over blocks of rows ------------------------------------------------------------------------------------


def weighted(x: Numbers, weight: Floats) -> Floats:
    """The terms of a weighted mean of each row of x: x times weight, and in the last row the weight."""
    with np.errstate(over="ignore"):  # an infinite term makes the mean infinite
        return np.concatenate([x * weight, weight[np.newaxis]])


def mean_of_sums(sums: Wholes, unit: Floats) -> Floats:
    """The means, from the sums of :func:`weighted` in units; infinite where a term was."""
    # Divided first: the sum of large numbers may be infinite where their mean is not.
    with np.errstate(invalid="ignore"):
        mean = (sums[:-1] / sums[-1]) * (unit[:-1] / unit[-1])
    return np.where(np.isfinite(unit[:-1]), mean, np.inf)


def weighted_mean(x: Numbers, weight: Floats) -> Floats:
    """Weighted mean of each row of x, of shape (n_sums,), by exact sums; ``weight`` has a positive entry."""
    counts = np.flatnonzero(weight > 0)
    if len(counts) < len(weight):  # a row of weight zero does not count, whatever it holds
        x, weight = x.take(counts, axis=1), weight.take(counts)
    terms = weighted(x, weight)
    unit = unit_for(largest_magnitude(terms), len(weight), INTEGER_BITS)
    return mean_of_sums(to_whole(terms, unit).sum(axis=1), unit)


# -- quantiles of groups of rows -----------------------------------------------------------------------------------


def quantile(x: Floats, weight: Floats, group: Ints | None = None, n_groups: int = 1, q: float = 0.5) -> Floats:
    """Weighted quantile of each group of rows, of shape (n_groups,): a share q of the weight lies below it.

    Where the share is reached between two values, up to rounding, their mean is taken; so q = 0.5 is the usual median,
    and weight 2 is the same as the row twice. Weights are added up in units of their group: what lies in another group
    changes nothing. Every group needs a row of positive weight; the result for other groups means nothing. Takes
    O(rows log rows).
    """
    group = np.zeros(len(x), dtype=np.intp) if group is None else group
    order = np.lexsort((weight, x, group))  # so the weights of a group are added up in one order
    x, group, weight = x[order], group[order], weight[order]
    end = np.cumsum(np.bincount(group, minlength=n_groups))
    first, last = np.concatenate([[0], end[:-1]]), np.maximum(end - 1, 0)
    unit = unit_of_sum(np.bincount(group, weight, minlength=n_groups).astype(float), FLOAT_BITS - 2)
    # Sums of whole numbers that a float holds exactly: they may wrap around from group to group, but not within one.
    running = np.concatenate([[0], np.cumsum(np.rint(weight / unit[group]).astype(np.int64))])
    total, running = running[end] - running[first], running[1:] - running[first][group]
    reached, rounding = q * total, ROUNDING * total
    # The first row at which the weight reaches the share, and the first at which it passes it.
    low = first + np.bincount(group, running < (reached - rounding)[group], minlength=n_groups).astype(np.intp)
    high = first + np.bincount(group, running <= (reached + rounding)[group], minlength=n_groups).astype(np.intp)
    low, high = np.minimum(low, last), np.minimum(high, last)
    x = np.append(x, 0.0)
    return (x[low] + x[high]) / 2


# -- the sums of a histogram --------------------------------------------------------------------------------------

#: G + iH: the sums of first and second derivatives in one number, both whole numbers of units. One addition then adds
#: up both, which saves boosting a fifth of its time (trick: g + ih); :func:`grad` and :func:`hess` take them apart.
GradientSums = NDArray[np.complex128]


def grad(sums: GradientSums) -> Floats:
    """The sums of the first derivatives, G, in units; a view."""
    return sums.real


def hess(sums: GradientSums) -> Floats:
    """The sums of the second derivatives, H, in units; a view."""
    return sums.imag


class GradientUnits(NamedTuple):
    """The units, powers of two, of the sums of first and of second derivatives."""

    grad: float
    hess: float

    def to_floats(self, sums: GradientSums) -> tuple[Floats, Floats]:
        """G and H as they are."""
        return grad(sums) * self.grad, hess(sums) * self.hess


def gradient_units(largest_g: Floats | float, largest_h: Floats | float, n_rows: int) -> GradientUnits:
    """Units in which a float holds the sums of ``n_rows`` derivatives exactly."""
    return GradientUnits(*(float(unit_for(largest, n_rows, FLOAT_BITS)) for largest in (largest_g, largest_h)))


def to_gradient_sums(g: Floats, h: Floats, units: GradientUnits) -> GradientSums:
    """g + ih in whole numbers of units."""
    addend = np.empty(g.shape, dtype=np.complex128)
    np.rint(g / units.grad, out=grad(addend))
    np.rint(h / units.hess, out=hess(addend))
    return addend
