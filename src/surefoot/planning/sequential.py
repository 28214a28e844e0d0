"""Expected sample size and power of a sequential rule."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot import _check
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.numerics import arrays
from surefoot.planning.assumptions import Law, drawn, law_of
from surefoot.sequential.rules import CLAIMED, CODES, Rule
from surefoot.sequential.simulation import block_rows, simulate

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


_LONGEST = 20_000_000  # the longest horizon that is simulated: its scores are held at once


@dataclass(frozen=True, slots=True)
class SequentialPlan(Record):
    """What a sequential rule will do if the assumed policies are true.

    Attributes:
        rule: The rule.
        first: The mean score assumed for the first policy.
        second: The mean score assumed for the second policy.
        power: The chance of the verdict the rule is after: under the claim "either" that of the better policy, and of
            any verdict where the means are equal.
        expected_pairs: Mean pairs used, an undecided run counted with all of them.
        chances: The chance of every verdict, by name.
        stopping: The chance to stop at exactly 1, 2, ... pairs; undecided runs stop at the horizon.
        exact: Whether these are computed, not simulated.
        runs: Sequences simulated; 0 when exact.
        seed: The seed they came from; none when exact or drawn from a generator.
        correlation: How strongly the two policies' scores were tied within a pair.
        pairs_when_equal: Mean pairs used if the first policy were like the second; none where the rule declares no
            futility.
        power_lost: The power that stopping for futility costs; none where the rule declares none.
    """

    rule: Rule[Any]
    first: float
    second: float
    power: float
    expected_pairs: float
    chances: dict[str, float]
    stopping: tuple[float, ...]
    exact: bool = False
    runs: int = 0
    seed: int | None = None
    correlation: float = 0.0
    pairs_when_equal: float | None = None
    power_lost: float | None = None

    @property
    def saving(self) -> float:
        """The share of the horizon that is not run, on average."""
        return 1.0 - self.expected_pairs / self.rule.horizon

    def quantile(self, share: float) -> int:
        """The pairs by which this share of runs has stopped."""
        share = _check.rate(share, "share")
        stopped = np.cumsum(self.stopping)
        return int(np.searchsorted(stopped, min(share - 1e-12, stopped[-1]))) + 1

    @property
    def power_error(self) -> float:
        """The standard error of the power; 0 when exact."""
        return 0.0 if self.exact else (self.power * (1.0 - self.power) / self.runs) ** 0.5

    def __str__(self) -> str:
        seeded = "" if self.seed is None else f", seed {self.seed}"
        how = "computed exactly" if self.exact else f"{self.runs:,} simulated runs{seeded}"
        listed = "" if self.rule.population is None else f"on this list of {self.rule.population:,} "
        told = (
            f"{self.expected_pairs:.1f} pairs on average (half of the runs stop by {self.quantile(0.5)}, "
            f"nine in ten by {self.quantile(0.9)}, at most {self.rule.horizon:,}), power {self.power:.1%}, "
            f"if {listed}the means are {self.first:g} and {self.second:g} ({self.rule.title}; {how})."
        )
        if self.pairs_when_equal is None or self.power_lost is None:
            return told
        return (
            f"{told} If both were like the second: {self.pairs_when_equal:.1f} pairs. Stopping for futility costs "
            f"{100.0 * self.power_lost:.1f} points of power."
        )


def plan_sequential(
    rule: Rule[Any],
    first: Law,
    second: Law,
    *,
    rng: np.random.Generator | int,
    runs: int = 10_000,
    correlation: float = 0.0,
) -> SequentialPlan:
    """Expected sample size, stopping times and power of a sequential rule, by simulation.

    A rule that can compute its own chances for two success rates does so, `ExactPairedBinary` also when outcomes are
    tied by their environment; all others are simulated. Where the rule is about a list, so are the means: every list
    drawn has them exactly, and is run in a random order.

    Args:
        rule: The rule to be declared.
        first: The first policy: a success rate, a chance for each score, or pilot scores to draw from.
        second: The second policy, likewise.
        rng: A seed or a generator; kept in the result.
        runs: Sequences to simulate.
        correlation: How strongly the two scores of a pair are tied by their environment (a Gaussian copula).

    Example:
        >>> from surefoot import plan_sequential
        >>> from surefoot.sequential import FiniteHorizonMixture
        >>> plan = plan_sequential(FiniteHorizonMixture(100, binary=True), 0.9, 0.6, rng=7, runs=2000)
        >>> plan.power > 0.95, plan.expected_pairs < 40
        (True, True)

    Reference:
        Snyder et al. (2026), section IV: decision time and power.
    """
    if not isinstance(rule, Rule):
        raise _check.mistyped("rule", "be a rule such as FiniteHorizonMixture(200)", rule)
    generator, seed = _check.generator(rng)
    again = [copy.deepcopy(generator) for _ in range(2)]  # the same draws, for what futility saves and costs
    runs = _check.whole(runs, "runs", least=1)
    correlation = _check.real(correlation, "correlation")
    if not -1.0 < correlation < 1.0:
        raise _check.refused("correlation", "be strictly between -1 and 1", correlation)
    laws = [law_of(law, name, rule.low, rule.high) for law, name in ((first, "first"), (second, "second"))]
    plan = _planned(rule, laws, correlation, runs, (generator, seed))
    if not rule.futility:
        return plan
    equal = _planned(rule, [laws[1], laws[1]], correlation, runs, (again[0], seed))
    plain: Rule[Any] = replace(rule, futility=0.0)  # type: ignore[call-arg]
    lost = _planned(plain, laws, correlation, runs, (again[1], seed)).power - plan.power
    return replace(plan, pairs_when_equal=equal.expected_pairs, power_lost=max(0.0, lost))


def _planned(
    rule: Rule[Any],
    laws: list[tuple[Floats, Floats]],
    correlation: float,
    runs: int,
    drawn_from: tuple[np.random.Generator, int | None],
) -> SequentialPlan:
    """What the rule will do, computed where it can be."""
    generator, seed = drawn_from
    means = [float(values @ chances) for values, chances in laws]
    if (known := _exact_stopping(rule, laws, correlation)) is not None:
        stopping, chances = known
        return _plan(rule, means, stopping, chances, exact=True, correlation=correlation)
    if rule.horizon > _LONGEST:
        raise _check.refused("horizon", f"be at most {_LONGEST:,} to be simulated", rule.horizon)
    if (rule.population or 0) > _LONGEST:
        raise _check.refused("population", f"be at most {_LONGEST:,} to be simulated", rule.population)
    parts = arrays.seeded(runs, block_rows(rule.population or rule.horizon), generator)
    times, verdicts = zip(*arrays.spread(_simulated, [(rule, laws, correlation, *part) for part in parts]), strict=True)
    shares = {verdict.value: int(count) / runs for verdict, count in zip(CODES, sum(verdicts), strict=True)}
    return _plan(rule, means, sum(times) / runs, shares, runs=runs, seed=seed, correlation=correlation)


def _simulated(
    rule: Rule[Any], laws: list[tuple[Floats, Floats]], correlation: float, runs: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """How many runs stopped at 1, 2, ... pairs, and how many ended in each verdict of `CODES`."""
    uniforms = _uniforms(rng, (runs, rule.population or rule.horizon), correlation)
    if rule.population is not None:
        uniforms = _spread(uniforms[0])[:, : rule.horizon], _spread(uniforms[1])[:, : rule.horizon]
    done = simulate(rule, *(drawn(*law, uniform) for law, uniform in zip(laws, uniforms, strict=True)))
    ended = np.array([np.count_nonzero(done.verdicts == verdict) for verdict in CODES])
    return np.bincount(done.stopping_times - 1, minlength=rule.horizon), ended


def _exact_stopping(
    rule: Rule[Any], laws: list[tuple[Floats, Floats]], correlation: float
) -> tuple[Floats, dict[str, float]] | None:
    """Stopping chances and verdict chances of a rule that computes them (`operating`, `tied`); none where it cannot."""
    if any(not set(values.tolist()) <= {rule.low, rule.high} for values, _ in laws):
        return None
    first, second = (float(chances[values == rule.high].sum()) for values, chances in laws)
    if not correlation:
        known = rule.operating(first, second)
    else:
        from surefoot.numerics.designs.exact_designs import copula

        known = rule.tied(
            first, second, float(copula(*(np.array([value]) for value in (first, second, correlation)))[0])
        )
    return None if known is None else (np.asarray(known[0], float), dict(known[1]))


def _plan(
    rule: Rule[Any], means: list[float], stopping: Floats, chances: dict[str, float], **how: Any
) -> SequentialPlan:
    after = CLAIMED[rule.claim]
    if rule.claim == "either" and means[0] != means[1]:
        after = frozenset({Verdict.BETTER if means[0] > means[1] else Verdict.WORSE})
    return SequentialPlan(
        rule=rule,
        first=means[0],
        second=means[1],
        power=float(sum(chances.get(verdict.value, 0.0) for verdict in after)),
        expected_pairs=float(np.sum(stopping * np.arange(1, len(stopping) + 1))),
        chances={name: float(chance) for name, chance in chances.items()},
        stopping=tuple(stopping.tolist()),
        **how,
    )


def _spread(uniforms: Floats) -> Floats:
    """The same order in every row, but evenly spaced: scores drawn by it have the mean of their law."""
    ranks = np.argsort(np.argsort(uniforms, axis=1), axis=1)
    evenly: Floats = (ranks + 0.5) / uniforms.shape[1]
    return evenly


def _uniforms(rng: np.random.Generator, shape: tuple[int, int], correlation: float) -> tuple[Floats, Floats]:
    if correlation == 0.0:
        return rng.random(shape), rng.random(shape)
    from scipy.special import ndtr

    one = rng.standard_normal(shape)
    other = correlation * one + (1.0 - correlation**2) ** 0.5 * rng.standard_normal(shape)
    return ndtr(one), ndtr(other)
