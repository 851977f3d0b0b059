"""Bagging: many classifiers, each fitted on its own bootstrap sample of the rows, vote."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from treekit.models.base import TableClassifier, TrainingTable
from treekit.models.bootstrap import OutOfBag, bootstrap_counts, draw_seeds, oob_accuracy
from treekit.models.cart import CARTClassifier
from treekit.models.progress import progress
from treekit.models.side_by_side import as_estimators, ask_out_of_bag, grow_side_by_side, mean_over_roots
from treekit.models.transaction import unchanged_if_interrupted
from treekit.numeric import Floats, Ints
from treekit.reading.validation import check_choice, check_number
from treekit.trees.structure import majority
from treekit.trees.tree import Tree

__all__ = ["BaggingClassifier"]


class BaggingClassifier(TableClassifier):
    r"""Bagging: classifiers grown on bootstrap samples of the rows vote.

    .. math:: \hat p_k(x) = \frac{1}{M} \sum_{m=1}^{M} \hat p_k^{(m)}(x)

    This is :eq:`eq-bagging` of the book. Each member is fitted on as many rows as there are, drawn with replacement. A
    drawn row is not copied: how often it was drawn becomes a factor of its weight.

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
        Whether to report progress: members that are CART trees group by group, others one by one.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members.
    forest_ : Tree
        Members that are CART trees as one structure with many roots.
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
    CART trees grow side by side, other members are fitted one after the other; there is no ``n_jobs``. A sample depends
    on the number and order of the rows, so a row of weight 2 and the same row twice give different samples. Costs as
    much as its members. Source: Breiman (1996).
    """

    estimators_: list[Any]
    forest_: Tree

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
            check_number(self, "n_estimators", low=1, whole=True)
            check_choice(self, "voting", ("soft", "hard"))
            check_choice(self, "oob_score", (False, True))
            estimator = CARTClassifier() if self.estimator is None else self.estimator
            check_base_estimator(estimator, needs_shares=self.voting == "soft")
            if type(estimator) is CARTClassifier:
                self._grow_members(self._training_table(X, y, sample_weight), clone(estimator))
            else:
                self._fit_members(X, *self._read_outcome(X, y, sample_weight)[1:], estimator)
        return self

    def _grow_members(self, table: TrainingTable, estimator: CARTClassifier) -> None:
        """Grow CART trees side by side, on one reading of the table."""
        self.forest_, seeds, counts = grow_side_by_side(self, estimator, table)
        self.estimators_ = as_estimators(self, estimator, self.forest_, seeds)
        if self.oob_score:
            out_of_bag = ask_out_of_bag(self.forest_, table, counts, self._votes)
            self.in_bag_, self.oob_score_ = table.as_given(counts, 0), oob_accuracy(out_of_bag, table.y)
            self.oob_decision_function_ = table.as_given(out_of_bag.mean.T, np.nan).T

    def _fit_members(self, X: ArrayLike, code: Ints, weight: Floats, estimator: BaseEstimator) -> None:
        """Fit other members one after the other."""
        self.estimators_, counts, out_of_bag = [], [], OutOfBag(weight, len(self.classes_))
        seeds = draw_seeds(self.random_state)
        for k in progress(self.n_estimators, "member", self.verbose):
            rng = np.random.default_rng(next(seeds))
            counts.append(bootstrap_counts(weight, rng))
            member = clone_with_seed(estimator, rng).fit(X, self.classes_[code], sample_weight=weight * counts[k])
            self.estimators_.append(member)
            if self.oob_score:
                out_of_bag.add(slice(None), self._shares(member, X)[np.newaxis], counts[k][np.newaxis])
        if self.oob_score:
            self.in_bag_ = np.array(counts)
            self.oob_decision_function_, self.oob_score_ = out_of_bag.mean, oob_accuracy(out_of_bag, code)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Mean of the members' class shares, or the shares of their votes; of shape (n_rows, n_classes)."""
        check_is_fitted(self)
        if not hasattr(self, "forest_"):
            total = np.zeros((len(self._read(X, reset=False)), len(self.classes_)))
            for member in self.estimators_:
                total += self._shares(member, X)
            return total / len(self.estimators_)
        values = self._values(X)
        return mean_over_roots(self.forest_, values, self._votes)

    def _votes(self, shares: Floats) -> Floats:
        """The shares themselves, or a vote for the class of the largest."""
        return shares if self.voting == "soft" else np.eye(len(self.classes_))[majority(shares)]

    def _shares(self, member: Any, X: ArrayLike) -> Floats:
        if self.voting == "hard":
            return (member.predict(X)[:, np.newaxis] == self.classes_).astype(float)
        # A member may not know every class, because its sample may lack one.
        shares = member.predict_proba(X)
        aligned = np.zeros((len(shares), len(self.classes_)))
        aligned[:, np.searchsorted(self.classes_, member.classes_)] = shares
        return aligned


def check_base_estimator(estimator: Any, needs_shares: bool = False) -> None:
    """Refuse a base estimator whose fit takes no weights, or that has no class shares where these are needed."""
    is_estimator = hasattr(estimator, "fit") and not isinstance(estimator, type)  # not the class of one
    if not (is_estimator and is_classifier(estimator) and has_fit_parameter(estimator, "sample_weight")):
        raise ValueError(f"estimator must be a classifier whose fit takes sample_weight; {estimator!r} is not.")
    if needs_shares and not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"estimator must have predict_proba for voting='soft'; {estimator!r} has none: use voting='hard'."
        )


def clone_with_seed(estimator: Any, rng: np.random.Generator) -> Any:
    """A new estimator with the same parameters and, if it has a random_state, one of its own."""
    member = clone(estimator)
    if "random_state" in member.get_params(deep=False):
        member.set_params(random_state=int(rng.integers(2**31)))
    return member
