"""Boosting at the edges of its input: weights of zero, scale, interrupted fits, divergence, few rows in a leaf."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError

from treekit.growing.binning import learn_bins
from treekit.growing.fixed_point import grad, hess, to_gradient_sums, to_units, unit_for, weighted_mean
from treekit.growing.histogram import histograms
from treekit.models.gbdt import GBDTClassifier, GBDTRegressor
from treekit.models.losses import SquaredLoss
from treekit.models.transaction import unchanged_if_interrupted
from treekit.reading.encoding import Feature

METHODS = ("gradient", "newton")
each_method = pytest.mark.parametrize("method", METHODS)


def sample(n_rows=200, seed=0):
    """Numbers, and a target that depends on their product."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X[:, 0] * X[:, 1] + rng.normal(size=n_rows) / 4


# -- a row of weight zero is no row -----------------------------------------------------------------------------

values = st.one_of(st.just(np.nan), st.integers(-4, 4).map(float), st.floats(-1e6, 1e6))
rows = st.tuples(values, values, st.sampled_from(["u", "v", "w"]), st.integers(0, 1), st.floats(-5, 5, width=16))
weights = st.sampled_from([0.5, 1.0, 1.0, 3.0])


@settings(max_examples=30)
@given(
    st.lists(st.tuples(rows, weights), min_size=4, max_size=14),
    st.lists(st.tuples(rows, st.integers(0, 13), st.sampled_from([0.0, 1e9, -1e18, 1e99])), min_size=1, max_size=5),
    st.sampled_from(METHODS),
    st.sampled_from([dict(), dict(subsample=0.6), dict(max_bins=3), dict(n_iter_no_change=2, validation_fraction=0.4)]),
    st.booleans(),
)
def test_rows_of_weight_zero_change_nothing(kept, added, method, parameters, is_regression):
    weighted = [(row, weight) for row, weight in kept]
    for row, place, offset in added:
        weighted.insert(place, ((*row[:4], row[4] + offset), 0.0))

    def fit(rows):
        *columns, label, target = zip(*(row for row, _ in rows))
        frame = pd.DataFrame(dict(zip("abc", columns)))
        parts = dict(method=method, n_estimators=3, learning_rate=0.5, min_child_weight=0)
        estimator = GBDTRegressor if is_regression else GBDTClassifier
        model = estimator(**parts | parameters, random_state=0)
        return model.fit(frame, target if is_regression else label, [weight for _, weight in rows])

    labels = [row[3] for row, _ in kept]
    if not is_regression and min(labels.count(0), labels.count(1)) < 2:
        return  # a class of weight zero stays in classes_; too few rows of one can't be held out
    one, other = fit(kept), fit(weighted)
    np.testing.assert_array_equal(one.start_, other.start_)
    np.testing.assert_array_equal(one.train_score_, other.train_score_)
    frame = pd.DataFrame({"a": [-4.0, 0, 4, np.nan] * 3, "b": np.arange(12.0), "c": ["u", "v", "w"] * 4})
    for predict in ("predict",) if is_regression else ("predict", "decision_function"):
        np.testing.assert_array_equal(getattr(one, predict)(frame), getattr(other, predict)(frame))


@pytest.mark.parametrize(
    "loss, method",
    [
        *((loss, "gradient") for loss in ("squared_error", "poisson", "absolute_error", "huber")),
        *((loss, "newton") for loss in ("squared_error", "poisson")),
    ],
)
def test_a_huge_target_of_weight_zero(loss, method):
    X, y = np.arange(4.0)[:, np.newaxis], np.array([1.1, 2.2, 3.3, 1e18])
    model = GBDTRegressor(loss=loss, method=method, n_estimators=5, min_child_weight=0)
    with_it, without = clone(model).fit(X, y, [1, 1, 1, 0]), clone(model).fit(X[:3], y[:3])
    np.testing.assert_array_equal(with_it.predict(X), without.predict(X))
    if loss == "poisson":  # a row that is none may hold what others may not
        np.testing.assert_array_equal(model.fit(X, [1.1, 2.2, 3.3, -1], [1, 1, 1, 0]).predict(X), without.predict(X))


@each_method
def test_a_huge_target_that_is_held_out_shifts_no_split(method):
    X, y = sample()
    model = GBDTRegressor(method=method, n_estimators=3, n_iter_no_change=9, random_state=0, tol=0)
    one = clone(model).fit(X, y)
    leaves = one.trees_[0][0].n_samples[0]
    assert leaves == 180
    for held_out in range(200):
        far = y.copy()
        far[held_out] = 1e15
        other = clone(model).fit(X, far)
        if abs(other.start_[0]) < 1e3:  # this row is one of the 20
            np.testing.assert_allclose(other.predict(X), one.predict(X), rtol=1e-12)
            return
    raise AssertionError("no row was held out")


# -- scale ------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(-250, 250), st.sampled_from(METHODS))
def test_a_scaled_target_gives_scaled_predictions(seed, power, method):
    X, y = sample(40, seed)
    model = GBDTRegressor(method=method, n_estimators=4, learning_rate=0.5, reg_lambda=0)
    one, other = clone(model).fit(X, y), clone(model).fit(X, np.ldexp(y, power))
    np.testing.assert_allclose(np.ldexp(other.predict(X), -power), one.predict(X), rtol=1e-12)


@pytest.mark.parametrize("seed", [0, 7, 16])
def test_residuals_that_are_rounding_set_no_scale(seed):
    """Half of the residuals are 0 but for rounding, so delta is 0: not 1e-17, whose signs a tree would follow."""
    rng = np.random.default_rng(seed)
    y, X = rng.integers(-15, 15, 12) / 10, rng.integers(0, 6, (12, 2)).astype(float)
    model = GBDTRegressor("huber", n_estimators=10, alpha=0.5, learning_rate=1, max_depth=None)
    one, other = clone(model).fit(X, y), clone(model).fit(X, 10 * y)
    np.testing.assert_allclose(10 * one.predict(X), other.predict(X), atol=1e-12)


def test_rows_that_agree_but_for_rounding_are_not_told_apart():
    """In round 2 two leaves have the same score, but their sums were rounded in another order."""
    X = np.array([[0, 1, 0, 0, 1, 0, 1], [np.nan, 0.5, np.nan, np.nan, 1, np.nan, np.nan]]).T
    y, weight = np.array([0, 0, 1, 2, 1, 1, 0]), np.array([1, 3, 1, 1, 2, 3, 2])
    model = GBDTClassifier(learning_rate=0.5, n_estimators=2)
    one, other = clone(model).fit(X, y, weight), clone(model).fit(X.repeat(weight, axis=0), y.repeat(weight))
    for trees, same in zip(one.trees_, other.trees_, strict=True):
        assert [tree.n_nodes for tree in trees] == [tree.n_nodes for tree in same]


@pytest.mark.parametrize("power", [-45, 55])
def test_no_unit_of_the_target_hides_a_split(power):
    """Counts of 1e-13 and times in nanoseconds are no rounding errors."""
    X, y = sample()
    for loss, target in (("absolute_error", y), ("poisson", np.exp(y))):
        model = GBDTRegressor(loss, n_estimators=3)
        one, other = clone(model).fit(X, target), clone(model).fit(X, np.ldexp(target, power))
        np.testing.assert_allclose(np.ldexp(other.predict(X), -power), one.predict(X), rtol=1e-10)
        assert one.trees_[0][0].n_leaves > 4


@each_method
def test_an_outlier_stops_no_split_elsewhere(method):
    """What counts as rounding is each node's own; the other rows are fitted as well as by scikit-learn."""
    X, y = sample()
    X[7], others = 9, np.arange(200) != 7
    for outlier, n_estimators, learning_rate in [(1e6, 1, 1.0), (1e6, 60, 0.3), (1e9, 60, 0.3)]:
        target = np.where(others, y, outlier)
        parameters = dict(n_estimators=n_estimators, learning_rate=learning_rate, max_depth=4)
        theirs = GradientBoostingRegressor(criterion="squared_error", random_state=0, **parameters).fit(X, target)
        ours = GBDTRegressor(method=method, reg_lambda=0, **parameters).fit(X, target)
        wanted, found = (np.mean((model.predict(X) - target)[others] ** 2) for model in (theirs, ours))
        assert found <= wanted + 0.01 * y[others].var()


@each_method
def test_splits_below_an_outlier(method):
    """The other rows are not pure, though their variance is less than a rounding error of the root's."""
    X, y = np.arange(5.0)[:, np.newaxis], np.array([1.0, 1, 2, 2, 2e7])
    model = GBDTRegressor(method=method, n_estimators=1, learning_rate=1, reg_lambda=0, base_score=1.0)
    ((tree,),) = model.fit(X, y).trees_
    assert sorted(tree.threshold[~tree.is_leaf]) == [1.5, 3.5]
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-7)


# -- an interrupted fit -----------------------------------------------------------------------------------------


class Interrupted(SquaredLoss):
    """The user loses patience in the third round."""

    def derivatives(self, y, score):
        self.n_calls = getattr(self, "n_calls", 0) + 1
        if self.n_calls == 3:
            raise KeyboardInterrupt
        return super().derivatives(y, score)


@each_method
def test_an_interrupted_fit_leaves_the_old_model(method, monkeypatch):
    X, y = sample()
    model = GBDTRegressor(method=method, n_estimators=5).fit(X, y)
    new, before, predicted = clone(model), dict(vars(model)), model.predict(X)
    monkeypatch.setattr("treekit.models.gbdt.REGRESSION_LOSSES", {"squared_error": Interrupted})
    for estimator in (model, new):
        with pytest.raises(KeyboardInterrupt):
            estimator.fit(X[:, :2], -y)
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict(X), predicted)
    with pytest.raises(NotFittedError):
        new.predict(X)
    assert vars(new) == new.get_params()


def test_a_refused_or_interrupted_classifier_keeps_its_classes(monkeypatch):
    X, y = sample()
    model = GBDTClassifier(n_estimators=5, verbose=3).fit(X, y > 0)
    predicted = model.predict(X)
    letters = np.where(y > 0.3, "a", "b")
    with pytest.raises(ValueError, match="sample_weight"):
        model.fit(X, letters, -np.ones(200))
    with pytest.raises(ValueError, match="n_estimators"):
        model.set_params(n_estimators=-1).fit(pd.DataFrame(X, columns=list("abc")), letters)
    assert model.n_estimators == -1 and not hasattr(model, "feature_names_in_")

    def impatient(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.print", impatient)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_estimators=5).fit(X, letters)
    np.testing.assert_array_equal(model.predict(X), predicted)


def test_what_a_block_does_to_an_estimator_is_undone():
    class Model(BaseEstimator):
        old = "of the class"

        def __init__(self, kept=1):
            self.kept = kept

    model = Model()
    model.changed = [2]
    with pytest.raises(SystemExit), unchanged_if_interrupted(model):
        model.changed, model.new, model.old = 3, 4, 5
        del model.kept
        raise SystemExit
    assert vars(model) == {"kept": 1, "changed": [2]} and model.old == "of the class"
    with unchanged_if_interrupted(model):
        model.new_ = 4
    with unchanged_if_interrupted(model):
        model.newer_ = 5
    assert vars(model) == {"kept": 1, "changed": [2], "newer_": 5}, "what the fit before learned is forgotten"


# -- divergence, and scores that go far -------------------------------------------------------------------------


@each_method
def test_boosting_that_diverges_says_in_which_round_and_why(method):
    X, y = sample()
    model = GBDTRegressor(method=method, n_estimators=2000, max_depth=2, reg_lambda=0)
    with pytest.raises(ValueError, match=r"In round 1\d\d the loss or its gradients.*lower learning_rate \(now 9\)"):
        model.set_params(learning_rate=9).fit(X, y)
    with pytest.raises(ValueError, match=r"In round 1 the loss or its gradients have reached 1e\+200.*base_score"):
        model.set_params(learning_rate=0.1, base_score=1e200).fit(X, y)
    model.set_params(n_estimators=300, base_score=None, loss="poisson", learning_rate=9)
    with pytest.raises(ValueError, match="lower learning_rate"):
        model.fit(X, np.floor(np.exp(y)))
    assert not hasattr(model, "trees_")


@pytest.mark.parametrize("loss", ["absolute_error", "huber"])
def test_losses_of_bounded_gradients_diverge_without_a_warning(loss):
    X, y = sample()
    model = GBDTRegressor(loss=loss, n_estimators=500, max_depth=1, learning_rate=20)
    with warnings.catch_warnings(), pytest.raises(ValueError, match="lower learning_rate"):
        warnings.simplefilter("error")
        model.fit(X, y)


def test_poisson_rows_that_are_not_held_out_need_a_positive_target():
    model = GBDTRegressor(loss="poisson", n_iter_no_change=2, validation_fraction=0.5, random_state=1)
    with warnings.catch_warnings(), pytest.raises(ValueError, match="nor zero in all rows that are not held out"):
        warnings.simplefilter("error")
        model.fit(np.arange(7.0)[:, np.newaxis], [0, 0, 0, 0, 0, 0, 3])


@each_method
def test_targets_near_the_largest_float(method):
    X, y = sample()
    model = GBDTRegressor(method=method, n_estimators=2)
    far = np.full(200, 1e308)
    np.testing.assert_array_equal(model.fit(X, far).predict(X), far)  # their sum is infinite, their mean is not
    with pytest.raises(ValueError, match="y times sample_weight leaves the range of floats: divide y"):
        model.fit(X, far, np.full(200, 2.0))
    with warnings.catch_warnings(), pytest.raises(ValueError, match="y"):
        warnings.simplefilter("ignore")
        model.fit(X, np.where(y > 0, 1e308, -1e308))


@each_method
@pytest.mark.parametrize("n_classes", [2, 3])
def test_separable_classes_for_many_rounds(method, n_classes):
    """The best scores are infinite; they grow while floats can tell probabilities from 0 and 1, without a warning."""
    X, _ = sample()
    label = np.digitize(X[:, 0], [0.0] if n_classes == 2 else [-0.5, 0.5])
    model = GBDTClassifier(method, 100, 1.0, 2)
    model.set_params(reg_lambda=0, min_child_weight=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, label)
        shares = model.predict_proba(X)
    assert model.score(X, label) == 1 and np.isfinite(model.decision_function(X)).all()
    assert shares.max(axis=1).min() > 1 - 1e-12 and 0 <= model.train_score_[-1] < 1e-12


@each_method
@pytest.mark.parametrize("kind", ["f2", ">f8", ">f4", ">i4", "<u2", "bool"])
def test_other_kinds_of_numbers(method, kind):
    X, y = sample()
    X, y = (np.abs(10 * X) > 5 if kind == "bool" else np.abs(10 * X)).astype(kind), y.astype(">f8")
    model = GBDTRegressor(method=method, n_estimators=2)
    expected = clone(model).fit(X.astype(float), y.astype(float)).predict(X.astype(float))
    np.testing.assert_allclose(clone(model).fit(X, y).predict(X), expected, rtol=1e-12)
    frame = pd.DataFrame(X, columns=list("abc"))
    np.testing.assert_allclose(clone(model).fit(frame, y).predict(frame), expected, rtol=1e-12)


@each_method
def test_a_single_class(method):
    X, _ = sample(20)
    model = GBDTClassifier(method=method, n_estimators=3).fit(X, ["only"] * 20)
    assert model.predict(X).tolist() == ["only"] * 20 and model.train_score_.tolist() == [0, 0, 0]
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((20, 1)))
    np.testing.assert_array_equal(model.decision_function(X), np.zeros(20))


# -- few rows in a leaf -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("min_samples_leaf", [1, 7, 60, 300])
def test_min_samples_leaf_is_scikit_learns(min_samples_leaf):
    X, y = sample(500)
    parameters = dict(n_estimators=20, max_depth=3, min_samples_leaf=min_samples_leaf)
    theirs = GradientBoostingRegressor(criterion="squared_error", random_state=0, **parameters).fit(X, y)
    ours = GBDTRegressor(**parameters).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("min_samples_leaf", [1, 20, 150])
@pytest.mark.parametrize("classes", [False, True])
def test_min_samples_leaf_is_that_of_scikit_learns_histograms(min_samples_leaf, classes):
    X, y = (load_breast_cancer if classes else load_diabetes)(return_X_y=True)
    theirs = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    common = dict(max_depth=3, min_samples_leaf=min_samples_leaf, learning_rate=0.3, max_bins=255)
    theirs = theirs(max_iter=10, l2_regularization=1.0, max_leaf_nodes=None, early_stopping=False, **common).fit(X, y)
    ours = (GBDTClassifier if classes else GBDTRegressor)(method="newton")
    ours.set_params(n_estimators=10, min_child_weight=1e-3, **common).fit(X, y)
    # Their gradients have 32 bits, and bins of many values are cut at other edges.
    assert abs(ours.score(X, y) - theirs.score(X, y)) < 0.03
    for trees in ours.trees_:
        assert trees[0].n_samples[trees[0].is_leaf].min() >= min_samples_leaf


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from(METHODS), st.booleans(), st.booleans())
@example(233, 6, "gradient", True, True)  # two categories have the same mean, up to a rounding error
def test_every_leaf_holds_its_rows(seed, min_samples_leaf, method, weighted, classes):
    """With holes, categories and weights: histograms count rows where H does not."""
    rng = np.random.default_rng(seed)
    n = 30
    frame = pd.DataFrame(
        {"a": rng.integers(0, 6, n), "b": rng.normal(size=n).round(1), "c": rng.choice(list("uvw"), n)}
    )
    frame.loc[rng.random(n) < 0.2, "b"] = np.nan
    weight = rng.integers(1, 4, n) / 2 if weighted else None
    y = rng.integers(-3, 4, n).astype(float)
    model = (GBDTClassifier if classes else GBDTRegressor)(n_estimators=2, learning_rate=0.5, max_depth=3)
    model.set_params(method=method, min_child_weight=0, min_samples_leaf=min_samples_leaf, reg_lambda=0.5)
    for (tree,) in model.fit(frame, y > 0 if classes else y, weight).trees_:
        assert tree.n_samples[tree.is_leaf].min() >= min(min_samples_leaf, n)


# -- exact sums -------------------------------------------------------------------------------------------------


def test_packed_sums_are_those_of_two_plain_ones():
    """g + ih in one number: one addition adds up both. The plain twin adds them up one after the other."""
    rng = np.random.default_rng(0)
    table, features = rng.normal(size=(3, 500)), tuple(map(Feature, "abc"))
    bins = learn_bins(table, features, np.ones(500), 16)
    binned = bins.encode(table)
    g, h = rng.integers(-(2**40), 2**40, 500).astype(float), rng.integers(0, 2**40, 500).astype(float)
    node = rng.integers(0, 3, 500)
    row, n_rows = np.argsort(node, kind="stable"), np.bincount(node, minlength=3)
    packed = histograms(binned, (g + 1j * h)[row], row, n_rows)
    for k in range(3):
        for first, code in zip(binned.first_cell, binned.codes):
            cells = slice(first, first + bins.width)
            in_node = node == k
            for x, sums in ((g, grad(packed)), (h, hess(packed))):
                np.testing.assert_array_equal(
                    sums[k, cells], np.bincount(code[in_node], x[in_node], minlength=bins.width)
                )
    counts = histograms(binned, np.ones(500, dtype=np.intp), row, n_rows)
    np.testing.assert_array_equal(counts[:, : bins.width].sum(axis=1), n_rows)


@pytest.mark.parametrize("bits", [53, 61, 62])
def test_three_uses_of_one_unit(bits):
    x = np.array([[0.1, -0.7, 0.2, 3e8]])
    total = np.abs(x).sum()
    unit = unit_for(3e8, 4, bits)
    assert np.log2(unit) % 1 == 0 and 2.0 ** (bits - 3) < 4 * 3e8 / unit < 2.0**bits
    whole, units = to_units(x, fractions=False)
    assert whole.dtype == np.int64 and 2.0**58 < np.abs(whole).sum() <= 2.0**61
    np.testing.assert_allclose(whole * units, x, rtol=1e-8)
    assert total == pytest.approx(3e8)


def test_a_mean_does_not_overflow_and_ignores_weight_zero():
    assert weighted_mean(np.full((1, 50), 1e308), np.ones(50)) == [1e308]
    x = np.array([[1.0, 2.0, np.inf, 1e308]])
    np.testing.assert_array_equal(weighted_mean(x, np.array([1.0, 1, 0, 0])), [1.5])
    units = type("Units", (), dict(grad=0.5, hess=0.25))
    np.testing.assert_array_equal(to_gradient_sums(np.array([1.0, -2.0]), np.array([0.5, 0.0]), units), [2 + 2j, -4])


@pytest.mark.parametrize(("loss", "where"), [("absolute_error", ""), ("huber", " at outliers")])
def test_a_loss_without_curvature_needs_gradient_boosting(loss, where):
    with pytest.raises(ValueError, match=f"loss='{loss}' has a second derivative of zero{where}, which"):
        GBDTRegressor(loss=loss, method="newton").fit([[1], [2]], [0, 1])
