"""Gradient boosting: trees that correct, one after the other, what the sum of those before them gets wrong.

First order: Friedman (2001). Second order: Chen and Guestrin (2016), known as XGBoost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

from numpy.typing import ArrayLike

from treekit.models.base import TableClassifier, TableRegressor
from treekit.models.boosting import Boosting
from treekit.models.losses import AbsoluteLoss, HuberLoss, LogisticLoss, Loss, PoissonLoss, SoftmaxLoss, SquaredLoss
from treekit.models.transaction import unchanged_if_interrupted
from treekit.numeric import Array, Floats
from treekit.reading.validation import check_choice, check_number

__all__ = ["GBDTClassifier", "GBDTRegressor"]
REGRESSION_LOSSES: dict[str, Callable[..., Loss]] = {
    "squared_error": SquaredLoss,
    "absolute_error": AbsoluteLoss,
    "huber": HuberLoss,
    "poisson": PoissonLoss,
}


class _GBDT(Boosting):
    """What the classifier and the regressor share: a fit that also takes rows on Dask's workers."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)
            The attributes. Text and pandas categories are categories, all else is numbers; entries may be missing.
        y : array of shape (n_rows,)
            The targets or labels, none of them missing.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; weight 2 is the same as the row twice, weight 0 the same as no row. Newton boosting adds
            up in parts of the heaviest row: among 10,000 rows those below 1e-12 of its weight are lost in rounding.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If the table is empty, if X and y differ in length, if y or ``sample_weight`` does not fit, if a parameter
            is out of its range, or if boosting diverges; the message names the argument. After an error, or an
            interrupt from the keyboard, the estimator is as it was before.

        Notes
        -----
        X, y and ``sample_weight`` may be Dask collections. Their rows then stay on the workers, and the model is the
        same; see :func:`treekit.models.dask_gbdt.fit`.
        """
        with unchanged_if_interrupted(self):
            if hasattr(X, "__dask_graph__"):
                from treekit.models import dask_gbdt  # here, because Dask is an optional extra

                dask_gbdt.fit(self, X, y, sample_weight)
            else:
                table, loss = self._training_table(X, y, sample_weight), self._new_loss()
                self._check_targets(table.y.min(), table.y.max())
                self._fit_in_memory(table, loss)
        return self


class GBDTRegressor(_GBDT, TableRegressor):
    r"""Gradient-boosted regression trees.

    .. math:: F_m(x) = F_{m-1}(x) + \nu\, f_m(x)

    Every round m adds a regression tree :math:`f_m` that lowers the loss, shrunk by the learning rate :math:`\nu`:
    :eq:`eq-shrinkage`. *Gradient boosting* (Friedman, 2001) takes the first derivative: CART grows the tree on the
    negative gradients :math:`r_i = -\partial l(y_i, F) / \partial F`, :eq:`eq-negative-gradient`; then every leaf
    moves by the step that is best for the loss itself,

    .. math:: c_j = \arg\min_c \sum_{i \in R_j} l(y_i, F_{m-1}(x_i) + c)

    *Newton boosting* (Chen and Guestrin, 2016: XGBoost) takes the second derivative too: with the sums G and H of both
    in a node, a leaf predicts :math:`w^* = -G / (H + \lambda)`, :eq:`eq-leaf-value`, and by :eq:`eq-newton-gain`

    .. math:: \mathrm{gain} = \frac12 \left[ \frac{G_L^2}{H_L + \lambda} + \frac{G_R^2}{H_R + \lambda}
              - \frac{G^2}{H + \lambda} \right] - \gamma

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "poisson"}
        See :mod:`treekit.models.losses`; the target of "poisson" must not be negative. "absolute_error" and "huber"
        have no curvature to speak of and need ``method="gradient"``.
    method : {"gradient", "newton"}
        Gradient boosting, of the first order, or Newton boosting, of the second.
    n_estimators : int
        Number of rounds.
    learning_rate : float
        Factor of each tree, :math:`\nu`.
    max_depth : int or None
        Largest number of questions on a path; None for no limit.
    min_samples_leaf : int
        Number of rows that each side of a split must hold; rows of weight zero don't count.
    max_bins : int or None
        For Newton boosting: the number of bins of a column of numbers, that of missing values among them; only cuts
        between bins are tried. None tries every cut of the table; in a node a cut lies at the first edge between two
        values, not in the middle. See :func:`treekit.growing.binning.bin_edges`.
    reg_lambda, gamma, min_child_weight : float
        For Newton boosting: :math:`\lambda`; the price of a leaf, :math:`\gamma`, which a split must beat at once; and
        the sum H that each side of a split must hold. XGBoost and LightGBM leave the one half out of the gain, so their
        gamma is twice this one. XGBoost prints gains before it subtracts gamma: twice the sum of gain and gamma here.
    subsample : float
        Share of the rows that each round draws to learn from, without replacement.
    max_features : int, float, "sqrt", "log2" or None
        Number of columns that each node draws at random to choose from; see :class:`treekit.CARTClassifier`.
    base_score : float or None
        Prediction before the first round; None for the best constant.
    alpha : float
        For "huber": share of the rows whose residual counts as small.
    n_iter_no_change, validation_fraction, tol : int or None, float, float
        With a number of rounds, the share ``validation_fraction`` of the rows is held out, and fitting stops when their
        loss has not fallen by more than ``tol`` below that of any of the last so many rounds.
    random_state : int, RandomState instance or None
        Draws rows and columns, where they are drawn; nothing else is random.
    verbose : int
        Print the loss after every so many rounds; 0 for silence.
    monotonic_cst : array of shape (n_features,), dict or None
        For Newton boosting: for each column, or by name for some, 1 if the prediction may only rise with it, -1 if it
        may only fall, 0 if it is free (:eq:`eq-monotone`). Not for more than two classes.

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
    A missing value, or a category that a node has not seen, goes down the branch with more weight. Newton boosting
    instead learns where a missing number saves more, and also tries the cut of known numbers against missing ones. A
    column of categories is cut into two groups, in the order of the mean step of its categories (Breiman et al., 1984):
    this finds the best of all groupings, except in Newton boosting with :math:`\lambda > 0`.

    XGBoost's "hist" refuses splits that do not beat gamma, as here; its "exact" grows first and prunes afterwards, and
    so keeps a poor split above a good one. LightGBM chooses other nodes to split: the best leaf first, not level by
    level.

    A round costs O(rows x columns x depth). Gradient boosting sorts the table once and tries every cut. Newton boosting
    puts it into bins once; then it adds once for each row, column and level, and saves about half of that. Bins take a
    byte for each entry of the table, up to 256 of them in a column, and histograms 16 bytes for each bin, column and
    node of a level: a tree of many thousand nodes, or a bin for each of many values, needs memory.
    """

    def __init__(
        self,
        loss: str = "squared_error",
        method: str = "gradient",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 3,
        min_samples_leaf: int = 1,
        max_bins: int | None = 256,
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
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
    ):
        self.loss, self.alpha, self.method, self.base_score = loss, alpha, method, base_score
        self.n_estimators, self.learning_rate = n_estimators, learning_rate
        self.max_depth, self.min_samples_leaf, self.max_features = max_depth, min_samples_leaf, max_features
        self.max_bins, self.subsample = max_bins, subsample
        self.reg_lambda, self.gamma, self.min_child_weight = reg_lambda, gamma, min_child_weight
        self.n_iter_no_change, self.validation_fraction, self.tol = n_iter_no_change, validation_fraction, tol
        self.random_state, self.verbose, self.monotonic_cst = random_state, verbose, monotonic_cst

    def _new_loss(self) -> Loss:
        check_choice(self, "loss", REGRESSION_LOSSES)
        check_number(self, "alpha", low=0, high=1)
        return HuberLoss(self.alpha) if self.loss == "huber" else REGRESSION_LOSSES[self.loss]()

    def _check_targets(self, smallest: float, largest: float, where: str = "everywhere") -> None:
        if self.loss == "poisson" and (smallest < 0 or largest == 0):
            raise ValueError(f"y must not be negative, nor zero {where}, with loss='poisson'.")

    def predict(self, X: ArrayLike) -> Floats:
        """Prediction for each row, of shape (n_rows,), in units of the target.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has other columns than in ``fit``.
        """
        score = self._scores(X)
        return self.loss_.prediction(score)

    def staged_predict(self, X: ArrayLike) -> Iterator[Floats]:
        """The predictions after each round. See :meth:`predict`."""
        for score in self._staged_scores(X):
            yield self.loss_.prediction(score).copy()


class GBDTClassifier(_GBDT, TableClassifier):
    r"""Gradient-boosted trees for classes: with the logistic loss for two, with softmax for more.

    The trees are regression trees on the derivatives of the loss, as in :class:`GBDTRegressor`; with more than two
    classes every round grows one for each class. Friedman (2001) calls the first-order forms L2-TreeBoost and
    LK-TreeBoost.

    Parameters
    ----------
    method, n_estimators, learning_rate, max_depth, min_samples_leaf, max_bins
        As for :class:`GBDTRegressor`.
    reg_lambda, gamma, min_child_weight, subsample, max_features
        As for :class:`GBDTRegressor`.
    n_iter_no_change, validation_fraction, tol, random_state, verbose, monotonic_cst
        As for :class:`GBDTRegressor`. Held-out rows are drawn class by class.
    base_score : float, array of shape (n_classes,) or None
        Probability of the second of two classes before the first round, or of each class if there are more; None for
        the shares of the classes.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    trees_, start_, loss_, train_score_, validation_score_, n_estimators_
        As for :class:`GBDTRegressor`.
    feature_importances_, n_features_in_, feature_names_in_
        As for :class:`GBDTRegressor`.

    Notes
    -----
    With a single class in y every probability is 1 and every score 0: the trees have no gradient to follow, and
    ``predict`` returns that class. ``classes_`` also holds labels whose rows all have weight zero; their
    probability is (nearly) zero.

    Missing values and categories are as for :class:`GBDTRegressor`. XGBoost doubles the second derivative of softmax;
    see :class:`treekit.models.losses.SoftmaxLoss`.
    """

    def __init__(
        self,
        method: str = "gradient",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 3,
        min_samples_leaf: int = 1,
        max_bins: int | None = 256,
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
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
    ):
        self.method, self.base_score = method, base_score
        self.n_estimators, self.learning_rate = n_estimators, learning_rate
        self.max_depth, self.min_samples_leaf, self.max_features = max_depth, min_samples_leaf, max_features
        self.max_bins, self.subsample = max_bins, subsample
        self.reg_lambda, self.gamma, self.min_child_weight = reg_lambda, gamma, min_child_weight
        self.n_iter_no_change, self.validation_fraction, self.tol = n_iter_no_change, validation_fraction, tol
        self.random_state, self.verbose, self.monotonic_cst = random_state, verbose, monotonic_cst

    def _new_loss(self) -> Loss:
        n_classes = len(self.classes_)
        return LogisticLoss() if n_classes == 2 else SoftmaxLoss(n_classes)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Probabilities of the classes, of shape (n_rows, n_classes). See :meth:`predict`."""
        score = self._scores(X)
        return self.loss_.prediction(score)

    def decision_function(self, X: ArrayLike) -> Floats:
        """Scores of the classes, of shape (n_rows, n_classes); of two the log-odds of the second, (n_rows,)."""
        return as_decision(self._scores(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[Array]:
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
    """Scores in scikit-learn's shape: a column for each class, or one number per row."""
    return score[0].copy() if len(score) == 1 else score.T.copy()
