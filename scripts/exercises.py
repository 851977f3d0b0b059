"""Write the student edition of the graded exercises: nbgrader takes out solutions, model answers and hidden tests.

    python -m scripts.exercises                        all, into _build/exercises
    python -m scripts.exercises FOLDER                 into another folder
    python -m scripts.exercises --assignments id3 c45  only these
    python -m scripts.exercises --sources FOLDER       from notebooks of your own

The sources are nbgrader notebooks: book/exercises/<chapter>.ipynb is the assignment <chapter>.
"""

from __future__ import annotations

import argparse
import logging
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import nbformat
from nbformat import NotebookNode
from traitlets.config import Config

# nbgrader is imported where it is needed: the page for instructors only reads the tasks, on Binder without nbgrader.
if TYPE_CHECKING:
    from nbgrader.converters.base import BaseConverter

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "book" / "exercises"
STUDENT_EDITION = ROOT / "_build" / "exercises"
STUB = "...  # your code here"


class Task(NamedTuple):
    """A graded task, as its head says it."""

    name: str  # nbgrader's grade_id of the cell with the answer
    number: int
    title: str
    points: float
    minutes: int
    trains: str
    after: str  # a section or an exercise of the chapter: its title
    label: str  # ... and its label
    by_hand: bool


HEAD = re.compile(
    r"### (?P<number>\d+)\. (?P<title>.+)\n\n"
    r"\*(?P<points>[\d.]+) points? · (?P<minutes>\d+) minutes · trains (?P<trains>.+?)"
    r" · builds on “(?P<after>.+?)” \((?P<label>[\w-]+)\)\*\n"
)


def chapters(sources: Path = SOURCES) -> list[str]:
    """The chapters that have graded exercises, or the notebooks of another folder."""
    return sorted(path.stem for path in sources.glob("*.ipynb"))


def read(chapter: str, folder: Path = SOURCES) -> NotebookNode:
    """One notebook of the sources, or of another folder."""
    return nbformat.read(folder / f"{chapter}.ipynb", as_version=4)


def tasks(notebook: NotebookNode) -> list[Task]:
    """The tasks of a notebook, in its order."""
    by_name = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata}
    found = []
    for grade_id, cell in by_name.items():
        if not grade_id.endswith("-task"):
            continue
        head = HEAD.match(cell.source)
        if head is None:
            raise ValueError(f"{grade_id}: the first lines must be those of a task, as book/writing.md shows them")
        name = grade_id.removesuffix("-task")
        number, title, points, minutes, trains, after, label = head.groups()
        by_hand = by_name[name].metadata.nbgrader.grade
        found.append(Task(name, int(number), title, float(points), int(minutes), trains, after, label, by_hand))
    return found


def settings(folder: Path) -> Config:
    """The settings of nbgrader for a course that lies in a folder, its gradebook too."""
    config = Config()
    config.CourseDirectory.root = str(folder)
    config.CourseDirectory.db_url = f"sqlite:///{folder / 'gradebook.db'}"
    config.ClearSolutions.code_stub = {"python": STUB}
    config.ClearSolutions.text_stub = "*Your answer here.*"
    return config


def course(folder: Path, names: list[str] | None = None, sources: Path = SOURCES) -> None:
    """Lay out a course for nbgrader: `source/<chapter>/<chapter>.ipynb` below a folder."""
    for name in names or chapters(sources):
        place = folder / "source" / name
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(sources / f"{name}.ipynb", place)


def release(folder: Path, gradebook: bool = True) -> None:
    """Write the student edition of a course into `release/`, and into its gradebook what the tasks are worth."""
    from nbgrader.converters import GenerateAssignment

    for source in sorted((folder / "source").iterdir()):
        config = settings(folder)
        config.CourseDirectory.assignment_id = source.name
        config.SaveCells.enabled = gradebook
        convert(GenerateAssignment, config, no_database=not gradebook)


def convert(converter: type[BaseConverter], config: Config, **options: Any) -> None:
    """Run one of nbgrader's steps, which logs only what goes wrong."""
    from nbgrader.coursedir import CourseDirectory

    log = logging.getLogger("nbgrader steps")
    log.setLevel(logging.ERROR)
    with patch("nbgrader.api.get_alembic_version", gradebook_version):
        converter(CourseDirectory(config=config, log=log), config=config, log=log, **options).start()


def gradebook_version() -> str | None:
    """The version that nbgrader writes into a new gradebook.

    To learn it, nbgrader starts the program `alembic` for each gradebook, which takes a second and more, and by its
    bare name, which is not on every path.
    """
    import nbgrader
    from alembic.script import ScriptDirectory

    return ScriptDirectory(str(Path(nbgrader.__file__).parent / "alembic")).get_current_head()


def write_student_edition(
    folder: Path = STUDENT_EDITION, names: list[str] | None = None, sources: Path = SOURCES
) -> list[Path]:
    """Write the notebooks that students get; one whose text stays the same is left alone.

    Raises
    ------
    ValueError
        If there are no sources, or none with a name that was given.
    """
    names = names or chapters(sources)
    if not names:
        raise ValueError(f"SOURCES={sources}: there are no notebooks")
    if missing := set(names) - set(chapters(sources)):
        raise ValueError(f"ASSIGNMENTS: {sources} holds no {', '.join(sorted(missing))}.ipynb")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        course(Path(scratch), names, sources)
        release(Path(scratch), gradebook=False)
        for made in Path(scratch).glob("release/*/*.ipynb"):
            text, place = made.read_bytes(), folder / made.name
            if not place.exists() or place.read_bytes() != text:
                shutil.move(made, place)
    return [folder / f"{name}.ipynb" for name in sorted(names)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make exercises", description="Write the student edition.")
    parser.add_argument("folder", type=Path, nargs="?", default=STUDENT_EDITION, help="where it goes")
    parser.add_argument("--sources", type=Path, default=SOURCES, help="the notebooks with the solutions")
    parser.add_argument("--assignments", nargs="*", help="which to write; else all")
    options = parser.parse_args()
    try:
        made = write_student_edition(options.folder, options.assignments, options.sources)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    for path in made:
        print(path)
    if others := sorted(path.name for path in set(options.folder.glob("*.ipynb")) - set(made)):
        print(f"From before, not written again, so do not share them unseen: {', '.join(others)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
