"""The figures of the chapter on scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from figures.charts import Chart, Picture
from figures.explorable import Choice, Explorable, Panel, Places, Scene, Slider, State
from figures.looks import HALO, OUTLINE, centred, ending, filled
from figures.melons import melon, ripe_and_unripe
from figures.plots import axes, log_lines, plain_ticks, plot_columns, plotted, side_by_side
from treekit.growing.binning import bin_codes, bin_edges
from treekit.growing.criteria import Gini
from treekit.pen.palette import BAR, CLASS_COLORS, RIPE, UNRIPE, class_color
from treekit.pen.svg import FAINT, circle, element, line, rect, text

#: The curves of each panel: the first job of a curve has treekit's time, any of them those of the other programs.
PANELS = {
    "One tree, depth 8": {"": ["CARTClassifier fit, depth 8", "entropy tree fit, depth 8"]},
    "Boosting, 256 bins": {
        "10 trees": ["GBDT histogram fit, 10 trees"],
        "100 trees": ["GBDT histogram fit, 100 trees"],
    },
}
#: The programs as the table names them, and as the legend does.
PROGRAMS = {
    "treekit": "treekit",
    "scikit-learn": "scikit-learn",
    "each cut from scratch": "each cut from scratch",
    "xgboost": "XGBoost",
    "LightGBM": "LightGBM",
}
MARKS = "osD^v"


@plotted
def plot_times(benchmarks: pd.DataFrame) -> None:
    """CPU time of a fit against rows, on log axes, for every program: one tree on the left, boosting on the right.

    `benchmarks` is the table of :func:`treekit.datasets.load_benchmarks`. The tree that measures each cut from scratch
    grows by entropy, the other two by Gini; scikit-learn's boosting is HistGradientBoosting. Every second curve of a
    panel, that of 100 boosted trees, has hollow marks.
    """
    figure, both = side_by_side(2, 4.6, sharex=True, sharey=True)
    times = benchmarks[benchmarks["measure"] == "CPU seconds"]
    lines: dict[str, Line2D] = {}
    for ax, (title, curves) in zip(both, PANELS.items()):
        for i, (named, jobs) in enumerate(curves.items()):
            own = times[times["what"] == jobs[0]].drop_duplicates("n_rows")
            for (who, label), color, mark in zip(PROGRAMS.items(), CLASS_COLORS, MARKS):
                others = times[times["what"].isin(jobs) & (times["peer"] == who)]
                curve, seconds = (own, "treekit") if who == "treekit" else (others, "other")
                if len(curve):
                    look = dict(markerfacecolor="none" if i % 2 else color, marker=mark, markersize=5)
                    look["linewidth"] = 2.5 if who == "treekit" else 1.2
                    (drawn,) = ax.loglog(curve["n_rows"], curve[seconds], color=color, label=who, **look)
                    lines.setdefault(label, drawn)
            if named:
                first = own.iloc[0]
                place, end = ((0, 9), "center") if i == 0 else ((8, 9), "right")  # clear of the line before
                ax.annotate(named, (first["n_rows"], first["treekit"]), place, textcoords="offset points", ha=end)
        ax.set(title=title, xlabel="rows")
        plain_ticks(ax)
    both[0].set_ylabel("seconds of CPU time")
    figure.legend(lines.values(), lines.keys(), loc="outside upper center", ncols=2, frameon=False)


def ratio_dots(ratios: pd.DataFrame, peer: str) -> Picture:
    """Ratios of two programs' times on a log axis: a line of dots for each job, one dot for each number of rows.

    `ratios` has a line for each job and a column for each number of rows; the more rows, the larger the dot.
    """
    bottom = 44 + 44 * len(ratios)
    low, high = min(0.08, 0.9 * ratios.min(axis=None)), max(2.4, 1.1 * ratios.max(axis=None))
    plane = Chart((np.log2(low), np.log2(high)), (0, 1), (10, 40, 470, bottom))
    drawn = line(10, bottom, 470, bottom)
    for tick in (0.1, 0.2, 0.5, 1, 2):
        at = plane.x(np.log2(tick))
        ruler = {"stroke_dasharray": "6 4"} if tick == 1 else {"stroke_opacity": FAINT / 2}
        drawn += line(at, 32, at, bottom, **ruler) + centred(at, bottom + 20, f"{tick:g}")
    drawn += ending(plane.x(0) - 8, 22, "treekit is faster") + text(plane.x(0) + 8, 22, "slower")
    for k, (job, row) in enumerate(ratios.iterrows()):
        y = 40 + 44 * k  # the name of a job stands above its dots, so that both have the whole width
        drawn += text(0, y + 13, str(job)) + line(10, y + 24, 470, y + 24, stroke_opacity=FAINT / 2)
        for size, ratio in zip((2.5, 4, 5.5, 7), row):
            if ratio > 0:  # no comparison with NaN is true
                style = f"stroke: {class_color(0)}; fill: {class_color(0)}; fill-opacity: 0.75"
                drawn += circle(plane.x(np.log2(ratio)), y + 24, size, style=style)
    drawn += centred(240, bottom + 44, f"treekit's time / {peer}'s")
    alt = (
        f"For each of {len(ratios)} fits treekit's time divided by {peer}'s, as dots on a logarithmic axis, larger for "
        f"more rows. {int((ratios > 1).sum().sum())} of {int(ratios.count().sum())} dots lie beyond the dashed line at "
        "1, where treekit is slower."
    )
    return Picture(alt, (480, bottom + 52), drawn)


@plotted
def plot_learning(curve: pd.DataFrame) -> None:
    """Accuracy on held-out rows, one line for each column of `curve`, against the training rows, its index."""
    ax = axes("training rows (log axis)", "accuracy on held-out rows")
    ax.semilogx()
    plot_columns(ax, curve, MARKS)
    ax.set_xticks(curve.index, [str(n) for n in curve.index])
    ax.minorticks_off()
    ax.legend(frameon=False)


@plotted
def plot_traffic(megabytes: pd.DataFrame) -> None:
    """Megabytes that are sent, one line for each column of `megabytes`, against the number of rows, its index."""
    log_lines(megabytes, "rows", "megabytes sent", ["-", "--", ":"])


class _Blocks(Scene):
    """Blocks of rows, sorted into bins: where the melons of each lie, and the sum of the counts sent so far."""

    def __init__(self, x: pd.Series, is_ripe: pd.Series, n_blocks: int, max_bins: int) -> None:
        self.x, self.ripe, values = x, is_ripe.to_numpy(bool), x.to_numpy(float)
        self.edges = bin_edges(values, max_bins)
        self.code, self.n_bins = bin_codes(values, self.edges), len(self.edges) + 1
        self.blocks = np.array_split(np.arange(len(x)), n_blocks)
        kinds = [[self.code[rows[self.ripe[rows] == k]] for k in (0, 1)] for rows in self.blocks]
        self.counts = np.array([[np.bincount(code, minlength=self.n_bins) for code in two] for two in kinds])
        forwards = list(range(n_blocks))
        self.orders = {"1 2 3 4": forwards, "4 3 2 1": forwards[::-1]}
        self.tall = 27 * int(self.counts.sum(axis=1).max()) + 40  # of a stall; they stand two in a row
        self.highest = int(self.counts.sum(axis=(0, 1)).max())
        self.plane = Chart((0, self.n_bins), (0, self.highest + 0.8), (34, 40, 394, 290))  # with room for the gain

    def sums(self, order: str, n_added: int) -> NDArray[Any]:
        """The counts of each class in each bin, over the blocks that have been added."""
        return self.counts[self.orders[order][:n_added]].sum(axis=0)

    def best_cut(self, order: str, n_added: int) -> tuple[int, float] | None:
        """The bin after which the sum so far is cut, and the gain; None while it has one class only."""
        sums = self.sums(order, n_added)
        if not sums.any(axis=1).all():
            return None
        gini = Gini(np.zeros(0, dtype=np.intp), n_classes=2)  # a criterion on sums needs no rows
        total = sums.sum(axis=1, keepdims=True)
        gains = gini.gain(gini.saving(sums.cumsum(axis=1)[:, :-1], total), total)
        return int(gains.argmax()), float(gains.max())

    def corner(self, block: int) -> tuple[int, int]:
        """The left end of the ground of a stall."""
        return 5 + 200 * (block % 2), (self.tall + 34) * (block // 2 + 1)

    def background(self) -> str:
        """The stalls; in each the melons lie in the column of their bin, unripe ones below."""
        stalls, melons = "", ""
        for i, rows in enumerate(self.blocks):
            left, bottom = self.corner(i)
            stalls += text(left, bottom - self.tall + 18, f"stall {i + 1}") + line(left, bottom, left + 190, bottom)
            for b in range(self.n_bins):
                x = left + 38 * b
                stalls += centred(x + 19, bottom + 17, b + 1, fill_opacity=0.7)
                stalls += line(x, bottom - self.tall + 30, x, bottom, stroke_opacity=FAINT) if b else ""
                for level, n in enumerate(sorted(rows[self.code[rows] == b], key=self.ripe.__getitem__)):
                    melons += melon(self.x.index[n], bool(self.ripe[n]), x + 19, bottom - 15 - 27 * level)
        bottom = 2 * (self.tall + 34) + 42
        return stalls + melons + ripe_and_unripe(13, bottom - 5) + ending(395, bottom, "a column for each bin")

    def frame(self, order: str, n_added: int) -> State:
        frames, added = "", self.orders[order][:n_added]
        for left, bottom in map(self.corner, added):
            frames += rect(left - 4, bottom - self.tall, 198, self.tall + 24, rx=6, **OUTLINE, stroke_width=2)
        cut, n_melons = self.best_cut(order, n_added), self.counts[added].sum()
        newest = f", the last from stall {added[-1] + 1}" if added else ""
        told = "all of one class, nothing to cut" if added else "none has arrived"
        if cut:
            told = f"the best cut is at {self.edges[cut[0]]:.3f}, with a Gini gain of {cut[1]:.3f}"
        first = next(iter(self.orders))
        if order != first and n_added == len(self.blocks) and cut == self.best_cut(first, n_added):
            told += f", as in the order {first}"
        return [frames], f"{n_added} of {len(self.blocks)} histograms, {n_melons} melons{newest}: {told}.", {}

    def summed(self, order: str, n_added: int) -> tuple[list[str], Places]:
        """The bars of the sum so far, ripe on unripe, and the line at its best cut."""
        places: Places = {}
        for b, counts in enumerate(self.sums(order, n_added).T):
            for kind, n, top in zip((UNRIPE, RIPE), counts.tolist(), counts.cumsum().tolist()):
                high = n * (self.plane.y(0) - self.plane.y(1))
                places[f"bin {b} class {kind}"] = (*self.plane.at(b + 0.12, top), 1, high, 1 if n else 0)
        if not (cut := self.best_cut(order, n_added)):
            return [self.trace(order, n_added)], places
        x = self.plane.x(cut[0] + 1)
        gain = text(x + 6, 62, f"gain {cut[1]:.3f}", font_size=13, style=HALO)
        return [self.trace(order, n_added), gain], places | {"cut": (x, 36)}

    def trace(self, order: str, n_added: int) -> str:
        """Below each edge the numbers of histograms after which the best cut lay there."""
        after: dict[int, list[int]] = {}
        for n in range(1, n_added + 1):
            if cut := self.best_cut(order, n):
                after.setdefault(cut[0], []).append(n)
        return "".join(centred(self.plane.x(b + 1), 350, ", ".join(map(str, numbers))) for b, numbers in after.items())

    def beside(self) -> Panel:
        width = self.plane.x(0.76) - self.plane.x(0)
        marks = {
            f"bin {b} class {kind}": rect(0, 0, width, 1, **filled(kind), fill_opacity=(1, BAR)[kind])
            for b in range(self.n_bins)
            for kind in (UNRIPE, RIPE)
        }
        marks["cut"] = line(0, 0, 0, 254, stroke_width=3, stroke_dasharray="6 4") + text(
            6, 10, "best cut", font_size=13
        )
        return Panel(
            "The sum of the four histograms: a bar for each bin, unripe melons below and ripe ones above, as high as "
            "dashed outlines, and a dashed line at the best cut.",
            (400, 2 * (self.tall + 34) + 52),
            self.axes(),
            self.summed,
            marks,
        )

    def axes(self) -> str:
        """The bins with their edges, and the outline that the sum of all histograms has in whatever order."""
        drawn = self.plane.axes([], range(0, self.highest + 1, 2), "", "melons in each bin, so far")
        drawn += "".join(centred(self.plane.x(b + 0.5), 308, b + 1, fill_opacity=0.7) for b in range(self.n_bins))
        drawn += "".join(centred(self.plane.x(b), 329, f"{edge:.3f}") for b, edge in enumerate(self.edges, start=1))
        drawn += text(0, 308, "bin") + text(0, 329, "edge") + text(0, 350, "cut after")
        outline, (floor, unit) = "", (self.plane.y(0), self.plane.x(1) - self.plane.x(0))
        for b, n in enumerate(self.counts.sum(axis=(0, 1)).tolist()):
            outline += rect(self.plane.x(b + 0.12), self.plane.y(n), 0.76 * unit, floor - self.plane.y(n))
        outline = element("g", outline, **OUTLINE, stroke_dasharray="3 3")
        return drawn + element("g", outline + ending(400, 26, f"dashed: all {len(self.x)}"), class_="answer")


def blocks_explorer(x: pd.Series, is_ripe: pd.Series, n_blocks: int = 4, max_bins: int = 5) -> Explorable:
    """Melons at their stalls, sorted into bins, and beside them the sum of the counts sent so far, with its best cut.

    `x` is a column of numbers; the rows are cut into blocks as they come.
    """
    stalls = _Blocks(x, is_ripe, n_blocks, max_bins)
    first, second = stalls.orders
    cut = stalls.best_cut(first, n_blocks) or (0, 0.0)
    edges = [f"{edge:.3f}" for edge in stalls.edges]

    def truth(guessed: str) -> str:
        """On which side the best cut lies; where, the reader finds out."""
        away = edges.index(guessed) - cut[0]
        return f"the best cut lies further to the {'left' if away > 0 else 'right'}" if away else "no other gains more"

    return stalls.explorable(
        title="Four stalls, one histogram",
        alt=f"{n_blocks} stalls with the {len(x)} melons as numbered circles, hollow if ripe, each melon in the column "
        "of its bin of density. All stalls are framed: their counts have been added up.",
        size=(400, 2 * (stalls.tall + 34) + 52),
        controls=[
            Choice("Order of the stalls", list(stalls.orders)),
            Slider("Histograms added", list(range(n_blocks + 1)), start=n_blocks, opens=0),
        ],
        found=lambda order, n_added: order == second and n_added == n_blocks,
        guess=Choice(
            "Your guess from the melons at the stalls: which edge will be the best cut of all?",
            edges,
            answer=edges[cut[0]],
            truth=truth,
        ),
        challenge=f"Add all histograms in the order {first}, then in the order {second}. Does the order change the "
        "last cut?",
    )
