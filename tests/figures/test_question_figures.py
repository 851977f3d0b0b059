"""The figures of the chapters on ID3 and C4.5 in which a question is chosen: every state is treekit's."""

import itertools

import numpy as np
import pytest

from figures.c45 import EVERY, RULES, price_explorer, ratio_explorer
from figures.cover import falling_melons
from figures.id3 import split_explorer
from tests.figures.states import states
from treekit import C45Classifier, ID3Classifier
from treekit.datasets import load_playtennis, load_watermelon
from treekit.measures import conditional_entropy, entropy, gain_ratio, information_gain, split_information


@pytest.fixture(scope="module")
def melons():
    return load_watermelon()


@pytest.fixture(scope="module")
def tables(melons):
    X, y = melons.drop(columns="ripe"), melons["ripe"]
    days = load_playtennis()
    XP, yP = days.drop(columns="play"), days["play"]
    return {
        "melons": (X, y),
        "+ number": (X.assign(number=X.index.astype(str)), y),
        "+ sticker": (X.assign(sticker=np.where(X.index <= 2, "yes", "no")), y),
        "tennis": (XP, yP),
        "+ day": (XP.assign(day=XP.index.astype(str)), yP),
    }


@pytest.fixture(scope="module")
def figures(melons, tables):
    clear = melons[melons["texture"] == "clear"]
    return {
        "first": falling_melons(melons, "ripe", first=melons.columns[:-1], max_depth=1, guess=True),
        "split": split_explorer(clear, "ripe", rival="stem"),
        "levels": falling_melons(melons, "ripe", guess=True),
        "price": price_explorer(*tables["+ number"]),
        "ratio": ratio_explorer(tables, ["number", "sticker", "day"], start=("+ sticker", RULES[2])),
    }


def test_clear_melons_lie_beside_the_entropy_of_their_group(figures, melons):
    clear = melons[melons["texture"] == "clear"]
    y = clear["ripe"]
    bit = 110  # pixels
    for (attribute,), places, sentence, found in states(figures["split"]):
        heights = {row: places[row][1] for row in clear.index}
        if attribute == "nothing yet":
            assert len(set(heights.values())) == 1 and not found
            continue
        groups = clear.groupby(attribute, observed=True).groups
        assert len(set(heights.values())) == len(groups)
        area = 0
        for i, rows in enumerate(groups.values()):
            _, middle, width, thick = places[f"entropy {i}"]
            assert {heights[row] for row in rows} == {middle}
            assert width == pytest.approx(bit * entropy(y.loc[rows]))
            assert thick / places["mean"][3] == pytest.approx(len(rows) / len(clear))
            area += width * thick
        after, gain = conditional_entropy(clear[attribute], y), information_gain(clear[attribute], y)
        assert places["mean"][2] == pytest.approx(bit * after) and places["gain"][2] == pytest.approx(bit * gain)
        # The groups' bars have together the area of the mean's, and a line goes on from its end.
        x, _, width, thick = places["mean"]
        assert area == pytest.approx(width * thick) and places["edge"][0] == pytest.approx(x + width)
        assert f"= {after:.3f} bits are left of 0.764. The gain is {gain:.3f} bits (rounded at the end)." in sentence
        # Umbilicus and surface gain as much as the stem; only the surface does so by groups of its own.
        assert found == (attribute == "surface")
        assert ("These are the same groups as the stem’s" in sentence) == (attribute == "umbilicus")
        other = "These are other groups than the stem’s, but again the only mixed one has 3 melons, 2 of one class."
        assert (other in sentence) == (attribute == "surface")


def test_the_verdict_names_no_question_that_was_not_guessed(figures):
    guess = figures["split"].guess
    assert {value: guess.verdict(value) for value in ("sound", "umbilicus")} == {
        "sound": "You guessed “sound”. No: the sound gains 0.331 bits, the stem 0.458.",
        "umbilicus": "You guessed “umbilicus”, and that is right: the umbilicus gains 0.458 bits, just as the stem.",
    }


def test_the_first_level_with_most_melons_in_a_leaf_is_found(figures, melons):
    X, y = melons.drop(columns="ripe"), melons["ripe"]
    id3 = ID3Classifier().fit(X, y).tree_
    depth = [id3[leaf].depth for leaf in id3.apply(X)]
    settled = next(level for level in range(5) if np.mean(np.array(depth) <= level) > 0.5)
    assert [found for *_, found in states(figures["levels"])] == [level == settled for level in range(5)]


def test_each_rule_marks_the_attribute_that_treekit_chooses(figures, tables):
    for (name, rule), places, sentence, found in states(figures["ratio"]):
        if name == EVERY:
            continue
        X, y = tables[name]
        gains, ratios = ({A: measure(X[A], y) for A in X} for measure in (information_gain, gain_ratio))
        model = C45Classifier(min_samples_leaf=1, confidence=None, max_depth=1).fit(X, y)
        winner = [max(gains, key=gains.get), max(ratios, key=ratios.get), model.tree_.root.question][RULES.index(rule)]
        assert places["winner"][:2] == places[winner][:2] and f": {winner} wins" in sentence
        assert ("and should not" in sentence) == (winner in ("number", "sticker", "day"))
        assert set(places) == {*X, "winner"}
        for A, B in itertools.pairwise(X):  # right is dearer, up is more
            assert (places[A][0] < places[B][0]) == (split_information(X[A]) < split_information(X[B]))
            assert (places[A][1] > places[B][1]) == (gains[A] < gains[B])
        competes = {A for A in X if gains[A] >= np.mean(list(gains.values())) - 1e-9 or rule != RULES[2]}
        assert {A for A in X if places[A][4] == 1} == competes
        assert found == (name == "+ day" and rule == RULES[2])


def test_while_one_guesses_every_attribute_asked_about_stands_where_its_table_puts_it(figures, tables):
    seen = {values: (places, sentence, found) for values, places, sentence, found in states(figures["ratio"])}
    assert figures["ratio"].controls[0].opens == EVERY
    for rule in RULES:
        places, sentence, found = seen[EVERY, rule]
        assert set(places) == {A for X, _ in tables.values() for A in X} and "wins" not in sentence and not found
        for name, (X, _) in tables.items():
            for A in X:
                assert places[A][:2] == seen[name, RULES[0]][0][A][:2]
    drawn = figures["ratio"]._repr_html_()
    assert "melons: 17 rows" in drawn and "tennis: 14 rows" in drawn
