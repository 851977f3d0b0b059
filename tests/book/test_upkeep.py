"""What the book takes from others, and how its notebooks are stored: what a maintainer is to look after."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sphinx.application import Sphinx

from scripts import execute

ROOT, BOOK = execute.ROOT, execute.BOOK
CONTRIBUTING = (BOOK / "contributing.md").read_text(encoding="utf-8")
TAKEN = [BOOK / "_math", BOOK / "_static" / "fonts"]

PAGE = """
A page
======

.. [Quinlan] C4.5.

.. exercise:: Tennis (by hand)
   :label: tennis

   Build the tree.

.. exercise:: Tennis (in words)
   :label: tennis-in-words
   :nonumber:

   Describe the tree.
"""


def load_extension(name):
    """A module of book/_ext, which is no package."""
    spec = importlib.util.spec_from_file_location(name, BOOK / "_ext" / f"{name}.py")
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    return extension


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A bibliography and an exercise as they are printed without the book's extensions."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "index.rst").write_text(PAGE, encoding="utf-8")
    settings = {"html_theme": "basic", "extensions": ["sphinx_exercise"], "numfig": True}
    Sphinx(folder, None, folder / "html", folder / "doctrees", "html", settings, status=None, warning=None).build()
    return (folder / "html" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("pattern, replacement", load_extension("mend_html").MENDS)
def test_each_mend_is_still_needed(page, pattern, replacement):
    assert re.search(pattern, page), "what this mends is printed otherwise now: see whether mend_html.py can do without"
    assert not re.search(pattern, re.sub(pattern, replacement, page))


@pytest.mark.parametrize("folder", TAKEN, ids=lambda folder: folder.name)
def test_what_is_taken_from_others_is_written_down(folder):
    readme = (folder / "README.txt").read_text(encoding="utf-8")
    files = [path for path in folder.iterdir() if path.suffix in (".js", ".css", ".woff2")]
    assert files and (folder / "OFL.txt").exists()
    for path in files:
        assert f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" in readme


def test_the_version_of_temml_is_written_down():
    script, readme = ((BOOK / "_math" / name).read_text(encoding="utf-8") for name in ("temml.min.js", "README.txt"))
    version = re.findall(r'version:"([0-9.]+)"', script)[-1]
    assert readme.startswith(f"temml {version},")


def test_check_names_what_is_stored_otherwise(tmp_path, monkeypatch, capsys):
    """An editor that adds the version of Python, and leaves the rest as it was."""
    monkeypatch.setattr(execute, "ROOT", tmp_path)
    stored = (BOOK / "entropy.ipynb").read_text(encoding="utf-8")
    same, other = tmp_path / "same.ipynb", tmp_path / "other.ipynb"
    same.write_text(stored, encoding="utf-8")
    assert execute.check([same]) == 0
    changed = stored.replace('"name": "python"\n', '"name": "python",\n   "version": "3.12.1"\n')
    assert changed != stored
    other.write_text(changed, encoding="utf-8")
    assert execute.check([same, other]) == 1
    assert ": other.ipynb." in capsys.readouterr().out


# -- the map for contributors ---------------------------------------------------------------------------------------


def mapped_paths() -> Iterator[Path]:
    """The files and folders in the map of the house, an indented tree of names and what they are for."""
    folders: list[tuple[int, Path]] = []
    for line in re.search(r"```text\n(.*?)```", CONTRIBUTING, re.DOTALL)[1].splitlines():
        indent = len(line) - len(line.lstrip())
        folders = [(depth, folder) for depth, folder in folders if depth < indent]
        above = folders[-1][1] if folders else ROOT
        names = re.match(r"[\w./]+(?:, [\w./]+)*(?: [\w/]+/(?= ))*", line.strip())[0]
        last = None
        for name in re.split(r",? ", names):
            # "requirements.in, .txt" are two endings of one name.
            last = last.with_suffix(name) if name in {".txt"} else above / name
            yield last
        if names.endswith("/") and last.is_dir():
            folders.append((indent, last))


def test_the_map_shows_what_is_there():
    """And each module of treekit is on it."""
    shown = list(mapped_paths())
    assert [path for path in shown if not path.exists()] == []
    modules = {path for path in (ROOT / "treekit").rglob("*.py") if path.name != "__init__.py"}
    assert len(modules) > 40 and sorted(modules - set(shown)) == []


def names_in(path: Path) -> set[str]:
    """The functions and classes of a module, and the methods as `Class.method`."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{method.name}" for method in node.body if isinstance(method, ast.FunctionDef)}
    return names


def places():
    """Where to look first: a question, a file, and the names to look for in it."""
    answers = re.findall(r"^(.+\?)\n: `(.+?)`: (.+)$", CONTRIBUTING, re.MULTILINE)
    assert len(answers) > 10
    return [pytest.param(path, re.findall(r"`([\w.]+)`", names), id=question) for question, path, names in answers]


@pytest.mark.parametrize("path, names", places())
def test_what_to_look_for_is_there(path, names):
    path = ROOT / path
    if path.is_dir():  # of figures: each module but what they draw with has the name of a notebook
        layer = {"__init__", "explorable", "looks", "melons", "charts", "plots"}
        modules = {module.stem for module in path.glob("*.py")} - layer
        assert modules and modules <= {notebook.stem for notebook in BOOK.glob("*.ipynb")}
    else:
        assert sorted(set(names) - names_in(path)) == []
