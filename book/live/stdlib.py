"""Pyodide's standard library, compiled and without what no page needs: `compile.mjs` runs this inside Pyodide itself.

Pyodide ships the modules as source, and compiles them anew whenever it starts. Compiled once, by the very Python that
will load them, they start it in a third to a half of the time. So do the wheels with which notebooks in JupyterLite
start.
"""

from __future__ import annotations

import importlib.util
import io
import marshal
import zipfile

SHIPPED = "/lib/python314.zip"

#: Consoles, servers, mail, other machines; what NumPy, pandas, SciPy, scikit-learn and Matplotlib import stays.
NEEDLESS = (
    "_pydatetime.py", "_pyio.py", "antigravity.py", "asyncio/windows", "bdb.py", "cProfile.py", "compileall.py",
    "concurrent/interpreters", "dbm/", "doctest.py", "ensurepip/", "ftplib.py", "idlelib/", "imaplib.py",
    "json/tool.py", "logging/config.py", "mailbox.py", "modulefinder.py", "nntplib.py", "optparse.py", "pdb.py",
    "pickletools.py", "poplib.py", "profile.py", "profiling/", "pstats.py", "pydoc_data/", "shelve.py", "smtplib.py",
    "turtle", "venv/", "wsgiref/", "xmlrpc/", "zipapp.py",
)  # fmt: skip
#: Of the encodings those in which tables come: Unicode, Western, Central European, Cyrillic, Chinese.
ENCODINGS = (
    "__init__", "aliases", "ascii", "big5.", "charmap", "cp125", "cp437", "cp850", "cp936", "gb", "hz.", "idna",
    "iso8859_", "koi8_r", "latin_1", "mac_roman", "punycode", "raw_unicode", "unicode_escape", "utf_",
)  # fmt: skip


def is_needed(name: str) -> bool:
    if name.startswith("encodings/"):
        return name.removeprefix("encodings/").startswith(ENCODINGS)
    return not name.startswith(NEEDLESS)


def compiled(path: str, source: bytes) -> bytes:
    """The bytes of a .pyc that is never checked against its source; without docstrings, which make a quarter of it."""
    code = compile(source, path, "exec", dont_inherit=True, optimize=2)
    by_hash_unchecked = (1).to_bytes(4, "little")
    header = importlib.util.MAGIC_NUMBER + by_hash_unchecked + importlib.util.source_hash(source)
    return header + marshal.dumps(code)


def packed(archive: str = SHIPPED, home: str = SHIPPED, whole: bool = True) -> bytes:
    """An archive with its modules compiled, for import from `home`; of the library only what `is_needed` keeps."""
    box = io.BytesIO()
    with zipfile.ZipFile(archive) as shipped, zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for name in shipped.namelist() if whole else filter(is_needed, shipped.namelist()):
            content = shipped.read(name)
            if name.endswith(".py"):
                name, content = f"{name}c", compiled(f"{home}/{name}", content)
            made.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return box.getvalue()
