"""What will a plan cost, and how likely is it to decide? Shown before it is fixed."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.study.decision import rule_of
from surefoot.study.plans import Plan

if TYPE_CHECKING:
    import numpy as np

    from surefoot.planning.assumptions import Law
    from surefoot.sequential.halving import Halve
    from surefoot.sequential.race import Race

RUNS = 2_000
RANKED_RUNS = (10, 4_000)
ROUNDS = {3: 400_000, 4: 100_000, 5: 40_000, 6: 5_000, 7: 500}
"""How many rounds of a ranking are simulated in a few seconds, by the number of policies; of more policies, fewer."""
BEST_RUNS = 400
"""Studies simulated of a race or of halving; fewer of more than 100 policies."""
ENOUGH = 0.8
"""The chance of the right verdict under which a plan is called too small."""
HORIZONS = (50, 100, 200, 500)
"""Horizons that are tried in place of one that is too small: their exact tables are shipped."""
LEAST_RUNS, LISTED_PAIRS = 100, 1_000_000
"""Over a list, at least so many runs, and otherwise as many as have so many items together: a few seconds."""
ON_A_LIST = ((0.65, 0.6), (0.7, 0.6))
GAPS = (0.1, 0.2)
"""Gaps between one of three policies or more and the next, when none is assumed; and the widest that fits."""
USUAL = ((0.7, 0.6), (0.8, 0.6), (0.9, 0.6))


@dataclass(frozen=True, slots=True)
class Expectation(Record):
    """What a study will take if its policies do as assumed.

    Attributes:
        rates: The success rate, or mean score as a share of the range, assumed for each policy.
        rollouts: Rollouts of all policies together, on average.
        most: The most rollouts.
        power: The chance of the right verdict; of three policies or more, that all that is asked is decided.
        exact: Whether these are computed, not simulated.
        runs: Studies simulated; 0 when exact.
        seed: The seed they came from.
        verdict: The right verdict, undecided where the claim is false; none for three policies or more.
        would_do: Of a plan that is too small, the first horizon tried that is not; none when none of them is.
        rollouts_when_equal: Rollouts on average if the first policy were like the second; none without futility.
        power_lost: The power that stopping, or pausing, for futility costs; none without futility.
        settles: What `power` is the chance of, where one policy of many is found: "names one as the best".
    """

    rates: tuple[float, ...]
    rollouts: float
    most: int
    power: float
    exact: bool
    runs: int
    seed: int | None
    verdict: Verdict | None = None
    would_do: int | None = None
    rollouts_when_equal: float | None = None
    power_lost: float | None = None
    settles: str = ""

    @property
    def too_small(self) -> bool:
        """Whether the right verdict is missed more often than one time in five."""
        return self.verdict in (Verdict.BETTER, Verdict.WORSE) and self.power < ENOUGH

    def __str__(self) -> str:
        return f"{self.sentence}{self._warning}"

    @property
    def sentence(self) -> str:
        """What the study will take, and how likely it is to decide."""
        assumed = " v ".join(f"{rate:g}" for rate in self.rates)
        how = "exact" if self.exact else f"{self.runs:,} simulated studies, seed {self.seed}"
        chance = "above 99.99%" if 0.9999 < self.power < 1.0 else formatting.percent(self.power)
        settled = self.settles or ("decides all that is asked" if len(self.rates) > 2 else "decides correctly")
        settled = "correctly decides nothing" if self.verdict is Verdict.UNDECIDED else settled
        return (
            f"{assumed}: {self.rollouts:,.0f} rollouts on average, at most {self.most:,}; "
            f"{settled} with chance {chance} ({how}).{self._giving_up}"
        )

    @property
    def _giving_up(self) -> str:
        if self.power_lost is None:
            return ""
        if self.rollouts_when_equal is None:
            return f" Pausing for futility costs {100.0 * self.power_lost:.1f} points of that chance."
        same = self.rates[0] == self.rates[1]
        equal = "" if same else f" If both were {self.rates[1]:g}: {self.rollouts_when_equal:.0f} rollouts."
        if self.verdict is Verdict.UNDECIDED:
            return equal
        return f"{equal} Stopping for futility costs {100.0 * self.power_lost:.1f} points of that chance."

    @property
    def _warning(self) -> str:
        if not self.too_small:
            return ""
        longest = f"a horizon of {HORIZONS[-1]} is too small as well"
        tried = f"a horizon of {self.would_do} is enough" if self.would_do else longest
        return f" The horizon is too small: that chance is under {ENOUGH:.0%}; {tried}."


def expect(
    plan: Plan,
    rates: Sequence[Law],
    *,
    rng: np.random.Generator | int = 1,
    runs: int | None = None,
    advise: bool = True,
) -> Expectation:
    """Expected sample size and power of a plan, by simulation.

    Args:
        plan: The plan.
        rates: For each policy its success rate; for scores the mean as a share of the range, every score at an end of
            it, which is the hardest case; or its pilot scores.
        rng: A seed or a generator, where it must be simulated.
        runs: Studies to simulate; left out, as many as a few seconds allow.
        advise: Whether to look for a horizon that would do, and for what futility costs.

    Raises:
        StudyError: The plan's rule does not fit it.
    """
    assumed = shares(plan, rates)
    if not plan.in_pairs:
        return _ranking(plan, rates, rng, runs, advise=advise)
    from surefoot.planning.sequential import plan_sequential

    runs = runs or (max(LEAST_RUNS, min(RUNS, LISTED_PAIRS // len(plan.items))) if plan.items else RUNS)
    found = plan_sequential(rule_of(plan), *rates, rng=rng, runs=runs)
    right = _right(plan, *assumed)
    power = found.chances.get(right.value, 0.0)
    told = Expectation(
        rates=assumed,
        rollouts=2.0 * found.expected_pairs,
        most=most_of(plan),
        power=power,
        exact=found.exact,
        runs=found.runs,
        seed=found.seed,
        verdict=right,
        rollouts_when_equal=None if found.pairs_when_equal is None else 2.0 * found.pairs_when_equal,
        power_lost=found.power_lost,
    )
    return replace(told, would_do=_would_do(plan, rates, right)) if advise and told.too_small else told


def most_of(plan: Plan) -> int:
    """The most rollouts that a plan can take."""
    return 2 * plan.horizon if plan.in_pairs else int(rule_of(plan).most)


def shares(plan: Plan, rates: Sequence[Law]) -> tuple[float, ...]:
    """The mean of each policy as a share of the plan's range."""
    from surefoot.planning.assumptions import law_of

    if len(rates) != len(plan.policies):
        raise _check.refused("rates", f"be {len(plan.policies)}, one for each policy", list(rates))
    laws = [None if isinstance(rate, int | float) else law_of(rate, "rates", plan.low, plan.high) for rate in rates]
    return tuple(
        _check.rate(rate, "rates") if law is None else float((law[0] @ law[1] - plan.low) / (plan.high - plan.low))
        for rate, law in zip(rates, laws, strict=True)
    )


def _would_do(plan: Plan, rates: Sequence[Law], right: Verdict) -> int | None:
    """The first of the usual horizons at which the plan would not be too small."""
    from surefoot.planning.sequential import plan_sequential

    whole = len(plan.items)  # of a list at most all
    for horizon in (*(one for one in HORIZONS if one < whole), whole) if plan.items else HORIZONS:
        if horizon > plan.horizon:
            rule = rule_of(plan.amended({"horizon": horizon}))
            if plan_sequential(rule, *rates, rng=1, runs=RUNS).chances.get(right.value, 0.0) >= ENOUGH:
                return horizon
    return None


def _right(plan: Plan, first: float, second: float) -> Verdict:
    """What the rule should say; nothing where the gain is within the margin or the claim is not about it."""
    beyond = (plan.high - plan.low) * abs(first - second) > plan.margin + 1e-12
    if not beyond or (first < second and plan.claim == "first better"):
        return Verdict.UNDECIDED
    return Verdict.BETTER if first > second else Verdict.WORSE


def usual(plan: Plan) -> tuple[tuple[float, ...], ...]:
    """Rates worth looking at when none were assumed."""
    if plan.in_pairs:
        return ON_A_LIST if plan.items else USUAL
    most = 0.8 / (len(plan.policies) - 1)
    steps = [step for step in GAPS if step < most - 1e-9] + [most]
    return tuple(tuple(round(0.9 - step * place, 3) for place in range(len(plan.policies))) for step in steps)


def _ranking(
    plan: Plan, rates: Sequence[Law], rng: np.random.Generator | int, runs: int | None, *, advise: bool
) -> Expectation:
    from surefoot.planning.rankings import plan_ranking
    from surefoot.sequential.halving import Halve
    from surefoot.sequential.race import Race

    rule = rule_of(plan)
    if isinstance(rule, Race | Halve):
        return _of_the_best(plan, rule, rates, rng, runs)
    fewest, most = RANKED_RUNS
    runs = runs or max(fewest, min(most, ROUNDS.get(len(rates), 2_000) // plan.horizon))
    _, seed = _check.generator(rng)
    again = [copy.deepcopy(rng) for _ in range(2)]  # the same draws, for what futility costs
    found = plan_ranking(rule, rates, rng=again[0], runs=runs)
    lost = None
    if plan.futility and advise:
        plain = rule_of(plan.amended({"futility": 0.0}))
        lost = max(0.0, plan_ranking(plain, rates, rng=again[1], runs=runs).complete - found.complete)
    return Expectation(
        rates=shares(plan, rates),
        rollouts=found.expected_rollouts,
        most=found.most,
        power=found.complete,
        exact=False,
        runs=runs,
        seed=seed,
        power_lost=lost,
    )


def _of_the_best(
    plan: Plan, rule: Race | Halve, rates: Sequence[Law], rng: np.random.Generator | int, runs: int | None
) -> Expectation:
    """Of a race the chance that one is named; halving names none: of it the chance that a best one is picked."""
    from surefoot.planning.best_of_many import plan_best

    runs = runs or max(BEST_RUNS // 10, min(BEST_RUNS, 100 * BEST_RUNS // len(rates)))
    found = plan_best(rule, rates, rng=rng, runs=runs)
    near = "as" if plan.within is None else f"within {plan.within:g} of"
    return Expectation(
        rates=shares(plan, rates),
        rollouts=found.expected_rollouts,
        most=found.most,
        power=found.right if found.named is None else found.named,
        exact=False,
        runs=found.runs,
        seed=found.seed,
        settles="picks a best one" if found.named is None else f"names one {near} the best",
    )
