"""What a search finds: sections and terms before treekit's names, and no word of a drawing.

`_static/scorer.js` says what comes first.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

#: Sphinx lists a section only if what is looked for makes up half of its title.
HALF_OF_THE_TITLE = "&& (queryLower.length >= title.length/2)"

logger = logging.getLogger(__name__)


class Drawing(nodes.General, nodes.Element):
    """Raw HTML with a drawing. The index reads raw HTML, even the labels of axes, but not this node."""


def set_apart(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Hide drawings from the index."""
    for raw in list(doctree.findall(nodes.raw)):
        if "html" in raw.get("format", "").split() and "<svg" in raw.astext():
            raw.replace_self(Drawing(html=raw.astext()))


def write(self: HTML5Translator, node: Drawing) -> None:
    self.body.append(node["html"])
    raise nodes.SkipNode


def leave_out(self: object, node: Drawing) -> None:
    raise nodes.SkipNode


def list_sections(app: Sphinx, exception: Exception | None) -> None:
    """Let the search list every section whose title has the words."""
    script = Path(app.outdir) / "_static" / "searchtools.js"
    if exception or not script.exists():
        return
    text = script.read_text(encoding="utf-8")
    if HALF_OF_THE_TITLE not in text:
        logger.warning("searchtools.js has changed: see whether it lists sections by a word of their titles")
    script.write_text(text.replace(HALF_OF_THE_TITLE, ""), encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_node(Drawing, html=(write, None), latex=(leave_out, None), text=(leave_out, None))
    app.connect("doctree-resolved", set_apart, priority=900)  # once the others have seen what they look for
    app.connect("build-finished", list_sections)
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
