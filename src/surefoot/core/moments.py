"""What must be kept of so many scores that nobody wants to look at each again?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from surefoot import _check
from surefoot.core.record import Record


@dataclass(frozen=True, slots=True)
class Moments(Record):
    """How many scores, their mean and their variance, inside a range stated beforehand.

    Attributes:
        trials: How many scores.
        mean: Their mean.
        variance: Their variance, divided by one less than their number; 0 for one score.
        low: The least score possible.
        high: The greatest score possible.

    Example:
        >>> from surefoot import Moments
        >>> print(Moments.of_sums(4, 2.0, 1.5))
        4 scores in [0, 1], mean 0.500.
    """

    trials: int
    mean: float
    variance: float
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if _check.whole(self.trials, "trials") < 1:
            raise ValueError(_check.refusal("trials", "be at least 1", self.trials))
        if not self.low < self.high:
            raise ValueError(f"`low` must be below `high`; got low={self.low:g}, high={self.high:g}.")
        if not self.low <= self.mean <= self.high:
            raise ValueError(f"`mean` must lie in the stated range [{self.low:g}, {self.high:g}]; got {self.mean:g}.")
        if not self.variance >= 0.0:
            raise ValueError(_check.refusal("variance", "be 0 or more", self.variance))

    @classmethod
    def of_sums(cls, trials: int, total: float, squares: float, low: float = 0.0, high: float = 1.0) -> Self:
        """From how many scores, their sum and the sum of their squares."""
        mean = min(high, max(low, total / trials))
        spread = squares - trials * mean * mean
        if spread <= 1e-12 * squares:  # only rounding keeps them apart
            spread = 0.0
        return cls(trials, mean, spread / (trials - 1) if trials > 1 else 0.0, low, high)

    def __len__(self) -> int:
        return self.trials

    def __str__(self) -> str:
        several = "" if self.trials == 1 else "s"
        return f"{self.trials:,} score{several} in [{self.low:g}, {self.high:g}], mean {self.mean:.3f}."
