"""Sample size and expected quality of designs that find the best of many policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.numerics.betting import race_bets
from surefoot.numerics.betting.race_bets import running_low
from surefoot.numerics.rates import best_of_many
from surefoot.numerics.rates.best_of_many import HighestOfMany
from surefoot.planning.assumptions import Law, drawn, law_of
from surefoot.sequential.halving import Halve
from surefoot.sequential.race import Race
from surefoot.stats.rates import clopper_pearson_lower
from surefoot.stats.selection import simultaneous_confidence

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints

    Draw = Callable[[Ints, Ints, Ints], Floats]

_CELLS = 40_000  # policies of all studies played side by side


@dataclass(frozen=True, slots=True)
class BestPlan(Record):
    """What finding the best of many policies will take, and bring, if the assumed ones are true.

    Attributes:
        design: How: "race", "halve", or a number of rollouts of each policy.
        means: The mean score assumed for each policy.
        expected_rollouts: Mean rollouts of all policies together.
        standard_error: Of that mean, from the number of studies simulated.
        half: The rollouts that half of the studies stay within.
        most_often: The rollouts that nine studies in ten stay within.
        most: The most there can be.
        named: The chance that one is named as the best, or as `within` so much of it; None where none ever is.
        right: The chance that a best one is picked.
        below: How far below the best the one picked is on average.
        shown: How much too high the number shown for it is on average.
        bound: Its lower bound on average; None for scores.
        within: How far below the best the one named may be.
        runs: Studies simulated.
        seed: The seed they came from; none when drawn from a generator.
    """

    design: str
    means: tuple[float, ...]
    expected_rollouts: float
    standard_error: float
    half: int
    most_often: int
    most: int
    named: float | None
    right: float
    below: float
    shown: float
    bound: float | None
    within: float | None
    runs: int
    seed: int | None = None

    def __str__(self) -> str:
        count = f"{len(self.means):,}"
        if self.half == self.most_often == self.most:
            first = f"{self.design} takes {self.most:,} rollouts."
        else:
            first = (
                f"{self.design} of {count} takes {self.expected_rollouts:,.0f} rollouts on average (half of "
                f"studies stay within {self.half:,}, nine in ten within {self.most_often:,}, at most {self.most:,})."
            )
        near = "" if self.within is None else f" within {self.within:g} of"
        what = f"It names one{near or ' as'} the best with chance {formatting.percent(self.named or 0.0)}; "
        told = "" if self.named is None else what
        lead = "the one named or leading" if self.most > self.half else "the one picked"
        low = "" if self.bound is None else f"; its lower bound is {self.bound:.1%}"
        seeded = "" if self.seed is None else f", seed {self.seed}"
        said = f"{told}{lead} is {self.below:.3f} below the best on average{low}"
        return f"{first} {said[0].upper()}{said[1:]} ({self.runs:,} simulated studies{seeded})."


class _Outcome(NamedTuple):
    """How each of some studies ended."""

    used: Ints
    pick: Ints
    shown: Floats  # the number shown for the one picked
    named: Flags | None
    bound: Floats | None


def plan_best(
    design: Race | Halve | int,
    policies: Sequence[Law],
    *,
    rng: np.random.Generator | int,
    runs: int = 400,
    confidence: float = 0.95,
    correlation: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
) -> BestPlan:
    """Expected rollouts of finding the best of many policies, the chance that it is named, and the expected regret.

    Simulated. With equal numbers, a best one is named where the confidence set for the best holds it alone.

    Args:
        design: A `Race`, a `Halve`, or how many rollouts each policy gets.
        policies: Each policy: a success rate, a chance for each score, or pilot scores to draw from.
        rng: A seed or a generator; kept in the result.
        runs: Studies to simulate.
        confidence: Of the claims with equal numbers; a race and halving have their own.
        correlation: How strongly shared conditions tie the scores of a round, for a race that shares them.
        progress: Called with studies done and studies in all, for a progress bar.

    Example:
        >>> from surefoot import plan_best
        >>> from surefoot.sequential import Race
        >>> plan = plan_best(Race(("a", "b", "c"), 200, binary=True), [0.9, 0.5, 0.4], rng=7, runs=200)
        >>> plan.named > 0.95, plan.expected_rollouts < 110
        (True, True)

    Reference:
        Simulation of the design itself.
    """
    generator, seed = _check.generator(rng)
    runs, tied = _check.whole(runs, "runs", least=1), _check.real(correlation, "correlation")
    if not 0.0 <= tied < 1.0:
        raise _check.refused("correlation", "be from 0 to below 1", correlation)
    if not isinstance(design, Race | Halve | int):
        raise _check.mistyped("design", "be a Race, a Halve or a number of rollouts", design)
    rule = None if isinstance(design, int) else design
    count = len(policies) if rule is None else len(rule.names)
    if len(policies) != count or count < 2:
        raise _check.wrong("policies", f"hold one for each of {max(2, count)} names; got {len(policies)}.", policies)
    ranges: list[Any] = [one for one in (rule, *policies) if isinstance(one, Race | Halve | Scores)]
    low, high = (ranges[0].low, ranges[0].high) if ranges else (0.0, 1.0)
    laws = [law_of(law, f"policies[{place}]", low, high) for place, law in enumerate(policies)]
    means = np.array([float(values @ chances) for values, chances in laws])
    unit = [((values - low) / (high - low), chances) for values, chances in laws]
    binary = all(set(values.tolist()) <= {0.0, 1.0} for values, _ in unit)
    played = _equal(_check.whole(design, "design", least=1), count, confidence) if rule is None else _played(rule)
    block, parts = max(1, _CELLS // count), list[_Outcome]()
    for start in range(0, runs, block):
        size = min(block, runs - start)
        parts.append(played(_drawing(unit, binary, tied, generator), _orders(generator, size, count), binary))
        if progress is not None:
            progress(start + size, runs)
    return _told(design, rule, means, parts, (low, high - low, runs, seed))


def _told(
    design: Any,
    rule: Race | Halve | None,
    means: Floats,
    parts: list[_Outcome],
    of: tuple[float, float, int, int | None],
) -> BestPlan:
    low, width, runs, seed = of
    used, pick, shown = (np.concatenate([getattr(one, name) for one in parts]) for name in ("used", "pick", "shown"))
    named = None if parts[0].named is None else np.concatenate([one.named for one in parts if one.named is not None])
    bound = None if parts[0].bound is None else np.concatenate([one.bound for one in parts if one.bound is not None])
    best = float(means.max())
    names = {Race: "A race", Halve: "Halving"}
    return BestPlan(
        design=f"{len(means):,} x {design:,}" if rule is None else names[type(rule)],
        means=tuple(means.tolist()),
        expected_rollouts=float(used.mean()),
        standard_error=float(used.std() / len(used) ** 0.5),
        half=int(np.quantile(used, 0.5, method="inverted_cdf")),
        most_often=int(np.quantile(used, 0.9, method="inverted_cdf")),
        most=int(design) * len(means) if rule is None else rule.most,
        named=None if named is None else float(named.mean()),
        right=float((means[pick] >= best - 1e-12).mean()),
        below=float((best - means[pick]).mean()),
        shown=float((low + width * shown - means[pick]).mean()),
        bound=None if bound is None else low + width * float(bound.mean()),
        within=getattr(rule, "within", None),
        runs=runs,
        seed=seed,
    )


def _orders(rng: np.random.Generator, studies: int, count: int) -> Ints:
    """Ties broken at random, a row per study."""
    return np.argsort(np.argsort(rng.random((studies, count)), axis=1), axis=1)


def _drawing(unit: list[tuple[Floats, Floats]], binary: bool, tied: float, rng: np.random.Generator) -> Draw:
    """The sum of each policy's next scores."""
    rates = np.array([float(values @ chances) for values, chances in unit])

    def common(rows: Ints, turns: Ints, _: Ints) -> Floats:
        from scipy.special import ndtr

        normal = tied**0.5 * rng.standard_normal((len(rows), 1))
        uniform = ndtr(normal + (1.0 - tied) ** 0.5 * rng.standard_normal(turns.shape))
        scores = np.stack([drawn(*law, uniform[:, place]) for place, law in enumerate(unit)], axis=1)
        return np.where(turns > 0, scores, 0.0)

    def draw(_: Ints, turns: Ints, __: Ints) -> Floats:
        if binary:
            return rng.binomial(turns, rates).astype(float)
        sums = [rng.multinomial(turns[:, place], chances) @ values for place, (values, chances) in enumerate(unit)]
        return np.stack(sums, axis=1)

    return common if tied else draw


def _played(rule: Race | Halve) -> Callable[[Draw, Ints, bool], _Outcome]:
    return _raced(rule) if isinstance(rule, Race) else _halved(rule)


def _raced(rule: Race) -> Callable[[Draw, Ints, bool], _Outcome]:
    error = (1.0 - rule.confidence) / len(rule.names)
    low = cache(running_low)

    def played(draw: Draw, order: Ints, binary: bool) -> _Outcome:
        terms = rule.terms._replace(binary=rule.binary if rule.binary is not None else (True if binary else None))
        end = race_bets.played(race_bets.Race.begin(terms, order, len(order)), draw, not binary)
        rows = np.arange(len(order))
        pick = np.where(end.named >= 0, end.named, end.host)
        wins, used = end.sums[rows, pick], end.counts[rows, pick]
        lows = [low(round(w), n - round(w), error) for w, n in zip(wins.tolist(), used.tolist(), strict=True)]
        bound = np.array(lows) if binary else None
        return _Outcome(end.counts.sum(axis=1), pick, wins / used, end.named >= 0, bound)

    return played


def _halved(rule: Halve) -> Callable[[Draw, Ints, bool], _Outcome]:
    def played(draw: Draw, order: Ints, binary: bool) -> _Outcome:
        end = best_of_many.halved(rule.stages, rule.budget, order, draw)
        bound = _lower(end.fresh, end.rollouts, rule.confidence) if binary else None
        return _Outcome(end.counts.sum(axis=1), end.pick, end.fresh / end.rollouts, None, bound)

    return played


def _equal(each: int, count: int, confidence: float) -> Callable[[Draw, Ints, bool], _Outcome]:
    """Each policy runs as often; one is named where the shortlist holds it alone, which the second highest decides."""
    known: dict[tuple[float, float], bool] = {}

    def alone(wins: Floats) -> bool:
        second, first = np.argsort(wins)[-2:]
        key = float(wins[first]), float(wins[second])
        if key not in known:
            test = HighestOfMany(wins.astype(int).tolist(), [each] * count)
            known[key] = test.p_value(int(second)) <= 1.0 - confidence
        return known[key]

    def played(draw: Draw, order: Ints, binary: bool) -> _Outcome:
        sums = draw(np.arange(len(order)), np.full(order.shape, each), np.zeros(order.shape, np.int64))
        pick = np.lexsort((order, -sums), axis=1)[:, 0]
        top = sums[np.arange(len(order)), pick]
        named = np.array([alone(row) for row in sums]) if binary else None
        bound = _lower(top, each, simultaneous_confidence(count, confidence)) if binary else None
        return _Outcome(np.full(len(order), each * count), pick, top / each, named, bound)

    return played


def _lower(wins: Floats, trials: int, confidence: float) -> Floats:
    bounds = {w: clopper_pearson_lower(Tally(w, trials), confidence=confidence).value for w in set(wins.astype(int))}
    return np.array([bounds[w] for w in wins.astype(int)])


def pulled_together(tallies: Sequence[Tally]) -> tuple[float, ...]:
    """The success rates of earlier tallies, moved towards their mean by what chance alone spreads them.

    Rates from few rollouts differ more than the policies do; a plan made from them as they are promises too much.

    Args:
        tallies: Of each policy.

    Reference:
        Efron and Morris (1973), "Stein's estimation rule and its competitors", with the spread by moments.
    """
    rates = np.array([one.rate for one in tallies])
    noise = float(np.mean([one.rate * (1.0 - one.rate) / max(1, one.trials - 1) for one in tallies]))
    spread = float(rates.var(ddof=1))
    kept = max(0.0, 1.0 - noise / spread) if spread > 0.0 else 0.0
    return tuple((rates.mean() + kept * (rates - rates.mean())).tolist())
