"""See that a tag and the files that name treekit's version agree; release.yml asks before it builds anything.

python -m scripts.release v0.1.0
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAMED = {
    "treekit/__init__.py": r'__version__ = "(.+)"',
    "CITATION.cff": r"version: (.+)",
    "CHANGELOG.md": r"## \[(\d.*)\] - \d{4}-\d\d-\d\d",  # the newest version that has a date
}


def versions(tag: str, root: Path = ROOT) -> dict[str, str]:
    """The version that a tag and each file name; the word "none" where a file names none."""
    named = {"the tag": tag.removeprefix("v")}
    for name, pattern in NAMED.items():
        found = re.search(f"^{pattern}$", (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        named[name] = found[1] if found else "none"
    return named


def main(tag: str) -> int:
    named = versions(tag)
    for place, version in named.items():
        print(f"{place:<20} {version}")
    if len(set(named.values())) > 1:
        print("They must name one version: RELEASING.md says where.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
