"""The figures of the chapter on pruning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from figures.explorable import Choice, Explorable, Panel, Slider
from figures.scene import (
    OUTLINE,
    Chart,
    Picture,
    centred,
    dot,
    filled,
    in_class,
    melon,
    ripe_and_unripe,
    stroked,
)
from treekit.models.cart import CARTClassifier, CARTRegressor
from treekit.pen.palette import REGION, class_color
from treekit.pen.svg import circle, element, line, rect, text
from treekit.pruning.cost_complexity import CostComplexityPath, cost_complexity_path, prune_cost_complexity
from treekit.pruning.pessimistic import binomial_limit
from treekit.trees.tree import Tree

NO_LIMIT = "none"
WIDTH, PITCH = 400, 22.5  # of the drawings of melons, and from one melon to the next
Box = list[tuple[float, float]]


# -- curves that stand still ----------------------------------------------------------------------------------------


def depth_curves(means: pd.DataFrame) -> Picture:
    """Accuracy on training rows and on held-out rows, the columns of `means`, against the depth, its index."""
    last, low = int(means.index[-1]), np.floor(10 * means.min().min()) / 10
    plane = Chart((0, last), (low, 1), (48, 40, 400, 262))
    ends = [("training", "training"), ("held-out", "held out")]
    curves = "".join(
        plane.curve(means.index, means[column], **stroked(k), stroke_dasharray=("none", "7 4")[k])
        + text(406, plane.y(means[column].iloc[-1]) + 5, name)
        for k, (column, name) in enumerate(ends)
    )
    best = int(means["held-out"].idxmax())
    marked = line(plane.x(best), 40, plane.x(best), 262, stroke_dasharray="2 4")
    ticks = [t / 10 for t in range(round(10 * low), 11)]
    drawn = plane.axes(range(0, last + 1, 2), ticks, "largest depth", "accuracy")
    alt = (
        f"Two curves over the largest depth, from 0 to {last}. The training accuracy rises from "
        f"{means['training'].iloc[0]:.2f} to {means['training'].iloc[-1]:.2f}. The held-out accuracy is highest "
        f"at depth {best}, {means['held-out'].max():.2f}, and then falls to {means['held-out'].iloc[-1]:.2f}."
    )
    return Picture(alt, (480, 312), drawn + marked + curves)


def limit_curves(confidence: float = 0.25, most_rows: int = 20, most_errors: int = 2) -> Picture:
    """The error rate with which C4.5 charges a leaf, over its rows; a curve for each number of errors seen."""
    plane = Chart((0, most_rows), (0, 1), (48, 40, 380, 232))
    drawn = plane.axes(range(0, most_rows + 1, 5), [0, 0.25, 0.5, 0.75, 1], "rows in the leaf", "error rate charged")
    for errors in range(most_errors + 1):
        rows = np.arange(errors + 1, most_rows + 1)
        rates = binomial_limit(np.full(len(rows), errors), rows, confidence)
        shapes = "".join(circle(plane.x(n), plane.y(rate), 4) for n, rate in zip(rows.tolist(), rates.tolist()))
        drawn += plane.curve(rows, rates, stroke_width=1, **stroked(errors))
        drawn += in_class(errors, shapes)
        name = ("no error", "1 error")[errors] if errors < 2 else f"{errors} errors"
        drawn += text(390, plane.y(rates[-1]) + 10 - 5 * errors, name)  # a little apart
    alt = (
        f"Falling curves of the error rate charged over the rows of a leaf, from 1 to {most_rows}, for no error up to "
        f"{most_errors} errors seen. They start high, at {1 - confidence:.2f} for a pure leaf of one row, fall steeply "
        "at first and then slowly. The more errors were seen, the higher the curve."
    )
    return Picture(alt, (480, 282), drawn)


def price_lines(path: CostComplexityPath) -> Picture:
    """The cost of each tree of a path as a line over the price of a leaf; the lowest line is drawn thick."""
    last = 1.5 * path.ccp_alphas[-1]
    top = 1.35 * float(path.impurities[-1] + last)
    plane = Chart((0, last), (0, top), (48, 40, 400, 282))
    drawn = plane.axes(_ticks(last), _ticks(top), "price of a leaf α", "R(T) + α |T|")
    for k, (risk, n_leaves) in enumerate(zip(path.impurities, path.n_leaves)):
        end = min(last, (top - risk) / n_leaves)
        height = risk + n_leaves * end
        name = f"{n_leaves} leaves" if n_leaves > 1 else "1 leaf"
        # A line that leaves the picture through its upper edge is named there.
        x, y, anchor = (plane.x(end), 34.0, "middle") if end < last else (406.0, plane.y(height) + 5, "start")
        drawn += plane.curve([0, end], [risk, height], stroke_width=1, **stroked(k))
        drawn += text(x, y, name, text_anchor=anchor)
    for k, (start, stop) in enumerate(pairwise([*path.ccp_alphas, last])):
        costs = [path.impurities[k] + a * path.n_leaves[k] for a in (start, stop)]
        drawn += plane.curve([start, stop], costs, stroke_width=5, **stroked(k))
        if k:
            drawn += line(plane.x(start), plane.y(costs[0]), plane.x(start), 282, stroke_dasharray="2 4")
    steps = ", ".join(f"{a:.3f}" for a in path.ccp_alphas[1:])
    alt = (
        f"One rising line for each of the {len(path.n_leaves)} trees of the path; the more leaves, the lower it starts "
        f"and the steeper it is. The lowest line changes at the prices {steps}."
    )
    return Picture(alt, (480, 332), drawn)


def risk_steps(trees: dict[str, CostComplexityPath]) -> Picture:
    """Number of leaves against the price of a leaf in parts of the root's risk, one line of steps for each path."""
    prices = {name: path.ccp_alphas / path.impurities[-1] for name, path in trees.items()}
    last = 0.06
    top = max(float(path.n_leaves[0]) for path in trees.values())
    plane = Chart((0, last), (0, top), (48, 40, 460, 262))
    drawn = plane.axes(_ticks(last), _ticks(top), "price of a leaf, in parts of the root's risk", "leaves")
    for k, (name, path) in enumerate(trees.items()):
        shown = prices[name] <= last
        xs, ys = [], []
        for start, stop, n in zip(prices[name][shown], [*prices[name][1:], last], path.n_leaves[shown]):
            xs += [start, min(stop, last)]
            ys += [n, n]
        drawn += plane.curve(xs, ys, **stroked(k), stroke_dasharray=("none", "7 4")[k])
        drawn += line(
            210,
            60 + 26 * k,
            240,
            60 + 26 * k,
            **stroked(k),
            stroke_width=2,
            stroke_dasharray=("none", "7 4")[k],
        ) + text(248, 65 + 26 * k, name)
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
        drawn += line(plane.x(tick), 262, plane.x(tick), 267)
        drawn += centred(plane.x(tick), 283, str(2**tick))
    best = table["error"].idxmin()
    bound = float(table["error"][best] + table["se"][best])
    drawn += line(48, plane.y(bound), 460, plane.y(bound), stroke_dasharray="7 4")
    for name, k in chosen.items():
        x, y = plane.x(xs[k]), plane.y(table["error"][k])
        below = plane.y(table["error"][k] - table["se"][k]) + 16  # the name stands clear of the bar
        drawn += element("g", dot(x, y), **filled(1)) + centred(x, below, name)
    ticks = np.arange(round(20 * low), round(20 * high) + 1) / 20
    axes = plane.axes([], ticks.tolist(), "leaves of the tree (each tick doubles them)", "cross-validated error")
    words = "; ".join(f"{name}: {table['leaves'][k]} leaves, {table['error'][k]:.3f}" for name, k in chosen.items())
    alt = (
        "The cross-validated error over the number of leaves, with a bar of one standard error up and down at "
        f"each tree, and a dashed line one standard error above the lowest. Two trees are marked. {words}."
    )
    return Picture(alt, (480, 312), axes + drawn)


def _ticks(last: float) -> list[float]:
    """Four to eight round numbers from 0 up to `last`."""
    step = 10 ** np.floor(np.log10(last))
    for part in (2, 5, 10):
        if last / (step * 2 / part) >= 4:
            step = step * 2 / part
            break
    return [k * float(step) for k in range(int(last / step + 1e-9) + 1)]


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
    shapes: dict[int, str] = {}
    for node, (xs, ys) in _boxes(tree, [plane.xlim, plane.ylim]):
        k = int(tree.value[node].argmax())
        # Whole pixels keep the page light: rounded ends meet, as the boxes do.
        left, right = (round(plane.x(x)) for x in xs)
        bottom, top = (round(plane.y(y)) for y in ys)
        shapes[k] = shapes.get(k, "") + f"M{left},{top}H{right}V{bottom}H{left}z"
    return "".join(element("path", d=shapes[k], **filled(k), fill_opacity=REGION) for k in sorted(shapes))


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
            drawn += _dots(places, 2.6, "var(--pst-color-background, Canvas)")
    return drawn


def _around(values: pd.Series, share: float = 0.04) -> tuple[float, float]:
    """A little more than the values reach over."""
    margin = share * float(values.max() - values.min())
    return float(values.min()) - margin, float(values.max()) + margin


def _round_numbers(limits: tuple[float, float]) -> list[float]:
    """At most five round numbers within the limits."""
    low, high = limits
    step = next(s for s in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200) if (high - low) / s <= 5)
    return [k * step for k in range(int(np.ceil(low / step)), int(high / step) + 1)]


def _leaves(tree: Tree) -> str:
    return "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"


DEPTHS = (1, 2, 3, 4, 6, 8, NO_LIMIT)
WITH_ONE_LEAF = (0, *DEPTHS[:-2], NO_LIMIT)
LEAST = (1, 5, 15)


def _limits_explorer(
    plane: Chart,
    axes: str,
    depths: Sequence[int | str],
    fit: Callable[[int | None, int], Tree],
    seen: Callable[[Tree], list[str]],
    new: Callable[[Tree], list[str]],
    new_alt: str,
    loss: Callable[[Tree], float],
    sentence: Callable[[Tree], str],
    **settings: Any,
) -> Explorable:
    """The tree with the limits that the reader sets, over the rows that it was grown from and, beside, over others.

    It opens without limits, and the challenge is met where the loss on the other rows is least.
    """
    trees = {
        (depth, least): fit(None if depth == NO_LIMIT else int(depth), least) for depth in depths for least in LEAST
    }
    losses = {limits: loss(tree) for limits, tree in trees.items()}
    lowest = min(losses.values()) + 1e-9
    size, background = (WIDTH, 348), element("g", axes, font_size=13)

    def state(depth: int | str, least: int) -> tuple[list[str], str]:
        tree = trees[depth, least]
        return seen(tree), f"{_leaves(tree).capitalize()}. {sentence(tree)}"

    return Explorable(
        size=size,
        background=background,
        controls=[
            Slider("max_depth", depths, start=NO_LIMIT),
            Choice("min_samples_leaf", LEAST),
        ],
        frame=state,
        found=lambda depth, least: losses[depth, least] <= lowest,
        beside=Panel(new_alt, size, background, lambda depth, least: new(trees[depth, least])),
        **settings,
    )


def _limits_plane(rows: Sequence[pd.DataFrame], legend: str = "") -> tuple[Chart, str]:
    """The plane of the first two columns of several tables, and its axes."""
    x, y = (pd.concat([frame.iloc[:, j] for frame in rows]) for j in range(2))
    plane = Chart(_around(x), _around(y), (40, 58, 394, 300))
    axes = plane.axes(_round_numbers(plane.xlim), _round_numbers(plane.ylim), str(x.name), str(y.name))
    return plane, axes + legend


def regions_explorer(frame: pd.DataFrame, new_rows: pd.DataFrame, target: str) -> Explorable:
    """The regions of a CART tree of two columns, with the limits that the reader sets after a guess.

    The trees grow from `frame`, whose rows lie on the left; `new_rows`, on the right, only measure. The rows
    that are classified wrong are marked.
    """
    columns = [column for column in frame if column != target]
    classes = np.unique(frame[target].astype(str))
    legend = "".join(
        _dots([(226 + 58 * k, 16)], 9, class_color(k))
        + (_dots([(226 + 58 * k, 16)], 5, "var(--pst-color-background, Canvas)") if k % 2 else "")
        + text(236 + 58 * k, 20, name)
        for k, name in enumerate(classes)
    )
    legend += _dots([(342, 16)], 8, "currentColor") + text(352, 20, "wrong")
    plane, axes = _limits_plane([frame[columns], new_rows[columns]], legend)

    def over(rows: pd.DataFrame, kind: str) -> Callable[[Tree], list[str]]:
        X, labels = rows[columns], rows[target].astype(str)
        places = [(plane.x(a), plane.y(b)) for a, b in X.to_numpy().tolist()]
        points = _points(plane, X.iloc[:, 0], X.iloc[:, 1], np.searchsorted(classes, labels).tolist())

        def drawn(tree: Tree) -> list[str]:
            wrong = np.asarray(tree.predict(X)) != labels.to_numpy()
            head = f"{len(rows)} {kind}: {wrong.sum()} wrong"
            marked = _dots([place for place, is_wrong in zip(places, wrong) if is_wrong], 6, "currentColor")
            answer = text(0, 20, head, font_weight="bold") + marked
            return [_regions(plane, tree), points, element("g", answer, class_="answer", font_size=13)]

        return drawn

    def fit(depth: int | None, least: int) -> Tree:
        return (
            CARTClassifier(max_depth=depth, min_samples_leaf=least).fit(frame[columns], frame[target].astype(str)).tree_
        )

    def accuracy(tree: Tree, rows: pd.DataFrame) -> float:
        return tree.score(rows[columns], rows[target].astype(str))

    return _limits_explorer(
        plane,
        axes,
        DEPTHS,
        fit,
        over(frame, "training rows"),
        over(new_rows, "new rows"),
        f"The same regions with {len(new_rows)} new rows. Many of them are marked: they are classified wrong.",
        lambda tree: 1 - accuracy(tree, new_rows),
        lambda tree: (
            f"Accuracy {accuracy(tree, frame):.3f} on the {len(frame)} training rows, "
            f"{accuracy(tree, new_rows):.3f} on the {len(new_rows)} new ones."
        ),
        title="Strips for single patients",
        alt=f"{len(frame)} training rows over {columns[0]} and {columns[1]}, and the regions of a tree without limits "
        "in the colours of what it predicts. Thin strips and islands reach for single rows, and no row is wrong.",
        guess=Choice("Your guess: at which max_depth are the fewest new rows wrong?", DEPTHS),
        challenge="Lower max_depth step by step, and count the wrong rows on both sides. When are the fewest new rows "
        "wrong?",
    )


def curve_explorer(frame: pd.DataFrame, new_rows: pd.DataFrame, target: str) -> Explorable:
    """The curve of a regression tree of one column, with the limits that the reader sets after a guess.

    The trees grow from `frame`, whose rows lie on the left; `new_rows`, on the right, only measure. With a depth of 0
    the tree is one leaf, so the reader can see whether a tree without limits is worth more than the mean.
    """
    (name,) = (column for column in frame if column != target)
    tables = [rows[[name, target]] for rows in (frame, new_rows)]
    plane, axes = _limits_plane(tables)

    def over(rows: pd.DataFrame, kind: str) -> Callable[[Tree], list[str]]:
        points = _points(plane, rows[name], rows[target], [0] * len(rows))
        head = text(0, 20, f"{len(rows)} {kind}", font_weight="bold", font_size=13)
        return lambda tree: [head + points, _steps(plane, tree)]

    def fit(depth: int | None, least: int) -> Tree:
        return CARTRegressor(max_depth=depth, min_samples_leaf=least).fit(frame[[name]], frame[target]).tree_

    def error(tree: Tree, rows: pd.DataFrame) -> float:
        return float(((np.asarray(tree.predict(rows[[name]])) - rows[target]) ** 2).mean())

    return _limits_explorer(
        plane,
        axes,
        WITH_ONE_LEAF,
        fit,
        over(frame, "training rows"),
        over(new_rows, "new rows"),
        f"The same curve among {len(new_rows)} new rows, most of which lie far from it.",
        lambda tree: error(tree, new_rows),
        lambda tree: (
            f"Mean squared error {error(tree, frame):.0f} on the {len(frame)} training rows, "
            f"{error(tree, new_rows):.0f} on the {len(new_rows)} new ones."
        ),
        title="A curve that jumps to single patients",
        alt=f"{len(frame)} training rows as points, {target} over {name}, and the curve of a regression tree without "
        "limits, which jumps up and down to meet nearly every point.",
        guess=Choice(
            "Your guess: which predicts the new rows better, this tree or one leaf with the mean of all?",
            ["this tree", "one leaf"],
        ),
        challenge="Which limits make the error on the new rows as small as possible? Try both kinds.",
    )


# -- the price of a leaf --------------------------------------------------------------------------------------------


STEP = 88  # pixels from one level of the tree to the next


def alpha_explorer(
    frame: pd.DataFrame, target: str, prices: Sequence[float], start: float, *, with_links: bool = True
) -> Explorable:
    """A small CART tree of two columns of numbers, pruned by the price of a leaf, and its regions beside it.

    The melons lie in the leaves; where a subtree is pruned, they move up to the node that has become a leaf. `start` is
    the price at rest; the figure opens with the lowest. `with_links` writes below each question its link g(t), tells
    what the tree costs, and asks beforehand when the root goes; without, the reader guesses in how many steps the tree
    folds.
    """
    X, labels = frame.drop(columns=target), frame[target].astype(str)
    full = CARTClassifier().fit(X, labels).tree_
    path = cost_complexity_path(full)
    is_ripe = dict(zip(frame.index, labels == "yes", strict=True))
    place, bottom = _places(full), STEP * full.max_depth + 80
    below = full.membership(X).toarray() > 0
    leaf_of = dict(zip(frame.index, below.argmax(axis=1).tolist(), strict=True))
    rows = {node: [row for row, leaf in leaf_of.items() if _is_below(full, leaf, node)] for node in range(full.n_nodes)}

    def drawn(node: int, links: dict[int, float], kept: dict[int, bool]) -> str:
        """A node, with the branch that leads to it."""
        at_x, at_y = place[node]
        is_leaf = kept.get(node, bool(full.is_leaf[node]))
        shape = ""
        if node:
            x1, y1 = place[int(full.parent[node])]
            y1 += 22 if with_links else 7
            y2 = at_y + 8 if is_leaf else at_y - 14
            shape = line(x1, y1, at_x, y2, stroke_opacity=0.6)
            if node in kept:
                answer, side, anchor = [("yes", -1, "end"), ("no", 1, "start")][int(full.branch[node])]
                shape += text((x1 + at_x) / 2 + 7 * side, (y1 + y2) / 2, answer, text_anchor=anchor)
        if is_leaf:
            width = PITCH * _columns(len(rows[node])) + 8
            box = (at_x - width / 2, at_y + 8, width, 52)
            if node not in kept:
                return shape + rect(*box, rx=4, **OUTLINE)
            color = f"fill: {class_color(int(full.value[node].argmax()))}"
            ground = rect(*box, rx=4, style="fill: var(--pst-color-background, Canvas)", stroke="currentColor")
            return shape + ground + rect(*box, rx=4, style=color, fill_opacity=REGION)
        question = f"{full.features[full.feature[node]].name} ≤ {full.threshold[node]:.4g}?"
        middle = min(max(at_x, 66), WIDTH - 66)
        shape += centred(middle, at_y, question, font_weight="bold" if node in kept else "normal")
        return shape + (centred(at_x, at_y + 17, f"g = {links[node]:.3f}") if node in links else "")

    def lying(node: int) -> dict[object, tuple[float, float]]:
        """The melons of a leaf, in two lines."""
        at_x, at_y = place[node]
        n = _columns(len(rows[node]))
        left = at_x - PITCH * (n - 1) / 2
        return {row: (left + PITCH * (i % n), at_y + 23 + PITCH * (i // n)) for i, row in enumerate(rows[node])}

    def state(price: float) -> tuple[list[str], str, dict]:
        pruned = prune_cost_complexity(full, price)
        kept = _kept(full, pruned)
        links = _links(full, kept)
        shown = links if with_links else {}
        pale = "".join(drawn(node, {}, {}) for node in range(full.n_nodes) if node not in kept)
        parts = [element("g", pale, opacity=0.5, font_size=13)] if pale else []
        parts.append(element("g", "".join(drawn(node, shown, kept) for node in kept), font_size=13))
        places = {row: at for node, is_leaf in kept.items() if is_leaf for row, at in lying(node).items()}
        return parts, sentence(price, pruned, links), places

    def step(price: float) -> int:
        """Which tree of the path is best at this price."""
        return int(np.searchsorted(path.ccp_alphas, price + 1e-9, side="right")) - 1

    def sentence(price: float, pruned: Tree, links: dict[int, float]) -> str:
        if not with_links:
            wrong = round(len(frame) * (1 - pruned.score(X, labels)))
            passed = ", ".join(map(str, path.n_leaves[: step(price) + 1]))
            return (
                f"At a price of {price:.2f} for each leaf, the best tree has {_leaves(pruned)}. It is wrong about "
                f"{wrong} of the {len(frame)} melons. The path so far, in leaves: {passed}."
            )
        k = step(price)
        risk, n_leaves = float(path.impurities[k]), int(path.n_leaves[k])
        after = f"The weakest link goes at {min(links.values()):.3f}." if links else "Nothing is left to prune."
        return (
            f"At a price of {price:.2f} the best tree has {_leaves(pruned)}. Its risk is {risk:.3f}, so it costs "
            f"{risk:.3f} + {price:.2f} × {n_leaves} = {risk + price * n_leaves:.3f}. {after}"
        )

    def folds_two(price: float) -> bool:
        """Whether this is the tree from which two questions have gone at once."""
        k = step(price)
        return k > 0 and bool(path.n_leaves[k - 1] - path.n_leaves[k] > 1)

    n_left = _leaves(prune_cost_complexity(full, start))
    steps = len(path.n_leaves) - 1
    if with_links:
        root = f"{_links(full, _kept(full, full))[0]:.3f}"
        guess = Choice(
            f"Your guess: the root has g = {root}. At which price does it become a leaf?",
            ["at a lower one", f"at {root}", "at a higher one"],
        )
        challenge = (
            "Raise the price until the root becomes a leaf. Which questions go at their g, which one goes along with "
            "another, and which g changes?"
        )
    else:
        guess = Choice(
            f"Your guess: in how many steps do the {full.n_leaves} leaves become one?", [1, 2, 3, 4, 5][: steps + 1]
        )
        challenge = "Stop at every tree of the path. At which price do two questions fall at once?"
    legend = ripe_and_unripe(12, bottom + 18)
    return Explorable(
        title="The price of a leaf" if with_links else "What is a leaf worth?",
        alt=f"A tree of {_leaves(full)}, of which the price {start:g} has left {n_left}: the {len(frame)} melons, as "
        "numbered circles, hollow if ripe, lie in these. What is pruned is drawn pale.",
        size=(WIDTH, bottom + 32),
        background=element("g", legend, font_size=13),
        marks={row: melon(row, ripe, radius=10.5) for row, ripe in is_ripe.items()},
        controls=[Slider("Price of a leaf α", list(prices), start=start, opens=prices[0], show="{:.2f}")],
        frame=state,
        guess=guess,
        found=(lambda price: price >= path.ccp_alphas[-1]) if with_links else folds_two,
        challenge=challenge,
        beside=_melon_plane(frame, target, lambda price: prune_cost_complexity(full, price), n_left),
    )


def _melon_plane(frame: pd.DataFrame, target: str, tree_at: Callable[[float], Tree], n_left: str) -> Panel:
    """The melons in the plane of two columns, over the regions of the tree at the price that is set."""
    x, y = (frame[column] for column in frame if column != target)
    plane = Chart(_around(x, 0.08), _around(y, 0.08), (40, 34, 394, 290))
    melons = "".join(
        melon(row, label == "yes", plane.x(a), plane.y(b), 10.5)
        for row, a, b, label in zip(frame.index, x, y, frame[target], strict=True)
    )
    axes = plane.axes(_round_numbers(plane.xlim), _round_numbers(plane.ylim), str(x.name), str(y.name))
    return Panel(
        alt=f"The regions of the tree over {x.name} and {y.name}, one for each of its {n_left}, in the colours of what "
        "they predict, with the melons in them.",
        size=(WIDTH, 340),
        background=element("g", axes, font_size=13),
        frame=lambda price: [_regions(plane, tree_at(price)), melons],
    )


def _columns(n_rows: int) -> int:
    """The number of columns in which melons lie in two lines."""
    return max(1, -(-n_rows // 2))


def _is_below(tree: Tree, leaf: int, node: int) -> bool:
    """Whether a leaf lies below a node, or is this node."""
    while leaf > node:
        leaf = int(tree.parent[leaf])
    return leaf == node


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
