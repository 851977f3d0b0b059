"""The errata: each row of the CSV has its section in the notebook of its source, in order, quoted and run."""

from __future__ import annotations

import csv
import re
from itertools import pairwise

import nbformat
import pytest

from scripts.execute import BOOK

with (BOOK / "data" / "errata.csv").open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))

SOURCES = list(dict.fromkeys(row["source"] for row in ROWS))
#: The verdicts, and whether such a line claims something that a run must show.
IS_RUN = {"error": True, "unclear": True, "no error": True, "slip": False, "blank": False}
ANY_LABEL = re.compile(r"\(erratum-[0-9-]+\)=")
LABEL = re.compile(r"^\(erratum-([0-9]+-[0-9]+)\)=\n## ([0-9]+\.[0-9]+) \S", re.MULTILINE)


def sections(source: str) -> list[tuple[str, list]]:
    """The number of each erratum of a notebook and the cells of its section."""
    cells = nbformat.read(BOOK / f"errata_{source}.ipynb", as_version=4).cells
    starts = [index for index, cell in enumerate(cells) if cell.source.startswith("(erratum-")]
    labels = [LABEL.match(cells[start].source) for start in starts]
    assert all(label and label[1] == label[2].replace(".", "-") for label in labels), "label and heading differ"
    assert sum(len(ANY_LABEL.findall(cell.source)) for cell in cells) == len(starts), "a label inside a section"
    return [(label[2], cells[a:b]) for label, (a, b) in zip(labels, pairwise([*starts, len(cells)]), strict=True)]


def test_the_rows_are_in_order():
    places = [(SOURCES.index(row["source"]), *map(int, row["id"].split("."))) for row in ROWS]
    assert places == sorted(set(places))
    assert {place[0] == place[1] for place in places} == {True}, "the first number is that of the source"
    assert {row["verdict"] for row in ROWS} <= IS_RUN.keys()


@pytest.mark.parametrize("source", SOURCES)
def test_every_row_has_its_section_which_quotes_and_runs(source: str):
    rows, found = [row for row in ROWS if row["source"] == source], sections(source)
    assert [number for number, _ in found] == [row["id"] for row in rows]
    for row, (number, cells) in zip(rows, found):
        assert "\n> " in cells[0].source, f"{number} does not quote the source"
        is_run = any(cell.cell_type == "code" and cell.outputs for cell in cells)
        assert is_run or not IS_RUN[row["verdict"]], f"{number} claims what no cell shows"


def test_the_errata_are_told_in_one_place():
    """The student who reads a chapter has never seen the notes."""
    pages = [path for path in BOOK.glob("*.ipynb") if not path.stem.startswith("errata_")]
    with_errata = [path.stem for path in pages if ANY_LABEL.search(path.read_text(encoding="utf-8"))]
    assert pages and with_errata == []
