"""`surefoot slices`: where is a policy better, where worse, and where does it fail?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

import surefoot as sf
from surefoot import _check
from surefoot.cli import files, modes, terminal, two_runs
from surefoot.core.verdict import CLAIMS

if TYPE_CHECKING:
    from surefoot.analysis.slices import Slices


@modes.of("slices")
@files.reads
def slices(
    paths: files.Paths,
    first: Annotated[str | None, typer.Option(help="The policy that the claims are about.")] = None,
    second: Annotated[
        str | None,
        typer.Option(help="The policy it is compared with; without --first, the baseline of all others."),
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", help="One policy by itself: where it fails more than elsewhere.")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMN,...", help="The columns to look at; found if not said.")
    ] = None,
    ways: Annotated[int, typer.Option("--ways", help="1 for levels only, 2 for pairs of levels too.")] = 2,
    claim: Annotated[
        str,
        typer.Option("--claim", metavar="both|worse|better", help="What to look for; one way takes all of the error."),
    ] = "both",
    weights: files.Weights = "units",
    dealt: Annotated[
        bool, typer.Option("--dealt", help="The levels of columns were dealt to rollouts at random.")
    ] = False,
    *,
    reading: files.Reading,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """Where is a policy better, where worse, where does it fail?

    Every level of every setting, of few units and of watched columns is looked at, and every pair of levels. A slice is
    named only if chance, over all of them, hardly ever shows as much: one error covers all slices. Where nothing is
    shown, none is named. Two files that hold the same policy are two runs of it: pr.csv main.csv.

    Examples:

        surefoot slices results.csv --first new --second old

        surefoot slices results.csv --first new --second old --by lighting,clutter --claim worse

        surefoot slices pr.csv main.csv

        surefoot slices results.csv --only new
    """
    wanted = [name.strip() for name in by.split(",")] if by else []
    _check.choice(claim, "--claim", dict.fromkeys(CLAIMS))
    table = files.table(paths, reading)
    runs = None
    if only is None and len(table.policies) == 1:
        runs = two_runs.pair_of_runs(
            table, [str(path) for path in paths], (first, second), previous=(None, None), pool=False
        )
    if runs is not None:
        typer.echo(f"note: {runs.says}", err=True)
        table = files.table(paths, replace(reading, policies=list(runs.names)))
        first, second = runs.names
    options = {
        "by": wanted, "ways": ways, "claim": claim, "measure": files.measure_of(table, reading.score),
        "weights": files.weights_of(weights), "dealt": dealt, "confidence": confidence,
    }  # fmt: skip
    if only is not None:
        found: tuple[Slices, ...] = (sf.slices(table, only, **options),)
    elif first is None and second is not None and len(table.policies) > 2:
        found = sf.slices_against(table, second, **options)
    else:
        found = (sf.slices(table, *files.two_policies(table, paths, first, second), **options),)
    if as_json:
        bodies = [one.to_dict() for one in found]
        terminal.show_json(bodies[0] if len(bodies) == 1 else bodies)
        return
    for one in found:
        typer.echo(str(one))
