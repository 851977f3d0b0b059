"""Running medians of many sequences at once: the fast part of the absolute error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treekit.growing.presorted import index_dtype
from treekit.numeric import Integers, Ints, Wholes, repeat_with_index

__all__ = ["costs_of_prefixes", "running_medians"]

#: A node of more rows than this is cut into stretches of that length or longer, at most so many of one node.
STRETCH, MAX_STRETCHES = 512, 8

#: About so many lists are walked through at once: enough to be worth the calls of a step, without which 1,000 rows take
#: 7 times as long (trick: lists side by side); and few enough for the cache, or 100,000 rows take a sixth longer
#: (trick: lists in the cache).
LISTS = 512


def costs_of_prefixes(y: Wholes, start: Ints, rank: Integers) -> Wholes:
    r"""What the first rows of each node cost about their own median, for every number of rows.

    A median of k - 1 rows is a median of k rows as well if it is taken of the odd one of the two numbers, for of an
    even number of rows all between the middle two are medians. About it the rows before cost the same, so the row that
    comes in adds its distance alone:

    .. math:: C_k = C_{k-1} + |y_k - m_k|, \quad m_k = \text{median of the first } 2 \lceil k/2 \rceil - 1 \text{ rows}

    and the costs are running sums.

    Parameters
    ----------
    y : array of shape (n_alive,)
        The targets in the order of (node, target).
    start : array of shape (n_nodes + 1,)
        Where the rows of each node begin.
    rank : integer array of shape (n_alive, n_sequences)
        The rows of each node in the order in which they come in, as places in ``y``; a column for each sequence.

    Returns
    -------
    array of shape (n_alive + 1, n_sequences)
        The costs of the nodes before, plus that of the rows up to each place in their own node.
    """
    cost = np.zeros((len(rank) + 1, rank.shape[1]), dtype=np.int64)
    np.cumsum(np.abs(y.take(rank) - running_medians(y, start, rank)), axis=0, out=cost[1:])
    return cost


def running_medians(y: Wholes, start: Ints, rank: Integers) -> Wholes:
    r"""The median of the first :math:`2 \lceil k/2 \rceil - 1` rows of each node, for every k.

    Inserting a row into a sorted list needs a search for its place; removing one from a linked list does not. So all
    rows are sorted first, and removed again, the last one first. With every removal the median moves to one of its
    neighbours or stays, so each step is the same few operations for all nodes and sequences at once. One node and one
    sequence, in plain Python::

        def running_medians(order):                 # order[k - 1] comes in at step k; rows by target: 0, 1, ...
            n = len(order)
            before, after = list(range(-1, n - 1)), list(range(1, n + 1))
            median, result = (n - 1) // 2, [0] * n  # the lower median of all rows
            for k in range(n, 0, -1):
                row = order[k - 1]
                if k % 2:                           # k rows: their median is the result; then it may move down
                    result[k - 1] = median
                    if row >= median:
                        median = before[median]
                else:                               # k - 1 rows are left: their median may be one up
                    if row <= median:
                        median = after[median]
                    result[k - 1] = median
                if before[row] >= 0:
                    after[before[row]] = after[row]
                if after[row] < n:
                    before[after[row]] = before[row]
            return result                           # as ranks: y[result] are the medians

    As many steps are needed as the longest node has rows. Long nodes are cut into a few stretches, which are walked
    through at the same time; their lists come from ``fill_long_lists``. Takes O(n_alive) for each sequence, and a
    quarter of the time that the general way with weights takes for 10,000 rows (trick: medians).

    Parameters and shapes are those of :func:`costs_of_prefixes`; the answer has the shape of ``rank``.
    """
    n_alive, n_sequences = rank.shape
    stretches = stretches_of(start)
    # A list begins and ends with a slot for what lies outside. A whole node leaves the next slot free.
    slot_of_place = np.arange(n_alive) + np.repeat(3 * np.arange(len(stretches.node)) + 2, stretches.length)
    slot = slot_of_place.astype(index_dtype(stretches.n_slots * n_sequences)).take(rank)
    content = np.zeros((n_sequences, stretches.n_slots), dtype=np.int64)
    content[:, slot_of_place] = y
    fill_long_lists(slot, content, y, start, rank, stretches)
    return content.take(walk_backwards(slot, stretches))


class Stretches(NamedTuple):
    """The nodes of a level, long ones in parts, and where the linked list of each part lies.

    Attributes
    ----------
    node : array of shape (n_stretches,)
        The node of each stretch.
    begin, end : arrays of shape (n_stretches,)
        How many rows of the node come before the stretch, and how many with it. ``begin`` is even.
    slot : array of shape (n_stretches,)
        The first slot of its list, which has three slots more than the stretch has places.
    """

    node: Integers
    begin: Ints
    end: Ints
    slot: Ints

    @property
    def length(self) -> Ints:
        """Number of places."""
        return self.end - self.begin

    @property
    def longest(self) -> int:
        """Number of places of the longest."""
        return int(self.length.max())

    @property
    def n_slots(self) -> int:
        """Number of slots in all lists."""
        return int(self.slot[-1] + self.length[-1] + 3)

    @property
    def lowest(self) -> Ints:
        """The lowest of the ``end`` first rows, in the order of the target from 0 on, that is in the list.

        The lower median of k rows is the number (k - 1) // 2 among them. The other end - k of the ``end`` first rows
        can lie below it or not. So for all k from begin to end it is one of ``length`` + 1 middle ones.
        """
        return (self.begin - 1) // 2


def stretches_of(start: Ints) -> Stretches:
    """The nodes, and those that are long in stretches of equal even length, but for the last."""
    size = np.diff(start)
    longest = max(STRETCH, 2 * -(-int(size.max()) // (2 * MAX_STRETCHES)))
    n_stretches = -(-size // longest)
    node, number = repeat_with_index(np.arange(len(size)), n_stretches)
    begin = number * longest
    slot = start[node] + begin + 3 * np.arange(len(node))
    return Stretches(node, begin, np.minimum(begin + longest, size[node]), slot)


def fill_long_lists(
    slot: Integers,
    content: Wholes,
    y: Wholes,
    start: Ints,
    rank: Integers,
    stretches: Stretches,
) -> None:
    """Overwrite the slots of the rows of long nodes, and their lists in ``content``, stretch by stretch from the last.

    The list of a stretch holds the middle ones of all rows up to its end: see ``Stretches.lowest``. Of a row outside
    the list only its side matters, so it gets the slot at that end of the list. Takes O(rows) for each stretch of a
    node.

    A node of six rows that come in with the ranks 4, 0, 5, 2, 1, 3, in stretches of two. The last stretch, rows 4 and
    5, has begin = 4, end = 6 and lowest = (4 - 1) // 2 = 1. For k from 4 to 6 rows the lower median is number 1 to 2
    of the k, so with up to 2 rows still to come below it, it is one of the ranks 1 to 3::

        slot of the list   0            1   2   3   4
        rank               below        1   2   3   above
        rows of the stretch with ranks 1 and 3 get the slots 1 - lowest + 1 = 1 and 3 - lowest + 1 = 3

    Then these two rows are removed, ranks are counted among the other four, and the stretch before is filled.
    """
    n_sequences = rank.shape[1]
    sequence = np.arange(n_sequences)[:, np.newaxis]
    for node in np.flatnonzero(np.bincount(stretches.node) > 1):
        # The places of the node's rows in the order of the target, for each sequence.
        place = np.empty((n_sequences, start[node + 1] - start[node]), dtype=np.intp)
        place[sequence.T, rank[start[node] : start[node + 1]] - start[node]] = np.arange(place.shape[1])[:, np.newaxis]
        for i in np.flatnonzero(stretches.node == node)[::-1]:
            first, begin, end = stretches.slot[i], stretches.begin[i], stretches.end[i]
            lowest, length = stretches.lowest[i], end - begin
            # In the first stretch lowest is -1: there is no such row, and its slot stays free.
            middle = place[:, max(lowest, 0) : lowest + length + 1]
            into = slice(first + length + 2 - middle.shape[1], first + length + 2)
            content[:, into] = y.take(rank.take((start[node] + middle) * n_sequences + sequence))
            # Among the rows up to the end of the stretch, in the order of the target, those of the stretch get their
            # slots and are removed. `inside` counts through all sequences; modulo `end` it is the rank in its own.
            stays = place < begin
            inside, outside = np.flatnonzero(~stays).reshape(n_sequences, -1), np.flatnonzero(stays)
            at = (start[node] + place.take(inside)) * n_sequences + sequence
            slot.ravel()[at] = first + np.clip(inside % end - lowest + 1, 0, length + 2)
            place = place.take(outside).reshape(n_sequences, -1)


def walk_backwards(slot: Integers, stretches: Stretches) -> Integers:
    """The running median when each row comes in, as a slot in the lists of all sequences, one after the other.

    The loop of :func:`running_medians`, for all stretches and sequences at once: one step removes row k from every
    stretch that has so many rows.

    Parameters
    ----------
    slot : array of shape (n_alive, n_sequences)
        The slot of each row, in the order in which they come in. It is overwritten by the result: an array of this
        size is the largest of the search.
    stretches : Stretches
        The lists.
    """
    n_sequences = slot.shape[1]
    stretch, nth = repeat_with_index(np.arange(len(stretches.node)), stretches.length)
    # The rows in the order of the steps, and within a step the longest stretches first: so the stretches that still
    # take part lie side by side, and a step reads one slice.
    by_length = np.argsort(-stretches.length, kind="stable")
    turn = np.argsort(by_length)
    n_active = np.bincount(nth)
    first = np.cumsum(n_active) - n_active
    in_steps = first[nth] + turn[stretch]
    line = (stretches.n_slots * np.arange(n_sequences)).astype(slot.dtype)
    row = np.empty_like(slot)
    row[in_steps] = slot
    row += line
    row = row.ravel()

    before, after = linked_slots(stretches, n_sequences, slot.dtype)
    lower_median = (stretches.slot + 1 + (stretches.end - 1) // 2 - stretches.lowest).astype(slot.dtype)
    medians = (lower_median[by_length][:, np.newaxis] + line).ravel()
    # Step k removes row k of every stretch that has so many; the median of the odd one of k and k - 1 rows is written
    # into the place of that row.
    end = row.size
    for k, begin in reversed(list(enumerate((first * n_sequences).tolist(), start=1))):
        removed, median = row[begin:end], medians[: end - begin]
        lower, upper = before.take(removed), after.take(removed)
        if k % 2:
            # Without a row at the median of an odd number or above, the lower median is the one before.
            moves = removed >= median
            removed[:] = median
            np.copyto(median, before.take(median), where=moves)
        else:
            # Without a row at the lower median of an even number or below, the median is the one after.
            np.copyto(median, after.take(median), where=removed <= median)
            removed[:] = median
        after[lower], before[upper] = upper, lower
        end = begin
    return np.take(row.reshape(slot.shape), in_steps, axis=0, out=slot, mode="clip")


def linked_slots(stretches: Stretches, n_sequences: int, dtype: np.dtype[np.integer]) -> tuple[Integers, Integers]:
    """The slots before and after every slot. The ends of a list are their own neighbours, so removing them changes
    nothing."""
    after = np.arange(1, stretches.n_slots * n_sequences + 1, dtype=dtype)
    before = after - 2
    after.reshape(n_sequences, -1)[:, stretches.slot + stretches.length + 2] -= 1
    before.reshape(n_sequences, -1)[:, stretches.slot] += 1
    return before, after
