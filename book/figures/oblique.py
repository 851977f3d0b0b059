"""The figures of the chapter on oblique trees."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from figures.charts import Chart, Picture, Spot, around
from figures.explorable import Choice, Explorable, Panel, Places, Scene, Slider, State
from figures.looks import centred, ending, filled, grip, in_class, painted, path, stroked, with_minus
from figures.melons import listed, melon_marks, melons_at, piled
from figures.plots import plotted, side_by_side
from treekit.growing.thresholds import midpoint
from treekit.measures import gain_of_counts
from treekit.models.base import TreeClassifier
from treekit.pen.palette import CLASS_COLORS, GAIN, class_color
from treekit.pen.svg import FAINT, circle, element, line, number, rect, text
from treekit.trees.tree import Tree

Polygon = NDArray[np.float64]
APART = 238  # pixels from one of two panels to the other


def _below(polygon: Polygon, w: NDArray[Any], t: float) -> Polygon:
    """The part of a convex polygon, one corner a row, where w · x <= t."""
    corners = []
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0)):
        over_a, over_b = a @ w - t, b @ w - t
        if over_a <= 0:
            corners.append(a)
        if over_a * over_b < 0:
            corners.append(a + (b - a) * over_a / (over_a - over_b))
    return np.array(corners).reshape(-1, 2)


def _leaves(tree: Tree, box: Polygon) -> Iterator[tuple[Polygon, int]]:
    """The region of each leaf of a tree on two columns, and the number of the class that it predicts."""
    todo = [(0, box)]
    while todo:
        node, polygon = todo.pop()
        if tree.is_leaf[node]:
            yield polygon, int(tree.value[node].argmax())
            continue
        w, t = np.eye(2)[tree.feature[node]], tree.threshold[node]
        if tree.direction is not None and tree.direction[node].any():
            w = tree.direction[node]
        child = tree.first_child[node]
        todo += [(child, _below(polygon, w, t)), (child + 1, _below(polygon, -w, -t))]


def _corners(plane: Chart) -> Polygon:
    """The corners of a plane, in units of the data."""
    (left, right), (low, high) = plane.xlim, plane.ylim
    return np.array([[left, low], [right, low], [right, high], [left, high]])


def _dots_by_class(plane: Chart, values: NDArray[Any], labels: NDArray[Any]) -> str:
    """The rows as dots in the shape and colour of their class; the more there are, the smaller."""
    size = 4 if len(values) < 50 else 2
    return "".join(
        in_class(c, "".join(circle(round(x, 1), round(y, 1), size) for x, y in (plane.at(*row) for row in values[of])))
        for c, of in enumerate(labels == name for name in np.unique(labels))
    )


def _shaded(plane: Chart, tree: Tree) -> str:
    """The region of each leaf; the second class is shaded."""
    drawn = ""
    for polygon, label in _leaves(tree, _corners(plane)):
        if len(polygon):
            corners = " ".join(f"{number(x)},{number(y)}" for x, y in (plane.at(*corner) for corner in polygon))
            style = f"fill: {class_color(label)}; fill-opacity: {0.2 if label else 0.04}"
            drawn += element("polygon", points=corners, style=style, stroke="currentColor", stroke_width=1.5)
    return drawn


def region_panels(
    X: pd.DataFrame,
    y: ArrayLike,
    models: Mapping[str, TreeClassifier],
    xticks: Iterable[float],
    yticks: Iterable[float],
) -> Picture:
    """The regions of up to two fitted trees on the two columns of `X`, side by side, with the rows as dots."""
    values, labels = X.to_numpy(float), np.asarray(y)
    limits = around(values[:, 0], 0.04), around(values[:, 1], 0.04)
    dots = _dots_by_class(Chart(*limits, (34, 52, 236, 254)), values, labels)
    rows = f"rows-{zlib.crc32(dots.encode()):x}"  # drawn once and used twice, because they weigh most
    drawn, counted = "", []
    for k, (name, model) in enumerate(models.items()):
        plane = Chart(*limits, (34 + APART * k, 52, 236 + APART * k, 254))
        drawn += _shaded(plane, model.tree_)
        drawn += element("use", href=f"#{rows}", x=APART) if k else element("g", dots, id=rows)
        drawn += plane.axes(xticks, yticks if k == 0 else [], str(X.columns[0]), "")
        drawn += centred(sum(plane.box[::2]) / 2, 16, f"{name}: {model.get_n_leaves()} leaves")
        counted.append(f"{name} with {model.get_n_leaves()}")
    filled_, hollow = np.unique(labels)
    alt = (
        f"{len(values)} rows as dots by {X.columns[0]} and {X.columns[1]}, filled for {filled_} and hollow for "
        f"{hollow}, over the regions of the leaves: {' and '.join(counted)}. The regions of {hollow} are shaded."
    )
    return Picture(alt, (480, 304), drawn + text(0, 42, str(X.columns[1])))


def _rows(plane: Chart, values: NDArray[Any], code: NDArray[Any], names: Iterable[Any], is_above: NDArray[Any]) -> str:
    """The rows as dots in the shape and colour of their class, each with its name on the side away from the line."""
    dots = "".join(in_class(int(k), plane.dots(*values[code == k].T)) for k in np.unique(code))
    return dots + "".join(
        text(plane.x(a) + 8, plane.y(b) + (-5 if above else 16), str(name))
        for (a, b), name, above in zip(values, names, is_above)
    )


class _Turned:
    """The best cut of the rows of two columns along a direction that is given by its angle.

    The angle is measured with each column in units of its range, so 0 is a cut of the first, 90 of the second.
    """

    def __init__(self, frame: pd.DataFrame, columns: list[str], target: str):
        self.columns = columns
        self.values = frame[columns].to_numpy(float)
        self.range = np.ptp(self.values, axis=0)
        classes, self.code = np.unique(frame[target].astype(str), return_inverse=True)
        self.n_classes = len(classes)

    def direction(self, degrees: float) -> NDArray[Any]:
        turn = np.radians(degrees)
        # What is zero but for rounding must not lend its sign to the text.
        return np.round([np.cos(turn), np.sin(turn)], 12) / self.range

    def cut(self, degrees: float) -> tuple[NDArray[Any], float, NDArray[Any], float]:
        """The combination of each row, the best threshold, class counts (side, class), and the gain."""
        x = self.values @ self.direction(degrees)
        order = np.argsort(x)
        one_hot = np.eye(self.n_classes, dtype=int)[self.code[order]]
        below = one_hot.cumsum(axis=0)[:-1]
        counts = np.stack([below, one_hot.sum(axis=0) - below], axis=1)
        gain = np.where(np.diff(x[order]) > 0, gain_of_counts(counts), -1)
        k = int(gain.argmax())
        return x, float(midpoint(x[order][k], x[order][k + 1])), counts[k], float(gain[k])

    def words(self, degrees: float) -> str:
        first, second = self.direction(degrees)
        sign = "+" if second >= 0 else "−"
        return with_minus(f"{first:.2f} {self.columns[0]} {sign} {abs(second):.2f} {self.columns[1]}")


class _Tilted(Scene):
    """Melons in a square, with the cut and the arrow of a direction; beside them their order along it, and the gains.

    The square makes the arrow and its cut perpendicular to the eye, too.
    """

    size = (400, 384)

    angles, floor = range(0, 180, 5), 156  # the floor on which the melons lie along the direction

    def __init__(self, frame: pd.DataFrame, columns: list[str], target: str) -> None:
        self.turned, self.ripe = _Turned(frame, columns, target), frame[target] == "yes"
        self.gains = {degrees: self.turned.cut(degrees)[3] for degrees in self.angles}
        x, y = self.turned.values.T
        self.plane = Chart(around(x, 0.06), around(y, 0.06), (56, 34, 356, 334))
        self.profile = Chart((0, 180), (0, 0.6), (36, 242, 380, 336))
        self.still = melons_at(self.ripe, (self.plane.at(*row) for row in self.turned.values), 12)

    def is_best(self, degrees: int) -> bool:
        return bool(np.isclose(self.gains[degrees], max(self.gains.values())))

    def tip(self, degrees: float) -> Spot:
        """Where the arrow of the direction ends; its length in each column goes with the column's range."""
        across, up = 0.4 * self.turned.direction(degrees) * self.turned.range**2
        return self.plane.at(sum(self.plane.xlim) / 2 + across, sum(self.plane.ylim) / 2 + up)

    def arrow(self, degrees: float) -> str:
        """From the middle to the tip, with a head that is large enough to be taken hold of."""
        x, y = sum(self.plane.box[::2]) / 2, sum(self.plane.box[1::2]) / 2
        end_x, end_y = self.tip(degrees)
        turn = np.degrees(np.arctan2(end_y - y, end_x - x))
        head = path("M-16,-9L4,0L-16,9z", transform=f"translate({end_x:.1f},{end_y:.1f}) rotate({turn:.0f})")
        return line(x, y, end_x, end_y, stroke_opacity=FAINT, stroke_width=2) + head

    def frame(self, degrees: int) -> State:
        side = _below(_corners(self.plane), self.turned.direction(degrees), self.turned.cut(degrees)[1])
        corners = " ".join(f"{self.plane.x(a):.0f},{self.plane.y(b):.0f}" for a, b in side)
        shade = element("polygon", points=corners, fill_opacity=0.12, stroke="currentColor", stroke_width=2)
        # The cut runs below the melons, so that their numbers stay readable, and the arrow above them.
        parts = [shade, self.still, element("g", self.arrow(degrees), pointer_events="none")]
        return parts, self.sentence(degrees), {"tip": self.tip(degrees)}

    def sentence(self, degrees: int) -> str:
        _, t, counts, gain = self.turned.cut(degrees)
        below, above = (", ".join(f"{n} {name}" for n, name in zip(side, ("unripe", "ripe"))) for side in counts)
        cut = f"{self.turned.words(degrees)} ≤ {t:.2f}".replace("≤ -", "≤ −")
        most = ", the most of all these angles" * self.is_best(degrees)
        return f"{cut} (shaded): {below}. The other side: {above}. The gain is {gain:.3f} bits{most}."

    def along(self, degrees: int) -> tuple[list[str], Places]:
        """The rows in their order along the direction, with the threshold, and the gains between 90 and `degrees`."""
        x, t, _, gain = self.turned.cut(degrees)
        scale = Chart((x.min(), x.max()), (0, 1), (24, 0, 376, 1))
        parts = [
            line(scale.x(t), 26, scale.x(t), self.floor + 20, stroke_width=2),
            ending(392, 228, f"{gain:.3f}", font_weight="bold"),
        ]
        for angle in range(min(degrees, 90), max(degrees, 90) + 5, 5):
            parts.append(circle(*self.profile.at(angle, self.gains[angle]), 3, **filled(GAIN)))
        places: Places = dict(zip(self.ripe.index, piled([scale.x(value) for value in x], self.floor)))
        return parts, places | {"gain": self.profile.at(degrees, gain)}

    def beside(self) -> Panel:
        """The melons along the direction and, below, the gain against the angle."""
        single = self.profile.y(max(self.gains[0], self.gains[90]))
        label = "gain in bits (dashed: best single column)"
        return Panel(
            f"The melons in their order along the direction, here by {self.turned.columns[1]}, with the best threshold "
            f"as a vertical line. Below, the gain against the angle: one dot, at 90 degrees and {self.gains[90]:.3f} "
            "bits, on the dashed line of the best single column.",
            (400, 384),
            text(0, 16, "the melons along the direction")
            + line(8, self.floor + 14, 392, self.floor + 14, stroke_opacity=FAINT)
            + self.profile.axes([0, 45, 90, 135, 180], [0, 0.3, 0.6], "angle in degrees", label)
            + line(36, single, 380, single, stroke_dasharray="3 4"),
            self.along,
            {"gain": circle(0, 0, 6, **filled(GAIN))} | melon_marks(self.ripe, 12),
        )


RUNS = ["vertical", "horizontal", "rising to the right", "falling to the right"]


def _runs(degrees: int) -> str:
    """How a line runs that is perpendicular to a direction."""
    return RUNS[degrees // 90] if degrees % 90 == 0 else RUNS[2 if degrees > 90 else 3]


def tilt_explorer(frame: pd.DataFrame, columns: list[str], target: str) -> Explorable:
    """A cut of two columns that turns: the rows with the best cut of each direction, the rows along it, and the gain.

    The gains are shown of all angles from 90 degrees, where the figure opens, to the one chosen: the reader sees what a
    turn from there gains and loses on its way. `frame` has the labels yes and no in `target`, and no ties that matter:
    a direction in which two rows fall together is cut elsewhere.
    """
    tilted = _Tilted(frame, columns, target)
    limits = (tilted.plane.xlim, tilted.plane.ylim)
    xticks, yticks = (np.arange(np.ceil(10 * a), np.floor(10 * b) + 1, 2) / 10 for a, b in limits)
    angles = list(tilted.angles)
    best = [angle for angle in angles if tilted.is_best(angle)]
    return tilted.explorable(
        title="Turn the cut",
        alt=f"The {len(frame)} melons as numbered circles by {columns[0]} and {columns[1]}, hollow if ripe, cut by a "
        f"horizontal line: the best cut of {columns[1]} alone. An arrow shows the direction in which they are sorted.",
        background=tilted.plane.axes(xticks, yticks, *columns),
        # What is taken hold of: it stays while the drawing changes, so the browser knows where a drag began.
        marks={"tip": grip(tilted.size[0])},
        controls=[
            Slider("Angle of the direction", angles, start=90, show="{}°", points=[tilted.tip(a) for a in angles])
        ],
        found=tilted.is_best,
        guess=Choice(
            "Your guess, by eye: how does the line run that separates them best?",
            RUNS,
            answer={_runs(angle) for angle in best},
            truth=f"the best line, with its arrow at {listed(best)}°, is {_runs(best[0])} and gains "
            f"{tilted.gains[best[0]]:.3f} bits",
        ),
        challenge="Drag the tip of the arrow, from 90° and from 0°, and watch where the gain falls on the way. Which "
        "angle gains most?",
    )


def gain_by_angle(frame: pd.DataFrame, columns: list[str], target: str) -> Picture:
    """The gain of the best cut along each direction of two columns, with the two single columns marked."""
    turned = _Turned(frame, columns, target)
    degrees = np.arange(1801) / 10
    gain = np.array([turned.cut(a)[3] for a in degrees])
    best = degrees[gain > gain.max() - 1e-9]
    plane = Chart((0, 180), (0, 0.6), (44, 38, 460, 198))
    marks = ""
    for a, name, anchor, above in ((0, columns[0], "start", 22), (90, columns[1], "end", 12)):  # clear of the curve
        x, y = plane.at(a, turned.cut(a)[3])
        marks += circle(x, y, 5) + text(x, y - above, name, text_anchor=anchor)
    corner = np.diff(gain, prepend=-1, append=-1) != 0  # a flat piece needs its two ends
    corner = corner[1:] | corner[:-1]
    curve = plane.curve(degrees[corner], gain[corner], **stroked(GAIN))
    xlabel, ylabel = "angle of the direction, in degrees", "gain of its best cut (bits)"
    axes = plane.axes(range(0, 181, 30), [0, 0.2, 0.4, 0.6], xlabel, ylabel)
    alt = (
        f"The gain against the angle: flat pieces with sudden steps. Single columns are marked: {columns[0]} at 0 "
        f"degrees with {gain[0]:.3f} bits, {columns[1]} at 90 degrees with {turned.cut(90)[3]:.3f}. The highest piece, "
        f"{gain.max():.3f} bits, is narrow, from about {best.min():g} to {best.max():g} degrees; elsewhere there are "
        "lower peaks, each higher than both of its neighbours."
    )
    return Picture(alt, (480, 250), axes + curve + marks)


@plotted
def plot_staircase(runs: pd.DataFrame) -> None:
    """Leaves, and error on new rows, against the number of rows, both on logarithmic axes.

    `runs` has the columns rows, tree, leaves and error, one line for each run.
    """
    figure, both = side_by_side(2)
    for k, (name, of_tree) in enumerate(runs.groupby("tree", sort=False)):
        mean = of_tree.groupby("rows").mean(numeric_only=True)
        for ax, what in zip(both, ("leaves", "error")):
            ax.plot(of_tree["rows"], of_tree[what], "o", color=CLASS_COLORS[k], markersize=3, alpha=0.4)
            ax.plot(mean.index, mean[what], color=CLASS_COLORS[k], label=name, linestyle=["-", "--"][k])
    rows = runs["rows"].unique()
    scales: list[list[float]] = [[2, 5, 10, 20, 50], [0.001, 0.01, 0.1]]
    for ax, marks, label in zip(both, scales, ("leaves", "error on new rows")):
        ax.set(xscale="log", yscale="log", xlabel="training rows", ylabel=label)
        ax.set_xticks(rows, labels=rows)
        ax.set_yticks(marks, labels=[f"{mark:g}" for mark in marks])
        ax.minorticks_off()
    figure.legend(*both[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)


def turned_line(
    frame: pd.DataFrame,
    columns: list[str],
    target: str,
    before: tuple[Sequence[float], float],
    after: tuple[Sequence[float], float],
    pivot: float | None = None,
) -> Picture:
    """Two columns of rows with two cuts, the one before dashed.

    `before` and `after` are directions with their thresholds. After a step of the climb the two borders cross where the
    first column is `pivot`.
    """
    values = frame[columns].to_numpy(float)
    classes, code = np.unique(frame[target].astype(str), return_inverse=True)
    low, high = values.min(axis=0), values.max(axis=0)
    margin = 0.1 * (high - low)
    left, right = min(low[0], pivot or low[0]) - margin[0], high[0] + margin[0]
    plane = Chart((left, right), (low[1] - margin[1], high[1] + margin[1]), (48, 38, 468, 268))
    xticks, yticks = (np.arange(np.ceil(10 * a), np.floor(10 * b) + 1) / 10 for a, b in (plane.xlim, plane.ylim))

    def height(cut: tuple[Sequence[float], float], x: float) -> float:
        (w_0, w_1), t = cut
        return (t - w_0 * x) / w_1

    drawn = plane.axes(xticks, yticks, columns[0], f"{columns[1]} (filled: {classes[0]}, hollow: {classes[1]})")
    for cut, dash in ((before, "6 4"), (after, "none")):
        ends = [plane.y(height(cut, x)) for x in plane.xlim]
        drawn += line(plane.box[0], ends[0], plane.box[2], ends[1], stroke_width=2, stroke_dasharray=dash)
    crossing = ""
    if pivot is not None:
        x, y = plane.at(pivot, height(before, pivot))
        drawn += rect(x - 5, y - 5, 10, 10) + text(x - 4, y - 14, "pivot")
        crossing = " at a marked point on the left, the pivot,"
    alt = (
        f"{len(frame)} rows as numbered dots by {columns[0]} and {columns[1]}. A dashed horizontal line leaves one "
        f"{classes[0]} on the side of the {classes[1]} rows. A solid line crosses it{crossing} and rises to the right, "
        "so that the two classes lie on different sides of it."
    )
    return Picture(alt, (480, 318), drawn + _rows(plane, values, code, frame.index, values @ after[0] > after[1]))


def logistic_curves(v: ArrayLike, y: ArrayLike, factors: tuple[float, float, float]) -> Picture:
    """The logistic curve of `factor` times v for three rising factors, over the rows at 0 or 1; y marks the ones."""
    v, is_one = np.asarray(v, dtype=float), np.asarray(y, dtype=bool)
    margin = 0.08 * np.ptp(v)
    plane = Chart((v.min() - margin, v.max() + margin), (0, 1), (44, 38, 468, 218))
    drawn = plane.axes([-0.4, -0.2, 0, 0.2], [0, 0.5, 1], "v, the place of a row along the direction", "p")
    places = ((0.24, 0.62, "start"), (0.1, 0.735, "start"), (-0.02, 0.8, "end"))  # of the labels, beside their curves
    for k, (factor, (x, p, anchor)) in enumerate(zip(factors, places)):
        grid = np.unique(np.clip(np.linspace(-8, 8, 65) / factor, *plane.xlim))  # close where the curve bends
        grid = np.array([plane.xlim[0], *grid, plane.xlim[1]])
        drawn += plane.curve(grid, 1 / (1 + np.exp(-factor * grid)), stroke_width=1 + k)
        drawn += text(plane.x(x), plane.y(p), f"× {factor:g}", text_anchor=anchor)
    for k in (0, 1):
        drawn += in_class(k, plane.dots(v[is_one == k], itertools.repeat(k)))
    alt = (
        f"{(~is_one).sum()} filled dots at height 0 on the left of zero and {is_one.sum()} hollow dots at height 1 on "
        "the right of it. Three curves rise from 0 to 1 and cross at one half; the larger the factor, the steeper the "
        "curve and the nearer it comes to the dots."
    )
    return Picture(alt, (480, 268), drawn)


def paired_differences(difference: pd.DataFrame) -> Picture:
    """How much more accurate the second of two models is: a row of dots for each column, one dot for each split."""
    reach = 1.05 * float(difference.abs().to_numpy().max())
    bottom = 40 + 32 * difference.shape[1]
    plane = Chart((-reach, reach), (0, 1), (140, 40, 470, bottom))
    drawn = plane.axes([-0.1, 0, 0.1], [], "difference of the two accuracies", "")
    drawn += line(plane.x(0), 32, plane.x(0), bottom, stroke_dasharray="6 4")
    drawn += ending(plane.x(0) - 12, 22, "CART is better")
    drawn += text(plane.x(0) + 12, 22, "oblique is better")
    for k, name in enumerate(difference):
        y = 58 + 32 * k
        dots = "".join(circle(plane.x(d), y, 4, fill_opacity=0.5) for d in difference[name])
        mean = plane.x(float(difference[name].mean()))
        drawn += text(0, y + 5, str(name)) + element("g", dots, **painted(0))
        drawn += line(mean, y - 11, mean, y + 11, stroke_width=3)
    better, worse = ([str(name) for name in difference if sign * difference[name].mean() > 0] for sign in (1, -1))
    alt = (
        f"For each of {difference.shape[1]} tables the differences of {len(difference)} splits as dots, their mean as "
        f"a bar, beside a dashed line at zero. The mean lies on the side of the oblique tree for {', '.join(better)}; "
        f"on the side of CART for {', '.join(worse)}."
    )
    return Picture(alt, (480, bottom + 56), drawn)
