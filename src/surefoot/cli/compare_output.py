"""How is a comparison of files written: for a terminal, a pull request, a test runner, or as JSON?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot import _check
from surefoot.cli import files, gate_verdicts, terminal

if TYPE_CHECKING:
    from surefoot.analysis.comparisons import Comparison
    from surefoot.analysis.flips import Flips
    from surefoot.cli.two_runs import TwoRuns
    from surefoot.reporting.reviews import Review
    from surefoot.table.findings import Finding
    from surefoot.table.rollouts import Rollouts

FORMATS = ("text", "github", "junit", "json")
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="text|github|junit|json",
        help="With files: how to write it: a comment for a pull request, JUnit XML of a gate, JSON; text if left out.",
    ),
]
Raw = Annotated[
    bool, typer.Option("--raw", help="With --json: the whole result with all raw scores, instead of a summary.")
]


def format_of(said: str | None, *, as_json: bool, raw: bool, gate: bool) -> str:
    """How to write, from the options that say it."""
    chosen = _check.choice(said or "text", "--format", {name: name for name in FORMATS})
    if as_json and said not in (None, "json"):
        raise ValueError(f"`--json` must not come with `--format {said}`.")
    chosen = "json" if as_json else chosen
    if raw and chosen != "json":
        raise ValueError("`--raw` must come with `--json`: the others show no raw scores.")
    if chosen == "junit" and not gate:
        raise ValueError("`--format junit` must come with `--gate`: a test passes or fails.")
    return chosen


def write(
    found: tuple[Comparison, ...],
    form: str,
    *,
    table: Rollouts,
    two: TwoRuns | None,
    findings: tuple[Finding, ...],
    ends: gate_verdicts.Ended | None,
    raw: bool,
    listed: bool,
) -> None:
    """Print comparisons other than as text for a terminal.

    Args:
        found: The comparisons.
        form: How: github, junit or json.
        table: The rollouts.
        two: The two runs that were compared, where it was that.
        findings: What can make the conclusion wrong.
        ends: How the gate ended.
        raw: As JSON, the whole records.
        listed: As JSON, a list even of one.
    """
    more = files.serious_json(findings) | gate_verdicts.told(ends)
    if form == "json" and raw:
        bodies: list[dict[str, Any]] = [one.to_dict() for one in found]
    else:
        review = _review(found, table, two, findings, ends, tasks=form == "github" and not listed)
        if form != "json":
            typer.echo(review.markdown() if form == "github" else review.junit(), nl=False)
            return
        bodies = review.short()
    full = [{**body, **more} for body in bodies]
    terminal.show_json(full if listed or len(full) > 1 else full[0])


def refuse(says: gate_verdicts.Ended, form: str) -> None:
    """Print a gate's refusal in the form that was asked for; the terminal's own is said at the end."""
    if form == "json":
        terminal.show_json(gate_verdicts.told(says))
    elif form != "text":
        from surefoot.reporting.reviews import not_comparable

        typer.echo(not_comparable(says.says, form), nl=False)


def _review(
    found: tuple[Comparison, ...],
    table: Rollouts,
    two: TwoRuns | None,
    findings: tuple[Finding, ...],
    ends: gate_verdicts.Ended | None,
    *,
    tasks: bool,
) -> Review:
    import surefoot as sf
    from surefoot.reporting.reviews import Judged, Review

    tables = [_table_of(one, table, two) for one in found]
    flipped = tuple(_flips(one, of) for one, of in zip(found, tables, strict=True))
    one = found[0]
    by_task: Sequence[Comparison] = ()
    if tasks and len(found) == 1 and one.comparable and one.judged is None and len(tables[0].tasks) > 1:
        wanted: dict[str, Any] = {"confidence": one.interval.confidence, "margin": one.gain.margin}
        by_task = sf.compare_by(tables[0], one.first, one.second, measure=one.measure, **wanted)
    gate = None
    if ends is not None:
        judged = ends.code != gate_verdicts.NOT_COMPARABLE
        codes = tuple(gate_verdicts.code_of(each.bounds, each.gain.margin) for each in found if each.bounds)
        gate = Judged(ends.code, ends.says, codes if judged and len(codes) == len(found) else ())
    return Review(found, flipped, tuple(by_task), findings, gate)


def _flips(one: Comparison, table: Rollouts) -> Flips | None:
    from surefoot.analysis.flips import flips

    return flips(table, one.first, one.second, measure=one.measure, on=None)


def _table_of(one: Comparison, table: Rollouts, two: TwoRuns | None) -> Rollouts:
    """The rollouts that a comparison is of; of one task where it is."""
    if two is not None and one.policy is not None:
        from surefoot.analysis.changes import both_runs

        table = both_runs(two.now, two.before, one.policy, two.names, one.measure)
    return (
        table
        if one.level is None or one.level[0] not in table.design.roles
        else table.where(**{one.level[0]: one.level[1]})
    )
