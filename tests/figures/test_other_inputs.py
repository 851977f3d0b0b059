"""The figures compute what they say: on tables that nobody has drawn their answers are treekit's, and NumPy's."""

import re

import numpy as np
import pandas as pd
import pytest

from figures.adaboost import LeastError, adaboost_explorer
from figures.c45 import NO_QUESTION, price_explorer
from figures.cart import sliding_gini, sliding_squares
from figures.cover import falling_melons
from figures.entropy import BASKET, arch_explorer, doubt_explorer, shuffle_explorer
from figures.forests import eaten_explorer
from figures.gbdt import residual_explorer
from figures.id3 import NOT_YET, gain_bars, split_explorer
from figures.missing_values import question_explorer
from figures.oblique import tilt_explorer
from figures.pruning import alpha_explorer
from figures.scale import blocks_explorer
from tests.figures.states import states
from treekit import (
    AdaBoostClassifier,
    CARTClassifier,
    CARTRegressor,
    GBDTRegressor,
    ID3Classifier,
    cost_complexity_path,
    prune_cost_complexity,
)
from treekit.datasets import load_watermelon
from treekit.measures import conditional_entropy, entropy, gain_ratio, gini_index, information_gain, split_information

COLUMNS = ["density", "sugar"]


@pytest.fixture(params=range(3))
def rng(request):
    return np.random.default_rng(request.param)


@pytest.fixture
def words(rng):
    """Seventeen melons with the labels of others."""
    melons = load_watermelon()
    return melons.assign(ripe=rng.permutation(melons["ripe"]))


def drawn(rng):
    """Twelve melons of two numbers, drawn at random, the ripe ones rather dense and sweet."""
    X = pd.DataFrame(rng.uniform(0.1, 0.9, (12, 2)).round(3), index=range(1, 13), columns=COLUMNS)
    score = X.sum(axis=1) + rng.normal(0, 0.2, 12)
    return X.assign(ripe=np.where(score > score.median(), "yes", "no"))


@pytest.fixture
def numbers(rng):
    return drawn(rng)


def right(figure):
    return [value for value in figure.guess.values if "that is right" in figure.guess.verdict(value)]


def test_melons_fall_as_id3_sends_them(words):
    X, y = words.drop(columns="ripe"), words["ripe"]
    left = {A: conditional_entropy(X[A], y) for A in X}
    figure = falling_melons(words, "ripe", first=list(X), max_depth=1, guess=True)
    for (question,), _, sentence, _ in states(figure):
        assert question == NOT_YET or f"= {left[question]:.3f} bits are left" in sentence
    assert set(right(figure)) == {A for A in X if np.isclose(left[A], min(left.values()))}


def test_groups_gain_what_information_gain_says(words):
    nine = words.sample(9, random_state=1)
    gains = {A: information_gain(nine[A], nine["ripe"]) for A in nine.columns.drop("ripe")}
    best = max(gains, key=gains.get)
    for (question,), _, sentence, found in states(split_explorer_of(nine, gains, best)):
        if question != NOT_YET:
            assert f"The gain is {gains[question]:.3f} bits" in sentence
            assert found == (question != best and bool(np.isclose(gains[question], gains[best])))


def split_explorer_of(table, gains, best):
    """The figure needs an equal of the best attribute: its copy is one."""
    assert gains[best] > 0
    gains["copy"] = gains[best]
    return split_explorer(table.assign(copy=table[best]), "ripe", best)


def test_bars_are_as_long_as_the_gains(words):
    X, y = words.drop(columns="ripe"), words["ripe"]
    gains = pd.Series({A: information_gain(X[A], y) for A in X})
    widths = np.array(re.findall(r'<rect [^>]*width="([^"]*)"', gain_bars(gains, entropy(y)).drawing), dtype=float)
    gained, left = widths[::2], widths[1::2]
    assert gained + left == pytest.approx(320, abs=0.02)
    assert gained / 320 == pytest.approx(gains.sort_values(ascending=False) / entropy(y), abs=1e-4)


def test_a_basket_is_as_doubtful_as_its_entropy(words):
    for (n_ripe,), _, sentence, _ in states(doubt_explorer(words["ripe"])):
        assert f"the doubt is {entropy(['yes'] * n_ripe + ['no'] * (BASKET - n_ripe)):.3f}" in sentence


def test_the_gain_under_the_arch_is_that_of_the_branches(words, rng):
    answers = pd.Series(np.isin(words.index, rng.choice(words.index, rng.integers(4, 14), replace=False)), words.index)
    figure, gains, found = arch_explorer(answers, words["ripe"]), [], []
    across = next(value for value in figure.panels[0].marks if value == "gain")
    for (n_ripe,), places, sentence, is_found in states(figure):
        in_yes = [row for row in words.index if abs(places[row][0] - 252) % 26 == 0 and places[row][0] >= 252]
        assert len(in_yes) == answers.sum() and (words.loc[in_yes, "ripe"] == "yes").sum() == n_ripe
        gains.append(information_gain(words.index.isin(in_yes), words["ripe"]))
        assert f"lies {gains[-1]:.3f} below the {entropy(words['ripe']):.3f} bits" in sentence
        assert places[across][3] == pytest.approx(198 * gains[-1], abs=1e-6)  # the bar, in pixels
        found.append(is_found)
    assert found == [gain == min(gains) for gain in gains] and right(figure) == [
        figure.controls[0].values[int(np.argmin(gains))]
    ]
    assert information_gain(answers, words["ripe"]) == pytest.approx(gains[figure.controls[0].start_index])


def test_a_deal_gains_what_its_labels_say(words):
    figure = shuffle_explorer(words["texture"], words["ripe"], n_shuffles=12, seed=3)
    spots = {place[:2]: row for row, place in next(states(figure))[1].items()}
    for _, places, sentence, _ in states(figure):
        dealt = {spots[place[:2]]: words["ripe"][owner] for owner, place in places.items()}
        assert f"the gain is {information_gain(words['texture'], pd.Series(dealt)[words.index]):.3f} bits" in sentence


def test_a_price_is_the_split_information(words):
    X, y = words.drop(columns="ripe"), words["ripe"]
    ratios = {A: gain_ratio(X[A], y) for A in X}
    for (question,), _, sentence, found in states(price_explorer(X, y)):
        if question != NO_QUESTION:
            assert (
                f"= {split_information(X[question]):.3f} bits, the gain {information_gain(X[question], y):.3f}"
                in sentence
            )
            assert found == (ratios[question] == max(ratios.values()))


def test_the_lowest_cut_is_carts(numbers):
    cut = CARTClassifier(max_depth=1).fit(numbers[["density"]], numbers["ripe"]).tree_.threshold[0]
    cuts = np.convolve(np.sort(numbers["density"]), [0.5, 0.5], "valid")
    lowest = [gini_index(numbers["density"] <= at, numbers["ripe"]) for at in cuts]
    figure = sliding_gini(numbers[["density", "ripe"]], "ripe", [cuts[0], cut])
    found = [at for (at,), _, _, is_found in states(figure) if is_found]
    assert cut == pytest.approx(cuts[int(np.argmin(lowest))]) and found[0] == pytest.approx(cut)


def test_the_lowest_cut_of_numbers_is_carts(numbers):
    x, y = numbers["density"].to_numpy(), numbers["sugar"].to_numpy()
    cut = CARTRegressor(max_depth=1).fit(x[:, None], y).tree_.threshold[0]
    figure = sliding_squares(x, y, "x", "y", [cut, np.sort(x)[:2].mean()])
    assert [at for (at,), _, _, found in states(figure) if found] == pytest.approx([cut])


def folds_two(tree):
    """Whether a price below that of the root takes two questions back at once."""
    return np.diff(cost_complexity_path(tree).n_leaves)[:-1].min(initial=0) < -1


def test_a_leafs_price_folds_what_pruning_folds(rng):
    tables = (drawn(rng) for _ in range(100))
    grown = ((table, CARTClassifier().fit(table[COLUMNS], table["ripe"]).tree_) for table in tables)
    numbers, tree = next(pair for pair in grown if folds_two(pair[1]))
    prices = [k / 40 for k in range(25)]
    figure = alpha_explorer(numbers, "ripe", prices, start=prices[-1])
    for (price,), _, sentence, _ in states(figure):
        pruned = prune_cost_complexity(tree, price)
        n_wrong = round(12 * (1 - pruned.score(numbers[COLUMNS], numbers["ripe"])))
        assert f"has {pruned.n_leaves} lea" in sentence and f"wrong about {n_wrong} of the 12" in sentence
    assert right(figure) in ([], [len(cost_complexity_path(tree).ccp_alphas) - 1])


def test_an_angle_gains_what_carts_cut_gains(numbers):
    X, before = numbers[COLUMNS], entropy(numbers["ripe"])
    for (degrees,), _, sentence, _ in states(tilt_explorer(numbers, COLUMNS, "ripe")):
        turned = X / np.ptp(X.to_numpy(), axis=0) @ [np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]
        tree = CARTClassifier(criterion="entropy", max_depth=1).fit(turned.to_frame(), numbers["ripe"]).tree_
        gain = before - (tree.impurity[1:] * tree.n_samples[1:]).sum() / 12
        assert f"The gain is {gain:.3f} bits" in sentence


def test_without_a_melon_the_root_asks_what_id3_asks(rng):
    words = load_watermelon().drop(index=rng.choice([9, 13, 17], 1))
    for (eaten,), _, sentence, _ in states(eaten_explorer(words, "ripe")):
        rest = words if eaten == "none" else words.drop(index=int(eaten))
        tree = ID3Classifier(max_depth=1).fit(rest.drop(columns="ripe"), rest["ripe"]).tree_
        assert f"the first question is {tree[0].question}:" in sentence


def test_the_vote_is_done_when_adaboosts_is(rng):
    x, cuts = np.arange(10), rng.choice(np.arange(9), 3, replace=False)
    y = np.where(np.sum(x[:, None] > cuts, axis=1) % 2, -1, 1)  # both ends differ, so that stumps alone can part them
    model = AdaBoostClassifier(LeastError(), n_estimators=60).fit(x[:, None], y)
    wrong = [int(np.sum(np.sign(total) != y)) for total in model.staged_decision_function(x[:, None])]
    done = wrong.index(0) + 1
    for (m,), _, sentence, found in states(adaboost_explorer(x, y, n_rounds=done + 1)):
        assert f"get {wrong[m - 1]} of 10 rows wrong" in sentence
        assert found == (m == done)
    with pytest.raises(ValueError, match=f"n_rounds: the vote of 2 stumps still gets {wrong[1]} rows wrong"):
        adaboost_explorer(x, y, n_rounds=2)


def test_residuals_are_those_of_boosting(numbers):
    x, y = numbers["density"], numbers["sugar"]
    for (rate, m), _, sentence, _ in states(residual_explorer(x, y, numbers["ripe"] == "yes", n_rounds=5)):
        model = GBDTRegressor(n_estimators=max(m, 1), learning_rate=rate, max_depth=1).fit(x.to_frame(), y)
        rest = y - (model.predict(x.to_frame()) if m else y.mean())
        assert f"add up to {(rest**2).sum():.3f}." in sentence


def test_known_melons_gain_what_they_gain_alone(rng):
    table = load_watermelon("2.0-alpha")
    table = table.assign(ripe=rng.permutation(table["ripe"]))
    for (question, _), _, sentence, _ in states(question_explorer(table, "ripe", "texture")):
        known = table[table[question].notna()]
        if "The gain is" in sentence:
            gain = len(known) / 17 * information_gain(known[question], known["ripe"])
            assert f"= {gain:.3f} bits" in sentence


def test_histograms_added_find_the_cut_of_all(numbers):
    figure = blocks_explorer(numbers["density"], numbers["ripe"] == "yes", n_blocks=3)
    ends = [sentence for (_, sent), _, sentence, _ in states(figure) if sent == 3]
    assert len(ends) == 2 and ends[0] == ends[1] and "the best cut is at" in ends[0]
