"""How many rollouts tell two policies apart, or what gain can so many show?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from surefoot import _check
from surefoot.core import words
from surefoot.core.record import Record
from surefoot.stats.exact_gains import EXACT_PAIRS, EXACT_ROLLOUTS, PAIRS, SEPARATE
from surefoot.stats.powers import approximate_rollouts, paired_power
from surefoot.stats.powers import power as power_at
from surefoot.stats.sights import smallest

MOST = 10**6
"""Rollouts beyond which no comparison is planned."""


@dataclass(frozen=True, slots=True)
class ComparisonPlan(Record):
    """How many rollouts tell two policies apart, with the exact power of the test that will run.

    Attributes:
        rollouts: Rollouts of each policy, or pairs.
        power: The chance of the verdict at the stated gain, exactly.
        gain: The true gain planned for, first minus second.
        rates: The rates planned for, first and second; for pairs, the chances that only the first or only the
            second succeeds.
        paired: Whether the rollouts are pairs.
        confidence: One minus the error of the verdict.
        margin: The gain that would not matter.
        shows: What the verdict will be: "better", "worse", or "not worse" for a gain within the margin.
        method: The test that will run.
        assumptions: What must hold.
        notes: What a reader must know besides.
    """

    rollouts: int
    power: float
    gain: float
    rates: tuple[float, float]
    paired: bool
    confidence: float
    margin: float
    shows: str
    method: str
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        size = f"{self.rollouts:,} pairs" if self.paired else f"{words.rollouts(self.rollouts)} of each policy"
        gain = words.number(self.gain, "gain") + words.unit("gain")
        edge = words.number(self.margin, "gain").lstrip("+") + words.unit("gain")
        shown = {
            "better": "show the first better",
            "worse": "show the first worse",
            "not worse": "show the first not worse",
        }[self.shows]
        beyond = f" by {'as much as' if self.shows == 'not worse' else 'more than'} {edge}" if self.margin else ""
        chance = words.number(self.power, toward="down")
        return (
            f"{size} {shown}{beyond} in {chance} of evaluations when the true gain is {gain} "
            f"({self.method}, {words.percent(self.confidence)} confidence)."
        )


def plan_comparison(
    first_rate: float | None,
    second_rate: float,
    *,
    rollouts: int | None = None,
    power: float | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> ComparisonPlan:
    """How many rollouts tell two policies apart? Rates, power and rollouts: leave one out and learn it.

    The power is that of `exact_gain`, the test `compare` runs, by enumeration of its decisions. Power rises with the
    number of rollouts in small saw-teeth: the number given has the power and the one before it has not.

    Args:
        first_rate: The first policy's rate; None to learn the smallest better rate that `rollouts` can show.
        second_rate: The second policy's rate, the baseline.
        rollouts: Rollouts of each policy; None to learn how many it takes.
        power: The chance of the verdict; 0.8 unless given, or learned when both rates and rollouts are given.
        confidence: One minus the error of the verdict.
        margin: The gain that would not matter. A planned gain within the margin is planned as "not worse".

    Returns:
        The plan, with the exact power.

    Example:
        >>> from surefoot import plan_comparison
        >>> plan_comparison(0.90, 0.60).rollouts
        32
        >>> print(plan_comparison(0.85, 0.70, rollouts=20))  # doctest: +NORMALIZE_WHITESPACE
        20 rollouts of each policy show the first better in 19.7% of evaluations when the true gain is +15.0 points
        (exact score, 95% confidence).

    Reference:
        By enumeration; the search starts from the formula of Fleiss, Levin and Paik (2003).
    """
    second_rate, margin = _check.rate(second_rate, "second_rate"), _check.margin(margin, 1.0)
    confidence = _check.confidence(confidence)
    _asked(first_rate, rollouts, power, "first_rate", "rollouts")

    def chance(rate: float, size: int) -> float:
        found = power_at(rate, second_rate, size, confidence=confidence, margin=margin)
        return {"better": found.better, "worse": found.worse, "not worse": found.not_worse}[
            _shows(rate - second_rate, margin)
        ]

    if first_rate is None:
        size = _check.whole(rollouts, "rollouts", least=1)
        wanted = 0.8 if power is None else _check.fraction(power, "power")
        step = smallest(
            lambda gain: _better(gain, margin, lambda: chance(min(1.0, second_rate + gain), size)),
            1.0 - second_rate,
            wanted,
        )
        if step is None:
            raise ValueError(_hopeless(size, wanted, f"a baseline of {words.number(second_rate)}", "rollouts"))
        first_rate = min(1.0, second_rate + step)
    else:
        first_rate = _check.rate(first_rate, "first_rate")
        if rollouts is not None:
            size = _check.whole(rollouts, "rollouts", least=1)
        else:
            rate, wanted = first_rate, 0.8 if power is None else _check.fraction(power, "power")
            size = _search(
                lambda n: chance(rate, n), wanted, _start(first_rate, second_rate, margin, wanted, confidence)
            )
    method = "exact score" if 2 * size <= EXACT_ROLLOUTS else "Miettinen-Nurminen"
    return ComparisonPlan(
        rollouts=size,
        power=chance(first_rate, size),
        gain=first_rate - second_rate,
        rates=(first_rate, second_rate),
        paired=False,
        confidence=confidence,
        margin=margin,
        shows=_shows(first_rate - second_rate, margin),
        method=method,
        assumptions=(SEPARATE, "The number of rollouts is fixed beforehand: no looking in between."),
    )


def plan_paired_comparison(
    first_only: float | None,
    second_only: float,
    *,
    pairs: int | None = None,
    power: float | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> ComparisonPlan:
    """How many pairs tell two policies apart? Chances, power and pairs: leave one out and learn it.

    The power is that of `exact_paired_gain`, the test `compare` runs on pairs, by enumeration of its decisions.

    Args:
        first_only: The chance that only the first policy succeeds; None to learn the smallest that `pairs` can show.
        second_only: The chance that only the second policy succeeds.
        pairs: The number of pairs; None to learn how many it takes.
        power: The chance of the verdict; 0.8 unless given, or learned when both chances and pairs are given.
        confidence: One minus the error of the verdict.
        margin: The gain that would not matter. A planned gain within the margin is planned as "not worse".

    Returns:
        The plan, with the exact power.

    Example:
        >>> from surefoot import plan_paired_comparison
        >>> plan_paired_comparison(0.25, 0.05).rollouts
        54

    Reference:
        By enumeration; compare Duffy (1984).
    """
    second_only, margin = _check.rate(second_only, "second_only"), _check.margin(margin, 1.0)
    confidence = _check.confidence(confidence)
    _asked(first_only, pairs, power, "first_only", "pairs")

    def chance(share: float, size: int) -> float:
        found = paired_power(share, second_only, size, confidence=confidence, margin=margin)
        return {"better": found.better, "worse": found.worse, "not worse": found.not_worse}[
            _shows(share - second_only, margin)
        ]

    if first_only is None:
        size = _check.whole(pairs, "pairs", least=1)
        wanted = 0.8 if power is None else _check.fraction(power, "power")
        most = 1.0 - 2.0 * second_only
        step = smallest(lambda gain: _better(gain, margin, lambda: chance(second_only + gain, size)), most, wanted)
        if step is None:
            raise ValueError(_hopeless(size, wanted, f"second alone in {words.number(second_only)} of pairs", "pairs"))
        first_only = second_only + step
    else:
        first_only = _check.rate(first_only, "first_only")
        if pairs is not None:
            size = _check.whole(pairs, "pairs", least=1)
        else:
            share, wanted = first_only, 0.8 if power is None else _check.fraction(power, "power")
            gap = abs(share - second_only) or margin
            guess = 8.0 * (share + second_only) / max(gap, 1e-4) ** 2 if gap else 1.0
            size = _search(lambda n: chance(share, n), wanted, max(1, math.ceil(guess)))
    return ComparisonPlan(
        rollouts=size,
        power=chance(first_only, size),
        gain=first_only - second_only,
        rates=(first_only, second_only),
        paired=True,
        confidence=confidence,
        margin=margin,
        shows=_shows(first_only - second_only, margin),
        method="exact paired score" if size <= EXACT_PAIRS else "Tango",
        assumptions=(PAIRS, "The number of pairs is fixed beforehand: no looking in between."),
    )


def _asked(first: float | None, size: int | None, power: float | None, name: str, count: str) -> None:
    if first is None and size is None:
        raise ValueError(f"`{name}` or `{count}` must be given; got neither. Leave out only what you want to learn.")
    if first is not None and size is not None and power is not None:
        raise ValueError(
            f"`power` must be left out when `{name}` and `{count}` are given; got {power!r}. It is the answer."
        )


def _shows(gain: float, margin: float) -> str:
    if gain > margin:
        return "better"
    if gain < -margin:
        return "worse"
    if margin == 0.0:
        raise ValueError("`first_rate` must differ from `second_rate`; got no gain. No number of rollouts shows 0.")
    return "not worse"


def _better(gain: float, margin: float, chance: Callable[[], float]) -> float:
    """The chance of "better", none at gains within the margin."""
    return chance() if gain > margin else 0.0


def _start(first: float, second: float, margin: float, wanted: float, confidence: float) -> int:
    gain = first - second
    _shows(gain, margin)
    gap = abs(gain) - margin if abs(gain) > margin else margin + gain
    if gap <= 0.0:
        raise ValueError(f"`margin` must leave something to show; got {margin:g} at a gain of {gain:g}.")
    if margin == 0.0:
        return approximate_rollouts(first, second, power=wanted, confidence=confidence).rollouts
    return max(1, math.ceil(8.0 * (first * (1.0 - first) + second * (1.0 - second)) / gap**2))


def _search(chance: Callable[[int], float], wanted: float, start: int) -> int:
    """The number whose chance reaches what is wanted and whose predecessor's does not, near a first guess."""
    few, many = 0, start
    while chance(many) < wanted:
        few, many = many, max(many + 1, math.ceil(1.1 * many))
        if many > MOST:
            raise ValueError(f"`power` must be reachable with {MOST:,} rollouts; got {wanted!r}.")
    if few == 0:
        step = max(1, many // 10)
        while many - step > 0 and chance(many - step) >= wanted:
            many -= step
        few = max(0, many - step)
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if chance(middle) >= wanted else (middle, many)
    return many


def _hopeless(size: int, wanted: float, where: str, unit: str) -> str:
    return (
        f"`{unit}` must be enough to show some gain from {where} with {words.percent(wanted)} power; got {size:,}. "
        "Ask for more rollouts or less power."
    )
