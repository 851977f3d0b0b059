"""The figures of the chapter on gradient boosting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from treekit.models.gbdt import GBDTRegressor
from treekit.models.losses import AbsoluteLoss, HuberLoss, LogisticLoss, Loss, SquaredLoss
from treekit.showing.explorable import Choice, Explorable, Panel, Slider
from treekit.showing.figures.shared import Picture, Plot, axes, current_plot, dot, melon
from treekit.showing.palette import CLASS_COLORS, GAIN, class_color
from treekit.showing.svg import FAINT, Plane, circle, element, line, rect, text

RATES = (1.0, 0.5, 0.1)


def residual_explorer(x: pd.Series, y: pd.Series, is_ripe: pd.Series, n_rounds: int = 10) -> Explorable:
    """What boosted stumps leave of each melon, handed from round to round, and beside it the prediction that grows.

    `x` is a column of numbers, each once, and `y` the number to predict; `is_ripe` only paints the melons. The script
    begins before the first round, at rest one round is done.
    """
    names, X = list(x.index), x.to_numpy(float)[:, np.newaxis]
    values = y.to_numpy(float)
    models, left_over = {}, {}
    for rate in RATES:
        models[rate] = GBDTRegressor(n_estimators=n_rounds + 1, learning_rate=rate, max_depth=1).fit(X, values)
        fitted = [np.repeat(models[rate].start_, len(X)), *models[rate].staged_predict(X)]
        left_over[rate] = values - np.array(fitted)
    squares = {rate: (rest**2).sum(axis=1) for rate, rest in left_over.items()}
    halved = int(np.argmax(squares[1.0] < squares[1.0][0] / 2))

    xlim = (float(np.floor(10 * x.min())) / 10, float(np.ceil(10 * x.max())) / 10)
    edges = np.concatenate([[xlim[0]], np.sort(X[:, 0])[:-1] + np.diff(np.sort(X[:, 0])) / 2, [xlim[1]]])
    corners, middles = np.repeat(edges, 2)[1:-1], ((edges[1:] + edges[:-1]) / 2)[:, np.newaxis]
    steps = {
        rate: np.array([np.repeat(model.start_, len(X)), *model.staged_predict(middles)])
        for rate, model in models.items()
    }
    reach = 0.05 * float(np.ptp(values))
    rest = max(float(np.abs(rows).max()) for rows in left_over.values()) + reach
    residuals = Plane(xlim, (-rest, rest), (56, 40, 466, 330))
    data = Plane(xlim, (min(0.0, values.min()), values.max() + reach), (44, 40, 466, 330))
    xticks = np.arange(xlim[0], xlim[1] + 0.01, 0.2)

    def frame(rate: float, m: int) -> tuple[str, str, dict]:
        (tree,) = models[rate].trees_[m]
        below, above = tree.value[1:, 0]
        cut = residuals.x(tree.threshold[0])
        stump = "".join(
            line(a, residuals.y(v), b, residuals.y(v), stroke_width=3, stroke_dasharray="7 4")
            for a, b, v in ((56, cut, below), (cut, 466, above))
        ) + line(cut, 40, cut, 330, stroke_dasharray="2 5")
        places = {n: (residuals.x(a), residuals.y(r)) for n, a, r in zip(names, x, left_over[rate][m])}
        done = "Before the first round" if m == 0 else f"After round {m}"
        sentence = (
            f"{done} the squared residuals add up to {squares[rate][m]:.3f}. The next stump (dashed) cuts at "
            f"{tree.threshold[0]:.4g}: {_signed(below)} to the left, {_signed(above)} to the right. "
            + (f"Of this, {rate:g} is taken away from every residual." if rate < 1 else "All of it is taken away.")
        )
        return stump, sentence, {n: (round(a), round(b)) for n, (a, b) in places.items()}

    def prediction(rate: float, m: int) -> str:
        points = [(f"{round(data.x(a))},{round(data.y(b))}") for a, b in zip(corners, np.repeat(steps[rate][m], 2))]
        style = dict(fill="none", stroke="currentColor", stroke_width=3)
        return element("polyline", points=" ".join(points), **style)

    ripe = dict(zip(names, is_ripe.tolist()))
    still = "".join(melon(n, ripe[n], data.x(a), data.y(b)) for n, a, b in zip(names, x, values))
    ticks = np.arange(np.ceil(-10 * rest) / 10, rest, 0.1)
    return Explorable(
        title="Residuals, handed on",
        alt=f"The {len(X)} melons as numbered circles by {x.name} and by what one boosted stump has left of their "
        f"{y.name}, above and below a line at zero. A dashed step shows the stump that comes next.",
        size=(480, 384),
        background=residuals.axes(xticks, ticks, str(x.name), "what is left: the residuals")
        + line(56, residuals.y(0), 466, residuals.y(0)),
        marks={n: melon(n, r) for n, r in ripe.items()},
        controls=[Choice("Learning rate", list(RATES)), Slider("Rounds", list(range(n_rounds + 1)), start=1, opens=0)],
        frame=frame,
        found=lambda rate, m: rate == 1 and m == halved,
        guess=Slider(
            "Your guess: how many rounds take away half of the squared residuals?", list(range(1, n_rounds + 1))
        ),
        challenge="With the learning rate 1, find the first round after which less than half of the sum is left.",
        beside=Panel(
            f"The same melons by {x.name} and {y.name}, and the prediction so far, a line with one step.",
            (480, 384),
            data.axes(xticks, np.arange(0, values.max(), 0.1), str(x.name), f"{y.name}, and the prediction so far")
            + still,
            prediction,
        ),
    )


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def price_explorer(
    y: ArrayLike,
    goes_left: ArrayLike,
    names: Sequence[str],
    lambdas: Sequence[float] = (0, 0.5, 1, 2, 4, 8),
    gammas: Sequence[float] = (0, 0.5, 1, 1.5, 2),
) -> Explorable:
    """One leaf or two: the parabola of each leaf under the prices lambda and gamma, and the two objectives.

    `y` holds the classes 0 and 1 of rows with the score 0, for the logistic loss; `goes_left` is the split, and `names`
    are those of its sides.
    """
    y, left = np.asarray(y, dtype=float), np.asarray(goes_left, dtype=bool)
    loss, zero = LogisticLoss(), np.zeros((1, len(y)))
    g, h = -loss.negative_gradient(y, zero)[0], loss.second_derivative(y, zero)[0]
    sides = dict(zip(["one leaf", *names], (np.full(len(y), True), left, ~left)))
    sums = {name: (float(g[rows].sum()), float(h[rows].sum())) for name, rows in sides.items()}
    plane = Plane((-3, 3), (-3, 3), (44, 40, 468, 290))
    bars = Plane((-4, 4), (0, 1), (44, 0, 468, 1))
    bar_y = {"one leaf": 366, "two leaves": 414}
    w = np.linspace(-3, 3, 61)
    dashes = dict(zip(sides, ("2 4", "none", "8 4")))

    def frame(lam: float, gamma: float) -> tuple[str, str, dict]:
        drawn, low = "", {}
        for name, (G, H) in sums.items():
            curve = G * w + (H + lam) * w**2 / 2 + gamma
            best = -G / (H + lam)
            low[name] = (best, G * best + (H + lam) * best**2 / 2 + gamma)
            shown = curve <= 3
            points = " ".join(f"{plane.x(a):.0f},{plane.y(b):.0f}" for a, b in zip(w[shown], curve[shown]))
            style = dict(fill="none", stroke="currentColor", stroke_width=2, stroke_dasharray=dashes[name])
            drawn += element("polyline", points=points, **style)
        one = low["one leaf"][1]
        two = sum(low[name][1] for name in names)
        for name, objective in (("one leaf", one), ("two leaves", two)):
            drawn += text(bars.x(max(objective, 0)) + 8, bar_y[name] + 15, _signed(objective)[:6])
        gain = one - two
        steps = " and ".join(f"{_signed(low[name][0])} ({name})" for name in names)
        verdict = "the split pays" if gain > 0 else "the split does not pay"
        sentence = (
            f"Steps of the two leaves: {steps}. One leaf costs {_signed(one)}, two cost {_signed(two)}: "
            f"a gain of {_signed(gain)}, so {verdict}."
        )
        places: dict = {name: (plane.x(a), plane.y(b)) for name, (a, b) in low.items()}
        for name, objective in (("bar one leaf", one), ("bar two leaves", two)):
            start, end = sorted((bars.x(0), bars.x(objective)))
            places[name] = (start, bar_y[name[4:]], max(end - start, 0.01), 1)
        return drawn, sentence, places

    def objective_gain(lam: float, gamma: float) -> float:
        worth = {name: G**2 / (H + lam) / 2 for name, (G, H) in sums.items()}
        return sum(worth[name] for name in names) - worth["one leaf"] - gamma

    key = ""
    for i, name in enumerate(sides):
        style = dict(stroke_width=2, stroke_dasharray=dashes[name])
        key += line(150 + 112 * i, 15, 176 + 112 * i, 15, **style) + text(182 + 112 * i, 20, name)
    marks = {name: circle(0, 0, 6) for name in sides}
    marks |= {f"bar {name}": rect(0, 0, 1, 20, style=f"fill: {class_color(k)}") for name, k in zip(bar_y, (5, GAIN))}
    return Explorable(
        title="One leaf or two?",
        alt="Three parabolas over the step of a leaf: that of all rows, flat and with its lowest point near zero, and "
        f"those of the two sides, {names[0]} with its lowest point at a positive step, {names[1]} at a negative one. "
        "Below, two bars: the objective of one leaf and, further to the left, the sum for two.",
        size=(480, 444),
        background=plane.axes(range(-3, 4), [-2, 0, 2], "step w", "objective")
        + key
        + line(bars.x(0), 360, bars.x(0), 440)
        + "".join(text(44, y - 6, f"objective of {name}") for name, y in bar_y.items()),
        marks=marks,
        controls=[
            Slider("Price of large steps, λ", list(lambdas), show="{:g}"),
            Slider("Price of a leaf, γ", list(gammas), show="{:g}"),
        ],
        frame=frame,
        found=lambda lam, gamma: gamma == 1 and objective_gain(lam, gamma) <= 0,
        challenge="λ narrows the parabolas, γ lifts them. With γ = 1, how large must λ be until the split no longer "
        "pays?",
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
        limits = (middle - half, middle + half)
        plane = Plane((corners[0], corners[-1]), limits, (30 + 158 * i, 40, 152 + 158 * i, 200))
        ticks = range(int(np.ceil(limits[0])), int(np.floor(limits[1])) + 1)
        drawing += (
            plane.axes([x[0], x[-1]], ticks, "x", "")
            + text(plane.box[0] - 12, 24, name)
            + plane.curve(corners, np.repeat(steps, 2), style=f"stroke: {class_color(1)}", stroke_width=3)
        )
    drawing += "".join(dot(plane.x(a), plane.y(b)) for a, b in zip(x, y, strict=True))
    return Picture(
        alt="Three panels of one scale. The first stump is a large step up in the middle of x, the second a smaller "
        "step up further to the left. The third panel shows their sum with the mean: a staircase of three levels "
        "that follows the rows.",
        size=(480, 248),
        drawing=drawing,
    )


def regression_losses(delta: float = 1.0) -> Picture:
    """Squared, absolute and Huber loss against the residual, and below their negative gradients."""
    residual = np.linspace(-3, 3, 121)
    huber = HuberLoss(alpha=0.9)
    huber.delta = delta
    losses: list[tuple[Loss, int, dict]] = [
        (SquaredLoss(), 0, {}),
        (AbsoluteLoss(), 1, {"stroke_dasharray": "6 4"}),
        (huber, 2, {"stroke_width": 4}),
    ]
    value = Plane((-3, 3), (0, 4.5), (44, 34, 464, 184))
    gradient = Plane((-3, 3), (-3, 3), (44, 250, 464, 400))
    zero = np.zeros((1, len(residual)))
    curves = "".join(
        value.curve(residual, loss.value(residual, zero), style=f"stroke: {class_color(k)}", **dash)
        + gradient.curve(residual, loss.negative_gradient(residual, zero)[0], style=f"stroke: {class_color(k)}", **dash)
        for loss, k, dash in losses
    )
    names = (
        text(value.x(-2.1), value.y(3.6), "squared")
        + text(value.x(1.25), value.y(1.5), "absolute: dashed", text_anchor="end")
        + text(value.x(1.6), value.y(0.5), "Huber: thick")
    )
    return Picture(
        alt="Two panels over the residual from minus three to three. Above, the squared loss is a parabola, the "
        "absolute loss two straight lines that meet at zero; the Huber loss is the parabola near zero and straight "
        "further out. Below, the negative gradients: the squared one a rising straight line, the absolute one a step "
        "from minus one to one, the Huber one the line cut off at minus one and one.",
        size=(480, 450),
        drawing=value.axes(range(-3, 4), [0, 2, 4], "", "loss")
        + gradient.axes(range(-3, 4), [-3, -1, 0, 1, 3], "residual y − F", "negative gradient")
        + curves
        + names,
    )


def logistic_score() -> Picture:
    """The probability of class 1 against the score, and the log loss of a row of either class."""
    F = np.linspace(-4, 4, 161)
    p = 1 / (1 + np.exp(-F))
    chance, loss = Plane((-4, 4), (0, 1), (44, 34, 464, 154)), Plane((-4, 4), (0, 4.2), (44, 220, 464, 370))
    guides = "".join(
        line(plane.x(0), plane.box[1], plane.x(0), plane.box[3], stroke_opacity=FAINT) for plane in (chance, loss)
    )
    return Picture(
        alt="Above, the probability of class 1 against the score F: an S-shaped curve that rises from nearly 0 through "
        "one half at F = 0 to nearly 1. Below, two log losses: that of a row of class 1 falls towards zero as the "
        "score grows, that of a row of class 0 is its mirror image. On the wrong side each is nearly a straight line.",
        size=(480, 420),
        drawing=chance.axes(range(-4, 5, 2), [0, 0.5, 1], "", "probability p of class 1")
        + loss.axes(range(-4, 5, 2), [0, 2, 4], "score F, the log-odds", "log loss of one row")
        + guides
        + chance.curve(F, p)
        + loss.curve(F, -np.log(p), style=f"stroke: {class_color(1)}", stroke_dasharray="6 4")
        + loss.curve(F, -np.log(1 - p), style=f"stroke: {class_color(0)}")
        + text(loss.x(-2.4), loss.y(3.1), "of class 1")
        + text(loss.x(2.4), loss.y(3.1), "of class 0", text_anchor="end"),
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
    plane = Plane((-1, 3), (float(np.floor(true.min())), float(np.ceil(true.max()))), (44, 34, 464, 264))
    shown = priced <= plane.ylim[1]
    marks = []
    for curve, k in ((true, 0), (taylor, 1), (priced, 2)):
        best = int(curve.argmin())
        marks.append(f'<g style="fill: {class_color(k)}">{dot(plane.x(w[best]), plane.y(curve[best]))}</g>')
    guide = line(plane.x(0), plane.y(plane.ylim[0]), plane.x(0), plane.y(plane.ylim[1]), stroke_opacity=FAINT)
    return Picture(
        alt="Three curves over the step w of a leaf, which touch at w = 0: the logistic loss, its parabola, whose "
        "lowest point lies a little left of the loss's, and the steeper parabola with lambda, whose lowest point lies "
        "half way back to zero.",
        size=(480, 314),
        drawing=plane.axes(
            range(-1, 4), range(int(plane.ylim[0]), int(plane.ylim[1]) + 1), "step w", "loss of the leaf"
        )
        + guide
        + plane.curve(w, true, style=f"stroke: {class_color(0)}", stroke_width=3)
        + plane.curve(w, taylor, style=f"stroke: {class_color(1)}", stroke_dasharray="6 4")
        + plane.curve(w[shown], priced[shown], style=f"stroke: {class_color(2)}", stroke_dasharray="2 3")
        + "".join(marks)
        + text(plane.x(2.05), plane.y(2.15), "loss")
        + text(plane.x(2.2), plane.y(3.2), "parabola", text_anchor="end")
        + text(plane.x(1.75), plane.y(4.4), "with λ", text_anchor="end"),
    )


def plot_learning_curves(curves: Mapping[str, tuple[NDArray, NDArray]], loss: str) -> Plot:
    """Loss against rounds, of the held-out rows (solid, with a dot at its lowest) and of the training rows (dashed).

    `curves` gives each model's name the losses on its training and on the held-out rows; `loss` names the loss.
    """
    with plt.rc_context({"font.size": 13}):  # reads on a phone, too
        ax = axes("rounds", loss)
        for (name, (train, held_out)), color in zip(curves.items(), CLASS_COLORS):
            rounds = np.arange(1, len(held_out) + 1)
            ax.plot(rounds, held_out, color=color, label=name)
            ax.plot(rounds, train, color=color, linestyle="--", linewidth=1)
            best = int(np.argmin(held_out))
            ax.plot(rounds[best], held_out[best], "o", color=color)
        title = "held out, dot at the lowest (dashed: training)"
        ax.legend(frameon=False, title=title, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4)
    return current_plot()
