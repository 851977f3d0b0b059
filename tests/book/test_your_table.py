"""The page for the reader's own table, in a real browser, with the site's own Python: from the drop to the code."""

from __future__ import annotations

import contextlib
import io
import re

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from sklearn import datasets

from scripts.execute import ROOT
from tests.book.first_output import DROP
from tests.book.sites import open_tab
from tests.your_table.test_reading import workbook
from your_table import page

PAGE = "book/your_table.html"
LONGEST = 60_000  # milliseconds that a busy machine may take to start Python


@pytest.fixture(scope="module")
def iris():
    loaded = datasets.load_iris(as_frame=True)
    return loaded.frame.assign(target=loaded.target_names[loaded.target]).to_csv(index=False, sep=";", decimal=",")


@pytest.fixture(scope="module")
def desk(browser, address):
    """A tab that all tests use in turn, with its errors and the requests that leave the site: Python starts once."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
        tab, errors, outside = open_tab(context, address)
        tab.goto(f"{address}/{PAGE}")
        tab.locator("[data-book=watermelon]").press("Enter")
        tab.wait_for_selector("[data-part=rules]:has-text('then')", timeout=LONGEST)
        yield tab
        assert errors + outside == []


@pytest.fixture
def tab(desk):
    """The tab with the tree of the melons."""
    desk.set_viewport_size({"width": 1280, "height": 900})
    desk.locator("[data-book=watermelon]").click()
    said(desk, "The tree has grown.")
    yield desk


def said(tab, words):
    is_said = "(words) => document.querySelector('[data-part=said]').textContent.startsWith(words)"
    tab.wait_for_function(is_said, arg=words, timeout=LONGEST)


def part(tab, name):
    return tab.locator(f"[data-part={name}]")


def node(tab, k):
    """The card of a node."""
    return tab.locator(f"[data-part=tree] svg [role=button][data-node='{k}']")


def test_from_the_drop_to_the_copied_code_without_a_request(tab, iris):
    """With the network off: what the page says of the reader's table is true."""
    requests = []
    tab.on("request", lambda request: requests.append(request.url))
    tab.context.set_offline(True)
    tab.evaluate(DROP, [iris, "iris.csv"])
    said(tab, "The tree has grown.")
    assert "150 rows, 5 columns." in part(tab, "about").text_content()
    assert re.match(r"CART’s own tree is right on 9\d% of 45 rows", part(tab, "headline").text_content())
    rules = part(tab, "rules").text_content()
    assert "petal" in rules and "then setosa" in rules

    node(tab, 0).click()
    tab.locator("[data-part=node] button", has_text="sepal length").click()
    said(tab, "The tree is changed")
    assert "if sepal length" in part(tab, "rules").text_content().splitlines()[0]
    names = part(tab, "scores").locator("tbody td:first-child").all_text_contents()
    assert names == ["your tree", "CART’s own tree", "always “virginica”"] or names[:2] == [
        "your tree",
        "CART’s own tree",
    ]

    before = len(part(tab, "rules").text_content().splitlines())
    node(tab, 1).click()
    tab.locator("[data-part=node] .cut").click()
    tab.wait_for_function(
        "(n) => document.querySelector('[data-part=rules]').textContent.split('\\n').length < n", arg=before
    )
    part(tab, "copy").click()
    said(tab, "The code is copied.")
    code = tab.evaluate("navigator.clipboard.readText()")
    assert code == part(tab, "code").text_content() and "by_hand.cut(tree, [True])" in code
    with tab.expect_download() as download:
        part(tab, "save-table").click()
    assert download.value.suggested_filename == "iris-read.csv"
    with tab.expect_download() as download:
        part(tab, "save-svg").click()
    assert download.value.suggested_filename == "tree.svg"
    tab.context.set_offline(False)
    assert [url for url in requests if not url.startswith("blob:")] == []


OTHERS = ["iris", "wine", "breast_cancer", "diabetes"]  # of scikit-learn
BOOKS = ["watermelon_missing", "playtennis", "loan", "lunch", "benchmarks"]


def table_of(name):
    """A public table, as CSV."""
    if name in OTHERS:
        return getattr(datasets, f"load_{name}")(as_frame=True).frame.to_csv(index=False)
    folder = ROOT / ("tests" if name == "stagec" else "treekit") / "data"
    return (folder / f"{name}.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*OTHERS, *BOOKS, "stagec"])
def test_the_browser_grows_the_tree_of_the_desk(tab, name):
    """Its Python has 32 bits and another mathematical library, and still all numbers are the same."""
    text = table_of(name)
    tab.evaluate(DROP, [text, f"{name}.csv"])
    tab.wait_for_function("(name) => document.querySelector('[data-part=code]').textContent.includes(name)", arg=name)
    about = page.take(text.encode(), f"{name}.csv")
    answer = page.grow(about["suggested"])
    assert part(tab, "rules").text_content() == "\n".join(answer["rules"])
    assert part(tab, "code").text_content() == answer["code"]


def test_by_keyboard_alone(tab):
    rules = part(tab, "rules").text_content()
    node(tab, 0).press("Enter")
    tab.wait_for_selector("[data-part=node]:focus")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    said(tab, "The tree is changed")
    assert part(tab, "rules").text_content() != rules
    tab.wait_for_selector("[data-part=tree] [data-node='0']:focus")
    part(tab, "undo").press("Enter")
    said(tab, "Your last change is undone.")
    assert part(tab, "rules").text_content() == rules


def test_settings_grow_it_anew(tab):
    tab.locator("[name=method]").select_option("id3")
    tab.wait_for_selector("[data-part=rules]:has-text('texture = blurry')")
    tab.locator("summary", has_text="What each column").click()
    tab.get_by_label("texture: taken for").select_option("left out")
    tab.wait_for_selector("[data-part=rules]:not(:has-text('texture'))")
    tab.locator("[name=target]").select_option("sugar")
    said(tab, "“sugar” holds numbers, and ID3 predicts classes: choose CART")
    assert part(tab, "result").is_hidden()
    tab.locator("[name=method]").select_option("cart")
    said(tab, "The tree has grown.")
    assert "off by" in part(tab, "headline").text_content()


def test_a_row_falls_through_the_tree(tab):
    tab.get_by_label("Follow row").select_option("1")
    assert "Predicted: yes. The table says: yes." in tab.locator(".treekit-follow output").text_content()


def test_a_bad_table_is_answered_in_a_sentence(tab):
    part(tab, "pasted").fill("name\nAda\nBob\n")
    said(tab, "Only one column was found.")
    assert part(tab, "form").is_hidden() and part(tab, "result").is_hidden()
    part(tab, "pasted").fill("")


def test_a_workbook_of_excel_is_read_in_the_browser(tab, tmp_path):
    cell = '<c r="{}{}" t="inlineStr"><is><t>{}</t></is></c>'
    rows = [("sugar", "ripe"), *((k, "yes" if k > 3 else "no") for k in (1, 2, 3.5, 3, 4, 5, 7))]
    sheet = ["".join(cell.format(letter, k, word) for letter, word in zip("AB", row)) for k, row in enumerate(rows, 1)]
    (tmp_path / "melons.xlsx").write_bytes(workbook(*sheet))
    part(tab, "file").set_input_files(tmp_path / "melons.xlsx")
    tab.wait_for_selector("[data-part=rules]:has-text('sugar <= 3.25')")


def test_what_takes_too_long_is_stopped_and_goes_on(tab):
    rows = "".join(f"{k * 7919 % 9973},{k * 104729 % 9967},{k % 5}\n" for k in range(9000))
    tab.evaluate(DROP, [f"a,b,c\n{rows}", "large.csv"])
    part(tab, "stop").click()
    said(tab, "Stopped.")
    tab.locator("[data-book=loan]").click()
    said(tab, "The tree has grown.")


def fits_and_can_be_used(tab):
    """No part is wider than the page, and axe finds nothing."""
    tab.locator("details:not(.outline details)", has_text="What each column").evaluate("(e) => (e.open = true)")
    assert tab.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0
    tab.evaluate(AXE_SCRIPT)
    found = tab.evaluate("async () => (await axe.run('#your-table', { resultTypes: ['violations'] })).violations")
    assert [(rule["id"], [one["html"][:200] for one in rule["nodes"]]) for rule in found] == []


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_it_fits_and_can_be_used_by_all(tab, width, theme):
    """On a phone a line of the outline is a node."""
    tab.set_viewport_size({"width": width, "height": 844})
    tab.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
    if width < 600:
        tab.locator(".outline summary").first.click()
    else:
        node(tab, 0).click()
    tab.wait_for_selector("[data-part=node]:not([hidden]) button")
    fits_and_can_be_used(tab)
    spills = "(button) => button.scrollWidth - button.clientWidth"
    assert [one.evaluate(spills) for one in part(tab, "node").locator("button").all() if one.evaluate(spills) > 0] == []


@pytest.fixture(scope="module")
def fitting(browser, address, iris):
    """Brings the irises, chooses a method, and waits for what is said then; returns the tab, as wide as a phone."""
    with browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark") as context:

        def choose(method, words, prepare=lambda tab: None):
            tab = context.new_page()
            prepare(tab)
            tab.goto(f"{address}/{PAGE}")
            tab.evaluate(DROP, [iris, "iris.csv"])
            said(tab, "The tree has grown.")
            tab.locator("[name=method]").select_option(method)
            said(tab, words)
            return tab

        yield choose


def cut_off(tab):
    tab.route("https://cdn.jsdelivr.net/**", lambda route: route.abort())


@pytest.mark.parametrize("method", ["forest", "boosting"])
def test_where_numpy_cannot_be_had_the_page_says_so(fitting, method):
    """In one sentence. The four settings of the method are there, axe finds nothing, and a tree grows on."""
    tab = fitting(method, "This needs NumPy", cut_off)
    assert part(tab, "said").text_content() == (
        "This needs NumPy, pandas, scikit-learn and SciPy, which could not be loaded from cdn.jsdelivr.net. "
        "ID3, C4.5 and CART grow without."
    )
    assert part(tab, "numeric").get_attribute("label") == "fetches NumPy from cdn.jsdelivr.net"
    assert tab.locator("[data-for]:visible").count() == 1
    for kind in ("[data-parameter]", "a"):
        assert tab.locator(f"[data-for={method}] {kind}:visible").count() == 4
    fits_and_can_be_used(tab)
    tab.locator("[name=method]").select_option("cart")
    said(tab, "The tree has grown.")
    tab.close()


#: In the place of the worker: the page's own Python code, run on this desk.
DESK = """window.Worker = class {
  async postMessage({ id, do: what, name, values }) {
    const plain = values?.map((value) => (value instanceof Uint8Array ? [...value] : value));
    const done = what === "call" ? { value: await onDesk(name, plain) } : { missing: [] };
    this.onmessage?.({ data: id ? { id, done } : { ready: 1, bytes: 1 } });
  }
  terminate() {}
};"""


def on_desk(tab):
    tab.expose_function("onDesk", lambda name, values: getattr(page, name.rpartition(".")[2])(*values))
    tab.add_init_script(DESK)


#: By the wheels of NumPy, from where a reader's browser gets them; or what the page makes of the same answers.
@pytest.mark.parametrize(
    "python", [pytest.param(lambda tab: None, marks=pytest.mark.wheels, id="browser"), pytest.param(on_desk, id="desk")]
)
@pytest.mark.parametrize("method", ["forest", "boosting"])
def test_a_model_is_told_and_its_cell_prints_the_same_here(fitting, method, python, tmp_path, monkeypatch):
    tab = fitting(method, {"forest": "The forest has grown.", "boosting": "Boosting is done."}[method], python)
    title = {"forest": "Your forest", "boosting": "Your boosted trees"}[method]
    assert part(tab, "title").text_content() == title and part(tab, "rules").is_hidden()
    assert part(tab, "importance").locator("li").count() == 4
    with tab.expect_download() as download:
        part(tab, "save-table").click()
    download.value.save_as(tmp_path / "iris-read.csv")
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(part(tab, "code").text_content(), {})
    shown = part(tab, "scores").locator("tbody td:last-child").all_text_contents()
    assert [f"{100 * float(line):.0f}%" for line in printed.getvalue().split()] == shown
    fits_and_can_be_used(tab)


def test_without_javascript_the_page_says_what_it_needs(browser, address):
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(f"{address}/{PAGE}")
        assert tab.locator("[data-part=said]").text_content().startswith("This page needs JavaScript")
        assert tab.locator("[data-part=all]").is_hidden()
