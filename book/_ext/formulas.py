"""Set every formula at build time, as MathML: the reader's browser draws it by itself, and no script has to come first.

MathJax weighed 300 KB, and a phone waited ten seconds for its formulas. MathML needs no JavaScript, screen readers read
it, and the tab key does not stop at it. Temml (book/_math, where its style sheet and the font are too) turns TeX into
MathML; it is one file of JavaScript, which MiniRacer, an engine from the Python package of that name, runs here.
A formula that Temml does not understand is a warning, so the build fails.
"""

from __future__ import annotations

import atexit
import re
from functools import cache
from html import unescape
from itertools import pairwise
from pathlib import Path
from unicodedata import normalize
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from docutils import nodes
from fonts import cut
from py_mini_racer import JSEvalException, MiniRacer
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

FOLDER = Path(__file__).resolve().parents[1] / "_math"
FONT = "STIXTwoMath.woff2"
SCROLLS = "pst-scrollable-table-container"
DOTS = "…⋯"  # browsers would space them as operators, TeX leaves the space to their neighbours
THIN = "0.1667em"
OPENS = tuple("([{⟨")
#: Which children of an element are set small: there TeX puts no space around operators.
SMALL = {"msub": (1,), "msup": (1,), "msubsup": (1, 2), "munder": (1,), "mover": (1,), "munderover": (1, 2)}
OPENING = re.compile(r"[(\[‘“]+$")
MARKS = re.compile(r"^[,.;:?!)\]’”]+")

logger = logging.getLogger(__name__)


@cache
def engine() -> MiniRacer:
    """A JavaScript engine that has read Temml."""
    made = MiniRacer()
    # Python 3.13 and later would wait for ever if the engine had to close itself while the interpreter ends.
    atexit.register(made.close)
    made.eval((FOLDER / "temml.min.js").read_text(encoding="utf-8") + "; 0")
    return made


@cache
def mathml(tex: str, is_display: bool) -> str:
    """Turn a formula into MathML; one in a line of text may be broken after its relations and operators."""
    math = engine().call("temml.renderToString", tex, {"displayMode": is_display, "throwOnError": True, "wrap": "tex"})
    root = ElementTree.fromstring(math)
    space_as_tex(root)
    if not is_display:
        mend_breaks(root)
    return ElementTree.tostring(root, encoding="unicode")


def space_as_tex(root: Element) -> None:
    """Space operators and functions as TeX does, where browsers, left to themselves, do it otherwise."""
    for parent in root.iter():
        for operator in parent.findall("mo"):
            if not operator.text or operator.text in DOTS:
                close_up(operator)
        for place in SMALL.get(parent.tag, ()):
            for operator in parent[place].iter("mo"):
                if operator.get("fence") != "true":
                    close_up(operator)
        for before, part in reversed(list(pairwise(parent))):
            if part.tag == "mo" and part.text == "−" and before.get("fence") == "true" and before.text in OPENS:
                part.set("form", "prefix")
            elif is_function(part) and is_atom(before) and parent.tag not in SMALL:  # whose children are counted
                parent.insert(list(parent).index(part), Element("mspace", width=THIN))


def close_up(operator: Element) -> None:
    """Let an operator stand without space."""
    operator.set("lspace", "0")
    operator.set("rspace", "0")


def is_function(part: Element) -> bool:
    """Whether a part is a name such as log, alone or with a base, in front of its argument."""
    name = part[0] if part.tag in ("mrow", "msub") and len(part) else part
    name = name[0] if name.tag == "msub" else name
    return name.tag == "mi" and len(name.text or "") > 1


def is_atom(part: Element) -> bool:
    """Whether a part is a number, a letter, a fraction or a closing bracket, alone or with indices."""
    if part.tag == "mrow":
        return bool(len(part)) and is_atom(part[-1])
    if part.tag == "mo":
        return part.get("form") == "postfix"
    return part.tag in ("mi", "mn", "mfrac", "mstyle", "msub", "msup", "msubsup", "msqrt")


def mend_breaks(root: Element) -> None:
    """Mend the rows between which a formula may be broken: an operator alone in one would have no space around it.

    Such an operator moves to the row before. It counts as alone beside mere text, too, so a word becomes an identifier.
    """
    for before, row in pairwise(list(root)):
        if before.tag == row.tag == "mrow" and [part.tag for part in row] == ["mo"]:
            row[:0] = list(before)
            root.remove(before)
    for row in root:
        if [part.tag for part in row] == ["mtext", "mo"]:
            row[0].tag = "mi"


def formula(node: nodes.Element, is_display: bool) -> str:
    """The MathML of a node."""
    tex = node.astext()
    try:
        return mathml(tex, is_display)
    except JSEvalException as error:
        reason = str(error).partition("\nvar temml")[0].strip()
        logger.warning("this formula cannot be set: %s\n%s", reason, tex, location=node)
        return ""


def take_marks(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Hand each formula in a line the bracket before it and the marks after it: there browsers would break the line."""
    for node in doctree.findall(nodes.math):
        siblings, place = node.parent.children, node.parent.index(node)
        for name, pattern, beside in (("opening", OPENING, place - 1), ("marks", MARKS, place + 1)):
            text = siblings[beside] if 0 <= beside < len(siblings) else None
            if isinstance(text, nodes.Text) and (found := pattern.search(text)):
                node[name] = found[0]
                node.parent[beside] = nodes.Text(pattern.sub("", text))


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    drawn = self.starttag(node, "span", "", CLASS="math notranslate nohighlight")
    drawn += formula(node, is_display=False) + "</span>"
    whole = node.get("opening", "") + drawn + node.get("marks", "")
    self.body.append(drawn if whole == drawn else f'<span class="unbroken">{whole}</span>')
    raise nodes.SkipNode


def visit_display(self: HTML5Translator, node: nodes.math_block) -> None:
    """A formula on a line of its own, with its number and the link to it."""
    self.body.append(self.starttag(node, "div", "", CLASS="math notranslate nohighlight"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    # The theme lets what has this class scroll, and the tab key reach it if it does.
    self.body.append(f'<div class="formula {SCROLLS}">{formula(node, is_display=True)}</div></div>\n')
    raise nodes.SkipNode


def cut_font(app: Sphinx, exception: Exception | None) -> None:
    """Leave in the site's copy of the font what the formulas of all pages show; a letter alone is shown in italics."""
    if exception or app.builder.name != "html":
        return
    shown: set[str] = set()
    for page in app.outdir.rglob("*.html"):
        for math in re.findall(r"<math.*?</math>", page.read_text(encoding="utf-8"), re.DOTALL):
            shown.update(unescape(re.sub("<.*?>", "", math)))
            if "<msqrt" in math or "<mroot" in math:
                shown.add("√")  # the browser draws it: it is an element, not a character of the page
    italics = [0x210E, *range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)]
    cut(app.outdir / "_static" / FONT, shown | {chr(code) for code in italics if normalize("NFKC", chr(code)) in shown})


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_display, None))
    app.connect("doctree-resolved", take_marks)
    app.connect("build-finished", cut_font)
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
