"""What takes a tree is right, or refuses, for the trees of every estimator: a table of functions and trees."""

import re
import xml.etree.ElementTree
from functools import cache
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, r2_score
from sklearn.tree import DecisionTreeRegressor

import treekit
from tests.helpers import trees_of
from treekit import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CascadeForestClassifier,
    GBDTClassifier,
    GBDTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from treekit.pruning.pessimistic import LIMITS
from treekit.reading.encoding import encode
from treekit.trees.node import threshold_text
from treekit.trees.structure import majority

RNG = np.random.default_rng(7)
X = pd.DataFrame(RNG.normal(size=(90, 3)).round(1), columns=["a", "b", "c"])
Y = X["a"] * 2 + np.abs(X["b"]) + RNG.normal(size=90).round(1)
LABEL = np.where(Y.median() < Y, "high", "low")
WORDS = X.assign(c=np.array(list("uvw"))[RNG.integers(0, 3, 90)])
GAPS = WORDS.mask(RNG.random(WORDS.shape) < 0.1)
BINS = X.round(0)

#: The estimator, its table, and its target.
GROWN = {
    "ID3": (ID3Classifier(), BINS, LABEL),
    "C4.5": (C45Classifier(confidence=None), WORDS, LABEL),
    "C4.5 gaps": (C45Classifier(confidence=None), GAPS, LABEL),
    "CART": (CARTClassifier(), WORDS, LABEL),
    "CART entropy": (CARTClassifier(criterion="entropy"), WORDS, LABEL),
    "CART gaps": (CARTClassifier(), GAPS, LABEL),
    "oblique": (ObliqueTreeClassifier(random_state=0), X, LABEL),
    "bagging": (BaggingClassifier(n_estimators=2, random_state=0), WORDS, LABEL),
    "forest": (RandomForestClassifier(n_estimators=2, random_state=0), WORDS, LABEL),
    "AdaBoost": (AdaBoostClassifier(n_estimators=2), WORDS, LABEL),
    "cascade": (CascadeForestClassifier(n_forests=1, n_estimators=1, max_levels=1, random_state=0), WORDS, LABEL),
    "CART numbers": (CARTRegressor(), WORDS, Y),
    "CART Friedman": (CARTRegressor(criterion="friedman_mse", max_leaf_nodes=9), WORDS, Y),
    "CART Poisson": (CARTRegressor(criterion="poisson"), WORDS, np.abs(Y)),
    "CART absolute": (CARTRegressor(criterion="absolute_error"), X, Y),
    "CART numbers gaps": (CARTRegressor(), GAPS, Y),
    "forest numbers": (RandomForestRegressor(n_estimators=2, random_state=0), WORDS, Y),
    "GBDT 1": (GBDTRegressor(n_estimators=3, max_depth=3), WORDS, Y),
    "GBDT 1 classes": (GBDTClassifier(n_estimators=3, max_depth=3), WORDS, LABEL),
    "GBDT 2": (GBDTRegressor(n_estimators=3, method="newton", max_depth=3), WORDS, Y),
    "GBDT 2 classes": (GBDTClassifier(n_estimators=3, method="newton", max_depth=3), GAPS, LABEL),
}
STEPS_1 = ["GBDT 1", "GBDT 1 classes"]
STEPS_2 = ["GBDT 2", "GBDT 2 classes"]
CLASSES = ["ID3", "C4.5", "C4.5 gaps", "CART", "CART entropy", "CART gaps", "oblique"]
CLASSES += ["bagging", "forest", "AdaBoost", "cascade"]


@cache
def fitted(name):
    """The estimator is fitted once: no test changes it, nor its trees."""
    model, table, target = GROWN[name]
    return model.fit(table, target), table, target


def grown(name):
    model, table, target = fitted(name)
    return next(trees_of(model)), table, target


@pytest.mark.parametrize("name", GROWN)
def test_a_frame_is_its_encoded_values(name):
    tree, table, _ = grown(name)
    values = encode(table, tree.features)
    assert np.array_equal(tree.apply(table), tree.apply(values))
    assert np.array_equal(tree.mean_value(table), tree.predict(values))
    assert (tree.membership(table) != tree.membership(values)).nnz == 0
    assert (tree.decision_path(table) != tree.decision_path(values)).nnz == 0
    assert tree.mean_value(table) == pytest.approx(tree.membership(table) @ tree.value)
    assert list(tree.predict(table.iloc[:1])) == list(tree.predict(table))[:1]
    with pytest.raises(ValueError, match="X must have the columns"):
        tree.predict(table.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="X is empty"):
        tree.predict(table.iloc[:0])
    for rows in (table.to_numpy(), table.to_numpy().tolist(), table.iloc[0], None):
        with pytest.raises(ValueError, match="X must be a data frame .* or its encoded values"):
            tree.predict(rows)


@pytest.mark.parametrize("name", ["ID3", "C4.5", "C4.5 gaps", "CART", "CART gaps", "oblique", "CART numbers"])
def test_a_tree_predicts_and_scores_as_its_estimator(name):
    model, table, target = fitted(name)
    assert list(model.tree_.predict(table)) == list(model.predict(table))
    weight = np.arange(1.0, len(table) + 1)
    assert model.tree_.score(table, target, weight) == pytest.approx(model.score(table, target, weight))
    score = r2_score if name == "CART numbers" else accuracy_score
    assert model.tree_.score(table, target) == pytest.approx(score(target, model.predict(table)))


def test_a_tree_grown_on_an_array_scores_arrays_and_frames():
    model = CARTClassifier().fit(X.to_numpy(), LABEL)
    for form in (X.to_numpy(), pd.DataFrame(X.to_numpy())):
        assert model.tree_.score(form, LABEL) == 1
    assert list(model.tree_.predict(pd.DataFrame(X.to_numpy()))) == list(LABEL)


@pytest.mark.parametrize("name", GROWN)
def test_importances(name):
    """By the definition: what each split saves, in the unit that the estimator adds up."""
    model, _, _ = fitted(name)
    if name == "oblique":
        with pytest.raises(ValueError, match="feature_importances_"):
            model.tree_.importances()
        return
    for tree in trees_of(model):
        saved = np.zeros(len(tree.features))
        for node in tree.walk():
            if not node.is_leaf:
                saved[tree.feature[node.id]] += node.gain * (1 if name in STEPS_2 else tree.weight[node.id])
        total = saved.sum()
        assert tree.importances() == pytest.approx(saved / total if total else saved)
    if hasattr(model, "tree_"):
        assert model.feature_importances_ == pytest.approx(tree.importances())


def test_importances_of_one_second_order_step_are_those_of_the_squared_error():
    """One round of second order without regularisation saves what a regression tree saves."""
    params = dict(n_estimators=1, max_depth=3, method="newton", reg_lambda=0, min_child_weight=0)
    plain = DecisionTreeRegressor(max_depth=3).fit(X, Y)
    ((tree,),) = GBDTRegressor(**params).fit(X, Y).trees_
    assert tree.importances() == pytest.approx(plain.feature_importances_)


@pytest.mark.parametrize("name", GROWN)
def test_criterion_and_unit(name):
    tree, _, _ = grown(name)
    wanted = {
        **dict.fromkeys(CLASSES, ("gini", "", "mean")),
        **dict.fromkeys(["ID3", "C4.5", "C4.5 gaps", "CART entropy"], ("entropy", "bits", "mean")),
        **dict.fromkeys(STEPS_2, ("newton", "units of the loss", "sum")),
        "CART absolute": ("absolute_error", "units of y", "mean"),
        "CART Poisson": ("poisson", "half deviance", "mean"),
    }.get(name, ("squared_error", "squared units of y", "mean"))
    attrs = tree.to_frame().attrs
    assert (attrs["criterion"], attrs["unit"], attrs["per_node"]) == wanted


@pytest.mark.parametrize("name", GROWN)
def test_impurity_falls_by_the_gain(name):
    """Impurity of a node - that of its children = gain, where the metadata call them means over the rows."""
    tree, table, _ = grown(name)
    if tree.gain_is_sum or table.isna().any(axis=None):
        return
    for node in tree.walk():
        if not node.is_leaf:
            below = sum(tree.weight[c.id] * c.impurity for c in node.children.values()) / tree.weight[node.id]
            assert node.impurity - below == pytest.approx(node.gain, abs=1e-9)


@pytest.mark.parametrize("name", GROWN)
def test_cost_complexity(name):
    tree, _, _ = grown(name)
    if name in STEPS_2:
        for prune in (treekit.cost_complexity_path, lambda tree: treekit.prune_cost_complexity(tree, 0.1)):
            with pytest.raises(ValueError, match="gamma"):
                prune(tree)
        return
    path = treekit.cost_complexity_path(tree)
    assert path.n_leaves[-1] == 1 and path.impurities[-1] == pytest.approx(tree.impurity[0])
    if name in STEPS_1:
        with pytest.raises(ValueError, match="only its leaves hold predictions"):
            treekit.prune_cost_complexity(tree, path.ccp_alphas[-1])
        return
    for alpha, n_leaves in zip(path.ccp_alphas, path.n_leaves):
        assert treekit.prune_cost_complexity(tree, alpha * (1 + 1e-9)).n_leaves == n_leaves


@pytest.mark.parametrize("name", GROWN)
def test_prunings_with_rows(name):
    """A pruned tree is no worse on the rows that it was pruned by, as the tree itself counts."""
    tree, table, target = grown(name)
    if name in STEPS_1:
        for prune in (treekit.prune_reduced_error, treekit.preprune):
            with pytest.raises(ValueError, match="only its leaves hold predictions"):
                prune(tree, table, Y)
        return
    target = target if tree.classes is not None else Y
    half = slice(0, 45)
    pruned = treekit.prune_reduced_error(tree, table[half], target[half])
    assert pruned.n_leaves <= tree.n_leaves
    if "gaps" not in name:  # there a row counts in several leaves by its shares, which the score does not see
        assert pruned.score(table[half], target[half]) >= tree.score(table[half], target[half]) - 1e-12
    assert treekit.preprune(tree, table[half], target[half]).n_leaves <= tree.n_leaves


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", GROWN)
def test_pessimistic_prunings(name, limit):
    tree, table, target = grown(name)
    calls = [
        lambda: treekit.prune_pessimistic(tree, 0.25, LIMITS[limit]),
        lambda: treekit.collapse(tree),
        lambda: treekit.prune_and_raise(tree, table, target, limit=LIMITS[limit]),
    ]
    for call in calls:
        if name not in CLASSES:
            with pytest.raises(ValueError, match="predicts numbers"):
                call()
        else:
            pruned = call()
            assert pruned.n_leaves <= tree.n_leaves and np.isfinite(pruned.value).all()
            assert list(pruned.predict(table)) == [pruned.classes[k] for k in pruned.mean_value(table).argmax(axis=1)]


@pytest.mark.parametrize("name", ["ID3", "C4.5", "C4.5 gaps", "CART", "CART entropy", "CART gaps", "oblique"])
def test_a_raised_tree_counts_its_rows(name):
    """Whatever is raised, weights, shares and impurities are those of the rows that reach each node."""
    model, table, target = fitted(name)
    tree = treekit.prune_and_raise(model.tree_, table, target, confidence=0.4)
    impurity = treekit.gini_of_counts if tree.criterion == "gini" else treekit.entropy_of_counts
    assert tree.impurity == pytest.approx(np.where(tree.weight > 0, impurity(tree.value), 0), abs=1e-9)
    if "gaps" not in name:
        path = tree.decision_path(table)
        for k, label in enumerate(tree.classes):
            assert tree.weight * tree.value[:, k] == pytest.approx(path.T @ (target == label), abs=1e-9)
        assert tree.weight == pytest.approx(np.asarray(path.sum(axis=0)).ravel())


def test_raising_wants_the_training_table():
    model = C45Classifier().fit(WORDS, LABEL)
    with pytest.raises(ValueError, match="label that the tree has not been grown on, first in row"):
        treekit.prune_and_raise(model.tree_, WORDS, np.where(LABEL == "low", "low", "new"))
    with pytest.raises(ValueError, match="X has 90 rows, y has 5"):
        treekit.prune_and_raise(model.tree_, WORDS, LABEL[:5])


# -- text, rules and drawings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GROWN)
def test_every_tree_can_be_written_and_drawn(name):
    tree, _, _ = grown(name)
    assert len(tree.export_text().splitlines()) == tree.n_nodes
    assert len(tree.export_rules()) == tree.n_leaves
    assert tree.draw().svg.startswith("<svg") and len(tree.to_frame()) == tree.n_nodes
    for node in tree.walk():
        assert len(node.children) == tree.n_children[node.id]


def follow(rules, row):
    """The conclusion of the one rule whose conditions hold for a row of numbers."""
    (found,) = (rule for rule in rules if all(map(holds(row), rule[3 : rule.index(" then ")].split(" and "))))
    return found[found.index(" then ") + 6 : found.rindex("  [")]


def holds(row):
    def check(words):
        if words == "anything":
            return True
        name, sign, number = words.split(" ")
        return row[name] <= float(number) if sign == "<=" else row[name] > float(number)

    return check


SCALES = {
    "longitudes": lambda rng: -118 + rng.random(400),
    "timestamps": lambda rng: 1_700_000_000 + rng.integers(0, 10**6, 400),
    "tiny": lambda rng: rng.random(400) * 1e-9,
    "huge": lambda rng: rng.random(400) * 1e300,
    "decimals": lambda rng: rng.integers(0, 300, 400) / 100,
    "around zero": lambda rng: rng.integers(-2, 3, 400) * 1.0,
}


@pytest.mark.parametrize("scale", SCALES)
def test_rules_send_every_row_the_way_of_the_tree(scale):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": SCALES[scale](rng), "z": SCALES[scale](rng)})
    model = CARTClassifier(max_depth=8).fit(table, rng.integers(0, 2, 400).astype(str))
    rules = model.tree_.export_rules()
    by_rules = [follow(rules, row) for row in table.to_dict("records")]
    assert by_rules == model.predict(table).tolist()
    for rule in rules:
        sides = [words.split(" ")[:2] for words in rule[3 : rule.index(" then ")].split(" and ")]
        assert len(sides) == len(set(map(tuple, sides))) <= 4
    text = model.tree_.export_text()
    assert "-0 " not in text and "-0:" not in text


@pytest.mark.parametrize(
    "threshold, text",
    [
        (2.45, "2.45"),
        (0.3815, "0.3815"),
        ((1.6 + 1.7) / 2, "1.65"),
        ((0.2 + 0.4) / 2, "0.3"),
        (-118.155, "-118.155"),
        (1e6, "1000000"),
        (1700000000.5, "1700000000.5"),
        (-0.0, "0"),
        (1 / 3, "0.3333333333333333"),
        (2.5e-7, "0.00000025"),
        (1e300, "1e+300"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
    ],
)
def test_threshold_text(threshold, text):
    assert threshold_text(threshold) == text


def test_counts_are_printed_in_full():
    X, y = [[0], [0], [1]], ["a", "b", "b"]
    big = CARTClassifier().fit(X, y, sample_weight=[1234567, 7654321, 3]).tree_
    assert "a 1234567, b 7654321" in big.export_text() and "1234567 : 7654321" in big.draw().svg
    small = CARTClassifier().fit(X, y, sample_weight=[1e-12, 2e-12, 1e-12]).tree_
    assert small.root.counts == {"a": 1e-12, "b": 3e-12}
    assert list(CARTClassifier().fit(X, y).tree_.root.counts.values()) == [1, 2]


NASTY = 'a\nb\x00<c>&"d\u2028\ufffe'


@pytest.mark.parametrize("make", [ID3Classifier, CARTClassifier])
def test_no_name_breaks_a_line_or_the_drawing(make):
    table = pd.DataFrame({NASTY: pd.Categorical([NASTY, "x", "y"])})
    tree = make().fit(table, [NASTY + "1", "no", "no"]).tree_
    assert len(tree.export_text().splitlines()) == tree.n_nodes
    assert all(len(rule.splitlines()) == 1 for rule in tree.export_rules())
    svg = xml.etree.ElementTree.fromstring(tree.draw().svg)
    assert any("a\\nb\\x00<c>&" in text for text in svg.itertext())
    assert not re.search("[\x00-\x08\ufffe]", tree.draw().html)


def test_branches_of_a_node_never_collide():
    table = pd.DataFrame({"c": ["a", "b", "a or b"] * 3})
    root = CARTClassifier().fit(table, ["x", "x", "y"] * 3).tree_.root
    assert set(root.children) == {("a", "b"), "a or b"}
    assert {child.label for child in root.children.values()} == {"x", "y"}


def test_shares_that_differ_by_rounding_are_a_tie():
    assert 0.1 + 0.2 > 0.3
    assert majority(np.array([[0.3, 0.1 + 0.2], [0.2, 0.3]])).tolist() == [0, 1]


def test_the_categories_of_a_column_are_read_once_for_all_branches():
    table = pd.DataFrame({"c": [f"v{i}" for i in range(50)]})
    tree = CARTClassifier().fit(table, np.arange(50) % 2).tree_
    assert len(tree.root.children) == 2
    assert vars(tree.features[0])["holds_or"] is False


def test_one_row_is_predicted_without_a_look_at_all_nodes():
    table = pd.DataFrame({"c": [f"v{i}" for i in range(50)]})
    model = ID3Classifier().fit(table, np.arange(50))
    with patch("treekit.trees.tree.majority", wraps=majority) as looked:
        assert model.predict(table[7:8]).tolist() == [7]
        assert model.predict(pd.concat([table, table])).tolist() == [*range(50)] * 2
    assert [len(call.args[0]) for call in looked.call_args_list] == [1, model.tree_.n_nodes]


def test_a_drawing_of_many_categories_says_what_it_leaves_out():
    table = pd.DataFrame({"c": [f"name{k}" for k in range(1000)]})
    label = np.arange(1000) % 2
    branches = ID3Classifier().fit(table, label).tree_.draw()
    assert "1000 branches below" in branches.svg and len(branches.html) < 10_000
    groups = CARTClassifier().fit(table, label).tree_.draw()
    assert "492 more" in groups.svg and "name998" not in groups.html
    assert "name998" in CARTClassifier().fit(table, label).tree_.export_text()


@pytest.mark.parametrize("name", GROWN)
def test_no_impurity_is_negative_or_minus_zero(name):
    tree, _, _ = grown(name)
    impurity = tree.to_frame()["impurity"]
    assert not (np.signbit(impurity) & (impurity == 0)).any()
    assert tree.gain_is_sum or (impurity >= 0).all()
