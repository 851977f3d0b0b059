"""Surrogate splits: what a node asks when the value of its own feature is missing (Breiman et al., 1984, section 5.3).

A surrogate is the cut of another column that best repeats what the split did to the rows where both are known. A row
with a missing value takes the branch of the first surrogate whose value it has, else the heavier branch.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treekit.growing.candidates import SplitCandidates
from treekit.growing.criteria import Criterion
from treekit.growing.fixed_point import to_units
from treekit.growing.grow import ScoreSplits
from treekit.growing.level import Level, segment_sums
from treekit.numeric import TIE, Floats, Ints, Numbers, safe_divide
from treekit.trees.structure import Surrogate, branches

__all__ = ["Agreement", "find_surrogates"]


class Agreement(Criterion):
    """How many rows a cut sends where the split sent them, beyond what the heavier branch alone would get right.

    The sums are the weights that the split sent left and right. A cut may repeat the split or its mirror image.
    """

    def weight(self, sums: Floats) -> Floats:
        return sums.sum(axis=0)

    def saving(self, left: Floats, total: Floats) -> Floats:
        agree = left[0] + total[1] - left[1]
        return np.maximum(agree, total.sum(axis=0) - agree)

    def gain(self, saving: Floats, node: Floats) -> Floats:
        return (saving - node.max(axis=0)) / self.weight(node)

    def order_keys(self, sums: Floats) -> Floats:
        return safe_divide(sums[1:], self.weight(sums))


def find_surrogates(
    level: Level, branch: Ints, split_feature: Ints, values: Numbers, n_wanted: int, score: ScoreSplits
) -> list[Surrogate]:
    """The best surrogates of each node of a level, the best of all nodes first.

    Parameters
    ----------
    level : Level
        Nodes that have been split in two.
    branch : array of shape (n_alive,)
        Branch of each entry of the level; -1 where its value is missing.
    split_feature : array of shape (n_nodes,)
        Column of each split.
    values : array of shape (n_features, n_rows)
        The table.
    n_wanted : int
        How many to look for; a node has fewer where fewer columns beat the heavier branch.
    score : function of (level, impurity)
        The cut of each node on every column with the best :class:`Agreement`.
    """
    sent = np.zeros((2, len(level.row)))
    for side in (0, 1):
        entry = level.entry[branch == side]
        sent[side, entry] = level.weight[entry]
    addend, unit = to_units(sent, fractions=False)
    total = segment_sums(addend, level.entry, level.start)
    by_side = replace(level, addend=addend, unit=unit, total=total)
    candidates = score(by_side, np.ones(level.n_nodes))
    node = np.arange(level.n_nodes)
    # Weights are rounded: gains that differ by less than TIE are equal, and of equal columns the first comes first.
    gain = np.rint(candidates.gain / TIE)
    gain[split_feature, node] = -np.inf
    ranked = np.argsort(-gain, axis=0, kind="stable")[:n_wanted]
    return [
        _surrogate(by_side, branch, values, candidates, np.where(gain[best, node] > 0, best, -1)) for best in ranked
    ]


def _surrogate(level: Level, branch: Ints, values: Numbers, candidates: SplitCandidates, feature: Ints) -> Surrogate:
    """The scored cut of one column of each node as a surrogate, reversed where its mirror image agrees better."""
    every = np.arange(level.n_nodes)
    threshold = np.where(feature >= 0, candidates.threshold[feature, every], np.nan)
    total, heavier = level.sums.sum(axis=0), level.sums.max(axis=0)
    # The gain is what the cut gets right beyond what the heavier branch does.
    beyond = total * np.where(feature >= 0, candidates.gain[feature, every], np.nan)
    routes = candidates.routes_of(every, feature)
    place = np.flatnonzero((feature >= 0)[level.node])
    node, entry = level.node[place], level.entry[place]
    side = branches(values[feature[node], level.rows(entry)], threshold[node], routes, node)
    both = (side >= 0) & (branch[place] >= 0)
    vote = np.where(side == branch[place], 1.0, -1.0) * level.weight[entry] * both
    is_reversed = np.bincount(node, vote, minlength=level.n_nodes) < 0
    agreement, adjusted = (heavier + beyond) / total, safe_divide(beyond, total - heavier)
    return Surrogate(feature, threshold, is_reversed, agreement, adjusted, routes)
