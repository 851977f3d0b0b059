"""IPython, which runs cells and gives their outputs as a notebook stores them. Both sides of the sandbox use it."""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

__all__ = ["Shell", "TooMuchOutput"]

#: Characters that one cell may print.
LONGEST_OUTPUT = 100_000
#: Besides text, outputs keep pictures of this one type: no script, no markup.
PICTURE = "image/png"


class TooMuchOutput(Exception):
    """A cell that prints without end."""


class Bounded(io.StringIO):
    """A text that refuses to grow without end."""

    def write(self, text: str) -> int:
        if self.tell() + len(text) > LONGEST_OUTPUT:
            raise TooMuchOutput(f"more than {LONGEST_OUTPUT:,} characters of output")
        return super().write(text)


class Shell:
    """A namespace in which cells run one after the other, as in a notebook."""

    def __init__(self, folder: str) -> None:
        os.environ["IPYTHONDIR"] = folder
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"
        config.InteractiveShell.cache_size = 0
        self.shell = InteractiveShell.instance(config=config)
        # IPython's own hook for errors hears of none in the syntax; and exit() calls what only a terminal's shell has.
        self.shell._showtraceback = self._keep_error  # type: ignore[method-assign]
        self.shell.ask_exit = sys.exit  # type: ignore[attr-defined]
        self.names: dict[str, Any] = self.shell.user_ns
        self._errors: list[dict[str, Any]] = []

    def _keep_error(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        self._errors.append(
            {"output_type": "error", "ename": etype.__name__, "evalue": str(evalue), "traceback": [str(x) for x in stb]}
        )

    def run(self, source: str) -> list[dict[str, Any]]:
        """The outputs of a cell: what it prints, shows and gives, and the error that ended it."""
        from IPython.core.displayhook import CapturingDisplayHook
        from IPython.core.displaypub import CapturingDisplayPublisher

        printed, warned = Bounded(), Bounded()
        shown: list[dict[str, Any]] = []
        publisher, hook = self.shell.display_pub, sys.displayhook
        self.shell.display_pub = CapturingDisplayPublisher()
        self.shell.display_pub.outputs = shown
        sys.displayhook = CapturingDisplayHook(shell=self.shell, outputs=shown)
        self._errors = []
        try:
            with redirect_stdout(printed), redirect_stderr(warned):
                self.shell.run_cell(source, store_history=True)
        finally:
            self.shell.display_pub, sys.displayhook = publisher, hook
        streams = [("stdout", printed.getvalue()), ("stderr", warned.getvalue())]
        return [
            *({"output_type": "stream", "name": name, "text": text} for name, text in streams if text),
            *map(_shown, shown),
            *self._errors,
        ]


def _shown(output: dict[str, Any]) -> dict[str, Any]:
    """An output of a display, of which text and pictures stay. Only what a display publishes is ``transient``."""
    data = {kind: output["data"][kind] for kind in ("text/plain", PICTURE) if kind in output["data"]}
    if "transient" in output:
        return {"output_type": "display_data", "data": data, "metadata": {}}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}
