"""What a reader meets before the first page: the root of the site, a missing page, the preview of a link, the icons.

`BOOK_SITE_URL`, where the site will be, is needed by the previews alone: they want whole addresses.
"""

import os
import re
from html import escape
from pathlib import Path

from docutils import nodes

STATIC = Path(__file__).resolve().parents[1] / "_static"
LENGTH = 200  # characters of a description
PREVIEW_ALT = "Seventeen numbered melons have fallen through a decision tree, each into a leaf of ripe or unripe ones."

MISSING = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>No such page · {title}</title>
<script>
  // A missing page may be asked for anywhere below the site's root, so its links start from there.
  const root = location.pathname.replace(/(book|_modules|_sources|_static|_images|_downloads)\\/.*$|[^/]*$/, "");
  document.write(`<base href="${{root}}">`);
</script>
<style>
  :root {{ color-scheme: light dark }}
  body {{ max-width: 35rem; margin: 4rem auto; padding: 0 1rem; font: 1.15rem/1.55 "STIX Two Text", serif }}
  a {{ color: LinkText }}
</style>
<h1>This branch is empty</h1>
<p>There is no page at this address. It may have moved; all pages of <a href="index.html">{title}</a> are near:</p>
<ul>
{links}
</ul>
<p><a href="search.html">Search the book</a></p>
</html>
"""


def description(app, doctree):
    """The first paragraph of a page that stands in no box, cut at a word."""
    for paragraph in doctree.findall(nodes.paragraph) if doctree else ():
        words = " ".join(paragraph.astext().split())
        if isinstance(paragraph.parent, nodes.section) and len(words) > 40:
            return words if len(words) <= LENGTH else words[:LENGTH].rsplit(" ", 1)[0] + " …"
    return app.config.html_title


def add_head(app, pagename, templatename, context, doctree):
    """Say in the head of a page what it is, for search engines, for previews of links, and for the browser's tab."""
    about = description(app, doctree)
    title = re.sub(r"<[^>]+>", "", context.get("title") or app.config.html_title)
    site = os.environ.get("BOOK_SITE_URL", "").rstrip("/")
    pathto = context["pathto"]

    def static(name):
        return pathto(f"_static/{name}", resource=True)

    picture = f"{site}/_static/preview.png" if site else static("preview.png")
    properties = {
        "og:type": "article" if doctree else "website",
        "og:site_name": app.config.html_title,
        "og:title": title,
        "og:description": about,
        "og:image": picture,
        "og:image:width": "1200",
        "og:image:height": "630",
        "og:image:alt": PREVIEW_ALT,
    }
    if site:
        properties["og:url"] = f"{site}/{pagename}.html"
    named = {"description": about, "twitter:card": "summary_large_image"}
    tags = [f'<meta property="{name}" content="{escape(value)}" />' for name, value in properties.items()]
    tags += [f'<meta name="{name}" content="{escape(value)}" />' for name, value in named.items()]
    tags.append(f'<link rel="icon" href="{static("favicon.ico")}" sizes="48x48" />')
    tags.append(f'<link rel="apple-touch-icon" href="{static("apple-touch-icon.png")}" />')
    context["metatags"] = context.get("metatags", "") + "\n" + "\n".join(tags)


def write_root(app, exception):
    """Write the pages that stand at the root: the cover under the name that a server looks for, and 404.html."""
    if exception or app.builder.format != "html" or app.builder.name != "html":
        return
    root = Path(app.outdir)
    cover = (root / f"{app.config.root_doc}.html").read_text(encoding="utf-8")
    folder, _, name = app.config.root_doc.rpartition("/")
    # Its links start in the folder of the cover; those to a place on the page need its name.
    cover = cover.replace('href="#', f'href="{name}.html#')
    base = f'<head>\n<base href="{folder}/" />' if folder else "<head>"
    (root / "index.html").write_text(re.sub(r"<head>", base, cover, count=1), encoding="utf-8")
    titles = {docname: node.astext() for docname, node in app.env.titles.items() if docname.startswith("book/")}
    links = "\n".join(f'<li><a href="{doc}.html">{escape(title)}</a></li>' for doc, title in in_order(app, titles))
    page = MISSING.format(title=escape(app.config.html_title), links=links)
    (root / "404.html").write_text(page, encoding="utf-8")


def in_order(app, titles):
    """The pages in the order of the book."""
    order = [app.config.root_doc, *app.env.toctree_includes.get(app.config.root_doc, [])]
    return [(doc, titles[doc]) for doc in order if doc in titles]


def setup(app):
    app.connect("html-page-context", add_head)
    app.connect("build-finished", write_root, priority=950)  # once every page has its last form
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
