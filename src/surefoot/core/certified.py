"""How is a number given whose exact value is only known to lie between two others?"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.record import Record


@dataclass(frozen=True, slots=True)
class Certified(Record):
    """Two numbers with the true one proved to lie between them.

    Attributes:
        low: Never above the true value.
        high: Never below the true value.
        at: Where the largest value found is attained.
        what: What the number is.
    """

    low: float
    high: float
    at: float
    what: str = ""

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise _check.wrong("low", f"be at most `high`; got {self.low!r} and {self.high!r}.", self.low)

    @property
    def value(self) -> float:
        """The middle; off by at most half of `high - low`."""
        return (self.low + self.high) / 2

    def __str__(self) -> str:
        what = f"{self.what} is " if self.what else ""
        low, high = formatting.rounded(self.low, 8, "down"), formatting.rounded(self.high, 8, "up")
        return f"{what}between {low:.8f} and {high:.8f} (attained near {self.at:.4g})."
