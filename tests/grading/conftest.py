"""What the tests of grading share: a machine with walls, and the small course."""

from __future__ import annotations

import pytest

from grading.course import prepared
from grading.sandbox import bubblewrap
from tests.forked_kernels import start_server
from tests.grading.small import write_sources


@pytest.fixture(scope="session")
def processes():
    """What `marked` forks its processes from is there, and is the one that kernels are forked from as well."""
    start_server()


@pytest.fixture(scope="session")
def walls(processes):
    """Without bubblewrap what needs it is left out: the run says so, and with CI=true it fails."""
    if (why := bubblewrap()) is not None:
        pytest.skip(why)


@pytest.fixture(scope="session")
def course(tmp_path_factory):
    """The small course: its sources and its two assignments."""
    folder = tmp_path_factory.mktemp("course")
    sources = write_sources(folder / "sources")
    return sources, {path.stem: prepared(path, folder / "course") for path in sources.glob("*.ipynb")}
