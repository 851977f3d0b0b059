"""The tables, held to what the programs that import them document."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import zipfile

import nbformat
import pytest

from grading.collect import Submission
from grading.marks import COLUMNS, Marked, slugs, write_all
from grading.report import write_feedback, write_report


def task(name: str, score: float | None, points: float, **more) -> dict:
    plain = {"task": name, "title": name, "points": points, "by hand": False, "score": score, "what": "", "says": ""}
    return plain | {"answer": "", "outputs": []} | more


#: What the names of Moodle's and of Canvas's files say; both numbers go with the result.
NUMBERS = {"participant": "123", "download": "lovelaceada_LATE_77_901_first-1.ipynb"}


@pytest.fixture
def out(course, tmp_path):
    """The tables of three students: one marked, one with an answer to be read, one who handed in nothing."""
    first = course[1]["first"]
    evil = '=HYPERLINK("http://192.0.2.1")<script>alert(1)</script>'
    ada = Submission(
        "Ada Lovelace", participant="123", canvas="77", person={"Email": "ada@example.org", "Section": "A"}
    )
    students = [Marked(ada, "Ada"), Marked(Submission(evil), "evil"), Marked(Submission("Cyd"), "Cyd")]
    explained = task("first-explain", 2.5, 3, **{"by hand": True}, comment="Which?", answer="Because.")
    right = [task("first-mean", 2, 2), task("first-shares", 3, 3), task("first-half", 0, 1, what="no", says="No: 0.5")]
    students[0].results = {"first": {"remarks": [], "tasks": [*right, explained], **NUMBERS}}
    shown = [{"output_type": "stream", "name": "stdout", "text": "<img src=x onerror=alert(1)>"}]
    open_ = explained | {"score": None, "comment": "", "answer": "<script>alert(2)</script>"}
    wrong = [task("first-mean", 0, 2, what="-sum", says=evil, outputs=shown), *right[1:], open_]
    students[1].results = {"first": {"remarks": [evil], "tasks": wrong}}
    write_all(tmp_path, students, [first], "blank")
    write_report(tmp_path, students, [first], "blank", [])
    write_feedback(tmp_path / "feedback", students, [first])
    return tmp_path


def rows(path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_one_row_a_student_and_task(out):
    header, *lines = rows(out / "marks.csv")
    assert header == COLUMNS
    assert len(lines) == 8 and [line[4] for line in lines] == ["2", "3", "0", "2.5", "0", "3", "0", ""]
    assert lines[-1][6] == "to be read"


def test_no_cell_is_a_formula(out):
    for path in out.glob("*.csv"):
        for line in rows(path)[1:]:
            assert not [cell for cell in line if cell[:1] in ("=", "+", "-", "@")]


def test_canvas(out):
    """Held to lib/gradebook_importer.rb of instructure/canvas-lms: `row_has_student_headers?`, `update_column_count`
    (what the columns of a student are), `check_for_non_student_row` (the points), `process_student` (by ID or name)."""
    header, points, ada, evil, cyd = rows(out / "canvas.csv")
    assert len(header) > 3 and "Student" in header[0] and "ID" in header[1]
    assert re.search(r"SIS\s+User\s+ID", header[2]) and re.search(r"SIS\s+Login\s+ID", header[3])
    assert "Section" in header[4]  # the last column on the student
    assert header[5:] == ["first"]
    assert "Points Possible" in points[0] and points[5] == "9"
    assert ada == ["Ada Lovelace", "77", "", "", "A", "7.5"]
    assert evil[5] == cyd[5] == ""


def test_moodle(out):
    """Held to mod/assign/feedback/offline/importgradeslib.php of Moodle: `init` wants Identifier, Grade and Last
    modified (grade), and takes Feedback comments; `next` cuts the word Participant off the identifier."""
    header, ada, *_ = rows(out / "moodle-first.csv")
    assert {"Identifier", "Grade", "Last modified (grade)"} <= set(header)
    found = dict(zip(header, ada))
    assert found["Identifier"][len("Participant ") :] == "123" and found["Grade"] == "7.5"
    assert found["Maximum Grade"] == "9" and found["Last modified (grade)"] == ""
    assert found["Feedback comments"].endswith("first-half: 0 of 1; first-explain: 2.5 of 3")


def test_feedback_for_moodle(out):
    """Held to `is_valid_filename_for_import` in mod/assign/feedback/file/importziplib.php of Moodle, which finds the
    participant and the plugin in the first folder whose name has four parts between underscores."""
    with zipfile.ZipFile(out / "feedback-moodle-first.zip") as archive:
        (path,) = archive.namelist()
        text = archive.read(path).decode()
    folder, file = path.split("/")
    assert folder.split("_", 4)[1:4] == ["123", "assignsubmission", "file"] and file == "first-feedback.html"
    assert "Feedback for Ada Lovelace" in text


def test_feedback_for_canvas(out):
    """Held to `infer_comment_context_from_filename` in app/models/assignment.rb of instructure/canvas-lms: the first
    two parts of a file's name that are numbers are the user and the file; the comment gets that file's name."""
    with zipfile.ZipFile(out / "feedback-canvas-first.zip") as archive:
        (name,) = archive.namelist()
        notebook = nbformat.reads(archive.read(name).decode(), as_version=4)
    assert [cell.id for cell in notebook.cells][:2] == ["feedback-0", "feedback-1"]  # a second run changes nothing
    assert [part for part in name.split("_") if part.isdigit()][:2] == ["77", "901"] and name.endswith(".ipynb")
    nbformat.validate(notebook)
    assert any("2.5 of 3" in cell.source and "Which?" in cell.source for cell in notebook.cells)


@pytest.mark.parametrize("user, score", [({"email": "Ada@example.org"}, 7.5), ({"name": "Ada Lovelace"}, 7.5), ({}, 0)])
def test_gradescope(out, tmp_path, user, score):
    """Held to gradescope-autograders.readthedocs.io: what a zip holds (Autograder Specifications), what the harness
    puts into submission_metadata.json (Submission Metadata), what results.json may say (Output format)."""
    place = tmp_path / "autograder"
    (place / "source").mkdir(parents=True)
    with zipfile.ZipFile(out / "gradescope-first.zip") as archive:
        assert {"setup.sh", "run_autograder"} <= set(archive.namelist())
        archive.extractall(place / "source")
    (place / "submission_metadata.json").write_text(json.dumps({"users": [user]}))
    script = place / "source" / "run_autograder"
    assert script.read_text().startswith("#!")
    subprocess.run([sys.executable, script, place], check=True)
    result = json.loads((place / "results" / "results.json").read_text())
    if score:
        assert sum(test["score"] for test in result["tests"]) == score
        assert all(set(test) <= {"name", "score", "max_score", "output"} for test in result["tests"])
        assert result["visibility"] in ("hidden", "after_due_date", "after_published", "visible")
    else:
        assert result["score"] == 0 and "ask your instructor" in result["output"]


def test_pages_hold_no_markup_of_a_student(out):
    for path in out.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "<script" not in text and "<img" not in text and "default-src" in text, path
    assert "&lt;img src=x" in (out / "feedback" / "evil.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(2)" in (out / "by_hand.html").read_text(encoding="utf-8")


def test_a_task_that_the_best_miss_is_seen_in_the_report(course, tmp_path):
    """Of ten students the first half has the others right, and this task wrong."""
    first = course[1]["first"]
    students = [Marked(Submission(f"student {k}"), f"student_{k}") for k in range(10)]
    for k, student in enumerate(students):
        own = [task("first-mean", 2 * (k >= 5), 2), task("first-shares", 3 * (k < 5), 3), task("first-half", 1, 1)]
        student.results = {"first": {"remarks": [], "tasks": own}}
    for several, shown in ((students, ["-1.00", "-1.00"]), (students[:9], [])):
        write_report(tmp_path, several, [first], "blank", [])
        assert re.findall(r'<td class="n">(-?\d\.\d\d)</td>', (tmp_path / "report.html").read_text()) == shown


def test_names_of_files_are_safe_and_different():
    assert slugs(["Zoë Ng", "zoë_ng", "../../etc", "", "李伟"]) == ["Zoë_Ng", "zoë_ng_2", "etc", "student", "李伟"]
    assert slugs(["Zoë Ng", "\U0001d49c" * 63], ["zoë_ng"]) == ["Zoë_Ng_2", "\U0001d49c" * 20]
