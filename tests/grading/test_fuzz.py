"""Names, zips, notebooks and tables of any kind: a sentence or a mark, never a traceback, never silence."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path, PurePosixPath

import nbformat
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.assemble import Unreadable, assembled, attached, read
from grading.autograde import _oddities
from grading.by_hand import HandMarks
from grading.collect import by_assignment, clean, collected
from grading.marks import slugs
from grading.tables import read_table, safe, write_table
from tests.grading.small import RIGHT, answered
from tests.grading.test_collect import KNOWN, NAMES, notebook, zipped

few = settings(max_examples=60, deadline=None)
KEYS = ["cells", "cell_type", "source", "metadata", "nbgrader", "grade_id", "points", "attachments", "nbformat", "id"]
KEYS += ["solution", "kernelspec", "language"]
NAME = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=90)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@few
@given(st.lists(NAME, min_size=1, max_size=5), st.binary(max_size=30))
def test_any_zip_of_any_name(names, other):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "ada").mkdir()
        (place / "ada" / "first.ipynb").write_bytes(notebook("first-mean"))
        (place / "mal.zip").write_bytes(zipped({f"{name}.ipynb": other for name in names}))
        (place / "mix.zip").write_bytes(other)
        found = {one.student: one for one in collected(place, NAMES)}
    assert set(by_assignment(found["ada"], KNOWN, NAMES)) == {"first"}
    assert set(found) <= {"ada", "mal", "mix"} and not found["ada"].remarks
    for one in found.values():
        by_assignment(one, KNOWN, NAMES)
        assert all(".." not in PurePosixPath(name).parts for name in one.files)
    assert one.remarks or one.files or one.others


@few
@given(st.text(st.characters(), max_size=300))
def test_any_name_can_be_saved_and_printed(name):
    assert clean(name).isprintable() and clean(name).encode()
    (slug,) = slugs([clean(name)])
    assert 0 < len(slug.encode()) <= 80 and "/" not in slug and slug not in (".", "..")


@few
@given(JSON, st.sampled_from(["utf-8", "utf-16", "cp1252"]), st.integers(0, 12), st.sampled_from(KEYS))
def test_any_json_is_a_notebook_or_is_none(course, content, encoding, place, key):
    """Of any kind; and a notebook of the course with something of any kind in one of its cells."""
    first = course[1]["first"]
    notebook = json.loads(nbformat.writes(answered(first.release, RIGHT)))
    notebook["cells"][place % len(notebook["cells"])][key] = content
    for found in (content, notebook, notebook | {key: content}):
        with suppress(Unreadable):
            handed_in = read(json.dumps(found, ensure_ascii=False).encode(encoding, "replace"))
            made, _ = assembled(first.source, first.release, handed_in)
            assert len(made.cells) >= len(first.source.cells)
            nbformat.validate(made)
            _oddities(handed_in, first)
            attached(handed_in)


@few
@given(st.lists(st.lists(st.text(st.characters(codec="utf-8"), max_size=9), min_size=2, max_size=2), max_size=4))
def test_a_table_is_read_as_it_was_written(rows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write_table(path, ["a", "b"], rows, for_excel=True)
        found = [list(row.values()) for _, row in read_table(path)]
    filled = [row for row in rows if any(safe(cell).strip() for cell in row)]
    assert [len(row) for row in found] == [2] * len(filled)


@few
@given(st.binary(max_size=200))
def test_any_file_as_the_table_of_scores(course, content):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "by_hand.csv").write_bytes(b"student,score,assignment,task\n" + content)
        with suppress(ValueError):
            HandMarks(Path(folder)).read(["Ada"], course[1])
