"""`surefoot plan next`: what would the next rollouts tell, spent this way or that?"""

from __future__ import annotations

from typing import Annotated

import typer

import surefoot as sf
from surefoot.cli import files, terminal


@files.reads
def plan_next(
    paths: files.Paths,
    budget: Annotated[int, typer.Option("--budget", help="Rollouts to buy, of both policies together.")],
    first: Annotated[str | None, typer.Option(help="The policy that the gain is about.")] = None,
    second: Annotated[str | None, typer.Option(help="The policy it is compared with.")] = None,
    *,
    reading: files.Reading,
    confidence: terminal.Confidence = 0.95,
    as_json: terminal.AsJson = False,
) -> None:
    """What to buy next: more questions, or more rollouts of the same?

    The width of the interval that each purchase would give, about units like these; the best one is named.

    Examples:

        surefoot plan next results.csv --budget 2000

        surefoot plan next results.csv --first new --second old --budget 200
    """
    table = files.table(paths, reading)
    names = files.two_policies(table, paths, first, second)
    found = sf.plan_next(
        table, *names, budget=budget, measure=files.measure_of(table, reading.score), confidence=confidence
    )
    terminal.show(found, as_json=as_json)
