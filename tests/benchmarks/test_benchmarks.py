"""The benchmarks: the saved table is whole and fits its definition; a comparison compares, and refuses what differs.

Nothing is timed here. LightGBM takes part where it is installed, which only `make bench` does.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import treekit
from benchmarks import agree, cases, data, measure, table, tricks
from benchmarks.cases import CASES, LIGHTGBM, MEMORY, SLOPE, Target, lightgbm
from figures.scale import plot_times
from treekit import CARTClassifier, plain

# -- the saved table ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved() -> pd.DataFrame:
    return table.read()


def test_the_saved_table_has_every_row_once_and_in_order(saved):
    assert list(saved.columns) == table.COLUMNS
    assert table.keys(saved) == table.expected()


def test_the_saved_table_has_the_targets_of_the_definition(saved):
    times = [target for case in CASES for target in case.peers.values()]
    n_slopes = sum(map(len, cases.SLOPES.values()))
    targets = times + n_slopes * [SLOPE] + [m.target for m in MEMORY for _ in m.peers or ("",)]
    expected = [target or (np.nan, np.nan) for target in targets]
    np.testing.assert_allclose(saved[["wanted", "moonshot"]], expected, rtol=1e-5)


def test_contributing_names_the_targets_that_are_missed(saved):
    page = (Path(__file__).parents[2] / "book" / "contributing.md").read_text(encoding="utf-8")
    (paragraph,) = re.findall(r"^The saved table misses .*$", page, re.MULTILINE)
    assert set(re.findall(r"`([^`]+)`", paragraph)) == set(saved["what"][saved["seen"] > saved["wanted"]])


def test_the_saved_figures_fit_each_other(saved):
    times, others = saved[saved["measure"] == "CPU seconds"], saved[saved["measure"] != "CPU seconds"]
    np.testing.assert_allclose(times["seen"], times["treekit"] / times["other"], rtol=1e-4)
    assert ((times["lowest"] <= times["seen"] * 1.0001) & (times["seen"] <= times["highest"] * 1.0001)).all()
    np.testing.assert_array_equal(others["seen"], others["treekit"])
    assert (saved["seen"] > 0).all() and times["agreement"].str.len().gt(0).all()
    longest = times.groupby(["what", "n_rows"])[["treekit", "other"]].transform("max").max(axis=1)
    assert ((times["rounds"] >= 5) | (times["rounds"] >= 3) & (longest > measure.LONG / 2)).all()


def test_the_saved_slopes_are_those_of_the_saved_times(saved):
    again = pd.DataFrame(table.slopes(saved))
    slopes = saved[saved["measure"] == "slope"]
    assert table.keys(again) == table.keys(slopes)
    np.testing.assert_allclose(slopes[["treekit", "other"]], again[["treekit", "other"]], rtol=1e-4)


def test_the_saved_table_says_when_and_where(saved):
    assert all(date.fromisoformat(day) for day in saved["date"])
    assert saved["machine"].str.contains("cores").all()
    for program in ("Python", "numpy", "sklearn", "xgboost", "lightgbm"):
        assert saved["versions"].str.contains(rf"{program} \d").all()


def test_new_rows_take_the_place_of_old_ones_and_leave_the_others(saved):
    changed = saved.iloc[3].to_dict() | {"seen": 123.0}
    stray = saved.iloc[4].to_dict() | {"what": "a case of the past"}
    with_stray = pd.concat([saved, pd.DataFrame([stray])])
    new = table.merged(with_stray, [changed])
    assert new["seen"][3] == 123
    pd.testing.assert_frame_equal(new.drop(index=3), saved.drop(index=3), check_dtype=False)


def test_the_printed_table_tells_misses_from_hits(saved):
    first = saved.iloc[[0, 0, 0, 1]].assign(seen=[0.9, 0.5, 0.2, 0.5], wanted=[0.8, 0.8, 0.8, np.nan], moonshot=0.3)
    marks = [line[-8:].strip() for line in table.printed(first).splitlines()[1:5]]
    assert marks[:3] == ["MISSED", "reached", "moonshot"] and marks[3] not in marks[:3]
    assert "1/400" in table.printed(saved.iloc[:1].assign(seen=1 / 400))


def test_the_figure_shows_the_saved_times_of_all_programs(saved, monkeypatch):
    monkeypatch.setattr("figures.plots.current_plot", plt.gcf)
    panels = plot_times(saved).axes
    names = [{line.get_label(): line for line in ax.lines} for ax in panels]
    assert set(names[0]) == {"treekit", cases.SKLEARN, cases.PLAIN}
    assert set(names[1]) == {"treekit", cases.SKLEARN, cases.XGBOOST, LIGHTGBM}
    curve = saved[(saved["what"] == cases.CART_8) & (saved["measure"] == "CPU seconds")]
    np.testing.assert_array_equal(names[0]["treekit"].get_xydata(), curve[["n_rows", "treekit"]])
    np.testing.assert_array_equal(names[0][cases.SKLEARN].get_xydata(), curve[["n_rows", "other"]])
    assert all(ax.get_xscale() == ax.get_yscale() == "log" for ax in panels)
    plt.close("all")


# -- the comparisons ------------------------------------------------------------------------------------------

#: A contest of each kind; the sizes of a curve have it in common.
CONTESTS = {case.what: case for case in CASES}


def small(case: cases.Case) -> int:
    """So few rows that a hundred trees take less than a second, and the plain way as well."""
    if "100 trees" in case.what:
        return 100  # each value has a bin of its own: treekit and XGBoost agree best
    return {"plain": 60, "forest": 500, "hist": 500, "predict": 500}.get(case.group, 1000)


@pytest.mark.parametrize("case", CONTESTS.values(), ids=CONTESTS)
def test_a_contest_compares_and_refuses_the_work_on_other_data(case):
    contest = case.contest(small(case), 0)
    assert set(contest.jobs) == {"treekit", *case.peers} - ({LIGHTGBM} if lightgbm is None else set())
    assert next(iter(contest.jobs)) == "treekit"
    results = {who: job() for who, job in contest.jobs.items()}
    assert contest.check(results)
    other = case.contest(small(case), 1).jobs["treekit"]()
    with pytest.raises(agree.Differ):
        contest.check(results | {"treekit": other})


def test_one_label_of_a_thousand_is_seen():
    X, y, _ = data.classes(1000, 0)
    spoilt = y.copy()
    spoilt[500] = 1 - spoilt[500]
    ours = CARTClassifier(max_depth=8)
    theirs = agree.translated(DecisionTreeClassifier(max_depth=8, random_state=0).fit(X, y).tree_, ours.fit(X, y).tree_)
    assert "same tree" in agree.same_tree(ours.tree_, theirs)
    with pytest.raises(agree.Differ, match="impurity"):
        agree.same_tree(ours.fit(X, spoilt).tree_, theirs)
    D = [plain.Row(dict(enumerate(x)), label) for x, label in zip(X[:100].tolist(), spoilt[:100].tolist())]
    spoilt_tree = plain.grow(D, dict.fromkeys(range(X.shape[1])), plain.best_cut, depth=2)
    column, threshold = spoilt_tree.branches[False].question
    spoilt_tree.branches[False] = spoilt_tree.branches[False]._replace(question=(column, threshold + 1))
    grown = CARTClassifier(criterion="entropy", max_depth=2).fit(X[:100], spoilt[:100]).tree_
    with pytest.raises(agree.Differ, match="threshold"):
        agree.same_as_plain(grown, spoilt_tree)


@pytest.mark.parametrize("name", ["n_samples", "weight", "impurity", "gain", "feature"])
def test_one_number_of_a_tree_is_seen(name):
    tree = CARTClassifier(max_depth=4).fit(*data.classes(1000, 0)).tree_
    assert agree.same_tree(tree, tree) == f"same tree: {tree.n_nodes} nodes alike, 0 ties"
    spoilt = getattr(tree, name).copy()
    spoilt[2] = {"n_samples": spoilt[2] + 1, "feature": -1}.get(name, spoilt[2] * (1 + 1e-6))
    with pytest.raises(agree.Differ):
        agree.same_tree(replace(tree, **{name: spoilt}), tree)


def test_ties_may_not_be_the_rule():
    """Another question of the same gain is a tie. A tree of ties alone compares nothing, and is refused."""
    tree = CARTClassifier(max_depth=4).fit(*data.classes(1000, 0)).tree_
    below = replace(tree, feature=np.where(np.arange(tree.n_nodes) == 3, tree.feature + 1, tree.feature))
    assert "1 ties, the largest of" in agree.same_tree(below, tree)
    with pytest.raises(agree.Differ, match="only 0 nodes"):
        agree.same_tree(replace(tree, feature=np.where(tree.is_leaf, -1, tree.feature + 1)), tree)


def test_forests_and_losses_may_not_drift():
    y = np.array([0, 1] * 50)
    shares = np.column_stack([1 - y, y]) * 0.8 + 0.1
    agree.same_loss(y, {"treekit": shares, "other": shares}, within=1e-9)
    with pytest.raises(agree.Differ, match="other"):
        agree.same_loss(y, {"treekit": shares, "other": shares * 0.9 + 0.05}, within=0.01)


def test_with_a_bin_for_every_value_treekit_and_xgboost_boost_alike():
    """So what is left between their losses comes from the edges of bins alone."""
    X, y, _ = data.classes(1000, 0)
    models = cases.boosters(10, y)
    fitted = {
        "treekit": models["treekit"].set_params(max_bins=1024).fit(X, y),
        cases.XGBOOST: models[cases.XGBOOST].set_params(max_bin=1024).fit(X, y),
    }
    assert agree.same_loss(y, cases.class_shares(fitted, X), within=1e-5)


# -- the data and the measuring -------------------------------------------------------------------------------


def test_the_tables_are_what_they_are_said_to_be():
    X, y, weight = data.weighted(1000, 0)
    assert X.shape == (1000, 20) and X.dtype == np.float32 and X.flags.c_contiguous
    assert np.bincount(y).tolist() == [500, 500] and 0.5 <= weight.min() < weight.max() <= 1.5
    assert np.bincount(cases.five_classes(1000, 0).y).tolist() == [200] * 5
    assert np.unique(data.ten_values(1000, 0).X).tolist() == list(range(10))
    frame, one_hot, _ = data.categories(1000, 0)
    assert frame.shape == (1000, 20) and (frame.nunique() == 8).all() and one_hot.shape == (1000, 160)
    np.testing.assert_array_equal(one_hot, pd.get_dummies(frame))
    np.testing.assert_array_equal(X, data.weighted(1000, 0).X)
    assert not np.array_equal(X, data.weighted(1000, 1).X)


def test_jobs_take_turns():
    order: list[str] = []
    seconds = measure.interleaved({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 3)
    assert order == ["a", "b"] * 3 and {who: len(s) for who, s in seconds.items()} == {"a": 3, "b": 3}
    (total, long), (_, short) = measure.timed(lambda: sum(range(10**6))), measure.timed(lambda: None)
    assert total == 499_999_500_000 and long > short >= 0
    assert [measure.rounds([s, s]) for s in (30, 10, 0.25, 0.001)] == [3, 5, 10, 25]


def test_a_case_warms_up_checks_and_then_times():
    calls = []
    contest = cases.Contest({who: lambda who=who: calls.append(who) or who for who in ("treekit", "peer")}, " ".join)
    case = cases.Case("group", "what", 10, lambda n, seed: contest, {"peer": Target(0.5, 0.1)})
    (row,) = table.time_case(case)
    assert row["agreement"] == "treekit peer" and (row["wanted"], row["moonshot"]) == (0.5, 0.1)
    assert calls == ["treekit", "peer"] * (1 + row["rounds"])

    def refuse(results):
        raise agree.Differ("not the same")

    calls.clear()
    with pytest.raises(agree.Differ):
        table.time_case(case._replace(contest=lambda n, seed: contest._replace(check=refuse)))
    assert calls == ["treekit", "peer"]


def test_peaks_are_seen():
    def hold() -> None:
        np.ones(50_000_000, dtype=np.uint8)

    assert 50e6 <= measure.peak_allocated(hold) < 51e6
    if sys.platform == "linux":
        assert 45e6 <= measure.peak_resident(hold) < 60e6
    X_bytes = 1000 * 20 * 4
    assert X_bytes < measure.peak_in_fresh_process("allocated", cases.CART_8, 1000, "treekit") < 100 * X_bytes


def test_one_thread_is_set_before_numpy_is_imported():
    code = "import benchmarks, os, sys; print('numpy' in sys.modules, os.environ['OMP_NUM_THREADS'])"
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=measure.ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "4"},
        capture_output=True,
        text=True,
    )
    assert run.stdout.split() == ["False", "1"], run.stderr


# -- memory ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [m for m in MEMORY if m.target], ids=lambda m: m.what)
def test_a_fit_allocates_no_more_than_is_wanted(memory):
    """Bytes are not seconds: they are the same on every machine, so they can be tested. Fewer rows do."""
    n_rows = min(memory.n_rows, 100_000)
    contest = next(case.contest for case in CASES if case.what == memory.what)
    contest(1000, 1).jobs["treekit"]()  # what is loaded and set up once is no memory of the fit
    peak = measure.peak_allocated(contest(n_rows, 0).jobs["treekit"])
    assert 1 < peak / (4 * data.N_COLUMNS * n_rows) <= memory.target.wanted


# -- the tricks of speed --------------------------------------------------------------------------------------


@pytest.mark.parametrize("trick", tricks.TRICKS, ids=lambda trick: trick.name)
def test_a_trick_changes_no_result(trick):
    """A few rows, but so many that the trick is of use: some only act on large tables."""
    jobs = trick.jobs(300)
    with_trick, plain = (job() for job in jobs.values())
    np.testing.assert_array_equal(with_trick, plain)


def test_each_gain_of_speed_that_treekit_tells_of_is_a_row_and_the_reverse():
    code = "".join(path.read_text(encoding="utf-8") for path in sorted(Path(treekit.__file__).parent.rglob("*.py")))
    named = re.findall(r"\(trick: ([^)]*)\)", re.sub(r"\s+(#:? )?", " ", code))
    assert sorted(named) == sorted(trick.name for trick in tricks.TRICKS)
