"""Boosting on many machines: the rows lie in blocks on Dask's workers, and only their sums travel.

A tree is grown from histograms, and histograms of blocks of rows add up. The driver holds no rows. Each worker has an
actor, an object that stays there with the worker's blocks and takes one call for each level: it learns how the nodes
split, and answers with the histograms of the next level. All sums are of whole numbers and do not depend on their
order: the model is that of one machine, digit for digit, however the rows are cut into blocks.

An actor dies with its worker. Dask then makes the lost blocks again, from the tasks that made them; new actors take
over all blocks, and the driver tells them what has been decided so far: how the finished trees split and by how much
their leaves moved the scores, and the levels of the present trees. So a worker that dies costs no histogram twice.

The bins are those of one machine too: edges are midpoints between the distinct values of a column, which are brought
together on one worker, column by column, and must fit there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from treekit.growing.binning import BinnedRows, Bins, edges_between
from treekit.growing.fixed_point import (
    INTEGER_BITS,
    GradientUnits,
    gradient_units,
    largest_magnitude,
    mean_of_sums,
    to_gradient_sums,
    to_whole,
    unit_for,
    weighted,
)
from treekit.growing.row_store import BinSplits, LocalRows, NodeRows
from treekit.models.base import TableEstimator
from treekit.models.boosting import Boosting, check_parameters
from treekit.models.losses import Loss
from treekit.numeric import Array, Floats, Ints, Numbers, Wholes
from treekit.reading.encoding import Feature, encode, learn_features
from treekit.reading.validation import read_labels, read_targets, row_weights
from treekit.trees.tree import Tree

__all__ = ["fit", "DaskRows", "RowsOfWorker"]


try:
    from distributed import Client, Future, get_client, wait
except ImportError as error:
    message = "A fit on Dask collections needs Dask: pip install 'dask[array,dataframe]' distributed"
    raise ImportError(message) from error


#: How often a call is tried when workers die in it.
TRIES = 4


def fit(estimator: Boosting, X: Any, y: Any, sample_weight: Any = None) -> None:
    """Fit a boosting estimator to Dask collections; ``estimator.fit`` calls it when X is one.

    Parameters
    ----------
    estimator : GBDTRegressor or GBDTClassifier
        With ``method="newton"``, all rows in every round and none held out.
    X : Dask data frame, or Dask array of shape (n_rows, n_features)
        The table, in blocks of rows.
    y, sample_weight : Dask series or arrays of shape (n_rows,)
        Targets or labels, and weights, in the same blocks; arrays are cut as X is, where it is an array.

    Raises
    ------
    ValueError, TypeError
        If no Dask client runs, if the sizes of an array's chunks are not known, if the blocks of X and y differ, or if
        a parameter needs all rows in one place; otherwise as on one machine, but that a message counts rows within
        their block.
    """
    for name, value in dict(method="newton", subsample=1, n_iter_no_change=None).items():
        if getattr(estimator, name) != value:
            raise ValueError(f"On Dask collections {name} must be {value!r}; got {getattr(estimator, name)!r}.")
    try:
        client = get_client()
    except ValueError as error:
        raise ValueError("X is a Dask collection: start a dask.distributed.Client first.") from error
    estimator._boost(read(estimator, client, *blocks_of(client, X, y, sample_weight)))


# -- the rows of a worker, and of all ---------------------------------------------------------------------------


class Block(NamedTuple):
    """Some of the training rows."""

    binned: BinnedRows
    y: Array
    weight: Floats


class Round(NamedTuple):
    """What was decided in a round: the splits of each level, and by how much each node moves the scores."""

    splits: list[BinSplits]
    per_node: Floats


class RowsOfWorker:
    """The blocks of one worker: an actor.

    Parameters
    ----------
    blocks : list of Block
        The rows.
    loss : Loss
        What is to be lowered.
    """

    def __init__(self, blocks: list[Block], loss: Loss):
        self.blocks, self.loss = blocks, loss
        self.rows = [LocalRows(block.binned) for block in blocks]

    def set_scores(self, start: Floats) -> Floats:
        """Give all rows the same scores; answers as :meth:`finish_round`."""
        self.scores = [np.repeat(start[:, np.newaxis], len(block.y), axis=1) for block in self.blocks]
        return self._differentiate()

    def start_trees(self, units: GradientUnits, has_counts: bool) -> NodeRows:
        """Put all rows into the roots, and add them up."""
        self._to_roots()
        parts = []
        for rows, (r, h) in zip(self.rows, self.derivatives):
            parts.append(rows.learn(to_gradient_sums(-r, h, units), has_counts))
        return sum_of_parts(parts)

    def next_level(self, splits: BinSplits, wanted: Ints) -> NodeRows:
        """Send all rows down one level: see :meth:`treekit.growing.row_store.RowStore.next_level`."""
        return sum_of_parts([rows.next_level(splits, wanted) for rows in self.rows])

    def finish_round(self, per_node: Floats) -> Floats:
        """Move the scores by the steps of the leaves; answers with the largest first and second derivative."""
        with np.errstate(over="ignore", invalid="ignore"):
            for rows, score in zip(self.rows, self.scores):
                score += rows.per_row(self.loss.n_scores, per_node)
        return self._differentiate()

    def replay(self, rounds: list[Round]) -> None:
        """Go through finished rounds again, without adding up."""
        for splits, per_node in rounds:
            self._to_roots()
            for rows in self.rows:
                for of_level in splits:
                    rows.split(of_level)
            self.finish_round(per_node)

    def largest(self, quantity: str) -> Floats:
        """The largest terms of a weighted mean: of the "outcome" of the rows, or of their "loss"."""
        return np.maximum.reduce([largest_magnitude(terms) for terms in self._terms(quantity)])

    def sums(self, quantity: str, unit: Floats) -> Wholes:
        """The sums of these terms, in units."""
        return np.add.reduce([to_whole(terms, unit).sum(axis=1) for terms in self._terms(quantity)])

    def _terms(self, quantity: str) -> Iterator[Floats]:
        for k, (_, y, weight) in enumerate(self.blocks):
            x = self.loss.outcome(y) if quantity == "outcome" else self.loss.value(y, self.scores[k])[np.newaxis]
            yield weighted(x, weight)

    def _differentiate(self) -> Floats:
        self.derivatives = [
            np.stack(self.loss.derivatives(block.y, score)) * block.weight
            for block, score in zip(self.blocks, self.scores)
        ]
        return np.maximum.reduce([largest_magnitude(both).max(axis=1) for both in self.derivatives])

    def _to_roots(self) -> None:
        for block, rows in zip(self.blocks, self.rows):
            rows.to_roots(self.loss.n_scores, np.arange(len(block.y)))


def sum_of_parts(parts: Sequence[NodeRows]) -> NodeRows:
    """What several blocks of rows add up to."""
    n_rows, sums = zip(*parts)
    return NodeRows(np.add.reduce(n_rows), np.add.reduce(sums))


class DaskRows:
    """The training rows in blocks on workers: a :class:`treekit.models.boosting.RowsToBoost` to the rounds, and to
    growing trees a :class:`treekit.growing.row_store.RowStore`.

    Parameters
    ----------
    client : Client
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

    def __init__(self, client: Client, blocks: list[Future[Any]], bins: Bins, n_rows: int, loss: Loss):
        self.client, self.blocks, self.bins, self.n_rows, self.loss = client, blocks, bins, n_rows, loss
        self.actors: list[Future[Any]] = []
        self.start: Floats | None = None
        self.rounds: list[Round] = []
        self.roots: tuple[GradientUnits, bool] | None = None
        self.splits: list[BinSplits] = []

    # -- for the rounds

    def best_start(self) -> Floats:
        return self.loss.score_of(self.mean("outcome"))

    def set_scores(self, start: Floats) -> None:
        self.largest_g, self.largest_h = np.maximum.reduce(self.ask("set_scores", start))
        self.start = start

    def start_round(self, estimator: Boosting, rng: np.random.Generator) -> float:
        return float(self.largest_g)

    def add_trees(self, estimator: Boosting, rng: np.random.Generator) -> Tree:
        units = gradient_units(self.largest_g, self.largest_h, self.n_rows)
        roots = units, estimator.min_samples_leaf > 1
        rows = sum_of_parts(self.ask("start_trees", *roots))
        self.roots, self.splits = roots, []
        trees, per_node = estimator._grower(self.bins, self, units, rng).grow(rows)
        steps = estimator.learning_rate * per_node
        self.largest_g, self.largest_h = np.maximum.reduce(self.ask("finish_round", steps))
        self.rounds.append(Round(self.splits, steps))
        self.roots = None
        return trees

    def mean_loss(self) -> float:
        return float(self.mean("loss")[0])

    def mean_held_out_loss(self) -> float:
        raise NotImplementedError("fit refuses to hold out rows on workers.")

    def mean(self, quantity: str) -> Floats:
        """Weighted mean over all rows, of the "outcome" or of the "loss"."""
        unit = unit_for(np.maximum.reduce(self.ask("largest", quantity)), self.n_rows, INTEGER_BITS)
        return mean_of_sums(np.add.reduce(self.ask("sums", quantity, unit)), unit)

    # -- for growing trees

    def next_level(self, splits: BinSplits, wanted: Ints) -> NodeRows:
        below = sum_of_parts(self.ask("next_level", splits, wanted))
        self.splits.append(splits)
        return below

    # -- the workers

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """The answers of all actors; where one is lost, of new ones that have caught up."""
        for attempt in range(TRIES):
            try:
                if not self.actors:
                    self.actors = self._new_actors()
                    self._catch_up()
                return self._ask_once(method, *arguments)
            except OSError:
                self.actors = []
                if attempt == TRIES - 1:
                    raise
        raise AssertionError

    def _ask_once(self, method: str, *arguments: Any) -> list[Any]:
        try:
            methods = [getattr(actor.result(), method) for actor in self.actors]
        except RuntimeError as error:
            raise OSError(str(error)) from error  # Dask knows already that a worker is gone
        return [answer.result() for answer in [call(*arguments) for call in methods]]

    def _new_actors(self) -> list[Future[Any]]:
        """An actor on each worker that holds blocks. It lives as long as its future."""
        wait(self.blocks)
        holders = self.client.who_has(self.blocks)
        of_worker: dict[str, list[Future[Any]]] = defaultdict(list)
        for block in self.blocks:
            of_worker[sorted(holders[block.key])[0]].append(block)
        return [
            self.client.submit(RowsOfWorker, blocks, self.loss, workers=[worker], actor=True, pure=False)
            for worker, blocks in of_worker.items()
        ]

    def _catch_up(self) -> None:
        """Tell new actors what has been decided."""
        if self.start is None:
            return
        self._ask_once("set_scores", self.start)
        self._ask_once("replay", self.rounds)
        if self.roots is not None:
            self._ask_once("start_trees", *self.roots)
            for splits in self.splits:
                self._ask_once("next_level", splits, splits.node[:0])


# -- reading Dask collections -----------------------------------------------------------------------------------


def blocks_of(
    client: Client, X: Any, y: Any, sample_weight: Any
) -> tuple[list[Future[Any]], list[Future[Any]], list[Future[Any] | None]]:
    """The blocks of X, y and the weights, side by side, without those that are empty."""
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
    return filled["X"], filled["y"], filled.get("sample_weight", [None] * len(filled["X"]))


def read(
    estimator: Boosting,
    client: Client,
    X: list[Future[Any]],
    y: list[Future[Any]],
    sample_weight: list[Future[Any] | None],
) -> DaskRows:
    """The rows in blocks, put into bins; the estimator gets its columns, and its classes if it has any."""
    first, reader = client.submit(first_row, X[0], pure=False).result(), TableEstimator()
    for model in (reader, estimator):
        model._read(first, reset=True)
    frames = client.map(read_block, X, reader=reader, pure=False)
    features = merge_features(client.gather(client.map(learn_features, frames, pure=False)))
    estimator._features, classes = features, None
    if is_classifier(estimator):
        labels = client.gather(client.map(labels_in, y, pure=False))
        classes = estimator.classes_ = np.unique(np.concatenate(labels))
    loss = estimator._new_loss()
    check_parameters(estimator, len(features), loss)

    rows = client.map(learning_rows, frames, y, sample_weight, features=features, classes=classes, pure=False)
    n_rows, ranges = zip(*client.gather(client.map(count_and_range, rows, pure=False)))
    if sum(n_rows) == 0:
        raise ValueError("sample_weight is zero everywhere: at least one row must count.")
    estimator._check_targets(*np.maximum.reduce(ranges) * [-1, 1])
    edges = [
        client.submit(edges_of, client.map(distinct, rows, j=j, pure=False), estimator.max_bins, pure=False)
        if feature.is_numeric
        else np.zeros(0)
        for j, feature in enumerate(features)
    ]
    bins = client.submit(Bins, features, edges, pure=False)
    return DaskRows(client, client.map(bin_block, rows, bins=bins, pure=False), bins.result(), sum(n_rows), loss)


# -- what workers do to read: functions of their arguments alone -------------------------------------------------


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
    # A column of objects without any entry in a block may hold either.
    columns = [column for column in columns if column.is_numeric or column.n_values] or columns
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


class LearningRows(NamedTuple):
    """The rows of a block that have positive weight; a block may have none."""

    values: Numbers
    y: Array
    weight: Floats


def learning_rows(
    frame: pd.DataFrame, y: Any, weight: Any, features: tuple[Feature, ...], classes: Array | None
) -> LearningRows:
    """The rows of a block without those of weight zero, all of which may be, as those of a whole table may not."""
    values = encode(frame, features)
    y = read_targets(y, len(y)) if classes is None else np.searchsorted(classes, read_labels(y, len(y)))
    if weight is None:
        return LearningRows(values, y, np.ones(len(y)))
    # An extra row of weight 1 stands for the other blocks.
    weight = row_weights(np.append(weight, 1.0), len(y) + 1)[:-1]
    kept = weight > 0
    return LearningRows(values[:, kept], y[kept], weight[kept])


def count_and_range(rows: LearningRows) -> tuple[int, Floats]:
    """The number of rows, and (-smallest, largest) target: the maximum over blocks of both gives the range."""
    y = rows.y.astype(float)
    return len(y), np.array([(-y).max(initial=-np.inf), y.max(initial=-np.inf)])


def distinct(rows: LearningRows, j: int) -> tuple[Numbers, bool]:
    """The distinct values of a column of a block, sorted, and whether some are missing."""
    is_missing = np.isnan(rows.values[j])
    return np.unique(rows.values[j][~is_missing]), bool(is_missing.any())


def edges_of(parts: list[tuple[Numbers, bool]], max_bins: int | None) -> Floats:
    """The edges of a column's bins. See :func:`treekit.growing.binning.bin_edges`."""
    values, is_missing = zip(*parts)
    return edges_between(np.unique(np.concatenate(values)), max_bins, any(is_missing))


def bin_block(rows: LearningRows, bins: Bins) -> Block:
    """A block in bins."""
    return Block(bins.encode(rows.values), rows.y, rows.weight)
