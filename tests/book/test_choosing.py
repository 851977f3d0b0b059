"""What the chapter on choosing a model tells of six tables, against what was measured there.

CatBoost and LightGBM do not run here; ``tests/data/boosters.md`` says where their numbers come from.
"""

from __future__ import annotations

import io
import itertools
import json
import re
from contextlib import redirect_stdout
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

from scripts.execute import BOOK
from treekit.datasets import load_tuning

STORED = json.loads((Path(__file__).parents[1] / "data" / "boosters.json").read_text())
SHOWN = ["linear", "forest", "defaults", "LightGBM", "CatBoost", "and reg_lambda"]  # the table's lines


CORRECTION = (1 + 20 * 3 / 7) ** 0.5  # of an error over twenty splits that test on three tenths of the rows


@pytest.fixture(scope="module")
def cells():
    """What the chapter's cells say, by their ids."""
    return {cell.id: cell.source for cell in nbformat.read(BOOK / "choosing.ipynb", as_version=4).cells}


@pytest.mark.parametrize(("K", "n"), [(1, 3), (2, 1), (2, 3), (3, 2), (4, 2)])
def test_the_best_of_a_few_coins_by_all_their_tosses(cells, K, n):
    names: dict = {}
    with redirect_stdout(io.StringIO()):
        exec(cells["choosing-expected"], names)
    tosses = itertools.product(itertools.product((0, 1), repeat=n), repeat=K)
    best = [max(map(sum, coins)) for coins in tosses]
    assert names["expected_best"](K, n) == pytest.approx(np.mean(best))


def mean_losses():
    """Each model's mean loss as a share of that of XGBoost with its defaults: a column for each table."""
    ours = load_tuning().pivot_table("left", "model", "table", sort=False)
    theirs = pd.DataFrame({name: pd.DataFrame(one).mean() for name, one in STORED["by default"].items()})
    return pd.concat([ours, theirs[ours.columns]]) / ours.loc["defaults"]


def test_with_nothing_set_catboost_leaves_least():
    """On average on each table."""
    assert list(load_tuning()["table"].unique()) == list(STORED["by default"])
    losses = mean_losses().loc[["defaults", "LightGBM", "CatBoost"]]
    assert (losses.idxmin() == "CatBoost").all()


def test_the_chapters_table_has_the_means_of_what_was_measured(cells):
    losses, told = mean_losses(), cells["choosing-who"].replace("**", "")
    for name, model in {
        "linear": "linear",
        "forest": "forest",
        "XGBoost": "defaults",
        "XGBoost, tuned": "and reg_lambda",
    }.items():
        assert f"| {' | '.join([name, *(f'{one:.2f}' for one in losses.loc[model])])} |" in told
    for program in ("LightGBM", "CatBoost"):
        quoted = (f"[{one:.2f}]{{.quoted}}" for one in losses.loc[program])
        assert f"| {' | '.join([program, *quoted])} |" in told
    least = losses.loc[SHOWN].min()
    assert re.findall(r"\*\*\[?(\d\.\d+)", cells["choosing-who"]) == [f"{one:.2f}" for one in least]


def test_catboost_loses_its_lead_without_what_holds_it_back(cells):
    """On both tables, in the same order; and the chapter has the means, as shares of XGBoost's loss."""
    lines = [line.split("|")[1:-1] for line in cells["choosing-catboost"].split("| cars | more")[1].splitlines()[2:6]]
    defaults = load_tuning().query("model == 'defaults'").groupby("table")["left"].mean()
    for k, (name, ways) in enumerate(STORED["without"].items()):
        left = np.array([STORED["by default"][name]["CatBoost"], *ways.values()]) / defaults[name]
        whole, few, no_chance, by_node = left.mean(axis=1)
        assert whole < no_chance < few < by_node
        assert by_node - no_chance > no_chance - whole  # "still more"
        told = [line[1 + 2 * k : 3 + 2 * k] for line in lines]
        assert [one.strip() for one, _ in told] == [f"[{mean:.2f}]{{.quoted}}" for mean in left.mean(axis=1)]
        more = pd.DataFrame(left[1:] - left[0]).T
        means, errors = more.mean(), more.sem() * CORRECTION
        differences = [f"[{mean:.2f} ± {error:.2f}]{{.quoted}}" for mean, error in zip(means, errors)]
        assert [one.strip() for _, one in told] == ["", *differences]
        safe = means > 2 * errors
        assert safe.all() if name == "friedman" else not safe.any()
    tuned = mean_losses().loc["and reg_lambda", "friedman"]
    rise = f"rises from [{whole:.2f}]{{.quoted}} to [{by_node:.2f}]{{.quoted}}, above tuned XGBoost's {tuned:.2f}"
    assert name == "friedman" and f"its loss on Friedman's table {rise}" in cells["choosing-catboost"]
    assert by_node > 1.3 * tuned
    other_chapter = (BOOK / "boosting_today.ipynb").read_text()
    told = f"test error is [{no_chance:.2f}]{{.quoted}} of XGBoost's, but [{by_node:.2f}]{{.quoted}} if each node asks"
    assert told in other_chapter
    assert f"| [{by_node:.2f}]{{.quoted}} | [{no_chance:.2f}]{{.quoted}} |" in other_chapter


def test_catboost_takes_ten_to_a_hundred_times_as_long_as_xgboost(cells):
    """With nothing set; within a fifth."""
    times = [by_catboost / by_xgboost for by_catboost, by_xgboost in STORED["fit seconds"].values()]
    assert 8 < min(times) < 12 and 80 < max(times) < 120
    longest = max(by_catboost for by_catboost, _ in STORED["fit seconds"].values())
    told = f"ten to a hundred times as long as XGBoost, here up to [{longest:.1f}]{{.quoted}} seconds"
    assert told in cells["choosing-practice"]


def test_one_winner_is_safely_ahead_of_the_second(cells):
    """By the correction for splits that share rows."""
    losses, ours = (
        mean_losses().loc[SHOWN],
        load_tuning().pivot(index="split", columns=["table", "model"], values="left"),
    )
    names = {"and reg_lambda": "XGBoost, tuned"}
    safety, leads = {}, {}
    for table in losses:
        of_split = pd.DataFrame(STORED["by default"][table]).join(ours[table])
        winner, second = losses[table].nsmallest(2).index
        lead = (of_split[second] - of_split[winner]) / ours[table, "defaults"].mean()
        error = lead.sem() * CORRECTION
        safety[table] = lead.mean() / error
        first, next_ = (names.get(model, model) for model in (winner, second))
        leads[table], wins = f"[{lead.mean():.2f} ± {error:.2f}]{{.quoted}}", (lead > 0).sum()
        told = f"| {table} | {first} | {next_} | {leads[table]} | [{wins}]{{.quoted}} |"
        assert told in cells["choosing-leads"]
        assert wins >= 14  # "on most splits"
    assert f"that of CatBoost on Friedman's table, {leads['friedman']}" in cells["choosing-why"]
    assert f"by {leads['cars']}, are not enough" in cells["choosing-why"]
    assert safety.pop("friedman") > 3 and max(safety.values()) < 1.6


def test_the_linear_model_is_first_on_three_tables_and_last_on_two():
    losses = mean_losses()
    first, last = ["diabetes", "wine", "tumours"], ["cars", "friedman"]
    assert (losses.loc[SHOWN, first].idxmin() == "linear").all() and (
        losses.loc[SHOWN, last].idxmax() == "linear"
    ).all()


@pytest.mark.parametrize(("table", "beaten"), [("digits", "linear"), ("cars", "linear"), ("cars", "forest")])
def test_catboost_by_default_is_ahead_of_linear_models_and_forests(table, beaten):
    """On most of the twenty splits."""
    others = load_tuning().query("table == @table and model == @beaten").sort_values("split")["left"]
    assert (np.array(STORED["by default"][table]["CatBoost"]) < others).sum() >= 14
