"""The slides of a chapter, from a small page."""

import re

import pytest
from bs4 import BeautifulSoup

from scripts.slides import slides

PAGE = """<html><head><link rel="stylesheet" href="../_static/book.css"><script src="../_static/x.js"></script></head>
<body><article><section id="top"><h1>Two coins<a class="headerlink" href="#top">#</a></h1><p>The opening.</p>
<section><h2>A table</h2><p>Said aloud.</p><details><p>A fold.</p></details><aside>A note.</aside>
<div class="cell"><table><tr><td>5</td></tr></table></div><div class="check">Guess.</div></section>
<section><h2>Only text</h2><p>Shown at once.</p></section>
<section><h2><span class="section-number">1.3. </span>Exercises</h2><p>Another sheet.</p></section>
</section></article></body></html>"""


@pytest.fixture(scope="module")
def made() -> BeautifulSoup:
    return BeautifulSoup(slides(PAGE), "html.parser")


def test_a_section_is_a_slide_and_exercises_are_none(made: BeautifulSoup) -> None:
    headings = [slide.find(["h1", "h2"]).get_text() for slide in made.select("section.slide")]
    assert headings == ["Two coins", "A table", "Only text"]
    assert made.title.get_text() == "Two coins: slides"


def test_the_second_layer_is_left_out(made: BeautifulSoup) -> None:
    assert not re.search("A fold|A note|Guess|Another sheet", made.get_text())
    assert made.find("td").get_text() == "5"


def test_text_waits_only_where_a_slide_shows_something_else(made: BeautifulSoup) -> None:
    assert [text.get_text() for text in made.select(".spoken")] == ["Said aloud."]


def test_nothing_but_the_style_sheets_of_the_site_is_loaded(made: BeautifulSoup) -> None:
    assert [link["href"] for link in made.select("link")] == ["../_static/book.css"]
    assert not made.select("script[src]")


def test_a_page_without_a_section_is_refused() -> None:
    with pytest.raises(ValueError, match="no section"):
        slides("<html><body></body></html>")
