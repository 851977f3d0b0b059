"""The figures of the chapter on CART."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from figures.explorable import Choice, Explorable, Slider
from figures.plots import axes, plain_ticks, plotted
from figures.scene import (
    OUTLINE,
    Chart,
    Picture,
    centred,
    dot,
    ending,
    filled,
    in_class,
    melon,
    piled,
    ripe_and_unripe,
    stroked,
)
from treekit.growing.thresholds import midpoint
from treekit.measures import entropy_of_counts, gini_of_counts
from treekit.models.cart import CARTClassifier, CARTRegressor
from treekit.pen.palette import BAR, CLASS_COLORS, GAIN, REGION, RIPE, UNRIPE, class_color
from treekit.pen.svg import circle, element, line, number, rect, text


def gini_and_entropy() -> Picture:
    """Gini impurity and entropy of two classes against the share of one of them, and half the entropy between."""
    plane = Chart((0, 1), (0, 1), (40, 42, 460, 262))
    p = np.linspace(0, 1, 101)
    counts = np.column_stack([p, 1 - p])
    return Picture(
        alt="Three curves over the share p, all zero at both ends and highest in the middle, at one half. The entropy "
        "rises to 1, half the entropy and the Gini impurity to 0.5; these two nearly coincide, the Gini impurity "
        "lying a little lower.",
        size=(480, 310),
        drawing=plane.axes([0, 0.25, 0.5, 0.75, 1], [0, 0.5, 1], "share p of one class", "impurity")
        + plane.curve(p, entropy_of_counts(counts), **stroked(1))
        + plane.curve(p, entropy_of_counts(counts) / 2, **stroked(1), stroke_dasharray="5 4")
        + plane.curve(p, gini_of_counts(counts), **stroked(0), stroke_width=3)
        + centred(plane.x(0.5), plane.y(0.9), "entropy (bits)")
        + centred(plane.x(0.5), plane.y(0.56), "half the entropy (dashed)")
        + centred(plane.x(0.5), plane.y(0.4), "Gini impurity"),
    )


def round_ticks(values: ArrayLike) -> list[float]:
    """A few round numbers within the range of the values."""
    low, high = float(np.min(values)), float(np.max(values))
    ticks = MaxNLocator(nbins=6, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in ticks if low <= tick <= high]


KINDS = (UNRIPE, RIPE)
DASHED = dict(**OUTLINE, stroke_width=1.5, stroke_dasharray="4 3")


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

    plane = Chart(_wider(x), _wider(y), (40, 30, 394, 300))

    def predicted(right: float, up: float) -> tuple[NDArray[np.bool_], list[bool]]:
        """Which melons are taken for ripe, and whether each of the three regions says so."""
        left = x <= right
        regions = [left, ~left & (y <= up), ~left & (y > up)]
        # A region without a training melon says what all those to the right of the first cut say.
        known = [rows & is_training if (rows & is_training).any() else ~left & is_training for rows in regions]
        region_is_ripe = [bool(is_ripe[rows].mean() > 0.5) for rows in known]
        return np.logical_or.reduce([rows & ripe for ripe, rows in zip(region_is_ripe, regions)]), region_is_ripe

    def score(says_ripe: NDArray[np.bool_]) -> tuple[int, int]:
        right = says_ripe == is_ripe
        return int(right[is_training].sum()), int(right[~is_training].sum())

    def is_better(right: float, up: float) -> bool:
        mine = score(predicted(right, up)[0])
        return mine[0] >= of_tree[0] and mine[1] > of_tree[1]

    n_training, n_held_out = int(is_training.sum()), int((~is_training).sum())
    of_tree = score(tree.predict(melons[[x_name, y_name]]) == "yes")

    def frame(right: float, up: float) -> tuple[list[str], str, dict]:
        says_ripe, region_is_ripe = predicted(right, up)
        left, top, end, bottom = plane.box
        at_x, at_y = plane.x(right), plane.y(up)
        boxes = [(left, top, at_x, bottom), (at_x, at_y, end, bottom), (at_x, top, end, at_y)]
        places: dict[object, Sequence[float]] = {
            "right": (at_x, top),
            "up": (at_x, at_y, end - at_x, 1),
            "melons": (0, 0),
            "corner": (at_x, at_y),
        }
        for m, (ripe, (x1, y1, x2, y2)) in enumerate(zip(region_is_ripe, boxes, strict=True)):
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
    marks["corner"] = circle(0, 0, 6)  # where to take hold of them
    cross = "M-15,-15l7,7M8,8l7,7M-15,15l7,-7M8,-8l7,-7"  # around a number, which stays readable
    marks |= {f"wrong {row}": element("path", d=cross, stroke="currentColor", stroke_width=3) for row in melons.index}
    marks["melons"] = "".join(
        melon(row, ripe, plane.x(a), plane.y(b), 10.5)
        + ("" if trains else circle(plane.x(a), plane.y(b), 14, **DASHED))
        for row, ripe, a, b, trains in zip(melons.index, is_ripe, x, y, is_training, strict=True)
    )
    legend = (
        ripe_and_unripe(12, 358, gap=54)
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


WIDTH, LEFT, RIGHT = 400, 40, 392  # of the drawings in which a cut slides, and of their axes


@dataclass(frozen=True)
class _Search:
    """A column of numbers with its labels, and the impurity that each cut leaves."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    factor: int = 1  # the Gini impurity of zeros and ones is twice their variance

    @property
    def cuts(self) -> list[float]:
        values = np.unique(self.x)
        return midpoint(values[:-1], values[1:]).tolist()

    def impurity(self, labels: NDArray[np.float64]) -> float:
        return self.factor * float(labels.var())

    def sides(self, cut: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.y[self.x <= cut], self.y[self.x > cut]

    def left_by(self, cut: float) -> float:
        """Mean impurity of the two sides, weighted by their rows."""
        return sum(len(side) * self.impurity(side) for side in self.sides(cut)) / len(self.y)

    def best(self, last: float = np.inf) -> float:
        """The cut that leaves least, of those up to `last`; of equal ones the first."""
        return min((cut for cut in self.cuts if cut <= last), key=self.left_by)

    def in_words(self, cut: float) -> str:
        """The weighted mean as a sum, and the best cut so far."""
        n, best = len(self.y), self.best(cut)
        terms = " + ".join(f"{len(side)}/{n} × {self.impurity(side):.3f}" for side in self.sides(cut))
        return (
            f"Cut at {cut:.4g}: {terms} = {self.left_by(cut):.3f} is left. "
            f"The lowest so far is {self.left_by(best):.3f}, at {best:.4g}."
        )

    def slider(self, label: str, plane: Chart) -> Slider:
        """A slider of the cuts, which can be dragged in the drawing, too. At rest the whole curve is there."""
        points = [(plane.x(cut), 0.0) for cut in self.cuts]
        return Slider(label, self.cuts, start=self.cuts[-1], opens=self.cuts[0], show="{:.4g}", points=points)


class _Walk:
    """The curve of what the cuts leave: it grows with every cut up to the present one, and a ring marks its lowest."""

    def __init__(self, search: _Search, xlim: tuple[float, float], top: float, measure: str, xlabel: str) -> None:
        self.search, self.before = search, search.impurity(search.y)
        self.plane = Chart(xlim, (0, 1.1 * self.before), (LEFT, top, RIGHT, top + 100))
        self.bottom = top + 148
        self.background = self.plane.axes(
            round_ticks(search.x), [0, round(self.before, 2)], xlabel, f"mean {measure} of the two sides"
        ) + line(LEFT, self.plane.y(self.before), RIGHT, self.plane.y(self.before), stroke_dasharray="6 4")
        self.marks: dict[object, str] = {
            "gain": rect(-2, 0, 4, 1, **filled(GAIN)),
            "lowest": circle(0, 0, 8, **OUTLINE, stroke_width=2),
            "now": circle(0, 0, 5),
        }

    def drawing(self, cut: float) -> str:
        spots = [self._spot(tried) for tried in self.search.cuts if tried <= cut]
        path = "L".join(f"{number(x)},{number(y)}" for x, y in spots)
        dots = "".join(f"M{number(x)},{number(y)}h0" for x, y in spots)
        line_ = element("path", d=f"M{path}", **OUTLINE, stroke_width=2, stroke_opacity=0.6)
        return line_ + element("path", d=dots, stroke="currentColor", stroke_width=5, stroke_linecap="round")

    def places(self, cut: float) -> dict[object, Sequence[float]]:
        (x, y), before = self._spot(cut), self.plane.y(self.before)
        return {"gain": (x, before, 1, y - before), "lowest": self._spot(self.search.best(cut)), "now": (x, y)}

    def _spot(self, cut: float) -> tuple[float, float]:
        return self.plane.x(cut), self.plane.y(self.search.left_by(cut))


SLIDE = (
    "Drag the cut to the right, or press Play: with every cut that you try, the curve below grows. Where is it lowest?"
)


def sliding_gini(melons: pd.DataFrame, target: str, guesses: Sequence[float]) -> Explorable:
    """A cut slides through the melons on a line; below stand the two sides, and a curve of what every cut has left.

    `melons` has one column of numbers beside the target, whose labels are yes and no. `guesses` are the cuts among
    which the reader looks beforehand for the one that leaves the least Gini impurity.
    """
    (name,) = (column for column in melons if column != target)
    melons = melons.sort_values(name)
    is_ripe = (melons[target] == "yes").to_numpy()
    search = _Search(melons[name].to_numpy(float), is_ripe.astype(float), factor=2)
    xlim, n = _wider(search.x), len(melons)
    ground, top, height = 122, 184, 44  # where the melons lie; where the sides begin, and how high they are
    strip = Chart(xlim, (0, 1), (LEFT, 20, RIGHT, ground))
    walk = _Walk(search, xlim, 294, "Gini impurity", name)
    spots = piled([strip.x(x) for x in search.x], ground - 12, 22)
    each = (RIGHT - LEFT - 6) / n  # width of one melon in its side; the sides are six pixels apart

    def frame(cut: float) -> tuple[list[str], str, dict]:
        sides, gap = search.sides(cut), LEFT + each * int((search.x <= cut).sum())
        words = [f"{side.sum():.0f} of {len(side)} ripe: {search.impurity(side):.3f}" for side in sides]
        captions = text(LEFT, top + height + 18, words[0]) + ending(RIGHT, top + height + 18, words[1])
        path = f"M{number(strip.x(cut))},{ground}L{number(gap + 3)},{top}v{height}"
        dash = element("path", d=path, **OUTLINE, stroke_opacity=0.6)
        places: dict[object, Sequence[float]] = {"melons": (0, 0), "cut": (strip.x(cut), 12), **walk.places(cut)}
        for k, (side, left) in enumerate(zip(sides, (LEFT, gap + 6), strict=True)):
            ripe = height * float(side.mean())
            places[f"ripe {k}"] = (left, top, each * len(side), ripe)
            places[f"unripe {k}"] = (left, top + ripe, each * len(side), height - ripe)
        return [dash + element("g", captions, font_size=13), walk.drawing(cut)], search.in_words(cut), places

    marks: dict[object, str] = {
        f"{word} {k}": rect(0, 0, 1, 1, **filled(kind), fill_opacity=BAR)
        for k in range(2)
        for word, kind in (("ripe", RIPE), ("unripe", UNRIPE))
    }
    marks["cut"] = rect(-1.5, 0, 3, ground - 12)
    marks["melons"] = "".join(
        melon(row, ripe, x, y, 10.5) for row, ripe, (x, y) in zip(melons.index, is_ripe, spots, strict=True)
    )
    marks |= walk.marks
    between = [f"{melons.index[search.x <= t][-1]} and {melons.index[search.x > t][0]}" for t in guesses]
    ticks = "".join(
        line(strip.x(tick), ground, strip.x(tick), ground + 5) + centred(strip.x(tick), ground + 20, number(tick))
        for tick in round_ticks(search.x)
    )
    words = text(0, top - 10, "the two sides, as wide as they have melons")
    low = walk.bottom - 11
    key = ripe_and_unripe(282, low, gap=54)
    background = line(LEFT, ground, RIGHT, ground) + ticks + words + key + walk.background
    return Explorable(
        title="Slide the cut",
        alt=f"{n} numbered melons lie on a line by their {name}, hollow if ripe, and an upright cut divides them. "
        "Below, two blocks, as wide as each side has melons, show its share of ripe ones. At the bottom a curve gives "
        "the mean Gini impurity of the two sides for every cut up to this one; a ring marks its lowest point, and a "
        "dashed line what it was before.",
        size=(WIDTH, walk.bottom),
        background=element("g", background, font_size=13),
        marks=marks,
        controls=[search.slider(f"Cut: {name} at", strip)],
        frame=frame,
        found=lambda cut: cut == search.best(),
        guess=Choice("Your guess: between which two melons is the best cut?", between),
        challenge=SLIDE,
    )


def _residuals(
    plane: Chart, x: NDArray[np.float64], y: NDArray[np.float64], predicted: NDArray[np.float64]
) -> dict[object, Sequence[float]]:
    """A mark for each row: the distance from its dot to what is predicted for it."""
    return {
        f"residual {i}": (plane.x(a), min(plane.y(b), plane.y(c)), 1, abs(plane.y(b) - plane.y(c)))
        for i, (a, b, c) in enumerate(zip(x, y, predicted, strict=True))
    }


def _residual_marks(n: int) -> dict[object, str]:
    return {f"residual {i}": rect(-1, 0, 2, 1, fill_opacity=0.6) for i in range(n)}


def sliding_squares(x: ArrayLike, y: ArrayLike, xlabel: str, ylabel: str, guesses: Sequence[float]) -> Explorable:
    """A cut slides through rows whose labels are numbers; below grows the curve of the squared error that is left.

    A level line on either side stands at its mean, and from each dot an upright line goes to it. `guesses` are the cuts
    among which the reader looks beforehand for the best.
    """
    order = np.argsort(x, kind="stable")
    search = _Search(np.asarray(x, dtype=float)[order], np.asarray(y, dtype=float)[order])
    xlim = _wider(search.x)
    plane = Chart(xlim, _wider(search.y), (LEFT, 30, RIGHT, 172))
    walk = _Walk(search, xlim, 214, "squared error", xlabel)
    dots = "".join(dot(plane.x(a), plane.y(b)) for a, b in zip(search.x, search.y))

    def frame(cut: float) -> tuple[list[str], str, dict]:
        sides, at = search.sides(cut), plane.x(cut)
        means = [float(side.mean()) for side in sides]
        predicted = np.where(search.x <= cut, *means)
        places: dict[object, Sequence[float]] = {
            **_residuals(plane, search.x, search.y, predicted),
            "dots": (0, 0),
            "mean 0": (LEFT, plane.y(means[0]), at - LEFT, 1),
            "mean 1": (at, plane.y(means[1]), RIGHT - at, 1),
            "cut": (at, plane.box[1] - 8),
            **walk.places(cut),
        }
        left, right = (f"{mean:.2f}" for mean in means)
        sentence = f"The means are {left} on the left and {right} on the right. {search.in_words(cut)}"
        return [walk.drawing(cut)], sentence, places

    marks = _residual_marks(len(search.x))
    marks |= {f"mean {k}": rect(0, -1.5, 1, 3, **filled(1)) for k in range(2)}
    marks |= {"dots": in_class(0, dots), "cut": rect(-1.5, 0, 3, plane.box[3] - plane.box[1] + 8), **walk.marks}
    axes = plane.axes([], round_ticks(search.y), "", ylabel) + walk.background
    return Explorable(
        title="Slide the cut again",
        alt=f"{len(search.y)} rows as dots, {ylabel} against {xlabel}, and an upright cut. A level line on either side "
        "shows the mean there, and an upright line from each dot its distance from it. Below, a curve gives the mean "
        "squared error of the two sides for every cut up to this one; a ring marks its lowest point, and a dashed line "
        "what it was before.",
        size=(WIDTH, walk.bottom),
        background=element("g", axes, font_size=13),
        marks=marks,
        controls=[search.slider(f"Cut: {xlabel} at", plane)],
        frame=frame,
        found=lambda cut: cut == search.best(),
        guess=Choice(f"Your guess: at which {xlabel} is the best cut?", list(guesses)),
        challenge=SLIDE,
    )


def steps_explorer(x: ArrayLike, y: ArrayLike, xlabel: str, ylabel: str, depths: range = range(5)) -> Explorable:
    """The prediction of a least squares tree of one column, for a depth that the reader chooses after a guess.

    The reader guesses at which of the depths, the last of which must do, the stairs go through every dot.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    plane = Chart(_wider(x), _wider(y), (LEFT, 30, RIGHT, 236))
    dots = "".join(dot(plane.x(a), plane.y(b)) for a, b in zip(x, y))

    def fitted(depth: int) -> tuple[CARTRegressor, NDArray[np.float64]]:
        tree = CARTRegressor(max_depth=depth).fit(x[:, np.newaxis], y)
        return tree, tree.predict(x[:, np.newaxis])

    def is_exact(depth: int) -> bool:
        return bool(np.allclose(fitted(depth)[1], y))

    def frame(depth: int) -> tuple[list[str], str, dict]:
        tree, predicted = fitted(depth)
        cuts = np.sort(tree.tree_.threshold[~tree.tree_.is_leaf])
        ends = np.concatenate([[plane.xlim[0]], cuts, [plane.xlim[1]]])
        level = tree.predict(((ends[:-1] + ends[1:]) / 2)[:, np.newaxis])
        stairs = plane.curve(np.repeat(ends, 2)[1:-1], np.repeat(level, 2), **stroked(1), stroke_width=3)
        leaves = "1 leaf" if len(level) == 1 else f"{len(level)} leaves"
        sentence = f"Depth {depth}: {leaves}. The sum of squared errors is {((predicted - y) ** 2).sum():.3f}."
        return [stairs], sentence, {**_residuals(plane, x, y, predicted), "dots": (0, 0)}

    return Explorable(
        title="A regression tree is a staircase",
        alt=f"{len(y)} dots, {ylabel} against {xlabel}, and through them the tree's prediction as level steps, one for "
        "each leaf. An upright line from each dot shows its distance from its step.",
        size=(WIDTH, 284),
        background=element("g", plane.axes(round_ticks(x), round_ticks(y), xlabel, ylabel), font_size=13),
        marks={**_residual_marks(len(y)), "dots": in_class(0, dots)},
        controls=[Slider("Depth", list(depths), start=depths[len(depths) // 2], opens=depths[0])],
        frame=frame,
        found=is_exact,
        guess=Choice(f"Your guess: at which depth does the tree meet all {len(y)} dots?", list(depths[1:])),
        challenge="Let the tree grow, and watch the stairs reach for the dots. At which depth has each dot a step of "
        "its own?",
    )


@plotted
def plot_counts(counts: pd.DataFrame) -> None:
    """Steps of work, a line for each column of `counts`, against the number of rows, its index, on logarithmic axes."""
    ax = axes("number of rows n", "steps for one column")
    for k, name in enumerate(counts):
        ax.loglog(counts.index, counts[name], marker="os^"[k], color=CLASS_COLORS[k], label=name)
    plain_ticks(ax)
    ax.legend(frameon=False)


def fit_by_depth(scores: pd.DataFrame) -> Picture:
    """R² against the depth, a line for each column of `scores`, whose index is the depth."""
    depths = scores.index.to_numpy(float)
    low = min(0.0, float(scores.to_numpy().min()))
    plane = Chart((depths[0] - 0.3, depths[-1] + 0.3), (low - 0.08, 1), (44, 32, 464, 252))
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
