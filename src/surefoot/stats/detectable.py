"""Minimum detectable gain of an evaluation, and the sample size that would decide.

A value, from which a sentence is made: closed forms, and for few rollouts one exact design, never a search over sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.gain import Gain
from surefoot.core.tally import PairTally, Tally
from surefoot.core.verdict import Verdict
from surefoot.core.words import Worded
from surefoot.numerics import normal_quantiles
from surefoot.stats.exact_power import Power, approximate_rollouts, paired_power
from surefoot.stats.exact_power import power as at_rates

Unit = Literal["rollouts", "pairs", "clusters", "environments"]
"""What is counted: rollouts of each policy, pairs, clusters, or environments that were met several times."""

Reason = Literal["", "no gain", "at margin"]
"""Why no number would tell: none was observed, or one as large as the margin."""

QUICK = 100
"""Up to so many rollouts in all, or pairs, the gain that could be shown is that of the exact test."""

SMALL = 60
"""Below so many the normal approximation is too small, and a few exact designs are looked at."""

LOOKS = 5
"""How many of them at most."""

MOST = 1_000_000
"""More than this is not told in figures."""


@dataclass(frozen=True, slots=True)
class Outlook(Worded):
    """What an evaluation of this size could have shown, and what it would take to show the gain it observed.

    Attributes:
        up: The smallest true gain that gets the verdict "better" with the power; None where none does.
        down: The smallest true drop that gets the verdict "worse" with the power, as a positive number.
        needed: About how many would tell if the observed gain were the true one; None where none would.
        unit: What `needed` counts.
        reason: Why none would; empty where some would.
        same: Whether `needed` would show the two the same within the margin, the observed gain being inside it.
        not_worse: About how many would show the first not worse by as much as the margin; None without a margin, where
            that was shown, or where the observed drop is as large.
        sizes: How many there are: of first and second, or one number of pairs or clusters.
        scale: What the gain is in.
        power: The chance of the verdict.
        confidence: The confidence of the verdict.
        margin: The gain that would not matter.
        exact: Whether `up` and `down` are those of the exact test.
        called: What several of what is counted are called, where it is not rollouts: tasks, documents.
    """

    up: float | None
    down: float | None
    needed: int | None
    unit: Unit
    reason: Reason
    same: bool
    not_worse: int | None
    sizes: tuple[int, ...]
    scale: formatting.Scale
    power: float
    confidence: float
    margin: float = 0.0
    exact: bool = False
    called: str = ""

    def __str__(self) -> str:
        return f"{self.seen} {self.wanted}"

    @property
    def seen(self) -> str:
        """What gain this size could have shown, in words."""
        chance = formatting.percent(self.power)
        shown = [
            sign + formatting.number(value, self.scale, "up").lstrip("+-")
            for sign, value in (("+", self.up), ("-", self.down))
            if value is not None
        ]
        if not shown:
            return f"{self._size()} could not have shown any gain, however large, with {chance} power."
        gain = ("" if self.exact else "about ") + " or ".join(shown) + formatting.unit(self.scale)
        return f"{self._size()} could have shown a true gain of {gain} with {chance} power."

    @property
    def wanted(self) -> str:
        """How many would tell, in words."""
        if self.reason == "no gain":
            return f"No gain was observed: no number of {self.words.rollouts} would show one."
        told = []
        if self.not_worse is not None:
            few = self._count(self.not_worse)
            told.append(f"{few} would be needed to show the first not worse by as much as the margin")
        if self.needed is not None:
            aim = "show the two the same within the margin" if self.same else "decide" if told else "tell"
            count = self._count(self.needed)
            told.append(f"{count[0].lower()}{count[1:]} to {aim}" if told else f"{count} would be needed to {aim}")
        said = f"{', '.join(told)}, if the observed gain is the true one." if told else ""
        if self.reason == "at margin":
            said += f" The observed gain is as large as the margin: no number of {self.words.rollouts} would decide."
        return said.lstrip()

    def _size(self) -> str:
        if self.unit != "rollouts":
            return self._units(self.sizes[0])
        one, *others = self.sizes
        if others in ([], [one]):
            return f"{formatting.rollouts(one, self.words)} each"
        return f"{one:,} and {others[0]:,} {self.words.rollouts}"

    def _count(self, size: int) -> str:
        kinds = {
            "rollouts": f"{self.words.rollouts} of each {self.words.policy}",
            "environments": self.words.environments,
        }
        kind = kinds.get(self.unit, self.unit) if self.unit == "rollouts" or not self.called else self.called
        if size > MOST:
            return f"More than a million {kind}"
        of = f"{formatting.rollouts(size, self.words)} of each {self.words.policy}"
        return f"About {of if self.unit == 'rollouts' else self._units(size)}"

    def _units(self, size: int) -> str:
        if self.called and size > 1:
            return f"{size:,} {self.called}"
        if self.unit == "environments":
            return f"{size:,} {self.words.environment if size == 1 else self.words.environments}"
        return formatting.counted(size, self.unit.removesuffix("s"))


def outlook_from(
    estimate: float,
    half_width: float,
    sizes: tuple[int, ...],
    *,
    unit: Unit,
    scale: formatting.Scale,
    confidence: float,
    margin: float = 0.0,
    power: float = 0.8,
    most: float = 1.0,
    undecided: bool = True,
    not_worse: bool = False,
) -> Outlook:
    """Roughly what any comparison could have shown, and how many would tell, from its interval alone.

    The half-width is taken for the usual multiple of a standard error, which narrows with the root of the number of
    units: rollouts, pairs or clusters, whichever are independent of one another.

    Args:
        estimate: The observed gain.
        half_width: The larger distance from the estimate to an end of its interval.
        sizes: How many units there are: of first and second, or one number of pairs or clusters.
        unit: What they are.
        scale: What the gain is in.
        confidence: The confidence of the interval and the verdict.
        margin: The gain that would not matter.
        power: The chance of the verdict.
        most: The largest gain there can be.
        undecided: Whether the comparison was undecided: then more than there are would be needed.
        not_worse: Whether the first was shown not to be worse by as much as the margin.

    Assumptions:
        Those of the comparison; the spread stays what it was.

    Example:
        >>> from surefoot.stats.detectable import outlook_from
        >>> print(outlook_from(0.04, 0.06, (25,), unit="clusters", scale="gain", confidence=0.95).wanted)
        About 115 clusters would be needed to tell, if the observed gain is the true one.

    Reference:
        The normal approximation of power, as in Fleiss, Levin and Paik (2003), section 4.
    """
    z, beta = _quantiles(confidence, power)
    error = half_width / z
    reach = margin + error * max(z, z + beta)
    size = len(sizes) / sum(1.0 / one for one in sizes)  # as many of each would be as good
    seen = reach if reach < most else None
    spread = error**2 * size
    needed, same, passing, reason = _wanted(estimate, spread, size, margin, (z, beta), power, not_worse, undecided)
    return Outlook(
        up=seen,
        down=seen,
        needed=needed,
        unit=unit,
        reason=reason,
        same=same,
        not_worse=passing,
        sizes=sizes,
        scale=scale,
        power=power,
        confidence=confidence,
        margin=margin,
    )


def outlook(gain: Gain, *, power: float = 0.8) -> Outlook:
    """What could this comparison have shown, and how many rollouts would tell? For every "cannot tell".

    Up to 100 rollouts in all, or pairs, the gain that could be shown is that of the exact test; above, a closed form.

    Args:
        gain: A comparison of two tallies or of pairs.
        power: The chance of the verdict.

    Assumptions:
        Those of the comparison. The baseline is the second policy's observed rate (for pairs, the observed share of
        discordant pairs): a guess, as all such numbers are.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import exact_gain, outlook
        >>> print(outlook(exact_gain(Tally(17, 20), Tally(14, 20))).wanted)
        About 121 rollouts of each policy would be needed to tell, if the observed gain is the true one.

    Reference:
        By enumeration of the test's decisions (`power`); the number of rollouts by `approximate_rollouts`.
    """
    power = _check.fraction(power, "power")
    match _check.instance(gain, "gain", Gain).data:
        case (Tally() as first, Tally() as second):
            return _independent(gain, first, second, power)
        case (PairTally() as pairs,):
            return _paired(gain, pairs, power)
    raise _check.wrong_kind("gain", f"compare two tallies or pairs; got {gain.method}.", gain)


def _independent(gain: Gain, first: Tally, second: Tally, wanted: float) -> Outlook:
    base, n1, n2, confidence = second.rate, first.trials, second.trials, gain.confidence
    exact = n1 + n2 <= QUICK
    z, beta = _quantiles(confidence, wanted)

    def decided(rate: float, worse: bool) -> bool:
        if exact:
            found = at_rates(rate, base, n1, second_rollouts=n2, confidence=confidence, margin=gain.margin)
            return (found.worse if worse else found.better) >= wanted
        middle = (n1 * rate + n2 * base) / (n1 + n2)
        pooled = middle * (1.0 - middle) * (1.0 / n1 + 1.0 / n2)
        own = rate * (1.0 - rate) / n1 + base * (1.0 - base) / n2
        null = own if gain.margin else pooled
        return abs(rate - base) - gain.margin >= z * math.sqrt(null) + beta * math.sqrt(own)

    def rollouts() -> int:
        return approximate_rollouts(first.rate, second.rate, power=wanted, confidence=confidence).rollouts

    def at(size: int) -> Power:
        return at_rates(first.rate, second.rate, size, confidence=confidence, margin=gain.margin)

    up = smallest(lambda size: decided(min(1.0, base + size), False), 1.0 - base)
    down = smallest(lambda size: decided(max(0.0, base - size), True), base)
    spread = first.rate * (1.0 - first.rate) + second.rate * (1.0 - second.rate)
    return _outlook(gain, wanted, (n1, n2), (up, down), spread, rollouts, at)


def _paired(gain: Gain, pairs: PairTally, wanted: float) -> Outlook:
    n, confidence = pairs.pairs, gain.confidence
    share = (pairs.first_only + pairs.second_only) / n
    exact = n <= QUICK
    z, beta = _quantiles(confidence, wanted)

    def decided(size: float) -> bool:
        discordant = max(share, size)
        if exact:
            one, other = min(1.0, (discordant + size) / 2.0), (discordant - size) / 2.0
            return paired_power(one, other, n, confidence=confidence, margin=gain.margin).better >= wanted
        own = max(discordant - size**2, 0.0)
        null = own if gain.margin else discordant
        return (size - gain.margin) * math.sqrt(n) >= z * math.sqrt(null) + beta * math.sqrt(own)

    def rollouts() -> int:
        return math.ceil(((z * math.sqrt(share) + beta * math.sqrt(spread)) / gain.estimate) ** 2)

    def at(size: int) -> Power:
        return paired_power(*chances, size, confidence=confidence, margin=gain.margin)

    spread, chances = max(share - gain.estimate**2, 0.0), (pairs.first_only / n, pairs.second_only / n)
    seen = smallest(decided, 1.0)
    return _outlook(gain, wanted, (n,), (seen, seen), spread, rollouts, at)


def _outlook(
    gain: Gain,
    wanted: float,
    sizes: tuple[int, ...],
    shown: tuple[float | None, float | None],
    spread: float,
    rollouts: Callable[[], int],
    at: Callable[[int], Power],
) -> Outlook:
    """The outlook with what gains could be `shown`, up and down; without a margin a formula says how many rollouts."""
    ran, undecided = min(sizes), gain.verdict is Verdict.UNDECIDED
    quantiles = _quantiles(gain.confidence, wanted)
    needed, same, passing, reason = _wanted(
        gain.estimate, spread, ran, gain.margin, quantiles, wanted, gain.not_worse, undecided
    )
    if needed is not None and not gain.margin:
        needed = max(rollouts(), ran + 1 if undecided else 1)
    return Outlook(
        up=shown[0],
        down=shown[1],
        needed=_lifted(needed, at, wanted),
        unit="rollouts" if len(sizes) == 2 else "pairs",
        reason=reason,
        same=same,
        not_worse=passing,
        sizes=sizes,
        scale=gain.interval.scale,
        power=wanted,
        confidence=gain.confidence,
        margin=gain.margin,
        exact=sum(sizes) <= QUICK,
    )


def _quantiles(confidence: float, power: float) -> tuple[float, float]:
    return normal_quantiles.upper_quantile((1.0 - confidence) / 2.0), normal_quantiles.upper_quantile(1.0 - power)


def _wanted(
    estimate: float,
    spread: float,
    ran: float,
    margin: float,
    quantiles: tuple[float, float],
    power: float,
    not_worse: bool,
    undecided: bool,
) -> tuple[int | None, bool, int | None, Reason]:
    """How many would tell, whether as the same, how many show the first not worse, and why none would.

    Args:
        estimate: The observed gain.
        spread: The variance that one unit of each adds.
        ran: How many there are.
        margin: The gain that would not matter.
        quantiles: Those of the error and of the power.
        power: The chance of the verdict.
        not_worse: Whether that was shown already.
        undecided: Whether more than there are would be needed.
    """
    z, beta = quantiles
    size = abs(estimate)
    near, far = abs(size - margin), size + margin
    tiny = 1e-12 * max(size, margin, 1e-300)

    def count(*gaps: float) -> int:
        if spread <= 0.0:  # an end still closes in only as z**2 / n does, by the exact test a little slower
            return max(1, math.ceil(1.1 * z * z * max(1.0 - min(gaps), 0.0) / min(gaps)))
        if len(gaps) == 1:
            return max(1, math.ceil(min((z + beta) ** 2 * spread / gaps[0] ** 2, 1e15)))
        few, many = 1.0, 1e15
        while many > few * (
            1.0 + 1e-9
        ):  # within every one of the distances at once: no closed form, but no table either
            middle = math.sqrt(few * many)
            missed = sum(normal_quantiles.tail(gap * math.sqrt(middle / spread) - z) for gap in gaps)
            few, many = (few, middle) if 1.0 - missed >= power else (middle, many)
        return math.ceil(many)

    passing = None
    if margin and not not_worse and estimate + margin > tiny:
        passing = max(math.floor(ran) + 1, count(estimate + margin))
    if near <= tiny:
        return None, False, passing, "at margin" if margin else "no gain"
    same = size < margin
    needed = count(near, far) if same else count(near)
    return max(needed, math.floor(ran) + 1 if undecided else 1), same, passing, ""


def _lifted(needed: int | None, at: Callable[[int], Power], wanted: float) -> int | None:
    """The first of a few numbers from the approximation on that has the power, where that is small."""
    if needed is None or needed >= SMALL:
        return needed
    step = max(1, needed // 12)
    tried = range(needed, needed + LOOKS * step, step)
    return next((n for n in tried if max((found := at(n)).better, found.worse, found.same) >= wanted), tried[-1])


def smallest(decided: Callable[[float], bool], most: float) -> float | None:
    """The smallest size in [0, most] that is decided, to 1e-5 upward; None where none is."""
    if most <= 0.0 or not decided(most):
        return None
    low, high = 0.0, most
    while high - low > 1e-5:
        middle = (low + high) / 2.0
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high
