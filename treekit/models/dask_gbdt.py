"""Boosting on many machines: the rows lie in blocks on Dask's workers, and only their sums travel.

A tree is grown from histograms, and histograms of blocks of rows add up. The driver holds no rows. For each level it
gets the histograms from the workers, chooses the splits, and sends back which bins go right. All sums are of whole
numbers and do not depend on their order: the model is that of one machine, digit for digit, however the rows are cut
into blocks.

Every task is a function of its arguments alone, and a worker keeps nothing but results. So when one dies, Dask computes
its results again from those that they came from, and the fit goes on.

The bins are those of one machine too. The distinct values of a column are merged block by block, and the edges are
midpoints between them; so the distinct values of one column must fit into a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from treekit.growing.binning import BinnedRows, Bins, edges_between
from treekit.growing.criteria import Newton
from treekit.growing.fixed_point import (
    INTEGER_BITS,
    GradientSums,
    GradientUnits,
    gradient_units,
    largest_magnitude,
    mean_of_sums,
    to_gradient_sums,
    to_whole,
    unit_for,
    weighted,
)
from treekit.growing.histogram import (
    HistogramGrower,
    Histograms,
    RowPartition,
    add_histograms,
    all_in_root,
    count_and_sum_rows,
    split_rows,
)
from treekit.models.base import TableEstimator
from treekit.models.boosting import Boosting, check_parameters, without_zero_weight
from treekit.models.losses import Loss
from treekit.numeric import Array, Bools, Floats, Ints, Numbers, Wholes
from treekit.reading.encoding import Feature, encode, learn_features
from treekit.reading.validation import read_labels, read_targets, row_weights
from treekit.trees.tree import Tree

__all__ = ["fit", "DaskRows"]


try:
    from distributed import Client, Future, get_client
except ImportError as error:
    message = "A fit on Dask collections needs Dask: pip install 'dask[array,dataframe]' distributed"
    raise ImportError(message) from error


#: So many results are combined by one task.
FAN_IN = 8


class Workers:
    """Tasks for Dask's workers. A future stands for the result of a task, which stays on the worker that did it."""

    def __init__(self, client: Client):
        self.client = client

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """One task, ``function(*arguments)``. A future among the arguments is replaced by its result on the worker.

        ``pure=False``: Dask would otherwise compare the contents of all arguments to find a task that was done before.
        """
        return self.client.submit(function, *arguments, pure=False)

    def map_blocks(self, function: Callable[..., Any], *arguments: Any) -> list[Future[Any]]:
        """A task for each block of rows.

        Of an argument that is a list, with an entry for each block, a task takes its own entry; any other argument is
        the same for all tasks. One argument at least is a list.
        """
        n_blocks = next(len(argument) for argument in arguments if isinstance(argument, list))
        per_block = [argument if isinstance(argument, list) else [argument] * n_blocks for argument in arguments]
        return [self.submit(function, *of_block) for of_block in zip(*per_block)]

    def combine_some(self, combine: Callable[..., Any], parts: list[Future[Any]]) -> list[Future[Any]]:
        """Combine the results of all blocks in a tree of tasks, FAN_IN at a time, until no more than that are left.

        ``combine`` makes one result of a list of results, and of its own results; the order must not matter.
        """
        while len(parts) > FAN_IN:
            parts = [self.submit(combine, parts[k : k + FAN_IN]) for k in range(0, len(parts), FAN_IN)]
        return parts

    def combine(self, combine: Callable[..., Any], parts: list[Future[Any]]) -> Any:
        """The results of all blocks combined into one, which is brought to the driver."""
        return combine(self.client.gather(self.combine_some(combine, parts)))


class Block(NamedTuple):
    """Some of the training rows."""

    binned: BinnedRows
    y: Array
    weight: Floats


class DaskRows:
    """The training rows in blocks on workers: a :class:`treekit.models.boosting.RowsToBoost` to the rounds, and to a
    growing tree a :class:`treekit.growing.histogram.RowStore`. A level of a tree takes one trip to the workers.

    Parameters
    ----------
    workers : Workers
        Where the rows are.
    blocks : list of futures
        The rows, as :class:`Block`.
    bins : Bins
        The columns.
    n_rows : int
        Number of rows.
    loss : Loss
        What is to be lowered.
    """

    def __init__(self, workers: Workers, blocks: list[Future[Any]], bins: Bins, n_rows: int, loss: Loss):
        self.workers, self.blocks, self.bins, self.n_rows, self.loss = workers, blocks, bins, n_rows, loss

    # -- for the rounds

    def best_start(self) -> Floats:
        return self.loss.score_of(self.mean(outcome, self.loss))

    def set_scores(self, start: Floats) -> None:
        self.scores = self.workers.map_blocks(first_scores, self.blocks, start)

    def start_round(self, estimator: Boosting, rng: np.random.Generator) -> float:
        map_blocks, combine = self.workers.map_blocks, self.workers.combine
        self.derivatives = map_blocks(derivatives, self.blocks, self.scores, self.loss)
        largest_g, largest_h = combine(np.maximum.reduce, map_blocks(largest_magnitude, self.derivatives))
        self.units = [gradient_units(g, h, self.n_rows) for g, h in zip(largest_g, largest_h)]
        return float(largest_g.max())

    def add_trees(self, estimator: Boosting, rng: np.random.Generator) -> list[Tree]:
        return [self.add_tree(estimator, k, rng) for k in range(self.loss.n_scores)]

    def mean_loss(self) -> float:
        return float(self.mean(loss_of_rows, self.scores, self.loss)[0])

    def mean_held_out_loss(self) -> float:
        raise NotImplementedError("fit refuses to hold out rows on workers.")

    def mean(self, function: Callable[..., Any], *arguments: Any) -> Floats:
        """Weighted mean over all rows of each row of the array that the function makes of a block."""
        map_blocks, combine = self.workers.map_blocks, self.workers.combine
        largest = combine(np.maximum.reduce, map_blocks(largest_terms, self.blocks, function, *arguments))
        unit = unit_for(largest, self.n_rows, INTEGER_BITS)
        sums = combine(np.add.reduce, map_blocks(sums_in_units, self.blocks, unit, function, *arguments))
        return mean_of_sums(sums, unit)

    # -- for a growing tree

    def add_tree(self, estimator: Boosting, k: int, rng: np.random.Generator) -> Tree:
        """Grow a tree for one score, and move the score."""
        none = np.zeros(0)  # a criterion on sums needs no rows
        criterion = Newton(none, none, estimator.reg_lambda, estimator.gamma)
        choose, stop, limits = estimator._choose(len(self.bins.features), rng), estimator._stop(), estimator._limits()
        grower = HistogramGrower(self.bins, self, criterion, limits, choose, stop)
        tree = grower.grow(*self.start_tree(k, limits.rows))
        self.step(k, estimator.learning_rate * tree.value[grower.node, 0])
        return tree

    def start_tree(self, k: int, min_rows: float) -> tuple[GradientUnits, Ints, Histograms]:
        """Put all rows into the root of the tree for one score: see
        :meth:`treekit.growing.histogram.LocalRows.start_tree`.
        """
        self.has_counts = min_rows > 1
        self.path: list[tuple[Ints, Bools]] = []
        self.addends = self.workers.map_blocks(gradient_sums_of_score, self.derivatives, self.units[k], k)
        self.partitions = self.workers.map_blocks(block_in_root, self.blocks)
        n_rows, histogram = self._count_and_sum(np.array([0]))
        assert histogram is not None
        return self.units[k], n_rows, histogram

    def next_level(self, column: Ints, goes_right: Bools, nodes: Ints) -> tuple[Ints, Histograms | None]:
        self.path.append((column, goes_right))
        self.partitions = self.workers.map_blocks(split_block, self.blocks, self.partitions, column, goes_right)
        return self._count_and_sum(nodes)

    def squared_error(self) -> Floats:
        raise NotImplementedError("fit refuses order=1 on workers.")

    def _count_and_sum(self, nodes: Ints) -> tuple[Ints, Histograms | None]:
        parts = self.workers.map_blocks(
            count_and_sum, self.blocks, self.addends, self.partitions, nodes, self.has_counts
        )
        return self.workers.combine(merge_counts_and_histograms, parts)

    def step(self, k: int, per_node: Floats) -> None:
        """Move a score of the rows by the step of the node where they end.

        The rows go down the tree once more. If the scores were made from the partitions, they would depend on all
        levels of all trees before, and when a worker dies all of these would have to be computed again.
        """
        step = self.workers.submit(Step, k, self.path, per_node)
        self.scores = self.workers.map_blocks(step_scores, self.blocks, self.scores, step)


def fit(estimator: Boosting, X: Any, y: Any, sample_weight: Any = None) -> None:
    """Fit a boosting estimator to Dask collections; ``estimator.fit`` calls it when X is one.

    Parameters
    ----------
    estimator : GBDTRegressor or GBDTClassifier
        With ``order=2`` and ``tree_method="hist"``, all rows in every round and none held out.
    X : Dask data frame, or Dask array of shape (n_rows, n_features)
        The table, in blocks of rows.
    y, sample_weight : Dask series or arrays of shape (n_rows,)
        Targets or labels, and weights, in the same blocks; arrays are cut as X is, where it is an array.

    Raises
    ------
    ValueError, TypeError
        If no Dask client runs, if the sizes of an array's chunks are not known, if the blocks of X and y differ, or if
        a parameter needs all rows in one place; otherwise as on one machine.
    """
    for name, value in dict(order=2, tree_method="hist", subsample=1, n_iter_no_change=None).items():
        if getattr(estimator, name) != value:
            raise ValueError(f"On Dask collections {name} must be {value!r}; got {getattr(estimator, name)!r}.")
    try:
        client = get_client()
    except ValueError as error:
        raise ValueError("X is a Dask collection: start a dask.distributed.Client first.") from error
    estimator._boost(read(estimator, Workers(client), *blocks_of(client, X, y, sample_weight)))


# -- reading Dask collections -----------------------------------------------------------------------------------


def blocks_of(
    client: Client, X: Any, y: Any, sample_weight: Any
) -> tuple[list[Future[Any]], list[Future[Any]], list[Future[Any]] | None]:
    """The blocks of X, y and the weights, side by side, without those that are empty; None for no weights."""
    named = {"X": X, "y": y} | ({} if sample_weight is None else {"sample_weight": sample_weight})
    for name, collection in named.items():
        if not hasattr(collection, "__dask_graph__"):
            raise TypeError(f"X is a Dask collection, so {name} must be one too; got {type(collection).__name__}.")
        if hasattr(collection, "chunks") and np.isnan(collection.chunks[0]).any():
            raise ValueError(f"{name} has chunks of unknown sizes; call {name}.compute_chunk_sizes() first.")
    if hasattr(X, "chunks"):
        # A row lies in one block, and what belongs to it in the same one.
        named["X"] = X.rechunk({1: -1})
        named |= {n: c.rechunk({0: X.chunks[0]}) for n, c in named.items() if hasattr(c, "chunks") and len(c) == len(X)}
    blocks = {name: client.compute(np.ravel(collection.to_delayed()).tolist()) for name, collection in named.items()}
    sizes = {name: client.gather(client.map(len, parts, pure=False)) for name, parts in blocks.items()}
    for name, size in sizes.items():
        if size != sizes["X"]:
            raise ValueError(f"Blocks of X have {sizes['X']} rows, those of {name} {size}: they must be the same.")
    if sum(sizes["X"]) == 0:
        raise ValueError("X is empty: 0 sample(s) while a minimum of 1 is required.")
    filled = {name: [part for part, size in zip(parts, sizes["X"]) if size] for name, parts in blocks.items()}
    return filled["X"], filled["y"], filled.get("sample_weight")


def read(
    estimator: Boosting,
    workers: Workers,
    X: list[Future[Any]],
    y: list[Future[Any]],
    sample_weight: list[Future[Any]] | None,
) -> DaskRows:
    """The rows in blocks, put into bins; the estimator gets its columns, and its classes if it has any."""
    map_blocks, combine = workers.map_blocks, workers.combine
    frames = read_frames(estimator, workers, X)
    features = estimator._features = combine(merge_features, map_blocks(learn_features, frames))
    if is_classifier(estimator):
        estimator.classes_ = combine(merge_labels, map_blocks(labels_in, y))
    loss = estimator._new_loss()
    check_parameters(estimator, len(features), loss)

    targets = map_blocks(target_of, y, getattr(estimator, "classes_", None))
    rows = map_blocks(learning_rows, map_blocks(encode, frames, features), targets, sample_weight)
    n_rows = combine(sum, map_blocks(count, rows))
    if n_rows == 0:
        raise ValueError("sample_weight is zero everywhere: at least one row must count.")
    estimator._check_targets(*combine(np.maximum.reduce, map_blocks(extremes, rows)) * [-1, 1])
    bins = workers.submit(Bins, features, find_edges(workers, rows, features, estimator.max_bins))
    return DaskRows(workers, map_blocks(bin_block, rows, bins), bins.result(), int(n_rows), loss)


def read_frames(estimator: Boosting, workers: Workers, X: list[Future[Any]]) -> list[Future[Any]]:
    """The blocks of X as data frames, with the columns of the first one, which the estimator remembers."""
    first, reader = workers.submit(first_row, X[0]).result(), TableEstimator()
    for model in (reader, estimator):
        model._read(first, reset=True)
    return workers.map_blocks(read_block, X, reader)


def find_edges(workers: Workers, rows: list[Future[Any]], features: tuple[Feature, ...], max_bins: int) -> list[Any]:
    """The edges of each column's bins, as futures; the values of a column are brought together on one worker."""
    edges: list[Any] = [np.zeros(0)] * len(features)
    for j in np.flatnonzero([feature.is_numeric for feature in features]):
        values = workers.combine_some(merge_distinct, workers.map_blocks(distinct, rows, j))
        edges[j] = workers.submit(edges_of, values, max_bins)
    return edges


# -- what workers do: functions of their arguments alone ---------------------------------------------------------


def first_row(block: Any) -> Any:
    """The first row of a block, which has all its columns."""
    return block.iloc[:1] if hasattr(block, "iloc") else block[:1]


def read_block(block: Any, reader: TableEstimator) -> pd.DataFrame:
    """A block of X as a data frame."""
    return reader._read(block, reset=False)


def merge_features(parts: list[tuple[Feature, ...]]) -> tuple[Feature, ...]:
    """The columns of several blocks."""
    return tuple(merge_feature(columns) for columns in zip(*parts))


def merge_feature(columns: Sequence[Feature]) -> Feature:
    """A column of several blocks; where they have different categories, all of these, sorted."""
    first = columns[0]
    if any(column.is_numeric != first.is_numeric for column in columns):
        raise TypeError(f"X: column {first.name!r} holds numbers in some blocks and text in others.")
    categories = [column.categories for column in columns if column.categories is not None]
    if all(np.array_equal(values, categories[0]) for values in categories):
        return first
    return Feature(first.name, np.unique(np.concatenate(categories)))


def labels_in(y: Any) -> Array:
    """The distinct labels of a block."""
    return np.unique(read_labels(y, len(y)))


def merge_labels(parts: list[Array]) -> Array:
    """The distinct labels of several blocks."""
    return np.unique(np.concatenate(parts))


def target_of(y: Any, classes: Array | None) -> Array:
    """The targets of a block, or the codes of its labels."""
    return read_targets(y, len(y)) if classes is None else np.searchsorted(classes, read_labels(y, len(y)))


class LearningRows(NamedTuple):
    """The rows of a block that have positive weight; a block may have none."""

    values: Numbers
    y: Array
    weight: Floats


def learning_rows(values: Numbers, y: Array, weight: Any) -> LearningRows:
    """The rows of a block without those of weight zero, all of which may be, as those of a whole table may not."""
    if weight is None:
        return LearningRows(values, y, np.ones(len(y)))
    # An extra row of weight 1 stands for the other blocks.
    weight = row_weights(np.append(weight, 1.0), len(y) + 1)[:-1]
    return LearningRows(*without_zero_weight(values, y, weight))


def count(rows: LearningRows) -> int:
    """Number of rows."""
    return len(rows.y)


def extremes(rows: LearningRows) -> Floats:
    """(-smallest, largest) target: the maximum over blocks of both gives the range."""
    y = rows.y.astype(float)
    return np.array([(-y).max(initial=-np.inf), y.max(initial=-np.inf)])


def distinct(rows: LearningRows, j: int) -> tuple[Numbers, bool]:
    """The distinct values of a column of a block, sorted, and whether some are missing."""
    is_missing = np.isnan(rows.values[j])
    return np.unique(rows.values[j][~is_missing]), bool(is_missing.any())


def merge_distinct(parts: list[tuple[Numbers, bool]]) -> tuple[Numbers, bool]:
    """The same of several blocks."""
    values, is_missing = zip(*parts)
    return np.unique(np.concatenate(values)), any(is_missing)


def edges_of(parts: list[tuple[Numbers, bool]], max_bins: int) -> Floats:
    """The edges of a column's bins. See :func:`treekit.growing.binning.bin_edges`."""
    value, is_missing = merge_distinct(parts)
    return edges_between(value, max_bins - is_missing)


def bin_block(rows: LearningRows, bins: Bins) -> Block:
    """A block in bins."""
    return Block(bins.encode(rows.values), rows.y, rows.weight)


def first_scores(block: Block, start: Floats) -> Floats:
    """The same scores for all rows."""
    return np.repeat(start[:, np.newaxis], len(block.y), axis=1)


def derivatives(block: Block, score: Floats, loss: Loss) -> Floats:
    """Weighted first and second derivatives of the loss by each score, of shape (2, n_scores, n_rows)."""
    r, h = loss.derivatives(block.y, score)
    return np.stack([-r * block.weight, h * block.weight])


def gradient_sums_of_score(derivatives: Floats, units: GradientUnits, k: int) -> GradientSums:
    """The derivatives by one score, in units."""
    return to_gradient_sums(derivatives[0, k], derivatives[1, k], units)


def block_in_root(block: Block) -> RowPartition:
    """All rows of a block in one node."""
    return all_in_root(np.arange(len(block.y)))


def split_block(block: Block, partition: RowPartition, column: Ints, goes_right: Bools) -> RowPartition:
    """The rows of a block on the next level."""
    return split_rows(block.binned, partition, column, goes_right)


def count_and_sum(
    block: Block, addend: GradientSums, partition: RowPartition, nodes: Ints, has_counts: bool
) -> tuple[Ints, Histograms | None]:
    """The number of rows in each node, and the histograms of some."""
    return count_and_sum_rows(block.binned, addend, partition, nodes, has_counts)


def merge_counts_and_histograms(parts: list[tuple[Ints, Histograms | None]]) -> tuple[Ints, Histograms | None]:
    """The results of several blocks as one."""
    n_rows, added = zip(*parts)
    return sum(n_rows), None if added[0] is None else add_histograms(added)


class Step(NamedTuple):
    """By how much one score moves: the splits of a tree level by level, and the step of each of its last nodes."""

    k: int
    path: list[tuple[Ints, Bools]]
    per_node: Floats


def step_scores(block: Block, score: Floats, step: Step) -> Floats:
    """The scores after a tree."""
    partition = block_in_root(block)
    for column, goes_right in step.path:
        partition = split_block(block, partition, column, goes_right)
    moved = score.copy()
    moved[step.k, partition.row] += np.repeat(step.per_node, partition.n_rows)
    return moved


def outcome(block: Block, loss: Loss) -> Floats:
    """What the predictions should match in the mean."""
    return loss.outcome(block.y)


def loss_of_rows(block: Block, score: Floats, loss: Loss) -> Floats:
    """The loss of each row."""
    return loss.value(block.y, score)[np.newaxis]


def largest_terms(block: Block, function: Callable[..., Any], *arguments: Any) -> Floats:
    """The largest terms of a weighted mean of the function's values."""
    return largest_magnitude(weighted(function(block, *arguments), block.weight))


def sums_in_units(block: Block, unit: Floats, function: Callable[..., Any], *arguments: Any) -> Wholes:
    """The sums of these terms, in units."""
    return to_whole(weighted(function(block, *arguments), block.weight), unit).sum(axis=1)
