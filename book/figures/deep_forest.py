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
from figures.explorable import Choice, Explorable, Panel, Places, Scene, Slider, State
from figures.looks import OUTLINE, centred, ending, filled, in_class, path, ringed, stroked
from figures.melons import melon, melon_marks, melons_at, melons_named, piled
from figures.plots import PLOT_WIDTH, axes, plain_ticks, plotted
from treekit.models.deep_forest import assign_folds, out_of_fold, with_class_vectors
from treekit.models.random_forest import RandomForestClassifier
from treekit.pen.palette import BAR, CLASS_COLORS, REGION, RIPE, UNRIPE
from treekit.pen.svg import FAINT, circle, line, rect, text

UNSEEN, OWN = "have not seen it", "were grown on it"
#: Opacities of two bars side by side. (Hollow and filled are taken: they are the classes of melons.)
DARK, PALE = 0.7, 0.3
#: The columns that each of a level's four forests draws at a split.
DRAWN: tuple[str | int, ...] = ("sqrt", "sqrt", 1, 1)


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
    """The mean shares of the rows from level to level of a cascade, and the table that each level reads."""

    stagger = 20

    size = (480, 500)

    top, step = 62, 25  # of the lines of the table
    share_x, cell = 206, 62  # where the first share stands, and how wide one is
    lane = 326 - 15  # of the lowest melons

    def __init__(self, X: pd.DataFrame, y: pd.Series, n_levels: int, n_trees: int, seed: int) -> None:
        self.X, self.is_ripe, self.n_levels = X, (y == "yes").to_numpy(), n_levels
        drawn = {UNSEEN: False, OWN: True}.items()
        self.shares = {seen: cascade_shares(X, y, n_levels, n_trees, seed, is_own) for seen, is_own in drawn}
        wrong = ~np.array([self.right(UNSEEN, level) for level in range(1, n_levels + 1)])
        #: Of the melons that level 1 classifies wrongly, the one that changes sides most often.
        self.followed = int(np.argmax(wrong[0] * (1 + np.abs(np.diff(wrong.astype(int), axis=0)).sum(axis=0))))
        self.plane = Chart((0, 1), (0, 1), (30, 40, 462, 326))
        columns = Chart((0.5, n_levels + 0.5), (0, 1), (14, 386, 478, 478))
        self.middles = [columns.x(level) for level in range(1, n_levels + 1)]
        self.width = self.middles[1] - self.middles[0] - 8

    def background(self) -> str:
        """The two sides of one half, the axis of the shares, and a box for each level."""
        half = self.plane.x(0.5)
        drawn = "".join(
            rect(start, 40, width, 286, **filled(kind), fill_opacity=REGION)
            for kind, start, width in ((UNRIPE, 14, half - 14), (RIPE, half, 478 - half))
        )
        drawn += line(14, 326, 478, 326) + line(half, 40, half, 326, stroke_dasharray="3 4")
        drawn += "".join(centred(self.plane.x(tick), 347, f"{tick:g}") for tick in (0, 0.5, 1))
        drawn += centred(half, 370, "mean share of ripe")
        drawn += text(14, 26, "predicted unripe (up to ½)") + ending(478, 26, "predicted ripe")
        drawn += text(22, 63, "hollow: ripe; filled: unripe") + text(258, 63, "ringed: predicted wrong")
        for level, x in enumerate(self.middles, start=1):
            drawn += rect(x - self.width / 2, 386, self.width, 92, **OUTLINE, stroke_opacity=FAINT, rx=4)
            drawn += centred(x, 405, f"level {level}")
        return drawn + text(14, 496, "numbers in a box: the melons predicted wrong")

    def marks(self) -> dict[Any, str]:
        frame = rect(-self.width / 2, -24, self.width, 92, **OUTLINE, stroke_width=2, rx=4)
        halo = circle(0, 0, 19, **OUTLINE, stroke_width=5, stroke_opacity=FAINT)
        halo += circle(0, 0, 12, style="fill: var(--ground, Canvas)")  # the trail ends at the melon
        return {"followed": halo, **melon_marks(dict(zip(self.X.index, self.is_ripe)), 13), "level": frame}

    def right(self, seen: str, level: int) -> NDArray[np.bool_]:
        """Which rows a level classifies correctly."""
        return (self.shares[seen][level - 1].mean(axis=0) > 0.5) == self.is_ripe

    def frame(self, seen: str, level: int) -> State:
        spots = self.spots(seen, level)
        wrong = np.flatnonzero(~self.right(seen, level))
        parts = [self.trail(level)] if level > 1 and seen == UNSEEN else []
        parts += [ringed((*spots[n], 16) for n in wrong)] if len(wrong) else []
        for k, x in enumerate(self.middles[:level], start=1):
            parts.append(centred(x, 425, f"{self.right(seen, k).sum()} correct") + self.wrong_names(seen, k))
        places = dict(zip(self.X.index, spots)) | {"level": (self.middles[level - 1], 410)}
        places["followed"] = spots[self.followed]
        return [*parts, self.taps()], self.sentence(seen, level), places

    def spots(self, seen: str, level: int) -> list[tuple[int, int]]:
        """Where each melon lies: at its mean share."""
        return piled([self.plane.x(share) for share in self.shares[seen][level - 1].mean(axis=0)], self.lane)

    def trail(self, level: int) -> str:
        """The way of the melon to follow: a dot where it lay on each earlier level, and a line through them."""
        way = [self.spots(UNSEEN, k)[self.followed] for k in range(1, level + 1)]
        line = path("M" + "L".join(f"{x},{y}" for x, y in way), **OUTLINE, stroke_width=2)
        return line + "".join(circle(*spot, 5) for spot in way[:-1])

    def taps(self) -> str:
        """The boxes of the levels, where a tap chooses the level."""
        boxes = ((k, x - self.width / 2) for k, x in enumerate(self.middles, start=1))
        return "".join(rect(x, 386, self.width, 92, fill_opacity=0, data_choose=k) for k, x in boxes)

    def wrong_names(self, seen: str, level: int) -> str:
        """The melons that a level classifies wrongly, below each other in threes, as far as there is room."""
        names = [str(name) for name in self.X.index[~self.right(seen, level)]]
        lines = [names[:3], names[3:6] + ["…"] * (len(names) > 6)]
        return "".join(
            centred(self.middles[level - 1], 447 + 19 * i, " ".join(one)) for i, one in enumerate(lines) if one
        )

    def sentence(self, seen: str, level: int) -> str:
        right, mean = self.right(seen, level), self.shares[seen][level - 1].mean(axis=0)
        but = f", all but {', '.join(map(str, self.X.index[~right]))}" * (not right.all())
        own = np.where(self.is_ripe, mean, 1 - mean).mean()
        opening = f"Level {level} classifies {right.sum()} of {len(right)} melons correctly{but}. "
        if level > 1:
            was = self.right(seen, level - 1)
            corrected, spoilt = (melons_named(self.X.index[one]) for one in (right & ~was, was & ~right))
            opening += f"It has corrected {corrected} and spoilt {spoilt}. " * bool((right != was).any())
        return f"{opening}The true class of a melon gets a share of {own:.3f} on average."

    def lines(self, seen: str, level: int) -> list[int]:
        """The order of the melons in the table: by the mean of the shares that it holds, the most ripe first."""
        if level == 1:
            return list(range(len(self.X)))
        return np.argsort(-self.shares[seen][level - 2].mean(axis=0), kind="stable").tolist()

    def rows(self) -> dict[Any, str]:
        """Each melon with its measurements as bars, which travel with it, and each of its shares, which follow."""
        marks: dict[Any, str] = {"followed": rect(0, -12, 480, 24, fill_opacity=REGION)}
        longest = self.X.max().to_numpy()
        for n, (name, values) in enumerate(zip(self.X.index, self.X.to_numpy(float))):
            bars = "".join(
                rect(20 + 82 * j, -7, 70 * value / most, 14, fill_opacity=BAR)
                for j, (value, most) in enumerate(zip(values, longest))
            )
            marks[name] = bars + melon(name, bool(self.is_ripe[n]))
        for b, name in itertools.product(range(len(DRAWN)), self.X.index):
            marks[b, name] = rect(0, -7, 1, 14, **filled(RIPE), fill_opacity=BAR)
        return marks

    def table(self) -> str:
        """The heads of the two columns that are always there."""
        heads = "".join(text(36 + 82 * j, 46, str(name)) for j, name in enumerate(self.X.columns))
        return heads + text(0, 20, "this level reads:")

    def reads(self, seen: str, level: int) -> tuple[list[str], Places]:
        """The melons in the order of their shares by the level before; at level 1 no shares have arrived."""
        places: Places = {}
        middles = {n: self.top + self.step * i for i, n in enumerate(self.lines(seen, level))}
        places["followed"] = (0, middles[self.followed])
        for n, name in enumerate(self.X.index):
            places[name] = (16, middles[n])
            for b in range(len(DRAWN)):
                share = self.shares[seen][max(level - 2, 0)][b][n]
                x = self.share_x + (self.cell + 4) * b
                place = (x, middles[n], max(round(self.cell * share), 0.01), 1)
                places[b, name] = place if level > 1 else (480, middles[n], 1, 1, 0)
        cells = "".join(
            f"M{self.share_x + (self.cell + 4) * b},{y - 7}h{self.cell}v14h-{self.cell}z"
            for b, y in itertools.product(range(len(DRAWN)), sorted(middles.values()))
        )
        forests = "".join(
            centred(self.share_x + (self.cell + 4) * b + self.cell / 2, 46, b + 1) for b in range(len(DRAWN))
        )
        if level == 1:
            drawn = text(self.share_x, 20, "room for the shares of its 4 forests")
            return [drawn + forests + path(cells, **OUTLINE, stroke_opacity=FAINT, stroke_dasharray="2 3")], places
        n_ripe = int((self.shares[seen][level - 2].mean(axis=0) > 0.5).sum())
        half = self.top + self.step * (n_ripe - 0.5)
        filling = path(cells, **filled(UNRIPE), fill_opacity=REGION) + forests
        drawn = text(self.share_x, 20, f"shares of ripe by level {level - 1}’s forests")
        return [filling, drawn + line(0, half, 480, half, stroke_dasharray="3 4")], places

    def beside(self) -> Panel:
        """The table that a level reads."""
        return Panel(
            f"The table that level {self.n_levels} reads, a line for each melon: its {' and '.join(map(str, self.X))} "
            f"as grey bars, and behind them four bars, the shares of ripe by level {self.n_levels - 1}'s forests. The "
            "melons lie in the order of these shares; that of the melon to follow is shaded. A dashed line separates "
            "those predicted ripe, above, from the others; some ripe melons lie below it, some unripe ones above.",
            (480, self.top + self.step * len(self.X) - 6),
            self.table(),
            self.reads,
            self.rows(),
        )


def levels_explorer(X: pd.DataFrame, y: pd.Series, n_levels: int = 4, n_trees: int = 10, seed: int = 0) -> Explorable:
    """Every melon's mean share from level to level of a cascade, and beside it the table that the level reads.

    Below stands how many melons each level so far classifies correctly; a tap there goes to that level. At rest it is
    the last.

    The shares come from forests that have not seen the melon, by cross-validation, or from forests that were grown on
    it. `y` has the labels yes and no.
    """
    cascade, n = _Levels(X, y, n_levels, n_trees, seed), len(X)
    n_right, followed = int(cascade.right(UNSEEN, n_levels).sum()), X.index[cascade.followed]
    return cascade.explorable(
        title="Seventeen rows on their way through the levels",
        alt=f"The {n} melons as numbered circles, hollow if ripe, piled up along a line by the mean of the shares "
        f"of ripe that the forests of level {n_levels} give them. A ring marks those on the wrong side of one half. "
        f"Below, for each level the number that it classifies correctly. A line shows the way of melon {followed} from "
        "level to level.",
        controls=[
            Choice("Shares of a melon come from forests that", [UNSEEN, OWN]),
            Slider("Level", list(range(1, n_levels + 1)), start=n_levels, opens=1),
        ],
        found=lambda seen, level: seen == OWN and bool(cascade.right(seen, level).all()),
        guess=Slider(
            f"Your guess: level 1 classifies {int(cascade.right(UNSEEN, 1).sum())} of the {n} melons correctly. How "
            f"many does level {n_levels}?",
            list(range(n // 2, n + 1)),
            answer=n_right,
            truth=f"it classifies {n_right} correctly, by forests that have not seen the melon",
        ),
        challenge=f"Follow melon {followed}, which level 1 puts on the wrong side: do the later levels correct it? "
        f"Then make all {n} predictions correct at once. Why is that no good?",
    )


def cascade_shares(X: pd.DataFrame, y: pd.Series, n_levels: int, n_trees: int, seed: int, is_own: bool) -> NDArray[Any]:
    """Shares of the second class for the training rows, of shape (levels, forests, rows).

    As in :class:`treekit.CascadeForestClassifier` they come from cross-validation; with `is_own` each forest gives them
    for the very rows that it was grown on.
    """
    label, weight = y.to_numpy(), np.ones(len(y))
    rng, table, shares = np.random.default_rng(seed), X, []
    for _ in range(n_levels):
        fold = assign_folds(np.unique(label, return_inverse=True)[1], weight, 3, rng)
        seeds = rng.integers(2**31, size=4)
        forests = [
            RandomForestClassifier(n_trees, max_features=drawn, random_state=int(s)) for drawn, s in zip(DRAWN, seeds)
        ]
        vectors = [
            forest.fit(table, label).predict_proba(table) if is_own else out_of_fold(forest, table, label, weight, fold)
            for forest in forests
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
