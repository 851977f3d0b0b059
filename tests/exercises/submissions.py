"""Submissions put together from answers, and the marks that they earn."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde

from scripts.exercises import chapters, convert, course, read, release, settings, tasks
from tests.forked_kernels import forked_kernels, outputs_without_kernel

ANSWERS = Path(__file__).parent / "answers"
IN_WORDS = "An answer in words."
#: The students whose notebooks nbgrader marks, in kernels. How it gives points for a cell that ends well, and none for
#: one that shows a mistake, is the same in every chapter; so each answer on file is only run, in IPython alone.
BY_NBGRADER = {"reference"}
BY_NBGRADER_ONCE = {"untouched", "wrong-1"}
#: Seconds for a notebook, and for all the answers of a chapter.
PATIENCE = 120
#: A cell that remembers all names, and one that takes back what was defined since: no answer helps the next.
REMEMBER = "kept = {name: value for name, value in globals().items() if name != 'kept'}"
FORGET = """
for name in globals().keys() - kept.keys() - {"kept"}:
    globals().pop(name, None)
globals().update(kept)
"""


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
    """Let nbgrader release a chapter's notebook and grade some submissions; the marks by student and task."""
    course(folder, [chapter])
    release(folder)
    edition = nbformat.read(folder / "release" / chapter / f"{chapter}.ipynb", as_version=4)
    students = all_submissions(chapter)
    by_nbgrader = BY_NBGRADER | (BY_NBGRADER_ONCE if chapter == EVERY_CHAPTER[0] else set())
    for student in by_nbgrader:
        place = folder / "submitted" / student / chapter
        place.mkdir(parents=True)
        nbformat.write(submission(edition, students[student]), place / f"{chapter}.ipynb")
    config = settings(folder)
    config.CourseDirectory.assignment_id = chapter
    config.ExecutePreprocessor.timeout = PATIENCE
    with forked_kernels():
        convert(Autograde, config)
    return marks_by_nbgrader(folder, config.CourseDirectory.db_url, by_nbgrader, chapter)


def marks_by_nbgrader(folder: Path, gradebook: str, students: set[str], chapter: str) -> dict[str, dict[str, Mark]]:
    """What nbgrader gave to some students for the tasks of a chapter."""
    found: dict[str, dict[str, Mark]] = defaultdict(dict)
    with Gradebook(gradebook) as grades:
        for student in students:
            notebook = nbformat.read(folder / "autograded" / student / chapter / f"{chapter}.ipynb", as_version=4)
            for task in tasks(read(chapter)):
                name = task.name if task.by_hand else f"{task.name}-test"
                entry = grades.find_grade(name, chapter, chapter, student)
                found[student][task.name] = Mark(entry.auto_score, entry.needs_manual_grade, outputs(notebook, name))
    return found


def replies(folder: Path, chapter: str) -> dict[Answer, list]:
    """What the checks of its task show for each answer on file, and for the cell as a student gets it.

    One process runs them all, each between the cells that stand around it in the notebook.
    """
    edition = nbformat.read(folder / "release" / chapter / f"{chapter}.ipynb", as_version=4)
    cells = {cell.id: cell.source for cell in read(chapter).cells if cell.cell_type == "code"}
    on_file = answers(chapter) + [Answer(cell.id, "untouched", cell.source, "untouched") for cell in edition.cells]
    run: list[str] = []
    place: dict[Answer, int] = {}
    for name, source in cells.items():
        run.append(REMEMBER)
        for answer in (answer for answer in on_file if answer.task == name and f"{name}-test" in cells):
            run += [answer.code, cells[f"{name}-test"], FORGET]
            place[answer] = len(run) - 2
        run.append(source)
    shown = outputs_without_kernel(run, str(folder), PATIENCE)
    return {answer: [nbformat.from_dict(output) for output in shown[at]] for answer, at in place.items()}


def outputs(notebook: NotebookNode, name: str) -> list:
    """What the cell of that name shows."""
    (cell,) = (cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name)
    return cell.get("outputs", [])


EVERY_CHAPTER = chapters()
