"""treekit: the decision trees of the book, written to be read."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treekit import datasets as datasets
    from treekit.measures import conditional_entropy as conditional_entropy
    from treekit.measures import entropy as entropy
    from treekit.measures import entropy_of_counts as entropy_of_counts
    from treekit.measures import gain_of_counts as gain_of_counts
    from treekit.measures import gain_ratio as gain_ratio
    from treekit.measures import gini as gini
    from treekit.measures import gini_index as gini_index
    from treekit.measures import gini_of_counts as gini_of_counts
    from treekit.measures import information_gain as information_gain
    from treekit.measures import joint_entropy as joint_entropy
    from treekit.measures import self_information as self_information
    from treekit.measures import split_information as split_information
    from treekit.models.adaboost import AdaBoostClassifier as AdaBoostClassifier
    from treekit.models.bagging import BaggingClassifier as BaggingClassifier
    from treekit.models.c45 import C45Classifier as C45Classifier
    from treekit.models.cart import CARTClassifier as CARTClassifier
    from treekit.models.cart import CARTRegressor as CARTRegressor
    from treekit.models.contributions import contributions as contributions
    from treekit.models.deep_forest import CascadeForestClassifier as CascadeForestClassifier
    from treekit.models.gbdt import GBDTClassifier as GBDTClassifier
    from treekit.models.gbdt import GBDTRegressor as GBDTRegressor
    from treekit.models.id3 import ID3Classifier as ID3Classifier
    from treekit.models.oblique import ObliqueTreeClassifier as ObliqueTreeClassifier
    from treekit.models.random_forest import RandomForestClassifier as RandomForestClassifier
    from treekit.models.random_forest import RandomForestRegressor as RandomForestRegressor
    from treekit.pruning.cost_complexity import CostComplexityPath as CostComplexityPath
    from treekit.pruning.cost_complexity import cost_complexity_path as cost_complexity_path
    from treekit.pruning.cost_complexity import prune_cost_complexity as prune_cost_complexity
    from treekit.pruning.cut import cut as cut
    from treekit.pruning.held_out import preprune as preprune
    from treekit.pruning.held_out import prune_reduced_error as prune_reduced_error
    from treekit.pruning.pessimistic import binomial_limit as binomial_limit
    from treekit.pruning.pessimistic import collapse as collapse
    from treekit.pruning.pessimistic import normal_limit as normal_limit
    from treekit.pruning.pessimistic import prune_pessimistic as prune_pessimistic
    from treekit.pruning.pessimistic import weka_limit as weka_limit
    from treekit.pruning.subtree_raising import prune_and_raise as prune_and_raise
    from treekit.trees.node import Node as Node
    from treekit.trees.smoothing import smooth_shares as smooth_shares
    from treekit.trees.tree import Tree as Tree

__version__ = "0.1.0"

#: Where the names of the front door live. Each is imported when it is first used, so that `from treekit import
#: plain`, which needs the standard library alone, loads no NumPy: a browser has it in a second.
_HOMES = {
    "treekit.measures": "self_information entropy joint_entropy conditional_entropy information_gain split_information "
    "gain_ratio gini gini_index entropy_of_counts gini_of_counts gain_of_counts",
    "treekit.models.id3": "ID3Classifier",
    "treekit.models.c45": "C45Classifier",
    "treekit.models.cart": "CARTClassifier CARTRegressor",
    "treekit.models.oblique": "ObliqueTreeClassifier",
    "treekit.models.bagging": "BaggingClassifier",
    "treekit.models.random_forest": "RandomForestClassifier RandomForestRegressor",
    "treekit.models.adaboost": "AdaBoostClassifier",
    "treekit.models.gbdt": "GBDTClassifier GBDTRegressor",
    "treekit.models.deep_forest": "CascadeForestClassifier",
    "treekit.models.contributions": "contributions",
    "treekit.pruning.held_out": "prune_reduced_error preprune",
    "treekit.pruning.pessimistic": "prune_pessimistic collapse binomial_limit normal_limit weka_limit",
    "treekit.pruning.subtree_raising": "prune_and_raise",
    "treekit.pruning.cost_complexity": "cost_complexity_path CostComplexityPath prune_cost_complexity",
    "treekit.pruning.cut": "cut",
    "treekit.trees.smoothing": "smooth_shares",
    "treekit.trees.tree": "Tree",
    "treekit.trees.node": "Node",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [*_HOME, "datasets"]

if not TYPE_CHECKING:  # for type checkers any name would be there

    def __getattr__(name: str) -> Any:
        if name == "datasets":
            return import_module("treekit.datasets")
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOME[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
