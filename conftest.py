"""What all runs of pytest share.

A check that is left out does not look like a pass: it is named at the end, and with CI=true it fails the run.
"""

from __future__ import annotations

import gc
import os
from collections import Counter

import pytest

IN_CI = os.environ.get("CI", "").lower() in {"true", "1"}
LEFT_OUT = ("skipped", "xfailed", "xpassed")


#: They take the longest, in which a browser, a sandbox or nbgrader is at work: the longest first.
LONGEST = (
    "test_site.py", "test_answers.py", "test_class.py", "test_instructors.py", "test_tampering.py", "test_weight.py",
    "test_explorable.py",
)  # fmt: skip


@pytest.hookimpl(optionalhook=True)  # without pytest-xdist nobody asks
def pytest_xdist_auto_num_workers(config):
    """Half as many workers again as processors for `make test`, where many wait for a browser or another program."""
    return 3 * (os.cpu_count() or 1) // 2 if config.getoption("nbval", False) else None


def pytest_collection_modifyitems(items):
    """Put the longest files first, so that workers end together: these, the notebooks, then by number of tests."""
    n_tests = Counter(item.path for item in items)

    def rank(path):
        place = LONGEST.index(path.name) if path.name in LONGEST else len(LONGEST)
        return place, path.suffix != ".ipynb", -n_tests[path], path

    ranks = {path: rank(path) for path in n_tests}
    items.sort(key=lambda item: ranks[item.path])


def pytest_collection_finish():
    """Whatever the tests import lives to the end: the collector of garbage need not look through it again and again."""
    gc.collect()
    gc.freeze()


def left_out(config) -> list:
    """The reports of all tests that did not run to a plain pass or failure."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # a worker of pytest-xdist: the main process counts
        return []
    return [report for kind in LEFT_OUT for report in reporter.stats.get(kind, [])]


def pytest_sessionfinish(session):
    """With CI=true a run that left something out is not a pass."""
    if IN_CI and session.exitstatus == 0 and left_out(session.config):
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter, config):
    """Say loudly what was not checked, so that a green line is not mistaken for a full check."""
    reports = left_out(config)
    if not reports:
        return
    terminalreporter.section("NOT CHECKED", sep="!", red=True)
    for report in reports:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else getattr(report, "wasxfail", "")
        terminalreporter.line(f"{report.nodeid}: {reason}")
    if IN_CI:
        terminalreporter.line("CI is set: what is not checked counts as failed.", red=True)
