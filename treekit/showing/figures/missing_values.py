"""The figures of the chapter on missing values."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from treekit.measures import entropy_of_counts
from treekit.models.c45 import C45Classifier
from treekit.showing.explorable import Choice, Explorable
from treekit.showing.figures.shared import Picture, dot, in_class
from treekit.showing.palette import CLASS_COLORS
from treekit.showing.svg import FAINT, Plane, circle, line, text

STEPS = ["all together", "known rows fall", "the rest in shares"]
RADIUS = 10  # of the disc of a whole row


def disc(x: float, y: float, name: str, k: int, share: float = 1.0) -> str:
    """A row of class k as a disc whose area is its weight: a whole row has its name inside, a share beside it."""
    drawn = in_class(k, circle(x, y, RADIUS * share**0.5))
    if share > 1 - 1e-9:
        style = f"fill: {('white', 'currentColor')[k % 2]}"
        return drawn + text(x, y + 4, name, text_anchor="middle", font_size=11, style=style)
    return drawn + text(x + RADIUS + 4, y + 5, f"{name}: {share:.3f}", font_size=14)


def listed(names: Sequence[str]) -> str:
    """8 and 10; or 1, 9 and 13."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _classes(labels: pd.Series) -> tuple[list[str], list[int]]:
    """The names of the classes in sorted order, and the number of each row's class."""
    names = sorted(labels.astype(str).unique())
    return names, [names.index(label) for label in labels.astype(str)]


def _legend(frame: pd.DataFrame, target: str) -> str:
    """What the discs mean."""
    drawn = "".join(
        in_class(k, circle(12 + 110 * k, 14, 6)) + text(26 + 110 * k, 19, f"{target}: {name}")
        for k, name in enumerate(_classes(frame[target])[0])
    )
    return drawn + _ring(352, 14) + text(370, 19, "no answer")


def _ring(x: float, y: float) -> str:
    return circle(x, y, RADIUS + 3.5, fill="none", stroke="currentColor", stroke_width=1.5, stroke_dasharray="4 3")


def question(frame: pd.DataFrame, target: str, attribute: str, step: str) -> tuple[str, str]:
    """The rows of a table before a question, with the known ones in its branches, or with the others shared out.

    Returns the drawing, 480 by 320 pixels, and a sentence with the numbers of this step.
    """
    code, names = _classes(frame[target])[1], [str(name) for name in frame.index]
    answers, n = frame[attribute], len(frame)
    table = pd.crosstab(answers, frame[target].astype(str))
    is_known = answers.notna().to_numpy()
    gaps = np.flatnonzero(~is_known).tolist()
    share = table.sum(axis=1) / is_known.sum()
    is_down = np.full(n, step == STEPS[2]) | (is_known & (step == STEPS[1]))

    drawing = text(240, 108, f"{attribute}?", text_anchor="middle", font_weight="bold")
    for i in range(n):
        x = 15 + 28 * i
        faint = circle(x, 60, RADIUS, fill="none", stroke="currentColor", stroke_opacity=FAINT / 2)
        drawing += faint if is_down[i] else disc(x, 60, names[i], code[i])
        drawing += _ring(x, 60) if i in gaps and not is_down[i] else ""

    width = 480 / len(table)
    per_line = int(width // 27)
    for m, (value, counts) in enumerate(table.iterrows()):
        center = width * (m + 0.5)
        drawing += line(240, 116, center, 136, stroke_opacity=FAINT)
        drawing += text(center, 152, str(value), text_anchor="middle")
        if step == STEPS[0]:
            continue
        members = sorted(np.flatnonzero(answers == value).tolist(), key=lambda i: code[i])
        first = center - 27 * (min(per_line, len(members)) - 1) / 2
        for place, i in enumerate(members):
            drawing += disc(first + 27 * (place % per_line), 176 + 25 * (place // per_line), names[i], code[i])
        if step == STEPS[1]:
            words = f"{len(members)} rows, {float(entropy_of_counts(counts)):.3f} bits"
        else:
            words = f"weight {share[value] * n:.3f}"
            for place, i in enumerate(gaps):
                drawing += disc(center - 36, 230 + 24 * place, names[i], code[i], share[value])
        drawing += text(center, 308, words, text_anchor="middle", font_size=14)
    return drawing, _in_words(table, [names[i] for i in gaps], attribute, step, n)


def _in_words(table: pd.DataFrame, gaps: list[str], attribute: str, step: str, n: int) -> str:
    """The sentence of :func:`question`, from the class counts of each answer and the names of the other rows."""
    sizes = table.sum(axis=1).to_numpy()
    n_known = int(sizes.sum())
    without = f"{'row' if len(gaps) == 1 else 'rows'} {listed(gaps)}"
    if step == STEPS[0]:
        return f"The {attribute} is known for {n_known} of {n} rows. It is missing in {without}."
    if step == STEPS[1]:
        before = float(entropy_of_counts(table.sum()))
        after = float((sizes / n_known * entropy_of_counts(table)).sum())
        return (
            f"The {n_known} known rows have {before:.3f} bits before the question and {after:.3f} bits after it. The "
            f"gain is {n_known}/{n} × {before - after:.3f} = {n_known / n * (before - after):.3f} bits. "
            f"No branch yet for {without}."
        )
    weights = " + ".join(f"{size / n_known * n:.3f}" for size in sizes)
    return (
        f"Of {without}, each branch gets a share: {listed([f'{size}/{n_known}' for size in sizes])}. Together the "
        f"branches weigh {weights} = {n}."
    )


def question_explorer(frame: pd.DataFrame, target: str) -> Explorable:
    """Every attribute of a small table as a question, in three steps: the rows, the known ones, the others in shares.

    `frame` is a table of categories with missing entries, with up to 17 rows, three answers to each attribute and
    three gaps in each.
    """
    attributes = [column for column in frame.columns if column != target]
    return Explorable(
        title="Which question first, and where do the others go?",
        alt=f"The {len(frame)} rows as numbered discs in the colour of their class, all in one line. Dashed rings mark "
        f"those whose {attributes[0]} is missing. Below the line the question branches to its answers; the branches "
        "are still empty.",
        size=(480, 320),
        background=_legend(frame, target),
        controls=[Choice("Ask about", attributes), Choice("Show", STEPS)],
        frame=lambda attribute, step: question(frame, target, attribute, step),
        challenge="Which attribute would you ask about first? And where would you send the melons that cannot answer?",
    )


def shared_out(frame: pd.DataFrame, target: str, attribute: str) -> Picture:
    """The last step of :func:`question` for one attribute."""
    drawing, sentence = question(frame, target, attribute, STEPS[2])
    alt = f"The rows in the branches of the question about the {attribute}, whole rows as numbered discs, shares of a "
    return Picture(f"{alt}row as smaller discs. {sentence}", (480, 320), _legend(frame, target) + drawing)


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
    return Picture(alt, (480, 26 * len(nodes) + 12), drawing)


def surrogate_plane(frame: pd.DataFrame, kind: Sequence[str], split: float, surrogate: float) -> Picture:
    """Rows in the plane of two columns, the first of which has gaps, with the split on it and the surrogate split."""
    (split_name, x), (name, y) = ((column, frame[column]) for column in frame)
    classes, code = _classes(pd.Series(kind))
    plane = Plane((x.min() - 0.15, x.max() + 0.15), (y.min() - 0.2, y.max() + 0.2), (44, 66, 464, 266))
    is_known = x.notna().to_numpy()
    points = "".join(in_class(code[i], dot(plane.x(x.iloc[i]), plane.y(y.iloc[i]))) for i in np.flatnonzero(is_known))
    unknown = "".join(
        line(44, plane.y(y.iloc[i]), 464, plane.y(y.iloc[i]), stroke_dasharray="2 5")
        + text(plane.x(split) + 6, plane.y(y.iloc[i]) - 6, f"{frame.index[i]}: {split_name}?", font_size=14)
        for i in np.flatnonzero(~is_known)
    )
    cuts = line(plane.x(split), 56, plane.x(split), 266, stroke_width=3) + line(
        44, plane.y(surrogate), 464, plane.y(surrogate), stroke_width=2, stroke_dasharray="8 5"
    )
    words = text(plane.x(split) + 6, 68, f"{split_name} = {split:.2f}", font_size=14)
    words += text(46, plane.y(surrogate) - 7, f"{name} = {surrogate:.2f}", font_size=14)
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


def plot_with_holes(runs: pd.DataFrame) -> None:
    """Accuracy of each way (rows) for each kind of holes (panels): every run as a dot, their mean as a bar.

    `runs` has the columns holes, way and accuracy.
    """
    kinds, ways = runs["holes"].unique(), runs["way"].unique()
    with plt.rc_context({"font.size": 12}):
        figure, panels = plt.subplots(1, len(kinds), figsize=(6.4, 3.6), sharex=True, sharey=True, layout="constrained")
        for ax, kind in zip(panels, kinds, strict=True):
            for place, way in enumerate(ways):
                accuracy = runs.loc[(runs["holes"] == kind) & (runs["way"] == way), "accuracy"]
                ax.plot(accuracy, np.full(len(accuracy), place), "o", markersize=4, alpha=0.4, color=CLASS_COLORS[0])
                ax.plot([accuracy.mean()] * 2, [place - 0.3, place + 0.3], color="black", linewidth=2)
            ax.set(title=kind, yticks=range(len(ways)), yticklabels=ways)
            ax.spines[["top", "right"]].set_visible(False)
        panels[0].invert_yaxis()
        figure.supxlabel("accuracy on held-out rows", fontsize=12)
    plt.show()
