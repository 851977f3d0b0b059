"""Records what LightGBM and CatBoost print for the small tables of the chapter on boosting today: see boosters.md."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from benchmarks.tuning import N_SPLITS, QUIET, TABLES, catboosted, divided, loss, loss_of_constant
from treekit.datasets import load_watermelon

WARDS, DAYS = "ABACBACB", [1, 2, 1, 2, 9, 9, 14, 20]
GROUPS = [["bmi", "bp"], ["bp", "s5"]]

#: No limit but the number of leaves, a bin for each value, the whole of each step.
LIGHT = dict(
    objective="regression", learning_rate=1, min_data_in_leaf=1, min_sum_hessian_in_leaf=0, min_data_in_bin=1,
    cat_smooth=0, cat_l2=0, max_cat_to_onehot=1, min_data_per_group=1,
    feature_pre_filter=False, deterministic=True, num_threads=1, verbosity=-1,
)  # fmt: skip
EMPTY = str(2**64 - 1)  # the key of an empty place in CatBoost's tables
CAT = QUIET | dict(
    l2_leaf_reg=0, random_strength=0, bootstrap_type="No", score_function="L2", leaf_estimation_iterations=1,
    leaf_estimation_method="Gradient", feature_border_type="Median", has_time=True,
    random_seed=0,
)  # fmt: skip


def tables() -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    """Columns and labels: the eight patients, the melons by density, and sixty of the diabetes patients."""
    melons = load_watermelon("3.0").sort_values("density")
    patients = load_diabetes(as_frame=True).frame[["bmi", "bp", "s5", "target"]].iloc[:60].round(6)
    patients[["bmi", "bp", "s5"]] += 1  # LightGBM has a bin of its own for 0, and cuts beside it
    return {
        "eight": (pd.DataFrame({"x": range(1, 9)}, dtype=float), np.array(DAYS, float)),
        "melons": (melons[["density"]], melons["sugar"].to_numpy()),
        "patients": (patients.drop(columns="target"), patients["target"].to_numpy()),
    }


def light(X: pd.DataFrame, y: np.ndarray, rounds: int = 1, **settings) -> lightgbm.Booster:
    settings = LIGHT | settings
    return lightgbm.train(settings, lightgbm.Dataset(X, y, params=settings), rounds)


def trees(model: lightgbm.Booster) -> list[dict]:
    return [tree["tree_structure"] for tree in model.dump_model()["tree_info"]]


def inner(node: dict) -> list[dict]:
    """The nodes that are split, in the order in which they were."""
    below = [node, *inner(node["left_child"]), *inner(node["right_child"])] if "split_index" in node else []
    return sorted(below, key=lambda node: node["split_index"])


def splits(node: dict, columns: list[str]) -> list[list]:
    return [[columns[one["split_feature"]], one["threshold"], one["split_gain"]] for one in inner(node)]


def light_growth() -> dict[str, list]:
    """The splits of one tree in their order: column, cut, gain (twice the book's)."""
    found = {}
    for (name, (X, y)), leaves in zip(tables().items(), (4, 8, 12)):
        found[name] = splits(trees(light(X, y, num_leaves=leaves))[0], [*X])
    X, y = tables()["eight"]
    return found | {"eight, depth 2": splits(trees(light(X, y, num_leaves=4, max_depth=2))[0], [*X])}


def light_goss() -> dict[str, list]:
    """Of the second tree, whose rows are sampled: the first cut, the sum of gradients and the weight on its left."""
    X, y = tables()["eight"]
    goss = dict(data_sample_strategy="goss", top_rate=3 / 8, other_rate=2 / 8, num_leaves=2)
    sampled = []
    for seed in range(60):
        root = trees(light(X, y, 2, seed=seed, **goss))[1]
        left = root["left_child"]
        weight, value = left["leaf_weight"], left["leaf_value"]
        sampled.append([root["threshold"], round(-value * weight, 6), round(weight, 6), root["internal_count"]])
    slow = trees(light(X, y, 8, **goss | {"learning_rate": 0.25}))
    return {"second tree": sampled, "rows of each round at rate 0.25": [root["internal_count"] for root in slow]}


def light_bundles() -> dict[str, object]:
    """The number of groups of columns, and a tree on the wards, with bundles and without."""
    found: dict[str, object] = {}
    words = pd.get_dummies(load_watermelon().drop(columns="ripe"))
    for name, table in (("wards", pd.get_dummies(pd.Series([*WARDS]))), ("melons", words)):
        table = table.astype(float).rename(columns=lambda column: column.replace(" ", "_"))
        y = np.array((DAYS * 3)[: len(table)], float)
        for is_bundled in (True, False):
            data = lightgbm.Dataset(table, y, params=LIGHT | {"enable_bundle": is_bundled}).construct()
            with tempfile.NamedTemporaryFile("r") as file:
                data._dump_text(file.name)
                groups = int(file.read().split("num_groups: ")[1].split()[0])
            tree = trees(light(table, y, num_leaves=3, enable_bundle=is_bundled))[0]
            kind = "bundled" if is_bundled else "apart"
            found[f"{name}, {kind}"] = {"groups": groups, "splits": splits(tree, [*table])}
    return found


def light_many(X, y: np.ndarray, way: dict, rounds: int) -> lightgbm.Booster:
    """LightGBM's usual trees on a large table, with one thread."""
    settings = dict(objective="regression", num_leaves=31, num_threads=1, verbosity=-1) | way
    return lightgbm.train(settings, lightgbm.Dataset(X, y, params=settings), rounds)


def light_seconds() -> dict[str, list[float]]:
    """CPU seconds of LightGBM's rounds on 300,000 made-up rows, without one of its two ideas and with it.

    Bundles on 2,000 categories as columns of zeros and ones, 20 rounds; GOSS on measurements, 60 rounds. Each is
    fitted three times, in turns; the least counts, because other work on the machine can only add to it.
    """
    rng, n = np.random.default_rng(0), 300_000
    category = rng.integers(0, 2000, n)
    by_category = csr_matrix((np.ones(n), (np.arange(n), category)))
    cases = [("bundles", by_category, rng.normal(size=2000)[category], 20, {"enable_bundle": False}, {})]
    for d in (50, 200):
        X = rng.normal(size=(n, d)).astype(np.float32)
        cases.append((f"goss, {d} columns", X, X[:, 0] * X[:, 1], 60, {}, {"data_sample_strategy": "goss"}))
    found = {}
    for name, X, y, rounds, *ways in cases:
        seconds = []
        for way in ways * 3:
            settings = dict(objective="regression", num_leaves=31, num_threads=1, verbosity=-1) | way
            data = lightgbm.Dataset(X, y, params=settings).construct()
            begin = time.process_time()
            lightgbm.train(settings, data, rounds)
            seconds.append(round(time.process_time() - begin, 2))
        found[name] = [min(seconds[::2]), min(seconds[1::2])]
    return found


def light_goss_errors() -> dict[str, list[float]]:
    """Mean squared errors on 100,000 new rows after the sixty rounds on measurements, with all rows and by GOSS."""
    found = {}
    for d in (50, 200):
        X = np.random.default_rng(0).normal(size=(400_000, d)).astype(np.float32)
        y, n = X[:, 0] * X[:, 1], 300_000
        found[f"{d} columns"] = [
            float(((light_many(X[:n], y[:n], way, 60).predict(X[n:]) - y[n:]) ** 2).mean())
            for way in ({}, {"data_sample_strategy": "goss"})
        ]
    return found


def light_dart() -> list[dict]:
    """Which trees each round dropped, and at the end each tree's factor, cut and two values, labels less their mean."""
    X, y = tables()["eight"]
    runs = []
    for rate, seed in ((1.0, 0), (0.5, 0), (0.5, 1), (0.5, 2)):
        settings = LIGHT | dict(
            boosting="dart", drop_rate=rate, skip_drop=0, max_drop=-1, uniform_drop=True, num_leaves=2, drop_seed=seed
        )
        model = lightgbm.Booster(settings, lightgbm.Dataset(X, y - y.mean(), params=settings))
        dropped, before = [], []
        for _ in range(6):
            model.update()
            now = [tree["shrinkage"] for tree in model.dump_model()["tree_info"]]
            dropped.append([m for m, factor in enumerate(before) if factor != now[m]])
            before = now
        ends = [[r["threshold"], r["left_child"]["leaf_value"], r["right_child"]["leaf_value"]] for r in trees(model)]
        runs.append({"dropped": dropped, "trees": [[factor, *end] for factor, end in zip(before, ends)]})
    return runs


def nested(node: dict, columns: list[str]) -> dict | None:
    if "split_index" not in node:
        return None
    below = [nested(node[side], columns) for side in ("left_child", "right_child")]
    return dict(zip(("column", "cut", "gain"), splits(node, columns)[0])) | {"below": below}


def light_constraints() -> dict[str, object]:
    X, y = tables()["patients"]
    columns = [[X.columns.get_loc(name) for name in group] for group in GROUPS]
    found = {"groups": GROUPS}
    for name, constraints in (("constrained", columns), ("one group", columns[:1]), ("free", [])):
        found[name] = nested(trees(light(X, y, num_leaves=24, interaction_constraints=constraints))[0], [*X])
    return found


def light_categories() -> list[dict]:
    """The first split of sixty patients by twelve wards of five, drawn: the wards on one side, and the gain.

    LightGBM leaves out the rarest categories, which together have less than a hundredth of the rows.
    """
    _, y = tables()["patients"]
    found = []
    for seed in range(3):
        ward = np.random.default_rng(seed).permutation(len(y)) % 12
        X = pd.DataFrame({"ward": pd.Categorical(ward)})
        root = trees(light(X, y, num_leaves=2))[0]
        side = [int(ward) for ward in root["threshold"].split("||")]
        found.append({"ward": ward.tolist(), "side": side, "gain": root["split_gain"]})
    return found


def exported(model: catboost.CatBoost) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        model.save_model(f"{folder}/model.json", format="json")
        return json.loads(Path(folder, "model.json").read_text())


def cat_codes() -> list[dict]:
    """Between which borders, in parts of 255, the code of each training row lies; sums and counts for new rows.

    CatBoost stores no codes. So row n weighs 2 to the power of n, and the weight of a leaf shows which rows are in it.
    Eight hundred stumps, chosen nearly at random, divide the rows at every border.
    """
    melons, rng = load_watermelon("3.0"), np.random.default_rng(0)
    cases = [
        ([*WARDS], [int(days > 7) for days in DAYS], 0.5),
        ([*WARDS], [int(days > 7) for days in DAYS], 0.25),
        ([*WARDS], [0, 1, 0, 1, 2, 2, 3, 3], 0.5),
        (melons["texture"].tolist(), (melons["ripe"] == "yes").astype(int).tolist(), 0.5),
        (rng.integers(0, 9, 40).astype(str).tolist(), rng.integers(0, 2, 40).tolist(), 0.75),
    ]
    found = []
    for A, y, prior in cases:
        kind = f"BinarizedTargetMeanValue:CtrBorderCount=255:TargetBorderCount={max(y)}:TargetBorderType=Uniform"
        settings = dict(iterations=800, depth=1, learning_rate=0.1, random_strength=1000, one_hot_max_size=1)
        model = catboost.CatBoostRegressor(**CAT | settings, simple_ctr=[f"{kind}:Prior={prior}/1"])
        model.fit(catboost.Pool(pd.DataFrame({"A": A}), y, cat_features=["A"], weight=2.0 ** np.arange(len(y))))
        stored = exported(model)
        above = {
            tree["splits"][0]["border"]: int(tree["leaf_weights"][1])
            for tree in stored["oblivious_trees"]
            if tree["splits"]
        }
        low = [max([b for b in above if above[b] >> n & 1], default=None) for n in range(len(y))]
        high = [min([b for b in above if not above[b] >> n & 1], default=None) for n in range(len(y))]
        counts = np.reshape(next(iter(stored["ctr_data"].values()))["hash_map"], (-1, 3))
        new = sorted(counts[counts[:, 0] != EMPTY, 1:].astype(float).round(4).tolist())
        found.append({"A": A, "y": y, "prior": prior, "low": low, "high": high, "new": new})
    return found


def cat_priors() -> list[float]:
    """The labels of the rows that CatBoost adds if nothing is said: one for each code that it makes of the labels."""
    y = load_diabetes().target
    wards = pd.DataFrame({"ward": (np.arange(len(y)) % 9).astype(str)})
    model = catboost.CatBoostRegressor(iterations=1, **QUIET)
    codes = exported(model.fit(wards, y, cat_features=["ward"]))["features_info"]["ctrs"]
    return [code["prior_numerator"] / code["prior_denomerator"] for code in codes if code["ctr_type"] == "Borders"]


def cat_ordered() -> list[dict]:
    """Stumps of plain and of ordered boosting: column, cut and the two values, times the rate."""
    found = []
    for name, (X, y) in tables().items():
        for kind, rate in (("Plain", 1), ("Ordered", 1), ("Plain", 0.3), ("Ordered", 0.3)):
            rounds = 4 if name == "eight" and rate == 1 else 6  # then nothing is left, and rounding chooses
            settings = dict(boosting_type=kind, fold_len_multiplier=1.00001, iterations=rounds, learning_rate=rate)
            stumps = exported(catboost.CatBoostRegressor(**CAT | settings, depth=1).fit(X, y))["oblivious_trees"]
            rows = []
            for stump in stumps:
                split = stump["splits"][0]
                rows.append([X.columns[split["float_feature_index"]], split["border"], *stump["leaf_values"]])
            found.append({"table": name, "is_ordered": kind == "Ordered", "rate": rate, "stumps": rows})
    return found


def cat_growth() -> dict[str, list[float]]:
    """What one tree of four leaves predicts for the eight patients."""
    X, y = tables()["eight"]
    settings = {"leaf by leaf": dict(grow_policy="Lossguide", max_leaves=4)}
    settings["level by level"] = dict(grow_policy="Depthwise", depth=2)
    found = {}
    for name, how in settings.items():
        model = catboost.CatBoostRegressor(**CAT | how, iterations=1, learning_rate=1).fit(X, y)
        found[name] = model.predict(X).round(6).tolist()
    return found


def cat_symmetric() -> dict[str, list]:
    """The questions of one tree with one question a level, column and cut, and what it predicts for the eight patients.

    A ward is a column of zeros and ones, so that all questions have two answers.
    """
    X, y = tables()["eight"]
    X = X[["x"]].join(pd.get_dummies(list(WARDS)).astype(int))
    model = catboost.CatBoostRegressor(**CAT, iterations=1, learning_rate=1, depth=3).fit(X, y)
    asked = exported(model)["oblivious_trees"][0]["splits"]
    return {
        "questions": [[X.columns[split["float_feature_index"]], split["border"]] for split in asked],
        "predictions": model.predict(X).round(6).tolist(),
    }


def cat_diabetes(fixed: dict[str, object]) -> dict[str, list[float]]:
    """Mean squared error of twenty rounds on the test rows of the chapter's six splits, with CatBoost's own trees."""
    X, y = load_diabetes(return_X_y=True)
    found = {}
    for depth in (2, 6):
        for kind in ("Plain", "Ordered"):
            settings = dict(boosting_type=kind, depth=depth, iterations=20, learning_rate=0.2, has_time=False)
            errors = []
            for seed in range(6):
                train, test = train_test_split(np.arange(442), test_size=0.3, random_state=seed)
                model = catboost.CatBoostRegressor(**fixed | settings).fit(X[train], y[train])
                errors.append(round(float(np.mean((model.predict(X[test]) - y[test]) ** 2)), 1))
            found[f"{kind} {depth}"] = errors
    return found


def cat_defaults() -> list[list]:
    """Of a small table and of a large one: its rows, CatBoost's own kind of boosting on a CPU, and of growth."""
    found = []
    for n in (442, 60_000):
        X = np.arange(n, dtype=float)[:, None]
        model = catboost.CatBoostRegressor(iterations=1, **QUIET)
        chosen = model.fit(X, X[:, 0]).get_all_params()
        found.append([n, chosen["boosting_type"], chosen["grow_policy"]])
    return found


#: CatBoost with some of what it does by default changed: each line is a way to leave something out.
BY_NODE: dict[str, Any] = dict(grow_policy="Depthwise")
NO_CHANCE: dict[str, Any] = dict(random_strength=0, bootstrap_type="No")
WITHOUT = {
    "100 trees at 0.3": dict(iterations=100, learning_rate=0.3),
    "no chance": NO_CHANCE,
    "no chance, by node": NO_CHANCE | BY_NODE,
}


def shares_left(name: str, ways: dict[str, dict]) -> dict[str, list[float]]:
    """What CatBoost, set in each of some ways, leaves of a constant's loss on each split of a table."""
    found: dict[str, list[float]] = {}
    for split in range(N_SPLITS):
        a, b, y_a, y_b = parts = divided(name, split)
        whole = loss_of_constant(*parts)
        for way, settings in ways.items():
            model = catboosted(y_a, **settings).fit(a, y_a)
            found.setdefault(way, []).append(round(loss(model, b, y_b) / whole, 5))
    return found


def rounded(value):
    """Numbers to ten significant digits, as many as both programs print."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def main() -> None:
    stored = {
        "tables": {name: X.to_dict("list") | {"y": y.tolist()} for name, (X, y) in tables().items()},
        "growth": light_growth(),
        "goss": light_goss(),
        "bundles": light_bundles(),
        "seconds": light_seconds(),
        "goss errors": light_goss_errors(),
        "dart": light_dart(),
        "constraints": light_constraints(),
        "categories": light_categories(),
        "codes": cat_codes(),
        "priors": cat_priors(),
        "ordered": cat_ordered(),
        "growth by CatBoost": cat_growth(),
        "symmetric": cat_symmetric(),
        "diabetes": cat_diabetes(CAT),
        "diabetes by default": cat_diabetes(QUIET | dict(random_seed=0)),
        "defaults": cat_defaults(),
        "without": {name: shares_left(name, WITHOUT) for name in ("cars", "friedman")},
        "by node": {name: shares_left(name, {"by node": BY_NODE})["by node"] for name in TABLES},
    }
    lines = [f"{json.dumps(name)}: {json.dumps(rounded(value))}" for name, value in stored.items()]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
