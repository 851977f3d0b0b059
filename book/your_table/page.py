"""What the page asks of Python: each function takes and gives what JSON can hold, a refusal as its sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib.resources import files
from typing import Any

from treekit import by_hand, plain
from treekit.pen.diagram import Card, Drawing, draw_cards
from treekit.pen.svg import script_json
from treekit.plain import Node, Row
from your_table.cell import as_csv, cell
from your_table.columns import columns_of, target_of
from your_table.growing import HELD_FROM, NAMES, Plot, Settings
from your_table.reading import Refusal, Table, read_table

__all__ = ["take", "take_of_the_book", "grow", "offers", "ask", "cut", "undo", "table"]
MOST_DRAWN = 80  # nodes
MOST_FOLLOWED = 40  # rows
MANY = 8  # branches or words that are not all named
#: The reader's table, and the tree that stands on the page.
state: dict[str, Any] = {}


def answers(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """A refusal is an answer, too."""

    @wraps(function)
    def answered(*values: Any) -> dict[str, Any]:
        try:
            return function(*values)
        except Refusal as refusal:
            return {"refused": str(refusal)}
        except RecursionError:
            return {"refused": "This tree is too deep for a page: set a smaller depth."}

    return answered


@answers
def take(data: Any, name: str, encoding: str = "") -> dict[str, Any]:
    """Read a file, or what was pasted."""
    return took(read_table(bytes(data), encoding), name)


@answers
def take_of_the_book(name: str) -> dict[str, Any]:
    """Read one of the book's own tables."""
    return took(read_table(files("treekit.data").joinpath(f"{name}.csv").read_bytes()), f"{name}.csv")


def took(table: Table, name: str) -> dict[str, Any]:
    columns = columns_of(table)
    state.clear()
    state.update(columns=columns, separator=table.separator, file=f"{name.rpartition('.')[0] or name}-read.csv")
    target = target_of(columns)
    used = [column for column in columns if column.kind != "left out"]
    words_alone = all(column.kind == "category" for column in used)
    least = max(1, round(len(table.rows) / 200))
    return {
        "rows": len(table.rows),
        "notes": table.notes,
        "columns": [column.told() for column in columns],
        "suggested": {"target": target, "method": "id3" if words_alone else "cart", "least": least},
    }


@answers
def grow(settings: dict[str, Any]) -> dict[str, Any]:
    """Grow a tree anew."""
    state["plot"] = Plot(state["columns"], Settings(**settings), state["separator"])
    return shown()


@answers
def offers(k: int) -> dict[str, Any]:
    """What can be done at a node."""
    plot, path = state["plot"], state["paths"][k]
    node = by_hand.at(plot.tree, path)
    found = plot.offers(path) if len({row.y for row in node.rows}) > 1 else []
    state["offered"] = [question for question, *_ in found]
    by_ratio = plot.settings.method == "c45"
    return {
        "where": where(plot.tree, path),
        "rows": len(node.rows),
        "leaf": by_hand.summary(node._replace(branches={}), classes(plot)),
        "is_leaf": not node.branches,
        "offers": [
            {"words": asked(question), "gain": gain, "ratio": ratio if by_ratio else None, "now": question == node.question}
            for question, gain, ratio in found
        ],
    }  # fmt: skip


@answers
def ask(k: int, j: int) -> dict[str, Any]:
    """Ask a node the j-th of the questions that were offered."""
    state["plot"].change(state["paths"][k], state["offered"][j])
    return shown()


@answers
def cut(k: int) -> dict[str, Any]:
    """Cut the branch that ends in a node back to a leaf."""
    state["plot"].change(state["paths"][k], None)
    return shown()


@answers
def undo() -> dict[str, Any]:
    """Take the last change back."""
    state["plot"].undo()
    return shown()


@answers
def table() -> dict[str, Any]:
    """The table that the notebook cell reads."""
    return {"name": state["file"], "text": as_csv(state["plot"])}


# -- what is shown ----------------------------------------------------------------------------------------------------


def shown() -> dict[str, Any]:
    """The tree, and what is told about it."""
    plot = state["plot"]
    cards, state["paths"], nodes = cards_of(plot)
    drawing = draw_cards(cards, classes(plot), spoken(plot), numbers_nodes=True)
    return {
        "html": drawing.html,
        "svg": standing_alone(drawing),
        "followed": followed(plot, cards, nodes),
        "rules": by_hand.rules(plot.tree),
        "scores": plot.scores(),
        "is_numbers": plot.is_numbers,
        "n_grown": len(plot.grown_from),
        "n_held": len(plot.held),
        "held_from": HELD_FROM,
        "importance": plot.importance(),
        "n_changes": len(plot.changes),
        "n_hidden": sum(1 for _ in every(plot.tree)) - len(cards),
        "code": cell(plot, state["file"]),
    }


def classes(plot: Plot) -> list[str]:
    return [] if plot.is_numbers else sorted(plot.own.value)


def every(node: Node) -> Any:
    """All nodes of a tree."""
    yield node
    for t in node.branches.values():
        yield from every(t)


def cards_of(plot: Plot) -> tuple[list[Card], list[list[Any]], list[Node]]:
    """What each drawn node shows, its path, and the node itself, level by level, in as many whole levels as fit."""
    level: list[tuple[Node, list[Any], int]] = [(plot.tree, [], -1)]
    levels = []
    while level and sum(map(len, levels)) + len(level) <= MOST_DRAWN or not levels:
        start, below = sum(map(len, levels)), []
        for k, (node, path, _) in enumerate(level, start=start):
            below += [(t, [*path, m], k) for m, t in node.branches.items()]
        levels.append(level)
        level = below
    shown = [entry for entries in levels for entry in entries]
    children: dict[int, list[int]] = {}
    for k, (_, _, parent) in enumerate(shown):
        children.setdefault(parent, []).append(k)
    least, most = extent(plot)
    cards = []
    for k, (node, path, parent) in enumerate(shown):
        under = children.get(k, [])
        below = lines(plot, node, path, bool(under))
        cards.append(
            Card(
                parent=parent,
                depth=len(path),
                children=range(under[0], under[-1] + 1) if under else range(0),
                title=f"{short(node.question[0])}?" if node.branches else by_hand.says(node.value),
                below=below[0],
                branch=branch(shown[parent][0].question, path[-1]) if path else "",
                told=below[1],
                bar=bar(plot, node, least, most),
                share=plain.weight(node.rows) / len(plot.grown_from),
                is_leaf=not node.branches,
                is_empty=not node.rows,
            )
        )
    return cards, [path for _, path, _ in shown], [node for node, _, _ in shown]


def extent(plot: Plot) -> tuple[float, float]:
    """The least and the largest number that the tree predicts."""
    if not plot.is_numbers:
        return 0.0, 1.0
    values = [node.value[None] for node in every(plot.tree)]
    return min(values), max(values)


def bar(plot: Plot, node: Node, least: float, most: float) -> list[float]:
    """The parts of a card's bar."""
    if not node.rows:
        return []
    if plot.is_numbers:
        return [(node.value[None] - least) / (most - least or 1.0)]
    return [node.value.get(k, 0.0) for k in classes(plot)]


def lines(plot: Plot, node: Node, path: list[Any], shows_children: bool) -> tuple[str, str]:
    """The line under a card's title, and in the outline."""
    if node.branches:
        yours = ", yours" if any(path == changed and question for changed, question in plot.changes) else ""
        line = f"gain {plot.gain(node):.3g}{yours}" if shows_children else "more below"
        return line, line
    told = by_hand.summary(node, classes(plot)).partition("  [")[2][:-1]
    if plot.is_numbers or not node.rows:
        return told, told
    counts = by_hand.counts(node, classes(plot)).values()
    few = " : ".join(map(by_hand.weight_text, counts)) if len(counts) <= 4 else f"{len(node.rows)} rows"
    return few, told


def branch(question: Any, m: Any) -> str:
    """An answer, as it stands above a card."""
    return short(by_hand.condition(("", question[1]), m).strip().removeprefix("= "), 30)


def short(words: str, most: int = 24) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"


def asked(question: Any) -> str:
    """A question in words."""
    A, split = question
    if split is None:
        return f"{A}?"
    return f"{by_hand.condition(question, True)}?"


def where(tree: Node, path: list[Any]) -> str:
    """The answers that lead to a node."""
    told = []
    for m in path:
        told.append(by_hand.condition(tree.question, m))
        tree = tree.branches[m]
    return " and ".join(told)


def spoken(plot: Plot) -> str:
    """Alternative text: the size of the tree, and its first question."""
    n_nodes, n_leaves = sum(1 for _ in every(plot.tree)), len(plain.leaves(plot.tree))
    first = f" It first asks about {plot.tree.question[0]}." if plot.tree.branches else ""
    return f"Decision tree with {n_nodes} nodes and {n_leaves} leaves.{first} The rules below tell all of it."


def standing_alone(drawing: Drawing) -> str:
    """The SVG as a file of its own."""
    head = '<svg xmlns="http://www.w3.org/2000/svg"'
    return drawing.svg.replace("<svg", head, 1).replace('font-family="inherit"', 'font-family="sans-serif"')


def followed(plot: Plot, cards: list[Card], nodes: list[Node]) -> str:
    """Rows that fall through the tree, as `rows.js` reads them: those held out, or of few rows all."""
    number = {id(node): k for k, node in enumerate(nodes)}
    rows = []
    for k in (plot.held or range(len(plot.D)))[:MOST_FOLLOWED]:
        ends: dict[int, float] = {}
        told = fall(plot.tree, plot.D[k], 1.0, number, 0, ends)
        says = by_hand.says(predicted(plot, plot.D[k]))
        line = f"Row {k + 1}: {', '.join(told) or 'no question'}. Predicted: {says}. The table says: {plot.D[k].y}."
        rows.append([str(k + 1), {end: round(share, 3) for end, share in ends.items()}, line])
    return script_json({"parent": [card.parent for card in cards], "rows": rows})


def predicted(plot: Plot, row: Row) -> dict[Any, float]:
    from treekit.sweep import predict

    return predict(plot.tree, row)


def fall(node: Node, row: Row, share: float, number: dict[int, int], last: int, ends: dict[int, float]) -> list[str]:
    """Note in which drawn nodes the parts of a row end; the answers on the way of a whole row."""
    last = number.get(id(node), last)
    if not node.branches:
        ends[last] = ends.get(last, 0.0) + share
        return []
    m = plain.answer(row, node.question)
    if m in node.branches:
        return [by_hand.condition(node.question, m), *fall(node.branches[m], row, share, number, last, ends)]
    for t in node.branches.values():
        if t.rows:
            fall(t, row, share * plain.weight(t.rows) / plain.weight(node.rows), number, last, ends)
    return [f"shared out, because it has no answer to {asked(node.question)}"]
