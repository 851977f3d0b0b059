"""Mark listings with long lines as `wide`: the style sheet makes room for the 120 columns of treekit's code."""

from docutils import nodes

LONGEST = 92  # columns that fit at the size of all other code


def mark_wide(app, doctree, docname):
    for listing in doctree.findall(nodes.literal_block):
        if max(map(len, listing.astext().splitlines()), default=0) > LONGEST:
            listing["classes"].append("wide")


def setup(app):
    app.connect("doctree-resolved", mark_wide)
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
