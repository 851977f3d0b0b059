"""The figures of the chapter on bagging and random forests."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from figures.charts import Chart, Picture, Spot, tenths, ticks
from figures.cover import Bin, grown
from figures.explorable import Choice, Explorable, Panel, Places, Scene, Slider, State
from figures.looks import (
    DIVIDE,
    GROUND,
    OUTLINE,
    centred,
    ending,
    filled,
    grip,
    in_class,
    painted,
    path,
    ringed,
    stroked,
)
from figures.melons import listed, melon_marks, melons_named, ripe_and_unripe
from treekit.measures import information_gain
from treekit.models.random_forest import RandomForestClassifier
from treekit.pen.palette import BAR, GAIN, REGION, RIPE, UNRIPE
from treekit.pen.svg import FAINT, circle, element, line, number, rect, text

NOBODY = "none"
RIPENESS = ("unripe", "ripe")
GUESSES = ["none", "one or two", "more"]
OF_FORTY = ["hardly any", "about half", "nearly all"]
BOTH, ONE = "both columns", "one at random"
WAYS = {BOTH: None, ONE: 1}  # how many columns a split draws
STEP, PITCH, MELONS = 31, 28, 214  # pixels from line to line and from melon to melon of an outline; where melons begin
N_TREES = (1, 2, 3, 5, 10, 20, 40)
TREES = Slider("Trees", list(N_TREES), start=N_TREES[-1], opens=1)
VOTES = (1, 2, 3, 4, 5, 10, 20, 40)  # of trees that have not seen a melon
N_LEFT_OUT = 100  # trees that have not seen a melon
OF_MOST, OF_REST = 5, 10  # with how many votes the pieces of a bar are explained
OUTLINED = (OF_MOST, OF_REST, VOTES[-1])
N_RUNS = 6  # other runs, which tell whether a difference is more than chance
STAYS: dict[str, Any] = {"fill_opacity": 0.7}  # the looks of the two parts of a squared error
SHRINKS = filled(4)
SHORTER = "it becomes the shorter one"
OF_LOWER = {  # what becomes of the lower bar, and what to watch
    "it stays the longer one": "add trees, and compare what the draw adds with what it takes",
    "both end up equally long": "add trees, and compare the parts that do not shrink",
    SHORTER: "add trees, and watch which part of a bar shrinks, and which does not",
    "both shrink to nothing": "add trees: one part of a bar does not shrink",
}
LACKING = 0.4  # opacity of a melon that a sample lacks
RADIUS = 13  # of a melon that a sample holds once: its number has 11 pixels on a phone
N_CELLS = 40  # of the grid over each axis on which votes are counted
SHADES = (0.12, 0.32, 0.5, 0.68, 0.88)  # shares of votes between which the shade changes; a tie is unripe, as a vote
OF_VOTE = "full colour: 9 trees in 10 agree; paler: fewer"
OF_SAMPLE = "large: drawn twice or more; faint: not drawn"
OF_MARKS = "ringed: classified wrong; ×: a new melon"


# -- one melon less -------------------------------------------------------------------------------------------------


class _Eaten(Scene):
    """The trees that ID3 grows on all melons and on all but one, as outlines whose leaves hold the melons."""

    stagger = 20

    plate = (452, 20)  # where the eaten melon lies
    bars = (386, 88, 88)  # where the bars of two gains begin, and how long the longest is

    def __init__(self, melons: pd.DataFrame, target: str) -> None:
        self.is_ripe, self.names = melons[target] == "yes", {str(name): name for name in melons.index}
        self.tables = {NOBODY: melons, **{eaten: melons.drop(index=name) for eaten, name in self.names.items()}}
        # The gain of each attribute at the root; of equal ones the first is the largest, as ID3 chooses.
        self.gains = {
            eaten: pd.Series(
                {name: information_gain(table[name], table[target]) for name in table.columns.drop(target)}
            )
            for eaten, table in self.tables.items()
        }
        roots = {eaten: grown(table, target, self.gains[eaten].idxmax()) for eaten, table in self.tables.items()}
        self.outlines = {eaten: _outline(root) for eaten, root in roots.items()}
        self.rivals = list(self.gains[NOBODY].nlargest(2).index)
        self.turned = [eaten for eaten in self.tables if self.gains[eaten].idxmax() != self.rivals[0]]

    def frame(self, eaten: str) -> State:
        parts, places = [self.twigs(eaten), self.changed(eaten)], Places()
        for i, (depth, node) in enumerate(self.outlines[eaten]):
            y = 26 + STEP * i
            words = escape(node.answer)
            if node.question:
                question = element("tspan", f"{node.question}?", font_weight="bold")
                words = (f"{words}: " if words else "") + question
            parts.append(element("text", words, x=4 + 20 * depth, y=y))
            if not node.question:
                parts.append(self.leaf_box(node.rows, y))
                places |= {row: (MELONS + PITCH * k, y - 5) for k, row in enumerate(node.rows)}
        if eaten != NOBODY:
            places[self.names[eaten]] = (*self.plate, 1, 1, 0.4)
        return [*parts, self.gain_bars(eaten)], self.sentence(eaten), places

    def twigs(self, eaten: str) -> str:
        """The lines that join each node to the one above it."""
        drawn, rows = "", dict[int, float]()  # of the newest node of each depth
        for i, (depth, _) in enumerate(self.outlines[eaten]):
            rows[depth] = 21 + STEP * i
            if depth:
                drawn += f"M{20 * depth - 8},{rows[depth - 1] + 10}V{rows[depth]}h8"
        return path(drawn, **OUTLINE, stroke_opacity=FAINT)

    def content(self, node: Bin) -> tuple[Any, ...]:
        """The way to a node, and its question or the class of its rows."""
        return *node.answers, node.question or bool(self.is_ripe[node.rows[0]])

    def changed(self, eaten: str) -> str:
        """Shade the nodes that are others than on all melons, and say so."""
        known = {self.content(node) for _, node in self.outlines[NOBODY]}
        rows = [i for i, (_, node) in enumerate(self.outlines[eaten]) if self.content(node) not in known]
        if not rows:
            return ""
        blocks = ""
        for i in rows:
            depth, node = self.outlines[eaten][i]
            end = MELONS + 4 if node.question else MELONS - 18
            blocks += f"M{20 * depth},{7 + STEP * i}H{end}v28H{20 * depth}z"
        x, y = self.bars[0], self.bars[1] + 140
        words = "".join(text(x, y + 18 * k, line) for k, line in enumerate(("shaded:", "not in the", "tree of all")))
        return path(blocks, fill_opacity=REGION) + words

    def gain_bars(self, eaten: str) -> str:
        """What the question of the whole table gains, and what the second best does; the larger is green."""
        x, y, longest = self.bars
        scale = longest / max(gains[self.rivals].max() for gains in self.gains.values())
        gains, drawn = self.gains[eaten], text(x, y - 18, "gains:", font_weight="bold")
        for k, name in enumerate(self.rivals):
            look = {**filled(GAIN), "fill_opacity": BAR} if name == gains.idxmax() else {"fill_opacity": 2 * REGION}
            bar = rect(x, y + 52 * k + 10, round(gains[name] * scale), 20, **look)
            drawn += text(x, y + 52 * k + 4, name) + bar + text(x + 5, y + 52 * k + 26, f"{gains[name]:.3f}")
        return drawn

    def leaf_box(self, rows: list[Any], y: float) -> str:
        """Behind the melons of a leaf, the colour of its class."""
        kind = RIPE if self.is_ripe[rows[0]] else UNRIPE
        return rect(MELONS - 16, y - 19, PITCH * len(rows) + 3, 28, rx=14, **painted(kind), fill_opacity=REGION)

    def sentence(self, eaten: str) -> str:
        own, rival = self.rivals
        gains, n = self.gains[eaten], len(self.tables[eaten])
        gone = "With all" if eaten == NOBODY else f"Without melon {eaten}, of"
        n_leaves = sum(not node.question for _, node in self.outlines[eaten])
        return (
            f"{gone} {n} melons the first question is {gains.idxmax()}: {own} gains {gains[own]:.3f} bits, {rival} "
            f"{gains[rival]:.3f}. The tree has {n_leaves} leaves."
        )


def eaten_explorer(melons: pd.DataFrame, target: str) -> Explorable:
    """The tree that ID3 grows on all melons, or on all but one: an outline whose leaves hold the melons.

    `melons` is a table of words with the labels yes and no in `target`. At rest one melon is eaten with which the root
    asks another question; the script begins with all of them.
    """
    trees = _Eaten(melons, target)
    rest, (x, _) = trees.turned[0], trees.plate
    right = min((len(trees.turned) + 1) // 2, 2)

    def verdict(guessed: str) -> str:
        """Without the number: the reader is about to look for one of them."""
        k = GUESSES.index(guessed)
        return "eat them until you have found one" if k == right else f"there are {'more' if k < right else 'fewer'}"

    return trees.explorable(
        title="Somebody eats a melon",
        alt=f"A tree as an outline. Its root asks about {trees.gains[rest].idxmax()}; each further question is a line "
        "below it, and each leaf a line with its melons as numbered circles, hollow if ripe. "
        f"Melon {rest} lies apart, pale: it has been eaten. Shaded are the lines that the tree of all melons does not "
        f"have. Two bars are the gains of {' and '.join(trees.rivals)}.",
        size=(480, 30 + STEP * max(map(len, trees.outlines.values()))),
        background=ending(x - 24, 25, "eaten:"),
        marks={
            name: element("g", mark, data_choose=str(name)) for name, mark in melon_marks(trees.is_ripe, RADIUS).items()
        },
        controls=[Slider("Eaten", list(trees.tables), start=rest, opens=NOBODY)],
        found=lambda eaten: eaten in trees.turned,
        guess=Choice(
            "Your guess: how many melons are there without which the first question changes?",
            GUESSES,
            answer=GUESSES[right],
            truth=verdict,
        ),
        challenge="Tap a melon to eat it. Find one without which the first question changes.",
    )


def _outline(node: Bin, depth: int = 0) -> list[tuple[int, Bin]]:
    """A tree's nodes from the top down, each with its depth; branches without a row are left out."""
    below = (line for child in node.children if child.rows for line in _outline(child, depth + 1))
    return [(depth, node), *below]


# -- votes over the plane -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Grown:
    """What trees predict, a row for each tree: shares of the second class on the grid, at the point, for the rows.

    `in_bag` counts how often the table of each tree holds each row.
    """

    on_grid: NDArray[np.float64]
    at_point: NDArray[np.float64]
    on_rows: NDArray[np.float64]
    in_bag: NDArray[np.intp]

    def only(self, m: int) -> _Grown:
        """Tree m alone, counted from 1."""
        one = slice(m - 1, m)
        return _Grown(self.on_grid[one], self.at_point[one], self.on_rows[one], self.in_bag[one])


class _Votes(Scene):
    """Bagged trees on two columns of numbers: the newest alone, with its sample, and beside it the vote of all so far.

    A cross marks a new point; the votes are shaded.
    """

    size = (440, 476)
    bottom = 386  # of the map

    second_alt = (
        f"The same map with the vote of {N_TREES[-1]} trees: overlapping rectangles in six shades, from all votes for "
        "unripe to all for ripe, and a thick line of steps between the majorities."
    )

    def __init__(self, X: pd.DataFrame, y: pd.Series, point: Spot) -> None:
        self.X, self.y, self.point = X, y, point
        self.plane = Chart(tenths(X.iloc[:, 0]), tenths(X.iloc[:, 1]), (44, 56, 424, self.bottom))
        self.spots = self.plane.pixels(*X.to_numpy(float).T)
        self.is_ripe = (y == np.unique(y)[1]).to_numpy()
        self.grown = self.grow()
        self.done = next((m for m in N_TREES if not self.wrong(self.grown, m).any()), None)

    def grow(self) -> _Grown:
        edges = [np.linspace(*limits, N_CELLS + 1) for limits in (self.plane.xlim, self.plane.ylim)]
        middles = np.meshgrid(*((ends[1:] + ends[:-1]) / 2 for ends in edges))
        cells = np.stack(middles, axis=-1).reshape(-1, 2)
        new = pd.DataFrame(np.vstack([cells, [self.point], self.X]), columns=self.X.columns)
        forest = RandomForestClassifier(N_TREES[-1], max_features=None, oob_score=True, random_state=0)
        forest.fit(self.X, self.y)
        share = np.array([tree.predict_proba(new)[:, 1] for tree in forest.estimators_])
        on_grid, at_point, on_rows = np.split(share, [len(cells), len(cells) + 1], axis=1)
        return _Grown(on_grid.reshape(-1, N_CELLS, N_CELLS), at_point[:, 0], on_rows, forest.in_bag_)

    def background(self) -> str:
        xticks, yticks = (ticks(*limits, 4) for limits in (self.plane.xlim, self.plane.ylim))
        return self.plane.axes(xticks, yticks, *map(str, self.X)) + ripe_and_unripe(308, 37)

    def marks(self) -> dict[Any, str]:
        cross = '<path d="M-7,-7l14,14M-7,7l14,-14" stroke="currentColor" stroke-width="4"/>'
        return melon_marks(dict(zip(self.X.index, self.is_ripe)), RADIUS) | {"new": cross}

    def votes(self, grown: _Grown, m: int) -> int:
        """How many of the first m trees predict ripe at the point."""
        return int(grown.at_point[:m].sum())

    def wrong(self, grown: _Grown, m: int) -> NDArray[np.bool_]:
        """Which rows the first m trees, voting, classify wrongly; a tie goes to the first class, as in treekit."""
        return (grown.on_rows[:m].mean(axis=0) > 0.5) != self.is_ripe

    def wrong_names(self, grown: _Grown, m: int) -> str:
        return melons_named(self.X.index[self.wrong(grown, m)])

    def levels(self, grown: _Grown, m: int) -> NDArray[np.intp]:
        """The shade of each cell under the vote of the first m trees, from 0 (all for unripe) to 5 (all for ripe)."""
        return np.digitize(grown.on_grid[:m].mean(axis=0), SHADES, right=True)

    def map(
        self, title: str, grown: _Grown, m: int, counts: NDArray[np.intp] | None = None
    ) -> tuple[list[str], Places]:
        """The shades of a vote, rings around the rows that it gets wrong, and the places of the rows and the cross.

        With the counts of a sample, the areas of the rows grow with how often it holds them.
        """
        held = np.ones(len(self.X), dtype=int) if counts is None else counts
        sizes, wrong = np.sqrt(np.maximum(held, 1)), self.wrong(grown, m)
        places: Places = dict(zip(self.X.index, self.spots))
        if counts is not None:
            rows = zip(self.X.index, self.spots, sizes, held)
            places = {name: (*spot, size, size, 1 if n else LACKING) for name, spot, size, n in rows}
        places["new"] = self.plane.at(*self.point)
        rings = [(*self.spots[n], RADIUS * sizes[n] + 4) for n in np.flatnonzero(wrong)]
        shown = OF_VOTE if counts is None else OF_SAMPLE
        key = "".join(text(0, self.bottom + 66 + 18 * i, words) for i, words in enumerate((shown, OF_MARKS)))
        title = text(0, 16, title, font_weight="bold")
        return [title, key, _shades(self.plane, self.levels(grown, m)), ringed(rings) if rings else ""], places

    def frame(self, m: int) -> State:
        own, counts = self.grown.only(m), self.grown.in_bag[m - 1]
        parts, places = self.map(f"tree {m} alone", own, 1, counts)
        sentence = (
            f"Tree {m} alone, whose table lacks {np.sum(counts == 0)} of the {len(counts)} melons, gets "
            f"{self.wrong_names(own, 1)} wrong and predicts {RIPENESS[int(own.at_point[0] > 0.5)]} at the cross. "
        )
        if m == 1:
            return parts, f"{sentence}So far it is the whole vote.", places
        votes = f"{self.votes(self.grown, m)} of {m} vote{'s' * (self.votes(self.grown, m) == 1)} ripe at the cross"
        vote = f"The vote gets {self.wrong_names(self.grown, m)} wrong; {votes}."
        return parts, f"{sentence}{vote} {self.moved(m)}", places

    def moved(self, m: int) -> str:
        """How much of either map has changed since the number of trees before."""
        before = N_TREES[N_TREES.index(m) - 1]
        maps = [
            [self.levels(self.grown.only(k), 1) > 2 for k in (before, m)],
            [self.levels(self.grown, k) > 2 for k in (before, m)],
        ]
        one, vote = (np.mean(then != now) for then, now in maps)
        return f"Since tree {before} the first map has changed on {one:.0%}, the second on {vote:.0%}."

    def second(self, m: int) -> tuple[list[str], Places]:
        return self.map("the vote so far", self.grown, m)

    def beside(self) -> Panel:
        return Panel(self.second_alt, self.size, self.background(), self.second, self.marks())


def forest_explorer(X: pd.DataFrame, y: pd.Series, point: tuple[float, float]) -> Explorable:
    """Bagged trees on two columns of numbers: beside the newest tree alone, the vote of all so far.

    `y` has two classes; `point` is a new row, marked by a cross. Each row of `X` should differ from all others, so that
    every leaf is pure and a tree's class shares are its vote. The newest tree is shown with the table that it has grown
    on: a row is the larger the more often its sample holds it, and faint where the sample does not. Rows that are
    classified wrongly are ringed. The second class is the one that counts as ripe.
    """
    votes = _Votes(X, y, point)
    n_trees, n_ripe = N_TREES[-1], votes.votes(votes.grown, N_TREES[-1])
    return votes.explorable(
        title="Tree after tree",
        alt=f"A map of {X.columns[0]} and {X.columns[1]} with {len(X)} numbered melons. A thick line of steps "
        f"separates the region where tree {N_TREES[-1]} alone predicts ripe from the rest. Some melons are large, "
        "because the tree's table holds them twice or more, others faint, because it lacks them. Ringed ones it gets "
        "wrong.",
        controls=[TREES],
        found=lambda m: m == votes.done,
        guess=Choice(
            f"Your guess: of {n_trees} trees, how many predict ripe at the cross?",
            OF_FORTY,
            answer=OF_FORTY[min(3 * n_ripe // n_trees, 2)],
            truth=f"there {n_ripe} of {n_trees} predict ripe",
        ),
        challenge="How far does the line jump from tree to tree? Find the smallest vote that gets no melon wrong.",
    )


class _LeftOut(Scene):
    """The squared error of M votes about unseen rows as a bar for each way to split, a mean over the rows.

    A share p of the trees that are grown without a row is wrong about it. Two trees are wrong together with probability
    p²: the first part of a bar, with a piece for each row. One is wrong alone with p(1 − p); M divides this part.
    """

    size = (440, 312)
    tops, high = {BOTH: 108, ONE: 182}, 34  # where the bars lie, and how high they are
    longest, zoom = 430, 5  # in pixels, and how much longer the changes are drawn
    takes, adds = 272, 294  # where the changes lie

    def __init__(self, X: pd.DataFrame, y: pd.Series) -> None:
        self.is_ripe = y == np.unique(y)[1]
        first, *others = (self.run(X, y, seed) for seed in range(1 + N_RUNS))
        self.p = first.sort_values(BOTH, ascending=False, kind="stable")
        self.most = self.p.index[self.p[BOTH] > 0.5]  # which most trees get wrong
        self.together, self.alone = (self.p**2).mean(), (self.p * (1 - self.p)).mean()
        self.scale = self.longest / self.p.mean().max()
        # What the draw takes from the part that stays: less about these rows, more about the rest.
        self.taken = self.together[BOTH] - self.together[ONE]
        of_most = self.p.loc[self.most] ** 2
        self.less = (of_most[BOTH] - of_most[ONE]).sum() / len(self.p)
        self.more = self.less - self.taken
        self.pays = pays_from(first) or VOTES[-1]
        self.elsewhere = [pays_from(p) or "never" for p in others]

    def run(self, X: pd.DataFrame, y: pd.Series, seed: int) -> pd.DataFrame:
        """The shares of both forests, with the same samples in both."""
        return pd.DataFrame({way: self.wrong(X, y, q, seed) for way, q in WAYS.items()})

    def wrong(self, X: pd.DataFrame, y: pd.Series, q: int | None, seed: int) -> pd.Series:
        """For each row the share of the trees, grown on all others, that are wrong about it."""
        shares = {row: left_out(X, y, row, q, seed).predict_proba(X.loc[[row]])[0] for row in X.index}
        return 1 - pd.Series({row: share[int(self.is_ripe[row])] for row, share in shares.items()})

    def more_alone(self, m: int) -> float:
        """By how much the draw lengthens the part that the number of votes divides."""
        return (self.alone[ONE] - self.alone[BOTH]) / m

    def background(self) -> str:
        key = text(0, 16, "p: share of the trees that get an unseen melon wrong")
        key += swatch(0, 40, STAYS, "wrong together: mean of p², by melon number")
        names = "".join(text(0, y - 8, f"a split sees {way}") for way, y in self.tops.items())
        return key + names + "".join(self.pieces(way) for way in WAYS)

    def widths(self, way: str) -> pd.Series:
        """How long the pieces are of the rows that most trees get wrong, and of the rest."""
        widths = self.scale * self.p[way] ** 2 / len(self.p)
        named = widths[self.most].rename(str)
        return pd.concat([named, pd.Series({"rest": widths.sum() - named.sum()})])

    def pieces(self, way: str) -> str:
        """The part of a bar that stays, with a named piece for each of these."""
        y, widths = self.tops[way], self.widths(way)
        ends = widths.cumsum()
        drawn = rect(0, y, ends.iloc[-1], self.high, **STAYS)
        for name, width, end in zip(widths.index, widths, ends):
            drawn += line(end, y, end, y + self.high, style=DIVIDE)
            drawn += centred(end - width / 2, y + 22, name, style=GROUND, font_size=13.6, letter_spacing=-1)
        return drawn

    def marks(self) -> dict[Any, str]:
        heights = {**dict.fromkeys(WAYS, self.high), "adds": 16}
        marks: dict[Any, str] = {name: rect(0, 0, 1, high, **SHRINKS) for name, high in heights.items()}
        marks["upper"] = line(0, 0, 0, self.high + 8, stroke_dasharray="5 4", stroke_width=2)
        return marks

    def frame(self, m: int) -> State:
        totals = swatch(0, 64, SHRINKS, f"wrong alone: mean of p(1 − p), divided by M = {m}")
        places, errors = Places(), self.errors(m)
        for (way, y), error in zip(self.tops.items(), errors):
            places[way] = (self.scale * self.together[way], y, self.scale * self.alone[way] / m, 1)
            totals += ending(440, y - 8, f"mean squared error {error:.3f}", font_weight="bold")
        upper = self.scale * errors[0]
        places["upper"] = (upper, self.tops[ONE] - 4)
        totals += ending(upper, self.tops[ONE] + self.high + 18, "end of the upper bar")
        if m > 1:
            places["adds"] = (0, self.adds, self.zoom * self.scale * self.more_alone(m), 1)
            totals += self.changes(m)
        return [totals, self.outline(m)], self.sentence(m), places

    def changes(self, m: int) -> str:
        """What the draw takes from one part, and how much it adds to the other."""
        drawn = text(0, self.takes - 8, f"what drawing a column changes, {self.zoom} times as long")
        drawn += rect(0, self.takes, self.zoom * self.scale * self.taken, 16, **STAYS)
        for y, does, change in ((self.takes, "takes", self.taken), (self.adds, "adds", self.more_alone(m))):
            drawn += text(self.zoom * self.scale * change + 6, y + 13, f"{does} {change:.3f}")
        return drawn

    def outline(self, m: int) -> str:
        """A frame around the pieces that the sentence speaks of."""
        if m not in OUTLINED:
            return ""
        drawn = ""
        for way, y in self.tops.items():
            *named, rest = self.widths(way)
            x, width = (sum(named), rest) if m == OF_REST else (1, sum(named))
            drawn += rect(x, y - 2, width, self.high + 4, stroke_width=3, **OUTLINE)
        return drawn

    def errors(self, m: int) -> list[float]:
        """The mean squared error of m votes, with both columns and with one drawn."""
        return squared_errors(self.p, m).mean().to_list()

    def sentence(self, m: int) -> str:
        both, one = self.errors(m)
        adds = f"{self.more_alone(m):.3f} to “wrong alone”"
        if m == 1:
            return f"The error of one vote is the share of wrong trees: {one:.3f}, not {both:.3f}."
        if m == OF_MOST:
            return self.about_most()
        if m == OF_REST:
            return self.about_rest()
        if m == VOTES[-1]:
            return (
                f"With {m} votes the draw adds only {adds}. What it takes from “wrong together” stays taken: "
                f"{self.less:.3f} for {melons_named(self.most)}, minus {self.more:.3f} for the rest, is "
                f"{self.taken:.3f}. Trees that see one column err more often, but less often together."
            )
        told = (
            f"With {m} votes the draw {'adds only' if m >= self.pays else 'still adds'} {adds} and takes "
            f"{self.taken:.3f} from “wrong together”"
        )
        if m < self.pays:
            why = " Other votes dilute a mistake that one makes alone, not one that they share." if m == 2 else ""
            return f"{told}: the lower bar is still the longer one.{why}"
        if m == self.pays:
            return f"{told}, which M does not divide. So the lower bar becomes the shorter one."
        return f"{told}. In {N_RUNS} other runs the lower bar is shorter from {listed(self.elsewhere)} votes on."

    def about_most(self) -> str:
        """Why the draw takes from what stays."""
        wrong = {way: listed((N_LEFT_OUT * p).round().astype(int).tolist()) for way, p in self.p.loc[self.most].items()}
        return (
            "Why does the draw take anything from “wrong together”? With both columns the trees are alike and share "
            f"mistakes: of {N_LEFT_OUT} trees {wrong[BOTH]} get {melons_named(self.most)} wrong. Of those "
            f"that see one, {wrong[ONE]} do. That takes {self.less:.3f}."
        )

    def about_rest(self) -> str:
        """What it adds there."""
        change = self.p[ONE] - self.p[BOTH]
        return (
            "About the rest, trees that see one column are wrong more often: the shares p rise by "
            f"{change.drop(self.most).sum():.2f} in all, while those of {melons_named(self.most)} fall by "
            f"{-change[self.most].sum():.2f}. Yet the mean of the squares rises only by "
            f"{self.more:.3f}, less than {self.less:.3f}, because small shares have small squares."
        )


def left_out(X: pd.DataFrame, y: pd.Series, row: Any, q: int | None, seed: int) -> RandomForestClassifier:
    """A forest that has not seen a row."""
    forest = RandomForestClassifier(N_LEFT_OUT, max_features=q, random_state=seed)
    return forest.fit(X.drop(index=row), y.drop(index=row))


def pays_from(p: pd.DataFrame) -> int | None:
    """From how many votes on the draw of a column makes the squared error smaller."""
    errors = {m: squared_errors(p, m).mean() for m in range(1, VOTES[-1] + 1)}
    return next((m for m, error in errors.items() if error[ONE] < error[BOTH]), None)


def squared_errors(p: Any, m: float) -> Any:
    """The squared error of m votes on average, where a vote is wrong with the probability p."""
    return p**2 + p * (1 - p) / m


def swatch(x: float, y: float, look: Mapping[str, Any], words: str) -> str:
    """A square of a key, and what it means."""
    return rect(x, y - 12, 14, 14, **look) + text(x + 22, y, words)


def column_explorer(X: pd.DataFrame, y: pd.Series) -> Explorable:
    """Two forests by the votes about each row of trees that have not seen it: when does the draw of a column pay?

    The splits of one forest see both columns, those of the other one drawn at random. A tree has the same sample in
    both, so that nothing but the draw of columns sets the two apart. The words are for rows with which a tree that
    draws is wrong more often, but two of them less often together.
    """
    scene = _LeftOut(X, y)
    both, one = scene.errors(1)
    return scene.explorable(
        title="One column at random",
        alt="Two bars for the squared error of many votes, the upper one where a split sees both columns, the lower "
        "one where it sees one at random. Nearly all of either is the part that stays, divided into pieces for the "
        f"melons. The lower bar is shorter, and so are its pieces for {melons_named(scene.most)}. Below them, drawn "
        "longer, what the draw takes from the part that stays, and the little that it adds to the other.",
        controls=[Slider("Trees that vote, M", VOTES, start=VOTES[-1], opens=1)],
        found=lambda m: m == VOTES[-1],
        guess=Choice(
            "Where each split sees one column, drawn at random, a tree is wrong more often: "
            f"{one:.3f}, not {both:.3f}. Your guess: what becomes of the lower bar as more and more trees vote?",
            list(OF_LOWER),
            answer=SHORTER,
            truth=lambda guessed: OF_LOWER[guessed or SHORTER],
        ),
        challenge=f"Add trees, up to {VOTES[-1]}. Does the order of the two bars change, and why?",
    )


def _runs(values: NDArray[Any]) -> list[tuple[int, int]]:
    """Where runs of equal entries, or of equal rows, begin and how long they are."""
    changes = (values[1:] != values[:-1]).reshape(len(values) - 1, -1).any(axis=1)
    starts = [0, *(np.flatnonzero(changes) + 1).tolist(), len(values)]
    return [(start, stop - start) for start, stop in itertools.pairwise(starts)]


def _shades(plane: Chart, level: NDArray[np.intp]) -> str:
    """Cells of a grid in the colour of the class with more votes, stronger for more; a thick line separates the two.

    The paths count in cells, from the lower left corner, and a box covers all equal cells of equal rows: that keeps
    them short.
    """
    boxes: dict[int, str] = {}
    for i, height in _runs(level):
        for j, width in _runs(level[i]):
            boxes[int(level[i, j])] = boxes.get(int(level[i, j]), "") + f"M{j},{i}h{width}v{height}h{-width}z"
    drawn = ""
    for k in sorted(boxes):
        look = {**filled(RIPE if k > 2 else UNRIPE), "fill_opacity": (0.5, 0.22, 0.08)[min(k, 5 - k)]}
        drawn += path(boxes[k], **look)
    drawn += path(_border(level), **OUTLINE, stroke_width=2, vector_effect="non-scaling-stroke")
    return _on_grid(plane, drawn, shape_rendering="crispEdges")


def _border(level: NDArray[np.intp]) -> str:
    """The steps between the cells of either class."""
    steps, is_ripe = "", level > 2
    for i, height in _runs(is_ripe):
        steps += "".join(f"M{j + 1},{i}v{height}" for j in np.flatnonzero(is_ripe[i, 1:] != is_ripe[i, :-1]))
        turns = is_ripe[i] != is_ripe[max(i - 1, 0)]
        steps += "".join(f"M{j},{i}h{width}" for j, width in _runs(turns) if turns[j])
    return steps


def _on_grid(plane: Chart, drawn: str, **look: Any) -> str:
    """Draw what counts in the cells of the grid, from the lower left corner."""
    left, top, right, bottom = plane.box
    cell = f"{number((right - left) / N_CELLS)} {number((top - bottom) / N_CELLS)}"
    place = f"translate({number(left)} {number(bottom)}) scale({cell})"
    return element("g", drawn, transform=place, **look)


# -- pictures that stand still --------------------------------------------------------------------------------------


def samples_and_cuts(samples: pd.DataFrame, is_yes: NDArray[np.bool_], n_below: list[int]) -> Picture:
    """Bootstrap samples, one a row of `samples`, as dots over the rows that they hold, and the cut of each one's stump.

    The columns of `samples` are the table's rows in the order of the number that is cut; `n_below[m]` is how many of
    them lie below the cut of sample m.
    """
    step = 50
    left, top = 92, 40
    drawn = text(0, 20, "melon") + "".join(centred(left + step * j, 20, name) for j, name in enumerate(samples))
    words = []
    for i, (tree, counts) in enumerate(samples.iterrows()):
        base = top + 52 * i + 40
        drawn += line(64, base + 9, 470, base + 9, stroke_opacity=0.17) + text(0, base, str(tree))
        for j, n in enumerate(counts):
            dots = "".join(circle(left + step * j, base - 4 - 15 * c, 5.5) for c in range(n))
            drawn += in_class(int(is_yes[j]), dots) if n else ""
        x = left + step * (n_below[i] - 0.5)
        drawn += line(x, base + 5, x, base - 42, stroke_width=3)
        held = ", ".join(f"{name} {n} times" if n > 1 else f"{name} once" for name, n in counts.items() if n)
        words.append(f"{tree} holds {held}; its cut lies after melon {samples.columns[n_below[i] - 1]}")
    alt = f"{len(samples)} rows of dots, one dot each time a melon was drawn, and a thick line where the stump cuts. "
    return Picture(alt + ". ".join(words) + ".", (480, top + 52 * len(samples) + 6), drawn)


def errors_by_split(errors: pd.DataFrame) -> Picture:
    """Dots for the error of each model, a column of `errors`, on each split, a row; last the means, larger."""
    top = float(np.ceil(50 * errors.to_numpy().max()) / 50)
    rows = [*errors.iterrows(), ("mean", errors.mean())]
    # Names of more than three models stand two in a line.
    in_line, wide = (3, 120) if errors.shape[1] <= 3 else (2, 180)
    head = 14 + 20 * -(-errors.shape[1] // in_line)
    plane = Chart((0, top), (len(rows), 0), (60, head, 464, head + 24 * len(rows)))
    step = 0.02 if top < 0.15 else 0.05
    drawn = plane.axes(np.arange(0, top + 1e-9, step).round(2), [], "share of the test rows classified wrongly", "")
    for i, (name, row) in enumerate(rows):
        y, radius = plane.y(i + 0.5), 5 if i < len(errors) else 7
        drawn += ending(50, y + 5, name)
        drawn += line(plane.x(row.min()), y, plane.x(row.max()), y, stroke_opacity=0.35)
        drawn += "".join(in_class(k, circle(plane.x(error), y, radius)) for k, error in enumerate(row))
    drawn += ending(50, 19, "split")
    for k, name in enumerate(errors):
        x, y = 120 + wide * (k % in_line), 14 + 20 * (k // in_line)
        drawn += in_class(k, circle(x, y, 5)) + text(x + 12, y + 5, str(name))
    words = "; ".join(f"{name} {error:.3f}" for name, error in errors.mean().items())
    alt = f"Dots for the share of test rows classified wrongly, on {len(errors)} splits. The means: {words}."
    return Picture(alt, (480, head + 24 * len(rows) + 52), drawn)


class _Variance(Scene):
    """The variance of a mean of trees as two blocks, the floor and what more trees shrink, on its curve."""

    size = (480, 352)

    numbers = (1, 2, 3, 4, 6, 10, 20, 50, 100)
    correlations = tuple(k / 10 for k in range(11))
    plane = Chart((0, 2), (0, 1), (68, 66, 460, 296))

    @staticmethod
    def shares(rho: float, m: float) -> tuple[float, float]:
        """The two terms of the formula, in variances of one tree."""
        return rho, (1 - rho) / m

    def at(self, rho: float, m: float) -> Spot:
        """Where the curve of this correlation has this many trees."""
        return self.plane.at(float(np.log10(m)), sum(self.shares(rho, m)))

    def halves(self, rho: float, m: int) -> bool:
        return sum(self.shares(rho, m)) < 0.5 + 1e-9

    @property
    def most_alike(self) -> tuple[float, int]:
        """The largest correlation at which some number of trees halves the variance, and the least such number."""
        pairs = itertools.product(self.correlations, self.numbers)
        return max((pair for pair in pairs if self.halves(*pair)), key=lambda pair: (pair[0], -pair[1]))

    def background(self) -> str:
        below = "".join(centred(self.plane.x(np.log10(m)), 315, m) for m in (1, 2, 5, 10, 20, 50, 100))
        for share in (0, 0.5, 1):
            below += self.plane.level(share, stroke_opacity=FAINT / 2)
            below += ending(48, self.plane.y(share) + 5, f"{share:g}", font_weight="bold" if share == 0.5 else "normal")
        key = rect(2, 6, 14, 14, fill_opacity=BAR) + text(22, 18, "floor ρσ²")
        key += rect(120, 6, 14, 14, **OUTLINE) + text(140, 18, "shrinks: (1 − ρ)σ²/M")
        name = text(0, 48, "variance of the mean, in σ²")
        return key + name + below + centred(264, 340, "number of trees M")

    def marks(self) -> dict[Any, str]:
        return {"now": circle(0, 0, 7) + grip(self.size[0])}

    def frame(self, rho: float, m: int) -> State:
        x, y, floor, base = map(round, (*self.at(rho, m), self.plane.y(rho), self.plane.y(0)))
        # To a tenth of a pixel: there are many curves.
        spots = (self.at(rho, m) for m in np.logspace(0, 2, 29))
        curve = path("M" + "L".join(f"{x:.0f},{y:.1f}" for x, y in spots), **OUTLINE, stroke_width=2)
        always = self.plane.level(rho, stroke_dasharray="6 4")
        blocks = path(f"M{x - 13},{base}V{floor}h26V{base}z", fill_opacity=BAR)
        blocks += path(f"M{x - 13},{floor}V{y}h26V{floor}z", **OUTLINE)
        return [element("g", curve + always, class_="answer"), blocks], self.sentence(rho, m), {"now": (x, y)}

    def sentence(self, rho: float, m: int) -> str:
        floor, rest = self.shares(rho, m)
        trees = f"{m} trees" if m > 1 else "1 tree"
        more = "More trees change nothing." if rho == 1 else f"More trees bring it closer to {floor:.2f}."
        return (
            f"Correlation {rho:.1f}, {trees}: the mean has {floor:.2f} + {rest:.3f} = {floor + rest:.3f} of the "
            f"variance of one tree. {more}"
        )


def variance_explorer() -> Explorable:
    """The variance of an average by the correlation of two trees and their number; dragged, the curve bends."""
    scene = _Variance()
    offered = {f"{m} trees": m for m in (2, 10, 100)}
    none, half = "no number does", 0.5
    middle = [scene.plane.y(rho) for rho in scene.correlations]
    return scene.explorable(
        title="The floor of an average",
        alt="A curve of the variance of a mean over its number of trees, from 1 to 100. It falls from the variance of "
        "one tree towards a dashed line, the floor, at the correlation of two trees. At one number of trees a bar "
        "below the curve is divided into the floor and the part that more trees shrink.",
        controls=[
            Slider(
                "Correlation ρ",
                scene.correlations,
                start=0.3,
                opens=half,
                show="{:.1f}",
                points=[(0, y) for y in middle],
            ),
            Slider(
                "Trees M",
                scene.numbers,
                start=10,
                opens=1,
                points=[(scene.plane.x(float(np.log10(m))), 0) for m in scene.numbers],
            ),
        ],
        guess=Choice(
            "Your guess: two trees have the correlation 0.5. How many trees halve the variance?",
            [*offered, none],
            answer=next((words for words, m in offered.items() if scene.halves(half, m)), none),
            truth=f"the floor alone is {half:.0%}, and {offered['100 trees']} trees still have "
            f"{sum(scene.shares(half, 100)):.1%}",
        ),
        found=lambda rho, m: (rho, m) == scene.most_alike,
        challenge="Drag the dot: to the right are more trees, further down less alike ones. Halve the variance with "
        "trees as much alike as possible. How few of them are enough?",
    )


def variance_curves(forests: Mapping[str, tuple[float, float, Mapping[int, float]]], last: int = 64) -> Picture:
    """Variance of a forest's answer against its number of trees, both axes logarithmic.

    `forests` gives each name the variance of one tree, the correlation of two, and measured variances by number of
    trees.
    """
    low, high = np.log2(0.002), np.log2(0.125)
    plane = Chart((0, np.log2(last)), (low, high), (56, 40, 376, 300))
    drawn = line(56, 300, 376, 300)
    for m in (1, 2, 4, 8, 16, 32, 64):
        x = plane.x(np.log2(m))
        drawn += line(x, 300, x, 305) + centred(x, 321, m)
    for tick in (0.1, 0.05, 0.02, 0.01, 0.005, 0.002):
        y = plane.y(np.log2(tick))
        drawn += line(56, y, 376, y, stroke_opacity=0.17) + ending(48, y + 5, f"{tick:g}")
    drawn += centred(216, 342, "trees (each tick doubles them)") + text(0, 20, "variance of the answer")
    sizes = np.arange(1, last + 1)
    for k, (name, (variance, correlation, measured)) in enumerate(forests.items()):
        curve = np.log2(correlation * variance + (1 - correlation) * variance / sizes)
        drawn += plane.curve(np.log2(sizes), curve, **stroked(k), stroke_dasharray=("none", "8 4", "2 4")[k])
        dots = plane.dots(np.log2(list(measured)), np.log2(list(measured.values())))
        drawn += element("g", dots, **filled(k)) + text(382, plane.y(curve[-1]) + 5, name)
    ends = [(name, v, rho * v + (1 - rho) * v / last) for name, (v, rho, _) in forests.items()]
    alt = (
        f"Curves of the variance over the number of trees, from 1 to {last}, on logarithmic axes, that fall and "
        "flatten: "
        + "; ".join(f"{name}, from {first:.3f} to {end:.4f}" for name, first, end in ends)
        + ". Dots, the measured variances, lie close to the curves."
    )
    return Picture(alt, (480, 352), drawn)


def error_by_trees(errors: Mapping[str, NDArray[Any]], one_tree: float) -> Picture:
    """Share of wrong answers against the number of trees, one curve a name, and the line of one tree alone."""
    n_trees = len(next(iter(errors.values())))
    top = float(np.ceil(50 * max(one_tree, *(np.nanmax(e) for e in errors.values()))) / 50)
    plane = Chart((0, n_trees), (0, top), (48, 40, 380, 282))
    ticks = [k / 50 for k in range(round(50 * top) + 1)]
    drawn = plane.axes(range(0, n_trees + 1, 10), ticks, "trees", "share of wrong answers")
    drawn += plane.level(one_tree, stroke_dasharray="2 4") + text(386, plane.y(one_tree) + 5, "one tree")
    for k, error in enumerate(errors.values()):
        drawn += plane.curve(range(1, n_trees + 1), error, **stroked(k), stroke_dasharray=("none", "7 4")[k])
    place = 0.0
    for name, error in sorted(errors.items(), key=lambda item: -item[1][-1]):  # from the top, a line apart
        place = max(plane.y(error[-1]) + 5, place + 17)
        drawn += text(386, place, name)
    words = "; ".join(f"{name}, {e[0]:.3f} after 1 tree, {e[-1]:.3f} after {n_trees}" for name, e in errors.items())
    alt = f"The share of wrong answers over the number of trees. {words}. A dotted line is one tree alone,"
    return Picture(f"{alt} {one_tree:.3f}.", (480, 332), drawn)


def importance_bars(table: pd.DataFrame) -> Picture:
    """Two bars for each column of a data set, a row of `table`: its importance in the two columns of `table`."""
    low, high = min(0.0, float(table.min().min())), float(table.max().max())
    scale = 330 / (high - low)
    zero = 120 - low * scale
    drawn = line(zero, 30, zero, 40 + 34 * len(table))
    for k, name in enumerate(table.columns):
        drawn += element("g", rect(120 + 170 * k, 6, 14, 12), **_bar(k)) + text(140 + 170 * k, 17, str(name))
    for i, (name, row) in enumerate(table.iterrows()):
        y = 40 + 34 * i
        drawn += ending(76, y + 18, name)
        for k, value in enumerate(row):
            bar = rect(zero + min(value, 0) * scale, y + 12 * k, abs(value) * scale, 11)
            drawn += element("g", bar, **_bar(k))
    kinds = " and ".join(str(name) for name in table.columns)
    words = "; ".join(f"{name}: {row.iloc[0]:.3f} and {row.iloc[1]:.3f}" for name, row in table.iterrows())
    alt = f"Two bars for each of {len(table)} columns: {kinds}. {words}."
    return Picture(alt, (480, 50 + 34 * len(table)), drawn)


def _bar(k: int) -> dict[str, Any]:
    """The second kind of bar is hollow, for readers who do not see the colours."""
    return {**painted(k), "fill_opacity": (1, 0)[k], "stroke_width": 1.5}
