"""The questions of :mod:`treekit.plain`, found by one sweep over each sorted column.

``plain.best_cut`` divides all rows again for every cut, which takes n² steps for n rows. Here a column is sorted once;
where the cut passes a row, the row leaves the sums on its right and joins those on its left. The questions, and so the
trees, are the same, and nothing but the standard library is needed: a thousand rows of ten columns take a fraction of a
second even where Python runs in a browser.

>>> from treekit.plain import Row, grow
>>> D = [Row({"sugar": 0.46}, "ripe"), Row({"sugar": 0.10}, "unripe"), Row({"sugar": 0.38}, "ripe")]
>>> grow(D, {"sugar": None}, best_cut).question
('sugar', 0.24)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from math import inf, log2
from operator import itemgetter, mul
from typing import Any

from treekit.plain import TIE, Node, Row, answer, largest, mean, split_information, weight

__all__ = [
    "entropy", "gini", "squared_error", "gains", "largest_gain", "largest_ratio", "best_cut",
    "shares", "means", "predict",
]  # fmt: skip

#: The weight of some rows, and then the weight of each class; or weight, sum and sum of squares of numbers.
Sums = list[float]
#: What one row adds to them.
Part = tuple[tuple[int, float], ...]
Cost = Callable[[Sums], float]
Question = tuple[str, Any]
Attributes = dict[str, list[str] | None]


# What the rows of a node cost: their weight times their impurity, so that the costs of parts can be added. Both sums
# include the weight of all rows, which is then taken away again, because that is quicker than leaving it out.
def entropy(sums: Sums) -> float:
    """``|D| H(D) = |D| log₂ |D| − Σ |C_k| log₂ |C_k|``, in bits. :eq:`eq-empirical-entropy`"""
    return 2 * times_log(sums[0]) - sum(map(times_log, sums))


@lru_cache(100_000)  # in a sweep the same counts come again and again
def times_log(n: float) -> float:
    """``n log₂ n``."""
    return n * log2(n) if n > TIE else 0.0


def gini(sums: Sums) -> float:
    """``|D| Gini(D) = |D| − Σ |C_k|² / |D|``. :eq:`eq-gini`"""
    n = sums[0]
    return 2 * n - sum(map(mul, sums, sums)) / n if n > TIE else 0.0


def squared_error(sums: Sums) -> float:
    """``Σ (y − c)²``. :eq:`eq-squared-error`"""
    n, added, squares = sums
    return squares - added * added / n if n > TIE else 0.0


def parts(D: list[Row], cost: Cost) -> tuple[list[Part], int]:
    """What each row adds to the sums, as pairs of a place and an amount, and how many sums there are."""
    if cost is squared_error:
        c = mean(D)  # numbers far from 0 would lose their digits when squared
        return [((0, row.w), (1, row.w * (row.y - c)), (2, row.w * (row.y - c) ** 2)) for row in D], 3
    place = {k: j for j, k in enumerate(dict.fromkeys(row.y for row in D), start=1)}
    return [((0, row.w), (place[row.y], row.w)) for row in D], len(place) + 1


def total(some: list[Part], n_sums: int) -> Sums:
    """The sums of some rows."""
    sums = [0.0] * n_sums
    for part in some:
        for j, amount in part:
            sums[j] += amount
    return sums


def without(all_sums: Sums, some: Sums) -> Sums:
    """The sums of the other rows."""
    return [a - b for a, b in zip(all_sums, some)]


# The questions of one column, each with the cost of its parts, where at least two of them weigh ``least`` or more.
def cuts(known: list[tuple[Any, Part]], n_sums: int, cost: Cost, least: float) -> Iterator[tuple[float, float]]:
    """The cuts halfway between neighbouring values. :eq:`eq-cut`"""
    left, right = [0.0] * n_sums, total([part for _, part in known], n_sums)
    for (low, part), (high, _) in pairwise(sorted(known, key=itemgetter(0))):
        for j, amount in part:
            left[j] += amount
            right[j] -= amount
        if low < high and left[0] >= least - TIE and right[0] >= least - TIE:
            cut = float(low / 2 + high / 2)
            if low <= cut < high:  # not where the middle of neighbouring floats rounds up
                yield cut, cost(left) + cost(right)


def categories(known: list[tuple[Any, Part]], n_sums: int) -> dict[Any, Sums]:
    """The sums of each category."""
    of: dict[Any, list[Part]] = {}
    for a, part in known:
        of.setdefault(a, []).append(part)
    return {a: total(some, n_sums) for a, some in of.items()}


def all_at_once(of: dict[Any, Sums], cost: Cost, least: float) -> Iterator[tuple[None, float]]:
    """A branch for each category."""
    if sum(sums[0] >= least - TIE for sums in of.values()) > 1:
        yield None, sum(map(cost, of.values()))


def one_against_rest(
    of: dict[Any, Sums], order: list[Any], cost: Cost, least: float
) -> Iterator[tuple[tuple[Any], float]]:
    """One category against all others. :eq:`eq-one-against-rest`"""
    everything: Sums = [sum(column) for column in zip(*of.values())]
    for a in order if len(of) > 1 else ():
        if a in of:
            rest = without(everything, of[a])
            if min(of[a][0], rest[0]) >= least - TIE:
                yield (a,), cost(of[a]) + cost(rest)


def gains(
    D: list[Row], attributes: Attributes, cost: Cost = gini, least: float = 0.0, in_two: bool = True
) -> dict[Question, float]:
    """{question: gain}, in the order in which :mod:`treekit.plain` asks; ``in_two`` is CART's way with categories."""
    (rows, n_sums), n, found = parts(D, cost), weight(D), {}
    for A, order in attributes.items():
        known = [(row.x[A], part) for row, part in zip(D, rows) if row.x[A] is not None]
        if order is None:
            costs: Iterator[tuple[Any, float]] = cuts(known, n_sums, cost, least)
        elif in_two:
            costs = one_against_rest(categories(known, n_sums), order, cost, least)
        else:
            costs = all_at_once(categories(known, n_sums), cost, least)
        before = cost(total([part for _, part in known], n_sums))
        found.update({(A, cut): (before - after) / n for cut, after in costs})
    return found


# How the three algorithms choose among them.
def largest_gain(
    D: list[Row], attributes: Attributes, cost: Cost = entropy, least: float = 0.0, epsilon: float = -inf
) -> Question | None:
    """ID3's choice, as :func:`treekit.plain.largest_gain` makes it; columns of numbers are left out."""
    named: Attributes = {A: order for A, order in attributes.items() if order is not None}
    return largest(gains(D, named, cost, least, in_two=False), epsilon)


def largest_ratio(
    D: list[Row], attributes: Attributes, cost: Cost = entropy, least: float = 2.0, epsilon: float = -inf
) -> Question | None:
    """C4.5's choice, as :func:`treekit.plain.largest_ratio` makes it; no question gains less than ``epsilon``."""
    ratios = gain_ratios(D, gains(D, attributes, cost, least, in_two=False))
    g = {q: gain for q, (gain, _) in ratios.items()}
    enough = max(sum(g.values()) / max(len(g), 1), epsilon) - TIE
    return largest({q: ratio for q, (gain, ratio) in ratios.items() if gain >= enough})


def gain_ratios(D: list[Row], found: dict[Question, float]) -> dict[Question, tuple[float, float]]:
    """{question: (gain, gain ratio)} of the best question of each column."""
    of: dict[str, dict[Question, float]] = {}
    for question, gain in found.items():
        of.setdefault(question[0], {})[question] = gain
    best = {largest(of_A): max(of_A.values()) for of_A in of.values()}
    return {q: (gain, gain / split_information(D, q)) for q, gain in best.items()}


def best_cut(
    D: list[Row], attributes: Attributes, cost: Cost = gini, least: float = 0.0, epsilon: float = -inf
) -> Question | None:
    """CART's choice, as :func:`treekit.plain.best_cut` makes it."""
    return largest(gains(D, attributes, cost, least), epsilon)


# What a leaf predicts, and what a tree predicts.
def shares(D: list[Row]) -> dict[Any, float]:
    """{class: its share}, the classes in sorted order."""
    counts: Counter[Any] = Counter()
    for row in D:
        counts[row.y] += row.w
    return {k: counts[k] / weight(D) for k in sorted(counts)}


def means(D: list[Row]) -> dict[None, float]:
    """The mean of the numbers, in the form of shares: there is no class."""
    return {None: mean(D)}


def predict(node: Node, row: Row) -> dict[Any, float]:
    """What :func:`treekit.plain.predict_shares` returns; only a row without an answer visits more than one branch."""
    while node.branches and (known := answer(row, node.question)) in node.branches:
        node = node.branches[known]
    if not node.branches:
        return node.value
    told: Counter[Any] = Counter()
    for t in node.branches.values():
        r = weight(t.rows) / weight(node.rows)
        if r > 0:
            told.update({k: r * p for k, p in predict(t, row).items()})
    return dict(told)
