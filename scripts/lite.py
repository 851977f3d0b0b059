"""Build JupyterLite for the site: Jupyter in the reader's browser, with every chapter and the students' exercises.

    make lite        builds the site with a button on each chapter, and JupyterLite below it

The programs that build it have an environment and a lock of their own, in `_build/lite`. What its notebooks start
with, IPython before all, comes from the site itself, as Python does; what is as large as NumPy comes from where the
page's cells get it too (`BOOK_PYODIDE`). Treekit and the figures are there without an installation: `lite/startup.py`
loads what they need when a cell imports them.

    python -m scripts.lite SITE      builds it into the folder `lite` of a built site
    python -m scripts.lite --names   names what its notebooks start with, in the versions of Pyodide's lock
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LITE = ROOT / "lite"
MADE = ROOT / "_build" / "lite"
BOOK = "treekit-book"
BIN = Path(sys.executable).parent
sys.path.append(str(ROOT / "book" / "_ext"))

import nbformat  # noqa: E402
from launch_buttons import NOT_IN_LITE  # noqa: E402

import live  # noqa: E402
import treekit  # noqa: E402
from scripts.exercises import write_student_edition  # noqa: E402
from scripts.lite_prose import Prose, Site  # noqa: E402

#: What a notebook's Python loads at its start: of Pyodide's packages, of the kernel's own, and of the book's.
START = ["micropip", "jedi", "ipython", "matplotlib-inline", "comm", "piplite", "ipykernel", "pyodide-kernel", BOOK]
#: Pyodide's lock knows no `comm`.
COMM = "comm==0.2.3"
APPS = ["notebooks", "tree"]
PIPLITE = "extensions/@jupyterlite/pyodide-kernel-extension/static/pypi"
SETTINGS = "@jupyterlite/pyodide-kernel-extension:kernel"


def pyodide() -> tuple[Path, dict[str, Any]]:
    """The folder of Pyodide's core, and its lock."""
    folder = live.prepared() / "node_modules" / "pyodide"
    return folder, json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))


def names() -> list[str]:
    """What `kernel.txt` locks."""
    _, lock = pyodide()
    found = live.with_dependencies(set(START) & lock["packages"].keys(), lock)
    return sorted([f"{name}=={lock['packages'][name]['version']}" for name in found] + [COMM])


# -- what is fetched --------------------------------------------------------------------------------------------------


def run(*command: str | Path, folder: Path = ROOT) -> None:
    """Run a program; if it fails, the error holds what it printed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")


def install() -> Path:
    """The folder that holds the environment, the wheels and the standard library; made again when its sources
    change."""
    locks, ready = [LITE / "requirements.txt", LITE / "kernel.txt"], live.prepared()
    version = hashlib.sha256(b"".join(path.read_bytes() for path in locks) + ready.name.encode()).hexdigest()[:12]
    folder = MADE / version
    if not (folder / "ready").exists():
        print("Fetching JupyterLite (some 60 MB)")
        uv, env, wheels = BIN / "uv", folder / "env", folder / "wheels"
        run(uv, "venv", "--system-certs", "--clear", "--python", sys.executable, env)
        run(uv, "pip", "sync", "--system-certs", "--python", env / "bin" / "python", "--require-hashes", locks[0])
        shutil.rmtree(wheels, ignore_errors=True)
        options = ("--no-deps", "--only-binary=:all:", "--python-version=3.14", "--require-hashes", "--quiet")
        run(sys.executable, "-m", "pip", "download", *options, f"--dest={wheels}", "-r", locks[1])
        run(BIN / "node", live.SOURCES / "compile.mjs", folder / "stdlib.zip", wheels, folder=ready)
        (folder / "ready").touch()
    return folder


# -- what is written --------------------------------------------------------------------------------------------------


def chapters() -> dict[str, Path]:
    """The notebooks of the book that JupyterLite has."""
    return {path.stem: path for path in sorted((ROOT / "book").glob("*.ipynb")) if path.stem not in NOT_IN_LITE}


def write_contents(folder: Path, pages: Path) -> None:
    """Write the notebooks: chapters and errata as the book has them, the graded exercises as students get them."""
    site, names = Site(pages, ROOT / "book"), set(chapters())
    for name, path in chapters().items():
        write_notebook(path, folder / "book" / path.name, Prose(site, name, names))
    with tempfile.TemporaryDirectory() as scratch:
        for path in write_student_edition(Path(scratch)):
            write_notebook(path, folder / "exercises" / path.name, Prose(site, path.stem, set()))


def write_notebook(source: Path, place: Path, prose: Prose) -> None:
    """Write a notebook as JupyterLite shows it. Figures are HTML, which it trusts only where it is told to."""
    notebook = nbformat.read(source, as_version=4)
    for cell in notebook.cells:
        cell.metadata.trusted = True
        if cell.cell_type == "markdown":
            cell.source = prose.rewritten(cell.source)
    notebook.cells = [cell for cell in notebook.cells if cell.source]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")  # each text in one piece, not in lines


def write_book_wheel(folder: Path, lock: dict[str, Any]) -> Path:
    """Write treekit, the figures and what a notebook starts with as one wheel."""
    files = live.book_files() | live.files_below(
        live.SOURCES / "runner.py", live.SOURCES / "slices.py", top=live.SOURCES
    )
    files["packages.json"] = json.dumps(live.known_packages(lock), sort_keys=True).encode()
    files["book_startup.py"] = (LITE / "startup.py").read_bytes()
    version = treekit.__version__
    info = f"{BOOK.replace('-', '_')}-{version}.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {BOOK}\nVersion: {version}\n".encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: book\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/RECORD"] = b""
    wheel = folder / f"{info.removesuffix('.dist-info')}-py3-none-any.whl"
    live.pack(wheel, files)
    return wheel


def write_lock(site: Path, wheels: Path, lock: dict[str, Any], address: str) -> None:
    """Write Pyodide's lock as this site has it: what a notebook starts with lies here, all else at an address."""
    static, packages = site / "static", lock["packages"]
    for package in packages.values():
        package["file_name"] = address + package["file_name"]
    shutil.copytree(wheels, static / "wheels")
    write_book_wheel(static / "wheels", lock)
    for wheel in [*(static / "wheels").glob("*.whl"), *(site / PIPLITE).glob("*.whl")]:
        name, version, *_ = wheel.name.split("-")
        name = name.lower().replace("_", "-")
        known = packages.get(name, {"name": name, "imports": [], "depends": [], "install_dir": "site"})
        here = f"../{wheel.relative_to(site).as_posix()}"
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        own = {
            "version": version,
            "file_name": here,
            "sha256": digest,
            "package_type": "package",
            "unvendored_tests": False,
        }
        packages[name] = known | own
    (static / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")


def write_settings(site: Path, core: str) -> None:
    """Write where Python comes from, and what it does before the first cell."""
    path = site / "jupyter-lite.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    data = config["jupyter-config-data"]
    data["appName"] = "Decision Trees"
    data["settingsOverrides"] = {
        # All cells are there, not those on the screen alone, so that the browser finds words in them.
        "@jupyterlab/notebook-extension:tracker": {"windowingMode": "defer"},
        "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True},  # light or dark, as the reader has it
    }
    data.setdefault("litePluginSettings", {}).setdefault(SETTINGS, {}).update(
        pyodideUrl=f"{core}pyodide.mjs",
        loadPyodideOptions={
            "lockFileURL": "./static/pyodide-lock.json",
            "stdLibURL": "./static/stdlib.zip",
            "packages": START,
            "env": {"PYTHONSTARTUP": "/lib/python3.14/site-packages/book_startup.py"},
        },
    )
    path.write_text(json.dumps(config), encoding="utf-8")


def build(pages: Path, site: Path) -> None:
    """Build JupyterLite into a folder, for a built site whose folder `lite` this is."""
    fetched, (npm, lock) = install(), pyodide()
    shutil.rmtree(site, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        write_contents(Path(scratch) / "files", pages)
        apps = [f"--apps={name}" for name in APPS]
        places = (f"--lite-dir={scratch}", f"--contents={scratch}/files", f"--output-dir={site.resolve()}")
        run(
            fetched / "env" / "bin" / "jupyter",
            "lite",
            "build",
            *places,
            *apps,
            "--no-sourcemaps",
            folder=Path(scratch),
        )
    core, wheels = live.addresses(live.version_of(npm))
    (site / "static").mkdir(exist_ok=True)
    shutil.copy(fetched / "stdlib.zip", site / "static")
    write_lock(site, fetched / "wheels", lock, wheels.replace(live.OWN, "../../_static/pyodide/"))
    write_settings(site, core.replace(live.OWN, "./../_static/pyodide/"))


def size(folder: Path) -> str:
    """What a folder holds, in megabytes."""
    return f"{sum(path.stat().st_size for path in folder.rglob('*') if path.is_file()) / 1e6:.0f} MB"


def main(wanted: str) -> None:
    if wanted == "--names":
        print(*names(), sep="\n")
        return
    pages = Path(wanted)
    build(pages, pages / "lite")
    print(f"The site has {size(pages)}, of which JupyterLite has {size(pages / 'lite')}.")


if __name__ == "__main__":
    main(sys.argv[1])
