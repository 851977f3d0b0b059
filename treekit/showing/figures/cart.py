"""The figures of the chapter on CART."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from treekit.growing.thresholds import midpoint
from treekit.measures import entropy_of_counts, gini_of_counts
from treekit.models.cart import CARTRegressor
from treekit.showing.explorable import Explorable, Slider
from treekit.showing.figures.shared import Picture, axes, dot, in_class
from treekit.showing.palette import CLASS_COLORS, class_color
from treekit.showing.svg import FAINT, Plane, circle, line, text


def gini_and_entropy() -> Picture:
    """Gini impurity and entropy of two classes against the share of one of them, and half the entropy between."""
    plane = Plane((0, 1), (0, 1), (40, 42, 460, 262))
    p = np.linspace(0, 1, 101)
    counts = np.column_stack([p, 1 - p])
    return Picture(
        alt="Three curves over the share p, all zero at both ends and highest in the middle, at one half. The entropy "
        "rises to 1, half the entropy and the Gini impurity to 0.5; these two nearly coincide, the Gini impurity "
        "lying a little lower.",
        size=(480, 310),
        drawing=plane.axes([0, 0.25, 0.5, 0.75, 1], [0, 0.5, 1], "share p of one class", "impurity")
        + plane.curve(p, entropy_of_counts(counts), style=f"stroke: {class_color(1)}")
        + plane.curve(p, entropy_of_counts(counts) / 2, style=f"stroke: {class_color(1)}", stroke_dasharray="5 4")
        + plane.curve(p, gini_of_counts(counts), style=f"stroke: {class_color(0)}", stroke_width=3)
        + text(plane.x(0.5), plane.y(0.9), "entropy (bits)", text_anchor="middle")
        + text(plane.x(0.5), plane.y(0.56), "half the entropy (dashed)", text_anchor="middle")
        + text(plane.x(0.5), plane.y(0.4), "Gini impurity", text_anchor="middle"),
    )


def cut_explorer(x: ArrayLike, y: ArrayLike, xlabel: str, ylabel: str, impurity: str = "squared error") -> Explorable:
    """A cut that slides over a column of numbers: the mean of either side, and below what is left of the impurity.

    `y` holds numbers, or zeros and ones for two classes. `impurity` is "squared error", the mean one about the mean,
    or "Gini", which for zeros and ones is twice that.
    """
    order = np.argsort(x, kind="stable")
    x, y = np.asarray(x, dtype=float)[order], np.asarray(y, dtype=float)[order]
    factor = {"squared error": 1, "Gini": 2}[impurity]
    values = np.unique(x)
    cuts = midpoint(values[:-1], values[1:])
    before = factor * float(y.var())

    def left_by(cut: float) -> float:
        """Mean impurity of the two sides."""
        return factor * sum(side.var() * len(side) for side in (y[x <= cut], y[x > cut])) / len(y)

    left = [left_by(cut) for cut in cuts]
    margin, reach = 0.06 * np.ptp(x), 0.12 * np.ptp(y)
    xlim = (x[0] - margin, x[-1] + margin)
    data = Plane(xlim, (y.min() - reach, y.max() + reach), (44, 32, 464, 192))
    curve = Plane(xlim, (0, 1.1 * before), (44, 262, 464, 382))
    ticks = np.linspace(x[0], x[-1], 4).round(2)
    # Zeros and ones have the colours of their classes; numbers have all the same.
    points = "".join(in_class(int(b) if impurity == "Gini" else 0, dot(data.x(a), data.y(b))) for a, b in zip(x, y))
    background = (
        data.axes([], np.linspace(y.min(), y.max(), 2).round(2), "", ylabel)
        + points
        + curve.axes(ticks, [0, round(before, 2)], xlabel, f"mean {impurity} left")
        + line(44, curve.y(before), 464, curve.y(before), stroke_dasharray="6 4")
        + curve.curve(cuts, left, stroke_opacity=0.6)
        + "".join(circle(curve.x(cut), curve.y(value), 2.5) for cut, value in zip(cuts, left))
    )

    def rows(n: int) -> str:
        return "1 row" if n == 1 else f"{n} rows"

    def frame(cut: float) -> tuple[str, str]:
        below, above = y[x <= cut], y[x > cut]
        after, at = left_by(cut), data.x(cut)
        low, high = (data.y(float(side.mean())) for side in (below, above))
        drawing = (
            line(at, data.box[1], at, curve.box[3], stroke_opacity=FAINT)
            + line(44, low, at, low, stroke_width=3)
            + line(at, high, 464, high, stroke_width=3)
            + circle(at, curve.y(after), 7)
            + line(at, curve.y(after), at, curve.y(before), stroke_width=3, style=f"stroke: {class_color(2)}")
        )
        sides = [(len(side), side.mean(), factor * side.var()) for side in (below, above)]
        (n, mean, own), (n_above, mean_above, own_above) = sides
        sentence = (
            f"Cut at {cut:.4g}. Below: {rows(n)}, mean {mean:.3f}, {impurity} {own:.3f}. Above: {rows(n_above)}, mean "
            f"{mean_above:.3f}, {impurity} {own_above:.3f}. Weighted by their rows, {after:.3f} of {before:.3f} is "
            "left; "
            f"the gain is {before - after:.3f}."
        )
        return drawing, sentence

    return Explorable(
        title="Slide the cut",
        alt=f"Above, {len(y)} rows as dots, {ylabel} against {xlabel}; a vertical line cuts them, and a level line on "
        f"either side shows the mean there. Below, the mean {impurity} that is left, for every place of the cut, "
        "under a dashed line at what it was before.",
        size=(480, 430),
        background=background,
        controls=[Slider(f"Cut {xlabel} at", cuts.tolist(), start=float(cuts[len(cuts) // 2]), show="{:.4g}")],
        frame=frame,
        challenge="Can you find the lowest point of the curve, and a cut that gains next to nothing?",
    )


def steps_explorer(x: ArrayLike, y: ArrayLike, xlabel: str, ylabel: str, depths: range = range(5)) -> Explorable:
    """The prediction of a least squares tree of one column, for a depth that the reader chooses."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    margin, reach = 0.06 * np.ptp(x), 0.08 * np.ptp(y)
    plane = Plane((x.min() - margin, x.max() + margin), (y.min() - reach, y.max() + reach), (44, 32, 464, 272))
    points = "".join(dot(plane.x(a), plane.y(b)) for a, b in zip(x, y))
    xticks, yticks = np.linspace(x.min(), x.max(), 4).round(2), np.linspace(y.min(), y.max(), 3).round(2)

    def frame(depth: int) -> tuple[str, str]:
        tree = CARTRegressor(max_depth=depth).fit(x[:, np.newaxis], y)
        cuts = np.sort(tree.tree_.threshold[~tree.tree_.is_leaf])
        ends = np.concatenate([[plane.xlim[0]], cuts, [plane.xlim[1]]])
        level = tree.predict(((ends[:-1] + ends[1:]) / 2)[:, np.newaxis])
        error = float(((tree.predict(x[:, np.newaxis]) - y) ** 2).sum())
        drawing = plane.curve(
            np.repeat(ends, 2)[1:-1], np.repeat(level, 2), style=f"stroke: {class_color(1)}", stroke_width=3
        )
        pieces = ", ".join(f"{value:.2f}" for value in level)
        leaves = "1 leaf" if len(level) == 1 else f"{len(level)} leaves"
        return drawing, f"Depth {depth}: {leaves}, from left to right {pieces}. Sum of squared errors {error:.3f}."

    return Explorable(
        title="A regression tree is a staircase",
        alt=f"{len(y)} dots, {ylabel} against {xlabel}, and through them the tree's prediction as level steps, one for "
        "each leaf.",
        size=(480, 320),
        background=plane.axes(xticks, yticks, xlabel, ylabel) + in_class(0, points),
        controls=[Slider("Depth", list(depths), start=depths[min(2, len(depths) - 1)])],
        frame=frame,
        challenge="Can you say how many leaves are enough? Which depth goes through every point?",
    )


def plot_counts(counts: pd.DataFrame) -> None:
    """Steps of work, a line for each column of `counts`, against the number of rows, its index, on logarithmic axes."""
    with plt.rc_context({"font.size": 13}):  # reads on a phone, too
        ax = axes("number of rows n", "steps for one column")
        for k, name in enumerate(counts):
            ax.loglog(counts.index, counts[name], marker="os^"[k], color=CLASS_COLORS[k], label=name)
        ax.legend(frameon=False)
    plt.show()
