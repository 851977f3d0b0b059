"""The figures of the chapter on AdaBoost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from figures.charts import Chart, Picture, region, tenths, ticks
from figures.explorable import Choice, Explorable, Places, Scene, Slider, State
from figures.looks import HALO, OUTLINE, centred, dot, ending, filled, grip, in_class, path, ringed, signed, stroked
from figures.melons import melon, melons_at, melons_named, ripe_and_unripe
from figures.plots import axes, plotted
from treekit.models.adaboost import AdaBoostClassifier
from treekit.pen.palette import CLASS_COLORS, REGION, RIPE, UNRIPE
from treekit.pen.svg import FAINT, circle, element, line, number, rect, text

RADIUS = 13.0  # of a melon with the mean weight
DIGIT = (9.4, 11)  # width and height of a digit at 15 pixels
NEWEST, VOTE = "newest stump", "vote of all so far"


class LeastError(ClassifierMixin, BaseEstimator):
    """The stump of least weighted error, which the chapter's theorem asks for: CART's has the least Gini impurity."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike) -> LeastError:
        values, signed = np.asarray(X, float), np.asarray(sample_weight, float)
        self.classes_, code = np.unique(y, return_inverse=True)
        signed = signed * (2 * code - 1)
        order = values.argsort(axis=0)
        ranked = np.take_along_axis(values, order, axis=0)
        edge = signed.sum() - 2 * signed[order].cumsum(axis=0)[:-1]  # twice that of: class 0 up to the cut
        edge[ranked[1:] == ranked[:-1]] = 0
        i, self.feature_ = np.unravel_index(np.abs(edge).round(12).argmax(), edge.shape)
        self.threshold_ = (ranked[i, self.feature_] + ranked[i + 1, self.feature_]) / 2
        self.above_ = int(edge[i, self.feature_] > 0)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        is_above = np.asarray(X, float)[:, self.feature_] > self.threshold_
        return np.asarray(self.classes_[np.where(is_above, self.above_, 1 - self.above_)])


class _Rounds:
    """AdaBoost round by round: the weights with which each begins, its stump, the votes, and which rows are wrong."""

    def __init__(self, X: ArrayLike, y: ArrayLike, sign: NDArray[Any], n_rounds: int) -> None:
        self.model = AdaBoostClassifier(LeastError(), n_estimators=n_rounds).fit(X, y)
        self.votes = np.array([np.zeros(len(sign)), *self.model.staged_decision_function(X)])
        weights = np.exp(-sign * self.votes)  # of the rows when round m + 1 begins
        self.weights = weights / weights.sum(axis=1, keepdims=True)
        self.sizes = np.sqrt(self.weights * len(sign))  # of the discs, whose areas are the weights
        self.wrong = {shown: self.predicted(shown, X) != np.asarray(y) for shown in (NEWEST, VOTE)}
        errors = self.wrong[VOTE].sum(axis=1)
        if errors.min():
            told = f"the vote of {n_rounds} stumps still gets {errors[-1]} rows wrong; give it more rounds"
            raise ValueError(f"n_rounds: {told}")
        self.done = int(errors.argmin()) + 1  # the first round without an error

    def predicted(self, shown: str, X: ArrayLike) -> NDArray[Any]:
        """What the newest stump, or the vote, predicts in each round for each row."""
        members = (stump.predict(X) for stump in self.model.estimators_)
        return np.array(list(self.model.staged_predict(X) if shown == VOTE else members))


class _Swelling(Scene):
    """Rows in the plane of two columns, which swell with their weights, over the regions of the stump or the vote.

    Below, round by round, the rows that were wrong.
    """

    size = (480, 548)

    def __init__(self, X: pd.DataFrame, y: pd.Series, n_rounds: int) -> None:
        self.ripe = y == "yes"
        self.columns = [str(column) for column in X]
        self.rounds = _Rounds(X, y, np.where(self.ripe, 1, -1), n_rounds)
        self.plane = Chart(tenths(X.iloc[:, 0]), tenths(X.iloc[:, 1]), (44, 34, 468, 334))
        self.spots = self.plane.pixels(*X.to_numpy(float).T)
        self.trace = Chart((0.5, n_rounds + 0.5), (0, 1), (8, 412, 472, 548))
        # A stump changes its mind only at a threshold: one prediction in each cell between thresholds fills the plane.
        self.stumps = self.rounds.model.estimators_
        self.cuts = [
            np.unique([*limits, *(stump.threshold_ for stump in self.stumps if stump.feature_ == j)])
            for j, limits in enumerate((self.plane.xlim, self.plane.ylim))
        ]
        across, up = np.meshgrid(*((edges[1:] + edges[:-1]) / 2 for edges in self.cuts))
        cells = pd.DataFrame(np.stack([across, up], axis=-1).reshape(-1, 2), columns=X.columns)
        says = {shown: self.rounds.predicted(shown, cells) == "yes" for shown in (NEWEST, VOTE)}
        self.is_yes = {shown: is_yes.reshape(-1, *across.shape) for shown, is_yes in says.items()}

    def background(self) -> str:
        """The axes, the key to the melons, and the line under the numbers of the rounds."""
        xticks, yticks = (np.arange(low, high + 0.01, 0.2) for low, high in (self.plane.xlim, self.plane.ylim))
        numbers = "".join(centred(self.trace.x(m), 427, m) for m in range(1, len(self.stumps) + 1))
        key = text(86, 20, "area: weight; ringed: wrong") + ripe_and_unripe(350, 15)
        return self.plane.axes(xticks, yticks, *self.columns) + key + numbers

    def marks(self) -> dict[Any, str]:
        """A frame for the round; the melons and, last, so that no disc covers them, their numbers: white if inside."""
        marks: dict[Any, str] = {"round": rect(-28, -6, 56, 132, rx=4, **OUTLINE) + grip(self.size[0])}
        marks |= {name: melon("", ripe, radius=RADIUS) for name, ripe in self.ripe.items()}
        for place in ("inside", "beside"):
            for name, ripe in self.ripe.items():
                look = {"fill": "white"} if place == "inside" and not ripe else {}
                marks[place, name] = centred(0, 5, name, **look)
        return marks

    def frame(self, shown: str, m: int) -> State:
        size, wrong = self.rounds.sizes[m - 1], self.rounds.wrong[shown][m - 1]
        places: Places = {name: (*spot, s) for name, spot, s in zip(self.ripe.index, self.spots, size)}
        rings = [(*self.spots[n], RADIUS * size[n] + 4) for n in np.flatnonzero(wrong)]
        drawn = [
            self.regions(self.is_yes[shown][m - 1]),
            ringed(rings),
            text(0, 402, f"wrong by the {shown}, in round"),
        ]
        drawn += [self.traced(shown, k) for k in range(1, m + 1)]
        places |= {"round": (round(self.trace.x(m)), 418)} | self.numbers(RADIUS * size)
        return drawn, self.sentence(shown, m), places

    def traced(self, shown: str, m: int) -> str:
        """The melons that were wrong in round m, two in a line below the round's number, or a dash."""
        wrong, middle = self.ripe[self.rounds.wrong[shown][m - 1]], round(self.trace.x(m))
        spots = [(middle + (-13, 13)[i % 2], 446 + 26 * (i // 2)) for i in range(len(wrong))]
        return element("g", melons_at(wrong, spots, 12)) if len(wrong) else centred(middle, 450, "none")

    def regions(self, is_yes: NDArray[np.bool_]) -> str:
        """Cells in the colour of the class that is predicted there."""
        across, up = self.cuts
        drawn = ""
        for kind in (UNRIPE, RIPE):
            cells = np.argwhere(is_yes == (kind == RIPE))
            blocks = "".join(self.plane.block(across[j : j + 2], up[i : i + 2]) for i, j in cells)
            drawn += region(kind, blocks, shape_rendering="crispEdges")
        return drawn

    def numbers(self, radius: NDArray[Any]) -> Places:
        """A number does not shrink with its melon: where it no longer fits inside, it stands beside it."""
        places: Places = {}
        for name, (x, y), r in zip(self.ripe.index, self.spots, radius.tolist()):
            width, height = DIGIT[0] * len(str(name)), DIGIT[1]
            if np.hypot(width, height) / 2 <= r:
                places["inside", name] = (x, y)
            else:
                places["beside", name] = (x + _free_side((x, y), self.spots) * (r + 7 + width / 2), y)
        return places

    def sentence(self, shown: str, m: int) -> str:
        which = melons_named(self.ripe.index[self.rounds.wrong[shown][m - 1]])
        if shown == VOTE:
            who = "Stump 1 alone gets" if m == 1 else f"The weighted vote of {m} stumps gets"
            return f"{who} {which} wrong."
        stump, model = self.stumps[m - 1], self.rounds.model
        return (
            f"Stump {m} cuts the {self.columns[stump.feature_]} at {stump.threshold_:.4g} and gets {which} wrong. "
            f"They weigh {model.estimator_errors_[m - 1]:.3f} of 1 together, so "
            f"the stump's vote counts {model.estimator_weights_[m - 1]:.3f}."
        )


def swelling_explorer(X: pd.DataFrame, y: pd.Series, n_rounds: int = 8) -> Explorable:
    """AdaBoost on two columns of numbers, round by round: the rows swell with their weights; stump or vote is shaded.

    `y` has the labels yes and no; the names of the rows are drawn. `n_rounds` is at least 2.
    """
    melons = _Swelling(X, y, n_rounds)
    rounds, done = list(range(1, n_rounds + 1)), melons.rounds.done
    points = [(melons.trace.x(m), 418) for m in rounds]
    return melons.explorable(
        title="Wrong melons swell",
        alt=f"The {len(X)} melons as numbered discs by {X.columns[0]} and {X.columns[1]}, hollow if ripe, of very "
        f"different sizes: the heavier a melon before round {done}, the larger. Shaded regions, cut from several lines "
        f"along both axes, show what the vote of {done} stumps predicts: each melon lies in the region of its class. "
        "Below, a column for each round with the melons that the vote then got wrong: three at first, then one, and in "
        "the end none.",
        controls=[
            Choice("Show", [NEWEST, VOTE], start=VOTE, opens=NEWEST),
            Slider("Round", rounds, start=done, opens=1, points=points),
        ],
        found=lambda shown, m: shown == VOTE and m == done,
        guess=Slider(
            "Your guess: how many stumps must vote until no melon is wrong?",
            rounds,
            answer=done,
            truth=f"the vote of {done} stumps is the first that gets none wrong",
        ),
        challenge="Watch which melons swell. Find the first round in which the vote gets no melon wrong.",
    )


def _free_side(spot: tuple[int, int], others: list[tuple[int, int]]) -> int:
    """On which side of a melon there is room for its number: 1 to the right, -1 to the left."""
    x, y = spot
    beside = [a - x for a, b in others if (a, b) != spot and abs(a - x) < 50 and abs(b - y) < 27]
    return -1 if any(dx > 0 for dx in beside) and not any(dx < 0 for dx in beside) else 1


class _Stumps(Scene):
    """Rows of one column under the stump of a round; their weights as one bar, the wrong ones first; the votes' sum."""

    size = (480, 540)
    width = 424  # of the bar: all the weight

    def __init__(self, x: NDArray[Any], y: NDArray[Any], n_rounds: int) -> None:
        self.x, self.y, self.rounds = x, y, _Rounds(x[:, np.newaxis], y, y, n_rounds)
        gap = np.diff(x) / 2  # a stump changes between two rows only, so steps are drawn from midpoint to midpoint
        self.ends = np.array([x[0] - gap[0], *(x[:-1] + gap), x[-1] + gap[-1]])
        xlim, reach = (self.ends[0], self.ends[-1]), 1.15 * float(np.abs(self.rounds.votes).max())
        self.rows = Chart(xlim, (-1.8, 1.8), (44, 30, 468, 144))
        self.vote = Chart(xlim, (-reach, reach), (44, 282, 468, 414))
        self.strip = Chart((0.5, n_rounds + 0.5), (0, 1), (44, 488, 468, 538))
        self.radius = 34 / np.sqrt(len(x))  # of a row of mean weight

    def background(self) -> str:
        left, _, right, _ = self.vote.box
        halves = "".join(
            rect(left, top, right - left, self.vote.y(0) - self.vote.box[1], **filled(k), fill_opacity=REGION)
            for k, top in ((1, self.vote.box[1]), (0, self.vote.y(0)))
        )
        rows = self.rows.axes([], [], "", "the stump; a row's area is its weight, ringed: wrong")
        return (
            rows
            + "".join(centred(self.rows.x(x), self.rows.y(0) + 5, f"{x:g}", fill_opacity=0.7) for x in self.x)
            + "".join(ending(38, self.rows.y(side) + 5, signed(side, "+d")) for side in (1, -1))
            + text(0, 168, "the weights as one bar, wrong rows first (before the round)")
            + halves
            + self.vote.axes(
                self.x, ticks(*self.vote.ylim, most=5), "x", "sum of the votes: its sign is the prediction"
            )
            + self.vote.level(0)
            + text(0, 482, "rows that the vote gets wrong, after round")
            + "".join(centred(self.strip.x(m), 506, m, fill_opacity=0.7) for m in range(1, len(self.rounds.votes)))
        )

    def marks(self) -> dict[Any, str]:
        """The regions; each row by its weight above, as a piece of the bar, and by the sum of the votes below."""
        high = self.rows.box[3] - self.rows.box[1]
        marks: dict[Any, str] = {("region", k): rect(0, 0, 1, high, **filled(k), fill_opacity=REGION) for k in (0, 1)}
        for n, y in enumerate(self.y):
            piece = rect(0, 0, 1, 26, vector_effect="non-scaling-stroke")
            marks["weight", n] = in_class(int(y > 0), circle(0, 0, self.radius))
            marks["piece", n] = in_class(int(y > 0), piece)
            marks["name", n] = centred(0, 5, f"{self.x[n]:g}", **({} if y > 0 else {"fill": "white"}))
            step = line(-self.width / len(self.x) / 2, 0, self.width / len(self.x) / 2, 0, stroke_width=2)
            marks["sum", n] = step + in_class(int(y > 0), circle(0, 0, 5))
        return marks | {"round": rect(-24, -16, 48, 44, rx=4, **OUTLINE) + grip(self.size[0])}

    def frame(self, m: int) -> State:
        size, votes, model = self.rounds.sizes[m - 1], self.rounds.votes[m], self.rounds.model
        places: Places = self.regions(m) | self.pieces(m) | {"round": (self.strip.x(m), 506)}
        for n, (a, b, total) in enumerate(zip(self.x, self.y, votes)):
            places["weight", n] = (*self.rows.at(a, b), size[n])
            places["sum", n] = self.vote.at(a, total)
        wrong = {shown: np.flatnonzero(rows[m - 1]) for shown, rows in self.rounds.wrong.items()}
        rings = [(*self.rows.at(self.x[n], self.y[n]), self.radius * size[n] + 4) for n in wrong[NEWEST]]
        rings += [(*self.vote.at(self.x[n], votes[n]), 9) for n in wrong[VOTE]]
        share, half = model.estimator_errors_[m - 1], 44 + self.width / 2
        bracket = path(f"M44,208v8H{number(44 + self.width * share)}v-8", **OUTLINE)
        told = bracket + text(44, 232, f"wrong: e = {share:.3f}") + text(half + 6, 232, "one half")
        told += line(half, 178, half, 234, stroke_dasharray="3 4")
        told += ending(468, 232, f"vote: {model.estimator_weights_[m - 1]:.3f}")
        counts = [centred(self.strip.x(k), 527, self.rounds.wrong[VOTE][k - 1].sum()) for k in range(1, m + 1)]
        return [told + ringed(rings), *counts], self.sentence(m), places

    def regions(self, m: int) -> Places:
        """Where the stump of round m predicts which class: up to the cut, and above it."""
        stump, left, right = self.rounds.model.estimators_[m - 1], *self.rows.xlim
        cut, above = stump.threshold_, int(stump.predict(self.x[[-1], np.newaxis])[0] > 0)
        spans = {above: (cut, right), 1 - above: (left, cut)}
        return {
            ("region", k): (self.rows.x(a), self.rows.box[1], self.rows.x(b) - self.rows.x(a), 1)
            for k, (a, b) in spans.items()
        }

    def pieces(self, m: int) -> Places:
        """The pieces of the bar, the wrong rows first, and the name of each row in its middle."""
        weights, left = self.rounds.weights[m - 1], 44.0
        places: Places = {}
        for n in np.argsort(~self.rounds.wrong[NEWEST][m - 1], kind="stable").tolist():
            wide = self.width * weights[n]
            places["piece", n] = (left + 1, 178, wide - 2, 1)
            places["name", n] = (left + wide / 2, 191)
            left += wide
        return places

    def sentence(self, m: int) -> str:
        model, wrong = self.rounds.model, self.rounds.wrong[NEWEST][m - 1]
        stump = model.estimators_[m - 1]
        below, above = (signed(label, "+d") for label in stump.predict(self.x[[0, -1], np.newaxis]))
        now = self.rounds.weights[m - 1][self.rounds.wrong[NEWEST][m - 2]].sum()
        before = f" What stump {m - 1} got wrong weighs {now:.3f} now." if m > 1 else ""
        return (
            f"Stump {m} predicts {below} up to x = {stump.threshold_:g} and {above} above. It is wrong at "
            f"x = {', '.join(f'{value:g}' for value in self.x[wrong])}, which weigh "
            f"{model.estimator_errors_[m - 1]:.3f}, so its vote is {model.estimator_weights_[m - 1]:.3f}. The votes so "
            f"far get {self.rounds.wrong[VOTE][m - 1].sum()} of {len(self.x)} rows wrong.{before}"
        )


def adaboost_explorer(x: ArrayLike, y: ArrayLike, n_rounds: int = 8) -> Explorable:
    """AdaBoost round by round: weights and stump, the weights as one bar, and the vote so far.

    `x` is one column of numbers, each once, at most about ten; `y` holds labels -1 and 1. `n_rounds` is at least 2.
    """
    order = np.argsort(x)
    rows = _Stumps(np.asarray(x, dtype=float)[order], np.asarray(y)[order], n_rounds)
    done, rounds = rows.rounds.done, list(range(1, n_rounds + 1))
    return rows.explorable(
        title="AdaBoost, round by round",
        alt=f"Above, {len(order)} rows as discs, the class +1 high and −1 low, the larger the heavier, over the two "
        f"regions of the stump of round {done}; the rows that it gets wrong are ringed. Below them a bar of all the "
        "weights: the wrong rows' pieces come first and fill much less than half. In the middle the sum of the votes "
        f"of {done} stumps for each row, above zero or below: every row is on the side of its class. At the bottom the "
        f"number of wrong rows after each round, {rows.rounds.wrong[VOTE][done - 1].sum()} after round {done}.",
        controls=[Slider("Round", rounds, start=done, opens=1, points=[(rows.strip.x(m), 512) for m in rounds])],
        found=lambda m: m == done,
        guess=Slider(
            "Your guess: how many stumps must vote until no row is wrong?",
            rounds,
            answer=done,
            truth=f"the vote of {done} stumps is the first that gets none wrong",
        ),
        challenge="Watch which rows grow, and which shrink. Find the first vote that gets no row wrong.",
    )


def halves(x: ArrayLike, before: Sequence[ArrayLike], wrong: Sequence[ArrayLike]) -> Picture:
    """The weights of the rows x before and after each round as two bars, filled where the round's member is wrong.

    `before` holds the weights with which the rounds began, `wrong` whether the member of that round is wrong.
    """
    width, height, left, top, gap = 408.0, 26.0, 64.0, 56.0, 100.0
    drawing = text(left, 18, "filled: wrong in this round")
    for m, (weights, misses) in enumerate(zip(before, wrong, strict=True)):
        w, miss = np.asarray(weights, dtype=float), np.asarray(misses, dtype=bool)
        after = np.where(miss, w / (2 * w[miss].sum()), w / (2 * w[~miss].sum()))
        order = np.argsort(~miss, kind="stable")  # the wrong rows first
        drawing += text(left, top + gap * m - 8, f"round {m + 1}")
        for k, (name, shares) in enumerate([("before", w[order]), ("after", after[order])]):
            y = top + gap * m + (height + 8) * k
            drawing += ending(left - 8, y + 18, name)
            ends = left + width * np.cumsum(shares)
            for n, end, share in zip(order, ends, shares):
                start = end - width * share
                style = "fill: #6b6b6b" if miss[n] else "fill: none; stroke: currentColor; stroke-width: 1.5"
                drawing += rect(start + 1, y, width * share - 2, height, style=style)
                if share > 0.04:
                    label = centred((start + end) / 2, y + 18, f"{np.asarray(x)[n]:g}")
                    drawing += element("g", label, fill="white") if miss[n] else label
    bottom = top + gap * len(before) - 34
    middle = left + width / 2
    return Picture(
        alt=f"Two bars for each of {len(before)} rounds, cut into pieces as long as the weights of the rows. Before a "
        "round the pieces of the rows that it gets wrong fill less than half of the bar, after it exactly half.",
        size=(480, bottom + 22),
        drawing=drawing
        + line(middle, top - 6, middle, bottom, stroke_dasharray="4 4")
        + centred(middle, bottom + 18, "one half"),
    )


def best_votes(errors: Sequence[float]) -> Picture:
    """By what the exponential loss is multiplied, against the vote, for members of these weighted errors."""
    plane = Chart((0, 3), (0, 1.6), (44, 34, 464, 284))
    alpha = np.linspace(0, 3, 301)
    drawing = plane.axes(range(4), [0, 0.5, 1, 1.5], "vote", "loss after the round, as a multiple of the loss before")
    for k, e in enumerate(errors):
        factor = (1 - e) * np.exp(-alpha) + e * np.exp(alpha)
        shown = factor <= 1.6
        drawing += plane.curve(alpha[shown], factor[shown], stroke_dasharray=["none", "8 4", "2 3"][k % 3])
        drawing += ending(plane.x(alpha[shown][-1]) - 16, plane.y(1.6) + 9, f"e = {e:g}")
        drawing += dot(*plane.at(np.log((1 - e) / e) / 2, 2 * np.sqrt(e * (1 - e))))
    return Picture(
        alt="Curves of the factor of the loss against the vote, one for each of the weighted errors "
        + ", ".join(f"{e:g}" for e in errors)
        + ". Each falls from 1 to a lowest point, which is marked, and rises again. The smaller the error, the larger "
        "the vote at the lowest point, and the lower the point.",
        size=(480, 340),
        drawing=drawing,
    )


def margin_losses() -> Picture:
    """Zero-one, exponential and logistic loss against the signed score yF, and below how hard each pulls at a row."""
    m = np.linspace(-3, 3, 121)
    value = Chart((-3, 3), (0, 6), (44, 34, 464, 194))
    pull = Chart((-3, 3), (0, 6), (44, 260, 464, 420))
    exponential, logistic = np.exp(-m), np.log1p(np.exp(-m))
    shown = exponential <= 6
    curves = (
        value.curve([-3, 0, 0, 3], [1, 1, 0, 0], stroke_dasharray="2 3")
        + value.curve(m[shown], exponential[shown], **stroked(1))
        + value.curve(m, logistic, **stroked(0), stroke_dasharray="6 4")
        + pull.curve(m[shown], exponential[shown], **stroked(1))
        + pull.curve(m, 1 / (1 + np.exp(m)), **stroked(0), stroke_dasharray="6 4")
    )
    names = (
        text(*value.at(-1.3, 4.6), "exponential: solid")
        + text(*value.at(-2.9, 3.8), "logistic:", style=HALO)
        + text(value.x(-2.9), value.y(3.8) + 16, "dashed")
        + text(*value.at(0.3, 1.35), "wrong or not: dotted")
        + text(*pull.at(-1.3, 4.6), "exponential: no limit")
        + text(*pull.at(-2.9, 1.4), "logistic: at most 1")
    )
    return Picture(
        alt="Two panels over the signed score from minus three to three. Above, the exponential loss rises ever more "
        "steeply to the left, the logistic loss rises nearly as a straight line, and the count of errors is a step "
        "from one to zero. Below, the pull: that of the exponential loss grows without limit to the left, that of the "
        "logistic loss flattens out at one.",
        size=(480, 470),
        drawing=value.axes(range(-3, 4), [0, 2, 4, 6], "", "loss of a row")
        + pull.axes(range(-3, 4), [0, 1, 2, 4, 6], "signed score yF", "pull at the row")
        + curves
        + names,
    )


def weights_as_targets(x: ArrayLike, y: ArrayLike, F: ArrayLike) -> Picture:
    """The negative gradients y exp(-yF) of the rows x, and the weights of AdaBoost, which are their shares."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    target = y * np.exp(-y * np.asarray(F, dtype=float))
    weight = np.abs(target) / np.abs(target).sum()
    plane = Chart((x[0] - 0.6, x[-1] + 0.6), (-2, 1.6), (44, 34, 464, 274))
    drawing = plane.level(0, stroke_opacity=FAINT)
    for n in range(len(x)):
        column, end = plane.at(x[n], target[n])
        drawing += line(column, plane.y(0), column, end)
        drawing += in_class(int(y[n] > 0), circle(column, end, 34 * weight[n] ** 0.5))
        away = 22 + 16 * (n % 2)  # so that neighbouring numbers do not overlap
        drawing += centred(column, end - away * y[n] + 5, f"{weight[n]:.3f}")
    return Picture(
        alt=f"One stem for each of {len(x)} rows, up for the class 1 and down for the class -1, as long as the target "
        "of gradient boosting. The area of the disc at its end is AdaBoost's weight of the row, which is written "
        "beside it: the longer the stem, the larger the disc.",
        size=(480, 320),
        drawing=plane.axes(x, [-1, 0, 1], "x", "target of each row; disc and number: its weight") + drawing,
    )


@plotted
def plot_margins(margins: Mapping[str, NDArray[Any]]) -> None:
    """The share of rows whose margin is at most so large: one curve for each name of `margins`."""
    styles = [":", "--", "-.", "-"]
    ax = axes("margin", "share of rows up to this margin")
    for k, (name, values) in enumerate(margins.items()):
        share = np.arange(1, len(values) + 1) / len(values)
        ax.step(np.sort(values), share, where="post", color=CLASS_COLORS[k], linestyle=styles[k % 4], label=name)
    ax.axvline(0, color="grey", linewidth=0.8)
    ax.set(xlim=(-1, 1), ylim=(0, 1), xticks=[-1, -0.5, 0, 0.5, 1])
    ax.legend(frameon=False)
