"""A function that runs many turns at once, as a vectorised simulator does."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.runners import functions
from surefoot.runners.outcomes import CrashError
from surefoot.study.conduct import counts_of
from surefoot.study.stores import ConflictError, StoreError
from surefoot.study.stores.memory import MemoryStore
from surefoot.study.studies import Study
from tests.support.studies import begun, outcomes


class Store(MemoryStore):
    """A store that counts its appends, and fails where told."""

    def __init__(self):
        super().__init__()
        self.appends, self.fails = 0, []

    def append(self, lines, *, after):
        self.appends += 1
        if self.fails and (fault := self.fails.pop(0)) is not None:
            raise fault
        super().append(lines, after=after)


def better(turns):
    return [turn.policy == "new" for turn in turns]


def test_many_turns_are_handed_out_and_many_outcomes_taken():
    store = Store()
    study, sizes = begun(store, horizon=100, futility=0.0), []
    robot = outcomes(5, new=0.5, old=0.5)

    def rollouts(turns):
        sizes.append(len(turns))
        assert [turn.number for turn in turns] == sorted(turn.number for turn in turns)
        return [robot(turn) for turn in turns]

    status = sf.run_study(study, rollouts, batch=64)
    assert status.finished
    assert sizes[:3] == [64, 64, 64]
    assert store.appends <= 1 + 3 * len(sizes)
    one_by_one = outcomes(5, new=0.5, old=0.5)
    again = sf.run_study(begun(horizon=100, futility=0.0), one_by_one)
    assert (status.blocks, status.decision) == (again.blocks, again.decision)
    recorded = [event.body["turn"] for event in study.fold.history if event.kind == "recorded"]
    assert recorded == sorted(recorded)
    assert sf.verify(study.store).sound


def test_what_is_run_after_the_decision_is_kept_and_said(caplog):
    study = begun(horizon=100)
    assert sf.run_study(study, better, batch=64).decision == "stop: decided"
    known = counts_of(study.fold)
    assert (known.run, known.surplus) == (64, 64 - known.counted)
    assert known.surplus > 0
    assert f"{known.surplus} later rollouts of its batch are kept in the log as surplus" in caplog.text


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_outcomes_come_in_any_sequence(kind):
    study = begun()
    sf.run_study(study, lambda turns: kind(better(turns)), batch=6, turns=6)
    assert [one.score for _, one in sorted(study.fold.results.items())] == [
        float(study.fold.turns[number].policy == "new") for number in range(1, 7)
    ]


def test_outcomes_and_crashes_of_single_turns():
    study = begun()

    def rollouts(turns):
        first = sf.Outcome(success=True, steps=9, duration=2.5, notes="seed 4")
        return [first, CrashError("crash", "the arm left the table"), None, True]

    sf.run_study(study, rollouts, batch=4, turns=4)
    kept = study.fold.results
    assert (kept[1].steps, kept[1].duration, kept[1].note) == (9, 2.5, "seed 4")
    assert (kept[2].score, kept[2].ended, kept[2].note) == (0.0, "crash", "the arm left the table")
    assert (kept[3].score, kept[3].ended) == (0.0, "unreadable")
    assert kept[4].score == 1.0


def test_a_batch_that_crashes_is_a_crash_of_each_of_its_turns(caplog):
    study, calls = begun(), []

    def rollouts(turns):
        calls.append(turns)
        if len(calls) == 2:
            raise RuntimeError("CUDA out of memory")
        return better(turns)

    sf.run_study(study, rollouts, batch=4, turns=12)
    ended = [study.fold.results[number].ended for number in sorted(study.fold.results)]
    assert ended == ["finished"] * 4 + ["crash"] * 4 + ["finished"] * (len(ended) - 8)
    assert "turns 5 to 8 crashed" in caplog.text


@pytest.mark.parametrize(
    ("rollouts", "said"),
    [
        (lambda turn: turn.policy == "new", "The first batch of 4 turns gave nothing"),
        (lambda turns: True, "got bool for 4 turns"),
        (lambda turns: [True], "got 1 outcomes for 4 turns"),
        (lambda turns: None, "got NoneType for 4 turns"),
    ],
)
def test_a_function_that_takes_no_batches_records_nothing(rollouts, said):
    study = begun()
    with pytest.raises(sf.errors.StudyError, match=said):
        sf.run_study(study, rollouts, batch=4)
    assert not study.fold.results
    assert study.next_turn(holder="another").number == 1


def test_a_runner_of_single_turns_is_refused():
    runner = sf.GymnasiumRunner("CartPole-v1", {"new": lambda _: 0, "old": lambda _: 0})
    with pytest.raises(ValueError, match="GymnasiumRunner runs one turn at a time: use `workers`"):
        sf.run_study(begun(), runner, batch=4)


def test_a_batch_that_does_not_come_back_is_given_up():
    study, calls = begun(), []

    def rollouts(turns):
        calls.append(turns)
        if len(calls) == 2:
            functions.time.sleep(1.0)
        return better(turns)

    sf.run_study(study, rollouts, batch=2, turns=4, time_limit=0.05)
    assert [study.fold.results[number].ended for number in (1, 2, 3, 4)] == ["finished"] * 2 + ["time-out"] * 2


def test_nothing_is_lost_while_the_store_is_away_or_others_write(monkeypatch):
    monkeypatch.setattr(functions, "PAUSE", 0.01)
    store = Store()
    study = begun(store, horizon=40, futility=0.0)
    robot, calls = outcomes(2, new=0.5, old=0.5), []

    def rollouts(turns):
        calls.append(turns)
        if len(calls) == 1:
            store.fails = [StoreError("the disk is full"), None]
        if len(calls) == 2:
            store.fails = [ConflictError("somebody else was faster")]
        if len(calls) == 3:
            Study.open(store).check(["lights"])  # another device writes
        return [robot(turn) for turn in turns]

    assert sf.run_study(study, rollouts, batch=16).finished
    assert sorted(study.fold.results) == [turn.number for turns in calls for turn in turns]
    assert sf.verify(store).sound
    assert Study.open(store).fold.head == study.fold.head


def test_several_workers_take_batches():
    study = begun(horizon=100, futility=0.0)
    robot = outcomes(4, new=0.5, old=0.5)
    status = sf.run_study(study, lambda turns: [robot(turn) for turn in turns], batch=8, workers=3)
    assert status.finished
    assert sf.verify(study.store).sound
    assert not study.fold.waiting
