"""ID3: published trees, laws, stopping rules."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import nested
from treekit import ID3Classifier
from treekit.datasets import load_watermelon


def fit(table: pd.DataFrame, **parameters) -> ID3Classifier:
    """ID3 on a table whose last column is the label."""
    return ID3Classifier(**parameters).fit(table.iloc[:, :-1], table.iloc[:, -1])


# -- published trees --------------------------------------------------------------------------------------------


def test_watermelon_tree_of_zhou():
    """Figure 4.4 of Zhou (2016), the empty branch among its leaves."""
    assert nested(fit(load_watermelon()).tree_.root) == {
        "texture": {
            "clear": {
                "stem": {
                    "curly": "yes",
                    "slightly curly": {
                        "color": {"green": "yes", "dark": {"surface": {"hard": "yes", "soft": "no"}}, "light": "yes"}
                    },
                    "straight": "no",
                }
            },
            "slightly blurry": {"surface": {"hard": "no", "soft": "yes"}},
            "blurry": "no",
        }
    }


# -- laws -------------------------------------------------------------------------------------------------------

tables = st.integers(1, 30).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 2), min_size=n, max_size=n) for _ in range(4)])
)


@settings(max_examples=50)
@given(tables)
def test_training_rows_are_told_apart_where_they_can_be(columns):
    table = pd.DataFrame(dict(zip("abcy", columns)))
    majority = table.groupby(list("abc"))["y"].agg(lambda y: y.value_counts().sort_index().idxmax())
    wanted = [majority[tuple(row)] for row in table[list("abc")].to_numpy()]
    assert fit(table).predict(table[list("abc")]).tolist() == wanted


# -- ties, stops, prediction ------------------------------------------------------------------------------------


def test_first_column_wins_a_tie():
    """Under clear texture, stem, umbilicus and surface gain the same 0.458 bits."""
    melons = load_watermelon()
    assert fit(melons).tree_.root.children["clear"].question == "stem"
    swapped = melons[["color", "umbilicus", "sound", "texture", "stem", "surface", "ripe"]]
    assert fit(swapped).tree_.root.children["clear"].question == "umbilicus"


def test_splits_on_zero_gain_until_min_gain_forbids():
    xor = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 1, 1, 0]})
    assert fit(xor).tree_.root.gain == 0
    assert fit(xor).score(xor[["a", "b"]], xor["y"]) == 1
    assert fit(xor, min_gain=1e-6).tree_.n_nodes == 1


def test_a_gain_of_zero_is_zero_whatever_rounding_does():
    """1 row of 3 in one branch, 4 of 12 in the other: by the logarithms of floats the gain is less than zero."""
    table = pd.DataFrame({"coin": [*"hhh", *("t" * 12)], "play": [*"ynn", *("yyyy" + "n" * 8)]})
    assert fit(table).tree_.n_nodes == 3


@pytest.mark.parametrize(
    "parameters, n_nodes",
    [({"max_depth": 0}, 1), ({"max_depth": 1}, 4), ({"min_samples_split": 6}, 7), ({"min_gain": 0.5}, 1)],
)
def test_stopping_rules(parameters, n_nodes):
    tree = fit(load_watermelon(), **parameters).tree_
    assert tree.n_nodes == n_nodes
    inner = ~tree.is_leaf
    assert (tree.depth <= parameters.get("max_depth", np.inf)).all()
    assert (tree.n_samples[inner] >= parameters.get("min_samples_split", 2)).all()
    assert (tree.gain[inner] >= parameters.get("min_gain", 0)).all()


def test_empty_branch_repeats_its_parent():
    melons = load_watermelon()
    tree = fit(melons).tree_
    empty = [node for node in tree.walk() if node.n_samples == 0]
    assert [(node.parent.question, node.branch, node.label) for node in empty] == [("color", "light", "yes")]
    assert tree.value[empty[0].id].tolist() == tree.value[empty[0].parent.id].tolist()
    row = pd.DataFrame([["light", "slightly curly", "dull", "clear", "flat", "soft"]], columns=melons.columns[:-1])
    assert fit(melons).predict(row).tolist() == ["yes"]


def test_unseen_category_stops_and_says_the_majority():
    """A texture that no training melon had: the answer is what the root would say, nine unripe of seventeen."""
    model = fit(load_watermelon())
    row = load_watermelon().iloc[[0], :-1].astype(str)
    row["texture"] = "rough"
    assert model.apply(row).tolist() == [0]
    assert model.predict(row).tolist() == ["no"]
    assert model.predict_proba(row)[0] == pytest.approx([9 / 17, 8 / 17])


def test_conflicting_rows_give_the_first_class_on_a_tie():
    model = ID3Classifier().fit([["u"], ["u"]], ["b", "a"])
    assert model.tree_.n_nodes == 1
    assert model.predict([["u"]]).tolist() == ["a"]
    assert model.predict_proba([["u"]]).tolist() == [[0.5, 0.5]]


def test_categories_without_rows_get_a_branch():
    x = pd.Categorical(["u", "v"], categories=["w", "v", "u"])
    tree = ID3Classifier().fit(pd.DataFrame({"x": x}), ["p", "q"]).tree_
    assert list(tree.root.children) == ["w", "v", "u"]
    assert tree.root.children["w"].n_samples == 0


@pytest.mark.parametrize("kind", [str, int, float, bool])
def test_labels_and_values_keep_their_kind(kind):
    values = [kind(v) for v in (0, 1, 1)] if kind is not str else ["a", "b", "b"]
    model = ID3Classifier().fit(pd.DataFrame({"x": values}), values)
    assert model.predict(pd.DataFrame({"x": values})).tolist() == values
    assert set(model.tree_.root.children) == set(values)


def test_the_width_of_floats_is_part_of_a_category():
    """A tenth in float32 is another number than in float64; a quarter is the same."""
    model = ID3Classifier().fit(pd.DataFrame({"x": np.float32([0.1, 0.25])}), ["p", "q"])
    with pytest.raises(ValueError, match="column 'x' held float32 in fit and holds float64 now"):
        model.predict(pd.DataFrame({"x": [0.1, 0.25]}))
    assert model.predict(pd.DataFrame({"x": [0.25, 0.25]})).tolist() == ["q", "q"]


def test_table_in_chinese_grows_the_same_tree():
    chinese = load_watermelon(language="zh")
    terms = load_watermelon().attrs["chinese"]
    text = fit(load_watermelon()).tree_.export_text()
    for english in sorted(terms, key=len, reverse=True):
        text = text.replace(english, terms[english])
    assert fit(chinese).tree_.export_text() == text
