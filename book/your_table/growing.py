"""A tree of a table, grown and changed as the reader wants: by `treekit.plain`, with the questions of its sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from random import Random
from typing import Any

from treekit import by_hand, plain, sweep
from treekit.plain import Node, Row
from treekit.sweep import Attributes, Question
from your_table.columns import MOST_CLASSES, Column, values
from your_table.reading import Refusal

__all__ = ["Settings", "Rows", "Plot", "NAMES"]
NAMES = {"id3": "ID3", "c45": "C4.5", "cart": "CART"}
FEW_NUMBERS = 5  # a target of so few different numbers is one of classes
HELD_FROM = 40  # with fewer rows too few could be held out to tell anything
HELD = 0.3
SEED = 0
NO_GAIN = 1e-9  # a question that gains nothing is not asked by an algorithm, though a reader may ask it


@dataclass(frozen=True)
class Settings:
    """What the reader may set: what is predicted, from which columns, by which algorithm, and its four limits.

    An estimator of treekit has its own limits, `parameters`, by their names there.
    """

    target: str
    kinds: dict[str, str] = field(default_factory=dict)
    method: str = "cart"
    depth: int = 4
    least: float = 1
    epsilon: float = 0.0
    alpha: float = 0.0
    parameters: dict[str, Any] = field(default_factory=dict)


class Rows:
    """The rows of a table as values: those to learn from, and those held out."""

    def __init__(self, columns: list[Column], settings: Settings, separator: str) -> None:
        self.settings = settings
        kinds = {column.name: settings.kinds.get(column.name, column.kind) for column in columns}
        by_name = {column.name: column for column in columns}
        target = by_name[settings.target]
        few = settings.target not in settings.kinds and target.n_different <= FEW_NUMBERS
        self.is_numbers = kinds[target.name] == "number" and not few
        labels = values(target, "number" if self.is_numbers else "category", separator)
        self.columns = {
            A: values(by_name[A], kinds[A], separator) for A in kinds if kinds[A] != "left out" and target.name != A
        }
        if settings.method == "id3":
            self.columns = {A: column for A, column in self.columns.items() if kinds[A] == "category"}
        self.attributes: Attributes = {
            A: None if kinds[A] == "number" else sorted({*column} - {None}) for A, column in self.columns.items()
        }
        records = zip(*self.columns.values()) if self.columns else ()
        self.D = [Row(dict(zip(self.columns, x)), y) for x, y in zip(records, labels) if y is not None]
        self.check()
        drawn = Random(SEED).sample(range(len(self.D)), self.n_held)
        self.held = sorted(drawn)
        hidden = set(drawn)
        self.grown_from = [row for k, row in enumerate(self.D) if k not in hidden]

    @property
    def n_held(self) -> int:
        return round(HELD * len(self.D)) if len(self.D) >= HELD_FROM else 0

    def check(self) -> None:
        """Refuse what no tree can grow from."""
        target, labels = self.settings.target, {row.y for row in self.D}
        if not self.columns:
            words = " ID3 asks about words alone: choose C4.5 or CART." if self.settings.method == "id3" else ""
            raise Refusal(f"No column is left to ask about: take one for numbers or categories.{words}")
        if len(self.D) < 2:
            raise Refusal(f"Fewer than two rows say anything in “{target}”: choose another column to predict.")
        if len(labels) == 1:
            [only] = labels
            raise Refusal(
                f"Every row says “{only}” in “{target}”, so there is nothing to tell apart: predict another column."
            )
        if not self.is_numbers and len(labels) > MOST_CLASSES:
            raise Refusal(
                f"“{target}” holds {len(labels):,} different words, and a tree of classes needs {MOST_CLASSES} or "
                "fewer: predict another column, or one of numbers."
            )
        if self.is_numbers and self.settings.method in ("id3", "c45"):
            raise Refusal(
                f"“{target}” holds numbers, and {NAMES[self.settings.method]} predicts classes: choose CART, or take "
                "the column for categories."
            )


class Plot(Rows):
    """The rows of a table, and the tree that grows from them."""

    def __init__(self, columns: list[Column], settings: Settings, separator: str) -> None:
        super().__init__(columns, settings, separator)
        self.changes: list[tuple[list[Any], Question | None]] = []
        self.own = self.tree = self.regrow(self.grown_from)

    # -- growing --------------------------------------------------------------------------------------------------

    @property
    def cost(self) -> sweep.Cost:
        if self.is_numbers:
            return sweep.squared_error
        return sweep.gini if self.settings.method == "cart" else sweep.entropy

    @property
    def choose(self) -> Callable[..., Question | None]:
        """The algorithm's choice at a node."""
        of = {"id3": sweep.largest_gain, "c45": sweep.largest_ratio, "cart": sweep.best_cut}[self.settings.method]
        return partial(of, cost=self.cost, least=self.settings.least, epsilon=max(self.settings.epsilon, NO_GAIN))

    def regrow(self, D: list[Row], depth: float | None = None) -> Node:
        """The algorithm's tree of some rows, pruned if that is wanted."""
        depth, leaf = self.settings.depth if depth is None else depth, sweep.means if self.is_numbers else sweep.shares
        tree = plain.grow(D, self.attributes, self.choose, leaf, depth, plain.share_out)
        if not self.settings.alpha:
            return tree
        return plain.prune(tree, self.settings.alpha, len(self.grown_from), getattr(plain, self.cost.__name__))

    def change(self, path: list[Any], question: Question | None) -> None:
        """Ask another question at a node, or with None cut its branch."""
        self.changes.append((path, question))
        self.tree = self.changed(self.tree, path, question)

    def undo(self) -> None:
        """Take the last change back."""
        self.changes = self.changes[:-1]
        self.tree = self.own
        for path, question in self.changes:
            self.tree = self.changed(self.tree, path, question)

    def changed(self, tree: Node, path: list[Any], question: Question | None) -> Node:
        if question is None:
            return by_hand.cut(tree, path)
        return by_hand.ask(tree, path, question, self.attributes, self.regrow, self.settings.depth)

    # -- questions ------------------------------------------------------------------------------------------------

    def gains(self, D: list[Row], attributes: Attributes) -> dict[Question, float]:
        return sweep.gains(D, attributes, self.cost, in_two=self.settings.method == "cart")

    def gain(self, node: Node) -> float:
        """What a node's question gains."""
        A = node.question[0]
        return self.gains(node.rows, {A: self.attributes[A]})[node.question]

    def offers(self, path: Sequence[Any], most: int = 10) -> list[tuple[Question, float, float]]:
        """The best question of each column at a node, with its gain and its gain ratio, the best first."""
        D = by_hand.at(self.tree, path).rows
        ratios = sweep.gain_ratios(D, self.gains(D, self.attributes))
        return sorted(((q, g, ratio) for q, (g, ratio) in ratios.items()), key=lambda offer: -offer[1])[:most]

    def importance(self) -> list[tuple[str, float]]:
        """The share of each column in all that the tree's questions gain."""
        total: Counter[str] = Counter()
        waiting = [self.tree]
        while waiting:
            node = waiting.pop()
            if node.branches and node.rows:
                total[node.question[0]] += plain.weight(node.rows) * self.gain(node)
                waiting.extend(node.branches.values())
        return [(A, gain / (total.total() or 1)) for A, gain in total.most_common()]

    # -- judging --------------------------------------------------------------------------------------------------

    def scores(self) -> list[dict[str, Any]]:
        """For this tree, the algorithm's own and the plainest guess: leaves, and how good they are.

        If there are few rows, none is held out; the algorithm's tree is then grown once without each of them.
        """
        guess = Node(self.grown_from, self.own.value)
        held = [self.D[k] for k in self.held]
        own, plainest = self.left_out if not held else (self.score(self.own, held), self.score(guess, held))
        name = f"{NAMES[self.settings.method]}’s own tree"
        named = f"always {'the mean, ' if self.is_numbers else ''}“{by_hand.says(guess.value)}”"
        told: list[tuple[str, Node, float | None]] = [(name, self.own, own), (named, guess, plainest)]
        if self.changes:
            told.insert(0, ("your tree", self.tree, self.score(self.tree, held) if held else None))
        return [
            {"name": name, "leaves": len(plain.leaves(t)), "grown": self.score(t, self.grown_from), "new": new}
            for name, t, new in told
        ]

    @cached_property
    def left_out(self) -> tuple[float, float]:
        """How good the algorithm's tree and the plainest guess are on rows that they have not seen."""
        found = []
        for k, row in enumerate(self.D):
            tree = self.regrow(self.D[:k] + self.D[k + 1 :])
            found.append((self.score(tree, [row]), self.score(Node([], tree.value), [row])))
        own, guess = (sum(side) / len(found) for side in zip(*found))
        return own, guess

    def score(self, tree: Node, rows: list[Row]) -> float:
        """The share of rows that are classified correctly; for numbers how far off they are, on average."""
        told = [sweep.predict(tree, row) for row in rows]
        if self.is_numbers:
            return sum(abs(value[None] - row.y) for value, row in zip(told, rows)) / len(rows)
        return sum(by_hand.says(value) == row.y for value, row in zip(told, rows)) / len(rows)
