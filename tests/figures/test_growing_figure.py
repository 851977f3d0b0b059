"""The figure that moves of the appendix on how treekit grows: every order is that of sorting again."""

import numpy as np
import pytest

from figures.growing import orders_explorer
from treekit.datasets import load_watermelon
from treekit.models.cart import CARTClassifier

COLUMNS = ["density", "sugar"]
MELONS = load_watermelon("3.0-alpha")
X, RIPE = MELONS[COLUMNS], MELONS["ripe"] == "yes"
LEVELS = range(CARTClassifier().fit(X, RIPE).tree_.max_depth + 1)


@pytest.fixture(scope="module")
def figure():
    return orders_explorer(X, RIPE)


def places(figure, level, column):
    """The places of the rows in one order, by row."""
    keys, scene = list(figure.panels[0].marks), figure.frames[level].scenes[0]
    found = dict(zip(keys, scene.places, strict=True))
    return [found[f"{column} {row}"] for row in range(len(X))]


def test_a_frame_for_each_level(figure):
    assert figure.controls[0].values == list(LEVELS) and len(LEVELS) == 4


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("column", COLUMNS)
def test_the_order_is_that_of_sorting_again_in_each_node(figure, level, column):
    tree = CARTClassifier(max_depth=level).fit(X, RIPE) if level else None
    nodes = tree.apply(X) if tree else np.zeros(len(X), int)
    depth = tree.tree_.to_frame()["depth"].to_numpy()[nodes] if tree else nodes
    at = places(figure, level, column)
    open_ = [row for row in range(len(X)) if depth[row] == level]
    shown = sorted(open_, key=lambda row: at[row][0])
    rank = {node: place for place, node in enumerate(dict.fromkeys(nodes[shown].tolist()))}
    assert shown == sorted(open_, key=lambda row: (rank[nodes[row]], X[column].iloc[row]))
    assert all(len(at[row]) == 2 for row in open_)


@pytest.mark.parametrize("level", LEVELS)
def test_who_has_reached_a_leaf_lies_apart_in_one_place(figure, level):
    by_density, by_sugar = (places(figure, level, column) for column in COLUMNS)
    done = [a for a, b in zip(by_density, by_sugar, strict=True) if a == b]
    assert len(set(done)) == len(done) == {0: 0, 1: 0, 2: 0, 3: 14}[level]
    others = {*by_density, *by_sugar} - {*done}
    assert all(y > max((other for _, other in others), default=0) for _, y in done)


def test_the_sentence_counts_comparisons(figure):
    sentences = [frame.sentence for frame in figure.frames]
    counts = [2 * sum(n * np.log2(n) for n in sizes) for sizes in ([17], [8, 9], [3])]
    for sentence, count in zip(sentences, counts, strict=False):
        assert f"about {count:.0f}" in sentence
    assert sentences[-1].endswith("Every melon is in a leaf.")


def test_ripe_melons_are_hollow(figure):
    for key, mark in figure.panels[0].marks.items():
        assert ("fill-opacity: 0" in mark) == RIPE.iloc[int(key.split()[1])]
