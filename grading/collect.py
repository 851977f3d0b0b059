"""Find out who handed in what: a folder a student, the flat folders of Moodle and Canvas, or zips of these."""

from __future__ import annotations

import io
import json
import os
import re
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from dateutil.parser import parse

from grading.assemble import LARGEST
from grading.tables import read_table

__all__ = ["Submission", "by_assignment", "collected", "handed_in_at", "read_roster"]

#: Moodle: `Full name_number_assignsubmission_file_`, a folder, or with the file's name behind it in a flat folder.
MOODLE = re.compile(r"(?P<name>.+?)_(?P<participant>\d+)_assignsubmission_[a-z]+(?:_(?P<file>.+)|_?)$")
#: Canvas: `name_user_file's number_file's name`, with LATE behind the name of one who was late.
CANVAS = re.compile(r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<canvas>\d+)_\d+_(?P<file>.+)$")
#: How often the same file was handed in before: Canvas writes `-1`, browsers ` (1)`.
VERSION = re.compile(r"(?:-(\d{1,9})| ?\((\d{1,9})\))$")
#: What is read. Some browsers add `.txt` or `.json` to a notebook's name.
NOTEBOOK = re.compile(r"\.(ipynb|json)(\.txt)?$", re.IGNORECASE)
#: The name of a cell, nbgrader's or the notebook's own. Not parsed: one student's file must not fill the memory.
NAME_OF_CELL = re.compile(r'"(?:grade_)?id"\s*:\s*"([\w-]{1,80})"')

#: Of one student: how many files are looked at, how many bytes are read, and how many remarks are made on them.
MOST_FILES, MOST_BYTES, MOST_REMARKS = 2000, 200 << 20, 20
#: Bytes of the list of contents that a zip has at its end.
LONGEST_LIST = 1 << 20
SKIPPED = {"__MACOSX", "node_modules", "__pycache__"}


class File(NamedTuple):
    """A file that was handed in: its path, size and content, or why there is none."""

    path: PurePosixPath
    size: int = 0
    load: Callable[[], bytes] | None = None
    remark: str = ""


@dataclass
class Submission:
    """What one student handed in."""

    student: str
    participant: str = ""  #: Moodle's number
    canvas: str = ""  #: Canvas's number
    files: dict[str, bytes] = field(default_factory=dict)  #: notebooks, by their paths
    others: list[str] = field(default_factory=list)  #: the names of what else was handed in
    late: set[str] = field(default_factory=set)  #: the paths of files that came late, as Canvas says
    downloads: dict[str, str] = field(default_factory=dict)  #: what Canvas has called files, by their paths
    remarks: list[str] = field(default_factory=list)
    person: dict[str, str] = field(default_factory=dict)  #: the row of the roster
    size: int = 0

    def take(self, name: str, file: File) -> None:
        """Add a file, within the bounds of one student. Whatever it may be, it does no harm to others."""
        if len(self.files) + len(self.others) >= MOST_FILES:
            self.remark(f"more than {MOST_FILES:,} files; the rest was not read")
        elif file.remark:
            self.remark(f"{file.remark}: {clean(name)}")
        elif file.load is None or not NOTEBOOK.search(name):
            self.others.append(clean(name))
        elif file.size > LARGEST:
            self.files[name] = b""
            self.remark(f"more than {LARGEST >> 20} MB, not read: {clean(name)}")
        elif self.size + file.size > MOST_BYTES:
            self.remark(f"more than {MOST_BYTES >> 20} MB in all; the rest was not read")
        else:
            try:
                self.files[name] = file.load()[: LARGEST + 1]
                self.size += len(self.files[name])
            except Exception as error:  # encrypted, damaged, an unknown method
                self.remark(f"can't be read ({type(error).__name__}): {clean(name)}")

    def remark(self, text: str) -> None:
        """Note what an instructor should know, once, and not without end."""
        if text not in self.remarks and len(self.remarks) < MOST_REMARKS:
            self.remarks.append(text)


def clean(name: str) -> str:
    """A name as a text that can be printed and saved. What is not UTF-8 is read as Windows writes it."""
    try:
        name = os.fsencode(name).decode("utf-8")
    except UnicodeEncodeError:  # no name of a file, but of JSON
        name = name.encode("utf-8", "replace").decode("utf-8")
    except UnicodeDecodeError:
        name = os.fsencode(name).decode("cp1252", "replace")
    letters = [letter if letter.isprintable() else " " for letter in unicodedata.normalize("NFC", name)]
    return "".join(letters).strip()[:100] or "?"


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
    for file in _of_students(list(_files(place)), assignments, place.is_file()):
        who = _whose(file.path, assignments)
        name, late, download = who.pop("file"), who.pop("late", ""), who.pop("download", "")
        key = "|".join(who.get(part, "") for part in ("student", "participant", "canvas"))
        new = Submission(clean(who["student"]), who.get("participant", ""), who.get("canvas", ""))
        submission = found.setdefault(key, new)
        submission.take(name, file)
        submission.downloads[name] = download
        if late:
            submission.late.add(name)
    if not found:
        raise ValueError(f"SUBMISSIONS={place}: nothing is in there")
    submissions = sorted(found.values(), key=lambda one: (one.student.casefold(), one.participant, one.canvas))
    if roster:
        submissions = _with_persons(submissions, roster)
    names = Counter(one.student for one in submissions)
    for count, one in enumerate(submissions, start=1):
        if names[one.student] > 1:
            keys = ("ID", "Email address", "Email", "SIS Login ID", "ID number")
            number = next((one.person[key] for key in keys if one.person.get(key)), one.participant or one.canvas)
            one.student += f" ({number or count})"
    return submissions


def _files(place: Path) -> Iterator[File]:
    """All files below a folder or in a zip. Links lead nowhere."""
    if place.is_file():
        yield from _unzipped(place, PurePosixPath())
        return
    closed: list[OSError] = []
    for top, folders, names in os.walk(place, onerror=closed.append):
        below = PurePosixPath(Path(top).relative_to(place).as_posix())
        if not folders and not names and below.parts:
            yield File(below / "nothing", remark="an empty folder")
        folders[:] = sorted(folder for folder in folders if not _is_hidden(PurePosixPath(folder)))
        for name in sorted(names) + [folder for folder in folders if Path(top, folder).is_symlink()]:
            path, inside = Path(top, name), below / name
            if _is_hidden(PurePosixPath(name)):
                continue
            if path.is_symlink() or not path.is_file():
                yield File(inside, remark="a link was not followed")
            elif path.suffix.lower() == ".zip":
                yield from _unzipped(path, inside.parent if len(inside.parts) > 1 else inside.with_suffix(""))
            else:
                yield File(inside, path.stat().st_size, path.read_bytes)
    for error in closed:
        below = PurePosixPath(Path(error.filename).relative_to(place).as_posix())
        yield File(below / "everything", remark="a folder that can't be read")


def _unzipped(source: Path | io.BytesIO, below: PurePosixPath) -> Iterator[File]:
    """The files of a zip as if it had been unpacked into a folder. No path leads out of it; no bomb goes off."""
    try:
        if below.parts and _length_of_list(source) > LONGEST_LIST:
            yield File(below / "archive.zip", remark="a zip of too many files, not opened")
            return
        archive = zipfile.ZipFile(source)
    except Exception:  # whatever it may be
        yield File(below / "archive.zip", remark="a zip that can't be opened")
        return
    for member in archive.infolist():
        parts = [part for part in member.filename.replace("\\", "/").split("/") if part not in ("", "..", ".")]
        name = below.joinpath(*parts)
        if member.is_dir() or not parts or _is_hidden(name):
            continue
        most = LARGEST if below.parts else MOST_BYTES
        if name.suffix.lower() == ".zip" and len(below.parts) < 2 and member.file_size <= most:
            inside = name.parent if len(name.parts) > 1 else name.with_suffix("")
            try:
                content = io.BytesIO(_member(archive, member, most))
            except Exception as error:
                yield File(name, remark=f"can't be unpacked ({type(error).__name__})")
            else:
                yield from _unzipped(content, inside)
        else:
            yield File(name, member.file_size, partial(_member, archive, member, LARGEST))


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    with archive.open(member) as stream:
        return stream.read(most + 1)


def _length_of_list(source: Path | io.BytesIO) -> int:
    """How long a zip says that its list of contents is: Python reads all of it at once."""
    with source.open("rb") if isinstance(source, Path) else io.BytesIO(source.getvalue()) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - (1 << 16) - 22))
        end = file.read()
    place = end.rfind(b"PK\5\6")
    return int.from_bytes(end[place + 12 : place + 16].ljust(4, b"\xff"), "little") if place >= 0 else 0


def _is_hidden(name: PurePosixPath) -> bool:
    return any(part in SKIPPED or part.startswith(".") for part in name.parts)


def _of_students(files: list[File], assignments: list[str], is_zip: bool) -> Iterable[File]:
    """The files without the folders above the students': that of a zip, or those of a platform's downloads.

    A folder is looked through for others only if every folder beside it is such a one, too: nobody hands in work for
    somebody else by calling a file so.
    """
    tops: dict[str, list[PurePosixPath]] = defaultdict(list)
    for file in files:
        if NOTEBOOK.search(file.path.name):
            tops[file.path.parts[0]].append(PurePosixPath(*file.path.parts[1:]))
    depth = 1 if tops and all(_is_download(top, paths) for top, paths in tops.items()) else 0
    if is_zip and len(tops) == 1 and not depth:
        ((top, paths),) = tops.items()
        below = {path.parts[0] for path in paths if len(path.parts) > 1}
        is_class = not MOODLE.match(top) and all(len(path.parts) > 1 for path in paths) and not below <= {*assignments}
        depth = 2 if is_class else 0  # what lies beside the students' folders is nobody's
    if not depth:
        return files
    kept = [file for file in files if file.path.parts[0] in tops and len(file.path.parts) > depth]
    return [file._replace(path=file.path.relative_to(file.path.parts[0])) for file in kept]


def _is_download(top: str, paths: list[PurePosixPath]) -> bool:
    """Whether a folder holds what a platform has named for several students."""
    found = [MOODLE.match(path.parts[0]) or CANVAS.match(path.parts[0]) for path in paths if path.parts]
    return not MOODLE.match(top) and all(found) and len({match["name"] for match in found if match}) > 1


def _whose(path: PurePosixPath, assignments: list[str]) -> dict[str, str]:
    """The student whom a path names, the numbers in it, and the file's own name."""
    top, rest = path.parts[0], path.parts[1:]
    if match := MOODLE.match(top):
        found = {"student": match["name"], "participant": match["participant"]}
        return found | {"file": "/".join(rest) or match["file"] or path.name}
    if match := CANVAS.match(top):
        found = {"student": match["name"], "canvas": match["canvas"], "late": match["late"] or "", "download": top}
        return found | {"file": "/".join(rest) or match["file"]}
    if rest:
        return {"student": top, "file": "/".join(rest)}
    stem = path.stem
    for name in sorted(assignments, key=len, reverse=True):
        if match := re.fullmatch(rf"(?:{re.escape(name)}[_ -]+(.+)|(.+?)[_ -]+{re.escape(name)})", stem, re.IGNORECASE):
            return {"student": match[1] or match[2], "file": path.name}
    return {"student": stem, "file": path.name}


def handed_in_at(row: dict[str, str]) -> datetime | None:
    """When Moodle's grading worksheet says that something was handed in.

    Raises
    ------
    ValueError
        If that is no date in English.
    """
    text = row.get("Last modified (submission)", "").strip()
    return parse(text, ignoretz=True) if text not in ("", "-") else None


def by_assignment(
    submission: Submission, known: dict[str, set[str]], wanted: list[str]
) -> dict[str, tuple[str, bytes]]:
    """For each wanted assignment the notebook handed in, name and content; ``known`` has the cells of all that exist.

    What a notebook holds decides, not what it is called; its name decides where it can't be read.
    """
    found: dict[str, list[tuple[int, int, str]]] = {}
    for name, content in submission.files.items():
        path = PurePosixPath(name)
        if (assignment := _which(path.name, content, known, wanted)) in wanted:
            match = VERSION.search(path.stem)
            version = int(match[1] or match[2]) if match else 0
            found.setdefault(assignment, []).append((-len(path.parts), version, name))
    for assignment, several in found.items():
        if len(several) > 1:
            taken = clean(max(several)[2])
            submission.remark(f"{assignment} was handed in {len(several)} times; {taken} was taken")
        if len(several) > 3:
            submission.remark("so many: are these several students in one folder?")
    return {assignment: (max(several)[2], submission.files[max(several)[2]]) for assignment, several in found.items()}


def _which(name: str, content: bytes, known: dict[str, set[str]], wanted: list[str]) -> str | None:
    """The assignment whose cells a notebook holds, else the one that its name names, else the only one."""
    ids = set(NAME_OF_CELL.findall(content.decode(json.detect_encoding(content), "replace")))
    shared = {assignment: len(cells & ids) for assignment, cells in known.items()}
    if max(shared.values()) > 0:
        return max(shared, key=shared.__getitem__)
    named = [assignment for assignment in known if re.search(rf"(?<![a-z]){re.escape(assignment)}", name.lower())]
    return max(named, key=len) if named else wanted[0] if len(wanted) == 1 else None


# -- the roster -----------------------------------------------------------------------------------------------------


def read_roster(path: Path) -> list[dict[str, str]]:
    """The students of a course, from Canvas's exported gradebook, Moodle's grading worksheet, or a table of one's own.

    Raises
    ------
    ValueError
        If no column names the students.
    """
    rows = [row for _, row in read_table(path)]
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
                one.person, one.student = row, clean(_name(row))
                left.remove(row)
                break
        else:
            one.remarks.append("is not in the roster")
    return submissions + [Submission(clean(_name(row)), person=row) for row in left]


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
