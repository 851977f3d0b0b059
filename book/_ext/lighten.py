"""Make a first visit light: one script and one style sheet for all pages, and no more in either than the book uses.

The theme and the extensions load some twenty files, more than 1 MB when compressed, before a page is alive: every icon
of Font Awesome, the index of the search, rules for what no page has. `_templates/layout.html` leaves them out, and once
the site is written, this

* joins the scripts of all pages into `_static/page.js` and the style sheets into `_static/page.css`;
* leaves out the rules for a class or an id that occurs nowhere, and the variables that nothing reads; what a page loads
  only on request (`_static/live`) counts as well;
* cuts the font of the icons down to those in use, and those of text and code to the characters of the pages;
* leaves what only a search needs to the page that searches;
* lets a figure that is seen first move before the script has come.

Plots wait until the reader comes near them, with room kept for them, so that no text moves when they come. Sections
wait until the page is alive (`_static/sections.js`).

A script or style sheet that an extension adds is joined like the rest: none of the book's own is named here.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Iterable, Iterator
from functools import partial
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import tinycss2
from docutils import nodes
from fonts import cut
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata
from tinycss2.ast import Node

#: For each page the names of the style sheets and of the scripts that it would load.
Loaded = list[tuple[list[str], list[str]]]

#: What only the page of the search loads.
FOR_THE_SEARCH = {"searchtools.js", "language_data.js", "searchindex.js"}
#: What no page needs. The first draws as SVG the icons that the style sheet has as a font; the other is for tabs.
NEEDLESS = {"fontawesome.js", "design-tabs.js"}
#: What is loaded later and holds the words of others, who have style sheets of their own.
OF_OTHERS = "editor.js"
ICONS = "vendor/fontawesome/webfonts/fa-solid-900.woff2"

#: Each script is a script of its own: where one fails, as some do in a browser that stores nothing, the others run.
RUN_EACH = """for (const textContent of [
%s
]) document.head.append(Object.assign(document.createElement("script"), { textContent }));
"""

#: The theme makes each of these that scrolls a stop of the tab key. It lays the whole page out again for each, at the
#: start and after every change, which takes a phone a second; `sections.js` does it for all of them at once.
THEMES_SCROLLERS = (
    '["pre",".nboutput > .output_area",".cell_output > .output",".jp-RenderedHTMLCommon",'
    '".pst-scrollable-table-container"]'
)

SHEET = re.compile(r'\s*<link\b[^>]*\bhref="[^"]*_static/([^"?]+\.css)[^>]*>')
SCRIPT = re.compile(r'\s*<script\b[^>]*\bsrc="[^"]*?((?:[^"?/]+/)*[^"?/]+\.js)[^>]*></script>')
# Sphinx sets the second by scripts in the page, too early for `page.js` and to be read by none of these.
REST = re.compile(r'\s*<link\b[^>]*\brel="preload"[^>]*>|\s*<script>DOCUMENTATION_OPTIONS\.[^<]*</script>')
SECTION = re.compile(r"<section\b")
#: The script of the figures that move, which a page whose figure is seen first holds behind it.
FIGURES = "explorable.js"
PLOT = re.compile(r'<img (?=[^>]*\bsrc="[^"]*?_images/([^"]+\.svg)")')
# As matplotlib writes it.
SIZE = re.compile(r'<svg\b[^>]*?\bwidth="([\d.]+)pt" height="([\d.]+)pt"')
IMPORT = re.compile(r"""@import\s+["']([^"']+)["']\s*;""")
VARIABLE = re.compile(r"""(?<=[{;\s])(--[\w-]+)\s*:(?:"[^"]*"|[^;{}"])*(?:;|(?=\}))""")
LINK = re.compile(r"""url\((["']?)(?!data:|#|\w+:)([^)"']+)\1\)""")


def merged(lists: Iterable[list[str]]) -> list[str]:
    """The members of all lists, in the order of the longest."""
    return list(dict.fromkeys(name for names in sorted(lists, key=len, reverse=True) for name in names))


def read_sheet(folder: Path, name: str) -> str:
    """A style sheet without comments and indentation, with those that it imports, its links as seen from `folder`."""
    css = re.sub(r"/\*.*?\*/", "", (folder / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    css = re.sub(r"^\s+", "", css, flags=re.MULTILINE)
    here = posixpath.dirname(name)
    css = LINK.sub(lambda link: f'url("{posixpath.normpath(posixpath.join(here, link[2]))}")', css)
    return IMPORT.sub(lambda link: read_sheet(folder, posixpath.normpath(posixpath.join(here, link[1]))), css)


def read_script(folder: Path, name: str) -> str:
    """A script without indentation and without comments on lines of their own or behind code, but with its licence."""
    script = (folder / name).read_text(encoding="utf-8")
    script = script.replace(THEMES_SCROLLERS, '["none"]')
    script = re.sub(r"^[ \t]*/\*[^!].*?\*/", "", script, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^[ \t]*(//.*)?\n?|(?<=[;{},]) // .*", "", script, flags=re.MULTILINE)


def words_of(pages: Iterable[str], scripts: Iterable[str]) -> set[str]:
    """The classes and ids of the pages, and all words of the scripts, which may make more of them."""
    attributes = " ".join(value for html in pages for value in re.findall(r'\b(?:class|id)="([^"]*)"', html))
    return {*attributes.split(), *re.findall(r"[\w-]+", "\n".join(scripts))}


def split(prelude: list[Node]) -> list[list[Node]]:
    """The selectors before a rule, each as its tokens."""
    selectors: list[list[Node]] = [[]]
    for token in prelude:
        if token == ",":
            selectors.append([])
        else:
            selectors[-1].append(token)
    return selectors


def is_used(selector: list[Node], words: set[str]) -> bool:
    """Tell whether a page may have what is selected; what stands in brackets, as in `:not(.x)`, is not looked at."""
    classes = {name.value for dot, name in pairwise(selector) if dot == "." and name.type == "ident"}
    return words.issuperset(classes | {token.value for token in selector if token.type == "hash"})


def in_use(rules: Iterable[Node], words: set[str]) -> Iterator[str]:
    """Yield the rules that select something."""
    for rule in rules:
        if rule.type == "qualified-rule":
            kept = [tinycss2.serialize(chosen).strip() for chosen in split(rule.prelude) if is_used(chosen, words)]
            if kept:
                yield f"{','.join(kept)}{{{tinycss2.serialize(rule.content).strip()}}}\n"
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports", "container", "layer"):
            inside = "".join(in_use(tinycss2.parse_rule_list(rule.content, skip_whitespace=True), words))
            if inside:
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{\n{inside}}}\n"
        elif rule.type == "at-rule" and rule.lower_at_keyword != "charset":
            yield rule.serialize() + "\n"


def without_idle_variables(sheet: str, pages: Iterable[str], scripts: Iterable[str]) -> str:
    """A style sheet without the variables that nothing reads, nor those that only these would have read."""
    elsewhere = {name for text in [*pages, *scripts] for name in re.findall(r"--[\w-]+", text)}

    def without_unread(sheet: str) -> str:
        read = elsewhere.union(re.findall(r"var\(\s*(--[\w-]+)", sheet))
        return VARIABLE.sub(lambda variable: variable[0] if variable[1] in read else "", sheet)

    while (kept := without_unread(sheet)) != sheet:
        sheet = kept
    return sheet


def write(path: Path, text: str) -> str:
    """Write a file of the site, and return its name with a version, which is new when the text is."""
    path.write_text(text, encoding="utf-8")
    return f"{path.name}?v={hashlib.sha256(text.encode()).hexdigest()[:8]}"


def take(
    loaded: Loaded,
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Give the templates `taken`, by which they leave out what the theme would load, and note it in `loaded`.

    A slow line brings first the text that is seen at once and its style sheet, then the script, then the fonts: so the
    script stands behind the page's first section. On the search page it stands before the scripts that need it.
    """
    sheets: list[str] = []
    scripts: list[str] = []
    loaded.append((sheets, scripts))

    def deferred_for_the_search(script: re.Match[str]) -> str:
        name = posixpath.basename(script[1])
        if name not in FOR_THE_SEARCH | NEEDLESS:
            scripts.append(script[1].partition("_static/")[2])
        is_kept = pagename == "search" and name in FOR_THE_SEARCH
        return script[0].replace("<script", "<script defer") if is_kept else ""

    def taken(html: str) -> str:
        sheets.extend(SHEET.findall(html))
        return REST.sub("", SCRIPT.sub(deferred_for_the_search, SHEET.sub("", html)))

    script = f'<script defer src="{context["pathto"]("_static/page.js", resource=True)}"></script>\n'
    body = context.get("body", "")
    later = [section.start() for section in SECTION.finditer(body)][2:3]  # the first is the page
    for place in later:
        context["body"] = body[:place] + script + body[place:]
    context |= {"taken": taken, "page_script": script, "has_script": later or pagename == "search"}


def lighten(loaded: Loaded, app: Sphinx, exception: Exception | None) -> None:
    """Write what the pages load, of which `loaded` has the names."""
    if exception or app.builder.name != "html":
        return
    folder = app.outdir / "_static"
    pages = {path: path.read_text(encoding="utf-8") for path in app.outdir.rglob("*.html")}
    sheets, names = map(merged, zip(*loaded, strict=True))
    scripts = [read_script(folder, name) for name in names]
    script = RUN_EACH % ",\n".join(json.dumps(text, ensure_ascii=False) for text in scripts)
    rules = tinycss2.parse_stylesheet("".join(read_sheet(folder, name) for name in sheets), skip_whitespace=True)
    later = [path.read_text(encoding="utf-8") for path in folder.glob("live/*.[jc]s*") if path.name != OF_OTHERS]
    used = "".join(in_use(rules, words_of(pages.values(), [*scripts, *later])))
    sheet = '@charset "utf-8";\n' + without_idle_variables(used, pages.values(), [*scripts, *later])
    versions = {name: write(folder / name, text) for name, text in {"page.css": sheet, "page.js": script}.items()}
    for path, html in pages.items():
        html = alive_at_once(waiting(html, app.outdir / "_images"), read_script(folder, FIGURES))
        for name, version in versions.items():
            html = html.replace(f"_static/{name}", f"_static/{version}")
        path.write_text(html, encoding="utf-8")
    cut(folder / ICONS, set(re.findall("[\ue000-\uf8ff]", sheet)))  # where Unicode leaves room for signs of one's own
    shown = set(script).union(*map(unescape, pages.values()))
    for face in folder.glob("fonts/*.woff2"):
        cut(face, shown)
    for name in [*sheets, *names, "scripts/fontawesome.js", "design-tabs.js"]:
        (folder / name).unlink()
    for path in folder.rglob("*.map"):
        path.unlink()


def alive_at_once(html: str, script: str) -> str:
    """A page whose first section holds a figure that moves, with the script behind it: the figure has its controls when
    it is first seen, so that nothing moves when they come, and a reader of the cover can press them at once."""
    first_section = SECTION.split(html, maxsplit=2)[:2]
    seen_first = "<section".join(first_section)
    before, figure, after = seen_first.rpartition("</figure>")
    if len(first_section) < 2 or '<figure class="explorable"' not in before:
        return html
    return f"{before}{figure}<script>{script}</script>{after}{html[len(seen_first) :]}"


def waiting(html: str, folder: Path) -> str:
    """A page whose plots load when the reader comes near them, into the room that is kept for each."""

    def sized(match: re.Match[str]) -> str:
        size = SIZE.search((folder / match[1]).read_text(encoding="utf-8"))
        if not size:
            return match[0]
        width, height = (round(float(points) * 96 / 72) for points in size.groups())
        return f'<img loading="lazy" width="{width}" height="{height}" '

    return PLOT.sub(sized, html)


def setup(app: Sphinx) -> ExtensionMetadata:
    loaded: Loaded = []
    app.add_js_file("sections.js", loading_method="defer")
    app.connect("html-page-context", partial(take, loaded), priority=900)  # once each page has its text and addresses
    app.connect("build-finished", partial(lighten, loaded), priority=900)  # after the theme, which then writes colours
    # Each build writes every page: one that is left from the build before would lack the new names.
    app.connect("env-updated", lambda app, env: env.found_docs)
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": False}
