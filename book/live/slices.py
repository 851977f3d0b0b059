"""Which cells above a cell needs, found from the code alone.

A name that a cell uses leads to the cells above that bind it or may change what it holds, and these lead on. A cell
that uses what it also binds is taken to need the earlier value: better a slice too long than one too short.
"""

from __future__ import annotations

import ast
import builtins
from typing import NamedTuple


class Names(NamedTuple):
    """The names that some code reads, those that it binds, and those whose objects it may change."""

    used: set[str]
    bound: set[str]
    changed: set[str]


def base(node: ast.expr) -> str:
    """The name with which an expression such as ``a.b[0].c()`` begins; empty for others."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def names_of(source: str) -> Names:
    names = Names(set(), set(), set())
    modules: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            (names.used if isinstance(node.ctx, ast.Load) else names.bound).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.bound.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found = {(alias.asname or alias.name).split(".")[0] for alias in node.names}
            names.bound.update(found)
            modules |= found
        elif isinstance(node, (ast.AugAssign, ast.Delete)):
            targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
            names.used.update(map(base, targets))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):  # a bare call changes something, or shows
            names.changed.add(base(node.value))
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            names.changed.add(base(node.value))  # a[0] = ..., a.b = ...
    names.changed.difference_update({"", *dir(builtins), *modules})
    return names


def slices(sources: list[str]) -> list[list[int]]:
    """For each cell the numbers of the cells above that it needs, in their order."""
    names = [names_of(source) for source in sources]
    found = []
    for k, own in enumerate(names):
        needed, kept = set(own.used), []
        for j in reversed(range(k)):
            if needed & (names[j].bound | names[j].changed):
                kept.append(j)
                needed |= names[j].used | names[j].changed
        found.append(kept[::-1])
    return found
