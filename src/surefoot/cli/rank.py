"""`surefoot rank`: which of many policies are better than which?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import surefoot as sf
from surefoot.cli import files, label_options, modes, terminal, two_runs
from surefoot.core import formatting
from surefoot.core.words import worded

if TYPE_CHECKING:
    from surefoot.table.rollouts import Measure


@modes.of("rank")
@files.reads
def rank(
    paths: files.Paths,
    figure: Annotated[Path | None, typer.Option("--figure", help="A figure to write: .svg, .png or .pdf.")] = None,
    pool_runs: two_runs.PoolRuns = False,
    target: files.Targeted = None,
    weights: files.Weights = None,
    lower_is_better: files.LowerIsBetter = False,
    cost: files.Cost = None,
    human_labels: label_options.Human = None,
    labels_method: label_options.Method = None,
    *,
    reading: files.Reading,
    margin: files.Margin = 0.0,
    own_intervals: Annotated[
        bool, typer.Option("--own-intervals", help="Each policy's own interval, not one that holds with all others.")
    ] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the resamples; 0.")] = None,
    prior: Annotated[
        float | None, typer.Option("--prior", help="Ties added between every two policies that met.")
    ] = None,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """Which policies are better than which?

    Letters and rank intervals, with one error for all pairs: two policies share a letter exactly when no difference
    between them was shown. A file of preferences (A, B, preference) is ranked by Bradley-Terry strengths, shown as Elo.

    Examples:

        surefoot rank results.csv

        surefoot rank results.csv --score progress --figure ranking.svg

        surefoot rank results.csv --cost tokens=8000 --margin 0.05

        surefoot rank preferences.csv --seed 7
    """
    from surefoot.files.preferences import holds_preferences

    given = modes.given(rank, locals())
    if len(paths) == 1 and holds_preferences(paths[0]):
        modes.settled("rank", "preferences", given)
        _preferences(paths[0], reading.columns, seed or 0, prior or 0.0, confidence, as_json)
        return
    modes.settled("rank", "files", given)
    from surefoot.analysis.rankings import ranked

    rollouts = files.table(paths, reading)
    rollouts = label_options.labelled(rollouts, human_labels, labels_method, reading.score)
    rollouts = files.limited(rollouts, reading.score, lower_is_better)
    if not pool_runs:
        two_runs.refuse_two_runs(
            rollouts, [str(path) for path in paths], "Rank one of them, or compare them: surefoot compare."
        )
    what, weighed = files.measure_of(rollouts, reading.score), files.weights_of(weights)
    asked: dict[str, Any] = {"margin": margin, "measure": what, "target": files.target_of(target), "weights": weighed}
    progress = files.progress(f"comparing {rollouts.words.policies}")
    told = ranked(
        rollouts, lower_is_better=lower_is_better, confidence=confidence, own=own_intervals, progress=progress, **asked
    )
    ranking, pairs = worded(told, rollouts.words)
    if figure is not None:
        _draw(ranking, what, figure)
    findings = files.serious(rollouts, less=lower_is_better)
    priced = files.front(rollouts, cost, ranking.names, confidence=confidence, **asked)
    if as_json:
        beside = {} if priced is None else {"cost": priced.to_dict()}
        terminal.show_json({**ranking.to_dict(), **beside, **files.serious_json(findings)})
        return
    beyond = f" and a margin of {formatting.margin(margin, 'gain' if what == 'success' else 'score')}" if margin else ""
    _show(ranking, pairs, rollouts, f"{what}{beyond}")
    if priced is not None:
        typer.echo(str(priced))
    typer.echo(f"Read as: {rollouts.design.reading()}.{files.explained(paths)}")
    files.show_serious(findings)
    if figure is not None:
        typer.echo(f"Wrote {figure}")


def _draw(ranking: sf.Ranking, what: Measure, figure: Path) -> None:
    from surefoot.analysis.measurements import Measurement
    from surefoot.reporting import style
    from surefoot.reporting.figures import intervals_figure

    drawn = [
        Measurement(name, None, one.trials, 0, *((one, None) if what == "success" else (None, one)))
        for name, one in zip(ranking.names, ranking.intervals, strict=True)
    ]
    marks = ranking.letters.letters if ranking.letters.readable else ()
    style.save(intervals_figure(drawn, what, marks, own=ranking.own_intervals), figure)


def _show(ranking: sf.Ranking, pairs: tuple[sf.Comparison, ...], rollouts: sf.Rollouts, basis: str) -> None:
    from surefoot.analysis.judge_corrections import label_lines
    from surefoot.analysis.rankings import leading_outlook
    from surefoot.reporting import answers
    from surefoot.reporting.tables import cells_of

    what, readable = ranking.measure, ranking.letters.readable
    letters = ranking.letters.letters if readable else ("",) * len(ranking.names)
    rows = []
    for name, shown, (best, worst), letter in zip(
        ranking.names, ranking.intervals, ranking.ranks, letters, strict=True
    ):
        place = f"{best}" if best == worst else f"{best} to {worst}"
        rows.append([name, *cells_of(shown), f"{shown.trials:,}", place, letter])
    header = "rate" if what == "success" else "mean"
    highest = () if ranking.tied else ranking.names[:1]
    standing = answers.standing(pairs, answers.about_of(pairs), ranking.names, highest, rollouts.words)
    for line in (*answers.levels_disagree(pairs), *standing):
        typer.echo(line)
    terminal.table([rollouts.called("policy"), header, "interval", "n", "rank", "letters" if readable else ""], rows)
    for line in ranking.remarks:
        typer.echo(line)
    if len(ranking.pairs) > 1:
        typer.echo(f"All {len(ranking.pairs):,} pairs hold together at {formatting.percent(ranking.confidence)}.")
    typer.echo(f"Ranks and letters are based on {basis}.")
    unknown = [name for name in rollouts.policies if name not in ranking.names]
    left = [f"Left out, because their {what} is not known: {', '.join(unknown)}."] if unknown else []
    if alone := sum(any(note.kind == "no partner" for note in pair.notes) for pair in pairs):
        few = f"{rollouts.words.rollouts} without a partner, in {alone:,} of {formatting.counted(len(pairs), 'pair')}"
        left.append(f"Who is better is told by what both met: {few}, count in the {header}s only.")
    for line in (*ranking.letters.notes, leading_outlook(pairs), *left, *label_lines(pairs)):
        if line:
            typer.echo(line)


def _preferences(
    path: Path, columns: list[str] | None, seed: int, prior: float, confidence: float, as_json: bool
) -> None:
    table = sf.read_preferences(path, columns=files.named_columns(columns))
    for note in table.notes:
        typer.echo(f"note: {note}", err=True)
    found = sf.rank_preferences(table, rng=seed, prior=prior, confidence=confidence)
    if as_json:
        terminal.show_json(found.to_dict())
        return
    counts, rows = table.counts(), []
    for name, elo, ends, (best, worst) in zip(found.names, found.elos, found.elo_ends, found.ranks, strict=True):
        place = f"{best}" if best == worst else f"{best} to {worst}"
        games = sum(sum(each) for pair, each in counts.items() if name in pair)
        rows.append([name, f"{elo:.0f}", f"[{ends[0]:,}, {ends[1]:,}]", f"{games:,}", place])
    terminal.table(["policy", "Elo", "interval", "preferences", "rank"], rows)
    typer.echo(
        f"Bradley-Terry from {found.preferences:,} preferences, a tie half a win; each interval by "
        f"itself at {formatting.percent(confidence)}, nearly; seed {seed}. {' '.join(found.notes)}"
    )
