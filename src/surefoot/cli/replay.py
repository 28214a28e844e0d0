"""`surefoot replay`: when would a sequential test have stopped?"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import surefoot as sf
from surefoot import _check
from surefoot.cli import files, modes, terminal, two_runs
from surefoot.core.formatting import counted
from surefoot.errors import DataError
from surefoot.sequential import registry

if TYPE_CHECKING:
    from surefoot.analysis.replays import Replay, ReplayedPair, Stop
    from surefoot.table.rollouts import Rollouts

CLAIMS = ("first better", "either")


@modes.of("replay")
@files.reads
def replay(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Rollouts in any known format, or pairs: two columns of scores (.csv, .npy)."
        ),
    ],
    first: Annotated[str | None, typer.Option(help="The policy that the verdict is about.")] = None,
    second: Annotated[str | None, typer.Option(help="The policy it is compared with.")] = None,
    horizon: Annotated[
        int | None, typer.Option(help="The most pairs planned; as many as were recorded when left out.")
    ] = None,
    measure: Annotated[str | None, typer.Option(help="success or score; success where it is known.")] = None,
    *,
    reading: files.Reading,
    start_order: files.StartOrder = None,
    pool_runs: two_runs.PoolRuns = False,
    claim: Annotated[str, typer.Option(help="'first better' or 'either'.")] = "first better",
    randomised: Annotated[
        bool, typer.Option("--randomised", help="The order of environments was drawn at random: show exact rules too.")
    ] = False,
    population: Annotated[
        int | None,
        typer.Option(
            help="The rollouts come from a list of this many items: verdicts about what the whole list would show. "
            "Needs --randomised."
        ),
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--rule", help=f"Only this rule, repeatable: {', '.join(registry.HOMES)}. All suitable ones if left out."
        ),
    ] = None,
    pooled: Annotated[bool, typer.Option("--pooled", help="All tasks as one comparison, in recorded order.")] = False,
    question: Annotated[
        str | None,
        typer.Option(help="Ranking, best, 'best or tied', 'top 3' or 'against NAME'."),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(help="Race to one policy that is at most this far below the best: 0.05 for 5 points."),
    ] = None,
    futility: Annotated[
        float, typer.Option(help="Give up once the chance of a verdict is below this; 0 for never.")
    ] = 0.0,
    figure: Annotated[Path | None, typer.Option(help="Write the evidence as a figure (.svg, .png, .pdf).")] = None,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """When would a sequential test have stopped?

    It is run on recorded rollouts, in the order in which they were started: by --start-order, by a column of start
    times or of the order, or else by the rows, which are then assumed to be in that order. Three
    policies or more are ranked, unless two are named.

    Examples:

        surefoot replay new.csv old.csv

        surefoot replay results.csv --first new --second old --horizon 200

        surefoot replay results.csv --first new --second old --score progress --figure evidence.svg

        surefoot replay pairs.csv --claim either

        surefoot replay results.csv --question best

        surefoot replay checkpoints.csv --rule race --within 0.05
    """
    _check.choice(claim, "--claim", dict.fromkeys(CLAIMS))
    given = modes.given(replay, locals())
    declared: dict[str, Any] = {
        "horizon": horizon, "confidence": confidence, "claim": claim, "randomised": randomised, "rules": rules,
        "population": population, "futility": futility,
    }  # fmt: skip
    if first is None and second is None and len(paths) == 1 and _holds_pairs(paths[0]):
        from surefoot.analysis.replays import replay_pairs

        modes.settled("replay", "pairs", given)
        most = 1.0 if reading.high is None else reading.high
        found = replay_pairs(_pairs(paths[0]), low=reading.low or 0.0, high=most, **declared)
    else:
        table = files.table(paths, reading)
        if not pool_runs:
            two_runs.refuse_two_runs(table, [str(path) for path in paths], "Replay one of them.")
        races = within is not None or rules == ["race"]
        if first is None and second is None and (races or len(table.policies) > 2):
            modes.settled("replay", "files, many policies", given)
            if len(rules or ()) > 1:
                raise ValueError("`--rule` must be given once with many policies.")
            ranking = sf.replay_ranking(
                table, horizon=horizon, measure=_measure(table, measure, reading.score), confidence=confidence,
                question=question, within=within, futility=futility, pooled=pooled, rule=rules[0] if rules else None,
                start_order=start_order,
            )  # fmt: skip
            terminal.show(ranking, as_json=as_json)
            return
        from surefoot.analysis.replays import replay as replayed

        modes.settled("replay", "files", given)
        two = files.two_policies(table, paths, first, second)
        found = replayed(
            table, *two, measure=_measure(table, measure, reading.score), pooled=pooled, start_order=start_order,
            **declared,
        )  # fmt: skip
    if as_json:
        terminal.show_json(found.to_dict())
    else:
        _show(found)
    if figure is not None:
        from surefoot.reporting import style
        from surefoot.reporting.curve_figures import replay_figure

        written = style.save(replay_figure(found), figure)
        if not as_json:
            typer.echo(f"Wrote {written}.")


def _measure(rollouts: Rollouts, measure: str | None, score: str | None) -> Any:
    if measure is not None:
        _check.choice(measure, "--measure", dict.fromkeys(("success", "score")))
    return measure or files.measure_of(rollouts, score)


def _holds_pairs(file: Path) -> bool:
    """Whether a file is nothing but two columns of numbers, perhaps under a heading."""
    if file.suffix == ".npy" or not file.is_file():
        return file.suffix == ".npy"
    with file.open(encoding="utf-8-sig", errors="replace") as lines:
        first_two = [_cells(line[:1000]) for line in itertools.islice(lines, 2)]
    return any(len(cells) == 2 and all(map(terminal.is_number, cells)) for cells in first_two)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.replace(";", ",").replace("\t", ",").split(",")]


def _pairs(file: Path) -> list[tuple[float, float]]:
    """Pairs from a file of two columns of numbers."""
    if file.suffix == ".npy":
        from surefoot.files.array_files import numbers

        table = numbers(file.read_bytes(), file.name)
        if table.ndim != 2 or table.shape[1] != 2:
            raise DataError(
                f"the array must have two columns (first, second); got shape {table.shape}.", source=file.name
            )
        return [(float(a), float(b)) for a, b in table]
    pairs = []
    for row, line in enumerate(file.read_text(encoding="utf-8-sig").splitlines(), 1):
        cells = _cells(line)
        if not any(cells):
            continue
        try:
            one, other = map(float, cells)
        except ValueError:
            if row == 1 and len(cells) == 2:
                continue  # a heading
            hint = "Give --first and --second for a table of rollouts."
            raise DataError(f"a row must hold two scores; got {line!r}. {hint}", source=file.name, row=row) from None
        pairs.append((one, other))
    return pairs


def _show(found: Replay) -> None:
    rules = list(found.rules)
    planned = [] if found.as_recorded else ["planned"]
    rows = [
        [
            one.task or f"{found.first} v {found.second}",
            *(f"{pairs:,}" for pairs in (one.pairs, one.horizon)[: 1 + len(planned)]),
            *map(_cell, one.stops),
        ]
        for one in found.comparisons
    ]
    if len(rows) > 1:
        recorded = sum(one.pairs for one in found.comparisons)
        sizes = (recorded, found.batch // 2)[: 1 + len(planned)]
        rows.append(["all", *(f"{pairs:,}" for pairs in (*sizes, *(found.total(name) // 2 for name in rules)))])
    of = "saved of the planned" if planned else "saved"
    rows.append([of, "", *("" for _ in planned), *(f"{found.saving(name):.0%}" for name in rules)])
    typer.echo(
        f"Pairs to a decision: {found.first} against {found.second}, {found.measure}, claim '{found.claim}', "
        f"{100 * found.confidence:.10g}% over all looks."
    )
    terminal.table(["in pairs", "recorded", *planned, *rules], rows)
    if any(found.undecided(name) for name in rules):
        typer.echo("'-' = undecided, counted at the full horizon (in brackets).")
    for line in registry.legend(rules):
        typer.echo(line)
    for comparison in found.comparisons:
        for line in _gain(comparison, alone=len(found.comparisons) == 1):
            typer.echo(line)
    for note in found.notes:
        typer.echo(note)


def _gain(comparison: ReplayedPair, *, alone: bool) -> list[str]:
    """The gain at the stop, by the first rule shown; what is to know besides where there is one comparison only."""
    stop = comparison.stops[0]
    if stop.interval is None:
        return []
    where = f"on {comparison.task} " if comparison.task else ""
    when = f"after {counted(stop.interval.trials or 0, 'pair')}" if stop.ending is None else "at its stop"
    gain = f"Gain {where}by {stop.name}, {when}: {stop.interval}"
    return [gain, *map(str, stop.interval.notes if alone else ())]


def _cell(stop: Stop) -> str:
    worse = " worse" if stop.verdict.value == "worse" else ""
    return f"{stop.pairs:,}{worse}" if stop.decided else f"- ({stop.pairs:,})"
