"""Add the script and the style sheet of moving figures to the pages that hold one, and to no other page."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "explorables"


def publish(app, config):
    """Let Sphinx copy the two files into the site's `_static`."""
    config.html_static_path = [*config.html_static_path, str(FOLDER)]


def add_to_page(app, pagename, templatename, context, doctree):
    """Load them where a figure of `treekit.showing.explorable` stands."""
    if '<figure class="explorable">' in context.get("body", ""):
        app.add_css_file("explorable.css")
        app.add_js_file("explorable.js", loading_method="defer")


def setup(app):
    app.connect("config-inited", publish)
    app.connect("html-page-context", add_to_page)
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
