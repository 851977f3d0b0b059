"""What the page for instructors shows: its task of one's own, and the files that it names."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_notebook

from grading.course import prepared
from grading.run import Job, marked, self_check
from grading.sandbox import Limits
from scripts.exercises import ROOT, chapters
from tests.grading.small import answered, cell

PAGE = nbformat.read(ROOT / "book" / "instructors.ipynb", as_version=4)
TEXT = "\n".join(one.source for one in PAGE.cells if one.cell_type == "markdown")


@pytest.mark.slow
def test_the_worked_example_can_be_marked(walls, tmp_path):
    setup, answer, test = re.findall(r"```python\n(.*?)```", TEXT.split("## Write a task of your own")[1], re.DOTALL)
    notebook = new_notebook(
        cells=[
            cell("code", "own-setup", setup.strip()),
            cell("code", "own-impurity", answer.strip(), solution=True, locked=False),
            cell("code", "own-impurity-test", test.strip(), grade=True, points=2),
        ],
        metadata={"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, tmp_path / "own.ipynb")
    own = prepared(tmp_path / "own.ipynb", tmp_path / "course")
    assert self_check(own, Limits()) == []
    wrong = {"own-impurity": "def impurity(shares):\n    return sum(p * p for p in shares)"}
    text = nbformat.writes(answered(own.release, wrong)).encode()
    ((_, result),) = marked([Job("sum", own, text, tmp_path / "sum.json")], Limits())
    (task,) = result["tasks"]
    assert task["score"] == 0 and task["what"] == "sum of squares" and "Subtract it from one." in task["says"]


@pytest.mark.slow
def test_the_solutions_of_every_chapter_earn_all_points_across_the_wall(walls, tmp_path):
    """nbgrader alone is held to them in tests/exercises; here the tests run apart from the solutions."""
    jobs = []
    for chapter in chapters():
        one = prepared(Path(ROOT / "book" / "exercises" / f"{chapter}.ipynb"), tmp_path / "course")
        jobs.append(Job(chapter, one, nbformat.writes(one.source).encode(), tmp_path / f"{chapter}.json"))
    lost = [
        f"{job.title}, {task['task']}: {task['says']} {result['remarks']}"
        for job, result in marked(jobs, Limits())
        for task in result["tasks"]
        if not task["by hand"] and task["score"] != task["points"]
    ]
    assert len(jobs) >= 3 and lost == []


def test_the_files_that_the_page_names_are_those_that_are_written():
    sources = "".join((ROOT / "grading" / name).read_text(encoding="utf-8") for name in ("marks.py", "report.py"))
    names = re.findall(r"`([\w-]+?)(?:-….\w+|\.csv|\.html|/)`", TEXT.split("## Mark")[1].split("## Write")[0])
    assert {"marks", "report", "feedback", "by_hand", "canvas", "moodle", "gradescope"} <= set(names)
    for name in {"marks", "report", "by_hand", "canvas", "moodle", "gradescope"}:
        assert re.search(rf'"{name}[-.]', sources), name
