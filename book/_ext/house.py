"""The directive `modules`: the Python files of some folders, each described by the first line of its own docstring.

So the map of the repository needs no line for a new module, and a module without a docstring is a warning.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

ROOT = Path(__file__).resolve().parents[2]
logger = logging.getLogger(__name__)


def first_line(path: Path) -> str:
    """The first line of a module's docstring, with the names of code as plain words."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.sub(r"(?::\w+:)?`([^`]+)`", r"\1", text.partition("\n")[0])


class Modules(SphinxDirective):
    """`{modules} treekit scripts`: a list of each folder's files, and those of its packages."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        shown = []
        for name in self.arguments[0].split():
            packages = sorted((ROOT / name).glob("*/__init__.py"))
            shown += [ROOT / name, *(inside.parent for inside in packages)]
        return [part for folder in shown for part in self.room(folder)]

    def room(self, folder: Path) -> list[nodes.Node]:
        """The folder's name, what its `__init__.py` says, and its files."""
        entries = []
        for path in sorted(folder.glob("*.py")):
            self.env.note_dependency(str(path))
            about = first_line(path)
            if not about:
                logger.warning("%s has no docstring", path.relative_to(ROOT), location=self.get_location())
            if path.name != "__init__.py":
                entries.append((path.name, about))
        if not entries:
            return []
        own = folder / "__init__.py"
        title = nodes.paragraph("", "", nodes.strong("", f"{folder.relative_to(ROOT).as_posix()}/"))
        title += nodes.Text(f" {first_line(own)}" if own.exists() else "")
        rows = nodes.bullet_list(classes=["simple"])
        for name, about in entries:
            rows += nodes.list_item("", nodes.paragraph("", "", nodes.literal("", name), nodes.Text(f" {about}")))
        return [title, rows]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("modules", Modules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
