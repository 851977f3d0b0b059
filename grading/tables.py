"""Tables and texts on the disk: read as spreadsheets save them, written so that no spreadsheet runs them."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

__all__ = ["read_table", "safe", "write", "write_table", "write_zip"]

#: What :func:`safe` puts before a formula.
GUARD = re.compile(r"^'(?=[=+\-@\t\n])")


def read_table(path: Path) -> list[tuple[int, dict[str, str]]]:
    """The rows of a table with the numbers of their lines, whatever program has saved it.

    Between columns there are commas, semicolons or tabs, as the spreadsheet's language has it.

    Raises
    ------
    ValueError
        If it is no such table.
    """
    text = path.read_bytes()
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        words = text.decode("utf-16", "replace")
    else:
        try:
            words = text.decode("utf-8-sig")
        except UnicodeDecodeError:  # Excel's "CSV" in Western Europe
            words = text.decode("cp1252", "replace")
    first = words.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(words, newline=""), delimiter=max(",;\t", key=first.count))
    try:
        header = [name.strip() for name in next(reader, [])]
        found = []
        for row in reader:
            if any(cell.strip() for cell in row):
                cells = row + [""] * (len(header) - len(row))
                found.append((reader.line_num, dict(zip(header, (GUARD.sub("", cell) for cell in cells)))))
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: this is no table ({error})") from None
    return found


def safe(text: str) -> str:
    """Text that no spreadsheet takes for a formula, and that stays in its cell."""
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]", " ", text)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\n") else text


def write_table(path: Path, header: list[str], rows: Iterable[list[str]], for_excel: bool = False) -> None:
    """A table. Excel reads UTF-8 only after a mark at the beginning, which programs may take for a part of a name."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(header)
    writer.writerows([safe(cell) for cell in row] for row in rows)
    write(path, "\ufeff" * for_excel + text.getvalue())


def write_zip(path: Path, files: dict[str, str], mode: int = 0o644) -> None:
    """Texts by their paths as a zip, dated 1980, so that a second run writes the same bytes."""
    new = path.with_suffix(".new")
    with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = mode << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, text.encode("utf-8", "replace"))
    new.replace(path)


def write(path: Path, text: str) -> None:
    """A text, in its place at once. Letters that can't be saved, halves of pairs, become question marks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8", errors="replace")
    new.replace(path)
