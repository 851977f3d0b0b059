"""The figures of the chapter on deep forests."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from figures.charts import Chart, Picture, region, ticks
from figures.explorable import Choice, Explorable, Places, Scene, Slider, State
from figures.looks import GROUND, OUTLINE, centred, ending, filled, in_class, path, ringed, stroked
from figures.melons import listed, melon_marks, melons_at, melons_named, piled, ripe_and_unripe
from figures.plots import PLOT_WIDTH, axes, plain_ticks, plotted
from treekit.models.deep_forest import assign_folds, out_of_fold, with_class_vectors
from treekit.models.random_forest import RandomForestClassifier
from treekit.pen.palette import BAR, CLASS_COLORS, REGION, RIPE, UNRIPE
from treekit.pen.svg import FAINT, circle, line, rect, text

#: Opacities of two bars side by side. (Hollow and filled are taken: they are the classes of melons.)
DARK, PALE = 0.7, 0.3
#: The columns that each of a level's four forests draws at a split.
DRAWN: tuple[str | int, ...] = ("sqrt", "sqrt", 1, 1)
#: Why the last of some levels classifies more melons correctly than the first, as many, or fewer.
REASONS = {
    "more": "level by level the hard cases are settled",
    "as many": "what a level corrects for some melons, it spoils for as many others",
    "fewer": "a melon on the wrong side hands misleading bars on, by which the next level judges others wrongly, "
    "so fewer are correct",
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

    To the left its measurements and its shares by the level before, to the right its mean share by this level.
    """

    size = (480, 602)

    left, wide, cell, pitch = 28, 48, 25, 28  # of the bars: where they start, and how wide and how far apart they are
    share_x = 142  # where the first share starts
    top, step = 66, 23  # of the lines
    plane = Chart((0, 1), (0, 1), (278, 50, 464, 450))
    boxes = Chart((0.5, 4.5), (0, 1), (0, 512, 480, 580))  # one for each level

    def __init__(self, X: pd.DataFrame, y: pd.Series, n_levels: int, n_trees: int, seed: int, n_runs: int) -> None:
        self.X, self.is_ripe, self.n_levels, self.n_runs = X, (y == "yes").to_numpy(), n_levels, n_runs
        self.shares = cascade_shares(X, y, n_levels, n_trees, seed).round(9)
        self.new = self.shares.mean(axis=1).round(9)
        others = (cascade_shares(X, y, n_levels, n_trees, run).mean(axis=1).round(9) for run in range(n_runs))
        self.mean_right = np.mean([self.is_right(shares).sum(axis=1) for shares in others], axis=0)
        order = np.argsort(~self.is_ripe, kind="stable")  # the ripe ones first
        self.y = self.top + self.step * np.argsort(order)
        levels = range(2, n_levels + 1)
        self.first_change = next((k for k in levels if self.n_right(k) != self.n_right(k - 1)), n_levels)

    def is_right(self, share: NDArray[Any]) -> NDArray[np.bool_]:
        """Which melons are classified correctly by these shares of ripe."""
        return (share > 0.5) == self.is_ripe

    def n_right(self, level: int) -> int:
        """How many melons a level classifies correctly without having seen them."""
        return int(self.is_right(self.new[level - 1]).sum())

    def background(self) -> str:
        """The measurements as grey bars, the two sides of one half, the axis of the shares, a box for each level."""
        x, (left, top, right, bottom) = self.plane.x, self.plane.box
        half, edge = x(0.5), 16
        drawn = "".join(
            rect(start, top, end - start, bottom - top, **filled(kind), fill_opacity=REGION)
            for kind, start, end in ((UNRIPE, left - edge, half), (RIPE, half, right + edge))
        )
        drawn += self.plane.upright(0.5, stroke_dasharray="3 4") + line(left - edge, bottom, right + edge, bottom)
        drawn += "".join(centred(x(tick), bottom + 19, f"{tick:g}") for tick in (0, 0.5, 1))
        drawn += centred(half, bottom + 38, "mean share of ripe") + text(left - edge + 4, 42, "unripe")
        drawn += ending(right + edge - 4, 42, "ripe")
        drawn += ripe_and_unripe(12, bottom + 14) + text(0, bottom + 38, "ringed: predicted wrongly")
        drawn += "".join(centred(12, y + 5, name) for name, y in zip(self.X.index, self.y))
        drawn += "".join(self.measured(j) for j in range(self.X.shape[1]))
        under = self.top + self.step * (self.is_ripe.sum() - 0.5)
        drawn += line(0, under, left - edge, under, stroke_dasharray="3 4")  # the unripe ones stand below it
        return drawn + "".join(
            rect(at, self.boxes.box[1], 108, 68, **OUTLINE, stroke_opacity=FAINT, rx=4)
            + centred(at + 54, self.boxes.box[1] + 20, f"level {k}")
            for k, at in self.lefts()
        )

    def measured(self, column: int) -> str:
        """A measurement of all melons, as bars."""
        x, values = self.left + (self.wide + 6) * column, self.X.iloc[:, column]
        bars = "".join(
            f"M{x},{y - 7}h{round(self.wide * value)}v14H{x}z" for y, value in zip(self.y, values / values.max())
        )
        return centred(x + self.wide / 2, 42, values.name) + path(bars, fill_opacity=BAR)

    def lefts(self) -> list[tuple[int, float]]:
        """Each level, and where its box starts."""
        return [(k, self.boxes.x(k) - 54) for k in range(1, self.n_levels + 1)]

    def marks(self) -> dict[Any, str]:
        ground = circle(0, 0, 12, style=GROUND)  # the lines end at the melon
        melons = melon_marks(dict(zip(self.X.index, self.is_ripe)), 12)
        frame = rect(0, 0, 108, 68, **OUTLINE, stroke_width=2, rx=4)
        return {**{name: ground + mark for name, mark in melons.items()}, "level": frame}

    def frame(self, level: int) -> State:
        share = self.new[level - 1]
        spots = [(round(self.plane.x(value)), int(y)) for value, y in zip(share, self.y)]
        places: Places = {**dict(zip(self.X.index, spots)), "level": (self.lefts()[level - 1][1], self.boxes.box[1])}
        wrong = [(*spots[n], 15) for n in np.flatnonzero(~self.is_right(share))]
        parts = [*self.reads(level), self.came_from(level, spots)]
        parts += [ringed(wrong)] if wrong else []
        return [*parts, *self.tally(level)], self.sentence(level), places

    def reads(self, level: int) -> list[str]:
        """The shares that arrive, as bars; at level 1 the room for them."""
        xs = [self.share_x + self.pitch * b for b in range(len(DRAWN))]
        cells = "".join(f"M{x},{y - 7}h{self.cell}v14h-{self.cell}z" for x in xs for y in self.y)
        told = f"by level {level - 1}" if level > 1 else "no shares yet"
        heads = centred((self.left + xs[-1] + self.cell) / 2, 19, f"level {level} reads")
        heads += centred((xs[0] + xs[-1] + self.cell) / 2, 42, told)
        room = path(cells, **OUTLINE, stroke_opacity=FAINT)
        if level == 1:
            return [heads, room]
        bars = "".join(
            f"M{x},{y - 7}h{round(self.cell * share)}v14H{x}z"
            for x, shares in zip(xs, self.shares[level - 2])
            for y, share in zip(self.y, shares)
        )
        return [heads, room, path(bars, **filled(RIPE), fill_opacity=DARK)]

    def came_from(self, level: int, spots: Sequence[tuple[int, int]]) -> str:
        """A line to each melon from a dot, where the level before put it."""
        drawn = centred(self.plane.x(0.5), 19, f"level {level} predicts")
        if level == 1:
            return drawn
        starts = [(round(self.plane.x(share)), y) for share, (_, y) in zip(self.new[level - 2], spots)]
        drawn += path("".join(f"M{a},{y}H{x}" for (a, y), (x, _) in zip(starts, spots)), **OUTLINE)
        drawn += "".join(circle(x, y, 4) for x, y in starts)
        return drawn + text(0, self.plane.box[3] + 57, f"dot: where level {level - 1} put it")

    def tally(self, level: int) -> list[str]:
        """For each level so far how many melons it classifies correctly, and what it has changed; a tap goes there."""
        parts, top = [], self.boxes.box[1]
        for k, x in self.lefts()[:level]:
            told = centred(x + 54, top + 40, f"{self.n_right(k)} correct")
            told += centred(x + 54, top + 59, "+{} −{}".format(*map(len, self.changes(k)))) if k > 1 else ""
            parts.append(told)
        taps = "".join(rect(x, top, 108, 68, fill_opacity=0, data_choose=k) for k, x in self.lefts())
        return [*parts, taps, centred(240, top + 86, "+ corrected, − spoilt")]

    def changes(self, level: int) -> tuple[list[Any], list[Any]]:
        """The melons that a level corrects, and those that it spoils."""
        was, right = (self.is_right(self.new[k - 1]) for k in (level - 1, level))
        return self.named(right & ~was), self.named(was & ~right)

    def named(self, which: NDArray[np.bool_]) -> list[Any]:
        return self.X.index[which].tolist()

    def sentence(self, level: int) -> str:
        is_right, n = self.is_right(self.new[level - 1]), len(self.X)
        told = f"Level {level} classifies {is_right.sum()} of {n} melons correctly"
        if level == 1:
            return f"{told}, all but {listed(self.named(~is_right))}." if not is_right.all() else f"{told}."
        corrected, spoilt = self.changes(level)
        changed = f"It has corrected {melons_named(corrected)} and spoilt {melons_named(spoilt)}"
        told += f". {changed if corrected or spoilt else 'No melon has changed sides'}."
        return f"{told} {self.misled(level)}{self.in_all()}" if level == self.n_levels else told

    def misled(self, level: int) -> str:
        """The ripe melons with full bars that a level spoils, and the unripe ones with such bars that mislead it."""
        full = self.new[level - 2] > 0.5
        spoilt = self.named(full & self.is_ripe & ~self.is_right(self.new[level - 1]))
        unripe = self.named(full & ~self.is_ripe)
        if not spoilt or not unripe:
            return ""
        return (
            f"{melons_named(spoilt).capitalize()} have mostly full bars, but so have {listed(unripe)}, unripe ones "
            f"below the line. Grown without these, level {level} would call {listed(spoilt)} ripe. "
        )

    def in_all(self) -> str:
        """Which levels were worth it, in this run and in others."""
        right = [self.n_right(level) for level in range(1, self.n_levels + 1)]
        gains = [level for level in range(2, self.n_levels + 1) if right[level - 1] > right[level - 2]]
        which = f"Only level{'s' * (len(gains) > 1)} {listed(gains)}" if gains else "No level"
        last = next((k for k in range(1, self.n_levels) if k + 1 not in gains), self.n_levels)
        return (
            f"{which} corrected more than {'they' if len(gains) > 1 else 'it'} spoilt: we would stop after level "
            f"{last}. In {self.n_runs} other runs, on average, level 1 gets {self.mean_right[0]:.1f} right and level "
            f"{self.n_levels} {self.mean_right[-1]:.1f}."
        )


def levels_explorer(
    X: pd.DataFrame, y: pd.Series, n_levels: int = 4, n_trees: int = 10, seed: int = 0, n_runs: int = 12
) -> Explorable:
    """A line for each melon: what each level of a cascade reads of it, and its mean share of ripe by this level.

    All shares come from forests that have not seen the melon, by cross-validation. Below stands how many melons each
    level so far classifies correctly; a tap there goes to that level. At rest it is the last. The last sentence has the
    means of the runs with the seeds 0 to `n_runs` - 1. `y` has the labels yes and no. What a level would do without
    some melons was measured for the run in the book, and is said of others, too.
    """
    cascade, n = _Levels(X, y, n_levels, n_trees, seed, n_runs), len(X)
    answer = list(REASONS)[int(1 - np.sign(cascade.n_right(n_levels) - cascade.n_right(1)))]
    return cascade.explorable(
        title="Seventeen rows on their way through the levels",
        alt=f"A line for each of {n} melons. On the left {' and '.join(map(str, X))} as grey bars, and four bars, the "
        f"shares of ripe by level {n_levels - 1}'s forests. On the right the melon, hollow if ripe, at the mean of its "
        f"four shares by level {n_levels}, with a line from where level {n_levels - 1} put it. A ring marks those on "
        "the wrong side of one half. Below, for each level how many it classifies correctly.",
        controls=[Slider("Level", list(range(1, n_levels + 1)), start=n_levels, opens=1)],
        found=lambda level: 2 if level == n_levels else int(level == cascade.first_change),
        guess=Choice(
            f"Your guess: level 1 classifies {cascade.n_right(1)} of the {n} melons correctly. How many does level "
            f"{n_levels}?",
            list(REASONS),
            answer=answer,
            truth=REASONS[answer],
        ),
        challenge="Stop at the first level that changes how many are correct. Then step on to the last: what moves "
        f"{melons_named(cascade.changes(n_levels)[1])} to the wrong side?",
    )


def cascade_shares(X: pd.DataFrame, y: pd.Series, n_levels: int, n_trees: int, seed: int) -> NDArray[Any]:
    """Shares of the second class for the training rows, of shape (levels, forests, rows).

    As in :class:`treekit.CascadeForestClassifier` they come from cross-validation, by forests that have not seen the
    row.
    """
    label, weight = y.to_numpy(), np.ones(len(y))
    rng, table, shares = np.random.default_rng(seed), X, []
    for _ in range(n_levels):
        fold = assign_folds(np.unique(label, return_inverse=True)[1], weight, 3, rng)
        seeds = rng.integers(2**31, size=4)
        vectors = [
            out_of_fold(
                RandomForestClassifier(n_trees, max_features=drawn, random_state=int(s)), table, label, weight, fold
            )
            for drawn, s in zip(DRAWN, seeds)
        ]
        shares.append([vector[:, 1] for vector in vectors])
        table = with_class_vectors(X, vectors)
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
