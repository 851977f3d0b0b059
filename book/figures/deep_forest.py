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
from figures.explorable import Choice, Explorable, Scene, State
from figures.looks import GROUND, OUTLINE, centred, ending, filled, in_class, path, stroked
from figures.melons import melon, melons_at, piled
from figures.plots import PLOT_WIDTH, axes, plain_ticks, plotted
from treekit.models.deep_forest import assign_folds, out_of_fold, with_class_vectors
from treekit.models.random_forest import RandomForestClassifier
from treekit.pen.palette import CLASS_COLORS, REGION, RIPE, UNRIPE
from treekit.pen.svg import FAINT, circle, line, rect, text

#: Opacities of two bars side by side. (Hollow and filled are taken: they are the classes of melons.)
DARK, PALE = 0.7, 0.3
#: The columns that each of a level's four forests draws at a split.
DRAWN: tuple[str | int, ...] = ("sqrt", "sqrt", 1, 1)
#: No melon is taken out.
NONE = "none"


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


#: What is done to the melon that is chosen.
MELON, BARS = WHAT = ("take it out", "set its bars to 0")
#: How often the folds and the trees of level 2 are dealt anew.
N_DEALS = 12


class _Misled(Scene):
    """A ripe melon that level 2 puts on the wrong side, and the melons from which this level has learned.

    Of each stands there what level 2 reads: the shares of ripe by the four forests of level 1, as bars. Below is the
    mean share of the one melon by level 1, by level 2, and by level 2 when one of the others is taken out, or its bars
    are set to 0.
    """

    size = (480, 386)
    bar, pitch = 40, 46  # how long a full bar is, and how far apart those of a melon are
    top, step = 106, 27  # of the lines
    plane = Chart((0, 1), (0, 1), (174, 266, 464, 363))
    rows = (283, 312, 345)  # of the mean shares

    def __init__(self, X: pd.DataFrame, y: pd.Series, n_trees: int, seed: int) -> None:
        self.X, self.y, self.is_ripe, self.n_trees = X, y, y == "yes", n_trees
        (*_, self.vectors), (table, self.rng, vectors) = cascade_levels(X, y, 2, n_trees, seed)
        self.shares = pd.DataFrame(_second(self.vectors).T, X.index).round(9)
        self.mean, now = self.shares.mean(axis=1), _second(vectors).mean(axis=0).round(9)
        self.name = self.mean[self.is_ripe & (now < 0.5)].idxmax()
        self.at = X.index.get_loc(self.name)
        self.now, fold = now[self.at], dealt(y, deepcopy(self.rng))
        self.seen = X.index[fold != fold[self.at]].tolist()
        self.moved = {(NONE, what): self.now for what in WHAT}
        for name in self.seen:
            self.moved[name, MELON] = self.share(table, self.rng, [name])
            self.moved[name, BARS] = self.share(self.with_bars_at_0(name), self.rng)
        (self.teacher,) = (name for (name, what), share in self.moved.items() if what == MELON and share > 0.5)
        rngs = [np.random.default_rng(k) for k in range(N_DEALS)]
        self.n_right = [sum(self.share(table, rng, out) > 0.5 for rng in rngs) for out in ([], [self.teacher])]

    def share(self, table: pd.DataFrame, rng: np.random.Generator, unseen: Sequence[Any] = ()) -> float:
        """The melon's mean share by level 2 from this table; it learns nothing from `unseen`."""
        vectors = level_vectors(table, self.y, self.n_trees, deepcopy(rng), unseen)
        return float(_second(vectors).mean(axis=0)[self.at].round(9))

    def with_bars_at_0(self, name: Any) -> pd.DataFrame:
        """What level 2 reads if level 1 has given a melon no share of ripe."""
        vectors = [vector.copy() for vector in self.vectors]
        for vector in vectors:
            vector[self.X.index.get_loc(name)] = 1, 0
        return with_class_vectors(self.X, vectors)

    def spots(self) -> dict[Any, tuple[int, int]]:
        """Where the lines of the melons start from which level 2 has learned: ripe ones on the left."""
        halves = ((0, True), (250, False))
        sides = [(x, [name for name in self.seen if self.is_ripe[name] == ripe]) for x, ripe in halves]
        return {name: (x, self.top + self.step * i) for x, names in sides for i, name in enumerate(names)}

    def background(self) -> str:
        """What level 2 reads of the melon and of those from which it has learned, and where both levels put it."""
        spots = self.spots()
        drawn = text(0, 16, f"Melon {self.name}: four shares of ripe, by level 1’s forests")
        drawn += self.read(self.name, 0, 42) + text(250, 38, "A full bar is a share of 1.")
        drawn += text(250, 57, "Not drawn: density, sugar.")
        for x, words in ((0, "Level 2 learned from ripe ones"), (250, "and from unripe ones:")):
            drawn += text(x, self.top - 24, words)
        drawn += "".join(self.read(name, *spot) for name, spot in spots.items())
        drawn += "".join(rect(x, y - 13, 230, 26, fill_opacity=0, data_choose=name) for name, (x, y) in spots.items())
        return drawn + self.scale()

    def read(self, name: Any, x: int, y: int) -> str:
        """A melon, and its shares as bars."""
        bars = "".join(
            f"M{start},{y - 6}h{round(self.bar * share)}v12H{start}z"
            for start, share in zip(self.starts(x), self.shares.loc[name])
        )
        return self.melon(name, x + 14, y) + self.cells(x, y) + path(bars, **filled(RIPE), fill_opacity=DARK)

    def starts(self, x: int) -> list[int]:
        """Where the four bars of a melon begin."""
        return [x + 36 + self.pitch * b for b in range(len(DRAWN))]

    def cells(self, x: int, y: int) -> str:
        """The frames of four bars."""
        frames = "".join(f"M{start},{y - 6}h{self.bar}v12h-{self.bar}z" for start in self.starts(x))
        return path(frames, **OUTLINE, stroke_opacity=FAINT)

    def melon(self, name: Any, x: float = 0, y: float = 0) -> str:
        return circle(x, y, 12, style=GROUND) + melon(name, bool(self.is_ripe[name]), x, y)

    def scale(self) -> str:
        """The mean shares from 0 to 1 with both sides of one half, and the melon where both levels put it."""
        (left, top, right, bottom), half, edge = self.plane.box, self.plane.x(0.5), 16
        drawn = ""
        for kind, start, end, word in ((UNRIPE, left - edge, half, "unripe"), (RIPE, half, right + edge, "ripe")):
            drawn += rect(start, top, end - start, bottom - top, **filled(kind), fill_opacity=REGION)
            drawn += centred((start + end) / 2, bottom + 17, f"{word} side")
        drawn += self.plane.upright(0.5, stroke_dasharray="3 4") + line(left - edge, bottom, right + edge, bottom)
        drawn += "".join(centred(self.plane.x(tick), bottom + 17, tick) for tick in (0, 1))
        for k, (share, y) in enumerate(zip((self.mean[self.name], self.now), self.rows), start=1):
            drawn += text(0, y + 5, f"mean by level {k}") + self.melon(self.name, self.plane.x(share), y)
        return drawn

    def marks(self) -> dict[Any, str]:
        return {self.name: self.melon(self.name)}

    def frame(self, out: Any, what: str) -> State:
        spot = self.plane.x(self.moved[out, what]), self.rows[1 if out == NONE else 2]
        name = f"without {out}" if what == MELON else f"{out}’s bars at 0"
        parts = [] if out == NONE else [self.taken(out, what), text(0, spot[1] + 5, name)]
        return parts, self.told(out, what), {self.name: spot}

    def taken(self, out: Any, what: str) -> str:
        """Strike out the melon that is taken out, or empty its bars."""
        x, y = self.spots()[out]
        if what == BARS:
            return rect(x + 34, y - 8, 186, 16, style=GROUND) + self.cells(x, y)
        return rect(x, y - 13, 230, 26, style=GROUND, fill_opacity=0.7) + line(x, y, x + 218, y, stroke_width=2)

    def told(self, out: Any, what: str) -> str:
        """Where level 2 puts the melon, and what the one taken out had to do with it."""
        name, share = self.name, self.moved[out, what]
        if out == NONE:
            return f"The mean of its four bars is {self.mean[name]:g}, and yet level 2 puts melon {name} at {share:g}."
        way = f"Without {out}" if what == MELON else f"With the bars of {out} set to 0"
        told = f"{way} level 2 puts melon {name} at {share:g}"
        if out != self.teacher:
            chance = f" All trees are grown anew: chance alone moves {name} as far." if share != self.now else ""
            return f"{told}, still on the unripe side. {self.innocent(out)}{chance}"
        if what == BARS:
            wrong, without = (N_DEALS - n or "none" for n in self.n_right)
            return (
                f"{told}, too. So the bars of {out} misled it, and not its density and sugar. In {wrong} of {N_DEALS} "
                f"other runs, with new folds and trees, level 2 is wrong about {name}; without {out}, in {without}."
            )
        fullest = self.mean[self.seen].where(self.is_ripe).idxmax()
        return (
            f"{told}. Why does {out} outweigh the ripe {fullest}, whose bars are nearly as full? Wherever a tree cuts "
            f"between the two, melon {name} lies on the side of {out}."
        )

    def innocent(self, out: Any) -> str:
        """Why a melon has not taught level 2 that full bars mean unripe."""
        bars = f"unripe, but its bars had a mean of {self.mean[out]:g}, not {self.mean[self.name]:g}"
        told = "ripe, so it taught the opposite" if self.is_ripe[out] else bars
        return f"Melon {out} is {told}."

    def lesson(self, guessed: Any) -> str:
        """What level 2 has learned from a melon, as the verdict on a guess."""
        if guessed == self.teacher:
            return (
                f"level 1 is wrong about it. It is unripe and has the fullest bars of all {len(self.seen)}, so level 2 "
                "has seen bars that full only with an unripe melon"
            )
        if self.is_ripe[guessed]:
            return f"{guessed} is ripe, so it teaches that bars like its own go with ripe ones"
        return f"{guessed} is unripe, but its bars are mostly short, so it teaches little about full ones"


def _second(vectors: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The shares of the second class, a row for each forest."""
    return np.array([vector[:, 1] for vector in vectors])


def misled_explorer(X: pd.DataFrame, y: pd.Series, n_trees: int = 10, seed: int = 0) -> Explorable:
    """A ripe melon with full bars that level 2 puts on the unripe side: which other melon taught it to?

    All shares come from forests that have not seen the melon, by cross-validation. The reader lets level 2 do without
    one of the melons from which it has learned, or sets its bars to 0; without just one of them, the melon must come
    right. `y` has the labels yes and no.
    """
    level = _Misled(X, y, n_trees, seed)
    name, teacher = level.name, level.teacher
    return level.explorable(
        title="What level 2 learns from level 1",
        alt=f"Melon {name} and the {len(level.seen)} melons from which level 2 has learned, hollow if ripe, each with "
        f"four bars: its shares of ripe by level 1’s forests. Melon {teacher} is crossed out. Below, the mean share of "
        f"melon {name}: {level.mean[name]:g} by level 1, {level.now:g} by level 2, and "
        f"{level.moved[teacher, MELON]:g} by level 2 without {teacher}.",
        controls=[Choice("Change melon", [NONE, *level.seen], start=teacher, opens=NONE), Choice("How", WHAT)],
        found=lambda out, what: (out == teacher) * (1 + WHAT.index(what)),
        guess=Choice(
            f"Melon {name} has full bars, and yet level 2 puts it on the unripe side. Which melon taught it that?",
            level.seen,
            answer=teacher,
            truth=level.lesson,
        ),
        challenge=f"Take out a melon so that level 2 puts melon {name} on the ripe side. Then keep it, but set its "
        "bars to 0: did they mislead level 2, or its density and sugar?",
    )


def dealt(y: pd.Series, rng: np.random.Generator) -> NDArray[np.intp]:
    """The fold of each row."""
    return assign_folds(np.unique(y, return_inverse=True)[1], np.ones(len(y)), 3, rng)


def level_vectors(
    table: pd.DataFrame, y: pd.Series, n_trees: int, rng: np.random.Generator, unseen: Sequence[Any] = ()
) -> list[NDArray[Any]]:
    """Class vectors of a level's four forests for the rows of its table, as in :class:`treekit.CascadeForestClassifier`
    from cross-validation: by forests that have not seen the row, nor those of the names `unseen`.
    """
    label, weight, fold = y.to_numpy(), 1.0 - table.index.isin(unseen), dealt(y, rng)
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


def cascade_shares(X: pd.DataFrame, y: pd.Series, n_levels: int, n_trees: int, seed: int) -> NDArray[Any]:
    """Shares of the second class for the training rows, of shape (levels, forests, rows)."""
    return np.array([_second(vectors) for *_, vectors in cascade_levels(X, y, n_levels, n_trees, seed)])


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
