"""Build one page of the book, to see its broken references, formulas and directives: `make page CHAPTER=id3` does it.

The first time the whole book is built into _build/page, in half a minute; from then on what has changed is read, and
this page alone written. `make book` checks the site as a whole.
"""

from __future__ import annotations

import sys
from pathlib import Path

from jupyter_book.sphinx import build_sphinx

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "_build" / "page"


def build(page: Path) -> int:
    """Read what has changed, and this page in any case; write this page; say what is wrong with it."""
    doctrees = OUT / ".doctrees"
    (doctrees / page.relative_to(ROOT)).with_suffix(".doctree").unlink(missing_ok=True)
    chosen = [page] if (OUT / "searchindex.js").exists() else []  # one page cannot begin an index
    return build_sphinx(
        ROOT, OUT, noconfig=True, path_config=ROOT / "_config.yml", doctreedir=doctrees, filenames=chosen,
        confoverrides={"nitpicky": True, "latex_individualpages": False}, warningiserror=True, keep_going=True,
        quiet=True,
    )  # fmt: skip


def main() -> int:
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    found = [path for path in (ROOT / "book").glob(f"{name}.*") if path.suffix in (".ipynb", ".md")]
    if not found:
        print(f"CHAPTER={name}: name a page of book/, such as id3 or notation.", file=sys.stderr)
        return 1
    failed = build(found[0])
    print(f"{'Faulty' if failed else 'Whole'}: {OUT / found[0].relative_to(ROOT).with_suffix('.html')}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
