"""The checks fail when the book lies.

A small copy of the project holds treekit, the configuration under which `make test` runs, and a chapter of a few cells
that was run. A digit of an output, a number in prose, a pixel of a figure and a formula of treekit are changed. The
command of `make test` must then fail, exactly where the changes are.

A check that is left out must not look like a pass either: it is named at the end, and with CI=true it fails the run.
"""

from __future__ import annotations

import base64
import io
import os
import re
import shutil
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from PIL import Image

from scripts.execute import ROOT, normalise, reproducible_environment, run, stored_form
from tests.book import whole_run

COPIED = [
    *("pyproject.toml", "conftest.py", "book/conftest.py", "book/data/words.csv"),
    *("scripts", "treekit", "tests/forked_kernels.py", "tests/book/test_prose.py"),
]

#: The formula that is spoilt: the sign of the entropy.
FORMULA_FILE = Path("treekit/measures.py")
FORMULA = "return -(p * log_p).sum(axis=-1)"
SPOILT_FORMULA = "return (p * log_p).sum(axis=-1)"

CHAPTER = new_notebook(
    cells=[
        new_markdown_cell("# Quarters\n\nThe entropy of a quarter is 0.811 bits, its Gini impurity 0.375."),
        new_code_cell("import matplotlib.pyplot as plt\n\nfrom treekit import entropy, gini"),
        new_code_cell('print(f"{entropy([0, 0, 0, 1]):.3f}")'),
        new_code_cell('print(f"{gini([0, 0, 0, 1]):.4f}")'),
        new_code_cell('print(f"{gini([0, 0, 1, 1]):.4f}")'),
        new_code_cell("plt.figure(figsize=(1, 1))\nplt.plot([0, 1])\nplt.show()"),
        new_code_cell("plt.figure(figsize=(1, 1))\nplt.plot([1, 0])\nplt.show()"),
    ]
)


def change_a_number_in_prose(chapter: NotebookNode) -> str:
    """Another number than the one that is printed. Each change returns the name of the test that must fail."""
    assert "0.811" in chapter.cells[0].source
    chapter.cells[0].source = chapter.cells[0].source.replace("0.811", "0.812")
    return "tests/book/test_prose.py::test_every_number_in_prose_is_printed_by_a_cell[chapter]"


def change_a_digit(chapter: NotebookNode) -> str:
    """The last digit of an output; the prose prints fewer."""
    assert chapter.cells[3].outputs[0].text == "0.3750\n"
    chapter.cells[3].outputs[0].text = "0.3751\n"
    return "book/chapter.ipynb::Cell 2"


def change_a_pixel(chapter: NotebookNode) -> str:
    """One colour of one pixel, by the smallest step; the file stays a valid PNG."""
    data = chapter.cells[6].outputs[0].data
    with Image.open(io.BytesIO(base64.b64decode(data["image/png"]))) as picture:
        pixels = np.array(picture)
    pixels[pixels.shape[0] // 2, pixels.shape[1] // 2, 0] ^= 1
    changed = io.BytesIO()
    Image.fromarray(pixels).save(changed, format="PNG")
    data["image/png"] = base64.b64encode(changed.getvalue()).decode("ascii")
    return "book/chapter.ipynb::Cell 5"


def copy_project(folder: Path, chapter: NotebookNode) -> Path:
    """Treekit, the tests' configuration and one chapter, and nothing else."""
    for name in COPIED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    (folder / "book" / "chapter.ipynb").write_text(stored_form(chapter), encoding="utf-8")
    return folder


def failed_tests(project: Path) -> set[str]:
    """The names of the tests that fail in a copy of the project."""
    run = whole_run.run(project, "-rf", "--tb=no")
    failed = set(re.findall(r"^FAILED (.+?)(?: - .*)?$", run.stdout, re.MULTILINE))
    assert run.returncode == (1 if failed else 0) and "passed" in run.stdout, run.stdout + run.stderr
    return failed


@pytest.fixture
def chapter(tmp_path_factory) -> NotebookNode:
    """The chapter with the outputs that it printed."""
    chapter = deepcopy(CHAPTER)
    environment = os.environ | reproducible_environment() | {"PYTHONPATH": str(ROOT)}
    run(chapter, tmp_path_factory.mktemp("run"), env=environment)
    return normalise(chapter)


def spoil_the_formula(project: Path) -> str:
    """The entropy gets the wrong sign; the Gini impurities stay what they are."""
    source = (project / FORMULA_FILE).read_text(encoding="utf-8")
    assert source.count(FORMULA) == 1, f"{FORMULA_FILE} has changed: say here which line to spoil"
    (project / FORMULA_FILE).write_text(source.replace(FORMULA, SPOILT_FORMULA), encoding="utf-8")
    return "book/chapter.ipynb::Cell 1"


def test_changes_are_caught_and_nothing_else(tmp_path, chapter):
    changes = change_a_number_in_prose, change_a_digit, change_a_pixel
    expected = {change(chapter) for change in changes}
    project = copy_project(tmp_path, chapter)
    expected.add(spoil_the_formula(project))
    assert failed_tests(project) == expected


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_what_is_left_out_is_named_and_fails_in_ci(tmp_path, ci, code):
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, tmp_path)
    skipped = "import pytest\n\ndef test_one():\n    pass\n\ndef test_two():\n    pytest.skip('no browser here')\n"
    for folder in ("tests", "book"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tests" / "test_small.py").write_text(skipped, encoding="utf-8")
    run = whole_run.run(tmp_path, CI=ci)
    assert run.returncode == code
    assert "NOT CHECKED" in run.stdout
    assert "test_two: Skipped: no browser here" in run.stdout
    assert "1 passed, 1 skipped" in run.stdout
