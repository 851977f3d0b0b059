"""The figures of the chapter on choosing a model."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from figures.charts import Picture
from figures.explorable import Choice, Explorable, Places, Scene, Slider, State
from figures.looks import OUTLINE, centred, ending, path, ringed
from figures.melons import listed, melon_marks, melons_at, ripe_and_unripe
from figures.plots import axes, plain_ticks, plot_columns, plotted
from treekit.pen.palette import BAR, CLASS_COLORS
from treekit.pen.svg import FAINT, circle, element, line, rect, text

BAGS = ("first bag", "second bag", "third bag")
TRIED = (1, 2, 3, 5, 10, 20, 50, 100)  # so many coins of a bag are tossed
PITCH = 9  # pixels from coin to coin in a pile
ABREAST = (0, -1, 1, -2, 2)  # a pile is so many coins wide, and grows from its middle
STEP_NAMES = {"and max_depth": "and depth", "and reg_lambda": "and the others"}  # what the text calls them


class _Coins(Scene):
    """Coins that guess the melons: the best of those tossed on the validation melons, and the same coin on the others.

    A melon that it predicts correctly lies on the upper of two lanes. Below, all coins so far in piles, by how many
    validation melons they get right.
    """

    size = (480, 350)
    stagger = 20
    lanes = {True: 58, False: 158}  # the line between right and wrong, of validation melons and of the others
    floor = 306

    def __init__(self, melons: pd.DataFrame, seed: int) -> None:
        self.ripe = melons["ripe"] == "yes"
        self.validates = np.asarray(melons.index % 2 == 0)
        heads = np.random.default_rng(seed).integers(0, 2, (len(BAGS), max(TRIED), len(melons))) == 1
        self.right = heads == self.ripe.to_numpy()  # by bag, coin and melon
        self.scores = self.right[:, :, self.validates].sum(axis=2)
        self.spots = {
            row: (self.across(k), y) for part, y in self.lanes.items() for k, row in enumerate(self.rows(part))
        }

    @staticmethod
    def across(k: int) -> int:
        """The pixel column of the k-th melon of a lane, and of the coins that get k right."""
        return 34 + 48 * k

    def rows(self, validates: bool) -> list[int]:
        """The numbers of the validation melons, or of the others."""
        return [int(row) for row in self.ripe.index[self.validates == validates]]

    def best(self, bag: str, n: int) -> int:
        """The place of the coin that gets most validation melons right; of equal ones the first."""
        return int(self.scores[BAGS.index(bag), :n].argmax())

    def n_right(self, bag: str, n: int) -> dict[bool, int]:
        """How many validation melons the best coin gets right, and how many of the others."""
        right = self.right[BAGS.index(bag), self.best(bag, n)]
        return {part: int(right[self.validates == part].sum()) for part in self.lanes}

    def background(self) -> str:
        """The two lanes, the line below the piles with its numbers, and the key."""
        names = {True: "validation melons; above the line: correct", False: "test melons"}
        lanes = "".join(
            text(0, y - 40, names[part]) + line(16, y, 464, y, stroke_opacity=FAINT) for part, y in self.lanes.items()
        )
        n = len(self.rows(True))
        numbers = "".join(centred(self.across(k), self.floor + 18, k) for k in range(n + 1))
        piles = text(0, 222, "all coins tossed, ringed: the best") + line(10, self.floor, 444, self.floor)
        words = text(0, 343, f"validation melons right, of {n}")
        return lanes + piles + numbers + words + ripe_and_unripe(340, 338)

    def marks(self) -> dict[Any, str]:
        """The melons, and a ring for the best coin."""
        return {**melon_marks(self.ripe.to_dict(), 12), "best": ringed([(0, 0, 7)])}

    def pile(self, bag: str) -> list[tuple[int, int]]:
        """Where each coin of a bag lies."""
        score = pd.Series(self.scores[BAGS.index(bag)])
        nth = score.groupby(score).cumcount()
        return [
            (self.across(s) + PITCH * ABREAST[k % len(ABREAST)], self.floor - 7 - PITCH * (k // len(ABREAST)))
            for s, k in zip(score.tolist(), nth.tolist())
        ]

    def frame(self, bag: str, n: int) -> State:
        best, coins = self.best(bag, n), self.pile(bag)
        right = dict(zip(self.ripe.index, self.right[BAGS.index(bag), best]))
        places: Places = {row: (x, y - 14 if right[row] else y + 14) for row, (x, y) in self.spots.items()}
        places["best"] = coins[best]
        parts = [
            ending(476, self.lanes[part] - 40, f"{k} of {len(self.rows(part))} right")
            for part, k in self.n_right(bag, n).items()
        ]
        tossed = (0, *TRIED[: TRIED.index(n) + 1])
        batches = ("".join(circle(x, y, 3.5) for x, y in coins[a:b]) for a, b in itertools.pairwise(tossed))
        return [*parts, *batches], self.sentence(bag, n), places

    def sentence(self, bag: str, n: int) -> str:
        right = self.n_right(bag, n)
        who = "One coin gets" if n == 1 else f"Of {n} coins the best gets"
        return (
            f"{who} {right[True]} of the {len(self.rows(True))} validation melons right, "
            f"and {right[False]} of the {len(self.rows(False))} test melons."
        )


def coins_explorer(melons: pd.DataFrame, seed: int = 0) -> Explorable:
    """Bags of coins that predict the melons: the best coin of those tossed, on the melons that chose it and on others.

    The melons with even numbers are the validation melons; `melons` has the column ripe (yes, no).
    """
    scene, most = _Coins(melons, seed), max(TRIED)
    right = [scene.n_right(bag, most) for bag in BAGS]
    sizes = {part: len(scene.rows(part)) for part in scene.lanes}
    return scene.explorable(
        title="The best of a hundred coins",
        alt=f"{len(melons)} melons as numbered circles, hollow if ripe, in two lanes: {sizes[True]} validation melons "
        f"and {sizes[False]} test melons. Those that the best coin of the first bag predicts correctly lie above the "
        f"line: {right[0][True]} of the validation melons, {right[0][False]} of the test melons. Below, the {most} "
        f"coins of the bag as dots, piled up by the number of validation melons that they get right: most "
        f"get about half right, and a ring marks the best.",
        controls=[
            Choice("Toss", list(BAGS)),
            Slider("Coins tossed", list(TRIED), start=most, opens=1),
        ],
        found=lambda bag, n: (BAGS.index(bag) + 1) * (n == most),
        guess=Slider(
            f"Your guess: of {most} coins we keep the one that does best on the {sizes[True]} validation melons. "
            f"How many of the {sizes[False]} test melons can we expect it to get right?",
            [k / 2 for k in range(2 * sizes[False] + 1)],
            answer=sizes[False] / 2,
            truth=f"a coin has learned nothing, so {sizes[False] / 2:g} of {sizes[False]} are to be expected",
        ),
        challenge=f"Toss all {most} coins of each bag, and find how the best one does on the test melons.",
    )


def nested_folds(melons: pd.DataFrame, n_folds: int = 3, n_test: int = 5, seed: int = 0) -> Picture:
    """One split of the melons: a line for each fold of the training melons, which are boxed, and the last fit.

    The test melons are pale until all choices are made.
    """
    ripe = melons["ripe"] == "yes"
    shuffled = np.random.default_rng(seed).permutation(melons.index)
    of_class = [[int(row) for row in shuffled if ripe[row] == kind] for kind in (False, True)]
    order = [row for pair in itertools.zip_longest(*of_class) for row in pair if row]  # every fold has both classes
    training, test = order[:-n_test], order[-n_test:]
    folds = [fold.tolist() for fold in np.array_split(training, n_folds)]
    x = {row: 17 + 27 * i + 12 * (row in test) for i, row in enumerate(order)}

    def drawn(rows: Sequence[int], y: float) -> str:
        return melons_at(ripe[rows], [(x[row], y) for row in rows], 12)

    def boxed(rows: Sequence[int], y: float) -> str:
        return rect(x[rows[0]] - 15, y - 17, x[rows[-1]] - x[rows[0]] + 30, 34, rx=4, **OUTLINE, stroke_width=2.5)

    drawing = text(2, 16, f"{len(training)} training melons") + text(x[test[0]] - 15, 16, f"{n_test} test melons")
    for k, fold in enumerate(folds):
        y = 62 + 62 * k
        drawing += text(
            2, y - 24, f"fold {k + 1}: {len(training) - len(fold)} train, the {len(fold)} in the box choose"
        )
        drawing += drawn(training, y) + boxed(fold, y) + element("g", drawn(test, y), opacity=0.25)
    y = 62 + 62 * n_folds
    drawing += text(2, y - 24, f"then all {len(training)} train, the {n_test} in the box judge")
    return Picture(
        alt=f"One split of {len(order)} melons: {len(training)} training melons and {n_test} test melons. In a line "
        f"for each fold, a box holds the training melons that choose, {'; '.join(map(listed, folds))}, and the test "
        f"melons are pale. In the last line the box holds the test melons, {listed(test)}, which judge.",
        size=(480, y + 56),
        drawing=drawing + drawn(order, y) + boxed(test, y) + ripe_and_unripe(340, y + 42),
    )


@plotted
def plot_best(shares: pd.DataFrame) -> None:
    """The share of validation rows that the best coin gets right: by the number of coins, the index of `shares`.

    A column for each number of validation rows; a level line at what any coin gets right of test rows.
    """
    ax = axes("coins tried", "share right")
    ax.set_xscale("log")
    plot_columns(ax, shares, ["-", "--", ":"], "best coin on {} validation rows")
    ax.axhline(0.5, color="#000000", linewidth=0.8)
    ax.text(shares.index[-1], 0.49, "the same coin on test rows", ha="right", va="top")
    plain_ticks(ax)
    ax.set_ylim(0.4, 1.02)
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1))


@plotted
def plot_pairs(losses: pd.DataFrame) -> None:
    """The losses of two models, the columns of `losses`: a line for each split from one model to the other."""
    ax = axes("", "loss (mean of XGBoost's defaults: 1)")
    for _, (first, second) in losses.iterrows():
        color = CLASS_COLORS[0] if first < second else CLASS_COLORS[1]
        ax.plot([0, 1], [first, second], "o-" if first < second else "o--", color=color)
    ax.set_xticks([0, 1], losses.columns)
    ax.set_xlim(-0.3, 1.3)


def tested_rows(is_test: pd.DataFrame) -> Picture:
    """A line for each row of a table, a box for each split: full where the row is a test row; and how many are."""
    counts, drawing = is_test.sum(axis=1), text(0, 16, "tumour") + ending(478, 16, "tested")
    n_rows, n_splits = is_test.shape
    drawing += centred(250, 16, f"splits 1 to {n_splits}; grey: a test row")
    for i, (name, line_) in enumerate(is_test.iterrows()):
        y = 26 + 21 * i
        drawing += ending(44, y + 14, name) + ending(460, y + 14, counts[name])
        for j, tested in enumerate(line_):
            look: dict[str, Any] = {"fill_opacity": BAR} if tested else dict(OUTLINE, stroke_opacity=FAINT)
            drawing += rect(60 + 18.5 * j, y, 16, 18, **look)
    return Picture(
        alt=f"A line of {n_splits} boxes, one for each split, for each of {n_rows} rows, full where the row is a test "
        f"row. That is so on {counts.min()} to {counts.max()} of the splits.",
        size=(480, 30 + 21 * n_rows),
        drawing=drawing,
    )


def tried_in_turn(losses: pd.DataFrame) -> Picture:
    """The losses of two values of one parameter, the index, and two of another, the columns, as boxes.

    The first parameter's turn leads from the upper left box down, the second's then to the right; the upper right box
    is not tried.
    """
    (start, winner), (all_, few) = losses.index, losses.columns
    x, y = {all_: 90, few: 330}, {start: 34, winner: 134}
    drawing = "".join(centred(across + 65, 16, name) for name, across in x.items())
    for value, column in itertools.product(y, x):
        look = {"stroke_dasharray": "4 4"} if (value, column) == (start, few) else {"stroke_width": 2}
        drawing += rect(x[column], y[value], 130, 48, rx=4, **OUTLINE, **look)
        drawing += centred(x[column] + 65, y[value] + 29, f"{losses.loc[value, column]:.2f}")
    drawing += "".join(text(0, down + 29, value) for value, down in y.items())
    drawing += path("M155,88V126M150,116L155,126L160,116", **OUTLINE) + text(168, 112, "first turn: depth")
    drawing += path("M226,158H322M312,153L322,158L312,163", **OUTLINE) + centred(274, 148, "second turn:")
    drawing += centred(274, 178, "columns") + centred(395, 101, "not tried")
    return Picture(
        alt=f"Four boxes with mean losses. Tuned in turn, the way goes from {start} with {all_}, "
        f"{losses.loc[start, all_]:.2f}, down to {winner} with {all_}, {losses.loc[winner, all_]:.2f}, and then to the "
        f"right, to {winner} with {few}, {losses.loc[winner, few]:.2f}. The box of {start} with {few}, "
        f"{losses.loc[start, few]:.2f}, is dashed: it is not tried.",
        size=(480, 188),
        drawing=drawing,
    )


def dots(ax: plt.Axes, x: pd.Series, y: pd.Series, is_full: pd.Series, color: str = CLASS_COLORS[0]) -> None:
    """Dots that are full where something is safe."""
    ax.scatter(x, y, 49, np.where(is_full, color, "#ffffff"), edgecolors=color, zorder=3)


@plotted
def plot_leads(leads: pd.DataFrame, error_of: Callable[[pd.Series], float]) -> None:
    """The mean of each column of `leads`, divided by its usual standard error and by that of `error_of`.

    The columns' names stand above their lines, mean and error beside them. Right of the line at 2 a lead is safe.
    """
    ax, color = axes("lead, divided by its standard error\nin numbers: lead ± corrected error", "", 5), CLASS_COLORS[0]
    mean, error, place = leads.mean(), leads.apply(error_of), np.arange(leads.shape[1])
    usual, corrected = mean / leads.sem(), mean / error
    ax.vlines(np.full(len(place), 2), place - 0.15, place + 0.35, color="#000000")  # not through the names
    ax.hlines(place, corrected, usual, color=color, linewidth=1)
    ax.plot(usual, place, "|", color=color, markersize=12, markeredgewidth=2.5, label="by the usual error")
    dots(ax, corrected, place, corrected > 2)
    ax.plot([], [], "o", color=color, markerfacecolor="#ffffff", label="corrected (full: safe)")
    for k, name in enumerate(leads):
        told = f"{mean[name]:.2f} ± {error[name]:.2f}"
        ax.text(0.01, k - 0.22, name, transform=ax.get_yaxis_transform())
        ax.text(1, k - 0.22, told, ha="right", transform=ax.get_yaxis_transform())
    ax.set_yticks([])
    ax.set(xlim=(0, None), ylim=(len(place) - 0.6, -0.7))
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)


@plotted
def plot_steps(losses: pd.DataFrame, error_of: Callable[[pd.Series], float]) -> None:
    """The mean loss after each step, a line for each table; that of the first step is 1.

    `losses` has the columns table, model, split and loss, a line for each split. A dot is full where what was gained
    since the first step is larger than its error.
    """
    ax, steps = axes("", "loss (mean of XGBoost's defaults: 1)", 4.4), losses["model"].unique()
    place, ends = np.arange(len(steps)), {}
    for color, (table, each) in zip(CLASS_COLORS, losses.groupby("table", sort=False), strict=True):
        loss = each.pivot(index="split", columns="model", values="loss")[steps]
        gain = loss.rsub(loss[steps[0]], axis=0)
        ax.plot(place, loss.mean(), color=color)
        dots(ax, place, loss.mean(), gain.mean() > gain.apply(error_of), color)
        ends[table] = loss.mean().iloc[-1], color
    height = 0.0
    for table, (end, color) in sorted(ends.items(), key=lambda item: item[1]):
        height = max(end, height + 0.035)  # names do not lie on each other
        ax.text(place[-1] + 0.1, height, table, color=color, va="center")
    ax.set_xticks(place, [STEP_NAMES.get(name, name) for name in steps])
    ax.set_xlim(-0.2, len(steps) - 0.25)
