"""What several tests of leases share."""

from __future__ import annotations

from tests.support.studies import begun


def left_behind(**changes):
    """A study in which arm 1 left while it held turn 6, after five results, and arm 2 went on as far as it may."""
    study = begun(horizon=100, rule="mixture", **changes)
    for _ in range(5):
        study.record(study.next_turn(holder="arm 1"), True)
    assert study.next_turn(holder="arm 1").number == 6
    while (turn := study.next_turn(holder="arm 2", wait=False)) is not None:
        study.record(turn, True)
    return study
