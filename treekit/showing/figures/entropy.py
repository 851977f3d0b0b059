"""The figures of the chapter on entropy."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from treekit.measures import entropy_of_counts, self_information
from treekit.showing.explorable import Explorable, Slider
from treekit.showing.figures.shared import Picture, in_class
from treekit.showing.palette import CLASS_COLORS, class_color
from treekit.showing.svg import FAINT, Plane, circle, line, rect, text

# The colours of the drawn trees, whose classes are sorted: no, yes.
UNRIPE, RIPE = 0, 1


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
            in_class(RIPE, melons(0, ripe))
            + in_class(UNRIPE, melons(ripe, n))
            + text(324, 35, f"{ripe} ripe, {n - ripe} unripe")
            + line(plane.x(shares[0]), top, 364, top, stroke_dasharray="4 4", stroke_opacity=0.6)
            + circle(plane.x(shares[0]), top, 7)
        )
        if total:
            # The lower part has its label at its middle; the upper one too, unless they would touch.
            low = (split + plane.y(0)) / 2 + 5
            high = min((top + split) / 2 + 5, low - 20)
            drawing += (
                in_class(RIPE, rect(325, top, 38, split - top - 2))
                + in_class(UNRIPE, rect(325, split + 1, 38, plane.y(0) - split - 2))
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


def surprise_curve() -> Picture:
    """The surprise of an event against its probability; each halving of the probability adds one bit."""
    plane = Plane((0, 1), (0, 5), (30, 40, 368, 240))
    p = np.exp2(-np.linspace(0, 5, 101))
    marks = ""
    for bits in range(5):
        x, y = plane.x(2.0**-bits), plane.y(bits)
        name = f"p = 1/{2**bits}: {bits} bit{'s' * (bits > 1)}" if bits else "p = 1: 0 bits"
        marks += circle(x, y, 5, style=f"fill: {class_color(0)}") + text(x + 9, y - 7, name)
    return Picture(
        alt="The surprise of an event against its probability p. The curve falls: it comes down from infinity near p "
        "= 0, "
        "passes 4 bits at one sixteenth, 3 at one eighth, 2 at one quarter and 1 at one half, and ends at 0 bits for a "
        "certain event.",
        size=(480, 290),
        drawing=plane.axes([0, 0.25, 0.5, 0.75, 1], range(6), "probability p of the event", "surprise (bits)")
        + plane.curve(p, self_information(p), style=f"stroke: {class_color(0)}")
        + marks,
    )


def two_class_entropy(ripe: int, unripe: int) -> Picture:
    """Entropy of two classes against the share of the first, with a table of melons marked on it."""
    plane = Plane((0, 1), (0, 1), (34, 40, 466, 240))
    p = np.linspace(0, 1, 201)
    share, height = ripe / (ripe + unripe), float(entropy_of_counts([ripe, unripe]))
    x, y = plane.x(share), plane.y(height)
    return Picture(
        alt="Entropy of two classes against the share p of the first: an arch from 0 at p = 0 over 1 bit at one half "
        "down "
        f"to 0 at p = 1. A dot marks {ripe} ripe melons of {ripe + unripe}, at {height:.3f} bits.",
        size=(480, 290),
        drawing=plane.axes([0, 0.25, 0.5, 0.75, 1], [0, 0.5, 1], "share p of ripe melons", "entropy (bits)")
        + plane.curve(p, entropy_of_counts(np.column_stack([p, 1 - p])), style=f"stroke: {class_color(0)}")
        + line(x, y, x, y + 32, stroke_opacity=FAINT)
        + circle(x, y, 6, style=f"fill: {class_color(1)}")
        + text(x, y + 50, f"{ripe} of {ripe + unripe} ripe: {height:.3f} bits", text_anchor="middle"),
    )


def branch_entropies(table: pd.DataFrame) -> Picture:
    """The entropy of each branch as a block, as wide as its share of the rows: the blocks' area is the mean.

    `table` holds the class counts, a row for each value of the attribute.
    """
    plane = Plane((0, 1), (0, 1), (34, 50, 466, 270))
    counts = table.to_numpy()
    shares = counts.sum(axis=1) / counts.sum()
    starts = np.cumsum(shares) - shares
    heights = entropy_of_counts(counts)
    before = float(entropy_of_counts(counts.sum(axis=0)))
    blocks = ""
    for start, share, height, (value, row) in zip(starts, shares, heights, table.iterrows(), strict=True):
        left, top = plane.x(start), plane.y(height)
        width, depth = plane.x(start + share) - left, plane.y(0) - top
        blocks += rect(left, top, width, depth, stroke="currentColor", fill_opacity=0.15)
        lines = [*str(value).split(), " + ".join(map(str, row)), f"{height:.3f}"]
        # The words stand in the middle of their block, or above a block that is too low for them.
        middle = plane.y(height / 2) if height > 0.4 else top - 10 * len(lines)
        for i, words in enumerate(lines):
            blocks += text(left + width / 2, middle + 20 * (i + 0.75 - len(lines) / 2), words, text_anchor="middle")
    told = "; ".join(f"{value}: {row.sum()} rows, {h:.3f} bits" for (value, row), h in zip(table.iterrows(), heights))
    return Picture(
        alt="One block for each branch, side by side, as wide as its share of the rows and as high as its entropy. "
        f"{told}. A dashed line at {before:.3f} bits marks the entropy before the look.",
        size=(480, 320),
        drawing=plane.axes([0, 0.25, 0.5, 0.75, 1], [0, 0.5, 1], "share of the rows", "entropy (bits)")
        + blocks
        + line(plane.x(0), plane.y(before), plane.x(1), plane.y(before), stroke_dasharray="6 4", stroke_width=2)
        + text(plane.x(1), plane.y(before) - 8, f"before the look: {before:.3f}", text_anchor="end"),
    )


def plot_three_class_entropy() -> None:
    """Entropy of three classes on the triangle of their shares: one corner a class, the centre an even mix."""
    corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])
    n = 60
    shares = np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]) / n
    x, y = (shares @ corners).T
    with plt.rc_context({"font.size": 13}):  # reads on a phone, too
        _, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
        filled = ax.tricontourf(x, y, entropy_of_counts(shares), levels=np.linspace(0, 1.6, 9), cmap="Blues")
        plt.colorbar(filled, ax=ax, label="entropy (bits)", shrink=0.8)
        ax.fill(*corners.T, facecolor="none", edgecolor="black", linewidth=1)
        ax.plot(*corners.mean(axis=0), "o", color=CLASS_COLORS[1])
        ax.annotate(
            "even mix", corners.mean(axis=0), xytext=(0, 8), textcoords="offset points", ha="center", color="white"
        )
        for (cx, cy), name, drop in zip(corners, "ABC", (-0.08, -0.08, 0.03), strict=True):
            ax.text(cx, cy + drop, f"only {name}", ha="center")
        ax.set(aspect="equal", ylim=(-0.1, 0.94))
        ax.axis("off")
        plt.show()


def plot_pixels(gain: np.ndarray, mean_ink: np.ndarray) -> None:
    """What each pixel of a picture tells about its label, beside the mean picture; both as square grids."""
    side = int(np.sqrt(len(gain)))
    with plt.rc_context({"font.size": 13}):  # reads on a phone, too
        _, axes = plt.subplots(1, 2, figsize=(6.4, 3.2), layout="constrained")
        pictures = [(mean_ink, "share with ink", "Greys"), (gain, "gain (bits)", "Blues")]
        for ax, (values, title, cmap) in zip(axes, pictures, strict=True):
            image = ax.imshow(values.reshape(side, side), cmap=cmap, vmin=0)
            plt.colorbar(image, ax=ax, shrink=0.8)
            ax.set(title=title, xlabel="column", ylabel="row", xticks=range(side), yticks=range(side))
        plt.show()
