"""Runs the cells of a page in the browser's Python, and shows what they give as a notebook would.

`worker.js` calls this; nothing here depends on the browser, so it can be tested outside one.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import io
import json
import linecache
import pprint
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from slices import names_of

#: The names of the page's cells, and what they were before the last run.
space: dict[str, Any] = {}
before: dict[str, Any] = {}
#: How the page is given something to show: `show_by` sets it.
give: Callable[[str, str], object] = print

CELL = "cell "


def show_by(function: Callable[[str, str], object]) -> None:
    """Call `function(kind, text)` with whatever is to be shown; kinds are text, html and svg."""
    global give
    give = function
    builtins.input = ask_nobody


def ask_nobody(prompt: object = "") -> str:
    raise RuntimeError("nobody can be asked here: write the value into the code, in place of input()")


# -- what to load ---------------------------------------------------------------------------------------------------


def imported(source: str) -> Iterator[str]:
    """The full names that code imports, inside functions too; none if it is not valid Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def wanted(source: str) -> str:
    """The packages that code needs, as JSON: under `names` those of the book's own modules, under `others` the rest.

    `packages.json` is written at build time: for each module of the book the packages on which it depends, and for
    each package that Pyodide has the name under which it is loaded.
    """
    known = json.loads(Path(__file__).with_name("packages.json").read_text("utf-8"))
    names: set[str] = set()
    for name in imported(source):
        while name and name not in known["modules"]:
            name = name.rpartition(".")[0]
        names.update(known["modules"].get(name, ()))
    tops = {name.partition(".")[0] for name in imported(source)} - {"treekit", "figures"}
    others = {known["packages"][top] for top in tops if top in known["packages"]}
    return json.dumps({"names": sorted(names), "others": sorted(others - names)})


# -- what is shown --------------------------------------------------------------------------------------------------


def show(value: Any) -> None:
    """Show a value as a notebook does: as HTML, as a picture, or as text."""
    for kind in ("html", "svg"):
        method = None if isinstance(value, type) else getattr(value, f"_repr_{kind}_", None)
        made = method() if callable(method) else None
        if made is not None:
            give(kind, made)
            return
    give("text", pprint.pformat(value, width=79, sort_dicts=False))


def show_plots() -> None:
    """Show what was plotted, if Matplotlib was there to plot it."""
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return
    for number in plt.get_fignums():
        file = io.StringIO()
        plt.figure(number).savefig(file, format="svg", bbox_inches="tight")
        plt.close(number)
        give("svg", file.getvalue()[file.getvalue().index("<svg") :])


# -- running --------------------------------------------------------------------------------------------------------


async def evaluate(source: str, name: str) -> Any:
    """Run code, which may await, in `space`, and return the value of its last expression."""
    tree = ast.parse(source, name)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    value = eval(compile(tree, name, "exec", flags), space)
    if inspect.iscoroutine(value):
        await value
    if not isinstance(last, ast.Expr):
        return None
    value = eval(compile(ast.Expression(last.value), name, "eval", flags), space)
    return await value if inspect.iscoroutine(value) else value


def told(error: BaseException, name: str) -> dict[str, Any]:
    """What went wrong: Python's message, for cells alone; the line of this cell; and the package that is missing."""
    found = traceback.TracebackException.from_exception(error, compact=True)
    found.stack = traceback.StackSummary.from_list([frame for frame in found.stack if frame.filename.startswith(CELL)])
    lines = [frame.lineno for frame in found.stack if frame.filename == name]
    if isinstance(error, SyntaxError) and error.filename == name:
        lines = [error.lineno]
    text = "".join(found.format(chain=False)).rstrip()
    if hasattr(error, "_render_traceback_"):  # a check of an exercise answers in words
        return {"error": "\n".join(error._render_traceback_()), "line": 0, "missing": [], "says": True}
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    return {"error": text, "line": lines[-1] if lines else 0, "missing": [missing] if missing else []}


def prepare(mode: str) -> None:
    """Put the names back to what they were before the last run ("again"), or forget them all ("fresh")."""
    if mode:
        kept = before.copy() if mode == "again" else {}
        space.clear()
        space.update(kept)
    space.setdefault("__name__", "__main__")
    space.setdefault("display", show)
    before.clear()
    before.update(space)


async def run(source: str, name: str, mode: str = "") -> str:
    """Run a cell and show what it gives; return as JSON what went wrong, and whether objects may have changed."""
    prepare(mode)
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    answer: dict[str, Any] = {"changes": True}
    try:
        value = await evaluate(source, name)
        answer["changes"] = bool(names_of(source).changed)
        show_plots()
        if value is not None:
            space["_"] = value
            show(value)
    except BaseException as error:
        answer |= told(error, name)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return json.dumps(answer)


async def call(name: str, values: list[Any]) -> str:
    """Call a function by its full name; return as JSON its value, or what went wrong."""
    module, _, function = name.rpartition(".")
    try:
        value = getattr(importlib.import_module(module), function)(*values)
        return json.dumps({"value": await value if inspect.iscoroutine(value) else value})
    except BaseException as error:
        return json.dumps({"error": "".join(traceback.format_exception(error)).rstrip(), "line": 0})
