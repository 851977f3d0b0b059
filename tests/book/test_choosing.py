"""What the chapter on choosing a model tells of six tables, against what was measured there.

CatBoost and LightGBM do not run here: `make tuning` measured them, and ``tests/data/boosters.md`` says where the other
numbers of CatBoost come from; ``tests/data/chapters.md`` says it of baycomp's.
"""

from __future__ import annotations

import itertools
import re

import nbformat
import numpy as np
import pandas as pd
import pytest

from benchmarks.tuning import TABLES, VALUES
from scripts.execute import BOOK
from tests.book.cells import defined_by, recorded, sources
from treekit.datasets import load_tuning

STORED, BAYCOMP = recorded("boosters"), recorded("chapters")["corrected errors"]
SHOWN = ["linear", "forest", "defaults", "LightGBM", "CatBoost", "and reg_lambda"]  # the table's lines


CORRECTION = (1 + 20 * 3 / 7) ** 0.5  # of an error over twenty splits that test on three tenths of the rows


@pytest.fixture(scope="module")
def cells():
    return sources("choosing")


@pytest.fixture(scope="module")
def printed():
    """What the chapter's cells of code print, by their ids."""
    cells = nbformat.read(BOOK / "choosing.ipynb", as_version=4).cells
    return {
        cell.id: "".join(output.get("text", "") for output in cell.outputs)
        for cell in cells
        if cell.cell_type == "code"
    }


@pytest.mark.parametrize(("K", "n"), [(1, 3), (2, 1), (2, 3), (3, 2), (4, 2)])
def test_the_best_of_a_few_coins_by_all_their_tosses(K, n):
    names = defined_by("choosing", "choosing-expected")
    tosses = itertools.product(itertools.product((0, 1), repeat=n), repeat=K)
    best = [max(map(sum, coins)) for coins in tosses]
    assert names["expected_best"](K, n) == pytest.approx(np.mean(best))


@pytest.mark.parametrize("case", range(len(BAYCOMP)))
def test_the_corrected_error_is_that_of_baycomp(case):
    """For several shares of test rows, to twelve digits."""
    names = defined_by("choosing", "choosing-shared-run", lead=pd.Series(BAYCOMP[case]["lead"]))
    errors = {share: names["corrected"](names["lead"], float(share)) for share in BAYCOMP[case]["errors"]}
    assert errors == pytest.approx(BAYCOMP[case]["errors"], rel=1e-12)
    assert names["corrected"](names["lead"]) == errors["0.3"]


def left_by_xgboost():
    """What XGBoost with its defaults leaves of a constant's loss, on average, on each table."""
    return load_tuning().query("model == 'defaults'").groupby("table")["left"].mean()


def mean_losses():
    """Each model's mean loss as a share of that of XGBoost with its defaults: a column for each table."""
    left = load_tuning().pivot_table("left", "model", "table", sort=False)
    return left / left.loc["defaults"]


@pytest.fixture(scope="module")
def losses_of_splits():
    """As shares of the mean loss of XGBoost with its defaults: a line for each split, a column for table and model."""
    left = load_tuning().pivot(index="split", columns=["table", "model"], values="left")
    return left / left.xs("defaults", axis=1, level="model").mean()


def test_with_nothing_set_catboost_leaves_least():
    """On average on each table."""
    losses = mean_losses().loc[["defaults", "LightGBM", "CatBoost"]]
    assert (losses.idxmin() == "CatBoost").all()


def test_the_chapters_table_has_the_means_of_what_was_measured(cells):
    losses, told = mean_losses(), cells["choosing-who"].replace("**", "")
    for model in SHOWN:
        name = {"defaults": "XGBoost", "and reg_lambda": "XGBoost, tuned"}.get(model, model)
        assert f"| {' | '.join([name, *(f'{one:.2f}' for one in losses.loc[model])])} |" in told
    least = losses.loc[SHOWN].min()
    assert re.findall(r"\*\*(\d\.\d+)", cells["choosing-who"]) == [f"{one:.2f}" for one in least]


def test_the_chapters_table_tells_how_many_rows_each_table_has(cells):
    told = re.findall(r"\[([\d,]+)\]", cells["choosing-who"].split("| *rows* |")[1].splitlines()[0])
    assert [int(one.replace(",", "")) for one in told] == [len(TABLES[name]()[1]) for name in mean_losses()]


def gain_on_average(losses_of_splits, over, model):
    """By how much a model's loss is below that of another on each split, averaged over the tables, and its error."""
    a, b = (losses_of_splits.xs(m, axis=1, level="model") for m in (over, model))
    gain = (a - b).mean(axis=1)
    return gain.mean(), gain.sem() * CORRECTION


def test_the_gains_of_parameters_are_what_was_measured_and_bold_where_safe(cells, losses_of_splits):
    """Alone those of two are safe, and in its turn that of the depth."""

    def told(over, model):
        gain, error = gain_on_average(losses_of_splits, over, model)
        return f"**{gain:.3f} ± {error:.3f}**" if gain > 2 * error else f"{gain:.3f} ± {error:.3f}"

    lines = [line for line in cells["choosing-turns"].splitlines() if "±" in line and line[0] == "|"]
    columns = [[part.strip() for part in line.split("|")[3:5]] for line in lines]
    befores = ["rounds", *(f"and {name}" for name in VALUES)]
    gains = [[told("rounds", f"only {name}"), told(over, f"and {name}")] for over, name in zip(befores, VALUES)]
    assert columns == [["", told("defaults", "rounds")], *gains]
    assert [sum("**" in one for one in column) for column in zip(*columns)] == [2, 1]


def test_catboost_loses_its_lead_without_what_holds_it_back(cells, losses_of_splits):
    """On Friedman's table each thing taken away makes it worse by a safe amount, on the cars none does."""
    lines = [line.split("|")[1:-1] for line in cells["choosing-catboost"].split("| cars | more")[1].splitlines()[2:7]]
    defaults = left_by_xgboost()
    for k, (name, ways) in enumerate(STORED["without"].items()):
        left = pd.DataFrame({"by node": STORED["by node"][name], **ways}) / defaults[name]
        whole = losses_of_splits[name, "CatBoost"]
        more = left.sub(whole, axis=0)
        means, errors = more.mean(), more.sem() * CORRECTION
        told = [[one.strip() for one in line[1 + 2 * k : 3 + 2 * k]] for line in lines]
        rises = [f"[{mean:.2f} ± {error:.2f}]{{.quoted}}" for mean, error in zip(means, errors)]
        shares = [f"[{share:.2f}]{{.quoted}}" for share in (whole.mean(), *left.mean())]
        assert told == [list(line) for line in zip(shares, ["", *rises])]
        assert means.idxmax() == "no chance, by node"
        safe = means > 2 * errors
        assert safe.all() if name == "friedman" else not safe.any()
    tuned = mean_losses().loc["and reg_lambda", "friedman"]
    by_node = left["by node"].mean()
    assert name == "friedman" and by_node >= tuned
    rises = f"from [{whole.mean():.2f}]{{.quoted}} to [{by_node:.2f}]{{.quoted}}"
    assert f"{rises}, which is no longer below tuned XGBoost's {tuned:.2f}" in cells["choosing-catboost"]


def test_symmetric_trees_are_safely_ahead_on_one_table(losses_of_splits):
    """And the chapter *Boosting today* says on which, and by how much."""
    defaults, safe = left_by_xgboost(), []
    for name, left in STORED["by node"].items():
        symmetric, by_node = losses_of_splits[name, "CatBoost"], pd.Series(left) / defaults[name]
        lead = by_node - symmetric
        safe += [name] if abs(lead.mean()) > 2 * lead.sem() * CORRECTION else []
        if name == "friedman":
            a, b = (f"[{one.mean():.2f}]{{.quoted}}" for one in (symmetric, by_node))
            told_lead = f"[{lead.mean():.2f} ± {lead.sem() * CORRECTION:.2f}]{{.quoted}}"
    assert safe == ["friedman"] and list(STORED["by node"]) == list(mean_losses())
    told = (BOOK / "boosting_today.ipynb").read_text()
    assert f"have {a} of XGBoost's mean squared error, its ordinary ones {b}; the difference is {told_lead}." in told
    assert f"| {b} | {a} |" in told


def test_catboosts_times_are_those_that_the_chapter_tells(cells):
    """As multiples of one fit of XGBoost, with nothing set; within a fifth."""
    seconds = load_tuning().pivot_table("seconds", "model", "table")
    times = seconds.loc["CatBoost"] / seconds.loc["defaults"]
    least, most = map(
        int, re.search(r"takes <choosing-times>` (\d+) to (\d+) times", cells["choosing-practice"]).groups()
    )
    assert times.min() == pytest.approx(least, rel=0.2) and times.max() == pytest.approx(most, rel=0.2)
    assert f"here up to {seconds.loc['CatBoost'].max():.1f} seconds" in cells["choosing-practice"]


def test_one_winner_is_safely_ahead_of_the_second(losses_of_splits):
    """By the correction for splits that share rows; by the usual standard error all are."""
    means, safety = mean_losses().loc[SHOWN], {}
    for table in means:
        winner, second = means[table].nsmallest(2).index
        lead = losses_of_splits[table, second] - losses_of_splits[table, winner]
        safety[table] = lead.mean() / (lead.sem() * CORRECTION)
        assert lead.mean() > 2 * lead.sem() and (lead > 0).sum() >= 14  # "on most splits"
        assert table != "cars" or (lead > 0).sum() == 19
    assert safety.pop("friedman") > 3 and max(safety.values()) < 1.6


def test_the_folds_choose_well_between_the_linear_model_and_catboost(cells, printed, losses_of_splits):
    """Each other model is further above the lowest somewhere."""
    losses = mean_losses()
    above = losses.sub(losses.loc[SHOWN].min()).max(axis=1)
    lines = printed["choosing-tuning"].splitlines()
    choice = next(line.split()[-6:] for line in lines if line.startswith("linear or CatBoost, by the folds "))
    assert choice == [f"{one:.2f}" for one in losses.loc["linear or CatBoost"]]
    most = {f"{above[model]:.2f}" for model in ("linear or CatBoost", "CatBoost", "and reg_lambda")}
    assert most == set(re.findall(r"(?:more than|up to) (\d\.\d+)", cells["choosing-why"]))
    assert above["linear or CatBoost"] < above[SHOWN].min()
    lead, error = gain_on_average(losses_of_splits, "and reg_lambda", "linear or CatBoost")
    assert f"linear or CatBoost, ahead of all tuned: {lead:.3f} ± {error:.3f}" in lines
    assert lead > 2 * error


def test_the_linear_model_is_first_on_three_tables_and_last_on_two():
    losses = mean_losses()
    first, last = ["diabetes", "wine", "tumours"], ["cars", "friedman"]
    assert (losses.loc[SHOWN, first].idxmin() == "linear").all() and (
        losses.loc[SHOWN, last].idxmax() == "linear"
    ).all()


@pytest.mark.parametrize(("table", "beaten"), [("digits", "linear"), ("cars", "linear"), ("cars", "forest")])
def test_catboost_by_default_is_ahead_of_linear_models_and_forests(losses_of_splits, table, beaten):
    """On most of the twenty splits."""
    assert (losses_of_splits[table, "CatBoost"] < losses_of_splits[table, beaten]).sum() >= 14
