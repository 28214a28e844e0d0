"""`surefoot study create`: write a plan, see what it will take, fix it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot._arguments import unshown
from surefoot._files import write_whole
from surefoot._secret import without_password
from surefoot.cli import modes, terminal
from surefoot.core.formatting import rollouts
from surefoot.errors import StudyError
from surefoot.sequential import registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from surefoot.planning.assumptions import Law
    from surefoot.study.expectations import Expectation
    from surefoot.study.feasibility import Feasibility
    from surefoot.study.plans import Plan


@modes.of("study create")
def create(
    plan: Annotated[Path, typer.Argument(help="The plan; written, with comments, if there is none.")] = Path(
        "plan.toml"
    ),
    store: Annotated[
        str, typer.Option(help="Where the study is kept: a file, or postgresql://host/database?study=NAME.")
    ] = "study.db",
    policies: Annotated[
        str | None, typer.Option(help="The policies, such as new,old; every verdict is about the first.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="What the study is called.")] = None,
    horizon: Annotated[
        int | None, typer.Option(help="The most pairs; for three policies or more, the most rounds.")
    ] = None,
    claim: Annotated[str | None, typer.Option(help="'either' or 'first better'.")] = None,
    rule: Annotated[
        str | None, typer.Option(help=f"The rule that decides: {', '.join(registry.HOMES)}; else one that fits.")
    ] = None,
    confidence: Annotated[float | None, typer.Option("--confidence", "-c", help="Confidence over all looks.")] = None,
    futility: Annotated[
        float | None,
        typer.Option(
            help="Stop once the chance of a verdict is below this: 0.02, of 'first better' 0.005; 0 for never."
        ),
    ] = None,
    question: Annotated[
        str | None,
        typer.Option(help="For three policies or more: ranking, best, 'best or tied', 'top 3' or 'against NAME'."),
    ] = None,
    within: Annotated[
        float | None, typer.Option(help="Of the best: how far below it the one named may be, such as 0.05.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Of the best: the most rollouts of all policies, in place of a horizon.")
    ] = None,
    levels: Annotated[str | None, typer.Option(help="Score by a rubric, such as 0,0.5,1, in place of success.")] = None,
    environments: Annotated[
        str | None, typer.Option(help="How each rollout's environment is drawn: independent, shared, stratified, one.")
    ] = None,
    tasks: Annotated[str | None, typer.Option(help="The tasks, such as 'place mug,fold towel'.")] = None,
    conditions: Annotated[
        str | None, typer.Option(help="The initial conditions, such as 'lid left,lid right'.")
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(help="A declared list, a CSV with a column `item`: the verdict is about a complete run of it."),
    ] = None,
    helped_by: Annotated[
        str | None,
        typer.Option(help="Predictions of all items: a column of --items, or a CSV of items and predictions."),
    ] = None,
    assume: Annotated[
        list[str] | None, typer.Option(help="Rates to plan for, such as 0.9,0.6, one per policy; repeatable.")
    ] = None,
    pilot: Annotated[
        Path | None, typer.Option(help="Earlier rollouts of these policies, to plan for: a file that `compare` reads.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write and show the plan, and create nothing yet.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    author: Annotated[str, typer.Option(help="Who begins it; kept in the log.")] = "",
    as_json: terminal.AsJson = False,
) -> None:
    """Write a plan, see what it will take, and begin the study.

    Examples:

        surefoot study create plan.toml --policies new,old --horizon 100

        surefoot study create plan.toml --check --assume 0.9,0.6 --assume 0.8,0.6

        surefoot study create plan.toml --store 'postgresql://lab/evals?study=grasping' --yes

        surefoot study create plan.toml --policies new,old --items items.csv

        surefoot study create plan.toml --policies 10k,20k,30k --question best --within 0.05
    """
    from surefoot.study.studies import Study

    new = not plan.exists()
    modes.settled("study create", "a new plan" if new else "an existing plan", modes.given(create, locals()))
    if question is None and any(kind.finds_one for kind in registry.kinds(rule) if rule):
        question = "best"
    given = {
        "policies": _names(policies),
        "title": title,
        "horizon": horizon,
        "claim": claim,
        "rule": rule,
        "confidence": confidence,
        "futility": futility,
        "question": question,
        "within": within,
        "budget": budget,
        "levels": None if levels is None else _numbers(levels),
        "environments": environments,
        "tasks": _names(tasks),
        "conditions": _names(conditions),
        **_listed(items, helped_by, levels),
    }
    given = {name: value for name, value in given.items() if value is not None}
    declared = _new(given) if new else _kept(plan)
    if not check:
        _free(store)
    hashed = declared.hashed(plan.parent)
    expected, possible = _outlook(declared, assume or (), pilot)
    if new:
        write_whole(plan, declared.to_toml())
    declared = hashed
    if not as_json:
        _show(plan, declared, _told(expected, possible, assumed=bool(assume or pilot)), new=new)
    fixed = None
    if not check:
        if not (yes or as_json) and sys.stdin.isatty():
            typer.confirm(f"Fix this plan and begin the study in {without_password(store)}?", default=True, abort=True)
        begun = Study.create(declared, store, author=author)
        fixed = begun.recall().begun.body.get("list")
    _tell(declared, plan, None if check else without_password(store), fixed, expected, possible, as_json=as_json)


def _tell(
    declared: Plan,
    plan: Path,
    place: str | None,
    fixed: dict[str, Any] | None,
    expected: Sequence[Any],
    possible: Sequence[Any],
    *,
    as_json: bool,
) -> None:
    """What was created, and what to do next; nothing was where there is no place."""
    if as_json:
        body = {
            "plan": declared.to_dict(),
            "fingerprint": declared.fingerprint,
            "store": place,
            **({} if fixed is None else {"list": fixed}),
        }
        told = {"expected": [one.to_dict() for one in expected], "feasible": [one.to_dict() for one in possible]}
        terminal.show_json({**body, **told})
    elif place is None:
        typer.echo(f"Nothing is fixed yet. Edit {plan}, then: surefoot study create {plan}")
    else:
        if fixed is not None:
            typer.echo(f"Drew the order of the {fixed['length']:,} items and fixed it: SHA-256 {fixed['order'][:16]}.")
        typer.echo(f"Began {place}. Run it with a phone or keyboard: surefoot study serve {place}")
        typer.echo(f"         or with a script: surefoot study run {place} --command '...'")


def _outlook(plan: Plan, assume: Sequence[str], pilot: Path | None) -> tuple[list[Expectation], list[Feasibility]]:
    """What to expect, and what can be answered, at assumed rates, at a pilot's, or at some that are plausible."""
    from surefoot.study.expectations import expect, usual
    from surefoot.study.feasibility import feasible

    laws: list[Sequence[Law]] = [_numbers(text) for text in assume]
    if pilot is not None:
        laws.append(_pilot(plan, pilot))
    runs = None if laws else AT_A_GLANCE
    laws = laws or list(usual(plan))
    expected = [expect(plan, rates) for rates in laws]
    told = zip(laws, expected, strict=True)
    return expected, [feasible(plan, rates, runs=runs, expected=one) for rates, one in told]


AT_A_GLANCE = 1_000
"""Studies simulated for each chance of a question that was not asked, where no rates were assumed."""


def _pilot(plan: Plan, path: Path) -> list[Law]:
    """What earlier rollouts say of each policy."""
    from surefoot.core.scores import Scores
    from surefoot.files.reading import read

    table = read(path, low=plan.low, high=plan.high) if plan.measure == "score" else read(path)
    if lacking := [name for name in plan.policies if name not in table.policies]:
        known = ", ".join(table.policies)
        raise StudyError(f"{path}: there are no rollouts of {', '.join(lacking)}; it has {known}.")
    parts = [table.where(policy=name) for name in plan.policies]
    if plan.measure == "success":
        return [part.tally().rate for part in parts]
    return [Scores(part.scores().values, low=plan.low, high=plan.high) for part in parts]


def _told(expected: list[Expectation], possible: list[Feasibility], *, assumed: bool) -> list[str]:
    """What will be taken and can be answered, line by line; a table where nothing was assumed."""
    from surefoot.study.feasibility import table

    if assumed:
        return [line for one, can in zip(expected, possible, strict=True) for line in (one.sentence, str(can))]
    hours = "" if possible[0].hours is None else f" in {possible[0].hours:g} hours"
    head = f"What {rollouts(possible[0].rollouts)}{hours} can answer:"
    closing = "Plan for rates of your own with --assume 0.9,0.6 (one for each policy), or with --pilot results.csv."
    return [*(one.sentence for one in expected), head, *table(possible).splitlines(), closing]


def _listed(items: Path | None, helped_by: str | None, levels: str | None) -> dict[str, Any]:
    """The declared list, and the predictions of all of it."""
    from surefoot.files.item_files import numbers_for, read_items

    if items is None:
        return {}
    found = read_items(items)
    if helped_by is None:
        return {"items": found.items}
    scores = _numbers(levels)
    ends = (min(scores), max(scores)) if scores else (0.0, 1.0)
    if helped_by not in found.columns and Path(helped_by).is_file():
        return {"items": found.items, "helped_by": numbers_for(found.items, helped_by, ends)}
    return {"items": found.items, "helped_by": found.numbers(helped_by, ends)}


def _free(store: str) -> None:
    """Refuse a file that holds a study, before anything is computed: its plan is fixed, whatever plan.toml says now."""
    if "://" in store or not Path(store).exists():
        return
    from surefoot.study.stores import open_store

    if open_store(store).read():
        raise StudyError(
            f"{store} already holds a study, and its plan is fixed: editing the plan's file changes nothing there. "
            f"Go on with it (`surefoot study status {store}`), change it with a reason (`surefoot study amend`), "
            "or begin another with `--store other.db`."
        )


def _new(given: dict[str, Any]) -> Plan:
    from surefoot.study.plans import Plan

    if "policies" not in given:
        raise ValueError("`--policies` must be given for a new plan, such as --policies new,old.")
    if "levels" in given:
        given = {**given, "measure": "score", "low": min(given["levels"]), "high": max(given["levels"])}
    return Plan(**given)


def _kept(plan: Path) -> Plan:
    from surefoot.study.plans import Plan

    try:
        return Plan.from_toml(plan.read_text(encoding="utf-8"))
    except (StudyError, UnicodeDecodeError) as error:
        raise StudyError(f"{plan}: {unshown(error)}") from None


def _show(path: Path, plan: Plan, expected: list[str], *, new: bool) -> None:
    if new:
        typer.echo(f"Wrote {path}.")
    typer.echo(str(plan))
    typer.echo(f"Fingerprint {plan.fingerprint}")
    for policy in plan.policy_details:
        if policy.checkpoint:
            how = f"SHA-256 {policy.sha256[:16]}" if policy.sha256 else "kept as it is said: no file or folder here"
            typer.echo(f"{policy.name}: {policy.checkpoint}, {how}.")
    what = "success rates" if plan.measure == "success" else "mean scores as shares of the range, all-or-nothing"
    typer.echo(f"What it will take, for assumed {what}:")
    for line in expected:
        typer.echo(f"  {line}")
    if fewer := registry.for_fewer(registry.kinds(plan.decides)[0], plan.setting):
        typer.echo(fewer)


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())


def _numbers(text: str | None) -> tuple[float, ...]:
    wrong = next((part for part in _names(text) or () if not terminal.is_number(part)), None)
    if wrong is not None:
        raise ValueError(f"A number was expected; got {wrong!r}.")
    return tuple(map(float, _names(text) or ()))
