"""Power of a comparison of success rates over units that are met several times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.stats.clusters import least_gain_shown

if TYPE_CHECKING:
    import numpy as np

DRAWS = 1_000
"""Studies that are drawn for the chance of a verdict."""
MOST = 5_000
"""Units beyond which no plan goes."""
SEED = 20261118


@dataclass(frozen=True, slots=True)
class UnitsPlan(Record):
    """The chance that a gain is shown for units like those that are met.

    Attributes:
        first: The first policy's rate.
        second: The second policy's rate.
        units: How many units both policies meet.
        repeats: How often each policy meets each.
        spread: The standard deviation of the gain between units.
        chance: The chance of the verdict, from simulated studies.
        least: The least gain that so many units can show, however many tries are made.
        needed: Units that give the power; None where none up to the most looked at do.
        power: The power asked for.
        confidence: The confidence of the verdict.
        draws: How many studies were simulated.
        seed: The seed of the simulation.
    """

    first: float
    second: float
    units: int
    repeats: int
    spread: float
    chance: float
    least: float
    needed: int | None
    power: float
    confidence: float
    draws: int = DRAWS
    seed: int = SEED

    def __str__(self) -> str:
        size = f"{self.units:,} units met {self.repeats:,} times by each policy"
        gain = f"{100 * (self.first - self.second):+.1f} points"
        told = f"{size} show {gain} for units like these with a chance of {formatting.percent(self.chance)}"
        what = "any gain" if self.least > 1.0 else f"less than {100 * self.least:.1f} points"
        floor = f"{self.units:,} units cannot show {what}, however many tries are made."
        if self.needed is None:
            more = f"No number of units up to {MOST:,} reaches {formatting.percent(self.power)}."
        else:
            more = f"{self.needed:,} units would be needed for {formatting.percent(self.power)}."
        assumed = f"the gain varies between units by {100 * self.spread:g} points"
        return f"{told} ({assumed}; {self.draws:,} simulated studies). {more} {floor}"


def plan_units(
    first: float,
    second: float,
    *,
    units: int,
    repeats: int = 5,
    spread: float = 0.2,
    power: float = 0.8,
    confidence: float = 0.95,
    rng: np.random.Generator | int = SEED,
) -> UnitsPlan:
    """Chance of a verdict for units like these, and how many units give the power, by simulating the test itself.

    Args:
        first: The first policy's success rate over all units.
        second: The second policy's.
        units: How many units both policies meet.
        repeats: How often each policy meets each unit, at least twice.
        spread: The standard deviation of the gain between units.
        power: The chance of the verdict that is asked for.
        confidence: The confidence of the verdict.
        rng: A seed, kept with the result.

    Example:
        >>> import surefoot as sf
        >>> plan = sf.plan_units(0.7, 0.5, units=20, repeats=10, spread=0.1)
        >>> round(plan.least, 3), plan.chance > 0.85
        (0.162, True)
    """
    rates = _check.rate(first, "first"), _check.rate(second, "second")
    units, repeats = _check.whole(units, "units", least=2), _check.whole(repeats, "repeats", least=2)
    spread, wanted = _check.real(spread, "spread"), _check.fraction(power, "power")
    confidence = _check.confidence(confidence)
    for name, rate in zip(("first", "second"), rates, strict=True):
        if not 0.0 <= spread**2 / 2.0 < max(rate * (1.0 - rate), 1e-12):
            raise _check.refused("spread", f"leave room for units at the rate of {name} ({rate:g})", spread)
    seed = _check.generator(rng)[1]

    def chance(size: int, draws: int) -> float:
        return _chance(rates, size, repeats, spread, confidence, draws, SEED if seed is None else seed)

    least = least_gain_shown(units, confidence=confidence)
    own = chance(units, DRAWS)
    needed = _needed(lambda size: (own if size == units else chance(size, DRAWS // 4)) >= wanted)
    if own >= wanted:
        needed = units if needed is None else min(needed, units)
    kept = SEED if seed is None else seed
    return UnitsPlan(*rates, units, repeats, spread, own, least, needed, wanted, confidence, DRAWS, kept)


def _needed(enough: Callable[[int], bool]) -> int | None:
    """The least number of units that is enough, by doubling and halving."""
    high = 4
    while high <= MOST and not enough(high):
        high *= 2
    if high > MOST:
        return None
    low = high // 2
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _chance(
    rates: tuple[float, float], units: int, repeats: int, spread: float, confidence: float, draws: int, seed: int
) -> float:
    """The share of simulated studies with a verdict for the better policy."""
    import numpy as np

    from surefoot.numerics.scores import cluster_tests

    generator = np.random.default_rng([seed, units])
    sides = []
    for rate in rates:
        if spread and 0.0 < rate < 1.0:
            number = rate * (1.0 - rate) / (spread**2 / 2.0) - 1.0
            chances = generator.beta(rate * number, (1.0 - rate) * number, (draws, units))
        else:
            chances = np.full((draws, units), rate)
        sides.append(generator.binomial(repeats, chances) / repeats)
    gains = (sides[0] - sides[1]) * (1.0 if rates[0] >= rates[1] else -1.0)
    numbers = np.arange(units)
    place = cluster_tests.layout(numbers, np.zeros(units, dtype=np.int64), np.ones(1))
    shown = 0
    for gain in gains:
        found = cluster_tests.evidence(gain, [place], None, (-1.0, 1.0))
        shown += found.mean > 0.0 and found.p_value(0.0) <= 1.0 - confidence
    return shown / draws
