"""The figures of the chapters: one module a chapter, one function a figure.

A figure that moves is an :class:`treekit.explorable.Explorable`; one that stands still is a drawing in SVG, or is drawn
by matplotlib.
"""

from treekit.figures.entropy import (
    branch_entropies,
    entropy_explorer,
    plot_pixels,
    plot_three_class_entropy,
    surprise_curve,
    two_class_entropy,
)
from treekit.figures.gbdt import boosting_explorer, leaf_parabola, plot_learning_curves, regression_losses
from treekit.figures.id3 import growth_explorer, plot_threshold, split_explorer
from treekit.figures.introduction import lunch_anatomy, lunch_explorer, lunch_partition, subject_map

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
    "boosting_explorer",
    "regression_losses",
    "leaf_parabola",
    "plot_learning_curves",
]
