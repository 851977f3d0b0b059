"""Boosting on many machines: the rows lie in blocks on Dask's workers, and only what they add up to travels.

A tree is grown from histograms, and histograms of blocks of rows add up. The driver holds no rows. It asks the workers
for the histograms of a level, chooses the splits, and says which bins go right. All sums are of whole numbers and do not
depend on their order: the model is that of one machine, digit for digit, however the rows are cut into blocks.

What a worker does is a function of its arguments alone, and a worker keeps nothing but results. So when one dies, Dask
works out its results again from those that they came from, and the fit goes on.

The bins are those of one machine too. The distinct values of a column are merged block by block, and the edges laid
between them; so those of one column must fit into a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier

from treekit.growing.binning import BinnedRows, Bins, edges_between
from treekit.growing.candidates import ChildLimits
from treekit.growing.criteria import Newton
from treekit.growing.encoding import Feature, encode, learn_features
from treekit.growing.fixed_point import (
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
from treekit.growing.histogram import HistogramGrower, RowPartition, move, node_histograms
from treekit.models.base import TableEstimator
from treekit.models.boosting import Boosting, check_parameters
from treekit.models.losses import Loss
from treekit.models.validation import read_labels, read_targets, row_weights
from treekit.numeric import Floats, Ints
from treekit.trees.tree import Tree

__all__ = ["fit", "DaskRows"]


try:
    from distributed import Client, Future, get_client
except ImportError as error:
    raise ImportError("A fit on Dask collections needs dask and distributed: pip install 'treekit[dask]'.") from error


#: So many results are combined by one task.
FAN_IN = 8


class Workers:
    """Tasks for Dask's workers."""

    def __init__(self, client: Client):
        self.client = client

    def submit(self, function: Callable, *arguments: Any) -> Future:
        """One task. Arguments that are results of other tasks do not pass through the driver."""
        return self.client.submit(function, *arguments, pure=False)

    def map_blocks(self, function: Callable, *arguments: Any) -> list[Future]:
        """A task for each block: it takes its own item of an argument that is a list, and the whole of any other."""
        n_blocks = next(len(argument) for argument in arguments if isinstance(argument, list))
        own = [argument if isinstance(argument, list) else [argument] * n_blocks for argument in arguments]
        return [self.submit(function, *block) for block in zip(*own)]

    def combine_some(self, combine: Callable, parts: list[Future]) -> list[Future]:
        """Combine some parts at a time, and some of the results again, until only a few are left."""
        while len(parts) > FAN_IN:
            parts = [self.submit(combine, parts[k : k + FAN_IN]) for k in range(0, len(parts), FAN_IN)]
        return parts

    def combine(self, combine: Callable, parts: list[Future]) -> Any:
        """All parts combined, brought to the driver."""
        return combine(self.client.gather(self.combine_some(combine, parts)))


class Block(NamedTuple):
    """Some of the training rows."""

    binned: BinnedRows
    y: NDArray
    weight: Floats


class DaskRows:
    """The training rows in blocks on workers: what boosting asks of them, in one trip for each level of a tree.

    To a growing tree it answers as :class:`treekit.growing.histogram.LocalRows` does.

    Parameters
    ----------
    workers : Workers
        Where the rows are.
    blocks : list of futures
        The rows, as :class:`Block`.
    bins : Bins
        The columns.
    n_rows, n_learning : int
        Their number, and how many of them have positive weight.
    loss : Loss
        What is to be lowered.
    """

    def __init__(self, workers: Workers, blocks: list[Future], bins: Bins, n_rows: int, n_learning: int, loss: Loss):
        self.bins = bins
        self.workers, self.blocks, self.n_rows, self.n_learning, self.loss = workers, blocks, n_rows, n_learning, loss

    def mean(self, function: Callable, *arguments: Any) -> Floats:
        """Weighted mean over all rows of each row of what the function answers for a block."""
        map_blocks, combine = self.workers.map_blocks, self.workers.combine
        unit = unit_for(
            combine(np.maximum.reduce, map_blocks(largest_terms, self.blocks, function, *arguments)), self.n_rows
        )
        return mean_of_sums(
            combine(np.add.reduce, map_blocks(sums_in_units, self.blocks, unit, function, *arguments)), unit
        )

    def best_start(self) -> Floats:
        """The scores that say the mean outcome."""
        return self.loss.score_of(self.mean(outcome, self.loss))

    def set_scores(self, start: Floats) -> None:
        """Begin with the same scores for all rows."""
        self.scores = self.workers.map_blocks(first_scores, self.blocks, start)

    def add_round(self, estimator: Boosting, rng: np.random.Generator) -> list[Tree]:
        """Grow a tree for each score, and move the scores."""
        self.begin_round()
        return [self.add_tree(estimator, k, rng) for k in range(self.loss.n_scores)]

    def add_tree(self, estimator: Boosting, k: int, rng: np.random.Generator) -> Tree:
        """Grow a tree for one score, and move the score."""
        none = np.zeros(0)  # a criterion on sums needs no rows
        criterion = Newton(none, none, estimator.reg_lambda, estimator.gamma)
        choose, stop = estimator._choose(len(self.bins.features), rng), estimator._stop()
        limits = ChildLimits(weight=estimator.min_child_weight)
        grower = HistogramGrower(self.bins, self, criterion, limits, choose, stop)
        tree = grower.grow(*self.begin(k))
        self.step(estimator.learning_rate * tree.value[grower.node, 0])
        return replace(tree, criterion="newton", gain_is_sum=True)

    def begin_round(self) -> None:
        """Work out the derivatives of the loss, and their units."""
        self.derivatives = self.workers.map_blocks(derivatives, self.blocks, self.scores, self.loss)
        largest_of_all = self.workers.combine(
            np.maximum.reduce, self.workers.map_blocks(largest_magnitude, self.derivatives)
        )
        self.units = [gradient_units(g, h, self.n_learning) for g, h in largest_of_all.T]

    def begin(self, k: int) -> tuple[GradientUnits, Ints, GradientSums]:
        """Put all rows into the root of the tree for one score. See :meth:`treekit.growing.histogram.LocalRows.begin`."""
        self.k: int = k
        self.moves: list[tuple[Ints, NDArray[np.bool_]]] = []
        self.pairs = self.workers.map_blocks(gradient_sums_of_score, self.derivatives, self.units[k], k)
        self.places = self.workers.map_blocks(all_in_root, self.blocks)
        n_rows, histogram = self._count_and_sum(np.array([0]))
        assert histogram is not None
        return self.units[k], n_rows, histogram

    def move(self, column: Ints, goes_right: NDArray[np.bool_], nodes: Ints) -> tuple[Ints, GradientSums | None]:
        """Move on to the next level. See :meth:`treekit.growing.histogram.LocalRows.move`."""
        self.moves.append((column, goes_right))
        self.places = self.workers.map_blocks(partition_block, self.blocks, self.places, column, goes_right)
        return self._count_and_sum(nodes)

    def _count_and_sum(self, nodes: Ints) -> tuple[Ints, GradientSums | None]:
        answers = self.workers.map_blocks(count_and_sum, self.blocks, self.pairs, self.places, nodes)
        return self.workers.combine(merge_counts_and_histograms, answers)

    def step(self, of_node: Floats) -> None:
        """Move the scores of the rows by what their node has.

        The rows go down the tree once more. Were the scores made from the places, they would hang on all levels of all
        trees before them, and for a worker that dies all of these would have to be done again.
        """
        step = self.workers.submit(Step, self.k, self.moves, of_node)
        self.scores = self.workers.map_blocks(step_scores, self.blocks, self.scores, step)

    def mean_loss(self) -> float:
        """Mean loss of the rows."""
        return float(self.mean(loss_of_rows, self.scores, self.loss)[0])

    def mean_held_out_loss(self) -> float:
        """Refused by :func:`fit`: no rows are held out on workers."""
        raise NotImplementedError


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
) -> tuple[list[Future], list[Future], list[Future] | None]:
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
    estimator: Boosting, workers: Workers, X: list[Future], y: list[Future], sample_weight: list[Future] | None
) -> DaskRows:
    """The rows in blocks, put into bins; what the estimator remembers of the columns is set."""
    submit, map_blocks, combine_some, combine = (
        workers.submit,
        workers.map_blocks,
        workers.combine_some,
        workers.combine,
    )
    reader = TableEstimator()
    for model in (reader, estimator):
        model._read(submit(first_row, X[0]).result(), reset=True)
    frames = map_blocks(read_block, X, reader)
    estimator._features = features = combine(merge_features, map_blocks(learn_features, frames))
    classes = None
    if is_classifier(estimator):
        estimator.classes_ = classes = combine(merge_labels, map_blocks(labels_in, y))
    loss = estimator._new_loss()
    check_parameters(estimator, len(features), loss)

    values, targets = map_blocks(encode, frames, features), map_blocks(target_of, y, classes)
    estimator._check_targets(*combine(np.maximum.reduce, map_blocks(extremes, targets)) * [-1, 1])
    weights = map_blocks(weights_of, targets, sample_weight)
    n_rows, n_learning = combine(np.add.reduce, map_blocks(count, weights))
    if n_learning == 0:
        raise ValueError("sample_weight is zero everywhere: at least one row must count.")
    # A column's values are brought together on one worker, and only its edges come here.
    edges: list[Any] = [np.zeros(0)] * len(features)
    for j in np.flatnonzero([feature.is_numeric for feature in features]):
        edges[j] = submit(
            edges_of, combine_some(merge_distinct, map_blocks(distinct, values, weights, j)), estimator.max_bins
        )
    bins = submit(Bins, features, edges)
    blocks = map_blocks(bin_block, values, targets, weights, bins)
    return DaskRows(workers, blocks, bins.result(), int(n_rows), int(n_learning), loss)


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


def labels_in(y: Any) -> NDArray:
    """The distinct labels of a block."""
    return np.unique(read_labels(y, len(y)))


def merge_labels(parts: list[NDArray]) -> NDArray:
    """The distinct labels of several blocks."""
    return np.unique(np.concatenate(parts))


def target_of(y: Any, classes: NDArray | None) -> NDArray:
    """The targets of a block, or the codes of its labels."""
    return read_targets(y, len(y)) if classes is None else np.searchsorted(classes, read_labels(y, len(y)))


def extremes(y: NDArray) -> Floats:
    """What the largest of is wanted: of the targets, and of their negatives."""
    return np.array([-y.min(), y.max()], dtype=float)


def weights_of(y: NDArray, weight: Any) -> Floats:
    """The weights of a block, all of which may be zero, as those of a whole table may not."""
    return np.ones(len(y)) if weight is None else row_weights(np.append(weight, 1.0), len(y) + 1)[:-1]


def count(weight: Floats) -> NDArray[np.int64]:
    """Number of rows, and of those that count."""
    return np.array([len(weight), np.count_nonzero(weight)])


def distinct(values: NDArray, weight: Floats, j: int) -> tuple[NDArray, bool]:
    """The distinct values of a column of a block, sorted, and whether some are missing."""
    column = values[j].take(np.flatnonzero(weight > 0))
    is_missing = np.isnan(column)
    return np.unique(column[~is_missing]), bool(is_missing.any())


def merge_distinct(parts: list[tuple[NDArray, bool]]) -> tuple[NDArray, bool]:
    """The same of several blocks."""
    values, is_missing = zip(*parts)
    return np.unique(np.concatenate(values)), any(is_missing)


def edges_of(parts: list[tuple[NDArray, bool]], max_bins: int) -> Floats:
    """The edges of a column's bins. See :func:`treekit.growing.binning.bin_edges`."""
    value, is_missing = merge_distinct(parts)
    return edges_between(value, max_bins - is_missing)


def bin_block(values: NDArray, y: NDArray, weight: Floats, bins: Bins) -> Block:
    """A block in bins."""
    return Block(bins.encode(values), y, weight)


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


def all_in_root(block: Block) -> RowPartition:
    """All rows that count in one node."""
    row = np.flatnonzero(block.weight > 0)
    return RowPartition(row, np.array([0, len(row)]))


def partition_block(block: Block, places: RowPartition, column: Ints, goes_right: NDArray[np.bool_]) -> RowPartition:
    """The places on the next level."""
    return move(block.binned, places, column, goes_right)


def count_and_sum(
    block: Block, pair: GradientSums, places: RowPartition, nodes: Ints
) -> tuple[Ints, GradientSums | None]:
    """The number of rows in each node, and the histograms of some."""
    return places.n_rows, node_histograms(block.binned, pair, places, nodes) if len(nodes) else None


def merge_counts_and_histograms(answers: list[tuple[Ints, GradientSums | None]]) -> tuple[Ints, GradientSums | None]:
    """The answers of several blocks as one."""
    n_rows, added = zip(*answers)
    return sum(n_rows), None if added[0] is None else sum(added)


class Step(NamedTuple):
    """By how much one score moves: the splits of a tree level by level, and what each of its last nodes has."""

    k: int
    moves: list[tuple[Ints, NDArray[np.bool_]]]
    of_node: Floats


def step_scores(block: Block, score: Floats, step: Step) -> Floats:
    """The scores after a tree."""
    n_rows = len(block.y)
    places = RowPartition(np.arange(n_rows), np.array([0, n_rows]))
    for column, goes_right in step.moves:
        places = move(block.binned, places, column, goes_right)
    moved = score.copy()
    moved[step.k, places.row] += np.repeat(step.of_node, places.n_rows)
    return moved


def outcome(block: Block, loss: Loss) -> Floats:
    """What the predictions are to match in the mean."""
    return loss.outcome(block.y)


def loss_of_rows(block: Block, score: Floats, loss: Loss) -> Floats:
    """The loss of each row."""
    return loss.value(block.y, score)[np.newaxis]


def largest_terms(block: Block, function: Callable, *arguments: Any) -> Floats:
    """The largest terms of a weighted mean of the function's answers."""
    return largest_magnitude(weighted(function(block, *arguments), block.weight))


def sums_in_units(block: Block, unit: Floats, function: Callable, *arguments: Any) -> NDArray[np.int64]:
    """The sums of these terms, in units."""
    return to_whole(weighted(function(block, *arguments), block.weight), unit).sum(axis=1)
