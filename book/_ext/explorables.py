"""Add the scripts and style sheets of moving figures, and of rows to follow, to the pages that hold one."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "explorables"


def publish(app, config):
    """Let Sphinx copy the files into the site's `_static`."""
    config.html_static_path = [*config.html_static_path, str(FOLDER)]


def add_to_page(app, pagename, templatename, context, doctree):
    """Load them where a figure of `treekit.showing.explorable` stands, or a drawn tree with rows."""
    for mark, name in (('<figure class="explorable">', "explorable"), ('class="treekit-rows"', "rows")):
        if mark in context.get("body", ""):
            app.add_css_file(f"{name}.css")
            app.add_js_file(f"{name}.js", loading_method="defer")


def setup(app):
    app.connect("config-inited", publish)
    app.connect("html-page-context", add_to_page)
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
