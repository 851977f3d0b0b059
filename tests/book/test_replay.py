"""What `make wasm` and `make browser` compare. Here it is tried on this Python, and in a browser on a small chapter of
plain Python: the commands themselves take many minutes, and the second needs Pyodide's public address."""

from __future__ import annotations

import json
import sys

import nbformat
import pytest
import yaml

from scripts import replay, wasm, wasm_guest
from scripts.execute import BOOK
from tests.book import in_browser
from tests.book.sites import build_small, served, small_book
from tests.book.test_run import CELLS, DRILL


def notebook(*cells):
    """Cells of code as a notebook is stored, each with what its page shows."""
    made = [
        {"cell_type": "code", "source": source, "outputs": [{"output_type": "stream", "text": shown}]}
        for source, shown in cells
    ]
    return {"cells": made}


#: Cells with what their page shows; which of them differ, with words of what is told; and which are skipped.
CASES = [
    ([("print(6 * 7)", "42\n"), ("[1, 2]", "[1,\n 2]")], {}, {}),
    ([("x = 6", ""), ("print(x * 7)", "43\n")], {2: "'43', here '42'"}, {}),
    ([("print(unknown)", "42\n")], {1: "NameError: name 'unknown' is not defined"}, {}),
    ([("1 / 0", "")], {1: "ZeroDivisionError"}, {}),
    ([("import dask\nx = 1", ""), ("print(x)", "1\n"), ("2", "2")], {}, {1: "needs dask", 2: "needs cell 1"}),
    ([("import dask\nx = 1", ""), ("print(y)", "1\n"), ("2", "3")], {2: "name 'y'", 3: "'3', here '2'"}, {1: "dask"}),
    ([("import no_such_package", "")], {1: "No module named 'no_such_package'"}, {}),
]


@pytest.fixture
def on_a_desk(monkeypatch):
    """Runs a cell on this Python, as `make wasm` does on its own."""
    monkeypatch.setitem(sys.modules, "dask", None)  # as where it cannot be had
    monkeypatch.setattr(wasm_guest.runner, "space", {})
    monkeypatch.setattr("builtins.input", input)  # put back in the end
    return wasm_guest.run


@pytest.fixture(scope="module")
def small(built_once):
    """The address of a small site."""
    pages = built_once("live", lambda folder: build_small(small_book(folder, CELLS, drill=DRILL)))
    with served(pages) as address:
        yield address


def told_as(found, wanted):
    return all(
        cells.keys() == words.keys() and all(words[k] in cells[k] for k in cells) for cells, words in zip(found, wanted)
    )


@pytest.mark.parametrize("case", CASES)
def test_what_differs_is_found_and_what_is_skipped_is_told(case, on_a_desk):
    cells, *wanted = case
    assert told_as(replay.compare(notebook(*cells), on_a_desk, {"dask"}), wanted)


def test_and_so_in_a_browser(browser, small):
    with browser.new_context() as context:
        for cells, *wanted in CASES[4:6]:
            assert told_as(in_browser.replayed(context, small, notebook(*cells)), wanted), cells


def test_a_chapter_of_plain_python_in_a_browser(browser, small):
    """It prints what the page shows, but where the stored output is wrong. NumPy without its wheels is a fault, too."""
    chapter = {"cells": json.loads(json.dumps(CELLS))}
    with browser.new_context() as context:
        context.route("https://cdn.jsdelivr.net/**", lambda route: route.abort())
        differs, skipped = in_browser.replayed(context, small, chapter)
    assert skipped == {} and differs.keys() == {4, 5, 6, 8}
    assert differs[4] == "ZeroDivisionError: division by zero" and differs[5] == "could not be loaded: numpy"
    assert "np" in differs[6]


def test_an_endless_cell_ends(browser, small, monkeypatch):
    monkeypatch.setattr(in_browser, "SECONDS", 10)
    with browser.new_context() as context:
        cells = notebook(("1", "1"), ("while True:\n    pass", ""), ("2", "2"))
        differs, skipped = in_browser.replayed(context, small, cells)
    assert (differs, skipped) == ({2: "It had not ended after 10 s."}, {})


def test_a_difference_that_is_not_known_fails(capsys):
    assert replay.report("id3", {3: "a, here b"}, {5: "needs dask"}, {}, 1.0) == 1
    told = capsys.readouterr().out
    assert "1 cells print something else, 1 were skipped" in told
    assert "cell 3: NOT KNOWN" in told and "cell 5 skipped: needs dask" in told
    assert replay.report("id3", {3: "a, here b"}, {}, {3: "another version"}, 1.0) == 0
    assert replay.report("id3", {}, {}, {3: "another version"}, 1.0) == 1  # it is known no longer


@pytest.mark.parametrize("known", [wasm.KNOWN, in_browser.KNOWN], ids=["wasm", "browser"])
def test_known_differences_are_of_chapters_and_have_reasons(known):
    for chapter, cells in known.items():
        numbers = replay.numbered(nbformat.read(BOOK / f"{chapter}.ipynb", 4), cells)
        assert chapter in wasm.chapters() and len(numbers) == len(cells) and all(cells.values())


def test_pages_are_read_as_they_are_stored():
    cell = json.loads((BOOK / "entropy.ipynb").read_text())["cells"]
    shown = [replay.stored(one) for one in cell if one["cell_type"] == "code"]
    assert any("explorable" in one or "{" in one for one in shown) and all(" " not in one for one in shown)


def test_no_site_is_published_and_nothing_released_where_a_page_would_print_something_else():
    workflows = BOOK.parent / ".github" / "workflows"
    for name, job in [("book", "publish"), ("release", "build")]:
        jobs = yaml.safe_load((workflows / f"{name}.yml").read_text(encoding="utf-8"))["jobs"]
        assert "wasm" in jobs[job]["needs"] and jobs["wasm"]["uses"] == "./.github/workflows/wasm.yml"
    steps = yaml.safe_load((workflows / "wasm.yml").read_text(encoding="utf-8"))["jobs"]
    run = [step["run"] for job in steps.values() for step in job["steps"] if "run" in step]
    assert run == ["make wasm", "make first-output", "make browser"]
