"""Plots by matplotlib: the same text on every machine, and dark on a dark page."""

import base64
import io

import matplotlib.pyplot as plt
import pytest
from PIL import Image

from figures.plots import axes, current_plot


def plotted():
    axes("rows", "seconds").plot([1, 2, 3], [2, 1, 3])
    return current_plot()


def test_a_plot_is_the_same_text_again_and_leaves_nothing_open():
    assert plotted()._repr_svg_() == plotted()._repr_svg_()
    assert plt.get_fignums() == []


def test_words_are_words():
    assert ">seconds</text>" in plotted()._repr_svg_()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_plot_follows_the_page(browser, scheme):
    svg = base64.b64encode(plotted()._repr_svg_().encode()).decode()
    with browser.new_context(viewport={"width": 500, "height": 300}) as context:
        page = context.new_page()
        page.set_content(f'<style>html {{ color-scheme: {scheme} }}</style><img src="data:image/svg+xml;base64,{svg}">')
        grey = Image.open(io.BytesIO(page.screenshot())).convert("L")
    darkest, lightest = grey.getextrema()
    assert (darkest < 60) and (lightest > 190)
    assert (grey.getpixel((3, 3)) > 200) == (scheme == "light")
