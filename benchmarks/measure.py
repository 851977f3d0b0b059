"""How long, and how much memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

#: A program whose run takes longer than this many seconds is timed fewer times.
LONG = 20.0
#: Quick jobs are repeated more often, up to so many seconds in all, since a short time is easily disturbed.
ENOUGH = 5.0


def timed(job: Callable[[], Any]) -> tuple[Any, float]:
    """What a job gives, and its CPU seconds: the time it computed, not the time it waited."""
    start = time.process_time()
    result = job()
    return result, time.process_time() - start


def interleaved(jobs: dict[str, Callable[[], Any]], n_rounds: int) -> dict[str, list[float]]:
    """CPU seconds of each job, round by round: A B A B ..., so that what slows the machine down meets all alike."""
    seconds: dict[str, list[float]] = {who: [] for who in jobs}
    for _ in range(n_rounds):
        for who, job in jobs.items():
            seconds[who].append(timed(job)[1])
    return seconds


def rounds(warm_up: list[float]) -> int:
    """How often to time jobs that took so long in the warm-up: 3 times the long ones, all others 5 to 25 times."""
    if max(warm_up) > LONG:
        return 3
    return max(5, min(25, int(ENOUGH / sum(warm_up))))


# -- memory ---------------------------------------------------------------------------------------------------


def peak_allocated(job: Callable[[], Any]) -> int:
    """Bytes that Python and NumPy hold at the peak, above what they held before. C++ libraries aren't seen."""
    tracemalloc.start()
    job()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def peak_resident(job: Callable[[], Any]) -> int:
    """Bytes of the process in memory at the peak, above those before, as Linux counts them: every library is seen."""

    def status(name: str) -> int:
        return 1024 * int(re.search(rf"{name}:\s*(\d+) kB", Path("/proc/self/status").read_text())[1])  # type: ignore[index]

    Path("/proc/self/clear_refs").write_text("5")  # the peak starts afresh
    before = status("VmRSS")
    job()
    return status("VmHWM") - before


PEAKS = {"allocated": peak_allocated, "resident": peak_resident}


def peak_in_fresh_process(how: str, what: str, n_rows: int, who: str) -> int:
    """The peak of one program's job in a contest, in a process that has done nothing else."""
    command = [sys.executable, "-m", "benchmarks.measure", how, what, str(n_rows), who]
    result = subprocess.run(command, cwd=ROOT, env=os.environ, check=True, capture_output=True, text=True)
    return int(result.stdout)


if __name__ == "__main__":
    from benchmarks.cases import CASES

    how, what, n_rows, who = sys.argv[1:]
    contest = next(case.contest for case in CASES if case.what == what)
    contest(1000, 1).jobs[who]()  # what is loaded and set up once is no memory of the fit
    print(PEAKS[how](contest(int(n_rows), 0).jobs[who]))
