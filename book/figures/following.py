"""Rows that fall through a drawn tree: where each one ends, and its path in words, as JSON for the page's script.

Python finds the paths. The script, ``book/explorables/rows.js``, only marks them in the drawing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from treekit.numeric import Floats, Numbers
from treekit.pen.svg import script_json
from treekit.reading.encoding import encode_table
from treekit.trees.drawing import Drawing, draw_tree, n_drawn
from treekit.trees.export import condition, label_text, one_line, question_text
from treekit.trees.node import Node
from treekit.trees.structure import TreeStructure, majority
from treekit.trees.traversal import membership

__all__ = ["draw_with_rows"]
MOST_ROWS = 40  # in one list to choose from
MOST_ENDS = 4  # of a row that is shared out, that are put into words


@dataclass(frozen=True, repr=False)
class FollowedDrawing(Drawing):
    """A drawing with rows to follow."""

    rows: str = ""

    @property
    def html(self) -> str:
        """The rows stand behind the drawing, for the script of the page; without that they do nothing."""
        return f'{super().html}<script type="application/json" class="treekit-rows">{self.rows}</script>'


def draw_with_rows(tree: TreeStructure, rows: pd.DataFrame, max_nodes: int = 80) -> FollowedDrawing:
    """Draw a tree whose reader can choose a row and see its path, in the drawing, in the outline and in words.

    The page's script reads an object: ``parent``, the number of the node above each drawn node, and ``rows``, a triple
    for each row: its name, the share of it that ends in each node, and its path in words. The nodes that a row passes
    are those where it ends and all above them.

    Parameters
    ----------
    tree : Tree
    rows : data frame of shape (n_rows, n_features)
        At most 40 rows, with the columns of the training table; the index holds their names. A row that is shared out
        among several branches takes all of them; one that ends below the drawing ends, in it, in the last node that it
        passes.
    max_nodes : int
        As for :meth:`treekit.Tree.draw`.

    Raises
    ------
    TypeError
        If rows is no data frame.
    ValueError
        If rows has other columns than the training table, no row at all, or more than 40.
    """
    if not isinstance(rows, pd.DataFrame):
        raise TypeError(f"rows must be a data frame; got {type(rows).__name__}.")
    if len(rows) > MOST_ROWS:
        raise ValueError(f"rows must be at most {MOST_ROWS}; got {len(rows)}. Choose some, as by rows.head(20).")
    try:
        values = encode_table(rows, tree.features)
    except ValueError as error:
        raise ValueError(f"rows: {error}") from error
    drawing = draw_tree(tree, max_nodes, numbers_nodes=True)
    followed = _paths(tree, values, [one_line(name) for name in rows.index], n_drawn(tree, max_nodes))
    return FollowedDrawing(drawing.svg, drawing.outline, drawing.key, followed)


def _paths(tree: TreeStructure, values: Numbers, names: list[str], n_shown: int) -> str:
    """What the script reads."""
    share = membership(tree, values).toarray()
    shown = share @ _last_shown(tree, n_shown)
    lines = ",\n".join(
        script_json([name, _ends(shown[row]), f"Row {name}{_in_words(tree, values, row, share[row])}"])
        for row, name in enumerate(names)
    )
    return f'{{"parent":{script_json(tree.parent[:n_shown].tolist())},\n"rows":[\n{lines}\n]}}'


def _last_shown(tree: TreeStructure, n_shown: int) -> Floats:
    """For each node the last shown node on the way to it: a matrix of zeros and ones, (n_nodes, n_shown)."""
    last = np.arange(tree.n_nodes)
    while (below := last >= n_shown).any():
        last[below] = tree.parent[last[below]]
    return np.eye(n_shown)[last]


def _ends(share: Floats) -> dict[int, float]:
    """The nodes in which a part of a row ends, with the shares, to three decimals."""
    nodes = np.flatnonzero(share)
    return dict(zip(nodes.tolist(), share[nodes].round(3).tolist()))


def _in_words(tree: TreeStructure, values: Numbers, row: int, share: Floats) -> str:
    """The path of one row: answers and prediction, for each part of it where it is shared out."""
    ends = np.flatnonzero(share)
    if len(ends) == 1:
        [end] = ends.tolist()
        return f": {_answers(tree, values, row, end)}. Predicted: {label_text(Node(tree, end))}."
    largest_first = ends[np.argsort(-share[ends], kind="stable")].tolist()
    parts = [
        f"{share[end]:.3f} of it: {_answers(tree, values, row, end)}; {label_text(Node(tree, end))}."
        for end in largest_first[:MOST_ENDS]
    ]
    if len(ends) > MOST_ENDS:
        parts.append(f"The rest ends in {len(ends) - MOST_ENDS} more.")
    return f" is shared out among {len(ends)} nodes. {' '.join(parts)} {_prediction(tree, share @ tree.value)}"


def _prediction(tree: TreeStructure, mean: Floats) -> str:
    """What is predicted from the mean of the nodes where the parts of a row end."""
    if tree.classes is None:
        return f"Predicted: {mean[0]:.4g}."
    shares = ", ".join(f"{one_line(label)} {part:.3f}" for label, part in zip(tree.classes, mean.tolist()))
    return f"Together: {shares}. Predicted: {one_line(tree.classes[int(majority(mean))])}."


def _answers(tree: TreeStructure, values: Numbers, row: int, end: int) -> str:
    """The answers from the root to a node; a branch that is not the row's own answer stands after *as if*."""
    children: list[Node] = []
    node: Node | None = Node(tree, end)
    while node is not None and node.id:
        children.insert(0, node)
        node = node.parent
    parents = tree.parent[[child.id for child in children]].astype(np.intp)
    has_answer = tree.branch_taken(values, parents, np.full(len(parents), row)) >= 0
    words = [
        f"{'' if is_own else 'as if '}{condition(Node(tree, int(parent)), child)}"
        for is_own, parent, child in zip(has_answer, parents, children)
    ]
    if not tree.is_leaf[end]:
        words.append(f"no branch for its {question_text(Node(tree, end))}")
    return ", ".join(words) or "no question"
