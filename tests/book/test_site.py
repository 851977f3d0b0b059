"""The built site, opened in a real browser: every page, light on a desk and dark on a phone.

The site is built once (conftest.py), by the command behind `make book`. Each page is opened once on a desk and once on
a phone; what the browser saw is kept as a `Visit`, and each test looks at one side of all visits. What Sphinx adds of
its own, the listings of treekit's source in `_modules` and the index of names, is no page of the book and is not
opened; the page of the search is opened by the test that searches.
Tests that need no browser read the built files.
"""

import csv
import json
import re
from collections import Counter
from dataclasses import dataclass
from urllib.parse import quote, unquote, urldefrag, urlsplit

import pytest
import yaml
from axe_playwright_python.base import AXE_SCRIPT
from nbformat.v4 import new_code_cell, new_markdown_cell

import treekit
from figures.explorable import Explorable, Slider
from scripts.execute import ROOT
from tests.book.answering import answer_every_check, states
from tests.book.sites import build_small, open_page, open_tab, outside, small_book, wait_until_laid_out
from treekit.pen.svg import text

DESK, PHONE = 1280, 390
SHORTEST_ALT = 20
SMALLEST_WORDS = 11  # pixels, on a phone
#: What Sphinx adds of its own.
LISTINGS = ("_modules/", "genindex.html", "search.html")
#: The cover's second name, and the page for lost readers, whose links start at a site's root: test_front.py has both.
OF_THE_ROOT = ("index.html", "404.html")


def chapters():
    """The notebooks of the book without the cover and those of the errata, by page name such as `book/entropy`."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    return [file for file in files if (ROOT / f"{file}.ipynb").exists()]


def rows(name):
    """The rows of a CSV file in book/data."""
    with (ROOT / "book" / "data" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# Clicks every fold of a page on its title, once a round, and names those that are not open or closed then, as the round
# says, or whose title does not lie uppermost at one of the round's places. All folds that lie equally deep in others
# are clicked one after the other, so that the page is laid out once for all of them.
CLICK_FOLDS = """(rounds) => {
  const depth = (fold) => (fold ? 1 + depth(fold.parentElement.closest("details.fold")) : 0);
  const stuck = [];
  for (const folds of Map.groupBy(document.querySelectorAll("details.fold"), depth).values()) {
    const titles = folds.map((fold) => fold.querySelector(":scope > summary"));
    for (const [shares, isOpen] of rounds) {
      const there = titles.map((title) => {
        title.scrollIntoView({ block: "center", behavior: "instant" });
        const { left, top, width, height } = title.getBoundingClientRect();
        return shares.map((share) => document.elementFromPoint(left + share * width, top + height / 2));
      });
      for (const [e] of there) e?.click();
      folds.forEach((fold, k) => {
        if (there[k].every((e) => titles[k].contains(e)) && fold.open === isOpen) return;
        stuck.push(`${fold.id}: ${titles[k].textContent}, at ${shares}`);
      });
    }
  }
  scrollTo({ top: 0, behavior: "instant" });
  return stuck;
}"""
#: On a desk each fold is opened, closed and opened again. All are open in the end: the looks that follow see all that
#: the page holds.
ROUNDS = {DESK: [([0.01], True), ([0.5], False), ([0.99], True)], PHONE: [([0.01, 0.5, 0.99], True)]}


# What one look at a page brings home. Only the article counts for pictures: the theme answers for its own buttons.
LOOK = """async () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const name = (e) => e.alt ?? e.getAttribute("aria-label") ?? e.querySelector(":scope > title")?.textContent ?? "";
  const right = (e) => e?.getBoundingClientRect().right ?? 0;
  const solid = (e) => {
    const [r, g, b, alpha = 1] = getComputedStyle(e).backgroundColor.match(/[\\d.]+/g).map(Number);
    return alpha > 0 && Math.min(r, g, b) > 200;
  };
  const panels = (e) => (!e || e.matches("article") ? [] : [e, ...panels(e.parentElement)]);
  return {
    folds: all("details.fold").map((e) => e.id),
    hasArticle: all("article").length > 0,
    theme: document.documentElement.dataset.theme,
    overflow: document.scrollingElement.scrollWidth - innerWidth,
    formulas: all("math").length,
    untypeset: all(".math:not(:has(math)), .math:has(merror, .temml-error)").map((e) => e.textContent),
    cut: all("span.math math").filter((e) => right(e) > right(e.closest("p, li, dd, td, th, h1, h2, h3")) + 2)
      .map((e) => e.textContent),
    pictures: all("article img, article [role=img]").map((e) => [e.outerHTML.slice(0, 120), name(e).trim()]),
    lightPanels: all(".treekit-tree, figure.explorable").flatMap(panels).filter(solid).map((e) => e.className),
    links: all("a[href]").map((e) => e.href),
    anchors: all("[id]").map((e) => e.id),
  };
}"""


# The words in drawings that are smaller than they should be, those that their drawing cuts off, and how many there are
# in all: in every state of a figure that moves, in plots, trees and other drawings. How much a drawing shrinks is up to
# the page around it.
WORDS = """async (smallest) => {
  const small = [], cut = [];
  let seen = 0;
  const judge = (words, size) => {
    seen += 1;
    if (size < smallest) small.push(`${size.toFixed(1)} px: ${words.trim()}`);
  };
  const size = (e) => parseFloat(getComputedStyle(e).fontSize);
  const scale = ({ a, b, c, d }) => Math.sqrt(Math.abs(a * d - b * c));
  const judgeDrawn = (drawing) => {
    const room = drawing.getBoundingClientRect();
    for (const e of drawing.querySelectorAll("text, tspan")) {
      if (!e.checkVisibility()) continue;
      judge(e.textContent, size(e) * scale(e.getScreenCTM()));
      const { left, right } = e.getBoundingClientRect(), travels = e.closest(".traveller");
      if (!travels && (left < room.left - 2 || room.right + 2 < right)) cut.push(`cut off: ${e.textContent}`);
    }
  };
  // Every figure first shows all that it can, is judged, and is put back: so the page is laid out once for all.
  const panels = [], restore = [];
  for (const figure of document.querySelectorAll("figure.explorable")) {
    const { parts, frames } = JSON.parse(figure.querySelector("script").textContent);
    figure.querySelectorAll(".explorable-panels > svg").forEach((svg, k) => {
      const scenes = frames.map((frame) => frame[k + 2]);
      const frame = svg.querySelector(".frame"), shown = frame.innerHTML;
      frame.innerHTML = [...new Set(scenes.flatMap(([drawing]) => drawing))].map((part) => parts[part]).join("");
      const marks = [...svg.querySelectorAll(".traveller")], places = marks.map((mark) => mark.style.transform);
      marks.forEach((mark, i) => {
        const sizes = scenes.map(([, all]) => all[i]).filter((place) => place && place[4] !== 0)
          .map(([, , width = 1, height = width]) => Math.min(width, height));
        mark.style.transition = "none";
        mark.style.transform = `scale(${Math.min(...sizes, 1)})`;
      });
      panels.push(svg);
      restore.push(() => {
        marks.forEach((mark, i) => (mark.style.transform = places[i]));
        frame.innerHTML = shown;
      });
    });
  }
  panels.forEach(judgeDrawn);
  for (const putBack of restore) putBack();
  for (const svg of document.querySelectorAll("article svg")) if (!svg.closest("figure.explorable")) judgeDrawn(svg);
  for (const picture of document.querySelectorAll("article img[src*='svg']")) {
    picture.loading = "eager";
    await picture.decode();
    const text = await (await fetch(picture.src)).text();
    const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    svg.style.width = `${picture.getBoundingClientRect().width}px`;
    svg.style.height = "auto";
    picture.after(svg);
    judgeDrawn(svg);
    svg.remove();
  }
  for (const e of document.querySelectorAll(":is(figure.explorable, .treekit-tree) :not(svg, svg *, style, script)")) {
    const words = [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.data).join("");
    if (words.trim() && e.checkVisibility()) judge(words, size(e));
  }
  return { small, cut, seen };
}"""


# Spares axe most of its work. The parts of a formula are Temml's own affair: a word stands in for them. A drawing is
# judged by its name and by what in it can be reached: axe reads none of its shapes and words. Of all text that shows
# the first of each look is marked. Of other words that are only marked up in the text, such as those of code, the
# mark-up goes and the text stays. What stands beside the article is not judged: its boxes stay, so that the article
# keeps its width, and its lists of links go.
THIN_OUT = """() => {
  for (const formula of document.querySelectorAll("math")) formula.replaceWith("formula");
  const shapes = "svg :is(path, rect, line, circle, ellipse, polygon, polyline, text, use)";
  const inReach = "[role], [tabindex], svg a *, svg [tabindex] *";
  for (const shape of document.querySelectorAll(`${shapes}:not(${inReach})`)) shape.remove();
  const grounds = new Map([[null, ""]]);
  const ground = (e) => {
    if (!grounds.has(e)) {
      const { backgroundColor, opacity } = getComputedStyle(e);
      const own = backgroundColor === "rgba(0, 0, 0, 0)" && opacity === "1" ? "" : backgroundColor + opacity;
      grounds.set(e, ground(e.parentElement) + own);
    }
    return grounds.get(e);
  };
  const look = (e) => {
    const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(e);
    return [color, fontSize, fontWeight, textDecorationLine, getComputedStyle(e.parentElement).color, ground(e)].join();
  };
  const hasText = (e) => [...e.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const isWord = (e) => e.matches("code, em, span, strong") && e.getAttributeNames().every((name) => name === "class");
  const looks = new Set(), words = [];
  for (const e of document.querySelectorAll("article *")) {
    if (hasText(e) && e.checkVisibility() && !looks.has(look(e))) {
      looks.add(look(e));
      e.dataset.look = "first";
    } else if (isWord(e)) words.push(e);
  }
  for (const word of words) word.replaceWith(...word.childNodes);
  for (const e of document.querySelectorAll(":has(article) > :not(article, :has(article))")) e.dataset.beside = "";
  for (const entry of document.querySelectorAll("[data-beside] li")) entry.remove();
}"""
# Contrast is a matter of looks: the first text of each is judged for all. Leaves these, and what scrolls.
LEAVE_LOOKS = """() => {
  const kept = new Set(), keep = (e) => e && !kept.has(e) && (kept.add(e), keep(e.parentElement));
  const isLarger = (e) => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight;
  const scrolls = (e) => isLarger(e) && /auto|scroll/.test(getComputedStyle(e).overflow);
  const all = [...document.querySelectorAll("article *")];
  for (const e of all) if (e.dataset.look) keep(e);
  for (const e of all.filter(scrolls)) for (const part of [e, ...e.querySelectorAll("*")]) keep(part);
  for (const e of all) if (!kept.has(e)) e.remove();
}"""
#: The article, said so that axe finds elements by name: given "article", it walks through the page for every rule.
ARTICLE = {"exclude": [["[data-beside]"]]}
#: What is judged by the first text of each look.
OF_LOOKS = [
    {"id": "color-contrast", "selector": "[data-look], [data-look] *"},
    {"id": "link-in-text-block", "selector": "a[href][data-look], [data-look] a[href]"},
]
AXE = AXE_SCRIPT + f";axe.configure({json.dumps({'rules': OF_LOOKS})})"
VIOLATIONS = "async ([context, options]) => (await axe.run(context, options)).violations"
#: What width and theme can change.
CHANGING = [*(rule["id"] for rule in OF_LOOKS), "scrollable-region-focusable"]
# No list of what is right, no path to every node, without reading the style sheets again.
JUDGE = {"resultTypes": ["violations"], "selectors": False, "preload": False}
#: All else, without the rule that takes longest of those that are no serious matter: whether all stands in a landmark.
LASTING = {"rules": {name: {"enabled": False} for name in [*CHANGING, "region"]}}
#: The rest of a page is laid out half a second after it has come (sections.js); here at once, for sixty pages are seen.
#: test_weight.py sees that it comes at all.
AT_ONCE = """const later = setTimeout;
setTimeout = (what, wait, ...rest) => later(what, wait === 500 ? 0 : wait, ...rest);"""
#: Lets the page forget how its checks were answered.
FORGET = "() => document.querySelector('.checks-summary button')?.click()"


@dataclass(repr=False)
class Visit:
    """What one page looked like with one theme and width, and how its checks were answered or remembered."""

    page: str
    theme: str
    width: int
    errors: list
    requests: list
    violations: list
    stuck: list
    answered: dict
    states: list
    look: dict

    def __repr__(self):
        return f"{self.page} ({self.theme}, {self.width} px)"


def serious_violations(tab, width=DESK):
    """What axe finds in the article of a page, which is thinned out for it.

    What neither width nor theme can change is judged on the desk alone, for a phone shows the same elements.
    """
    tab.evaluate(THIN_OUT)
    tab.evaluate(AXE)
    found = tab.evaluate(VIOLATIONS, [ARTICLE, JUDGE | LASTING]) if width == DESK else []
    tab.evaluate(LEAVE_LOOKS)
    found += tab.evaluate(VIOLATIONS, [ARTICLE, JUDGE | {"runOnly": CHANGING}])
    serious = [violation for violation in found if violation["impact"] in ("serious", "critical")]
    return [f"{violation['id']}: {node['html'][:160]}" for violation in serious for node in violation["nodes"]]


def visit(tab, url, width):
    """Open a page and its folds, look at it and let axe judge its article.

    Returns what axe found, the folds that do not open or close, what is wrong with the replies of its checks, what its
    checks show, and the look.
    On a desk the checks are answered, so that axe judges their replies. The phone must remember what was answered, and
    forgets it: the look shows the checks as they come.
    """
    tab.goto(url)
    answered, shown = {}, states(tab)
    if width == PHONE:
        tab.evaluate(FORGET)
    stuck = tab.evaluate(CLICK_FOLDS, ROUNDS[width])
    look = tab.evaluate(LOOK)
    if width == PHONE:
        look["words"] = tab.evaluate(WORDS, SMALLEST_WORDS)
    wait_until_laid_out(tab)
    if width == DESK and shown:
        answered, shown = answer_every_check(tab), states(tab)
    violations = serious_violations(tab, width) if look["hasArticle"] else []
    return violations, stuck, answered, shown, look


@pytest.fixture(scope="module")
def visits(site, browser, address):
    """Every page of the book, looked at on a light desk and on a dark phone of the same reader."""
    names = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    names = [name for name in names if not name.startswith(("_static/", *LISTINGS)) and name not in OF_THE_ROOT]
    assert {f"{chapter}.html" for chapter in chapters()} < set(names)
    made, remembered = [], None
    for theme, width in [("light", DESK), ("dark", PHONE)]:
        window = {"viewport": {"width": width, "height": 844}, "color_scheme": theme, "storage_state": remembered}
        with browser.new_context(**window) as context:
            context.add_init_script(AT_ONCE)
            tab, errors, requests = open_tab(context, address)
            for name in names:
                found = visit(tab, f"{address}/{name}", width)
                made.append(Visit(name, theme, width, errors.copy(), requests.copy(), *found))
                errors.clear()
                requests.clear()
            remembered = context.storage_state()
    return made


def check(visits, pick):
    """Fail with one line for each thing that `pick` finds wrong in a visit."""
    faults = [f"{visit}: {fault}" for visit in visits for fault in pick(visit)]
    assert not faults, "\n".join([f"{len(faults)} found", *faults])


def test_pages_open_without_errors(visits):
    check(visits, lambda v: v.errors)


def test_pages_ask_no_other_host(visits):
    check(visits, lambda v: v.requests)


def test_math_is_typeset(visits):
    check(visits, lambda v: v.look["untypeset"])
    with_math = {v.page for v in visits if v.look["formulas"]}
    assert {"book/notation.html", "book/entropy.html", "book/id3.html"} <= with_math


def test_no_formula_is_cut_off(visits):
    """A formula in a line of text must find room there; one on a line of its own scrolls."""
    check(visits, lambda v: v.look["cut"])


def test_every_fold_opens_and_closes_by_its_title(visits):
    check(visits, lambda v: v.stuck)
    assert {f"{chapter}.html" for chapter in chapters()} <= {v.page for v in visits if v.look["folds"]}


def test_no_id_stands_twice_on_a_page(visits):
    check(visits, lambda v: [name for name, count in Counter(v.look["anchors"]).items() if count > 1])


def test_theme_follows_the_reader(visits):
    check(visits, lambda v: [] if v.look["theme"] == v.theme else [v.look["theme"]])


def test_an_open_page_follows_when_night_falls_and_ends(browser, address):
    with browser.new_context(viewport={"width": DESK, "height": 844}, color_scheme="light") as context:
        tab, errors, _ = open_page(context, f"{address}/book/id3.html", address)
        for theme in ("dark", "light"):
            tab.emulate_media(color_scheme=theme)
            tab.wait_for_function(f"document.documentElement.dataset.theme === '{theme}'", timeout=10_000)
            light = tab.evaluate(LOOK)["lightPanels"]
            assert errors == [] and (light == []) == (theme == "dark")


def test_no_page_scrolls_sideways(visits):
    check(visits, lambda v: [f"{v.look['overflow']} px too wide"] if v.look["overflow"] > 0 else [])


def test_no_light_panel_in_the_dark(visits):
    check([v for v in visits if v.theme == "dark"], lambda v: v.look["lightPanels"])


def test_axe_finds_no_serious_violation(visits):
    check(visits, lambda v: v.violations)


def test_words_in_drawings_read_on_a_phone(visits):
    on_phone = [v for v in visits if v.width == PHONE]
    assert sum(v.look["words"]["seen"] > 100 for v in on_phone) >= 14  # the cover, the chapters, and how treekit grows
    check(on_phone, lambda v: v.look["words"]["small"])


def test_words_fit_into_their_drawings(visits):
    check([v for v in visits if v.width == PHONE], lambda v: v.look["words"]["cut"])


#: A picture 600 pixels wide.
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 20"><text y="15" font-size="12">words</text></svg>'


def drawn(at_rest, moved, size):
    """A figure 300 pixels wide whose words have these sizes at rest and when it has moved, and a mark that shrinks."""
    return Explorable(
        title="Title",
        alt="",
        size=(300, 100),
        background="",
        marks={"mark": text(0, 0, "mark", font_size=20)},
        controls=[Slider("Step", [0, 1])],
        frame=lambda k: ([text(0, 50, "words", font_size=(at_rest, moved)[k])], "", {"mark": (9, 9, (1, size)[k])}),
    )._repr_html_()


@pytest.mark.parametrize(
    "figure, small",
    [
        (drawn(12, 12, 0.6), []),
        (drawn(10, 12, 0.6), ["10.0 px: words"]),
        (drawn(12, 10, 0.6), ["10.0 px: words"]),
        (drawn(12, 12, 0.5), ["10.0 px: mark"]),
        (f"<img width=300 src='data:image/svg+xml,{quote(SVG)}'>", ["6.0 px: words"]),
        (f"<img width=600 src='data:image/svg+xml,{quote(SVG)}'>", []),
        ("<div class=treekit-tree><small style='font-size: 9px'>words</small></div>", ["9.0 px: words"]),
    ],
)
def test_small_words_are_seen(browser, figure, small):
    with browser.new_context(viewport={"width": 300, "height": 300}) as context:
        page = context.new_page()
        page.set_content(f"<style>* {{margin: 0}}</style><article>{figure}</article>")
        seen = page.evaluate(WORDS, SMALLEST_WORDS)
        assert seen["small"] == small and seen["cut"] == [] and seen["seen"] > 0


@pytest.mark.parametrize(("x", "cut"), [(280, ["cut off: words"]), (200, []), (-9, ["cut off: words"])])
def test_words_that_are_cut_off_are_seen(browser, x, cut):
    with browser.new_context(viewport={"width": 300, "height": 300}) as context:
        page = context.new_page()
        page.set_content(f"<article><svg viewBox='0 0 300 20'><text x='{x}' y='15'>words</text></svg></article>")
        assert page.evaluate(WORDS, SMALLEST_WORDS)["cut"] == cut


FAULTY = """<!doctype html><html lang="en"><title>Page</title><style>{style}</style>
<article><p>Words, <em>more</em> and <em>more</em> of them.</p>
<pre tabindex="0"><span class="k">if</span> a: <span class="k">if</span> b <span class="c"># why</span></pre>
{more}</article>"""


@pytest.mark.parametrize(
    "style, more, found",
    [
        ("", "", []),
        (".c {color: #bbb}", "", ["color-contrast"]),
        (".k {color: #bbb}", "", ["color-contrast"]),
        ("pre {background: #444}", "", ["color-contrast"]),
        ("article {opacity: 0.3}", "", ["color-contrast"]),
        (
            "a {color: #222; text-decoration: none}",
            "<p>Words <a href='#'>to them</a> on and on</p>",
            ["link-in-text-block"],
        ),
        ("", "<img src='data:,'>", ["image-alt"]),
        ("", "<svg role='img'><rect/></svg>", ["svg-img-alt"]),
        ("", "<svg role='img' aria-label='Drawing'><text>b</text></svg>", []),
        ("", "<svg><a href='#'><text>b</text></a><a href='#'><rect/></a></svg>", ["link-name"]),
        ("", "<a href='#'><math></math></a><a href='#'></a>", ["link-name"]),
        ("div {height: 1em; overflow: auto}", f"<div>{'<p>words</p>' * 9}</div>", ["scrollable-region-focusable"]),
        ("div {height: 1em; overflow: auto}", f"<div tabindex='0'>{'<p>words</p>' * 9}</div>", []),
    ],
)
def test_axe_sees_what_is_wrong_on_a_thinned_out_page(browser, style, more, found):
    with browser.new_context() as context:
        page = context.new_page()
        page.set_content(FAULTY.format(style=style, more=more))
        assert sorted({violation.split(":")[0] for violation in serious_violations(page)}) == found


def lacks_alt(picture):
    """Tell whether a picture's text says too little, or is only the name of its file."""
    _, text = picture
    return len(text) < SHORTEST_ALT or re.fullmatch(r"\S+\.(png|svg|jpe?g)", text)


def test_pictures_have_alt_text(visits):
    assert any(v.look["pictures"] for v in visits)
    check(visits, lambda v: [p for p in v.look["pictures"] if lacks_alt(p)])


def test_internal_links_resolve(visits, site, address):
    def ids(listing):
        return {"", *re.findall(r'\bid="([^"]+)"', listing.read_text(encoding="utf-8"))}

    files = {path.relative_to(site).as_posix(): path for path in site.rglob("*.html")}
    anchors = {name: ids(path) for name, path in files.items() if name.startswith(LISTINGS)}
    anchors |= {v.page: {*v.look["anchors"], "", "top"} for v in visits}

    def broken(link):
        url, fragment = urldefrag(link)
        page = urlsplit(url).path.lstrip("/")
        if outside(url, address) or page.startswith(("_sources/", "_downloads/", "_images/")):
            return False
        return page != "index.html" and unquote(fragment) not in anchors.get(page, ())

    check(visits, lambda v: {link for link in v.look["links"] if broken(link)})


def test_downloads_exist(visits, site, address):
    links = {urlsplit(link).path.lstrip("/") for v in visits for link in v.look["links"] if not outside(link, address)}
    files = {link for link in links if link.startswith(("_sources/", "_downloads/", "_images/"))}
    assert files and [file for file in files if not (site / unquote(file)).is_file()] == []


@pytest.mark.parametrize(
    "term, page",
    [
        ("entropy", "book/glossary.html#term-entropy"),
        ("information gain", "book/glossary.html#term-information-gain"),
        ("one cut by hand", "book/cart.html#one-cut-by-hand"),
    ],
)
def test_search_finds_terms_and_sections_first(browser, address, term, page):
    with browser.new_context() as context:
        tab, errors, requests = open_page(context, f"{address}/book/introduction.html", address)
        tab.locator("button.search-button__button:visible").first.click()
        tab.keyboard.type(term)
        tab.keyboard.press("Enter")
        first = tab.locator("#search-results li").first.locator(f"a[href*='{page}']")
        first.wait_for(timeout=10_000)
        assert errors + requests == []


@pytest.mark.parametrize("has_touch", [False, True])
def test_a_term_says_what_it_means(browser, address, has_touch):
    with browser.new_context(has_touch=has_touch) as context:
        page, errors, _ = open_page(context, f"{address}/book/id3.html", address)
        term, note = page.locator("a[data-means]").first, page.locator("#term-note")
        assert not note.is_visible()
        term.tap() if has_touch else term.hover()
        note.wait_for()
        assert note.inner_text() == term.get_attribute("data-means") != ""
        page.keyboard.press("Escape")
        assert not note.is_visible()
        if not has_touch:
            page.mouse.move(0, 0)
            page.keyboard.press("Tab")
            term.focus()
            note.wait_for()
        term.tap() if has_touch else term.click()
        if has_touch:
            term.tap()
        page.wait_for_url("**/glossary.html#term-*")
        assert errors == []


def test_a_chapter_is_ticked_at_its_end(browser, address):
    with browser.new_context() as context:
        page, errors, _ = open_page(context, f"{address}/book/id3.html", address)
        tick = "nav.bd-links .read-mark"
        assert page.locator(tick).count() == 0
        page.locator("#was-read").scroll_into_view_if_needed()
        page.locator(tick).wait_for()
        page.goto(f"{address}/book/cover.html")
        assert page.locator(f"a[href='id3.html'] {tick.split()[-1]}").count() == 2  # in the list and on the card
        page.goto(f"{address}/book/id3.html")
        page.locator("#was-read").uncheck()
        assert page.locator(tick).count() == 0
        assert errors == []


# The remarks that something covers when they come up from below.
COVERED = """async () => {
  const covered = [];
  for (const remark of document.querySelectorAll("article aside.margin")) {
    for (const share of [0.7, 0.8]) {
      const top = scrollY + remark.getBoundingClientRect().top;
      scrollTo({ top: top - share * innerHeight, behavior: "instant" });
      await new Promise((done) => setTimeout(done, 600));  // the theme folds its contents slowly
      const box = remark.getBoundingClientRect();
      const there = document.elementFromPoint(box.left + box.width / 2, box.top + 3);
      if (!remark.contains(there)) covered.push(remark.textContent);
    }
  }
  return covered;
}"""


def test_no_remark_is_covered_by_the_contents(browser, address):
    with browser.new_context(viewport={"width": DESK, "height": 700}) as context:
        page, errors, _ = open_page(context, f"{address}/book/id3.html", address)
        assert page.locator("article aside.margin").count() >= 2
        assert page.evaluate(COVERED) + errors == []


# Where prose, checks, pictures and figures of one panel end, from the left of their section. Code may be wider.
ENDS = """() => [...document.querySelectorAll("article > section > section")].flatMap((section) =>
  [...section.querySelectorAll(":scope > :is(p, .check), :scope > .cell > .cell_output > svg, figure:not(:has(.two))")]
    .filter((e) => e.checkVisibility() && !e.closest("details"))
    .map((e) => Math.round(e.getBoundingClientRect().right - section.getBoundingClientRect().left)))"""


def test_what_is_read_has_one_right_edge(browser, address):
    with browser.new_context(viewport={"width": DESK, "height": 700}) as context:
        for chapter in ("id3", "cart", "forests"):
            page, errors, _ = open_page(context, f"{address}/book/{chapter}.html", address)
            wait_until_laid_out(page)
            ends = page.evaluate(ENDS)
            assert len(ends) > 30 and max(ends) <= 560 and ends.count(560) > len(ends) / 2 and errors == []


def test_listings_show_no_markup(site):
    """Neither the backticks nor the roles by which docstrings name formulas for the reference."""
    listings = [
        re.sub("<.*?>", "", listing)
        for path in (site / "book").glob("*.html")
        for listing in re.findall(r'<div class="highlight-python.*?</pre>', path.read_text("utf-8"), re.DOTALL)
    ]
    assert len(listings) > 60 and [code for code in listings if "``" in code or ":eq:" in code] == []


# The height of every plot before and after it comes.
HEIGHTS = """async () => {
  const plots = [...document.querySelectorAll("article img")];
  const heights = () => plots.map((plot) => Math.round(plot.getBoundingClientRect().height));
  const before = heights(), isWaiting = plots.some((plot) => !plot.complete);
  for (const plot of plots) {
    plot.loading = "eager";
    await plot.decode();
  }
  return { isWaiting, before, after: heights() };
}"""


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_no_text_moves_when_plots_come(browser, address, width):
    with browser.new_context(viewport={"width": width, "height": 700}) as context:
        page, errors, _ = open_page(context, f"{address}/book/scale.html", address)
        wait_until_laid_out(page)
        heights = page.evaluate(HEIGHTS)
        assert heights["isWaiting"] and heights["before"] == heights["after"] and errors == []


def test_every_plot_has_room_kept_for_it(site):
    """Not the cover's: its pictures are part of the page."""
    pictures = [
        tag for page in site.glob("book/*.html") for tag in re.findall("<img [^>]*_images/[^>]*>", page.read_text())
    ]
    assert pictures and [tag for tag in pictures if not re.search(r' width="\d+" height="\d+" ', tag)] == []


def test_pages_open_from_the_disk(site, browser):
    with browser.new_context() as context:
        page, errors, requests = open_page(context, (site / "book" / "notation.html").as_uri(), "file:")
        look = page.evaluate(LOOK)
        assert errors + requests + look["untypeset"] == [] and look["formulas"]


@pytest.mark.parametrize(
    "name, prefix, page", [("source-map.csv", "source", "source_map"), ("errata.csv", "erratum", "errata")]
)
def test_every_row_has_its_place(site, name, prefix, page):
    table = (site / "book" / f"{page}.html").read_text(encoding="utf-8")
    missing = []
    for row in rows(name):
        label = f"{prefix}-{row['id'].lower().replace('.', '-')}"
        place = row["chapter"] if prefix == "source" else f"errata_{row['source']}"
        html = (site / "book" / f"{place}.html").read_text(encoding="utf-8")
        if f'id="{label}"' not in html or f'href="{place}.html#{label}"' not in table:
            missing.append(f"{label} in {place}")
    assert missing == []


def test_every_term_is_in_the_glossary():
    """Where a chapter defines a term it stands in bold, with the Chinese in brackets: the glossary has it too."""
    glossary = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    sources = [(ROOT / f"{chapter}.ipynb").read_text(encoding="utf-8") for chapter in chapters()]
    defined = [term for source in sources for term in re.findall(r"\*\*[^*]+\*\* \(([\u4e00-\u9fff, ]+)\)", source)]
    assert defined and [term for term in defined if not all(name in glossary for name in term.split(", "))] == []


def test_every_public_name_is_in_the_reference(site):
    html = "".join(path.read_text(encoding="utf-8") for path in site.glob("book/reference*.html"))
    names = [name for name in treekit.__all__ if not re.search(rf'id="(module-)?treekit\.{name}"', html)]
    assert names == []


def launch_links(html):
    """The addresses on a page that open a notebook elsewhere."""
    return re.findall(r'href="(https://(?:mybinder\.org|colab\.research\.google\.com)[^"]*)"', html)


def test_no_solution_of_a_graded_exercise_is_on_the_site(site):
    """The student edition of every notebook is there, and nothing of nbgrader's marks around what it took out."""
    offered = {path.stem for path in site.glob("_downloads/*/*.ipynb")}
    assert offered == {path.stem for path in (ROOT / "book" / "exercises").glob("*.ipynb")}
    marked = {path.stem for path in site.rglob("*.ipynb") if "### BEGIN" in path.read_text(encoding="utf-8")}
    assert marked <= {"instructors"}  # the page that explains how a task is written


def test_no_launch_button_without_a_repository(site):
    for chapter in chapters():
        html = (site / f"{chapter}.html").read_text(encoding="utf-8")
        assert launch_links(html) == [] and "executablebooks" not in html and "in-colab" not in html


def test_launch_buttons_lead_to_the_given_repository(tmp_path):
    folder = small_book(tmp_path, [new_markdown_cell("# A small chapter"), new_code_cell("1 + 1")])
    repository = {"BOOK_REPOSITORY_URL": "https://github.com/someone/trees", "BOOK_REPOSITORY_BRANCH": "draft"}
    html = build_small(folder, **repository)
    assert "!git clone --depth 1 --branch draft https://github.com/someone/trees the-book\n%pip install" in html
    assert launch_links(html) == [
        "https://mybinder.org/v2/gh/someone/trees/draft?urlpath=lab/tree/book/small.ipynb",
        "https://colab.research.google.com/github/someone/trees/blob/draft/book/small.ipynb",
    ]


def test_every_check_is_answered_right_and_wrong(visits, site):
    """As a reader would: every answer meets its reply."""
    check(visits, lambda v: [f"{label}: {fault}" for label, fault in v.answered.items() if fault])
    asking = {f"{name}.html" for name in chapters() if 'class="check"' in (site / f"{name}.html").read_text("utf-8")}
    assert asking and asking <= {v.page for v in visits if v.answered}


def test_answers_are_remembered(visits):
    given = {v.page: v.states for v in visits if v.width == DESK}
    check([v for v in visits if v.width == PHONE], lambda v: ["forgets its answers"] * (v.states != given[v.page]))
    assert all(state["reply"] for v in visits if v.answered for state in v.states)
