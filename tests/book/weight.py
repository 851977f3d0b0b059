"""What the first visit to a page weighs, and how long it takes: `make weight` prints it.

The site is served as a public host would serve it, text compressed by gzip, and opened in a browser with an empty
cache. For the seconds the browser plays a phone: a quarter of this machine's speed, 1.6 Mbit/s, 150 ms to the server.
"""

from __future__ import annotations

import functools
import gzip
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.book.sites import QuietHandler, serving
from tests.conftest import launched

DESK, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
TEXT = {".html", ".css", ".js", ".mjs", ".svg", ".json", ".wasm"}
SLOWER, KBIT, LATENCY = 4, 1600, 150
PAGES = ["introduction", "entropy", "cart", "pruning", "gbdt"]

# Looks once a frame when what the reader waits for is there. A figure is alive when its script has made its controls.
WATCH = """
window.seen = {};
window.shift = 0;
new PerformanceObserver((list) => list.getEntries().forEach((entry) => (shift += entry.value)))
  .observe({ type: "layout-shift", buffered: true });
const look = () => {
  const first = (selector) => document.querySelector(selector)?.getBoundingClientRect().height > 0;
  if (!seen.formulas && first("article math")) seen.formulas = performance.now();
  if (!seen.figures && document.querySelector("figure.explorable.moves")) seen.figures = performance.now();
  requestAnimationFrame(look);
};
look();
"""


@dataclass(frozen=True)
class Visit:
    """The files of a first visit with their sizes in bytes, compressed, seconds by what was waited for, and how much
    of the page moved while it came (the sum of the browser's layout shifts)."""

    sizes: dict[str, int]
    seconds: dict[str, float]
    shift: float

    @property
    def kilobytes(self):
        return sum(self.sizes.values()) / 1000


@functools.cache
def compressed(path):
    """The bytes that are sent for a file."""
    content = path.read_bytes()
    return gzip.compress(content, 6) if path.suffix in TEXT else content


class Handler(QuietHandler):
    """Serve files as `compressed` has them, and write down the size of each."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = Path(self.directory, unquote(urlsplit(self.path).path).lstrip("/"))
        if not path.is_file():
            self.send_error(404)
            return
        content = compressed(path)
        self.server.sizes[path.relative_to(self.directory).as_posix()] = len(content)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(len(content)))
        if path.suffix in TEXT:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(content)


def server(site):
    """Serve a built site meanwhile; its `address` is where, its `sizes` what has been asked for."""
    return serving(site, Handler)


def visit(browser, server, page, viewport=DESK, is_slow=False):
    """Open a page for the first time, and do nothing there."""
    server.sizes.clear()
    with browser.new_context(viewport=viewport) as context:
        tab = context.new_page()
        if is_slow:
            session = context.new_cdp_session(tab)
            session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
            network = {"offline": False, "latency": LATENCY, "downloadThroughput": KBIT * 125, "uploadThroughput": -1}
            session.send("Network.emulateNetworkConditions", network)
        tab.add_init_script(WATCH)
        tab.goto(f"{server.address}/{page}", wait_until="networkidle")
        if is_slow:
            tab.wait_for_timeout(2000)  # a busy machine may draw late
        first_paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        seen = {"text": tab.evaluate(first_paint)} | tab.evaluate("window.seen")
        seconds = {name: time / 1000 for name, time in seen.items() if time}
        return Visit(dict(server.sizes), seconds, tab.evaluate("window.shift"))


def main():
    """Print a line for each page."""
    site, *pages = sys.argv[1:]
    on_phone = f"seconds on a phone ({SLOWER} times slower, {KBIT / 1000} Mbit/s, {LATENCY} ms)"
    with launched() as browser, server(site) as served:
        print(
            f"{'':16}{'':6}{'':10}{on_phone}\n{'page':16}{'KB':>6}{'requests':>10}{'text':>8}{'formulas':>10}{'figures':>9}{'shift':>8}"
        )
        for page in pages or PAGES:
            desk = visit(browser, served, f"book/{page}.html")
            phone = visit(browser, served, f"book/{page}.html", PHONE, is_slow=True)
            seconds = [phone.seconds.get(name) for name in ("text", "formulas", "figures")]
            times = ["-" if time is None else f"{time:.1f}" for time in seconds]
            print(
                f"{page:16}{desk.kilobytes:6.0f}{len(desk.sizes):10}"
                f"{times[0]:>8}{times[1]:>10}{times[2]:>9}{phone.shift:8.3f}"
            )


if __name__ == "__main__":
    main()
