"""Examples that textbooks and manuals work by hand, to their printed digits, where no other test has them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from treekit import CARTClassifier, entropy, gain_ratio, gini, information_gain, split_information

DATA = Path(__file__).parent / "data"

# Han, Kamber and Pei, Data Mining (3rd edition), table 8.1: who buys a computer?
BUYERS = pd.DataFrame(
    [
        ("youth", "high", "no", "fair", "no"),
        ("youth", "high", "no", "excellent", "no"),
        ("middle-aged", "high", "no", "fair", "yes"),
        ("senior", "medium", "no", "fair", "yes"),
        ("senior", "low", "yes", "fair", "yes"),
        ("senior", "low", "yes", "excellent", "no"),
        ("middle-aged", "low", "yes", "excellent", "yes"),
        ("youth", "medium", "no", "fair", "no"),
        ("youth", "low", "yes", "fair", "yes"),
        ("senior", "medium", "yes", "fair", "yes"),
        ("youth", "medium", "yes", "excellent", "yes"),
        ("middle-aged", "medium", "no", "excellent", "yes"),
        ("middle-aged", "high", "yes", "fair", "yes"),
        ("senior", "medium", "no", "excellent", "no"),
    ],
    columns=["age", "income", "student", "credit", "buys"],
)


def test_han_and_kamber_gains():
    """Section 8.2.2: Info(D) = 0.940; gains 0.246, 0.029, 0.151, 0.048.

    The book subtracts rounded terms and cuts: the exact gains of age and student, 0.2467 and 0.1518, round to 0.247
    and 0.152.
    """
    buys = BUYERS["buys"]
    assert round(entropy(buys), 3) == 0.940
    gains = {column: information_gain(BUYERS[column], buys) for column in BUYERS.columns[:-1]}
    assert {column: int(gain * 1000) / 1000 for column, gain in gains.items()} == {
        "age": 0.246, "income": 0.029, "student": 0.151, "credit": 0.048,
    }  # fmt: skip


def test_han_and_kamber_gain_ratio_and_gini():
    """SplitInfo(income) = 1.557, GainRatio(income) = 0.019, Gini(D) = 0.459, and the best pair of income 0.443."""
    buys = BUYERS["buys"]
    assert round(split_information(BUYERS["income"]), 3) == 1.557
    assert round(gain_ratio(BUYERS["income"], buys), 3) == 0.019
    assert round(gini(buys), 3) == 0.459
    left = {column: CARTClassifier(max_depth=1).fit(BUYERS[[column]], buys).tree_ for column in BUYERS.columns[:-1]}
    after = {column: round(tree.impurity[0] - tree.gain[0], 3) for column, tree in left.items()}
    assert after == {"age": 0.357, "income": 0.443, "student": 0.367, "credit": 0.429}
    assert {left["income"][1].branch, left["income"][2].branch} == {"high", "low or medium"}


@pytest.fixture
def stage_c():
    """Prostate cancer of stage C, rpart's own example; the label is whether the disease came back."""
    table = pd.read_csv(DATA / "stagec.csv")
    return table[["age", "eet", "g2", "grade", "gleason", "ploidy"]], table["pgstat"]


def test_rpart_improvements(stage_c):
    """Therneau and Atkinson, section 4: the primary splits of the first node, with their improvement."""
    X, y = stage_c
    printed = {"grade": 10.35759, "gleason": 8.39957, "ploidy": 7.65653, "g2": 7.18677, "age": 1.38813}
    minimum = {"min_samples_split": 20, "min_samples_leaf": 7, "max_depth": 1}
    trees = {column: CARTClassifier(**minimum).fit(X[[column]], y).tree_ for column in printed}
    improvement = {column: round(tree.gain[0] * tree.weight[0], 5) for column, tree in trees.items()}
    assert improvement == printed
    cuts = {column: round(float(trees[column].threshold[0]), 3) for column in ("grade", "gleason", "g2", "age")}
    assert cuts == {"grade": 2.5, "gleason": 5.5, "g2": 13.2, "age": 58.5}
    assert {node.branch for node in trees["ploidy"].root.children.values()} == {"diploid", "aneuploid or tetraploid"}


def test_rpart_surrogates(stage_c):
    """The same section: surrogates gleason 5.5, ploidy, g2 9.945 and age 66.5, with agree and adj."""
    X, y = stage_c
    tree = CARTClassifier(min_samples_split=20, min_samples_leaf=7, max_depth=1).fit(X, y).tree_
    assert tree.root.question == "grade"
    names = [
        tree.features[int(surrogate.feature[0])].name for surrogate in tree.surrogates if surrogate.feature[0] >= 0
    ]
    assert names == ["gleason", "ploidy", "g2", "age"]
    thresholds = [round(float(surrogate.threshold[0]), 3) for surrogate in tree.surrogates[:4]]
    assert thresholds == pytest.approx([5.5, float("nan"), 9.945, 66.5], nan_ok=True)
    assert tree.surrogates[3].is_reversed[0]  # the young go to the right
    assert [round(float(s.agreement[0]), 3) for s in tree.surrogates[:4]] == [0.863, 0.644, 0.630, 0.589]
    assert [round(float(s.adjusted[0]), 3) for s in tree.surrogates[:4]] == [0.672, 0.148, 0.115, 0.016]
