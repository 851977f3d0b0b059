"""What the book takes from others, and how its notebooks are stored: what a maintainer is to look after."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import pandas as pd
import pytest
import yaml
from docutils.core import publish_doctree
from sphinx.application import Sphinx
from sphinx.search import WordCollector
from sphinx.search.en import SearchEnglish

from scripts import execute, release
from treekit import plain
from treekit.datasets import load_watermelon

ROOT, BOOK = execute.ROOT, execute.BOOK
CONTRIBUTING = (BOOK / "contributing.md").read_text(encoding="utf-8")
TAKEN = [BOOK / "_math", BOOK / "_static" / "fonts"]

FRAME = pd.DataFrame({"color": ["green"]}, index=[1])
NAMED = FRAME.rename_axis("number")
FRAMES = [FRAME, NAMED, NAMED.rename_axis("known", axis="columns")]
PAGE = f"""
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

.. raw:: html

{indent("".join(frame._repr_html_() for frame in FRAMES), "   ")}
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


def test_a_build_ends():
    """The engine that sets formulas runs threads, and has kept Python from ending."""
    script = "import formulas; print(formulas.mathml('x^2', False))"
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, cwd=BOOK / "_ext", capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and run.stdout.startswith("<math"), run.stderr


@pytest.mark.parametrize(
    ("tex", "drawn"),
    [
        (r"p_k\log p_k", '</msub><mspace width="0.1667em" /><mrow><mi>log</mi>'),
        (r"p \log p", '<mi>p</mi><mrow><mspace width="0.1667em" /><mi>log</mi>'),  # Temml sees to this one
        (r"-\log p", "−</mo><mrow><mi>log</mi>"),
        (r"(1-e)\exp x", '</mrow><mspace width="0.1667em" /><mrow><mi>exp</mi>'),
        (r"\bigl(-y\bigr)", '(</mo><mo form="prefix">−</mo>'),
        (r"F_{m-1}", '<mo lspace="0" rspace="0">−</mo>'),
        (r"\left.a\right|_F", '<mo fence="true" form="prefix" stretchy="true" lspace="0" rspace="0" />'),
    ],
)
def test_a_formula_is_spaced_as_by_tex(tex, drawn, monkeypatch):
    monkeypatch.syspath_prepend(BOOK / "_ext")
    assert drawn in importlib.import_module("formulas").mathml(tex, True)


def test_no_word_of_a_drawing_is_sought():
    page = publish_doctree(
        ".. raw:: html\n\n   <svg><text>axis</text></svg>\n\n.. raw:: html\n\n   <b>table</b>\n\nProse."
    )
    words = WordCollector(page, SearchEnglish({}))
    load_extension("searching").set_apart(None, page, "page")
    page.walk(words)
    assert words.found_words == ["table", "Prose"]


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


def test_the_examples_of_the_reference():
    """They run, in the order of the page, and give what they say."""
    page = (BOOK / "reference_plain.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 2
    names: dict = {}
    exec("".join(examples), names)
    assert names["label"] == "yes" and names["tree"].branches["blurry"].value == "no"
    assert names["cart"].question == ("texture", ("clear",))
    assert dict(names["oblique"].question[0])["sugar"] == 1.0
    assert sum(names["shares"].values()) == pytest.approx(1) and max(names["shares"], key=names["shares"].get) == "yes"
    assert plain.follow(names["sugar"], names["rows"][0]) == names["rows"][0].y == 0.46


def test_the_example_of_a_figure_is_one():
    """Whoever copies it has a figure whose states are those of the melons."""
    section = (BOOK / "writing.md").read_text(encoding="utf-8").split("## Add a figure")[1]
    (example,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    names: dict = {}
    exec(example, names)
    melons = load_watermelon("3.0-alpha").sort_values("sugar", ascending=False)
    figure = names["sweetest_explorer"](melons)
    for taken, frame in enumerate(figure.frames):
        ripe = (melons["ripe"][:taken] == "yes").sum()
        assert frame.sentence == f"Of the {taken} sweetest melons {ripe} are ripe."
        assert frame.found == (ripe == taken - 1 and melons["ripe"].iloc[taken - 1] == "no")
        above = [place[1] == 30 for place in frame.scenes[0].places]
        assert above == [True] * taken + [False] * (len(melons) - taken)
    assert '"stagger":25' in figure._repr_html_()
    assert figure.guess.asked()["verdicts"][2] == "You guessed 3, and that is right: melon 3 of the line is unripe."


def test_the_licences_are_texts_that_detectors_know():
    """Nothing stands before or between; what each is for, the README says."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    bsd, cc = ((ROOT / name).read_text(encoding="utf-8") for name in ("LICENSE", "LICENSE-CC-BY-4.0"))
    assert re.match(r"BSD 3-Clause License\n\nCopyright \(c\) \d{4}, .+\n\nRedistribution and use in source", bsd)
    assert cc.startswith("Attribution 4.0 International\n\n=====")
    assert "`LICENSE`" in readme and "`LICENSE-CC-BY-4.0`" in readme


# -- releases, and the machines that people have ---------------------------------------------------------------------


def test_the_pythons_are_those_of_the_classifiers():
    """The Makefile reads them there; what cannot read them agrees."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pythons = re.findall(r"Python :: (3\.\d+)$", "\n".join(project["classifiers"]), re.MULTILINE)
    oldest, newest = pythons[0], pythons[-1]
    assert project["requires-python"] == f">={oldest}"
    for name in ("README.md", "CHANGELOG.md"):
        assert f"Python {oldest} to {newest}" in (ROOT / name).read_text(encoding="utf-8")
    package = (ROOT / ".ci" / "package").read_text(encoding="utf-8")
    assert re.findall(r"python=(\S+)", package) == [oldest, newest]
    workflows = ROOT / ".github" / "workflows"
    jobs = yaml.safe_load((workflows / "test.yml").read_text(encoding="utf-8"))["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == pythons
    plan = subprocess.run(["make", "--dry-run", "lock"], cwd=ROOT, capture_output=True, text=True)
    assert f"--python-version {oldest} " in plan.stdout
    for name in ("book.yml", "release.yml"):
        assert f'python-version: "{newest}"' in (workflows / name).read_text(encoding="utf-8")


def test_bare_machines_get_what_the_readme_names():
    needed = re.search(r"^apt install (.+)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)[1]
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert f"apt-get install -y {needed}\n" in workflow


def test_actions_are_held_by_their_hashes():
    """Whoever moves a tag moves none of ours. Dependabot keeps hash and version together."""
    uses = [
        use
        for path in (ROOT / ".github" / "workflows").iterdir()
        for use in re.findall(r"uses: (?!\./)(.+)", path.read_text(encoding="utf-8"))
    ]
    assert uses and [use for use in uses if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", use)] == []


def test_a_release_needs_one_version_everywhere(tmp_path, monkeypatch, capsys):
    for name, text in {
        "treekit/__init__.py": '__version__ = "0.2.0"\n',
        "CITATION.cff": "cff-version: 1.2.0\nversion: 0.2.0\n",
        "CHANGELOG.md": "## [Unreleased]\n\n## [0.2.0] - 2027-01-31\n\n## [0.1.0] - 2026-12-01\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert set(release.versions("v0.2.0", tmp_path).values()) == {"0.2.0"}
    assert release.versions("v0.3.0", tmp_path)["the tag"] == "0.3.0"
    (tmp_path / "CHANGELOG.md").write_text("## [Unreleased]\n", encoding="utf-8")
    assert release.versions("v0.2.0", tmp_path)["CHANGELOG.md"] == "none"
    monkeypatch.setattr(release, "versions", lambda tag: {"the tag": tag, "CITATION.cff": "v1"})
    assert (release.main("v1"), release.main("v2")) == (0, 1)
    assert "one version" in capsys.readouterr().out
    monkeypatch.undo()
    assert release.versions("v0.1.0").keys() == {"the tag", *release.NAMED}


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
    """Each room of treekit is on it; the page lists the modules by itself."""
    shown = list(mapped_paths())
    assert [path for path in shown if not path.exists()] == []
    rooms = {path.parent for path in (ROOT / "treekit").glob("*/__init__.py")}
    assert len(rooms) > 5 and rooms <= set(shown)


def test_every_module_says_what_it_is(tmp_path):
    """The page has the first line of each; one that says nothing is a warning, which stops the build."""
    house = load_extension("house")
    said, silent = ROOT / "treekit" / "plain.py", tmp_path / "silent.py"
    silent.write_text("x = 1\n")
    assert house.first_line(said) == "The algorithms of the book as plain formulas, in the order of its chapters."
    assert house.first_line(silent) == ""
    silent.write_text('"""Found by :func:`treekit.plain.grow`, as `make page` shows."""\n')
    assert house.first_line(silent) == "Found by treekit.plain.grow, as make page shows."


def names_in(path: Path) -> set[str]:
    """The functions and classes of a module, and the methods as `Class.method`."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
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
    if path.is_dir():  # of figures: each module but what several of them use has the name of a notebook
        layer = {"__init__", "explorable", "looks", "melons", "charts", "plots", "following"}
        modules = {module.stem for module in path.glob("*.py")} - layer
        assert modules and modules <= {notebook.stem for notebook in BOOK.glob("*.ipynb")}
    else:
        assert sorted(set(names) - names_in(path)) == []
