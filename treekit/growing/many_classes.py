r"""Many classes: what a cut saves, in memory and time that do not grow with the number of classes.

A row adds its weight to the sum of its own class, and nothing to any other. With few classes every row brings a column
of numbers, nearly all of them zeros, and one running sum of the columns serves all classes. With thousands of classes
those columns would be the largest thing in memory by far. So here a row brings its weight and its label alone.

What a group of rows costs follows from its weight and from one sum over its classes, :math:`\sum_k f(p_k)`, with
:math:`f(p) = p^2` for Gini and :math:`f(p) = p \log_2 p` for entropy, where :math:`p_k` is what class k weighs in the
group, as a share of the node. A row that moves from the right of the cut to its left changes a single term of that sum
on either side. So the sums on both sides of all cuts are running sums of such changes. Take three classes a, b, c and
six rows in the order of a column; in sixths, the sums of :math:`p^2` on both sides of the cut after each row are::

    label of the row                 a       b       a       c       b       a
    its class on the left            1       1       2       1       2       3
    sum of squares on the left       1       2       5       6       9       14
    its class on the right           2       1       1       0       0       0
    sum of squares on the right      9       6       3       2       1       0

The terms are rounded, so they are turned into whole numbers before they are added up: then the sum of a group does not
depend on the order of its rows, nor on what lies in other nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.numeric import Bools, Floats, Ints, Wholes

__all__ = ["MANY", "Labels", "ClassTerms", "ClassPairs", "terms_at_places"]

#: From so many classes on. With thirty, columns take as long (Gini, 1,000 rows and 20,000); with 1,000, 50 times as
#: long.
MANY = 31

#: A sum over classes is kept as two whole numbers, which count 2**-56 and 2**-96. The sum is below 2**5, and the second
#: number keeps the digits of groups that are a small share of their node; up to 2**24 classes it has room.
COARSE, FINE = 2.0**56, 2.0**40

#: f, what a class adds to the sum of its group, from its weight as a share of the node.
Term = Callable[[Floats], Floats]


class Labels(NamedTuple):
    """The class of each row, of shape (n_rows,), as a number from 0 on; and the number of classes."""

    label: NDArray[np.intp]
    n_classes: int

    def take(self, rows: NDArray[np.integer]) -> Labels:
        """The classes of some rows."""
        return Labels(self.label.take(rows), self.n_classes)

    def add_up(self, amount: NDArray[np.integer], group: Ints, n_groups: int) -> Wholes:
        """What the rows of each class and group add up to, of shape (n_classes, n_groups)."""
        total = np.zeros(self.n_classes * n_groups, dtype=np.int64)
        np.add.at(total, self.label * n_groups + group, amount)
        return total.reshape(self.n_classes, n_groups)


class ClassTerms(NamedTuple):
    """The sums over the classes, of the terms of groups that are cut in two.

    Attributes
    ----------
    left, right : arrays of shape (n_cuts,)
        The sums on both sides of each cut.
    total : array of shape (n_nodes,)
        That of each node.
    """

    left: Floats
    right: Floats
    total: Floats


def terms_at_places(
    amount: NDArray[np.integer], label: Ints, start: Ints, share_of_unit: Floats, term: Term
) -> ClassTerms:
    """The sums on both sides of every place, for items that lie node by node. Takes O(items log items).

    Parameters
    ----------
    amount, label : arrays of shape (n_items,)
        Weight of each item, in units, and its class.
    start : array of shape (n_nodes + 1,)
        Where the items of each node begin.
    share_of_unit : array of shape (n_nodes,)
        A unit as a share of the weight of the node.
    term : function of shares
        What a class adds to the sum of its group.
    """
    n_items = np.diff(start)
    node = np.repeat(np.arange(len(n_items)), n_items)
    class_in_node = node * (label.max(initial=0) + 1) + label
    by_class = np.argsort(class_in_node, kind="stable")
    first = np.flatnonzero(np.diff(class_in_node[by_class], prepend=-1))
    start_of_class = np.append(first, len(label))
    on_left, whole = _running(amount[by_class].astype(np.int64), start_of_class)
    share = share_of_unit[node[by_class]]

    # How each item changes the term of its class on the left and on the right of the cut.
    on_right = np.repeat(whole, np.diff(start_of_class)) - on_left
    terms = _to_whole(term(np.stack([on_left, on_right]) * share))
    change = np.diff(terms, axis=-1, prepend=0)
    change[:, 0, first] = terms[:, 0, first]
    change[:, 1, first] = terms[:, 1, first] - _to_whole(term(whole * share[first]))
    in_order = np.empty_like(change)
    in_order[..., by_class] = change
    running, at_end = _running(in_order, start)
    left, right = running[:, 0], running[:, 1] - np.repeat(at_end[:, 1], n_items, axis=-1)
    return ClassTerms(_to_float(left), _to_float(right), _to_float(at_end[:, 0]))


def _running(x: Wholes, start: Ints) -> tuple[Wholes, Wholes]:
    """Running sums along the last axis that start anew at each of some places, and where they end; all exact.

    What does not fit in 64 bits wraps around, and cancels when the sum up to the start is subtracted.
    """
    running = np.zeros((*x.shape[:-1], x.shape[-1] + 1), dtype=np.int64)
    np.cumsum(x, axis=-1, out=running[..., 1:])
    before = running[..., start]
    return running[..., 1:] - np.repeat(before[..., :-1], np.diff(start), axis=-1), np.diff(before, axis=-1)


def _to_whole(x: Floats) -> Wholes:
    """Numbers as counts of 2**-56 and 2**-96, of shape (2, ...)."""
    coarse = np.rint(x * COARSE)
    return np.stack([coarse, np.rint((x * COARSE - coarse) * FINE)]).astype(np.int64)


def _to_float(x: Wholes) -> Floats:
    return (x[0] + x[1] / FINE) / COARSE


@dataclass(frozen=True, eq=False)
class ClassPairs:
    """The classes that the rows of some groups have, for a column of categories: one group for each (node, category).

    Attributes
    ----------
    group, label : arrays of shape (n_pairs,)
        Each group, and its classes; in this order. Groups of one node stand together.
    amount : array of shape (n_pairs,)
        Weight of the class in the group, in units.
    n_classes : int
    node : array of shape (n_groups,)
        The node of each group.
    share_of_unit : array of shape (n_nodes,)
        A unit as a share of the known weight of the node.
    """

    group: Ints
    label: Ints
    amount: Wholes
    n_classes: int
    node: Ints
    share_of_unit: Floats

    @staticmethod
    def of_rows(
        labels: Labels, amount: NDArray[np.integer], group: Ints, node: Ints, share_of_unit: Floats
    ) -> ClassPairs:
        """From rows, whose groups are given in increasing order."""
        code = group * labels.n_classes + labels.label
        order = np.argsort(code, kind="stable")
        first = np.flatnonzero(np.diff(code[order], prepend=-1))
        sums = np.add.reduceat(amount[order], first, dtype=np.int64) if len(first) else np.zeros(0, dtype=np.int64)
        groups, label = np.divmod(code[order][first], labels.n_classes)
        return ClassPairs(groups, label, sums, labels.n_classes, node, share_of_unit)

    def in_order(self, order: Ints) -> ClassPairs:
        """The pairs with the groups in another order that keeps those of a node together."""
        number = np.empty(len(order), dtype=np.intp)
        number[order] = np.arange(len(order))
        group = number[self.group]
        pair = np.argsort(group, kind="stable")
        return ClassPairs(
            group[pair], self.label[pair], self.amount[pair], self.n_classes, self.node[order], self.share_of_unit
        )

    def known(self) -> Wholes:
        """What the rows of each class and node add up to, in units, of shape (n_classes, n_nodes)."""
        return Labels(self.label, self.n_classes).add_up(self.amount, self.node[self.group], self.n_nodes)

    def share_in_group(self, label: Ints) -> Floats:
        """The share of a class in each group, for ``label`` of shape (n_groups,)."""
        n_groups = len(self.node)
        weight = np.bincount(self.group, self.amount, minlength=n_groups)
        in_class = self.label == label[self.group]
        return np.bincount(self.group, self.amount * in_class, minlength=n_groups) / weight

    def terms_of_groups(self, term: Term) -> Floats:
        """The sum over the classes of each group."""
        share = self.amount * self._share_of_unit
        return np.bincount(self.group, term(share), minlength=len(self.node)).astype(float)

    def terms_of_nodes(self, term: Term) -> Floats:
        """The sum over the classes of each node."""
        return self._in_node.terms(self.amount, term)

    def up_to_each(self, term: Term) -> ClassTerms:
        """All groups of a node up to each, against the rest."""
        n_pairs = np.bincount(self.node[self.group], minlength=self.n_nodes)
        start = np.append(0, np.cumsum(n_pairs))
        terms = terms_at_places(self.amount, self.label, start, self.share_of_unit, term)
        last = np.flatnonzero(np.diff(self.group, append=-1))
        return ClassTerms(terms.left[last], terms.right[last], terms.total)

    def each(self, term: Term) -> ClassTerms:
        """Each group against the rest of its node."""
        whole_of_pair = self._in_node.sums(self.amount)[self._in_node.class_of_pair]
        less = term(whole_of_pair * self._share_of_unit) - term((whole_of_pair - self.amount) * self._share_of_unit)
        total = self.terms_of_nodes(term)
        rest = total[self.node] - np.bincount(self.group, less, minlength=len(self.node))
        return ClassTerms(self.terms_of_groups(term), rest, total)

    def some(self, is_left: Bools, term: Term) -> ClassTerms:
        """Some groups of each node, given by a mask of shape (n_groups,), against the rest: one cut for each node."""
        left = self.amount * is_left[self.group]
        return ClassTerms(*(self._in_node.terms(amount, term) for amount in (left, self.amount - left, self.amount)))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.share_of_unit)

    @cached_property
    def _share_of_unit(self) -> Floats:
        """A unit as a share of the node of each pair."""
        return self.share_of_unit[self.node[self.group]]

    @cached_property
    def _in_node(self) -> ClassesOfNodes:
        class_in_node = self.node[self.group] * self.n_classes + self.label
        order = np.argsort(class_in_node, kind="stable")
        is_first = np.diff(class_in_node[order], prepend=-1) > 0
        class_of_pair = np.empty(len(order), dtype=np.intp)
        class_of_pair[order] = np.cumsum(is_first) - 1
        node = class_in_node[order][is_first] // self.n_classes
        return ClassesOfNodes(order, np.flatnonzero(is_first), class_of_pair, node, self.share_of_unit)


class ClassesOfNodes(NamedTuple):
    """The pairs in the order of (node, class): where each class begins, its number for each pair, and its node."""

    order: Ints
    first: Ints
    class_of_pair: Ints
    node: Ints
    share_of_unit: Floats

    def sums(self, amount: Wholes) -> Wholes:
        """What the pairs of each class of each node add up to."""
        return np.add.reduceat(amount[self.order], self.first) if len(self.first) else amount

    def terms(self, amount: Wholes, term: Term) -> Floats:
        """The sum over the classes of each node."""
        share = self.sums(amount) * self.share_of_unit[self.node]
        return np.bincount(self.node, term(share), minlength=len(self.share_of_unit)).astype(float)
