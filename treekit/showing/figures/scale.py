"""The figures of the chapter on scale."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from treekit.growing.binning import bin_codes, bin_edges
from treekit.growing.criteria import Gini
from treekit.showing.explorable import Choice, Explorable, Slider
from treekit.showing.figures.shared import in_class
from treekit.showing.palette import CLASS_COLORS
from treekit.showing.svg import Plane, line, rect, text

#: The jobs that each panel shows: treekit's time is that of the first.
PANELS = {
    "One tree, depth 8": ["CARTClassifier fit, depth 8", "entropy tree fit, depth 8"],
    "Boosting, 10 trees, 256 bins": ["GBDT histogram fit, 10 trees"],
}
PROGRAMS = ["treekit", "scikit-learn", "the sources' way", "xgboost", "LightGBM"]
MARKS = "osD^v"


def plot_times(benchmarks: pd.DataFrame) -> None:
    """CPU time of a fit against rows, on log axes, for every program: one tree on the left, boosting on the right.

    `benchmarks` is the table of :func:`treekit.datasets.load_benchmarks`. The sources' way grows by entropy, the other
    two trees by Gini; scikit-learn's boosting is HistGradientBoosting.
    """
    figure, panels = plt.subplots(1, 2, figsize=(6.4, 4.2), sharex=True, sharey=True, layout="constrained")
    times = benchmarks[benchmarks["measure"] == "CPU seconds"]
    lines = {}
    for ax, (title, shown) in zip(panels, PANELS.items()):
        for who, color, mark in zip(PROGRAMS, CLASS_COLORS, MARKS):
            if who == "treekit":
                curve, seconds, width = times[times["what"] == shown[0]].drop_duplicates("n_rows"), "treekit", 2.5
            else:
                curve, seconds, width = times[times["what"].isin(shown) & (times["peer"] == who)], "other", 1.2
            if len(curve):
                (lines[who],) = ax.loglog(
                    curve["n_rows"], curve[seconds], color=color, marker=mark, markersize=5, linewidth=width, label=who
                )
        ax.set(title=title, xlabel="rows")
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("seconds of CPU time")
    figure.legend(handles=list(lines.values()), loc="outside upper center", ncols=3, frameon=False)


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
    plane = Plane((0, n_bins), (0, highest), (44, 74, 464, 254))
    key = "".join(
        in_class(k, rect(270 + 110 * k, 8, 16, 16)) + text(292 + 110 * k, 21, name)
        for k, name in enumerate([f"not {label}", label])
    )
    ends = "".join(text(plane.x(b + 1), 275, f"{edge:.3f}", text_anchor="middle") for b, edge in enumerate(edges))
    background = plane.axes([], range(0, highest + 1, 2), "", "") + key + ends
    background += text(0, 21, "rows in each bin") + text(254, 298, "edges of the bins", text_anchor="middle")

    gini = Gini(code[:0].astype(np.intp), n_classes=2)  # a criterion on sums needs no rows

    def bars(sums: NDArray) -> str:
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

    def state(order: str, n_added: int) -> tuple[str, str]:
        added = list(range(n_blocks) if order == "first to last" else reversed(range(n_blocks)))[:n_added]
        sums = counts[added].sum(axis=0)
        told = f"{len(added)} of {n_blocks} blocks, {sums.sum()} rows: "
        if not sums.any(axis=1).all():
            return bars(sums), told + ("all of one class, nothing to cut." if added else "no histogram has come in.")
        total = sums.sum(axis=1, keepdims=True)
        gains = gini.gain(gini.saving(sums.cumsum(axis=1)[:, :-1], total), total)
        best = int(gains.argmax())
        at = plane.x(best + 1)
        cut = line(at, 62, at, 254, stroke_width=2, stroke_dasharray="6 4") + text(
            at, 56, "best cut", text_anchor="middle"
        )
        return bars(sums) + cut, f"{told}the best cut is at {edges[best]:.3f}, with a Gini gain of {gains[best]:.3f}."

    return Explorable(
        title="Histograms of blocks, added up",
        alt=f"Bars over {n_bins} bins, each bar the rows of a bin by class, those that are {label} above. All "
        f"{n_blocks} blocks "
        "are added up; a dashed line marks the edge at which the sum of all would be cut.",
        size=(480, 306),
        background=background,
        controls=[
            Choice("Order of the blocks", ["first to last", "last to first"]),
            Slider("Blocks added", list(range(n_blocks + 1)), start=n_blocks),
        ],
        frame=state,
        challenge="Which block moves the best cut? Does the order in which they come change where it ends?",
    )
