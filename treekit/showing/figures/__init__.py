"""The figures of the chapters: one module a chapter, one function a figure.

A figure that moves is an :class:`treekit.showing.explorable.Explorable`; one that stands still is a drawing in SVG, or
is drawn by matplotlib.
"""

from treekit.showing.figures.adaboost import adaboost_explorer, margin_losses, plot_margins
from treekit.showing.figures.c45 import plot_chance, price_bars, ratio_explorer
from treekit.showing.figures.cart import cut_explorer, gini_and_entropy, plot_counts, steps_explorer
from treekit.showing.figures.deep_forest import cascade_explorer, level_anatomy, plot_accuracy_and_cost, plot_windows
from treekit.showing.figures.entropy import (
    branch_entropies,
    entropy_explorer,
    plot_pixels,
    plot_three_class_entropy,
    surprise_curve,
    two_class_entropy,
)
from treekit.showing.figures.forests import error_by_trees, forest_explorer, importance_bars, variance_curves
from treekit.showing.figures.gbdt import boosting_explorer, leaf_parabola, plot_learning_curves, regression_losses
from treekit.showing.figures.id3 import growth_explorer, plot_threshold, split_explorer
from treekit.showing.figures.introduction import lunch_anatomy, lunch_explorer, lunch_partition, subject_map
from treekit.showing.figures.missing_values import boundary_cuts, plot_with_holes, threshold_explorer
from treekit.showing.figures.oblique import gain_by_angle, plot_staircase, region_panels, tilt_explorer
from treekit.showing.figures.pruning import (
    alpha_explorer,
    cross_validation_curve,
    curve_explorer,
    depth_curves,
    price_lines,
    regions_explorer,
    risk_steps,
)
from treekit.showing.figures.scale import blocks_explorer, plot_times

__all__ = [
    "lunch_explorer",
    "lunch_anatomy",
    "lunch_partition",
    "subject_map",
    "entropy_explorer",
    "surprise_curve",
    "two_class_entropy",
    "branch_entropies",
    "plot_three_class_entropy",
    "plot_pixels",
    "split_explorer",
    "growth_explorer",
    "plot_threshold",
    "threshold_explorer",
    "boundary_cuts",
    "plot_with_holes",
    "region_panels",
    "tilt_explorer",
    "gain_by_angle",
    "plot_staircase",
    "price_bars",
    "ratio_explorer",
    "plot_chance",
    "gini_and_entropy",
    "cut_explorer",
    "steps_explorer",
    "plot_counts",
    "depth_curves",
    "regions_explorer",
    "curve_explorer",
    "alpha_explorer",
    "price_lines",
    "risk_steps",
    "cross_validation_curve",
    "forest_explorer",
    "variance_curves",
    "error_by_trees",
    "importance_bars",
    "adaboost_explorer",
    "margin_losses",
    "plot_margins",
    "boosting_explorer",
    "regression_losses",
    "leaf_parabola",
    "plot_learning_curves",
    "cascade_explorer",
    "level_anatomy",
    "plot_accuracy_and_cost",
    "plot_windows",
    "blocks_explorer",
    "plot_times",
]
