"""The figures of the chapter on C4.5."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from figures.charts import Chart, Picture, overlap
from figures.explorable import Choice, Explorable, Places, Scene, State
from figures.looks import HALO, LINE, centred, ending, filled, small
from figures.melons import in_lines, listed, melon_marks, ripe_and_unripe
from figures.plots import axes, plot_columns, plotted
from treekit.measures import gain_ratio, information_gain, split_information
from treekit.pen.palette import BAR, CLASS_COLORS, GAIN
from treekit.pen.svg import FAINT, circle, element, line, rect, text


def price_bars(frame: pd.DataFrame, attributes: Sequence[str]) -> Picture:
    """All rows of `frame` as one bar for each of some attributes, cut where its values divide the rows; the price."""
    left, right, n = 92, 400, len(frame)
    drawing = ending(480, 18, "price (bits)")
    descriptions = []
    for i, attribute in enumerate(attributes):
        y, start = 30 + LINE * i, float(left)
        counts = frame[attribute].value_counts().sort_values(ascending=False)
        price = split_information(frame[attribute])
        drawing += text(0, y + 15, str(attribute))
        for count in counts:
            width = (right - left) * count / n
            drawing += rect(start, y, width - 2, 20, fill_opacity=FAINT)
            if width > 24:
                drawing += centred(start + width / 2 - 1, y + 15, count)
            start += width
        drawing += ending(480, y + 15, f"{price:.3f}")
        descriptions.append(f"{attribute} into {len(counts)} pieces, {price:.3f} bits")
    alt = f"One bar of {n} rows for each attribute, cut into a piece for each value: {'; '.join(descriptions)}."
    return Picture(alt=alt, size=(480, 36 + LINE * len(attributes)), drawing=drawing)


PITCH, COLUMN = 22.5, 18.0  # pixels from one melon to the next, and between the bars of single melons
WIDTH, GROUND, BIT = 408, 312, 60  # of the drawing; where a price of 0 is; and pixels for each bit
NO_QUESTION = "nothing yet"
FOR_BRANCHES = 310  # pixels of the width; the axis, the price and the gain stand beside them
BARS = {"price": 354.5, "gain": 388}  # the middles of their bars


class Branch(NamedTuple):
    """A branch of a question: its answer, its rows, and its bar from `left` on, which its price makes high."""

    answer: str
    rows: list[Any]
    left: float
    width: float
    price: float


def _branches(column: pd.Series) -> list[Branch]:
    """The branches of a question side by side, the largest first; single melons stand closer."""
    rows = {str(value): column.index[column == value].tolist() for value in column.unique()}
    prices = {value: float(np.log2(len(column) / len(of))) for value, of in rows.items()}
    if len(rows) == len(column):
        return [Branch(v, of, 4 + COLUMN * i, COLUMN - 1, prices[v]) for i, (v, of) in enumerate(rows.items())]
    rows = dict(sorted(rows.items(), key=lambda item: -len(item[1])))
    widths = [max(40, PITCH * -(-len(of) // 2), 7.4 * max(map(len, value.split()))) + 2 for value, of in rows.items()]
    gap = min(30.0, (FOR_BRANCHES - sum(widths)) / len(rows))
    left = (FOR_BRANCHES - sum(widths) - gap * (len(rows) - 1)) / 2
    branches = []
    for (value, of), width in zip(rows.items(), widths, strict=True):
        branches.append(Branch(value, of, left, width, prices[value]))
        left += width + gap
    return branches


class _Prices(Scene):
    """The melons on the bars of their branches' prices; beside them the mean of these, and the gain."""

    stagger = 20

    def __init__(self, X: pd.DataFrame, y: pd.Series) -> None:
        self.X, self.n, self.ripe, self.measured = X, len(X), y == "yes", _measured(X, y)

    def marks(self) -> dict[Any, str]:
        """A bar of one bit for each price, for their mean and for the gain; and the melons."""
        n_bars = max(self.X[attribute].nunique() for attribute in self.X)
        marks: dict[Any, str] = {f"price {m}": rect(0, 0, 1, BIT, fill_opacity=FAINT) for m in range(n_bars)}
        marks["price"], marks["gain"] = rect(0, 0, 1, BIT, fill_opacity=BAR), rect(0, 0, 1, BIT, **filled(GAIN))
        return marks | melon_marks(self.ripe)

    def background(self) -> str:
        most = int(np.log2(self.n))
        words = ((350, 17, "price"), (388, 17, "gain"), (369, 32, "in bits"), (320, -BIT * most - 34, "bits"))
        names = "".join(text(x, GROUND + y, word) for x, y, word in words)
        for bit in range(1, most + 1):
            names += text(320, GROUND - BIT * bit + 5, str(bit), fill_opacity=0.7)
            names += line(0, GROUND - BIT * bit, FOR_BRANCHES, GROUND - BIT * bit, stroke_opacity=FAINT / 2)
        names = element("g", names, text_anchor="middle")
        return line(0, GROUND, WIDTH, GROUND) + small(names + ripe_and_unripe(12, 364))

    def frame(self, attribute: str) -> State:
        if attribute == NO_QUESTION:
            y = GROUND - 12
            places: Places = {row: (11.5 + COLUMN * i, y - PITCH * (i % 2)) for i, row in enumerate(self.X.index)}
            return [], f"The {self.n} melons have not been asked anything: no price, and no gain.", places
        branches, places, words = _branches(self.X[attribute]), {}, ""
        measured = self.measured.loc[attribute]
        for m, branch in enumerate(branches):
            places[f"price {m}"] = (branch.left, GROUND - BIT * branch.price, branch.width, branch.price)
            if len(branches) == self.n:
                middle = branch.left + branch.width / 2
                places[branch.rows[0]] = (middle, GROUND - BIT * branch.price - 12 - PITCH * (m % 2))
            else:
                places |= _standing(branch)
                words += _named(branch)
        if len(branches) == self.n:
            mean = float(measured["price"])
            words = text(FOR_BRANCHES / 2, GROUND - BIT * mean / 2, f"{mean:.3f} bits each", font_size=15)
        for name, at in BARS.items():
            bits = float(measured[name])
            places[name] = (at - 13, GROUND - BIT * bits, 26, bits)
            words += text(at, GROUND - BIT * bits - 5, f"{bits:.3f}")
        return [element("g", words, text_anchor="middle", font_size=13)], self.sentence(branches, measured), places

    def sentence(self, branches: list[Branch], measured: pd.Series) -> str:
        terms = " + ".join(f"{len(branch.rows)} × {branch.price:.3f}" for branch in branches)
        if len(branches) == self.n:
            terms = f"{self.n} × {branches[0].price:.3f}"
        return (
            f"The price is ({terms}) / {self.n} = {measured['price']:.3f} bits, the gain {measured['gain']:.3f} bits: "
            f"{measured['ratio']:.3f} for each bit paid."
        )


def _standing(branch: Branch) -> Places:
    """The places of the melons of a branch: in two lines on the top of its bar."""
    middle, top = branch.left + branch.width / 2, GROUND - BIT * branch.price - 12
    return in_lines(branch.rows, middle, top, -(-len(branch.rows) // 2), PITCH, -PITCH)


def _named(branch: Branch) -> str:
    """The price of a branch, in its bar or, where this is too low, above the melons; and its answer below."""
    middle, high = branch.left + branch.width / 2, BIT * branch.price
    above = PITCH * min(2, len(branch.rows)) + 6
    words = "".join(text(middle, GROUND + 17 + 15 * i, word) for i, word in enumerate(branch.answer.split()))
    return text(middle, GROUND - high + (16 if high > 20 else -above), f"{branch.price:.3f}") + words


def _avoided(measured: pd.DataFrame, traps: Sequence[str]) -> Choice:
    """The guess which of two columns that should not be asked about the ratio ranks below the best other one."""
    ratios = measured["ratio"]
    best = ratios.drop(list(traps)).idxmax()
    which = {(True, False): f"the {traps[0]}", (False, True): f"the {traps[1]}", (True, True): "both"}
    more = {trap: "more" if ratios[trap] > ratios[best] else "less" for trap in traps}
    of_traps = " and ".join(f"the {trap} {more[trap]} ({ratios[trap]:.3f})" for trap in traps)
    return Choice(
        "Your guess: which of the two traps does the price avoid?",
        [*which.values(), "neither"],
        answer=which.get((ratios[traps[0]] < ratios[best], ratios[traps[1]] < ratios[best]), "neither"),
        truth=f"for each bit of its price the {best} gains {ratios[best]:.3f} bits, {of_traps}",
    )


def price_explorer(X: pd.DataFrame, y: pd.Series, traps: Sequence[str] = ()) -> Explorable:
    """The melons in the branches of a question, each on the price of its branch: log(n / n of the branch), in bits.

    Beside them stand the mean of these prices, which is the split information, and the gain. `X` has up to 17 rows of
    categories. The challenge is to find the largest ratio. With two `traps`, columns that should not be asked about,
    the reader guesses beforehand which of them the ratio avoids.
    """
    prices = _Prices(X, y)
    best = prices.measured["ratio"].idxmax()
    shown = max((A for A in X if X[A].nunique() < len(X)), key=prices.measured["gain"].__getitem__)
    return prices.explorable(
        title="Each melon pays the price of its branch",
        alt=f"The {len(X)} melons as numbered circles, hollow if ripe, in the branches of the question about {shown}, "
        "standing on bars: the fewer melons in a branch, the higher its bar. Beside them two bars, the mean price "
        f"and the gain. {prices.frame(shown)[1]}",
        size=(WIDTH, 376),
        controls=[Choice("Ask about", [NO_QUESTION, *X.columns], start=shown, opens=NO_QUESTION)],
        guess=_avoided(prices.measured, traps) if traps else None,
        found=lambda attribute: attribute == best,
        challenge="One question gains most whatever it costs. Which gains most for each bit of its price?",
    )


RULES = ("gain", "ratio", "ratio, gain ≥ average")
EVERY = "all"


class _Contest(Scene):
    """The attributes of some tables as points, gain over price, and the one that each of the `RULES` chooses."""

    size = (480, 390)

    def __init__(self, tables: dict[str, tuple[pd.DataFrame, pd.Series]], traps: Sequence[str]) -> None:
        self.measured, self.traps = {name: _measured(X, y) for name, (X, y) in tables.items()}, traps
        every = pd.concat(self.measured.values())
        self.every = every[~every.index.duplicated()]
        #: For each size of table the name of the first one, and for each attribute the size of its tables.
        self.names: dict[int, str] = {}
        self.rows: dict[str, int] = {}
        for name, (X, _) in tables.items():
            self.names.setdefault(len(X), name)
            self.rows |= dict.fromkeys(X, len(X))
        xlim, ylim = (0, np.ceil(2 * every["price"].max()) / 2), (0, np.ceil(10 * every["gain"].max() + 0.5) / 10)
        self.plane, self.attributes = Chart(xlim, ylim, (44, 46, 470, 340)), list(dict.fromkeys(every.index))

    def mark(self, n_rows: int, x: float = 0, y: float = 0) -> str:
        """The point of an attribute: round in the tables that have as many rows as the first, square in others."""
        return circle(x, y, 5) if n_rows == next(iter(self.names)) else rect(x - 4.5, y - 4.5, 9, 9)

    def marks(self) -> dict[Any, str]:
        marks = {A: self.mark(self.rows[A]) for A in self.attributes}
        return marks | {"winner": circle(0, 0, 7.5, **filled(GAIN))}

    def background(self) -> str:
        plane = self.plane
        xticks, yticks = (np.arange(0, limits[1] + 0.01, step) for limits, step in ((plane.xlim, 1), (plane.ylim, 0.2)))
        drawn, left = plane.axes(xticks, yticks, "price (bits)", "gain (bits)"), 196
        for n_rows, name in self.names.items():
            words = f"{name}: {n_rows} rows"
            drawn += self.mark(n_rows, left, 12) + text(left + 11, 17, words)
            left += 40 + round(7.5 * len(words))
        return drawn

    def competes(self, name: str, rule: str) -> pd.Series:
        gains = self.measured[name]["gain"]
        return (gains >= gains.mean() - 1e-9) | (rule != RULES[2])

    def winner(self, name: str, rule: str) -> str:
        column = "gain" if rule == "gain" else "ratio"
        return str(self.measured[name].loc[self.competes(name, rule), column].round(9).idxmax())

    def is_fooled(self, name: str) -> bool:
        """Whether each rule chooses an attribute that should not win."""
        return name != EVERY and all(self.winner(name, rule) in self.traps for rule in RULES)

    def all_tables(self) -> State:
        """The points of all tables, before a rule chooses; the traps and their strongest rivals have names."""
        others = self.every["gain"].drop(list(self.traps))
        named = self.every.loc[[*self.traps, *others.groupby(self.rows).idxmax()]]
        labels = ""
        for A, (x, y, anchor) in _label_places(self.every, self.plane, named.index).items():
            labels += text(x, y, A, text_anchor=anchor, font_weight="bold" if A in self.traps else "normal")
        places: Places = {}
        for A, row in self.every.iterrows():
            places[A] = (*self.plane.at(row["price"], row["gain"]), 1, 1, 1 if A in named.index else FAINT)
        sentence = f"All attributes of the {len(self.measured)} tables; {listed(self.traps)} should never win."
        return [element("g", labels, style=HALO)], f"{sentence} Choose a table and a rule.", places

    def frame(self, name: str, rule: str) -> State:
        if name == EVERY:
            return self.all_tables()
        table, competes, winner = self.measured[name], self.competes(name, rule), self.winner(name, rule)
        gain, price = table.loc[winner, "gain"], table.loc[winner, "price"]
        at = _label_places(table, self.plane)
        if rule == "gain":  # clear of the guide
            at[winner] = (self.plane.x(price), self.plane.y(gain) - 12, "middle")
        labels = ""
        places: Places = {"winner": self.plane.at(price, gain)}
        for A, (x, y, anchor) in at.items():
            look = {"font_weight": "bold" if winner == A else "normal", "opacity": 1 if competes[A] else 0.65}
            labels += text(x, y, A, text_anchor=anchor, **look)
            shown = 1 if competes[A] else FAINT
            places[A] = (*self.plane.at(table.loc[A, "price"], table.loc[A, "gain"]), 1, 1, shown)
        drawn = self.guide(name, rule, price, gain) + element("g", labels, style=HALO)
        return [drawn, self.board(name, rule)], self.sentence(name, rule, winner), places

    def board(self, name: str, rule: str) -> str:
        """What each rule chooses from this table, and whether it is fooled."""
        drawn = ""
        for y, (short, each) in zip((112, 132, 152), zip(("gain", "ratio", "gain ≥ average"), RULES)):
            winner = self.winner(name, each)
            told = f"{short}: {winner} {'✗' if winner in self.traps else '✓'}"
            drawn += text(56, y, told, font_weight="bold" if each == rule else "normal", style=HALO)
        return element("g", drawn)

    def guide(self, name: str, rule: str, price: float, gain: float) -> str:
        """A level line through the winner by gain, and one from the origin through that by ratio."""
        if rule == "gain":
            return self.plane.level(gain, stroke_opacity=0.6)
        reach = min(self.plane.xlim[1] / price, self.plane.ylim[1] / gain)
        drawn = line(*self.plane.at(0, 0), *self.plane.at(price * reach, gain * reach), stroke_opacity=0.6)
        average = self.plane.level(self.measured[name]["gain"].mean(), stroke_opacity=0.6, stroke_dasharray="3 4")
        return drawn + (average if rule == RULES[2] else "")

    def sentence(self, name: str, rule: str, winner: str) -> str:
        gain, price, _ = self.measured[name].loc[winner]
        sentence = (
            f"{name}, by {rule}: {winner} wins"
            f"{', and should not' * (winner in self.traps)}; gain {gain:.3f} / price {price:.3f} = ratio "
            f"{gain / price:.3f}."
        )
        if rule != RULES[2]:
            return sentence
        average, competes = self.measured[name]["gain"].mean(), self.competes(name, rule)
        return f"{sentence} The average gain is {average:.3f}; {competes.sum()} of {len(competes)} compete."


def ratio_explorer(
    tables: dict[str, tuple[pd.DataFrame, pd.Series]], traps: Sequence[str], start: tuple[str, str] | None = None
) -> Explorable:
    """Every attribute as a point, gain over split information, and which one each of the `RULES` chooses.

    `tables` maps a name to categorical attributes and labels. A ratio is a slope, an average gain a height. The reader
    looks for the table in which every rule chooses one of the `traps`, the attributes that should not win. `start` is
    the table and the rule at rest; the script begins with the attributes of all tables, which the guess is about.
    """
    contest, (first, *others) = _Contest(tables, traps), tables
    fooling = [name for name in others if contest.is_fooled(name)] or ["none"]
    name, rule = start or (first, RULES[0])
    truth = f"all three rules are fooled by {listed(fooling)}"
    if contest.is_fooled(fooling[0]):
        won = contest.winner(fooling[0], RULES[2])
        gain, _, ratio = contest.measured[fooling[0]].loc[won]
        truth += f", where the {won} has the gain {gain:.3f} and the ratio {ratio:.3f}"
    return contest.explorable(
        title="Gain against price",
        alt=f"Every attribute of the table {name} as a point, its price to the right, its gain upwards. The winner by "
        f"{rule} is marked, and a line runs through it.",
        controls=[
            Choice("Table", [EVERY, *tables], start=name, opens=EVERY),
            Choice("Choose the largest", list(RULES), start=rule, opens=RULES[0]),
        ],
        found=lambda name, rule: contest.is_fooled(name) and rule == RULES[2],
        guess=Choice(
            "Your guess: which table fools all three rules?",
            [*others, "none"],
            answer=set(fooling),
            truth=truth,
        ),
        challenge="✗ marks a rule that the table fools. Does any table fool even the last of them?",
    )


def _measured(X: pd.DataFrame, y: pd.Series) -> pd.DataFrame:
    """Gain, price and ratio of each attribute."""
    columns = {A: (information_gain(X[A], y), split_information(X[A]), gain_ratio(X[A], y)) for A in X}
    return pd.DataFrame(columns, index=["gain", "price", "ratio"]).T


def _label_places(
    table: pd.DataFrame, plane: Chart, names: Iterable[Any] | None = None
) -> dict[str, tuple[float, float, str]]:
    """Where the names of all points, or of some, stand: x, y and anchor; on the first of four sides that is free."""
    at = {str(A): (plane.x(row["price"]), plane.y(row["gain"])) for A, row in table.iterrows()}
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in at.values()]
    taken.append((plane.box[0], plane.box[3] + 2, plane.box[2], plane.box[3] + 20))  # numbers of the axis
    places: dict[str, tuple[float, float, str]] = {}
    for A in table.index if names is None else names:
        (x, y), width = at[A], 9 * len(A)
        to_right, to_left = (x + 9, y + 5, "start", x + 9), (x - 9, y + 5, "end", x - 9 - width)
        above, below = ((x, y + dy, "middle", x - width / 2) for dy in (-10, 20))
        sides = (to_right, to_left, above, below)
        for side in sides:
            _, y_label, _, left = side
            box = (left, y_label - 12, left + width, y_label + 3)
            fits = plane.box[0] <= left and left + width <= plane.box[2] + 10
            if fits and not any(overlap(box, other) for other in taken):
                break
        taken.append(box)
        places[A] = side[:3]
    return places


@plotted
def plot_wins(contests: pd.DataFrame) -> None:
    """How often random columns win, by their number of values: the columns "wins by gain" and "wins by ratio"."""
    ax = axes("number of values of the random columns", "share of contests won", 3.2)
    plot_columns(ax, contests[["wins by gain", "wins by ratio"]].set_axis(["gain", "ratio"], axis=1))
    ax.set(xscale="log", xticks=contests.index, xticklabels=contests.index, ylim=(-0.03, 1.03))
    ax.minorticks_off()
    ax.legend(frameon=False, title="chosen by")


@plotted
def plot_uneven(scores: pd.DataFrame) -> None:
    """The mean gain and ratio of random columns of two values, by the rows of the rarer one, the index of the table."""
    ax = axes("rows of the rarer value", "gain (bits) or ratio")
    plot_columns(ax, scores[["gain", "ratio"]], name="mean {}")
    ax.set_ylim(0, None)
    ax.legend(frameon=False)


@plotted
def plot_pairs(accuracy: pd.DataFrame) -> None:
    """One line for each row of `accuracy`, with a mark for its column gain and one for its column ratio."""
    ax = axes("accuracy on test rows", "", 0.6 * len(accuracy) + 1.2)
    lines = np.arange(len(accuracy))[::-1]
    ax.hlines(lines, accuracy.min(axis=1), accuracy.max(axis=1), color="0.6", zorder=0)
    for name, color, size, marker in zip(("gain", "ratio"), CLASS_COLORS, (45, 110), "os"):
        # The hollow square leaves a dot below it visible.
        look: dict[str, Any] = dict(facecolors="none" if marker == "s" else color, edgecolors=color, linewidths=1.8)
        ax.scatter(accuracy[name], lines, s=size, marker=marker, label=name, **look)
    ax.set(yticks=lines, yticklabels=accuracy.index, ylim=(-0.6, len(lines) - 0.2))
    ax.legend(frameon=False, title="chosen by")


@plotted
def plot_luck(luck: pd.DataFrame, gains: pd.Series) -> None:
    """A lane for each column: how often shuffled labels gave each gain, and a mark at the gain of the true ones."""
    ax = axes("gain (bits)", "", 3.2)
    lanes = np.arange(len(gains))[::-1]
    for lane, A in zip(lanes, gains.index):
        shares = luck[A].round(9).value_counts(normalize=True)
        ax.vlines(shares.index, lane, lane + 0.6 * shares / shares.max(), color="0.6", linewidth=3)
    ax.scatter(gains, lanes + 0.7, s=80, marker="v", color=CLASS_COLORS[0], label="true labels")
    ax.vlines([], 0, 0, color="0.6", linewidth=3, label="shuffled")
    ax.set(yticks=lanes, yticklabels=gains.index, xlim=(-0.03, 1.05), ylim=(-0.1, len(gains)))
    ax.legend(frameon=False, loc="upper center")
