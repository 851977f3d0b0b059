"""The figures of the appendix on how treekit grows a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from figures.charts import Picture
from figures.explorable import Choice, Explorable, Places, Scene, Slider, State
from figures.looks import DIVIDE, OUTLINE, centred, ending, filled, in_class, path, with_minus
from figures.melons import listed, melon, ripe_and_unripe
from treekit.growing.criteria import Gini
from treekit.growing.level import Level, descend, first_level
from treekit.growing.presorted import sort_columns
from treekit.models.cart import CARTClassifier
from treekit.pen.palette import BAR as BAR_LOOK
from treekit.pen.svg import FAINT, element, line, number, rect, text

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
        for node, entries in enumerate(np.split(level.entry, level.start[1:-1])):
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
    shared = any((level.weight[level.entry] < 1).any() for level in levels)
    name = "parts of rows" if shared else "rows"
    counts = ", ".join(f"{len(level.entry)} {name} in {level.n_nodes}" for level in levels)
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
    """How one running sum serves several nodes: what their rows add, what is changed, and the sums that come out."""
    start = np.cumsum([0, *map(len, parts)])
    added = np.concatenate(parts)
    changed = added.copy()
    changed[start[1:-1]] -= [sum(part) for part in parts[:-1]]
    lines = [("added by the rows", added), ("totals subtracted", changed), ("running sum", np.cumsum(changed))]
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
    """A level of a growing tree: whether its nodes split and by which column at which number, where each begins, and
    the orders."""

    splits: NDArray[np.bool_]
    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    start: NDArray[np.intp]
    orders: NDArray[np.integer]


def ordered_levels(values: NDArray[np.float64], label: NDArray[np.intp]) -> list[Ordered]:
    """The levels of CART's tree with the orders of all columns, as treekit keeps them while it grows.

    ``values`` has the shape (n_columns, n_rows).
    """
    tree = CARTClassifier().fit(values.T, label).tree_
    columns, per_row = list(range(len(values))), Gini(label, n_classes=2).per_row
    level = first_level(per_row, np.ones(len(label)), columns, sort_columns(values, columns))
    levels, next_id = [], level.n_nodes
    while True:
        splits = ~tree.is_leaf[level.id]
        asked = tree.feature[level.id], tree.threshold[level.id]
        levels.append(Ordered(splits, *asked, level.start, level.orders.copy()))
        if not splits.any():
            return levels
        level = level.keep_only(np.flatnonzero(splits))
        node = level.id[level.node]
        branch = (values[tree.feature[node], level.rows()] > tree.threshold[node]).astype(np.intp)
        n_children = np.full(level.n_nodes, 2)
        level, _ = descend(level, branch, n_children, next_id)
        next_id += n_children.sum()


def in_leaves(levels: Sequence[Ordered]) -> list[int]:
    """The entries that have reached a leaf on these levels."""
    return [e for level in levels for e in level.orders[0][np.repeat(~level.splits, np.diff(level.start))].tolist()]


def comparisons(n: Any) -> Any:
    """About how many comparisons it takes to sort n rows by one column."""
    return n * np.log2(n)


class _Orders(Scene):
    """Rows in the order of each column, level by level, between the places from which they come and their nodes."""

    left, pitch, gap = 34, 22.0, 10  # where the rows begin; between two, and between two nodes
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

    def across(self, level: Ordered) -> list[float]:
        """Where the melon at each place of an order stands, from the left."""
        group = np.repeat(np.arange(len(level.splits)), np.diff(level.start))
        return [self.left + self.pitch * (place + 0.5) + self.gap * g for place, g in enumerate(group.tolist())]

    def middles(self, level: Ordered) -> list[float]:
        """The middle of each node."""
        return [sum(spots) / len(spots) for spots in np.split(self.across(level), level.start[1:-1])]

    def brackets(self, level: Ordered, top: float) -> str:
        """A line below the rows of each node, faint below a leaf, with its number."""
        drawn = text(0, top + 18, "node")
        parts = zip(level.splits, np.split(self.across(level), level.start[1:-1]))
        for node, (splits, spots) in enumerate(parts):
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

    def frame(self, depth: int) -> State:
        level, parts = self.levels[depth], [self.key(depth)]
        places: Places = {}
        for j, (top, column) in enumerate(zip(self.tops(), self.x)):
            spots = list(zip(level.orders[j].tolist(), self.across(level)))
            places |= {f"{column} {row}": (spot, top + 86) for row, spot in spots}
            # Before the root, the rows are in the order of the table; after a split, the left children come first.
            order, before = (range(len(spots)), level) if not depth else self.above(depth, j)
            goes_right = np.arange(len(level.splits)) >= len(level.splits) / 2
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
                for node, (j, threshold, splits) in enumerate(zip(level.feature, level.threshold, level.splits))
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
            f"Level {depth}: {n_moved} melons, taken in order, went left or right by {self.asked(depth - 1)}, so each "
            f"child keeps both orders{'; all left children come first' if len(level.splits) > 2 else ''}. "
        )
        if not level.splits.any():
            counts = " + ".join(str(n) for n in self.counts if n)
            return (
                f"{opening}Every melon is in a leaf. To sort in every node would have taken {counts} = "
                f"{sum(self.counts)} comparisons; to sort once took {self.counts[0]}, {sum(self.counts[1:])} fewer."
            )
        open_ = listed(np.flatnonzero(level.splits).tolist())
        leaves = "" if level.splits.all() else f" for node {open_}; leaves need none"
        return f"{opening}Sorting again would take about {self.added(depth)} comparisons{leaves}."


def orders_explorer(x: pd.DataFrame, is_ripe: pd.Series) -> Explorable:
    """Melons in the order of each column of ``x``, level by level: sorted at the root, then only shared out."""
    ripe = is_ripe.to_numpy(bool)
    melons = _Orders(x, ripe)
    level = melons.levels[1]
    held = [", ".join(str(x.index[row]) for row in part) for part in np.split(level.orders[0], level.start[1:-1])]
    deepest = len(melons.levels) - 1
    return melons.explorable(
        title="In order, level by level",
        alt=f"The {len(x)} melons as numbered circles, hollow if ripe, in the order of {' and of '.join(x)}, after the "
        f"root has split. By {x.columns[0]}, node 0 holds {held[0]}, and node 1 {held[1]}. Lines from the "
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


#: Numbers of trees to choose from: one by one up to ten, and where ten times is reached.
N_TREES = [*range(1, 11), 15, 20, 21, 22, 50, 100]
#: Which trees are taken out.
NONE, TREE_1, DEEPEST = OUT = ("none", "tree 1", "all the deepest")
#: The looks of columns, of what cuts them into cells, of columns end to end, and of what stands between these.
COLUMN = {"stroke": "currentColor", "stroke_width": 0.88}
CUT = {"style": DIVIDE, "stroke_width": 3}
END_TO_END = {"stroke": "currentColor", "stroke_width": 1}
BETWEEN = {**CUT, "stroke_width": 0.5}


class _Forest(Scene):
    """Trees as columns with a cell for each step from level to level, and how many steps all take together.

    Side by side a step fills a line of cells, one after the other a single cell. A tree that is taken out leaves
    its place empty: its depth counts as 0.
    """

    size = (448, 240)
    left, width, widest = 88, 282, 52.0  # of all columns, and of one
    top, line = 24, 20  # where the columns begin, and the height of a cell
    bars, longest = (178, 224), 428  # where the bars stand, and the length of one for all cells

    def __init__(self, depths: Sequence[int]) -> None:
        self.depths = np.asarray(depths)
        self.n_trees, self.n_lines = len(depths), int(self.depths.max())
        self.unit = self.longest / self.depths.sum()  # of a step in the bars

    def left_in(self, n: int, out: str = NONE) -> NDArray[np.intp]:
        """The depths of the first n trees, 0 for those that are taken out."""
        depths = self.depths[:n]
        gone = {NONE: depths < 0, TREE_1: np.arange(n) == 1, DEEPEST: depths == self.n_lines}[out]
        return np.where(gone, 0, depths)

    def together(self, n: int, out: str = NONE) -> tuple[int, int]:
        """How many steps the first n trees take side by side, and how many one after the other."""
        depths = self.left_in(n, out)
        return int(depths.max()), int(depths.sum())

    def background(self) -> str:
        numbers = "".join(ending(80, self.under(k) + 15, k + 1) for k in range(1, self.n_lines))
        y = self.under(self.n_lines) + 8
        key = rect(self.left, y, 12, 12) + text(self.left + 18, y + 11, "no tree here is deeper")
        lines = ending(80, self.under(0) + 15, "step 1") + numbers
        return element("g", lines, class_="answer") + key

    def under(self, k: int) -> int:
        """Where the line of step k + 1 begins."""
        return self.top + self.line * k

    def pitch(self, n: int) -> float:
        """From one of n columns to the next."""
        return min(self.widest, self.width / n)

    def frame(self, n: int, out: str) -> State:
        depths = self.left_in(n, out)
        parts = [self.named(n), self.columns(depths), self.cuts(), self.moved(depths), self.compared(depths)]
        return parts, self.sentence(n, out), {}

    def named(self, n: int) -> str:
        """The numbers of the columns, or of the first and the last where there are many."""
        if n > 12:
            return text(self.left, 16, "tree 0") + ending(self.left + self.width, 16, f"tree {n - 1}")
        numbers = "".join(text(self.left + self.pitch(n) * (k + 0.5), 16, str(k)) for k in range(n))
        return ending(80, 16, "tree") + element("g", numbers, text_anchor="middle")

    def columns(self, depths: NDArray[np.intp]) -> str:
        """A column for each tree, pale if another is deeper. A unit across is a tree, and down a step."""
        drawn, most = ["", ""], max(depths.tolist())
        for k, depth in enumerate(depths.tolist()):
            drawn[depth == most] += f"M{k} 0v{depth}" if depth else ""
        pitch = self.pitch(len(depths))
        scaled = f"translate({number(self.left + pitch / 2)},{self.top}) scale({number(pitch)},{self.line})"
        trees = path(drawn[0], stroke_opacity=BAR_LOOK) + path(drawn[1])
        return element("g", trees, transform=scaled, **COLUMN)

    def cuts(self) -> str:
        """What cuts the columns into cells."""
        return path("".join(f"M{self.left} {self.under(k)}h{self.width}" for k in range(1, self.n_lines)), **CUT)

    def moved(self, depths: NDArray[np.intp]) -> str:
        """How many trees each line of cells moves."""
        counts = [int((depths > k).sum()) for k in range(self.n_lines)]
        numbers = "".join(text(404, self.under(k) + 15, str(count)) for k, count in enumerate(counts) if count)
        trees = text(409, self.under(0) + 15, "tree" if counts[0] == 1 else "trees")
        return element("g", element("g", numbers, text_anchor="end") + trees, class_="answer")

    def compared(self, depths: NDArray[np.intp]) -> str:
        """How long all take, as bars of one unit. The longer one is the columns, end to end."""
        lines, cells = depths.max(), depths.sum()
        said = text(0, self.bars[0] - 8, f"side by side, a line at a time: {lines} steps")
        said += text(0, self.bars[1] - 8, f"one after the other, a cell at a time: {cells} steps")
        ends = np.cumsum([0, *depths]).tolist()
        dark = "".join(f"M{a} .5H{b}" for a, b in zip(ends, ends[1:]) if b - a == lines)
        trees = path(f"M0 .5H{cells}", stroke_opacity=BAR_LOOK) + path(dark)
        trees += path("M0 1" + "".join(f"m{depth}-1v1" for depth in depths[:-1].tolist() if depth), **BETWEEN)
        scaled = f"translate(0,{self.bars[1]}) scale({number(self.unit)},14)"
        bars = rect(0, self.bars[0], self.unit * lines, 14) + element("g", trees, transform=scaled, **END_TO_END)
        return element("g", said + bars, class_="answer")

    def is_tenfold(self, n: int) -> bool:
        """Whether n trees take ten times as many steps one after the other, or more."""
        side_by_side, in_turn = self.together(n)
        return in_turn >= 10 * side_by_side

    def found(self, n: int, out: str) -> int:
        """Which part of the challenge is met."""
        if out == NONE:
            return int(self.is_tenfold(n))
        return 2 * (n == self.n_trees and self.together(n, out)[0] < self.n_lines)

    def sentence(self, n: int, out: str) -> str:
        side_by_side, in_turn = self.together(n)
        if n == 1:
            return f"One tree takes {in_turn} steps either way."
        if out != NONE:
            return self.without(n, out)
        ratio = f"{in_turn / side_by_side:.1f}".removesuffix(".0")
        return (
            f"{self.added(n)} In all that is {in_turn} against {side_by_side}, {ratio} times as many.{self.remark(n)}"
        )

    def without(self, n: int, out: str) -> str:
        """What the trees that are taken out save."""
        depths, (most, cells) = self.left_in(n, out), self.together(n, out)
        lines_of_all, cells_of_all = self.together(n)
        fewer, in_turn = lines_of_all - most, cells_of_all - cells
        n_out, n_deep = int((depths == 0).sum()), int((depths == most).sum())
        who = f"the {n_out} deepest trees" if n_out > 1 else "tree 1"
        others = f"{n_deep} other trees need" if n_deep > 1 else "another tree needs"
        saved = f"{fewer} side by side: the deepest left needs only" if fewer else f"none side by side: {others}"
        return f"Without {who}, {in_turn} steps fewer one after the other, and {saved} {most}."

    def added(self, n: int) -> str:
        """What the last trees have added to both numbers."""
        before = N_TREES[N_TREES.index(n) - 1]
        more, in_turn = (b - a for a, b in zip(self.together(before), self.together(n)))
        who = f"Tree {n - 1} adds" if n - before == 1 else f"Trees {before} to {n - 1} add"
        if not more:
            return f"{who} {in_turn} step{'s' * (in_turn > 1)} one after the other, and none side by side."
        return (
            f"{who} {in_turn} steps one after the other, but only {more} side by side, because it joins in the "
            f"{in_turn - more} that are needed anyway."
        )

    def remark(self, n: int) -> str:
        """Why ten trees are not ten times as many, and what a hundred save."""
        most, in_turn = self.together(n)
        if n == self.n_trees:
            return " Only calls are saved: as many rows move as before."
        if self.is_tenfold(n):
            return (
                f" Ten trees are not enough: side by side takes as many as the deepest tree, {most}, but the average "
                f"tree needs only {in_turn / n:.1f}."
            )
        if n == 10:
            return f" Ten trees would take 10 × {most} only if each were as deep as the deepest; most are done sooner."
        return ""


def roots_explorer(x: pd.DataFrame, is_ripe: pd.Series, counts: NDArray[np.intp]) -> Explorable:
    """How many steps a forest takes side by side, and how many one after the other, from 1 tree to 100.

    ``counts``, of shape (100, n_melons), tells how often the sample of each tree holds each melon; none of these trees
    is deeper than tree 1.
    """
    forest = _Forest([CARTClassifier().fit(x, is_ripe, sample_weight=count).tree_.max_depth for count in counts])
    side_by_side, in_turn = forest.together(forest.n_trees)
    moved = ", ".join(str(int((forest.depths > k).sum())) for k in range(forest.n_lines))
    first, second = forest.depths[:2].tolist()
    why = {
        first + second: f"that is one after the other; the first {first} steps move both trees",
        second: f"the first {first} move both trees, the others tree 1 alone",
        (first + second) / 2: f"tree 0 is done after {first}, but tree 1 goes on alone to {second}",
    }
    return forest.explorable(
        title="A hundred roots, one level",
        alt=f"{forest.n_trees} trees as narrow columns that hang down side by side, each with as many cells as it needs"
        f" steps, {forest.depths.min()} to {side_by_side}; the deepest stand out. Each line of cells is a "
        f"step; the lines hold {moved} trees. Below, two bars of one unit: side by side {side_by_side} "
        f"steps; one after the other {in_turn}, the columns end to end.",
        controls=[Slider("Trees", N_TREES, start=forest.n_trees, opens=2), Choice("Take out", OUT)],
        guess=Choice(
            f"A step down a level takes the same few calls, however many rows it moves. Tree 0 needs {first} steps, "
            f"tree 1 needs {second}. Your guess: how many do both need, if they grow side by side?",
            list(why),
            answer=second,
            truth=why.__getitem__,
        ),
        challenge="Add trees until growing them in turn takes at least ten times as many steps as side by side. "
        f"Why are ten trees not enough? Then go to {forest.n_trees} and take out trees until side by side takes one "
        "step fewer.",
        found=forest.found,
    )
