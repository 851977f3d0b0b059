"""The walls: bubblewrap, a filter of system calls, limits, and a watch on time and memory.

Inside there are the system, Python with its packages, treekit and this package, all read-only; a small folder of one's
own in memory; no network; no process but one's own. Outside stay the solutions, the hidden tests, the marks, every
other submission and the rest of the disk.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading import seccomp

__all__ = ["NOT_GUARANTEED", "Limits", "Sandbox", "Stopped", "bubblewrap", "exposed", "used_by"]

ROOT = Path(__file__).resolve().parents[1]
MEGABYTE = 1 << 20
#: Seconds that may pass idly until the first request is answered, while Python starts.
START = 20
#: Seconds between two looks at a student's processes.
PAUSE = 0.2
#: The folders that code inside can write to, in memory, and their megabytes.
TEMPORARY = {"/dev/shm": 16, "/tmp": 32, "/home/student": 64}
#: Bytes that the kernel needs for a file, be it empty, and at most for a socket.
FILE, SOCKET = 2 << 10, 256 << 10

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
    patience: float = 60  #: seconds for which a whole notebook may do nothing; one cell or one call, half of them


class Stopped(Exception):
    """The student's process was stopped or has gone. The message says why; its subject is the student's code."""


@functools.cache
def bubblewrap() -> str | None:
    """Why the walls can't be put up on this machine; None if they can."""
    if sys.platform != "linux":
        return f"bubblewrap needs Linux, and this is {sys.platform}"
    if seccomp.program() is None:
        return "the filter of system calls is written for x86-64 and ARM (64 bits) alone"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (on Debian and Ubuntu: apt install bubblewrap)"
    with _filter() as rules:
        tried = subprocess.run([*_walls(rules), "--", "/bin/true"], capture_output=True, text=True, pass_fds=[rules])
    return None if tried.returncode == 0 else f"bubblewrap does not work here: {tried.stderr.strip()[:300]}"


def exposed(places: list[Path]) -> str | None:
    """Why code inside could read one of these places; None if it can't."""
    for place in places:
        for folder in map(Path, _visible()):
            if place.resolve().is_relative_to(folder.resolve()):
                return f"{place} lies in {folder}, which the students' code needs to see. Move the one or the other"
    return None


@contextlib.contextmanager
def _filter() -> Iterator[int]:
    """The filter of system calls as an open file, which bubblewrap reads."""
    with tempfile.TemporaryFile() as file:
        file.write(seccomp.program() or b"")
        file.seek(0)
        yield file.fileno()


#: What of /usr is seen inside. Not all of it: a course may lie below /usr/src or /usr/local/share.
SYSTEM = ["bin", "sbin", "lib", "lib32", "lib64", "libexec", "local/bin", "local/lib", "share/fonts", "share/zoneinfo"]


def _visible() -> list[str]:
    """The folders of this machine that are seen inside: the system's, Python's, and the book's two packages."""
    system = [Path("/usr", part) for part in SYSTEM]
    system += [Path(folder) for folder in ("/bin", "/lib", "/lib32", "/lib64", "/sbin") if not os.path.islink(folder)]
    python = {Path(sys.prefix), Path(sys.base_prefix).resolve(), *map(Path, _python_links())}
    python -= {Path("/usr"), Path("/usr/local")}  # whose parts are among the system's
    found = [*filter(Path.is_dir, system), *sorted(python)]
    return [str(path) for path in found if not any(path.is_relative_to(other) for other in found if other != path)]


def _walls(rules: int) -> list[str]:
    """The command that puts up the walls; ``rules`` is the open file with the filter of system calls.

    Root sets them up and then gives up its rights (`inside.limit`); in a namespace of users it would still be root, to
    which the limits do not apply. Anyone else needs that namespace, and may make no other. There is no /proc inside,
    which would tell of this machine's folders and of the command itself.
    """
    command = [shutil.which("bwrap") or "bwrap", "--seccomp", str(rules)]
    command += [f"--unshare-{what}" for what in ("pid", "ipc", "net", "uts", "cgroup-try")]
    command += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox"]
    if os.getuid() == 0:
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", *(["--disable-userns"] if _knows("--disable-userns") else [])]
    for folder in ("/bin", "/lib", "/lib32", "/lib64", "/sbin"):
        if os.path.islink(folder):
            command += ["--symlink", os.readlink(folder), folder]
    for file in ("/etc/ld.so.cache", "/etc/localtime"):
        command += ["--ro-bind-try", file, file]
    # Pages of /dev/zero can be shared without counting for anybody.
    command += ["--dev", "/dev", "--dev-bind", "/dev/null", "/dev/zero"]
    # Before the rest: Python or this project may lie below one of them.
    for folder, size in TEMPORARY.items():
        command += ["--perms", "1777", "--size", str(size * MEGABYTE), "--tmpfs", folder]
    packages = {f"/book/{package}": str(ROOT / package) for package in ("treekit", "grading")}
    for inside, outside in ({folder: folder for folder in _visible()} | packages).items():
        for parent in reversed(Path(inside).parents[:-1]):
            if str(parent) not in TEMPORARY:
                command += ["--perms", "0755", "--dir", str(parent)]  # else it has the rights of the folder outside
        command += ["--ro-bind", outside, inside]
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
        with _filter() as rules:
            self._process = subprocess.Popen(
                program if unsafe else [*_walls(rules), "--", *program],
                cwd=home if unsafe else None,
                env=ENVIRONMENT | {"HOME": home, "PYTHONPATH": place},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno(), rules],
                start_new_session=True,
            )  # fmt: skip
        theirs.close()
        self._channel = ours
        self._number = 0
        self.used = 0.0  #: seconds of a processor, so far
        self.idle = 0.0  #: seconds for which a request waited and nothing was done, so far
        self._asked: tuple[float, float] | None = None  #: both of these, when the request came that now waits
        self._seen: dict[tuple[int, int], float] = {}
        self._why = ""
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._guard, daemon=True)
        self._watch.start()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer.

        Raises
        ------
        Stopped
            If the process ends, takes too long or too much memory, or answers with too much. It is gone then.
        """
        self._number += 1
        text = json.dumps(request | {"number": self._number}).encode()
        self._asked = self.used, self.idle
        try:
            self._channel.sendall(len(text).to_bytes(4, "big") + text)
            while (answer := self._answer()).get("number") != self._number:
                pass  # a copy of the process, left behind by fork, answers an older request
            if not self._why:
                return answer
            why = self._why  # it has answered while it was being ended
        except BrokenPipeError:
            why = self._why or self._how_it_ended()
        except Stopped as stop:
            why = self._why or str(stop)
        except (ValueError, RecursionError, OSError):
            why = self._why or "broke the connection that its answers come through"
        finally:
            self._asked = None
            if self._number == 1:
                self.idle = 0.0  # Python's start is not the student's
        self.close()
        raise Stopped(why)

    def _answer(self) -> dict[str, Any]:
        length = int.from_bytes(self._receive(4), "big")
        if length > self.limits.answer * MEGABYTE:
            raise Stopped(f"gave more than {self.limits.answer} MB")
        answer = json.loads(self._receive(length))
        if not isinstance(answer, dict):
            raise ValueError("no answer of ours")
        return answer

    def _receive(self, length: int) -> bytes:
        parts = []
        while length:
            part = self._channel.recv(min(length, MEGABYTE))
            if not part:
                raise Stopped(self._how_it_ended())
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(2)
        except subprocess.TimeoutExpired:
            return "closed its connection"
        if code in (-signal.SIGKILL, 128 + signal.SIGKILL, -signal.SIGXCPU, 128 + signal.SIGXCPU):
            return "was ended by the system, for time or memory"
        return "ended the program" if code == 0 else f"ended the program (exit status {code})"

    def _guard(self) -> None:
        """Look now and then, also while nothing is asked, that time and memory stay within their limits.

        What counts is a processor's time, so that a busy machine changes no mark, and time in which nothing is done.
        """
        looked = time.monotonic()
        while not self._over.wait(PAUSE):
            used, memory = used_by(self._process.pid, self.limits.memory * MEGABYTE, self._seen)
            now = time.monotonic()
            if used <= self.used and self._asked:
                self.idle += min(now - looked, 5 * PAUSE)  # a machine that has slept has not waited
            self.used, looked = max(used, self.used), now
            if why := self._exceeded(memory):
                self._why = why
                self._kill()
                return

    def _exceeded(self, memory: int) -> str:
        """Which limit is exceeded, as the end of a sentence."""
        limits = self.limits
        if memory > limits.memory * MEGABYTE:  # before time, which a full memory takes, too
            return f"took more than {limits.memory} MB of memory"
        if asked := self._asked:
            used, idle = self.used - asked[0], self.idle - asked[1]
            if used > limits.seconds:
                return f"took more than {limits.seconds:g} s"
            if (idle > limits.patience / 2 or self.idle > limits.patience) and (self._number > 1 or idle > START):
                return f"gave no answer for {idle:.0f} s"
        return "took more time than is left for a notebook" if self.used > limits.total else ""

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and all that it has started."""
        self._over.set()
        self._watch.join()
        if self._process.poll() is None:
            self.used = max(self.used, used_by(self._process.pid, 1 << 60, self._seen)[0])
        self._channel.close()
        self._kill()
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


def used_by(pid: int, much: int, seen: dict[tuple[int, int], float] | None = None) -> tuple[float, int]:
    """Seconds of a processor and bytes of memory that a process and all below it have used.

    ``seen`` keeps what each process had used when it was last there: the kernel adds the time of an ended process to
    its parent's only if the parent asks how it ended. Memory that several processes share counts once; telling it apart
    takes time, so it is done only where all is much.
    """
    children: dict[int, list[int]] = {}
    ticks, memory = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):  # gone meanwhile
            continue
        one = int(folder.name)
        children.setdefault(int(fields[1]), []).append(one)
        ticks[one] = list(map(int, (*fields[11:15], fields[19])))  # its own, its ended children's, and when it began
        memory[one] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    family, new = [pid], [pid]
    while new:
        new = [child for parent in new for child in children.get(parent, [])]
        family += new
    family = [one for one in family if one in ticks]
    seen = {} if seen is None else seen
    seen.update({(one, ticks[one][4]): sum(ticks[one][:2]) for one in family})
    in_memory = sum(memory[one] for one in family)
    if in_memory > much:
        in_memory = sum(_proportional(one, memory[one]) for one in family)
    seconds = max(sum(seen.values()), sum(sum(ticks[one][:4]) for one in family)) / os.sysconf("SC_CLK_TCK")
    return seconds, in_memory + (_of_the_kernel(family[-1]) if len(family) > 1 else 0)


def _proportional(pid: int, at_most: int) -> int:
    """Bytes of one process in memory, its part of what it shares with others; all, if it doesn't let us see."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except PermissionError:
        return at_most
    except OSError:  # gone meanwhile
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))


def _of_the_kernel(pid: int) -> int:
    """Bytes that the kernel keeps for the files and sockets of a process behind walls.

    While the walls go up, a process still sees this machine's folders, which are nobody's use of memory.
    """
    found = 0
    with contextlib.suppress(OSError):  # gone meanwhile
        root = f"/proc/{pid}/root"
        if not os.path.samefile(root, "/"):
            found = SOCKET * Path(f"/proc/{pid}/net/unix").read_bytes().count(b"\n")
            for folder in TEMPORARY:
                state = os.statvfs(root + folder)
                found += FILE * (state.f_files - state.f_ffree) + state.f_frsize * (state.f_blocks - state.f_bfree)
    return found
