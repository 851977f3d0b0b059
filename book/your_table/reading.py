"""A table from the bytes of a file, whoever wrote it: names and rows of words, or one sentence that says what to do.

What separates the columns, how the text is encoded and whether the first line holds names is found by looking. What was
mended or left out on the way is noted in words for the reader.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from xml.etree import ElementTree

__all__ = ["Refusal", "Table", "read_table", "MOST_ROWS", "MOST_WITH_NUMPY"]
MOST_ROWS = 10_000  # a tree of so many takes a desktop 1.4 s with ten columns of numbers, 4.5 s with thirty
MOST_WITH_NUMPY = 50_000  # with ten columns CART takes a desktop 3 s, boosting 4 s, a forest of a hundred trees 20 s
LOOKED_AT = 200  # lines, to find what separates the columns
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
NUMBER = re.compile(r"[+-]?(\d[\d.,]*|[.,]\d+)([eE][+-]?\d+)?")
AS_CSV = "Open it in a spreadsheet, save it as CSV (UTF-8) or as .xlsx, and choose that file."
#: How files of other kinds begin, and what they are.
OTHERS = {
    b"%PDF": "a PDF document",
    b"\xd0\xcf\x11\xe0": "a workbook of an old version of Excel (.xls)",
    b"\x1f\x8b": "a compressed file (.gz)",
    b"PAR1": "a Parquet file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"{": "JSON, not a table",
    b"[{": "JSON, not a table",
    b"<": "a web page or XML, not a table",
}
UNICODE = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class Refusal(ValueError):
    """Why a table cannot be taken, and what to do, in one or two sentences for the reader."""


@dataclass
class Table:
    """Names of columns, rows of as many words, how many rows the file had, and what the reader should know."""

    names: list[str]
    rows: list[list[str]]
    n_rows: int
    separator: str = ","
    notes: list[str] = field(default_factory=list)


def read_table(data: bytes, encoding: str = "", most: int = MOST_ROWS) -> Table:
    """Read a file; without an encoding, guess it. Of more than `most` rows, `most` are drawn."""
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):
        raise Refusal("The file is empty. Choose one with a line of names and some rows below it.")
    notes: list[str] = []
    if data.startswith(b"PK\x03\x04"):
        sheet = list(read_xlsx(data))
        if not any(map(any, sheet)):
            raise Refusal("The first sheet of this workbook is empty: move the table there, and choose the file again.")
        return sampled(lambda: iter(sheet), ",", notes, most)
    for start, kind in OTHERS.items():
        if data.lstrip()[:8].startswith(start):
            raise Refusal(f"This file is {kind}. {AS_CSV}")
    text = decode(data, encoding, notes)
    separator, skipped = separator_of(text)
    return sampled(lambda: read_csv(text, separator, skipped), separator, notes, most)


# -- text -----------------------------------------------------------------------------------------------------------


def decode(data: bytes, encoding: str, notes: list[str]) -> str:
    """The text of a file. If it is not Unicode, its encoding can only be guessed."""
    found = encoding or next((name for mark, name in UNICODE.items() if data.startswith(mark)), "")
    head = data[:4000]
    if not found and head.count(0) > len(head) / 5:
        found = "utf-16-be" if head[::2].count(0) > head[1::2].count(0) else "utf-16-le"
    if not found:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            found = guessed(data[:200_000])
        notes.append(f"The text is not Unicode and was read as {found}. If letters look wrong, choose another.")
    try:
        return data.decode(found, errors="strict" if encoding else "replace")
    except (UnicodeDecodeError, LookupError):
        raise Refusal(f"The text cannot be read as {found}: choose another encoding, or let the page guess.") from None


def guessed(data: bytes) -> str:
    """The encoding, Chinese or Western: only in Western text do letters beyond ASCII stand beside letters of ASCII."""
    runs = re.findall(rb"([A-Za-z]?)[\x80-\xff]+([A-Za-z]?)", data)
    return "cp1252" if sum(map(any, runs)) > len(runs) / 2 else "gb18030"


def separator_of(text: str) -> tuple[str, int]:
    """What separates the columns, and how many lines stand above those of the table."""
    told = re.match(r'"?sep=(.)"?\r?\n', text)
    if told:
        return told[1], told.end()
    head = text[: text.rfind("\n", 0, 100_000) + 1] or text
    best = (0.0, 0, ",")
    for separator in SEPARATORS:
        widths = [len(row) for row in islice(csv.reader(io.StringIO(head, newline=""), delimiter=separator), LOOKED_AT)]
        widths = [n for n in widths if n]
        usual = max(set(widths), key=widths.count, default=1)
        if usual > 1:
            best = max(best, (widths.count(usual) / len(widths), usual, separator))
    if not best[1] and text.count('"') % 2:
        raise Refusal("A quotation mark opens and is not closed: mend the file there.")
    if not best[1]:
        raise Refusal(
            "Only one column was found. Columns must be separated by commas, semicolons, tabs or bars, and a tree "
            "needs one column to predict and another to ask about."
        )
    return best[2], 0


def read_csv(text: str, separator: str, skipped: int) -> Iterator[list[str]]:
    """The rows of a text, words without white space around them."""
    csv.field_size_limit(10**9)
    file = io.StringIO(text, newline="")
    file.seek(skipped)
    for row in csv.reader(file, delimiter=separator, skipinitialspace=True):
        if any("\n" in word and word.count("\n") > 100 for word in row):
            start = next(word for word in row if word.count("\n") > 100)[:30]
            raise Refusal(f"A quotation mark opens before “{start}” and is not closed: mend the file there.")
        yield [word.strip() for word in row]


# -- Excel's own format -----------------------------------------------------------------------------------------------


def read_xlsx(data: bytes) -> Iterator[list[str]]:
    """The rows of a workbook's first sheet, formulas by the value that was stored."""
    try:
        book = zipfile.ZipFile(io.BytesIO(data))
        names = set(book.namelist())
    except zipfile.BadZipFile:
        raise Refusal(
            "This workbook is damaged or was not copied whole. Save it once more and choose it again."
        ) from None
    if "xl/workbook.xml" not in names:
        raise Refusal(f"This archive holds no Excel workbook. Unpack it and choose the table in it. {AS_CSV}")
    first = ElementTree.fromstring(book.read("xl/workbook.xml")).find(".//{*}sheet")
    links = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    wanted = next(value for name, value in first.items() if name.endswith("}id")) if first is not None else ""
    target = next(link.get("Target", "") for link in links if link.get("Id") == wanted)
    strings: list[str] = []
    if "xl/sharedStrings.xml" in names:
        entries = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
        strings = ["".join(part.text or "" for part in entry.iter() if part.tag.endswith("}t")) for entry in entries]
    path = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
    for _, row in ElementTree.iterparse(io.BytesIO(book.read(path))):
        if row.tag.endswith("}row"):
            cells = {place(cell.get("r", ""), k): entry(cell, strings) for k, cell in enumerate(row.findall("{*}c"))}
            yield [cells.get(k, "") for k in range(max(cells, default=-1) + 1)]
            row.clear()


def place(reference: str, otherwise: int) -> int:
    """The number of the column of a cell such as BC12, from 0."""
    number = 0
    for letter in re.sub("[^A-Z]", "", reference):
        number = number * 26 + ord(letter) - 64
    return number - 1 if number else otherwise


def entry(cell: ElementTree.Element, strings: list[str]) -> str:
    """What a cell shows; a number as short as it can be written."""
    kind, value = cell.get("t", "n"), cell.findtext("{*}v") or ""
    if kind == "inlineStr":
        return "".join(part.text or "" for part in cell.iter() if part.tag.endswith("}t")).strip()
    if kind == "s":
        return strings[int(value)].strip()
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    if kind == "n" and value:
        return repr(float(value)).removesuffix(".0")
    return "" if kind == "e" else value.strip()


# -- rows -------------------------------------------------------------------------------------------------------------

#: Gives the rows of a file, each time from the first.
Lines = Callable[[], Iterator[list[str]]]


def filled(lines: Lines) -> Iterator[list[str]]:
    """The rows that hold anything."""
    return (row for row in lines() if any(row))


def sampled(lines: Lines, separator: str, notes: list[str], most: int) -> Table:
    """The table of some lines; of many rows some are drawn."""
    rows = filled(lines)
    head, above = next(rows), 0
    below = next(rows, None)
    while below and sum(map(bool, head)) == 1 < sum(map(bool, below)):
        notes.append(f"The line “{''.join(head)}” above the table was left out.")
        head, below, above = below, next(rows, None), above + 1
    names, is_headless = names_of(head)
    n_rows = is_headless + (below is not None) + sum(1 for _ in rows)
    if n_rows < 2:
        raise Refusal("Below the line of names there are fewer than two rows: a tree needs rows to learn from.")
    if len(names) < 2:
        raise Refusal("The table has one column. A tree needs one to predict and another to ask about.")
    if is_headless:
        notes.append("The first line holds numbers, not names, so the columns were given names.")
    drawn = set(range(n_rows))
    if n_rows > most:
        drawn = set(Random(0).sample(range(n_rows), most))
        notes.append(
            f"Of the {n_rows:,} rows {most:,} were drawn at random; the tree grows from these. Methods that fetch "
            f"NumPy learn from {min(n_rows, MOST_WITH_NUMPY):,}."
        )
    first = above + (not is_headless)
    kept = [row for k, row in enumerate(islice(filled(lines), first, None)) if k in drawn]
    return Table(names, fitted(kept, len(names), notes), n_rows, separator, notes)


def fitted(rows: list[list[str]], width: int, notes: list[str]) -> list[list[str]]:
    """Rows that all have as many fields as there are names."""
    n_ragged = sum(len(row) < width or any(row[width:]) for row in rows)
    if n_ragged:
        notes.append(
            f"{n_ragged:,} row{'s have' if n_ragged > 1 else ' has'} more or fewer fields than there are names: "
            "missing ones count as gaps, and surplus ones were left out."
        )
    return [[in_line(word) for word in (row + [""] * width)[:width]] for row in rows]


def in_line(words: str) -> str:
    """Words without line breaks or anything else that no drawing may hold."""
    return " ".join(CONTROL.sub(" ", words).split())


def names_of(head: list[str]) -> tuple[list[str], bool]:
    """A different name for each column; and whether the first line holds numbers, so that there are no names."""
    is_headless = all(NUMBER.fullmatch(word) for word in head)
    names: list[str] = []
    for k, word in enumerate(head, start=1):
        name = in_line(word) if word and not is_headless else f"column {k}"
        while name in names:
            name += " (again)"
        names.append(name)
    return names, is_headless
