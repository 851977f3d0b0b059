"""Rows as melons, the same in every drawing of the book: how they look, what they are called, where they lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from figures.charts import Spot
from figures.explorable import Places
from figures.looks import centred, in_class
from treekit.pen.palette import RIPE, UNRIPE
from treekit.pen.svg import circle, text


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


def in_lines(rows: Sequence[Any], middle: float, first: float, n_columns: int, pitch: float, down: float = 0) -> Places:
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
