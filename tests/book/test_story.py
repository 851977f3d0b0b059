"""The pages in the order of the book: nothing is used before it was met, told twice or answered beforehand."""

from __future__ import annotations

import ast
import html
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

import nbformat
import pytest
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book._ext.checks import as_expression
from scripts.execute import BOOK, ROOT

Pages = dict[str, NotebookNode]

#: What two open cells show alike, and why the second does not send the reader back.
TWICE = {("cart", "pruning"): "the tree of density and sugar is the table by which the first prices are worked out"}
LISTED = re.compile(r"\{literalinclude\} \.\./treekit/plain\.py\n(?::(?!pyobject).*\n)*:pyobject: (\w+)")
TOLD = re.compile(r"`(\w+)(?:\([^`]*\))?`")
FOLDED = {"hide-cell", "hide-output", "remove-cell", "remove-output"}


def read_pages() -> Pages:
    """The introduction and the chapters in the order of the contents, then the appendix that lists code, too."""
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"]
    names = [chapter["file"].removeprefix("book/") for part in parts[:2] for chapter in part["chapters"]]
    paths = {name: BOOK / f"{name}.ipynb" for name in [*names, "growing"]}
    return {name: nbformat.read(path, 4) for name, path in paths.items() if path.exists()}


def parsed(code: str) -> ast.Module:
    """The code of a cell, without what only IPython reads."""
    return ast.parse(re.sub(r"(?m)^\s*[%!].*", "", code))


def names_in(code: str) -> set[str]:
    """The names that code reads, sets or imports."""
    nodes = list(ast.walk(parsed(code)))
    imported = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return imported | attributes | {node.id for node in nodes if isinstance(node, ast.Name)}


def unmet_names(pages: Pages) -> Iterator[tuple[str, str, str]]:
    """Page, listing and name, where a listing of treekit.plain calls a function that no page has named so far."""
    source = (ROOT / "treekit" / "plain.py").read_text("utf-8")
    functions = {node.name: ast.unparse(node) for node in ast.parse(source).body if hasattr(node, "name")}
    met: set[str] = set()
    for page, notebook in pages.items():
        for cell in notebook.cells:
            if cell.cell_type == "code":
                met |= names_in(cell.source)
                continue
            listed = LISTED.findall(cell.source)
            met |= {*listed, *TOLD.findall(cell.source)}
            for name in listed:
                yield from ((page, name, other) for other in names_in(functions[name]) & set(functions) - met)


def shown(cell: NotebookNode) -> str:
    """The text of a cell's outputs."""
    text = ""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        text += re.sub(r"<[^>]*>", " ", data.get("text/html", "")) or data.get("text/plain", "")
        text += output.get("text", "") + "\n"
    return html.unescape(text)


def told_twice(pages: Pages) -> Iterator[tuple[str, ...]]:
    """The pages of each listing, each table and each drawing that stands open in more than one place."""
    places: dict[str, list[str]] = defaultdict(list)
    for page, notebook in pages.items():
        for cell in notebook.cells:
            for name in LISTED.findall(cell.source):
                places[name].append(page)
            for output in [] if FOLDED & {*cell.metadata.get("tags", [])} else cell.get("outputs", []):
                data = output.get("data", {})
                if len(table := data.get("text/html", data.get("text/plain", ""))) > 200:
                    places[table].append(page)
    return (tuple(found) for found in places.values() if len(found) > 1)


def answered_above(notebook: NotebookNode) -> Iterator[str]:
    """The questions of the checks whose right number an open cell has printed before."""
    printed = ""
    for cell in notebook.cells:
        if "{check} number" in cell.source:
            rights = re.findall(r"\* \[x\] `([^`]*#[^`]*)`", cell.source)
            yield from (right for right in rights if re.search(as_expression(right), printed))
        if not FOLDED & {*cell.metadata.get("tags", [])}:
            printed += shown(cell)


def hanging_colons(cells: Iterable[NotebookNode]) -> Iterator[str]:
    """The ends of the paragraphs that announce something, where nothing stands open behind them."""
    cells = [*cells, new_markdown_cell("")]
    for cell, following in zip(cells, cells[1:]):
        prose = cell.source.rstrip() if cell.cell_type == "markdown" else ""
        is_open = following.cell_type == "code" and not FOLDED & {*following.metadata.get("tags", [])}
        if re.search("[^:]:$", prose) and not is_open:
            yield prose[-60:]


def names_by_use(code: str) -> tuple[set[str], set[str], set[str]]:
    """What a cell only reads, what it sets, and the variables of its loops; functions keep their own names."""
    body = parsed(code).body
    nodes = [node for part in body if not isinstance(part, ast.FunctionDef | ast.ClassDef) for node in ast.walk(part)]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    stored |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    targets = [node for loop in nodes if isinstance(loop, ast.For) for node in ast.walk(loop.target)]
    loops = {node.id for node in targets if isinstance(node, ast.Name)}
    return {node.id for node in names} - stored, stored - loops, loops


def lost_to_loops(notebook: NotebookNode) -> Iterator[str]:
    """The names that a cell reads where a loop has overwritten what an earlier cell had set."""
    kept: set[str] = set()
    lost: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            reads, sets, loops = names_by_use(cell.source)
            yield from reads & lost
            kept, lost = kept | sets, (lost | loops & kept) - sets


@pytest.fixture(scope="module")
def pages() -> Pages:
    return read_pages()


def test_a_listing_calls_only_what_the_reader_has_met(pages):
    assert list(unmet_names(pages)) == []


def test_nothing_stands_twice(pages):
    assert set(told_twice(pages)) == set(TWICE)


def test_no_check_asks_what_stands_above_it(pages):
    assert {page: found for page, notebook in pages.items() if (found := list(answered_above(notebook)))} == {}


def test_the_number_of_a_formula_has_no_text_of_its_own(pages):
    """The build would drop the text without a word, and leave the sentence with a number alone."""
    assert not [(p, c.source) for p, page in pages.items() for c in page.cells if re.search(r"{eq}`[^`]*<", c.source)]


def test_a_colon_has_something_behind_it(pages):
    assert {page: found for page, notebook in pages.items() if (found := list(hanging_colons(notebook.cells)))} == {}


def test_no_loop_overwrites_what_a_later_cell_reads(pages):
    assert {page: found for page, notebook in pages.items() if (found := list(lost_to_loops(notebook)))} == {}


def small(*cells: NotebookNode) -> NotebookNode:
    return new_notebook(cells=list(cells))


LISTING = "```{literalinclude} ../treekit/plain.py\n:pyobject: score\n```"
TABLE = new_code_cell("table", outputs=[new_output("execute_result", data={"text/plain": "a row of a table\n" * 20})])
FIVE = new_code_cell("print()", outputs=[new_output("stream", text="gain 0.500")])
ASKED = new_markdown_cell(":::{check} number\n\n* [x] `gain #`\n:::")


def test_a_name_that_comes_too_soon_is_caught():
    early, told = new_markdown_cell(LISTING), new_markdown_cell("`follow(node, row)` goes down.\n\n" + LISTING)
    assert list(unmet_names({"page": small(early)})) == [("page", "score", "follow")]
    assert list(unmet_names({"page": small(told)})) == []


def test_what_stands_twice_is_caught():
    listing = new_markdown_cell(LISTING)
    assert list(told_twice({"one": small(TABLE), "other": small(TABLE)})) == [("one", "other")]
    assert list(told_twice({"one": small(listing, new_markdown_cell(LISTING))})) == [("one", "one")]
    folded = new_code_cell("table", outputs=TABLE.outputs, metadata={"tags": ["hide-cell"]})
    assert list(told_twice({"one": small(TABLE), "other": small(folded)})) == []


def test_an_answer_above_its_question_is_caught():
    folded = new_code_cell("print()", outputs=FIVE.outputs, metadata={"tags": ["hide-cell"]})
    assert list(answered_above(small(FIVE, ASKED))) == ["gain #"]
    assert list(answered_above(small(folded, ASKED, FIVE))) == []


def test_a_colon_with_nothing_behind_it_is_caught():
    announced = new_markdown_cell("Here it is:")
    folded = new_code_cell("1", metadata={"tags": ["hide-cell"]})
    assert list(hanging_colons([announced, new_markdown_cell("Next.")])) == ["Here it is:"]
    assert list(hanging_colons([announced, folded])) == list(hanging_colons([announced])) == ["Here it is:"]
    assert list(hanging_colons([announced, new_code_cell("1")])) == []


def test_a_name_that_a_loop_overwrites_is_caught():
    first, loop, last = (new_code_cell(code) for code in ("n = 17", "for n in (1, 2):\n    print(n)", "print(1 / n)"))
    assert list(lost_to_loops(small(first, loop, last))) == ["n"]
    again = new_code_cell("n = 17")
    assert list(lost_to_loops(small(first, loop, again, last))) == list(lost_to_loops(small(loop, last))) == []
