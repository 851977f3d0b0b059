"""The directive `your-table`: the form on which a reader grows a tree of their own table, with what it runs.

The form, its looks and its script lie in `book/your_table/`, beside the Python that the reader's browser runs; no other
page loads any of it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from live import files_below, pack

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "book" / "your_table"


class YourTable(SphinxDirective):
    """Print the form."""

    def run(self) -> list[nodes.Node]:
        form, looks = (SOURCES / name for name in ("page.html", "your_table.css"))
        for path in (form, looks):
            self.env.note_dependency(str(path))
        to_root = "../" * self.env.docname.count("/")
        script = f'<script type="module" src="{to_root}_static/live/your_table.js"></script>'
        style = f"<style>\n{looks.read_text(encoding='utf-8')}</style>\n"
        return [nodes.raw("", style + form.read_text(encoding="utf-8") + script, format="html")]


def write_code(app: Sphinx, exception: Exception | None) -> None:
    """Put the script, and a zip of the Python, where the page finds them."""
    if exception or app.builder.name != "html":
        return
    live = app.outdir / "_static" / "live"
    shutil.copy(SOURCES / "your_table.js", live)
    pack(live / "your_table.zip", files_below(SOURCES, top=SOURCES.parent))


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("your-table", YourTable)
    app.connect("build-finished", write_code, priority=850)  # after `live`, which makes the folder
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
