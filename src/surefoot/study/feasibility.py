"""Which questions the rollouts of a plan can answer, and what to ask instead."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.errors import StudyError
from surefoot.study.decision import rule_of
from surefoot.study.expectations import ENOUGH, HORIZONS, ROUNDS, Expectation, expect, most_of, shares

if TYPE_CHECKING:
    from surefoot.planning.assumptions import Law
    from surefoot.study.plans import Plan

MOST_TIMES = 16
"""A question that takes more rollouts than so many times those planned is not looked for further."""
SEARCHED = 1_000
"""The most studies simulated for each number of rollouts and each question that are tried instead."""
FEW = 5
"""Of more policies a chance takes seconds to simulate, and nothing is tried instead."""
GAINS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""Gains of two policies that are tried in place of one that is too small to be found."""


@dataclass(frozen=True, slots=True)
class Feasibility(Record):
    """What the rollouts of a plan can answer if its policies do as assumed.

    Attributes:
        policies: The policies.
        rates: The success rate, or mean score as a share of the range, assumed for each.
        rollouts: The most rollouts of the plan.
        hours: The hours that they take; none where the plan names no times.
        asked: The question that the plan asks.
        chances: The chance that each question is answered, the one asked first.
        findable: Whether there is anything to find: policies that are alike cannot be told apart by any number.
        needed: About how many rollouts answer the question asked with a chance of 80%; none where it is enough, or
            where even 16 times the rollouts are not.
        needed_hours: The hours that those take.
        drop: The policy without which the rest could be told apart; empty where that is none.
        instead: Another question that the rollouts can answer; empty where there is none.
        gain: Of two policies, the smallest gain tried that the rollouts find with a chance of 80%.
    """

    policies: tuple[str, ...]
    rates: tuple[float, ...]
    rollouts: int
    hours: float | None
    asked: str
    chances: dict[str, float]
    findable: bool
    needed: int | None = None
    needed_hours: float | None = None
    drop: str = ""
    instead: str = ""
    gain: float | None = None

    @property
    def chance(self) -> float:
        """The chance that the question asked is answered."""
        return self.chances[self.asked]

    @property
    def too_small(self) -> bool:
        """Whether the question asked is left open more often than one time in five."""
        return self.findable and self.chance < ENOUGH

    def __str__(self) -> str:
        size = len(self.policies)
        told = [
            f"{_done(name, size)} with chance {_percent(chance)}"
            for name, chance in self.chances.items()
            if not name.startswith("against ") or name == self.asked or chance >= ENOUGH > self.chance
        ]
        budget = formatting.rollouts(self.rollouts)
        start = budget if self.hours is None else f"{_hours(self.hours)} are {budget}"
        assumed = " v ".join(f"{rate:.3g}" for rate in self.rates)
        if not self.findable:
            found = f"; with chance {_percent(self.chance)} nothing is found" if size == 2 else ""
            return f"{start}: at {assumed} there is nothing to find{found}."
        return f"{start}: {', '.join(told)}, at {assumed}.{self._cure}"

    @property
    def _cure(self) -> str:
        if not self.too_small:
            return ""
        ways = []
        if self.needed is not None:
            rollouts = f"about {formatting.rollouts(self.needed)}"
            ways.append(rollouts if self.needed_hours is None else f"{_hours(self.needed_hours)} ({rollouts})")
        ways += [f"drop {self.drop}"] if self.drop else []
        ways += [f"ask question = {self.instead!r}"] if self.instead else []
        ways += [f"look for a gain of {100 * self.gain:g} points or more"] if self.gain is not None else []
        if not ways:
            more = f" {MOST_TIMES} times as many rollouts are too few as well." if len(self.policies) <= FEW else ""
            return f" Too small: that chance is below {ENOUGH:.0%}.{more}"
        return f" Too small: for {ENOUGH:.0%}: {', or '.join(ways)}."


def _percent(chance: float) -> str:
    """A chance, rounded down, so that 79.9% is no 80%."""
    return f"{math.floor(100.0 * chance + 1e-9)}%"


def _hours(hours: float) -> str:
    return (
        formatting.counted(math.ceil(hours - 1e-9), "hour") if hours >= 10 or hours % 1 == 0 else f"{hours:.1f} hours"
    )


def _done(question: str, size: int) -> str:
    """What answering a question is, as a verb."""
    if size == 2 and question == "ranking":
        return "finds the better one of 2"
    if question == "ranking":
        return f"ranks all {size}"
    if question.startswith("against "):
        return f"tells each from {question.removeprefix('against ')}"
    return f"finds the best of {size}{', perhaps tied,' if question == 'best or tied' else ''}"


def feasible(
    plan: Plan, rates: Sequence[Law], *, rng: int = 1, runs: int | None = None, expected: Expectation | None = None
) -> Feasibility:
    """Which questions the rollouts of a plan can answer, and what the one asked would take.

    Args:
        plan: The plan.
        rates: For each policy what it is assumed to do: a success rate, for scores the mean as a share of the range, or
            pilot scores.
        rng: A seed.
        runs: Studies to simulate for each chance; left out, as many as a few seconds allow.
        expected: What the plan is expected to do at these rates, where that is known.

    Raises:
        StudyError: The plan's rule does not fit it.
    """
    assumed, rollouts = shares(plan, rates), most_of(plan)
    known = {} if expected is None else {plan.question: expected.power}
    chances = {name: known[name] if name in known else _chance(one, rates, rng, runs) for name, one in _questions(plan)}
    hours = None if plan.time_budget is None else plan.time_budget.hours_for(rollouts)
    found = Feasibility(
        policies=plan.policies,
        rates=assumed,
        rollouts=rollouts,
        hours=hours,
        asked=plan.question,
        chances=chances,
        findable=_findable(plan, plan.question, assumed),
    )
    if not found.too_small or len(plan.policies) > FEW:
        return found
    runs = min(runs or SEARCHED, SEARCHED)
    needed = _needed(plan, rates, found.chance, rng, runs)
    cures: dict[str, Any] = {"needed": needed}
    if needed is not None and plan.time_budget is not None:
        cures["needed_hours"] = plan.time_budget.hours_for(needed)
    if plan.in_pairs:
        cures["gain"] = _gain(plan, assumed, rng, runs)
    else:
        cures["drop"] = _dropped(plan, rates, assumed, rng, runs)
        cures["instead"] = next((name for name, chance in chances.items() if chance >= ENOUGH), "")
    return dataclasses.replace(found, **cures)


def table(rows: Sequence[Feasibility]) -> str:
    """Chances and what 80% takes, a line for each set of assumed rates: for whoever has no idea what they are."""
    if not rows:
        return ""
    first = rows[0]
    asked = [name for name in first.chances if not name.startswith("against ") or name == first.asked]
    head = ["if the rates are", *(_done(name, len(first.policies)) for name in asked), f"for {ENOUGH:.0%}"]
    lines = [head]
    for row in rows:
        rates = " v ".join(f"{rate:.3g}" for rate in row.rates)
        lines.append([rates, *(_percent(row.chances[name]) for name in asked), _takes(row)])
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _takes(row: Feasibility) -> str:
    """What the question asked takes for a chance of 80%, in a few words."""
    if not row.findable:
        return "nothing to find"
    if row.chance >= ENOUGH:
        return "enough"
    if row.needed is None:
        return f"too small{f': over {MOST_TIMES} times as many' if len(row.policies) <= FEW else ''}"
    needed = formatting.rollouts(row.needed) if row.needed_hours is None else _hours(row.needed_hours)
    return f"too small: about {needed}"


def _questions(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """The question asked, and the others that could be asked of as many policies."""
    yield plan.question, plan
    if not plan.in_pairs and len(plan.policies) <= FEW:
        for question in ("best", "ranking", f"against {plan.policies[0]}"):
            if question != plan.question and not (question == "ranking" and len(plan.policies) == 2):
                other = _asking(plan, plan.policies, question)
                with contextlib.suppress(StudyError):  # no rule answers it of so many policies
                    rule_of(other)
                    yield question, other


def _asking(
    plan: Plan, policies: tuple[str, ...], question: str, horizon: int | None = None, within: float | None = None
) -> Plan:
    """The plan of another question, of some of its policies."""
    details = tuple(one for one in plan.policy_details if one.name in policies)
    other: dict[str, Any] = {"policies": policies, "policy_details": details, "question": question}
    fitting: dict[str, Any] = {"rule": None, "within": within, "budget": None, "futility": None}
    return dataclasses.replace(plan, **other, **fitting, horizon=horizon or plan.horizon)


def _chance(plan: Plan, rates: Sequence[Law], rng: int, runs: int | None) -> float:
    if runs is not None and not plan.in_pairs:
        runs = max(50, min(runs, ROUNDS.get(len(plan.policies), 1_000) // (4 * plan.horizon)))
    return expect(plan, rates, rng=rng, runs=runs, advise=False).power


def _findable(plan: Plan, question: str, rates: Sequence[float]) -> bool:
    """Whether the assumed rates differ where the question asks."""
    if plan.in_pairs:
        return abs(rates[0] - rates[1]) * (plan.high - plan.low) > plan.margin + 1e-12 and (
            plan.claim == "either" or rates[0] > rates[1]
        )
    if question.startswith("against "):
        base = rates[plan.policies.index(question.removeprefix("against "))]
        return sum(rate == base for rate in rates) == 1
    if question.startswith("best"):
        return question == "best or tied" or plan.within is not None or list(rates).count(max(rates)) == 1
    return len(set(rates)) == len(rates)


def _needed(plan: Plan, rates: Sequence[Law], chance: float, rng: int, runs: int) -> int | None:
    """About how many rollouts answer the question with a chance of 80%: between two horizons, on the normal scale."""
    before, tried = (plan.horizon, chance), list(_longer(plan))
    for horizon in tried:
        other = _asking(plan, plan.policies, plan.question, horizon, plan.within)
        after = (horizon, _chance(other, rates, rng, runs))
        if after[1] >= ENOUGH:
            return len(plan.policies) * _between(before, after)
        before = after
    return None


def _longer(plan: Plan) -> Iterator[int]:
    if plan.in_pairs and plan.measure == "success":  # their exact tables are shipped
        yield from (one for one in HORIZONS if plan.horizon < one <= MOST_TIMES * plan.horizon)
        return
    horizon = plan.horizon
    while horizon < MOST_TIMES * plan.horizon:
        horizon = math.ceil(horizon * 1.5)
        yield horizon


def _between(low: tuple[int, float], high: tuple[int, float]) -> int:
    """The horizon at which the chance is 80%, where the normal quantile of the chance rises with the root."""
    quantile = NormalDist().inv_cdf
    start, end, wanted = (quantile(min(max(chance, 1e-4), 1 - 1e-4)) for chance in (low[1], high[1], ENOUGH))
    share = (wanted - start) / (end - start) if end > start else 1.0
    root = low[0] ** 0.5 + share * (high[0] ** 0.5 - low[0] ** 0.5)
    return int(min(high[0], math.ceil(root**2)))


def _dropped(plan: Plan, rates: Sequence[Law], assumed: Sequence[float], rng: int, runs: int) -> str:
    """The policy without which the rest are told apart by the same rollouts; empty where there is none."""
    best, found = ENOUGH, ""
    total = plan.horizon * len(plan.policies)
    for place, name in enumerate(plan.policies):
        rest = tuple(one for one in plan.policies if one != name)
        if assumed[place] == max(assumed) or len(rest) < 2 or plan.question == f"against {name}":
            continue
        question = "ranking" if len(rest) == 2 else plan.question
        other = _asking(plan, rest, question, total // len(rest))
        left = [rate for at, rate in enumerate(rates) if at != place]
        if _findable(other, question, shares(other, left)) and (chance := _chance(other, left, rng, runs)) >= best:
            best, found = chance, name
    return found


def _gain(plan: Plan, assumed: Sequence[float], rng: int, runs: int) -> float | None:
    """The smallest gain tried that the rollouts find with a chance of 80%, around the same mean rate."""
    middle = (assumed[0] + assumed[1]) / 2.0
    for gain in GAINS:
        if gain > abs(assumed[0] - assumed[1]):
            first = min(1.0, middle + gain / 2.0)
            rates = (first, max(0.0, first - gain)) if first < 1.0 else (1.0, 1.0 - gain)
            order = rates if assumed[0] > assumed[1] else rates[::-1]
            if _chance(plan, order, rng, runs) >= ENOUGH:
                return gain
    return None
