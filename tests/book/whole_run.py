"""The command by which `make test` runs pytest, for tests of what that command finds."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from scripts.execute import ROOT

#: Plugins that are not needed: what is tested writes no cache, and that of Hypothesis is half of what pytest takes to
#: start.
WITHOUT = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest"]


def arguments() -> list[str]:
    """What `make test` hands to pytest, as a dry run of make prints it."""
    dry_run = subprocess.run(["make", "--dry-run", "test", "READY="], cwd=ROOT, capture_output=True, text=True)
    assert dry_run.returncode == 0, dry_run.stderr
    commands = [shlex.split(line) for line in dry_run.stdout.splitlines() if "-m pytest" in line]
    return commands[-1][commands[-1].index("pytest") + 1 :]


def run(project: Path, *more: str, leave_out: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """The same command in a project, in one process, with more arguments or without one of its folders.

    The project's own treekit is imported.
    """
    given = [argument for argument in arguments() if argument != leave_out]
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *given, "-n", "0", *WITHOUT, *more],
        cwd=project, env=inherited | {"PYTHONPATH": str(project), "PY_COLORS": "0"} | variables,
        capture_output=True, text=True,
    )  # fmt: skip
