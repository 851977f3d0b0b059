"""The sources' way to grow a tree: for every column and every threshold, split the rows and compute the entropy anew.

Row by row, in Python, as the formulas are read. A column of n rows has n - 1 thresholds and each asks all n rows, so a
node costs O(n²) for each column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

#: Gains that differ by less are equal; of equal gains the first column wins, and in it the smallest threshold.
TIE = 1e-12


@dataclass
class Node:
    """A question `column <= threshold?` and its two answers, or a leaf, where the column is -1."""

    n_rows: int
    column: int = -1
    threshold: float = 0.0
    branches: tuple[Node, ...] = ()


def entropy(labels: Sequence[int]) -> float:
    """H = - sum of p log2 p over the shares p of the classes, in bits."""
    counts: dict[int, int] = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    return -sum(count / len(labels) * log2(count / len(labels)) for count in counts.values())


def best_split(rows: Sequence[Sequence[float]], labels: Sequence[int]) -> tuple[float, int, float]:
    """The largest information gain, its column and its threshold."""
    best = (-1.0, -1, 0.0)
    whole = entropy(labels)
    for column in range(len(rows[0])):
        values = sorted({row[column] for row in rows})
        for low, high in zip(values, values[1:]):
            threshold = (low + high) / 2
            left = [label for row, label in zip(rows, labels) if row[column] <= threshold]
            right = [label for row, label in zip(rows, labels) if row[column] > threshold]
            gain = whole - (len(left) * entropy(left) + len(right) * entropy(right)) / len(labels)
            if gain > best[0] + TIE:
                best = (gain, column, threshold)
    return best


def grow(rows: Sequence[Sequence[float]], labels: Sequence[int], max_depth: int) -> Node:
    """The tree below some rows."""
    if max_depth == 0 or len(set(labels)) == 1:
        return Node(len(rows))
    _, column, threshold = best_split(rows, labels)
    if column < 0:  # all rows are alike
        return Node(len(rows))
    sides = ([i for i, row in enumerate(rows) if (row[column] > threshold) == side] for side in (False, True))
    branches = tuple(grow([rows[i] for i in side], [labels[i] for i in side], max_depth - 1) for side in sides)
    return Node(len(rows), column, threshold, branches)
