"""One device and one look for everything that is folded: `<details class="fold">`, titled by its `<summary>`.

It is native HTML, so it opens without JavaScript, and `_static/folds.js` adds only what browsers lack. What becomes a
fold:

* a `{dropdown}`, and a proof, hint, solution or other admonition with `:class: dropdown`;
* the code of a cell tagged `hide-input`, or a whole cell tagged `hide-cell`.

A fold goes on below its directive. Cells tagged `hide-cell` straight after it belong to it and stand open inside, and
so does the content of a `{dropdown}` whose title is three dots. So a fold holds text, code, text, code.

Each fold has an id of its own. This also mends ids that sphinx-proof (`proof`, `proof-content`) and sphinx-exercise
(`exercise-content`, `solution-content`) print once for every directive of a page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import admonitionlabels
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator
from sphinx_design.shared import is_component
from sphinx_exercise.nodes import solution_node
from sphinx_proof.nodes import proof_node

logger = logging.getLogger(__name__)

#: What a title may begin with; the word is set apart from the rest.
KINDS = ("For the curious", "Proof", "In print", "Checked", "Hint", "Solution", "Answer", "Code")
DOTS = {"...", "…"}
REPEATED_IDS = {"proof-content", "exercise-content", "solution-content"}


class fold(nodes.General, nodes.Element):
    """`<details>`: a title and one `fold_body`."""


class fold_title(nodes.TextElement):
    """`<summary>`."""


class fold_body(nodes.General, nodes.Element):
    """What opens."""


def is_dropdown(node: nodes.Node) -> bool:
    return is_component(node, "dropdown")


def is_proof(node: nodes.Node) -> bool:
    return isinstance(node, proof_node) and "dropdown" in node[0]["classes"]


def is_admonition(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Admonition) and "dropdown" in node["classes"]


def is_hidden_cell(node: nodes.Node, *modes: str) -> bool:
    return isinstance(node, nodes.container) and node.get("hide_mode") in modes


def goes_on(node: nodes.Node) -> bool:
    """Tell whether a `{dropdown}` has no title but dots."""
    return is_dropdown(node) and node["has_title"] and node[0].astext().strip() in DOTS


class JoinFolds(SphinxTransform):
    """Move what belongs to a fold into it."""

    default_priority = 20  # when gated solutions are whole (10), before labels are bound to what follows them (260)

    def apply(self, **kwargs: object) -> None:
        for node in list(self.document.findall(lambda node: is_dropdown(node) or is_proof(node))):
            if not goes_on(node):
                self.join(node, node[0] if is_proof(node) else node)
        for node in self.document.findall(goes_on):
            logger.warning("a {dropdown} titled by dots follows no fold", location=node)

    def join(self, node: nodes.Element, body: nodes.Element) -> None:
        """Move what follows `node` into `body`, labels too, as long as it belongs there."""
        siblings = node.parent
        while True:
            labels, following = [], node.next_node(descend=False, siblings=True)
            while isinstance(following, nodes.target | nodes.comment):
                labels.append(following)
                following = following.next_node(descend=False, siblings=True)
            if following is None or not (goes_on(following) or is_hidden_cell(following, "all")):
                return
            for moved in [*labels, following]:
                siblings.remove(moved)
            if goes_on(following):
                body.extend([*labels, *following[1:]])
            else:
                del following["hide_mode"]
                body.extend([*labels, following])


class MakeFolds(SphinxPostTransform):
    """Replace everything that folds by a `fold`, and see that no id stands twice on the page."""

    default_priority = 190  # after the titles of solutions (21), before the folds of sphinx-design and MyST-NB (199)
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        for section in self.document.findall(nodes.section):
            section["ids"] = [name for name in section["ids"] if name not in REPEATED_IDS]
        for proof in self.document.findall(proof_node):
            proof[0]["ids"] = proof["ids"]
        self.ids = {name for node in self.document.findall(nodes.Element) for name in node["ids"]}
        for node in list(self.document.findall(nodes.Element)):
            if is_hidden_cell(node, "all", "input"):
                self.fold_cell(node)
            elif is_dropdown(node):
                title = node[0] if node["has_title"] else nodes.Text("More")
                self.replace(node, title, node[node["has_title"] :], open=node["opened"])
            elif is_proof(node):
                self.replace(node, nodes.Text("Proof"), without_heading(node[0]))
            elif isinstance(node, solution_node) and is_admonition(node):
                self.replace(node, nodes.Text("Solution"), [child for part in node[1:] for child in part])
            elif is_admonition(node) and not isinstance(node.parent, proof_node):
                self.fold_admonition(node)

    def fold_cell(self, cell: nodes.container) -> None:
        """Fold the source of a cell, or all of it."""
        is_whole = cell["hide_mode"] == "all"
        del cell["hide_mode"]
        folded = cell.children if is_whole else cell.children[:1]
        cell.children = [self.made(nodes.Text("Code"), folded, []), *cell.children[len(folded) :]]
        cell.setup_child(cell[0])

    def fold_admonition(self, node: nodes.Element) -> None:
        if self.env.domains["std"].get_enumerable_node_type(node):
            logger.warning("what is numbered cannot be folded: put it into a {dropdown}", location=node)
        elif isinstance(node[0], nodes.title):
            self.replace(node, node[0], node[1:])
        else:
            self.replace(node, nodes.Text(admonitionlabels[node.tagname]), node.children)

    def replace(self, node: nodes.Element, title: nodes.Node, content: Sequence[nodes.Node], **options: bool) -> None:
        ids = node["ids"] + (title["ids"] if isinstance(title, nodes.Element) else [])
        node.parent.replace(node, self.made(title, content, ids, **options))

    def made(self, title: nodes.Node, content: Sequence[nodes.Node], ids: list[str], **options: bool) -> fold:
        """A fold with its title, what it holds, and the ids that lead to it."""
        kind, colon, _ = title.astext().partition(":")
        heading = fold_title("", "", *(title.children or [title]))
        made = fold("", heading, ids=ids[:1] or [self.new_id(title.astext())], **options)
        if kind in KINDS:
            made["classes"].append("fold-" + nodes.make_id(kind))
            rest = nodes.Text(heading[0].astext().removeprefix(kind + colon))
            heading[:1] = [nodes.inline("", kind + colon, classes=["fold-kind"]), rest]
        made += fold_body("", *content, ids=ids[1:])
        return made

    def new_id(self, title: str) -> str:
        """An id made of the title, with a number where another fold has the same."""
        name = stem = "fold-" + nodes.make_id(title)
        count = 1
        while name in self.ids:
            count += 1
            name = f"{stem}-{count}"
        self.ids.add(name)
        return name


def without_heading(proof: nodes.Element) -> list[nodes.Node]:
    """The content of a proof without the word that sphinx-proof sets before its first."""
    first = proof[0][0]
    first.parent.replace(first, nodes.Text(first.astext().removeprefix("Proof. ")))
    return proof.children


def visit_fold(self: HTML5Translator, node: fold) -> None:
    attributes = {"open": "open"} if node.get("open") else {}
    self.body.append(self.starttag(node, "details", CLASS="fold", **attributes))


def visit_fold_title(self: HTML5Translator, node: fold_title) -> None:
    self.body.append(self.starttag(node, "summary", ""))


def visit_fold_body(self: HTML5Translator, node: fold_body) -> None:
    self.body.append(self.starttag(node, "div", CLASS="fold-body"))


def closes(tag: str) -> Callable[[HTML5Translator, nodes.Element], None]:
    """A function that prints the end of an element."""
    return lambda self, node: self.body.append(f"</{tag}>\n")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_node(fold, html=(visit_fold, closes("details")))
    app.add_node(fold_title, html=(visit_fold_title, closes("summary")))
    app.add_node(fold_body, html=(visit_fold_body, closes("div")))
    app.add_transform(JoinFolds)
    app.add_post_transform(MakeFolds)
    app.add_js_file("folds.js", loading_method="defer")
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
