"""Tell whether what Binder installs has changed since it was last installed here and ran the chapters.

    python -m scripts.binder               says what has changed, and then fails
    python -m scripts.binder --remember    after such a run: stores digests of what was installed

Installing it takes minutes and the network, so `make test` does it only after a change, and `make binder` always.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REPLAYED = Path("tests/book/binder.json")


def installed(root: Path = ROOT) -> dict[str, str]:
    """A digest of each thing that decides what Binder installs; of pyproject.toml only what builds treekit counts."""
    files = sorted(path for path in (root / "binder").iterdir() if path.is_file() and path.suffix != ".in")
    contents = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    built_by = settings["build-system"], settings["project"]["requires-python"], settings["tool"]["hatch"]
    contents["pyproject.toml"] = json.dumps(built_by, sort_keys=True).encode()
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def changed(root: Path = ROOT) -> list[str]:
    """The names of what differs from what is stored, of files that have come or gone too."""
    now, before = installed(root), json.loads((root / REPLAYED).read_text(encoding="utf-8"))
    return sorted(name for name in now | before if now.get(name) != before.get(name))


def main() -> int:
    if "--remember" in sys.argv:
        (ROOT / REPLAYED).write_text(json.dumps(installed(), indent=1) + "\n", encoding="utf-8")
        print(f"Stored in {REPLAYED}")
        return 0
    names = changed()
    if names:
        print(f"Binder would install something else than the last time, for these have changed: {', '.join(names)}")
        return 1
    print("Binder's installation is not replayed: nothing of it has changed since it last passed (`make binder`)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
