"""`surefoot demo`: what does surefoot show, on bundled data?"""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from surefoot import stats
from surefoot.cli import words
from surefoot.core.tally import Tally
from surefoot.core.words import number, span


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The figure to write: .svg, .png or .pdf.")] = Path(
        "surefoot-demo.svg"
    ),
    as_json: words.AsJson = False,
) -> None:
    """Show the main job on published counts: a table of rates, and a figure of what an interval's promise is worth.

    Examples:

        surefoot demo

        surefoot demo -o coverage.png
    """
    rows = [(row, Tally(int(row["successes"]), int(row["rollouts"]))) for row in _counts()]
    intervals = [stats.wilson(tally) for _, tally in rows]
    bounds = [stats.clopper_pearson_lower(tally) for _, tally in rows]
    if as_json:
        words.show_json(
            [
                {**row, "interval": interval.to_dict(), "lower_bound": bound.to_dict()}
                for (row, _), interval, bound in zip(rows, intervals, bounds, strict=True)
            ]
        )
    else:
        typer.echo("Published counts, with what they support (95% confidence; ends rounded outward):\n")
        words.table(
            ["policy", "task", "k/n", "rate", "Wilson interval", "at least (guaranteed)"],
            [
                [
                    row["policy"],
                    row["task"],
                    f"{tally.successes}/{tally.trials}",
                    number(tally.rate),
                    span(interval.low, interval.high),
                    number(bound.value, toward="down"),
                ]
                for (row, tally), interval, bound in zip(rows, intervals, bounds, strict=True)
            ],
        )
        for source in dict.fromkeys(row["source"] for row, _ in rows):
            typer.echo(f"Source: {source}")
    _figure(output)
    typer.echo(f"\nWrote {output}: how often each interval holds the truth, exactly.", err=as_json)


def _counts() -> list[dict[str, str]]:
    text = (files("surefoot.rollouts") / "examples" / "published_counts.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _figure(output: Path) -> None:
    from surefoot.reporting import style
    from surefoot.reporting.coverages import coverage_figure

    trials, confidence, steps = 20, 0.95, 400
    rates = [(i + 0.5) / steps for i in range(steps)]
    curves = {
        name: [stats.coverage(method, trials=trials, rate=rate, confidence=confidence) for rate in rates]
        for name, method in {
            "Wilson": stats.wilson,
            "Clopper-Pearson": stats.clopper_pearson,
            "Wald (do not use)": stats.wald,
        }.items()
    }
    style.save(coverage_figure(rates, curves, trials=trials, confidence=confidence), output)
