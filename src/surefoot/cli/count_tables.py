"""`surefoot compare --counts`: every policy of a table of counts against the baseline of its group."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

import typer

from surefoot import stats
from surefoot.cli import terminal
from surefoot.core.formatting import number, p_value, span
from surefoot.core.tally import Tally
from surefoot.errors import DataError
from surefoot.files.formats import counts
from surefoot.files.naming import PERHAPS
from surefoot.files.recognising import Head
from surefoot.table.columns import match, plain

BUNDLED = {"dream-machines": "dream_machines.csv", "rt2-vc1": "rt2_vc1.csv"}
GROUPS = ("group", "experiment", "setting", "task")
MARKS, SOURCES = ("baseline",), ("source",)


class Row(NamedTuple):
    """One policy of one group, with the row it stands in."""

    place: int
    group: str
    policy: str
    tally: Tally
    baseline: bool
    source: str


def compare_counts(name: str, baseline: str | None, *, confidence: float, margin: float, as_json: bool) -> None:
    """Compare and print, one error for all comparisons of a group."""
    rows, warnings = _read(name)
    groups: dict[str, dict[str, Tally]] = {}
    bases: dict[str, str] = {}
    for place, group, policy, tally, marked, _ in rows:
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
        terminal.show_json([{"group": group, **found.to_dict()} for group, _, _, found in results])
        return
    shown = []
    for group, base, policies, found in results:
        for policy, member in zip(found.names, found.members, strict=True):
            gain, p = member.gain, member.p_value
            tally, other = policies[policy], policies[base]
            shown.append(
                [
                    group,
                    policy,
                    f"{tally.successes}/{tally.trials}",
                    f"{base} {other.successes}/{other.trials}",
                    number(gain.estimate, "gain"),
                    span(gain.interval.low, gain.interval.high, "gain"),
                    "" if p is None else p_value(p).removeprefix("p = ").removeprefix("p "),
                    str(member.verdict),
                ]
            )
    terminal.table(["group", "policy", "k/n", "baseline", "gain", "interval", "p", "verdict"], shown)
    typer.echo("Gains in points over the baseline; within a group all intervals hold together, and so do all verdicts.")
    for warning in warnings:
        typer.echo(warning)
    for source in dict.fromkeys(row.source for row in rows):
        if source:
            typer.echo(f"Source: {source}")


def _read(name: str) -> tuple[list[Row], list[str]]:
    """The rows of a table of counts in any form that is read, and what must be known of them."""
    if name not in BUNDLED:
        return _rows(Head(Path(name), name))
    with as_file(files("surefoot.files") / "examples" / BUNDLED[name]) as path:
        return _rows(Head(path, name))


def _rows(head: Head) -> tuple[list[Row], list[str]]:
    head.refuse_unsafe()
    names = {plain(name): name for name in reversed(head.header)}
    policy = match(head.header, {})[0].get("policy") or names.get(PERHAPS)
    if policy is None or not counts.recognises(head):
        raise DataError("a row must have `policy`, `successes` and `rollouts`.", source=head.name, row=1)
    found = counts.counted_rows(head)
    group, baseline, source = (next((names[n] for n in of if n in names), "") for of in (GROUPS, MARKS, SOURCES))
    rows = []
    for (place, cells), successes, trials in zip(found.rows, found.successes, found.trials, strict=True):
        if not cells.get(policy):
            raise DataError("a row must have `policy`, `successes` and `rollouts`.", source=head.name, row=place)
        marked = (cells.get(baseline) or "").lower() in ("1", "true", "yes", "baseline")
        of = cells.get(group) or "all"
        rows.append(Row(place, of, str(cells[policy]), Tally(successes, trials), marked, cells.get(source) or ""))
    return rows, [*map(str, found.left_out.notes), *(f"! {finding}" for finding in found.findings)]
