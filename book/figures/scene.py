"""What the figures draw with: melons, charts, words and colours.

A drawing that stands still is a `Picture`. One that moves is an :class:`figures.explorable.Explorable`: what is the
same thing in every state, such as a melon, is one of its marks, and what changes is drawn for each state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from figures.explorable import Places
from treekit.pen.palette import REGION, RIPE, UNRIPE, class_color
from treekit.pen.svg import Plane, circle, element, line, number, text

Spot = tuple[float, float]
LINE = 32  # pixels from one line of a drawn table to the next
#: What a reader hollows out, frames or rings.
OUTLINE: dict[str, Any] = {"fill": "none", "stroke": "currentColor"}
#: Words with this style interrupt the lines below them.
HALO = "paint-order: stroke; stroke: var(--ground, Canvas); stroke-width: 4; stroke-linejoin: round"


# -- colours and words ----------------------------------------------------------------------------------------------


def filled(k: int) -> dict[str, Any]:
    """The look of a shape that is filled with the colour of class k: ``rect(0, 0, 9, 9, **filled(GAIN))``."""
    return {"style": f"fill: {class_color(k)}"}


def stroked(k: int) -> dict[str, Any]:
    """The look of a line in the colour of class k."""
    return {"style": f"stroke: {class_color(k)}"}


def painted(k: int) -> dict[str, Any]:
    """The look of a shape whose inside and whose edge have the colour of class k."""
    return {"style": f"fill: {class_color(k)}; stroke: {class_color(k)}"}


def in_class(k: int, shapes: str) -> str:
    """Paint shapes in the colour of class k; every second class is hollow, for readers who do not see the colours."""
    style = f"fill: {class_color(k)}; stroke: {class_color(k)}; fill-opacity: {(1, 0)[k % 2]}; stroke-width: 2"
    return element("g", shapes, style=style)


def centred(x: float, y: float, words: object, **look: Any) -> str:
    """Write words around x."""
    return text(x, y, str(words), text_anchor="middle", **look)


def ending(x: float, y: float, words: object, **look: Any) -> str:
    """Write words that end at x."""
    return text(x, y, str(words), text_anchor="end", **look)


def small(drawing: str, **look: Any) -> str:
    """Write the words of a drawing with 13 pixels, which read on a phone where it is about 400 wide."""
    return element("g", drawing, **look, font_size=13)


def path(d: str, **look: Any) -> str:
    """Draw a path, or nothing if it is empty."""
    return element("path", d=d, **look) if d else ""


# -- melons ---------------------------------------------------------------------------------------------------------


def melon(name: object, is_ripe: bool, x: float = 0, y: float = 0, radius: float = 12) -> str:
    """Draw the melon of this number, ripe ones hollow; the same everywhere, so that a reader knows it again.

    An empty name leaves a plain disc. Its number reads on a phone from a radius of 12 on in a drawing 480 wide, from
    10 in one of 400.
    """
    disc = in_class(RIPE if is_ripe else UNRIPE, circle(x, y, radius))
    if name == "":
        return disc
    size, shown = radius + 3, {} if is_ripe else {"fill": "white"}
    return disc + centred(x, y + 0.36 * size, name, font_size=size, **shown)


def melon_marks(is_ripe: Mapping[Any, bool], radius: float = 10.5) -> dict[Any, str]:
    """The marks of melons by their names; `is_ripe` may be a series of truth values, too."""
    return {name: melon(name, bool(ripe), radius=radius) for name, ripe in is_ripe.items()}


def melons_at(is_ripe: Mapping[Any, bool], spots: Iterable[Spot], radius: float = 10.5) -> str:
    """Draw melons that never move, each at its spot."""
    return "".join(
        melon(name, bool(ripe), *spot, radius) for (name, ripe), spot in zip(is_ripe.items(), spots, strict=True)
    )


def ripe_and_unripe(x: float, y: float, gap: float = 60) -> str:
    """Draw the key to the melons' looks: a ripe one around (x, y), an unripe one `gap` to its right, named."""
    looks = ((x, True, "ripe"), (x + gap, False, "unripe"))
    return "".join(melon("", is_ripe, at, y, 7) + text(at + 13, y + 5, word) for at, is_ripe, word in looks)


def listed(names: Sequence[object]) -> str:
    """Join names in a sentence: "3", "3 and 5", "3, 5 and 7"."""
    *first, last = map(str, names)
    return f"{', '.join(first)} and {last}" if first else last


def melons_named(names: Sequence[object]) -> str:
    """Name these melons in a sentence: "no melon", "melon 3", "melons 3, 5 and 7"."""
    return f"melon{'s' * (len(names) > 1)} {listed(names)}" if len(names) else "no melon"


def in_lines(rows: Sequence, middle: float, first: float, n_columns: int, pitch: float, down: float = 0) -> Places:
    """Places for melons in lines around `middle`, the first line at `first`, the next `down` from it, or `pitch`."""
    left, down = middle - pitch * (min(n_columns, len(rows)) - 1) / 2, down or pitch
    return {row: (left + pitch * (i % n_columns), first + down * (i // n_columns)) for i, row in enumerate(rows)}


def piled(xs: Sequence[float], floor: float, width: float = 27) -> list[tuple[int, int]]:
    """Places for discs of this width at these x, each as low above the floor as those before it allow."""
    places: dict[int, tuple[int, int]] = {}
    for i in sorted(range(len(xs)), key=xs.__getitem__):
        x, y = round(xs[i]), round(floor)
        while any((x - a) ** 2 + (y - b) ** 2 < width**2 for a, b in places.values()):
            y -= 1
        places[i] = (x, y)
    return [places[i] for i in range(len(xs))]


def ringed(circles: Iterable[tuple[float, float, float]], width: float = 2) -> str:
    """Draw rings around what is wrong, each (x, y, radius)."""
    return element("g", "".join(circle(*ring) for ring in circles), **OUTLINE, stroke_width=width)


def placed(mark: str, place: Sequence[float]) -> str:
    """Draw a mark at (x, y) or, a factor larger, at (x, y, size) or (x, y, width, height), where nothing moves."""
    x, y, width, height = map(number, [*place, *[1, 1][: 4 - len(place)]] if len(place) != 3 else [*place, place[2]])
    return element("g", mark, transform=f"translate({x},{y}) scale({width},{height})")


def dot(x: float, y: float) -> str:
    return circle(x, y, 5)


# -- charts ---------------------------------------------------------------------------------------------------------


class Chart(Plane):
    """A plane of data in a drawing, on which lines, dots and regions are drawn in units of the data."""

    def at(self, x: float, y: float) -> Spot:
        """Return the pixel of a point."""
        return self.x(x), self.y(y)

    def pixels(self, xs: Iterable[float], ys: Iterable[float]) -> list[tuple[int, int]]:
        """Return the whole pixels of points, which keep a drawing of many states short."""
        return [(round(self.x(x)), round(self.y(y))) for x, y in zip(xs, ys, strict=True)]

    def level(self, y: float, **look: Any) -> str:
        """Draw a line at height y across the chart."""
        return line(self.box[0], self.y(y), self.box[2], self.y(y), **look)

    def upright(self, x: float, **look: Any) -> str:
        """Draw a line at x from the top of the chart to its bottom."""
        return line(self.x(x), self.box[1], self.x(x), self.box[3], **look)

    def dots(self, xs: Iterable[float], ys: Iterable[float], radius: float = 5) -> str:
        """Draw a dot at each point."""
        return "".join(circle(self.x(x), self.y(y), radius) for x, y in zip(xs, ys))

    def block(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        """Return the path of a box from xs[0] to xs[1], and likewise upwards, in whole pixels: rounded ends meet."""
        (left, right), (bottom, top) = map(round, map(self.x, xs)), map(round, map(self.y, ys))
        return f"M{left},{top}H{right}V{bottom}H{left}z"


def region(k: int, blocks: str, **look: Any) -> str:
    """Shade blocks of a chart in the colour of the class that is predicted there."""
    return element("path", d=blocks, **filled(k), fill_opacity=REGION, **look)


def around(values: ArrayLike, share: float = 0.08) -> tuple[float, float]:
    """Return the limits of an axis on which values have some space, a share of their range, at both ends."""
    low, high = float(np.min(values)), float(np.max(values))
    return low - share * (high - low), high + share * (high - low)


def tenths(values: ArrayLike) -> tuple[float, float]:
    """Return the limits of an axis in tenths, a little beyond the values."""
    low, high = 10 * np.min(values) - 0.3, 10 * np.max(values) + 0.3
    return float(np.floor(low) / 10), float(np.ceil(high) / 10)


def multiples(step: float, low: float, high: float) -> list[float]:
    """Return the multiples of a step from low to high."""
    return (step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)).tolist()


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return a few round numbers from low to high, in `most` steps or fewer."""
    found = MaxNLocator(nbins=most, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in found if low <= tick <= high]


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
