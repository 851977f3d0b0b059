"""The figures of the introduction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.charts import Chart, Picture
from figures.explorable import Choice, Explorable, Panel, Scene, Slider, State
from figures.looks import HALO, OUTLINE, centred, dot, ending, filled, grip, in_class, painted, path, ringed
from treekit.datasets import load_lunch
from treekit.pen.palette import REGION, class_color
from treekit.pen.svg import element, line, number, rect, text


def arrow(x: float, y: float) -> str:
    """A dish whose price is off the chart."""
    return element("path", d=f"M{number(x - 6)},{number(y + 5)}h12l-6,-10z")


def code_lines(lines: list[tuple[int, str]], y: float) -> str:
    """Lines of code, each with its indent, from the first baseline `y` down."""
    written = (text(306 + 16 * indent, y + 22 * i, words) for i, (indent, words) in enumerate(lines))
    return element("g", "".join(written), font_family="ui-monospace, Consolas, monospace")


class _Dishes(Scene):
    """The twelve dishes in a plane of distance and price."""

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


class _Lunch(_Dishes):
    """Two limits make a region of the plane, whose corner the reader drags."""

    def marks(self) -> dict[Any, str]:
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


def _card(x: float, y: float, words: str, is_leaf: bool = False, width: float = 170) -> str:
    """A node of the tree that is drawn by hand."""
    width, corner = (100, 20) if is_leaf else (width, 6)
    return rect(x - width / 2, y, width, 40, rx=corner, **OUTLINE) + centred(x, y + 25, words, font_weight="bold")


def _branch(x1: float, x2: float, y: float, answer: str) -> str:
    """The line down from the card at (x1, y) to the one at x2, its answer on the outer side."""
    anchor, gap = ("end", -14) if x2 < x1 else ("start", 14)
    return line(x1, y + 40, x2, y + 110) + text((x1 + x2) / 2 + gap, y + 79, answer, text_anchor=anchor)


def heart_attack() -> Picture:
    """The rule of Breiman et al. for patients after a heart attack, as a tree."""
    return Picture(
        alt="A tree of three questions. Was the lowest blood pressure of the first day above 91? If not, the risk is "
        "high. If so: is the patient older than 62.5 years? If not, the risk is low. If so: is the heartbeat too fast? "
        "If not, the risk is low; if so, it is high.",
        size=(480, 390),
        drawing=_branch(170, 240, 10, "yes")
        + _branch(170, 65, 10, "no")
        + _branch(240, 310, 120, "yes")
        + _branch(240, 130, 120, "no")
        + _branch(310, 400, 230, "yes")
        + _branch(310, 210, 230, "no")
        + _card(170, 10, "blood pressure above 91?", width=240)
        + _card(65, 120, "high risk", is_leaf=True)
        + _card(240, 120, "older than 62.5?")
        + _card(130, 230, "low risk", is_leaf=True)
        + _card(310, 230, "heartbeat too fast?", width=200)
        + _card(210, 340, "low risk", is_leaf=True)
        + _card(400, 340, "high risk", is_leaf=True),
    )


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


Cuts = tuple[str, str, int, int]
ALL = "all three"
REGIONS = ("R1", "R2", "R3")


class _View(_Dishes):
    """A lunch tree of two questions above the three regions that it makes of the plane; one of its leaves is lit.

    R1 is near and cheap; R2 is the other side of the second cut, R3 that of the first.
    """

    size = (300, 378)

    def __init__(self, title: str, first: str, distance: int, price: int) -> None:
        super().__init__((30, 186, 290, 330))
        self.title, self.is_distance_first, self.cut = title, first == "distance", (distance, price)
        sides = {f"distance ≤ {distance} m": self.far <= distance, f"price ≤ {price} yuan": self.cost <= price}
        self.questions = list(sides) if self.is_distance_first else list(sides)[::-1]
        yes, yes_again = (sides[question] for question in self.questions)
        self.held = dict(zip(REGIONS, (yes & yes_again, yes & ~yes_again, ~yes)))

    def says(self, leaf: str) -> bool:
        """What a leaf predicts: whether most of its dishes were eaten."""
        return bool(2 * self.eaten[self.held[leaf]].sum() > self.held[leaf].sum())

    def eats(self) -> NDArray[np.bool_]:
        """To which dishes the tree says yes."""
        return np.any([held for leaf, held in self.held.items() if self.says(leaf)], axis=0)

    def boxes(self) -> dict[str, tuple[float, float, float, float]]:
        """Left, top, right and bottom of each region."""
        (low, top, high, bottom), (x, y) = self.plane.box, self.plane.at(*self.cut)
        if self.is_distance_first:
            return dict(zip(REGIONS, ((low, y, x, bottom), (low, top, x, y), (x, top, high, bottom))))
        return dict(zip(REGIONS, ((low, y, x, bottom), (x, y, high, bottom), (low, top, high, y))))

    def background(self) -> str:
        first, second = self.questions
        return (
            centred(150, 15, self.title, font_weight="bold")
            + _small_card(150, 24, f"{first}?", 160)
            + _small_card(95, 78, f"{second}?", 150)
            + text(0, 174, "price (yuan)")
            + self.plane.axes([0, 200, 400, 600], range(0, 51, 10), "distance (m)", "")
        )

    def parts(self, lit: str) -> list[str]:
        """The branches, the leaves and the regions, those of the lit leaf heavier than the others."""
        drawn = []
        for leaf, ends in BRANCHES.items():
            is_lit = lit in (leaf, ALL)
            heavy = dict(stroke_width=3 if lit == leaf else 1, stroke_opacity=1 if is_lit else 0.3)
            x, y = ends[-1][1]
            card = rect(x - 37, y, 74, 26, rx=13, **painted(self.says(leaf)), fill_opacity=0.3 if is_lit else 0.05)
            words = centred(x, y + 18, f"{leaf}: {'yes' if self.says(leaf) else 'no'}", font_weight="bold")
            left, top, right, bottom = self.boxes()[leaf]
            shade = rect(left, top, right - left, bottom - top, **filled(self.says(leaf)), stroke="currentColor")
            shade = element("g", shade, fill_opacity=0.3 if is_lit else 0.05, stroke_width=1.5)
            lines = element("g", "".join(line(*start, *end) for start, end in ends), **heavy)
            named = centred(left + 0.75 * (right - left), (top + bottom) / 2 + 5, leaf, style=HALO, font_weight="bold")
            drawn += [lines, element("g", card + words, data_choose=leaf), element("g", shade, data_choose=leaf), named]
        return drawn

    def frame(self, lit: str) -> State:
        answers = element("g", "".join(text(*place) for place in ANSWERS), font_size=13)
        dots = in_class(0, self.dishes(~self.eaten)) + in_class(1, self.dishes(self.eaten))
        ring = self.held.get(lit, np.zeros_like(self.eaten))
        rings = ringed(((*self.spots[i], 9) for i in np.flatnonzero(ring)), width=1.5)
        return [*self.parts(lit), answers, dots, rings], "", {}

    def alt(self) -> str:
        first, second = self.questions
        regions = "; ".join(f"{leaf}, {'yes' if self.says(leaf) else 'no'}: {self.holds(leaf)}" for leaf in REGIONS)
        return (
            f"The tree {self.title} asks first: {first}? If yes, it asks: {second}? Below it the plane of distance and "
            f"price, which the first cut crosses whole, the second on one side only. The regions hold these dishes. "
            f"{regions}."
        )

    def holds(self, lit: str) -> str:
        """The dishes of a leaf in words."""
        return ", ".join(self.names[self.held[lit]])


#: The lines that lead to each leaf, and where the answers stand beside them.
BRANCHES: dict[str, list[tuple[tuple[float, float], tuple[float, float]]]] = {
    "R1": [((150, 52), (95, 78)), ((95, 106), (45, 128))],
    "R2": [((150, 52), (95, 78)), ((95, 106), (140, 128))],
    "R3": [((150, 52), (240, 90))],
}
ANSWERS = [(92, 68, "yes"), (208, 68, "no"), (38, 120, "yes"), (128, 120, "no")]


def _small_card(x: float, y: float, words: str, width: float) -> str:
    return rect(x - width / 2, y, width, 28, rx=6, **OUTLINE) + centred(x, y + 19, words)


class _TwoViews(_View):
    """Two lunch trees side by side."""

    def __init__(self, left: Cuts, right: Cuts) -> None:
        super().__init__(*left)
        self.right = _View(*right)

    def frame(self, lit: str) -> State:
        parts, _, places = super().frame(lit)
        return parts, self.sentence(lit), places

    def sentence(self, lit: str) -> str:
        if lit == ALL:
            return "Each leaf of a tree is a region of its plane. Choose a leaf, or tap its region."
        told = [f"{view.holds(lit)} in “{view.title}”" for view in (self, self.right)]
        if self.holds(lit) == self.right.holds(lit):
            told = [f"{self.holds(lit)} in both trees"]
        return f"{lit} holds {'; '.join(told)}. Both trees say {'yes' if self.says(lit) else 'no'} there."

    def beside(self) -> Panel:
        view = self.right
        return Panel(view.alt(), view.size, view.background(), lambda lit: view.frame(lit)[::2])


def lunch_partition(left: Cuts, right: Cuts) -> Explorable:
    """Two lunch trees side by side, each above the three regions that its two cuts make of the plane.

    `left` and `right` are (title, question asked first, cut in metres, cut in yuan); the question is "distance" or
    "price". The first cut divides the whole plane, the second only the side that goes on. The reader lights up a leaf
    and its region.
    """
    views = _TwoViews(left, right)
    same = [leaf for leaf in REGIONS if (views.held[leaf] == views.right.held[leaf]).all()]
    n_apart, numbers = int((views.eats() != views.right.eats()).sum()), ["none", "one", "two", "more"]
    told = f"they answer differently for {n_apart}" if n_apart else "they answer alike for all"
    return views.explorable(
        title="Two views of one tree",
        alt=views.alt(),
        challenge="Light up a leaf, and its region answers. Which one holds the same dishes in both trees?",
        controls=[Choice("Leaf", [ALL, *REGIONS], start=ALL)],
        found=lambda lit: lit in same,
        guess=Choice(
            f"Your guess: to how many of the {len(views.eaten)} dishes do the two trees give different answers?",
            numbers,
            answer=numbers[min(n_apart, 3)],
            truth=f"{told} {len(views.eaten)}",
        ),
    )


def lunch_strip(ours: tuple[int, int], midpoints: tuple[float, float]) -> Picture:
    """Two pairs of limits, in metres and yuan, in one plane, and the strip between the two regions."""
    dishes = _Dishes((40, 28, 470, 250))
    plane, left, bottom = dishes.plane, 40, 250
    (x, y), (far, high) = plane.at(*ours), plane.at(*midpoints)
    region = f"M{left},{number(y)}H{number(x)}V{bottom}"
    wider = f"M{left},{number(high)}H{number(far)}V{bottom}"
    strip = f"{wider}H{number(x)}V{number(y)}H{left}z"
    return Picture(
        alt=f"The twelve dishes in the plane of distance and price. Our limits, {ours[0]} metres and {ours[1]} yuan, "
        f"and scikit-learn's, {midpoints[0]:g} and {midpoints[1]:g}, are the corners of two rectangles, one inside "
        "the other. No dish lies in the strip between them.",
        size=(480, 322),
        drawing=path(strip, fill_opacity=REGION)
        + path(region, **OUTLINE, stroke_width=2, stroke_dasharray="6 4")
        + path(wider, **OUTLINE, stroke_width=2)
        + dishes.axes("price (yuan)")
        + in_class(0, dishes.dishes(~dishes.eaten))
        + in_class(1, dishes.dishes(dishes.eaten))
        + path("M40,313h26", **OUTLINE, stroke_width=2, stroke_dasharray="6 4")
        + text(72, 318, "our limits")
        + path("M180,313h26", **OUTLINE, stroke_width=2)
        + text(212, 318, "scikit-learn’s")
        + rect(330, 306, 26, 14, fill_opacity=REGION)
        + text(362, 318, "the strip"),
    )


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
        ("sample, drop, encode", "Boosting today"),
    ],
    "What is an answer worth?": [
        ("costs and probabilities", "What a mistake costs"),
        ("reasons, column by column", "Why the tree said so"),
        ("an honest comparison", "Choosing a model"),
    ],
}


def subject_map() -> Picture:
    """The whole subject as a tree that lies on its side: seven questions, and under each its concepts and chapters."""
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
        alt="A map of the subject: seven questions, under each the concepts that answer it, with their chapters. "
        + outline,
        size=(480, y + 12),
        drawing=drawing,
    )
