"""The figures of the chapter on missing values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from figures.charts import Chart, Picture
from figures.explorable import Choice, Explorable, Places, Scene, Slider, State
from figures.looks import OUTLINE, centred, dot, in_class, small
from figures.melons import in_lines, listed, melon, melon_marks, melons_named, ripe_and_unripe
from figures.plots import plotted, side_by_side
from treekit.measures import information_gain
from treekit.models.c45 import C45Classifier
from treekit.pen.palette import BAR, CLASS_COLORS, RIPE, UNRIPE
from treekit.pen.svg import FAINT, circle, element, line, number, rect, text

STEPS = ["all melons", "known ones fall", "others poured"]
#: Where the rows without a reading go: nowhere yet, to one side, or to the better one.
WAIT, SIDES, STAY = "not yet", ("left", "right"), "the better side"
END = {"text_anchor": "end"}
WIDTH, PITCH = 400, 23.2  # of the drawing, and from one melon to the next
BAR_UNIT = 12  # pixels of a bar for a whole melon
ASKED, PIECES, DOWN = 180, 200, 25  # in a branch: the line of the share; the first of the pieces; from one to the next
RADIUS = 10  # of the disc of a whole row


def disc(x: float, y: float, name: str, k: int, share: float = 1.0) -> str:
    """A row of class k as a disc whose area is its weight: a whole row has its name inside, a share beside it."""
    drawn = in_class(k, circle(x, y, RADIUS * share**0.5))
    if share > 1 - 1e-9:
        style = f"fill: {('white', 'currentColor')[k % 2]}"
        return drawn + centred(x, y + 4.5, name, font_size=12.5, style=style)
    return drawn + text(x + RADIUS + 4, y + 5, f"{name}: {share:.3f}", font_size=14.5)


def _classes(labels: pd.Series) -> tuple[list[str], list[int]]:
    """The names of the classes in sorted order, and the number of each row's class."""
    names = sorted(labels.astype(str).unique())
    return names, [names.index(label) for label in labels.astype(str)]


def _legend(y: float) -> str:
    """What the circles mean."""
    return element("g", ripe_and_unripe(12, y - 5) + _ring(166, y - 5) + text(184, y, "no answer"), font_size=13)


def _ring(x: float, y: float) -> str:
    return circle(x, y, RADIUS + 3.5, **OUTLINE, stroke_width=1.5, stroke_dasharray="4 3")


def pieces_of(frame: pd.DataFrame, target: str, attribute: str) -> pd.DataFrame:
    """The class counts of the known rows for each answer, and the share of a row without an answer that it gets."""
    table = pd.crosstab(frame[attribute], frame[target].astype(str))
    return table.assign(share=table.sum(axis=1) / table.to_numpy().sum())


class _Question:
    """Rows before a question: all of them, the known ones in its branches, or the others poured after these, in pieces.

    The area of a piece is its share of the row, the length of a bar the weight of its branch. In each branch
    there is room for the pieces, where rings wait for them.
    """

    def __init__(self, frame: pd.DataFrame, target: str, attribute: str) -> None:
        most = int(frame.isna().sum().max())
        self.floor = PIECES + DOWN * most - 6  # of the branches
        self.size = (WIDTH, self.floor + 72)
        self.rows, self.answers, self.attribute = frame.index, frame[attribute], attribute
        self.table = pieces_of(frame, target, attribute)
        self.counts = self.table.drop(columns="share").to_numpy()
        self.gaps = frame.index[self.answers.isna()].tolist()
        self.width = WIDTH / len(self.table)
        self.middles = [self.width * (m + 0.5) for m in range(len(self.table))]
        self.at_top = {row: (14 + PITCH * i, 16) for i, row in enumerate(frame.index)}

    def frame(self, step: str) -> State:
        # A tap on a ring pours the melons out of it, or takes them back.
        tapped = {STEPS[0]: STEPS[1], STEPS[1]: STEPS[2], STEPS[2]: STEPS[1]}[step]
        rings = "".join(_ring(*self.at_top[row]) for row in self.gaps)
        if step == STEPS[2]:  # the melons have left them
            names = "".join(centred(self.at_top[row][0], self.at_top[row][1] + 5, row) for row in self.gaps)
            rings += element("g", names, font_size=13, opacity=0.6, pointer_events="none")
        parts = [element("g", rings, data_choose=tapped, pointer_events="all"), self.branches()]
        places: Places = dict(self.at_top)
        for m, (value, middle) in enumerate(zip(self.table.index, self.middles)):
            members = self.rows[self.answers == value].tolist()
            if step != STEPS[0]:
                places |= in_lines(members, middle, 124, min(int(self.width // PITCH), len(members)), PITCH, 24)
                n_known, left = int(self.counts[m].sum()), middle - self.width / 2 + 8
                poured = self.weights(step)[m] - n_known
                places[f"weight {m}"] = (left, self.floor + 30, n_known, 1)
                places[f"poured {m}"] = (left + BAR_UNIT * n_known, self.floor + 30, max(poured, 0.01), 1)
            for i, row in enumerate(self.gaps):
                share = self.table["share"].iloc[m] ** 0.5
                places[row, m] = (middle - 40, PIECES + DOWN * i, share) if step == STEPS[2] else self.at_top[row]
        if step != STEPS[0]:
            parts.append(self.weighed(step))
        if step == STEPS[2]:
            places = {key: place for key, place in places.items() if key not in self.gaps}  # only pieces are left
        return parts, self.sentence(step), places

    def weights(self, step: str) -> NDArray[np.float64]:
        """The weight of each branch: its known rows and, when these are poured, its pieces of the others."""
        n_poured = len(self.gaps) if step == STEPS[2] else 0
        return self.counts.sum(axis=1) + n_poured * self.table["share"].to_numpy()

    def branches(self) -> str:
        drawn = text(WIDTH / 2, 60, f"{self.attribute}?", font_weight="bold")
        for value, middle in zip(self.table.index, self.middles):
            drawn += line(WIDTH / 2, 66, middle, 86, stroke_opacity=FAINT) + text(middle, 101, str(value))
            left = middle - self.width / 2 + 4
            drawn += rect(left, 108, self.width - 8, self.floor - 108, **OUTLINE, stroke_opacity=FAINT)
        return element("g", drawn, text_anchor="middle", font_size=13)

    def weighed(self, step: str) -> str:
        """In each branch the share that it gets of a row without an answer; below, its weight."""
        drawn, n = "", int(self.counts.sum())
        for m, middle in enumerate(self.middles):
            n_known, share, weight = int(self.counts[m].sum()), self.table["share"].iloc[m], self.weights(step)[m]
            is_poured = step == STEPS[2]
            asked, was = f"{n_known}/{n} of each", f"{n_known} + {weight - n_known:.3f} = {weight:.3f}"
            drawn += centred(middle, ASKED, asked if is_poured else "how much?")
            for i, row in enumerate(self.gaps):
                y = PIECES + DOWN * i
                drawn += text(middle - 22, y + 5, f"{row}: {share:.3f}" if is_poured else f"{row}: ?")
                drawn += "" if is_poured else circle(middle - 40, y, RADIUS, **OUTLINE, stroke_dasharray="4 3")
            drawn += text(middle - self.width / 2 + 8, self.floor + 22, was if is_poured else f"weight {n_known}")
        return small(drawn)

    def sentence(self, step: str) -> str:
        sizes, n = self.counts.sum(axis=1), len(self.rows)
        n_known, without = int(sizes.sum()), melons_named(self.gaps)
        if step == STEPS[0]:
            return f"The {self.attribute} is known for {n_known} of {n} melons. It is missing in {without}."
        if step == STEPS[1]:
            fallen = listed([f"{size} {value}" for value, size in zip(self.table.index, sizes, strict=True)])
            return f"The {n_known} known melons lie in their branches: {fallen}. No branch yet for {without}."
        weights = " + ".join(f"{weight:.3f}" for weight in self.weights(step))
        divided = listed([f"{size}/{n_known} {value}" for value, size in zip(self.table.index, sizes, strict=True)])
        return (
            f"{without.capitalize()} are each divided as the {n_known} known ones are: {divided}. "
            f"The branches weigh {weights} = {n}."
        )


def _marks(frame: pd.DataFrame, target: str) -> dict[Any, str]:
    """The melons, below them the pieces of each that has a gap, and the bars of the branches."""
    is_ripe = frame[target] == "yes"
    columns = [column for column in frame.columns if column != target]
    n_branches = max(frame[column].nunique() for column in columns)
    looks = {"weight": {"fill_opacity": BAR}, "poured": {"fill_opacity": 2 * BAR}}
    marks: dict[Any, str] = {
        f"{kind} {m}": rect(0, 0, BAR_UNIT, 10, **look) for kind, look in looks.items() for m in range(n_branches)
    }
    for row in frame.index:
        of_row = max([frame[column].nunique() for column in columns if pd.isna(frame.loc[row, column])], default=0)
        marks |= {(row, m): in_class(RIPE if is_ripe[row] else UNRIPE, circle(0, 0, 10.5)) for m in range(of_row)}
    marks |= {row: melon(row, ripe, radius=10.5) for row, ripe in is_ripe.items()}
    return {key: element("g", mark, pointer_events="none") for key, mark in marks.items()}  # a tap reaches the ring


def question_explorer(frame: pd.DataFrame, target: str, first: str) -> Explorable:
    """Every attribute of the melons as a question, in three steps: all of them, the known ones, the others poured.

    `frame` is a table of categories with missing entries, with up to 17 rows, three answers to each attribute and
    three gaps in each. The reader guesses about `first`, with whose known melons the figure opens.
    """
    questions = {attribute: _Question(frame, target, attribute) for attribute in frame.columns.drop(target)}
    asked = questions[first]
    gap, largest, share = asked.gaps[0], asked.table["share"].idxmax(), float(asked.table["share"].max())
    amounts = {"nothing": 0, "a third": 1 / 3, "about half": 1 / 2, "all of it": 1}
    return Explorable(
        title="Where does a melon go that cannot answer?",
        alt=f"The melons as numbered circles, hollow if ripe, in the branches of the question about the {first}. "
        f"Dashed rings above mark the empty places of those whose {first} is missing: smaller circles of them lie in "
        f"every branch. {asked.sentence(STEPS[2])}",
        size=asked.size,
        background=_legend(asked.size[1] - 10),
        marks=_marks(frame, target),
        controls=[
            Choice("Ask about", list(questions), start=first),
            Slider("Step", STEPS, start=STEPS[2], opens=STEPS[1]),
        ],
        frame=lambda attribute, step: questions[attribute].frame(step),
        guess=Choice(
            f"Your guess: the {first} of melon {gap} is missing. How much of it should go to the branch “{largest}”?",
            list(amounts),
            answer=min(amounts, key=lambda words: abs(amounts[words] - share)),
            truth=f"{share:.3f} of it goes there, since that is the share of the known melons in this branch",
        ),
        stagger=20,
        found=lambda attribute, step: (
            step == STEPS[2] and questions[attribute].table["share"].round(9).duplicated().any()
        ),
        challenge="Tap a dashed ring, or press Play. Then look for a question that makes two of a melon's "
        "pieces equally large.",
    )


def _placed(mark: str, place: Sequence[float]) -> str:
    """Draw a mark at (x, y) or, a factor larger, at (x, y, size) or (x, y, width, height), where nothing moves."""
    x, y, width, height = map(number, [*place, *[1, 1][: 4 - len(place)]] if len(place) != 3 else [*place, place[2]])
    return element("g", mark, transform=f"translate({x},{y}) scale({width},{height})")


def shared_out(frame: pd.DataFrame, target: str, attribute: str) -> Picture:
    """The last step of :func:`question_explorer` for one attribute, with the known melons faint behind the pieces."""
    question = _Question(frame, target, attribute)
    parts, sentence, places = question.frame(STEPS[2])
    marks = _marks(frame, target)
    drawn = {key: _placed(marks[key], place) for key, place in places.items()}
    known = element("g", "".join(drawn.pop(row) for row in frame.index if row in drawn), opacity=FAINT)
    alt = f"The question about the {attribute}: known melons faint in its branches, below them the pieces of others as"
    drawing = _legend(question.size[1] - 10) + "".join(parts) + known + "".join(drawn.values())
    return Picture(f"{alt} small circles, with their shares. {sentence}", question.size, drawing)


def fraction_tree(model: C45Classifier, X: pd.DataFrame, y: pd.Series) -> Picture:
    """A small tree as an indented list; beside each leaf its rows, whole or in shares, as discs of that area."""
    tree = model.tree_
    code, names = _classes(y)[1], [str(name) for name in X.index]
    shares = tree.membership(X).toarray()
    drawing, nodes = "", list(tree.walk())
    for place, node in enumerate(nodes):
        baseline = 24 + 26 * place
        words = "" if node.parent is None else f"{node.branch}: "
        words += str(node.label) if node.is_leaf else f"{node.question}?"
        weight = "normal" if node.is_leaf else "bold"
        drawing += text(20 * node.depth, baseline, words, font_weight=weight)
        x = 236
        for i in np.flatnonzero(shares[:, node.id]):
            drawing += disc(x, baseline - 5, names[i], code[i], shares[i, node.id])
            x += 27 if shares[i, node.id] > 1 - 1e-9 else 96
        if node.is_leaf and x == 236:
            drawing += text(x - RADIUS, baseline, "empty", fill_opacity=2 * FAINT)
    divided = listed([names[i] for i in np.flatnonzero((shares > 0).sum(axis=1) > 1)])
    alt = (
        f"The tree as an indented list of {len(nodes)} nodes, beside each leaf its rows as discs. Rows {divided} stand "
        "in several leaves, as smaller discs with their shares; every other row stands whole in one leaf."
    )
    return Picture(alt, (372, 26 * len(nodes) + 12), drawing)


def surrogate_plane(frame: pd.DataFrame, kind: Sequence[str], split: float, surrogate: float) -> Picture:
    """Rows in the plane of two columns, the first of which has gaps, with the split on it and the surrogate split."""
    (split_name, x), (name, y) = ((column, frame[column]) for column in frame)
    classes, code = _classes(pd.Series(kind))
    plane = Chart((x.min() - 0.15, x.max() + 0.15), (y.min() - 0.2, y.max() + 0.2), (44, 66, 464, 266))
    is_known = x.notna().to_numpy()
    points = "".join(in_class(code[i], dot(plane.x(x.iloc[i]), plane.y(y.iloc[i]))) for i in np.flatnonzero(is_known))
    unknown = "".join(
        line(44, plane.y(y.iloc[i]), 464, plane.y(y.iloc[i]), stroke_dasharray="2 5")
        + text(plane.x(split) + 6, plane.y(y.iloc[i]) - 6, f"{frame.index[i]}: {split_name}?")
        for i in np.flatnonzero(~is_known)
    )
    cuts = line(plane.x(split), 56, plane.x(split), 266, stroke_width=3) + line(
        44, plane.y(surrogate), 464, plane.y(surrogate), stroke_width=2, stroke_dasharray="8 5"
    )
    words = text(plane.x(split) + 6, 68, f"{split_name} = {split:.2f}")
    words += text(46, plane.y(surrogate) - 7, f"{name} = {surrogate:.2f}")
    legend = "".join(
        in_class(k, circle(12 + 130 * k, 14, 6)) + text(26 + 130 * k, 19, label) for k, label in enumerate(classes)
    )
    ticks = [number for number in (4.5, 5, 5.5) if x.min() < number < x.max()]
    axes = plane.axes(ticks, [1.5, 2, 2.5], f"{split_name} (cm)", f"{name} (cm)")
    alt = (
        f"{int(is_known.sum())} flowers as dots, {name} against {split_name}. A vertical line at {split:.2f} separates "
        f"the two kinds; a dashed level line at {surrogate:.2f} separates them but for one flower. A dotted level line "
        f"shows the flower whose {split_name} is missing: it lies below the dashed line."
    )
    return Picture(alt, (480, 316), legend + axes + points + unknown + cuts + words)


class _Sides(Scene):
    """Rows on a line by their reading, and those without one, which try both sides of a cut."""

    size, stagger = (400, 360), 60
    lane, floor, height = 92, 326, 130  # of the melons; of the chart of the gains, for 0.6 bits

    def __init__(self, readings: pd.Series, is_ripe: Sequence[bool]) -> None:
        self.readings, self.ripe = readings, pd.Series(is_ripe, index=readings.index)
        self.gaps = readings.index[readings.isna()].tolist()
        known = np.sort(readings.dropna().unique())
        self.cuts = [float(t) for t in ((known[1:] + known[:-1]) / 2).round(9)]
        self.gains = {
            t: {side: information_gain(self.goes_left(t, side), self.ripe) for side in SIDES} for t in self.cuts
        }
        self.plane = Chart((known[0], known[-1]), (0, 0.6), (76, self.floor - self.height, 324, self.floor))

    def goes_left(self, t: float, side: str) -> pd.Series:
        """Which rows lie on the left of a cut, if those without a reading go to one side."""
        return (self.readings <= t) | (self.readings.isna() & (side == SIDES[0]))

    def better(self, t: float) -> str:
        return max(SIDES, key=self.gains[t].__getitem__)

    def side(self, t: float, gaps: str) -> str:
        """Where the rows without a reading are: nowhere yet, on the side that is tried, or on the better one."""
        return self.better(t) if gaps == STAY else gaps

    def background(self) -> str:
        drawn = text(150, 33, "no reading:", text_anchor="end")
        drawn += "".join(_ring(*spot) for spot in self.spots(""))
        drawn += line(66, self.lane + 20, 334, self.lane + 20, stroke_opacity=FAINT)
        for value in (0.1, 0.2, 0.3):
            drawn += centred(self.plane.x(value), self.lane + 36, f"{value:.1f}")
        drawn += text(4, self.lane + 36, "sugar") + text(4, self.floor - self.height - 12, "gain in bits")
        for gain in (0, 0.3, 0.6):
            drawn += self.plane.level(gain, stroke_opacity=FAINT) + text(62, self.plane.y(gain) + 5, f"{gain}", **END)
        key = _arrow(SIDES[0], 96, 346) + text(108, 351, "gaps left") + _arrow(SIDES[1], 196, 346)
        key += text(208, 351, "gaps right")
        return small(drawn + key)

    def marks(self) -> dict[Any, str]:
        cut = line(0, 56, 0, self.lane + 20, stroke_width=2) + line(0, 190, 0, self.floor, stroke_dasharray="3 4")
        ring = circle(0, 0, 12, **OUTLINE, stroke_width=2)
        return {"cut": cut, "ring": ring, **melon_marks(self.ripe)}

    def spots(self, side: str) -> list[tuple[float, float]]:
        """Where the rows without a reading lie."""
        n = len(self.gaps)
        if side == "":
            return [(176 + 30 * i, 28) for i in range(n)]
        first = 12 if side == SIDES[0] else 400 - 12 - 23 * (n - 1)
        return [(first + 23 * i, self.lane) for i in range(n)]

    def frame(self, t: float, gaps: str) -> State:
        side = "" if gaps == WAIT else self.side(t, gaps)
        places: Places = {row: (self.plane.x(value), self.lane) for row, value in self.readings.dropna().items()}
        places |= dict(zip(self.gaps, self.spots(side), strict=True))
        places["cut"] = (self.plane.x(t), 0)
        if not side:
            return (
                [],
                f"Cut at {t:.3f}. {melons_named(self.gaps).capitalize()} cannot say on which side they lie.",
                places,
            )
        places["ring"] = self.plane.at(t, self.gains[t][side])
        shown = SIDES if gaps == STAY else (side,)
        parts = [element("g", self.points(one), class_="answer") for one in shown]
        parts.append(element("g", self.counted(t, side), class_="answer", font_size=13))
        return parts, self.sentence(t, gaps, side), places

    def points(self, side: str) -> str:
        """The gain of every cut with the gaps on one side."""
        return "".join(_arrow(side, *self.plane.at(t, self.gains[t][side])) for t in self.cuts)

    def counted(self, t: float, side: str) -> str:
        """The melons on either side of the cut."""
        left = self.goes_left(t, side)
        counts = [f"{self.ripe[on].sum()} ripe, {(~self.ripe[on]).sum()} unripe" for on in (left, ~left)]
        drawn = text(4, self.lane + 60, f"left: {counts[0]}") + text(396, self.lane + 60, f"right: {counts[1]}", **END)
        x, y = self.plane.at(t, self.gains[t][side])
        return drawn + centred(x, y - 17, f"{self.gains[t][side]:.3f}", font_weight="bold")

    def sentence(self, t: float, gaps: str, side: str) -> str:
        left, right = (self.gains[t][one] for one in SIDES)
        who = melons_named(self.gaps)
        if gaps != STAY:
            return f"Cut at {t:.3f}, {who} on the {side}: a gain of {self.gains[t][side]:.3f} bits."
        both = f"{left:.3f} bits with {who} on the left, {right:.3f} on the right"
        return f"Cut at {t:.3f}: {both}. They stay on the {side}."


def _arrow(side: str, x: float, y: float) -> str:
    """A triangle that points to a side, hollow to the left, full to the right."""
    towards = -7 if side == SIDES[0] else 7
    look = {**OUTLINE, "stroke_width": 2} if side == SIDES[0] else {}
    corners = f"M{number(x + towards)},{number(y)}L{number(x - towards)},{number(y - 7)}v14z"
    return element("path", d=corners, **look)


def side_explorer(readings: pd.Series, is_ripe: Sequence[bool]) -> Explorable:
    """Rows without a reading try both sides of every cut, and stay where the gain is higher."""
    scene = _Sides(readings, is_ripe)
    best = max(scene.cuts, key=lambda t: max(scene.gains[t].values()))
    right = [t for t in scene.cuts if scene.better(t) == SIDES[1]]
    gains = {t: " against ".join(f"{scene.gains[t][side]:.3f}" for side in SIDES) for t in scene.cuts}
    others = [f"{t:.3f} ({gains[t]} bits)" for t in scene.cuts if t not in right]
    return scene.explorable(
        title="Two melons try both sides",
        alt=f"{len(readings)} melons, hollow if ripe. {len(readings) - len(scene.gaps)} lie on a line by their sugar, "
        f"divided by an upright cut; two without a reading lie at the end of its better side. Below, two triangles for "
        f"each cut show the gain with the gaps left and right. {scene.frame(best, STAY)[1]}",
        controls=[
            Slider("Cut", scene.cuts, start=best, opens=scene.cuts[0], show="{:.3f}"),
            Choice("The two melons", [WAIT, *SIDES, STAY], start=STAY, opens=WAIT),
        ],
        guess=Choice(
            f"Your guess: for how many of the {len(scene.cuts)} cuts is it better to send both to the right?",
            list(range(len(scene.cuts) + 1)),
            answer=len(right),
            truth=f"only the cut at {listed(others)} gains more with both on the left",
        ),
        found=lambda t, gaps: t == best and gaps != WAIT and scene.side(t, gaps) == scene.better(best),
        challenge="Send them left, then right. Which cut, with them on which side, gains most of all?",
    )


@plotted
def plot_with_holes(runs: pd.DataFrame) -> None:
    """Accuracy of each method (rows) for each kind of holes (panels): every run as a dot, their mean as a bar.

    `runs` has the columns holes, method and accuracy.
    """
    kinds, methods = runs["holes"].unique(), runs["method"].unique()
    figure, side = side_by_side(len(kinds), sharex=True, sharey=True)
    for ax, kind in zip(side, kinds, strict=True):
        for place, method in enumerate(methods):
            accuracy = runs.loc[(runs["holes"] == kind) & (runs["method"] == method), "accuracy"]
            ax.plot(accuracy, np.full(len(accuracy), place), "o", markersize=4, alpha=0.4, color=CLASS_COLORS[0])
            ax.plot([accuracy.mean()] * 2, [place - 0.3, place + 0.3], color="black", linewidth=2)
        ax.set(title=kind.replace(" ", "\n"), yticks=range(len(methods)), yticklabels=methods)
        ax.xaxis.set_major_locator(MaxNLocator(2))
    side[0].invert_yaxis()
    figure.supxlabel("accuracy on test rows", fontsize="medium")
