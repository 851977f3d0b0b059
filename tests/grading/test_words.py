"""Answers in words are shown as they were meant, and nothing else that stands in them."""

from __future__ import annotations

import base64

import pytest

from grading.words import BEGINS, pictures, shown

PNG, JPEG = (base64.b64encode(BEGINS[kind] + b"rest").decode() for kind in ("image/png", "image/jpeg"))


def test_formulas_pictures_and_markdown():
    found = pictures({"a.png": {"image/png": PNG}, "b.jpg": {"image/jpeg": [JPEG[:4], JPEG[4:]]}})
    text = shown(
        "**So** $\\frac{1}{2}$:\n\n$$x^2$$\n\n![plot](attachment:a.png) ![](attachment:b.jpg)\n\n| a |\n|---|\n| 1 |",
        found,
    )
    assert "<strong>So</strong>" in text and "<table>" in text
    assert text.count('class="formula"') == 2 and 'alt="x^2"' in text
    assert f"data:image/png;base64,{PNG}" in text and f"data:image/jpeg;base64,{JPEG}" in text


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "![a](http://192.0.2.1/x.png)",
        '![" onerror="x](attachment:none)',
        "$\\input{/etc/passwd}$",
        "<http://192.0.2.1>",
        "[a]: http://192.0.2.1\n\n[a]",
    ],
)
def test_nothing_runs_and_nothing_is_loaded(source):
    text = shown(source, {})
    assert "<script" not in text and "<a " not in text and "<img" not in text.replace('<img class="formula"', "")


def test_what_only_says_that_it_is_a_picture_is_dropped():
    svg = base64.b64encode(b"<svg onload=alert(1)>").decode()
    assert pictures({"a": {"image/svg+xml": svg}, "b": {"image/png": svg}, "c": 5, "d": {"image/png": 5}}) == {}
    assert pictures(["no", "dict"]) == {}
