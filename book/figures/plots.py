"""What the plots by matplotlib share: a size that reads on a phone, and one look on light and dark pages."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ParamSpec

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from treekit.pen.palette import CLASS_COLORS

#: A plot this many inches wide, with text of this size, has letters of 11 pixels on a phone that is 390 pixels wide.
PLOT_WIDTH = 5.6
READABLE = {"font.size": 12.5, "axes.titlesize": "medium"}
#: An SVG picture is told the theme of the page around it, so it turns dark with the page.
THEMES = """<style>svg { color: #24292f; --page: #fff } text { fill: currentColor }
@media (prefers-color-scheme: dark) { svg { color: #ced6dd; --page: #121212 } }</style>"""

P = ParamSpec("P")


@dataclass(frozen=True, repr=False)
class Plot:
    """A plot by matplotlib that shows itself as SVG, in black on a light page and in white on a dark one."""

    drawing: str

    def __repr__(self) -> str:
        return "Plot"

    def _repr_svg_(self) -> str:
        return self.drawing


def current_plot() -> Plot:
    """Take what has been plotted; it is the same text on every machine."""
    file = io.StringIO()
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "treekit"}):
        # Of the figure, because plt.savefig would draw it once more, for a window that is not there.
        plt.gcf().savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    plt.close()
    drawing = re.sub(r"<metadata>.*?</metadata>", THEMES, file.getvalue(), flags=re.DOTALL)
    drawing = drawing[drawing.index("<svg") :]
    return Plot(drawing.replace("#000000", "currentColor").replace("#ffffff", "var(--page)"))


def plotted(draw: Callable[P, None]) -> Callable[P, Plot]:
    """Let a function that draws by matplotlib return its plot, with words that read on a phone."""

    @functools.wraps(draw)
    def plot(*args: P.args, **kwargs: P.kwargs) -> Plot:
        with plt.rc_context(READABLE):
            draw(*args, **kwargs)
        return current_plot()

    return plot


def side_by_side(n: int, height: float = 3.6, **shared: Any) -> tuple[Figure, list[plt.Axes]]:
    """Axes side by side, of a size that reads on a page and on a phone, without idle lines."""
    figure, panels = plt.subplots(1, n, figsize=(PLOT_WIDTH, height), layout="constrained", squeeze=False, **shared)
    for ax in panels[0]:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, list(panels[0])


def axes(xlabel: str, ylabel: str, height: float = 3.6) -> plt.Axes:
    """One pair of axes, as `side_by_side` makes them."""
    _, (ax,) = side_by_side(1, height)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return ax


def plain_ticks(ax: plt.Axes) -> None:
    """Write the numbers of both axes as 0.01, 1, 1000, 10k, 1M, 1G: a small exponent does not read on a phone."""

    def written(value: float, _: object) -> str:
        sizes = (("G", 1e9, 1e9), ("M", 1e6, 1e6), ("k", 1e3, 1e4), ("", 1, 0))
        return next(f"{value / size:g}{unit}" for unit, size, least in sizes if value >= least)

    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(written)
        axis.set_minor_formatter(NullFormatter())


def plot_columns(ax: plt.Axes, table: pd.DataFrame, looks: Iterable[str] = "os^Dv", name: str = "{}") -> None:
    """Plot a line for each column of a table against its index; a look is a marker, or the style of a line.

    `name` says how a column is called in the legend.
    """
    for column, look, color in zip(table, looks, CLASS_COLORS):
        style = {"linestyle": look, "linewidth": 2.5} if set(look) <= set("-.:") else {"marker": look}
        ax.plot(table.index, table[column], color=color, label=name.format(column), **style)


def log_lines(table: pd.DataFrame, xlabel: str, ylabel: str, looks: Iterable[str] = "os^") -> None:
    """Plot the columns of a table against its index, the number of rows, on logarithmic axes."""
    ax = axes(xlabel, ylabel)
    ax.loglog()
    plot_columns(ax, table, looks)
    plain_ticks(ax)
    ax.legend(frameon=False)
