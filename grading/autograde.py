"""Mark one notebook by nbgrader: the student's cells run in the sandbox, the tests outside it.

In nbgrader alone the tests run in the same process as the code that they judge, and that code can do to them what it
likes. Here they run in a process of their own, in which each name that the student was to define is a value, or stands
for a function that is called across the wall. A student's code sees the arguments of a call, never a test.
"""

from __future__ import annotations

import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.preprocessors import CheckCellMetadata, LimitOutput, SaveAutoGrades
from nbgrader.utils import is_grade, is_solution

from grading.assemble import Unreadable, assembled, attached, defined_names, is_test, mentioned_names, read
from grading.course import NOT_GRADED, Assignment
from grading.sandbox import Limits, Stopped
from grading.shell import Shell
from grading.student import Missing, Student, clean
from grading.values import NotPlain
from grading.words import shown
from scripts.exercises import convert, settings

__all__ = ["graded", "not_graded"]

#: The name of every student in the gradebook that lies beside one submission.
STUDENT = "student"

#: What an error of a cell says about what the code tried; the walls held it off.
TRIED = {
    r"Read-only file system|Permission denied": "tried to write where it may not",
    r"Address family not supported|name resolution|urlopen error|service not known": "tried to reach the network",
    r"MemoryError|Unable to allocate": "asked for more memory than there is",
    r"TooMuchOutput": "printed without end",
    r"BlockingIOError|Resource temporarily unavailable|can't start new thread": "started too many processes",
    r"No such file or directory: '/": "looked for a file that is not there",
    r"^SystemExit": "called exit",
    r"Operation not permitted": "asked the system for what is closed",
}

#: Seconds of a processor in which an answer in words is made a page.
SECONDS_FOR_WORDS = 5
#: The errors of a cell that is no Python.
NO_PYTHON = ("SyntaxError", "IndentationError", "TabError")
#: What an answer to an exercise has no reason to mention.
ODD = ["gradebook", "nbgrader", "HIDDEN TESTS", "os._exit", "ctypes", "get_ipython().", "sys.modules", "__builtins__"]


def graded(assignment: Assignment, text: bytes, limits: Limits, unsafe: bool = False) -> dict[str, Any]:
    """The marks of one notebook, with what happened, as plain data. ``seconds`` are those of a processor."""
    started = time.process_time()
    try:
        handed_in = read(text)
    except Unreadable as error:
        return not_graded(assignment, str(error))
    notebook, remarks = assembled(assignment.source, assignment.release, handed_in)
    remarks += _oddities(handed_in, assignment)
    student = Student(limits, unsafe)
    with tempfile.TemporaryDirectory(prefix="grading-") as scratch:
        folder = Path(scratch)
        try:
            done = _autograded(assignment, notebook, Tests(student, assignment, scratch), folder)
        finally:
            student.close()
        scores = _scores(assignment, folder)
    remarks += [*student.remarks, *_tried(done)]
    answers = {cell.metadata.nbgrader.grade_id: cell for cell in done.cells if is_solution(cell)}
    tests = {cell.metadata.nbgrader.grade_id: cell for cell in done.cells if is_grade(cell)}
    tasks = [_task(task, scores[task.cell], answers.get(task.answer), tests[task.cell]) for task in assignment.tasks]
    for task in tasks:
        if task["by hand"] and task["score"] is None:
            task["page"] = _as_page(task["answer"], attached(handed_in))
    return {
        "assignment": assignment.name,
        "remarks": list(dict.fromkeys(remarks)),
        "tasks": tasks,
        "seconds": round(time.process_time() - started + student.used, 2),
    }


def _as_page(words: str, attachments: dict[str, str]) -> str:
    """An answer in words as HTML; empty where that takes too long."""
    try:
        with limited(SECONDS_FOR_WORDS):
            return shown(words, attachments)
    except (TookTooLong, Exception):  # whatever was written
        return ""


def not_graded(assignment: Assignment, why: str) -> dict[str, Any]:
    """No marks, with the reason."""
    return {
        "assignment": assignment.name,
        "remarks": [f"{NOT_GRADED}: {why}"],
        "tasks": [_task(task, 0.0, None, None) | {"what": NOT_GRADED, "says": why} for task in assignment.tasks],
        "seconds": 0.0,
    }


def _task(task: Any, score: float | None, answer: NotebookNode | None, test: NotebookNode | None) -> dict[str, Any]:
    """One task's mark: None, until someone has read the answer. ``what`` is the short name of a mistake."""
    errors = [output for output in (test.get("outputs", []) if test else []) if output.output_type == "error"]
    outputs = answer.get("outputs", []) if answer else []
    what, says = ("", "") if not errors else _mistake(errors[-1])
    broken = [output for output in outputs if output.get("ename") in NO_PYTHON]
    if errors and broken:  # the tests found nothing, because Python has read nothing of the cell
        message = re.sub(r"<ipython-input[^>]*>, ", "", broken[-1].evalue)
        what, says = "syntax error", f"Python can't read your cell. {broken[-1].ename}: {message}"[:1000]
    if task.by_hand and score == 0:
        what, says = "no answer", "The answer was left as it was."
    return {
        "task": task.name,
        "title": task.title,
        "points": task.points,
        "by hand": task.by_hand,
        "score": score,
        "what": what,
        "says": says,
        "answer": answer.source[:20_000] if answer else "",
        "outputs": outputs,
    }


def _mistake(error: NotebookNode) -> tuple[str, str]:
    """The short name of a mistake and the sentence: `check` writes both, other errors have their own names."""
    if error.ename in ("NotYet", TookTooLong.__name__) and ": " in error.evalue:
        what, says = error.evalue.split(": ", 1)
        return what[:60], says[:1000]
    return error.ename[:60], f"{error.ename}: {error.evalue}"[:1000]


class TookTooLong(BaseException):
    """An answer on which a test would work without end."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TookTooLong` in what takes this process more seconds of a processor, and again if that is caught."""

    def stop(number: int, frame: Any) -> None:
        raise TookTooLong(f"too long: This answer keeps the test busy for more than {seconds:g} s.")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


class Tests:
    """The process in which the tests run, beside the sandbox."""

    def __init__(self, student: Student, assignment: Assignment, folder: str) -> None:
        self._student = student
        self._shell = Shell(folder)
        self._asked_for = {
            name for cell in assignment.source.cells if is_solution(cell) for name in defined_names(cell.source)
        }

    def execute(self, notebook: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Run every cell where it belongs: a preprocessor, in the place of nbgrader's own."""
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            if is_test(cell):
                cell.outputs = self._run(cell.source)
            else:
                cell.outputs = self._student.run(cell.source)
                if cell.metadata.get("nbgrader") and not is_solution(cell):
                    self._run(cell.source)  # given code: the tests may need it as well
        return notebook, resources

    def _run(self, source: str) -> list[NotebookNode]:
        try:
            with limited(self._student.limits.seconds):
                for name in self._asked_for & mentioned_names(source):
                    self._fetch(name)
                return clean(self._shell.run(source))
        except TookTooLong as error:  # in what is not a cell
            return [new_output("error", ename="TookTooLong", evalue=str(error), traceback=[str(error)])]

    def _fetch(self, name: str) -> None:
        """Let a name stand for what the student has defined."""
        names = self._shell.names
        names.pop(name, None)
        try:
            names[name] = self._student.look_up(name)
        except Missing:
            pass
        except (NotPlain, Stopped) as error:
            names[name] = _Unusable(error)


class _Unusable:
    """Stands for a value that can't be had; what is done with it says why."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._error


def _autograded(assignment: Assignment, notebook: NotebookNode, tests: Tests, folder: Path) -> NotebookNode:
    """Let nbgrader mark a notebook in a course of its own, and give it back as executed."""
    handed_in = folder / "submitted" / STUDENT / assignment.name
    handed_in.mkdir(parents=True)
    nbformat.write(notebook, handed_in / f"{assignment.name}.ipynb")
    (folder / "source" / assignment.name).mkdir(parents=True)  # nbgrader looks here for further files
    shutil.copy(assignment.folder / "gradebook.db", folder)
    config = settings(folder)
    config.CourseDirectory.assignment_id, config.CourseDirectory.student_id = assignment.name, STUDENT
    steps = [tests.execute, LimitOutput, SaveAutoGrades, CheckCellMetadata]
    convert(Autograde, config, autograde_preprocessors=steps)
    return nbformat.read(folder / "autograded" / STUDENT / assignment.name / f"{assignment.name}.ipynb", as_version=4)


def _scores(assignment: Assignment, folder: Path) -> dict[str, float | None]:
    """The scores in the gradebook, by cell; None for what needs a reader."""
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        notebook = gradebook.find_submission_notebook(assignment.name, assignment.name, STUDENT)
        return {grade.name: None if grade.needs_manual_grade else grade.auto_score for grade in notebook.grades}


def _oddities(handed_in: NotebookNode, assignment: Assignment) -> list[str]:
    """What in a submission deserves a look, though it changes no mark."""
    remarks = []
    language = handed_in.metadata.language
    if language.lower() != "python":
        remarks.append(f"the notebook says that it is in {language[:30]}; it was run as Python")
    locked = [cell.source for cell in assignment.release.cells if cell.cell_type == "code" and not is_solution(cell)]
    given = {"check"}.union(*(defined_names(source, imports=False) for source in locked))
    theirs = "\n".join(cell.source for cell in handed_in.cells if cell.cell_type == "code")
    stock = "\n".join(cell.source for cell in assignment.release.cells)
    for cell in handed_in.cells:
        own = cell.cell_type == "code" and cell.source.strip() not in stock
        own = own and cell.metadata.get("nbgrader", {}).get("solution", True)
        for name in sorted(defined_names(cell.source) & given if own else ()):
            remarks.append(f"defines {name}, which is given; the tests use the given one")
    return remarks + [f"mentions {word}" for word in ODD if word in theirs and word not in stock]


def _tried(notebook: NotebookNode) -> list[str]:
    """What the errors of the cells tell of."""
    errors = [
        f"{output.ename}: {output.evalue}"
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]
    return [says for pattern, says in TRIED.items() if any(re.search(pattern, error) for error in errors)]
