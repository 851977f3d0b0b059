"""Charts: planes of data with lines, dots and regions; the limits and ticks of axes; drawings that stand still."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from figures.looks import filled, with_minus
from treekit.pen.palette import REGION
from treekit.pen.svg import FAINT, circle, element, line, number, text

Spot = tuple[float, float]


@dataclass(frozen=True)
class Chart:
    """The part `box` = (left, top, right, bottom) of a drawing, in pixels, that shows `xlim` by `ylim` of the data.

    Lines, dots and regions are drawn on it in units of the data.
    """

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
            parts.append(text(self.x(tick), bottom + 21, with_minus(number(tick)), text_anchor="middle"))
        for tick in yticks:
            parts.append(line(left, self.y(tick), right, self.y(tick), stroke_opacity=FAINT / 2))
            parts.append(text(left - 8, self.y(tick) + 5, with_minus(number(tick)), text_anchor="end"))
        if xlabel:
            parts.append(text((left + right) / 2, bottom + 42, xlabel, text_anchor="middle"))
        if ylabel:
            parts.append(text(0, top - 14, ylabel))
        return "".join(parts)

    def curve(self, xs: Iterable[float], ys: Iterable[float], **attributes: object) -> str:
        """Draw straight lines through the points of the data."""
        points = " ".join(f"{number(self.x(x))},{number(self.y(y))}" for x, y in zip(xs, ys, strict=True))
        drawn = {"fill": "none", "stroke": "currentColor", "stroke_width": 2, **attributes}
        return element("polyline", points=points, **drawn)

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


def overlap(a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether two boxes (left, top, right, bottom) have points in common."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def around(values: ArrayLike, share: float = 0.08) -> tuple[float, float]:
    """Return the limits of an axis on which values have some space, a share of their range, at both ends."""
    low, high = float(np.min(values)), float(np.max(values))
    return low - share * (high - low), high + share * (high - low)


def tenths(values: ArrayLike) -> tuple[float, float]:
    """Return the limits of an axis in tenths, a little beyond the values."""
    low, high = 10 * np.min(values) - 0.3, 10 * np.max(values) + 0.3
    return float(np.floor(low) / 10), float(np.ceil(high) / 10)


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
