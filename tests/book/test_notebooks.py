"""How a chapter is stored and built: run whole, in the book's stored form, short cells, a text for every picture."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from statistics import median

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup, Tag
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from scripts import execute
from scripts.execute import ROOT, normalise, notebooks, stored_form
from tests.book import whole_run

CHAPTERS = notebooks()
each_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)

LONGEST_CELL = 30
SHORTEST_ALT_TEXT = 20
UNNAMED = 'an <svg> needs role="img" and an aria-label or a <title>'
#: Marks by which nbval would leave an output or a whole cell out of the comparison.
LEFT_OUT_TAGS = {"nbval-ignore-output", "nbval-skip", "pytest-validate-ignore-output"}
LEFT_OUT_COMMENTS = re.compile(
    r"^\s*#\s*(NBVAL_IGNORE_OUTPUT|NBVAL_SKIP|PYTEST_VALIDATE_IGNORE_OUTPUT)\s*$", re.MULTILINE
)
MACHINE_PATH = re.compile(
    r"(?<!\w)/(?:home|root|Users|tmp|usr|opt|var|work|private|mnt)/|(?<!\w)[A-Z]:\\|site-packages|\b0x[0-9a-f]{6,}"
)


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(notebook: NotebookNode) -> list[tuple[int, NotebookNode]]:
    """The code cells and their places among all cells."""
    return [(index, cell) for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]


def texts(output: NotebookNode) -> list[str]:
    """All texts of an output; pictures in base64 are none."""
    if output.output_type == "stream":
        return [output.text]
    if output.output_type == "error":
        return [output.evalue, *output.traceback]
    return [str(text) for kind, text in output.data.items() if "image/png" not in kind and "image/jpeg" not in kind]


# ---------------------------------------------------------------------------------------------------------------------
# The checks: each returns what is wrong, in words


def alt_text_faults(notebook: NotebookNode) -> list[str]:
    """Figures without a text that says what they show, and such texts without their figure."""
    faults = []
    for index, cell in code_cells(notebook):
        kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "").strip()
        if not any(kind.startswith("image/") for kind in kinds):
            if alt:  # a plot shows only as the last expression of its cell
                faults.append(f"cell {index}: an alt text, but no figure is shown: {alt!r}")
        elif len(alt) < SHORTEST_ALT_TEXT:
            faults.append(f"cell {index}: a figure, but the metadata mystnb.image.alt is too short or missing: {alt!r}")
        elif re.search(r"[\\/]\S*\.(png|jpe?g|svg)|^\S+\.(png|jpe?g|svg)$", alt):
            faults.append(f"cell {index}: the alt text is a file path: {alt!r}")
    return faults


def is_named(picture: Tag) -> bool:
    """Whether a screen reader is told what the <svg> shows, or that it may pass over it."""
    if picture.get("aria-hidden") == "true":
        return True
    title = picture.find("title", recursive=False)
    names = (picture.get("aria-label", ""), title.get_text() if title else "")
    return picture.get("role") == "img" and any(name.strip() for name in names)


def svg_faults(notebook: NotebookNode) -> list[str]:
    """SVG pictures that a screen reader cannot announce."""
    faults = []
    for index, cell in code_cells(notebook):
        for output in cell.outputs:
            pictures = BeautifulSoup(output.get("data", {}).get("text/html", ""), "html.parser").find_all("svg")
            outermost = [picture for picture in pictures if not picture.find_parent("svg")]
            faults += [f"cell {index}: {UNNAMED}" for picture in outermost if not is_named(picture)]
    return faults


def run_faults(notebook: NotebookNode) -> list[str]:
    """Cells that were not run, or that nbval would not compare, or that print what no reader should see."""
    faults = []
    for index, cell in code_cells(notebook):
        if not cell.source.strip():
            faults.append(f"cell {index}: an empty cell")
        if cell.execution_count is None:
            faults.append(f"cell {index}: not run; `make execute`")
        if LEFT_OUT_TAGS & set(cell.metadata.get("tags", [])) or LEFT_OUT_COMMENTS.search(cell.source):
            faults.append(f"cell {index}: its output would not be compared")
        if shows_something(cell.source) and not cell.outputs:
            faults.append(f"cell {index}: it prints or ends in a value, but no output is stored; `make execute`")
        for output in cell.outputs:
            if output.get("name") == "stderr":
                faults.append(f"cell {index}: a warning is printed: {output.text.strip()[:200]}")
            for text in texts(output):
                for found in MACHINE_PATH.finditer(text):
                    faults.append(f"cell {index}: a path or an address of one machine: {text[found.start() :][:60]!r}")
    return faults


def shows_something(source: str) -> bool:
    """Whether a cell surely shows something: it prints at the top level, or ends in a plain name or a comparison.

    A call may well return nothing, so it is left to nbval, which runs it.
    """
    statements = [node for node in ast.parse(source).body if isinstance(node, ast.Expr)]
    prints = [
        node for node in statements if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "print"
    ]
    last = ast.parse(source).body[-1:]
    return bool(prints) or any(
        isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call | ast.Constant) for node in last
    )


def lines_of_code(notebook: NotebookNode) -> list[int]:
    return [len([line for line in cell.source.splitlines() if line.strip()]) for _, cell in code_cells(notebook)]


# ---------------------------------------------------------------------------------------------------------------------
# The book


@each_chapter
def test_every_cell_is_run_and_compared_and_every_picture_has_a_text(path: Path):
    notebook = read(path)
    assert run_faults(notebook) + alt_text_faults(notebook) + svg_faults(notebook) == []


@each_chapter
def test_notebook_is_in_the_stored_form(path: Path):
    """Else the next `make execute` would change lines that nobody meant to change."""
    assert execute.check([path]) == 0, "run `make execute`"


@each_chapter
def test_notebook_is_valid(path: Path):
    nbformat.validate(read(path))
    ids = [cell.id for cell in read(path).cells]
    assert len(ids) == len(set(ids)), "two cells share an id"


@each_chapter
def test_chapter_uses_treekit(path: Path):
    source = "\n".join(cell.source for _, cell in code_cells(read(path)))
    assert re.search(r"^\s*(import|from) treekit\b", source, re.MULTILINE)


def test_cells_are_short():
    lengths = sorted(length for path in CHAPTERS for length in lines_of_code(read(path)))
    assert lengths, "the book has no code"
    assert median(lengths) <= 5
    assert lengths[int(0.9 * (len(lengths) - 1))] <= 15, "9 cells in 10 have at most 15 lines"
    assert lengths[-1] <= LONGEST_CELL


def test_the_contents_list_every_notebook():
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    listed = {contents["root"]} | {
        page["file"]
        for part in contents.get("parts", [contents])
        for chapter in part.get("chapters", [])
        for page in [chapter, *chapter.get("sections", [])]
    }
    listed_notebooks = {name for name in listed if (ROOT / f"{name}.ipynb").exists()}
    assert {path.relative_to(ROOT).with_suffix("").as_posix() for path in CHAPTERS} == listed_notebooks
    assert {name for name in listed if not list(ROOT.glob(f"{name}.*"))} == set(), "listed, but not there"


def test_make_test_runs_every_cell_of_every_notebook():
    """A notebook that `make test` does not find would be a notebook that nothing proves."""
    listing = whole_run.run(ROOT, "--collect-only", "-q", leave_out="tests")
    assert listing.returncode == 0, listing.stdout + listing.stderr
    found = [line for line in listing.stdout.splitlines() if ".ipynb::" in line]
    wanted = [
        f"{path.relative_to(ROOT).as_posix()}::Cell {number}"
        for path in CHAPTERS
        for number, _ in enumerate(code_cells(read(path)))
    ]
    assert sorted(found) == sorted(wanted)


# ---------------------------------------------------------------------------------------------------------------------
# The checks themselves, on small notebooks


def notebook_with(source: str = "1 + 1", output: NotebookNode | None = None, **metadata) -> NotebookNode:
    cell = new_code_cell(source, execution_count=1, outputs=[output] if output else [], metadata=metadata)
    return new_notebook(cells=[new_markdown_cell("# Title"), cell])


def shown(**data: str) -> NotebookNode:
    return new_output("display_data", data={kind.replace("_", "/", 1): text for kind, text in data.items()})


GOOD_ALT = "A curve that rises and falls"


@pytest.mark.parametrize(
    "alt", ["", "a curve", "_images/a_very_long_hash_of_a_figure.png", "a_very_long_hash_of_a_figure.png"]
)
@pytest.mark.parametrize("figure", [shown(image_png="iVBORw0KGgo="), shown(**{"image_svg+xml": "<svg></svg>"})])
def test_a_figure_without_alt_text_is_caught(figure, alt):
    assert alt_text_faults(notebook_with(output=figure))
    assert alt_text_faults(notebook_with(output=figure, mystnb={"image": {"alt": alt}}))
    assert not alt_text_faults(notebook_with(output=figure, mystnb={"image": {"alt": GOOD_ALT}}))


def test_an_alt_text_whose_figure_is_not_shown_is_caught():
    assert alt_text_faults(notebook_with(output=shown(text_html="<table>"), mystnb={"image": {"alt": GOOD_ALT}}))


@pytest.mark.parametrize(
    ("svg", "faults"),
    [
        ('<svg role="img" aria-label="A tree"></svg>', 0),
        ('<svg role="img"><title>A tree</title><circle/></svg>', 0),
        ('<p><svg aria-hidden="true"/></p>', 0),
        ('<svg role="img" aria-label=" "></svg>', 1),
        ('<svg aria-label="A tree"></svg>', 1),
        ('<svg role="img"><g><title>a tooltip of one node</title></g></svg>', 1),
        ('<svg role="img" aria-label="A tree"></svg><svg></svg>', 1),
    ],
)
def test_an_unnamed_svg_is_caught(svg, faults):
    assert len(svg_faults(notebook_with(output=shown(text_html=svg)))) == faults


def test_what_was_not_run_is_caught():
    two = shown(text_plain="2")
    assert not run_faults(notebook_with(output=two))
    assert not run_faults(notebook_with("x = 1"))
    assert run_faults(notebook_with(""))
    assert run_faults(notebook_with("1 + 1"))
    assert run_faults(notebook_with("print(1)\nx = 1"))
    not_run = notebook_with("x = 1")
    not_run.cells[1].execution_count = None
    assert run_faults(not_run)


def test_what_nbval_would_not_compare_is_caught():
    two = shown(text_plain="2")
    assert run_faults(notebook_with("# NBVAL_IGNORE_OUTPUT\n1 + 1", two))
    assert run_faults(notebook_with(output=two, tags=["nbval-skip"]))


@pytest.mark.parametrize("text", ["/home/me/x.csv", "C:\\me", "<A at 0x7f3a2b10>", "lib/site-packages/numpy"])
def test_what_belongs_to_one_machine_is_caught(text):
    assert run_faults(notebook_with(output=shown(text_plain=text)))
    assert run_faults(notebook_with(output=new_output("stream", name="stdout", text=text)))


def test_warnings_are_caught():
    assert run_faults(notebook_with("x = 1", new_output("stream", name="stderr", text="careful")))


def test_stored_form_forgets_time_and_machine():
    """Two runs that differ in all that a run may differ in are stored alike."""
    first, second = notebook_with("print(1)\nprint(2)"), notebook_with("print(1)\nprint(2)")
    second.cells[0].id, second.cells[1].id = first.cells[0].id, first.cells[1].id
    first.cells[1].outputs = [
        new_output("stream", name="stdout", text="1\n"),
        new_output("stream", name="stdout", text="2\n"),
    ]
    second.cells[1].outputs = [new_output("stream", name="stdout", text="1\n2\n")]
    second.cells[1].execution_count = 7
    second.cells[1].metadata = {"execution": {"iopub.status.busy": "now"}, "collapsed": True}
    second.metadata = {
        "kernelspec": {"name": "mine", "display_name": "Mine"},
        "language_info": {"name": "python", "version": "3.12.1"},
    }
    assert stored_form(first) != stored_form(second)
    assert stored_form(normalise(first)) == stored_form(normalise(second))
