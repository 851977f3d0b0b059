"""Histograms: what the rows of a node add up to, bin by bin, which is all that is needed to choose its split.

A level costs one addition for each row and column, however many cuts there are. Two things save more: of two
siblings only the lighter is added up, because the other is their parent minus the lighter; and histograms of blocks of
rows add up, so the blocks may lie on different machines. The sums are whole numbers of units, so they are exact:
neither changes a digit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.growing.binning import BinnedRows
from treekit.growing.fixed_point import GradientSums, GradientUnits, hess
from treekit.growing.monotone import Monotone
from treekit.numeric import ROUNDING, TIE, Floats, Ints, Kind, safe_divide
from treekit.trees.structure import MAJORITY

__all__ = ["histograms", "lighter_and_heavier", "with_siblings", "ChildMinima", "score_bins"]

#: Sums that differ by no more than so many units count as equal, because rounding can do that.
ROUNDING_UNITS = 64


# -- sums of rows -------------------------------------------------------------------------------------------------


def histograms(binned: BinnedRows, added: NDArray[Kind], row: Ints, n_rows: Ints) -> NDArray[Kind]:
    """What some rows add up to in each bin of each column, node by node, of shape (n_nodes, n_cells).

    The histograms of several blocks of rows add up. Takes one addition for each row and column.

    Parameters
    ----------
    binned : BinnedRows
        A block of rows.
    added : array of shape (n_added,)
        What each row adds, from :func:`treekit.growing.fixed_point.to_gradient_sums`; ones to count rows.
    row : integer array of shape (n_added,)
        The rows, node by node.
    n_rows : array of shape (n_nodes,)
        How many of them each node has.
    """
    sums = np.zeros(len(n_rows) * binned.n_cells, dtype=added.dtype)
    # Cell of a row: the cells of the nodes before its own, those of the columns before this one,
    # and the row's bin.
    first = np.repeat(np.arange(len(n_rows)) * binned.n_cells, n_rows)
    for code, first_cell in zip(binned.codes, binned.first_cell):
        np.add.at(sums, first + first_cell + code.take(row), added)
    return sums.reshape(len(n_rows), binned.n_cells)


def lighter_and_heavier(total: GradientSums) -> tuple[Ints, Ints]:
    """Of every two siblings, the one with the smaller H (the left one if they are equal), and the other.

    All left children come first, then all right ones, in the order of their parents.
    """
    h, n_parents = hess(total), len(total) // 2
    lighter = np.arange(n_parents) + n_parents * (h[n_parents:] < h[:n_parents])
    return lighter, (lighter + n_parents) % len(total)


def with_siblings(above: GradientSums, of_lighter: GradientSums, lighter: Ints, heavier: Ints) -> GradientSums:
    """The histograms of all children, from those of their parents and of the lighter of every two siblings.

    The lighter hold about a third of the rows; not adding up the others saves boosting a third of its time (trick:
    lighter siblings).
    """
    n_layers, n_parents, n_cells = above.shape
    histogram = np.empty((n_layers, 2 * n_parents, n_cells), dtype=above.dtype)
    histogram[:, lighter] = of_lighter
    histogram[:, heavier] = above - of_lighter
    return histogram


# -- the best cut -------------------------------------------------------------------------------------------------


def tie_tolerance(saving: Floats | float, objective: Floats, smallest: Floats | float) -> Floats:
    """How far two splits of a node may differ in what they save and yet count as equal.

    They may differ by the fraction TIE of the saving, as in an exact search, and by the rounding of the objective: a
    saving is the difference of two objectives, and if these are large it has few digits. Both are the node's own, so no
    outlier elsewhere hides a split. ``smallest`` is what sums of nothing but rounding would save, see
    :func:`objective_of_rounding`.
    """
    return TIE * np.maximum(saving, 0) + ROUNDING * np.maximum(objective, 0) + smallest


def objective_of_rounding(h: Floats, units: GradientUnits, reg_lambda: float) -> Floats:
    """The objective of groups of rows whose gradients would add up to zero, if they were not rounded: a few units."""
    rounding = ROUNDING_UNITS * units.grad
    return rounding * rounding / np.maximum(h + reg_lambda, units.hess)


class ChildMinima(NamedTuple):
    """The H and the number of rows that each side of a cut must hold; the H is above 0."""

    hess: float
    rows: float = 1


def score_bins(
    histogram: GradientSums,
    total: GradientSums,
    missing: Ints,
    units: GradientUnits,
    reg_lambda: float,
    minima: ChildMinima,
    monotone: Monotone | None = None,
) -> tuple[Floats, Ints, Ints]:
    r"""The best cut of each node on each column of numbers: the one with the largest objective

    .. math:: \frac{G_L^2}{H_L + \lambda} + \frac{G_R^2}{H_R + \lambda}

    The rows where the column is missing are tried on both sides; the last cut is that of all known rows against them.
    Of equal cuts the first wins, with the missing rows on its right.

    Parameters
    ----------
    histogram : array of shape (n_layers, n_nodes, n_columns, n_bins)
        The rows of each node, bin by bin: G + iH, and in a second layer, if there is one, the number of rows.
    total : array of shape (n_layers, n_nodes)
        All rows of each node.
    missing : array of shape (n_columns,)
        The bin of missing values of each column, its last one.
    minima : ChildMinima
        What each side must hold.
    monotone : Monotone, optional
        The constraints on the columns, with the bounds of the nodes.

    Returns
    -------
    objective : array of shape (n_nodes, n_columns)
        The objective above; -inf where there is no cut.
    last : array of shape (n_nodes, n_columns)
        The last bin below the cut.
    branch : array of shape (n_nodes, n_columns)
        Branch of the missing rows; MAJORITY where there are none to learn from.
    """
    missing, total = missing[:, np.newaxis], total[:, :, np.newaxis, np.newaxis]
    if monotone is not None:
        # The cut of the known rows against the missing ones puts no value above another: it is free.
        is_of_values = np.arange(histogram.shape[3]) < missing - 1
        monotone = replace(monotone, sign=monotone.sign * is_of_values)
    of_missing = np.take_along_axis(histogram, missing[np.newaxis, np.newaxis], axis=3)
    below = histogram.cumsum(axis=3)
    objective = to_right = objective_of_cuts(below, total, units, reg_lambda, minima, monotone)
    if of_missing[0].any():
        # A cut needs known rows on either side; only the last one has all of them below it.
        h_below = hess(below[0])
        is_between = (h_below > 0) & (h_below < hess(total[0] - of_missing[0]))
        to_left = objective_of_cuts(below + of_missing, total, units, reg_lambda, minima, monotone)
        to_left = np.where(is_between, to_left, -np.inf)
        np.put_along_axis(is_between, missing[np.newaxis] - 1, True, axis=2)
        to_right = np.where(is_between, to_right, -np.inf)
        objective = np.maximum(to_left, to_right)
    # The first cut whose objective is the largest, up to the tolerance.
    largest = objective.max(axis=2, keepdims=True)
    g, h = units.to_floats(total[0])
    uncut = g * g / np.maximum(h + reg_lambda, units.hess)
    enough = largest - tie_tolerance(largest - uncut, largest, objective_of_rounding(h, units, reg_lambda))
    last = np.argmax(objective >= enough, axis=2)
    to_right = np.take_along_axis(to_right, last[:, :, np.newaxis], axis=2)
    branch = np.where(hess(of_missing[0]) == 0, MAJORITY, np.where(to_right < enough, 0, 1))
    return largest[:, :, 0], last, branch[:, :, 0]


def objective_of_cuts(
    left: GradientSums,
    total: GradientSums,
    units: GradientUnits,
    reg_lambda: float,
    minima: ChildMinima,
    monotone: Monotone | None = None,
) -> Floats:
    """G^2 / (H + lambda) of both sides, added; -inf where a side holds too little."""
    (objective, h), (g, total_h) = units.to_floats(left[0]), units.to_floats(total[0])
    g_right, h_right = g - objective, total_h - h
    too_little = np.minimum(h, h_right) < minima.hess
    for n_left, n in zip(left[1:].real, total[1:].real):
        too_little |= np.minimum(n_left, n - n_left) < minima.rows
    if monotone is not None:
        sides = (objective, h + reg_lambda), (g_right, h_right + reg_lambda)
        return np.where(too_little, -np.inf, objective_in_order(*sides, monotone))
    # In place: new arrays would cost more than the arithmetic.
    with np.errstate(divide="ignore", invalid="ignore"):
        for g, h_side in ((objective, h), (g_right, h_right)):
            h_side += reg_lambda
            g *= g
            g /= h_side
        objective += g_right
    np.copyto(objective, -np.inf, where=too_little)
    return objective


def objective_in_order(left: tuple[Floats, Floats], right: tuple[Floats, Floats], monotone: Monotone) -> Floats:
    r"""The objective if steps are bounded: :math:`-2 G w - (H + \lambda) w^2` of both sides, their steps w moved into
    the bounds of the node, which is :math:`G^2 / (H + \lambda)` where they lie there; -inf where they are in the wrong
    order. Each side is G and :math:`H + \lambda`, of shape (n_nodes, n_columns, n_bins).
    """
    low, high = monotone.bounds[:, :, np.newaxis, np.newaxis]
    w_left, w_right = (np.clip(-safe_divide(g, h), low, high) for g, h in (left, right))
    objective = sum(-w * (2 * g + h * w) for w, (g, h) in zip((w_left, w_right), (left, right)))
    return np.where(monotone.sign * (w_right - w_left) >= 0, objective, -np.inf)
