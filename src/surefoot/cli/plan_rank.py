"""`surefoot plan rank`: how many rollouts rank many policies?"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import surefoot as sf
from surefoot import _check
from surefoot.cli import files, modes, terminal
from surefoot.sequential import registry
from surefoot.sequential.validity import declared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from surefoot.planning.assumptions import Law
    from surefoot.planning.rankings import RankingPlan
    from surefoot.sequential.round_rules import RoundRule


@modes.of("plan rank")
def rank(
    rates: Annotated[str | None, typer.Option("--rates", help="The success rate of each policy: 0.9,0.7,0.5.")] = None,
    pilot: Annotated[
        Path | None, typer.Option("--from", help="Pilot rollouts to draw from, in place of rates.")
    ] = None,
    horizon: Annotated[int, typer.Option("--horizon", help="The most rollouts of each policy.")] = 200,
    futility: Annotated[
        float, typer.Option("--futility", help="Pause pairs with less chance than this to be decided: 0.05 or 0.1.")
    ] = 0.0,
    question: Annotated[
        str, typer.Option("--question", help="ranking, best, 'best or tied', 'top 3' or 'against NAME'.")
    ] = "ranking",
    rule: Annotated[
        str | None, typer.Option("--rule", help=f"{', '.join(registry.RANKINGS)}; the one that fits best if left out.")
    ] = None,
    correlation: Annotated[
        float, typer.Option("--correlation", help="How strongly shared conditions tie the scores of a round.")
    ] = 0.0,
    runs: Annotated[
        int | None,
        typer.Option("--runs", help="Studies to simulate for each row; left out, 400, and 40 where each takes long."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Processes to simulate with (needs joblib).")] = 1,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the simulation.")] = 0,
    score: files.Score = None,
    low: files.Low = None,
    high: files.High = None,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """How many rollouts rank many policies?

    And how likely is the ranking complete? Policies stop once their place is settled. The rows show what a shorter or
    longer horizon and pausing hopeless pairs (futility) would change.

    Examples:

        surefoot plan rank --rates 0.9,0.7,0.5 --horizon 200

        surefoot plan rank --rates 0.9,0.7,0.7,0.2 --horizon 200 --futility 0.1

        surefoot plan rank --rates 0.9,0.7,0.5,0.3 --question best
    """
    names, laws, ends = _policies(rates, pilot, score, low, high)
    if len(names) < 3:
        cure = "For two: surefoot plan compare --sequential."
        raise _check.refused("--rates" if pilot is None else "--from", "hold three policies or more", len(names), cure)
    setting = registry.Setting(policies=names, confidence=confidence, claim="either", question=question, **ends)
    named = registry.advised(setting) if rule is None else rule
    kind = registry.one_of(named, setting)
    chosen = (_check.whole(horizon, "--horizon", least=1), futility)
    slow = getattr(declared(named, replace(setting, horizon=chosen[0])), "gated", False)
    runs, plans = (40 if slow else 400) if runs is None else runs, {}
    with _processes(jobs):
        for most, little in [chosen] if as_json or slow else _grid(*chosen, gives_up=kind.gives_up):
            made = cast("RoundRule[Any]", declared(named, replace(setting, horizon=most, futility=little)))
            bar = files.progress(f"simulating, horizon {most:,}, futility {little:g}")
            tied: dict[str, Any] = {"correlation": correlation, "progress": bar}
            plans[most, little] = sf.plan_ranking(made, laws, rng=seed, runs=runs, **tied)
    terminal.show(plans[chosen], as_json=as_json)
    if not as_json:
        _show_neighbours(plans, chosen)
        if fewer := registry.for_fewer(kind, setting):
            typer.echo(fewer)


def _show_neighbours(plans: dict[tuple[int, float], RankingPlan], chosen: tuple[int, float]) -> None:
    typer.echo()
    terminal.table(
        ["horizon", "futility", "rollouts", "at most", "all decided", "differences found", ""],
        [
            [
                f"{most:,}",
                f"{little:g}" if little else "off",
                f"{plan.expected_rollouts:,.0f}",
                f"{plan.most:,}",
                f"{plan.complete:.1%}",
                f"{plan.found:.1%}",
                "<- this plan" if (most, little) == chosen else "",
            ]
            for (most, little), plan in plans.items()
        ],
    )


def _policies(
    rates: str | None, pilot: Path | None, score: str | None, low: float | None, high: float | None
) -> tuple[tuple[str, ...], list[Law], dict[str, Any]]:
    """Names, laws and score range of the policies, from rates or from a pilot."""
    if pilot is None:
        given = [word for word in str(rates).replace(" ", "").split(",") if word]
        if not all(map(terminal.is_number, given)) or not given:
            raise _check.refused("--rates", "be three or more rates, such as 0.9,0.7,0.5", rates)
        laws: list[Law] = [_check.rate(float(word), "--rates") for word in given]
        return tuple(f"policy {place}" for place in range(1, len(laws) + 1)), laws, {}
    rollouts = files.table([pilot], files.Reading(score=score, low=low, high=high))
    what = files.measure_of(rollouts, score)
    known = {name: rollouts.where(policy=name).column(what) for name in rollouts.policies}
    ends = (0.0, 1.0) if what == "success" else (rollouts.low, rollouts.high)
    drawn: list[Law] = [sf.Scores([float(v) for v in scores if v is not None], *ends) for scores in known.values()]
    if what == "success":
        return tuple(known), drawn, {}
    return tuple(known), drawn, {"measure": "score", "low": rollouts.low, "high": rollouts.high}


def _grid(horizon: int, futility: float, *, gives_up: bool) -> list[tuple[int, float]]:
    """The plan asked for among its neighbours."""
    horizons = sorted({max(1, horizon // 2), horizon, 2 * horizon})
    futilities = sorted({0.0, 0.05, 0.1, futility}) if gives_up else [futility]
    return [(most, little) for most in horizons for little in futilities if little == futility or most == horizon]


@contextlib.contextmanager
def _processes(jobs: int) -> Iterator[None]:
    if _check.whole(jobs, "--jobs", least=1) == 1:
        yield
        return
    try:
        import joblib
    except ImportError:
        raise ValueError(f"`--jobs` must be 1 without joblib; got {jobs}. Install it: pip install joblib.") from None
    with joblib.parallel_config(n_jobs=jobs):
        yield
