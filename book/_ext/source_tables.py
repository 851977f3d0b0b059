"""Three directives that print the appendices *source map* and *errata* from CSV files.

The rows are facts about the notes that the book grew from. Kept as data they can be tested:
each row must have its place, a label just before the passage in question: `source-tm05`, in a chapter, for row TM05 of
the map; `erratum-0-1`, in the notebook `errata_<key>` of its source, for erratum 0.1.

`source-map` and `errata` take the bibliography key of one set of notes and print its rows; `blanks` prints the rows of
the map that are headings without text.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

DATA = Path(__file__).parent.parent / "data"

Row = dict[str, str]


def place(prefix: str, row: Row, text: str) -> str:
    """A link to the label of a row."""
    label = f"{prefix}-{row['id'].lower().replace('.', '-')}"
    return f"{{ref}}`{text} <{label}>`"


@cache
def short_title(chapter: str) -> str:
    """The title of a chapter as far as its colon."""
    cells = json.loads((DATA.parent / f"{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    return "".join(cells[0]["source"]).removeprefix("# ").partition("\n")[0].partition(":")[0]


def table_row(cells: Iterable[str]) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


class RowsDirective(SphinxDirective):
    """Read the rows of one set of notes from `DATA/<file>` and print what `lines` makes of them."""

    required_arguments = 1
    file: str

    def picks(self, row: Row) -> bool:
        return row["source"] == self.arguments[0]

    def run(self) -> list[nodes.Node]:
        path = DATA / self.file
        self.env.note_dependency(str(path))
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if self.picks(row)]
        if not rows:
            raise self.error(f"{path.name} has no row for {self.name} {' '.join(self.arguments)}")
        (table,) = self.parse_text_to_nodes("\n".join(self.lines(rows)))
        table["classes"].append("listed")
        return [table]


class SourceMap(RowsDirective):
    """A table: the section of the notes, what it holds, its place here, treekit's names."""

    file = "source-map.csv"

    def lines(self, rows: list[Row]) -> Iterator[str]:
        yield "| Row | Section | What it holds | Told in | treekit |"
        yield "|---|---|---|---|---|"
        for row in rows:
            names = ", ".join(f"{{py:obj}}`~treekit.{name}`" for name in row["treekit"].split())
            told = place("source", row, short_title(row["chapter"]))
            yield table_row([row["id"], row["where"], row["what"], told, names])


class Blanks(SourceMap):
    """The same table of the headings that the notes leave without text."""

    required_arguments = 0

    def picks(self, row: Row) -> bool:
        return row["kind"] == "blank"


class Errata(RowsDirective):
    """A table: number and link, where the line stands in the notes, what they print, what is right, the verdict."""

    file = "errata.csv"

    def lines(self, rows: list[Row]) -> Iterator[str]:
        yield "| Number | Place | Printed | Right | Verdict |"
        yield "|---|---|---|---|---|"
        for row in rows:
            number = place("erratum", row, row["id"])
            yield table_row([number, row["where"], row["printed"], row["right"], row["verdict"]])


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("source-map", SourceMap)
    app.add_directive("blanks", Blanks)
    app.add_directive("errata", Errata)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
