"""`surefoot plan gate`: how likely does a release pass, and how many rollouts does it take?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import surefoot as sf
from surefoot.analysis.gate_plans import Expected
from surefoot.cli import terminal


def gate(
    needs: Annotated[Path, typer.Argument(metavar="NEEDS.toml", help="The needs, as for `surefoot gate`.")],
    expect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE=VALUE",
            help="What is expected: a rate, success=0.8; of both policies, success=0.85/0.8; a mean and its standard "
            "deviation, duration=45,20. Repeatable.",
        ),
    ] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=COUNT", help="How many levels a column has: benchmark=12. Repeatable."),
    ] = None,
    rollouts: Annotated[
        int | None, typer.Option(help="Rollouts of each policy, on each level; leave out to learn how many.")
    ] = None,
    power: Annotated[float, typer.Option(help="The chance of passing that is wanted.")] = 0.8,
    as_json: terminal.AsJson = False,
) -> None:
    """How likely does a release pass, and which need costs most?

    Examples:

        surefoot plan gate release.toml --expect success=0.8 --levels benchmark=12

        surefoot plan gate release.toml --expect success=0.8 --expect duration=45,20 --rollouts 500
    """
    expected = {name: _expected(word) for name, word in _named(expect, "--expect", "success=0.8").items()}
    counts = {}
    for name, word in _named(levels, "--levels", "benchmark=12").items():
        if not word.isdecimal() or not int(word):
            raise ValueError(f"`--levels` must be a column and a number, such as benchmark=12; got {name}={word}.")
        counts[name] = int(word)
    plan = sf.plan_gate(needs, expected, levels=counts, rollouts=rollouts, power=power)
    terminal.show(plan, as_json=as_json)


def _named(words: list[str] | None, option: str, example: str) -> dict[str, str]:
    found = {}
    for word in words or ():
        name, equals, value = word.partition("=")
        if not equals or not name or not value:
            raise ValueError(f"`{option}` must be a name and a value, such as {example}; got {word!r}.")
        found[name] = value
    return found


def _expected(word: str) -> Expected:
    values, _, spread = word.partition(",")
    first, _, second = values.partition("/")
    for part in filter(None, (first, second, spread)):
        if not terminal.is_number(part):
            raise ValueError(f"`--expect` must be numbers, such as success=0.85/0.8 or duration=45,20; got {word!r}.")
    return Expected(float(first), float(second) if second else None, float(spread) if spread else None)
