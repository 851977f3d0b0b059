"""Run in the page: the site's own Python, compiled, with what its cells import; and which cells each cell needs.

Pyodide, which is Python for browsers, and CodeMirror, the editor, come from the npm registry in the versions that
`book/live/package-lock.json` holds, once: what is made of them is kept in `_build/live`, for this build and the next.
A page loads nothing of it before its reader presses *Run* or *Edit*.

`BOOK_PYODIDE` says where Python comes from:

* nothing: Python itself from the site, so that a cell of plain Python needs no network; what is as large as NumPy from
  Pyodide's public address, when a cell asks for it;
* an address, such as the public one or a school's copy of it: all from there, and the site is 11 MB smaller;
* a folder that holds an unpacked release of Pyodide: all from the site, which takes along the packages that it needs.
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "book" / "live"
sys.path.insert(0, str(SOURCES))
from slices import slices  # noqa: E402  (the browser's Python imports it, too)

import treekit  # noqa: E402

OWN = "../pyodide/"
PUBLIC = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json")
#: What a page loads when it is asked for.
MODULES = ("python.js", "worker.js", "cells.js", "cells.css")
CELL = re.compile(r'<div class="cell[ "]')

logger = logging.getLogger(__name__)


# -- what is made once ----------------------------------------------------------------------------------------------


def run(folder: Path, *command: str | Path) -> None:
    """Run a program of Node's; if it fails, the error holds what it printed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")


def prepared() -> Path:
    """The folder with Pyodide's core, its compiled standard library and the editor; made if it is not there."""
    made_of = [
        SOURCES / name for name in ("package.json", "package-lock.json", "stdlib.py", "compile.mjs", "editor.js")
    ]
    version = hashlib.sha256(b"".join(path.read_bytes() for path in made_of)).hexdigest()[:12]
    folder = ROOT / "_build" / "live" / version
    if not folder.exists():
        draft = folder.with_name(f"{version}.{os.getpid()}")
        draft.mkdir(parents=True)
        make(draft)
        try:
            draft.rename(folder)
        except OSError:  # another build was faster
            shutil.rmtree(draft)
    return folder


def make(folder: Path) -> None:
    """Fetch what the lock file names into a folder, compile the standard library, and bundle the editor."""
    programs = Path(sys.executable).parent
    for name in ("package.json", "package-lock.json", "editor.js"):
        shutil.copy(SOURCES / name, folder)
    run(folder, programs / "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    run(folder, programs / "node", SOURCES / "compile.mjs", folder / "stdlib.zip")
    bundle = ("--bundle", "--minify", "--format=esm", "--legal-comments=inline", "--outfile=bundled.js")
    run(folder, programs / "node", "node_modules/esbuild/bin/esbuild", "editor.js", *bundle)


# -- what a cell may import -----------------------------------------------------------------------------------------


def files_below(*paths: Path, top: Path) -> dict[str, bytes]:
    """The modules and tables among some files and folders, by their names seen from `top`."""
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
    return {f.relative_to(top).as_posix(): f.read_bytes() for f in files if f.suffix in (".py", ".csv")}


def module_name(file: str) -> str:
    """The full name of the module in a file such as "treekit/pen/svg.py"."""
    return file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


@cache
def book_files() -> dict[str, bytes]:
    """The modules and tables of treekit and of the figures, by their names as Python will find them."""
    return files_below(ROOT / "treekit", top=ROOT) | files_below(ROOT / "book" / "figures", top=ROOT / "book")


def imports(tree: ast.AST) -> Iterator[str]:
    """The full names that a module imports, inside functions too, but not for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        else:
            yield from imports(node)


@cache
def book_modules() -> dict[str, set[str]]:
    """For each module of treekit and of the figures, and each name of treekit's front door, what it imports."""
    code = {module_name(file): content for file, content in book_files().items() if file.endswith(".py")}
    found = {module: set(imports(ast.parse(content))) for module, content in code.items()}
    return found | {f"treekit.{name}": {home} for name, home in treekit._HOME.items()}


def packages_of(module: str, packages: dict[str, str], seen: set[str]) -> set[str]:
    """The packages of Pyodide on which a module of the book depends."""
    modules, found = book_modules(), set()
    for name in modules[module]:
        while name and name not in modules:
            if name in packages:
                found.add(packages[name])
            name = name.rpartition(".")[0]
        if name and name not in seen:
            seen.add(name)
            found |= packages_of(name, packages, seen)
    return found


def known_packages(lock: dict[str, Any]) -> dict[str, Any]:
    """What `runner.wanted` looks up: the packages of each module of the book, and of each name that Pyodide has."""
    packages = {
        name.partition(".")[0]: package["name"] for package in lock["packages"].values() for name in package["imports"]
    }
    modules = {name: sorted(packages_of(name, packages, {name})) for name in book_modules()}
    return {"modules": {name: needed for name, needed in modules.items() if needed}, "packages": packages}


def with_dependencies(names: Iterable[str], lock: dict[str, Any]) -> set[str]:
    """Packages and those on which they depend, as the lock calls them."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        if (name := todo.pop().replace("_", "-")) not in found:
            found.add(name)
            todo += lock["packages"][name]["depends"]
    return found


# -- what the site gets ---------------------------------------------------------------------------------------------


def pack(archive: Path, contents: dict[str, bytes]) -> None:
    """Write a zip that is the same whenever its contents are."""
    with zipfile.ZipFile(archive, "w") as made:
        for name, content in sorted(contents.items()):
            info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            made.writestr(info, content, zipfile.ZIP_DEFLATED, compresslevel=9)


def sent(path: Path) -> int:
    """The number of bytes that a host sends for a file."""
    content = path.read_bytes()
    return len(content) if path.suffix == ".zip" else len(gzip.compress(content, 6))


#: Large tables, of which nothing is read before pandas is there: they come with the code that needs packages.
MEASURED = {"treekit/data/benchmarks.csv", "treekit/data/tuning.csv"}


def write_modules(live: Path, known: dict[str, Any]) -> None:
    """Write the code of the book for the browser; what needs the standard library alone comes with Python."""
    runner = files_below(SOURCES / "runner.py", SOURCES / "slices.py", top=SOURCES)
    runner["packages.json"] = json.dumps(known, sort_keys=True).encode()
    later = {file for file in book_files() if module_name(file) in known["modules"]} | MEASURED
    plain = {file: content for file, content in book_files().items() if file not in later}
    pack(live / "plain.zip", runner | plain)
    pack(live / "whole.zip", {file: content for file, content in book_files().items() if file in later})


def version_of(npm: Path) -> str:
    """The version of Pyodide in a folder that npm has made."""
    return json.loads((npm / "package.json").read_text(encoding="utf-8"))["version"]


def addresses(version: str) -> tuple[str, str]:
    """Where Pyodide's core and its packages are, seen from the site's folder `live`; BOOK_PYODIDE decides."""
    where = os.environ.get("BOOK_PYODIDE", "")
    if "://" in where:
        return (f"{where.rstrip('/')}/",) * 2
    return OWN, OWN if where else PUBLIC.format(version=version)


def write_core(folder: Path, npm: Path, lock: dict[str, Any], known: dict[str, Any]) -> tuple[str, str]:
    """Write into `folder` what the site holds of Pyodide; the addresses of its core and of its packages."""
    core, wheels = addresses(version_of(npm))
    if core == OWN:
        folder.mkdir(exist_ok=True)
        for name in CORE:
            shutil.copy(npm / name, folder)
    if wheels == OWN:
        for name in with_dependencies(set().union(*known["modules"].values()), lock):
            shutil.copy(Path(os.environ["BOOK_PYODIDE"]) / lock["packages"][name]["file_name"], folder)
    return core, wheels


def write_python(app: Sphinx, exception: Exception | None) -> None:
    """Write what the site has of Python, and `place.js`, which tells a page where to find it."""
    if exception or app.builder.name != "html":
        return
    ready, live = prepared(), app.outdir / "_static" / "live"
    npm = ready / "node_modules" / "pyodide"
    lock = json.loads((npm / "pyodide-lock.json").read_text(encoding="utf-8"))
    known = known_packages(lock)
    live.mkdir(exist_ok=True)
    for name in MODULES:
        shutil.copy(SOURCES / name, live)
    shutil.copy(ready / "stdlib.zip", live)
    shutil.copy(ready / "bundled.js", live / "editor.js")
    write_modules(live, known)
    core, wheels = write_core(live.with_name("pyodide"), npm, lock, known)
    names = {"library": "stdlib.zip", "plain": "plain.zip", "whole": "whole.zip"}
    loaded = [npm / name for name in CORE] + [live / "stdlib.zip", live / "plain.zip"]
    place = {
        "files": {"core": core, "lock": f"{core}pyodide-lock.json"} | names,
        "wheels": wheels,
        "bytes": sum(path.stat().st_size for path in loaded),
        "sent": sum(map(sent, loaded)),
    }
    (live / "place.js").write_text(f"export const PLACE = {json.dumps(place)};\n", encoding="utf-8")


# -- which cells a cell needs ---------------------------------------------------------------------------------------


def cells_of(notebook: Path) -> list[tuple[str, bool]]:
    """The code of each cell that leaves a trace on the page, and whether the page shows it."""
    cells = [cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    tags = [set(cell["metadata"].get("tags", ())) for cell in cells]
    return [
        ("".join(cell["source"]), "remove-input" not in its)
        for cell, its in zip(cells, tags)
        if "remove-cell" not in its
    ]


def needs_of(notebook: Path) -> list[list[int] | None]:
    """For each cell the numbers of the cells above that it needs; None if the page does not show them all."""
    cells = cells_of(notebook)
    needs = slices([source for source, _ in cells])
    return [above if all(cells[j][1] for j in [*above, k]) else None for k, above in enumerate(needs)]


class live_cell(nodes.container):
    """A cell on a page that is not a notebook."""


def made_cell(source: str, **data: object) -> live_cell:
    """A cell of code with such attributes as `data-needs`, here given as `needs`."""
    code = nodes.literal_block(source, source, language="python")
    return live_cell("", nodes.container("", code, classes=["cell_input"]), data=data)


def visit_live_cell(self: HTML5Translator, node: live_cell) -> None:
    data = {f"data-{name}": str(value) for name, value in node["data"].items()}
    self.body.append(self.starttag(node, "div", CLASS="cell docutils container", **data))


def depart_live_cell(self: HTML5Translator, node: live_cell) -> None:
    self.body.append("</div>\n")


def tell_needs(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Write into each cell of a page that a reader can run which cells above it needs, as `data-needs`."""
    if context.get("page_source_suffix") != ".ipynb":
        return
    needs = needs_of(Path(app.env.doc2path(pagename)))
    if len(needs) != len(CELL.findall(context["body"])):
        logger.warning("the page has other cells than its notebook", location=pagename)
        return
    left = iter(needs)

    def with_needs(cell: re.Match[str]) -> str:
        above = next(left)
        return cell[0] if above is None else cell[0].replace("<div", f'<div data-needs="{" ".join(map(str, above))}"')

    context["body"] = CELL.sub(with_needs, context["body"])


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_node(live_cell, html=(visit_live_cell, depart_live_cell))
    app.add_css_file("run.css")
    app.add_js_file("run.js", loading_method="defer")
    app.connect("html-page-context", tell_needs)
    app.connect("build-finished", write_python, priority=800)  # `lighten` reads what is written here
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":  # the Makefile runs this when it installs, so that a build needs no network
    prepared()
