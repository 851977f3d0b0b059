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
WAYS = ["side by side", "one after the other"]


def sample_of_each(seed):
    rng = np.random.default_rng(seed)
    return np.array([bootstrap_counts(np.ones(len(FEW)), rng) for _ in range(2)])


class Two:
    """A figure of two trees, and the same trees grown alone."""

    def __init__(self, seed):
        self.counts = sample_of_each(seed)
        self.figure = roots_explorer(DENSITY, IS_RIPE, self.counts)
        self.scene = self.figure.panels[0].frame.__self__
        self.alone = [CARTClassifier().fit(DENSITY, IS_RIPE, sample_weight=count).tree_ for count in self.counts]
        self.depths = [tree.max_depth for tree in self.alone]
        self.n_ends = dict(zip(WAYS, (max(self.depths), sum(self.depths))))

    def depth(self, way, n):
        """How deep each tree is after n partitions."""
        first, second = self.depths
        if way == WAYS[0]:
            return [min(n, first), min(n, second)]
        return [min(n, first), min(max(n - first, 0), second)]

    def here(self, way, n):
        """The trees in the row: those that were not done before the last partition."""
        n = min(n, self.n_ends[way])
        depth, before = self.depth(way, n), self.depth(way, max(n - 1, 0))
        return [tree for tree in range(2) if depth[tree] < self.depths[tree] or before[tree] < depth[tree]]

    def states(self):
        for (way, n), frame in frames(self.figure):
            yield way, min(n, self.n_ends[way]), n, frame


@pytest.fixture(scope="module", params=[2454, 8], ids=["chapter", "first deeper"])
def two(request):
    return Two(request.param)


def test_the_samples_differ_in_which_tree_is_deeper():
    depths = [Two(seed).depths for seed in (2454, 8)]
    assert depths[0] == [2, 5] and depths[1][0] > depths[1][1]


def test_every_entry_is_as_large_as_it_is_often_in_the_sample(two):
    drawn = [int(count) for count in two.counts.ravel() if count]
    for _, n, _, frame in two.states():
        seen = [(place[2], count) for place, count in zip(frame.scenes[0].places, drawn, strict=True) if place]
        assert [size**2 for size, _ in seen] == pytest.approx([count for _, count in seen], abs=0.02)
        assert n or len(seen) == len(drawn)


def test_in_either_way_each_tree_is_the_one_that_grows_alone(two):
    """Its nodes hold what they hold in a tree on its sample alone, each in the order of density."""
    for way, n, _, _ in two.states():
        row, depth = two.scene.row(way, n), two.depth(way, n)
        groups = np.split(row.orders[0], row.start[1:-1])
        assert sorted(set(row.tree.tolist())) == two.here(way, n)
        for tree in two.here(way, n):
            count, grown = two.counts[tree], two.alone[tree].to_frame()
            path = (
                CARTClassifier(max_depth=depth[tree]).fit(DENSITY, IS_RIPE, sample_weight=count)
                if depth[tree]
                else None
            )
            leaf = path.apply(DENSITY) if path else np.zeros(len(FEW), int)
            at = path.tree_.to_frame()["depth"].to_numpy()[leaf] if path else leaf
            rows = np.flatnonzero((count > 0) & (at == depth[tree]))
            expected = {frozenset(rows[leaf[rows] == node].tolist()) for node in set(leaf[rows].tolist())}
            drawn = [group - len(FEW) * tree for group, k in zip(groups, row.tree) if k == tree]
            assert {frozenset(group.tolist()) for group in drawn} == expected
            assert len(drawn) == (grown["depth"] == depth[tree]).sum()
        for group in groups:
            assert list(group) == sorted(group, key=lambda entry: DENSITY["density"].iloc[entry % len(FEW)])


def test_a_box_for_each_tree_that_a_partition_moves(two):
    for way, n, _, frame in two.states():
        boxes = re.findall(
            r'<rect x="([\d.]+)" y="(\d+)" width="[\d.]+" height="18" fill-opacity="([\d.]+)"', frame.drawing
        )
        columns = [round((float(x) - 2 - two.scene.indent) / two.scene.cell, 2) for x, _, _ in boxes]
        per_tree = [sum(int(y) == two.scene.foot + 22 * tree for _, y, _ in boxes) for tree in range(2)]
        assert per_tree == two.depth(way, n)
        assert set(columns) == set(range(n))
        assert {column for column, box in zip(columns, boxes) if box[2] == "1"} == ({n - 1} if n else set())


def test_who_is_moved_is_told(two):
    for way, n, at, frame in two.states():
        if not n or at > n:
            continue
        moved = [tree for tree in range(2) if two.depth(way, n)[tree] > two.depth(way, n - 1)[tree]]
        trees = "both trees" if len(moved) == 2 else f"tree {moved[0]} alone"
        assert frame.sentence.startswith(f"Partition {n} moved {trees}")
        waits = way == WAYS[1] and moved == [0]
        assert ("while tree 1 waits" in frame.sentence) == waits == (">waits</text>" in frame.drawing)
        is_faint = [len(place) > 3 for place in frame.scenes[0].places if place]
        assert any(is_faint) == waits and not all(is_faint)


def test_how_many_partitions_it_takes_is_told_at_the_end(two):
    deeper, other = np.argsort(two.depths)[::-1]
    for way, _, at, frame in two.states():
        is_end = at == two.n_ends[way]
        assert frame.found == (WAYS.index(way) + 1) * is_end
        assert ("Both trees are done after" in frame.sentence) == is_end
        assert ("nothing is left to be moved" in frame.sentence) == (at > two.n_ends[way])
    ends = [frame.sentence for way, _, at, frame in two.states() if at == two.n_ends[way]]
    assert f"{max(two.depths)} partitions, as many as tree {deeper} needs by itself: tree {other}" in ends[0]
    assert f"in the first {min(two.depths)}, and" in ends[0]
    assert f"{two.depths[0]} + {two.depths[1]} = {sum(two.depths)} partitions, {min(two.depths)} more" in ends[1]


def test_what_went_left_stands_before_what_went_right(two):
    node = {}  # of each entry, before the partition
    for way, n, _, _ in two.states():
        row, above = two.scene.row(way, n), node
        node = dict(zip(row.orders[0].tolist(), np.repeat(row.nodes, np.diff(row.start)).tolist()))
        if not n:
            continue
        before = two.scene.row(way, n - 1)
        cut = dict(zip(before.nodes.tolist(), before.threshold.tolist()))
        spans = re.findall(r'<line x1="([\d.]+)" y1="195" x2="([\d.]+)"', two.scene.went(row, way, n))
        (_, left_end), (right, right_end) = [tuple(map(float, ends)) for ends in spans[:2]]
        for entry, x in zip(row.orders[0].tolist(), two.scene.across(row)):
            if above.get(entry) in (node[entry], None):
                assert x > right_end or above == node  # it waits; or nothing has moved
            elif DENSITY["density"].iloc[entry % len(FEW)] <= cut[above[entry]]:
                assert x < left_end
            else:
                assert right < x < right_end


def test_each_node_asks_what_its_tree_asks(two):
    for way, n, _, frame in two.states():
        asked = [
            two.alone[tree].threshold[node.id].round(4)
            for tree in two.here(way, n)
            for node in two.alone[tree].walk()
            if node.depth == two.depth(way, n)[tree] and not node.is_leaf
        ]
        assert sorted(float(cut) for cut in re.findall(r"≤ (\.\d{3,4})<", frame.drawing)) == sorted(asked)


def test_the_stroke_divides_the_entries_by_their_values(two):
    for way, n, _, _ in two.states():
        row = two.scene.row(way, n)
        strokes = [float(x) for x in re.findall(r'<line x1="([\d.]+)" y1="107"', two.scene.asked(row))]
        assert len(strokes) == row.splits.sum()
        groups = np.split(row.orders[0], row.start[1:-1])
        spots = np.split(np.array(two.scene.across(row)), row.start[1:-1])
        cuts = [c for c in zip(groups, spots, row.threshold, row.splits) if c[3]]
        for stroke, (group, x, cut, _) in zip(strokes, cuts, strict=True):
            density = DENSITY["density"].to_numpy()[group % len(FEW)]
            assert ((x < stroke) == (density <= cut)).all()


def test_a_wrong_guess_hears_what_is_wrong_with_it():
    """No order by density puts the highest that goes left in one tree before the lowest that goes right in another."""
    two = Two(2454)
    guess, cuts = two.figure.guess, [tree.threshold[0] for tree in two.alone]
    sides = [(float(d), bool(d <= cut)) for count, cut in zip(two.counts, cuts) for d in DENSITY["density"][count > 0]]
    left, right = max(d for d, is_left in sides if is_left), min(d for d, is_left in sides if not is_left)
    assert left > right
    told = f"{left:.2f} goes left in one tree, and {right:.2f} right".replace("0.", ".")
    assert told in guess.verdict("the lowest densities")
    of_first = [is_left for _, is_left in sides[: (two.counts[0] > 0).sum()]]
    assert any(of_first) and not all(of_first)
    assert "in tree 0 some go right" in guess.verdict("all of tree 0")
    assert guess.answer == "all that went left"


def test_the_leaves_that_leave_the_row_are_named(two):
    for way, n, at, frame in two.states():
        named = re.search(r"Nodes? ([\d, and]+) (?:is a leaf|are leaves)", frame.sentence)
        leaves = set()
        if 0 < n == at:
            above, below = two.scene.row(way, n - 1), two.scene.row(way, n).orders[0]
            held = zip(above.nodes.tolist(), np.split(above.orders[0], above.start[1:-1]))
            leaves = {node for node, entries in held if not np.isin(entries, below).any()}
        assert {int(node) for node in re.findall(r"\d+", named[1] if named else "")} == leaves


def test_the_boxes_hold_a_running_sum_for_each_node():
    parts = [[4, 1, 2], [3, 3], [5, 1]]
    sums = ", ".join(str(total) for part in parts for total in np.cumsum(part))
    assert f"running sum: {sums}." in running_boxes(parts).alt
