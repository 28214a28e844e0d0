"""Comparison of two policies by whether their own bounds overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core import formatting, sentences
from surefoot.core.assumptions import Assumed
from surefoot.core.interval import Bound
from surefoot.core.record import Record
from surefoot.core.tally import Tally, tallies
from surefoot.core.verdict import Verdict
from surefoot.stats.optimal_bounds import optimal_lower, optimal_upper
from surefoot.stats.rates import clopper_pearson_lower, clopper_pearson_upper

if TYPE_CHECKING:
    from surefoot._check import Rng


@dataclass(frozen=True, slots=True)
class DisjointBounds(Record):
    """Each policy's own bound, and whether they separate the two.

    Attributes:
        first: The lower bound of the first policy's rate.
        second: The upper bound of the second policy's rate.
        verdict: Better when the first bound lies above the second; otherwise undecided.
        confidence: The confidence of both bounds together; each has half of the error.
        method: The bounds.
        assumptions: What must hold.
        data: The inputs.
        seed: The seed of the draws, where one was given.
    """

    first: Bound
    second: Bound
    verdict: Verdict
    confidence: float
    method: str
    assumptions: tuple[Assumed, ...] = ()
    data: tuple[Record, ...] = ()
    seed: int | None = None

    def __str__(self) -> str:
        low = formatting.number(self.first.value, toward="down")
        high = formatting.number(self.second.value, toward="up")
        sure = f"{formatting.percent(self.confidence)} confidence, {self.method}"
        return f"first at least {low}, second at most {high} (both with {sure}): {sentences.SHORT[self.verdict]}."


def disjoint_bounds(first: Tally, second: Tally, *, confidence: float = 0.95) -> DisjointBounds:
    """Is the first policy better, and what rate may each policy sign for? Clopper-Pearson bounds, guaranteed.

    One direction is asked, "first better"; swap the policies to ask the other instead, not both.

    Assumptions:
        Independent rollouts, one success rate per policy. Less powerful than `exact_gain`; its merit is that both
        bounds may be quoted.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import disjoint_bounds
        >>> print(disjoint_bounds(Tally(40, 50), Tally(6, 50)))
        first at least 66.2%, second at most 24.4% (both with 95% confidence, Clopper-Pearson): the first is better.

    Reference:
        Vincent et al. (2024), "How generalizable is my behavior cloning policy? A statistical approach to
        trustworthy performance evaluation", section VI-C.
    """
    first, second = tallies(first, second)
    each = _half(confidence)
    low = clopper_pearson_lower(first, confidence=each)
    high = clopper_pearson_upper(second, confidence=each)
    return _joined(first, second, low, high, confidence)


def disjoint_optimal_bounds(
    first: Tally, second: Tally, *, rng: Rng | None = None, draw: float | None = None, confidence: float = 0.95
) -> DisjointBounds:
    """Is the first policy better, by the tightest (randomised) bounds? Give a seed, or pin the draw of both bounds.

    Assumptions:
        Independent rollouts, one success rate per policy. The draws are made once and kept in the bounds.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import disjoint_optimal_bounds
        >>> print(disjoint_optimal_bounds(Tally(40, 50), Tally(6, 50), draw=0.5))
        first at least 67.2%, second at most 23.3% (both with 95% confidence, optimal): the first is better.

    Reference:
        Vincent et al. (2024), sections IV and VI-C.
    """
    first, second = tallies(first, second)
    each = _half(confidence)
    source, seed = _check.generator(rng) if draw is None else (rng, None)  # one stream: the two draws differ
    low = optimal_lower(first, rng=source, draw=draw, confidence=each)
    high = optimal_upper(second, rng=source, draw=draw, confidence=each)
    return _joined(first, second, low, high, confidence, seed)


def _half(confidence: float) -> float:
    return 1.0 - (1.0 - _check.confidence(confidence)) / 2.0


def _joined(
    first: Tally, second: Tally, low: Bound, high: Bound, confidence: float, seed: int | None = None
) -> DisjointBounds:
    return DisjointBounds(
        first=low,
        second=high,
        verdict=Verdict.BETTER if low.value > high.value else Verdict.UNDECIDED,
        confidence=float(confidence),
        method=low.method,
        assumptions=low.assumptions,
        data=(first, second),
        seed=seed,
    )
