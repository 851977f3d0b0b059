"""The directive `chapter-cards`: a card for each numbered chapter, with a small picture of its figure.

The picture is what the chapter's first figure that moves shows at rest, without its words. It is taken from the stored
notebook at every build, so a card shows the figure that the chapter has.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

ROOT = Path(__file__).resolve().parents[2]
FIGURE = re.compile(r'<figure class="explorable".*?(<svg.*?</svg>)', re.DOTALL)
HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
KEPT = ("viewBox", "fill", "font-size")
CARDS = '<ol class="chapter-cards">'


def numbered_chapters() -> list[str]:
    """The names of the numbered chapters, such as `book/entropy`, in their order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [chapter["file"] for part in toc["parts"] if part.get("numbered") for chapter in part["chapters"]]


def emblem(svg: str) -> str:
    """A drawing without its words, as an ornament: the title below it says what it is."""
    top = ElementTree.fromstring(svg)
    top.attrib = {name: top.attrib[name] for name in KEPT} | {"aria-hidden": "true"}
    for parent in list(top.iter()):
        for name in ("class", "data-key", "data-choose"):
            parent.attrib.pop(name, None)
        for child in list(parent):
            if child.tag == "text":
                parent.remove(child)
    return ElementTree.tostring(top, encoding="unicode")


def card(name: str) -> tuple[str, str]:
    """The title of a chapter and its emblem."""
    cells = nbformat.read(ROOT / f"{name}.ipynb", as_version=4).cells
    title = next(found[1] for cell in cells if (found := HEADING.search(cell.source)))
    outputs = (output.get("data", {}).get("text/html", "") for cell in cells for output in cell.get("outputs", []))
    figure = next((found[1] for output in outputs if (found := FIGURE.search(output))), None)
    if figure is None:
        raise ExtensionError(f"{name} has no moving figure, which the cover shows on its card: add one.")
    return title, emblem(figure)


class ChapterCards(SphinxDirective):
    """Print the cards."""

    def run(self) -> list[nodes.Node]:
        items = ""
        for number, name in enumerate(numbered_chapters(), start=1):
            self.env.note_dependency(str(ROOT / f"{name}.ipynb"))
            title, picture = card(name)
            address = self.env.app.builder.get_relative_uri(self.env.docname, name)
            words = f"<b>{number}</b> {escape(title)}"
            items += f'<li><a href="{address}">{picture}<span>{words}</span></a></li>\n'
        return [nodes.raw("", f"{CARDS}\n{items}</ol>", format="html")]


def name_cover(app: Sphinx, doctree: nodes.document) -> None:
    """Give the first tag of the page the class `cover`, so that its columns are there before the cards have loaded."""
    if any(raw.astext().startswith(CARDS) for raw in doctree.findall(nodes.raw)):
        next(doctree.findall(nodes.section))["classes"].append("cover")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("chapter-cards", ChapterCards)
    app.connect("doctree-read", name_cover)
    app.add_js_file("read.js", loading_method="defer")  # ticks on the cards, too
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
