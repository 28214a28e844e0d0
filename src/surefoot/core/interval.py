"""Confidence intervals and one-sided bounds of one number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import Assumed
from surefoot.core.notes import Noted
from surefoot.core.record import Record
from surefoot.core.sample import Sample

Side = Literal["lower", "upper"]

_ROUNDING = 1e-9
"""By how much of its scale rounding may carry an estimate across an end."""


@dataclass(frozen=True, slots=True)
class Interval(Record):
    """A confidence interval, with all that made it.

    Attributes:
        low: The lower end.
        high: The upper end.
        estimate: The point estimate, between the ends; not the middle of the interval.
        confidence: How often such intervals hold the truth, at least or nearly: see `assumptions`.
        method: The function that made it.
        trials: Rollouts (or pairs) behind it.
        scale: What the number is: a rate, a gain in rates, a score or a gain in scores.
        assumptions: What must hold for the confidence to be true.
        notes: What a reader must know besides.
        data: The inputs.
        draw: The uniform draw of a randomised method.
        seed: The seed it came from.
    """

    low: float
    high: float
    estimate: float
    confidence: float
    method: str
    trials: int = 0
    scale: formatting.Scale = "rate"
    assumptions: tuple[Assumed, ...] = ()
    notes: tuple[Noted, ...] = ()
    data: tuple[Record, ...] = ()
    draw: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        _check.confidence(self.confidence)
        if not self.low <= self.high:  # also refuses NaN
            raise _check.wrong("low", f"be at most `high`; got {self.low!r} and {self.high!r}.", self.low)
        slack = _ROUNDING * max(1.0, abs(self.low), abs(self.high))
        if not self.low - slack <= self.estimate <= self.high + slack:
            raise _check.refused(
                "estimate", f"lie between `low` and `high`, {self.low!r} and {self.high!r}", self.estimate
            )

    @property
    def width(self) -> float:
        """The distance between the ends."""
        return self.high - self.low

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Those of the inputs that rollouts gave."""
        return tuple(one for one in self.data if isinstance(one, Sample))

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest value that a rollout could have given: 0 and 1 of successes."""
        return self.samples[0].limits if self.samples else (0.0, 1.0)

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        shown = formatting.estimate(self.estimate, self.low, self.high, self.scale)
        size = f" n={self.trials:,}" if self.trials else ""
        drawn = f", draw {self.draw:.6g}" if self.draw is not None else ""
        return f"{shown}{size} ({formatting.percent(self.confidence)} {self.method} interval{drawn})."


@dataclass(frozen=True, slots=True)
class Bound(Record):
    """A one-sided confidence bound, with all that made it.

    Attributes:
        side: Whether the truth is above ("lower" bound) or below ("upper" bound) the value.
        value: The bound.
        estimate: The point estimate.
        confidence: How often such bounds hold.
        method: The function that made it.
        trials: Rollouts behind it.
        scale: What the number is.
        assumptions: What must hold for the confidence to be true.
        notes: What a reader must know besides.
        data: The inputs.
        draw: The uniform draw of a randomised method.
        seed: The seed it came from.
        range: The two extremes the draw could have given; the first is the unrandomised bound.
    """

    side: Side
    value: float
    estimate: float
    confidence: float
    method: str
    trials: int = 0
    scale: formatting.Scale = "rate"
    assumptions: tuple[Assumed, ...] = ()
    notes: tuple[Noted, ...] = ()
    data: tuple[Record, ...] = ()
    draw: float | None = None
    seed: int | None = None
    range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        _check.confidence(self.confidence)
        if self.side not in ("lower", "upper"):
            raise _check.refused("side", "be 'lower' or 'upper'", self.side)
        if self.value != self.value:
            raise _check.wrong("value", "be a number; got NaN.", self.value)

    def __str__(self) -> str:
        down = self.side == "lower"
        shown = formatting.number(self.value, self.scale, "down" if down else "up")
        drawn = ""
        if self.draw is not None and self.range is not None:
            least, most = sorted(self.range)
            ends = formatting.span(least, most, self.scale)
            drawn = f", draw {self.draw:.6g}; any draw gives a bound in {ends}"
        size = f" n={self.trials:,}" if self.trials else ""
        return (
            f"{'at least' if down else 'at most'} {shown}{formatting.unit(self.scale)}{size} "
            f"({formatting.percent(self.confidence)} {self.method} bound{drawn})."
        )


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
