"""The looks of what is drawn: colours that mean the same everywhere, words, and small shapes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from treekit.pen.palette import class_color
from treekit.pen.svg import circle, element, text

LINE = 32  # pixels from one line of a drawn table to the next
#: The look of what is only an outline: a frame, a ring, a line that is a path.
OUTLINE: dict[str, Any] = {"fill": "none", "stroke": "currentColor"}
#: Words with this style interrupt the lines below them.
HALO = "paint-order: stroke; stroke: var(--ground, Canvas); stroke-width: 4; stroke-linejoin: round"
#: The style of what hides the lines below it: a hollow melon.
GROUND = "fill: var(--ground, Canvas)"
#: The style of a line that divides what it crosses.
DIVIDE = "stroke: var(--ground, Canvas)"


def with_minus(words: object) -> str:
    """Write a minus for each hyphen."""
    return str(words).replace("-", "−")


def signed(value: float, spec: str = "+.2f") -> str:
    """A number with its sign: +0.31, −0.35."""
    return with_minus(f"{value:{spec}}")


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


def ringed(circles: Iterable[tuple[float, float, float]], width: float = 2) -> str:
    """Draw rings around what is wrong, each (x, y, radius)."""
    return element("g", "".join(circle(*ring) for ring in circles), **OUTLINE, stroke_width=width)


def dot(x: float, y: float) -> str:
    return circle(x, y, 5)


def grip(width: float) -> str:
    """What a finger takes hold of around the point (0, 0), in a drawing of this width: 44 pixels on a phone."""
    return circle(0, 0, round(22 * width / 340), fill_opacity=0, class_="handle")
