"""The form of the graded exercises: enough tasks, heads that the page can read, and no solution for students."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import nbformat
import nbgrader.api
import pytest

from scripts.exercises import ROOT, STUB, Task, chapters, gradebook_version, main, read, tasks, write_student_edition
from tests.exercises.submissions import answers

CHAPTERS_OF_SEVEN = {"entropy", "id3", "c45", "cart", "pruning", "missing_values", "gbdt"}
CHAPTERS_OF_FOUR = {
    "introduction", "oblique", "forests", "adaboost", "deep_forest", "scale", "costs", "explaining", "boosting_today",
    "choosing",
}  # fmt: skip
LONGEST_LINE = 112  # of a test cell, in which sentences stand
each_chapter = pytest.mark.parametrize("chapter", chapters())


@pytest.fixture(scope="module")
def student_edition(tmp_path_factory):
    """The folder with the notebooks that students get."""
    folder = tmp_path_factory.mktemp("student_edition")
    write_student_edition(folder)
    return folder


def rubric_points(words: str) -> list[float]:
    """The points of each item of a rubric."""
    return [float(points) for points in re.findall(r"^- ([\d.]+): \S", words.partition("**Rubric**")[2], re.MULTILINE)]


def titles(chapter: str) -> dict[str, str]:
    """What each label of a chapter stands for: the title of an exercise, or of the section around it or below it."""
    text = "\n".join(cell.source for cell in nbformat.read(ROOT / "book" / f"{chapter}.ipynb", as_version=4).cells)
    found, waiting, section, exercise = {}, [], "", ""
    for line in text.splitlines():
        if heading := re.match(r"## (.+)", line):
            section = heading[1]
            found.update(dict.fromkeys(waiting, section))
            waiting = []
        elif opening := re.match(r":::\{exercise\} ★+ (.+) \(.+\)$", line):
            exercise = opening[1]
        elif label := re.match(r"\(([\w-]+)\)=$", line):
            waiting.append(label[1])
        elif label := re.match(r":label: ([\w-]+)$", line):
            found[label[1]] = exercise if label[1].startswith("ex-") else section
        elif label := re.search(r"\$\$ \(([\w-]+)\)$", line):
            found[label[1]] = section
    return found


@pytest.mark.skipif(not chapters(), reason="this edition has no sources of the exercises")
def test_every_chapter_has_its_notebook():
    assert set(chapters()) == CHAPTERS_OF_SEVEN | CHAPTERS_OF_FOUR


@each_chapter
def test_there_are_enough_tasks(chapter):
    found = tasks(read(chapter))
    assert [task.number for task in found] == list(range(1, len(found) + 1))
    assert sum(task.by_hand for task in found) == 1
    assert sum(not task.by_hand for task in found) >= (5 if chapter in CHAPTERS_OF_SEVEN else 3)


@each_chapter
def test_points_are_those_of_the_head(chapter):
    notebook = read(chapter)
    cells = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells}
    for task in tasks(notebook):
        graded = cells[task.name if task.by_hand else f"{task.name}-test"]
        assert graded.metadata.nbgrader.points == task.points, task.name
        if task.by_hand:
            assert sum(rubric_points(graded.source)) == task.points, task.name
        else:
            assert "### BEGIN HIDDEN TESTS" in graded.source, task.name


@each_chapter
def test_tasks_refer_to_their_chapter(chapter):
    known = titles(chapter)
    assert {task.name: task.after for task in tasks(read(chapter)) if known.get(task.label) != task.after} == {}


@each_chapter
def test_cells_are_stored_plainly(chapter):
    """Each has a name, which begins with the chapter's, and no output; no line is too long to be read."""
    notebook = read(chapter)
    names = [cell.metadata.nbgrader.grade_id for cell in notebook.cells]
    assert len(set(names)) == len(names) and all(name.startswith(f"{chapter}-") for name in names)
    for cell in notebook.cells:
        assert cell.id == cell.metadata.nbgrader.grade_id
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None
            assert max(map(len, cell.source.splitlines())) <= LONGEST_LINE, cell.id


@each_chapter
def test_answers_are_varied(chapter):
    """Three right answers or more to each task, and a wrong one for every mistake that its checks name."""
    on_file, checks = answers(chapter), {cell.id: cell.source for cell in read(chapter).cells}
    for task in tasks(read(chapter)):
        if not task.by_hand:
            mine = [answer for answer in on_file if answer.task == task.name]
            named = set(re.findall(r'"([^"]+)": \(', checks[f"{task.name}-test"]))
            assert len(named) >= 3 and named <= {answer.meets for answer in mine}, task.name
            assert sum(answer.meets is None for answer in mine) >= 3, task.name


def code_lines(source: str) -> set[str]:
    return {line.strip() for line in source.splitlines() if line.strip()}


@each_chapter
def test_students_get_no_solution(chapter, student_edition):
    """Nothing that stands between the marks in the source stands in the student edition."""
    text = (student_edition / f"{chapter}.ipynb").read_text(encoding="utf-8")
    assert not re.search(r"BEGIN|END (SOLUTION|HIDDEN)|Rubric", text)
    shown = {line for cell in json.loads(text)["cells"] for line in code_lines("".join(cell["source"]))}
    for cell in read(chapter).cells:
        for secret in re.findall(r"### BEGIN \w+.*?\n(.*?)### END", cell.source, re.DOTALL):
            kept = code_lines(cell.source.replace(secret, "")) | given_lines(chapter)
            assert not (code_lines(secret) - kept) & shown, cell.id


def given_lines(chapter: str) -> set[str]:
    """Lines that students see anyway: code that a task shows, with its error, and what other cells share with it."""
    hidden = re.compile(r"### BEGIN \w+.*?### END [\w ]+", re.DOTALL)
    return {line for cell in read(chapter).cells for line in code_lines(hidden.sub("", cell.source))}


@each_chapter
def test_students_find_a_place_for_every_answer(chapter, student_edition):
    edition = nbformat.read(student_edition / f"{chapter}.ipynb", as_version=4)
    cells = {cell.metadata.nbgrader.grade_id: cell for cell in edition.cells}
    for task in tasks(read(chapter)):
        assert ("*Your answer here.*" if task.by_hand else STUB) in cells[task.name].source


def test_a_head_that_cannot_be_read_is_an_error():
    notebook = read("id3")
    cell = next(cell for cell in notebook.cells if cell.id.endswith("-task"))
    cell.source = cell.source.replace(" · ", ", ")
    with pytest.raises(ValueError, match=cell.id):
        tasks(notebook)


def test_a_head_tells_what_a_task_is():
    first = tasks(read("id3"))[0]
    assert first == Task(
        "id3-left",
        1,
        "What a question leaves (code)",
        2,
        8,
        "the weighted mean of the groups",
        "Three tables",
        "ex-id3-three-tables",
        False,
    )


def test_the_second_time_nothing_is_written(tmp_path):
    times = [{path: path.stat().st_mtime_ns for path in write_student_edition(tmp_path)} for _ in range(2)]
    assert times[0] == times[1]


def test_a_gradebook_has_the_version_that_nbgrader_would_give_it(monkeypatch):
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    assert gradebook_version() == nbgrader.api.get_alembic_version()


def test_notebooks_of_your_own_can_be_handed_out_and_some_alone(tmp_path):
    sources = tmp_path / "own"
    sources.mkdir()
    for name in ("first", "second"):
        nbformat.write(read("introduction"), sources / f"{name}.ipynb")
    made = write_student_edition(tmp_path / "out", ["second"], sources)
    assert made == list((tmp_path / "out").iterdir()) == [tmp_path / "out" / "second.ipynb"]
    text = made[0].read_text(encoding="utf-8")
    assert STUB in text and "BEGIN SOLUTION" not in text and "BEGIN HIDDEN TESTS" not in text


def test_what_lies_there_from_before_is_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "entropy.ipynb").touch()
    monkeypatch.setattr(sys, "argv", ["exercises", str(tmp_path), "--assignments", "introduction"])
    assert main() == 0
    assert "do not share them unseen: entropy.ipynb" in capsys.readouterr().out


def test_a_student_edition_of_nothing_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no id4.ipynb"):
        write_student_edition(tmp_path, ["id4"])
    with pytest.raises(ValueError, match="there are no notebooks"):
        write_student_edition(tmp_path, sources=tmp_path)
