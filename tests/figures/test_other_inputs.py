"""The figures compute what they say: on tables that nobody has drawn their answers are treekit's, and NumPy's."""

import itertools
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.metrics import brier_score_loss, recall_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from figures.adaboost import LeastError, adaboost_explorer, swelling_explorer
from figures.boosting_today import BEFORE, codes_explorer, growth_explorer
from figures.c45 import EVERY, NO_QUESTION, RULES, price_explorer, ratio_explorer
from figures.cart import sliding_gini, sliding_squares, steps_explorer
from figures.costs import cut_explorer, reliability_explorer, threshold_explorer
from figures.cover import falling_melons
from figures.entropy import BASKET, arch_explorer, doubt_explorer, entropy_explorer, shuffle_explorer
from figures.explaining import OWN, made_up_explorer, path_explorer, path_of
from figures.explaining import orders_explorer as orders_of_answers
from figures.forests import column_explorer, eaten_explorer, forest_explorer, variance_explorer
from figures.gbdt import _Descent, descent_explorer, residual_explorer
from figures.gbdt import price_explorer as leaves_explorer
from figures.growing import orders_explorer
from figures.id3 import NOT_YET, gain_bars, split_explorer
from figures.introduction import lunch_partition
from figures.melons import melons_named
from figures.missing_values import SIDES, question_explorer, side_explorer
from figures.oblique import tilt_explorer
from figures.pruning import NO_LIMIT, alpha_explorer, cost_explorer, curve_explorer, regions_explorer
from figures.scale import blocks_explorer
from tests.figures.states import states
from treekit import (
    AdaBoostClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    GBDTRegressor,
    ID3Classifier,
    RandomForestClassifier,
    cost_complexity_path,
    plain,
    prune_cost_complexity,
)
from treekit.datasets import load_lunch, load_watermelon
from treekit.measures import conditional_entropy, entropy, gain_ratio, gini_index, information_gain, split_information

COLUMNS = ["density", "sugar"]


@pytest.fixture(params=range(3))
def rng(request):
    return np.random.default_rng(request.param)


def permuted(rng):
    """Seventeen melons with the labels of others."""
    melons = load_watermelon()
    return melons.assign(ripe=rng.permutation(melons["ripe"]))


@pytest.fixture
def words(rng):
    return permuted(rng)


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
    ends = [sentence.partition(": ")[2] for (_, sent), _, sentence, _ in states(figure) if sent == 3]
    assert len(ends) == 2 and "the best cut is at" in ends[0]
    assert ends[1] == f"{ends[0][:-1]}, as in the order 1 2 3 4."


# The others: what each says on a table of its own, and the sentence in which it should


def basket(rng):
    for (n,), _, sentence, _ in states(entropy_explorer(permuted(rng)["ripe"])):
        yield f"{entropy(['yes'] * n + ['no'] * (BASKET - n)):.3f} bits.", sentence


def levels(rng):
    words = permuted(rng)
    X, y = words.drop(columns="ripe"), words["ripe"]
    for (level,), _, sentence, _ in states(falling_melons(words, "ripe", guess=True)):
        leaf = ID3Classifier(max_depth=level).fit(X, y).apply(X) if level else np.zeros(len(X))
        yield f"{conditional_entropy(leaf, y):.3f} bits", sentence


def winners(rng):
    words = permuted(rng)
    X, y = words.drop(columns="ripe"), words["ripe"]
    table = X.assign(number=X.index.astype(str))
    tables = {"all": table, "fewer": table.drop(columns="texture")}
    for (name, rule), _, sentence, _ in states(ratio_explorer({k: (X, y) for k, X in tables.items()}, ["number"])):
        if name != EVERY:
            table = tables[name]
            model = C45Classifier(min_samples_leaf=1, confidence=None, max_depth=1).fit(table, y)
            chosen = ["number", max(table, key=lambda A: gain_ratio(table[A], y)), model.tree_.root.question]
            yield f": {chosen[RULES.index(rule)]} wins", sentence


def lunch(rng):
    (far, high), dishes = rng.integers([100, 10], [600, 45]), load_lunch()
    near, cheap = dishes["distance_m"] <= far, dishes["price_yuan"] <= high
    views = ("one", "distance", int(far), int(high)), ("other", "price", int(far), int(high))
    for (leaf,), _, sentence, _ in states(lunch_partition(*views)):
        if leaf in ("R2", "R3"):
            held = [near & ~cheap, cheap & ~near] if leaf == "R2" else [~near, ~cheap]
            yield "; ".join(f"{', '.join(dishes.index[h])} in “{view[0]}”" for h, view in zip(held, views)), sentence


def stairs(rng):
    seen, new = (
        drawn(rng)[COLUMNS].assign(sugar=lambda rows: rows["density"].gt(0.5) + rng.normal(0, 0.2, 12)) for _ in "12"
    )
    for (n,), _, sentence, _ in states(steps_explorer(seen, new, range(1, 13))):
        tree = DecisionTreeRegressor(max_leaf_nodes=n) if n > 1 else DummyRegressor()
        tree.fit(seen[["density"]], seen["sugar"])
        errors = [((tree.predict(rows[["density"]]) - rows["sugar"]) ** 2).mean() for rows in (seen, new)]
        yield f"is {errors[0]:.3f} on the 12 training rows and {errors[1]:.3f} on the 12 held out", sentence


def limits(rng):
    seen, new = (drawn(rng) for _ in range(2))
    for (depth,), _, sentence, _ in states(regions_explorer(seen, new, "ripe")):
        tree = DecisionTreeClassifier(max_depth=None if depth == NO_LIMIT else depth, random_state=0)
        tree.fit(seen[COLUMNS], seen["ripe"])
        yield f"12 training rows {1 - tree.score(seen[COLUMNS], seen['ripe']):.0%} are", sentence
    for (least,), _, sentence, _ in states(curve_explorer(seen[COLUMNS], new[COLUMNS], "sugar")):
        tree = CARTRegressor(min_samples_leaf=least).fit(seen[["density"]], seen["sugar"])
        yield f"{((tree.predict(new[['density']]) - new['sugar']) ** 2).mean():.0f} on the 12 new ones", sentence


def prices(rng):
    table = drawn(rng)
    tree = CARTClassifier().fit(table[COLUMNS], table["ripe"]).tree_
    for (price,), _, sentence, _ in states(cost_explorer(tree, [k / 50 for k in range(26)])):
        n = prune_cost_complexity(tree, price).n_leaves
        yield f"the tree of {n} {'leaf' if n == 1 else 'leaves'} is the cheapest", sentence


def sides(rng):
    values = pd.Series([*np.arange(1, 7) / 20, np.nan, np.nan], index=range(1, 9))
    ripe = pd.Series(rng.permutation([True] * 4 + [False] * 4), values.index)
    for (cut, side), _, sentence, _ in states(side_explorer(values, ripe)):
        if side in SIDES:
            left = (values <= cut) | (values.isna() & (side == "left"))
            yield f"on the {side}: a gain of {information_gain(left, ripe):.3f} bits", sentence


def votes(rng):
    table, point = drawn(rng), (0.5, 0.5)
    X, y = table[COLUMNS], table["ripe"]
    forest = RandomForestClassifier(40, max_features=None, oob_score=True, random_state=0).fit(X, y)
    spot = pd.DataFrame([point], columns=COLUMNS)
    at_point = np.cumsum([tree.predict(spot)[0] == "yes" for tree in forest.estimators_])
    for (m,), _, sentence, _ in states(forest_explorer(X, y, point)):
        yield f"{at_point[m - 1]} of {m} vote" if m > 1 else "the whole vote", sentence


def unseen(rng):
    """Of two trees drawn at random one is wrong, or both."""
    table = drawn(rng)
    X, y = table[COLUMNS], table["ripe"]
    errors = []
    for q in (None, 1):
        forest, p = RandomForestClassifier(100, max_features=q, random_state=0), []
        for row in X.index:
            forest.fit(X.drop(index=row), y.drop(index=row))
            p.append(np.mean([tree.predict(X.loc[[row]])[0] != y[row] for tree in forest.estimators_]))
        errors.append(np.mean([2 * wrong * (1 - wrong) / 4 + wrong**2 for wrong in p]))
    frame = column_explorer(X, y).frames[1]
    for error in errors:
        yield f"squared error {error:.3f}<", frame.drawing


def floor(rng):
    for (rho, m), _, sentence, _ in states(variance_explorer()):
        covariance = np.full((m, m), rho) + (1 - rho) * np.eye(m)
        yield f"= {covariance.mean():.3f} of", sentence


def swelling(rng):
    table = drawn(rng)
    X, y = table[COLUMNS], table["ripe"]
    model = AdaBoostClassifier(LeastError(), n_estimators=60).fit(X, y)
    wrong = [X.index[says != y] for says in model.staged_predict(X)]
    done = next(m for m, names in enumerate(wrong, start=1) if names.empty)
    for (shown, m), _, sentence, found in states(swelling_explorer(X, y, n_rounds=done + 1)):
        if "vote" in shown:
            yield f"{melons_named(wrong[m - 1])} wrong", sentence
            yield str(m == done), str(found)


def descent(rng):
    x, y = np.arange(1.0, 11), rng.uniform(0, 9, 10).round(2)
    cut = GBDTRegressor(n_estimators=1, max_depth=1).fit(x[:, None], y).trees_[0][0].threshold[0]
    side = np.flatnonzero(x <= cut if (x <= cut).sum() > 1 else x > cut)[:2]
    pairs = {"near": tuple(side.tolist()), "far": (0, 9)}
    for (pair, m), _, sentence, _ in states(descent_explorer(x, y, pairs)):
        if m:
            model = GBDTRegressor(n_estimators=m, learning_rate=_Descent.rate, max_depth=1).fit(x[:, None], y)
            one, other = model.predict(x[list(pairs[pair])][:, None])
            yield f"are {one:.2f} and {other:.2f};", sentence


def leaves(rng):
    words = load_watermelon()
    clear, ripe = words["texture"] == "clear", (words["ripe"] == "yes") ^ (words.index == rng.integers(1, 18))
    for (lam, _), _, sentence, _ in states(leaves_explorer(ripe, clear, ["clear", "other"])):
        g = [(ripe[side] - 0.5).sum() for side in (clear, ~clear)]
        steps = [G / (n / 4 + lam) for G, n in zip(g, (clear.sum(), (~clear).sum()))]
        yield f"{steps[0]:+.2f} (clear) and {steps[1]:+.2f} (other)".replace("-", "−"), sentence


def bills(rng):
    table = drawn(rng)
    score, ripe = table["sugar"], table["ripe"] == "yes"
    in_order = ripe[score.sort_values(ascending=False).index].to_numpy()
    for (price, sold), _, sentence, _ in states(cut_explorer(score, ripe)):
        yield f"= {price * (~in_order[:sold]).sum() + in_order[sold:].sum()} yuan", sentence


def calls(rng):
    y = rng.random(200) < 0.3
    p = np.clip(rng.normal(0.3 + 0.3 * y, 0.2), 0, 1)
    for (_, threshold), _, sentence, _ in states(threshold_explorer(p, y)):
        yield f"recall {recall_score(y, p >= threshold):.2f}", sentence
    ways = {"a": {"as it is": p / 3, "squared": p**2}, "b": {"as it is": p, "squared": p**3}}
    for (model, way), _, sentence, _ in states(reliability_explorer(ways, y, start=("a", "squared"))):
        yield f"Brier score {brier_score_loss(y, ways[model][way]):.3f}", sentence


def explained(rng):
    words = load_watermelon("3.0")
    words["ripe"] = rng.permutation(words["ripe"])
    X, y = words.drop(columns="ripe"), (words["ripe"] == "yes").astype(int)
    D, attributes = plain.read(X, y.tolist())
    tree = plain.grow(D, attributes, partial(plain.best_cut, impurity=plain.gini), leaf=plain.mean)
    passed = CARTClassifier().fit(X, y).decision_path(X).toarray()
    turned = [name for name in words.index if turns(path_of(tree, tree.rows[words.index.get_loc(name)]))]
    for (name, k), _, sentence, _ in states(path_explorer(tree, words, turned[:2])):
        path = np.flatnonzero(passed[words.index.get_loc(name)])
        yield f"a share of {y[passed[:, path[min(k, len(path) - 1)]] == 1].mean():.2f}", sentence
    table = words[COLUMNS]
    forest = RandomForestClassifier(5, random_state=0).fit(table, y)
    for (given,), _, sentence, _ in states(made_up_explorer(forest, table, y == 1, [0.1, 0.2, 0.3])):
        rows = table if given == OWN else table.assign(sugar=given)
        yield f"is {forest.predict_proba(rows)[:, 1].mean():.2f}", sentence


def coalitions(rng):
    columns = ["a", "b", "c"]
    sets = [frozenset(S) for n in range(4) for S in itertools.combinations(columns, n)]
    worth = dict(zip(sets, rng.random(8)))
    figure = orders_of_answers({1: worth, 2: worth}, columns, turned=(2, "a"))
    *_, (_, _, sentence, _) = states(figure)
    for j in columns:
        rest = [S for S in sets if j not in S]
        shapley = sum((worth[S | {j}] - worth[S]) * [1 / 3, 1 / 6, 1 / 3][len(S)] for S in rest)
        yield f"{j} {shapley:+.2f}".replace("-", "−"), sentence


def turns(path):
    """Whether a melon's first answer raises the share and the others take more away."""
    return len(path) > 2 and path[1].value > path[0].value > path[-1].value


def codes(rng):
    words = permuted(rng)
    ripe, of_texture = words["ripe"] == "yes", words.groupby("texture", observed=True)["ripe"]
    code = of_texture.transform(lambda y: (y == "yes").mean()).astype(float)
    most = max(((code > cut) == ripe).sum() for cut in code)
    for (column, how, n), _, sentence, _ in states(codes_explorer(words)):
        if how != BEFORE and n == 17:
            yield (f" {17 if column == 'its number' else most} of them" if most > 9 else "correct for 9"), sentence


def growth(rng):
    days = pd.Series(rng.choice(30, 8, replace=False))
    x = np.arange(8)[:, None]
    for (n,), _, sentence, _ in states(growth_explorer(days)):
        if n > 1:
            tree = DecisionTreeRegressor(max_leaf_nodes=n).fit(x, days)
            error = f"{((tree.predict(x) - days) ** 2).sum():.2f}"
            yield (f"error of {error}" if "either way" in sentence else f"leaf by leaf {error}"), sentence


def orders(rng):
    table = drawn(rng)
    X, ripe = table[COLUMNS], table["ripe"] == "yes"
    for (level,), places, _, _ in states(orders_explorer(X, ripe)):
        node = CARTClassifier(max_depth=level).fit(X, ripe).apply(X) if level else np.zeros(len(X), int)
        for column, k in itertools.product(COLUMNS, np.unique(node)):
            rows = [row for row in np.flatnonzero(node == k) if len(places[f"{column} {row}"]) == 2]
            shown = sorted(rows, key=lambda row: places[f"{column} {row}"][0])
            yield str(sorted(rows, key=X[column].iloc.__getitem__)), str(shown)


OTHERS = [
    basket,
    levels,
    winners,
    lunch,
    stairs,
    limits,
    prices,
    sides,
    votes,
    unseen,
    floor,
    swelling,
    descent,
    leaves,
]
OTHERS += [bills, calls, explained, coalitions, codes, growth, orders]


@pytest.mark.parametrize("claims", OTHERS, ids=lambda claims: claims.__name__)
def test_a_figure_says_what_others_compute(claims):
    """Not here are figures without an input, and those that need a table made for them.

    The lunch and the game of questions have none; the cuts beside CART's, two roots and the levels of a cascade need
    theirs. Their own tests compare each frame with treekit's answers.
    """
    pairs = list(claims(np.random.default_rng(1)))
    assert pairs and [pair for pair in pairs if pair[0] not in pair[1]] == []
