"""A few helpers that write SVG as text.

Every number has at most two decimals, so that a drawing is small and the same on every machine. Shapes and text
take the colour of the words around them (`currentColor`), so that they read on a light and on a dark page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

__all__ = ["number", "element", "text", "line", "rect", "circle", "script_json", "Plane", "FAINT"]
FAINT = 0.35  # opacity of lines that only guide the eye


def number(value: float) -> str:
    """Write `value` with at most two decimals: 3, 0.5, -1.25."""
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def element(tag: str, content: str = "", /, **attributes: object) -> str:
    """Write one element around `content`, which is SVG already; `stroke_width=2` becomes `stroke-width="2"`."""
    written = []
    for name, value in attributes.items():
        value = number(value) if isinstance(value, (int, float)) else str(value)
        written.append(f" {name.rstrip('_').replace('_', '-')}={quoteattr(value)}")
    inside = f">{content}</{tag}>" if content else "/>"
    return f"<{tag}{''.join(written)}{inside}"


def text(x: float, y: float, words: str, **attributes: object) -> str:
    """Write `words` with their baseline at y; `text_anchor` is start, middle or end."""
    return element("text", escape(words), x=x, y=y, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: object) -> str:
    """Draw a line from (x1, y1) to (x2, y2)."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **{"stroke": "currentColor", **attributes})


def rect(x: float, y: float, width: float, height: float, **attributes: object) -> str:
    """Draw a rectangle whose upper left corner is (x, y)."""
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def circle(cx: float, cy: float, r: float, **attributes: object) -> str:
    """Draw a circle around (cx, cy)."""
    return element("circle", cx=cx, cy=cy, r=r, **attributes)


def script_json(data: object) -> str:
    """Return short JSON that may stand in a script element, where no ``</`` and no ``<!`` is allowed."""
    written = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return written.replace("</", "<\\/").replace("<!", "\\u003c!")


@dataclass(frozen=True)
class Plane:
    """The part `box` = (left, top, right, bottom) of a drawing, in pixels, that shows `xlim` by `ylim` of the data."""

    xlim: tuple[float, float]
    ylim: tuple[float, float]
    box: tuple[float, float, float, float]

    def x(self, value: float) -> float:
        """Return the pixel column of a data value."""
        left, _, right, _ = self.box
        return left + (value - self.xlim[0]) / (self.xlim[1] - self.xlim[0]) * (right - left)

    def y(self, value: float) -> float:
        """Return the pixel row of a data value; larger values stand higher."""
        _, top, _, bottom = self.box
        return bottom - (value - self.ylim[0]) / (self.ylim[1] - self.ylim[0]) * (bottom - top)

    def axes(self, xticks: Iterable[float], yticks: Iterable[float], xlabel: str, ylabel: str = "") -> str:
        """Draw both axes with their ticks; the y label lies flat above its axis, where it reads best."""
        left, top, right, bottom = self.box
        parts = [line(left, bottom, right, bottom)]
        for tick in xticks:
            parts.append(line(self.x(tick), bottom, self.x(tick), bottom + 5))
            parts.append(text(self.x(tick), bottom + 21, number(tick), text_anchor="middle"))
        for tick in yticks:
            parts.append(line(left, self.y(tick), right, self.y(tick), stroke_opacity=FAINT / 2))
            parts.append(text(left - 8, self.y(tick) + 5, number(tick), text_anchor="end"))
        parts.append(text((left + right) / 2, bottom + 42, xlabel, text_anchor="middle"))
        if ylabel:
            parts.append(text(0, top - 14, ylabel))
        return "".join(parts)

    def curve(self, xs: Iterable[float], ys: Iterable[float], **attributes: object) -> str:
        """Draw straight lines through the points of the data."""
        points = " ".join(f"{number(self.x(x))},{number(self.y(y))}" for x, y in zip(xs, ys, strict=True))
        drawn = {"fill": "none", "stroke": "currentColor", "stroke_width": 2, **attributes}
        return element("polyline", points=points, **drawn)
