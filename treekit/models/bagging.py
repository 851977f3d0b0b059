"""Bagging: many classifiers, each fitted on its own bootstrap sample of the rows, vote."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from treekit.models.base import TableClassifier
from treekit.models.cart import CARTClassifier
from treekit.models.progress import progress
from treekit.models.transaction import unchanged_if_interrupted
from treekit.numeric import Floats, Ints
from treekit.reading.validation import check_choice, check_number, generator
from treekit.trees.structure import majority

__all__ = ["BaggingClassifier"]


def bootstrap_counts(weight: Floats, rng: np.random.Generator) -> Ints:
    """How often each row is drawn, when as many rows as have a weight are drawn with replacement.

    Each of n rows is missing from a sample with probability :math:`(1 - 1/n)^n \\approx 0.368`. A row of weight zero is
    never drawn: it does not count as a row.
    """
    row = np.flatnonzero(weight > 0)
    sampled = row[rng.integers(len(row), size=len(row))]
    return np.bincount(sampled, minlength=len(weight))


def draw_seeds(random_state: Any, n: int) -> list[int]:
    """A seed for each member. The first n do not depend on how many follow: more members change no earlier one."""
    return generator(random_state).integers(2**31, size=n).tolist()


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

    def rows(self, count: Ints) -> Ints:
        """The rows that a sample left out."""
        return np.flatnonzero((count == 0) & (self.weight > 0))

    def add(self, row: Ints, prediction: Floats) -> None:
        """Add a member's predictions for the rows that it has not seen."""
        self.total[row] += prediction
        self.n_predictions[row] += 1

    @property
    def mean(self) -> Floats:
        """The mean predictions; NaN for a row that every sample holds."""
        n_predictions = self.n_predictions[:, np.newaxis]
        return np.divide(self.total, n_predictions, out=np.full(self.total.shape, np.nan), where=n_predictions > 0)

    def rows_predicted(self) -> Ints:
        """The rows with a prediction; a warning says how many have none, and none at all is an error."""
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


class BaggingClassifier(TableClassifier):
    r"""Bagging: classifiers grown on bootstrap samples of the rows vote.

    .. math:: \hat p_k(x) = \frac{1}{M} \sum_{m=1}^{M} \hat p_k^{(m)}(x)

    Each member is fitted on as many rows as there are, drawn with replacement. A drawn row is not copied: how often it
    was drawn is its weight.

    Parameters
    ----------
    estimator : classifier or None
        The classifier fitted on each sample: any of scikit-learn's whose ``fit`` takes ``sample_weight``. None for
        :class:`~treekit.CARTClassifier` without limits.
    n_estimators : int
        Number of members, M.
    voting : {"soft", "hard"}
        Whether members add up their class shares, as in the formula, or each gives one vote to its class (Breiman's
        rule); then the shares are shares of votes. On a tie the first of ``classes_`` wins.
    oob_score : bool
        Whether to score each row by the members whose samples left it out.
    random_state : int, RandomState instance or None
        Draws the samples, and seeds the members that have a ``random_state``. Streams of NumPy's PCG64 are the same
        on every platform.
    verbose : bool or int
        Whether to report each finished member.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members.
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    in_bag_ : int array of shape (n_estimators, n_rows)
        How often each sample holds each row; only with ``oob_score``.
    oob_decision_function_ : array of shape (n_rows, n_classes)
        Mean prediction of the members that have not seen the row; NaN where all have. Only with ``oob_score``.
    oob_score_ : float
        Accuracy of those predictions, by the rows' weights. Only with ``oob_score``.

    Notes
    -----
    Members are fitted one after the other; there is no ``n_jobs``. A sample depends on the number and order of the
    rows, so a row of weight 2 and the same row twice give different samples. Source: Breiman (1996).
    """

    estimators_: list[Any]

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        n_estimators: int = 10,
        voting: str = "soft",
        oob_score: bool = False,
        random_state: Any = None,
        verbose: bool | int = 0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.voting = voting
        self.oob_score = oob_score
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> BaggingClassifier:
        """Fit the members. Parameters and errors are those of :meth:`treekit.CARTClassifier.fit`, and those of the
        members' own ``fit``."""
        with unchanged_if_interrupted(self):
            _, code, weight = self._examples(X, y, sample_weight)
            return self._fit_members(X, code, weight)

    def _fit_members(self, X: ArrayLike, code: Ints, weight: Floats) -> BaggingClassifier:
        check_number(self, "n_estimators", low=1, whole=True)
        check_choice(self, "voting", ("soft", "hard"))
        check_choice(self, "oob_score", (False, True))
        estimator = CARTClassifier() if self.estimator is None else self.estimator
        check_base_estimator(estimator, needs_shares=self.voting == "soft")
        label = self.classes_[code]

        self.estimators_ = []
        in_bag, out_of_bag = [], OutOfBag(weight, len(self.classes_))
        seeds = draw_seeds(self.random_state, self.n_estimators)
        for k in progress(self.n_estimators, "member", self.verbose):
            rng = np.random.default_rng(seeds[k])
            count = bootstrap_counts(weight, rng)
            member = clone_with_seed(estimator, rng).fit(X, label, sample_weight=weight * count)
            self.estimators_.append(member)
            if self.oob_score:
                in_bag.append(count)
                row = out_of_bag.rows(count)
                out_of_bag.add(row, self._shares(member, X)[row])
        if self.oob_score:
            self.in_bag_ = np.array(in_bag)
            self.oob_decision_function_, self.oob_score_ = out_of_bag.mean, oob_accuracy(out_of_bag, code)
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Mean of the members' class shares, or the shares of their votes; of shape (n_rows, n_classes)."""
        check_is_fitted(self)
        self._read(X, reset=False)
        return np.mean([self._shares(member, X) for member in self.estimators_], axis=0)

    def _shares(self, member: Any, X: ArrayLike) -> Floats:
        if self.voting == "hard":
            return (member.predict(X)[:, np.newaxis] == self.classes_).astype(float)
        # A member need not know every class: its sample may lack one.
        shares = member.predict_proba(X)
        aligned = np.zeros((len(shares), len(self.classes_)))
        aligned[:, np.searchsorted(self.classes_, member.classes_)] = shares
        return aligned


def check_base_estimator(estimator: Any, needs_shares: bool = False) -> None:
    """Refuse a base estimator whose fit takes no weights, or that has no class shares where these are needed."""
    is_other = isinstance(estimator, (type, RegressorMixin))  # a class instead of an estimator of it, or a regressor
    if is_other or not hasattr(estimator, "fit") or not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(f"estimator must be a classifier whose fit takes sample_weight; {estimator!r} is not.")
    if needs_shares and not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"estimator must have predict_proba for voting='soft'; {estimator!r} has not: use voting='hard'."
        )


def clone_with_seed(estimator: Any, rng: np.random.Generator) -> Any:
    """A new estimator with the same parameters and, if it has a random_state, one of its own."""
    member = clone(estimator)
    if "random_state" in member.get_params(deep=False):
        member.set_params(random_state=int(rng.integers(2**31)))
    return member


def oob_accuracy(out_of_bag: OutOfBag, code: Ints) -> float:
    """Share of the weight for which the out-of-bag prediction is the right class."""
    row = out_of_bag.rows_predicted()
    return float(accuracy_score(code[row], majority(out_of_bag.mean[row]), sample_weight=out_of_bag.weight[row]))
