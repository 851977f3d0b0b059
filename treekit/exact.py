"""Sums that come out the same in any order of the rows, and so the same from blocks of rows on several machines.

Floats rounded to whole multiples of one small unit, a power of two, add up without rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["largest", "unit_of", "in_whole", "weighted_mean"]

Floats = NDArray[np.float64]

#: Whole numbers of 64 bits whose sum is less than 2 to this power don't overflow.
BITS = 62


def largest(x: NDArray) -> Floats:
    """The largest size of a number along the last axis; 0 for none."""
    return np.maximum(x.max(axis=-1, initial=0), -x.min(axis=-1, initial=0)).astype(float)


def unit_of(largest: Floats | float, n_rows: int, bits: int = BITS) -> Floats:
    """The power of two in which any sum of ``n_rows`` numbers up to ``largest`` is less than 2**bits.

    It depends on the largest number alone, so blocks of rows agree on it. Where that is infinite, so is the unit.
    """
    power = np.frexp(largest)[1] + np.frexp(n_rows)[1] - bits
    return np.where(np.isfinite(largest), np.ldexp(1.0, np.maximum(power, -1000)), np.inf)


def in_whole(x: NDArray, unit: Floats) -> NDArray[np.int64]:
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
    unit = unit_of(largest(terms), len(weight))
    return mean_of_sums(in_whole(terms, unit).sum(axis=1), unit)
