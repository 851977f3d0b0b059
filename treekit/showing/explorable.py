"""Figures that move when the reader moves a slider or presses a button, without a server.

Python draws every state of the figure beforehand and prints all of them into the page. The script
`book/explorables/explorable.js` only swaps them. Where it does not run (in print, in Jupyter, with JavaScript off)
the reader sees the figure at rest, which teaches by itself.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar
from xml.sax.saxutils import escape, quoteattr

__all__ = ["Slider", "Choice", "Explorable"]


@dataclass(frozen=True)
class _Control:
    """What the reader can set: a label, the values that it takes, and the one at rest (by default the first)."""

    kind: ClassVar[str]
    label: str
    values: Sequence
    start: object = None
    show: str = "{}"

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise ValueError(f"values of {self.label!r}: a control needs at least two, got {len(self.values)}")
        if self.start is not None and self.start not in list(self.values):
            raise ValueError(f"start of {self.label!r} must be one of its values, got {self.start!r}")

    @property
    def start_index(self) -> int:
        """The position of the start value."""
        return 0 if self.start is None else list(self.values).index(self.start)

    def to_dict(self) -> dict:
        """Return what the script needs to know."""
        shown = [self.show.format(value) for value in self.values]
        return {"kind": self.kind, "label": self.label, "start": self.start_index, "values": shown}


class Slider(_Control):
    """A slider over ordered `values`; `show` formats the one that it stands on, like ``"{:.2f}"``."""

    kind = "slider"


class Choice(_Control):
    """One button for each of a few `values`, of which one is pressed."""

    kind = "choice"


class Explorable:
    """A figure with one or two controls; as the last value of a cell it shows itself.

    Parameters
    ----------
    title : the line above the figure.
    alt : what the figure shows at rest, for readers who do not see it.
    size : width and height of the drawing in its own pixels. With a width of 480, text of 15 pixels reads on a phone.
    background : the SVG that stays, such as axes.
    controls : the `Slider` and `Choice` objects.
    frame : a function of one value for each control. It returns the SVG that changes and a sentence, which says
        in words and numbers what it shows. It is called once for each combination of values.
    challenge : a question that moving the figure answers; it is shown where the figure can move.

    Raises
    ------
    ValueError
        If there is no control, or a control's start is not among its values.
    TypeError
        If `frame` returns anything but two strings.
    """

    def __init__(
        self,
        *,
        title: str,
        alt: str,
        size: tuple[int, int],
        background: str,
        controls: Sequence[_Control],
        frame: Callable[..., tuple[str, str]],
        challenge: str = "",
    ) -> None:
        if not controls:
            raise ValueError("controls: a figure that moves needs at least one")
        self.title, self.alt, self.size, self.challenge = title, alt, size, challenge
        self.background, self.controls = background, list(controls)
        # The last control moves fastest: the script finds a frame's place in this list by the same rule.
        self.frames = [_checked(frame(*values)) for values in itertools.product(*(c.values for c in controls))]

    @property
    def start_frame(self) -> tuple[str, str]:
        """The drawing and the sentence at rest."""
        index = 0
        for control in self.controls:
            index = index * len(control.values) + control.start_index
        return self.frames[index]

    def __repr__(self) -> str:
        return f"Explorable({self.title!r}, {len(self.frames)} frames)"

    def _repr_html_(self) -> str:
        drawing, sentence = self.start_frame
        width, height = self.size
        # A notebook stores each line apart: with a part or a frame a line, a diff names the one that changed.
        return (
            '<figure class="explorable"><figcaption>'
            f"<strong>{escape(self.title)}</strong>"
            f'<span class="explorable-challenge" hidden>{escape(self.challenge)}</span></figcaption>\n'
            f'<svg role="img" aria-label={quoteattr(self.alt)} viewBox="0 0 {width} {height}" '
            f'fill="currentColor" font-size="15" style="display: block; width: 100%; max-width: {width * 1.2:.0f}px">\n'
            f'{self.background}\n<g class="frame">{drawing}</g></svg>\n'
            '<div class="explorable-controls"></div>\n'
            f'<output aria-live="polite">{escape(sentence)}</output>\n'
            f'<script type="application/json">{self._json()}</script></figure>'
        )

    def _json(self) -> str:
        """Write what the script needs, each frame on a line of its own."""
        controls = _written([control.to_dict() for control in self.controls])
        frames = ",\n".join(_written(frame) for frame in self.frames)
        return f'{{"controls":{controls},\n"frames":[\n{frames}\n]}}'


def _written(data: object) -> str:
    """Return short JSON that may stand in a script element, where no ``</`` and no ``<!`` is allowed."""
    written = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return written.replace("</", "<\\/").replace("<!", "\\u003c!")


def _checked(frame: object) -> tuple[str, str]:
    """Return `frame` if it is a drawing and a sentence."""
    match frame:
        case (str() as drawing, str() as sentence):
            return drawing, sentence
    raise TypeError(f"frame must return two strings, the SVG and a sentence, got {frame!r}")
