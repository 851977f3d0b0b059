"""The figures of the chapter on scale."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from treekit.growing.binning import bin_codes, bin_edges
from treekit.growing.criteria import Gini
from treekit.showing.explorable import Choice, Explorable, Slider
from treekit.showing.figures.shared import Picture, axes, in_class
from treekit.showing.palette import CLASS_COLORS, class_color
from treekit.showing.svg import FAINT, Plane, circle, line, rect, text

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


def plot_times(benchmarks: pd.DataFrame) -> None:
    """CPU time of a fit against rows, on log axes, for every program: one tree on the left, boosting on the right.

    `benchmarks` is the table of :func:`treekit.datasets.load_benchmarks`. The tree that measures each cut from scratch
    grows by entropy, the other two by Gini; scikit-learn's boosting is HistGradientBoosting. Every second curve of a
    panel, that of 100 boosted trees, has hollow marks.
    """
    with plt.rc_context({"font.size": 13}):  # reads on a phone, too
        figure, panels = plt.subplots(1, 2, figsize=(6.4, 4.6), sharex=True, sharey=True, layout="constrained")
        times = benchmarks[benchmarks["measure"] == "CPU seconds"]
        lines: dict[str, Line2D] = {}
        for ax, (title, curves) in zip(panels, PANELS.items()):
            for i, (named, jobs) in enumerate(curves.items()):
                own = times[times["what"] == jobs[0]].drop_duplicates("n_rows")
                for (who, label), color, mark in zip(PROGRAMS.items(), CLASS_COLORS, MARKS):
                    others = times[times["what"].isin(jobs) & (times["peer"] == who)]
                    curve, seconds = (own, "treekit") if who == "treekit" else (others, "other")
                    if len(curve):
                        style = dict(marker=mark, markersize=5, linewidth=2.5 if who == "treekit" else 1.2)
                        face = "none" if i % 2 else color
                        (drawn,) = ax.loglog(
                            curve["n_rows"], curve[seconds], color=color, label=who, markerfacecolor=face, **style
                        )
                        lines.setdefault(label, drawn)
                if named:
                    first = own.iloc[0]
                    ax.annotate(
                        named, (first["n_rows"], first["treekit"]), (0, 9), textcoords="offset points", ha="center"
                    )
            ax.set(title=title, xlabel="rows")
            ax.spines[["top", "right"]].set_visible(False)
        panels[0].set_ylabel("seconds of CPU time")
        figure.legend(lines.values(), lines.keys(), loc="outside upper center", ncols=2, frameon=False)


def ratio_dots(ratios: pd.DataFrame, peer: str) -> Picture:
    """Ratios of two programs' times on a log axis: a line of dots for each job, one dot for each number of rows.

    `ratios` has a line for each job and a column for each number of rows; the more rows, the larger the dot.
    """
    bottom = 54 + 22 * len(ratios)
    plane = Plane((np.log2(0.08), np.log2(2.4)), (0, 1), (236, 40, 470, bottom))
    drawn = line(236, bottom, 470, bottom)
    for tick in (0.1, 0.2, 0.5, 1, 2):
        at = plane.x(np.log2(tick))
        ruler = {"stroke_dasharray": "6 4"} if tick == 1 else {"stroke_opacity": FAINT / 2}
        drawn += line(at, 32, at, bottom, **ruler) + text(at, bottom + 20, f"{tick:g}", text_anchor="middle")
    drawn += text(plane.x(0) - 8, 22, "treekit is faster", text_anchor="end") + text(plane.x(0) + 8, 22, "slower")
    for k, (job, row) in enumerate(ratios.iterrows()):
        y = 58 + 22 * k
        drawn += text(0, y + 5, str(job), font_size=13)
        for size, ratio in zip((2.5, 4, 5.5, 7), row):
            if ratio > 0:  # no comparison with NaN is true
                style = f"stroke: {class_color(0)}; fill: {class_color(0)}; fill-opacity: 0.55"
                drawn += circle(plane.x(np.log2(ratio)), y, size, style=style)
    drawn += text(353, bottom + 44, f"treekit's time / {peer}'s", text_anchor="middle")
    alt = (
        f"For each of {len(ratios)} fits treekit's time divided by {peer}'s, as dots on a logarithmic axis, larger for "
        f"more rows. {int((ratios > 1).sum().sum())} of {int(ratios.count().sum())} dots lie beyond the dashed line at "
        "1, where treekit is slower."
    )
    return Picture(alt, (480, bottom + 52), drawn)


def plot_learning(curve: pd.DataFrame) -> None:
    """Accuracy on held-out rows, one line for each column of `curve`, against the training rows, its index."""
    with plt.rc_context({"font.size": 13}):  # reads on a phone, too
        ax = axes("training rows (log axis)", "accuracy on held-out rows")
        for name, mark, color in zip(curve, MARKS, CLASS_COLORS):
            ax.semilogx(curve.index, curve[name], marker=mark, color=color, label=name)
        ax.set_xticks(curve.index, [str(n) for n in curve.index])
        ax.minorticks_off()
        ax.legend(frameon=False)
    plt.show()


def plot_traffic(megabytes: pd.DataFrame) -> None:
    """Megabytes that are sent, one line for each column of `megabytes`, against the number of rows, its index."""
    with plt.rc_context({"font.size": 13}):  # reads on a phone, too
        ax = axes("rows", "megabytes sent")
        for name, style, color in zip(megabytes, ["-", "--", ":"], CLASS_COLORS):
            ax.loglog(megabytes.index, megabytes[name], style, linewidth=2.5, color=color, label=name)
        ax.legend(frameon=False)
    plt.show()


def blocks_explorer(x: ArrayLike, y: ArrayLike, label: str, n_blocks: int = 4, max_bins: int = 5) -> Explorable:
    """Histograms of blocks of rows, added one after the other, and the cut that the sum so far would choose.

    `x` is a column of numbers and `y` whether each row is what `label` says; the rows are cut into blocks as they come.
    """
    x, is_second = np.asarray(x, dtype=float), np.asarray(y, dtype=bool)
    edges = bin_edges(x, max_bins)
    n_bins = len(edges) + 1
    code = bin_codes(x, edges)
    parts = np.array_split(np.arange(len(x)), n_blocks)
    counts = np.array([[np.bincount(code[i][is_second[i] == k], minlength=n_bins) for k in (0, 1)] for i in parts])
    highest = int(counts.sum(axis=(0, 1)).max())
    plane = Plane((0, n_bins), (0, highest), (44, 208, 464, 352))
    key = "".join(
        in_class(k, rect(270 + 110 * k, 8, 16, 16)) + text(292 + 110 * k, 21, name)
        for k, name in enumerate([f"not {label}", label])
    )
    ends = "".join(text(plane.x(b + 1), 373, f"{edge:.3f}", text_anchor="middle") for b, edge in enumerate(edges))
    background = plane.axes([], range(0, highest + 1, 2), "", "") + key + ends
    background += text(0, 21, "each block") + text(0, 186, "the sum of the blocks added")
    background += text(254, 396, "edges of the bins", text_anchor="middle")

    gini = Gini(code[:0].astype(np.intp), n_classes=2)  # a criterion on sums needs no rows

    def bars(sums: NDArray, plane: Plane) -> str:
        drawn = []
        for b, (first, second) in enumerate(sums.T.tolist()):
            left, width, bottom = plane.x(b + 0.12), plane.x(0.76) - plane.x(0), 0
            for k, n in ((0, first), (1, second)):
                if n:
                    drawn.append(
                        in_class(k, rect(left, plane.y(bottom + n), width, plane.y(bottom) - plane.y(bottom + n)))
                    )
                bottom += n
        return "".join(drawn)

    small = [
        Plane((0, n_bins), (0, int(counts.sum(axis=1).max())), (120 * i, 44, 120 * i + 104, 104))
        for i in range(n_blocks)
    ]
    for i, (block, own) in enumerate(zip(counts, small)):
        background += bars(block, own) + line(120 * i, 104, 120 * i + 104, 104)
        background += text(120 * i + 52, 124, f"{block.sum()} rows", text_anchor="middle")

    def state(order: str, n_added: int) -> tuple[str, str]:
        added = list(range(n_blocks) if order == "first to last" else reversed(range(n_blocks)))[:n_added]
        sums = counts[added].sum(axis=0)
        told = f"{len(added)} of {n_blocks} blocks, {sums.sum()} rows: "
        frames = "".join(rect(120 * i, 34, 104, 98, rx=6, fill="none", stroke="currentColor") for i in added)
        drawn = frames + bars(sums, plane)
        if not sums.any(axis=1).all():
            return drawn, told + ("all of one class, nothing to cut." if added else "no histogram has arrived.")
        total = sums.sum(axis=1, keepdims=True)
        gains = gini.gain(gini.saving(sums.cumsum(axis=1)[:, :-1], total), total)
        best = int(gains.argmax())
        at = plane.x(best + 1)
        cut = line(at, 200, at, 352, stroke_width=2, stroke_dasharray="6 4")
        cut += text(at + 6, 206, "best cut")
        return drawn + cut, f"{told}the best cut is at {edges[best]:.3f}, with a Gini gain of {gains[best]:.3f}."

    return Explorable(
        title="Histograms of blocks, added up",
        alt=f"Above, {n_blocks} small histograms, one for each block: the rows of each of {n_bins} bins by class, "
        f"those that are {label} on top. Below, room for their sum. As the blocks are added, the bars of the sum "
        "grow, and a dashed line marks the edge at which it would be cut.",
        size=(480, 404),
        background=background,
        controls=[
            Choice("Order of the blocks", ["first to last", "last to first"]),
            Slider("Blocks added", list(range(n_blocks + 1)), start=0),
        ],
        frame=state,
        challenge="How many blocks does it take until there is a cut? Does the order change where it ends?",
    )
