"""Run the chapters again and store what they print.

    python scripts/execute.py                every notebook of book/
    python scripts/execute.py entropy id3    these two
    python scripts/execute.py --check        run nothing; only check that each is stored in the book's form

Each notebook runs in a kernel of this Python, in its own folder. What is stored depends only on the code: no times,
no version of Python, cells counted from 1. So a second run changes nothing, and a diff shows what did change.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "book"
SECONDS_PER_CELL = 60

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python"}
KEPT_IN_CELLS = {"tags", "mystnb"}


def notebooks(folder: Path = BOOK) -> list[Path]:
    """Every notebook under a folder, without checkpoints and builds, and without the graded exercises."""
    found = folder.rglob("*.ipynb")
    kept = (path for path in found if "exercises" not in path.relative_to(folder).parts)
    return sorted(path for path in kept if not any(part[0] in "._" for part in path.relative_to(folder).parts))


def reproducible_environment() -> dict[str, str]:
    """The environment variables under which a chapter prints the same on every machine.

    A reader's own matplotlibrc or IPython profile would change the figures; threads would change the order of sums.
    """
    matplotlib = importlib.util.find_spec("matplotlib")
    assert matplotlib is not None and matplotlib.origin is not None, "matplotlib is not installed: run `make book`"
    profile = ROOT / "_build" / "ipython"
    profile.mkdir(parents=True, exist_ok=True)
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return one_thread | {
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MATPLOTLIBRC": str(Path(matplotlib.origin).parent / "mpl-data" / "matplotlibrc"),
        "IPYTHONDIR": str(profile),
        "PYTHONHASHSEED": "0",
        # On a busy machine Dask would warn that its workers take more than four seconds to end.
        "DASK_LOGGING__DISTRIBUTED": "error",
    }


def merge_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join neighbouring pieces of one stream, because it is chance where the kernel cuts its text."""
    merged: list[NotebookNode] = []
    for output in outputs:
        last = merged[-1] if merged else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Put a notebook in place into the form in which the book stores it, and return it."""
    own = {key: value for key, value in notebook.metadata.items() if key == "mystnb"}
    notebook.metadata = NotebookNode(own | {"kernelspec": KERNEL, "language_info": LANGUAGE})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    count = 0
    for cell in notebook.cells:
        cell.metadata = NotebookNode({key: value for key, value in cell.metadata.items() if key in KEPT_IN_CELLS})
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        cell.outputs = merge_streams(cell.outputs)
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = count
    return notebook


def stored_form(notebook: NotebookNode) -> str:
    """The text of the file."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def run(notebook: NotebookNode, folder: Path, env: dict[str, str] | None = None) -> None:
    """Run all cells in a fresh kernel of this Python, with a folder as working directory."""
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, kernel_name="python3", resources=resources, timeout=SECONDS_PER_CELL)
    # The kernel's standard error is its own log, not what the cells print.
    client.execute(env=env or dict(os.environ), stderr=subprocess.DEVNULL)


def execute(path: Path) -> str:
    """Run one notebook and store it; say what became of it."""
    notebook = nbformat.read(path, as_version=4)
    try:
        run(notebook, path.parent)
    except CellExecutionError as error:
        return f"FAILED, not stored\n{error}"
    before, after = path.read_text(encoding="utf-8"), stored_form(normalise(notebook))
    path.write_text(after, encoding="utf-8")
    return "unchanged" if after == before else "changed"


def check(paths: list[Path]) -> int:
    """Name the notebooks that another program has stored in a form of its own; return the exit status."""
    stored = {path: path.read_text(encoding="utf-8") for path in paths}
    strange = [
        str(path.relative_to(ROOT))
        for path, text in stored.items()
        if text != stored_form(normalise(nbformat.reads(text, as_version=4)))
    ]
    if strange:
        print(f"Not in the form in which the book stores notebooks: {', '.join(strange)}. Run `make execute`.")
    return 1 if strange else 0


def chosen(names: list[str]) -> list[Path]:
    """The notebooks with these names, in the order of the files; all when no name is given."""
    everything = notebooks()
    wanted = {Path(name).stem for name in names}
    unknown = wanted - {path.stem for path in everything}
    if unknown:
        known = ", ".join(path.stem for path in everything)
        sys.exit(f"no chapter named {', '.join(sorted(unknown))}; there are: {known}")
    return [path for path in everything if not wanted or path.stem in wanted]


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the chapters again and store what they print.")
    parser.add_argument("names", nargs="*", help="names of chapters, such as entropy; all when left out")
    parser.add_argument("--check", action="store_true", help="run nothing; only check that they are in the book's form")
    arguments = parser.parse_args()
    paths = chosen(arguments.names)
    if arguments.check:
        return check(paths)
    os.environ.update(reproducible_environment())
    results = []
    for number, path in enumerate(paths, start=1):
        print(f"[{number}/{len(paths)}] {path.relative_to(ROOT)} ... ", end="", flush=True)
        start = time.monotonic()
        results.append(execute(path))
        print(f"{results[-1]} ({time.monotonic() - start:.1f} s)", flush=True)
    return int(any(result.startswith("FAILED") for result in results))


if __name__ == "__main__":
    sys.exit(main())
