"""The table of all figures, one row for each comparison, in treekit/data/benchmarks.csv, where the chapters read it.

Columns
-------
what, n_rows, measure
    What was done, with how many rows, and what was measured of it: "CPU seconds", "slope" (of the logarithm of CPU
    seconds over that of rows, from 10,000 to 1,000,000 rows; ``n_rows`` is the last), "peak allocated" or "peak
    resident" (in parts of the bytes of X).
treekit, peer, other
    The figure of treekit; with whom it is compared, and the figure of that one. Times are medians.
seen, wanted, moonshot
    For times the ratio treekit / other, else treekit's figure; what it should not exceed; what would be a surprise.
lowest, highest, rounds
    The extremes of the ratio over the rounds, and their number.
agreement
    In which sense both did the same work.
date, machine, versions
    Of this row: rows may be measured on different days.
"""

from __future__ import annotations

import os
import platform
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
import xgboost

from benchmarks.cases import CASES, MEMORY, SLOPE, SLOPES, Case, Memory, Target, lightgbm
from benchmarks.data import N_COLUMNS
from benchmarks.measure import ROOT, interleaved, peak_in_fresh_process, rounds, timed

FILE = ROOT / "treekit" / "data" / "benchmarks.csv"
KEY = ["measure", "what", "n_rows", "peer"]
COLUMNS = [
    "what", "n_rows", "measure", "treekit", "peer", "other", "seen", "wanted", "moonshot", "lowest", "highest",
    "rounds", "agreement", "date", "machine", "versions",
]  # fmt: skip


def machine() -> str:
    """The processor, its cores, and the system."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"


def versions() -> str:
    """Python's version and those of the programs."""
    here = [
        f"{program.__name__} {program.__version__}"
        for program in (np, sklearn, xgboost, lightgbm)
        if program is not None
    ]
    return ", ".join([f"Python {platform.python_version()}", *here])


def row(what: str, n_rows: int, measure: str, peer: str, target: Target | None, **figures: Any) -> dict[str, Any]:
    """A row of the table."""
    wanted, moonshot = target or (np.nan, np.nan)
    here = {"date": date.today().isoformat(), "machine": machine(), "versions": versions()}
    return dict(what=what, n_rows=n_rows, measure=measure, peer=peer, wanted=wanted, moonshot=moonshot) | figures | here


def time_case(case: Case) -> list[dict[str, Any]]:
    """Warm up, check that all did the same, then time them; a row for each peer."""
    contest = case.contest(case.n_rows, 0)
    results, warm_up = {}, []
    for who, job in contest.jobs.items():
        result, taken = timed(job)
        results[who] = result
        warm_up.append(taken)
    agreement = contest.check(results)
    del results, result  # so that a large model isn't kept beside the next
    seconds = {who: np.array(s) for who, s in interleaved(contest.jobs, rounds(warm_up)).items()}
    median = {who: float(np.median(s)) for who, s in seconds.items()}
    rows = []
    for peer, target in case.peers.items():
        ratio = seconds["treekit"] / seconds[peer]
        rows.append(
            row(
                case.what, case.n_rows, "CPU seconds", peer, target,
                treekit=median["treekit"], other=median[peer], seen=median["treekit"] / median[peer],
                lowest=ratio.min(), highest=ratio.max(), rounds=len(ratio), agreement=agreement,
            )
        )  # fmt: skip
    return rows


def weigh(memory: Memory) -> list[dict[str, Any]]:
    """The peak of treekit's job and of the peers', each in a process of its own; a row for each peer, or one alone."""
    n_bytes = 4 * N_COLUMNS * memory.n_rows
    peak = {
        who: peak_in_fresh_process(memory.how, memory.what, memory.n_rows, who) / n_bytes
        for who in ("treekit", *memory.peers)
    }
    return [
        row(
            memory.what, memory.n_rows, f"peak {memory.how}", peer, memory.target,
            treekit=peak["treekit"], other=peak.get(peer, np.nan), seen=peak["treekit"],
        )
        for peer in memory.peers or ("",)
    ]  # fmt: skip


def slope(curve: pd.DataFrame, column: str) -> float:
    """By which power of the rows the seconds grow."""
    return float(np.polyfit(np.log(curve["n_rows"]), np.log(curve[column]), 1)[0])


def slopes(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The slopes of the curves that the table holds; of the day on which the last point was measured."""
    rows = []
    for what, peers in SLOPES.items():
        for peer in peers:
            curve = table[(table["what"] == what) & (table["peer"] == peer) & (table["measure"] == "CPU seconds")]
            curve = curve[curve["n_rows"] >= 10_000]
            if len(curve) == 3:
                ours, theirs = slope(curve, "treekit"), slope(curve, "other")
                rows.append(
                    row(what, 1_000_000, "slope", peer, SLOPE, treekit=ours, other=theirs, seen=ours)
                    | curve[["date", "machine", "versions"]].iloc[-1].to_dict()
                )
    return rows


def expected() -> list[tuple[str, str, int, str]]:
    """The keys of all rows, in the order of the table."""
    times = [("CPU seconds", case.what, case.n_rows, peer) for case in CASES for peer in case.peers]
    grows = [("slope", what, 1_000_000, peer) for what, peers in SLOPES.items() for peer in peers]
    peaks = [(f"peak {m.how}", m.what, m.n_rows, peer) for m in MEMORY for peer in m.peers or ("",)]
    return [*times, *grows, *peaks]


def keys(table: pd.DataFrame) -> list[tuple[str, str, int, str]]:
    """The keys of a table's rows."""
    return list(table[KEY].itertuples(index=False, name=None))


def read(file: Path = FILE) -> pd.DataFrame:
    """The table as it was saved; without rows where there is none yet."""
    return (
        pd.read_csv(file, keep_default_na=True).fillna({"peer": ""}) if file.exists() else pd.DataFrame(columns=COLUMNS)
    )


def merged(table: pd.DataFrame, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """The table with new rows in the place of old ones of the same key, and with none that is no longer expected."""
    by_key = dict(zip(keys(table), table.to_dict("records"))) | {tuple(r[name] for name in KEY): r for r in rows}
    return pd.DataFrame([by_key[key] for key in expected() if key in by_key], columns=COLUMNS)


def figure(x: float) -> str:
    """Two digits that count; a small ratio as 1/500; nothing for no number."""
    if np.isnan(x):
        return ""
    return f"1/{1 / x:.0f}" if x < 0.01 else f"{x:.2f}" if x < 10 else f"{x:.0f}"


def printed(table: pd.DataFrame) -> str:
    """The table for a terminal: what was seen beside what was wanted."""
    wanted, seen = table["wanted"], table["seen"]
    judged = [wanted.isna(), seen <= table["moonshot"], seen <= wanted]
    verdict = np.select(judged, ["", "moonshot", "reached"], "MISSED")
    times = dict.fromkeys(["treekit", "other"], "{:.4g}".format)
    ratios = dict.fromkeys(["seen", "wanted", "moonshot"], figure)
    shown = table[["what", "n_rows", "measure", "peer", *times, *ratios]].assign(verdict=verdict)
    measured = table.groupby(["date", "machine", "versions"], sort=True)
    notes = [f"{len(part)} rows of {day}, on {where}, with {what}" for (day, where, what), part in measured]
    return "\n".join([shown.to_string(index=False, na_rep="", formatters=times | ratios), *notes])
