"""treekit as others get it: the wheel, what it asks for, and the README's example run from it alone."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml

import treekit

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE, PRINTED = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", README, re.DOTALL).groups()
FIGURES = "treekit.showing.figures"

# Put before a script: only the unpacked wheel holds treekit, and what only extras bring is not there.
WITHOUT_EXTRAS = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top in {"matplotlib", "dask", "distributed"}:
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)

sys.meta_path.insert(0, Missing())
sys.path.insert(0, sys.argv[1])
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built with what is installed here: nothing is fetched."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def alone(wheel, script):
    """Run a script in a fresh Python that sees the wheel, and neither this folder nor the user's settings."""
    command = [sys.executable, "-I", "-X", "utf8", "-c", WITHOUT_EXTRAS + script, str(wheel)]
    return subprocess.run(command, cwd=wheel, capture_output=True, text=True, encoding="utf-8")


# -- the wheel ----------------------------------------------------------------------------------------------------


def test_the_wheel_holds_the_package_and_no_more(wheel):
    package = Path(treekit.__file__).parent
    here = {path.relative_to(package.parent) for path in package.rglob("*") if path.is_file()}
    wanted = {str(path) for path in here if "__pycache__" not in path.parts}
    assert {"treekit/py.typed", "treekit/data/watermelon.csv"} <= wanted
    held = {str(path.relative_to(wheel)) for path in wheel.rglob("*") if path.is_file()}
    info = f"treekit-{treekit.__version__}.dist-info"
    assert held == wanted | {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "licenses/LICENSE")}


def test_the_metadata_say_what_it_is_and_needs(wheel):
    text = (wheel / f"treekit-{treekit.__version__}.dist-info" / "METADATA").read_text(encoding="utf-8")
    metadata = Parser().parsestr(text)
    assert metadata["Version"] == treekit.__version__
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Author"].startswith("The authors of")
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    assert metadata["Keywords"] and metadata["Description-Content-Type"] == "text/markdown"

    needed: dict[str, set[str]] = {}
    for requirement in metadata.get_all("Requires-Dist"):
        name, extra = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=[\d.]+(?:; extra == '(\w+)')?", requirement).groups()
        needed.setdefault(extra or "always", set()).add(name)
    assert needed == {
        "always": {"numpy", "pandas", "scikit-learn", "scipy"},
        "book": {"matplotlib"},
        "dask": {"dask", "distributed"},
        "all": {"matplotlib", "dask", "distributed"},
    }


def test_the_readme_example_prints_what_the_readme_says(wheel):
    run = alone(wheel, EXAMPLE)
    assert run.stdout == PRINTED, run.stderr


def test_the_tables_are_read_from_the_wheel(wheel):
    run = alone(wheel, "import treekit; print(treekit.__file__); print(len(treekit.datasets.load_watermelon()))")
    assert run.stdout.split() == [str(wheel / "treekit" / "__init__.py"), "17"], run.stderr


def test_figures_without_matplotlib_name_the_extra(wheel):
    run = alone(wheel, f"import treekit; print('imported'); from {FIGURES}.entropy import surprise_curve")
    assert run.stdout == "imported\n"
    assert run.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: the book's figures need matplotlib, which is not installed: pip install 'treekit[book]'"
    )


def test_a_figure_brings_no_other_chapter():
    script = f"import sys; from {FIGURES}.entropy import surprise_curve; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    loaded = {name.removeprefix(f"{FIGURES}.") for name in run.stdout.split() if name.startswith(f"{FIGURES}.")}
    assert loaded == {"entropy", "shared"}


# -- the papers ---------------------------------------------------------------------------------------------------


def test_the_citation_is_of_this_version():
    """The keys are those of the Citation File Format 1.2.0."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation.keys() <= {
        "abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi", "identifiers", "keywords",
        "license", "license-url", "message", "preferred-citation", "references", "repository", "repository-artifact",
        "repository-code", "title", "type", "url", "version",
    }  # fmt: skip
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == treekit.__version__
    book = citation["preferred-citation"]
    assert {"type", "title", "authors"} <= book.keys()
    assert (book["title"], book["authors"]) == (citation["title"], citation["authors"])


def test_the_licences_are_texts_that_detectors_know():
    """Nothing stands before or between; what each is for, the README says."""
    bsd, cc = ((ROOT / name).read_text(encoding="utf-8") for name in ("LICENSE", "LICENSE-CC-BY-4.0"))
    assert re.match(r"BSD 3-Clause License\n\nCopyright \(c\) \d{4}, .+\n\nRedistribution and use in source", bsd)
    assert cc.startswith("Attribution 4.0 International\n\n=====")
    assert "`LICENSE`" in README and "`LICENSE-CC-BY-4.0`" in README
