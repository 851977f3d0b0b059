"""The figures of the chapter on scale."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd

from treekit.palette import CLASS_COLORS

#: The jobs that each panel shows: treekit's time is that of the first.
PANELS = {
    "One tree, depth 8": ["CARTClassifier fit, depth 8", "entropy tree fit, depth 8"],
    "Boosting, 10 trees, 256 bins": ["GBDT histogram fit, 10 trees"],
}
PROGRAMS = ["treekit", "scikit-learn", "the sources' way", "xgboost", "LightGBM"]
MARKS = "osD^v"


def plot_times(benchmarks: pd.DataFrame) -> None:
    """CPU time of a fit against rows, on log axes, for every program: one tree on the left, boosting on the right.

    `benchmarks` is the table of `book/data/benchmarks.csv`. The sources' way grows by entropy, the other two trees by Gini;
    scikit-learn's boosting is HistGradientBoosting.
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
