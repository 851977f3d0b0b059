"""The oblique tree: a node may cut a linear combination of the columns (Breiman et al., 1984; Murthy et al., 1994)."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from treekit.growing.candidates import ChildLimits, SplitCandidates, merge_candidates
from treekit.growing.criteria import ClassCriterion
from treekit.growing.grow import SplitSearch, StoppingRule, grow
from treekit.growing.level import Level
from treekit.growing.thresholds import score_cuts, score_thresholds
from treekit.models.base import TrainingTable, TreeClassifier
from treekit.models.cart import CLASSIFICATION
from treekit.numeric import TIE, Floats, Numbers
from treekit.reading.validation import check_choice, check_number, generator
from treekit.trees.structure import combine
from treekit.trees.tree import Tree

__all__ = ["ObliqueTreeClassifier"]

#: A climb that still gains ends after so many sweeps over the columns.
MAX_SWEEPS = 20

#: How far outside the rows the pivot of a cut lies, as a share of the range of the column.
MARGIN = 0.05

#: Coefficients are as large as 1 / range of their column, times what a climb makes of that: they must fit in a float.
SMALLEST_RANGE = 1e-305

#: Steps of Newton's method for the logistic directions, and their penalty on large coefficients.
NEWTON_STEPS, RIDGE = 8, 1e-5


class ObliqueTreeClassifier(TreeClassifier):
    r"""A binary tree whose nodes cut a linear combination of the columns, where that is better than a single column.

    .. math:: a_1 x_1 + a_2 x_2 + \dots + a_d x_d \le t

    This is :eq:`eq-oblique-cut`, and the best cut has the gain :eq:`eq-oblique-gain`. No fast way to it is known, and
    finding the cut with the fewest errors is NP-hard. Each node climbs, as in OC1, one coefficient at a time (see
    :class:`ObliqueSearch`), from several starts: the best single column, the direction of logistic regression for each
    class against the rest, and ``n_restarts`` random directions. The best end of all climbs is taken if it gains more
    than the best single column does; otherwise the node cuts that column.

    Parameters
    ----------
    criterion : {"gini", "entropy"}
        The impurity that a cut is to lower.
    max_depth : int or None
        Largest number of questions on a path; None for no limit.
    min_samples_split : int
        A node with fewer rows becomes a leaf.
    min_samples_leaf : int
        A cut must leave so many rows on either side.
    min_impurity_decrease : float
        What a cut gains, times its node's share of the weight, must be at least this.
    n_restarts : int
        Number of random directions to start from.
    random_state : int, RandomState instance or None
        Draws the random directions; nothing else is random.

    Attributes
    ----------
    tree_ : Tree
        The grown tree; ``tree_.direction`` holds the coefficients of each node in the units of the columns.
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the impurity that the cuts remove. What a combination removes is shared out among its
        columns by the size of their coefficients, each times the range of its column.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Notes
    -----
    All columns must hold numbers: a category has no place in a sum until it is encoded, for instance by
    ``pandas.get_dummies``. Missing entries are an error. A climb costs O(columns x entries log entries) for each
    sweep, and a node climbs up to 1 + n_classes + n_restarts times, or once less with two classes. Source: Breiman et
    al. (1984), section 5.2; Murthy, Kasif and Salzberg (1994).
    """

    _accepts_missing = False

    def __init__(
        self,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        min_impurity_decrease: float = 0.0,
        n_restarts: int = 3,
        random_state: Any = None,
    ):
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.n_restarts = n_restarts
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = False
        return tags

    @property
    def feature_importances_(self) -> Floats:
        check_is_fitted(self)
        tree, inner = self.tree_, ~self.tree_.is_leaf
        assert tree.direction is not None
        single = np.eye(len(tree.features))[tree.feature]
        tilted = np.abs(tree.direction) * self._range
        share = np.where(tilted.any(axis=1, keepdims=True), tilted, single)[inner]
        share /= share.sum(axis=1, keepdims=True)
        taken = (tree.weight * tree.gain)[inner] @ share
        return taken / taken.sum() if taken.sum() > 0 else taken

    def _read(self, X: ArrayLike, reset: bool) -> pd.DataFrame:
        frame = super()._read(X, reset)
        for name, column in frame.items():
            if isinstance(column.dtype, pd.CategoricalDtype):
                raise ValueError(f"X: column {name!r} holds categories; {ENCODE}")
            # Text that looks like a number is not one, and neither is text among numbers.
            if not pd.api.types.is_numeric_dtype(column.dtype) and column.notna().any():
                raise ValueError(f"X: column {name!r} holds text; {ENCODE}")
            numbers = column.to_numpy(dtype=float, na_value=np.nan)
            if np.isinf(numbers).any():
                raise ValueError(f"X contains infinity in column {name!r}; this tree needs finite numbers: clip them.")
        return frame.astype({name: float for name, dtype in frame.dtypes.items() if dtype.kind == "O"})

    def _grow(self, table: TrainingTable) -> Tree:
        values, features, y, weight, _ = table
        check_choice(self, "criterion", CLASSIFICATION)
        check_number(self, "max_depth", low=0, whole=True, none=True)
        check_number(self, "min_samples_split", low=2, whole=True)
        check_number(self, "min_samples_leaf", low=1, whole=True)
        check_number(self, "min_impurity_decrease", low=0)
        check_number(self, "n_restarts", low=0, whole=True)
        criterion, limits = CLASSIFICATION[self.criterion](y, len(self.classes_)), ChildLimits(self.min_samples_leaf)
        for feature, width in zip(features, column_ranges(values)):
            if not SMALLEST_RANGE < width < 1 / SMALLEST_RANGE:
                raise ValueError(
                    f"X: column {feature.name!r} spreads over {width:g}, and a linear combination of such numbers "
                    "leaves the range of floats: multiply it by a constant."
                )
        search = ObliqueSearch(values, criterion, limits, self.n_restarts, generator(self.random_state))
        self._range = search.range

        floats = values.astype(float)

        def score(level: Level, impurity: Floats) -> SplitCandidates:
            single = score_thresholds(level, floats, criterion, impurity, limits)
            return with_combination(single, search.best(level, impurity), search.range)

        stop = StoppingRule(
            max_depth=np.inf if self.max_depth is None else self.max_depth,
            min_samples_split=self.min_samples_split,
            min_impurity_decrease=self.min_impurity_decrease,
        )
        tree = grow(floats, features, criterion, weight, SplitSearch(score), stop, self.classes_)
        # A single leaf tests nothing, yet has coefficients: zeros.
        return tree if tree.direction is not None else replace(tree, direction=np.zeros((1, len(features))))


ENCODE = "this tree adds columns up, so encode it as numbers first, for instance by pandas.get_dummies."


class ObliqueCut(NamedTuple):
    """A cut of each node of a level, on a linear combination of the columns.

    Attributes
    ----------
    direction : array of shape (n_nodes, n_features)
        Coefficients of the columns, in their own units.
    gain, threshold : arrays of shape (n_nodes,)
        What the best cut gains, and where it is; -inf and NaN where none is allowed.
    """

    direction: Floats
    gain: Floats
    threshold: Floats


def column_ranges(values: Numbers) -> Floats:
    """Largest minus smallest value of each column, infinite if no float holds that; 1 for a constant column."""
    low, high = values.min(axis=1).astype(float), values.max(axis=1).astype(float)
    with np.errstate(over="ignore"):
        return np.where(high > low, high - low, 1.0)


class ObliqueSearch:
    r"""The search for the best linear combination of every node of a level at once.

    A climb changes one coefficient at a time. With all others fixed, the best change is the best threshold on another
    column: let :math:`v = a \cdot x - t` and let :math:`q` be the coefficient's column, moved so that it is positive.
    Adding :math:`\beta` to the coefficient turns v into :math:`v + \beta q`, which is positive just where
    :math:`-v / q < \beta`, :eq:`eq-oblique-step`. So the rows on either side are those on either side of the threshold
    :math:`\beta` on the column :math:`u = -v / q`, and :func:`treekit.growing.thresholds.score_cuts` finds the best one
    for all nodes in one running sum. The cut turns about the points with :math:`q = 0`; each column is moved in two
    ways, so that these lie just below its smallest value, or just above its largest. A change is kept in the nodes
    where it gains; the climb ends when no change gains in any.

    Attributes
    ----------
    range : array of shape (n_features,)
        Largest minus smallest value of each column; 1 for a constant one.
    """

    def __init__(
        self, values: Numbers, criterion: ClassCriterion, limits: ChildLimits, n_restarts: int, rng: np.random.Generator
    ):
        self.values = values.astype(float)
        self.criterion = criterion
        self.limits = limits
        self.n_restarts = n_restarts
        self.rng = rng
        self.range = column_ranges(self.values)
        from_zero = (self.values - self.values.min(axis=1, keepdims=True)) / self.range[:, np.newaxis]
        self.centred = from_zero - 0.5
        #: Number, sign and values of the moved columns, two of each.
        self.moved = [(j, 1.0, MARGIN + x) for j, x in enumerate(from_zero)]
        self.moved += [(j, -1.0, MARGIN + 1 - x) for j, x in enumerate(from_zero)]

    def best(self, level: Level, impurity: Floats) -> ObliqueCut:
        """The best end of all climbs."""
        first, *others = self.starts(level, impurity)
        best = self.climb(level, impurity, first)
        for start in others:
            if separates(best, impurity):
                break
            best = better(best, self.climb(level, impurity, start), impurity)
        return best

    def starts(self, level: Level, impurity: Floats) -> list[ObliqueCut]:
        """Where the climbs begin: the best single column, logistic regression, random directions."""
        units = [np.tile(unit, (level.n_nodes, 1)) for unit in np.eye(len(self.values))]
        single = self._scored(level, impurity, units[0])
        for unit in units[1:]:
            single = better(single, self._scored(level, impurity, unit), impurity)
        random = [self.rng.uniform(-1, 1, size=units[0].shape) / self.range for _ in range(self.n_restarts)]
        return [single, *(self._scored(level, impurity, a) for a in (*self._logistic(level), *random))]

    def climb(self, level: Level, impurity: Floats, best: ObliqueCut) -> ObliqueCut:
        """Change one coefficient after the other until no change gains in any node."""
        n_without_gain = 0  # successive changes without gain: after one of each, further ones would only repeat them
        for moved in islice(cycle(self.moved), MAX_SWEEPS * len(self.moved)):
            before = best
            best = better(best, self._scored(level, impurity, self._changed(level, impurity, best, moved)), impurity)
            n_without_gain = 0 if (best.gain > before.gain).any() else n_without_gain + 1
            if n_without_gain == len(self.moved) or separates(best, impurity):
                break
        return best

    def _changed(self, level: Level, impurity: Floats, now: ObliqueCut, moved: tuple[int, float, Floats]) -> Floats:
        """The directions with the best change of one coefficient."""
        j, sign, q = moved
        row = level.rows()
        v = self._column(level, now.direction)[row] - now.threshold[level.node]
        _, beta = self._cut(level, impurity, -v / q[row])
        changed = now.direction.copy()
        # Where there is no cut beta is NaN; so is the direction then, and it has no cut either.
        changed[:, j] += beta * sign / self.range[j]
        return changed

    def _scored(self, level: Level, impurity: Floats, direction: Floats) -> ObliqueCut:
        """Directions with their best thresholds."""
        return ObliqueCut(direction, *self._cut(level, impurity, self._column(level, direction)[level.rows()]))

    def _cut(self, level: Level, impurity: Floats, x: Floats) -> tuple[Floats, Floats]:
        """Gain and threshold of the best cut in each node, of a column with one number for each place of ``entry``."""
        order = np.lexsort((x, level.node))
        candidates = score_cuts(level, x[[order]], level.entry[[order]], self.criterion, impurity, self.limits)
        return candidates.gain[0], candidates.threshold[0]

    def _column(self, level: Level, direction: Floats) -> Floats:
        """What the rows' nodes make of them, of shape (n_rows,); zero for the rows of no open node."""
        row = level.rows()
        column, used = np.zeros(self.values.shape[1]), direction.any(axis=0)
        column[row] = combine(self.values[used], direction[:, used][level.node], row)
        return column

    def _logistic(self, level: Level) -> list[Floats]:
        """For each class the direction of its logistic regression against the rest; of two classes one serves both.

        Newton's method, for all nodes at once; its first step is Fisher's linear discriminant. The penalty keeps the
        coefficients finite where a cut separates the classes.
        """
        row, weight, first = level.rows(), level.weight[level.entry], level.start[:-1]
        x = np.vstack([self.centred[:, row], np.ones(len(row))])
        penalty = RIDGE * np.add.reduceat(weight, first)[:, np.newaxis]
        directions = []
        n_classes = self.criterion.n_classes
        for k in range(n_classes if n_classes > 2 else 1):
            y = self.criterion.label[row] == k
            a = np.zeros((level.n_nodes, len(x)))
            for _ in range(NEWTON_STEPS):
                p = expit((a[level.node].T * x).sum(axis=0))
                slope = np.add.reduceat(weight * (y - p) * x, first, axis=1).T - penalty * a
                share = weight * p * (1 - p)
                bend = np.stack([np.add.reduceat(share * column * x, first, axis=1) for column in x]).transpose(2, 0, 1)
                bend += penalty[:, :, np.newaxis] * np.eye(len(x))
                a += np.linalg.solve(bend, slope[:, :, np.newaxis])[:, :, 0]
            directions.append(a[:, :-1] / self.range)
        return directions


def with_combination(single: SplitCandidates, best: ObliqueCut, range_: Floats) -> SplitCandidates:
    """The candidates of single columns, and as one more column the best linear combination of each node.

    A node that cuts a combination counts as a test of the column that moves it most: the coefficient times the
    column's range.
    """
    both = merge_candidates([single, SplitCandidates(best.gain[np.newaxis], best.threshold[np.newaxis])])
    own = np.repeat(np.arange(len(single.gain))[:, np.newaxis], len(best.gain), axis=1)
    feature = np.vstack([own, (np.abs(best.direction) * range_).argmax(axis=1)])
    return replace(both, feature=feature, direction=best.direction)


def better(a: ObliqueCut, b: ObliqueCut, impurity: Floats) -> ObliqueCut:
    """In each node the cut that gains more: the first, unless the second gains more by more than rounding does."""
    wins = b.gain > a.gain + TIE * impurity
    return ObliqueCut(
        *(np.where(wins[:, np.newaxis] if part.ndim == 2 else wins, theirs, part) for part, theirs in zip(a, b))
    )


def separates(cut: ObliqueCut, impurity: Floats) -> bool:
    """Whether the cuts leave no impurity in any node, but for rounding: then none is :func:`better`."""
    return bool((cut.gain >= (1 - TIE / 2) * impurity).all())
