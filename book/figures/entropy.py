"""The figures of the chapter on entropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from figures.charts import Chart, Picture, Spot
from figures.explorable import Choice, Explorable, Place, Places, Scene, Slider, State
from figures.looks import HALO, OUTLINE, centred, ending, filled, grip, in_class, path, stroked
from figures.melons import in_lines, melon, melon_marks, ripe_and_unripe
from figures.plots import READABLE, Plot, axes, current_plot, plotted, side_by_side
from treekit.measures import entropy_of_counts, information_gain, self_information
from treekit.pen.palette import BAR, CLASS_COLORS, GAIN, RIPE, UNRIPE, class_color
from treekit.pen.svg import FAINT, circle, element, line, number, rect, text

BASKET = 8


class _Basket(Scene):
    """A basket of eight melons above an axis of the share that is ripe, and a dot as high as its entropy.

    The basket is as wide as the axis below it, so the border between its ripe and its unripe melons stands above the
    dot. `inside` and `outside` are the heights of the melons that lie in it, and of the others, which may be `faded`.
    """

    def __init__(self, ripe: pd.Series, plane: Chart, inside: float, outside: float, faded: Place = ()) -> None:
        self.ripe, self.plane, self.inside, self.outside = ripe, plane, inside, (outside, *faded)
        self.kinds = [ripe.index[(ripe == "yes") == is_ripe][:BASKET].tolist() for is_ripe in (True, False)]
        self.shares = np.arange(BASKET + 1) / BASKET
        self.bits = entropy_of_counts(np.column_stack([self.shares, 1 - self.shares]))

    def marks(self) -> dict[Any, str]:
        """The dot on the arch, and the melons that may lie in the basket, large enough to be read on a phone."""
        melons = melon_marks((self.ripe == "yes")[[*self.kinds[0], *self.kinds[1]]], 13)
        return {"dot": circle(0, 0, 7) + grip(self.size[0])} | melons

    def places(self, n_ripe: int) -> Places:
        """Each ripe melon that is in the basket keeps an unripe one out of it, and the other way round."""
        places: Places = {"dot": self.spot(n_ripe)}
        for i, pair in enumerate(zip(*self.kinds, strict=True)):
            inside, outside = pair if i < n_ripe else pair[::-1]
            x = self.plane.x((i + 0.5) / BASKET)
            places |= {inside: (x, self.inside), outside: (x, *self.outside)}
        return places

    def spot(self, n_ripe: int) -> Spot:
        return self.plane.at(self.shares[n_ripe], self.bits[n_ripe])

    def slider(self, label: str, **start: Any) -> Slider:
        """How many melons of the basket are ripe, by a slider or by a drag along the axis."""
        points = [(self.plane.x(float(share)), 200) for share in self.shares]
        return Slider(label, list(range(BASKET + 1)), points=points, **start)

    def name(self, words: str) -> str:
        """The name of the upright axis; the line from the basket to the dot stops at its words."""
        return text(0, self.plane.box[1] - 14, words, style=HALO)


def _of_basket(n_ripe: int) -> str:
    return f"{n_ripe} of {BASKET} melons {'is' if n_ripe == 1 else 'are'} ripe"


class _Doubt(_Basket):
    """The basket, and a dot for the doubt of every basket so far: the arch appears as it is walked."""

    size = (480, 360)

    def background(self) -> str:
        return (
            self.plane.axes([0, 0.25, 0.5, 0.75, 1], [0, 0.5, 1], "share of ripe melons")
            + rect(62, 56, 400, 36, **OUTLINE, rx=8)
            + ripe_and_unripe(8, 347)
            + text(0, 27, "left out")
            + text(0, 79, "basket")
        )

    def frame(self, n_ripe: int) -> State:
        (x, y), bits = self.spot(n_ripe), self.bits[n_ripe]
        drawing = "".join(circle(*self.spot(n), 3.5, fill_opacity=0.5) for n in range(n_ripe + 1))
        # The line from the basket to the dot leaves out the words above the axis.
        for top, bottom in [(92, 120), (142, y)] if x < 200 else [(92, y)]:
            drawing += line(x, top, x, bottom, stroke_dasharray="4 4", stroke_opacity=0.6)
        write, aside = (text, 14) if 2 * n_ripe <= BASKET else (ending, -14)
        drawing += write(x + aside, y + (-8 if y > 300 else 18), f"{bits:.3f}", font_weight="bold", style=HALO)
        return [drawing, self.name("doubt about the next melon")], self.sentence(n_ripe), self.places(n_ripe)

    def sentence(self, n_ripe: int) -> str:
        """What the doubt is, and what it counts: the source coding theorem's questions for many draws."""
        bits = self.bits[n_ripe]
        if not bits:
            return f"{_of_basket(n_ripe)}: the next one is no surprise, so the doubt is {bits:.3f}: nothing to ask."
        number, why = (
            (100, "one for each")
            if bits == 1
            else (
                f"about {100 * bits:.0f}",
                "because one may ask about several draws at once",
            )
        )
        return (
            f"{_of_basket(n_ripe)}: the doubt is {bits:.3f}. To find out the kinds of a hundred draws (each melon goes "
            f"back) takes {number} yes-or-no questions, {why}."
        )


def doubt_explorer(ripe: pd.Series) -> Explorable:
    """A basket of eight melons, of which the reader decides how many are ripe: each leaves a dot as high as its doubt.

    The arch is not there at the start; it appears dot by dot, so that the reader can guess it first.
    """
    basket = _Doubt(ripe, Chart((0, 1), (0, 1), (62, 150, 462, 310)), inside=74, outside=22)
    share = basket.bits[1] / max(basket.bits)
    amounts = {"an eighth of the largest": 1 / 8, "a quarter": 1 / 4}
    near = "more than half" if share > 1 / 2 else min(amounts, key=lambda words: abs(amounts[words] - share))
    return basket.explorable(
        title="How much doubt is in a basket of eight?",
        alt="Eight numbered melons, all ripe, lie in a basket, and eight unripe ones above it. Below are axes of the "
        "share of ripe melons and of the doubt about the next one. A dot for each basket shows how the doubt rises "
        "from 0, steeply at first, to 1 for four ripe melons of eight, and falls back to 0 in the same way.",
        controls=[basket.slider("Ripe melons in the basket", start=BASKET, opens=0)],
        guess=Choice(
            "Your guess: how much doubt is there with one ripe melon in eight?",
            [*amounts, "more than half"],
            answer=near,
            truth=f"there it is {basket.bits[1]:.3f} of at most {max(basket.bits):g}",
        ),
        found=lambda n_ripe: n_ripe != 1 and bool(np.isclose(basket.bits[n_ripe], basket.bits[1])),
        challenge="Guess, then move the slider. Which other basket leaves as much doubt as that with one ripe melon?",
    )


class _Surprises(_Basket):
    """The basket again, below each melon a column as high as its surprise: the mean of the columns is the entropy.

    The arch of all means lies over them. A column is as wide as the share of one melon, so the area of a kind is what
    it adds to the entropy.
    """

    size = (480, 414)

    def background(self) -> str:
        left, right = self.plane.box[0], self.plane.box[2]
        return (
            self.plane.axes([0, 0.25, 0.5, 0.75, 1], [0, 1, 2, 3], "share p of ripe melons")
            + rect(left, 8, right - left, 36, **OUTLINE, rx=8)
            + melon("", True, left - 30, 399, 7)
            + text(left - 16, 404, "ripe")
            + melon("", False, right + 6, 399, 7)
            + ending(right - 8, 404, "unripe")
        )

    def surprises(self, n_ripe: int) -> NDArray[np.float64]:
        """How many bits a ripe and an unripe melon surprise by; nothing does where all are alike."""
        shares = np.array([n_ripe, BASKET - n_ripe]) / BASKET
        return self_information(np.where(shares > 0, shares, 1))

    def parts(self, n_ripe: int) -> NDArray[np.float64]:
        """What the ripe and the unripe melons of a basket add to its entropy."""
        return np.array([n_ripe, BASKET - n_ripe]) / BASKET * self.surprises(n_ripe)

    def frame(self, n_ripe: int) -> State:
        p, (x, y) = np.linspace(0, 1, 101), self.spot(n_ripe)
        arch = self.plane.curve(p, entropy_of_counts(np.column_stack([p, 1 - p])))
        mean = line(self.plane.box[0], y, self.plane.box[2], y, stroke_width=2, stroke_dasharray="6 4")
        # The reader's guess is about the columns.
        told = element("g", self.columns(n_ripe) + mean + self.terms(n_ripe), class_="answer")
        write, aside = (text, 12) if 2 * n_ripe <= BASKET else (ending, -12)
        height = write(x + aside, y - 9, f"H {self.bits[n_ripe]:.3f}", font_weight="bold", style=HALO)
        name = self.name("surprise of each melon, and their mean H (bits)")
        return [told, arch, height, name], self.sentence(n_ripe), self.places(n_ripe)

    def columns(self, n_ripe: int) -> str:
        """A column for each melon of the basket, the hollow ones first."""
        drawn, floor, width = "", self.plane.y(0), self.plane.x(1 / BASKET) - self.plane.x(0)
        for i in range(BASKET):
            kind = RIPE if i < n_ripe else UNRIPE
            top = self.plane.y(self.surprises(n_ripe)[int(i >= n_ripe)])
            look = {} if kind == RIPE else {"fill_opacity": BAR}
            drawn += in_class(kind, rect(self.plane.x(i / BASKET) + 3, top, width - 6, floor - top, **look))
        return drawn

    def terms(self, n_ripe: int) -> str:
        """The two products of which the entropy is the sum, each at the side of its columns."""
        counts, surprises, parts = (n_ripe, BASKET - n_ripe), self.surprises(n_ripe), self.parts(n_ripe)
        ripe, unripe = (f"{n}/{BASKET} × {s:.3f} = {part:.3f}" for n, s, part in zip(counts, surprises, parts))
        return text(self.plane.box[0] + 22, 404, ripe) + ending(self.plane.box[2] - 64, 404, unripe)

    def sentence(self, n_ripe: int) -> str:
        bits = self.bits[n_ripe]
        if not bits:
            return f"{_of_basket(n_ripe)}: they are all alike, the next one is no surprise, so H = {bits:.3f} bits."
        ripe, unripe = self.surprises(n_ripe)
        return (
            f"A ripe melon surprises by {ripe:.3f} bits, an unripe one by {unripe:.3f}. On average H = "
            f"{n_ripe}/{BASKET} × {ripe:.3f} + {BASKET - n_ripe}/{BASKET} × {unripe:.3f} = {bits:.3f} bits."
        )


def entropy_explorer(ripe: pd.Series) -> Explorable:
    """The basket of eight melons again: the surprise of each as a column, and their mean, the entropy, on the arch."""
    plane = Chart((0, 1), (0, 3.1), (38, 90, 466, 326))
    basket = _Surprises(ripe, plane, inside=26, outside=26, faded=(1, 1, 0))
    kinds = ["the rarer kind", "the more common kind"]
    more = {kinds[int(np.argmax(basket.parts(n)))] for n in range(1, (BASKET + 1) // 2)}
    rare, common = basket.parts(1)
    lesson = f"in every uneven basket {min(more)} adds more" if len(more) == 1 else "either kind may add more"
    return basket.explorable(
        title="The entropy of a basket",
        alt="Eight melons in a basket, the three ripe ones on the left. Below each is a column as high as its "
        "surprise: 1.415 bits for a ripe one, 0.678 bits for an unripe one. A dashed line marks the mean of the "
        "columns, 0.954 bits. Below the border between the two kinds it meets the arch of the entropy, which rises "
        "from 0 at the share p = 0 to 1 bit at p = 0.5 and falls back to 0 at p = 1.",
        controls=[basket.slider("Ripe melons of eight", start=3)],
        guess=Choice(
            "Your guess: which kind adds more to the entropy?",
            [*kinds, "it depends on the basket"],
            answer="it depends on the basket" if len(more) > 1 else min(more),
            truth=f"{lesson}: {rare:.3f} bits against {common:.3f} with one ripe melon in {BASKET}",
        ),
        found=lambda n_ripe: 2 * n_ripe == BASKET,
        challenge="Guess, then look at every basket. The area of a kind's columns is what it adds: in which mixed "
        "basket do both add the same?",
    )


FRUITS = ("apple", "banana", "cherry", "date")
#: How often each fruit is thought of, in the two games.
GAMES = {"all alike": (1 / 4, 1 / 4, 1 / 4, 1 / 4), "mostly apples": (1 / 2, 1 / 4, 1 / 8, 1 / 8)}


Plan = int | tuple["Plan", "Plan"]


def best_plan(p: Sequence[float], outcomes: Sequence[int]) -> Plan:
    """The questions that find an outcome soonest on average: the outcome itself, or a pair of plans for yes and no.

    This is Huffman's code: the two least likely groups are merged again and again. The last merger is asked first.
    """
    groups: list[tuple[float, int, Plan]] = [(p[i], i, i) for i in outcomes]
    while len(groups) > 1:
        (one, first, plan), (other, _, second), *groups = sorted(groups, key=lambda group: group[:2])
        groups.append((one + other, first, (plan, second)))
    return groups[0][2]


def depths(plan: Plan, depth: int = 0) -> dict[int, int]:
    """How many questions find each outcome, from the left."""
    if isinstance(plan, int):
        return {plan: depth}
    return depths(plan[0], depth + 1) | depths(plan[1], depth + 1)


class _Plans(Scene):
    """The best plans that begin with a question of the reader, in two games: how often they ask, and the limit.

    A block is a fruit, as wide as it is likely; it sinks by one step with each question that it takes to find it. The
    questions are the forks of a tree above the blocks, which lie in its order.
    """

    size = (480, 322)

    plane = Chart((0, 1), (3, 0), (30, 56, 476, 288))
    splits = [(i,) for i in range(4)] + [(0, i) for i in range(1, 4)]
    first = {" or ".join(FRUITS[i] for i in split) + "?": split for split in splits}
    dashed: dict[str, Any] = dict(stroke_dasharray="6 4", stroke_width=2)
    limit = {"style": f"stroke: {class_color(GAIN)}; stroke-width: 5"}  # seen on both sides of the mean where they meet

    def plan(self, game: str, question: str) -> Plan:
        """The best plan that begins with this question."""
        p, yes = GAMES[game], self.first[question]
        return best_plan(p, yes), best_plan(p, [i for i in range(4) if i not in yes])

    def counts(self, game: str, question: str) -> list[int]:
        """The number of questions for each fruit when this one is the first."""
        found = depths(self.plan(game, question))
        return [found[i] for i in range(4)]

    def forks(self, plan: Plan, middles: dict[int, float], depth: int = 0) -> tuple[float, str]:
        """The place of a plan from the left, and the lines from its questions down to its fruits."""
        if isinstance(plan, int):
            return middles[plan], ""
        sides = [self.forks(side, middles, depth + 1) for side in plan]
        x, y = sum(at for at, _ in sides) / 2, self.plane.y(depth)
        drawn = "".join(below for _, below in sides)
        for side, (at, _), word, write in zip(plan, sides, ("yes", "no"), (ending, text)):
            end = self.plane.y(depth + 1) - (21 if isinstance(side, int) else 0)
            drawn += line(x, y, at, end, stroke_opacity=0.6)
            if depth == 0:
                drawn += write((x + at) / 2 + (-8 if word == "yes" else 8), (y + end) / 2, word, style=HALO)
        if depth:
            names = " or ".join(FRUITS[i] for i in sorted(depths(plan[0])))
            drawn += centred(x, y - 6, f"{names}?", style=HALO)
        return x, drawn + circle(x, y, 3)

    def reaches_limit(self, game: str, question: str) -> bool:
        p = np.array(GAMES[game])
        return game == "mostly apples" and bool(np.isclose(p @ self.counts(game, question), entropy_of_counts(p)))

    def frame(self, game: str, question: str) -> State:
        p, n = np.array(GAMES[game]), self.counts(game, question)
        mean, bits = float(p @ n), float(entropy_of_counts(p))
        places: Places = {"mean": (0, self.plane.y(mean))}
        plan, before = self.plan(game, question), 0.0
        for i in depths(plan):
            (x, y), width = self.plane.at(before, n[i]), self.plane.x(float(p[i])) - self.plane.x(0)
            places |= {f"block {i}": (x + 1, y - 21, width - 2, 1), FRUITS[i]: (x + width / 2, y - 7)}
            before += float(p[i])
        root, forks = self.forks(plan, {i: places[FRUITS[i]][0] for i in range(4)})
        forks += centred(root, self.plane.y(0) - 8, question, font_weight="bold", style=HALO)
        asked = " + ".join(f"{share:g} × {count}" for share, count in zip(p, n))
        rest = "exactly the limit" if np.isclose(mean, bits) else f"{mean - bits:g} above the limit"
        sentence = f"Asking “{question}” first takes {asked} = {mean:g} questions on average, {rest} of {bits:g} bits."
        return [forks, self.plane.level(bits, **self.limit)], sentence, places

    def marks(self) -> dict[Any, str]:
        """The line of the mean, and the fruits; one that is tapped is asked about."""
        left, _, right, _ = self.plane.box
        marks: dict[Any, str] = {"mean": line(left, 0, right, 0, **self.dashed)}
        for i, fruit in enumerate(FRUITS):
            asks = {"data_choose": f"{fruit}?"}
            marks[f"block {i}"] = rect(0, 0, 1, 20, **filled(0), fill_opacity=0.3, **asks)
            marks[fruit] = centred(0, 0, fruit, **asks)
        return marks

    def background(self) -> str:
        drawn = ""
        for n in range(4):
            drawn += self.plane.level(n, stroke_opacity=FAINT / 2)
            drawn += ending(20, self.plane.y(n) + 5, n)
        drawn += text(0, 17, "questions") + line(150, 12, 180, 12, **self.dashed) + text(188, 17, "mean number")
        drawn += line(320, 12, 350, 12, **self.limit) + text(358, 17, "the limit")
        return drawn + centred(253, 315, "a box is as wide as its fruit is likely")


def questions_explorer() -> Explorable:
    """The reader asks the first question about four fruits, the best plan asks on: the mean number against its limit.

    A block is a fruit, as wide as it is likely; it sinks by one step with each question that it takes to find it.
    """
    plans = _Plans()
    return plans.explorable(
        title="Which question comes first?",
        alt="Four blocks, as wide as their fruits are likely: apple one half, banana one quarter, cherry and date one "
        "eighth each. They hang from a tree, on steps by the number of questions that each takes if the first one is "
        "whether it is the apple or the banana: two for every fruit. A dashed line at 2 is their mean; a full line at "
        "1.75 is the limit below which no mean goes.",
        controls=[
            Choice("The game", list(GAMES), start="mostly apples", opens="all alike"),
            Choice("First question", list(plans.first), start="apple or banana?"),
        ],
        found=plans.reaches_limit,
        challenge="Change the game to mostly apples, and try every first question. Which one brings the mean furthest "
        "down, to the green limit?",
    )


class _Deals(Scene):
    """The labels of the melons, dealt again and again among the branches of a question, and the gain of each deal."""

    stagger = 20

    size = (480, 302)

    axis = Chart((0, 0.5), (0, 1), (14, 112, 466, 252))

    def __init__(self, attribute: pd.Series, ripe: pd.Series, n_shuffles: int, seed: int) -> None:
        self.attribute, self.ripe = attribute, ripe
        rng = np.random.default_rng(seed)
        # For each deal the melons that had the labels, in the order of those that get them; first as they are.
        self.owners = [ripe.index.to_numpy(), *(rng.permutation(ripe.index) for _ in range(n_shuffles))]
        self.gains = [float(information_gain(attribute, ripe.loc[owner].to_numpy())) for owner in self.owners]
        heights = [sum(np.isclose(self.gains[1 : k + 1], gain)) for k, gain in enumerate(self.gains)]
        pitch = min(11, 130 / max(heights))
        self.dots = [
            circle(self.axis.x(gain), 252 - pitch * (height - 0.5), 0.42 * pitch)
            for gain, height in zip(self.gains, heights)
        ]
        self.spots, self.heads = self.lay_out()

    def lay_out(self) -> tuple[Places, str]:
        """The places of the melons, in two lines in the box of each branch, and these boxes with their names."""
        values, counts = self.attribute.cat.categories.tolist(), self.attribute.value_counts(sort=False)
        columns = [-(-int(counts[value]) // 2) for value in values]
        widths = [max(28 * n + 4, 8 * len(value)) for n, value in zip(columns, values, strict=True)]
        gap, left, spots, heads = (466 - sum(widths)) / (len(values) - 1), 7.0, Places(), ""
        for value, n, width in zip(values, columns, widths, strict=True):
            middle = left + width / 2
            heads += centred(middle, 16, value)
            heads += rect(middle - 14 * n - 2, 24, 28 * n + 4, 60, **OUTLINE, stroke_opacity=FAINT)
            rows = self.attribute.index[self.attribute == value].tolist()
            spots |= {row: (round(x), y) for row, (x, y) in in_lines(rows, middle, 40, n, 28).items()}
            left += width + gap
        return spots, heads

    def reached(self, k: int) -> int:
        """How many of the first k shuffles gain as much as the true labels."""
        return sum(gain >= self.gains[0] - 1e-9 for gain in self.gains[1 : k + 1])

    def frame(self, k: int) -> State:
        places = {owner: self.spots[row] for row, owner in zip(self.ripe.index, self.owners[k])}
        if k == 0:
            return [""], f"The labels as they are: the gain is {self.gains[0]:.3f} bits.", places
        style = f"fill: {class_color(GAIN)}; stroke: {class_color(GAIN)}; stroke-width: 3"
        sentence = (
            f"Shuffle {k}: the gain is {self.gains[k]:.3f} bits by chance. So far the mean is "
            f"{np.mean(self.gains[1 : k + 1]):.3f}, and {self.reached(k)} of {k} shuffles reached {self.gains[0]:.3f}."
        )
        x = number(self.axis.x(float(np.mean(self.gains[1 : k + 1]))))
        mean = path(f"M{x},252l6,9h-12z") + path("M308,280l6,9h-12z") + text(320, 289, "mean of the dots")
        return [*self.dots[1:k], element("g", self.dots[k], style=style), mean], sentence, places

    def background(self) -> str:
        true = self.axis.x(self.gains[0])
        return (
            self.heads
            + "".join(centred(self.axis.x(k / 10), 273, f"{k / 10:g}") for k in range(6))
            + line(14, 252, 466, 252)
            + centred(215, 289, "gain (bits)")
            + ripe_and_unripe(8, 289)
            + line(true, 108, true, 252, stroke_dasharray="6 4", stroke_width=2)
            + ending(true - 7, 118, f"true labels: {self.gains[0]:.3f}")
        )


def shuffle_explorer(attribute: pd.Series, ripe: pd.Series, *, n_shuffles: int = 60, seed: int = 0) -> Explorable:
    """The labels of the melons are dealt again and again among the branches of `attribute`; each gain leaves a dot."""
    deals = _Deals(attribute, ripe, n_shuffles, seed)
    mean, guesses = float(np.mean(deals.gains[1:])), [k / 20 for k in range(9)]

    def truth(guessed: float) -> str:
        told, gap = f"the mean of {n_shuffles} shuffles is {mean:.3f} bits", abs(guessed - mean)
        if 2 * gap < guesses[1]:
            return f"{told}, and no other choice is nearer"
        return f"{told}, {gap:.3f} {'more' if mean > guessed else 'less'} than you guessed"

    branches = ", ".join(f"{value} {n}" for value, n in attribute.value_counts(sort=False).items())
    return deals.explorable(
        title="The labels dealt again",
        alt="The labels of the seventeen melons as numbered circles, hollow if ripe, in the branches of "
        f"{attribute.name}: {branches}. Below, an axis of gains. A dashed line marks that of the true labels, "
        f"{deals.gains[0]:.3f} bits, and dots those of {n_shuffles} shuffles, of which {deals.reached(n_shuffles)} "
        "reach the line.",
        controls=[Slider("Shuffles", list(range(n_shuffles + 1)), start=n_shuffles, opens=0)],
        marks=melon_marks(ripe == "yes", 13),
        guess=Slider(
            "Your guess: the mean gain of shuffled labels",
            guesses,
            show="{:.2f} bits",
            answer=min(guesses, key=lambda guess: abs(guess - mean)),
            truth=truth,
        ),
        found=lambda k: k > 0 and deals.gains[k] >= deals.gains[0] - 1e-9,
        challenge="Guess, then press Play. Does chance ever reach the true gain? Find a shuffle that does.",
    )


def _stacked(x: float, y: float, lines: list[str], **attributes: object) -> str:
    """Write lines of words below each other, centred on x."""
    return "".join(centred(x, y + 18 * i, words, **attributes) for i, words in enumerate(lines))


def surprise_curve() -> Picture:
    """The surprise of an event against its probability; each halving of the probability adds one bit."""
    plane = Chart((0, 1), (0, 5), (30, 40, 368, 240))
    p = np.exp2(-np.linspace(0, 5, 101))
    marks = ""
    for bits in range(5):
        x, y = plane.x(2.0**-bits), plane.y(bits)
        name = f"p = 1/{2**bits}: {bits} bit{'s' * (bits > 1)}" if bits else "p = 1: 0 bits"
        marks += circle(x, y, 5, **filled(0)) + text(x + 9, y - 7, name)
    return Picture(
        alt="The surprise of an event against its probability p. The curve falls: it comes down from infinity near "
        "p = 0, passes 4 bits at one sixteenth, 3 at one eighth, 2 at one quarter and 1 at one half, and ends at 0 "
        "bits for a certain event.",
        size=(480, 290),
        drawing=plane.axes([0, 0.25, 0.5, 0.75, 1], range(6), "probability p of the event", "surprise (bits)")
        + plane.curve(p, self_information(p), **stroked(0))
        + marks,
    )


def branch_entropies(attribute: pd.Series, ripe: pd.Series) -> Picture:
    """The entropy of each branch as a block as wide as its melons, which lie below it by number.

    The area of the blocks is the conditional entropy, the area between them and the entropy before is the gain.
    """
    plane = Chart((0, 1), (0, 1), (34, 50, 466, 270))
    table = pd.crosstab(attribute, ripe)
    counts = table.to_numpy()
    shares = counts.sum(axis=1) / counts.sum()
    heights, before = entropy_of_counts(counts), float(entropy_of_counts(counts.sum(axis=0)))
    gain = before - float(shares @ heights)
    lefts = [plane.x(float(before_it)) for before_it in np.cumsum(shares) - shares]
    base, top = plane.y(0), plane.y(before)
    blocks = ""
    for left, share, height, value in zip(lefts, shares.tolist(), heights.tolist(), table.index, strict=True):
        width, roof = plane.x(share) - plane.x(0), plane.y(height)
        # The words are in the middle of their block, or above a block that is too low for them.
        words = [*str(value).split(), f"{height:.3f}"]
        first = (roof + base) / 2 if height > 0.4 else roof - 36
        blocks += (
            rect(left, roof, width, base - roof, stroke="currentColor", fill_opacity=0.15)
            + rect(left, top, width, roof - top, style=f"fill: {class_color(2)}; fill-opacity: 0.35")
            + _stacked(left + width / 2, first + 5 - 9 * (len(words) - 1) * (height > 0.4), words)
        )
    widest = int(np.argmax(before - heights))
    middle = lefts[widest] + (plane.x(float(shares[widest])) - plane.x(0)) / 2
    found = "; ".join(f"{value}: {sum(n)} melons, {h:.3f} bits" for value, n, h in zip(table.index, counts, heights))
    return Picture(
        alt="One block for each branch, side by side, as wide as its share of the seventeen melons, which lie below it "
        f"with their numbers, and as high as its entropy. {found}. A dashed line at {before:.3f} bits marks the "
        f"entropy before the look. The coloured area between the blocks and the line is the gain, {gain:.3f} bits.",
        size=(480, 345),
        drawing=plane.axes([], [0, 0.5, 1], "", "entropy (bits)")
        + blocks
        + line(plane.x(0), top, plane.x(1), top, stroke_dasharray="6 4", stroke_width=2)
        + ending(plane.x(1), top - 8, f"before the look: {before:.3f}")
        + _stacked(middle, top + 26, ["gain", f"{gain:.3f}"], font_weight="bold")
        + _melons_below(plane, attribute, ripe)
        + centred(250, base + 62, "the melons by number, the ripe ones hollow"),
    )


def _melons_below(plane: Chart, attribute: pd.Series, ripe: pd.Series) -> str:
    """The melons of each branch under its block, the ripe ones first, each with its number."""
    order = pd.DataFrame({"value": attribute.cat.codes, "unripe": ripe != "yes"}).sort_values(["value", "unripe"])
    melons = ""
    for i, (name, is_unripe) in enumerate(order["unripe"].items()):
        x, y = plane.x((i + 0.5) / len(order)), plane.y(0) + 20
        melons += melon(name, not is_unripe, x, y)
    return melons


class _Branches(Scene):
    """Two branches of some melons as dots on the arch, the line between them, and the gain above their mean.

    Their sizes are those of `answers`. The reader moves ripe melons from one branch to the other, and unripe ones come
    back for them, so that the dot of the whole stays where it is.
    """

    size = (480, 372)
    stagger = 20
    plane = Chart((0, 1), (0, 1), (34, 124, 466, 322))

    def __init__(self, answers: pd.Series, ripe: pd.Series) -> None:
        self.is_ripe = ripe == "yes"
        says_yes = answers.sort_values(ascending=False, kind="stable").index  # the real branch first
        self.kinds = [[row for row in says_yes if self.is_ripe[row] == kind] for kind in (True, False)]
        n_yes, n_ripe = int(answers.sum()), int(self.is_ripe.sum())
        self.choices = list(range(max(0, n_yes - len(self.kinds[1])), min(n_yes, n_ripe) + 1))
        self.counts = {
            k: np.array([[n_ripe - k, len(ripe) - n_yes - n_ripe + k], [k, n_yes - k], [n_ripe, len(ripe) - n_ripe]])
            for k in self.choices
        }
        self.real = int((answers & self.is_ripe).sum())
        self.gains = {k: self.gain(k) for k in self.choices}
        self.least = min(self.gains, key=self.gains.__getitem__)

    def bits(self, k: int) -> NDArray[np.float64]:
        """The entropy of the branch of no, of that of yes, and of all melons."""
        return entropy_of_counts(self.counts[k])

    def weights(self, k: int) -> NDArray[np.float64]:
        rows = self.counts[k].sum(axis=1)
        return rows[:2] / rows[2]

    def gain(self, k: int) -> float:
        return float(self.bits(k)[2] - self.weights(k) @ self.bits(k)[:2])

    def spots(self, k: int) -> list[Spot]:
        """The dots of no, of yes and of the whole on the arch, and that of the mean on the line."""
        bits, shares = self.bits(k), self.counts[k][:, 0] / self.counts[k].sum(axis=1)
        on_arch = [self.plane.at(float(share), float(height)) for share, height in zip(shares, bits, strict=True)]
        return [*on_arch, self.plane.at(float(shares[2]), float(bits[2] - self.gain(k)))]

    def background(self) -> str:
        p = np.linspace(0, 1, 101)
        boxes = rect(6, 28, 218, 32, **OUTLINE, rx=8) + rect(238, 28, 238, 32, **OUTLINE, rx=8)
        return (
            boxes
            + self.plane.axes([0, 0.25, 0.5, 0.75, 1], [0, 0.5, 1], "share p of ripe melons")
            + self.plane.curve(p, entropy_of_counts(np.column_stack([p, 1 - p])), stroke_opacity=0.6)
            + text(0, 96, "entropy (bits)")
            + ripe_and_unripe(8, 359)
        )

    def marks(self) -> dict[Any, str]:
        dots = {name: circle(0, 0, 6) for name in ("no", "whole", "mean")}
        taken = rect(0, 0, 5, 1, **filled(GAIN))
        return {"gain": taken, **dots, "yes": circle(0, 0, 8) + grip(self.size[0]), **melon_marks(self.is_ripe, 12)}

    def lie(self, k: int) -> Places:
        """The melons that answer no in the left box, the others in the right one, the ripe ones first."""
        ripe, unripe = self.kinds
        n_unripe = int(self.counts[k][1, 1])
        places: Places = {}
        for left, rows in ((20, ripe[k:] + unripe[n_unripe:]), (252, ripe[:k] + unripe[:n_unripe])):
            places |= {row: (left + 26 * i, 44) for i, row in enumerate(rows)}
        return places

    def frame(self, k: int) -> State:
        no, yes, whole, mean = spots = self.spots(k)
        bits, gain = self.bits(k), self.gains[k]
        places: Places = {"gain": (whole[0] - 2.5, whole[1], 1, mean[1] - whole[1])}
        places |= dict(zip(("no", "yes", "whole", "mean"), spots, strict=True))
        chord = path(f"M{number(no[0])},{number(no[1])}L{number(yes[0])},{number(yes[1])}", **OUTLINE, stroke_width=2)
        aside = 10 if no[0] < yes[0] else -10
        names = self.named("no", no, -aside) + self.named("yes", yes, aside)
        heads = centred(115, 18, f"no: {bits[0]:.3f} bits") + centred(357, 18, f"yes: {bits[1]:.3f} bits")
        told = text(
            whole[0] + 10, min(mean[1] + 22, self.plane.y(0) - 12), f"gain {gain:.3f}", font_weight="bold", style=HALO
        )
        free = 12 if abs(yes[0] - no[0]) > 120 else 28  # above the names of the branches, where they are near
        all_ = centred(whole[0], whole[1] - free, f"all: {bits[2]:.3f}")
        return [chord, heads, names + told + all_], self.sentence(k), places | self.lie(k)

    def named(self, name: str, spot: Spot, aside: float) -> str:
        """Name a dot outside the arch, or above its feet, where there is no room."""
        left, _, right, bottom = self.plane.box
        if spot[1] > bottom - 20:
            return ending(right - 14, bottom - 12, name) if spot[0] > left + 50 else text(left + 14, bottom - 16, name)
        return text(spot[0] + aside, spot[1] - 8, name, text_anchor="end" if aside < 0 else "start")

    def sentence(self, k: int) -> str:
        (_, yes, whole), bits, weights = self.counts[k], self.bits(k), self.counts[k].sum(axis=1)
        mean = " + ".join(f"{weights[i]}/{weights[2]} × {bits[i]:.3f}" for i in (1, 0))
        return (
            f"Of the {weights[1]} melons that answer yes {yes[0]} are ripe, of the {weights[0]} others "
            f"{whole[0] - yes[0]}. The mean {mean} = {bits[2] - self.gains[k]:.3f} lies {self.gains[k]:.3f} below the "
            f"{bits[2]:.3f} bits of all (rounded at the end)."
        )


def arch_explorer(answers: pd.Series, ripe: pd.Series) -> Explorable:
    """The gain of a yes-or-no question as the height of the arch above the line between its two branches.

    The reader drags the branch of yes along the arch; at rest it is where `answers`, a series of truth values, has it.
    """
    branches = _Branches(answers, ripe)
    n_no, n_yes, n = branches.counts[branches.real].sum(axis=1)
    bits, gain, least = branches.bits(branches.real), branches.gains[branches.real], branches.least
    opens = branches.real if branches.real != least else max(branches.choices, key=branches.gains.__getitem__)
    return branches.explorable(
        title="The gain under the arch",
        alt="The arch of the entropy of two classes and the straight line between two of its points, the branches of "
        f"a question: {bits[0]:.3f} bits with {n_no} melons and {bits[1]:.3f} bits with {n_yes}. Above the line, on "
        f"the arch, is the whole: {n} melons, {bits[2]:.3f} bits. Straight below it, on the line, is the mean of the "
        f"branches, {bits[2] - gain:.3f} bits. The distance between the two is the gain, {gain:.3f} bits. The melons "
        "of both branches lie above.",
        controls=[
            Slider(
                f"Ripe melons of the {n_yes} that answer yes",
                branches.choices,
                start=branches.real,
                opens=opens,
                points=[branches.spots(k)[1] for k in branches.choices],
            )
        ],
        found=lambda k: k == least,
        guess=Slider(
            f"Your guess: with how many ripe ones of the {n_yes} does the answer tell least?",
            branches.choices,
            answer=least,
            truth=f"with {least} of {n_yes}, and {branches.counts[least][0, 0]} of the {n_no} others, it gains only "
            f"{branches.gains[least]:.3f} bits",
        ),
        challenge="Guess, then drag the dot of yes along the arch: the other branch follows. Where is the gain, the "
        "line's distance below the arch, smallest?",
    )


@plotted
def plot_three_class_entropy() -> None:
    """Entropy of three classes on the triangle of their shares: one corner a class, the centre an even mix."""
    corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])
    n = 60
    shares = np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]) / n
    x, y = (shares @ corners).T
    ax = axes("", "", height=4)
    filled = ax.tricontourf(x, y, entropy_of_counts(shares), levels=np.linspace(0, 1.6, 9), cmap="Blues")
    plt.colorbar(filled, ax=ax, label="entropy (bits)", shrink=0.8)
    ax.fill(*corners.T, facecolor="none", edgecolor="black", linewidth=1)
    ax.plot(*corners.mean(axis=0), "o", color=CLASS_COLORS[1])
    ax.annotate(
        "even mix", corners.mean(axis=0), xytext=(0, 8), textcoords="offset points", ha="center", color="#fefefe"
    )
    for (cx, cy), name, drop in zip(corners, "ABC", (-0.08, -0.08, 0.03), strict=True):
        ax.text(cx, cy + drop, f"only {name}", ha="center")
    ax.set(aspect="equal", xlim=(-0.1, 1.1), ylim=(-0.1, 0.94))
    ax.axis("off")


def plot_pixels(gain: np.ndarray, mean_ink: np.ndarray) -> Plot:
    """The gain of each pixel beside the share of pictures in which it has ink; both as square grids."""
    side = int(np.sqrt(len(gain)))
    with plt.rc_context(READABLE):
        _, both = side_by_side(2, 4)
        for ax, grid, title, cmap in zip(both, (mean_ink, gain), ("share with ink", "gain (bits)"), ("Greys", "Blues")):
            image = ax.imshow(grid.reshape(side, side), cmap=cmap, vmin=0)
            plt.colorbar(image, ax=ax, location="bottom")
            ax.set(title=title, xlabel="column", ylabel="row", xticks=range(side), yticks=range(side))
            ax.spines[:].set_visible(True)
        return current_plot()  # while words have this size, because the colour bars choose their ticks by it
