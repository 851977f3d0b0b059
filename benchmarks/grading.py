"""Mark a class of 100, twelve of them broken or hostile, and see that every mark is right.

`python -m benchmarks.grading` takes some minutes and saves what it needed as book/data/grading.json, from which the
instructors' page prints.
"""

from __future__ import annotations

import csv
import json
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

from benchmarks.measure import ROOT
from benchmarks.table import machine
from grading.course import prepared
from grading.sandbox import used_by
from scripts.exercises import SOURCES
from tests.exercises.submissions import all_submissions, answers, right_answers, student_of, submission
from tests.grading import hostile

FILE = ROOT / "book" / "data" / "grading.json"
CHAPTER = "id3"
STUDENTS = 100
#: The task whose answer the hostile students replace; its solution returns a label.
TASK = "id3-leaf"
WRONG = "def leaf(labels):\n    return 'wrong'"
RIGHT = "def leaf(labels):\n    return min(set(labels), key=lambda label: (-list(labels).count(label), label))\n"
FORGED = hostile.FORGED.replace("def mean(numbers)", "def leaf(labels)")


class Malice(NamedTuple):
    """A broken or hostile submission: the answer to one task, whether it still earns its points, what is remarked."""

    answer: str
    earns: bool
    reason: str
    change: Callable[[NotebookNode], object] = lambda notebook: None
    text: bytes | None = None
    name: str = f"{CHAPTER}.ipynb"


MALICE = {
    "calls out": Malice(RIGHT + hostile.CALLER, True, "tried to reach the network"),
    "deletes the tests": Malice(WRONG, False, "was deleted", hostile.without_tests),
    "edits the tests": Malice(WRONG, False, "was edited", hostile.passing_tests),
    "ends the program": Malice("import os\nos._exit(0)", False, "ended the program"),
    "forges a mark": Malice(FORGED, False, "defines check"),
    "forks without end": Malice(hostile.FORKS, False, "took more than|gave no answer"),
    "hands in no JSON": Malice("", False, "not JSON", text=b"{"),
    "hands in no notebook": Malice("", False, "no notebook", text=b"later", name="notes.txt"),
    "loops without end": Malice("def leaf(labels):\n    while True: pass", False, "leaf took more than"),
    "prints without end": Malice(RIGHT + "while True: print('x' * 99)", True, "printed without end"),
    "takes all memory": Malice("x = []\nwhile True: x.append(bytearray(10**7))", False, "memory"),
    "writes elsewhere": Malice(RIGHT + hostile.WRITER, True, "tried to write"),
}


def honest() -> dict[str, tuple[dict[str, str], set[str]]]:
    """What honest students write, and the tasks that they have wrong: all answers on file, in turn."""
    wrong: dict[str, set[str]] = {student: set() for student in all_submissions(CHAPTER)}
    for answer in answers(CHAPTER):
        if answer.meets is not None:
            wrong[student_of(answer, CHAPTER)].add(answer.task)
    kinds = [(written, wrong[kind]) for kind, written in all_submissions(CHAPTER).items()]
    kinds = [(written, set(right_answers(CHAPTER)) if not written else missed) for written, missed in kinds]
    count = STUDENTS - len(MALICE)
    return {f"student {number:03}": kinds[number % len(kinds)] for number in range(count)}


def write_class(folder: Path, edition: NotebookNode) -> dict[str, set[str]]:
    """A folder a student; for each the tasks that earn nothing."""
    missed = {}
    for student, (written, wrong) in honest().items():
        (folder / student).mkdir(parents=True)
        nbformat.write(submission(edition, written), folder / student / f"{CHAPTER}.ipynb")
        missed[student] = wrong
    reference = right_answers(CHAPTER)
    for student, malice in MALICE.items():
        (folder / student).mkdir()
        notebook = submission(edition, reference | {TASK: malice.answer})
        malice.change(notebook)
        text = nbformat.writes(notebook).encode() if malice.text is None else malice.text
        (folder / student / malice.name).write_bytes(text)
        missed[student] = set(reference) if malice.text is not None else set() if malice.earns else {TASK}
    return missed


def wrong_marks(out: Path, missed: dict[str, set[str]]) -> list[str]:
    """The marks that are not what the answers deserve, and the hostile who are not named with their reason."""
    with (out / "marks.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    faults = []
    for row in rows:
        deserves = "0" if row["task"] in missed[row["student"]] else row["points"]
        if row["score"] not in (deserves, "" if row["task"].endswith("-explain") else deserves):
            faults.append(f"{row['student']}, {row['task']}: {row['score']} and not {deserves}")
        if row["student"] in MALICE and not re.search(MALICE[row["student"]].reason, row["remarks"]):
            faults.append(f"{row['student']}: {row['remarks']}")
    counted = {student: sum(row["student"] == student for row in rows) for student in missed}
    return faults + [f"{student}: {count} rows" for student, count in counted.items() if count != 7]


def run(command: list[str]) -> tuple[float, float]:
    """Run a command to its end: seconds of the clock, and megabytes of all its processes together at the peak."""
    started, peak = time.monotonic(), 0
    process = subprocess.Popen(command, cwd=ROOT)
    while process.poll() is None:
        peak = max(peak, used_by(process.pid, 0)[1])
        time.sleep(0.5)
    if process.returncode:
        raise SystemExit(process.returncode)
    return time.monotonic() - started, peak / 2**20


def versions() -> str:
    """The programs that mark."""
    bwrap = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    names = [f"{name} {metadata.version(name)}" for name in ("nbgrader", "ipython")]
    return ", ".join([f"Python {platform.python_version()}", *names, bwrap])


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder, out = Path(scratch) / "handed in", Path(scratch) / "out"
        edition = prepared(SOURCES / f"{CHAPTER}.ipynb", Path(scratch) / "course").release
        missed = write_class(folder, edition)
        seconds, peak = run([sys.executable, "-m", "grading", str(folder), "--out", str(out), "--workers", "2"])
        if faults := wrong_marks(out, missed):
            raise SystemExit("\n".join(["Marks that are wrong:", *faults]))
        results = [json.loads(path.read_text(encoding="utf-8")) for path in out.glob("results/*/*.json")]
        again, _ = run([sys.executable, "-m", "grading", str(folder), "--out", str(out), "--workers", "2"])
    usual = sorted(result["seconds"] for result in results)
    found = {
        "students": len(missed), "hostile": len(MALICE), "notebook": CHAPTER, "tasks": 7, "workers": 2,
        "minutes": round(seconds / 60, 1), "processor_seconds": round(sum(usual)), "peak_megabytes": round(peak),
        "median_processor_seconds": round(usual[len(usual) // 2], 1), "seconds_of_a_second_run": round(again),
        "date": date.today().isoformat(), "machine": machine(), "versions": versions(),
    }  # fmt: skip
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(FILE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
