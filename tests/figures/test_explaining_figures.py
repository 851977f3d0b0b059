"""The figures of the chapter on explanations: every state is treekit's answer."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest

from figures.explaining import (
    OWN,
    leaf_games,
    made_up_explorer,
    orders_explorer,
    path_explorer,
    path_of,
    shares_tree,
    two_growers,
    two_orders,
)
from tests.figures.states import frames
from treekit import CARTClassifier, RandomForestClassifier, contributions, plain
from treekit.datasets import load_watermelon

ASKED = (7, 15, 3)
GRID = [0.05, 0.15, 0.2, 0.3, 0.45]


@pytest.fixture(scope="module")
def melons():
    return load_watermelon("3.0")


@pytest.fixture(scope="module")
def tree(melons):
    D, attributes = plain.read(melons.drop(columns="ripe"), (melons["ripe"] == "yes").astype(int).tolist())
    return plain.grow(D, attributes, partial(plain.best_cut, impurity=plain.gini), leaf=plain.mean)


def places_of(panel, scene):
    return {key: place for key, place in zip(panel.marks, scene.places, strict=True) if place is not None}


def test_the_melons_that_answer_alike_are_those_of_treekits_node(melons, tree):
    X = melons.drop(columns="ripe")
    model = CARTClassifier().fit(X, melons["ripe"])
    passed = model.decision_path(X).toarray()
    parts = contributions(model, X, method="path")[:, 1]
    figure = path_explorer(tree, melons, ASKED)
    for (name, k), frame in frames(figure):
        place = melons.index.get_loc(name)
        path = np.flatnonzero(passed[place])
        k = min(k, len(path) - 1)
        alike = melons.index[passed[:, path[k]] == 1]
        at = places_of(figure.panels[0], frame.scenes[0])
        assert {melon for melon in melons.index if at[melon][1] < 300} == set(alike)
        assert at["self"] == at[name]
        assert f"a share of {(melons['ripe'][alike] == 'yes').mean():.2f}" in frame.sentence
        assert frame.found == (name == 15 and k == 2)
        moved = {A: part for A, part in zip(X, parts[place]) if abs(part) > 1e-9}
        if name == 7 and k == 3:
            assert figure.guess.answer == max(moved, key=lambda A: abs(moved[A]))
            for A, part in moved.items():
                assert f"{A}: " in frame.drawing and f"{part:+.2f}".replace("-", "−") in frame.drawing


def test_the_mean_over_all_orders_is_treekits_shapley_value(melons, tree):
    X = melons.drop(columns="ripe")
    phi = contributions(CARTClassifier().fit(X, melons["ripe"]), X)[:, 1]
    columns = ["texture", "color", "sound", "density"]

    def v(S, row, t=tree):
        if t.branches and t.question[0] in S:
            return v(S, row, t.branches[plain.answer(row, t.question)])
        if t.branches:
            return sum(len(b.rows) / len(t.rows) * v(S, row, b) for b in t.branches.values())
        return t.value

    sets = [frozenset(S) for k in range(5) for S in combinations(columns, k)]
    games = {name: {S: v(S, tree.rows[melons.index.get_loc(name)]) for S in sets} for name in (7, 15)}
    figure = orders_explorer(games, columns, turned=(15, "texture"))
    last = {name: frame for (name, k), frame in frames(figure) if k == 24}
    for name, frame in last.items():
        for column in columns:
            value = round(phi[melons.index.get_loc(name), X.columns.get_loc(column)], 2)
            assert f"{column} {value:+.2f}".replace("-", "−") in frame.sentence
    assert any(frame.found for _, frame in frames(figure))


def test_made_up_melons_get_what_the_forest_predicts(melons):
    X, ripe = melons[["density", "sugar"]], (melons["ripe"] == "yes").astype(int)
    forest = RandomForestClassifier(30, max_features=1, random_state=0).fit(X, ripe)
    figure = made_up_explorer(forest, X, ripe == 1, GRID)
    means = []
    for (given,), frame in frames(figure):
        table = X if given == OWN else X.assign(sugar=given)
        shares = forest.predict_proba(table)[:, 1]
        left, right = (places_of(*pair) for pair in zip(figure.panels, frame.scenes, strict=True))
        heights = np.array([right[name][1] for name in melons.index])
        assert np.array_equal(np.argsort(np.round(-shares, 9), kind="stable"), np.argsort(heights, kind="stable"))
        assert given == OWN or len({left[name][1] for name in melons.index}) == 1
        assert f"is {shares.mean():.2f}" in frame.sentence
        means.append(shares.mean())
        assert frame.found == (given != OWN and len(means) > 2 and means[-1] < means[-2] - 0.05)


def test_a_path_ends_in_a_leaf(tree):
    for row in tree.rows:
        path = path_of(tree, row)
        assert path[0] is tree and path[-1].value == row.y and not path[-1].branches


def test_the_growers_and_the_orders_are_drawn_with_their_numbers(tree):
    rows = [plain.Row({"sweet": a, "heavy": b}, 9 if a and b else 1) for a in (0, 1) for b in (0, 1)]
    low, high = [row for row in rows if not row.x["sweet"]], [row for row in rows if row.x["sweet"]]
    leaves = {True: plain.Node([high[0]], 1.0), False: plain.Node([high[1]], 9.0)}
    below = {True: plain.Node(low, 1.0), False: plain.Node(high, 5.0, ("heavy", 0.5), leaves)}
    grower = plain.Node(rows, 3.0, ("sweet", 0.5), below)
    assert "sweet first: 3, then 5, then 9" in two_growers({"sweet first": grower}).alt
    alt = leaf_games(grower, rows[1], lambda o, z: np.subtract(o, z)).alt  # the part of a leaf of one column
    assert "sweet: o = 1, z = 2/4, +0.50; sweet: o = 0, z = 2/4, −0.50; heavy: o = 0, z = 1/2" in alt
    assert alt.endswith("In all: sweet -4.5, heavy +4.".replace("-", "−"))
    worth = {frozenset(): 4, frozenset("a"): 5, frozenset("b"): 6, frozenset("ab"): 9}
    assert "a 1, then b 4; b 2, then a 3" in two_orders(worth, ("a", "b")).alt


def test_the_tree_of_shares_is_treekits_tree(melons, tree):
    row = tree.rows[melons.index.get_loc(7)]
    model = CARTClassifier().fit(melons.drop(columns="ripe"), melons["ripe"])
    parts = contributions(model, melons.drop(columns="ripe"), method="path")[melons.index.get_loc(7), 1, :-1]
    picture = shares_tree(tree, row, "melon 7")
    told = "8 of 17: 0.471, asked texture clear?; 1 of 8: 0.125, asked color dark?; 1 of 2: 0.5, asked sound muffled?; "
    assert picture.alt.endswith(f"On the path of melon 7: {told}1 of 1: 1.")
    drawn = picture._repr_html_()
    assert all(f"({part:+.3g})".replace("-", "−") in drawn for part in parts if abs(part) > 1e-9)
    assert drawn.count("<rect") == model.tree_.n_nodes
    assert drawn.count('stroke-width="3"') == 2 * len(path_of(tree, row)) - 1  # its nodes, and what lies between them
