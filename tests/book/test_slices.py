"""Which cells above a cell needs: found from the code, and proved by running cells of chapters after these alone."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import io
import json

import pytest

from scripts.execute import BOOK
from tests.book.test_upkeep import load_extension

LIVE = BOOK / "live"
#: Chapters, and which of their cells are tried: each, or each fourth where cells take long.
TRIED = [("entropy", 1), ("introduction", 4), ("id3", 4)]


@pytest.fixture(scope="module")
def live():
    """The modules of the browser's Python, which run on a desk, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(LIVE)
        patch.setattr("builtins.input", input)  # put back in the end
        yield importlib.import_module("slices"), importlib.import_module("runner")


def test_slices_of_small_code(live):
    slices, _ = live
    cells = [
        "import numpy as np\na = [1]",
        "b = 2",
        "a.append(3)",
        "a[0] = b",
        "def f(x):\n    return a + x",
        "print(b)",
        "f(1)",
        "c = b\nb += 1",
        "c, b",
        "for name in dir():\n    pass",
    ]
    assert slices.slices(cells) == [
        [], [], [0], [0, 1, 2], [0, 1, 2, 3], [1], [0, 1, 2, 3, 4], [1], [1, 7], [],
    ]  # fmt: skip


def test_a_cell_that_shows_changes_nothing(live):
    slices, _ = live
    assert slices.names_of("plt.plot(x)\nprint(y)\nimport matplotlib.pyplot as plt").changed == set()
    assert slices.names_of("tree.fit(x, y)\ndel z[0]\ntree.a = 1").changed == {"tree", "z"}


def outputs_of(runner, codes):
    """What each of some cells prints and shows, run one after the other among no names but theirs."""
    told = []
    for place, code in enumerate(codes):
        box = io.StringIO()
        runner.show_by(lambda kind, text, box=box: box.write(text))
        with contextlib.redirect_stdout(box), contextlib.redirect_stderr(io.StringIO()):
            answer = json.loads(asyncio.run(runner.run(code, f"cell {place}", "" if place else "fresh")))
        assert "error" not in answer, answer
        told.append(box.getvalue())
    return told


@pytest.mark.slow
@pytest.mark.parametrize(("chapter", "step"), TRIED)
def test_a_cell_after_its_slice_gives_what_it_gives_after_all(live, monkeypatch, chapter, step):
    slices, runner = live
    monkeypatch.chdir(BOOK)
    codes = [source for source, _ in load_extension("live").cells_of(BOOK / f"{chapter}.ipynb")]
    whole, needs = outputs_of(runner, codes), slices.slices(codes)
    assert sum(map(len, needs)) < 0.6 * sum(range(len(codes)))
    tried = range(0, len(codes), step)
    assert [k for k in tried if outputs_of(runner, [codes[j] for j in [*needs[k], k]])[-1] != whole[k]] == []
