"""What the page for a reader's own table computes with NumPy, on ten tables; see wasm.py.

Inside WebAssembly this prints it as a line of JSON, to be compared with what the same function returns outside.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sklearn import datasets

from your_table import page

DATA = Path(__file__).resolve().parents[1]
PUBLIC = ("iris", "wine", "breast_cancer", "diabetes", "linnerud")
FILES = ("treekit/data/playtennis", "treekit/data/loan", "treekit/data/watermelon_missing", "treekit/data/lunch")
METHODS: dict[str, dict[str, Any]] = {
    "forest": {"n_estimators": 30, "max_depth": 20},
    "boosting": {"n_estimators": 30, "learning_rate": 0.1, "max_depth": 3},
    "large": {"max_depth": 4},
}
DIGITS = 9  # of a number that are compared; beyond, mathematical libraries round in their own ways


def tables(home: Path) -> dict[str, str]:
    """Ten tables as CSV."""
    found = {name: getattr(datasets, f"load_{name}")(as_frame=True).frame.to_csv(index=False) for name in PUBLIC}
    for name in (*FILES, "tests/data/stagec"):
        found[name] = (home / f"{name}.csv").read_text(encoding="utf-8")
    return found


def computed(home: Path) -> dict[str, Any]:
    """For each table and method the scores, the columns that mattered, and the rules."""
    found = {}
    for name, text in tables(home).items():
        suggested = page.take(text.encode(), "table.csv")["suggested"]
        for method, parameters in METHODS.items():
            answer = page.grow(suggested | {"method": method, "parameters": parameters})
            numbers = [one[k] for one in answer["scores"] for k in ("leaves", "grown", "new")]
            shares = [[A, float(f"{share:.{DIGITS}g}")] for A, share in answer["importance"]]
            found[f"{name}, {method}"] = [[float(f"{x:.{DIGITS}g}") for x in numbers], shares, answer["rules"]]
    return found


if __name__ == "__main__":
    print(json.dumps(computed(Path("/lib"))))
