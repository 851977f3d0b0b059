"""The figures of the chapter on deep forests."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from figures.explorable import Choice, Explorable, Panel, Slider
from figures.plots import PLOT_WIDTH, axes, plain_ticks, plotted
from figures.scene import OUTLINE, Chart, Picture, centred, dot, ending, filled, in_class, melon, piled
from treekit.models.deep_forest import assign_folds, out_of_fold, with_class_vectors
from treekit.models.random_forest import RandomForestClassifier
from treekit.pen.palette import CLASS_COLORS, REGION, RIPE, UNRIPE, class_color
from treekit.pen.svg import FAINT, circle, element, line, rect, text

UNSEEN, OWN = "have not seen it", "were grown on it"
#: The columns that each of a level's four forests draws at a split.
DRAWN: tuple[str | int, ...] = ("sqrt", "sqrt", 1, 1)


def level_anatomy() -> Picture:
    """One level of a cascade: a row, four forests, their class vectors beside the row, and the next level."""
    forests = ["random forest", "random forest", "completely random", "completely random"]
    top, step = 70, 44

    def arrow_down(x: float, y: float, end: float) -> str:
        head = element("path", d=f"M{x - 5},{end - 8}h10l-5,8z")
        return line(x, y, x, end - 8) + head

    def row_of(y: float, n_vectors: int) -> str:
        """The measurements as empty squares, and behind them three filled ones for each class vector."""
        measured = "".join(rect(20 + 19 * i, y, 15, 15, **OUTLINE) for i in range(6))
        shares = "".join(
            in_class(k, rect(150 + 78 * b + 19 * k, y, 15, 15)) for b in range(n_vectors) for k in range(3)
        )
        return measured + shares

    boxes = "".join(
        rect(150, top + step * b, 170, 32, **OUTLINE, rx=4)
        + centred(235, top + step * b + 21, name)
        + line(75, top + step * b + 16, 150, top + step * b + 16, stroke_opacity=FAINT)
        + line(320, top + step * b + 16, 352, top + step * b + 16, stroke_opacity=FAINT)
        + "".join(in_class(k, rect(356 + 19 * k, top + step * b + 9, 15, 15)) for k in range(3))
        for b, name in enumerate(forests)
    )
    below = top + step * len(forests)
    return Picture(
        alt="Above, a row of six measurements. It goes into four forests, two random and two completely random. Each "
        "gives three shares, one for each class. Below, the same six measurements with the twelve shares behind them: "
        "the row that the next level reads.",
        size=(480, below + 96),
        drawing=text(20, 16, "what level 1 reads: the measurements")
        + row_of(26, 0)
        + line(75, 45, 75, top + step * 3 + 16, stroke_opacity=FAINT)
        + boxes
        + ending(480, 40, "class vectors")
        + arrow_down(75, below + 2, below + 30)
        + arrow_down(383, below + 2, below + 30)
        + text(20, below + 50, "what level 2 reads: measurements and class vectors")
        + row_of(below + 62, 4),
    )


def levels_explorer(X: pd.DataFrame, y: pd.Series, n_levels: int = 4, n_trees: int = 10, seed: int = 0) -> Explorable:
    """Every melon's mean share from level to level of a cascade, and beside it the table that the level reads.

    Below stands how many melons each level so far classifies correctly; a tap there goes to that level. At rest it is
    the last.

    The shares come from forests that have not seen the melon, by cross-validation, or from forests that were grown on
    it. `y` has the labels yes and no.
    """
    names, is_ripe = list(X.index), (y == "yes").to_numpy()
    order = np.argsort(~is_ripe, kind="stable")  # of the lines of the table: ripe melons first
    shares = {
        seen: cascade_shares(X, y, n_levels, n_trees, seed, is_own) for seen, is_own in ((UNSEEN, False), (OWN, True))
    }
    plane = Chart((0, 1), (0, 1), (30, 40, 462, 326))
    half = plane.x(0.5)
    tints = "".join(
        rect(start, 40, width, 286, **filled(kind), fill_opacity=REGION)
        for kind, start, width in ((UNRIPE, 14, half - 14), (RIPE, half, 478 - half))
    )
    background = tints + line(14, 326, 478, 326) + line(half, 40, half, 326, stroke_dasharray="3 4")
    for tick, anchor in ((0, "middle"), (0.5, "middle"), (1, "middle")):
        background += text(plane.x(tick), 347, f"{tick:g}", text_anchor=anchor)
    background += centred(half, 370, "mean share for ripe")
    background += text(14, 26, "predicted unripe") + ending(478, 26, "predicted ripe")
    columns = Chart((0.5, n_levels + 0.5), (0, 1), (14, 386, 478, 434))
    middles = [columns.x(level) for level in range(1, n_levels + 1)]
    width = middles[1] - middles[0] - 8
    for level, x in enumerate(middles, start=1):
        background += rect(x - width / 2, 386, width, 48, **OUTLINE, stroke_opacity=FAINT, rx=4)
        background += centred(x, 405, f"level {level}")

    def right(seen: str, level: int) -> NDArray:
        return (shares[seen][level - 1].mean(axis=0) > 0.5) == is_ripe

    def correct(seen: str, level: int) -> str:
        """The number of melons that the level classifies correctly, in the level's box."""
        return centred(middles[level - 1], 425, f"{right(seen, level).sum()} correct")

    def frame(seen: str, level: int) -> tuple[list[str], str, dict]:
        mean = shares[seen][level - 1].mean(axis=0)
        spots = piled([plane.x(share) for share in mean], 326 - 15)
        good = right(seen, level)
        ringed = "".join(circle(*spot, 16) for spot, is_right in zip(spots, good) if not is_right)
        rings = [element("g", ringed, **OUTLINE, stroke_width=2)] if ringed else []
        wrong = [str(name) for name, is_right in zip(names, good) if not is_right]
        sentence = f"Level {level} classifies {good.sum()} of {len(names)} melons correctly"
        sentence += f", all but {', '.join(wrong)}. " if wrong else ". "
        sure = f"The larger share is {np.maximum(mean, 1 - mean).mean():.3f} on average."
        places = dict(zip(names, spots)) | {"level": (middles[level - 1], 410)}
        return [*rings, *(correct(seen, k) for k in range(1, level + 1))], sentence + sure, places

    step, top = 20, 50
    sheet = "".join(
        ending(38, top + step * i + 15, str(names[n]))
        + text(60, top + step * i + 15, f"{X.iloc[n, 0]:.3f}")
        + text(130, top + step * i + 15, f"{X.iloc[n, 1]:.3f}")
        for i, n in enumerate(order)
    )
    heads = "".join(text(60 + 70 * j, 36, str(name)) for j, name in enumerate(X.columns))

    def reads(seen: str, level: int) -> str:
        """The four shares of the level before, as squares: the fuller, the larger the share of the class."""
        if level == 1:
            return text(210, 36, "no answers yet")
        shapes: dict[tuple[int, int], str] = {}
        for b, forest in enumerate(shares[seen][level - 2]):
            for i, share in enumerate(forest[order]):
                kind, size = (RIPE, share) if share > 0.5 else (UNRIPE, 1 - share)
                box = f"M{214 + 60 * b},{top + step * i + 2}h44v15h-44z"
                shade = min(int(10 * (size - 0.5)), 4)
                shapes[kind, shade] = shapes.get((kind, shade), "") + box
        drawn = "".join(
            element("path", d=d, style=f"fill: {class_color(kind)}; stroke: {class_color(kind)}", fill_opacity=0.2 * k)
            for (kind, k), d in sorted(shapes.items())
        )
        return drawn + text(214, 36, f"answers of level {level - 1}'s four forests")

    return Explorable(
        title="Seventeen rows on their way through the levels",
        alt=f"The {len(names)} melons as numbered circles, hollow if ripe, piled up along a line by the mean share "
        f"that the forests of level {n_levels} give to ripe. A ring marks those on the wrong side of one half. Below, "
        "for each level the number that it classifies correctly.",
        size=(480, 444),
        background=background,
        marks={name: melon(name, ripe, radius=13) for name, ripe in zip(names, is_ripe.tolist())}
        | {"level": rect(-width / 2, -24, width, 48, **OUTLINE, stroke_width=2, rx=4)},
        controls=[
            Choice("Answers for a melon come from forests that", [UNSEEN, OWN]),
            Slider(
                "Level",
                list(range(1, n_levels + 1)),
                start=n_levels,
                opens=1,
                points=[(x, 410) for x in middles],
            ),
        ],
        frame=frame,
        found=lambda seen, level: seen == OWN and bool(right(seen, level).all()),
        guess=Slider(
            f"Your guess: how many of the {len(names)} melons does level {n_levels} classify correctly?",
            list(range(len(names) // 2, len(names) + 1)),
        ),
        challenge="Follow a ringed melon, which lies on the wrong side: do the levels mend it? Then make all "
        f"{len(names)} predictions correct at once. Why is that no good?",
        beside=Panel(
            f"The table that level {n_levels} reads: for each melon its {X.columns[0]} and {X.columns[1]}, and four "
            f"squares for the answers of level {n_levels - 1}'s forests, coloured by class and fuller for a larger "
            "share.",
            (480, top + step * len(names) + 8),
            heads + sheet,
            reads,
        ),
    )


def cascade_shares(X: pd.DataFrame, y: pd.Series, n_levels: int, n_trees: int, seed: int, is_own: bool) -> NDArray:
    """Shares of the second class for the training rows, of shape (levels, forests, rows).

    As in :class:`treekit.CascadeForestClassifier` they come from cross-validation; with `is_own` each forest gives them
    for the very rows that it was grown on.
    """
    label, weight = y.to_numpy(), np.ones(len(y))
    rng, table, shares = np.random.default_rng(seed), X, []
    for _ in range(n_levels):
        fold = assign_folds(np.unique(label, return_inverse=True)[1], weight, 3, rng)
        seeds = rng.integers(2**31, size=4)
        forests = [
            RandomForestClassifier(n_trees, max_features=drawn, random_state=int(s)) for drawn, s in zip(DRAWN, seeds)
        ]
        vectors = [
            forest.fit(table, label).predict_proba(table) if is_own else out_of_fold(forest, table, label, weight, fold)
            for forest in forests
        ]
        shares.append([vector[:, 1] for vector in vectors])
        table = with_class_vectors(X, vectors)
    return np.array(shares)


def leak_by_level(accuracy: pd.DataFrame) -> Picture:
    """Accuracy from level to level, with out-of-fold class vectors and with the forests' own.

    `accuracy` has a row for each level and the columns ("held out", "out of fold"), ("held out", "own") and
    ("training rows", "own").
    """
    levels = accuracy.index.to_numpy(float)
    lowest = float(accuracy["held out"].to_numpy().min())
    plane = Chart((levels[0] - 0.2, levels[-1] + 0.2), (lowest - 0.03, 1.01), (54, 32, 464, 232))

    def curve(column: tuple[str, str], k: int, words: str, rise: float) -> str:
        values = accuracy[column].to_numpy()
        dots = "".join(dot(plane.x(level), plane.y(value)) for level, value in zip(levels, values))
        name = ending(plane.x(levels[-1]), plane.y(values[-1]) + rise, words)
        color = f"stroke: {class_color(k)}"
        return plane.curve(levels, values, style=color, stroke_width=3) + in_class(k, dots) + name

    return Picture(
        alt="Accuracy against the level. With the forests' own vectors it is 1 on the training rows at every level, "
        "while on the held-out rows it falls. With out-of-fold vectors the held-out accuracy stays nearly level, above "
        "the other.",
        size=(480, 290),
        drawing=plane.axes(levels.tolist(), [0.9, 1], "level", "accuracy")
        + curve(("training rows", "own"), 1, "own vectors, training rows", 24)
        + curve(("held out", "out of fold"), 0, "out-of-fold vectors, held-out rows", -14)
        + curve(("held out", "own"), 1, "own vectors, held-out rows", 26),
    )


@plotted
def plot_windows(image: ArrayLike, size: int, step: int) -> None:
    """A square image and, beside it, each window of `size` by `size` pixels that slides over it by `step` pixels."""
    image = np.asarray(image)
    places = range(0, len(image) - size + 1, step)
    _, ax = plt.subplots(figsize=(PLOT_WIDTH, 3.2), layout="constrained")
    scale = size + 1
    shift = len(image) + 3
    ax.imshow(image, cmap="Greys", extent=(0, len(image), len(image), 0))
    ax.add_patch(Rectangle((0, 0), size, size, fill=False, edgecolor=CLASS_COLORS[0], linewidth=3))
    ax.add_patch(Rectangle((0, 0), len(image), len(image), fill=False, edgecolor="grey"))
    for i, top in enumerate(places):
        for j, left in enumerate(places):
            x, y = shift + scale * j, scale * i
            window = image[top : top + size, left : left + size]
            ax.imshow(window, cmap="Greys", vmin=0, vmax=image.max(), extent=(x, x + size, y + size, y))
            color, width = (CLASS_COLORS[0], 3) if i == j == 0 else ("grey", 1)
            ax.add_patch(Rectangle((x, y), size, size, fill=False, edgecolor=color, linewidth=width))
    end = scale * len(places)
    ax.set(xlim=(-0.3, shift + end - 0.7), ylim=(max(end - 0.7, len(image) + 0.3), -0.3))
    ax.axis("off")


@plotted
def plot_accuracy_and_cost(runs: pd.DataFrame) -> None:
    """Mean held-out accuracy, with two standard errors each way, against the number of trees grown, on a log axis.

    `runs` has the columns table, model, trees and accuracy, one line for each split; a mark stands for a model, a
    colour for a table. A model without trees is a dashed line.
    """
    tables, models = runs["table"].unique().tolist(), runs["model"].unique().tolist()
    ax = axes("trees grown, on average (log axis)", "accuracy on held-out rows", height=4.6)
    ax.set_xscale("log")
    ax.set_xlim(runs.loc[runs["trees"] > 0, "trees"].min() / 2, 2 * runs["trees"].max())
    plain_ticks(ax)
    for (table, model), group in runs.groupby(["table", "model"], sort=False):
        color, mark = CLASS_COLORS[tables.index(table)], "oDs"[models.index(model) % 3]
        mean, error = group["accuracy"].mean(), 2 * group["accuracy"].sem()
        trees = group["trees"].mean()
        if trees == 0:
            ax.axhline(mean, color=color, linestyle="--", label=f"{table}, {model}")
        else:
            fill = "none" if mark == "s" else color
            ax.errorbar(
                trees,
                mean,
                error,
                fmt=mark,
                color=color,
                label=f"{table}, {model}",
                markersize=9,
                mfc=fill,
                capsize=4,
            )
    ax.figure.legend(
        loc="outside upper center", ncols=2, frameon=False, columnspacing=1, handlelength=1.5, handletextpad=0.5
    )
