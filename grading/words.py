"""An answer in words as a page shows it: Markdown, formulas as pictures, and the pictures that were pasted in.

It links nowhere and loads nothing. What a student has written may be made to take long: call it where time is limited.
"""

from __future__ import annotations

import base64
import io
import re
from html import escape
from typing import Any

import mistune

__all__ = ["pictures", "shown"]

#: Bytes of one picture, and how each kind begins.
LARGEST = 2 << 20
BEGINS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}


def pictures(attachments: Any) -> dict[str, str]:
    """The pictures of a cell as data that a page may hold, by name: PNG and JPEG, and nothing that only says so."""
    found = {}
    for name, kinds in attachments.items() if isinstance(attachments, dict) else ():
        for kind, text in kinds.items() if isinstance(kinds, dict) else ():
            try:
                data = base64.b64decode("".join(text) if isinstance(text, list) else text, validate=False)
            except (ValueError, TypeError):
                continue
            if kind in BEGINS and data.startswith(BEGINS[kind]) and len(data) <= LARGEST:
                found[str(name)] = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    return found


def shown(source: str, attachments: dict[str, str]) -> str:
    """Words in Markdown as HTML."""
    renderer = _Renderer(attachments)
    return str(mistune.create_markdown(renderer=renderer, plugins=["math", "table", "strikethrough"])(source))


class _Renderer(mistune.HTMLRenderer):
    """Markdown without links, and with pictures that stand in the page alone."""

    def __init__(self, attachments: dict[str, str]) -> None:
        super().__init__(escape=True)
        self._attachments = attachments

    def link(self, text: str, url: str, title: str | None = None) -> str:
        return text if text == escape(url) else f"{text} ({escape(url)})"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        data = self._attachments.get(url.removeprefix("attachment:"))
        return (
            f'<img alt="{escape(text)}" src="{data}">'
            if data
            else f"[a picture that is not in the notebook: {escape(url)}]"
        )

    def inline_math(self, text: str) -> str:
        return _formula(text)

    def block_math(self, text: str) -> str:
        return f"<p>{_formula(text)}</p>"


def _formula(text: str) -> str:
    """A formula as a picture; as it was typed, where matplotlib can't set it."""
    from matplotlib.mathtext import math_to_image  # takes long, and few answers need it

    picture, tidy = io.BytesIO(), re.sub(r"\s+", " ", text.strip())
    try:
        math_to_image(f"${tidy}$", picture, dpi=150, format="png")
    except Exception:  # whatever was typed
        return f"<code>{escape(text)}</code>"
    data = base64.b64encode(picture.getvalue()).decode()
    return f'<img class="formula" alt="{escape(tidy)}" src="data:image/png;base64,{data}">'
