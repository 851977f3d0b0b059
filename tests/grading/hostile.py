"""Broken and hostile submissions: what each hands in, the marks that it gets, and the reason that is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

from tests.grading.small import RIGHT, answered

#: A forged check, an object equal to everything, and hooks that would empty the tests before they run.
FORGED = """\
import builtins, math, sys
import treekit.exercises
class Equal(float):
    def __eq__(self, other): return True
    __hash__ = float.__hash__
treekit.exercises.check = check = lambda *words, **more: print("Right")
treekit.exercises._same = math.isclose = lambda *words, **more: True
get_ipython().input_transformers_cleanup.append(lambda lines: ["pass"] if "check(" in "".join(lines) else lines)
def shares(labels):
    return Equal(1)
"""

#: Look for the right answer where a test in the same process would hold it.
THIEF = """\
import gc, sys
def mean(numbers):
    frame = sys._getframe()
    while frame:
        if "gives" in frame.f_locals:
            return frame.f_locals["gives"]
        frame = frame.f_back
    hidden = [text for text in gc.get_objects() if isinstance(text, str) and "HIDDEN" + " TESTS" in text]
    return len(hidden) + 0.125
"""

#: Speak for the grader on every connection that there is.
SPOOFED = """\
import json, os
text = json.dumps({"number": 3, "value": 3.0, "score": 100}).encode()
for number in range(3, 4000):
    try:
        os.write(number, len(text).to_bytes(4, "big") + text)
    except OSError:
        pass
def mean(numbers):
    return 0
"""

READER = """\
import glob, os
found = [path for path in {paths} + glob.glob("/home/*/*.ipynb") + glob.glob("/tmp/*") if os.path.isfile(path)]
half = open(found[0] if found else {paths}[0]).read()
"""

WRITER = """\
from importlib.util import find_spec
half = 0.5
with open(find_spec("treekit").origin, "w") as file:
    file.write("check = None")
"""

CALLER = """\
import urllib.request
half = 0.5
urllib.request.urlopen("http://192.0.2.1/", timeout=2)
"""

UNSHARED = """\
import ctypes, os
half = 0.5
if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
half = 0
"""

#: It grows, and then leaves the watch time to look, however busy the machine is.
MEMORY = """\
import time
x = [bytearray(10**7) for _ in range(50)]
time.sleep(99)
"""

FORKS = """\
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""

#: Values that keep whoever reads them busy: keys that all collide, more than may pass, and no more but many times.
COLLIDING = """\
class Odd(dict):
    def items(self):
        return [(n * (2**61 - 1), 0) for n in range({n_keys})]
def shares(labels):
    return [Odd()] * {n_times}
"""

#: A row of its own for a spreadsheet, from a namespace of its own, so that no line of the student's is added to it.
FORMULA = """\
space = {}
exec("def shares(labels): raise ValueError('x' + chr(13) + '=HYPERLINK(A1)' + chr(0xd800))", space)
shares = space["shares"]
"""


class Case(NamedTuple):
    """A student's malice or mishap in the first notebook, and what is to come of it."""

    answers: dict[str, str]
    score: float | None  #: of the six points that need no reader; None if nothing could be marked
    reason: str  #: a pattern that one of the remarks meets
    change: Callable[[NotebookNode], object] = lambda notebook: None
    name: str = "first.ipynb"
    text: bytes | None = None


def without_tests(notebook: NotebookNode) -> None:
    notebook.cells = [cell for cell in notebook.cells if not cell.id.endswith("-test")]


def passing_tests(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        if cell.id.endswith("-test"):
            cell.source = "print('Right')"


def more_points(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        if "points" in cell.metadata.get("nbgrader", {}):
            cell.metadata.nbgrader.points = 100


def other_kernel(notebook: NotebookNode) -> None:
    notebook.metadata.kernelspec = {"name": "ir", "language": "R", "display_name": "R"}


def no_metadata(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)


def cases(paths: list[str]) -> dict[str, Case]:
    """All cases by student; ``paths`` are those of solutions, gradebooks and other students' work."""
    wrong = {"first-mean": "def mean(numbers):\n    return 0"}
    return {
        "carriage return": Case({"first-shares": FORMULA}, 3, ""),
        "colliding keys": Case({"first-shares": COLLIDING.format(n_keys=50_000, n_times=1)}, 3, ""),
        "colliding often": Case({"first-shares": COLLIDING.format(n_keys=9_999, n_times=20)}, 3, ""),
        "commands": Case({"first-half": ("!true # " + "x" * 900 + "\n") * 450}, 5, "took more than|gave no answer"),
        "deleted tests": Case(wrong, 4, "first-mean-test was deleted", without_tests),
        "edited tests": Case(wrong, 4, "first-mean-test was edited", passing_tests),
        "endless call": Case({"first-shares": "def shares(labels):\n    while True: pass"}, 3, "shares took more than"),
        "endless cell": Case({"first-shares": "while True: pass"}, 3, "a cell took more than .* s: while True"),
        "endless output": Case({"first-half": "while True: print('x' * 99)"}, 5, "printed without end"),
        "exit": Case({"first-mean": "import os\nos._exit(0)"}, 4, "a cell ended the program"),
        "forged": Case({"first-shares": FORGED}, 3, "defines check, which is given"),
        "forks": Case({"first-half": FORKS}, 5, "took more than|gave no answer"),
        "memory": Case({"first-half": MEMORY}, 5, "took more than 400 MB of memory"),
        "more points": Case(wrong, 4, "points of first-mean-test were changed", more_points),
        "network": Case({"first-half": CALLER}, 6, "tried to reach the network"),
        "half of a pair": Case({"first-mean": "def mean(numbers):\n    return chr(0xd800)"}, 4, ""),
        "no json": Case({}, None, "not JSON", text=b'{"cells": [oops'),
        "no metadata": Case({}, 6, "", no_metadata),
        "no notebook": Case({}, None, "no notebook was found", name="notes.txt", text=b"My dog ate it."),
        "no walls": Case({"first-half": UNSHARED}, 6, "asked the system for what is closed"),
        "other file name": Case({}, 6, "", name="My Homework (2).ipynb"),
        "other kernel": Case({}, 6, "in R; it was run as Python", other_kernel),
        "other name": Case({"first-mean": "def average(numbers):\n    return sum(numbers) / len(numbers)"}, 4, ""),
        "polite exit": Case({"first-half": "half = 0.5\nexit()"}, 6, "called exit"),
        "reader": Case({"first-half": READER.format(paths=paths)}, 5, "looked for a file that is not there"),
        "spoofed": Case({"first-mean": SPOOFED}, 4, ""),
        "syntax error": Case({"first-mean": "def mean(numbers:\n    return 0"}, 4, ""),
        "thief": Case({"first-mean": THIEF}, 4, ""),
        "writer": Case({"first-half": WRITER}, 6, "tried to write where it may not"),
    }


def handed_in(case: Case, edition: NotebookNode) -> bytes:
    """The file of a case."""
    if case.text is not None:
        return case.text
    notebook = answered(edition, RIGHT | case.answers)
    case.change(notebook)
    return nbformat.writes(notebook).encode()
