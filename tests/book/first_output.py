"""What comes between a press on *Run* and the first output, in bytes and in seconds: `make first-output` prints it.

The site is served as a public host would serve it, text and WebAssembly compressed by gzip, to a reader who comes for
the first time. One cell needs the standard library alone, one NumPy and treekit: where Pyodide's public address cannot
be reached its line says so, and has no time; with CI=true that is a failure. Then three public tables are dropped on
the page that grows a tree of them, each on a page anew, until its rules are there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sklearn import datasets

from tests.book.sites import outside
from tests.book.weight import DESK, compressed, server
from tests.conftest import launched

#: A page, and words in the code of a cell there.
CELLS = {
    "the standard library": ("entropy", "things can be told apart"),
    "NumPy and treekit": ("id3", "load_watermelon"),
}
TABLES = ["iris", "wine", "breast_cancer"]
WAIT = 300_000  # milliseconds
#: Drops a file on the page for a table of one's own.
DROP = """([text, name]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], name, { type: "text/csv" }));
  const place = document.querySelector("[data-part=drop]");
  for (const kind of ["dragover", "drop"]) {
    place.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true }));
  }
}"""
# Tells whether a cell has its output, or says why it has none.
IS_THERE = """(cell) => cell.querySelector(".live-output .output")
  || /could not|Failed/.test(cell.querySelector("[role=status]").textContent)"""


def first_output(tab, words):
    """Seconds from the press to the first output of the first cell with these words; in words where there is none."""
    cell = tab.locator("div.cell:has(.live-bar)").filter(has_text=words).first
    cell.evaluate("(cell) => { for (const fold of document.querySelectorAll('details')) fold.open = true; }")
    began = tab.evaluate("performance.now()")
    cell.get_by_role("button", name="Run").first.click()
    tab.wait_for_function(IS_THERE, arg=cell.element_handle(), timeout=WAIT)
    seconds = (tab.evaluate("performance.now()") - began) / 1000
    has_output = cell.locator(".live-output .output").count()
    return f"{seconds:6.1f} s" if has_output else cell.get_by_role("status").text_content()


def tree_of(tab, name):
    """Seconds from the drop of a public table to the rules of its tree, and how right it is."""
    text = getattr(datasets, f"load_{name}")(as_frame=True).frame.to_csv(index=False)
    began = tab.evaluate("performance.now()")
    tab.evaluate(DROP, [text, f"{name}.csv"])
    tab.wait_for_selector("[data-part=rules]:has-text('then')", timeout=WAIT)
    seconds = (tab.evaluate("performance.now()") - began) / 1000
    return f"{seconds:6.1f} s  {tab.locator('[data-part=headline]').text_content()}"


def main():
    """Print a line for each cell, and for each table."""
    for path in Path(sys.argv[1]).glob("_static/pyodide/*"):
        compressed(path)  # once: a host has done so before anybody comes
    with launched() as browser, server(Path(sys.argv[1])) as served:
        for name, (page, words) in CELLS.items():
            with browser.new_context(viewport=DESK) as context:
                tab, elsewhere = context.new_page(), []
                tab.goto(f"{served.address}/book/{page}.html", wait_until="networkidle")
                served.sizes.clear()
                tab.on("response", lambda got, all=elsewhere: outside(got.url, served.address) and all.append(got))
                told = first_output(tab, words)
                sent = sum(served.sizes.values()) + sum(int(got.headers.get("content-length", 0)) for got in elsewhere)
                print(f"{name:24}{sent / 1e6:6.2f} MB  {told}")
                if os.environ.get("CI") and not told.endswith(" s"):
                    sys.exit("a cell has no output")
        for name in TABLES:
            with browser.new_context(viewport=DESK) as context:
                tab = context.new_page()
                tab.goto(f"{served.address}/book/your_table.html", wait_until="networkidle")
                print(f"{name:33} {tree_of(tab, name)}")


if __name__ == "__main__":
    main()
