"""What Binder would build runs the book.

repo2docker prints the recipe of the image without building it. This test replays that recipe's Python version, its pip
line and its postBuild in a fresh virtual environment, on a copy of the tracked files, with uv standing in for pip. Then
it runs every chapter there as a reader would, in book/ and with nothing of this machine's settings, and compares.

The replay fetches packages, so it needs the network or a full cache of uv. Where the recipe's Python is not on the
machine, the running Python takes its place, and a warning says so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from scripts.execute import ROOT, normalise, notebooks, run, stored_form

SECONDS_PER_CHAPTER = 60
NO_NETWORK = re.compile(
    r"(?i)dns error|failed to lookup address|error sending request|connection (refused|reset)|timed out|unreachable"
)

PIP = """#!/bin/sh
# uv in the place of pip. It honours the same files; its cache is kept, so that the replay is quick.
for argument; do shift; [ "$argument" = --no-cache-dir ] || set -- "$@" "$argument"; done
exec "{uv}" pip "$@"
"""


@dataclass
class Recipe:
    """What the printed Dockerfile says about Python."""

    python_version: str
    commands: list[str]


@dataclass
class Replay:
    """The environment that the recipe made, and the copy of the project in it."""

    python: Path
    project: Path
    variables: dict[str, str]

    def ask(self, code: str) -> str:
        """What a line of Python prints there, started outside the project."""
        answer = subprocess.run(
            [self.python, "-c", code], cwd=self.python.parent, env=self.variables, capture_output=True, text=True
        )
        assert answer.returncode == 0, answer.stderr
        return answer.stdout.strip()


def tool(name: str) -> str:
    """A program of this environment, or of the machine."""
    found = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    assert found, f"{name} is not installed: `make test` installs it"
    return found


def python_for(version: str) -> str:
    """The Python of a version; the running one where it has that version or the machine has no such Python."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    found = shutil.which(f"python{version}")
    if found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
        return found
    warnings.warn(
        f"no Python {version} here, which Binder would take: replayed with {sys.version.split()[0]}", stacklevel=2
    )
    return sys.executable


def follow(command: str, project: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run one command of the recipe."""
    return subprocess.run(command, shell=True, cwd=project, env=variables, capture_output=True, text=True)


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
def recipe(project: Path) -> Recipe:
    printed = subprocess.run(
        [tool("jupyter-repo2docker"), "--no-build", "--debug", "."], cwd=project, capture_output=True, text=True
    )
    text = printed.stdout + printed.stderr
    version = re.search(
        r"environment-2epy-2d(\d+)-2e(\d+)-", text
    )  # environment.py-3.11-..., as repo2docker escapes it
    assert printed.returncode == 0 and version, text
    commands = re.findall(r"^RUN (.*(?:\bpip |postBuild).*)$", text, re.MULTILINE)
    return Recipe(f"{version[1]}.{version[2]}", commands)


@pytest.fixture(scope="module")
def replay(project: Path, recipe: Recipe, tmp_path_factory) -> Replay:
    """The recipe's commands, run one by one in a fresh environment."""
    folder = tmp_path_factory.mktemp("environment")
    prefix = folder / "venv"
    subprocess.run([tool("uv"), "venv", "--quiet", "--python", python_for(recipe.python_version), prefix], check=True)
    pip = prefix / "bin" / "pip"
    pip.write_text(PIP.format(uv=tool("uv")))
    pip.chmod(0o755)
    kept = {
        key: value
        for key, value in os.environ.items()
        if key in {"PATH", "LANG", "LC_ALL"} or key.startswith(("UV_", "SSL_"))
    }
    cache = subprocess.run([tool("uv"), "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
    variables = kept | {
        "HOME": str(folder),
        "PATH": f"{prefix / 'bin'}{os.pathsep}{kept['PATH']}",
        "VIRTUAL_ENV": str(prefix),
        "KERNEL_PYTHON_PREFIX": str(prefix),
        "REPO_DIR": str(project),
        "UV_CACHE_DIR": cache,
    }
    for command in recipe.commands:
        done = follow(command, project, variables)
        if done.returncode and NO_NETWORK.search(done.stderr):
            variables["UV_OFFLINE"] = "1"  # an earlier replay may have left all that is needed in the cache
            without_network = follow(command, project, variables)
            if without_network.returncode:
                pytest.skip(f"no network to install what Binder would install: {done.stderr.strip().splitlines()[-1]}")
            done = without_network
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return Replay(prefix / "bin" / "python", project, variables)


def test_recipe_takes_our_python_and_our_files(recipe: Recipe):
    """A root pyproject.toml alone would make it copy treekit, and without runtime.txt it would take another Python."""
    named = (ROOT / "binder" / "runtime.txt").read_text(encoding="utf-8").strip()
    assert named == f"python-{recipe.python_version}"
    assert [command.removeprefix("${KERNEL_PYTHON_PREFIX}/bin/") for command in recipe.commands] == [
        'pip install --no-cache-dir -r "binder/requirements.txt"',
        "chmod +x binder/postBuild",
        "./binder/postBuild",
    ]


def test_a_python_that_is_not_here_is_named():
    with pytest.warns(UserWarning, match=r"no Python 3\.99 here"):
        assert python_for("3.99") == sys.executable


def test_versions_are_the_pinned_ones(replay: Replay):
    """Every package that both Binder and the book's environment hold has one version."""
    frozen = subprocess.run(
        [tool("uv"), "pip", "freeze", "--python", replay.python],
        env=replay.variables,
        capture_output=True,
        text=True,
        check=True,
    )
    installed = dict(re.findall(r"^([\w.-]+)==(\S+)$", frozen.stdout, re.MULTILINE))
    pins: dict[str, set[str]] = {}
    for name, version in re.findall(
        r"^([\w.-]+)==(\S+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE
    ):
        pins.setdefault(name, set()).add(version)
    assert {"numpy", "pandas", "matplotlib", "scikit-learn", "scipy", "ipykernel", "jupyterlab-myst"} <= set(installed)
    assert {name: version for name, version in installed.items() if name in pins and version not in pins[name]} == {}


def test_treekit_is_editable(replay: Replay):
    """A reader who edits treekit in Binder gets what was edited."""
    source = replay.project / "treekit" / "__init__.py"
    assert Path(replay.ask("import treekit; print(treekit.__file__)")) == source
    before = source.read_text(encoding="utf-8")
    source.write_text(before + "\nEDITED = 'by a reader'\n", encoding="utf-8")
    try:
        assert replay.ask("import treekit; print(treekit.EDITED)") == "by a reader"
    finally:
        source.write_text(before, encoding="utf-8")


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_chapter_runs_and_shows_what_is_stored(replay: Replay, path: Path):
    copy = replay.project / path.relative_to(ROOT)
    assert copy.exists(), f"{path.name} is not tracked by git, so Binder would not have it"
    stored = copy.read_text(encoding="utf-8")
    notebook = nbformat.reads(stored, as_version=4)
    start = time.monotonic()
    run(notebook, copy.parent, python=str(replay.python), env=replay.variables)
    seconds = time.monotonic() - start
    assert stored_form(normalise(notebook)) == stored
    assert seconds < SECONDS_PER_CHAPTER, f"{path.name} takes {seconds:.0f} s"
