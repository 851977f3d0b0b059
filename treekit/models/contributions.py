"""What each column adds to a prediction: :func:`contributions`, for a tree, a forest and boosting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from treekit.models.base import TableEstimator
from treekit.numeric import Floats
from treekit.trees.contributions import expected_values, path_contributions, shapley_values
from treekit.trees.tree import Tree

__all__ = ["contributions"]


def contributions(model: Any, X: ArrayLike, method: str = "shapley", background: ArrayLike | None = None) -> Floats:
    """What each column adds to the prediction of each row: numbers that sum to it.

    What is explained is ``predict`` of a regressor, ``predict_proba`` of a classifier that is a tree or a forest, and
    ``decision_function`` of boosting for classes; of boosting with a Poisson loss, the score before the exponential.

    Parameters
    ----------
    model : a fitted tree, random forest or GBDT
        Not a tree that tests linear combinations.
    X : data frame or array of shape (n_rows, n_features)
        The rows to explain.
    method : {"shapley", "path"}
        Shapley values, :eq:`eq-shapley`; or the moves along the row's own path, :eq:`eq-path-sum`.
    background : data frame or array of shape (n_background, n_features), optional
        For Shapley values: the rows that supply the columns not known yet (*interventional*, :eq:`eq-interventional`);
        a few hundred are enough. Without it such a column sends the row down both branches, in the shares of the
        training rows (*path-dependent*, :eq:`eq-path-dependent`), as in XGBoost's ``pred_contribs``.

    Returns
    -------
    array of shape (n_rows, n_features + 1), or (n_rows, n_outputs, n_features + 1)
        The contributions, in the unit of what is explained, and last what they start from: the mean prediction of the
        training rows, or that of the background. The middle axis exists where what is explained has a second one: for
        the shares of classes, and the scores of more than two.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    TypeError, ValueError
        If the model is of another kind, ``method`` is neither of the two, X has other columns than in ``fit``, or a
        background is given for paths.

    Notes
    -----
    In a tree of first-order boosting the mean of a node is that of the leaves below it. A row with a missing value that
    a surrogate sends on is counted for the column that the node tests. A path takes O(depth) for each row; Shapley
    values O(leaves x columns^2), where only the columns above a leaf count, times the rows of the background. Sources:
    Saabas (2014) for paths; Shapley (1953); Lundberg, Erion and Lee (2018).

    >>> from treekit import CARTRegressor, contributions
    >>> tree = CARTRegressor().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 8])
    >>> print(contributions(tree, [[1, 1]]), contributions(tree, [[1, 1]], method="path"))
    [[3. 3. 2.]] [[2. 4. 2.]]
    """
    tree, value, base = _as_sum_of_trees(model)
    if method not in ("shapley", "path"):
        raise ValueError(f"method must be 'shapley' or 'path'; got {method!r}.")
    if background is not None and method == "path":
        raise ValueError("background is for method='shapley'; a path starts from the training rows.")
    values, mean = model._values(X), expected_values(tree, value)
    base = base + mean[: tree.n_roots].sum(axis=0)
    if method == "path":
        found = path_contributions(tree, values, mean)
    else:
        others = None if background is None else model._values(background)
        found = shapley_values(tree, values, value, others)
        if others is not None:
            base = base + path_contributions(tree, others, mean).sum(axis=2).mean(axis=0)
    start = np.broadcast_to(base[:, np.newaxis], (*found.shape[:2], 1))
    together = np.concatenate([found, start], axis=2)
    return together[:, 0] if together.shape[1] == 1 else together


def _as_sum_of_trees(model: Any) -> tuple[Tree, Floats, Floats]:
    """The trees of a model, what their nodes add to each output, and what the outputs are without them."""
    if not isinstance(model, TableEstimator):
        raise TypeError(f"model must be a tree, a forest or a GBDT of treekit; got {type(model).__name__}.")
    check_is_fitted(model)
    tree = vars(model).get("tree_", vars(model).get("forest_"))
    has_votes = getattr(model, "voting", "soft") == "hard"
    if not isinstance(tree, Tree) or tree.direction is not None or has_votes:
        raise TypeError(
            "model must be a tree that tests one column at a node, or a mean or sum of such trees; got "
            f"{type(model).__name__}{' with votes instead of shares' * has_votes}."
        )
    if not hasattr(model, "start_"):
        return tree, tree.value / tree.n_roots, np.zeros(tree.value.shape[1])
    # In boosting, each tree of a round belongs to one score.
    value = np.zeros((tree.n_nodes, len(model.start_)))
    value[np.arange(tree.n_nodes), tree.root_of % len(model.start_)] = model.learning_rate * tree.value[:, 0]
    return tree, value, model.start_
