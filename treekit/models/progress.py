"""Reports on the progress of a long fit."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

__all__ = ["progress"]


def progress(n: int, what: str, verbose: bool | int, step: int = 1) -> Iterator[int]:
    """The numbers from 0 to n - 1, or every ``step``-th of them; with ``verbose`` each prints a line when done, such as
    ``tree 3 of 10, 0.4 s``."""
    start = perf_counter()
    for k in range(0, n, step):
        yield k
        if verbose:
            print(f"{what} {min(k + step, n)} of {n}, {perf_counter() - start:.1f} s", flush=True)
