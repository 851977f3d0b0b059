"""What each trick of speed gains: the same work with the trick and in the plain way. `make tricks` prints the table.

A trick stays while it gains a tenth of the time or saves memory. The comment beside it names its row here. Both ways
give the same result; the tests see to that on small tables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from sklearn.base import clone

from benchmarks import data
from benchmarks.measure import interleaved
from treekit import CARTClassifier, CARTRegressor, GBDTClassifier, GBDTRegressor, RandomForestClassifier
from treekit.growing import absolute_error, binning, categories, criteria, histogram, level, presorted, thresholds
from treekit.growing.candidates import merge_candidates
from treekit.models import cart, losses
from treekit.numeric import Array
from treekit.trees import batch_traversal, traversal

N_ROUNDS = 7


class Trick(NamedTuple):
    """A trick, the work on so many rows that shows it, and what puts the plain way in its place."""

    name: str
    work: Callable[[int], Callable[[], Array]]
    n_rows: int
    without: AbstractContextManager[Any]


# -- the work: from the number of rows a job, whose result is the same in both ways -----------------------------------


def fit(model: Any, table: Callable[[int, int], Any]) -> Callable[[int], Callable[[], Array]]:
    """Fit; the result is every split."""

    def work(n_rows: int) -> Callable[[], Array]:
        X, y, weight = table(n_rows, 0)
        return lambda: splits(clone(model).fit(X, y, sample_weight=weight))

    return work


def predict(
    model: Any, n_learned: int, table: Callable[[int, int], Any] = data.numbers
) -> Callable[[int], Callable[[], Array]]:
    def work(n_rows: int) -> Callable[[], Array]:
        X, y, _ = table(max(n_rows, n_learned), 0)
        fitted = clone(model).fit(X[:n_learned], y[:n_learned])
        return lambda: fitted.predict(X[:n_rows])

    return work


def splits(model: Any) -> Array:
    """The column, threshold and number of rows of every node of every tree."""
    if hasattr(model, "estimators_"):
        return np.concatenate([splits(member) for member in model.estimators_], axis=1)
    trees = [model.tree_] if hasattr(model, "tree_") else [tree for of_round in model.trees_ for tree in of_round]
    return np.concatenate([[tree.feature, tree.threshold, tree.n_samples] for tree in trees], axis=1)


def letters(n_rows: int, seed: int) -> Any:
    frame, _, y = data.categories(n_rows, seed)
    return frame, y, None


def skewed(n_rows: int, seed: int) -> Any:
    """Targets most of which are small: every cut takes a few large ones away, so trees are deep."""
    X, y, _ = data.numbers(n_rows, seed)
    return X, np.exp(4 * (y - y.mean()) / y.std()), None


# -- the plain ways ---------------------------------------------------------------------------------------------------


def sort_by_branch(entries, side, n_branches):
    side = side.take(entries)
    place = np.argsort(side, axis=1, kind="stable")[:, np.count_nonzero(side[:1] == presorted.INACTIVE) :]
    return np.take_along_axis(entries, place, axis=1)


def masks_by_branch(entries, side, n_branches):
    side = side.take(entries)
    return np.concatenate([entries[side == b].reshape(len(side), -1) for b in range(n_branches)], axis=1)


def cuts_one_by_one(level, x, order, is_cut, *others):
    return merge_candidates([thresholds.score_sparse_cuts(level, x[k], order[k], *others) for k in range(len(x))])


def costs_in_new_arrays(y, start, rank):
    distance = np.abs(y.take(rank) - absolute_error_medians(y, start, rank))
    return np.concatenate([np.zeros((1, rank.shape[1]), dtype=np.int64), np.cumsum(distance, axis=0)])


def two_histograms(binned, addend, row, n_rows, histograms=histogram.histograms):
    if not np.iscomplexobj(addend):
        return histograms(binned, addend, row, n_rows)
    return histograms(binned, addend.real.copy(), row, n_rows) + 1j * histograms(
        binned, addend.imag.copy(), row, n_rows
    )


def histograms_of_picked_rows(binned, addend, row, n_rows):
    sums = np.zeros(len(n_rows) * binned.n_cells, dtype=addend.dtype)
    first, added = np.repeat(np.arange(len(n_rows)) * binned.n_cells, n_rows), addend.take(row)
    for code, first_cell in zip(binned.codes, binned.first_cell):
        np.add.at(sums, first + first_cell + code.take(row), added)
    return sums.reshape(len(n_rows), binned.n_cells)


def split_rows_by_masks(binned, partition, column, goes_right):
    parts = []
    for j, right, first, last in zip(column, goes_right, partition.start[:-1], partition.start[1:]):
        row = partition.row[first:last]
        goes = right[binned.codes[j][row]] if j >= 0 else None
        parts += [row] if goes is None else [row[~goes], row[goes]]
    return histogram.RowPartition(np.concatenate(parts), np.cumsum([0, *map(len, parts)]))


def objective_in_new_arrays(left, total, units, reg_lambda, minima):
    (g, h), (total_g, total_h) = units.to_floats(left.sums), units.to_floats(total.sums)
    too_little = histogram.is_outside(h, total_h, minima.hess)
    if left.counts is not None and total.counts is not None:
        too_little = too_little | histogram.is_outside(left.counts, total.counts, minima.rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        objective = g**2 / (h + reg_lambda) + (total_g - g) ** 2 / (total_h + reg_lambda - h)
    return np.where(too_little, -np.inf, objective)


def codes_by_value(column, edges):
    code = np.searchsorted(edges, column, side="left")
    return code.astype(binning.smallest_unsigned(int(code.max(initial=0))))


from treekit.growing.running_medians import running_medians as absolute_error_medians

search, to_units, score_absolute = cart._search, level.to_units, cart.score_thresholds_absolute

TREE, NUMBERS = CARTClassifier(max_depth=8), CARTRegressor(max_depth=8)
MEDIANS, BINS = (
    CARTRegressor(criterion="absolute_error", max_depth=8),
    GBDTRegressor(order=2, tree_method="hist", max_depth=6, n_estimators=10),
)
HUNDRED = GBDTRegressor(order=2, tree_method="hist", max_depth=6)
by_columns = partial(patch.multiple)
TRICKS = [
    Trick("columns in blocks", fit(TREE, data.classes), 100_000, patch.multiple(presorted, BLOCK=2**60)),
    Trick("columns in blocks, numbers", fit(NUMBERS, data.numbers), 100_000, patch.multiple(presorted, BLOCK=2**60)),
    Trick(
        "all places scored",
        fit(TREE, data.classes),
        100_000,
        patch.multiple(thresholds, score_dense_cuts=cuts_one_by_one),
    ),
    Trick(
        "all places scored, 1000",
        fit(TREE, data.classes),
        1000,
        patch.multiple(thresholds, score_dense_cuts=cuts_one_by_one),
    ),
    Trick(
        "weights of 1",
        fit(TREE, data.classes),
        100_000,
        patch.multiple(thresholds, has_unit_weight_shortcut=lambda *_: False),
    ),
    Trick(
        "weights of 1, numbers",
        fit(NUMBERS, data.numbers),
        100_000,
        patch.multiple(thresholds, has_unit_weight_shortcut=lambda *_: False),
    ),
    Trick("few cuts, Gini", fit(TREE, data.ten_values), 100_000, patch.multiple(thresholds, BLOCK=2**60)),
    Trick(
        "few cuts, entropy",
        fit(CARTClassifier(criterion="entropy", max_depth=8), data.ten_values),
        100_000,
        patch.multiple(thresholds, BLOCK=2**60),
    ),
    Trick(
        "one index",
        fit(TREE, data.classes),
        100_000,
        patch.multiple(level.Level, gather=lambda self, values, columns, entries: values[columns, self.rows(entries)]),
    ),
    Trick(
        "two selections",
        fit(TREE, data.classes),
        100_000,
        patch.multiple(presorted, partition_by_branch=sort_by_branch),
    ),
    Trick(
        "places of a mask",
        fit(TREE, data.classes),
        100_000,
        patch.multiple(presorted, partition_by_branch=masks_by_branch),
    ),
    Trick(
        "short addends",
        fit(NUMBERS, data.numbers),
        100_000,
        patch.multiple(level, to_units=lambda *given: (to_units(*given)[0].astype(np.int64), to_units(*given)[1])),
    ),
    Trick(
        "short addends, classes",
        fit(TREE, data.classes),
        100_000,
        patch.multiple(level, to_units=lambda *given: (to_units(*given)[0].astype(np.int64), to_units(*given)[1])),
    ),
    Trick("short indices", fit(TREE, data.classes), 100_000, patch.multiple(presorted, index_dtype=lambda n: np.int64)),
    Trick(
        "many classes 100",
        fit(CARTClassifier(max_depth=8), partial(data.classes, n_classes=100)),
        2000,
        patch.multiple(criteria, MANY=2**60),
    ),
    Trick(
        "sampled columns",
        fit(RandomForestClassifier(n_estimators=3, random_state=0), data.classes),
        100_000,
        patch.multiple(cart, _search=lambda *given: search(*given[:6], True, given[7])),
    ),
    Trick(
        "sampled columns 1000",
        fit(RandomForestClassifier(n_estimators=10, random_state=0), data.classes),
        1000,
        patch.multiple(cart, _search=lambda *given: search(*given[:6], True, given[7])),
    ),
    Trick("categories looked up", fit(TREE, letters), 100_000, patch.multiple(categories, CELLS_PER_ENTRY=0)),
    Trick(
        "running medians",
        fit(MEDIANS, data.numbers),
        10_000,
        patch.multiple(
            cart,
            score_thresholds_absolute=lambda level, *given: score_absolute(
                replace(level, has_unit_weights=False), *given
            ),
        ),
    ),
    Trick("lists side by side", fit(MEDIANS, data.numbers), 1000, patch.multiple(absolute_error, LISTS=1)),
    Trick("lists within the cache", fit(MEDIANS, data.numbers), 100_000, patch.multiple(absolute_error, LISTS=2**60)),
    Trick(
        "medians in place",
        fit(MEDIANS, data.numbers),
        10_000,
        patch.multiple(absolute_error, costs_of_prefixes=costs_in_new_arrays),
    ),
    Trick("g and h in one", fit(BINS, data.numbers), 100_000, patch.multiple(histogram, histograms=two_histograms)),
    Trick(
        "the root whole",
        fit(clone(BINS).set_params(max_depth=3), data.numbers),
        100_000,
        patch.multiple(histogram, histograms=histograms_of_picked_rows),
    ),
    Trick(
        "the lighter sibling",
        fit(BINS, data.numbers),
        100_000,
        patch.multiple(
            histogram,
            lighter_and_heavier=lambda total: (np.arange(len(total)), np.arange(0)),
            with_siblings=lambda above, of_all, *_: of_all,
        ),
    ),
    Trick(
        "codes of a byte",
        fit(BINS, data.numbers),
        100_000,
        patch.multiple(binning, smallest_unsigned=lambda largest: np.uint64),
    ),
    Trick(
        "edges looked up",
        fit(clone(BINS).set_params(n_estimators=1, max_depth=1), data.numbers),
        100_000,
        patch.multiple(binning, bin_codes=codes_by_value),
    ),
    Trick(
        "cells in the cache",
        fit(clone(BINS).set_params(max_depth=10), data.numbers),
        100_000,
        patch.multiple(histogram, CELLS_AT_A_TIME=2**60),
    ),
    Trick(
        "objective in place",
        fit(HUNDRED, data.numbers),
        1000,
        patch.multiple(histogram, objective_of_cuts=objective_in_new_arrays),
    ),
    Trick(
        "objective in place 100000",
        fit(BINS, data.numbers),
        100_000,
        patch.multiple(histogram, objective_of_cuts=objective_in_new_arrays),
    ),
    Trick(
        "rows of a mask", fit(BINS, data.numbers), 100_000, patch.multiple(histogram, split_rows=split_rows_by_masks)
    ),
    Trick(
        "softplus",
        fit(GBDTClassifier(order=2, tree_method="hist", max_depth=3, n_estimators=20), data.classes),
        100_000,
        patch.multiple(losses.LogisticLoss, value=lambda self, y, score: np.logaddexp(0, score[0]) - y * score[0]),
    ),
    Trick("rows together", predict(CARTRegressor(), 20_000), 1_000_000, patch.multiple(traversal, ROWS_AT_ONCE=2**60)),
    Trick(
        "leaves set aside",
        predict(CARTRegressor(), 20_000, skewed),
        100_000,
        patch.multiple(traversal, FIRST_LEVELS=2**60),
    ),
    Trick(
        "trees in batches",
        predict(HUNDRED, 10_000),
        100_000,
        patch.multiple(batch_traversal, can_be_batched=lambda trees: False),
    ),
    Trick(
        "trees in batches 1000",
        predict(HUNDRED, 10_000),
        1000,
        patch.multiple(batch_traversal, can_be_batched=lambda trees: False),
    ),
    Trick("64 trees", predict(HUNDRED, 10_000), 100_000, patch.multiple(batch_traversal, TREES_AT_ONCE=16)),
    Trick("64 trees 1000", predict(HUNDRED, 10_000), 1000, patch.multiple(batch_traversal, TREES_AT_ONCE=16)),
    Trick(
        "answers in the cache",
        predict(HUNDRED, 10_000),
        100_000,
        patch.multiple(batch_traversal, ROWS_ANSWERED_AT_ONCE=2**60),
    ),
]


def without(trick: Trick, job: Callable[[], Array]) -> Callable[[], Array]:
    """The job in the plain way."""

    def plainly() -> Array:
        with trick.without:
            return job()

    return plainly


def main(names: list[str]) -> None:
    print(f"{'trick':32} {'rows':>9} {'plain s':>9} {'trick s':>9} {'ratio':>6}")
    for trick in TRICKS:
        if names and not any(trick.name.startswith(n) for n in names):
            continue
        job = trick.work(trick.n_rows)
        try:
            np.testing.assert_array_equal(job(), without(trick, job)())
        except AssertionError as e:
            print("DIFFER", trick.name, str(e)[:300])
        seconds = interleaved({"trick": job, "plain": without(trick, job)}, N_ROUNDS)
        fast, plain = min(seconds["trick"]), min(seconds["plain"])
        print(f"{trick.name:32} {trick.n_rows:9,} {plain:9.4f} {fast:9.4f} {fast / plain:6.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
