"""Find out who handed in what: a folder a student, the flat folders of Moodle and Canvas, or zips of these."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grading.assemble import LARGEST

__all__ = ["Submission", "by_assignment", "collected", "read_roster"]

#: Moodle: `Full name_number_assignsubmission_file_`, a folder, or with the file's name behind it in a flat folder.
MOODLE = re.compile(r"(?P<name>.+?)_(?P<participant>\d+)_assignsubmission_[a-z]+(?:_(?P<file>.+)|_?)$")
#: Canvas: `name_user_file's number_file's name`, with LATE behind the name of one who was late.
CANVAS = re.compile(r"(?P<name>[^_]+)(?:_LATE)?_(?P<canvas>\d+)_\d+_(?P<file>.+)$")
#: How often the same file was handed in before: Canvas writes `-1`, browsers ` (1)`.
VERSION = re.compile(r"(?:-(\d+)| ?\((\d+)\))$")

#: A path, its content, and why there is no content.
File = tuple[PurePosixPath, bytes | None, str]
MOST_FILES = 20_000
SKIPPED = {"__MACOSX", ".ipynb_checkpoints"}


@dataclass
class Submission:
    """What one student handed in."""

    student: str
    participant: str = ""  #: Moodle's number
    canvas: str = ""  #: Canvas's number
    files: dict[str, bytes] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    person: dict[str, str] = field(default_factory=dict)  #: the row of the roster


def collected(place: Path, assignments: list[str], roster: list[dict[str, str]] | None = None) -> list[Submission]:
    """The submissions in a folder or a zip, by the students' names; with a roster also those who handed in nothing.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such folder or zip, or nothing in it.
    """
    if not place.exists():
        raise FileNotFoundError(f"SUBMISSIONS={place}: there is no such folder or zip")
    found: dict[str, Submission] = {}
    files = list(_files(place))
    for path, content, remark in _common_top(files, assignments) if place.is_file() else files:
        who = _whose(path, assignments)
        key = f"{who['student']}|{who.get('participant', '')}|{who.get('canvas', '')}"
        name = who.pop("file")
        submission = found.setdefault(key, Submission(**who))
        if content is not None:
            submission.files[name] = content
        if remark:
            submission.remarks.append(f"{remark}: {name}")
    if not found:
        raise ValueError(f"SUBMISSIONS={place}: nothing is in there")
    submissions = sorted(found.values(), key=lambda one: (one.student.casefold(), one.participant, one.canvas))
    names = [one.student for one in submissions]
    for one in submissions:
        if names.count(one.student) > 1:
            one.student += f" ({one.participant or one.canvas or 'another'})"
    return _with_persons(submissions, roster) if roster else submissions


def _files(place: Path) -> Iterator[File]:
    """All files below a folder or in a zip: path, content, and why there is no content. Links lead nowhere."""
    if place.is_file():
        yield from _unzipped(place.read_bytes(), PurePosixPath())
        return
    for count, path in enumerate(sorted(place.rglob("*"))):
        name = PurePosixPath(path.relative_to(place).as_posix())
        if count > MOST_FILES:
            raise ValueError(f"SUBMISSIONS={place}: more than {MOST_FILES:,} files")
        if _is_hidden(name) or _behind_link(path.parent, place):
            continue
        if path.is_symlink():
            yield name, None, "a link was not followed"
        elif path.is_dir():
            if not any(path.iterdir()):
                yield name / "nothing", None, "an empty folder"
        elif path.suffix.lower() == ".zip":
            inside = name.parent if len(name.parts) > 1 else name.with_suffix("")
            yield from _unzipped(path.read_bytes(), inside)
        elif path.stat().st_size > LARGEST:
            yield name, b"", f"more than {LARGEST >> 20} MB, not read"
        else:
            yield name, path.read_bytes(), ""


def _behind_link(folder: Path, top: Path) -> bool:
    return any(
        parent.is_symlink() for parent in (folder, *folder.parents) if parent.is_relative_to(top) and parent != top
    )


def _unzipped(text: bytes, below: PurePosixPath) -> Iterator[File]:
    """The files of a zip as if it had been unpacked into a folder. No path leads out of it; no bomb goes off."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(text))
        members = [member for member in archive.infolist() if not member.is_dir()][:MOST_FILES]
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        yield below / "archive.zip", None, "a zip that can't be opened"
        return
    for member in members:
        parts = [
            part for part in PurePosixPath(member.filename.replace("\\", "/")).parts if part not in ("/", "..", ".")
        ]
        name = below.joinpath(*parts)
        if not parts or _is_hidden(name):
            continue
        try:
            with archive.open(member) as stream:
                content = stream.read(LARGEST + 1)
        except Exception as error:  # encrypted, damaged, an unknown method
            yield name, None, f"can't be unpacked ({type(error).__name__})"
            continue
        if len(content) > LARGEST:
            yield name, b"", f"more than {LARGEST >> 20} MB, not read"
        elif name.suffix.lower() == ".zip" and not below.parts:
            yield from _unzipped(content, name.parent if len(name.parts) > 1 else name.with_suffix(""))
        else:
            yield name, content, ""


def _is_hidden(name: PurePosixPath) -> bool:
    return any(part in SKIPPED or part.startswith(".") for part in name.parts)


def _common_top(files: list[File], assignments: list[str]) -> Iterator[File]:
    """The files without the folder that holds all of them, which a zip of a folder has; a student's own stays."""
    tops = {path.parts[0] for path, _, _ in files}
    below = {path.parts[1] for path, _, _ in files if len(path.parts) > 2}
    one = len(tops) == 1 and all(len(path.parts) > 2 for path, _, _ in files)
    drop = one and not MOODLE.match(*tops) and not below <= set(assignments)
    for path, content, remark in files:
        yield (path.relative_to(path.parts[0]) if drop else path), content, remark


def _whose(path: PurePosixPath, assignments: list[str]) -> dict[str, str]:
    """The student whom a path names, the numbers in it, and the file's own name."""
    top, rest = path.parts[0], path.parts[1:]
    if match := MOODLE.match(top):
        found = {"student": match["name"], "participant": match["participant"]}
        return found | {"file": "/".join(rest) or match["file"] or path.name}
    if match := CANVAS.match(top):
        return {"student": match["name"], "canvas": match["canvas"], "file": "/".join(rest) or match["file"]}
    if rest:
        return {"student": top, "file": "/".join(rest)}
    stem = path.stem
    for name in sorted(assignments, key=len, reverse=True):
        if match := re.fullmatch(rf"(?:{re.escape(name)}[_ -]+(.+)|(.+?)[_ -]+{re.escape(name)})", stem, re.IGNORECASE):
            return {"student": match[1] or match[2], "file": path.name}
    return {"student": stem, "file": path.name}


def by_assignment(submission: Submission, known: dict[str, set[str]]) -> dict[str, tuple[str, bytes]]:
    """For each assignment the notebook handed in, name and content; ``known`` has the names of each one's cells.

    What a notebook holds decides, not what it is called; its name decides where it can't be read.
    """
    found: dict[str, list[tuple[int, str, bytes]]] = {}
    for name, content in submission.files.items():
        if not name.lower().endswith((".ipynb", ".json")):
            continue
        if (assignment := _which(name, content, known)) is not None:
            match = VERSION.search(PurePosixPath(name).stem)
            version = int(match[1] or match[2]) if match else 0
            found.setdefault(assignment, []).append((version, name, content))
    for assignment, several in found.items():
        if len(several) > 1:
            several.sort(key=lambda one: one[:2])
            submission.remarks.append(f"{assignment} was handed in {len(several)} times; {several[-1][1]} was taken")
    return {assignment: several[-1][1:] for assignment, several in found.items()}


def _which(name: str, content: bytes, known: dict[str, set[str]]) -> str | None:
    """The assignment whose cells a notebook holds, else the one that its name names, else the only one."""
    try:
        cells = json.loads(content)["cells"]
        ids = {cell.get("id") for cell in cells} | {
            cell.get("metadata", {}).get("nbgrader", {}).get("grade_id") for cell in cells
        }
        shared = {assignment: len(cells & ids) for assignment, cells in known.items()}
        if max(shared.values()) > 0:
            return max(shared, key=shared.__getitem__)
    except Exception:  # whatever a damaged notebook may hold
        pass
    named = [assignment for assignment in known if re.search(rf"(?<![a-z]){re.escape(assignment)}", name.lower())]
    return max(named, key=len) if named else next(iter(known)) if len(known) == 1 else None


# -- the roster -----------------------------------------------------------------------------------------------------


def read_roster(path: Path) -> list[dict[str, str]]:
    """The students of a course, from Canvas's exported gradebook, Moodle's grading worksheet, or a table of one's own.

    Raises
    ------
    ValueError
        If no column names the students.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [{key or "": value or "" for key, value in row.items()} for row in csv.DictReader(file)]
    rows = [row for row in rows if "Points Possible" not in _name(row)]
    if not any(_name(row) for row in rows):
        raise ValueError(f"ROSTER={path}: no column is called Student (as in Canvas), Full name (as in Moodle) or Name")
    return [row for row in rows if _name(row).strip()]


def _name(row: dict[str, str]) -> str:
    return row.get("Student") or row.get("Full name") or row.get("Name") or ""


def _letters(text: str) -> str:
    """A name for comparing: letters and digits alone, in the order of the alphabet's words."""
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    return "".join(sorted(words))


def _with_persons(submissions: list[Submission], roster: list[dict[str, str]]) -> list[Submission]:
    left = list(roster)
    for one in submissions:
        for row in left:
            if _is_in_row(one, row):
                one.person = row
                left.remove(row)
                break
        else:
            one.remarks.append("is not in the roster")
    return submissions + [Submission(_name(row), person=row) for row in left]


def _is_in_row(one: Submission, row: dict[str, str]) -> bool:
    """By the number, where both have one; else by the name, a login or an address."""
    if one.canvas and row.get("ID"):
        return one.canvas == row["ID"].strip()
    if one.participant and row.get("Identifier"):
        return one.participant == re.sub(r"\D", "", row["Identifier"])
    name = _letters(one.student)
    keys = ("SIS Login ID", "SIS User ID", "Email address", "Email", "ID number", "Username")
    if name == _letters(_name(row)) or "".join(re.findall(r"\w+", _name(row).casefold())) == name:
        return True
    return any(row.get(key) and one.student in (row[key], row[key].split("@")[0]) for key in keys)
