"""The sweep finds the questions of `treekit.plain`, on random tables, with gaps and weights; and is fast."""

from __future__ import annotations

import random
from functools import partial
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.test_plain import BY_GINI, BY_SQUARES, many, read, tables, targets
from treekit import plain, sweep
from treekit.plain import Node, Row


def assert_same(ours: Node, plains: Node) -> None:
    """Node by node the same rows, question and answer."""
    assert [row.x for row in ours.rows] == [row.x for row in plains.rows]
    assert ours.question == plains.question
    assert ours.value == pytest.approx(plains.value)
    for (m, branch), (answer, theirs) in zip(ours.branches.items(), plains.branches.items(), strict=True):
        assert m == answer
        assert_same(branch, theirs)


@many
@given(tables("nnww", gaps=True), st.sampled_from([0, 1, 2]), st.sampled_from([0.0, 1e-9, 0.3]))
def test_the_same_trees_for_classes(table, least, epsilon):
    D, attributes = read(*table)
    words = {A: order for A, order in attributes.items() if order is not None}
    grow = partial(plain.grow, D, send=plain.share_out)
    pairs = [
        (words, partial(sweep.largest_gain, epsilon=epsilon), partial(plain.largest_gain, epsilon=epsilon)),
        (attributes, partial(sweep.largest_ratio, least=least), partial(plain.largest_ratio, least=least)),
        (attributes, partial(sweep.best_cut, epsilon=epsilon), partial(BY_GINI, epsilon=epsilon)),
        (attributes, partial(sweep.best_cut, cost=sweep.entropy), plain.best_cut),
    ]
    for columns, swept, asked in pairs:
        ours = grow(columns, swept, sweep.shares)
        assert_same(ours, grow(columns, asked, plain.shares))
        for row in D:
            told = {k: share for k, share in plain.predict_shares(ours, row).items() if share}
            assert sweep.predict(ours, row) == pytest.approx(told)


@many
@given(tables("nnw", label=targets))
def test_the_same_trees_for_numbers(table):
    D, attributes = read(*table)
    swept = plain.grow(D, attributes, partial(sweep.best_cut, cost=sweep.squared_error, epsilon=1e-9), sweep.means)
    theirs = plain.grow(D, attributes, partial(BY_SQUARES, epsilon=1e-9), sweep.means)
    assert_same(swept, theirs)


@many
@given(tables("nw", gaps=True), st.sampled_from([1, 2.5, 4]))
def test_no_part_is_lighter_than_the_least(table, least):
    D, attributes = read(*table)
    found = sweep.gains(D, attributes, least=least)
    for question in found:
        assert min(map(plain.weight, plain.divide(D, question).values())) >= least - plain.TIE
    wanted = {q for q in sweep.gains(D, attributes) if plain.divides(D, q, least)}
    assert found.keys() == wanted


def test_a_number_far_from_zero_keeps_its_digits():
    """The squares of a billion have no digits left for halves."""
    D = [Row({"x": float(k)}, 1e9 + y) for k, y in enumerate([0, 0.5, 0, 7, 7.5, 7])]
    found = sweep.gains(D, {"x": None}, sweep.squared_error)
    assert plain.largest(found) == ("x", 2.5)
    assert found["x", 2.5] == pytest.approx(12.25)


def test_ten_thousand_rows_take_no_minutes():
    """Plain's search would take hours: n² steps for each of ten columns."""
    rng = random.Random(0)
    D = [Row({f"x{j}": rng.random() for j in range(10)}, rng.choice("ab")) for _ in range(10_000)]
    begun = process_time()
    assert sweep.best_cut(D, dict.fromkeys(D[0].x)) is not None
    assert process_time() - begun < 20
