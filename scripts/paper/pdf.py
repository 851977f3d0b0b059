"""Set the book, and each chapter, as PDF: `python -m scripts.paper.pdf SITE FOLDER`.

The files say what they are in their names; a PDF is tagged, and Typst refuses to make one that PDF/UA would not take.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import time
from pathlib import Path

import pypdfium2
import typst
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

from scripts.paper.site import ADDRESS, ROOT, TITLE, Page, day_of_build, read_all, text_of, write_day
from scripts.paper.typesetting import CHINESE, Typesetter, escape, quote

HERE = Path(__file__).parent
FACES = ROOT / "book" / "_static" / "fonts"
PAPERS = {"a4": "a4", "letter": "us-letter"}
#: In points: the margin at the foot of a page, what it may leave empty above that, and the room below its first lines.
FOOT, GAP, TOP = 73, 90, 560
ROUNDS = 2


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
    """Put what every book is made of where Typst finds it."""
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


def whole_book(site: Path, folder: Path, pages: list[Page]) -> str:
    typesetter = Typesetter(site, folder, pages)
    made, part = f"{front()}#contents(3)\n", ""
    for page in pages:
        made += "#pagebreak(weak: true)\n"
        if page.part != part:
            part = page.part
            made += f"#heading(level: 1)[{part}];\n"
        made += typesetter.chapter(page)
    glossary = next(page for page in pages if page.name == "glossary")
    return made + answers(typesetter) + index(typesetter, glossary)


def front() -> str:
    """The title page: when the book was built, under which licence it stands, and where it can be read."""
    link = f"#link({quote(ADDRESS)})" if ADDRESS else ""
    return f'#title-page(title, "{write_day(day_of_build())}", [{link}])\n'


def one_chapter(site: Path, folder: Path, page: Page) -> str:
    typesetter = Typesetter(site, folder, [page])
    return f"#heading(level: 1)[{TITLE}];\n{typesetter.chapter(page)}{answers(typesetter)}"


def gaps(made: bytes) -> list[float]:
    """How many points each page leaves empty at its foot."""
    left = []
    for page in pypdfium2.PdfDocument(made):
        below = (thing.get_bounds()[1] for thing in page.get_objects(max_depth=1))
        left.append(min((height for height in below if height > FOOT - 8), default=FOOT) - FOOT)
    return left


def loosened(compiler: typst.Compiler) -> set[str]:
    """What begins a page, because it shall not be cut, and leaves the page before it too empty: by its name."""
    made = compiler.compile(pdf_tags=False)
    assert isinstance(made, bytes)  # pages of other formats are a list
    left = gaps(made)
    first: dict[int, tuple[str, float]] = {}
    for name, page, room in json.loads(compiler.query("<kept>", field="value")):
        first.setdefault(page, (name, room))
    return {name for page, (name, room) in first.items() if page > 1 and left[page - 2] > GAP and room > TOP}


def set_in_type(folder: Path, name: str, title: str, body: str, papers: dict[str, str]) -> None:
    """Set it a few times: whatever leaves too large a gap, where it shall not be cut, is let go the next time."""
    source = folder / f"{name}.typ"
    head = f'#import "paper.typ": *\n#let title = {quote(title)}\n#show: book.with(title)\n'
    for paper, size in papers.items():
        start = time.time()
        path = folder.parent / f"{'decision-trees' if name == 'book' else name}-{paper}.pdf"
        text = head + body
        source.write_text(text, encoding="utf-8")
        compiler = typst.Compiler(
            source, font_paths=[folder / "fonts"], ignore_system_fonts=True, sys_inputs={"paper": size}
        )
        for _ in range(ROUNDS):
            for kept in loosened(compiler):
                text = text.replace(f'#keep("{kept}"', f'#loose("{kept}"')
            source.write_text(text, encoding="utf-8")
        compiler.compile(output=path, pdf_standards=["ua-1"])
        print(f"{path} {path.stat().st_size / 1e6:.1f} MB in {time.time() - start:.0f} s")


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
