"""The figures that move of the appendix on how treekit grows: every order is that of sorting again."""

import itertools
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


SIZES = [[17], [8, 9], [3], []]  # of the nodes that split, level by level


def test_below_each_node_stands_what_it_takes_to_sort_it(figure):
    scene = figure.panels[0].frame.__self__
    for level, sizes in zip(scene.levels, SIZES, strict=True):
        told = [price for price in scene.prices(level) if price != "leaf"]
        assert [float(price) for price in told] == pytest.approx([n * np.log2(n) for n in sizes], abs=0.05)
        assert len(scene.prices(level)) - len(told) == (~level.splits).sum()


def test_the_comparisons_of_each_level_add_up(figure):
    counts = [round(2 * sum(n * np.log2(n) for n in sizes)) for sizes in SIZES]
    for depth, frame in enumerate(figure.frames):
        assert f">{sum(counts[: depth + 1])}</text>" in frame.drawing and f">{counts[0]}</text>" in frame.drawing
        assert depth == len(SIZES) - 1 or f"= {counts[depth]} comparisons" in frame.sentence
    assert f"= {sum(counts)} comparisons; to sort once took {counts[0]}, {sum(counts[1:])} fewer." in frame.sentence
    assert [frame.found for frame in figure.frames] == [False, False, False, True]


def test_each_level_tells_what_the_nodes_above_it_asked(figure):
    tree = CARTClassifier().fit(figure.panels[0].frame.__self__.x, RIPE).tree_
    for depth, frame in enumerate(figure.frames[1:]):
        told = set(re.findall(r"(\w+) ≤ ([\d.]+) in node", frame.sentence))
        nodes = [node for node in tree.walk() if node.depth == depth and not node.is_leaf]
        assert told == {
            (question.split(" ≤ ")[0], f"{tree.threshold[node.id]:.4f}")
            for node in nodes
            for question in [node.question]
        }
        assert f"{round(sum(tree.weight[node.id] for node in nodes))} melons, taken in order, went" in frame.sentence


def test_ripe_melons_are_hollow(figure):
    for key, mark in figure.panels[0].marks.items():
        assert ("fill-opacity: 0" in mark) == RIPE.iloc[int(key.split()[1])]


# ---------------------------------------------------------------------------------------------------------------------
# Two roots

FEW = load_watermelon("3.0").iloc[1::2]
DENSITY, IS_RIPE = FEW[["density"]], FEW["ripe"] == "yes"
COUNTS = np.array([bootstrap_counts(np.ones(len(FEW)), np.random.default_rng(seed)) for seed in (7, 8, 9)])
MORE = np.array([bootstrap_counts(np.ones(len(FEW)), np.random.default_rng(seed)) for seed in range(7, 107)])
DEPTHS = [CARTClassifier().fit(DENSITY, IS_RIPE, sample_weight=count).tree_.max_depth for count in MORE]


@pytest.fixture(scope="module")
def roots():
    return roots_explorer(DENSITY, IS_RIPE, MORE, n_drawn=3)


def test_every_entry_is_as_large_as_it_is_often_in_the_sample(roots):
    drawn, is_seen = [int(count) for count in COUNTS.ravel() if count], []
    for frame in roots.frames:
        seen = [(place[2], count) for place, count in zip(frame.scenes[0].places, drawn, strict=True) if place]
        assert [size**2 for size, _ in seen] == pytest.approx([count for _, count in seen], abs=0.02)
        is_seen.append(len(seen))
    assert is_seen[0] == is_seen[1] == len(drawn) and is_seen == sorted(is_seen, reverse=True)  # leaves are done


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
    for (level,), frame in frames(roots):
        own = [min(level, depth) for depth in DEPTHS]
        assert f">one after another: {sum(own)}</text>" in frame.drawing
        if level:
            moved = sum(depth >= level for depth in DEPTHS)
            n = f"{moved} of {len(DEPTHS)}" if moved < len(DEPTHS) else f"all {moved}"
            assert f"Step {level} moved {n} trees" in frame.sentence
            assert f" {sum(own)} steps" in frame.sentence


def test_a_cell_for_each_step_of_each_tree(roots):
    scene = roots.panels[0].frame.__self__
    for step in range(1, max(DEPTHS) + 1):
        ends = re.findall(r'<line x1="([\d.]+)" y1="[\d.]+" x2="([\d.]+)"', scene.cells(step))
        n_cells = sum((float(right) - float(left)) / scene.cell for left, right in ends)
        assert n_cells == pytest.approx(sum(depth >= step for depth in DEPTHS), abs=0.05)


def test_whose_trees_are_done_is_told(roots):
    for (step,), frame in frames(roots):
        done = [f"tree {k}" for k, depth in enumerate(DEPTHS[:3]) if depth < step]
        told = re.search(r"ended before, (.+) among them", frame.sentence)
        assert (re.findall(r"tree \d", told[1]) if told else []) == done


def test_each_drawn_tree_is_named_at_its_column(roots):
    """Above it stand as many cells as it is deep."""
    scene = roots.panels[0].frame.__self__
    for tree, depth in enumerate(DEPTHS[:3]):
        ends = [float(re.search(r'x2="([\d.]+)"', scene.cells(step))[1]) for step in range(1, max(DEPTHS) + 1)]
        assert sum(scene.column_of(tree) < end for end in ends) == depth


def test_what_went_left_stands_before_what_went_right(roots):
    scene = roots.panels[0].frame.__self__
    for above, level in itertools.pairwise(scene.levels):
        (_, left_end), (right, _) = [
            tuple(map(float, ends))
            for ends in re.findall(r'<line x1="([\d.]+)" y1="195" x2="([\d.]+)"', scene.went(level))
        ]
        cut = dict(zip(above.nodes.tolist(), above.threshold.tolist()))
        node = dict(zip(above.orders[0].tolist(), np.repeat(above.nodes, np.diff(above.start)).tolist()))
        for entry, x in zip(level.orders[0].tolist(), scene.across(level)):
            goes_left = DENSITY["density"].iloc[entry % len(FEW)] <= cut[node[entry]]
            assert x < left_end if goes_left else x > right


def test_the_frame_holds_a_cell_for_each_tree_and_step(roots):
    scene, n_steps = roots.panels[0].frame.__self__, max(DEPTHS)
    frames_ = re.findall(r'<rect x="[\d.]+" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', scene.forest())
    ((top, width, high),) = [map(float, frame) for frame in frames_]
    assert (width - 2) / scene.cell == pytest.approx(len(DEPTHS), abs=0.1)
    assert (top, high) == (scene.strip, scene.row * n_steps)


def test_each_node_asks_what_its_tree_asks(roots):
    """An entry left of the stroke in its node stands in the left child on the next level."""
    for depth in roots.controls[0].values:
        asked = [
            tree.threshold[node.id].round(4)
            for tree in (CARTClassifier().fit(DENSITY, IS_RIPE, sample_weight=count).tree_ for count in COUNTS)
            for node in tree.walk()
            if node.depth == depth and not node.is_leaf
        ]
        if not asked:
            continue  # the trees are drawn as a whole
        drawn = roots.frames[depth].drawing
        assert sorted(float(cut) for cut in re.findall(r"≤ (\.\d{3,4})<", drawn)) == sorted(asked)


def test_the_stroke_divides_the_entries_by_their_values(roots):
    scene = roots.panels[0].frame.__self__
    for level in scene.levels:
        strokes = [float(x) for x in re.findall(r'<line x1="([\d.]+)" y1="107"', scene.asked(level))]
        assert len(strokes) == level.splits.sum()
        groups = np.split(level.orders[0], level.start[1:-1])
        spots = np.split(np.array(scene.across(level)), level.start[1:-1])
        cuts = [c for c in zip(groups, spots, level.threshold, level.splits) if c[3]]
        for stroke, (group, x, cut, _) in zip(strokes, cuts, strict=True):
            density = DENSITY["density"].to_numpy()[group % len(FEW)]
            assert ((x < stroke) == (density <= cut)).all()


def test_the_levels_are_the_steps(roots):
    deepest = max(DEPTHS)
    assert [control.values for control in roots.controls] == [list(range(deepest + 1))]
    assert {values for values, frame in frames(roots) if frame.found} == {(deepest,)}
    assert roots.guess.answer == "all that went left"


def test_a_wrong_guess_hears_what_is_wrong_with_it(roots):
    """No order by density puts the highest that goes left in one tree before the lowest that goes right in another."""
    cuts = [CARTClassifier().fit(DENSITY, IS_RIPE, sample_weight=count).tree_.threshold[0] for count in COUNTS]
    sides = [(float(d), bool(d <= cut)) for count, cut in zip(COUNTS, cuts) for d in DENSITY["density"][count > 0]]
    left, right = max(d for d, is_left in sides if is_left), min(d for d, is_left in sides if not is_left)
    assert left > right
    told = f"{left:.2f} goes left in one tree, and {right:.2f} right".replace("0.", ".")
    assert told in roots.guess.verdict("the lowest densities")
    assert any(is_left for _, is_left in sides[: (COUNTS[0] > 0).sum()])
    assert not all(is_left for _, is_left in sides[: (COUNTS[0] > 0).sum()])
    assert "in tree 0 some go right" in roots.guess.verdict("all of tree 0")


def test_the_leaves_that_drop_out_are_named(roots):
    scene = roots.panels[0].frame.__self__
    for (step,), frame in frames(roots):
        named = re.search(r"Nodes? ([\d, and]+) (?:is a leaf|are leaves)", frame.sentence)
        leaves = set()
        if 0 < step < max(DEPTHS) and step <= len(scene.levels):
            above = scene.levels[step - 1]
            below = scene.levels[step].orders[0] if step < len(scene.levels) else []
            held = zip(above.nodes.tolist(), np.split(above.orders[0], above.start[1:-1]))
            leaves = {node for node, entries in held if not np.isin(entries, below).any()}
        assert {int(node) for node in re.findall(r"\d+", named[1] if named else "")} == leaves


def test_the_boxes_hold_a_running_sum_for_each_node():
    parts = [[4, 1, 2], [3, 3], [5, 1]]
    sums = ", ".join(str(total) for part in parts for total in np.cumsum(part))
    assert f"running sum: {sums}." in running_boxes(parts).alt
