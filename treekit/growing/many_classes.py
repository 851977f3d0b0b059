r"""Many classes: what a cut saves, in memory and time that do not grow with the number of classes.

A row adds its weight to the sum of its own class, and nothing to any other. With few classes every row brings a column
of numbers, nearly all of them zeros, and one running sum of the columns serves all classes. With thousands of classes
those columns would be the largest thing in memory by far. So here a row brings its weight and its label alone.

What a group of rows costs follows from its weight and from one sum over its classes, :math:`\sum_k f(x_k)`, with
:math:`f(x) = x^2` for Gini and :math:`f(x) = x \log_2 x` for entropy. A row that moves from the right of the cut to its
left changes a single term of that sum on either side. So the sums on both sides of all cuts are running sums of such
changes. Six rows of three classes, in the order of a column, and the sums of squares beside the cut after each row::

    label of the row                 a       b       a       c       b       a
    its class on the left            1       1       2       1       2       3
    sum of squares on the left       1       2       5       6       9       14
    its class on the right           2       1       1       0       0       0
    sum of squares on the right      9       6       3       2       1       0

Two things keep the digits. The largest class of a node is left out: what the other classes, the *others*, weigh on the
left also says what it weighs there. In a node that is nearly pure its square is almost everything, and would cancel
against that of the other side; so :math:`x_k` is the weight of class k as a share of the weight of all others in the
node. And the terms, which are rounded, are turned into whole numbers before they are added up: so the sum of a group
does not depend on the order of its rows, nor on what lies in other nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treekit.numeric import Bools, Floats, Integers, Ints, Kind, Wholes

__all__ = ["MANY", "Labels", "ClassSums", "CutSums", "ClassPairs", "sums_at_places"]

#: From so many classes on: trees of 500 classes take a fifth of the time (trick: many classes).
MANY = 50

#: A sum over classes is kept as two whole numbers, which count 2**-56 and 2**-96. The sum is below 2**5, and the second
#: number keeps the digits of groups that are a small share of their node; up to 2**24 classes it has room.
COARSE, FINE = 2.0**56, 2.0**40

#: f, what a class adds to the sum of its group, by its share of the weight of the others in the node.
Term = Callable[[Floats], Floats]


class Labels(NamedTuple):
    """The class of each row, of shape (n_rows,), as a number from 0 on; and the number of classes."""

    label: Ints
    n_classes: int

    def take(self, rows: Integers) -> Labels:
        """The classes of some rows."""
        return Labels(self.label.take(rows), self.n_classes)

    def add_up(self, amount: Integers, group: Ints, n_groups: int) -> Wholes:
        """What the rows of each class and group add up to, of shape (n_classes, n_groups)."""
        total = np.zeros(self.n_classes * n_groups, dtype=np.int64)
        np.add.at(total, self.label * n_groups + group, amount)
        return total.reshape(self.n_classes, n_groups)


class ClassSums(NamedTuple):
    """What groups of rows add up to.

    Attributes
    ----------
    weight : array of shape (n_groups,)
        Weight of the group, in units.
    others : array of shape (n_groups,)
        Weight of its rows that are not of the largest class of the node, as a share of that in the node.
    terms : array of shape (n_groups,)
        Sum of the terms of these other classes.
    """

    weight: Wholes
    others: Floats
    terms: Floats

    def take(self, groups: Ints) -> ClassSums:
        """The sums of some of the groups."""
        return ClassSums(self.weight.take(groups), self.others.take(groups), self.terms.take(groups))


class CutSums(NamedTuple):
    """The sums of nodes that are cut in two.

    Attributes
    ----------
    left, right : ClassSums
        On both sides of each cut.
    total : ClassSums
        Of each node.
    others : array of shape (n_nodes,)
        Weight of the rows that are not of the node's largest class, in units.
    """

    left: ClassSums
    right: ClassSums
    total: ClassSums
    others: Wholes


class NodeClasses:
    """The classes that the items of each node have, for items of any order.

    Attributes
    ----------
    order : array of shape (n_items,)
        The items by (node, class), in their old order within a class.
    start : array of shape (n_node_classes + 1,)
        Where in ``order`` the items of each class of a node begin.
    node : array of shape (n_node_classes,)
        Its node.
    weight : array of shape (n_node_classes,)
        What it weighs, in units.
    is_largest : array of shape (n_node_classes,)
        Whether it weighs the most of all classes in the node, and is the first of those that do.
    others : array of shape (n_nodes,)
        Weight of all classes in the node but the largest.
    """

    def __init__(self, amount: Integers, label: Ints, node: Ints, n_nodes: int):
        code = node * (label.max(initial=0) + 1) + label
        self.order = np.argsort(code, kind="stable")
        first = np.flatnonzero(np.diff(code[self.order], prepend=-1))
        self.start = np.append(first, len(label))
        self.node = node[self.order[first]]
        self.weight = self.added_up(amount)
        self.is_largest = np.zeros(len(first), dtype=bool)
        if len(first):
            first_of_node = np.flatnonzero(np.diff(self.node, prepend=-1))
            largest = np.maximum.reduceat(self.weight, first_of_node)
            at = np.flatnonzero(self.weight == np.repeat(largest, np.diff(first_of_node, append=len(first))))
            self.is_largest[at[np.diff(self.node[at], prepend=-1) > 0]] = True
        self.others = np.zeros(n_nodes, dtype=np.int64)
        np.add.at(self.others, self.node, self.other_weight)

    @property
    def other_weight(self) -> Wholes:
        """What each class weighs, and 0 for the largest of each node."""
        return np.where(self.is_largest, 0, self.weight)

    def added_up(self, amount: Integers) -> Wholes:
        """What some numbers of the items add up to in each class of a node."""
        if not len(amount):
            return np.zeros(0, dtype=np.int64)
        return np.add.reduceat(amount[self.order], self.start[:-1], dtype=np.int64)

    def of_items(self, x: NDArray[Kind]) -> NDArray[Kind]:
        """Numbers of the classes of nodes at each item, in the order of the items."""
        spread = np.empty(len(self.order), dtype=x.dtype)
        spread[self.order] = np.repeat(x, np.diff(self.start))
        return spread

    def share(self, weight: Wholes, node: Ints) -> Floats:
        """Weights as shares of that of the others in their node."""
        return weight / np.maximum(self.others, 1)[node]

    def sums(self, weight: Wholes, term: Term) -> ClassSums:
        """The sums of one group of each node, from what its rows weigh in each class."""
        other = self.share(np.where(self.is_largest, 0, weight), self.node)
        return sums_of_groups(weight, other, self.node, len(self.others), term)


def sums_of_groups(weight: Wholes, other: Floats, group: Ints, n_groups: int, term: Term) -> ClassSums:
    """The sums of groups, from the weight of each class in its group, and its share of the others in the node."""
    total = np.zeros(n_groups, dtype=np.int64)
    np.add.at(total, group, weight)
    others, terms = (np.bincount(group, x, minlength=n_groups).astype(float) for x in (other, term(other)))
    return ClassSums(total, others, terms)


def sums_at_places(amount: Integers, label: Ints, start: Ints, term: Term) -> CutSums:
    """The sums on both sides of every place, for items that lie node by node. Takes O(items log items).

    Parameters
    ----------
    amount, label : arrays of shape (n_items,)
        Weight of each item, in units, and its class.
    start : array of shape (n_nodes + 1,)
        Where the items of each node begin.
    term : function of shares
        What a class adds to the sum of its group.
    """
    n_items = np.diff(start)
    node = np.repeat(np.arange(len(n_items)), n_items)
    classes = NodeClasses(amount, label, node, len(n_items))
    other = np.where(classes.of_items(classes.is_largest), 0, amount).astype(np.int64)

    # How each item changes the term of its class on the left and on the right of the cut.
    on_left, _ = _running(other[classes.order], classes.start)
    on_right = np.repeat(classes.other_weight, np.diff(classes.start)) - on_left
    terms = _to_whole(term(classes.share(np.stack([on_left, on_right]), node[classes.order])))
    before = _to_whole(term(classes.share(classes.other_weight, classes.node)))
    change, first = np.diff(terms, axis=-1, prepend=0), classes.start[:-1]
    change[:, 0, first] = terms[:, 0, first]
    change[:, 1, first] = terms[:, 1, first] - before
    in_order = np.empty_like(change)
    in_order[..., classes.order] = change

    running, at_end = _running(in_order, start)
    left, right = running[:, 0], running[:, 1] - np.repeat(at_end[:, 1], n_items, axis=-1)
    (weight, others), (whole, _) = _running(np.stack([amount, other]), start)
    return CutSums(
        ClassSums(weight, classes.share(others, node), _to_float(left)),
        ClassSums(
            np.repeat(whole, n_items) - weight,
            classes.share(np.repeat(classes.others, n_items) - others, node),
            _to_float(right),
        ),
        ClassSums(whole, (classes.others > 0).astype(float), _to_float(at_end[:, 0])),
        classes.others,
    )


def _running(x: Wholes, start: Ints) -> tuple[Wholes, Wholes]:
    """Running sums along the last axis that start again at each of some places, and where they end; all exact.

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
    n_classes, n_nodes : int
        Number of classes and of nodes.
    node : array of shape (n_groups,)
        The node of each group.
    """

    group: Ints
    label: Ints
    amount: Wholes
    n_classes: int
    n_nodes: int
    node: Ints

    @staticmethod
    def of_rows(labels: Labels, amount: Integers, group: Ints, node: Ints, n_nodes: int) -> ClassPairs:
        """From rows, for each of which its group is given."""
        code = group * labels.n_classes + labels.label
        order = np.argsort(code, kind="stable")
        first = np.flatnonzero(np.diff(code[order], prepend=-1))
        sums = np.add.reduceat(amount[order], first, dtype=np.int64) if len(first) else np.zeros(0, dtype=np.int64)
        groups, label = np.divmod(code[order][first], labels.n_classes)
        return ClassPairs(groups, label, sums, labels.n_classes, n_nodes, node)

    def in_order(self, order: Ints) -> ClassPairs:
        """The pairs with the groups in another order that keeps those of a node together."""
        number = np.empty(len(order), dtype=np.intp)
        number[order] = np.arange(len(order))
        group = number[self.group]
        pair = np.argsort(group, kind="stable")
        return replace(self, group=group[pair], label=self.label[pair], amount=self.amount[pair], node=self.node[order])

    def known(self) -> Wholes:
        """What the rows of each class and node add up to, in units, of shape (n_classes, n_nodes)."""
        return Labels(self.label, self.n_classes).add_up(self.amount, self.node[self.group], self.n_nodes)

    def share_in_group(self, label: Ints) -> Floats:
        """The share of a class in each group, for ``label`` of shape (n_groups,)."""
        n_groups = len(self.node)
        weight = np.bincount(self.group, self.amount, minlength=n_groups)
        in_class = self.label == label[self.group]
        return np.bincount(self.group, self.amount * in_class, minlength=n_groups) / weight

    def total(self, term: Term) -> CutSums:
        """The sums of each group in the place of a left side, and of each node; there is no right side."""
        left = sums_of_groups(self.amount, self._share, self.group, len(self.node), term)
        classes = self._classes
        return CutSums(left, left, classes.sums(classes.weight, term), classes.others)

    def each(self, term: Term) -> CutSums:
        """Each group against the rest of its node."""
        found = self.total(term)
        whole = self._classes.of_items(self._classes.share(self._classes.other_weight, self._classes.node))
        less = np.bincount(self.group, term(whole) - term(whole - self._share), minlength=len(self.node))
        weight, others, terms = found.total.take(self.node)
        return found._replace(right=ClassSums(weight - found.left.weight, others - found.left.others, terms - less))

    def up_to_each(self, term: Term) -> CutSums:
        """All groups of a node up to each, against the rest."""
        n_pairs = np.bincount(self.node[self.group], minlength=self.n_nodes)
        start = np.append(0, np.cumsum(n_pairs))
        found, last = (
            sums_at_places(self.amount, self.label, start, term),
            np.flatnonzero(np.diff(self.group, append=-1)),
        )
        return found._replace(left=found.left.take(last), right=found.right.take(last))

    def some(self, is_left: Bools, term: Term) -> CutSums:
        """Some groups of each node, given by a mask of shape (n_groups,), against the rest: one cut for each node."""
        left, whole = self._classes.added_up(self.amount * is_left[self.group]), self._classes.weight
        left_sums, right_sums, total = (self._classes.sums(weight, term) for weight in (left, whole - left, whole))
        return CutSums(left_sums, right_sums, total, self._classes.others)

    @cached_property
    def _classes(self) -> NodeClasses:
        return NodeClasses(self.amount, self.label, self.node[self.group], self.n_nodes)

    @cached_property
    def _share(self) -> Floats:
        """Weight of each pair as a share of that of the others in its node; 0 in the largest class."""
        other = np.where(self._classes.of_items(self._classes.is_largest), 0, self.amount)
        return self._classes.share(other, self.node[self.group])
