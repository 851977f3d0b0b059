"""The figures of the chapter on pruning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from figures.charts import Chart, Picture, around, region, ticks
from figures.explorable import Choice, Explorable, Panel, Places, Scene, Slider, State
from figures.looks import HALO, OUTLINE, centred, dot, ending, filled, grip, small, stroked
from figures.melons import in_lines, listed, melon_marks, ripe_and_unripe
from treekit.models.cart import CARTClassifier, CARTRegressor
from treekit.pen.palette import REGION, class_color
from treekit.pen.svg import circle, element, line, number, rect, text
from treekit.pruning.cost_complexity import CostComplexityPath, cost_complexity_path, prune_cost_complexity
from treekit.pruning.pessimistic import binomial_limit
from treekit.trees.tree import Tree

NO_LIMIT, DASHES = "none", ("none", "7 4")
GROUND = "var(--pst-color-background, Canvas)"  # the colour of the page
STEP = 88  # pixels from one level of a tree to the next
WIDTH, PITCH = 400, 22.5  # of the drawings of melons, and from one melon to the next
Box = list[tuple[float, float]]


# -- curves that stand still ----------------------------------------------------------------------------------------


def depth_curves(means: pd.DataFrame) -> Picture:
    """Accuracy on training rows and on test rows, the columns of `means`, against the depth, its index."""
    last, low = int(means.index[-1]), np.floor(10 * means.min().min()) / 10
    plane = Chart((0, last), (low, 1), (48, 40, 400, 262))
    tenths, best = [t / 10 for t in range(round(10 * low), 11)], int(means["test"].idxmax())
    drawn = plane.axes(range(0, last + 1, 2), tenths, "largest depth", "accuracy")
    drawn += plane.upright(best, stroke_dasharray="2 4")
    for k, (column, name) in enumerate((("training", "training"), ("test", "test"))):
        drawn += plane.curve(means.index, means[column], stroke_dasharray=DASHES[k])
        drawn += text(406, plane.y(means[column].iloc[-1]) + 5, name)
    alt = (
        f"Two curves over the largest depth, from 0 to {last}. The training accuracy rises from "
        f"{means['training'].iloc[0]:.2f} to {means['training'].iloc[-1]:.2f}. The test accuracy is highest "
        f"at depth {best}, {means['test'].max():.2f}, and then falls to {means['test'].iloc[-1]:.2f}."
    )
    return Picture(alt, (480, 312), drawn)


def limit_curves(confidence: float = 0.25, most_rows: int = 20, most_errors: int = 2) -> Picture:
    """The error rate with which C4.5 charges a leaf, over its rows; a curve for each number of errors seen."""
    plane = Chart((0, most_rows), (0, 1), (48, 40, 380, 232))
    drawn = plane.axes(range(0, most_rows + 1, 5), [0, 0.25, 0.5, 0.75, 1], "rows in the leaf", "error rate charged")
    for errors in range(most_errors + 1):
        rows = np.arange(errors + 1, most_rows + 1)
        rates = binomial_limit(np.full(len(rows), errors), rows, confidence)
        drawn += plane.curve(rows, rates, stroke_width=1) + plane.dots(rows, rates, 3)
        name = ("no error", "1 error")[errors] if errors < 2 else f"{errors} errors"
        drawn += text(390, plane.y(rates[-1]) + 10 - 5 * errors, name)  # a little apart
    alt = (
        f"Falling curves of the error rate charged over the rows of a leaf, from 1 to {most_rows}, for no error up to "
        f"{most_errors} errors seen. They start high, at {1 - confidence:.2f} for a pure leaf of one row, fall steeply "
        "at first and then slowly. The more errors were seen, the higher the curve."
    )
    return Picture(alt, (480, 282), drawn)


def risk_steps(trees: dict[str, CostComplexityPath]) -> Picture:
    """Number of leaves against the price of a leaf in parts of the root's risk, one line of steps for each path."""
    last, top = 0.06, max(float(path.n_leaves[0]) for path in trees.values())
    plane = Chart((0, last), (0, top), (48, 40, 460, 262))
    drawn = plane.axes(ticks(0, last, 8), ticks(0, top, 8), "price of a leaf, in parts of the root's risk", "leaves")
    for k, (name, path) in enumerate(trees.items()):
        prices = path.ccp_alphas / path.impurities[-1]
        shown, look = prices <= last, {"stroke_dasharray": DASHES[k]}
        steps = np.minimum(np.repeat([*prices, last], 2)[1:-1], last)[: 2 * shown.sum()]
        drawn += plane.curve(steps, np.repeat(path.n_leaves[shown], 2), **look)
        drawn += line(210, 60 + 26 * k, 240, 60 + 26 * k, stroke_width=2, stroke_dasharray=DASHES[k])
        drawn += text(248, 65 + 26 * k, name)
    alt = (
        "Lines of steps that fall as the price of a leaf rises, one for each of the risks "
        + " and ".join(f"{name} (from {path.n_leaves[0]} leaves)" for name, path in trees.items())
        + ". They fall at different prices."
    )
    return Picture(alt, (480, 312), drawn)


def cross_validation_curve(table: pd.DataFrame, chosen: dict[str, int]) -> Picture:
    """Cross-validated error with its standard error against the number of leaves; `chosen` names rows of `table`.

    `table` has the columns leaves, error and se; leaves lie on a logarithmic axis.
    """
    xs = np.log2(table["leaves"])
    low = np.floor(20 * (table["error"] - table["se"]).min()) / 20 - 0.05  # room for the names
    high = np.ceil(20 * (table["error"] + table["se"]).max()) / 20
    plane = Chart((0, float(xs.max())), (low, high), (48, 40, 460, 262))
    drawn = "".join(
        line(plane.x(x), plane.y(e - s), plane.x(x), plane.y(e + s), stroke_opacity=0.5)
        for x, e, s in zip(xs, table["error"], table["se"])
    )
    drawn += plane.curve(xs, table["error"])
    for tick in range(int(xs.max()) + 1):
        drawn += line(plane.x(tick), 262, plane.x(tick), 267) + centred(plane.x(tick), 283, 2**tick)
    best = table["error"].idxmin()
    bound = float(table["error"][best] + table["se"][best])
    drawn += plane.level(bound, stroke_dasharray="7 4")
    for name, k in chosen.items():
        error, below = table["error"][k], table["error"][k] - table["se"][k]  # the name stands clear of the bar
        drawn += dot(*plane.at(xs[k], error)) + centred(plane.x(xs[k]), plane.y(below) + 16, name)
    heights = np.arange(round(20 * low), round(20 * high) + 1) / 20
    axes = plane.axes([], heights.tolist(), "leaves of the tree (each tick doubles them)", "cross-validated error")
    words = "; ".join(f"{name}: {table['leaves'][k]} leaves, {table['error'][k]:.3f}" for name, k in chosen.items())
    alt = (
        "The cross-validated error over the number of leaves, with a bar of one standard error up and down at "
        f"each tree, and a dashed line one standard error above the lowest. Two trees are marked. {words}."
    )
    return Picture(alt, (480, 312), axes + drawn)


# -- regions --------------------------------------------------------------------------------------------------------


def _boxes(tree: Tree, limits: Box) -> Iterator[tuple[int, Box]]:
    """Each leaf of a tree of thresholds, and from where to where it reaches in each column."""
    boxes = {0: limits}
    for node in range(tree.n_nodes):
        box = boxes.pop(node)
        if tree.is_leaf[node]:
            yield node, box
            continue
        j, first = int(tree.feature[node]), int(tree.first_child[node])
        cut_at = float(np.clip(tree.threshold[node], *box[j]))
        boxes[first] = [*box[:j], (box[j][0], cut_at), *box[j + 1 :]]
        boxes[first + 1] = [*box[:j], (cut_at, box[j][1]), *box[j + 1 :]]


def _regions(plane: Chart, tree: Tree) -> str:
    """The regions of a tree of two columns of numbers, in the colours of their classes."""
    blocks: dict[int, str] = {}
    for node, limits in _boxes(tree, [plane.xlim, plane.ylim]):
        k = int(tree.value[node].argmax())
        blocks[k] = blocks.get(k, "") + plane.block(*limits)
    return "".join(region(k, blocks[k]) for k in sorted(blocks))


def _steps(plane: Chart, tree: Tree) -> str:
    """The curve of a regression tree of one column."""
    steps = sorted((xs[0], xs[1], float(tree.value[node, 0])) for node, (xs,) in _boxes(tree, [plane.xlim]))
    path = "V".join(f"{plane.y(y):.0f}H{plane.x(stop):.0f}" for _, stop, y in steps)
    start = f"{plane.x(steps[0][0]):.0f}"
    return element("path", d=f"M{start},{path}", fill="none", **stroked(0), stroke_width=3)


def _dots(places: list[tuple[float, float]], width: float, color: str) -> str:
    """Many dots as one path, which is short as each dot is written from the one before it."""
    spots = [(0, 0), *sorted((round(x), round(y)) for x, y in places)]
    path = "".join(f"m{c - a},{d - b}h0" for (a, b), (c, d) in pairwise(spots))
    return element("path", d=path, style=f"stroke: {color}", stroke_width=width, stroke_linecap="round")


def _points(plane: Chart, x: pd.Series, y: pd.Series, label: Sequence[int]) -> str:
    """Rows as points, every second class hollow."""
    drawn = ""
    for k in sorted(set(label)):
        places = [(plane.x(a), plane.y(b)) for a, b, c in zip(x, y, label, strict=True) if c == k]
        drawn += _dots(places, 6, class_color(k))
        if k % 2:
            drawn += _dots(places, 2.6, GROUND)
    return drawn


def _leaves(n: int) -> str:
    return "1 leaf" if n == 1 else f"{n} leaves"


PALE = 0.35  # opacity of rings that another number is about
DEPTHS = (NO_LIMIT, 6, 4, 3, 2, 1)
LEAST = (1, 2, 4, 8, 15, 30, 60)


class _Limits(Scene):
    """Trees with a limit that the reader sets, over the rows that they grow from and, below, over new ones.

    They open without the limit, and each step makes the tree smaller. Below both maps, which share the axis of the
    first column, the losses are traced as far as limits were tried, and the challenge is met where the loss on the new
    rows is least.
    """

    heights, opacity = (110, 110), 1.0  # of both maps, and of their rows
    limit = loss = measure = legend = ""
    values: tuple[int | str, ...] = ()
    rest: int | str = NO_LIMIT

    def __init__(self, seen: pd.DataFrame, new: pd.DataFrame, target: str) -> None:
        self.target, self.columns = target, [column for column in seen if column != target]
        self.seen, self.new = self.both = [(rows[self.columns], rows[target]) for rows in (seen, new)]
        self.x, self.y = (pd.concat([rows[name] for rows in (seen, new)]) for name in [*self.columns, target][:2])
        limits, (upper, lower) = (around(self.x, 0.04), around(self.y, 0.04)), self.heights
        middle = 44 + upper + 32
        boxes = ((48, 44, 474, 44 + upper), (48, middle, 474, middle + lower))
        self.planes = [Chart(*limits, box) for box in boxes]
        self.size = (480, middle + lower + 204)
        self.trees = {value: self.fit(**{self.limit: None if value == NO_LIMIT else value}) for value in self.values}
        self.losses = {value: [self.lost(tree, *rows) for rows in self.both] for value, tree in self.trees.items()}
        self.of_root = self.lost(self.fit(min_samples_leaf=len(seen)), *self.new)
        most, last = max(self.of_root, *map(max, self.losses.values())), len(self.values) - 1
        self.traces = Chart(
            (-0.3, last + 0.3), (0, 1.25 * most), (48, self.size[1] - 148, 474, self.size[1] - 22)
        )  # with room for names

    def fit(self, **limits: Any) -> Tree:
        raise NotImplementedError

    def lost(self, tree: Tree, X: pd.DataFrame, y: pd.Series) -> float:
        """How badly a tree predicts some rows."""
        raise NotImplementedError

    def points(self, plane: Chart, X: pd.DataFrame, y: pd.Series) -> str:
        """Some rows on their map."""
        raise NotImplementedError

    def shape(self, value: int | str) -> list[str]:
        """What a tree predicts, on the upper map; moved and stretched, the same path serves the lower one."""
        raise NotImplementedError

    def told(self, plane: Chart, value: int | str, X: pd.DataFrame, y: pd.Series) -> list[str]:
        """What else a map shows of a tree over some rows."""
        return []

    def traced(self, value: int | str) -> tuple[str, Places]:
        """Both losses with each limit from the first to this one, and the gap between them here."""
        at = self.values.index(value)
        tried = range(at + 1)
        seen, new = zip(*(self.losses[self.values[i]] for i in tried))
        drawn = ""
        for heights, dashes in zip((seen, new), DASHES):
            drawn += self.traces.curve(tried, heights, stroke_dasharray=dashes) + self.traces.dots(tried, heights, 2.5)
        places: Places = {name: self.traces.at(at, y) for name, y in zip(("seen", "new"), self.losses[value])}
        places["lowest"] = self.traces.at(at - int(np.argmin(new[::-1])), min(new))  # in a tie the smallest tree
        return drawn + line(*places["seen"], *places["new"], stroke_width=6, stroke_opacity=0.3), places

    def frame(self, value: int | str) -> State:
        seen, new = self.losses[value]
        (n_seen, n_new), (trace, places) = (len(rows) for rows, _ in self.both), self.traced(value)
        leaves = _leaves(self.trees[value].n_leaves).capitalize()
        sentence = f"{leaves}. {self.measure.format(seen, n_seen, new, n_new)}{self.more(value)}"
        (first, second), (above, below) = self.heights, (plane.box[1] for plane in self.planes)
        shape, factor = self.shape(value), second / first
        to = f"translate(0 {number(below - factor * above)}) scale(1 {number(factor)})"
        maps = [*shape, *(element("g", part, transform=to) for part in shape)]
        maps += [part for plane, rows in zip(self.planes, self.both) for part in self.told(plane, value, *rows)]
        return [*maps, trace], sentence, places | self.names(value, places)

    def more(self, value: int | str) -> str:
        """What else there is to say."""
        return ""

    def names(self, value: int | str, places: Places) -> Places:
        """Places for the names of both losses: beside their last dots, to the right while there is room."""
        at, (x, seen), (_, new) = self.values.index(value), places["seen"], places["new"]
        if np.isclose(self.losses[value][1], self.of_root):
            return {"training": (x - 76, seen + 26)}  # the dotted line has a name
        if at > len(self.values) - 3:
            return {"training": (x - 76, seen + 26), "new rows": (x - 76, new - 10)}
        return {"training": (x + 12, max(seen - 4 if at < 2 else seen + 8, new + 24)), "new rows": (x + 14, new + 5)}

    def marks(self) -> dict[Any, str]:
        dots = {name: circle(0, 0, 5) for name in ("seen", "new")}
        names = {name: text(0, 0, name, style=HALO) for name in ("training", "new rows")}
        return {**dots, "lowest": circle(0, 0, 9, **OUTLINE, stroke_width=2), **names}

    def background(self) -> str:
        """What stays: whose rows each map shows, the axes, and the names of the limits and of the two losses."""
        upper, lower = self.planes
        across, up = ticks(*upper.xlim), ticks(*upper.ylim)
        maps = upper.axes([], up, "") + lower.axes(across, up, "") + text(0, 16, str(self.y.name))
        maps += ending(480, lower.box[3] + 21, str(self.x.name))
        heads = [f"{len(rows)} {name} rows" for (rows, _), name in zip(self.both, ("training", "new"))]
        maps += "".join(
            text(48, plane.box[1] - 10, head, font_weight="bold") for plane, head in zip(self.planes, heads)
        )
        bottom = self.traces.box[3]
        names = "".join(centred(self.traces.x(i), bottom + 18, value) for i, value in enumerate(self.values))
        traces = self.traces.axes([], ticks(*self.traces.ylim, 4), "", f"{self.loss}, by {self.limit}")
        level = self.traces.level(self.of_root, stroke_dasharray="2 4", stroke_width=2)
        level += ending(474, self.traces.y(self.of_root) - 6, "new, one leaf for all")
        traces += element("g", level, class_="answer") + names
        rows = "".join(self.points(plane, *rows) for plane, rows in zip(self.planes, self.both))
        return maps + self.legend + traces + element("g", rows, opacity=self.opacity)

    def best(self) -> set[int | str]:
        """The limits with which a tree predicts the new rows best."""
        least = min(new for _, new in self.losses.values())
        return {value for value, (_, new) in self.losses.items() if new <= least + 1e-9}

    def explorable(self, **words: Any) -> Explorable:
        control = Slider(self.limit, self.values, start=self.rest, opens=self.values[0])
        best = self.best()
        return super().explorable(**{"controls": [control], "found": lambda value: value in best, **words})


class _Regions(_Limits):
    """The regions of a CART tree of two columns, with a ring around each row that is classified wrong.

    An outline marks the leaves that hold a single training row; both maps show them.
    """

    heights, opacity = (145, 145), 0.4
    limit, values, rest = "max_depth", DEPTHS, 6
    loss = "share of rows classified wrong"
    measure = "Of the {1} training rows {0:.0%} are classified wrong, of the {3} new ones {2:.0%}."

    def __init__(self, seen: pd.DataFrame, new: pd.DataFrame, target: str) -> None:
        self.classes = np.unique(seen[target].astype(str))
        for x, (k, name) in zip((278, 338), enumerate(self.classes)):
            hole = _dots([(x, 11)], 4, GROUND) if k % 2 else ""
            self.legend += _dots([(x, 11)], 9, class_color(k)) + hole + text(x + 11, 16, name)
        self.legend += _dots([(404, 11)], 13, "currentColor") + _dots([(404, 11)], 9, GROUND) + text(416, 16, "wrong")
        words = {target: str}
        super().__init__(seen.astype(words), new.astype(words), target)

    def fit(self, **limits: Any) -> Tree:
        return CARTClassifier(**limits).fit(*self.seen).tree_

    def lost(self, tree: Tree, X: pd.DataFrame, y: pd.Series) -> float:
        return 1 - tree.score(X, y)

    def single(self, value: int | str) -> list[int]:
        """The leaves that hold a single training row."""
        leaves, count = np.unique(self.trees[value].apply(self.seen[0]), return_counts=True)
        return leaves[count == 1].tolist()

    def wrong(self, value: int | str, X: pd.DataFrame, y: pd.Series) -> NDArray[np.bool_]:
        return np.asarray(self.trees[value].predict(X)) != y.to_numpy()

    def new_in_single(self, value: int | str) -> tuple[int, int]:
        """How many new rows lie in these leaves, and how many of them are classified wrong."""
        inside = np.isin(self.trees[value].apply(self.new[0]), self.single(value))
        return int(inside.sum()), int((inside & self.wrong(value, *self.new)).sum())

    def more(self, value: int | str) -> str:
        leaves, (n_new, n_wrong) = _leaves(len(self.single(value))), self.new_in_single(value)
        if not self.single(value):
            return " No leaf holds a single training row."
        hold = "holds" if leaves == "1 leaf" else "hold"
        return f" {leaves} (outlined) {hold} a single training row: of the {n_new} new ones there {n_wrong} are wrong."

    def last_strip(self) -> int | str:
        """The first limit with which no leaf holds a single training row."""
        return next((value for value in self.values[1:] if not self.single(value)), self.values[-1])

    def shape(self, value: int | str) -> list[str]:
        plane, tree, single = self.planes[0], self.trees[value], self.single(value)
        boxes = _boxes(tree, [plane.xlim, plane.ylim])
        outlines = "".join(plane.block(*limits) for node, limits in boxes if node in single)
        look = dict(**OUTLINE, stroke_width=1.5, vector_effect="non-scaling-stroke")
        return [_regions(plane, tree), element("path", d=outlines, **look)]

    def told(self, plane: Chart, value: int | str, X: pd.DataFrame, y: pd.Series) -> list[str]:
        """The rows that are classified wrong, ringed; where there are outlined leaves, paler than the rows in these."""
        wrong, single = self.wrong(value, X, y), self.single(value)
        inside, head = np.isin(self.trees[value].apply(X), single), f"{wrong.sum()} wrong"
        if single and X is self.new[0]:
            head = f"wrong: {(wrong & inside).sum()} of {inside.sum()} in outlines, {wrong.sum()} in all"

        def drawn(which: NDArray[np.bool_]) -> str:
            rings = _dots([plane.at(*row) for row in X.to_numpy()[which & wrong].tolist()], 9.5, "currentColor")
            return rings + self.points(plane, X[which], y[which])

        rows = element("g", drawn(wrong & ~inside), opacity=PALE) + drawn(inside) if single else drawn(wrong)
        return [element("g", ending(474, plane.box[1] - 10, head) + rows, class_="answer")]

    def points(self, plane: Chart, X: pd.DataFrame, y: pd.Series) -> str:
        return _points(plane, X.iloc[:, 0], X.iloc[:, 1], np.searchsorted(self.classes, y).tolist())


def regions_explorer(frame: pd.DataFrame, new_rows: pd.DataFrame, target: str) -> Explorable:
    """The regions of a CART tree of two columns, with the largest depth that the reader sets after a guess.

    The trees grow from `frame`, whose rows lie above; `new_rows`, below, only measure. The rows that are classified
    wrong are ringed, and the leaves of a single training row outlined.
    """
    regions = _Regions(frame, new_rows, target)
    n_single, (n_new, n_wrong) = len(regions.single(NO_LIMIT)), regions.new_in_single(NO_LIMIT)
    last, smallest = regions.last_strip(), DEPTHS[-1]
    return regions.explorable(
        title="Strips for single patients",
        alt=f"Above, {len(frame)} training rows over {' and '.join(regions.columns)}, and the regions of a tree in the "
        "colours of what it predicts. Strips and islands that hold a single training row are outlined. In the middle, "
        f"the same regions with {len(new_rows)} new rows, many of them ringed as wrong. Below, two lines for the share "
        "of rows classified wrong, against the largest depth, which falls to the right: on the training rows it rises "
        "with every step, on the new ones it does not.",
        found=lambda value: 1 if value == last else 2 * (value == smallest),
        guess=Slider(
            f"Your guess: each of the {n_single} outlined leaves was made for a single training row. Of the {n_new} "
            "new rows in them, how many are classified wrong?",
            list(range(max(1, n_new) + 1)),
            answer=n_wrong,
            truth=f"{n_wrong} of {n_new} are classified wrong"
            + ", for most of these leaves lie in the other class’s land" * (2 * n_wrong > n_new),
        ),
        challenge="Lower max_depth step by step, and watch both errors. When are all outlined leaves gone? Are more "
        f"new rows wrong in still smaller trees, down to {smallest}?",
    )


class _Curve(_Limits):
    """The curve of a regression tree of one column, whose leaves hold so many rows or more."""

    limit, values, rest = "min_samples_leaf", LEAST, 30
    loss = "mean squared error"
    measure = "Mean squared error {:.0f} on the {} training rows, {:.0f} on the {} new ones."

    def fit(self, **limits: Any) -> Tree:
        return CARTRegressor(**limits).fit(*self.seen).tree_

    def lost(self, tree: Tree, X: pd.DataFrame, y: pd.Series) -> float:
        return float(((np.asarray(tree.predict(X)) - y) ** 2).mean())

    def points(self, plane: Chart, X: pd.DataFrame, y: pd.Series) -> str:
        places = [plane.at(*row) for row in zip(X.iloc[:, 0], y, strict=True)]
        return _dots(places, 5, "var(--pst-color-text-muted, GrayText)")

    def shape(self, value: int | str) -> list[str]:
        return [_steps(self.planes[0], self.trees[value])]


def curve_explorer(frame: pd.DataFrame, new_rows: pd.DataFrame, target: str) -> Explorable:
    """The curve of a regression tree of one column, with the smallest leaf that the reader sets after a guess.

    The trees grow from `frame`, whose rows lie above; `new_rows`, below, only measure. Leaves of half the table leave
    one, so the reader can see whether a tree without limits is worth more than the mean.
    """
    curve = _Curve(frame, new_rows, target)
    error = {"this tree": curve.losses[LEAST[0]][1], "one leaf": curve.losses[LEAST[-1]][1]}
    return curve.explorable(
        title="A curve that jumps to single patients",
        alt=f"Above, {len(frame)} training rows as points, {target} over {curve.columns[0]}, and the curve of a "
        f"regression tree as level steps. In the middle, the same curve among {len(new_rows)} new rows, most of which "
        "lie far from it. Below, two lines for the mean squared error, against the smallest number of rows in a leaf: "
        "on the training rows it rises with every larger leaf, on the new ones it falls at first.",
        guess=Choice(
            "Your guess: which predicts the new rows better, this tree or one leaf with the mean of all?",
            list(error),
            answer=min(error, key=error.__getitem__),
            truth="the mean squared error is "
            + " and ".join(f"{squares:.0f} with {name}" for name, squares in error.items()),
        ),
        challenge="Let the leaves grow, and watch both errors. How many rows must a leaf hold "
        "for the smallest error on the new ones?",
    )


# -- the price of a leaf --------------------------------------------------------------------------------------------


class _Folding(Scene):
    """A small tree of two columns, whose melons move up as the price of a leaf prunes it.

    Beside it a scale of the prices shows how its leaves and its errors change.
    """

    stagger = 20

    def __init__(self, melons: pd.DataFrame, target: str, prices: Sequence[float]) -> None:
        self.X, self.labels = melons.drop(columns=target), melons[target].astype(str)
        self.is_ripe = (self.labels == "yes").to_dict()
        self.full = CARTClassifier().fit(self.X, self.labels).tree_
        self.path = cost_complexity_path(self.full)
        self.trees = [prune_cost_complexity(self.full, price) for price in self.path.ccp_alphas]
        self.wrong = [round(len(self.X) * (1 - tree.score(self.X, self.labels))) for tree in self.trees]
        self.at, self.size = _places(self.full), (WIDTH, STEP * self.full.max_depth + 112)
        self.rows: dict[int, list[Any]] = {node: [] for node in range(self.full.n_nodes)}
        for row, node in zip(self.X.index, self.full.apply(self.X).tolist()):
            while node >= 0:
                self.rows[node].append(row)
                node = int(self.full.parent[node])
        last = max(prices)
        self.leaves = Chart((0, last), (0, self.full.n_leaves + 0.5), (40, 48, 394, 138))
        self.errors = Chart((0, last), (0, max(self.wrong) + 0.5), (40, 194, 394, 284))

    def step(self, price: float) -> int:
        """Which tree of the path is best at this price."""
        return _step(self.path, price)

    def folds_two(self, price: float) -> bool:
        """Whether this is the tree from which two questions have gone at once."""
        k, n_leaves = self.step(price), self.path.n_leaves
        return k > 0 and bool(n_leaves[k - 1] - n_leaves[k] > 1)

    def background(self) -> str:
        return small(ripe_and_unripe(12, self.size[1] - 14))

    def marks(self) -> dict[Any, str]:
        return melon_marks(self.is_ripe)

    def frame(self, price: float) -> State:
        kept = _kept(self.full, self.trees[self.step(price)])
        pale = "".join(self.node(node, {}) for node in self.rows if node not in kept)
        parts = [element("g", pale, opacity=0.5, font_size=13)] if pale else []
        parts.append(small("".join(self.node(node, kept) for node in kept)))
        places: Places = {}
        for node in (node for node, is_leaf in kept.items() if is_leaf):
            x, y = self.at[node]
            places |= in_lines(self.rows[node], x, y + 23, _columns(len(self.rows[node])), PITCH)
        return parts, self.story(price), places

    def node(self, node: int, kept: dict[int, bool]) -> str:
        """A node, with the branch that leads to it."""
        x, y = self.at[node]
        is_leaf = kept.get(node, bool(self.full.is_leaf[node]))
        drawn = self.branch(node, y + 8 if is_leaf else y - 14, node in kept) if node else ""
        if is_leaf:
            width = PITCH * _columns(len(self.rows[node])) + 8
            box = (x - width / 2, y + 8, width, 52)
            if node not in kept:
                return drawn + rect(*box, rx=4, **OUTLINE)
            drawn += rect(*box, rx=4, style=f"fill: {GROUND}", stroke="currentColor")
            return drawn + rect(*box, rx=4, **filled(int(self.full.value[node].argmax())), fill_opacity=REGION)
        question = f"{self.full.features[self.full.feature[node]].name} ≤ {self.full.threshold[node]:.4g}?"
        weight = "bold" if node in kept else "normal"
        return drawn + centred(min(max(x, 66), WIDTH - 66), y, question, font_weight=weight)

    def branch(self, node: int, end: float, is_kept: bool) -> str:
        """The line down to a node and, where it still stands, the answer."""
        (x1, y1), x2 = self.at[int(self.full.parent[node])], self.at[node][0]
        drawn = line(x1, y1 + 7, x2, end, stroke_opacity=0.6)
        if not is_kept:
            return drawn
        answer, side, anchor = [("yes", -1, "end"), ("no", 1, "start")][int(self.full.branch[node])]
        return drawn + text((x1 + x2) / 2 + 7 * side, (y1 + 7 + end) / 2, answer, text_anchor=anchor)

    def story(self, price: float) -> str:
        """How well the tree does at this price, and the path to it."""
        k = self.step(price)
        return (
            f"At a price of {price:.2f} for each leaf, the best tree has {_leaves(self.path.n_leaves[k])}. It is wrong "
            f"about {self.wrong[k]} of the {len(self.X)} melons. The path so far, in leaves: "
            f"{', '.join(map(str, self.path.n_leaves[: k + 1]))}."
        )

    def scale(self, price: float) -> tuple[list[str], Places]:
        """The leaves and the errors at all prices up to this one, with the prices at which the tree has changed."""
        k = self.step(price)
        changes = self.path.ccp_alphas[1 : k + 1]
        steps = np.repeat([0, *changes, price], 2)[1:-1]
        drawn = self.leaves.curve(steps, np.repeat(self.path.n_leaves[: k + 1], 2))
        drawn += self.errors.curve(steps, np.repeat(self.wrong[: k + 1], 2))
        for change in changes:
            x = self.leaves.x(change)
            drawn += centred(x, 40, f"{change:.3f}") + line(x, 46, x, self.errors.box[3], stroke_dasharray="2 4")
        places: Places = {"leaves": self.leaves.at(price, self.path.n_leaves[k])}
        places["wrong"] = self.errors.at(price, self.wrong[k])
        return [small(drawn)], places

    def beside(self) -> Panel:
        leaves = self.leaves.axes([], range(1, self.full.n_leaves + 1), "", "leaves")
        counts = ticks(*self.errors.ylim)
        errors = self.errors.axes(ticks(*self.errors.xlim), counts, "price of a leaf α", "melons classified wrong")
        return Panel(
            alt="Two lines of steps against the price of a leaf, up to the price that is set. The number of leaves "
            "falls, and the number of melons classified wrong rises, at the same prices.",
            size=(WIDTH, 332),
            background=small(leaves + errors),
            frame=self.scale,
            marks={"leaves": circle(0, 0, 5), "wrong": circle(0, 0, 5)},
        )


def alpha_explorer(frame: pd.DataFrame, target: str, prices: Sequence[float], start: float) -> Explorable:
    """A small CART tree of two columns of numbers, pruned by the price of a leaf, and what it costs in errors.

    The melons lie in the leaves; where a subtree is pruned, they move up to the node that has become a leaf. `start` is
    the price at rest; the figure opens with the lowest. The reader guesses in how many steps the tree folds.
    """
    tree = _Folding(frame, target, prices)
    n_leaves = list(map(int, tree.path.n_leaves))
    full, left = _leaves(n_leaves[0]), _leaves(n_leaves[tree.step(start)])
    stop = min(price for price in prices if tree.folds_two(price))
    return tree.explorable(
        title="What is a leaf worth?",
        alt=f"A tree of {full}, of which the price {start:g} has left {left}: the {len(frame)} melons, as numbered "
        "circles, hollow if ripe, lie in these. What is pruned is drawn pale.",
        controls=[Slider("Price of a leaf α", list(prices), start=start, opens=prices[0], show="{:.2f}")],
        guess=Choice(
            f"Your guess: how many times does the tree shrink on its way from {full} to one?",
            [1, 2, 3, 4, 5][: len(n_leaves)],
            answer=len(n_leaves) - 1,
            truth=f"the trees of the path have {listed(n_leaves)} leaves",
        ),
        found=lambda price: price == stop,
        challenge="Stop at every tree of the path. At which price, in steps of 0.01, do two questions fall at once?",
    )


def _step(path: CostComplexityPath, price: float) -> int:
    """Which tree of a path is best at a price."""
    return int(np.searchsorted(path.ccp_alphas, price + 1e-9, side="right")) - 1


def _costs(tree: Tree, node: int = 0) -> Iterator[tuple[float, int]]:
    """Risk and number of leaves of every pruned subtree at a node of a small tree."""
    yield float(tree.weight[node] * tree.impurity[node] / tree.weight[0]), 1
    if not tree.is_leaf[node]:
        first = int(tree.first_child[node])
        for below in product(*(_costs(tree, first + k) for k in range(int(tree.n_children[node])))):
            risks, leaves = zip(*below)
            yield sum(risks), sum(leaves)


class _CostLines(Scene):
    """The cost of each pruned subtree of a small tree as a line over the price of a leaf; the lowest is drawn thick."""

    size = (WIDTH, 346)

    def __init__(self, tree: Tree, prices: Sequence[float]) -> None:
        self.path, self.last = cost_complexity_path(tree), max(prices)
        best = set(zip(self.path.impurities.round(9), self.path.n_leaves))
        self.others = [(risk, n) for risk, n in _costs(tree) if (round(risk, 9), n) not in best]
        self.top = 1.3 * float(self.path.impurities[-1] + self.last)
        self.plane = Chart((0, self.last), (0, self.top), (40, 36, 328, 296))
        # At this price the root would cost as much as the whole tree.
        self.link = float((self.path.impurities[-1] - self.path.impurities[0]) / (self.path.n_leaves[0] - 1))

    def cost(self, k: int, price: float) -> float:
        return float(self.path.impurities[k] + price * self.path.n_leaves[k])

    def line(self, risk: float, n_leaves: int, **look: Any) -> str:
        """The cost of one tree, as far as the drawing goes."""
        end = min(self.last, (self.top - risk) / n_leaves)
        return self.plane.curve([0, end], [risk, risk + n_leaves * end], stroke_width=1, **look)

    def background(self) -> str:
        plane = self.plane
        lines = "".join(self.line(*tree, stroke_opacity=0.35) for tree in self.others)
        for k, (risk, n_leaves) in enumerate(zip(self.path.impurities, self.path.n_leaves)):
            lines += self.line(risk, n_leaves)
            end = (self.top - risk) / n_leaves
            # A line that leaves the drawing through its upper edge is named there.
            x, y, anchor = plane.x(end), 31.0, "middle"
            if end >= self.last:
                x, y, anchor = 342.0, plane.y(self.cost(k, self.last)) + 5, "start"
            lines += text(x, y, _leaves(n_leaves), text_anchor=anchor)
        crossing = plane.at(self.link, self.cost(0, self.link))
        lines += circle(*crossing, 6, **OUTLINE) + ending(crossing[0] - 8, crossing[1] - 8, "g of the root")
        axes = plane.axes(ticks(0, self.last, 6), ticks(0, self.top, 6), "price of a leaf α", "")
        lines += ending(WIDTH, 16, "thick: cheapest; pale: never")
        return small(axes + text(0, 16, "cost R(T) + α |T|") + element("g", lines, class_="answer"))

    def marks(self) -> dict[Any, str]:
        _, top, _, bottom = self.plane.box
        dots = {k: circle(0, 0, 4) for k in range(len(self.path.n_leaves))}
        price = rect(-0.75, top, 1.5, bottom - top, fill_opacity=0.5)
        return {"price": price, **dots, "least": circle(0, 0, 9, **OUTLINE) + grip(WIDTH)}

    def frame(self, price: float) -> State:
        best = _step(self.path, price)
        corners = [*self.path.ccp_alphas[: best + 1], price]
        edge = self.plane.curve(corners, [self.cost(_step(self.path, a), a) for a in corners], stroke_width=4)
        for a in corners[1:-1]:
            x, y = self.plane.at(a, self.cost(_step(self.path, a), a))
            edge += line(x, y, x, self.plane.box[3], stroke_dasharray="2 4")
        places: Places = {"price": (self.plane.x(price), 0)}
        for k in range(len(self.path.n_leaves)):
            if self.cost(k, price) <= self.top:
                places[k] = self.plane.at(price, self.cost(k, price))
        places["least"] = places[best]
        if not price:  # before the lines are seen, their first dots have names
            names = "".join(
                text(places[k][0] + 10, places[k][1] - 6, _leaves(n), style=HALO)
                for k, n in enumerate(self.path.n_leaves)
            )
            edge += small(names)
        return [edge], self.story(best, price), places

    def story(self, best: int, price: float) -> str:
        """What the cheapest tree costs, and when another takes over."""
        risk, n_leaves = float(self.path.impurities[best]), int(self.path.n_leaves[best])
        after = "No smaller tree is left."
        if best + 1 < len(self.path.n_leaves):
            n = int(self.path.n_leaves[best + 1])
            after = f"From {self.path.ccp_alphas[best + 1]:.3f} on, {_leaves(n)} cost{'s' * (n == 1)} less."
        return (
            f"At a price of {price:.2f} the tree of {_leaves(n_leaves)} is the cheapest: its risk is {risk:.3f}, so it "
            f"costs {risk:.3f} + {price:.2f} × {n_leaves} = {risk + price * n_leaves:.3f}. {after}"
        )


def cost_explorer(tree: Tree, prices: Sequence[float]) -> Explorable:
    """The cost of each pruned subtree of a small tree over the price of a leaf, which the reader sets after a guess.

    The guess is when the root alone is cheapest: its own link says so only as long as nothing else has been pruned.
    """
    lines = _CostLines(tree, prices)
    end, root = float(lines.path.ccp_alphas[-1]), f"{lines.link:.3f}"
    steps = ", ".join(f"{a:.3f}" for a in lines.path.ccp_alphas[1:])
    points = [(lines.plane.x(a), 0.0) for a in prices]
    sides = ["at a lower one", f"at {root}", "at a higher one"]
    return lines.explorable(
        title="The price of a leaf",
        alt=f"One rising line for each of the {len(lines.path.n_leaves)} trees of the path; the more leaves, the lower "
        f"it starts and the steeper it is. The lowest line changes at the prices {steps}. The lines of the "
        f"{len(lines.others)} other pruned subtrees, drawn pale, are lowest nowhere. A ring marks where the whole tree "
        "costs as much as the root alone; smaller trees cost less there.",
        controls=[
            Slider("Price of a leaf α", list(prices), start=prices[-1], opens=prices[0], show="{:.2f}", points=points)
        ],
        guess=Choice(
            f"Your guess: the root has g = {root}. At which price does it become a leaf?",
            sides,
            answer=sides[1 + int(np.sign(round(end - lines.link, 9)))],
            truth=f"it does at {end:.3f}, because smaller trees take over before {root}"
            if end > lines.link
            else f"it does at {end:.3f}",
        ),
        found=lambda price: price == min(price for price in prices if price >= end),
        challenge="Drag the ring, and watch which tree is the cheapest where the lines of the root and of the whole "
        "tree cross. Then drag on until the root alone is.",
    )


def _columns(n_rows: int) -> int:
    """The number of columns in which melons lie in two lines."""
    return max(1, -(-n_rows // 2))


def _places(tree: Tree) -> dict[int, tuple[float, float]]:
    """Where each node of a small tree is drawn: leaves side by side, parents above the middle of their children."""
    leaves = [node.id for node in tree.walk() if node.is_leaf]
    widths = [PITCH * _columns(int(tree.n_samples[node])) + 8 for node in leaves]
    gap = (WIDTH - 2 - sum(widths)) / (len(leaves) - 1)
    at = {node: 1 + sum(widths[:k]) + gap * k + widths[k] / 2 for k, node in enumerate(leaves)}
    for node in reversed(range(tree.n_nodes)):
        if not tree.is_leaf[node]:
            first = int(tree.first_child[node])
            at[node] = sum(at[first + k] for k in range(2)) / 2
    return {node: (at[node], 20 + float(STEP) * int(tree.depth[node])) for node in at}


def _kept(tree: Tree, pruned: Tree) -> dict[int, bool]:
    """The nodes of a tree that a pruned one still has, and whether they are leaves there."""
    pairs, kept = [(0, 0)], {}
    for old, new in pairs:
        kept[old] = bool(pruned.is_leaf[new])
        if not kept[old]:
            pairs += [(int(tree.first_child[old]) + k, int(pruned.first_child[new]) + k) for k in range(2)]
    return kept
