"""The orders of a level: its own entries, node by node and within a node by value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treekit.growing.level import Level, descend, first_level
from treekit.growing.presorted import sort_columns


def root_of(values, weight) -> Level:
    columns = list(range(len(values)))
    return first_level(np.ones((1, len(weight))), weight, columns, sort_columns(values, columns))


def sorted_anew(level, values):
    """What the orders must be, but for the order of equal values."""
    return [values[j, level.entry[np.lexsort([values[j, level.entry], level.node])]] for j in range(len(values))]


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([2, 3]))
def test_orders_are_those_of_sorting_the_level_anew(seed, reads_between, n_branches):
    """Whether or not the levels between read theirs, after nodes were left out, with rows of weight zero."""
    rng = np.random.default_rng(seed)
    values, weight = rng.integers(0, 9, (2, 40)).astype(float), np.ones(40)
    weight[rng.random(40) < 0.1] = 0
    level = root_of(values, weight)
    for _ in range(3):
        level, _ = descend(level, rng.integers(0, n_branches, 40)[level.entry], np.full(level.n_nodes, n_branches), 1)
        if reads_between:
            assert len(level.orders[0]) == len(level.entry)
        filled = np.flatnonzero(level.n_samples)
        level = level.keep_only(filled[(rng.random(len(filled)) < 0.8) | (filled == filled[0])])
    read = [values[j, order] for j, order in enumerate(level.orders)]
    assert np.array_equal(read, sorted_anew(level, values))


def test_leaving_nodes_out_changes_nothing_until_the_smaller_level_reads():
    root = root_of(np.array([[3.0, 1, 2, 0]]), np.ones(4))
    level, _ = descend(root, np.array([0, 0, 1, 1]), np.array([2]), next_id=1)
    smaller = level.keep_only(np.array([1]))
    assert level.orders.tolist() == [[1, 0, 3, 2]]
    assert smaller.orders.tolist() == [[3, 2]]
    with pytest.raises(RuntimeError, match="moved on"):
        _ = level.orders
    with pytest.raises(RuntimeError, match="moved on"):
        _ = level.keep_only(np.array([0])).orders  # as many entries, but others


@pytest.mark.parametrize("next_reads", [False, True])
def test_a_level_whose_rows_have_moved_on_is_refused(next_reads):
    """Both levels have as many entries: without a refusal the older one would read the orders of the next."""
    root = root_of(np.array([[3.0, 1, 2, 0]]), np.ones(4))
    _ = root.orders
    branch, two = np.array([0, 1, 0, 1]), np.array([2])
    level, _ = descend(root, branch, two, next_id=1)
    if next_reads:
        _ = level.orders
    with pytest.raises(RuntimeError, match="moved on"):
        _ = root.orders
    with pytest.raises(RuntimeError, match="moved on"):
        descend(root, branch, two, next_id=1)
    assert level.orders.tolist() == [[2, 0, 3, 1]]
