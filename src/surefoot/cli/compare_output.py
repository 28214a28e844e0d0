"""How is a comparison of files written: for a terminal, a pull request, a test runner, or as JSON?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot import _check
from surefoot.cli import files, gate_verdicts, terminal
from surefoot.core import sentences
from surefoot.core.assumptions import holds_if
from surefoot.core.formatting import estimate, number, p_value, percent, span, unit

if TYPE_CHECKING:
    from surefoot.analysis.changes import Flips
    from surefoot.analysis.comparisons import Comparison
    from surefoot.analysis.regressions import Regression
    from surefoot.cli.two_runs import TwoRuns
    from surefoot.reporting.reviews import Review
    from surefoot.table.findings import Finding
    from surefoot.table.rollouts import Rollouts

FORMATS = ("text", "github", "junit", "json", "html")
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="text|github|junit|json|html",
        help="How to write it: a comment for a pull request, JUnit XML of a gate, JSON, the page of two runs; text if "
        "left out.",
    ),
]
Raw = Annotated[
    bool, typer.Option("--raw", help="With --json: the whole result with all raw scores, instead of a summary.")
]


def format_of(said: str | None, *, as_json: bool, raw: bool, gate: bool, among: Sequence[str] = FORMATS) -> str:
    """How to write, from the options that say it."""
    chosen = _check.choice(said or "text", "--format", {name: name for name in among})
    if as_json and said not in (None, "json"):
        raise ValueError(f"`--json` must not come with `--format {said}`.")
    chosen = "json" if as_json else chosen
    if raw and chosen != "json":
        raise ValueError("`--raw` must come with `--json`: the others show no raw scores.")
    if chosen == "junit" and not gate:
        raise ValueError("`--format junit` must come with `--gate`: a test passes or fails.")
    return chosen


def show(found: Sequence[Comparison], paths: Sequence[str] = ()) -> None:
    """Print comparisons: what each is about and its answer, the two rates, how the table was read, what to do next."""
    explained = files.explained(paths)
    if len(found) > 1 and all(one.level is not None for one in found):
        _show_levels(found, explained)
    else:
        for one in found:
            for line in _lines(one, explained):
                typer.echo(line)
    for line in dict.fromkeys(holds_if(one.gain.assumptions) for one in found):
        typer.echo(f"  {line}")


def _lines(one: Comparison, explained: str) -> list[str]:
    from surefoot.reporting import answers

    lines = [*answers.in_front(one), headline(one), *filter(None, (answers.other_answer(one),))]
    chooses = " --target these|like chooses." if one.other is not None else ""
    more = [
        _rates(one),
        _sentence(one) if one.gain.margin or not one.comparable else "",
        gate_verdicts.shown(one.bounds) if one.bounds else "",
        f"{one.why}{explained}{chooses}",
        "" if one.outlook is None else str(one.outlook),
        *answers.behind(one),
    ]
    return [*lines, *(f"  {line}" for line in more if line)]


def _show_levels(found: Sequence[Comparison], explained: str) -> None:
    """A table with a row for each level: all hold together."""
    from surefoot.reporting.answers import behind, other_answer

    one = found[0]
    column, gated = str(one.level[0]) if one.level else "", one.bounds is not None
    level = percent(one.interval.confidence)
    typer.echo(f"{_names(one)}, on every level of {column}; all {len(found):,} hold together at {level}.")
    header = [column, "for", one.first, one.second, f"gain{unit(one.interval.scale)}", "interval", "p", "verdict"]
    rows = [
        [
            str(each.task),
            str(each.about),
            number(each.of_first.estimate, each.of_first.scale),
            number(each.of_second.estimate, each.of_second.scale),
            number(each.gain.estimate, each.interval.scale),
            span(each.interval.low, each.interval.high, each.interval.scale),
            "" if each.p_value is None else p_value(each.p_value).removeprefix("p = ").removeprefix("p "),
            sentences.CELL[each.verdict] if each.comparable else "not comparable",
            *([sentences.GATE_WORDS[gate_verdicts.code_of_one(each)]] if each.bounds else []),
        ]
        for each in found
    ]
    terminal.table([*header, *(["gate"] if gated else [])], rows)
    for each in found:
        if each.other is not None and each.other.gain.verdict is not each.gain.verdict:
            typer.echo(f"  {each.task}: {other_answer(each)}")
    chooses = " --target these|like chooses." if any(each.other is not None for each in found) else ""
    typer.echo(f"  {one.how}{explained}{chooses}")
    for line in dict.fromkeys(line for each in found for line in behind(each)):
        typer.echo(f"  {line}")


def show_changed(changed: Sequence[Regression]) -> None:
    """Print what changed between two runs: a table with the worst first, and what it costs."""
    if not any(one.rows or one.prices for one in changed):
        return
    from surefoot.reporting.regression_pages import text

    named, gains, prices, more = text(changed)
    for line in named:
        typer.echo(f"  {line}")
    for grid in (gains, prices):
        if grid is not None:
            terminal.table(grid.header, grid.rows)
    for line in more:
        typer.echo(f"  {line}")


def headline(one: Comparison) -> str:
    """What the answer is about, and the answer: the first line."""
    from surefoot.reporting.answers import short_answer

    return sentences.first_line(short_answer(one), _names(one), one.interval, one.p_value)


def _names(one: Comparison) -> str:
    """What is subtracted from what."""
    if one.lower_is_better:
        return f"{one.second} - {one.first} ({sentences.LOWER_IS_BETTER})"
    return f"{one.first} - {one.second}"


def _rates(found: Comparison) -> str:
    """Each policy by itself: no gain is shown without the two rates behind it."""
    shown = [
        f"{name} {estimate(one.estimate, one.low, one.high, one.scale)} n={one.trials:,}"
        for name, one in ((found.first, found.of_first), (found.second, found.of_second))
    ]
    return f"{'; '.join(shown)} ({percent(found.of_first.confidence)} {found.of_first.method} intervals)"


def _sentence(found: Comparison) -> str:
    from surefoot.reporting.reviews import sentence_of

    names = (found.first, found.second)
    return sentence_of(found, *(names if found.comparable else map(repr, names)))


def write(
    found: tuple[Comparison, ...],
    form: str,
    *,
    table: Rollouts,
    two: TwoRuns | None,
    changed: Sequence[Regression],
    findings: tuple[Finding, ...],
    ends: gate_verdicts.Ended | None,
    raw: bool,
    listed: bool,
    more: dict[str, Any],
) -> None:
    """Print comparisons other than as text for a terminal.

    Args:
        found: The comparisons.
        form: How: github, junit, json or html.
        table: The rollouts.
        two: The two runs that were compared, where it was that.
        changed: What changed between them, for each policy.
        findings: What can make the conclusion wrong.
        ends: How the gate ended.
        raw: As JSON, the whole records.
        listed: As JSON, a list even of one.
        more: As JSON, what else is told.
    """
    more = files.serious_json(findings) | gate_verdicts.told(ends) | more
    if form == "json" and raw:
        bodies: list[dict[str, Any]] = [one.to_dict() for one in found]
    else:
        by_task = form == "github" and not listed and not changed
        review = _review(found, table, two, findings, ends, tasks=by_task)
        if changed and form in ("github", "html"):
            from surefoot.reporting import regression_pages

            written = regression_pages.markdown if form == "github" else regression_pages.page
            typer.echo(written(changed, findings, review.gate), nl=False)
            return
        if form != "json":
            typer.echo(review.markdown() if form == "github" else review.junit(), nl=False)
            return
        bodies = review.short()
        if changed:
            from surefoot.reporting.regression_pages import told

            bodies = [{**body, "changed": told(one)} for body, one in zip(bodies, changed, strict=True)]
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
        codes = tuple(gate_verdicts.code_of_one(each) for each in found if each.bounds)
        gate = Judged(ends.code, ends.says, codes if judged and len(codes) == len(found) else ())
    return Review(found, flipped, tuple(by_task), findings, gate)


def _flips(one: Comparison, table: Rollouts) -> Flips | None:
    from surefoot.analysis.changes import flips

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
