"""The checks fail when the book lies.

A small copy of the project holds the entropy chapter, treekit, and the configuration under which `make test` runs. The
copy as it is passes. Then one thing is changed at a time: a digit of an output, a number in prose, a pixel of a figure,
a formula of treekit. Each time the same tests must fail, and fail where the change is.

A check that is left out must not look like a pass either: it is named at the end, and with CI=true it fails the run.
"""

from __future__ import annotations

import base64
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat import NotebookNode
from PIL import Image

from scripts.execute import ROOT, stored_form

CHAPTER = Path("book/entropy.ipynb")
COPIED = ["pyproject.toml", "conftest.py", "scripts", "treekit", "tests/test_prose.py"]
PROSE = "tests/test_prose.py"
BOOK = "book"

#: The formula that is spoilt: the sign of the entropy.
FORMULA_FILE = Path("treekit/measures.py")
FORMULA = "return -(p * log_p).sum(axis=-1)"
SPOILT_FORMULA = "return (p * log_p).sum(axis=-1)"


def copy_project(folder: Path) -> Path:
    """The chapter, treekit and the tests' configuration, and nothing else."""
    for name in COPIED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    shutil.copytree(ROOT / "book", folder / "book", ignore=shutil.ignore_patterns("*.ipynb", "*.md", "_*", ".*"))
    shutil.copy2(ROOT / CHAPTER, folder / CHAPTER)
    return folder


def run_pytest(project: Path, checks: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run some of the project's own tests, with its own treekit."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-rf", "--tb=no", "-p", "no:cacheprovider", *checks],
        cwd=project, env=inherited | {"PYTHONPATH": str(project), "PY_COLORS": "0"} | variables,
        capture_output=True, text=True,
    )  # fmt: skip


def failed_tests(project: Path, checks: list[str]) -> list[str]:
    """The names of the tests that failed, of some of the project's own."""
    run = run_pytest(project, checks)
    failed = re.findall(r"^FAILED (.+?)(?: - .*)?$", run.stdout, re.MULTILINE)
    assert run.returncode == (1 if failed else 0) and "passed" in run.stdout, run.stdout + run.stderr
    return failed


# ---------------------------------------------------------------------------------------------------------------------
# The four changes. Each changes the project and returns the name of the test that must fail.


def cell_test(notebook: NotebookNode, cell: NotebookNode) -> str:
    """The name under which nbval tests a cell: it counts the code cells from 0."""
    code = [other for other in notebook.cells if other.cell_type == "code"]
    return f"{CHAPTER.as_posix()}::Cell {code.index(cell)}"


def change_a_digit(notebook: NotebookNode) -> str:
    """The last digit of the first printed number with a decimal point becomes another."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            holder, key = (output, "text") if output.output_type == "stream" else (output.get("data", {}), "text/plain")
            found = re.search(r"\d\.\d+", holder.get(key, ""))
            if found:
                text, last = holder[key], found.end() - 1
                holder[key] = text[:last] + str((int(text[last]) + 1) % 10) + text[last + 1 :]
                return cell_test(notebook, cell)
    raise AssertionError("the chapter prints no number with a decimal point")


def change_a_number_in_prose(notebook: NotebookNode) -> str:
    """The first number with three decimals or more in prose becomes one that the chapter does not print."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (found := re.search(r"(?<![\w.])\d\.\d{3,}(?!\d*\]\{)", cell.source)):
            changed = found[0][:-1] + str((int(found[0][-1]) + 5) % 10)
            cell.source = cell.source[: found.start()] + changed + cell.source[found.end() :]
            return f"{PROSE}::test_every_number_in_prose_is_printed_by_a_cell[entropy]"
    raise AssertionError("the chapter's prose has no number with three decimals")


def change_a_pixel(notebook: NotebookNode) -> str:
    """One colour of one pixel of the first figure changes by the smallest step; the file stays a valid PNG."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                with Image.open(io.BytesIO(base64.b64decode(output.data["image/png"]))) as picture:
                    pixels = np.array(picture)
                pixels[pixels.shape[0] // 2, pixels.shape[1] // 2, 0] ^= 1
                stored = io.BytesIO()
                Image.fromarray(pixels).save(stored, format="PNG")
                output.data["image/png"] = base64.b64encode(stored.getvalue()).decode("ascii")
                return cell_test(notebook, cell)
    raise AssertionError("the chapter has no figure")


def in_notebook(change: Callable[[NotebookNode], str]) -> Callable[[Path], str]:
    """A change of the stored chapter as a change of the project."""

    def changed(project: Path) -> str:
        notebook = nbformat.read(project / CHAPTER, as_version=4)
        failing = change(notebook)
        (project / CHAPTER).write_text(stored_form(notebook), encoding="utf-8")
        return failing

    return changed


def change_the_formula(project: Path) -> str:
    """The entropy loses its minus sign."""
    source = (project / FORMULA_FILE).read_text(encoding="utf-8")
    assert source.count(FORMULA) == 1, f"{FORMULA_FILE} has changed: say here which line to spoil"
    (project / FORMULA_FILE).write_text(source.replace(FORMULA, SPOILT_FORMULA), encoding="utf-8")
    return f"{CHAPTER.as_posix()}::Cell "


#: Each change, and the part of the tests that must see it. The untouched copy goes through both parts.
CHANGES: dict[str, tuple[Callable[[Path], str], list[str]]] = {
    "nothing": (lambda project: "", [PROSE, BOOK]),
    "a digit of an output": (in_notebook(change_a_digit), [BOOK]),
    "a number in prose": (in_notebook(change_a_number_in_prose), [PROSE]),
    "a pixel of a figure": (in_notebook(change_a_pixel), [BOOK]),
    "a formula of treekit": (change_the_formula, [BOOK]),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> dict[str, tuple[str, list[str]]]:
    """For each change the test that must fail and those that did. Two copies at a time, to save time."""

    def outcome(change: str, folder: Path) -> tuple[str, list[str]]:
        project = copy_project(folder)
        apply, checks = CHANGES[change]
        return apply(project), failed_tests(project, checks)

    # Not in the threads: two that ask for the first folder of a run at once get in each other's way.
    folders = [tmp_path_factory.mktemp("copy") for _ in CHANGES]
    with ThreadPoolExecutor(max_workers=2) as pool:
        return dict(zip(CHANGES, pool.map(outcome, CHANGES, folders), strict=True))


def test_the_untouched_copy_passes(outcomes):
    assert outcomes["nothing"] == ("", [])


@pytest.mark.parametrize("change", [change for change in CHANGES if change != "nothing"])
def test_one_change_is_caught(outcomes, change):
    expected, failed = outcomes[change]
    assert any(name.startswith(expected) for name in failed), f"{expected} should have failed; these did: {failed}"


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_what_is_left_out_is_named_and_fails_in_ci(tmp_path, ci, code):
    project = copy_project(tmp_path)
    skipped = "import pytest\n\ndef test_one():\n    pass\n\ndef test_two():\n    pytest.skip('no browser here')\n"
    (project / "tests" / "test_small.py").write_text(skipped, encoding="utf-8")
    run = run_pytest(project, ["tests/test_small.py"], CI=ci)
    assert run.returncode == code
    assert "NOT CHECKED" in run.stdout
    assert "test_two: Skipped: no browser here" in run.stdout
    assert "1 passed, 1 skipped" in run.stdout
