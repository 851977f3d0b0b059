"""Figures that move: what Python prints, and what the script makes of it in a real browser."""

import importlib.util
import itertools
import json
import re
import shutil
from pathlib import Path
from unittest.mock import Mock
from xml.etree import ElementTree

import pytest

from treekit.datasets import load_loan, load_watermelon
from treekit.showing.explorable import Choice, Explorable, Slider
from treekit.showing.figures.entropy import entropy_explorer
from treekit.showing.figures.id3 import growth_explorer, split_explorer
from treekit.showing.figures.introduction import lunch_explorer
from treekit.showing.palette import CLASS_COLORS, class_color
from treekit.showing.svg import Plane, number, text

BOOK = Path(__file__).resolve().parents[2] / "book"


def small(**changes):
    """A figure of two controls whose sentences name their place."""
    settings = dict(
        title="Dots & </script> <!-- signs",
        alt='A "dot" < a circle',
        size=(480, 60),
        background='<path d="M0,50h480" stroke="currentColor"/>',
        controls=[Slider("How far", [0, 10, 20], start=10, show="{} m"), Choice("Which way", ["left", "right"])],
        frame=lambda far, way: (f'<circle cx="{far + 20}" cy="30" r="9"/>', f"{far} m to the {way} </script> <!--."),
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
    said = [sentence for _, sentence in data["frames"]]
    places = itertools.product([0, 10, 20], ["left", "right"])
    assert said == [f"{far} m to the {way} </script> <!--." for far, way in places]
    assert data["controls"][0] == {"kind": "slider", "label": "How far", "start": 1, "values": ["0 m", "10 m", "20 m"]}


def test_a_changed_frame_is_one_changed_line():
    """A notebook stores HTML line by line, so a diff names the frames that have changed."""

    def lines(last):
        def frame(far, way):
            return "<g/>", last if (far, way) == (20, "right") else f"{far} m to the {way}."

        return small(frame=frame)._repr_html_().splitlines()

    changed = [(one, other) for one, other in zip(lines("Here."), lines("There."), strict=True) if one != other]
    assert changed == [('["<g/>","Here."]', '["<g/>","There."]')]


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
        (lambda: small(frame=lambda far, way: "only a drawing"), TypeError, "frame must return two strings"),
        (lambda: split_explorer(load_watermelon("2.0-alpha"), "ripe"), ValueError, "frame must have no missing"),
    ],
)
def test_errors_name_the_argument(make, error, words):
    with pytest.raises(error, match=re.escape(words)):
        make()


def test_numbers_are_short():
    assert [number(v) for v in (3, 2.5, 1 / 3, -0.001, -1.25, 100.0)] == ["3", "2.5", "0.33", "0", "-1.25", "100"]


def test_a_plane_maps_data_to_pixels():
    plane = Plane((0, 10), (0, 1), (50, 20, 250, 120))
    assert (plane.x(0), plane.x(10), plane.y(0), plane.y(1)) == (50, 250, 120, 20)


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


def stored_figures():
    """Every figure that moves in a chapter, as its page is stored."""
    for path in sorted(BOOK.glob("*.ipynb")):
        for index, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            for output in cell.get("outputs", []):
                page = "".join(output.get("data", {}).get("text/html", ""))
                if 'class="explorable"' in page:
                    yield pytest.param(page, id=f"{path.stem}-{index}")


@pytest.mark.parametrize("page", list(stored_figures()))
def test_every_stored_frame_is_sound_svg_inside_its_picture(page):
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', page).groups())
    frames = data_of(page)["frames"]
    assert [sentence for _, sentence in frames if not sentence.endswith(".")] == []
    picture = re.search(r"<svg.*?</svg>", page, re.DOTALL)[0]
    for drawing in (picture, *(f"<g>{drawing}</g>" for drawing, _ in frames)):
        top = ElementTree.fromstring(drawing)
        for node in top.iter():
            for name, most in dict(x=width, cx=width, y=height, cy=height).items():
                assert -1 <= float(node.get(name, 0)) <= most + 1, (node.tag, node.attrib)
            sizes = [] if node is top else [float(node.get(name, 0)) for name in ("width", "height")]
            assert all(size >= 0 for size in sizes), (node.tag, node.attrib)


def test_the_challenges_can_be_met():
    said = [sentence for _, sentence in lunch_explorer().frames]
    assert [s for s in said if "12 of 12" in s] == [
        f"At most {far} m and 20 yuan: right for 12 of 12 dishes." for far in (200, 300)
    ]


def test_only_pages_with_a_moving_figure_load_the_script():
    spec = importlib.util.spec_from_file_location("explorables", BOOK / "_ext" / "explorables.py")
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    app = Mock()
    extension.add_to_page(app, "plain", "page.html", {"body": "<p>Words.</p>"}, None)
    extension.add_to_page(app, "search", "search.html", {}, None)
    assert app.mock_calls == []
    extension.add_to_page(app, "chapter", "page.html", {"body": f"<p>Words.</p>{small()._repr_html_()}"}, None)
    assert [name for name, _, _ in app.mock_calls] == ["add_css_file", "add_js_file"]


# What the script makes of it


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A page with the small figure and those of the book, and the script and style sheet beside it."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("explorable.js", "explorable.css"):
        shutil.copy(BOOK / "explorables" / name, folder)
    watermelon, loan = load_watermelon("2.0"), load_loan()
    book = [entropy_explorer(), lunch_explorer(), split_explorer(watermelon, "ripe"), split_explorer(loan, "approved")]
    figures = [small(), *book, growth_explorer(watermelon, "ripe")]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Figures</title>'
    head += '<link rel="stylesheet" href="explorable.css"><script defer src="explorable.js"></script>'
    head += "<style>[data-theme=dark] {color-scheme: dark; background: #121212; color: #ced6dd}</style>"
    body = "".join(figure._repr_html_() for figure in figures)
    page = folder / "index.html"
    document = f'<html lang="en"><head>{head}</head><body><main>{body}</main></body></html>'
    page.write_text(f"<!doctype html>{document}", "utf-8")
    return page.as_uri()


@pytest.fixture
def visit(browser, site):
    """Open the page in a window of its own; any console error fails the test."""
    contexts, errors = [], []

    def open_page(width=1000, theme="light", **settings):
        context = browser.new_context(viewport={"width": width, "height": 800}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(site)
        if settings.get("java_script_enabled", True):
            page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


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


def test_the_pointer_presses_a_choice(visit):
    figure = visit().locator("figure").first
    figure.get_by_role("radio", name="right", exact=True).click()
    assert figure.locator("output").inner_text().startswith("10 m to the right")
    assert figure.get_by_role("radio", name="right", exact=True).is_checked()


def test_figures_on_one_page_do_not_move_each_other(visit):
    page = visit()
    before = page.locator("output").all_inner_texts()
    page.get_by_role("radio", name="texture", exact=True).check()
    after = page.locator("output").all_inner_texts()
    changed = [new for new, old in zip(after, before, strict=True) if new != old]
    assert len(changed) == 1 and "0.381 bits" in changed[0]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_phone_has_no_sideways_scroll_and_large_targets(visit, theme):
    page = visit(width=390, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for target in page.locator("input").all():
        box = target.bounding_box()
        assert box["height"] >= 44 and box["width"] >= 44, target.evaluate("node => node.parentNode.outerHTML")
    widths = page.evaluate("[...document.querySelectorAll('svg')].map(svg => svg.getBoundingClientRect().width)")
    assert 15 * min(widths) / 480 >= 11, "text in the drawings is too small to read"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_stay_inside_their_picture(visit, theme):
    """Text has no fixed width in SVG, so only a browser can tell."""
    page = visit(theme=theme)
    outside = """[...document.querySelectorAll("svg text")].filter(text => {
        const box = text.getBBox(), view = text.ownerSVGElement.viewBox.baseVal;
        return box.x < -1 || box.x + box.width > view.width + 1 || box.y < 0 || box.y + box.height > view.height;
    }).map(text => text.textContent)"""
    assert page.evaluate(outside) == []


def test_without_javascript_the_figure_at_rest_stands_alone(visit):
    page = visit(java_script_enabled=False)
    figure = page.locator("figure").first
    assert figure.locator("output").inner_text().startswith("10 m to the left")
    assert figure.locator("g.frame circle").is_visible()
    assert page.locator("input, button, select").count() == 0
    assert not figure.get_by_text("Can you move it?").is_visible()


def test_print_shows_no_controls(visit):
    page = visit()
    assert page.locator("input").first.is_visible() and page.get_by_text("Can you move it?").is_visible()
    page.emulate_media(media="print")
    assert not any(node.is_visible() for node in page.locator("input, .explorable-challenge").all())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit, theme):
    from axe_playwright_python.sync_playwright import Axe

    # Without preload axe does not fetch the style sheet again, which a page opened as a file may not do.
    result = Axe().run(visit(theme=theme), context="main", options={"preload": False}).response
    serious = [v for v in result["violations"] if v["impact"] in ("serious", "critical")]
    assert [(v["id"], [node["html"] for node in v["nodes"]]) for v in serious] == []
