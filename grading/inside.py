"""The program inside the sandbox. It runs the cells of one student, and calls what they define.

Requests come in and answers go out over one socket, each a length of four bytes and a text in JSON. The student's code
shares this process and may forge any answer: so the side outside takes each for a plain value and nothing more.
"""

from __future__ import annotations

import base64
import ctypes
import io
import json
import linecache
import os
import pickle
import resource
import signal
import socket
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import Any

from grading.shell import Shell
from grading.values import NotPlain, encoded


def limit(limits: dict[str, int]) -> None:
    """Become nobody, where the process may choose, and give up all that is above the limits, for good."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: end with the process that started this one
    if os.getuid() == 0 and limits["user"]:
        os.setgroups([])
        os.setgid(limits["user"])
        os.setuid(limits["user"])
    for name in ("AS", "NPROC", "FSIZE", "NOFILE", "CPU"):
        with suppress(*() if sys.platform == "linux" else (ValueError, OSError)):  # macOS knows not all of them
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (limits[name], limits[name]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def look_up(shell: Shell, name: str) -> dict[str, Any]:
    """What a name stands for: nothing, something to call, or a value."""
    if name not in shell.names:
        return {"missing": True}
    value = shell.names[name]
    if callable(value):
        return {"callable": True}
    try:
        return {"value": encoded(value)}
    except NotPlain as error:
        return {"not plain": str(error)}


def call(shell: Shell, name: str, arguments: str) -> dict[str, Any]:
    """Call a function of the student with arguments that the tests have pickled."""
    args, kwargs = pickle.loads(base64.b64decode(arguments))
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {"value": encoded(shell.names[name](*args, **kwargs))}
    except NotPlain as error:
        return {"not plain": str(error)}
    except BaseException as error:
        return {"raised": type(error).__name__, "message": str(error) + last_line(error, shell.names)}


def last_line(error: BaseException, names: dict[str, Any]) -> str:
    """The last line of the student's that ran before an error, as the end of a sentence."""
    line, step = "", error.__traceback__
    while step is not None:
        if step.tb_frame.f_globals is names:
            line = linecache.getline(step.tb_frame.f_code.co_filename, step.tb_lineno).strip()
        step = step.tb_next
    return f", in the line: {line}" if line else ""


def receive(channel: socket.socket) -> dict[str, Any] | None:
    """The next request; None when the other side has gone."""
    with channel.makefile("rb", buffering=0) as stream:
        head = stream.read(4)
        if len(head) < 4:
            return None
        text = b""
        while len(text) < int.from_bytes(head, "big"):
            part = stream.read(int.from_bytes(head, "big") - len(text))
            if not part:
                return None
            text += part
    return json.loads(text)


def main() -> None:
    channel = socket.socket(fileno=int(sys.argv[1]))
    limit(json.loads(sys.argv[2]))
    shell = Shell(os.getcwd())
    while (request := receive(channel)) is not None:
        if request["do"] == "run":
            answer: dict[str, Any] = {"outputs": shell.run(request["source"])}
        elif request["do"] == "look up":
            answer = look_up(shell, request["name"])
        else:
            answer = call(shell, request["name"], request["arguments"])
        text = json.dumps(answer | {"number": request["number"]}).encode()
        channel.sendall(len(text).to_bytes(4, "big") + text)


if __name__ == "__main__":
    main()
