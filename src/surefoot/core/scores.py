"""What did each rollout score, and inside which range?"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

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
