"""Rows beside a drawn tree: their paths are those of the tree, and the page's script marks them."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from figures.following import draw_with_rows
from treekit import C45Classifier, CARTRegressor, ID3Classifier
from treekit.datasets import load_watermelon

BOOK = Path(__file__).resolve().parents[2] / "book"


def split(version):
    melons = load_watermelon(version)
    return melons.drop(columns="ripe"), melons["ripe"]


def id3():
    X, ripe = split("2.0")
    return ID3Classifier().fit(X, ripe).tree_, X


def c45_with_gaps():
    X, ripe = split("2.0-alpha")
    return C45Classifier(conventions="quinlan").fit(X, ripe).tree_, X


def of_numbers():
    X = pd.DataFrame({"a": np.arange(12.0), "b": np.arange(12.0) % 5})
    return CARTRegressor().fit(X, X["a"] * X["b"]).tree_, X


def data_of(drawing):
    return json.loads(drawing.rows)


def passed(parent, ends):
    """The nodes where a row ends and all above them."""
    nodes = set()
    for node in map(int, ends):
        while node >= 0:
            nodes.add(node)
            node = parent[node]
    return nodes


@pytest.mark.parametrize("make", [id3, c45_with_gaps, of_numbers])
def test_paths_are_those_of_the_tree(make):
    tree, X = make()
    data = data_of(draw_with_rows(tree, X))
    assert data["parent"] == tree.parent.tolist()
    share, path, ends = tree.membership(X).toarray(), tree.decision_path(X).toarray(), tree.apply(X)
    labels = tree.predict(X)
    assert [name for name, _, _ in data["rows"]] == list(map(str, X.index))
    for i, (_, parts, words) in enumerate(data["rows"]):
        assert {int(node): part for node, part in parts.items()} == {
            node: pytest.approx(share[i, node], abs=5e-4) for node in np.flatnonzero(share[i]).tolist()
        }
        assert int(max(parts, key=parts.get)) == ends[i]
        assert passed(data["parent"], parts) == set(np.flatnonzero(path[i]).tolist())
        predicted = labels[i] if tree.classes is not None else f"{labels[i]:.4g}"
        assert words.endswith(f"Predicted: {predicted}.")


def test_a_path_is_told_by_its_answers():
    tree, X = id3()
    paths = {name: words for name, _, words in data_of(draw_with_rows(tree, X))["rows"]}
    assert paths["8"] == (
        "Row 8: texture = clear, stem = slightly curly, color = dark, surface = hard. Predicted: yes."
    )


def test_a_row_that_is_shared_out_tells_its_parts():
    tree, X = c45_with_gaps()
    rows = data_of(draw_with_rows(tree, X))["rows"]
    shared = [(ends, words) for _, ends, words in rows if len(ends) > 1]
    assert shared
    for ends, words in shared:
        assert f"is shared out among {len(ends)} nodes" in words and "as if " in words and "Together: no " in words
    assert not any("as if" in words for _, ends, words in rows if len(ends) == 1)


def test_below_the_drawing_a_row_ends_in_the_last_node_that_is_drawn():
    tree, X = id3()
    data = data_of(draw_with_rows(tree, X, max_nodes=4))
    assert data["parent"] == [-1, 0, 0, 0]
    path = tree.decision_path(X).toarray()
    for i, (_, ends, _) in enumerate(data["rows"]):
        assert ends == {str(np.flatnonzero(path[i, :4])[-1]): 1}


def test_without_rows_a_drawing_is_as_before():
    tree, X = id3()
    plain, named = tree.draw(), draw_with_rows(tree, X)
    assert "data-node" not in plain.html and "script" not in plain.html
    assert repr(plain) == repr(named) == "Drawing of a tree"
    without = re.sub(r'<g data-node="\d+">(.*?)</g>', r"\1", named.svg)
    assert without == plain.svg and re.sub(r' data-node="\d+"', "", named.outline) == plain.outline


def test_no_name_ends_the_script():
    X = pd.DataFrame({"a": ["x", "</script>"]}, index=["<!--", "</script>"])
    page = draw_with_rows(ID3Classifier().fit(X, ["u", "v"]).tree_, X).html
    assert page.count("</script>") == 1 and "<!--" not in page


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        (lambda X: X.to_numpy(), TypeError, "rows must be a data frame; got ndarray"),
        (lambda X: pd.concat([X] * 3), ValueError, "rows must be at most 40; got 51"),
        (lambda X: X.head(0), ValueError, "rows: X is empty"),
        (lambda X: X[["color"]], ValueError, "rows: X must have the 6 columns"),
    ],
)
def test_errors_name_the_argument(rows, error, words):
    tree, X = id3()
    with pytest.raises(error, match=words):
        draw_with_rows(tree, rows(X))


# -- what the script makes of it ----------------------------------------------------------------------------------


@pytest.fixture
def visit(browser, tmp_path):
    """Open a page with a drawn tree of melons, with rows to follow, and one without; an error of the script fails."""
    for name in ("rows.js", "rows.css"):
        shutil.copy(BOOK / "explorables" / name, tmp_path)
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Trees</title>'
    head += '<link rel="stylesheet" href="rows.css"><script defer src="rows.js"></script>'
    tree, X = id3()
    gaps, with_gaps = c45_with_gaps()
    body = "".join(drawing.html for drawing in (draw_with_rows(tree, X), tree.draw(), draw_with_rows(gaps, with_gaps)))
    document = f'<!doctype html><html lang="en"><head>{head}</head><body><main>{body}</main></body></html>'
    (tmp_path / "index.html").write_text(document, "utf-8")
    contexts, errors = [], []

    def open_page(width=1280, **settings):
        contexts.append(browser.new_context(viewport={"width": width, "height": 800}, **settings))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((tmp_path / "index.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


def marked(tree, part):
    return {int(node.get_attribute("data-node")) for node in tree.locator(f"{part} .passed").all()}


@pytest.mark.parametrize("width", [1280, 390])
def test_a_chosen_row_is_marked_in_the_drawing_and_in_the_outline(visit, width):
    page = visit(width, reduced_motion="reduce")
    tree = page.locator(".treekit-tree").first
    tree.locator("details").evaluate_all("all => all.forEach(details => { details.open = false })")
    select = page.get_by_label("Follow row").first
    assert select.bounding_box()["height"] >= 44 and page.evaluate("document.documentElement.scrollWidth") <= width
    select.focus()
    page.keyboard.type("8")
    assert marked(tree, "svg") == marked(tree, ".outline") == {0, 1, 5, 10, 12}
    assert page.locator("output").first.inner_text().startswith("Row 8: texture = clear, stem = slightly curly")
    if width == 390:
        assert tree.locator('p[data-node="12"]').is_visible() and not tree.locator('p[data-node="7"]').is_visible()
    else:  # without motion the mark is at once in the corner of its leaf
        mark = tree.locator(".row-mark").bounding_box()
        card = tree.locator('svg [data-node="12"] > rect').first.bounding_box()
        assert card["x"] < mark["x"] + mark["width"] / 2 < card["x"] + card["width"]
        assert card["y"] - 4 < mark["y"] < card["y"] + card["height"] / 2
    assert page.locator(".row-mark").count() == 1  # the other trees are as they were
    select.select_option("none")
    assert marked(tree, "svg") == marked(tree, ".outline") == set() and page.locator(".row-mark").count() == 0


def test_the_mark_starts_at_the_root_and_a_shared_row_has_one_for_each_part(visit):
    page = visit()
    tree, X = c45_with_gaps()
    name, parts, words = next(row for row in data_of(draw_with_rows(tree, X))["rows"] if len(row[1]) > 1)
    # The animations are asked for at once: on a slow machine they would be over.
    starts = page.get_by_label("Follow row").last.evaluate(
        """(select, name) => {
            select.value = [...select.options].find(option => option.text === name).value;
            select.dispatchEvent(new Event("change"));
            const marks = [...document.querySelectorAll(".row-mark")];
            return marks.map(mark => mark.getAnimations()[0].effect.getKeyframes()[0].transform);
        }""",
        name,
    )
    root = page.locator(".treekit-tree").last.locator('svg [data-node="0"] > rect').first
    right = sum(float(root.get_attribute(side)) for side in ("x", "width"))
    assert [float(re.search(r"\(([\d.]+)px", start)[1]) for start in starts] == [pytest.approx(right - 8)] * len(parts)
    assert page.locator("output").last.inner_text() == words


def test_without_javascript_the_tree_stands_alone(visit):
    page = visit(java_script_enabled=False)
    assert page.locator("select, output").count() == 0 and page.locator(".treekit-tree svg").first.is_visible()
