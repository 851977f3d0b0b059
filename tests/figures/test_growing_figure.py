"""The figures that move of the appendix on how treekit grows: every order is that of sorting again."""

import itertools
import re

import numpy as np
import pytest

from figures.growing import DEEPEST, N_TREES, NONE, TREE_1, orders_explorer, roots_explorer, running_boxes
from tests.figures.states import frames
from treekit.datasets import load_watermelon
from treekit.growing import grow
from treekit.growing.level import descend
from treekit.models.bootstrap import bootstrap_counts
from treekit.models.cart import CARTClassifier, Samples

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
# A hundred roots

FEW = load_watermelon("3.0").iloc[1::2]
DENSITY, IS_RIPE = FEW[["density"]], FEW["ripe"] == "yes"


@pytest.fixture(scope="module")
def counts():
    """The samples of the chapter."""
    rng = np.random.default_rng(2454)
    return np.array([bootstrap_counts(np.ones(len(FEW)), rng) for _ in range(100)])


@pytest.fixture(scope="module")
def hundred(counts):
    return roots_explorer(DENSITY, IS_RIPE, counts)


@pytest.fixture(scope="module")
def depths(counts):
    grown = (CARTClassifier().fit(DENSITY, IS_RIPE, sample_weight=count) for count in counts)
    return [tree.tree_.to_frame()["depth"].max() for tree in grown]


def told(frame):
    """The steps side by side and one after the other, as the drawing gives them."""
    return tuple(int(n) for n in re.findall(r"at a time: (\d+) steps", frame.drawing))


@pytest.mark.parametrize("n", [1, 2, 21, 100])
def test_treekit_makes_as_many_steps_and_moves_as_many_entries(hundred, counts, n, monkeypatch):
    """Each level that treekit hands down is a step: of all trees together, or of each alone."""
    handed_down = []
    monkeypatch.setattr(grow, "descend", lambda *args: handed_down.append(len(args[1])) or descend(*args))
    model = CARTClassifier()
    for count in counts[:n]:
        model.fit(DENSITY, IS_RIPE, sample_weight=count)
    in_turn = len(handed_down)
    together = model._grow(model._training_table(DENSITY, IS_RIPE, None), Samples(counts[:n], [0] * n, None))
    assert together.n_roots == n
    assert told(at(hundred, n)) == (len(handed_down) - in_turn, in_turn)
    assert sum(handed_down[in_turn:]) == sum(handed_down[:in_turn])


def at(figure, n, out=NONE):
    return next(frame for values, frame in frames(figure) if values == (n, out))


def drawn(figure, depths):
    """Each frame with the depths of its trees, 0 for those that are taken out, by counting again."""
    for (n, out), frame in frames(figure):
        gone = {NONE: [], TREE_1: [1], DEEPEST: [k for k in range(n) if depths[k] == max(depths)]}[out]
        yield n, out, [0 if k in gone else depths[k] for k in range(n)], frame


def test_side_by_side_is_the_deepest_tree_and_one_after_the_other_the_sum(hundred, depths):
    assert depths[:2] == [2, 5] and max(depths) == 5
    for _, _, left, frame in drawn(hundred, depths):
        assert told(frame) == (max(left), sum(left))
    assert told(at(hundred, 100)) == (5, 261)


def test_a_column_for_each_tree_and_the_same_columns_end_to_end(hundred, depths):
    for _, _, left, frame in drawn(hundred, depths):
        columns = re.findall(r"M(\d+) 0v(\d+)", frame.drawing)
        assert sorted((int(k), int(depth)) for k, depth in columns) == [(k, d) for k, d in enumerate(left) if d]
        assert [int(depth) for depth in re.findall(r"m(\d+)-1v1", frame.drawing)] == [d for d in left[:-1] if d]
        ends = np.cumsum([0, *left]).tolist()
        pale, *dark = re.findall(r"M(\d+) \.5H(\d+)", frame.drawing)
        assert pale == ("0", str(sum(left)))
        deepest = [pair for pair, depth in zip(itertools.pairwise(ends), left) if depth == max(left)]
        assert [(int(a), int(b)) for a, b in dark] == deepest


def test_the_trees_than_which_none_is_deeper_are_dark(hundred, depths):
    for _, _, left, frame in drawn(hundred, depths):
        paths = re.findall(r'<path d="((?:M\d+ 0v\d+)+)"( stroke-opacity="0.5")?/>', frame.drawing)
        pale = [int(depth) for d, is_pale in paths if is_pale for depth in re.findall(r"v(\d+)", d)]
        dark = [int(depth) for d, is_pale in paths if not is_pale for depth in re.findall(r"v(\d+)", d)]
        assert set(dark) == {max(left)} and len(pale) + len(dark) == sum(depth > 0 for depth in left)
        assert not pale or max(pale) < max(left)


def test_beside_each_line_stands_how_many_trees_it_moves(hundred, depths):
    for _, _, left, frame in drawn(hundred, depths):
        counted = [int(k) for k in re.findall(r'<text x="404" y="\d+">(\d+)<', frame.drawing)]
        assert counted == [sum(depth > k for depth in left) for k in range(max(left))]
        assert sum(counted) == told(frame)[1]


def test_both_bars_have_one_unit(hundred, depths):
    unit = 428 / sum(depths)
    for _, frame in frames(hundred):
        [width] = re.findall(r'<rect x="0" y="178" width="([\d.]+)"', frame.drawing)
        assert float(width) == pytest.approx(unit * told(frame)[0], abs=0.01)
        assert f"scale({unit:.2f},14)" in frame.drawing


def test_ten_times_is_found_where_it_is_reached_and_beyond(hundred, depths):
    times = {n: sum(depths[:n]) / max(depths[:n]) for n in range(1, 101)}
    first = min(n for n in times if times[n] >= 10)
    assert times[first] == 10 and {first - 1, first, first + 1} <= set(N_TREES) and min(times.values()) == 1
    found = [n for (n, _), frame in frames(hundred) if frame.found == 1]
    assert found == [n for n in N_TREES if n >= first] == [21, 22, 50, 100]
    for n in found[:-1]:
        assert f"the average tree needs only {np.mean(depths[:n]):.1f}." in at(hundred, n).sentence
    assert np.median(depths[:10]) < max(depths[:10]) and "most are done sooner" in at(hundred, 10).sentence


def test_only_without_all_of_the_deepest_a_step_is_saved(hundred, depths):
    assert [values for values, frame in frames(hundred) if frame.found == 2] == [(100, DEEPEST)]
    n_deepest = depths.count(max(depths))
    assert (
        f"Without the {n_deepest} deepest trees, {n_deepest * max(depths)} steps" in at(hundred, 100, DEEPEST).sentence
    )
    for n, out, left, frame in drawn(hundred, depths):
        if n > 1 and out != NONE:
            lines, cells = max(depths[:n]) - max(left), sum(depths[:n]) - sum(left)
            assert f", {cells} steps fewer one after the other, and {lines or 'none'} side by side" in frame.sentence
            others = f"{left.count(5)} other trees need 5" if left.count(5) > 1 else "another tree needs 5"
            why = f"the deepest left needs only {max(left)}" if lines else others
            assert frame.sentence.endswith(f"side by side: {why}.")


def test_each_sentence_tells_what_the_last_trees_added(hundred, depths):
    for before, n in itertools.pairwise(N_TREES):
        sentence = at(hundred, n).sentence
        who = f"Tree {n - 1} adds" if n == before + 1 else f"Trees {before} to {n - 1} add"
        assert sentence.startswith(f"{who} {sum(depths[before:n])} step")
        more = max(depths[:n]) - max(depths[:before])
        assert (f"but only {more} side by side" if more else "and none side by side") in sentence
        assert f"In all that is {sum(depths[:n])} against {max(depths[:n])}, " in sentence
        [times] = re.findall(r"([\d.]+) times as many", sentence)
        assert float(times) == round(sum(depths[:n]) / max(depths[:n]), 1)


def test_the_guess_is_judged_by_the_deeper_tree(hundred, depths):
    guess = hundred.guess
    assert f"Tree 0 needs {depths[0]} steps, tree 1 needs {depths[1]}" in guess.label
    assert guess.values == [sum(depths[:2]), max(depths[:2]), np.mean(depths[:2])] and guess.answer == max(depths[:2])
    assert guess.verdict(7).startswith("You guessed 7. No: that is one after the other")


def test_the_boxes_hold_a_running_sum_for_each_node():
    parts = [[4, 1, 2], [3, 3], [5, 1]]
    sums = ", ".join(str(total) for part in parts for total in np.cumsum(part))
    assert f"running sum: {sums}." in running_boxes(parts).alt
