"""Several trees as one structure with many roots, and back.

The trees of a forest grow side by side as such a structure, and rows go down all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treekit.numeric import Ints, repeat_with_index
from treekit.trees.routes import NO_ROUTES, Routes, join_routes
from treekit.trees.structure import NO_SURROGATE, OF_NODES, Surrogate
from treekit.trees.tree import Tree

__all__ = ["join_trees", "split_roots"]


def join_trees(trees: Sequence[Tree]) -> Tree:
    """Trees of one table, each with one root or many, as one structure: its roots are theirs, one tree after the other.

    Takes O(nodes), in one step for each level.
    """
    if len(trees) == 1:
        return trees[0]
    n_nodes, n_roots = np.array([[tree.n_nodes, tree.n_roots] for tree in trees]).T
    start = np.cumsum(n_nodes) - n_nodes
    arrays: dict[str, Any] = {name: np.concatenate([getattr(tree, name) for tree in trees]) for name in OF_NODES}
    first_child = np.concatenate([tree.first_child + first for tree, first in zip(trees, start)])
    # Level by level, and in a level tree by tree: so the children of a node lie one after the other, as in any Tree.
    level, k = repeat_with_index(start, n_roots)
    level, order = level + k, [np.zeros(0, dtype=np.intp)]
    while len(level):
        order.append(level)
        child, k = repeat_with_index(first_child[level], arrays["n_children"][level])
        level = child + k
    together = replace(
        trees[0],
        **arrays,
        routes=_join_routes([tree.routes for tree in trees], n_nodes),
        surrogates=tuple(
            _join_surrogates(
                [tree.surrogates[k] if k < len(tree.surrogates) else _no_surrogate(tree) for tree in trees]
            )
            for k in range(max(len(tree.surrogates) for tree in trees))
        ),
        n_roots=int(n_roots.sum()),
    )
    return together.at_nodes(np.concatenate(order), together.n_roots)


def split_roots(tree: Tree) -> list[Tree]:
    """A tree for each root. Takes O(nodes log nodes)."""
    if tree.n_roots == 1:
        return [tree]
    one_by_one = tree.at_nodes(np.argsort(tree.root_of, kind="stable"))
    last = np.cumsum(np.bincount(tree.root_of)).tolist()
    return [one_by_one.at_nodes(slice(i, j)) for i, j in zip([0, *last], last)]


def _join_routes(parts: Sequence[Routes], n_nodes: Ints) -> Routes:
    """The routes of several trees, whose nodes are numbered one tree after the other."""
    first = np.cumsum(n_nodes) - n_nodes
    return join_routes([part.renumbered(i + np.arange(n)) for part, i, n in zip(parts, first, n_nodes)])


def _join_surrogates(parts: Sequence[Surrogate]) -> Surrogate:
    *arrays, routes = zip(*parts)
    n_nodes = np.array([len(part.feature) for part in parts])
    return Surrogate._make([*map(np.concatenate, arrays), _join_routes(routes, n_nodes)])


def _no_surrogate(tree: Tree) -> Surrogate:
    """What stands for a surrogate in a tree that has fewer of them than the others."""
    return Surrogate._make([*(np.full(tree.n_nodes, nothing) for nothing in NO_SURROGATE), NO_ROUTES])
