"""The marks as tables: for people, for Canvas, for Moodle; and as the files that Gradescope reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grading.collect import Submission
from grading.course import NOT_GRADED, Assignment
from grading.tables import write_table, write_zip

__all__ = ["Marked", "gradescope_result", "number", "slugs", "state", "write_all"]

COLUMNS = ["student", "assignment", "task", "title", "score", "points", "state", "mistake", "says", "late", "remarks"]


@dataclass
class Marked:
    """A student with the results, by assignment, of this run and of earlier ones."""

    submission: Submission
    slug: str  #: the student as the name of a file
    results: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def student(self) -> str:
        return self.submission.student

    def task(self, assignment: str, name: str) -> dict[str, Any] | None:
        """What a task has brought; None if it was not handed in."""
        tasks = self.results.get(assignment, {}).get("tasks", [])
        return next((task for task in tasks if task["task"] == name), None)

    def handed_in(self, assignment: str) -> bool:
        """Whether there is a notebook of an assignment, be it broken."""
        return assignment in self.results and not self.results[assignment].get("missing")

    def total(self, assignment: str, missing: str = "blank") -> float | None:
        """The points of an assignment; None while one of its answers waits to be read."""
        if not self.handed_in(assignment):
            return 0.0 if missing == "zero" else None
        scores = [task["score"] for task in self.results[assignment]["tasks"]]
        if None in scores:
            return None
        return round(max(0.0, sum(scores) - (self.results[assignment].get("late") or {"points": 0})["points"]), 4)

    def waiting(self) -> int:
        """How many answers wait to be read."""
        return sum(task["score"] is None for result in self.results.values() for task in result["tasks"])

    def remarks(self) -> list[str]:
        """What happened, over all assignments."""
        found = [*self.submission.remarks]
        for assignment, result in self.results.items():
            found += [f"{assignment}: {remark}" for remark in result["remarks"]]
            found += [f"{assignment}: {result['late']['says']}"] if result.get("late") else []
            for task in result["tasks"]:
                if "was" in task:
                    found.append(
                        f"{assignment}, {task['task']}: had {number(task['was']['score'])}, but the answer has changed"
                    )
        return found


def state(task: dict[str, Any]) -> str:
    """How far the marking of a task is, in a word or two."""
    if task["what"] == NOT_GRADED:
        return NOT_GRADED
    if "tests gave" in task:
        return "overruled"
    return "to be read" if task["score"] is None else "marked"


def number(score: float | None) -> str:
    """A score as text, empty for none."""
    return "" if score is None else f"{score:g}"


def write_all(
    folder: Path, marked: list[Marked], assignments: list[Assignment], missing: str, titles: Iterable[str] = ()
) -> None:
    """Write every table into a folder. ``titles`` are Canvas's, as its gradebook has them."""
    write_table(folder / "marks.csv", COLUMNS, _marks(marked), for_excel=True)
    write_table(folder / "canvas.csv", *_canvas(marked, assignments, missing, titles))
    for assignment in assignments:
        header, rows = _moodle(marked, assignment, missing)
        if any(row[0] for row in rows):  # else Moodle would find nobody
            write_table(folder / f"moodle-{assignment.name}.csv", header, rows)
        _write_gradescope(folder / f"gradescope-{assignment.name}.zip", marked, assignment)


def _marks(marked: list[Marked]) -> Iterable[list[str]]:
    for one in marked:
        for assignment, result in one.results.items():
            late = (result.get("late") or {"says": ""})["says"]
            for task in result["tasks"]:
                yield [
                    one.student, assignment, task["task"], task["title"], number(task["score"]), number(task["points"]),
                    state(task), task["what"], task["says"], late, "; ".join(result["remarks"]),
                ]  # fmt: skip


# -- Canvas ---------------------------------------------------------------------------------------------------------


def _canvas(
    marked: list[Marked], assignments: list[Assignment], missing: str, titles: Iterable[str]
) -> tuple[list[str], list[list[str]]]:
    """The columns of Canvas's gradebook: five on the student, in this order, then one an assignment.

    Canvas finds a student by ID, else by SIS User ID or SIS Login ID, else by name; an assignment by its title, which
    in its own export has the assignment's number behind it.
    """
    numbered = {match[1].casefold(): title for title in titles if (match := re.fullmatch(r"(.+) \(\d+\)", title))}
    names = [numbered.get(one.name.casefold(), one.name) for one in assignments]
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *names]
    points = [number(sum(task.points for task in one.tasks)) for one in assignments]
    rows = [["    Points Possible", "", "", "", "", *points]]
    for one in marked:
        person = one.submission.person
        who = [person.get("Student") or one.student, person.get("ID") or one.submission.canvas]
        who += [person.get(name, "") for name in ("SIS User ID", "SIS Login ID", "Section")]
        rows.append([*who, *(number(one.total(assignment.name, missing)) for assignment in assignments)])
    return header, rows


# -- Moodle ---------------------------------------------------------------------------------------------------------


def _moodle(marked: list[Marked], assignment: Assignment, missing: str) -> tuple[list[str], list[list[str]]]:
    """Moodle's grading worksheet of an assignment. It finds a student by Identifier; the date may stay empty."""
    header = ["Identifier", "Full name", "Email address", "Grade", "Maximum Grade"]
    header += ["Last modified (grade)", "Feedback comments"]
    points = number(sum(task.points for task in assignment.tasks))
    rows = []
    for one in marked:
        person = one.submission.person
        # A number is an assignment's own: what an earlier run has found goes with its result.
        participant = one.results.get(assignment.name, {}).get("participant") or one.submission.participant
        identifier = person.get("Identifier") or (f"Participant {participant}" if participant else "")
        mail = person.get("Email address") or person.get("Email") or ""
        grade = number(one.total(assignment.name, missing))
        rows.append([identifier, one.student, mail, grade, points, "", _comment(one.results.get(assignment.name))])
    return header, rows


def _comment(result: dict[str, Any] | None) -> str:
    """What a student is told in a line: the marks of the tasks."""
    if result is None:
        return ""
    told = [f"{task['title']}: {number(task['score']) or '?'} of {task['points']:g}" for task in result["tasks"]]
    return "; ".join(told + ([result["late"]["says"]] if result.get("late") else []))


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
    if late := result.get("late"):
        tests.append({"name": "handed in late", "score": -late["points"], "max_score": 0, "output": late["says"]})
    return {"tests": tests, "visibility": "visible"}


def _write_gradescope(path: Path, marked: list[Marked], assignment: Assignment) -> None:
    """An autograder for Gradescope that knows the marks. Gradescope takes marks of code in no other form."""
    marks = {}
    for one in marked:
        if one.total(assignment.name) is None:  # nothing was handed in, or not all is read
            continue
        person = one.submission.person
        keys = [one.student, person.get("Email address"), person.get("Email"), person.get("SID"), person.get("Name")]
        for key in filter(None, keys):
            marks[key.strip().casefold()] = gradescope_result(one.results[assignment.name])
    texts = {"setup.sh": "#!/usr/bin/env bash\ntrue\n", "run_autograder": RUN_AUTOGRADER}
    write_zip(path, texts | {"marks.json": json.dumps(marks, sort_keys=True)}, mode=0o755)


def slugs(students: list[str], taken: Iterable[str] = ()) -> list[str]:
    """The students as names of files, all different, and different from those that are taken."""
    found: list[str] = []
    used = {slug.casefold() for slug in taken}
    for student in students:
        slug = re.sub(r"[^\w.-]+", "_", student).strip("._").encode()[:80].decode(errors="ignore") or "student"
        place, count = slug, 2
        while place.casefold() in used:
            place, count = f"{slug}_{count}", count + 1
        used.add(place.casefold())
        found.append(place)
    return found
