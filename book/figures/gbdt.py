"""The figures of the chapter on gradient boosting."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from figures.charts import Chart, Picture, Spot, around
from figures.explorable import Choice, Explorable, Panel, Places, Scene, Slider, State
from figures.looks import OUTLINE, centred, dot, ending, filled, grip, in_class, path, signed, stroked
from figures.melons import melon, ripe_and_unripe
from figures.plots import axes, plotted
from treekit.models.cart import CARTRegressor
from treekit.models.gbdt import GBDTRegressor
from treekit.models.losses import AbsoluteLoss, HuberLoss, LogisticLoss, Loss, SquaredLoss
from treekit.pen.palette import BAR, CLASS_COLORS, GAIN, RIPE, UNRIPE
from treekit.pen.svg import FAINT, circle, element, line, number, rect, text
from treekit.trees.tree import Tree

RATES = (1.0, 0.5, 0.1)
RING = 0.55  # opacity of a circle of equal loss


class _Boosted:
    """Boosted stumps of one column at a learning rate: what each round leaves of the rows, and what is predicted."""

    def __init__(self, x: NDArray[Any], y: NDArray[Any], edges: NDArray[Any], rate: float, n_rounds: int) -> None:
        table = x[:, np.newaxis]
        model = GBDTRegressor(n_estimators=n_rounds + 1, learning_rate=rate, max_depth=1).fit(table, y)
        self.trees = [tree for (tree,) in model.trees_]
        self.rest = y - np.array([np.repeat(model.start_, len(y)), *model.staged_predict(table)])
        self.squares = (self.rest**2).sum(axis=1)
        middles = ((edges[1:] + edges[:-1]) / 2)[:, np.newaxis]
        self.steps = np.array([np.repeat(model.start_, len(y)), *model.staged_predict(middles)])
        self.part = {1.0: "This", 0.5: "Half of this", 0.1: "A tenth of this"}[rate]

    def sentence(self, m: int) -> str:
        tree = self.trees[m]
        below, above = (signed(value, "+.3f") for value in tree.value[1:, 0])
        return (
            f"{_done(m)} the squared residuals add up to {self.squares[m]:.3f}. The next stump (dashed) cuts at "
            f"{tree.threshold[0]:.4g} and predicts {below} to the left, {above} to the right. "
            f"{self.part} will be subtracted from the residuals."
        )


class _Residuals(Scene):
    """Melons by what is left of them, the next stump, a bar for each round; beside them the prediction that grows."""

    size = (480, 540)

    def __init__(self, x: pd.Series, y: pd.Series, is_ripe: pd.Series, n_rounds: int) -> None:
        self.x, self.y, self.ripe = x, y, is_ripe.to_dict()
        xlim = (float(np.floor(10 * x.min())) / 10, float(np.ceil(10 * x.max())) / 10)
        ordered = np.sort(x)
        self.edges = np.array([xlim[0], *(ordered[:-1] + np.diff(ordered) / 2), xlim[1]])
        self.runs = {rate: _Boosted(x.to_numpy(float), y.to_numpy(float), self.edges, rate, n_rounds) for rate in RATES}
        squares = self.runs[1.0].squares
        self.halved = int(np.argmax(squares < squares[0] / 2))  # after so many rounds less than half is left
        reach = 0.05 * float(np.ptp(y))
        self.reach = max(float(np.abs(run.rest).max()) for run in self.runs.values()) + reach
        self.residuals = Chart(xlim, (-self.reach, self.reach), (56, 62, 466, 306))
        self.data = Chart(xlim, (min(0.0, y.min()), y.max() + reach), (56, 62, 466, 490))
        self.xticks = np.arange(xlim[0], xlim[1] + 0.01, 0.2)
        self.rounds, self.strip = range(n_rounds + 1), Chart((0, n_rounds), (0, 1), (75, 396, 447, 508))

    def background(self) -> str:
        height = np.arange(np.ceil(-10 * self.reach) / 10, self.reach, 0.1)
        half, floor = self.strip.y(0.5), self.strip.y(0)
        return (
            self.residuals.axes(self.xticks, height, str(self.x.name), "what is left: the residuals")
            + self.residuals.level(0)
            + ripe_and_unripe(16, 15)
            + text(156, 20, f"the class is shown, {self.y.name} is predicted")
            + text(0, 380, "squared residuals left (green: taken away); drag here")
            + ending(56, half + 5, "½")
            + line(60, half, 466, half, stroke_dasharray="3 4")
            + line(60, floor, 466, floor)
            + "".join(centred(self.strip.x(m), 527, m) for m in self.rounds)
        )

    def marks(self) -> dict[Any, str]:
        marks: dict[Any, str] = {name: _melons({name: ripe}, [(0, 0)]) for name, ripe in self.ripe.items()}
        return marks | {"round": rect(-14, -10, 28, 20, rx=4, **OUTLINE) + grip(self.size[0])}

    def frame(self, rate: float, m: int) -> State:
        run = self.runs[rate]
        spots = self.residuals.pixels(self.x, run.rest[m])
        places = dict(zip(self.ripe, spots)) | {"round": (self.strip.x(m), 522)}
        return [self.stump(run.trees[m]), *(self.bar(run, k) for k in range(m + 1))], run.sentence(m), places

    def stump(self, tree: Tree) -> str:
        (cut, low), (_, high) = self.residuals.pixels(np.repeat(tree.threshold[0], 2), tree.value[1:, 0])
        drawn = path(f"M56,{low}H{cut}M{cut},{high}H466", stroke_width=3, stroke_dasharray="7 4", **OUTLINE)
        return drawn + path(f"M{cut},62V306", stroke_dasharray="2 5", **OUTLINE)

    def bar(self, run: _Boosted, m: int) -> str:
        """What is left of the squares after round m, and above it in the colour of a gain what this round took."""
        before, now = (self.strip.y(run.squares[k] / run.squares[0]) for k in (max(m - 1, 0), m))
        left = self.strip.x(m) - 13
        taken = rect(left, before, 26, now - before, **filled(GAIN))
        return taken + rect(left, now, 26, self.strip.y(0) - now, fill_opacity=BAR)

    def prediction(self, rate: float, m: int) -> tuple[list[str], Places]:
        """The prediction, and from each melon an upright line to it."""
        now, rest = self.runs[rate].steps[m], self.runs[rate].rest[m]
        turns = [0, *(np.flatnonzero(np.diff(now)) + 1).tolist(), len(now)]
        spots = self.data.pixels(self.edges[turns], now[[*turns[:-1], -1]])
        steps = "L".join(f"{x},{y}H{end}" for (x, y), (end, _) in itertools.pairwise(spots))
        lines = zip(self.data.pixels(self.x, self.y), self.data.pixels(self.x, self.y - rest))
        gaps = path("".join(f"M{x},{y}V{end}" for (x, y), (_, end) in lines), stroke_opacity=BAR, **OUTLINE)
        still = _melons(self.ripe, self.data.pixels(self.x, self.y))
        return [gaps + path(f"M{steps}", stroke_width=3, **OUTLINE), still], {}

    def beside(self) -> Panel:
        label = f"{self.y.name}, and the prediction so far"
        return Panel(
            f"The same melons by {self.x.name} and {self.y.name}, the prediction so far, which is a line with steps, "
            "and from each melon an upright line to it: its residual.",
            (480, 540),
            self.data.axes(self.xticks, np.arange(0, self.y.max(), 0.1), str(self.x.name), label),
            self.prediction,
        )


def residual_explorer(x: pd.Series, y: pd.Series, is_ripe: pd.Series, n_rounds: int = 10) -> Explorable:
    """What boosted stumps leave of each melon, handed from round to round, and beside it the prediction that grows.

    `x` is a column of numbers, each once, and `y` the number to predict; `is_ripe` only paints the melons. The script
    begins before the first round. At rest so many rounds are done that less than half of the squares is left.
    """
    melons = _Residuals(x, y, is_ripe, n_rounds)
    rounds, halved = list(melons.rounds), melons.halved
    points = [(melons.strip.x(m), 452) for m in rounds]
    return melons.explorable(
        title="Residuals, handed on",
        alt=f"The {len(x)} melons as numbered circles by {x.name} and by what {halved} boosted stumps have left of "
        f"their {y.name}, above and below a line at zero. A dashed step shows the stump that comes next. Below, a bar "
        "for each round shows how much of the squared residuals is left: they fall slowly, to less than a half.",
        controls=[
            Choice("Learning rate", list(RATES)),
            Slider("Rounds", rounds, start=halved, opens=0, points=points),
        ],
        found=lambda rate, m: rate == 1 and m == halved,
        guess=Slider(
            "Your guess: after how many rounds is less than half of the squared residuals left?",
            rounds[1:],
            answer=halved,
            truth=f"with the learning rate 1 it takes {halved}",
        ),
        challenge="With the learning rate 1, stop at the first round after which less than half of the squared "
        "residuals is left.",
    )


def _melons(ripe: Mapping[Any, Any], places: Sequence[tuple[float, float]]) -> str:
    """Draw melons through which no line shows, alike ones in one group, so that a drawing of all is short."""
    drawn = "".join(circle(*place, 12) for place in places)
    drawn = element("g", drawn, style="fill: var(--pst-color-background, Canvas)")
    for kind, color in ((True, "currentColor"), (False, "white")):
        alike = [(name, *place) for (name, is_ripe), place in zip(ripe.items(), places) if is_ripe == kind]
        drawn += in_class(RIPE if kind else UNRIPE, "".join(circle(x, y, 12) for _, x, y in alike)) if alike else ""
        words = "".join(text(x, y + 5.4, str(name)) for name, x, y in alike)
        drawn += element("g", words, text_anchor="middle", font_size=15, fill=color) if alike else ""
    return drawn


class _Leaves(Scene):
    """The parabola of one leaf with all rows, and of each side of a split, under the prices λ and γ.

    With a step w, a leaf whose gradients and second derivatives add up to G and H costs γ + G w + (H + λ) w² / 2.
    Below, what the steps save goes to the left, and from there γ to the right, once for each leaf: where it ends is the
    objective. The gain lies between the ends.
    """

    size = (480, 480)

    bar_y = (344, 384, 426)  # of one leaf, of two, of the gain
    dashes, colors = ("2 4", "none", "8 4"), (5, 3, 4)

    def __init__(self, y: pd.Series, goes_left: pd.Series, names: Sequence[str], lambdas: Sequence[float]) -> None:
        label, left, zero, loss = y.to_numpy(float), goes_left.to_numpy(bool), np.zeros((1, len(y))), LogisticLoss()
        g, h = -loss.negative_gradient(label, zero)[0], loss.second_derivative(label, zero)[0]
        self.y, self.names, self.lambdas = y, names, lambdas
        self.rows = dict(zip(["one leaf", *names], (np.full(len(y), True), left, ~left)))
        self.sums = {name: (float(g[rows].sum()), float(h[rows].sum())) for name, rows in self.rows.items()}
        self.plane = Chart((-2, 2), (-3.2, 3.2), (44, 108, 468, 268))
        self.bars = Chart((-3.7, 4.7), (0, 1), (88, 0, 474, 1))  # with room for the number of the longest bar

    def lowest(self, name: str, lam: float) -> float:
        """The step at which a leaf costs least."""
        G, H = self.sums[name]
        return -G / (H + lam)

    def saved(self, lam: float, *names: str) -> float:
        """What the best steps of these leaves take off the objective, before γ is paid."""
        return sum(-self.sums[name][0] * self.lowest(name, lam) / 2 for name in names)

    def dot(self, name: str, lam: float, gamma: float) -> Spot:
        """The lowest point of a leaf's parabola."""
        return self.plane.at(self.lowest(name, lam), gamma - self.saved(lam, name))

    def gain(self, lam: float, gamma: float) -> float:
        return self.saved(lam, *self.names) - self.saved(lam, "one leaf") - gamma

    def remains(self) -> str:
        """What a first price γ = 1 leaves of the gain."""
        return f"so of the gain {signed(self.gain(0, 0))} there remains {signed(self.gain(0, 1))}"

    def parabola(self, name: str, lam: float, gamma: float, color: int, dashes: str) -> str:
        """The part of a leaf's parabola that the plane shows, as the one curve of Bézier that it is."""
        G, H = self.sums[name]
        best, depth = self.lowest(name, lam), self.plane.ylim[1] - gamma + self.saved(lam, name)
        reach = float(np.sqrt(2 * depth / (H + lam)))  # so far from its lowest point it leaves the plane
        a, b = max(best - reach, self.plane.xlim[0]), min(best + reach, self.plane.xlim[1])
        start, end = (gamma + G * w + (H + lam) * w**2 / 2 for w in (a, b))
        middle = start + (G + (H + lam) * a) * (b - a) / 2
        spots = (self.plane.at(*point) for point in ((a, start), ((a + b) / 2, middle), (b, end)))
        first, second, third = (f"{x:.1f},{y:.1f}" for x, y in spots)
        look = stroked(color) | {"fill": "none", "stroke_width": 2.5, "stroke_dasharray": dashes}
        return path(f"M{first} Q{second} {third}", **look)

    def frame(self, lam: float, gamma: float) -> State:
        looks = zip(self.rows, self.colors, self.dashes)
        drawn = [self.parabola(name, lam, gamma, color, dashes) for name, color, dashes in looks]
        drawn += [self.bill(names, y, lam, gamma) for names, y in zip((["one leaf"], self.names), self.bar_y)]
        places: Places = {name: self.dot(name, lam, gamma) for name in self.rows}
        return [self.trails(gamma), *drawn, self.result(lam, gamma)], self.sentence(lam, gamma), places

    def trails(self, gamma: float) -> str:
        """Where the dots of both sides can be, one place for each λ."""
        drawn = ""
        for name, k in zip(self.names, self.colors[1:]):
            dots = "".join("M{:.1f},{:.1f}h0".format(*self.dot(name, lam, gamma)) for lam in self.lambdas)
            drawn += path(dots, stroke_width=5, stroke_linecap="round", **stroked(k))
        return drawn

    def box(self, start: float, end: float, y: float, high: float, **look: Any) -> str:
        a, b = sorted(map(self.bars.x, (start, end)))
        return path(f"M{a:.1f},{y}H{b:.1f}v{high}H{a:.1f}z", **look)

    def bill(self, names: Sequence[str], y: float, lam: float, gamma: float) -> str:
        """What each of these leaves saves, a box from the one before, and below it γ for each, back to the right."""
        drawn, end = "", 0.0
        for name in names:
            k = self.colors[[*self.rows].index(name)]
            drawn += self.box(end, end - self.saved(lam, name), y, 14, **filled(k))
            end -= self.saved(lam, name)
        for _ in names if gamma else ():
            drawn += self.box(end, end + gamma, y + 16, 16, **OUTLINE)
            drawn += text(round(self.bars.x(end)) + 6, y + 28, "γ")
            end += gamma
        return drawn

    def result(self, lam: float, gamma: float) -> str:
        """The gain between the ends of both bills, the three numbers, and the verdict."""
        one, two = gamma - self.saved(lam, "one leaf"), 2 * gamma - self.saved(lam, *self.names)
        gain, (first, second, y) = self.gain(lam, gamma), self.bar_y
        a, b = (f"{self.bars.x(end):.1f}" for end in (one, two))
        drawn = path(f"M{a},{first + 16}V{y + 18}M{b},{second + 16}V{y + 18}", **OUTLINE, stroke_opacity=BAR)
        drawn += self.box(one, two, y, 18, **(filled(GAIN) if gain > 0 else {"fill_opacity": BAR}))
        right = round(self.bars.x(max(one, two, 0))) + 8
        told = zip((one, two, gain), (first + 22, second + 22, y + 15))
        drawn += "".join(text(right, down, signed(value)) for value, down in told)
        return drawn + text(0, y + 44, "it pays" if gain > 0 else "does not pay", font_weight="bold")

    def sentence(self, lam: float, gamma: float) -> str:
        both, one = self.saved(lam, *self.names), self.saved(lam, "one leaf")
        steps = " and ".join(f"{signed(self.lowest(name, lam))} ({name})" for name in self.names)
        parts = " + ".join(f"{self.saved(lam, name):.2f}" for name in self.names)
        told = f"γ lifts every dot by {gamma:g} and moves none sideways. " if gamma else ""
        told += f"λ = {lam:g} draws the steps in to {steps}, which save only" if lam else f"Steps of {steps} save"
        told += f" {parts} = {both:.2f}; one leaf saves {one:.2f}. "
        if gamma:
            told += (
                f"Two leaves pay γ twice: {2 * gamma:g} − {both:.2f} = {signed(2 * gamma - both)}; one pays it "
                f"once: {gamma:g} − {one:.2f} = {signed(gamma - one)}. "
            )
        return (told + self.decision(lam, gamma)).replace(" − ", "\u00a0−\u00a0")  # no line begins with a minus

    def decision(self, lam: float, gamma: float) -> str:
        """The gain, and why the split pays or not."""
        gain = self.gain(lam, gamma)
        pays, more = ("pays", "more") if gain > 0 else ("does not pay", "less")
        why = f"the split saves {more} than the second γ costs, so it" if gamma else "γ costs nothing yet, so the split"
        return f"The gain, {signed(gain)}, is the difference: {why} {pays}."

    def key(self) -> str:
        """Whose parabola is dashed how: the melons of each side, and below them all."""
        drawn = ""
        for (name, rows), k, dashes, y in zip(self.rows.items(), self.colors, self.dashes, (68, 14, 41)):
            drawn += line(8, y, 40, y, stroke_width=3, stroke_dasharray=dashes, **stroked(k)) + text(50, y + 5, name)
            inside = self.y[rows] if name in self.names else {}
            drawn += "".join(melon(n, bool(k), 124 + 26 * j, y) for j, (n, k) in enumerate(inside.items()))
        return drawn + text(124, 73, f"all {len(self.y)} melons")

    def background(self) -> str:
        drawn = self.plane.axes(range(-2, 3), [-2, 0, 2], "", "objective") + ending(468, 262, "step w") + self.key()
        bottom = self.bar_y[2] + 24
        drawn += line(0, 304, self.size[0], 304, stroke_opacity=FAINT)
        drawn += text(0, 326, "objective", font_weight="bold")
        drawn += ending(self.bars.x(0) - 10, 326, "← the steps save") + text(
            self.bars.x(0) + 10, 326, "a leaf pays γ →"
        )
        drawn += line(self.bars.x(0), 312, self.bars.x(0), bottom) + line(self.bars.box[0], bottom, 474, bottom)
        drawn += "".join(centred(self.bars.x(k), bottom + 20, words) for k, words in ((-2, "−2"), (0, "0"), (2, "2")))
        names = zip(("one leaf", "two leaves", "gain"), self.bar_y, (22, 22, 15))
        return drawn + "".join(text(0, y + down, words) for words, y, down in names)

    def marks(self) -> dict[Any, str]:
        """A dot at the lowest point of each parabola, of which the first side's is a handle."""
        marks: dict[Any, str] = {name: circle(0, 0, 6, **filled(k)) for name, k in zip(self.rows, self.colors)}
        return marks | {self.names[0]: marks[self.names[0]] + circle(0, 0, 13, **OUTLINE) + grip(self.size[0])}


#: How far the gain falls, and what is said of each guess.
OF_PRICE = {
    "by 2": "two leaves pay 2 more, but one leaf pays 1 more as well",
    "by 1": "two leaves pay 2 more and one leaf pays 1 more",
    "not at all": "two leaves pay γ twice and one leaf pays it once",
}


def price_explorer(
    y: pd.Series,
    goes_left: pd.Series,
    names: Sequence[str],
    lambdas: Sequence[float] = range(8),
    gammas: Sequence[float] = (0, 1, 2),
) -> Explorable:
    """One leaf or two: the parabola of each leaf under the prices lambda and gamma, and the two objectives.

    `y` holds the classes 0 and 1 of rows with the score 0, for the logistic loss; `goes_left` is the split, and `names`
    are those of its sides.
    """
    leaves, (first, second) = _Leaves(y, goes_left, names, lambdas), names
    refused = min(lam for lam in lambdas if leaves.gain(lam, 1) <= 0)
    falls = dict(zip(OF_PRICE, (2, 1, 0)))
    return leaves.explorable(
        title="One leaf or two?",
        alt=f"The melons of the two sides, {first} and {second}, and three parabolas over the step of a leaf: that of "
        f"all rows with its lowest point near zero, that of {first} with its lowest point at a positive step, that of "
        f"{second} at a negative one. Below, for one leaf and for two, a bar to the left for what the steps save, and "
        "from its end boxes to the right, one γ for each leaf. Between the ends of both a bar is the gain.",
        controls=[
            Slider(
                "Price of steps, λ",
                list(lambdas),
                start=1,
                opens=0,
                points=[leaves.plane.at(leaves.lowest(first, lam), 0) for lam in lambdas],
            ),
            Slider("Price of a leaf, γ", list(gammas), start=1, opens=0),
        ],
        found=lambda lam, gamma: 2 if (lam, gamma) == (refused, 1) else int(gamma == 1 and lam < refused),
        guess=Choice(
            "Your guess: γ rises from 0 to 1. How far does the gain of the split fall?",
            list(falls),
            answer=next(
                words for words, fall in falls.items() if np.isclose(leaves.gain(0, 0) - leaves.gain(0, 1), fall)
            ),
            truth=lambda guessed: f"{OF_PRICE[guessed]}, {leaves.remains()}",
        ),
        challenge="Set γ to 1: do the dots move sideways? Then raise λ step by step with ›, or drag the ringed dot, "
        "and stop at the first λ at which the split no longer pays.",
    )


def sum_of_stumps(x: ArrayLike, y: ArrayLike) -> Picture:
    """The first two boosted stumps, and at the same scale their sum with the mean among the rows."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    model = GBDTRegressor(n_estimators=2, learning_rate=1, max_depth=1).fit(x[:, np.newaxis], y)
    f1, f2 = (tree.value[tree.apply(x[np.newaxis]), 0] for (tree,) in model.trees_)
    F_0 = float(model.start_[0])
    corners, half = np.column_stack([x - 0.5, x + 0.5]).ravel(), 1.15 * float(np.abs(y - F_0).max())
    panels = [("first stump", 0.0, f1), ("+ second stump", 0.0, f2), ("+ mean = F₂", F_0, F_0 + f1 + f2)]
    drawing = ""
    for i, (name, middle, steps) in enumerate(panels):
        low, high = middle - half, middle + half
        plane = Chart((corners[0], corners[-1]), (low, high), (30 + 158 * i, 40, 152 + 158 * i, 200))
        drawing += plane.axes([x[0], x[-1]], range(int(np.ceil(low)), int(np.floor(high)) + 1), "x", "")
        drawing += text(plane.box[0] - 12, 24, name)
        drawing += plane.curve(corners, np.repeat(steps, 2), **stroked(1), stroke_width=3)
    drawing += plane.dots(x, y)
    return Picture(
        alt="Three panels of one scale. The first stump is a large step up in the middle of x, the second a smaller "
        "step up further to the left. The third panel shows their sum with the mean: a staircase of three levels "
        "that follows the rows.",
        size=(480, 248),
        drawing=drawing,
    )


class _Descent(Scene):
    """The predictions of two rows as a point on a map of their loss: where each stump would lead, and which one does.

    All of x and y is boosted by stumps; each of `pairs` names the places of two rows in them.
    """

    size = (480, 540)
    rate, n_rounds = 0.3, 10

    def __init__(self, x: NDArray[Any], y: NDArray[Any], pairs: Mapping[str, tuple[int, int]]) -> None:
        self.x, self.y, self.pairs, table = x, y, pairs, x[:, np.newaxis]
        model = GBDTRegressor(n_estimators=self.n_rounds + 1, learning_rate=self.rate, max_depth=1).fit(table, y)
        self.stages = np.array([np.repeat(model.start_, len(y)), *model.staged_predict(table)])
        self.chosen = [float(tree.threshold[0]) for (tree,) in model.trees_]
        self.cuts = ((x[1:] + x[:-1]) / 2).tolist()
        self.ends = [{cut: self.stepped(stage, cut) for cut in self.cuts} for stage in self.stages]
        self.planes = {pair: self.plane(list(two)) for pair, two in pairs.items()}
        self.strip = Chart((0, self.n_rounds), (0, 1), (26, 490, 454, 540))

    def plane(self, two: list[int]) -> Chart:
        """A map that shows all predictions for two rows, with one scale for both, so that equal loss is a circle.

        The narrower side is widened until the map fills its box.
        """
        ends = [end[two] for stage in self.ends for end in stage.values()]
        shown = np.array([*ends, self.stages[0][two], self.y[two]])
        limits, wide, high = np.array([around(values, 0.06) for values in shown.T]), 412, 290
        scale = min((wide, high) / np.diff(limits)[:, 0])
        middles = limits.mean(axis=1)
        xlim, ylim = ((m - side / scale / 2, m + side / scale / 2) for m, side in zip(middles, (wide, high)))
        return Chart(xlim, ylim, (52, 420 - high, 52 + wide, 420))

    def stepped(self, stage: NDArray[Any], cut: float) -> NDArray[Any]:
        """The predictions after a stump with this cut, fitted to the residuals."""
        side = (self.x > cut).astype(float)[:, np.newaxis]
        stump = CARTRegressor(max_depth=1).fit(side, self.y - stage)
        return np.asarray(stage + self.rate * stump.predict(side))

    def background(self) -> str:
        key = [
            (circle(12, 12, 7), "the two predictions"),
            (circle(12, 36, 5, **OUTLINE), "where one stump would lead"),
            (circle(12, 60, 9, **OUTLINE, stroke_width=3), "the best of them for all rows"),
            (self.cross(12, 84), "the two labels"),
            (line(264, 12, 288, 12, stroke_dasharray="6 4"), "negative gradient"),
            (line(268, 44, 284, 28, stroke_dasharray="2 4", stroke_width=2), "both move alike"),
            (circle(276, 60, 9, **OUTLINE, stroke_width=1, stroke_opacity=RING), "equal loss"),
        ]
        drawn = "".join(
            sign + text(30 + 266 * (i > 3), 17 + 24 * (i % 4), words) for i, (sign, words) in enumerate(key)
        )
        numbers = "".join(centred(self.strip.x(m), 506, m, fill_opacity=0.7) for m in range(self.n_rounds + 1))
        none = centred(self.strip.x(0), 528, "–")
        return drawn + text(0, 484, "the cuts so far, round by round (drag here)") + numbers + none

    def marks(self) -> dict[Any, str]:
        """A ring for each cut, a thick one around the best, a dot for the predictions, and a frame for the round."""
        marks: dict[Any, str] = {("cut", cut): circle(0, 0, 5, **OUTLINE, class_="answer") for cut in self.cuts}
        marks |= {"next": circle(0, 0, 9, **OUTLINE, stroke_width=3, class_="answer"), "now": circle(0, 0, 7)}
        return marks | {"round": rect(-19, -17, 38, 44, rx=4, **OUTLINE) + grip(self.size[0])}

    def cross(self, x: float, y: float) -> str:
        return path(f"M{number(x - 6)},{number(y - 6)}l12,12m0,-12l-12,12", **OUTLINE, stroke_width=3)

    def map(self, pair: str) -> str:
        """The axes, the two labels, and circles of equal loss around them."""
        two, goal = list(self.pairs[pair]), self.y[list(self.pairs[pair])]
        first, second = (number(self.x[row]) for row in two)
        plane = self.planes[pair]
        across, up = (np.arange(np.ceil(2 * low), 2 * high) / 2 for low, high in (plane.xlim, plane.ylim))
        axes = plane.axes(across, up, f"prediction for row {first}", f"prediction for row {second}")
        return axes + _rings(plane, goal) + self.cross(*plane.at(*goal))

    def walked(self, pair: str, m: int) -> str:
        """The step of round m."""
        return self.planes[pair].curve(*self.stages[m - 1 : m + 1, list(self.pairs[pair])].T, stroke_width=3)

    def frame(self, pair: str, m: int) -> State:
        two, plane = list(self.pairs[pair]), self.planes[pair]
        here, ends = self.stages[m][two], {cut: plane.at(*end[two]) for cut, end in self.ends[m].items()}
        x, y = plane.at(*here)
        fan = "".join(f"M{number(x)},{number(y)}L{number(a)},{number(b)}" for a, b in ends.values())
        down, up = min(x - plane.box[0], plane.box[3] - y), min(plane.box[2] - x, y - plane.box[1])
        alike = line(x - down, y + down, x + up, y - up, stroke_dasharray="2 4", stroke_width=2)
        to_labels = plane.curve(*np.array([here, self.y[two]]).T, stroke_dasharray="6 4", stroke_width=1.5)
        parts = [self.map(pair), element("g", alike + path(fan, **OUTLINE), class_="answer") + to_labels]
        for k in range(1, m + 1):
            parts += [self.walked(pair, k), centred(self.strip.x(k), 528, f"{self.chosen[k - 1]:g}")]
        places: Places = {("cut", cut): end for cut, end in ends.items()}
        places |= {"next": ends[self.chosen[m]], "now": (x, y), "round": (self.strip.x(m), 506)}
        return parts, self.sentence(pair, m), places

    def separates(self, pair: str, m: int) -> bool:
        """Whether the stump after m rounds cuts between the two rows."""
        a, b = self.x[list(self.pairs[pair])]
        return bool(min(a, b) < self.chosen[m] < max(a, b))

    def moved(self, pair: str, m: int) -> list[str]:
        """By how much the stump after m rounds moves each of the two."""
        two = list(self.pairs[pair])
        return [signed(value, "+.3f") for value in self.ends[m][self.chosen[m]][two] - self.stages[m][two]]

    def sentence(self, pair: str, m: int) -> str:
        two, moved = list(self.pairs[pair]), self.moved(pair, m)
        now, goal = (" and ".join(f"{value:.2f}" for value in values) for values in (self.stages[m][two], self.y[two]))
        place, by = ("between", f"them by {' and '.join(moved)}")
        if not self.separates(pair, m):
            place, by = "not between", f"both by {moved[0]}"
        return (
            f"{_done(m)} the predictions for rows {pair} are {now}; the labels are {goal}. The next stump cuts at "
            f"{self.chosen[m]:g}, {place} the two rows, and moves {by}."
        )


def descent_explorer(x: ArrayLike, y: ArrayLike, pairs: Mapping[str, tuple[int, int]]) -> Explorable:
    """Gradient descent in the space of predictions: two rows' predictions, round by round, and what stumps can do.

    `x` is one column of numbers in rising order and `y` the number to predict; `pairs` names pairs of rows by their
    places. In the first round of the first pair no stump of the model may cut between the rows.
    """
    scene = _Descent(np.asarray(x, dtype=float), np.asarray(y, dtype=float), pairs)
    tied, rounds = next(iter(pairs)), list(range(scene.n_rounds + 1))
    first = next(m for m in rounds if scene.separates(tied, m))
    alike = "both by the same amount"
    return scene.explorable(
        title="The steps that a stump can make",
        alt=f"A map with the predictions for rows {tied}, one to the right and one upwards, and circles of equal loss "
        "around their labels. From the mean, where both are equal, two rounds lead down along the diagonal, because "
        "the stump cuts elsewhere. The third leads off it, the fourth runs beside it again. From there a dashed line, "
        "the negative gradient, leads to the labels. Small rings show where a stump with each of the nine cuts would "
        "lead: five lie on a diagonal, four beside it. A thick ring marks the one that comes next.",
        controls=[
            Choice("Rows", list(pairs)),
            Slider("Rounds", rounds, start=first + 2, opens=0, points=[(scene.strip.x(m), 512) for m in rounds]),
        ],
        found=lambda pair, m: pair == tied and m == first,
        guess=Choice(
            f"Your guess: the first stump does not cut between rows {tied}. How does it move their predictions?",
            ["straight to the labels", alike, "only the one that is further off"],
            answer=alike,
            truth=f"they share a leaf, so it moves both by {scene.moved(tied, 0)[0]}",
        ),
        challenge=f"Compare the pairs. For rows {tied}, stop where the next stump first cuts between them.",
    )


def _done(m: int) -> str:
    return "Before the first round" if m == 0 else f"After round {m}"


def _rings(plane: Chart, middle: NDArray[Any]) -> str:
    """Circles of equal distance from a point, as far as they lie in the chart: arcs from edge to edge."""
    turn, arcs, unit = np.linspace(0, 2 * np.pi, 721), "", plane.x(1) - plane.x(0)
    for radius in np.arange(0.4, 3, 0.4):
        ring = middle + radius * np.column_stack([np.cos(turn), np.sin(turn)])
        (left, right), (low, high) = plane.xlim, plane.ylim
        inside = (left < ring[:, 0]) & (ring[:, 0] < right) & (low < ring[:, 1]) & (ring[:, 1] < high)
        edges = np.flatnonzero(np.diff(inside)) + 1
        for part, is_inside in zip(np.split(ring, edges), inside[[0, *edges]]):
            if is_inside and len(part) > 1:
                (a, b), (c, d) = plane.pixels(*part[[0, -1]].T)
                r, is_large = round(unit * radius), int(len(part) > 360)
                arcs += f"M{a},{b}A{r} {r} 0 {is_large} 0 {c},{d}"
    return path(arcs, **OUTLINE, stroke_opacity=RING)


def regression_losses(delta: float = 1.0) -> Picture:
    """Squared, absolute and Huber loss against the residual, and below their negative gradients."""
    residual = np.sort([*np.linspace(-3, 3, 120), -1e-9, 1e-9])  # close to 0 on both sides: a jump there is upright
    huber = HuberLoss(alpha=0.9)
    huber.delta = delta
    looks: list[dict[str, Any]] = [{}, {"stroke_dasharray": "6 4"}, {"stroke_width": 4}]
    losses: list[tuple[Loss, dict[str, Any]]] = list(zip((SquaredLoss(), AbsoluteLoss(), huber), looks))
    value = Chart((-3, 3), (0, 4.5), (44, 34, 464, 184))
    gradient = Chart((-3, 3), (-3, 3), (44, 250, 464, 400))
    zero = np.zeros((1, len(residual)))
    curves = ""
    for k, (loss, look) in enumerate(losses):
        curves += value.curve(residual, loss.value(residual, zero), **stroked(k), **look)
        curves += gradient.curve(residual, loss.negative_gradient(residual, zero)[0], **stroked(k), **look)
    return Picture(
        alt="Two panels over the residual from minus three to three. Above, the squared loss is a parabola, the "
        "absolute loss two straight lines that meet at zero; the Huber loss is the parabola near zero and straight "
        "further out. Below, the negative gradients: the squared one a rising straight line, the absolute one a step "
        "from minus one to one, the Huber one the line cut off at minus one and one.",
        size=(480, 450),
        drawing=value.axes(range(-3, 4), [0, 2, 4], "", "loss")
        + gradient.axes(range(-3, 4), [-3, -1, 0, 1, 3], "residual y − F", "negative gradient")
        + curves
        + text(*value.at(-2.1, 3.6), "squared")
        + ending(*value.at(1.25, 1.5), "absolute: dashed")
        + text(*value.at(1.6, 0.5), "Huber: thick"),
    )


def logistic_score() -> Picture:
    """The probability of class 1 against the score, and the log loss of a row of either class."""
    F = np.linspace(-4, 4, 161)
    p = 1 / (1 + np.exp(-F))
    chance, loss = Chart((-4, 4), (0, 1), (44, 34, 464, 154)), Chart((-4, 4), (0, 4.2), (44, 220, 464, 370))
    return Picture(
        alt="Above, the probability of class 1 against the score F: an S-shaped curve that rises from nearly 0 through "
        "one half at F = 0 to nearly 1. Below, two log losses: that of a row of class 1 falls towards zero as the "
        "score grows, that of a row of class 0 is its mirror image. On the wrong side each is nearly a straight line.",
        size=(480, 420),
        drawing=chance.axes(range(-4, 5, 2), [0, 0.5, 1], "", "probability p of class 1")
        + loss.axes(range(-4, 5, 2), [0, 2, 4], "score F, the log-odds", "log loss of one row")
        + chance.upright(0, stroke_opacity=FAINT)
        + loss.upright(0, stroke_opacity=FAINT)
        + chance.curve(F, p)
        + loss.curve(F, -np.log(p), **stroked(1), stroke_dasharray="6 4")
        + loss.curve(F, -np.log(1 - p), **stroked(0))
        + text(*loss.at(-2.4, 3.1), "of class 1")
        + ending(*loss.at(2.4, 3.1), "of class 0"),
    )


def leaf_parabola(y: ArrayLike, reg_lambda: float = 1.0) -> Picture:
    """Logistic loss of a leaf whose rows have score 0, against its step w: loss, parabola, parabola with lambda."""
    y = np.asarray(y, dtype=float)
    loss, zero = LogisticLoss(), np.zeros((1, len(y)))
    G, H = -loss.negative_gradient(y, zero).sum(), loss.second_derivative(y, zero).sum()
    w = np.linspace(-1, 3, 161)
    true = np.array([loss.value(y, zero + step).sum() for step in w])
    start = loss.value(y, zero).sum()
    taylor = start + G * w + H * w**2 / 2
    priced = taylor + reg_lambda * w**2 / 2
    plane = Chart((-1, 3), (float(np.floor(true.min())), float(np.ceil(true.max()))), (44, 34, 464, 264))
    shown = priced <= plane.ylim[1]
    marks = ""
    for k, curve in enumerate((true, taylor, priced)):
        best = int(curve.argmin())
        marks += element("g", dot(*plane.at(w[best], curve[best])), **filled(k))
    ticks = range(int(plane.ylim[0]), int(plane.ylim[1]) + 1)
    return Picture(
        alt="Three curves over the step w of a leaf, which touch at w = 0: the logistic loss, its parabola, whose "
        "lowest point lies a little left of the loss's, and the steeper parabola with lambda, whose lowest point lies "
        "half way back to zero.",
        size=(480, 314),
        drawing=plane.axes(range(-1, 4), ticks, "step w", "loss of the leaf")
        + line(plane.x(0), plane.box[3], plane.x(0), plane.box[1], stroke_opacity=FAINT)
        + plane.curve(w, true, **stroked(0), stroke_width=3)
        + plane.curve(w, taylor, **stroked(1), stroke_dasharray="6 4")
        + plane.curve(w[shown], priced[shown], **stroked(2), stroke_dasharray="2 3")
        + marks
        + text(*plane.at(2.05, 2.15), "loss")
        + ending(*plane.at(2.2, 3.2), "parabola")
        + ending(*plane.at(1.75, 4.4), "with λ"),
    )


@plotted
def plot_learning_curves(curves: Mapping[str, tuple[NDArray[Any], NDArray[Any]]], loss: str) -> None:
    """Loss against rounds, of the held-out rows (solid, with a dot at its lowest) and of the training rows (dashed).

    `curves` gives each model's name the losses on its training and on the held-out rows; `loss` names the loss.
    """
    ax = axes("rounds", loss)
    for (name, (train, held_out)), color in zip(curves.items(), CLASS_COLORS):
        rounds = np.arange(1, len(held_out) + 1)
        ax.plot(rounds, held_out, color=color, label=name)
        ax.plot(rounds, train, color=color, linestyle="--", linewidth=1)
        best = int(np.argmin(held_out))
        ax.plot(rounds[best], held_out[best], "o", color=color)
    title = "held out, dot at the lowest (dashed: training)"
    ax.legend(frameon=False, title=title, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4)
