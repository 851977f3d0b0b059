"""The plain algorithms: printed numbers, the shape of the page, and the fast estimators held to them."""

from __future__ import annotations

import ast
import inspect
import random
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import treekit
from tests.helpers import nested as nested_theirs
from treekit import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    GBDTClassifier,
    GBDTRegressor,
    ID3Classifier,
    plain,
)
from treekit.datasets import load_loan, load_playtennis, load_watermelon
from treekit.growing import criteria
from treekit.growing import grow as growing
from treekit.growing.candidates import ChildLimits
from treekit.growing.level import first_level
from treekit.models.oblique import ObliqueSearch
from treekit.plain import Node, Row
from treekit.trees import traversal

BY_GINI = partial(plain.best_cut, impurity=plain.gini)
BY_SQUARES = partial(plain.best_cut, impurity=plain.squared_error)


@contextmanager
def without_least_share():
    """treekit as the plain code, which shares out the smallest parts of rows, too."""
    with patch.object(growing, "LEAST_SHARE", 0.0), patch.object(traversal, "LEAST_SHARE", 0.0):
        yield


def read(X: pd.DataFrame, y, weight=None) -> tuple[list[Row], dict]:
    """`plain.read` with weights, where rows of weight zero are left out."""
    D, attributes = plain.read(X, y)
    if weight is not None:
        D = [row._replace(w=w) for row, w in zip(D, weight) if w > 0]
    return D, attributes


def read_table(table: pd.DataFrame) -> tuple[list[Row], dict]:
    """A table of the book, whose last column is the label."""
    return read(table.iloc[:, :-1], table.iloc[:, -1])


def nested(node: Node) -> object:
    """A tree that asks for words, as nested dicts."""
    return {node.question[0]: {m: nested(t) for m, t in node.branches.items()}} if node.branches else node.value


def cart_of(estimator, table: pd.DataFrame, **parameters) -> treekit.Node:
    """The root of CART's tree for a table whose last column is the label, one category against the rest."""
    model = estimator(categorical_split="one_vs_rest", **parameters)
    return model.fit(table.iloc[:, :-1], table.iloc[:, -1]).tree_.root


# -- the page ---------------------------------------------------------------------------------------------------


def test_the_page_is_short():
    """Under 300 lines of 88 columns or fewer, and no function of more than 20."""
    lines = Path(plain.__file__).read_text(encoding="utf-8").splitlines()
    assert len(lines) < 300 and max(map(len, lines)) <= 88
    functions = [node for node in ast.walk(ast.parse("\n".join(lines))) if isinstance(node, ast.FunctionDef)]
    assert len(functions) > 30
    for function in functions:
        assert function.end_lineno - function.lineno < 20, function.name
        assert ast.get_docstring(function), function.name


def test_the_page_needs_no_library():
    tree = ast.parse(inspect.getsource(plain))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {"collections", "itertools", "math"}
    assert not any(isinstance(node, ast.Import) for node in ast.walk(tree))


def test_every_name_is_defined_above_its_use():
    """A student of one chapter needs no name of a later one."""
    known: set[str] = set()
    defined = {name for name, value in vars(plain).items() if getattr(value, "__module__", None) == plain.__name__}
    for statement in ast.parse(inspect.getsource(plain)).body:
        if isinstance(statement, ast.FunctionDef):
            known.add(statement.name)
            own = {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
            own |= {
                node.id
                for node in ast.walk(statement)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
            used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} - own
            assert used & defined <= known, statement.name
        elif isinstance(statement, ast.Assign):
            known |= {target.id for target in statement.targets}


def test_a_table_is_read_as_treekit_reads_it():
    """Text and categories are categories; Booleans and numbers are numbers; every row has its label."""
    X = pd.DataFrame({"text": ["v", None, "u"], "c": pd.Categorical(["b", "b", "a"]), "flag": [True, False, True]})
    D, attributes = plain.read(X.assign(x=[1.0, np.nan, 3]), [0, 1, 0])
    assert attributes == {"text": ["u", "v"], "c": ["a", "b"], "flag": None, "x": None}
    assert D[1] == Row({"text": None, "c": "b", "flag": False, "x": None}, 1)
    with pytest.raises(ValueError, match="shorter"):
        plain.read(X, [0, 1])


def test_a_cut_of_large_numbers_is_finite():
    assert plain.thresholds([Row({"a": 1.6e308}, 0), Row({"a": 1.5e308}, 1)], "a") == [1.55e308]


# -- printed numbers --------------------------------------------------------------------------------------------


def test_gains_of_zhou():
    """Watermelon 2.0, Zhou (2016), section 4.2.1: 0.998 bits, of which texture tells 0.381."""
    D, attributes = read_table(load_watermelon())
    assert round(plain.entropy(D), 3) == 0.998
    gains = {A: round(plain.gain(D, (A, None)), 3) for A in attributes}
    assert gains == {
        "color": 0.108, "stem": 0.143, "sound": 0.141, "texture": 0.381, "umbilicus": 0.289, "surface": 0.006
    }  # fmt: skip


def test_gains_with_gaps_of_zhou():
    """Watermelon 2.0-alpha, section 4.4.2, and what becomes of rows 8 and 10 at the root: 7/15, 5/15 and 3/15."""
    D, attributes = read_table(load_watermelon("2.0-alpha"))
    assert [round(plain.gain(D, (A, None)), 3) for A in attributes] == [0.252, 0.171, 0.145, 0.424, 0.289, 0.006]
    parts = plain.share_out(D, ("texture", None))
    weights = [7 + 2 * 7 / 15, 5 + 2 * 5 / 15, 3 + 2 * 3 / 15]
    assert [*map(plain.weight, parts.values())] == pytest.approx(weights)


def test_cuts_of_zhou():
    """Watermelon 3.0, section 4.4.1: density at 0.3815 gains 0.262 bits, sugar at 0.126 gains 0.349."""
    D, _ = read_table(load_watermelon("3.0"))
    for A, t, gain in (("density", 0.3815, 0.262), ("sugar", 0.126, 0.349)):
        question = plain.best_cut(D, {A: None})
        assert question == (A, pytest.approx(t))
        assert round(plain.gain(D, question), 3) == gain


def test_trees_of_quinlan_li_hang_and_zhou():
    """Quinlan (1986), figure 2, by ID3 and C4.5; Li Hang, example 5.3; the root and a branch of Zhou's figure 4.4."""
    D, attributes = read_table(load_playtennis())
    sunny, rain = {"humidity": {"high": "no", "normal": "yes"}}, {"wind": {"weak": "yes", "strong": "no"}}
    for choose in (plain.largest_gain, plain.largest_ratio):
        tree = plain.grow(D, attributes, choose)
        assert nested(tree) == {"outlook": {"sunny": sunny, "overcast": "yes", "rain": rain}}
        assert all(plain.follow(tree, row) == row.y for row in D)
    loans = plain.grow(*read_table(load_loan()))
    assert nested(loans) == {"house": {"no": {"job": {"no": "no", "yes": "yes"}}, "yes": "yes"}}
    for ours, table in ((tree, load_playtennis()), (loans, load_loan())):
        for model in (ID3Classifier(), C45Classifier(), C45Classifier(conventions="quinlan")):
            assert nested(ours) == nested_theirs(model.fit(table.iloc[:, :-1], table.iloc[:, -1]).tree_.root)
    melons = plain.grow(*read_table(load_watermelon()))
    assert melons.question == ("texture", None)
    assert nested(melons.branches["slightly blurry"]) == {"surface": {"hard": "no", "soft": "yes"}}


def test_gini_indices_of_li_hang():
    """Li Hang, example 5.4: the best cut of the loans leaves 0.27, by house."""
    D, attributes = read_table(load_loan())
    question = BY_GINI(D, attributes)
    assert question[0] == "house"
    assert round(plain.gini(D) - plain.gain(D, question, plain.gini), 2) == 0.27
    assert_same(plain.grow(D, attributes, BY_GINI, plain.shares), cart_of(CARTClassifier, load_loan()))


def test_least_squares_tree_of_li_hang():
    """Table 8.2: the first cut at 6.5, means 6.24 and 8.91, squared error 1.93."""
    y = [5.56, 5.70, 5.91, 6.40, 6.80, 7.05, 8.90, 8.70, 9.00, 9.05]
    D = [Row({"x": k}, number) for k, number in enumerate(y, start=1)]
    tree = plain.grow(D, {"x": None}, BY_SQUARES, plain.mean, depth=1)
    assert tree.question == ("x", 6.5)
    assert [round(t.value, 2) for t in tree.branches.values()] == [6.24, 8.91]
    assert round(sum(len(t.rows) * plain.squared_error(t.rows) for t in tree.branches.values()), 2) == 1.93
    assert_same(tree, cart_of(CARTRegressor, pd.DataFrame({"x": np.arange(1, 11), "y": y}), max_depth=1))


def test_boosting_of_li_hang():
    """Example 8.1: cuts at 2.5, 8.5 and 5.5, errors 0.3, 0.2143 and 2/11, so no row is wrong in the end."""
    D = [Row({"x": k}, y) for k, y in enumerate([1, 1, 1, -1, -1, -1, 1, 1, 1, -1])]
    members = plain.adaboost(D, {"x": None}, BY_GINI, 3)
    assert [G.question[1] for _, G in members] == [2.5, 8.5, 5.5]
    assert [alpha for alpha, _ in members] == pytest.approx([0.4236, 0.6496, np.log(9 / 2) / 2], abs=5e-5)
    assert all(plain.score(members, row) * row.y > 0 for row in D)


def test_a_category_may_be_a_number():
    """Then the tree asks whether the value is that number, and not whether it is at most that."""
    sizes = pd.Categorical([0.5, 1.5, 2.5, 0.5, 1.5, 2.5])
    D, attributes = read(pd.DataFrame({"size": sizes}), ["no", "yes", "no", "no", "yes", "no"])
    tree = plain.grow(D, attributes, BY_GINI)
    assert tree.question == ("size", (1.5,)) and all(plain.follow(tree, row) == row.y for row in D)


def test_a_climb_on_melons():
    """From the sugar alone eight melons are separated; all seventeen end on a lower peak than the best, 0.573 bits."""
    melons = load_watermelon("3.0-alpha")
    from_sugar = {(("density", 0.0), ("sugar", 1.0)): None}
    for rows, gain in ((melons.loc[[5, 7, 8, 9, 12, 13, 16, 17]], 0.954), (melons, 0.451)):
        D, attributes = read(rows[["density", "sugar"]], rows["ripe"])
        end = plain.climb(D, plain.best_cut(D, from_sugar))
        assert round(plain.gain(D, end), 3) == gain == round(plain.gain(D, plain.tilted_cut(D, attributes)), 3)
    assert plain.tilted_cut([Row({"a": 1.0}, 0), Row({"a": 1.0}, 1)], {"a": None}) is None


# -- the same tree ----------------------------------------------------------------------------------------------


def assert_same(ours: Node, theirs: treekit.Node) -> None:
    """Node by node the same rows, weight, answer and question; cuts to the last digit."""
    tree, k = theirs.tree, theirs.id
    assert tree.n_samples[k] == len(ours.rows)
    assert tree.weight[k] == pytest.approx(plain.weight(ours.rows))
    if isinstance(ours.value, dict):
        says = dict(zip(tree.classes.tolist(), tree.value[k].tolist()))
        assert says == pytest.approx(dict.fromkeys(says, 0.0) | ours.value)
    else:
        assert theirs.label == pytest.approx(ours.value)
    assert theirs.is_leaf == (not ours.branches)
    if ours.branches:
        A, cut = ours.question
        assert theirs.question == A
        if isinstance(cut, float):
            assert tree.threshold[k] == cut
        elif cut is not None:
            assert (next(iter(theirs.children)),) == cut
        for branch, child in zip(ours.branches.values(), theirs.children.values(), strict=True):
            assert_same(branch, child)
        if cut is None:
            assert [*ours.branches] == [*theirs.children]


WORDS = ["a", "b", "c"]
#: Some values are in no row of most tables: branches without rows.
word = st.sampled_from(WORDS)
number = st.sampled_from([-1.5, 0.0, 0.5, 1.0, 2.25])
weights = st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0, 3.0])
three = st.sampled_from("xyz")
targets = st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0, 2.0, 7.25])


@st.composite
def tables(draw, kinds: str, label=three, gaps: bool = False, max_size: int = 20):
    """A data frame with a column of (w)ords or (n)umbers for each letter, labels, and weights or None."""
    n = draw(st.integers(1, max_size))
    entry = {"w": word, "n": number}
    if gaps:
        entry = {kind: st.one_of(st.none(), values) for kind, values in entry.items()}
    columns = {f"{kind}{j}": draw(st.lists(entry[kind], min_size=n, max_size=n)) for j, kind in enumerate(kinds)}
    X = pd.DataFrame(
        {A: pd.Categorical(c, WORDS) if A[0] == "w" else np.array(c, dtype=float) for A, c in columns.items()}
    )
    y = np.array(draw(st.lists(label, min_size=n, max_size=n)))
    weight = draw(st.one_of(st.none(), st.lists(weights, min_size=n, max_size=n).filter(any)))
    return X, y, None if weight is None else np.array(weight)


many = settings(max_examples=30)


@many
@given(tables("wwwn"), st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.sampled_from([np.inf, 1, 2]))
def test_id3(table, epsilon, depth):
    """Numbers are words to ID3."""
    X, y, weight = table
    model = ID3Classifier(epsilon, None if depth == np.inf else depth).fit(X, y, weight)
    D, attributes = read(X, y, weight)
    attributes["n3"] = sorted({row.x["n3"] for row in D})
    choose = partial(plain.largest_gain, epsilon=epsilon)
    assert_same(plain.grow(D, attributes, choose, plain.shares, depth), model.tree_.root)
    tree = plain.grow(D, attributes, choose, depth=depth)
    assert [plain.follow(tree, row) for row in read(X, y)[0]] == model.predict(X).tolist()


@many
@given(tables("nnww", gaps=True), st.sampled_from([0, 1, 2]))
def test_c45(table, least):
    """Thresholds, ratios, averages; rows without an answer are shared out in growing and in prediction."""
    X, y, weight = table
    with without_least_share():
        model = C45Classifier(confidence=None, min_samples_leaf=least).fit(X, y, weight)
        predicted = model.predict_proba(X)
    D, attributes = read(X, y, weight)
    tree = plain.grow(D, attributes, partial(plain.largest_ratio, least=least), plain.shares, send=plain.share_out)
    assert_same(tree, model.tree_.root)
    for row, shares in zip(read(X, y)[0], predicted):
        says = plain.predict_shares(tree, row)
        assert [says.get(k, 0.0) for k in model.classes_] == pytest.approx(shares.tolist())


def to_heavier(D: list[Row], question: tuple) -> dict:
    """CART's way without surrogates: a row without an answer goes down the heavier branch, the first of two equal."""
    parts = plain.divide(D, question)
    heavier = plain.largest({m: plain.weight(parts[m]) for m in (True, False)})
    parts[heavier] = parts[heavier] + [row for row in D if plain.answer(row, question) is None]
    return parts


@many
@given(tables("nnww", gaps=True), st.sampled_from(["gini", "entropy"]), st.sampled_from([np.inf, 2]))
def test_cart_for_classes(table, criterion, depth):
    X, y, weight = table
    model = CARTClassifier(
        criterion, None if depth == np.inf else depth, categorical_split="one_vs_rest", max_surrogates=0
    )
    model.fit(X, y, weight)
    D, attributes = read(X, y, weight)
    choose = partial(plain.best_cut, impurity=getattr(plain, criterion))
    assert_same(plain.grow(D, attributes, choose, plain.shares, depth, to_heavier), model.tree_.root)


@many
@given(tables("nnww", targets, gaps=True), st.sampled_from([np.inf, 2]))
def test_cart_for_numbers(table, depth):
    X, y, weight = table
    model = CARTRegressor(
        max_depth=None if depth == np.inf else depth, categorical_split="one_vs_rest", max_surrogates=0
    ).fit(X, y, weight)
    D, attributes = read(X, y, weight)
    assert_same(plain.grow(D, attributes, BY_SQUARES, plain.mean, depth, to_heavier), model.tree_.root)


# -- pruning ----------------------------------------------------------------------------------------------------


def path(tree: Node, impurity) -> list[tuple[float, Node]]:
    """Breiman's loop: the weakest links are cut again and again, down to the root."""
    N = plain.weight(tree.rows)
    steps = [(0.0, plain.prune(tree, 0.0, N, impurity))]
    while steps[-1][1].branches:
        alpha = min(plain.link_strengths(steps[-1][1], N, impurity))
        steps.append((alpha, plain.prune(steps[-1][1], alpha, N, impurity)))
    return steps


def assert_same_path(tree: Node, theirs: treekit.Tree, impurity) -> None:
    steps, N = path(tree, impurity), plain.weight(tree.rows)
    found = treekit.cost_complexity_path(theirs)
    assert found.ccp_alphas == pytest.approx([alpha for alpha, _ in steps], abs=1e-9)
    assert found.n_leaves.tolist() == [len(plain.leaves(pruned)) for _, pruned in steps]
    risks = [sum(plain.weight(t.rows) / N * impurity(t.rows) for t in plain.leaves(T) if t.rows) for _, T in steps]
    assert found.impurities == pytest.approx(risks, abs=1e-9)
    for alpha, pruned in steps:
        assert_same(pruned, treekit.prune_cost_complexity(theirs, alpha).root)
        assert_same(
            plain.prune(tree, alpha * 1.5, N, impurity), treekit.prune_cost_complexity(theirs, alpha * 1.5).root
        )


@many
@given(tables("nnw"))
def test_pruning_of_classes(table):
    X, y, weight = table
    model = CARTClassifier(categorical_split="one_vs_rest").fit(X, y, weight)
    assert_same_path(plain.grow(*read(X, y, weight), BY_GINI, plain.shares), model.tree_, plain.gini)


@many
@given(tables("nnw", targets))
def test_pruning_of_numbers(table):
    X, y, weight = table
    model = CARTRegressor(categorical_split="one_vs_rest").fit(X, y, weight)
    tree = plain.grow(*read(X, y, weight), BY_SQUARES, plain.mean)
    assert_same_path(tree, model.tree_, plain.squared_error)


@many
@given(tables("nww", gaps=True))
def test_pruning_of_many_branches(table):
    """Some of them are empty, and some rows are shared out."""
    X, y, weight = table
    with without_least_share():
        model = C45Classifier(confidence=None, min_samples_leaf=0).fit(X, y, weight)
    choose = partial(plain.largest_ratio, least=0)
    tree = plain.grow(*read(X, y, weight), choose, plain.shares, send=plain.share_out)
    assert_same_path(tree, model.tree_, plain.entropy)


# -- boosting ---------------------------------------------------------------------------------------------------


# The rates are below 1: a few full steps on classes bring the gains so close to zero that all of them tie, and there
# the estimators, whose tolerance is a part of the impurity, may take another cut.
@many
@given(tables("nn", max_size=14))
def test_climbs(table):
    """From the best cut of each column the climb of the fast code ends at the same line."""
    X, y, _ = table
    D, attributes = read(X, y)
    label = np.unique(y, return_inverse=True)[1]
    criterion = criteria.Entropy(label, label.max() + 1)
    values = X.to_numpy().T
    search = ObliqueSearch(values, criterion, ChildLimits(1), 0, np.random.default_rng(0))
    level = first_level(criterion.per_row, np.ones(len(X)))
    impurity = np.array([plain.entropy(D)])
    assume(all(plain.divides(D, (A, None)) for A in attributes))
    for A in attributes:
        w = tuple((B, float(A == B)) for B in attributes)
        start = search._scored(level, impurity, np.array([[w_B for _, w_B in w]]))
        ours = plain.climb(D, plain.best_cut(D, {w: None}))
        theirs = search.climb(level, impurity, start)
        assert theirs.gain[0] == pytest.approx(plain.gain(D, ours), abs=1e-9)


class Redrawn:
    """Draws the rows that a model has drawn, tree after tree."""

    def __init__(self, counts: np.ndarray) -> None:
        self.counts = iter(counts)

    def choices(self, D: list[Row], k: int) -> list[Row]:
        assert k == len(D)
        return [row for row, n in zip(D, next(self.counts)) for _ in range(n)]


def test_bagging():
    """The share of the votes, by the same samples."""
    melons = load_watermelon("3.0")
    X, y = melons.drop(columns="ripe"), (melons["ripe"] == "yes").astype(int)
    D, attributes = read(X, y)
    tree = CARTClassifier(categorical_split="one_vs_rest")
    model = BaggingClassifier(tree, 10, voting="hard", oob_score=True, random_state=0).fit(X, y)
    members = plain.forest(D, attributes, BY_GINI, 10, Redrawn(model.in_bag_))
    assert [plain.score(members, row) for row in D] == pytest.approx(model.predict_proba(X)[:, 1])


def test_a_random_cut_is_the_best_of_the_columns_drawn():
    """A column that cannot divide the rows is never drawn."""
    D, attributes = read_table(load_watermelon("3.0"))
    clear = [row for row in D if row.x["texture"] == "clear"]
    cuts = {plain.random_cut(clear, attributes, 1, random.Random(seed), impurity=plain.gini) for seed in range(40)}
    assert cuts == {BY_GINI(clear, {A: attributes[A]}) for A in attributes if A != "texture"}
    assert plain.random_cut(clear, attributes, 7, random.Random(0), impurity=plain.gini) == BY_GINI(clear, attributes)


rates = st.sampled_from([0.3, 0.7])


@many
@given(tables("nnww", st.sampled_from([-1, 1])), st.integers(1, 6))
def test_adaboost(table, rounds):
    """Errors and alphas of all rounds, their questions, and the vote for every row."""
    X, y, weight = table
    D, attributes = read(X, y, weight)
    assume({row.y for row in D} == {-1, 1})
    members = plain.adaboost(D, attributes, BY_GINI, rounds)
    model = AdaBoostClassifier(CARTClassifier(max_depth=1, categorical_split="one_vs_rest"), rounds)
    if not members:
        with pytest.raises(ValueError, match="no better than chance"):
            model.fit(X, y, weight)
        return
    model.fit(X, y, weight)
    assert model.estimator_weights_ == pytest.approx([alpha for alpha, _ in members])
    for (_, G), stump in zip(members, model.estimators_, strict=True):
        root = stump.tree_.root
        assert root.question == (G.question[0] if G.branches else None)
        if G.branches:
            cut = G.question[1]
            assert stump.tree_.threshold[0] == cut if isinstance(cut, float) else (next(iter(root.children)),) == cut
    # A word of no row of D is a gap to the estimator, and an answer of no to the plain code.
    words = {A: {row.x[A] for row in D} for A in ("w2", "w3")}
    rows = {i: row for i, row in enumerate(read(X, y)[0]) if all(row.x[A] in words[A] for A in words)}
    votes = [plain.score(members, row) for row in rows.values()]
    assert model.decision_function(X.iloc[list(rows)]) == pytest.approx(votes, abs=1e-9)


@many
@given(tables("nn", targets, max_size=14), st.integers(1, 3), rates)
def test_first_order_boosting_of_numbers(table, depth, rate):
    X, y, weight = table
    D, attributes = read(X, y, weight)
    model = GBDTRegressor(n_estimators=4, learning_rate=rate, max_depth=depth).fit(X, y, weight)
    members = plain.boost(D, attributes, plain.squared, plain.mean(D), BY_SQUARES, 4, rate, depth)
    assert model.predict(X) == pytest.approx([plain.score(members, row) for row in read(X, y)[0]], abs=1e-9)


@many
@given(tables("nn", st.sampled_from([0, 1]), max_size=14), st.integers(1, 3), rates)
def test_first_order_boosting_of_classes(table, depth, rate):
    X, y, weight = table
    D, attributes = read(X, y, weight)
    assume({row.y for row in D} == {0, 1})
    model = GBDTClassifier(n_estimators=4, learning_rate=rate, max_depth=depth).fit(X, y, weight)
    p = plain.mean(D)
    members = plain.boost(D, attributes, plain.logistic, np.log(p / (1 - p)), BY_SQUARES, 4, rate, depth)
    scores = [plain.score(members, row) for row in read(X, y)[0]]
    assert model.decision_function(X) == pytest.approx(scores, abs=1e-9)


penalties = st.sampled_from([(0.0, 0.0), (0.0, 0.013), (1.0, 0.0), (1.0, 0.1), (2.5, 0.0)])


@many
@given(tables("nn", targets, max_size=14), penalties, st.integers(1, 3), rates)
def test_second_order_boosting_of_numbers(table, penalty, depth, rate):
    X, y, weight = table
    (lam, gamma), (D, attributes) = penalty, read(X, y, weight)
    model = GBDTRegressor(
        method="newton", n_estimators=4, learning_rate=rate, max_depth=depth, min_child_weight=0, max_bins=None
    )
    model.set_params(reg_lambda=lam, gamma=gamma).fit(X, y, weight)
    choose = partial(plain.best_cut, gain=plain.newton_gain, epsilon=2 * plain.TIE, lam=lam, gamma=gamma)
    members = plain.boost(D, attributes, plain.squared, plain.mean(D), choose, 4, rate, depth, lam)
    # Between two values of a node the cut lies at the first edge, not in the middle: only other rows can tell.
    seen = np.ones(len(y), dtype=bool) if weight is None else weight > 0
    assert model.predict(X[seen]) == pytest.approx([plain.score(members, row) for row in D if row.w > 0], abs=1e-9)


@many
@given(tables("nn", st.sampled_from([0, 1]), max_size=14), penalties, st.integers(1, 3), rates)
def test_second_order_boosting_of_classes(table, penalty, depth, rate):
    X, y, weight = table
    (lam, gamma), (D, attributes) = penalty, read(X, y, weight)
    assume({row.y for row in D} == {0, 1})
    model = GBDTClassifier(
        method="newton", n_estimators=4, learning_rate=rate, max_depth=depth, min_child_weight=0, max_bins=None
    )
    model.set_params(reg_lambda=lam, gamma=gamma).fit(X, y, weight)
    choose, p = (
        partial(plain.best_cut, gain=plain.newton_gain, epsilon=2 * plain.TIE, lam=lam, gamma=gamma),
        plain.mean(D),
    )
    members = plain.boost(D, attributes, plain.logistic, np.log(p / (1 - p)), choose, 4, rate, depth, lam)
    scores = [plain.score(members, row) for row in D if row.w > 0]
    seen = np.ones(len(y), dtype=bool) if weight is None else weight > 0
    assert model.decision_function(X[seen]) == pytest.approx(scores, abs=1e-9)
