"""`surefoot rate`: where does one success rate lie?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot import _check, stats
from surefoot.cli import files, label_options, modes, terminal, two_runs
from surefoot.core.interval import Side
from surefoot.core.notes import Note
from surefoot.stats.rate_methods import methods

if TYPE_CHECKING:
    from surefoot.core.record import Record
    from surefoot.table.rollouts import Measure, Rollouts

USUAL = {None: "wilson", "lower": "clopper-pearson", "upper": "clopper-pearson"}
"""The method where none is named."""


@modes.of("rate")
@files.reads
def rate(
    what: Annotated[
        list[str],
        typer.Argument(metavar="K/N... | FILE...", help="Successes/rollouts, such as 38/50; or files."),
    ],
    using: Annotated[
        str | None,
        typer.Option(help=f"Method: {', '.join(methods())}. An interval is Wilson's, a bound Clopper-Pearson's."),
    ] = None,
    lower: Annotated[bool, typer.Option("--lower", help="Give the lower bound only.")] = False,
    upper: Annotated[bool, typer.Option("--upper", help="Give the upper bound only.")] = False,
    requires: Annotated[
        float | None, typer.Option(help="A rate to claim: do these rollouts support at least that rate?")
    ] = None,
    population: Annotated[
        int | None,
        typer.Option(
            help="The rollouts were drawn at random from a list of this many items: the rate that the "
            "whole list would show."
        ),
    ] = None,
    pass_at: Annotated[
        int | None,
        typer.Option("--pass-at", help="The chance of at least one success in this many attempts (pass@k)."),
    ] = None,
    pass_all: Annotated[
        int | None,
        typer.Option("--pass-all", help="The chance that every one of this many attempts succeeds (pass^k)."),
    ] = None,
    human_labels: label_options.Human = None,
    labels_method: label_options.Method = None,
    pool_runs: two_runs.PoolRuns = False,
    target: files.Targeted = None,
    weights: files.Weights = None,
    *,
    reading: files.Reading,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    seed: terminal.Seed = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Where does one success rate lie? A rate with its interval and n.

    Examples:

        surefoot rate 38/50

        surefoot rate 38/50 --using clopper-pearson --confidence 0.99

        surefoot rate 38/50 --lower

        surefoot rate 38/50 --using optimal --lower --seed 7

        surefoot rate 38/50 --requires 0.6

        surefoot rate 170/340 --population 500

        surefoot rate results.csv

        surefoot rate results.csv --pass-at 5

        surefoot rate runs.csv --human labels.csv
    """
    given = modes.given(rate, locals())
    if any(Path(word).exists() for word in what):
        modes.settled("rate", "files", given)
        table = files.table([Path(path) for path in what], reading)
        if not pool_runs:
            two_runs.refuse_two_runs(table, what, "Give one of them, or compare them: surefoot compare.")
        attempts = pass_at if pass_all is None else _check.whole(pass_all, "--pass-all", least=1)
        if attempts is not None:
            import surefoot as sf

            passed = sf.pass_rates(table, attempts, every=pass_all is not None, confidence=confidence)
            terminal.show(passed[0] if len(passed) == 1 else passed, as_json=as_json)
            return
        table = label_options.labelled(table, human_labels, labels_method, reading.score)
        measure = files.measure_of(table, reading.score)
        if table.labels:
            modes.refuse("rate", "files --human", given)
        _of_table(table, measure, (files.weights_of(weights), files.target_of(target)), confidence, as_json)
        return
    mode = modes.settled("rate", "tallies", given)
    if lower and upper:
        raise ValueError("`--lower` and `--upper` must not be given together; leave both out for an interval.")
    tallies = [terminal.tally(word) for word in what]
    if population is not None:
        _of_list([stats.population_rate(one, population=population, confidence=confidence) for one in tallies], as_json)
        return
    if mode == "tallies --requires":
        least = _check.fraction(requires, "--requires")
        results: list[Any] = [stats.claim(tally, at_least=least, confidence=confidence) for tally in tallies]
    else:
        side: Side | None = "lower" if lower else "upper" if upper else None
        method = _check.choice(using or USUAL[side], "--using", methods(side))
        if seed is not None and not method.drawn:
            raise ValueError(f"`--seed` must come with a method that draws; {method.name} does not.")
        chance: dict[str, Any] = {"rng": seed} if method.drawn else {}
        results = [method.using(tally, confidence=confidence, **chance) for tally in tallies]
    terminal.show(results[0] if len(results) == 1 else results, as_json=as_json)


def _of_list(found: list[Any], as_json: bool) -> None:
    """The rates that whole lists would show, with what must be known of them."""
    terminal.show(found[0] if len(found) == 1 else found, as_json=as_json)
    if not as_json:
        for line in dict.fromkeys(str(note) for one in found for note in one.notes):
            typer.echo(f"  {line}")


def _of_table(table: Rollouts, measure: Measure, how: tuple[Any, Any], confidence: float, as_json: bool) -> None:
    """Every policy's rate or mean score in files of results; corrected where people labelled some of it."""
    import surefoot as sf

    weights, target = how
    if table.labels:
        _corrected(table, measure, confidence, as_json)
        return
    found = sf.measure(table, only=measure, weights=weights, target=target, confidence=confidence)
    known = [own for one in found if (own := one.of(measure)) is not None]
    notes = list(dict.fromkeys(note for own in known for note in own.notes))
    subjects = [note for note in notes if isinstance(note, Note) and note.kind == "about"]
    if len(subjects) == 1 and not as_json:
        typer.echo(f"For {subjects[0].values['subject']}:")
        notes.remove(subjects[0])
    terminal.show(found[0] if len(found) == 1 else found, as_json=as_json)
    if not as_json:
        for note in notes:
            typer.echo(f"  {note}")
        if subjects:
            typer.echo(f"  Read as: {table.design.reading()}.")


def _corrected(table: Rollouts, measure: Measure, confidence: float, as_json: bool) -> None:
    """Each policy's rate or mean score by human labels, where it carries some, above the judge's own."""
    import surefoot as sf

    by = {one.policy: one for one in sf.human_corrections(table, measure=measure, confidence=confidence)}
    own = [one for one in sf.measure(table, only=measure, confidence=confidence) if one.of(measure) is not None]
    found: list[Record] = [by.get(one.policy, one) for one in own]
    terminal.show(found[0] if len(found) == 1 else found, as_json=as_json)
    if not as_json:
        for one in by.values():
            typer.echo(f"  {one.policy} by the judge alone, not corrected: {one.judged}")
        if not by:
            typer.echo("  By the judge alone: the human labels cannot correct it. surefoot compare says why.")
