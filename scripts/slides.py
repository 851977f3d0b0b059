"""Write the slides of one chapter from its built page: one section is one slide, and they need no network.

    python -m scripts.slides id3 _build/html        into _build/html/book/id3-slides.html

The second layer (folds, notes in the margin, checks, exercises) is left out, and the figures rest in their first
state. Where a slide has a figure, table, formula, box or code, its paragraphs wait for the key T.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bs4 import BeautifulSoup, Tag

# Sections are numbered on the site; slides have no use for the numbers.
SECOND_LAYER = "details, aside, script, .check, .checks-on-paper, .section-number, a.headerlink, button"
NO_SLIDES = {"Can you now …?", "Exercises", "Further reading"}

STYLE = """
html { scroll-snap-type: y proximity; scroll-padding: 0; font-size: 22px; }
article.bd-article { display: block; padding: 0; max-width: none; }
.slide { min-height: 100vh; box-sizing: border-box; padding: 2rem max(1.5rem, calc(50vw - 27rem));
  overflow-wrap: anywhere; scroll-snap-align: start; break-after: page; border-bottom: 1px solid #ccc; }
.slide h1, .slide h2 { margin-top: 0; }
.slide img, .slide svg { max-width: 100%; max-height: 75vh; }
.slide .cell, .slide .math, .slide table { max-width: 100%; overflow-x: auto; }
body:not(.text) .spoken { display: none; }
"""

# A presenter's remote sends these keys, too. A slide longer than the screen scrolls before the next one comes.
KEYS = """
const slides = [...document.querySelectorAll(".slide")];
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "t" || event.key === "T") document.body.classList.toggle("text");
  const step = {ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1}[event.key];
  if (!step) return;
  event.preventDefault();
  const now = slides.findLastIndex(slide => slide.getBoundingClientRect().top < 9);
  const rest = slides[now].getBoundingClientRect().bottom - innerHeight;
  if (step > 0 && rest > 9) scrollBy(0, Math.min(rest, innerHeight * 0.8));
  else slides[Math.max(0, Math.min(slides.length - 1, now + step))].scrollIntoView();
});
"""


def slides(page: str) -> str:
    """The slides of a page of the site, as a page that lies in the same folder."""
    soup = BeautifulSoup(page, "html.parser")
    article = soup.select_one("article section")
    if article is None:
        raise ValueError("This page has no section.")
    for part in article.select(SECOND_LAYER):
        part.decompose()
    opening = soup.new_tag("section")
    sections = article.find_all("section", recursive=False)
    opening.extend([part.extract() for part in list(article.children) if part not in sections])
    shown = [opening, *(section for section in sections if title(section) not in NO_SLIDES)]
    for section in shown:
        section["class"] = "slide"
        hold_back_text(section)
    sheets = "\n".join(str(link) for link in soup.find_all("link", rel="stylesheet"))
    name = title(opening)
    body = "\n".join(map(str, shown))
    return (
        f'<!DOCTYPE html>\n<html lang="en" data-theme="light" data-mode="light">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{name}: slides</title>\n'
        f"{sheets}\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<article class="bd-article bd-content">\n{body}\n</article>\n'
        f"<script>{KEYS}</script>\n</body>\n</html>\n"
    )


def title(section: Tag) -> str:
    """The heading of a section."""
    heading = section.find(["h1", "h2"], recursive=False)
    return "" if heading is None else heading.get_text(" ", strip=True)


def hold_back_text(section: Tag) -> None:
    """Mark the paragraphs that the lecturer says: those of a slide that shows something else, too."""
    parts = section.find_all(True, recursive=False)
    if any(part.name not in ("h1", "h2", "p", "span") for part in parts):
        for part in parts:
            if part.name == "p":
                part["class"] = "spoken"


def main() -> int:
    if len(sys.argv) != 3:
        print("Say which chapter: make slides CHAPTER=id3", file=sys.stderr)
        return 1
    folder = Path(sys.argv[2]) / "book"
    page = folder / f"{sys.argv[1]}.html"
    if not page.exists():
        print(f"CHAPTER={sys.argv[1]}: there is no {page}. Build the site first, by `make book`.", file=sys.stderr)
        return 1
    place = folder / f"{sys.argv[1]}-slides.html"
    place.write_text(slides(page.read_text(encoding="utf-8")), encoding="utf-8")
    print(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
