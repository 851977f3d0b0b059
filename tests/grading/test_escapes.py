"""The walls hold wherever the checkout lies, and whoever runs the command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grading.sandbox import exposed
from scripts.exercises import ROOT
from tests.grading.escapes import PROBES

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("walls")]
NOBODY = 65534


def moved(place: Path, nobody: bool) -> list[str]:
    """What begins a command so that it finds the checkout elsewhere, and runs as an ordinary user."""
    base = Path(sys.base_prefix).resolve()
    command = ["bwrap", "--dev-bind", "/", "/"]
    for top in {place.parents[-2], Path("/root") if nobody else place.parents[-2]} - {Path("/usr")}:
        command += ["--perms", "0755", "--tmpfs", str(top)]
        for folder in reversed(base.parents) if base.is_relative_to(top) else ():
            command += ["--perms", "0755", "--dir", str(folder)] if folder.is_relative_to(top) else []
        command += ["--ro-bind", str(base), str(base)] if base.is_relative_to(top) else []
    command += ["--tmpfs", "/usr/src"] if place.is_relative_to("/usr") else []
    for folder in reversed(place.parents[:-2]):
        command += ["--perms", "0755", "--dir", str(folder)]
    command += ["--ro-bind", str(ROOT), str(place), "--chdir", str(place)]
    return command + (["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if nobody else [])


@pytest.mark.parametrize("user", ["as we are", "as nobody"])
@pytest.mark.parametrize("place", ["/usr/src/app", "/home/teacher/book", "/tmp/course/book"])
def test_nothing_gets_out(place, user):
    if user == "as nobody" and (os.getuid() != 0 or shutil.which("setpriv") is None):
        pytest.skip("only root can become another user, by setpriv")
    start = moved(Path(place), user == "as nobody")
    python = Path(place, ".venv", "bin", "python") if Path(sys.prefix) == ROOT / ".venv" else sys.executable
    run = subprocess.run([*start, str(python), "-m", "tests.grading.escapes"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert {name: got for name, got in found.items() if got != "held"} == {"": ""}
    assert set(found) == {"", *PROBES}


def test_a_course_that_can_be_seen_inside_is_refused(tmp_path, monkeypatch):
    assert exposed([ROOT / "book", tmp_path]) is None
    (tmp_path / "venv").mkdir()
    (tmp_path / "by link").symlink_to(tmp_path / "venv")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    for place in (tmp_path / "venv" / "marks", tmp_path / "by link" / "book", Path("/usr/local/lib/course")):
        assert "which the students' code needs to see" in exposed([place])
