"""The figures of the chapter on boosting today: codes, and trees that scikit-learn grows, too."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from figures.boosting_today import (
    BEFORE,
    BY_LEAF,
    BY_LEVEL,
    OWN,
    best_stump,
    bundled,
    codes_explorer,
    growth_explorer,
    sampled_gradients,
    seen_labels,
)
from tests.figures.states import frames, states
from treekit.datasets import load_watermelon

DAYS = pd.Series([1, 2, 1, 2, 9, 9, 14, 20], range(1, 9))


@pytest.fixture(scope="module")
def melons():
    return load_watermelon("3.0")


def test_no_stump_of_scikit_learn_does_better(melons):
    rng, ripe = np.random.default_rng(0), (melons["ripe"] == "yes").to_numpy()
    for _ in range(20):
        code = rng.integers(0, 6, len(ripe)) / 6
        _, n_right = best_stump(code, ripe)
        stump = DecisionTreeClassifier(max_depth=1).fit(code[:, np.newaxis], ripe)
        assert n_right >= max(ripe.sum(), (~ripe).sum())
        above = stump.predict([[2.0]])[0] and not stump.predict([[-1.0]])[0]
        if above:
            assert n_right >= (stump.predict(code[:, np.newaxis]) == ripe).sum()


@pytest.fixture(scope="module")
def coded(melons):
    return codes_explorer(melons)


def lying(places):
    """The places of the melons alone, by their numbers."""
    return {name: place for name, place in places.items() if not isinstance(name, str)}


def test_a_melons_own_number_is_worth_all_or_nothing(coded):
    told = {values: frame.sentence for values, frame in frames(coded)}
    assert "classifies 17 of them correctly" in told["its number", OWN, 17]
    assert "No cut does better than one prediction for all, correct for 9." in told["its number", BEFORE, 17]
    assert told["its texture", OWN, 0].startswith("No melon has a code yet.")


def test_each_melon_is_told_how_it_gets_its_code(coded, melons):
    seen = {}
    for (column, how, n), _, sentence, _ in states(coded):
        if how == BEFORE and n in range(1, 18):
            order = [int(name) for name in re.findall(r"Melon (\d+) gets", sentence)]
            seen.setdefault(column, []).extend(order)
            own = (lambda name: name) if column == "its number" else melons["texture"].get
            alike = [name for name in seen[column][:-1] if own(name) == own(order[0])]
            assert f" {own(order[0])} " in sentence.split("=")[1]
            code = (sum(melons["ripe"][alike] == "yes") + 8 / 17) / (len(alike) + 1)
            assert f" = {code:.2f}:" in sentence and f"+ 0.47) / ({len(alike)} + 1)" in sentence
    assert {frozenset(names) for names in seen.values()} == {frozenset(melons.index)}


def test_the_new_melon_gets_the_code_of_a_new_row_and_the_cuts_answer(coded, melons):
    """Each of the others, had it come as a new one, would too: so many answers would be right."""
    ripe, texture = melons["ripe"] == "yes", melons["texture"].astype(str)
    for column, how in itertools.product(["its number", "its texture"], [OWN, BEFORE]):
        sentence = dict(frames(coded))[column, how, 18].sentence
        more, rows = int(how == BEFORE), ripe.groupby(texture)
        of_texture = (rows.sum() + more * 8 / 17) / (rows.size() + more)
        new = texture.map(of_texture) if column == "its texture" else pd.Series(8 / 17, melons.index)
        own = of_texture["clear"] if column == "its texture" else 8 / 17
        assert f" = {own:.2f}:" in sentence
        cut = re.search(r"The best cut, at ([\d.]+), calls it (ripe|unripe)", sentence)
        assert (cut is None) == ((column, how) == ("its number", BEFORE))
        called = new > (float(cut[1]) if cut else 1)  # most are unripe
        assert cut is None or (cut[2] == "ripe") == (own > float(cut[1]))
        assert f"right for {(called == ripe).sum()} of 17." in sentence


def test_lines_mark_the_melons_whose_labels_a_code_averages(coded, melons):
    """Their share of ripe is the code that the sentence tells, so a reader can check it in the drawing."""
    letters = {"clear": "c", "slightly blurry": "s", "blurry": "b"}
    queue = None
    for (column, how, n), frame in frames(coded):
        places = lying(dict(zip(coded.panels[0].marks, frame.scenes[0].places, strict=True)))
        queue = queue or [name for name, _ in sorted(places.items(), key=lambda at: at[1][0])]  # none has a code yet
        if n:
            marked = [round((float(x) - 14) / 25) for x in re.findall(r'<line x1="([\d.]+)" y1="335"', frame.drawing)]
            labels = (melons["ripe"] == "yes")[[queue[i] for i in marked]].tolist()
            code = (sum(labels) + 8 / 17) / (len(labels) + 1) if how == BEFORE else np.mean(labels)
            assert f" = {code:.2f}:" in frame.sentence
        written = re.findall(r'y="330"[^>]*>(\w)<', frame.drawing)
        assert queue[-1] == 18
        textures = [letters[melons["texture"][name]] for name in queue[:-1]]
        assert written == ([*textures, "c"] if column == "its texture" else [])


def test_melons_of_one_code_lie_around_it(coded):
    for (column, how, n), places, _, _ in states(coded):
        if column == "its number" and how == BEFORE:
            lie = [(x, y) for x, y, *_ in lying(places).values() if y < 290]
            assert len(lie) == n and len({x for x, _ in lie}) <= 4
            middle = 44 + 392 * 8 / 17
            assert n == 0 or sum({x for x, _ in lie}) / len({x for x, _ in lie}) == pytest.approx(middle, abs=1)


@pytest.fixture(scope="module")
def grown():
    return growth_explorer(DAYS)


def left(figure):
    """What is left by each number of leaves, level by level and leaf by leaf, as the drawing says."""
    return {n: [*map(float, re.findall(r"error left: ([\d.]+)", frame.drawing))] for (n,), frame in frames(figure)}


def test_the_tree_of_each_size_is_scikit_learns(grown):
    """It grows leaf by leaf if the number of leaves is limited, and level by level if the depth is."""
    x, stages, told = np.arange(1, 9)[:, None], grown.panels[0].frame.__self__.stages, left(grown)
    sizes = [(dict(max_leaf_nodes=n), n, BY_LEAF) for n in range(2, 8)]
    by_depth = {depth: DecisionTreeRegressor(max_depth=depth).fit(x, DAYS).get_n_leaves() for depth in (1, 2, 3, 4)}
    sizes += [(dict(max_depth=depth), n, BY_LEVEL) for depth, n in by_depth.items()]
    for size, n, how in sizes:
        tree = DecisionTreeRegressor(**size).fit(x, DAYS)
        error = ((tree.predict(x) - DAYS) ** 2).sum()
        assert told[n][[BY_LEVEL, BY_LEAF].index(how)] == pytest.approx(error, abs=0.005)
        assert stages[how][n - 1].depth == tree.get_depth()


def test_the_two_orders_differ_in_between_alone(grown):
    told = left(grown)
    assert [n for n, (by_level, by_leaf) in told.items() if by_level != by_leaf] == [3, 4, 5]
    assert all(by_leaf <= by_level for by_level, by_leaf in told.values())
    same = [n for (n,), frame in frames(grown) if "the same tree either way" in frame.sentence]
    assert same == [1, 2, 6, 7]


def test_no_other_four_leaves_leave_less(grown):
    """The guess asks for the best tree, and what grows leaf by leaf need not be that."""
    cuts = itertools.combinations(range(1, 8), 3)
    errors = {cut: sum(((part - part.mean()) ** 2).sum() for part in np.split(DAYS.to_numpy(), cut)) for cut in cuts}
    best = min(errors, key=errors.get)
    assert left(grown)[4][1] == pytest.approx(errors[best]) and grown.guess.answer == sum(at >= 4 for at in best)


def test_level_by_level_takes_two_leaves_more(grown):
    told = left(grown)
    enough = min(n for n, (by_level, _) in told.items() if by_level <= told[4][1])
    assert [n for (n,), frame in frames(grown) if frame.found] == [enough] == [6]
    assert "Only now" in grown.frames[enough - 1].sentence


def test_what_is_left_out_is_an_outline():
    drawing = sampled_gradients([3.0, -1.0, 0.5], kept=[0], drawn=[1], weight=2).drawing
    assert drawing.count("stroke-dasharray") == 1 and "× 2" in drawing and "kept" in drawing


def test_a_label_counts_in_its_own_ward_where_it_may_be_seen():
    drawing = seen_labels("ABA", {"all": lambda i: range(3), "before": range}).drawing
    assert drawing.count("fill-opacity") == 5 + 1  # of A four pairs and of B one; then the first A for the second
    assert drawing.count('stroke-width="3"') == 3


def test_a_bundle_shows_each_value():
    columns = pd.get_dummies(list("ABAC")).astype(int)
    picture = bundled({name: columns[name].tolist() for name in columns}, [1, 2, 1, 3])
    assert picture.alt.startswith("3 columns of zeros and ones as lines of 4 boxes")


def test_level_by_level_a_level_is_split_before_the_next(grown):
    stages = grown.panels[0].frame.__self__.stages
    for how, passed in ((BY_LEVEL, [2, 4]), (BY_LEAF, [])):
        larger = [n for n, stage in enumerate(stages[how], 1) if stage.next and stage.next.fall < most(stage) - 1e-9]
        assert larger == passed
    levels = [stage.next.level for stage in stages[BY_LEVEL] if stage.next]
    assert levels == sorted(levels)


def most(stage):
    return max(leaf.fall for leaf in stage.leaves)


def test_each_split_lowers_the_errors_by_as_much_as_it_says(grown):
    """Both numbers are in the figure, so a reader can take one from the other."""
    told = left(grown)
    for n, stages in enumerate(zip(*grown.panels[0].frame.__self__.stages.values()), 1):
        for k, stage in enumerate(stages):
            assert not stage.next or told[n][k] - told[n + 1][k] == pytest.approx(stage.next.fall, abs=0.011)
            assert not stage.next or f">{stage.next.fall:.2f}<" in grown.frames[n - 1].scenes[0].parts[k]


def test_a_node_lies_over_its_patients(grown):
    scene = grown.panels[0].frame.__self__
    for n, (how, plane) in itertools.product(range(1, 8), scene.planes.items()):
        leaves, above, _ = scene.stages[how][n - 1]
        held = sorted(leaf.ends for leaf in leaves)
        assert [k for first, last in held for k in range(first, last + 1)] == list(range(1, 9))
        boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', scene.tree(how, n))
        for (x, y, width), node in zip(boxes, (*above, *leaves), strict=True):
            over = [k for k in range(1, 9) if float(x) < plane.x(k) < float(x) + float(width)]
            assert (over[0], over[-1]) == node.ends and float(y) == scene.top + scene.pitch * node.level
