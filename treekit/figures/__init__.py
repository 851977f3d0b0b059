# ruff: noqa: F401
"""The figures of the chapters: one module a chapter, one function a figure.

A figure that moves is an :class:`treekit.explorable.Explorable`; one that stands still is a drawing in SVG, or is drawn
by matplotlib.

``from treekit.figures import surprise_curve`` imports the module of that figure and no other, so that a chapter neither
waits for the other chapters' figures nor breaks with them. The modules need matplotlib: without it this raises a
`ModuleNotFoundError` that names the extra to install.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # editors and type checkers read these lines; nothing runs them
    from treekit.figures.adaboost import adaboost_explorer, margin_losses, plot_margins
    from treekit.figures.c45 import plot_chance, price_bars, ratio_explorer
    from treekit.figures.cart import cut_explorer, gini_and_entropy, plot_counts, steps_explorer
    from treekit.figures.deep_forest import cascade_explorer, level_anatomy, plot_accuracy_and_cost, plot_windows
    from treekit.figures.entropy import (
        branch_entropies,
        entropy_explorer,
        plot_pixels,
        plot_three_class_entropy,
        surprise_curve,
        two_class_entropy,
    )
    from treekit.figures.forests import error_by_trees, forest_explorer, importance_bars, variance_curves
    from treekit.figures.gbdt import boosting_explorer, leaf_parabola, plot_learning_curves, regression_losses
    from treekit.figures.id3 import growth_explorer, plot_threshold, split_explorer
    from treekit.figures.introduction import lunch_anatomy, lunch_explorer, lunch_partition, subject_map
    from treekit.figures.missing_values import boundary_cuts, plot_with_holes, threshold_explorer
    from treekit.figures.oblique import gain_by_angle, plot_staircase, region_panels, tilt_explorer
    from treekit.figures.pruning import (
        alpha_explorer,
        cross_validation_curve,
        curve_explorer,
        depth_curves,
        price_lines,
        regions_explorer,
        risk_steps,
    )
    from treekit.figures.scale import blocks_explorer, plot_times

#: The figures of each module, in the order of the book.
FIGURES = {
    "introduction": ["lunch_explorer", "lunch_anatomy", "lunch_partition", "subject_map"],
    "entropy": [
        "entropy_explorer",
        "surprise_curve",
        "two_class_entropy",
        "branch_entropies",
        "plot_three_class_entropy",
        "plot_pixels",
    ],
    "id3": ["split_explorer", "growth_explorer", "plot_threshold"],
    "c45": ["price_bars", "ratio_explorer", "plot_chance"],
    "cart": ["gini_and_entropy", "cut_explorer", "steps_explorer", "plot_counts"],
    "pruning": [
        "depth_curves",
        "regions_explorer",
        "curve_explorer",
        "alpha_explorer",
        "price_lines",
        "risk_steps",
        "cross_validation_curve",
    ],
    "missing_values": ["threshold_explorer", "boundary_cuts", "plot_with_holes"],
    "oblique": ["region_panels", "tilt_explorer", "gain_by_angle", "plot_staircase"],
    "forests": ["forest_explorer", "variance_curves", "error_by_trees", "importance_bars"],
    "adaboost": ["adaboost_explorer", "margin_losses", "plot_margins"],
    "gbdt": ["boosting_explorer", "regression_losses", "leaf_parabola", "plot_learning_curves"],
    "deep_forest": ["cascade_explorer", "level_anatomy", "plot_accuracy_and_cost", "plot_windows"],
    "scale": ["blocks_explorer", "plot_times"],
}
_MODULE_OF = {figure: module for module, figures in FIGURES.items() for figure in figures}
__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> object:
    """Import the figure `name` with its module (Python calls this for a name that is not here yet)."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        figure = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        message = "the book's figures need matplotlib, which is not installed: pip install 'treekit[book]'"
        raise ModuleNotFoundError(message, name="matplotlib") from error
    globals()[name] = figure
    return figure


def __dir__() -> list[str]:
    """Offer the figures by name, imported or not."""
    return sorted({*globals(), *__all__})
