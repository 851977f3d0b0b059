"""The figures of the appendix on how treekit grows a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from treekit.growing.level import Level
from treekit.showing.figures.shared import Picture, Plot, axes, current_plot, in_class
from treekit.showing.palette import CLASS_COLORS, class_color
from treekit.showing.svg import FAINT, element, line, rect, text

LEFT, RIGHT = 88, 478
GAP = 12  # between the rows of two nodes
BAR = 20  # height of a row of weight 1
STRIP, LINK = 58, 34  # heights of a strip of rows and of the space in which the rows move


class Group(NamedTuple):
    """The rows of a node, which a drawing shows side by side under its name, and their weights."""

    name: str
    rows: NDArray[np.integer]
    weights: NDArray[np.float64]


class Strip(NamedTuple):
    """One line of a drawing; where it ``leads_on``, each row is joined to its places in the next strip."""

    title: str
    groups: list[Group]
    leads_on: bool = True


def rows_by_level(levels: Sequence[Level], label: ArrayLike, names: Sequence, classes: Sequence[str]) -> Picture:
    """The table (row, node, weight) of some levels, one below the other, and how the rows move from each to the next.

    Parameters
    ----------
    levels : sequence of Level
        Levels that follow one another, each with all its nodes.
    label : array of shape (n_rows,)
        The class of each row.
    names : sequence of length n_rows
        What is written below each row.
    classes : sequence of str
        Names of the classes.
    """
    strips = []
    for depth, level in enumerate(levels):
        entries = np.split(level.entry, level.start[1:-1])
        groups = [Group(str(k), level.row[e], level.weight[e]) for k, e in zip(level.id.tolist(), entries)]
        strips.append(Strip(f"level {depth}", groups))
    counts = ", ".join(f"{len(level.entry)} entries in {level.n_nodes}" for level in levels)
    shared = any((level.weight[level.entry] < 1).any() for level in levels)
    alt = (
        f"The rows of {len(levels)} levels as bars with their numbers, level below level, grouped by node: {counts}. "
        "Lines join each row to its place on the next level; the rows of a leaf have no line."
        + (" Rows that were shared out stand in several nodes, as lower bars." if shared else "")
    )
    return _picture(alt, strips, np.asarray(label), names, classes)


def kept_orders(
    columns: Sequence[str],
    before: NDArray[np.integer],
    after: NDArray[np.integer],
    n_left: int,
    label: ArrayLike,
    names: Sequence,
    classes: Sequence[str],
) -> Picture:
    """The orders of some rows by several columns, before and after a split sends the first ``n_left`` to the left.

    ``before`` and ``after`` have the shape (n_columns, n_rows).
    """
    strips = []
    for name, old, new in zip(columns, before, after, strict=True):
        children = zip(("left child", "right child"), np.split(new, [n_left]))
        strips.append(Strip(f"by {name}", [Group("all rows", old, np.ones(len(old)))]))
        strips.append(Strip("after", [Group(side, rows, np.ones(len(rows))) for side, rows in children], False))
    alt = (
        f"The {before.shape[1]} rows in the order of {' and of '.join(columns)}, each time before and after the split. "
        "Lines that lead to the same child never cross, so within a child the rows keep their order."
    )
    return _picture(alt, strips, np.asarray(label), names, classes)


def _picture(alt: str, strips: list[Strip], label: NDArray, names: Sequence, classes: Sequence[str]) -> Picture:
    """Strips of rows, one below the other, and lines between the places of each row."""
    n_places = max(sum(max(len(group.rows), 1) for group in strip.groups) for strip in strips)
    n_gaps = max(len(strip.groups) for strip in strips) - 1
    width = min(30, (RIGHT - LEFT - GAP * n_gaps) / n_places)
    drawn = "".join(
        in_class(k, rect(LEFT + 2 + 110 * k, 3, 10, 10)) + text(LEFT + 18 + 110 * k, 13, name)
        for k, name in enumerate(classes)
    )
    y = 30.0
    above: list[tuple[int, float]] = []  # the rows of the strip above, and where their lines begin
    for strip in strips:
        x, here = float(LEFT), []
        drawn += text(0, y + 36, strip.title)
        for group in strip.groups:
            drawn += text(x + 1, y + 13, group.name, font_size=13, font_weight="bold")
            for row, weight in zip(group.rows.tolist(), group.weights.tolist()):
                drawn += _row(x, y + 19, width, weight, int(label[row]), str(names[row]))
                here.append((row, x + width / 2))
                x += width
            x += GAP if len(group.rows) else GAP + width
        drawn += "".join(
            line(start, y - LINK, end, y - 1, stroke_opacity=0.45)
            for row, start in above
            for other, end in here
            if row == other
        )
        above = here if strip.leads_on else []
        y += STRIP + (LINK if strip.leads_on else LINK / 2)
    return Picture(alt, (480, y - LINK / 2), drawn)


def _row(x: float, y: float, width: float, weight: float, k: int, name: str) -> str:
    """A row: a bar as high as its weight, with its number below."""
    frame = rect(x + 2, y, width - 4, BAR, fill="none", stroke="currentColor", stroke_opacity=FAINT)
    bar = in_class(k, rect(x + 2, y + BAR * (1 - weight), width - 4, BAR * weight))
    number = text(x + width / 2, y + BAR + 14, name, text_anchor="middle", font_size=12)
    return (frame if weight < 1 else "") + bar + number


def subtraction(parent: ArrayLike, lighter: ArrayLike) -> Picture:
    """The numbers of rows in each bin of a node, of its lighter child, and of the heavier one, which is the rest."""
    above, counted = np.asarray(parent), np.asarray(lighter)
    panels = [("parent", above), ("lighter child", counted), ("heavier child", above - counted)]
    words = ["known from above", "added up", "parent − lighter"]
    unit, width = 96 / above.max(), 132 / len(above)
    drawn = ""
    for k, ((title, counts), how) in enumerate(zip(panels, words)):
        left = 4 + 168 * k
        drawn += text(left, 16, title, font_weight="bold") + text(left, 34, how, font_size=13)
        bars = ""
        for b, n in enumerate(counts.tolist()):
            x = left + width * b
            bars += rect(x + 2, 156 - unit * n, width - 4, unit * n) if n else ""
            drawn += text(x + width / 2, 150 - unit * n, str(n), text_anchor="middle", font_size=13)
        drawn += element("g", bars, style=f"fill: {class_color(k)}") + line(left, 156, left + 132, 156)
    alt = "Rows in each bin as bars: " + "; ".join(
        f"{title} {', '.join(map(str, counts.tolist()))}" for title, counts in panels
    )
    return Picture(f"{alt}. The last is the first minus the second.", (480, 168), drawn)


def plot_work(counts: pd.DataFrame) -> Plot:
    """Operations, one line for each column of ``counts``, against the number of rows, its index, on log axes."""
    with plt.rc_context({"font.size": 13}):
        ax = axes("number of rows", "operations")
        for name, mark, color in zip(counts, "os^", CLASS_COLORS):
            ax.loglog(counts.index, counts[name], marker=mark, color=color, label=name)
        ax.legend(frameon=False)
    return current_plot()
