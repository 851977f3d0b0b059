"""Faults in a chapter that stop the build: one small book has them all, and its build names each."""

import re

import pytest
from nbformat.v4 import new_markdown_cell

from tests.book.sites import BIN, build, small_book
from tests.book.test_checks import CHOOSE, GAINS, NUMBER, ORDER, shown

CHECKS = [
    (CHOOSE.replace("choose", "guess"), "a check is one of choose, number, order, not guess"),
    (CHOOSE.replace(":label: check-small-beast\n", ""), "a check needs a label"),
    (CHOOSE.replace("[x]", "[ ]"), "of which one is ticked"),
    (CHOOSE.replace("  It has two.\n", ""), "its reply stands indented below"),
    (NUMBER.replace(":tolerance: 0.005\n", ""), "a tolerance"),
    (NUMBER.replace("[ ] Another number", "Another number"), "an answer begins with"),
    (NUMBER.replace("`texture #`", "`weight #`"), "`weight #` is in no output"),
    (NUMBER.replace("`texture #`", "`#`"), "`#` shows 0.108, 0.381"),
    (NUMBER.replace("`texture #`", "0.381"), "the right number is written as its place"),
    (NUMBER.replace("] 7", "] 0.39"), "the wrong 0.39 is too near"),
    (ORDER.replace("3 before 2", "2 before 3"), "so this order is not wrong"),
    (ORDER.replace("2. Divide.\n3. Recurse.\n", ""), "three steps or more"),
    (ORDER.replace("* [x] In this order\n\n  So it is.\n", "") + "[x]", "of which one is ticked"),
]
FORMULA = "## A formula\n\nSo $\\nosuchmacro x$."
DOTS = "## A fold\n\nIn the open.\n\n:::{dropdown} ...\nWords.\n:::"


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """What a build with every fault says."""
    cells = [new_markdown_cell("# A small chapter\n\n(hump)=\n## Hump\n\nWords."), shown(GAINS)]
    for number, (markdown, _) in enumerate(CHECKS):
        cells.append(new_markdown_cell(re.sub(":label: ", f":label: faulty-{number}-", markdown)))
    cells += [new_markdown_cell(FORMULA), new_markdown_cell(DOTS)]
    folder = small_book(tmp_path_factory.mktemp("faulty"), cells)
    with pytest.raises(AssertionError) as failure:
        build([BIN / "jupyter-book", "build", folder, "--all", "-W", "--keep-going"], folder)
    return str(failure.value)


@pytest.mark.parametrize("fault", [fault for _, fault in CHECKS])
def test_a_faulty_check_stops_the_build(complaints, fault):
    assert fault in complaints


@pytest.mark.parametrize("fault", [r"this formula cannot be set[^\n]*nosuchmacro", r"dots follows no fold"])
def test_a_warning_of_ours_stops_the_build(complaints, fault):
    assert re.search(rf"(WARNING|ERROR): [^\n]*{fault}", complaints)
