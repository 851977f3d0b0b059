"""The figures of the appendix on how treekit grows a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from figures.charts import Picture
from figures.explorable import Choice, Explorable, Places, Scene, Slider, State
from figures.looks import OUTLINE, centred, ending, filled, in_class, with_minus
from figures.melons import listed, melon, ripe_and_unripe
from treekit.growing.criteria import Gini
from treekit.growing.level import Level, descend, first_level
from treekit.growing.presorted import sort_columns
from treekit.models.cart import CARTClassifier
from treekit.pen.palette import BAR as BAR_LOOK
from treekit.pen.svg import FAINT, element, line, rect, text
from treekit.trees.roots import join_trees

RIGHT = 478
GAP = 12  # between the rows of two nodes
BAR = 20  # height of a row of weight 1
STRIP, LINK = 60, 34  # heights of a strip of rows and of the space in which the rows move


def rows_by_level(levels: Sequence[Level], label: ArrayLike, names: Sequence[Any], classes: Sequence[str]) -> Picture:
    """The table (row, node, weight) of some levels, one below the other, and how the rows move from each to the next.

    The levels follow one another, each with all its nodes. ``label`` gives the number of each row's class, ``names``
    what is written below the row, ``classes`` what the classes are called.
    """
    of_class = np.asarray(label)
    n_places = max(sum(np.maximum(level.n_samples, 1)) for level in levels)
    left, n_gaps = 6 + 9 * len("level"), max(level.n_nodes for level in levels) - 1
    width = min(30, (RIGHT - left - GAP * n_gaps) / n_places)
    lower = 14 if width < 22 else 0  # where rows are narrow, every second number stands lower
    drawn = ""
    for k, name in enumerate(classes):
        drawn += in_class(k, rect(left + 2 + 110 * k, 3, 10, 10)) + text(left + 18 + 110 * k, 13, name)
    y = 30.0
    above: list[tuple[int, float]] = []  # the rows of the level above, and where their lines begin
    for depth, level in enumerate(levels):
        x = float(left)
        here: list[tuple[int, float]] = []
        drawn += text(0, y + 28, "level") + text(0, y + 46, str(depth))
        for node, entries in zip(level.id.tolist(), np.split(level.entry, level.start[1:-1])):
            drawn += text(x + 1, y + 14, str(node), font_weight="bold")
            for row, weight in zip(level.row[entries].tolist(), level.weight[entries].tolist()):
                drop = lower * (len(here) % 2)
                drawn += _row(x, y + 19, width, weight, int(of_class[row]), str(names[row]), drop)
                here.append((row, x + width / 2))
                x += width
            x += GAP if len(entries) else GAP + width
        pairs = ((start, end) for row, start in above for other, end in here if row == other)
        drawn += "".join(line(start, y - LINK, end, y - 1, stroke_opacity=0.45) for start, end in pairs)
        above = here
        y += STRIP + lower + LINK
    return Picture(_said(levels), (480, y - LINK / 2), drawn)


def _said(levels: Sequence[Level]) -> str:
    """The table in words, for a screen reader."""
    counts = ", ".join(f"{len(level.entry)} entries in {level.n_nodes}" for level in levels)
    shared = any((level.weight[level.entry] < 1).any() for level in levels)
    return (
        f"The rows of {len(levels)} levels as bars with their numbers, level below level, grouped by node: {counts}. "
        "Lines join each row to its place on the next level; the rows of a leaf have no line."
        + (" Rows that were shared out stand in several nodes, as lower bars." if shared else "")
    )


def _row(x: float, y: float, width: float, weight: float, k: int, name: str, drop: float) -> str:
    """A row: a bar as high as its weight, with its number below, by `drop` lower than it could be."""
    frame = rect(x + 2, y, width - 4, BAR, **OUTLINE, stroke_opacity=FAINT)
    bar = in_class(k, rect(x + 2, y + BAR * (1 - weight), width - 4, BAR * weight))
    number = centred(x + width / 2, y + BAR + 16 + drop, name)
    return (frame if weight < 1 else "") + bar + number


def running_boxes(parts: Sequence[Sequence[int]]) -> Picture:
    """How one running sum serves several nodes: what their entries add, what is changed, and the sums that come out."""
    start = np.cumsum([0, *map(len, parts)])
    added = np.concatenate(parts)
    changed = added.copy()
    changed[start[1:-1]] -= [sum(part) for part in parts[:-1]]
    lines = [("added by the entries", added), ("totals subtracted", changed), ("running sum", np.cumsum(changed))]
    drawn, width, left = "", 38, 176
    for k, (title, numbers) in enumerate(lines):
        y = 8 + 44 * k
        drawn += text(0, y + 21, title)
        for node, (first, last) in enumerate(zip(start, start[1:])):
            for place in range(first, last):
                x = left + width * place + GAP * node
                if k == 1 and changed[place] != added[place]:
                    drawn += rect(x, y, width, 32, **filled(1), fill_opacity=0.25)
                drawn += rect(x, y, width, 32, **OUTLINE, stroke_opacity=FAINT)
                drawn += centred(x + width / 2, y + 21, with_minus(numbers[place]))
    alt = "; ".join(f"{title}: {', '.join(map(str, numbers.tolist()))}" for title, numbers in lines)
    return Picture(
        f"Numbers in boxes, node by node, in three lines. {alt}. In the middle line two boxes are shaded: the first of "
        "the second and of the third node, from which the total of the node before is subtracted.",
        (480, 136),
        drawn,
    )


def subtraction(parent: ArrayLike, lighter: ArrayLike) -> Picture:
    """The numbers of rows in each bin of a node, of its lighter child, and of the heavier one, which is the rest."""
    above, counted = np.asarray(parent), np.asarray(lighter)
    panels = [("parent", above), ("lighter child", counted), ("heavier child", above - counted)]
    words = ["known from above", "added up", "parent − lighter"]
    unit, width = 96 / above.max(), 132 / len(above)
    drawn = ""
    for k, ((title, counts), how) in enumerate(zip(panels, words)):
        left = 4 + 168 * k
        drawn += text(left, 16, title, font_weight="bold") + text(left, 34, how)
        bars = ""
        for b, n in enumerate(counts.tolist()):
            x = left + width * b
            bars += rect(x + 2, 156 - unit * n, width - 4, unit * n) if n else ""
            drawn += centred(x + width / 2, 150 - unit * n, n)
        drawn += element("g", bars, **filled(k)) + line(left, 156, left + 132, 156)
    alt = "Rows in each bin as bars: " + "; ".join(
        f"{title} {', '.join(map(str, counts.tolist()))}" for title, counts in panels
    )
    return Picture(f"{alt}. The last is the first minus the second.", (480, 168), drawn)


class Ordered(NamedTuple):
    """A level of growing trees: its nodes, the tree of each, whether they split and by which column at which number,
    where each begins, and the orders."""

    nodes: NDArray[np.intp]
    tree: NDArray[np.intp]
    splits: NDArray[np.bool_]
    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    start: NDArray[np.intp]
    orders: NDArray[np.integer]


def ordered_levels(
    values: NDArray[np.float64], label: NDArray[np.intp], counts: NDArray[np.intp] | None = None
) -> list[Ordered]:
    """The levels of CART's tree with the orders of all columns, as treekit keeps them while it grows.

    ``values`` has the shape (n_columns, n_rows). With ``counts``, of shape (n_roots, n_rows), there is a tree for each
    root, whose sample holds each row so often; entry ``m * n_rows + r`` is row r in tree m.
    """
    samples = [None] if counts is None else list(counts)
    tree = join_trees([CARTClassifier().fit(values.T, label, sample_weight=count).tree_ for count in samples])
    columns, per_row = list(range(len(values))), Gini(label, n_classes=2).per_row
    level = first_level(per_row, np.ones(len(label)), columns, sort_columns(values, columns), counts=counts)
    levels, next_id = [], level.n_nodes
    while True:
        splits = ~tree.is_leaf[level.id]
        asked = tree.feature[level.id], tree.threshold[level.id]
        levels.append(Ordered(level.id, level.tree, splits, *asked, level.start, level.orders.copy()))
        if not splits.any():
            return levels
        level = level.keep_only(np.flatnonzero(splits))
        node = level.id[level.node]
        branch = (values[tree.feature[node], level.row[level.entry]] > tree.threshold[node]).astype(np.intp)
        n_children = np.full(level.n_nodes, 2)
        level, _ = descend(level, branch, n_children, next_id)
        next_id += n_children.sum()


class _Levels(Scene):
    """Rows level by level, between the places from which they come and their nodes."""

    left, pitch, gap = 34, 22.0, 10  # where the rows begin; between two, and between two nodes
    names: Sequence[Any]  # of the rows

    def across(self, level: Ordered) -> list[float]:
        """Where the melon at each place of an order stands, from the left."""
        group = np.repeat(np.arange(len(level.nodes)), np.diff(level.start))
        return [self.left + self.pitch * (place + 0.5) + self.gap * g for place, g in enumerate(group.tolist())]

    def middles(self, level: Ordered) -> list[float]:
        """The middle of each node."""
        return [sum(spots) / len(spots) for spots in np.split(self.across(level), level.start[1:-1])]

    def brackets(self, level: Ordered, top: float) -> str:
        """A line below the rows of each node, faint below a leaf, with its number."""
        drawn = text(0, top + 18, "node")
        parts = zip(level.nodes.tolist(), level.splits, np.split(self.across(level), level.start[1:-1]))
        for node, splits, spots in parts:
            look = {} if splits else {"stroke_opacity": FAINT}
            drawn += line(spots[0] - 9, top, spots[-1] + 9, top, stroke_width=2, **look)
            drawn += centred((spots[0] + spots[-1]) / 2, top + 18, node, font_weight="bold")
        return drawn

    def below(self, level: Ordered, y: float, name: str, words: Sequence[object]) -> str:
        """Something about each node, in a line with a name."""
        return text(0, y, name) + "".join(centred(x, y, word) for x, word in zip(self.middles(level), words))

    def links(
        self,
        before: Sequence[tuple[int, float]],
        after: Sequence[tuple[int, float]],
        second: Sequence[bool],
        top: float,
    ) -> str:
        """The rows before a move, and a line from each to where it stands after it, dashed in a `second` bundle."""
        old = "".join(centred(spot, top + 38, self.names[row]) for row, spot in before)
        drawn = ["", ""]
        for row, spot in before:
            for (moved, other), is_second in zip(after, second, strict=True):
                if row == moved:
                    drawn[is_second] += line(spot, top + 44, other, top + 72)
        full, dashed = (element("g", lines, stroke_opacity=0.7) for lines in drawn)
        return element("g", old, font_size=14) + full + element("g", dashed, stroke_dasharray="3 3")


def in_leaves(levels: Sequence[Ordered]) -> list[int]:
    """The entries that have reached a leaf on these levels."""
    return [e for level in levels for e in level.orders[0][np.repeat(~level.splits, np.diff(level.start))].tolist()]


def comparisons(n: Any) -> Any:
    """About how many comparisons it takes to sort n rows by one column."""
    return n * np.log2(n)


class _Orders(_Levels):
    """Rows in the order of each column."""

    first, high = 24, 152  # where the first order begins; height of an order

    def __init__(self, x: pd.DataFrame, ripe: NDArray[np.bool_]) -> None:
        self.x, self.names = x, x.index
        self.levels = ordered_levels(x.to_numpy(float).T, ripe.astype(np.intp))
        self.leaf_y = self.first + self.high * len(x.columns) + 22
        self.size = (448, self.leaf_y + 62)  # narrow, so that the numbers read on a phone
        self.counts = [self.in_all(depth) for depth in range(len(self.levels))]

    def background(self) -> str:
        names = "".join(
            text(0, top + 16, f"by {column}", font_weight="bold") + text(0, top + 38, "from", font_size=14)
            for top, column in zip(self.tops(), self.x)
        )
        return ripe_and_unripe(8, 10) + names + text(0, self.leaf_y + 5, "leaf")

    def tops(self) -> list[int]:
        """Where each order begins."""
        return [self.first + self.high * j for j in range(len(self.x.columns))]

    def frame(self, depth: int) -> State:
        level, parts = self.levels[depth], [self.key(depth)]
        places: Places = {}
        for j, (top, column) in enumerate(zip(self.tops(), self.x)):
            spots = list(zip(level.orders[j].tolist(), self.across(level)))
            places |= {f"{column} {row}": (spot, top + 86) for row, spot in spots}
            # Before the root, the rows are in the order of the table; after a split, the left children come first.
            order, before = (range(len(spots)), level) if not depth else self.above(depth, j)
            goes_right = np.arange(len(level.nodes)) >= len(level.nodes) / 2
            second = np.repeat(goes_right & (depth > 0), np.diff(level.start)).tolist()
            parts.append(self.links(list(zip(order, self.across(before))), spots, second, top))
            parts.append(self.brackets(level, top + 102) + self.below(level, top + 138, "sort", self.prices(level)))
        return [*parts, self.bars(depth)], self.sentence(depth), places | self.settled(depth)

    def above(self, depth: int, j: int) -> tuple[list[int], Ordered]:
        """The level above a level, and the order of its rows by a column."""
        level = self.levels[depth - 1]
        return level.orders[j].tolist(), level

    def key(self, depth: int) -> str:
        """Where the lines come from, or where the two kinds of them lead."""
        if depth == 0:
            return text(164, 15, "lines: from the table’s order")
        drawn = line(164, 10, 188, 10) + text(194, 15, "to a left child")
        return drawn + line(312, 10, 336, 10, stroke_dasharray="3 3") + text(342, 15, "to a right one")

    def prices(self, level: Ordered) -> list[str]:
        """About how many comparisons sort each node by one column; a leaf need not be sorted."""
        sizes = np.diff(level.start).tolist()
        return [f"{comparisons(n):.3g}" if splits else "leaf" for n, splits in zip(sizes, level.splits)]

    def in_all(self, depth: int) -> int:
        """These comparisons in the nodes of a level that split, by all columns."""
        level = self.levels[depth]
        return round(len(self.x.columns) * comparisons(np.diff(level.start)[level.splits]).sum())

    def added(self, depth: int) -> str:
        """How the comparisons of a level add up."""
        sums = " + ".join(price for price in self.prices(self.levels[depth]) if price != "leaf")
        return f"{len(self.x.columns)} × {f'({sums})' if '+' in sums else sums} = {self.in_all(depth)}"

    def bars(self, depth: int) -> str:
        """The comparisons so far: those that were made, and those that sorting in every node would have taken."""
        drawn, unit = text(0, self.leaf_y + 31, "comparisons"), 208 / sum(self.counts)
        for y, name, counts in ((31, "once", self.counts[:1]), (51, "in every node", self.counts[: depth + 1])):
            drawn += ending(196, self.leaf_y + y, name) + ending(230, self.leaf_y + y, sum(counts))
            x = 238.0
            for d, n in enumerate(counts):
                look = {"fill_opacity": 1 if d == depth else BAR_LOOK}
                drawn += rect(x, self.leaf_y + y - 12, max(unit * n - 2, 0), 14, **look)
                x += unit * n
        return drawn

    def stay_sorted(self) -> bool:
        """Whether sharing out the orders of the level above leaves each node's rows sorted by each column."""
        return all(
            bool((np.diff(self.x.iloc[rows, j]) >= 0).all())
            for level in self.levels
            for j, order in enumerate(level.orders)
            for rows in np.split(order, level.start[1:-1])
        )

    def settled(self, depth: int) -> Places:
        """The rows that have reached a leaf, side by side below; of the marks that meet there only one is seen."""
        rows = in_leaves(self.levels[:depth])
        spots = {row: (self.left + self.pitch * (k + 0.5), self.leaf_y, 1, 1) for k, row in enumerate(rows)}
        return {
            f"{column} {row}": (*spot, int(j == 0)) for row, spot in spots.items() for j, column in enumerate(self.x)
        }

    def asked(self, depth: int) -> str:
        """The questions of a level's nodes that split."""
        level = self.levels[depth]
        return listed(
            [
                f"{self.x.columns[j]} ≤ {threshold:.4f} in node {node}"
                for node, j, threshold, splits in zip(level.nodes, level.feature, level.threshold, level.splits)
                if splits
            ]
        )

    def sentence(self, depth: int) -> str:
        level = self.levels[depth]
        if depth == 0:
            return (
                f"Level 0: all {len(self.x)} melons in the root. Sorting them in both orders took about "
                f"{self.added(0)} comparisons."
            )
        n_moved = int(np.diff(self.levels[depth - 1].start)[self.levels[depth - 1].splits].sum())
        opening = (
            f"Level {depth}: by {self.asked(depth - 1)}, {n_moved} melons, taken in order, went left or right, so each "
            f"child keeps both orders{'; all left children come first' if len(level.nodes) > 2 else ''}. "
        )
        if not level.splits.any():
            counts = " + ".join(str(n) for n in self.counts if n)
            return (
                f"{opening}Every melon is in a leaf. To sort in every node would have taken {counts} = "
                f"{sum(self.counts)} comparisons; to sort once took {self.counts[0]}, {sum(self.counts[1:])} fewer."
            )
        open_ = listed(level.nodes[level.splits].tolist())
        leaves = "" if level.splits.all() else f" for node {open_}; leaves need none"
        return f"{opening}Sorting again would take about {self.added(depth)} comparisons{leaves}."


def orders_explorer(x: pd.DataFrame, is_ripe: pd.Series) -> Explorable:
    """Melons in the order of each column of ``x``, level by level: sorted at the root, then only shared out."""
    ripe = is_ripe.to_numpy(bool)
    melons = _Orders(x, ripe)
    (first, second), level = melons.levels[1].nodes.tolist(), melons.levels[1]
    held = [", ".join(str(x.index[row]) for row in part) for part in np.split(level.orders[0], level.start[1:-1])]
    deepest = len(melons.levels) - 1
    return melons.explorable(
        title="In order, level by level",
        alt=f"The {len(x)} melons as numbered circles, hollow if ripe, in the order of {' and of '.join(x)}, after the "
        f"root has split. By {x.columns[0]}, node {first} holds {held[0]}, and node {second} {held[1]}. Lines from the "
        "order before do not cross within a node. Below each node stands how many comparisons would sort it.",
        controls=[Slider("Level", list(range(deepest + 1)), start=1, opens=0)],
        guess=Choice(
            "Your guess: the root splits. How many comparisons does it take to sort its children in both orders?",
            ["none", "one for each melon", "as many as at first"],
            answer="none" if melons.stay_sorted() else "as many as at first",
            truth="none is needed, as the lines of level 1 show; to sort them again would take about "
            f"{melons.in_all(1)}",
        ),
        challenge="Step down. Do two solid lines ever cross, or two dashed ones? How many comparisons "
        "are saved, until every melon is in a leaf?",
        found=lambda depth: depth == deepest,
        marks={
            f"{column} {row}": melon(name, bool(ripe[row]), radius=11)
            for column in x
            for row, name in enumerate(x.index)
        },
    )


def asks(cut: float) -> str:
    """A question about a number between 0 and 1."""
    return f"≤ {cut:.4f}".rstrip("0").replace("0.", ".")


class _Roots(_Levels):
    """Rows in the roots of several trees, each as large as it is often in the sample of its tree.

    The first ``n_drawn`` of the samples in ``counts`` are drawn; of the other trees only the depths count.
    """

    left, pitch, gap = 53, 32.8, 11
    size = (448, 360)
    top, strip = 0, 250  # where the rows and the steps of all trees begin
    cell, row = 3.4, 17  # width of a tree and height of a step, there

    def __init__(self, x: pd.DataFrame, ripe: NDArray[np.bool_], all_counts: NDArray[np.intp], n_drawn: int) -> None:
        counts = all_counts[:n_drawn]
        self.ripe, self.counts, self.rows = ripe, counts.ravel(), x.index
        self.names = [*x.index] * len(counts)
        self.column, self.values = x.columns[0], [*x.iloc[:, 0]] * len(counts)
        self.levels = ordered_levels(x.to_numpy(float).T, ripe.astype(np.intp), counts)
        alone = (CARTClassifier().fit(x, ripe, sample_weight=count) for count in all_counts)
        self.depths = np.array([model.tree_.max_depth for model in alone])
        self.n_moved = [int((self.depths >= step).sum()) for step in range(1, self.depths.max() + 1)]
        table = np.argsort(x.iloc[:, 0].to_numpy())  # the rows before they enter the roots
        shift = self.pitch * (len(self.levels[0].orders[0]) - len(table)) / 2
        self.table = [(r, self.left + shift + self.pitch * (k + 0.5)) for k, r in enumerate(table.tolist())]

    @property
    def drawn(self) -> list[int]:
        """The trees that are drawn."""
        return list(range(len(self.levels[0].nodes)))

    def background(self) -> str:
        looks = ((156, "tree 0", "none"), (246, "tree 1", "3 3"))
        key = "".join(line(x, 14, x + 28, 14, stroke_dasharray=d) + text(x + 35, 19, word) for x, word, d in looks)
        return ripe_and_unripe(12, 14) + key + self.forest()

    def cells(self, step: int, **look: Any) -> str:
        """The trees that take a step, each a cell."""
        y, right = self.strip + self.row * (step - 0.5), self.left + self.cell * self.n_moved[step - 1]
        dashes = f"{self.cell - 0.9:.1f} 0.9"
        return line(self.left, y, right, y, stroke_width=self.row - 3, stroke_dasharray=dashes, **look)

    def column_of(self, tree: int) -> float:
        """The middle of a tree's column at the foot, where the deepest stand first."""
        rank = np.argsort(-self.depths, kind="stable").tolist().index(tree)
        return float(self.left + self.cell * (rank + 0.5))

    def forest(self) -> str:
        """All trees side by side, each as high as it is deep, in a frame for as many steps as the deepest takes."""
        y, n_steps = self.strip, len(self.n_moved)
        drawn = text(0, y - 8, "step") + ending(448, y - 8, "moved")
        for tree in self.drawn:
            x = self.column_of(tree)
            drawn += text(x + 5, y - 8, f"tree {tree}", font_size=14) + line(x, y - 18, x, y)
        drawn += "".join(text(14, y + self.row * step - 3, str(step)) for step in range(1, n_steps + 1))
        drawn += rect(
            self.left - 1.5, y, self.cell * len(self.depths) + 2, self.row * n_steps, **OUTLINE, stroke_opacity=FAINT
        )
        return drawn

    def steps(self, depth: int) -> str:
        """The steps so far, each with the trees that it has moved; and their sum."""
        drawn = ""
        for step, n in enumerate(self.n_moved[:depth], 1):
            look = {"stroke_opacity": 1 if step == depth else BAR_LOOK}
            drawn += ending(448, self.strip + self.row * step - 3, n) + self.cells(step, **look)
        y = self.strip + self.row * len(self.n_moved)
        drawn += text(0, y + 19, f"steps side by side: {depth}")
        return drawn + ending(448, y + 19, f"one after another: {sum(self.n_moved[:depth])}")

    def marks(self) -> dict[Any, str]:
        n_rows = len(self.ripe)
        return {
            e: melon(self.names[e], bool(self.ripe[e % n_rows]), radius=10.8)
            for e in np.flatnonzero(self.counts).tolist()
        }

    def frame(self, depth: int) -> State:
        if depth >= len(self.levels):
            return [self.steps(depth)], self.sentence(depth), {}
        level = self.levels[depth]
        spots = list(zip(level.orders[0].tolist(), self.across(level)))
        places: Places = {e: (spot, 90, self.counts[e] ** 0.5) for e, spot in spots}
        drawn = [self.lines(depth, spots) + self.numbers(spots), self.brackets(level, 128) + self.asked(level)]
        return [*drawn, self.went(level) if depth else "", self.steps(depth)], self.sentence(depth), places

    def lines(self, depth: int, spots: Sequence[tuple[int, float]]) -> str:
        """From where the entries of a level come: from the rows of the table, or from the nodes that split above."""
        level = self.levels[depth]
        second = np.repeat(level.tree > 0, np.diff(level.start)).tolist()
        if not depth:
            entered = [(e % len(self.ripe), spot) for e, spot in spots]
            return text(0, 38, f"by {self.column}") + self.links(self.table, entered, second, self.top)
        above, moved = self.levels[depth - 1], {e for e, _ in spots}
        before = [(e, x) for e, x in zip(above.orders[0].tolist(), self.across(above)) if e in moved]
        return text(0, 38, "from") + self.links(before, spots, second, self.top)

    def numbers(self, spots: Sequence[tuple[int, float]]) -> str:
        """The value of each entry, below it."""
        numbers = (centred(x, 120, f"{self.values[e]:.2f}".removeprefix("0")) for e, x in spots)
        return element("g", text(0, 120, self.column) + "".join(numbers), font_size=14)

    def asked(self, level: Ordered) -> str:
        """The tree of each node, what it asks, and its cut between the entries that go left and those that go right."""
        words = [asks(cut) if splits else "leaf" for cut, splits in zip(level.threshold, level.splits)]
        drawn = self.below(level, 165, "tree", level.tree.tolist()) + self.below(level, 184, "asks", words)
        parts = zip(*(np.split(np.asarray(of), level.start[1:-1]) for of in (level.orders[0], self.across(level))))
        for (entries, spots), splits, cut in zip(parts, level.splits, level.threshold):
            if splits:
                n_left = sum(self.values[e] <= cut for e in entries)
                x = (spots[n_left - 1] + spots[n_left]) / 2
                drawn += line(x, 107, x, 136, stroke_width=2)
        return drawn

    def went(self, level: Ordered) -> str:
        """What the one partition has sent left, and what right, of all trees."""
        spots, n_left = self.across(level), int(level.start[len(level.nodes) // 2])
        drawn = text(0, 211, "went")
        for word, part in (("left", spots[:n_left]), ("right", spots[n_left:])):
            drawn += line(part[0] - 12, 195, part[-1] + 12, 195) + centred((part[0] + part[-1]) / 2, 211, word)
        return drawn

    def sentence(self, depth: int) -> str:
        if depth == 0:
            level = self.levels[0]
            held = np.split(level.orders[0], level.start[1:-1])
            samples = [f"tree {k} drew {listed(sorted(self.names[e] for e in part))}" for k, part in enumerate(held)]
            return (
                f"Before the first step the entries are in their roots, here in the order of {self.column}; the "
                f"listings keep that of the rows. {'; '.join(samples).capitalize()}. A melon drawn twice is twice as "
                "large."
            )
        return f"Step {depth} moved {self.moved(depth)} {self.dropped(depth)}{self.nodes(depth)}{self.saved(depth)}"

    def moved(self, depth: int) -> str:
        """How many trees a step has moved."""
        n_trees, n = len(self.depths), self.n_moved[depth - 1]
        ended = f"; {n_trees - n} {'had ended before' if depth > 1 else 'had nothing to split'}" if n < n_trees else ""
        done = [f"tree {tree}" for tree in self.drawn if self.depths[tree] < depth]
        ended += f", {listed(done)} among them" if done else ""
        return f"{f'{n} of' if n < n_trees else 'all'} {n_trees} trees at once{ended}."

    def dropped(self, depth: int) -> str:
        """The leaves that a step has left out."""
        above = self.levels[depth - 1] if depth <= len(self.levels) else None
        if above is None or above.splits.all() or depth == len(self.n_moved):
            return ""
        leaves = above.nodes[~above.splits].tolist()
        ends = f"Nodes {listed(sorted(leaves))} are leaves" if len(leaves) > 1 else f"Node {leaves[0]} is a leaf"
        return f"{ends}: the entries there have dropped out of the row. "

    def nodes(self, depth: int) -> str:
        """Where the children of the drawn trees stand, if there are several trees."""
        level = self.levels[depth] if depth < len(self.levels) else None
        if level is None or len(set(level.tree.tolist())) < 2:
            return ""
        left, right = np.split(level.nodes, 2)
        return (
            f"One partition served them: first stands what went left, nodes {listed(left.tolist())}, then what went "
            f"right, {listed(right.tolist())}. "
        )

    def saved(self, depth: int) -> str:
        """How many steps it would have taken so far, one tree after another."""
        n_trees, n_steps, n = len(self.depths), len(self.n_moved), sum(self.n_moved[:depth])
        sums = " + ".join(map(str, self.n_moved[:depth])) + (f" = {n}" if depth > 1 else "")
        if depth < n_steps:
            return f"One after another the trees would have taken {sums} steps so far."
        return (
            f"Side by side {n_steps} steps were enough, because each moved all trees that still split. One after "
            f"another the trees take {sums} steps, not {n_trees} × {n_steps} = {n_trees * n_steps}: the block becomes "
            "narrower from line to line, because most trees end early."
        )

    def first(self) -> str:
        """What stands first after the first step: the children of one tree, or what went left in all."""
        level = self.levels[1]
        n_first = len(level.nodes) // 2
        return FIRST[1] if len(set(level.tree[:n_first].tolist())) == n_first else FIRST[0]

    def crossing(self) -> tuple[float, float]:
        """The highest value that goes left in a root, and the lowest that goes right."""
        level = self.levels[0]
        value = np.array(self.values)[level.orders[0]]
        goes_left = value <= np.repeat(level.threshold, np.diff(level.start))
        return value[goes_left].max(), value[~goes_left].min()

    def verdict(self, guessed: str) -> str:
        """Why what went left stands first, whichever the tree."""
        if guessed == FIRST[1]:
            return "the partition asks only who goes left, not in which tree, and therefore serves all trees at once"
        if guessed == FIRST[0]:
            return "the partition asks only who goes left, not in which tree, and in tree 0 some go right"
        high, low = (f"{value:.2f}".removeprefix("0") for value in self.crossing())
        return f"each tree has a cut of its own, so {high} goes left in one tree, and {low} right in another"


#: Answers to what stands first after a partition.
FIRST = ("all of tree 0", "all that went left", "the lowest densities")


def roots_explorer(x: pd.DataFrame, is_ripe: pd.Series, counts: NDArray[np.intp], n_drawn: int = 2) -> Explorable:
    """Trees on samples of some melons, side by side in each level; the one column of ``x`` gives the order.

    ``counts``, of shape (n_trees, n_melons), tells how often each sample holds each melon. The first ``n_drawn`` trees
    are drawn; of all of them the steps are counted.
    """
    melons = _Roots(x, is_ripe.to_numpy(bool), counts, n_drawn)
    n_steps, n_trees = len(melons.n_moved), len(counts)
    level = melons.levels[1]
    nodes = ", ".join(f"node {node} of tree {tree}" for node, tree in zip(level.nodes.tolist(), level.tree.tolist()))
    roots = " and ".join(map(asks, melons.levels[0].threshold))
    return melons.explorable(
        title="Two roots, one level",
        alt=f"{n_drawn} trees that grow side by side, after one step, from left to right: {nodes}. Their "
        f"{len(level.orders[0])} entries are numbered circles, hollow if ripe, larger if drawn twice, each with its "
        f"{melons.column}. Lines join each to its place in a root; the roots asked {roots}. Below each node stands "
        f"what it asks next, and a stroke divides its entries. At the foot {n_trees} columns are the trees, each with "
        f"a cell for each of its steps; in the first step there are {melons.n_moved[0]} cells.",
        controls=[Slider("Step", list(range(n_steps + 1)), start=1, opens=0)],
        guess=Choice(
            f"The strokes show who goes left. One partition moves the {len(level.orders[0])} entries of both roots. "
            "Your guess: what stands first in the row afterwards?",
            FIRST,
            answer=melons.first(),
            truth=melons.verdict,
        ),
        challenge="At the foot each column is a tree and each line a step, which takes about as many calls for "
        f"{n_trees} trees as for one. Step to the end: how many steps do they take side by side, how many one after "
        f"another, and why not {n_trees}\u00a0×\u00a0{n_steps}?",
        found=lambda depth: depth == n_steps,
    )
