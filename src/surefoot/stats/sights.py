"""What could this evaluation have seen at all, and how many rollouts would tell?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from surefoot import _check
from surefoot.core import words
from surefoot.core.gain import Gain
from surefoot.core.record import Record
from surefoot.core.tally import PairTally, Tally
from surefoot.core.verdict import Verdict
from surefoot.numerics import normal
from surefoot.stats.exact_gains import exact_gain, exact_paired_gain
from surefoot.stats.pair_tests import mcnemar
from surefoot.stats.powers import Power, approximate_rollouts, paired_power
from surefoot.stats.powers import power as at_rates
from surefoot.stats.rate_tests import pooled_score

QUICK = 400
"""Up to so many rollouts the gain that could be seen is computed from the exact test, above from its approximation."""

NO_GAIN = "No gain was observed: no number of rollouts would show one."
AT_MARGIN = "The observed gain is as large as the margin: no number of rollouts would decide."
SMALL = 60
"""Below so many rollouts the normal approximation is too small, and enumeration is cheap."""


@dataclass(frozen=True, slots=True)
class Sight(Record):
    """What an evaluation of this size could have seen, and what it would take to see the gain it observed.

    Attributes:
        smallest_gain: The smallest true gain that gets the verdict "better" with the power; None where none does.
        smallest_drop: The smallest true drop that gets the verdict "worse" with the power, as a positive number.
        power: The power of both.
        baseline: The second policy's rate they start from; for pairs, the share of discordant pairs.
        enough: About how many rollouts of each policy (or pairs) would decide, if the observed gain were the true
            one; None where none would, because no gain was observed, or one as large as the margin.
        rollouts: Rollouts of each policy, first and second; for pairs, their number twice.
        paired: Whether `enough` counts pairs.
        confidence: The confidence of the verdict.
        exact: Whether the smallest gain and drop are those of the exact test; otherwise of its approximation.
        notes: Which of these are approximate.
        margin: The gain that would not matter.
        same: Whether `enough` would show the two the same within the margin, the observed gain being inside it.
        not_worse: About how many would show the first not worse by as much as the margin; None without a margin, where
            that was shown, or where the observed drop is as large.
    """

    smallest_gain: float | None
    smallest_drop: float | None
    power: float
    baseline: float
    enough: int | None
    rollouts: tuple[int, int]
    paired: bool
    confidence: float
    exact: bool
    notes: tuple[str, ...] = ()
    margin: float = 0.0
    same: bool = False
    not_worse: int | None = None

    def __str__(self) -> str:
        return f"{self.seen} {self.needed}"

    @property
    def seen(self) -> str:
        """What gain this size could have seen."""
        size = _size(self.rollouts, self.paired)
        chance = words.percent(self.power)
        seen = [
            f"{sign}{words.rounded(100 * value, 1, 'up'):.1f}"
            for sign, value in (("+", self.smallest_gain), ("-", self.smallest_drop))
            if value is not None
        ]
        if not seen:
            return f"{size} could not have shown any gain, however large, with {chance} power."
        about = "" if self.exact else "about "
        return f"{size} could have shown a true gain of {about}{' or '.join(seen)} points with {chance} power."

    @property
    def needed(self) -> str:
        """How many would decide."""
        if self.enough is None and not self.margin:
            return NO_GAIN
        said = []
        if self.not_worse is not None:
            said.append(f"{self._counted(self.not_worse)} would show the first not worse by as much as the margin")
        if self.enough is not None:
            shown = " show the two the same within the margin" if self.same else " decide" if said else ""
            said.append(f"{self._counted(self.enough)} would{shown}")
        told = f"About {', about '.join(said)}, if the observed gain is the true one." if said else ""
        return told if self.enough is not None else f"{told} {AT_MARGIN}".lstrip()

    def _counted(self, size: int) -> str:
        return f"{size:,} pairs" if self.paired else f"{words.rollouts(size)} of each policy"


def sight(gain: Gain, *, power: float = 0.8) -> Sight:
    """What could this comparison have seen, and how many rollouts would tell? For every "cannot tell".

    Args:
        gain: A comparison of two tallies or of pairs.
        power: The power of the gain that could have been seen.

    Assumptions:
        Those of the comparison. The baseline is the second policy's observed rate (for pairs, the observed share of
        discordant pairs): a guess, as all such numbers are.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import exact_gain, sight
        >>> print(sight(exact_gain(Tally(17, 20), Tally(14, 20))).needed)
        About 121 rollouts of each policy would, if the observed gain is the true one.

    Reference:
        By enumeration of the test's decisions (`power`); the number of rollouts by `approximate_rollouts`.
    """
    power = _check.fraction(power, "power")
    match _check.instance(gain, "gain", Gain).data:
        case (Tally() as first, Tally() as second):
            return _independent(gain, first, second, power)
        case (PairTally() as pairs,):
            return _paired(gain, pairs, power)
    raise TypeError(f"`gain` must compare two tallies or pairs; got {gain.method}.")


def rough_sight(gain: Gain, *, power: float = 0.8) -> tuple[float, float | None]:
    """Roughly what gain any comparison could have seen, and how many times as many rollouts would decide.

    The interval's half-width is taken for the usual multiple of a standard error, which narrows with the root of the
    number of rollouts. None where no number would decide: no gain was observed, or one as large as the margin.

    Args:
        gain: A comparison.
        power: The power of both.
    """
    half = max(gain.interval.high - gain.estimate, gain.estimate - gain.interval.low)
    z, beta = normal.upper_quantile((1.0 - gain.confidence) / 2.0), normal.upper_quantile(1.0 - power)
    reach, size = half * max(1.0, 1.0 + beta / z), abs(gain.estimate)
    if abs(size - gain.margin) <= 1e-12 * max(size, gain.margin, 1e-300):
        return gain.margin + reach, None
    return gain.margin + reach, max(1.1, (reach / (size - gain.margin)) ** 2)


def _independent(gain: Gain, first: Tally, second: Tally, wanted: float) -> Sight:
    base, n1, n2, confidence = second.rate, first.trials, second.trials, gain.confidence
    exact = n1 + n2 <= QUICK or bool(gain.margin)
    using: Callable[..., object] = exact_gain if exact else pooled_score

    def chance(rate: float) -> Power:
        return at_rates(rate, base, n1, second_rollouts=n2, confidence=confidence, margin=gain.margin, using=using)

    up = smallest(lambda size: chance(min(1.0, base + size)).better, 1.0 - base, wanted)
    down = smallest(lambda size: chance(max(0.0, base - size)).worse, base, wanted)
    enough = passing = None
    if gain.margin:
        spread = first.rate * (1.0 - first.rate) + second.rate * (1.0 - second.rate)
        enough, passing = _beyond_margin(gain, spread, wanted, min(n1, n2))
    elif gain.estimate:
        enough = approximate_rollouts(first.rate, second.rate, power=wanted, confidence=confidence).rollouts
    if enough is not None:
        enough = max(enough, _ran(gain, min(n1, n2)))
        while enough < SMALL and not _decides(
            at_rates(first.rate, second.rate, enough, confidence=confidence, margin=gain.margin), wanted
        ):
            enough += 1
    same = abs(gain.estimate) < gain.margin
    return Sight(
        up, down, wanted, base, enough, (n1, n2), False, confidence, exact, _notes(exact), gain.margin, same, passing
    )


def _paired(gain: Gain, pairs: PairTally, wanted: float) -> Sight:
    n, confidence = pairs.pairs, gain.confidence
    share = (pairs.first_only + pairs.second_only) / n
    exact = n <= QUICK or bool(gain.margin)
    using: Callable[..., object] = exact_paired_gain if exact else mcnemar

    def chance(size: float) -> float:
        discordant = max(share, size)
        one, other = min(1.0, (discordant + size) / 2.0), (discordant - size) / 2.0
        return paired_power(one, other, n, confidence=confidence, margin=gain.margin, using=using).better

    seen = smallest(chance, 1.0, wanted)
    enough = passing = None
    spread = max(share - gain.estimate**2, 0.0)
    if gain.margin:
        enough, passing = _beyond_margin(gain, spread, wanted, n)
    elif gain.estimate:
        z, beta = normal.upper_quantile((1.0 - confidence) / 2.0), normal.upper_quantile(1.0 - wanted)
        enough = math.ceil(((z * math.sqrt(share) + beta * math.sqrt(spread)) / gain.estimate) ** 2)
    if enough is not None:
        enough = max(enough, _ran(gain, n))
        chances = pairs.first_only / n, pairs.second_only / n
        while enough < SMALL and not _decides(
            paired_power(*chances, enough, confidence=confidence, margin=gain.margin), wanted
        ):
            enough += 1
    same = abs(gain.estimate) < gain.margin
    return Sight(
        seen, seen, wanted, share, enough, (n, n), True, confidence, exact, _notes(exact), gain.margin, same, passing
    )


def _beyond_margin(gain: Gain, spread: float, wanted: float, ran: int) -> tuple[int | None, int | None]:
    """About how many rollouts would decide with a margin, and how many show the first not worse; None where none would.

    Args:
        gain: The comparison.
        spread: The variance that one more rollout of each, or one more pair, adds to their difference.
        wanted: The power.
        ran: How many there are now.
    """
    z = normal.upper_quantile((1.0 - gain.confidence) / 2.0)
    far, near = abs(gain.estimate) + gain.margin, abs(gain.margin - abs(gain.estimate))
    # one side of the margin, or inside both ends at once
    sides = (near,) if abs(gain.estimate) > gain.margin else (near, far)
    enough = _reached(sides, spread, z, wanted) if near > 1e-12 else None
    room = gain.estimate + gain.margin
    passing = None if gain.not_worse or room <= 1e-12 else max(ran + 1, _reached((room,), spread, z, wanted))
    return enough, passing


def _reached(sides: tuple[float, ...], spread: float, z: float, wanted: float) -> int:
    """About how many rollouts until an end of the interval is within every one of these distances, with power."""

    def chance(size: int) -> float:
        return 1.0 - sum(normal.tail(side * math.sqrt(size / spread) - z) for side in sides)

    # without spread the ends still close in only as z**2 / n does, by the exact test a little slower
    few, many = 0, max(1, math.ceil(1.1 * z * z * (1.0 - min(1.0, *sides)) / min(sides)))
    if spread > 0.0:
        while chance(many) < wanted:
            few, many = many, 2 * many
        while few and many - few > 1:
            middle = (few + many) // 2
            few, many = (few, middle) if chance(middle) >= wanted else (middle, many)
    return many


def _ran(gain: Gain, size: int) -> int:
    """The fewest worth a thought: one more than did not decide."""
    return size + 1 if gain.verdict is Verdict.UNDECIDED else 1


def _decides(found: Power, wanted: float) -> bool:
    return max(found.better, found.worse, found.same) >= wanted


def smallest(chance: Callable[[float], float], most: float, wanted: float) -> float | None:
    """The smallest size in [0, most] whose chance reaches what is wanted, to 1e-5 upward; None where none does."""
    if most <= 0.0 or chance(most) < wanted:
        return None
    low, high = 0.0, most
    while high - low > 1e-5:
        middle = (low + high) / 2.0
        low, high = (low, middle) if chance(middle) >= wanted else (middle, high)
    return high


def _notes(exact: bool) -> tuple[str, ...]:
    count = "The number of rollouts that would decide is a normal approximation; `plan_comparison` is exact."
    return (count,) if exact else ("The gain that could have been seen is approximate at this size.", count)


def _size(rollouts: tuple[int, int], paired: bool) -> str:
    one, other = rollouts
    if paired:
        return words.counted(one, "pair")
    return f"{words.rollouts(one)} each" if one == other else f"{one:,} and {other:,} rollouts"
