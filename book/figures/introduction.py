"""The figures of the introduction."""

from __future__ import annotations

import numpy as np

from figures.explorable import Explorable, Slider
from figures.scene import OUTLINE, Chart, Picture, centred, dot, ending, in_class, ringed
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


def rings(spots: list[tuple[float, float]]) -> str:
    return ringed([(x, y, 10) for x, y in spots], width=1.5)


def lunch_explorer() -> Explorable:
    """The lunch tree seen twice, as a region of the plane and as nested questions; the reader moves both limits."""
    lunches = load_lunch()
    far, cost = lunches["distance_m"].to_numpy(), lunches["price_yuan"].to_numpy()
    eaten = (lunches["eat"] == "yes").to_numpy()
    plane = Chart((0, 700), (0, 50), (32, 40, 288, 250))
    left, top, right, bottom = plane.box
    distances, prices = list(range(100, 701, 100)), list(range(5, 51, 5))
    # A dish whose price is off the chart becomes an arrow on its upper edge.
    xs, ys = [min(plane.x(x), right) for x in far], [max(plane.y(y), top) for y in cost]

    def marks(rows: np.ndarray) -> str:
        draw = {True: dot, False: arrow}
        return "".join(draw[bool(cost[i] <= 50)](xs[i], ys[i]) for i in np.flatnonzero(rows))

    # The colours are those of the drawn trees: classes in sorted order, no before yes.
    background = (
        plane.axes([0, 200, 400, 600], range(0, 51, 10), "distance (m)", "price (yuan)")
        + in_class(1, marks(eaten) + dot(316, 189))
        + in_class(0, marks(~eaten) + dot(316, 213) + arrow(316, 236))
        + rings([(316, 261)])
        + text(334, 194, "we ate there")
        + text(334, 218, "we did not")
        + text(334, 242, "price off the chart")
        + text(334, 266, "the rule is wrong")
        + code_lines([(2, "eat"), (1, "else: stay"), (0, "else: stay")], y=94)
    )

    def wrong_with(distance: int, price: int) -> np.ndarray:
        return ((far <= distance) & (cost <= price)) != eaten

    def frame(distance: int, price: int) -> tuple[list[str], str, dict]:
        wrong = wrong_with(distance, price)
        x, y = plane.x(distance), plane.y(price)
        drawing = [
            rect(left, y, x - left, bottom - y, style=f"fill: {class_color(1)}; fill-opacity: 0.15"),
            line(left, y, x, y, stroke_width=2) + line(x, y, x, bottom, stroke_width=2),
            rings([(xs[i], ys[i]) for i in np.flatnonzero(wrong)]),
            code_lines([(0, f"if distance ≤ {distance}:")], y=50),
            code_lines([(1, f"if price ≤ {price}:")], y=72),
        ]
        names = ", ".join(lunches.index[wrong])
        sentence = f"At most {distance} m and {price} yuan: right for {(~wrong).sum()} of {len(wrong)} dishes"
        return drawing, f"{sentence}, wrong for {names}." if names else f"{sentence}.", {"handle": (x, y)}

    return Explorable(
        title="Two limits for lunch",
        alt="Twelve dishes as points by distance and price. The five dishes that we ate are near and cheap. The rule, "
        "at most 200 metres and 20 yuan, is a shaded rectangle that holds these five and no others; next to it is the "
        "same rule as two nested questions.",
        size=(480, 300),
        background=background,
        controls=[
            Slider(
                "Largest distance",
                distances,
                start=200,
                opens=400,
                show="{} m",
                points=[(plane.x(distance), top) for distance in distances],
            ),
            Slider(
                "Largest price",
                prices,
                start=20,
                opens=30,
                show="{} yuan",
                points=[(left, plane.y(price)) for price in prices],
            ),
        ],
        frame=frame,
        marks={"handle": rect(-8, -8, 16, 16, rx=3, fill_opacity=0.15, stroke="currentColor", stroke_width=2)},
        found=lambda distance, price: not wrong_with(distance, price).any(),
        challenge="Drag the corner of the region. Can you find two limits that get every dish right?",
    )


def lunch_anatomy() -> Picture:
    """The lunch tree as one draws it by hand, with the names of its parts."""
    height = 40

    def card(x: float, y: float, words: str, is_leaf: bool = False) -> str:
        width = 100 if is_leaf else 170
        corner = height / 2 if is_leaf else 6
        frame = rect(x - width / 2, y, width, height, rx=corner, **OUTLINE)
        return frame + centred(x, y + 25, words, font_weight="bold")

    def branch(x1: float, x2: float, y: float, answer: str) -> str:
        """The line down from the card at (x1, y) to the one at x2, its answer on the outer side."""
        anchor, gap = ("end", -14) if x2 < x1 else ("start", 14)
        return line(x1, y + height, x2, y + 110) + text((x1 + x2) / 2 + gap, y + 79, answer, text_anchor=anchor)

    def name(x: float, y: float, words: str, anchor: str = "start") -> str:
        return text(x, y, words, font_style="italic", text_anchor=anchor)

    depths = "".join(name(480, y + 25, f"depth {k}", "end") for k, y in enumerate((10, 120, 230)))
    return Picture(
        alt="A tree of five nodes. The root asks: distance at most 200 metres? Its branch no leads to the leaf eat "
        "no. Its branch yes leads to an inner node, which asks: price at most 20 yuan? From there, yes leads to the "
        "leaf eat yes, and no to the leaf eat no. The root has depth 0; the inner node and the first leaf 1; the last "
        "two leaves 2.",
        size=(480, 280),
        drawing=branch(215, 130, 10, "yes")
        + branch(215, 330, 10, "no")
        + branch(130, 65, 120, "yes")
        + branch(130, 230, 120, "no")
        + card(215, 10, "distance ≤ 200 m?")
        + card(130, 120, "price ≤ 20 yuan?")
        + card(330, 120, "eat: no", is_leaf=True)
        + card(65, 230, "eat: yes", is_leaf=True)
        + card(230, 230, "eat: no", is_leaf=True)
        + name(122, 35, "root", "end")
        + name(336, 89, "a branch")
        + name(0, 111, "inner node")
        + name(330, 180, "leaf", "middle")
        + name(290, 255, "leaf")
        + depths,
    )


def lunch_partition(left: tuple[str, str, float, float], right: tuple[str, str, float, float]) -> Picture:
    """Two lunch trees side by side, each as the three regions that its two cuts make of the plane.

    `left` and `right` are (title, question asked first, cut in metres, cut in yuan); the question is "distance" or
    "price". The first cut divides the whole plane, the second only the side that goes on.
    """
    lunches = load_lunch()
    eaten = (lunches["eat"] == "yes").to_numpy()

    def panel(title: str, first: str, distance: float, price: float, offset: float) -> str:
        plane = Chart((0, 700), (0, 50), (offset + 28, 62, offset + 218, 262))
        low, top, high, bottom = plane.box
        x, y = plane.x(distance), plane.y(price)
        # What lies beyond the picture is drawn on its edge, as an arrow where the price is off the chart.
        marks = ["", ""]
        for far, cost, eat in zip(lunches["distance_m"], lunches["price_yuan"], eaten):
            draw = dot if cost <= 50 else arrow
            marks[int(eat)] += draw(min(plane.x(far), high), max(plane.y(cost), top))
        if first == "distance":
            lines = line(x, top, x, bottom, stroke_width=2) + line(low, y, x, y, stroke_width=2)
            second, third = (plane.x(60), plane.y(34)), (plane.x(500), plane.y(37))
        else:
            lines = line(low, y, high, y, stroke_width=2) + line(x, y, x, bottom, stroke_width=2)
            second, third = (plane.x(480), plane.y(5)), (plane.x(500), plane.y(37))
        names = [(x - 24, bottom - 6), second, third]
        return (
            centred((low + high) / 2, 20, title, font_weight="bold")
            + rect(low, y, x - low, bottom - y, style=f"fill: {class_color(1)}; fill-opacity: 0.15")
            + element("g", plane.axes([0, 200, 400, 600], range(0, 51, 10), "distance (m)", ""))
            + text(offset, 48, "price (yuan)")
            + lines
            + in_class(0, marks[0])
            + in_class(1, marks[1])
            + "".join(text(*place, f"R{k}", font_weight="bold") for k, place in enumerate(names, start=1))
        )

    def describe(title: str, first: str, distance: float, price: float) -> str:
        whole = f"{distance:g} metres" if first == "distance" else f"{price:g} yuan"
        part = (
            f"{price:g} yuan, on the near side only"
            if first == "distance"
            else f"{distance:g} metres, on the cheap side only"
        )
        return f"{title}: the first cut, at {whole}, crosses the whole plane; the second is at {part}."

    return Picture(
        alt="Two planes of distance and price with the twelve dishes, each cut into three regions of which only R1, "
        f"the near and cheap one, is shaded: here we eat. {describe(*left)} {describe(*right)}",
        size=(480, 340),
        drawing=panel(*left, 0) + panel(*right, 252) + _lunch_key(),
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
