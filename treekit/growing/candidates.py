"""The best split of each node on each column, and the choice between the columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from treekit.growing.monotone import Monotone
from treekit.numeric import TIE, Array, Floats, Ints
from treekit.reading.encoding import Feature
from treekit.trees.routes import BranchPerCategory, Routes, join_routes

__all__ = [
    "SplitCandidates",
    "merge_candidates",
    "merge_kinds",
    "ChildLimits",
    "draw_order",
    "largest_gain",
    "largest_gain_among_sampled",
]


@dataclass(frozen=True, eq=False)
class SplitCandidates:
    """The best split of each open node on each of some columns.

    Attributes
    ----------
    gain : array of shape (n_columns, n_nodes)
        How much it lowers the impurity; -inf where the column can't split the node.
    threshold : array of shape (n_columns, n_nodes)
        Branch 0 is at or below it, branch 1 above; NaN for a column of categories. It means nothing without a gain.
    routes : dict of Routes or BranchPerCategory
        For each column of categories, the branches of the categories in each node.
    n_candidates : array of shape (n_columns, n_nodes) or None
        Number of cuts within the limits, if they were counted.
    split_information : array of shape (n_columns, n_nodes) or None
        Entropy, in bits, of the branches that the known rows take, for a choice by gain ratio.
    feature : array of shape (n_columns, n_nodes) or None
        The columns of the table, if each node has its own.
    direction : array of shape (n_nodes, n_features) or None
        If the last column is not one of the table but a linear combination, made for each node: its coefficients.
    """

    gain: Floats
    threshold: Floats
    routes: dict[int, Routes | BranchPerCategory] = field(default_factory=dict)
    n_candidates: Floats | None = None
    split_information: Floats | None = None
    feature: Ints | None = None
    direction: Floats | None = None

    def routes_of(self, node: Ints, column: Ints) -> Routes:
        """The routes of some nodes, for each on one column; the nodes are numbered as they come: 0, 1, ..."""
        parts = []
        for j, routes in self.routes.items():
            tests_j = np.flatnonzero(column == j)
            # A column of many categories that no node tests costs nothing.
            if len(tests_j):
                number = np.full(self.gain.shape[1], -1)
                number[node[tests_j]] = tests_j
                parts.append(routes.renumbered(number))
        return join_routes(parts)


def merge_candidates(parts: Sequence[SplitCandidates], columns: Sequence[int] | None = None) -> SplitCandidates:
    """The candidates of several groups of columns as one.

    ``columns`` numbers the columns of all parts, one part after the other; without it they are in order already.
    """
    if len(parts) == 1:
        return parts[0]
    number = np.arange(sum(len(part.gain) for part in parts)) if columns is None else np.asarray(columns)
    by_number = np.argsort(number)

    def merge(arrays: Sequence[Array | None], default: float) -> Any:
        """One array of all columns; ``default`` for parts without one; None if no part has one."""
        if all(array is None for array in arrays):
            return None
        filled = (np.full(part.gain.shape, default) if a is None else a for part, a in zip(parts, arrays))
        return np.concatenate(list(filled))[by_number]

    first = np.cumsum([0, *(len(part.gain) for part in parts)])
    return SplitCandidates(
        gain=merge([part.gain for part in parts], np.nan),
        threshold=merge([part.threshold for part in parts], np.nan),
        routes={int(number[first[i] + k]): routes for i, part in enumerate(parts) for k, routes in part.routes.items()},
        n_candidates=merge([part.n_candidates for part in parts], np.nan),
        split_information=merge([part.split_information for part in parts], np.nan),
        feature=merge([part.feature for part in parts], -1),
    )


def merge_kinds(
    numbers: SplitCandidates, groups: Sequence[SplitCandidates], features: Sequence[Feature]
) -> SplitCandidates:
    """The candidates of all columns, from those of the columns of numbers and of each column of categories."""
    by_kind = sorted(range(len(features)), key=lambda j: not features[j].is_numeric)
    return merge_candidates([numbers, *groups], by_kind) if groups else numbers


@dataclass(frozen=True)
class ChildLimits:
    """The least number of rows and the least weight of a child; the least weight may differ from node to node.

    With ``monotone`` the values of children that a cut of numbers makes have limits, too.
    """

    rows: float = 1
    weight: float | Floats = 0.0
    monotone: Monotone | None = None

    @cached_property
    def limits_weight(self) -> bool:
        """Whether there is a least weight."""
        return bool(np.any(self.weight))

    def of(self, node: Ints) -> ChildLimits:
        """The limits for the children of each of these nodes."""
        weight = self.weight[node] if isinstance(self.weight, np.ndarray) else self.weight
        return ChildLimits(self.rows, weight)

    def of_columns(self, columns: list[int]) -> ChildLimits:
        """The limits for the children that cuts of some columns leave."""
        return replace(self, monotone=self.monotone.of_columns(columns)) if self.monotone else self


def largest_gain(candidates: SplitCandidates, impurity: Floats, tree: Ints | None = None) -> Ints:
    """The column of the largest gain in each node; of equal ones the first."""
    return np.argmax(candidates.gain >= candidates.gain.max(axis=0) - TIE * impurity, axis=0)


def draw_order(rngs: Sequence[np.random.Generator], tree: Ints, n_columns: int) -> Ints:
    """The columns in an order that each node draws, of shape (n_columns, n_nodes), by the generator of its tree.

    So a tree is the same whichever others grow with it. A single generator draws for all nodes.
    """
    if len(rngs) == 1:
        return rngs[0].random((n_columns, len(tree))).argsort(axis=0)
    number, nodes = np.empty((n_columns, len(tree))), np.argsort(tree, kind="stable")
    for rng, of_tree in zip(rngs, np.split(nodes, np.bincount(tree, minlength=len(rngs)).cumsum()[:-1])):
        number[:, of_tree] = rng.random((n_columns, len(of_tree)))
    return number.argsort(axis=0)


def largest_gain_among_sampled(
    n_sampled: int, rngs: Sequence[np.random.Generator]
) -> Callable[[SplitCandidates, Floats, Ints], Ints]:
    """Like :func:`largest_gain`, among ``n_sampled`` columns that each node draws at random.

    Columns that can't split a node don't count: drawing goes on until enough are found that can. Of equal gains the
    first drawn wins, so that no column is favoured.
    """

    def choose(candidates: SplitCandidates, impurity: Floats, tree: Ints) -> Ints:
        sampled = draw_order(rngs, tree, len(candidates.gain))
        gain = np.take_along_axis(candidates.gain, sampled, axis=0)
        gain[np.isfinite(gain).cumsum(axis=0) > n_sampled] = -np.inf
        best = np.argmax(gain >= gain.max(axis=0) - TIE * impurity, axis=0)
        return np.take_along_axis(sampled, best[np.newaxis], axis=0)[0]

    return choose
