"""`surefoot demo`: the main job, on bundled data."""

from __future__ import annotations

import csv
from importlib.resources import files as resources
from pathlib import Path
from typing import Annotated

import typer

import surefoot as sf
from surefoot import stats
from surefoot.cli import files, words
from surefoot.cli.report import show, writable
from surefoot.core.tally import Tally
from surefoot.core.words import number, span


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page to write: .html, .md, .tex or .json.")
    ] = Path("surefoot-demo.html"),
    data: Annotated[
        Path | None, typer.Option("--data", help="Also write the rollouts as a CSV, to try other commands on.")
    ] = None,
    as_json: words.AsJson = False,
) -> None:
    """The main job, on bundled data.

    Prints the tables, writes one page, opens nothing.

    Examples:

        surefoot demo

        surefoot demo -o /tmp/demo.html

        surefoot demo --data results.csv
    """
    from surefoot.rollouts.example_study import SEED, example_rollouts

    writable(output)
    rollouts = example_rollouts()
    if data is not None:
        if not data.absolute().parent.is_dir():
            raise ValueError(f"`--data` must be in a folder that exists; there is no {str(data.parent)!r}.")
        rollouts.polars().write_csv(data)
    with files.busy("comparing and drawing"):
        made = sf.report(
            rollouts,
            title=f"Demo: a simulated partial-credit study (seed {SEED})",
            command=f"surefoot demo -o {output}",
        )
        made.save(output)
    if as_json:
        words.show_json(made.data())
        return
    typer.echo("Published success counts, with what they support (95% confidence; ends rounded outward):")
    words.table(["policy", "task", "k/n", "rate", "Wilson interval", "at least (guaranteed)"], _published())
    for source in dict.fromkeys(row["source"] for row in _counts()):
        typer.echo(f"Source: {source}")
    typer.echo(f"\nA simulated study: {made.overview.rollouts} rollouts of two policies in the same conditions.")
    show(made)
    typer.echo(f"\nWrote {output}: open it in a browser.")
    if data is not None:
        typer.echo(f"Wrote {data}: try `surefoot report {data}`, or any other command.")


def _published() -> list[list[str]]:
    rows = []
    for row in _counts():
        tally = Tally(int(row["successes"]), int(row["rollouts"]))
        interval, bound = stats.wilson(tally), stats.clopper_pearson_lower(tally)
        counts = f"{tally.successes}/{tally.trials}"
        ends = span(interval.low, interval.high)
        rows.append([row["policy"], row["task"], counts, number(tally.rate), ends, number(bound.value, toward="down")])
    return rows


def _counts() -> list[dict[str, str]]:
    text = (resources("surefoot.rollouts") / "examples" / "published_counts.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
