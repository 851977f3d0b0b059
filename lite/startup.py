"""Runs in a notebook of JupyterLite before its first cell: a cell that imports treekit first loads what that stands on.

The kernel loads the packages that a cell imports by their names. Of treekit it can't know which parts stand on NumPy,
and it has no place where one could tell it, so its loading is replaced.
"""

import json
import sys

import pyodide_js
import runner
from pyodide.ffi import to_js
from pyodide_kernel import kernel


async def load(source):
    """Load the packages that some code needs, and say in a sentence which could not be had."""
    await pyodide_js.loadPackagesFromImports(source)
    wanted = json.loads(runner.wanted(source))
    await pyodide_js.loadPackage(to_js(wanted["names"]))
    loaded = pyodide_js.loadedPackages.to_py()
    missing = [name for name in wanted["names"] + wanted["others"] if name not in loaded]
    if missing:
        print(f"Could not be loaded: {', '.join(missing)}. Is there a connection to the network?", file=sys.stderr)


kernel._load_packages_from_imports = load
