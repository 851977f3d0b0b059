"""What Binder would build runs the book.

repo2docker makes the recipe of the image; nothing here needs Docker. One test sees that the recipe is whole. Those
marked `binder`, which `make binder` runs, replay it: they take its Python, run its pip line and its postBuild in a
fresh virtual environment on a copy of the tracked files, run every chapter there with nothing of this machine's
settings, and compare. They fetch some 200 MB, so `make test` leaves them out; the workflow runs them on every push.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from repo2docker.app import Repo2Docker

from scripts.execute import ROOT, SECONDS_PER_CELL, normalise, notebooks, stored_form
from tests.book.sites import BIN

KEPT_VARIABLES = re.compile(r"PATH|LANG|LC_ALL|((UV_)?SSL|PIP)_\w+|\w+_proxy", re.IGNORECASE)  # what pip needs to fetch


@dataclass
class Replay:
    """The environment that the recipe made, and the copy of the project in it."""

    python: Path
    project: Path
    variables: dict[str, str]

    def ask(self, *arguments: str) -> str:
        """What Python prints there, started outside the project."""
        command = [self.python, *arguments]
        answer = subprocess.run(command, cwd=self.python.parent, env=self.variables, capture_output=True, text=True)
        assert answer.returncode == 0, answer.stderr
        return answer.stdout.strip()


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A copy of the tracked files, as Binder would fetch them."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode:
        pytest.skip("not a git clone, so the files that Binder would fetch are not known")
    copy = tmp_path_factory.mktemp("binder") / "project"
    for name in filter(None, listing.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def recipe(project: Path) -> tuple[str, list[str]]:
    """The version of Python, and the commands, of the first of repo2docker's build packs that knows the project."""
    app = Repo2Docker()
    with chdir(project):
        packs = (pack(base_image=app.base_image) for pack in app.buildpacks)
        pack = next(pack for pack in packs if pack.detect())
        steps = [*pack.get_preassemble_scripts(), *pack.get_assemble_scripts()]
        return pack.python_version, [command for _, command in steps] + pack.get_post_build_scripts()


@pytest.fixture(scope="module")
def replay(project: Path, recipe: tuple[str, list[str]], tmp_path_factory) -> Replay:
    """The recipe's commands, run one by one in a fresh environment."""
    folder = tmp_path_factory.mktemp("environment")
    prefix = folder / "venv"
    version, commands = recipe
    subprocess.run([BIN / "uv", "venv", "--system-certs", "--seed", "--python", version, prefix], check=True)
    variables = {name: value for name, value in os.environ.items() if KEPT_VARIABLES.fullmatch(name)} | {
        "HOME": str(folder),
        "PATH": f"{prefix / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "KERNEL_PYTHON_PREFIX": str(prefix),
    }
    for command in commands:
        done = subprocess.run(command, shell=True, cwd=project, env=variables, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return Replay(prefix / "bin" / "python", project, variables)


def test_the_recipe_is_whole(recipe: tuple[str, list[str]], project: Path):
    """It takes our Python, our files and every chapter.

    A root pyproject.toml alone would make it copy treekit, and without runtime.txt it would take another Python.
    repo2docker makes postBuild executable; the replay runs it as it is.
    """
    version, commands = recipe
    assert (ROOT / "binder" / "runtime.txt").read_text(encoding="utf-8").strip() == f"python-{version}"
    assert commands == [
        '${KERNEL_PYTHON_PREFIX}/bin/pip install --no-cache-dir -r "binder/requirements.txt"',
        "binder/postBuild",
    ]
    assert os.access(ROOT / "binder" / "postBuild", os.X_OK)
    assert [path.name for path in notebooks() if not (project / path.relative_to(ROOT)).exists()] == []


def pins(lock: str) -> dict[str, set[str]]:
    """The versions that a lock allows, of which one Python or system takes one; each is held by hashes."""
    allowed: dict[str, set[str]] = {}
    text = (ROOT / lock).read_text(encoding="utf-8")
    for name, version, _ in re.findall(
        r"^([\w.-]+)==(\S+).*((?:\\\n    --hash=sha256:\w{64} ?)+)$", text, re.MULTILINE
    ):
        allowed.setdefault(name, set()).add(version)
    assert len(allowed) > 100 and sum(map(len, allowed.values())) == len(re.findall("^\\w", text, re.MULTILINE))
    return allowed


@pytest.mark.parametrize("lock", ["binder/requirements.txt", "binder/nbgrader.txt"])
def test_binder_takes_the_versions_of_the_book(lock: str):
    """`make lock` writes them together."""
    book = pins("requirements.txt")
    other = {name: versions - book[name] for name, versions in pins(lock).items() if name in book}
    assert {name: versions for name, versions in other.items() if versions} == {}


@pytest.mark.binder
def test_versions_are_the_pinned_ones(replay: Replay):
    """Every package that both Binder and the book's environment hold has one version."""
    installed = dict(line.split("==") for line in replay.ask("-c", FREEZE).splitlines())
    book = pins("requirements.txt")
    assert {"numpy", "pandas", "matplotlib", "scikit-learn", "scipy", "ipykernel", "jupyterlab-myst"} <= set(installed)
    assert {name: version for name, version in installed.items() if name in book and version not in book[name]} == {}


# Without what a fresh environment of Python's own holds already, in a version that no requirement chooses.
FREEZE = """
import importlib.metadata, re
for package in importlib.metadata.distributions():
    if package.name not in {"pip", "setuptools"}:
        print(re.sub(r"[-_.]+", "-", package.name).lower(), package.version, sep="==")
"""


@pytest.mark.binder
def test_treekit_is_editable(replay: Replay):
    """A reader who edits treekit in Binder gets what was edited."""
    source = replay.project / "treekit" / "__init__.py"
    assert Path(replay.ask("-c", "import treekit; print(treekit.__file__)")) == source
    before = source.read_text(encoding="utf-8")
    source.write_text(before + "\nEDITED = 'by a reader'\n", encoding="utf-8")
    try:
        assert replay.ask("-c", "import treekit; print(treekit.EDITED)") == "by a reader"
    finally:
        source.write_text(before, encoding="utf-8")


@pytest.mark.binder
def test_exercises_are_those_of_students(replay: Replay):
    """The notebooks are there, without what stands between nbgrader's marks, and no answers lie elsewhere."""
    held = sorted((replay.project / "book" / "exercises").glob("*.ipynb"))
    assert [path.name for path in held] == sorted(path.name for path in (ROOT / "book" / "exercises").glob("*.ipynb"))
    assert [path.name for path in held if "### BEGIN" in path.read_text(encoding="utf-8")] == []
    assert not (replay.project / "tests").exists()


@pytest.mark.binder
@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_chapter_runs_and_shows_what_is_stored(replay: Replay, path: Path):
    copy = replay.project / path.relative_to(ROOT)
    stored = copy.read_text(encoding="utf-8")
    replay.ask("-m", "jupyter", "execute", "--inplace", f"--timeout={SECONDS_PER_CELL}", str(copy))
    assert stored_form(normalise(nbformat.read(copy, as_version=4))) == stored
