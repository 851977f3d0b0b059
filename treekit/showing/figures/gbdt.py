"""The figures of the chapter on gradient boosting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import ArrayLike, NDArray

from treekit.models.gbdt import GBDTRegressor
from treekit.models.losses import AbsoluteLoss, HuberLoss, LogisticLoss, Loss, SquaredLoss
from treekit.showing.explorable import Choice, Explorable, Slider
from treekit.showing.figures.shared import Picture, axes, dot
from treekit.showing.palette import CLASS_COLORS, class_color
from treekit.showing.svg import FAINT, Plane, line, number, text


def boosting_explorer(
    x: ArrayLike, y: ArrayLike, n_rounds: int = 12, rates: Sequence[float] = (1.0, 0.5, 0.1)
) -> Explorable:
    """Boosted stumps round by round: the prediction, what it leaves of each row with the next stump, and the loss.

    At rest no stump has been added yet, so that the reader can guess where the second one will cut.
    `x` is one column of numbers, each once, and few enough (about 20) to draw every row; `n_rounds` is at least 2.
    """
    order = np.argsort(x)
    x, y = np.asarray(x, dtype=float)[order], np.asarray(y, dtype=float)[order]
    models, fitted = {}, {}
    for rate in rates:
        model = GBDTRegressor(n_estimators=n_rounds + 1, learning_rate=rate, max_depth=1).fit(x[:, np.newaxis], y)
        models[rate] = model
        fitted[rate] = [np.repeat(model.start_, len(x)), *model.staged_predict(x[:, np.newaxis])][:-1]
    # A stump changes between two rows only, so the steps are drawn from midpoint to midpoint.
    gap = np.diff(x) / 2
    left = np.concatenate([[x[0] - gap[0]], x[:-1] + gap])
    right = np.concatenate([x[:-1] + gap, [x[-1] + gap[-1]]])
    corners = np.column_stack([left, right]).ravel()
    squares = {rate: [float(((y - F) ** 2).sum()) for F in fitted[rate]] for rate in rates}

    xlim, reach = (left[0], right[-1]), 0.08 * np.ptp(y)
    data = Plane(xlim, (y.min() - reach, y.max() + reach), (44, 34, 464, 174))
    rest = 1.1 * float(np.abs(y - y.mean()).max())
    residuals = Plane(xlim, (-rest, rest), (44, 256, 464, 376))
    # The sum of squares falls by the same factor again and again, so it is drawn by its logarithm.
    powers = np.log10([min(min(s) for s in squares.values()), max(max(s) for s in squares.values())])
    losses = Plane((0, n_rounds), (powers[0] - 0.1, powers[1] + 0.1), (44, 452, 464, 552))
    xticks = x if len(x) <= 12 else x[:: len(x) // 6]
    background = (
        data.axes(xticks, [np.ceil(y.min()), np.floor(y.max())], "", "y and the prediction F")
        + residuals.axes(xticks, [-np.floor(rest), 0, np.floor(rest)], "x", "residuals and the next stump (dashed)")
        + losses.axes(range(0, n_rounds + 1, 2), [], "rounds", "sum of squared residuals (logarithmic)")
        + _powers_of_ten(losses)
        + "".join(dot(data.x(a), data.y(b)) for a, b in zip(x, y))
    )

    def state(rate: float, m: int) -> tuple[str, str]:
        steps, tree = fitted[rate][m], models[rate].trees_[m][0]
        left_over = y - steps
        stump = tree.value[tree.apply(x[np.newaxis]), 0]
        loss = np.log10(squares[rate][: m + 1])
        drawing = (
            data.curve(corners, np.repeat(steps, 2), style=f"stroke: {class_color(1)}")
            + "".join(
                line(residuals.x(a), residuals.y(0), residuals.x(a), residuals.y(r), stroke_width=6, stroke_opacity=0.6)
                for a, r in zip(x, left_over)
            )
            + residuals.curve(corners, np.repeat(stump, 2), style=f"stroke: {class_color(0)}", stroke_dasharray="6 4")
            + losses.curve(range(m + 1), loss, style=f"stroke: {class_color(1)}")
            + dot(losses.x(m), losses.y(loss[-1]))
        )
        stump_predicts = (
            f"predicts {tree.value[1, 0]:.3f} up to x = {tree.threshold[0]:g}, {tree.value[2, 0]:.3f} above"
        )
        done = f"After round {m}" if m else "Before the first round"
        sentence = (
            f"{done} the squared residuals add up to {squares[rate][m]:.3f}. The next stump {stump_predicts}. "
            f"It will be multiplied by {rate:g} and added."
        )
        return drawing, sentence

    return Explorable(
        title="Boosting, round by round",
        alt=f"Above, {len(x)} points and a level line at their mean, the first prediction. In the middle the residuals "
        "as bars from zero, and dashed the stump that is fitted to them next. At the bottom an empty plane for the sum "
        "of squared residuals, with a single point before the first round.",
        size=(480, 598),
        background=background,
        controls=[
            Choice("Learning rate", list(rates), show="{:g}"),
            Slider("Rounds", list(range(n_rounds + 1)), start=0),
        ],
        frame=state,
        challenge="Guess before you move: once this stump is added, where will the second one cut, and which rows "
        "will it lower? Then compare the three rates after three rounds.",
    )


def _powers_of_ten(plane: Plane) -> str:
    """The ticks of a vertical axis that is drawn by logarithms of base 10."""
    bottom, top = plane.ylim
    return "".join(
        line(plane.box[0], plane.y(k), plane.box[2], plane.y(k), stroke_opacity=FAINT / 2)
        + text(plane.box[0] - 8, plane.y(k) + 5, number(10.0**k), text_anchor="end")
        for k in range(int(np.ceil(bottom)), int(np.floor(top)) + 1)
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


def plot_learning_curves(curves: Mapping[str, tuple[NDArray, NDArray]], loss: str) -> None:
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
    plt.show()
