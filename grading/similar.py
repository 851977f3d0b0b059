"""Answers that are alike in more than chance explains: a hint for a person, not a verdict."""

from __future__ import annotations

import keyword
import re
from itertools import combinations

__all__ = ["alike"]

#: Words or signs in a row that are compared at a time; how many an answer must have; and the share that must agree.
STEP, LEAST, SHARE = 6, 60, 0.8
#: An answer that more students than these share is the usual one.
MOST = 4


def alike(answers: dict[str, str], usual: str) -> list[tuple[str, str, float]]:
    """Pairs of students whose answers agree, with the share that does; ``usual`` is the answer that many will find.

    Names are compared by the order in which they come, so that it does not help to rename them.
    """
    parts = {student: found for student, text in answers.items() if (found := _parts(text))}
    known = _parts(usual, least=0)
    near = {student for student, found in parts.items() if known and _agree(found, known) >= SHARE}
    pairs = [
        (one, other, share)
        for one, other in combinations(sorted(parts.keys() - near), 2)
        if (share := _agree(parts[one], parts[other])) >= SHARE
    ]
    partners = [student for pair in pairs for student in pair[:2]]
    return [pair for pair in pairs if max(map(partners.count, pair[:2])) < MOST]


def _parts(text: str, least: int = LEAST) -> frozenset[tuple[str, ...]]:
    """An answer as all its runs of so many signs; nothing, if it is so short that equal ones are to be expected."""
    names: dict[str, str] = {}
    signs = re.findall(r"[^\W\d]\w*|\d[\w.]*|[^\w\s]", re.sub(r"#.*", "", text))
    plain = [
        names.setdefault(sign, f"name {len(names)}") if sign.isidentifier() and not keyword.iskeyword(sign) else sign
        for sign in signs
    ]
    return frozenset(zip(*(plain[place:] for place in range(STEP)))) if len(signs) >= least else frozenset()


def _agree(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    return len(one & other) / max(len(one | other), 1)
