"""Leave out the scripts of sphinx-thebe.

Jupyter Book always loads sphinx-thebe, which sends a reader's cells to a public Binder.
The book has no such button. Its scripts would be dead weight, and they break each page:
`THEBE_JS_URL` is declared twice, which is a JavaScript error.
"""


def is_thebe(script):
    """Tell whether an entry of the page's list of scripts belongs to sphinx-thebe."""
    return "THEBE_JS_URL" in script.attributes.get("body", "") or "thebe" in str(script.filename)


def drop_scripts(app, pagename, templatename, context, doctree):
    """Rewrite the page's list of scripts without thebe's."""
    context["script_files"] = [s for s in context["script_files"] if not is_thebe(s)]


def setup(app):
    app.connect("html-page-context", drop_scripts, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
