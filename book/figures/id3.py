"""The figures of the chapter on ID3."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from figures.charts import Chart, Picture
from figures.explorable import Choice, Explorable, Place, Places, Scene, State
from figures.looks import LINE, OUTLINE, centred, ending, filled, small
from figures.melons import melon_marks, ripe_and_unripe
from figures.plots import axes, plot_columns, plotted
from treekit.measures import entropy, information_gain
from treekit.pen.palette import BAR, CLASS_COLORS, GAIN
from treekit.pen.svg import FAINT, circle, element, line, rect, text

PITCH = 23  # pixels from one melon to the next
THICK = 3  # pixels of a bar's thickness for each melon
NOT_YET = "nothing yet"


class _Groups(Scene):
    """Melons in one line, or in the groups of a question, each beside its entropy; below, their mean and the gain.

    A bar is as long as its entropy and as thick as its share of the melons, so that the areas of the groups' bars add
    up to that of the mean.
    """

    stagger = 20

    seats_y, top, height = 62, 100, 48  # of all melons; of the first group; of each: a name, its melons below
    bits = Chart((0, 1), (0, 1), (232, 0, 342, 1))

    def __init__(self, melons: pd.DataFrame, target: str, rival: str) -> None:
        self.labels, self.rival = melons[target].astype(str), rival
        X = melons.drop(columns=target)
        self.groups = {column: melons.groupby(column, observed=True).groups for column in X}
        self.gains = {column: information_gain(X[column], self.labels) for column in X}
        self.n, self.before = len(melons), entropy(self.labels)
        self.n_lines = max(map(len, self.groups.values()))
        self.mean_y = self.top + self.height * self.n_lines + 22
        self.equals = [one for one in X if one != rival and np.isclose(self.gains[one], self.gains[rival])]

    def parts(self, attribute: str) -> set[frozenset[Any]]:
        """The groups of a question, without their names."""
        return {frozenset(rows) for rows in self.groups[attribute].values()}

    def mixed(self, attribute: str) -> list[tuple[int, ...]]:
        """How many melons of each class lie in each group that is not pure, the more frequent class first."""
        counts = (self.labels.loc[rows].value_counts() for rows in self.groups[attribute].values())
        return sorted(tuple(count) for count in counts if len(count) > 1)

    def why(self, attribute: str) -> str:
        """Why a question gains nothing, or as much as its rival."""
        if len(self.groups[attribute]) == 1:
            return f" All {self.n} melons stay together, so nothing is gained."
        if attribute not in self.equals:
            return ""
        if self.parts(attribute) == self.parts(self.rival):
            return f" These are the same groups as the {self.rival}’s, under other names."
        theirs, ours = map(self.mixed, (self.rival, attribute))
        both = f" These are other groups than the {self.rival}’s,"
        if theirs == ours and len(ours) == 1:
            return f"{both} but again the only mixed one has {sum(ours[0])} melons, {ours[0][0]} of one class."
        return f"{both} but they leave as much."

    def side_by_side(self, rows: Iterable[Any], y: float) -> Places:
        return {row: (12 + PITCH * i, y) for i, row in enumerate(rows)}

    def background(self) -> str:
        left, full, bit = map(self.bits.x, (0, self.before, 1))
        empty = "".join(circle(x, y, 10) for x, y in self.side_by_side(self.labels.index, self.seats_y).values())
        return small(
            ripe_and_unripe(12, 9)
            + ending(400, 14, "entropy (bits)")
            + text(0, 44, f"all {self.n} melons")
            + element("g", empty, **OUTLINE, stroke_opacity=FAINT, stroke_dasharray="2 3")
            + ending(400, 36, "thickness: share of melons")
            + rect(left, self.seats_y - THICK * self.n / 2, full - left, THICK * self.n, fill_opacity=BAR)
            + rect(left, self.seats_y - THICK * self.n / 2, bit - left, THICK * self.n, **OUTLINE, stroke_opacity=FAINT)
            + _amount(self.seats_y, self.before)
            + line(0, self.top - 22, 400, self.top - 22, stroke_opacity=FAINT)
            + line(0, self.mean_y - 22, 400, self.mean_y - 22, stroke_opacity=FAINT)
            + line(full, self.seats_y + 7, full, self.mean_y + LINE + 4, stroke_dasharray="3 4")
            + text(0, self.mean_y, f"mean over all {self.n}")
            + text(0, self.mean_y + LINE, "gain")
        )

    def marks(self) -> dict[Any, str]:
        """A bar of one pixel for each entropy, that of the gain in its colour, and the melons."""
        names = ["mean", *(f"entropy {i}" for i in range(self.n_lines))]
        bars: dict[Any, str] = dict.fromkeys(names, rect(0, -0.5, 1, 1, fill_opacity=BAR))
        edge = line(0, self.top, 0, self.mean_y - 5 + THICK * self.n / 2, stroke_width=2)
        return {**bars, "gain": rect(0, -0.5, 1, 1, **filled(GAIN)), "edge": edge, **melon_marks(self.labels == "yes")}

    def frame(self, attribute: str) -> State:
        if attribute == NOT_YET:
            n_ripe = int((self.labels == "yes").sum())
            sentence = f"All {self.n} melons, {n_ripe} of them ripe. Their entropy is {self.before:.3f} bits."
            return [""], sentence, self.side_by_side(self.labels.index, self.seats_y)
        gain, terms = self.gains[attribute], []
        drawn = centred(self.bits.x(0), self.top - 3, "0") + centred(self.bits.x(1), self.top - 3, "1 bit")
        after, places = self.before - gain, Places()
        for i, (value, rows) in enumerate(self.groups[attribute].items()):
            y, left = self.top + self.height * i, entropy(self.labels.loc[rows])
            places |= self.side_by_side(rows, y + 18) | {f"entropy {i}": self.bar(y + 18, 0, left, len(rows))}
            x, middle, _, thick = self.bar(y + 18, 0, 1, len(rows))  # a frame of one bit: pure groups have no bar
            drawn += rect(x, middle - thick / 2, self.bits.x(1) - x, thick, **OUTLINE, stroke_opacity=FAINT)
            drawn += text(0, y, str(value)) + _amount(y + 18, left)
            terms.append(f"{len(rows)}/{self.n} × {left:.3f}")
        places["mean"] = self.bar(self.mean_y - 5, 0, after, self.n)
        places["gain"] = self.bar(self.mean_y + LINE - 5, after, self.before, self.n)
        places["edge"] = (self.bits.x(after), 0)
        drawn += _amount(self.mean_y - 5, after) + _amount(self.mean_y + LINE - 5, gain)
        sentence = (
            f"After a split on {attribute}, {' + '.join(terms)} = {after:.3f} bits are left of {self.before:.3f}. "
            f"The gain is {gain:.3f} bits (rounded at the end).{self.why(attribute)}"
        )
        return [small(drawn)], sentence, places

    def bar(self, y: float, start: float, end: float, n_melons: int) -> Place:
        return self.bits.x(start), y, self.bits.x(end) - self.bits.x(start), THICK * n_melons


def _amount(y: float, bits: float) -> str:
    return ending(400, y + 5, f"{bits:.3f}")


def split_explorer(frame: pd.DataFrame, target: str, rival: str) -> Explorable:
    """The melons of `frame` move into the groups of a question, beside their entropies, the mean and the gain.

    The reader looks for an attribute that gains as much as `rival`, the best one, by other groups. `frame` is a table
    of words with at most nine rows and no missing entries, `target` its column of the labels yes and no.
    """
    if frame.isna().any(axis=None):
        raise ValueError("frame must have no missing entries")
    groups = _Groups(frame, target, rival)
    others = [attribute for attribute in groups.gains if attribute != rival]
    equals = [one for one in groups.equals if groups.parts(one) != groups.parts(rival)] or groups.equals
    shown = equals[-1]

    def truth(guessed: str) -> str:
        gain, best = (f"{groups.gains[one]:.3f}" for one in (guessed, rival))
        if guessed in groups.equals:
            return f"the {guessed} gains {gain} bits, just as the {rival}"
        return f"the {guessed} gains {gain} bits, the {rival} {best}"

    return groups.explorable(
        title="What one question leaves open",
        alt=f"The {len(frame)} melons as numbered circles, hollow if ripe, in one group for each value of {shown}, "
        "with its entropy as a bar, as thick as its share of the melons. Below, the groups' mean, from which a line "
        "runs up across the bars, and the gain.",
        size=(400, groups.mean_y + LINE + 12),
        controls=[Choice("Split on", [NOT_YET, *groups.gains], start=shown, opens=NOT_YET)],
        found=lambda attribute: attribute in equals,
        guess=Choice(
            f"Your guess: which question gains as much as the {rival}?", others, answer=set(groups.equals), truth=truth
        ),
        challenge=f"Which question gains nothing at all? Which one gains as much as the {rival}, but by other groups?",
    )


def gain_bars(gains: pd.Series, before: float) -> Picture:
    """For each question a bar of the entropy before it: what the question takes away, and what it leaves, in bits."""
    bits, step = Chart((0, before), (0, 1), (92, 0, 412, 1)), 26
    drawing = text(92, 14, "bits gained, and left") + ending(480, 14, "gain")
    for i, (attribute, gain) in enumerate(gains.sort_values(ascending=False).items()):
        y = 24 + step * i
        drawing += text(0, y + 14, str(attribute)) + ending(480, y + 14, f"{gain:.3f}")
        drawing += rect(92, y, bits.x(gain) - 92, 18, **filled(GAIN))
        drawing += rect(bits.x(gain), y, 412 - bits.x(gain), 18, fill_opacity=BAR)
    told = ", ".join(f"{attribute} {gain:.3f}" for attribute, gain in gains.items())
    alt = f"A bar of {before:.3f} bits for each question, divided into what it gains and what it leaves. Gains: {told}."
    return Picture(alt, (480, 24 + step * len(gains)), drawing)


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
    """Accuracy on training rows and on test rows, the columns of `means`, against the threshold, its index."""
    ax = axes("threshold min_gain (bits)", "accuracy")
    plot_columns(ax, means[["training", "test"]], name="{} rows")
    best = means["test"].idxmax()
    ax.axvline(best, color="black", linestyle=":")
    ax.annotate("best on\ntest rows", (best, 1), xytext=(6, 0), textcoords="offset points", va="top")
    ax.set(ylim=(0.45, 1.02))
    ax.legend(loc="lower left", frameon=False)
