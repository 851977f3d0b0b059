"""A tree changed by hand keeps its rows, asks what it is told to, and is told as rules."""

from __future__ import annotations

import math
from functools import partial

import pytest

from tests.test_plain import read_table
from treekit import C45Classifier, CARTRegressor, by_hand, plain, sweep
from treekit.datasets import load_playtennis, load_watermelon

MELONS, ATTRIBUTES = read_table(load_watermelon("3.0"))


def grower(depth=math.inf, **terms):
    """CART of the melons; it grows from some rows to some depth."""
    choose = partial(sweep.best_cut, epsilon=1e-9, **terms)
    return partial(
        plain.grow, attributes=ATTRIBUTES, choose=choose, leaf=sweep.shares, depth=depth, send=plain.share_out
    )


def test_the_question_that_the_tree_would_ask_changes_nothing():
    regrow = grower()
    tree = regrow(MELONS, depth=3)
    for path in ([], [False], [True]):
        question = by_hand.at(tree, path).question
        assert question is not None
        assert by_hand.ask(tree, path, question, ATTRIBUTES, regrow, depth=3) == tree


def test_another_question_keeps_the_rows_and_the_depth():
    regrow = grower()
    tree = by_hand.ask(regrow(MELONS, depth=3), [True], ("color", ("green",)), ATTRIBUTES, regrow, depth=3)
    node = by_hand.at(tree, [True])
    assert node.question == ("color", ("green",))
    assert sum(len(t.rows) for t in node.branches.values()) == len(node.rows)
    assert sum(len(leaf.rows) for leaf in plain.leaves(tree)) == len(MELONS)
    assert max(rule.count(" and ") for rule in by_hand.rules(tree)) + 1 == 3


def test_a_cut_branch_says_its_majority():
    tree = grower()(MELONS)
    node = by_hand.at(tree, [True])
    pruned = by_hand.cut(tree, [True])
    assert by_hand.at(pruned, [True]) == plain.Node(node.rows, node.value)
    assert by_hand.at(pruned, [False]) == by_hand.at(tree, [False])


def test_a_branch_without_rows_says_what_its_parent_says():
    clear = [row for row in MELONS if row.x["texture"] == "clear"]
    tree = by_hand.ask(plain.Node(clear, sweep.shares(clear)), [], ("texture", None), ATTRIBUTES, grower())
    assert {m: len(t.rows) for m, t in tree.branches.items()} == {"clear": 9, "slightly blurry": 0, "blurry": 0}
    assert tree.branches["blurry"].value == tree.value


def test_the_rules_are_those_of_the_fast_tree():
    tennis = load_playtennis()
    D, attributes = read_table(tennis)
    tree = plain.grow(D, attributes, sweep.largest_ratio, sweep.shares, send=plain.share_out)
    fast = C45Classifier(confidence=None, min_samples_leaf=2).fit(tennis.iloc[:, :-1], tennis.iloc[:, -1])
    assert by_hand.rules(tree) == fast.tree_.export_rules()


def test_the_rules_of_numbers_are_those_of_the_fast_tree():
    melons = load_watermelon("3.0-alpha")
    X, y = melons[["density"]], melons["sugar"]
    D, attributes = plain.read(X, y)
    choose = partial(sweep.best_cut, cost=sweep.squared_error)
    tree = plain.grow(D, attributes, choose, sweep.means, depth=2)
    assert by_hand.rules(tree) == CARTRegressor(max_depth=2).fit(X, y).tree_.export_rules()


@pytest.mark.parametrize(
    ("t", "text"),
    [(0.3815, "0.3815"), (2.45, "2.45"), (1.6500000000000001, "1.65"), (3.0, "3"), (1 / 3, "0.3333333333333333")],
)
def test_a_threshold_is_as_short_as_it_may_be(t, text):
    assert by_hand.threshold_text(t) == text
