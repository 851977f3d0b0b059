"""Add the scripts and style sheets of moving figures, and of rows that follow the branches of a tree, to the site."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "explorables"


def publish(app, config):
    """Let Sphinx copy the files into the site's `_static`."""
    config.html_static_path = [*config.html_static_path, str(FOLDER)]


def setup(app):
    app.connect("config-inited", publish)
    for name in ("explorable", "rows"):
        app.add_css_file(f"{name}.css")
        app.add_js_file(f"{name}.js", loading_method="defer")
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
