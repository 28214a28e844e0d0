"""Test, interval and bounds of a mean that do not depend on the order of the scores.

A test knows the p-value against "the target is at most so much", which rises in the target, and where it crosses an
error. Targets are shares: 0 is the least the target can be and 1 the most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, Self

from surefoot.core import formatting
from surefoot.core.assumptions import Assumed
from surefoot.core.notes import Noted
from surefoot.core.record import Record

NEAR = 1e-12
"""A null closer to the estimate than this is the estimate: only rounding keeps them apart."""


class Tested(Protocol):
    """A test of a target in the direction "is it larger?"."""

    @property
    def estimate(self) -> float:
        """The observed target."""

    @property
    def mirrored(self) -> Self:
        """The same test of 1 minus the target."""

    def log_p(self, target: float, /) -> float:
        """The logarithm of the p-value against "the target is at most so much"."""

    def low_end(self, tail: float, /) -> float:
        """The largest target that is refused as too low with this error."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A test of rollouts of several tasks as one sample.

    Units that do not share a mean may be refused too often: the worst case known has chance -log(1 - a) at the
    error a. So p becomes -log(1 - p), and the error a becomes 1 - exp(-a).

    Attributes:
        test: The test of one sample.
    """

    test: Tested

    @property
    def estimate(self) -> float:
        """The observed target."""
        return self.test.estimate

    @property
    def mirrored(self) -> Spread:
        """The same test of 1 minus the target."""
        return Spread(self.test.mirrored)

    def log_p(self, target: float) -> float:
        """The logarithm of the p-value against "the target is at most so much"."""
        plain = self.test.log_p(target)
        if plain < -30.0:
            return plain
        return 0.0 if plain >= math.log(-math.expm1(-1.0)) else math.log(-math.log1p(-math.exp(plain)))

    def low_end(self, tail: float) -> float:
        """The largest target that is refused as too low with this error."""
        return self.test.low_end(-math.expm1(-tail))


@dataclass(frozen=True, slots=True)
class ScoreTest(Record):
    """A test of one value of a mean score, or of a gain between two: a two-sided p-value, and one per direction.

    Attributes:
        p_value: Two-sided; at most 1 - confidence exactly when the interval of that confidence leaves the value out.
        above: One-sided: small when the truth looks larger than the value.
        below: One-sided: small when the truth looks smaller than the value.
        value: The mean or gain that was tested.
        estimate: The observed one.
        method: The test.
        trials: Rollouts (or pairs) behind it.
        scale: What the number is: a score or a gain in scores.
        assumptions: What must hold.
        notes: What a reader must know besides.
        data: The inputs.
    """

    p_value: float
    above: float
    below: float
    value: float
    estimate: float
    method: str
    trials: int = 0
    scale: formatting.Scale = "score"
    assumptions: tuple[Assumed, ...] = ()
    notes: tuple[Noted, ...] = ()
    data: tuple[Record, ...] = ()

    def __str__(self) -> str:
        seen, asked = formatting.number(self.estimate, self.scale), formatting.number(self.value, self.scale)
        return f"{seen} against {asked}, {formatting.p_value(self.p_value)} ({self.method}, n={self.trials:,})."


def one_sided(test: Tested, null: float) -> float:
    """The p-value against "the target is at most the null"."""
    return min(1.0, math.exp(test.log_p(null)))


def two_sided(test: Tested, null: float) -> float:
    """The p-value of the null as the end of an interval with half of its error on each side."""
    if abs(null - test.estimate) <= NEAR:
        return 1.0
    if null < test.estimate:
        return min(1.0, 2.0 * one_sided(test, null))
    return min(1.0, 2.0 * one_sided(test.mirrored, 1.0 - null))


def all_sides(test: Tested, null: float) -> tuple[float, float, float]:
    """The two-sided p-value of the null, and those against "at most" and "at least" it."""
    above, below = one_sided(test, null), one_sided(test.mirrored, 1.0 - null)
    if abs(null - test.estimate) <= NEAR:
        return 1.0, above, below
    return min(1.0, 2.0 * (above if null < test.estimate else below)), above, below


def ends(test: Tested, error: float) -> tuple[float, float]:
    """The interval with half of the error on each side; it holds the estimate even at an absurd confidence."""
    low, high = test.low_end(0.5 * error), 1.0 - test.mirrored.low_end(0.5 * error)
    return max(0.0, min(low, test.estimate)), min(1.0, max(high, test.estimate))


def ends_and_p(test: Tested, error: float, null: float) -> tuple[tuple[float, float], float]:
    """The interval and the p-value of a null, which lies outside exactly when its p-value is at most the error."""
    (low, high), p = ends(test, error), two_sided(test, null)
    if p <= error:
        if null < test.estimate:
            low = max(low, math.nextafter(null, 1.0))
        else:
            high = min(high, math.nextafter(null, 0.0))
    else:  # kept: rounding must not carry an end across it
        low, high = min(low, null), max(high, null)
    return (low, high), p
