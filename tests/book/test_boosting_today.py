"""What the chapter on boosting today tells of LightGBM and CatBoost, against what these programs printed, and XGBoost.

The code is the chapter's own, cell by cell; ``tests/data/boosters.md`` says where the numbers come from.
"""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stdout
from functools import partial
from itertools import combinations
from random import Random

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBRegressor

from tests.book.cells import defined_by, recorded, sources
from treekit import CARTRegressor, plain

STORED = recorded("boosters")
GAIN = partial(plain.newton_gain, lam=0)
CELLS = (
    "bt-eight", "bt-stat-code", "bt-shift-run", "bt-ordered-own", "bt-ordered-run", "bt-drawn-code",
    "bt-drawn-boost", "bt-goss-plain", "bt-goss-figure", "bt-goss-code", "bt-efb-code", "bt-growth-code",
    "bt-growth-run", "bt-symmetric-code", "bt-dart-code", "bt-stop-code", "bt-constraints-code",
)  # fmt: skip


@pytest.fixture(scope="module")
def cells():
    return sources("boosting_today")


@pytest.fixture(scope="module")
def chapter():
    """The names that the chapter's cells define."""
    return defined_by("boosting_today", *CELLS)


def table(name):
    X = pd.DataFrame(STORED["tables"][name])
    return X.drop(columns="y"), X["y"].to_numpy()


def residuals(X, y):
    """The rows for the plain code, with what their mean leaves of the labels."""
    D, attributes = plain.read(X, y)
    return [plain.squared(row, y.mean()) for row in D], attributes


def told_by(function, *arguments, **keywords):
    """What a function prints, and what it returns."""
    out = io.StringIO()
    with redirect_stdout(out):
        result = function(*arguments, **keywords)
    return out.getvalue().splitlines(), result


def places(leaves, X):
    """The rows of each leaf, by the values of their columns."""
    return {frozenset(tuple(row.x[A] for A in X) for row in leaf) for leaf in leaves}


def test_the_stored_tables_are_the_chapters(chapter):
    X, y = table("eight")
    assert [*X["x"]] == [*chapter["eight"]["x"]]
    assert [*y] == chapter["days"]


def test_stumps_on_halves_as_scikit_learn(chapter):
    X, y = table("eight")
    halves = [list(half) for half in combinations(range(len(y)), 4)]
    stumps = [DecisionTreeRegressor(max_depth=1).fit(X.iloc[half], y[half] - y.mean()) for half in halves]
    assert chapter["moves"]["mean of stumps"] == pytest.approx(np.mean([f.predict(X) for f in stumps], axis=0))


def test_rounds_without_a_row_as_scikit_learn(chapter, cells):
    """What thirty rounds on the other seven rows leave of each row, in sum."""
    exec(cells["bt-drawn-unseen"].split("\n\non_seven")[0], chapter)
    X, y = table("eight")
    left = 0
    for i in range(len(y)):
        model = GradientBoostingRegressor(n_estimators=30, learning_rate=0.1, max_depth=1, criterion="squared_error")
        left += (y[i] - model.fit(X.drop(index=i), np.delete(y, i)).predict(X.loc[[i]])[0]) ** 2
    assert chapter["left_unseen"](7, Random(0)) == pytest.approx(left)


def test_boosting_stops_with_xgboost(chapter):
    """The errors on the new patients round by round, the round after which both stop, and the one that they keep."""
    X, y = table("eight")
    new = pd.DataFrame({"x": [2, 4, 6, 8]}), [3, 1, 8, 15]
    how = dict(n_estimators=99, max_depth=1, learning_rate=0.3, reg_lambda=0, min_child_weight=0, tree_method="exact")
    model = XGBRegressor(base_score=y.mean(), early_stopping_rounds=3, n_jobs=1, **how)
    model.fit(X, y, eval_set=[new], verbose=False)
    D, _ = plain.read(X, y)
    rows = [plain.Row({"x": x}, days) for x, days in zip(new[0]["x"], new[1])]
    members, errors = chapter["boost_until"](D, rows)
    assert np.sqrt(errors) == pytest.approx(model.evals_result()["validation_0"]["rmse"], rel=1e-5)
    assert len(members) == 1 + model.best_iteration + 1  # the constant comes first, and rounds count from 0


def test_a_round_learns_from_the_drawn_rows_and_columns(chapter):
    """In many draws the stumps of scikit-learn on all halves and single columns, and no other."""
    X = chapter["eight"][["x", "naive"]]
    D, attributes = plain.read(X, chapter["days"])
    values, y = X.to_numpy(), np.array(chapter["days"])
    expected = set()
    for half in combinations(range(len(y)), 4):
        for j, A in enumerate(X):
            tree = DecisionTreeRegressor(max_depth=1).fit(values[list(half)][:, [j]], y[list(half)]).tree_
            expected.add((half, A, round(float(tree.threshold[0]), 6)))
    drawn, rng = set(), Random(0)
    for _ in range(1500):
        f = chapter["drawn_stump"](D, attributes, 4, 1, rng)
        half = tuple(sorted(row.x["x"] - 1 for row in f.rows))
        drawn.add((half, f.question[0], round(f.question[1], 6)))
    assert drawn == expected


@pytest.mark.parametrize("name", ["eight", "melons", "patients"])
def test_leaf_by_leaf_as_lightgbm(chapter, name):
    """The same columns and falls in the same order, and the same leaves; LightGBM prints the falls to six digits.

    Its cuts lie halfway between neighbours of the whole table, the book's between neighbours of the leaf.
    """
    X, y = table(name)
    rows, attributes = residuals(X, y)
    stored = STORED["growth"][name]
    lines, leaves = told_by(chapter["grow_leaves"], rows, attributes, len(stored) + 1, GAIN)
    theirs = [rows]
    for line, (column, cut, gain) in zip(lines, stored, strict=True):
        assert line.startswith(f"split {column} <= ") and line.endswith(f"leaves: {len(theirs) + 1}")
        assert float(line.split("takes off ")[1].split(",")[0]) == pytest.approx(gain, rel=1e-5, abs=0.0051)
        gains = {i: GAIN(leaf, (column, cut)) for i, leaf in enumerate(theirs)}
        i = plain.largest(gains)
        assert 2 * gains[i] == pytest.approx(gain, rel=1e-5)
        theirs += plain.divide(theirs.pop(i), (column, cut)).values()
    assert places(leaves, X) == places(theirs, X)


def test_level_by_level(chapter):
    """A depth of 2 is growth by levels up to four leaves; where two cuts gain alike, LightGBM takes the second."""
    X, y = table("eight")
    rows, attributes = residuals(X, y)
    _, leaves = told_by(chapter["grow_leaves"], rows, attributes, 4, GAIN, by_level=True)
    means = {row.x["x"]: y.mean() + plain.newton(leaf)[0] for leaf in leaves for row in leaf}
    assert [means[x] for x in X["x"]] == pytest.approx(STORED["growth by CatBoost"]["level by level"])
    gains = sorted(gain for _, _, gain in STORED["growth"]["eight, depth 2"])
    assert gains == pytest.approx([1 / 3, 65.3333, 264.5], rel=1e-4)
    assert 347.5 - sum(gains) == pytest.approx(sum(len(leaf) * plain.squared_error(leaf) for leaf in leaves), rel=1e-4)


def test_leaf_by_leaf_as_catboost(chapter):
    X, y = table("eight")
    _, leaves = told_by(chapter["grow_leaves"], *residuals(X, y), 4, GAIN)
    means = {row.x["x"]: y.mean() + plain.newton(leaf)[0] for leaf in leaves for row in leaf}
    assert [means[x] for x in X["x"]] == pytest.approx(STORED["growth by CatBoost"]["leaf by leaf"])


def test_one_question_a_level_as_catboost(chapter):
    X, y = table("eight")
    asked = [[A if A == "x" else cut[0], cut if A == "x" else 0.5] for A, cut in chapter["asked"]]
    assert asked == STORED["symmetric"]["questions"]
    means = {row.x["x"]: y.mean() + plain.newton(leaf)[0] for leaf in chapter["nodes"][3] for row in leaf}
    assert [means[x] for x in X["x"]] == pytest.approx(STORED["symmetric"]["predictions"], abs=1e-6)


@pytest.mark.parametrize("most", range(2, 9))
@pytest.mark.parametrize("by_level", [True, False])
def test_both_orders_as_xgboost(chapter, most, by_level):
    X, y = table("melons")
    _, leaves = told_by(chapter["grow_leaves"], *residuals(X, y), most, GAIN, by_level)
    policy = dict(grow_policy="depthwise" if by_level else "lossguide", max_leaves=most, max_depth=0)
    model = XGBRegressor(
        n_estimators=1,
        learning_rate=1,
        reg_lambda=0,
        min_child_weight=0,
        base_score=y.mean(),
        max_bin=999,
        n_jobs=1,
        **policy,
    )
    leaf = model.fit(X, y).apply(X).ravel()
    assert places(leaves, X) == {frozenset(X[leaf == one].itertuples(index=False, name=None)) for one in set(leaf)}


def test_goss_counts_the_drawn_rows_as_lightgbm(chapter):
    """LightGBM's sums of gradients left of a cut are those of the chapter's samples: over sixty seeds all of them."""
    stored = STORED["goss"]["second tree"]
    assert {cut for cut, _, _, _ in stored} == {7.5}
    assert {(weight, rows) for _, _, weight, rows in stored} == {(7, 5)}
    g = chapter["after_stump"]
    sums = chapter["samples"](g, n_kept=3, n_drawn=2)["GOSS"][:, :7] @ g[:7]
    assert {G for _, G, _, _ in stored} == {*np.round(sums, 6)}


def test_the_plain_goss_draws_the_same_samples(chapter):
    """Over many seeds all samples of the comparison, and no other; LightGBM's sums are theirs (the test above)."""
    rows = chapter["after"]
    samples = {tuple(count) for count in chapter["samples"](chapter["after_stump"], n_kept=3, n_drawn=2)["GOSS"]}
    drawn = set()
    for seed in range(200):
        count = {row.x["x"]: row.w for row in chapter["goss"](rows, 3 / 8, 2 / 8, Random(seed))}
        drawn.add(tuple(count.get(x, 0) for x in range(1, 9)))
    assert drawn == samples


def test_goss_begins_with_all_rows():
    rows = STORED["goss"]["rows of each round at rate 0.25"]
    assert rows[:4] == [8] * 4
    assert max(rows[4:]) < 8


def test_bundles_as_lightgbm(chapter):
    """As many bundles as LightGBM has groups of columns; the splits are those without bundles."""
    from treekit.datasets import load_watermelon

    words = pd.get_dummies(load_watermelon().drop(columns="ripe")).astype(int)
    for name, columns in (("wards", chapter["one_hot"]), ("melons", words)):
        bundled, apart = STORED["bundles"][f"{name}, bundled"], STORED["bundles"][f"{name}, apart"]
        assert (len(chapter["bundles"](columns)), columns.shape[1]) == (bundled["groups"], apart["groups"])
        assert bundled["splits"] == apart["splits"]


def test_a_cut_in_a_bundle_gains_what_lightgbm_prints(chapter):
    rows, _ = residuals(chapter["one_hot"], np.array(chapter["days"], float))
    column, _, gain = STORED["bundles"]["wards, bundled"]["splits"][0]
    assert column == "A"
    assert 2 * GAIN(rows, ("A", 0.5)) == pytest.approx(gain, rel=1e-4)


@pytest.mark.parametrize("run", range(len(STORED["dart"])))
def test_dropped_trees_as_lightgbm(chapter, run):
    """Told which trees each round drops, the chapter's code gives the same factors, cuts and values."""
    stored = STORED["dart"][run]
    D, attributes = plain.read(*table("eight"))
    dropped = [tuple(m + 1 for m in trees) for trees in stored["dropped"]]  # tree 0 is the constant
    assert any(dropped)
    _, *members = chapter["dart"](D, attributes, dropped)
    ours = [(factor, f.question[1], *(factor * leaf.value for leaf in plain.leaves(f))) for factor, f in members]
    assert np.array(ours) == pytest.approx(np.array(stored["trees"]), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_dropped_trees_as_xgboost(chapter, seed):
    X, y = table("eight")
    D, attributes = plain.read(X, y)
    settings = dict(
        booster="dart", rate_drop=0.5, learning_rate=1, max_depth=1, reg_lambda=0, random_state=seed, n_jobs=1
    )
    factors: list[list[float]] = []
    for rounds in range(1, 7):
        model = XGBRegressor(n_estimators=rounds, base_score=y.mean(), **settings).fit(X, y)
        stored = json.loads(model.get_booster().save_raw("json"))["learner"]["gradient_booster"]
        factors.append(stored["weight_drop"])
    pairs = zip([[], *factors], factors)
    dropped = [tuple(m + 1 for m, factor in enumerate(old) if factor != new[m]) for old, new in pairs]
    assert any(dropped)
    members = chapter["dart"](D, attributes, dropped)
    assert [factor for factor, _ in members[1:]] == pytest.approx(factors[-1], abs=1e-6)
    assert [plain.score(members, row) for row in D] == pytest.approx(model.predict(X), abs=1e-4)


def follows(chapter, node, rows, path, groups):
    """Walk down a stored tree: each split is the best of the columns that may follow. Yields what all columns offer."""
    if node is None:
        return
    allowed = chapter["may_follow"](path, groups)
    question = node["column"], node["cut"]
    best = plain.best_cut(rows, dict.fromkeys(allowed), GAIN, 1e-9)
    assert question[0] in allowed
    assert GAIN(rows, question) == pytest.approx(GAIN(rows, best), rel=1e-6)
    assert 2 * GAIN(rows, question) == pytest.approx(node["gain"], rel=1e-4)
    yield GAIN(rows, plain.best_cut(rows, dict.fromkeys(rows[0].x), GAIN)) > GAIN(rows, best) * (1 + 1e-6)
    parts = plain.divide(rows, question)
    for side, below in zip((True, False), node["below"]):
        yield from follows(chapter, below, parts[side], [*path, question[0]], groups)


def test_constraints_as_lightgbm(chapter):
    """Every split is the best of what `may_follow` allows, and somewhere a forbidden column would gain more."""
    stored = STORED["constraints"]
    rows, _ = residuals(*table("patients"))
    # Lists, so that every split is looked at before any() is content.
    assert any([*follows(chapter, stored["constrained"], rows, [], stored["groups"])])
    everything = [["bmi", "bp", "s5"]]
    assert not any([*follows(chapter, stored["free"], rows, [], everything)])


def test_constraints_as_xgboost(chapter):
    X, y = table("patients")
    groups = STORED["constraints"]["groups"]
    model = XGBRegressor(
        n_estimators=1, learning_rate=1, reg_lambda=0, min_child_weight=0, base_score=y.mean(), max_bin=999, n_jobs=1,
        max_depth=6, interaction_constraints=groups,
    ).fit(X, y)  # fmt: skip
    [dumped] = model.get_booster().get_dump(dump_format="json", with_stats=True)

    def nested(node):
        if "split" not in node:
            return None
        cut = np.nextafter(np.float32(node["split_condition"]), np.float32(-9))  # "below", where the book has "at most"
        yes, no = (nested(one) for one in node["children"])
        return {"column": node["split"], "cut": float(cut), "gain": node["gain"], "below": [yes, no]}

    rows, _ = residuals(X, y)
    assert any([*follows(chapter, nested(json.loads(dumped)), rows, [], groups)])


def test_a_column_in_no_group():
    """LightGBM leaves it out; XGBoost uses it alone; HistGradientBoosting lets all such columns meet."""
    columns = re.findall(r"'column': '(\w+)'", str(STORED["constraints"]["one group"]))
    assert set(columns) == set(STORED["constraints"]["groups"][0])

    X = np.random.default_rng(0).normal(size=(500, 4))
    y = X[:, 0] * X[:, 1] + 3 * X[:, 2] + X[:, 2] * X[:, 3]
    trees = XGBRegressor(n_estimators=50, max_depth=3, interaction_constraints="[[0, 1]]", n_jobs=1).fit(X, y)
    met = trees.get_booster().trees_to_dataframe().query("Feature != 'Leaf'").groupby("Tree")["Feature"].agg(frozenset)
    assert set(met) == {frozenset(["f0", "f1"]), frozenset(["f2"]), frozenset(["f3"])}

    apart, one, both = (
        HistGradientBoostingRegressor(interaction_cst=groups, early_stopping=False).fit(X, y).predict(X)
        for groups in ([[0, 1], [2], [3]], [[0, 1]], [[0, 1], [2, 3]])
    )
    np.testing.assert_array_equal(one, both)
    assert not np.allclose(one, apart)


@pytest.mark.parametrize("case", range(len(STORED["categories"])))
def test_categories_in_order_of_their_means_as_lightgbm(case):
    stored = STORED["categories"][case]
    _, y = table("patients")
    ward = pd.Categorical([f"w{one}" for one in stored["ward"]])
    tree = CARTRegressor(max_depth=1).fit(pd.DataFrame({"ward": ward}), y).tree_
    sides = [set(child.branch.split(" or ")) for child in tree.root.children.values()]
    assert {f"w{one}" for one in stored["side"]} in sides
    assert tree.gain[0] * len(y) == pytest.approx(stored["gain"], rel=1e-4)


@pytest.mark.parametrize("case", range(len(STORED["codes"])))
def test_ordered_codes_as_catboost(chapter, case):
    """Each code lies between the borders between which CatBoost has the row, and those are mostly 1/255 apart."""
    stored = STORED["codes"][case]
    A, y, prior = stored["A"], np.array(stored["y"]) / max(stored["y"]), stored["prior"]
    codes = np.array([chapter["statistic"](n, range(n), A, y, prior) for n in range(len(A))])
    low = np.array([-1 if one is None else one for one in stored["low"]])
    high = np.array([256 if one is None else one for one in stored["high"]])
    assert (low < 255 * codes + 1e-4).all()
    assert (255 * codes <= high + 1e-4).all()
    assert np.median(high - low) < 130
    naive = np.array([chapter["statistic"](n, range(len(A)), A, y, prior) for n in range(len(A))])
    assert not ((low < 255 * naive) & (255 * naive <= high)).all()


@pytest.mark.parametrize("case", range(len(STORED["codes"])))
def test_new_rows_see_all_training_rows_as_in_catboost(case):
    stored = STORED["codes"][case]
    y = pd.Series(stored["y"]) / max(stored["y"])
    sums = y.groupby(stored["A"]).agg(["sum", "size"]).to_numpy()
    assert np.array(sorted(sums.tolist())) == pytest.approx(np.array(stored["new"]), abs=1e-3)


def test_catboosts_added_rows_have_the_labels_that_the_page_tells(cells):
    told = cells["bt-real-after"].split("$p$ = ")[1].split(".\n")[0]
    assert [float(one) for one in re.findall(r"\[([\d.]+)\]\{\.quoted\}", told)[:3]] == STORED["priors"]


def test_the_seconds_that_the_page_tells_are_those_measured(cells):
    told = cells["bt-efb-cuts"].split("LightGBM's seconds, stored")[1].split("::::")[0]
    quoted = [float(one) for one in re.findall(r"\[([\d.]+)\]\{\.quoted\}", told)]
    bundles, few_columns, many_columns = STORED["seconds"].values()
    errors = STORED["goss errors"]["200 columns"]
    assert quoted == [*bundles, *few_columns, *many_columns, *np.round(errors, 4)]
    assert all(by_goss < by_all for by_all, by_goss in STORED["goss errors"].values())
    assert 17 < bundles[0] / bundles[1] < 20 and "nearly twenty times as fast" in cells["bt-efb-cuts"]
    assert many_columns[1] / many_columns[0] == pytest.approx(2 / 3, abs=0.02)  # saves a third
    assert 0.93 < few_columns[1] / few_columns[0] < 1 and "With fifty it saves hardly any" in cells["bt-goss-after"]
    for pair in (bundles, many_columns):  # the summary's lines
        assert "LightGBM's seconds | [{:.2f}]{{.quoted}} | [{:.2f}]{{.quoted}} |".format(*pair) in cells["bt-mistakes"]


def stumps(chapter, X, y, rounds, rate, is_ordered):
    """Boosted stumps with CatBoost's score of a cut, the sum over the rows of step times residual."""
    F = np.full(len(y), y.mean())
    models = np.tile(F, (len(y), 1))
    for _ in range(rounds):
        found = {}
        for A in X:
            values = np.unique(X[A])
            for cut in (values[1:] + values[:-1]) / 2:
                leaf = (X[A] > cut).astype(int).to_numpy()
                means = pd.Series(y - F).groupby(leaf).mean()
                step = chapter["prefix_means"](leaf, y - models) if is_ordered else np.tile(means[leaf], (len(y), 1))
                found[A, cut] = means, leaf, step
        residual = y - np.diag(models)
        question = plain.largest({q: residual @ np.diag(step) for q, (_, _, step) in found.items()})
        means, leaf, step = found[question]
        yield *question, *(rate * means)
        F = F + rate * means[leaf].to_numpy()
        models = models + rate * step


@pytest.mark.parametrize("case", range(len(STORED["ordered"])))
def test_ordered_boosting_as_catboost(chapter, case):
    """The same cuts and the same values, round for round, with a model for each row of the rows before it."""
    stored = STORED["ordered"][case]
    X, y = table(stored["table"])
    ours = [*stumps(chapter, X, y, len(stored["stumps"]), stored["rate"], stored["is_ordered"])]
    for (column, *numbers), (their_column, *their_numbers) in zip(ours, stored["stumps"]):
        assert column == their_column
        assert numbers == pytest.approx(their_numbers, rel=1e-4, abs=1e-5)


def test_ordered_boosting_differs_from_plain():
    """So the test above would see it if the order did not matter."""
    by_kind = {(one["table"], one["rate"], one["is_ordered"]): one["stumps"] for one in STORED["ordered"]}
    for name, rate, is_ordered in by_kind:
        assert by_kind[name, rate, is_ordered] != by_kind[name, rate, not is_ordered]


def test_the_mean_of_earlier_rows_is_the_first_round(chapter):
    """The chapter's loop is the first round of the models of the rows before each row."""
    leaf, r = np.array([1, 2, 1, 2, 2, 1, 1, 3]), np.random.default_rng(0).normal(size=8)
    together = chapter["prefix_means"](leaf, np.tile(r, (8, 1)))
    assert np.diag(together) == pytest.approx(chapter["mean_of_earlier"](leaf, r))


def test_ordered_boosting_helps_deep_trees_in_catboost_too():
    """At depth 6, if nothing else holds the trees back; and plain trees of depth 2 do better still."""
    errors = {name: np.array(one) for name, one in STORED["diabetes"].items()}
    assert (errors["Ordered 6"] < errors["Plain 6"]).sum() > 3
    assert errors["Plain 2"].mean() < errors["Ordered 6"].mean() < errors["Plain 6"].mean()


def test_by_default_catboost_does_equally_well_in_order():
    """Within two standard errors, at depth 6."""
    errors = {name: np.array(one) for name, one in STORED["diabetes by default"].items()}
    lead = errors["Plain 6"] - errors["Ordered 6"]
    assert abs(lead.mean()) < 2 * lead.std(ddof=1) / len(lead) ** 0.5


def test_catboost_is_plain_and_symmetric_by_default():
    """On a CPU a small table and a large one are boosted plainly, by trees with one question a level."""
    assert [how for _, *how in STORED["defaults"]] == [["Plain", "SymmetricTree"]] * 2
    assert min(n for n, *_ in STORED["defaults"]) < 1000 < 50_000 < max(n for n, *_ in STORED["defaults"])
