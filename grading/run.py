"""Mark a class: several submissions at a time, each in a process of its own, each result saved when it stands."""

from __future__ import annotations

import functools
import gc
import hashlib
import json
import multiprocessing
import multiprocessing.connection
import os
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from grading.autograde import graded, not_graded
from grading.course import Assignment
from grading.sandbox import MEGABYTE, ROOT, Limits
from grading.tables import write

__all__ = ["Job", "marked", "self_check"]

#: Seconds, on top of a notebook's own limit, after which the process that marks it is ended.
GRACE = 60
#: How many times longer the clock may run than a processor, which may be shared.
SHARED = 4


@dataclass(frozen=True)
class Job:
    """One notebook to be marked, and the file that its result goes to."""

    title: str
    assignment: Assignment
    text: bytes
    result: Path
    about: dict[str, Any] = field(default_factory=dict)  #: goes into the result: whose it is, when it came

    def key(self, limits: Limits, unsafe: bool) -> str:
        """What the result depends on."""
        parts = [programs(), self.assignment.key, asdict(limits), unsafe, hashlib.sha256(self.text).hexdigest()]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@functools.cache
def programs() -> str:
    """The hash of what marks: this package, treekit with `check`, and the versions of the packages."""
    files = [ROOT / "requirements.txt", *(ROOT / "grading").glob("*.py"), *(ROOT / "treekit").rglob("*.py")]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).hexdigest()


def _work(job: Job, limits: Limits, unsafe: bool) -> None:
    """What one process does: mark, then put the result in its place at once."""
    gc.freeze()  # what was imported before the fork lives to the end: the collector of garbage need not look through it
    warnings.simplefilter("ignore")
    os.setsid()  # so that Ctrl+C reaches the parent alone, which ends the others
    memory = 2 * limits.memory * MEGABYTE
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    seconds = int(limits.total) + GRACE
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    _save(job, limits, unsafe, graded(job.assignment, job.text, limits, unsafe))


def _save(job: Job, limits: Limits, unsafe: bool, result: dict[str, Any]) -> None:
    write(job.result, json.dumps({"key": job.key(limits, unsafe)} | result | job.about, ensure_ascii=False, indent=1))


def saved(job: Job, limits: Limits, unsafe: bool) -> dict[str, Any] | None:
    """The result of an earlier run, if neither the submission nor the assignment has changed."""
    with suppress(OSError, ValueError):
        result = json.loads(job.result.read_text(encoding="utf-8"))
        if result.get("key") == job.key(limits, unsafe):
            return result | job.about
    return None


def marked(
    jobs: list[Job],
    limits: Limits,
    unsafe: bool = False,
    workers: int | None = None,
    tell: Callable[[Job, dict[str, Any], bool], None] = lambda job, result, fresh: None,
) -> Iterator[tuple[Job, dict[str, Any]]]:
    """The jobs with their results, as they are done; ``tell`` hears of each, and whether it is new.

    A process that fails has no effect on another; its job has no marks and says why.
    """
    waiting = []
    for job in jobs:
        if (result := saved(job, limits, unsafe)) is not None:
            tell(job, result, False)
            yield job, result
        else:
            waiting.append(job)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["grading.preload"])
    running: dict[Any, tuple[Job, Any, float]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < (workers or os.cpu_count() or 1):
                job = waiting.pop(0)
                process = context.Process(target=_work, args=(job, limits, unsafe))
                process.start()
                running[process.sentinel] = job, process, time.monotonic() + SHARED * limits.total + GRACE
            for sentinel in multiprocessing.connection.wait(list(running), timeout=1):
                job, process, _ = running.pop(sentinel)
                process.join()
                result = saved(job, limits, unsafe)
                if result is None:
                    why = f"marking it ended with an error (exit status {process.exitcode})"
                    result = not_graded(job.assignment, why) | job.about
                tell(job, result, True)
                yield job, result
            for _, process, until in running.values():
                if time.monotonic() > until:
                    process.kill()
    finally:
        for _, process, _ in running.values():
            process.kill()
            process.join()


def self_check(assignment: Assignment, limits: Limits, unsafe: bool = False) -> list[str]:
    """What is wrong with an assignment: its own solutions must earn all points, the student edition none."""
    wrong = assignment.wrong_points()
    editions = {"solution": assignment.source, "student edition": assignment.release}
    jobs = [
        Job(what, assignment, nbformat.writes(notebook).encode(), assignment.folder / f"{what}.json")
        for what, notebook in editions.items()
    ]
    for job, result in marked(jobs, limits, unsafe):
        for task in result["tasks"]:
            if task["by hand"]:
                continue
            earns = f"earns {task['score']:g} of {task['points']:g}"
            if job.title == "solution" and task["score"] != task["points"]:
                wrong.append(f"{task['task']}: the solution {earns}. {task['says']}")
            if job.title == "student edition" and task["score"] != 0:
                wrong.append(f"{task['task']}: the untouched student edition {earns}")
    return wrong
