"""The trees of boosting: one after the other on the same table."""

from __future__ import annotations

from treekit.growing.binning import learn_bins
from treekit.growing.candidates import ChildLimits, SplitCandidates, combine_numeric_and_categorical
from treekit.growing.categories import score_groups
from treekit.growing.criteria import Criterion
from treekit.growing.grow import ChooseFeature, SplitSearch, StoppingRule, grow_and_apply
from treekit.growing.histogram import HistogramGrower, LocalRows, derivatives_of
from treekit.growing.level import Level
from treekit.growing.presorted import sort_columns
from treekit.growing.thresholds import score_thresholds
from treekit.numeric import Floats, Ints, Numbers
from treekit.reading.encoding import Feature
from treekit.trees.structure import MAJORITY
from treekit.trees.tree import Tree

__all__ = ["GradientTreeGrower"]


class GradientTreeGrower:
    """Grows trees on one table, for one criterion after the other; the table is sorted, or put into bins, once.

    Parameters
    ----------
    values : array of shape (n_features, n_rows)
        The table.
    features : tuple of Feature
        Its columns.
    weight : array of shape (n_rows,)
        Weight of the rows; the bins are learned from those of positive weight.
    max_bins : int or None
        Number of bins for each column of numbers; None to try every cut.
    """

    def __init__(self, values: Numbers, features: tuple[Feature, ...], weight: Floats, max_bins: int | None):
        self.values, self.features, self.is_binned = values, features, max_bins is not None
        if max_bins is None:
            self.sorted_rows = sort_columns(values, [j for j, feature in enumerate(features) if feature.is_numeric])
        else:
            self.bins = learn_bins(values, features, weight, max_bins)
            self.rows = LocalRows(self.bins.encode(values))

    def grow(
        self, criterion: Criterion, weight: Floats, limits: ChildLimits, choose: ChooseFeature, stop: StoppingRule
    ) -> tuple[Tree, Ints]:
        """A tree, and the leaf of each row; rows of weight zero take no part in growing it, but end in a leaf too."""
        if self.is_binned:
            grower = HistogramGrower(self.bins, self.rows, criterion, limits, choose, stop)
            tree = grower.grow(*self.rows.start_tree(*derivatives_of(criterion), weight, limits.rows))
            return tree, self.rows.per_row(grower.node)

        values, features = self.values, self.features

        def score(level: Level, impurity: Floats) -> SplitCandidates:
            def score_category(j: int) -> SplitCandidates:
                return score_groups(level, values[j], features[j].n_values, criterion, impurity, limits)

            numbers = score_thresholds(level, values, criterion, impurity, limits, learn_missing=True)
            return combine_numeric_and_categorical(numbers, features, score_category)

        search = SplitSearch(score, choose, MAJORITY, order=self.sorted_rows)
        return grow_and_apply(values, features, criterion, weight, search, stop)
