"""The moving figures of the chapters. Each function returns an `Explorable`, which shows itself in a notebook."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from treekit.datasets import load_lunch
from treekit.explorable import Choice, Explorable, Slider
from treekit.measures import conditional_entropy, entropy, entropy_of_counts, information_gain, self_information
from treekit.palette import class_color
from treekit.svg import FAINT, Plane, circle, element, line, number, rect, text

LINE = 32  # pixels from one line of a drawn table to the next


def _in_class(k: int, shapes: str) -> str:
    """Paint shapes in the colour of class k; every second class is hollow, for readers who do not see the colours."""
    style = f"fill: {class_color(k)}; stroke: {class_color(k)}; fill-opacity: {(1, 0)[k % 2]}; stroke-width: 2"
    return element("g", shapes, style=style)


def _dot(x: float, y: float) -> str:
    return circle(x, y, 5)


def _rings(centers: list[tuple[float, float]]) -> str:
    circles = "".join(circle(x, y, 10) for x, y in centers)
    return element("g", circles, fill="none", stroke="currentColor", stroke_width=1.5)


def _arrow(x: float, y: float) -> str:
    return element("path", d=f"M{number(x - 6)},{number(y + 5)}h12l-6,-10z")


def _code(lines: list[tuple[int, str]], y: float) -> str:
    """Write lines of code, each with its indent, from the first baseline `y` down."""
    written = (text(306 + 16 * indent, y + 22 * i, words) for i, (indent, words) in enumerate(lines))
    return element("g", "".join(written), font_family="ui-monospace, Consolas, monospace")


def entropy_explorer() -> Explorable:
    """Ten melons, of which the reader decides how many are ripe: the entropy on its curve, and its two parts."""
    n = 10
    plane = Plane((0, 1), (0, 1), (40, 92, 280, 272))
    p = np.linspace(0, 1, 101)
    background = (
        plane.axes([0, 0.5, 1], [0, 0.5, 1], "share p of ripe melons", "entropy H (bits)")
        + plane.curve(p, entropy_of_counts(np.column_stack([p, 1 - p])), stroke_opacity=0.6)
        + text(324, plane.box[1] - 14, "share × surprise")
        + line(324, plane.y(0), 364, plane.y(0))
    )

    def melons(first: int, last: int) -> str:
        return "".join(circle(49 + 24.6 * i, 30, 9) for i in range(first, last))

    def frame(ripe: int) -> tuple[str, str]:
        counts = np.array([ripe, n - ripe])
        shares = counts / n
        total = float(entropy_of_counts(counts))
        parts = [share * float(self_information(share)) if share else 0.0 for share in shares]
        top, split = plane.y(total), plane.y(parts[1])
        drawing = (
            _in_class(0, melons(0, ripe))
            + _in_class(1, melons(ripe, n))
            + text(324, 35, f"{ripe} ripe, {n - ripe} unripe")
            + line(plane.x(shares[0]), top, 364, top, stroke_dasharray="4 4", stroke_opacity=0.6)
            + circle(plane.x(shares[0]), top, 7)
        )
        if total:
            # The lower part has its label at its middle; the upper one too, unless they would touch.
            low = (split + plane.y(0)) / 2 + 5
            high = min((top + split) / 2 + 5, low - 20)
            drawing += (
                _in_class(0, rect(325, top, 38, split - top - 2))
                + _in_class(1, rect(325, split + 1, 38, plane.y(0) - split - 2))
                + text(374, high, f"ripe {parts[0]:.3f}")
                + text(374, low, f"unripe {parts[1]:.3f}")
            )
        return drawing, sentence(ripe, shares, parts, total)

    def sentence(ripe: int, shares: np.ndarray, parts: list[float], total: float) -> str:
        if not total:
            return f"p = {shares[0]:.1f}: all melons are alike, the next one is no surprise, so H = {total:.3f} bits."
        surprise = self_information(shares)
        return (
            f"p = {shares[0]:.1f}: a ripe melon surprises by {surprise[0]:.3f} bits, an unripe one by "
            f"{surprise[1]:.3f}. On average H = {shares[0]:.1f} × {surprise[0]:.3f} + {shares[1]:.1f} × "
            f"{surprise[1]:.3f} = {total:.3f} bits."
        )

    return Explorable(
        title="The entropy of ten melons",
        alt="The entropy of a two-way share p: a curve that rises from 0 at p = 0 to 1 bit at p = 0.5 and falls back "
        "to 0 at p = 1. A point marks 3 ripe melons of 10; a bar beside it splits its height into the parts of the "
        "ripe and of the unripe melons.",
        size=(480, 320),
        background=background,
        controls=[Slider("Ripe melons of ten", list(range(n + 1)), start=3)],
        frame=frame,
        challenge="Can you find the baskets with less than half a bit of entropy? What do they share?",
    )


def lunch_explorer() -> Explorable:
    """The lunch tree seen twice, as a region of the plane and as nested questions; the reader moves both limits."""
    lunches = load_lunch()
    far, dear = lunches["distance_m"].to_numpy(), lunches["price_yuan"].to_numpy()
    eaten = (lunches["eat"] == "yes").to_numpy()
    plane = Plane((0, 700), (0, 50), (32, 40, 288, 250))
    left, top, right, bottom = plane.box
    # A dish that is dearer than the picture is high becomes an arrow on its upper edge.
    xs, ys = [min(plane.x(x), right) for x in far], [max(plane.y(y), top) for y in dear]

    def marks(rows: np.ndarray) -> str:
        draw = {True: _dot, False: _arrow}
        return "".join(draw[bool(dear[i] <= 50)](xs[i], ys[i]) for i in np.flatnonzero(rows))

    background = (
        plane.axes([0, 200, 400, 600], range(0, 51, 10), "distance (m)", "price (yuan)")
        + _in_class(0, marks(eaten) + _dot(316, 189))
        + _in_class(1, marks(~eaten) + _dot(316, 213) + _arrow(316, 236))
        + _rings([(316, 261)])
        + text(334, 194, "we ate there")
        + text(334, 218, "we did not")
        + text(334, 242, "dearer than shown")
        + text(334, 266, "the rule is wrong")
        + _code([(2, "eat"), (1, "else: stay"), (0, "else: stay")], y=94)
    )

    def frame(distance: int, price: int) -> tuple[str, str]:
        wrong = ((far <= distance) & (dear <= price)) != eaten
        x, y = plane.x(distance), plane.y(price)
        drawing = (
            rect(left, y, x - left, bottom - y, style=f"fill: {class_color(0)}; fill-opacity: 0.15")
            + _rings([(xs[i], ys[i]) for i in np.flatnonzero(wrong)])
            + _code([(0, f"if distance ≤ {distance}:"), (1, f"if price ≤ {price}:")], y=50)
        )
        names = ", ".join(lunches.index[wrong])
        said = f"At most {distance} m and {price} yuan: right for {(~wrong).sum()} of {len(wrong)} dishes"
        return drawing, f"{said}, wrong for {names}." if names else f"{said}."

    return Explorable(
        title="Two limits for lunch",
        alt="Twelve dishes as points by distance and price. We ate at those within 200 metres and 20 "
        "yuan. The rule at rest, at most 400 metres and 30 yuan, is a shaded rectangle that holds two dishes too many; "
        "beside it stands the same rule as two nested questions.",
        size=(480, 300),
        background=background,
        controls=[
            Slider("Largest distance", list(range(100, 701, 100)), start=400, show="{} m"),
            Slider("Largest price", list(range(5, 51, 5)), start=30, show="{} yuan"),
        ],
        frame=frame,
        challenge="Can you find the two limits that get every dish right?",
    )


def split_explorer(frame: pd.DataFrame, target: str) -> Explorable:
    """What each attribute of `frame` tells about the column `target`: class counts, branch entropies, mean and gain.

    `frame` is a table of words without missing entries, small enough (about 40 rows) to draw each row as a square.
    """
    if frame.isna().any(axis=None):
        raise ValueError("frame must have no missing entries")
    attributes = [column for column in frame.columns if column != target]
    tables = {a: pd.crosstab(frame[a], frame[target]) for a in attributes}
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
            _in_class(k, "".join(rect(133 + side * i, y - 9, 0.64 * side, 7) for i in range(end - count, end)))
            for k, (count, end) in enumerate(zip(counts, ends, strict=True))
        )
        return text(0, y, name) + squares + bar(y, 0, float(entropy_of_counts(counts)), fill_opacity=0.5)

    legend, x = "", 3
    for k, name in enumerate(f"{target}: {label}" for label in classes):
        legend += _in_class(k, rect(x, 9, 8, 8)) + text(x + 15, 18, name)
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
            f"After asking for {attribute}, {terms} = {after:.3f} bits are left of "
            f"{before:.3f}. The gain, rounded last, is {gain:.3f} bits."
        )
        return drawing, sentence

    return Explorable(
        title="What one question tells",
        alt=f"The {n} rows as squares in the color of their class, first all together with their entropy, then apart "
        f"by the values of {attributes[0]}, each value with its entropy as a bar. Below, their mean and the gain.",
        size=(480, mean_y + LINE + 12),
        background=background,
        controls=[Choice("Ask first for", attributes)],
        frame=state,
        challenge="Can you find the question with the largest gain? Which one tells next to nothing?",
    )
