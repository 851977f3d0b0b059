"""The figures of the chapter on ID3."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from figures.explorable import Choice, Explorable, Place
from figures.plots import axes, plotted
from figures.scene import LINE, OUTLINE, Chart, ending, filled, melon, ripe_and_unripe
from treekit.measures import entropy, information_gain
from treekit.pen.palette import BAR, CLASS_COLORS, GAIN
from treekit.pen.svg import FAINT, circle, element, line, rect, text

PITCH = 23  # pixels from one melon to the next
NOT_YET = "nothing yet"


def split_explorer(frame: pd.DataFrame, target: str, rival: str) -> Explorable:
    """The melons of `frame` move into the groups of a question, beside their entropies, the mean and the gain.

    The reader looks for the attributes that gain as much as `rival`, the best one. `frame` is a table of words with at
    most nine rows and no missing entries, `target` its column of the labels yes and no.
    """
    if frame.isna().any(axis=None):
        raise ValueError("frame must have no missing entries")
    attributes = [column for column in frame.columns if column != target]
    labels = frame[target].astype(str)
    n, before = len(frame), entropy(labels)
    gains = {a: information_gain(frame[a], labels) for a in attributes}
    others = [a for a in attributes if a != rival]
    equals = [a for a in others if np.isclose(gains[a], gains[rival])]
    groups = {a: frame.groupby(a, observed=True).groups for a in attributes}
    n_lines = max(map(len, groups.values()))
    top, height = 100, 48  # of the first group; of each: a name, its melons below
    mean_y = top + height * n_lines + 22
    bits = Chart((0, 1), (0, 1), (232, 0, 342, 1))

    def side_by_side(rows: Iterable, y: float) -> dict[object, Place]:
        return {row: (12 + PITCH * i, y) for i, row in enumerate(rows)}

    def amount(y: float, value: float) -> str:
        return ending(400, y + 5, f"{value:.3f}")

    first_y = 62
    seats = side_by_side(frame.index, first_y)

    def state(attribute: str) -> tuple[str, str, dict]:
        if attribute == NOT_YET:
            n_ripe = int((labels == "yes").sum())
            return "", f"All {n} melons, {n_ripe} of them ripe. Their entropy is {before:.3f} bits.", dict(seats)
        drawn, terms = "", []
        places: dict[object, Place] = {}
        for i, (value, rows) in enumerate(groups[attribute].items()):
            y, left = top + height * i, entropy(labels.loc[rows])
            places |= side_by_side(rows, y + 18)
            places[f"entropy {i}"] = (bits.x(0), y + 18, bits.x(left) - bits.x(0), 1)
            drawn += text(0, y, str(value)) + amount(y + 18, left)
            terms.append(f"{len(rows)}/{n} × {left:.3f}")
        after = before - gains[attribute]
        places["mean"] = (bits.x(0), mean_y - 5, bits.x(after) - bits.x(0), 1)
        places["gain"] = (bits.x(after), mean_y + LINE - 5, bits.x(before) - bits.x(after), 1)
        drawn += amount(mean_y - 5, after) + amount(mean_y + LINE - 5, gains[attribute])
        sentence = (
            f"After a split on {attribute}, {' + '.join(terms)} = {after:.3f} bits are left of "
            f"{before:.3f}. The gain, rounded last, is {gains[attribute]:.3f} bits."
        )
        return element("g", drawn, font_size=13), sentence, places

    bar = rect(0, -7, 1, 14, fill_opacity=BAR)
    marks: dict[object, str] = {"mean": bar}
    marks |= {f"entropy {i}": bar for i in range(n_lines)}
    marks["gain"] = rect(0, -7, 1, 14, **filled(GAIN))
    marks |= {row: melon(row, label == "yes", radius=10.5) for row, label in labels.items()}
    empty = "".join(circle(seats[row][0], seats[row][1], 10) for row in frame.index)
    background = (
        ripe_and_unripe(12, 9)
        + ending(400, 14, "entropy (bits)")
        + text(0, 44, f"all {n} melons")
        + element("g", empty, **OUTLINE, stroke_opacity=FAINT, stroke_dasharray="2 3")
        + rect(bits.x(0), first_y - 7, bits.x(before) - bits.x(0), 14, fill_opacity=BAR)
        + amount(first_y, before)
        + line(0, top - 22, 400, top - 22, stroke_opacity=FAINT)
        + line(0, mean_y - 22, 400, mean_y - 22, stroke_opacity=FAINT)
        + line(bits.x(before), first_y + 7, bits.x(before), mean_y + LINE + 4, stroke_dasharray="3 4")
        + text(0, mean_y, f"mean over all {n}")
        + text(0, mean_y + LINE, "gain")
    )
    shown = equals[-1]
    return Explorable(
        title="What one question leaves open",
        alt=f"The {n} melons as numbered circles, hollow if ripe, in one group for each value of {shown}, with its "
        "entropy as a bar. Below, the groups' mean and the gain.",
        size=(400, mean_y + LINE + 12),
        background=element("g", background, font_size=13),
        marks=marks,
        controls=[Choice("Split on", [NOT_YET, *attributes], start=shown, opens=NOT_YET)],
        frame=state,
        found=lambda attribute: attribute in equals,
        guess=Choice(f"Your guess: which question gains as much as the {rival}?", others),
        challenge=f"Find the questions that gain as much as the {rival}. Which ones gain next to nothing?",
    )


@plotted
def plot_chance(chance: pd.Series, gain: float, name: str) -> None:
    """The mean gain of random columns, `chance`, against their number of values, and the gain of a real attribute."""
    ax = axes("values of the random column", "mean gain (bits)")
    ax.plot(chance.index, chance, marker="o", color=CLASS_COLORS[0])
    ax.axhline(gain, color=CLASS_COLORS[1], linestyle="--")
    ax.annotate(name, (chance.index[-1], gain), xytext=(0, -6), textcoords="offset points", ha="right", va="top")
    ax.set(xticks=chance.index, ylim=(0, None))


@plotted
def plot_threshold(means: pd.DataFrame) -> None:
    """Accuracy on training rows and on held-out rows, the columns of `means`, against the threshold, its index."""
    ax = axes("threshold min_gain (bits)", "accuracy")
    for k, name in enumerate(["training", "held-out"]):
        ax.plot(means.index, means[name], marker="os"[k], color=CLASS_COLORS[k], label=f"{name} rows")
    best = means["held-out"].idxmax()
    ax.axvline(best, color="black", linestyle=":")
    ax.annotate("best on\nheld-out rows", (best, 1), xytext=(6, 0), textcoords="offset points", va="top")
    ax.set(ylim=(0.45, 1.02))
    ax.legend(loc="lower left", frameon=False)
