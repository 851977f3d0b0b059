"""The figures of the introduction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.charts import Chart, Picture
from figures.explorable import Explorable, Scene, Slider, State
from figures.looks import OUTLINE, centred, dot, ending, grip, in_class, ringed
from treekit.datasets import load_lunch
from treekit.pen.palette import class_color
from treekit.pen.svg import element, line, number, rect, text


def arrow(x: float, y: float) -> str:
    """A dish whose price is off the chart."""
    return element("path", d=f"M{number(x - 6)},{number(y + 5)}h12l-6,-10z")


def code_lines(lines: list[tuple[int, str]], y: float) -> str:
    """Lines of code, each with its indent, from the first baseline `y` down."""
    written = (text(306 + 16 * indent, y + 22 * i, words) for i, (indent, words) in enumerate(lines))
    return element("g", "".join(written), font_family="ui-monospace, Consolas, monospace")


class _Lunch(Scene):
    """The twelve dishes in a plane of distance and price, in which two limits make a region."""

    def __init__(self, box: tuple[float, float, float, float]) -> None:
        lunches = load_lunch()
        self.names, self.eaten = lunches.index, (lunches["eat"] == "yes").to_numpy()
        self.far, self.cost = lunches["distance_m"].to_numpy(), lunches["price_yuan"].to_numpy()
        self.plane = Chart((0, 700), (0, 50), box)
        # What lies beyond the picture is drawn on its edge.
        self.spots = [self.plane.at(min(x, 700), min(y, 50)) for x, y in zip(self.far, self.cost)]

    def axes(self, ylabel: str) -> str:
        return self.plane.axes([0, 200, 400, 600], range(0, 51, 10), "distance (m)", ylabel)

    def dishes(self, rows: NDArray[np.bool_]) -> str:
        """Some dishes as dots, or as arrows where the price is off the chart."""
        return "".join((dot if self.cost[i] <= 50 else arrow)(*self.spots[i]) for i in np.flatnonzero(rows))

    def marks(self) -> dict[Any, str]:
        """The corner of the region, which the reader drags."""
        corner = rect(-8, -8, 16, 16, rx=3, fill_opacity=0.15, stroke="currentColor", stroke_width=2)
        return {"handle": corner + grip(self.size[0])}

    def region(self, distance: float, price: float) -> str:
        (x, y), (left, _, _, bottom) = self.plane.at(distance, price), self.plane.box
        return rect(left, y, x - left, bottom - y, style=f"fill: {class_color(1)}; fill-opacity: 0.15")

    def wrong(self, distance: float, price: float) -> NDArray[np.bool_]:
        """Which dishes the rule of these limits gets wrong."""
        return ((self.far <= distance) & (self.cost <= price)) != self.eaten

    def frame(self, distance: float, price: float) -> State:
        (x, y), (left, _, _, bottom) = self.plane.at(distance, price), self.plane.box
        wrong = self.wrong(distance, price)
        drawing = [
            self.region(distance, price),
            line(left, y, x, y, stroke_width=2) + line(x, y, x, bottom, stroke_width=2),
            ringed(((*self.spots[i], 10) for i in np.flatnonzero(wrong)), width=1.5),
            code_lines([(0, f"if distance ≤ {distance}:")], y=50),
            code_lines([(1, f"if price ≤ {price}:")], y=72),
        ]
        names = f", wrong for {', '.join(self.names[wrong])}" * bool(wrong.any())
        sentence = f"At most {distance} m and {price} yuan: right for {(~wrong).sum()} of {len(wrong)} dishes{names}."
        return drawing, sentence, {"handle": (x, y)}


def lunch_explorer() -> Explorable:
    """The lunch tree seen twice, as a region of the plane and as nested questions; the reader moves both limits."""
    lunch = _Lunch((32, 40, 288, 250))
    plane, distances, prices = lunch.plane, list(range(100, 701, 100)), list(range(5, 51, 5))
    points = [(plane.x(distance), 40) for distance in distances], [(32, plane.y(price)) for price in prices]
    # The colours are those of the drawn trees: classes in sorted order, no before yes.
    key = (
        in_class(1, lunch.dishes(lunch.eaten) + dot(316, 189))
        + in_class(0, lunch.dishes(~lunch.eaten) + dot(316, 213) + arrow(316, 236))
        + ringed([(316, 261, 10)], width=1.5)
        + text(334, 194, "we ate there")
        + text(334, 218, "we did not")
        + text(334, 242, "price off the chart")
        + text(334, 266, "the rule is wrong")
    )
    return lunch.explorable(
        title="Two limits for lunch",
        alt="Twelve dishes as points by distance and price. The five dishes that we ate are near and cheap. The rule, "
        "at most 200 metres and 20 yuan, is a shaded rectangle that holds these five and no others; next to it is the "
        "same rule as two nested questions.",
        background=lunch.axes("price (yuan)")
        + key
        + code_lines([(2, "eat"), (1, "else: stay"), (0, "else: stay")], y=94),
        controls=[
            Slider("Largest distance", distances, start=200, opens=400, show="{} m", points=points[0]),
            Slider("Largest price", prices, start=20, opens=30, show="{} yuan", points=points[1]),
        ],
        found=lambda distance, price: not lunch.wrong(distance, price).any(),
        challenge="Drag the corner of the region. Can you find two limits that get every dish right?",
    )


def _card(x: float, y: float, words: str, is_leaf: bool = False) -> str:
    """A node of the tree that is drawn by hand."""
    width, corner = (100, 20) if is_leaf else (170, 6)
    return rect(x - width / 2, y, width, 40, rx=corner, **OUTLINE) + centred(x, y + 25, words, font_weight="bold")


def _branch(x1: float, x2: float, y: float, answer: str) -> str:
    """The line down from the card at (x1, y) to the one at x2, its answer on the outer side."""
    anchor, gap = ("end", -14) if x2 < x1 else ("start", 14)
    return line(x1, y + 40, x2, y + 110) + text((x1 + x2) / 2 + gap, y + 79, answer, text_anchor=anchor)


def _name(x: float, y: float, words: str, anchor: str = "start") -> str:
    return text(x, y, words, font_style="italic", text_anchor=anchor)


def lunch_anatomy() -> Picture:
    """The lunch tree as one draws it by hand, with the names of its parts."""
    return Picture(
        alt="A tree of five nodes. The root asks: distance at most 200 metres? Its branch no leads to the leaf eat "
        "no. Its branch yes leads to an inner node, which asks: price at most 20 yuan? From there, yes leads to the "
        "leaf eat yes, and no to the leaf eat no. The root has depth 0; the inner node and the first leaf 1; the last "
        "two leaves 2.",
        size=(480, 280),
        drawing=_branch(215, 130, 10, "yes")
        + _branch(215, 330, 10, "no")
        + _branch(130, 65, 120, "yes")
        + _branch(130, 230, 120, "no")
        + _card(215, 10, "distance ≤ 200 m?")
        + _card(130, 120, "price ≤ 20 yuan?")
        + _card(330, 120, "eat: no", is_leaf=True)
        + _card(65, 230, "eat: yes", is_leaf=True)
        + _card(230, 230, "eat: no", is_leaf=True)
        + _name(122, 35, "root", "end")
        + _name(336, 89, "a branch")
        + _name(0, 111, "inner node")
        + _name(330, 180, "leaf", "middle")
        + _name(290, 255, "leaf")
        + "".join(_name(480, y + 25, f"depth {k}", "end") for k, y in enumerate((10, 120, 230))),
    )


Cuts = tuple[str, str, float, float]


def _three_regions(title: str, first: str, distance: float, price: float, offset: float) -> str:
    """A lunch tree as the regions that its two cuts make of the plane."""
    lunch = _Lunch((offset + 28, 62, offset + 218, 262))
    plane = lunch.plane
    (low, top, high, bottom), (x, y) = plane.box, plane.at(distance, price)
    if first == "distance":
        cuts = line(x, top, x, bottom, stroke_width=2) + line(low, y, x, y, stroke_width=2)
        second = plane.at(60, 34)
    else:
        cuts = line(low, y, high, y, stroke_width=2) + line(x, y, x, bottom, stroke_width=2)
        second = plane.at(480, 5)
    names = [(x - 24, bottom - 6), second, plane.at(500, 37)]
    return (
        centred((low + high) / 2, 20, title, font_weight="bold")
        + lunch.region(distance, price)
        + element("g", lunch.axes(""))
        + text(offset, 48, "price (yuan)")
        + cuts
        + in_class(0, lunch.dishes(~lunch.eaten))
        + in_class(1, lunch.dishes(lunch.eaten))
        + "".join(text(*spot, f"R{k}", font_weight="bold") for k, spot in enumerate(names, start=1))
    )


def _two_cuts(title: str, first: str, distance: float, price: float) -> str:
    """The same in words."""
    cuts = (f"{distance:g} metres", "cheap"), (f"{price:g} yuan", "near")
    (whole, _), (part, side) = cuts if first == "distance" else cuts[::-1]
    second = f"the second is at {part}, on the {side} side only."
    return f"{title}: the first cut, at {whole}, crosses the whole plane; {second}"


def lunch_partition(left: Cuts, right: Cuts) -> Picture:
    """Two lunch trees side by side, each as the three regions that its two cuts make of the plane.

    `left` and `right` are (title, question asked first, cut in metres, cut in yuan); the question is "distance" or
    "price". The first cut divides the whole plane, the second only the side that goes on.
    """
    return Picture(
        alt="Two planes of distance and price with the twelve dishes, each cut into three regions of which only R1, "
        f"the near and cheap one, is shaded: here we eat. {_two_cuts(*left)} {_two_cuts(*right)}",
        size=(480, 340),
        drawing=_three_regions(*left, 0) + _three_regions(*right, 252) + _lunch_key(),
    )


def _lunch_key() -> str:
    return (
        in_class(1, dot(20, 331)) + text(32, 336, "we ate there")
        + in_class(0, dot(160, 331)) + text(172, 336, "we did not")
        + in_class(0, arrow(290, 331)) + text(304, 336, "price off the chart")
    )  # fmt: skip


#: The subject of the book: a question, and under it each concept with its chapter.
SUBJECT = {
    "What is a tree?": [("nested questions", "Introduction"), ("regions of the plane", "Introduction")],
    "How mixed are the rows?": [
        ("self-information, entropy", "Entropy"),
        ("information gain", "Entropy"),
        ("gain ratio", "C4.5"),
        ("Gini impurity, squared error", "CART"),
    ],
    "How does a tree grow?": [
        ("one branch per value", "ID3"),
        ("two branches, for classes or numbers", "CART"),
        ("a tilted cut", "Oblique trees"),
    ],
    "When does it stop?": [("a limit on gain or depth", "ID3"), ("cutting subtrees back", "Pruning")],
    "What do real tables need?": [("thresholds for numbers", "CART"), ("a way to handle gaps", "Missing values")],
    "What can many trees do?": [
        ("vote: bagging, random forest", "Forests"),
        ("correct errors in turn", "AdaBoost"),
        ("follow the gradient", "GBDT"),
        ("stack forests in layers", "Deep forest"),
        ("share the work", "Scale"),
    ],
}


def subject_map() -> Picture:
    """The whole subject as a tree that lies on its side: six questions, and under each its concepts and chapters."""
    step, y = 25, 24
    drawing = text(0, y, "Decision trees", font_weight="bold") + ending(480, y, "chapter", font_style="italic")
    trunk = y
    for question, concepts in SUBJECT.items():
        y += step + 8
        trunk = y - 5
        drawing += line(8, trunk, 26, trunk, stroke_opacity=0.5) + text(32, y, question, font_weight="bold")
        stem = y + 7
        for concept, chapter in concepts:
            y += step
            drawing += line(40, y - 5, 56, y - 5, stroke_opacity=0.5)
            drawing += text(62, y, concept) + ending(480, y, chapter, font_style="italic")
        drawing += line(40, stem, 40, y - 5, stroke_opacity=0.5)
    drawing += line(8, 32, 8, trunk, stroke_opacity=0.5)
    outline = " ".join(
        f"{question} {', '.join(f'{concept} ({chapter})' for concept, chapter in concepts)}."
        for question, concepts in SUBJECT.items()
    )
    return Picture(
        alt="A map of the subject: six questions, under each the concepts that answer it, with their chapters. "
        + outline,
        size=(480, y + 12),
        drawing=drawing,
    )
