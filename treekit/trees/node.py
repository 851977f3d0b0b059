"""One node of a tree, for reading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treekit.growing.encoding import Feature
from treekit.trees.structure import TreeStructure, majority

__all__ = ["Node", "walk"]


@dataclass(frozen=True)
class Node:
    """One node of a tree, for reading.

    Attributes
    ----------
    tree : Tree
        The tree that it belongs to.
    id : int
        Its number in the tree.
    """

    tree: TreeStructure
    id: int

    @property
    def is_leaf(self) -> bool:
        """Whether the node asks nothing."""
        return bool(self.tree.feature[self.id] < 0)

    @property
    def question(self) -> str | None:
        """Name of the attribute that the node asks for, or a linear combination such as "2 a - 0.5 b"; None at a leaf."""
        if self.tree.direction is not None and self.tree.direction[self.id].any():
            return _terms(self.tree.direction[self.id], self.tree.features)
        return None if self.is_leaf else self.tree.features[self.tree.feature[self.id]].name

    @property
    def gain(self) -> float:
        """What the node's split gains; 0 at a leaf."""
        return float(self.tree.gain[self.id])

    @property
    def impurity(self) -> float:
        """Impurity of the training rows in the node."""
        return float(self.tree.impurity[self.id])

    @property
    def depth(self) -> int:
        """Number of questions above the node."""
        return int(self.tree.depth[self.id])

    @property
    def n_samples(self) -> int:
        """Number of training rows in the node; 0 for an empty branch."""
        return int(self.tree.n_samples[self.id])

    @property
    def counts(self) -> dict[object, float]:
        """Weight of the training rows of each class in the node."""
        weights = np.round(self.tree.value[self.id] * self.tree.weight[self.id], 10)
        return dict(zip(self._classes, weights.tolist()))

    @property
    def label(self) -> object:
        """What the node would predict: its most frequent class, the first of them on a tie; or its number."""
        value = self.tree.value[self.id]
        return float(value[0]) if self.tree.classes is None else self._classes[int(majority(value))]

    @property
    def _classes(self) -> list:
        return [] if self.tree.classes is None else self.tree.classes.tolist()

    @property
    def parent(self) -> Node | None:
        """The node above; None for the root."""
        return None if self.id == 0 else Node(self.tree, int(self.tree.parent[self.id]))

    @property
    def branch(self) -> object:
        """The answer that leads here: a category, a list of them joined by "or", or "<= 3.5"; None for the root."""
        parent = self.parent
        if parent is None:
            return None
        k, tree = int(self.tree.branch[self.id]), self.tree
        categories = tree.features[tree.feature[parent.id]].categories
        if categories is None and np.isinf(tree.threshold[parent.id]):
            return "missing" if k else "known"
        if categories is None:
            return f"{'> ' if k else '<= '}{tree.threshold[parent.id]:.4g}"
        first = tree._first_route[parent.id]
        routes = tree.route[first : first + len(categories)].tolist()
        answers = [c for c, route in zip(categories.tolist(), routes) if route == k]
        return answers[0] if len(answers) == 1 else " or ".join(map(str, answers))

    @property
    def children(self) -> dict[object, Node]:
        """The nodes below, by the answer that leads to them."""
        first = int(self.tree.first_child[self.id])
        below = (Node(self.tree, first + k) for k in range(int(self.tree.n_children[self.id])))
        return {child.branch: child for child in below}


def walk(tree: TreeStructure) -> Iterator[Node]:
    """All nodes, each before its children, branch by branch: the order in which a tree is read aloud."""
    waiting = [0]
    while waiting:
        node = waiting.pop()
        yield Node(tree, node)
        first = int(tree.first_child[node])
        waiting.extend(reversed(range(first, first + int(tree.n_children[node]))))


def _terms(direction: NDArray[np.float64], features: tuple[Feature, ...]) -> str:
    """A linear combination in words, or their number where they are too many to read."""
    terms = [(c, feature.name) for c, feature in zip(direction.tolist(), features) if c != 0]
    if len(terms) > 4:
        return f"combination of {len(terms)} columns"
    return " ".join(f"{'-' if c < 0 else '+'} {abs(c):.3g} {name}" for c, name in terms).removeprefix("+ ")
