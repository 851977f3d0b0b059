"""Put the files beside the pages of the built site, and offer them there: `python -m scripts.paper.offer SITE FOLDER`.

They are made from the site, so it can link to them only afterwards. A site that is built alone offers none.
"""

from __future__ import annotations

import re
import shutil
import sys
from html import escape
from pathlib import Path

from scripts.paper.pdf import PAPERS
from scripts.paper.site import contents, day_of_build, write_day

PLACE = re.compile(r'(<section id="on-paper-and-in-a-file">.*?)(</section>)', re.DOTALL)
SHOWN = {"a4": "A4", "letter": "letter"}


def link(path: Path, shown: str) -> str:
    """A link from a page to a file, with its size."""
    return f'<a href="../files/{path.name}" download>{escape(shown)}</a> ({max(path.stat().st_size / 1e6, 0.1):.1f} MB)'


def papers(folder: Path, name: str) -> list[str]:
    paths = {paper: folder / f"{name}-{paper}.pdf" for paper in PAPERS}
    return [link(path, f"PDF, {SHOWN[paper]}") for paper, path in paths.items() if path.exists()]


def title(site: Path, name: str) -> str:
    """The title of a page, as the site writes it."""
    return re.findall(r"<title>(.*?)(?: &#8212;| —).*?</title>", (site / "book" / f"{name}.html").read_text("utf-8"))[0]


def offer(site: Path, folder: Path, names: list[str]) -> None:
    """Copy the files of the folder, and list them with their sizes and the day on the page about the book."""
    (site / "files").mkdir(exist_ok=True)
    for path in folder.glob("*.*"):
        shutil.copy(path, site / "files")
    whole = [
        ("The book", papers(folder, "decision-trees")),
        ("E-book", [link(path, "EPUB") for path in folder.glob("*.epub")]),
        ("This site, to unpack", [link(path, "zip") for path in folder.glob("*.zip")]),
        *((title(site, name), papers(folder, name)) for name in names),
    ]
    rows = "".join(f"<li>{name}: {', '.join(files)}</li>" for name, files in whole if files)
    page = site / "book" / "about.html"
    text = page.read_text(encoding="utf-8")
    made = f'<p>Made on {write_day(day_of_build())}:</p><ul class="simple" id="files">{rows}</ul>'
    changed, found = PLACE.subn(lambda at: at[1] + made + at[2], text)
    if found != 1:
        raise SystemExit(f"{page} has no section on-paper-and-in-a-file, where the files are listed")
    page.write_text(changed, encoding="utf-8")


if __name__ == "__main__":
    offer(Path(sys.argv[1]), Path(sys.argv[2]), [name for _, _, name in contents()])
