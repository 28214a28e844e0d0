"""How does `compare --gate` end, and why?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from surefoot.core import formatting as formatting
from surefoot.core.interval import Bound
from surefoot.core.sentences import BEHIND, DEPENDS, GATE, fill

if TYPE_CHECKING:
    from surefoot.analysis.comparisons import Comparison

NOT_COMPARABLE = 3
TWICE = "rows repeat others in every column, so rollouts may count twice. Remove the copies, or number the repeats."


class Ended(NamedTuple):
    """How a gate ends: its exit code, and why."""

    code: int
    says: str


Bounds = tuple[Bound, Bound]
"""What a gate judges by: the gain is at least the first and at most the second, each at the whole confidence."""


def of_bounds(bounds: Sequence[Bounds], margin: float, names: Sequence[str] = (), codes: Sequence[int] = ()) -> Ended:
    """How a gate ends: one regression fails it, and it passes only when nothing is open; the culprits are named."""
    codes = codes or [code_of(each, margin) for each in bounds]
    code = 1 if 1 in codes else max(codes)
    behind = code == 2 and any(upper.value < 0.0 for (_, upper), each in zip(bounds, codes, strict=True) if each == 2)
    several = bool(code) and len(names) > 1
    culprits = [name for name, each in zip(names, codes, strict=True) if each == code] if several else []
    said = f"{GATE[code].removesuffix('.')}: {formatting.some_names(culprits, 4)}." if culprits else GATE[code]
    return Ended(code, f"{said} {BEHIND}" if behind else said)


def shown(bounds: Bounds) -> str:
    """The two bounds in a line, labelled."""
    lower, upper = bounds
    unit = formatting.unit(lower.scale)
    return (
        f"Gate, two one-sided tests: the gain is at least {formatting.number(lower.value, lower.scale, 'down')}{unit} "
        f"({formatting.percent(lower.confidence)}); it is at most "
        f"{formatting.number(upper.value, upper.scale, 'up')}{unit} ({formatting.percent(upper.confidence)})."
    )


def of_comparisons(found: Sequence[Any], findings: Sequence[Any]) -> Ended:
    """How a gate on compared files ends, given what the audit calls serious: data counted twice are not judged."""
    from surefoot.auditing.collection_checks import DUPLICATED
    from surefoot.auditing.outcome_checks import APART
    from surefoot.reporting.reviews import NO_TASK

    refused = [one.refused for one in found if one.refused is not None]
    if refused:
        return not_comparable(f"the human labels allow no verdict. {refused[0]}")
    if not all(one.comparable for one in found) or any(finding.about == APART for finding in findings):
        return not_comparable(
            fill(NO_TASK, words=found[0].words, first=repr(found[0].first), second=repr(found[0].second))
        )
    if any(finding.about == DUPLICATED for finding in findings):
        return not_comparable(TWICE)
    names = [str(one.task or one.policy or one.first) for one in found]
    codes = [code_of_one(one) for one in found]
    if codes == [2] and found[0].depends_on:
        return Ended(2, f"{GATE[2].removesuffix('.')}: {DEPENDS.format(column=found[0].depends_on)}.")
    return of_bounds([one.bounds for one in found], found[0].gain.margin, names, codes)


def not_comparable(why: str) -> Ended:
    """The end of a gate on what cannot be judged, neither way."""
    return Ended(NOT_COMPARABLE, f"not comparable: {why}")


def told(ends: Ended | None, bounds: Sequence[Bounds] = ()) -> dict[str, Any]:
    """How the gate ends, as JSON-ready data; nothing without a gate."""
    if ends is None:
        return {}
    more = {"bounds": [[bound.to_dict() for bound in each] for each in bounds]} if bounds else {}
    return {"gate": {"code": ends.code, "says": ends.says, **more}}


def end(ends: Ended | None, *, as_json: bool) -> None:
    """Say how the gate ends, and end; nothing without a gate."""
    if ends is None:
        return
    if ends.code == NOT_COMPARABLE:
        typer.echo(f"surefoot: {ends.says}", err=True)
    elif not as_json:
        typer.echo(ends.says)
    raise typer.Exit(ends.code)


def code_of_one(one: Comparison) -> int:
    """The code of one comparison; 2 where it depends on a column, so that no average answers."""
    code = code_of(one.bounds, one.gain.margin) if one.bounds else 2
    return 2 if one.depends_on and (code == 0 or not one.opposite) else code


def code_of(bounds: Bounds, margin: float) -> int:
    """0 better or shown not worse than the margin, 1 worse by more than it, 2 cannot tell."""
    lower, upper = bounds
    if lower.value > -margin:
        return 0
    return 1 if upper.value < -margin else 2
