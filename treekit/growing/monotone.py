"""Monotone constraints: where a column may only raise the prediction, or only lower it.

A cut of such a column must leave its children in the right order. That is not enough: below the left child another
column may split, and one of its leaves might exceed those on the right. So the midpoint of the two values becomes an
upper bound for all that grows on one side, and a lower bound for all that grows on the other (:eq:`eq-monotone`). What
would leave its bounds is moved to them, as in scikit-learn and XGBoost. A missing value has no place in the order: a
cut of the known rows against the missing ones may leave either of them lower.

Values are measured as a criterion orders groups (``order_keys``): by the share of the second class, the mean, the step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from treekit.numeric import Bools, Floats, Ints, Numbers

__all__ = ["Monotone", "no_bounds", "value_within_bounds", "bounds_of_children"]


class OrderedNodes(Protocol):
    """The nodes of a level."""

    @property
    def sums(self) -> Floats: ...

    @property
    def bounds(self) -> Floats | None: ...


Nodes = TypeVar("Nodes", bound=OrderedNodes, contravariant=True)
AnyNodes = TypeVar("AnyNodes", bound=OrderedNodes)


class Ordering(Protocol[Nodes]):
    """What the constraints ask of a criterion: see :class:`treekit.growing.criteria.Criterion`."""

    def value(self, level: Nodes, /) -> Floats: ...

    def order_keys(self, sums: Floats, /) -> Floats: ...

    def value_of_key(self, key: Floats, /) -> Floats: ...


@dataclass(frozen=True)
class Monotone:
    """What the values of two children must obey.

    Attributes
    ----------
    sign : integer array of shape (n_features,), or of the columns that are scored
        1 where the value may only rise with the column, -1 where it may only fall, 0 where it is free.
    bounds : array of shape (2, n_nodes)
        The least and the largest value that may be predicted below each node.
    """

    sign: Ints
    bounds: Floats

    def of_columns(self, columns: Ints | list[int]) -> Monotone:
        """The same for some columns, with an axis for what is scored in them."""
        return replace(self, sign=self.sign[columns][:, np.newaxis])

    def of(self, node: Ints) -> Monotone:
        """The same for each of these nodes."""
        return replace(self, bounds=self.bounds[:, node])

    def allows(self, left: Numbers, right: Numbers) -> Bools:
        """Whether cuts of a column may leave these values on their sides, of shape (n_columns, n)."""
        low, high = self.bounds
        are_inside = (np.minimum(left, right) >= low) & (np.maximum(left, right) <= high)
        return (self.sign == 0) | are_inside & (self.sign * (right - left) >= 0)


def no_bounds(n_nodes: int) -> Floats:
    """The bounds of nodes that are not bound yet."""
    return np.repeat([[-np.inf], [np.inf]], n_nodes, axis=1)


def value_within_bounds(criterion: Ordering[AnyNodes], level: AnyNodes) -> Floats:
    """Prediction of each node as a leaf, moved into the node's bounds; of shape (n_nodes, n_values)."""
    if level.bounds is None:
        return criterion.value(level)
    (key,) = criterion.order_keys(level.sums)
    return criterion.value_of_key(np.clip(key, *level.bounds))


def bounds_of_children(bounds: Floats, sign: Ints, value: Floats) -> Floats:
    """The bounds of all children, the left ones first, then the right ones, both in the order of their parents.

    Parameters
    ----------
    bounds : array of shape (2, n_parents)
        The bounds of their parents.
    sign : array of shape (n_parents,)
        The sign of the column that each parent splits on.
    value : array of shape (2 * n_parents,)
        The children's values.
    """
    (low, high), rises, falls = bounds, sign > 0, sign < 0
    middle = np.clip(value.reshape(2, -1), low, high).mean(axis=0)
    left = np.where(falls, middle, low), np.where(rises, middle, high)
    right = np.where(rises, middle, low), np.where(falls, middle, high)
    return np.concatenate([left, right], axis=1)
