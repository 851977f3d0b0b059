"""Who handed in what, in the layouts of Moodle, of Canvas and of people."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from grading import collect
from grading.collect import Submission, by_assignment, collected, read_roster

NAMES = ["first", "second"]
KNOWN = {"first": {"first-mean", "first-mean-test"}, "second": {"second-tall"}}


def notebook(*names: str) -> bytes:
    return json.dumps({"cells": [{"metadata": {"nbgrader": {"grade_id": name}}} for name in names]}).encode()


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def zipped(files: dict[str, bytes]) -> bytes:
    text = io.BytesIO()
    with zipfile.ZipFile(text, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return text.getvalue()


def found(place: Path, roster=None) -> dict[str, list[str]]:
    return {one.student: sorted(one.files) for one in collected(place, NAMES, roster)}


def test_a_folder_a_student(tmp_path):
    files = {"ada/first.ipynb": b"1", "ada/second.ipynb": b"2", "ben/first/first.ipynb": b"3", "ben/.DS_Store": b""}
    files |= {"ben/.ipynb_checkpoints/first-checkpoint.ipynb": b"4"}
    assert found(write(tmp_path, files)) == {"ada": ["first.ipynb", "second.ipynb"], "ben": ["first/first.ipynb"]}


def test_moodle_with_folders_and_flat(tmp_path):
    """docs.moodle.org, Assignment: "Download all submissions", with and without "Download submissions in folders"."""
    folders = {"Ada Lovelace_123_assignsubmission_file_/first.ipynb": b"1"}
    flat = {"Ben Ali_124_assignsubmission_file_first.ipynb": b"2"}
    one, other = collected(write(tmp_path, folders | flat), NAMES)
    assert (one.student, one.participant, one.files) == ("Ada Lovelace", "123", {"first.ipynb": b"1"})
    assert (other.student, other.participant, other.files) == ("Ben Ali", "124", {"first.ipynb": b"2"})


def test_canvas(tmp_path):
    """Canvas's names of files in a bulk download: name, LATE, user, file's number, file."""
    files = {"lovelaceada_77_901_first.ipynb": b"1", "aliben_LATE_78_902_first-2.ipynb": b"2"}
    one, other = collected(write(tmp_path, files), NAMES)
    assert (one.student, one.canvas, one.files) == ("aliben", "78", {"first-2.ipynb": b"2"})
    assert (other.student, other.canvas, other.files) == ("lovelaceada", "77", {"first.ipynb": b"1"})


def test_flat_by_name(tmp_path):
    assert found(write(tmp_path, {"ada_first.ipynb": b"", "first-ben.ipynb": b"", "cyd.ipynb": b""})) == {
        "ada": ["ada_first.ipynb"],
        "ben": ["first-ben.ipynb"],
        "cyd": ["cyd.ipynb"],
    }


def test_zips(tmp_path):
    """One of all, with a folder around it; one of each student; a zip within."""
    inner = zipped({"work/first.ipynb": b"3"})
    moodle = "Eva Berg_9_assignsubmission_file_"
    everything = {"all/ada/first.ipynb": b"1", "all/ben/first.ipynb": b"2", f"all/{moodle}/hw.zip": inner}
    whole = tmp_path / "all.zip"
    whole.write_bytes(zipped(everything))
    assert found(whole)["ada"] == found(whole)["ben"] == ["first.ipynb"]
    place = write(tmp_path / "each", {"ada.zip": zipped({"first.ipynb": b"1"}), "liben_7_8_hw.zip": inner})
    assert found(place) == {"ada": ["first.ipynb"], "liben": ["work/first.ipynb"]}
    folder = write(tmp_path / "folder", {f"{moodle}/hw.zip": inner})
    assert found(folder) == {"Eva Berg": ["work/first.ipynb"]}


def test_a_zip_that_leads_out_or_bursts(tmp_path, monkeypatch):
    monkeypatch.setattr(collect, "LARGEST", 1000)
    files = {"../../../etc/first.ipynb": b"1", "/abs/second.ipynb": b"2", "bomb.ipynb": b"0" * 10_000}
    (one,) = collected(write(tmp_path, {"mal.zip": zipped(files)}), NAMES)
    assert one.student == "mal" and set(one.files) == {"etc/first.ipynb", "abs/second.ipynb", "bomb.ipynb"}
    assert one.files["bomb.ipynb"] == b"" and "not read: bomb.ipynb" in one.remarks[0]


@pytest.mark.parametrize("limit, value", [("MOST_BYTES", 2500), ("MOST_FILES", 3), ("LONGEST_LIST", 100)])
def test_one_student_s_flood_costs_nobody_else(tmp_path, monkeypatch, limit, value):
    """Zeros that burst, thousands of files, a long list of contents: a remark, and the others are read."""
    monkeypatch.setattr(collect, limit, value)
    many = zipped({f"{n}.ipynb": b"0" * 900 for n in range(9)})
    ada, mallory = collected(write(tmp_path, {"ada/first.ipynb": b"1", "mallory.zip": many}), NAMES)
    assert ada.files == {"first.ipynb": b"1"} and not ada.remarks
    assert len(mallory.files) < 4 and len(mallory.remarks) == 1
    assert re.search("more than|too many", mallory.remarks[0])


def test_a_platform_s_zip_in_a_folder_is_a_class(tmp_path):
    names = [f"{name}_{n}_assignsubmission_file_/first.ipynb" for n, name in enumerate(("Ada", "Ben"), 1)]
    moodle, canvas = (
        zipped(dict.fromkeys(names, b"1")),
        zipped({"a_1_9_first.ipynb": b"", "b_2_8_first.ipynb": b""}),
    )
    assert set(found(write(tmp_path / "m", {"COMP-1.zip": moodle}))) == {"Ada", "Ben"}
    assert set(found(write(tmp_path / "c", {"submissions.zip": canvas}))) == {"a", "b"}
    inner = zipped({"Eva_9_assignsubmission_file_/hw.zip": zipped({"first.ipynb": b"3"}), names[0]: b"1"})
    assert found(write(tmp_path / "zips", {"COMP-2.zip": inner}))["Eva"] == ["first.ipynb"]
    both = write(tmp_path / "two", {"week 1.zip": moodle, "week 2.zip": zipped(dict.fromkeys(names, b"2"))})
    assert set(found(both)) == {"Ada", "Ben"}
    stray = tmp_path / "stray.zip"
    stray.write_bytes(zipped({"class/ada/first.ipynb": b"", "class/ben/first.ipynb": b"", "class/notes.txt": b""}))
    assert set(found(stray)) == {"ada", "ben"}


def test_nobody_hands_in_for_another(tmp_path):
    """Names of files inside one student's folder make nobody else."""
    forged = {f"mal/{name}_{n}_assignsubmission_file_/first.ipynb": b"0" for n, name in enumerate(("Ada", "Ben"), 1)}
    honest = {"Ada_1_assignsubmission_file_/first.ipynb": b"1"}
    assert {one.student: len(one.files) for one in collected(write(tmp_path, forged | honest), NAMES)} == {
        "Ada": 1,
        "mal": 2,
    }


def test_a_broken_zip_and_an_empty_folder(tmp_path):
    write(tmp_path, {"ada.zip": b"no zip", "cyd/first.ipynb": b""})
    (tmp_path / "ben").mkdir()
    ada, ben, _ = collected(tmp_path, NAMES)
    assert "can't be opened" in ada.remarks[0] and ben.student == "ben" and "empty folder" in ben.remarks[0]


def test_links_are_not_followed(tmp_path):
    secret = write(tmp_path / "secret", {"first.ipynb": b"solution"})
    place = write(tmp_path / "in", {"ada/second.ipynb": b""})
    (place / "ada" / "first.ipynb").symlink_to(secret / "first.ipynb")
    (place / "ada" / "more").symlink_to(secret)
    (one,) = collected(place, NAMES)
    assert list(one.files) == ["second.ipynb"] and len(one.remarks) == 2 and "link" in one.remarks[0]


def test_two_of_one_name_are_two(tmp_path):
    files = {f"Wei Li_{n}_assignsubmission_file_/first.ipynb": b"" for n in (1, 2)}
    assert list(found(write(tmp_path, files))) == ["Wei Li (1)", "Wei Li (2)"]


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="SUBMISSIONS="):
        collected(tmp_path / "none", NAMES)
    with pytest.raises(ValueError, match="nothing is in there"):
        collected(tmp_path, NAMES)


def test_what_a_notebook_holds_decides_not_its_name():
    one = Submission("ada", files={"second.ipynb": notebook("first-mean"), "x (1).ipynb": notebook("second-tall")})
    assert {key: name for key, (name, _) in by_assignment(one, KNOWN, NAMES).items()} == {
        "first": "second.ipynb",
        "second": "x (1).ipynb",
    }


def test_the_latest_of_several_is_taken():
    files = {"first.ipynb": b"a", "first-2.ipynb": b"c", "first-1.ipynb": b"b", "notes.txt": b""}
    one = Submission("ada", files=files)
    assert by_assignment(one, KNOWN, NAMES) == {"first": ("first-2.ipynb", b"c")}
    assert one.remarks == ["first was handed in 3 times; first-2.ipynb was taken"]


def test_another_chapter_is_not_taken_for_the_one_that_is_wanted():
    """Whatever its name, wherever it lies; nor is an older copy in a folder below."""
    for other in ("zz.ipynb", "first (2).ipynb", "a/b/first-9.ipynb"):
        one = Submission("ada", files={"first.ipynb": notebook("first-mean"), other: notebook("second-tall")})
        assert by_assignment(one, KNOWN, ["first"]) == {"first": ("first.ipynb", notebook("first-mean"))}
        assert not one.remarks
    one = Submission("ada", files={"first.ipynb": notebook("first-mean"), "old/first.ipynb": notebook("first-mean")})
    assert by_assignment(one, KNOWN, NAMES)["first"][0] == "first.ipynb"


CANVAS_ROSTER = """\
Student,ID,SIS User ID,SIS Login ID,Section,first (11)
    Points Possible,,,,,9
"Lovelace, Ada",77,s77,ada,A,
"Ali, Ben",78,s78,ben,A,
"""
MOODLE_ROSTER = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments
Participant 123,Ada Lovelace,ada@example.org,Submitted,,9,-,
Participant 124,Ben Ali,ben@example.org,No submission,,9,-,
"""


@pytest.mark.parametrize(
    "text, files",
    [
        (CANVAS_ROSTER, {"lovelaceada_77_901_first.ipynb": b""}),
        (CANVAS_ROSTER, {"ada/first.ipynb": b""}),
        (MOODLE_ROSTER, {"Ada Lovelace_123_assignsubmission_file_/first.ipynb": b""}),
        (MOODLE_ROSTER, {"ada/first.ipynb": b""}),
        ("Name,Email\nAda Lovelace,ada@example.org\nBen Ali,ben@example.org\n", {"Lovelace Ada/first.ipynb": b""}),
    ],
)
def test_rosters(tmp_path, text, files):
    (tmp_path / "roster.csv").write_text("\ufeff" + text, encoding="utf-8")
    one, other = collected(write(tmp_path / "in", files), NAMES, read_roster(tmp_path / "roster.csv"))
    assert one.files and "Ada" in " ".join(one.person.values()) and not one.remarks
    assert "Ali" in other.student and not other.files


def test_a_roster_without_names(tmp_path):
    (tmp_path / "roster.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no column is called Student"):
        read_roster(tmp_path / "roster.csv")
