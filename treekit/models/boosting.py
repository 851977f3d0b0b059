"""The rounds of boosting, for any target and any loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from treekit.growing.binning import Bins, learn_bins
from treekit.growing.candidates import ChildLimits, largest_gain, largest_gain_among_sampled
from treekit.growing.criteria import Newton
from treekit.growing.feature_sampling import RankedColumns
from treekit.growing.fixed_point import (
    GradientUnits,
    gradient_units,
    largest_magnitude,
    to_gradient_sums,
    weighted_mean,
)
from treekit.growing.grow import StoppingRule
from treekit.growing.histogram_grower import HistogramGrower
from treekit.growing.row_store import LocalRows, RowStore
from treekit.models.base import TableEstimator, TrainingTable
from treekit.models.cart import CARTRegressor, Samples
from treekit.models.losses import ROUNDING_OF_SCORES, Loss
from treekit.models.side_by_side import n_at_once
from treekit.numeric import Array, Floats, Numbers, sum_in_turn
from treekit.reading.encoding import all_numbers
from treekit.reading.validation import check_choice, check_number, count_features, generator, read_signs
from treekit.trees.roots import join_trees, split_roots
from treekit.trees.tree import Tree

__all__ = ["Boosting", "RowsToBoost", "RowsInMemory", "check_parameters"]

#: Rows whose scores are found together, and rows x trees whose steps are held at a time.
ROWS_SCORED_AT_ONCE, STEPS_AT_ONCE = 2**13, 2**20

#: A gradient above this is refused: the square of a sum of many would be infinite.
LARGEST_GRADIENT = 1e140


class RowsToBoost(Protocol):
    """What the rounds need from the training rows, which may lie in memory or on Dask's workers."""

    loss: Loss

    def best_start(self) -> Floats:
        """The scores that minimise the loss before the first round, of shape (n_scores,)."""

    def set_scores(self, start: Floats) -> None:
        """Give all rows the same scores."""

    def start_round(self, estimator: Boosting, rng: np.random.Generator) -> float:
        """Draw the rows to learn from, work out the derivatives, and return the largest gradient times weight."""

    def add_trees(self, estimator: Boosting, rng: np.random.Generator) -> Tree:
        """Grow a tree for each score, as one with many roots, and move the scores of the rows by the shrunken steps."""

    def mean_loss(self) -> float:
        """Mean loss of the rows that the last round learned from."""

    def mean_held_out_loss(self) -> float:
        """Mean loss of the rows that are held out."""


class Boosting(TableEstimator):
    """Boosting for any loss; a subclass chooses the loss and turns scores into predictions."""

    forest_: Tree
    loss_: Loss
    start_: Floats
    train_score_: Floats
    validation_score_: Floats

    @property
    def _reads_by_column(self) -> bool:  # type: ignore[override]
        # Newton boosting puts columns into bins one after the other; they need not lie in one stretch.
        return self.method == "gradient"

    def _new_loss(self) -> Loss:
        """The loss that the parameters name."""
        raise NotImplementedError

    def _check_targets(self, smallest: float, largest: float, where: str = "everywhere") -> None:
        """Refuse targets that the loss does not allow."""

    def _boost(self, rows: RowsToBoost) -> None:
        """Start with the best constant, then add a tree to each score, round by round."""
        rng, loss = generator(self.random_state), rows.loss
        start = rows.best_start() if self.base_score is None else loss.score_of(self.base_score)
        if not np.isfinite(start).all():
            raise ValueError("y times sample_weight leaves the range of floats: divide y by a constant.")
        rows.set_scores(start)
        trees: list[Tree] = []
        train_score: list[float] = []
        validation_score: list[float] = []
        while len(trees) < self.n_estimators:
            self._refuse_divergence(rows.start_round(self, rng), LARGEST_GRADIENT, len(trees) + 1)
            trees.append(rows.add_trees(self, rng))
            train_score.append(rows.mean_loss())
            self._refuse_divergence(train_score[-1], np.finfo(float).max, len(trees))
            if self.n_iter_no_change is not None:
                validation_score.append(rows.mean_held_out_loss())
            self._report_progress(train_score, validation_score)
            if self.n_iter_no_change is not None and stopped_improving(
                validation_score, self.n_iter_no_change, self.tol
            ):
                break
        self.loss_, self.start_, self.train_score_ = loss, start, np.array(train_score)
        self.forest_ = join_trees(trees)
        if self.n_iter_no_change is not None:
            self.validation_score_ = np.array(validation_score)

    def _refuse_divergence(self, size: float, largest: float, number: int) -> None:
        """Stop in a round in which the gradients or the loss are too large; ``size`` may be NaN."""
        if not size <= largest:
            raise ValueError(
                f"In round {number} the loss or its gradients have reached {size:g}, beyond what floats can square and "
                f"add up. If the loss rose from round to round, lower learning_rate (now {self.learning_rate!r}); "
                "otherwise divide y, base_score or sample_weight by a constant."
            )

    def _grower(self, bins: Bins, rows: RowStore, units: GradientUnits, rng: np.random.Generator) -> HistogramGrower:
        """What grows the trees of second-order boosting on some rows."""
        n_sampled, n_features = count_features(self.max_features, len(bins.features)), len(bins.features)
        choose = largest_gain if n_sampled == n_features else largest_gain_among_sampled(n_sampled, [rng])
        stop = StoppingRule(np.inf if self.max_depth is None else self.max_depth)
        limits = ChildLimits(self.min_samples_leaf, self.min_child_weight)
        criterion, monotone = Newton(self.reg_lambda, self.gamma), read_signs(self.monotonic_cst, bins.features)
        return HistogramGrower(bins, rows, units, criterion, limits, choose, stop, monotone)

    def _fit_in_memory(self, table: TrainingTable, loss: Loss) -> None:
        """Fit on rows that lie on this machine."""
        check_parameters(self, len(table.features), loss)
        train, held_out = self._hold_out(table.y, table.weight)
        y, learns = table.y, train > 0
        smallest, largest = y.min(initial=y.max(), where=learns), y.max(initial=y.min(), where=learns)
        self._check_targets(smallest, largest, "in all rows that are not held out")
        rows = RowsForCART if self.method == "gradient" else RowsInBins
        self._boost(rows(self, table, train, held_out, loss))

    def _hold_out(self, y: Array, weight: Floats) -> tuple[Floats, Floats]:
        """The weights of the rows to learn from, and of those to stop by: for each row one of the two is zero."""
        if self.n_iter_no_change is None:
            return weight, np.zeros_like(weight)
        row, share = np.arange(len(weight)), self.validation_fraction
        stratify = y if hasattr(self, "classes_") else None
        try:
            kept, _ = train_test_split(row, test_size=float(share), random_state=self.random_state, stratify=stratify)
        except ValueError as error:
            raise ValueError(f"validation_fraction={share!r} can't be held out of {len(row)} rows: {error}") from error
        train = np.zeros_like(weight)
        train[kept] = weight[kept]
        return train, weight - train

    def _report_progress(self, train_score: list[float], validation_score: list[float]) -> None:
        """Print how far the fit has come, after every ``verbose``-th round."""
        if self.verbose and len(train_score) % self.verbose == 0:
            held_out = f", held out {validation_score[-1]:.6g}" if validation_score else ""
            print(f"round {len(train_score)} of {self.n_estimators}: loss {train_score[-1]:.6g}{held_out}", flush=True)

    def _staged_scores(self, X: ArrayLike) -> Iterator[Floats]:
        """Scores of the rows after each round, of shape (n_scores, n_rows)."""
        values = self._values(X)
        score = np.repeat(self.start_[:, np.newaxis], values.shape[1], axis=1)
        for steps in self._steps(values):
            steps[0] += score
            stages = np.cumsum(steps, axis=0)
            yield from stages
            score = stages[-1]

    def _scores(self, X: ArrayLike) -> Floats:
        """Scores of the rows, of shape (n_scores, n_rows); takes the memory of one block of rows beside them."""
        values = self._values(X)
        scores = np.repeat(self.start_[:, np.newaxis], values.shape[1], axis=1)
        for start in range(0, values.shape[1], ROWS_SCORED_AT_ONCE):
            block = slice(start, start + ROWS_SCORED_AT_ONCE)
            for steps in self._steps(values[:, block]):
                steps[0] += scores[:, block]
                scores[:, block] = sum_in_turn(steps)
        return scores

    def _steps(self, values: Numbers) -> Iterator[Floats]:
        """By how much each round moves the scores, of shape (n_rounds, n_scores, n_rows), some rounds at a time."""
        n_scores, n_rows = len(self.start_), values.shape[1]
        n_at_once = max(1, STEPS_AT_ONCE // max(n_scores * n_rows, 1)) * n_scores
        for first in range(0, self.forest_.n_roots, n_at_once):
            steps = self.forest_.values_below_roots(values, slice(first, first + n_at_once))
            yield self.learning_rate * steps.reshape(-1, n_scores, n_rows)

    @property
    def n_estimators_(self) -> int:
        """Number of rounds, fewer than ``n_estimators`` where the loss on the held-out rows stopped falling."""
        check_is_fitted(self)
        return self.forest_.n_roots // len(self.start_)

    @property
    def trees_(self) -> list[list[Tree]]:
        """The trees of each round, one for each score."""
        check_is_fitted(self)
        if "_rounds_" not in vars(self):
            trees, n_scores = split_roots(self.forest_), len(self.start_)
            self._rounds_ = [trees[first : first + n_scores] for first in range(0, len(trees), n_scores)]
        return self._rounds_

    @property
    def feature_importances_(self) -> Floats:
        """Share of each column in what the splits of all trees save, of shape (n_features,); zeros without splits."""
        check_is_fitted(self)
        return self.forest_.importances()


class RowsInMemory:
    """The training rows of boosting on this machine; see :class:`RowsToBoost`. A subclass grows the trees.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Targets, or codes of the labels.
    train, held_out : arrays of shape (n_rows,)
        Weights of the rows to learn from, and of those to stop by; each row is zero in one of them.
    loss : Loss
        What is to be lowered.
    """

    def __init__(self, y: Array, train: Floats, held_out: Floats, loss: Loss):
        self.y, self.train, self.held_out, self.loss = y, train, held_out, loss

    def best_start(self) -> Floats:
        return self.loss.start(self.y, self.train)

    def set_scores(self, start: Floats) -> None:
        self.score = np.repeat(start[:, np.newaxis], len(self.y), axis=1)

    def start_round(self, estimator: Boosting, rng: np.random.Generator) -> float:
        self.in_bag = subsample_rows(self.train, estimator.subsample, rng)
        self.loss.adapt(self.y, self.score, self.in_bag)
        self.derivatives = self.loss.derivatives(self.y, self.score)
        return float(largest_magnitude(self.derivatives[0]).max() * self.in_bag.max())

    def add_trees(self, estimator: Boosting, rng: np.random.Generator) -> Tree:
        trees, steps = self.grow(estimator, rng)
        with np.errstate(over="ignore", invalid="ignore"):  # a loss that is not finite ends boosting with an error
            self.score += estimator.learning_rate * steps
        self.losses = self.loss.value(self.y, self.score)[np.newaxis]
        return trees

    def grow(self, estimator: Boosting, rng: np.random.Generator) -> tuple[Tree, Floats]:
        """A tree for each score, and what they predict for the rows, in the bag or not, of shape (n_scores, n_rows)."""
        raise NotImplementedError

    def mean_loss(self) -> float:
        return float(weighted_mean(self.losses, self.in_bag)[0])

    def mean_held_out_loss(self) -> float:
        return float(weighted_mean(self.losses, self.held_out)[0])


class RowsForCART(RowsInMemory):
    """The rows of first-order boosting: CART grows its trees on the residuals, as on any target."""

    def __init__(self, estimator: Boosting, table: TrainingTable, train: Floats, held_out: Floats, loss: Loss):
        super().__init__(table.y, train, held_out, loss)
        self.table = table
        # Sorted once for all trees.
        self.ranked = RankedColumns(table.values) if all_numbers(table.features) else None

    def grow(self, estimator: Boosting, rng: np.random.Generator) -> tuple[Tree, Floats]:
        n_scores, n = len(self.score), n_at_once(len(self.y))
        parts = [self.grow_some(estimator, slice(first, first + n), rng) for first in range(0, n_scores, n)]
        trees, steps = zip(*parts)
        return join_trees(trees), np.concatenate(steps)

    def grow_some(self, estimator: Boosting, some: slice, rng: np.random.Generator) -> tuple[Tree, Floats]:
        """The trees of some scores, side by side, and what they predict for the rows."""
        score, r, h = self.score[some], *(derivative[some] for derivative in self.derivatives)
        cart = CARTRegressor(
            max_depth=estimator.max_depth,
            min_samples_leaf=estimator.min_samples_leaf,
            max_features=estimator.max_features,
            max_surrogates=0,
        )
        samples = Samples(None, [int(rng.integers(2**31)) for _ in score], self.ranked)
        table = self.table._replace(y=target_of_trees(r, self.in_bag), weight=self.in_bag)
        trees = cart._grow(table, samples)
        leaf = trees.ends_below_roots(table.values)
        # Every leaf moves by the step that is best for the loss itself.
        y, weight = np.tile(self.y, len(score)), np.tile(self.in_bag, len(score))
        best = self.loss.line_search(y, score.ravel(), r.ravel(), h.ravel(), weight, leaf.ravel(), trees.n_nodes)
        value = np.where(trees.is_leaf, best, trees.value[:, 0])[:, np.newaxis]
        return replace(trees, value=value, only_leaves_predict=True), value[leaf, 0]


class RowsInBins(RowsInMemory):
    """The rows of second-order boosting, in bins."""

    def __init__(self, estimator: Boosting, table: TrainingTable, train: Floats, held_out: Floats, loss: Loss):
        super().__init__(table.y, train, held_out, loss)
        self.values, self.bins = table.values, learn_bins(table.values, table.features, train, estimator.max_bins)
        self.rows = LocalRows(self.bins.encode(table.values))

    def grow(self, estimator: Boosting, rng: np.random.Generator) -> tuple[Tree, Floats]:
        learns, left_out = np.flatnonzero(self.in_bag > 0), np.flatnonzero(self.in_bag == 0)
        r, h = (derivative * self.in_bag for derivative in self.derivatives)
        units = gradient_units(largest_magnitude(r).max(), largest_magnitude(h).max(), len(learns))
        # Where each h is 1, as for the squared error of rows without weights, H is the number of rows.
        has_counts = estimator.min_samples_leaf > 1 and bool((h.take(learns, axis=1) != 1).any())
        self.rows.to_roots(len(r), learns)
        self.rows.learn(to_gradient_sums(-r, h, units), has_counts)
        roots = self.rows.add_up(np.arange(len(r)))
        trees, per_node = estimator._grower(self.bins, self.rows, units, rng).grow(roots)
        steps = self.rows.per_row(len(r), per_node)
        if len(left_out):
            rest = self.values.take(left_out, axis=1)
            steps[:, left_out] = trees.values_below_roots(rest)[:, :, 0]
        return trees, steps


def target_of_trees(r: Floats, weight: Floats) -> Floats:
    """The residuals of each score as CART is to see them: 0 in rows that do not count, which must not shift the mean,
    and without their last digits, so that rows whose residuals differ by rounding alone agree."""
    target = np.where(weight > 0, r, 0.0)
    unit = ROUNDING_OF_SCORES * np.spacing(largest_magnitude(target))[:, np.newaxis]
    return np.rint(target / unit) * unit


def subsample_rows(weight: Floats, share: float, rng: np.random.Generator) -> Floats:
    """The weights of a random share of the rows, drawn without replacement and at least one; zero for the others."""
    if share == 1:
        return weight
    row = np.flatnonzero(weight > 0)
    sampled = rng.permutation(row)[: max(1, int(share * len(row)))]
    in_bag = np.zeros_like(weight)
    in_bag[sampled] = weight[sampled]
    return in_bag


def stopped_improving(loss: list[float], n_rounds: int, tol: float) -> bool:
    """Whether the last loss is not more than ``tol`` below any of the ``n_rounds`` losses before it."""
    before = loss[-n_rounds - 1 : -1]
    return len(before) == n_rounds and all(loss[-1] + tol >= earlier for earlier in before)


def check_parameters(estimator: Any, n_features: int, loss: Loss) -> None:
    """Refuse parameters out of their range; the message names them."""
    check_choice(estimator, "method", ("gradient", "newton"))
    check_number(estimator, "n_estimators", low=1, whole=True)
    check_number(estimator, "max_depth", low=0, whole=True, none=True)
    check_number(estimator, "min_samples_leaf", low=1, whole=True)
    check_number(estimator, "max_bins", low=2, whole=True, none=True)
    for name in ("reg_lambda", "gamma", "min_child_weight", "tol"):
        check_number(estimator, name, low=0)
    for name in ("learning_rate", "subsample", "validation_fraction"):
        check_number(estimator, name, low=0, high=np.inf if name == "learning_rate" else 1)
        if getattr(estimator, name) == 0:
            raise ValueError(f"{name} must be above 0; got 0.")
    check_number(estimator, "n_iter_no_change", low=1, whole=True, none=True)
    check_number(estimator, "verbose", low=0, whole=True)
    count_features(estimator.max_features, n_features)
    if estimator.method == "newton" and not loss.is_curved:
        raise ValueError(
            f"loss={estimator.loss!r} has a second derivative of zero{' at outliers' * (estimator.loss == 'huber')}, "
            "which -G / (H + reg_lambda) can't divide by; use method='gradient', or another loss."
        )
    if estimator.monotonic_cst is not None and (estimator.method != "newton" or loss.n_scores > 1):
        raise ValueError(
            "monotonic_cst needs method='newton', which judges a split by the values of its leaves, and at most two "
            f"classes; got method={estimator.method!r}{' and more classes' * (loss.n_scores > 1)}."
        )
    if estimator.base_score is not None and not is_reachable(estimator.base_score, loss):
        raise ValueError(
            "base_score must be None or one prediction for all rows: a number that the loss allows, the probability of "
            f"the second of two classes, or of each class if there are more; got {estimator.base_score!r}."
        )


def is_reachable(prediction: Any, loss: Loss) -> bool:
    """Whether there are finite scores that give the prediction."""
    try:
        wanted = np.atleast_1d(np.asarray(prediction))
        if wanted.dtype.kind not in "biuf":
            return False
        with np.errstate(divide="ignore", invalid="ignore"):
            score = loss.score_of(wanted)
    except (TypeError, ValueError):
        return False
    if score.shape != (loss.n_scores,) or not np.isfinite(score).all():
        return False
    predicted = loss.prediction(score[:, np.newaxis]).ravel()[-len(wanted) :]
    return bool(np.allclose(predicted, wanted))
