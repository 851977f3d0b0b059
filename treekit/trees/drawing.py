"""A tree as a picture: SVG on a wide page, a nested outline on a phone, both in one piece of HTML.

The SVG reads from the top: a card for each node with its test and its gain, a bar of its rows by class (of the mean,
between the least and the largest, where the tree predicts numbers), an edge for each answer, as thick as its share of
the rows; a branch without rows ends in a dashed card. Text has the colour of the page around it, so a dark page needs
no second drawing.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from xml.sax.saxutils import escape

import numpy as np

from treekit.numeric import Floats
from treekit.pen import svg
from treekit.pen.palette import class_color
from treekit.trees.export import branch_text, counts_text, label_text, one_line, question_text, weight_text
from treekit.trees.node import Node, walk
from treekit.trees.structure import TreeStructure

__all__ = ["draw_tree", "n_drawn", "Drawing"]
CARD_HEIGHT = 54
LEVEL_HEIGHT = 112
GAP = 14
LETTER = 8.2  # width of a letter, bold, at 13 pixels; Chinese characters take two
MAX_CATEGORIES = 8  # categories that are named on one branch
STYLE = """<style>
.treekit-tree{container-type:inline-size;overflow-x:auto;line-height:1.4}
.treekit-tree svg{display:block;height:auto;margin:auto}
.treekit-tree .outline{display:none}
.treekit-tree details{margin-left:.6em;padding-left:.6em;border-left:1px solid currentColor}
.treekit-tree summary{cursor:pointer;padding:.35em 0}
.treekit-tree p{margin:0 0 0 .6em;padding:.35em .6em;border-left:1px solid currentColor}
.treekit-tree .bar{display:inline-block;width:3em;height:.6em;margin-right:.4em}
.treekit-tree .key{display:flex;flex-wrap:wrap;gap:.2em 1.2em;justify-content:center;margin-top:.6em;font-size:.9em}
.treekit-tree .key .bar{width:1em}
@container (max-width:560px){.treekit-tree svg{display:none}.treekit-tree .outline{display:block}}
</style>"""


@dataclass(frozen=True, repr=False)
class Drawing:
    """What :func:`draw_tree` draws; a notebook shows ``html``, a file can hold ``svg``."""

    svg: str
    outline: str
    key: str

    @property
    def html(self) -> str:
        """The drawing, the outline for narrow pages, and the key to the colours.

        It can hold the focus, so that a wide drawing scrolls by the arrow keys.
        """
        inside = f'{self.svg}<div class="outline">{self.outline}</div>{self.key}'
        return f'{STYLE}<div class="treekit-tree" tabindex="0">{inside}</div>'

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return "Drawing of a tree"


def draw_tree(tree: TreeStructure, max_nodes: int = 80, numbers_nodes: bool = False) -> Drawing:
    """Draw a tree from the top, level by level, as many whole levels as ``max_nodes`` nodes hold.

    Parameters
    ----------
    tree : Tree
    max_nodes : int
        Deeper levels are left out; a shown node whose children are not says "more below", or how many branches it has
        where these are many. Of many categories on one branch only the first few are named.
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
    return Drawing(_svg(tree, n_shown, numbers_nodes), _outline(tree, n_shown, numbers_nodes), _key(tree))


def n_drawn(tree: TreeStructure, max_nodes: float) -> int:
    """How many nodes a drawing shows: nodes are numbered level by level, so whole levels are those up to a number."""
    ends = np.cumsum(np.bincount(tree.depth))
    return int(ends[ends <= max_nodes][-1])


# -- SVG --------------------------------------------------------------------------------------------------------


def _svg(tree: TreeStructure, n_shown: int, numbers_nodes: bool) -> str:
    """The drawing from the top."""
    nodes = [Node(tree, k) for k in range(n_shown)]
    card_width = max(84.0, *(LETTER * _letters(word) + 20 for node in nodes for word in _words(node, n_shown)))
    center = _centers(tree, n_shown) * (card_width + GAP) + card_width / 2
    width = float(center.max()) + card_width / 2
    height = int(tree.depth[:n_shown].max()) * LEVEL_HEIGHT + CARD_HEIGHT
    edges = [_edge(node, center) for node in nodes[1:]]
    cards = [_card(node, center[node.id] - card_width / 2, card_width, n_shown) for node in nodes]
    if numbers_nodes:
        edges = [svg.element("g", edge, data_node=node.id) for node, edge in zip(nodes[1:], edges)]
        cards = [svg.element("g", card, data_node=node.id) for node, card in zip(nodes, cards)]
    # A picture a little too wide shrinks, a much too wide one scrolls: letters stay legible.
    style = f"width:100%;max-width:{svg.number(width + 4)}px;min-width:{svg.number(0.8 * width)}px"
    return svg.element(
        "svg",
        "".join(edges + cards),
        viewBox=f"-2 -2 {svg.number(width + 4)} {svg.number(height + 4)}",
        role="img",
        aria_label=_spoken(tree, n_shown),
        style=style,
        font_family="inherit",
        font_size=13,
        text_anchor="middle",
        fill="currentColor",
    )


def _centers(tree: TreeStructure, n_shown: int) -> Floats:
    """Horizontal position of each shown node, in cards: side by side on a level, parents above their children.

    The method of Wetherell and Shannon (1979), from right to left because that is the order of falling numbers: where
    the position above its children is taken, a parent moves to the next free one, and its subtree follows.
    """
    depth = tree.depth[:n_shown]
    free, shift = np.zeros(depth.max() + 1), np.zeros(depth.max() + 1)
    place, follow = np.zeros(n_shown), np.zeros(n_shown)
    for k in reversed(range(n_shown)):
        level = depth[k]
        place[k] = free[level]
        if _shows_children(Node(tree, k), n_shown):
            first = tree.first_child[k]
            middle = (place[first] + place[first + tree.n_children[k] - 1]) / 2
            shift[level] = max(shift[level], free[level] - middle)
            place[k] = middle + shift[level]
        follow[k] = shift[level]
        free[level] = place[k] + 1
    moved = np.zeros(n_shown)
    for k in range(1, n_shown):
        parent = tree.parent[k]
        moved[k] = moved[parent] + follow[parent]
    place += moved
    return place.max() - place


def _shows_children(node: Node, n_shown: int) -> bool:
    return not node.is_leaf and node.tree.first_child[node.id] < n_shown


def _words(node: Node, n_shown: int) -> tuple[str, str, str]:
    """The text of a card: a title, a line under it, and the answer that leads to it."""
    branch = "" if node.parent is None else branch_text(node, MAX_CATEGORIES)
    if node.is_leaf:
        return label_text(node), _counts(node), branch
    n_branches = int(node.tree.n_children[node.id])
    more = f"{n_branches} branches below" if n_branches > MAX_CATEGORIES else "more below"
    below = f"gain {node.gain:.3f}" if _shows_children(node, n_shown) else more
    return f"{question_text(node)}?", below, branch


def _counts(node: Node) -> str:
    if node.n_samples == 0 or node.tree.classes is None:
        return counts_text(node)
    return " : ".join(map(weight_text, node.counts.values()))


def _card(node: Node, left: float, width: float, n_shown: int) -> str:
    top = node.depth * LEVEL_HEIGHT
    title, below, _ = _words(node, n_shown)
    frame = svg.rect(
        left,
        top,
        width,
        CARD_HEIGHT,
        rx=CARD_HEIGHT / 2 if node.is_leaf else 6,
        fill="none",
        stroke="currentColor",
        stroke_opacity=0.5,
        **({"stroke_dasharray": "4 4"} if node.n_samples == 0 else {}),
    )
    inset = 16
    words = svg.text(left + width / 2, top + 20, title, font_weight="bold")
    bar = _bar(node, left + inset, top + 26, width - 2 * inset, 6)
    return frame + words + bar + svg.text(left + width / 2, top + 47, below, font_size=12)


def _bar(node: Node, left: float, top: float, width: float, height: float) -> str:
    """The parts of the node's bar, side by side, on a faint track."""
    if node.n_samples == 0:
        return ""
    track = svg.rect(left, top, width, height, fill="currentColor", fill_opacity=0.15)
    parts = _bar_parts(node)
    starts = np.cumsum(parts) - parts
    return track + "".join(
        svg.rect(left + start * width, top, part * width, height, style=f"fill:{class_color(k)}")
        for k, (start, part) in enumerate(zip(starts.tolist(), parts.tolist()))
        if part > 0
    )


def _bar_parts(node: Node) -> Floats:
    """Widths in the bar: the shares of the classes; for a number, where it lies between the least and the largest."""
    tree = node.tree
    if tree.classes is not None:
        return tree.value[node.id]
    least, largest = tree.value.min(), tree.value.max()
    return (tree.value[node.id] - least) / (largest - least if largest > least else 1.0)


def _edge(node: Node, center: Floats) -> str:
    """The line from the parent's card, as thick as the share of the rows, with the answer above the child's card."""
    parent = node.tree.parent[node.id]
    x1, x2 = float(center[parent]), float(center[node.id])
    y1, y2 = (node.depth - 1) * LEVEL_HEIGHT + CARD_HEIGHT, node.depth * LEVEL_HEIGHT
    share = float(node.tree.weight[node.id] / node.tree.weight[0])
    fork, turn = y1 + 12, y2 - 24
    path = f"M{svg.number(x1)} {y1}V{fork}L{svg.number(x2)} {turn}"
    line = svg.element(
        "path",
        d=path,
        fill="none",
        stroke="currentColor",
        stroke_width=1 + 5 * share,
        stroke_opacity=0.35,
        **({"stroke_dasharray": "4 4"} if node.n_samples == 0 else {}),
    )
    return line + svg.text(x2, y2 - 8, branch_text(node, MAX_CATEGORIES))


def _letters(words: str) -> int:
    return sum(2 if ord(letter) > 0x2E80 else 1 for letter in words)


def _spoken(tree: TreeStructure, n_shown: int) -> str:
    """Alternative text: the size of the tree, then the tests and leaves that are shown, down to the second level."""
    sentences = [f"Decision tree with {tree.n_nodes} nodes and {tree.n_leaves} leaves."]
    for node in walk(tree):
        if node.depth > 2 or node.id >= n_shown:
            continue
        path = "" if node.parent is None else f"{question_text(node.parent)} {branch_text(node, MAX_CATEGORIES)}: "
        sentences.append(f"{path}{f'predicts {label_text(node)}' if node.is_leaf else f'tests {question_text(node)}'}.")
    return " ".join(sentences)


# -- outline ----------------------------------------------------------------------------------------------------


def _outline(tree: TreeStructure, n_shown: int, numbers_nodes: bool) -> str:
    """The tree as nested details elements, open at first."""
    parts: list[str] = []
    open_depth: list[int] = []
    for node in walk(tree):
        if node.id >= n_shown:
            continue
        while open_depth and open_depth[-1] >= node.depth:
            parts.append("</details>")
            open_depth.pop()
        title, below, branch = _words(node, n_shown)
        branch = "" if node.parent is None else f"{escape(branch)}: "
        small = counts_text(node) if node.is_leaf else below
        line = f"{branch}{_swatch(_gradient(node))}<strong>{escape(title)}</strong> <small>{escape(small)}</small>"
        number = f' data-node="{node.id}"' if numbers_nodes else ""
        if _shows_children(node, n_shown):
            parts.append(f"<details open{number}><summary>{line}</summary>")
            open_depth.append(node.depth)
        else:
            parts.append(f"<p{number}>{line}</p>")
    return "".join(parts) + "</details>" * len(open_depth)


def _gradient(node: Node) -> str:
    """A CSS background that shows the node's bar."""
    if node.n_samples == 0:
        return "none"
    ends = np.cumsum(_bar_parts(node)) * 100
    stops = [f"{class_color(k)} 0 {svg.number(end)}%" for k, end in enumerate(ends.tolist())]
    return f"linear-gradient(90deg,{','.join(stops)},transparent 0)"


def _swatch(background: str) -> str:
    return f'<span class="bar" style="background:{background}"></span>'


def _key(tree: TreeStructure) -> str:
    """Which colour is which class; nothing for a tree of numbers."""
    if tree.classes is None:
        return ""
    labels = (
        f"<span>{_swatch(class_color(k))}{escape(one_line(label))}</span>" for k, label in enumerate(tree.classes)
    )
    return f'<div class="key">{"".join(labels)}</div>'
