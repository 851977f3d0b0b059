"""A fit begins with nothing of the one before it; one that fails or is interrupted leaves its estimator as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.base import BaseEstimator

__all__ = ["unchanged_if_interrupted"]


@contextmanager
def unchanged_if_interrupted(estimator: BaseEstimator) -> Iterator[None]:
    """Forget what an earlier fit has left; undo this and all else if the block ends with an exception.

    A model that was fitted before keeps predicting as before, and one that was not is still not fitted. This holds for
    a refused argument, for an error in mid-fit, and for an interrupt from the keyboard. A copy of the dictionary is
    enough, because ``fit`` gives attributes new values and changes no old value in place; only a ``random_state`` that
    is a generator has moved on.

    >>> class Model(BaseEstimator):
    ...     def fit(self):
    ...         with unchanged_if_interrupted(self):
    ...             self.trees_ = []
    ...             raise KeyboardInterrupt
    >>> model = Model()
    >>> try:
    ...     model.fit()
    ... except KeyboardInterrupt:
    ...     vars(model)
    {}
    """
    before = dict(vars(estimator))
    for name in before:
        if name.endswith("_"):  # what was learned; other names may be scikit-learn's, such as requests for metadata
            delattr(estimator, name)
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
