"""Each chapter's open page takes a first reader about half an hour, and its box of objectives says how long.

`scripts/reading.py` measures; the targets and the stated exceptions stand here.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from scripts.execute import ROOT, notebooks
from scripts.reading import main, measure, open_text

TARGETS = {"words": 3200, "lines": 150, "minutes": 35, "first": 400, "gap": 600}
WIDEST = 88
PROMISE = re.compile(r"\*\*Reading time:\*\* about (\d+) minutes, or (\d+) with its figures and checks\.")
NEAR = 3

#: What a chapter may exceed, with the reason: (chapter, measure) -> (limit, reason).
EXCEPTIONS: dict[tuple[str, str], tuple[int, str]] = {}


def chapters() -> list[Path]:
    """The introduction and the numbered chapters; the notebooks of the appendices are for looking up."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    numbered = [chapter["file"] for part in toc["parts"] if part.get("numbered") for chapter in part["chapters"]]
    return [ROOT / f"{name}.ipynb" for name in ["book/introduction", *numbered]]


def name(value) -> str:
    return value.stem if isinstance(value, Path) else str(value)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("path", chapters(), ids=name)
def test_a_chapter_keeps_to_its_targets(path, target):
    measured = getattr(measure(nbformat.read(path, as_version=4)), target)
    limit, _ = EXCEPTIONS.get((path.stem, target), (TARGETS[target], ""))
    assert measured is not None, "no figure moves before the exercises"
    assert measured <= limit, f"{target}: {measured}, at most {limit}"


@pytest.mark.parametrize("path", chapters(), ids=name)
def test_the_box_promises_the_time_that_is_measured(path):
    notebook = nbformat.read(path, as_version=4)
    promises = PROMISE.findall("\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown"))
    measured = measure(notebook)
    due = f"**Reading time:** about {measured.minutes} minutes, or {measured.in_all} with its figures and checks."
    assert len(promises) == 1, f"the box of objectives needs one line such as: {due}"
    promised = [int(minutes) for minutes in promises[0]]
    assert promised == pytest.approx([measured.minutes, measured.in_all], abs=NEAR), due


@pytest.mark.parametrize("path", notebooks(), ids=name)
def test_no_line_of_code_is_wider_than_the_page(path):
    code = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    wide = [line for source in code for line in source.splitlines() if len(line) > WIDEST]
    assert not wide, "\n".join([f"wider than {WIDEST} columns:", *wide])


def test_exceptions_are_needed_and_have_a_reason():
    measures = {path.stem: measure(nbformat.read(path, as_version=4)) for path in chapters()}
    for (chapter, target), (limit, reason) in EXCEPTIONS.items():
        assert reason and TARGETS[target] < getattr(measures[chapter], target) <= limit


# ---------------------------------------------------------------------------------------------------------------------
# The measure itself, on small chapters


def code(source, *tags, shows="") -> nbformat.NotebookNode:
    output = new_output("display_data", data={"text/html": shows})
    return new_code_cell(source, outputs=[output] if shows else [], metadata={"tags": list(tags)} if tags else {})


def reading(*cells):
    return measure(new_notebook(cells=[new_markdown_cell(cell) if isinstance(cell, str) else cell for cell in cells]))


@pytest.mark.parametrize(
    "markdown, is_open",
    [
        ("word", True),
        (":::{admonition} In this chapter\nword\n:::", True),
        (":::{prf:theorem} Title\n:label: thm\nword\n:::", True),
        (":::{prf:proof}\n:class: dropdown\nword\n:::", False),
        ("::::{dropdown} Title\n:::{math}\nx\n:::\nword\n::::", False),
        ("::::{dropdown} Title\nin\n::::\nword", True),
        (":::{margin}\nword\n:::", False),
        ("```{hint}\nword\n```", False),
        (":::{check} choose\nword\n\n* [x] word\n\n  word\n:::", False),
        ("```python\nword\n```", False),
        ("```{literalinclude} file.py\n:pyobject: word\n```", False),
    ],
)
def test_what_stands_open(markdown, is_open):
    assert ("word" in open_text(markdown).split()) == is_open


@pytest.mark.parametrize(
    "markdown, words",
    [
        ("Two words.", 2),
        ("A formula $H(D)$ is one.", 5),
        ("By {eq}`eq-gain` and {prf:ref}`the theorem <thm>`.", 5),
        ("[0.381 as printed]{.quoted} is free, `code_here` is one.", 5),
        ("$$x + y$$ (eq-x)\n\n(source-tm05)=\nA [link](https://example.org/page).", 2),
    ],
)
def test_words_are_counted_as_they_are_read(markdown, words):
    assert reading(markdown).words == words


def test_only_open_code_counts():
    measured = reading(code("a\n\nb"), code("c", "hide-input"), code("d", "hide-cell"), "## Exercises", code("e"))
    assert measured.lines == 2


def test_minutes_add_words_lines_and_formulas():
    assert reading("word " * 900, code("x\n" * 50), "$$y$$\n\n" * 4).minutes == 5 + 5 + 2


def test_checks_and_figures_take_minutes_of_their_own():
    figure = code("draw", "hide-input", shows='<figure class="explorable"><svg>')
    check = ":::{check} number\n= 2\n:::"
    assert reading("word " * 900, figure, check, "::" + check + "::").in_all == 5 + 2 + 2 * 1


@pytest.mark.parametrize("tag, first, gap", [("hide-input", 3, 4), ("hide-cell", None, 7)])
def test_a_picture_in_a_fold_is_not_met(tag, first, gap):
    measured = reading(
        "one two three", code("draw", tag, shows='<figure class="explorable"><svg>'), "four five six seven"
    )
    assert (measured.first, measured.gap) == (first, gap)


def test_width_counts_folded_code_too():
    assert reading(code("short"), "## Exercises", code("x" * 90, "hide-cell")).width == 90


def test_the_table_has_one_line_per_chapter(capsys):
    assert main(["entropy"]) == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split()[:6] == ["chapter", "words", "lines", "minutes", "in", "all"] and line.split()[0] == "entropy"
    assert main(["entropy", "entorpy"]) == 1 and "entorpy" in capsys.readouterr().err
