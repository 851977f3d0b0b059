"""What all parts share: types of arrays, tolerances, and three small operations on arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Array", "Bools", "Floats", "Integers", "Ints", "Kind", "Numbers", "Wholes", "safe_divide", "repeat_with_index",
    "sum_in_turn",
]  # fmt: skip

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
Wholes = NDArray[np.int64]
Integers = NDArray[np.integer]
#: A table as numbers, whole or not, of any width.
Numbers = NDArray[np.floating | np.integer]
#: Labels, or numbers of any kind.
Array = NDArray[Any]
#: The kind of the numbers in an array, where a function returns numbers of the kind that it is given.
Kind = TypeVar("Kind", bound=np.generic)

# -- tolerances: what may differ by rounding and must not decide ---------------------------------------------------

#: Gains that differ by less than this fraction of the node's impurity are equal. Sums are exact (see
#: :mod:`treekit.growing.fixed_point`); only the few operations from sums to a gain round.
TIE = 1e-10

#: C4.5's gains are equal within this, and shares of weight everywhere: a shared weight is a product of many rounded
#: fractions.
SHARED_TIE = 1e-9

#: Costs and alphas of pruning are equal within this fraction of their node's cost: they are sums over many leaves. The
#: errors of a node may exceed its rows by as much.
COST_TIE = 1e-12

#: Class shares are equal within this, votes within this fraction of all votes: they are means over leaves or trees.
VOTE_TIE = 1e-12

#: Relative rounding error of a number that is worked out from exact sums.
ROUNDING = 1e-14

#: AdaBoost: an error rate must beat chance by more than this; less is rounding of the row weights.
BEATS_CHANCE = 1e-10

# -- and one number that is not a tolerance --------------------------------------------------------------------------

#: A part of a row that is less than this share of it is not shared out any further: it goes down the heaviest branch.
LEAST_SHARE = 2.0**-8


def safe_divide(a: ArrayLike, b: Numbers) -> Floats:
    """a / b, and 0 where b is not positive."""
    return np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=b > 0)


def repeat_with_index(x: NDArray[Kind], n_copies: Ints) -> tuple[NDArray[Kind], Ints]:
    """Repeat each x[i] ``n_copies[i]`` times; also return each copy's index 0, 1, ... among the copies of its x."""
    first = np.cumsum(n_copies) - n_copies
    return np.repeat(x, n_copies), np.arange(n_copies.sum(), dtype=np.intp) - np.repeat(first, n_copies)


def sum_in_turn(x: Floats) -> Floats:
    """Sum along the first axis in turn: so the predictions of many trees for a row add up to the same number, to the
    last digit, whichever other rows there are."""
    # NumPy adds up a single column in pairs.
    return x.sum(axis=0) if x[0].size > 1 else np.cumsum(x, axis=0)[-1]
