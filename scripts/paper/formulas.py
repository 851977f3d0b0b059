"""Turn a formula of the site, which is MathML, into Typst's mathematics, and into words for a reader who listens."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from xml.etree.ElementTree import Element

NOTHING = '""'  # Typst wants an argument where the formula has none
BAR = r'class("normal", \|)'  # otherwise it gets space around it
ROWS = {"math", "mrow", "mpadded", "mtd", "semantics"}
ACCENTS = {
    "~": "tilde",
    "˜": "tilde",
    "^": "hat",
    "ˆ": "hat",
    "¯": "overline",
    "‾": "overline",
    "―": "overline",
    "→": "arrow",
}
BRACES = {"⏟": "underbrace", "⏞": "overbrace"}
SPOKEN = {
    "=": "equals", "≠": "is not equal to", "<": "less than", ">": "greater than", "≤": "at most", "≥": "at least",
    "+": "plus", "−": "minus", "-": "minus", "×": "times", "⋅": "times", "·": "times", "/": "over", "∑": "the sum",
    "∏": "the product", "∫": "the integral", "∈": "in", "∉": "not in", "⊆": "subset of", "∪": "union",
    "∩": "intersection",
    "∞": "infinity", "→": "to", "←": "becomes", "∣": "given", "|": "bar", "∖": "without", "≈": "about", "∂": "partial",
    "∅": "the empty set", "∗": "star", "′": "prime", "…": "and so on", "⋯": "and so on", "±": "plus or minus",
    "∧": "and", "∨": "or", "¬": "not", "⟹": "implies", "∝": "proportional to", "∇": "gradient", "!": "factorial",
    "≡": "is identical to", "½": "one half", "∼": "is distributed as",
    "{": "open brace", "}": "close brace", "⌊": "floor", "⌋": "end of floor", "⌈": "ceiling", "⌉": "end of ceiling",
    "ȷ": "j", "_": "underscore",
}  # fmt: skip
SILENT = {"\u2061", "\u2062", "\u200b", ""}
POWERS = {"2": "squared", "3": "cubed", "∗": "star", "′": "prime", "T": "transposed", "⊤": "transposed"}


def parts(node: Element) -> list[str]:
    return [typst(child) for child in node]


def sign(text: str) -> str:
    """Characters as Typst takes them literally."""
    # Brackets too, because Typst would look for their partners.
    return "".join("\\" + c if unicodedata.category(c) in ("Ps", "Pe") or is_mark(c) else c for c in text)


def is_mark(c: str) -> bool:
    return c.isascii() and not c.isalnum() and c != " "


def typst(node: Element) -> str:
    """A formula, or a part of one, in Typst's language."""
    tag, text = node.tag, (node.text or "").strip()
    if tag in ROWS:
        return fenced(node) or row(node)
    if tag == "mstyle":
        style = {"true": "display", "false": "inline"}.get(node.get("displaystyle", ""), "")
        return f"{style}({row(node)})" if style else row(node)
    if tag == "mi":
        return name(node, text)
    if tag == "mn":
        return text if re.fullmatch(r"\d+(\.\d+)?", text) else json.dumps(text, ensure_ascii=False)
    if tag == "mo":
        return operator(node, text)
    if tag == "mtext":
        words = json.dumps((node.text or "").replace("\u00a0", " "), ensure_ascii=False)
        return f"#h(2em) {words}" if "tml-tag" in node.get("class", "") else words
    if tag == "mspace":
        return f"#h({node.get('width', '0em')})"
    if tag == "mfrac":
        above, below = parts(node)
        bare = node.get("linethickness", "").startswith("0")
        return f"mat(delim: #none, {above}; {below})" if bare else f"frac({above}, {below})"
    if tag == "msqrt":
        return f"sqrt({row(node)})"
    if tag == "mtable":
        return table(node)
    if tag in ("msub", "msup", "msubsup", "munder", "mover", "munderover"):
        return attached(node)
    raise ValueError(f"a formula has <{tag}>, which `typst` does not know: add it there")


def row(node: Element) -> str:
    return beside(parts(node)) or NOTHING


def beside(made: Iterable[str]) -> str:
    """Parts one after the other. Typst keeps a blank next to words, and the site's formulas have their own."""
    out = ""
    for part in filter(None, made):
        out += part if not out or out.endswith('"') or part.startswith('"') else f" {part}"
    return out


def name(node: Element, text: str) -> str:
    if len(text) > 1 and not unicodedata.combining(text[-1]):
        return json.dumps(text.replace("\u00a0", " "), ensure_ascii=False)
    if text == "|":
        return BAR
    return f"upright({sign(text)})" if node.get("mathvariant") == "normal" else sign(text)


def operator(node: Element, text: str) -> str:
    if text in SILENT:
        return ""
    if text.isalpha() and text.isascii():
        return json.dumps(text)
    drawn = sign(text)
    if size := node.get("minsize"):
        drawn = f"stretch({drawn}, size: #{size})"
    form = node.get("form")
    if node.get("fence") == "true" and form:
        return f'class("{"opening" if form == "prefix" else "closing"}", {drawn})'
    if form == "prefix" and text in "−+-":
        return f'class("unary", {drawn})'
    return f'class("relation", {drawn})' if text == "|" and node.get("lspace", "0") not in ("0", "0em") else drawn


def fenced(node: Element) -> str:
    """What is between brackets that grow with it."""
    if len(node) < 2 or any(
        end.tag != "mo" or end.get("fence") != "true" or end.get("stretchy") == "false" or end.get("minsize")
        for end in (node[0], node[-1])
    ):
        return ""
    inner = beside(typst(child) for child in node[1:-1])
    first, last = (sign((end.text or "").strip()) for end in (node[0], node[-1]))
    return f"lr({first} {inner} {last})"


def table(node: Element) -> str:
    rows = ["& ".join(typst(cell) for cell in line if len(cell)) for line in node]
    if node.get("displaystyle") == "true":
        rows = ["& ".join(f"display({typst(cell)})" for cell in line if len(cell)) for line in node]
    aligned = any("tml-right" in cell.get("class", "") for cell in node.iter("mtd"))
    if not aligned:
        rows = [row.replace("& ", ", ") for row in rows]
    return (
        f"mat(delim: #none, row-gap: #.7em, column-gap: #1em, {'' if aligned else 'align: #left, '}{'; '.join(rows)})"
    )


def attached(node: Element) -> str:
    base, *marks = parts(node)
    symbol = (node[1].text or "").strip()
    if node.tag in ("mover", "munder") and symbol in ACCENTS:
        return f"{ACCENTS[symbol]}({base})"
    if node.tag in ("mover", "munder") and symbol in BRACES:
        return f"{BRACES[symbol]}({base})"
    places = {"b": "msub munder", "t": "msup mover"}
    keys = ["b", "t"] if len(marks) == 2 else [key for key, tags in places.items() if node.tag in tags.split()]
    how = "limits" if node.tag.startswith(("munder", "mover")) else "scripts"
    set_ = ", ".join(f"{key}: {mark or NOTHING}" for key, mark in zip(keys, marks, strict=True))
    return f"attach({how}({base or NOTHING}), {set_})"


def spoken(node: Element) -> str:
    """The formula in words."""
    return re.sub(r"\s+([,.;])", r"\1", re.sub(r"\s+", " ", words(node))).strip()


def words(node: Element) -> str:
    tag, text = node.tag, (node.text or "").strip()
    said = [words(child) for child in node]
    if tag in ("mi", "mn", "mtext", "mo"):
        return "" if text in SILENT else SPOKEN.get(text, letter(text))
    if tag == "mspace":
        return ""
    if tag == "mfrac":
        simple = all(len(list(part.iter())) == 1 for part in node)
        return " over ".join(said) if simple else f"the fraction {said[0]} over {said[1]}, end of fraction,"
    if tag == "msqrt":
        return f"the square root of {' '.join(said)}, end of root,"
    if tag == "msup":
        return f"{said[0]} {POWERS.get((node[1].text or '').strip()) or 'to the power ' + said[1]}"
    if tag in ("msub", "munder"):
        return f"{said[0]} {'sub' if tag == 'msub' else 'over'} {said[1]}"
    if tag == "mover":
        return f"{said[0]} {ACCENTS.get((node[1].text or '').strip(), 'under ' + said[1])}"
    if tag in ("msubsup", "munderover"):
        return (
            f"{said[0]} sub {said[1]} to the power {said[2]}"
            if tag == "msubsup"
            else f"{said[0]} from {said[1]} to {said[2]} of"
        )
    return ("; " if tag == "mtable" else " ").join(said)


def letter(text: str) -> str:
    """A letter by the name that a voice has for it."""
    if len(text) == 1 and not text.isascii() and (found := unicodedata.name(text, "")):
        kept = [
            word.lower() for word in found.split() if word not in ("MATHEMATICAL", "SMALL", "LETTER", "SYMBOL", "SIGN")
        ]
        return " ".join(kept[1:] if kept[0] == "greek" else kept)
    return text
