"""Put a student's answers into the notebook of the source.

What is marked is the source's notebook, with its tests, points and order, and with the student's text in the cells that
are for answers. So a deleted or edited test, changed points and doubled cells have no effect; they are named.
"""

from __future__ import annotations

import ast
import json
import re
from contextlib import suppress
from copy import deepcopy
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum, is_grade, is_solution

from grading.words import pictures

__all__ = ["Unreadable", "assembled", "attached", "defined_names", "is_test", "mentioned_names", "read", "whole"]

#: The largest notebook that is read, in bytes, and the most cells of it.
LARGEST = 20 << 20
MOST_CELLS = 2000
#: Characters of a cell that are looked through for names.
LONGEST_CELL = 100_000


class Unreadable(ValueError):
    """A file that is no notebook. The message says why."""


def read(text: bytes) -> NotebookNode:
    """A notebook as it was handed in, of whatever version, without its outputs.

    Raises
    ------
    Unreadable
        If it is too large, no JSON, or no notebook.
    """
    if len(text) > LARGEST:
        raise Unreadable(f"the file has more than {LARGEST >> 20} MB")
    try:
        found = json.loads(text)
    except UnicodeDecodeError:
        try:
            found = json.loads(text.decode("cp1252", "replace"))
        except (ValueError, RecursionError):
            raise Unreadable("the file is no notebook: it is not JSON in UTF-8, nor as Windows writes it") from None
    except (ValueError, RecursionError):
        raise Unreadable("the file is no notebook: it is not JSON") from None
    try:
        major = found.get("nbformat", 4)
        notebook = nbformat.from_dict(found) if major == 4 else nbformat.convert(nbformat.from_dict(found), 4)
        cells = [_tidy(cell) for cell in notebook.cells[:MOST_CELLS]]
    except Exception as error:  # whatever a damaged notebook may hold
        raise Unreadable(f"the file is JSON, but no notebook ({type(error).__name__})") from None
    language = "python"
    with suppress(Exception):  # many notebooks don't say it
        language = whole(notebook.metadata.kernelspec.language)
    return NotebookNode(cells=cells, metadata=NotebookNode(language=language))


def whole(text: Any) -> str:
    """A text that can be saved: halves of pairs, which JSON may hold, become question marks."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


def _tidy(cell: NotebookNode) -> NotebookNode:
    source = cell["source"]
    source = whole("".join(source) if isinstance(source, list) else source)
    nbgrader = cell.get("metadata", {}).get("nbgrader", {})
    known = {"nbgrader": NotebookNode(nbgrader)} if isinstance(nbgrader, dict) else {}
    kind = "code" if cell["cell_type"] == "code" else "markdown"
    kept = {"attachments": cell["attachments"]} if kind == "markdown" and "attachments" in cell else {}
    name = whole(cell.get("id", ""))
    return NotebookNode(cell_type=kind, source=source, metadata=NotebookNode(known), id=name, **kept)


def is_test(cell: NotebookNode) -> bool:
    """Whether a cell of the source marks an answer by running."""
    return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def _grade_id(cell: NotebookNode) -> str | None:
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def _answers_to(cell: NotebookNode, known: dict[str, NotebookNode]) -> str | None:
    """Which cell of the source a cell handed in is; its own id helps where an editor has dropped the metadata."""
    return next((key for key in (_grade_id(cell), cell.get("id")) if isinstance(key, str) and key in known), None)


def assembled(source: NotebookNode, release: NotebookNode, handed_in: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """The source's notebook with a student's answers, and remarks on what was changed besides.

    Cells that the student has added follow the cell that they stood behind; words that were added around an answer in
    words belong to it. ``release`` is the student edition: without an answer its stub stands in the answer's place.
    """
    known = {name: cell for cell in source.cells if (name := _grade_id(cell))}
    given = {name: cell.source for cell in release.cells if (name := _grade_id(cell))}
    found: dict[str, NotebookNode] = {}
    added: dict[str | None, list[NotebookNode]] = {}
    remarks, last = [], None
    for cell in handed_in.cells:
        name = _answers_to(cell, known)
        if name is None:
            if cell.source.strip() and not _stands_in(cell, release):
                added.setdefault(last, []).append(cell)
        elif name in found:
            remarks.append(f"the cell {name} is there twice; the last one counts")
            found[name] = cell
        else:
            found[name] = cell
            last = name
    remarks += _changes(known, given, found)
    notebook = deepcopy(source)
    cells, above = _as_code(added.get(None, [])), None
    for cell in notebook.cells:
        name = _grade_id(cell)
        if name and is_solution(cell):
            cell.source = found[name].source if name in found else given[name]
            if cell.cell_type == "markdown":
                words = _words(added.get(above, [])) + _words(added.get(name, []))
                parts = [cell.source] if cell.source.strip() != given[name].strip() or not words else []
                cell.source = "\n\n".join(parts + words)
        cells.append(cell)
        if name:
            cells += _as_code(added.get(name, []))
            above = name
    notebook.cells = cells
    return notebook, remarks


def attached(handed_in: NotebookNode) -> dict[str, str]:
    """The pictures that were pasted into the words of a notebook."""
    found: dict[str, str] = {}
    for cell in handed_in.cells:
        found |= pictures(cell.get("attachments"))
    return found


def _words(cells: list[NotebookNode]) -> list[str]:
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def _stands_in(cell: NotebookNode, release: NotebookNode) -> bool:
    return any(cell.source.strip() == other.source.strip() for other in release.cells)


def _as_code(cells: list[NotebookNode]) -> list[NotebookNode]:
    """The cells that a student has added, without metadata of nbgrader's."""
    return [nbformat.v4.new_code_cell(cell.source) for cell in cells if cell.cell_type == "code"]


def _changes(known: dict[str, Any], given: dict[str, str], found: dict[str, NotebookNode]) -> list[str]:
    remarks, older = [], False
    for name, cell in known.items():
        there = found.get(name)
        if is_solution(cell) and there is None:
            remarks.append(f"the answer cell {name} is missing")
        if there is None:
            if is_test(cell):
                remarks.append(f"the test {name} was deleted; it was put back")
            continue
        edited = not is_solution(cell) and there.source.strip() != given[name].strip()
        points = there.metadata.get("nbgrader", {}).get("points")
        worth = is_grade(cell) and points is not None and points != cell.metadata.nbgrader.points
        if (edited or worth) and _as_handed_out(there):
            older = True
        elif edited and cell.cell_type == "code":
            remarks.append(f"the {'test' if is_test(cell) else 'cell'} {name} was edited; the original was run")
        elif edited:
            remarks.append(f"the text of {name} was edited: is an answer in it?")
        elif worth:
            remarks.append(f"the points of {name} were changed; the original ones count")
    return remarks + (["this is an older edition; the tests and points of the newest count"] if older else [])


def _as_handed_out(cell: NotebookNode) -> bool:
    """Whether a cell is what some student edition held: nbgrader lays down a checksum of each in the edition itself."""
    with suppress(Exception):  # whatever a student's metadata may hold
        return compute_checksum(cell) == cell.metadata.nbgrader.checksum
    return False


def _parsed(source: str) -> ast.Module:
    """The statements of a cell, without IPython's commands; none where it is no Python or too long to be looked at."""
    source = source[:LONGEST_CELL]
    for text in (source, re.sub(r"^([ \t]*)[%!?].*", r"\1pass", source, flags=re.MULTILINE)):
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.parse(text)
    return ast.Module([], [])


def defined_names(source: str, imports: bool = True) -> set[str]:
    """The names that a cell defines, by ``import`` too unless told otherwise."""
    names = set()
    for statement in _parsed(source).body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(statement.name)
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif imports and isinstance(node, (ast.Import, ast.ImportFrom)):
                names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return names


def mentioned_names(source: str) -> set[str]:
    """The names that a cell uses, and the texts in it, one of which may name what `check` is to look up."""
    nodes = list(ast.walk(_parsed(source)))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return texts | {node.id for node in nodes if isinstance(node, ast.Name)}
