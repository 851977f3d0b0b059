"""A whole class, from the student edition to the tables: the honest, the mistaken, the broken, the hostile."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path

import nbformat
import pytest

from grading.__main__ import main
from grading.marks import slugs
from grading.sandbox import bubblewrap
from scripts.exercises import ROOT
from tests.grading.hostile import cases, handed_in
from tests.grading.small import RIGHT, answered
from tests.grading.test_collect import zipped

pytestmark = pytest.mark.slow

NUMPY = {
    "first-mean": "def mean(numbers):\n    return np.mean(numbers)",
    "first-shares": (
        "import pandas as pd\ndef shares(labels):\n    return pd.Series(labels).value_counts(normalize=True).to_dict()"
    ),
    "first-half": "half = np.float64(1) / 2",
    "second-tall": "def tall(people):\n    return [name for name, cm in people['cm'].items() if cm > 180]",
}
#: Student, answers, points of the first notebook and of the second; None where the second wasn't handed in.
HONEST = {
    "Ada": (RIGHT, 6, 2),
    "Ben": (NUMPY, 6, 2),
    "Cyd": ({}, 0, 0),
    "Dan": ({"first-mean": "def mean(numbers):\n    return sum(numbers)"}, 0, None),
    "Eva": (RIGHT | {"first-shares": "def shares(x):\n    return {a: x.count(a) for a in x}"}, 3, 2),
}
#: Folders of honest students: what `unzip` makes of a Windows zip, and as many letters as a file system takes.
ODD_NAMES = {os.fsdecode(b"J\xfcrgen"): "Jürgen", "\U0001d49c" * 63: "\U0001d49c" * 63}
#: A zip whose names lead to the root, or stop a program that takes a number for one.
ODD_MEMBERS = {
    "//x/first.ipynb": b"{}",
    "\\\\y\\first.ipynb": b"{}",
    f"first-{'9' * 5000}.ipynb": b"{}",
    "a\r=b/c.txt": b"",
}


def words(folder: Path) -> list[str]:
    places = [str(folder / "handed in"), "--out", str(folder / "out"), "--sources", str(folder / "sources")]
    return [*places, "--seconds", "2", "--memory", "400"]


def results(out: Path) -> list[Path]:
    return sorted(out.glob("results/*/*.json"))


def state_of(out: Path) -> dict[str, str]:
    """Every file below a folder, and the hash of what it holds."""
    files = [path for path in out.rglob("*") if path.is_file()]
    return {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def can_be_interrupted():
    """A shell that runs tests in the background lets them ignore the signal of Ctrl+C; what they start would, too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(scope="module")
def graded(walls, course, tmp_path_factory):
    """The class, marked by a command that is interrupted and a run that goes on from there.

    Its folder, and what that run printed.
    """
    sources, editions = course
    folder = tmp_path_factory.mktemp("class")
    (folder / "sources").symlink_to(sources)
    place, out = folder / "handed in", folder / "out"
    for student, (answers, _, second) in HONEST.items():
        (place / student).mkdir(parents=True)
        for name in ("first", "second") if second is not None else ("first",):
            nbformat.write(answered(editions[name].release, answers), place / student / f"{name}.ipynb")
    secrets = [sources / "first.ipynb", editions["first"].folder / "gradebook.db", place / "Ada" / "first.ipynb"]
    for student, case in cases([str(path) for path in secrets]).items():
        (place / student).mkdir()
        (place / student / case.name).write_bytes(handed_in(case, editions["first"].release))
    for name in ODD_NAMES:
        (place / name).mkdir()
        nbformat.write(answered(editions["first"].release, RIGHT), place / name / "first.ipynb")
    (place / "mallory.zip").write_bytes(zipped(ODD_MEMBERS))
    first = subprocess.Popen(
        [sys.executable, "-m", "grading", *words(folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=can_be_interrupted,
    )
    until = time.monotonic() + 300
    while len(results(out)) < 3 and time.monotonic() < until and first.poll() is None:
        time.sleep(0.1)
    first.send_signal(signal.SIGINT)
    output, _ = first.communicate(timeout=60)
    assert first.returncode == 130 and "goes on from here" in output, output
    early = {path: path.stat().st_mtime_ns for path in results(out)}
    assert 3 <= len(early) < 20
    with redirect_stdout(io.StringIO()) as second, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLBACKEND", "agg")  # as a run leaves it: other tests get back what they had
        assert main(words(folder)) == 0, second.getvalue()
    assert {path: path.stat().st_mtime_ns for path in early} == early, "what was marked is marked no second time"
    return folder, second.getvalue()


def marks(out: Path) -> list[dict[str, str]]:
    with (out / "marks.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_honest_students_get_their_marks(graded):
    folder, _ = graded
    rows = marks(folder / "out")
    for student, (_, first, second) in HONEST.items():
        for name, points in (("first", first), ("second", second)):
            mine = [row for row in rows if row["student"] == student and row["assignment"] == name]
            assert sum(float(row["score"] or 0) for row in mine) == (points or 0), (student, name)
            assert len(mine) == {"first": 4, "second": 1}[name]


def test_names_cost_nobody_a_mark(graded):
    folder, _ = graded
    rows = marks(folder / "out")
    for name in ODD_NAMES.values():
        assert sum(float(row["score"] or 0) for row in rows if row["student"] == name) == 6
    assert {row["student"] for row in rows} == {*HONEST, *cases([]), *ODD_NAMES.values(), "mallory"}
    for path in (folder / "out").glob("*.csv"):
        lines = path.read_text(encoding="utf-8-sig").splitlines()
        assert all(line.startswith('"') and not line.startswith(('"=', '"@')) for line in lines), path


def test_mistakes_are_named(graded):
    folder, _ = graded
    rows = {(row["student"], row["task"]): row for row in marks(folder / "out")}
    assert rows["Dan", "first-mean"]["mistake"] == "sum"
    assert rows["Dan", "first-mean"]["says"].startswith("These are added up.")
    assert rows["Eva", "first-shares"]["mistake"] == "counts"
    assert rows["other name", "first-mean"]["mistake"] == "not there yet"
    assert rows["syntax error", "first-mean"]["mistake"] == "syntax error"
    assert "line 1" in rows["syntax error", "first-mean"]["says"]
    report = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "These are counts." in report and "4%" in report


@pytest.mark.parametrize("student", cases([]))
def test_the_broken_and_the_hostile(graded, student):
    """Marked as far as it goes, named with the reason."""
    folder, output = graded
    case = cases([])[student]
    rows = [row for row in marks(folder / "out") if row["student"] == student and row["assignment"] == "first"]
    assert sum(float(row["score"] or 0) for row in rows) == (case.score or 0)
    assert len(rows) == 4
    assert re.search(case.reason, rows[0]["remarks"]), rows[0]["remarks"]
    if case.reason:
        assert re.search(rf"^  {student}: ", output, re.MULTILINE)
        report = (folder / "out" / "report.html").read_text(encoding="utf-8")
        assert re.search(case.reason, report)
    if case.score is None:
        assert {row["state"] for row in rows} == {"not graded"}
        feedback = (folder / "out" / "feedback" / f"{slugs([student])[0]}.html").read_text(encoding="utf-8")
        n_reasons = len(re.findall(case.reason, feedback))
        assert 1 <= n_reasons <= feedback.count("<h2>")  # at most once for each notebook, not for each task


def test_solutions_stay_as_they_were(graded, course):
    """And nothing of them has got out: not into a result, nor a page."""
    folder, _ = graded
    for path in [*results(folder / "out"), *(folder / "out" / "feedback").glob("*.html")]:
        text = path.read_text(encoding="utf-8")
        assert "HIDDEN TESTS" not in text.replace("mentions HIDDEN TESTS", ""), path


def test_marks_by_hand_are_taken_over_and_a_further_run_changes_nothing(graded, monkeypatch):
    folder, _ = graded
    monkeypatch.setenv("MPLBACKEND", "agg")  # as a run leaves it: other tests get back what they had
    out = folder / "out"
    with (out / "by_hand.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["task"] for row in rows} == {"first-explain"}
    assert "Cyd" not in {row["student"] for row in rows}  # who answered nothing has nothing to be read
    lines = (out / "by_hand.csv").read_text(encoding="utf-8").splitlines()
    done = [line.replace('"",""', '"2.5","Say which."') if line.startswith('"Ada",') else line for line in lines]
    (out / "by_hand.csv").write_text("\n".join(done) + "\n", encoding="utf-8")
    assert main(words(folder)) == 0
    ada = [row for row in marks(out) if row["student"] == "Ada" and row["assignment"] == "first"]
    assert [row["score"] for row in ada] == ["2", "3", "1", "2.5"] and {row["state"] for row in ada} == {"marked"}
    assert "Say which." in (out / "feedback" / "Ada.html").read_text(encoding="utf-8")
    with (out / "canvas.csv").open(encoding="utf-8-sig", newline="") as file:
        totals = {row["Student"]: row["first"] for row in csv.DictReader(file)}
    assert totals["Ada"] == "8.5" and totals["Eva"] == ""  # whose answer nobody has read yet
    before = state_of(out)
    assert main(words(folder)) == 0
    assert state_of(out) == before


def test_feedback_runs_no_script(graded):
    folder, _ = graded
    pages = list((folder / "out").rglob("*.html"))
    assert len(pages) > 20
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert "default-src &#x27;none&#x27;" in text and "<script" not in text


def test_without_walls_the_command_asks_first(processes, course, tmp_path, monkeypatch, capsys):
    sources, editions = course
    (tmp_path / "handed in" / "Ada").mkdir(parents=True)
    (tmp_path / "sources").symlink_to(sources)
    (tmp_path / "outside").touch()
    reads = {"second-tall": f"open({str(tmp_path / 'outside')!r})\n{RIGHT['second-tall']}"}
    nbformat.write(answered(editions["second"].release, reads), tmp_path / "handed in" / "Ada" / "second.ipynb")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr("grading.__main__.bubblewrap", bubblewrap.__wrapped__)  # asked anew: other tests have found it
    assert main(words(tmp_path)) == 1
    message = capsys.readouterr().err
    for word in ("bubblewrap is not installed", "it can read your files", "UNSAFE=1"):
        assert word in message
    assert not (tmp_path / "out").exists()
    assert main([*words(tmp_path), "--unsafe"]) == 0
    assert [row["score"] for row in marks(tmp_path / "out")] == ["2"]
    assert "it can read your files" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
