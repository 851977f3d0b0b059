"""treekit: the decision trees of the book, written to be read."""

from treekit import datasets
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
    "Tree",
    "Node",
    "datasets",
]
