"""The figures of the chapter on entropy that compute something of their own."""

import itertools
import re

import numpy as np
import pytest

from figures.entropy import (
    BASKET,
    GAMES,
    best_plan,
    depths,
    doubt_explorer,
    entropy_explorer,
    questions_explorer,
    shuffle_explorer,
)
from tests.figures.states import frames
from treekit.datasets import load_watermelon
from treekit.measures import entropy_of_counts, information_gain


@pytest.fixture(scope="module")
def melons():
    return load_watermelon()


def basket(figure, frame, y):
    """The melons that are seen at this height of a drawing, from the left."""
    places = zip(figure.panels[0].marks, frame.scenes[0].places, strict=True)
    return [row for _, row in sorted((place[0], row) for row, place in places if place[1] == y and len(place) == 2)]


def test_the_basket_holds_the_share_on_the_axis_below_it(melons):
    ripe = melons["ripe"]
    for figure, y in [(doubt_explorer(ripe), 74), (entropy_explorer(ripe), 26)]:
        for n_ripe, frame in enumerate(figure.frames):
            inside = basket(figure, frame, y)
            assert [ripe[row] for row in inside] == ["yes"] * n_ripe + ["no"] * (BASKET - n_ripe)
            bits = entropy_of_counts(ripe[inside].value_counts())
            assert f"= {bits:.3f}" in frame.sentence.replace("doubt is", "=")
            assert "questions" not in frame.sentence or f" {100 * bits:.0f} yes-or-no questions" in frame.sentence
    figure = doubt_explorer(ripe)
    for frame in figure.frames:
        assert sorted(basket(figure, frame, 74) + basket(figure, frame, 22)) == sorted(
            set(figure.panels[0].marks) - {"dot"}
        )
    assert [n for n, frame in enumerate(figure.frames) if frame.found] == [BASKET - 1]  # as doubtful as with one


def test_the_rarer_kind_adds_more_in_every_mixed_basket(melons):
    for n_ripe, frame in enumerate(entropy_explorer(melons["ripe"]).frames[1:-1], start=1):
        parts = [float(part) for part in re.findall(r" = (0\.\d+)<", frame.drawing)]
        assert sum(parts) == pytest.approx(float(frame.sentence.split()[-2]), abs=2e-3)
        assert np.sign(parts[0] - parts[1]) == np.sign(BASKET / 2 - n_ripe)
        assert frame.found == (parts[0] == parts[1])


@pytest.mark.parametrize(
    "p", [(1.0,), (0.5, 0.5), (0.7, 0.1, 0.1, 0.1), (0.4, 0.3, 0.2, 0.1), (0.5, 0.25, 0.125, 0.125)]
)
def test_no_plan_needs_fewer_questions(p):
    """Kraft: numbers of questions n belong to a plan if and only if the sum of 2^-n is at most 1."""
    found = depths(best_plan(p, range(len(p))))
    n = [found[i] for i in range(len(p))]
    plans = itertools.product(range(len(p)), repeat=len(p))
    best = min(np.dot(p, plan) for plan in plans if sum(2.0**-k for k in plan) <= 1)
    assert np.dot(p, n) == pytest.approx(best) and sum(2.0**-k for k in n) <= 1
    assert entropy_of_counts(p) - 1e-12 <= np.dot(p, n) < entropy_of_counts(p) + 1


def test_the_first_question_of_the_reader_costs_what_the_figure_says():
    figure = questions_explorer()
    means = {}
    for (game, question), frame in frames(figure):
        terms = frame.sentence.split("takes ")[1].split(" = ")[0].split(" + ")
        counts = [int(term.split(" × ")[1]) for term in terms]
        means[game, question] = np.dot(GAMES[game], counts)
        assert f"= {means[game, question]:g} questions on average" in frame.sentence
        assert means[game, question] >= entropy_of_counts(GAMES[game]) - 1e-12
    assert [pair for pair, frame in zip(means, figure.frames) if frame.found] == [("mostly apples", "apple?")]
    assert means["mostly apples", "apple or banana?"] == 2 and means["mostly apples", "apple?"] == 1.75


def test_each_deal_is_a_shuffle_of_the_chapter_and_its_gain_treekits(melons):
    texture, ripe = melons["texture"], melons["ripe"]
    figure = shuffle_explorer(texture, ripe)
    rng = np.random.default_rng(0)
    spots = dict(zip(ripe.index, figure.frames[0].scenes[0].places, strict=True))
    for frame in figure.frames[1:]:
        labels = rng.permutation(ripe)
        assert f"the gain is {information_gain(texture, labels):.3f} bits" in frame.sentence
        # A label lies at the place of the melon that got it.
        at = {place: owner for owner, place in zip(ripe.index, frame.scenes[0].places, strict=True)}
        assert [ripe[at[spots[row]]] for row in ripe.index] == labels.tolist()
        assert frame.found == (information_gain(texture, labels) >= information_gain(texture, ripe) - 1e-9)
    assert "and 2 of 60 shuffles reached 0.381." in figure.frames[-1].sentence
