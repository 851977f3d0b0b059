"""Which branch a category takes at a node that tests a column of categories.

Where a node cuts the categories in two, only those of its training rows have a branch, and in most nodes they are few.
So the pairs (node, category) that have one are kept in this order, and found by binary search. A level of a binary tree
has no more such pairs than entries (row, node, weight), however many nodes and categories there are. Where each
category has a branch of its own, there are as many pairs as children.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treekit.numeric import Bools, Ints, Numbers, Wholes, repeat_with_index

__all__ = ["Routes", "BranchPerCategory", "routes_of_pairs", "join_routes"]

#: The key of a pair is node * STRIDE + category: keys are in the order of the pairs. No column has so many categories.
STRIDE = 2**32


class Routes(NamedTuple):
    """The branches of the pairs (node, category) that have one, in this order.

    Attributes
    ----------
    key : array of shape (n_pairs,)
        Node and category as one number, increasing.
    branch : array of shape (n_pairs,)
        The branch that the category takes at the node.
    """

    key: Wholes
    branch: Ints

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.key)

    @property
    def node(self) -> Ints:
        """Node of each pair."""
        return (self.key // STRIDE).astype(np.intp)

    @property
    def category(self) -> Ints:
        """Category of each pair: its code, a place among the categories of the column."""
        return (self.key % STRIDE).astype(np.intp)

    def branch_of(self, node: Ints, category: Numbers) -> Ints:
        """The branch that each category takes at its node; -1 where it has none, as a code below 0 never has.

        Takes O(log pairs) for each.
        """
        if not self.n_pairs:
            return np.full(len(node), -1)
        key = node * np.int64(STRIDE) + category.astype(np.int64)
        pair = np.minimum(np.searchsorted(self.key, key), self.n_pairs - 1)
        return np.where(self.key.take(pair) == key, self.branch.take(pair), -1)

    def categories(self, node: int, branch: int) -> Ints:
        """The categories that take a branch at one node, in increasing order."""
        first, last = np.searchsorted(self.key, np.array([node, node + 1]) * np.int64(STRIDE))
        takes_branch = self.branch[first:last] == branch
        return (self.key[first:last][takes_branch] % STRIDE).astype(np.intp)

    def renumbered(self, number: Ints) -> Routes:
        """The routes of some nodes under new numbers: ``number`` holds that of each node, or -1 to leave it out."""
        if not self.n_pairs:
            return self
        node = number[self.node]
        kept = np.flatnonzero(node >= 0)
        return routes_of_pairs(node[kept], self.category[kept], self.branch[kept])

    def of(self, nodes: Ints | slice | Bools, n_nodes: int) -> Routes:
        """The routes of some of ``n_nodes`` nodes, their numbers or booleans, numbered as these come: 0, 1, ..."""
        if not self.n_pairs:
            return self
        number, nodes = np.full(n_nodes, -1), np.arange(n_nodes)[nodes]
        number[nodes] = np.arange(len(nodes))
        return self.renumbered(number)


#: Where no node tests a column of categories.
NO_ROUTES = Routes(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.intp))


class BranchPerCategory(NamedTuple):
    """The routes of a column that sends category k down branch k at every node: made only for the nodes that test it.

    ``n_values`` is the number of categories, with training rows in the node or without.
    """

    n_values: int

    def renumbered(self, number: Ints) -> Routes:
        """As for :class:`Routes`."""
        chosen = number[number >= 0]
        node, category = repeat_with_index(chosen, np.full(len(chosen), self.n_values))
        return routes_of_pairs(node, category, category)


def routes_of_pairs(node: Ints, category: Ints, branch: Ints) -> Routes:
    """The routes of pairs in any order, each of them given once."""
    return _in_order(node * np.int64(STRIDE) + category, branch)


def join_routes(parts: Sequence[Routes]) -> Routes:
    """The routes of several groups of nodes, whose numbers differ, as one."""
    parts = [part for part in parts if part.n_pairs]
    if len(parts) < 2:
        return parts[0] if parts else NO_ROUTES
    keys, branches = zip(*parts)
    return _in_order(np.concatenate(keys), np.concatenate(branches))


def _in_order(key: Wholes, branch: Ints) -> Routes:
    # Mostly in order already, which a stable sort finds out in linear time.
    order = np.argsort(key, kind="stable")
    return Routes(key[order], branch[order])
