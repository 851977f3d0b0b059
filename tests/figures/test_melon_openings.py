"""The figures that move in the chapters on missing values, C4.5, CART and pruning: every state is treekit's."""

import itertools
import json
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from figures.c45 import BIT, price_explorer
from figures.cart import own_cuts, sliding_gini, sliding_squares, steps_explorer
from figures.melons import listed
from figures.missing_values import BAR_UNIT, SIDES, STAY, STEPS, WAIT, question_explorer, side_explorer
from figures.pruning import NO_LIMIT, alpha_explorer, cost_explorer, curve_explorer, regions_explorer
from tests.figures.judging import OF_LOOKS, OUTSIDE, turn, violations, write_page
from tests.figures.states import states
from treekit import CARTClassifier, CARTRegressor, cost_complexity_path, prune_cost_complexity
from treekit.datasets import load_watermelon
from treekit.measures import gain_ratio, gini, gini_index, information_gain, split_information
from treekit.models.c45 import C45Classifier
from treekit.pen.palette import RIPE, UNRIPE, class_color
from treekit.pruning.cut import cut as cut_tree

HELD_OUT = [4, 5, 8, 9, 11, 12, 13]
PRICES, HIGHER = ([k / 100 for k in range(end)] for end in (25, 31))
TEN = np.arange(1.0, 11.0), np.array([5.56, 5.70, 5.91, 6.40, 6.80, 7.05, 8.90, 8.70, 9.00, 9.05])


def whole_tree(melons):
    return CARTClassifier().fit(melons.drop(columns="ripe"), melons["ripe"]).tree_


@pytest.fixture(scope="module")
def gappy():
    return load_watermelon("2.0-alpha")


@pytest.fixture(scope="module")
def traps():
    melons = load_watermelon()
    return melons.drop(columns="ripe").assign(
        number=melons.index.astype(str), sticker=np.where(melons.index <= 2, "yes", "no")
    ), melons["ripe"]


@pytest.fixture(scope="module")
def numbers():
    return load_watermelon("3.0-alpha")


@pytest.fixture(scope="module")
def patients():
    """120 patients to grow from, and the others."""
    frame = load_diabetes(as_frame=True, scaled=False).frame.rename(columns={"s5": "triglycerides"})
    frame["course"] = np.where(frame["target"] > frame["target"].median(), "fast", "slow")
    some = frame.sample(120, random_state=0)
    return some, frame.drop(some.index)


@pytest.fixture(scope="module")
def irises():
    """Fifteen irises to grow from, and fifteen others."""
    thirty = load_iris(as_frame=True).data.sample(30, random_state=0)[["petal length (cm)", "sepal length (cm)"]]
    return thirty[:15], thirty[15:]


@pytest.fixture(scope="module")
def figures(gappy, traps, numbers, patients, irises):
    by_course, by_target = (
        [rows[columns] for rows in patients] for columns in (["bmi", "triglycerides", "course"], ["bmi", "target"])
    )
    return {
        "missing values": question_explorer(gappy, "ripe", "texture"),
        "c45": price_explorer(*traps, traps=["number", "sticker"]),
        "cart": own_cuts(numbers, "ripe", numbers.index.drop(HELD_OUT)),
        "pruning": alpha_explorer(numbers, "ripe", PRICES, start=0.2),
        "lines": cost_explorer(whole_tree(numbers), HIGHER),
        "gini": sliding_gini(numbers[["density", "ripe"]], "ripe", [0.3515, 0.3815, 0.7465]),
        "squares": sliding_squares(*TEN, "x", "y", [2.5, 4.5, 6.5]),
        "stairs": steps_explorer(*irises, [1, 3, 6, 9, 12]),
        "regions": regions_explorer(*by_course, "course"),
        "curve": curve_explorer(*by_target, "target"),
    }


def test_the_pieces_are_the_shares_that_treekit_sends(figures, gappy):
    y = gappy["ripe"]

    @cache
    def by_one_question(attribute):
        return C45Classifier("gain", confidence=None, min_samples_leaf=0, max_depth=1).fit(gappy[[attribute]], y)

    for (attribute, step), places, sentence, _ in states(figures["missing values"]):
        one = by_one_question(attribute)
        shares = one.tree_.membership(gappy[[attribute]]).toarray()
        by_branch = {str(node.branch): shares[:, node.id] for node in one.tree_.root.children.values()}
        branches = list(gappy[attribute].cat.categories)
        for row, known in gappy[attribute].notna().items():
            pieces = [places[row, m][2] ** 2 for m in range(len(branches)) if step == STEPS[2] and (row, m) in places]
            if step == STEPS[2] and not known:
                at = gappy.index.get_loc(row)
                assert pieces == pytest.approx([by_branch[branch][at] for branch in branches], abs=1e-6)
                assert row not in places  # only its pieces are left
            else:
                assert pieces == [] and row in places
        if step == STEPS[2]:
            weights = [places[f"weight {m}"][2] + places[f"poured {m}"][2] for m in range(len(branches))]
            assert weights == pytest.approx([by_branch[branch].sum() for branch in branches])
            assert sum(weights) == pytest.approx(17) and max(weights) * BAR_UNIT < 200
        if step == STEPS[1]:
            sizes = gappy[attribute].value_counts(sort=False)
            fallen = listed([f"{n} {answer}" for answer, n in sizes.items()])
            assert f"The {sizes.sum()} known melons lie in their branches: {fallen}." in sentence


def test_a_known_melon_lies_in_the_branch_of_its_answer(figures, gappy):
    for (attribute, step), places, _, _ in states(figures["missing values"]):
        answers = list(gappy[attribute].cat.categories)
        if step != STEPS[0]:
            for row, answer in gappy[attribute].dropna().items():
                assert int(places[row][0] / 400 * len(answers)) == answers.index(answer)


def test_the_known_melons_have_fallen_when_the_reader_guesses(figures):
    figure = figures["missing values"]
    opening = figure._frame_at([control.opens_index for control in figure.controls])
    places = dict(zip(figure.panels[0].marks, opening.scenes[0].places, strict=True))
    assert {row for row in range(1, 18) if places[row][1] < 30} == {8, 10}


def test_two_equal_pieces_are_found(figures, gappy):
    found = {attribute for (attribute, _), _, _, is_found in states(figures["missing values"]) if is_found}
    equal = {A for A in gappy.columns[:-1] if gappy[A].value_counts().duplicated().any()}
    assert found == equal == {"color", "umbilicus"}


def test_each_melon_pays_for_its_branch(figures, traps):
    X, y = traps
    best = max(X, key=lambda A: gain_ratio(X[A], y))
    for (attribute,), places, sentence, found in states(figures["c45"]):
        if attribute == "nothing yet":
            assert "price" not in places and not found
            continue
        column, ground = X[attribute], max(y + height * BIT for _, y, _, height in [places["price"]])
        bars = [place for key, place in places.items() if str(key).startswith("price ")]
        assert len(bars) == column.nunique()
        paid = []
        for row, value in column.items():
            _, top, _, price = next(bar for bar in bars if bar[0] <= places[row][0] <= bar[0] + bar[2])
            assert price == pytest.approx(np.log2(17 / (column == value).sum()))
            assert places[row][1] < top == pytest.approx(ground - BIT * price)  # it stands on its bar
            paid.append(price)
        assert np.mean(paid) == pytest.approx(split_information(column)) == pytest.approx(places["price"][3])
        assert places["gain"][3] == pytest.approx(information_gain(column, y))
        assert f": {gain_ratio(column, y):.3f} for each bit paid." in sentence
        assert found == (attribute == best)


def test_the_cuts_of_cart_classify_as_its_tree_does(figures, numbers):
    figure, train = figures["cart"], numbers.drop(HELD_OUT)
    tree = CARTClassifier(max_depth=2).fit(train.drop(columns="ripe"), train["ripe"])
    wrong = {
        row
        for row, says in zip(numbers.index, tree.predict(numbers.drop(columns="ripe")))
        if says != numbers["ripe"][row]
    }
    rest = tuple(control.values[control.start_index] for control in figure.controls)
    shown = {values: (places, sentence) for values, places, sentence, _ in states(figure)}
    places, sentence = shown[rest]
    assert rest == pytest.approx(tuple(tree.tree_.threshold[[0, 2]]))
    assert {key for key in places if str(key).startswith("wrong")} == {f"wrong {row}" for row in wrong}
    assert sentence.startswith("Your cuts classify 9 of 10 training melons and 5 of 7 test melons correctly.")


def test_the_regions_say_what_most_of_their_training_melons_say(figures, numbers):
    train = numbers.drop(HELD_OUT)
    for (density, sugar), places, sentence, found in states(figures["cart"]):
        where = np.where(numbers["density"] <= density, 0, np.where(numbers["sugar"] <= sugar, 1, 2))
        says = {}
        for m in range(3):
            votes = train["ripe"][where[numbers.index.isin(train.index)] == m]
            kinds = [k for k in range(2) if f"region {m} {k}" in places]
            assert len(kinds) == 1
            says[m] = kinds[0]
            if len(votes):
                assert kinds[0] == (np.mean(votes == "yes") > 0.5)
        right = [says[m] == (label == "yes") for m, label in zip(where, numbers["ripe"])]
        counts = [sum(r for r, row in zip(right, numbers.index) if (row in HELD_OUT) == held) for held in (False, True)]
        assert f"classify {counts[0]} of 10 training melons and {counts[1]} of 7 test" in sentence
        assert found == (counts[0] >= 9 and counts[1] > 5)
    assert sum(found for *_, found in states(figures["cart"])) == 1


def test_the_melons_lie_together_where_apply_says(figures, numbers):
    X, full = numbers.drop(columns="ripe"), whole_tree(numbers)
    for (price,), places, sentence, _ in states(figures["pruning"]):
        pruned = prune_cost_complexity(full, price)
        groups = [sorted(rows) for rows in X.groupby(np.asarray(pruned.apply(X))).groups.values()]
        assert len(places) == 17
        for rows in groups:  # a leaf is two lines of melons, at most 22.5 pixels apart
            xs, ys = zip(*(places[row] for row in rows))
            assert max(ys) - min(ys) <= 22.5 and max(xs) - min(xs) <= 22.5 * (len(rows) + 1) / 2
        wrong = round(17 * (1 - pruned.score(X, numbers["ripe"])))
        assert f"{pruned.n_leaves} lea" in sentence and f"wrong about {wrong} of the 17" in sentence
    prices = [values[0] for values, _, _, found in states(figures["pruning"]) if found]
    assert prices == [next(price for price in PRICES if price >= cost_complexity_path(full).ccp_alphas[1])]


def test_the_scale_shows_leaves_and_errors_and_where_they_change(figures, numbers):
    X, full, figure = numbers.drop(columns="ripe"), whole_tree(numbers), figures["pruning"]
    marks, path = list(figure.panels[1].marks), cost_complexity_path(full).ccp_alphas
    seen = {}
    for price, frame in zip(PRICES, figure.frames, strict=True):
        tree, scene = prune_cost_complexity(full, price), frame.scenes[1]
        places = dict(zip(marks, scene.places, strict=True))
        for name, value in (("leaves", tree.n_leaves), ("wrong", 17 * (1 - tree.score(X, numbers["ripe"])))):
            assert seen.setdefault((name, round(value)), places[name][1]) == places[name][1]
        assert re.findall(r">(0\.\d{3})<", scene.drawing) == [f"{a:.3f}" for a in path[1:] if a <= price]
    for name in ("leaves", "wrong"):  # more of either stands higher
        values = sorted(value for which, value in seen if which == name)
        assert [seen[name, value] for value in values] == sorted((seen[name, v] for v in values), reverse=True)


def test_the_path_is_told_as_far_as_it_goes(figures):
    paths = [sentence.rpartition(": ")[2] for *_, sentence, _ in states(figures["pruning"])]
    assert list(dict.fromkeys(paths)) == ["5.", "5, 3.", "5, 3, 2.", "5, 3, 2, 1."]


def test_a_line_is_drawn_for_every_pruned_subtree(figures, numbers):
    tree = whole_tree(numbers)
    inner = np.flatnonzero(~tree.is_leaf)
    parts = [cut_tree(tree, nodes) for size in range(len(inner) + 1) for nodes in itertools.combinations(inner, size)]
    risks = [(part.weight * part.impurity)[part.is_leaf].sum() / 17 for part in parts]
    subtrees = {(round(risk, 9), part.n_leaves) for risk, part in zip(risks, parts)}
    path = cost_complexity_path(tree)
    pale = len(subtrees - set(zip(path.impurities.round(9), path.n_leaves)))
    panel = figures["lines"].panels[0]
    assert pale == len(subtrees) - len(path.n_leaves) == 3
    assert panel.background.count('stroke-opacity="0.35"') == pale and f"the {pale} other pruned subtrees" in panel.alt
    assert 'class="answer"' in panel.background  # the lines wait for the guess


def test_the_ring_is_on_the_tree_that_pruning_leaves(figures, numbers):
    full = whole_tree(numbers)
    path, found = cost_complexity_path(full), []
    for (price,), places, sentence, is_found in states(figures["lines"]):
        pruned = prune_cost_complexity(full, price)
        k = list(path.n_leaves).index(pruned.n_leaves)
        cost = path.impurities + price * path.n_leaves
        assert cost[k] == pytest.approx(cost.min()) and places["least"] == places[k]
        assert f"× {pruned.n_leaves} = {cost[k]:.3f}." in sentence
        heights = {j: places[j][1] for j in range(len(cost)) if j in places}
        assert sorted(heights, key=heights.get) == sorted(heights, key=lambda j: (-cost[j].round(9), heights[j]))
        found.append(is_found)
    assert [price for price, is_found in zip(HIGHER, found) if is_found] == [
        next(price for price in HIGHER if price >= path.ccp_alphas[-1])
    ]


def test_the_curve_of_the_sliding_cut_is_the_gini_index(figures, numbers):
    figure = figures["gini"]
    best = CARTClassifier(max_depth=1).fit(numbers[["density"]], numbers["ripe"]).tree_.threshold[0]
    before, per_pixel = gini(numbers["ripe"]), None
    for (cut,), places, sentence, found in states(figure):
        index = gini_index(numbers["density"] <= cut, numbers["ripe"])
        assert f"= {index:.3f} is left." in sentence
        per_pixel = per_pixel or (before - index) / places["gain"][3]
        assert places["gain"][3] * per_pixel == pytest.approx(before - index, abs=1e-3)
        assert found == (cut == pytest.approx(best))
    assert figure.frames[0].sentence.endswith("0.471, at 0.244.")  # the curve has only begun
    assert figure.start_frame.sentence.endswith(
        f"{gini_index(numbers['density'] <= best, numbers['ripe']):.3f}, at 0.3815."
    )


def test_the_cells_of_the_square_are_the_pairs_of_unlike_melons(figures, numbers):
    panel = figures["gini"].panels[0]
    in_order = numbers.sort_values("density")["ripe"].to_numpy()
    [(boxes, size)] = re.findall(r'<path d="([^"]*)" fill-opacity[^>]*scale\(([\d.]+)\)', panel.background)
    cell = 352 / 17
    assert float(size) == pytest.approx(cell, abs=0.01)
    drawn = {
        (int(i), j)
        for start, i, end in re.findall(r"M(\d+),(\d+)H(\d+)v1H", boxes)
        for j in range(int(start), int(end))
    }
    assert drawn == {(i, j) for i, a in enumerate(in_order) for j, b in enumerate(in_order) if a != b}
    for ((cut,), places, _, _), frame in zip(states(figures["gini"]), figures["gini"].frames, strict=True):
        n = int((numbers["density"] <= cut).sum())
        for k, (name, side) in enumerate((("left", in_order[:n]), ("right", in_order[n:]))):
            differ = sum(a != b for a in side for b in side)
            assert f"{name}: {differ}/{len(side) ** 2} = {gini(side):.3f}<" in frame.scenes[0].parts[0]
            across = [places[f"veil {k}"][2] / cell, places[f"veil {k}"][3] / cell]
            assert sorted(across) == pytest.approx(sorted([n, 17 - n]))  # what is not in a side's block is veiled


def test_the_lines_to_the_means_are_the_errors(figures):
    x, y = TEN
    best = CARTRegressor(max_depth=1).fit(x[:, None], y).tree_.threshold[0]
    per_pixel = None
    for (cut,), places, sentence, found in states(figures["squares"]):
        predicted = np.where(x <= cut, y[x <= cut].mean(), y[x > cut].mean())
        lengths = np.array([places[f"residual {i}"][3] for i in range(10)])
        per_pixel = per_pixel or abs(y - predicted).sum() / lengths.sum()
        assert lengths * per_pixel == pytest.approx(abs(y - predicted), abs=1e-6)
        assert f"= {((y - predicted) ** 2).mean():.3f} is left." in sentence
        assert found == (cut == best)


def test_the_stairs_are_found_where_the_held_out_rows_are_missed_least(figures, irises):
    errors, found, per_pixel = [], [], None
    for (n_leaves,), places, sentence, is_found in states(figures["stairs"]):
        limit = {"max_depth": 0} if n_leaves == 1 else {"max_leaf_nodes": n_leaves}
        tree = CARTRegressor(**limit).fit(irises[0].iloc[:, :1], irises[0].iloc[:, 1])
        away = [tree.predict(rows.iloc[:, :1]) - rows.iloc[:, 1] for rows in irises]
        seen, new = ((part**2).mean() for part in away)
        assert f"is {seen:.3f} on the 15 training rows and {new:.3f} on the 15 held out." in sentence
        lengths = np.array([places[f"residual {i}"][3] for i in range(30)])
        per_pixel = per_pixel or np.abs(np.concatenate(away)).sum() / lengths.sum()
        assert lengths * per_pixel == pytest.approx(np.abs(np.concatenate(away)), abs=1e-6)
        errors.append(new)
        found.append(is_found)
    assert found == [error == min(errors) for error in errors] and 0 < found.index(True) < len(found) - 1


def traced(places):
    """How high the marks of the losses on the training rows and on the new ones stand, in one chart."""
    return [places[name][1] for name in ("seen", "new")]


def in_single_leaves(tree, some, others, columns):
    """The leaves of a single row, how many other rows lie there, and how many of these a tree classifies wrongly."""
    here, there = (pd.Series(tree.tree_.apply(rows[columns]), rows.index) for rows in (some, others))
    single = here.value_counts().loc[lambda n: n == 1].index
    inside = others[there.isin(single)]
    return (
        len(single),
        len(inside),
        int((tree.predict(inside[columns]) != inside["course"]).sum()) if len(inside) else 0,
    )


def test_wrong_rows_are_marked_and_the_end_of_the_strips_is_found(figures, patients):
    some, others = patients
    figure, columns = figures["regions"], ["bmi", "triglycerides"]
    found, traces, singles = [], [], []
    for ((depth,), places, sentence, is_found), frame in zip(states(figure), figure.frames, strict=True):
        tree = CARTClassifier(max_depth=None if depth == NO_LIMIT else depth)
        tree.fit(some[columns], some["course"])
        n_single, n_new, n_wrong = in_single_leaves(tree, some, others, columns)
        _, above, _, below, *marked, _ = frame.scenes[0].parts  # regions and outlines of both maps, and what is wrong
        assert [drawn.count("M") for drawn in (above, below)] == [n_single] * 2
        assert (f"of the {n_new} new ones there {n_wrong} are wrong." in sentence) == (n_single > 0)
        singles.append(n_single)
        for rows, drawn, height in zip(patients, marked, traced(places), strict=True):
            wrong = int((tree.predict(rows[columns]) != rows["course"]).sum())
            dots = re.findall(r'd="([^"]*)"[^>]*stroke-width="([\d.]+)"', drawn)
            in_outlines = n_single and rows is others
            told = f"wrong: {n_wrong} of {n_new} in outlines, {wrong} in all" if in_outlines else f"{wrong} wrong"
            assert f">{told}<" in drawn
            assert sum(d.count("h0") for d, width in dots if width == "9.5") == wrong
            # The rows in outlined leaves are there, whether they are wrong or not.
            right = n_new - n_wrong if in_outlines else n_single
            assert sum(d.count("h0") for d, width in dots if width == "6") == wrong + right
            assert f"{wrong / len(rows):.0%}" in sentence
            traces.append((wrong / len(rows), height))
        found.append(is_found)
    none_left = singles.index(0)
    assert found == [1 if k == none_left else 2 * (k == len(found) - 1) for k in range(len(found))]
    # Playing begins where the figure opens, without a limit, and traces both errors.
    (depths,) = figure.controls
    assert depths.opens_index == 0
    n_leaves = [int(re.match(r"\d+", frame.sentence)[0]) for frame in figure.frames]
    assert n_leaves == sorted(n_leaves, reverse=True)
    n_traced = [frame.scenes[0].parts[-1].count("<circle") for frame in figure.frames]
    assert n_traced == [2 * k for k in range(1, len(n_traced) + 1)]
    heads = [f"{len(rows)} {name} rows" for rows, name in zip(patients, ("training", "new"), strict=True)]
    assert all(head in figure.panels[0].background for head in heads)
    shares, heights = zip(*traces)  # one scale for both lines
    assert np.corrcoef(shares, heights)[0, 1] == pytest.approx(-1)


def test_the_curve_misses_the_new_rows_least_where_it_is_found(figures, patients):
    some, figure = patients[0], figures["curve"]
    errors, found, traces = [], [], []
    for (least,), places, sentence, is_found in states(figure):
        tree = CARTRegressor(min_samples_leaf=least).fit(some[["bmi"]], some["target"])
        seen, new = (((tree.predict(rows[["bmi"]]) - rows["target"]) ** 2).mean() for rows in patients)
        assert f"{seen:.0f} on the 120 training rows, {new:.0f} on the 322 new ones." in sentence
        traces += zip((seen, new), traced(places), strict=True)
        errors.append(new)
        found.append(is_found)
    assert found == [error == pytest.approx(min(errors)) for error in errors] and sum(found) == 1
    assert 0 < found.index(True) < len(found) - 1 and tree.tree_.n_leaves == 1  # the last is the mean of all
    assert np.corrcoef(*zip(*traces))[0, 1] == pytest.approx(-1)


def test_the_answers_to_the_guesses_are_those_of_treekit(figures, traps, gappy, numbers, patients):
    def right(name):
        return [value for value in figures[name].guess.values if "that is right" in figures[name].guess.verdict(value)]

    X, y = traps
    ratio = {A: gain_ratio(X[A], y) for A in X}
    assert ratio["number"] < ratio["texture"] < ratio["sticker"] and right("c45") == ["the number"]
    cut = CARTClassifier(max_depth=1).fit(numbers[["density"]], numbers["ripe"]).tree_.threshold[0]
    below, above = (numbers["density"][at] for at in (numbers["density"] <= cut, numbers["density"] > cut))
    assert right("gini") == [f"{below.idxmax()} and {above.idxmin()}"]
    assert right("squares") == [CARTRegressor(max_depth=1).fit(TEN[0][:, None], TEN[1]).tree_.threshold[0]]
    assert right("stairs") == [values[0] for values, *_, found in states(figures["stairs"]) if found]
    full = CARTClassifier().fit(numbers.drop(columns="ripe"), numbers["ripe"]).tree_
    assert right("pruning") == [len(cost_complexity_path(full).ccp_alphas) - 1] and right("lines") == [
        "at a higher one"
    ]
    clear = (gappy["texture"].dropna() == "clear").mean()
    assert 5 / 12 < clear < 3 / 4 and right("missing values") == ["about half"]
    some, others = patients
    columns = ["bmi", "triglycerides"]
    full = CARTClassifier().fit(some[columns], some["course"])
    assert right("regions") == [in_single_leaves(full, some, others, columns)[2]]


def test_ripe_looks_the_same_in_every_figure(figures, numbers):
    ripe = dict(numbers["ripe"])
    for name in ("missing values", "c45", "pruning"):
        for row, mark in figures[name].panels[0].marks.items():
            if isinstance(row, (int, np.integer)):
                color, other = (RIPE, UNRIPE) if ripe[row] == "yes" else (UNRIPE, RIPE)
                assert class_color(color) in mark and class_color(other) not in mark


# In the browser


@pytest.fixture(scope="module")
def page_of_figures(figures, tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("openings"), [figure._repr_html_() for figure in figures.values()])


#: Moves every control by one step, a choice around.
MOVE_ON = """() => {
    for (const slider of document.querySelectorAll(".explorable-board [type=range]")) {
        slider.stepUp();
        for (const kind of ["input", "change"]) slider.dispatchEvent(new Event(kind));
    }
    for (const choice of document.querySelectorAll(".explorable-board fieldset")) {
        const all = [...choice.querySelectorAll("input")];
        all[(all.findIndex(input => input.checked) + 1) % all.length].click();
    }
}"""


def test_words_are_readable_and_axe_finds_nothing(browser, page_of_figures):
    sizes = """[...document.querySelectorAll("svg text")].filter(text => text.textContent).map(
        text => parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getScreenCTM().a)"""
    looks = list(itertools.product([1280, 390], ["light", "dark"]))
    with browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(page_of_figures)
        page.get_by_role("button", name="Skip the guess").evaluate_all("all => all.forEach(button => button.click())")
        assert not page.locator(".guessing").count()
        for _ in range(3):
            before = page.locator("output").all_inner_texts()
            for width, theme in looks:
                page.set_viewport_size({"width": width, "height": 800})
                turn(page, theme)
                assert page.evaluate(OUTSIDE) == [], (width, theme)
                assert min(page.evaluate(sizes)) >= 11, (width, theme)
            page.evaluate(MOVE_ON)
            assert page.locator("output").all_inner_texts() != before
        for width, theme in looks:
            page.set_viewport_size({"width": width, "height": 800})
            turn(page, theme)
            assert violations(page, OF_LOOKS if (width, theme) != looks[0] else None) == [], (width, theme)


#: The words of a picture that run into each other. The numbers of melons may: the melons themselves touch.
TOUCHING = """[...document.querySelectorAll("svg")].flatMap(svg => {
    const shown = text => /[^\\d]/.test(text.textContent) && !text.closest("[style*='opacity:0']");
    const all = [...svg.querySelectorAll("text")].filter(shown);
    const boxes = all.map(text => text.getBoundingClientRect());
    return all.flatMap((text, i) => all.slice(i + 1).filter((_, k) => {
        const a = boxes[i], b = boxes[i + 1 + k];
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        return wide > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
    }).map(other => `${text.textContent} | ${other.textContent}`));
})"""


def test_no_words_run_into_others_in_a_wide_face(browser, page_of_figures):
    with browser.new_context(viewport={"width": 390, "height": 800}, reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(page_of_figures)
        page.add_style_tag(content="svg { font-family: 'DejaVu Sans', Verdana, sans-serif }")
        page.get_by_role("button", name="Skip the guess").evaluate_all("all => all.forEach(button => button.click())")
        for _ in range(6):
            assert page.evaluate(TOUCHING) == []
            page.evaluate(MOVE_ON)


def test_the_corner_of_the_cuts_is_dragged_and_the_melons_travel(browser, page_of_figures, figures):
    with browser.new_context(viewport={"width": 1000, "height": 900}, reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(page_of_figures)
        figure = page.locator("figure").filter(has_text="Your cuts against CART")
        svg = figure.locator("svg")
        svg.scroll_into_view_if_needed()
        data = json.loads(figure.locator("script").text_content())
        (x, _), (_, y) = data["controls"][0]["points"][1], data["controls"][1]["points"][1]
        to_window = (
            "(svg, [x, y]) => { const p = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()); return [p.x, p.y]; }"
        )
        page.mouse.move(*svg.evaluate(to_window, [300, 80]))
        page.mouse.down()
        page.mouse.move(*svg.evaluate(to_window, [x, y]))
        page.mouse.up()
        assert "9 of 10 training melons and 6 of 7" in figure.locator("output").inner_text()
        assert figure.locator(".explorable-found").inner_text() == "✓ Found."

        leaf = page.locator("figure").filter(has_text=re.compile("What is a leaf worth"))
        leaf.get_by_role("button", name="Skip the guess").click()
        leaf.get_by_role("slider").press("End")
        keys = list(figures["pruning"].panels[0].marks)
        for key, place in zip(keys, figures["pruning"].frames[-1].scenes[0].places, strict=True):
            at = leaf.locator(f'[data-key="{key}"]').evaluate(
                "mark => { const m = new DOMMatrix(getComputedStyle(mark).transform); return [m.e, m.f]; }"
            )
            assert at == pytest.approx(place, abs=0.01)


def test_a_tap_on_a_ring_pours_the_melon_and_takes_it_back(browser, page_of_figures):
    with browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True) as context:
        page = context.new_page()
        page.goto(page_of_figures)
        figure = page.locator("figure").filter(has_text="that cannot answer")
        figure.get_by_role("button", name="Skip the guess").click()
        ring = figure.locator("[data-choose] circle").first
        output = figure.locator("output")
        assert "No branch yet" in output.inner_text()
        ring.tap()
        assert "are each divided" in output.inner_text()
        ring.tap()
        assert "No branch yet" in output.inner_text()


def test_two_melons_try_both_sides_and_stay_where_the_gain_is_higher():
    sugar = pd.Series([0.05, 0.10, 0.15, 0.20, 0.25, 0.30, np.nan, np.nan], index=range(1, 9))
    ripe = pd.Series([False, False, False, True, True, False, True, True], index=sugar.index)
    figure = side_explorer(sugar, ripe)
    gains = {}
    for (t, gaps), places, sentence, _ in states(figure):
        sides = {side: information_gain((sugar <= t) | (sugar.isna() & (side == "left")), ripe) for side in SIDES}
        gains |= {(t, side): gain for side, gain in sides.items()}
        if gaps == WAIT:
            assert "ring" not in places
            continue
        side = max(sides, key=sides.get) if gaps == STAY else gaps
        assert all((places[row][0] > places["cut"][0]) == (side == "right") for row in (7, 8))
        assert f"{sides[side]:.3f}" in sentence and sentence.endswith(f"on the {side}.") == (gaps == STAY)
    best = max(gains, key=gains.get)
    found = {values for values, *_, found in states(figure) if found}
    assert found == {best, (best[0], STAY)}
    right = sum(gains[t, "right"] > gains[t, "left"] for t in {t for t, _ in gains})
    assert figure.guess.answer == right
