"""The losses of boosting: derivatives against finite differences, starts and leaf steps against a minimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

from treekit.growing.fixed_point import quantile
from treekit.models.gbdt import REGRESSION_LOSSES
from treekit.models.losses import AbsoluteLoss, HuberLoss, LogisticLoss, PoissonLoss, SoftmaxLoss, SquaredLoss

N = 60


def case(loss, seed=0):
    """Targets, scores and weights that suit a loss; no residual lies where the loss has a kink."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=(loss.n_scores, N))
    if isinstance(loss, PoissonLoss):
        y = rng.poisson(2, N).astype(float)
    elif isinstance(loss, (LogisticLoss, SoftmaxLoss)):
        y = rng.integers(max(2, loss.n_scores), size=N)
    else:
        y = rng.normal(size=N) * 2
    return y, score, rng.integers(1, 4, N).astype(float)


#: Every loss that has a name, so also a new one, and the two of classes.
LOSSES = [*(make() for make in REGRESSION_LOSSES.values()), LogisticLoss(), SoftmaxLoss(3)]
by_name = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


@by_name
def test_derivatives_are_finite_differences(loss):
    y, score, _ = case(loss)
    for k in range(loss.n_scores):
        step = np.zeros_like(score)
        step[k] = 1e-5
        slope = (loss.value(y, score + step) - loss.value(y, score - step)) / 2e-5
        np.testing.assert_allclose(loss.negative_gradient(y, score)[k], -slope, rtol=1e-6, atol=1e-8)
        curvature = -(loss.negative_gradient(y, score + step) - loss.negative_gradient(y, score - step))[k] / 2e-5
        np.testing.assert_allclose(loss.second_derivative(y, score)[k], curvature, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", [SquaredLoss(), AbsoluteLoss(), HuberLoss()], ids=lambda loss: type(loss).__name__)
def test_a_score_that_misses_its_target_by_rounding_alone_does_not_move(loss):
    y, score = np.array([0.3, 1e9, 0.3]), np.array([[0.1 + 0.2, 1e9 + 1e-6, 0.3 + 1e-12]])
    assert (y[:2] != score[0, :2]).all()
    gradient = loss.negative_gradient(y, score)[0]
    assert gradient[:2].tolist() == [0, 0] and gradient[2] < 0


@by_name
def test_start_is_the_best_constant(loss):
    y, _, weight = case(loss)

    def mean_loss(start):
        return np.average(loss.value(y, np.repeat(start[:, np.newaxis], N, axis=1)), weights=weight)

    start = loss.start(y, weight)
    assert start.shape == (loss.n_scores,)
    if isinstance(loss, HuberLoss):  # Friedman starts at the median: delta is not known yet
        np.testing.assert_array_equal(start, AbsoluteLoss().start(y, weight))
        return
    found = minimize(
        mean_loss, start + 0.3, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000}
    )
    assert mean_loss(start) <= found.fun + 1e-9


@pytest.mark.parametrize("loss", [SquaredLoss(), AbsoluteLoss(), PoissonLoss()], ids=lambda loss: type(loss).__name__)
def test_exact_line_search_is_the_best_step_of_each_leaf(loss):
    y, score, weight = case(loss)
    leaf = np.arange(N) % 4
    step = search(loss, y, score, weight, leaf, 5)
    for j in range(4):
        here = leaf == j

        def total(s, here=here):
            return weight[here] @ loss.value(y[here], score[:, here] + s)

        assert total(step[j]) <= minimize_scalar(total, bracket=(-1, 1), tol=1e-12).fun + 1e-9


def search(loss, y, score, weight, leaf, n_leaves, k=0):
    r, h = loss.negative_gradient(y, score)[k], loss.second_derivative(y, score)[k]
    return loss.line_search(y, score[k], r, h, weight, leaf, n_leaves)


def test_newton_steps_of_friedman_2001():
    """Sections 4.5, two classes (labels -1 and 1, half the log-odds), and 4.6, K classes."""
    y, score, _ = case(LogisticLoss())
    leaf = np.arange(N) % 4
    label = 2 * y - 1
    tilde = 2 * label / (1 + np.exp(label * score[0]))  # 2 y F of the paper is the label times our score
    friedman = [tilde[leaf == j].sum() / (np.abs(tilde) * (2 - np.abs(tilde)))[leaf == j].sum() for j in range(4)]
    np.testing.assert_allclose(search(LogisticLoss(), y, score, np.ones(N), leaf, 4), 2 * np.array(friedman))

    loss = SoftmaxLoss(3)
    y, score, _ = case(loss)
    for k in range(3):
        r = loss.negative_gradient(y, score)[k]
        friedman = [2 / 3 * r[leaf == j].sum() / (np.abs(r) * (1 - np.abs(r)))[leaf == j].sum() for j in range(4)]
        np.testing.assert_allclose(search(loss, y, score, np.ones(N), leaf, 4, k), friedman)


def test_huber_step_of_friedman_2001():
    loss = HuberLoss(alpha=0.8)
    y, score, _ = case(loss)
    loss.adapt(y, score, np.ones(N))
    residual = y - score[0]
    assert loss.delta == pytest.approx(np.quantile(np.abs(residual), 0.8, method="averaged_inverted_cdf"))
    leaf = np.arange(N) % 4
    for j, step in enumerate(search(loss, y, score, np.ones(N), leaf, 4)):
        r = residual[leaf == j]
        median = np.median(r)
        rest = np.sign(r - median) * np.minimum(loss.delta, np.abs(r - median))
        assert step == pytest.approx(median + rest.mean())


def test_a_leaf_without_counts_takes_one_newton_step():
    step = search(PoissonLoss(), np.zeros(3), np.full((1, 3), 2.0), np.ones(3), np.zeros(3, dtype=int), 1)
    assert step == pytest.approx([-1.0])


@pytest.mark.parametrize("name", REGRESSION_LOSSES)
def test_the_step_of_a_leaf_never_raises_its_loss(name):
    """However large the residuals: a Newton step alone may go too far."""
    loss = REGRESSION_LOSSES[name]()
    y, _, weight = case(loss)
    score = np.full((1, N), 3.0) if name == "poisson" else np.linspace(-40, 40, N)[np.newaxis]
    leaf = np.arange(N) // 15
    loss.adapt(y, score, weight)
    step = search(loss, y, score, weight, leaf, 4)
    before, after = (np.bincount(leaf, weight * loss.value(y, F)) for F in (score, score + step[leaf]))
    assert (after <= before + 1e-9).all()


@by_name
def test_weights_are_repeated_rows(loss):
    y, score, weight = case(loss)
    leaf = np.arange(N) % 4
    copies = np.repeat(np.arange(N), weight.astype(int))
    one = np.ones(len(copies))
    np.testing.assert_allclose(loss.start(y, weight), loss.start(y[copies], one))
    loss.adapt(y, score, weight)
    step = search(loss, y, score, weight, leaf, 4)
    loss.adapt(y[copies], score[:, copies], one)
    np.testing.assert_allclose(step, search(loss, y[copies], score[:, copies], one, leaf[copies], 4), rtol=1e-10)


@pytest.mark.parametrize(
    "loss, prediction",
    [(SquaredLoss(), 3.5), (PoissonLoss(), 3.5), (LogisticLoss(), 0.3), (SoftmaxLoss(3), [0.2, 0.5, 0.3])],
)
def test_score_and_prediction_are_inverse(loss, prediction):
    score = loss.score_of(prediction)[:, np.newaxis]
    predicted = loss.prediction(score)
    expected = [1 - prediction, prediction] if isinstance(loss, LogisticLoss) else prediction
    np.testing.assert_allclose(predicted.ravel(), np.ravel(expected))
    assert np.isfinite(LogisticLoss().score_of(0)).all() and np.isfinite(SoftmaxLoss(2).score_of([0, 1])).all()


def test_far_scores_do_not_overflow():
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        far = np.array([[800.0, -800.0]])
        np.testing.assert_allclose(LogisticLoss().value(np.array([0, 1]), far), [800, 800])
        assert LogisticLoss().negative_gradient(np.array([0, 1]), far).tolist() == [[-1.0, 1.0]]
        np.testing.assert_allclose(SoftmaxLoss(2).value(np.array([0, 0]), np.stack([-far[0], far[0]])), [1600, 0])


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30),
    st.floats(0.05, 0.95),
)
def test_quantile_is_numpys_on_repeated_rows(rows, q):
    x, weight, group = (np.array(column) for column in zip(*rows))
    for share in (0.5, q):
        answer = quantile(x.astype(float), weight.astype(float), group, 4, share)
        for j in range(4):
            repeated = np.repeat(x[group == j], weight[group == j])
            if len(repeated):
                assert answer[j] == pytest.approx(np.quantile(repeated, share, method="averaged_inverted_cdf"))
