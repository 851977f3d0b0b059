"""Figures that move: what Python prints, and what the script makes of it in a real browser."""

import contextlib
import itertools
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from figures.charts import Chart
from figures.cover import falling_melons, frontier, grown, lay_out, levels_of
from figures.entropy import entropy_explorer
from figures.explorable import Choice, Explorable, Panel, Slider
from figures.id3 import split_explorer
from figures.introduction import lunch_explorer
from tests.figures.judging import OF_LOOKS, OUTSIDE, turn, violations, write_page
from treekit.datasets import load_watermelon
from treekit.measures import conditional_entropy, entropy
from treekit.models.id3 import ID3Classifier
from treekit.pen.palette import CLASS_COLORS, class_color
from treekit.pen.svg import number, text

BOOK = Path(__file__).resolve().parents[2] / "book"


def small(**changes):
    """A figure of two controls whose sentences name their place."""
    settings = dict(
        title="Dots & </script> <!-- signs",
        alt='A "dot" < a circle',
        size=(480, 60),
        background='<path d="M0,50h480" stroke="currentColor"/>',
        controls=[Slider("How far", [0, 10, 20], start=10, show="{} m"), Choice("Which way", ["left", "right"])],
        frame=lambda far, way: (
            [f'<circle cx="{far + 20}" cy="30" r="9"/>'],
            f"{far} m to the {way} </script> <!--.",
            {},
        ),
        challenge="Can you move it?",
    )
    return Explorable(**{**settings, **changes})


def data_of(page):
    """The data that the script reads, from the printed page of a figure."""
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)[1])


# What Python prints


def test_the_same_figure_prints_the_same_page():
    assert small()._repr_html_() == small()._repr_html_()
    assert repr(small(title="Dots")) == "Explorable('Dots', 6 frames)"


def test_frames_are_in_the_order_in_which_the_script_counts():
    data = data_of(small()._repr_html_())
    sentences = [sentence for sentence, *_ in data["frames"]]
    places = itertools.product([0, 10, 20], ["left", "right"])
    assert sentences == [f"{far} m to the {way} </script> <!--." for far, way in places]
    slider = {"kind": "slider", "label": "How far", "start": 1, "opens": 1, "values": ["0 m", "10 m", "20 m"]}
    assert data["controls"][0] == slider


def test_a_changed_frame_is_one_changed_line():
    """A notebook stores HTML line by line, so a diff names the frames that have changed."""

    def lines(last):
        def frame(far, way):
            return ["<g/>"], last if (far, way) == (20, "right") else f"{far} m to the {way}.", {}

        return small(frame=frame)._repr_html_().splitlines()

    changed = [(one, other) for one, other in zip(lines("Here."), lines("There."), strict=True) if one != other]
    assert changed == [('["Here.",0,[[0],[]]]', '["There.",0,[[0],[]]]')]


def test_equal_parts_are_stored_once():
    figure = small(frame=lambda far, way: (["<g/>", f"<circle r='{far}'/>"], f"{way}.", {}))
    data = data_of(figure._repr_html_())
    assert data["parts"] == ["<g/>", "<circle r='0'/>", "<circle r='10'/>", "<circle r='20'/>"]
    assert [scene[0] for _, _, scene in data["frames"]] == [[0, 1], [0, 1], [0, 2], [0, 2], [0, 3], [0, 3]]
    assert "<g class=\"frame\"><g/><circle r='10'/></g>" in figure._repr_html_()


def walking(**changes):
    """Two marks: one walks along a line, the other is there only at its end, swollen and faint."""
    places = {0: {"a": (20, 30)}, 10: {"a": (120, 30, 2)}, 20: {"a": (220, 30), "b": (300, 30, 1, 2, 0.5)}}
    settings = dict(
        title="Walking",
        marks={"a": '<circle r="9"/>', "b": '<rect x="-5" y="-5" width="10" height="10" data-choose="right"/>'},
        controls=[
            Slider("Along", [0, 10, 20], start=10, opens=0, points=[(20, 30), (120, 30), (220, 30)]),
            Choice("Where to", ["left", "right"]),
        ],
        frame=lambda far, way: ([""], f"{far}, {way}.", places[far]),
        found=lambda far, way: far == 10 and way == "left",
        challenge="Find ten.",
    )
    return small(**{**settings, **changes})


def test_a_mark_is_printed_once_and_placed_in_every_frame():
    page = walking()._repr_html_()
    assert page.count('<circle r="9"/>') == 1
    assert '<g class="traveller" data-key="a" style="transform:translate(120px,30px) scale(2,2);opacity:1">' in page
    assert '<g class="traveller" data-key="b" style="opacity:0">' in page  # not there at rest
    scenes = [scene for _, _, scene in data_of(page)["frames"]]
    assert scenes[0] == [[0], [[20, 30], None]] and scenes[-1] == [[0], [[220, 30], [300, 30, 1, 2, 0.5]]]
    assert [found for _, found, _ in data_of(page)["frames"]] == [0, 0, 1, 0, 0, 0]


def test_the_figure_at_rest_is_the_start_frame():
    assert small().start_frame[1].startswith("10 m to the left")
    page = small()._repr_html_()
    assert '<g class="frame"><circle cx="30" cy="30" r="9"/></g>' in page
    assert "<input" not in page and "<button" not in page


def test_words_are_escaped():
    page = small()._repr_html_()
    assert page.count("<script") == page.count("</script>") == 1
    assert "<!--" not in page
    assert "Dots &amp; &lt;/script&gt;" in page
    assert """aria-label='A "dot" &lt; a circle'""" in page
    assert text(0, 1.234, "a < b", text_anchor="end") == '<text x="0" y="1.23" text-anchor="end">a &lt; b</text>'


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Slider("p", [0.1, 0.2], start=0.3), ValueError, "start of 'p' must be one of its values, got 0.3"),
        (lambda: Choice("way", ["left"]), ValueError, "values of 'way'"),
        (lambda: small(controls=[]), ValueError, "controls"),
        (
            lambda: small(frame=lambda far, way: (["<g/>"], "No places.")),
            TypeError,
            "frame must return parts, a sentence",
        ),
        (
            lambda: small(frame=lambda far, way: ("<g/>", "A drawing.", {})),
            TypeError,
            "frame must return SVG as a list",
        ),
        (lambda: Slider("p", [1, 2], opens=3), ValueError, "opens of 'p' must be one of its values, got 3"),
        (lambda: Choice("p", [1, 2], answer=3), ValueError, "answer of 'p' must be one of its values, got 3"),
        (lambda: Slider("p", [1, 2], points=[(0, 0)]), ValueError, "points of 'p': one for each of 2 values, got 1"),
        (lambda: small(frame=lambda far, way: ([], "", {8: (0, 0)})), ValueError, "marks: the frame places [8]"),
        (lambda: small(guess=Choice("p", [1, 2])), ValueError, "guess 'p': its verdict needs an answer and a truth"),
        (lambda: small(found=lambda far, way: True), ValueError, "found: the challenge is met before"),
        (lambda: falling_melons(load_watermelon("2.0-alpha"), "ripe"), ValueError, "melons must have no missing"),
        (
            lambda: split_explorer(load_watermelon("2.0-alpha"), "ripe", "stem"),
            ValueError,
            "frame must have no missing",
        ),
    ],
)
def test_errors_name_the_argument(make, error, words):
    with pytest.raises(error, match=re.escape(words)):
        make()


def test_numbers_are_short():
    assert [number(v) for v in (3, 2.5, 1 / 3, -0.001, -1.25, 100.0)] == ["3", "2.5", "0.33", "0", "-1.25", "100"]


def test_a_chart_maps_data_to_pixels():
    chart = Chart((0, 10), (0, 1), (50, 20, 250, 120))
    assert (chart.x(0), chart.x(10), chart.y(0), chart.y(1)) == (50, 250, 120, 20)


@pytest.mark.parametrize("page", ["#ffffff", "#14181e", "#121212"])
def test_class_colors_read_on_light_and_dark_pages(page):
    """Graphics need a contrast of 3 : 1 (WCAG 2.2, 1.4.11)."""

    def luminance(color):
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for color in CLASS_COLORS:
        low, high = sorted([luminance(color), luminance(page)])
        assert (high + 0.05) / (low + 0.05) >= 3, color


def test_class_colors_repeat():
    assert class_color(1) == class_color(7) == f"var(--treekit-class-1, {CLASS_COLORS[1]})"


ONE_TO_THREE = dict(values=[1, 2, 3], answer=2, truth="it is 2")


@pytest.mark.parametrize(
    ("guess", "verdicts"),
    [
        (
            Slider("How far?", **ONE_TO_THREE),
            [
                "You guessed 1, too low by 1; it is 2.",
                "You guessed 2, and that is right: it is 2.",
                "You guessed 3, too high by 1; it is 2.",
            ],
        ),
        (
            Choice("Which?", ["one", "other", "both"], answer={"one", "other"}, truth="one or other"),
            [
                "You guessed “one”, and that is right: one or other.",
                "You guessed “other”, and that is right: one or other.",
                "You guessed “both”. No: one or other.",
            ],
        ),
        (
            Slider("How much?", [0.1, 0.2], answer=0.2, show="{:.2f} bits", truth=lambda v: f"it is {3 - v:.1f} more"),
            ["You guessed 0.10 bits. No: it is 2.9 more.", "You guessed 0.20 bits, and that is right: it is 2.8 more."],
        ),
        (
            Choice("At which depth?", [1, 6, "none"], answer={1, "none"}, truth="at 1 or none"),
            [
                "You guessed 1, and that is right: at 1 or none.",
                "You guessed 6, too high by 5; at 1 or none.",
                "You guessed “none”, and that is right: at 1 or none.",
            ],
        ),
    ],
)
def test_a_guess_is_judged_in_words(guess, verdicts):
    asked = data_of(small(guess=guess)._repr_html_())["guess"]
    assert asked["verdicts"] == verdicts and asked["opens"] == -1 and "start" not in asked


def stored_figures():
    """Every figure that moves in a chapter, as its page is stored."""
    for path in sorted(BOOK.glob("*.ipynb")):
        for index, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            for output in cell.get("outputs", []):
                page = "".join(output.get("data", {}).get("text/html", ""))
                if 'class="explorable"' in page:
                    yield pytest.param(page, id=f"{path.stem}-{index}")


def sizes_of_words(node, inherited=15.0):
    """The size of each word in a drawing."""
    size = float(node.get("font-size", inherited))
    yield from [size] if node.tag == "text" and node.text else []
    for child in node:
        yield from sizes_of_words(child, size)


@pytest.mark.parametrize("page", list(stored_figures()))
def test_every_stored_frame_is_sound_svg_inside_its_picture(page):
    """And its words read on a phone of 390 pixels, which leaves 358 to a drawing."""
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', page).groups())
    data = data_of(page)
    assert [sentence for sentence, *_ in data["frames"] if not sentence.endswith(".")] == []
    # The marks stand last in a picture, in pixels of their own.
    picture = re.search(r"<svg.*?(?=\n<g class=.traveller|</svg>)", page, re.DOTALL)[0] + "</svg>"
    marks = re.findall(r"^<g class=.traveller.*?</g>(?=\n|</svg>)", page, re.MULTILINE)
    parts = [f"<g>{part}</g>" for part in data["parts"]]
    words = [size for drawing in (picture, *marks, *parts) for size in sizes_of_words(ElementTree.fromstring(drawing))]
    assert len(words) > 5 and min(words) * 358 / width >= 11
    for drawing in (picture, *parts):
        top = ElementTree.fromstring(drawing)
        for node in top.iter():
            for name, most in dict(x=width, cx=width, y=height, cy=height).items():
                assert -1 <= float(node.get(name, 0)) <= most + 1, (node.tag, node.attrib)
            sizes = [] if node is top else [float(node.get(name, 0)) for name in ("width", "height")]
            assert all(size >= 0 for size in sizes), (node.tag, node.attrib)
    for place in (place for _, _, (_, places), *_ in data["frames"] for place in places if place):
        assert 0 <= place[0] <= width and 0 <= place[1] <= height, place


@pytest.mark.parametrize("page", list(stored_figures()))
def test_every_stored_figure_is_small_and_opens_before_its_answer(page):
    assert len(page.encode()) < 60_000
    data = data_of(page)
    values = itertools.product(*(range(len(control["values"])) for control in data["controls"]))
    found = {at for at, (_, is_found, *_) in zip(values, data["frames"], strict=True) if is_found}
    assert tuple(control["opens"] for control in data["controls"]) not in found
    assert found or "Do they ever change places?" in page  # the one challenge that no state meets
    if data["guess"]:
        right = [", and that is right: " in verdict for verdict in data["guess"]["verdicts"]]
        assert len(right) == len(data["guess"]["values"]) and any(right) and not all(right)


def test_the_challenges_can_be_met():
    frames = lunch_explorer().frames
    right = [frame.sentence for frame in frames if "12 of 12" in frame.sentence]
    assert [frame.sentence for frame in frames if frame.found] == right
    assert right == [f"At most {far} m and 20 yuan: right for 12 of 12 dishes." for far in (200, 300)]


# Falling melons: every state is treekit's


@pytest.fixture(scope="module")
def melons():
    return load_watermelon("2.0")


def test_the_melons_end_where_apply_says(melons):
    X, y = melons.drop(columns="ripe"), melons["ripe"]
    id3 = ID3Classifier().fit(X, y)
    leaves = [node.rows for node in frontier(grown(melons, "ripe", "texture"), 10) if node.rows]
    together = [sorted(rows) for rows in X.groupby(id3.apply(X)).groups.values()]
    assert sorted(map(sorted, leaves)) == sorted(together)
    # The same on each level: a tree stopped there has the same groups.
    for level in range(id3.tree_.max_depth + 1):
        stopped = ID3Classifier(max_depth=level).fit(X, y).apply(X) if level else [0] * len(X)
        groups = [node.rows for node in frontier(grown(melons, "ripe", "texture"), level) if node.rows]
        assert sorted(map(sorted, groups)) == sorted(sorted(rows) for rows in X.groupby(stopped).groups.values())


def test_the_melons_lie_in_the_boxes_of_their_nodes_and_apart(melons):
    figure = falling_melons(melons, "ripe", first=list(melons.columns[:-1]))
    questions, levels = (control.values for control in figure.controls[:2])
    roots = {question: grown(melons, "ripe", question) for question in questions}
    for root in roots.values():
        lay_out(levels_of(root))
    for frame, (question, level) in zip(figure.frames, itertools.product(questions, levels), strict=True):
        keys = list(figure.panels[0].marks)
        places = dict(zip(keys, frame.scenes[0].places, strict=True))
        for node in frontier(roots[question], level):
            left, top, width, height = node.box
            for x, y in (places[row] for row in node.rows):
                assert left + 8 < x < left + width - 8 and top + 8 < y < top + height - 8
        spots = [places[row] for row in melons.index]
        near = [(a, b) for a, b in itertools.combinations(spots, 2) if max(abs(a[0] - b[0]), abs(a[1] - b[1])) < 21]
        assert near == []


def test_the_bars_are_the_conditional_entropy(melons):
    figure = falling_melons(melons, "ripe", first=list(melons.columns[:-1]), max_depth=1)
    for frame, question in zip(figure.frames, figure.controls[0].values, strict=True):
        left = [int(width) for width in re.findall(r'<rect [^>]*width="(\d+)" height="13" fill-opacity', frame.drawing)]
        expected = 1 if question == "nothing yet" else conditional_entropy(melons[question], melons["ripe"]) / 0.9975
        assert left == [58] if question == "nothing yet" else left[0] == 58
        assert left[-1] / 58 == pytest.approx(expected, abs=0.01)  # in whole pixels
        if question != "nothing yet":
            assert f"= {conditional_entropy(melons[question], melons['ripe']):.3f} bits are left" in frame.sentence
    assert [frame.found for frame in figure.frames] == [q == "texture" for q in figure.controls[0].values]


# What the script makes of it


def answers_to(node):
    """The answers on the way from the root to a node."""
    return [*answers_to(node.parent), str(node.branch)] if node.parent else []


def test_the_levels_of_id3_count_the_melons_in_leaves_and_the_bits_gained(melons):
    X, labels = melons.drop(columns="ripe"), melons["ripe"]
    tree = ID3Classifier().fit(X, labels)
    depth = np.array([tree.tree_[leaf].depth for leaf in tree.apply(X).tolist()])
    for level, frame in enumerate(falling_melons(melons, "ripe").frames):
        counts = [int(n) for n in re.findall(r"in leaf: (\d+)", frame.drawing)]
        assert counts == [(depth <= k).sum() for k in range(level + 1)]
        stated = [float(bits) for bits in re.findall(r"gain (\d\.\d{3})", frame.drawing)]
        told = [ID3Classifier(max_depth=k).fit(X, labels) for k in range(1, level + 1)]
        left = [entropy(labels), *(conditional_entropy(pd.Series(one.apply(X)), labels) for one in told)]
        assert stated == pytest.approx(-np.diff(left), abs=6e-4)
        asked = [node for node in tree.tree_.walk() if node.depth == level - 1 and not node.is_leaf]
        if level > 1:
            assert all(
                f"“{', '.join(answers_to(node))}” asks about {node.question}" in frame.sentence for node in asked
            )
            assert f"{counts[-1]} of the 17 melons are in a leaf" in frame.sentence


def pair(**changes):
    """A slider that moves two panels, after a guess by a slider."""
    beside = Panel(
        "A square", (480, 60), "", lambda at: (['<rect width="20" height="20"/>'], {"a": (at, 30)}), {"a": ""}
    )
    settings = dict(
        title="Pair",
        controls=[Slider("At", [0, 100, 200], points=[(20, 10), (20, 30), (20, 50)])],
        frame=lambda at: ([f'<circle class="answer" cx="{at + 20}" cy="30" r="9"/>'], f"At {at}.", {}),
        guess=Slider("Your guess: how far?", **ONE_TO_THREE),
        beside=beside,
    )
    return small(**{**settings, **changes})


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A page with the small figure and those of the book, and the script and style sheet beside it."""
    watermelon = load_watermelon("2.0")
    clear = watermelon[watermelon["texture"] == "clear"]
    book = [entropy_explorer(watermelon["ripe"]), lunch_explorer(), split_explorer(clear, "ripe", rival="stem")]
    attributes = list(watermelon.columns[:-1])
    falling = [
        falling_melons(watermelon, "ripe", guess=True),
        falling_melons(watermelon, "ripe", first=attributes, max_depth=1, guess=True),
    ]
    which = Choice("Your guess: which?", ["one", "other"], answer="other", truth="it is the other")
    choice = pair(title="Pair of words", guess=which)
    two_ends = walking(title="Two ends", found=lambda far, way: ["", "left", "right"].index(way) if far == 20 else 0)
    figures = [small(), *book, walking(stagger=40), two_ends, pair(), choice, *falling]
    return write_page(tmp_path_factory.mktemp("site"), [figure._repr_html_() for figure in figures])


@pytest.fixture(scope="module")
def windows(browser):
    """The windows that are open, by their settings, each with the list of its errors."""
    opened = {}
    yield opened
    for page, _ in opened.values():
        page.context.close()


@pytest.fixture
def visit(browser, site, windows):
    """Load the page in a window with these settings; any console error fails the test.

    A window is used again, but for one to which a test gives a name: that test changes more than the page in it.
    """
    seen = []

    def open_page(width=1000, name="", **settings):
        key = width, name, *sorted(settings.items())
        if key not in windows:
            page, errors = browser.new_page(viewport={"width": width, "height": 800}, **settings), []
            page.on("console", lambda message: message.type == "error" and errors.append(message.text))
            page.on("pageerror", lambda error: errors.append(str(error)))
            windows[key] = page, errors
        page, errors = windows[key]
        errors.clear()
        seen.append(errors)
        page.goto(site)
        return page

    yield open_page
    assert [error for errors in seen for error in errors] == []


def test_the_keyboard_moves_the_slider_and_the_choice(visit):
    figure = visit().locator("figure").first
    sentence, dot = figure.locator("output"), figure.locator("g.frame circle")
    assert sentence.inner_text().startswith("10 m to the left")

    slider = figure.get_by_role("slider", name="How far", exact=True)
    slider.press("ArrowRight")
    assert sentence.inner_text() == "20 m to the left </script> <!--."
    assert dot.get_attribute("cx") == "40"
    assert slider.get_attribute("aria-valuetext") == figure.locator("b").inner_text() == "20 m"

    figure.get_by_role("radio", name="left", exact=True).press("ArrowRight")
    assert sentence.inner_text() == "20 m to the right </script> <!--."
    slider.press("Home")
    assert sentence.inner_text() == "0 m to the right </script> <!--."


@pytest.mark.parametrize(("keys", "guessed"), [(["ArrowRight"], 3), (["Home"], 1), (["ArrowLeft", "ArrowRight"], 2)])
def test_the_keyboard_alone_guesses_by_a_slider(visit, keys, guessed):
    """The first key already moves a slider that nobody has touched."""
    figure = figure_of(visit(), "Pair")
    slider = figure.get_by_role("slider", name="Your guess: how far?")
    for key in keys:
        slider.press(key)
    slider.press("Enter")
    assert verdict_in(figure).startswith(f"You guessed {guessed}")


def test_the_pointer_presses_a_choice(visit):
    figure = visit().locator("figure").first
    figure.get_by_role("radio", name="right", exact=True).click()
    assert figure.locator("output").inner_text().startswith("10 m to the right")
    assert figure.get_by_role("radio", name="right", exact=True).is_checked()


def test_figures_on_one_page_do_not_move_each_other(visit):
    page = visit()
    figure = figure_of(page, "What one question leaves open")
    figure.get_by_role("button", name="Skip the guess").click()
    before = page.locator("output").all_inner_texts()
    figure.get_by_role("radio", name="surface", exact=True).check()
    after = page.locator("output").all_inner_texts()
    changed = [new for new, old in zip(after, before, strict=True) if new != old]
    assert len(changed) == 1 and "0.458 bits" in changed[0]


def test_phone_has_no_sideways_scroll_and_large_targets(visit):
    page = visit(width=390)
    narrow = """targets => targets.filter(target => {
        const { width, height } = target.getBoundingClientRect();
        return width < 44 || height < 44;
    }).map(target => target.parentNode.outerHTML)"""
    for theme in ("light", "dark"):
        turn(page, theme)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        targets = page.locator("input:visible, button:visible")
        assert targets.count() > 20 and targets.evaluate_all(narrow) == []
        widths = page.evaluate("[...document.querySelectorAll('svg')].map(svg => svg.getBoundingClientRect().width)")
        assert 15 * min(widths) / 480 >= 11, "text in the drawings is too small to read"


def test_words_stay_inside_their_picture(visit):
    """Text has no fixed width in SVG, so only a browser can tell."""
    page = visit()
    for theme in ("light", "dark"):
        turn(page, theme)
        assert page.evaluate(OUTSIDE) == []


def test_without_javascript_the_figure_at_rest_stands_alone(visit):
    page = visit(java_script_enabled=False)
    figure = page.locator("figure").first
    assert figure.locator("output").inner_text().startswith("10 m to the left")
    assert figure.locator("g.frame circle").is_visible()
    assert page.locator("input, button, select").count() == 0
    walk = page.locator("figure", has_text="Walking")
    assert walk.locator("output").inner_text() == "10, left."  # at rest, not where the script opens
    assert not figure.get_by_text("Can you move it?").is_visible()


def test_print_shows_no_controls(visit):
    page = visit(name="in print")
    assert page.locator("input").first.is_visible() and page.get_by_text("Can you move it?").first.is_visible()
    page.emulate_media(media="print")
    assert page.locator(":is(input, button, .explorable-challenge):visible").count() == 0


# Marks, the start, playing, dragging, guessing, finding, two panels


def figure_of(page, title):
    return page.locator("figure").filter(has=page.locator("strong", has_text=re.compile(f"^{title}$")))


def found_in(figure):
    """Where a figure says that the challenge is met."""
    return figure.locator(".explorable-found")


def verdict_in(figure):
    """What a figure tells of a guess."""
    return figure.locator(".explorable-verdict").inner_text()


def guess_in(figure):
    """Give the guess that the first choice, or the last value of a slider, is."""
    asked = figure.locator(".explorable-guess input").first
    asked.press("End") if asked.get_attribute("type") == "range" else asked.check()
    figure.get_by_role("button", name="That is my guess").click()


def middle(page, selector_in):
    box = selector_in.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def at_pixel(svg, x, y):
    """Where a pixel of a drawing is in the window."""
    return svg.evaluate(
        "(svg, [x, y]) => { const p = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()); return [p.x, p.y]; }",
        [x, y],
    )


def place_of(mark):
    """Where a mark is at this moment, in the pixels of its drawing."""
    return mark.evaluate(
        "mark => { const m = new DOMMatrix(getComputedStyle(mark).transform); return [m.e, m.f, m.a]; }"
    )


def test_the_script_opens_elsewhere_than_print_rests(visit):
    page = visit()
    figure = figure_of(page, "Walking")
    assert figure.locator("output").inner_text() == "0, left."
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert figure.locator("output").inner_text() == "10, left."
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert figure.locator("output").inner_text() == "0, left."


def test_a_mark_travels_and_ends_where_the_frame_says(visit):
    figure = figure_of(visit(), "Walking")
    mark = figure.locator('[data-key="a"]')
    assert place_of(mark) == [20, 30, 1]  # at once: what has not moved yet does not travel
    travel = """figure => new Promise(done => {
        const mark = figure.querySelector('[data-key="a"]'), seen = [], start = performance.now();
        figure.querySelector("[aria-label^='One step on']").click();
        const look = now => {
            seen.push(new DOMMatrix(getComputedStyle(mark).transform).e);
            now - start < 500 ? requestAnimationFrame(look) : done(seen);
        };
        requestAnimationFrame(look);
    })"""
    seen = figure.evaluate(travel)
    assert seen[-1] == 120 and any(20 < x < 120 for x in seen)
    assert place_of(mark) == [120, 30, 2]


def test_reduced_motion_moves_without_travelling(visit):
    figure = figure_of(visit(reduced_motion="reduce"), "Walking")
    figure.get_by_role("button", name="One step on").click()
    assert place_of(figure.locator('[data-key="a"]')) == [120, 30, 2]


def test_step_buttons_and_play_move_the_slider(visit):
    page = visit(name="with a clock of its own")
    page.clock.install()
    figure = figure_of(page, "Walking")
    output, found = figure.locator("output"), found_in(figure)
    figure.get_by_role("button", name="Play: Along").click()
    assert output.inner_text() == "10, left." and output.get_attribute("aria-live") == "off"
    page.clock.run_for(3000)  # the end: it has stopped
    assert output.inner_text() == "20, left." and output.get_attribute("aria-live") == "polite"
    assert found.inner_text() == ""  # playing has passed ten, the reader has not found it
    figure.get_by_role("button", name="Play: Along").click()
    assert output.inner_text() == "0, left."  # from the beginning
    figure.get_by_role("slider").press("ArrowRight")  # the reader takes over
    page.clock.run_for(3000)
    assert output.inner_text() == "10, left." and found.inner_text() == "✓ Found."
    figure.get_by_role("button", name="One step back").click()
    assert output.inner_text() == "0, left." and found.inner_text() == "✓ Found."  # what was found stays found


def test_who_stops_the_player_where_the_challenge_is_met_has_found(visit):
    page = visit(name="with a clock of its own")
    page.clock.install()
    figure = figure_of(page, "Walking")
    figure.get_by_role("button", name="Play: Along").click()
    assert found_in(figure).inner_text() == ""
    figure.get_by_role("button", name="Pause: Along").click()
    page.clock.run_for(3000)
    assert figure.locator("output").inner_text() == "10, left." and found_in(figure).inner_text() == "✓ Found."


def test_playing_finds_where_it_ends(visit):
    page = visit(name="with a clock of its own")
    page.clock.install()
    figure = figure_of(page, "Two ends")
    figure.get_by_role("button", name="Play: Along").click()
    page.clock.run_for(3000)
    assert figure.locator("output").inner_text() == "20, left." and found_in(figure).inner_text() == "✓ 1 of 2."


#: What stands behind the sentence of a figure, for the eye alone, and how high the figure is.
SEAL = """figure => {
    const { content } = getComputedStyle(figure.querySelector("output > span"), "::after");
    return [content, figure.getBoundingClientRect().height];
}"""


def test_the_sentence_of_what_was_asked_says_so_and_nothing_moves(visit):
    figure = figure_of(visit(width=390), "Two ends")
    slider = figure.get_by_role("slider")
    none, height = figure.evaluate(SEAL)
    slider.press("End")
    assert none == '" " / ""' and figure.evaluate(SEAL) == ['" ✓ 1 of 2." / ""', height]
    figure.get_by_role("radio", name="right", exact=True).check()
    assert figure.evaluate(SEAL) == ['" ✓ Found." / ""', height]
    figure.page.emulate_media(media="print")
    assert figure.evaluate(SEAL)[0] == "none"
    figure.page.emulate_media(media="screen")
    slider.press("Home")
    assert figure.evaluate(SEAL) == [none, height]


def test_a_challenge_of_two_parts_is_met_by_both(visit):
    figure = figure_of(visit(), "Two ends")
    found, slider = found_in(figure), figure.get_by_role("slider")
    slider.press("End")
    slider.press("End")
    assert found.inner_text() == "✓ 1 of 2."
    slider.press("Home")
    figure.get_by_role("radio", name="right", exact=True).check()
    assert found.inner_text() == "✓ 1 of 2."
    slider.press("End")
    assert found.inner_text() == "✓ Found."


def test_the_mouse_drags_in_the_drawing_and_taps_a_mark(visit):
    page = visit()
    figure = figure_of(page, "Walking")
    svg, output = figure.locator("svg"), figure.locator("output")
    svg.scroll_into_view_if_needed()
    page.mouse.move(*at_pixel(svg, 25, 20))
    page.mouse.down()
    page.mouse.move(*at_pixel(svg, 110, 50))
    assert output.inner_text() == "10, left." and found_in(figure).inner_text() == ""  # not let go yet
    page.mouse.move(*at_pixel(svg, 215, 50))
    assert output.inner_text() == "20, left."
    page.mouse.up()
    page.mouse.move(*at_pixel(svg, 60, 50))  # let go: it no longer follows
    assert output.inner_text() == "20, left." and figure.get_by_role("slider").get_attribute("aria-valuetext") == "20"
    page.wait_for_timeout(400)
    page.mouse.click(*at_pixel(svg, 300, 30))  # the mark with data-choose
    assert output.inner_text() == "20, right." and figure.get_by_role("radio", name="right").is_checked()


def test_a_finger_taps_and_drags_in_the_drawing(visit):
    page = visit(width=390, has_touch=True, is_mobile=True)
    figure = figure_of(page, "Walking")
    svg, output = figure.locator("svg"), figure.locator("output")
    svg.scroll_into_view_if_needed()
    page.touchscreen.tap(*at_pixel(svg, 118, 30))
    assert output.inner_text() == "10, left."
    touch = page.context.new_cdp_session(page)
    points = [at_pixel(svg, x, 30) for x in (118, 150, 190, 222)]
    for kind, point in zip(["touchStart", "touchMove", "touchMove", "touchMove"], points):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [dict(zip("xy", point))]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert output.inner_text() == "20, left."


def test_a_finger_that_lets_go_has_found(visit):
    page = visit(width=390, has_touch=True, is_mobile=True)
    figure = figure_of(page, "Walking")
    svg, found = figure.locator("svg"), found_in(figure)
    svg.scroll_into_view_if_needed()
    touch = page.context.new_cdp_session(page)
    for kind, x in [("touchStart", 20), ("touchMove", 60), ("touchMove", 118)]:
        point = dict(zip("xy", at_pixel(svg, x, 30)))
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    assert found.inner_text() == ""
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    found.filter(has_text="✓ Found.").wait_for(timeout=3000)


def test_the_guess_comes_first_and_can_be_skipped(visit):
    page = visit()
    figure = figure_of(page, "Seventeen melons, one question")
    assert not figure.locator("output").is_visible() and not figure.get_by_role("group", name="Ask about").is_visible()
    figure.get_by_role("button", name="That is my guess").click()  # without one: the browser asks for it
    assert not figure.locator("output").is_visible()
    figure.get_by_role("radio", name="stem").check()
    figure.get_by_role("button", name="That is my guess").press("Enter")
    verdict = "You guessed “stem”. No: stem leaves 0.855 bits, but texture leaves 0.617 bits, the least."
    assert verdict_in(figure) == verdict and figure.locator("output").is_visible()
    assert figure.get_by_role("radio", name="nothing yet").evaluate("input => input === document.activeElement")
    figure.get_by_role("radio", name="texture").check()
    assert "0.617 bits are left" in figure.locator("output").inner_text()
    assert found_in(figure).inner_text() == "✓ Found." and verdict_in(figure) == verdict  # it stays

    other = figure_of(page, "Pair")
    assert not other.locator("circle").is_visible()
    page.mouse.click(*at_pixel(other.locator("svg").first, 20, 50))  # the drawing waits, too
    other.get_by_role("button", name="Skip the guess").click()
    assert other.locator("circle").is_visible() and other.locator("output").inner_text() == "At 0."


def test_a_slider_that_asks_for_a_guess_has_no_value_until_it_is_moved(visit):
    page = visit()
    figure = figure_of(page, "Pair")
    slider, value = figure.get_by_role("slider"), figure.locator(".explorable-guess b")
    assert value.inner_text() == "–" and slider.get_attribute("aria-valuetext") == "no value yet"
    figure.get_by_role("button", name="That is my guess").click()
    assert not figure.locator("output").is_visible()  # the browser asks for a guess
    page.mouse.click(*middle(page, slider))  # where the thumb stands already
    assert value.inner_text() == "2" == slider.get_attribute("aria-valuetext")
    slider.press("End")
    figure.get_by_role("button", name="That is my guess").click()
    assert verdict_in(figure) == "You guessed 3, too high by 1; it is 2."


def test_a_finger_may_guess_the_value_at_which_the_thumb_stands(visit):
    page = visit(width=390, has_touch=True, is_mobile=True)
    figure = figure_of(page, "Pair")
    slider = figure.get_by_role("slider")
    slider.scroll_into_view_if_needed()
    page.touchscreen.tap(*middle(page, slider))
    figure.get_by_role("button", name="That is my guess").tap()
    assert verdict_in(figure).startswith("You guessed 2, and that is right")


@pytest.mark.parametrize("title", ["Pair", "Pair of words"])
def test_a_drawing_is_named_by_what_it_shows_now(visit, title):
    figure = figure_of(visit(), title)

    def names():
        return [svg.get_attribute("aria-label") for svg in figure.locator("svg").all()]

    assert names() == [f"{title}. Your guess comes first.", f"{title}, the second drawing. Your guess comes first."]
    guess_in(figure)
    assert names() == [f"{title}. At 0.", f"{title}, the second drawing. At 0."]
    figure.get_by_role("button", name="One step on").click()
    assert names() == [f"{title}. At 100.", f"{title}, the second drawing. At 100."]


@contextlib.contextmanager
def opened(browser, chapters, width, height):
    """All figures of the chapters on one page, in a window of this size, where nothing moves by itself."""
    with browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(chapters)
        yield page


#: The heights of each figure: before and after a guess, for each verdict and each sentence, and with what is found.
HEIGHTS = """figures => figures.map(figure => {
    const { guess, frames } = JSON.parse(figure.querySelector("script").textContent), heights = new Set();
    const look = () => heights.add(Math.round(figure.getBoundingClientRect().height));
    const say = (where, words) => {
        figure.querySelector(where).textContent = words;
        look();
    };
    look();
    say(".explorable-found", "");
    if (guess) {
        const input = figure.querySelector("form input");
        input.click();
        figure.querySelector("[type=submit]").click();
        if (figure.matches(".guessing")) heights.add("still guessing");
        look();
        say(".explorable-found", "✓ Found.");
        guess.verdicts.forEach(verdict => say(".explorable-verdict", verdict));
    }
    say(".explorable-found", "✓ Found.");
    const several = frames.some(([, goal]) => goal > 1);
    for (const seal of several ? ["✓ Found.", "✓ 1 of 2."] : ["✓ Found."]) {
        frames.forEach(([sentence, goal]) => {
            figure.querySelector("output > span").dataset.met = goal ? seal : "";
            say("output > span", sentence);
        });
    }
    return [figure.querySelector("strong").textContent, [...heights]];
})"""


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_moves_for_a_guess_or_for_what_is_found(browser, chapters, width):
    with opened(browser, chapters, width, 900) as page:
        before = page.evaluate("document.documentElement.scrollHeight")
        seen = page.locator("figure").evaluate_all(HEIGHTS)
        assert [figure for figure in seen if len(figure[1]) > 1] == [] and len(seen) > 25
        assert page.evaluate("document.documentElement.scrollHeight") == before


#: What is empty between the room of a guess and its card, and most between two lines of the card.
EMPTY = """forms => forms.map(form => {
    const box = part => part.getBoundingClientRect();
    const room = box(form.closest("figure").querySelector(".explorable-board")), card = box(form);
    const told = box(form.closest("figure").querySelector(".explorable-told"));
    const edges = [card.top, ...[...form.children].flatMap(part => [box(part).top, box(part).bottom]), card.bottom];
    const lines = edges.flatMap((edge, i) => i % 2 ? [edge - edges[i - 1]] : []);
    return [Math.abs(card.top - told.top) + Math.abs(card.bottom - room.bottom), Math.max(...lines)];
})"""


@pytest.mark.parametrize("width", [1440, 390])
def test_a_guess_fills_the_room_of_what_comes_after_it(browser, chapters, width):
    with opened(browser, chapters, width, 900) as page:
        seen = page.locator(".explorable-guess").evaluate_all(EMPTY)
        assert len(seen) > 25 and max(around for around, _ in seen) < 1 and max(within for _, within in seen) < 56
        opening = page.locator("figure.guessing:has([style*='--ratio']) output")
        said = opening.all_inner_texts()
        assert [words.split(" ")[:2] for words in said] == [["All", "17"]]
        assert all(sentence.is_visible() for sentence in opening.all())


@pytest.mark.parametrize("size", [(320, 256), (844, 390)])
def test_in_a_low_window_the_controls_do_not_cover_the_drawing(browser, chapters, size):
    """At 400 % of 1280 × 1024, and on a phone on its side."""
    covered = """svgs => svgs.filter(svg => {
        svg.scrollIntoView({ block: "start", behavior: "instant" });
        const { left, top, width, height } = svg.getBoundingClientRect(), most = Math.min(120, height - 5);
        return [10, innerHeight / 2, innerHeight - 10].some(
            y => !svg.contains(document.elementFromPoint(left + width / 2, Math.max(top, 0) + Math.min(y, most))));
    }).length"""
    with opened(browser, chapters, *size) as page:
        page.locator("[aria-label='Skip the guess']").evaluate_all("all => all.forEach(button => button.click())")
        assert page.locator(".explorable-panels > svg").evaluate_all(covered) == 0
        sticking = page.locator(".explorable-controls").evaluate_all(
            "all => all.filter(controls => getComputedStyle(controls).position === 'sticky').length"
        )
        assert sticking == 0


def test_an_address_leads_to_a_state(visit, site):
    page = visit(name="with an address")
    figure = figure_of(page, "Walking")
    assert figure.get_by_role("link").evaluate("link => link.href") == f"{site}#figure-walking"
    figure.get_by_role("slider").press("End")
    figure.get_by_role("radio", name="right").check()
    address = figure.get_by_role("link").evaluate("link => link.href")
    assert address == f"{site}#figure-walking?along=20&where-to=right"
    page.goto("about:blank")
    page.goto(address)
    assert figure.locator("output").inner_text() == "20, right." and figure.get_by_role("slider").input_value() == "2"
    page.evaluate("location.hash = 'figure-pair?at=100'")  # past the guess, since somebody shows it
    other = figure_of(page, "Pair")
    other.get_by_text("At 100.").wait_for(timeout=3000)
    assert not other.get_by_role("button", name="That is my guess").is_visible()
    page.evaluate("location.hash = 'figure-pair?at=7'")  # there is no such value
    page.wait_for_timeout(100)
    assert other.locator("output").inner_text() == "At 100."


@pytest.mark.parametrize(("motion", "after"), [("no-preference", ["0s", "0.04s"]), ("reduce", ["0s", "0s"])])
def test_marks_set_out_one_after_the_other(visit, motion, after):
    figure = figure_of(visit(reduced_motion=motion), "Walking")
    figure.get_by_role("slider").press("End")  # both move
    marks = figure.locator(".traveller")
    assert marks.evaluate_all("all => all.map(mark => getComputedStyle(mark).transitionDelay)") == after


def test_two_panels_stand_side_by_side_where_there_is_room(visit):
    page = visit(name="of several widths")
    for width, beside in [(1000, True), (390, False)]:
        page.set_viewport_size({"width": width, "height": 800})
        first, second = (svg.bounding_box() for svg in figure_of(page, "Pair").locator("svg").all())
        assert (second["x"] > first["x"] + first["width"] / 2) == beside
        assert (second["y"] >= first["y"] + first["height"]) != beside


def test_the_controls_stay_in_sight_of_what_they_move(visit):
    page = visit(width=390)
    figure = figure_of(page, "ID3, level by level")
    figure.get_by_role("button", name="Skip the guess").click()
    figure.locator("output").scroll_into_view_if_needed()
    box = figure.get_by_role("slider").bounding_box()
    assert 0 <= box["y"] <= 800 - box["height"]
    assert figure.locator("svg").bounding_box()["y"] < 0 or box["y"] < figure.locator("svg").bounding_box()["y"]


@pytest.mark.parametrize("question", ["texture", "surface", "stem"])
def test_the_state_in_the_browser_is_treekits(visit, melons, question):
    figure = figure_of(visit(reduced_motion="reduce"), "Seventeen melons, one question")
    figure.get_by_role("button", name="Skip the guess").click()
    figure.get_by_role("radio", name=question).check()
    root = grown(melons, "ripe", question)
    after = conditional_entropy(melons[question], melons["ripe"])
    assert f"= {after:.3f} bits are left" in figure.locator("output").inner_text()
    at = """marks => Object.fromEntries(
        marks.map(mark => [mark.dataset.key, new DOMMatrix(getComputedStyle(mark).transform).e]))"""
    places = figure.locator("[data-key]").evaluate_all(at)
    order = [sorted(places[str(row)] for row in node.rows) for node in root.children]
    assert all(left[-1] < right[0] for left, right in itertools.pairwise(order))  # one group beside the other


def test_no_id_is_there_twice_and_no_other_host_is_asked(visit, browser, site):
    page = visit()
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(node => node.id)")
    assert ids and len(ids) == len(set(ids))
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    assert asked and all(url.startswith("file:") for url in asked)


@pytest.fixture(scope="module")
def chapters(tmp_path_factory):
    """All figures that the chapters hold, as they are stored, on one page."""
    return write_page(tmp_path_factory.mktemp("chapters"), [parameter.values[0] for parameter in stored_figures()])


#: Moves every control, as told, and returns what each figure says after each move, or what is out of reach. As with a
#: reader's pointer, a click meets what lies uppermost where it points.
MOVE = """(moves) => [...document.querySelectorAll("figure")].map((figure, number) => {
  const press = (e) => {
    e.scrollIntoView({ block: "center", behavior: "instant" });
    const { left, top, width, height } = e.getBoundingClientRect();
    const there = document.elementFromPoint(left + width / 2, top + height / 2);
    if (e.contains(there)) there.click();
    return e.contains(there) ? "" : `${e.ariaLabel ?? e.parentElement.textContent}: out of reach. `;
  };
  const skip = figure.querySelector("[aria-label='Skip the guess']");
  const lost = skip ? press(skip) : "";
  const slide = (slider, to) => {
    slider.value = to;
    for (const kind of ["input", "change"]) slider.dispatchEvent(new Event(kind));
    return "";
  };
  return moves[number].map(([k, from, to]) => {
    const control = figure.querySelectorAll(".explorable-board > *")[k];
    const step = control.querySelector(`[aria-label^="One step ${to > from ? "on" : "back"}"]`);
    const radio = control.querySelectorAll("[type=radio]")[to];
    const isFar = !radio && Math.abs(to - from) !== 1;
    const fault = isFar ? slide(control.querySelector("[type=range]"), to) : press(radio ?? step);
    return lost + fault + figure.querySelector("output").innerText;
  });
})"""


def moves_of(data, far=False):
    """A move of each control of a figure: its place, from which position to which, and what the figure says then.

    `far` is to the end of a slider, else the moves are by one step. They start where the script opens.
    """
    at = [control["opens"] for control in data["controls"]]
    for k, control in enumerate(data["controls"]):
        before, last = at[k], len(control["values"]) - 1
        if control["kind"] == "choice":
            at[k] = (before + 1) % (last + 1)
        else:
            at[k] = last if far else before + 1 if before < last else before - 1
        for c, other in enumerate(data["controls"]):
            if at[c] < 0:  # a control without a value takes the one at rest, as soon as another moves
                at[c] = other["start"]
            if control.get("steps") and other["kind"] == "slider":
                at[c] = max(at[c], 1)
        index = 0
        for c, position in zip(data["controls"], at):
            index = index * len(c["values"]) + position
        yield (k, before, at[k]), data["frames"][index][0]


@pytest.mark.parametrize(("motion", "far"), [("no-preference", False), ("reduce", True)])
def test_every_figure_of_the_book_is_moved(browser, chapters, motion, far):
    """What each control shows afterwards is the frame that Python has drawn for its values."""
    moves = [list(moves_of(data_of(parameter.values[0]), far)) for parameter in stored_figures()]
    with browser.new_context(viewport={"width": 800, "height": 800}, reduced_motion=motion) as context:
        page, errors = context.new_page(), []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(chapters)
        shown = page.evaluate(MOVE, [[move for move, _ in figure] for figure in moves])
    assert shown == [[sentence for _, sentence in figure] for figure in moves] and len(shown) > 25
    assert errors == []


#: Moves every figure through some of its frames, and returns those of which the drawing is not Python's.
WALK = """() => [...document.querySelectorAll("figure")].flatMap(figure => {
  const { controls, parts, frames } = JSON.parse(figure.querySelector("script").textContent);
  const sorted = (e) => [...e.attributes].map(({ name, value }) => `${name}=${value}`).sort();
  const whole = (drawing) => JSON.stringify([...drawing.querySelectorAll("*")].map(e => [e.tagName, sorted(e)]));
  const boxes = figure.querySelectorAll(".explorable-board > *"), wrong = [];
  for (let at = 0; at < frames.length; at += Math.ceil(frames.length / 12)) {
    let rest = at;
    const positions = [];
    for (const { values } of [...controls].reverse()) {
      positions.unshift(rest % values.length);
      rest = Math.floor(rest / values.length);
    }
    // Sliders last: a choice may move one.
    for (const k of [...controls.keys()].sort((one, other) => (controls[one].kind < controls[other].kind ? -1 : 1))) {
      const slider = boxes[k].querySelector("[type=range]");
      if (!slider) boxes[k].querySelectorAll("[type=radio]")[positions[k]].click();
      else slider.value = positions[k], slider.dispatchEvent(new Event("input"));
    }
    figure.querySelectorAll(".explorable-panels > svg > .frame").forEach((shown, k) => {
      const drawn = shown.cloneNode(false);
      drawn.innerHTML = frames[at][k + 2][0].map(part => parts[part]).join("");
      if (whole(drawn) + drawn.textContent !== whole(shown) + shown.textContent) wrong.push([figure.id, at, k]);
    });
  }
  return wrong;
})"""


def test_every_drawing_is_pythons(phone):
    """Although its shapes are those of the frame before, moved."""
    assert phone.evaluate(WALK) == []


def test_a_bar_travels(visit):
    figure = figure_of(visit(), "The entropy of a basket")
    guess_in(figure)
    bar = figure.locator(".frame .answer rect").first
    before = bar.bounding_box()["height"]
    seen = bar.evaluate("""(bar) => new Promise(done => {
        bar.closest("figure").querySelector("[aria-label^='One step on']").click();
        requestAnimationFrame(() => requestAnimationFrame(() => done(bar.getBoundingClientRect().height)));
    })""")
    figure.page.wait_for_timeout(400)
    after = bar.bounding_box()["height"]
    assert after < seen <= before and after < before - 2


def kind(page):
    """What a reader takes hold of in a figure: its guess, if any, and its controls."""
    data = data_of(page)
    return (data["guess"] or {}).get("kind"), *(control["kind"] for control in data["controls"])


@pytest.fixture(scope="module")
def one_of_each(tmp_path_factory):
    """A page with the first figure of each kind that the chapters hold, and the data of its figures."""
    figures = {}
    for parameter in stored_figures():
        figures.setdefault(kind(*parameter.values), *parameter.values)
    assert len(figures) > 8
    return write_page(tmp_path_factory.mktemp("kinds"), figures.values()), [data_of(page) for page in figures.values()]


@pytest.mark.parametrize("way", ["keyboard", "mouse", "touch"])
def test_a_figure_of_each_kind_is_moved(browser, one_of_each, way):
    """By the reader's own means: the test above moves every figure by a script."""
    address, figures = one_of_each
    press = {"keyboard": lambda node: node.press("Enter"), "mouse": lambda node: node.click()}.get(
        way, lambda node: node.tap()
    )
    motion = "no-preference" if way == "mouse" else "reduce"  # in one of the ways the marks travel
    window = {"viewport": {"width": 800, "height": 800}, "has_touch": way == "touch", "reduced_motion": motion}
    with browser.new_context(**window) as context:
        page, errors = context.new_page(), []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        for figure, data in zip(page.locator("figure").all(), figures, strict=True):
            if data["guess"]:
                press(figure.locator("[aria-label='Skip the guess']"))
            for (k, before, to), sentence in moves_of(data, far=way == "keyboard"):
                control = figure.locator(".explorable-board > *").nth(k)
                if data["controls"][k]["kind"] == "choice":
                    if way == "keyboard":
                        control.locator("input").nth(before).press("ArrowRight")
                    else:
                        press(control.locator("input").nth(to))
                elif way == "keyboard":
                    control.locator("input").press("End")
                else:
                    press(control.locator(f"[aria-label^='One step {'on' if to > before else 'back'}']"))
                assert figure.locator("output").inner_text() == sentence
    assert errors == []


@pytest.fixture(scope="module")
def phone(browser, chapters):
    """All figures of the book on a phone, each past its guess."""
    with browser.new_context(
        viewport={"width": 390, "height": 800}, has_touch=True, reduced_motion="reduce"
    ) as context:
        page = context.new_page()
        page.goto(chapters)
        page.evaluate("document.querySelectorAll('[aria-label=\"Skip the guess\"]').forEach(button => button.click())")
        yield page


def test_what_a_finger_takes_hold_of_is_large(phone):
    sizes = phone.locator(".explorable-panels .handle").evaluate_all(
        "all => all.map(handle => Math.min(...[handle.getBoundingClientRect()].flatMap(b => [b.width, b.height])))"
    )
    assert len(sizes) > 6 and min(sizes) >= 44


@pytest.mark.parametrize("title", ["Two limits for lunch", "Your cuts against CART's", "Slide the cut"])
def test_a_swipe_over_a_drawing_scrolls_the_page(phone, title):
    figure = figure_of(phone, title)
    svg, slider = figure.locator("svg").first, figure.get_by_role("slider").first
    svg.evaluate("svg => svg.scrollIntoView({ block: 'center' })")
    box, before = svg.bounding_box(), (phone.evaluate("scrollY"), slider.input_value())
    x, y = box["x"] + box["width"] / 3, box["y"] + box["height"] * 0.8
    touch = phone.context.new_cdp_session(phone)
    for kind, up in [("touchStart", 0), *(("touchMove", 20 * k) for k in range(1, 8))]:
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y - up}]})
        phone.wait_for_timeout(30)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    phone.wait_for_timeout(200)
    assert phone.evaluate("scrollY") > before[0] + 60 and slider.input_value() == before[1]


@pytest.mark.parametrize("at_the_handle", [True, False])
def test_a_finger_that_begins_upwards_drags_a_handle_and_scrolls_elsewhere(phone, at_the_handle):
    figure = figure_of(phone, "Turn the cut")
    tip, svg, slider = (figure.locator(name).first for name in (".handle", "svg", "input[type=range]"))
    svg.evaluate("svg => svg.scrollIntoView({ block: 'center' })")
    x, y = middle(phone, tip) if at_the_handle else at_pixel(svg, 60, 300)
    before = phone.evaluate("scrollY"), slider.input_value()
    touch = phone.context.new_cdp_session(phone)
    for kind, right, up in [("touchStart", 0, 0), *[("touchMove", 0, 15 * k) for k in (1, 2)], ("touchMove", 70, 40)]:
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x + right, "y": y - up}]})
        phone.wait_for_timeout(50)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    phone.wait_for_timeout(200)
    after = phone.evaluate("scrollY"), slider.input_value()
    assert (after[0] == before[0]) == at_the_handle
    if at_the_handle:
        assert after[1] < before[1]  # the arrow points further to the right


def test_two_sliders_stand_side_by_side_on_a_phone(phone):
    for title in ("Your cuts against CART's", "One leaf or two\\?"):
        board = figure_of(phone, title).locator(".explorable-board")
        one, two = (slider.bounding_box() for slider in board.get_by_role("slider").all())
        assert abs(one["y"] - two["y"]) < 2 and one["x"] + one["width"] < two["x"] and one["width"] > 150
        labels = [label.bounding_box() for label in board.locator("label").all()]
        assert all(button.bounding_box()["y"] < labels[0]["y"] for button in board.get_by_role("button").all())


def test_axe_finds_nothing(visit):
    page = visit(name="of several widths")
    looks = [(1000, "light", None), (1000, "dark", OF_LOOKS), (390, "light", OF_LOOKS), (640, "light", OF_LOOKS)]
    for width, theme, rules in looks:  # 390: a phone; 640: zoomed to 200 %
        page.set_viewport_size({"width": width, "height": 800})
        turn(page, theme)
        assert violations(page, rules) == [], (width, theme)
