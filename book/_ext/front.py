"""What a reader meets before the first page: the root of the site, a missing page, the preview of a link; and the list
of all pages that search engines read.

`BOOK_SITE_URL` says where the site will be. The previews need whole addresses, and the page for a wrong address, which
sphinx-notfound-page makes, may be shown at any depth; without the variable the site is taken to lie at a server's root.
`_templates/layout.html` writes what is said here into the head of each page.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.typing import ExtensionMetadata

SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
LENGTH = 200  # characters of a description


def set_address(app: Sphinx, config: Config) -> None:
    """Tell Sphinx, which adds the canonical address to each page, and the page for a wrong address."""
    url = os.environ.get("BOOK_SITE_URL", "").rstrip("/")
    config.html_baseurl = url and f"{url}/"
    config.notfound_urls_prefix = urlsplit(config.html_baseurl).path or "/"


def description(app: Sphinx, doctree: nodes.document | None) -> str:
    """The first paragraph of a page that is in no box, cut at a word if it is long."""
    for paragraph in doctree.findall(nodes.paragraph) if doctree else ():
        words = " ".join(paragraph.astext().split())
        if isinstance(paragraph.parent, nodes.section) and len(words) > 40:
            return words if len(words) <= LENGTH else words[:LENGTH].rsplit(" ", 1)[0] + " …"
    return app.config.html_title


def describe(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Say what a page is."""
    context |= {"about": description(app, doctree), "is_article": bool(doctree), "site_url": app.config.html_baseurl}


def write_root(app: Sphinx, exception: Exception | None) -> None:
    """Write the cover once more, under the name that a server looks for."""
    if exception or app.builder.name != "html":
        return
    root = Path(app.outdir)
    cover = (root / f"{app.config.root_doc}.html").read_text(encoding="utf-8")
    folder, _, name = app.config.root_doc.rpartition("/")
    # Its links start in the folder of the cover; those to a place on the page need its name.
    cover = cover.replace('href="#', f'href="{name}.html#')
    base = f'<head>\n<base href="{folder}/" />' if folder else "<head>"
    (root / "index.html").write_text(re.sub(r"<head>", base, cover, count=1), encoding="utf-8")


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """Name all pages of the book, with whole addresses, where these are known."""
    if exception or app.builder.name != "html" or not app.config.html_baseurl:
        return
    pages = sorted(app.config.html_baseurl + app.builder.get_target_uri(name) for name in app.env.found_docs)
    entries = "".join(f"<url><loc>{escape(page)}</loc></url>\n" for page in pages)
    sitemap = f'<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="{SITEMAP}">\n{entries}</urlset>\n'
    (Path(app.outdir) / "sitemap.xml").write_text(sitemap, encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("config-inited", set_address)
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_sitemap)
    app.connect("build-finished", write_root, priority=950)  # once every page has its last form
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
