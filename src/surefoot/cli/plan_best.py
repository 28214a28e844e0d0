"""`surefoot plan race`, `plan halve` and `plan best`: what does finding the best of many policies take, and bring?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import surefoot as sf
from surefoot import _check
from surefoot.cli import files, modes, terminal
from surefoot.core import formatting

if TYPE_CHECKING:
    from surefoot.planning.assumptions import Law
    from surefoot.planning.best_of_many import BestPlan

Policies = Annotated[
    int | None,
    typer.Option("--policies", help="How many policies; without rates, evenly from 50% to 90% is assumed."),
]
Rates = Annotated[str | None, typer.Option("--rates", help="The success rate assumed for each: 0.9,0.7,0.5.")]
Curve = Annotated[
    str | None,
    typer.Option("--curve", help="A learning curve along the --policies, at even steps: 0.2,0.6,0.8,0.8,0.7."),
]
Pilot = Annotated[
    Path | None,
    typer.Option(
        "--from", help="An earlier file; its rates are shrunk towards their mean by what chance alone spreads."
    ),
]
Horizon = Annotated[int, typer.Option("--horizon", help="The most rounds of a race.")]
Within = Annotated[float | None, typer.Option("--within", help="How far below the best the one named may be: 0.05.")]
Runs = Annotated[int, typer.Option("--runs", help="Studies to simulate for each row.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the simulation.")]

MOST = 1_000
"""The most policies of which the best is found."""
SPREAD = (0.5, 0.9)
"""The rates assumed where nothing is said, from the poorest policy to the best."""
EACH = 50
"""Rollouts of each policy with equal numbers, where no budget is given: what most people run."""


class AssumedPolicies(NamedTuple):
    """What is assumed of the policies, and how that is said."""

    laws: list[Law]
    ends: dict[str, Any]
    said: str

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each."""
        return tuple(f"policy {place}" for place in range(1, len(self.laws) + 1))


@modes.of("plan race")
def race(
    policies: Policies = None,
    rates: Rates = None,
    curve: Curve = None,
    pilot: Pilot = None,
    horizon: Horizon = 200,
    within: Within = None,
    budget: Annotated[int | None, typer.Option(help="The most rollouts of all, in place of --horizon.")] = None,
    runs: Runs = 400,
    seed: Seed = 0,
    score: files.Score = None,
    low: files.Low = None,
    high: files.High = None,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """How many rollouts does a race take to name the best of many?

    Every policy still in runs once a round, the leader more often; whoever is out stops at once. The study is run with
    question = "best" in its plan. The rows below it: as many rollouts in equal numbers, and 50 of each.

    Examples:

        surefoot plan race --policies 20

        surefoot plan race --policies 20 --curve 0.2,0.5,0.7,0.8,0.8,0.7 --within 0.05

        surefoot plan race --from checkpoints.csv --horizon 400
    """
    given = _assumed(policies, rates, curve, pilot, files.Reading(score=score, low=low, high=high))
    told: dict[str, Any] = {"within": within, "budget": budget, "confidence": confidence, **given.ends}
    design = sf.sequential.Race(given.names, _check.whole(horizon, "--horizon", least=2), **told)
    first = _simulated(design, given, runs, seed, confidence)
    equal = max(1, round(first.expected_rollouts / len(given.laws)))
    _show([first], [equal, EACH], given, (runs, seed, confidence), as_json)


@modes.of("plan halve")
def halve(
    budget: Annotated[int, typer.Option("--budget", help="The rollouts of all policies together.")],
    policies: Policies = None,
    rates: Rates = None,
    curve: Curve = None,
    pilot: Pilot = None,
    runs: Runs = 2000,
    seed: Seed = 0,
    score: files.Score = None,
    low: files.Low = None,
    high: files.High = None,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """How good is the pick of halving, and the bound on its rate?

    Whoever is in the lower half of a stage leaves; the one picked is run afresh, which gives an unbiased number. The
    study is run with rule = "halve" and the budget in its plan. The rows below it: the same budget in equal numbers,
    and 50 rollouts of each.

    Examples:

        surefoot plan halve --policies 20 --budget 500

        surefoot plan halve --from checkpoints.csv --budget 500
    """
    given = _assumed(policies, rates, curve, pilot, files.Reading(score=score, low=low, high=high))
    design = sf.sequential.Halve(given.names, budget=budget, confidence=confidence, **given.ends)
    first = _simulated(design, given, runs, seed, confidence)
    if not as_json:
        stages = ", then ".join(f"{one.policies:,} x {one.rollouts:,}" for one in design.stages)
        typer.echo(f"Stages: {stages}, then {formatting.rollouts(design.fresh)} afresh of the one picked.")
    _show([first], [max(1, budget // len(given.laws)), EACH], given, (runs, seed, confidence), as_json)


@modes.of("plan best")
def best(
    policies: Policies = None,
    rates: Rates = None,
    curve: Curve = None,
    pilot: Pilot = None,
    budget: Annotated[int | None, typer.Option("--budget", help="Of halving, and of equal numbers.")] = None,
    horizon: Horizon = 200,
    within: Within = None,
    runs: Runs = 400,
    seed: Seed = 0,
    score: files.Score = None,
    low: files.Low = None,
    high: files.High = None,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """Which finds the best of many: a race, halving, equal numbers?

    Without a budget, 50 rollouts for each policy.

    Examples:

        surefoot plan best --policies 20

        surefoot plan best --policies 20 --budget 500 --within 0.05
    """
    given = _assumed(policies, rates, curve, pilot, files.Reading(score=score, low=low, high=high))
    count = len(given.laws)
    most = _check.whole(EACH * count if budget is None else budget, "--budget", least=count)
    told: dict[str, Any] = {"confidence": confidence, **given.ends}
    rounds, near = _check.whole(horizon, "--horizon", least=2), 0.05 * (given.ends["high"] - given.ends["low"])
    race_, nearly = (sf.sequential.Race(given.names, rounds, within=far, **told) for far in (None, within or near))
    halves = sf.sequential.Halve(given.names, budget=most, **told)
    made = [_simulated(design, given, runs, seed, confidence) for design in (halves, race_, nearly)]
    _show(made, [max(1, most // count)], given, (runs, seed, confidence), as_json)


def _simulated(design: Any, given: AssumedPolicies, runs: int, seed: int, confidence: float) -> BestPlan:
    what = design.title if hasattr(design, "title") else "equal numbers"
    return sf.plan_best(
        design, given.laws, rng=seed, runs=runs, confidence=confidence, progress=files.progress(f"simulating, {what}")
    )


def _show(
    plans: list[BestPlan], equal: list[int], given: AssumedPolicies, drawn: tuple[int, int, float], as_json: bool
) -> None:
    runs, seed, confidence = drawn
    beside = [_simulated(each, given, runs, seed, confidence) for each in dict.fromkeys(equal)]
    if as_json:
        terminal.show_json({"assumed": given.said, "plans": [one.to_dict() for one in (*plans, *beside)]})
        return
    if len(plans) == 1:
        from surefoot.study.expectations import ENOUGH

        typer.echo(str(plans[0]))
        if plans[0].named is not None and plans[0].named < ENOUGH:
            typer.echo(f"Too small: one is named with a chance below {ENOUGH:.0%}. Try a longer race or --within.")
    typer.echo(given.said)
    typer.echo()
    terminal.table(
        ["design", "rollouts", "9 in 10 within", "names one", "picks a best", "below the best", "shown", "bound"],
        [
            [
                one.design + ("" if one.within is None else f", within {one.within:g}"),
                f"{one.expected_rollouts:,.0f}",
                f"{one.most_often:,}",
                "" if one.named is None else f"{one.named:.0%}",
                f"{one.right:.0%}",
                f"{one.below:.3f}",
                f"{one.shown:+.3f}",
                "" if one.bound is None else f"{one.bound:.3f}",
            ]
            for one in (*plans, *beside)
        ],
    )
    typer.echo("Below the best: how far the pick is, on average; shown: how much too high its number is; bound: lower.")


def _assumed(
    policies: int | None,
    rates: str | None,
    curve: str | None,
    pilot: Path | None,
    reading: files.Reading,
) -> AssumedPolicies:
    """What is assumed of the policies: by rates, a learning curve, an earlier file, or evenly spread."""
    if pilot is not None:
        return _of_file(pilot, reading)
    binary = {"low": 0.0, "high": 1.0, "binary": True}
    if rates is not None:
        listed = _numbers(rates, "--rates", 2)
        return AssumedPolicies(list(listed), binary, f"Assumed: {len(listed):,} success rates as given.")
    count = _check.whole(policies, "--policies", least=2)
    if count > MOST:
        raise _check.refused("--policies", f"be at most {MOST:,}", count)
    points = SPREAD if curve is None else _numbers(curve, "--curve", 2)
    told = "evenly spread from 50% to 90%; say --rates, --curve or --from" if curve is None else "along the curve"
    return AssumedPolicies(_along(points, count), binary, f"Assumed: {count:,} success rates {told}.")


def _along(points: tuple[float, ...], count: int) -> list[Law]:
    """So many rates at even steps of a curve."""
    import numpy as np

    found: list[Law] = np.interp(np.linspace(0, len(points) - 1, count), range(len(points)), points).tolist()
    return found


def _numbers(words: str, option: str, least: int) -> tuple[float, ...]:
    given = [word for word in words.replace(" ", "").split(",") if word]
    if len(given) < least or not all(map(terminal.is_number, given)):
        raise _check.refused(option, f"be {least} or more rates, such as 0.9,0.7,0.5", words)
    return tuple(_check.rate(float(word), option) for word in given)


def _of_file(path: Path, reading: files.Reading) -> AssumedPolicies:
    from surefoot.planning.best_of_many import pulled_together

    table = files.table([path], reading)
    what, names = files.measure_of(table, reading.score), table.policies
    if len(names) < 2:
        raise _check.refused("--from", "hold two policies or more", len(names))
    if what == "success":
        pulled = pulled_together([table.where(policy=name).tally() for name in names])
        spread = f"from {min(pulled):.0%} to {max(pulled):.0%}"
        told = f"Assumed: the {len(pulled):,} success rates of {path.name}, shrunk towards their mean: {spread}."
        return AssumedPolicies(list(pulled), {"low": 0.0, "high": 1.0, "binary": True}, told)
    ends = {"low": table.low, "high": table.high, "binary": None}
    known = {name: [v for v in table.where(policy=name).column(what) if v is not None] for name in names}
    laws: list[Law] = [sf.Scores(list(map(float, values)), table.low, table.high) for values in known.values()]
    return AssumedPolicies(
        laws, ends, f"Assumed: scores drawn from those of {path.name}; chance has spread their means."
    )
