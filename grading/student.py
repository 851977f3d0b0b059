"""A student's code, seen from outside: run its cells, look up its names, call its functions.

If the code ends or is stopped, it starts again without the cell at fault, so that the other tasks can still be marked.
"""

from __future__ import annotations

import base64
import builtins
import pickle
from dataclasses import replace
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from grading.assemble import whole
from grading.sandbox import Limits, Sandbox, Stopped
from grading.shell import LONGEST_OUTPUT, PICTURE
from grading.values import NotPlain, decoded

__all__ = ["Missing", "Remote", "Student", "clean"]

#: How often a student's code may start again.
RESTARTS = 4
LARGEST_PICTURE = 1 << 20
#: Outputs that one cell may have, and characters of all that a notebook may show.
MOST_OUTPUTS = 50
MOST_SHOWN = 20 << 20


class Missing(Exception):
    """The student has defined no such name."""


class Student:
    """What one student handed in, running in a sandbox. ``remarks`` tells what happened there."""

    def __init__(self, limits: Limits, unsafe: bool = False) -> None:
        self.limits, self.unsafe = limits, unsafe
        self.remarks: list[str] = []
        self.used = self.idle = 0.0  #: seconds of a processor, and of waiting, in all that has ended
        self._ran: list[str] = []
        self._shown = 0
        self._starts = 0
        self._sandbox: Sandbox | None = None

    def run(self, source: str) -> list[NotebookNode]:
        """The outputs of a cell, of which the text and the pictures are left."""
        try:
            answer = self._ask({"do": "run", "source": source})
        except Stopped as stop:
            self.remarks.append(f"a cell {stop}: {_first_line(source)}")
            return [new_output("error", ename="Stopped", evalue=f"This cell {stop}.", traceback=[f"This cell {stop}."])]
        self._ran.append(source)
        outputs = clean(answer.get("outputs"))
        self._shown += len(str(outputs))
        if self._shown > MOST_SHOWN:
            self.remarks.append("the notebook shows too much; the rest was left out")
            return []
        return outputs

    def look_up(self, name: str) -> Any:
        """The value of a name, or for a function what calls it.

        Raises
        ------
        Missing
            If there is no such name.
        """
        answer = self._ask({"do": "look up", "name": name})
        if answer.get("missing"):
            raise Missing(name)
        return Remote(self, name) if answer.get("callable") else _value(answer)

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a function of the student returns; an error in it is raised here by the same name."""
        arguments = base64.b64encode(pickle.dumps((args, kwargs))).decode()
        try:
            answer = self._ask({"do": "call", "name": name, "arguments": arguments})
        except Stopped as stop:
            self.remarks.append(f"{name} {stop}")
            raise
        if "raised" in answer:
            kind = getattr(builtins, str(answer["raised"]), None)
            if not (isinstance(kind, type) and issubclass(kind, Exception)) or kind is StopIteration:
                kind = _named(str(answer["raised"]))
            raise kind(str(answer.get("message", ""))[:2000])
        return _value(answer)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return (self._sandbox or self._started()).ask(request)
        except Stopped:
            self._forget()
            raise

    def _started(self) -> Sandbox:
        """Begin, or begin again with the cells that have run to their ends."""
        if self._starts > RESTARTS:
            raise Stopped("was not run, because too many cells or calls before it had to be stopped")
        left = self.limits.total - self.used
        if left <= 0:
            raise Stopped(f"was not run, because the notebook had taken more than {self.limits.total:g} s before")
        self._starts += 1
        patience = max(2, self.limits.patience - self.idle)
        self._sandbox = sandbox = Sandbox(replace(self.limits, total=left, patience=patience), self.unsafe)
        try:
            for source in ["", *self._ran]:
                sandbox.ask({"do": "run", "source": source})
        except Stopped as stop:
            if self._starts > 1:
                raise
            self._forget()
            # Nothing of the student's has run: no mark may come of this.
            raise RuntimeError(f"no code can run here: an empty cell {stop}") from None
        return sandbox

    def close(self) -> None:
        """End the student's process."""
        if self._sandbox is not None:
            self._sandbox.close()
        self._forget()

    def _forget(self) -> None:
        if self._sandbox is not None:
            self.used += self._sandbox.used
            self.idle += self._sandbox.idle
        self._sandbox = None


class Remote:
    """A function of the student, callable from outside."""

    def __init__(self, student: Student, name: str) -> None:
        self._student = student
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._student.call(self.__name__, args, kwargs)

    def __deepcopy__(self, memo: dict[int, Any]) -> Remote:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (_Main(), self.__name__)  # as an argument it is the student's own function again


class _Main:
    """Stands for the student's namespace in a pickle."""

    def __reduce__(self) -> tuple[Any, ...]:
        return __import__, ("__main__",)


def _value(answer: dict[str, Any]) -> Any:
    if "not plain" in answer:
        raise NotPlain(str(answer["not plain"])[:300])
    return decoded(answer.get("value"))


def _named(name: str) -> type[Exception]:
    """An exception with the name of one that isn't Python's own, such as LinAlgError."""
    return type(name[:60] if name.isidentifier() else "Exception", (Exception,), {})


def _first_line(source: str) -> str:
    line = next((line for line in source.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
    return line.strip()[:80]


def clean(outputs: Any) -> list[NotebookNode]:
    """Outputs that came from a student's process: what they ought to be stays, in bounds; all else goes."""
    kept = []
    for output in outputs[:MOST_OUTPUTS] if isinstance(outputs, list) else []:
        kind = output.get("output_type") if isinstance(output, dict) else None
        if kind == "stream":
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            kept.append(new_output("stream", name=name, text=whole(output.get("text"))[:LONGEST_OUTPUT]))
        elif kind == "error":
            lines = output.get("traceback")
            lines = [whole(line)[:2000] for line in lines[:60]] if isinstance(lines, list) else []
            name, message = (whole(output.get(key))[:2000] for key in ("ename", "evalue"))
            kept.append(new_output("error", ename=name, evalue=message, traceback=lines))
        elif kind in ("display_data", "execute_result") and isinstance(output.get("data"), dict):
            data = {"text/plain": whole(output["data"].get("text/plain", ""))[:LONGEST_OUTPUT]}
            if _is_picture(picture := output["data"].get(PICTURE)):
                data[PICTURE] = picture
            kept.append(new_output("display_data", data=data))
    return kept


def _is_picture(text: Any) -> bool:
    """Whether a text is a PNG in base64."""
    if not isinstance(text, str) or len(text) > LARGEST_PICTURE:
        return False
    try:
        return base64.b64decode(text.replace("\n", ""), validate=True).startswith(b"\x89PNG\r\n\x1a\n")
    except ValueError:
        return False
