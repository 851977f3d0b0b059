"""What the figures of several chapters draw with."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter

from treekit.pen.palette import RIPE, UNRIPE, class_color
from treekit.pen.svg import circle, element, number, text

LINE = 32  # pixels from one line of a drawn table to the next
#: Words with this style interrupt the lines below them.
HALO = "paint-order: stroke; stroke: var(--ground, Canvas); stroke-width: 4; stroke-linejoin: round"


def in_class(k: int, shapes: str) -> str:
    """Paint shapes in the colour of class k; every second class is hollow, for readers who do not see the colours."""
    style = f"fill: {class_color(k)}; stroke: {class_color(k)}; fill-opacity: {(1, 0)[k % 2]}; stroke-width: 2"
    return element("g", shapes, style=style)


def melon(name: object, is_ripe: bool, x: float = 0, y: float = 0, radius: float = 12) -> str:
    """Draw the melon of this number, ripe ones hollow; the same everywhere, so that a reader knows it again.

    An empty name leaves a plain disc. Its number reads on a phone from a radius of 12 on in a drawing 480 wide, from
    10 in one of 400.
    """
    disc = in_class(RIPE if is_ripe else UNRIPE, circle(x, y, radius))
    if name == "":
        return disc
    size, shown = radius + 3, {} if is_ripe else {"fill": "white"}
    return disc + text(x, y + 0.36 * size, str(name), text_anchor="middle", font_size=size, **shown)


def ripe_and_unripe(x: float, y: float, gap: float = 60) -> str:
    """Draw the key to the melons' looks: a ripe one around (x, y), an unripe one `gap` to its right, named."""
    looks = ((x, True, "ripe"), (x + gap, False, "unripe"))
    return "".join(melon("", is_ripe, at, y, 7) + text(at + 13, y + 5, word) for at, is_ripe, word in looks)


def melons_named(names: Sequence[object]) -> str:
    """Name these melons in a sentence: "no melon", "melon 3", "melons 3, 5 and 7"."""
    *first, last = map(str, names) if len(names) else ["no melon"]
    if not first:
        return f"melon {last}" if len(names) else last
    return f"melons {', '.join(first)} and {last}"


def placed(mark: str, place: Sequence[float]) -> str:
    """Draw a mark at (x, y) or, a factor larger, at (x, y, size) or (x, y, width, height), where nothing moves."""
    x, y, width, height = map(number, [*place, *[1, 1][: 4 - len(place)]] if len(place) != 3 else [*place, place[2]])
    return element("g", mark, transform=f"translate({x},{y}) scale({width},{height})")


def piled(xs: Sequence[float], floor: float, width: float = 27) -> list[tuple[int, int]]:
    """Places for discs of this width at these x, each as low above the floor as those before it allow."""
    places: dict[int, tuple[int, int]] = {}
    for i in sorted(range(len(xs)), key=xs.__getitem__):
        x, y = round(xs[i]), round(floor)
        while any((x - a) ** 2 + (y - b) ** 2 < width**2 for a, b in places.values()):
            y -= 1
        places[i] = (x, y)
    return [places[i] for i in range(len(xs))]


def dot(x: float, y: float) -> str:
    return circle(x, y, 5)


def rings(centers: list[tuple[float, float]]) -> str:
    circles = "".join(circle(x, y, 10) for x, y in centers)
    return element("g", circles, fill="none", stroke="currentColor", stroke_width=1.5)


def arrow(x: float, y: float) -> str:
    return element("path", d=f"M{number(x - 6)},{number(y + 5)}h12l-6,-10z")


def code_lines(lines: list[tuple[int, str]], y: float) -> str:
    """Write lines of code, each with its indent, from the first baseline `y` down."""
    written = (text(306 + 16 * indent, y + 22 * i, words) for i, (indent, words) in enumerate(lines))
    return element("g", "".join(written), font_family="ui-monospace, Consolas, monospace")


#: A plot this many inches wide, with text of this size, has letters of 11 pixels on a phone that is 390 pixels wide.
PLOT_WIDTH = 5.6
READABLE = {"font.size": 12.5, "axes.titlesize": "medium"}


def plain_ticks(ax: plt.Axes) -> None:
    """Write the numbers of both axes as 0.01, 1, 1000, 10k, 1M, 1G: a small exponent does not read on a phone."""

    def written(value: float, _: object) -> str:
        sizes = (("G", 1e9, 1e9), ("M", 1e6, 1e6), ("k", 1e3, 1e4), ("", 1, 0))
        return next(f"{value / size:g}{unit}" for unit, size, least in sizes if value >= least)

    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(written)
        axis.set_minor_formatter(NullFormatter())


def axes(xlabel: str, ylabel: str, height: float = 3.6) -> plt.Axes:
    """Axes of the size that reads on a page and on a phone, without the two lines that show nothing."""
    _, ax = plt.subplots(figsize=(PLOT_WIDTH, height), layout="constrained")
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


#: An SVG picture is told the theme of the page around it, so it turns dark with the page.
THEMES = """<style>svg { color: #24292f; --page: #fff } text { fill: currentColor }
@media (prefers-color-scheme: dark) { svg { color: #ced6dd; --page: #121212 } }</style>"""


@dataclass(frozen=True, repr=False)
class Plot:
    """A plot by matplotlib that shows itself as SVG, in black on a light page and in white on a dark one."""

    drawing: str

    def __repr__(self) -> str:
        return "Plot"

    def _repr_svg_(self) -> str:
        return self.drawing


def current_plot() -> Plot:
    """Take what has been plotted; it is the same text on every machine."""
    file = io.StringIO()
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "treekit"}):
        # Of the figure, because plt.savefig would draw it once more, for a window that is not there.
        plt.gcf().savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    plt.close()
    drawing = re.sub(r"<metadata>.*?</metadata>", THEMES, file.getvalue(), flags=re.DOTALL)
    drawing = drawing[drawing.index("<svg") :]
    return Plot(drawing.replace("#000000", "currentColor").replace("#ffffff", "var(--page)"))


@dataclass(frozen=True, repr=False)
class Picture:
    """An SVG drawing that shows itself. With a width of 480, text of 15 pixels reads on a phone.

    `alt` says what it shows, for readers who do not see it; `size` is its width and height in its own pixels.
    """

    alt: str
    size: tuple[float, float]
    drawing: str

    def __repr__(self) -> str:
        return f"Picture of {self.size[0]:g} × {self.size[1]:g} pixels"

    def _repr_html_(self) -> str:
        width, height = self.size
        return (
            f'<svg role="img" aria-label={quoteattr(self.alt)} viewBox="0 0 {number(width)} {number(height)}" '
            f'fill="currentColor" font-size="15" style="display: block; width: 100%; max-width: {width * 1.2:.0f}px; '
            f'margin: 0 auto">{self.drawing}</svg>'
        )
