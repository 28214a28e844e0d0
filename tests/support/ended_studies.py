"""What several tests of ended studies share."""

from __future__ import annotations

from dataclasses import replace

from surefoot.study.events import Event
from tests.support.studies import Clock, begun, driven, outcomes


def finished(**changes):
    return driven(begun(**changes), outcomes(5, new=0.95, old=0.3))


def altered(line, **changes):
    return replace(line, event=replace(line.event, body={**line.event.body, **changes}))


def voiding(line, block=1):
    """A void of the turn that a line records."""
    body = {"turn": line.event.body["turn"], "block": block, "reason": "safety stop", "note": "", "seen": False}
    return replace(line, event=Event("voided", body, line.event.author, line.event.time))


def untidy():
    clock = Clock()
    study = begun(clock=clock, time_limit=90.0)
    driven(study, outcomes(3, new=0.95, old=0.3), 4)
    turn = study.next_turn(holder="arm 1")
    clock.on(hours=1)
    again = study.next_turn(holder="arm 2")
    assert again == turn
    study.record(turn, True, duration=95.5)
    study.undo(turn, reason="wrong key")
    study.record(turn, False, duration=95.5)
    study.void(1, reason="wrong set-up")
    study.unblind(reason="could not wait")
    ahead = study.next_turns(8)
    for one in ahead:
        study.record(one, one.policy == "new")
    return study
