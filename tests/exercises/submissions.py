"""Submissions put together from answers, and what nbgrader makes of them."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.preprocessors import CheckCellMetadata, LimitOutput, SaveAutoGrades

from scripts.exercises import Task, chapters, convert, course, read, release, settings, tasks
from tests.forked_kernels import forked_kernels, outputs_without_kernel

ANSWERS = Path(__file__).parent / "answers"
IN_WORDS = "An answer in words."
#: The students whose notebooks run in kernels, as nbgrader runs them; the rest run in IPython alone, which spares the
#: start of a kernel, half of the time for a notebook. How a kernel shows a mistake is the same in every chapter.
IN_KERNELS = {"reference"}
IN_KERNELS_ONCE = {"wrong-1"}
#: Seconds for a notebook.
PATIENCE = 60


class Answer(NamedTuple):
    """What a student might write for a task; `meets` is the name of the mistake, None where the answer is right."""

    task: str
    name: str
    code: str
    meets: str | None = None


class Mark(NamedTuple):
    """What nbgrader gave for a task, and what the cell with the checks printed or raised."""

    score: float
    by_hand: bool
    outputs: list


def answers(chapter: str) -> list[Answer]:
    """The answers on file for a chapter."""
    stored = tomllib.loads((ANSWERS / f"{chapter}.toml").read_text(encoding="utf-8"))
    return [Answer(**entry) for entry in stored["answer"]]


def submission(notebook: NotebookNode, written: dict[str, str]) -> NotebookNode:
    """A student's notebook with the cells of some tasks filled in."""
    notebook = nbformat.from_dict(notebook)
    for cell in notebook.cells:
        cell.source = written.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source).strip("\n")
    return notebook


def right_answers(chapter: str) -> dict[str, str]:
    """What stands in the answer cells of the source."""
    source = read(chapter)
    by_name = {cell.metadata.nbgrader.grade_id: cell.source for cell in source.cells}
    return {task.name: IN_WORDS if task.by_hand else by_name[task.name] for task in tasks(source)}


def all_submissions(chapter: str) -> dict[str, dict[str, str]]:
    """Students by name, each with what they write: the k-th right, or the k-th wrong answer to every task.

    Where a task has fewer answers than others, the reference takes its place.
    """
    reference = right_answers(chapter)
    students: dict[str, dict[str, str]] = defaultdict(lambda: dict(reference))
    students["reference"] = reference
    students["untouched"] = {}
    counted: dict[tuple[str, bool], int] = defaultdict(int)
    for answer in answers(chapter):
        kind = (answer.task, answer.meets is None)
        counted[kind] += 1
        students[f"{'right' if answer.meets is None else 'wrong'}-{counted[kind]}"][answer.task] = answer.code
    return dict(students)


def student_of(answer: Answer, chapter: str) -> str:
    """Who hands in this answer, among `all_submissions`."""
    alike = [a for a in answers(chapter) if a.task == answer.task and (a.meets is None) == (answer.meets is None)]
    return f"{'right' if answer.meets is None else 'wrong'}-{alike.index(answer) + 1}"


def grade(folder: Path, chapter: str) -> dict[str, dict[str, Mark]]:
    """Let nbgrader release a chapter's notebook and grade all submissions; {student: {task: mark}}."""
    course(folder, [chapter])
    release(folder)
    edition = nbformat.read(folder / "release" / chapter / f"{chapter}.ipynb", as_version=4)
    students = all_submissions(chapter)
    for student, written in students.items():
        place = folder / "submitted" / student / chapter
        place.mkdir(parents=True)
        nbformat.write(submission(edition, written), place / f"{chapter}.ipynb")
    config = settings(folder)
    config.CourseDirectory.assignment_id = chapter
    config.ExecutePreprocessor.timeout = PATIENCE
    in_kernels = IN_KERNELS | (IN_KERNELS_ONCE if chapter == EVERY_CHAPTER[0] else set())
    config.CourseDirectory.student_id_exclude = ",".join(in_kernels)
    steps = [execute_without_kernel, LimitOutput, SaveAutoGrades, CheckCellMetadata]
    convert(Autograde, config, autograde_preprocessors=steps)
    config.CourseDirectory.student_id_exclude = ",".join(students.keys() - in_kernels)
    with forked_kernels():
        convert(Autograde, config)
    with Gradebook(config.CourseDirectory.db_url) as gradebook:
        graded = tasks(read(chapter))
        return {student: marks(folder, gradebook, student, chapter, graded) for student in students}


def execute_without_kernel(notebook: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
    """Run every cell of a notebook in a process of its own: a preprocessor, in the place of nbgrader's."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outputs = outputs_without_kernel([cell.source for cell in cells], resources["metadata"]["path"], PATIENCE)
    for cell, its in zip(cells, outputs, strict=True):
        cell.outputs = nbformat.from_dict(its)
    return notebook, resources


def marks(folder: Path, gradebook: Gradebook, student: str, chapter: str, graded: list[Task]) -> dict[str, Mark]:
    """The marks of one student for the graded tasks of a chapter."""
    notebook = nbformat.read(folder / "autograded" / student / chapter / f"{chapter}.ipynb", as_version=4)
    cells = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata}
    found = {}
    for task in graded:
        name = task.name if task.by_hand else f"{task.name}-test"
        entry = gradebook.find_grade(name, chapter, chapter, student)
        outputs = cells[name].get("outputs", [])
        found[task.name] = Mark(entry.auto_score, entry.needs_manual_grade, outputs)
    return found


EVERY_CHAPTER = chapters()
