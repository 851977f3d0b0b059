"""Gradient boosting: trees that correct, one after the other, what the sum of those before them gets wrong.

First order: Friedman (2001). Second order: Chen and Guestrin (2016), known as XGBoost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from treekit.asking import looked_up
from treekit.base import TableClassifier, TableEstimator, TableRegressor, check_choice, check_number
from treekit.cart import count_features, generator
from treekit.criteria import Criterion, Newton, SquaredError
from treekit.exact import weighted_mean
from treekit.grow import Choose, Stop, grow
from treekit.histogram import HistogramGrower, Rows, derivatives_of, learn_bins
from treekit.level import Level, sort_columns
from treekit.losses import AbsoluteLoss, HuberLoss, LogisticLoss, Loss, PoissonLoss, SoftmaxLoss, SquaredLoss
from treekit.splits import Room, Scores, largest_gain, largest_gain_of, score_groups, score_thresholds, with_categories
from treekit.table import Feature, encode, learn_features
from treekit.tree import MAJORITY, Tree

__all__ = ["GBDTClassifier", "GBDTRegressor"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Rows whose scores are found together.
BLOCK = 2**17

REGRESSION: dict[str, Callable[..., Loss]] = {
    "squared_error": SquaredLoss,
    "absolute_error": AbsoluteLoss,
    "huber": HuberLoss,
    "poisson": PoissonLoss,
}


class TreeGrower:
    """Grows trees on one table, for one derivative after the other; the table is sorted, or put into bins, once.

    Parameters
    ----------
    values : array of shape (n_features, n_rows)
        The table.
    features : tuple of Feature
        Its columns.
    weight : array of shape (n_rows,)
        Weight of the rows; those of weight zero don't count for the bins.
    max_bins : int or None
        Number of bins for each column of numbers; None to try every cut.
    """

    def __init__(self, values: NDArray, features: tuple[Feature, ...], weight: Floats, max_bins: int | None):
        self.values, self.features, self.is_binned = values, features, max_bins is not None
        if max_bins is None:
            self.order = sort_columns(values, [j for j, feature in enumerate(features) if feature.is_numeric])
        else:
            self.bins = learn_bins(values, features, weight, max_bins)
            self.rows = Rows(self.bins.encode(values))

    def grow(self, criterion: Criterion, weight: Floats, room: Room, choose: Choose, stop: Stop) -> tuple[Tree, Ints]:
        """Grow one tree; the leaf of each row comes along."""
        if self.is_binned:
            grower = HistogramGrower(self.bins, self.rows, criterion, room, choose, stop)
            tree = grower.grow(*self.rows.begin(*derivatives_of(criterion), weight))
            return tree, self.rows.spread(grower.node)

        values, features = self.values, self.features

        def score(level: Level, impurity: Floats) -> Scores:
            def score_category(j: int) -> Scores:
                return score_groups(level, values[j], features[j].n_values, criterion, impurity, room)

            numbers = score_thresholds(level, values, criterion, impurity, room, learn_missing=True)
            return with_categories(numbers, features, score_category)

        leaf = np.full(len(weight), -1)
        tree = grow(values, features, criterion, weight, score, choose, stop, MAJORITY, order=self.order, leaves=leaf)
        left_out = np.flatnonzero(leaf < 0)
        leaf[left_out] = tree.apply(values[:, left_out])
        return tree, leaf


class Boosting(TableEstimator):
    """What the classifier and the regressor share."""

    trees_: list[list[Tree]]
    loss_: Loss
    start_: Floats
    train_score_: Floats
    validation_score_: Floats

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)
            The attributes. Text and pandas categories are categories, all else is numbers, which may be missing.
        y : array of shape (n_rows,)
            The targets or labels, none of them missing.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; weight 2 is the same as the row twice, weight 0 the same as no row.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If the table is empty, if X and y differ in length, if y or ``sample_weight`` does not fit, or if a parameter
            is out of its range; the message names the argument.

        Notes
        -----
        X, y and ``sample_weight`` may be Dask collections. Their rows then stay on the workers, and the model is the
        same; see :func:`treekit.distributed.fit`.
        """
        if not hasattr(X, "__dask_graph__"):
            return super().fit(X, y, sample_weight)
        from treekit import distributed  # here, because Dask is an optional extra

        distributed.fit(self, X, y, sample_weight)
        return self

    def _learn(self, X: pd.DataFrame) -> tuple[tuple[Feature, ...], NDArray]:
        if self.tree_method != "hist":
            return super()._learn(X)
        # Columns are put into bins one after the other; they need not lie in one stretch, so the table is not copied.
        self._features = learn_features(X)
        return self._features, encode(X, self._features)

    def _new_loss(self) -> Loss:
        """The loss that the parameters ask for."""
        raise NotImplementedError

    def _check_targets(self, smallest: float, largest: float) -> None:
        """Refuse targets that the loss can't lower."""

    def _boost(self, values: NDArray, features: tuple[Feature, ...], loss: Loss, y: NDArray, weight: Floats) -> None:
        """Fit: start with the best constant, then add a tree to each score, round by round."""
        check_parameters(self, len(features), loss)
        self.loss_ = loss
        rng = generator(self.random_state)
        train, held_out = self._hold_out(y, weight)
        self.start_ = loss.start(y, train) if self.base_score is None else loss.score_of(self.base_score)
        score = np.repeat(self.start_[:, np.newaxis], len(y), axis=1)
        grower = TreeGrower(values, features, train, self.max_bins if self.tree_method == "hist" else None)

        self.trees_ = []
        train_score: list[float] = []
        validation_score: list[float] = []
        while len(self.trees_) < self.n_estimators:
            in_bag = draw_rows(train, self.subsample, rng)
            trees, steps = self._round(grower, y, score, in_bag, rng)
            self.trees_.append(trees)
            score += self.learning_rate * steps

            value = loss.value(y, score)
            train_score.append(float(weighted_mean(value[np.newaxis], in_bag)[0]))
            if self.n_iter_no_change is not None:
                validation_score.append(float(weighted_mean(value[np.newaxis], held_out)[0]))
            self._tell(train_score, validation_score)
            if self.n_iter_no_change is not None and no_longer_falls(validation_score, self.n_iter_no_change, self.tol):
                break
        self.train_score_ = np.array(train_score)
        if self.n_iter_no_change is not None:
            self.validation_score_ = np.array(validation_score)

    def _round(
        self, grower: TreeGrower, y: NDArray, score: Floats, weight: Floats, rng: np.random.Generator
    ) -> tuple[list[Tree], Floats]:
        """A tree for each score, and the steps by which they move the scores, of shape (n_scores, n_rows)."""
        loss = self.loss_
        loss.adapt(y, score, weight)
        r, h = loss.derivatives(y, score)
        choose, stop = self._choose(len(grower.features), rng), self._stop()
        trees, steps = [], np.empty_like(score)
        for k in range(loss.n_scores):
            if self.order == 1:
                tree, leaf = grower.grow(SquaredError(r[k]), weight, Room(), choose, stop)
                best = loss.line_search(y, score[k], r[k], h[k], weight, leaf, tree.n_nodes)
                tree = replace(tree, value=np.where(tree.is_leaf, best, tree.value[:, 0])[:, np.newaxis])
            else:
                criterion = Newton(-r[k], h[k], self.reg_lambda, self.gamma)
                tree, leaf = grower.grow(criterion, weight, Room(weight=self.min_child_weight), choose, stop)
            trees.append(tree)
            steps[k] = tree.value[leaf, 0]
        return trees, steps

    def _choose(self, n_features: int, rng: np.random.Generator) -> Choose:
        """How each node chooses its column."""
        n_drawn = count_features(self.max_features, n_features)
        return largest_gain if n_drawn == n_features else largest_gain_of(n_drawn, rng)

    def _stop(self) -> Stop:
        """When a node becomes a leaf."""
        return Stop(np.inf if self.max_depth is None else self.max_depth)

    def _hold_out(self, y: NDArray, weight: Floats) -> tuple[Floats, Floats]:
        """The weights of the rows to learn from, and of those to stop by: a row has one or the other."""
        if self.n_iter_no_change is None:
            return weight, np.zeros_like(weight)
        row = np.flatnonzero(weight > 0)
        stratify = y[row] if hasattr(self, "classes_") else None
        share = self.validation_fraction
        try:
            kept, _ = train_test_split(row, test_size=share, random_state=self.random_state, stratify=stratify)
        except ValueError as error:
            raise ValueError(f"validation_fraction={share!r} can't be held out of {len(row)} rows: {error}") from error
        train = np.zeros_like(weight)
        train[kept] = weight[kept]
        return train, weight - train

    def _tell(self, train_score: list[float], validation_score: list[float]) -> None:
        """Print how far the fit has come, after every ``verbose``-th round."""
        if self.verbose and len(train_score) % self.verbose == 0:
            held_out = f", held out {validation_score[-1]:.6g}" if validation_score else ""
            print(f"round {len(train_score)} of {self.n_estimators}: loss {train_score[-1]:.6g}{held_out}", flush=True)

    def _staged_scores(self, X: ArrayLike) -> Iterator[Floats]:
        """Scores of the rows after each round, of shape (n_scores, n_rows); the same array each time."""
        yield from self._sums(self._values(X))

    def _sums(self, values: NDArray) -> Iterator[Floats]:
        """:meth:`_staged_scores` of a table as numbers; takes up to 128 bytes a row beside the scores."""
        score = np.repeat(self.start_[:, np.newaxis], values.shape[1], axis=1)
        trees = [tree for round_trees in self.trees_ for tree in round_trees]
        steps = looked_up(trees, [self.learning_rate * tree.value[:, 0] for tree in trees], values)
        for _ in self.trees_:
            for total in score:
                total += next(steps)
            yield score

    def _scores(self, X: ArrayLike) -> Floats:
        """Scores of the rows, of shape (n_scores, n_rows); takes the memory of one block of rows beside them."""
        values = self._values(X)
        scores = np.empty((len(self.start_), values.shape[1]))
        for start in range(0, values.shape[1], BLOCK):
            block = slice(start, start + BLOCK)
            for score in self._sums(values[:, block]):
                pass
            scores[:, block] = score
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


def draw_rows(weight: Floats, share: float, rng: np.random.Generator) -> Floats:
    """The weights of a random share of the rows, drawn without replacement and at least one; zero for the others."""
    if share == 1:
        return weight
    row = np.flatnonzero(weight > 0)
    drawn = rng.permutation(row)[: max(1, int(share * len(row)))]
    in_bag = np.zeros_like(weight)
    in_bag[drawn] = weight[drawn]
    return in_bag


def no_longer_falls(loss: list[float], n_rounds: int, tol: float) -> bool:
    """Whether the last loss is not more than ``tol`` below any of the ``n_rounds`` losses before it."""
    before = loss[-n_rounds - 1 : -1]
    return len(before) == n_rounds and all(loss[-1] + tol >= earlier for earlier in before)


def check_parameters(estimator: Any, n_features: int, loss: Loss) -> None:
    """Refuse parameters out of their range; the message names them."""
    check_choice(estimator, "order", (1, 2))
    check_choice(estimator, "tree_method", ("exact", "hist"))
    check_number(estimator, "n_estimators", low=1, whole=True)
    check_number(estimator, "max_depth", low=0, whole=True, none=True)
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
            f"loss={estimator.loss!r} has a second derivative of zero, which -G / (H + reg_lambda) can't divide by; use "
            "order=1, or another loss."
        )
    if estimator.base_score is not None and not can_be_said(estimator.base_score, loss):
        raise ValueError(
            "base_score must be None or one prediction for all rows: a number that the loss allows, the probability of "
            f"the second of two classes, or one for each of more classes; got {estimator.base_score!r}."
        )


def can_be_said(prediction: Any, loss: Loss) -> bool:
    """Whether there are scores that say the prediction."""
    try:
        wanted = np.atleast_1d(np.asarray(prediction, dtype=float))
        with np.errstate(divide="ignore", invalid="ignore"):
            score = loss.score_of(wanted)
    except (TypeError, ValueError):
        return False
    if score.shape != (loss.n_scores,) or not np.isfinite(score).all():
        return False
    said = loss.prediction(score[:, np.newaxis]).ravel()[-len(wanted) :]
    return bool(np.allclose(said, wanted))


class GBDTRegressor(Boosting, TableRegressor):
    r"""Gradient-boosted regression trees.

    .. math:: F_m(x) = F_{m-1}(x) + \nu\, f_m(x)

    Every round m adds a regression tree :math:`f_m`, shrunk by the learning rate :math:`\nu`, that lowers the loss.

    *First order* (Friedman, 2001): the tree is grown by squared error on the negative gradients
    :math:`r_i = -\partial l(y_i, F) / \partial F`, then every leaf moves by the step that is best for the loss itself,

    .. math:: \gamma_j = \arg\min_\gamma \sum_{i \in R_j} l(y_i, F_{m-1}(x_i) + \gamma)

    *Second order* (Chen and Guestrin, 2016): with the sums G and H of the first and second derivatives in a node, a leaf
    says :math:`w^* = -G / (H + \lambda)`, and a split is worth

    .. math:: \mathrm{gain} = \frac12 \left[ \frac{G_L^2}{H_L + \lambda} + \frac{G_R^2}{H_R + \lambda}
              - \frac{G^2}{H + \lambda} \right] - \gamma

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "poisson"}
        See :mod:`treekit.losses`; the target of "poisson" must not be negative. "absolute_error" and "huber" have no
        curvature to speak of and need ``order=1``.
    order : {1, 2}
        First or second order.
    n_estimators : int
        Number of rounds.
    learning_rate : float
        Factor of each tree, :math:`\nu`.
    max_depth : int or None
        Largest number of questions on a path; None for no limit.
    tree_method : {"exact", "hist"}
        Try every cut between neighbouring values, or only those between bins; see :func:`treekit.histogram.bin_edges`.
    max_bins : int
        Number of bins for a column of numbers with ``tree_method="hist"``, that of missing values among them.
    reg_lambda, gamma, min_child_weight : float
        For ``order=2``: :math:`\lambda`; the price of a leaf, which a split must beat at once; and the sum H that each
        side of a split must hold. XGBoost and LightGBM leave the one half out of the gain, so their gamma is twice
        this one. XGBoost prints gains before it takes gamma off: twice the sum of gain and gamma here.
    subsample : float
        Share of the rows that each round draws to learn from, without replacement.
    max_features : int, float, "sqrt", "log2" or None
        Number of columns that each node draws at random to choose from; see :class:`treekit.CARTClassifier`.
    base_score : float or None
        Prediction before the first round; None for the best constant.
    alpha : float
        For "huber": share of the rows whose residual counts as small.
    n_iter_no_change, validation_fraction, tol : int or None, float, float
        With a number, that share of the rows is held out, and fitting stops when the loss on them has not fallen by more
        than ``tol`` below any of the last ``n_iter_no_change`` rounds.
    random_state : int, RandomState instance or None
        Draws rows and columns, where they are drawn; nothing else is random.
    verbose : int
        Print the loss after every so many rounds; 0 for silence.

    Attributes
    ----------
    trees_ : list of lists of Tree
        The trees of each round. Their leaves hold the steps before they are shrunk.
    start_ : array of shape (n_scores,)
        The scores before the first round.
    loss_ : Loss
        The loss.
    train_score_ : array of shape (n_rounds,)
        Mean loss of the rows of each round, after it.
    validation_score_ : array of shape (n_rounds,)
        Mean loss of the held-out rows, where there are any.
    n_estimators_ : int
        Number of rounds.
    feature_importances_ : array of shape (n_features,)
        Share of each column in what all splits save.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Notes
    -----
    A missing number goes to the side of a cut where it saves more; the rows with known numbers against those without are
    a cut too. A column of categories is cut into two groups, in the order of the mean step of its categories (Breiman et
    al., 1984): the best of all groupings for the first order and for :math:`\lambda = 0`. A missing category, a category
    that a node has not seen, and a number missing where in training none was, go down the branch with more weight.

    XGBoost's "hist" refuses splits that do not beat gamma, as here; its "exact" grows first and prunes afterwards, and so
    keeps a poor split above a good one. LightGBM chooses other nodes to split: the best leaf first, not level by level.

    A round of the exact method costs O(rows x columns x depth), after sorting once; with bins it is one addition for
    each row, column and level, about half of them saved. Bins take a byte for each entry of the table, and 16 bytes for
    each bin, column and node of a level: trees of many thousand nodes are better grown by the exact method.
    """

    def __init__(
        self,
        loss: str = "squared_error",
        order: int = 1,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 3,
        tree_method: str = "exact",
        max_bins: int = 256,
        reg_lambda: float = 1.0,
        gamma: float = 0.0,
        min_child_weight: float = 1.0,
        subsample: float = 1.0,
        max_features: float | str | None = None,
        base_score: float | None = None,
        alpha: float = 0.9,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.loss = loss
        self.order = order
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.tree_method = tree_method
        self.max_bins = max_bins
        self.reg_lambda = reg_lambda
        self.gamma = gamma
        self.min_child_weight = min_child_weight
        self.subsample = subsample
        self.max_features = max_features
        self.base_score = base_score
        self.alpha = alpha
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, values: NDArray, features: tuple[Feature, ...], y: NDArray, weight: NDArray) -> None:
        loss = self._new_loss()
        self._check_targets(y.min(), (y * weight).max())
        self._boost(values, features, loss, y, weight)

    def _new_loss(self) -> Loss:
        check_choice(self, "loss", REGRESSION)
        check_number(self, "alpha", low=0, high=1)
        return HuberLoss(self.alpha) if self.loss == "huber" else REGRESSION[self.loss]()

    def _check_targets(self, smallest: float, largest: float) -> None:
        if self.loss == "poisson" and (smallest < 0 or largest == 0):
            raise ValueError("y must not be negative, nor zero everywhere, with loss='poisson'.")

    def predict(self, X: ArrayLike) -> Floats:
        """Prediction for each row, of shape (n_rows,), in units of the target.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)

        Raises
        ------
        NotFittedError
            If there was no ``fit`` yet.
        ValueError
            If X has other columns than in ``fit``.
        """
        score = self._scores(X)
        return self.loss_.prediction(score)

    def staged_predict(self, X: ArrayLike) -> Iterator[Floats]:
        """The predictions after each round. See :meth:`predict`."""
        for score in self._staged_scores(X):
            yield self.loss_.prediction(score).copy()


class GBDTClassifier(Boosting, TableClassifier):
    r"""Gradient-boosted trees for classes, by the logistic loss, or softmax for more than two.

    The trees are regression trees on the derivatives of the loss, as in :class:`GBDTRegressor`; with more than two
    classes every round grows one for each class. Friedman (2001) calls the first-order forms L2-TreeBoost and
    LK-TreeBoost.

    Parameters
    ----------
    order, n_estimators, learning_rate, max_depth, tree_method, max_bins, reg_lambda, gamma, min_child_weight, subsample, max_features, n_iter_no_change, validation_fraction, tol, random_state, verbose
        As for :class:`GBDTRegressor`. Held-out rows are drawn class by class.
    base_score : float, array of shape (n_classes,) or None
        Probability of the second class before the first round, or of each of more than two classes; None for the shares
        of the classes.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    trees_, start_, loss_, train_score_, validation_score_, n_estimators_, feature_importances_, n_features_in_, feature_names_in_
        As for :class:`GBDTRegressor`.

    Notes
    -----
    Missing values and categories are as for :class:`GBDTRegressor`. XGBoost doubles the second derivative of softmax;
    see :class:`treekit.losses.SoftmaxLoss`.
    """

    def __init__(
        self,
        order: int = 1,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 3,
        tree_method: str = "exact",
        max_bins: int = 256,
        reg_lambda: float = 1.0,
        gamma: float = 0.0,
        min_child_weight: float = 1.0,
        subsample: float = 1.0,
        max_features: float | str | None = None,
        base_score: ArrayLike | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.order = order
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.tree_method = tree_method
        self.max_bins = max_bins
        self.reg_lambda = reg_lambda
        self.gamma = gamma
        self.min_child_weight = min_child_weight
        self.subsample = subsample
        self.max_features = max_features
        self.base_score = base_score
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, values: NDArray, features: tuple[Feature, ...], y: NDArray, weight: NDArray) -> None:
        self._boost(values, features, self._new_loss(), y, weight)

    def _new_loss(self) -> Loss:
        n_classes = len(self.classes_)
        return LogisticLoss() if n_classes == 2 else SoftmaxLoss(n_classes)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Probabilities of the classes, of shape (n_rows, n_classes). See :meth:`predict`."""
        score = self._scores(X)
        return self.loss_.prediction(score)

    def decision_function(self, X: ArrayLike) -> Floats:
        """Scores of the classes, of shape (n_rows, n_classes); with two classes the log-odds of the second, (n_rows,)."""
        return as_decision(self._scores(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray]:
        """The classes after each round. See :meth:`predict`."""
        for shares in self.staged_predict_proba(X):
            yield self.classes_[shares.argmax(axis=1)]

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[Floats]:
        """The probabilities after each round. See :meth:`predict_proba`."""
        for score in self._staged_scores(X):
            yield self.loss_.prediction(score)

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Floats]:
        """The scores after each round. See :meth:`decision_function`."""
        for score in self._staged_scores(X):
            yield as_decision(score)


def as_decision(score: Floats) -> Floats:
    """Scores in scikit-learn's shape: a column for each class, or one number a row."""
    return score[0].copy() if len(score) == 1 else score.T.copy()
