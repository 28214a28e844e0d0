"""How is a comparison of files shown, in lines that a person can act on?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from surefoot.cli import gates
from surefoot.core import wording
from surefoot.core.words import number, percent, span

if TYPE_CHECKING:
    from surefoot.analysis.comparisons import Comparison


def show(found: Sequence[Comparison]) -> None:
    """Print comparisons: the gain, the two rates, what it means, how it was made, and what it rests on."""
    for one in found:
        typer.echo(str(one))
        typer.echo(f"  {_rates(one)}")
        typer.echo(f"  {_sentence(one)}")
        for line in (
            gates.shown(one.bounds) if one.bounds else "",
            one.why,
            *map(str, filter(None, (one.outlook, *one.notes))),
        ):
            if line:
                typer.echo(f"  {line}")
    for line in dict.fromkeys(wording.holds_if(one.gain.assumptions) for one in found):
        typer.echo(f"  {line}")


def _rates(found: Comparison) -> str:
    """Each policy by itself: no gain is shown without the two rates behind it."""
    shown = [
        f"{name} {number(one.estimate, one.scale)} {span(one.low, one.high, one.scale)} n={one.trials:,}"
        for name, one in ((found.first, found.of_first), (found.second, found.of_second))
    ]
    return f"{'; '.join(shown)} ({percent(found.of_first.confidence)} {found.of_first.method} intervals)"


def _sentence(found: Comparison) -> str:
    if found.refused is not None:
        return "No verdict: the human labels do not allow one."
    if not found.comparable:
        return gates.NO_TASK.format(found.first, found.second)
    ends = found.interval
    return wording.sentence(
        found.verdict, ends.low, ends.high,
        margin=found.gain.margin, scale=ends.scale, first=found.first, second=found.second,
    )  # fmt: skip
