"""A tree in words: as a data frame, as indented text, as rules. No function recurses, so a tree may be of any depth."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from treekit.trees.node import Node, walk
from treekit.trees.structure import UNITS, TreeStructure

__all__ = ["to_frame", "export_text", "export_rules"]

#: Characters that break a line or may not stand in XML.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def to_frame(tree: TreeStructure) -> pd.DataFrame:
    """A tree as a data frame, one row for each node, in the order of the nodes' numbers.

    Parameters
    ----------
    tree : Tree

    Returns
    -------
    DataFrame
        Columns: parent (-1 for the root), depth, branch (the answer that leads here), feature (what the node tests),
        n_samples, weight, impurity, gain, value (the label or number that the node predicts), is_leaf. The ``attrs`` of
        the frame hold the criterion ("" where it is not known), the unit of impurity and gain, such as "bits", and
        whether they are sums over the rows of a node or means.
    """
    nodes = [Node(tree, k) for k in range(tree.n_nodes)]
    columns = {
        "parent": tree.parent,
        "depth": tree.depth,
        "branch": [node.branch for node in nodes],
        "feature": [node.question for node in nodes],
        "n_samples": tree.n_samples,
        "weight": tree.weight,
        "impurity": [node.impurity for node in nodes],
        "gain": tree.gain,
        "value": [node.label for node in nodes],
        "is_leaf": tree.is_leaf,
    }
    frame = pd.DataFrame(columns, index=pd.RangeIndex(tree.n_nodes, name="node"))
    per_node = "sum" if tree.gain_is_sum else "mean"
    frame.attrs |= {"criterion": tree.criterion, "unit": UNITS.get(tree.criterion, ""), "per_node": per_node}
    return frame


def export_text(tree: TreeStructure) -> str:
    """A tree as indented text: questions end in a question mark; leaves show what they predict, and their rows.

    Parameters
    ----------
    tree : Tree

    Returns
    -------
    str
        One line for each node, each node before its children.
    """
    lines = []
    # What is printed left of the children of a node at each depth: a bar while that node has siblings to come.
    margin = [""]
    for node in walk(tree):
        parent, depth = node.parent, node.depth
        if parent is None:
            lines.append(summary(node))
            continue
        is_last = node.id == tree.first_child[parent.id] + tree.n_children[parent.id] - 1
        lines.append(f"{margin[depth - 1]}{'└── ' if is_last else '├── '}{branch_text(node)}: {summary(node)}")
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
        Each rule ends with its training rows, by class where there are classes. A threshold on a column has enough
        digits to send every row down the tree's own branch; a linear combination and its threshold are rounded.
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
    return f"{question_text(parent)} {'' if is_cut else '= '}{branch_text(node)}"


def summary(node: Node) -> str:
    """A node in a few words: ``texture?``, ``yes  [no 0, yes 5]`` or ``5.724  [6 rows]``."""
    if not node.is_leaf:
        return f"{question_text(node)}?"
    return f"{label_text(node)}  [{counts_text(node)}]"


def one_line(words: object) -> str:
    """Words as text without line breaks and control characters, which are written as ``\\n``, ``\\x00``, ..."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), str(words))


def question_text(node: Node) -> str:
    """What a node tests, on one line."""
    return one_line(node.question)


def branch_text(node: Node, max_categories: int | None = None) -> str:
    """The answer that leads to a node, on one line; of many categories the first few, and how many more there are."""
    n_more = len(node.categories) - (max_categories or len(node.categories))
    if n_more <= 0:
        return one_line(node.branch)
    return one_line(" or ".join([*map(str, node.categories[:max_categories]), f"{n_more} more"]))


def label_text(node: Node) -> str:
    """What a node would predict: a class as it is, a number with four digits."""
    return f"{node.label:.4g}" if isinstance(node.label, float) and node.tree.classes is None else one_line(node.label)


def counts_text(node: Node) -> str:
    """The rows of a node, by class where there are classes: ``no 0, yes 5``, ``6 rows``, or ``empty``."""
    if node.n_samples == 0:
        return "empty"
    if node.tree.classes is None:
        return f"{node.n_samples} row{'s' if node.n_samples > 1 else ''}"
    return ", ".join(f"{one_line(label)} {weight_text(weight)}" for label, weight in node.counts.items())


def weight_text(weight: float) -> str:
    """A weight with six digits, and whole numbers in full: 1234567, 2.33333, 1e-12."""
    return f"{weight:.0f}" if weight == round(weight) or weight >= 1e6 else f"{weight:g}"
