"""How long a first reader stays with each chapter's open page, and what this reader meets there.

    python -m scripts.reading                every chapter of the book
    python -m scripts.reading entropy id3    these two

The open page is what stands before the exercises and outside folds, margin notes, checks, hints and solutions. A row
shows:

words    words of prose
lines    lines of code, blank ones left out, in cells whose input stands open
minutes  words / 180 + lines / 10 + display formulas / 2: for a first reader, not for one who skims
in all   these minutes, with one for each check and two for each figure that moves
first    words and lines before the first figure that moves
gap      the longest stretch, in words and lines, without a picture
width    the columns of the widest line of code, in exercises and folds too
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode

from scripts.execute import BOOK, notebooks

WORDS_PER_MINUTE, LINES_PER_MINUTE, FORMULAS_PER_MINUTE = 180, 10, 2
MINUTES_PER_CHECK, MINUTES_PER_FIGURE = 1, 2

FENCE = re.compile(r"(?P<mark>`{3,}|:{3,})(?P<rest>.*)$")
NAME = re.compile(r"\{([\w:-]+)\}")
OPTION = re.compile(r":\w+:")
FOLDING_OPTION = re.compile(r":class:.*\b(dropdown|toggle|margin)\b")
#: Directives whose content is not open prose: it folds, stands in the margin, or is not prose.
NOT_OPEN = {"margin", "dropdown", "hint", "exercise", "exercise-start", "solution", "solution-start"}
NOT_OPEN |= {"check", "math", "literalinclude", "code-block", "figure"}

#: What is taken out of a text before its words are counted, and what takes its place.
NO_PROSE = [
    (re.compile(pattern, flags), replacement)
    for pattern, flags, replacement in [
        (r"^\*\*Reading time:.*$", re.MULTILINE, " "),
        (r"\$\$.*?\$\$(\s*\([\w-]+\))?", re.DOTALL, " "),
        (r"\$[^$]*\$", 0, " x "),  # a formula in a line is read like a word
        (r"\[[^\]]*\]\{\.quoted\}", 0, " "),
        (r"\{[\w:-]+\}`([^`<]*)(<[^`]*>)?`", 0, r"\1"),
        (r"`[^`]*`", 0, " x "),
        (r"^\([\w-]+\)=\s*$", re.MULTILINE, " "),
        (r"\]\([^)]*\)", 0, "]"),
    ]
]
WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
FORMULA = re.compile(r"\$\$.*?\$\$", re.DOTALL)
EXERCISES = re.compile(r"^#+ Exercises", re.MULTILINE)
CHECK = re.compile(r"^(`{3,}|:{3,})\{check\}", re.MULTILINE)
PICTURE_IN_TEXT = re.compile(r"^(`{3,}|:{3,})\{(figure|image)\}|!\[", re.MULTILINE)
PICTURE_IN_OUTPUT = re.compile(r"<svg|image/png|image/svg")

#: Tags of cells that hide the input, and of those that hide the outputs. What a fold holds is tagged hide-cell.
INPUT_HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
OUTPUT_HIDDEN = {"hide-output", "hide-cell", "remove-output", "remove-cell"}


@dataclass
class Reading:
    """What one chapter asks of its reader."""

    words: int = 0
    lines: int = 0
    formulas: int = 0
    checks: int = 0
    figures: int = 0
    first: int | None = None
    gap: int = 0
    width: int = 0

    @property
    def minutes(self) -> int:
        words, lines = self.words / WORDS_PER_MINUTE, self.lines / LINES_PER_MINUTE
        return round(words + lines + self.formulas / FORMULAS_PER_MINUTE)

    @property
    def in_all(self) -> int:
        """Minutes of one who answers the checks and plays with the figures."""
        return self.minutes + self.checks * MINUTES_PER_CHECK + self.figures * MINUTES_PER_FIGURE


def open_text(markdown: str) -> str:
    """The lines of a Markdown cell that stand open."""
    kept: list[str] = []
    fences: list[tuple[str, bool]] = []  # the mark of each open fence, and whether what it holds stands open
    for line in map(str.strip, markdown.splitlines()):
        fence = FENCE.match(line)
        if fence and not fence["rest"].strip() and fences and fence["mark"].startswith(fences[-1][0]):
            fences.pop()
        elif fence:
            name = NAME.match(fence["rest"].strip())
            fences.append((fence["mark"], name[1] not in NOT_OPEN if name else fence["mark"][0] == ":"))
        elif fences and FOLDING_OPTION.match(line):
            fences[-1] = fences[-1][0], False
        elif all(stands_open for _, stands_open in fences) and not OPTION.match(line):
            kept.append(line)
    return "\n".join(kept)


def words(text: str) -> list[str]:
    """The words of a Markdown text, without formulas, code, names of roles, labels and addresses."""
    for pattern, replacement in NO_PROSE:
        text = pattern.sub(replacement, text)
    return WORD.findall(text)


def code_lines(cell: NotebookNode) -> list[str]:
    return [line for line in cell.source.splitlines() if line.strip()]


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


def measure(notebook: NotebookNode) -> Reading:
    """Read a chapter from its title to its exercises."""
    reading = Reading()
    reading.width = max(
        (len(line) for cell in notebook.cells if cell.cell_type == "code" for line in code_lines(cell)), default=0
    )
    stretch = 0
    for cell in notebook.cells:
        has_picture = False
        if cell.cell_type == "markdown":
            if EXERCISES.search(cell.source):
                break
            text = open_text(cell.source)
            n_words = len(words(text))
            reading.words += n_words
            reading.formulas += len(FORMULA.findall(text))
            reading.checks += len(CHECK.findall(cell.source))
            stretch += n_words
            has_picture = bool(PICTURE_IN_TEXT.search(cell.source))
        elif cell.cell_type == "code":
            if not INPUT_HIDDEN & tags(cell):
                reading.lines += len(code_lines(cell))
                stretch += len(code_lines(cell))
            if not OUTPUT_HIDDEN & tags(cell):
                outputs = json.dumps(cell.outputs)
                has_picture = bool(PICTURE_IN_OUTPUT.search(outputs))
                moves = "explorable" in outputs
                reading.figures += moves
                if reading.first is None and moves:
                    reading.first = reading.words + reading.lines
        if has_picture:
            reading.gap, stretch = max(reading.gap, stretch), 0
    reading.gap = max(reading.gap, stretch)
    return reading


def main(names: list[str]) -> int:
    """Print a table, one line per chapter."""
    paths = [path for path in notebooks() if not names or path.stem in names]
    if unknown := set(names) - {path.stem for path in paths}:
        print(f"no such notebook in {BOOK.name}/: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 1
    columns = ["words", "lines", "minutes", "in_all", "first", "gap", "width"]
    print(f"{'chapter':<15}" + "".join(f"{column.replace('_', ' '):>9}" for column in columns))
    for path in paths:
        reading = measure(nbformat.read(path, as_version=4))
        values = ["-" if getattr(reading, column) is None else getattr(reading, column) for column in columns]
        print(f"{path.stem:<15}" + "".join(f"{value:>9}" for value in values))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
