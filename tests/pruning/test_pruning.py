"""Pruning: Zhou's and Quinlan's figures, scikit-learn's path, rpart's tables, every pruned tree of small ones, laws."""

from __future__ import annotations

import json
import pickle
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.helpers import chain, nested
from treekit import ID3Classifier, plain
from treekit.datasets import load_watermelon
from treekit.models.c45 import C45Classifier
from treekit.models.cart import CARTClassifier, CARTRegressor
from treekit.pruning.cost_complexity import cost_complexity_path, prune_cost_complexity
from treekit.pruning.cut import cut
from treekit.pruning.held_out import preprune, prune_reduced_error
from treekit.pruning.pessimistic import binomial_limit, collapse, normal_limit, prune_pessimistic
from treekit.pruning.subtree_raising import Branch, Raising, Rows, prune_and_raise
from treekit.reading.encoding import encode
from treekit.trees.structure import SHARE
from treekit.trees.tree import Tree

LOAD = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer, "diabetes": load_diabetes}


def score(tree: Tree, X: pd.DataFrame, y) -> float:
    """Share of the rows that the tree labels right."""
    labels = tree.classes[tree.predict(encode(X, tree.features)).argmax(axis=1)]
    return float((labels == np.asarray(y)).mean())


# -- Zhou's watermelons -----------------------------------------------------------------------------------------


def melons() -> tuple[Tree, pd.DataFrame, pd.Series]:
    """The tree of Zhou's figure 4.5, grown on his training rows, and his validation rows.

    Ties are broken as in the figures: umbilicus is asked before color, which gains as much, and a node with as many
    ripe as unripe melons says ripe.
    """
    table = load_watermelon()
    table["ripe"] = table["ripe"].astype(str).map({"yes": "ripe", "no": "unripe"})
    table = table[["umbilicus", "color", "stem", "sound", "texture", "surface", "ripe"]]
    train, validation = table.loc[[1, 2, 3, 6, 7, 10, 14, 15, 16, 17]], table.loc[[4, 5, 8, 9, 11, 12, 13]]
    tree = ID3Classifier().fit(train.iloc[:, :-1], train["ripe"]).tree_
    return tree, validation.iloc[:, :-1], validation["ripe"]


def test_unpruned_tree_of_zhou():
    """Figure 4.5; 42.9% of the validation rows are right."""
    tree, X, y = melons()
    color = {"green": "ripe", "dark": {"texture": {"clear": "unripe", "slightly blurry": "ripe", "blurry": "ripe"}}}
    assert nested(tree.root) == {
        "umbilicus": {
            "hollow": {"color": {"green": "ripe", "dark": "ripe", "light": "unripe"}},
            "slightly hollow": {
                "stem": {"curly": "unripe", "slightly curly": {"color": color | {"light": "ripe"}}, "straight": "ripe"}
            },
            "flat": "unripe",
        }
    }
    assert round(score(tree, X, y), 3) == 0.429


def test_prepruning_of_zhou():
    """Figure 4.6: one question, 42.9% before it and 71.4% after; below it, 57.1% and 71.4% are no gain."""
    tree, X, y = melons()
    stump = {"umbilicus": {"hollow": "ripe", "slightly hollow": "ripe", "flat": "unripe"}}
    pruned = preprune(tree, X, y)
    assert nested(pruned.root) == stump
    below = {node.question: node.id for node in tree.walk() if node.depth == 1 and not node.is_leaf}
    only = {name: [k for k in range(1, tree.n_nodes) if k != node] for name, node in below.items()}
    printed = [
        ("before umbilicus", cut(tree, [0]), 0.429),
        ("after umbilicus", pruned, 0.714),
        ("after color", cut(tree, only["color"]), 0.571),
        ("after stem", cut(tree, only["stem"]), 0.714),
    ]
    assert {name: round(score(t, X, y), 3) for name, t, _ in printed} == {name: share for name, _, share in printed}


def test_postpruning_of_zhou():
    """Figure 4.7: 42.9%, then 57.1% without texture, then 71.4% without the color of the hollow; the rest stays."""
    tree, X, y = melons()
    by_path = {(node.question, node.depth): node.id for node in tree.walk() if not node.is_leaf}
    texture, color = by_path["texture", 3], by_path["color", 1]
    assert round(score(cut(tree, [texture]), X, y), 3) == 0.571
    assert round(score(cut(tree, [texture, by_path["color", 2]]), X, y), 3) == 0.571
    assert round(score(cut(tree, [texture, color]), X, y), 3) == 0.714
    pruned = prune_reduced_error(tree, X, y, ties="keep")
    assert nested(pruned.root) == nested(cut(tree, [texture, color]).root)
    assert round(score(pruned, X, y), 3) == 0.714


def test_ties_are_cut_or_kept():
    """Cutting on equality leaves one question; it is right as often."""
    tree, X, y = melons()
    small, large = (prune_reduced_error(tree, X, y, ties=ties) for ties in ("cut", "keep"))
    assert nested(small.root) == {"umbilicus": {"hollow": "ripe", "slightly hollow": "ripe", "flat": "unripe"}}
    assert small.n_nodes < large.n_nodes
    assert score(small, X, y) == score(large, X, y)


def test_prepruning_is_stopping_early():
    """Cutting the grown tree from the top is growing with a look at the held-out rows before each question."""
    X, y = load_wine(return_X_y=True)
    frame, held_out = pd.DataFrame(X), np.arange(len(X)) % 3 == 0
    train = ~held_out

    def grow(D, held):
        """A recursion of its own: one question at a time, by the plain formulas."""
        label = plain.majority(D)
        question = plain.best_cut(D, attributes, impurity=plain.gini) if len(plain.shares(D)) > 1 else None
        if question is None:
            return label
        parts, held_parts = plain.divide(D, question), {True: [], False: []} | plain.divide(held, question)
        after = sum(row.y == plain.majority(parts[m]) for m in parts for row in held_parts[m])
        if after <= sum(row.y == label for row in held):
            return label
        return (*question, [grow(parts[m], held_parts[m]) for m in (True, False)])

    def as_tuple(node):
        tree = node.tree
        if node.is_leaf:
            return node.label
        return int(tree.feature[node.id]), float(tree.threshold[node.id]), [as_tuple(c) for c in node.children.values()]

    tree = CARTClassifier().fit(frame[train], y[train]).tree_
    D, attributes = plain.read(frame[train], y[train])
    held, _ = plain.read(frame[held_out], y[held_out])
    assert as_tuple(preprune(tree, frame[held_out], y[held_out]).root) == grow(D, held)


# -- pessimistic ------------------------------------------------------------------------------------------------


def test_limits_of_quinlan():
    """Quinlan (1993), section 4.2, prints U(0, 6), U(0, 9), U(0, 1) and U(1, 16) for a confidence of 25%."""
    errors, n = [0, 0, 0, 1], [6, 9, 1, 16]
    assert np.round(normal_limit(errors, n), 3).tolist() == [0.206, 0.143, 0.750, 0.157]
    # His last figure is his program's approximation; the limit that his text defines is 0.160.
    assert np.round(binomial_limit(errors, n), 3).tolist() == [0.206, 0.143, 0.750, 0.160]


def test_limit_where_nearly_all_are_errors():
    """Quinlan's program goes 0.67 of the way from the errors seen to all of them."""
    assert normal_limit(8.6, 9) == pytest.approx((8.6 + 0.67 * 0.4) / 9)


def test_votes_of_quinlan():
    """The same section: 6, 9 and 1 Democrats in three leaves, a Republican among the last: 3.273 errors, not 2.512."""
    # Three branches of 6, 9 and 1 rows; one branch's row is of the other class.
    X = pd.DataFrame({"education": ["no"] * 6 + ["yes"] * 9 + ["unknown"]})
    y = ["democrat"] * 15 + ["republican"]
    tree = ID3Classifier().fit(X, y).tree_
    expected = [n * normal_limit(0, n) for n in (6, 9, 1)]
    assert round(float(np.sum(expected)), 2) == 3.27
    # The book multiplies by the rounded rate: 16 x 0.157 = 2.512.
    assert round(16 * round(float(normal_limit(1, 16)), 3), 3) == 2.512
    for limit in (normal_limit, binomial_limit):
        pruned = prune_pessimistic(tree, 0.25, limit)
        assert pruned.n_nodes == 1
        assert pruned.root.label == "democrat"


@given(st.integers(0, 40), st.integers(1, 40), st.floats(0.01, 0.5))
def test_binomial_limit_is_a_limit(errors, more, confidence):
    """With that rate, so few errors or fewer have the probability that was asked for."""
    n = errors + more
    rate = float(binomial_limit(errors, n, confidence))
    assert errors / n - 1e-12 <= rate <= 1
    assert binom.cdf(errors, n, rate) == pytest.approx(confidence, rel=1e-6)


def test_limits_at_the_ends():
    for limit in (binomial_limit, normal_limit):
        assert limit(0, 0) == 0
        assert limit(np.array([5.0]), np.array([5.0])).tolist() == [1.0]
        # Beyond 8.5 the approximation jumps down to another rule.
        rates = limit(np.linspace(0, 8.4, 85), np.full(85, 9.0))
        assert (np.diff(rates) > 0).all()
        rates = np.array([limit(2, 10, confidence) for confidence in (0.5, 0.25, 0.1, 0.01)])
        assert (np.diff(rates) > 0).all()


# -- cost complexity against other programs ---------------------------------------------------------------------


def steps_of(path) -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's path with equal alphas as one step: it lists every cut, and splits that save nothing first."""
    alpha = np.where(path.ccp_alphas < 1e-12 * path.impurities.max(), 0, path.ccp_alphas)
    is_last = np.append(np.diff(alpha) > 1e-12 * path.impurities.max(), True)
    return alpha[np.append(True, is_last[:-1])], path.impurities[is_last]


@pytest.mark.parametrize("name", LOAD)
@pytest.mark.parametrize("min_samples_leaf", [1, 5])
def test_whole_path_of_scikit_learn(name, min_samples_leaf):
    X, y = LOAD[name](return_X_y=True)
    ours, theirs = (
        (CARTRegressor, DecisionTreeRegressor) if name == "diabetes" else (CARTClassifier, DecisionTreeClassifier)
    )
    tree = ours(min_samples_leaf=min_samples_leaf).fit(X, y).tree_
    peer = theirs(min_samples_leaf=min_samples_leaf, random_state=0)
    path, (alphas, impurities) = cost_complexity_path(tree), steps_of(peer.cost_complexity_pruning_path(X, y))
    scale = impurities.max()
    assert path.ccp_alphas == pytest.approx(alphas, rel=1e-9, abs=1e-12 * scale)
    assert path.impurities == pytest.approx(impurities, rel=1e-9, abs=1e-12 * scale)
    # The pruned trees themselves, between the steps, where rounding can't choose.
    for k in np.linspace(1, len(alphas) - 1, 5).astype(int):
        between = (alphas[k - 1] + alphas[k]) / 2
        pruned = peer.set_params(ccp_alpha=between).fit(X, y)
        assert prune_cost_complexity(tree, between).n_nodes == pruned.tree_.node_count
        assert path.n_leaves[k - 1] == pruned.get_n_leaves()


RPART = json.loads((Path(__file__).parents[1] / "data" / "rpart_cp.json").read_text())


@pytest.mark.parametrize("name", RPART)
def test_cp_table_of_rpart(name):
    """Prices, sizes and risks, in parts of the root's risk: misclassified rows, or squared error."""
    X, y = LOAD[name](return_X_y=True)
    model = CARTRegressor if name == "diabetes" else CARTClassifier
    tree = model(min_samples_split=20, min_samples_leaf=7).fit(X, y).tree_
    path = cost_complexity_path(tree, risk="impurity" if name == "diabetes" else "misclassification")
    table = RPART[name]
    assert (path.n_leaves - 1)[::-1].tolist() == table["nsplit"]
    price, risk = (part[::-1] / path.impurities[-1] for part in (path.ccp_alphas, path.impurities))
    assert risk == pytest.approx(np.array(table["rel error"]), rel=1e-10)
    # A price is what the next row saves for each split. In one row rpart's is not what its own other columns say: it
    # takes a child's branch whole or not at all, where only a part of it may be left.
    saved = np.append(np.diff(table["rel error"]) / -np.diff(table["nsplit"]), 0)
    is_sound = np.isclose(table["CP"], saved, rtol=1e-9, atol=1e-12)
    assert np.count_nonzero(~is_sound) == (name == "diabetes")
    assert price[is_sound] == pytest.approx(np.array(table["CP"])[is_sound], rel=1e-10, abs=1e-12)
    assert price == pytest.approx(saved, rel=1e-9, abs=1e-12)


def test_two_risks_two_paths():
    X, y = load_wine(return_X_y=True)
    tree = CARTClassifier().fit(X, y).tree_
    by_impurity, by_errors = (cost_complexity_path(tree, risk) for risk in ("impurity", "misclassification"))
    assert by_errors.impurities[-1] == pytest.approx(107 / 178)
    assert len(by_impurity.ccp_alphas) != len(by_errors.ccp_alphas)


# -- every pruned tree of a small one ---------------------------------------------------------------------------

rows = st.integers(4, 24).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n) for _ in range(4)])
)


def small_tree(columns, kind: str, max_depth: int = 3) -> tuple[Tree, pd.DataFrame, np.ndarray]:
    """A tree of few nodes, and its training rows.

    Binary on numbers; multiway on categories, with shares; multiway, where a value never seen stops a row; of numbers.
    """
    X, y = pd.DataFrame(dict(zip("abc", columns))), np.array(columns[3])
    if kind == "regressor":
        return CARTRegressor(max_depth=max_depth).fit(X, y).tree_, X, y
    if kind == "binary":
        return CARTClassifier(max_depth=max_depth).fit(X, y % 3).tree_, X, y % 3
    if kind == "stopping":
        return ID3Classifier(max_depth=2).fit(X, y % 2).tree_, X, y % 2
    X = X.map("v{}".format).astype(pd.CategoricalDtype([f"v{k}" for k in range(4)]))
    X = X.mask(np.add.outer(np.arange(len(X)), 3 * np.arange(3)) % 7 == 0)
    return C45Classifier(max_depth=2, confidence=None, min_samples_leaf=1).fit(X, y % 2).tree_, X, y % 2


KINDS = st.sampled_from(["binary", "multiway", "stopping", "regressor"])


def all_prunings(tree: Tree) -> list[frozenset]:
    """The sets of leaves of all pruned trees, up to a few thousand."""

    @cache
    def below(node: int) -> list[frozenset]:
        alone = [frozenset([node])]
        if tree.is_leaf[node]:
            return alone
        children = range(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
        return (
            alone + [frozenset().union(*parts) for parts in product(*(below(child)[:12] for child in children))][:3000]
        )

    return below(0)


def kept_nodes(tree: Tree, pruned: Tree) -> list[int]:
    """Numbers in the old tree of the nodes of the new one."""
    numbers = [0]
    for node in range(pruned.n_nodes):
        old = numbers[node]
        if not pruned.is_leaf[node]:
            numbers.extend(range(tree.first_child[old], tree.first_child[old] + tree.n_children[old]))
    return numbers


def leaves_of(tree: Tree, pruned: Tree) -> list[int]:
    """Numbers in the old tree of the leaves of the new one."""
    return [old for old, is_leaf in zip(kept_nodes(tree, pruned), pruned.is_leaf) if is_leaf]


@settings(max_examples=60)
@given(rows, KINDS, st.floats(0, 0.3), st.sampled_from(["impurity", "misclassification"]))
def test_no_pruned_tree_costs_less(columns, kind, alpha, risk):
    """Cost complexity: of all pruned trees the smallest of those that cost least, whatever the price."""
    tree, *_ = small_tree(columns, kind)
    if kind == "regressor":
        risk, alpha = "impurity", alpha * max(tree.impurity[0], 0.1)
    node_risk = tree.weight / tree.weight[0] * (tree.impurity if risk == "impurity" else 1 - tree.value.max(axis=1))
    cost = {leaves: node_risk[list(leaves)].sum() + alpha * len(leaves) for leaves in all_prunings(tree)}
    ours = leaves_of(tree, prune_cost_complexity(tree, alpha, risk))
    least = min(cost.values())
    own = node_risk[ours].sum() + alpha * len(ours)
    assert own <= least + 1e-9
    assert len(ours) <= min(len(leaves) for leaves, c in cost.items() if c <= least + 1e-12)


@settings(max_examples=60)
@given(rows, rows, KINDS, st.sampled_from(["cut", "keep"]))
def test_no_pruned_tree_errs_less_on_held_out_rows(columns, others, kind, ties):
    """Reduced error: no pruned tree does better on the held-out rows; of the best ours is smallest, or largest."""
    tree, *_ = small_tree(columns, kind)
    _, X, y = small_tree(others, kind)
    values = encode(X, tree.features)
    labels = None if tree.classes is None else pd.Index(tree.classes).get_indexer(y)

    def error(pruned: Tree) -> float:
        share = pruned.membership(values).toarray()
        if labels is None:
            return float((share * (y[:, np.newaxis] - pruned.value[:, 0]) ** 2).sum())
        return float((share * (labels[:, np.newaxis] != pruned.value.argmax(axis=1))).sum())

    pruned = prune_reduced_error(tree, X, y, ties=ties)
    candidates = {leaves: error(cut(tree, list(leaves))) for leaves in all_prunings(tree)[:400]}
    assert error(pruned) <= min(candidates.values()) + 1e-9
    best = [len(leaves) for leaves, e in candidates.items() if e <= error(pruned) + 1e-12]
    if best and ties == "cut":
        assert pruned.n_leaves <= min(best)
    if best and ties == "keep" and len(all_prunings(tree)) <= 400:
        assert pruned.n_leaves >= max(best)


@settings(max_examples=60)
@given(rows, st.sampled_from(["binary", "multiway", "stopping"]), st.sampled_from([0.05, 0.25, 0.5]))
def test_no_pruned_tree_is_expected_to_err_less(columns, kind, confidence):
    """Pessimistic: of all pruned trees none has a lower sum of the leaves' limits."""
    tree, *_ = small_tree(columns, kind)
    expected = tree.weight * binomial_limit(tree.weight * (1 - tree.value.max(axis=1)), tree.weight, confidence)
    ours = leaves_of(tree, prune_pessimistic(tree, confidence))
    assert expected[ours].sum() <= min(expected[list(leaves)].sum() for leaves in all_prunings(tree)) + 1e-9


@settings(max_examples=60)
@given(rows, KINDS)
def test_trees_of_the_path_are_nested(columns, kind):
    """Every tree of the path comes out at its own price, and is the one before with something cut."""
    tree, *_ = small_tree(columns, kind, max_depth=6)
    path = cost_complexity_path(tree)
    assert (np.diff(path.ccp_alphas) > 0).all() and (np.diff(path.n_leaves) < 0).all()
    assert (np.diff(path.impurities) >= 0).all()
    before = set(range(tree.n_nodes))
    for alpha, size in zip(path.ccp_alphas, path.n_leaves):
        pruned = prune_cost_complexity(tree, alpha)
        assert pruned.n_leaves == size
        kept = set(kept_nodes(tree, pruned))
        assert kept <= before
        before = kept
    assert before == {0}


# -- cutting ----------------------------------------------------------------------------------------------------


def arrays_of(tree: Tree) -> dict[str, np.ndarray]:
    return {name: part.copy() for name, part in vars(tree).items() if isinstance(part, np.ndarray)}


@settings(max_examples=60)
@given(rows, KINDS, st.data())
def test_cut_stops_rows_at_the_cut(columns, kind, data):
    """Rows that would pass a cut node end there; all others end where they did. The old tree is as it was."""
    tree, X, _ = small_tree(columns, kind, max_depth=5)
    nodes = data.draw(st.lists(st.integers(0, tree.n_nodes - 1)))
    before, values = arrays_of(tree), encode(X, tree.features)
    pruned = cut(tree, nodes)
    old = kept_nodes(tree, pruned)
    assert len(old) == pruned.n_nodes
    assert not set(nodes) & {k for k, is_leaf in zip(old, pruned.is_leaf) if not is_leaf}
    assert np.array_equal(pruned.value, tree.value[old])
    # Where each share of a row ends: in the leaf itself, or in the cut node above it.
    stops_at = np.arange(tree.n_nodes)
    for node in range(tree.n_nodes):
        above = stops_at[tree.parent[node]] if node else 0
        stops_at[node] = above if node and above in nodes else node
    wanted = np.zeros((len(X), tree.n_nodes))
    for node, share in enumerate(tree.membership(values).toarray().T):
        wanted[:, stops_at[node]] += share
    assert pruned.membership(values).toarray() == pytest.approx(wanted[:, old])
    after = arrays_of(tree)
    for name, part in before.items():
        assert np.array_equal(part, after[name], equal_nan=part.dtype.kind == "f")


def test_cut_keeps_the_rules_for_gaps():
    """Routes, shares and surrogates of the nodes that stay are those that they had."""
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X).mask(np.add.outer(np.arange(150), 3 * np.arange(4)) % 5 == 0)
    frame["word"] = pd.Categorical.from_codes(np.arange(150) * 7 % 4 - 1, list("abc"))
    frame.columns = frame.columns.astype(str)
    tree = CARTClassifier().fit(frame, y).tree_
    assert tree.surrogates
    inner = np.flatnonzero(~tree.is_leaf)
    pruned = cut(tree, inner[len(inner) // 2 :])
    ends = tree.decision_path(encode(frame, tree.features)).toarray()
    old = kept_nodes(tree, pruned)
    assert np.array_equal(pruned.decision_path(encode(frame, tree.features)).toarray(), ends[:, old])
    shared = C45Classifier(confidence=None).fit(frame, y).tree_
    assert (cut(shared, []).missing[~shared.is_leaf] == SHARE).all()


def test_cut_by_numbers_or_by_booleans():
    X, y = load_iris(return_X_y=True)
    tree = CARTClassifier().fit(X, y).tree_
    assert cut(tree, [2]).export_text() == cut(tree, np.arange(tree.n_nodes) == 2).export_text()
    assert cut(tree, [0]).n_nodes == 1
    assert cut(tree, []).export_text() == tree.export_text()
    assert cut(tree, np.flatnonzero(tree.is_leaf)).export_text() == tree.export_text()
    for nodes in ([tree.n_nodes], [-1], [0.5], [True, False]):
        with pytest.raises(IndexError, match="nodes must be numbers from 0 to 16, or booleans"):
            cut(tree, nodes)


def test_collapse_changes_no_training_label():
    X, y = load_breast_cancer(return_X_y=True)
    tree = CARTClassifier(max_depth=5).fit(X, y).tree_
    small = collapse(tree)
    assert small.n_nodes < tree.n_nodes
    values = encode(pd.DataFrame(X), tree.features)
    assert (small.predict(values).argmax(axis=1) == tree.predict(values).argmax(axis=1)).all()


# -- deep, odd, bad ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_deep_chain():
    """5,000 levels: no recursion, and no time to speak of."""
    tree = chain(5000)
    assert tree.max_depth == 5000
    path = cost_complexity_path(tree)
    assert path.n_leaves[0] == tree.n_leaves and path.n_leaves[-1] == 1
    assert prune_cost_complexity(tree, 1.0).n_nodes == 1
    assert prune_pessimistic(tree).n_nodes < tree.n_nodes
    assert collapse(tree).n_leaves <= tree.n_leaves
    X = np.linspace(0, 3, 20)[:, np.newaxis]
    y = np.arange(20) % 2
    assert prune_reduced_error(tree, X, y).n_nodes < 50
    assert preprune(tree, X, y).n_nodes < 50
    assert cut(tree, [tree.n_nodes - 3]).max_depth == 4999
    assert pickle.loads(pickle.dumps(cut(tree, [100]))).n_nodes == 101


@pytest.mark.parametrize("model", [CARTClassifier(), CARTRegressor()])
def test_root_alone(model):
    tree = model.fit([[1.0], [2.0]], [1, 1]).tree_
    path = cost_complexity_path(tree)
    assert [part.tolist() for part in path] == [[0.0], [0.0], [1]]
    for pruned in (
        prune_cost_complexity(tree, 0),
        prune_reduced_error(tree, [[1.0]], [1]),
        preprune(tree, [[1.0]], [1]),
    ):
        assert pruned.n_nodes == 1


def test_large_offset():
    """Squared errors on held-out rows are measured from the root's mean: an offset of 1e9 changes nothing."""
    X, y = load_diabetes(return_X_y=True)
    held_out = np.arange(len(X)) % 3 == 0
    sizes = []
    for offset in (0.0, 1e9):
        tree = CARTRegressor().fit(X[~held_out], y[~held_out] + offset).tree_
        pruned = prune_reduced_error(tree, X[held_out], y[held_out] + offset)
        sizes.append((pruned.n_leaves, cost_complexity_path(tree).n_leaves.tolist()))
    assert sizes[0] == sizes[1]
    assert 1 < sizes[0][0] < 30


def test_weights_count_held_out_rows():
    tree, X, y = melons()
    weight = np.array([3, 1, 2, 1, 0, 4, 1])
    twice = np.repeat(np.arange(7), weight)
    for prune in (prune_reduced_error, preprune):
        weighted, repeated = prune(tree, X, y, sample_weight=weight), prune(tree, X.iloc[twice], y.iloc[twice])
        assert weighted.export_text() == repeated.export_text()


@pytest.mark.parametrize("label, n_leaves", [(0, 1), (1, 2)])
def test_no_held_out_row_is_a_tie(label, n_leaves):
    """Held-out rows of one class: most nodes get none of them, or none that another answer would serve better.

    The root itself predicts 0, which is right for all rows of class 0; those of class 1 need its question, no other.
    """
    X, y = load_iris(return_X_y=True)
    tree = CARTClassifier().fit(X, y).tree_
    assert tree.root.label == 0 and tree.n_leaves > 5
    held_out = X[y == label], y[y == label]
    assert prune_reduced_error(tree, *held_out, ties="cut").n_leaves == n_leaves
    assert prune_reduced_error(tree, *held_out, ties="keep").export_text() == tree.export_text()
    # From the top down, one row of class 1 is worse off below the second question, until a third one sets it right.
    assert preprune(tree, *held_out, ties="cut").n_leaves == n_leaves
    assert preprune(tree, *held_out, ties="keep").n_leaves == (tree.n_leaves if label == 0 else 2)


def test_label_never_seen_is_an_error_everywhere():
    tree, X, y = melons()
    plain = prune_reduced_error(tree, X, y)
    more = pd.concat([y.astype(object), pd.Series(["rotten"])])
    assert prune_reduced_error(tree, pd.concat([X, X.iloc[:1]]), more).export_text() == plain.export_text()


@pytest.mark.parametrize("prune", [prune_reduced_error, preprune, prune_and_raise])
def test_prunings_know_labels_of_another_type(prune):
    """Booleans, floats and objects that equal the labels are those labels; text is not, nor a mixture."""
    table = pd.DataFrame({"x": [1, 2, 3, 4] * 5})
    tree = CARTClassifier().fit(table, [1, 0, 1, 0] * 5).tree_
    wanted = prune(tree, table, [1, 0, 1, 0] * 5)
    assert wanted.n_leaves == 4 or prune is preprune
    for label in ([True, False] * 10, [1.0, 0.0] * 10, pd.Series([1, 0] * 10, dtype=object)):
        assert prune(tree, table, label).export_text() == wanted.export_text()
        assert tree.score(table, label) == 1
    for call in (prune, lambda tree, X, y: tree.score(X, y)):
        with pytest.raises(ValueError, match="y held numbers in fit and holds text now"):
            call(tree, table, ["1", "0"] * 10)
    with pytest.raises(TypeError, match="y mixes int, str"):
        prune(tree, table, [1, "0"] * 10)


def melon_calls():
    tree, X, y = melons()
    return [
        (lambda: prune_reduced_error(tree, X, y, ties="leave"), "ties must be 'cut' or 'keep'; got 'leave'"),
        (lambda: preprune(tree, X, y, ties=True), "ties must be"),
        (lambda: prune_reduced_error(tree, X.iloc[:, :5], y), "X must have the 6 columns"),
        (lambda: prune_reduced_error(tree, X[X.columns[::-1]], y), "X must have the columns of the training table"),
        (lambda: prune_reduced_error(tree, X.iloc[:0], y.iloc[:0]), "X is empty"),
        (lambda: prune_reduced_error(tree, X, y[:3]), "inconsistent numbers"),
        (lambda: prune_reduced_error(tree, X, [None] * 7), "y contains NaN"),
        (lambda: prune_reduced_error(tree, X, y, sample_weight=np.zeros(7)), "sample_weight"),
        *(
            (
                lambda prune=prune, confidence=confidence: prune(confidence),
                "confidence must be above 0 and below 1; got",
            )
            for confidence in (0, 1, -0.5, np.nan, "x")
            for prune in (
                lambda confidence: binomial_limit([1], [4], confidence),
                lambda confidence: normal_limit([1], [4], confidence),
                lambda confidence: prune_pessimistic(tree, confidence),
                lambda confidence: prune_and_raise(tree, X, y, confidence=confidence),
            )
        ),
        (lambda: prune_pessimistic(tree, slack=-1), "slack must be a number, 0 or more"),
        (lambda: prune_pessimistic(tree, slack="x"), "slack must be a number, 0 or more"),
        (lambda: prune_reduced_error(tree, None, y), r"X must be a table of shape .*; got NoneType"),
        (lambda: prune_reduced_error(tree, csr_matrix((7, 6)), y), "X must be a table of shape .*; got csr_matrix"),
        (lambda: cost_complexity_path(tree, "gini"), "risk must be 'impurity' or 'misclassification'; got 'gini'"),
        *(
            (lambda alpha=alpha: prune_cost_complexity(tree, alpha), f"ccp_alpha must be a number, .*; got {alpha!r}")
            for alpha in (-0.1, np.nan, "x")
        ),
    ]


@pytest.mark.parametrize("call, message", melon_calls())
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "prune",
    [
        lambda model, X, y: prune_reduced_error(model, X, y),
        lambda model, X, y: preprune(model, X, y),
        lambda model, X, y: prune_and_raise(model, X, y),
        lambda model, X, y: prune_pessimistic(model),
        lambda model, X, y: collapse(model),
        lambda model, X, y: cost_complexity_path(model),
        lambda model, X, y: prune_cost_complexity(model, 0.1),
        lambda model, X, y: cut(model, [0]),
    ],
)
def test_an_estimator_is_no_tree(prune):
    _, X, y = melons()
    with pytest.raises(TypeError, match=r"tree must be a Tree, such as model.tree_; got C45Classifier"):
        prune(C45Classifier().fit(X, y), X, y)


def test_tree_of_numbers_has_no_error_rates():
    X, y = load_diabetes(return_X_y=True)
    tree = CARTRegressor(max_depth=2).fit(X, y).tree_
    for call in (prune_pessimistic, collapse):
        with pytest.raises(ValueError, match="tree must be a classifier's"):
            call(tree)
    with pytest.raises(ValueError, match="risk must be 'impurity' for a tree that predicts numbers"):
        cost_complexity_path(tree, "misclassification")
    with pytest.raises(ValueError, match="y contains NaN"):
        prune_reduced_error(tree, X[:2], [1.0, np.nan])


def raising(weight):
    """The recursion of subtree raising, and the rows that it begins with: the third has no value for the test."""
    values, y = np.array([[0.0, 1, np.nan]]), np.array([0, 1, 0])
    tree = C45Classifier(min_samples_leaf=0, confidence=None).fit(values.T, y).tree_
    recursion = Raising(tree, values, y, 0.25, binomial_limit, 0.0)
    return recursion, Rows(np.array([0, 1, 2]), np.array(weight), np.array([0.0, 0.0, 1.0]))


def test_raising_sends_a_small_part_of_a_row_down_the_first_of_equal_branches_whatever_rounding_does():
    recursion, rows = raising([0.3, 0.1 + 0.2, 0.1])
    assert [part.row.tolist() for part in recursion.parts(0, rows)] == [[0, 2], [1]]


def test_the_last_of_equal_branches_is_raised_whatever_rounding_does():
    """As J48 does."""
    left, right = Branch(1, np.array([0.1 + 0.2]), 2), Branch(2, np.array([0.3]), 1)
    assert Branch(0, np.array([0.6]), 3, [left, right]).largest() is right
