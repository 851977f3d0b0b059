"""The walls: bubblewrap, limits, and a watch on time and memory.

Inside there are the system, Python with its packages, treekit and this package, all read-only; a small folder of one's
own in memory; no network; no process but one's own. Outside stay the solutions, the hidden tests, the marks, every
other submission and the rest of the disk.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["NOT_GUARANTEED", "Limits", "Sandbox", "Stopped", "bubblewrap", "used_by"]

ROOT = Path(__file__).resolve().parents[1]
MEGABYTE = 1 << 20
#: Seconds of the clock that may pass besides, until Python has started.
START = 20
#: Seconds between two looks at a student's processes.
PAUSE = 0.2

#: What a run without bubblewrap leaves open.
NOT_GUARANTEED = """\
Without bubblewrap a submission runs as you: it can read your files (the solutions, the marks, what other students
handed in), change or delete them, and use the network. Limits on time, memory, processes and output still hold, but
code that tries can get round them. Marks still come from tests that run apart from the student's code."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    seconds: float = 30  #: of a processor, for one cell or one call of a function
    total: float = 240  #: the same for a whole notebook
    memory: int = 2048  #: megabytes of all its processes together
    processes: int = 64
    file: int = 32  #: megabytes of one file, and of all of them twice that
    answer: int = 8  #: megabytes of one answer
    patience: float = 4  #: seconds of the clock for each of these, since a processor may be shared; and START more


class Stopped(Exception):
    """The student's process was stopped or has gone. The message says why; its subject is the student's code."""


@functools.cache
def bubblewrap() -> str | None:
    """Why the walls can't be put up on this machine; None if they can."""
    if sys.platform != "linux":
        return f"bubblewrap needs Linux, and this is {sys.platform}"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (on Debian and Ubuntu: apt install bubblewrap)"
    tried = subprocess.run([*_walls(), "--", "/bin/true"], capture_output=True, text=True)
    return None if tried.returncode == 0 else f"bubblewrap does not work here: {tried.stderr.strip()[:300]}"


def _walls() -> list[str]:
    """The command that puts up the walls.

    Root sets them up and then gives up its rights (`inside.limit`); in a namespace of users it would still be root, to
    which the limits do not apply. Anyone else needs that namespace, and may make no other.
    """
    command = [
        shutil.which("bwrap") or "bwrap",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-net",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]
    command += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox"]
    if os.getuid() == 0:
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", *(["--disable-userns"] if _knows("--disable-userns") else [])]
    command += ["--ro-bind", "/usr", "/usr"]
    for folder in ("/bin", "/lib", "/lib32", "/lib64", "/sbin"):
        if os.path.islink(folder):
            command += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            command += ["--ro-bind", folder, folder]
    for file in ("/etc/ld.so.cache", "/etc/localtime"):
        command += ["--ro-bind-try", file, file]
    command += ["--proc", "/proc", "--dev", "/dev"]
    # Before the rest: Python or this project may lie below one of them.
    for folder, size in (("/dev/shm", 16), ("/tmp", 32), ("/home/student", 64)):
        command += ["--perms", "1777", "--size", str(size * MEGABYTE), "--tmpfs", folder]
    bound = {Path(sys.prefix), Path(sys.base_prefix).resolve(), *map(Path, _python_links())}
    for folder in sorted(path for path in bound if not path.is_relative_to("/usr")):
        for parent in reversed(folder.parents[:-1]):
            command += ["--perms", "0755", "--dir", str(parent)]  # else it has the rights of the folder outside
        command += ["--ro-bind", str(folder), str(folder)]
    command += ["--perms", "0755", "--dir", "/book"]
    for package in ("treekit", "grading"):
        command += ["--ro-bind", str(ROOT / package), f"/book/{package}"]
    return [*command, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/home/student"]


@functools.cache
def _knows(option: str) -> bool:
    """Whether the installed bubblewrap is new enough for an option."""
    return option in subprocess.run(["bwrap", "--help"], capture_output=True, text=True).stdout


def _python_links() -> list[str]:
    """The folders of the interpreter that the environment's links lead through."""
    found, link = [], Path(sys.executable)
    while link.is_symlink():
        link = Path(os.path.normpath(link.parent / os.readlink(link)))
        found.append(str(link.parent.parent))
    return found


#: All that the environment of a student's process holds.
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}


class Sandbox:
    """One student's process behind its walls, or with ``unsafe`` without them."""

    def __init__(self, limits: Limits, unsafe: bool = False) -> None:
        self.limits = limits
        ours, theirs = socket.socketpair()
        numbers = {
            "AS": limits.memory * 2 * MEGABYTE,  # what is reserved; the watch counts what is used
            "NPROC": limits.processes if not unsafe else _processes_of_this_user() + limits.processes,
            "FSIZE": limits.file * MEGABYTE,
            "NOFILE": 256,
            "CPU": int(limits.total) + 10,
            "user": 100_000 + os.getpid() % 100_000 if not unsafe else 0,
        }
        home, place = ("/home/student", "/book") if not unsafe else (tempfile.mkdtemp(), str(ROOT))
        self._own_folder = home if unsafe else None
        program = [sys.executable, "-s", "-m", "grading.inside", str(theirs.fileno()), json.dumps(numbers)]
        self._process = subprocess.Popen(
            program if unsafe else [*_walls(), "--", *program],
            cwd=home if unsafe else None,
            env=ENVIRONMENT | {"HOME": home, "PYTHONPATH": place},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )  # fmt: skip
        theirs.close()
        self._channel = ours
        self._channel.setblocking(False)
        self._number = 0
        self._looked = time.monotonic()
        self.used = 0.0  #: seconds of a processor, so far

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer.

        Raises
        ------
        Stopped
            If the process ends, takes too long or too much memory, or answers with too much. It is gone then.
        """
        self._number += 1
        text = json.dumps(request | {"number": self._number}).encode()
        self._began, self._used_before = time.monotonic(), self.used
        try:
            self._send(len(text).to_bytes(4, "big") + text)
            while (answer := self._answer()).get("number") != self._number:
                pass  # a copy of the process, left behind by fork, answers an older request
            return answer
        except Stopped:
            self.close()
            raise
        except (ValueError, RecursionError, OSError):
            self.close()
            raise Stopped("broke the connection that its answers come through") from None

    def _answer(self) -> dict[str, Any]:
        length = int.from_bytes(self._receive(4), "big")
        if length > self.limits.answer * MEGABYTE:
            raise Stopped(f"gave more than {self.limits.answer} MB")
        answer = json.loads(self._receive(length))
        if not isinstance(answer, dict):
            raise ValueError("no answer of ours")
        return answer

    def _send(self, text: bytes) -> None:
        while text:
            if select.select([], [self._channel], [], PAUSE)[1]:
                text = text[self._channel.send(text) :]
            self._look()

    def _receive(self, length: int) -> bytes:
        parts, missing = [], length
        while missing:
            if select.select([self._channel], [], [], PAUSE)[0]:
                part = self._channel.recv(min(missing, MEGABYTE))
                if not part:
                    raise Stopped(self._how_it_ended())
                parts.append(part)
                missing -= len(part)
            self._look()
        return b"".join(parts)

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(2)
        except subprocess.TimeoutExpired:
            return "closed its connection"
        if code in (-signal.SIGKILL, 128 + signal.SIGKILL, -signal.SIGXCPU, 128 + signal.SIGXCPU):
            return "was ended by the system, for time or memory"
        return "ended the program" if code == 0 else f"ended the program (exit status {code})"

    def _look(self) -> None:
        """See, now and then, that time and memory stay within their limits.

        What counts is a processor's time, so that a busy machine changes no mark; the clock only ends what sleeps.
        """
        if time.monotonic() - self._looked < PAUSE:
            return
        self._looked = time.monotonic()
        self.used, memory = used_by(self._process.pid, self.limits.memory * MEGABYTE)
        if self.used - self._used_before > self.limits.seconds:
            raise Stopped(f"took more than {self.limits.seconds:g} s")
        if self.used > self.limits.total:
            raise Stopped("took more time than is left for a notebook")
        waited, patience = self._looked - self._began, START + self.limits.patience * self.limits.seconds
        if waited > patience:
            raise Stopped(f"gave no answer for {patience:g} s")
        if memory > self.limits.memory * MEGABYTE:
            raise Stopped(f"took more than {self.limits.memory} MB of memory")

    def close(self) -> None:
        """End the process and all that it has started."""
        self.used = max(self.used, used_by(self._process.pid, 1 << 60)[0])
        self._channel.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._own_folder:
            shutil.rmtree(self._own_folder, ignore_errors=True)


def _processes_of_this_user() -> int:
    """How many processes and threads the user of this process has."""
    count = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.stat().st_uid == os.getuid():
                count += len(list((folder / "task").iterdir()))
        except OSError:  # gone meanwhile
            continue
    return count or 10_000  # a system without /proc, which counts them otherwise


def used_by(pid: int, much: int) -> tuple[float, int]:
    """Seconds of a processor and bytes of memory that a process and all below it have used.

    Memory that several processes share counts once; telling it apart takes time, so it is done only where all is much.
    """
    children: dict[int, list[int]] = {}
    seconds, memory = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):  # gone meanwhile
            continue
        one = int(folder.name)
        children.setdefault(int(fields[1]), []).append(one)
        seconds[one] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # its own and its ended children's
        memory[one] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    family, new = [pid], [pid]
    while new:
        new = [child for parent in new for child in children.get(parent, [])]
        family += new
    in_memory = sum(memory.get(one, 0) for one in family)
    if in_memory > much:
        in_memory = sum(map(_proportional, family))
    return sum(seconds.get(one, 0) for one in family), in_memory


def _proportional(pid: int) -> int:
    """Bytes of one process in memory, its part of what it shares with others."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return 0
