"""The values of a column in bins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.growing.fixed_point import GradientSums
from treekit.growing.grow import ChosenSplits
from treekit.growing.thresholds import midpoint
from treekit.numeric import Bools, Floats, Ints, Kind, Numbers
from treekit.reading.encoding import Feature

__all__ = ["Bins", "BinnedRows", "bin_edges", "bin_codes", "learn_bins"]

Codes = NDArray[np.unsignedinteger]


def bin_edges(column: Numbers, max_bins: int | None) -> Floats:
    """Where to cut a column of numbers into bins, of shape (n_bins - 1,), in increasing order.

    The edges are midpoints between neighbouring distinct values. With up to ``max_bins`` distinct values all midpoints
    are edges, so that a histogram can choose whatever an exact search could; None has room for any number of them. With
    more, those edges are kept that leave equally many distinct values in every bin, up to one. Missing values take a
    bin of their own, one of ``max_bins``. Takes O(rows log rows).
    """
    is_missing = np.isnan(column)
    value = np.unique(column[~is_missing])
    return edges_between(value, max_bins, bool(is_missing.any()))


def edges_between(value: Numbers, max_bins: int | None, has_missing: bool) -> Floats:
    """:func:`bin_edges`, from the distinct known values in increasing order."""
    n_bins = len(value) if max_bins is None else min(len(value), max_bins - has_missing)
    last_below = np.arange(1, n_bins) * len(value) // max(n_bins, 1) - 1
    return midpoint(value[last_below], value[last_below + 1])


def bin_codes(column: Numbers, edges: Floats) -> Codes:
    """Bin of each value: the one that ends at the first edge not below the value; that after the last if it is missing.

    Takes O(rows log rows). The edges are looked up among the sorted values, not each value among the edges: bins and
    a first tree take half the time (trick: sorted values).
    """
    by_value = np.argsort(column)  # missing values last
    n_known = len(column) - np.count_nonzero(np.isnan(column))
    end = np.searchsorted(column.take(by_value[:n_known]), edges, side="right")
    n_rows = np.diff(np.concatenate([[0], end, [n_known, len(column)]]))
    largest = int(np.flatnonzero(n_rows).max(initial=0))
    code = np.empty(len(column), dtype=smallest_unsigned(largest))
    code[by_value] = np.repeat(np.arange(len(n_rows)), n_rows)
    return code


def smallest_unsigned(largest: int) -> type[np.unsignedinteger]:
    """The narrowest type of whole numbers that holds a number: a code of up to 256 bins is a byte.

    The codes then take an eighth of the memory of codes of eight bytes, and boosting three quarters of the time (trick:
    codes of a byte).
    """
    return next(kind for kind in (np.uint8, np.uint16, np.uint32) if largest <= np.iinfo(kind).max)


class BinnedRows(NamedTuple):
    """Rows of a table in bins.

    Attributes
    ----------
    codes : tuple of arrays of shape (n_rows,)
        The bin of each row, column by column.
    first_cell : array of shape (n_columns,)
        Where in a histogram the bins of each column begin.
    n_cells : int
        Number of cells of a histogram.
    """

    codes: tuple[Codes, ...]
    first_cell: Ints
    n_cells: int


@dataclass(frozen=True, eq=False)
class Bins:
    """The columns of a table in bins: a number's bin lies between two edges, every category is a bin of its own.

    The last bin of a column is that of its missing values. A histogram holds the bins of all columns side by side, in
    cells: first the columns of numbers, each as wide as the widest of them, then those of categories.

    Attributes
    ----------
    features : tuple of Feature
        The columns.
    edges : tuple of arrays
        The edges of each column of numbers, from :func:`bin_edges`; without any for categories.
    """

    features: tuple[Feature, ...]
    edges: tuple[Floats, ...]

    @cached_property
    def is_numeric(self) -> Bools:
        """Which columns hold numbers."""
        return np.array([feature.is_numeric for feature in self.features])

    @cached_property
    def missing(self) -> Ints:
        """The bin of the missing values of each column, its last one."""
        return np.array([len(e) + 1 if f.is_numeric else f.n_values for f, e in zip(self.features, self.edges)])

    @cached_property
    def width(self) -> int:
        """Number of cells of each column of numbers."""
        return int(self.missing[self.is_numeric].max(initial=0)) + 1

    @cached_property
    def first_cell(self) -> Ints:
        """The cell of each column's first bin."""
        width = np.where(self.is_numeric, self.width, self.missing + 1)
        numbers_first = np.argsort(~self.is_numeric, kind="stable")
        first = np.empty_like(width)
        first[numbers_first] = np.cumsum(width[numbers_first]) - width[numbers_first]
        return first

    @cached_property
    def n_cells(self) -> int:
        """Number of cells of a node's histogram."""
        return int(np.where(self.is_numeric, self.width, self.missing + 1).sum())

    @cached_property
    def upper_edge(self) -> Floats:
        """The edge at which each bin ends, of shape (n_columns, n_bins); infinite after the last edge."""
        upper = np.full((len(self.edges), int(self.missing.max()) + 1), np.inf)
        for row, edges in zip(upper, self.edges):
            row[: len(edges)] = edges
        return upper

    def numbers(self, histogram: NDArray[Kind]) -> NDArray[Kind]:
        """The histograms of all columns of numbers, of shape (..., n_columns, n_bins)."""
        n_columns = int(self.is_numeric.sum())
        return histogram[..., : n_columns * self.width].reshape(*histogram.shape[:-1], n_columns, self.width)

    def of_column(self, histogram: GradientSums, column: Ints) -> GradientSums:
        """The histogram of one column for each node, of shape (n_nodes, n_bins); zeros after its last bin."""
        bin_number = np.arange(self.upper_edge.shape[1])
        # Columns have unequal widths: what is read beyond the last bin of a narrow one belongs to another.
        cell = np.minimum(self.first_cell[column, np.newaxis] + bin_number, self.n_cells - 1)
        sums = np.take_along_axis(histogram, cell, axis=1)
        sums[bin_number > self.missing[column, np.newaxis]] = 0
        return sums

    def branch_of_bins(self, splits: ChosenSplits) -> Ints:
        """The branch that each bin takes at each split, of shape (n_nodes, n_bins); -1 for missing values and where a
        category has no branch.
        """
        branch = (self.upper_edge[splits.feature] > splits.threshold[:, np.newaxis]).astype(np.intp)
        branch[np.arange(branch.shape[1]) >= self.missing[splits.feature, np.newaxis]] = -1
        branch[~self.is_numeric[splits.feature]] = -1
        branch[splits.routes.node, splits.routes.category] = splits.routes.branch
        return branch

    def encode(self, values: Numbers) -> BinnedRows:
        """Rows of a table of shape (n_features, n_rows) in bins, a column at a time."""
        codes: list[Codes] = []
        for feature, edges, column, missing in zip(self.features, self.edges, values, self.missing):
            if feature.is_numeric:
                codes.append(bin_codes(column, edges))
            else:
                codes.append(np.where(column >= 0, column, missing).astype(smallest_unsigned(missing)))
        return BinnedRows(tuple(codes), self.first_cell, self.n_cells)


def learn_bins(values: Numbers, features: tuple[Feature, ...], weight: Floats, max_bins: int | None) -> Bins:
    """The bins of a table of shape (n_features, n_rows); rows of weight zero don't count."""
    counts = np.flatnonzero(weight > 0)
    return Bins(
        features,
        tuple(bin_edges(x.take(counts), max_bins) if f.is_numeric else np.zeros(0) for f, x in zip(features, values)),
    )
