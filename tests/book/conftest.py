"""The site that all tests of the built pages look at."""

import fcntl

import pytest

from tests.book.sites import BIN, build, served

#: Where the previews of links shall lead.
SITE_URL = "https://example.org/trees/"


@pytest.fixture(scope="session")
def site(tmp_path_factory, worker_id):
    """The folder of the built site, built with warnings as errors: once, by the worker that asks first."""
    alone = worker_id == "master"
    folder = tmp_path_factory.getbasetemp() if alone else tmp_path_factory.getbasetemp().parent
    with (folder / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        pages = folder / "site" / "_build" / "html"
        if pages.exists():
            assert (pages / "index.html").exists(), "another worker could not build the site, and says why"
            return pages
        return build(["make", "site", f"BIN={BIN}", f"OUT={folder / 'site'}"], folder / "site", BOOK_SITE_URL=SITE_URL)


@pytest.fixture(scope="session")
def address(site):
    """The address at which the built site is served while the tests run."""
    with served(site) as address:
        yield address
