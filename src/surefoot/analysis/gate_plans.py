"""Chance that a release passes its gate, and the rollouts that would do."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from surefoot import _check
from surefoot.analysis.needs import GAINS, RATES, RATIO, Gate, Need, gate_of
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.core.words import plural
from surefoot.numerics.normal_quantiles import tail, upper_quantile
from surefoot.stats.exact_power import chance_above
from surefoot.stats.gates import ALL

MOST = 10**6
"""Rollouts beyond which no gate is planned."""
EXACT = 300
"""Up to so many rollouts the exact test's power is enumerated; beyond, its critical values are interpolated."""


@dataclass(frozen=True, slots=True)
class Expected(Record):
    """What is expected of a measure.

    Attributes:
        first: The rate or mean of the policy to be released.
        second: That of the policy it is compared with; the same when not said.
        spread: The standard deviation of a measure that is not yes or no.

    Example:
        >>> from surefoot.analysis.gate_plans import Expected
        >>> Expected(0.8).other
        0.8
    """

    first: float
    second: float | None = None
    spread: float | None = None

    @property
    def other(self) -> float:
        """What is expected of the policy it is compared with."""
        return self.first if self.second is None else self.second


@dataclass(frozen=True, slots=True)
class NeedPlan(Record):
    """One need in the plan of a gate.

    Attributes:
        need: The need.
        levels: How many levels it is asked of.
        power: The chance that it is shown to hold on one level.
        rollouts: How many would do for this need alone; None where none would.
    """

    need: Need
    levels: int
    power: float
    rollouts: int | None

    @property
    def together(self) -> float:
        """The chance that it is shown on all its levels, which have rollouts of their own."""
        return float(self.power**self.levels)

    def __str__(self) -> str:
        each = f" ({_chance(self.power)} each)" if self.levels > 1 else ""
        own = "no number of them would do" if self.rollouts is None else f"{self.rollouts:,} would do for it alone"
        return f"{self.need}: {_chance(self.together)}{each}; {own}"


def _chance(power: float) -> str:
    """A power rounded down; no number of rollouts makes it sure."""
    return formatting.number(min(power, 0.999), toward="down")


@dataclass(frozen=True, slots=True)
class GatePlan(Record):
    """How likely all needs of a gate are shown to hold.

    Attributes:
        rollouts: Rollouts of each policy, on each level where a need is asked of levels.
        levels: The levels of each column that needs are asked of.
        needs: Every need, the one that costs most first.
        chance: The chance that all are shown, were they independent: the product.
        at_least: The chance that all are shown, whatever their dependence: one minus the sum of what each lacks.
        confidence: The gate's confidence.
    """

    rollouts: int
    levels: Mapping[str, int]
    needs: tuple[NeedPlan, ...]
    chance: float
    at_least: float
    confidence: float

    @property
    def least(self) -> float:
        """The power of the weakest need: the chance that all are shown is at most this."""
        return min(one.together for one in self.needs)

    def __str__(self) -> str:
        where = "".join(f", on each of {many:,} {plural(name)}" for name, many in self.levels.items())
        low, most, shown = map(_chance, (self.at_least, self.least, self.chance))
        share = f"at least {low} and at most {most} of releases ({shown} were its needs independent)"
        if low == most:
            share = f"{low} of releases"
        lines = [
            f"{formatting.rollouts(self.rollouts)} of each policy{where}: the gate passes in {share}, if what is "
            "expected is true.",
            f"Costs most: {self.needs[0]}.",
            *(f"  {one}." for one in self.needs[1:]),
        ]
        return "\n".join(lines)


def plan_gate(
    needs: Gate | str | Path | Sequence[Need | Mapping[str, Any]],
    expect: Mapping[str, Expected | float],
    *,
    levels: Mapping[str, int] | None = None,
    rollouts: int | None = None,
    power: float = 0.8,
) -> GatePlan:
    """Power of a joint gate: the chance that all needs are shown to hold, and the rollouts that it takes.

    The power of a need on successes is that of the exact test of its side; on other measures about that of Gaffke's
    bound, which depends on the limit too. Levels of a need have rollouts of their own: their powers are multiplied.
    Needs share rollouts: the chance that all are shown is at least one minus the sum of what each lacks, and at most
    the least.

    Args:
        needs: The needs, a gate or its TOML file; the rule must be "all".
        expect: What is expected of every measure: a rate or mean of both policies, or an `Expected`.
        levels: How many levels the columns have that needs are asked of.
        rollouts: Rollouts of each policy, on each level; None to learn how many pass in `power` of releases.
        power: The chance of passing that is wanted.

    Example:
        >>> import surefoot as sf
        >>> twelve = [{"measure": "success", "by": "benchmark", "not_worse_by": 0.05}]
        >>> plan = sf.plan_gate(twelve, {"success": 0.8}, levels={"benchmark": 12}, rollouts=1600)
        >>> round(plan.needs[0].power, 2), round(plan.chance, 2)
        (0.97, 0.7)

    Reference:
        Berger (1982) for the test; Bonferroni's inequality for the chance.
    """
    gate = gate_of(needs)
    if gate.rule != ALL:
        raise _check.wrong("needs", f'have the rule "all" to be planned; got {gate.rule!r}.')
    known, sizes = {name: _expected(one) for name, one in expect.items()}, dict(levels or {})
    for need in gate.needs:
        _refuse(need, known, sizes)
    most = max([sizes[need.by] for need in gate.needs if need.by], default=1)
    asked = [_Planned(need, known[need.measure], sizes[need.by] if need.by else 1, most) for need in gate.needs]
    error, wanted = 1.0 - gate.confidence, _check.fraction(power, "power")

    def at_least(size: int) -> float:
        return 1.0 - math.fsum(1.0 - one.together(size, error) for one in asked)

    found = rollouts if rollouts is not None else _fewest(at_least, wanted)
    if found is None:
        weak = min(asked, key=lambda one: one.together(MOST // most, error)).need
        raise ValueError(f"No number of rollouts up to a million passes this gate; least likely is: {weak}.")
    size = _check.whole(found, "rollouts", least=1)
    plans = [
        NeedPlan(one.need, one.levels, one.power(size, error), _fewest(partial(one.together, error=error), wanted))
        for one in asked
    ]
    plans.sort(key=lambda one: (-(one.rollouts or MOST + 1), one.together))
    used = {name: many for name, many in sizes.items() if any(need.by == name for need in gate.needs)}
    chance = math.prod(one.together for one in plans)
    return GatePlan(size, used, tuple(plans), chance, max(0.0, at_least(size)), gate.confidence)


def _expected(one: Expected | float) -> Expected:
    return one if isinstance(one, Expected) else Expected(_check.real(one, "expect"))


def _refuse(need: Need, known: Mapping[str, Expected], sizes: Mapping[str, int]) -> None:
    if need.measure not in known:
        example = "0.8" if _rates(need) else "45,20, its mean and its spread"
        raise _check.wrong("expect", f"say what is expected of {need.measure!r}: {need.measure}={example}.")
    if need.by is not None and need.by not in sizes:
        raise _check.wrong("levels", f"say how many levels {need.by!r} has: {need.by}=12.")
    one = known[need.measure]
    if _rates(need):
        for value in (one.first, one.other):
            _check.rate(value, "expect")
    elif one.spread is None or one.spread <= 0.0:
        must = f"say the standard deviation of {need.measure!r} too: {need.measure}={one.first:g},20."
        raise _check.wrong("expect", must)


def _rates(need: Need) -> bool:
    """Whether a need is about rates."""
    return need.claim in RATES or (need.claim in GAINS and need.limit is None and need.measure != "score")


@dataclass(frozen=True, slots=True)
class _Planned:
    """A need, what is expected of it, on how many levels, and the most levels of any need."""

    need: Need
    expected: Expected
    levels: int
    most: int

    def together(self, size: int, error: float) -> float:
        """The chance that it is shown on all its levels."""
        return float(self.power(size, error) ** self.levels)

    def power(self, size: int, error: float) -> float:
        """The chance that it is shown on one level; a need on everything has the rollouts of all levels."""
        need, one = self.need, self.expected
        count = size if need.by else min(MOST, size * self.most)
        if need.claim in RATES:
            return _rate_power(need, one.first, count, error)
        if not _rates(need):
            return _mean_power(need, one, count, error)
        rates = (one.other, one.first) if need.lower_is_better else (one.first, one.other)
        edge = -need.value if need.claim == "not_worse_by" else need.value
        if rates[0] - rates[1] <= edge:
            return 0.0
        return chance_above((count, count), rates, error, edge, both=False, look="rough" if count > EXACT else "edge")


def _rate_power(need: Need, rate: float, count: int, error: float) -> float:
    """The chance that Clopper and Pearson's bound lies on the right side."""
    from scipy import special, stats

    if need.claim == "rate_at_least":
        rate, edge = 1.0 - rate, 1.0 - need.value
    else:
        edge = need.value
    least = int(stats.binom.ppf(error, count, edge))
    while least >= 0 and special.bdtr(least, count, edge) > error:
        least -= 1
    return float(special.bdtr(least, count, rate)) if least >= 0 else 0.0


def _mean_power(need: Need, one: Expected, count: int, error: float) -> float:
    """The chance that Gaffke's bound of a mean, a ratio or a gain lies on the right side.

    The bound is a mean of the values and of the end of their range with random weights; its law is taken as normal.
    """
    spread, limit = float(one.spread or 0.0), 1.0 if need.limit is None else need.limit
    if need.claim == RATIO:
        gap, times, end = need.value * one.other - one.first, math.hypot(1.0, need.value), limit
    elif need.claim in GAINS:
        gain = (one.first - one.other) * (-1.0 if need.lower_is_better else 1.0)
        gap, times = gain + (need.value if need.claim == "not_worse_by" else -need.value), math.sqrt(2.0)
        end = limit + gain - gap
    else:
        above = need.claim == "mean_at_most"
        gap, times, end = (need.value - one.first) * (1.0 if above else -1.0), 1.0, 0.0
        end = (limit if above else 0.0) * (1.0 if above else -1.0) + (-need.value if above else need.value)
    if gap <= 0.0:
        return 0.0
    wide, far = (times * spread) ** 2, gap + end  # `far`: from the mean to the end of the range
    bound = far / (count + 1) + upper_quantile(error) * math.sqrt((wide + far**2 / count) / (count + 2))
    return tail((bound - gap) * math.sqrt(count / wide))


def _fewest(chance: Callable[[int], float], wanted: float) -> int | None:
    """The fewest rollouts with the chance that is wanted, by doubling and bisection; None where a million have not."""
    high = 8
    while chance(high) < wanted:
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle) >= wanted else (middle, high)
    return high
