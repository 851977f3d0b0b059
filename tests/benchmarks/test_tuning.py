"""The nested comparison: the stored table is whole, and one of its splits comes out the same again."""

import numpy as np
import pytest

from benchmarks import tuning
from treekit.datasets import load_tuning

OTHERS = ["LightGBM", "CatBoost", "linear or CatBoost"]


@pytest.fixture(scope="module")
def stored():
    return load_tuning()


def test_every_split_has_every_model_once(stored):
    steps = [f"{word} {name}" for word in ("only", "and") for name in tuning.VALUES]
    models = ["linear", "forest", "defaults", *OTHERS, "rounds", *steps]
    found = stored.groupby(["table", "split"], sort=False)["model"].agg(list)
    assert list(found.index) == [(name, split) for name in tuning.TABLES for split in range(tuning.N_SPLITS)]
    assert all(names == models for names in found)


@pytest.mark.parametrize("table", ["diabetes", "cars"])
def test_a_split_comes_out_the_same_again(stored, table):
    """All models but those of the two programs that only `make tuning` installs."""
    rows = list(tuning.measured(table, 0))
    others = [] if tuning.catboost else OTHERS
    of_split = stored[(stored["table"] == table) & (stored["split"] == 0) & ~stored["model"].isin(others)]
    assert [row["model"] for row in rows] == of_split["model"].tolist()
    np.testing.assert_allclose([row["left"] for row in rows], of_split["left"], rtol=1e-3)


def test_test_rows_take_no_part_in_a_choice(monkeypatch):
    seen = []
    monkeypatch.setattr(tuning, "models", lambda X, y: seen.append(X) or iter(()))
    list(tuning.measured("wine", 3))
    (train,) = seen
    assert len(train) == 124 and len(tuning.TABLES["wine"]()[0]) == 178
