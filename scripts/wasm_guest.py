"""Runs one notebook inside WebAssembly, and prints as a line of JSON what became of its cells; see wasm.py."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import types
import warnings
from collections.abc import Coroutine
from typing import Any

import runner  # of book/live

from scripts.replay import compare

#: Packages that are not built for this Python.
ABSENT = {"dask", "distributed", "xgboost", "lightgbm"}


def run(source: str, number: int) -> tuple[str, dict[str, Any]]:
    """What a cell shows here, but for plots; and what went wrong."""
    shown = io.StringIO()
    runner.show_by(lambda kind, text: kind != "svg" and shown.write(text))
    with contextlib.redirect_stdout(shown):
        answer = json.loads(ended(runner.run(source, f"cell {number}")))
    return shown.getvalue(), answer


def ended(work: Coroutine[Any, Any, str]) -> str:
    """What a coroutine that waits for nothing returns: there is no event loop here."""
    try:
        work.send(None)
    except StopIteration as end:
        return str(end.value)
    raise RuntimeError("a cell waits for something")


if __name__ == "__main__":
    # Matplotlib asks which IPython runs; there is none.
    ipython = types.SimpleNamespace(version_info=(9,), get_ipython=lambda: None)
    sys.modules["IPython"] = ipython  # type: ignore[assignment]
    import pandas as pd

    pd.options.display.width = 80
    warnings.simplefilter("ignore")
    with open(sys.argv[1], encoding="utf-8") as file:
        print(json.dumps(compare(json.load(file), run, ABSENT)))
