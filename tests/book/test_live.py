"""What the site has of Python: where its parts come from, and what a module of the book needs in the browser."""

from __future__ import annotations

import json
import zipfile

import pytest

from scripts.execute import BOOK
from tests.book.test_upkeep import load_extension

LOCK = {
    "packages": {
        name: {"name": name, "imports": [imported], "depends": depends, "file_name": f"{name}.whl"}
        for name, imported, depends in [
            ("numpy", "numpy", []),
            ("pandas", "pandas", ["numpy", "pytz"]),
            ("pytz", "pytz", []),
            ("scikit-learn", "sklearn", ["scipy"]),
            ("scipy", "scipy", ["numpy"]),
            ("sympy", "sympy", []),
        ]
    }
}


@pytest.fixture(scope="module")
def live():
    return load_extension("live")


def test_a_module_needs_what_it_and_those_below_it_import(live):
    known = live.known_packages(LOCK)
    assert known["modules"]["treekit.numeric"] == ["numpy"]
    assert known["modules"]["treekit.ID3Classifier"] == ["numpy", "pandas", "scikit-learn", "scipy"]
    plain = {"treekit", "treekit.plain", "treekit.exercises", "treekit.pen.svg", "figures.explorable"}
    assert not plain & known["modules"].keys()
    assert known["packages"]["sklearn"] == "scikit-learn"


def test_what_is_plain_comes_with_python_and_the_rest_later(live, tmp_path):
    live.write_modules(tmp_path, live.known_packages(LOCK))
    plain, whole = (set(zipfile.ZipFile(tmp_path / f"{name}.zip").namelist()) for name in ("plain", "whole"))
    assert {"runner.py", "slices.py", "packages.json", "treekit/plain.py", "treekit/data/watermelon.csv"} <= plain
    assert {"treekit/models/id3.py", "treekit/data/tuning.csv"} <= whole and not plain & whole
    assert (tmp_path / "plain.zip").stat().st_size < 60_000


@pytest.fixture
def written(live, tmp_path, monkeypatch):
    """What the site then holds of Pyodide, and the addresses of its core and its packages, for a setting."""
    npm = tmp_path / "npm"
    npm.mkdir()
    for name in live.CORE:
        (npm / name).write_text(name)
    (npm / "package.json").write_text(json.dumps({"version": "1.2.3"}))
    for name in LOCK["packages"]:
        (tmp_path / f"{name}.whl").write_text(name)

    def write(setting):
        monkeypatch.setenv("BOOK_PYODIDE", setting)
        addresses = live.write_core(tmp_path / "site", npm, LOCK, live.known_packages(LOCK))
        return addresses, {path.name for path in (tmp_path / "site").glob("*")}

    return write


def test_python_comes_from_the_site_and_what_is_large_from_the_public_address(live, written):
    (core, wheels), held = written("")
    assert (core, wheels) == ("../pyodide/", "https://cdn.jsdelivr.net/pyodide/v1.2.3/full/")
    assert held == set(live.CORE)


def test_all_comes_from_an_address(written):
    assert written("https://school.example/pyodide") == (("https://school.example/pyodide/",) * 2, set())


def test_a_folder_is_taken_along_with_what_the_book_needs(live, written, tmp_path):
    addresses, held = written(str(tmp_path))
    assert addresses == ("../pyodide/",) * 2
    assert held == {*live.CORE, "numpy.whl", "pandas.whl", "pytz.whl", "scikit-learn.whl", "scipy.whl"}


def test_the_lock_names_no_registry_and_holds_every_file():
    lock = json.loads((BOOK / "live" / "package-lock.json").read_text(encoding="utf-8"))
    package = json.loads((BOOK / "live" / "package.json").read_text(encoding="utf-8"))
    assert "resolved" not in json.dumps(lock)
    files = {name: entry for name, entry in lock["packages"].items() if name}
    assert files and all(entry["integrity"].startswith("sha512-") for entry in files.values())
    for name, version in package["devDependencies"].items():
        assert files[f"node_modules/{name}"]["version"] == version
    readme = (BOOK.parent / "README.md").read_text(encoding="utf-8")
    assert f"/v{package['devDependencies']['pyodide']}/full/" in readme
