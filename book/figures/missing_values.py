"""The figures of the chapter on missing values."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from figures.explorable import Choice, Explorable, Slider
from figures.plots import PLOT_WIDTH, plotted
from figures.scene import OUTLINE, Chart, Picture, centred, dot, in_class, melon, placed, ripe_and_unripe
from treekit.measures import entropy_of_counts
from treekit.models.c45 import C45Classifier
from treekit.pen.palette import BAR, CLASS_COLORS, RIPE, UNRIPE
from treekit.pen.svg import FAINT, circle, element, line, rect, text

STEPS = ["all melons", "known ones fall", "others poured"]
WIDTH, PITCH = 400, 23.2  # of the drawing, and from one melon to the next
BAR_UNIT = 12  # pixels of a bar for a whole melon
RADIUS = 10  # of the disc of a whole row


def disc(x: float, y: float, name: str, k: int, share: float = 1.0) -> str:
    """A row of class k as a disc whose area is its weight: a whole row has its name inside, a share beside it."""
    drawn = in_class(k, circle(x, y, RADIUS * share**0.5))
    if share > 1 - 1e-9:
        style = f"fill: {('white', 'currentColor')[k % 2]}"
        return drawn + centred(x, y + 4.5, name, font_size=12.5, style=style)
    return drawn + text(x + RADIUS + 4, y + 5, f"{name}: {share:.3f}", font_size=14.5)


def listed(names: Sequence[str]) -> str:
    """8 and 10; or 1, 9 and 13."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


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


def _at_top(place: int) -> tuple[float, float]:
    """Where a row stands before the question."""
    return 14 + PITCH * place, 16


def question(frame: pd.DataFrame, target: str, attribute: str, step: str) -> tuple[list[str], str, dict]:
    """The rows of a table before a question, with the known ones in its branches, or with the others poured.

    Returns the drawing, a sentence with the numbers of this step, and the places of the melons, of the pieces of those
    without an answer, keyed by melon and branch, and of the bars of the branches' weights.
    """
    answers, n = frame[attribute], len(frame)
    table = pieces_of(frame, target, attribute)
    counts = table.drop(columns="share")
    gaps = frame.index[answers.isna()].tolist()
    known, poured = step != STEPS[0], step == STEPS[2]
    places: dict[object, Sequence[float]] = {row: _at_top(i) for i, row in enumerate(frame.index)}

    width = WIDTH / len(table)
    per_line = int(width // PITCH)
    middles = [width * (m + 0.5) for m in range(len(table))]
    branches = text(WIDTH / 2, 60, f"{attribute}?", font_weight="bold")
    read, weights = "", ""
    for m, (value, middle) in enumerate(zip(table.index, middles, strict=True)):
        branches += line(WIDTH / 2, 66, middle, 86, stroke_opacity=FAINT) + text(middle, 101, str(value))
        branches += rect(width * m + 4, 108, width - 8, 56, **OUTLINE, stroke_opacity=FAINT)
        members = frame.index[answers == value].tolist()
        left = middle - PITCH * (min(per_line, len(members)) - 1) / 2
        weight = len(members) + poured * len(gaps) * table["share"].iloc[m]
        if known:
            for i, row in enumerate(members):
                places[row] = (left + PITCH * (i % per_line), 124 + 24 * (i // per_line))
            bits = float(entropy_of_counts(counts.iloc[m].to_numpy()))
            weights += text(middle, 183, f"{bits:.3f} bits") + text(middle, 288, f"weight {weight:.3f}")
            places[f"weight {m}"] = (middle - BAR_UNIT * weight / 2, 296, weight, 1)
        for i, row in enumerate(gaps):
            share = float(table["share"].iloc[m])
            places[row, m] = (middle - 32, 204 + 25 * i, share**0.5) if poured else places[row]
            read += text(middle - 16, 209 + 25 * i, f"{row}: {share:.3f}") if poured else ""
    # A tap on a ring pours the melons out of it, or takes them back.
    tapped = {STEPS[0]: STEPS[1], STEPS[1]: STEPS[2], STEPS[2]: STEPS[1]}[step]
    rings = "".join(_ring(*_at_top(frame.index.get_loc(row))) for row in gaps)
    for row in gaps if poured else []:
        del places[row]  # only its pieces are left
    parts = [
        element("g", rings, data_choose=tapped, pointer_events="all"),
        element("g", branches, text_anchor="middle", font_size=13),
    ]
    if known:
        parts.append(element("g", weights, text_anchor="middle", font_size=13))
    if poured:
        parts.append(element("g", read, font_size=13))
    return parts, _in_words(counts, gaps, attribute, step, n), places


def _in_words(counts: pd.DataFrame, gaps: list, attribute: str, step: str, n: int) -> str:
    """The sentence of :func:`question`, from the class counts of each answer and the names of the other rows."""
    sizes = counts.sum(axis=1).to_numpy()
    n_known = int(sizes.sum())
    without = f"melons {listed([str(row) for row in gaps])}"
    if step == STEPS[0]:
        return f"The {attribute} is known for {n_known} of {n} melons. It is missing in {without}."
    if step == STEPS[1]:
        before = float(entropy_of_counts(counts.sum()))
        after = float((sizes / n_known * entropy_of_counts(counts)).sum())
        return (
            f"The {n_known} known melons have {before:.3f} bits before the question and {after:.3f} bits after it. The "
            f"gain is {n_known}/{n} × {before - after:.3f} = {n_known / n * (before - after):.3f} bits. "
            f"No branch yet for {without}."
        )
    weights = " + ".join(f"{size / n_known * n:.3f}" for size in sizes)
    divided = listed([f"{size}/{n_known} {value}" for value, size in zip(counts.index, sizes, strict=True)])
    return (
        f"{without.capitalize()} are each divided as the {n_known} known ones are: {divided}. "
        f"The branches weigh {weights} = {n}."
    )


def _marks(frame: pd.DataFrame, target: str) -> dict[object, str]:
    """The melons, below them the pieces of each that has a gap, and the bars of the branches."""
    is_ripe = frame[target] == "yes"
    columns = [column for column in frame.columns if column != target]
    n_branches = max(frame[column].nunique() for column in columns)
    marks: dict[object, str] = {f"weight {m}": rect(0, 0, BAR_UNIT, 10, fill_opacity=BAR) for m in range(n_branches)}
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
    attributes = [column for column in frame.columns if column != target]
    pieces = {attribute: pieces_of(frame, target, attribute)["share"] for attribute in attributes}
    gap, largest = frame.index[frame[first].isna()][0], pieces[first].idxmax()
    return Explorable(
        title="Where does a melon go that cannot answer?",
        alt=f"The melons as numbered circles, hollow if ripe, in the branches of the question about the {first}. "
        f"Dashed rings above mark the empty places of those whose {first} is missing: smaller circles of them lie in "
        f"every branch. {question(frame, target, first, STEPS[2])[1]}",
        size=(WIDTH, 348),
        background=_legend(338),
        marks=_marks(frame, target),
        controls=[
            Choice("Ask about", attributes, start=first),
            Slider("Step", STEPS, start=STEPS[2], opens=STEPS[1]),
        ],
        frame=lambda attribute, step: question(frame, target, attribute, step),
        guess=Choice(
            f"Your guess: the {first} of melon {gap} is missing. How much of it should go to the branch “{largest}”?",
            ["nothing", "a third", "about half", "all of it"],
        ),
        found=lambda attribute, step: step == STEPS[2] and pieces[attribute].round(9).duplicated().any(),
        challenge="Tap a dashed ring, or press Play. Then find another question, one that pours two pieces of the same "
        "size.",
    )


def shared_out(frame: pd.DataFrame, target: str, attribute: str) -> Picture:
    """The last step of :func:`question` for one attribute."""
    parts, sentence, places = question(frame, target, attribute, STEPS[2])
    marks = _marks(frame, target)
    drawn = "".join(placed(marks[key], place) for key, place in places.items())
    alt = f"The melons in the branches of the question about the {attribute}, whole ones as numbered circles, pieces of"
    return Picture(f"{alt} others as smaller circles. {sentence}", (WIDTH, 348), _legend(338) + "".join(parts) + drawn)


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


@plotted
def plot_with_holes(runs: pd.DataFrame) -> None:
    """Accuracy of each way (rows) for each kind of holes (panels): every run as a dot, their mean as a bar.

    `runs` has the columns holes, way and accuracy.
    """
    kinds, ways = runs["holes"].unique(), runs["way"].unique()
    figure, panels = plt.subplots(
        1, len(kinds), figsize=(PLOT_WIDTH, 3.6), sharex=True, sharey=True, layout="constrained"
    )
    for ax, kind in zip(panels, kinds, strict=True):
        for place, way in enumerate(ways):
            accuracy = runs.loc[(runs["holes"] == kind) & (runs["way"] == way), "accuracy"]
            ax.plot(accuracy, np.full(len(accuracy), place), "o", markersize=4, alpha=0.4, color=CLASS_COLORS[0])
            ax.plot([accuracy.mean()] * 2, [place - 0.3, place + 0.3], color="black", linewidth=2)
        ax.set(title=kind, yticks=range(len(ways)), yticklabels=ways)
        ax.xaxis.set_major_locator(MaxNLocator(2))
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].invert_yaxis()
    figure.supxlabel("accuracy on held-out rows", fontsize="medium")
