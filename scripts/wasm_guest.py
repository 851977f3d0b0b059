"""Runs one notebook inside WebAssembly, and prints as a line of JSON which cells print something else; see wasm.py."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import types
import warnings
from collections.abc import Coroutine
from html import unescape
from typing import Any

import runner  # of book/live

#: Packages that a page can't have in the browser either.
ABSENT = {"dask", "distributed", "xgboost", "lightgbm"}


def words(text: str) -> str:
    """A text without marks-up and white space, and without what names a place in memory."""
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    return re.sub(r"\s+|0x[0-9a-f]+", "", unescape(re.sub(r"<(?!script)[^>]*>", "", text)))


def stored(cell: dict[str, Any]) -> str:
    """What the page shows, but for plots."""
    shown = []
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", "")})
        if "image/svg+xml" not in data:
            shown.append("".join(data.get("text/html", data.get("text/plain", ""))))
    return words("".join(shown))


def shown_by(source: str, number: int) -> tuple[str, dict[str, Any]]:
    """What a cell shows here, but for plots; and what went wrong."""
    shown = io.StringIO()
    runner.show_by(lambda kind, text: kind != "svg" and shown.write(text))
    with contextlib.redirect_stdout(shown):
        answer = json.loads(ended(runner.run(source, f"cell {number}")))
    return words(shown.getvalue()), answer


def ended(work: Coroutine[Any, Any, str]) -> str:
    """What a coroutine that waits for nothing returns: there is no event loop here."""
    try:
        work.send(None)
    except StopIteration as end:
        return str(end.value)
    raise RuntimeError("a cell waits for something")


def difference(page: str, here: str) -> str:
    """Where two texts part."""
    k = next((k for k, (one, other) in enumerate(zip(page, here)) if one != other), min(len(page), len(here)))
    start = max(0, k - 30)
    return f"the page {page[start : k + 50]!r}, here {here[start : k + 50]!r}"


def differences(notebook: dict[str, Any]) -> dict[int, str]:
    """For each cell of code that shows something else, what. What a missing package takes along is passed over."""
    found, absent = {}, False
    for number, cell in enumerate((cell for cell in notebook["cells"] if cell["cell_type"] == "code"), start=1):
        here, answer = shown_by("".join(cell["source"]), number)
        absent = absent or bool(ABSENT & set(answer.get("missing", ())))
        if "error" in answer:
            if not (ABSENT & set(answer["missing"]) or (absent and "NameError" in answer["error"])):
                found[number] = answer["error"].strip().splitlines()[-1]
        elif here != stored(cell):
            found[number] = difference(stored(cell), here)
    return found


if __name__ == "__main__":
    # Matplotlib asks which IPython runs: none.
    ipython = types.SimpleNamespace(version_info=(9,), get_ipython=lambda: None)
    sys.modules["IPython"] = ipython  # type: ignore[assignment]
    import pandas as pd

    pd.options.display.width = 80
    warnings.simplefilter("ignore")
    with open(sys.argv[1], encoding="utf-8") as file:
        print(json.dumps(differences(json.load(file))))
