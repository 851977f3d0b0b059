"""Cut a font of the built site down to the characters that its pages show: from 400 KB to 35, from 150 KB to 2."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from fontTools import subset

logging.getLogger("fontTools").setLevel(logging.WARNING)  # it would report every table that it drops


def cut(path: Path, characters: Iterable[str]) -> None:
    """Keep of the font at `path` only `characters`, with the larger and smaller forms that formulas make of them."""
    options = subset.Options(flavor="woff2", layout_features=["*"], hinting=False, ignore_missing_unicodes=True)
    font = subset.load_font(path, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(characters))
    subsetter.subset(font)
    # The licence reserves some names for the whole font.
    for record in font["name"].names:
        if record.nameID in (1, 3, 4, 6, 16, 18):
            record.string = "Cut for this book"
    subset.save_font(font, path, options)
