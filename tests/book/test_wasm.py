"""What `make wasm` compares, tried on this Python: `make wasm` itself takes minutes, and is not run here."""

import json
import sys

import nbformat
import pytest

from scripts.execute import BOOK

sys.path.append(str(BOOK / "live"))
from scripts import wasm, wasm_guest


def notebook(*cells):
    """Cells of code as a notebook is stored, each with what its page shows."""
    made = [
        {"cell_type": "code", "source": source, "outputs": [{"output_type": "stream", "text": shown}]}
        for source, shown in cells
    ]
    return {"cells": made}


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ([("print(6 * 7)", "42\n"), ("[1, 2]", "[1,\n 2]")], {}),
        ([("x = 6", ""), ("print(x * 7)", "43\n")], {2: "'43', here '42'"}),
        ([("print(unknown)", "42\n")], {1: "NameError: name 'unknown' is not defined"}),
        ([("import lightgbm", ""), ("print(lightgbm.__name__)", "lightgbm\n")], {}),
    ],
)
def test_a_cell_that_shows_something_else_is_found(monkeypatch, cells, found):
    monkeypatch.setitem(sys.modules, "lightgbm", None)  # as where it cannot be had
    monkeypatch.setattr(wasm_guest.runner, "space", {})
    told = wasm_guest.differences(notebook(*cells))
    assert told.keys() == found.keys() and all(words in told[cell] for cell, words in found.items())


def test_known_differences_are_of_chapters_and_have_reasons():
    for chapter, cells in wasm.KNOWN.items():
        code = [cell for cell in nbformat.read(BOOK / f"{chapter}.ipynb", 4).cells if cell.cell_type == "code"]
        assert chapter in wasm.chapters() and 0 < max(cells) <= len(code) and all(cells.values())


def test_pages_are_read_as_they_are_stored():
    cell = json.loads((BOOK / "entropy.ipynb").read_text())["cells"]
    shown = [wasm_guest.stored(one) for one in cell if one["cell_type"] == "code"]
    assert any("explorable" in one or "{" in one for one in shown) and all(" " not in one for one in shown)
