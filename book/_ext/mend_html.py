"""Mend two pieces of HTML that other extensions print wrongly.

* Docutils prints a bibliography as `role="list"` around entries of another role. A screen reader then
  announces a list without items, which axe counts as critical. Without the role the entries read well.
* sphinx-proof gives a `{prf:proof}` no title of its own. With `:class: dropdown` the fold button then has no
  place, which is a JavaScript error. The word "Proof" becomes the title that the button needs.
"""

import re

MENDS = [
    (r'<div role="list" class="citation-list">', r'<div class="citation-list">'),
    (r'(<div class="proof dropdown admonition"[^>]*>\n)<p>Proof\. ', r'\1<p class="admonition-title">Proof</p>\n<p>'),
]


def mend(app, pagename, templatename, context, doctree):
    """Rewrite the page's HTML."""
    if "body" in context:
        for pattern, replacement in MENDS:
            context["body"] = re.sub(pattern, replacement, context["body"])


def setup(app):
    app.connect("html-page-context", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
