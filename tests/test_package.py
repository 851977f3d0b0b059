"""treekit as others get it: the wheel, what it asks for, its README's example run from it alone; the sdist."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
import yaml

import treekit

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "treekit" / "README.md").read_text(encoding="utf-8")
EXAMPLE, PRINTED = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", README, re.DOTALL).groups()

# Put before the script: only the unpacked wheel holds treekit, and what only extras bring is not there.
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


def built(target: str, folder: Path) -> Path:
    """The wheel or the sdist, built with what is installed here: nothing is fetched."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(built("wheel", folder)) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


# -- the wheel ----------------------------------------------------------------------------------------------------


def test_the_wheel_holds_the_package_and_no_more(wheel):
    package = Path(treekit.__file__).parent
    here = {path.relative_to(package.parent) for path in package.rglob("*") if path.is_file()}
    wanted = {str(path) for path in here if "__pycache__" not in path.parts} - {"treekit/README.md"}
    assert {"treekit/py.typed", "treekit/data/watermelon.csv"} <= wanted
    held = {str(path.relative_to(wheel)) for path in wheel.rglob("*") if path.is_file()}
    info = f"treekit_book-{treekit.__version__}.dist-info"
    assert held == wanted | {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "licenses/LICENSE")}


def test_the_metadata_say_what_it_is_and_needs(wheel):
    text = (wheel / f"treekit_book-{treekit.__version__}.dist-info" / "METADATA").read_text(encoding="utf-8")
    metadata = Parser().parsestr(text)
    assert metadata["Version"] == treekit.__version__
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Author"].startswith("The authors of")
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    assert metadata["Name"] == "treekit-book" and metadata.get_payload().startswith("# treekit-book\n")
    assert metadata["Keywords"] and metadata["Description-Content-Type"] == "text/markdown"

    needed: dict[str, set[str]] = {}
    for requirement in metadata.get_all("Requires-Dist"):
        name, extra = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=[\d.]+(?:; extra == '(\w+)')?", requirement).groups()
        needed.setdefault(extra or "always", set()).add(name)
    assert needed == {
        "always": {"numpy", "pandas", "scikit-learn", "scipy"},
        "dask": {"dask", "distributed"},
    }


@pytest.fixture(scope="module")
def alone(wheel):
    """A script run in a fresh Python that sees the wheel, and neither this folder nor the user's settings."""
    script = f"""{WITHOUT_EXTRAS}
{EXAMPLE}
import treekit
print(treekit.__file__)
print(len(treekit.datasets.load_watermelon()))
"""
    command = [sys.executable, "-I", "-X", "utf8", "-c", script, str(wheel)]
    return subprocess.run(command, cwd=wheel, capture_output=True, text=True, encoding="utf-8")


@pytest.mark.slow
def test_the_readme_example_prints_what_the_readme_says(alone):
    assert "".join(alone.stdout.splitlines(keepends=True)[:-2]) == PRINTED, alone.stderr


@pytest.mark.slow
def test_the_tables_are_read_from_the_wheel(alone, wheel):
    assert alone.stdout.splitlines()[-2:] == [str(wheel / "treekit" / "__init__.py"), "17"], alone.stderr


def test_the_sdist_can_be_checked(tmp_path):
    """It ships the package's tests, and none that needs a file of the book. `.ci/package` runs them from there."""
    with tarfile.open(built("sdist", tmp_path)) as archive:
        held = {name.partition("/")[2]: archive.extractfile(name).read() for name in archive.getnames()}
    tests = {name: content.decode() for name, content in held.items() if re.fullmatch(r"tests/.+\.py", name)}
    assert {"conftest.py", "pyproject.toml", "CITATION.cff", "LICENSE", "treekit/README.md"} <= held.keys()
    assert {"tests/helpers.py", "tests/test_estimators.py", "tests/growing/test_splits.py"} <= tests.keys()
    assert not any(part in name for name in tests for part in ("/book/", "/grading/", "/exercises/"))
    away = re.compile(r'/ "(book|scripts)"|^ *from (scripts|grading|benchmarks|tests\.book)\b', re.MULTILINE)
    assert [name for name, text in tests.items() if away.search(text)] == []


# -- the modules --------------------------------------------------------------------------------------------------


def modules_of(package: Path) -> dict[str, ast.Module]:
    """The modules of a package, parsed, by their dotted names."""
    parsed = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        parsed[".".join(parts).removesuffix(".__init__")] = ast.parse(path.read_text(encoding="utf-8"))
    return parsed


def statements(node: ast.AST, for_types: bool) -> Iterator[ast.AST]:
    """What runs when a module is imported, so no bodies of functions; TYPE_CHECKING is true only ``for_types``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING") and not for_types:
            child = ast.Module(child.orelse, [])
        yield child
        yield from statements(child, for_types)


def imports(modules: dict[str, ast.Module], for_types: bool = False) -> dict[str, set[str]]:
    """Which modules of the package each of them imports by name."""
    graph = {}
    for name, tree in modules.items():
        wanted = set()
        for statement in statements(tree, for_types):
            if isinstance(statement, ast.Import):
                wanted |= {alias.name for alias in statement.names}
            elif isinstance(statement, ast.ImportFrom):
                assert statement.level == 0, f"{name}: imports are absolute"
                inside = {f"{statement.module}.{alias.name}" for alias in statement.names}
                wanted |= (inside & modules.keys()) or {statement.module}
        graph[name] = wanted & modules.keys()
    return graph


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, the first one again at the end; empty if there are none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


@pytest.fixture(scope="module")
def modules():
    return modules_of(Path(treekit.__file__).parent)


def test_no_modules_import_each_other_in_a_circle(modules):
    """So any of them can be read after those that it stands on, and moved; what is imported for types alone counts."""
    graph = imports(modules, for_types=True)
    assert "treekit.growing.level" in graph["treekit.growing.grow"] and "treekit.trees.tree" in graph["treekit"]
    assert circle(graph) == []


def test_the_front_door_imports_a_name_when_it_is_first_asked_for(modules):
    """The standard library alone is loaded for the plain code; what type checkers are told is what is imported."""
    told = {
        alias.asname: statement.module
        for statement in statements(modules["treekit"], for_types=True)
        if isinstance(statement, ast.ImportFrom) and statement.module.startswith("treekit.")
        for alias in statement.names
    }
    assert told == treekit._HOME and {*told, "datasets"} == set(treekit.__all__)
    assert set(treekit.__all__) <= set(dir(treekit))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = treekit.nothing
    loaded = "{'numpy', 'treekit.datasets', 'treekit.trees'} & {*sys.modules}"
    script = f"import sys\nfrom treekit import plain\nprint({loaded})"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout == "set()\n", run.stderr


def test_circles_are_found(tmp_path):
    package = tmp_path / "p"
    package.mkdir()
    sources = {
        "__init__": "from p.a import f",
        "a": "import os\nfrom p import b\n\ndef late():\n    import p.c",
        "b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a import f",
        "c": "try:\n    import p.d\nexcept ImportError:\n    pass",
        "d": "class D:\n    from p.a import f",
    }
    for name, source in sources.items():
        (package / f"{name}.py").write_text(source)
    assert circle(imports(modules_of(package))) == []
    assert set(circle(imports(modules_of(package), for_types=True))) == {"p.a", "p.b"}
    (package / "b.py").write_text("import p.c")
    assert set(circle(imports(modules_of(package)))) == {"p.a", "p.b", "p.c", "p.d"}


#: The rooms of the house, floor by floor: a module imports from its own room and from floors below, never from above.
FLOORS = [
    {"numeric", "datasets", "plain", "exercises"},
    {"reading", "pen", "sweep"},
    {"measures", "trees", "by_hand"},
    {"growing"},
    {"pruning"},
    {"models"},
]


def imported(tree: ast.Module) -> set[str]:
    """All that a module imports, inside functions too; of ``from treekit import x`` the room x."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= inside if node.module == "treekit" else {node.module}
    return names


def room(name: str) -> str:
    return name.split(".")[1]


def arrows_up(modules: dict[str, ast.Module]) -> set[tuple[str, str]]:
    """The imports from another room that lies no floor below: the importing module, and the room."""
    floor = {name: i for i, rooms in enumerate(FLOORS) for name in rooms}
    up = set()
    for name, tree in modules.items():
        if name != "treekit":  # the front door opens to all rooms
            others = {room(other) for other in imported(tree) if other.startswith("treekit.")} - {room(name)}
            up |= {(name, other) for other in others if floor[other] >= floor[room(name)]}
    return up


def test_no_arrow_runs_back_up(modules):
    assert set().union(*FLOORS) == {room(name) for name in modules if "." in name} - {"data"}
    assert arrows_up(modules) == set()


def test_arrows_up_are_found():
    sources = {
        "treekit": "import treekit.models",
        "treekit.pen.svg": "def f():\n    from treekit import models",
        "treekit.trees.tree": "from treekit.measures import gini",
        "treekit.models.id3": "import treekit.trees.tree",
    }
    up = {("treekit.pen.svg", "models"), ("treekit.trees.tree", "measures")}
    assert arrows_up({name: ast.parse(source) for name, source in sources.items()}) == up


def test_the_package_stands_without_the_book(modules):
    """The figures lie beside the chapters, and matplotlib is theirs."""
    wanted = set().union(*map(imported, modules.values()))
    assert not {name.split(".")[0] for name in wanted} & {"figures", "matplotlib"}


# -- the code -----------------------------------------------------------------------------------------------------

#: So many lines, without the docstring, fit on a page.
PAGE = 40


def long_functions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The functions of a module that are longer than a page, and their lines."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            docstring = node.body[0] if ast.get_docstring(node, clean=False) is not None else None
            n_lines = node.end_lineno - node.lineno + 1
            n_lines -= docstring.end_lineno - docstring.lineno + 1 if docstring else 0
            if n_lines > PAGE:
                yield node.name, n_lines


def test_no_function_is_longer_than_a_page():
    command = ["git", "ls-files", "*.py", ":!tests"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [path for path in map(ROOT.joinpath, listing.splitlines()) if path.exists()]
    assert ROOT / "treekit" / "plain.py" in paths
    long = {path: [*long_functions(ast.parse(path.read_text(encoding="utf-8")))] for path in paths}
    assert {str(path.relative_to(ROOT)): found for path, found in long.items() if found} == {}


def test_long_functions_are_found():
    with_docstring = 'class C:\n    def g(self):\n        """Two\n        lines."""\n'
    source = "def f():\n" + 40 * "    x = 1\n" + with_docstring + 39 * "        x = 1\n"
    assert [*long_functions(ast.parse(source))] == [("f", 41)]


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
