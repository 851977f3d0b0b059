"""JupyterLite beside the book: what its notebooks hold, and each chapter opened and run in a real browser.

What builds JupyterLite must be fetched, and each notebook starts a Python of its own. So those marked `lite` are left
out of `make test`: `make test-lite` runs them, and the workflow on every push.
"""

from __future__ import annotations

import json
import re

import pytest

from scripts import lite
from scripts.lite_prose import Prose, Site
from tests.book.sites import build_small, open_tab, outside, served, small_book
from tests.book.test_checks import CELLS

#: The directives that jupyterlab-myst shows.
SHOWN = {"admonition", "dropdown", "exercise", "hint", "note", "solution", "prf:algorithm", "prf:definition"}
SHOWN |= {"prf:lemma", "prf:proof", "prf:theorem"}
LONGEST = 240_000  # milliseconds that a busy machine may take
CHAPTERS = [name for name in lite.chapters() if not name.startswith("errata")]
CODE = """import sys
from treekit import plain
print(len(plain.__doc__) > 20, "numpy" in sys.modules, sys.maxsize == 2**31 - 1)"""


@pytest.fixture(scope="module")
def prose(site):
    return lambda name: Prose(Site(site, lite.ROOT / "book"), name, set(lite.chapters()))


def test_what_refers_elsewhere_becomes_a_link_or_its_words(prose):
    """Numbers, titles and authors are those of the site."""
    rewritten = prose("id3").rewritten
    assert rewritten("see {doc}`cart`") == "see [CART: two branches, any target](cart.ipynb)"
    assert rewritten("{doc}`the words <glossary>`, {term}`stump`, {term}`Bits <bit>`") == "the words, stump, Bits"
    assert rewritten("{cite:t}`zhou2016` {cite}`freund1997`") == "Zhou (2016) (Freund and Schapire, 1997)"
    assert re.fullmatch(r"\[\(1\.\d\)\]\(entropy.ipynb\)", rewritten("{eq}`eq-entropy`"))
    assert re.fullmatch(r"\[Algorithm 9\.\d\]\(adaboost.ipynb\)", rewritten("{prf:ref}`alg-adaboost`"))
    assert rewritten("[tie](#introduction-tie) [1]{.quoted}") == "[tie](introduction.ipynb) 1"
    assert rewritten("{ref}`here <id3-tennis>`") == "{ref}`here <id3-tennis>`"  # Jupyter knows the place


def test_directives_that_jupyter_does_not_know_are_written_out(prose):
    rewritten = prose("id3").rewritten
    check = ":::{check} choose\n:label: check-a\nWhich one?\n\n* [x] This.\n\n  Yes.\n:::"
    assert rewritten(check).splitlines()[1].startswith("Which one? (The page") and "[x]" not in rewritten(check)
    assert rewritten("```{margin}\nAside.\n```") == ":::{note}\nAside.\n:::"
    listing = rewritten("```{literalinclude} ../treekit/plain.py\n:pyobject: gini\n:language: python\n```")
    assert listing.startswith("```python\ndef gini(D):") and listing.endswith("\n```")


def test_every_notebook_is_there_and_readable(site, tmp_path):
    lite.write_contents(tmp_path, site)
    names = [f"book/{name}.ipynb" for name in lite.chapters()]
    held = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.ipynb"))
    exercises = sorted((lite.ROOT / "book" / "exercises").glob("*.ipynb"))
    assert held == sorted([*names, *(f"exercises/{path.name}" for path in exercises)])
    assert len(CHAPTERS) == len(exercises) + 1 > 14  # how trees grow is an appendix without tasks
    for path in tmp_path.rglob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        cells = json.loads(text)["cells"]
        assert "### BEGIN" not in text and all(cell["metadata"]["trusted"] for cell in cells)
        words = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")
        assert set(re.findall(r"^[`:]{3,}\{([\w:-]+)\}", words, re.MULTILINE)) <= SHOWN, path.name
        assert re.findall(r"\{(?:cite|term|doc|py)\b[\w:]*\}`", words) == [], path.name


def test_the_lock_of_the_kernel_has_the_versions_of_pyodide():
    locked = re.findall(r"^(\S+==\S+)", (lite.LITE / "kernel.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(locked) == lite.names()


@pytest.mark.slow
def test_the_button_is_there_where_jupyterlite_is(tmp_path):
    button = '"../lite/notebooks/index.html?path=book/small.ipynb"'
    for number, variables in enumerate([{}, {"BOOK_LITE": "yes"}]):
        folder = tmp_path / str(number)
        folder.mkdir()
        html = build_small(small_book(folder, CELLS), **variables)
        assert (button in html) == bool(variables)


@pytest.fixture(scope="module")
def address(site, tmp_path_factory):
    """Where the site is served, with JupyterLite."""
    folder = tmp_path_factory.mktemp("with_lite")
    for path in site.iterdir():
        (folder / path.name).symlink_to(path)
    lite.build(site, folder / "lite")
    with served(folder) as address:
        yield address


@pytest.fixture(scope="module")
def context(browser, address):
    """A window of the browser; nothing is asked from elsewhere."""
    with browser.new_context() as context:
        elsewhere = []
        context.on("request", lambda request: outside(request.url, address) and elsewhere.append(request.url))
        yield context
        assert elsewhere == []


def opened(context, address, path):
    """A tab with a notebook, and its first cell of code that may be changed."""
    tab, _, _ = open_tab(context, address)
    tab.goto(f"{address}/lite/notebooks/index.html?path={path}")
    cells = tab.locator(".jp-Notebook .jp-CodeCell")
    words = "your code here" if path.startswith("exercises") else ""  # the other cells of an exercise are locked
    # Before the notebook has come, an empty cell of code stands there.
    tab.wait_for_selector(".jp-Notebook .jp-MarkdownCell", timeout=LONGEST)
    cells.filter(has_text=words).first.wait_for(timeout=LONGEST)
    # On a phone the toolbar has no room for what tells that Python has come.
    tab.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", state="attached", timeout=LONGEST)
    cell = cells.nth(next(k for k, text in enumerate(cells.all_inner_texts()) if words in text))
    return tab, cell


def run(tab, cell, code):
    """What a cell of code prints, put in the place of another; its last line says that it is done."""
    cell.locator(".cm-content").click()
    tab.keyboard.press("Control+a")
    tab.keyboard.insert_text(f"{code}\nprint('done')")
    tab.keyboard.press("Control+Enter")
    output = cell.locator(".jp-OutputArea-output")
    output.filter(has_text="done").or_(output.filter(has_text="Error")).first.wait_for(timeout=LONGEST)
    return output.first.inner_text()


@pytest.mark.lite
def test_it_is_dark_in_the_dark_and_fits_a_phone(browser, address):
    with browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark") as context:
        tab, _ = opened(context, address, "book/entropy.ipynb")
        tab.wait_for_selector("body[data-jp-theme-light=false]", state="attached", timeout=LONGEST)
        assert tab.evaluate("document.scrollingElement.scrollWidth") <= 390


@pytest.mark.lite
@pytest.mark.parametrize("path", [*(f"book/{name}.ipynb" for name in CHAPTERS), "exercises/introduction.ipynb"])
def test_a_notebook_opens_and_runs_a_cell(context, address, path):
    """With treekit's plain part at hand, by Python of 32 bits, and NumPy not loaded."""
    tab, cell = opened(context, address, path)
    try:
        assert tab.locator(".jp-MarkdownCell h1").first.inner_text()
        assert run(tab, cell, CODE).split() == ["True", "False", "True", "done"]
        assert tab.get_by_text("Unknown Directive").count() == 0
    finally:
        tab.close()
