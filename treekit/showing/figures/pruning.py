"""The figures of the chapter on pruning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from treekit.models.cart import CARTClassifier, CARTRegressor
from treekit.pruning.cost_complexity import CostComplexityPath, cost_complexity_path, prune_cost_complexity
from treekit.pruning.pessimistic import binomial_limit
from treekit.showing.explorable import Choice, Explorable, Slider
from treekit.showing.figures.shared import Picture, dot, in_class
from treekit.showing.palette import class_color
from treekit.showing.svg import Plane, circle, element, line, number, rect, text
from treekit.trees.tree import Tree

NO_LIMIT = "none"
Box = list[tuple[float, float]]


# -- curves that stand still ----------------------------------------------------------------------------------------


def depth_curves(means: pd.DataFrame) -> Picture:
    """Accuracy on training rows and on held-out rows, the columns of `means`, against the depth, its index."""
    last, low = int(means.index[-1]), np.floor(10 * means.min().min()) / 10
    plane = Plane((0, last), (low, 1), (48, 40, 400, 262))
    ends = [("training", "training"), ("held-out", "held out")]
    curves = "".join(
        plane.curve(means.index, means[column], style=f"stroke: {class_color(k)}", stroke_dasharray=("none", "7 4")[k])
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
    plane = Plane((0, most_rows), (0, 1), (48, 40, 380, 232))
    drawn = plane.axes(range(0, most_rows + 1, 5), [0, 0.25, 0.5, 0.75, 1], "rows in the leaf", "error rate charged")
    for errors in range(most_errors + 1):
        rows = np.arange(errors + 1, most_rows + 1)
        rates = binomial_limit(np.full(len(rows), errors), rows, confidence)
        shapes = "".join(circle(plane.x(n), plane.y(rate), 4) for n, rate in zip(rows.tolist(), rates.tolist()))
        drawn += plane.curve(rows, rates, stroke_width=1, style=f"stroke: {class_color(errors)}")
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
    plane = Plane((0, last), (0, top), (48, 40, 400, 282))
    drawn = plane.axes(_ticks(last), _ticks(top), "price of a leaf α", "R(T) + α |T|")
    for k, (risk, n_leaves) in enumerate(zip(path.impurities, path.n_leaves)):
        end = min(last, (top - risk) / n_leaves)
        height = risk + n_leaves * end
        name = f"{n_leaves} leaves" if n_leaves > 1 else "1 leaf"
        # A line that leaves the picture through its upper edge is named there.
        x, y, anchor = (plane.x(end), 34.0, "middle") if end < last else (406.0, plane.y(height) + 5, "start")
        drawn += plane.curve([0, end], [risk, height], stroke_width=1, style=f"stroke: {class_color(k)}")
        drawn += text(x, y, name, text_anchor=anchor)
    for k, (start, stop) in enumerate(pairwise([*path.ccp_alphas, last])):
        costs = [path.impurities[k] + a * path.n_leaves[k] for a in (start, stop)]
        drawn += plane.curve([start, stop], costs, stroke_width=5, style=f"stroke: {class_color(k)}")
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
    plane = Plane((0, last), (0, top), (48, 40, 460, 262))
    drawn = plane.axes(_ticks(last), _ticks(top), "price of a leaf, in parts of the root's risk", "leaves")
    for k, (name, path) in enumerate(trees.items()):
        shown = prices[name] <= last
        xs, ys = [], []
        for start, stop, n in zip(prices[name][shown], [*prices[name][1:], last], path.n_leaves[shown]):
            xs += [start, min(stop, last)]
            ys += [n, n]
        drawn += plane.curve(xs, ys, style=f"stroke: {class_color(k)}", stroke_dasharray=("none", "7 4")[k])
        drawn += line(
            210,
            60 + 26 * k,
            240,
            60 + 26 * k,
            style=f"stroke: {class_color(k)}",
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
    plane = Plane((0, float(xs.max())), (low, high), (48, 40, 460, 262))
    drawn = "".join(
        line(plane.x(x), plane.y(e - s), plane.x(x), plane.y(e + s), stroke_opacity=0.5)
        for x, e, s in zip(xs, table["error"], table["se"])
    )
    drawn += plane.curve(xs, table["error"], style=f"stroke: {class_color(0)}")
    for tick in range(int(xs.max()) + 1):
        drawn += line(plane.x(tick), 262, plane.x(tick), 267)
        drawn += text(plane.x(tick), 283, str(2**tick), text_anchor="middle")
    best = table["error"].idxmin()
    bound = float(table["error"][best] + table["se"][best])
    drawn += line(48, plane.y(bound), 460, plane.y(bound), stroke_dasharray="7 4")
    for name, k in chosen.items():
        x, y = plane.x(xs[k]), plane.y(table["error"][k])
        drawn += element("g", dot(x, y), style=f"fill: {class_color(1)}") + text(x, y + 24, name, text_anchor="middle")
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


def _regions(plane: Plane, tree: Tree) -> str:
    """The regions of a tree of two columns of numbers, in the colours of their classes."""
    shapes: dict[int, str] = {}
    for node, (xs, ys) in _boxes(tree, [plane.xlim, plane.ylim]):
        k = int(tree.value[node].argmax())
        x, y = plane.x(xs[0]), plane.y(ys[1])
        width, height = plane.x(xs[1]) - x, plane.y(ys[0]) - y
        box = f"M{number(x)},{number(y)}h{number(width)}v{number(height)}h{number(-width)}z"
        shapes[k] = shapes.get(k, "") + box
    return "".join(
        element("path", d=shapes[k], style=f"fill: {class_color(k)}", fill_opacity=(0.35, 0.12)[k % 2])
        for k in sorted(shapes)
    )


def _steps(plane: Plane, tree: Tree) -> str:
    """The curve of a regression tree of one column."""
    steps = sorted((xs[0], xs[1], float(tree.value[node, 0])) for node, (xs,) in _boxes(tree, [plane.xlim]))
    places = [(x, y) for start, stop, y in steps for x in (start, stop)]
    return plane.curve(*zip(*places), style=f"stroke: {class_color(1)}")


def _points(plane: Plane, x: Sequence[float], y: Sequence[float], label: Sequence[int], r: float = 2.4) -> str:
    """Rows as points, every second class hollow."""
    drawn = ""
    for k in sorted(set(label)):
        places = [(plane.x(a), plane.y(b)) for a, b, c in zip(x, y, label, strict=True) if c == k]
        drawn += in_class(k, "".join(element("circle", cx=a, cy=b, r=r) for a, b in places))
    return drawn


def _around(values: pd.Series) -> tuple[float, float]:
    """A little more than the values reach over."""
    margin = 0.04 * float(values.max() - values.min())
    return float(values.min()) - margin, float(values.max()) + margin


def _round_numbers(limits: tuple[float, float]) -> list[float]:
    """At most five round numbers within the limits."""
    low, high = limits
    step = next(s for s in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200) if (high - low) / s <= 5)
    return [k * step for k in range(int(np.ceil(low / step)), int(high / step) + 1)]


def _panels(x: pd.Series, y: pd.Series) -> tuple[tuple[Plane, Plane], str]:
    """Two pictures of the same rows side by side, and their axes; the right one shares the numbers of the left one."""
    xlim, ylim = _around(x), _around(y)
    left, right = (Plane(xlim, ylim, (start, 62, start + 196, 276)) for start in (46, 280))
    axes = left.axes(_round_numbers(xlim), _round_numbers(ylim), str(x.name), str(y.name))
    axes += right.axes(_round_numbers(xlim), [], str(x.name), "")
    heads = ((left, "no limits"), (right, "with limits"))
    axes += "".join(text(plane.box[2], 20, head, text_anchor="end") for plane, head in heads)
    return (left, right), axes


def _limits_explorer(
    title: str,
    alt: str,
    challenge: str,
    background: str,
    fit: Callable[[int | None, int], Tree],
    draw: Callable[[Tree], str],
    told: Callable[[Tree], str],
    height: int = 352,
) -> Explorable:
    """The tree that has the limits which the reader sets, over a picture with the tree that has none."""
    without = told(fit(None, 1))

    def state(depth: int | str, least: int) -> tuple[str, str]:
        tree = fit(None if depth == NO_LIMIT else int(depth), least)
        return draw(tree), f"No limits: {without}. With limits: {told(tree)}."

    return Explorable(
        title=title,
        alt=alt,
        size=(480, height),
        background=background,
        controls=[
            Slider("max_depth", [1, 2, 3, 4, 6, 8, NO_LIMIT], start=4),
            Choice("min_samples_leaf", [1, 5, 15]),
        ],
        frame=state,
        challenge=challenge,
    )


def _leaves(tree: Tree) -> str:
    return "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"


def _legend(target: str, classes: Sequence[str], y: float) -> str:
    return "".join(
        in_class(k, element("circle", cx=8 + 160 * k, cy=y - 5, r=4)) + text(18 + 160 * k, y, f"{target}: {name}")
        for k, name in enumerate(classes)
    )


def regions_explorer(frame: pd.DataFrame, new_rows: pd.DataFrame, target: str) -> Explorable:
    """The regions of a CART tree of two columns, without limits and with max_depth and min_samples_leaf.

    The trees grow from `frame`, whose rows are the points; `new_rows` only measure their accuracy.
    """
    X, labels = frame.drop(columns=target), frame[target].astype(str)
    new_X, new_labels = new_rows.drop(columns=target), new_rows[target].astype(str)
    x, y = (X[column] for column in X)
    classes, codes = np.unique(labels, return_inverse=True)
    (left, right), axes = _panels(x, y)

    def fit(depth: int | None, least: int) -> Tree:
        return CARTClassifier(max_depth=depth, min_samples_leaf=least).fit(X, labels).tree_

    def told(tree: Tree) -> str:
        return (
            f"{_leaves(tree)}, accuracy {tree.score(X, labels):.3f} on the {len(X)} training rows and "
            f"{tree.score(new_X, new_labels):.3f} on the {len(new_X)} new ones"
        )

    points = "".join(_points(plane, x, y, codes.tolist()) for plane in (left, right))
    return _limits_explorer(
        "Regions without limits and with limits",
        f"Two pictures of the same {len(frame)} rows over {x.name} and {y.name}, coloured by the class that a tree "
        "predicts there. Left, without limits, thin strips and islands reach for single rows. Right, with a largest "
        "depth of four, the regions are larger and fewer.",
        "Guess first: at which max_depth are the new rows classified best?",
        axes + _regions(left, fit(None, 1)) + points + _legend(target, classes.tolist(), 346),
        fit,
        lambda tree: _regions(right, tree),
        told,
    )


def curve_explorer(frame: pd.DataFrame, target: str) -> Explorable:
    """The curve of a regression tree of one column, without limits and with max_depth and min_samples_leaf."""
    (x,) = (frame[column] for column in frame if column != target)
    (left, right), axes = _panels(x, frame[target])

    def fit(depth: int | None, least: int) -> Tree:
        return CARTRegressor(max_depth=depth, min_samples_leaf=least).fit(frame[[x.name]], frame[target]).tree_

    def told(tree: Tree) -> str:
        mse = float((tree.weight * tree.impurity)[tree.is_leaf].sum()) / len(frame)
        return f"{_leaves(tree)}, mean squared error {mse:.0f} on the training rows"

    points = "".join(_points(plane, x, frame[target], [0] * len(frame)) for plane in (left, right))
    return _limits_explorer(
        "The curve of a regression tree without limits and with limits",
        f"Two pictures of the same {len(frame)} rows as points, {frame[target].name} over {x.name}, with the curve of "
        "a regression tree. Left, without limits, it jumps up and down to meet nearly every point. Right, with a "
        "largest depth of four, it is a staircase.",
        "At which setting does the curve still follow single patients? At which does it miss the rise?",
        axes + points + _steps(left, fit(None, 1)),
        fit,
        lambda tree: _steps(right, tree),
        told,
        height=324,
    )


# -- the price of a leaf --------------------------------------------------------------------------------------------


def alpha_explorer(frame: pd.DataFrame, target: str, prices: Sequence[float], start: float) -> Explorable:
    """A small CART tree of two columns of numbers, pruned by the price of a leaf: its drawing and its regions.

    What is pruned stays in the drawing, pale. Below each question stands its link, the price g(t) at which it goes.
    """
    x, y = (frame[column] for column in frame if column != target)
    labels = frame[target].astype(str)
    full = CARTClassifier().fit(frame.drop(columns=target), labels).tree_
    path = cost_complexity_path(full)
    classes, codes = np.unique(labels, return_inverse=True)
    place = _places(full)
    top = 96 * full.max_depth + 66
    plane = Plane(_around(x), _around(y), (46, top + 36, 262, top + 226))

    def words(node: int) -> tuple[str, str]:
        """The question, or what the node predicts with its counts, class by class."""
        counts = ":".join(f"{n:.0f}" for n in full.value[node] * full.weight[node])
        name = "" if full.is_leaf[node] else f"{full.features[full.feature[node]].name} ≤ {full.threshold[node]:.4g}?"
        return name, f"{full[node].label} {counts}"

    def drawn_node(node: int, link: float | None) -> str:
        """A node that stands: a question with its g(t), or a leaf."""
        at_x, at_y = place[node]
        question, said = words(node)
        if link is not None:
            return text(at_x, at_y, question) + text(at_x, at_y + 17, f"g = {link:.3f}", font_size=13)
        k = int(full.value[node].argmax())
        box = rect(
            at_x - 34, at_y - 14, 68, 20, rx=4, style=f"fill: {class_color(k)}", fill_opacity=(0.35, 0.12)[k % 2]
        )
        return box + text(at_x, at_y, said, font_size=13)

    def edge(node: int) -> str:
        (x1, y1), (x2, y2) = place[int(full.parent[node])], place[node]
        answer = "yes" if full.branch[node] == 0 else "no"
        side = -1 if answer == "yes" else 1
        anchor = "end" if answer == "yes" else "start"
        word = text((x1 + x2) / 2 + 6 * side, (y1 + y2) / 2 - 2, answer, font_size=12, text_anchor=anchor)
        return line(x1, y1 + 22, x2, y2 - 17) + word

    def state(price: float) -> tuple[str, str]:
        pruned = prune_cost_complexity(full, price)
        kept = _kept(full, pruned)
        links = _links(full, kept)
        tree = ""
        for node in range(full.n_nodes):
            shape = (edge(node) if node else "") + drawn_node(node, links.get(node))
            if node not in kept:
                question, said = words(node)
                shape = edge(node) + text(*place[node], question or said, font_size=13)
                shape = element("g", shape, opacity=0.25)
            tree += shape
        k = int(np.searchsorted(path.ccp_alphas, price + 1e-9, side="right")) - 1
        risk, n_leaves = float(path.impurities[k]), int(path.n_leaves[k])
        lines = [f"α = {price:.2f}", f"|T| = {n_leaves}", f"R(T) = {risk:.3f}", f"cost = {risk + price * n_leaves:.3f}"]
        numbers = "".join(text(300, top + 70 + 28 * i, words) for i, words in enumerate(lines))
        what = f"{risk:.3f} + {price:.2f} × {n_leaves} = {risk + price * n_leaves:.3f}"
        after = f"The weakest link goes at {min(links.values()):.3f}." if links else "Nothing is left to prune."
        return (
            element("g", tree, text_anchor="middle") + _regions(plane, pruned) + numbers,
            f"At a price of {price:.2f} the best tree has {_leaves(pruned)}; it costs {what}. {after}",
        )

    axes = plane.axes(_round_numbers(plane.xlim), _round_numbers(plane.ylim), str(x.name), str(y.name))
    points = _points(plane, x, y, codes.tolist(), 3.5)
    return Explorable(
        title="The price of a leaf",
        alt=f"A tree of {_leaves(full)} above, and below it its regions over {x.name} and {y.name} with the "
        f"{len(frame)} rows. What is pruned at the price that is set is drawn pale; at the price {start:g} the tree "
        f"has {_leaves(prune_cost_complexity(full, start))}. Beside the regions stand the price, the number of leaves, "
        "the risk and the cost.",
        size=(480, top + 290),
        background=axes + points + _legend(target, classes.tolist(), top + 286),
        controls=[Slider("price of a leaf α", list(prices), start=start, show="{:.2f}")],
        frame=state,
        challenge="Can you stop at every tree of the path? Which two questions fall at the same price?",
    )


def _places(tree: Tree) -> dict[int, tuple[float, float]]:
    """Where each node of a small tree is drawn: leaves side by side, parents above the middle of their children."""
    leaves = [node.id for node in tree.walk() if node.is_leaf]
    step = 480 / len(leaves)
    at = {node: step * (k + 0.5) for k, node in enumerate(leaves)}
    for node in reversed(range(tree.n_nodes)):
        if not tree.is_leaf[node]:
            first = int(tree.first_child[node])
            at[node] = sum(at[first + k] for k in range(2)) / 2
    return {node: (at[node], 22 + 96.0 * int(tree.depth[node])) for node in at}


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
