"""What the page asks of Python: each function takes and returns what JSON can hold, a refusal as its sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from importlib.resources import files
from typing import Any

from treekit import by_hand, plain, sweep
from treekit.pen.diagram import Drawing
from treekit.pen.svg import script_json
from treekit.plain import Node, Row
from your_table.cell import as_csv, cell
from your_table.columns import Column, columns_of, target_of
from your_table.estimators import ESTIMATORS, fit
from your_table.growing import HELD_FROM, Plot, Rows, Settings
from your_table.reading import MOST_ROWS, MOST_WITH_NUMPY, Refusal, read_table

__all__ = ["take", "take_of_the_book", "grow", "offers", "ask", "cut", "undo", "table"]
MOST_DRAWN = 80  # nodes
MOST_FOLLOWED = 40  # rows
#: The reader's table, and the tree that stands on the page.
state: dict[str, Any] = {}


def answers(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """The function with refusals as answers."""

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
    return took(bytes(data), encoding, name)


@answers
def take_of_the_book(name: str) -> dict[str, Any]:
    """Read one of the book's own tables."""
    return took(files("treekit.data").joinpath(f"{name}.csv").read_bytes(), "", f"{name}.csv")


def took(data: bytes, encoding: str, name: str) -> dict[str, Any]:
    table = read_table(data, encoding)
    columns = columns_of(table)
    state.clear()
    state.update(columns=columns, separator=table.separator, file=f"{name.rpartition('.')[0] or name}-read.csv")
    if is_large := table.n_rows > MOST_ROWS:
        state.update(data=data, encoding=encoding)
    target = target_of(columns)
    used = [column for column in columns if column.kind != "left out"]
    words_alone = all(column.kind == "category" for column in used)
    least = max(1, round(len(table.rows) / 200))
    return {
        "rows": len(table.rows),
        "notes": table.notes,
        "columns": [column.told() for column in columns],
        "is_large": is_large,
        "suggested": {"target": target, "method": "id3" if words_alone else "cart", "least": least},
    }


@answers
def grow(settings: dict[str, Any]) -> dict[str, Any]:
    """Grow a tree, or many, by new settings."""
    wanted = Settings(**settings)
    if wanted.method in ESTIMATORS:
        kinds = {c.name: c.kind for c in state["columns"] if c.name != wanted.target}
        state["plot"] = Rows(many_rows(), replace(wanted, kinds=kinds | wanted.kinds), state["separator"])
        return shown_by_estimator()
    state["plot"] = Plot(state["columns"], wanted, state["separator"])
    return shown()


def many_rows() -> list[Column]:
    """The columns with as many rows as are allowed where NumPy does the work."""
    if "data" in state:
        state["many"] = columns_of(read_table(state.pop("data"), state.pop("encoding"), MOST_WITH_NUMPY))
    return state.get("many", state["columns"])


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
            {"words": asked(q), "gain": gain, "ratio": ratio if by_ratio else None, "now": q == node.question}
            for q, gain, ratio in found
        ],
    }


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
    """The tree, and what is said about it."""
    plot = state["plot"]
    places = by_hand.levels(plot.tree, MOST_DRAWN)
    state["paths"] = [place.path for place in places]
    own = [path for path, question in plot.changes if question]
    drawing = by_hand.draw(plot.tree, plot.gain, own, MOST_DRAWN, numbers_nodes=True)
    return {
        "html": drawing.html,
        "svg": standing_alone(drawing),
        "followed": followed(plot, places),
        "rules": by_hand.rules(plot.tree),
        "scores": plot.scores(),
        "importance": plot.importance(),
        "n_changes": len(plot.changes),
        "n_hidden": sum(1 for _ in by_hand.nodes(plot.tree)) - len(places),
        "code": cell(plot, state["file"]),
        **counts(plot),
    }


def shown_by_estimator() -> dict[str, Any]:
    """What is said about a model; a single tree is drawn."""
    rows: Rows = state["plot"]
    model, code, scores = fit(rows, state["file"])
    tree = model.tree_ if rows.settings.method == "large" else None
    drawing = tree.draw(MOST_DRAWN) if tree else Drawing("", "", "")
    shares = sorted(zip(rows.columns, model.feature_importances_.tolist()), key=lambda of: -of[1])
    return {
        "html": drawing.html if tree else "",
        "svg": standing_alone(drawing),
        "followed": "",
        "rules": tree.export_rules() if tree else [],
        "scores": scores,
        "importance": [(name, share) for name, share in shares if share],
        "n_changes": 0,
        "n_hidden": 0,
        "code": code,
        **counts(rows),
    }


def counts(rows: Rows) -> dict[str, Any]:
    """The rows, and what is predicted from them."""
    return {
        "is_numbers": rows.is_numbers,
        "n_grown": len(rows.grown_from),
        "n_held": len(rows.held),
        "held_from": HELD_FROM,
    }


def classes(plot: Plot) -> list[str]:
    return [] if plot.is_numbers else sorted(plot.own.value)


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


def standing_alone(drawing: Drawing) -> str:
    """The SVG as a file of its own."""
    head = '<svg xmlns="http://www.w3.org/2000/svg"'
    return drawing.svg.replace("<svg", head, 1).replace('font-family="inherit"', 'font-family="sans-serif"')


def followed(plot: Plot, places: list[by_hand.Place]) -> str:
    """Rows that fall through the tree, as `rows.js` reads them: those held out, or all if none are."""
    number = {id(place.node): k for k, place in enumerate(places)}
    rows = []
    for k in (plot.held or range(len(plot.D)))[:MOST_FOLLOWED]:
        ends: dict[int, float] = {}
        told = fall(plot.tree, plot.D[k], 1.0, number, 0, ends)
        says = by_hand.says(sweep.predict(plot.tree, plot.D[k]))
        line = f"Row {k + 1}: {', '.join(told) or 'no question'}. Predicted: {says}. The table says: {plot.D[k].y}."
        rows.append([str(k + 1), {end: round(share, 3) for end, share in ends.items()}, line])
    return script_json({"parent": [place.parent for place in places], "rows": rows})


def fall(node: Node, row: Row, share: float, number: dict[int, int], last: int, ends: dict[int, float]) -> list[str]:
    """Note in which drawn nodes the parts of a row end, and return the answers on the way of a whole row."""
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
