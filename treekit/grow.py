"""The generator: every tree of the book is grown here, one level at a time.

The rows that are still on their way down are a table (row, node, weight). One turn of the loop asks three
questions of every node of a level at once: what does a leaf say, when to stop, and which split is best.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.measures import entropy_of_counts, gain_of_counts
from treekit.table import Feature
from treekit.tree import Tree

__all__ = ["grow", "best_split", "descend"]

#: Gains closer than this count as equal, so that rounding never chooses; the first attribute then wins.
TIE = 1e-10


class Level(NamedTuple):
    """The rows in the nodes of one depth; the nodes are numbered from 0 within the level."""

    row: NDArray[np.intp]
    node: NDArray[np.intp]
    weight: NDArray[np.float64]
    n_nodes: int

    def weight_by(self, key: NDArray[np.intp], n_keys: int) -> NDArray[np.float64]:
        """Weight of the rows by (node, key): an array of shape (n_nodes, n_keys)."""
        weights = np.bincount(self.node * n_keys + key, self.weight, minlength=self.n_nodes * n_keys)
        return weights.astype(float).reshape(self.n_nodes, n_keys)

    def only(self, chosen: NDArray[np.bool_]) -> Level:
        """The chosen nodes and their rows, the nodes numbered anew."""
        stays = np.flatnonzero(chosen[self.node])
        number = np.cumsum(chosen) - 1
        return Level(self.row[stays], number[self.node[stays]], self.weight[stays], int(chosen.sum()))


def grow(
    codes: NDArray[np.int32],
    features: tuple[Feature, ...],
    label: NDArray[np.intp],
    classes: NDArray,
    weight: NDArray[np.float64],
    min_gain: float = 0.0,
    max_depth: float = np.inf,
    min_samples_split: int = 2,
    impurity: Callable[..., NDArray[np.float64]] = entropy_of_counts,
) -> Tree:
    """Grow a tree whose nodes split into one branch for each value of their best attribute.

    Parameters
    ----------
    codes : array of shape (n_features, n_rows)
        Which value of each attribute a row has, from :func:`treekit.table.encode`.
    features : tuple of Feature
        Names and values of the attributes.
    label : array of shape (n_rows,)
        Class of each row, as a position in ``classes``.
    classes : array of shape (n_classes,)
        The labels.
    weight : array of shape (n_rows,)
        Weight of each row; rows of weight zero are left out.
    min_gain, max_depth, min_samples_split
        A node with a smaller gain, at this depth, or with fewer rows becomes a leaf.
    impurity : function
        What a split is to lower: :func:`treekit.entropy_of_counts` or :func:`treekit.gini_of_counts`.

    Returns
    -------
    Tree

    Notes
    -----
    A level costs O(rows in its open nodes x attributes), the tree O(rows x attributes x depth). No attribute is
    ever struck off: below a branch of its own it has one value left and cannot split again.
    """
    n_values = np.array([len(feature.categories) for feature in features])
    rows = np.flatnonzero(weight > 0)
    level = Level(rows, np.zeros_like(rows), weight[rows], 1)
    inherited = np.zeros((1, len(classes)))
    grown = []
    for depth in range(len(features) + 1):
        counts = level.weight_by(label[level.row], len(classes))
        n_samples = np.bincount(level.node, minlength=level.n_nodes)
        here = impurity(counts)

        # What does a leaf say? The shares of its classes; an empty branch repeats its parent.
        total = counts.sum(axis=1, keepdims=True)
        value = np.divide(counts, total, out=inherited, where=total > 0)

        # When to stop? When the labels agree, the tree is deep or the rows are few; or when no split gains enough.
        is_open = (here > 0) & (n_samples >= min_samples_split) & (depth < max_depth)

        # Which split is best?
        feature, gain = np.full(level.n_nodes, -1), np.zeros(level.n_nodes)
        feature[is_open], gain[is_open] = best_split(
            level.only(is_open), codes, n_values, label, len(classes), min_gain, impurity
        )

        n_children = np.where(feature >= 0, n_values[feature], 0)
        grown.append((feature, n_children, gain, here, n_samples, total[:, 0], value))
        if not n_children.any():
            break
        level = descend(level, feature, n_children, codes)
        inherited = np.repeat(value, n_children, axis=0)
    return Tree(features, classes, *map(np.concatenate, zip(*grown)))


def best_split(
    level: Level,
    codes: NDArray[np.int32],
    n_values: NDArray[np.intp],
    label: NDArray[np.intp],
    n_classes: int,
    min_gain: float,
    impurity: Callable[..., NDArray[np.float64]],
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The attribute of the largest gain in each node of a level, and its gain; -1 and 0 where none will do.

    An attribute will do when at least two of its values have rows in the node and its gain is at least
    ``min_gain``. All nodes are scored at once, an attribute at a time.
    """
    gains = np.full((len(codes), level.n_nodes), -np.inf)
    for j, column in enumerate(codes):
        cell = column[level.row].astype(np.intp) * n_classes + label[level.row]
        counts = level.weight_by(cell, n_values[j] * n_classes).reshape(level.n_nodes, n_values[j], n_classes)
        splits = np.count_nonzero(counts.sum(axis=2), axis=1) >= 2
        gains[j, splits] = gain_of_counts(counts[splits], impurity)
    gain = gains.max(axis=0)
    feature = np.argmax(gains >= gain - TIE, axis=0)
    found = gain >= min_gain
    return np.where(found, feature, -1), np.where(found, gain, 0)


def descend(level: Level, feature: NDArray[np.intp], n_children: NDArray[np.intp], codes: NDArray[np.int32]) -> Level:
    """The next level: every row of a node that splits goes down the branch of its value."""
    first_child = np.cumsum(n_children) - n_children
    moves = np.flatnonzero(n_children[level.node])
    row, node = level.row[moves], level.node[moves]
    return Level(row, first_child[node] + codes[feature[node], row], level.weight[moves], int(n_children.sum()))
