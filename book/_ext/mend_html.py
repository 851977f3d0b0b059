"""Mend two pieces of HTML that other packages print wrongly.

The tests print both pieces anew, and fail once a mend is no longer needed.
"""

import re

MENDS = [
    # Docutils prints a bibliography as `role="list"` around entries of the role `doc-biblioentry` (0.23 still does), as
    # DPUB-ARIA 1.0 had it. But a list needs items of the role `listitem`: a screen reader announces a list of nothing,
    # which axe counts as critical. DPUB-ARIA 1.1 gave the role up: https://github.com/w3c/dpub-aria/issues/15. Without
    # `role="list"` the entries read well.
    (r'<div role="list" class="citation-list">', r'<div class="citation-list">'),
    # sphinx-proof gives a `{prf:proof}` no title of its own. With `:class: dropdown` the fold button then has no place,
    # which is a JavaScript error: https://github.com/executablebooks/sphinx-proof/issues/86. The word "Proof" becomes
    # the title that the button needs.
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
