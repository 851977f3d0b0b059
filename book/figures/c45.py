"""The figures of the chapter on C4.5."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from figures.explorable import Choice, Explorable, Place
from figures.plots import PLOT_WIDTH, plotted
from figures.scene import HALO, LINE, Chart, Picture, centred, ending, filled, melon, ripe_and_unripe
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


PITCH, COLUMN = 22.5, 18.6  # pixels from one melon to the next, and between the bars of single melons
WIDTH, GROUND, BIT = 408, 312, 60  # of the drawing; where a price of 0 is; and pixels for each bit
FOR_BRANCHES = 324  # pixels of the width; the price and the gain stand beside them


def _groups(column: pd.Series) -> list[tuple[str, list, float, float]]:
    """Each branch of a question with its rows, the left end of its bar and the bar's width; the largest first."""
    rows = {str(value): column.index[column == value].tolist() for value in column.unique()}
    if len(rows) == len(column):
        return [(value, of, 4 + COLUMN * i, COLUMN - 1) for i, (value, of) in enumerate(rows.items())]
    rows = dict(sorted(rows.items(), key=lambda item: -len(item[1])))
    widths = [max(40, PITCH * -(-len(of) // 2), 7.4 * max(map(len, value.split()))) + 2 for value, of in rows.items()]
    gap = min(30.0, (FOR_BRANCHES - sum(widths)) / len(rows))
    left = (FOR_BRANCHES - sum(widths) - gap * (len(rows) - 1)) / 2
    groups = []
    for (value, of), width in zip(rows.items(), widths, strict=True):
        groups.append((value, of, left, width))
        left += width + gap
    return groups


def _standing(rows: list, left: float, width: float, height: float) -> dict[object, tuple[float, float]]:
    """The places of the melons of a branch: in two lines on the top of its bar."""
    n_columns = -(-len(rows) // 2)
    start = left + width / 2 - PITCH * (n_columns - 1) / 2
    top = GROUND - BIT * height - 12
    return {row: (start + PITCH * (i % n_columns), top - PITCH * (i // n_columns)) for i, row in enumerate(rows)}


def price_explorer(X: pd.DataFrame, y: pd.Series, guess: Choice | None = None) -> Explorable:
    """The melons in the branches of a question, each on the price of its branch: log(n / n of the branch), in bits.

    Beside them stand the mean of these prices, which is the split information, and the gain. `X` has up to 17 rows of
    categories. The challenge is to find the largest ratio.
    """
    n, is_ripe = len(X), y == "yes"
    table = _measured(X, y)
    best = table["ratio"].idxmax()
    no_question = "nothing yet"
    most = max(X[A].nunique() for A in X)

    def frame(attribute: str) -> tuple[list[str], str, dict]:
        places: dict[object, Place]
        if attribute == no_question:
            places = {row: (12 + COLUMN * i, GROUND - 12 - PITCH * (i % 2)) for i, row in enumerate(X.index)}
            return [], f"The {n} melons have not been asked anything: no price, and no gain.", places
        places, words, terms = {}, "", []
        groups = _groups(X[attribute])
        for m, (value, rows, left, width) in enumerate(groups):
            price = float(np.log2(n / len(rows)))
            places[f"price {m}"] = (left, GROUND - BIT * price, width, price)
            if len(groups) == n:
                places[rows[0]] = (left + width / 2, GROUND - BIT * price - 12 - PITCH * (m % 2))
                continue
            places |= _standing(rows, left, width, price)
            above = PITCH * min(2, len(rows)) + 6  # where the bar is too low for its number
            words += text(left + width / 2, GROUND - BIT * price + (16 if BIT * price > 20 else -above), f"{price:.3f}")
            words += "".join(text(left + width / 2, GROUND + 17 + 15 * i, w) for i, w in enumerate(value.split()))
            terms.append(f"{len(rows)} × {price:.3f}")
        gain, mean_price, ratio = (float(table.loc[attribute, name]) for name in ("gain", "price", "ratio"))
        if len(groups) == n:
            words += text(FOR_BRANCHES / 2, GROUND - BIT * mean_price / 2, f"{mean_price:.3f} bits each", font_size=15)
            terms = [f"{n} × {price:.3f}"]
        for name, at, bits in (("price", 356, mean_price), ("gain", 388, gain)):
            places[name] = (at - 13, GROUND - BIT * bits, 26, bits)
            words += text(max(360, at), GROUND - BIT * bits - 5, f"{bits:.3f}")  # clear of the numbers of the axis
        sentence = (
            f"The price is ({' + '.join(terms)}) / {n} = {mean_price:.3f} bits, the gain {gain:.3f} bits: "
            f"{ratio:.3f} for each bit paid."
        )
        return [element("g", words, text_anchor="middle", font_size=13)], sentence, places

    bar = rect(0, 0, 1, BIT, fill_opacity=FAINT)
    marks: dict[object, str] = {f"price {m}": bar for m in range(most)}
    marks["price"] = rect(0, 0, 1, BIT, fill_opacity=BAR)
    marks["gain"] = rect(0, 0, 1, BIT, **filled(GAIN))
    marks |= {row: melon(row, ripe, radius=10.5) for row, ripe in is_ripe.items()}
    names = "".join(text(x, GROUND + y, w) for x, y, w in ((354, 17, "price"), (390, 17, "gain"), (372, 32, "in bits")))
    for bit in range(1, int(np.log2(n)) + 1):
        names += text(325, GROUND - BIT * bit + 5, str(bit))
        names += line(0, GROUND - BIT * bit, 318, GROUND - BIT * bit, stroke_opacity=FAINT / 2)
    names = element("g", names, text_anchor="middle")
    legend = ripe_and_unripe(12, 364)
    shown = max((A for A in X if X[A].nunique() < n), key=table["gain"].__getitem__)
    return Explorable(
        title="Each melon pays the price of its branch",
        alt=f"The {n} melons as numbered circles, hollow if ripe, in the branches of the question about {shown}, "
        "standing on bars: the fewer melons in a branch, the higher its bar. Beside them two bars, the mean price "
        f"and the gain. {frame(shown)[1]}",
        size=(WIDTH, 376),
        background=line(0, GROUND, WIDTH, GROUND) + element("g", names + legend, font_size=13),
        marks=marks,
        controls=[Choice("Ask about", [no_question, *X.columns], start=shown, opens=no_question)],
        frame=frame,
        guess=guess,
        found=lambda attribute: attribute == best,
        challenge="Which question gains most for each bit of its price? And which one gains most, whatever it costs?",
    )


RULES = ("gain", "ratio", "ratio, gain at least average")


def ratio_explorer(
    tables: dict[str, tuple[pd.DataFrame, pd.Series]],
    traps: Sequence[str],
    start: tuple[str, str] | None = None,
) -> Explorable:
    """Every attribute as a point, gain over split information, and which one each of the `RULES` chooses.

    `tables` maps a name to categorical attributes and labels. A ratio is a slope, an average gain a height. The reader
    looks for the table in which every rule chooses one of the `traps`, the attributes that should not win. `start` is
    the table and the rule at rest; the script begins with the first of each.
    """
    found = {name: _measured(X, y) for name, (X, y) in tables.items()}
    widest = max(float(table["price"].max()) for table in found.values())
    highest = max(float(table["gain"].max()) for table in found.values())
    plane = Chart((0, np.ceil(2 * widest) / 2), (0, np.ceil(10 * highest + 0.5) / 10), (44, 46, 470, 340))

    def competes(name: str, rule: str) -> pd.Series:
        gains = found[name]["gain"]
        return (gains >= gains.mean() - 1e-9) | (rule != RULES[2])

    def winner_of(name: str, rule: str) -> str:
        column = "gain" if rule == "gain" else "ratio"
        return str(found[name].loc[competes(name, rule), column].round(9).idxmax())

    fooled = [name for name in tables if all(winner_of(name, rule) in traps for rule in RULES)]

    def state(name: str, rule: str) -> tuple[str, str, dict]:
        table, average = found[name], float(found[name]["gain"].mean())
        is_in, winner = competes(name, rule), winner_of(name, rule)
        gain, price = table.loc[winner, "gain"], table.loc[winner, "price"]
        if rule == "gain":
            guide = _guide(plane, 0, gain, plane.xlim[1], gain)
        else:
            reach = min(plane.xlim[1] / price, plane.ylim[1] / gain)
            guide = _guide(plane, 0, 0, price * reach, gain * reach)
        if rule == RULES[2]:
            guide += _guide(plane, 0, average, plane.xlim[1], average, stroke_dasharray="3 4")
        at = _label_places(table, plane)
        if rule == "gain":  # clear of the guide
            at[winner] = (plane.x(price), plane.y(gain) - 12, "middle")
        labels = ""
        places: dict[object, Place] = {}
        for A, (x, y, anchor) in at.items():
            weight, opacity = ("bold" if winner == A else "normal"), (1 if is_in[A] else 0.65)
            labels += text(x, y, A, text_anchor=anchor, font_weight=weight, opacity=opacity)
            places[A] = (plane.x(table.loc[A, "price"]), plane.y(table.loc[A, "gain"]), 1, 1, 1 if is_in[A] else FAINT)
        places["winner"] = (plane.x(price), plane.y(gain))
        by = "gain" if rule == "gain" else "ratio"
        sentence = (
            f"{name}, by {by}: {winner} wins{', and should not' if winner in traps else ''}; gain {gain:.3f} / price "
            f"{price:.3f} = ratio {gain / price:.3f}."
        )
        if rule == RULES[2]:
            sentence += f" The average gain is {average:.3f}; {int(is_in.sum())} of {len(table)} compete."
        return guide + element("g", labels, style=HALO), sentence, places

    ticks_x = np.arange(0, plane.xlim[1] + 0.01, 1)
    ticks_y = np.arange(0, plane.ylim[1] + 0.01, 0.2)
    first = next(iter(tables))
    name, rule = start or (first, RULES[0])
    attributes = dict.fromkeys(A for table in found.values() for A in table.index)
    return Explorable(
        title="Gain against price",
        alt=f"Every attribute of the table {name} as a point, its price to the right, its gain upwards. The winner by "
        f"{rule} is marked, and a line runs through it.",
        size=(480, 390),
        background=plane.axes(ticks_x, ticks_y, "price (bits)", "gain (bits)"),
        marks=dict.fromkeys(attributes, circle(0, 0, 5)) | {"winner": circle(0, 0, 7.5, **filled(GAIN))},
        controls=[
            Choice("Table", list(tables), start=name, opens=first),
            Choice("Choose the largest", list(RULES), start=rule, opens=RULES[0]),
        ],
        frame=state,
        found=lambda name, rule: name in fooled and rule == RULES[2],
        guess=Choice(
            "Your guess: which table fools all three rules?", [*(name for name in tables if name != first), "none"]
        ),
        challenge="Which table fools which rule? Find one that fools all three, to the last.",
    )


def _measured(X: pd.DataFrame, y: pd.Series) -> pd.DataFrame:
    columns = {A: (information_gain(X[A], y), split_information(X[A]), gain_ratio(X[A], y)) for A in X}
    return pd.DataFrame(columns, index=["gain", "price", "ratio"]).T


def _label_places(table: pd.DataFrame, plane: Chart) -> dict[str, tuple[float, float, str]]:
    """Where the name of each point stands: x, y and anchor; on the first of its four sides that is free."""
    at = {str(A): (plane.x(row["price"]), plane.y(row["gain"])) for A, row in table.iterrows()}
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in at.values()]
    taken.append((plane.box[0], plane.box[3] + 2, plane.box[2], plane.box[3] + 20))  # numbers of the axis
    places: dict[str, tuple[float, float, str]] = {}
    for A, (x, y) in at.items():
        width = 9 * len(A)
        to_right, to_left = (x + 9, y + 5, "start", x + 9), (x - 9, y + 5, "end", x - 9 - width)
        above, below = ((x, y + dy, "middle", x - width / 2) for dy in (-10, 20))
        sides = (to_right, to_left, above, below)
        for side in sides:
            _, y_label, _, left = side
            box = (left, y_label - 12, left + width, y_label + 3)
            fits = plane.box[0] <= left and left + width <= plane.box[2] + 10
            if fits and not any(_overlap(box, other) for other in taken):
                break
        taken.append(box)
        places[A] = side[:3]
    return places


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _guide(plane: Chart, x1: float, y1: float, x2: float, y2: float, **attributes: object) -> str:
    return line(plane.x(x1), plane.y(y1), plane.x(x2), plane.y(y2), stroke_opacity=0.6, **attributes)


@plotted
def plot_wins(contests: pd.DataFrame) -> None:
    """How often random columns win, by their number of values: the columns "wins by gain" and "wins by ratio"."""
    _, ax = plt.subplots(figsize=(PLOT_WIDTH, 3.2), layout="constrained")
    for k, name in enumerate(("gain", "ratio")):
        ax.plot(contests.index, contests[f"wins by {name}"], marker="os"[k], color=CLASS_COLORS[k], label=name)
    ax.set(xscale="log", xticks=contests.index, xticklabels=contests.index, ylim=(-0.03, 1.03))
    ax.minorticks_off()
    ax.set(xlabel="number of values of the random columns", ylabel="share of contests won")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, title="chosen by")


@plotted
def plot_chance(by_values: pd.DataFrame, by_odd: pd.DataFrame) -> None:
    """What random columns score: by their number of values, and, for two values, by the rows of the rarer one.

    Each table has the columns gain and ratio and the number in its index.
    """
    figure, both = plt.subplots(1, 2, figsize=(PLOT_WIDTH, 3.6), sharey=False, layout="constrained")
    for ax, table, label in zip(both, (by_values, by_odd), ("number of values", "rows of the rarer value")):
        for k, name in enumerate(("gain", "ratio")):
            ax.plot(table.index, table[name], marker="os"[k], color=CLASS_COLORS[k], label=f"mean {name}")
        ax.set(xlabel=label, ylim=(0, None))
        ax.spines[["top", "right"]].set_visible(False)
    both[0].set_ylabel("gain (bits) or ratio")
    figure.legend(*both[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)


@plotted
def plot_pairs(accuracy: pd.DataFrame) -> None:
    """One line for each row of `accuracy`, with a mark for its column gain and one for its column ratio."""
    _, ax = plt.subplots(figsize=(PLOT_WIDTH, 0.6 * len(accuracy) + 1.2), layout="constrained")
    lines = np.arange(len(accuracy))[::-1]
    ax.hlines(lines, accuracy.min(axis=1), accuracy.max(axis=1), color="0.6", zorder=0)
    for k, name in enumerate(("gain", "ratio")):  # the hollow square leaves a dot below it visible
        face = CLASS_COLORS[k] if k == 0 else "none"
        ax.scatter(
            accuracy[name],
            lines,
            s=(45, 110)[k],
            marker="os"[k],
            facecolors=face,
            edgecolors=CLASS_COLORS[k],
            linewidths=1.8,
            label=name,
        )
    ax.set(yticks=lines, yticklabels=accuracy.index, xlabel="accuracy on new rows", ylim=(-0.6, len(lines) - 0.2))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, title="chosen by")
