"""What must a reader of these data know before believing a number made from them?"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.core.record import Record


@dataclass(frozen=True, slots=True)
class Finding(Record):
    """Something a reader of the data must know.

    Attributes:
        about: What kind of thing it is, one or two words.
        says: What was found, with the numbers.
        threatens: Which conclusions it makes doubtful.
        remedy: What to do about it.
        serious: Whether a conclusion can be wrong because of it, not only weaker.
    """

    about: str
    says: str
    threatens: str
    remedy: str
    serious: bool = True

    def __str__(self) -> str:
        return f"{self.about}: {self.says} {self.threatens} {self.remedy}"


def own_total(what: str, says: float, counted: float) -> Finding:
    """A file whose own total is not what its rows give."""
    return Finding(
        about="own totals disagree",
        says=f"The file gives {what} as {says:.10g}; its rollouts give {counted:.10g}.",
        threatens="Rows may be missing, repeated or changed, so any number made from them may be wrong.",
        remedy="Find out which of the two is right before using either.",
    )
