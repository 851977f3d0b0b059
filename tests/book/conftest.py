"""The sites that the tests of built pages look at."""

import fcntl

import pytest

from tests.book.sites import BIN, build, build_small, open_tab, served, small_book

#: Where the previews of links shall lead.
SITE_URL = "https://example.org/trees/"


@pytest.fixture(scope="session")
def built_once(tmp_path_factory, worker_id):
    """Build a site by calling a function with a folder: once, by the worker that asks first. Returns its pages."""
    alone = worker_id == "master"
    folder = tmp_path_factory.getbasetemp() if alone else tmp_path_factory.getbasetemp().parent

    def pages(name, build_into):
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            pages = folder / name / "_build" / "html"
            if not (folder / name).exists():
                (folder / name).mkdir()
                build_into(folder / name)
            assert (pages / "index.html").exists(), "another worker could not build the site, and says why"
            return pages

    return pages


@pytest.fixture(scope="session")
def site(built_once):
    """The folder of the built site, built with warnings as errors."""

    def build_into(folder):
        build(["make", "site", f"BIN={BIN}", f"OUT={folder}"], folder, BOOK_SITE_URL=SITE_URL)

    return built_once("site", build_into)


@pytest.fixture(scope="session")
def address(site):
    """The address at which the built site is served while the tests run."""
    with served(site) as address:
        yield address


@pytest.fixture(scope="session")
def small_site(built_once):
    """The folder of a small built site: a chapter of checks, one of folds, and for each a page that links to it."""
    from tests.book import test_checks as checks
    from tests.book import test_folds as folds

    pages = {"other": checks.OTHER, "folds": folds.CELLS, "links": folds.LINKS}
    return built_once("small", lambda folder: build_small(small_book(folder, checks.CELLS, **pages)))


@pytest.fixture(scope="module")
def window(browser, address):
    """A tab that all tests of a file use in turn, with the lists of its errors and of requests that leave the site."""
    with browser.new_context() as context:
        yield open_tab(context, address)


@pytest.fixture
def visit(window, address):
    """Open a page as a reader does who comes for the first time; any error fails the test."""
    tab, errors, requests = window
    errors.clear()
    requests.clear()

    def open_page(name):
        tab.goto(f"{address}/{name}")
        return tab

    yield open_page
    tab.evaluate("localStorage.clear(); sessionStorage.clear()")
    tab.emulate_media(media="null")
    assert [error for error in errors if "favicon" not in error] + requests == []  # a reload may break its loading
