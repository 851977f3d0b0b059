"""The code of a chapter, cell by cell, for tests that run it, and what other programs have printed for it."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import nbformat

from scripts.execute import BOOK


def sources(chapter: str) -> dict[str, str]:
    """What a chapter's cells say, by their ids."""
    return {cell.id: cell.source for cell in nbformat.read(BOOK / f"{chapter}.ipynb", as_version=4).cells}


def defined_by(chapter: str, *cells: str, **names: Any) -> dict[str, Any]:
    """The names that some cells of a chapter define, given those that cells above them do."""
    code = sources(chapter)
    with redirect_stdout(io.StringIO()):
        for cell in cells:
            exec(code[cell], names)
    return names


def recorded(name: str) -> dict[str, Any]:
    """The outputs of other programs in ``tests/data``; the file of the same name that ends in .md tells their story."""
    return json.loads((Path(__file__).parents[1] / "data" / f"{name}.json").read_text())
