"""Two directives that print the appendices *source map* and *errata* from CSV files.

The rows are facts about the notes that the book grew from. Kept as data they can be tested:
each row must have its place, a label that a chapter sets just before the passage in question.
The labels are `source-tm05` for row TM05 of the map and `erratum-0-1` for erratum 0.1.
"""

import csv
from pathlib import Path

from sphinx.util.docutils import SphinxDirective

DATA = Path(__file__).parent.parent / "data"


def source_label(row):
    """The label of a row of the source map."""
    return "source-" + row["id"].lower()


def erratum_label(row):
    """The label of an erratum."""
    return "erratum-" + row["id"].replace(".", "-")


class TableDirective(SphinxDirective):
    """Read `DATA/<file>` and print what `lines` makes of its rows."""

    def run(self):
        path = DATA / self.file
        self.env.note_dependency(path)
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return self.parse_text_to_nodes("\n".join(self.lines(rows)))


class SourceMap(TableDirective):
    """A table: source and section, what it says, its place here, treekit's names."""

    file = "source-map.csv"

    def lines(self, rows):
        yield "| Row | Source | What it holds | Place in the book | treekit |"
        yield "|---|---|---|---|---|"
        for row in rows:
            names = ", ".join(f"{{py:obj}}`~treekit.{name}`" for name in row["treekit"].split())
            place = f"{{ref}}`{row['chapter']} <{source_label(row)}>`"
            where = f"{{cite:t}}`{row['source']}`, {row['where']}"
            cells = [row["id"], where, row["what"], place, names]
            yield "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


class Errata(TableDirective):
    """A list: where the source errs, what it prints, what is right, where the book shows it."""

    file = "errata.csv"

    def lines(self, rows):
        for row in rows:
            yield f"{row['id']} · {{cite:t}}`{row['source']}`, {row['where']}"
            yield f": Printed: {row['printed']}"
            yield f"  Right: {row['right']}"
            yield f"  Shown in {{ref}}`{row['chapter']} <{erratum_label(row)}>`: {row['shown']}"
            yield ""


def setup(app):
    app.add_directive("source-map", SourceMap)
    app.add_directive("errata", Errata)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
