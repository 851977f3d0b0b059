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
)
from tests.figures.states import frames, states
from treekit.datasets import load_watermelon


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


def test_the_tree_of_each_size_is_scikit_learns(melons):
    x, y = melons[["density"]].to_numpy(), melons["sugar"].to_numpy()
    for (how, n), frame in frames(growth_explorer(melons["density"], melons["sugar"], melons["ripe"] == "yes")):
        if how == BY_LEAF and n > 1:  # scikit-learn grows leaf by leaf if the number of leaves is limited
            tree = DecisionTreeRegressor(max_leaf_nodes=n).fit(x, y)
            assert f"add up to {((tree.predict(x) - y) ** 2).sum():.3f}" in frame.sentence


def test_the_two_orders_differ_with_four_leaves_alone(melons):
    figure = growth_explorer(melons["density"], melons["sugar"], melons["ripe"] == "yes")
    left = {values: re.search(r"add up to (\d\.\d+)", frame.sentence)[1] for values, frame in frames(figure)}
    assert [n for n in range(1, 9) if left[BY_LEAF, n] != left[BY_LEVEL, n]] == [4]


def test_what_is_left_out_is_an_outline():
    drawing = sampled_gradients([3.0, -1.0, 0.5], kept=[0], drawn=[1], weight=2).drawing
    assert drawing.count("stroke-dasharray") == 1 and "× 2" in drawing and "kept" in drawing


def test_a_bundle_shows_each_value():
    columns = pd.get_dummies(list("ABAC")).astype(int)
    picture = bundled({name: columns[name].tolist() for name in columns}, [1, 2, 1, 3])
    assert picture.alt.startswith("3 columns of zeros and ones as lines of 4 boxes")


def test_only_a_tree_that_grows_by_level_passes_over_the_largest_gain(melons):
    figure = growth_explorer(melons["density"], melons["sugar"], melons["ripe"] == "yes")
    passed = {values for values, frame in frames(figure) if "that of another leaf" in frame.sentence}
    assert (BY_LEVEL, 3) in passed and {how for how, _ in passed} == {BY_LEVEL}


def test_each_split_lowers_the_errors_by_as_much_as_it_says(melons):
    """Both numbers are in the figure, so a reader can take one from the other."""
    figure = growth_explorer(melons["density"], melons["sugar"], melons["ripe"] == "yes")
    told = {values: frame.sentence for values, frame in frames(figure)}
    left = {values: float(re.search(r"add up to (\d\.\d+)", words)[1]) for values, words in told.items()}
    falls = {values: re.search(r"lowers them by (\d\.\d+)", words) for values, words in told.items()}
    for how, n in ((how, n) for how in (BY_LEAF, BY_LEVEL) for n in range(1, 8)):
        assert left[how, n] - left[how, n + 1] == pytest.approx(float(falls[how, n][1]), abs=0.0011)
