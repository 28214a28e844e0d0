"""What could an evaluation of this size have seen? Exact chances of each verdict, of the very test that will run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from surefoot import _check
from surefoot._arguments import named
from surefoot.core import formatting
from surefoot.core.assumptions import PAIRS_APART, RATE_BY_POLICY, Assumed, Assumption
from surefoot.core.record import Record
from surefoot.core.tally import PairTally
from surefoot.numerics import normal_quantiles
from surefoot.stats.rate_gains import exact_gain, exact_paired_gain
from surefoot.stats.rate_tests import mcnemar, pooled_score

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Ints


Asked = Literal["either", "first better", "first not worse"]
Look = Literal["all", "edge", "rough"]
"""What a comparison is to show: on which side a gain lies, or one side only."""

ENOUGH = 1e-7
"""Chances are summed to within this."""

ALL_COUNTS = 100
"""Up to so many second counts all are looked at, whatever their chances: other rates need them again."""


@dataclass(frozen=True, slots=True)
class Power(Record):
    """How likely each verdict is, at stated rates and numbers of rollouts.

    Attributes:
        better: The chance of the verdict "better".
        worse: The chance of the verdict "worse".
        same: The chance of the verdict "same", which needs a margin.
        not_worse: The chance that the first is shown not to be worse by as much as the margin.
        rates: Success rates of first and second; for pairs, chances that only the first or only the second succeeds.
        rollouts: Rollouts of first and second; for pairs, their number twice.
        confidence: One minus the error of the test.
        margin: The gain that would not matter.
        method: The test.
        assumptions: What must hold.
        claim: What the test is to show: "either", with all verdicts; or only "first better" or "first not worse", with
            all of the error on that side, and the other chances 0.
    """

    better: float
    worse: float
    same: float
    not_worse: float
    rates: tuple[float, float]
    rollouts: tuple[int, int]
    confidence: float
    margin: float
    method: str
    assumptions: tuple[Assumed, ...] = ()
    claim: Asked = "either"

    @property
    def decided(self) -> float:
        """The chance of any verdict but "cannot tell"."""
        return self.better + self.worse + self.same

    def __str__(self) -> str:
        if self.claim == "first not worse":
            return (
                f"not worse shown {formatting.number(self.not_worse, toward='down')} of the time ({self.method}, "
                f"{formatting.percent(self.confidence)} confidence)."
            )
        same = f", same {formatting.number(self.same, toward='down')}" if self.margin else ""
        return (
            f"verdict better {formatting.number(self.better, toward='down')}, worse "
            f"{formatting.number(self.worse)}{same} of the "
            f"time ({self.method}, {formatting.percent(self.confidence)} confidence)."
        )


def power(
    first_rate: float,
    second_rate: float,
    rollouts: int,
    *,
    second_rollouts: int | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
    claim: Asked = "either",
    using: Callable[..., Any] = exact_gain,
) -> Power:
    """How likely is each verdict if these are the true rates? Exact, by enumeration of the test's own decisions.

    Args:
        first_rate: The first policy's success rate.
        second_rate: The second policy's success rate.
        rollouts: Rollouts of the first policy, and of the second unless it has its own number.
        second_rollouts: Rollouts of the second policy, where they differ.
        confidence: One minus the error of the test.
        margin: The gain that would not matter.
        claim: "either"; or "first better" or "first not worse" for the exact test of that side alone (`gain_bounds`).
        using: The test: `exact_gain`, or `pooled_score` to see what the textbook test has.

    Assumptions:
        Independent rollouts, one success rate per policy.

    Example:
        >>> from surefoot.stats import power
        >>> print(power(0.85, 0.70, 20))
        verdict better 19.7%, worse 0.1% of the time (exact_gain, 95% confidence).

    Reference:
        By enumeration of all tables; compare Casagrande, Pike and Smith (1978), "The power function of the exact
        test for comparing two binomial distributions".
    """
    rates = _check.rate(first_rate, "first_rate"), _check.rate(second_rate, "second_rate")
    n1 = _check.whole(rollouts, "rollouts", least=1)
    n2 = n1 if second_rollouts is None else _check.whole(second_rollouts, "second_rollouts", least=1)
    return _power(_SEPARATE, (n1, n2), rates, confidence, margin, claim, using)


def paired_power(
    first_only: float,
    second_only: float,
    pairs: int,
    *,
    confidence: float = 0.95,
    margin: float = 0.0,
    claim: Asked = "either",
    using: Callable[..., Any] = exact_paired_gain,
) -> Power:
    """Exact power of the test of pairs, from the chances of the two kinds of discordant pairs.

    Args:
        first_only: The chance that only the first policy succeeds.
        second_only: The chance that only the second policy succeeds.
        pairs: The number of pairs.
        confidence: One minus the error of the test.
        margin: The gain that would not matter.
        claim: "either"; or "first better" or "first not worse" for the exact test of that side alone
            (`paired_gain_bounds`).
        using: The test: `exact_paired_gain`, or `mcnemar`.

    Assumptions:
        Independent pairs; the two rollouts of a pair may depend on each other.

    Example:
        >>> from surefoot.stats import paired_power
        >>> print(paired_power(0.25, 0.05, 50))
        verdict better 77.4%, worse 0.0001% of the time (exact_paired_gain, 95% confidence).

    Reference:
        By enumeration of all tables; compare Duffy (1984), "Asymptotic and exact power for the McNemar test and
        its analogue with R controls per case".
    """
    chances = _check.rate(first_only, "first_only"), _check.rate(second_only, "second_only")
    if sum(chances) > 1.0 + 1e-12:
        must = f"not exceed 1 together; got {chances[0]} and {chances[1]}."
        raise _check.wrong(("first_only", "second_only"), must, chances)
    n = _check.whole(pairs, "pairs", least=1)
    return _power(_PAIRED, (n,), chances, confidence, margin, claim, using)


@dataclass(frozen=True, slots=True)
class RolloutsNeeded(Record):
    """About how many rollouts each policy needs, by the normal approximation.

    Attributes:
        rollouts: Rollouts per policy, rounded up.
        formula: The value before rounding.
        rates: The rates assumed, first and second.
        power: The chance of a verdict asked for.
        confidence: One minus the error of the test.
    """

    rollouts: int
    formula: float
    rates: tuple[float, float]
    power: float
    confidence: float

    def __str__(self) -> str:
        one, other = (formatting.number(rate) for rate in self.rates)
        return (
            f"about {formatting.rollouts(self.rollouts)} of each policy to tell {one} from {other} with "
            f"{formatting.percent(self.power)} power (normal approximation)."
        )


def approximate_rollouts(
    first_rate: float, second_rate: float, *, power: float = 0.8, confidence: float = 0.95
) -> RolloutsNeeded:
    """About how many rollouts does each policy need? The textbook formula; `plan_comparison` is exact.

    Assumptions:
        Independent rollouts, equally many of each policy, and the two-sided pooled z test.

    Example:
        >>> from surefoot.stats.exact_power import approximate_rollouts
        >>> approximate_rollouts(0.70, 0.55).rollouts
        163

    Reference:
        Fleiss, Levin and Paik (2003), "Statistical methods for rates and proportions", section 4.
    """
    p1, p2 = _check.rate(first_rate, "first_rate"), _check.rate(second_rate, "second_rate")
    power = _check.fraction(power, "power")
    if p1 == p2:
        differ = f"differ from `{named('second_rate')}`"
        raise _check.refused("first_rate", differ, p1, "No number of rollouts shows 0.")
    z = normal_quantiles.upper_quantile((1.0 - _check.confidence(confidence)) / 2.0)
    middle = (p1 + p2) / 2.0
    spread = math.sqrt(p1 * (1.0 - p1) + p2 * (1.0 - p2))
    formula = (
        (z * math.sqrt(2.0 * middle * (1.0 - middle)) + normal_quantiles.upper_quantile(1.0 - power) * spread)
        / (p1 - p2)
    ) ** 2
    return RolloutsNeeded(max(1, math.ceil(formula - 1e-9)), formula, (p1, p2), power, float(confidence))


class _Kind(NamedTuple):
    """What tells the kinds of comparison apart: the exact test, another and its name, the bounds, what must hold."""

    exact: Callable[..., Any]
    other: Callable[..., Any]
    called: str
    bounds: str
    assumption: Assumption


_SEPARATE = _Kind(exact_gain, pooled_score, "the pooled test", "gain_bounds", RATE_BY_POLICY)
_PAIRED = _Kind(exact_paired_gain, mcnemar, "McNemar's test", "paired_gain_bounds", PAIRS_APART)


def _power(
    kind: _Kind,
    sizes: tuple[int, ...],
    chances: tuple[float, float],
    confidence: float,
    margin: float,
    claim: Asked,
    using: Callable[..., Any],
) -> Power:
    """The chance of every verdict; `sizes` are the rollouts of both policies, or the pairs."""
    error, margin = 1.0 - _check.confidence(confidence), _check.margin(margin, 1.0)
    exact, method = _is_exact(kind, using, margin, claim), using.__name__
    test = _Test(sizes, chances, error, both=claim == "either", exact=exact)
    if claim == "either":
        better, worse = test.above(margin), test.mirrored.above(margin)
        not_worse, same = (test.above(-margin), test.between(margin)) if margin else (better, 0.0)
    else:  # the one thing that a test of one side can show
        not_worse, method = test.above(margin if claim == "first better" else -margin), kind.bounds
        better, worse, same = not_worse if claim == "first better" else 0.0, 0.0, 0.0
    return Power(
        better=better,
        worse=worse,
        same=same,
        not_worse=not_worse,
        rates=chances,
        rollouts=(sizes[0], sizes[-1]),
        confidence=float(confidence),
        margin=margin,
        method=method,
        assumptions=(kind.assumption,),
        claim=claim,
    )


def _is_exact(kind: _Kind, using: Callable[..., Any], margin: float, claim: Asked) -> bool:
    """Whether the exact test was asked for; the other knows no margin and no side."""
    other = kind.other
    if using not in (kind.exact, other):
        must = f"be {kind.exact.__name__} or {other.__name__}"
        raise _check.refused("using", must, getattr(using, "__name__", using))
    one_sided = _check.choice(claim, "claim", {"either": False, "first better": True, "first not worse": True})
    if using is other and margin:
        raise _check.wrong("margin", f"be 0 with {other.__name__}; {kind.called} knows no margin.", margin)
    if using is other and one_sided:
        raise _check.wrong("claim", f"be 'either' with {other.__name__}; its test has two sides.", claim)
    return using is kind.exact


def chance_above(
    sizes: tuple[int, ...],
    chances: tuple[float, float],
    error: float,
    edge: float,
    *,
    both: bool,
    look: Look = "all",
) -> float:
    """The chance that the exact test, of one side or of both, shows a gain above the edge.

    Args:
        sizes: Rollouts of first and second, or the number of pairs.
        chances: Success rates of first and second, or chances of the two kinds of discordant pairs.
        error: That of the test.
        edge: The gain to be exceeded.
        both: Whether the test has two sides.
        look: Where p-values are looked at: "all"; at the "edge" alone, which gives a chance that is never smaller; or
            "rough", by the interpolated critical value: within about a point, and much faster.
    """
    return _Test(sizes, chances, error, both=both, look=look).above(edge)


class _Test:
    """One test at stated sizes and chances; the larger count comes first."""

    def __init__(
        self,
        sizes: tuple[int, ...],
        chances: tuple[float, float],
        error: float,
        *,
        both: bool,
        exact: bool = True,
        look: Look = "all",
    ) -> None:
        if len(sizes) == 2 and sizes[0] < sizes[1]:  # failures of the second against failures of the first
            sizes, chances = sizes[::-1], (1.0 - chances[1], 1.0 - chances[0])
        self.sizes, self.chances, self.error = sizes, chances, error
        self.kind: tuple[bool, bool, Look] = (both, exact, look)

    @property
    def mirrored(self) -> _Test:
        """The same with the gain's sign turned."""
        p, q = self.chances
        both, exact, look = self.kind
        turned = (1.0 - p, 1.0 - q) if len(self.sizes) == 2 else (q, p)
        return _Test(self.sizes, turned, self.error, both=both, exact=exact, look=look)

    def window(self) -> tuple[int, int]:
        """The second counts that matter: all but a ten-millionth, or all where they are few."""
        n, rate = self.sizes[-1], self.chances[1]
        if n <= ALL_COUNTS:
            return 0, n + 1
        bits = math.log(2.0 / ENOUGH)
        half = bits / 3.0 + math.sqrt(bits * bits / 9.0 + 2.0 * bits * n * rate * (1.0 - rate))
        return max(0, math.floor(n * rate - half)), min(n, math.ceil(n * rate + half)) + 1

    def steps(self, edge: float) -> tuple[int, Ints]:
        """The first second count, and from it on the smallest first counts that are shown to be above the edge."""
        begin, end = self.window()
        return begin, _steps(self.sizes, self.error, edge, begin, end, *self.kind)

    def above(self, edge: float) -> float:
        """The chance to be shown above the edge."""
        return self.beyond(*self.steps(edge))

    def beyond(self, begin: int, first: Ints) -> float:
        """The chance of a first count of at least that of its second count."""
        import numpy as np

        from surefoot.numerics.rates import paired_rates, two_rates

        p, q = self.chances
        if len(self.sizes) == 2:
            return min(1.0, two_rates.above(*self.sizes, p, q, first, begin))
        rest = np.array([max(1.0 - p - q, 0.0)])
        return min(1.0, float(paired_rates.above(self.sizes[0], np.array([p]), np.array([q]), rest, first, begin)[0]))

    def between(self, margin: float) -> float:
        """The chance that the interval lies inside the margins."""
        import numpy as np

        begin, first = self.steps(-margin)
        start, other = self.mirrored.steps(-margin)
        second = begin + np.arange(len(first))
        if len(self.sizes) == 2:  # the mirrored counts are n1 - x1 and n2 - x2
            place = np.clip(self.sizes[1] - second - start, 0, len(other) - 1)
            end = self.sizes[0] - other[place] + 1
        else:  # of each c, how many b have their smallest c at most here
            none = other > self.sizes[0] - start - np.arange(len(other))
            end = start + np.searchsorted(np.where(none, self.sizes[0] + 1, other), second, side="right")
        return max(0.0, self.beyond(begin, first) - self.beyond(begin, np.maximum(first, end)))


@lru_cache(maxsize=256)
def _steps(
    sizes: tuple[int, ...], error: float, edge: float, begin: int, end: int, both: bool, exact: bool, look: Look
) -> Ints:
    """For each second count from `begin` to `end` the smallest first count with the verdict "above the edge"."""
    import numpy as np

    from surefoot.numerics.rates import inversion

    second = np.arange(begin, end)
    if exact:
        if look == "all":
            at_edge = _steps(sizes, error, edge, begin, end, both, exact, "edge")
            return inversion.decided_beyond(sizes, error, edge, second, at_edge, both=both)
        return inversion.decided_at(sizes, error, edge, second, both=both, rough=look == "rough")
    if len(sizes) == 1:
        return _mcnemar_steps(sizes[0], error)[begin:end]
    level = normal_quantiles.upper_quantile(error / 2.0)
    return inversion.thresholds(sizes, second, edge, np.full(len(second), level))


def _mcnemar_steps(n: int, error: float) -> Ints:
    import numpy as np

    found = []
    for c in range(n + 1):
        b = c + 1
        while b <= n - c and mcnemar(PairTally(n - b - c, b, c, 0)).p_value > error:
            b += 1
        found.append(min(b, n - c + 1))
    return np.array(found)
