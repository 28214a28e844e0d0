"""What several tests of course share."""

from __future__ import annotations

from tests.support.studies import Clock, begun


def two_days(**changes):
    """A study of two sessions with a night between, two scorers and two robots, a void, a crash and failures."""
    clock = Clock()
    study = begun(clock=clock, horizon=12, tasks=("mug", "towel"), time_limit=60.0, rule="fixed", **changes)
    for number in range(14):
        if number == 6:
            clock.on(hours=14)
        clock.on(minutes=4)
        study.author, study.holder = ("Ann", "arm 1") if number < 6 else ("Bob", "arm 2")
        turn = study.next_turn()
        fails = turn.policy == "old" and turn.block % 2 == 0
        if number == 9:
            study.crash(turn, note="segmentation fault")
        else:
            kind = {"failure": "dropped it", "note": f"at turn {turn.number}"} if fails else {}
            study.record(turn, not fails, duration=10.0 + number, steps=5, **kind)
    study.void(3, reason="hardware fault", note="the gripper lost a finger")
    return study
