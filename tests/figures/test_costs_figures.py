"""The figures of the chapter on costs: bills, confusion matrices and groups are those that others compute."""

import re

import numpy as np
import pytest
from scipy.stats import ttest_rel
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    confusion_matrix,
    precision_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)

from figures.costs import (
    RATES,
    SHARES,
    both_curves,
    cost_lines,
    cut_explorer,
    pairs_grid,
    reliability_explorer,
    smoothing_curves,
    threshold_explorer,
    two_corrections,
    two_parts,
)
from tests.figures.judging import OUTSIDE, write_page
from tests.figures.states import frames, states
from treekit.datasets import load_watermelon

KEPT = 1


@pytest.fixture(scope="module")
def melons():
    frame = load_watermelon("3.0-alpha")
    return frame["sugar"], frame["ripe"] == "yes"


@pytest.fixture(scope="module")
def scored():
    """Scores of 400 rows, one in five positive, which tell something."""
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.2
    return np.clip(rng.normal(0.2 + 0.25 * y, 0.15), 0, 1), y


def ways(scored):
    p, y = scored
    return {"one": {"as it is": p**2, "halved": p**2 / 2}, "other": {"as it is": p, "halved": p / 2}}, y


def bill(scores, is_ripe, price, sold):
    """What the mistakes cost, melon by melon."""
    order = sorted(scores.index, key=scores.get, reverse=True)
    return sum(
        (price if i < sold else 0) * (not is_ripe[m]) + KEPT * (i >= sold) * is_ripe[m] for i, m in enumerate(order)
    )


def test_every_bill_is_the_sum_of_its_mistakes(melons):
    figure = cut_explorer(*melons)
    for (price, sold), places, sentence, _ in states(figure):
        cost = bill(*melons, price, sold)
        assert f"= {cost} yuan." in sentence and sentence.startswith(f"{sold} sold")
        assert {"sold", "cut", "lowest"} <= set(places) and len(places) == 20


def test_the_cheapest_cut_is_judged_at_one_price_and_found_at_the_other(melons):
    figure = cut_explorer(*melons)
    costs = {sold: bill(*melons, 5, sold) for sold in range(18)}
    best = min(costs, key=costs.get)
    even = {sold: bill(*melons, 1, sold) for sold in range(18)}
    assert [values for values, *_, found in states(figure) if found] == [(1, min(even, key=even.get))]
    assert f"selling {best} costs {costs[best]} yuan" in figure.guess.verdict(9)
    assert "that is right" in figure.guess.verdict(best) and "too high by 7" in figure.guess.verdict(9)


def test_each_mistake_has_its_coins(melons):
    for (price, sold), frame in frames(cut_explorer(*melons)):
        piles = [part for part in frame.scenes[0].parts if 'stroke-width="9"' in part]
        assert sum(part.count("h0") for part in piles) == bill(*melons, price, sold)


def test_the_path_is_the_roc_curve(melons):
    scores, is_ripe = melons
    figure = cut_explorer(scores, is_ripe)
    false, found, _ = roc_curve(is_ripe, scores, drop_intermediate=False)
    plane = (50, 56, 392, 302)
    for (_, sold), frame in frames(figure):
        x, y = frame.scenes[1].places[0][:2]
        assert (x - plane[0]) / (plane[2] - plane[0]) == pytest.approx(false[sold], abs=1e-4)
        assert (plane[3] - y) / (plane[3] - plane[1]) == pytest.approx(found[sold], abs=1e-4)
        assert len(frame.scenes[1].parts) == sold


def test_shaded_pairs_are_the_area(melons):
    scores, is_ripe = melons
    won, pairs = map(int, re.search(r"(\d+) of the (\d+) cells", pairs_grid(scores, is_ripe).alt).groups())
    assert won / pairs == pytest.approx(roc_auc_score(is_ripe, scores))


def test_pairs_lie_as_the_names_of_their_axes_promise(melons):
    scores, is_ripe = melons
    drawing = pairs_grid(scores, is_ripe).drawing
    assert "highest score at the bottom<" in drawing and "highest score on the left<" in drawing
    at = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>(\d+)</text>', drawing)
    x, y = ({int(name): float(spot[k]) for *spot, name in at} for k in (0, 1))
    assert max(is_ripe[is_ripe].index, key=y.get) == scores[is_ripe].idxmax()
    assert min(is_ripe[~is_ripe].index, key=x.get) == scores[~is_ripe].idxmax()


@pytest.mark.parametrize("curve", [RATES, SHARES])
def test_thresholds_count_as_a_confusion_matrix(scored, curve):
    p, y = scored
    for (shown, threshold), frame in frames(threshold_explorer(p, y)):
        called = p >= threshold - 1e-9
        left, false, missed, found = confusion_matrix(y, called, labels=[False, True]).ravel()
        assert f"recall {recall_score(y, called):.2f}" in frame.sentence
        assert f"precision {precision_score(y, called, zero_division=0):.2f}" in frame.sentence
        for words in (f"{found} found", f"{false} called for nothing", f"{missed} missed", f"{left} left alone"):
            assert f">{words}<" in frame.drawing
        if shown == curve:
            across = {RATES: false / (false + left), SHARES: recall_score(y, called)}[curve]
            assert (frame.scenes[1].places[0][0] - 50) / 342 == pytest.approx(across, abs=1e-4)


def test_the_bar_of_the_right_is_as_long_as_the_accuracy(scored):
    p, y = scored
    for (_, threshold), places, sentence, _ in states(threshold_explorer(p, y)):
        called = p >= threshold - 1e-9
        alone, found = places["right", 0], places["right", 1]
        assert (alone[2] + found[2]) / 356 == pytest.approx(accuracy_score(y, called))
        assert found[0] == pytest.approx(alone[0] + alone[2])
        assert f"Accuracy {accuracy_score(y, called):.3f}" in sentence


def test_the_guess_of_calls_leaves_the_threshold_to_be_found(scored):
    guess = threshold_explorer(*scored).guess
    assert [amount for amount in guess.values if "threshold" in guess.verdict(amount)] == []


def test_the_highest_threshold_that_finds_enough_is_found(scored):
    p, y = scored
    enough = {values[1] for values, frame in frames(threshold_explorer(p, y, wanted=0.9)) if frame.found}
    assert len(enough) == 1 and (p[y] >= min(enough)).mean() >= 0.9


def test_groups_are_those_of_a_reliability_diagram(scored):
    scores, y = ways(scored)
    figure = reliability_explorer(scores, y, start=("other", "halved"))
    for (model, how), places, sentence, _ in states(figure):
        share, mean = calibration_curve(y, scores[model][how], n_bins=10)
        dots = [places[k] for k in sorted(k for k in places if isinstance(k, int))]
        assert [(x - 44) / 340 * 1.12 - 0.06 for x, *_ in dots] == pytest.approx(mean.tolist(), abs=1e-4)
        assert [(294 - y) / 258 * 1.06 - 0.06 for _, y, *_ in dots] == pytest.approx(share.tolist(), abs=1e-4)
        assert f"Brier score {brier_score_loss(y, scores[model][how]):.3f}" in sentence


def test_the_areas_of_the_bars_are_the_calibration_part(scored):
    """The groups are those of scikit-learn's calibration_curve."""
    scores, y = ways(scored)
    figure = reliability_explorer(scores, y, start=("other", "halved"))
    for (model, how), places, _, _ in states(figure):
        p = scores[model][how]
        share, mean = calibration_curve(y, p, n_bins=10)
        n = np.histogram(p, np.linspace(0, 1, 11))[0]
        bars = [places[key] for key in sorted(key for key in places if isinstance(key, tuple))]
        areas = np.array([wide * abs(high) for _, _, wide, high in bars])
        expected = 400 * 258 / 1.06 * n[n > 0] / len(y) * (mean - share) ** 2
        assert areas == pytest.approx(expected, rel=0.02, abs=0.5)
        assert areas.sum() == pytest.approx(400 * 258 / 1.06 * two_parts(p, y)[0], rel=0.01)
        dots = [places[k] for k in sorted(k for k in places if isinstance(k, int))]
        assert [size for *_, size in dots] == pytest.approx(np.maximum((n[n > 0] / len(y)) ** 0.5, 0.1), abs=0.01)


def test_the_scores_of_all_models_stand_beside_the_groups(scored):
    scores, y = ways(scored)
    figure = reliability_explorer(scores, y, start=("other", "halved"))
    alone = brier_score_loss(y, np.full(len(y), y.mean()))
    assert f"{y.mean():.2f} for every patient, score {alone:.3f};<" in figure.panels[1].background
    for (_, how), frame in frames(figure):
        drawn = frame.scenes[1].drawing
        told = re.findall(r">(\d\.\d{3})<", drawn)
        assert told == [f"{brier_score_loss(y, scores[model][how]):.3f}" for model in scores]
        lengths = [float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', drawn)]
        parts = np.array([two_parts(scores[model][how], y) for model in scores])
        pieces = np.array(lengths).reshape(len(scores), 3)
        assert pieces[:, :2] / pieces[:, :2].sum() == pytest.approx(parts / parts.sum(), abs=1e-3)


def test_what_the_correction_does_to_each_score_is_told(scored):
    """By the paired test of SciPy over the splits, at twice the standard error."""
    scores, y = ways(scored)
    scores = {**scores, "just right": {"as it is": np.full(len(y), y.mean()), "halved": np.full(len(y), y.mean() / 2)}}
    scores["alike"] = {"as it is": scored[0], "halved": scored[0] ** np.where(np.arange(len(y)) % 80 < 40, 1.1, 0.9)}
    alone = brier_score_loss(y, np.full(len(y), y.mean()))
    scores["mended"] = {"as it is": 1 - scored[0], "halved": scored[0]}
    told = set()
    figure = reliability_explorer(scores, y, start=("other", "halved"))
    for (model, how), frame in frames(figure):
        losses = [
            [brier_score_loss(*part) for part in zip(np.split(y, 10), np.split(p, 10))] for p in scores[model].values()
        ]
        score, was = (brier_score_loss(y, scores[model][name]) for name in (how, "as it is"))
        if how == "as it is":
            assert f"{'worse' if score > alone else 'better'} than saying" in frame.sentence
        else:
            gap = ttest_rel(*reversed(losses)).statistic
            words = "about the same as" if abs(gap) <= 2 else "worse than" if gap > 0 else "better than"
            told.add(words)
            assert f"{words} before ({was:.3f})" in frame.sentence
            written = re.findall(r">was (\d\.\d{3})<", frame.scenes[1].drawing)
            assert written == [f"{brier_score_loss(y, of['as it is']):.3f}" for of in scores.values()]
        is_worst = model == figure.guess.answer
        assert frame.found == (0 if how == "as it is" else 1 if is_worst else 2 * (words != "better than"))
    assert told == {"about the same as", "worse than", "better than"}


def test_the_parts_are_told_before_and_after(scored):
    scores, y = ways(scored)
    for (model, how), frame in frames(reliability_explorer(scores, y, start=("other", "halved"))):
        told = [float(part) for part in re.findall(r"(?:part|was|apart,) (\d\.\d{3})", frame.sentence)]
        before, after = (two_parts(p, y) for p in scores[model].values())
        expected = before if how == "as it is" else [after[0], before[0], after[1], before[1]]
        assert told == pytest.approx(expected, abs=6e-4)


def test_each_group_tells_its_number_of_rows(scored):
    scores, y = ways(scored)
    for (model, how), frame in frames(reliability_explorer(scores, y, start=("other", "halved"))):
        n = np.histogram(scores[model][how], np.linspace(0, 1, 11))[0]
        assert [int(k) for k in re.findall(r">(\d+)</text>", frame.drawing)] == n[n > 0].tolist()


def test_two_parts_add_up_where_groups_are_single_probabilities(scored):
    p, y = np.minimum(scored[0].round(1), 0.9) + 0.02, scored[1]
    assert sum(two_parts(p, y)) == pytest.approx(brier_score_loss(y, p))


def test_a_threshold_has_its_point_on_both_curves(scored):
    p, y = scored
    picture = both_curves(p, y, {"one half": 0.5, "0.2": 0.2})
    dots = [tuple(map(float, dot)) for dot in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', picture.drawing)]
    for k, threshold in enumerate((0.5, 0.2)):
        called = p >= threshold
        recall, precision, across = recall_score(y, called), precision_score(y, called), called[~y].mean()
        expected = [(36 + 190 * across, 250 - 190 * recall), (284 + 190 * recall, 250 - 190 * precision)]
        assert np.array(dots[2 * k : 2 * k + 2]) == pytest.approx(np.array(expected), abs=0.01)
        assert f"rate is {across:.2f}, the recall {recall:.2f} and the precision {precision:.2f}." in picture.alt


def test_stairs_pool_the_labels_into_means_that_never_fall(melons):
    """By hand: in the order of the sugar the labels are 00000 100 1111010 11."""
    scores, is_ripe = melons
    picture = two_corrections(scores, is_ripe)
    assert "".join(str(int(is_ripe[m])) for m in scores.sort_values().index) == "00000" + "100" + "1111010" + "11"
    assert f"steps of {1 / 3:.2f} for 3 melons and {5 / 7:.2f} for 7 melons, and end at 1." in picture.alt
    stairs = re.findall(r'points="([^"]+)"', picture.drawing)[1].split()
    heights = [(250 - float(spot.split(",")[1])) / 190 for spot in stairs]
    assert heights == pytest.approx([0, 0, 1 / 3, 1 / 3, 5 / 7, 5 / 7, 1, 1], abs=1e-3)


def test_words_stay_in_their_picture(melons, scored, browser, tmp_path):
    scores, y = ways(scored)
    figures = [
        cut_explorer(*melons),
        threshold_explorer(*scored),
        reliability_explorer(scores, y, start=("one", "as it is")),
        pairs_grid(*melons),
        cost_lines(5, 1, {"clear": 7 / 9}),
        smoothing_curves(),
        both_curves(*scored, {"0.5": 0.5, "0.2": 0.2}),
        two_corrections(*melons),
    ]
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(write_page(tmp_path, [figure._repr_html_() for figure in figures]))
    assert page.evaluate(OUTSIDE) == []
    page.close()
