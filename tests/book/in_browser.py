"""Run the chapters of a built site in a real browser, by the Python of its own pages, and compare: `make browser`.

    make browser                        every chapter
    make browser CHAPTERS="entropy id3" these two

Each cell runs as *Run* on its page runs it, in the same worker and with the packages that Pyodide has, from where a
reader's browser gets them. A cell that prints something else than its page shows is a fault, and so is one whose
packages could not be loaded: where Pyodide's public address cannot be reached, every chapter with NumPy fails.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from scripts.execute import BOOK
from scripts.replay import compare, numbered, report
from scripts.wasm import chapters
from tests.book.sites import served
from tests.conftest import launched

#: Packages that Pyodide does not have.
ABSENT = {"dask", "distributed"}
#: For each chapter the ids of its cells that print something else in the browser, and why; as in scripts/wasm.py.
KNOWN = {}
SECONDS = 900  # that a cell may take

START = """async (address) => {
  window.python = (await import(address)).createPython();
  await python.load("");  // so that the first cell's seconds are its own
}"""
RUN = """async ([source, number, seconds]) => {
  let shown = "";
  const write = (kind, text) => { if (kind !== "svg" && kind !== "err") shown += text; };
  const late = setTimeout(() => python.stop(), 1000 * seconds);
  const done = await python.run(source, { name: `cell ${number}`, mode: number > 1 ? "" : "fresh", write });
  clearTimeout(late);
  return [shown, done ?? { error: `It had not ended after ${seconds} s.` }];
}"""


def replayed(context, address, notebook):
    """What became of the cells of a notebook, as `compare` tells it, by the Python of the site at an address."""
    tab = context.new_page()
    try:
        tab.goto(f"{address}/_static/live/place.js")  # any address of the site will do
        tab.evaluate(START, f"{address}/_static/live/python.js")
        return compare(notebook, lambda source, number: tab.evaluate(RUN, [source, number, SECONDS]), ABSENT)
    finally:
        tab.close()


def main(site, *wanted):
    faults = 0
    with launched() as browser, served(Path(site)) as address:
        context = browser.new_context()
        context.set_default_timeout(0)
        for chapter in wanted or chapters():
            start = time.monotonic()
            notebook = json.loads((BOOK / f"{chapter}.ipynb").read_text(encoding="utf-8"))
            differs, skipped = replayed(context, address, notebook)
            known = numbered(notebook, KNOWN.get(chapter, {}))
            faults += report(chapter, differs, skipped, known, time.monotonic() - start)
    if faults:
        sys.exit(f"{faults} differences are not as KNOWN says.")


if __name__ == "__main__":
    main(*sys.argv[1:])
