"""A tree in words: a data frame, an indented text, a list of rules. None of them recurses, however deep the tree."""

from __future__ import annotations

import numpy as np
import pandas as pd

from treekit.trees.node import Node, walk
from treekit.trees.structure import TreeStructure

__all__ = ["to_frame", "export_text", "export_rules"]


def to_frame(tree: TreeStructure) -> pd.DataFrame:
    """A tree as a data frame, one row a node, in the order of the nodes' numbers.

    Parameters
    ----------
    tree : Tree

    Returns
    -------
    DataFrame
        Columns: parent (-1 for the root), depth, branch (the answer that leads here), feature (the question),
        n_samples, weight, impurity and gain (bits), value (the label that the node predicts), is_leaf.
    """
    nodes = [Node(tree, k) for k in range(tree.n_nodes)]
    columns = {
        "parent": tree.parent,
        "depth": tree.depth,
        "branch": [node.branch for node in nodes],
        "feature": [node.question for node in nodes],
        "n_samples": tree.n_samples,
        "weight": tree.weight,
        "impurity": tree.impurity,
        "gain": tree.gain,
        "value": [node.label for node in nodes],
        "is_leaf": tree.is_leaf,
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(tree.n_nodes, name="node"))


def export_text(tree: TreeStructure) -> str:
    """A tree as indented text: questions end in a question mark, leaves name their label and class counts.

    Parameters
    ----------
    tree : Tree

    Returns
    -------
    str
        One line a node, each node before its children.
    """
    lines = []
    # What to print left of the children of a node at each depth: a bar while that node has siblings to come.
    margin = [""]
    for node in walk(tree):
        parent, depth = node.parent, node.depth
        if parent is None:
            lines.append(summary(node))
            continue
        is_last = node.id == tree.first_child[parent.id] + tree.n_children[parent.id] - 1
        lines.append(f"{margin[depth - 1]}{'└── ' if is_last else '├── '}{node.branch}: {summary(node)}")
        margin[depth:] = [margin[depth - 1] + ("    " if is_last else "│   ")]
    return "\n".join(lines)


def export_rules(tree: TreeStructure) -> list[str]:
    """A tree as a list of if-then rules, one for each leaf, in the order of :func:`export_text`.

    Parameters
    ----------
    tree : Tree

    Returns
    -------
    list of str
        Each rule ends with the class counts of its training rows.
    """
    rules = []
    conditions: list[str] = []
    for node in walk(tree):
        parent, depth = node.parent, node.depth
        if parent is not None:
            conditions[depth - 1 :] = [condition(parent, node)]
        if node.is_leaf:
            rules.append(f"if {' and '.join(conditions) or 'anything'} then {summary(node)}")
    return rules


def condition(parent: Node, node: Node) -> str:
    """What leads from a node to its child: ``root = curly``, or ``density <= 0.3815``."""
    is_cut = np.isfinite(parent.tree.threshold[parent.id])
    return f"{parent.question} {node.branch}" if is_cut else f"{parent.question} = {node.branch}"


def summary(node: Node) -> str:
    """A node in a few words: ``texture?``, ``yes  [no 0, yes 5]`` or ``5.724  [6 rows]``."""
    if not node.is_leaf:
        return f"{node.question}?"
    return f"{label_text(node)}  [{counts_text(node)}]"


def label_text(node: Node) -> str:
    """What a node would predict: a class as it is, a number with four digits."""
    return f"{node.label:.4g}" if isinstance(node.label, float) and node.tree.classes is None else str(node.label)


def counts_text(node: Node) -> str:
    """The rows of a node, by class where there are classes: ``no 0, yes 5``, ``6 rows``, or ``empty``."""
    if node.n_samples == 0:
        return "empty"
    if node.tree.classes is None:
        return f"{node.n_samples} row{'s' if node.n_samples > 1 else ''}"
    return ", ".join(f"{label} {weight:g}" for label, weight in node.counts.items())
