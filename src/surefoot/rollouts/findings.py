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
