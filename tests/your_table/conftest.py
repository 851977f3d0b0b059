"""Public tables, for the tests of the page on which a reader brings one."""

import pytest
from sklearn import datasets

TABLES = {name: getattr(datasets, f"load_{name}") for name in ("iris", "wine", "breast_cancer", "diabetes")}


@pytest.fixture
def frames():
    """A table that others made, by name, with its classes in words."""

    def frame(name):
        loaded = TABLES[name](as_frame=True)
        table = loaded.frame
        if name != "diabetes":
            table["target"] = [str(loaded.target_names[k]) for k in table["target"]]
        return table

    return frame
