"""The figures of the chapter on ID3."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from treekit.measures import conditional_entropy, entropy, entropy_of_counts, information_gain
from treekit.showing.explorable import Choice, Explorable
from treekit.showing.figures.shared import LINE, Plot, axes, current_plot, in_class
from treekit.showing.palette import CLASS_COLORS, class_color
from treekit.showing.svg import FAINT, Plane, line, rect, text


def split_explorer(frame: pd.DataFrame, target: str) -> Explorable:
    """Each attribute of `frame` as a question about the column `target`: class counts, branch entropies, mean and gain.

    `frame` is a table of words without missing entries, small enough (about 40 rows) to draw each row as a square.
    """
    if frame.isna().any(axis=None):
        raise ValueError("frame must have no missing entries")
    attributes = [column for column in frame.columns if column != target]
    # Classes in the order of the alphabet, as a tree has them: a class has one colour in every drawing.
    tables = {a: pd.crosstab(frame[a], frame[target].astype(str)) for a in attributes}
    classes = list(tables[attributes[0]].columns)
    n, before = len(frame), entropy(frame[target])
    mean_y = 100 + LINE * max(len(table) for table in tables.values())
    bits = Plane((0, float(np.log2(len(classes)))), (0, 1), (336, 0, 426, 1))

    def bar(y: float, start: float, end: float, **attributes: object) -> str:
        """An entropy, or a piece of one, and its amount."""
        drawn = rect(bits.x(start), y - 12, bits.x(end) - bits.x(start), 14, **attributes)
        return drawn + text(480, y, f"{end - start:.3f}", text_anchor="end")

    def group(y: float, name: str, counts: Sequence[int]) -> str:
        """One line: a name, a square for each row, class by class, and the entropy."""
        side = min(11, 190 / n)
        ends = np.cumsum(counts)
        squares = "".join(
            in_class(k, "".join(rect(133 + side * i, y - 9, 0.64 * side, 7) for i in range(end - count, end)))
            for k, (count, end) in enumerate(zip(counts, ends, strict=True))
        )
        return text(0, y, name) + squares + bar(y, 0, float(entropy_of_counts(counts)), fill_opacity=0.5)

    legend, x = "", 3
    for k, name in enumerate(f"{target}: {label}" for label in classes):
        legend += in_class(k, rect(x, 9, 8, 8)) + text(x + 15, 18, name)
        x += 30 + 8 * len(name)
    background = (
        legend
        + text(480, 18, "entropy (bits)", text_anchor="end")
        + group(54, f"all {n} rows", tables[attributes[0]].sum().tolist())
        + line(0, 68, 480, 68, stroke_opacity=FAINT)
        + line(0, mean_y - 24, 480, mean_y - 24, stroke_opacity=FAINT)
        + line(bits.x(before), 58, bits.x(before), mean_y + LINE + 4, stroke_dasharray="3 4")
        + text(0, mean_y, "mean over all rows")
        + text(0, mean_y + LINE, "gain: what the question took away")
    )

    def state(attribute: str) -> tuple[str, str]:
        table = tables[attribute]
        after = conditional_entropy(frame[attribute], frame[target])
        drawing = (
            "".join(group(94 + LINE * i, str(value), table.loc[value].tolist()) for i, value in enumerate(table.index))
            + bar(mean_y, 0, after, fill_opacity=0.5)
            + bar(mean_y + LINE, after, before, style=f"fill: {class_color(2)}")
        )
        terms = " + ".join(
            f"{counts.sum()}/{n} × {float(entropy_of_counts(counts)):.3f}" for counts in table.to_numpy()
        )
        gain = information_gain(frame[attribute], frame[target])
        sentence = (
            f"After a split on {attribute}, {terms} = {after:.3f} bits are left of "
            f"{before:.3f}. The gain, rounded last, is {gain:.3f} bits."
        )
        return drawing, sentence

    return Explorable(
        title="What one question leaves open",
        alt=f"The {n} rows as squares in the colour of their class: first all together with their entropy, then one "
        f"group for each value of {attributes[0]}, with its entropy as a bar. Below, the groups' mean and the gain.",
        size=(480, mean_y + LINE + 12),
        background=background,
        controls=[Choice("Split on", attributes)],
        frame=state,
        challenge="Which question has the largest gain? Is it the only one? Which questions gain next to nothing?",
    )


def plot_chance(chance: pd.Series, gain: float, name: str) -> Plot:
    """The mean gain of random columns, `chance`, against their number of values, and the gain of a real attribute."""
    with plt.rc_context({"font.size": 13}):
        ax = axes("values of the random column", "mean gain (bits)")
        ax.plot(chance.index, chance, marker="o", color=CLASS_COLORS[0])
        ax.axhline(gain, color=CLASS_COLORS[1], linestyle="--")
        ax.annotate(name, (chance.index[-1], gain), xytext=(0, -6), textcoords="offset points", ha="right", va="top")
        ax.set(xticks=chance.index, ylim=(0, None))
    return current_plot()


def plot_threshold(means: pd.DataFrame) -> Plot:
    """Accuracy on training rows and on held-out rows, the columns of `means`, against the threshold, its index."""
    with plt.rc_context({"font.size": 13}):  # reads on a phone, too
        ax = axes("threshold min_gain (bits)", "accuracy")
        for k, name in enumerate(["training", "held-out"]):
            ax.plot(means.index, means[name], marker="os"[k], color=CLASS_COLORS[k], label=f"{name} rows")
        best = means["held-out"].idxmax()
        ax.axvline(best, color="black", linestyle=":")
        ax.annotate("best on\nheld-out rows", (best, 1), xytext=(6, 0), textcoords="offset points", va="top")
        ax.set(ylim=(0.45, 1.02))
        ax.legend(loc="lower left", frameon=False)
    return current_plot()
