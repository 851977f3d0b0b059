"""Set the book, and each chapter, as PDF: `python -m scripts.paper.pdf SITE FOLDER`.

The names of the files say what they are; a PDF is tagged, and Typst refuses to make one that breaks PDF/UA.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import time
from itertools import takewhile
from pathlib import Path

import pikepdf
import pypdfium2
import typst
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

from scripts.paper.site import ADDRESS, ROOT, TITLE, Page, day_of_build, read_all, text_of, write_day
from scripts.paper.typesetting import CHINESE, Typesetter, escape, quote

HERE = Path(__file__).parent
FACES = ROOT / "book" / "_static" / "fonts"
PAPERS = {"a4": "a4", "letter": "us-letter"}
#: In points: the margin at the foot of a page, and how far below its head, or a drawing there, it may still begin.
FOOT, HEAD = 73, 135
#: What a page may leave empty at its foot before a drawing goes elsewhere, and before anything else is cut.
GAPS = {True: 90, False: 115}
KEPT = re.compile(r'#(keep|loose|stay)\("(kept-\d+)"')
LINES = 45  # how far below a drawing the lines that it belongs to may be, if nothing is to come between
ROUNDS, FEW = 8, 4  # a draft that needs few changes is the last: these hardly ever lead to others


def make_fonts(folder: Path) -> None:
    """The faces of the site, and a Chinese one, as Typst reads them: neither as WOFF nor with variable weights."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in [*FACES.glob("*.woff2"), ROOT / "book" / "_math" / "STIXTwoMath.woff2", *HERE.glob("*.woff2")]:
        for weight in (400, 700):
            font = TTFont(path, recalcTimestamp=False)
            if "fvar" in font:
                font = instancer.instantiateVariableFont(font, {"wght": weight}, updateFontNames=True)
            elif weight == 700:
                continue
            font.flavor = None
            font.save(folder / f"{path.stem}-{weight}.otf")


def lay_out(folder: Path) -> None:
    """Put what every file is made with where Typst finds it."""
    make_fonts(folder / "fonts")
    for path in (HERE / "paper.typ", ROOT / "book" / "_static" / "logo.svg"):
        shutil.copy(path, folder)


def check_characters(pages: list[Page]) -> None:
    """Stop at a Chinese character that no face has: Typst would leave a gap where it stands."""
    (face,) = HERE.glob("*.woff2")
    known = TTFont(face).getBestCmap()
    for page in pages:
        if missing := {
            sign for word in CHINESE.findall(text_of(page.article)) for sign in word if ord(sign) not in known
        }:
            raise SystemExit(
                f"{face.name} lacks {''.join(sorted(missing))}, on the page {page.name}: see FONT.txt there"
            )


def answers(typesetter: Typesetter) -> str:
    """Answers to the checks and solutions of the exercises, chapter by chapter."""
    made = "".join(
        f"#heading(level: 3)[{escape(typesetter.pages[name].title)}];\n\n{''.join(parts)}"
        for name, parts in typesetter.answers.items()
    )
    return f"#pagebreak(weak: true)\n#heading(level: 2)[Answers and solutions];\n\n{made}" if made else ""


def index(typesetter: Typesetter, glossary: Page) -> str:
    """The terms by their names in English, then in Chinese, with the pages that define them and use them."""
    english, chinese = {}, {}
    for entry, told in zip(glossary.article.iter("dt"), glossary.article.iter("dd")):
        label = f"glossary--{entry.get('id')}"
        defined = typesetter.defined.get(text_of(entry).lower().removesuffix("s"), [])
        places = f"({''.join(f'{quote(name)}, ' for name in defined)}), " + ", ".join(
            map(quote, [*defined, *typesetter.uses.get(label, []), label])
        )
        english[text_of(entry)] = places
        for word in CHINESE.findall(text_of(told)):
            chinese[word] = places
    # In the national standard the common characters stand in the order of their sounds.
    parts = {
        "Terms": (3, sorted(english.items(), key=lambda term: term[0].lower())),
        "Chinese terms": (4, sorted(chinese.items(), key=lambda term: term[0].encode("gb18030"))),
    }
    made = "#pagebreak(weak: true)\n#heading(level: 2)[Index];\n\n"
    for title, (columns, terms) in parts.items():
        rows = "".join(f"#entry([{escape(term)}], {places});\n" for term, places in terms)
        made += f"#heading(level: 3)[{title}];\n#text(.9em, columns({columns}, gutter: 1.5em)[{rows}]);\n\n"
    return made


def whole_book(site: Path, folder: Path, pages: list[Page]) -> list[str]:
    """The parts of the book, each for a file of its own: then Typst need not read all of them again if one changes."""
    typesetter = Typesetter(site, folder, pages)
    made, part = [f"{front()}#contents(3)\n"], ""
    for page in pages:
        head = "" if page.part == part else f"#heading(level: 1)[{page.part}];\n"
        made.append(f"#pagebreak(weak: true)\n{head}{typesetter.chapter(page)}")
        part = page.part
    glossary = next(page for page in pages if page.name == "glossary")
    return [*made, answers(typesetter), index(typesetter, glossary)]


def front() -> str:
    """The title page: when the book was built, under which licence it stands, and where it can be read."""
    link = f"#link({quote(ADDRESS)})" if ADDRESS else ""
    return f'#title-page(title, "{write_day(day_of_build())}", [{link}])\n'


def one_chapter(site: Path, folder: Path, page: Page) -> list[str]:
    typesetter = Typesetter(site, folder, [page])
    return [f"#heading(level: 1)[{TITLE}];\n{typesetter.chapter(page)}", answers(typesetter)]


class Gaps(dict[int, float]):
    """How many points a page, by its number, leaves empty at its foot."""

    def __init__(self, made: bytes) -> None:
        self.sheets = pypdfium2.PdfDocument(made)

    def __missing__(self, page: int) -> float:
        below = (thing.get_bounds()[1] for thing in self.sheets[page - 1].get_objects(max_depth=1))
        self[page] = min((height for height in below if height > FOOT - 8), default=FOOT) - FOOT
        return self[page]


def loosened(compiler: typst.Compiler) -> dict[str, str]:
    """What was to be kept on one page and is now to be placed otherwise, by its name: see `paper.typ`.

    What begins a page, and leaves the page before it too empty, may be cut, or if it is a drawing take another place.
    A drawing that has thereby moved above the lines that it belongs to stays below them.
    """
    # In this order, because only `compile` reads files again that have changed.
    kept, anchors, drawn = (
        json.loads(compiler.query(f"<{name}>", field="value")) for name in ("kept", "anchor", "drawn")
    )
    made = compiler.compile(pdf_tags=False)
    assert isinstance(made, bytes)  # pages of other formats are a list
    left, seen = Gaps(made), 0
    ends = {page: end for _, page, end in drawn}
    found: dict[str, str] = {}
    for name, page, height, floats in kept:
        head = ends[page] if ends.get(page, height) < height else FOOT
        first = page > max(seen, 1) and height < head + HEAD
        if first and left[page - 1] > GAPS[floats]:
            found[name] = "loose"
        seen = page
    for (name, page, height), (_, page_drawn, end) in zip(anchors, drawn, strict=True):
        if page == page_drawn and height > end + LINES:
            found[name] = "stay"
    return found


def name_rows(made: pikepdf.Pdf) -> None:
    """Tag what names a row of a table as its header: Typst can, by a function that its Python package lacks."""
    names = pikepdf.NameTree(made.Root.StructTreeRoot.IDTree) if "/IDTree" in made.Root.StructTreeRoot else {}
    rows = [thing for thing in made.objects if isinstance(thing, pikepdf.Dictionary) and thing.get("/S") == "/TR"]
    for number, row in enumerate(row for row in rows if row.P.S == "/TBody"):
        heads = list(takewhile(is_name, row.K))
        for place, cell in enumerate(heads):
            cell.S, cell.ID = pikepdf.Name.TH, pikepdf.String(f"row{number}-{place}")
            names[str(cell.ID)] = made.make_indirect(cell)
            cell.A[0].Scope = pikepdf.Name.Row
        for cell in list(row.K)[len(heads) :]:
            cell.A[0].Headers.extend(head.ID for head in heads)


def is_name(cell: pikepdf.Object) -> bool:
    """Whether a cell holds nothing but bold words, as the headers of rows do."""
    return (
        cell.S == "/TD" and len(cell.K) == 1 and isinstance(cell.K[0], pikepdf.Dictionary) and cell.K[0].S == "/Strong"
    )


def pack(made: bytes, path: Path) -> None:
    """Write a PDF with its objects compressed, which halves it."""
    with pikepdf.open(io.BytesIO(made)) as opened:
        name_rows(opened)
        opened.save(
            path,
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
            recompress_flate=True,
            deterministic_id=True,
        )


def set_in_type(folder: Path, name: str, title: str, parts: list[str], papers: dict[str, str]) -> None:
    """Set drafts until nothing that is kept whole leaves too large a gap on a page, and then the final file."""
    source, files = folder / f"{name}.typ", [folder / f"{name}-{number}.typ" for number in range(len(parts))]
    includes = "".join(f'#include "{file.name}"\n' for file in files)
    head = f'#import "paper.typ": *\n#let title = {quote(title)}\n'
    source.write_text(f"{head}#show: book.with(title)\n{includes}", encoding="utf-8")
    texts = [head + part for part in parts]
    for paper, size in papers.items():
        start = time.time()
        path = folder.parent / f"{'decision-trees' if name == 'book' else name}-{paper}.pdf"
        how: dict[str, str] = {}
        write_changed(files, texts, how)
        # Drafts come first, and then the book itself, whose page numbers move some lines.
        for inputs in ({"paper": size, "draft": "yes"}, {"paper": size}):
            forget(11)
            compiler = typst.Compiler(
                source, font_paths=[folder / "fonts"], ignore_system_fonts=True, sys_inputs=inputs
            )
            for _ in range(ROUNDS):
                found = loosened(compiler)
                new = found.items() - how.items()
                how |= found
                write_changed(files, texts, how)
                if len(new) < FEW:
                    break
                forget(9)
        made = compiler.compile(pdf_standards=["ua-1"])
        assert isinstance(made, bytes)
        pack(made, path)
        print(f"{path} {path.stat().st_size / 1e6:.1f} MB in {time.time() - start:.0f} s")


def forget(compilations: int) -> None:
    """Make Typst drop what it has laid out and not used since: it keeps all that, gigabytes, for ten compilations."""
    for _ in range(compilations):
        typst.compile(b" ", ignore_system_fonts=True)


def write_changed(files: list[Path], texts: list[str], how: dict[str, str]) -> None:
    """Write the parts with what is known about placing their pieces; leave a file alone if nothing in it is new."""
    for file, text in zip(files, texts, strict=True):
        text = KEPT.sub(lambda kept: f'#{how.get(kept[2], kept[1])}("{kept[2]}"', text)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pages", nargs="*", help="these chapters, or `book`, alone")
    parser.add_argument("--paper", nargs="*", default=list(PAPERS), choices=list(PAPERS))
    options = parser.parse_args()
    folder = options.out / "typst"
    lay_out(folder)
    pages, papers = read_all(options.site), {paper: PAPERS[paper] for paper in options.paper}
    check_characters(pages)
    for page in pages:
        if page.name in (options.pages or [page.name for page in pages if page.part != "Appendices"]):
            title = re.sub(r"^[\d.]+ ", "", page.title)
            set_in_type(folder, page.name, title, one_chapter(options.site, folder, page), papers)
    if "book" in (options.pages or ["book"]):
        set_in_type(folder, "book", TITLE, whole_book(options.site, folder, pages), papers)


if __name__ == "__main__":
    main()
