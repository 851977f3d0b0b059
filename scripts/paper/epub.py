"""Pack the pages of the site as an e-book: `python -m scripts.paper.epub SITE OUT.epub`.

EPUB is XML: pages that an HTML parser has read are written out with the namespaces and attributes that it asks for.
"""

from __future__ import annotations

import sys
import uuid
import zipfile
from html import escape
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from scripts.paper import formulas
from scripts.paper.site import (
    MATHML,
    ROOT,
    SVG,
    TITLE,
    Page,
    add_to,
    classes,
    day_of_build,
    on_site,
    read_all,
    remove,
    still,
    target,
)

HERE = Path(__file__).parent
KINDS = {".svg": "image/svg+xml", ".png": "image/png", ".css": "text/css", ".woff2": "font/woff2"}
#: Attributes of HTML 4, or for screens, that the standard of e-books does not allow where the site has them.
REFUSED = {
    "halign",
    "border",
    "align",
    "valign",
    "frame",
    "rules",
    "cellpadding",
    "cellspacing",
    "tabindex",
    "loading",
    "download",
    "name",
    "aria-live",
}
CONTAINER = (
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="EPUB/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
FEATURES = ("MathML", "alternativeText", "tableOfContents", "structuralNavigation")


def document(title: str, body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en"><head><title>{escape(title)}</title>'
        f'<link rel="stylesheet" type="text/css" href="epub.css"/></head><body>{body}</body></html>'
    )


def clean(page: Page, names: set[str], images: set[str]) -> str:
    """A page's article as XML, its links inside the book, its pictures noted."""
    for parent in list(page.article.iter()):
        remove(parent, lambda e: "tag_hide-input" in classes(e) and not any("cell_output" in classes(c) for c in e))
        if "tag_hide-input" in classes(parent):
            remove(parent, lambda e: "cell_output" not in classes(e))
    parts = [(element, child) for element in page.article.iter() for child in element]
    for _, element in parts:
        tidy(page, element, names, images)
    for parent, svg in parts:
        if svg.tag == "svg":
            tail, drawn = svg.tail, ElementTree.fromstring(still(svg).replace(f'xmlns="{SVG}"', ""))
            drawn.attrib.update({"xmlns": SVG, "role": "img"})
            drawn.tail = tail
            parent[list(parent).index(svg)] = drawn
    return ElementTree.tostring(page.article, encoding="unicode")


def tidy(page: Page, element: Element, names: set[str], images: set[str]) -> None:
    for name in REFUSED & set(element.attrib):
        del element.attrib[name]
    if str(element.get("role", "")).startswith("doc-"):
        del element.attrib["role"]
    if element.tag == "math":
        element.attrib.update({"xmlns": MATHML, "alttext": formulas.spoken(element)})
    if element.tag in formulas.ROWS | {"mo", "mi", "mn", "mtext", "mtable", "mtr"}:
        for name in ("scriptlevel", "style"):
            element.attrib.pop(name, None)
    if element.tag in ("td", "th", "tr", "col", "table"):
        for name in ("style", "width"):
            element.attrib.pop(name, None)
    if element.tag == "img":
        images.add(element.get("src", "").removeprefix("../"))
        element.set("src", Path(element.get("src", "")).name)
        element.set("alt", element.get("alt") or "picture")
    if element.tag == "a" and element.get("href"):
        place = target(page.name, element.get("href", ""))
        if place and place[0] in names:
            element.set("href", f"{place[0]}.xhtml" + (f"#{place[1]}" if place[1] else ""))
        elif address := on_site(page.name, element.get("href", "")):
            element.set("href", address)
        else:
            del element.attrib["href"]


def contents(pages: list[Page]) -> str:
    """The list of contents that the reading device shows."""
    made, part = "", ""
    for page in pages:
        if page.part != part:
            made += ("</ol></li>" if part else "") + f"<li><span>{escape(page.part)}</span><ol>"
            part = page.part
        made += f'<li><a href="{page.name}.xhtml">{escape(page.title)}</a></li>'
    return f'<nav epub:type="toc" role="doc-toc" id="toc"><h1>Contents</h1><ol>{made}</ol></li></ol></nav>'


def package(files: dict[str, str], binary: dict[str, Path], pages: list[Page]) -> str:
    """What is in the file, and in which order it is read."""
    made = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    for page in [None, *pages]:
        name = page.name if page else "front"
        text = files[f"{name}.xhtml"]
        holds = " ".join(kind for kind, tag in (("mathml", "<math"), ("svg", "<svg")) if tag in text)
        made += f'<item id="p-{name}" href="{name}.xhtml" media-type="application/xhtml+xml"'
        made += f' properties="{holds}"/>' if holds else "/>"
    for count, name in enumerate(binary):
        cover = ' properties="cover-image"' if name == "preview.png" else ""
        made += f'<item id="r{count}" href="{name}" media-type="{KINDS[Path(name).suffix]}"{cover}/>'
    spine = "".join(f'<itemref idref="p-{page.name}"/>' for page in pages)
    features = "".join(f'<meta property="schema:accessibilityFeature">{feature}</meta>' for feature in FEATURES)
    # Named after what it holds: the same pages are the same book, and others a new edition of it.
    edition = uuid.uuid5(uuid.NAMESPACE_URL, TITLE + "".join(files.values()))
    return (
        '<?xml version="1.0" encoding="utf-8"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" '
        'unique-identifier="uid" xml:lang="en" prefix="schema: http://schema.org/"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="uid">urn:uuid:{edition}</dc:identifier>'
        f"<dc:title>{TITLE}</dc:title><dc:language>en</dc:language><dc:creator>The authors of {TITLE}</dc:creator>"
        '<dc:rights>CC BY 4.0</dc:rights><meta property="dcterms:modified">'
        f"{day_of_build():%Y-%m-%dT%H:%M:%SZ}"
        '</meta><meta property="schema:accessMode">textual</meta><meta property="schema:accessMode">visual</meta>'
        f'<meta property="schema:accessModeSufficient">textual</meta>{features}'
        '<meta property="schema:accessibilityHazard">none</meta></metadata>'
        f'<manifest>{made}</manifest><spine><itemref idref="p-front"/>{spine}</spine></package>'
    )


def pack(site: Path, pages: list[Page], out: Path) -> None:
    """Write the e-book; the pages are changed for it."""
    images = set[str]()
    names = {page.name for page in pages}
    files = {f"{page.name}.xhtml": document(page.title, clean(page, names, images)) for page in pages}
    files["front.xhtml"] = document(TITLE, f'<img class="cover" src="preview.png" alt="{TITLE}"/>')
    files["nav.xhtml"] = document("Contents", contents(pages))
    binary = {Path(name).name: site / name for name in sorted(images)}
    binary |= {"preview.png": ROOT / "book/_static/preview.png", "epub.css": HERE / "epub.css"}
    binary |= {"STIXTwoMath.woff2": site / "_static" / "STIXTwoMath.woff2"}
    files["content.opf"] = package(files, binary, pages)
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        add_to(archive, "mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        add_to(archive, "META-INF/container.xml", CONTAINER)
        for name, text in files.items():
            add_to(archive, f"EPUB/{name}", text)
        for name, path in binary.items():
            add_to(archive, f"EPUB/{name}", path.read_bytes())


if __name__ == "__main__":
    pack(Path(sys.argv[1]), read_all(Path(sys.argv[1])), Path(sys.argv[2]))
    print(f"{sys.argv[2]}, {Path(sys.argv[2]).stat().st_size / 1e6:.1f} MB")
