"""Building a site, the book's own or a small one, serving it and opening its pages in a browser."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import yaml
from nbformat.v4 import new_notebook

from scripts.execute import ROOT, normalise, stored_form

BIN = Path(sys.executable).parent
#: How a request fails that was under way when the tab went on to the next page.
LEFT = "net::ERR_ABORTED"
#: The seconds after which a build hangs. The Makefile has a limit of its own, which comes first and says more.
LIMIT = 900


def build(command, folder, **variables):
    """Run a command that builds a site into `folder`, and return where its pages are."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BOOK_REPOSITORY")}
    run = subprocess.run(
        command,
        cwd=ROOT,
        env=environment | variables,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LIMIT,
    )
    assert run.returncode == 0, run.stdout[-8000:]
    return folder / "_build" / "html"


def small_book(folder, cells, **pages):
    """A book of one small chapter, and of further pages by name, with the settings of ours.

    A further page is given as its Markdown, or by cells as a chapter is.
    """
    shutil.copy(ROOT / "_config.yml", folder)
    pages = pages or {"last": "# A last page"}  # sphinx-notfound-page cannot print an empty list of contents
    toc = {"format": "jb-book", "root": "book/small", "chapters": [{"file": f"book/{name}"} for name in pages]}
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    (folder / "book").mkdir()
    for name in ("_ext", "_math", "_static", "_templates", "data", "explorables", "references.bib"):
        (folder / "book" / name).symlink_to(ROOT / "book" / name)
    for name, content in {"small": cells, **pages}.items():
        if isinstance(content, str):
            (folder / "book" / f"{name}.md").write_text(content, encoding="utf-8")
        else:
            chapter = normalise(new_notebook(cells=content))
            (folder / "book" / f"{name}.ipynb").write_text(stored_form(chapter), encoding="utf-8")
    return folder


def build_small(folder, **variables):
    """Build a small book, and return its chapter's HTML."""
    command = [BIN / "jupyter-book", "build", folder, "--all", "-W", "-n"]
    return (build(command, folder, **variables) / "book" / "small.html").read_text(encoding="utf-8")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serve files without a line in the log for each."""

    def log_message(self, format, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    """A server that takes no note of a browser that has left before all was sent."""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def serving(folder, handler=QuietHandler):
    """A server of a built site meanwhile; its `address` is where."""
    with Server(("127.0.0.1", 0), functools.partial(handler, directory=str(folder))) as server:
        server.address, server.sizes = f"http://127.0.0.1:{server.server_port}", {}
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@contextlib.contextmanager
def served(folder):
    """The address at which a built site is served meanwhile."""
    with serving(folder) as server:
        yield server.address


def outside(url, address):
    """Tell whether a request leaves the site that is served at `address`."""
    return not url.startswith((address, "data:", "blob:"))


def open_tab(context, address):
    """Open an empty tab, with the lists to which the browser will add errors and requests that leave the site."""
    tab, errors, requests = context.new_page(), [], []

    def note_message(message):
        if message.type == "error":
            errors.append(f"{message.text} {message.location['url']}")

    def note_failure(request):
        if request.failure != LEFT:
            errors.append(f"failed: {request.url}")

    def note_request(request):
        if outside(request.url, address):
            requests.append(request.url)

    tab.on("console", note_message)
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("requestfailed", note_failure)
    tab.on("request", note_request)
    return tab, errors, requests


def wait_two_frames(tab):
    """Wait until what has changed is drawn, and what watches sizes has seen it."""
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def wait_until_laid_out(tab):
    """Wait until all sections are laid out and what scrolls has become a stop of the tab key."""
    tab.wait_for_selector("html.all-sections", state="attached")
    wait_two_frames(tab)


def open_page(context, url, address):
    """Open an address in a tab of its own."""
    tab, errors, requests = open_tab(context, address)
    tab.goto(url)
    return tab, errors, requests
