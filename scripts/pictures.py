"""Make the pictures that stand for the book outside it: the preview of a link, and the icons.

    python -m scripts.pictures          write them into book/_static

The preview is the opening figure: ID3's tree with the seventeen melons in its leaves, laid out as on the cover. The
icons are drawn from book/_static/favicon.svg, whose shapes are lines, circles and rectangles.
"""

from __future__ import annotations

import io
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt
from matplotlib.patches import Circle, Rectangle
from PIL import Image, ImageDraw

from figures.cover import frontier, grown, lay_out, levels_of
from treekit.datasets import load_watermelon
from treekit.pen.palette import CLASS_COLORS, REGION, RIPE, UNRIPE

STATIC = Path(__file__).resolve().parents[1] / "book" / "_static"
TITLE = "Decision Trees,\nfrom Entropy to\nGradient Boosting"
INK = "#222832"


def preview() -> bytes:
    """The preview of a link, 1200 by 630 pixels, as PNG."""
    melons = load_watermelon()
    root = grown(melons, "ripe", "texture")
    levels = levels_of(root)
    bottom = lay_out(levels)
    figure = plt.figure(figsize=(12, 6.3), dpi=100)
    figure.text(0.05, 0.9, TITLE, va="top", fontsize=34, fontweight="bold", color=INK, linespacing=1.25)
    figure.text(0.05, 0.14, "A textbook that runs: each number and each\nfigure comes from code that you can change.",
                va="bottom", fontsize=15.5, color=INK, linespacing=1.5)  # fmt: skip
    ax = figure.add_axes((0.49, 0.03, 0.5, 0.94))
    ax.set(xlim=(-4, 420), ylim=(bottom + 4, -6), aspect="equal")
    ax.axis("off")
    words = dict(ha="center", va="center", color=INK, fontsize=11.5)
    for node in (node for level in levels for node in level):
        left, top, width, height = node.box
        for child in node.children:
            ax.plot([node.middle, child.middle], [node.bottom + 4, child.top + 1], color=INK, alpha=0.35, lw=1)
        kinds = {melons["ripe"][row] for row in node.rows}
        color = CLASS_COLORS[RIPE if kinds == {"yes"} else UNRIPE] if len(kinds) == 1 else INK
        settings = dict(alpha=REGION, facecolor=color) if len(kinds) == 1 else dict(fill=False, alpha=0.35)
        settings["linestyle"] = "-" if node.rows else "--"
        ax.add_patch(Rectangle((left, top), width, height, edgecolor=color, **settings))
        for i, word in enumerate(node.words):
            ax.text(node.middle, node.top + 16 * i + 8, word, **words)
        if node.question:
            ax.text(node.middle, node.bottom - 5, f"{node.question}?", **words, fontweight="bold")
    for node in frontier(root, len(levels)):
        for row, (x, y) in node.places().items():
            ripe = melons["ripe"][row] == "yes"
            color = CLASS_COLORS[RIPE if ripe else UNRIPE]
            ax.add_patch(Circle((x, y), 10.5, edgecolor=color, facecolor="white" if ripe else color, lw=2))
            ax.text(x, y, str(row), **words | {"color": INK if ripe else "white", "fontsize": 10.5})
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    plt.close(figure)
    return file.getvalue()


def icon(size: int) -> Image.Image:
    """The icon of the book as a square of `size` pixels, drawn eight times as large and reduced."""
    top = ElementTree.parse(STATIC / "favicon.svg").getroot()
    scale = 8 * size / float(top.get("viewBox").split()[2])
    image = Image.new("RGBA", (8 * size, 8 * size))
    draw = ImageDraw.Draw(image)
    for shape in top:
        get = {
            name: float(value) * scale for name, value in shape.attrib.items() if name not in ("d", "fill", "stroke")
        }
        match shape.tag.rpartition("}")[2]:
            case "circle":
                draw.circle((get["cx"], get["cy"]), get["r"], fill=shape.get("fill"))
            case "rect":
                box = [get["x"], get["y"], get["x"] + get["width"], get["y"] + get["height"]]
                draw.rounded_rectangle(box, get["rx"], fill=shape.get("fill"))
            case "path":  # from the root to the two leaves
                for end in ((8, 24), (24, 24)):
                    line = [(16 * scale, 8 * scale), (end[0] * scale, end[1] * scale)]
                    draw.line(line, fill=shape.get("stroke"), width=round(get["stroke-width"]))
    return image.resize((size, size), Image.Resampling.LANCZOS)


def pictures() -> dict[str, bytes]:
    """Every picture by its file's name."""
    made = {"preview.png": preview()}
    for name, size, settings in [
        ("favicon.ico", 48, {"format": "ICO", "sizes": [(16, 16), (32, 32), (48, 48)]}),
        ("apple-touch-icon.png", 180, {"format": "PNG"}),
    ]:
        drawn = icon(size)
        if name.startswith("apple"):  # which shows no transparency
            ground = Image.new("RGBA", drawn.size, "white")
            ground.alpha_composite(drawn)
            drawn = ground.convert("RGB")
        file = io.BytesIO()
        drawn.save(file, **settings)
        made[name] = file.getvalue()
    return made


def main() -> None:
    for name, content in pictures().items():
        (STATIC / name).write_bytes(content)
        print(f"book/_static/{name}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
