"""How does `compare --gate` end, and why?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import typer

from surefoot.core.gain import Gain
from surefoot.core.verdict import Verdict

NOT_COMPARABLE = 3
GATE = {
    0: "Gate: passed, better or not worse than the margin (exit code 0).",
    1: "Gate: failed, worse (exit code 1).",
    2: "Gate: cannot tell (exit code 2).",
}
BEHIND = "It was shown to fall behind, perhaps by less than the margin."
NO_TASK = "{!r} and {!r} share no task: the gain only describes, and no gate passes on it. Run both on the same tasks."
TWICE = "rows repeat others in every column, so rollouts may count twice. Remove the copies, or number the repeats."


class Ended(NamedTuple):
    """How a gate ends: its exit code, and why."""

    code: int
    says: str


def of_gains(gains: Sequence[Gain]) -> Ended:
    """How a gate on these gains ends: one regression fails it, and it passes only when nothing is open."""
    codes = [_code(gain) for gain in gains]
    code = 1 if 1 in codes else max(codes)
    behind = code == 2 and any(gain.interval.high < 0.0 and not gain.not_worse for gain in gains)
    return Ended(code, f"{GATE[code]} {BEHIND}" if behind else GATE[code])


def of_comparisons(found: Sequence[Any], findings: Sequence[Any]) -> Ended:
    """How a gate on compared files ends, given what the audit calls serious: data counted twice are not judged."""
    from surefoot.rollouts.collecting import DUPLICATED

    if not all(one.comparable for one in found):
        return not_comparable(NO_TASK.format(found[0].first, found[0].second))
    if any(finding.about == DUPLICATED for finding in findings):
        return not_comparable(TWICE)
    return of_gains([one.gain for one in found])


def not_comparable(why: str) -> Ended:
    """The end of a gate on what cannot be judged, neither way."""
    return Ended(NOT_COMPARABLE, f"not comparable: {why}")


def told(ends: Ended | None) -> dict[str, Any]:
    """How the gate ends, as JSON-ready data; nothing without a gate."""
    return {} if ends is None else {"gate": {"code": ends.code, "says": ends.says}}


def end(ends: Ended | None, *, as_json: bool) -> None:
    """Say how the gate ends, and end; nothing without a gate."""
    if ends is None:
        return
    if ends.code == NOT_COMPARABLE:
        typer.echo(f"surefoot: {ends.says}", err=True)
    elif not as_json:
        typer.echo(ends.says)
    raise typer.Exit(ends.code)


def _code(gain: Gain) -> int:
    """0 better or shown not worse than the margin, 1 worse by more than it, 2 cannot tell."""
    if gain.verdict is Verdict.BETTER or gain.not_worse:
        return 0
    return 1 if gain.verdict is Verdict.WORSE else 2
