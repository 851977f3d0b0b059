"""The cascade forest of deep forests (Zhou and Feng, 2017)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from treekit.models.base import TableClassifier
from treekit.models.bootstrap import draw_seeds
from treekit.models.progress import progress
from treekit.models.random_forest import RandomForestClassifier
from treekit.models.transaction import unchanged_if_interrupted
from treekit.numeric import Array, Floats, Ints
from treekit.reading.validation import check_number
from treekit.trees.structure import majority

__all__ = ["CascadeForestClassifier"]


class CascadeForestClassifier(TableClassifier):
    """Cascade forest: level upon level of forests, each of which also gets the predictions of the level before it.

    A level is a few random forests and as many completely-random forests, whose trees draw a single column at each
    node. Each forest gives a row its class vector, the class shares that it predicts. The next level learns from the
    columns of the table and the class vectors of this level, side by side (:eq:`eq-beside`). The last level's vectors
    are averaged, and the class with the largest share is the prediction (:eq:`eq-cascade`).

    A forest is nearly always right about the rows that it was grown on, so what it predicts there is no guide for the
    next level. The class vectors of the training rows therefore come from k-fold cross-validation. Their accuracy also
    judges the levels: when a new level is no more accurate than the one before, it is discarded and the cascade ends.

    Parameters
    ----------
    n_forests : int
        Number of forests of each of the two kinds in a level.
    n_estimators : int
        Number of trees of each forest.
    n_folds : int
        Number of folds, k.
    max_levels : int
        Largest number of levels.
    random_state : int, RandomState instance or None
        Deals the rows into folds and seeds the forests.
    verbose : bool or int
        Whether to report each finished level.

    Attributes
    ----------
    levels_ : list of lists of RandomForestClassifier
        The forests of each level that was kept, fitted on all rows.
    level_scores_ : array of shape (n_levels tried,)
        Accuracy of each level in cross-validation, by the rows' weights; also of the last one, if it was discarded.
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Notes
    -----
    Cost: a level that is kept grows 2 x n_forests x (n_folds + 1) forests, one that is not 2 x n_forests x n_folds. In
    the authors' program the class vectors for new rows are the mean of the k forests of the folds; here one more forest
    is grown on all rows. A completely-random tree chooses its column at random and the best threshold on it. A column
    of the table must not be named as those of the class vectors are, ``forest 0 class 0``. The multi-grained scanning
    of images and sequences, the other half of the paper, is not here. A row of weight 2 and the same row twice give
    different cascades, as they give different samples. Source: Zhou and Feng (2017).
    """

    levels_: list[list[RandomForestClassifier]]

    def __init__(
        self,
        n_forests: int = 2,
        n_estimators: int = 50,
        n_folds: int = 3,
        max_levels: int = 5,
        random_state: Any = None,
        verbose: bool | int = 0,
    ):
        self.n_forests = n_forests
        self.n_estimators = n_estimators
        self.n_folds = n_folds
        self.max_levels = max_levels
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> CascadeForestClassifier:
        """Grow level upon level. Parameters and errors are those of :meth:`treekit.RandomForestClassifier.fit`; there
        must be at least two rows."""
        with unchanged_if_interrupted(self):
            frame, code, weight = self._read_outcome(X, y, sample_weight)
            for name, low in (("n_forests", 1), ("n_estimators", 1), ("n_folds", 2), ("max_levels", 1)):
                check_number(self, name, low=low, whole=True)
            if np.count_nonzero(weight) < 2:
                raise ValueError("X has 1 sample of positive weight; cross-validation needs two or more.")
            label = self.classes_[code]
            self._column_names = [str(name) for name in frame.columns]
            frame = table = self._with_names(frame)
            self.levels_, scores = [], [-np.inf]
            seeds = draw_seeds(self.random_state)
            for _ in progress(self.max_levels, "level", self.verbose):
                rng = np.random.default_rng(next(seeds))
                fold = assign_folds(code, weight, self.n_folds, rng)
                forests = [self._forest(kind, rng) for kind in ("sqrt", 1) for _ in range(self.n_forests)]
                vectors = [out_of_fold(forest, table, label, weight, fold) for forest in forests]
                predicted = majority(np.mean(vectors, axis=0))
                scores.append(float(accuracy_score(code, predicted, sample_weight=weight)))
                if scores[-1] <= scores[-2]:
                    break
                self.levels_.append([forest.fit(table, label, sample_weight=weight) for forest in forests])
                table = with_class_vectors(frame, vectors)
            self.level_scores_ = np.array(scores[1:])
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Mean of the class vectors of the last level, of shape (n_rows, n_classes)."""
        check_is_fitted(self)
        frame = table = self._with_names(self._read(X, reset=False))
        for forests in self.levels_:
            vectors = [forest.predict_proba(table) for forest in forests]
            table = with_class_vectors(frame, vectors)
        return np.mean(vectors, axis=0)

    def _with_names(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The table with the column names of the training table, as text, whether it came as a frame or an array."""
        return frame.set_axis(self._column_names, axis=1)

    def _forest(self, max_features: str | int, rng: np.random.Generator) -> RandomForestClassifier:
        seed = int(rng.integers(2**31))
        return RandomForestClassifier(self.n_estimators, max_features=max_features, random_state=seed)


def assign_folds(code: Ints, weight: Floats, n_folds: int, rng: np.random.Generator) -> Ints:
    """Fold of each row: the rows are shuffled, sorted by class and dealt out in turn, so folds have equal class shares.

    Rows of weight zero are not dealt out, so that they change nothing for the others: they stay in the first fold.
    """
    shuffled = rng.permutation(np.flatnonzero(weight > 0))
    by_class = shuffled[np.argsort(code[shuffled], kind="stable")]
    fold = np.zeros(len(code), dtype=np.intp)
    fold[by_class] = np.arange(len(by_class)) % n_folds
    return fold


def out_of_fold(
    forest: RandomForestClassifier, table: pd.DataFrame, label: Array, weight: Floats, fold: Ints
) -> Floats:
    """Class vector of each row by the forest grown on the other folds, of shape (n_rows, n_classes).

    Held-out rows get weight zero, so each forest has all classes, even one that it has no rows of.
    """
    vectors = []
    for k in np.unique(fold):
        held_out = np.flatnonzero(fold == k)
        forest.fit(table, label, sample_weight=np.where(fold == k, 0.0, weight))
        vectors.append((held_out, forest.predict_proba(table.iloc[held_out])))
    row, vector = map(np.concatenate, zip(*vectors))
    return vector[np.argsort(row)]


def with_class_vectors(frame: pd.DataFrame, vectors: list[Floats]) -> pd.DataFrame:
    """The table and the class vectors of a level, side by side."""
    names = [f"forest {i} class {k}" for i, vector in enumerate(vectors) for k in range(vector.shape[1])]
    return pd.concat([frame, pd.DataFrame(np.hstack(vectors), index=frame.index, columns=names)], axis=1)
