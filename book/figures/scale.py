"""The figures of the chapter on scale."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from figures.explorable import Choice, Explorable, Panel, Slider
from figures.plots import PLOT_WIDTH, axes, plain_ticks, plotted
from figures.scene import OUTLINE, Chart, Picture, centred, ending, filled, melon, ripe_and_unripe
from treekit.growing.binning import bin_codes, bin_edges
from treekit.growing.criteria import Gini
from treekit.pen.palette import BAR, CLASS_COLORS, RIPE, UNRIPE, class_color
from treekit.pen.svg import FAINT, circle, line, rect, text

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
    figure, panels = plt.subplots(1, 2, figsize=(PLOT_WIDTH, 4.6), sharex=True, sharey=True, layout="constrained")
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
                place, end = ((0, 9), "center") if i == 0 else ((8, 9), "right")  # clear of the line before
                ax.annotate(named, (first["n_rows"], first["treekit"]), place, textcoords="offset points", ha=end)
        ax.set(title=title, xlabel="rows")
        plain_ticks(ax)
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("seconds of CPU time")
    figure.legend(lines.values(), lines.keys(), loc="outside upper center", ncols=2, frameon=False)


def ratio_dots(ratios: pd.DataFrame, peer: str) -> Picture:
    """Ratios of two programs' times on a log axis: a line of dots for each job, one dot for each number of rows.

    `ratios` has a line for each job and a column for each number of rows; the more rows, the larger the dot.
    """
    bottom = 44 + 32 * len(ratios)
    low, high = min(0.08, 0.9 * ratios.min(axis=None)), max(2.4, 1.1 * ratios.max(axis=None))
    plane = Chart((np.log2(low), np.log2(high)), (0, 1), (10, 40, 470, bottom))
    drawn = line(10, bottom, 470, bottom)
    for tick in (0.1, 0.2, 0.5, 1, 2):
        at = plane.x(np.log2(tick))
        ruler = {"stroke_dasharray": "6 4"} if tick == 1 else {"stroke_opacity": FAINT / 2}
        drawn += line(at, 32, at, bottom, **ruler) + centred(at, bottom + 20, f"{tick:g}")
    drawn += ending(plane.x(0) - 8, 22, "treekit is faster") + text(plane.x(0) + 8, 22, "slower")
    for k, (job, row) in enumerate(ratios.iterrows()):
        y = 40 + 32 * k  # the name of a job stands above its dots, so that both have the whole width
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
    for name, mark, color in zip(curve, MARKS, CLASS_COLORS):
        ax.semilogx(curve.index, curve[name], marker=mark, color=color, label=name)
    ax.set_xticks(curve.index, [str(n) for n in curve.index])
    ax.minorticks_off()
    ax.legend(frameon=False)


@plotted
def plot_traffic(megabytes: pd.DataFrame) -> None:
    """Megabytes that are sent, one line for each column of `megabytes`, against the number of rows, its index."""
    ax = axes("rows", "megabytes sent")
    for name, style, color in zip(megabytes, ["-", "--", ":"], CLASS_COLORS):
        ax.loglog(megabytes.index, megabytes[name], style, linewidth=2.5, color=color, label=name)
    plain_ticks(ax)
    ax.legend(frameon=False)


def blocks_explorer(x: pd.Series, is_ripe: pd.Series, n_blocks: int = 4, max_bins: int = 5) -> Explorable:
    """Melons at their stalls, sorted into bins, and beside them the sum of the counts sent so far, with its best cut.

    `x` is a column of numbers; the rows are cut into blocks as they come.
    """
    ripe = is_ripe.to_numpy(bool)
    edges = bin_edges(x.to_numpy(float), max_bins)
    n_bins = len(edges) + 1
    code = bin_codes(x.to_numpy(float), edges)
    parts = np.array_split(np.arange(len(x)), n_blocks)
    counts = np.array([[np.bincount(code[i][ripe[i] == k], minlength=n_bins) for k in (0, 1)] for i in parts])
    highest = int(counts.sum(axis=(0, 1)).max())
    orders = {"1 2 3 4": list(range(n_blocks)), "4 3 2 1": list(range(n_blocks))[::-1]}
    gini = Gini(code[:0].astype(np.intp), n_classes=2)  # a criterion on sums needs no rows

    # The stalls, two in a row; in each the melons lie in the column of their bin, unripe ones below.
    tall = 27 * int(counts.sum(axis=1).max()) + 40
    spots, stalls = {}, ""
    for i, rows in enumerate(parts):
        left, bottom = 6 + 240 * (i % 2), (tall + 34) * (i // 2 + 1)
        stalls += text(left, bottom - tall + 20, f"stall {i + 1}") + line(left, bottom, left + 228, bottom)
        for b in range(n_bins):
            lying = sorted(rows[code[rows] == b], key=lambda n: ripe[n])
            for level, n in enumerate(lying):
                spots[n] = (left + 23 + 45 * b, bottom - 15 - 27 * level)
    boxes = [(2 + 240 * (i % 2), (tall + 34) * (i // 2 + 1) - tall) for i in range(n_blocks)]
    melons = "".join(melon(x.index[n], bool(ripe[n]), *spot) for n, spot in spots.items())

    plane = Chart((0, n_bins), (0, highest), (44, 40, 468, 300))
    ends = "".join(centred(plane.x(b + 1), 322, f"{edge:.3f}") for b, edge in enumerate(edges))

    def best_cut(n_added: int, order: str) -> tuple[int, float] | None:
        """The bin after which the sum so far is cut, and the gain; None while it has one class only."""
        sums = counts[orders[order][:n_added]].sum(axis=0)
        if not sums.any(axis=1).all():
            return None
        total = sums.sum(axis=1, keepdims=True)
        gains = gini.gain(gini.saving(sums.cumsum(axis=1)[:, :-1], total), total)
        return int(gains.argmax()), float(gains.max())

    def cut_bin(n_added: int, order: str) -> int | None:
        cut = best_cut(n_added, order)
        return cut[0] if cut else None

    def state(order: str, n_added: int) -> tuple[str, str]:
        added = orders[order][:n_added]
        frames = "".join(rect(*boxes[i], 236, tall + 6, rx=6, **OUTLINE, stroke_width=2) for i in added)
        opening = f"{n_added} of {n_blocks} histograms, {counts[added].sum()} melons: "
        cut = best_cut(n_added, order)
        if cut is None:
            return frames, opening + ("all of one class, nothing to cut." if added else "none has arrived.")
        return frames, f"{opening}the best cut is at {edges[cut[0]]:.3f}, with a Gini gain of {cut[1]:.3f}."

    def summed(order: str, n_added: int) -> tuple[str, dict]:
        sums = counts[orders[order][:n_added]].sum(axis=0)
        one = plane.y(0) - plane.y(1)
        places: dict = {}
        for b, (unripe, ripe_ones) in enumerate(sums.T.tolist()):
            for kind, n, top in ((UNRIPE, unripe, unripe), (RIPE, ripe_ones, unripe + ripe_ones)):
                places[f"bin {b} class {kind}"] = (plane.x(b + 0.12), plane.y(top), 1, n * one, 1 if n else 0)
        cut = best_cut(n_added, order)
        return "", places | ({"cut": (plane.x(cut[0] + 1), 36)} if cut else {})

    width = plane.x(0.76) - plane.x(0)
    marks = {
        f"bin {b} class {kind}": rect(0, 0, width, 1, **filled(kind), fill_opacity=(1, BAR)[kind])
        for b in range(n_bins)
        for kind in (UNRIPE, RIPE)
    }
    marks["cut"] = line(0, 0, 0, 264, stroke_width=3, stroke_dasharray="6 4") + text(6, 10, "best cut")
    low = 2 * (tall + 34)
    last = cut_bin(n_blocks, "1 2 3 4")
    return Explorable(
        title="Four stalls, one histogram",
        alt=f"{n_blocks} stalls with the {len(x)} melons as numbered circles, hollow if ripe, each melon in the column "
        "of its bin of density. All stalls are framed: their counts have been added up.",
        size=(480, low + 36),
        background=stalls + melons + ripe_and_unripe(18, low + 20),
        controls=[
            Choice("Order of the stalls", list(orders)),
            Slider("Histograms added", list(range(n_blocks + 1)), start=n_blocks, opens=0),
        ],
        frame=state,
        found=lambda order, n: n > 0 and cut_bin(n, order) == last != cut_bin(n - 1, order),
        guess=Choice(
            f"Your guess for the order {next(iter(orders))}: after how many histograms is the cut that of all melons?",
            list(range(1, n_blocks + 1)),
        ),
        challenge="In each order, find the histogram after which the best cut no longer moves.",
        beside=Panel(
            "The sum of the four histograms: a bar for each bin, unripe melons below and ripe ones above, and a dashed "
            "line at the best cut.",
            (480, 372),
            plane.axes([], range(0, highest + 1, 2), "", "the sum so far, in each bin of density")
            + ends
            + centred(256, 350, "edges of the bins"),
            summed,
            marks,
        ),
    )
