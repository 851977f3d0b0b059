"""The figures of the chapter on bagging and random forests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treekit.models.random_forest import RandomForestClassifier
from treekit.showing.explorable import Choice, Explorable, Slider
from treekit.showing.figures.shared import Picture, dot, in_class
from treekit.showing.palette import class_color
from treekit.showing.svg import Plane, circle, element, line, number, rect, text

N_TREES = (1, 2, 3, 5, 10, 20, 40)
N_CELLS = 40  # of the grid over each axis on which votes are counted
SHADES = (0.1, 0.3, 0.5, 0.7, 0.9)  # shares of votes between which the shade of a region changes


# -- votes over the plane -------------------------------------------------------------------------------------------


def forest_explorer(X: pd.DataFrame, y: pd.Series, point: tuple[float, float]) -> Explorable:
    """Regions of a growing forest on two columns of numbers, shaded by the share of its votes.

    `y` has two classes; `point` is a new row, marked by a cross, whose votes are counted. Each row of `X` should differ
    from all others, so that every leaf is pure and a tree's class shares are its vote.
    """
    columns = list(X.columns)
    (left, right), (low, high) = (_limits(X[name]) for name in columns)
    plane = Plane((left, right), (low, high), (44, 34, 464, 334))
    xs, ys = (np.linspace(*limits, N_CELLS + 1) for limits in (plane.xlim, plane.ylim))
    middles = np.stack(np.meshgrid((xs[1:] + xs[:-1]) / 2, (ys[1:] + ys[:-1]) / 2), axis=-1).reshape(-1, 2)
    asked = pd.DataFrame(np.vstack([middles, [point]]), columns=columns)

    drawn_columns = {"both columns": None, "one, drawn by lot": 1}
    grown = {}
    for name, max_features in drawn_columns.items():
        forest = RandomForestClassifier(N_TREES[-1], max_features=max_features, oob_score=True, random_state=0).fit(
            X, y
        )
        on_grid = np.array([tree.predict_proba(asked)[:, 1] for tree in forest.estimators_])
        on_rows = np.array([tree.predict_proba(X)[:, 1] for tree in forest.estimators_])
        grown[name] = on_grid, on_rows, forest.in_bag_ == 0
    no, yes = (str(label) for label in forest.classes_)
    is_yes = np.asarray(y) == forest.classes_[1]

    a, b = plane.x(point[0]), plane.y(point[1])
    names = "".join(
        in_class(k, circle(350 + 60 * k, 15, 6)) + text(362 + 60 * k, 20, name) for k, name in enumerate((no, yes))
    )
    background = plane.axes(_round_ticks(left, right), _round_ticks(low, high), *columns) + names
    marks = (
        "".join(in_class(int(k), circle(plane.x(row[0]), plane.y(row[1]), 6)) for row, k in zip(X.to_numpy(), is_yes))
        + line(a - 7, b - 7, a + 7, b + 7, stroke_width=3)
        + line(a - 7, b + 7, a + 7, b - 7, stroke_width=3)
    )

    def state(name: str, m: int) -> tuple[str, str]:
        on_grid, on_rows, is_out = (part[:m] for part in grown[name])
        share = on_grid.mean(axis=0)
        votes = int(on_grid[:, -1].sum())
        has_answer = is_out.any(axis=0)
        answer = np.sum(on_rows * is_out, axis=0)[has_answer] / is_out.sum(axis=0)[has_answer]
        n_right = np.sum((answer > 0.5) == is_yes[has_answer])
        trees = "1 tree" if m == 1 else f"{m} trees"
        sentence = (
            f"{trees}: {votes} of {m} {'says' if votes == 1 else 'say'} {yes} at the cross. "
            f"Out of bag {n_right} of {np.sum(has_answer)} rows are told right."
        )
        return _shades(plane, xs, ys, share[:-1].reshape(N_CELLS, N_CELLS)) + marks, sentence

    return Explorable(
        title="Tree after tree",
        alt=f"A plane of {columns[0]} and {columns[1]} with {len(X)} points of two classes. Three trees have voted: "
        "rectangles overlap in four shades, from all votes for one class to all for the other. A thick line of steps "
        "parts the "
        "majorities.",
        size=(480, 384),
        background=background,
        controls=[Choice("Each split sees", list(drawn_columns)), Slider("Trees", list(N_TREES), start=3)],
        frame=state,
        challenge=f"From how many trees on does the line hardly move? Which forest has softer shades between {no} and "
        f"{yes}?",
    )


def _limits(column: pd.Series) -> tuple[float, float]:
    """From where to where an axis reaches: a little beyond the numbers, in tenths."""
    return float(np.floor(10 * column.min() - 0.3) / 10), float(np.ceil(10 * column.max() + 0.3) / 10)


def _round_ticks(low: float, high: float) -> list[float]:
    return [k / 10 for k in range(int(np.ceil(10 * low - 1e-9)), int(10 * high + 1e-9) + 1) if k % 2 == 0]


def _shades(plane: Plane, xs: NDArray, ys: NDArray, share: NDArray) -> str:
    """Cells of a grid in the colour of the class with more votes, darker for more; a thick line separates the two."""
    level = np.digitize(share, SHADES)
    shapes: dict[int, str] = {}
    for i, row in enumerate(level):
        top, height = plane.y(ys[i + 1]), plane.y(ys[i]) - plane.y(ys[i + 1])
        # One box for each run of equal cells.
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], len(row)]):
            x, width = plane.x(xs[start]), plane.x(xs[stop]) - plane.x(xs[start])
            box = f"M{number(x)},{number(top)}h{number(width)}v{number(height)}h{number(-width)}z"
            shapes[int(row[start])] = shapes.get(int(row[start]), "") + box
    filled = "".join(
        element(
            "path",
            d=shapes[k],
            style=f"fill: {class_color(int(k >= 3))}",
            shape_rendering="crispEdges",
            fill_opacity=(0.42, 0.25, 0.1)[min(k, 5 - k)],
        )
        for k in sorted(shapes)
    )
    is_yes = level >= 3
    steps = "".join(
        f"M{number(plane.x(xs[j + 1]))},{number(plane.y(ys[i]))}V{number(plane.y(ys[i + 1]))}"
        for i, j in zip(*np.nonzero(is_yes[:, 1:] != is_yes[:, :-1]))
    ) + "".join(
        f"M{number(plane.x(xs[j]))},{number(plane.y(ys[i + 1]))}H{number(plane.x(xs[j + 1]))}"
        for i, j in zip(*np.nonzero(is_yes[1:] != is_yes[:-1]))
    )
    return filled + (element("path", d=steps, fill="none", stroke="currentColor", stroke_width=2) if steps else "")


# -- pictures that stand still --------------------------------------------------------------------------------------


def variance_curves(forests: Mapping[str, tuple[float, float, Mapping[int, float]]], last: int = 64) -> Picture:
    """Variance of a forest's answer against its number of trees, both axes logarithmic.

    `forests` gives each name the variance of one tree, the correlation of two, and measured variances by number of
    trees.
    """
    low, high = np.log2(0.002), np.log2(0.125)
    plane = Plane((0, np.log2(last)), (low, high), (56, 40, 376, 300))
    drawn = line(56, 300, 376, 300)
    for m in (1, 2, 4, 8, 16, 32, 64):
        drawn += line(plane.x(np.log2(m)), 300, plane.x(np.log2(m)), 305)
        drawn += text(plane.x(np.log2(m)), 321, str(m), text_anchor="middle")
    for tick in (0.1, 0.05, 0.02, 0.01, 0.005, 0.002):
        y = plane.y(np.log2(tick))
        drawn += line(56, y, 376, y, stroke_opacity=0.17) + text(48, y + 5, f"{tick:g}", text_anchor="end")
    drawn += text(216, 342, "trees (each tick doubles them)", text_anchor="middle") + text(
        0, 20, "variance of the answer"
    )
    sizes = np.arange(1, last + 1)
    for k, (name, (variance, correlation, measured)) in enumerate(forests.items()):
        curve = np.log2(correlation * variance + (1 - correlation) * variance / sizes)
        drawn += plane.curve(
            np.log2(sizes), curve, style=f"stroke: {class_color(k)}", stroke_dasharray=("none", "8 4", "2 4")[k]
        )
        dots = "".join(dot(plane.x(np.log2(n)), plane.y(np.log2(v))) for n, v in measured.items())
        drawn += element("g", dots, style=f"fill: {class_color(k)}") + text(382, plane.y(curve[-1]) + 5, name)
    ends = [(name, v, rho * v + (1 - rho) * v / last) for name, (v, rho, _) in forests.items()]
    alt = (
        f"Curves of the variance over the number of trees, from 1 to {last}, on logarithmic axes, that fall and "
        "flatten: "
        + "; ".join(f"{name}, from {first:.3f} to {end:.4f}" for name, first, end in ends)
        + ". Dots, the measured variances, lie close to the curves."
    )
    return Picture(alt, (480, 352), drawn)


def error_by_trees(errors: Mapping[str, NDArray], one_tree: float) -> Picture:
    """Share of wrong answers against the number of trees, one curve a name, and the line of one tree alone."""
    n_trees = len(next(iter(errors.values())))
    top = float(np.ceil(50 * max(one_tree, *(np.nanmax(e) for e in errors.values()))) / 50)
    plane = Plane((0, n_trees), (0, top), (48, 40, 380, 282))
    ticks = [k / 50 for k in range(round(50 * top) + 1)]
    drawn = plane.axes(range(0, n_trees + 1, 10), ticks, "trees", "share of wrong answers")
    y = plane.y(one_tree)
    drawn += line(48, y, 380, y, stroke_dasharray="2 4") + text(386, y + 5, "one tree")
    for k, (name, error) in enumerate(errors.items()):
        drawn += plane.curve(
            range(1, n_trees + 1), error, style=f"stroke: {class_color(k)}", stroke_dasharray=("none", "7 4")[k]
        )
        drawn += text(386, plane.y(error[-1]) + 5, name)
    words = "; ".join(f"{name}, {e[0]:.3f} after 1 tree, {e[-1]:.3f} after {n_trees}" for name, e in errors.items())
    alt = (
        f"The share of wrong answers over the number of trees. {words}. "
        f"A dotted line is one tree alone, {one_tree:.3f}."
    )
    return Picture(alt, (480, 332), drawn)


def importance_bars(table: pd.DataFrame) -> Picture:
    """Two bars for each column of a data set, a row of `table`: its importance in the two columns of `table`."""
    low, high = min(0.0, float(table.min().min())), float(table.max().max())
    scale = 330 / (high - low)
    zero = 120 - low * scale
    drawn = line(zero, 30, zero, 40 + 34 * len(table))
    for k, name in enumerate(table.columns):
        drawn += element("g", rect(120 + 170 * k, 6, 14, 12), **_bar(k)) + text(140 + 170 * k, 17, str(name))
    for i, (name, row) in enumerate(table.iterrows()):
        y = 40 + 34 * i
        drawn += text(76, y + 18, str(name), text_anchor="end")
        for k, value in enumerate(row):
            width = abs(value) * scale
            bar = rect(zero if value >= 0 else zero - width, y + 12 * k, width, 11)
            drawn += element("g", bar, **_bar(k))
    kinds = " and ".join(str(name) for name in table.columns)
    words = "; ".join(f"{name}: {row.iloc[0]:.3f} and {row.iloc[1]:.3f}" for name, row in table.iterrows())
    alt = f"Two bars for each of {len(table)} columns: {kinds}. {words}."
    return Picture(alt, (480, 50 + 34 * len(table)), drawn)


def _bar(k: int) -> dict[str, object]:
    """The second kind of bar is hollow, for readers who do not see the colours."""
    return {
        "style": f"fill: {class_color(k)}; stroke: {class_color(k)}",
        "fill_opacity": (1, 0)[k],
        "stroke_width": 1.5,
    }
