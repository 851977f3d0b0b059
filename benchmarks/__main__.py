"""Measure, print, save and draw. `make bench` runs all groups, `make bench ONLY="cart path"` these two.

Rows of other groups stay in the file as they are. Every case is saved when it is done, so a run may be stopped.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks import table
from benchmarks.agree import Differ
from benchmarks.cases import CASES, GROUPS, MEMORY, lightgbm
from benchmarks.measure import ROOT
from figures.scale import plot_times

PICTURE = ROOT / "_build" / "benchmarks.svg"


def chosen(groups: list[str]) -> Iterator[tuple[str, Callable[[], list[dict[str, Any]]]]]:
    """What to measure, and how."""
    for case in CASES:
        if case.group in groups:
            yield f"{case.what}, {case.n_rows:,} rows", partial(table.time_case, case)
    for memory in MEMORY:
        if "memory" in groups:
            yield f"{memory.what}, {memory.n_rows:,} rows, peak {memory.how}", partial(table.weigh, memory)


def main(groups: list[str]) -> None:
    if unknown := set(groups) - set(GROUPS):
        sys.exit(f"There is no group {' '.join(sorted(unknown))}. The groups: {' '.join(GROUPS)}")
    if lightgbm is None:
        sys.exit("LightGBM is missing; `make bench` installs it.")
    print(f"{table.machine()}; {table.versions()}; one thread each")
    if hasattr(os, "getloadavg") and os.getloadavg()[0] > 0.5:
        print(f"The machine is busy (load {os.getloadavg()[0]:.1f}): ratios hold less well.")

    start, work, differences = time.monotonic(), list(chosen(groups or GROUPS)), []
    for place, (name, measure) in enumerate(work, start=1):
        print(f"[{place}/{len(work)}, {time.monotonic() - start:.0f} s] {name}", flush=True)
        try:
            rows = measure()
        except Differ as difference:
            differences.append(f"{name}: not the same work, so not timed: {difference}")
            print(f"    {differences[-1]}", flush=True)
            continue
        for row in rows:
            print(f"    {row['seen']:.3f} against {row['peer'] or 'its input'}", flush=True)
        if "agreement" in rows[0]:
            print(f"    {rows[0]['agreement']}", flush=True)
        so_far = table.merged(table.read(), rows)
        table.merged(so_far, table.slopes(so_far)).to_csv(
            table.FILE, index=False, float_format="%.6g", lineterminator="\n"
        )

    whole = table.read()
    print("\n" + table.printed(whole))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(plot_times(whole).drawing, encoding="utf-8")
    print(f"\nMeasured in {time.monotonic() - start:.0f} s.")
    print(f"Saved {table.FILE.relative_to(ROOT)}, drawn {PICTURE.relative_to(ROOT)}")
    if differences:
        sys.exit("\n".join(differences))


if __name__ == "__main__":
    main(sys.argv[1:])
