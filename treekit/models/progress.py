"""Reports on the progress of a long fit."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

__all__ = ["progress"]


def progress(n: int, what: str, verbose: bool | int) -> Iterator[int]:
    """The numbers from 0 to n - 1; with ``verbose`` each prints a line when done, such as ``tree 3 of 10, 0.4 s``."""
    start = perf_counter()
    for k in range(n):
        yield k
        if verbose:
            print(f"{what} {k + 1} of {n}, {perf_counter() - start:.1f} s", flush=True)
