"""Run in the page: the site's own Python, in a real browser, on a small chapter of plain Python and on one of the book.

All comes from the site, as it was built; nothing stands in for Python.
"""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tests.book.sites import build_small, open_page, open_tab, served, small_book
from tests.book.test_site import serious_violations

FIGURE = """
from figures.explorable import Explorable, Slider
from treekit.pen.svg import text

Explorable(
    title="A number", alt="A number that grows", size=(300, 100), background="", marks={},
    controls=[Slider("Step", [0, 1, 2])], frame=lambda k: ([text(0, 50, str(k))], f"It is {k}.", {}),
)
"""


def printed(words):
    return [new_output("stream", name="stdout", text=words)]


def shown(words):
    return [new_output("execute_result", data={"text/plain": words}, execution_count=1)]


CELLS = [
    new_markdown_cell("# A chapter\n\n## Plain code"),
    new_code_cell("from treekit import plain\n\nrows = [1, 2, 3]", outputs=[]),
    new_code_cell("aside = 'not needed'", outputs=[]),
    new_code_cell('print("sum", sum(rows))\nlen(rows)', outputs=printed("sum 6\n") + shown("3")),
    new_code_cell("def half(x):\n    return x / 0\n\nhalf(rows[0])", outputs=shown("0.5")),
    new_code_cell("import numpy as np\n\nnp.array(rows)", outputs=shown("array([1, 2, 3])")),
    new_code_cell("np.zeros(2)", outputs=shown("array([0., 0.])")),
    new_code_cell("rows.append(4)\nrows", outputs=shown("[1, 2, 3, 4]"), metadata={"tags": ["hide-input"]}),
    new_code_cell(FIGURE, outputs=[]),
]
#: A page that is no notebook, with the cells of an exercise.
DRILL = "# An exercise\n\n" + "\n\n".join(
    f'<div class="cell" data-needs="{needs}" data-first="0" data-kind="{kind}"><div class="cell_input">'
    f'<div class="highlight"><pre>{code}</pre></div></div></div>'
    for needs, kind, code in [
        ("", "given", "from treekit.exercises import check\nfactor = 2"),
        ("0", "answer", "def double(x):\n    ...  # your code here"),
        ("0 1", "check", 'check("double", 3, gives=6, mistakes={"square": (9, "This is x times x.")})'),
    ]
)
SUM, ERROR, NUMPY, ZEROS, APPEND, MOVING = 2, 3, 4, 5, 6, 7


# Presses a button and waits until what is said beside it is another; returns that and the milliseconds.
PRESS_AND_WAIT = """async (button) => {
  const status = button.parentElement.querySelector("[role=status]");
  const began = performance.now();
  const said = new Promise((done) => new MutationObserver(done).observe(status, { childList: true }));
  button.click();
  await said;
  return [status.textContent, performance.now() - began];
}"""


@pytest.fixture(scope="module")
def live(tmp_path_factory, built_once):
    """The address of a small site whose first page is a chapter of these cells."""
    pages = built_once("live", lambda folder: build_small(small_book(folder, CELLS, drill=DRILL)))
    with served(pages) as address:
        yield address


@pytest.fixture(scope="module")
def reader(browser, live):
    """A tab that all tests use in turn, with the lists of its errors and of requests that leave the site."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        yield open_tab(context, live)


class Chapter:
    """The small chapter in a tab."""

    def __init__(self, tab, address):
        self.tab, self.address = tab, address
        self.open()

    def open(self):
        self.tab.goto(f"{self.address}/book/small.html")

    def cell(self, k):
        return self.tab.locator("div.cell").nth(k)

    def press(self, k, words):
        self.cell(k).get_by_role("button", name=f"{words}, cell {k + 1}").click()

    def status(self, k):
        return self.cell(k).get_by_role("status").text_content()

    def wait(self, k, words):
        self.cell(k).get_by_role("status").filter(has_text=words).wait_for(timeout=20_000)

    def run(self, k, until="Done in"):
        self.press(k, "Run")
        self.wait(k, until)

    def own(self, k):
        return self.cell(k).locator(".live-output")

    def type(self, k, code):
        """Edit a cell: all its code is typed anew."""
        self.press(k, "Edit")
        self.cell(k).locator(".cm-content").wait_for()
        self.tab.keyboard.press("Control+a")
        self.tab.keyboard.insert_text(code)


@pytest.fixture
def chapter(reader, live):
    """The small chapter, as at a first visit."""
    tab, errors, requests = reader
    errors.clear(), requests.clear()
    chapter = Chapter(tab, live)
    yield chapter
    tab.evaluate("localStorage.clear()")
    assert [error for error in errors if "jsdelivr" not in error] == []
    assert {url for url in requests if "cdn.jsdelivr.net/pyodide/" not in url} == set()


def test_a_cell_runs_after_the_cells_that_it_needs(chapter):
    chapter.run(SUM)
    assert re.fullmatch(r"Done in [\d.]+ s, after what it needs: cell 1\.", chapter.status(SUM))
    assert chapter.own(SUM).inner_text().split() == ["Your", "run:", "as", "in", "the", "book", "sum", "6", "3"]
    assert not chapter.cell(SUM).locator(".cell_output:not(.live-output)").is_visible()
    assert chapter.own(0).count() == 0
    chapter.press(SUM, "Book's output")
    assert chapter.own(SUM).count() == 0 and chapter.cell(SUM).locator(".cell_output").is_visible()


def test_a_page_asks_for_nothing_before_its_reader_does(chapter, reader):
    asked = chapter.tab.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert asked and [name for name in asked if "/live/" in name or "/pyodide/" in name] == []


def test_a_cell_runs_as_often_as_one_likes_and_in_any_order(chapter):
    """Names are what the page's order makes them: what a cell changes is made anew before it runs again."""
    chapter.cell(APPEND).locator("summary").click()
    chapter.run(APPEND)
    assert chapter.own(APPEND).inner_text().endswith("[1, 2, 3, 4]")
    chapter.press(APPEND, "Run")
    chapter.wait(APPEND, "cell 1.")
    assert chapter.own(APPEND).inner_text().endswith("[1, 2, 3, 4]")
    chapter.run(SUM)
    assert "as in the book" in chapter.own(SUM).inner_text()
    chapter.run(SUM)
    assert chapter.status(SUM).endswith("s.")  # what it needs is there
    # The code of this cell is folded, its output is not.
    assert not chapter.cell(APPEND).locator("details .live-output").count()


def test_a_cell_is_edited_run_and_put_back(chapter):
    chapter.type(SUM, 'print("sum", sum(rows))\nlen(rows) + aside.count("n")')
    chapter.tab.keyboard.press("Shift+Enter")
    chapter.wait(SUM, "Done in")
    assert chapter.status(SUM).endswith("cells 1, 2.")  # who changes code may use any name
    assert chapter.own(SUM).inner_text().split() == ["Your", "run:", "differs", "from", "the", "book", "sum", "6", "5"]
    assert chapter.tab.evaluate("document.activeElement.className") == "cm-content"

    chapter.open()  # again: the edit is there, the output is the book's
    chapter.wait(SUM, "Your edit, kept")
    code = chapter.cell(SUM).locator("pre").first
    assert code.text_content().endswith('aside.count("n")') and chapter.own(SUM).count() == 0
    chapter.press(SUM, "Reset code")
    assert code.text_content().rstrip() == 'print("sum", sum(rows))\nlen(rows)'
    assert code.locator("span.nb").first.text_content() == "print"
    chapter.open()
    assert chapter.cell(SUM).locator(".live-bar button").all_text_contents() == ["Run", "Edit"]


def test_an_error_names_its_line(chapter):
    chapter.run(ERROR, "Failed, line 2.")
    told = chapter.own(ERROR).inner_text()
    assert 'File "cell 4", line 2, in half' in told and told.endswith("ZeroDivisionError: division by zero")
    mark, code = chapter.cell(ERROR).locator(".live-line"), chapter.cell(ERROR).locator("pre").first
    height = code.evaluate("(e) => parseFloat(getComputedStyle(e).lineHeight)")
    assert 0.9 < (mark.bounding_box()["y"] - code.bounding_box()["y"]) / height < 2
    chapter.type(ERROR, "half(\n")
    chapter.press(ERROR, "Run")
    chapter.wait(ERROR, "Failed, line 1.")
    assert "SyntaxError" in chapter.own(ERROR).inner_text()
    assert chapter.cell(ERROR).locator(".cm-line.live-failed-line").text_content() == "half("


def test_an_endless_loop_is_stopped_within_a_second(chapter):
    chapter.type(SUM, "while True:\n    print('on and on')")
    chapter.press(SUM, "Run")
    chapter.own(SUM).get_by_text("on and on").wait_for()
    chapter.press(ERROR, "Run")  # waits for its turn
    button = chapter.cell(SUM).get_by_role("button", name="Stop")
    told, milliseconds = button.evaluate(PRESS_AND_WAIT)
    assert told == "Stopped. Python starts again: what it knew is gone."
    assert milliseconds < 1000
    chapter.wait(ERROR, "Stopped.")
    chapter.press(SUM, "Reset code")
    chapter.run(SUM)
    assert "as in the book" in chapter.own(SUM).inner_text()


def test_what_cannot_be_loaded_is_said_in_a_sentence(chapter):
    chapter.tab.route("https://cdn.jsdelivr.net/**", lambda route: route.abort())
    chapter.run(NUMPY, "could not be loaded")
    assert chapter.status(NUMPY) == (
        "This cell needs NumPy, which could not be loaded from cdn.jsdelivr.net. "
        "Download the chapter (the arrow at the top) and run it on your own machine."
    )
    assert chapter.own(NUMPY).count() == 0 and chapter.cell(NUMPY).locator(".cell_output").is_visible()
    chapter.run(ZEROS, "could not be loaded")
    assert chapter.status(ZEROS).startswith("This cell builds on cell 5, which needs NumPy, which could not be")
    chapter.run(SUM)  # what is plain goes on


def test_a_figure_that_a_cell_shows_moves(chapter):
    chapter.run(MOVING)
    figure = chapter.own(MOVING).locator("figure.explorable.moves")
    assert figure.locator("output").text_content() == "It is 0."
    figure.get_by_role("button", name="One step on").click()
    assert figure.locator("output").text_content() == "It is 1."


def test_all_is_done_by_keyboard(chapter):
    tab = chapter.tab
    chapter.cell(SUM).get_by_role("button", name="Run, cell 3").focus()
    tab.keyboard.press("Enter")
    chapter.wait(SUM, "Done in")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert tab.evaluate(focused) == "Run, cell 3"
    tab.keyboard.press("Tab")
    assert tab.evaluate(focused) == "Edit, cell 3"
    tab.keyboard.press("Enter")
    chapter.cell(SUM).locator(".cm-content").wait_for()
    tab.wait_for_function(f"() => {focused}?.startsWith('Python code, cell 3.')")
    tab.keyboard.press("Control+End")
    tab.keyboard.type("\nfor row in rows:\n1")
    assert chapter.cell(SUM).locator(".cm-line").last.text_content() == "    1"  # indented by itself
    tab.keyboard.press("Tab")  # leads on: nobody is caught
    assert not tab.evaluate("document.activeElement.closest('.cm-editor')")
    tab.keyboard.press("Shift+Tab")
    for _ in range(2):  # the first may close a list of words that has just opened
        if tab.evaluate("document.activeElement.closest('.cm-editor') !== null"):
            tab.keyboard.press("Escape")
    assert tab.evaluate(focused) == "Edit, cell 3"


def test_it_fits_a_phone_and_axe_finds_nothing(browser, live):
    for width, theme in [(1280, "light"), (390, "dark")]:
        window = {"viewport": {"width": width, "height": 844}, "color_scheme": theme}
        with browser.new_context(**window) as context:
            tab, errors, _ = open_tab(context, live)
            chapter = Chapter(tab, live)
            chapter.run(SUM)
            chapter.run(ERROR, "Failed")
            chapter.type(0, f"rows = {'[1] + ' * 40}[2]")
            assert tab.evaluate("document.scrollingElement.scrollWidth") <= width
            assert errors == [] and serious_violations(tab) == []


def test_the_cells_of_a_chapter_have_the_buttons(browser, address):
    with browser.new_context() as context:
        tab, errors, requests = open_page(context, f"{address}/book/entropy.html", address)
        assert tab.locator(".live-bar").count() == tab.locator("div.cell .cell_input pre").count() > 50
        assert errors + requests == []


def test_a_page_opened_as_a_file_says_why_it_cannot_run(browser, built_once, live):
    page = built_once("live", None) / "book" / "small.html"
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(page.as_uri())
        cell = tab.locator("div.cell").nth(SUM)
        cell.get_by_role("button", name="Run").click()
        cell.get_by_text("Python runs on a page that comes from a server: this one is opened as a file.").wait_for()


def test_a_check_names_the_mistake(chapter):
    """The cells of an exercise: what it gives, the reader's answer, the check, which runs all three."""
    tab = chapter.tab
    tab.goto(f"{chapter.address}/book/drill.html")
    chapter.press(2, "Check")
    chapter.wait(2, "Not yet.")
    assert "no value: double(3) gives nothing" in chapter.own(2).inner_text()
    chapter.type(1, "def double(x):\n    return x * x")
    chapter.press(2, "Check")
    chapter.own(2).get_by_text("square: This is x times x.").wait_for()
    tab.reload()
    chapter.wait(1, "Your edit, kept")
    chapter.type(1, "def double(x):\n    return factor * x")
    chapter.press(2, "Check")
    chapter.own(2).get_by_text("Right: double(3)").wait_for()
    assert chapter.status(2).endswith("cells 1, 2.")


def test_the_graded_exercises_stand_in_the_page(site):
    html = (site / "book" / "exercises.html").read_text(encoding="utf-8")
    cells = re.findall(r'data-first="(\d+)" data-kind="(\w+)" data-needs="([\d ]*)"', html)
    kinds = [kind for _, kind, _ in cells]
    assert kinds.count("check") == kinds.count("answer") > 50
    for place, (first, kind, needs) in enumerate(cells):
        needed = [int(k) for k in needs.split()]
        assert all(int(first) <= k < place for k in needed)
        assert all(kinds[k] == "given" for k in needed[: -1 if kind == "check" else None])
        assert kind != "check" or needed[-1] == place - 1
