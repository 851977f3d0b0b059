"""Read the pages of the built site: their order, their articles as trees, and what a drawing needs to stand alone."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, TreeBuilder

import yaml
from lxml import etree

ROOT = Path(__file__).resolve().parents[2]
TITLE = "Decision Trees, from Entropy to Gradient Boosting"
MATHML, SVG = "http://www.w3.org/1998/Math/MathML", "http://www.w3.org/2000/svg"
#: Where the book can be read, if this is known: figures that move name the address, and links out of a file lead there.
ADDRESS = os.environ.get("BOOK_SITE_URL", "").rstrip("/")
CAPITALS = {name.lower(): name for name in ("viewBox", "preserveAspectRatio", "textLength", "lengthAdjust")}
#: What is of use on a screen only.
SCREEN = {
    *("headerlink", "explorable-controls", "explorable-challenge", "viewcode-link", "outline", "check-replies"),
    "your-table",
}


class Builder(TreeBuilder):
    """Makes a tree of what lxml reads, which has no capitals in the names of attributes, and no comments."""

    def start(self, tag: Any, attrs: Any) -> Element:
        return super().start(tag, {CAPITALS.get(name, name): value for name, value in attrs.items()})

    def comment(self, text: Any) -> Any:
        pass


@dataclass
class Page:
    """A page of the site: `article` is the `<section>` that holds all of it."""

    name: str
    part: str
    depth: int
    article: Element

    @property
    def title(self) -> str:
        return text_of(next(self.article.iter("h1")))


def contents(toc: Path = ROOT / "_toc.yml") -> Iterator[tuple[str, int, str]]:
    """Part, depth and name of each page but the cover, in the order of the book."""

    def below(entries: list[dict[str, Any]], part: str, depth: int) -> Iterator[tuple[str, int, str]]:
        for entry in entries:
            yield part, depth, entry["file"].removeprefix("book/")
            yield from below(entry.get("sections", []), part, depth + 1)

    for part in yaml.safe_load(toc.read_text(encoding="utf-8"))["parts"]:
        yield from below(part["chapters"], part["caption"], 0)


def read(site: Path, name: str, part: str = "", depth: int = 0) -> Page:
    """A page without what belongs to a screen."""
    text = (site / "book" / f"{name}.html").read_text(encoding="utf-8")
    start = text.index("<article")
    article = text[text.index(">", start) + 1 : text.index("</article>", start)]
    parser: Any = etree.HTMLParser(target=Builder(), encoding="utf-8", huge_tree=True)
    root = etree.fromstring(f"<!doctype html><body>{article}".encode(), parser)
    for parent in list(root.iter()):
        remove(parent, lambda e: e.tag in ("script", "style", "button", "link") or bool(SCREEN & classes(e)))
        remove(parent, lambda e: e.get("data-kind") == "check")  # cells that judge an answer where they can run
    return Page(name, part, depth, next(root.iter("section")))


def read_all(site: Path) -> list[Page]:
    return [read(site, name, part, depth) for part, depth, name in contents()]


def classes(element: Element) -> set[str]:
    return set(element.get("class", "").split())


def text_of(element: Element) -> str:
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def remove(parent: Element, unwanted: Callable[[Element], bool]) -> None:
    """Take children out, and leave the text after them where it was."""
    kept: Element | None = None
    for child in list(parent):
        if not isinstance(child.tag, str) or unwanted(child):
            if kept is None:
                parent.text = (parent.text or "") + (child.tail or "")
            else:
                kept.tail = (kept.tail or "") + (child.tail or "")
            parent.remove(child)
        else:
            kept = child


def still(svg: Element) -> str:
    """A drawing as a file of its own, which no style sheet reaches: its variables and transforms are written out."""
    width, height = svg.get("viewBox", "").split()[2:]
    svg.attrib.update({"xmlns": SVG, "width": width, "height": height, "font-family": "STIX Two Text"})
    for name in ("style", "tabindex"):
        svg.attrib.pop(name, None)
    svg.tail = None
    text = ElementTree.tostring(svg, encoding="unicode")
    text = re.sub(r"var\(--[\w-]+,\s*([^()]+)\)", r"\1", text)
    text = re.sub(
        r'style="transform:\s*([^;"]+);?(?:\s*opacity:\s*([\d.]+))?;?"',
        lambda found: f'transform="{found[1].replace("px", "")}" opacity="{found[2] or 1}"',
        text,
    )
    text = re.sub(r"(M[\d.,-]+h)0\b", r"\1.01", text)  # a dot, which Typst does not draw if it has no length at all
    return text.replace("currentColor", "#000").replace("Canvas", "#fff").replace(" (drag here)", "")


def target(page: str, href: str) -> tuple[str, str] | None:
    """The page and the place on it where a link leads, if it stays in the book."""
    if re.match(r"[a-z]+:|//", href):
        return None
    path, _, place = href.partition("#")
    if not path:
        return page, place
    found = re.fullmatch(r"([\w-]+)\.html", path)
    return (found[1], place) if found else None


def day_of_build() -> datetime:
    """The day on which the files are made, or that SOURCE_DATE_EPOCH names, so that they can be made again."""
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        return datetime.fromtimestamp(int(epoch), UTC)
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def write_day(day: datetime) -> str:
    return f"{day.day} {day:%B %Y}"


def add_to(archive: zipfile.ZipFile, name: str, content: str | bytes, how: int = zipfile.ZIP_DEFLATED) -> None:
    """Add a file without the time, so that the same content gives the same archive."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = how
    archive.writestr(entry, content)


def on_site(page: str, href: str) -> str:
    """The address on the site of what a page links to; empty if no address is known."""
    if re.match(r"[a-z]+:|//", href):
        return href
    return (
        f"{ADDRESS}/{os.path.normpath('book/' + (href if not href.startswith('#') else f'{page}.html{href}'))}"
        if ADDRESS
        else ""
    )
