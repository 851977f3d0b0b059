"""Listings: long lines get the room that they need, and a docstring shows none of our markup.

A listing with long lines is marked as `wide`: the style sheet makes room for the 120 columns of treekit's code. A
docstring names the formula that its function computes by a role, for the reference; the page of a chapter has the
formula beside the listing, so the role is taken out.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

LONGEST = 92  # columns that fit at the usual size of code
ROLE = re.compile(r",? :eq:`[\w-]+`")
FORMULA = re.compile("``([^`\n]+)``")  # in a docstring, where the reference sets it as code


def tidy(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for listing in doctree.findall(nodes.literal_block):
        code = ROLE.sub("", listing.astext())
        if listing.get("language") == "python":
            code = FORMULA.sub(r"\1", code)
        listing.rawsource, listing.children = code, [nodes.Text(code)]
        if max(map(len, code.splitlines()), default=0) > LONGEST:
            listing["classes"].append("wide")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("doctree-resolved", tidy)
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
