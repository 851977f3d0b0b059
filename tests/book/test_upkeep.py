"""What the book takes from others, and how its notebooks are stored: what a maintainer is to look after."""

from __future__ import annotations

import hashlib
import importlib.util
import re

import pytest
from sphinx.application import Sphinx

from scripts import execute

BOOK = execute.BOOK
MATHJAX = BOOK / "_static" / "mathjax"

PAGE = """
A page
======

.. [Quinlan] C4.5.
"""


def load_extension(name):
    """A module of book/_ext, which is no package."""
    spec = importlib.util.spec_from_file_location(name, BOOK / "_ext" / f"{name}.py")
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    return extension


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A bibliography as Docutils prints it, without the book's extensions."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "index.rst").write_text(PAGE, encoding="utf-8")
    settings = {"html_theme": "basic"}
    Sphinx(folder, None, folder / "html", folder / "doctrees", "html", settings, status=None, warning=None).build()
    return (folder / "html" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("pattern, replacement", load_extension("mend_html").MENDS)
def test_each_mend_is_still_needed(page, pattern, replacement):
    assert re.search(pattern, page), "what this mends is printed otherwise now: see whether mend_html.py can do without"
    assert not re.search(pattern, re.sub(pattern, replacement, page))


def test_the_version_of_mathjax_is_written_down():
    note, script = MATHJAX / "README.txt", MATHJAX / "tex-chtml-full.js"
    told = note.read_text(encoding="utf-8")
    assert hashlib.sha256(script.read_bytes()).hexdigest() in told
    version = re.search(r'VERSION="([\d.]+)"', script.read_text(encoding="utf-8"))[1]
    assert told.startswith(f"MathJax {version},")


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
