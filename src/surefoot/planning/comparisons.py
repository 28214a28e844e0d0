"""Sample size and power of the comparison of two success rates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, get_args

from surefoot import _check
from surefoot._arguments import named
from surefoot.core import formatting
from surefoot.core.assumptions import NO_LOOK, PAIRS_APART, RATE_BY_POLICY, Assumed, Assumption
from surefoot.core.record import Record
from surefoot.stats.detectable import smallest
from surefoot.stats.exact_power import Asked, Look, approximate_rollouts, chance_above

MOST = 10**6
"""Rollouts beyond which no comparison is planned."""

_TINY = 1e-12  # gains that differ by less are equal
_ROUGH = 0.02  # by how much the interpolated critical value may misjudge a chance
_FEW = 50  # up to so many, a smaller number that does as well is looked for


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
        claim: What the test asks: "either", or one side only, with all of the error on that side.
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
    assumptions: tuple[Assumed, ...] = ()
    notes: tuple[str, ...] = ()
    claim: Asked = "either"

    def __str__(self) -> str:
        size = (
            formatting.counted(self.rollouts, "pair")
            if self.paired
            else f"{formatting.rollouts(self.rollouts)} of each policy"
        )
        shows = f"{'shows' if self.rollouts == 1 else 'show'} the first {self.shows}"
        gain = formatting.number(self.gain, "gain") + formatting.unit("gain")
        least = "as much as" if self.shows == "not worse" else "more than"
        beyond = f" by {least} {formatting.margin(self.margin, 'gain')}" if self.margin else ""
        chance = formatting.number(self.power, toward="down")
        return (
            f"{size} {shows}{beyond} in {chance} of evaluations when the true gain is {gain} "
            f"({self.method}, {formatting.percent(self.confidence)} confidence)."
        )


def plan_comparison(
    first_rate: float | None,
    second_rate: float,
    *,
    rollouts: int | None = None,
    power: float | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
    claim: Asked = "either",
) -> ComparisonPlan:
    """How many rollouts tell two policies apart? Rates, power and rollouts: leave one out and learn it.

    The power is that of `exact_gain`, the test `compare` runs, by enumeration of its decisions. Power rises with the
    number of rollouts in small saw-teeth: the number given has the power and the one before it has not.

    Args:
        first_rate: The first policy's rate; None to learn the smallest better rate that `rollouts` can show.
        second_rate: The second policy's rate, the baseline.
        rollouts: Rollouts of each policy, up to a million; None to learn how many it takes.
        power: The chance of the verdict; 0.8 unless given, or learned when both rates and rollouts are given.
        confidence: One minus the error of the verdict.
        margin: The gain that would not matter. A planned gain within the margin is planned as "not worse".
        claim: What will be asked: "either" for the two-sided comparison that `compare` prints; "first better" or "first
            not worse" for a gate or a rule that asks only that, by the exact test of that side.

    Returns:
        The plan, with the exact power.

    Example:
        >>> from surefoot import plan_comparison
        >>> plan_comparison(0.90, 0.60).rollouts
        32
        >>> plan_comparison(0.90, 0.60, claim="first better").rollouts
        26
        >>> print(plan_comparison(0.85, 0.70, rollouts=20))  # doctest: +NORMALIZE_WHITESPACE
        20 rollouts of each policy show the first better in 19.7% of evaluations when the true gain is +15.0 points
        (exact unconditional, 95% confidence).

    Reference:
        By enumeration; the search starts from the formula of Fleiss, Levin and Paik (2003).
    """
    return _plan(_SEPARATE, first_rate, second_rate, rollouts, power, confidence, margin, claim)


def plan_paired_comparison(
    first_only: float | None,
    second_only: float,
    *,
    pairs: int | None = None,
    power: float | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
    claim: Asked = "either",
) -> ComparisonPlan:
    """How many pairs tell two policies apart? Chances, power and pairs: leave one out and learn it.

    The power is that of `exact_paired_gain`, the test `compare` runs on pairs, by enumeration of its decisions.

    Args:
        first_only: The chance that only the first policy succeeds; None to learn the smallest that `pairs` can show.
        second_only: The chance that only the second policy succeeds.
        pairs: The number of pairs, up to a million; None to learn how many it takes.
        power: The chance of the verdict; 0.8 unless given, or learned when both chances and pairs are given.
        confidence: One minus the error of the verdict.
        margin: The gain that would not matter. A planned gain within the margin is planned as "not worse".
        claim: What will be asked: "either" for the two-sided comparison that `compare` prints; "first better" or "first
            not worse" for a gate or a rule that asks only that, by the exact test of that side.

    Returns:
        The plan, with the exact power.

    Example:
        >>> from surefoot import plan_paired_comparison
        >>> plan_paired_comparison(0.25, 0.05).rollouts
        53

    Reference:
        By enumeration; compare Duffy (1984).
    """
    return _plan(_PAIRED, first_only, second_only, pairs, power, confidence, margin, claim)


class _Kind(NamedTuple):
    """What tells the two kinds of comparison apart: what their arguments are called, and the test that will run."""

    first: str
    second: str
    size: str
    method: str
    assumption: Assumption


_SEPARATE = _Kind("first_rate", "second_rate", "rollouts", "exact unconditional", RATE_BY_POLICY)
_PAIRED = _Kind("first_only", "second_only", "pairs", "exact unconditional paired", PAIRS_APART)


def _plan(
    kind: _Kind,
    first: float | None,
    second: float,
    size: int | None,
    power: float | None,
    confidence: float,
    margin: float,
    claim: Asked,
) -> ComparisonPlan:
    claim = _check.choice(claim, "claim", {name: name for name in get_args(Asked)})
    second, margin = _check.rate(second, kind.second), _check.margin(margin, 1.0)
    confidence = _check.confidence(confidence)
    wanted = 0.8 if power is None else _check.fraction(power, "power")
    if size is not None and _check.whole(size, kind.size, least=1) > MOST:
        raise _check.refused(kind.size, f"be at most {MOST:,}", size)

    def chance(first: float, size: int, look: Look = "all") -> float:
        sizes, chances = (size,) if kind is _PAIRED else (size, size), (first, second)
        shows = _shows(first - second, margin, claim)
        if shows == "worse":  # the mirror image: pairs swapped, or failures for successes
            chances = (second, first) if kind is _PAIRED else (1.0 - first, 1.0 - second)
        edge = -margin if shows == "not worse" else margin
        return chance_above(sizes, chances, 1.0 - confidence, edge, both=claim == "either", look=look)

    if first is not None:
        first = _check.rate(first, kind.first)
        if claim != "either":
            _within_reach(kind, first - second, margin, claim, first)
        elif abs(first - second) <= _TINY and not margin:
            must, hint = f"differ from `{named(kind.second)}`", f"No number of {kind.size} shows a gain of 0."
            raise _check.refused(kind.first, must, first, hint)
        if size is None:
            start = _start(kind, first, second, margin, wanted, confidence, claim)
            size = _search(partial(chance, first), wanted, start, MOST)
            if size is None:
                raise _check.refused("power", f"be reachable with {MOST:,} {kind.size}", wanted)
        elif power is not None:
            must = f"be left out when `{named(kind.first)}` and `{kind.size}` are given"
            raise _check.refused("power", must, power, "It is the answer.")
    elif size is not None:
        first = _smallest_first(kind, partial(chance, size=size), second, margin, wanted, size)
    else:
        must, cure = f"be given, or {_check.quoted(kind.size)}; got neither.", "Leave out only what you want to learn."
        raise _check.wrong(kind.first, must, cure=cure)
    return ComparisonPlan(
        rollouts=int(size),
        power=chance(first, size),
        gain=first - second,
        rates=(first, second),
        paired=kind is _PAIRED,
        confidence=confidence,
        margin=margin,
        shows=_shows(first - second, margin, claim),
        method=("" if claim == "either" else "one-sided ") + kind.method,
        assumptions=(kind.assumption, Assumption(NO_LOOK, {"what": kind.size})),
        claim=claim,
    )


def _within_reach(kind: _Kind, gain: float, margin: float, claim: Asked, first: float) -> None:
    """Refuse a claim that the planned gain does not bear out."""
    edge = margin if claim == "first better" else -margin
    if gain <= edge + _TINY:
        must = f"exceed `{named(kind.second)}` by more than {edge:g} for the claim {claim!r}"
        raise _check.refused(kind.first, must, first, f"No number of {kind.size} shows it.")


def _shows(gain: float, margin: float, claim: Asked) -> str:
    if claim != "either":
        return claim.removeprefix("first ")
    if abs(gain) <= margin + _TINY:
        return "not worse"
    return "better" if gain > 0.0 else "worse"


def _smallest_first(
    kind: _Kind, chance: Callable[[float], float], second: float, margin: float, wanted: float, size: int
) -> float:
    """The smallest better rate, or chance, that so many can show."""
    most = 1.0 - (2.0 * second if kind is _PAIRED else second)

    def better(gain: float) -> float:
        return chance(min(1.0, second + gain)) if gain > margin + _TINY else 0.0

    step = smallest(lambda gain: better(gain) >= wanted, most)
    if step is None:
        shown = formatting.number(second)
        where = f"second alone in {shown} of pairs" if kind is _PAIRED else f"a baseline of {shown}"
        must = f"be enough to show some gain from {where} with {formatting.percent(wanted)} power"
        raise _check.refused(kind.size, must, size, f"Ask for more {kind.size} or less power.")
    return min(1.0, second + step)


def _start(
    kind: _Kind, first: float, second: float, margin: float, wanted: float, confidence: float, claim: Asked
) -> int:
    """A first guess, by the normal approximation."""
    gain = first - second
    gap = margin + gain if _shows(gain, margin, claim) == "not worse" else abs(gain) - margin
    if gap <= _TINY:
        raise _check.wrong("margin", f"leave something to show; got {margin:g} at a gain of {gain:g}.", margin)
    if kind is _SEPARATE and not margin and gain:
        one = claim != "either" and confidence > 0.5
        sure = round(2.0 * confidence - 1.0, 15) if one else confidence
        return approximate_rollouts(first, second, power=wanted, confidence=sure).rollouts
    spread = first + second if kind is _PAIRED else first * (1.0 - first) + second * (1.0 - second)
    return max(1, math.ceil(8.0 * spread / gap**2))


def _search(chance: Callable[..., float], wanted: float, start: int, most: int) -> int | None:
    """A number whose chance reaches what is wanted and whose predecessor's does not, near a first guess.

    The chance is a sawtooth, most of all where there are few: among those the fewest is taken. Where the interpolated
    critical value says that a number will do is where the exact chance is looked at, at the edge first.
    """

    def reached(n: int) -> bool:
        return chance(n, look="edge") >= wanted and chance(n) >= wanted

    many = _bracketed(partial(chance, look="rough"), wanted, start, most)
    if many is None:
        return None
    if many <= _FEW:
        likely = (n for n in range(many - many // 4, many) if chance(n, look="rough") >= wanted - _ROUGH)
        few = next((n for n in likely if reached(n)), None)
        if few is not None:
            return few
    while not reached(many):
        if many == most:
            return None
        many += 1
    slack = _ROUGH if many <= _FEW else _ROUGH / 8.0
    while many > 1 and chance(many - 1, look="rough") >= wanted - slack and reached(many - 1):
        many -= 1
    return many


def _bracketed(chance: Callable[[int], float], wanted: float, start: int, most: int) -> int | None:
    """A number whose chance reaches what is wanted and whose predecessor's does not."""
    few, many, step = 0, min(start, most), 0.02
    while chance(many) < wanted:
        if many == most:
            return None
        few, many, step = many, min(max(many + 1, math.ceil((1.0 + step) * many)), most), 2.0 * step
    step = 0.02
    while few == 0 and many > 1:
        fewer = max(1, math.floor((1.0 - step) * many))
        few, many, step = (0, fewer, min(2.0 * step, 0.9)) if chance(fewer) >= wanted else (fewer, many, step)
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if chance(middle) >= wanted else (middle, many)
    return many
