"""Boosting on many machines: the rows lie in blocks on Dask's workers, and only their sums travel.

A tree is grown from histograms, and histograms of blocks of rows add up. The driver holds no rows. Each worker has an
actor, an object that stays there with the worker's rows and takes one call for each level: it is told how the nodes
split, and returns the histograms of the next level. All sums are of whole numbers and do not depend on their order: the
model is that of one machine, digit for digit, however the rows are cut into blocks.

An actor dies with its worker. Dask then makes the lost blocks again, from the tasks that made them; new actors take
over all blocks and go through the log of what has been decided so far: how nodes split, and by how much leaves moved
the scores. So a worker that dies costs no histogram twice.

The bins are those of one machine too: edges are midpoints between the distinct values of a column, which are brought
together on one worker, column by column, and must fit there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from treekit.growing.binning import Bins, edges_between
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

#: Where no sums are needed.
NO_NODES = np.zeros(0, dtype=np.intp)

#: What the actors were told in one call that changes their state: the name of the method and its arguments.
Told = tuple[str, tuple[Any, ...]]


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
        a parameter needs all rows in one place; otherwise as on one machine, except that messages count rows within
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
    """Some of the training rows of positive weight, perhaps none: as numbers, then as
    :class:`treekit.growing.binning.BinnedRows`."""

    rows: Any
    y: Array
    weight: Floats


class RowsOfWorker:
    """The blocks of one worker side by side: an actor.

    Parameters
    ----------
    blocks : list of Block
        The rows.
    loss : Loss
        What is to be lowered.
    log : list of Told
        What other actors have been told before.
    """

    def __init__(self, blocks: list[Block], loss: Loss, log: list[Told]):
        binned, y, weight = zip(*blocks)
        codes = tuple(map(np.concatenate, zip(*(block.codes for block in binned))))
        self.rows, self.loss = LocalRows(binned[0]._replace(codes=codes)), loss
        self.y, self.weight = np.concatenate(y), np.concatenate(weight)
        for method, decided in log:
            getattr(self, method)(*decided)

    def set_scores(self, start: Floats) -> Floats:
        """Give all rows the same scores, and return what :meth:`finish_round` does."""
        self.score = np.repeat(start[:, np.newaxis], len(self.y), axis=1)
        return self._differentiate()

    def start_trees(self, units: GradientUnits, has_counts: bool, wanted: Ints = NO_NODES) -> NodeRows:
        """Put all rows into the roots, and add up the rows of some roots."""
        r, h = self.derivatives
        self.rows.to_roots(self.loss.n_scores, np.arange(len(self.y)))
        self.rows.learn(to_gradient_sums(-r, h, units), has_counts)
        return self.rows.add_up(wanted)

    def next_level(self, splits: BinSplits, wanted: Ints = NO_NODES) -> NodeRows:
        """Send all rows down one level: see :meth:`treekit.growing.row_store.RowStore.next_level`."""
        return self.rows.next_level(splits, wanted)

    def finish_round(self, per_node: Floats) -> Floats:
        """Move the scores by the steps of the leaves, and return the largest first and second derivative."""
        with np.errstate(over="ignore", invalid="ignore"):
            self.score += self.rows.per_row(self.loss.n_scores, per_node)
        return self._differentiate()

    def _differentiate(self) -> Floats:
        self.derivatives = np.stack(self.loss.derivatives(self.y, self.score)) * self.weight
        return largest_magnitude(self.derivatives).max(axis=1)

    def largest(self, quantity: str) -> Floats:
        """The largest terms of a weighted mean: of the "outcome" of the rows, or of their "loss"."""
        return largest_magnitude(self._terms(quantity))

    def sums(self, quantity: str, unit: Floats) -> Wholes:
        """The sums of these terms, in units."""
        return to_whole(self._terms(quantity), unit).sum(axis=1)

    def _terms(self, quantity: str) -> Floats:
        is_outcome = quantity == "outcome"
        x = self.loss.outcome(self.y) if is_outcome else self.loss.value(self.y, self.score)[np.newaxis]
        return weighted(x, self.weight)


class DaskRows:
    """The training rows in blocks on workers: for the rounds a :class:`treekit.models.boosting.RowsToBoost`, for
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
        self.log: list[Told] = []

    # -- for the rounds

    def best_start(self) -> Floats:
        return self.loss.score_of(self.mean("outcome"))

    def set_scores(self, start: Floats) -> None:
        self.largest_g, self.largest_h = np.maximum.reduce(self.tell("set_scores", start))

    def start_round(self, estimator: Boosting, rng: np.random.Generator) -> float:
        return float(self.largest_g)

    def add_trees(self, estimator: Boosting, rng: np.random.Generator) -> Tree:
        units, has_counts = gradient_units(self.largest_g, self.largest_h, self.n_rows), estimator.min_samples_leaf > 1
        roots = self.tell("start_trees", units, has_counts, wanted=np.arange(self.loss.n_scores))
        trees, per_node = estimator._grower(self.bins, self, units, rng).grow(sum_of_parts(roots))
        steps = estimator.learning_rate * per_node
        self.largest_g, self.largest_h = np.maximum.reduce(self.tell("finish_round", steps))
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
        return sum_of_parts(self.tell("next_level", splits, wanted=wanted))

    # -- the workers

    def tell(self, method: str, *decided: Any, wanted: Ints | None = None) -> list[Any]:
        """Tell all actors what has been decided, write it down, and return their answers as :meth:`ask` does."""
        answers = self.ask(method, *decided, *([] if wanted is None else [wanted]))
        self.log.append((method, decided))
        return answers

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """The answers of all actors; if one is lost, those of new actors that have gone through the log."""
        for tries_left in reversed(range(TRIES)):
            try:
                self.actors = self.actors or self._new_actors()
                methods = [getattr(actor.result(), method) for actor in self.actors]
                return [answer.result() for answer in [call(*arguments) for call in methods]]
            except (OSError, RuntimeError):  # a worker goes in the middle of the call, or has gone before
                self.actors = []
                if not tries_left:
                    raise
        raise AssertionError

    def _new_actors(self) -> list[Future[Any]]:
        """An actor on each worker that holds blocks. It lives as long as its future."""
        wait(self.blocks)
        holders = self.client.who_has(self.blocks)
        of_worker: dict[str, list[Future[Any]]] = defaultdict(list)
        for block in self.blocks:
            of_worker[sorted(holders[block.key])[0]].append(block)
        return [
            self.client.submit(RowsOfWorker, blocks, self.loss, self.log, workers=[worker], actor=True, pure=False)
            for worker, blocks in of_worker.items()
        ]


def sum_of_parts(parts: Sequence[NodeRows]) -> NodeRows:
    """What the rows of all workers add up to."""
    n_rows, sums = zip(*parts)
    return NodeRows(np.add.reduce(n_rows), np.add.reduce(sums))


# -- reading Dask collections -----------------------------------------------------------------------------------


def blocks_of(client: Client, X: Any, y: Any, sample_weight: Any) -> list[list[Any]]:
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
    none = [None] * len(blocks["X"])
    return [
        [part for part, size in zip(blocks.get(name, none), sizes["X"]) if size] for name in ("X", "y", "sample_weight")
    ]


def read(estimator: Boosting, client: Client, X: list[Any], y: list[Any], sample_weight: list[Any]) -> DaskRows:
    """The rows in blocks, put into bins; sets the estimator's columns, and its classes if it has any."""
    submit, map_blocks = partial(client.submit, pure=False), partial(client.map, pure=False)
    estimator._read(submit(first_row, X[0]).result(), reset=True)
    frames = map_blocks(estimator._read, X, reset=False)
    features = estimator._features = merge_features(client.gather(map_blocks(learn_features, frames)))
    classes = None
    if is_classifier(estimator):
        classes = estimator.classes_ = np.unique(np.concatenate(client.gather(map_blocks(labels_in, y))))
    loss = estimator._new_loss()
    check_parameters(estimator, len(features), loss)

    blocks = map_blocks(learning_rows, frames, y, sample_weight, features=features, classes=classes)
    n_rows, smallest, largest = zip(*client.gather(map_blocks(count_and_range, blocks)))
    if sum(n_rows) == 0:
        raise ValueError("sample_weight is zero everywhere: at least one row must count.")
    estimator._check_targets(min(smallest), max(largest))
    edges = [
        submit(edges_of, map_blocks(distinct, blocks, j=j), estimator.max_bins) if feature.is_numeric else np.zeros(0)
        for j, feature in enumerate(features)
    ]
    bins = submit(Bins, features, edges)
    return DaskRows(client, map_blocks(bin_block, blocks, bins=bins), bins.result(), sum(n_rows), loss)


# -- what workers do to read: functions of their arguments alone -------------------------------------------------


def first_row(block: Any) -> Any:
    """The first row of a block, which has all its columns."""
    return block.iloc[:1] if hasattr(block, "iloc") else block[:1]


def merge_features(parts: list[tuple[Feature, ...]]) -> tuple[Feature, ...]:
    """The columns of several blocks."""
    return tuple(merge_feature(columns) for columns in zip(*parts))


def merge_feature(columns: Sequence[Feature]) -> Feature:
    """A column of several blocks; where they have different categories, all of these, sorted."""
    # A column of objects that has no entry in a block may hold either.
    columns = [column for column in columns if column.is_numeric or column.n_values] or columns
    first = columns[0]
    if any(column.is_numeric != first.is_numeric for column in columns):
        raise TypeError(f"X: column {first.name!r} holds numbers in some blocks, text in others: make them one kind.")
    categories = [column.categories for column in columns if column.categories is not None]
    if all(np.array_equal(values, categories[0]) for values in categories):
        return first
    return Feature(first.name, np.unique(np.concatenate(categories)))


def labels_in(y: Any) -> Array:
    """The distinct labels of a block."""
    return np.unique(read_labels(y, len(y)))


def learning_rows(
    frame: pd.DataFrame, y: Any, weight: Any, features: tuple[Feature, ...], classes: Array | None
) -> Block:
    """The rows of a block without those of weight zero; a block, unlike a whole table, may have no others."""
    values = encode(frame, features)
    y = read_targets(y, len(y)) if classes is None else np.searchsorted(classes, read_labels(y, len(y)))
    if weight is None:
        return Block(values, y, np.ones(len(y)))
    # An extra row of weight 1 stands for the other blocks.
    weight = row_weights(np.append(weight, 1.0), len(y) + 1)[:-1]
    kept = weight > 0
    return Block(values[:, kept], y[kept], weight[kept])


def count_and_range(block: Block) -> tuple[int, float, float]:
    """The number of rows, and the smallest and the largest target."""
    y = block.y.astype(float)
    return len(y), y.min(initial=np.inf), y.max(initial=-np.inf)


def distinct(block: Block, j: int) -> tuple[Numbers, bool]:
    """The distinct values of a column of a block, sorted, and whether some are missing."""
    is_missing = np.isnan(block.rows[j])
    return np.unique(block.rows[j][~is_missing]), bool(is_missing.any())


def edges_of(parts: list[tuple[Numbers, bool]], max_bins: int | None) -> Floats:
    """The edges of a column's bins. See :func:`treekit.growing.binning.bin_edges`."""
    values, is_missing = zip(*parts)
    return edges_between(np.unique(np.concatenate(values)), max_bins, any(is_missing))


def bin_block(block: Block, bins: Bins) -> Block:
    """A block in bins."""
    return block._replace(rows=bins.encode(block.rows))
