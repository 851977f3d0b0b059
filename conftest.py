"""What every run of pytest shares. It stands at the root because its hooks must reach book/ as well as tests/."""

from __future__ import annotations

import os

from scripts.execute import reproducible_environment

# The kernels that nbval starts inherit this, so they run as `make execute` ran.
os.environ.update(reproducible_environment())

IN_CI = os.environ.get("CI", "").lower() in {"true", "1"}
LEFT_OUT = ("skipped", "xfailed", "xpassed")


def pytest_collectstart(collector):
    """Let nbval compare figures too: on its own it leaves images out."""
    if hasattr(collector, "skip_compare"):
        images = {"image/png", "image/jpeg"}
        collector.skip_compare = tuple(kind for kind in collector.skip_compare if kind not in images)


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
