"""The figures of the chapter on deep forests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from figures.charts import Chart, Picture, region, ticks
from figures.explorable import Choice, Explorable, Places, Scene, Slider, State
from figures.looks import GROUND, OUTLINE, centred, ending, filled, in_class, path, ringed, stroked
from figures.melons import listed, melon, melons_at, melons_named, piled
from figures.plots import PLOT_WIDTH, axes, plain_ticks, plotted
from treekit.models.deep_forest import assign_folds, out_of_fold, with_class_vectors
from treekit.models.random_forest import RandomForestClassifier
from treekit.pen.palette import BAR, CLASS_COLORS, GAIN, REGION, RIPE, UNRIPE
from treekit.pen.svg import FAINT, circle, line, rect, text

#: Opacities of two bars side by side. (Hollow and filled are taken: they are the classes of melons.)
DARK, PALE = 0.7, 0.3
#: The columns that each of a level's four forests draws at a split.
DRAWN: tuple[str | int, ...] = ("sqrt", "sqrt", 1, 1)
#: No level is thrown away, and no melon taken out; both of the melons are.
NONE, PAIR = "none", "both"
#: What is said of each guess about the bars of a melon that the first level predicts wrongly.
OF_BARS = {
    "long": "a level hands on what it predicts, right or wrong",
    "short": "they show what level 1 predicts, not the class",
    "none": "each prediction is handed on, right or wrong",
}


def _measured_and_shared(y: float, n_vectors: int) -> str:
    """A row: its measurements as empty squares, and behind them three filled ones for each class vector."""
    measured = "".join(rect(20 + 19 * i, y, 15, 15, **OUTLINE) for i in range(6))
    return measured + "".join(_vector(150 + 78 * b, y) for b in range(n_vectors))


def _vector(x: float, y: float) -> str:
    """A class vector: a square for each of three classes."""
    return "".join(in_class(k, rect(x + 19 * k, y, 15, 15)) for k in range(3))


def _arrow_down(x: float, y: float) -> str:
    return line(x, y, x, y + 20) + path(f"M{x - 5},{y + 20}h10l-5,8z")


def level_anatomy() -> Picture:
    """One level of a cascade: a row, four forests, their class vectors beside the row, and the next level."""
    forests, drawn = ["random forest", "random forest", "completely random", "completely random"], ""
    for b, name in enumerate(forests):
        y = 70 + 44 * b
        drawn += rect(150, y, 170, 32, **OUTLINE, rx=4) + centred(235, y + 21, name)
        drawn += line(75, y + 16, 150, y + 16, stroke_opacity=FAINT) + line(
            320, y + 16, 352, y + 16, stroke_opacity=FAINT
        )
        drawn += _vector(356, y + 9)
    below = 70 + 44 * len(forests)
    return Picture(
        alt="Above, a row of six measurements. It goes into four forests, two random and two completely random. Each "
        "gives three shares, one for each class. Below, the same six measurements with the twelve shares behind them: "
        "the row that the next level reads.",
        size=(480, below + 96),
        drawing=text(20, 16, "what level 1 reads: the measurements")
        + _measured_and_shared(26, 0)
        + line(75, 45, 75, below - 28, stroke_opacity=FAINT)
        + drawn
        + ending(480, 40, "class vectors")
        + _arrow_down(75, below + 2)
        + _arrow_down(383, below + 2)
        + text(20, below + 50, "what level 2 reads: measurements and class vectors")
        + _measured_and_shared(below + 62, 4),
    )


class _Levels(Scene):
    """A line for each melon: what a level reads of it, and where forests that have not seen the melon put it.

    To the left its measurements and its shares by the level before, to the right its mean share by this level, grown
    on all others or without one or two of them. Above stands a box for each level.
    """

    size = (480, 606)  # wider lines than in a low drawing

    height = 424  # of what is drawn
    wide, cell, pitch = 48, 25, 28  # of the bars: how wide, and how far apart those of the forests are
    share_x, name_x = 116, 243  # where the first share starts, and where the melons' numbers stand
    top, step = 100, 17  # of the lines
    plane = Chart((0, 1), (0, 1), (276, 90, 462, 382))
    boxes = Chart((0.5, 4.5), (0, 1), (0, 2, 480, 46))  # one for each level
    box = (114, 44)

    def __init__(
        self, X: pd.DataFrame, y: pd.Series, n_levels: int, n_trees: int, seed: int, n_runs: int, n_deals: int
    ) -> None:
        self.X, self.y_true, self.is_ripe, self.n_trees = X, y, (y == "yes").to_numpy(), n_trees
        self.levels = list(cascade_levels(X, y, n_levels, n_trees, seed))
        self.shares = np.array([_second(vectors) for *_, vectors in self.levels]).round(9)
        self.new = self.shares.mean(axis=1).round(9)
        self.right = self.counts(self.new)
        others = (cascade_shares(X, y, n_levels, n_trees, run).mean(axis=1).round(9) for run in range(n_runs))
        self.others = np.array([self.counts(shares) for shares in others])
        self.thrown = kept(self.right) + 1  # the first level that corrects no more than it spoils
        order = np.argsort(~self.is_ripe, kind="stable")  # the ripe ones first
        self.y = self.top + self.step * np.argsort(order)
        # The unripe ones with the longest bars, which may be taken out.
        long = pd.Series(self.new[0], X.index)[~self.is_ripe].nlargest(2).index.tolist()
        self.handed = X.index.get_loc(long[0])
        self.taken: dict[str, list[Any]] = {NONE: [], **{str(name): [name] for name in sorted(long)}, PAIR: long}
        self.moved = {(level, out): self.regrown(level, out) for level in self.range for out in self.taken}
        self.n_deals, way = n_deals, self.experiment
        self.deals = {key: self.dealt(*key) for key in ((way[0], NONE), way)} if way else {}

    @property
    def range(self) -> range:
        return range(1, len(self.levels) + 1)

    def regrown(self, level: int, out: str) -> NDArray[Any]:
        """The mean shares by this level with the same seeds, when it learns nothing from the melons taken out."""
        if not self.taken[out]:
            return self.new[level - 1]
        table, rng, _ = self.levels[level - 1]
        vectors = level_vectors(table, self.y_true, self.n_trees, deepcopy(rng), self.taken[out])
        return _second(vectors).mean(axis=0).round(9)

    def dealt(self, level: int, out: str) -> NDArray[Any]:
        """In how many other deals of folds and trees this level puts each melon on the right side."""
        table, rngs = self.levels[level - 1][0], map(np.random.default_rng, range(self.n_deals))
        runs = (level_vectors(table, self.y_true, self.n_trees, rng, self.taken[out]) for rng in rngs)
        return np.sum([self.is_right(_second(vectors).mean(axis=0).round(9)) for vectors in runs], axis=0)

    @property
    def experiment(self) -> tuple[int, str] | None:
        """The first level with one melon out without which a ripe one with long bars is on the right side, if any."""
        ways = (way for way in self.moved if len(self.taken[way[1]]) == 1)
        return next((way for way in ways if self.back(*way)), None)

    def counts(self, shares: NDArray[Any]) -> list[int]:
        """How many melons each level classifies correctly without having seen them."""
        return self.is_right(shares).sum(axis=1).tolist()

    def is_right(self, share: NDArray[Any]) -> NDArray[np.bool_]:
        """Which melons are classified correctly by these shares of ripe."""
        return (share > 0.5) == self.is_ripe

    def background(self) -> str:
        """The measurements as grey bars, the two sides of one half, the axis of the shares, a box for each level."""
        x, (left, top, right, bottom) = self.plane.x, self.plane.box
        half, edge = x(0.5), 18
        drawn = "".join(
            rect(start, top, end - start, bottom - top, **filled(kind), fill_opacity=REGION)
            for kind, start, end in ((UNRIPE, left - edge, half), (RIPE, half, right + edge))
        )
        drawn += rect(0, self.y[self.handed] - 8.5, 480, 17, fill_opacity=REGION / 2)
        drawn += self.plane.upright(0.5, stroke_dasharray="3 4") + line(left - edge, bottom, right + edge, bottom)
        drawn += "".join(centred(x(tick), bottom + 17, tick) for tick in (0, 1))
        drawn += centred(half, bottom + 17, "mean share of ripe")
        drawn += melons_at({"": False}, [(left - edge + 9, top - 11)], 6) + text(left - edge + 20, top - 6, "unripe")
        drawn += melons_at({"": True}, [(right + edge - 9, top - 11)], 6) + ending(right + edge - 20, top - 6, "ripe")
        drawn += "".join(centred(self.name_x, y + 5, name) for name, y in zip(self.X.index, self.y))
        drawn += "".join(self.measured(j) for j in range(self.X.shape[1]))
        under = self.top + self.step * (self.is_ripe.sum() - 0.5)
        return drawn + line(0, under, left - edge, under, stroke_dasharray="3 4") + self.named_bars()

    def measured(self, column: int) -> str:
        """A measurement of all melons, as bars."""
        x, values = (self.wide + 10) * column, self.X.iloc[:, column]
        bars = "".join(
            f"M{x},{y - 5}h{round(self.wide * value)}v10H{x}z" for y, value in zip(self.y, values / values.max())
        )
        return text(x, self.plane.box[1] - 6, values.name) + path(bars, fill_opacity=BAR)

    def bars(self) -> list[int]:
        """Where the bar of each forest starts."""
        return [self.share_x + self.pitch * b for b in range(len(DRAWN))]

    def named_bars(self) -> str:
        """The room of each share, from 0 to 1, with the number of its forest above; the boxes of the levels."""
        cells = "".join(f"M{x},{y - 5}h{self.cell}v10h-{self.cell}z" for x in self.bars() for y in self.y)
        drawn = path(cells, **OUTLINE, stroke_opacity=FAINT)
        drawn += "".join(centred(x + self.cell / 2, self.plane.box[1] - 6, b + 1) for b, x in enumerate(self.bars()))
        drawn += "".join(centred(self.share_x + self.cell * k, self.plane.box[3] + 17, k) for k in (0, 1))
        return drawn + "".join(
            rect(at, self.boxes.box[1], *self.box, **OUTLINE, stroke_opacity=FAINT, rx=4)
            + centred(at + self.box[0] / 2, self.boxes.box[1] + 18, f"level {k}")
            for k, at in self.lefts()
        )

    def lefts(self) -> list[tuple[int, float]]:
        """Each level, and where its box starts."""
        return [(k, self.boxes.x(k) - self.box[0] / 2) for k in self.range]

    def marks(self) -> dict[Any, str]:
        ground = circle(0, 0, 6, style=GROUND)  # the lines end at the melon
        frame = rect(0, 0, *self.box, **OUTLINE, stroke_width=2, rx=4)
        looks = zip(self.X.index, self.is_ripe)
        return {**{name: ground + melon("", bool(ripe), radius=6) for name, ripe in looks}, "level": frame}

    def frame(self, level: int, out: str, thrown: object) -> State:
        share, taken = self.moved[level, out], self.X.index.isin(self.taken[out])
        spots = [(round(self.plane.x(value)), int(y)) for value, y in zip(share, self.y)]
        seen = zip(self.X.index, spots, taken)
        places: Places = {name: (*spot, 1, 1, 0.25) if is_out else spot for name, spot, is_out in seen}
        places["level"] = (self.lefts()[level - 1][1], self.boxes.box[1])
        wrong = [(*spots[n], 9) for n in np.flatnonzero(~self.is_right(share) & ~taken)]
        parts = [*self.reads(level), self.came_from(level, out, spots)]
        parts += [ringed(wrong)] if wrong else []
        parts += [self.crossed(taken)] if taken.any() else []
        return [*parts, *self.tally(level, thrown), self.taps()], self.told(level, out, thrown), places

    def reads(self, level: int) -> list[str]:
        """The shares that arrive, as bars, and at one melon their mean."""
        y = self.plane.box[1] - 24
        heads = text(0, y, f"level {level} reads")
        heads += text(self.share_x, y, f"level {level - 1}’s forests" if level > 1 else "no shares yet")
        if level == 1:
            return [heads]
        bars = "".join(
            f"M{x},{y - 5}h{round(self.cell * share)}v10H{x}z"
            for x, shares in zip(self.bars(), self.shares[level - 2])
            for y, share in zip(self.y, shares)
        )
        mean, now = self.new[level - 2 : level, self.handed]
        told = text(268, self.y[self.handed] + 5, f"mean {mean:.2f}") if min(mean, now) > 0.5 else ""
        return [heads + told, path(bars, **filled(RIPE), fill_opacity=DARK)]

    def came_from(self, level: int, out: str, spots: Sequence[tuple[int, int]]) -> str:
        """A line to each melon from a dot: where the level before put it, or this level when it learned from all."""
        drawn = centred(self.plane.x(0.5), self.plane.box[1] - 24, f"level {level} predicts")
        key, before = "ring: predicted wrongly", self.new[level - 1 if out != NONE else level - 2]
        if level > 1 or out != NONE:
            starts = [(round(self.plane.x(share)), y) for share, (_, y) in zip(before, spots)]
            drawn += path("".join(f"M{a},{y}H{x}" for (a, y), (x, _) in zip(starts, spots)), **OUTLINE)
            drawn += "".join(circle(x, y, 3) for x, y in starts)
            key += "; dot: " + (
                f"with {listed(sorted(self.taken[out]))}" if out != NONE else f"mean of the bars, by level {level - 1}"
            )
        return drawn + text(0, self.plane.box[3] + 38, key)

    def crossed(self, taken: NDArray[np.bool_]) -> str:
        """Strike the lines of the melons that are taken out."""
        return path("".join(f"M0,{y}H{self.name_x - 12}" for y in self.y[taken]), **OUTLINE, stroke_width=2)

    def tally(self, level: int, thrown: object) -> list[str]:
        """How many melons each level behind the reader classifies correctly, and what it has changed.

        The box of the level that is shown stays empty until it is thrown away. When the cascade is over, the levels
        that it keeps are green, and those that it lacks crossed out.
        """
        parts, top, drawn, (wide, high) = [], self.boxes.box[1], "", self.box
        is_over = thrown == self.thrown and level >= self.thrown
        for k, x in self.lefts():
            told = ""
            if k < level or is_over or (k == level and k in (1, thrown)):
                told = (
                    f"{self.right[k - 1]} correct"
                    if k == 1
                    else "{}: +{} −{}".format(self.right[k - 1], *map(len, self.changes(k)))
                )
            parts += [centred(x + wide / 2, top + 36, told)] if told else []
            if is_over and k < self.thrown:
                drawn += rect(x, top, wide, high, rx=4, **filled(GAIN), fill_opacity=REGION)
            elif is_over:
                drawn += path(f"M{x:g},{top}l{wide},{high}m0,-{high}l-{wide},{high}", **OUTLINE, stroke_opacity=FAINT)
        return [drawn, *parts]

    def taps(self) -> str:
        """A tap on a box goes to its level, one on the line of a melon takes it out."""
        boxes = "".join(rect(x, self.boxes.box[1], *self.box, fill_opacity=0, data_choose=k) for k, x in self.lefts())
        lines = dict(zip(self.X.index, self.y))
        return boxes + "".join(
            rect(0, lines[names[0]] - 8.5, 480, 17, fill_opacity=0, data_choose=out)
            for out, names in self.taken.items()
            if len(names) == 1
        )

    def changes(self, level: int) -> tuple[list[Any], list[Any]]:
        """The melons that a level corrects, and those that it spoils."""
        was, right = (self.is_right(self.new[k - 1]) for k in (level - 1, level))
        return self.named(right & ~was), self.named(was & ~right)

    def named(self, which: NDArray[np.bool_]) -> list[Any]:
        return self.X.index[which].tolist()

    def changed(self, level: int) -> str:
        corrected, spoilt = map(melons_named, self.changes(level))
        return f"level {level} corrects {corrected} and spoils {spoilt}"

    def told(self, level: int, out: str, thrown: object) -> str:
        """What the reader has done to a level has changed, or what there is to look for."""
        if out != NONE:
            told = self.without(level, out)
            return told if thrown != level else f"{told} To judge the level, put back what you took out."
        if thrown == level:
            return self.judged(level)
        if level == 1:
            return (
                f"Level 1 classifies {self.right[0]} of {len(self.X)} melons correctly, all but "
                f"{listed(self.named(~self.is_right(self.new[0])))}."
            )
        keep = f"Step on to keep level {level}, or throw it away."
        told = "Which level would you throw away?" if level > self.thrown else keep
        return f"Which melons have crossed the middle, and which of these have a ring? {told}{self.misled_told(level)}"

    def misled(self, level: int) -> list[Any]:
        """The ripe melons with long bars that a level spoils."""
        bars = pd.Series(self.new[level - 2], self.X.index)
        return [name for name in self.changes(level)[1] if bars[name] > 0.5] if level > 1 else []

    def misled_told(self, level: int) -> str:
        names = self.misled(level)
        if not names:
            return ""
        bars, now = (pd.Series(share, self.X.index)[names[0]] for share in self.new[level - 2 : level])
        return f" Melon {names[0]} has bars of {bars:.2f} on average, and yet it is put at {now:.2f}."

    def back(self, level: int, out: str) -> list[Any]:
        """Those of them that are on the right side if the level does without the melons taken out."""
        right = dict(zip(self.X.index, self.is_right(self.moved[level, out])))
        return [name for name in self.misled(level) if right[name]]

    def without(self, level: int, out: str) -> str:
        """What a level makes of the others when it learns nothing from the melons taken out."""
        names, taken = listed(sorted(self.taken[out])), self.X.index.isin(self.taken[out])
        was, now, back = self.new[level - 1], self.moved[level, out], self.back(level, out)
        crossed = [name for name in self.named(((was > 0.5) != (now > 0.5)) & ~taken) if name not in back]
        told = [f"melon {name} comes back to {now[self.X.index.get_loc(name)]:.2f}" for name in back]
        if crossed or not back:
            also, verb = "also " * bool(back), "cross" if crossed[1:] else "crosses"
            told.append(f"{also}{melons_named(crossed)} {verb} the middle")
        return f"With the same seeds, but without {names}, {'; '.join(told)}. {self.by_chance(level, out)}".rstrip()

    def by_chance(self, level: int, out: str) -> str:
        """How often a melon that comes back is right with other folds and trees, with and without the one taken out."""
        if (level, out) not in self.deals:
            return ""
        (name, *_), (taken,) = self.back(level, out), self.taken[out]
        without, with_all = (self.deals[level, way][self.X.index.get_loc(name)] for way in (out, NONE))
        told = "all" if without == self.n_deals else str(without)
        return f"With {self.n_deals} other seeds {name} is right in {told} without {taken}, in {with_all} with it."

    def judged(self, level: int) -> str:
        """What is said of throwing a level away, and if that is right, what other runs say."""
        if level < self.thrown:
            return f"No: {self.changed(level)}. So keep it, and step on."
        lengths = pd.Series([kept(right) for right in self.others]).value_counts(sort=False).sort_index()
        ends = listed([f"{n} keep {k} level{'s' * (k > 1)}" for k, n in lengths.items()])
        first, last = self.others.mean(axis=0)[[0, -1]]
        return (
            f"{self.changed(level).capitalize()}{self.next_to_go(level)}, so it goes. Of {len(self.others)} other runs "
            f"{ends}; on average level 1 has {first:.1f} correct, level {len(self.levels)} {last:.1f}."
        )

    def next_to_go(self, level: int) -> str:
        """Said of the only melon that a level spoils, if of the unripe ones that were right it had the longest bars."""
        spoilt, was = self.changes(level)[1], self.new[level - 2]
        bars = pd.Series(was, self.X.index)[self.is_right(was) & ~self.is_ripe]
        is_next = spoilt == [bars.idxmax()]
        return ", the unripe one with the longest bars of those that were right" if is_next else ""


def _second(vectors: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The shares of the second class, a row for each forest."""
    return np.array([vector[:, 1] for vector in vectors])


def kept(right: Sequence[int]) -> int:
    """How many levels a cascade keeps, by how many rows each level classifies correctly: until one brings no more."""
    return next((k for k in range(1, len(right)) if right[k] <= right[k - 1]), len(right))


def levels_explorer(
    X: pd.DataFrame,
    y: pd.Series,
    n_levels: int = 4,
    n_trees: int = 10,
    seed: int = 0,
    n_runs: int = 12,
    n_deals: int = 12,
) -> Explorable:
    """A line for each melon: what each level of a cascade reads of it, and its mean share of ripe by this level.

    All shares come from forests that have not seen the melon, by cross-validation. The reader takes out one or both of
    the two unripe melons with the longest bars, and decides which level is to be thrown away; at rest it is. Sentences
    have the means of the runs with the seeds 0 to `n_runs` - 1, and what `n_deals` other deals of folds and trees make
    of a level. `y` has the labels yes and no; a level of this run must correct no more than it spoils, and the first
    one must take an unripe melon for ripe.
    """
    cascade, n = _Levels(X, y, n_levels, n_trees, seed, n_runs, n_deals), len(X)
    name, share, thrown = X.index[cascade.handed], cascade.new[0, cascade.handed], cascade.thrown
    asked = "Throw"
    if way := cascade.experiment:
        who = cascade.back(*way)[0]
        asked = f"At level {way[0]}, bring melon {who} back across the middle: without which melon? Then throw"

    return cascade.explorable(
        title="Seventeen rows on their way through the levels",
        alt=f"A line for each of {n} melons. On the left {' and '.join(map(str, X))} as grey bars, and four bars, the "
        f"shares of ripe by level {thrown - 1}’s forests. On the right the melon, hollow if ripe, at the mean of its "
        f"four shares by level {thrown}, with a line from a dot at the mean of the bars. A ring: on the wrong side of "
        "one half. Above, a box for each level tells how many it classifies correctly, corrects and spoils; from level "
        f"{thrown} on they are crossed out.",
        controls=[
            Slider("Level", list(cascade.range), start=thrown, opens=1),
            Choice("Take out", list(cascade.taken)),
            Choice("Throw away", [NONE, *cascade.range[1:thrown]], show="{}", start=thrown, opens=NONE),
        ],
        height=lambda *values: cascade.height,  # so that the sentence stands by the controls
        found=lambda level, out, gone: 2 if (level, out) == way else int(level == gone == thrown and out == NONE),
        guess=Choice(
            f"Your guess: melon {name} is unripe, but level 1 puts it at {share:.2f}. Which bars does level 2 read?",
            list(OF_BARS),
            answer="long",
            truth=lambda guessed: f"{OF_BARS[guessed]}, and the mean of the four is {share:.2f}",
        ),
        challenge=f"{asked} away the first level that corrects no more than it spoils.",
    )


def level_vectors(
    table: pd.DataFrame, y: pd.Series, n_trees: int, rng: np.random.Generator, unseen: Sequence[Any] = ()
) -> list[NDArray[Any]]:
    """Class vectors of a level's four forests for the rows of its table, as in :class:`treekit.CascadeForestClassifier`
    from cross-validation: by forests that have not seen the row, nor those of the names `unseen`.
    """
    label, weight = y.to_numpy(), 1.0 - table.index.isin(unseen)
    fold = assign_folds(np.unique(label, return_inverse=True)[1], np.ones(len(y)), 3, rng)
    return [
        out_of_fold(
            RandomForestClassifier(n_trees, max_features=drawn, random_state=int(s)), table, label, weight, fold
        )
        for drawn, s in zip(DRAWN, rng.integers(2**31, size=4))
    ]


def cascade_levels(
    X: pd.DataFrame, y: pd.Series, n_levels: int, n_trees: int, seed: int
) -> Iterator[tuple[pd.DataFrame, np.random.Generator, list[NDArray[Any]]]]:
    """For each level the table that it reads, the generator with which it begins, and its class vectors."""
    table, rng = X, np.random.default_rng(seed)
    for _ in range(n_levels):
        start = deepcopy(rng)
        vectors = level_vectors(table, y, n_trees, rng)
        yield table, start, vectors
        table = with_class_vectors(X, vectors)


def cascade_shares(
    X: pd.DataFrame, y: pd.Series, n_levels: int, n_trees: int, seed: int, unseen: Sequence[Any] = ()
) -> NDArray[Any]:
    """Shares of the second class for the training rows, of shape (levels, forests, rows).

    The last level learns nothing from the rows of these names, `unseen`.
    """
    levels = list(cascade_levels(X, y, n_levels, n_trees, seed))
    shares = [_second(vectors) for *_, vectors in levels]
    if len(unseen):
        table, rng, _ = levels[-1]
        shares[-1] = _second(level_vectors(table, y, n_trees, rng, unseen))
    return np.array(shares)


def fold_aside(x: pd.Series, is_ripe: pd.Series, aside: ArrayLike, tree: Any) -> Picture:
    """The leaves of a tree on one column with their shares of ripe; the rows that it was grown on, and those aside.

    `tree` is a classifier of the column x with the labels no and yes, grown on the rows that are not `aside`.
    """
    kept, cuts = np.asarray(aside, dtype=bool), sorted(tree.tree_.threshold[tree.tree_.feature >= 0])
    plane = Chart((float(x.min()) - 0.04, float(x.max()) + 0.04), (0, 1), (96, 44, 472, 168))
    drawn, told = "", []
    for left, right in itertools.pairwise([plane.xlim[0], *cuts, plane.xlim[1]]):
        share = float(tree.predict_proba(pd.DataFrame({x.name: [(left + right) / 2]}))[0, 1])
        if share != 0.5:
            drawn += region(RIPE if share > 0.5 else UNRIPE, plane.block((left, right), (0, 1)))
        drawn += centred(plane.x((left + right) / 2), 34, {0.0: "0", 0.5: "½", 1.0: "1"}[share])
        told.append(f"{share:g}")
    drawn += "".join(plane.upright(cut, stroke_dasharray="3 4") for cut in cuts)
    drawn += text(0, 34, "share of ripe")
    for y, name, rows in ((78, "kept aside", kept), (134, "grown on", ~kept)):
        drawn += text(0, y + 5, name) + melons_at(is_ripe[rows], piled([plane.x(value) for value in x[rows]], y), 13)
    alt = (
        f"{len(x)} melons by their {x.name}. {kept.sum()} of them, kept aside, lie above the others, on which a tree "
        f"was grown. Its cuts divide the line into {len(told)} leaves with the shares of ripe {', '.join(told)}."
    )
    axis = plane.axes(ticks(*plane.xlim), [], str(x.name))
    return Picture(alt, (480, plane.box[3] + 50), drawn + axis)


def shares_by_level(levels: Sequence[pd.DataFrame], is_ripe: pd.Series) -> Picture:
    """The shares of ripe that the two forests of each level give each melon, as a dark bar and a pale one."""
    drawn, told = text(0, 16, "share of ripe, by density (left) and by sugar (right)"), []
    for k, shares in enumerate(levels):
        plane = Chart((0, len(is_ripe)), (0, 1), (70, 40 + 132 * k, 470, 120 + 132 * k))
        drawn += text(0, plane.y(0.5) + 5, f"level {k + 1}")
        drawn += "".join(
            line(plane.box[0], plane.y(p), plane.box[2], plane.y(p), stroke_dasharray=dash)
            for p, dash in ((0, "none"), (0.5, "3 4"))
        )
        for i, two in enumerate(shares.to_numpy()):
            for j, (share, opacity) in enumerate(zip(two, (DARK, PALE))):
                bar = plane.x(i) + 8 + 18 * j, plane.y(share), 16, plane.y(0) - plane.y(share)
                drawn += rect(*bar, fill="currentColor", fill_opacity=opacity)
        drawn += melons_at(is_ripe, [(plane.x(i) + 25, plane.y(0) + 18) for i in range(len(is_ripe))], 12)
        means = (f"{share:.2f} for melon {name}" for name, share in shares.mean(axis=1).items())
        told.append(f"at level {k + 1} {', '.join(means)}")
    alt = f"For each of {len(is_ripe)} melons its two shares of ripe as bars. The means: {'; '.join(told)}."
    return Picture(alt, (480, 24 + 132 * len(levels)), drawn)


def leak_by_level(accuracy: pd.DataFrame) -> Picture:
    """Accuracy from level to level, with out-of-fold class vectors and with the forests' own.

    `accuracy` has a row for each level and the columns ("test rows", "out of fold"), ("test rows", "own") and
    ("training rows", "own").
    """
    levels = accuracy.index.to_numpy(float)
    lowest = float(accuracy["test rows"].to_numpy().min())
    plane = Chart((levels[0] - 0.2, levels[-1] + 0.2), (lowest - 0.03, 1.01), (54, 32, 464, 232))

    def curve(column: tuple[str, str], k: int, words: str, rise: float) -> str:
        values = accuracy[column].to_numpy()
        name = ending(plane.x(levels[-1]), plane.y(values[-1]) + rise, words)
        line = plane.curve(levels, values, **stroked(k), stroke_width=3)
        return line + in_class(k, plane.dots(levels, values)) + name

    return Picture(
        alt="Accuracy against the level. With the forests' own vectors it is 1 on the training rows at every level, "
        "while on the test rows it falls. With out-of-fold vectors the accuracy on the test rows stays nearly level, "
        "above the other.",
        size=(480, 290),
        drawing=plane.axes(levels.tolist(), [0.9, 1], "level", "accuracy")
        + curve(("training rows", "own"), 1, "own vectors, training rows", 24)
        + curve(("test rows", "out of fold"), 0, "out-of-fold vectors, test rows", -14)
        + curve(("test rows", "own"), 1, "own vectors, test rows", 26),
    )


@plotted
def plot_windows(image: ArrayLike, size: int, step: int) -> None:
    """A square image and, beside it, each window of `size` by `size` pixels that slides over it by `step` pixels."""
    image = np.asarray(image)
    places = range(0, len(image) - size + 1, step)
    _, ax = plt.subplots(figsize=(PLOT_WIDTH, 3.2), layout="constrained")
    scale = size + 1
    shift = len(image) + 3
    ax.imshow(image, cmap="Greys", extent=(0, len(image), len(image), 0))
    ax.add_patch(Rectangle((0, 0), size, size, fill=False, edgecolor=CLASS_COLORS[0], linewidth=3))
    ax.add_patch(Rectangle((0, 0), len(image), len(image), fill=False, edgecolor="grey"))
    for i, top in enumerate(places):
        for j, left in enumerate(places):
            x, y = shift + scale * j, scale * i
            window = image[top : top + size, left : left + size]
            ax.imshow(window, cmap="Greys", vmin=0, vmax=image.max(), extent=(x, x + size, y + size, y))
            color, width = (CLASS_COLORS[0], 3) if i == j == 0 else ("grey", 1)
            ax.add_patch(Rectangle((x, y), size, size, fill=False, edgecolor=color, linewidth=width))
    end = scale * len(places)
    ax.set(xlim=(-0.3, shift + end - 0.7), ylim=(max(end - 0.7, len(image) + 0.3), -0.3))
    ax.axis("off")


@plotted
def plot_accuracy_and_cost(runs: pd.DataFrame) -> None:
    """Mean accuracy on test rows, with two standard errors each way, against the number of trees grown, on a log axis.

    `runs` has the columns table, model, trees and accuracy, one line for each split; a mark stands for a model, a
    colour for a table. A model without trees is a dashed line.
    """
    tables, models = runs["table"].unique().tolist(), runs["model"].unique().tolist()
    ax = axes("trees grown, on average (log axis)", "accuracy on test rows", height=4.6)
    ax.set_xscale("log")
    ax.set_xlim(runs.loc[runs["trees"] > 0, "trees"].min() / 2, 2 * runs["trees"].max())
    plain_ticks(ax)
    for (table, model), group in runs.groupby(["table", "model"], sort=False):
        color, mark = CLASS_COLORS[tables.index(table)], "oDs"[models.index(model) % 3]
        mean, error = group["accuracy"].mean(), 2 * group["accuracy"].sem()
        trees = group["trees"].mean()
        if trees == 0:
            ax.axhline(mean, color=color, linestyle="--", label=f"{table}, {model}")
        else:
            fill = "none" if mark == "s" else color
            ax.errorbar(
                trees,
                mean,
                error,
                fmt=mark,
                color=color,
                label=f"{table}, {model}",
                markersize=9,
                mfc=fill,
                capsize=4,
            )
    ax.figure.legend(
        loc="outside upper center", ncols=2, frameon=False, columnspacing=1, handlelength=1.5, handletextpad=0.5
    )
