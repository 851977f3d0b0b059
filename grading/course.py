"""The assignments: their sources, their student edition, and what nbgrader's gradebook knows of them."""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.utils import is_grade

from grading.assemble import is_test
from scripts.exercises import convert, settings

__all__ = ["NOT_GRADED", "Assignment", "Task", "names_of_cells", "prepared"]

#: What nbgrader calls a test, or a test of one part that has points of its own: `mean-test`, `mean-test-empty_list`.
PART = re.compile(r"(.+?)-test(?:-(.+))?")
NOT_GRADED = "not graded"  #: the mistake and the state of a task whose file could not be marked


@dataclass(frozen=True)
class Task:
    """What earns points."""

    name: str
    cell: str  #: the grade_id of the cell with the points
    title: str
    points: float
    by_hand: bool
    answer: str  #: the grade_id of the cell with the answer, which several parts may test


@dataclass(frozen=True)
class Assignment:
    """One notebook that is handed out and handed in. Its folder is a course of nbgrader's, with a gradebook."""

    name: str
    folder: Path

    @cached_property
    def source(self) -> NotebookNode:
        """The notebook with solutions and hidden tests."""
        return nbformat.read(self.folder / "source" / self.name / f"{self.name}.ipynb", as_version=4)

    @cached_property
    def release(self) -> NotebookNode:
        """The student edition."""
        return nbformat.read(self.folder / "release" / self.name / f"{self.name}.ipynb", as_version=4)

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks in the notebook's order; a task has the title of the last heading above its points."""
        found, title = [], self.name
        for cell in self.source.cells:
            if cell.cell_type == "markdown" and (heading := re.search(r"^#+ (.+)$", cell.source, re.MULTILINE)):
                title = heading[1] if not is_grade(cell) else title
            if is_grade(cell):
                details = cell.metadata.nbgrader
                match = PART.fullmatch(details.grade_id)
                answer, part = (match[1], match[2] or "") if match else (details.grade_id, "")
                words = f"{title}: {part.replace('_', ' ').replace('-', ' ')}" if part else title
                points = float(details.points)
                found.append(
                    Task(answer + (part and f"-{part}"), details.grade_id, words, points, not is_test(cell), answer)
                )
        return found

    def wrong_points(self) -> list[str]:
        """Where a question promises other points than its tests give."""
        wrong = []
        for name, cell in self.cells.items():
            told = re.search(r"\*([\d.]+) points?\b", cell.source) if cell.cell_type == "markdown" else None
            points = sum(task.points for task in self.tasks if f"{task.answer}-task" == name)
            if told and points and float(told[1]) != points:
                wrong.append(f"{name}: the text promises {told[1]} points, and the tests give {points:g}")
        return wrong

    @cached_property
    def key(self) -> str:
        """What the marks depend on, besides a submission: the source, in short."""
        return hashlib.sha256(nbformat.writes(self.source).encode()).hexdigest()[:16]

    @property
    def cells(self) -> dict[str, NotebookNode]:
        """The cells of the source by their names."""
        return {cell.metadata.nbgrader.grade_id: cell for cell in self.source.cells if "nbgrader" in cell.metadata}


def names_of_cells(source: Path) -> set[str]:
    """What nbgrader calls the cells of a notebook."""
    cells = nbformat.read(source, as_version=4).cells
    return {cell.metadata.nbgrader.grade_id for cell in cells if "nbgrader" in cell.metadata}


def prepared(source: Path, folder: Path) -> Assignment:
    """Make nbgrader's course for one source, unless it stands already.

    Raises
    ------
    ValueError
        If nbgrader can't make a student edition of it.
    """
    name, text = source.stem, source.read_bytes()
    place = folder / name / hashlib.sha256(text).hexdigest()[:16]
    if not (place / "gradebook.db").exists():
        new = place.with_name(place.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        (new / "source" / name).mkdir(parents=True)
        (new / "source" / name / source.name).write_bytes(text)
        config = settings(new)
        config.CourseDirectory.assignment_id = name
        try:
            convert(GenerateAssignment, config)
        except Exception as error:
            raise ValueError(f"{source}: nbgrader can make no student edition of it; it says why above") from error
        shutil.rmtree(place, ignore_errors=True)
        new.rename(place)
    return Assignment(name, place)
