"""Sample size from a pilot.

A pilot says how much outcomes vary, how far they go together on the same environments, and what a second epoch of the
same items adds. What gain is worth seeing, the user says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot import _check
from surefoot.analysis.comparison_data import Asked
from surefoot.analysis.comparisons import chosen, compare
from surefoot.analysis.targets import rows
from surefoot.core import formatting
from surefoot.core.scores import Scores
from surefoot.core.words import Worded, Words, in_its_words
from surefoot.errors import DataError
from surefoot.numerics.normal_quantiles import upper_quantile
from surefoot.planning.comparisons import plan_comparison, plan_paired_comparison
from surefoot.stats.score_gains import paired_score_gain
from surefoot.table.design import FEW
from surefoot.table.rollouts import Measure, Rollouts

if TYPE_CHECKING:
    import polars as pl

EPOCHS = (1, 2, 3, 5, 10)
SETTLES = 8
"""A width is that of a number of units, and the number that of a width: so many rounds settle them."""
NORMAL = "normal approximation"
MOST_TRIED = 2_000
"""Widths of a guaranteed interval are worked out for up to so many units; in more it is no wider, in its own unit."""
FEWEST = 5
"""With fewer environments than this nothing is known of how they differ."""


@dataclass(frozen=True, slots=True)
class EpochsPlan(Worded):
    """How many environments it takes when each is met so many times.

    Attributes:
        epochs: How often each policy meets each environment.
        environments: How many environments.
        rollouts: Rollouts of both policies together.
    """

    epochs: int
    environments: int
    rollouts: int


@dataclass(frozen=True, slots=True)
class PilotPlan(Worded):
    """How many rollouts tell two policies apart that vary as they did in a pilot.

    Attributes:
        first: The first policy.
        second: The second policy.
        measure: What decides: success or score.
        means: Their rates or mean scores in the pilot.
        gain: The true gain planned for.
        observed: The gain seen in the pilot, with its ends.
        paired: Whether they meet the same environments.
        unit: What is counted: "pair", "rollout of each policy" or "environment".
        told_by: The user's columns that tell environments apart; empty where none does.
        units: How many of these the pilot has.
        correlation: How far outcomes go together in one environment; None where they are not paired.
        spread: The standard deviation of a unit's gain.
        needed: How many units it takes.
        power: The chance of the verdict.
        confidence: One minus the error of the verdict.
        exact: Whether the number comes from the exact power of the test.
        by_interval: Whether it comes from the width of the guaranteed interval that a comparison of paired means has;
            if neither, from the normal approximation.
        epochs: What other numbers of epochs take, where the pilot met environments several times.
    """

    first: str
    second: str
    measure: Measure
    means: tuple[float, float]
    gain: float
    observed: tuple[float, float, float]
    paired: bool
    unit: str
    units: int
    correlation: float | None
    spread: float
    needed: int
    power: float
    confidence: float
    exact: bool
    told_by: str = ""
    epochs: tuple[EpochsPlan, ...] = ()
    by_interval: bool = False

    def __str__(self) -> str:
        scale: formatting.Scale = "rate" if self.measure == "success" else "score"
        gains: formatting.Scale = "gain" if self.measure == "success" else "score gain"
        means = [formatting.number(mean, scale) for mean in self.means]
        together = (
            "" if self.correlation is None else f"; their outcomes correlate {round(self.correlation, 2) + 0.0:+.2f}"
        )
        what = f"{formatting.number(self.gain, gains)}{formatting.unit(gains)}"
        low, high = formatting.span(*self.observed[1:], gains)[1:-1].split(", ")
        how = "exact" if self.exact else "about, by the guaranteed interval" if self.by_interval else NORMAL
        where = f" ({self.told_by})" if self.told_by else ""
        return (
            f"In the pilot {self.first} has {means[0]} and {self.second} {means[1]}, on "
            f"{_many(self.units, self.unit, self.words)}{where}{together}. To show a true gain of {what} with "
            f"{formatting.percent(self.power)} power: {_many(self.needed, self.unit, self.words)} "
            f"({how}, {formatting.percent(self.confidence)} confidence). The pilot's own gain may be anything from "
            f"{low} to {high}{formatting.unit(gains)}."
        )


@in_its_words
def plan_from_pilot(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    gain: float | None = None,
    measure: Measure | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
) -> PilotPlan:
    """Sample size that tells two policies apart, if they vary as in a pilot.

    Args:
        rollouts: The pilot.
        first: The first policy.
        second: The second policy.
        gain: The true gain that must be seen; the pilot's own when left out, which is a guess.
        measure: What decides; success where it is known.
        power: The chance of the verdict.
        confidence: One minus the error of the verdict.

    Returns:
        The plan. For independent rollouts and pairs of successes by the exact power of the test; for pairs of scores
        and of environments met equally often by the width that the guaranteed interval would have if the pilot's gains
        were met in their shares; otherwise by the normal approximation.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rows = [(p, f"scene {n}", int(n % 10 < k)) for p, k in (("new", 8), ("old", 6)) for n in range(20)]
        >>> pilot = sf.read(pl.DataFrame(rows, schema=["policy", "condition", "success"], orient="row"))
        >>> sf.plan_from_pilot(pilot, "new", "old", gain=0.2).needed
        27
    """
    wanted, confidence = _check.fraction(power, "power"), _check.confidence(confidence)
    what = chosen(rollouts, measure)
    found = compare(rollouts, first, second, measure=what, confidence=confidence)
    aim = found.gain.estimate if gain is None else _check.real(gain, "gain")
    if not aim:
        raise _check.wrong(
            "gain", f"not be 0, which no number of {rollouts.words.rollouts} shows; say which gain must be seen.", gain
        )
    low, high = rollouts.ends(what)
    reach = (low - found.of_second.estimate, high - found.of_second.estimate)
    if not reach[0] <= aim <= reach[1]:
        must = f"lie between {reach[0]:.3g} and {reach[1]:.3g}, which {second!r} leaves room for"
        hint = f" Write {aim / 100.0:g} for {aim:g} points." if what == "success" and 1.0 < abs(aim) < 100.0 else ""
        raise _check.wrong("gain", f"{must}; got {aim}.{hint}", aim)
    reading, names = found.reading, (first, second)
    keys = reading.clusters or reading.environment
    asked = _Asked(what, aim, wanted, confidence, high - low, rollouts.words)
    of_table = Asked(rollouts, first, second, what)
    if keys and reading.paired and (reading.units >= FEW or reading.repeats == 1):  # fewer are settings: rollouts count
        seen = _environments([rows(of_table, name, keys) for name in names], keys, reading.paired, asked)
    else:
        values = [rows(of_table, name)["value"] for name in names]
        keys, seen = (), _separate(values, found.of_second.estimate, asked)
    return PilotPlan(
        first=first,
        second=second,
        measure=what,
        means=(found.of_first.estimate, found.of_second.estimate),
        gain=aim,
        observed=(found.gain.estimate, found.interval.low, found.interval.high),
        paired=reading.paired,
        power=wanted,
        confidence=confidence,
        told_by=" and ".join(rollouts.called(key) for key in keys),
        **seen,
    )


class _Asked(NamedTuple):
    """What the plan is for."""

    measure: Measure
    gain: float
    power: float
    confidence: float
    most: float
    words: Words

    def needed_by_interval(self, gains: pl.Series, variance: float) -> int:
        """Units whose guaranteed interval leaves out 0: the pilot's gains, moved to the one asked for and spread so."""
        import numpy as np

        plain = self.needed(variance)
        around = gains.to_numpy() - _mean(gains)
        spread = math.sqrt(variance)
        around = np.sort(around) * (spread / math.sqrt(_variance(gains)))
        power, size = upper_quantile(1.0 - self.power), plain
        for _ in range(SETTLES):
            tried = min(size, MOST_TRIED)
            shares = np.quantile(around, (np.arange(tried) + 0.5) / tried, method="inverted_cdf")
            met = np.clip(abs(self.gain) + shares, -self.most, self.most)
            first, second = (Scores(side, high=self.most) for side in (np.maximum(met, 0.0), np.maximum(-met, 0.0)))
            found = paired_score_gain(first, second, confidence=self.confidence).interval
            reach = (found.estimate - found.low) * math.sqrt(tried) / spread
            last, size = size, max(plain, math.ceil(((reach + power) * spread / self.gain) ** 2))
            if abs(size - last) <= 0.01 * last:
                break
        return max(size, last)

    def needed(self, variance: float) -> int:
        """Units whose mean gain is told from 0, by the normal approximation."""
        if variance <= 0.0:
            raise DataError("outcomes of a pilot must vary; here no gain differs from another.")
        reach = upper_quantile((1.0 - self.confidence) / 2.0) + upper_quantile(1.0 - self.power)
        return max(FEWEST, math.ceil(reach**2 * variance / self.gain**2))


def _separate(values: list[pl.Series], baseline: float, asked: _Asked) -> dict[str, Any]:
    """Rollouts of each policy on their own."""
    units = min(len(one) for one in values)
    if units < FEWEST:
        raise DataError(
            f"a pilot must have {FEWEST} {asked.words.rollouts} of each {asked.words.policy} or more; got {units}."
        )
    variance = math.fsum(_variance(one) for one in values)
    exact = asked.measure == "success"
    if exact:
        aimed = min(1.0, max(0.0, baseline + asked.gain))
        needed = plan_comparison(aimed, baseline, power=asked.power, confidence=asked.confidence).rollouts
    else:
        needed = asked.needed(variance)
    return {"unit": "rollout of each policy", "units": units, "correlation": None, "spread": math.sqrt(variance),
            "needed": needed, "exact": exact}  # fmt: skip


def _environments(outcomes: list[pl.DataFrame], keys: tuple[str, ...], paired: bool, asked: _Asked) -> dict[str, Any]:
    """Environments that the policies met, once or several times."""
    import polars as pl

    value = pl.col("value")
    sides = [
        known.group_by(keys).agg(
            value.mean().alias(f"mean{at}"), value.var().alias(f"var{at}"), pl.len().alias(f"n{at}")
        )
        for at, known in enumerate(outcomes)
    ]
    met = sides[0].join(sides[1], on=keys, how="inner", nulls_equal=True)
    seen = (met, met) if paired else tuple(sides)
    units = min(side.height for side in seen)
    if units < FEWEST:
        raise DataError(f"a pilot must have {FEWEST} {asked.words.environments} or more; got {units}.")
    each = [_mean(side[f"var{at}"].drop_nulls()) for at, side in enumerate(seen)]  # what one rollout varies by
    within = math.fsum(each)
    noise = math.fsum(one * _mean(1.0 / side[f"n{at}"]) for at, (one, side) in enumerate(zip(each, seen, strict=True)))
    if paired:
        total, correlation = _variance(met["mean0"] - met["mean1"]), _correlation(met)
    else:
        total, correlation = math.fsum(_variance(side[f"mean{at}"]) for at, side in enumerate(seen)), None
    once = all((side[f"n{at}"] == 1).all() for at, side in enumerate(sides))
    found = {"unit": "pair" if paired and once else "environment", "units": units, "correlation": correlation,
             "spread": math.sqrt(total), "exact": False}  # fmt: skip
    if paired and once and asked.measure == "success":
        apart = _mean((met["mean0"] != met["mean1"]).cast(pl.Float64))
        apart = min(1.0, max(apart, abs(asked.gain), 1.0 / (units + 2)))
        ends = (apart + asked.gain) / 2, (apart - asked.gain) / 2
        plan = plan_paired_comparison(*ends, power=asked.power, confidence=asked.confidence)
        return {**found, "needed": plan.rollouts, "exact": True}
    between = max(0.0, total - noise)
    alike = paired and total > 0.0 and all(met[f"n{at}"].n_unique() == 1 for at in (0, 1))

    def many(variance: float) -> int:
        return asked.needed_by_interval(met["mean0"] - met["mean1"], variance) if alike else asked.needed(variance)

    tried = ((times, many(between + within / times)) for times in (() if once else EPOCHS))
    epochs = tuple(EpochsPlan(times, size, 2 * times * size) for times, size in tried)
    return {**found, "needed": many(max(total, noise)), "epochs": epochs, "by_interval": alike}


def _mean(values: pl.Series) -> float:
    return math.fsum(values) / len(values) if len(values) else 0.0


def _variance(values: pl.Series) -> float:
    middle = _mean(values)
    return math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1) if len(values) > 1 else 0.0


def _correlation(met: pl.DataFrame) -> float | None:
    import numpy as np

    one, other = met["mean0"].to_numpy(), met["mean1"].to_numpy()
    if one.std() == 0.0 or other.std() == 0.0:
        return None
    return float(np.corrcoef(one, other)[0, 1])


def _many(count: int, unit: str, words: Words) -> str:
    """``1 pair``, ``40 rollouts of each policy``, ``156 questions``."""
    if unit == "environment":
        return formatting.environments(count, words)
    return (
        formatting.counted(count, unit)
        if unit == "pair"
        else f"{formatting.rollouts(count, words)} of each {words.policy}"
    )
