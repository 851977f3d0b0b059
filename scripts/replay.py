"""Compare what a chapter prints on another Python with what its page shows: for `make wasm` and `make browser`.

Text, tables and figures that move are compared without their white space. Plots are not, because Matplotlib draws them
differently from version to version.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "book" / "live"))
from slices import slices

__all__ = ["compare", "numbered", "report", "stored", "words"]
#: For each cell that is reported, by its number among the cells of code, counted from 1: what differs, or why it was
#: skipped.
Cells = dict[int, str]


def words(text: str) -> str:
    """A text without markup and white space, and without addresses in memory."""
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    return re.sub(r"\s+|0x[0-9a-f]+", "", unescape(re.sub(r"<(?!script)[^>]*>", "", text)))


def stored(cell: dict[str, Any]) -> str:
    """What the page shows, but for plots."""
    shown = []
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", "")})
        if "image/svg+xml" not in data:
            shown.append("".join(data.get("text/html", data.get("text/plain", ""))))
    return words("".join(shown))


def difference(page: str, here: str) -> str:
    """Where two texts begin to differ."""
    k = next((k for k, (one, other) in enumerate(zip(page, here)) if one != other), min(len(page), len(here)))
    start = max(0, k - 30)
    return f"the page {page[start : k + 50]!r}, here {here[start : k + 50]!r}"


def compare(
    notebook: dict[str, Any], run: Callable[[str, int], tuple[str, dict[str, Any]]], absent: set[str]
) -> tuple[Cells, Cells]:
    """Run all cells in turn, and return those that show something else and those that were skipped.

    ``run(source, number)`` returns what a cell shows, but for plots, and the answer of `runner.run`. A cell is skipped
    if it imports one of the packages that are ``absent``, or if it fails and needs a skipped one.
    """
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells]
    differs, skipped = Cells(), Cells()
    for k, (cell, above) in enumerate(zip(cells, slices(sources)), start=1):
        shown, answer = run(sources[k - 1], k)
        missing, error = set(answer.get("missing", ())), answer.get("error", "")
        lost = [j + 1 for j in above if j + 1 in skipped]
        if missing & absent:
            skipped[k] = f"needs {', '.join(sorted(missing & absent))}"
        elif error and lost:
            skipped[k] = f"needs cell {lost[0]}, which was skipped"
        elif error or missing:
            differs[k] = error.strip().splitlines()[-1] if error else f"could not be loaded: {', '.join(missing)}"
        elif words(shown) != stored(cell):
            differs[k] = difference(stored(cell), words(shown))
    return differs, skipped


def numbered(notebook: dict[str, Any], known: dict[str, str]) -> Cells:
    """What is known of cells by their ids, which stay when a cell is inserted above, by their numbers."""
    ids = [cell["id"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return {ids.index(name) + 1: why for name, why in known.items()}


def report(chapter: str, differs: Cells, skipped: Cells, known: Cells, seconds: float) -> int:
    """Print what became of a chapter's cells, and return how many differences are not as they are known to be."""
    print(f"{chapter}: {len(differs)} cells print something else, {len(skipped)} were skipped, {seconds:.0f} s")
    for k, why in skipped.items():
        print(f"  cell {k} skipped: {why}")
    for k, told in differs.items():
        print(f"  cell {k}: {known.get(k, 'NOT KNOWN')}\n    {told}")
    for k in known.keys() - differs.keys():
        print(f"  cell {k}: no longer differs: take it out of KNOWN")
    print(end="", flush=True)
    return len(differs.keys() ^ known.keys())
