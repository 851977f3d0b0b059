"""What all tests share."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys

import pytest
from hypothesis import settings

# The workers of pytest-xdist share the cores among them: more threads would only be in each other's way. Set before
# NumPy is imported.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# Examples take as long as they take; in continuous integration every run tries the same ones.
settings.register_profile("book", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True)
settings.load_profile("book")

#: The first is the same browser without its windows, and a tenth quicker.
BROWSERS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
# The pop-up below the address bar is two pages of the browser's own, which it would load with every window although
# nobody types there: more work than most tests. This list takes the place of Playwright's, so it begins with that.
FEATURES_OFF = [
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose"),
    *("HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "TcpPortRandomizationWin"),
    *("OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"),
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
]
# The sandbox needs rights that a container lacks; letters are as wide as a phone draws them, where no screen's grid
# rounds them; the rest keeps the browser itself off the network.
FLAGS = [
    "--no-sandbox",
    "--font-render-hinting=none",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(FEATURES_OFF)}",
]
NO_BROWSER = f"no browser: none of {', '.join(BROWSERS)} is installed, and CHROMIUM is not set"


def find_browser():
    """The browser that CHROMIUM names, or the first that is installed; None without one."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


@contextlib.contextmanager
def launched():
    """A headless browser; a command ends without one."""
    found = find_browser()
    if not found:
        sys.exit(NO_BROWSER)
    from playwright.sync_api import sync_playwright  # only here: most tests need no browser

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items):
    """What opens a browser is slow, as `make check` understands it."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="module")
def browser():
    """A headless browser. Without one its tests are left out: the run says so, and with CI=true it fails."""
    if not find_browser():
        pytest.skip(NO_BROWSER)
    with launched() as browser:
        yield browser
