"""The figures of the chapter on CART."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from figures.charts import Chart, Picture, Spot, around, ticks
from figures.explorable import Choice, Explorable, Places, Scene, Slider, State
from figures.looks import HALO, OUTLINE, centred, ending, filled, grip, path, small
from figures.melons import melon, melons_at, ripe_and_unripe
from figures.plots import log_lines, plotted
from treekit.growing.thresholds import midpoint
from treekit.measures import entropy_of_counts, gini_of_counts
from treekit.models.cart import CARTClassifier, CARTRegressor
from treekit.pen.palette import BAR, GAIN, REGION, RIPE, UNRIPE
from treekit.pen.svg import circle, line, number, rect, text


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
        + plane.curve(p, entropy_of_counts(counts), stroke_width=1.5)
        + plane.curve(p, entropy_of_counts(counts) / 2, stroke_width=1.5, stroke_dasharray="5 4")
        + plane.curve(p, gini_of_counts(counts), stroke_width=3)
        + centred(*plane.at(0.5, 0.9), "entropy (bits)")
        + centred(*plane.at(0.5, 0.56), "half the entropy (dashed)")
        + centred(*plane.at(0.5, 0.4), "Gini impurity"),
    )


KINDS = (UNRIPE, RIPE)
RING: dict[str, Any] = dict(**OUTLINE, stroke_width=1.5, stroke_dasharray="3 2")
TRACES: tuple[dict[str, Any], ...] = ({}, {"stroke_dasharray": "6 4"})  # of training rows, and of others
DASHED: dict[str, Any] = dict(**OUTLINE, stroke_width=1.5, stroke_dasharray="4 3")
CROSS = "M-15,-15l7,7M8,8l7,7M-15,15l7,-7M8,-8l7,-7"  # around a number, which stays readable
WIDTH, LEFT, RIGHT = 400, 40, 392  # of the drawings in which a cut slides, and of their axes


def _round_ticks(values: ArrayLike) -> list[float]:
    """A few round numbers within the range of the values."""
    return ticks(float(np.min(values)), float(np.max(values)), 6)


class _TwoCuts(Scene):
    """Melons in a plane that two cuts divide: three regions, each of which predicts the majority of its training rows.

    The first cut divides the whole plane, the second only what lies to the right of it.
    """

    size = (400, 372)

    def __init__(self, melons: pd.DataFrame, target: str, training: Iterable[Any]) -> None:
        self.names, self.is_training = melons.index, melons.index.isin(list(training))
        self.is_ripe, columns = melons[target] == "yes", melons.drop(columns=target)
        self.xy = columns.to_numpy().T
        self.plane = Chart(around(self.xy[0]), around(self.xy[1]), (40, 30, 394, 300))
        self.spots = self.plane.pixels(*self.xy)
        tree = CARTClassifier(max_depth=2).fit(columns[self.is_training], melons.loc[self.is_training, target])
        self.of_tree = self.score(tree.predict(columns) == "yes")
        known = [np.unique(values[self.is_training]) for values in self.xy]
        self.cuts = [midpoint(values[:-1], values[1:]).tolist() for values in known]
        own = zip(self.cuts, tree.tree_.threshold[[0, 2]])
        self.tree_cuts = [min(cuts, key=lambda cut: abs(cut - t)) for cuts, t in own]

    def predicted(self, right: float, up: float) -> tuple[NDArray[np.bool_], list[bool]]:
        """Which melons are taken for ripe, and whether each of the three regions says so."""
        x, y = self.xy
        regions = [x <= right, (x > right) & (y <= up), (x > right) & (y > up)]
        # A region without a training melon says what all those to the right of the first cut say.
        known = [rows & self.is_training for rows in regions]
        known = [rows if rows.any() else (x > right) & self.is_training for rows in known]
        says_ripe = [bool(self.is_ripe[rows].mean() > 0.5) for rows in known]
        return np.logical_or.reduce([rows & ripe for rows, ripe in zip(regions, says_ripe)]), says_ripe

    def score(self, says_ripe: NDArray[np.bool_]) -> tuple[int, int]:
        """How many training melons, and how many others, are classified correctly."""
        right = says_ripe == self.is_ripe.to_numpy()
        return int(right[self.is_training].sum()), int(right[~self.is_training].sum())

    def is_better(self, right: float, up: float) -> bool:
        """Whether the cuts do as well as the tree on the training melons, and better on the others."""
        mine = self.score(self.predicted(right, up)[0])
        return mine[0] >= self.of_tree[0] and mine[1] > self.of_tree[1]

    def frame(self, right: float, up: float) -> State:
        says_ripe, region_is_ripe = self.predicted(right, up)
        left, top, end, bottom = self.plane.box
        [(x, y)] = self.plane.pixels([right], [up])
        places: Places = {"right": (x, top), "up": (x, y, end - x, 1), "melons": (0, 0), "corner": (x, y)}
        boxes = [(left, top, x, bottom), (x, y, end, bottom), (x, top, end, y)]
        for m, (is_ripe, (x1, y1, x2, y2)) in enumerate(zip(region_is_ripe, boxes, strict=True)):
            places[f"region {m} {int(is_ripe)}"] = (x1, y1, x2 - x1, y2 - y1)
        for n in np.flatnonzero(says_ripe != self.is_ripe):
            places[f"wrong {self.names[n]}"] = self.spots[n]
        same = " These are CART's own cuts." if [right, up] == self.tree_cuts else ""
        return [], self.sentence(self.score(says_ripe)) + same, places

    def sentence(self, mine: tuple[int, int]) -> str:
        """What the reader's cuts classify correctly, and what the tree does."""
        n, m = int(self.is_training.sum()), int((~self.is_training).sum())
        return (
            f"Your cuts classify {mine[0]} of {n} training melons and {mine[1]} of {m} test melons correctly. "
            f"CART's tree of depth 2: {self.of_tree[0]} of {n} and {self.of_tree[1]} of {m}."
        )

    def marks(self) -> dict[Any, str]:
        """The regions in both colours, the two cuts and their corner, crosses, and the melons, which stay."""
        marks: dict[Any, str] = {
            f"region {m} {k}": rect(0, 0, 1, 1, **filled(KINDS[k]), fill_opacity=REGION)
            for m in range(3)
            for k in (0, 1)
        }
        marks["right"] = rect(-1.5, 0, 3, self.plane.box[3] - self.plane.box[1])
        marks["up"] = rect(0, -1.5, 1, 3)
        corner = circle(0, 0, 5) + circle(0, 0, 9, **OUTLINE, stroke_width=2) + grip(self.size[0])  # to take hold of
        marks |= {f"wrong {row}": path(CROSS, stroke="currentColor", stroke_width=3) for row in self.names}
        rings = ["" if trains else circle(*spot, 14, **DASHED) for spot, trains in zip(self.spots, self.is_training)]
        discs = (melon(row, ripe, *spot, 10.5) for (row, ripe), spot in zip(self.is_ripe.items(), self.spots))
        return marks | {"melons": "".join(disc + ring for disc, ring in zip(discs, rings)), "corner": corner}


def own_cuts(melons: pd.DataFrame, target: str, training: Iterable[Any]) -> Explorable:
    """Two cuts in the plane of two columns of numbers, drawn by the reader, against those of a tree of depth 2.

    The first cut is made in the first column of `melons`; the second one, in the second column, only to the right of
    it. Every region predicts the majority of its melons in `training`; the others only measure. The challenge is to do
    as well as the tree on the training melons, and better on the others.
    """
    x_name, y_name = (column for column in melons if column != target)
    cuts = _TwoCuts(melons, target, training)
    plane, (rights, ups), (right, up) = cuts.plane, cuts.cuts, cuts.tree_cuts
    legend = ripe_and_unripe(12, 358, gap=58) + circle(166, 358, 10, **DASHED) + text(182, 363, "for the test")
    legend += path(CROSS, transform="translate(300, 358) scale(0.6)", stroke="currentColor", stroke_width=3)
    axes = plane.axes(_round_ticks(cuts.xy[0]), _round_ticks(cuts.xy[1]), x_name, y_name)

    def slider(label: str, values: list[float], start: float, points: list[tuple[float, float]]) -> Slider:
        return Slider(label, values, start=start, opens=values[len(values) // 2], show="{:.4g}", points=points)

    return cuts.explorable(
        title="Your cuts against CART's",
        alt=f"{len(melons)} numbered melons by their {x_name}, to the right, and their {y_name}, upwards, hollow if "
        f"ripe; a dashed ring marks the {int((~cuts.is_training).sum())} kept for the test. An upright cut at "
        f"{right:.4g} and, right of it, a level one at {up:.4g} divide the plane into three regions in the colours of "
        f"what they predict; crosses mark the melons that are classified wrong. {cuts.frame(right, up)[1]}",
        background=small(axes + legend + text(316, 363, "wrong")),
        controls=[
            slider(f"First cut: {x_name} at", rights, right, [(plane.x(cut), 0) for cut in rights]),
            slider(f"Right of it: {y_name} at", ups, up, [(0, plane.y(cut)) for cut in ups]),
        ],
        found=cuts.is_better,
        challenge="Drag the corner where the two cuts meet. Can you do as well as CART on the training melons, and "
        "better on the test melons?",
    )


class _Slide:
    """A cut that slides through a column of numbers, and a curve of the impurity that every cut so far has left."""

    high = 100  # pixels of the curve
    marks: dict[Any, str] = {
        "gain": rect(-2, 0, 4, 1, **filled(GAIN)),
        "lowest": circle(0, 0, 8, **OUTLINE, stroke_width=2),
        "now": circle(0, 0, 5) + grip(WIDTH),
    }

    def __init__(self, x: NDArray[Any], y: NDArray[Any], top: float, factor: int = 1) -> None:
        self.x, self.y, self.factor = x, y, factor  # the Gini impurity of zeros and ones is twice their variance
        self.cuts: list[float] = midpoint(np.unique(x)[:-1], np.unique(x)[1:]).tolist()
        self.curve = Chart(around(x), self.heights(), (LEFT, top, RIGHT, top + self.high))
        self.bottom = top + self.high + 48

    def heights(self) -> tuple[float, float]:
        """The limits of the curve."""
        return 0, 1.1 * self.impurity(self.y)

    def across(self, cut: float) -> float:
        """The pixel column of a cut."""
        return self.curve.x(cut)

    def impurity(self, labels: NDArray[Any]) -> float:
        return self.factor * float(labels.var())

    def sides(self, cut: float) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.y[self.x <= cut], self.y[self.x > cut]

    def left_by(self, cut: float) -> float:
        """Mean impurity of the two sides, weighted by their rows."""
        return sum(len(side) * self.impurity(side) for side in self.sides(cut)) / len(self.y)

    def best(self, last: float = np.inf) -> float:
        """The cut that leaves least, of those up to `last`; of equal ones the first."""
        return min((cut for cut in self.cuts if cut <= last), key=self.left_by)

    def guess(self, asked: str, cuts: Sequence[float], names: Sequence[Any]) -> Choice:
        """The guess which of some cuts leaves least; each has a name."""
        at = dict(zip(names, cuts, strict=True))
        best = min(at, key=lambda name: self.left_by(at[name]))

        def truth(guessed: Any) -> str:
            least = f"{self.left_by(at[best]):.3f} is left there, the least of all"
            if guessed == best:
                return least
            return f"{self.left_by(at[guessed]):.3f} is left there, but the best cut, {self.where(best)}, leaves " + (
                f"{self.left_by(at[best]):.3f}"
            )

        return Choice(asked, list(names), answer=best, truth=truth)

    def where(self, name: Any) -> str:
        """Where a cut that is named lies, in words."""
        return f"{'between' if isinstance(name, str) else 'at'} {name}"

    def axes(self, xlabel: str, measure: str) -> str:
        before = self.impurity(self.y)
        label = f"mean {measure} of the two sides"
        drawn = self.curve.axes(_round_ticks(self.x), [0, round(before, 2)], xlabel, label)
        return drawn + self.uncut(before)

    def uncut(self, before: float) -> str:
        """The level of what no cut leaves, with its name and that of the bar below it."""
        named = ending(RIGHT, self.curve.y(before) - 6, "dashed: uncut; green: gain", style=HALO)
        return self.curve.level(before, stroke_dasharray="6 4") + named

    def drawing(self, cut: float) -> str:
        """The curve up to this cut."""
        spots = [f"{number(x)},{number(y)}" for x, y in map(self.spot, self.cuts) if x <= self.across(cut)]
        line_ = path(f"M{'L'.join(spots)}", **OUTLINE, stroke_width=2, stroke_opacity=0.6)
        dots = "".join(f"M{spot}h0" for spot in spots)
        return line_ + path(dots, stroke="currentColor", stroke_width=5, stroke_linecap="round")

    def places(self, cut: float) -> Places:
        (x, y), before = self.spot(cut), self.curve.y(self.impurity(self.y))
        return {"gain": (x, before, 1, y - before), "lowest": self.spot(self.best(cut)), "now": (x, y)}

    def spot(self, cut: float) -> Spot:
        return self.across(cut), self.curve.y(self.left_by(cut))

    def sentence(self, cut: float) -> str:
        """The weighted mean as a sum, and the best cut so far."""
        n, best = len(self.y), self.best(cut)
        terms = " + ".join(f"{len(side)}/{n} × {self.impurity(side):.3f}" for side in self.sides(cut))
        return (
            f"Cut at {cut:.4g}: {terms} = {self.left_by(cut):.3f} is left. "
            f"The lowest so far is {self.left_by(best):.3f}, at {best:.4g}."
        )

    def sliding(self, xlabel: str, background: str, marks: dict[Any, str], **settings: Any) -> Explorable:
        points = [(self.across(cut), 0.0) for cut in self.cuts]
        first, last = self.cuts[0], self.cuts[-1]
        cut = Slider(f"Cut: {xlabel} at", self.cuts, start=last, opens=first, show="{:.4g}", points=points)
        return Explorable(
            size=(WIDTH, self.bottom),
            background=small(background),
            marks=marks | self.marks,
            controls=[cut],
            found=lambda cut: cut == self.best(),
            challenge="Drag the cut to the right, or press Play: with every cut that you try, the curve below grows. "
            "Where is it lowest?",
            **settings,
        )


class _Pairs(_Slide):
    """Melons in their order along two edges of a square, in which every pair of them has a cell.

    A cut divides the melons, and the square into blocks. The Gini impurity of a side is the share of the cells in its
    block whose two melons are unlike; the blocks of pairs across the cut lie under a veil.
    """

    top, high = 44, 76

    @property
    def cell(self) -> float:
        return (RIGHT - LEFT) / len(self.x)

    def heights(self) -> tuple[float, float]:
        return around([self.left_by(self.best()), self.impurity(self.y)], 0.25)

    def across(self, cut: float) -> float:
        return LEFT + self.cell * int((self.x <= cut).sum())

    def unlike(self) -> str:
        """The cells of melons that differ, as one path whose unit is a cell; cells side by side are one box."""
        drawn = ""
        for i, label in enumerate(self.y):
            runs = np.flatnonzero(np.diff([False, *(self.y != label), False])).reshape(-1, 2)
            for start, end in runs.tolist():
                drawn += f"M{start},{i}H{end}v1H{start}z"
        placed = f"translate({LEFT} {self.top}) scale({number(self.cell)})"
        return path(drawn, fill_opacity=BAR, transform=placed)

    def pairs(self, cut: float) -> list[str]:
        """For each side, the share of its pairs that differ."""
        words = []
        for name, side in zip(("left", "right"), self.sides(cut), strict=True):
            n, n_ripe = len(side), int(side.sum())
            words.append(f"{name}: {2 * n_ripe * (n - n_ripe)}/{n * n} = {self.impurity(side):.3f}")
        return words

    def frame(self, cut: float) -> State:
        x, end = self.across(cut), self.top + RIGHT - LEFT
        y = self.top + x - LEFT
        places: Places = {"veil 0": (x, self.top, RIGHT - x, y - self.top), "veil 1": (LEFT, y, x - LEFT, end - y)}
        places |= {"cut": (x, 18), "across": (8, y), "melons": (0, 0), **self.places(cut)}
        left, right = self.pairs(cut)
        words = small(text(LEFT, end + 20, left) + ending(RIGHT, end + 20, right))
        return [words, self.drawing(cut)], self.sentence(cut), places

    def axes(self, xlabel: str, measure: str) -> str:
        low, high = self.curve.ylim
        before = self.impurity(self.y)
        drawn = self.curve.axes([], ticks(low, high, 4), xlabel, f"mean {measure} of the two sides")
        for cut in self.cuts[:: len(self.cuts) // 4]:
            at, bottom = self.across(cut), self.curve.box[3]
            drawn += line(at, bottom, at, bottom + 5) + centred(at, bottom + 21, f"{cut:.3f}")
        return drawn + self.uncut(before)


def sliding_gini(melons: pd.DataFrame, target: str, guesses: Sequence[float]) -> Explorable:
    """A cut slides through the square of all pairs of melons; below, a curve of what every cut has left.

    `melons` has one column of numbers beside the target, whose labels are yes and no. `guesses` are the cuts among
    which the reader looks beforehand for the one that leaves the least Gini impurity.
    """
    (name,) = (column for column in melons if column != target)
    melons = melons.sort_values(name)
    is_ripe = melons[target] == "yes"
    pairs = _Pairs(melons[name].to_numpy(float), is_ripe.to_numpy(float), 452, factor=2)
    side, spots = RIGHT - LEFT, [pairs.cell * (k + 0.5) for k in range(len(melons))]
    veil = rect(0, 0, 1, 1, style="fill: var(--pst-color-background, Canvas)", fill_opacity=0.8)
    marks: dict[Any, str] = {"veil 0": veil, "veil 1": veil}
    marks["melons"] = melons_at(is_ripe, [(LEFT + at, 31) for at in spots], 10)
    marks["melons"] += melons_at(is_ripe, [(26, pairs.top + at) for at in spots], 10)
    marks |= {"cut": rect(-1.5, 0, 3, pairs.top + side - 18), "across": rect(0, -1.5, RIGHT - 8, 3)}
    words = text(0, 13, "second draw ↓") + text(108, 13, "first draw →") + ripe_and_unripe(RIGHT - 128, 8, gap=52)
    words += pairs.unlike() + rect(LEFT, pairs.top, side, side, **OUTLINE)
    between = [f"{melons.index[pairs.x <= t][-1]} and {melons.index[pairs.x > t][0]}" for t in guesses]
    return pairs.sliding(
        name,
        words + pairs.axes(f"{name} of the cut", "Gini impurity"),
        marks,
        title="Slide the cut",
        alt=f"{len(melons)} numbered melons, hollow if ripe, lie in the order of their {name} along the upper and the "
        "left edge of a square, which has a shaded cell for each pair that differs. The cut leaves a block on the "
        "diagonal for each side; the pairs across the cut are veiled. Below, a curve gives the mean "
        "Gini impurity of the two sides for every cut up to this one; a ring marks its lowest point, and a dashed line "
        "what it was before.",
        frame=pairs.frame,
        guess=pairs.guess("Your guess: between which two melons is the best cut?", guesses, between),
    )


class _Residuals:
    """Rows of one column as dots, and an upright line, which is a mark, from each to what is predicted for it."""

    def __init__(self, x: NDArray[Any], y: NDArray[Any], bottom: float) -> None:
        self.x, self.y = x, y
        self.plane = Chart(around(x), around(y), (LEFT, 30, RIGHT, bottom))
        self.lines: dict[Any, str] = {f"residual {i}": rect(-1, 0, 2, 1, fill_opacity=0.6) for i in range(len(x))}

    def places(self, predicted: NDArray[Any]) -> Places:
        spots = [(self.plane.at(a, b), self.plane.y(c)) for a, b, c in zip(self.x, self.y, predicted, strict=True)]
        return {f"residual {i}": (x, min(y, z), 1, abs(y - z)) for i, ((x, y), z) in enumerate(spots)}


def sliding_squares(x: ArrayLike, y: ArrayLike, xlabel: str, ylabel: str, guesses: Sequence[float]) -> Explorable:
    """A cut slides through rows whose labels are numbers; below grows the curve of the squared error that is left.

    A level line on either side stands at its mean, and from each dot an upright line goes to it. `guesses` are the cuts
    among which the reader looks beforehand for the best.
    """
    order = np.argsort(x, kind="stable")
    slide = _Slide(np.asarray(x, dtype=float)[order], np.asarray(y, dtype=float)[order], 214)
    rows = _Residuals(slide.x, slide.y, 172)

    def frame(cut: float) -> State:
        means, at = [float(side.mean()) for side in slide.sides(cut)], rows.plane.x(cut)
        places: Places = rows.places(np.where(slide.x <= cut, *means)) | {"dots": (0, 0)} | slide.places(cut)
        places |= {"mean 0": (LEFT, rows.plane.y(means[0]), at - LEFT, 1), "cut": (at, 22)}
        places |= {"mean 1": (at, rows.plane.y(means[1]), RIGHT - at, 1)}
        left, right = (f"{mean:.2f}" for mean in means)
        sentence = f"The means are {left} on the left and {right} on the right. {slide.sentence(cut)}"
        return [slide.drawing(cut)], sentence, places

    means: dict[Any, str] = {f"mean {k}": rect(0, -1.5, 1, 3) for k in range(2)}
    return slide.sliding(
        xlabel,
        rows.plane.axes([], _round_ticks(slide.y), "", ylabel) + slide.axes(xlabel, "squared error"),
        {**rows.lines, **means, "dots": rows.plane.dots(slide.x, slide.y), "cut": rect(-1.5, 0, 3, 150)},
        title="Slide the cut again",
        alt=f"{len(order)} rows as dots, {ylabel} against {xlabel}, and an upright cut. A level line on either side "
        "shows the mean there, and an upright line from each dot its distance from it. Below, a curve gives the mean "
        "squared error of the two sides for every cut up to this one; a ring marks its lowest point, and a dashed line "
        "what it was before.",
        frame=frame,
        guess=slide.guess(f"Your guess: at which {xlabel} is the best cut?", guesses, guesses),
    )


class _Stairs(_Residuals, Scene):
    """The prediction of a least squares tree of so many leaves, and how far it misses the rows, seen and held out."""

    size = (WIDTH, 456)

    def __init__(self, seen: pd.DataFrame, held_out: pd.DataFrame) -> None:
        rows, self.names = pd.concat([seen, held_out]), list(map(str, seen.columns))
        super().__init__(rows.iloc[:, 0].to_numpy(float), rows.iloc[:, 1].to_numpy(float), 236)
        self.n = len(seen)
        most = self.fit().tree_.n_leaves
        self.trees = {1: self.fit(max_depth=0)} | {k: self.fit(max_leaf_nodes=k) for k in range(2, most + 1)}
        self.errors = np.array([[self.error(k, part) for part in self.parts()] for k in self.trees])
        self.best = 1 + int(self.errors[:, 1].argmin())
        self.traces = Chart((0.5, most + 0.5), (0, 1.05 * float(self.errors.max())), (LEFT, 314, RIGHT, 408))

    def fit(self, **limits: Any) -> CARTRegressor:
        return CARTRegressor(**limits).fit(self.x[: self.n, np.newaxis], self.y[: self.n])

    def parts(self) -> list[slice]:
        """The rows from which the trees grow, and the others."""
        return [slice(self.n), slice(self.n, None)]

    def error(self, n_leaves: int, part: slice) -> float:
        """The mean squared error of the tree of so many leaves on some rows."""
        predicted = self.trees[n_leaves].predict(self.x[part, np.newaxis])
        return float(((predicted - self.y[part]) ** 2).mean())

    def marks(self) -> dict[Any, str]:
        at, seen, held_out = self.plane.at, *self.parts()
        dots = self.plane.dots(self.x[seen], self.y[seen], 4.5)
        rings = "".join(circle(*at(*row), 5.5, **RING) for row in zip(self.x[held_out], self.y[held_out]))
        return self.lines | {
            "rows": dots + rings,
            "error 0": circle(0, 0, 4.5),
            "lowest": circle(0, 0, 9, **OUTLINE, stroke_width=2),
            "error 1": circle(0, 0, 5.5, **RING) + grip(WIDTH),
        }

    def background(self) -> str:
        plane, traces = self.plane, self.traces
        key = circle(150, 10, 4.5) + text(160, 15, "training")
        key += circle(240, 10, 5.5, **RING) + text(250, 15, "held out")
        return small(
            plane.axes(_round_ticks(self.x), _round_ticks(self.y), *self.names)
            + traces.axes(list(self.trees), ticks(*traces.ylim, 3), "leaves", "mean squared error")
            + key
        )

    def frame(self, n_leaves: int) -> State:
        tree = self.trees[n_leaves]
        ends = np.array([*self.plane.xlim, *tree.tree_.threshold[~tree.tree_.is_leaf]])
        ends.sort()
        level = tree.predict(((ends[:-1] + ends[1:]) / 2)[:, np.newaxis])
        stairs = self.plane.curve(np.repeat(ends, 2)[1:-1], np.repeat(level, 2), stroke_width=3)
        so_far, last = self.errors[:n_leaves], self.errors[n_leaves - 1]
        lines = [self.traces.curve(range(1, n_leaves + 1), so_far[:, k], **TRACES[k]) for k in range(2)]
        best = 1 + int(so_far[:, 1].argmin())
        sentence = (
            f"{_leaves(n_leaves).capitalize()}: the mean squared error is {last[0]:.3f} on the {self.n} training "
            f"rows and {last[1]:.3f} on the {len(self.x) - self.n} held out. The lowest so far on those is "
            f"{so_far[best - 1, 1]:.3f}, with {_leaves(best)}."
        )
        places: Places = self.places(tree.predict(self.x[:, np.newaxis])) | {"rows": (0, 0)}
        places |= {f"error {k}": self.traces.at(n_leaves, last[k]) for k in range(2)}
        places["lowest"] = self.traces.at(best, so_far[best - 1, 1])
        return [stairs, *lines], sentence, places

    def truth(self, guessed: int) -> str:
        """The verdict on a number of leaves."""
        least = f"{self.errors[self.best - 1, 1]:.3f} with {_leaves(self.best)}"
        if guessed == self.best:
            return f"their mean squared error, {least}, is the lowest"
        return f"their mean squared error is {self.errors[guessed - 1, 1]:.3f} there, but {least}"


def _leaves(n: int) -> str:
    return "1 leaf" if n == 1 else f"{n} leaves"


def steps_explorer(seen: pd.DataFrame, held_out: pd.DataFrame, guesses: Sequence[int]) -> Explorable:
    """The prediction of a least squares tree of one column, for a number of leaves that the reader sets after a guess.

    The first column predicts the second. The trees grow from `seen`; the rows in `held_out` only measure. The reader
    guesses with how many leaves, one of `guesses`, these are predicted best.
    """
    stairs = _Stairs(seen, held_out)
    n_leaves, points = list(stairs.trees), [(stairs.traces.x(k), 0.0) for k in stairs.trees]
    return stairs.explorable(
        title="A regression tree is a staircase",
        alt=f"{len(seen)} training rows as dots and {len(held_out)} held-out rows as dashed rings, {seen.columns[1]} "
        f"against {seen.columns[0]}. The tree's prediction is a line of level steps, one for each leaf, and an upright "
        "line from each row shows its distance from its step. Below, two curves against the number of leaves: the "
        "error on the training rows falls with every leaf, that on the held-out rows falls at first and then rises.",
        controls=[Slider("Leaves", n_leaves, start=n_leaves[-1], opens=1, points=points)],
        found=lambda n_leaves: n_leaves == stairs.best,
        guess=Choice(
            "Your guess: with how many leaves are the held-out rows predicted best?",
            guesses,
            answer=stairs.best,
            truth=stairs.truth,
        ),
        challenge="Drag the ring below, and the tree grows leaf by leaf, until its steps follow single dots. With how "
        "many leaves is the error on the held-out rows lowest?",
    )


@plotted
def plot_counts(counts: pd.DataFrame) -> None:
    """Steps of work, a line for each column of `counts`, against the number of rows, its index, on logarithmic axes."""
    log_lines(counts, "number of rows n", "steps for one column")


def fit_by_depth(scores: pd.DataFrame) -> Picture:
    """R² against the depth, a line for each column of `scores`, whose index is the depth."""
    depths = scores.index.to_numpy(float)
    low = min(0.0, float(scores.to_numpy().min()))
    plane = Chart((depths[0] - 0.3, depths[-1] + 0.3), (low - 0.08, 1), (44, 32, 464, 252))
    drawn = ""
    for k, name in enumerate(scores):
        values = scores[name].to_numpy()
        drawn += plane.curve(depths, values, **TRACES[k]) + plane.dots(depths, values, 4)
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
        + plane.level(0, stroke_dasharray="6 4")
        + drawn,
    )
