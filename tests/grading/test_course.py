"""A course over three weeks: no mark is lost, and each is what a table worked out beforehand says.

The notebooks are not run here: what would earn points says how many it earns.
"""

from __future__ import annotations

import csv
import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from grading import __main__ as command
from grading.autograde import not_graded
from tests.grading.test_collect import write

N_STUDENTS = 120
DUE = datetime(2026, 11, 3, 23, 59)
NAMES = [f"Student {n:03}" for n in range(N_STUDENTS)]
NAMES[1], NAMES[2] = "Eva Ekström", "王小明"


def marked_by_its_word(jobs, limits, unsafe, workers, tell):
    """In the place of the sandbox: the first cell says the points, the last has the words; the rest is right."""
    for job in jobs:
        cells = {cell["id"]: cell["source"] for cell in json.loads(job.text)["cells"]}
        result = not_graded(job.assignment, "") | {"remarks": []}
        for task in result["tasks"]:
            words = cells.get(task["task"], "") if task["by hand"] else ""
            task |= {"what": "" if words or not task["by hand"] else "no answer", "says": "", "answer": words}
            task["score"] = (
                float(cells.get(task["task"], task["points"])) if not task["by hand"] else None if words else 0.0
            )
        job.result.parent.mkdir(parents=True, exist_ok=True)
        job.result.write_text(json.dumps(result | job.about), encoding="utf-8")
        yield job, result | job.about


def notebook(**answers: object) -> bytes:
    cells = [{"id": name.replace("_", "-"), "source": str(text)} for name, text in answers.items()]
    return json.dumps({"cells": cells}).encode()


@pytest.fixture
def grade(course, tmp_path, monkeypatch):
    """Run the command on files; the folder of results lies beside them."""
    monkeypatch.setattr(command, "marked", marked_by_its_word)
    monkeypatch.setattr(command, "check", lambda *words: None)
    monkeypatch.setattr(command, "bubblewrap", lambda: None)
    for variable in ("MPLBACKEND", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(variable, "agg" if variable == "MPLBACKEND" else "1")
    runs = iter(range(99))

    def run(files: dict[str, bytes], *words: str) -> int:
        place = write(tmp_path / f"in {next(runs)}", files)
        return command.main([str(place), "--out", str(tmp_path / "out"), "--sources", str(course[0]), *words])

    run.out = tmp_path / "out"
    return run


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def save(path: Path, rows: list[dict[str, str]], delimiter=",", comma=".", encoding="utf-8-sig") -> None:
    """As a spreadsheet saves it."""
    with path.open("w", encoding=encoding, errors="replace", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(
            {key: text.replace(".", comma) if key == "score" else text for key, text in row.items()} for row in rows
        )


def totals(out: Path, name: str) -> dict[str, str]:
    return {row["Student"]: row[name] for row in table(out / "canvas.csv")[1:]}


def roster(week: int, path: Path) -> Path:
    """Moodle's worksheet: every tenth is late by half a day, every fifteenth of these by two and a half."""
    rows = []
    for n, name in enumerate(NAMES):
        late = timedelta(hours=60 if n % 30 == 0 else 12 if n % 10 == 0 else -1)
        when = f"{DUE + timedelta(weeks=week) + late:%A, %-d %B %Y, %-I:%M %p}"
        rows.append(
            {"Identifier": f"Participant {1000 * week + n}", "Full name": name, "Last modified (submission)": when}
        )
    save(path, rows)
    return path


def moodle_file(week: int, n: int) -> str:
    return f"{NAMES[n]}_{1000 * week + n}_assignsubmission_file_/x.ipynb"


def test_three_weeks(grade, tmp_path, capsys):
    rules = tmp_path / "rules.toml"
    rules.write_text(
        f'missing = "zero"\n[deadlines]\nfirst = {DUE + timedelta(weeks=1):%Y-%m-%dT%H:%M:%S}\n'
        f"second = {DUE + timedelta(weeks=2):%Y-%m-%dT%H:%M:%S}\n[late]\ngrace = 15\nper_day = 10\n"
        f'[extensions.first]\n"{NAMES[10]}" = 24\n'
    )
    options = ["--rules", str(rules)]
    # Week 1: every seventh hands in nothing; the first task has 0, 1 or 2 points; every third leaves out the words.
    first = {
        moodle_file(1, n): notebook(first_mean=n % 3, first_explain="" if n % 3 == 0 else f"It {n}.")
        for n in range(N_STUDENTS)
        if n % 7
    }
    assert grade(first, "--roster", str(roster(1, tmp_path / "r.csv")), *options) == 0
    rows = table(grade.out / "by_hand.csv")
    assert len(rows) == sum(n % 7 != 0 and n % 3 != 0 for n in range(N_STUDENTS))
    for row in rows:
        row["score"] = f"{NAMES.index(row['student']) % 4 * 0.75}"
    save(grade.out / "by_hand.csv", rows, ";", ",", "utf-16")
    # Week 2: another notebook, a subset; and who is 5 of 10 sends the first once more with other words.
    second = {moodle_file(2, n): notebook(second_tall=n % 2) for n in range(N_STUDENTS) if n % 11}
    assert grade(second, "--roster", str(roster(2, tmp_path / "r.csv")), *options) == 0
    again = {path: text.replace(b"It", b"That") for path, text in first.items() if int(path.split("_")[1]) % 10 == 5}
    # Week 3: the renewed ones, whose old scores wait beside the new answers until somebody has read them.
    assert grade(again, "--roster", str(roster(1, tmp_path / "r.csv")), *options) == 0
    changed = [row for row in table(grade.out / "by_hand.csv") if not row["score"]]
    assert {NAMES.index(row["student"]) % 10 for row in changed} == {5}
    text = (grade.out / "by_hand.html").read_text(encoding="utf-8")
    assert text.count("The answer has changed.") == len(changed) and "It 5." in text and "That 5." in text
    rows = table(grade.out / "by_hand.csv")
    for row in rows:
        row["score"] = row["score"] or "3"
    save(grade.out / "by_hand.csv", rows, "\t", ",")
    assert grade(again, "--roster", str(roster(1, tmp_path / "r.csv")), *options) == 0
    expected = {}
    for n, name in enumerate(NAMES):
        words = 0 if n % 3 == 0 else 3 if n % 10 == 5 else n % 4 * 0.75
        days = 3 if n % 30 == 0 else 1 if n % 10 == 0 and n != 10 else 0
        mark = max(0, n % 3 + 4 + words - 0.9 * days) if n % 7 else 0
        expected[name] = f"{round(mark, 4):g}"
    assert totals(grade.out, "first") == expected
    days = {n: 3 if n % 30 == 0 else 1 if n % 10 == 0 else 0 for n in range(N_STUDENTS)}
    second_marks = {name: f"{max(0, n % 2 - 0.2 * days[n]) if n % 11 else 0:g}" for n, name in enumerate(NAMES)}
    assert totals(grade.out, "second") == second_marks
    moodle = {row["Full name"]: row for row in table(grade.out / "moodle-second.csv")}
    assert moodle[NAMES[3]]["Grade"] == "1"


CLASS = {
    "Ana Ålund/first.ipynb": notebook(first_explain="Because."),
    "Ana Ålund/second.ipynb": notebook(),
    "Ben/first.ipynb": notebook(first_explain="Since."),
}


def fill(out: Path, score: str = "2.5", **saved) -> None:
    rows = table(out / "by_hand.csv")
    for row in rows:
        row["score"], row["comment"] = row["score"] or score, "Say which."
    save(out / "by_hand.csv", rows, **saved)


@pytest.mark.parametrize(
    "saved",
    [{}, {"delimiter": ";", "comma": ","}, {"delimiter": "\t", "comma": ","}, {"encoding": "cp1252", "delimiter": ";"}]
    + [{"encoding": "utf-16", "delimiter": "\t"}, {"encoding": "utf-8"}],
    ids=["Excel", "semicolons", "tabs", "cp1252", "Unicode text", "no mark"],
)  # fmt: skip
def test_what_spreadsheets_save_is_read(grade, saved):
    assert grade(CLASS) == 0
    assert (grade.out / "by_hand.csv").read_bytes().startswith(b"\xef\xbb\xbf")  # else Excel takes it for cp1252
    fill(grade.out, **saved)
    assert grade(CLASS) == 0
    assert totals(grade.out, "first") == {"Ana Ålund": "8.5", "Ben": "8.5"}
    assert len(list((grade.out / "copies").iterdir())) == 1  # of what was saved, before it was written anew


def test_scores_outlive_subsets_spoilt_tables_and_other_weeks(grade):
    assert grade(CLASS) == 0
    fill(grade.out)
    assert grade(CLASS, "--assignments", "second") == 0
    assert grade({"Cyd/first.ipynb": notebook(first_explain="So.")}) == 0
    (grade.out / "by_hand.csv").write_text("student,score\n")
    assert grade(CLASS) == 0
    (grade.out / "by_hand.csv").unlink()
    assert grade(CLASS) == 0
    assert totals(grade.out, "first") == {"Ana Ålund": "8.5", "Ben": "8.5", "Cyd": ""}
    assert totals(grade.out, "second") == {"Ana Ålund": "2", "Ben": "", "Cyd": ""}


@pytest.mark.parametrize(
    "row, why",
    [
        ("Anna Ålund,first,first-explain,3,2,,", "line 2: there is no student 'Anna Ålund'; is it 'Ana Ålund'"),
        ("Ben,first,first-explian,3,2,,", "line 2: there is no task first / first-explian; is it first-explain?"),
        ("Ben,first,first-explain,3,many,,", "line 2: the score 'many' is no number"),
        ("Ben,first,first-explain,3,4,,", "line 2: the score 4 is not from 0 to 3"),
        ("Ben,first,first-explain,3,nan,,", "line 2: the score nan is not from 0 to 3"),
        ("Ben,first,first-mean,2,1,,", "line 2: first-mean is marked by tests; overrides.csv can"),
        (
            "Ben,first,first-explain,3,1,,\nBen,first,first-explain,3,2,,",
            "line 3: Ben, first, first-explain has another",
        ),
    ],
)
def test_a_row_that_fits_nothing_is_an_error_with_its_line(grade, capsys, row, why):
    assert grade(CLASS) == 0
    text = f"student,assignment,task,points,score,comment,answer\n{row}\n"
    (grade.out / "by_hand.csv").write_text(text, encoding="utf-8")
    assert grade(CLASS) == 1
    assert why in capsys.readouterr().err
    assert (grade.out / "by_hand.csv").read_text(encoding="utf-8") == text


def test_a_test_can_be_overruled(grade, capsys):
    assert grade({"Ben/first.ipynb": notebook(first_mean=0, first_explain="Since.")}) == 0
    assert "why" in (grade.out / "overrides.csv").read_text(encoding="utf-8")
    rows = "student;assignment;task;score;why\nBen;first;first-mean;1,5;A Fraction is a number, too.\n"
    (grade.out / "overrides.csv").write_text(rows)
    for _ in range(2):
        fill(grade.out, "3")
        assert grade(CLASS) == 0
    assert totals(grade.out, "first")["Ben"] == "8.5"
    page = (grade.out / "feedback" / "Ben.html").read_text(encoding="utf-8")
    assert "A Fraction is a number, too." in page and "The tests gave 2; the mark was set by hand." in page
    (grade.out / "overrides.csv").write_text("student,assignment,task,score,why\nBen,first,first-mean,1,\n")
    assert grade(CLASS) == 1 and "the column why is empty" in capsys.readouterr().err


def test_a_score_is_taken_back_by_a_dash(grade):
    for score in ("2", "-"):
        assert grade(CLASS) == 0
        rows = table(grade.out / "by_hand.csv")
        save(grade.out / "by_hand.csv", [row | {"score": score} for row in rows])
    assert grade(CLASS) == 0
    assert totals(grade.out, "first") == {"Ana Ålund": "", "Ben": ""}


@pytest.mark.parametrize(
    "text, why",
    [
        ("mising = 'zero'", "mising is no rule; rules are missing, deadlines"),
        ("missing = 'none'", 'missing is "blank" or "zero"'),
        ("[deadlines]\nthird = 2026-11-03T23:59:00", "there is no assignment third"),
        ("[deadlines]\nfirst = 2026-11-03", "a deadline is written first = 2026-11-03T23:59:00"),
        ("[late]\nper_day = 'ten'", "per_day is a number, not 'ten'"),
        ("[late", "Expected"),
    ],
)
def test_a_rule_that_is_none(grade, tmp_path, capsys, text, why):
    (tmp_path / "rules.toml").write_text(text)
    assert grade(CLASS, "--rules", str(tmp_path / "rules.toml")) == 1
    assert why in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named_by_its_option(grade, capsys):
    for option in ("--rules", "--roster"):
        assert grade(CLASS, option, "/nowhere.csv") == 1
        assert f"{option[2:].upper()}=/nowhere.csv: there is no such file" in capsys.readouterr().err


def test_canvas_says_who_is_late_and_what_its_columns_are_called(grade, tmp_path):
    (tmp_path / "rules.toml").write_text("[late]\nper_day = 20\n")
    (tmp_path / "r.csv").write_text(
        'Student,ID,SIS User ID,SIS Login ID,Section,First (4711)\n"Ålund, Ana",7,,,,\n', encoding="utf-8"
    )
    files = {"alundana_LATE_7_9_first.ipynb": notebook()}
    assert grade(files, "--rules", str(tmp_path / "rules.toml"), "--roster", str(tmp_path / "r.csv")) == 0
    assert totals(grade.out, "First (4711)") == {"Ålund, Ana": "4.2"}
    (row, *_) = table(grade.out / "marks.csv")
    assert (
        row["late"].endswith("is not known: 20 % of the points are taken off, for 1 day")
        and row["student"] == "Ålund, Ana"
    )
