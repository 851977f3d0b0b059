"""The marks as tables: for people, for Canvas, for Moodle; and as the files that Gradescope reads."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grading.collect import Submission
from grading.course import NOT_GRADED, Assignment
from grading.tables import read_table, write_table

__all__ = ["Marked", "gradescope_result", "number", "read_by_hand", "slugs", "state", "write_all"]

COLUMNS = ["student", "assignment", "task", "title", "score", "points", "state", "mistake", "says", "remarks"]
BY_HAND = ["student", "assignment", "task", "points", "score", "comment"]


@dataclass
class Marked:
    """A student with the results, by assignment."""

    submission: Submission
    slug: str  #: the student as the name of a file
    results: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def student(self) -> str:
        return self.submission.student

    def total(self, assignment: str) -> float | None:
        """The points of an assignment; None while one of its answers waits to be read, or if nothing was handed in."""
        if assignment not in self.results:
            return None
        scores = [task["score"] for task in self.results[assignment]["tasks"]]
        return None if None in scores else sum(scores)

    def waiting(self) -> int:
        """How many answers wait to be read."""
        return sum(task["score"] is None for result in self.results.values() for task in result["tasks"])

    def remarks(self) -> list[str]:
        """What happened, over all assignments."""
        found = [*self.submission.remarks]
        for assignment, result in self.results.items():
            found += [f"{assignment}: {remark}" for remark in result["remarks"]]
        return found


def state(task: dict[str, Any]) -> str:
    """How far the marking of a task is, in a word or two."""
    if task["what"] == NOT_GRADED:
        return NOT_GRADED
    return "to be read" if task["score"] is None else "marked"


def number(score: float | None) -> str:
    """A score as text, empty for none."""
    return "" if score is None else f"{score:g}"


def write_all(folder: Path, marked: list[Marked], assignments: list[Assignment]) -> None:
    """Write every table into a folder."""
    write_table(folder / "marks.csv", COLUMNS, _marks(marked), for_excel=True)
    write_table(folder / "by_hand.csv", BY_HAND, _by_hand(marked), for_excel=True)
    write_table(folder / "canvas.csv", *_canvas(marked, assignments))
    for assignment in assignments:
        write_table(folder / f"moodle-{assignment.name}.csv", *_moodle(marked, assignment))
        _write_gradescope(folder / f"gradescope-{assignment.name}.zip", marked, assignment)


def _marks(marked: list[Marked]) -> Iterable[list[str]]:
    for one in marked:
        for assignment, result in one.results.items():
            for task in result["tasks"]:
                yield [
                    one.student, assignment, task["task"], task["title"], number(task["score"]), number(task["points"]),
                    state(task), task["what"], task["says"], "; ".join(result["remarks"]),
                ]  # fmt: skip


# -- marks by hand --------------------------------------------------------------------------------------------------


def _by_hand(marked: list[Marked]) -> Iterable[list[str]]:
    for one in marked:
        for assignment, result in one.results.items():
            for task in result["tasks"]:
                if task["by hand"] and task["what"] not in ("no answer", NOT_GRADED):
                    score, comment = number(task["score"]), task.get("comment", "")
                    yield [one.student, assignment, task["task"], number(task["points"]), score, comment]


def read_by_hand(path: Path) -> dict[tuple[str, str, str], tuple[float, str]]:
    """What an instructor has filled in: score and comment by student, assignment and task.

    Raises
    ------
    ValueError
        If a score is no number, is negative, or is above the task's points.
    """
    found = {}
    for line, row in read_table(path) if path.exists() else []:
        if not (row.get("score") or "").strip():
            continue
        try:
            score, points = float(row["score"].replace(",", ".")), float(row["points"])
        except ValueError:
            raise ValueError(f"{path}, line {line}: the score {row['score']!r} is no number") from None
        if not 0 <= score <= points:
            raise ValueError(f"{path}, line {line}: the score {score:g} is not from 0 to {points:g}")
        found[tuple(row[name] for name in BY_HAND[:3])] = score, row.get("comment") or ""
    return found


# -- Canvas ---------------------------------------------------------------------------------------------------------


def _canvas(marked: list[Marked], assignments: list[Assignment]) -> tuple[list[str], list[list[str]]]:
    """The columns of Canvas's gradebook: five on the student, in this order, then one an assignment.

    Canvas finds a student by ID, else by SIS User ID or SIS Login ID, else by name; an assignment by its title.
    """
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *(one.name for one in assignments)]
    points = [number(sum(task.points for task in one.tasks)) for one in assignments]
    rows = [["    Points Possible", "", "", "", "", *points]]
    for one in marked:
        person = one.submission.person
        who = [person.get("Student") or one.student, person.get("ID") or one.submission.canvas]
        who += [person.get(name, "") for name in ("SIS User ID", "SIS Login ID", "Section")]
        rows.append([*who, *(number(one.total(assignment.name)) for assignment in assignments)])
    return header, rows


# -- Moodle ---------------------------------------------------------------------------------------------------------


def _moodle(marked: list[Marked], assignment: Assignment) -> tuple[list[str], list[list[str]]]:
    """Moodle's grading worksheet of an assignment. It finds a student by Identifier; the date may stay empty."""
    header = ["Identifier", "Full name", "Email address", "Grade", "Maximum Grade"]
    header += ["Last modified (grade)", "Feedback comments"]
    points = number(sum(task.points for task in assignment.tasks))
    rows = []
    for one in marked:
        person, participant = one.submission.person, one.submission.participant
        identifier = person.get("Identifier") or (f"Participant {participant}" if participant else "")
        mail = person.get("Email address") or person.get("Email") or ""
        comment = _comment(one.results.get(assignment.name))
        rows.append([identifier, one.student, mail, number(one.total(assignment.name)), points, "", comment])
    return header, rows


def _comment(result: dict[str, Any] | None) -> str:
    """What a student is told in a line: the marks of the tasks."""
    if result is None:
        return ""
    return "; ".join(
        f"{task['title']}: {number(task['score']) or '?'} of {task['points']:g}" for task in result["tasks"]
    )


# -- Gradescope -----------------------------------------------------------------------------------------------------

RUN_AUTOGRADER = '''\
#!/usr/bin/env python3
"""Give Gradescope the marks that were made elsewhere: the student's file becomes results.json."""

import json
import pathlib
import sys

place = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/autograder")
marks = json.loads((place / "source" / "marks.json").read_text())
users = json.loads((place / "submission_metadata.json").read_text())["users"]
keys = [str(user.get(key, "")).strip().casefold() for user in users for key in ("email", "sid", "name")]
none = {"score": 0, "output": "No marks for this student are in the archive: ask your instructor."}
result = next((marks[key] for key in keys if key in marks), none)
(place / "results").mkdir(exist_ok=True)
(place / "results" / "results.json").write_text(json.dumps(result))
'''


def gradescope_result(result: dict[str, Any]) -> dict[str, Any]:
    """A student's marks as Gradescope's results.json."""
    tests = [
        {
            "name": task["title"],
            "score": task["score"],
            "max_score": task["points"],
            "output": task.get("comment") or task["says"] or "Right.",
        }
        for task in result["tasks"]
    ]
    return {"tests": tests, "visibility": "visible"}


def _write_gradescope(path: Path, marked: list[Marked], assignment: Assignment) -> None:
    """An autograder for Gradescope that knows the marks. Gradescope takes marks of code in no other form."""
    marks = {}
    for one in marked:
        if one.total(assignment.name) is None:
            continue
        person = one.submission.person
        keys = [one.student, person.get("Email address"), person.get("Email"), person.get("SID"), person.get("Name")]
        for key in filter(None, keys):
            marks[key.strip().casefold()] = gradescope_result(one.results[assignment.name])
    new = path.with_suffix(".new")
    with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        setup = "#!/usr/bin/env bash\ntrue\n"
        texts = {"setup.sh": setup, "run_autograder": RUN_AUTOGRADER, "marks.json": json.dumps(marks, sort_keys=True)}
        for name, text in texts.items():
            member = zipfile.ZipInfo(name)  # dated 1980, so that a second run writes the same bytes
            member.external_attr = 0o755 << 16
            archive.writestr(member, text)
    new.replace(path)


def slugs(students: list[str]) -> list[str]:
    """The students as names of files, all different."""
    found: list[str] = []
    for student in students:
        slug = re.sub(r"[^\w.-]+", "_", student).strip("._").encode()[:80].decode(errors="ignore") or "student"
        place, count = slug, 2
        while place.casefold() in (other.casefold() for other in found):
            place, count = f"{slug}_{count}", count + 1
        found.append(place)
    return found
