"""Many classes: their sums are made a block of classes at a time, so that memory does not grow with rows x classes.

A row adds its weight to the sum of its own class, and nothing to any other. With few classes every row brings a column
of numbers, nearly all of them zeros, and one running sum of the columns serves all classes. With thousands of classes
those columns would be the largest thing in memory by far. So a row brings its weight and its label alone, and columns
are made for one block of classes after the other. What a cut saves is a sum over the classes, to which each block adds
its share.

A block skips the nodes that have none of its classes, for there is nothing to add. Far from the root a node has rows of
few classes, so most of the work is saved there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from treekit.growing.presorted import blocks
from treekit.numeric import Floats, Ints

if TYPE_CHECKING:
    from treekit.growing.level import Level
    from treekit.growing.thresholds import CandidateCuts

__all__ = ["MANY", "Labels", "ClassBlock", "blocks_at_cuts"]

#: From so many classes on they are scored in blocks.
MANY = 32


class Labels(NamedTuple):
    """The class of each row, of shape (n_rows,), as a number from 0 on; and the number of classes."""

    label: NDArray[np.intp]
    n_classes: int

    def take(self, rows: NDArray[np.integer]) -> Labels:
        """The classes of some rows."""
        return Labels(self.label.take(rows), self.n_classes)

    def add_up(self, amount: NDArray[np.integer], group: Ints, n_groups: int) -> NDArray[np.int64]:
        """What the rows of each class and group add up to, of shape (n_classes, n_groups)."""
        total = np.zeros(self.n_classes * n_groups, dtype=np.int64)
        np.add.at(total, self.label * n_groups + group, amount)
        return total.reshape(self.n_classes, n_groups)

    def by_group(self, amount: NDArray[np.integer], group: Ints, n_groups: int) -> csr_matrix:
        """The same as a sparse array, for groups that have rows of few classes."""
        return csr_matrix((amount.astype(np.int64), (self.label, group)), shape=(self.n_classes, n_groups))


class ClassBlock(NamedTuple):
    """The sums of some of the classes, for cuts in nodes that have rows of them.

    Attributes
    ----------
    at : array of shape (n_cuts,) or slice
        The cuts, among all that are scored.
    node : array of shape (n_cuts,)
        The node of each cut, among those of the block.
    left : array of shape (n_block, n_cuts)
        Sums of the rows on the left of each cut.
    total : array of shape (n_block, n_nodes)
        Sums of the known rows of each node.
    n : array of shape (n_nodes,)
        Weight of the known rows of each node, of all classes.
    """

    at: Ints | slice
    node: Ints
    left: Floats
    total: Floats
    n: Floats


def blocks_at_cuts(level: Level, cuts: CandidateCuts, order: NDArray[np.integer]) -> Iterator[ClassBlock]:
    """The sums below the cuts of a column, block by block.

    Parameters
    ----------
    level : Level
    cuts : CandidateCuts
    order : array of shape (n_alive,)
        The entries in the order of (node, value).
    """
    assert level.labels is not None
    known = _known_sums(level, cuts, order)
    label, n = level.labels.take(level.row).label, known.sum(axis=0)
    for classes in blocks(level.labels.n_classes, len(order)):
        has_rows = level.total[classes].any(axis=0)
        node, place, at = (np.flatnonzero(has_rows[x]) for x in (slice(None), level.node, cuts.node))
        if not len(at):
            continue
        code = np.arange(level.labels.n_classes)[classes, np.newaxis]
        part = replace(level.view(node), addend=level.addend * (label == code), total=level.total[classes][:, node])
        new_node, new_place = np.cumsum(has_rows) - 1, np.empty(len(order), dtype=np.intp)
        new_place[place] = np.arange(len(place))
        of_cut = new_node[cuts.node[at]]
        running = part.running_sums(order[np.newaxis, place])[:, 0]
        left = running.take(new_place[cuts.place[at]], axis=1) * part.unit_of(of_cut)
        yield ClassBlock(at, of_cut, left, known[classes][:, node], n[node])


def _known_sums(level: Level, cuts: CandidateCuts, order: NDArray[np.integer]) -> Floats:
    """What the entries of each node add up to whose value is known, of shape (n_classes, n_nodes)."""
    if (cuts.n_known == level.n_samples).all():
        return level.sums
    # They come first in the node.
    return level.sums_where(level.n_below <= cuts.n_known[level.node], order)
