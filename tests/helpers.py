"""What several test files share. ``from tests.helpers import ...`` works for one file and for all of them: the root of
the repository is on the path, because the conftest.py that every run of pytest loads lies there."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.base import ClassifierMixin

from treekit import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CascadeForestClassifier,
    GBDTClassifier,
    GBDTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    Tree,
)
from treekit.reading.encoding import Feature
from treekit.trees.routes import join_routes
from treekit.trees.structure import STOP

#: One quick model of each class.
MODELS = {
    type(model).__name__: model
    for model in (
        ID3Classifier(),
        C45Classifier(),
        CARTClassifier(),
        CARTRegressor(),
        ObliqueTreeClassifier(random_state=0),
        BaggingClassifier(n_estimators=2, random_state=0),
        RandomForestClassifier(n_estimators=2, random_state=0),
        RandomForestRegressor(n_estimators=2, random_state=0),
        AdaBoostClassifier(n_estimators=2),
        GBDTClassifier(n_estimators=2),
        GBDTRegressor(n_estimators=2),
        CascadeForestClassifier(n_forests=1, n_estimators=1, n_folds=2, max_levels=1, random_state=0),
    )
}


def nested(node) -> object:
    """A treekit tree as nested dicts, to be compared with a printed one."""
    return node.label if node.is_leaf else {node.question: {a: nested(child) for a, child in node.children.items()}}


def peak_bytes(work: Callable[[], object]) -> int:
    """The most memory that some work takes at once, of what Python allocates."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def chain(depth: int) -> Tree:
    """A tree that splits off one row after the other, the labels alternating: far deeper than Python can recurse.

    Node 2k asks whether x is above k + 0.5; its left child is a leaf, its right child, if any is left, asks on.
    """
    node = np.arange(2 * depth + 1)
    asks = (node % 2 == 0) & (node < 2 * depth)
    size = np.where(node % 2 == 0, depth + 1 - node // 2, 1)
    ones = np.where(asks, (size + 1) // 2, node // 2 % 2) / size
    return Tree(
        features=(Feature("x"),),
        classes=np.array([0, 1]),
        feature=np.where(asks, 0, -1),
        threshold=np.where(asks, node // 2 + 0.5, np.nan),
        routes=join_routes([]),
        n_children=np.where(asks, 2, 0),
        missing=np.where(asks, 0, STOP),
        gain=np.zeros(len(node)),
        impurity=2 * ones * (1 - ones),
        n_samples=size,
        weight=size.astype(float),
        value=np.stack([1 - ones, ones], axis=1),
    )


def trees_of(model) -> Iterator[Tree]:
    """Every tree of a fitted estimator, whatever keeps it."""
    if hasattr(model, "tree_"):
        yield model.tree_
    for member in getattr(model, "estimators_", []):
        yield from trees_of(member)
    for trees in getattr(model, "trees_", []):
        yield from trees
    for level in getattr(model, "levels_", []):
        for forest in level:
            yield from trees_of(forest)


def answers(model, X) -> np.ndarray:
    """What a model says about rows, as numbers: the shares of the classes, or its predictions."""
    return model.predict_proba(X) if isinstance(model, ClassifierMixin) else model.predict(X)


def assert_same_trees(one, other):
    """Two models ask the same questions at the same places; what they say and gain agrees but for rounding."""
    trees, others = list(trees_of(one)), list(trees_of(other))
    assert len(trees) == len(others) > 0
    for tree, same in zip(trees, others):
        for name in ("n_children", "feature", "missing", "routes"):
            np.testing.assert_array_equal(getattr(tree, name), getattr(same, name), err_msg=name)
        np.testing.assert_array_equal(tree.threshold, same.threshold)
        for name in ("value", "weight", "gain"):
            np.testing.assert_allclose(getattr(tree, name), getattr(same, name), rtol=1e-7, atol=1e-9, err_msg=name)
