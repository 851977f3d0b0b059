"""Mend a piece of HTML that another package prints wrongly.

The tests print the piece again, and fail once the mend is no longer needed.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

MENDS = [
    # Docutils prints a bibliography as `role="list"` around entries of the role `doc-biblioentry` (0.23 still does), as
    # DPUB-ARIA 1.0 had it. But a list needs items of the role `listitem`: a screen reader announces a list of nothing,
    # which axe counts as critical. DPUB-ARIA 1.1 gave the role up: https://github.com/w3c/dpub-aria/issues/15. Without
    # `role="list"` the entries read well.
    (r'<div role="list" class="citation-list">', r'<div class="citation-list">'),
    # sphinx-exercise puts a title into brackets, also where it ends with brackets of its own.
    (r'(<span class="caption-number">Exercise [\d.]+ </span>) \((.*)\)</p>', r"\1 \2</p>"),
    (r'(<p class="admonition-title">Exercise) \((.*)\)</p>', r"\1 \2</p>"),
    # Each data frame of pandas brings the same style sheet, which holds for the whole page; book.css has one for all.
    (r"<style scoped>\s*\.dataframe(?s:.*?)</style>\s*", ""),
    # Where the columns have a name, too, as those of a crosstab, both names share the corner.
    (
        r"(<thead>\s*<tr[^>]*>\s*)<th>([^<]+)</th>((?:\s*<th>[^<]*</th>)+\s*</tr>)"
        r"\s*<tr>\s*<th>([^<]+)</th>(?:\s*<th></th>)+\s*</tr>",
        r"\1<th>\4 ↓ \2 →</th>\3",
    ),
    # pandas gives the name of the index a row of empty headings, and the corner above an index a heading without words,
    # which axe counts as a fault.
    (
        r"(<thead>\s*<tr[^>]*>\s*)<th></th>((?:\s*<th>[^<]*</th>)+\s*</tr>)"
        r"\s*<tr>\s*(<th>[^<]+</th>)(?:\s*<th></th>)+\s*</tr>",
        r"\1\3\2",
    ),
    (r"(<thead>\s*<tr[^>]*>\s*)<th></th>", r"\1<td></td>"),
]


def mend(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Rewrite the page's HTML."""
    if "body" in context:
        for pattern, replacement in MENDS:
            context["body"] = re.sub(pattern, replacement, context["body"])


def name_toggles(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Name what opens the pages below a page of the contents: the theme draws an arrow without words."""
    contents = context["generate_toctree_html"]

    def named(**options: Any) -> Any:
        tree = contents(**options)
        for page, toggle in zip(tree.select("a:has(+ details)"), tree.select("a + details > summary"), strict=True):
            toggle["aria-label"] = f"Pages of {page.get_text(strip=True)}"
        return tree

    context["generate_toctree_html"] = named


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", mend)
    app.connect("html-page-context", name_toggles, priority=900)  # once the theme has made the contents
    return {"parallel_read_safe": True, "parallel_write_safe": True}
