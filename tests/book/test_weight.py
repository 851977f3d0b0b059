"""The first visit to a page is light, and what was taken out stays out: `book/_ext/lighten.py` and `formulas.py`."""

import re
from html import unescape
from pathlib import Path
from threading import Event

import pydata_sphinx_theme
import pytest
import tinycss2
from fontTools.ttLib import TTFont

from scripts.execute import BOOK
from tests.book.sites import wait_two_frames, wait_until_laid_out
from tests.book.test_site import chapters
from tests.book.test_upkeep import load_extension
from tests.book.weight import DESK, PHONE, WATCH, server, visit

MOST_KILOBYTES, MOST_REQUESTS = 245, 15
MOST_SHIFT = 0.05  # what moves more than 0.1 is no longer good, by the browsers' makers
TAKEN_OUT = re.compile(r"mathjax|fontawesome\.js|searchtools|searchindex|language_data|\.ttf$", re.IGNORECASE)


@pytest.fixture(scope="module")
def lighten():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BOOK / "_ext")
        yield load_extension("lighten")


@pytest.fixture(scope="module")
def first_visits(site, browser):
    with server(site) as served:
        yield {chapter: visit(browser, served, f"{chapter}.html") for chapter in chapters()}


def test_a_first_visit_is_light(first_visits):
    heavy = {
        chapter: (round(seen.kilobytes), seen.sizes)
        for chapter, seen in first_visits.items()
        if seen.kilobytes > MOST_KILOBYTES or len(seen.sizes) > MOST_REQUESTS
    }
    assert len(first_visits) > 12 and heavy == {}


@pytest.mark.parametrize(
    "page",
    [
        f"book/{name}.html"
        for name in ("cover", "gbdt", "your_table", "writing", "reference_estimators", "reference_inside")
    ],
)
def test_a_page_stands_still_while_it_comes(site, browser, page):
    """On a slow phone, where the text stands long before its face has come."""
    with server(site) as served:
        assert visit(browser, served, page, PHONE, is_slow=True).shift < MOST_SHIFT


@pytest.mark.parametrize(
    "page", ["cover", "id3", "pruning", "gbdt", "deep_forest", "your_table", "bibliography", "reference_inside"]
)
def test_lines_stay_where_they_are_when_the_faces_come(site, browser, page):
    """The faces of the text come after it, however much wider or narrower their letters are."""
    with server(site) as served, browser.new_context(viewport=PHONE) as context:
        tab, held_back, is_time = context.new_page(), [], Event()
        tab.route("**/*.woff2", lambda face: face.continue_() if is_time.is_set() else held_back.append(face))
        tab.add_init_script(WATCH)
        tab.goto(f"{served.address}/book/{page}.html", wait_until="domcontentloaded")
        tab.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
        wait_two_frames(tab)
        assert held_back
        is_time.set()
        for face in held_back:
            face.continue_()
        tab.evaluate("document.fonts.ready")
        wait_two_frames(tab)
        assert tab.evaluate("window.shift") < MOST_SHIFT


def has_its_faces(tab):
    """Tell whether the text and the code of a page are set in the faces of the book."""
    session = tab.context.new_cdp_session(tab)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    nodes = [
        session.send("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
        for selector in ("article p", "article pre")
    ]
    faces = [session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"] for node in nodes]
    return all(used and all(face["isCustomFont"] for face in used) for used in faces)


def test_the_second_page_at_the_latest_has_its_faces(address, browser):
    with browser.new_context() as context:
        tab = context.new_page()
        for page in ("cover", "gbdt"):
            tab.goto(f"{address}/book/{page}.html", wait_until="networkidle")
        assert has_its_faces(tab)


def test_a_page_from_the_disk_has_its_faces(site, browser):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto((site / "book" / "gbdt.html").as_uri(), wait_until="networkidle")
        assert has_its_faces(tab)


def test_the_cover_stands_still_on_a_desk(site, browser):
    """Its columns are there before its cards have come, and its figure is alive before the page's script has."""
    with server(site) as served:
        assert max(visit(browser, served, "book/cover.html").shift for _ in range(3)) < MOST_SHIFT
    with server(site) as served, browser.new_context() as context:
        tab = context.new_page()
        tab.route("**/page.js*", lambda route: route.abort())
        tab.goto(f"{served.address}/book/cover.html")
        tab.get_by_role("radio", name="texture").check(force=True)
        assert "0.617 bits are left" in tab.locator("figure.explorable output").text_content()


def test_a_first_visit_loads_one_script_and_one_style_sheet(first_visits):
    for seen in first_visits.values():
        kinds = [name for name in seen.sizes if name.endswith((".js", ".css"))]
        assert sorted(kinds) == ["_static/page.css", "_static/page.js"]


def test_what_was_taken_out_stays_out(first_visits, site):
    assert [name for seen in first_visits.values() for name in seen.sizes if TAKEN_OUT.search(name)] == []
    for page in (site / "book").glob("*.html"):
        loaded = re.findall(r'<(?:script|link)\b[^>]*\b(?:src|href)="([^"]+)"', page.read_text(encoding="utf-8"))
        assert loaded and [name for name in loaded if TAKEN_OUT.search(name)] == []


def test_the_page_of_the_search_has_what_it_needs(site):
    scripts = re.findall(r'<script defer src="([^"?]+)', (site / "search.html").read_text(encoding="utf-8"))
    assert [name.rpartition("/")[2] for name in scripts] == [
        "page.js", "searchtools.js", "language_data.js", "searchindex.js",
    ]  # fmt: skip


def test_formulas_stand_without_a_script(browser, site):
    """With their numbers and links, and as mathematics to a screen reader."""
    with server(site) as served, browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(f"{served.address}/book/gbdt.html")
        formulas = tab.locator("section > div.math math")
        heights = formulas.evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().height)")
        assert len(heights) >= 10 and min(heights) > 10
        assert re.fullmatch(r"\(10\.\d+\)#?", tab.locator(".eqno").first.text_content())
        session = context.new_cdp_session(tab)
        article = session.send("Runtime.evaluate", {"expression": "document.querySelector('article')"})["result"]
        query = {"objectId": article["objectId"], "role": "MathMLMath"}
        accessible = session.send("Accessibility.queryAXTree", query)["nodes"]
        assert len(accessible) == tab.locator("article math:visible").count()


def test_a_formula_is_a_stop_of_the_tab_key_only_where_it_scrolls(browser, site):
    with server(site) as served, browser.new_context(viewport={"width": 320, "height": 844}) as context:
        tab = context.new_page()
        tab.goto(f"{served.address}/book/gbdt.html")
        wait_until_laid_out(tab)
        stops = tab.evaluate(
            """() => [...document.querySelectorAll("section > div.math .formula")].filter((e) => e.offsetParent).map(
              (e) => [e.tabIndex === 0, e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight]
            )"""
        )
        assert {True, False} == {scrolls for _, scrolls in stops}
        assert [stop for stop, scrolls in stops if stop != scrolls] == []
        assert tab.locator("math [tabindex], math[tabindex]").count() == 0


def test_the_theme_looks_for_nothing_that_scrolls(lighten, site):
    """It would lay out the page anew for each, a second on a phone; the test above holds what stands in its place."""
    theme = (
        Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static/scripts/pydata-sphinx-theme.js"
    )
    assert lighten.THEMES_SCROLLERS in theme.read_text(encoding="utf-8")
    assert ".jp-RenderedHTMLCommon" not in (site / "_static" / "page.js").read_text(encoding="utf-8")


def test_the_script_comes_after_the_text_that_is_seen_first(site):
    for chapter in ("introduction", "cart", "notation"):
        html = (site / "book" / f"{chapter}.html").read_text(encoding="utf-8")
        before, after = html.split("/page.js")
        sections = [part.count("<section") for part in (before, after)]
        assert sections[0] == 2 or sections == [1, 0], chapter


def test_a_dark_page_is_dark_before_its_script_comes(browser, site):
    with server(site) as served, browser.new_context(color_scheme="dark") as context:
        tab = context.new_page()
        tab.route("**/page.js*", lambda route: route.abort())
        tab.goto(f"{served.address}/book/id3.html")
        ground = tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert max(map(int, re.findall(r"\d+", ground)[:3])) < 60


def test_a_link_leads_to_its_section_once_all_are_laid_out(browser, site):
    with server(site) as served, browser.new_context() as context:
        tab = context.new_page()
        for viewport, chapter in [(DESK, "cart"), (PHONE, "gbdt")]:
            tab.set_viewport_size(viewport)
            tab.goto(f"{served.address}/book/{chapter}.html#exercises")
            wait_until_laid_out(tab)
            tab.wait_for_function("() => ((y) => 0 <= y && y < 100)(exercises.getBoundingClientRect().y)")
            wait_two_frames(tab)
            assert 0 <= tab.locator("#exercises").bounding_box()["y"] < 100  # and stays there


def test_the_font_of_the_formulas_has_all_their_signs(site):
    has = TTFont(site / "_static" / "STIXTwoMath.woff2").getBestCmap()
    formulas = [
        formula
        for page in (site / "book").glob("*.html")
        for formula in re.findall(r"<math.*?</math>", page.read_text(encoding="utf-8"), re.DOTALL)
    ]
    signs = {sign for formula in formulas for sign in unescape(re.sub("<.*?>", "", formula)) if sign.isprintable()}
    assert (
        len(formulas) > 500
        and {sign for sign in signs if ord(sign) not in has and not "\u3000" < sign < "\uffff"} == set()
    )
    assert any("<msqrt" in formula for formula in formulas) and ord("√") in has


def test_every_icon_is_in_the_font(site):
    sheet = (site / "_static" / "page.css").read_text(encoding="utf-8")
    has = TTFont(site / "_static/vendor/fontawesome/webfonts/fa-solid-900.woff2").getBestCmap()
    for icon in ("bars", "download", "expand", "circle-half-stroke", "magnifying-glass", "list", "chevron-down"):
        sign = re.search(rf'\.fa-{icon}:+before[^{{]*\{{content:\s*"(.)"', sheet)[1]
        assert ord(sign) in has, icon


SHEET = """
.used {a: b}
.used, .unused .used, h1 > a.other:not(.unused) {c: d}
#unused {e: f}
@media print { .unused {g: h} #used {i: j} }
@media screen { .unused {k: l} }
@font-face {font-family: m}
"""


def test_rules_for_what_no_page_has_are_left_out(lighten):
    rules = tinycss2.parse_stylesheet(SHEET, skip_whitespace=True)
    words = lighten.words_of(["<p class=\"used\" id='x'>", '<p id="used">unused</p>'], ["e.classList.add('other')"])
    kept = "".join(lighten.in_use(rules, words))
    assert re.sub(r"\s", "", kept) == (
        ".used{a:b}.used,h1>a.other:not(.unused){c:d}@mediaprint{#used{i:j}}@font-face{font-family:m}"
    )


def test_variables_that_nothing_reads_are_left_out(lighten):
    sheet = 'html{--a: 1;--b: var(--a);--c: "x;}";--d:2;--e: 3}p{color:var(--f, 4)}@media print{html{--f:5;--c:6}}'
    kept = lighten.without_idle_variables(sheet, ['<i style="x: var( --d )">'], ["setProperty('--e')"])
    assert kept == "html{--d:2;--e: 3}p{color:var(--f, 4)}@media print{html{--f:5;}}"


def test_what_the_theme_would_load_is_taken_out_and_noted(lighten):
    loads = """<script defer="defer" src="../_static/late.js?v=1"></script>
      <script src="../_static/fontawesome.js"></script>
      <link rel="stylesheet" href="../_static/styles/a.css?v=2" /><script src="../searchindex.js"></script>
      <link rel="preload" as="script" href="../_static/late.js" /><script>DOCUMENTATION_OPTIONS.a = 1;</script>
      <link href="../_static/b.css" rel="stylesheet" /><meta name="kept"/>"""
    sections = "<section>One<section>Two<section>Three"
    left, bodies, loaded = {}, {}, []
    for page in ("id3", "search"):
        context = {"pathto": lambda name, resource: f"../{name}", "body": sections * (page == "id3")}
        lighten.take(loaded, None, page, "", context, None)
        left[page], bodies[page] = " ".join(context["taken"](loads).split()), context["body"]
    assert left["id3"] == '<meta name="kept"/>'
    assert left["search"] == '<script defer src="../searchindex.js"></script><meta name="kept"/>'
    assert bodies["id3"].split() == [
        "<section>One<section>Two<script",
        "defer",
        'src="../_static/page.js"></script>',
        "<section>Three",
    ]
    assert loaded == 2 * [(["styles/a.css", "b.css"], ["late.js"])]
    assert lighten.merged([["a", "c"], ["a", "b", "c"], ["d"]]) == ["a", "b", "c", "d"]


def test_a_joined_style_sheet_finds_its_files(lighten, tmp_path):
    (tmp_path / "styles").mkdir()
    (tmp_path / "styles" / "a.css").write_text('/* x */@import "../b.css";p {c: url(../d/e.png) url("data:f")}')
    (tmp_path / "b.css").write_text("q {c: url('g.png')}")
    assert lighten.read_sheet(tmp_path, "styles/a.css") == 'q {c: url("g.png")}p {c: url("d/e.png") url("data:f")}'
