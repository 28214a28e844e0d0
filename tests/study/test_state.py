"""Tests of `surefoot.study.state`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from surefoot.errors import StudyError
from surefoot.sequential import run
from surefoot.study.events import Event, Line
from surefoot.study.state import folded
from tests.support.ended_studies import altered, voiding
from tests.support.studies import begun, driven, outcomes, score


@pytest.mark.parametrize(
    "forge",
    [
        lambda lines: [voiding(lines[2], block=7)],
        lambda lines: [altered(lines[1], turn=5)],
        lambda lines: [replace(lines[2], event=Event("amended", {"changes": {"rule": "savi", "environments": "shared"},
                                                                "reason": "", "table": ""}, "", "2027"))],
    ],
    ids=["void", "lease", "amendment"],
)  # fmt: skip
def test_a_line_that_makes_no_sense_leaves_the_state_as_it_was(forge):
    lines = begun_lines()
    fold, same = folded(lines), folded(lines)
    (bad,) = forge(lines)
    with pytest.raises(StudyError, match="does not fit the lines before it"):
        fold.take(Line.after(fold.last, bad.event))
    assert (fold.plan, fold.voids, fold.waiting, fold.version) == (same.plan, same.voids, same.waiting, same.version)


def begun_lines():
    return driven(begun(), outcomes(5, new=0.9, old=0.5), 1).store.read()


def test_a_line_that_does_not_follow_is_not_taken_in():
    study, other = begun(), begun()
    other.next_turn()
    study.store.append([replace(other.store.read()[1], hash="0" * 64)], after=study.fold.head)
    with pytest.raises(StudyError, match="Line 2 of the log does not follow from the one before it"):
        study.refresh()


def test_replaying_the_log_gives_the_same_turns_and_verdict():
    study = driven(begun(tasks=("a", "b")), outcomes(3, new=0.9, old=0.5))
    again = folded(study.store.read())
    assert again.turns == study.fold.turns
    assert again.results == study.fold.results
    assert again.decision.verdict is study.verdict


# --- the rule sees pairs in scheduled order ---


def test_pairs_enter_in_scheduled_order_as_the_completed_prefix_grows():
    study = begun()
    ahead = study.next_turns(6)
    for number in (3, 4, 5, 6):
        study.record(ahead[number - 1], True)
        assert study.fold.counted == []
    study.record(ahead[0], False)
    assert study.fold.counted == []
    study.record(ahead[1], True)
    assert study.fold.counted == [1, 2, 3]
    state = study.fold.decision.state
    pairs = [tuple(score(study, n)[policy] for policy in ("new", "old")) for n in (1, 2, 3)]
    assert state == run(state.rule, pairs)[-1]
