"""Confidence interval of the mean of bounded scores, whatever the order of the rollouts.

The default for a number of rollouts fixed beforehand. It is a function of the scores and not of their order, its
coverage is guaranteed for any distribution inside the stated range, and on scores of 0 and 1 it is Clopper-Pearson.

All tests that no order moves share `ends`, `two_sided` and `ends_and_p`: such a test knows the p-value against "the
target is at most so much", which rises in the target. Targets are shares: 0 is the least they can be and 1 the most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, Self

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import ANY_SCORES, MEANS_DIFFER, ONE_MEAN, RANGE_FIXED, Assumed, Assumption
from surefoot.core.interval import Bound, Interval
from surefoot.core.notes import Noted
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.stats.means import bound_of, interval_of, unit

METHOD = "Gaffke"
NEAR = 1e-12
"""A null closer to the estimate than this is the estimate: only rounding keeps them apart."""


def score_mean(scores: Scores, *, confidence: float = 0.95, several_tasks: bool = False) -> Interval:
    """Where does the mean score lie, guaranteed, whatever the order of the rollouts? The default.

    Args:
        scores: The scores; their order does not matter.
        confidence: How often such intervals hold the mean, at least.
        several_tasks: Whether the rollouts are of several tasks with means of their own, each weighing by its
            rollouts.

    Assumptions:
        The range was fixed beforehand; the rollouts are independent and share one mean. With `several_tasks` the
        means of tasks may differ: guaranteed for tasks drawn at random, and within the worst case known for fixed
        ones.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import score_mean
        >>> print(score_mean(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4)))
        0.900 [0.809, 0.942] n=40 (95% Gaffke interval).

    Reference:
        Gaffke (2005), "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
        variable"; Vlassis and Thomas (2026), arXiv 2607.08415, prove its level.
    """
    error = 1.0 - _check.confidence(confidence)
    low, high = ends(_test(scores, several_tasks), error)
    return interval_of(scores, low, high, confidence, METHOD, _assumptions(several_tasks))


def score_mean_lower(scores: Scores, *, confidence: float = 0.95, several_tasks: bool = False) -> Bound:
    """Above what is the mean score, guaranteed, whatever the order? All the error is spent on this side.

    Assumptions:
        As for `score_mean`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import score_mean_lower
        >>> print(score_mean_lower(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4)))
        at least 0.823 n=40 (95% Gaffke bound).

    Reference:
        As for `score_mean`.
    """
    error = 1.0 - _check.confidence(confidence)
    share = _test(scores, several_tasks).low_end(error)
    return bound_of(scores, "lower", share, confidence, METHOD, _assumptions(several_tasks))


def score_mean_upper(scores: Scores, *, confidence: float = 0.95, several_tasks: bool = False) -> Bound:
    """Below what is the mean score, guaranteed, whatever the order? All the error is spent on this side.

    Assumptions:
        As for `score_mean`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import score_mean_upper
        >>> print(score_mean_upper(Scores([0.0, 0.2, 0.0, 0.4, 0.0, 0.1, 0.0, 0.0, 0.3, 0.0] * 4)))
        at most 0.177 n=40 (95% Gaffke bound).

    Reference:
        As for `score_mean`.
    """
    error = 1.0 - _check.confidence(confidence)
    share = 1.0 - _test(scores, several_tasks).mirrored.low_end(error)
    return bound_of(scores, "upper", share, confidence, METHOD, _assumptions(several_tasks))


def score_mean_test(scores: Scores, mean: float, *, several_tasks: bool = False) -> ScoreTest:
    """Could the mean score be this one? The test behind `score_mean`, two-sided and in both directions.

    Assumptions:
        As for `score_mean`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import score_mean_test
        >>> print(score_mean_test(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4), 0.8))
        0.900 against 0.800, p = 0.0318 (Gaffke, n=40).

    Reference:
        As for `score_mean`.
    """
    test, mean = _test(scores, several_tasks), _check.real(mean, "mean")
    if not scores.low <= mean <= scores.high:
        raise _check.wrong("mean", f"lie in the range [{scores.low:g}, {scores.high:g}]; got {mean:g}.", mean)
    share = (mean - scores.low) / (scores.high - scores.low)
    p_value, above, below = all_sides(test, share)
    return ScoreTest(
        p_value=p_value,
        above=above,
        below=below,
        value=mean,
        estimate=scores.mean,
        method=METHOD,
        trials=len(scores),
        assumptions=_assumptions(several_tasks),
        data=(scores,),
    )


def _test(scores: Scores, several_tasks: bool) -> Tested:
    from surefoot.numerics.scores import score_tails

    test = score_tails.OneSample(score_tails.pool(unit(scores)))
    return Spread(test) if several_tasks else test


def _assumptions(several_tasks: bool) -> tuple[Assumption, ...]:
    return (RANGE_FIXED, MEANS_DIFFER if several_tasks else ONE_MEAN, ANY_SCORES)


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
