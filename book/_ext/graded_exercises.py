"""A directive that offers the graded exercises of a chapter: their notebook, a table of them, and cells to solve them.

What the site offers is the student edition, which `scripts/exercises.py` writes again for each build. The sources,
which hold the solutions, are not pages of the book and are copied nowhere. A book built without them offers no tasks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import nbformat
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from live import made_cell

if TYPE_CHECKING:
    from scripts.exercises import Task

ROOT = Path(__file__).resolve().parents[2]
#: Below the folder of the book's sources, because a page can offer only what lies there.
STUDENT_EDITION = Path("_build") / "exercises"


@cache
def edition(folder: Path) -> ModuleType:
    """The module that reads the exercises, once the student edition is written."""
    sys.path.insert(0, str(ROOT))
    from scripts import exercises

    if exercises.chapters():
        exercises.write_student_edition(folder)
    return exercises


def link(task: Task) -> str:
    """The exercise or the section that a task builds on."""
    if task.label.startswith("eq-"):
        return f"{task.after}, {{eq}}`{task.label}`"
    if task.label.startswith(("alg-", "def-", "lem-", "thm-")):
        return f"{task.after}, {{prf:ref}}`{task.label}`"
    return f"{{ref}}`{task.after} <{task.label}>`"


class GradedExercises(SphinxDirective):
    """`graded-exercises` takes the name of a chapter."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        chapter = self.arguments[0]
        exercises = edition(Path(self.env.srcdir) / STUDENT_EDITION)
        if chapter not in exercises.chapters():
            return self.parse_text_to_nodes("The notebook of this chapter is not part of this edition.")
        self.env.note_dependency(exercises.SOURCES / f"{chapter}.ipynb")
        lines = "\n".join(self.lines(chapter, exercises.tasks(exercises.read(chapter))))
        return [*self.parse_text_to_nodes(lines), *self.fold(chapter)]

    def fold(self, chapter: str) -> list[nodes.Node]:
        """The student edition to be solved in the page, folded, without its first cell, which is about notebooks."""
        folded = self.parse_text_to_nodes(":::{dropdown} Solve them here\n:::")
        notebook = nbformat.read(Path(self.env.srcdir) / STUDENT_EDITION / f"{chapter}.ipynb", as_version=4)
        counts = self.env.temp_data  # of the page: cells are counted through all its notebooks
        first = counts.get("cells of graded exercises", 0)
        given: list[int] = []  # what any task may use
        answer = None
        place = first
        for cell in notebook.cells[1:]:
            if cell.cell_type == "markdown":
                title, _, text = cell.source.partition("\n") if cell.source.startswith("#") else ("", "", cell.source)
                folded[0] += nodes.rubric("", title.lstrip("# ")) if title else []
                folded[0] += self.parse_text_to_nodes(text)
                continue
            graded = cell.metadata.nbgrader
            kind = "check" if graded.grade else "answer" if graded.solution else "given"
            needs = [*given, answer] if kind == "check" and answer is not None else given
            folded[0] += made_cell(cell.source, needs=" ".join(map(str, needs)), first=first, kind=kind)
            if kind == "given":
                given.append(place)
            answer = place if kind == "answer" else None
            place += 1
        counts["cells of graded exercises"] = place
        return folded

    def lines(self, chapter: str, tasks: list[Task]) -> Iterator[str]:
        points, minutes = sum(task.points for task in tasks), sum(task.minutes for task in tasks)
        place = Path("/") / STUDENT_EDITION / f"{chapter}.ipynb"
        yield f"{{download}}`{chapter}.ipynb <{place.as_posix()}>`: {points:g} points, about {minutes} minutes."
        yield ""
        # Four columns fit a phone.
        yield "| Task | Points | Minutes | It trains |"
        yield "|---|--:|--:|---|"
        for task in tasks:
            trains = f"{task.trains}; it builds on {link(task)}"
            cells = [task.title, f"{task.points:g}", str(task.minutes), trains]
            yield "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("graded-exercises", GradedExercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
