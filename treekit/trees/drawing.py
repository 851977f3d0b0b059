"""A tree as a picture: the cards of its nodes, which :mod:`treekit.pen.diagram` draws."""

from __future__ import annotations

from numbers import Real

import numpy as np

from treekit.numeric import Floats
from treekit.pen.diagram import Card, Drawing, draw_cards
from treekit.trees.export import branch_text, counts_text, label_text, one_line, question_text, weight_text
from treekit.trees.node import Node, walk
from treekit.trees.structure import TreeStructure

__all__ = ["draw_tree", "n_drawn", "Drawing"]
MAX_CATEGORIES = 8  # categories that are named on one branch


def draw_tree(tree: TreeStructure, max_nodes: int = 80, numbers_nodes: bool = False) -> Drawing:
    """Draw a tree from the top, level by level, as many whole levels as ``max_nodes`` nodes hold.

    Parameters
    ----------
    tree : Tree
    max_nodes : int
        Deeper levels are left out; a node whose children are left out shows "more below", or the number of its branches
        if there are more than eight. Of many categories on one branch only the first eight are named.
    numbers_nodes : bool
        Whether edges, cards and lines of the outline bear the number of their node, as ``data-node``, for a script.

    Returns
    -------
    Drawing

    Raises
    ------
    ValueError
        If ``max_nodes`` is smaller than 1.
    """
    if not (isinstance(max_nodes, Real) and max_nodes >= 1):
        raise ValueError(f"max_nodes must be a number, 1 or more; got {max_nodes!r}.")
    n_shown = n_drawn(tree, max_nodes)
    cards = [_card(Node(tree, k), n_shown) for k in range(n_shown)]
    labels = [] if tree.classes is None else [one_line(label) for label in tree.classes]
    return draw_cards(cards, labels, _spoken(tree, n_shown), numbers_nodes)


def n_drawn(tree: TreeStructure, max_nodes: float) -> int:
    """How many nodes a drawing shows. They are numbered level by level, so whole levels are the first so many nodes."""
    ends = np.cumsum(np.bincount(tree.depth))
    return int(ends[ends <= max_nodes][-1])


def _card(node: Node, n_shown: int) -> Card:
    """What a node shows."""
    tree, k = node.tree, node.id
    first, n_children = int(tree.first_child[k]), int(tree.n_children[k])
    shows_children = not node.is_leaf and first < n_shown
    more = f"{n_children} branches below" if n_children > MAX_CATEGORIES else "more below"
    below = f"gain {node.gain:.3f}" if shows_children else more
    return Card(
        parent=int(tree.parent[k]),
        depth=node.depth,
        children=range(first, first + n_children) if shows_children else range(0),
        title=label_text(node) if node.is_leaf else f"{question_text(node)}?",
        below=_counts(node) if node.is_leaf else below,
        branch="" if node.parent is None else branch_text(node, MAX_CATEGORIES),
        told=counts_text(node) if node.is_leaf else below,
        bar=[] if node.n_samples == 0 else _bar_parts(node).tolist(),
        share=float(tree.weight[k] / tree.weight[0]),
        is_leaf=node.is_leaf,
        is_empty=node.n_samples == 0,
    )


def _counts(node: Node) -> str:
    if node.n_samples == 0 or node.tree.classes is None:
        return counts_text(node)
    return " : ".join(map(weight_text, node.counts.values()))


def _bar_parts(node: Node) -> Floats:
    """Widths in the bar: the shares of the classes; for a number, where it lies between the least and the largest."""
    tree = node.tree
    if tree.classes is not None:
        return tree.value[node.id]
    least, largest = tree.value.min(), tree.value.max()
    return (tree.value[node.id] - least) / (largest - least if largest > least else 1.0)


def _spoken(tree: TreeStructure, n_shown: int) -> str:
    """Alternative text: the size of the tree, then the questions and leaves shown, down to the second level."""
    sentences = [f"Decision tree with {tree.n_nodes} nodes and {tree.n_leaves} leaves."]
    for node in walk(tree):
        if node.depth > 2 or node.id >= n_shown:
            continue
        path = "" if node.parent is None else f"{question_text(node.parent)} {branch_text(node, MAX_CATEGORIES)}: "
        sentences.append(f"{path}{f'predicts {label_text(node)}' if node.is_leaf else f'tests {question_text(node)}'}.")
    return " ".join(sentences)
