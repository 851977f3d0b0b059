"""treekit: the decision trees of the book, written to be read."""

from treekit import datasets
from treekit.adaboost import AdaBoostClassifier
from treekit.c45 import C45Classifier
from treekit.cart import CARTClassifier, CARTRegressor
from treekit.deep_forest import CascadeForestClassifier
from treekit.forests import BaggingClassifier, RandomForestClassifier, RandomForestRegressor
from treekit.gbdt import GBDTClassifier, GBDTRegressor
from treekit.id3 import ID3Classifier
from treekit.measures import (
    conditional_entropy,
    entropy,
    entropy_of_counts,
    gain_of_counts,
    gain_ratio,
    gini,
    gini_index,
    gini_of_counts,
    information_gain,
    joint_entropy,
    self_information,
    split_information,
)
from treekit.oblique import ObliqueTreeClassifier
from treekit.pruning import (
    CostComplexityPath,
    binomial_limit,
    collapse,
    cost_complexity_path,
    cut,
    normal_limit,
    preprune,
    prune_cost_complexity,
    prune_pessimistic,
    prune_reduced_error,
)
from treekit.raising import prune_and_raise
from treekit.tree import Node, Tree

__version__ = "0.1.0"

__all__ = [
    "self_information",
    "entropy",
    "joint_entropy",
    "conditional_entropy",
    "information_gain",
    "split_information",
    "gain_ratio",
    "gini",
    "gini_index",
    "entropy_of_counts",
    "gini_of_counts",
    "gain_of_counts",
    "ID3Classifier",
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "ObliqueTreeClassifier",
    "BaggingClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "AdaBoostClassifier",
    "GBDTClassifier",
    "GBDTRegressor",
    "CascadeForestClassifier",
    "prune_reduced_error",
    "preprune",
    "prune_pessimistic",
    "prune_and_raise",
    "cost_complexity_path",
    "CostComplexityPath",
    "prune_cost_complexity",
    "cut",
    "collapse",
    "binomial_limit",
    "normal_limit",
    "Tree",
    "Node",
    "datasets",
]
