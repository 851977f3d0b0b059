"""Write the checks of the built pages and the graded tasks as a bank of questions in Moodle's XML.

    python -m scripts.questions _build/html _build/questions.xml

Every Moodle reads this format without a plug-in, and it has a place for all that the book knows: a sentence for each
wrong answer, the tolerance of a number, the cell to begin with, the solution and the rubric. QTI has such places too,
but Moodle itself does not import it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from bs4 import BeautifulSoup, Tag
from nbformat import NotebookNode

from scripts.exercises import HEAD, STUB, Task, chapters, read, tasks
from scripts.slides import title

SOLUTION = re.compile(r"### BEGIN SOLUTION.*?### END SOLUTION", re.DOTALL)
MARKS = re.compile(r"^ *### (BEGIN|END) SOLUTION\n?", re.MULTILINE)
FORMULA = re.compile(r"\$(.+?)\$")


def add(parent: ElementTree.Element, tag: str, text: object, form: str = "", **attributes: str) -> ElementTree.Element:
    """Add a part with a text to a question; its form is html, markdown or plain_text."""
    part = ElementTree.SubElement(parent, tag, attributes | ({"format": form} if form else {}))
    ElementTree.SubElement(part, "text").text = str(text)
    return part


def question(kind: str, name: str, text: str, form: str, **options: object) -> ElementTree.Element:
    """A question of one of Moodle's kinds, with what is set for it."""
    made = ElementTree.Element("question", type=kind)
    add(made, "name", name)
    add(made, "questiontext", text, form)
    for option, value in options.items():
        ElementTree.SubElement(made, option).text = str(value)
    return made


def html(tags: Iterable[Tag]) -> str:
    """Tags as they are on the page, without links to other places of it."""
    for tag in (inner for outer in tags for inner in [outer, *outer.find_all(True)]):
        tag.attrs = {}
    return re.sub(r"</?(a|span)>", "", "".join(map(str, tags)))


def of_check(check: Tag) -> ElementTree.Element:
    """A check of a page: a choice of answers, a number, or steps to be matched with their places."""
    kind = {"choose": "multichoice", "number": "numerical", "order": "matching"}[str(check["data-kind"])]
    section = check.find_parent("section")
    where = f"<p><em>{title(section)}</em></p>" if section else ""
    text = where + html(check.select(".check-question > *"))
    made = question(kind, str(check["id"]), text, "html", defaultgrade=1)
    replies = [
        (
            html(reply.select(".check-answer > span:not(.check-verdict)")),
            str(reply.get("data-value", "*")),
            str(100 * ("check-right" in reply["class"])),
            html(reply.find_all(True, recursive=False)[1:]),
        )
        for reply in check.select(".check-reply")
    ]
    if kind == "matching":
        steps = [html([step]) for step in check.select(".check-right .check-answer > span > span")]
        for place, step in enumerate(steps, start=1):
            add(add(made, "subquestion", step, "html"), "answer", place)
        add(made, "generalfeedback", "".join(f"<p>{shown}</p>{told}" for shown, _, _, told in replies), "html")
        return made
    for shown, value, fraction, told in replies:
        exact = kind == "numerical"
        answer = add(made, "answer", value if exact else shown, "" if exact else "html", fraction=fraction)
        add(answer, "feedback", told, "html")
        if exact and value != "*":
            ElementTree.SubElement(answer, "tolerance").text = str(check["data-tolerance"])
    return made


def of_task(task: Task, cells: dict[str, NotebookNode]) -> ElementTree.Element:
    """A graded task as an essay, with the cell to begin with, and the solution for whoever marks it."""
    text = cells[f"{task.name}-task"].source
    given, answer = cells.get(f"{task.name}-given"), cells[task.name]
    text = FORMULA.sub(r"\\\\(\1\\\\)", HEAD.sub("", text)).strip()
    text += f"\n\n```python\n{given.source}\n```" if given else ""
    form = {"responseformat": "editor" if task.by_hand else "monospaced", "responsefieldlines": 20}
    made = question("essay", f"{task.name}: {task.title}", text, "markdown", defaultgrade=f"{task.points:g}", **form)
    solution = MARKS.sub("", answer.source).strip()
    add(made, "graderinfo", solution if task.by_hand else f"```python\n{solution}\n```", "markdown")
    add(made, "responsetemplate", "" if task.by_hand else SOLUTION.sub(STUB, answer.source).strip(), "plain_text")
    return made


def bank(pages: Path) -> ElementTree.Element:
    """The checks of the pages in a folder, and the graded tasks, in a category for each chapter."""
    made = ElementTree.Element("quiz")
    for page in sorted(pages.glob("*.html")):
        text = page.read_text(encoding="utf-8")
        if page.stem not in chapters() and "data-kind" not in text:
            continue
        soup = BeautifulSoup(text, "html.parser")
        for part in soup.select("a.headerlink, .section-number, .checks-on-paper"):
            part.decompose()
        notebook = read(page.stem) if page.stem in chapters() else NotebookNode(cells=[])
        cells = {cell.id: cell for cell in notebook.cells}
        found = {"checks": [of_check(check) for check in soup.select(".check[data-kind]")]}
        found["graded tasks"] = [of_task(task, cells) for task in tasks(notebook)]
        for kind, questions in found.items():
            if questions:
                add(
                    ElementTree.SubElement(made, "question", type="category"),
                    "category",
                    f"Decision Trees/{page.stem}/{kind}",
                )
                made.extend(questions)
    return made


def main() -> int:
    pages, place = (Path(argument) for argument in sys.argv[1:])
    made = bank(pages / "book")
    if not len(made):
        print(f"{pages} holds no page with a check. Build the site first, by `make book`.", file=sys.stderr)
        return 1
    ElementTree.indent(made)
    ElementTree.ElementTree(made).write(place, encoding="utf-8", xml_declaration=True)
    print(f"{place}: {len(made.findall('question/name'))} questions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
