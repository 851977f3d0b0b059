"""ID3 (Quinlan, 1986)."""

from __future__ import annotations

import numpy as np

from treekit.growing.candidates import SplitCandidates, merge_candidates
from treekit.growing.categories import score_branches
from treekit.growing.criteria import Entropy
from treekit.growing.grow import SplitSearch, StoppingRule, grow
from treekit.growing.level import Level
from treekit.models.base import TrainingTable, TreeClassifier
from treekit.numeric import Floats
from treekit.reading.validation import check_number
from treekit.trees.tree import Tree

__all__ = ["ID3Classifier"]


class ID3Classifier(TreeClassifier):
    r"""ID3: a decision tree that asks, in each node, about the attribute with the largest information gain.

    .. math:: A^* = \arg\max_A g(D, A), \qquad g(D, A) = H(D) - H(D \mid A)

    This is :eq:`eq-id3-choice` of the book, whose chapter on ID3 describes the algorithm. A node gets one branch for
    each value of its attribute. A branch without rows becomes a leaf with its parent's majority. Of attributes with
    equal gain the first column wins; of classes with equal counts the first in sorted order.

    Parameters
    ----------
    min_gain : float, default 0
        A node whose best gain, in bits, is smaller becomes a leaf: the threshold epsilon of the algorithm. With 0
        a node splits as long as an attribute tells its rows apart, even with a gain of zero.
    max_depth : int or None, default None
        Largest number of questions on a path; None for no limit.
    min_samples_split : int, default 2
        A node with fewer rows becomes a leaf.

    Attributes
    ----------
    tree_ : Tree
        The grown tree.
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns; only when X is a data frame whose names are all strings.

    Notes
    -----
    Attributes are categorical: a column of numbers gets a branch for every distinct number. Missing entries are an
    error. Growing costs O(rows x attributes x depth). Source: Quinlan (1986); Zhou (2016), section 4.2.

    Examples
    --------
    >>> from treekit import ID3Classifier
    >>> from treekit.datasets import load_loan
    >>> loans = load_loan()
    >>> id3 = ID3Classifier().fit(loans.drop(columns="approved"), loans["approved"])
    >>> print(id3.tree_.export_text())
    house?
    ├── no: job?
    │   ├── no: no  [no 6, yes 0]
    │   └── yes: yes  [no 0, yes 3]
    └── yes: yes  [no 0, yes 6]
    """

    def __init__(self, min_gain: float = 0.0, max_depth: int | None = None, min_samples_split: int = 2):
        self.min_gain = min_gain
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split

    _numbers_are_categories = True
    _accepts_missing = False

    def _grow(self, table: TrainingTable) -> Tree:
        values, features, y, weight, _ = table
        check_number(self, "min_gain", low=0)
        check_number(self, "max_depth", low=0, whole=True, none=True)
        check_number(self, "min_samples_split", low=2, whole=True)
        entropy = Entropy(y, len(self.classes_))

        def score(level: Level, impurity: Floats) -> SplitCandidates:
            scores = [
                score_branches(level, column, feature.n_values, entropy) for feature, column in zip(features, values)
            ]
            return merge_candidates(scores)

        stop = StoppingRule(np.inf if self.max_depth is None else self.max_depth, self.min_samples_split, self.min_gain)
        return grow(values, features, entropy, weight, SplitSearch(score), stop, self.classes_)
