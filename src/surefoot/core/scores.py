"""Bounded scores of one policy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.sample import Sample


@dataclass(frozen=True, slots=True)
class Scores(Sample):
    """Scores in the order they were recorded, inside a range stated beforehand.

    The range is data: a guarantee about the mean needs it, and it must never be read off the scores.

    Example:
        >>> from surefoot import Scores
        >>> print(Scores([0.2, 1.0, 0.5]))
        3 scores in [0, 1], mean 0.567.
    """

    values: tuple[float, ...]
    low: float = 0.0
    high: float = 1.0

    def __init__(self, values: Iterable[Any], low: float = 0.0, high: float = 1.0) -> None:
        """Check every score; refuse the whole when one is out of range."""
        low, high = _check.span(low, high)
        given = values.tolist() if hasattr(values, "tolist") else values
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise _check.mistyped("values", "be a list of numbers", values)
        kept = tuple(given)
        _check.filled(kept, "values", "hold at least one score")
        if not _all_fine(kept, low, high):
            kept = tuple(_score(value, place, low, high) for place, value in enumerate(kept, 1))
        object.__setattr__(self, "values", kept)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def limits(self) -> tuple[float, float]:
        """The stated range."""
        return self.low, self.high

    def __len__(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> float:
        """The observed mean; a point, so show it with its interval."""
        return math.fsum(self.values) / len(self.values)

    def __str__(self) -> str:
        count = formatting.counted(len(self.values), "score")
        return f"{count} in [{self.low:g}, {self.high:g}], mean {self.mean:.3f}."


def _all_fine(values: tuple[Any, ...], low: float, high: float) -> bool:
    """Whether all are plain floats in the range; a million of them are seen at once."""
    plain = set(map(type, values)) == {float} and not any(map(math.isnan, values))
    return plain and low <= min(values) and max(values) <= high


def _score(value: Any, place: int, low: float, high: float) -> float:
    if type(value) is not float:
        value = float(value) if isinstance(value, bool) else _check.real(value, f"values[{place - 1}]")
    if not low <= value <= high:  # also refuses NaN and infinities
        raise _check.wrong("values", f"lie in the stated range [{low:g}, {high:g}]; score {place} is {value:g}.")
    return float(value)


_SLACK = 1e-6  # of the range: what the sums of very many scores may have lost to rounding


@dataclass(frozen=True, slots=True)
class Moments(Sample):
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
        _check.whole(self.trials, "trials", least=1)
        low, high = _check.span(self.low, self.high)
        if not low <= self.mean <= high:
            raise _check.wrong("mean", f"lie in the stated range [{low:g}, {high:g}]; got {self.mean:g}.", self.mean)
        largest = _largest(self.trials, self.mean, low, high)
        if not 0.0 <= self.variance <= largest + _SLACK * (high - low) ** 2:
            must = f"be between 0 and {largest:g}, the largest around this mean in the stated range"
            raise _check.refused("variance", must, self.variance)

    @classmethod
    def of_sums(cls, trials: int, total: float, squares: float, low: float = 0.0, high: float = 1.0) -> Self:
        """From how many scores, their sum and the sum of their squares."""
        trials = _check.whole(trials, "trials", least=1)
        mean = total / trials
        inside = min(high, max(low, mean))
        if abs(mean - inside) <= _SLACK * (high - low):
            mean = inside
        spread, lost = squares - trials * mean * mean, 1e-12 * squares
        if spread <= lost:  # only rounding keeps them apart, or they are so far from 0 that it may hide what does
            hidden = min(lost, (trials - 1) * _largest(trials, mean, low, high))
            spread = 0.0 if lost <= _SLACK * trials * (high - low) ** 2 else hidden
        return cls(trials, mean, spread / (trials - 1) if trials > 1 else 0.0, low, high)

    @property
    def limits(self) -> tuple[float, float]:
        """The stated range."""
        return self.low, self.high

    def __len__(self) -> int:
        return self.trials

    def __str__(self) -> str:
        count = formatting.counted(self.trials, "score")
        return f"{count} in [{self.low:g}, {self.high:g}], mean {self.mean:.3f}."


def _largest(trials: int, mean: float, low: float, high: float) -> float:
    """The largest variance of so many scores with this mean: all of them at the two ends of the range."""
    return (mean - low) * (high - mean) * trials / (trials - 1) if trials > 1 else 0.0
