"""What a reader meets before the first page: the root of the site, a missing page, previews of links, the icons."""

import mimetypes
import re
from urllib.parse import urlsplit

import yaml
from bs4 import BeautifulSoup
from PIL import Image

from scripts.execute import ROOT
from tests.book.conftest import SITE_URL
from tests.book.sites import open_page, served

STATIC = ROOT / "book" / "_static"


def test_the_preview_has_the_size_that_the_pages_tell():
    assert Image.open(STATIC / "preview.png").size == (1200, 630)
    assert Image.open(STATIC / "favicon.ico").info["sizes"] == {(16, 16), (32, 32), (48, 48)}


def head(site, page):
    """The head of a page: the parser would take seconds for all that follows it."""
    html, end, _ = (site / page).read_text(encoding="utf-8").partition("</head>")
    return BeautifulSoup(html + end, "html.parser").head


def content(site, page, name):
    [tag] = head(site, page).select(f'meta[property="{name}"], meta[name="{name}"]')
    return tag["content"]


def test_every_page_says_what_it_is(site):
    about = {page.stem: content(site, f"book/{page.name}", "description") for page in site.glob("book/*.html")}
    assert all(20 < len(words) <= 202 for words in about.values()), about
    assert len({*about.values()}) > 0.9 * len(about)
    assert content(site, "book/id3.html", "og:image") == f"{SITE_URL}_static/preview.png"
    assert content(site, "book/id3.html", "og:url") == f"{SITE_URL}book/id3.html"
    assert content(site, "book/id3.html", "twitter:card") == "summary_large_image"
    assert content(site, "index.html", "og:title") == "Decision Trees, from Entropy to Gradient Boosting"


def test_search_engines_are_told_all_pages(site):
    pages = re.findall(f"<loc>{SITE_URL}(.+?)</loc>", (site / "sitemap.xml").read_text(encoding="utf-8"))
    assert set(pages) == {path.relative_to(site).as_posix() for path in site.glob("book/*.html")} and len(pages) > 25


def test_a_page_says_how_it_is_cited_and_when_it_was_built(site):
    footer = BeautifulSoup((site / "book/id3.html").read_text(encoding="utf-8").partition("<footer")[2], "html.parser")
    words = " ".join(footer.get_text().split())
    assert re.search(rf"\(\d{{4}}\)\. “2\. ID3: .+”, in Decision Trees, .+ {SITE_URL}book/id3.html", words), words
    assert re.search(r"Last updated on \d{2} \w+ \d{4}", words), words


def test_each_toggle_of_the_contents_has_a_name(site):
    contents = (site / "book/id3.html").read_text(encoding="utf-8").partition('<nav class="bd-links')[2]
    toggles = BeautifulSoup(contents.partition("</nav>")[0], "html.parser").select("summary")
    names = [toggle["aria-label"] for toggle in toggles]
    assert len(names) >= 2 and "Pages of treekit reference" in names, names
    assert not any(toggle.get_text(strip=True) for toggle in toggles), "the theme names them now: see mend_html.py"


def test_the_icons_are_there(site):
    for page in ("index.html", "book/id3.html"):
        links = head(site, page).select('link[rel~="icon"], link[rel="apple-touch-icon"]')
        base = (site / page).parent / (head(site, page).base or {"href": ""})["href"]
        assert len(links) == 3 and all((base / link["href"]).resolve().is_file() for link in links)


def test_the_root_is_the_cover(site, browser):
    with served(site) as address, browser.new_context() as context:
        page, errors, requests = open_page(context, f"{address}/", address)
        assert "Decision Trees" in page.title()
        figure = page.locator("figure.explorable")
        figure.get_by_role("radio", name="texture").check()
        assert "0.617 bits are left" in figure.locator("output").inner_text()
        door = page.get_by_role(
            "link", name="Introduction: what shall we eat?"
        )  # spread over its card by the style sheet
        page.locator("article .sd-card").filter(has=door).first.click()
        page.wait_for_url(f"{address}/book/introduction.html", wait_until="networkidle")
        page.goto(f"{address}/", wait_until="networkidle")
        page.get_by_role("link", name="4 CART").click()
        page.wait_for_url(f"{address}/book/cart.html", wait_until="networkidle")
        assert errors + requests == []


def test_a_card_for_each_chapter_shows_its_figure(site):
    cards = BeautifulSoup((site / "book/cover.html").read_text(encoding="utf-8"), "html.parser").select(
        ".chapter-cards a"
    )
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    numbered = next(part for part in toc["parts"] if part.get("numbered"))["chapters"]
    assert [card.b.text for card in cards] == [str(number) for number in range(1, len(numbered) + 1)]
    assert all(len(card.svg.find_all(True)) >= 5 and not card.svg.find_all("text") for card in cards)
    assert len({str(card.svg) for card in cards}) == len(cards)


def test_a_missing_page_finds_its_way(site, browser):
    """A server answers with 404.html at the address that was asked for; here the browser is told to do so."""
    missing = (site / "404.html").read_bytes()

    def answer(route):
        file = site / urlsplit(route.request.url.removeprefix(SITE_URL)).path
        found = file.is_file()
        content_type = mimetypes.guess_type(file.name)[0]
        route.fulfill(
            status=200 if found else 404, body=file.read_bytes() if found else missing, content_type=content_type
        )

    with browser.new_context() as context:
        page = context.new_page()
        page.route(f"{SITE_URL}**", answer)
        for lost in ("nowhere.html", "book/nowhere.html", "deep/er/nowhere.html"):
            page.goto(SITE_URL + lost)
            assert page.get_by_role("heading", level=1).inner_text().startswith("This branch is empty")
            face = page.evaluate("getComputedStyle(document.querySelector('article')).fontFamily")
            assert face.startswith('"STIX Two Text"')
            links = page.eval_on_selector_all("a[href]:not([href^='#'])", "links => links.map(link => link.href)")
            paths = {urlsplit(link.removeprefix(SITE_URL)).path for link in links}
            assert len(paths) > 15 and [path for path in paths if not (site / path).is_file()] == [], lost
        page.get_by_role("link", name=re.compile(r"1\. Entropy")).first.click()
        assert page.url == f"{SITE_URL}book/entropy.html"


def test_a_narrow_header_names_the_book(site, browser):
    with served(site) as address, browser.new_context(viewport={"width": 390, "height": 800}) as context:
        page, errors, _ = open_page(context, f"{address}/book/id3.html", address)
        title = page.locator(".book-title")
        for width, shown in [(390, True), (820, True), (1280, False)]:
            page.set_viewport_size({"width": width, "height": 800})
            assert title.is_visible() == shown, width
            if shown:
                box = title.bounding_box()
                assert box["y"] >= 0 and box["y"] + box["height"] <= 60 and box["width"] > 60
        assert errors == []
