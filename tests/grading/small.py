"""A small course with two notebooks, and students who answer it, well, badly and with malice."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

#: `check` comes with the first test, not with the cell above: so what students run imports nothing of treekit, which
#: would take most of their time; nor does the first notebook import pandas. The chapters' notebooks, which import both
#: at their top, are marked as well.
MEAN_TEST = """\
from treekit.exercises import check

check("mean", [1, 2, 6], gives=3, mistakes={"sum": (9, "These are added up. Divide by how many there are.")})
### BEGIN HIDDEN TESTS
for numbers in ([4], [1, 1, 1, 9], [-2, 2]):
    check("mean", numbers, gives=float(np.mean(numbers)))
### END HIDDEN TESTS"""

SHARES_TEST = """\
check("shares", ["a", "b", "a", "a"], gives={"a": 0.75, "b": 0.25}, mistakes={
    "counts": ({"a": 3, "b": 1}, "These are counts. Divide by the number of labels."),
})
### BEGIN HIDDEN TESTS
check("shares", ["c"], gives={"c": 1.0})
check("shares", ["c", "d"], gives={"c": 0.5, "d": 0.5})
### END HIDDEN TESTS"""

HALF_TEST = """\
check("half", gives=0.5)
### BEGIN HIDDEN TESTS
check("half", gives=0.5)
### END HIDDEN TESTS"""

TALL_TEST = """\
from treekit.exercises import check

check("tall", pd.DataFrame({"cm": [150, 190]}, index=["x", "y"]), gives=["y"])
### BEGIN HIDDEN TESTS
check("tall", pd.DataFrame({"cm": [181, 179, 180]}, index=list("abc")), gives=["a"])
### END HIDDEN TESTS"""

#: The solutions, by cell.
RIGHT = {
    "first-mean": "def mean(numbers):\n    return sum(numbers) / len(numbers)",
    "first-shares": "def shares(labels):\n    return {x: labels.count(x) / len(labels) for x in labels}",
    "first-half": "half = 0.5",
    "first-explain": "Because the shares add up to one.",
    "second-tall": "def tall(people):\n    return people.index[people['cm'] > 180]",
}


def cell(kind: str, name: str, source: str, **details: object) -> NotebookNode:
    """A cell with nbgrader's metadata."""
    make = new_code_cell if kind == "code" else new_markdown_cell
    known = {"schema_version": 3, "grade_id": name, "grade": False, "solution": False, "locked": True, "task": False}
    return make(source, id=name, metadata={"nbgrader": known | details})


def solved(name: str) -> str:
    return f"### BEGIN SOLUTION\n{RIGHT[name]}\n### END SOLUTION"


def task(name: str, title: str, test: str, points: int) -> list[NotebookNode]:
    """The cells of a task: question, answer, test."""
    return [
        cell("markdown", f"{name}-task", f"### {title}\n\nWrite it."),
        cell("code", name, solved(name), solution=True, locked=False),
        cell("code", f"{name}-test", test, grade=True, points=points),
    ]


def sources() -> dict[str, NotebookNode]:
    """The two notebooks with their solutions."""
    setup = {"first": "import numpy as np", "second": "import numpy as np\nimport pandas as pd"}
    by_hand = {"grade": True, "solution": True, "locked": False, "points": 3}
    notebooks = {
        "first": [
            *task("first-mean", "1. Mean", MEAN_TEST, 2),
            *task("first-shares", "2. Shares", SHARES_TEST, 3),
            *task("first-half", "3. Half", HALF_TEST, 1),
            cell("markdown", "first-explain-task", "### 4. Why?\n\nSay why."),
            cell("markdown", "first-explain", solved("first-explain") + "\n\n**Rubric**\n\n- 3: a reason", **by_hand),
        ],
        "second": task("second-tall", "1. Tall", TALL_TEST, 2),
    }
    python = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    return {
        name: new_notebook(cells=[cell("code", f"{name}-setup", setup[name]), *cells], metadata=python)
        for name, cells in notebooks.items()
    }


def write_sources(folder: Path) -> Path:
    """The course as an instructor keeps it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, notebook in sources().items():
        nbformat.write(notebook, folder / f"{name}.ipynb")
    return folder


def answered(edition: NotebookNode, answers: dict[str, str]) -> NotebookNode:
    """A student edition with answers in some of its cells."""
    notebook = nbformat.from_dict(json.loads(nbformat.writes(edition)))
    for one in notebook.cells:
        one.source = answers.get(one.id, one.source)
    return notebook
