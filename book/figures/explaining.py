"""The figures of the chapter on explanations."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from figures.charts import Chart, Picture, around, region, tenths
from figures.explorable import Choice, Explorable, Panel, Places, Scene, Slider, State
from figures.looks import HALO, OUTLINE, centred, ending, filled, path, ringed, signed
from figures.melons import in_lines, melon, melon_marks, ripe_and_unripe
from figures.plots import axes, plotted, side_by_side
from treekit.pen.palette import BAR, CLASS_COLORS, RIPE, UNRIPE
from treekit.pen.svg import FAINT, circle, element, line, number, rect, text
from treekit.plain import Node, Row, answer, weight

#: Room for a melon in a line of melons, and the words when there is nothing to show.
PITCH, OWN = 27, "their own"
LETTER = 8.2  # width of a letter at 15 pixels


def path_of(tree: Node, row: Any) -> list[Node]:
    """The nodes of a plain tree that a row passes, from the root to its leaf."""
    nodes = [tree]
    while nodes[-1].branches:
        nodes.append(nodes[-1].branches[answer(row, nodes[-1].question)])
    return nodes


class _Path(Scene):
    """A melon answers question after question; those that answer otherwise leave, and the share of ripe ones moves."""

    size, stagger = (480, 400), 20
    lanes = (84, 34)  # where the bar of the first answer lies, and the height of each

    def __init__(self, tree: Node, melons: pd.DataFrame, asked: Sequence[int]) -> None:
        self.ripe, self.asked = melons["ripe"] == "yes", list(asked)
        names = {id(row): name for row, name in zip(tree.rows, melons.index, strict=True)}
        self.paths = {name: path_of(tree, tree.rows[melons.index.get_loc(name)]) for name in asked}
        self.left = {name: [[names[id(row)] for row in t.rows] for t in way] for name, way in self.paths.items()}
        self.words = {
            name: [f"{t.question[0]}: {self.said(t, below)}" for t, below in zip(way, way[1:])]
            for name, way in self.paths.items()
        }
        self.moves = {name: np.diff([t.value for t in way]) for name, way in self.paths.items()}
        self.axis = Chart((0, 1), (0, 1), (12, 40, 468, 64))
        self.longest = max(map(len, self.moves.values()))

    def said(self, node: Node, below: Node) -> str:
        """What the melons of a branch answer."""
        cut, yes = node.question[1], node.branches[True] is below
        if isinstance(cut, float):
            return f"{'at most' if yes else 'above'} {cut:.4g}"
        return f"{'' if yes else 'not '}{cut[0]}"

    def steps(self, name: int, k: int) -> int:
        """How many answers a melon has given: no more than lie on its path."""
        return min(k, len(self.moves[name]))

    def background(self) -> str:
        ticks = "".join(
            line(self.axis.x(v), 52, self.axis.x(v), 60) + centred(self.axis.x(v), 46, number(v)) for v in (0, 0.5, 1)
        )
        return (
            text(0, 20, "the share of ripe melons among those that answer alike")
            + ticks
            + line(12, 56, 468, 56)
            + text(0, 226, "they answer alike so far")
            + text(0, 316, "they have answered otherwise")
            + ripe_and_unripe(350, 385)
        )

    def marks(self) -> dict[Any, str]:
        marks: dict[Any, str] = {"share": line(0, 0, 0, 16, stroke_width=4), "self": ringed([(0, 0, 15)])}
        return marks | melon_marks(self.ripe, 12)

    def frame(self, name: int, given: int) -> State:
        k = self.steps(name, given)
        alike = self.left[name][k]
        others = [other for other in self.ripe.index if other not in alike]
        places = in_lines(alike, 240, 250, 9, PITCH, 30) | in_lines(others, 240, 340, 17, PITCH)
        share = self.paths[name][k].value
        places |= {"share": (self.axis.x(share), 48), "self": places[name]}
        told = centred(min(max(self.axis.x(share), 18), 462), 80, f"{share:.2f}", font_weight="bold")
        return [told, *(self.bar(name, i) for i in range(k))], self.sentence(name, given), places

    def bar(self, name: int, i: int) -> str:
        """What an answer is, and by how much it moves the share."""
        top, high = self.lanes[0] + self.lanes[1] * i, 13
        before, move = self.paths[name][i].value, float(self.moves[name][i])
        kind, start = (RIPE, before) if move > 0 else (UNRIPE, before + move)
        bar = rect(self.axis.x(start), top + 6, abs(move) * 456, high, **filled(kind), fill_opacity=BAR)
        end = self.axis.x(before + move)
        return bar + line(end, top + 4, end, top + 21, stroke_width=3) + self.label(name, i, top, start, move)

    def label(self, name: int, i: int, top: float, start: float, move: float) -> str:
        """The words of a bar, on the side where there is more room, or in it if they fit on neither."""
        words = f"{self.words[name][i]} ({signed(move)})"
        left, right = self.axis.x(start) - 8, self.axis.x(start + abs(move)) + 8
        if LETTER * len(words) > max(left, 480 - right):
            return text(left + 16, top + 18, words)
        return ending(left, top + 18, words) if left > 480 - right else text(right, top + 18, words)

    def sentence(self, name: int, given: int) -> str:
        k = self.steps(name, given)
        alike = self.ripe[self.left[name][k]]
        counts = f"{alike.sum()} of {len(alike)} are ripe, a share of {alike.mean():.2f}"
        if k == 0:
            return f"Before melon {name} has answered anything, all {len(alike)} melons are like it: {counts}."
        if given > k:
            return f"Melon {name} has only {k} answer{'s' * (k > 1)} to give: {counts}."
        end = ", and the tree asks nothing more" if k == len(self.moves[name]) else ""
        return f"After {k} answer{'s' * (k > 1)} of melon {name}: {counts}{end}."

    def strongest(self, name: int) -> str:
        """The column that moves the share the most."""
        return self.words[name][int(np.abs(self.moves[name]).argmax())].partition(":")[0]


def path_explorer(tree: Node, melons: pd.DataFrame, asked: Sequence[int] = (7, 15, 3)) -> Explorable:
    """Some melons go down a plain tree whose leaves hold shares of ripe melons; each answer moves the share.

    `tree` has grown on the rows of `melons`, in their order; its questions have the answers True and False.
    """
    scene = _Path(tree, melons, asked)
    first = asked[0]
    columns = [words.partition(":")[0] for words in scene.words[first]]
    strongest = scene.strongest(first)
    moves = dict(zip(columns, map(signed, scene.moves[first])))
    turned = next(name for name in asked if scene.moves[name][0] > 0 > scene.moves[name].sum())
    return scene.explorable(
        title="A buyer asks why",
        alt=f"An axis of the share of ripe melons from 0 to 1. Below it a bar for each answer of melon {first}, from "
        f"the share before it to the share after it: {'; '.join(scene.words[first])}. At the bottom the melons as "
        f"numbered circles, hollow if ripe: melon {first} alone is left, the {len(melons) - 1} others have answered "
        "otherwise.",
        controls=[
            Choice("Melon", list(asked)),
            Slider("Answers given", range(scene.longest + 1), start=scene.longest, opens=0),
        ],
        found=lambda name, k: name == turned and k >= len(scene.moves[turned]),
        guess=Choice(
            f"Your guess: which answer of melon {first} moves its share the most?",
            columns,
            answer=strongest,
            truth=lambda guessed: (
                f"its {guessed} moves it by {moves[guessed]}"
                + (", the most" if guessed == strongest else f", its {strongest} by {moves[strongest]}")
            ),
        ),
        challenge="One of these melons is called ripe by its first answer and not ripe in the end. Which?",
    )


def shares_tree(tree: Node, row: Row, name: str) -> Picture:
    """A plain tree of shares: in each node how many rows are ripe, and along the path of a row what each answer moves.

    `name` is what the description calls the row.
    """
    way = path_of(tree, row)
    ids, leaves, drawn = set(map(id, way)), itertools.count(), []

    def draw(node: Node, depth: int) -> float:
        """Draw a node and all that is below it, *no* on the left, and return where the node stands."""
        y, sides = 38 + 96 * depth, [(word, node.branches[word == "yes"]) for word in ("no", "yes") if node.branches]
        places = [draw(below, depth + 1) for _, below in sides]
        x = sum(places) / 2 if places else 44 + 98 * next(leaves)
        for (word, below), place in zip(sides, places):
            on_way, beside = id(below) in ids, ending if place < x else text
            words = f"{word} ({signed(below.value - node.value, '+.3g')})" if on_way else word
            drawn.append(line(x, y + 26, place, y + 70, stroke_width=3 if on_way else 1))
            away = 6 + abs(place - x) / 6  # the flatter a line, the farther
            drawn.append(beside((x + place) / 2 + (away if place > x else -away), y + 52, words))
        drawn.append(_share(node, x, y, 3 if id(node) in ids else 1))
        return x

    draw(tree, 0)
    told = "; ".join(f"{_counts(node)}{f', asked {_asked(node)}' if node.branches else ''}" for node in way)
    alt = f"A tree with the ripe melons in each node, and their share. On the path of {name}: {told}."
    return Picture(alt, (480, 364), "".join(drawn))


def _asked(node: Node) -> str:
    """The question of a node: texture clear?"""
    column, cut = node.question
    return f"{column} ≤ {cut:.4g}?" if isinstance(cut, float) else f"{column} {cut[0]}?"


def _counts(node: Node) -> str:
    """How many rows of a node are ripe, and their share: 1 of 8: 0.125."""
    n = weight(node.rows)
    return f"{n * node.value:.0f} of {n:.0f}: {node.value:.3g}"


def _share(node: Node, x: float, y: float, width: float) -> str:
    """A node of a tree of shares as a box: its question, and how many of its rows are ripe."""
    half = 74 if node.branches else 42
    box = rect(x - half, y - 26, 2 * half, 52, rx=6, **OUTLINE, stroke_width=width)
    if not node.branches:
        return box + centred(x, y + 5, _counts(node))
    return box + centred(x, y - 4, _asked(node)) + centred(x, y + 16, _counts(node))


def two_growers(trees: Mapping[str, Node]) -> Picture:
    """Trees of two questions side by side, each with one question below the answer yes, and the path of two yeses."""
    drawn, told = "", []
    for k, (name, tree) in enumerate(trees.items()):
        left, yes = 246 * k, tree.branches[False]
        last = yes.branches[False]
        moves = [yes.value - tree.value, last.value - yes.value]
        spots = [(108, 66), (42, 156), (148, 156), (104, 246), (190, 246)]
        x, y = zip(*((left + a, b) for a, b in spots))
        for a, b, word in ((0, 1, "no"), (0, 2, "yes"), (2, 3, "no"), (2, 4, "yes")):
            drawn += line(x[a], y[a] + 22, x[b], y[b] - 22, stroke_width=3 if word == "yes" else 1)
            side = ending if word == "no" else text
            drawn += side((x[a] + x[b]) / 2 + (8 if word == "yes" else -8), (y[a] + y[b]) / 2 + 5, word)
        drawn += centred(left + 108, 22, name)
        nodes = [tree, tree.branches[True], yes, yes.branches[True], last]
        for node, a, b in zip(nodes, x, y):
            drawn += _node(node, a, b)
        drawn += "".join(
            text(left + 2, 290 + 20 * i, f"{node.question[0]}: {move:+g}")
            for i, (node, move) in enumerate(zip((tree, yes), moves))
        )
        told.append(f"{name}: {tree.value:g}, then {yes.value:g}, then {last.value:g}")
    alt = f"Two trees with the mean price in each node; along the path of a sweet and heavy melon, {'; '.join(told)}."
    return Picture(alt, (480, 316), drawn)


def _node(node: Node, x: float, y: float) -> str:
    """A node as a box: its question and its mean, or its price."""
    box = rect(x - 38, y - 22, 76, 44, rx=6, **OUTLINE)
    if not node.branches:
        return box + centred(x, y + 5, f"price {node.value:g}")
    return box + centred(x, y - 3, f"{node.question[0]}?") + centred(x, y + 15, f"mean {node.value:g}")


def leaf_games(tree: Node, row: Row, part: Callable[[list[int], list[float]], Sequence[float]]) -> Picture:
    """A tree of two questions from left to right, and beside each leaf its o, its z and the part of each column.

    `part` gives the parts of the columns from their o and z, for a leaf of value 1.
    """
    yes = tree.branches[False]
    leaves = [(tree, True), (yes, True), (yes, False)]  # each by the node above it and its answer
    places = {id(tree): (38, 88), id(yes): (104, 176)}
    totals: dict[str, float] = dict.fromkeys((tree.question[0], yes.question[0]), 0)
    drawn, told = line(76, 88, 104, 154) + ending(80, 140, "yes"), []
    for k, (above, m) in enumerate(leaves):
        x, y = 196, 48 + 88 * k
        tests = [(tree, m)] if above is tree else [(tree, False), (yes, m)]
        o = [int(answer(row, node.question) == passed) for node, passed in tests]
        z = [(weight(node.branches[passed].rows), weight(node.rows)) for node, passed in tests]
        parts = above.branches[m].value * np.array(part(o, [a / b for a, b in z]))
        left, at = places[id(above)]
        drawn += (
            line(left + 38, at, x - 38, y) + _node(above.branches[m], x, y) + text(x - 36, y - 27, "no" if m else "yes")
        )
        for i, ((node, _), o_j, (a, b), phi) in enumerate(zip(tests, o, z, parts)):
            column = node.question[0]
            totals[column] += phi
            told.append(f"{column}: o = {o_j}, z = {a:g}/{b:g}, {signed(phi)}")
            drawn += text(x + 46, y - 4 + 20 * i, told[-1])
    drawn += "".join(_node(node, *places[id(node)]) for node in (tree, yes))
    sums = ", ".join(f"{column} {signed(total, '+g')}" for column, total in totals.items())
    drawn += text(x + 46, 284, f"in all: {sums}")
    return Picture(f"A tree of three leaves. {'; '.join(told)}. In all: {sums}.", (480, 292), drawn)


def two_orders(worth: Mapping[frozenset[str], float], columns: tuple[str, str]) -> Picture:
    """What two columns add in both orders, as bars along an axis of the worth, and below the means for each."""
    axis, everything = Chart((3.5, 9.5), (0, 1), (120, 0, 468, 10)), frozenset(columns)
    drawn, told = "", []
    nobody = worth[frozenset()]
    for k, order in enumerate((columns, columns[::-1])):
        y, middle = 44 + 52 * k, worth[frozenset(order[:1])]
        drawn += text(0, y + 17, ", ".join(order))
        for column, a, b in ((order[0], nobody, middle), (order[1], middle, worth[everything])):
            drawn += _piece(axis, columns.index(column), a, b, y, f"+{b - a:g}")
        told.append(f"{order[0]} {middle - nobody:g}, then {order[1]} {worth[everything] - middle:g}")
    for value in sorted(set(worth.values())):
        drawn += centred(axis.x(value), 22, f"{value:g}") + line(
            axis.x(value), 30, axis.x(value), 124, stroke_opacity=FAINT
        )
    for j, column in enumerate(columns):
        drawn += rect(120 + 130 * j, 136, 14, 14, **filled(j + 2), fill_opacity=BAR) + text(140 + 130 * j, 148, column)
    return Picture(f"Two bars in steps from {nobody:g} to {worth[everything]:g}. {'; '.join(told)}.", (480, 160), drawn)


def _piece(axis: Chart, j: int, a: float, b: float, y: float, word: str) -> str:
    """A step from a to b in the colour of column j, with its size in it."""
    bar = rect(axis.x(a), y, axis.x(b) - axis.x(a) - 2, 24, **filled(j + 2), fill_opacity=BAR)
    return bar + centred((axis.x(a) + axis.x(b)) / 2, y + 17, word)


class _Orders(Scene):
    """A row's columns become known in every order: what each adds in this order, and its mean over the orders so far.

    `value` gives the mean prediction for a set of known columns.
    """

    size = (480, 430)

    def __init__(self, games: Mapping[int, Mapping[frozenset[str], float]], columns: Sequence[str]) -> None:
        self.games, self.columns = games, list(columns)
        self.orders = list(itertools.permutations(columns))
        self.added = {name: self.changes(game) for name, game in games.items()}
        self.mean = {
            name: added.cumsum(axis=0) / np.arange(1, len(added) + 1)[:, np.newaxis]
            for name, added in self.added.items()
        }
        reach = 0.05 + max(float(np.abs(added).max()) for added in self.added.values())
        self.chain = Chart((0, 1), (0, 1), (100, 50, 468, 60))
        self.lane = Chart((-reach, reach), (0, 1), (100, 240, 468, 400))

    def changes(self, game: Mapping[frozenset[str], float]) -> NDArray[Any]:
        """What each column adds in each order, of shape (n_orders, n_columns)."""
        return np.array(
            [
                [game[frozenset(known := order[: order.index(j)]) | {j}] - game[frozenset(known)] for j in self.columns]
                for order in self.orders
            ]
        )

    def y(self, j: int) -> float:
        """The height of a column's lane below."""
        return 262 + 40 * j

    def background(self) -> str:
        ticks = "".join(
            line(self.chain.x(v), 44, self.chain.x(v), 52) + centred(self.chain.x(v), 38, number(v))
            for v in (0, 0.5, 1)
        )
        names = "".join(ending(88, self.y(j) + 5, column) for j, column in enumerate(self.columns))
        zero = self.lane.x(0)
        return (
            text(0, 18, "this order: the share of ripe, answer by answer")
            + ticks
            + line(100, 48, 468, 48)
            + text(0, 228, "what each adds: a dot for each order (large: this), bar: mean")
            + names
            + line(zero, 240, zero, 404)
            + "".join(
                centred(self.lane.x(v), 422, signed(v) if v else "0") + line(self.lane.x(v), 402, self.lane.x(v), 408)
                for v in (-0.5, 0, 0.5)
            )
        )

    def marks(self) -> dict[Any, str]:
        marks: dict[Any, str] = {}
        for j in range(len(self.columns)):
            for sign, kind in (("+", RIPE), ("−", UNRIPE)):
                marks[f"bar {j}{sign}"] = rect(0, -8, 1, 16, **filled(kind), fill_opacity=BAR)
            marks[f"mean {j}"] = line(0, -13, 0, 13, stroke_width=3)
        return marks

    def frame(self, name: int, k: int) -> State:
        order, game = self.orders[k - 1], self.games[name]
        shares = [game[frozenset(order[:i])] for i in range(len(order) + 1)]
        drawn = []
        for i, (before, after) in enumerate(zip(shares, shares[1:])):
            drawn.append(self.step(order[i], i, before, after))
        drawn += [self.dots(name, i) for i in range(k)] + [self.dots(name, k - 1, width=9)]
        places: Places = {}
        for j, value in enumerate(self.mean[name][k - 1]):
            left, right = sorted((self.lane.x(0), self.lane.x(value)))
            places[f"bar {j}{'+' if value > 0 else '−'}"] = (left, self.y(j), right - left, 1)
            places[f"mean {j}"] = (self.lane.x(value), self.y(j))
        return drawn, self.sentence(name, k), places

    def step(self, column: str, i: int, before: float, after: float) -> str:
        y, kind = 76 + 34 * i, RIPE if after > before else UNRIPE
        left, right = sorted((self.chain.x(before), self.chain.x(after)))
        bar = rect(left, y - 7, right - left, 14, **filled(kind), fill_opacity=BAR)
        end = self.chain.x(after)
        return ending(88, y + 5, column) + bar + line(end, y - 9, end, y + 9, stroke_width=3)

    def dots(self, name: int, i: int, width: float = 5) -> str:
        """What the columns add in order i: dots at the same place lie one above the other."""
        spots = [
            (round(self.lane.x(added)), self.y(j) + 4 * (i % 6) - 10) for j, added in enumerate(self.added[name][i])
        ]
        return path("".join(f"M{x},{y}h0" for x, y in spots), **OUTLINE, stroke_width=width, stroke_linecap="round")

    def sentence(self, name: int, k: int) -> str:
        means = ", ".join(
            f"{column} {signed(round(value, 2) + 0.0)}" for column, value in zip(self.columns, self.mean[name][k - 1])
        )
        order = ", ".join(self.orders[k - 1])
        return f"Melon {name}, order {k} of {len(self.orders)}: {order}. Mean so far: {means}."


def orders_explorer(
    games: Mapping[int, Mapping[frozenset[str], float]], columns: Sequence[str], turned: tuple[int, str]
) -> Explorable:
    """All orders in which the columns of some rows may become known, and the mean of what each column adds.

    `games` has, for each row, the mean prediction by the set of known columns. `turned` names a row and a column that
    adds something in some order, although it takes away on average: the reader looks for where it takes away most.
    """
    scene = _Orders(games, columns)
    row, column = turned
    added = scene.added[row][:, scene.columns.index(column)]
    is_least = added < added.min() + 1e-9
    first, n = next(iter(games)), len(scene.orders)
    owed = scene.mean[first][-1]
    most = int(np.abs(owed).argmax())
    return scene.explorable(
        title="In every order",
        alt=f"Above, the share of ripe melons for melon {first} as its {len(columns)} answers become known one after "
        "the other, a bar for each. Below, a lane for each column with a dot for what it adds in each of the "
        f"{n} orders, and a bar from zero to the mean of the dots: its Shapley value.",
        controls=[
            Choice("Melon", list(games)),
            Slider("Orders so far", range(1, n + 1), start=n, opens=1),
        ],
        found=lambda name, k: name == row and bool(is_least[k - 1]),
        guess=Choice(
            f"Your guess: over all {n} orders, to which answer does melon {first} owe most?",
            list(columns),
            answer=columns[most],
            truth=lambda guessed: (
                f"on average over the orders its {guessed} adds {signed(owed[columns.index(guessed)])}"
                + (", the most" if guessed == columns[most] else f", its {columns[most]} {signed(owed[most])}")
            ),
        ),
        challenge=f"The {column} of melon {row} adds to its share in some orders and takes away in others. Find an "
        "order in which it takes away most.",
    )


class _MadeUp(Scene):
    """All melons are given one value in a column: where they then lie, and beside them what the model predicts."""

    size = (480, 424)

    def __init__(self, model: BaseEstimator, X: pd.DataFrame, ripe: pd.Series, grid: Sequence[float]) -> None:
        self.X, self.ripe, self.grid = X, ripe, list(grid)
        self.still, self.column = map(str, X.columns)
        self.curves = np.array([self.shares(model, X.assign(**{self.column: value})) for value in grid])
        self.mean = self.curves.mean(axis=1)
        self.own = self.shares(model, X)
        self.plane = Chart(tenths(X[self.still]), (0, 0.5), (44, 40, 468, 340))
        self.curve = Chart(around(grid, 0.04), (0, 1), (44, 40, 468, 340))
        across = np.linspace(*self.plane.xlim, 25)
        up = np.linspace(*self.plane.ylim, 25)
        middles = np.array([[(a + b) / 2 for a, b in zip(edges, edges[1:])] for edges in (across, up)])
        cells = pd.DataFrame([(a, b) for b in middles[1] for a in middles[0]], columns=X.columns)
        is_ripe = (self.shares(model, cells) > 0.5).reshape(24, 24)
        self.shaded = "".join(self.plane.block(across[j : j + 2], up[i : i + 2]) for i, j in np.argwhere(is_ripe))

    def shares(self, model: BaseEstimator, X: pd.DataFrame) -> NDArray[Any]:
        return np.asarray(model.predict_proba(X))[:, 1]

    def background(self) -> str:
        xticks = np.arange(self.plane.xlim[0], self.plane.xlim[1] + 0.01, 0.2)
        return (
            region(RIPE, self.shaded)
            + self.plane.axes(xticks, np.arange(0, 0.51, 0.1), self.still, f"{self.column} that the melons are given")
            + ripe_and_unripe(350, 15)
            + text(0, 414, "shaded: called ripe; small rings: where they really lie")
        )

    def spots(self, values: Any) -> list[tuple[int, int]]:
        return self.plane.pixels(self.X[self.still], values)

    def marks(self) -> dict[Any, str]:
        """The melons, and their numbers: in them, or beside the line on which they lie close together."""
        marks: dict[Any, str] = {name: melon("", bool(ripe), radius=12) for name, ripe in self.ripe.items()}
        for name, ripe in self.ripe.items():
            marks["inside", name] = centred(0, 5, name, **({} if ripe else {"fill": "white"}))
            marks["beside", name] = centred(0, 5, name)
        return marks

    def numbers(self, spots: list[tuple[int, int]], is_line: bool) -> Places:
        """Where the numbers stand: in the melons, or, of neighbours on a line, in turn at four heights beside it."""
        if not is_line:
            return {("inside", name): spot for name, spot in zip(self.X.index, spots)}
        away = 1 if spots[0][1] < (self.plane.box[1] + self.plane.box[3]) / 2 else -1  # to where there is more room
        order = np.argsort(self.X[self.still], kind="stable").tolist()
        off = dict(zip(order, itertools.cycle(away * step for step in (-17, 17, 33, 49))))
        return {("beside", name): (x, y + off[n]) for n, (name, (x, y)) in enumerate(zip(self.X.index, spots))}

    def frame(self, given: Any) -> State:
        values = self.X[self.column] if given == OWN else np.full(len(self.X), given)
        spots, size = self.spots(values), 1 if given == OWN else 0.55
        places: Places = {name: (*spot, size) for name, spot in zip(self.X.index, spots)}
        places |= self.numbers(spots, given != OWN)
        ghosts = "".join(circle(*spot, 4, **OUTLINE, stroke_opacity=FAINT) for spot in self.spots(self.X[self.column]))
        return [] if given == OWN else [ghosts], self.sentence(given), places

    def at(self, given: Any) -> int:
        return self.grid.index(given)

    def falls(self, given: Any) -> bool:
        """Whether the mean falls from the value before to this one."""
        return given != OWN and self.at(given) > 0 and self.mean[self.at(given)] < self.mean[self.at(given) - 1] - 0.05

    def sentence(self, given: Any) -> str:
        if given == OWN:
            return f"The melons with their own {self.column}: the mean share of ripe votes is {self.own.mean():.2f}."
        i = self.at(given)
        shares = self.curves[i]
        return (
            f"With {self.column} {given:g} for all {len(self.X)} melons the mean share is {self.mean[i]:.2f}"
            f"{self.change(i)}; for single melons it lies between {shares.min():.2f} and {shares.max():.2f}."
        )

    def change(self, i: int) -> str:
        """How much the mean has risen or fallen since the value before."""
        if i == 0:
            return ""
        more = float(self.mean[i] - self.mean[i - 1])
        return f", {abs(more):.2f} {'less' if more < 0 else 'more'} than with {self.grid[i - 1]:g}"

    def beside(self) -> Panel:
        thin = {"stroke_width": 1, "stroke_opacity": FAINT}
        lines = "".join(self.curve.curve(self.grid, shares, **thin) for shares in self.curves.T)
        low = int(self.curves[-1].argmin())
        at = self.curve.at(self.grid[-1], self.curves[-1, low])
        lowest = ending(at[0], at[1] + 20, f"melon {self.X.index[low]}", style=HALO)
        names = "".join(
            self.curve.axes(self.grid[1::2], [0, 0.5, 1], self.column, "share of ripe votes; thick: the mean")
        )
        return Panel(
            f"The share of ripe votes against the {self.column}, a thin curve for each melon and a thick one for their "
            "mean. The curves lie far apart: some stay low throughout, others rise steeply.",
            self.size,
            names + element("g", lines + lowest, class_="answer"),
            self.traced,
            {name: melon("", bool(ripe), radius=7) for name, ripe in self.ripe.items()} | {"mean": circle(0, 0, 9)},
        )

    def traced(self, given: Any) -> tuple[list[str], Places]:
        if given == OWN:
            return [""], dict(zip(self.X.index, self.curve.pixels(self.X[self.column], self.own)))
        i = self.at(given)
        spots = self.curve.pixels(np.full(len(self.X), given), self.curves[i])
        so_far = self.curve.pixels(self.grid[: i + 1], self.mean[: i + 1])
        drawn = self.curve.curve(self.grid[: i + 1], self.mean[: i + 1], stroke_width=4)
        return [drawn], dict(zip(self.X.index, spots)) | {"mean": so_far[-1]}


def made_up_explorer(model: BaseEstimator, X: pd.DataFrame, ripe: pd.Series, grid: Sequence[float]) -> Explorable:
    """All rows get one value after the other in the second of two columns; beside them each one's prediction.

    `model` is fitted and gives shares of two classes; `ripe` says which rows are of the second.
    """
    scene = _MadeUp(model, X, ripe, grid)
    n_ripe, amounts = int((scene.curves[-1] > 0.5).sum()), ["all of them", "more than half", "fewer"]
    return scene.explorable(
        title="All melons equally sweet",
        alt=f"The {len(X)} melons as numbered circles, hollow if ripe, by {X.columns[0]} and {X.columns[1]}; all have "
        f"been given the same {X.columns[1]}, so they lie in one line. Small rings show where they really lie, many of "
        "them far away. The region where the model predicts ripe is shaded.",
        controls=[
            Slider(f"{X.columns[1].capitalize()} of all melons", [OWN, *scene.grid], start=scene.grid[-1], opens=OWN)
        ],
        found=lambda given: scene.falls(given),
        guess=Choice(
            f"Your guess: all get the most {X.columns[1]}, {scene.grid[-1]:g}. How many of the {len(X)} does the model "
            "call ripe then?",
            amounts,
            answer=amounts[0 if n_ripe == len(X) else 1 if 2 * n_ripe > len(X) else 2],
            truth=f"it calls {n_ripe} of {len(X)} ripe",
        ),
        challenge="Sweeter melons are riper, one would think. Find a step at which the mean falls instead.",
    )


@plotted
def plot_steps(x: pd.Series, is_ripe: pd.Series, models: Mapping[str, BaseEstimator]) -> None:
    """Rows of one column and the shares that models of it predict, a step curve for each."""
    ax = axes(str(x.name), "share of ripe melons", 3.2)
    grid = np.linspace(0, float(x.max()) + 0.02, 400)
    for (name, model), color, style in zip(models.items(), CLASS_COLORS[2:], ("-", "--")):
        shares = clone(model).fit(x.to_frame(), is_ripe).predict_proba(pd.DataFrame({x.name: grid}))[:, 1]
        ax.plot(grid, shares, color=color, linestyle=style, linewidth=2.5, label=name)
    ax.scatter(x, is_ripe.astype(float), color=CLASS_COLORS[5], s=18, zorder=3)
    ax.set(yticks=[0, 0.5, 1])
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)


@plotted
def plot_luck(table: pd.DataFrame) -> None:
    """A panel for each importance of columns without information: the mean over many tables, with its spread.

    `table` has a line for each column, and for each importance a column of means and one of spreads.
    """
    names = [name for name in table if not name.endswith(" spread")]
    _, panels = side_by_side(len(names), 3.2, sharey=True)
    place = np.arange(len(table))
    for ax, name, color in zip(panels, names, CLASS_COLORS):
        ax.barh(place, table[name], xerr=table[f"{name} spread"], color=color, alpha=0.7)
        ax.axvline(0, color="grey", linewidth=0.8)
        ax.set(title=name, yticks=place, yticklabels=table.index)
        ax.locator_params(axis="x", nbins=3)
    panels[0].invert_yaxis()


@plotted
def plot_beyond(real: pd.DataFrame, made_up: pd.DataFrame) -> None:
    """Real rows in two columns as dots, rows that partial dependence makes up as crosses, and the line of a circle."""
    ax = axes(str(real.columns[0]), str(real.columns[1]), 3.6)
    for rows, label, mark, color in ((real, "measured", ".", 0), (made_up, "made up", "x", 1)):
        ax.plot(*rows.to_numpy().T, mark, color=CLASS_COLORS[color], markersize=4, label=label)
    radius = np.array([real.iloc[:, 0].min(), real.iloc[:, 0].max()])
    ax.plot(radius, 2 * np.pi * radius, color=CLASS_COLORS[5], linestyle="--", label="a circle")
    ax.legend(frameon=False)
