"""The figures of the chapter on AdaBoost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from figures.explorable import Choice, Explorable, Slider
from figures.shared import (
    HALO,
    READABLE,
    Picture,
    Plot,
    axes,
    current_plot,
    dot,
    in_class,
    melon,
    melons_named,
    ripe_and_unripe,
)
from treekit.models.adaboost import AdaBoostClassifier
from treekit.pen.palette import CLASS_COLORS, REGION, RIPE, UNRIPE, class_color
from treekit.pen.svg import FAINT, Plane, circle, element, line, rect, text

RADIUS = 13.0  # of a melon with the mean weight
DIGIT = (9.4, 11)  # width and height of a digit at 15 pixels
NEWEST, VOTE = "newest stump", "vote of all so far"


def swelling_explorer(X: pd.DataFrame, y: pd.Series, n_rounds: int = 8) -> Explorable:
    """AdaBoost on two columns of numbers, round by round: the rows swell with their weights; stump or vote is shaded.

    `y` has the labels yes and no; the names of the rows are drawn. `n_rounds` is at least 2.
    """
    model = AdaBoostClassifier(n_estimators=n_rounds).fit(X, y)
    is_yes = (y == "yes").to_numpy()
    sign = np.where(is_yes, 1, -1)
    votes = np.array([np.zeros(len(X)), *model.staged_decision_function(X)])
    weights = np.exp(-sign * votes)  # of the rows when round m + 1 begins
    weights /= weights.sum(axis=1, keepdims=True)
    errors = model.estimator_errors_
    wrong_alone = [member.predict(X) != y.to_numpy() for member in model.estimators_]
    wrong_voting = [predicted != y.to_numpy() for predicted in model.staged_predict(X)]
    done = int(np.argmin([wrong.sum() for wrong in wrong_voting])) + 1  # the first round with the fewest errors

    low, high = np.floor(10 * X.min() - 0.3) / 10, np.ceil(10 * X.max() + 0.3) / 10
    plane = Plane((low.iloc[0], high.iloc[0]), (low.iloc[1], high.iloc[1]), (44, 34, 468, 334))
    # A stump changes its mind only at a threshold, so one prediction in each cell between thresholds fills the plane.
    cuts = [
        np.unique(
            [low.iloc[j], high.iloc[j], *(s.tree_.threshold[0] for s in model.estimators_ if s.tree_.feature[0] == j)]
        )
        for j in (0, 1)
    ]
    middles = np.meshgrid(*((edges[1:] + edges[:-1]) / 2 for edges in cuts))
    cells = pd.DataFrame(np.stack(middles, axis=-1).reshape(-1, 2), columns=X.columns)
    alone = [member.predict(cells) == "yes" for member in model.estimators_]
    together = [predicted == "yes" for predicted in model.staged_predict(cells)]

    def shaded(predicts_yes: NDArray) -> str:
        """Cells in the colour of the class that is predicted there."""
        grid = predicts_yes.reshape(middles[0].shape)
        drawn = ""
        for kind in (UNRIPE, RIPE):
            boxes = ""
            for i, j in zip(*np.nonzero(grid == (kind == RIPE))):
                left, right = (round(plane.x(v)) for v in cuts[0][j : j + 2])
                bottom, top = (round(plane.y(v)) for v in cuts[1][i : i + 2])
                boxes += f"M{left},{top}H{right}V{bottom}H{left}z"
            style = f"fill: {class_color(kind)}"
            drawn += element("path", d=boxes, style=style, fill_opacity=REGION, shape_rendering="crispEdges")
        return drawn

    def ringed(wrong: NDArray, radius: NDArray) -> str:
        spots = (circle(x, y, r + 4) for (x, y), r in zip(np.array(spots_of_rows)[wrong].tolist(), radius[wrong]))
        return element("g", "".join(spots), fill="none", stroke="currentColor", stroke_width=2)

    spots_of_rows = [(round(plane.x(a)), round(plane.y(b))) for a, b in X.to_numpy(float)]
    sides = [_free_side(spot, spots_of_rows) for spot in spots_of_rows]

    def numbers(radius: NDArray) -> dict[object, tuple[float, float]]:
        """A number does not shrink with its melon: where it no longer fits inside, it stands beside it."""
        places: dict[object, tuple[float, float]] = {}
        for name, (x, y), r, side in zip(X.index, spots_of_rows, radius.tolist(), sides):
            width, height = DIGIT[0] * len(str(name)), DIGIT[1]
            if np.hypot(width, height) / 2 <= r:
                places["inside", name] = (x, y)
            else:
                places["beside", name] = (x + side * (r + 7 + width / 2), y)
        return places

    def state(shown: str, m: int) -> tuple[list[str], str, dict]:
        w, e, alpha = weights[m - 1], errors[m - 1], model.estimator_weights_[m - 1]
        size = np.sqrt(w * len(X))  # the area shows the weight
        places: dict = {name: (*spot, s) for name, spot, s in zip(X.index, spots_of_rows, size)}
        places |= numbers(RADIUS * size)
        stump = model.estimators_[m - 1].tree_
        wrong = wrong_alone[m - 1] if shown == NEWEST else wrong_voting[m - 1]
        parts = [shaded(alone[m - 1] if shown == NEWEST else together[m - 1]), ringed(wrong, RADIUS * size)]
        which = melons_named(X.index[wrong])
        if shown == NEWEST:
            cut = f"Stump {m} cuts the {X.columns[stump.feature[0]]} at {stump.threshold[0]:.4g}"
            if alone[m - 1].all() or not alone[m - 1].any():  # Gini may choose a cut whose sides both have one majority
                cut += f", predicts {'ripe' if alone[m - 1].all() else 'unripe'} on both sides"
            weigh = f"Ringed rows weigh {e:.3f} of 1 together, so the stump's vote counts {alpha:.3f}."
            return parts, f"{cut} and gets {which} wrong. {weigh}", places
        who = "Stump 1 alone gets" if m == 1 else f"The weighted vote of {m} stumps gets"
        return parts, f"{who} {which} wrong.", places

    first = melons_named(X.index[wrong_alone[0]])
    # The numbers come last, so that no disc covers them.
    marks: dict = {name: melon("", ripe, radius=RADIUS) for name, ripe in zip(X.index, is_yes.tolist())}
    for place in ("inside", "beside"):
        for name, ripe in zip(X.index, is_yes.tolist()):
            white = {"fill": "white"} if place == "inside" and not ripe else {}
            marks[place, name] = text(0, 5, str(name), text_anchor="middle", **white)
    legend = ripe_and_unripe(350, 15)
    xticks, yticks = (np.arange(a, b + 0.01, 0.2) for a, b in zip(low, high))
    return Explorable(
        title="Wrong melons swell",
        alt=f"The {len(X)} melons as numbered discs by {X.columns[0]} and {X.columns[1]}, hollow if ripe. "
        f"{first.capitalize()} are larger than the others, because the first stump got them wrong. The second "
        "stump divides the plane by one line into a region for ripe and one for unripe; the melons on the "
        "wrong side are ringed.",
        size=(480, 384),
        background=plane.axes(xticks, yticks, str(X.columns[0]), str(X.columns[1])) + legend,
        marks=marks,
        controls=[Choice("Show", [NEWEST, VOTE]), Slider("Round", list(range(1, n_rounds + 1)), start=2, opens=1)],
        frame=state,
        found=lambda shown, m: shown == VOTE and m == done,
        guess=Slider("Your guess: how many stumps must vote until no melon is wrong?", list(range(1, n_rounds + 1))),
        challenge="Which melons swell, and why? Find the first round in which the vote gets no melon wrong.",
    )


def _free_side(spot: tuple[int, int], others: list[tuple[int, int]]) -> int:
    """On which side of a melon there is room for its number: 1 to the right, -1 to the left."""
    x, y = spot
    beside = [a - x for a, b in others if (a, b) != spot and abs(a - x) < 50 and abs(b - y) < 27]
    return -1 if any(dx > 0 for dx in beside) and not any(dx < 0 for dx in beside) else 1


def adaboost_explorer(x: ArrayLike, y: ArrayLike, n_rounds: int = 8) -> Explorable:
    """AdaBoost round by round: weights and stump, the vote so far, and the training error under its bound.

    `x` is one column of numbers, each once, at most about ten; `y` holds labels -1 and 1. `n_rounds` is at least 2.
    """
    order = np.argsort(x)
    x, y = np.asarray(x, dtype=float)[order], np.asarray(y)[order]
    table = x[:, np.newaxis]
    model = AdaBoostClassifier(n_estimators=n_rounds).fit(table, y)
    votes = np.array([np.zeros(len(x)), *model.staged_decision_function(table)])
    weights = np.exp(-y * votes)  # of the rows when round m + 1 begins
    weights /= weights.sum(axis=1, keepdims=True)
    errors = model.estimator_errors_
    bound = np.cumprod([1, *2 * np.sqrt(errors * (1 - errors))])
    share = [1.0, *[np.mean(predicted != y) for predicted in model.staged_predict(table)]]
    # A stump changes between two rows only, so the steps are drawn from midpoint to midpoint.
    gap = np.diff(x) / 2
    left = np.concatenate([[x[0] - gap[0]], x[:-1] + gap])
    right = np.concatenate([x[:-1] + gap, [x[-1] + gap[-1]]])
    corners = np.column_stack([left, right]).ravel()

    xlim, reach = (left[0], right[-1]), 1.1 * float(np.abs(votes).max())
    rows = Plane(xlim, (-1.8, 1.8), (44, 34, 464, 164))
    vote = Plane(xlim, (-reach, reach), (44, 280, 464, 400))
    bounds = Plane((0, n_rounds), (0, 1), (44, 484, 464, 584))
    background = (
        rows.axes([], [-1, 1], "", "rows by class, sized by weight, and the stump (dashed)")
        + vote.axes(x, [-1, 0, 1], "x", "the sum of the votes: its sign is the prediction")
        + bounds.axes(range(n_rounds + 1), [0, 0.5, 1], "rounds", "share of rows wrong (solid), its bound (dashed)")
        + line(vote.x(xlim[0]), vote.y(0), vote.x(xlim[1]), vote.y(0), stroke_opacity=FAINT)
        + text(0, 190, "weights")
    )

    mean = 34 / np.sqrt(len(x))  # the radius of a row of mean weight
    # Each row twice: by its weight above, by the sum of the votes below; the class 1 is hollow.
    marks = {
        (panel, n): in_class(int(y[n] > 0), circle(0, 0, radius))
        for panel, radius in (("weight", mean), ("sum", 5.0))
        for n in range(len(x))
    }

    def state(m: int) -> tuple[list[str], str, dict]:
        w, stump, e, alpha = weights[m - 1], model.estimators_[m - 1], errors[m - 1], model.estimator_weights_[m - 1]
        says = stump.predict(table)
        size = np.sqrt(w * len(x))  # the area shows the weight
        places: dict = {("weight", n): (rows.x(x[n]), rows.y(y[n]), size[n]) for n in range(len(x))}
        places |= {("sum", n): (vote.x(x[n]), vote.y(votes[m][n])) for n in range(len(x))}
        ringed = "".join(
            circle(rows.x(x[n]), rows.y(y[n]), mean * size[n] + 4, fill="none", stroke="currentColor", stroke_width=2)
            for n in np.flatnonzero(says != y)
        )
        written = "".join(
            text(rows.x(x[n]), 210 + 18 * (n % 2), f"{w[n]:.3f}", text_anchor="middle") for n in range(len(x))
        )
        drawing = (
            rows.curve(corners, np.repeat(says, 2), stroke_dasharray="6 4")
            + ringed
            + written
            + vote.curve(corners, np.repeat(votes[m], 2))
            + bounds.curve(range(m + 1), share[: m + 1], style=f"stroke: {class_color(1)}")
            + bounds.curve(range(m + 1), bound[: m + 1], stroke_dasharray="6 4")
            + dot(bounds.x(m), bounds.y(share[m]))
        )
        wrong = ", ".join(f"{value:g}" for value in x[says != y])
        sentence = (
            f"Stump {m} predicts {says[0]} up to x = {stump.tree_.threshold[0]:g} and {says[-1]} above. It is wrong at "
            f"x = {wrong}, which weigh {e:.3f}, so its vote is {alpha:.3f}. The votes so far get "
            f"{round(share[m] * len(x))} of {len(x)} rows wrong."
        )
        return [drawing], sentence, places

    done = int(np.argmin(share))  # the first round with the fewest errors

    return Explorable(
        title="AdaBoost, round by round",
        alt=f"Above, {len(x)} rows as discs, one class low and one high, the larger the heavier, with the stump of "
        f"round {done} as a dashed step; the rows that it gets wrong are ringed, and each row's weight is written "
        f"below it. In the middle the sum of the {done} votes, as a line with several steps. At the bottom the share "
        f"of wrong rows after each round, {share[done]:g} after round {done}, and a dashed bound above it.",
        size=(480, 630),
        background=background,
        marks=marks,
        controls=[Slider("Round", list(range(1, n_rounds + 1)), start=done, opens=1)],
        frame=state,
        found=lambda m: m == done,
        guess=Slider("Your guess: how many stumps must vote until no row is wrong?", list(range(1, n_rounds + 1))),
        challenge="Which rows grow, and which shrink? Find the first vote that gets no row wrong.",
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
            drawing += text(left - 8, y + 18, name, text_anchor="end")
            ends = left + width * np.cumsum(shares)
            for n, end, share in zip(order, ends, shares):
                start = end - width * share
                style = "fill: #6b6b6b" if miss[n] else "fill: none; stroke: currentColor; stroke-width: 1.5"
                drawing += rect(start + 1, y, width * share - 2, height, style=style)
                if share > 0.04:
                    label = text((start + end) / 2, y + 18, f"{np.asarray(x)[n]:g}", text_anchor="middle")
                    drawing += element("g", label, fill="white") if miss[n] else label
    bottom = top + gap * len(before) - 34
    middle = left + width / 2
    return Picture(
        alt=f"Two bars for each of {len(before)} rounds, cut into pieces as long as the weights of the rows. Before a "
        "round the pieces of the rows that it gets wrong fill less than half of the bar, after it exactly half.",
        size=(480, bottom + 22),
        drawing=drawing
        + line(middle, top - 6, middle, bottom, stroke_dasharray="4 4")
        + text(middle, bottom + 18, "one half", text_anchor="middle"),
    )


def best_votes(errors: Sequence[float]) -> Picture:
    """By what the exponential loss is multiplied, against the vote, for members of these weighted errors."""
    plane = Plane((0, 3), (0, 1.6), (44, 34, 464, 284))
    alpha = np.linspace(0, 3, 301)
    ylabel = "loss after the round, as a multiple of the loss before"
    drawing = plane.axes([0, 1, 2, 3], [0, 0.5, 1, 1.5], "vote", ylabel)
    for k, e in enumerate(errors):
        best = 0.5 * float(np.log((1 - e) / e))
        factor = (1 - e) * np.exp(-alpha) + e * np.exp(alpha)
        shown = factor <= 1.6
        drawing += plane.curve(alpha[shown], factor[shown], stroke_dasharray=["none", "8 4", "2 3"][k % 3])
        drawing += text(plane.x(alpha[shown][-1]) - 16, plane.y(1.6) + 9, f"e = {e:g}", text_anchor="end")
        drawing += dot(plane.x(best), plane.y(2 * np.sqrt(e * (1 - e))))
    return Picture(
        alt="Curves of the factor of the loss against the vote, one for each of the weighted errors "
        + ", ".join(f"{e:g}" for e in errors)
        + ". Each falls from 1 to a lowest point, which is marked, and rises again. The smaller the error, the larger "
        "the vote at the lowest point, and the lower the point.",
        size=(480, 340),
        drawing=drawing,
    )


def margin_losses() -> Picture:
    """Zero-one, exponential and logistic loss against the margin yF, and below how hard each pulls at a row."""
    m = np.linspace(-3, 3, 121)
    value = Plane((-3, 3), (0, 6), (44, 34, 464, 194))
    pull = Plane((-3, 3), (0, 6), (44, 260, 464, 420))
    exponential, logistic = np.exp(-m), np.log1p(np.exp(-m))
    shown = exponential <= 6
    curves = (
        value.curve([-3, 0, 0, 3], [1, 1, 0, 0], stroke_dasharray="2 3")
        + value.curve(m[shown], exponential[shown], style=f"stroke: {class_color(1)}")
        + value.curve(m, logistic, style=f"stroke: {class_color(0)}", stroke_dasharray="6 4")
        + pull.curve(m[shown], exponential[shown], style=f"stroke: {class_color(1)}")
        + pull.curve(m, 1 / (1 + np.exp(m)), style=f"stroke: {class_color(0)}", stroke_dasharray="6 4")
    )
    names = (
        text(value.x(-1.3), value.y(4.6), "exponential: solid")
        + text(value.x(-2.9), value.y(3.8), "logistic:", style=HALO)
        + text(value.x(-2.9), value.y(3.8) + 16, "dashed")
        + text(value.x(0.3), value.y(1.35), "wrong or not: dotted")
        + text(pull.x(-1.3), pull.y(4.6), "exponential: no limit")
        + text(pull.x(-2.9), pull.y(1.4), "logistic: at most 1")
    )
    return Picture(
        alt="Two panels over the margin from minus three to three. Above, the exponential loss rises ever more "
        "steeply to "
        "the left, the logistic loss rises nearly as a straight line, and the count of errors is a step from "
        "one "
        "to zero. Below, the pull: that of the exponential loss grows without limit to the left, that of the logistic "
        "loss flattens out at one.",
        size=(480, 470),
        drawing=value.axes(range(-3, 4), [0, 2, 4, 6], "", "loss of a row")
        + pull.axes(range(-3, 4), [0, 1, 2, 4, 6], "margin yF", "pull at the row")
        + curves
        + names,
    )


def weights_as_targets(x: ArrayLike, y: ArrayLike, F: ArrayLike) -> Picture:
    """The negative gradients y exp(-yF) of the rows x, and the weights of AdaBoost, which are their shares."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    target = y * np.exp(-y * np.asarray(F, dtype=float))
    weight = np.abs(target) / np.abs(target).sum()
    plane = Plane((x[0] - 0.6, x[-1] + 0.6), (-2, 1.6), (44, 34, 464, 274))
    drawing = line(44, plane.y(0), 464, plane.y(0), stroke_opacity=FAINT)
    for n in range(len(x)):
        column, end = plane.x(x[n]), plane.y(target[n])
        drawing += line(column, plane.y(0), column, end) + in_class(
            int(y[n] > 0), circle(column, end, 34 * weight[n] ** 0.5)
        )
        away = 22 + 16 * (n % 2)  # so that neighbouring numbers do not overlap
        drawing += text(column, end - away * y[n] + 5, f"{weight[n]:.3f}", text_anchor="middle")
    return Picture(
        alt=f"One stem for each of {len(x)} rows, up for the class 1 and down for the class -1, as long as the target "
        "of gradient boosting. The area of the disc at its end is AdaBoost's weight of the row, which is written "
        "beside it: the longer the stem, the larger the disc.",
        size=(480, 320),
        drawing=plane.axes(x, [-1, 0, 1], "x", "target of each row; disc and number: its weight") + drawing,
    )


def plot_margins(margins: Mapping[str, NDArray]) -> Plot:
    """The share of rows whose margin is at most so large: one curve for each name of `margins`."""
    styles = [":", "--", "-.", "-"]
    with plt.rc_context(READABLE):
        ax = axes("margin", "share of rows up to this margin")
        for k, (name, values) in enumerate(margins.items()):
            share = np.arange(1, len(values) + 1) / len(values)
            ax.step(np.sort(values), share, where="post", color=CLASS_COLORS[k], linestyle=styles[k % 4], label=name)
        ax.axvline(0, color="grey", linewidth=0.8)
        ax.set(xlim=(-1, 1), ylim=(0, 1), xticks=[-1, -0.5, 0, 0.5, 1])
        ax.legend(frameon=False)
    return current_plot()
