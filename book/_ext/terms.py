"""What a term means, at each link to it: the glossary's words become the link's title, which `terms.js` shows."""

from __future__ import annotations

from functools import cache

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

GLOSSARY, PREFIX = "book/glossary", "term-"


def say_meaning(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give each link to a term what the glossary says about it."""

    @cache
    def meanings() -> dict[str, str]:
        items = app.env.get_doctree(GLOSSARY).findall(nodes.definition_list_item)
        return {name: item[-1].astext() for item in items for term in item.findall(nodes.term) for name in term["ids"]}

    for link in doctree.findall(nodes.reference):
        _, _, target = link.get("refuri", "").partition(f"#{PREFIX}")
        if target and not isinstance(link.parent, addnodes.compact_paragraph):
            link["reftitle"] = meanings().get(PREFIX + target, "")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("doctree-resolved", say_meaning)
    app.add_js_file("terms.js", loading_method="defer")
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
