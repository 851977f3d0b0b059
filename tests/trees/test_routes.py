"""Routes are a table of branches by node and category, of which only what is filled in is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treekit.trees.routes import BranchPerCategory, Routes, join_routes, routes_of_pairs

N_NODES, N_VALUES = 7, 5


@st.composite
def dense_routes(draw, n_nodes=N_NODES) -> np.ndarray:
    """A branch for each node and category; -1 for none."""
    branch = draw(st.lists(st.integers(-1, 2), min_size=n_nodes * N_VALUES, max_size=n_nodes * N_VALUES))
    return np.array(branch, dtype=int).reshape(n_nodes, N_VALUES)


def sparse(table, rng=None) -> Routes:
    node, category = (table >= 0).nonzero()
    order = np.arange(len(node)) if rng is None else rng.permutation(len(node))
    return routes_of_pairs(node[order], category[order], table[node, category][order])


def dense(routes, n_nodes) -> np.ndarray:
    table = np.full((n_nodes, N_VALUES), -1)
    table[routes.node, routes.category] = routes.branch
    return table


@given(dense_routes(), st.randoms(use_true_random=False))
def test_pairs_in_any_order_are_found_again(table, random):
    routes = sparse(table, np.random.default_rng(random.getrandbits(32)))
    assert (np.diff(routes.key) > 0).all() and routes.n_pairs == np.count_nonzero(table >= 0)
    np.testing.assert_array_equal(dense(routes, N_NODES), table)
    node, category = (part.ravel() for part in np.indices((N_NODES, N_VALUES + 3)))
    code = category - 2  # -2 is unseen and -1 missing; the last one is beyond all categories
    wanted = np.pad(table, ((0, 0), (2, 1)), constant_values=-1).ravel()
    for kind in (np.int8, np.int64, np.float32, np.float64):
        np.testing.assert_array_equal(routes.branch_of(node, code.astype(kind)), wanted)
    for at in range(N_NODES):
        for branch in range(3):
            assert routes.categories(at, branch).tolist() == np.flatnonzero(table[at] == branch).tolist()


@given(dense_routes(), st.permutations(range(N_NODES)), st.integers(0, N_NODES))
def test_some_nodes_in_any_order(table, nodes, n_kept):
    kept = np.array(nodes[:n_kept], dtype=int)
    np.testing.assert_array_equal(dense(sparse(table).of(kept, N_NODES), len(kept)), table[kept])
    is_kept = np.isin(np.arange(N_NODES), kept)
    np.testing.assert_array_equal(dense(sparse(table).of(is_kept, N_NODES), len(kept)), table[is_kept])


@given(dense_routes(), st.lists(st.integers(0, 2), min_size=N_NODES, max_size=N_NODES))
def test_parts_join_to_the_whole(table, part_of):
    number = np.arange(N_NODES)
    parts = [sparse(table).renumbered(np.where(np.array(part_of) == part, number, -1)) for part in range(3)]
    for joined in (join_routes(parts), join_routes(parts[::-1])):
        np.testing.assert_array_equal(dense(joined, N_NODES), table)


def test_no_routes():
    none = join_routes([])
    assert none.n_pairs == 0 and none.branch_of(np.array([0, 3]), np.array([-1, 2])).tolist() == [-1, -1]
    assert none.categories(0, 0).tolist() == []


@pytest.mark.parametrize("number", ([0, 1], [1, 0], [-1, 0], [-1, -1]))
def test_a_branch_for_each_category(number):
    number = np.array(number)
    routes = BranchPerCategory(N_VALUES).renumbered(number)
    n_chosen = np.count_nonzero(number >= 0)
    assert dense(routes, n_chosen).tolist() == [list(range(N_VALUES))] * n_chosen
