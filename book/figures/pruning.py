"""The figures of the chapter on pruning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from figures.charts import Chart, Picture, around, region, ticks
from figures.explorable import Choice, Explorable, Panel, Places, Scene, Slider, State
from figures.looks import OUTLINE, centred, dot, filled, in_class, small, stroked
from figures.melons import in_lines, listed, melon_marks, melons_at, ripe_and_unripe
from treekit.models.cart import CARTClassifier, CARTRegressor
from treekit.pen.palette import REGION, class_color
from treekit.pen.svg import element, line, rect, text
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
        drawn += plane.curve(means.index, means[column], **stroked(k), stroke_dasharray=DASHES[k])
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
        drawn += plane.curve(rows, rates, stroke_width=1, **stroked(errors))
        drawn += in_class(errors, plane.dots(rows, rates, 4))
        name = ("no error", "1 error")[errors] if errors < 2 else f"{errors} errors"
        drawn += text(390, plane.y(rates[-1]) + 10 - 5 * errors, name)  # a little apart
    alt = (
        f"Falling curves of the error rate charged over the rows of a leaf, from 1 to {most_rows}, for no error up to "
        f"{most_errors} errors seen. They start high, at {1 - confidence:.2f} for a pure leaf of one row, fall steeply "
        "at first and then slowly. The more errors were seen, the higher the curve."
    )
    return Picture(alt, (480, 282), drawn)


def _costs(tree: Tree, node: int = 0) -> Iterator[tuple[float, int]]:
    """Risk and number of leaves of every pruned subtree at a node of a small tree."""
    yield float(tree.weight[node] * tree.impurity[node] / tree.weight[0]), 1
    if not tree.is_leaf[node]:
        first = int(tree.first_child[node])
        for below in product(*(_costs(tree, first + k) for k in range(int(tree.n_children[node])))):
            risks, leaves = zip(*below)
            yield sum(risks), sum(leaves)


def price_lines(tree: Tree) -> Picture:
    """The cost of each pruned subtree as a line over the price of a leaf; the lowest line is drawn thick.

    Trees that are best at no price are drawn pale.
    """
    path = cost_complexity_path(tree)
    best = set(zip(path.impurities.round(9), path.n_leaves))
    others = [(risk, n_leaves) for risk, n_leaves in _costs(tree) if (round(risk, 9), n_leaves) not in best]
    last = 1.5 * path.ccp_alphas[-1]
    top = 1.35 * float(path.impurities[-1] + last)
    plane = Chart((0, last), (0, top), (48, 40, 400, 282))
    drawn = plane.axes(np.arange(0, last, 0.04), ticks(0, top, 8), "price of a leaf α", "R(T) + α |T|")
    for risk, n_leaves in others:
        end = min(last, (top - risk) / n_leaves)
        drawn += plane.curve([0, end], [risk, risk + n_leaves * end], stroke_width=1, stroke_opacity=0.35)
    for k, (risk, n_leaves) in enumerate(zip(path.impurities, path.n_leaves)):
        end = min(last, (top - risk) / n_leaves)
        height = risk + n_leaves * end
        # A line that leaves the picture through its upper edge is named there.
        x, y, anchor = (plane.x(end), 34.0, "middle") if end < last else (406.0, plane.y(height) + 5, "start")
        drawn += plane.curve([0, end], [risk, height], stroke_width=1, **stroked(k))
        drawn += text(x, y, _leaves(n_leaves), text_anchor=anchor)
    for k, (start, stop) in enumerate(pairwise([*path.ccp_alphas, last])):
        costs = [path.impurities[k] + a * path.n_leaves[k] for a in (start, stop)]
        drawn += plane.curve([start, stop], costs, stroke_width=5, **stroked(k))
        if k:
            drawn += line(plane.x(start), plane.y(costs[0]), plane.x(start), 282, stroke_dasharray="2 4")
    steps = ", ".join(f"{a:.3f}" for a in path.ccp_alphas[1:])
    alt = (
        f"One rising line for each of the {len(path.n_leaves)} trees of the path; the more leaves, the lower it starts "
        f"and the steeper it is. The lowest line changes at the prices {steps}. "
        f"The lines of the {len(others)} other pruned subtrees, drawn pale, are lowest nowhere."
    )
    return Picture(alt, (480, 332), drawn)


def risk_steps(trees: dict[str, CostComplexityPath]) -> Picture:
    """Number of leaves against the price of a leaf in parts of the root's risk, one line of steps for each path."""
    last, top = 0.06, max(float(path.n_leaves[0]) for path in trees.values())
    plane = Chart((0, last), (0, top), (48, 40, 460, 262))
    drawn = plane.axes(ticks(0, last, 8), ticks(0, top, 8), "price of a leaf, in parts of the root's risk", "leaves")
    for k, (name, path) in enumerate(trees.items()):
        prices = path.ccp_alphas / path.impurities[-1]
        shown, look = prices <= last, {**stroked(k), "stroke_dasharray": DASHES[k]}
        steps = np.minimum(np.repeat([*prices, last], 2)[1:-1], last)[: 2 * shown.sum()]
        drawn += plane.curve(steps, np.repeat(path.n_leaves[shown], 2), **look)
        drawn += line(210, 60 + 26 * k, 240, 60 + 26 * k, **stroked(k), stroke_width=2, stroke_dasharray=DASHES[k])
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
    drawn += plane.curve(xs, table["error"], **stroked(0))
    for tick in range(int(xs.max()) + 1):
        drawn += line(plane.x(tick), 262, plane.x(tick), 267) + centred(plane.x(tick), 283, 2**tick)
    best = table["error"].idxmin()
    bound = float(table["error"][best] + table["se"][best])
    drawn += plane.level(bound, stroke_dasharray="7 4")
    for name, k in chosen.items():
        error, below = table["error"][k], table["error"][k] - table["se"][k]  # the name stands clear of the bar
        drawn += element("g", dot(*plane.at(xs[k], error)), **filled(1)) + centred(
            plane.x(xs[k]), plane.y(below) + 16, name
        )
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
    path = "V".join(f"{plane.y(y):.0f}H{plane.x(stop):.1f}" for _, stop, y in steps)
    start = f"{plane.x(steps[0][0]):.1f}"
    return element("path", d=f"M{start},{path}", fill="none", **stroked(1), stroke_width=2)


def _dots(places: list[tuple[float, float]], width: float, color: str) -> str:
    """Many dots as one short path."""
    path = "".join(f"M{x:.0f},{y:.0f}h0" for x, y in places)
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


DEPTHS = (1, 2, 3, 4, 6, 8, NO_LIMIT)
LEAST = (1, 5, 15)


class _Limits(Scene):
    """Trees with the limits that the reader sets, over the rows that they grow from and, beside, over new ones.

    They open without limits, and the challenge is met where the loss on the new rows is least.
    """

    size = (WIDTH, 348)
    depths: tuple[int | str, ...] = DEPTHS
    measure = new_alt = legend = ""

    def __init__(self, seen: pd.DataFrame, new: pd.DataFrame, target: str) -> None:
        self.target, self.columns = target, [column for column in seen if column != target]
        self.seen, self.new = ((rows[self.columns], rows[target]) for rows in (seen, new))
        x, y = (pd.concat([rows[name] for rows in (seen, new)]) for name in [*self.columns, target][:2])
        self.plane = Chart(around(x, 0.04), around(y, 0.04), (40, 58, 394, 300))
        self.axes = self.plane.axes(ticks(*self.plane.xlim), ticks(*self.plane.ylim), str(x.name), str(y.name))
        self.trees = {
            (depth, least): self.fit(max_depth=None if depth == NO_LIMIT else depth, min_samples_leaf=least)
            for depth in self.depths
            for least in LEAST
        }
        self.scores = {limits: self.score(tree, *self.new) for limits, tree in self.trees.items()}

    def fit(self, **limits: Any) -> Tree:
        raise NotImplementedError

    def score(self, tree: Tree, X: pd.DataFrame, y: pd.Series) -> float:
        """How well a tree predicts some rows: the higher, the better."""
        raise NotImplementedError

    def over(self, tree: Tree, X: pd.DataFrame, y: pd.Series, kind: str) -> list[str]:
        """What a panel shows of a tree over rows of this kind."""
        raise NotImplementedError

    def frame(self, depth: int | str, least: int) -> State:
        tree, (n_seen, n_new) = self.trees[depth, least], (len(rows) for rows, _ in (self.seen, self.new))
        seen, new = (abs(self.score(tree, *rows)) for rows in (self.seen, self.new))
        measured = self.measure.format(seen, n_seen, new, n_new)
        return self.over(tree, *self.seen, "training rows"), f"{_leaves(tree.n_leaves).capitalize()}. {measured}", {}

    def background(self) -> str:
        return small(self.axes + self.legend)

    def beside(self) -> Panel:
        def frame(depth: int | str, least: int) -> tuple[list[str], Places]:
            return self.over(self.trees[depth, least], *self.new, "new rows"), {}

        return Panel(self.new_alt.format(len(self.new[0])), self.size, self.background(), frame)

    def best_depths(self) -> set[int | str]:
        """The depths at which a tree predicts the new rows best, if its leaves may have any size."""
        scores = {depth: self.scores[depth, LEAST[0]] for depth in self.depths}
        return {depth for depth, score in scores.items() if score >= max(scores.values()) - 1e-9}

    def explorable(self, **words: Any) -> Explorable:
        best = max(self.scores.values()) - 1e-9
        controls = [Slider("max_depth", self.depths, start=NO_LIMIT), Choice("min_samples_leaf", LEAST)]
        words = {"found": lambda *limits: self.scores[limits] >= best} | words
        return super().explorable(controls=controls, **words)


class _Regions(_Limits):
    """The regions of a CART tree of two columns, with dots on the rows that are classified wrong."""

    measure = "Accuracy {:.3f} on the {} training rows, {:.3f} on the {} new ones."
    new_alt = "The same regions with {} new rows. Many of them are marked: they are classified wrong."

    def __init__(self, seen: pd.DataFrame, new: pd.DataFrame, target: str) -> None:
        self.classes = np.unique(seen[target].astype(str))
        for x, (k, name) in zip((226, 284), enumerate(self.classes)):
            hole = _dots([(x, 16)], 5, GROUND) if k % 2 else ""
            self.legend += _dots([(x, 16)], 9, class_color(k)) + hole + text(x + 10, 20, name)
        self.legend += _dots([(342, 16)], 8, "currentColor") + text(352, 20, "wrong")
        words = {target: str}
        super().__init__(seen.astype(words), new.astype(words), target)

    def fit(self, **limits: Any) -> Tree:
        return CARTClassifier(**limits).fit(*self.seen).tree_

    def score(self, tree: Tree, X: pd.DataFrame, y: pd.Series) -> float:
        return tree.score(X, y)

    def over(self, tree: Tree, X: pd.DataFrame, y: pd.Series, kind: str) -> list[str]:
        wrong = np.asarray(tree.predict(X)) != y.to_numpy()
        head = text(0, 20, f"{len(X)} {kind}: {wrong.sum()} wrong", font_weight="bold")
        marked = _dots([self.plane.at(*row) for row in X.to_numpy()[wrong].tolist()], 6, "currentColor")
        points = _points(self.plane, X.iloc[:, 0], X.iloc[:, 1], np.searchsorted(self.classes, y).tolist())
        return [_regions(self.plane, tree), points, small(head + marked, class_="answer")]


def regions_explorer(frame: pd.DataFrame, new_rows: pd.DataFrame, target: str) -> Explorable:
    """The regions of a CART tree of two columns, with the limits that the reader sets after a guess.

    The trees grow from `frame`, whose rows lie on the left; `new_rows`, on the right, only measure. The rows
    that are classified wrong are marked.
    """
    regions = _Regions(frame, new_rows, target)
    best, n = regions.best_depths(), len(new_rows)
    wrong = {depth: round(n * (1 - regions.scores[depth, LEAST[0]])) for depth in DEPTHS}

    def truth(guessed: int | str) -> str:
        fewest = f"{min(wrong.values())} of {n}, at {listed([depth for depth in DEPTHS if depth in best])}"
        others = "" if guessed in best else f"there {wrong[guessed]} are wrong, and "
        return f"{others}the fewest are {fewest}"

    return regions.explorable(
        title="Strips for single patients",
        alt=f"{len(frame)} training rows over {' and '.join(regions.columns)}, and the regions of a tree without "
        "limits in the colours of what it predicts. Thin strips and islands reach for single rows, and no row is "
        "wrong.",
        guess=Choice("Your guess: at which max_depth are the fewest new rows wrong?", DEPTHS, answer=best, truth=truth),
        found=lambda depth, least: depth in best and least == LEAST[0],
        challenge="Lower max_depth step by step, and count the wrong rows on both sides. When are the fewest new rows "
        "wrong?",
    )


class _Curve(_Limits):
    """The curve of a regression tree of one column. With a depth of 0 it is one leaf, the mean."""

    depths = (0, *DEPTHS[:-2], NO_LIMIT)
    measure = "Mean squared error {:.0f} on the {} training rows, {:.0f} on the {} new ones."
    new_alt = "The same curve among {} new rows, most of which lie far from it."

    def fit(self, **limits: Any) -> Tree:
        return CARTRegressor(**limits).fit(*self.seen).tree_

    def score(self, tree: Tree, X: pd.DataFrame, y: pd.Series) -> float:
        return -float(((np.asarray(tree.predict(X)) - y) ** 2).mean())

    def over(self, tree: Tree, X: pd.DataFrame, y: pd.Series, kind: str) -> list[str]:
        head = text(0, 20, f"{len(X)} {kind}", font_weight="bold", font_size=13)
        return [head + _points(self.plane, X.iloc[:, 0], y, [0] * len(X)), _steps(self.plane, tree)]


def curve_explorer(frame: pd.DataFrame, new_rows: pd.DataFrame, target: str) -> Explorable:
    """The curve of a regression tree of one column, with the limits that the reader sets after a guess.

    The trees grow from `frame`, whose rows lie on the left; `new_rows`, on the right, only measure. With a depth of 0
    the tree is one leaf, so the reader can see whether a tree without limits is worth more than the mean.
    """
    curve = _Curve(frame, new_rows, target)
    error = {"this tree": -curve.scores[NO_LIMIT, LEAST[0]], "one leaf": -curve.scores[0, LEAST[0]]}
    return curve.explorable(
        title="A curve that jumps to single patients",
        alt=f"{len(frame)} training rows as points, {target} over {curve.columns[0]}, and the curve of a regression "
        "tree without limits, which jumps up and down to meet nearly every point.",
        guess=Choice(
            "Your guess: which predicts the new rows better, this tree or one leaf with the mean of all?",
            list(error),
            answer=min(error, key=error.__getitem__),
            truth="the mean squared error is "
            + " and ".join(f"{squares:.0f} with {name}" for name, squares in error.items()),
        ),
        challenge="Which limits make the error on the new rows as small as possible? Try both kinds.",
    )


# -- the price of a leaf --------------------------------------------------------------------------------------------


class _Folding(Scene):
    """A small tree of two columns, whose melons move up as the price of a leaf prunes it, and its regions beside it."""

    stagger = 20

    def __init__(self, melons: pd.DataFrame, target: str, start: float, with_links: bool) -> None:
        self.start, self.with_links = start, with_links
        self.X, self.labels = melons.drop(columns=target), melons[target].astype(str)
        self.is_ripe = (self.labels == "yes").to_dict()
        self.full = CARTClassifier().fit(self.X, self.labels).tree_
        self.path = cost_complexity_path(self.full)
        self.at, self.size = _places(self.full), (WIDTH, STEP * self.full.max_depth + 112)
        self.rows: dict[int, list[Any]] = {node: [] for node in range(self.full.n_nodes)}
        for row, node in zip(self.X.index, self.full.apply(self.X).tolist()):
            while node >= 0:
                self.rows[node].append(row)
                node = int(self.full.parent[node])
        x, y = self.X.to_numpy(float).T
        self.plane = Chart(around(x), around(y), (40, 34, 394, 290))

    def pruned(self, price: float) -> Tree:
        return prune_cost_complexity(self.full, price)

    def step(self, price: float) -> int:
        """Which tree of the path is best at this price."""
        return int(np.searchsorted(self.path.ccp_alphas, price + 1e-9, side="right")) - 1

    def folds_two(self, price: float) -> bool:
        """Whether this is the tree from which two questions have gone at once."""
        k, n_leaves = self.step(price), self.path.n_leaves
        return k > 0 and bool(n_leaves[k - 1] - n_leaves[k] > 1)

    def background(self) -> str:
        return small(ripe_and_unripe(12, self.size[1] - 14))

    def marks(self) -> dict[Any, str]:
        return melon_marks(self.is_ripe)

    def frame(self, price: float) -> State:
        kept = _kept(self.full, self.pruned(price))
        links = _links(self.full, kept)
        shown = links if self.with_links else {}
        gap = 22 if self.with_links else 7
        pale = "".join(self.node(node, {}, {}, gap) for node in self.rows if node not in kept)
        parts = [element("g", pale, opacity=0.5, font_size=13)] if pale else []
        parts.append(small("".join(self.node(node, shown, kept, gap) for node in kept)))
        places: Places = {}
        for node in (node for node, is_leaf in kept.items() if is_leaf):
            x, y = self.at[node]
            places |= in_lines(self.rows[node], x, y + 23, _columns(len(self.rows[node])), PITCH)
        return parts, (self.cost if self.with_links else self.story)(price), places

    def node(self, node: int, links: dict[int, float], kept: dict[int, bool], gap: int) -> str:
        """A node, with the branch that leads to it from as far below its parent as `gap` says."""
        x, y = self.at[node]
        is_leaf = kept.get(node, bool(self.full.is_leaf[node]))
        drawn = self.branch(node, y + 8 if is_leaf else y - 14, gap, node in kept) if node else ""
        if is_leaf:
            width = PITCH * _columns(len(self.rows[node])) + 8
            box = (x - width / 2, y + 8, width, 52)
            if node not in kept:
                return drawn + rect(*box, rx=4, **OUTLINE)
            drawn += rect(*box, rx=4, style=f"fill: {GROUND}", stroke="currentColor")
            return drawn + rect(*box, rx=4, **filled(int(self.full.value[node].argmax())), fill_opacity=REGION)
        question = f"{self.full.features[self.full.feature[node]].name} ≤ {self.full.threshold[node]:.4g}?"
        weight = "bold" if node in kept else "normal"
        drawn += centred(min(max(x, 66), WIDTH - 66), y, question, font_weight=weight)
        return drawn + (centred(x, y + 17, f"g = {links[node]:.3f}") if node in links else "")

    def branch(self, node: int, end: float, gap: int, is_kept: bool) -> str:
        """The line down to a node and, where it still stands, the answer."""
        (x1, y1), x2 = self.at[int(self.full.parent[node])], self.at[node][0]
        drawn = line(x1, y1 + gap, x2, end, stroke_opacity=0.6)
        if not is_kept:
            return drawn
        answer, side, anchor = [("yes", -1, "end"), ("no", 1, "start")][int(self.full.branch[node])]
        return drawn + text((x1 + x2) / 2 + 7 * side, (y1 + gap + end) / 2, answer, text_anchor=anchor)

    def story(self, price: float) -> str:
        """How well the tree does at this price, and the path to it."""
        pruned, passed = self.pruned(price), self.path.n_leaves[: self.step(price) + 1]
        wrong = round(len(self.X) * (1 - pruned.score(self.X, self.labels)))
        return (
            f"At a price of {price:.2f} for each leaf, the best tree has {_leaves(pruned.n_leaves)}. It is wrong about "
            f"{wrong} of the {len(self.X)} melons. The path so far, in leaves: {', '.join(map(str, passed))}."
        )

    def cost(self, price: float) -> str:
        """What the tree costs at this price, and which link goes next."""
        k, links = self.step(price), _links(self.full, _kept(self.full, self.pruned(price)))
        risk, n_leaves = float(self.path.impurities[k]), int(self.path.n_leaves[k])
        after = f"The weakest link goes at {min(links.values()):.3f}." if links else "Nothing is left to prune."
        return (
            f"At a price of {price:.2f} the best tree has {_leaves(n_leaves)}. Its risk is {risk:.3f}, so it costs "
            f"{risk:.3f} + {price:.2f} × {n_leaves} = {risk + price * n_leaves:.3f}. {after}"
        )

    def beside(self) -> Panel:
        """The melons in the plane of the two columns, over the regions of the tree at the price that is set."""
        (x, y), left = map(str, self.X.columns), _leaves(self.pruned(self.start).n_leaves)
        still = melons_at(self.is_ripe, (self.plane.at(*row) for row in self.X.to_numpy(float)))
        return Panel(
            alt=f"The regions of the tree over {x} and {y}, one for each of its {left}, in the colours of what they "
            "predict, with the melons in them.",
            size=(WIDTH, 340),
            background=small(self.plane.axes(ticks(*self.plane.xlim), ticks(*self.plane.ylim), x, y)),
            frame=lambda price: ([_regions(self.plane, self.pruned(price)), still], {}),
        )


def alpha_explorer(
    frame: pd.DataFrame, target: str, prices: Sequence[float], start: float, *, with_links: bool = True
) -> Explorable:
    """A small CART tree of two columns of numbers, pruned by the price of a leaf, and its regions beside it.

    The melons lie in the leaves; where a subtree is pruned, they move up to the node that has become a leaf. `start` is
    the price at rest; the figure opens with the lowest. `with_links` writes below each question its link g(t), tells
    what the tree costs, and asks beforehand when the root goes; without, the reader guesses in how many steps the tree
    folds.
    """
    tree = _Folding(frame, target, start, with_links)
    full, left = _leaves(tree.full.n_leaves), _leaves(tree.pruned(start).n_leaves)
    words: dict[str, Any] = dict(
        alt=f"A tree of {full}, of which the price {start:g} has left {left}: the {len(frame)} melons, as numbered "
        "circles, hollow if ripe, lie in these. What is pruned is drawn pale.",
        controls=[Slider("Price of a leaf α", list(prices), start=start, opens=prices[0], show="{:.2f}")],
    )
    if not with_links:
        steps, n_leaves = [1, 2, 3, 4, 5][: len(tree.path.n_leaves)], list(map(int, tree.path.n_leaves))
        stop = min(price for price in prices if tree.folds_two(price))
        return tree.explorable(
            **words,
            title="What is a leaf worth?",
            guess=Choice(
                f"Your guess: in how many steps do the {full} become one?",
                steps,
                answer=len(n_leaves) - 1,
                truth=f"the trees of the path have {listed(n_leaves)} leaves",
            ),
            found=lambda price: price == stop,
            challenge="Stop at every tree of the path. At which price, in whole cents, do two questions fall at once?",
        )
    return _root_explorer(tree, prices, words)


def _root_explorer(tree: _Folding, prices: Sequence[float], words: dict[str, Any]) -> Explorable:
    """The figure that asks when the root goes: its link changes when others have gone."""
    link, end = _links(tree.full, _kept(tree.full, tree.full))[0], float(tree.path.ccp_alphas[-1])
    root, higher = f"{link:.3f}", int(np.sign(round(end - link, 9)))
    return tree.explorable(
        **words,
        title="The price of a leaf",
        guess=Choice(
            f"Your guess: the root has g = {root}. At which price does it become a leaf?",
            sides := ["at a lower one", f"at {root}", "at a higher one"],
            answer=sides[1 + higher],
            truth=f"it does at {end:.3f}, when the other links have gone",
        ),
        found=lambda price: price == min(price for price in prices if price >= end),
        challenge="Raise the price until the root becomes a leaf. Which questions go at their g, which one goes along "
        "with another, and which g changes?",
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


def _links(tree: Tree, kept: dict[int, bool]) -> dict[int, float]:
    """g(t) of each question that still stands."""
    risk = tree.weight * tree.impurity / tree.weight[0]
    below: dict[int, tuple[float, int]] = {}  # risk and number of the leaves under each node
    links = {}
    for node in sorted(kept, reverse=True):
        if kept[node]:
            below[node] = float(risk[node]), 1
            continue
        first = int(tree.first_child[node])
        left, right = below[first], below[first + 1]
        below[node] = left[0] + right[0], left[1] + right[1]
        links[node] = (float(risk[node]) - below[node][0]) / (below[node][1] - 1)
    return links
