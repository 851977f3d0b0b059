"""AdaBoost (Freund and Schapire, 1997), and SAMME for more than two classes (Zhu, Zou, Rosset and Hastie, 2009)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from treekit.models.bagging import check_base_estimator, clone_with_seed
from treekit.models.base import TableClassifier
from treekit.models.bootstrap import draw_seeds
from treekit.models.cart import CARTClassifier
from treekit.models.progress import progress
from treekit.models.transaction import unchanged_if_interrupted
from treekit.numeric import BEATS_CHANCE, VOTE_TIE, Array, Bools, Floats, Ints
from treekit.reading.validation import check_number
from treekit.trees.structure import majority

__all__ = ["AdaBoostClassifier"]


class AdaBoostClassifier(TableClassifier):
    r"""AdaBoost: each round fits a weak classifier, for which the rows that were classified wrongly so far weigh more.

    Round m fits :math:`G_m` with weights :math:`w_i`, which add up to 1, and measures

    .. math:: e_m = \sum_i w_i \, I(G_m(x_i) \ne y_i), \qquad \alpha_m = \frac{1}{2} \ln \frac{1 - e_m}{e_m}.

    These are :eq:`eq-weighted-error` and :eq:`eq-vote`. With classes -1 and +1 the weights become
    :math:`w_i \exp(-\alpha_m y_i G_m(x_i)) / Z_m`, and in the end the classifiers vote:
    :math:`f(x) = \sum_m \alpha_m G_m(x)`, whose sign is the prediction. With K > 2 classes SAMME, :eq:`eq-samme`, has

    .. math:: \alpha_m = \ln \frac{1 - e_m}{e_m} + \ln (K - 1), \qquad w_i \exp(\alpha_m I(G_m(x_i) \ne y_i)) / Z_m.

    Parameters
    ----------
    estimator : classifier or None
        The weak classifier: any scikit-learn classifier whose ``fit`` takes ``sample_weight``. None for a stump,
        :class:`~treekit.CARTClassifier` with ``max_depth=1``.
    n_estimators : int
        Largest number of rounds.
    learning_rate : float
        Every alpha is multiplied by this; below 1 more rounds are needed.
    random_state : int, RandomState instance or None
        Seeds the members that have a ``random_state``; nothing else is random.
    verbose : bool or int
        Whether to report each finished round.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members, G.
    estimator_weights_ : array of shape (n_rounds,)
        Their alphas: with two classes those with the factor one half, as in Li Hang; with more those of SAMME. For two
        classes SAMME's are twice as large (scikit-learn stores those), which changes no weight and no prediction.
    estimator_errors_ : array of shape (n_rounds,)
        Their weighted errors, e.
    sample_weights_ : array of shape (n_rounds, n_rows)
        The weights w of the rows that each member was fitted with; those of a round add up to 1.
    classes_ : array of shape (n_classes,)
        The labels, sorted; of two the first is -1, the second +1.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Notes
    -----
    Training ends early in two cases. A classifier without error is the last: its alpha is 1 plus the sum of all alphas
    before it, so it decides alone. One that is no better than chance, :math:`e_m \ge 1 - 1/K`, is discarded; if it is
    the first, that is an error.

    With two classes and ``learning_rate=1`` the training error is at most
    :math:`\prod_m Z_m = \prod_m 2 \sqrt{e_m (1 - e_m)}`, :eq:`eq-training-bound`, the mean exponential loss, which
    falls in every round. A row of weight 2 is the same as the row twice. Costs as much as its members. Source: Freund
    and Schapire (1997); Zhu et al. (2009); Li Hang, chapter 8.
    """

    estimators_: list[Any]

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Any = None,
        verbose: bool | int = 0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> AdaBoostClassifier:
        """Boost. Parameters and errors are those of :meth:`treekit.CARTClassifier.fit`, and those of the members' own
        ``fit``; ``sample_weight`` holds the weights of the first round. Raises ValueError if the first member is no
        better than chance, or if ``learning_rate`` is so large that the weights leave the range of floats."""
        with unchanged_if_interrupted(self):
            _, code, weight = self._read_outcome(X, y, sample_weight)
            return self._boost(X, code, weight)

    def _boost(self, X: ArrayLike, code: Ints, weight: Floats) -> AdaBoostClassifier:
        self._check_parameters()
        estimator = CARTClassifier(max_depth=1) if self.estimator is None else self.estimator
        check_base_estimator(estimator)
        label, chance = self.classes_[code], 1 - 1 / len(self.classes_)
        seeds = draw_seeds(self.random_state)
        has_weight = weight > 0  # other rows do not even change how a sum rounds
        w = weight / weight[has_weight].sum()
        rounds: list[tuple[Any, float, float, Floats]] = []
        for m in progress(self.n_estimators, "round", self.verbose):
            member = clone_with_seed(estimator, np.random.default_rng(next(seeds))).fit(X, label, sample_weight=w)
            miss = member.predict(X) != label
            e = float(w[miss & has_weight].sum())
            if e > 0 and e >= chance - BEATS_CHANCE:
                break
            alpha = self._alpha(e) if e > 0 else 1.0 + sum(alpha for _, alpha, _, _ in rounds)
            rounds.append((member, alpha, e, w))
            if e == 0:
                break
            w = self._raise_weights(w, miss, alpha, m + 1)
            w /= w[has_weight].sum()
        if not rounds:
            raise ValueError(
                f"estimator is no better than chance in the first round: its weighted error is {e:.3g}, with "
                f"{len(self.classes_)} classes. Choose a stronger one, such as a deeper tree."
            )
        members, alphas, errors, weights = zip(*rounds)
        self.estimators_, self.sample_weights_ = list(members), np.array(weights)
        self.estimator_weights_, self.estimator_errors_ = np.array(alphas), np.array(errors)
        return self

    def _check_parameters(self) -> None:
        check_number(self, "n_estimators", low=1, whole=True)
        check_number(self, "learning_rate", low=0)
        if self.learning_rate == 0:
            raise ValueError("learning_rate must be above 0; with 0 no round would change anything.")

    @property
    def _half(self) -> float:
        """The factor of alpha: one half for two classes, which lie two apart as -1 and +1."""
        return 0.5 if len(self.classes_) == 2 else 1.0

    def _alpha(self, e: float) -> float:
        """How much a classifier with the weighted error ``e`` counts."""
        return float(self.learning_rate * self._half * (np.log((1 - e) / e) + np.log(len(self.classes_) - 1)))

    def _raise_weights(self, w: Floats, miss: Bools, alpha: float, number: int) -> Floats:
        """The weights after a round, those of missed rows raised, before they are made to add up to 1."""
        # exp(-alpha y G) is exp(2 alpha I(G != y)) times a factor that all rows share.
        with np.errstate(over="ignore", invalid="ignore"):
            w = w * np.exp(alpha / self._half * miss)
        if not np.isfinite(w.sum()):
            raise ValueError(
                f"learning_rate={self.learning_rate!r} is too large: after round {number} the weights of the rows "
                "leave the range of floats; 1 is the usual rate."
            )
        return w

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Floats]:
        """:meth:`decision_function` after each round."""
        check_is_fitted(self)
        self._read(X, reset=False)
        n_classes = len(self.classes_)
        f = 0.0
        for member, alpha in zip(self.estimators_, self.estimator_weights_):
            chosen = member.predict(X)[:, np.newaxis] == self.classes_
            f = f + alpha * np.where(chosen, 1.0, -1 / max(n_classes - 1, 1))
            yield f[:, 1].copy() if n_classes == 2 else f.copy()

    def decision_function(self, X: ArrayLike) -> Floats:
        r"""The weighted vote, :math:`f(x) = \sum_m \alpha_m G_m(x)`.

        With two classes it has shape (n_rows,), and a positive number means the second of ``classes_``; it is a quarter
        of what scikit-learn gives before it divides by the sum of its alphas, since scikit-learn adds both columns up.
        With more it has shape (n_rows, n_classes): a vote counts 1 for the chosen class and -1/(K - 1) for each other.
        Divided by the sum of the alphas it is a margin, from -1 to 1.
        """
        return _last(self.staged_decision_function(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[Array]:
        """:meth:`predict` after each round."""
        for m, f in enumerate(self.staged_decision_function(X), start=1):
            f /= self.estimator_weights_[:m].sum()
            yield self.classes_[(f > VOTE_TIE).astype(np.intp) if f.ndim == 1 else majority(f)]

    def predict(self, X: ArrayLike) -> Array:
        """The class with the most votes, weighted by alpha; on a tie the first of ``classes_``."""
        return _last(self.staged_predict(X))

    def predict_proba(self, X: ArrayLike) -> Floats:
        r"""Class shares for which the vote has the least expected exponential loss, of shape (n_rows, n_classes).

        .. math:: p_k(x) = \frac{\exp(f_k(x) / (K - 1))}{\sum_j \exp(f_j(x) / (K - 1))}

        With two classes this is :math:`1 / (1 + e^{-2 f(x)})` (Friedman, Hastie and Tibshirani, 2000). The shares are
        far too confident.
        """
        f = self.decision_function(X)
        if f.ndim == 1:
            f = np.column_stack([-f, f])
        return softmax(f / max(len(self.classes_) - 1, 1), axis=1)

    @property
    def feature_importances_(self) -> Floats:
        """Mean of the members' importances, weighted by alpha, of shape (n_features,); for members that have them."""
        check_is_fitted(self)
        importances = [member.feature_importances_ for member in self.estimators_]
        return np.average(importances, axis=0, weights=self.estimator_weights_)


def _last(stages: Iterator[Array]) -> Array:
    """The last of an iterator's arrays, without keeping the others."""
    return deque(stages, maxlen=1).pop()
