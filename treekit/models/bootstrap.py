"""Bootstrap samples: which rows each member of an ensemble sees, and what the members without a row predict for it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any
from warnings import warn

import numpy as np
from sklearn.metrics import accuracy_score

from treekit.numeric import Floats, Ints
from treekit.reading.validation import generator
from treekit.trees.structure import majority

__all__ = ["OutOfBag", "bootstrap_counts", "draw_seeds", "oob_accuracy"]


def bootstrap_counts(weight: Floats, rng: np.random.Generator) -> Ints:
    """How often each row is drawn, when as many rows as have a weight are drawn with replacement.

    A sample lacks each of n rows with probability :math:`(1 - 1/n)^n \\approx 0.368`, :eq:`eq-left-out`. A row of
    weight zero is never drawn: it does not count as a row.
    """
    row = np.flatnonzero(weight > 0)
    sampled = row[rng.integers(len(row), size=len(row))]
    return np.bincount(sampled, minlength=len(weight))


def draw_seeds(random_state: Any) -> Iterator[int]:
    """A seed for each member, one after the other, without end: adding members changes no earlier one."""
    rng = generator(random_state)
    while True:
        yield int(rng.integers(2**31))


class OutOfBag:
    """Mean prediction, for each row, of the members whose sample left it out.

    Attributes
    ----------
    total : array of shape (n_rows, n_values)
        Sum of the members' predictions.
    n_predictions : array of shape (n_rows,)
        Number of members that it sums over.
    """

    def __init__(self, weight: Floats, n_values: int):
        self.weight, self.n_values = weight, n_values
        self.n_predictions = np.zeros(len(weight), dtype=np.intp)

    @cached_property
    def total(self) -> Floats:
        # Made when it is needed: many rows of many classes take much room.
        return np.zeros((len(self.weight), self.n_values))

    def add(self, row: Ints | slice, predictions: Floats, counts: Ints) -> None:
        """Add what members predict for some rows, (n_members, n_rows, n_values), where their samples lack the row."""
        left_out = (counts == 0) & (self.weight[row] > 0)
        self.total[row] += np.where(left_out[:, :, np.newaxis], predictions, 0.0).sum(axis=0)
        self.n_predictions[row] += left_out.sum(axis=0)

    @property
    def mean(self) -> Floats:
        """The mean predictions; NaN for a row that every sample holds."""
        n_predictions = self.n_predictions[:, np.newaxis]
        return np.divide(self.total, n_predictions, out=np.full(self.total.shape, np.nan), where=n_predictions > 0)

    def rows_predicted(self) -> Ints:
        """The rows with a prediction; a warning says how many have none, and if none has one that is an error."""
        if not self.n_predictions.any():
            raise ValueError(
                "oob_score: no row was left out of any sample, so there is nothing to score; give more rows or raise "
                "n_estimators."
            )
        n_without = np.count_nonzero((self.n_predictions == 0) & (self.weight > 0))
        if n_without:
            warn(
                f"oob_score: {n_without} rows are in the sample of every tree, so they have no out-of-bag prediction "
                "and are left out of the score; raise n_estimators.",
                stacklevel=4,
            )
        return np.flatnonzero(self.n_predictions)


def oob_accuracy(out_of_bag: OutOfBag, code: Ints) -> float:
    """Share of the weight for which the out-of-bag prediction is the right class."""
    row = out_of_bag.rows_predicted()
    return float(accuracy_score(code[row], majority(out_of_bag.mean[row]), sample_weight=out_of_bag.weight[row]))
