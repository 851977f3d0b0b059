"""The figures of the chapter on choosing a model: coins that are tossed and counted, and the folds of a split."""

import itertools
import re

import numpy as np
import pytest
from scipy.stats import binom

from figures.choosing import BAGS, coins_explorer, nested_folds
from tests.figures.states import frames, states
from treekit.datasets import load_watermelon

EVEN = range(2, 18, 2)


@pytest.fixture(scope="module")
def melons():
    return load_watermelon("3.0")


@pytest.fixture(scope="module")
def figure(melons):
    return coins_explorer(melons)


def numbers(words):
    """The whole numbers in some words."""
    return [int(number) for number in re.findall(r"\d+", words)]


def coins_of(frame):
    """Where the coins lie."""
    return [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="3.5"', frame.drawing)]


def scores_of(frame):
    """How many validation melons each coin gets right, by the pile in which it lies."""
    return [round((x - 34) / 48) for x, _ in coins_of(frame)]


def told(sentence):
    """How many validation melons, and how many test melons, the best coin gets right."""
    found = re.search(r"gets (\d) of the 8 validation melons right, and (\d) of the 9 test melons", sentence)
    return int(found[1]), int(found[2])


def test_the_melons_above_the_line_are_those_that_the_sentence_counts(figure):
    for _, places, sentence, _ in states(figure):
        lines = {True: 58, False: 158}
        above = {row: places[row][1] < lines[row in EVEN] for row in range(1, 18)}
        assert told(sentence) == tuple(sum(above[row] for row in above if (row in EVEN) == part) for part in lines)


def test_more_coins_never_make_the_best_worse_on_the_melons_that_choose(figure):
    best = {values: told(frame.sentence)[0] for values, frame in frames(figure)}
    for bag in BAGS:
        scores = [score for (name, _), score in best.items() if name == bag]
        assert scores == sorted(scores)


def test_there_are_as_many_coins_as_were_tossed_and_the_best_lies_at_its_score(figure):
    for (_, n), frame in frames(figure):
        coins = coins_of(frame)
        assert len(coins) == n == len(set(coins))
        assert max(scores_of(frame)) == told(frame.sentence)[0]
        places = dict(zip(figure.panels[0].marks, frame.scenes[0].places, strict=True))
        assert scores_of(frame)[coins.index(places["best"][:2])] == told(frame.sentence)[0]


def test_the_coins_are_fair(figure):
    """The scores of each bag are what one can expect of coins."""
    for (bag, n), frame in frames(figure):
        if n == 100:
            assert np.mean(scores_of(frame)) == pytest.approx(4, abs=3 * binom(8, 0.5).std() / 10), bag


def test_the_guess_is_the_mean_of_a_coin_and_each_bag_is_to_be_found(figure):
    assert figure.guess.answer == 9 / 2 and "4.5 of 9 are to be expected" in figure.guess.truth
    assert [frame.found for (_, n), frame in frames(figure) if n == 100] == [1, 2, 3]
    assert not any(frame.found for (_, n), frame in frames(figure) if n < 100)


def test_each_training_melon_chooses_once_and_no_test_melon_does(melons):
    alt = nested_folds(melons).alt
    folds, test = re.search(r"that choose, (.+), and the test .* the test melons, (.+), which judge", alt).groups()
    choose, test = [numbers(fold) for fold in folds.split(";")], numbers(test)
    assert [len(fold) for fold in choose] == [4, 4, 4] and len(test) == 5
    assert sorted(itertools.chain(test, *choose)) == list(range(1, 18))
