"""The rules of a course: deadlines, extensions, what lateness costs, and what counts for those who hand in nothing."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

__all__ = ["Rules", "read_rules"]


@dataclass(frozen=True)
class Rules:
    """What holds for everybody, as the file of rules says it."""

    missing: str = "blank"  #: or zero: the mark for an assignment that was not handed in
    deadlines: dict[str, datetime] = field(default_factory=dict)  #: by assignment
    extensions: dict[str, dict[str, float]] = field(default_factory=dict)  #: hours, by assignment and student
    grace: float = 0  #: minutes after a deadline that cost nothing
    per_day: float = 0  #: percent of an assignment's points that each day begun takes off
    at_most: float = 100  #: percent that lateness can take off

    def late(self, assignment: str, about: dict[str, Any], points: float) -> dict[str, Any] | None:
        """How late something was handed in, and the points that this takes off; None if it was in time."""
        hours = self.hours_late(assignment, about)
        extended = self.extensions.get(assignment, {}).get(about["student"], 0)
        if hours is None and about.get("flagged"):
            known, days = "late, and by how much is not known", 0 if extended else 1
        elif hours is None or hours - extended <= self.grace / 60:
            return None
        else:
            hours -= extended
            known = f"{hours:.1f} hours late" if hours < 48 else f"{hours / 24:.1f} days late"
            days = math.ceil(hours / 24)
        percent = min(self.at_most, self.per_day * days)
        told = f"{known}: {percent:g} % of the points are taken off, for {days} day{'s' * (days != 1)}"
        return {"points": points * percent / 100, "says": told if percent else known}

    def hours_late(self, assignment: str, about: dict[str, Any]) -> float | None:
        """Hours after the deadline, negative before; None if one of the times is not known."""
        if assignment not in self.deadlines or not about.get("when"):
            return None
        when = datetime.fromisoformat(about["when"])
        return (when - self.deadlines[assignment]).total_seconds() / 3600


def read_rules(path: Path, assignments: list[str]) -> Rules:
    """The rules in a file.

    Raises
    ------
    ValueError
        If it holds what is no rule, or names what is no assignment.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"RULES={path}: {error}") from None
    rules = {**found.pop("late", {}), **found}
    if wrong := set(rules) - set(Rules.__dataclass_fields__):
        raise ValueError(
            f"RULES={path}: {', '.join(sorted(wrong))} is no rule; rules are {', '.join(Rules.__dataclass_fields__)}"
        )
    if rules.get("missing", "blank") not in ("blank", "zero"):
        raise ValueError(f'RULES={path}: missing is "blank" or "zero", not {rules["missing"]!r}')
    for name in [*rules.get("deadlines", {}), *rules.get("extensions", {})]:
        if name not in assignments:
            raise ValueError(f"RULES={path}: there is no assignment {name}")
    for name, when in rules.get("deadlines", {}).items():
        if not isinstance(when, datetime) or when.tzinfo:
            raise ValueError(f"RULES={path}: a deadline is written {name} = 2026-11-03T23:59:00, in local time")
    for name in ("grace", "per_day", "at_most"):
        if not isinstance(rules.get(name, 0), (int, float)) or rules.get(name, 0) < 0:
            raise ValueError(f"RULES={path}: {name} is a number, not {rules[name]!r}")
    return Rules(**rules)
