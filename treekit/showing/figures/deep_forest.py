"""The figures of the chapter on deep forests."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from treekit.showing.explorable import Choice, Explorable, Slider
from treekit.showing.figures.shared import Picture, axes, dot, in_class
from treekit.showing.palette import CLASS_COLORS, class_color
from treekit.showing.svg import FAINT, Plane, element, line, rect, text
from treekit.trees.structure import majority


def level_anatomy() -> Picture:
    """One level of a cascade: a row, four forests, their class vectors beside the row, and the next level."""
    forests = ["random forest", "random forest", "completely random", "completely random"]
    top, step = 70, 44

    def arrow_down(x: float, y: float, end: float) -> str:
        head = element("path", d=f"M{x - 5},{end - 8}h10l-5,8z")
        return line(x, y, x, end - 8) + head

    def row_of(y: float, n_vectors: int) -> str:
        """The measurements as empty squares, and behind them three filled ones for each class vector."""
        measured = "".join(rect(20 + 19 * i, y, 15, 15, fill="none", stroke="currentColor") for i in range(6))
        shares = "".join(
            in_class(k, rect(150 + 78 * b + 19 * k, y, 15, 15)) for b in range(n_vectors) for k in range(3)
        )
        return measured + shares

    boxes = "".join(
        rect(150, top + step * b, 170, 32, fill="none", stroke="currentColor", rx=4)
        + text(235, top + step * b + 21, name, text_anchor="middle")
        + line(75, top + step * b + 16, 150, top + step * b + 16, stroke_opacity=FAINT)
        + line(320, top + step * b + 16, 352, top + step * b + 16, stroke_opacity=FAINT)
        + "".join(in_class(k, rect(356 + 19 * k, top + step * b + 9, 15, 15)) for k in range(3))
        for b, name in enumerate(forests)
    )
    below = top + step * len(forests)
    return Picture(
        alt="Above, a row of six measurements. It goes into four forests, two random and two completely random. Each "
        "gives three shares, one for each class. Below, the same six measurements with the twelve shares behind them: "
        "the row that the next level reads.",
        size=(480, below + 96),
        drawing=text(20, 16, "what level 1 reads: the measurements")
        + row_of(26, 0)
        + line(75, 45, 75, top + step * 3 + 16, stroke_opacity=FAINT)
        + boxes
        + text(480, 40, "class vectors", text_anchor="end")
        + arrow_down(75, below + 2, below + 30)
        + arrow_down(383, below + 2, below + 30)
        + text(20, below + 50, "what level 2 reads: measurements and class vectors")
        + row_of(below + 62, 4),
    )


def cascade_explorer(vectors: ArrayLike, truth: ArrayLike, rows: Sequence[int]) -> Explorable:
    """Class vectors of a row, forest by forest and level by level, with their mean, and the mean's way to this level.

    `vectors` has the shape (levels, forests, rows, classes), with at least two levels; `truth` holds the number of each
    row's class. `rows` are the places of the rows to choose from, at least two.
    """
    vectors, truth = np.asarray(vectors, dtype=float), np.asarray(truth)
    n_levels, n_forests, n_rows, n_classes = vectors.shape
    means = vectors.mean(axis=1)
    answers = np.array([majority(mean) for mean in means])
    bars = Plane((0, 1), (0, 1), (104, 0, 464, 1))
    top, step = 62, 30
    mean_y = top + step * n_forests + 12
    way = Plane((1, n_levels), (0, 1), (104, mean_y + 76, 464, mean_y + 186))

    def bar(y: float, shares: ArrayLike, height: float) -> str:
        """The shares of one vector, end to end."""
        ends = np.concatenate([[0], np.cumsum(shares)]).clip(0, 1)
        return "".join(
            in_class(k, rect(bars.x(ends[k]), y, bars.x(ends[k + 1]) - bars.x(ends[k]), height))
            for k in range(n_classes)
            if ends[k + 1] > ends[k]
        )

    legend = "".join(
        in_class(k, rect(106 + 100 * k, 10, 11, 11)) + text(124 + 100 * k, 21, f"class {k}") for k in range(n_classes)
    )
    names = "".join(text(0, top + step * b + 15, f"forest {b + 1}") for b in range(n_forests))
    background = (
        legend
        + names
        + text(0, mean_y + 18, "mean", font_weight="bold")
        + way.axes(range(1, n_levels + 1), [0, 0.5, 1], "level", "mean share of each class")
    )

    def state(row: int, level: int) -> tuple[str, str]:
        vector, mean = vectors[level - 1, :, row], means[level - 1, row]
        curves = "".join(
            way.curve(range(1, level + 1), means[:level, row, k], style=f"stroke: {class_color(k)}")
            + in_class(k, dot(way.x(level), way.y(mean[k])))
            for k in range(n_classes)
        )
        drawing = (
            "".join(bar(top + step * b, vector[b], 18) for b in range(n_forests))
            + bar(mean_y, mean, 24)
            + line(way.x(level), way.y(0), way.x(level), way.y(1), stroke_dasharray="3 4")
            + curves
        )
        answer, right = answers[level - 1, row], int((answers[level - 1] == truth).sum())
        verdict = "right" if answer == truth[row] else f"wrong, it is {truth[row]}"
        sentence = (
            f"Level {level}, row {row}: the mean vector is {', '.join(f'{share:.2f}' for share in mean)}. The "
            f"prediction is class {answer}: {verdict}. Of all {n_rows} rows this level has {right} right."
        )
        return drawing, sentence

    return Explorable(
        title="A row on its way through the levels",
        alt=f"{n_forests} bars, one for each forest of a level, and below them the bar of their mean. Each bar is "
        "divided into the shares of the classes. At the bottom a curve for each class: its mean share from level 1 to "
        "the level shown, with a dot there.",
        size=(480, mean_y + 236),
        background=background,
        controls=[Choice("Row", list(rows)), Slider("Level", list(range(1, n_levels + 1)))],
        frame=state,
        challenge="How many of these rows does the last level classify correctly? Which wrong answer grows surer?",
    )


def leak_by_level(accuracy: pd.DataFrame) -> Picture:
    """Accuracy from level to level, with out-of-fold class vectors and with the forests' own.

    `accuracy` has a row for each level and the columns ("held out", "out of fold"), ("held out", "own") and
    ("training rows", "own").
    """
    levels = accuracy.index.to_numpy(float)
    lowest = float(accuracy["held out"].to_numpy().min())
    plane = Plane((levels[0] - 0.2, levels[-1] + 0.2), (lowest - 0.03, 1.01), (54, 32, 464, 232))

    def curve(column: tuple[str, str], k: int, words: str, rise: float) -> str:
        values = accuracy[column].to_numpy()
        dots = "".join(dot(plane.x(level), plane.y(value)) for level, value in zip(levels, values))
        name = text(plane.x(levels[-1]), plane.y(values[-1]) + rise, words, text_anchor="end")
        color = f"stroke: {class_color(k)}"
        return plane.curve(levels, values, style=color, stroke_width=3) + in_class(k, dots) + name

    return Picture(
        alt="Accuracy against the level. With the forests' own vectors it is 1 on the training rows at every level, "
        "while on the held-out rows it falls. With out-of-fold vectors the held-out accuracy stays nearly level, above "
        "the other.",
        size=(480, 290),
        drawing=plane.axes(levels.tolist(), [0.9, 1], "level", "accuracy")
        + curve(("training rows", "own"), 1, "own vectors, training rows", 24)
        + curve(("held out", "out of fold"), 0, "out-of-fold vectors, held-out rows", -14)
        + curve(("held out", "own"), 1, "own vectors, held-out rows", 26),
    )


def plot_windows(image: ArrayLike, size: int, step: int) -> None:
    """A square image and, beside it, each window of `size` by `size` pixels that slides over it by `step` pixels."""
    image = np.asarray(image)
    places = range(0, len(image) - size + 1, step)
    with plt.rc_context({"font.size": 13}):
        _, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
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
    plt.show()


def plot_accuracy_and_cost(runs: pd.DataFrame) -> None:
    """Mean held-out accuracy, with two standard errors each way, against the number of trees grown, on a log axis.

    `runs` has the columns table, model, trees and accuracy, one line for each split; a mark stands for a model, a
    colour for a table. A model without trees is a dashed line.
    """
    tables, models = runs["table"].unique().tolist(), runs["model"].unique().tolist()
    with plt.rc_context({"font.size": 13}):
        ax = axes("trees grown, on average (log axis)", "accuracy on held-out rows")
        ax.set_xscale("log")
        ax.set_xlim(runs.loc[runs["trees"] > 0, "trees"].min() / 2, 2 * runs["trees"].max())
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
        ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.45, 1), ncols=2, fontsize=11)
    plt.show()
