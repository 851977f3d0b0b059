"""The figures of the chapter on continuous and missing values."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from treekit.growing.thresholds import midpoint
from treekit.measures import entropy_of_counts, gain_of_counts
from treekit.showing.explorable import Choice, Explorable, Slider
from treekit.showing.figures.shared import Picture, in_class
from treekit.showing.palette import CLASS_COLORS, class_color
from treekit.showing.svg import FAINT, Plane, circle, line, rect, text


def _cuts(x: pd.Series, y: pd.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Distinct values of a column, the midpoints between them, the class counts (cut, side, class), and the gains."""
    table = pd.crosstab(x, y.astype(str))
    values, below = table.index.to_numpy(float), table.to_numpy().cumsum(axis=0)
    counts = np.stack([below[:-1], below[-1] - below[:-1]], axis=1)
    return values, midpoint(values[:-1], values[1:]), counts, gain_of_counts(counts)


def _steps(plane: Plane, values: np.ndarray, gain: np.ndarray) -> str:
    """The gain of every threshold: the same from each value up to the next."""
    drawn = "".join(
        line(plane.x(a), plane.y(g), plane.x(b), plane.y(g), stroke_width=2)
        for (a, b), g in zip(pairwise(values), gain)
    )
    rises = zip(values[1:-1], pairwise(gain))
    return drawn + "".join(
        line(plane.x(a), plane.y(g), plane.x(a), plane.y(h), stroke_opacity=FAINT) for a, (g, h) in rises
    )


def _ticks(values: np.ndarray) -> list[float]:
    """Tenths within the range of the values."""
    return [k / 10 for k in range(int(np.ceil(10 * values[0])), int(np.floor(10 * values[-1])) + 1)]


def threshold_explorer(frame: pd.DataFrame, columns: list[str], target: str) -> Explorable:
    """A threshold that slides over one of the `columns` of numbers: both sides, their entropies, and the gain.

    All columns need the same number of distinct values, so that they have as many cuts.
    """
    classes = sorted(frame[target].astype(str).unique())
    code = frame[target].astype(str).map(classes.index).to_numpy()
    cuts = {column: _cuts(frame[column], frame[target]) for column in columns}
    if len({len(gain) for *_, gain in cuts.values()}) > 1:
        raise ValueError("columns must have the same number of distinct values")
    n, n_cuts = len(frame), len(cuts[columns[0]][3])
    before = float(entropy_of_counts(np.bincount(code)))
    top = max(0.3, *(float(gain.max()) for *_, gain in cuts.values()))
    row_y = [46 + 22 * k for k in range(len(classes))]
    bar_y, curve_y = row_y[-1] + 56, row_y[-1] + 196
    bits = Plane((0, 1), (0, 1), (290, 0, 420, 1))

    def bar(y: float, words: str, start: float, end: float, **style: object) -> str:
        drawn = rect(bits.x(start), y - 12, bits.x(end) - bits.x(start), 14, **style)
        return text(0, y, words) + drawn + text(480, y, f"{end - start:.3f}", text_anchor="end")

    def state(column: str, cut: int) -> tuple[str, str]:
        values, thresholds, counts, gain = cuts[column]
        t, sides, g = thresholds[cut - 1], counts[cut - 1], float(gain[cut - 1])
        plane = Plane((values[0], values[-1]), (0, top), (60, curve_y, 470, curve_y + 110))
        points = "".join(
            in_class(k, "".join(circle(plane.x(v), row_y[k], 4.5) for v in frame[column][code == k]))
            for k in range(len(classes))
        )
        entropies = [float(entropy_of_counts(side)) for side in sides]
        told = [", ".join(f"{count} {name}" for count, name in zip(side, classes)) for side in sides]
        at = plane.x(t)
        drawing = (
            points
            + line(at, row_y[0] - 14, at, row_y[-1] + 14, stroke_width=2)
            + text(min(max(at, 90), 440), row_y[0] - 22, f"t = {number_of(t)}", text_anchor="middle")
            + bar(bar_y, f"{column} ≤ t: {told[0]}", 0, entropies[0], fill_opacity=0.5)
            + bar(bar_y + 26, f"{column} > t: {told[1]}", 0, entropies[1], fill_opacity=0.5)
            + bar(bar_y + 52, "mean over all rows", 0, before - g, fill_opacity=0.5)
            + bar(bar_y + 78, "gain", before - g, before, style=f"fill: {class_color(2)}")
            + plane.axes(_ticks(values), [0, 0.1, 0.2, 0.3], column, "gain (bits) against the threshold")
            + _steps(plane, values, gain)
            + line(at, plane.box[1], at, plane.box[3], stroke_dasharray="3 4")
            + circle(at, plane.y(g), 6, style=f"fill: {class_color(2)}")
        )
        sizes = [int(side.sum()) for side in sides]
        terms = " + ".join(f"{size}/{n} × {h:.3f}" for size, h in zip(sizes, entropies))
        sentence = (
            f"{column} ≤ {number_of(t)}: {told[0]}; above: {told[1]}. "
            f"{terms} = {before - g:.3f} bits are left of {before:.3f}. The gain is {g:.3f} bits."
        )
        return drawing, sentence

    names = "".join(text(0, y + 5, f"{target}: {name}", font_size=13) for y, name in zip(row_y, classes))
    background = (
        names
        + text(480, bar_y - 24, "entropy (bits)", text_anchor="end")
        + line(bits.x(before), bar_y - 14, bits.x(before), bar_y + 84, stroke_dasharray="3 4")
    )
    best = int(np.argmax(cuts[columns[0]][3])) + 1
    return Explorable(
        title="Slide the threshold",
        alt=f"The {n} rows as dots by their {columns[0]}, one line for each class, cut by a threshold. Below, the "
        "class "
        f"counts and the entropy of both sides, their mean and the gain as bars; and the gain against the threshold, "
        f"a curve of {n_cuts} steps, on which the threshold stands at the highest.",
        size=(480, curve_y + 160),
        background=background,
        controls=[Choice("Column", columns), Slider("Cut number", list(range(1, n_cuts + 1)), start=best)],
        frame=state,
        challenge="Can you find the best cut of each column? Where does moving the cut by one row change the gain "
        "most?",
    )


def number_of(t: float) -> str:
    """A threshold with at most four decimals."""
    return f"{t:.4f}".rstrip("0")


def boundary_cuts(frame: pd.DataFrame, column: str, target: str) -> Picture:
    """The gain against the threshold; the cuts between two rows of different classes are filled, the others hollow."""
    values, thresholds, _, gain = _cuts(frame[column], frame[target])
    rows = pd.crosstab(frame[column], frame[target].astype(str)).to_numpy() > 0
    is_boundary = (rows[:-1] | rows[1:]).sum(axis=1) > 1
    plane = Plane((values[0], values[-1]), (0, max(0.3, float(gain.max()))), (50, 44, 470, 204))
    dots = "".join(
        circle(
            plane.x(t), plane.y(g), 5, stroke="currentColor", fill="currentColor", fill_opacity=int(b), stroke_width=1.5
        )
        for t, g, b in zip(thresholds, gain, is_boundary)
    )
    marks = ""
    for k, name in enumerate(sorted(frame[target].astype(str).unique())):
        shown = frame[column][frame[target].astype(str) == name]
        marks += in_class(k, "".join(circle(plane.x(v), 270 + 20 * k, 4) for v in shown)) + text(0, 275 + 20 * k, name)
    best = int(gain.argmax())
    alt = (
        f"Gain against the threshold on {column}, with {len(gain)} cuts as dots, {int(is_boundary.sum())} of them "
        "filled: "
        f"those between rows of different classes. The highest dot, at {number_of(thresholds[best])}, is filled; "
        "beside each "
        f"hollow dot stands a filled one that is higher. Below stand the rows, one line for each class."
    )
    axes = plane.axes(_ticks(values), [0, 0.1, 0.2, 0.3], column, "gain (bits); filled: between two classes")
    return Picture(alt, (480, 306), axes + _steps(plane, values, gain) + dots + marks)


def plot_with_holes(runs: pd.DataFrame) -> None:
    """Accuracy of each way (rows) for each kind of holes (panels): every run as a dot, their mean as a bar.

    `runs` has the columns holes, way and accuracy.
    """
    kinds, ways = runs["holes"].unique(), runs["way"].unique()
    with plt.rc_context({"font.size": 12}):
        _, panels = plt.subplots(1, len(kinds), figsize=(6.4, 3.6), sharex=True, sharey=True, layout="constrained")
        for ax, kind in zip(panels, kinds, strict=True):
            for place, way in enumerate(ways):
                accuracy = runs.loc[(runs["holes"] == kind) & (runs["way"] == way), "accuracy"]
                ax.plot(accuracy, np.full(len(accuracy), place), "o", markersize=4, alpha=0.4, color=CLASS_COLORS[0])
                ax.plot([accuracy.mean()] * 2, [place - 0.3, place + 0.3], color="black", linewidth=2)
            ax.set(title=kind, yticks=range(len(ways)), yticklabels=ways)
            ax.spines[["top", "right"]].set_visible(False)
        panels[0].invert_yaxis()
        panels[len(kinds) // 2].set_xlabel("share of held-out rows told right")
    plt.show()
