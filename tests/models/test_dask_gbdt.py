"""Boosting on Dask: the model of one machine, digit for digit, whatever the blocks and whoever dies."""

import os
import signal
import subprocess
import sys
import time

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone

from treekit.growing.fixed_point import largest_magnitude, unit_for, weighted_mean
from treekit.models.gbdt import GBDTClassifier, GBDTRegressor
from treekit.reading.encoding import learn_features
from treekit.trees.tree import Tree

pytestmark = pytest.mark.slow

HIST = dict(method="newton", n_estimators=2, max_depth=3, learning_rate=0.3, max_bins=32)


def two_workers(**where):
    """A client of two workers, which a fit does not find by itself."""
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", **where)
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def two_threads():
    """Workers in this process, which start at once; they share their arrays, so a task must not change any."""
    yield from two_workers(processes=False)


@pytest.fixture(scope="module")
def two_processes():
    """Workers that can die, and to which everything must be sent."""
    yield from two_workers(processes=True, host="127.0.0.1")


@pytest.fixture
def client(two_threads):
    """The client that a fit finds, for the length of one test."""
    with two_threads.as_current():
        yield two_threads


@pytest.fixture
def client_of_processes(two_processes):
    with two_processes.as_current():
        yield two_processes


def table(n_rows=400, n_columns=4):
    """Numbers with holes; targets that depend on them; weights, some of them zero."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) / 4
    X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.random(n_rows) * (rng.random(n_rows) < 0.9)
    return X, y, weight


def assert_same_model(one, other):
    """Every number of the two models is the same, to the last bit."""
    np.testing.assert_array_equal(one.start_, other.start_)
    np.testing.assert_array_equal(one.train_score_, other.train_score_)
    assert len(one.trees_) == len(other.trees_)
    for trees, others in zip(one.trees_, other.trees_):
        for tree, same in zip(trees, others, strict=True):
            for name in Tree.__dataclass_fields__:
                if name not in ("features", "classes", "surrogates", "direction"):
                    np.testing.assert_array_equal(getattr(tree, name), getattr(same, name), err_msg=name)


def test_without_a_client_it_says_so(two_threads):
    """Even if one runs, but not for the fit."""
    X = da.ones((4, 2))
    with pytest.raises(ValueError, match="X is a Dask collection: start a dask.distributed.Client first."):
        GBDTRegressor(**HIST).fit(X, X[:, 0])


@pytest.mark.parametrize(
    "kind, chunks",
    [
        ("numbers", (400,)),
        ("numbers", 7 * (50,) + (49, 1)),  # more than one task combines
        ("two classes", (100, 100, 100, 100)),
        ("three classes", (1, 250, 149)),
    ],
)
def test_arrays_in_any_blocks_give_the_model_of_one_machine(client, kind, chunks):
    X, y, weight = table()
    if kind != "numbers":
        y = np.digitize(y, [0] if kind == "two classes" else [-0.5, 0.5])
    model = (GBDTRegressor if kind == "numbers" else GBDTClassifier)(**HIST)
    # Columns may lie in several chunks too, and y in others than X.
    blocks = da.from_array(X, chunks=(chunks, 3)), da.from_array(y, chunks=200), da.from_array(weight, chunks=(chunks,))
    one, many = clone(model).fit(X, y, weight), clone(model).fit(*blocks)
    assert sum(tree.n_leaves > 2 for trees in one.trees_ for tree in trees) >= 2
    assert_same_model(one, many)
    np.testing.assert_array_equal(one.predict(X), many.predict(X))
    assert many.n_features_in_ == 4 and not hasattr(many, "feature_names_in_")


@pytest.mark.parametrize("n_partitions", [1, 3])
def test_data_frames_with_categories_give_the_model_of_one_machine(client_of_processes, n_partitions):
    X, y, weight = table()
    frame = pd.DataFrame(X, columns=list("abcd"))
    letters = np.where(y > 0, "u", "v")
    letters[[3, 50]], letters[350:] = "w", "x"  # some blocks lack some categories
    frame["text"] = letters
    frame["kind"] = pd.Categorical(np.where(np.isnan(X[:, 0]), None, letters), categories=["x", "w", "v", "u"])
    label = pd.Series(np.where(y > 0.3, "yes", "no"))
    model = GBDTClassifier(**HIST, max_features=0.6, random_state=0)
    parts = [dd.from_pandas(part, npartitions=n_partitions) for part in (frame, label, pd.Series(weight))]
    if n_partitions > 1:
        # A filter leaves partitions of unequal sizes, one of them empty.
        keep = np.arange(400) < 250
        parts = [part.map_partitions(lambda rows: rows[rows.index < 250]) for part in parts]
        frame, label, weight = frame[keep], label[keep], weight[keep]
    one, many = clone(model).fit(frame, label, weight), clone(model).fit(*parts)
    assert {4, 5} & {j for trees in one.trees_ for j in trees[0].feature}
    assert_same_model(one, many)
    np.testing.assert_array_equal(many.classes_, ["no", "yes"])
    np.testing.assert_array_equal(one.predict_proba(frame), many.predict_proba(frame))
    assert many.feature_names_in_.tolist() == [*"abcd", "text", "kind"]


def test_counts_and_a_given_start(client):
    X, y, _ = table()
    counts = np.floor(np.exp(y))
    blocks = da.from_array(X, chunks=(150, -1)), da.from_array(counts, chunks=150)
    model = GBDTRegressor(loss="poisson", base_score=2.0, **HIST)
    assert_same_model(clone(model).fit(X, counts), clone(model).fit(*blocks))
    model.set_params(base_score=None)
    assert_same_model(clone(model).fit(X, counts), clone(model).fit(*blocks))


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_a_least_number_of_rows_in_a_leaf(client, loss):
    X, y, weight = table()
    counts = np.floor(np.exp(y))
    blocks = [da.from_array(part, chunks=(150, -1)[: part.ndim]) for part in (X, counts, weight)]
    model = GBDTRegressor(loss=loss, min_samples_leaf=30, **HIST | dict(min_child_weight=0))
    one, many = clone(model).fit(X, counts, weight), clone(model).fit(*blocks)
    assert_same_model(one, many)
    for (tree,) in many.trees_:
        assert tree.n_leaves > 2 and tree.n_samples[tree.is_leaf].min() >= 30


def test_blocks_in_which_no_row_counts(client):
    """A huge target of weight zero, alone in its block with others like it, is not there."""
    X, y, weight = table()
    weight[100:200], y[100:200] = 0, 1e18
    blocks = [da.from_array(part, chunks=(100, -1)[: part.ndim]) for part in (X, y, weight)]
    kept = weight > 0
    one, many = GBDTRegressor(**HIST).fit(X[kept], y[kept], weight[kept]), GBDTRegressor(**HIST).fit(*blocks)
    assert_same_model(one, many)


class Impatient(GBDTRegressor):
    """Interrupted after its second round."""

    def _report_progress(self, train_score, validation_score):
        if len(train_score) == 2:
            raise KeyboardInterrupt


def test_an_interrupted_fit_leaves_the_old_model(client):
    X, y, _ = table()
    blocks = [da.from_array(part, chunks=(100, -1)[: part.ndim]) for part in (X, y)]
    model = Impatient(**HIST).set_params(n_estimators=1).fit(X[:, :2], y)
    before = dict(vars(model.set_params(n_estimators=5)))
    with pytest.raises(KeyboardInterrupt):
        model.fit(*blocks)
    assert vars(model) == before
    with pytest.raises(ValueError, match=r"In round \d+ the loss or its gradients"):
        GBDTRegressor(**HIST).set_params(base_score=1e200).fit(*blocks)


class Deadly(GBDTRegressor):
    """After its second round the worker that holds the most dies."""

    def _report_progress(self, train_score, validation_score):
        if len(train_score) == 2:
            client = Client.current()
            held = client.has_what()
            address = max(held, key=lambda worker: len(held[worker]))
            self.died = client.run(os.getpid, workers=[address])[address]
            os.kill(self.died, signal.SIGKILL)


def test_a_worker_that_dies_in_mid_fit_changes_nothing(client_of_processes):
    X, y, weight = table()
    parameters = HIST | dict(n_estimators=5)
    blocks = [da.from_array(part, chunks=(100, -1)[: part.ndim]) for part in (X, y, weight)]
    client = client_of_processes
    before = set(client.run(os.getpid).values())
    survivor = Deadly(**parameters).fit(*blocks)
    assert_same_model(GBDTRegressor(**parameters).fit(X, y, weight), survivor)
    assert survivor.died in before
    until = time.monotonic() + 30
    while len(now := set(client.run(os.getpid).values())) < 2 and time.monotonic() < until:
        time.sleep(0.1)
    assert survivor.died not in now and len(now & before) == 1  # its nanny has started another


# -- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters, named",
    [
        (dict(method="gradient"), "method must be 'newton'"),
        (dict(subsample=0.5), "subsample must be 1"),
        (dict(n_iter_no_change=3), "n_iter_no_change must be None"),
    ],
)
def test_what_needs_all_rows_in_one_place_is_refused(parameters, named):
    X, y, _ = (da.from_array(part, chunks=(200, -1)[: part.ndim]) for part in table())
    with pytest.raises(ValueError, match=named):
        GBDTRegressor(**(HIST | parameters)).fit(X, y)


def test_bad_blocks_are_named(client):
    X, y, weight = (da.from_array(part, chunks=(200, -1)[: part.ndim]) for part in table())
    model, unknown = GBDTRegressor(**HIST), X[X[:, 0] > 0]
    with pytest.raises(ValueError, match="X has chunks of unknown sizes; call X.compute_chunk_sizes()"):
        model.fit(unknown, y)
    with pytest.raises(TypeError, match="so y must be one too; got ndarray"):
        model.fit(X, y.compute())
    with pytest.raises(ValueError, match=r"Blocks of X have \[200, 200\] rows, those of y \[200, 100\]"):
        model.fit(X, y[:300])
    with pytest.raises(ValueError, match="sample_weight is zero everywhere"):
        model.fit(X, y, 0 * weight)
    with pytest.raises(ValueError, match="X contains infinity"):
        model.fit(da.where(da.isnan(X), np.inf, X), y)
    with pytest.raises(ValueError, match="y must not be negative"):
        GBDTRegressor(loss="poisson", **HIST).fit(X, y)
    with pytest.raises(ValueError, match="X is empty"):
        model.fit(X[:0], y[:0])
    mixed = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "b": [1, 2]}), npartitions=2)
    mixed = mixed.map_partitions(
        lambda part: part.astype({"b": str}) if part["b"].iloc[0] == 1 else part, meta=mixed._meta
    )
    with pytest.raises((TypeError, ValueError), match="'b'"):
        model.fit(mixed, mixed["a"])


def test_a_block_without_an_entry_in_a_column_of_objects_fits_any_other():
    from treekit.models.dask_gbdt import merge_feature

    empty = learn_features(pd.DataFrame({"a": [None, None]}, dtype=object))[0]
    for column in ([1.0, 2.0], ["u", "v"]):
        other = learn_features(pd.DataFrame({"a": column}))[0]
        for columns in ([empty, other], [other, empty, empty]):
            assert merge_feature(columns) is other


def test_dask_is_not_imported_unless_it_is_used():
    code = "import sys, treekit; assert not {'dask', 'distributed'} & set(sys.modules);"
    code += "sys.modules['distributed'] = None; import treekit.models.dask_gbdt"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stderr.endswith(
        "ImportError: A fit on Dask collections needs Dask: pip install 'dask[array,dataframe]' distributed\n"
    )


# -- exact sums -------------------------------------------------------------------------------------------------


def test_exact_sums_do_not_depend_on_the_order():
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(2, 1000)) * [[1.0], [1e9]], rng.random(1000)
    mean = weighted_mean(x, weight)
    np.testing.assert_allclose(mean, np.average(x, axis=1, weights=weight), rtol=1e-12)
    for _ in range(20):
        order = rng.permutation(1000)
        np.testing.assert_array_equal(weighted_mean(x[:, order], weight[order]), mean)
    assert np.isinf(weighted_mean(np.array([[np.inf, 1.0]]), np.ones(2))[0])


@pytest.mark.parametrize("size", [1e-320, 1e-300, 1.0, 1.5, 2.0, 1e300])
@pytest.mark.parametrize("n_rows", [1, 2, 1000, 1024])
def test_units_leave_room_for_every_sum(size, n_rows):
    unit = unit_for(size, n_rows, bits=53)
    assert 0 < n_rows * (size / unit) < 2.0**53
    assert size < 1e-290 or n_rows * (size / unit) >= 2.0**50
    assert largest_magnitude(np.array([-size, size / 2])) == size and largest_magnitude(np.zeros(0)) == 0
