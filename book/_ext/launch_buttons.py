"""Offer Binder and Colab only when the book knows its own repository, and JupyterLite only where it is built.

Jupyter Book's buttons need a repository, and their default is Jupyter Book's own: the buttons
would open somebody else's project. So the address comes from the environment at build time:

* `BOOK_REPOSITORY_URL`, such as the address of a fork on GitHub; without it there are no buttons;
* `BOOK_REPOSITORY_BRANCH`, `main` unless told.

`make lite` sets `BOOK_LITE`, and builds JupyterLite into the folder `lite` beside the pages.

Binder installs treekit by the recipe in `binder/`. Colab opens the notebook and nothing else, so each
chapter then says which lines to run there first: they bring treekit, and the folder that holds the figures.
"""

from __future__ import annotations

import os
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.typing import ExtensionMetadata

#: The cover has nothing to run, and the page for instructors marks notebooks in processes of their own.
NOT_IN_LITE = {"cover", "instructors"}
#: Pages without a notebook of their own, whose button opens the list of all notebooks.
LISTS_LITE = {"cover", "exercises"}


def set_repository(app: Sphinx, config: Config) -> None:
    """Write the theme's options for the repository, or take them away."""
    options = config.html_theme_options
    url = os.environ.get("BOOK_REPOSITORY_URL", "").rstrip("/").removesuffix(".git")
    options["launch_buttons"] = {}
    options["repository_url"] = url
    options["use_repository_button"] = bool(url)
    if url:
        options["repository_branch"] = os.environ.get("BOOK_REPOSITORY_BRANCH") or "main"
        options["launch_buttons"] = {
            "notebook_interface": "jupyterlab",
            "binderhub_url": "https://mybinder.org",
            "colab_url": "https://colab.research.google.com",
        }


def tell_colab(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Below a chapter's title, say how Colab gets treekit and the figures."""
    url = app.config.html_theme_options["repository_url"]
    if url and context.get("page_source_suffix") == ".ipynb":
        branch = app.config.html_theme_options["repository_branch"]
        lines = f"!git clone --depth 1 --branch {branch} {url} the-book\n%pip install ./the-book\n%cd the-book/book"
        note = f'<div class="in-colab">In Colab, run these lines first:<pre>{escape(lines)}</pre></div>'
        context["body"] = context["body"].replace("</h1>", "</h1>\n" + note, 1)


def add_lite(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Put JupyterLite first among the places where a chapter can be opened; the cover opens the list of all."""
    _, _, page = pagename.rpartition("/")
    is_notebook = context.get("page_source_suffix") == ".ipynb" and page not in NOT_IN_LITE
    if not os.environ.get("BOOK_LITE") or not (is_notebook or page in LISTS_LITE):
        return
    address = f"lite/notebooks/index.html?path={pagename}.ipynb" if is_notebook else "lite/tree/index.html"
    button = {
        "type": "link",
        "text": "JupyterLite",
        "tooltip": "Open in JupyterLite, in this browser",
        "icon": "_static/images/logo_jupyterlite.svg",
        "url": context["content_root"] + address,
    }
    groups = [group for group in context["header_buttons"] if group.get("label") == "launch-buttons"]
    if groups:
        groups[0]["buttons"].insert(0, button)
    else:
        group = {"type": "group", "tooltip": "Run all of it", "icon": "fas fa-rocket", "label": "launch-buttons"}
        context["header_buttons"].insert(0, group | {"buttons": [button]})


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("config-inited", set_repository)
    app.connect("html-page-context", tell_colab)
    app.connect("html-page-context", add_lite, priority=502)  # after the theme's own buttons
    return {"parallel_read_safe": True, "parallel_write_safe": True}
