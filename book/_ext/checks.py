"""Checks: a short question after a section, and at once a reply that says why an answer is right or wrong.

A check is a fenced block that reads well as it stands: a question, and a list of answers. One answer is ticked, and
below each answer stands the reply to it.

    :::{check} choose
    :label: check-id3-texture
    Which melons need no further question?

    * [ ] The clear ones.

      Two of them are unripe, so [a second question](#second) is worthwhile.
    * [x] The blurry ones.

      All three are unripe.
    :::

`choose` asks for one of the answers. `number` asks for a number: the right one is written as the place where an output
of the same notebook shows it, `` `texture #` ``, and wrong ones likewise or as numbers; the last reply is for all
others. `order` asks to put the steps of a numbered list in order: wrong orders are written as `3 before 1`, and again
the last reply is for all others.

The page holds each check as text, the replies folded; `_static/checks.js` turns it into a form. On paper the replies
stand at the end of the page, as they do in what Sphinx builds besides HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

KINDS = ("choose", "number", "order")
VERDICTS = {"right": "Right", "wrong": "Wrong"}
NUMBER = r"(?:[-−]?\d+(?:\.\d+)?)"
BEFORE = re.compile(r"(\d+) before (\d+)")
UNSEEN = re.compile(r"(?is)<(style|script)\b.*?</\1\s*>|<[^<>]*>")


#: An answer, whether it is the right one, and the reply to it.
Answer = tuple[nodes.Element, bool, list[nodes.Node]]


class check(nodes.General, nodes.Element):
    """A whole check: title, question, what there is to choose from, `check_replies`."""


class check_part(nodes.General, nodes.Element):
    """A `<div>` of a check: its question, a reply, or the replies as they stand on paper."""


class check_replies(nodes.General, nodes.Element):
    """The replies, folded."""


class Check(SphinxDirective):
    """Read a check."""

    required_arguments = 1
    has_content = True
    option_spec = {"label": directives.unchanged_required, "tolerance": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        self.kind = self.arguments[0]
        if self.kind not in KINDS:
            raise self.error(f"a check is one of {', '.join(KINDS)}, not {self.kind}")
        if "label" not in self.options:
            raise self.error("a check needs a label, such as `:label: check-id3-texture`")
        if (self.kind == "number") != ("tolerance" in self.options):
            raise self.error("a tolerance, such as `:tolerance: 0.001`, belongs to every number and to nothing else")
        parsed = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, parsed)
        question, answers = parsed.children[:-1], self.answers(parsed.children[-1:])
        label = nodes.fully_normalize_name(self.options["label"])
        node = check(kind=self.kind, names=[label], tolerance=self.options.get("tolerance", ""))
        self.set_source_info(node)
        self.state.document.note_explicit_target(node, node)
        node += nodes.paragraph("", f"Check {self.env.new_serialno('check') + 1}", classes=["check-title"])
        choices = [text for text, _, _ in answers]
        if self.kind == "order":
            *question, steps = question
            choices = self.steps(steps)
            places = sorted(range(len(choices)), key=lambda place: choices[place].astext())
            if places == sorted(places):
                places = places[1:] + places[:1]
            node["shown"] = " ".join(str(place) for place in places)
        node += check_part("", *question, classes=["check-question"], ids=[f"{node['ids'][0]}-question"])
        if self.kind == "number":
            node += nodes.paragraph("", tolerance_sentence(node["tolerance"]), classes=["check-tolerance"])
        else:
            shown = choices if self.kind == "choose" else [choices[place] for place in places]
            node += nodes.bullet_list("", *(item(text) for text in shown), classes=["check-answers"], bullet="*")
        node += check_replies("", *(self.reply(answer, choices) for answer in answers))
        return [node]

    def answers(self, last: Sequence[nodes.Node]) -> list[Answer]:
        """Read the list at the end."""
        items = last[0].children if last and isinstance(last[0], nodes.bullet_list) else []
        read = []
        for entry in items:
            box = entry[0][0] if isinstance(entry[0], nodes.paragraph) else None
            if len(entry) < 2 or not (isinstance(box, nodes.raw) and "checkbox" in box.astext()):
                raise self.error("an answer begins with `* [ ]` or `* [x]`, and its reply stands indented below")
            space, *text = entry[0][1:]
            text = nodes.inline("", "", nodes.Text(space.astext().lstrip()), *text)
            read.append((text, "checked" in box.astext(), entry[1:]))
        if sum(is_right for _, is_right, _ in read) != 1 or len(read) < 2:
            raise self.error("a check ends in a list of answers, of which one is ticked: `* [x]`")
        if self.kind != "choose" and read[-1][1]:
            raise self.error("the last reply is for all other answers, so it is not the right one")
        return read

    def steps(self, steps: nodes.Element) -> list[nodes.inline]:
        """The steps of an order."""
        if not isinstance(steps, nodes.enumerated_list) or len(steps) < 3:
            raise self.error("an order needs a numbered list of three steps or more before the answers")
        return [nodes.inline("", "", *step[0].children) for step in steps]

    def reply(self, answer: Answer, choices: Sequence[nodes.Element]) -> check_part:
        """A reply, below the answer to which it replies."""
        text, is_right, content = answer
        verdict = "right" if is_right else "wrong"
        node = check_part(classes=["check-reply", f"check-{verdict}"])
        found = BEFORE.fullmatch(text.astext().strip())
        if self.kind == "number" and next(text.findall(nodes.literal), None):
            node["pattern"] = text.astext().strip()
        elif self.kind == "number" and is_right:
            raise self.error("the right number is written as its place in an output, such as `texture #`")
        elif self.kind == "number" and re.fullmatch(NUMBER, text.astext().strip()):
            node["value"] = text.astext().strip()
        elif self.kind == "order" and is_right:
            text = nodes.inline()
            for step in choices:
                text += [nodes.Text(" → " if len(text) else ""), step.deepcopy()]
        elif self.kind == "order" and found:
            first, second = (int(place) - 1 for place in found.groups())
            if not 0 <= second < first < len(choices):
                raise self.error(f"{found[0]}: the steps are numbered in the right order, so this order is not wrong")
            node["before"] = f"{first} {second}"
            steps = choices[first].deepcopy(), nodes.Text("” before “"), choices[second].deepcopy()
            text = nodes.inline("", "", nodes.Text("“"), *steps, nodes.Text("”"))
        verdict_text = nodes.inline("", f"{VERDICTS[verdict]}: ", classes=["check-verdict"])
        node += [nodes.paragraph("", "", verdict_text, text.deepcopy(), classes=["check-answer"]), *content]
        return node


def item(text: nodes.Element) -> nodes.list_item:
    return nodes.list_item("", nodes.paragraph("", "", text.deepcopy()))


def tolerance_sentence(tolerance: str) -> str:
    return f"An answer within {tolerance} of the right number counts." if float(tolerance) else "It is a whole number."


class JudgeNumbers(SphinxPostTransform):
    """Look up the numbers that a check asks for, and set the replies of all checks at the end of the page."""

    default_priority = 195  # when outputs are chosen (4), references resolved (10) and folds made (190)

    def run(self, **kwargs: object) -> None:
        checks = list(self.document.findall(check))
        if not checks:
            return
        outputs = [shown_text(node) for node in self.document.findall(is_output)]
        for node in checks:
            if node["kind"] == "number":
                self.look_up(node, outputs)
        end = next(self.document.findall(nodes.section), self.document)
        end += check_part("", nodes.rubric("", "Answers to the checks"), classes=["checks-on-paper"])
        for node in checks:
            end[-1] += node[0].deepcopy()
            end[-1].extend(without_ids(reply) for reply in node[-1])
            if self.app.builder.format != "html":
                node.pop()

    def look_up(self, node: check, outputs: Iterable[str]) -> None:
        """Give each reply of a number the value to which it replies."""
        tolerance = float(node["tolerance"])
        values = {}
        for reply in node[-1]:
            if "pattern" in reply:
                reply["value"] = self.found(reply, outputs)
                text = next(reply[0].findall(nodes.literal))
                text.parent.replace(text, nodes.Text(reply["value"].replace("-", "−")))
            if "value" in reply:
                values[reply] = float(reply["value"].replace("−", "-"))
                reply["value"] = str(values[reply])
        right = next(value for reply, value in values.items() if "check-right" in reply["classes"])
        for value in values.values():
            if 0 < abs(value - right) <= 2 * tolerance:
                logger.warning("the wrong %s is too near to the right number for this tolerance", value, location=node)

    def found(self, reply: check_part, outputs: Iterable[str]) -> str:
        """The number that the outputs of the page show at the place that a pattern gives."""
        pattern = re.compile(as_expression(reply["pattern"]))
        found = {number for text in outputs for number in pattern.findall(text)}
        if len(found) != 1:
            fault = f"shows {', '.join(sorted(found))}" if found else "is in no output of this page"
            logger.warning(
                "a check asks for one number, but `%s` %s", reply["pattern"], fault, location=reply.parent.parent
            )
        return min(found, default="0")


def as_expression(pattern: str) -> str:
    """A pattern as a regular expression: `#` is the number asked for, `*` any other, a space any white space."""
    words = [re.escape(word).replace(r"\#", f"({NUMBER})").replace(r"\*", NUMBER) for word in pattern.split()]
    return r"(?<![\w.])" + r"\s+".join(words) + r"(?![\w]|\.\d)"


def is_output(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and "cell_output" in node["classes"]


def shown_text(output: nodes.Element) -> str:
    """The text of an output as the reader sees it."""
    leaves = output.findall(lambda node: isinstance(node, nodes.literal_block | nodes.raw))
    texts = [UNSEEN.sub(" ", leaf.astext()) if isinstance(leaf, nodes.raw) else leaf.astext() for leaf in leaves]
    return "\n".join(texts)


def without_ids(node: nodes.Element) -> nodes.Element:
    """A copy that may stand on the same page."""
    copy = node.deepcopy()
    for part in copy.findall(nodes.Element):
        part["ids"] = []
    return copy


def visit_check(self: HTML5Translator, node: check) -> None:
    data = {f"data-{name}": node[name] for name in ("kind", "tolerance", "shown") if node.get(name)}
    self.body.append(self.starttag(node, "div", CLASS="check", **data))


def visit_part(self: HTML5Translator, node: check_part) -> None:
    data = {f"data-{name}": node[name] for name in ("value", "before") if name in node}
    self.body.append(self.starttag(node, "div", **data))


def visit_replies(self: HTML5Translator, node: check_replies) -> None:
    self.body.append('<details class="fold check-replies"><summary>Answers</summary><div class="fold-body">\n')


def closes(tags: str) -> Callable[[HTML5Translator, nodes.Element], None]:
    """A function that prints the end of an element."""
    return lambda self, node: self.body.append(f"{tags}\n")


def passes(self: nodes.NodeVisitor, node: nodes.Element) -> None:
    """Write only the content: outside HTML a part of a check has no frame."""


def setup(app: Sphinx) -> ExtensionMetadata:
    html = {
        check: (visit_check, closes("</div>")),
        check_part: (visit_part, closes("</div>")),
        check_replies: (visit_replies, closes("</div></details>")),
    }
    other = (passes, passes)
    for node, pair in html.items():
        app.add_node(node, html=pair, latex=other, text=other, man=other, texinfo=other)
    app.add_directive("check", Check)
    app.add_post_transform(JudgeNumbers)
    app.add_css_file("checks.css")
    app.add_js_file("checks.js", loading_method="defer")
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
