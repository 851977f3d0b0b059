"""Sums that come out the same in any order of the rows, and so the same from blocks of rows on several machines.

Floats rounded to whole multiples of one small unit, a power of two, add up without rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.numeric import Floats

__all__ = ["largest_magnitude", "unit_for", "to_whole", "weighted_mean", "to_gradient_sums"]

#: Whole numbers of 64 bits whose sum is less than 2 to this power don't overflow.
BITS = 62


def largest_magnitude(x: NDArray) -> Floats:
    """The largest size of a number along the last axis; 0 for none."""
    return np.maximum(x.max(axis=-1, initial=0), -x.min(axis=-1, initial=0)).astype(float)


def unit_for(largest_magnitude: Floats | float, n_rows: int, bits: int = BITS) -> Floats:
    """The power of two in which any sum of ``n_rows`` numbers up to ``largest_magnitude`` is less than 2**bits.

    It depends on the largest number alone, so blocks of rows agree on it. Where that is infinite, so is the unit.
    """
    power = np.frexp(largest_magnitude)[1] + np.frexp(n_rows)[1] - bits
    return np.where(np.isfinite(largest_magnitude), np.ldexp(1.0, np.maximum(power, -1000)), np.inf)


def to_whole(x: NDArray, unit: Floats) -> NDArray[np.int64]:
    """Rows of numbers, of shape (n_sums, n_rows), as whole multiples of a unit for each."""
    with np.errstate(invalid="ignore"):
        return np.rint(x / unit[:, np.newaxis]).astype(np.int64)


def weighted(x: NDArray, weight: Floats) -> Floats:
    """What is added up for a weighted mean of each row of x: x times weight, and in the last row the weight."""
    return np.concatenate([x * weight, weight[np.newaxis]])


def mean_of_sums(sums: NDArray[np.int64], unit: Floats) -> Floats:
    """The means, from sums in units; infinite where a number was."""
    *total, total_weight = np.where(np.isfinite(unit), sums * unit, np.inf)
    return np.array(total) / total_weight


def weighted_mean(x: NDArray, weight: Floats) -> Floats:
    """Weighted mean of each row of x, of shape (n_sums,), by exact sums; ``weight`` has a positive entry."""
    terms = weighted(x, weight)
    unit = unit_for(largest_magnitude(terms), len(weight))
    return mean_of_sums(to_whole(terms, unit).sum(axis=1), unit)


def to_units(x: NDArray[np.float64], fractions: bool) -> tuple[NDArray[np.integer], NDArray[np.float64]]:
    """Each row of x as whole multiples of a unit of its own, and the units.

    Sums of whole numbers are exact: they do not depend on the order of the rows, and equal sums are equal. The unit is
    1 where x is whole and no fractions are to come, otherwise a power of 2 that leaves about 60 bits for the sum.
    Numbers whose sum is small take four bytes, which makes adding them up faster.
    """
    total = np.abs(x).sum(axis=1, keepdims=True)
    whole = (x == np.rint(x)).all(axis=1, keepdims=True) & (total < 2.0**53) & (not fractions)
    unit = np.where(whole, 1.0, np.exp2(np.frexp(total)[1] - 60.0))
    is_small = (unit == 1).all() and total.max(initial=0) < 2**31
    return np.rint(x / unit).astype(np.int32 if is_small else np.int64), unit


#: G + iH: the sums of first and second derivatives in one number, both whole numbers of units below 2**53.
GradientSums = NDArray[np.complex128]


class GradientUnits(NamedTuple):
    """The sizes of the whole numbers in which first and second derivatives are added up: powers of two."""

    first: float
    second: float


def gradient_units(g: Floats | float, h: Floats | float, n_rows: int) -> GradientUnits:
    """Units for ``n_rows`` derivatives up to |g| and h: a float holds their sums, below 2**53, exactly."""
    return GradientUnits(float(unit_for(g, n_rows, bits=53)), float(unit_for(h, n_rows, bits=53)))


def to_gradient_sums(g: Floats, h: Floats, units: GradientUnits) -> GradientSums:
    """g + ih of each row in whole numbers of units, so that one addition adds up both."""
    pair = np.empty(len(g), dtype=np.complex128)
    np.rint(g / units.first, out=pair.real)
    np.rint(h / units.second, out=pair.imag)
    return pair
