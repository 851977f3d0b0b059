"""The types that treekit declares hold together; the examples in its docstrings print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import treekit

ROOT = Path(__file__).resolve().parents[1]


def test_types():
    result = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_examples_in_docstrings():
    n_tried = 0
    for module in pkgutil.walk_packages(treekit.__path__, "treekit."):
        failed, tried = doctest.testmod(importlib.import_module(module.name))
        assert failed == 0, module.name
        n_tried += tried
    assert n_tried > 0
