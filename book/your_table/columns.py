"""Whether each column of a table is taken for numbers or categories, or left out; and its words as values."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from your_table.reading import Refusal, Table

__all__ = ["Column", "columns_of", "values", "target_of", "MOST_CLASSES"]
#: What stands where a number is missing; among words only the first two count, because "NA" may be a word.
GAPS = {"", "?", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "-", "."}
WORD_GAPS = {"", "?"}
UNITS = str.maketrans({**dict.fromkeys("$€£¥% \xa0\u202f'"), "−": "-"})  # around numbers, or between their thousands
MOST_CLASSES = 20
ID = re.compile(r"(.*[ _])?(id|index|nr|no|number|row|编号|序号)", re.IGNORECASE)

POINT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
COMMA = re.compile(r"[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?")
POINT_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})*(\.\d+)?")
COMMA_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})*(,\d+)?")
#: Ways to write numbers: what they look like, and which sign separates thousands.
STYLES = {POINT: "", COMMA: "", POINT_THOUSANDS: ",", COMMA_THOUSANDS: "."}


@dataclass
class Column:
    """A column: its words; what it is taken for, and if left out, why; the numbers of different words and of gaps."""

    name: str
    words: list[str]
    kind: str
    why: str
    n_different: int
    n_gaps: int

    def told(self) -> dict[str, Any]:
        """For the page, with the words that come most often."""
        often = [word for word, _ in Counter(self.words).most_common(4) if word not in WORD_GAPS][:3]
        return {name: value for name, value in vars(self).items() if name != "words"} | {"often": often}


def style_of(words: list[str], separator: str) -> re.Pattern[str]:
    """The way in which most words are numbers."""
    bare = [word.translate(UNITS) for word in words]
    # Where commas separate columns "1,234" is more than a thousand, where semicolons do it is less than two.
    order = [POINT, POINT_THOUSANDS, COMMA, COMMA_THOUSANDS] if separator == "," else list(STYLES)
    return max(order, key=lambda style: sum(style.fullmatch(word) is not None for word in bare))


def number(word: str, style: re.Pattern[str]) -> float | None:
    """A word as a number; None if it is not one."""
    bare = word.translate(UNITS)
    return float(bare.replace(STYLES[style], "").replace(",", ".")) if style.fullmatch(bare) else None


def columns_of(table: Table) -> list[Column]:
    """What each column is taken for."""
    return [
        judged(name, list(words), table.separator) for name, words in zip(table.names, zip(*table.rows), strict=True)
    ]


def judged(name: str, words: list[str], separator: str) -> Column:
    """What a column is taken for, and why it is left out if it is."""
    known = [word for word in words if word not in GAPS]
    style = style_of(known, separator)
    numbers = [number(word, style) for word in known]
    are_numbers = None not in numbers
    known = known if are_numbers else [word for word in words if word not in WORD_GAPS]
    n_different = len(set(known))
    why = ""
    if not known:
        why = "it is empty"
    elif n_different == 1:
        why = "it says the same in every row"
    elif are_numbers and numbers_rows(name, numbers):
        why = "it numbers the rows"
    elif not are_numbers and n_different > max(4, len(known) / 2):
        why = "nearly all its words differ"
    kind = "left out" if why else "number" if are_numbers else "category"
    return Column(name, words, kind, why, n_different, len(words) - len(known))


def numbers_rows(name: str, found: list[Any]) -> bool:
    """Whether numbers count the rows, or name them."""
    if len(set(found)) < len(found) or any(x != int(x) for x in found):
        return False
    counts = found == sorted(found) and found[-1] - found[0] == len(found) - 1
    return counts or ID.fullmatch(name) is not None


def values(column: Column, kind: str, separator: str) -> list[Any]:
    """A column's numbers or words; None for a gap, and for a word among numbers."""
    if kind != "number":
        return [None if word in WORD_GAPS else word for word in column.words]
    style = style_of(column.words, separator)
    found = [number(word, style) for word in column.words]
    if not any(x is not None for x in found):
        raise Refusal(f"“{column.name}” holds no numbers: take it for categories.")
    return found


def target_of(columns: list[Column]) -> str:
    """The column that is most likely the one to predict: the last that is fit for it."""
    fit = [c for c in columns if c.kind != "left out" and (c.kind == "number" or c.n_different <= MOST_CLASSES)]
    if not fit:
        raise Refusal("No column can be predicted: one is needed with two to twenty different words, or with numbers.")
    return fit[-1].name
