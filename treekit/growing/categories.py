"""Splits on a column of categories: a branch for each category, or two groups of categories."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from treekit.growing.candidates import ChildLimits, SplitCandidates
from treekit.growing.criteria import Criterion
from treekit.growing.level import Level
from treekit.growing.thresholds import _saving_within_limits
from treekit.numeric import TIE, Floats

__all__ = ["score_branches", "score_groups"]

#: With three classes or more, all groupings of up to this many categories are tried.
MAX_EXHAUSTIVE = 10


def score_branches(
    level: Level, column: NDArray, n_values: int, criterion: Criterion, min_weight: float = 0.0
) -> SplitCandidates:
    """A branch for each category: what it gains in each node.

    A node can be split when at least two categories have rows in it, and ``min_weight`` or more of the weight.
    """
    counts = _sums_by_category(level, column, n_values)
    weight = criterion.weight(counts)
    saving = criterion.cost(counts.sum(axis=2)) - criterion.cost(counts).sum(axis=1)
    can_split = np.count_nonzero((weight > 0) & (weight >= min_weight), axis=1) >= 2
    gain = np.where(can_split, criterion.gain(saving, level.sums), -np.inf)
    route = np.broadcast_to(np.arange(n_values), (level.n_nodes, n_values))
    return _category_candidates(gain, route, weight)


def score_groups(
    level: Level,
    column: NDArray,
    n_values: int,
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits = ChildLimits(),
    one_vs_rest: bool = False,
) -> SplitCandidates:
    """The best cut of the categories into two groups.

    Three ways to list the groups. One category against the rest is what the sources describe. Where a category is told
    by one number, the share of a class of two or a mean, the best of all groupings is a cut in the order of that
    number (Breiman et al., 1984, theorem 4.5), so V - 1 candidates do. With more classes all 2^(V-1) - 1 are tried
    for up to ten categories; beyond that, the cuts in the order of each class's share.
    """
    counts = _sums_by_category(level, column, n_values)
    n_rows = _rows_by_category(level, column, n_values)
    return best_groups(counts, n_rows, level.sums, criterion, impurity, limits, one_vs_rest)


def best_groups(
    counts: Floats,
    n_rows: NDArray[np.intp],
    node: Floats,
    criterion: Criterion,
    impurity: Floats,
    limits: ChildLimits = ChildLimits(),
    one_vs_rest: bool = False,
) -> SplitCandidates:
    """The same from sums of shape (n_sums, n_nodes, n_values) and numbers of rows, those of the nodes beside them."""
    known, n_known = counts.sum(axis=2), n_rows.sum(axis=1)
    best_gain = np.full(len(n_rows), -np.inf)
    best_left = np.zeros(n_rows.shape, dtype=bool)
    for left in _groupings(counts, n_rows, criterion, one_vs_rest):
        n_left = (n_rows * left).sum(axis=1)
        gain = criterion.gain(
            _saving_within_limits(criterion, (counts * left).sum(axis=2), known, n_left, n_known, limits), node
        )
        better = np.isfinite(gain) & ~(gain <= best_gain + TIE * impurity)
        best_gain[better] = gain[better]
        best_left[better] = np.broadcast_to(left, best_left.shape)[better]
    return _category_candidates(best_gain, np.where(n_rows > 0, np.where(best_left, 0, 1), -1))


def _category_candidates(gain: Floats, route: NDArray[np.intp], weight: Floats | None = None) -> SplitCandidates:
    """The scores of one column of categories."""
    threshold = np.full((1, len(gain)), np.nan)
    return SplitCandidates(gain[np.newaxis], threshold, {0: route}, branch_weight={} if weight is None else {0: weight})


def _groupings(
    counts: Floats, n_rows: NDArray[np.intp], criterion: Criterion, one_vs_rest: bool
) -> Iterator[NDArray[np.bool_]]:
    """The groups to try as left side, each of shape (n_nodes, n_values) or (1, n_values)."""
    n_values = counts.shape[2]
    if one_vs_rest:
        yield from np.eye(n_values, dtype=bool)[:, np.newaxis, :]
        return
    keys = criterion.order_keys(counts)
    if len(keys) > 1 and n_values <= MAX_EXHAUSTIVE:
        # The last category stays on the right: its being on the left would be the same cut, named the other way.
        for mask in range(1, 2 ** (n_values - 1)):
            yield ((mask >> np.arange(n_values)) & 1).astype(bool)[np.newaxis, :]
        return
    for key in keys:
        rank = np.argsort(np.argsort(np.where(n_rows > 0, key, np.inf), axis=1, kind="stable"), axis=1)
        for size in range(1, n_values):
            yield rank < size


def _sums_by_category(level: Level, column: NDArray, n_values: int) -> Floats:
    """Sums of the known entries, of shape (n_sums, n_nodes, n_values)."""
    entry, cell = _category_cells(level, column, n_values)
    n_cells = level.n_nodes * n_values
    sums = np.stack([np.bincount(cell, addend, minlength=n_cells) for addend in level.addend[:, entry]])
    return sums.reshape(len(sums), level.n_nodes, n_values) * level.unit[:, :, np.newaxis]


def _rows_by_category(level: Level, column: NDArray, n_values: int) -> NDArray[np.intp]:
    """Number of known entries, of shape (n_nodes, n_values)."""
    cell = _category_cells(level, column, n_values)[1]
    return np.bincount(cell, minlength=level.n_nodes * n_values).reshape(level.n_nodes, n_values)


def _category_cells(level: Level, column: NDArray, n_values: int) -> tuple[NDArray[np.integer], NDArray[np.intp]]:
    """The entries where the column is known, and which (node, category) they belong to."""
    code = level.values(column, level.entry).astype(np.intp)
    known = np.flatnonzero(code >= 0)
    return level.entry[known], level.node[known] * n_values + code[known]
