"""The figures of the chapter on what a mistake costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, precision_recall_curve, precision_score, recall_score, roc_curve

from figures.charts import Chart, Picture, overlap, tenths, ticks
from figures.explorable import Choice, Explorable, Panel, Places, Scene, Slider, State
from figures.looks import GROUND, HALO, OUTLINE, centred, ending, filled, grip, in_class, painted, path, small, stroked
from figures.melons import melon, melon_marks, ripe_and_unripe
from treekit.pen.palette import BAR, REGION, RIPE, UNRIPE
from treekit.pen.svg import FAINT, circle, element, line, number, rect, text

COIN = 4  # the number of the colour, dark gold
#: The look of a group's dot, whose edge is as wide when it is small.
DOT = {**painted(RIPE), "fill_opacity": 2 * REGION, "stroke_width": 2, "vector_effect": "non-scaling-stroke"}
PITCH, FIRST = 26, 42  # pixels from melon to melon, and where the first one lies


class _Stall(Scene):
    """Melons in a line by their score, the highest first; those left of a cut are sold, and every mistake is paid for.

    Below, the bill of every cut so far; beside it the path of the cuts, up for a ripe melon, to the right for others.
    """

    size = (480, 425)

    def __init__(self, scores: pd.Series, is_ripe: pd.Series, kept: int) -> None:
        order = scores.sort_values(ascending=False, kind="stable").index
        self.ripe, self.kept = is_ripe[order].astype(bool), kept
        self.sold = np.arange(len(order) + 1)
        self.ripe_sold = np.append(0, self.ripe.cumsum())  # of the first melons, for every cut
        self.n_ripe = int(self.ripe.sum())
        self.path = Chart((0, len(order) - self.n_ripe), (0, self.n_ripe), (50, 56, 392, 302))

    def at(self, sold: int) -> float:
        """The pixel column of the cut behind so many melons."""
        return FIRST + PITCH * (sold - 0.5)

    def bills(self, price: int) -> NDArray[Any]:
        """What the mistakes of every cut cost: `price` for an unripe melon sold, `kept` for a ripe one that is not."""
        return np.asarray(price * (self.sold - self.ripe_sold) + self.kept * (self.n_ripe - self.ripe_sold))

    def chart(self, price: int) -> Chart:
        """Where the bills are drawn, the largest of them at the top."""
        left, right = self.at(0), self.at(len(self.ripe))
        return Chart((0, len(self.ripe)), (0, float(self.bills(price).max())), (left, 196, right, 376))

    def best(self, price: int) -> int:
        """The number of melons to sell for the smallest bill."""
        return int(self.bills(price).argmin())

    def background(self) -> str:
        return ripe_and_unripe(24, 14) + circle(196, 14, 5, **filled(COIN)) + text(207, 19, "one yuan")

    def marks(self) -> dict[Any, str]:
        marks = {"sold": rect(0, 0, 1, 48, **filled(RIPE), fill_opacity=REGION), **melon_marks(self.ripe, 12)}
        lowest = circle(0, 0, 8, **OUTLINE, stroke_width=2)
        return marks | {"lowest": lowest, "cut": rect(-1.5, 0, 3, 118) + circle(0, 0, 7) + grip(self.size[0])}

    def frame(self, price: int, sold: int) -> State:
        x, first = self.at(sold), self.at(0)
        places: Places = {"sold": (first, 34, max(x - first, 0.01), 1), "cut": (x, 30)}
        coins = []
        for i, (name, ripe) in enumerate(self.ripe.items()):
            places[name] = (FIRST + PITCH * i, 54 if i < sold else 62)
            if ripe != (i < sold):
                coins.append(self.coins(i, self.kept if ripe else price))
        bills, chart = self.bills(price)[: sold + 1], self.chart(price)
        axes = chart.axes(
            range(0, len(self.ripe) + 1, 3),
            ticks(*chart.ylim),
            "melons sold",
            "the bill in yuan, cut by cut; the lowest so far is ringed",
        )
        spots = chart.pixels(self.sold[: sold + 1], bills)
        steps = [path(f"M{a},{b}L{c},{d}", **OUTLINE) for (a, b), (c, d) in pairwise(spots)]
        dots = "".join(f"M{a},{b}h0" for a, b in spots)
        places["lowest"] = chart.at(int(bills.argmin()), bills.min())
        drawn = path(dots, stroke="currentColor", stroke_width=5, stroke_linecap="round")
        return [axes, *coins, *steps, drawn], self.sentence(price, sold), places

    def coins(self, i: int, n: int) -> str:
        """A pile of coins below melon i."""
        spots = "".join(f"M{FIRST + PITCH * i},{86 + 11 * k}h0" for k in range(n))
        return path(spots, stroke_width=9, stroke_linecap="round", **stroked(COIN))

    def sentence(self, price: int, sold: int) -> str:
        ripe_sold = int(self.ripe_sold[sold])
        wrongly_sold, wrongly_kept = sold - ripe_sold, self.n_ripe - ripe_sold
        return (
            f"{sold} sold, {wrongly_sold} of them unripe; {wrongly_kept} ripe kept. The bill: {wrongly_sold} × {price} "
            f"+ {wrongly_kept} × {self.kept} = {self.bills(price)[sold]} yuan."
        )

    def beside(self) -> Panel:
        right, up = range(len(self.ripe) - self.n_ripe + 1), range(0, self.n_ripe + 1, 2)
        return Panel(
            "The path of the cut: a step up for each ripe melon that is sold, a step to the right for each unripe one.",
            (400, 354),
            text(0, 16, "a ripe melon: one step up, an unripe one: right")
            + self.path.axes(right, up, "unripe melons sold", "ripe melons sold"),
            self.steps,
            {"now": circle(0, 0, 6)},
        )

    def steps(self, price: int, sold: int) -> tuple[list[str], Places]:
        """The path so far, with the melon of each step beside it."""
        spots = [self.path.at(n - ripe, ripe) for n, ripe in zip(self.sold, self.ripe_sold)]
        drawn = []
        for ((x, y), (x_next, y_next)), (name, ripe) in zip(pairwise(spots[: sold + 1]), self.ripe.items()):
            beside = (x + 16, (y + y_next) / 2) if ripe else ((x + x_next) / 2, y - 16)
            step = line(x, y, x_next, y_next, stroke_width=4, **stroked(RIPE if ripe else UNRIPE))
            drawn.append(step + melon(name, ripe, *beside, radius=12))
        return drawn, {"now": spots[sold]}


def cut_explorer(scores: pd.Series, is_ripe: pd.Series, price: int = 5, kept: int = 1, start: int = 9) -> Explorable:
    """Melons in a line by their score: how many of the first are to be sold, where an unripe one costs so many yuan?

    `price` is what an unripe melon costs that is sold, `kept` what a ripe one costs that is kept; the reader can also
    make both mistakes cost the same. The script opens with nothing sold; at rest `start` melons are.
    """
    scene = _Stall(scores, is_ripe, kept)
    best, points = scene.best(price), [(scene.at(k), 0.0) for k in scene.sold.tolist()]
    return scene.explorable(
        title="Every mistake is paid for",
        alt=f"{len(scene.ripe)} numbered melons in a line by their score, hollow if ripe. The first {start} lie "
        f"left of the cut and are sold. Below each mistake lie its coins, {price} below an unripe melon that is sold, "
        f"{kept} below a ripe one that is kept. At the bottom the bill of each cut so far. "
        f"{scene.sentence(price, start)}",
        controls=[
            Choice("An unripe melon sold costs", [price, kept], show="{} yuan"),
            Slider("Melons sold", scene.sold.tolist(), start=start, opens=0, points=points),
        ],
        found=lambda at, sold: at == kept and sold == scene.best(at),
        guess=Slider(
            f"Your guess: an unripe melon sold costs {price} yuan, a ripe one kept {kept}. How many would you sell?",
            scene.sold.tolist(),
            answer=best,
            truth=f"selling {best} costs {scene.bills(price)[best]} yuan, the least of all",
        ),
        challenge=f"Slide the cut and watch the bill. Then let both mistakes cost {kept} yuan: where is it lowest?",
    )


def cost_lines(wrongly_sold: float, wrongly_kept: float, shares: Mapping[str, float]) -> Picture:
    """What selling and what keeping a melon costs on average, over the share of ripe ones; some shares are marked."""
    plane = Chart((0, 1), (0, wrongly_sold), (40, 40, 460, 250))

    def sell(p: float) -> float:
        return wrongly_sold * (1 - p)

    def keep(p: float) -> float:
        return wrongly_kept * p

    even = wrongly_sold / (wrongly_sold + wrongly_kept)
    drawing = plane.axes(
        np.arange(0, 1.01, 0.2), range(int(wrongly_sold) + 1), "share p of ripe melons", "mean cost of a melon, in yuan"
    )
    drawing += plane.curve([0, 1], [sell(0), sell(1)], **stroked(RIPE), stroke_width=3)
    drawing += plane.curve([0, 1], [keep(0), keep(1)], **stroked(UNRIPE), stroke_width=3, stroke_dasharray="7 4")
    drawing += plane.upright(even, stroke_dasharray="2 4") + circle(*plane.at(even, keep(even)), 6)
    drawing += text(*plane.at(0.45, 3.1), "selling (solid)") + text(*plane.at(0.3, 1.1), "keeping (dashed)")
    drawing += centred(plane.x(even), 34, f"{even:.2f}")
    for name, p in shares.items():
        drawing += circle(*plane.at(p, sell(p)), 5) + circle(*plane.at(p, keep(p)), 5)
        x, y = plane.at(p, sell(p))  # the name stands on the side away from where the lines cross
        drawing += text(x + 6, y - 8, name, style=HALO) if p < even / 2 else ending(x - 12, y + 8, name, style=HALO)
    marked = " and ".join(f"{name} at {p:.2f}" for name, p in shares.items())
    return Picture(
        alt=f"Two straight lines over the share of ripe melons. The cost of selling falls from {wrongly_sold:g} yuan "
        f"to 0, that of keeping rises from 0 to {wrongly_kept:g}. They meet at {even:.2f}. Marked are {marked}.",
        size=(480, 300),
        drawing=drawing,
    )


RATES, SHARES = "ROC", "precision and recall"
N_BARS = 20  # of a histogram


class _Threshold(Scene):
    """Scores of two classes as histograms, the positive class upwards, with a threshold between calling and leaving.

    Below, the accuracy as a bar. Beside it a curve, of the two rates or of precision and recall, with the point of the
    threshold.
    """

    size = (400, 402)
    bar = (36, 382, 356, 16)  # of the accuracy: where it begins, how long 1 is, how high

    def __init__(self, scores: NDArray[Any], is_positive: NDArray[np.bool_]) -> None:
        self.scores, self.is_positive = scores, is_positive
        edges = np.linspace(0, 1, N_BARS + 1)
        self.counts = [np.histogram(scores[is_positive == k], edges)[0] for k in (False, True)]
        # As much room above and below as the highest bars need.
        down, up = (float(np.sqrt(count.max())) for count in self.counts)
        self.plane = Chart((0, 1), (-1.1 * down, 1.1 * up), (36, 52, 392, 284))
        self.unit = Chart((0, 1), (0, 1), (50, 46, 392, 296))
        false, found, _ = roc_curve(is_positive, scores)
        precision, recall, _ = precision_recall_curve(is_positive, scores)
        self.curves = {RATES: (false, found), SHARES: (recall[:-1], precision[:-1])}

    def outcome(self, threshold: float) -> tuple[int, int, int, int]:
        """Numbers of the true and false positives, and of the false and true negatives."""
        called = self.scores >= threshold - 1e-9
        cells = [(called, True), (called, False), (~called, True), (~called, False)]
        found, false, missed, left = (int((which & (self.is_positive == truth)).sum()) for which, truth in cells)
        return found, false, missed, left

    def background(self) -> str:
        left, _, right, bottom = self.plane.box
        drawn = self.plane.level(0)
        for root in ticks(*self.plane.ylim, 9):
            drawn += self.plane.level(root, stroke_opacity=FAINT / 2)
            drawn += ending(left - 6, self.plane.y(root) + 5, f"{root**2:g}")
        shares = "".join(centred(self.plane.x(t), bottom + 37, number(t)) for t in (0, 0.2, 0.4, 0.6, 0.8, 1))
        key = rect(36, 4, 12, 12, **filled(1), fill_opacity=BAR) + text(53, 15, "fast, upwards")
        key += rect(172, 4, 12, 12, **filled(0), fill_opacity=BAR) + text(189, 15, "slow, downwards")
        name = centred((left + right) / 2, bottom + 56, "share of votes for fast (heights: square roots)")
        return key + drawn + shares + name + self.accuracy_frame()

    @cached_property
    def bars(self) -> str:
        """The histograms."""
        left, _, right, _ = self.plane.box
        middle, wide, drawn = self.plane.y(0), (right - left) / N_BARS, ""
        for k, counts in enumerate(self.counts):
            for j, root in enumerate(np.sqrt(counts)):
                high = middle - self.plane.y(float(root))
                y = middle - high if k else middle
                drawn += rect(left + wide * j + 1, y, wide - 2, high, **filled(k), fill_opacity=BAR)
        return drawn

    def accuracy_frame(self) -> str:
        """The room of the accuracy's bar, with the mark of those who call nobody."""
        x, y, longest, high = self.bar
        alone = x + longest * (1 - float(self.is_positive.mean()))
        told = ending(x + longest, y - 7, f"nobody called: {1 - self.is_positive.mean():.3f}")
        mark = rect(alone - 1.5, y - 4, 3, high + 8)
        return rect(x, y, longest, high, **OUTLINE, stroke_opacity=FAINT) + told + mark

    def marks(self) -> dict[Any, str]:
        _, top, _, bottom = self.plane.box
        pieces = {("right", k): rect(0, 0, 1, self.bar[3], **filled(k), fill_opacity=BAR) for k in (0, 1)}
        held = element("g", circle(0, 0, 7) + grip(self.size[0]), transform=f"translate(0, {top})")
        return pieces | {"cut": rect(-1.5, top, 3, bottom - top) + held}

    def frame(self, curve: str, threshold: float) -> State:
        x, (first, top, last, bottom) = self.plane.x(threshold), self.plane.box
        found, false, missed, left = self.outcome(threshold)
        start, y, longest, _ = self.bar
        words = text(first, top - 8, f"{missed} missed") + ending(last, top - 8, f"{found} found")
        words += text(first, bottom + 17, f"{left} left alone") + ending(
            last, bottom + 17, f"{false} called for nothing"
        )
        words += text(start, y - 7, f"accuracy {(found + left) / len(self.scores):.3f}", font_weight="bold")
        alone = longest * left / len(self.scores)
        right: Places = {("right", 0): (start, y, alone, 1)}
        right["right", 1] = (start + alone, y, longest * found / len(self.scores), 1)
        sides = rect(first, top, x - first, bottom - top, **filled(0), fill_opacity=REGION)
        sides += rect(x, top, last - x, bottom - top, **filled(1), fill_opacity=REGION)
        return [sides, self.bars, words], self.sentence(threshold), {"cut": (x, 0), **right}

    def sentence(self, threshold: float) -> str:
        found, false, missed, left = self.outcome(threshold)
        recall, precision = found / (found + missed), found / max(found + false, 1)
        return (
            f"Called at {threshold:.2f} or more: {found} of {found + missed} fast patients found, recall {recall:.2f}. "
            f"Of {found + false} called, {found} are fast, precision {precision:.2f}. "
            f"Accuracy {(found + left) / len(self.scores):.3f}, with nobody called {1 - self.is_positive.mean():.3f}."
        )

    def beside(self) -> Panel:
        ticks = [0, 0.2, 0.4, 0.6, 0.8, 1]
        return Panel(
            "A curve in a square of side 1 with the point of the threshold: the ROC curve, from the lower left corner "
            "over the upper left to the upper right, or precision against recall, which falls to the share of the "
            "class.",
            (400, 358),
            self.unit.axes(ticks, ticks, ""),
            self.curve,
            {"now": circle(0, 0, 7)},
        )

    def curve(self, curve: str, threshold: float) -> tuple[list[str], Places]:
        found, false, missed, left = self.outcome(threshold)
        recall = found / (found + missed)
        spots = self.unit.pixels(*self.curves[curve])
        drawn = path("M" + "L".join(f"{x},{y}" for x, y in dict.fromkeys(spots)), **OUTLINE, stroke_width=2)
        if curve == RATES:
            chance, at = self.unit.curve([0, 1], [0, 1], stroke_dasharray="3 4"), (false / (false + left), recall)
            chance += text(self.unit.x(0.6) + 12, self.unit.y(0.6) + 12, "called by chance")
            names = ("false positive rate", "recall (true positive rate)")
        else:
            share = float(self.is_positive.mean())
            chance = self.unit.level(share, stroke_dasharray="3 4")
            chance += text(self.unit.x(0.05), self.unit.y(share) + 17, "called by chance")
            at, names = (recall, found / max(found + false, 1)), ("recall", "precision")
        words = centred(221, 336, names[0]) + text(0, 32, names[1])
        return [drawn + chance + words], {"now": self.unit.at(*at)}


def threshold_explorer(scores: ArrayLike, is_positive: ArrayLike, wanted: float = 0.9) -> Explorable:
    """Shares of votes for two classes, and a threshold: who is called, who is missed, and at which rates.

    `scores` are those of rows that the model has not seen, `is_positive` says which are of the class that is looked
    for. The challenge is to find a share `wanted` of these with as few calls as possible.
    """
    scene = _Threshold(np.asarray(scores, dtype=float), np.asarray(is_positive, dtype=bool))
    thresholds = [0.02, 0.04, 0.06, *(k / 100 for k in range(8, 20, 2)), *(k / 20 for k in range(4, 15))]
    enough = max(t for t in thresholds if scene.outcome(t)[0] >= wanted * scene.is_positive.sum())
    n_called, n = sum(scene.outcome(enough)[:2]), len(scene.scores)
    amounts = [round(n_called * part, -2) for part in (1 / 4, 1 / 2, 1)]  # in hundreds
    points = [(scene.plane.x(t), 0.0) for t in thresholds]
    return scene.explorable(
        title="Who is called in?",
        alt="Two histograms of the forest's shares, upwards of the fast patients and downwards of the slow ones, with "
        "heights by the square roots of their counts: nearly all the slow ones have small shares, the fast ones lie "
        f"everywhere. A threshold divides both; those to its right are called. A bar is as long as the accuracy. "
        f"{scene.sentence(0.5)}",
        controls=[
            Choice("Curve", [RATES, SHARES]),
            Slider("Threshold", thresholds, start=0.5, opens=0.5, show="{:.2f}", points=points),
        ],
        found=lambda curve, threshold: threshold == enough,
        guess=Choice(
            f"Your guess: how many of the {n} must be called, so that {wanted:.0%} of the fast ones are among them?",
            amounts,
            show="about {:.0f}",
            answer=amounts[-1],
            truth=lambda _: f"it takes {n_called} calls",
        ),
        challenge=f"Which is the highest threshold that finds {wanted:.0%} of the fast patients? Watch what that does "
        "to the accuracy.",
    )


def two_parts(scores: ArrayLike, y: ArrayLike, n_groups: int = 10) -> tuple[float, float]:
    """The calibration part and the refinement part of the Brier score, of rows in groups of like scores."""
    table = pd.DataFrame({"p": np.asarray(scores, dtype=float), "y": np.asarray(y, dtype=float)})
    groups = table.groupby(np.minimum((table["p"] * n_groups).astype(int), n_groups - 1))
    share, mean = groups.size() / len(table), groups.mean()
    calibration = share @ (mean["p"] - mean["y"]) ** 2
    return float(calibration), float(share @ (mean["y"] * (1 - mean["y"])))


class _Reliability(Scene):
    """Groups of rows of like probability: what share of each group is positive? A dot on the diagonal kept its word.

    A bar is as high as its group strays, and as wide as its rows make this weigh, so its area is the group's piece of
    the calibration part, n (p - share)² / N; the area of a dot is its number of rows, n, which stands beside it.

    Beside them the Brier scores of all models, in their two parts, as they are or corrected.
    """

    size = (400, 340)
    wide = 400.0  # of a bar, if all rows strayed by 1

    def __init__(
        self, scores: Mapping[str, Mapping[str, NDArray[Any]]], y: NDArray[Any], n_groups: int, n_splits: int
    ) -> None:
        self.scores, self.y, self.n_groups, self.n_splits = scores, y, n_groups, n_splits
        self.ways = self.before, self.after = tuple(next(iter(scores.values())))
        # Some room beyond 0 and 1, so that a large dot hides no number and a wide bar stays inside.
        self.plane = Chart((-0.06, 1.06), (-0.06, 1), (44, 36, 384, 294))
        self.of_all = float(self.y.mean() * (1 - self.y.mean()))  # the score of the same probability for all
        each = {(model, how): p for model, ways in scores.items() for how, p in ways.items()}
        self.parts = {at: two_parts(p, self.y, n_groups) for at, p in each.items()}
        self.brier = {at: float(brier_score_loss(self.y, p)) for at, p in each.items()}
        most = max(self.of_all, *map(sum, self.parts.values()))
        self.strip = Chart((0, most), (0, 1), (4, 54, 336, 254))

    def groups(self, model: str, how: str) -> dict[int, tuple[float, float, int]]:
        """Of each group that has rows: their mean probability, their share of positives, their number."""
        p = self.scores[model][how]
        of = np.minimum((p * self.n_groups).astype(int), self.n_groups - 1)
        return {
            int(k): (float(p[of == k].mean()), float(self.y[of == k].mean()), int((of == k).sum()))
            for k in np.unique(of)
        }

    def compared(self, model: str) -> str:
        """What the correction does to the Brier score, if by more than twice its standard error over the splits."""
        before, after = (
            ((self.scores[model][how] - self.y) ** 2).reshape(self.n_splits, -1).mean(axis=1) for how in self.ways
        )
        gaps = after - before
        if abs(gaps.mean()) <= 2 * gaps.std(ddof=1) / self.n_splits**0.5:
            return "about the same as"
        return "worse than" if gaps.mean() > 0 else "better than"

    def gains(self, model: str) -> bool:
        return self.compared(model) == "better than"

    def background(self) -> str:
        shares = [0, 0.2, 0.4, 0.6, 0.8, 1]
        axes = self.plane.axes(shares, shares, "predicted probability (mean of the group)", "share that was fast")
        key = circle(64, 46, 7, **DOT) + text(80, 51, "a group, its number of patients") + rect(58, 62, 12, 26)
        key += text(80, 73, "a bar: how far it strays;") + text(80, 91, "its area: the calibration part")
        key = element("g", key, style=HALO)
        return axes + self.plane.curve([0, 1], [0, 1], stroke_dasharray="3 4") + key + self.example(0.7, 0.4)

    def example(self, said: float, came: float) -> str:
        """What a dot means, as long as the reader guesses."""
        (x, y), on_line = self.plane.at(said, came), self.plane.y(said)
        stick = rect(x - 4, on_line, 8, y - on_line) + circle(x, y, 9, style=GROUND) + circle(x, y, 9, **DOT)
        words = centred(x, y + 26, f"of such a group {came:.0%} were") + centred(x, y + 44, f"fast, not {said:.0%}")
        return element("g", stick + words, class_="asking", style=HALO)

    def marks(self) -> dict[Any, str]:
        """What the reader guesses is how far the groups stray. A bar lies on its dot, however large this is."""
        dots: dict[Any, str] = {k: circle(0, 0, 20, **DOT, class_="answer") for k in range(self.n_groups)}
        return dots | {("gap", k): rect(-0.5, 0, 1, 1, class_="answer") for k in range(self.n_groups)}

    def frame(self, model: str, how: str) -> State:
        places: Places = {}
        groups = self.groups(model, how)
        for k, (p, share, n) in groups.items():
            x, y = self.plane.at(p, share)
            rows = n / len(self.y)
            places[k] = (x, y, max(rows**0.5, 0.1))  # 0.1: a dot of few rows is still seen
            places["gap", k] = (x, self.plane.y(p), self.wide * rows * abs(p - share), y - self.plane.y(p))
        counts = self.counts(groups, places)
        return [small(counts, class_="answer", style=HALO)], self.sentence(model, how), places

    def counts(self, groups: Mapping[int, tuple[float, float, int]], places: Places) -> str:
        """The number of each group's rows, beside its dot on the side that is freest of dots, bars and numbers."""
        taken: list[Sequence[float]] = [(0, self.plane.box[3] - 2, *self.size)]  # what lies below the axis
        for k in groups:
            (x, y, size), (_, start, wide, high) = places[k], places["gap", k]
            taken.append((x - 20 * size, y - 20 * size, x + 20 * size, y + 20 * size))
            taken.append((x - wide / 2 - 1, min(start, start + high), x + wide / 2 + 1, max(start, start + high)))
        drawn = ""
        for k, (p, share, n) in groups.items():
            (x, y, size), half = places[k], 4 * len(str(n))
            near, far = 20 * size + 4, 20 * size + 14
            sides = [(x, y - near), (x, y + far)][:: 1 if share >= p else -1]
            sides += [(x + near + half, y + 4), (x - near - half, y + 4)]
            boxes = [(a - half, b - 10, a + half, b) for a, b in sides]
            free = min(range(4), key=[sum(overlap(box, other) for other in taken) for box in boxes].__getitem__)
            taken.append(boxes[free])
            drawn += centred(round(sides[free][0]), round(sides[free][1]), n)
        return drawn

    def beside(self) -> Panel:
        key = rect(4, 34, 12, 12) + text(22, 45, "calibration")
        key += rect(118, 34, 12, 12, fill_opacity=2 * REGION) + text(136, 45, "refinement")
        key += rect(230, 34, 12, 12, **OUTLINE, stroke_dasharray="2 3") + text(248, 45, "before correction")
        x, (_, top, _, bottom) = round(self.strip.x(self.of_all)), self.strip.box
        said = f"{self.y.mean():.2f} for every patient"
        alike = text(4, bottom + 18, f"dashed: {said}, score {self.of_all:.3f};")
        alike += text(4, bottom + 36, "beyond it, a model is worse than no model")
        alike += path(f"M{x},{top}V{bottom}", **OUTLINE, stroke_dasharray="3 4")
        return Panel(
            "A bar for the Brier score of each model, in its calibration part and its refinement part. A dashed line "
            f"marks {self.of_all:.3f}, the score of {said}; a bar that crosses it is worse than no model.",
            (400, 296),
            text(4, 24, "Brier score of each model", font_weight="bold") + key + alike,
            self.bars,
        )

    def bars(self, model: str, how: str) -> tuple[list[str], Places]:
        """The scores of all models that use these probabilities, inside the outlines of those before correction."""
        parts = []
        for i, name in enumerate(self.scores):
            y = 54 + 50 * i
            told = text(4, y + 14, name, font_weight="bold" if name == model else "normal", style=HALO)
            # Which one is shown would be a hint.
            parts += [self.bar(name, how, y), element("g", told, class_="answer")]
            parts.append(text(4, y + 14, name, class_="asking", style=HALO))
            parts.append(path(f"M0,{y}h400v50h-400z", fill_opacity=0, data_choose=name))
        return parts, {}

    def bar(self, model: str, how: str, y: float) -> str:
        """A score in its two parts, inside the outline of the model before correction, and what it was there."""
        calibration, refinement = self.parts[model, how]
        middle, end = self.strip.x(calibration), self.strip.x(calibration + refinement)
        was = self.strip.x(sum(self.parts[model, self.before]))
        bar = rect(4, y + 20, middle - 4, 18) + rect(middle, y + 20, end - middle, 18, fill_opacity=2 * REGION)
        bar += rect(4, y + 20, was - 4, 18, **OUTLINE, stroke_dasharray="2 3")
        bar += ending(396, y + 34, f"{self.brier[model, how]:.3f}")
        if how == self.after:
            bar += ending(396, y + 14, f"was {self.brier[model, self.before]:.3f}")
        return element("g", bar, class_="answer")

    def sentence(self, model: str, how: str) -> str:
        """The Brier score, beside that of one probability for all and of the model before correction."""
        calibration, refinement = self.parts[model, how]
        score, name = self.brier[model, how], f"{model[0].upper()}{model[1:]}"
        alone = f"saying {self.y.mean():.2f} to every patient ({self.of_all:.3f})"
        if how == self.before:
            better = "worse" if score > self.of_all else "better"
            return (
                f"{name}: Brier score {score:.3f}, {better} than {alone}. Calibration part {calibration:.3f}, the area "
                f"of its bars; refinement part {refinement:.3f}, how mixed its groups are."
            )
        was, (strayed, told_apart) = self.brier[model, self.before], self.parts[model, self.before]
        why = (
            "Its dots have moved to the line"
            if self.gains(model)
            else "Its bars were thin, so there was little to mend"
        )
        return (
            f"{name}, {how}: Brier score {score:.3f}, {self.compared(model)} before ({was:.3f}). {why}: calibration "
            f"part {calibration:.3f} (was {strayed:.3f}). Patients who looked alike still do, so the other part hardly "
            f"changes: refinement part {refinement:.3f} (was {told_apart:.3f})."
        )


def reliability_explorer(
    scores: Mapping[str, Mapping[str, NDArray[Any]]],
    y: ArrayLike,
    start: tuple[str, str],
    n_groups: int = 10,
    n_splits: int = 10,
) -> Explorable:
    """Reliability diagrams of some models, each before and after a correction of its probabilities.

    `scores` has for each model its probabilities of the positive class, by what they are called before and after the
    correction; `y` holds zeros and ones, of `n_splits` equal splits one after the other. The figure opens with the
    first model, and is at rest with `start`.
    """
    scene = _Reliability(scores, np.asarray(y, dtype=float), n_groups, n_splits)
    models = list(scores)
    strays = {model: scene.parts[model, scene.before][0] for model in models}
    worst = max(models, key=strays.__getitem__)
    only = bool(np.isin(scores[worst][scene.before], (0, 1)).all())

    def verdict(guessed: str) -> str:
        own = f"its calibration part is {strays[guessed]:.3f}"
        if guessed == worst:
            return f"{own}, the largest{', because it says nothing but 0 or 1' * only}"
        return f"{own}; that of the {worst}{', which says nothing but 0 or 1,' * only} is {strays[worst]:.3f}"

    return scene.explorable(
        title="Does it keep its word?",
        alt="A square with the predicted probability to the right and the share of fast courses upwards. One dot for "
        "each group of patients with similar predictions, the larger the more; a bar joins it to the dashed diagonal, "
        "on which predictions keep their word. The areas of the bars add up to the calibration part. "
        f"{scene.sentence(*start)}",
        controls=[
            Choice("Model", models, start=start[0], opens=models[0]),
            Choice("Probabilities", scene.ways, start=start[1], opens=scene.before),
        ],
        found=lambda model, how: 0 if how == scene.before else 1 if model == worst else 2 * (not scene.gains(model)),
        guess=Choice("Your guess: whose probabilities stray furthest?", models, answer=worst, truth=verdict),
        challenge="Correct the model that strays furthest: which part of its score shrinks? Then find the model that "
        "gains nothing.",
    )


def pairs_grid(scores: pd.Series, is_ripe: pd.Series) -> Picture:
    """A cell for each pair of a ripe melon, by rows, and an unripe one, by columns: shaded if the ripe one is first."""
    order = scores.sort_values(ascending=False).index
    ripe, unripe = order[is_ripe[order]], order[~is_ripe[order]]
    side, left, bottom = 30, 60, 34 + 30 * len(ripe)
    drawing, n_won = text(0, 18, "ripe melons, highest score at the bottom"), 0
    for i, a in enumerate(ripe):
        y = bottom - side * (i + 1)
        drawing += melon(a, True, left - 20, y + side / 2)
        for j, b in enumerate(unripe):
            won = scores[a] > scores[b]
            n_won += won
            look = {**filled(RIPE), "fill_opacity": 2 * REGION} if won else {"fill": "none"}
            drawing += rect(left + side * j, y, side, side, stroke="currentColor", stroke_opacity=FAINT, **look)
    for j, b in enumerate(unripe):
        drawing += melon(b, False, left + side * (j + 0.5), bottom + 20)
    steps = np.append(False, is_ripe[order])
    spots = zip((np.cumsum(~steps) - 1).tolist(), np.cumsum(steps).tolist())
    stairs = "L".join(f"{left + side * x},{bottom - side * y}" for x, y in spots)
    drawing += path(f"M{stairs}", **OUTLINE, stroke_width=3)
    drawing += text(0, bottom + 56, "unripe melons, highest score on the left")
    width = left + side * len(unripe)
    return Picture(
        alt=f"A grid with a row for each of {len(ripe)} ripe melons and a column for each of {len(unripe)} unripe, by "
        f"their scores. {n_won} of the {len(ripe) * len(unripe)} cells are shaded: there the ripe one has the higher "
        "score. A staircase from the lower left to the upper right corner divides them from the others.",
        size=(width + 8, bottom + 64),
        drawing=drawing,
    )


def smoothing_curves(largest: int = 20) -> Picture:
    """The estimates that a leaf without a single unripe melon gets, by the number of its melons."""
    plane = Chart((0, largest), (0, 1), (40, 40, 460, 250))
    n = np.arange(largest + 1)
    curves = {
        "the share": (np.ones(largest), n[1:], {}),
        "Laplace": ((n + 1) / (n + 2), n, {"stroke_dasharray": "7 4"}),
        "m = 10, prior 0.1": ((n + 1) / (n + 10), n, {"stroke_dasharray": "2 4"}),
    }
    drawing = plane.axes(
        range(0, largest + 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1], "melons in the leaf, all ripe", "estimate"
    )
    for values, at, look in curves.values():
        drawing += plane.curve(at, values, stroke_width=3, **look) + plane.dots(at, values, 3)
    drawing += text(*plane.at(9, 1.04), "the share: 1 at once") + text(*plane.at(6, 0.78), "Laplace", style=HALO)
    drawing += text(*plane.at(7, 0.37), "m = 10, prior 0.1", style=HALO)
    return Picture(
        alt=f"Estimates for a leaf of 0 to {largest} melons that are all ripe. The share is 1 from the first melon on. "
        "Laplace's estimate begins at one half and rises towards 1, quickly at first. The m-estimate with ten rows of "
        "a prior of 0.1 begins at 0.1 and rises slowly.",
        size=(480, 300),
        drawing=drawing,
    )


def both_curves(scores: ArrayLike, is_positive: ArrayLike, thresholds: Mapping[str, float]) -> Picture:
    """The ROC curve and the precision-recall curve of the same scores, with the points of some thresholds on both."""
    score, positive = np.asarray(scores, dtype=float), np.asarray(is_positive, dtype=bool)
    false, found, _ = roc_curve(positive, score)
    precision, recall, _ = precision_recall_curve(positive, score)
    rates, shares = (Chart((0, 1), (0, 1), (left, 60, left + 190, 250)) for left in (36, 284))
    halves, drawing = [0, 0.5, 1], text(0, 16, "ROC", font_weight="bold")
    drawing += text(248, 16, "precision–recall", font_weight="bold")
    drawing += text(0, 40, "recall") + text(248, 40, "precision")
    drawing += rates.axes(halves, halves, "false positive rate") + shares.axes(halves, halves, "recall")
    drawing += rates.curve([0, 1], [0, 1], stroke_dasharray="3 4")
    drawing += shares.level(float(positive.mean()), stroke_dasharray="3 4")
    drawing += text(rates.x(0.52), rates.y(0.4), "by chance", style=HALO)
    drawing += text(shares.x(0.1), shares.y(float(positive.mean())) - 6, "by chance", style=HALO)
    drawing += rates.curve(false, found) + shares.curve(recall[:-1], precision[:-1])
    told = []
    for name, threshold in thresholds.items():
        called = score >= threshold - 1e-9
        across, up = float(called[~positive].mean()), float(recall_score(positive, called))
        worth = float(precision_score(positive, called))
        drawing += circle(*rates.at(across, up), 5) + circle(*shares.at(up, worth), 5)
        drawing += text(rates.x(across) + 9, rates.y(up) + 14, name, style=HALO)
        drawing += centred(shares.x(up) + 4, shares.y(worth) - 12, name, style=HALO)
        told.append(
            f"At {name} the false positive rate is {across:.2f}, the recall {up:.2f} and the precision {worth:.2f}."
        )
    return Picture(
        alt="Two squares. On the left the ROC curve bends high above the diagonal of chance. On the right precision "
        f"against recall jumps where few are called, and ends on the line of chance at {positive.mean():.2f}. "
        f"{' '.join(told)}",
        size=(480, 298),
        drawing=drawing,
    )


def two_corrections(scores: pd.Series, is_ripe: pd.Series) -> Picture:
    """Platt's curve and isotonic stairs, fitted to the labels of melons by their score; labels are dots at 0 and 1."""
    order = scores.sort_values().index
    s, label = scores[order].to_numpy(), is_ripe[order].to_numpy().astype(int)
    limits = tenths(s)
    plane = Chart(limits, (0, 1), (40, 60, 460, 250))
    drawing = plane.axes(ticks(*limits, 9), [0, 0.2, 0.4, 0.6, 0.8, 1], "sugar", "probability of ripe")
    fine = np.linspace(*limits, 61)
    curve = LogisticRegression(C=1e6).fit(s[:, None], label).predict_proba(fine[:, None])[:, 1]
    steps = IsotonicRegression().fit_transform(s, label)
    begins = np.flatnonzero(np.diff(steps, prepend=-1))
    edges = [limits[0], *(float(s[b - 1] + s[b]) / 2 for b in begins[1:]), limits[1]]  # halfway between two melons
    spans = [(first, last, steps[b]) for (first, last), b in zip(pairwise(edges), begins)]
    drawing += plane.curve(fine, curve, stroke_width=3, stroke_dasharray="7 4", **stroked(RIPE))
    drawing += plane.curve(
        [x for first, last, _ in spans for x in (first, last)],
        [height for *_, height in spans for _ in range(2)],
        stroke_width=3,
    )
    for k in (0, 1):
        drawing += in_class(k, "".join(circle(*plane.at(x, k), 5) for x in s[label == k]))
    for first, last, height in spans[1:-1]:
        at = sum(plane.x(x) for x in (first, last)) / 2
        drawing += centred(at, plane.y(height) - 8, f"{height:.2f}", style=HALO)
    key = ripe_and_unripe(24, 14) + line(200, 14, 232, 14, stroke_width=3, stroke_dasharray="7 4", **stroked(RIPE))
    key += text(240, 19, "Platt’s curve") + line(350, 14, 382, 14, stroke_width=3) + text(390, 19, "stairs")
    worth = " and ".join(f"{height:.2f} for {(steps == height).sum()} melons" for *_, height in spans[1:-1])
    return Picture(
        alt=f"{len(s)} melons by their sugar, at height 1 if ripe and at 0 if not. Platt's curve rises from "
        f"{curve[0]:.2f} to {curve[-1]:.2f} in the form of an S. The isotonic stairs begin at {steps[0]:g}, have steps "
        f"of {worth}, and end at {steps[-1]:g}.",
        size=(480, 300),
        drawing=key + drawing,
    )
