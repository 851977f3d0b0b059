"""The figures that move of the appendix on how treekit grows: every order is that of sorting again."""

import re

import numpy as np
import pytest

from figures.growing import orders_explorer, roots_explorer, running_boxes
from tests.figures.states import frames
from treekit.datasets import load_watermelon
from treekit.models.bootstrap import bootstrap_counts
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
    pairs = list(zip(by_density, by_sugar, strict=True))
    done = [(a, b) for a, b in pairs if tuple(a[:2]) == tuple(b[:2])]
    assert len({tuple(a[:2]) for a, _ in done}) == len(done) == {0: 0, 1: 0, 2: 0, 3: 14}[level]
    assert all((a[4], b[4]) == (1, 0) for a, b in done)  # one number is drawn, not two on each other
    others = [place[1] for pair in pairs if pair not in done for place in pair]
    assert all(a[1] > max(others, default=0) for a, _ in done)


def test_the_first_level_that_is_cheap_to_sort_again_is_found(figure):
    about = [int(re.search(r"about (\d+) comparisons", frame.sentence)[1]) for frame in figure.frames[:-1]]
    assert [frame.found for frame in figure.frames[:-1]] == [n < about[0] / 10 for n in about] == [False, False, True]
    assert not figure.frames[-1].found


def test_the_sentence_counts_comparisons(figure):
    sentences = [frame.sentence for frame in figure.frames]
    counts = [2 * sum(n * np.log2(n) for n in sizes) for sizes in ([17], [8, 9], [3])]
    for sentence, count in zip(sentences, counts, strict=False):
        assert f"about {count:.0f}" in sentence
    assert sentences[-1].endswith("Every melon is in a leaf.")


def test_each_level_tells_what_the_nodes_above_it_asked(figure):
    tree = CARTClassifier().fit(figure.panels[0].frame.__self__.x, RIPE).tree_
    for depth, frame in enumerate(figure.frames[1:]):
        told = set(re.findall(r"(\w+) ≤ ([\d.]+) in node", frame.sentence))
        nodes = [node for node in tree.walk() if node.depth == depth and not node.is_leaf]
        assert told == {
            (question.split(" ≤ ")[0], f"{tree.threshold[node.id]:.3f}")
            for node in nodes
            for question in [node.question]
        }
        assert f"{round(sum(tree.weight[node.id] for node in nodes))} melons went" in frame.sentence


def test_ripe_melons_are_hollow(figure):
    for key, mark in figure.panels[0].marks.items():
        assert ("fill-opacity: 0" in mark) == RIPE.iloc[int(key.split()[1])]


# ---------------------------------------------------------------------------------------------------------------------
# Two roots

FEW = load_watermelon("3.0").iloc[1::2]
DENSITY, IS_RIPE = FEW[["density"]], FEW["ripe"] == "yes"
COUNTS = np.array([bootstrap_counts(np.ones(len(FEW)), np.random.default_rng(seed)) for seed in (7, 8, 9)])
MORE = np.array([bootstrap_counts(np.ones(len(FEW)), np.random.default_rng(seed)) for seed in range(7, 107)])
DEEPEST = max(CARTClassifier().fit(DENSITY, IS_RIPE, sample_weight=count).tree_.max_depth for count in COUNTS)


@pytest.fixture(scope="module")
def roots():
    return roots_explorer(DENSITY, IS_RIPE, MORE, n_drawn=3)


def test_every_entry_is_as_large_as_it_is_often_in_the_sample(roots):
    drawn = [int(count) for count in COUNTS.ravel() if count]
    for frame in roots.frames:
        sizes = [place[2] if len(place) > 2 else 1 for place in frame.scenes[0].places]
        assert np.square(sizes) == pytest.approx(drawn, abs=0.02)


def test_each_tree_is_the_one_that_grows_alone(roots):
    """Rows stand together, those of a node in the order of density, as in a tree on the sample alone."""
    scene = roots.panels[0].frame.__self__
    alone = [CARTClassifier().fit(DENSITY, IS_RIPE, sample_weight=count) for count in COUNTS]
    assert len(scene.levels) == max(model.tree_.max_depth for model in alone) + 1
    for depth, level in enumerate(scene.levels):
        groups = np.split(level.orders[0], level.start[1:-1])
        for tree, model in enumerate(alone):
            nodes = model.tree_.to_frame()
            ends = nodes["depth"] == depth
            assert int((level.tree == tree).sum()) == int(ends.sum())
            sums = sorted(COUNTS.ravel()[group].sum() for group, k in zip(groups, level.tree) if k == tree)
            assert sums == sorted(model.tree_.weight[ends])
        for group in groups:
            assert list(group) == sorted(group, key=lambda entry: DENSITY["density"].iloc[entry % len(FEW)])


def test_tree_after_tree_takes_the_steps_of_each(roots):
    grown = [CARTClassifier().fit(DENSITY, IS_RIPE, sample_weight=count).tree_ for count in MORE]
    for (level, n_trees), frame in frames(roots):
        own = [min(level, tree.max_depth) for tree in grown[:n_trees]]
        assert f">{max(own)}</text>" in frame.drawing and f">{sum(own)}</text>" in frame.drawing
        if level:
            told = re.search(r"(\w+) steps? brings? (\d+) trees .* it takes (\d+)", frame.sentence).groups()
            assert told == ("One" if max(own) == 1 else str(max(own)), str(n_trees), str(sum(own)))


def test_a_row_in_a_leaf_lies_with_its_tree(roots):
    scene = roots.panels[0].frame.__self__
    for depth in roots.controls[0].values:
        for entry, (x, y, *_) in scene.frame(depth, 3)[2].items():
            left, right = scene.leaf_rooms()[entry // len(FEW)]
            assert y != scene.leaf_y or left < x < right


def test_each_node_asks_what_its_tree_asks(roots):
    """An entry left of the stroke in its node stands in the left child on the next level."""
    for depth in roots.controls[0].values:
        asked = [
            tree.threshold[node.id].round(3)
            for tree in (CARTClassifier().fit(DENSITY, IS_RIPE, sample_weight=count).tree_ for count in COUNTS)
            for node in tree.walk()
            if node.depth == depth and not node.is_leaf
        ]
        drawn = next(frame.drawing for values, frame in frames(roots) if values == (depth, 3))
        assert sorted(float(cut) for cut in re.findall(r"≤ (\d\.\d{3})<", drawn)) == sorted(asked)


def test_the_stroke_divides_the_entries_by_their_values(roots):
    scene = roots.panels[0].frame.__self__
    for level in scene.levels:
        strokes = [float(x) for x in re.findall(r'<line x1="([\d.]+)" y1="76"', scene.asked(level))]
        assert len(strokes) == level.splits.sum()
        groups = np.split(level.orders[0], level.start[1:-1])
        spots = np.split(np.array(scene.across(level)), level.start[1:-1])
        cuts = [c for c in zip(groups, spots, level.threshold, level.splits) if c[3]]
        for stroke, (group, x, cut, _) in zip(strokes, cuts, strict=True):
            density = DENSITY["density"].to_numpy()[group % len(FEW)]
            assert ((x < stroke) == (density <= cut)).all()


def test_the_levels_are_the_steps(roots):
    assert [control.values for control in roots.controls] == [list(range(DEEPEST + 1)), [3, 10, 100]]
    assert {values for values, frame in frames(roots) if frame.found} == {(DEEPEST, 100)}
    assert roots.guess.answer == DEEPEST


def test_the_boxes_hold_a_running_sum_for_each_node():
    parts = [[4, 1, 2], [3, 3], [5, 1]]
    sums = ", ".join(str(total) for part in parts for total in np.cumsum(part))
    assert f"running sum: {sums}." in running_boxes(parts).alt
