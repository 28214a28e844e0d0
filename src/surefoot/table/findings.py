"""Findings: what a reader of the data must know before believing a number made from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from surefoot.core.record import Record

STOPPED = "stopped early"
"""The kind of a finding on a run that stopped by its own outcomes."""


@dataclass(frozen=True, slots=True)
class Finding(Record):
    """Something a reader of the data must know.

    Attributes:
        about: What kind of thing it is, one or two words.
        says: What was found, with the numbers.
        threatens: Which conclusions it makes doubtful.
        remedy: What to do about it.
        serious: Whether a conclusion can be wrong because of it, not only weaker.
        values: The numbers and names in it, for code; the sentences are for people.
    """

    about: str
    says: str
    threatens: str
    remedy: str
    serious: bool = True
    values: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.about, self.says, self.threatens, self.remedy, self.serious))

    def __str__(self) -> str:
        return f"{self.about}: {self.says} {self.threatens} {self.remedy}"


def same_total(says: float, counted: float, printed: str = "") -> bool:
    """Whether a total is what the rows give, up to the rounding of the decimals that it was printed with.

    Args:
        says: The file's total.
        counted: What its rows give.
        printed: The total as the file writes it; as Python would write it when not given.
    """
    digits = len((printed or repr(says)).strip().partition(".")[2])
    half = 0.5 * 10.0**-digits if 2 <= digits <= 8 else 0.0  # 66.67 is rounded; 50.0 may be meant to the last episode
    return abs(says - counted) <= max(half, 1e-6 * max(1.0, abs(counted))) * (1 + 1e-9)


def own_mean(what: str, says: float | None, values: Iterable[float | None], *, unit: float = 1.0) -> list[Finding]:
    """A file whose own mean of some values, where it gives one, is not what its rows give.

    Args:
        what: What the file calls it, and of what.
        says: The file's mean.
        values: What its rows hold; those that are not known do not count.
        unit: What a value of 1 is in the file's own unit: 100 where it gives percents.
    """
    known = [value for value in values if value is not None]
    if says is None or not known:
        return []
    counted = unit * sum(known) / len(known)
    return [] if same_total(says, counted) else [own_total(what, says, counted)]


def own_total(what: str, says: float, counted: float) -> Finding:
    """A file whose own total is not what its rows give."""
    return Finding(
        about="own totals disagree",
        values={"of": what, "given": says, "counted": counted},
        says=f"The file gives {what} as {says:.10g}; its rows give {counted:.10g}.",
        threatens="Rows may be missing, repeated or changed, so any number made from them may be wrong.",
        remedy="Find out which of the two is right before using either.",
    )
