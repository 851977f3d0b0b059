"""A tree as a diagram: SVG on a wide page, a nested outline on a phone, both in one piece of HTML.

The SVG reads from the top: a card for each node with its question and gain, a bar of its rows by class (of the mean,
between the least and the largest, where the tree predicts numbers), an edge for each answer, as thick as its share of
the rows; a branch without rows ends in a dashed card. Text has the colour of the page around it, so a dark page needs
no second drawing.

What is drawn is a list of `Card`, level by level: to draw a tree of another kind, write its cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from xml.sax.saxutils import escape

from treekit.pen import svg
from treekit.pen.palette import class_color

__all__ = ["Card", "Drawing", "draw_cards"]
CARD_HEIGHT = 54
LEVEL_HEIGHT = 112
GAP = 14
LETTER = 8.2  # width of a letter, bold, at 13 pixels; Chinese characters take two
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


@dataclass(frozen=True)
class Card:
    """What a node shows.

    Attributes
    ----------
    parent, depth : int
        The number of the card above, -1 for the root; and how many cards are above.
    children : range
        The numbers of the cards below.
    title, below, branch : str
        The question or the label; the line under it; the answer that leads here.
    told : str
        The line under the title in the outline.
    bar : sequence of float
        Widths of the parts of its bar, in shares of the whole.
    share : float
        The share of the rows that come here.
    is_leaf, is_empty : bool
        Whether it asks nothing; whether no row comes here.
    """

    parent: int
    depth: int
    children: range
    title: str
    below: str
    branch: str
    told: str
    bar: Sequence[float]
    share: float
    is_leaf: bool
    is_empty: bool


@dataclass(frozen=True, repr=False)
class Drawing:
    """A drawn tree; a notebook shows ``html``, a file can hold ``svg``."""

    svg: str
    outline: str
    key: str

    @property
    def html(self) -> str:
        """The drawing, the outline for narrow pages, and the key to the colours.

        It can take the focus, so that the arrow keys scroll a wide drawing.
        """
        inside = f'{self.svg}<div class="outline">{self.outline}</div>{self.key}'
        return f'{STYLE}<div class="treekit-tree" tabindex="0">{inside}</div>'

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return "Drawing of a tree"


def draw_cards(cards: Sequence[Card], labels: Sequence[str], spoken: str, numbers_nodes: bool = False) -> Drawing:
    """Draw a tree from the top.

    Parameters
    ----------
    cards : the nodes, level by level, those below one node side by side.
    labels : what the colours of the bars mean, in the order of their parts; none for a tree of numbers.
    spoken : the alternative text.
    numbers_nodes : whether edges, cards and lines of the outline bear the number of their node, as ``data-node``.
    """
    return Drawing(_svg(cards, spoken, numbers_nodes), _outline(cards, numbers_nodes), _key(labels))


# -- SVG --------------------------------------------------------------------------------------------------------


def _svg(cards: Sequence[Card], spoken: str, numbers_nodes: bool) -> str:
    """The drawing from the top."""
    words = [word for card in cards for word in (card.title, card.below, card.branch)]
    card_width = max(84.0, *(LETTER * _letters(word) + 20 for word in words))
    center = [place * (card_width + GAP) + card_width / 2 for place in _places(cards)]
    width = max(center) + card_width / 2
    height = max(card.depth for card in cards) * LEVEL_HEIGHT + CARD_HEIGHT
    edges = [_edge(card, center[card.parent], x) for card, x in zip(cards[1:], center[1:])]
    drawn = [_card(card, x - card_width / 2, card_width) for card, x in zip(cards, center)]
    if numbers_nodes:
        edges = [svg.element("g", edge, data_node=k) for k, edge in enumerate(edges, start=1)]
        drawn = [svg.element("g", card, data_node=k) for k, card in enumerate(drawn)]
    # A picture a little too wide shrinks, a much too wide one scrolls: letters stay legible.
    style = f"width:100%;max-width:{svg.number(width + 4)}px;min-width:{svg.number(0.8 * width)}px"
    return svg.element(
        "svg",
        "".join(edges + drawn),
        viewBox=f"-2 -2 {svg.number(width + 4)} {svg.number(height + 4)}",
        role="img",
        aria_label=spoken,
        style=style,
        font_family="inherit",
        font_size=13,
        text_anchor="middle",
        fill="currentColor",
    )


def _places(cards: Sequence[Card]) -> list[float]:
    """Horizontal position of each card, in cards: side by side on a level, parents above their children.

    The method of Wetherell and Shannon (1979), from right to left because that is the order of falling numbers: where
    the position above its children is taken, a parent moves to the next free one, and its subtree follows.
    """
    n_levels = max(card.depth for card in cards) + 1
    free, shift = [0.0] * n_levels, [0.0] * n_levels
    place, follow, moved = [0.0] * len(cards), [0.0] * len(cards), [0.0] * len(cards)
    for k in reversed(range(len(cards))):
        level, children = cards[k].depth, cards[k].children
        place[k] = free[level]
        if children:
            middle = (place[children[0]] + place[children[-1]]) / 2
            shift[level] = max(shift[level], free[level] - middle)
            place[k] = middle + shift[level]
        follow[k] = shift[level]
        free[level] = place[k] + 1
    for k, card in enumerate(cards[1:], start=1):
        moved[k] = moved[card.parent] + follow[card.parent]
    place = [x + far for x, far in zip(place, moved)]
    return [max(place) - x for x in place]


def _card(card: Card, left: float, width: float) -> str:
    top = card.depth * LEVEL_HEIGHT
    frame = svg.rect(
        left,
        top,
        width,
        CARD_HEIGHT,
        rx=CARD_HEIGHT / 2 if card.is_leaf else 6,
        fill="none",
        stroke="currentColor",
        stroke_opacity=0.5,
        **({"stroke_dasharray": "4 4"} if card.is_empty else {}),
    )
    inset = 16
    words = svg.text(left + width / 2, top + 20, card.title, font_weight="bold")
    bar = _bar(card, left + inset, top + 26, width - 2 * inset, 6)
    return frame + words + bar + svg.text(left + width / 2, top + 47, card.below, font_size=12)


def _bar(card: Card, left: float, top: float, width: float, height: float) -> str:
    """The parts of the node's bar, side by side, on a faint track."""
    if card.is_empty:
        return ""
    track = svg.rect(left, top, width, height, fill="currentColor", fill_opacity=0.15)
    ends = [*accumulate(card.bar)]
    return track + "".join(
        svg.rect(left + (end - part) * width, top, part * width, height, style=f"fill:{class_color(k)}")
        for k, (end, part) in enumerate(zip(ends, card.bar))
        if part > 0
    )


def _edge(card: Card, x1: float, x2: float) -> str:
    """The line from the parent's card, as thick as the share of the rows, with the answer above the child's card."""
    y1, y2 = (card.depth - 1) * LEVEL_HEIGHT + CARD_HEIGHT, card.depth * LEVEL_HEIGHT
    fork, turn = y1 + 12, y2 - 24
    path = f"M{svg.number(x1)} {y1}V{fork}L{svg.number(x2)} {turn}"
    line = svg.element(
        "path",
        d=path,
        fill="none",
        stroke="currentColor",
        stroke_width=1 + 5 * card.share,
        stroke_opacity=0.35,
        **({"stroke_dasharray": "4 4"} if card.is_empty else {}),
    )
    return line + svg.text(x2, y2 - 8, card.branch)


def _letters(words: str) -> int:
    return sum(2 if ord(letter) > 0x2E80 else 1 for letter in words)


# -- outline ----------------------------------------------------------------------------------------------------


def _outline(cards: Sequence[Card], numbers_nodes: bool) -> str:
    """The tree as nested details elements, open at first."""
    parts: list[str] = []
    open_depth: list[int] = []
    waiting = [0]
    while waiting:
        k = waiting.pop()
        card = cards[k]
        waiting.extend(reversed(card.children))
        while open_depth and open_depth[-1] >= card.depth:
            parts.append("</details>")
            open_depth.pop()
        branch = f"{escape(card.branch)}: " if k else ""
        words = f"<strong>{escape(card.title)}</strong> <small>{escape(card.told)}</small>"
        line = f"{branch}{_swatch(_gradient(card))}{words}"
        number = f' data-node="{k}"' if numbers_nodes else ""
        if card.children:
            parts.append(f"<details open{number}><summary>{line}</summary>")
            open_depth.append(card.depth)
        else:
            parts.append(f"<p{number}>{line}</p>")
    return "".join(parts) + "</details>" * len(open_depth)


def _gradient(card: Card) -> str:
    """A CSS background that shows the node's bar."""
    if card.is_empty:
        return "none"
    stops = [f"{class_color(k)} 0 {svg.number(end * 100)}%" for k, end in enumerate(accumulate(card.bar))]
    return f"linear-gradient(90deg,{','.join(stops)},transparent 0)"


def _swatch(background: str) -> str:
    return f'<span class="bar" style="background:{background}"></span>'


def _key(labels: Sequence[str]) -> str:
    """Which colour is which class; nothing for a tree of numbers."""
    if not labels:
        return ""
    entries = (f"<span>{_swatch(class_color(k))}{escape(label)}</span>" for k, label in enumerate(labels))
    return f'<div class="key">{"".join(entries)}</div>'
