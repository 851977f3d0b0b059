"""Checks, on a small chapter: asked and answered in a browser, remembered, forgotten, on paper, without JavaScript."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from scripts.reading import words
from tests.book.answering import answer_every_check, states
from tests.book.sites import BIN, build, open_page, served, small_book
from tests.book.test_reading import chapters
from tests.book.test_site import serious_violations

CHOOSE = """:::{check} choose
:label: check-small-beast
Which beast has $2$ humps?

* [ ] The `dromedary`.

  It has one: see [the hump](#hump).
* [x] The *camel*.

  It has two.
* [ ] Neither.

  One of them has.
:::"""
NUMBER = """:::{check} number
:label: check-small-gain
:tolerance: 0.005
How large is the gain of the texture?

* [ ] `color #`

  That is the gain of the color.
* [ ] 7

  That is a count.
* [x] `texture #`

  The *largest* gain.
* [ ] Another number

  Look at [the hump](#hump).
:::"""
ORDER = """:::{check} order
:label: check-small-order
Put the steps in order.

1. Choose.
2. Divide.
3. Recurse.

* [ ] 3 before 2

  There is nothing to recurse on yet.
* [x] In this order

  So it is.
* [ ] Another order

  Look again.
:::"""
GAINS = "color        0.108\ntexture      0.381\nName: gain, dtype: float64\n"
LABELS = ["check-small-beast", "check-small-gain", "check-small-order"]


def shown(text):
    return new_code_cell("gains", outputs=[new_output("stream", name="stdout", text=text)])


CELLS = [
    new_markdown_cell("# A small chapter\n\nWords."),
    new_markdown_cell("## One\n\n:::{dropdown} For the curious: a hump\n(hump)=\nThe hump.\n:::"),
    new_markdown_cell(CHOOSE),
    new_markdown_cell("## Two\n\nNumbers."),
    shown(GAINS),
    new_markdown_cell(NUMBER),
    new_markdown_cell("### Two and a half\n\nSteps."),
    new_markdown_cell(ORDER),
    new_markdown_cell("## Three\n\nNothing is asked here."),
]


OTHER = "# Another page\n\n{ref}`It <check-small-gain>`."


@pytest.fixture(scope="module")
def address(small_site):
    with served(small_site) as address:
        yield address


@pytest.fixture
def page(visit):
    return visit("book/small.html")


@pytest.fixture(scope="module")
def number_page(browser, address):
    """One page for all the numbers that are typed."""
    with browser.new_context() as context:
        yield open_page(context, f"{address}/book/small.html", address)[0]


def check(page, label):
    return page.locator(f"#{label}")


def reply(page, label):
    """What stands below a check in answer to the reader."""
    return check(page, label).locator(".check-said").inner_text().split("\n")[0].strip()


def type_number(page, text):
    page.locator("#check-small-gain input").fill(text)
    page.keyboard.press("Enter")
    return reply(page, "check-small-gain")


def test_every_answer_meets_its_reply(page):
    assert answer_every_check(page) == dict.fromkeys(LABELS, "")


def test_the_mouse_answers_a_check_of_each_kind(page):
    """As it is: the test above answers by a script."""
    beast, gain, order = (check(page, label) for label in LABELS)
    beast.get_by_role("radio", name="The camel.").click()
    gain.get_by_role("textbox").click()
    page.keyboard.type("0.381")
    for step in ("Recurse.", "Divide.", "Choose."):
        for _ in range(2):
            order.get_by_role("button", name=f"Move up: {step}").click()
    for one in (beast, gain, order):
        one.get_by_role("button", name="Check", exact=True).click()
    right = ["Right: The camel.", "Right: 0.381", "Right: Choose. → Divide. → Recurse."]
    assert [reply(page, label) for label in LABELS] == right


def test_an_answer_is_chosen_by_the_keyboard_alone(page):
    page.locator("#check-small-beast input").first.focus()
    page.keyboard.press("ArrowDown")
    assert reply(page, "check-small-beast") == ""
    page.keyboard.press("Enter")
    assert reply(page, "check-small-beast") == "Right: The camel."
    page.keyboard.press("ArrowUp")
    assert reply(page, "check-small-beast") == "", "the reply was to another answer"


def test_a_step_is_moved_by_the_keyboard_and_keeps_the_focus(page):
    steps = check(page, "check-small-order").locator("li p")
    assert steps.all_inner_texts() != ["Choose.", "Divide.", "Recurse."]
    page.get_by_role("button", name="Move up: Divide.").focus()
    for _ in range(3):
        page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.ariaLabel") == "Move up: Divide."
    assert steps.all_inner_texts()[0] == "Divide."
    assert check(page, "check-small-order").locator(".check-moved").inner_text() == "Divide.: now 1 of 3"


@pytest.mark.parametrize(
    "text",
    ["0.381", " 0,38 ", ".384", "381/1000", "0.3761", "0.3859", "38.1 %", "0.38 bits", "1/3 ln 3.14", "1 - log2(1.54)"],
)
def test_a_number_near_enough_is_right(number_page, text):
    assert type_number(number_page, text) == "Right: 0.381"


@pytest.mark.parametrize(
    "text, reply",
    [
        ("0.11", "Wrong: 0.108"),
        ("0.1", "Wrong: 0.108"),
        ("7", "Wrong: 7"),
        ("0.3755", "Wrong: 0.3755"),
        ("-0.381", "Wrong: -0.381"),
        ("1,381", "Wrong: 1,381"),
        ("ln 3 / ln", "Type a number, such as 0.5."),
        ("", "Type a number, such as 0.5."),
        ("a third", "Type a number, such as 0.5."),
    ],
)
def test_another_number_is_answered_too(number_page, text, reply):
    assert type_number(number_page, text) == reply


def test_without_a_choice_there_is_no_answer(page):
    check(page, "check-small-beast").get_by_role("button", name="Check").click()
    assert reply(page, "check-small-beast") == "Choose an answer first."
    assert not page.locator(".checks-summary").is_visible()


def test_a_link_in_a_reply_opens_the_fold_that_it_leads_to(page):
    type_number(page, "5")
    check(page, "check-small-gain").get_by_role("link", name="the hump").click()
    page.get_by_text("The hump.", exact=True).wait_for(timeout=5_000)


def test_a_screen_reader_is_told_question_and_reply(page):
    group = check(page, "check-small-beast").get_by_role("group", name=re.compile("Which beast has .* humps?"))
    assert group.get_by_role("radio", name="The camel.").count() == 1
    assert check(page, "check-small-gain").get_by_role("textbox", name="Your number").count() == 1
    assert check(page, "check-small-beast").get_by_role("status").count() == 1


def marks(page):
    """The marks in the page's contents, by section."""
    links = page.locator("nav.page-toc a").evaluate_all("(all) => all.map((e) => e.textContent.trim())")
    return {text.rstrip(" ✓○").lstrip("0123456789. "): text[-1] for text in links if text[-1] in "✓○"}


def test_what_was_answered_is_shown_remembered_and_forgotten(page):
    answer_every_check(page)
    assert marks(page) == {"One": "✓", "Two": "✓"}
    type_number(page, "5")
    assert marks(page) == {"One": "✓", "Two": "○"}
    before = states(page)
    page.reload()
    assert states(page) == before and marks(page) == {"One": "✓", "Two": "○"}
    assert page.locator(".checks-summary p").inner_text() == "2 of 3 checks answered right"
    page.get_by_role("button", name="Forget my answers").click()
    assert marks(page) == {} and not page.locator(".checks-summary").is_visible()
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('checks:'))") == []
    fresh = states(page)
    page.reload()
    assert states(page) == fresh and all(not state["reply"] for state in fresh)


@pytest.mark.parametrize("stored", ["{", "null", '{"check-small-beast": "17", "check-small-order": "7 0"}'])
def test_stored_answers_that_fit_no_longer_do_no_harm(page, stored):
    page.evaluate("(text) => localStorage.setItem(`checks:${location.pathname}`, text)", stored)
    page.reload()
    assert answer_every_check(page) == dict.fromkeys(LABELS, "")


def test_a_browser_that_stores_nothing_still_answers(browser, address):
    with browser.new_context() as context:
        context.add_init_script(
            "Object.defineProperty(window, 'localStorage', {get() { throw new Error('refused'); }})"
        )
        page, _, _ = open_page(context, f"{address}/book/small.html", address)
        assert type_number(page, "0.381") == "Right: 0.381"


@pytest.mark.parametrize("theme, width", [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_in_a_check(browser, address, theme, width):
    with browser.new_context(color_scheme=theme, viewport={"width": width, "height": 844}) as context:
        page, _, _ = open_page(context, f"{address}/book/small.html", address)
        answer_every_check(page)
        type_number(page, "5")
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        assert serious_violations(page) == []


def test_without_javascript_the_answers_are_folded(browser, address):
    with browser.new_context(java_script_enabled=False) as context:
        page, _, _ = open_page(context, f"{address}/book/small.html", address)
        beast = check(page, "check-small-beast")
        assert beast.locator("li").all_inner_texts() == ["The dromedary.", "The camel.", "Neither."]
        assert not beast.get_by_text("It has two.").is_visible()
        beast.get_by_text("Answers", exact=True).click()
        assert beast.get_by_text("It has two.").is_visible()
        assert not page.locator(".checks-on-paper").is_visible()


def test_on_paper_the_answers_stand_at_the_end(page):
    type_number(page, "0.381")
    page.emulate_media(media="print")
    paper = page.locator(".checks-on-paper")
    assert paper.is_visible() and not page.locator(".check-said").first.is_visible()
    text = re.sub(r"\s+", " ", paper.inner_text())
    assert "Check 2 Wrong: 0.108 That is the gain of the color." in text
    assert "Right: Choose. → Divide. → Recurse." in text and "Wrong: “Recurse.” before “Divide.”" in text
    last = "document.querySelector('article section').lastElementChild.className"
    assert "checks-on-paper" in page.evaluate(last)


def test_without_html_the_replies_stand_at_the_end(tmp_path):
    folder = small_book(tmp_path, CELLS)
    command = [BIN / "jupyter-book", "build", folder, "--builder", "custom", "--custom-builder", "text", "-W", "-n"]
    text = (build(command, folder).parent / "text" / "book" / "small.txt").read_text(encoding="utf-8")
    question, replies = text.index("How large is the gain"), text.index("Answers to the checks")
    assert question < replies < text.index("Right: 0.381") and text.count("The *largest* gain.") == 1


def test_a_check_is_linked_from_another_page(small_site):
    pages = {name: (small_site / "book" / f"{name}.html").read_text(encoding="utf-8") for name in ("small", "other")}
    assert 'class="check"' in pages["small"] and 'class="check"' not in pages["other"]
    assert 'href="small.html#check-small-gain"' in pages["other"]


# ---------------------------------------------------------------------------------------------------------------------
# Those of the book

LONGEST_QUESTION, LONGEST_REPLY = 45, 45
FEWEST, MOST = 4, 8


def checks(path):
    """The checks of a chapter, as the text of their cells."""
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown" and "{check}" in cell.source]


def replies(markdown):
    """The replies to wrong answers and to the right one."""
    answers = re.split(r"^\* (?=\[[ x]\] )", markdown.removesuffix(":::"), flags=re.MULTILINE)[1:]
    texts = [(answer[1] == "x", answer.partition("\n")[2]) for answer in answers]
    return [text for is_right, text in texts if not is_right], [text for is_right, text in texts if is_right]


def faults_of(markdown):
    """Where a check is too long, or lets a wrong answer go without a place to read."""
    head = re.split(r"^\* \[", markdown, flags=re.MULTILINE)[0]
    question = re.sub(r"^(:.*|\d\. .*)$", "", head, flags=re.MULTILINE)  # without options and steps
    wrong, right = replies(markdown)
    faults = [f"the question has {len(words(question))} words"] * (len(words(question)) > LONGEST_QUESTION)
    faults += [f"a long reply: {text.strip()}" for text in wrong + right if len(words(text)) > LONGEST_REPLY]
    unlinked = [text.strip() for text in wrong if not re.search(r"\]\(#|\{[\w:]+\}`", text)]
    # MyST would print the number of the equation in place of the text.
    faults += ["an equation is referred to by {eq}"] * ("](#eq-" in markdown)
    return faults + [f"a reply without a link: {text}" for text in unlinked]


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_checks_are_short_and_send_the_reader_to_the_place(path):
    found = checks(path)
    assert FEWEST <= len(found) <= MOST
    assert [fault for markdown in found for fault in faults_of(markdown)] == []
    assert all(markdown.startswith(":::{check}") and f"\n:label: check-{path.stem}-" in markdown for markdown in found)
    assert len({markdown.split()[1] for markdown in found}) > 1, "all are of one kind"


def test_a_check_without_a_link_or_with_many_words_is_found():
    assert faults_of(NUMBER) == [
        f"a reply without a link: {text}" for text in ("That is the gain of the color.", "That is a count.")
    ]
    assert faults_of(CHOOSE.replace("Neither.\n\n  One", "Neither.\n\n  [One](#hump)")) == []
    assert len(faults_of(CHOOSE.replace("beast", "beast " * 45))) == 2
