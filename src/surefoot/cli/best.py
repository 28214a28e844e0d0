"""`surefoot best`: which of many policies may be the best, and how good is the one picked?"""

from __future__ import annotations

from typing import Annotated

import typer

import surefoot as sf
from surefoot.cli import files, terminal


@files.reads
def best(
    paths: files.Paths,
    within: Annotated[
        float | None,
        typer.Option("--within", help="Ask whether the pick is within this of the best: 0.05 for 5 points."),
    ] = None,
    target: files.Targeted = None,
    weights: files.Weights = "units",
    lower_is_better: files.LowerIsBetter = False,
    *,
    reading: files.Reading,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """Which policies may be the best, and how good is the highest?

    The highest of many is probably not as good as it looks: its bound allows for the choice. How often each policy was
    run must have been fixed beforehand.

    Examples:

        surefoot best checkpoints.csv

        surefoot best checkpoints.csv --within 0.05

        surefoot best runs.csv --score progress
    """
    table = files.limited(files.table(paths, reading), reading.score, lower_is_better)
    found = sf.best(
        table,
        within=within,
        measure=files.measure_of(table, reading.score),
        target=files.target_of(target),
        weights=files.weights_of(weights),
        lower_is_better=lower_is_better,
        confidence=confidence,
    )
    terminal.show(found, as_json=as_json)
