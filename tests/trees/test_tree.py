"""The Tree: how its arrays hang together, how rows pass, what it prints, however deep it is."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from tests.helpers import chain
from treekit import CARTRegressor, ID3Classifier, Tree, information_gain
from treekit.datasets import load_loan, load_lunch, load_playtennis, load_watermelon


@pytest.fixture
def melons():
    return load_watermelon()


@pytest.fixture
def model(melons):
    return ID3Classifier().fit(melons.iloc[:, :-1], melons["ripe"])


def test_arrays_hang_together(model):
    tree = model.tree_
    for node in tree.walk():
        children = list(node.children.values())
        assert node.is_leaf == (not children)
        for child in children:
            assert child.parent == node and child.depth == node.depth + 1
            assert node.children[child.branch] == child
        if children:
            assert node.n_samples == sum(child.n_samples for child in children)
            assert tree.weight[node.id] == sum(tree.weight[child.id] for child in children)
    assert [node.id for node in tree.walk()].count(0) == 1 and len(list(tree.walk())) == len(tree)
    assert (np.diff(tree.depth) >= 0).all()
    assert tree.n_leaves == 9 and tree.max_depth == 4
    assert tree.value.sum(axis=1) == pytest.approx(np.ones(len(tree)))


def test_gain_of_a_node_is_the_formula_on_its_rows(melons, model):
    """Each stored gain equals information_gain on the rows that pass the node, found by decision_path."""
    path = model.decision_path(melons.iloc[:, :-1]).toarray().astype(bool)
    for node in model.tree_.walk():
        rows = melons[path[:, node.id]]
        assert len(rows) == node.n_samples
        if not node.is_leaf:
            assert node.gain == pytest.approx(information_gain(rows[node.question], rows["ripe"]))


def test_apply_and_path_end_in_the_same_leaf(melons, model):
    X = melons.iloc[:, :-1]
    leaf = model.apply(X)
    path = model.decision_path(X)
    assert model.tree_.is_leaf[leaf].all()
    assert path[np.arange(len(X)), leaf].sum() == len(X)
    assert (np.asarray(path.sum(axis=1)).ravel() == model.tree_.depth[leaf] + 1).all()
    assert (model.get_depth(), model.get_n_leaves()) == (4, 9)


def test_to_frame_has_a_row_a_node(model):
    frame = model.tree_.to_frame()
    assert list(frame.columns) == [
        "parent", "depth", "branch", "feature", "n_samples", "weight", "impurity", "gain", "value", "is_leaf",
    ]  # fmt: skip
    assert len(frame) == model.tree_.n_nodes
    leaves = frame[frame["is_leaf"]]
    assert leaves["n_samples"].sum() == 17
    assert frame.loc[3, ["branch", "value", "n_samples"]].tolist() == ["blurry", "no", 3]
    # The leaves alone say how much the whole tree gained: entropy before = sum of weighted gains, as they are pure.
    inner = frame[~frame["is_leaf"]]
    assert (inner["weight"] * inner["gain"]).sum() / 17 == pytest.approx(frame.loc[0, "impurity"])


def test_rules_cover_each_row_once(melons, model):
    rules = model.tree_.export_rules()
    assert len(rules) == model.tree_.n_leaves
    n_holding = 0
    for _, row in melons.iterrows():
        for rule in rules:
            conditions, label = re.fullmatch(r"if (.*) then (\w+)  \[.*\]", rule).groups()
            if all(row[name] == value for name, value in (c.split(" = ") for c in conditions.split(" and "))):
                n_holding += 1
                assert label == row["ripe"]
    assert n_holding == len(melons)
    assert ID3Classifier().fit([["u"]], ["a"]).tree_.export_rules() == ["if anything then a  [a 1]"]


def test_text_of_playtennis():
    days = load_playtennis()
    tree = ID3Classifier().fit(days.iloc[:, :-1], days["play"]).tree_
    assert tree.export_text().splitlines() == [
        "outlook?",
        "├── sunny: humidity?",
        "│   ├── high: no  [no 3, yes 0]",
        "│   └── normal: yes  [no 0, yes 2]",
        "├── overcast: yes  [no 0, yes 4]",
        "└── rain: wind?",
        "    ├── weak: yes  [no 0, yes 3]",
        "    └── strong: no  [no 2, yes 0]",
    ]
    assert repr(tree) == "Tree of 8 nodes, 5 of them leaves, depth 2"


def test_node_numbers_are_checked(model):
    for node in (14, -1, "a", 0.5):
        with pytest.raises(IndexError, match=f"node must be a number from 0 to 13; got {node!r}"):
            model.tree_[node]


@pytest.mark.parametrize("depth", [0, sys.getrecursionlimit() + 1000])
def test_no_depth_is_too_deep(depth):
    tree = chain(depth)
    assert tree.max_depth == depth
    assert len(tree.export_text().splitlines()) == len(tree) == 2 * depth + 1
    assert tree.apply(np.array([[-1.0, depth]])).tolist() == [min(1, depth), 2 * depth]
    assert tree.decision_path(np.array([[float(depth)]])).sum() == depth + 1
    assert len(tree.to_frame()) == len(tree)
    assert tree.draw().svg.count("<rect") > 0


# -- the drawing ------------------------------------------------------------------------------------------------


def parts(drawing) -> tuple[ET.Element, str]:
    """The parsed SVG, and all words in it."""
    root = ET.fromstring(drawing.svg)
    return root, " ".join(root.itertext())


def test_drawing_shows_every_node(model):
    root, words = parts(model.tree_.draw())
    for shown in ["texture?", "gain 0.381", "slightly curly", "empty", "0 : 5", "light"]:
        assert shown in words
    assert root.get("role") == "img" and "tests texture" in root.get("aria-label")
    # One frame a node; bars have no rounded corners.
    assert sum(1 for rect in root.iter() if rect.tag == "rect" and rect.get("rx")) == model.tree_.n_nodes
    dashed = [e for e in root.iter() if e.get("stroke-dasharray")]
    assert len(dashed) == 2  # the empty branch: its edge and its card


def test_cards_of_a_level_do_not_overlap(model):
    for tree in (model.tree_, wide_tree()):
        frames = [r for r in parts(tree.draw(max_nodes=500))[0].iter() if r.tag == "rect" and r.get("rx")]
        boxes = sorted((float(r.get("y")), float(r.get("x")), float(r.get("width"))) for r in frames)
        for (y1, x1, width), (y2, x2, _) in zip(boxes, boxes[1:]):
            assert y1 < y2 or x1 + width <= x2


def wide_tree() -> Tree:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (200, 5)), columns=list("abcde"))
    return ID3Classifier(max_depth=4).fit(X, rng.integers(0, 3, 200)).tree_


def test_html_opens_and_closes_what_it_nests(model):
    html = model.tree_._repr_html_()
    outline = re.search(r'<div class="outline">(.*?)</div>', html, re.S).group(1)
    root = ET.fromstring(f"<div>{outline.replace('<details open>', '<details>')}</div>")
    assert sum(1 for _ in root.iter("strong")) == model.tree_.n_nodes
    assert sum(1 for _ in root.iter("details")) == model.tree_.n_nodes - model.tree_.n_leaves


def test_drawing_of_numbers_stays_in_its_cards():
    x = np.arange(1.0, 11)[:, np.newaxis]
    tree = CARTRegressor(max_depth=2).fit(x, 100 * x[:, 0] - 300).tree_
    root, words = parts(tree.draw())
    assert all(shown in words for shown in ("> 5.5", "2 rows", "-150", "600"))
    cards = [float(r.get("width")) for r in root.iter() if r.tag == "rect" and r.get("rx")]
    bars = [float(r.get("width")) for r in root.iter() if r.tag == "rect" and not r.get("rx")]
    assert 0 < max(bars) < min(cards)
    assert tree.export_text().splitlines()[2] == "│   ├── <= 2.5: -150  [2 rows]"


def test_drawing_of_a_big_tree_stops_at_a_level():
    tree = wide_tree()
    words = parts(tree.draw(max_nodes=20))[1]
    assert "more below" in words
    assert tree.n_nodes > 80 and len(tree._repr_html_()) < 60_000
    for max_nodes in (0, None):
        with pytest.raises(ValueError, match=f"max_nodes must be a number, 1 or more; got {max_nodes}"):
            tree.draw(max_nodes)


def test_drawing_escapes_what_it_is_given():
    X = pd.DataFrame({"a<b>&c": ['<i>"x"</i>', "y"]})
    html = ID3Classifier().fit(X, ["<u>", "&"]).tree_._repr_html_()
    assert "<i>" not in html and "<u>" not in html
    ET.fromstring(ID3Classifier().fit(X, ["<u>", "&"]).tree_.draw().svg)


# -- the tables -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "version, shape", [("2.0", (17, 7)), ("3.0", (17, 9)), ("3.0-alpha", (17, 3)), ("2.0-alpha", (17, 7))]
)
def test_watermelon_tables(version, shape, language):
    table = load_watermelon(version, language)
    assert table.shape == shape
    assert table.index.tolist() == list(range(1, 18))
    assert table.iloc[:, -1].value_counts().tolist() == [9, 8]
    assert table.isna().to_numpy().sum() == (13 if version == "2.0-alpha" else 0)


def test_gapped_table_is_the_full_one_with_gaps():
    full, gapped = load_watermelon(), load_watermelon("2.0-alpha")
    known = gapped.notna()
    assert (full.astype(object).where(known) == gapped.astype(object).where(known)).to_numpy()[known.to_numpy()].all()
    assert [list(gapped[c].cat.categories) for c in gapped] == [list(full[c].cat.categories) for c in full]


#: Columns and a row of each table in both languages, as their sources print them.
BILINGUAL = [
    (load_playtennis, (14, 5), 0, "outlook 天气 temperature 温度 humidity 湿度 wind 风 play 打网球",
     "sunny 晴 hot 热 high 高 weak 弱 no 否"),
    (load_loan, (15, 5), 0, "age 年龄 job 有工作 house 有自己的房子 credit 信贷情况 approved 批准贷款",
     "young 青年 no 否 no 否 fair 一般 no 否"),
    (load_lunch, (12, 3), 0, "distance_m 距离（米） price_yuan 价格（元） eat 去吃", "150 150 18 18 yes 是"),
    (load_watermelon, (17, 7), 1, "color 色泽 stem 根蒂 sound 敲声 texture 纹理 umbilicus 脐部 surface 触感 ripe 好瓜",
     "dark 乌黑 curly 蜷缩 dull 沉闷 clear 清晰 hollow 凹陷 hard 硬滑 yes 是"),
]  # fmt: skip


@pytest.mark.parametrize("load, shape, row, columns, entries", BILINGUAL, ids=[load.__name__ for load, *_ in BILINGUAL])
def test_tables_in_two_languages(load, shape, row, columns, entries):
    english, chinese = load(), load(language="zh")
    assert english.shape == chinese.shape == shape
    for table, start in ((english, 0), (chinese, 1)):
        assert list(table.columns) == columns.split()[start::2]
        assert [str(entry) for entry in table.iloc[row]] == entries.split()[start::2]
    # One term for one term: rows that are alike in one language are alike in the other.
    terms = english.attrs["chinese"]
    assert len(set(terms.values())) == len(terms)
    for before, after in zip(english, chinese):
        assert np.array_equal(pd.factorize(english[before])[0], pd.factorize(chinese[after])[0])


@pytest.mark.parametrize("load", [load_playtennis, load_loan, load_lunch, load_watermelon])
def test_unknown_tables_are_named(load):
    with pytest.raises(ValueError, match="language must be"):
        load(language="fr")
    if load is load_watermelon:
        with pytest.raises(ValueError, match="version must be"):
            load("4.0")
