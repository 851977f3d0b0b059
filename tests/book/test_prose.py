r"""No number in prose that the notebook does not print, and no word that book/data/words.csv avoids.

The words are those of the whole book and of treekit's docstrings and comments; each row has a sentence that its pattern
finds and one that it leaves alone. What follows is about numbers.

For writers, in short: print it, then write it as it was printed (or rounded). What a source says and no cell prints is
marked as a quotation: `[0.157]{.quoted}`.

The rule
--------
Every number that a reader sees in the Markdown cells of a notebook, or in the alt text and caption of its figures, must
be shown by an output of the same notebook, or stand in a marked quotation.

*Checked* are, in text and in math alike: numbers with a decimal point, percentages, integers of two or more digits.
*Free* are single digits, numbers in words, and what names a thing and does not measure it:

* code, in spans and in fences; addresses; names and options of directives; targets; roles that refer (`{eq}`);
* the number at the head of a heading or of an item of a list, and the reading time in a chapter's box;
* digits that belong to a word (ID3, C4.5), the names of the data sets (watermelon 2.0, 3.0, 3.0-alpha), versions of
  Python and of Creative Commons licences;
* whole numbers in the subscripts of math ($x_{17}$, $\log_{10}$), and `\tag`, `\label` and spacing commands;
* a place in a source: section 4.2, chapter 12, equation (5.3), Figure 11, Table 4.1, page 75, § 9.3.

A year is a number: `{cite:t}` prints it, or mark it as quoted.

*Shown* are printed text, results, tables, the text in SVG pictures, glued values, messages of raised errors. Where an
output has an HTML form the reader sees that form, so its plain twin does not count; nor do attributes and scripts.
What a cell tagged remove-output or remove-cell prints does not count either, unless it is glued.

*Equal* means: the shown number is the same, or it rounds to the one in prose at the digits that the prose prints (0.998
is shown by 0.99750). Whole numbers are counts, so they must be the same. A percentage may be shown as a share (47 % by
0.4706). A minus sign right before a number, `-0.5`, asks for a negative number, except before a factor, as in
$-0.5\log_2 0.5$; without it the sign is free.
"""

from __future__ import annotations

import csv
import html
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from scripts.execute import BOOK, ROOT, notebooks

# ---------------------------------------------------------------------------------------------------------------------
# What the prose says

FENCE = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,}|:{3,})[ \t]*(?:\{(?P<name>[\w:-]+)\})?(?P<rest>.*)$")
OPTION = re.compile(r"\s*:(?P<name>[\w-]+):(?P<value>.*)$")
CODE_DIRECTIVES = {
    "code",
    "code-block",
    "code-cell",
    "sourcecode",
    "literalinclude",
    "include",
    "bibliography",
    "toctree",
}
PATH_DIRECTIVES = {"figure", "image"}

REFERRING = (
    r"\{(?:eq|ref|numref|doc|any|download|term|code|py:\w+|func|class|meth|mod|attr|data|obj|exc|cite(?::\w+)?|prf:ref"
    r"|glue(?::\w+)?)\}(`+)"
)
DATA_SET = r"[23]\.0(?:-?(?:alpha|α))?"
PLACE = r"\(?[1-9][0-9]{0,2}(?:\.[0-9]{1,2})*\)?"
AND = r"(?:\s*,\s*|\s*,?\s+(?:and|or|to)\s+|[-–])"

#: What is taken out of the prose, in this order, and what takes its place.
STRIPPED = [
    (re.compile(pattern), replacement)
    for pattern, replacement in [
        (r"(?s)<!--.*?-->", " "),
        (r"(?m)^%.*$", ""),
        (
            r"\*\*Reading time:\*\* about [0-9]+ minutes(, or [0-9]+ with its figures and checks)?\.",
            " ",
        ),  # measured by test_reading.py
        (rf"(?s){REFERRING}([^`<]*)<[^`>]*>\1", r" \2 "),  # the text of a reference stays
        (rf"(?s){REFERRING}.*?\1", " "),
        (r"(?s)\{[\w:-]+\}(`+)(.*?)\1", r" \2 "),  # so does the text of other roles, such as {math} and {abbr}
        (r"(?s)(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", " "),
        (r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\{[^{}]*\.quoted\b[^{}]*\}", " "),
        (r"(?m)^\s*\([^()\s]+\)=\s*$", ""),
        (r"(?m)\$\$[ \t]*\([^()\s]+\)[ \t]*$", "$$"),  # the label of an equation
        (r"\[\^[^\]]*\]", " "),
        (r"\]\((?:[^()]|\([^()]*\))*\)", "] "),  # the address of a link
        (r"(?m)^\s*\[[^\]]+\]:\s+\S+.*$", ""),
        (r"<?https?://[^\s>)]*>?", " "),
        (r"<img\b[^<>]*?\balt=\"([^\"]*)\"[^<>]*>", r" \1 "),
        (r"</?[A-Za-z][\w-]*(?:\s+[\w:-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'))?)*\s*/?>", " "),
        (r"(?m)^(\s*#+\s+)[0-9]+(?:\.[0-9]+)*\.?(?=\s)", r"\1"),
        (r"(?m)^([\s>]*)[0-9]{1,3}[.)](?=\s)", r"\1"),
        (r"\\(?:tag|label|ref|eqref|[hv]space)\*?\{[^{}]*\}", " "),
        (r"\\\\\[[^\]]*\]", " "),
        (r"(?<=[A-Za-z0-9})\]])_(?:[0-9]|\{\s*[0-9]+(?:\s*,\s*[0-9]+)*\s*\})", " "),
        (rf"(?i)(?:\bwatermelons?|\bsets?|西瓜数据集)\s*{DATA_SET}(?:{AND}{DATA_SET})*", " "),
        (rf"(?i)\b(?:Python|CC BY(?:-SA)?)\s+[0-9]+\.[0-9]+(?:{AND}[0-9]+\.[0-9]+)*", " "),
        (
            r"(?i)(?:\b(?:sections?|chapters?|equations?|figures?|tables?|pages?)|\b(?:secs?|eqs?|figs?|pp?)\.|§§?)"
            rf"\s*{PLACE}(?:{AND}{PLACE})*",
            " ",
        ),
    ]
]

NUMBER = re.compile(
    r"""
    (?<![A-Za-z0-9.])
    (?P<sign>(?<![^\s(\[{=,:;|$~&<>≈*])[-−])?
    (?P<whole>[0-9]{1,3}(?:(?:,|\{,\}|\\,)[0-9]{3})+(?![0-9])|[0-9]+)?
    (?P<fraction>\.[0-9]+)?
    (?:[eE](?P<exponent>[-+]?[0-9]+)|\s*(?:\\times|\\cdot|×)\s*10\^(?P<times>[-−]?[0-9]|\{[-−]?[0-9]+\}))?
    (?P<power>\^(?:[-−]?[0-9]|\{[-−]?[0-9]+\}))?
    (?P<percent>\s*(?:\\?%|per\ ?cent\b))?
    """,
    re.VERBOSE,
)
FACTOR_FOLLOWS = re.compile(r"\s*(?:\\(?:log|ln|lg|cdot|times|[td]?frac|left|bigl?|sum|sqrt)\b|\\?[(\[])")
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[^a-z])|\n\s*\n|\n(?=\s*[|*+-])")


@dataclass(frozen=True)
class Claim:
    """One checked number of the prose: how it is written, its value, and how far a number that rounds to it may be."""

    written: str
    value: Decimal
    tolerance: Decimal
    is_percentage: bool

    def is_shown_by(self, shown: Decimal) -> bool:
        scales = (1, 100) if self.is_percentage else (1,)
        for scale in scales:
            candidate = shown * scale if self.value < 0 else abs(shown) * scale
            if abs(candidate - self.value) <= self.tolerance:
                return True
        return False


@dataclass(frozen=True)
class Unproven:
    """A number of the prose that no output shows."""

    cell: int
    written: str
    sentence: str

    def __str__(self) -> str:
        return (
            f"cell {self.cell}: {self.written!r} is in no output of this notebook\n"
            f"    in: {self.sentence}\n"
            f"    do: print it in a cell, write it as a cell prints it, or mark a quotation:"
            f" [{self.written}]{{.quoted}}"
        )


def without_fences(markdown: str) -> str:
    """The text without fenced code; of a directive stay the title, the alt text and the content."""
    kept: list[str] = []
    open_fences: list[tuple[str, bool]] = []  # the mark and whether code stands inside
    in_options = False
    for line in markdown.splitlines():
        fence, option = FENCE.match(line), OPTION.match(line)
        if fence and fence["mark"][0] == "`" and "`" in fence["rest"]:
            fence = None  # ```a code span``` that begins a line
        is_bare = fence and not fence["name"] and not fence["rest"].strip()
        if is_bare and open_fences and fence["mark"].startswith(open_fences[-1][0]):
            open_fences.pop()
        elif open_fences and open_fences[-1][1]:
            pass
        elif fence:
            name = fence["name"] or ""
            is_code = name in CODE_DIRECTIVES or (not name and fence["mark"][0] != ":")
            open_fences.append((fence["mark"], is_code))
            kept.append("" if is_code or name in PATH_DIRECTIVES else fence["rest"])
            in_options = True
        elif in_options and option:
            kept.append(option["value"] if option["name"] == "alt" else "")
        else:
            in_options = False
            kept.append(line)
    return "\n".join(kept)


def readable(markdown: str) -> str:
    """The part of a Markdown text whose numbers are checked."""
    text = without_fences(markdown)
    for pattern, replacement in STRIPPED:
        text = pattern.sub(replacement, text)
    return text


def to_claim(match: re.Match[str], text: str) -> Claim | None:
    """The number of a match, or None where it is free."""
    whole = re.sub(r"[^0-9]", "", match["whole"] or "")
    fraction = match["fraction"] or ""
    power = (match["power"] or "").strip("^{}").replace("−", "-")
    exponent = (match["exponent"] or match["times"] or "0").strip("{}").replace("−", "-")
    if not whole and not fraction:
        return None
    if not (fraction or match["percent"] or len(whole) > 1):
        return None
    value = Decimal(f"{whole or 0}{fraction}").scaleb(int(exponent))
    if power and whole == "10" and not fraction:
        value = Decimal(10) ** int(power)
    decimals = max(len(fraction) - 1, 0)
    is_rounded = bool(fraction or match["percent"])
    tolerance = Decimal("0.5").scaleb(int(exponent) - decimals) if is_rounded else Decimal(0)
    if match["sign"] and not FACTOR_FOLLOWS.match(text, match.end()):
        value = -value
    return Claim(match[0].strip(), value, tolerance, bool(match["percent"]))


def claims(markdown: str) -> Iterator[tuple[Claim, str]]:
    """Every checked number of a Markdown text, with the sentence in which it stands."""
    for sentence in SENTENCE_END.split(readable(markdown)):
        for match in NUMBER.finditer(sentence):
            claim = to_claim(match, sentence)
            if claim is not None:
                yield claim, " ".join(sentence.split())


def prose(notebook: NotebookNode) -> Iterator[tuple[int, str]]:
    """Every piece of prose and the index of its cell."""
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            yield index, cell.source
        settings = cell.metadata.get("mystnb", {})
        for text in (settings.get("image", {}).get("alt"), settings.get("figure", {}).get("caption")):
            if text:
                yield index, text


# ---------------------------------------------------------------------------------------------------------------------
# What the outputs show

UNSEEN_HTML = re.compile(r"(?is)<!--.*?-->|<(style|script)\b.*?</\1\s*>|<[^<>]*>")
OBJECT = re.compile(r"(?s)\s*<.*>\s*")  # <Figure size 640x480 with 1 Axes>
SHOWN_NUMBER = re.compile(
    r"(?<![A-Za-z0-9.])(?P<number>(?:(?<![\w)\]])[-−])?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(?P<percent>\s*%)?"
)
GROUPED = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])")
GLUED = "application/papermill.record/"


def texts_of_output(output: NotebookNode, is_removed: bool) -> Iterator[str]:
    """The texts that the reader sees of one output."""
    if output.output_type == "error":
        yield output.evalue
    elif output.output_type == "stream":
        if output.name == "stdout" and not is_removed:
            yield output.text
    else:
        glued = {kind.removeprefix(GLUED): text for kind, text in output.data.items() if kind.startswith(GLUED)}
        data = glued or ({} if is_removed else output.data)
        marked_up = [data[kind] for kind in ("text/html", "image/svg+xml") if kind in data]
        if marked_up:
            yield from (html.unescape(UNSEEN_HTML.sub(" ", text)) for text in marked_up)
        else:
            plain = [data[kind] for kind in ("text/markdown", "text/latex", "text/plain") if kind in data]
            yield from (text for text in plain if not OBJECT.fullmatch(text))


def numbers_shown(notebook: NotebookNode) -> set[Decimal]:
    """Every number that an output of the notebook shows; a percentage also as the share that it is."""
    shown: set[Decimal] = set()
    for cell in notebook.cells:
        is_removed = bool({"remove-output", "remove-cell"} & set(cell.metadata.get("tags", [])))
        for output in cell.get("outputs", []):
            for text in texts_of_output(output, is_removed):
                text = text + " " + " ".join(group.replace(",", "") for group in GROUPED.findall(text))
                for match in SHOWN_NUMBER.finditer(text):
                    value = Decimal(match["number"].replace("−", "-"))
                    shown.add(value)
                    if match["percent"]:
                        shown.add(value / 100)
    return shown


def unproven_numbers(notebook: NotebookNode) -> list[Unproven]:
    """The numbers of the prose that no output of the notebook shows."""
    shown = numbers_shown(notebook)
    return [
        Unproven(index, claim.written, sentence)
        for index, text in prose(notebook)
        for claim, sentence in claims(text)
        if not any(claim.is_shown_by(number) for number in shown)
    ]


# ---------------------------------------------------------------------------------------------------------------------
# The book


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_every_number_in_prose_is_printed_by_a_cell(path: Path):
    unproven = unproven_numbers(nbformat.read(path, as_version=4))
    assert not unproven, f"{path.relative_to(BOOK.parent)}\n\n" + "\n\n".join(map(str, unproven))


with (BOOK / "data" / "words.csv").open(encoding="utf-8", newline="") as table:
    WORDS = list(csv.DictReader(table))
BLOCKQUOTE = re.compile(r"(?m)^\s*>.*$")
TEXTS = [*notebooks(), *sorted(BOOK.glob("*.md")), *sorted((ROOT / "treekit").rglob("*.py"))]


def remarks(code: str) -> Iterator[str]:
    """The docstrings of a program, and its comments; those on neighbouring lines are one."""
    comment, last_line, at_start = "", 0, True
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last_line + 1:
                yield comment
                comment = ""
            comment += token.string.lstrip("#") + "\n"
            last_line = token.start[0]
        elif token.type == tokenize.STRING and at_start:
            yield token.string.strip("r\"'")
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            at_start = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    yield comment


def pieces(path: Path) -> Iterator[str]:
    """All prose of a notebook, a page or a module of treekit."""
    if path.suffix == ".ipynb":
        yield from (text for _, text in prose(nbformat.read(path, as_version=4)))
    elif path.suffix == ".py":
        yield from remarks(path.read_text(encoding="utf-8"))
    else:
        yield path.read_text(encoding="utf-8")


def avoided(text: str) -> Iterator[str]:
    """What a text says that words.csv avoids: each word with its place and what to prefer."""
    for paragraph in re.split(r"\n\s*\n", BLOCKQUOTE.sub("", readable(text))):
        line = " ".join(paragraph.split())
        for row in WORDS:
            for match in re.finditer(row["pattern"], line, re.IGNORECASE):
                place = line[max(match.start() - 30, 0) : match.end() + 30]
                yield f"{match[0].strip()!r} in: ... {place} ...\n    do: {row['prefer']} (for {row['avoid']})"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_word_is_to_be_avoided(path: Path):
    found = [fault for text in pieces(path) for fault in avoided(text)]
    assert not found, "\n".join([f"{path.relative_to(ROOT)}: {len(found)}", *found])


@pytest.mark.parametrize("row", WORDS, ids=lambda row: row["avoid"])
def test_a_pattern_finds_the_bad_sentence_and_leaves_the_good_one(row):
    assert list(avoided(row["bad"])) and not list(avoided(row["good"]))


def test_quotations_and_code_may_say_what_they_like():
    assert not list(avoided("> drawn by lot\n\n[drawn by lot]{.quoted}, `by lot`\n\n```python\n# by lot\n```"))


def test_remarks_are_docstrings_and_comments():
    code = '"""One."""\nx = "no"  # Two,\n# three.\n\n\ndef f():\n    r"""Four."""\n    # Five.\n    return "no"\n'
    assert [text.split() for text in remarks(code) if text] == [["One."], ["Four."], ["Two,", "three."], ["Five."]]


# ---------------------------------------------------------------------------------------------------------------------
# The checker itself, on small notebooks


def notebook_of(markdown: str, *outputs: NotebookNode, **cell_metadata) -> NotebookNode:
    code = new_code_cell("...", outputs=list(outputs), metadata=cell_metadata)
    return new_notebook(cells=[new_markdown_cell(markdown), code])


def printed(text: str) -> NotebookNode:
    return new_output("stream", name="stdout", text=text)


def written_but_not_shown(markdown: str, text: str = "") -> list[str]:
    return [unproven.written for unproven in unproven_numbers(notebook_of(markdown, printed(text)))]


@pytest.mark.parametrize(
    ("markdown", "numbers"),
    [
        ("The entropy is 0.998 bits.", ["0.998"]),
        ("The entropy is $H(D) = 0.998$.", ["0.998"]),
        ("**0.998**, _0.381_ and *17*", ["0.998", "0.381", "17"]),
        ("About .5 of them.", [".5"]),
        ("共17行", ["17"]),
        ("There are 17 rows.", ["17"]),
        (r"$$\frac{8}{17}\log_2\frac{8}{17}$$", ["17", "17"]),
        ("It is right in 5 % of the rows, or 5 percent, or $5\\%$.", ["5 %", "5 percent", r"5\%"]),
        ("It took 100,000 rows, or $100{,}000$.", ["100,000", "100{,}000"]),
        (r"An error of $1.1 \times 10^{-16}$, below $10^{-12}$.", [r"1.1 \times 10^{-16}", "10^{-12}"]),
        ("| rows | gain |\n|---|---|\n| 17 | 0.381 |", ["17", "0.381"]),
        (":::{note} The 17 rows\n:class: tip-99\nThe gain is 0.381.\n:::", ["17", "0.381"]),
        ("```{admonition} Note\nThe gain is 0.381.\n```\nAnd 0.109.", ["0.381", "0.109"]),
        ("````{exercise}\n:label: ex-12\n```python\nx = 0.1\n```\nFind 0.22.\n````", ["0.22"]),
        ("![a curve that peaks at 0.5](curve.png)", ["0.5"]),
        (
            "```{figure} fig-10.png\n:alt: a curve that peaks at 0.5\n:width: 80%\nThe top is 0.53.\n```",
            ["0.5", "0.53"],
        ),
        ('<img src="10.png" alt="a peak at 0.5">', ["0.5"]),
        ("Every $p<q$ and 0.5>r.", ["0.5"]),
        ("```f(0.5)``` begins a line\n\nThe gain is 0.22.", ["0.22"]),
        ("{abbr}`0.22 bits`", ["0.22"]),
        ("{ref}`the 17 rows <rows-99>`", ["17"]),
        ("[0.22]{.wide} and [0.23](https://example.org/99)", ["0.22", "0.23"]),
        ("In the figure 0.5 is the top.", ["0.5"]),
        ("In 1948 Shannon wrote.", ["1948"]),
    ],
)
def test_a_number_that_nothing_shows_is_caught(markdown, numbers):
    assert written_but_not_shown(markdown) == numbers


@pytest.mark.parametrize(
    "markdown",
    [
        "One of 9 leaves, seventeen rows, a tenth.",
        "**Reading time:** about 30 minutes, or 41 with its figures and checks.",
        "The source prints [0.157]{.quoted} in [1948 and [17] times]{.quoted}; [$H = -1.13$]{.quoted}.",
        "ID3, C4.5 and XGBoost2 with x10.",
        "Call `entropy([0.5, 0.5])` and ``a`17`b``.",
        "```python\nx = 0.5\n```",
        "~~~\n0.5\n~~~",
        "```f(0.5)``` begins a line",
        "```{code-block} python\n:lineno-start: 12\nx = 0.5\n```",
        "```{math}\n:label: eq-17\nx_{17}\n```",
        "$$x$$ (eq-10)\n\n$$\ny\n$$ (eq-2-11)\n",
        "(section-4.2)=\n## 3.12 Gain\n12. a step\n13) another",
        "{eq}`eq-17`, {cite:t}`quinlan1986`, {numref}`fig-12`, {prf:ref}`thm-22`, {glue:text}`gain:.3f`, {func}`f17`",
        "See <https://example.org/17>, https://example.org/0.5, [this](https://example.org/0.5_(17)) and a note.[^17]",
        "[^17]: A note.\n\n[there]: https://example.org/17",
        r"$$x_{17} + \log_{10} x + x_{10,12} \tag{4.17} \label{eq-12} \\[12pt] y$$",
        "Watermelon 2.0, 3.0 and 3.0-alpha; the data set 2.0; watermelon set 3.0α, 西瓜数据集 2.0",
        "Python 3.11, 3.12 or 3.13, under CC BY 4.0",
        "Zhou, section 4.2, pages 73–79, equation (5.3), Table 4.1, fig. 12, eqs. 4.2 and 4.12, § 9.3",
        "<!-- 0.5 -->\n% 0.5\n<span style=\"width:17px\" title='0.5'>text</span>",
    ],
)
def test_what_is_free_is_not_caught(markdown):
    assert written_but_not_shown(markdown) == []


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("0.998", "0.99750"),
        ("0.998", "0.9975"),
        ("0.5", "array([0.5, 0.25])"),
        ("17", "17 rows"),
        ("17", "17.0"),
        ("0.50", "0.5"),
        ("12", "{'a': 12.}"),
        ("47 %", "0.4706"),
        ("47.06 %", "47.06%"),
        ("0.4706", "47.06%"),
        ("100,000", "100000"),
        ("100000", "100,000"),
        ("123", "[123,456]"),
        ("loses 0.5", "-0.5"),
        ("is -0.5", "-0.5"),
        ("is −0.5", "x=-0.5"),
        (r"$-0.53\log_2 0.53$", "0.53"),
        ("between 10-20", "10 20"),
        (r"$x - 0.25$", "0.25"),
        (r"$1.1\times10^{-16}$", "1.11e-16"),
        (r"$10^{-12}$", "1e-12"),
        (".5", "0.5"),
    ],
)
def test_a_shown_number_is_proven(markdown, text):
    assert written_but_not_shown(markdown, text) == []


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("0.998", "0.9974"),
        ("0.998", "0.99"),
        ("0.998", "0.9"),
        ("0.109", "0.190"),
        ("17", "x17, 117, 0.17, 1.7, C17.5"),
        ("-0.5", "0.5"),
        ("48 %", "0.4706"),
        ("0.47", "47"),
        ("100,000", "100 000"),
        ("13 rows", "13.288"),
        (r"$10^{-12}$", "1e-11"),
    ],
)
def test_another_number_proves_nothing(markdown, text):
    assert len(written_but_not_shown(markdown, text)) == 1


def result(**data: str) -> NotebookNode:
    return new_output("display_data", data={kind.replace("_", "/", 1): text for kind, text in data.items()})


@pytest.mark.parametrize(
    "output",
    [
        result(text_plain="0.998"),
        result(text_html="<table><tr><td>0.998</td></tr></table>"),
        result(text_html="<svg role='img'><text x='3'>0.998</text></svg>"),
        new_output("display_data", data={"application/papermill.record/text/plain": "0.9975"}),
        new_output("error", ename="ValueError", evalue="p is 0.998", traceback=[]),
    ],
)
def test_numbers_are_shown_by_every_kind_of_output(output):
    assert unproven_numbers(notebook_of("0.998", output)) == []


@pytest.mark.parametrize(
    "output",
    [
        result(text_html="<svg><rect width='0.998'/><style>a{width:0.998px}</style><!-- 0.998 --></svg>"),
        result(text_html='<script type="application/json">[0.998]</script>'),
        result(text_html="<p>a tree</p>", text_plain="0.998"),
        result(text_plain="<Figure size 0.998x480 with 1 Axes>", image_png="0.998"),
        new_output("stream", name="stderr", text="0.998"),
    ],
)
def test_what_the_reader_does_not_see_shows_nothing(output):
    assert [unproven.written for unproven in unproven_numbers(notebook_of("0.998", output))] == ["0.998"]


def test_removed_output_shows_nothing_unless_it_is_glued():
    glued = new_output("display_data", data={"application/papermill.record/text/plain": "0.22"})
    notebook = notebook_of("0.998 and 0.22", printed("0.998"), glued, tags=["remove-output"])
    assert [unproven.written for unproven in unproven_numbers(notebook)] == ["0.998"]


def test_alt_text_and_caption_are_prose():
    settings = {"image": {"alt": "A curve that peaks at 0.5"}, "figure": {"caption": "All 17 rows"}}
    unproven = unproven_numbers(notebook_of("", mystnb=settings))
    assert [(found.cell, found.written) for found in unproven] == [(1, "0.5"), (1, "17")]


def test_the_message_says_where_and_what_to_do():
    notebook = notebook_of("Nothing here.\n\nFirst sentence. The gain is 0.22 bits. Third sentence.")
    message = str(unproven_numbers(notebook)[0])
    assert "cell 0: '0.22'" in message
    assert "in: The gain is 0.22 bits.\n" in message
    assert "[0.22]{.quoted}" in message
