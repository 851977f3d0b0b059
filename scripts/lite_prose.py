"""The Markdown of a notebook as Jupyter shows it, where no Sphinx resolves what refers to other pages.

jupyterlab-myst shows most of the book's directives, and references to places in the same notebook. This rewrites the
others: a link to another chapter opens its notebook, a reference to any other page becomes its words, and numbers
are those of the site as it was built last.
"""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

from pybtex.database import parse_file
from sphinx.config import Config
from sphinx.directives.code import LiteralIncludeReader
from sphinx.util.inventory import InventoryFile

BLOCK = r"^(?P<fence>[`:]{{3,}})\{{{name}\}} *(?P<argument>.*)\n(?P<inside>(?:.*\n)*?)(?P=fence)[ \t]*$"
ROLE = re.compile(r"\{(doc|ref|eq|term|cite|cite:t|numref|prf:ref|py:mod|py:class)\}`(?:([^`<]*?) *<)?([^`<>]+)>?`")
QUOTED = re.compile(r"\[([^]\[]*)\]\{\.[\w-]+\}")
PAGE = re.compile(r"\[([^]\[]*)\]\([\w-]+\.md\)")
LINK = re.compile(r"\[([^]\[]*)\]\(#([\w-]+)\)")
OPTION = re.compile(r"^:([\w-]+): *(.*)\n", re.MULTILINE)
NUMBERED = re.compile(
    r'id="(?:equation-)?([\w-]+)">(?:<p class="admonition-title">)?<span class="(?:eqno|caption-number)">([^<]+)<'
)


class Site:
    """What a built site knows of its labels: the page and the title of each, and numbers."""

    def __init__(self, pages: Path, book: Path) -> None:
        self.pages, self.book = pages, book

    @cached_property
    def inventory(self) -> dict[str, dict[str, tuple[str, str, str, str]]]:
        with (self.pages / "objects.inv").open("rb") as file:
            return InventoryFile.load(file, "", lambda base, uri: uri)

    @cached_property
    def places(self) -> dict[str, tuple[str, str]]:
        """{label: (page, title or number)}"""
        labels = self.inventory["std:label"].items()
        found = {label: (Path(uri.partition("#")[0]).stem, title) for label, (_, _, uri, title) in labels}
        for page in (self.pages / "book").glob("*.html"):
            for label, number in NUMBERED.findall(page.read_text(encoding="utf-8").replace("\n", "")):
                found[label] = (page.stem, number.strip())
        return found

    @cached_property
    def titles(self) -> dict[str, str]:
        """{page: title}"""
        return {Path(name).stem: entry[3] for name, entry in self.inventory["std:doc"].items()}

    @cached_property
    def sources(self) -> dict[str, tuple[str, str]]:
        """{key: (authors, year)}"""
        entries = parse_file(str(self.book / "references.bib")).entries
        return {key: (authors(entry.persons["author"]), entry.fields.get("year", "")) for key, entry in entries.items()}


def authors(persons: list[object]) -> str:
    """The last names of up to two authors, or that of the first of more."""
    names = [" ".join(person.last_names).strip("{}") for person in persons]  # type: ignore[attr-defined]
    return " and ".join(names) if len(names) < 3 else f"{names[0]} *et al.*"


class Prose:
    """Rewrites the Markdown of one notebook."""

    def __init__(self, site: Site, page: str, notebooks: set[str]) -> None:
        self.site, self.page, self.notebooks = site, page, notebooks

    def rewritten(self, text: str) -> str:
        for name in ("check", "literalinclude", "margin", "solution-start", "solution-end"):
            block = re.compile(BLOCK.format(name=name), re.MULTILINE)
            text = block.sub(getattr(self, name.replace("-", "_")), text)
        text = PAGE.sub(r"\1", QUOTED.sub(r"\1", text))
        return LINK.sub(self.link, ROLE.sub(self.role, text)).strip()

    # -- what refers ------------------------------------------------------------------------------------------------

    def to(self, page: str, words: str) -> str:
        """Words that lead to a page, if it is a notebook."""
        return f"[{words}]({page}.ipynb)" if page in self.notebooks else words

    def link(self, found: re.Match[str]) -> str:
        page, _ = self.site.places.get(found[2], (self.page, ""))
        return found[0] if page == self.page else self.to(page, found[1])

    def role(self, found: re.Match[str]) -> str:
        role, words, target = found.groups()
        if role in ("cite", "cite:t"):
            return self.cited([key.strip() for key in target.split(",")], role == "cite:t")
        if role == "term":
            return words or target
        if role.startswith("py:"):
            return f"`{words or target}`"
        if role == "doc":
            return self.to(Path(target).stem, words or self.site.titles[Path(target).stem])
        page, title = self.site.places[target]
        if page == self.page:
            return found[0]  # jupyterlab-myst knows the place
        return self.to(page, words or title)

    def cited(self, keys: list[str], in_text: bool) -> str:
        told = [self.site.sources[key] for key in keys]
        if in_text:
            return ", ".join(f"{who} ({year})" if year else who for who, year in told)
        return f"({'; '.join(', '.join(filter(None, source)) for source in told)})"

    # -- directives that Jupyter does not know ------------------------------------------------------------------------

    def check(self, found: re.Match[str]) -> str:
        """The question; its answers are judged on the page alone."""
        question = re.split(r"^(?:[*]|1\.) ", OPTION.sub("", found["inside"]), maxsplit=1, flags=re.MULTILINE)[
            0
        ].strip()
        return f":::{{admonition}} Check\n{question} (The page of this chapter has the answers.)\n:::"

    def margin(self, found: re.Match[str]) -> str:
        return f":::{{note}}\n{found['inside']}:::"

    def solution_start(self, found: re.Match[str]) -> str:
        return "**Solution**"

    def solution_end(self, found: re.Match[str]) -> str:
        return ""

    def literalinclude(self, found: re.Match[str]) -> str:
        """The lines themselves."""
        options = {name: value.strip("\"'") for name, value in OPTION.findall(found["inside"])}
        if "dedent" in options:
            options["dedent"] = int(options["dedent"]) if options["dedent"] else None
        lines, _ = LiteralIncludeReader(str(self.site.book / found["argument"].strip()), options, Config()).read()
        return f"```python\n{lines.rstrip()}\n```"
