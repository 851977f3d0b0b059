"""Pack the built site as one file that opens without a network: `python -m scripts.paper.offline SITE OUT.zip`.

Whoever unpacks it opens index.html. The pages need nothing from elsewhere; the search reads its words from a script.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

from scripts.paper.site import add_to

FOLDER = "decision-trees"


def pack(site: Path, out: Path) -> None:
    """Write every file of the site below one folder."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(site.rglob("*")):
            if path.is_file():
                add_to(archive, f"{FOLDER}/{path.relative_to(site).as_posix()}", path.read_bytes())


if __name__ == "__main__":
    pack(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"{sys.argv[2]}, {Path(sys.argv[2]).stat().st_size / 1e6:.1f} MB")
