"""The colours of classes, the same in every drawing of the book.

They come from the palette of Okabe and Ito, which colour-blind readers can tell apart. Its yellow, sky blue and
orange are too pale on white, so a dark gold and a grey stand in for them. Each colour has a contrast of at least
3 : 1 on a white page and on the dark theme's background.
"""

from __future__ import annotations

__all__ = ["class_color", "CLASS_COLORS", "UNRIPE", "RIPE", "GAIN", "REGION", "BAR"]
CLASS_COLORS = (
    "#0072B2",  # blue
    "#D55E00",  # vermilion
    "#009E73",  # green
    "#CC79A7",  # purple
    "#946F00",  # dark gold
    "#7A7A7A",  # grey
)

# What a colour means stays the same, whatever the order of the classes in a table: the numbers of their colours.
UNRIPE, RIPE, GAIN = 0, 1, 2
# How much of a colour shows: in the region of a class, and in a bar.
REGION, BAR = 0.15, 0.5


def class_color(k: int) -> str:
    """Return the colour of class number `k` for an SVG style; a style sheet can replace it by `--treekit-class-k`.

    The six colours repeat after the sixth class. Matplotlib takes the plain ones, `CLASS_COLORS`.
    """
    k = k % len(CLASS_COLORS)
    return f"var(--treekit-class-{k}, {CLASS_COLORS[k]})"
