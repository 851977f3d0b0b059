"""Folds, on a small chapter: what they hold, and that links, the search, the printer and a bare browser open them."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.book.sites import open_page, served

LINKS = """# Another page

[To the aardvark](#source-aardvark), {eq}`eq-hidden`, {ref}`the solution <sol-order>`.
"""


def cell(content):
    if isinstance(content, str):
        return new_markdown_cell(content)
    source, *tags = content
    return new_code_cell(source, metadata={"tags": tags} if tags else {})


CONTENTS = [
    "# A small chapter\n\nWords in the open.\n\n{ref}`To the aardvark <source-aardvark>`",
    "(source-curious)=\n::::{dropdown} For the curious: a beast\nThe pterodactyl.\n\n$$y$$ (eq-hidden)\n::::",
    ("first = 1", "hide-cell"),
    ("second = 2", "hide-cell"),
    "(source-aardvark)=\n:::{dropdown} ...\nThe aardvark.\n:::",
    ("third = 3", "hide-cell"),
    ("in_the_open = 4",),
    ("drawn = 5", "hide-input"),
    ("alone = 6", "hide-cell"),
    ":::{prf:theorem} T\n:label: thm-t\nWords.\n:::\n\n:::{prf:proof}\n:class: dropdown\n*It* follows.\n:::",
    ":::{prf:proof}\n:class: dropdown\nSo does this.\n:::\n\n:::{prf:proof}\nIn the open.\n:::",
    "## Exercises\n\n:::{exercise} Order\n:label: ex-order\nSort.\n:::\n\n:::{hint}\n:class: dropdown\nThink.\n:::",
    ":::{solution-start} ex-order\n:label: sol-order\n:class: dropdown\n:::\nThe capybara.",
    ("solved = 7",),
    ":::{dropdown} In print: the same\nA book.\n:::",
    ("printed = 8", "hide-cell"),
    ":::{solution-end}\n:::",
    ":::{dropdown} Why?\nBecause.\n:::",
]
CELLS = [cell(content) for content in CONTENTS]

# Each fold as its title and the pieces that it holds, inner folds in brackets.
OUTLINE = """() => {
  const pieces = "summary, p, .cell_input pre, details";
  const outline = (fold) => [...fold.querySelectorAll(pieces)]
    .filter((e) => e.parentElement.closest("details") === fold)
    .map((e) => (e.matches("details") ? outline(e) : e.textContent.trim()));
  return [...document.querySelectorAll("details")].filter((e) => !e.parentElement.closest("details")).map(outline);
}"""
FOLDS = [
    ["For the curious: a beast", "The pterodactyl.", "first = 1", "second = 2", "The aardvark.", "third = 3"],
    ["Code", "drawn = 5"],
    ["Code", "alone = 6"],
    ["Proof", "It follows."],
    ["Proof", "So does this."],
    ["Hint", "Think."],
    ["Solution", "The capybara.", "solved = 7", ["In print: the same", "A book.", "printed = 8"]],
    ["Why?", "Because."],
]


@pytest.fixture(scope="module")
def address(small_site):
    with served(small_site) as address:
        yield address


def visible(page, text):
    return page.get_by_text(text, exact=True).is_visible()


def test_a_fold_holds_text_and_code_in_turn(visit):
    page = visit("book/folds.html")
    assert page.evaluate(OUTLINE) == FOLDS


def test_the_keyboard_opens_a_fold_and_shows_where_it_is(visit):
    page = visit("book/folds.html")
    title = page.locator("details.fold > summary").first
    title.focus()
    page.keyboard.press("Enter")
    assert visible(page, "The aardvark.")
    assert title.evaluate("(e) => getComputedStyle(e).outlineStyle") == "solid"


@pytest.mark.parametrize(
    "link, seen, hidden",
    [
        ("To the aardvark", "The aardvark.", "The capybara."),
        ("(1)", "The pterodactyl.", "The capybara."),
        ("the solution", "The capybara.", "The pterodactyl."),
    ],
)
def test_a_link_from_another_page_opens_the_fold(visit, link, seen, hidden):
    page = visit("book/links.html")
    page.get_by_role("article").get_by_role("link", name=link, exact=True).click()
    page.wait_for_url("**/folds.html#*")
    page.get_by_text(seen, exact=True).wait_for(timeout=5_000)
    assert not visible(page, hidden)


def test_a_link_opens_a_fold_on_its_page_as_often_as_it_is_followed(visit):
    page = visit("book/folds.html")
    for _ in range(2):
        page.get_by_role("link", name="To the aardvark").click()
        page.get_by_text("The aardvark.", exact=True).wait_for(timeout=5_000)
        page.get_by_text("For the curious:").click()
        assert not visible(page, "The aardvark.")


@pytest.mark.parametrize("word, is_open", [("capybara", True), ("open", False)])
def test_a_search_opens_the_fold_that_alone_has_the_word(visit, word, is_open):
    page = visit(f"search.html?q={word}")
    page.locator("#search-results li a[href*='folds.html']").first.click()
    page.locator("article .highlighted").first.wait_for(timeout=5_000)
    assert page.locator("article .highlighted").first.is_visible()
    assert page.locator("details[open]").count() == is_open


def test_on_paper_folds_stand_open_but_for_solutions(visit):
    page = visit("book/folds.html")
    page.emulate_media(media="print")
    shown = page.evaluate("""() => Object.fromEntries(
      [...document.querySelectorAll("details p")].map((e) => [e.textContent, e.checkVisibility()]))""")
    assert shown == {text: text not in ("The capybara.", "A book.") for text in shown}
    assert len(shown) == 8
    # What older browsers do with the script alone.
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0


def test_without_javascript_a_click_opens_a_fold(browser, address):
    with browser.new_context(java_script_enabled=False) as context:
        page, _, _ = open_page(context, f"{address}/book/folds.html", address)
        page.get_by_text("For the curious:").click()
        assert visible(page, "The aardvark.") and not visible(page, "The capybara.")
