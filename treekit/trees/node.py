"""One node of a tree, for reading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor, log10

import numpy as np

from treekit.numeric import Floats
from treekit.reading.encoding import Feature
from treekit.trees.structure import TreeStructure, majority

__all__ = ["Node", "walk"]

#: A threshold is printed with the fewest digits, from 4 on, that come so close to it, in units of its last binary
#: place. The midpoint of two decimals is a decimal, too, but for such an error: 1.65, not 1.6500000000000001.
ROUNDED = 2


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
        """Whether the node tests nothing."""
        return bool(self.tree.feature[self.id] < 0)

    @property
    def question(self) -> str | None:
        """Name of the feature that the node tests, or a linear combination such as "2 a - 0.5 b"; None at a leaf.

        Coefficients and threshold of a combination are rounded; ``tree.direction`` and ``tree.threshold`` hold them.
        """
        if self.tree.direction is not None and self._is_combination:
            return _terms(self.tree.direction[self.id], self.tree.features)
        return None if self.is_leaf else self.tree.features[self.tree.feature[self.id]].name

    @property
    def _is_combination(self) -> bool:
        return self.tree.direction is not None and bool(self.tree.direction[self.id].any())

    @property
    def gain(self) -> float:
        """How much the node's split lowers the impurity, in the unit of ``tree.criterion``; 0 at a leaf."""
        return float(self.tree.gain[self.id])

    @property
    def impurity(self) -> float:
        """Impurity of the training rows in the node, in the unit of ``tree.criterion``."""
        impurity = float(self.tree.impurity[self.id])
        # Only sums, which boosting keeps, may be negative; anything else below zero is rounding.
        return impurity + 0.0 if self.tree.gain_is_sum else max(impurity, 0.0)

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
        weight = self.tree.weight[self.id]
        # Ten decimals hide the rounding of a share times a weight; a small weight needs as many beyond its zeros.
        decimals = 10 if weight >= 1 or weight == 0 else 10 - floor(log10(weight))
        weights = np.round(self.tree.value[self.id] * weight, decimals)
        return dict(zip(self._classes, weights.tolist()))

    @property
    def label(self) -> object:
        """What the node would predict: its most frequent class, the first of them on a tie; or its number."""
        value = self.tree.value[self.id]
        return float(value[0]) + 0.0 if self.tree.classes is None else self._classes[int(majority(value))]

    @property
    def _classes(self) -> list[object]:
        return [] if self.tree.classes is None else self.tree.classes.tolist()

    @property
    def parent(self) -> Node | None:
        """The node above; None for the root."""
        return None if self.id == 0 else Node(self.tree, int(self.tree.parent[self.id]))

    @property
    def branch(self) -> object:
        """The answer that leads here; None for the root.

        It is "<= 3.5" or "> 3.5", or "known" or "missing"; or a category, or several joined by "or"; or a tuple of them
        where a category itself holds the word " or ", so that the branches of a node always differ.
        """
        parent = self.parent
        if parent is None:
            return None
        k, tree = int(self.tree.branch[self.id]), self.tree
        feature = tree.features[tree.feature[parent.id]]
        if feature.is_numeric and np.isinf(tree.threshold[parent.id]):
            return "missing" if k else "known"
        if feature.is_numeric:
            threshold = float(tree.threshold[parent.id]) + 0.0
            # The coefficients of a combination are rounded in ``question``: more digits here would be of no use.
            text = f"{threshold:.4g}" if parent._is_combination else threshold_text(threshold)
            return f"{'> ' if k else '<= '}{text}"
        answers = self.categories
        if not answers:
            return "missing"
        if len(answers) == 1:
            return answers[0]
        return tuple(answers) if feature.holds_or else " or ".join(map(str, answers))

    @property
    def categories(self) -> list[object]:
        """The categories that lead here, where the parent tests a column of categories; otherwise none."""
        parent, tree = self.parent, self.tree
        if parent is None or not tree.has_category_test[parent.id]:
            return []
        categories = tree.features[tree.feature[parent.id]].categories
        assert categories is not None
        return categories[tree.routes.categories(parent.id, int(tree.branch[self.id]))].tolist()

    @property
    def children(self) -> dict[object, Node]:
        """The nodes below, by the answer that leads to them."""
        first = int(self.tree.first_child[self.id])
        below = (Node(self.tree, first + k) for k in range(int(self.tree.n_children[self.id])))
        return {child.branch: child for child in below}


def walk(tree: TreeStructure) -> Iterator[Node]:
    """All nodes, each before its children, branch by branch: the depth-first order in which a tree is read."""
    waiting = [0]
    while waiting:
        node = waiting.pop()
        yield Node(tree, node)
        first = int(tree.first_child[node])
        waiting.extend(reversed(range(first, first + int(tree.n_children[node]))))


def threshold_text(threshold: float) -> str:
    """A threshold with the fewest digits, four or more, that send every row the same way.

    0.3815, 2.45, -118.155, 1700000000.5: two values of a column that lie on either side of the threshold lie on either
    side of the printed number, unless they are neighbours as floats.
    """
    for digits in range(4, 17):
        text = np.format_float_positional(threshold, precision=digits, fractional=False, trim="-")
        if abs(float(text) - threshold) <= ROUNDED * abs(threshold - np.nextafter(threshold, 0)):
            break
    else:
        text = repr(threshold)
    if len(text.lstrip("-")) > 20:  # 0.000...01 or 1000...0
        text = repr(float(text))
    return "0" if float(text) == 0 else text


def _terms(direction: Floats, features: tuple[Feature, ...]) -> str:
    """A linear combination in words, or how many columns it has where they are too many to read."""
    terms = [(c, feature.name) for c, feature in zip(direction.tolist(), features) if c != 0]
    if len(terms) > 4:
        return f"combination of {len(terms)} columns"
    return " ".join(f"{'-' if c < 0 else '+'} {abs(c):.3g} {name}" for c, name in terms).removeprefix("+ ")
