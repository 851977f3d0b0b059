"""The figures of the chapter on entropy."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from figures.explorable import Choice, Explorable, Slider
from figures.plots import PLOT_WIDTH, READABLE, Plot, current_plot, plotted, side_by_side
from figures.scene import (
    HALO,
    OUTLINE,
    Chart,
    Picture,
    centred,
    ending,
    filled,
    in_class,
    melon,
    ripe_and_unripe,
    stroked,
)
from treekit.measures import entropy_of_counts, information_gain, self_information
from treekit.pen.palette import CLASS_COLORS, GAIN, RIPE, UNRIPE, class_color
from treekit.pen.svg import FAINT, circle, element, line, rect, text

BASKET = 8


def _sorted_by_kind(ripe: pd.Series) -> list[list]:
    """As many ripe melons as the basket holds, and as many unripe ones."""
    return [ripe.index[(ripe == "yes") == is_ripe][:BASKET].tolist() for is_ripe in (True, False)]


def _basket_marks(ripe: pd.Series) -> dict[object, str]:
    """The dot on the arch, and the melons that may lie in the basket, large enough to be read on a phone."""
    melons = {row: melon(row, ripe[row] == "yes", radius=13) for rows in _sorted_by_kind(ripe) for row in rows}
    return {"dot": circle(0, 0, 7)} | melons


def _of_basket(n_ripe: int) -> str:
    return f"{n_ripe} of {BASKET} melons {'is' if n_ripe == 1 else 'are'} ripe"


def _above_axis(plane: Chart, words: str) -> str:
    """The name of the upright axis; the line from the basket to the dot stops at its words."""
    return text(0, plane.box[1] - 14, words, style=HALO)


def doubt_explorer(ripe: pd.Series) -> Explorable:
    """A basket of eight melons, of which the reader decides how many are ripe: each leaves a dot as high as its doubt.

    The arch is not there at the start; it appears dot by dot, so that the reader can guess it first. The basket is as
    wide as the axis below it, so the border between its ripe and its unripe melons stands above the dot.
    """
    plane = Chart((0, 1), (0, 1), (62, 150, 462, 310))
    left, _, right, _ = plane.box
    shares = np.arange(BASKET + 1) / BASKET
    doubts = entropy_of_counts(np.column_stack([shares, 1 - shares]))
    kinds = _sorted_by_kind(ripe)

    def frame(n_ripe: int) -> tuple[list[str], str, dict]:
        x, y = plane.x(shares[n_ripe]), plane.y(doubts[n_ripe])
        seen = zip(shares[: n_ripe + 1], doubts[: n_ripe + 1], strict=True)
        drawing = line(x, 92, x, y, stroke_dasharray="4 4", stroke_opacity=0.6) + "".join(
            circle(plane.x(share), plane.y(doubt), 3.5, fill_opacity=0.5) for share, doubt in seen
        )
        places: dict[object, tuple[float, float]] = {"dot": (x, y)}
        for i, (one, other) in enumerate(zip(*kinds, strict=True)):
            inside, outside = (one, other) if i < n_ripe else (other, one)
            center = plane.x((i + 0.5) / BASKET)
            places |= {inside: (center, 74), outside: (center, 22)}
        doubt = f"the doubt is {doubts[n_ripe]:.3f}"
        if doubts[n_ripe] == 0:
            doubt = f"the next one is no surprise, so {doubt}"
        return [drawing, _above_axis(plane, "doubt about the next melon")], f"{_of_basket(n_ripe)}: {doubt}.", places

    return Explorable(
        title="How much doubt is in a basket of eight?",
        alt="Eight numbered melons, all ripe, lie in a basket, and eight unripe ones above it. Below are axes of the "
        "share of ripe melons and of the doubt about the next one. A dot for each basket shows how the doubt rises "
        "from 0, steeply at first, to 1 for four ripe melons of eight, and falls back to 0 in the same way.",
        size=(480, 360),
        background=plane.axes([0, 0.25, 0.5, 0.75, 1], [0, 0.5, 1], "share of ripe melons")
        + rect(left, 56, right - left, 36, **OUTLINE, rx=8)
        + ripe_and_unripe(8, 347)
        + text(0, 27, "left out")
        + text(0, 79, "basket"),
        controls=[
            Slider(
                "Ripe melons in the basket",
                list(range(BASKET + 1)),
                start=BASKET,
                opens=0,
                points=[(plane.x(float(share)), 200) for share in shares],
            )
        ],
        frame=frame,
        marks=_basket_marks(ripe),
        guess=Choice(
            "Your guess: how much doubt is there with one ripe melon in eight?",
            ["an eighth of the largest", "a quarter", "more than half"],
        ),
        found=lambda n_ripe: doubts[n_ripe] == max(doubts),
        challenge="Guess, then exchange melons. Which basket leaves you least sure of the next one?",
    )


def entropy_explorer(ripe: pd.Series) -> Explorable:
    """The basket of eight melons again: its entropy on the arch, and the two parts of which it is the sum."""
    plane = Chart((0, 1), (0, 1), (40, 100, 280, 280))
    p = np.linspace(0, 1, 101)
    kinds = _sorted_by_kind(ripe)
    background = (
        plane.axes([0, 0.5, 1], [0, 0.5, 1], "share p of ripe melons")
        + plane.curve(p, entropy_of_counts(np.column_stack([p, 1 - p])), stroke_opacity=0.6)
        + rect(40, 8, 240, 36, **OUTLINE, rx=8)
        + text(324, plane.box[1] - 14, "share × surprise")
        + line(324, plane.y(0), 364, plane.y(0))
    )

    def frame(n_ripe: int) -> tuple[list[str], str, dict]:
        shares = np.array([n_ripe, BASKET - n_ripe]) / BASKET
        total = float(entropy_of_counts(shares))
        parts = [share * float(self_information(share)) if share else 0.0 for share in shares]
        x, top, split = plane.x(shares[0]), plane.y(total), plane.y(parts[1])
        drawing = (
            text(324, 31, f"{n_ripe} ripe, {BASKET - n_ripe} unripe")
            + line(x, 44, x, top, stroke_dasharray="4 4", stroke_opacity=0.6)
            + line(x, top, 364, top, stroke_dasharray="4 4", stroke_opacity=0.6)
        )
        if total:
            # The lower part has its label at its middle; the upper one too, unless they would touch.
            low = (split + plane.y(0)) / 2 + 5
            high = min((top + split) / 2 + 5, low - 20)
            bars = (
                in_class(RIPE, rect(325, top, 38, split - top - 2))
                + in_class(UNRIPE, rect(325, split + 1, 38, plane.y(0) - split - 2))
                + text(374, high, f"ripe {parts[0]:.3f}")
                + text(374, low, f"unripe {parts[1]:.3f}")
            )
            drawing += element("g", bars, class_="answer")
        places: dict[object, tuple[float, ...]] = {"dot": (x, top)}
        for i, (one, other) in enumerate(zip(*kinds, strict=True)):
            inside, outside = (one, other) if i < n_ripe else (other, one)
            center = plane.x((i + 0.5) / BASKET)
            places |= {inside: (center, 26), outside: (center, 26, 1, 1, 0)}
        return [drawing, _above_axis(plane, "entropy H (bits)")], sentence(n_ripe, shares, total), places

    def sentence(n_ripe: int, shares: np.ndarray, total: float) -> str:
        if not total:
            return f"{_of_basket(n_ripe)}: they are all alike, the next one is no surprise, so H = {total:.3f} bits."
        surprise = self_information(shares)
        return (
            f"A ripe melon surprises by {surprise[0]:.3f} bits, an unripe one by {surprise[1]:.3f}. On average "
            f"H = {n_ripe}/{BASKET} × {surprise[0]:.3f} + {BASKET - n_ripe}/{BASKET} × {surprise[1]:.3f} = "
            f"{total:.3f} bits."
        )

    return Explorable(
        title="The entropy of a basket",
        alt="The entropy of a two-way share p: a curve that rises from 0 at p = 0 to 1 bit at p = 0.5 and falls back "
        "to 0 at p = 1. A point marks a basket with 3 ripe melons of 8; a bar beside it splits its height into the "
        "parts of the ripe and of the unripe melons.",
        size=(480, 328),
        background=background,
        controls=[
            Slider(
                "Ripe melons of eight",
                list(range(BASKET + 1)),
                start=3,
                points=[(plane.x(k / BASKET), 200) for k in range(BASKET + 1)],
            )
        ],
        frame=frame,
        marks=_basket_marks(ripe),
        guess=Choice(
            "Your guess: which kind adds more to the entropy?",
            ["the rarer kind", "the more common kind", "it depends on the basket"],
        ),
        found=lambda n_ripe: 2 * n_ripe == BASKET,
        challenge="Guess, then look at every basket. In which one do both kinds add the same?",
    )


FRUITS = ("apple", "banana", "cherry", "date")
#: How often each fruit is thought of, in the two games.
GAMES = {"all alike": (1 / 4, 1 / 4, 1 / 4, 1 / 4), "mostly apples": (1 / 2, 1 / 4, 1 / 8, 1 / 8)}


def fewest_questions(p: tuple[float, ...]) -> list[int]:
    """How many yes-or-no questions the best plan needs for each outcome: Huffman's code, whose first step is the last.

    The two least likely groups are merged again and again; each merger is one more question for all in them.
    """
    lengths = [0] * len(p)
    groups = [(share, [i]) for i, share in enumerate(p)]
    while len(groups) > 1:
        (one, first), (other, second), *groups = sorted(groups)
        for i in first + second:
            lengths[i] += 1
        groups.append((one + other, first + second))
    return lengths


def questions_explorer() -> Explorable:
    """The reader asks the first question about four fruits, the best plan asks on: the mean number against its limit.

    A block is a fruit, as wide as it is likely; it sinks by one step with each question that it takes to find it.
    """
    splits = [(i,) for i in range(4)] + [(0, i) for i in range(1, 4)]
    names = {" or ".join(FRUITS[i] for i in split) + "?": split for split in splits}
    plane = Chart((0, 1), (3, 0), (104, 44, 476, 288))

    def counts(game: str, question: str) -> list[int]:
        """The number of questions for each fruit when this one is the first."""
        p, yes = GAMES[game], names[question]
        sides = [yes, tuple(i for i in range(4) if i not in yes)]
        below = {i: n for side in sides for i, n in zip(side, fewest_questions(tuple(p[i] for i in side)))}
        return [below[i] + 1 for i in range(4)]

    def frame(game: str, question: str) -> tuple[str, str, dict]:
        p, n = np.array(GAMES[game]), counts(game, question)
        mean, bits = float(p @ n), float(entropy_of_counts(p))
        places: dict[object, tuple[float, ...]] = {}
        for i, left in enumerate(np.cumsum(p) - p):
            x, y = plane.x(float(left)), plane.y(n[i])
            places[f"block {i}"] = (x + 1, y - 21, plane.x(float(p[i])) - plane.x(0) - 2, 1)
            places[FRUITS[i]] = (x + (plane.x(float(p[i])) - plane.x(0)) / 2, y - 5)
        places["mean"] = (0, plane.y(mean))
        level = plane.y(bits)
        drawing = line(plane.x(0), level, plane.x(1), level, style=f"stroke: {class_color(GAIN)}; stroke-width: 3")
        asked = " + ".join(f"{share:g} × {count}" for share, count in zip(p, n))
        rest = "exactly the limit" if np.isclose(mean, bits) else f"{mean - bits:g} above the limit"
        return (
            drawing,
            f"Asking “{question}” first takes {asked} = {mean:g} questions on average, {rest} of {bits:g} bits.",
            places,
        )

    dashed = dict(stroke_dasharray="6 4", stroke_width=2)
    marks = {"mean": line(plane.x(0), 0, plane.x(1), 0, **dashed)}
    for i, fruit in enumerate(FRUITS):  # a fruit that is tapped is asked about
        asks = {"data_choose": f"{fruit}?"}
        marks[f"block {i}"] = rect(0, 0, 1, 20, **filled(0), fill_opacity=0.3, **asks)
        marks[fruit] = centred(0, 0, fruit, **asks)
    steps = "".join(
        line(plane.x(0), plane.y(n), plane.x(1), plane.y(n), stroke_opacity=FAINT / 2)
        + ending(96, plane.y(n) + 5, f"{n} question{'s' * (n != 1)}")
        for n in range(4)
    )
    key = line(104, 12, 134, 12, **dashed) + text(142, 17, "mean number")
    key += line(270, 12, 300, 12, style=f"stroke: {class_color(GAIN)}; stroke-width: 3")
    key += text(308, 17, "the limit")
    return Explorable(
        title="Which question comes first?",
        alt="Four blocks, as wide as their fruits are likely: apple one half, banana one quarter, cherry and date one "
        "eighth each. They lie on steps by the number of questions that each takes if the first one is whether it is "
        "the apple or the banana: two for every fruit. A dashed line at 2 is their mean; a full line at 1.75 is the "
        "limit below which no mean goes.",
        size=(480, 304),
        background=steps + key,
        controls=[
            Choice("The game", list(GAMES), start="mostly apples", opens="all alike"),
            Choice("First question", list(names), start="apple or banana?"),
        ],
        frame=frame,
        marks=marks,
        found=lambda game, question: (
            game == "mostly apples"
            and np.isclose(np.dot(GAMES[game], counts(game, question)), entropy_of_counts(np.array(GAMES[game])))
        ),
        challenge="Change the game to mostly apples. Which first question brings the mean down to the green limit? "
        "Does any go below it?",
    )


def shuffle_explorer(attribute: pd.Series, ripe: pd.Series, *, n_shuffles: int = 60, seed: int = 0) -> Explorable:
    """The labels of the melons are dealt again and again among the branches of `attribute`; each gain leaves a dot."""
    values = attribute.cat.categories.tolist()
    order = attribute.cat.codes.sort_values(kind="stable").index
    counts = attribute.value_counts(sort=False)
    columns = [-(-int(counts[value]) // 2) for value in values]  # the melons of a branch lie in two lines
    widths = [max(28 * n + 4, 8 * len(value)) for n, value in zip(columns, values, strict=True)]
    gap = (466 - sum(widths)) / (len(values) - 1)
    spots, heads, left = {}, "", 7.0
    for value, n, width in zip(values, columns, widths, strict=True):
        middle = left + width / 2
        heads += centred(middle, 16, value)
        heads += rect(middle - 14 * n - 2, 24, 28 * n + 4, 60, **OUTLINE, stroke_opacity=FAINT)
        for i, row in enumerate(order[attribute[order] == value]):
            spots[row] = (round(middle + 28 * (i % n - (n - 1) / 2)), 40 + 28 * (i // n))
        left += width + gap
    axis = Chart((0, 0.5), (0, 1), (14, 112, 466, 252))
    rng = np.random.default_rng(seed)
    # For each deal the melons that had the labels, in the order of those that get them; first as they are.
    owners = [ripe.index.to_numpy(), *(rng.permutation(ripe.index) for _ in range(n_shuffles))]
    deals = [ripe.loc[owner].to_numpy() for owner in owners]
    gains = [float(information_gain(attribute, labels)) for labels in deals]
    heights = [sum(np.isclose(gains[1 : k + 1], gains[k])) for k in range(n_shuffles + 1)]
    pitch = min(11, 130 / max(heights))
    dots = [circle(axis.x(gain), 252 - pitch * (height - 0.5), 0.42 * pitch) for gain, height in zip(gains, heights)]

    def frame(k: int) -> tuple[list[str], str, dict]:
        places = {owner: spots[row] for row, owner in zip(ripe.index, owners[k])}
        if k == 0:
            return [""], f"The labels as they are: the gain is {gains[0]:.3f} bits.", places
        newest = element("g", dots[k], style=f"fill: {class_color(GAIN)}; stroke: {class_color(GAIN)}; stroke-width: 3")
        reached = sum(gain >= gains[0] - 1e-9 for gain in gains[1 : k + 1])
        sentence = (
            f"Shuffle {k}: the gain is {gains[k]:.3f} bits by chance. So far the mean is "
            f"{np.mean(gains[1 : k + 1]):.3f}, and {reached} of {k} shuffles reached {gains[0]:.3f}."
        )
        return [*dots[1:k], newest], sentence, places

    true = axis.x(gains[0])
    ticks = (0, 0.1, 0.2, 0.3, 0.4, 0.5)
    background = (
        heads
        + "".join(centred(axis.x(tick), 273, f"{tick:g}") for tick in ticks)
        + line(14, 252, 466, 252)
        + centred(240, 294, "gain (bits)")
        + ripe_and_unripe(8, 289)
        + line(true, 108, true, 252, stroke_dasharray="6 4", stroke_width=2)
        + ending(true - 7, 118, f"true labels: {gains[0]:.3f}")
    )
    return Explorable(
        title="The labels dealt again",
        alt="The labels of the seventeen melons as numbered circles, hollow if ripe, in the branches of "
        f"{attribute.name}: {', '.join(f'{value} {counts[value]}' for value in values)}. Below, an axis of gains. A "
        f"dashed line marks that of the true labels, {gains[0]:.3f} bits, and dots those of {n_shuffles} shuffles, "
        f"of which {sum(gain >= gains[0] - 1e-9 for gain in gains[1:])} reach the line.",
        size=(480, 302),
        background=background,
        controls=[Slider("Shuffles", list(range(n_shuffles + 1)), start=n_shuffles, opens=0)],
        frame=frame,
        marks={row: melon(row, label == "yes", radius=13) for row, label in ripe.items()},
        guess=Slider(
            "Your guess: the mean gain of shuffled labels",
            [k / 20 for k in range(9)],
            start=0.2,
            show="{:.2f} bits",
        ),
        found=lambda k: k > 0 and gains[k] >= gains[0] - 1e-9,
        challenge="Guess, then press Play. Does chance ever reach the true gain? Find a shuffle that does.",
    )


def guessing_game() -> Picture:
    """Four fruits of unequal probability, as wide as they are likely: each question halves what is left."""
    left, width, height = 0.0, 480.0, 46
    drawing = ""
    questions = [("apple", "1/2", "another fruit"), ("banana", "1/4", "another fruit"), ("cherry", "1/8", "date")]
    for i, (fruit, share, rest) in enumerate(questions):
        top = 28 + 96 * i
        width /= 2
        right = left + width
        # The last question ends the game for both of its fruits.
        ends = right if rest == "date" else left + width / 2
        drawing += (
            rect(left, top, width, height, fill=class_color(0), fill_opacity=0.3, stroke="currentColor")
            + rect(right, top, width, height, **OUTLINE)
            + _stacked(left + width / 2, top + 20, [fruit, share])
            + _stacked(right + width / 2, top + 20, [rest, share])
            + centred(ends, top + 64, f"{i + 1} question{'s' * (i > 0)}")
        )
        if i:
            drawing += ending(left - 10, top + 28, f"{fruit}?")
            drawing += line(left, top - 50, left, top, stroke_dasharray="4 4", stroke_opacity=0.6)
        else:
            drawing += text(0, top - 12, f"{fruit}?")
        left = right
    return Picture(
        alt="A bar for all possibilities is halved again and again. The first question, apple?, takes away half of it; "
        "the second, banana?, half of the rest, a quarter; the third, cherry?, divides the last quarter into cherry "
        "and date, an eighth each. Apple takes 1 question, banana 2, cherry and date 3.",
        size=(480, 290),
        drawing=drawing,
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
    for i, (number, is_unripe) in enumerate(order["unripe"].items()):
        x, y = plane.x((i + 0.5) / len(order)), plane.y(0) + 20
        melons += melon(number, not is_unripe, x, y)
    return melons


def gain_under_the_arch(no: tuple[int, int], yes: tuple[int, int]) -> Picture:
    """The gain of a yes-or-no question as the height of the arch above the chord between its two branches.

    `no` and `yes` are the numbers of ripe and unripe melons in the two branches.
    """
    plane = Chart((0, 1), (0, 1), (34, 52, 466, 252))
    counts = np.array([no, yes, np.add(no, yes)])
    p = np.linspace(0, 1, 201)
    shares, heights = counts[:, 0] / counts.sum(axis=1), entropy_of_counts(counts)
    weights = counts[:2].sum(axis=1) / counts[2].sum()
    mean = float(weights @ heights[:2])
    gain = heights[2] - mean
    x0, x1, x = (plane.x(float(share)) for share in shares)
    y0, y1, y = (plane.y(float(height)) for height in heights)
    ripe = [f"{n} of {n + m} ripe" for n, m in counts]
    return Picture(
        alt="The arch of the entropy of two classes and the straight line between two of its points. They are the "
        f"branches of a question: {ripe[0]}, {heights[0]:.3f} bits, and {ripe[1]}, {heights[1]:.3f} bits. Above the "
        f"line, on the arch, is the whole: {ripe[2]}, {heights[2]:.3f} bits. Straight below it, on the line, is the "
        f"mean of the branches, {mean:.3f} bits. The distance of the two is the gain, {gain:.3f} bits.",
        size=(480, 302),
        drawing=plane.axes([0, 0.25, 0.5, 0.75, 1], [0, 0.5, 1], "share p of ripe melons", "entropy (bits)")
        + plane.curve(p, entropy_of_counts(np.column_stack([p, 1 - p])), stroke_opacity=0.6)
        + line(x0, y0, x1, y1, stroke_width=2)
        + line(x, y, x, plane.y(mean), style=f"stroke: {class_color(2)}; stroke-width: 5")
        + "".join(circle(column, row, 6) for column, row in [(x0, y0), (x1, y1), (x, y), (x, plane.y(mean))])
        + text(x0 + 14, y0 + 14, f"not clear: {heights[0]:.3f}")
        + text(x1 + 12, y1 - 4, f"clear: {heights[1]:.3f}")
        + centred(x, y - 10, f"all: {heights[2]:.3f}")
        + text(x + 12, (y + plane.y(mean)) / 2 + 5, f"gain {gain:.3f}", font_weight="bold")
        + text(x + 10, plane.y(mean) + 20, f"mean {mean:.3f}"),
    )


@plotted
def plot_three_class_entropy() -> None:
    """Entropy of three classes on the triangle of their shares: one corner a class, the centre an even mix."""
    corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])
    n = 60
    shares = np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]) / n
    x, y = (shares @ corners).T
    _, ax = plt.subplots(figsize=(PLOT_WIDTH, 4), layout="constrained")
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
