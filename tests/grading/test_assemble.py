"""The source's notebook with a student's answers, whatever was done to the rest."""

from __future__ import annotations

import json
from copy import deepcopy

import nbformat
import pytest

from grading.assemble import Unreadable, assembled, defined_names, mentioned_names, read
from grading.course import prepared
from tests.grading import hostile
from tests.grading.small import RIGHT, answered


@pytest.fixture
def first(course):
    return course[1]["first"]


def put_together(first, change=lambda notebook: None, answers=RIGHT):
    notebook = answered(first.release, answers)
    change(notebook)
    return assembled(first.source, first.release, read(nbformat.writes(notebook).encode()))


def test_an_unchanged_edition_gets_no_remark(first):
    notebook, remarks = put_together(first)
    assert remarks == []
    assert [cell.id for cell in notebook.cells] == [cell.id for cell in first.source.cells]
    for cell, source in zip(notebook.cells, first.source.cells):
        assert cell.metadata == source.metadata
        assert cell.source == RIGHT.get(cell.id, source.source)


@pytest.mark.parametrize("change", [hostile.without_tests, hostile.passing_tests, hostile.more_points])
def test_tests_are_those_of_the_source(first, change):
    notebook, remarks = put_together(first, change)
    tests = {cell.id: cell for cell in notebook.cells if cell.id.endswith("-test")}
    assert len(remarks) == {"more_points": 4}.get(change.__name__, 3)
    for source in first.source.cells:
        if source.id in tests:
            assert tests[source.id] == source


def test_twice_and_missing_and_added(first):
    def change(notebook):
        mean = next(cell for cell in notebook.cells if cell.id == "first-mean")
        again = deepcopy(mean)
        again.source, again.id = "mean = max", "other"
        place = notebook.cells.index(mean)
        notebook.cells[place + 1 : place + 1] = [again, nbformat.v4.new_code_cell("helper = 1")]
        notebook.cells = [cell for cell in notebook.cells if cell.id != "first-half"]

    notebook, remarks = put_together(first, change)
    sources = [cell.source for cell in notebook.cells]
    assert sources[sources.index("mean = max") + 1] == "helper = 1"
    assert RIGHT["first-half"] not in sources and RIGHT["first-mean"] not in sources
    assert remarks == [
        "the cell first-mean is there twice; the last one counts",
        "the answer cell first-half is missing",
    ]


@pytest.mark.parametrize("offset", [0, 1], ids=["above", "below"])
@pytest.mark.parametrize("own", ["", "In part. "])
def test_words_in_a_cell_beside_the_one_for_them_count(first, offset, own):
    def change(notebook):
        place = [cell.id for cell in notebook.cells].index("first-explain") + offset
        notebook.cells.insert(place, nbformat.v4.new_markdown_cell("Because."))

    stub = next(cell.source for cell in first.release.cells if cell.id == "first-explain")
    notebook, _ = put_together(first, change, RIGHT | {"first-explain": own or stub})
    answer = next(cell.source for cell in notebook.cells if cell.id == "first-explain")
    assert answer == (f"{own}\n\nBecause." if own else "Because.")


def test_words_in_the_question_are_named(first):
    def change(notebook):
        next(cell for cell in notebook.cells if cell.id == "first-explain-task").source += "\n\nBecause."

    assert put_together(first, change)[1] == ["the text of first-explain-task was edited: is an answer in it?"]


def test_an_older_edition_is_no_changed_test(first, tmp_path):
    """Of other points and other tests, as somebody got it who was early."""
    text = nbformat.writes(first.source).replace('"points": 2', '"points": 1').replace("[1, 2, 6]", "[1, 2, 3]")
    (tmp_path / "first.ipynb").write_text(text, encoding="utf-8")
    older = prepared(tmp_path / "first.ipynb", tmp_path / "course").release
    handed_in = read(nbformat.writes(answered(older, RIGHT)).encode())
    assert assembled(first.source, first.release, handed_in)[1] == [
        "this is an older edition; the tests and points of the newest count"
    ]


def test_a_question_that_promises_other_points_is_refused(first, tmp_path):
    text = nbformat.writes(first.source).replace("### 1. Mean\\n", "### 1. Mean\\n\\n*3 points · 5 minutes*\\n")
    (tmp_path / "first.ipynb").write_text(text, encoding="utf-8")
    wrong = prepared(tmp_path / "first.ipynb", tmp_path / "course").wrong_points()
    assert wrong == ["first-mean-task: the text promises 3 points, and the tests give 2"]


def test_a_notebook_in_another_encoding_is_read(first):
    text = nbformat.writes(answered(first.release, RIGHT | {"first-explain": "Größe"}))
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        notebook = read(text.replace("\\u", "").encode(encoding))
        assert notebook.cells[-1].source == "Größe"


def test_an_editor_that_drops_metadata_does_no_harm(first):
    notebook, remarks = put_together(first, hostile.no_metadata)
    assert remarks == []
    assert {cell.id: cell.source for cell in notebook.cells}["first-mean"] == RIGHT["first-mean"]


def test_older_notebooks_are_read(first):
    old = nbformat.convert(answered(first.release, RIGHT), 3)
    notebook = read(json.dumps(old).encode())
    assert any(cell.source == RIGHT["first-mean"] for cell in notebook.cells)


@pytest.mark.parametrize(
    "text, why",
    [
        (b"", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[1, 2]", "no notebook"),
        (b'{"cells": 5}', "no notebook"),
        (b'{"cells": [{"cell_type": "code"}], "metadata": {}}', "no notebook"),
        (b" " * (20 << 20) + b"[1]", "more than 20 MB"),
    ],
    ids=range(7),
)
def test_what_is_no_notebook(text, why):
    with pytest.raises(Unreadable, match=why):
        read(text)


def test_names():
    source = (
        "%matplotlib inline\nimport a.b as c, d.e\nx, (y, *z) = f(1)\nfor i in u: pass\ndef g(): w = 1\nclass K: v = 2"
    )
    assert defined_names(source) >= {"c", "d", "x", "y", "z", "i", "g", "K"}
    assert not defined_names(source) & {"w", "v", "f", "u"}
    assert mentioned_names('check("mean", tall)') == {"check", "mean", "tall"}
    assert defined_names("no python !") == set()
