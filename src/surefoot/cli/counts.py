"""`surefoot compare --counts`: every policy of a table of counts against the baseline of its group."""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path

import typer

from surefoot import stats
from surefoot.cli import words
from surefoot.core.tally import Tally
from surefoot.core.words import number, p_value, span
from surefoot.errors import DataError
from surefoot.rollouts.heads import Head
from surefoot.rollouts.totals import whole

BUNDLED = {"dream-machines": "dream_machines.csv", "rt2-vc1": "rt2_vc1.csv"}
GROUPS = ("group", "experiment", "setting", "task")
TOTALS = ("rollouts", "trials")


def compare_counts(name: str, baseline: str | None, *, confidence: float, margin: float, as_json: bool) -> None:
    """Compare and print, one error for all comparisons of a group."""
    rows = _rows(name)
    groups: dict[str, dict[str, Tally]] = {}
    bases: dict[str, str] = {}
    for place, row in enumerate(rows, 1):
        group, policy, tally, marked = _row(row, name, place)
        if policy in groups.setdefault(group, {}):
            raise DataError(
                f"`policy` must be named once per group; got {policy!r} twice in {group!r}.", source=name, row=place
            )
        groups[group][policy] = tally
        if marked or policy == baseline:
            bases[group] = policy
    results = []
    for group, policies in groups.items():
        if len(policies) < 2:
            continue  # a group of one has nothing to compare with
        base = bases.get(group) or next(iter(policies))
        if baseline is not None and base != baseline:
            raise DataError(
                f"`--baseline` must be a policy of every group; {group!r} has no {baseline!r}.", source=name
            )
        found = stats.against_baseline(policies, base, confidence=confidence, margin=margin)
        results.append((group, base, policies, found))
    if not results:
        raise DataError("a group must hold at least two policies; none does.", source=name)
    if as_json:
        words.show_json([{"group": group, **found.to_dict()} for group, _, _, found in results])
        return
    shown = []
    for group, base, policies, found in results:
        for policy, gain in zip(found.names, found.gains, strict=True):
            tally, other = policies[policy], policies[base]
            shown.append(
                [
                    group,
                    policy,
                    f"{tally.successes}/{tally.trials}",
                    f"{base} {other.successes}/{other.trials}",
                    number(gain.estimate, "gain"),
                    span(gain.interval.low, gain.interval.high, "gain"),
                    "" if gain.p_value is None else p_value(gain.p_value).removeprefix("p = ").removeprefix("p "),
                    str(gain.verdict),
                ]
            )
    words.table(["group", "policy", "k/n", "baseline", "gain", "interval", "p", "verdict"], shown)
    typer.echo("Gains in points over the baseline; within a group all intervals and verdicts hold together.")
    for source in dict.fromkeys(row.get("source", "") for row in rows):
        if source:
            typer.echo(f"Source: {source}")


def _rows(name: str) -> list[dict[str, str]]:
    if name in BUNDLED:
        text = (files("surefoot.rollouts") / "examples" / BUNDLED[name]).read_text(encoding="utf-8")
    else:
        text = Head(Path(name), name).whole_text()
    rows = list(csv.DictReader(text.splitlines()))
    if not rows:
        raise DataError("there must be a header and at least one row of counts.", source=name)
    return rows


def _row(row: dict[str, str], source: str, place: int) -> tuple[str, str, Tally, bool]:
    group = next((row[column] for column in GROUPS if row.get(column)), "all")
    policy = row.get("policy") or row.get("arm")
    total = next((row[column] for column in TOTALS if row.get(column)), None)
    if not policy or total is None or row.get("successes") is None:
        raise DataError("a row must have `policy`, `successes` and `rollouts`.", source=source, row=place)
    successes = whole(row["successes"], "successes", source, place, least=0)
    try:
        tally = Tally(successes, whole(total, "rollouts", source, place, least=1))
    except ValueError as error:
        raise DataError(str(error), source=source, row=place) from None
    return group, policy, tally, row.get("baseline", "").strip().lower() in ("1", "true", "yes", "baseline")
