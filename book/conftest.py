"""How pytest runs the chapters when `make test` asks for them with --nbval."""

from __future__ import annotations

import os

import pytest

from scripts.execute import reproducible_environment
from tests.forked_kernels import forked_kernels

# The sources of the graded exercises are no chapters: tests/exercises grades them.
collect_ignore = ["exercises"]

# The kernels that nbval starts inherit this, so they run as `make execute` ran.
os.environ.update(reproducible_environment())


def pytest_collectstart(collector):
    """Let nbval compare figures too: on its own it leaves images out."""
    if hasattr(collector, "skip_compare"):
        images = {"image/png", "image/jpeg"}
        collector.skip_compare = tuple(kind for kind in collector.skip_compare if kind not in images)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """nbval starts a notebook's kernel with its first cell; to import everything anew would take most of its time."""
    with forked_kernels():
        return (yield)
