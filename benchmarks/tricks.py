"""What each trick of speed gains: the same work with the trick and in the plain way. `make tricks` prints the table.

A trick stays while it saves a tenth of the time, and the comment beside it names its row here. Both ways have the same
result: the tests see to that on small tables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import chain
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from sklearn.base import clone

from benchmarks import data
from benchmarks.data import Table
from benchmarks.measure import interleaved
from treekit import CARTClassifier, CARTRegressor, GBDTRegressor, RandomForestClassifier, Tree
from treekit.growing import binning, categories, histogram, histogram_grower, presorted, row_store, thresholds
from treekit.growing.binning import BinnedRows, Codes
from treekit.growing.candidates import SplitCandidates, merge_candidates
from treekit.growing.level import Level
from treekit.models import cart
from treekit.numeric import Array, Bools, Floats, Integers, Ints, Numbers
from treekit.trees import traversal

N_ROUNDS = 7
ENDLESS = 2**60

Job = Callable[[], Array]


class Trick(NamedTuple):
    """A trick, the work that shows it, made for so many rows, and what puts the plain way in its place for a while."""

    name: str
    work: Callable[[int], Job]
    n_rows: int
    without: AbstractContextManager[Any]

    def jobs(self, n_rows: int) -> dict[str, Job]:
        """The work in both ways."""
        job = self.work(n_rows)

        def plainly() -> Array:
            with self.without:
                return job()

        return {"trick": job, "plain": plainly}


# -- the work -----------------------------------------------------------------------------------------------------


def fit(model: Any, table: Callable[[int, int], Table]) -> Callable[[int], Job]:
    """To fit a model; the result holds the column, the threshold and the number of rows of each node of its trees."""

    def work(n_rows: int) -> Job:
        X, y, _ = table(n_rows, 0)
        return lambda: np.concatenate(
            [[tree.feature, tree.threshold, tree.n_samples] for tree in trees_of(clone(model).fit(X, y))], axis=1
        )

    return work


def trees_of(model: Any) -> Iterator[Tree]:
    for member in getattr(model, "estimators_", [model]):
        yield from [member.tree_] if hasattr(member, "tree_") else chain.from_iterable(member.trees_)


def predict(model: Any, table: Callable[[int, int], Table] = data.numbers) -> Callable[[int], Job]:
    """To predict with a model that is fitted to 20,000 rows; the result is the prediction."""

    def work(n_rows: int) -> Job:
        X, y, _ = table(max(n_rows, 20_000), 0)
        fitted = clone(model).fit(X[:20_000], y[:20_000])
        return lambda: np.asarray(fitted.predict(X[:n_rows]))

    return work


def letters(n_rows: int, seed: int) -> Table:
    """Columns of categories, and two classes."""
    frame, _, y = data.categories(n_rows, seed)
    return Table(frame, y)


def skewed(n_rows: int, seed: int) -> Table:
    """Numbers to predict, few of them large: each cut takes some of these away, so trees are deep."""
    X, y, _ = data.numbers(n_rows, seed)
    return Table(X, np.exp(4 * y / y.std()))


# -- the plain ways -----------------------------------------------------------------------------------------------


def each_column_apart(level: Level, x: Numbers, order: Integers, is_cut: Bools, *others: Any) -> SplitCandidates:
    return merge_candidates([thresholds.score_sparse_cuts(level, x[k], order[k], *others) for k in range(len(x))])


def two_indices(level: Level, values: Numbers, columns: Integers, entries: Integers) -> Numbers:
    return values[columns, level.rows(entries)]


def sort_by_branch(entries: Integers, side: Integers, n_branches: int) -> Integers:
    place = np.argsort(side.take(entries), axis=1, kind="stable")
    return np.take_along_axis(entries, place[:, np.count_nonzero(side[entries[0]] == presorted.INACTIVE) :], axis=1)


def masks_of_branches(entries: Integers, side: Integers, n_branches: int) -> Integers:
    side = side.take(entries)
    return np.concatenate([entries[side == b].reshape(len(side), -1) for b in range(n_branches)], axis=1)


def g_and_h_apart(
    binned: BinnedRows, added: Array, row: Ints, n_rows: Ints, add: Callable[..., Array] = histogram.histograms
) -> Array:
    g, h = (add(binned, np.ascontiguousarray(part), row, n_rows) for part in (added.real, added.imag))
    return g + 1j * h


def bins_of_each_value(column: Numbers, edges: Floats) -> Codes:
    code = np.searchsorted(edges, column)
    return code.astype(binning.smallest_unsigned(int(code.max())))


def masks_of_sides(row: Ints, goes_right: Bools) -> tuple[Ints, Ints]:
    return row[~goes_right], row[goes_right]


def both_siblings(total: Array) -> tuple[Ints, Ints]:
    return np.arange(len(total)), np.zeros(0, dtype=np.intp)


def no_single_end(paths: traversal.LevelwiseTraversal, values: Numbers, roots: Ints) -> Ints:
    return np.full((len(roots), values.shape[1]), paths.tree.n_nodes)


# -- the tricks ---------------------------------------------------------------------------------------------------

GINI, ENTROPY = CARTClassifier(max_depth=8), CARTClassifier(criterion="entropy", max_depth=8)
DEEP = CARTRegressor()
FOREST = RandomForestClassifier(n_estimators=5, random_state=0)
TEN = GBDTRegressor(method="newton", max_depth=6, n_estimators=10)
put = patch.multiple

DRAWN_OF_ALL = put(cart, can_score_drawn_columns_alone=lambda *_: False)
TRICKS = [
    Trick("columns in blocks", fit(GINI, data.classes), 100_000, put(presorted, BLOCK=ENDLESS)),
    Trick("all places", fit(GINI, data.classes), 100_000, put(thresholds, score_dense_cuts=each_column_apart)),
    Trick("few cuts", fit(ENTROPY, data.ten_values), 100_000, put(thresholds, BLOCK=ENDLESS)),
    Trick("weights of 1", fit(GINI, data.classes), 100_000, put(thresholds, has_unit_weight_shortcut=lambda *_: False)),
    Trick("one index", fit(GINI, data.classes), 100_000, put(Level, gather=two_indices)),
    Trick("no sort", fit(GINI, data.classes), 100_000, put(presorted, partition_by_branch=sort_by_branch)),
    Trick("places of a mask", fit(GINI, data.classes), 100_000, put(presorted, partition_by_branch=masks_of_branches)),
    Trick("categories looked up", fit(GINI, letters), 100_000, put(categories, CELLS_PER_ENTRY=0)),
    Trick("columns drawn", fit(FOREST, data.classes), 100_000, DRAWN_OF_ALL),
    Trick("columns drawn, few rows", fit(FOREST, data.classes), 1000, DRAWN_OF_ALL),
    Trick("g + ih", fit(TEN, data.numbers), 100_000, put(row_store, histograms=g_and_h_apart)),
    Trick("lighter siblings", fit(TEN, data.numbers), 100_000,
          put(histogram_grower, lighter_and_heavier=both_siblings, with_siblings=lambda _, of_all, *__: of_all)),
    Trick("codes of a byte", fit(TEN, data.numbers), 100_000, put(binning, smallest_unsigned=lambda _: np.int64)),
    Trick("sorted values", fit(clone(TEN).set_params(n_estimators=1), data.numbers), 100_000,
          put(binning, bin_codes=bins_of_each_value)),
    Trick("cells in the cache", fit(clone(TEN).set_params(max_depth=10), data.numbers), 100_000,
          put(histogram_grower, CELLS_AT_A_TIME=ENDLESS)),
    Trick("rows of a side", fit(TEN, data.numbers), 100_000, put(row_store, two_sides=masks_of_sides)),
    Trick("level by level", predict(DEEP), 100_000, put(traversal.LevelwiseTraversal, ends=no_single_end)),
    Trick("rows in blocks", predict(DEEP), 1_000_000, put(traversal, ROWS_AT_ONCE=ENDLESS)),
    Trick("rows set aside", predict(DEEP, skewed), 100_000, put(traversal, FIRST_LEVELS=ENDLESS)),
]  # fmt: skip


def main(names: list[str]) -> None:
    print("CPU seconds\n" + f"{'trick':26} {'rows':>9} {'plain':>8} {'trick':>8} {'ratio':>6}")
    for trick in TRICKS:
        if trick.name in (names or [trick.name]):
            jobs = trick.jobs(trick.n_rows)
            expected, found = (job() for job in jobs.values())
            np.testing.assert_array_equal(found, expected)
            seconds = {way: min(taken) for way, taken in interleaved(jobs, N_ROUNDS).items()}
            slow, fast = seconds["plain"], seconds["trick"]
            print(f"{trick.name:26} {trick.n_rows:9,} {slow:8.3f} {fast:8.3f} {fast / slow:6.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
