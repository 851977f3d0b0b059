"""The tree of the page as a notebook cell, and the table that the cell reads: run anywhere, it grows the same tree."""

from __future__ import annotations

import csv
import io

from your_table.growing import SEED, Plot, Rows

__all__ = ["cell", "as_csv", "words_of", "READ"]
READ = """\
# The table as the page has read it; the page saves it under this name.
words = {words!r}
table = pd.read_csv(
    {file!r}, dtype=dict.fromkeys(words, str), keep_default_na=False, na_values=[""], float_precision="round_trip"
)
labels = table.pop({target!r})
"""
CELL = """\
from functools import partial
from random import Random

import pandas as pd
from treekit import by_hand, plain, sweep

{read}D, attributes = plain.read(table, labels)

held = set(Random({seed}).sample(range(len(D)), {n_held}))  # rows that the tree does not see
rows = [row for k, row in enumerate(D) if k not in held]
choose = partial(sweep.{choose}, cost=sweep.{cost}, least={least!r}, epsilon={epsilon!r})


def grow(rows, depth={depth}):
    {grow}


tree = grow(rows)
{changes}print(*by_hand.rules(tree), sep="\\n")
by_hand.draw(tree)
"""
GROWN = "plain.grow(rows, attributes, choose, sweep.{leaf}, depth, plain.share_out)"


def cell(plot: Plot, file: str) -> str:
    """The cell."""
    settings, choose = plot.settings, plot.choose.keywords  # type: ignore[attr-defined]
    grown = GROWN.format(leaf="means" if plot.is_numbers else "shares")
    if settings.alpha:
        of = f"tree, {settings.alpha!r}, {len(plot.grown_from)}, plain.{plot.cost.__name__}"
        grown = f"tree = {grown}\n    return plain.prune({of})"
    else:
        grown = f"return {grown}"
    return CELL.format(
        read=READ.format(words=words_of(plot), file=file, target=settings.target),
        seed=SEED,
        n_held=plot.n_held,
        choose=plot.choose.func.__name__,  # type: ignore[attr-defined]
        cost=plot.cost.__name__,
        least=choose["least"],
        epsilon=choose["epsilon"],
        depth=settings.depth,
        grow=grown,
        changes="".join(map(change, *zip(*plot.changes), [settings.depth] * len(plot.changes))) if plot.changes else "",
    )


def change(path: list[object], question: object, depth: int) -> str:
    """A line for a question that the reader asked, or a branch that they cut."""
    if question is None:
        return f"tree = by_hand.cut(tree, {path!r})\n"
    return f"tree = by_hand.ask(tree, {path!r}, {question!r}, attributes, grow, depth={depth})\n"


def words_of(rows: Rows) -> list[str]:
    """The columns that hold words, the target among them if it does."""
    words = [A for A, order in rows.attributes.items() if order is not None]
    return words if rows.is_numbers else [*words, rows.settings.target]


def as_csv(rows: Rows) -> str:
    """The rows to learn from and those held out, as the cell reads them."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*rows.columns, rows.settings.target])
    for row in rows.D:
        writer.writerow(["" if x is None else x for x in row.x.values()] + [row.y])
    return file.getvalue()
