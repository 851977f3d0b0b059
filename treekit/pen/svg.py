"""A few helpers that write SVG as text.

Every number has at most two decimals, so that a drawing is small and the same on every machine. Shapes and text
take the colour of the words around them (`currentColor`), so that they read on a light and on a dark page.
"""

from __future__ import annotations

import json
from xml.sax.saxutils import escape, quoteattr

__all__ = ["number", "element", "text", "line", "rect", "circle", "script_json", "FAINT"]
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
