"""`surefoot rate`: where does one success rate lie?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from surefoot import _check, stats
from surefoot.cli import words

INTERVALS = ("wilson", "clopper-pearson", "jeffreys", "agresti-coull", "wald", "optimal")
BOUNDS = ("wilson", "clopper-pearson", "optimal")


def rate(
    tallies: Annotated[list[str], typer.Argument(metavar="K/N...", help="Successes/rollouts, such as 38/50.")],
    using: Annotated[
        str | None,
        typer.Option(help=f"Method: {', '.join(INTERVALS)}. An interval is Wilson's, a bound Clopper-Pearson's."),
    ] = None,
    lower: Annotated[bool, typer.Option("--lower", help="Give the lower bound only.")] = False,
    upper: Annotated[bool, typer.Option("--upper", help="Give the upper bound only.")] = False,
    requires: Annotated[
        float | None, typer.Option(help="A rate to be claimed: can these rollouts claim at least that?")
    ] = None,
    confidence: words.Confidence = 0.95,
    seed: words.Seed = None,
    as_json: words.AsJson = False,
) -> None:
    """Where does one success rate lie? A rate with its interval and n.

    Examples:

        surefoot rate 38/50

        surefoot rate 38/50 --using clopper-pearson --confidence 0.99

        surefoot rate 38/50 --lower

        surefoot rate 38/50 --using optimal --lower --seed 7

        surefoot rate 38/50 --requires 0.6

    The rates in a file: surefoot report FILE.
    """
    if lower and upper:
        raise ValueError("`--lower` and `--upper` must not be given together; leave both out for an interval.")
    if requires is not None and (using or lower or upper):
        raise ValueError("`--requires` must stand alone: a claim uses the guaranteed lower bound.")
    parsed = [words.tally(word) for word in tallies]
    if requires is not None:
        _check.fraction(requires, "--requires")
        results = [stats.claim(tally, at_least=requires, confidence=confidence) for tally in parsed]
    else:
        method = _method(using, "lower" if lower else "upper" if upper else None)
        chance: dict[str, Any] = {"rng": seed} if using == "optimal" else {}
        results = [method(tally, confidence=confidence, **chance) for tally in parsed]
    words.show(results[0] if len(results) == 1 else results, as_json=as_json)


def _method(using: str | None, side: str | None) -> Any:
    name = using or ("clopper-pearson" if side else "wilson")
    _check.choice(name, "--using", dict.fromkeys(BOUNDS if side else INTERVALS))
    if name == "optimal" and side is None:
        return stats.optimal_interval
    return getattr(stats, "_".join([name.replace("-", "_"), side] if side else [name.replace("-", "_")]))
