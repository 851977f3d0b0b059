"""How pytest runs the chapters: each notebook that is named, or `book` as a whole, runs again and is compared."""

from __future__ import annotations

import os

import pytest

from scripts.execute import SECONDS_PER_CELL, reproducible_environment
from tests.forked_kernels import forked_kernels

# The sources of the graded exercises are no chapters: tests/exercises grades them.
collect_ignore = ["exercises"]

# The kernels that nbval starts inherit this, so they run as `make execute` ran.
os.environ.update(reproducible_environment())


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Ask nbval, before anybody looks, for what it does only when its options are given."""
    config.option.nbval = config.option.nbval_current_env = True
    config.option.nbval_cell_timeout = SECONDS_PER_CELL


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
