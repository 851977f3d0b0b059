"""The figures of the chapter on ID3."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from treekit.measures import conditional_entropy, entropy, entropy_of_counts, information_gain
from treekit.models.id3 import ID3Classifier
from treekit.showing.explorable import Choice, Explorable, Slider
from treekit.showing.figures.shared import LINE, axes, in_class
from treekit.showing.palette import CLASS_COLORS, class_color
from treekit.showing.svg import FAINT, Plane, element, line, rect, text
from treekit.trees.export import counts_text
from treekit.trees.node import Node


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
    labels = [id3.classes_.tolist().index(frame[target].iloc[i]) for i in order]
    levels = range(tree.max_depth + 1)
    top, width = 66, 98

    def squares(x: float, heights: list[int], k: int) -> str:
        """The rows of one class, as numbered squares."""
        heights = [height for height in heights if labels[height] == k]
        boxes = "".join(rect(x + 5, top + step * height, 19, 16) for height in heights)
        numbers = "".join(text(x + 14.5, top + step * height + 12.5, names[height]) for height in heights)
        style = f"fill: {('white', 'currentColor')[k % 2]}"
        return in_class(k, boxes) + element("g", numbers, text_anchor="middle", font_size=12, style=style)

    def group(node: Node, is_split: bool) -> str:
        """The squares of a node, with its answer and (once it is split) its question beside them."""
        x, heights = width * node.depth, rows_of[node.id]
        first, last = top + step * heights[0], top + step * heights[-1] + 16
        words = [] if node.parent is None else str(node.branch).split()
        said = "".join(text(x + 30, first + 12.5 + step * i, word) for i, word in enumerate(words))
        if is_split and not node.is_leaf:
            y = first + 12.5 + step * len(words)
            said += text(x + 30, y, f"{node.question}?", font_weight="bold")
        rows = "".join(squares(x, heights, k) for k in sorted({labels[height] for height in heights}))
        return line(x + 1, first, x + 1, last, stroke_width=2) + rows + element("g", said, font_size=13)

    def column(level: int, last: int) -> str:
        """One level, when the tree is grown down to the level `last`."""
        nodes = [node for node in tree.walk() if node.depth == level]
        return "".join(group(node, is_split=level < last) for node in nodes if node.n_samples)

    def described(node: Node) -> str:
        name = "all rows" if node.parent is None else str(node.branch)
        if node.n_samples == 0:
            return f"{name} (empty), a leaf that predicts {node.label}"
        if node.is_leaf:
            return f"{name} ({counts_text(node)}), a leaf"
        return f"{name} ({counts_text(node)}), split next on {node.question} (gain {node.gain:.3f})"

    def state(last: int) -> tuple[str, str]:
        nodes = [node for node in tree.walk() if node.depth == last]
        n_rows = sum(node.n_samples for node in nodes)
        sentence = f"Level {last}, {n_rows} rows: " + "; ".join(described(node) for node in nodes) + "."
        return "".join(column(level, last) for level in range(last + 1)), sentence

    legend = "".join(
        in_class(k, rect(3 + 110 * k, 9, 8, 8)) + text(18 + 110 * k, 18, f"{target}: {name}")
        for k, name in enumerate(id3.classes_.tolist())
    )
    heads = "".join(text(width * level, top - 14, f"level {level}", fill_opacity=0.8) for level in levels)
    return Explorable(
        title="ID3, level by level",
        alt=f"The {len(frame)} rows as numbered squares in the colour of their class, all in the column of level 0, "
        f"the root. The columns of the {levels[-1]} levels below are empty. As the tree grows, a bar joins the rows of "
        "each node, beside it the answer that led there and the next question; rows in leaves do not appear again.",
        size=(max(480, width * len(levels)), top + step * len(frame)),
        background=legend + heads + line(0, top - 7, width * len(levels), top - 7, stroke_opacity=FAINT),
        controls=[Slider("Grown down to level", list(levels))],
        frame=state,
        challenge="Which rows have to answer the most questions? On which level do most rows end in a leaf?",
    )


def plot_chance(chance: pd.Series, gain: float, name: str) -> None:
    """The mean gain of random columns, `chance`, against their number of values, and the gain of a real attribute."""
    with plt.rc_context({"font.size": 13}):
        ax = axes("values of the random column", "mean gain (bits)")
        ax.plot(chance.index, chance, marker="o", color=CLASS_COLORS[0])
        ax.axhline(gain, color=CLASS_COLORS[1], linestyle="--")
        ax.annotate(name, (chance.index[-1], gain), xytext=(0, -6), textcoords="offset points", ha="right", va="top")
        ax.set(xticks=chance.index, ylim=(0, None))
    plt.show()


def plot_threshold(means: pd.DataFrame) -> None:
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
    plt.show()
