"""Marks that people give: scores for answers in words, and scores that overrule a test.

Each is kept with the answer that it was given for, in a file that no other run and no spreadsheet writes. So a table
that was spoilt, another choice of assignments or another week's run loses none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from grading.course import NOT_GRADED, Assignment
from grading.marks import Marked, number
from grading.tables import read_table, write, write_table

__all__ = ["HandMarks"]

COLUMNS = ["student", "assignment", "task", "points", "score", "comment", "answer"]
OVERRIDES = ["student", "assignment", "task", "score", "why"]
#: What stands in the place of a score that is taken back.
NONE = "-"

#: Student, assignment, task.
Where = tuple[str, str, str]


class Row(NamedTuple):
    """A row that somebody has filled in, and the place that a message about it names."""

    place: str
    where: Where
    score: float | None
    comment: str
    answer: str


def short(answer: str) -> str:
    """An answer's mark of recognition."""
    return "a" + hashlib.sha256(answer.strip().encode()).hexdigest()[:12]  # no spreadsheet takes it for a number


class HandMarks:
    """The marks by hand of a folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / "kept_by_hand.json"
        stored = json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else []
        #: What was ever shown or scored: the answer, and the score or None.
        self.kept: dict[tuple[str, str, str, str], dict[str, Any]] = {tuple(one.pop("key")): one for one in stored}
        self._rows: list[Row] = []
        self._overrides: list[Row] = []

    def read(self, students: Iterable[str], courses: dict[str, Assignment]) -> None:
        """Read what was filled in.

        Raises
        ------
        ValueError
            If a row fits no student or task, or its score can't be: all such rows, with their lines.
        """
        tasks = {(name, task.name): task for name, course in courses.items() for task in course.tasks}
        faults: list[str] = []
        known = set(students) | {key[0] for key in self.kept}
        for row in self._filled("by_hand.csv", "comment", faults):
            task = tasks.get(row.where[1:])
            faults += _faults(row, known, tasks)
            if task and not task.by_hand:
                faults.append(f"{row.place}: {task.name} is marked by tests; overrides.csv can overrule them")
            self._rows.append(row)
        for row in self._filled("overrides.csv", "why", faults):
            faults += _faults(row, known, tasks)
            if not row.comment:
                faults.append(f"{row.place}: the column why is empty, and the student will read it")
            self._overrides.append(row)
        if faults:
            raise ValueError("\n".join([*faults, "Nothing was changed. Mend these rows, and run the command again."]))

    def _filled(self, name: str, comment: str, faults: list[str]) -> Iterator[Row]:
        """The rows of a table that have a score; two for the same answer must agree."""
        path = self.folder / name
        seen: dict[tuple[str, ...], str] = {}
        for line, row in read_table(path) if path.exists() else []:
            place, text = f"{path}, line {line}", row.get("score", "").strip()
            if "score" not in row or "student" not in row:
                faults.append(f"{path}: there is no column student or score; between columns stand , or ; or tabs")
                return
            try:
                score = None if text == NONE else float(text.replace(",", "."))
            except ValueError:
                faults += [f"{place}: the score {text!r} is no number"] if text else []
                continue
            where = row["student"].strip(), row.get("assignment", "").strip(), row.get("task", "").strip()
            key = (*where, row.get("answer", "").strip())
            if seen.setdefault(key, text) != text:
                faults.append(f"{place}: {', '.join(where)} has another score above")
            yield Row(place, where, score, row.get(comment, "").strip(), key[3])

    def apply(self, students: list[Marked]) -> None:
        """Enter the scores into the results, and keep them with the answers."""
        by_name = {one.student: one for one in students}
        for one in students:
            for where, task in _by_hand(one):
                key = (*where, short(task["answer"]))
                self.kept.setdefault(key, {"answer": task["answer"], "score": None, "comment": ""})
        for row in self._rows:
            current = by_name[row.where[0]].task(*row.where[1:]) if row.where[0] in by_name else None
            key = (*row.where, row.answer or short(current["answer"] if current else ""))
            when = {"when": datetime.now().isoformat(timespec="seconds")}
            known = self.kept.setdefault(key, {"answer": "", "score": None, "comment": ""})
            if (known["score"], known["comment"]) != (row.score, row.comment):
                known |= {"score": row.score, "comment": row.comment} | when
        for one in students:
            for where, task in _by_hand(one):
                known = self.kept[(*where, short(task["answer"]))]
                task["score"], task["comment"] = known["score"], known["comment"]
                others = [one for key, one in self.kept.items() if key[:3] == where and one["score"] is not None]
                if task["score"] is None and others:
                    task["was"] = max(others, key=lambda one: one["when"])
        for row in self._overrides:
            marked = by_name[row.where[0]].task(*row.where[1:]) if row.where[0] in by_name else None
            if marked is None:
                raise ValueError(f"{row.place}: {row.where[0]} has handed in no {row.where[1]}")
            marked |= {"tests gave": marked["score"], "score": row.score, "comment": row.comment}

    def save(self, students: list[Marked]) -> None:
        """Keep everything, then write the table anew; what somebody had filled in is copied first."""
        stored = [{"key": list(key)} | one for key, one in self.kept.items()]
        write(self._file, json.dumps(stored, ensure_ascii=False, indent=1))
        rows = []
        for one in students:
            for where, task in _by_hand(one):
                score, comment = number(task["score"]), task.get("comment", "")
                rows.append([*where, number(task["points"]), score, comment, short(task["answer"])])
        path = self.folder / "by_hand.csv"
        before = path.read_bytes() if path.exists() else b""
        write_table(path, COLUMNS, rows, for_excel=True)
        if before not in (b"", path.read_bytes()):
            copy = self.folder / "copies" / f"by_hand {datetime.now():%Y-%m-%d %H.%M.%S.%f}.csv"
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(before)
        if not (self.folder / "overrides.csv").exists():
            write_table(self.folder / "overrides.csv", OVERRIDES, [], for_excel=True)


def _by_hand(one: Marked) -> Iterator[tuple[Where, dict[str, Any]]]:
    """The answers of a student that somebody reads."""
    for assignment, result in one.results.items():
        for task in result["tasks"]:
            if task["by hand"] and task["what"] not in ("no answer", NOT_GRADED):
                yield (one.student, assignment, task["task"]), task


def _faults(row: Row, students: set[str], tasks: dict[tuple[str, str], Any]) -> list[str]:
    """Why a row fits nothing, if so."""
    student, assignment, name = row.where
    if student not in students:
        like = get_close_matches(student, students, 1)
        return [f"{row.place}: there is no student {student!r}{f'; is it {like[0]!r}?' if like else ''}"]
    task = tasks.get((assignment, name))
    if task is None:
        like = get_close_matches(name, [known for _, known in tasks], 1)
        return [f"{row.place}: there is no task {assignment} / {name}{f'; is it {like[0]}?' if like else ''}"]
    if row.score is not None and not 0 <= row.score <= task.points:
        return [f"{row.place}: the score {row.score:g} is not from 0 to {task.points:g}"]
    return []
