"""Which pair does the rule wait for, and who holds it up?

The rule reads pairs in the order in which they were scheduled, so one turn that stays out holds up every pair after it.
Whoever asks is told which turn that is. And no new pair is begun while more of them are complete and unread than the
devices at work explain: they would be run for nothing if the rule decides before them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from surefoot.core import words
from surefoot.core.record import Record
from surefoot.study import holders

if TYPE_CHECKING:
    from surefoot.study.folds import Fold

REACH = 2
"""Pairs for each device that may be complete beyond the one that the rule waits for."""


@dataclass(frozen=True, slots=True)
class Wait(Record):
    """A pair that is not complete although later ones are.

    Attributes:
        block: The pair's number, or the round's.
        turn: The turn that it lacks.
        holder: Who holds that turn; empty when whoever asks next gets it.
        minutes: For how long.
        later: How many later pairs are complete, and wait with it.
        stalled: Whether no further pair is begun until it is in.
        sentence: All this, in words.
    """

    block: int
    turn: int
    holder: str
    minutes: int
    later: int
    stalled: bool
    sentence: str


def wait_of(fold: Fold, now: str) -> Wait | None:
    """What the rule waits for while later pairs are complete; None when it waits for nothing."""
    number, later = fold.reached + 1, fold.later
    if fold.finished or not later:
        return None
    missing = [turn.number for turn in fold.blocks[number] if turn.number in fold.waiting]
    held = [turn for turn in missing if turn in fold.leases and fold.leases[turn].until > now]
    turn = (held or missing)[0]
    holder, minutes = "", 0
    if held:
        lease = fold.leases[turn]
        holder = lease.holder
        minutes = int((datetime.fromisoformat(now) - datetime.fromisoformat(lease.since)).total_seconds() // 60)
    unit = "pair" if len(fold.plan.policies) == 2 else "round"
    who = "which nobody holds: whoever asks next gets it"
    if holder:
        long = words.counted(minutes, "minute") if minutes else "less than a minute"
        who = f"held by {holders.known_as(holder)} for {long}"
    behind = (
        f"1 later {unit} is complete and counts" if later == 1 else f"{later:,} later {unit}s are complete and count"
    )
    sentence = f"{unit.capitalize()} {number} waits for turn {turn}, {who}; {behind} only after it."
    stalled = bool(held) and later >= most_later({fold.leases[one.number].holder for one in fold.held(now)})
    return Wait(number, turn, holder, minutes, later, stalled, sentence)


def most_later(at_work: Collection[str]) -> int:
    """How many pairs may be complete beyond the one that the rule waits for, before no further one is begun."""
    return REACH * max(2, len(at_work))  # whoever holds it up, and whoever asks
