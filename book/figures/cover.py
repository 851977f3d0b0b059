"""Rows that fall down the branches of a tree: the opening figure of the book, and those of the chapter on ID3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from figures.explorable import Choice, Explorable, Slider
from figures.scene import OUTLINE, Chart, centred, filled, melon, ripe_and_unripe
from treekit.measures import entropy, information_gain
from treekit.models.id3 import ID3Classifier
from treekit.pen.palette import BAR, GAIN, REGION, RIPE, UNRIPE, class_color
from treekit.pen.svg import FAINT, element, number, rect, text
from treekit.trees.node import Node

PITCH = 23.5  # pixels from one melon to the next
LETTER = 7.2  # width of a letter at 13 pixels
WORDS = 16  # height of a line of words
EDGE = 20  # height of the branches from one level to the next
WIDTH, NARROW = 414, 334  # of the tree, the second for words that read on a phone; the bar stands beside it
NOT_YET = "nothing yet"


@dataclass
class Bin:
    """A node as a place for melons: the rows in it, the answers that led to it, and the question that is asked next."""

    rows: list
    answers: list[str]
    entropy: float
    question: str | None = None
    children: list[Bin] = field(default_factory=list)
    left: float = 0
    width: float = 0
    top: float = 0

    @property
    def answer(self) -> str:
        return self.answers[-1] if self.answers else ""

    @property
    def middle(self) -> float:
        return self.left + self.width / 2

    @property
    def words(self) -> list[str]:
        """The answer, on more than one line where it is wider than the node."""
        return [self.answer] if LETTER * len(self.answer) <= self.width else self.answer.split()

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of the melons."""
        lines = -(-len(self.rows) // self._columns) or 1
        return self.left, self.top + WORDS * len(self.words), self.width, PITCH * lines + 4

    @property
    def bottom(self) -> float:
        """The baseline of the words below the melons."""
        _, top, _, height = self.box
        return top + height + WORDS - 2

    @property
    def _columns(self) -> int:
        return max(1, int((self.width + 4) // PITCH))

    def places(self) -> dict[object, tuple[float, float]]:
        """Where each melon lies."""
        left = self.middle - PITCH * (min(self._columns, len(self.rows)) - 1) / 2
        top = self.box[1] + PITCH / 2 + 2
        spots = (divmod(i, self._columns) for i in range(len(self.rows)))
        return {row: (round(left + PITCH * j), round(top + PITCH * i)) for row, (i, j) in zip(self.rows, spots)}


def grown(frame: pd.DataFrame, target: str, first: str) -> Bin:
    """The tree whose root splits on `first`, and in which ID3 chooses all further questions."""
    labels = frame[target]

    def to_bin(node: Node, inside: dict[int, list], answers: list[str]) -> Bin:
        rows = inside.get(node.id, [])
        children = [to_bin(child, inside, [*answers, str(child.branch)]) for child in node.children.values()]
        return Bin(rows, answers, entropy(labels.loc[rows]) if rows else 0.0, node.question, children)

    root = Bin(frame.index.tolist(), [], entropy(labels), first)
    for value, group in frame.groupby(first, observed=True):
        X = group.drop(columns=target)
        id3 = ID3Classifier().fit(X, group[target])
        inside: dict[int, list] = {}
        for row, leaf in zip(group.index, id3.apply(X).tolist()):
            node: Node | None = id3.tree_[leaf]
            while node is not None:
                inside.setdefault(node.id, []).append(row)
                node = node.parent
        root.children.append(to_bin(id3.tree_[0], inside, [str(value)]))
    return root


def levels_of(root: Bin) -> list[list[Bin]]:
    """The nodes of each level, from the left."""
    levels = [[root]]
    while below := [child for node in levels[-1] for child in node.children]:
        levels.append(below)
    return levels


def frontier(root: Bin, depth: int) -> Iterator[Bin]:
    """The nodes that hold the rows after `depth` levels of questions."""
    if depth == 0 or not root.children:
        yield root
    else:
        for child in root.children:
            yield from frontier(child, depth - 1)


def bits_left(root: Bin, depth: int) -> float:
    """The mean entropy over all rows after `depth` levels of questions."""
    return sum(len(node.rows) * node.entropy for node in frontier(root, depth)) / len(root.rows)


def _least_width(node: Bin) -> float:
    """What a node needs for its longest word, and for a melon."""
    return max([PITCH + 4, *(LETTER * len(word) for word in node.answer.split())])


def lay_out(levels: list[list[Bin]], whole_width: float = WIDTH) -> float:
    """Give every node its place; return the height of the whole."""
    top = 0.0
    middle = whole_width / 2
    for level in levels:
        # Each node has room for its longest word. What is left goes to those with many rows, as far as these need it.
        n_rows = np.array([len(node.rows) for node in level])
        n_columns = np.ceil(n_rows / np.maximum(1, np.ceil(PITCH * n_rows / whole_width)))  # lines of equal length
        least = np.array([_least_width(node) for node in level])
        gap = min(10.0, (whole_width - least.sum()) / len(level))
        spare = whole_width - least.sum() - gap * (len(level) - 1)
        widths = least + np.clip(
            np.maximum(PITCH * n_columns, [LETTER * len(n.answer) for n in level]) + 6 - least, 0, None
        )
        widths = np.minimum(widths, least + spare * n_rows / n_rows.sum())
        whole = widths.sum() + gap * (len(level) - 1)
        left = 1 + min(max(0.0, middle - whole / 2), whole_width - whole)
        for node, width in zip(level, widths.tolist()):
            node.left, node.width, node.top = left, width, top
            left += width + gap
        split = [node for node in level if node.children]
        middle = float(np.mean([node.middle for node in split])) if split else 0
        top = max(node.bottom for node in level) + EDGE
    return top - EDGE


def _boxes(nodes: list[Bin]) -> str:
    """The outlines of some nodes as a path."""
    boxes = (tuple(map(number, node.box)) for node in nodes)
    return "".join(f"M{x},{y}h{width}v{height}h-{width}z" for x, y, width, height in boxes)


def _path(d: str, **attributes: object) -> str:
    return element("path", d=d, **attributes) if d else ""


def _level(nodes: list[Bin], parents: list[Bin], is_ripe: dict) -> str:
    """One level of the tree: branches, answers and boxes; a box whose melons are of one kind has their colour."""
    edges = "".join(
        f"M{number(parent.middle)},{number(parent.bottom + 4)}L{number(child.middle)},{number(child.top + 2)}"
        for parent in parents
        for child in parent.children
    )
    faint = dict(**OUTLINE, stroke_opacity=FAINT)
    drawn = _path(edges + _boxes([node for node in nodes if node.entropy]), **faint)
    drawn += _path(_boxes([node for node in nodes if not node.rows]), **faint, stroke_dasharray="3 3")
    for kind in (UNRIPE, RIPE):
        pure = [node for node in nodes if {is_ripe[row] for row in node.rows} == {kind == RIPE}]
        color = class_color(kind)
        drawn += _path(_boxes(pure), style=f"fill: {color}; stroke: {color}", fill_opacity=REGION)
    answers = [(node, i, word) for node in nodes for i, word in enumerate(node.words) if word]
    words = "".join(text(node.middle, node.top + WORDS * (i + 1) - 4, word) for node, i, word in answers)
    return drawn + (element("g", words, text_anchor="middle", font_size=13) if words else "")


def _below(nodes: list[Bin], is_asked: bool) -> str:
    """Below each mixed node its entropy, or, once it is split, its question."""
    words = "".join(
        text(node.middle, node.bottom, f"{node.question}?" if is_asked else f"{node.entropy:.3f}")
        for node in nodes
        if (node.question if is_asked else node.entropy)
    )
    weight = {"font_weight": "bold"} if is_asked else {}
    return element("g", words, text_anchor="middle", font_size=13, **weight) if words else ""


def falling_melons(
    melons: pd.DataFrame,
    target: str,
    *,
    first: Sequence[str] | None = None,
    max_depth: int | None = None,
    guess: bool = False,
) -> Explorable:
    """The melons fall down the branches of a first question, then of ID3's questions, and the entropy falls with them.

    Parameters
    ----------
    melons : a table of words without missing entries, with at most 17 rows.
    target : the column to predict, of the labels yes and no.
    first : the questions among which the reader chooses the first; by default ID3's own choice alone.
    max_depth : the number of levels of questions. With 1, the reader has only the choice of the first question.
    guess : whether the reader is asked beforehand: which first question leaves the least entropy, or, without a choice
        of questions, on which level most melons have reached a leaf.
    """
    if melons.isna().any(axis=None):
        raise ValueError("melons must have no missing entries")
    X, labels = melons.drop(columns=target), melons[target]
    own = str(ID3Classifier(max_depth=1).fit(X, labels).tree_[0].question)
    gains = {attribute: information_gain(X[attribute], labels) for attribute in X}
    best = [attribute for attribute in X if np.isclose(gains[attribute], max(gains.values()))]
    questions = [own] if first is None else list(first)
    is_ripe = {row: label == "yes" for row, label in labels.items()}
    roots = {question: grown(melons, target, question) for question in questions}
    levels = {
        question: levels_of(root)[: None if max_depth is None else max_depth + 1] for question, root in roots.items()
    }
    all_levels = [level for nodes in levels.values() for level in nodes]
    width = NARROW if all(sum(map(_least_width, level)) <= NARROW for level in all_levels) else WIDTH
    bottom = max(lay_out(nodes, width) for nodes in levels.values())
    n, n_levels = len(melons), max(map(len, levels.values()))
    bar = width + 26  # left of the bar
    bits = Chart((0, 1), (0, 1), (bar, 62, bar + 26, bottom - 4))

    def frame(question: str, level: int) -> tuple[list[str], str, dict]:
        root, shown = roots[question], levels[question][: level + 1]
        parts = []
        for k, nodes in enumerate(shown):
            parts += [_level(nodes, shown[k - 1] if k else [], is_ripe), _below(nodes, is_asked=k < level)]
        now, before = bits_left(root, level), bits_left(root, max(0, level - 1))
        taken = rect(bar, bits.y(before), 26, bits.y(now) - bits.y(before), **filled(GAIN))
        parts += [taken, centred(bar + 13, 36, f"{now:.3f}", font_weight="bold")]
        nodes = list(frontier(root, level))
        places: dict[object, Sequence[float]] = {row: place for node in nodes for row, place in node.places().items()}
        places["entropy"] = (bar, bits.y(now), 1, bits.y(0) - bits.y(now))
        return [part for part in parts if part], sentence(question, level, nodes, now, before), places

    def sentence(question: str, level: int, nodes: list[Bin], now: float, before: float) -> str:
        if level == 0:
            return f"All {n} melons, {sum(is_ripe.values())} of them ripe. Their entropy is {now:.3f} bits."
        taken = f"{before - now:.3f} bits less than before"
        if level == 1:
            terms = " + ".join(f"{len(node.rows)}/{n} × {node.entropy:.3f}" for node in nodes)
            return f"After the question about {question}, {terms} = {now:.3f} bits are left, {taken}."
        if not before:
            return f"Level {level} is empty: with {question} as the first question, the tree is finished above it."
        asked = " and ".join(
            dict.fromkeys(node.question for node in frontier(roots[question], level - 1) if node.question)
        )
        open_ = sum(len(node.rows) for node in nodes if node.question)
        rest = f"{open_} melons are still in mixed groups" if open_ else "every melon is in a leaf"
        return f"After asking about {asked}, {rest}: {now:.3f} bits are left, {taken}."

    marks = {"entropy": rect(0, 0, 26, 1, fill_opacity=BAR)}
    marks |= {row: melon(row, ripe, radius=10.5) for row, ripe in is_ripe.items()}
    legend = ripe_and_unripe(12, bottom + 24)
    # In print the tree stands as far as it has grown; where the reader chooses, the first of the questions does.
    rest = questions[0] if max_depth == 1 else own
    ends = [node for node in frontier(roots[rest], n_levels - 1) if node.rows]
    settings: dict[str, Any] = dict(
        alt=f"The {n} melons as numbered circles, hollow if ripe, have fallen down the branches of a tree whose root "
        f"asks about {rest}. "
        + "".join(f"{', '.join(node.answers)}: {' '.join(map(str, node.rows))}. " for node in ends)
        + f"A bar beside them is as high as their entropy, {bits_left(roots[rest], n_levels - 1):.3f} bits; it "
        f"was {entropy(labels):.3f} at first.",
        size=(width + 66, bottom + 36),
        background=element(
            "g", text(bar + 13, 18, "entropy") + text(bar + 13, 54, "bits"), text_anchor="middle", font_size=13
        )
        + rect(bar, bits.y(entropy(labels)), 26, bits.y(0) - bits.y(entropy(labels)), **OUTLINE)
        + legend,
        marks=marks,
    )
    if first is None:
        in_leaf = [
            sum(len(node.rows) for node in frontier(roots[own], k) if not node.children) for k in range(n_levels)
        ]
        asked = "Your guess: after how many questions are most melons in a leaf?"
        settled = next((level for level, n_rows in enumerate(in_leaf) if n_rows > n / 2), None)
        return Explorable(
            title="ID3, level by level",
            challenge="Find the first level with most melons in a leaf. Which ones have to answer the most questions?",
            controls=[Slider("Levels of questions", list(range(n_levels)), start=n_levels - 1, opens=0)],
            frame=lambda level: frame(own, level),
            found=lambda level: level == settled,
            guess=Choice(asked, range(1, n_levels), show="after {}") if guess else None,
            **settings,
        )
    if max_depth == 1:
        return Explorable(
            title="Seventeen melons, one question",
            challenge="Find the question that leaves the least entropy. Which one is nearly useless?",
            controls=[Choice("Ask about", [NOT_YET, *questions], start=questions[0], opens=NOT_YET)],
            frame=lambda question: frame(questions[0], 0) if question == NOT_YET else frame(question, 1),
            found=lambda question: question in best,
            guess=Choice("Your guess: which question leaves the least entropy?", questions) if guess else None,
            **settings,
        )
    return Explorable(
        title="Seventeen melons, one question after another",
        challenge="Which first question takes away the most entropy? Then press Play, and let ID3 ask on.",
        controls=[
            Choice("First ask about", questions, start=own, opens=min(questions, key=gains.__getitem__)),
            Slider("Levels of questions", list(range(n_levels)), start=n_levels - 1, opens=1),
        ],
        frame=frame,
        found=lambda question, level: question in best and level == 1,
        **settings,
    )
