"""Change a plain tree by hand: ask another question at a node, cut a branch back to a leaf; write its rules, draw it.

A node is named by the answers that lead to it from the root, such as ``[True, "curly"]``.

>>> from functools import partial
>>> from treekit.sweep import shares
>>> D = [Row({"sugar": 0.46, "texture": "clear"}, "ripe"), Row({"sugar": 0.10, "texture": "blurry"}, "unripe")]
>>> attributes = {"sugar": None, "texture": ["clear", "blurry"]}
>>> regrow = partial(grow, attributes=attributes, leaf=shares)
>>> tree = ask(Node(D, shares(D)), [], ("texture", ("clear",)), attributes, regrow)
>>> print(*rules(tree), sep="\\n")
if texture = clear then ripe  [ripe 1, unripe 0]
if texture is not clear then unripe  [ripe 0, unripe 1]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf, ulp
from typing import Any, NamedTuple

from treekit.pen.diagram import Card, Drawing, draw_cards
from treekit.plain import Node, Row, grow, largest, leaves, share_out, weight
from treekit.sweep import Attributes, Question

__all__ = [
    "at", "ask", "cut", "rules", "summary", "condition", "says", "counts", "weight_text",
    "Place", "nodes", "levels", "draw",
]  # fmt: skip


def at(tree: Node, path: Sequence[Any]) -> Node:
    """The node at the end of a path."""
    for m in path:
        tree = tree.branches[m]
    return tree


def put(tree: Node, path: Sequence[Any], new: Node) -> Node:
    """The tree with another node at the end of a path."""
    if not path:
        return new
    m, *rest = path
    return tree._replace(branches=tree.branches | {m: put(tree.branches[m], rest, new)})


def ask(
    tree: Node,
    path: Sequence[Any],
    question: Question,
    attributes: Attributes,
    regrow: Callable[..., Node],
    depth: float = inf,
) -> Node:
    """The tree that asks a question of one's own at a node; below it ``regrow(rows, depth=...)`` grows on."""
    node, left = at(tree, path), depth - len(path) - 1

    def leaf(D: list[Row]) -> Any:
        return node.value if D is node.rows else regrow(D, depth=0).value

    asked = grow(node.rows, attributes, lambda *_: question, leaf, 1, share_out)
    below = {m: regrow(t.rows, depth=max(left, 0)) if t.rows else t for m, t in asked.branches.items()}
    return put(tree, path, asked._replace(branches=below))


def cut(tree: Node, path: Sequence[Any]) -> Node:
    """The tree with a leaf in place of a branch."""
    node = at(tree, path)
    return put(tree, path, Node(node.rows, node.value))


# In words.
def rules(node: Node, conditions: Sequence[str] = (), classes: Sequence[Any] | None = None) -> list[str]:
    """A rule for each leaf, as :meth:`treekit.Tree.export_rules` writes them."""
    classes = sorted(node.value, key=str) if classes is None else classes
    if not node.branches:
        return [f"if {' and '.join(conditions) or 'anything'} then {summary(node, classes)}"]
    below = [(*conditions, condition(node.question, m)) for m in node.branches]
    return [rule for c, t in zip(below, node.branches.values()) for rule in rules(t, c, classes)]


def summary(node: Node, classes: Sequence[Any]) -> str:
    """What a leaf predicts, and its rows: ``ripe  [ripe 8, unripe 1]`` or ``5.724  [6 rows]``."""
    if not node.rows:
        return f"{says(node.value)}  [empty]"
    if None in node.value:
        return f"{says(node.value)}  [{len(node.rows)} row{'s' if len(node.rows) > 1 else ''}]"
    return f"{says(node.value)}  [{', '.join(f'{k} {weight_text(n)}' for k, n in counts(node, classes).items())}]"


def counts(node: Node, classes: Sequence[Any]) -> dict[Any, float]:
    """The weight of the rows of each class."""
    weights = dict.fromkeys(classes, 0.0)
    for row in node.rows:
        weights[row.y] += row.w
    return weights


def says(value: dict[Any, float]) -> str:
    """The class of the largest share, of equal ones the first; or the mean."""
    return f"{value[None]:.4g}" if None in value else str(largest(value))


def condition(question: Question, m: Any) -> str:
    """What leads to a branch: ``stem = curly``, ``stem is not curly``, ``density <= 0.3815``."""
    A, split = question
    if isinstance(split, tuple):
        return f"{A} {'=' if m else 'is not'} {split[0]}"
    return f"{A} = {m}" if split is None else f"{A} {'<=' if m else '>'} {threshold_text(split)}"


def threshold_text(t: float) -> str:
    """A cut with the fewest digits, four or more, that come as close to it as rounding does: 0.3815."""
    texts = (f"{t:.{digits}g}" for digits in range(4, 17))
    return next((text for text in texts if abs(float(text) - t) <= 2 * ulp(t)), repr(t))


def weight_text(weight: float) -> str:
    """A weight with few digits: 8, 2.333."""
    return f"{weight:.0f}" if abs(weight - round(weight)) < 1e-9 else f"{weight:.4g}"


# In a drawing.
LONGEST = 24  # the most letters of a name that are drawn
MANY = 4  # classes whose rows are not all counted on a card


class Place(NamedTuple):
    """A node in a tree, the answers that lead to it, and the number of the node above."""

    node: Node
    path: list[Any]
    parent: int


def nodes(tree: Node) -> Iterator[Node]:
    """All nodes of a tree."""
    yield tree
    for t in tree.branches.values():
        yield from nodes(t)


def levels(tree: Node, most: int) -> list[Place]:
    """The nodes level by level, as many whole levels as ``most`` nodes hold, the root in any case."""
    shown: list[Place] = []
    level = [Place(tree, [], -1)]
    while level and len(shown) + len(level) <= max(most, 1):
        start = len(shown)
        shown += level
        level = [
            Place(t, [*node.path, m], k) for k, node in enumerate(level, start) for m, t in node.node.branches.items()
        ]
    return shown


def draw(
    tree: Node,
    gain: Callable[[Node], float] | None = None,
    own: Sequence[Sequence[Any]] = (),
    most: int = 80,
    numbers_nodes: bool = False,
) -> Drawing:
    """Draw a tree as :meth:`treekit.Tree.draw` does; its leaves hold shares or means.

    ``gain`` returns what the question of a node gains, ``own`` names the nodes whose questions are the reader's.
    """
    shown, classes = levels(tree, most), sorted((k for k in tree.value if k is not None), key=str)
    below: dict[int, list[int]] = {}
    for k, place in enumerate(shown):
        below.setdefault(place.parent, []).append(k)
    numbers = [node.value[None] for node in nodes(tree)] if None in tree.value else [0.0]
    cards = [card(place, below.get(k, []), shown, classes, numbers, gain, own) for k, place in enumerate(shown)]
    asks = f" It first asks about {tree.question[0]}." if tree.branches else ""
    spoken = f"Decision tree with {sum(1 for _ in nodes(tree))} nodes and {len(leaves(tree))} leaves.{asks}"
    return draw_cards(cards, [str(k) for k in classes], spoken, numbers_nodes)


def card(
    place: Place,
    below: list[int],
    shown: list[Place],
    classes: list[Any],
    numbers: list[float],
    gain: Callable[[Node], float] | None,
    own: Sequence[Sequence[Any]],
) -> Card:
    """What a node shows."""
    node, path, parent = place
    if node.branches:
        told = few = (f"gain {gain(node):.3g}" if gain else "") + ", yours" * (path in own) if below else "more below"
    else:
        told = few = summary(node, classes).partition("  [")[2][:-1]
        if node.rows and classes:
            each = [weight_text(n) for n in counts(node, classes).values()]
            few = " : ".join(each) if len(each) <= MANY else f"{len(node.rows)} rows"
    return Card(
        parent=parent,
        depth=len(path),
        children=range(below[0], below[-1] + 1) if below else range(0),
        title=f"{short(node.question[0])}?" if node.branches else short(says(node.value)),
        below=few,
        branch=short(answer_text(shown[parent].node.question, path[-1])) if path else "",
        told=told,
        bar=bar(node, classes, min(numbers), max(numbers)),
        share=weight(node.rows) / weight(shown[0].node.rows),
        is_leaf=not node.branches,
        is_empty=not node.rows,
    )


def answer_text(question: Question, m: Any) -> str:
    """An answer, as it stands above a card: ``curly``, ``is not curly``, ``<= 0.3815``."""
    return condition(("", question[1]), m).strip().removeprefix("= ")


def bar(node: Node, classes: Sequence[Any], least: float, most: float) -> list[float]:
    """The shares of the classes; for a number, where it lies between the least and the largest."""
    if not node.rows:
        return []
    if None in node.value:
        return [(node.value[None] - least) / (most - least or 1.0)]
    return [node.value.get(k, 0.0) for k in classes]


def short(words: str) -> str:
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
