"""The figures of the chapter on CART."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from treekit.growing.thresholds import midpoint
from treekit.measures import entropy_of_counts, gini_of_counts
from treekit.models.cart import CARTClassifier, CARTRegressor
from treekit.showing.explorable import Explorable, Slider
from treekit.showing.figures.shared import Picture, Plot, axes, current_plot, dot, in_class, melon
from treekit.showing.palette import CLASS_COLORS, REGION, RIPE, UNRIPE, class_color
from treekit.showing.svg import FAINT, Plane, circle, element, line, rect, text


def gini_and_entropy() -> Picture:
    """Gini impurity and entropy of two classes against the share of one of them, and half the entropy between."""
    plane = Plane((0, 1), (0, 1), (40, 42, 460, 262))
    p = np.linspace(0, 1, 101)
    counts = np.column_stack([p, 1 - p])
    return Picture(
        alt="Three curves over the share p, all zero at both ends and highest in the middle, at one half. The entropy "
        "rises to 1, half the entropy and the Gini impurity to 0.5; these two nearly coincide, the Gini impurity "
        "lying a little lower.",
        size=(480, 310),
        drawing=plane.axes([0, 0.25, 0.5, 0.75, 1], [0, 0.5, 1], "share p of one class", "impurity")
        + plane.curve(p, entropy_of_counts(counts), style=f"stroke: {class_color(1)}")
        + plane.curve(p, entropy_of_counts(counts) / 2, style=f"stroke: {class_color(1)}", stroke_dasharray="5 4")
        + plane.curve(p, gini_of_counts(counts), style=f"stroke: {class_color(0)}", stroke_width=3)
        + text(plane.x(0.5), plane.y(0.9), "entropy (bits)", text_anchor="middle")
        + text(plane.x(0.5), plane.y(0.56), "half the entropy (dashed)", text_anchor="middle")
        + text(plane.x(0.5), plane.y(0.4), "Gini impurity", text_anchor="middle"),
    )


def round_ticks(values: ArrayLike) -> list[float]:
    """A few round numbers within the range of the values."""
    low, high = float(np.min(values)), float(np.max(values))
    ticks = MaxNLocator(nbins=6, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in ticks if low <= tick <= high]


def _names(plane: Plane, x: NDArray[np.float64], y: NDArray[np.float64], names: Iterable) -> str:
    """The name of each row above its dot, a little higher where it would touch the one before it."""
    written = ""
    last: dict[float, tuple[float, int]] = {}  # where the name before stands on each line, and how high
    for a, b, name in zip(x, y, names, strict=True):
        at = plane.x(a)
        end, lift = last.get(b, (-np.inf, 0))
        lift = (lift + 1) % 3 if at < end + 15 else 0
        last[b] = at, lift
        written += text(at, plane.y(b) - 10 - 12 * lift, str(name), text_anchor="middle", font_size=11)
    return written


KINDS = (UNRIPE, RIPE)
DASHED = dict(fill="none", stroke="currentColor", stroke_width=1.5, stroke_dasharray="4 3")


def _wider(values: NDArray[np.float64]) -> tuple[float, float]:
    """A little more than the range of the values."""
    margin = 0.08 * float(np.ptp(values))
    return float(values.min()) - margin, float(values.max()) + margin


def own_cuts(melons: pd.DataFrame, target: str, training: Iterable) -> Explorable:
    """Two cuts in the plane of two columns of numbers, drawn by the reader, against those of a tree of depth 2.

    The first cut is made in the first column of `melons`; the second one, in the second column, only to the right of
    it. Every region predicts the majority of its melons in `training`; the others only measure. The challenge is to do
    as well as the tree on the training melons, and better on the others.
    """
    x_name, y_name = (column for column in melons if column != target)
    is_training = melons.index.isin(list(training))
    is_ripe = (melons[target] == "yes").to_numpy()
    x, y = melons[x_name].to_numpy(), melons[y_name].to_numpy()
    tree = CARTClassifier(max_depth=2).fit(melons.loc[is_training, [x_name, y_name]], melons.loc[is_training, target])

    def cuts_of(values: NDArray[np.float64]) -> list[float]:
        known = np.unique(values[is_training])
        return midpoint(known[:-1], known[1:]).tolist()

    plane = Plane(_wider(x), _wider(y), (40, 30, 394, 300))

    def predicted(right: float, up: float) -> tuple[NDArray[np.bool_], list[bool]]:
        """Which melons are taken for ripe, and whether each of the three regions says so."""
        left = x <= right
        regions = [left, ~left & (y <= up), ~left & (y > up)]
        # A region without a training melon says what all those to the right of the first cut say.
        known = [rows & is_training if (rows & is_training).any() else ~left & is_training for rows in regions]
        said = [bool(is_ripe[rows].mean() > 0.5) for rows in known]
        return np.logical_or.reduce([rows & ripe for ripe, rows in zip(said, regions)]), said

    def score(says_ripe: NDArray[np.bool_]) -> tuple[int, int]:
        right = says_ripe == is_ripe
        return int(right[is_training].sum()), int(right[~is_training].sum())

    def is_better(right: float, up: float) -> bool:
        mine = score(predicted(right, up)[0])
        return mine[0] >= of_tree[0] and mine[1] > of_tree[1]

    n_training, n_held_out = int(is_training.sum()), int((~is_training).sum())
    of_tree = score(tree.predict(melons[[x_name, y_name]]) == "yes")

    def frame(right: float, up: float) -> tuple[list[str], str, dict]:
        says_ripe, said = predicted(right, up)
        left, top, end, bottom = plane.box
        at_x, at_y = plane.x(right), plane.y(up)
        boxes = [(left, top, at_x, bottom), (at_x, at_y, end, bottom), (at_x, top, end, at_y)]
        places: dict[object, Sequence[float]] = {
            "right": (at_x, top),
            "up": (at_x, at_y, end - at_x, 1),
            "melons": (0, 0),
        }
        for m, (ripe, (x1, y1, x2, y2)) in enumerate(zip(said, boxes, strict=True)):
            places[f"region {m} {int(ripe)}"] = (x1, y1, x2 - x1, y2 - y1)
        wrong = melons.index[says_ripe != is_ripe]
        places |= {f"wrong {row}": (plane.x(x[i]), plane.y(y[i])) for i, row in enumerate(melons.index) if row in wrong}
        mine = score(says_ripe)
        sentence = (
            f"Your cuts classify {mine[0]} of {n_training} training melons and {mine[1]} of {n_held_out} held-out ones "
            f"correctly. CART's tree of depth 2: {of_tree[0]} of {n_training} and {of_tree[1]} of {n_held_out}."
        )
        return [], sentence, places

    marks: dict[object, str] = {
        f"region {m} {k}": rect(0, 0, 1, 1, style=f"fill: {class_color(KINDS[k])}", fill_opacity=REGION)
        for m in range(3)
        for k in range(2)
    }
    marks["right"] = rect(-1.5, 0, 3, plane.box[3] - plane.box[1])
    marks["up"] = rect(0, -1.5, 1, 3)
    cross = "M-15,-15l7,7M8,8l7,7M-15,15l7,-7M8,-8l7,-7"  # around a number, which stays readable
    marks |= {f"wrong {row}": element("path", d=cross, stroke="currentColor", stroke_width=3) for row in melons.index}
    marks["melons"] = "".join(
        melon(row, ripe, plane.x(a), plane.y(b), 10.5)
        + ("" if trains else circle(plane.x(a), plane.y(b), 14, **DASHED))
        for row, ripe, a, b, trains in zip(melons.index, is_ripe, x, y, is_training, strict=True)
    )
    legend = (
        melon("", True, 12, 358, 7)
        + text(25, 363, "ripe")
        + melon("", False, 66, 358, 7)
        + text(79, 363, "unripe")
        + circle(146, 358, 10, **DASHED)
        + text(161, 363, "held out")
        + element("path", d=cross, transform="translate(238, 358) scale(0.6)", stroke="currentColor", stroke_width=3)
        + text(250, 363, "wrong")
    )

    def slider(label: str, cuts: list[float], start: float, points: list[tuple[float, float]]) -> Slider:
        return Slider(label, cuts, start=start, opens=cuts[-1], show="{:.4g}", points=points)

    rights, ups = cuts_of(x), cuts_of(y)
    of_root, of_child = (
        cuts[int(np.abs(np.array(cuts) - t).argmin())] for cuts, t in zip((rights, ups), tree.tree_.threshold[[0, 2]])
    )
    return Explorable(
        title="Your cuts against CART's",
        alt=f"{len(melons)} numbered melons by their {x_name}, to the right, and their {y_name}, upwards, hollow if "
        f"ripe; a dashed ring marks the {n_held_out} that were held out. An upright cut at {of_root:.4g} and, right "
        f"of it, a level one at {of_child:.4g} divide the plane into three regions in the colours of what they "
        f"predict; crosses mark the melons that are classified wrong. {frame(of_root, of_child)[1]}",
        size=(400, 372),
        background=element("g", plane.axes(round_ticks(x), round_ticks(y), x_name, y_name) + legend, font_size=13),
        marks=marks,
        controls=[
            slider(f"First cut: {x_name} at", rights, of_root, [(plane.x(cut), 0) for cut in rights]),
            slider(f"Right of it: {y_name} at", ups, of_child, [(0, plane.y(cut)) for cut in ups]),
        ],
        frame=frame,
        found=is_better,
        challenge="Drag the corner where the two cuts meet. Can you do as well as CART on the training melons, and "
        "better on the held-out ones?",
    )


def cut_explorer(
    x: ArrayLike,
    y: ArrayLike,
    xlabel: str,
    ylabel: str,
    impurity: str = "squared error",
    names: Iterable | None = None,
) -> Explorable:
    """A cut that slides over a column of numbers; below, a curve of the impurity left grows with the reader's steps.

    `y` holds numbers, or zeros and ones for two classes, of which `ylabel` names the ones. `impurity` is "squared
    error", the mean one about the mean, or "Gini impurity", which for zeros and ones is twice that. `names` are written
    above the dots. The cut starts at the left end, so that the curve does not give the best cut away.
    """
    order = np.argsort(x, kind="stable")
    x, y = np.asarray(x, dtype=float)[order], np.asarray(y, dtype=float)[order]
    is_class = impurity == "Gini impurity"
    factor = 2 if is_class else 1
    values = np.unique(x)
    cuts = midpoint(values[:-1], values[1:])
    before = factor * float(y.var())

    def left_by(cut: float) -> float:
        """Mean impurity of the two sides."""
        return factor * sum(side.var() * len(side) for side in (y[x <= cut], y[x > cut])) / len(y)

    left = [left_by(cut) for cut in cuts]
    margin, reach = 0.06 * np.ptp(x), (0.3 if names is not None else 0.12) * np.ptp(y)
    xlim = (x[0] - margin, x[-1] + margin)
    data = Plane(xlim, (y.min() - 0.12 * np.ptp(y), y.max() + reach), (44, 32, 464, 192))
    curve = Plane(xlim, (0, 1.1 * before), (44, 262, 464, 382))
    # Zeros and ones have the colours of their classes; numbers have all the same.
    points = "".join(in_class(int(b) if is_class else 0, dot(data.x(a), data.y(b))) for a, b in zip(x, y))
    background = (
        data.axes([], [0, 1] if is_class else round_ticks(y), "", f"{ylabel} (1) or not (0)" if is_class else ylabel)
        + points
        + ("" if names is None else _names(data, x, y, np.asarray(names)[order]))
        + curve.axes(round_ticks(x), [0, round(before, 2)], xlabel, f"mean {impurity} of the two sides")
        + line(44, curve.y(before), 464, curve.y(before), stroke_dasharray="6 4")
    )

    def side_in_words(side: NDArray[np.float64]) -> str:
        rows = "1 row" if len(side) == 1 else f"{len(side)} rows"
        mean = f"{side.sum():.0f} of them {ylabel}" if is_class else f"mean {side.mean():.3f}"
        return f"{rows}, {mean}, {impurity} {factor * side.var():.3f}"

    def frame(cut: float) -> tuple[str, str]:
        below, above = y[x <= cut], y[x > cut]
        after, at = left_by(cut), data.x(cut)
        low, high = (data.y(float(side.mean())) for side in (below, above))
        walked = [(tried, value) for tried, value in zip(cuts, left) if tried <= cut]
        drawing = (
            line(at, data.box[1], at, curve.box[3], stroke_opacity=FAINT)
            + line(44, low, at, low, stroke_width=3)
            + line(at, high, 464, high, stroke_width=3)
            + curve.curve(*zip(*walked), stroke_opacity=0.6)
            + "".join(circle(curve.x(tried), curve.y(value), 2.5) for tried, value in walked)
            + circle(curve.x(cut), curve.y(after), 7)
            + line(at, curve.y(after), at, curve.y(before), stroke_width=3, style=f"stroke: {class_color(2)}")
        )
        sentence = (
            f"Cut at {cut:.4g}. Below: {side_in_words(below)}. Above: {side_in_words(above)}. Weighted by their rows: "
            f"{after:.3f}, where it was {before:.3f} before. The gain is {before - after:.3f}."
        )
        return drawing, sentence

    level = f"the share that is {ylabel}" if is_class else "the mean"
    return Explorable(
        title="Slide the cut",
        alt=f"Above, {len(y)} rows as dots by their {xlabel}; a vertical line cuts off the first of them, and a level "
        f"line on either side shows {level} there. Below, one dot shows the mean {impurity} of the two sides, a little "
        "under a dashed line at what it was before.",
        size=(480, 430),
        background=background,
        controls=[Slider(f"Cut {xlabel} at", cuts.tolist(), show="{:.4g}")],
        frame=frame,
        challenge="Which cut is best? Guess from the dots above, then slide to the right: the curve grows with every "
        "cut that you try.",
    )


def steps_explorer(x: ArrayLike, y: ArrayLike, xlabel: str, ylabel: str, depths: range = range(5)) -> Explorable:
    """The prediction of a least squares tree of one column, for a depth that the reader chooses."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    margin, reach = 0.06 * np.ptp(x), 0.08 * np.ptp(y)
    plane = Plane((x.min() - margin, x.max() + margin), (y.min() - reach, y.max() + reach), (44, 32, 464, 272))
    points = "".join(dot(plane.x(a), plane.y(b)) for a, b in zip(x, y))
    xticks, yticks = round_ticks(x), round_ticks(y)

    def frame(depth: int) -> tuple[str, str]:
        tree = CARTRegressor(max_depth=depth).fit(x[:, np.newaxis], y)
        cuts = np.sort(tree.tree_.threshold[~tree.tree_.is_leaf])
        ends = np.concatenate([[plane.xlim[0]], cuts, [plane.xlim[1]]])
        level = tree.predict(((ends[:-1] + ends[1:]) / 2)[:, np.newaxis])
        error = float(((tree.predict(x[:, np.newaxis]) - y) ** 2).sum())
        drawing = plane.curve(
            np.repeat(ends, 2)[1:-1], np.repeat(level, 2), style=f"stroke: {class_color(1)}", stroke_width=3
        )
        pieces = ", ".join(f"{value:.2f}" for value in level)
        leaves = "1 leaf" if len(level) == 1 else f"{len(level)} leaves"
        return drawing, f"Depth {depth}: {leaves}, from left to right {pieces}. Sum of squared errors {error:.3f}."

    return Explorable(
        title="A regression tree is a staircase",
        alt=f"{len(y)} dots, {ylabel} against {xlabel}, and through them the tree's prediction as level steps, one for "
        "each leaf.",
        size=(480, 320),
        background=plane.axes(xticks, yticks, xlabel, ylabel) + in_class(0, points),
        controls=[Slider("Depth", list(depths), start=depths[min(1, len(depths) - 1)])],
        frame=frame,
        challenge="How deep must the tree grow to go through every dot? Which depth would you trust with a new row?",
    )


def plot_counts(counts: pd.DataFrame) -> Plot:
    """Steps of work, a line for each column of `counts`, against the number of rows, its index, on logarithmic axes."""
    with plt.rc_context({"font.size": 13}):  # reads on a phone, too
        ax = axes("number of rows n", "steps for one column")
        for k, name in enumerate(counts):
            ax.loglog(counts.index, counts[name], marker="os^"[k], color=CLASS_COLORS[k], label=name)
        ax.legend(frameon=False)
    return current_plot()


def fit_by_depth(scores: pd.DataFrame) -> Picture:
    """R² against the depth, a line for each column of `scores`, whose index is the depth."""
    depths = scores.index.to_numpy(float)
    low = min(0.0, float(scores.to_numpy().min()))
    plane = Plane((depths[0] - 0.3, depths[-1] + 0.3), (low - 0.08, 1), (44, 32, 464, 252))
    drawn = ""
    for k, name in enumerate(scores):
        values, color = scores[name].to_numpy(), f"stroke: {class_color(k)}"
        drawn += plane.curve(depths, values, style=color, stroke_width=3)
        drawn += in_class(k, "".join(dot(plane.x(a), plane.y(b)) for a, b in zip(depths, values)))
        middle = len(depths) // 2
        anchor = "end" if values[-1] > values[0] else "start"  # the side on which the curve is lower
        drawn += text(plane.x(depths[middle]), plane.y(values[middle]) - 14, f"{name} rows", text_anchor=anchor)
    first, last = scores.columns
    best = int(scores[last].idxmax())
    return Picture(
        alt=f"Two curves of R squared against the depth. On the {first} rows it rises with every level towards 1. On "
        f"the {last} rows it is highest at depth {best} and falls from there, below 0 for the deepest trees.",
        size=(480, 310),
        drawing=plane.axes(depths.tolist(), [0, 0.5, 1], "largest depth", "R²")
        + line(44, plane.y(0), 464, plane.y(0), stroke_dasharray="6 4")
        + drawn,
    )
