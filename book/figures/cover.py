"""Rows that fall down the branches of a tree: the opening figure of the book, and those of the chapter on ID3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from figures.charts import Chart, Spot
from figures.explorable import UNSET, Choice, Explorable, Places, Scene, Slider, State
from figures.looks import DIVIDE, OUTLINE, filled, path, small, stroked
from figures.melons import in_lines, listed, melon_marks, ripe_and_unripe
from treekit.measures import entropy, information_gain
from treekit.models.id3 import ID3Classifier
from treekit.pen.palette import BAR, GAIN, REGION, RIPE, UNRIPE, class_color
from treekit.pen.svg import FAINT, element, number, rect, text
from treekit.trees.node import Node

PITCH = 23.5  # pixels from one melon to the next
LETTER = 7.2  # width of a letter at 13 pixels
WORDS = 16  # height of a line of words
EDGE = 20  # height of the branches from one level to the next
WIDTH, NARROW = 414, 334  # of the tree, the second for words that read on a phone; the bars stand beside it
BAR_WIDTH = 58  # of the entropy at first
NOT_YET = "nothing yet"


@dataclass
class Bin:
    """A node as a place for melons: the rows in it, the answers that led to it, and the question that is asked next."""

    rows: list[Any]
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

    def places(self) -> dict[object, Spot]:
        """Where each melon lies."""
        spots = in_lines(self.rows, self.middle, self.box[1] + PITCH / 2 + 2, self._columns, PITCH)
        return {row: (round(x), round(y)) for row, (x, y) in spots.items()}


def grown(frame: pd.DataFrame, target: str, first: str) -> Bin:
    """The tree whose root splits on `first`, and in which ID3 chooses all further questions."""
    labels = frame[target]

    def to_bin(node: Node, inside: dict[int, list[Any]], answers: list[str]) -> Bin:
        rows = inside.get(node.id, [])
        children = [to_bin(child, inside, [*answers, str(child.branch)]) for child in node.children.values()]
        return Bin(rows, answers, entropy(labels.loc[rows]) if rows else 0.0, node.question, children)

    root = Bin(frame.index.tolist(), [], entropy(labels), first)
    for value, group in frame.groupby(first, observed=True):
        X = group.drop(columns=target)
        id3 = ID3Classifier().fit(X, group[target])
        inside: dict[int, list[Any]] = {}
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
    top = 8.0  # below the key
    middle = whole_width / 2
    for level in levels:
        # Each node has room for its longest word. What is left goes to those with many rows, as far as these need it.
        n_rows = np.array([len(node.rows) for node in level])
        n_columns = np.ceil(n_rows / np.maximum(1, np.ceil(PITCH * n_rows / whole_width)))  # lines of equal length
        least = np.array([_least_width(node) for node in level])
        gap = min(10.0, (whole_width - least.sum()) / (2 * len(level)))
        spare = whole_width - least.sum() - gap * (len(level) - 1)
        wished = np.maximum(PITCH * n_columns, [LETTER * len(node.answer) for node in level]) + 6
        widths = least + np.clip(wished - least, 0, None)
        widths = np.minimum(widths, least + spare * n_rows / n_rows.sum())
        whole = widths.sum() + gap * (len(level) - 1)
        left = 1 + min(max(0.0, middle - whole / 2), whole_width - whole)
        for node, width in zip(level, widths.tolist()):
            node.left, node.width, node.top = round(left), round(width), round(top)  # which keeps the drawing short
            left += width + gap
        split = [node for node in level if node.children]
        middle = float(np.mean([node.middle for node in split])) if split else 0
        top = max(node.bottom for node in level) + EDGE
    return top - EDGE


def _boxes(nodes: list[Bin]) -> str:
    """The outlines of some nodes as a path."""
    boxes = (tuple(map(number, node.box)) for node in nodes)
    return "".join(f"M{x},{y}h{width}v{height}h-{width}z" for x, y, width, height in boxes)


def _level(nodes: list[Bin], parents: list[Bin], is_ripe: dict[Any, Any]) -> str:
    """One level of the tree: branches, answers and boxes; a box whose melons are of one kind has their colour."""
    edges = "".join(
        f"M{number(parent.middle)},{number(parent.bottom + 4)}L{number(child.middle)},{number(child.top + 2)}"
        for parent in parents
        for child in parent.children
    )
    faint = dict(**OUTLINE, stroke_opacity=FAINT)
    drawn = path(edges + _boxes([node for node in nodes if node.entropy]), **faint)
    drawn += path(_boxes([node for node in nodes if not node.rows]), **faint, stroke_dasharray="3 3")
    for kind in (UNRIPE, RIPE):
        pure = [node for node in nodes if {is_ripe[row] for row in node.rows} == {kind == RIPE}]
        color = class_color(kind)
        drawn += path(_boxes(pure), style=f"fill: {color}; stroke: {color}", fill_opacity=REGION)
    answers = [(node, i, word) for node in nodes for i, word in enumerate(node.words) if word]
    words = "".join(text(node.middle, node.top + WORDS * (i + 1) - 4, word) for node, i, word in answers)
    return drawn + (small(words, text_anchor="middle") if words else "")


def _shadows(nodes: list[Bin], is_ripe: dict[Any, Any]) -> str:
    """Where the melons of these nodes have lain that are now further down."""
    spots = [(is_ripe[row], f"M{x},{y}h0") for node in nodes if node.question for row, (x, y) in node.places().items()]
    unripe, ripe = ("".join(spot for kind, spot in spots if kind == wanted) for wanted in (False, True))
    drawn = path(unripe, **stroked(UNRIPE)) + path(ripe, **stroked(RIPE))
    drawn += path(ripe, stroke_width=18, style=DIVIDE)  # the hole of a ring
    return element("g", drawn, opacity=0.3, stroke_width=22, stroke_linecap="round")


def _said(node: Bin, is_asked: bool) -> str:
    """The question of a node, or its entropy, where it has one."""
    if is_asked:
        return f"{node.question}?" if node.question else ""
    return f"{node.entropy:.3f}" if node.entropy else ""


def _below(nodes: list[Bin], is_asked: bool) -> str:
    """Below each mixed node its entropy, or, once it is split, its question."""
    words = "".join(
        text(max(node.middle, LETTER * len(said) / 2 + 2), node.bottom, said)  # not beyond the left edge
        for node in nodes
        if (said := _said(node, is_asked))
    )
    weight = {"font_weight": "bold"} if is_asked else {}
    return element("g", words, text_anchor="middle", font_size=13, **weight) if words else ""


class _Falling(Scene):
    """The trees that begin with some questions, and the melons that fall down their branches, level by level."""

    stagger = 20

    def __init__(self, melons: pd.DataFrame, target: str, questions: Sequence[str], max_depth: int | None) -> None:
        self.n, self.is_ripe, self.before = len(melons), (melons[target] == "yes").to_dict(), entropy(melons[target])
        self.roots = {question: grown(melons, target, question) for question in questions}
        n_shown = None if max_depth is None else max_depth + 1
        self.levels = {question: levels_of(root)[:n_shown] for question, root in self.roots.items()}
        self.n_levels = max(map(len, self.levels.values()))
        least = [sum(map(_least_width, level)) for levels in self.levels.values() for level in levels]
        self.width = NARROW if max(least) <= NARROW else WIDTH
        bottom = max(lay_out(levels, self.width) for levels in self.levels.values())
        self.size = (self.width + 66, bottom + 12)
        self.bits = Chart((0, self.before), (0, 1), (self.width + 7, 0, self.width + 7 + BAR_WIDTH, 1))

    def bottom_of(self, question: str, level: int) -> float:
        """Where the last of the nodes of a level ends; of a level below the tree, where the tree ends."""
        return max(node.bottom for node in self.levels[question][: level + 1][-1])

    def height(self, question: str, level: int) -> float:
        """How far down the drawing reaches: as far as the tree has grown."""
        return self.bottom_of(question, level) + 12

    def bar(self, question: str, level: int, is_last: bool) -> list[str]:
        """Beside a level the entropy that it leaves, and in green what its question has taken away."""
        root, top = self.roots[question], round(self.levels[question][level][0].top + WORDS)
        now, before = bits_left(root, level), bits_left(root, max(0, level - 1))
        left, middle, right = (round(self.bits.x(bits)) for bits in (0, now, before))
        drawn = rect(left, top + 15, middle - left, 13, fill_opacity=BAR)
        drawn += rect(middle, top + 15, right - middle, 13, **filled(GAIN))
        return [drawn, text(left, top + 10, f"{now:.3f}", **({"font_weight": "bold"} if is_last else {}))]

    def background(self) -> str:
        key = rect(148, 4, 12, 12, fill_opacity=BAR) + text(165, 15, "bits left")
        key += rect(234, 4, 12, 12, **filled(GAIN)) + text(251, 15, "bits gained")
        return small(ripe_and_unripe(12, 10) + key + text(self.bits.x(0), 15, "entropy"))

    def frame(self, question: str, level: int) -> State:
        root, shown = self.roots[question], self.levels[question][: level + 1]
        parts = []
        for k, nodes in enumerate(shown):
            parts += [_level(nodes, shown[k - 1] if k else [], self.is_ripe), _below(nodes, is_asked=k < level)]
            parts += [_shadows(nodes, self.is_ripe) if k < level else "", *self.bar(question, k, k == len(shown) - 1)]
        places: Places = {row: place for node in frontier(root, level) for row, place in node.places().items()}
        return [part for part in parts if part], self.sentence(question, level), places

    def sentence(self, question: str, level: int) -> str:
        nodes, now = list(frontier(self.roots[question], level)), bits_left(self.roots[question], level)
        if level == 0:
            return f"All {self.n} melons, {sum(self.is_ripe.values())} of them ripe. Their entropy is {now:.3f} bits."
        before = bits_left(self.roots[question], level - 1)
        taken = f"a fall of {before - now:.3f} (rounded at the end)"
        if level == 1:
            terms = " + ".join(f"{len(node.rows)}/{self.n} × {node.entropy:.3f}" for node in nodes)
            return f"After the question about {question}, {terms} = {now:.3f} bits are left, {taken}."
        if not before:
            return f"Level {level} is empty: with {question} as the first question, the tree is finished above it."
        above = frontier(self.roots[question], level - 1)
        asked = " and ".join(dict.fromkeys(node.question for node in above if node.question))
        open_ = sum(len(node.rows) for node in nodes if node.question)
        rest = f"{open_} melons are still in mixed groups" if open_ else "every melon is in a leaf"
        return f"After asking about {asked}, {rest}: {now:.3f} bits are left, {taken}."

    def in_leaves(self, question: str, level: int) -> int:
        """How many melons are in a leaf after so many levels of questions."""
        return sum(len(node.rows) for node in frontier(self.roots[question], level) if not node.children)

    def settled(self, question: str) -> int | None:
        """The first level on which most melons are in a leaf."""
        return next((level for level in range(self.n_levels) if 2 * self.in_leaves(question, level) > self.n), None)

    def marks(self) -> dict[Any, str]:
        return dict(melon_marks(self.is_ripe))

    def alt(self, question: str) -> str:
        """What the tree of a question shows as far as it has grown."""
        root, last = self.roots[question], self.n_levels - 1
        ends = [node for node in frontier(root, last) if node.rows]
        return (
            f"The {self.n} melons as numbered circles, hollow if ripe, have fallen down the branches of a tree whose "
            f"root asks about {question}. "
            + "".join(f"{', '.join(node.answers)}: {' '.join(map(str, node.rows))}. " for node in ends)
            + "Beside each level a bar is as long as the entropy that is left: "
            f"{', '.join(f'{bits_left(root, level):.3f}' for level in range(self.n_levels))} bits."
        )


class _Growing(_Falling):
    """ID3's own tree: beside each level also how many melons are in a leaf, and of each group what it asks."""

    def __init__(self, melons: pd.DataFrame, target: str, own: str, max_depth: int | None) -> None:
        super().__init__(melons, target, [own], max_depth)
        self.size = (self.width + 80, self.size[1] + 8)  # for the words beside the levels

    def height(self, question: str, level: int) -> float:
        return super().height(question, level) + 8

    def bar(self, question: str, level: int, is_last: bool) -> list[str]:
        top, left = round(self.levels[question][level][0].top + WORDS), self.bits.x(0)
        fall = bits_left(self.roots[question], max(0, level - 1)) - bits_left(self.roots[question], level)
        words = text(left, top + 57, f"in leaf: {self.in_leaves(question, level)}")
        if level:
            words = text(left, top + 42, f"gain {fall:.3f}") + words
        return [*super().bar(question, level, is_last), small(words)]

    def sentence(self, question: str, level: int) -> str:
        if level < 2:
            return super().sentence(question, level)
        mixed = [node for node in frontier(self.roots[question], level - 1) if node.question]
        asked = listed([f"“{', '.join(node.answers)}” asks about {node.question}" for node in mixed])
        own = "The one mixed group" if len(mixed) == 1 else "Each mixed group"
        left, settled = bits_left(self.roots[question], level), self.in_leaves(question, level)
        return (
            f"{own} asks the question that gains most in it: {asked}. {settled} of the {self.n} melons are in a leaf, "
            f"and {left:.3f} bits are left."
        )


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
    if first is None:
        return _level_by_level(_Growing(melons, target, own, max_depth), own, guess)
    falling = _Falling(melons, target, first, max_depth)
    gains = {attribute: information_gain(X[attribute], labels) for attribute in X}
    best = [attribute for attribute, gain in gains.items() if np.isclose(gain, max(gains.values()))]
    if max_depth == 1:
        return _one_question(falling, best, guess)
    return falling.explorable(
        alt=falling.alt(own),
        title="Seventeen melons, one question after another",
        challenge=f"{sum(falling.is_ripe.values())} of them are ripe. Which first question sorts them best? "
        "Choose one; then press Play, and ID3 asks on.",
        controls=[
            Choice("First ask about", list(first), start=own, opens=UNSET, steps=True),
            Slider("Levels of questions", list(range(falling.n_levels)), start=falling.n_levels - 1, opens=0),
        ],
        found=lambda question, level: question in best and level == 1,
        height=falling.height,
    )


def _level_by_level(falling: _Falling, own: str, guess: bool) -> Explorable:
    """ID3's tree alone, which the reader lets grow; the challenge is the level on which most melons have settled."""
    levels, settled = list(range(falling.n_levels)), falling.settled(own) or 0
    before, now = (falling.in_leaves(own, level) for level in (max(settled - 1, 0), settled))
    asked = Choice(
        "Your guess: after how many levels of questions are most melons in a leaf?",
        levels[1:],
        show="after {}",
        answer=settled,
        truth=f"{now} of the {falling.n} melons are there after {settled}, and {before} one level before",
    )
    return falling.explorable(
        alt=falling.alt(own),
        title="ID3, level by level",
        challenge="Watch how many bits each level takes away. After how many levels are more than half of the melons "
        "in a leaf?",
        controls=[Slider("Levels of questions", levels, start=levels[-1], opens=0)],
        frame=lambda level: falling.frame(own, level),
        height=lambda level: falling.height(own, level),
        found=lambda level: level == settled,
        guess=asked if guess else None,
    )


def _one_question(falling: _Falling, best: list[str], guess: bool) -> Explorable:
    """One question, which the reader chooses; the challenge is to find the best."""
    questions = list(falling.roots)
    left = {question: f"{bits_left(root, 1):.3f} bits" for question, root in falling.roots.items()}

    def truth(guessed: str) -> str:
        least = f"{listed(best)} leaves {left[best[0]]}, the least"
        return least if guessed in best else f"{guessed} leaves {left[guessed]}, but {least}"

    asked = "Your guess: which question leaves the least entropy?"
    return falling.explorable(
        alt=falling.alt(questions[0]),
        title="Seventeen melons, one question",
        challenge="Ask about each: some take away hardly any entropy. Find the question that leaves the least.",
        controls=[Choice("Ask about", [NOT_YET, *questions], start=questions[0], opens=NOT_YET)],
        frame=lambda question: falling.frame(questions[0], 0) if question == NOT_YET else falling.frame(question, 1),
        found=lambda question: question in best,
        guess=Choice(asked, questions, answer=set(best), truth=truth) if guess else None,
    )
