"""CART (Breiman, Friedman, Olshen and Stone, 1984)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight

from treekit.base import TreeClassifier, TreeRegressor, check_number
from treekit.criteria import Criterion, Entropy, Gini, Poisson, SquaredError
from treekit.grow import Stop, grow
from treekit.level import Level
from treekit.splits import Room, Scores, largest_gain, score_groups, score_thresholds
from treekit.table import Feature
from treekit.tree import MAJORITY, Tree

__all__ = ["CARTClassifier", "CARTRegressor"]


class _CART:
    """What the classifier and the regressor share."""

    def _grow_binary(self, values: NDArray, features: tuple[Feature, ...], criterion: Criterion, weight: NDArray) -> Tree:
        room = Room(self.min_samples_leaf)

        def score(level: Level, j: int, impurity: NDArray) -> Scores:
            if features[j].is_numeric:
                return score_thresholds(level, values[j], level.order[j], criterion, impurity, room)
            return score_groups(level, values[j], features[j].n_values, criterion, impurity, room)

        stop = Stop(
            np.inf if self.max_depth is None else self.max_depth,
            self.min_samples_split,
            min_impurity_decrease=self.min_impurity_decrease,
        )
        return grow(values, features, criterion, weight, score, largest_gain, stop, MAJORITY, getattr(self, "classes_", None))


class CARTClassifier(_CART, TreeClassifier):
    def __init__(self, criterion="gini", max_depth=None, min_samples_split=2, min_samples_leaf=1, min_impurity_decrease=0.0):
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease

    def _grow(self, values, features, y, weight):
        criterion = {"gini": Gini, "entropy": Entropy}[self.criterion](y, len(self.classes_))
        return self._grow_binary(values, features, criterion, weight)


class CARTRegressor(_CART, TreeRegressor):
    def __init__(self, criterion="squared_error", max_depth=None, min_samples_split=2, min_samples_leaf=1, min_impurity_decrease=0.0):
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease

    def _grow(self, values, features, y, weight):
        criterion = {"squared_error": SquaredError, "poisson": Poisson}[self.criterion](y)
        return self._grow_binary(values, features, criterion, weight)
