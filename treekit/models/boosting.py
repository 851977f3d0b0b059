"""The rounds of boosting, for any target and any loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from treekit.growing.candidates import ChildLimits, largest_gain, largest_gain_among_sampled
from treekit.growing.criteria import Criterion, Newton, SquaredError
from treekit.growing.fixed_point import largest_magnitude, weighted_mean
from treekit.growing.gradient_trees import GradientTreeGrower
from treekit.growing.grow import ChooseFeature, StoppingRule
from treekit.models.base import TableEstimator
from treekit.models.losses import Loss
from treekit.numeric import Array, Floats, Numbers
from treekit.reading.encoding import Feature, encode, learn_features
from treekit.reading.validation import check_choice, check_number, count_features, generator
from treekit.trees.batch_traversal import leaf_values
from treekit.trees.tree import Tree

__all__ = ["Boosting", "RowsToBoost", "RowsInMemory", "check_parameters", "without_zero_weight"]

#: Rows whose scores are found together.
ROWS_SCORED_AT_ONCE = 2**17

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
        """Draw the rows to learn from and work out the derivatives; returns the largest gradient times weight."""

    def add_trees(self, estimator: Boosting, rng: np.random.Generator) -> list[Tree]:
        """Grow a tree for each score, and move the scores of the rows by the shrunken steps."""

    def mean_loss(self) -> float:
        """Mean loss of the rows that the last round learned from."""

    def mean_held_out_loss(self) -> float:
        """Mean loss of the rows that are held out."""


class Boosting(TableEstimator):
    """Boosting for any loss; a subclass chooses the loss and turns scores into predictions."""

    trees_: list[list[Tree]]
    loss_: Loss
    start_: Floats
    train_score_: Floats
    validation_score_: Floats

    def _learn(self, X: pd.DataFrame, weight: Floats) -> tuple[tuple[Feature, ...], Numbers]:
        if self.tree_method != "hist":
            return super()._learn(X, weight)
        # Columns are put into bins one after the other; they need not lie in one stretch, so the table is not copied.
        self._features = learn_features(X, weight=weight)
        return self._features, encode(X, self._features)

    def _new_loss(self) -> Loss:
        """The loss that the parameters name."""
        raise NotImplementedError

    def _check_targets(self, smallest: float, largest: float, where: str = "everywhere") -> None:
        """Refuse targets that the loss can't lower."""

    def _boost(self, rows: RowsToBoost) -> None:
        """Start with the best constant, then add a tree to each score, round by round."""
        rng, loss = generator(self.random_state), rows.loss
        start = rows.best_start() if self.base_score is None else loss.score_of(self.base_score)
        if not np.isfinite(start).all():
            raise ValueError("y times sample_weight leaves the range of floats: divide y by a constant.")
        rows.set_scores(start)
        trees: list[list[Tree]] = []
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
        self.loss_, self.start_, self.trees_, self.train_score_ = loss, start, trees, np.array(train_score)
        if self.n_iter_no_change is not None:
            self.validation_score_ = np.array(validation_score)

    def _refuse_divergence(self, size: float, largest: float, number: int) -> None:
        """Refuse to go on in a round where the gradients or the loss are too large; a size may be NaN."""
        if not size <= largest:
            raise ValueError(
                f"In round {number} the loss or its gradients have reached {size:g}, beyond what floats can square and "
                f"add up. If the loss rose from round to round, lower learning_rate (now {self.learning_rate!r}); "
                "otherwise divide y, base_score or sample_weight by a constant."
            )

    def _choose(self, n_features: int, rng: np.random.Generator) -> ChooseFeature:
        """How each node chooses its column."""
        n_sampled = count_features(self.max_features, n_features)
        return largest_gain if n_sampled == n_features else largest_gain_among_sampled(n_sampled, rng)

    def _stop(self) -> StoppingRule:
        """When a node becomes a leaf."""
        return StoppingRule(np.inf if self.max_depth is None else self.max_depth)

    def _limits(self) -> ChildLimits:
        """What each child of a split must hold."""
        return ChildLimits(self.min_samples_leaf, self.min_child_weight if self.order == 2 else 0.0)

    def _fit_in_memory(
        self, values: Numbers, features: tuple[Feature, ...], loss: Loss, y: Array, weight: Floats
    ) -> None:
        """Fit on rows that lie on this machine."""
        check_parameters(self, len(features), loss)
        values, y, weight = without_zero_weight(values, y, weight)
        max_bins = self.max_bins if self.tree_method == "hist" else None
        train, held_out = self._hold_out(y, weight)
        smallest, largest = y.min(initial=y.max(), where=train > 0), y.max(initial=y.min(), where=train > 0)
        self._check_targets(smallest, largest, "in all rows that are not held out")
        self._boost(RowsInMemory(values, features, y, train, held_out, loss, max_bins))

    def _hold_out(self, y: Array, weight: Floats) -> tuple[Floats, Floats]:
        """The weights of the rows to learn from, and of those to stop by: one of the two is zero for each row."""
        if self.n_iter_no_change is None:
            return weight, np.zeros_like(weight)
        row, share = np.arange(len(weight)), self.validation_fraction
        stratify = y if hasattr(self, "classes_") else None
        try:
            kept, _ = train_test_split(row, test_size=share, random_state=self.random_state, stratify=stratify)
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
        """Scores of the rows after each round, of shape (n_scores, n_rows); the same array each time."""
        yield from self._sums(self._values(X))

    def _sums(self, values: Numbers) -> Iterator[Floats]:
        """:meth:`_staged_scores` of a table as numbers; takes up to 128 bytes per row beside the scores."""
        score = np.repeat(self.start_[:, np.newaxis], values.shape[1], axis=1)
        trees = [tree for round_trees in self.trees_ for tree in round_trees]
        steps = leaf_values(trees, [self.learning_rate * tree.value[:, 0] for tree in trees], values)
        for _ in self.trees_:
            for total in score:
                total += next(steps)
            yield score

    def _scores(self, X: ArrayLike) -> Floats:
        """Scores of the rows, of shape (n_scores, n_rows); takes the memory of one block of rows beside them."""
        values = self._values(X)
        scores = np.empty((len(self.start_), values.shape[1]))
        for start in range(0, values.shape[1], ROWS_SCORED_AT_ONCE):
            block = slice(start, start + ROWS_SCORED_AT_ONCE)
            *_, scores[:, block] = self._sums(values[:, block])
        return scores

    @property
    def n_estimators_(self) -> int:
        """Number of rounds, fewer than ``n_estimators`` where the loss on the held-out rows stopped falling."""
        check_is_fitted(self)
        return len(self.trees_)

    @property
    def feature_importances_(self) -> Floats:
        """Share of each column in what the splits of all trees save, of shape (n_features,); zeros without splits."""
        check_is_fitted(self)
        saved = np.zeros(self.n_features_in_)
        for trees in self.trees_:
            for tree in trees:
                inner = ~tree.is_leaf
                # The gain of the first order is a mean over the rows of a node, that of the second order a sum.
                saving = tree.gain * tree.weight if self.order == 1 else tree.gain
                np.add.at(saved, tree.feature[inner], saving[inner])
        return saved / saved.sum() if saved.sum() > 0 else saved


class RowsInMemory:
    """The training rows of boosting on this machine; see :class:`RowsToBoost`.

    Parameters
    ----------
    values : array of shape (n_features, n_rows)
        The table.
    features : tuple of Feature
        Its columns.
    y : array of shape (n_rows,)
        Targets, or codes of the labels.
    train, held_out : arrays of shape (n_rows,)
        Weights of the rows to learn from, and of those to stop by; each row is zero in one of them.
    loss : Loss
        What is to be lowered.
    max_bins : int or None
        Number of bins of each numeric column; None to try every cut.
    """

    def __init__(
        self,
        values: Numbers,
        features: tuple[Feature, ...],
        y: Array,
        train: Floats,
        held_out: Floats,
        loss: Loss,
        max_bins: int | None,
    ):
        self.y, self.train, self.held_out, self.loss = y, train, held_out, loss
        self.grower = GradientTreeGrower(values, features, train, max_bins)

    def best_start(self) -> Floats:
        return self.loss.start(self.y, self.train)

    def set_scores(self, start: Floats) -> None:
        self.score = np.repeat(start[:, np.newaxis], len(self.y), axis=1)

    def start_round(self, estimator: Boosting, rng: np.random.Generator) -> float:
        self.in_bag = subsample_rows(self.train, estimator.subsample, rng)
        self.loss.adapt(self.y, self.score, self.in_bag)
        self.derivatives = self.loss.derivatives(self.y, self.score)
        return float(largest_magnitude(self.derivatives[0]).max() * self.in_bag.max())

    def add_trees(self, estimator: Boosting, rng: np.random.Generator) -> list[Tree]:
        loss, (r, h) = self.loss, self.derivatives
        choose, stop, limits = estimator._choose(len(self.grower.features), rng), estimator._stop(), estimator._limits()
        trees, steps = [], np.empty_like(self.score)
        for k in range(loss.n_scores):
            residual = only_where(self.in_bag, r[k])
            noise = rounding_of_residuals(residual, only_where(self.in_bag, self.score[k]))
            if estimator.order == 1:
                criterion: Criterion = SquaredError(residual, noise=noise)
                tree, leaf = self.grower.grow(criterion, self.in_bag, limits, choose, stop)
                best = loss.line_search(self.y, self.score[k], r[k], h[k], self.in_bag, leaf, tree.n_nodes)
                value = np.where(tree.is_leaf, best, tree.value[:, 0])[:, np.newaxis]
                tree = replace(tree, value=value, only_leaves_predict=True)
            else:
                # Histograms know the rounding of their sums by their units.
                of_sums = 0.0 if self.grower.is_binned else noise * len(residual)
                criterion = Newton(-r[k], h[k], estimator.reg_lambda, estimator.gamma, of_sums)
                tree, leaf = self.grower.grow(criterion, self.in_bag, limits, choose, stop)
            trees.append(tree)
            steps[k] = tree.value[leaf, 0]
        with np.errstate(over="ignore", invalid="ignore"):  # a loss that is not finite ends the round with an error
            self.score += estimator.learning_rate * steps
        self.losses = loss.value(self.y, self.score)[np.newaxis]
        return trees

    def mean_loss(self) -> float:
        return float(weighted_mean(self.losses, self.in_bag)[0])

    def mean_held_out_loss(self) -> float:
        return float(weighted_mean(self.losses, self.held_out)[0])


def without_zero_weight(values: Numbers, y: Array, weight: Floats) -> tuple[Numbers, Array, Floats]:
    """A table of shape (n_features, n_rows), targets and weights without the rows of weight zero, which are no rows."""
    kept = np.flatnonzero(weight > 0)
    if len(kept) == len(weight):
        return values, y, weight
    return values.take(kept, axis=1), y.take(kept), weight.take(kept)


def rounding_of_residuals(residual: Floats, score: Floats) -> float:
    """How far residuals may differ that are equal but for rounding: those of rows with one target, whose scores are the
    same sum of steps, worked out in other ways."""
    return 64 * float(np.spacing(largest_magnitude(np.concatenate([residual, score]))))


def only_where(weight: Floats, x: Floats) -> Floats:
    """x, but 0 where the weight is: a criterion measures targets from their mean, which other rows must not shift."""
    return x if weight.all() else np.where(weight > 0, x, 0.0)


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
    check_choice(estimator, "order", (1, 2))
    check_choice(estimator, "tree_method", ("exact", "hist"))
    check_number(estimator, "n_estimators", low=1, whole=True)
    check_number(estimator, "max_depth", low=0, whole=True, none=True)
    check_number(estimator, "min_samples_leaf", low=1, whole=True)
    check_number(estimator, "max_bins", low=2, whole=True, high=65535)
    for name in ("reg_lambda", "gamma", "min_child_weight", "tol"):
        check_number(estimator, name, low=0)
    for name in ("learning_rate", "subsample", "validation_fraction"):
        check_number(estimator, name, low=0, high=np.inf if name == "learning_rate" else 1)
        if getattr(estimator, name) == 0:
            raise ValueError(f"{name} must be above 0; got 0.")
    check_number(estimator, "n_iter_no_change", low=1, whole=True, none=True)
    check_number(estimator, "verbose", low=0, whole=True)
    count_features(estimator.max_features, n_features)
    if estimator.order == 2 and not loss.is_curved:
        raise ValueError(
            f"loss={estimator.loss!r} has a second derivative of zero, which -G / (H + reg_lambda) can't divide by; "
            "use order=1, or another loss."
        )
    if estimator.base_score is not None and not is_reachable(estimator.base_score, loss):
        raise ValueError(
            "base_score must be None or one prediction for all rows: a number that the loss allows, the probability of "
            f"the second of two classes, or one for each of more classes; got {estimator.base_score!r}."
        )


def is_reachable(prediction: Any, loss: Loss) -> bool:
    """Whether there are finite scores that give the prediction."""
    try:
        wanted = np.atleast_1d(np.asarray(prediction, dtype=float))
        with np.errstate(divide="ignore", invalid="ignore"):
            score = loss.score_of(wanted)
    except (TypeError, ValueError):
        return False
    if score.shape != (loss.n_scores,) or not np.isfinite(score).all():
        return False
    predicted = loss.prediction(score[:, np.newaxis]).ravel()[-len(wanted) :]
    return bool(np.allclose(predicted, wanted))
