"""A page of figures in a browser, and what axe says of it."""

import shutil
from pathlib import Path

EXPLORABLES = Path(__file__).resolve().parents[2] / "book" / "explorables"
HEAD = """<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Figures</title>
<link rel="stylesheet" href="explorable.css"><script defer src="explorable.js"></script>
<style>[data-theme=dark] {color-scheme: dark; background: #121212; color: #ced6dd}</style>"""
#: The words that leave their picture.
OUTSIDE = """[...document.querySelectorAll("svg text")].filter(text => {
    const box = text.getBoundingClientRect(), view = text.ownerSVGElement.getBoundingClientRect();
    const isWide = box.left < view.left - 1 || box.right > view.right + 1;
    return isWide || box.top < view.top || box.bottom > view.bottom + 1;
}).map(text => text.textContent)"""
#: The rules of which width and theme can change the outcome. All else is the same for the same elements.
OF_LOOKS = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]


def write_page(folder, figures):
    """Write a page with figures, as they print themselves, beside the script; return its address."""
    for name in ("explorable.js", "explorable.css"):
        shutil.copy(EXPLORABLES / name, folder)
    document = f'<!doctype html><html lang="en"><head>{HEAD}</head><body><main>{"".join(figures)}</main></body></html>'
    (folder / "index.html").write_text(document, "utf-8")
    return (folder / "index.html").as_uri()


def turn(page, theme):
    """Make a page of figures light or dark, as the theme of the book does."""
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)


def violations(page, rules=None):
    """Each rule, or each of some, that something on a page violates, however slightly, with the elements that do.

    Without preload axe does not fetch the style sheet again, which a page opened as a file may not do. Of what is right
    it keeps no list, and of no element the path to it: that would take half as long again.
    """
    from axe_playwright_python.sync_playwright import Axe  # only here: most tests need no browser

    options = {"preload": False, "resultTypes": ["violations"], "selectors": False}
    some = {"runOnly": rules} if rules else {}
    found = Axe().run(page, context="main", options=options | some).response["violations"]
    return [(violation["id"], [node["html"] for node in violation["nodes"]]) for violation in found]
