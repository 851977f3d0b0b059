"""The figures of the appendix on how treekit grows a tree."""

from __future__ import annotations

import itertools
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


def of_trees(level: Ordered, trees: Sequence[int]) -> Ordered:
    """What a level holds of these trees."""
    kept, sizes = np.isin(level.tree, trees), np.diff(level.start)
    of_nodes = {name: getattr(level, name)[kept] for name in OF_NODES}
    return Ordered(**of_nodes, start=np.cumsum([0, *sizes[kept]]), orders=level.orders[:, np.repeat(kept, sizes)])


def one_row(parts: Sequence[Ordered]) -> Ordered:
    """Parts of several levels in a row."""
    of_nodes = {name: np.concatenate([getattr(part, name) for part in parts]) for name in OF_NODES}
    start = np.cumsum([0, *(size for part in parts for size in np.diff(part.start))])
    return Ordered(**of_nodes, start=start, orders=np.concatenate([part.orders for part in parts], axis=1))


#: What a level has one of for each node.
OF_NODES = ("nodes", "tree", "splits", "feature", "threshold")
#: In which order trees grow.
WAYS = ("side by side", "one after the other")


class _Roots(_Levels):
    """Rows in the roots of two trees, each as large as it is often in the sample of its tree.

    Side by side each partition moves both trees, as long as both split; one after the other it moves one of them.
    """

    left, pitch, gap = 53, 32.8, 11
    size = (448, 290)
    top, foot, indent = 0, 248, 70  # where the rows begin, and the boxes of the partitions

    def __init__(self, x: pd.DataFrame, ripe: NDArray[np.bool_], counts: NDArray[np.intp]) -> None:
        self.ripe, self.counts = ripe, counts.ravel()
        self.names = [*x.index] * len(counts)
        self.column, self.values = x.columns[0], [*x.iloc[:, 0]] * len(counts)
        self.levels = ordered_levels(x.to_numpy(float).T, ripe.astype(np.intp), counts)
        split = [sorted(set(level.tree[level.splits].tolist())) for level in self.levels[:-1]]
        self.trees = range(len(counts))
        self.n_own = [sum(tree in trees for trees in split) for tree in self.trees]  # partitions of each tree alone
        one_by_one = [[tree] for tree in self.trees for _ in range(self.n_own[tree])]
        self.moves = dict(zip(WAYS, (split, one_by_one)))  # the trees that each partition moves
        table = np.argsort(x.iloc[:, 0].to_numpy())  # the rows before they enter the roots
        shift = self.pitch * (len(self.levels[0].orders[0]) - len(table)) / 2
        self.table = [(r, self.left + shift + self.pitch * (k + 0.5)) for k, r in enumerate(table.tolist())]

    def row(self, way: str, n: int) -> Ordered:
        """The row after n partitions, without the trees that were done before the last of them."""
        so_far = self.moves[way][:n]
        depth = [sum(tree in trees for trees in so_far) for tree in self.trees]
        here = [tree for tree in self.trees if depth[tree] < self.n_own[tree] or tree in so_far[-1]]
        parts = itertools.groupby(here, key=depth.__getitem__)
        return one_row([of_trees(self.levels[d], list(trees)) for d, trees in parts])

    def background(self) -> str:
        looks = ((156, "tree 0", "none"), (246, "tree 1", "3 3"))
        key = "".join(line(x, 14, x + 28, 14, stroke_dasharray=d) + text(x + 35, 19, word) for x, word, d in looks)
        names = "".join(text(0, self.foot + 15 + 22 * tree, f"tree {tree}") for tree in self.trees)
        frames = ""
        for k in range(sum(self.n_own)):
            names += centred(self.indent + self.cell * (k + 0.5), self.foot - 6, k + 1)
            frames += "".join(self.box(tree, k) for tree in self.trees)
        frames = element("g", frames, **OUTLINE, stroke_opacity=FAINT)
        return ripe_and_unripe(12, 14) + key + text(0, self.foot - 6, "partition") + names + frames

    @property
    def cell(self) -> float:
        """The width of a partition's column at the foot."""
        return (self.size[0] - self.indent) / sum(self.n_own)

    def box(self, tree: int, k: int, **look: Any) -> str:
        """The place of a tree in the column of partition k + 1."""
        return rect(self.indent + self.cell * k + 2, self.foot + 22 * tree, self.cell - 4, 18, **look)

    def moved_so_far(self, way: str, n: int) -> str:
        """A box for each tree that one of the first n partitions has moved, darker for the last."""
        return "".join(
            self.box(tree, k, fill_opacity=1 if k == n - 1 else BAR_LOOK)
            for k, trees in enumerate(self.moves[way][:n])
            for tree in trees
        )

    def marks(self) -> dict[Any, str]:
        n_rows = len(self.ripe)
        return {
            e: melon(self.names[e], bool(self.ripe[e % n_rows]), radius=10.8)
            for e in np.flatnonzero(self.counts).tolist()
        }

    def frame(self, way: str, n: int) -> State:
        last = min(n, len(self.moves[way]))  # when both trees are done, nothing moves
        row = self.row(way, last)
        spots = list(zip(row.orders[0].tolist(), self.across(row)))
        waits = np.repeat(self.waits(row, way, last), np.diff(row.start))
        places: Places = {
            e: (x, 90, size, size, 0.4) if is_waiting else (x, 90, size)
            for (e, x), is_waiting in zip(spots, waits)
            for size in [self.counts[e] ** 0.5]
        }
        drawn = [self.lines(way, last, row) + self.numbers(spots), self.brackets(row, 128) + self.asked(row)]
        drawn += [self.went(row, way, last), self.moved_so_far(way, last)]
        return drawn, self.sentence(way, n), places

    def waits(self, row: Ordered, way: str, n: int) -> NDArray[np.bool_]:
        """Whether the last of n partitions has left a node where it was."""
        return ~np.isin(row.tree, self.moves[way][n - 1]) if n else np.zeros(len(row.tree), bool)

    def lines(self, way: str, n: int, row: Ordered) -> str:
        """From where the entries of a row come: from the rows of the table, or from their places before."""
        spots = list(zip(row.orders[0].tolist(), self.across(row)))
        second = np.repeat(row.tree > 0, np.diff(row.start)).tolist()
        if not n:
            entered = [(e % len(self.ripe), spot) for e, spot in spots]
            return text(0, 38, f"by {self.column}") + self.links(self.table, entered, second, self.top)
        above, moved = self.row(way, n - 1), {e for e, _ in spots}
        before = [(e, x) for e, x in zip(above.orders[0].tolist(), self.across(above)) if e in moved]
        return text(0, 38, "from") + self.links(before, spots, second, self.top)

    def numbers(self, spots: Sequence[tuple[int, float]]) -> str:
        """The value of each entry, below it."""
        numbers = (centred(x, 120, f"{self.values[e]:.2f}".removeprefix("0")) for e, x in spots)
        return element("g", text(0, 120, self.column) + "".join(numbers), font_size=14)

    def asked(self, row: Ordered) -> str:
        """The tree of each node, what it asks, and its cut between the entries that go left and those that go right."""
        words = [asks(cut) if splits else "leaf" for cut, splits in zip(row.threshold, row.splits)]
        drawn = self.below(row, 165, "tree", row.tree.tolist()) + self.below(row, 184, "asks", words)
        parts = zip(*(np.split(np.asarray(of), row.start[1:-1]) for of in (row.orders[0], self.across(row))))
        for (entries, spots), splits, cut in zip(parts, row.splits, row.threshold):
            if splits:
                n_left = sum(self.values[e] <= cut for e in entries)
                x = (spots[n_left - 1] + spots[n_left]) / 2
                drawn += line(x, 107, x, 136, stroke_width=2)
        return drawn

    def went(self, row: Ordered, way: str, n: int) -> str:
        """What the last partition has sent left, what right, and what it has left where it was."""
        if not n:
            return ""
        waits, spots = self.waits(row, way, n), np.split(self.across(row), row.start[1:-1])
        n_left = int((~waits).sum()) // 2
        words = ["waits" if is_waiting else "left" if k < n_left else "right" for k, is_waiting in enumerate(waits)]
        drawn = text(0, 211, "went")
        for word, group in itertools.groupby(zip(words, spots), key=lambda pair: pair[0]):
            part = np.concatenate([spot for _, spot in group])
            drawn += line(part[0] - 12, 195, part[-1] + 12, 195) + centred((part[0] + part[-1]) / 2, 211, word)
        return drawn

    def sentence(self, way: str, n: int) -> str:
        if not n:
            held = np.split(self.levels[0].orders[0], self.levels[0].start[1:-1])
            samples = [f"tree {k} drew {listed(sorted(self.names[e] for e in part))}" for k, part in enumerate(held)]
            return (
                f"Before the first partition the entries are in their roots, by {self.column}: {'; '.join(samples)}. A "
                "melon drawn twice is twice as large."
            )
        moves = self.moves[way]
        if n > len(moves):
            return f"Both trees have been done since partition {len(moves)}: nothing is left to be moved."
        trees = "both trees" if len(moves[n - 1]) > 1 else f"tree {moves[n - 1][0]} alone"
        moved = f"Partition {n} moved {trees}{self.waiting(way, n)}. "
        return f"{moved}{self.dropped(way, n)}{self.done(way) if n == len(moves) else self.order(way, n)}"

    def waiting(self, way: str, n: int) -> str:
        """Which tree waits meanwhile, or is done."""
        others = [tree for tree in self.trees if tree not in self.moves[way][n - 1]]
        is_done = all(tree in trees for tree in others for trees in self.moves[way][: self.n_own[tree]])
        return "".join(f", as tree {t} is done" if is_done else f", while tree {t} waits" for t in others)

    def order(self, way: str, n: int) -> str:
        """In which order the children stand."""
        row = self.row(way, n)
        left, right = np.split(row.nodes[~self.waits(row, way, n)], 2)
        return f"First stands what went left, {nodes_named(left)}, then what went right, {nodes_named(right)}."

    def dropped(self, way: str, n: int) -> str:
        """The leaves that a partition has left out."""
        above = self.row(way, n - 1)
        gone = above.nodes[~above.splits]
        verb = "is a leaf" if len(gone) == 1 else "are leaves"
        return (
            f"{nodes_named(np.sort(gone)).capitalize()} {verb}: the entries there have left the row. "
            if len(gone)
            else ""
        )

    def done(self, way: str) -> str:
        """How many partitions both trees took in all."""
        n, n_together = len(self.moves[way]), len(self.moves[WAYS[0]])
        if way == WAYS[1]:
            return (
                f"Both trees are done after {' + '.join(map(str, self.n_own))} = {n} partitions, {n - n_together} more "
                "than side by side; each node has held the same entries."
            )
        other, deeper = np.argsort(self.n_own, kind="stable").tolist()
        return (
            f"Both trees are done after {n} partitions, as many as tree {deeper} needs by itself: tree {other} came "
            f"along in the first {self.n_own[other]}, and needed none of its own."
        )

    def first(self) -> str:
        """What stands first after the first partition: the children of one tree, or what went left in all."""
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
            return "the partition asks only who goes left, not in which tree, and therefore serves both at once"
        if guessed == FIRST[0]:
            return "the partition asks only who goes left, not in which tree, and in tree 0 some go right"
        high, low = (f"{value:.2f}".removeprefix("0") for value in self.crossing())
        return f"each tree has a cut of its own, so {high} goes left in one tree, and {low} right in another"


#: Answers to what stands first after a partition.
FIRST = ("all of tree 0", "all that went left", "the lowest densities")


def nodes_named(nodes: NDArray[np.intp]) -> str:
    """Name these nodes in a sentence: "node 3", "nodes 3 and 4"."""
    return f"node{'s' * (len(nodes) > 1)} {listed(nodes.tolist())}"


def roots_explorer(x: pd.DataFrame, is_ripe: pd.Series, counts: NDArray[np.intp]) -> Explorable:
    """Two trees on samples of some melons, side by side in each level or one after the other.

    ``counts``, of shape (2, n_melons), tells how often each sample holds each melon; the one column of ``x`` gives the
    order.
    """
    melons = _Roots(x, is_ripe.to_numpy(bool), counts)
    n_ends = {way: len(moves) for way, moves in melons.moves.items()}
    level = melons.levels[1]
    nodes = ", ".join(f"node {node} of tree {tree}" for node, tree in zip(level.nodes.tolist(), level.tree.tolist()))
    roots = " and ".join(map(asks, melons.levels[0].threshold))
    return melons.explorable(
        title="Two roots, one level",
        alt=f"Two trees that grow side by side, after one partition, from left to right: {nodes}. Their "
        f"{len(level.orders[0])} entries are numbered circles, hollow if ripe, larger if drawn twice, each with its "
        f"{melons.column}. Lines join each to its place in a root; the roots asked {roots}. Below each node stands "
        f"what it asks next, and a stroke divides its entries. At the foot each of {max(n_ends.values())} columns is a "
        "partition, with a box for each tree; in the first column both boxes are filled.",
        controls=[
            Choice("Grow the trees", list(WAYS)),
            Slider("Partition", list(range(max(n_ends.values()) + 1)), start=1, opens=0),
        ],
        guess=Choice(
            f"The strokes show who goes left. One partition moves the {len(level.orders[0])} entries of both roots. "
            "Your guess: what stands first in the row afterwards?",
            FIRST,
            answer=melons.first(),
            truth=melons.verdict,
        ),
        challenge="Find the partition after which both trees are done, side by side and one after the other. Why does "
        "side by side not take half as many?",
        found=lambda way, n: (WAYS.index(way) + 1) * (n == n_ends[way]),
    )
