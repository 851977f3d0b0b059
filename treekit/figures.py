"""The figures of the chapters.

Figures that move are an `Explorable`, drawings that stand still a `Picture`: both show themselves as the last value of
a cell. The functions named ``plot_...`` draw with matplotlib and return nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from treekit.datasets import load_lunch
from treekit.explorable import Choice, Explorable, Slider
from treekit.export import counts_text
from treekit.id3 import ID3Classifier
from treekit.measures import conditional_entropy, entropy, entropy_of_counts, information_gain, self_information
from treekit.palette import CLASS_COLORS, class_color
from treekit.svg import FAINT, Plane, circle, element, line, number, rect, text
from treekit.tree import Node

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

    # The colours are those of the drawn trees: classes in sorted order, no before yes.
    background = (
        plane.axes([0, 200, 400, 600], range(0, 51, 10), "distance (m)", "price (yuan)")
        + _in_class(1, marks(eaten) + _dot(316, 189))
        + _in_class(0, marks(~eaten) + _dot(316, 213) + _arrow(316, 236))
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
            rect(left, y, x - left, bottom - y, style=f"fill: {class_color(1)}; fill-opacity: 0.15")
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


def growth_explorer(frame: pd.DataFrame, target: str) -> Explorable:
    """ID3 on a table of words, level by level: a column for each level, in it a square for each row that is there.

    A row keeps its height on all levels, so that the rows of a node always stand together.
    """
    id3 = ID3Classifier().fit(frame.drop(columns=target), frame[target])
    tree = id3.tree_
    ends = id3.apply(frame.drop(columns=target)).tolist()
    rank = {node.id: place for place, node in enumerate(tree.walk())}
    order = sorted(range(len(frame)), key=lambda i: rank[ends[i]])
    step = 20
    rows_of: dict[int, list[int]] = {}  # for each node, the heights of its rows from the top
    for height, i in enumerate(order):
        node: Node | None = tree[ends[i]]
        while node is not None:
            rows_of.setdefault(node.id, []).append(height)
            node = node.parent
    names = [str(frame.index[i]) for i in order]
    labels = [tree.classes.tolist().index(frame[target].iloc[i]) for i in order]
    levels = range(tree.max_depth + 1)
    top, width = 66, 98

    def squares(x: float, heights: list[int], k: int) -> str:
        """The rows of one class, as numbered squares."""
        heights = [height for height in heights if labels[height] == k]
        boxes = "".join(rect(x + 5, top + step * height, 19, 16) for height in heights)
        numbers = "".join(text(x + 14.5, top + step * height + 12.5, names[height]) for height in heights)
        style = f"fill: {('white', 'currentColor')[k % 2]}"
        return _in_class(k, boxes) + element("g", numbers, text_anchor="middle", font_size=12, style=style)

    def group(node: Node, asks: bool) -> str:
        """The squares of a node, with its answer and (when it is asked) its question beside them."""
        x, heights = width * node.depth, rows_of[node.id]
        first, last = top + step * heights[0], top + step * heights[-1] + 16
        words = [] if node.parent is None else str(node.branch).split()
        said = "".join(text(x + 30, first + 12.5 + step * i, word) for i, word in enumerate(words))
        if asks and not node.is_leaf:
            y = first + 12.5 + step * len(words)
            said += text(x + 30, y, f"{node.question}?", font_weight="bold")
        rows = "".join(squares(x, heights, k) for k in sorted({labels[height] for height in heights}))
        return line(x + 1, first, x + 1, last, stroke_width=2) + rows + element("g", said, font_size=13)

    def column(level: int, last: int) -> str:
        """One level, when the tree is grown down to the level `last`."""
        nodes = [node for node in tree.walk() if node.depth == level]
        return "".join(group(node, asks=level < last) for node in nodes if node.n_samples)

    def told(node: Node) -> str:
        name = "all rows" if node.parent is None else str(node.branch)
        if node.n_samples == 0:
            return f"{name}: empty, a leaf that says {node.label}"
        if node.is_leaf:
            return f"{name}: {counts_text(node)}, a leaf"
        return f"{name}: {counts_text(node)}, next asks for {node.question} (gain {node.gain:.3f})"

    def state(last: int) -> tuple[str, str]:
        nodes = [node for node in tree.walk() if node.depth == last]
        n_rows = sum(node.n_samples for node in nodes)
        sentence = f"Level {last}, {n_rows} rows. " + "; ".join(told(node) for node in nodes) + "."
        return "".join(column(level, last) for level in range(last + 1)), sentence

    legend = "".join(
        _in_class(k, rect(3 + 110 * k, 9, 8, 8)) + text(18 + 110 * k, 18, f"{target}: {name}")
        for k, name in enumerate(tree.classes.tolist())
    )
    heads = "".join(text(width * level, top - 14, f"level {level}", fill_opacity=0.8) for level in levels)
    return Explorable(
        title="ID3, level by level",
        alt=f"The {len(frame)} rows as numbered squares in the color of their class, in one column for each of the "
        f"{len(levels)} levels of the tree. A bar on the left joins the rows of one node; beside it stand the answer that "
        f"led there and the next question. Rows in leaves are left out of the columns that follow.",
        size=(max(480, width * len(levels)), top + step * len(frame)),
        background=legend + heads + line(0, top - 7, width * len(levels), top - 7, stroke_opacity=FAINT),
        controls=[Slider("Grown down to level", list(levels), start=levels[-1])],
        frame=state,
        challenge="Can you find the rows that are asked the most questions? Which level closes the most rows?",
    )


# -- still pictures by matplotlib ---------------------------------------------------------------------------------


def _axes(xlabel: str, ylabel: str) -> plt.Axes:
    """Axes of the size that reads on a page and on a phone, without the two lines that show nothing."""
    _, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_threshold(means: pd.DataFrame) -> None:
    """Accuracy on training rows and on held-out rows, the columns of `means`, against the threshold, its index."""
    with plt.rc_context({"font.size": 13}):  # reads on a phone, too
        ax = _axes("threshold min_gain (bits)", "share of rows told right")
        for k, name in enumerate(["training", "held-out"]):
            ax.plot(means.index, means[name], marker="os"[k], color=CLASS_COLORS[k], label=f"{name} rows")
        best = means["held-out"].idxmax()
        ax.axvline(best, color="black", linestyle=":")
        ax.annotate("best on\nheld-out rows", (best, 1), xytext=(6, 0), textcoords="offset points", va="top")
        ax.set(ylim=(0.45, 1.02))
        ax.legend(loc="lower left", frameon=False)
    plt.show()


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
        ax.annotate("even mix", corners.mean(axis=0), xytext=(0, 8), textcoords="offset points", ha="center", color="white")
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


# -- pictures of the introduction, which stand still --------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Picture:
    """An SVG drawing that shows itself. With a width of 480, text of 15 pixels reads on a phone.

    `alt` says what it shows, for readers who do not see it; `size` is its width and height in its own pixels.
    """

    alt: str
    size: tuple[float, float]
    drawing: str

    def __repr__(self) -> str:
        return f"Picture of {self.size[0]:g} × {self.size[1]:g} pixels"

    def _repr_html_(self) -> str:
        width, height = self.size
        return (
            f'<svg role="img" aria-label={quoteattr(self.alt)} viewBox="0 0 {number(width)} {number(height)}" '
            f'fill="currentColor" font-size="15" style="display: block; width: 100%; max-width: {width * 1.2:.0f}px; '
            f'margin: 0 auto">{self.drawing}</svg>'
        )


def lunch_anatomy() -> Picture:
    """The lunch tree as one draws it by hand, with the names of its parts."""
    height = 40

    def card(x: float, y: float, words: str, is_leaf: bool = False) -> str:
        width = 100 if is_leaf else 170
        corner = height / 2 if is_leaf else 6
        frame = rect(x - width / 2, y, width, height, rx=corner, fill="none", stroke="currentColor")
        return frame + text(x, y + 25, words, text_anchor="middle", font_weight="bold")

    def branch(x1: float, x2: float, y: float, answer: str) -> str:
        """The line down from the card at (x1, y) to the one at x2, its answer on the outer side."""
        anchor, gap = ("end", -14) if x2 < x1 else ("start", 14)
        return line(x1, y + height, x2, y + 110) + text((x1 + x2) / 2 + gap, y + 79, answer, text_anchor=anchor)

    def name(x: float, y: float, words: str, anchor: str = "start") -> str:
        return text(x, y, words, font_style="italic", text_anchor=anchor)

    depths = "".join(name(480, y + 25, f"depth {k}", "end") for k, y in enumerate((10, 120, 230)))
    return Picture(
        alt="A tree of five nodes. The root asks: distance at most 200 metres? Its branch no leads to the leaf eat no. Its "
        "branch yes leads to an inner node, which asks: price at most 20 yuan? From there, yes leads to the leaf eat yes, "
        "no to the leaf eat no. The root has depth 0; the inner node and the first leaf 1; the last two leaves 2.",
        size=(480, 280),
        drawing=branch(215, 130, 10, "yes")
        + branch(215, 330, 10, "no")
        + branch(130, 65, 120, "yes")
        + branch(130, 230, 120, "no")
        + card(215, 10, "distance ≤ 200 m?")
        + card(130, 120, "price ≤ 20 yuan?")
        + card(330, 120, "eat: no", is_leaf=True)
        + card(65, 230, "eat: yes", is_leaf=True)
        + card(230, 230, "eat: no", is_leaf=True)
        + name(122, 35, "root", "end")
        + name(336, 89, "a branch")
        + name(0, 111, "inner node")
        + name(330, 180, "leaf", "middle")
        + name(290, 255, "leaf")
        + depths,
    )


def lunch_partition(left: tuple[str, str, float, float], right: tuple[str, str, float, float]) -> Picture:
    """Two lunch trees side by side, each as the three regions that its two cuts make of the plane.

    `left` and `right` are (title, question asked first, cut in metres, cut in yuan); the question is "distance" or
    "price". The first cut divides the whole plane, the second only the side that goes on.
    """
    lunches = load_lunch()
    eaten = (lunches["eat"] == "yes").to_numpy()

    def panel(title: str, first: str, distance: float, price: float, offset: float) -> str:
        plane = Plane((0, 700), (0, 50), (offset + 28, 62, offset + 218, 262))
        low, top, high, bottom = plane.box
        x, y = plane.x(distance), plane.y(price)
        # What lies beyond the picture stands on its edge; an arrow says that the dish is dearer.
        marks = ["", ""]
        for far, dear, eat in zip(lunches["distance_m"], lunches["price_yuan"], eaten):
            draw = _dot if dear <= 50 else _arrow
            marks[int(eat)] += draw(min(plane.x(far), high), max(plane.y(dear), top))
        if first == "distance":
            lines = line(x, top, x, bottom, stroke_width=2) + line(low, y, x, y, stroke_width=2)
            second, third = (plane.x(60), plane.y(34)), (plane.x(500), plane.y(37))
        else:
            lines = line(low, y, high, y, stroke_width=2) + line(x, y, x, bottom, stroke_width=2)
            second, third = (plane.x(480), plane.y(5)), (plane.x(500), plane.y(37))
        names = [(x - 24, bottom - 6), second, third]
        return (
            text((low + high) / 2, 20, title, text_anchor="middle", font_weight="bold")
            + rect(low, y, x - low, bottom - y, style=f"fill: {class_color(1)}; fill-opacity: 0.15")
            + element("g", plane.axes([0, 200, 400, 600], range(0, 51, 10), "distance (m)", ""))
            + text(offset, 48, "price (yuan)")
            + lines
            + _in_class(0, marks[0])
            + _in_class(1, marks[1])
            + "".join(text(*place, f"R{k}", font_weight="bold") for k, place in enumerate(names, start=1))
        )

    def said(title: str, first: str, distance: float, price: float) -> str:
        whole = f"{distance:g} metres" if first == "distance" else f"{price:g} yuan"
        part = f"{price:g} yuan, on the near side only" if first == "distance" else f"{distance:g} metres, on the cheap side only"
        return f"{title}: the first cut, at {whole}, crosses the whole plane; the second is at {part}."

    return Picture(
        alt="Two planes of distance and price with the twelve dishes, each cut into three regions of which only R1, the "
        f"near and cheap one, is shaded and says eat. {said(*left)} {said(*right)}",
        size=(480, 340),
        drawing=panel(*left, 0) + panel(*right, 252) + _lunch_key(),
    )


def _lunch_key() -> str:
    return (
        _in_class(1, _dot(20, 331)) + text(32, 336, "we ate there")
        + _in_class(0, _dot(160, 331)) + text(172, 336, "we did not")
        + _in_class(0, _arrow(290, 331)) + text(304, 336, "dearer than shown")
    )  # fmt: skip


#: The subject of the book: a question, and under it each concept with its chapter.
SUBJECT = {
    "What is a tree?": [("nested questions", "Introduction"), ("regions of the plane", "Introduction")],
    "How mixed are the rows?": [
        ("self-information, entropy", "Entropy"),
        ("information gain", "Entropy"),
        ("gain ratio", "C4.5"),
        ("Gini index, squared error", "CART"),
    ],
    "How does a tree grow?": [
        ("one branch a value", "ID3"),
        ("two branches, classes or numbers", "CART"),
        ("a tilted cut", "Oblique trees"),
    ],
    "When does it stop?": [("a limit on gain or depth", "ID3"), ("cutting branches off", "Pruning")],
    "What if the table is rough?": [("numbers, empty entries", "Missing values")],
    "What can many trees do?": [
        ("vote: bagging, random forest", "Forests"),
        ("mend errors in turn", "AdaBoost"),
        ("follow the gradient", "GBDT"),
        ("stack forests in layers", "Deep forest"),
        ("share the work", "Scale"),
    ],
}


def subject_map() -> Picture:
    """The whole subject as a tree that lies on its side: six questions, and under each its concepts and chapters."""
    step, y = 25, 24
    drawing = text(0, y, "Decision trees", font_weight="bold") + text(480, y, "chapter", text_anchor="end", font_style="italic")
    trunk = y
    for question, concepts in SUBJECT.items():
        y += step + 8
        trunk = y - 5
        drawing += line(8, trunk, 26, trunk, stroke_opacity=0.5) + text(32, y, question, font_weight="bold")
        stem = y + 7
        for concept, chapter in concepts:
            y += step
            drawing += line(40, y - 5, 56, y - 5, stroke_opacity=0.5)
            drawing += text(62, y, concept) + text(480, y, chapter, text_anchor="end", font_style="italic")
        drawing += line(40, stem, 40, y - 5, stroke_opacity=0.5)
    drawing += line(8, 32, 8, trunk, stroke_opacity=0.5)
    told = " ".join(
        f"{question} {', '.join(f'{concept} ({chapter})' for concept, chapter in concepts)}."
        for question, concepts in SUBJECT.items()
    )
    return Picture(
        alt=f"A map of the subject: six questions, under each the concepts that answer it, with their chapters. {told}",
        size=(480, y + 12),
        drawing=drawing,
    )


# -- pictures of the chapter on entropy, which stand still --------------------------------------------------------


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
        alt="The surprise of an event against its probability p. The curve falls: it comes down from infinity near p = 0, "
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
        alt=f"Entropy of two classes against the share p of the first: an arch from 0 at p = 0 over 1 bit at one half down "
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
