"""treekit: the decision trees of the book, written to be read."""

from treekit import datasets
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
from treekit.models.adaboost import AdaBoostClassifier
from treekit.models.bagging import BaggingClassifier
from treekit.models.c45 import C45Classifier
from treekit.models.cart import CARTClassifier, CARTRegressor
from treekit.models.deep_forest import CascadeForestClassifier
from treekit.models.gbdt import GBDTClassifier, GBDTRegressor
from treekit.models.id3 import ID3Classifier
from treekit.models.oblique import ObliqueTreeClassifier
from treekit.models.random_forest import RandomForestClassifier, RandomForestRegressor
from treekit.pruning.cost_complexity import CostComplexityPath, cost_complexity_path, prune_cost_complexity
from treekit.pruning.cut import cut
from treekit.pruning.held_out import preprune, prune_reduced_error
from treekit.pruning.pessimistic import binomial_limit, collapse, normal_limit, prune_pessimistic, weka_limit
from treekit.pruning.subtree_raising import prune_and_raise
from treekit.trees.node import Node
from treekit.trees.tree import Tree

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
    "weka_limit",
    "Tree",
    "Node",
    "datasets",
]
