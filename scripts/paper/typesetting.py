"""Write pages of the site as Typst. One method for each kind of element, named after its tag or its class."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from xml.etree.ElementTree import Element

from scripts.paper import formulas
from scripts.paper.site import Page, classes, on_site, still, target, text_of

CHINESE = re.compile(r"[\u4e00-\u9fff][\u4e00-\u9fff·]*")
#: Folds that are not printed in place: the first at the end of the book, the second at the end of their page.
MOVED = {"fold-hint": "Hint", "fold-solution": "Solution"}
LATER = {"fold-for-the-curious": "For the curious", "fold-in-print": "In print", "fold-checked": "Checked"}
BOXES = {"proof": "theorem", "exercise": "exercise", "check": "check", "sidebar": "note"}
LINES_KEPT = 36  # a listing, or a table, of more lines than this may always go on on the next page
HIGHEST, WIDEST = 350, 374  # points that a figure may take of a page
COLUMNS, SMALLEST = 86, 0.8  # letters of code that fit in a line, and how much smaller it may be set to fit more
LINE, MOST_KEPT = 98, 2500  # letters of a table's line, and of a table that shall stand on one page
LETTER, TABLE, GUTTER = 4.55, 442, 13  # points of a letter in a table, and of a table's width, and between its columns
#: A cell of a fold that does nothing but draw with a function of the book's own.
DRAWS = re.compile(r"from figures\.\w+ import (\w+)\s+\1\(.*\)", re.DOTALL)
NUMBER = re.compile(r"[-+−]?[\d.,]+(e[-+]?\d+)?( ± [\d.]+)?%?|NaN|nan|inf|–|·|")


def quote(text: str) -> str:
    """A string of Typst."""
    return json.dumps(text, ensure_ascii=False)


def escape(text: str) -> str:
    """Text as Typst takes it literally, wherever it stands."""
    text = re.sub(r"[\\#$*_`<>@\[\]~/=+;\"'(-]", r"\\\g<0>", re.sub(r"\s+", " ", text))
    text = re.sub(r"\b[a-z]\\-[a-z]+", r"#box[\g<0>];", text)  # a single letter stays with its word
    return re.sub(r"^( ?\d+)\.|\.(?=[a-z])", lambda found: f"{found[1] or ''}\\.", text)


class Typesetter:
    """Turns pages into Typst, and collects what the book prints at its end: answers, solutions, uses of terms."""

    def __init__(self, site: Path, folder: Path, pages: Iterable[Page]) -> None:
        self.site, self.folder, self.pages = site, folder, {page.name: page for page in pages}
        self.answers: dict[str, list[str]] = defaultdict(list)
        self.later: list[str] = []
        self.uses: dict[str, list[str]] = defaultdict(list)
        self.defined: dict[str, list[str]] = defaultdict(list)
        self.labels = {(name, ""): name for name in self.pages} | {
            (name, id_): f"{name}--{id_}" for name, page in self.pages.items() for id_ in ids(page.article)
        }
        self.wanted = {
            self.labels.get(place)
            for name, page in self.pages.items()
            for link in page.article.iter("a")
            if (place := target(name, link.get("href", "")))
        }
        self.exercise, self.level, self.count, self.boxes = "", 2, 0, 0

    def chapter(self, page: Page) -> str:
        """A page of the site as a chapter, which starts on a new page of paper."""
        self.page, self.level, self.later, self.figures = page.name, 2 + page.depth, [], 0
        made = self.element(page.article)
        if self.later:
            made += f"#heading(level: {self.level + 1})[For the curious];\n\n" + "".join(self.later)
        return f"#mark({quote(page.name)})\n{made}"

    def element(self, node: Element) -> str:
        """An element by the first of its classes, or else the tag, that has a method."""
        for name in [*node.get("class", "").split(), node.tag]:
            made = getattr(self, "on_" + name.replace("-", "_"), None)
            if made:
                return made(node)
        return self.mark(node) + self.inner(node)

    def inner(self, node: Element, without: Element | None = None) -> str:
        out = [escape(node.text or "")]
        children = [child for child in node if child is not without and isinstance(child.tag, str)]
        for child, before, after in zip(children, [None, *children], [*children[1:], None]):
            self.before, self.after = before, after
            out += [self.element(child), escape(child.tail or "")]
        # Where several folds in succession are printed elsewhere, one line stands for all of them.
        return re.sub(r",\);\s*#elsewhere\(", ", ", "".join(out))

    def mark(self, node: Element) -> str:
        """The place that links lead to, if any does."""
        label = f"{self.page}--{node.get('id')}"
        return f"#mark({quote(label)});" if label in self.wanted or "--term-" in label else ""

    def kept(self, made: str, floats: bool = False, sticky: bool = False) -> str:
        """What a page break must not cut, unless that leaves a page half empty: then `pdf.loosened` allows a cut.

        What is sticky is on one page with what comes after it.
        """
        self.count += 1
        how = f"floats: {str(floats and not self.boxes).lower()}, sticky: {str(sticky).lower()}"
        return f'\n\n#keep("kept-{self.count}", {how}, {made});\n\n'

    # Text

    def on_p(self, node: Element) -> str:
        return f"\n\n{self.mark(node)}{self.inner(node)}\n\n"

    def on_em(self, node: Element) -> str:
        return f"#emph[{self.inner(node)}];"

    def on_strong(self, node: Element) -> str:
        """A term is bold where it is defined, which the index looks for; other words in bold are not in the index."""
        if self.pages[self.page].part == "Appendices":
            return f"#strong[{self.inner(node)}];"
        self.count += 1
        self.defined[text_of(node).lower().removesuffix("s")].append(f"use-{self.count}")
        return f"#mark({quote(f'use-{self.count}')});#strong[{self.inner(node)}];"

    def on_small(self, node: Element) -> str:
        return f"#text(.85em)[{self.inner(node)}];"

    def on_code(self, node: Element) -> str:
        return f"#raw({quote(text_of(node))});"

    def on_br(self, node: Element) -> str:
        return "#linebreak();"

    def on_math(self, node: Element) -> str:
        """A formula of the page's text; `formula` is one on a line of its own."""
        if node.tag != "math":
            return self.displayed(node) if node.tag == "div" else self.inner(node)
        return f"#math.equation(alt: {quote(formulas.spoken(node))}, ${formulas.typst(node)}$);"

    def displayed(self, node: Element) -> str:
        number = next((text_of(e) for e in node.iter("span") if "eqno" in classes(e)), "")
        math = next(node.iter("math"))
        set_ = f"math.equation(block: true, alt: {quote(formulas.spoken(math))}, $ {formulas.typst(math)} $)"
        return f"\n\n#equation({set_}, {quote(number)})[{self.mark(node)}];\n\n"

    def on_a(self, node: Element) -> str:
        body, href = self.inner(node), node.get("href", "")
        label = self.labels.get(target(self.page, href) or ("", "?"))
        if label is None:
            address = on_site(self.page, href)
            return f"#link({quote(address)})[{body}];" if address else body
        if "--term-" in label:
            return self.use(label, body)
        far = label.partition("--")[0] != self.page or "--equation-" in label
        near = "--treekit" in label or "glossary" in (self.page, label) or label.startswith("bibliography--")
        return f"#to({quote(label)}, paged: {'true' if far and not near else 'false'})[{body}];"

    def use(self, term: str, body: str) -> str:
        """A term where it is used, which goes into the index."""
        if self.page == "glossary":
            return f"#to({quote(term)})[{body}];"
        self.count += 1
        self.uses[term].append(f"use-{self.count}")
        return f"#mark({quote(f'use-{self.count}')});#to({quote(term)}, quiet: true)[{body}];"

    # Blocks

    def on_span(self, node: Element) -> str:
        return self.mark(node) + self.inner(node)

    def heading(self, node: Element) -> str:
        level = self.level + int(node.tag[1]) - 1
        outlined = "true" if level == 2 or self.pages[self.page].part != "Appendices" else "false"
        return f"\n\n#heading(level: {level}, outlined: {outlined}, bookmarked: true)[{self.inner(node)}];\n\n"

    on_h1 = on_h2 = on_h3 = heading

    def on_ul(self, node: Element) -> str:
        return self.listed(node, "list")

    def on_ol(self, node: Element) -> str:
        return self.listed(node, "enum")

    def listed(self, node: Element, kind: str) -> str:
        items = ", ".join(f"[{self.inner(item).strip()}]" for item in node.iter("li") if item in list(node))
        start = f"start: {node.get('start')}, " if node.get("start") else ""
        tight = "false" if any(len(item) > 1 for item in node) else "true"
        return f"\n\n{self.mark(node)}#{kind}(tight: {tight}, {start}{items});\n\n"

    def on_blockquote(self, node: Element) -> str:
        return f"\n\n#quoted[{self.inner(node)}];\n\n"

    def on_pre(self, node: Element) -> str:
        """Code, or what it prints."""
        text = "".join(node.itertext()).strip("\n")
        if not text:
            return ""
        lines, sticky = text.split("\n"), self.is_code and self.has_output
        size = max(SMALLEST, min(1.0, COLUMNS / max(map(len, lines))))
        kind = self.language if self.is_code else "output"
        made = f"listing({quote(text)}, kind: {quote(kind)}, size: {size:.2f})"
        return self.kept(made, sticky=sticky) if len(lines) <= LINES_KEPT else f"\n\n#{made};\n\n"

    is_code, has_output, language = True, False, "text"

    def on_highlight_python(self, node: Element) -> str:
        self.language = "python"
        made = self.inner(node)
        self.language = "text"
        return made

    def on_code_block_caption(self, node: Element) -> str:
        number, *told = node
        return f"\n\n#caption[{escape(text_of(number))}. {''.join(map(self.element, told))}];\n\n"

    def on_cell_input(self, node: Element) -> str:
        """Code, which is kept on one page with what it prints."""
        if self.after is not None and DRAWS.fullmatch(text_of(node)):
            return ""
        self.has_output = self.after is not None
        made = self.inner(node)
        self.has_output = False
        return made

    def on_cell_output(self, node: Element) -> str:
        self.is_code = False
        made = self.inner(node)
        self.is_code = True
        return made

    def on_tag_hide_input(self, node: Element) -> str:
        """A cell that draws: its code is left out."""
        return "".join(self.element(child) for child in node if "cell_output" in classes(child))

    on_tag_hide_code = on_tag_hide_input

    def on_table(self, node: Element) -> str:
        rows = [list(row) for row in node.iter("tr")]
        head = sum(1 for part in node.iter("thead") for _ in part.iter("tr"))
        # To a reader who listens, rows without a head are not a table but lines in columns.
        kind = "table" if head else "grid"
        made = [[self.cell(cell, kind) for cell in row] for row in rows]
        top = f"table.header({', '.join(cell for row in made[:head] for cell in row)}), table.hline(stroke: .5pt), "
        cells = ", ".join(cell for row in made[head:] for cell in row)
        look = f"columns: {columns(rows)}, align: {sides(rows[head:])}, {top if head else 'inset: (x: 4pt, y: 3pt), '}"
        table = f"tabled({kind}({look}{cells}))"
        long = len(rows) > LINES_KEPT or sum(len(text_of(cell)) for row in rows for cell in row) > MOST_KEPT
        return f"\n\n{self.mark(node)}#{table};\n\n" if long else self.mark(node) + self.kept(table)

    def cell(self, node: Element, kind: str = "table") -> str:
        body = self.inner(node).strip()
        body = f"*{body}*" if node.tag == "th" and body else body
        across, down = int(node.get("colspan", 1)), int(node.get("rowspan", 1))
        if across == down == 1:
            return f"[{body}]"
        place = "align: center" if across > 1 else "align: top"
        return f"{kind}.cell(colspan: {across}, rowspan: {down}, {place})[{body}]"

    def on_dl(self, node: Element) -> str:
        return f"\n\n{self.mark(node)}{''.join(self.element(child) for child in node)}\n\n"

    def on_dt(self, node: Element) -> str:
        return f"\n\n#term[{self.mark(node)}{self.inner(node)}];\n\n"

    def on_sig(self, node: Element) -> str:
        return f"\n\n#signature[{self.mark(node)}#raw({quote(text_of(node))});];\n\n"

    def on_dd(self, node: Element) -> str:
        return f"#described[{self.inner(node)}];\n\n"

    def on_citation(self, node: Element) -> str:
        label = next(child for child in node if "label" in classes(child))
        return f"\n\n#cited[{self.mark(node)}{escape(text_of(label))}][{self.inner(node, label)}];\n\n"

    # Boxes

    def box(self, node: Element, kind: str, title: Element | None = None) -> str:
        if title is None:
            title = next(
                (e for e in node.iter("p") if classes(e) & {"admonition-title", "sidebar-title", "check-title"}), None
            )
        sticky = self.after is not None and bool(classes(self.after) & set(MOVED))
        head = self.mark(node) + (self.inner(title) if title is not None else "")
        self.boxes += 1
        made = f"boxed({quote(kind)})[{head}][{self.inner(node, title)}]"
        self.boxes -= 1
        return f"\n\n#{made};\n\n" if kind == "fold" else self.kept(made, sticky=sticky)

    def on_admonition(self, node: Element) -> str:
        kind = next((kind for name, kind in BOXES.items() if name in classes(node)), "plain")
        if kind == "exercise":
            self.exercise = text_of(next(e for e in node.iter("p") if "admonition-title" in classes(e)))
        return self.box(node, kind)

    on_exercise = on_proof = on_admonition

    def on_check(self, node: Element) -> str:
        return self.box(node, "check")

    def on_sidebar(self, node: Element) -> str:
        return self.box(node, "note")

    def on_rubric(self, node: Element) -> str:
        return f"\n\n#rubric[{self.inner(node)}];\n\n"

    def on_checks_on_paper(self, node: Element) -> str:
        """The answers to the checks of a page."""
        replies = ""
        for child in list(node)[1:]:
            replies += f"#rubric[{self.inner(child)}];\n" if child.tag == "p" else self.reply(child)
        self.answers[self.page].insert(0, replies)
        return ""

    def reply(self, node: Element) -> str:
        """The reply to an answer, straight after the answer."""
        answer, *told = node
        said = self.inner(answer).strip()
        end = "" if re.search(r"[.?!]\W*$", said) else "."
        return f"#reply[#strong[{said}{end}]; {''.join(self.element(part).strip() + ' ' for part in told)}];\n"

    def on_tag_hide_cell(self, node: Element) -> str:
        """The code after a check gives its answer away, so it goes to the answers."""
        fold = next((child for child in node if child.tag == "details"), None)
        if fold is None or self.before is None or "check" not in classes(self.before):
            return self.inner(node)
        title = text_of(next(self.before.iter("p")))
        self.answers[self.page].append(f"#rubric[{escape(title)} in code];\n{self.inner(fold, fold[0])}")
        return ""

    def on_details(self, node: Element) -> str:
        """A fold: open in its place if it is a proof, otherwise at the end of the page or of the book."""
        title = next(child for child in node if child.tag == "summary")
        kinds = classes(node)
        if "fold-code" in kinds:  # what it prints belongs to the page, and then how it does
            return self.inner(node, title) if any("cell_output" in classes(e) for e in node.iter()) else ""
        for kind, name in (MOVED | LATER).items():
            if kind in kinds:
                return self.moved(node, title, name, kind in LATER)
        return self.box(node, "fold", title)

    def moved(self, node: Element, title: Element, name: str, on_page: bool) -> str:
        self.count += 1
        label = f"moved-{self.count}"
        if on_page:
            made = (
                f"\n\n#rubric[#mark({quote(label)});{self.inner(title)}];\n\n{self.mark(node)}{self.inner(node, title)}"
            )
            self.later.append(made)
            return f"\n\n#elsewhere(({quote(label)}, [{self.inner(title)}]),);\n\n"
        head = f"#rubric[{escape(self.exercise)}];\n" if name == "Hint" or not self.answers_hinted() else ""
        self.hinted = self.exercise if name == "Hint" else ""
        made = f"#solved({quote(name)}, {quote(label)})[{self.mark(node)}{self.inner(node, title)}];\n\n"
        self.answers[self.page].append(head + made)
        return f"\n\n#elsewhere(({quote(label)}, [{name}]),);\n\n"

    hinted = ""
    before: Element | None = None  # what stands before an element, in the same parent, and after it
    after: Element | None = None

    def answers_hinted(self) -> bool:
        """Whether the exercise's title has been printed above its hint."""
        return self.hinted == self.exercise

    # Pictures

    def on_svg(self, node: Element) -> str:
        return self.kept(f"drawn({self.drawing(node, None)})", floats=True)

    def on_treekit_tree(self, node: Element) -> str:
        return "".join(self.on_svg(svg) for svg in node.iter("svg"))

    on_treekit_rows = on_treekit_tree

    def drawing(self, svg: Element, widest: float | None) -> str:
        """A drawing as a call of Typst's `image`, at its own size if no width is named."""
        alt = svg.get("aria-label") or "drawing"
        width, height = map(float, svg.get("viewBox", "0 0 400 1").split()[2:])
        wide = 0.75 * width if widest is None else min(0.75 * width, widest, HIGHEST * width / height)
        text = still(svg)
        name = hashlib.sha1(text.encode()).hexdigest()[:12] + ".svg"
        (self.folder / name).write_text(text, encoding="utf-8")
        return f"image({quote(name)}, width: {wide:.0f}pt, alt: {quote(alt)})"

    def on_figure(self, node: Element) -> str:
        """A figure that moves on the site, in the frame that it opens with, and the address where it moves."""
        svgs = list(node.iter("svg"))
        images = ", ".join(self.drawing(svg, WIDEST if len(svgs) == 1 else 215) for svg in svgs)
        title = next((escape(text_of(e)) for e in node.iter("strong")), "")
        said = next((self.inner(e).strip() for e in node.iter("output")), "")
        address = on_site(self.page, f"#{node.get('id')}")
        shown = escape(address.partition("//")[2])
        where = f"It moves at #link({quote(address)})[{shown}]." if address else ""
        made = f"moving([{self.numbered()}{title}], [{said} {where}], {images})"
        return self.mark(node) + self.kept(made, floats=True)

    def numbered(self) -> str:
        """The number of a figure on paper: the chapter's, and its place there."""
        self.figures += 1
        chapter = re.match(r"\d+\.", self.pages[self.page].title)
        return f"Figure {chapter[0] if chapter else ''}{self.figures}. "

    def on_img(self, node: Element) -> str:
        source = self.site / "book" / node.get("src", "")
        shutil.copy(source, self.folder)
        made = f"drawn(image({quote(source.name)}, alt: {quote(node.get('alt') or 'picture')}))"
        return self.kept(made, floats=True)


def columns(rows: list[list[Element]]) -> str:
    """The widths of a table's columns: left to Typst, or if its lines are too long, by what each column holds."""
    wide = max(sum(int(cell.get("colspan", 1)) for cell in row) for row in rows)
    full = [row for row in rows if len(row) == wide]
    texts = [[text_of(row[place]) for row in full] for place in range(wide)]
    longest = [max(map(len, column), default=0) for column in texts]
    if sum(longest) <= LINE or not full:
        return str(wide)
    # Every column holds its longest word; what is left of the width goes to those with longer lines.
    least = [max((len(word) for text in column for word in re.split(r"[\s-]", text)), default=0) for column in texts]
    more = [max(0, sum(map(len, column)) / len(column) - word) for column, word in zip(texts, least)]
    more = [min(some, most - word) for some, most, word in zip(more, longest, least)]
    points = [LETTER * word + GUTTER for word in least]
    left = max(0, TABLE - sum(points)) / (sum(more) or 1)
    return f"({', '.join(f'{width + left * some:.0f}pt' for width, some in zip(points, more))})"


def sides(rows: list[list[Element]]) -> str:
    """How each column of a table is aligned: numbers, and what the site has there, on the right; words on the left."""
    wide = max(len(row) for row in rows) if rows else 1
    full = [row for row in rows if len(row) == wide]
    right = [
        all("text-right" in classes(row[place]) or NUMBER.fullmatch(text_of(row[place])) for row in full)
        for place in range(wide)
    ]
    return f"({', '.join('right' if yes else 'left' for yes in right)},)"


def ids(article: Element) -> list[str]:
    return [element.get("id", "") for element in article.iter() if element.get("id")]
