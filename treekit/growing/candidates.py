"""The best split of each node on each column, and the choice between the columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treekit.growing.encoding import Feature
from treekit.numeric import TIE, Floats
from treekit.trees.structure import MAJORITY

__all__ = ["SplitCandidates", "merge_candidates", "combine_numeric_and_categorical", "ChildLimits", "largest_gain"]


@dataclass(eq=False)
class SplitCandidates:
    """The best split of each open node on each of some columns.

    Attributes
    ----------
    gain : array of shape (n_columns, n_nodes)
        How much it lowers the impurity; -inf where the column can't split the node.
    threshold : array of shape (n_columns, n_nodes)
        Branch 0 is at or below it, branch 1 above; NaN for a column of categories. It means nothing without a gain.
    routes : dict of arrays of shape (n_nodes, n_values)
        For each column of categories, the branch of each category; -1 for none.
    missing : array of shape (n_columns, n_nodes) or None
        Branch for the rows where the column is missing, where the score has learned it; MAJORITY where it could not.
    branch_weight : dict of arrays of shape (n_nodes, n_branches)
        Weight of the known rows that take each branch, for columns where a criterion may ask for it.
    n_candidates : array of shape (n_columns, n_nodes) or None
        Number of cuts that had room, where they were counted.
    split_information : array of shape (n_columns, n_nodes) or None
        Entropy, in bits, of the branches, for those who choose by it.
    feature : array of shape (n_columns, n_nodes) or None
        The columns, where each node has its own.
    """

    gain: Floats
    threshold: Floats
    routes: dict[int, NDArray[np.intp]] = field(default_factory=dict)
    missing: NDArray[np.intp] | None = None
    branch_weight: dict[int, Floats] = field(default_factory=dict)
    n_candidates: Floats | None = None
    split_information: Floats | None = None
    feature: NDArray[np.intp] | None = None


def merge_candidates(parts: Sequence[SplitCandidates], columns: Sequence[int] | None = None) -> SplitCandidates:
    """The scores of several groups of columns as one; ``columns`` are the numbers of theirs, unless they come in order."""
    if len(parts) == 1:
        return parts[0]
    if columns is None:
        columns = range(sum(len(part.gain) for part in parts))
    place = np.argsort(columns)

    def of_all(name: str, otherwise: float = np.nan) -> Any:
        told = [getattr(part, name) for part in parts]
        if all(one is None for one in told):
            return None
        return np.concatenate(
            [np.full(part.gain.shape, otherwise) if one is None else one for part, one in zip(parts, told)]
        )[place]

    numbers = np.split(columns, np.cumsum([len(part.gain) for part in parts])[:-1])
    routes, branch_weight = (
        {int(of[k]): told for of, part in zip(numbers, parts) for k, told in getattr(part, name).items()}
        for name in ("routes", "branch_weight")
    )
    return SplitCandidates(
        of_all("gain"),
        of_all("threshold"),
        routes,
        of_all("missing", MAJORITY),
        branch_weight,
        of_all("n_candidates"),
        of_all("split_information"),
        of_all("feature", -1),
    )


def combine_numeric_and_categorical(
    numbers: SplitCandidates, features: Sequence[Feature], score_category: Callable[[int], SplitCandidates]
) -> SplitCandidates:
    """The scores of all columns, from those of the columns of numbers and a function that scores one of categories."""
    categories = [j for j, feature in enumerate(features) if not feature.is_numeric]
    columns = [j for j, feature in enumerate(features) if feature.is_numeric]
    return merge_candidates([numbers, *(score_category(j) for j in categories)], columns + categories)


@dataclass(frozen=True)
class ChildLimits:
    """What a child must hold: so many rows, and so much weight; the weight may differ from node to node."""

    rows: float = 1
    weight: float | Floats = 0.0

    @cached_property
    def limits_weight(self) -> bool:
        """Whether any weight is asked for."""
        return bool(np.any(self.weight))

    def of(self, node: NDArray[np.intp]) -> ChildLimits:
        """The same for the children of each of these nodes."""
        return ChildLimits(self.rows, self.weight[node] if isinstance(self.weight, np.ndarray) else self.weight)


def largest_gain(candidates: SplitCandidates, impurity: Floats) -> NDArray[np.intp]:
    """The column of the largest gain in each node; of equal ones the first."""
    return np.argmax(candidates.gain >= candidates.gain.max(axis=0) - TIE * impurity, axis=0)


def largest_gain_among_sampled(
    n_drawn: int, rng: np.random.Generator
) -> Callable[[SplitCandidates, Floats], NDArray[np.intp]]:
    """Like :func:`largest_gain`, among ``n_drawn`` columns that each node draws at random.

    Columns that can't split a node don't count: drawing goes on until enough are found that can. Of equal gains the
    first drawn wins, so that no column is favoured.
    """

    def choose(candidates: SplitCandidates, impurity: Floats) -> NDArray[np.intp]:
        drawn = rng.random(candidates.gain.shape).argsort(axis=0)
        gain = np.take_along_axis(candidates.gain, drawn, axis=0)
        gain[np.isfinite(gain).cumsum(axis=0) > n_drawn] = -np.inf
        best = np.argmax(gain >= gain.max(axis=0) - TIE * impurity, axis=0)
        return np.take_along_axis(drawn, best[np.newaxis], axis=0)[0]

    return choose
