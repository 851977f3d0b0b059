"""The figures of the chapter on boosting as it is run today."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from figures.charts import Chart, Picture, ticks
from figures.explorable import Choice, Explorable, Places, Scene, Slider, State
from figures.looks import HALO, OUTLINE, centred, ending, filled, in_class, painted, path, ringed, with_minus
from figures.melons import listed, melon, melon_marks, piled, ripe_and_unripe
from figures.plots import axes, plot_columns, plotted
from treekit import plain
from treekit.pen.palette import BAR, CLASS_COLORS, GAIN, REGION, RIPE, UNRIPE
from treekit.pen.svg import FAINT, circle, element, line, rect, text

OWN, BEFORE = "all labels", "those before it"
BY_LEAF, BY_LEVEL = "leaf by leaf", "level by level"
TEXTURE, NUMBER = "its texture", "its number"
SIDES = {"unripe": UNRIPE, "ripe": RIPE}  # of a cut
LEAF = 0.16  # how dark a leaf is
NEXT = {**painted(GAIN), "fill_opacity": 0.35, "stroke_width": 2}  # the look of the node that is split next
HIGH, PITCH = 5, 26  # most melons of one code above each other, and pixels from column to column


def best_stump(code: NDArray[Any], is_ripe: NDArray[np.bool_]) -> tuple[float | None, int]:
    """The cut of a code with most rows classified correctly, ripe above it, and their number; None if no cut helps."""
    best, most = None, max(int(is_ripe.sum()), int((~is_ripe).sum()))
    for low, high in itertools.pairwise(np.unique(code.round(9))):
        n_right = int(((code > (low + high) / 2) == is_ripe).sum())
        if n_right > most:
            best, most = float((low + high) / 2), n_right
    return best, most


class _Codes(Scene):
    """Melons that wait in a random order, and lie by their code when they have one; last comes a new one.

    Where a melon waited its class stays, pale, and below it a letter for its texture; lines mark those that its code
    averages. The new melon has a number of its own, the texture that most have, and no label.
    """

    size = (480, 386)
    stagger = 20

    def __init__(self, melons: pd.DataFrame, seed: int) -> None:
        order = np.random.default_rng(seed).permutation(melons.index.to_numpy())
        self.melons = melons.loc[order]
        self.ripe = self.melons["ripe"] == "yes"
        self.new = int(melons.index.max()) + 1
        self.names = [*self.melons.index, self.new]
        textures = self.melons["texture"]
        self.columns = {
            NUMBER: pd.Series(self.names),
            TEXTURE: pd.Series([*textures, textures.mode()[0]]),
        }
        self.plane = Chart((0, 1), (0, 1), (44, 40, 436, 206))
        self.prior = float(self.ripe.mean())
        self.codes = {
            (column, how): np.array([self.code(how, self.averaged(column, how, n + 1)) for n in range(len(self.names))])
            for column, how in itertools.product(self.columns, (OWN, BEFORE))
        }
        self.queue = [*((23 + 25 * i, 298) for i in range(len(melons))), (457, 298)]

    def background(self) -> str:
        """The axis, and the order of the melons with their classes, which stays when they have left it."""
        axis = line(24, 206, 456, 206) + "".join(centred(self.plane.x(t), 225, f"{t:g}") for t in (0, 0.5, 1))
        order = text(11, 358, "in random order; pale: has a code;")
        order += line(277, 353, 295, 353, stroke_width=3) + text(301, 358, "its label is averaged")
        discs = ""
        for k in (RIPE, UNRIPE):
            of_class = (circle(*spot, 12) for spot, ripe in zip(self.queue, self.ripe) if ripe == (k == RIPE))
            discs += in_class(k, "".join(of_class))
        discs += unknown(*self.queue[-1])
        numbers = "".join(centred(x, y + 5.4, name) for (x, y), name in zip(self.queue, self.names))
        key = ripe_and_unripe(16, 15) + unknown(154, 15, 7) + text(167, 20, "new")
        return key + axis + element("g", discs, opacity=0.4) + numbers + order

    def marks(self) -> dict[Any, str]:
        """Both sides of the cut, the cut, the melons, and rings around the one coded last and where it waited."""
        high = self.plane.box[3] - self.plane.box[1]
        sides = {name: rect(0, 0, 1, high, **filled(k), fill_opacity=REGION) for name, k in SIDES.items()}
        cut = path(f"M0,0V{high}", stroke_width=2, stroke_dasharray="7 4", **OUTLINE)
        new = {self.new: unknown(0, 0) + centred(0, 5.4, self.new)}
        rings = {"last": ringed([(0, 0, 15)]), "waited": ringed([(0, 0, 14)])}
        return {**sides, "cut": cut, **melon_marks(self.ripe.to_dict(), 12), **new, **rings}

    def cut(self, column: str, how: str, n: int) -> tuple[float | None, int]:
        """The best cut of those that have a code and a label."""
        ripe = self.ripe.to_numpy(bool)[:n]
        return best_stump(self.codes[column, how][: len(ripe)], ripe) if n else (None, 0)

    def frame(self, column: str, how: str, n: int) -> State:
        code, cut = self.codes[column, how][:n].round(9), self.cut(column, how, n)[0]
        spots: list[tuple[float, float]] = [*self.piles(code), *self.queue[n:]]
        parts = [ending(469, 20, f"the category is {column}") if n else "", self.axis_name(how)]
        places: Places = dict(zip(self.names, spots))
        if cut is not None:
            at, top = round(self.plane.x(cut)), self.plane.box[1]
            places |= {"unripe": (11, top, at - 11, 1), "ripe": (at, top, 469 - at, 1), "cut": (at, top)}
        parts += [self.shared(code, spots, value, cut) for value in np.unique(code)]
        parts.append(self.categories(column))
        if n:
            places |= {"last": spots[n - 1], "waited": self.queue[n - 1]}
            counted = [self.queue[i][0] for i in self.averaged(column, how, n)]
            parts += [line(x - 9, 335, x + 9, 335, stroke_width=3) for x in counted]
        elif how == OWN:
            parts.append(self.example())
        return parts, self.sentence(column, how, n), places

    def example(self) -> str:
        """What a code is, as long as no melon has one: that of the most frequent texture."""
        texture = self.columns[TEXTURE].iloc[-1]
        alike = self.ripe[(self.melons["texture"] == texture).to_numpy()].sort_values(ascending=False)
        n, n_ripe = len(alike), int(alike.sum())
        x = round(self.plane.x(n_ripe / n))
        spots = [(x + 22 * (i % 3 - 1), 192 - 22 * (i // 3)) for i in range(n)]
        discs = "".join(melon("", ripe, *spot, 9) for spot, ripe in zip(spots, alike))
        words = text(24, 150, "By texture, for example:") + text(24, 170, f"of {n} {texture} melons {n_ripe} are ripe.")
        return discs + words + centred(x, 124, f"{n_ripe} / {n} = {n_ripe / n:.2f}")

    def categories(self, column: str) -> str:
        """The letter of each melon's texture below the place where it waited, and a key; a number is there already."""
        if column != TEXTURE:
            return ""
        textures = self.columns[TEXTURE]
        letters = "".join(centred(x, 330, word[0]) for (x, _), word in zip(self.queue, textures))
        return letters + text(11, 378, ", ".join(f"{word[0]}: {word}" for word in dict.fromkeys(textures)))

    def averaged(self, column: str, how: str, n: int) -> list[int]:
        """The places of the melons whose labels are averaged in the code of the n-th melon."""
        seen = min(n - 1, len(self.melons)) if how == BEFORE else len(self.melons)
        return self.alike(column, how, self.columns[column][n - 1], seen)

    def alike(self, column: str, how: str, category: object, seen: int) -> list[int]:
        """The first places of this category. If there is none, and no mean of all labels counts as one more, all."""
        alike = [i for i in range(seen) if self.columns[column][i] == category]
        return alike if alike or how == BEFORE else list(range(seen))

    def code(self, how: str, averaged: list[int]) -> float:
        """A mean label; if only those before may be seen, with the mean of all labels as one more."""
        labels, more = self.ripe.iloc[averaged], int(how == BEFORE)
        return float((labels.sum() + self.prior * more) / (len(labels) + more))

    def right_if_new(self, column: str, how: str) -> int:
        """How many melons the best cut would classify correctly if they came as new ones, each with a new number."""
        cut, n = self.cut(column, how, len(self.melons))[0], len(self.melons)
        if cut is None:
            return self.cut(column, how, n)[1]
        as_new = [self.new] * n if column == NUMBER else self.columns[column][:n]
        new = [self.code(how, self.alike(column, how, category, n)) for category in as_new]
        return int(((np.array(new) > cut) == self.ripe).sum())

    def piles(self, code: NDArray[np.float64]) -> list[tuple[int, int]]:
        """Where melons with these codes lie: those of one code in lines around it, as many as it takes."""
        same = pd.Series(code).groupby(code)
        nth, count = same.cumcount(), same.transform("size")
        columns = -(-count // HIGH)
        shift = PITCH * (nth % columns - (columns - 1) / 2)
        return piled([self.plane.x(c) + away for c, away in zip(code, shift)], 182, PITCH - 1)

    def shared(
        self, code: NDArray[np.float64], spots: Sequence[tuple[float, float]], value: float, cut: float | None
    ) -> str:
        """Write a code that many melons share, or the new one has, above it and on its side of the cut.

        A brace ties columns of melons to it.
        """
        own = [spots[i] for i in np.flatnonzero(code == value).tolist()]
        if len(own) < 3 and not (len(code) == len(self.names) and code[-1] == value):
            return ""
        x, (left, *_, right) = round(self.plane.x(value)), (*sorted(x for x, _ in own), max(x for x, _ in own))
        brace = f"M{left - 10},196v4H{right + 10}v-4M{x},200v6" if left < right else ""
        word_at = x
        if cut is not None and abs(x - (at := round(self.plane.x(cut)))) < 20:
            word_at = at + (20 if value > cut else -20)
        return centred(word_at, min(y for _, y in own) - 20, f"{value:.2f}", style=HALO) + path(brace, **OUTLINE)

    def axis_name(self, how: str) -> str:
        if how == OWN:
            return centred(240, 247, "code: share of ripe among all melons of its category")
        more = f"and, as one label more, the share among all, {self.prior:.2f}"
        return centred(240, 247, "code: mean label of those before it in its category") + centred(240, 265, more)

    def sentence(self, column: str, how: str, n: int) -> str:
        if n == 0:
            return "No melon has a code yet."
        last = self.last(column, how, n)
        if n == len(self.names):
            return f"{last} {self.told(column, how)}"
        cut, n_right = self.cut(column, how, n)
        have = f"{last} {'1 melon has' if n == 1 else f'{n} melons have'} a code."
        if cut is None:
            return f"{have} No cut does better than one prediction for all, correct for {n_right}."
        return f"{have} The best cut, at {cut:.2f}, classifies {n_right} of them correctly."

    def told(self, column: str, how: str) -> str:
        """What the best cut says about the new melon, and for how many it would be right."""
        cut = self.cut(column, how, len(self.names))[0]
        right = f"If new ones are like these, that is right for {self.right_if_new(column, how)} of {len(self.melons)}."
        if cut is None:
            return f"No cut tells it from the others. {right.replace('that', 'one prediction for all')}"
        word = "ripe" if self.codes[column, how][-1] > cut else "unripe"
        like = f"any {self.columns[column].iloc[-1]} one" if column == TEXTURE else "any new one"
        return f"The best cut, at {cut:.2f}, calls it {word}, as it would {like}. {right.replace('that', 'the cut')}"

    def last(self, column: str, how: str, n: int) -> str:
        """How the melon coded last has got its code."""
        name, code = self.names[n - 1], self.codes[column, how][n - 1]
        category = self.columns[column][n - 1]
        labels = self.ripe.iloc[self.averaged(column, how, n)]
        k, n_ripe = len(labels), int(labels.sum())
        is_new = name == self.new
        who = f"The new melon, {name}," if is_new else f"Melon {name}"
        if how == OWN:
            verb = "is" if n_ripe == 1 else "are"
            whose = "its own label" if k == 1 else f"of the {k} that are {category}, {n_ripe} {verb} ripe"
            if is_new and column == NUMBER:
                whose = "no other melon has this number, so its code is the share of ripe ones among all"
            return f"{who} gets {n_ripe} / {k} = {code:.2f}: {whose}."
        alike = f"melon {category}" if column == NUMBER else f"{category} one"
        before = f"no other {alike} came before it"
        if k:
            outcome = f"ones came before it, {n_ripe} of them ripe"
            outcome = outcome if k > 1 else f"one came before it, {'a ripe' if n_ripe else 'an unripe'} one"
            before = f"{k} {category} {outcome}"
        return f"{who} gets ({n_ripe} + {self.prior:.2f}) / ({k} + 1) = {code:.2f}: {before}."


def unknown(x: float, y: float, radius: float = 12) -> str:
    """A melon whose class nobody knows."""
    return circle(x, y, radius, **OUTLINE, stroke_width=2, stroke_dasharray="3 3")


def codes_explorer(melons: pd.DataFrame, seed: int = 0) -> Explorable:
    """Melons coded by the share of ripe among those of their category, one after the other in a random order.

    `melons` has the columns texture and ripe (yes, no); its index is the number of each melon. Last comes a new melon.
    """
    scene, n = _Codes(melons, seed), len(melons)
    answer = scene.cut(NUMBER, OWN, n)[1]
    return scene.explorable(
        title="What a melon's number is worth",
        alt=f"{n} melons as numbered circles, hollow if ripe, piled up along a line by a code: the share of ripe in "
        "the category that the melon's own number makes. The ripe ones lie on the right, at 1, the others on the left, "
        "at 0, and a dashed cut between them. A new melon, drawn as a dashed circle, lies close to the cut. Below "
        "stands the random order in which they were coded, pale; lines mark the melons whose labels are averaged in "
        "the code of the last one.",
        controls=[
            Choice("Category", list(scene.columns)),
            Choice("Code averages", [OWN, BEFORE]),
            Slider("Melons coded", list(range(n + 2)), start=n + 1, opens=0),
        ],
        found=lambda column, how, k: column == TEXTURE and how == BEFORE and k > n,
        guess=Slider(
            f"Your guess: of {n} melons coded by their own number, how many does the best cut classify correctly?",
            list(range(n // 2, n + 1)),
            answer=answer,
            truth=f"with all labels counted, it classifies {answer} correctly",
        ),
        challenge=f"Go on to the new melon, {scene.new}. Then let each code average only the melons coded "
        "before: which column is still worth something, the number or the texture?",
    )


class Part(NamedTuple):
    """The rows of a node, the node above it, its best cut, and by how much that lowers the squared error."""

    rows: list[plain.Row]
    parent: Part | None
    cut: tuple[str, float] | None
    fall: float

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last of its patients."""
        return min(row.x["x"] for row in self.rows), max(row.x["x"] for row in self.rows)

    @property
    def error(self) -> float:
        """The squared error that it leaves as a leaf."""
        return float(len(self.rows) * plain.squared_error(self.rows))

    @property
    def level(self) -> int:
        return self.parent.level + 1 if self.parent else 0


class Stage(NamedTuple):
    """A growing tree: its leaves, the nodes above them, and the leaf that is split next."""

    leaves: list[Part]
    above: list[Part]
    next: Part | None

    @property
    def left(self) -> float:
        """The squared error that its leaves leave."""
        return sum(leaf.error for leaf in self.leaves)

    @property
    def depth(self) -> int:
        return max(leaf.level for leaf in self.leaves)


def growth(days: Sequence[float], by_level: bool) -> list[Stage]:
    """A tree with 1, 2, ... leaves, until no cut gains."""
    D, attributes = plain.read(pd.DataFrame({"x": range(1, len(days) + 1)}), days)

    def part(rows: list[plain.Row], parent: Part | None = None) -> Part:
        cut = plain.best_cut(rows, attributes, plain.gain, 1e-9, impurity=plain.squared_error)
        fall = float(len(rows) * plain.gain(rows, cut, plain.squared_error)) if cut else 0.0
        return Part(rows, parent, cut, fall)

    leaves, above = [part(D)], list[Part]()
    stages = []
    while True:
        falls = {i: leaf.fall for i, leaf in enumerate(leaves) if leaf.cut}
        i = None if not falls else min(falls) if by_level else plain.largest(falls)
        stages.append(Stage(leaves, above, None if i is None else leaves[i]))
        if i is None:
            return stages
        children = [part(rows, leaves[i]) for rows in plain.divide(leaves[i].rows, leaves[i].cut).values()]
        leaves, above = [*leaves[:i], *leaves[i + 1 :], *children], [*above, leaves[i]]


class _Growth(Scene):
    """Two trees with the same number of leaves side by side: what each predicts, and below that its levels."""

    wide, top, pitch, high = 208, 210, 34, 25  # of a tree; its first level, from level to level, height of a node

    def __init__(self, days: pd.Series, few: int) -> None:
        self.days, self.few = days.tolist(), few
        self.stages = {how: growth(self.days, how == BY_LEVEL) for how in (BY_LEVEL, BY_LEAF)}
        goal = self.stages[BY_LEAF][few - 1].left + plain.TIE  # level by level it takes `enough` leaves
        self.enough = next(n for n, stage in enumerate(self.stages[BY_LEVEL], 1) if stage.left <= goal)
        self.ticks = ticks(0, max(self.days), 2)
        x, y = (0.5, len(days) + 0.5), (0, max(self.days))
        self.planes = {how: Chart(x, y, (left, 72, left + self.wide, 176)) for how, left in zip(self.stages, (4, 268))}
        self.n_levels = self.stages[BY_LEVEL][-1].depth + 1
        self.size = (480, self.top + self.pitch * self.n_levels + 42)

    def background(self) -> str:
        drawn = centred(240, 58, "days") + centred(240, 195, "x")
        for how, plane in self.planes.items():
            drawn += text(plane.box[0], 16, how, font_weight="bold")
            drawn += "".join(plane.level(y, stroke_opacity=FAINT / 2) for y in self.ticks)
            drawn += "".join(centred(plane.x(k), 195, k) for k in range(1, len(self.days) + 1))
        drawn += "".join(centred(240, plane.y(y) + 5, f"{y:g}") for y in self.ticks)
        drawn += "".join(centred(240, self.top + self.pitch * k + 18, f"level {k}") for k in range(self.n_levels))
        y = self.size[1] - 4
        drawn += text(4, y - 24, "in a node: error that its best split takes off (blank: none)")
        keys = ((4, NEXT, "leaf that is split next"), (198, {"fill_opacity": LEAF}, "leaf"))
        for x, look, word in (*keys, (272, dict(OUTLINE, stroke_opacity=BAR), "node, split already")):
            drawn += rect(x, y - 13, 16, 16, **look) + text(x + 24, y, word)
        return drawn

    def frame(self, n: int) -> State:
        parts = [self.steps(how, n) + self.tree(how, n) for how in self.stages]
        return parts, self.sentence(n), {}

    def steps(self, how: str, n: int) -> str:
        """What the tree predicts, how far each patient is from that, and what is left in all."""
        plane, stage = self.planes[how], self.stages[how][n - 1]
        drawn, missed = "", ""
        for leaf in stage.leaves:
            (first, last), y = leaf.ends, round(plane.y(plain.mean(leaf.rows)))
            drawn += f"M{round(plane.x(first - 0.5))},{y}H{round(plane.x(last + 0.5))}"
            spots = plane.pixels(range(first, last + 1), self.days[first - 1 : last])
            missed += "".join(f"M{x},{y}V{day}" for x, day in spots)
        bar = rect(plane.box[0], 42, self.wide * stage.left / self.stages[how][0].left, 7, fill_opacity=BAR)
        words = text(plane.box[0], 36, f"squared error left: {stage.left:.2f}")
        dots = plane.dots(range(1, len(self.days) + 1), self.days)
        return words + bar + path(missed, **OUTLINE, stroke_opacity=BAR) + path(drawn, stroke_width=3, **OUTLINE) + dots

    def tree(self, how: str, n: int) -> str:
        """The nodes of the tree, each as wide as its patients: those above the leaves are hollow."""
        plane, (leaves, above, following) = self.planes[how], self.stages[how][n - 1]
        drawn = ""
        for node in (*above, *leaves):
            look = {"fill_opacity": LEAF} if node in leaves else dict(OUTLINE, stroke_opacity=BAR)
            left, right = map(plane.x, node.ends)
            middle, y = (left + right) / 2, self.top + self.pitch * node.level
            drawn += rect(left - 11, y, right - left + 22, self.high, **(NEXT if node is following else look))
            drawn += centred(middle, y + 18, f"{node.fall:.2f}") if node.fall else ""
            if node.parent:
                start = plane.x(sum(node.parent.ends) / 2)
                drawn += line(start, y - self.pitch + self.high, middle, y, stroke_opacity=BAR)
        return drawn

    def sentence(self, n: int) -> str:
        by_level, by_leaf = (stages[n - 1] for stages in self.stages.values())
        leaves = "1 leaf" if n == 1 else f"{n} leaves"
        if {leaf.ends for leaf in by_level.leaves} == {leaf.ends for leaf in by_leaf.leaves}:
            told = f"{leaves}, the same tree either way; a squared error of {by_leaf.left:.2f} is left."
        else:
            deeper = ", in a deeper tree" if by_leaf.depth > by_level.depth else ""
            told = (
                f"{leaves}: level by level the error is {by_level.left:.2f}, leaf by leaf {by_leaf.left:.2f}{deeper}."
            )
        reached = f" Only now is the error level by level no larger than leaf by leaf with {self.few} leaves."
        return f"{told}{reached if n == self.enough else ''} {self.following(by_level, by_leaf)}"

    def following(self, by_level: Stage, by_leaf: Stage) -> str:
        """What comes next."""
        if by_level.next is None or by_leaf.next is None:
            return "No split gains anything more, so the order matters only for trees that stop earlier."
        if by_level.next.ends == by_leaf.next.ends:
            return f"The next split takes off {by_leaf.next.fall:.2f}."
        splits = [
            f"{how} splits patients {node.ends[0]} to {node.ends[1]}, which takes off {node.fall:.2f}"
            for how, node in ((BY_LEVEL, by_level.next), (BY_LEAF, by_leaf.next))
        ]
        return f"Next, {'; '.join(splits)}."


def growth_explorer(days: pd.Series, few: int = 4) -> Explorable:
    """Trees for the days of patients, by x = 1, 2, ..., that grow level by level and leaf by leaf, side by side."""
    scene = _Growth(days, few)
    by_level, by_leaf = scene.stages.values()
    first = min(leaf.ends[0] for leaf in by_leaf[1].leaves if leaf.ends[0] > 1)  # of the second half
    answer = sum(leaf.ends[0] >= first for leaf in by_leaf[few - 1].leaves)
    there = f"patients {first} to {len(days)}"
    open_there = sum(leaf.error for leaf in by_leaf[1].leaves if leaf.ends[0] >= first)
    return scene.explorable(
        title="Which leaf next?",
        alt=f"The days of {len(days)} patients as dots, by x, twice, each time with the steps that a tree of {few} "
        "leaves predicts, and below them the tree: a box for each node, on its level, as wide as its patients. Level "
        f"by level both halves are split, and {by_level[few - 1].left:.2f} of the squared error is left. Leaf by leaf "
        f"{answer} of the leaves lie among {there}, some of them a level deeper, and {by_leaf[few - 1].left:.2f} is "
        "left.",
        controls=[Slider("Leaves", list(range(1, len(by_leaf) + 1)), start=few, opens=1)],
        found=lambda n: n == scene.enough,
        guess=Choice(
            f"Your guess: of {few} leaves, how many should lie among {there}, for the smallest squared error?",
            list(range(1, few)),
            answer=answer,
            truth=f"after the first split {open_there / by_leaf[1].left:.1%} of the error is there, so {answer} of the "
            f"{few} leaves belong there",
        ),
        challenge="Go on step by step, and watch for the splits that growth level by level wastes. How many leaves "
        f"does the left tree need for an error no larger than that of the right one with {few}? Stop there.",
    )


def seen_labels(wards: Sequence[str], ways: Mapping[str, Callable[[int], Iterable[int]]]) -> Picture:
    """For each way of coding a grid: full where the label of a row (across) counts in the code of a row (down).

    A way says for the i-th row which rows it may see; those of its own ward count. A thick box is the row's own label.
    """
    n, side, drawing = len(wards), 22, ""
    places = itertools.product((0, 1), (0, 1))
    for (down, across), (name, seen) in zip(places, ways.items()):
        x, y = 34 + 246 * across, 48 + 250 * down
        drawing += text(x, y - 32, name, font_weight="bold")
        for i, ward in enumerate(wards):
            middle = side * i + side / 2
            drawing += centred(x + middle, y - 8, i + 1) + ending(x - 8, y + middle + 5, f"{ward}{i + 1}")
            counted = {j for j in seen(i) if wards[j] == ward}
            for j in range(n):
                box = (x + side * j + 1, y + side * i + 1, side - 2, side - 2)
                look: dict[str, Any] = {"fill_opacity": BAR} if j in counted else dict(OUTLINE, stroke_opacity=FAINT)
                drawing += rect(*box, **look)
                drawing += rect(*box, **OUTLINE, stroke_width=3) if i == j and j in counted else ""
    bottom = y + side * n  # of the last grid
    drawing += text(2, bottom + 22, "Each line is a row to be coded: the labels in grey boxes count,")
    drawing += text(2, bottom + 42, "and a thick edge marks the row's own.")
    return Picture(
        alt=f"{len(ways)} grids of {n} by {n} boxes, a line for each row, named by its ward; a box is full where the "
        "label of the row above it counts in the code. Naive: all rows of the ward, the own one among them, with a "
        "thick edge. Others: the same without the own one. Odd/even: of these, only rows that are even for an odd row, "
        "and odd for an even one. Ordered: only those to the left of the own box, so lines at the top are empty.",
        size=(480, bottom + 48),
        drawing=drawing,
    )


def sampled_gradients(g: Sequence[float], kept: Sequence[int], drawn: Sequence[int], weight: float) -> Picture:
    """Gradients as bars, one for each row: those that are kept, those drawn from the rest, those left out."""
    scale = 120 / max(abs(value) for value in g)
    drawn_bars, width = "", 440 / len(g)
    for i, value in enumerate(g):
        x = 24 + width * i
        look: dict[str, Any] = filled(GAIN) if i in kept else {"fill_opacity": BAR}
        if i not in kept and i not in drawn:
            look = dict(OUTLINE, stroke_dasharray="3 3")
        bars = [(1, look)] + [(weight, OUTLINE)] * (i in drawn)  # around a drawn row's, what it counts for
        for times, look in bars:
            high = abs(value) * scale * times
            y = 150 - high if value > 0 else 150
            drawn_bars += rect(x + 5, y, width - 10, high, **look)
        word = "kept" if i in kept else "drawn" if i in drawn else "out"
        number = with_minus(f"{value:g}") + (f" × {weight:g}" if i in drawn else "")
        middle = x + width / 2 - 8 * (i in drawn)  # a long number keeps off the next bar
        drawn_bars += centred(middle, y - 8 if value > 0 else y + high + 18, number)
        drawn_bars += centred(x + width / 2, 318, i + 1) + centred(x + width / 2, 338, word)
    return Picture(
        alt=f"The gradients of {len(g)} rows as bars above and below a line. The longest are kept, those of the rows "
        f"{listed([i + 1 for i in kept])}; of the others {listed([i + 1 for i in drawn])} are drawn and count "
        f"{weight:g} times, as outlines show, and the rest are left out.",
        size=(480, 346),
        drawing=line(24, 150, 464, 150)
        + text(0, 16, "gradient")
        + ending(476, 16, "solid outline: what a drawn row counts for")
        + text(0, 318, "row")
        + drawn_bars,
    )


def bundled(columns: Mapping[str, Sequence[int]], bundle: Sequence[int]) -> Picture:
    """Columns of which each row uses at most one, with zeros in the others, and the one column that they become."""
    names, n = list(columns), len(bundle)
    step = 386 / n
    drawing = ending(84, 16, "row") + "".join(centred(92 + step * i + (step - 3) / 2, 16, i + 1) for i in range(n))
    for k, (name, values) in enumerate([*columns.items(), ("bundle", bundle)]):
        y = 28 + 34 * k + 24 * (k == len(names))
        drawing += ending(84, y + 17, name)
        for i, value in enumerate(values):
            look: dict[str, Any] = {"fill_opacity": BAR} if value else dict(OUTLINE, stroke_opacity=BAR)
            drawing += rect(92 + step * i, y, step - 3, 24, **look)
            drawing += centred(92 + step * i + (step - 3) / 2, y + 17, value) if value else ""
    return Picture(
        alt=f"{len(names)} columns of zeros and ones as lines of {n} boxes, in which each row has one 1, and below "
        f"them the column that they become, {', '.join(map(str, bundle))}.",
        size=(480, 28 + 34 * len(names) + 54),
        drawing=drawing,
    )


def allowed(columns: Sequence[str], next_columns: Mapping[str, Sequence[str]]) -> Picture:
    """Below each path of a tree the columns that may be split on next: in a full box if they may, else in a dashed one.

    `next_columns` has these columns for each path.
    """
    step, drawing = 330 / len(columns), text(0, 16, "after a split on") + text(150, 16, "may follow")
    for k, (path_, follow) in enumerate(next_columns.items()):
        y = 28 + 34 * k
        drawing += text(0, y + 17, path_)
        for i, column in enumerate(columns):
            may = column in follow
            look: dict[str, Any] = {"fill_opacity": BAR} if may else dict(OUTLINE, stroke_dasharray="3 3")
            drawing += rect(150 + step * i, y, step - 6, 24, **look)
            drawing += centred(150 + step * i + (step - 6) / 2, y + 17, column) if may else ""
    told = ". ".join(f"After {path_}: {listed(follow)}" for path_, follow in next_columns.items())
    return Picture(
        alt=f"A line of boxes for each path, one box for each column, full where the column may follow. {told}.",
        size=(480, 34 + 34 * len(next_columns)),
        drawing=drawing,
    )


def symmetric_levels(answers: Mapping[str, Sequence[bool]]) -> Picture:
    """What one question a level does to the rows 1, 2, ...: `answers` has each question, and whether a row says yes.

    The answers number the leaves. The rows of a leaf have to stand side by side.
    """
    x, pitch = {row: 98 + 45 * row for row in range(1, len(next(iter(answers.values()))) + 1)}, 62
    number = {row: "".join(str(int(said[row - 1])) for said in answers.values()) for row in x}
    drawing = ""
    for k, question in enumerate([*answers, "leaf"]):
        y, is_last = 4 + pitch * k, k == len(answers)
        drawing += text(0, y + 20, question if is_last else f"{question}?")
        for met, part in itertools.groupby(x, key=lambda row: number[row][:k]):
            ends = [x[row] for row in part]
            look: dict[str, Any] = {"fill_opacity": LEAF} if is_last else dict(OUTLINE)
            drawing += rect(ends[0] - 19, y, ends[-1] - ends[0] + 38, 30, rx=4, **look)
            drawing += centred((ends[0] + ends[-1]) / 2, y + 48, met) if is_last else ""
        for row, across in x.items():
            drawing += centred(across, y + 20, row)
            drawing += "" if is_last else centred(across, y + 48, "yes" if number[row][k] == "1" else "no")
    leaves = {
        bits: [row for row in x if number[row] == bits]
        for bits in map("".join, itertools.product("10", repeat=len(answers)))
    }
    empty = [bits for bits, rows in leaves.items() if not rows]
    y = pitch * len(answers) + 80
    drawing += text(0, y, f"1: yes, 0: no. Leaves without a row: {', '.join(empty)}")
    told = "; ".join(f"{bits} holds {listed(rows)}" for bits, rows in leaves.items() if rows)
    return Picture(
        alt=f"{len(x)} rows in one box. Level by level all boxes are asked the same question, "
        f"{', '.join(answers)}, and a box whose rows answer yes and no is divided. The answers "
        f"number the leaves: {told}.",
        size=(480, y + 6),
        drawing=drawing,
    )


def models_of_rows(labels: Sequence[float], rounds: Sequence[Sequence[float]], models: NDArray[Any]) -> Picture:
    """Rows of one leaf: where each round moves them by the mean of those before, and beside it with a model for each.

    `models` has a line for each model, with its predictions for all rows.
    """
    n = len(models)
    drawing = text(0, 16, "one model, round by round") + text(256, 16, "a model for each row")
    blocks: list[tuple[int, list[str], Any]] = [
        (0, [f"round {k + 1}" for k in range(len(rounds))], rounds),
        (256, [f"model {i + 1}" for i in range(n)], models),
    ]
    for x, names, values in blocks:
        drawing += text(x, 42, "row") + "".join(centred(x + 86 + 43 * j, 42, j + 1) for j in range(n))
        drawing += text(x, 62, "label") + "".join(centred(x + 86 + 43 * j, 62, f"{y:g}") for j, y in enumerate(labels))
        for i, (name, line_) in enumerate(zip(names, values)):
            drawing += text(x, 89 + 34 * i, name)
            for j, value in enumerate(line_):
                counts, own = x > 0 and j < i, x > 0 and j == i
                look: dict[str, Any] = {"fill_opacity": BAR} if counts else dict(OUTLINE)
                drawing += rect(x + 66 + 43 * j, 72 + 34 * i, 40, 24, **look, stroke_width=3 if own else 1)
                drawing += centred(x + 86 + 43 * j, 89 + 34 * i, f"{value:.3g}")
    below = 69 + 34 * len(rounds)
    drawing += line(109, below, 63 + 43 * n, below)
    drawing += centred(86 + 43 * n / 2, below + 18, "pushed twice")
    drawing += ending(476, 89 + 34 * n, "grey: learned from; thick: its own row")
    stand = [listed([f"{x:.3g}" for x in values]) + f" after round {k}" for k, values in enumerate(rounds, start=1)]
    told = "; ".join(f"row {i + 1}'s model predicts {listed([f'{x:g}' for x in row])}" for i, row in enumerate(models))
    return Picture(
        alt=f"{n} rows of one leaf, with the labels {listed([f'{y:g}' for y in labels])}. With one model they stand at "
        f"{'; '.join(stand)}. With a model for each row, in which only the rows before it count, nothing moves after "
        f"round 1: {told}.",
        size=(480, 96 + 34 * n),
        drawing=drawing,
    )


@plotted
def plot_leak(errors: pd.DataFrame, numbered: Sequence[str]) -> None:
    """Mean squared error by the number of made-up categories: a dot held out, a ring for the training rows.

    `errors` has the columns categories, code, train and held out, a line for each code and number of categories. The
    held-out errors of the `numbered` codes are written above their dots.
    """
    ax = axes("made-up wards", "mean squared error")
    groups = errors["categories"].unique()
    for k, ((name, rows), color) in enumerate(zip(errors.groupby("code", sort=False), CLASS_COLORS)):
        at = np.arange(len(groups)) + 0.2 * (k - 1.5)
        ax.vlines(at, rows["train"], rows["held out"], color, alpha=BAR)
        ax.scatter(at, rows["train"], 36, facecolors="none", edgecolors=color)
        ax.scatter(at, rows["held out"], 36, color=color, label=name)
        for x, error in zip(at, rows["held out"] if name in numbered else []):
            ax.annotate(f"{error:.0f}", (x, error), (0, 8), textcoords="offset points", ha="center")
    ax.margins(x=0.1, y=0.12)  # room for the numbers
    ax.set_xticks(range(len(groups)), groups)
    ax.legend(frameon=False, title="dot: held out; ring: train", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)


@plotted
def plot_hidden(left: pd.Series, if_new: pd.Series, leaf: NDArray[Any]) -> None:
    """The next residual of each row as a bar, in the outline of what it would be if the row were new, leaf by leaf."""
    ax = axes("row", "next residual", 3)
    rows = pd.Series(np.arange(1, len(leaf) + 1))
    ax.bar(rows, if_new, 0.6, fill=False, edgecolor="#000000", label="if the row were new")
    ax.bar(rows, left, 0.6, color=CLASS_COLORS[0], alpha=BAR, label="as a training row")
    ax.axhline(0, color="#000000", linewidth=0.8)
    _, top = ax.get_ylim()
    for _, inside in rows.groupby(leaf):
        ax.text(inside.mean(), top, f"leaf of {len(inside)}", ha="center", va="bottom")
    for border in np.flatnonzero(np.diff(leaf)) + 1.5:
        ax.axvline(border, color="#000000", linestyle=":")
    ax.set_xticks(rows)
    ax.locator_params(axis="y", integer=True)
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.08), ncols=2)


@plotted
def plot_left(left: Mapping[str, NDArray[Any]], ordered: NDArray[Any], is_first: NDArray[np.bool_]) -> None:
    """The next residual of each row: a bar for each way of taking the means, and beside them the ordered ones.

    `left` has the bars of each way. `ordered` has a line for each order; where a row `is_first` in its leaf, a ring
    stands for it, and otherwise a dot for the mean of the orders and a line for their range.
    """
    ax = axes("row", "next residual", 3.6)
    rows = np.arange(1, ordered.shape[1] + 1)
    for k, ((way, sizes), color) in enumerate(zip(left.items(), CLASS_COLORS)):
        ax.bar(rows + 0.27 * (k - 1), sizes, 0.25, color=color, alpha=BAR, label=way)
    at, color = rows + 0.27, CLASS_COLORS[len(left)]
    others = np.ma.masked_array(ordered, is_first)
    ax.vlines(at, others.min(axis=0), others.max(axis=0), color)
    ax.scatter(at, others.mean(axis=0), 25, color=color, zorder=3, label="ordered, not first: mean and range")
    rings = ordered.max(axis=0, where=is_first, initial=-np.inf)
    ax.scatter(at, rings, 25, facecolors="none", edgecolors=color, label="ordered, first in its leaf")
    ax.axhline(0, color="#000000", linewidth=0.8)
    ax.set_xticks(rows)
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)


@plotted
def plot_rounds(errors: pd.DataFrame) -> None:
    """Held-out error, a line for each column of `errors`, against the number of rounds, its index."""
    ax = axes("rounds", "held-out error")
    plot_columns(ax, errors, ["-", "--", ":"])
    ax.legend(frameon=False)


@plotted
def plot_chosen(gains: Mapping[str, NDArray[Any]]) -> None:
    """The true gain of the cut that each sample chooses, as a share of the best: a line for each way of drawing.

    A dot is the larger, the more samples choose a cut of this gain; a bar stands at the mean.
    """
    ax = axes("true gain of the chosen cut\nas a share of the best (large dot: many; bar: mean)", "", 4)
    for k, (name, chosen) in enumerate(gains.items()):
        size, n_samples = np.unique(chosen.round(9), return_counts=True)
        shares = 600 * n_samples / len(chosen)
        ax.scatter(size, np.full(len(size), -k), shares, color=CLASS_COLORS[k % 2], alpha=BAR, linewidths=0)
        ax.vlines(chosen.mean(), -k - 0.2, -k + 0.2, "#000000", linewidth=3)
        ax.text(0, 0.22 - k, f"{name}: mean {chosen.mean():.2f}", va="bottom")
    ax.axvline(1, color="#000000", linewidth=0.8)
    ax.set_yticks([])
    ax.margins(x=0.06, y=0.15)


@plotted
def plot_halves(residuals: Sequence[float], on_all: Sequence[float], mean: Sequence[float]) -> None:
    """The residual of each row as a dot, one stump on all rows as a step, and the mean of stumps on halves of them."""
    ax = axes("row", "residual, or move", 3.2)
    rows = np.arange(1, len(residuals) + 1)
    ax.axhline(0, color="#000000", linewidth=0.8)
    ax.step(rows, on_all, where="mid", color=CLASS_COLORS[0], linestyle="--", label="stump on all rows")
    ax.step(rows, mean, where="mid", color=CLASS_COLORS[1], label="mean of the stumps on halves")
    ax.scatter(rows, residuals, 25, color=CLASS_COLORS[2], zorder=3, label="residual")
    ax.set_xticks(rows)
    ax.legend(frameon=False)
