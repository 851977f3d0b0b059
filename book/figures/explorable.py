"""Figures that move when the reader moves a slider or presses a button, without a server.

Python draws every state of the figure beforehand and prints all of them into the page. The script
`book/explorables/explorable.js` only swaps them. Where it does not run (in print, in Jupyter, with JavaScript off)
the reader sees the figure at rest, which teaches by itself.

What is the same thing in every frame, such as a row of a table, is a *mark*: it is drawn once, each frame says where
it stands, and the script lets it travel there.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from treekit.pen.svg import number, script_json

__all__ = ["Slider", "Choice", "Panel", "Explorable", "Scene"]

Place = Sequence[float]
Places = dict[Any, Place]
#: A control that opens with it has no value; what moves first, moves it to where it starts.
UNSET = object()
#: What `frame` returns: the SVG that changes, the sentence, and the places of the marks.
State = tuple[list[str], str, Places]


@dataclass(frozen=True)
class _Control:
    """What the reader can set: a label and the values that it takes.

    `start` is the value at rest (by default the first), `opens` the one with which the script begins (by default
    `start`, UNSET for none): in print a figure may show its answer, while a reader who can move it finds the answer
    alone.

    A guess is judged by its `answer`: one of the values, or a set of those that are right. `truth` is what the verdict
    tells of it, as a clause that follows "and that is right:" as well as "No:", "the vote of 5 stumps is the first
    without an error"; a number also hears how far it was from the answer. As a function of the value that was guessed,
    `truth` says by itself how far this was.
    """

    kind: ClassVar[str]
    label: str
    values: Sequence[Any]
    start: object = None
    show: str = "{}"
    opens: object = None
    answer: object = None
    truth: str | Callable[[Any], str] = ""

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise ValueError(f"values of {self.label!r}: a control needs at least two, got {len(self.values)}")
        for name, value in (("start", self.start), ("opens", self.opens), *(("answer", one) for one in self.right)):
            if value is not None and value is not UNSET and value not in list(self.values):
                raise ValueError(f"{name} of {self.label!r} must be one of its values, got {value!r}")

    @property
    def right(self) -> list[Any]:
        """The values that answer a guess."""
        return list(self.answer) if isinstance(self.answer, (set, frozenset)) else [self.answer]

    @property
    def start_index(self) -> int:
        """The position of the value at rest."""
        return 0 if self.start is None else list(self.values).index(self.start)

    @property
    def opens_index(self) -> int:
        """The position of the value with which the script begins."""
        if self.opens is UNSET:
            return -1
        return self.start_index if self.opens is None else list(self.values).index(self.opens)

    def to_dict(self) -> dict[Any, Any]:
        """Return what the script needs to know."""
        shown = [self.show.format(value) for value in self.values]
        positions = {"start": self.start_index, "opens": self.opens_index}
        return {"kind": self.kind, "label": self.label, "values": shown, **positions}

    def asked(self) -> dict[Any, Any]:
        """Return what the script needs of a guess: none is set yet, and for each there is a verdict."""
        told = {key: value for key, value in self.to_dict().items() if key != "start"}
        return {**told, "opens": -1, "verdicts": [self.verdict(value) for value in self.values]}

    def verdict(self, guessed: Any) -> str:
        """Return whether a guess is right, how far from right it is, and what is."""
        shown = self.show.format(guessed)
        said = f"You guessed {shown}" if shown[0].isdigit() else f"You guessed “{shown}”"
        truth = self.truth if isinstance(self.truth, str) else self.truth(guessed)
        if guessed in self.right:
            return f"{said}, and that is right: {truth}."
        numbers = [value for value in (guessed, *self.right) if isinstance(value, (int, float))]
        if len(numbers) < 2 or numbers[0] != guessed or not isinstance(self.truth, str):
            return f"{said}. No: {truth}."
        gap = min((guessed - value for value in numbers[1:]), key=abs)
        return f"{said}, too {'high' if gap > 0 else 'low'} by {abs(gap):g}; {truth}."


@dataclass(frozen=True)
class Slider(_Control):
    """A slider over ordered `values`, with buttons to play and to step; `show` formats the value, like ``"{:.2f}"``.

    With `points`, one (x, y) in the pixels of the drawing for each value, the reader may also drag or tap in the
    drawing: the value is taken whose point is nearest. Points on a horizontal line make x count alone.
    """

    kind: ClassVar[str] = "slider"
    points: Sequence[tuple[float, float]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.points and len(self.points) != len(self.values):
            raise ValueError(
                f"points of {self.label!r}: one for each of {len(self.values)} values, got {len(self.points)}"
            )

    def to_dict(self) -> dict[Any, Any]:
        points = [[round(float(x), 1), round(float(y), 1)] for x, y in self.points]
        return {**super().to_dict(), **({"points": points} if points else {})}


@dataclass(frozen=True)
class Choice(_Control):
    """One button for each of a few `values`, of which one is pressed.

    In the drawing, whatever has the attribute `data-choose` chooses the value of this name when it is tapped. A choice
    that `steps` moves a slider that is at its first position on to the next: it is seen at once.
    """

    kind: ClassVar[str] = "choice"
    steps: bool = False

    def to_dict(self) -> dict[Any, Any]:
        return {**super().to_dict(), **({"steps": True} if self.steps else {})}


@dataclass(frozen=True)
class Panel:
    """One drawing of a figure.

    Parameters
    ----------
    alt : what it shows at rest, for readers who do not see it.
    size : width and height in its own pixels. With a width of 480, text of 15 pixels reads on a phone.
    background : the SVG that stays, such as axes.
    frame : a function of one value for each control. It returns the SVG that changes, as a list of parts, of which
        equal ones are stored once, and the places of the marks.
    marks : the SVG of each mark around the point (0, 0), by its key. A place is a sequence (x, y), or (x, y, size),
        (x, y, width, height) or (x, y, width, height, opacity), where the sizes are factors. A mark that a frame does
        not place is hidden in it.
    """

    alt: str
    size: tuple[float, float]
    background: str
    frame: Callable[..., Any]
    marks: Mapping[Any, str] = field(default_factory=dict)


class _Scene(NamedTuple):
    """What changes in one panel: its parts, and a place, or None, for each of its marks."""

    parts: list[str]
    places: list[Place | None]

    @property
    def drawing(self) -> str:
        return "".join(self.parts)


class Frame(NamedTuple):
    """One state of a figure: what it shows, the sentence below, and which part of the challenge it meets, or 0."""

    scenes: list[_Scene]
    sentence: str
    found: int

    @property
    def drawing(self) -> str:
        """What the first panel shows, without its marks."""
        return self.scenes[0].drawing


class Explorable:
    """A figure with controls; as the last value of a cell it shows itself.

    Parameters
    ----------
    title : the line above the figure.
    alt, size, background, marks : as in `Panel`.
    controls : the `Slider` and `Choice` objects.
    frame : a function of one value for each control. It returns the parts of the SVG that change, as in `Panel`, a
        sentence that says in words and numbers what it shows, and the places of the marks. It is called once for each
        combination of values.
    challenge : a question that moving the figure answers; it is shown where the figure can move.
    found : a function of the values that is true where the challenge is met; the reader is told so, quietly. Where it
        asks for several things, the function returns the number of the one that is met, 1, 2, ..., or 0.
    guess : a control by which the reader says beforehand what the figure will show, or skips it. Until then the
        sentence and whatever has the class `answer` in the drawing are hidden, and the other controls wait. Afterwards
        a verdict tells by its answer whether it was right.
    beside : a second panel, which stands beside the first where there is room.
    stagger : how many milliseconds later than the one before it each mark that moves sets out; by default all travel at
        once.
    height : a function of the values: how much of the first drawing the frame fills; by default all of it.

    Raises
    ------
    ValueError
        If there is no control, if a value at which a control starts is not among its values, if a guess has no answer,
        if a frame places a mark that does not exist, or if the challenge is met before anything has moved.
    TypeError
        If `frame` returns anything but a list of parts, a sentence and places.
    """

    def __init__(
        self,
        *,
        title: str,
        alt: str,
        size: tuple[float, float],
        background: str,
        controls: Sequence[_Control],
        frame: Callable[..., Any],
        challenge: str = "",
        marks: Mapping[Any, str] | None = None,
        found: Callable[..., int] | None = None,
        guess: _Control | None = None,
        beside: Panel | None = None,
        stagger: int = 0,
        height: Callable[..., float] | None = None,
    ) -> None:
        if not controls:
            raise ValueError("controls: a figure that moves needs at least one")
        if guess and (guess.answer is None or not guess.truth):
            raise ValueError(f"guess {guess.label!r}: its verdict needs an answer and a truth")
        self.title, self.challenge, self.controls, self.guess = title, challenge, list(controls), guess
        panels = [Panel(alt, size, background, frame, marks or {}), *([beside] if beside else [])]
        self.panels, self.stagger = panels, stagger

        def drawn(*values: object) -> Frame:
            match frame(*values):
                case (parts, str() as sentence, places):
                    drawings = [(parts, places), *(panel.frame(*values) for panel in panels[1:])]
                case other:
                    raise TypeError(f"frame must return parts, a sentence and the places of the marks, got {other!r}")
            scenes = [_scene(panel, *drawing) for panel, drawing in zip(panels, drawings, strict=True)]
            return Frame(scenes, sentence, found(*values) if found else 0)

        # The last control moves fastest: the script finds a frame's place in this list by the same rule.
        states = list(itertools.product(*(c.values for c in controls)))
        self.frames = [drawn(*values) for values in states]
        self.heights = [round(height(*values)) for values in states if height]
        if self._frame_at([c.opens_index for c in controls]).found:
            raise ValueError("found: the challenge is met before anything has moved; let a control open elsewhere")

    def _frame_at(self, positions: Sequence[int]) -> Frame:
        return self.frames[self._index(positions)]

    def _index(self, positions: Sequence[int]) -> int:
        index = 0
        for control, position in zip(self.controls, positions, strict=True):
            index = index * len(control.values) + max(position, 0)
        return index

    @property
    def start_frame(self) -> Frame:
        """The frame at rest."""
        return self._frame_at([control.start_index for control in self.controls])

    @property
    def id(self) -> str:
        """The name by which an address leads to the figure."""
        return "figure-" + re.sub("[^a-z0-9]+", "-", self.title.lower()).strip("-")

    def __repr__(self) -> str:
        return f"Explorable({self.title!r}, {len(self.frames)} frames)"

    def _repr_html_(self) -> str:
        start = self.start_frame
        pictures = "\n".join(
            _picture(panel, scene, len(self.panels)) for panel, scene in zip(self.panels, start.scenes, strict=True)
        )
        if self.heights:
            opens = self._index([control.opens_index for control in self.controls])
            ratio = f"--ratio: {number(self.panels[0].size[0])} / {self.heights[opens]}"
            pictures = pictures.replace('style="', f'style="{ratio}; ', 1)
        two = " two" * (len(self.panels) > 1)
        # A notebook stores each line apart: with a part or a frame a line, a diff names the one that changed.
        return (
            f'<figure class="explorable" id="{self.id}"><figcaption>'
            f"<strong>{escape(self.title)}</strong>"
            f'<span class="explorable-challenge" hidden>{escape(self.challenge)}</span></figcaption>\n'
            '<div class="explorable-controls"></div>\n'
            f'<div class="explorable-panels{two}">\n{pictures}\n</div>\n'
            f'<output aria-live="polite">{escape(start.sentence)}</output>\n'
            f'<script type="application/json">{self._json()}</script></figure>'
        )

    def _json(self) -> str:
        """Write what the script needs, each part and each frame on a line of its own."""
        parts: dict[str, int] = {}  # each once, in the order of first use
        frames = []
        for scenes, sentence, found in self.frames:
            shown = [[[parts.setdefault(part, len(parts)) for part in s.parts], _short(s.places)] for s in scenes]
            frames.append(script_json([sentence, int(found), *shown]))
        controls = script_json([control.to_dict() for control in self.controls])
        guess = self.guess and self.guess.asked()
        lines = ",\n".join(script_json(part) for part in parts)
        stagger = f'"stagger":{self.stagger},\n' if self.stagger else ""
        heights = f'"heights":{script_json(self.heights)},\n' if self.heights else ""
        head = f'"controls":{controls},\n"guess":{script_json(guess)},\n{stagger}{heights}'
        return f'{{{head}"parts":[\n{lines}\n],\n"frames":[\n' + ",\n".join(frames) + "\n]}"


def _picture(panel: Panel, scene: _Scene, n_panels: int) -> str:
    """Write one panel at rest."""
    width, height = panel.size
    marks = "".join(
        f'\n<g class="traveller" data-key={quoteattr(str(key))} style="{_style(place)}">{mark}</g>'
        for (key, mark), place in zip(panel.marks.items(), scene.places, strict=True)
    )
    # A high drawing is not enlarged: the whole of it fits a window.
    limit = "" if n_panels > 1 else f"; max-width: {width * max(1, min(1.2, 600 / height)):.0f}px"
    return (
        f'<svg role="img" aria-label={quoteattr(panel.alt)} viewBox="0 0 {number(width)} {number(height)}" '
        f'fill="currentColor" font-size="15" style="display: block; width: 100%{limit}">\n'
        f'{panel.background}\n<g class="frame">{scene.drawing}</g>{marks}</svg>'
    )


def _style(place: Place | None) -> str:
    """Write a place as the script does."""
    if place is None:
        return "opacity:0"
    x, y, width, height, opacity = map(number, _whole(place))
    return f"transform:translate({x}px,{y}px) scale({width},{height});opacity:{opacity}"


def _whole(place: Place) -> list[float]:
    """Fill a place up to five numbers: x, y, width, height, opacity."""
    x, y, *rest = place
    width = rest[0] if rest else 1
    height = rest[1] if len(rest) > 1 else width
    return [x, y, width, height, rest[2] if len(rest) > 2 else 1]


def _short(places: list[Place | None]) -> list[list[float] | None]:
    """Round the places as a drawing is rounded; whole numbers lose their point."""
    return [None if place is None else [json.loads(number(float(value))) for value in place] for place in places]


def _scene(panel: Panel, parts: object, places: Mapping[Any, Place]) -> _Scene:
    """Hold what the frame of a panel returns, with a place, or None, for each of the marks."""
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise TypeError(f"frame must return SVG as a list of strings, got {parts!r}")
    unknown = [key for key in places if key not in panel.marks]
    if unknown:
        raise ValueError(f"marks: the frame places {unknown}, which are not among the marks")
    return _Scene(parts, [places.get(key) for key in panel.marks])


class Scene:
    """What a figure shows, apart from its words: subclass it, compute the states once, and draw each of them.

    A function of the chapter's module adds title, alternative text, controls and challenge: ``scene.explorable(...)``.
    """

    size: tuple[float, float] = (480, 300)
    stagger = 0  # melons that fall set out one after the other, so many milliseconds apart

    def background(self) -> str:
        """Return the SVG that stays."""
        return ""

    def marks(self) -> dict[Any, str]:
        """Return the SVG of each mark, by its key."""
        return {}

    def frame(self, *args: Any, **kwargs: Any) -> State:
        """Return what changes, the sentence, and the places of the marks, for one value of each control."""
        raise NotImplementedError

    def beside(self) -> Panel | None:
        """Return the second panel, if there is one."""
        return None

    def explorable(self, **words: Any) -> Explorable:
        """Return the figure, with these further arguments of :class:`Explorable`."""
        drawn = dict(size=self.size, background=self.background(), marks=self.marks(), frame=self.frame)
        return Explorable(**{**drawn, "beside": self.beside(), "stagger": self.stagger, **words})
