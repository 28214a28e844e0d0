"""A study from its first event to its report: what it records, refuses, lists and finds when it was tampered with."""

from __future__ import annotations

import html
import json
import random
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.console.live_figures import live_of
from surefoot.errors import StudyError
from surefoot.sequential import run
from surefoot.study.deviations import deviations, worst_case
from surefoot.study.events import Event, Line, breaks, broken, chained
from surefoot.study.recording import RefusedError
from surefoot.study.state import folded
from surefoot.study.status import Account, account
from surefoot.study.stores import ConflictError
from surefoot.study.stores.memory import MemoryStore
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study
from surefoot.study.verification import Verification, replayed, verified
from tests.studies import Clock, begun, driven, outcomes

OLD = sorted(Path(__file__).parents[1].joinpath("fixtures", "studies").glob("*.jsonl"))


def finished(**changes):
    return driven(begun(**changes), outcomes(5, new=0.95, old=0.3))


# --- the public road ---


def test_from_plan_to_verdict_and_table(tmp_path):
    study = sf.Study.create(sf.Plan(policies=("new", "old"), horizon=50), str(tmp_path / "study.db"))
    rng = random.Random(1)
    while (turn := study.next_turn()) is not None:
        study.record(turn, rng.random() < {"new": 0.95, "old": 0.3}[turn.policy])
    assert study.finished
    assert study.verdict is sf.Verdict.BETTER
    study.unblind(reason="decided")
    rollouts = study.rollouts()
    assert sorted(rollouts.policies) == ["new", "old"]
    assert len(rollouts) == len(study.fold.results)
    pairs = [
        tuple(study.fold.results[t.number].score for p in ("new", "old") for t in turns if t.policy == p)
        for _, turns in sorted(study.fold.blocks.items())
    ]
    assert run(study.fold.decision.rule, pairs)[-1].verdict is study.verdict
    assert sf.Study.open(sf.open_store(tmp_path / "study.db")).verdict is study.verdict


def test_numpy_results_are_results():
    study = begun()
    study.record(study.next_turn(), np.bool_(True), duration=np.float32(1.5))
    assert study.fold.results[1].score == 1.0
    scored = begun(measure="score")
    for value in (np.float32(0.5), np.int64(1), np.array(0.25)):
        turn = scored.next_turn()
        scored.record(turn, value)
        assert scored.fold.results[turn.number].score == float(value)
    assert broken(scored.store.read()) is None


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda s: s.record(9, True), "Turn 9 was never handed out; ask for the next turn first"),
        (lambda s: s.record(1, 0.5), "true or false"),
        (lambda s: s.record(1, True, duration=-1.0), "0 or more"),
        (lambda s: s.undo(2, reason="x"), "no result to undo"),
        (lambda s: s.void(1, reason="it failed"), "one that the plan names"),
        (lambda s: s.void(7, reason="hardware fault"), "never handed out"),
        (lambda s: s.amend({"horizn": 3}, reason="x"), "no field horizn"),
        (lambda s: s.amend({}, reason="x"), "must change something"),
        (lambda s: s.amend({"policies": ["a", "b"]}, reason="x"), "cannot change once turns were handed out"),
        (lambda s: s.amend({"blinded": False}, reason="x"), "unblind the study"),
        (lambda s: s.amend({"horizon": 0}, reason="x"), "cannot be amended so"),
        (lambda s: s.amend({"horizon": 50}, reason=" "), "reason must be given"),
        (lambda s: s.unblind(reason=""), "reason must be given"),
        (lambda s: s.unblind(reason=None), "`reason` must be a str"),
        (lambda s: s.void(1, reason="hardware fault", note=None), "`note` must be a str"),
        (lambda s: s.check("lid closed"), "`items` must be a list of texts"),
        (lambda s: s.check([1]), "`items` must be a str"),
        (lambda s: s.next_turns(0), "`count` must be at least 1"),
        (lambda s: s.next_turn(lease=timedelta(0)), "`lease` must be above 0"),
        (lambda s: s.rollouts(), "blinded"),
        (lambda s: s.export(), "blinded"),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(act, said):
    study = begun()
    study.next_turns(2)
    before = study.store.read()
    with pytest.raises((StudyError, TypeError, ValueError), match=said):
        act(study)
    assert study.store.read() == before


@pytest.mark.parametrize("turn", [0, True, "1", 1.0])
def test_a_turn_is_a_turn_or_its_number(turn):
    with pytest.raises((TypeError, ValueError), match="`turn` must be"):
        begun().record(turn, True)


def test_the_same_request_records_once_and_is_for_one_turn():
    study = begun()
    one, two = study.next_turns(2)
    first = study.record(one, True, request="word")
    assert study.record(one, True, request="word") == replace(first, repeated=True)
    with pytest.raises(StudyError, match="with another result"):
        study.record(one, False, request="word")
    with pytest.raises(StudyError, match="cannot record turn 2"):
        study.record(two, True, request="word")
    study.undo(one, reason="slip")
    assert study.record(one, True, request="word").repeated  # it was recorded once, and undone since
    assert 1 not in study.fold.results


def test_undo_gives_the_turn_back_and_both_results_stay_in_the_log():
    study = begun()
    turn = study.next_turn()
    study.record(turn, True)
    study.undo(turn, reason="wrong key")
    assert study.next_turn() == turn
    study.record(turn, False)
    kinds = [(line.event.kind, line.event.body.get("result")) for line in study.store.read()[2:]]
    assert kinds == [("recorded", True), ("undone", None), ("recorded", False)]


def test_a_void_takes_the_whole_pair_out_and_another_is_scheduled():
    study = begun()
    one, two = study.next_turns(2)
    study.record(one, True)
    study.void(one, reason="hardware fault")
    with pytest.raises(StudyError, match=r"was voided meanwhile\. Ask for the next turn"):
        study.record(two, True)
    assert study.next_turn().block == 2
    driven(study, outcomes(1, new=0.9, old=0.2))
    assert 1 not in study.fold.counted


def test_a_result_undone_before_the_void_was_seen_too():
    study = begun()
    turn = study.next_turn()
    study.record(turn, False)
    study.undo(turn, reason="looked bad")
    study.void(turn, reason="hardware fault")
    assert study.fold.voids[1].body["seen"]


def test_what_is_voided_or_unblinded_already_is_not_so_again():
    study = begun()
    turn = study.next_turn()
    study.void(turn, reason="hardware fault")
    assert study.void(turn, reason="hardware fault").repeated
    study.unblind(reason="enough")
    before = study.store.read()
    assert study.unblind(reason="enough").repeated
    assert study.store.read() == before


def test_a_store_that_others_always_write_first_is_given_up():
    class Busy(MemoryStore):
        def append(self, lines, *, after):
            if self.read():
                raise ConflictError("somebody else was faster")
            super().append(lines, after=after)

    study = begun(Busy())
    with pytest.raises(StudyError, match="Others are writing too fast; nothing was recorded: try again"):
        study.next_turn()
    assert len(study.store.read()) == 1


def test_voided_rollouts_are_marked_in_the_table():
    study = begun(blinded=False)
    driven(study, lambda turn: True, 4)
    study.void(1, reason="operator error")
    rollouts = study.rollouts()
    assert len(rollouts) == 4
    assert sum(rollouts.where(policy=name).tally().trials for name in ("new", "old")) == 2


def test_every_event_says_who_and_when():
    clock = Clock()
    study = begun(clock=clock)
    study.author = "Ann"
    clock.on(seconds=5)
    study.record(study.next_turn(), True)
    event = study.store.read()[-1].event
    assert (event.author, event.time, event.schema) == ("Ann", "2026-01-01T00:00:05+00:00", 2)
    assert event.role == "local"


# --- the chain and its verification ---


def test_a_whole_study_verifies_and_says_no_more_while_blinded():
    study = finished()
    found = sf.verify(study.store)
    assert found.sound
    assert (found.lines, found.head, found.verdict) == (study.version, study.fold.last.hash, None)
    assert "better" not in str(found)
    study.unblind(reason="done")
    found = sf.verify(study.store)
    assert found.verdict is sf.Verdict.BETTER
    assert Verification.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def tampered(tmp_path, change):
    """A finished study in a file, with its rows changed by hand."""
    study = driven(begun(tmp_path / "study.db"), outcomes(5, new=0.95, old=0.3))
    study.unblind(reason="done")
    change(study.store._link)
    return tmp_path / "study.db", study


def edit(old, new, where="recorded"):
    def change(link):
        query = f'select number, event from log where event like \'%"kind":"{where}"%\' and event like ? limit 1'
        number, text = link.execute(query, (f"%{old}%",)).fetchone()
        link.execute("update log set event = ? where number = ?", (text.replace(old, new, 1), number))

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit('"result":true', '"result":false'), "was changed by hand"),
        (edit('"result":false', '"result":true'), "was changed by hand"),
        (edit('"confidence":0.95', '"confidence":0.5', "started"), "does not match its fingerprint"),
        (edit('"horizon":40', '"horizon":400', "started"), "does not match its fingerprint"),
        (edit('"author":""', '"author":"Eve"', "leased"), "was changed by hand"),
        (edit('"kind":"recorded"', '"kind":"undreamt"'), "kind must be one of"),
        (lambda link: link.execute("delete from log where number = 7"), "line 7 is missing"),
        (lambda link: link.execute("delete from log where number in (7, 8)"), "lines 7 to 8 of the log are missing"),
        (
            lambda link: link.execute("update log set private = 'another' where number = 1"),
            "secret seed does not match",
        ),
        (
            lambda link: link.execute(
                "update log set hash = iif(hash like 'f%', 'e', 'f') || substr(hash, 2) where number = 5"
            ),
            "changed by hand",
        ),
        (lambda link: link.execute("update log set event = 'x' where number = 5"), "no longer JSON"),
    ],
)
def test_what_was_changed_by_hand_is_found(tmp_path, change, said):
    path, study = tampered(tmp_path, change)
    found = sf.verify(path)
    assert not found.sound
    assert re.search(said, str(found), re.IGNORECASE)
    with pytest.raises(StudyError):
        Study.open(path)
    if found.lines:
        made = sf.report(study)
        assert any("does not verify" in line for line in made.deviations)
        assert "does not verify" in made.html()
        assert "does not verify" in str(made)


def test_the_seed_can_be_had_from_where_it_was_revealed(tmp_path):
    path, study = tampered(tmp_path, lambda link: link.execute("update log set private = null"))
    assert sf.verify(path).sound
    assert Study.open(path).fold.turns == study.fold.turns


def test_a_missing_seed_of_a_blinded_study_is_found(tmp_path):
    study = driven(begun(tmp_path / "study.db"), outcomes(5, new=0.9, old=0.5), 6)
    study.store._link.execute("update log set private = null")
    assert not sf.verify(tmp_path / "study.db").sound
    with pytest.raises(StudyError, match="secret seed"):
        Study.open(tmp_path / "study.db")


def test_only_the_changed_line_is_named():
    lines = finished().store.read()
    event = lines[4].event
    lines[4] = replace(lines[4], event=replace(event, author="Eve"))
    assert len(breaks(lines)) == 1
    assert broken(lines).startswith("line 5 ")


def rechained(lines):
    """The log as somebody who knows the hashes would forge it."""
    made: list[Line] = []
    for line in lines:
        after = Line.after(made[-1] if made else None, line.event, line.private)
        made.append(after)
    return made


def altered(line, **changes):
    return replace(line, event=replace(line.event, body={**line.event.body, **changes}))


def voiding(line, block=1):
    """A void of the turn that a line records."""
    body = {"turn": line.event.body["turn"], "block": block, "reason": "safety stop", "note": "", "seen": False}
    return replace(line, event=Event("voided", body, line.event.author, line.event.time))


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], "has a result already"),
        (lambda lines: [*lines, lines[0]], "starts once"),
        (lambda lines: [lines[0], *lines[2:]], "never handed out"),
        (lambda lines: lines[1:], "begin with its plan"),
        (lambda lines: [lines[0], altered(lines[1], turn=5), *lines[2:]], "turn 1 comes next, not turn 5"),
        (lambda lines: [*lines[:2], voiding(lines[2]), *lines[2:]], "turn 1 was voided"),
    ],
)
def test_a_forged_log_that_makes_no_sense_is_found(forge, said):
    lines = rechained(forge(finished().store.read()))
    assert broken(lines) is None
    assert any(said in fault for fault in verified(lines).faults)
    with pytest.raises(StudyError, match=said):
        folded(lines)


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
    with pytest.raises(StudyError, match="makes no sense"):
        fold.take(Line.after(fold.last, bad.event))
    assert (fold.plan, fold.voids, fold.waiting, fold.version) == (same.plan, same.voids, same.waiting, same.version)


def begun_lines():
    return driven(begun(), outcomes(5, new=0.9, old=0.5), 1).store.read()


def test_the_head_written_down_elsewhere_shows_a_perfect_forgery():
    study = finished()
    head = sf.verify(study.store).head
    lines = study.store.read()
    place = next(i for i, line in enumerate(lines) if line.event.kind == "recorded")
    body = {**lines[place].event.body, "result": not lines[place].event.body["result"]}
    lines[place] = replace(lines[place], event=replace(lines[place].event, body=body))
    forged = verified(rechained(lines))
    assert forged.sound
    assert forged.head != head


def test_dates_that_run_backwards_are_found():
    lines = finished().store.read()
    lines[6] = replace(lines[6], event=replace(lines[6].event, time="2000-01-01T00:00:00+00:00"))
    found = verified(rechained(lines))
    assert found.sound  # a clock that was wrong breaks nothing, and is told
    assert any("the clock of whoever wrote one of them was wrong" in note for note in found.notes)


@pytest.mark.parametrize("policies", [("new", "old"), ("new", "old", "none")])
@pytest.mark.parametrize("seed", range(6))
def test_the_verdict_replays_by_a_second_path(policies, seed):
    rng = random.Random(seed)
    study = begun(policies=policies, seed=seed)
    while (turn := study.next_turn()) is not None:
        study.record(turn, rng.random() < {"new": 0.9, "old": 0.5, "none": 0.1}[turn.policy])
        if rng.random() < 0.1:
            study.undo(turn, reason="slip")
            study.record(turn, False)
        if rng.random() < 0.05:
            study.void(turn, reason="safety stop")
    assert replayed(study.store.read(), study.fold) is study.verdict
    assert sf.verify(study.store).sound


def test_the_worst_of_three_is_called_worse_by_both_paths():
    study = driven(begun(policies=("none", "old", "new")), lambda turn: turn.policy != "none")
    assert study.verdict is sf.Verdict.WORSE
    assert replayed(study.store.read(), study.fold) is sf.Verdict.WORSE


def test_a_line_that_does_not_follow_is_not_taken_in():
    study, other = begun(), begun()
    other.next_turn()
    study.store.append([replace(other.store.read()[1], hash="0" * 64)], after=study.fold.head)
    with pytest.raises(StudyError, match="Line 2 of the log does not follow from the one before it"):
        study.refresh()


def test_a_table_from_elsewhere_is_found_and_stops_the_study(monkeypatch):
    store = MemoryStore()
    study = begun(store, rule="exact", horizon=20)
    driven(study, lambda turn: turn.number % 2, 6)
    monkeypatch.setattr("surefoot.study.state.table_of", lambda plan: "another table")
    opened = Study.open(store)
    with pytest.raises(StudyError, match="not the one that the study declared"):
        opened.next_turn()
    found = sf.verify(store)
    (fault,) = found.faults
    assert f"(another tabl) is not the one that the study declared ({study.fold.table[:12]})" in fault
    assert fault.endswith("The verdict was not replayed; chain, plan and seed were checked.")
    assert (found.verdict, found.table) == (None, study.fold.table)


def test_a_table_declared_for_a_rule_that_has_none_is_found():
    study = begun(rule="mixture")
    line = study.store.read()[0]
    forged = Line.after(None, replace(line.event, body={**line.event.body, "table": "a" * 64}), private=line.private)
    assert "on this machine (none) is not the one" in verified([forged]).faults[0]


def test_nothing_is_verified_where_there_is_nothing():
    with pytest.raises(StudyError, match="no study here"):
        sf.verify(MemoryStore())


# --- amendments ---


def test_a_binding_change_before_the_first_result_binds():
    study = begun()
    study.next_turn()
    study.amend({"horizon": 60, "confidence": 0.9}, reason="more robots")
    assert study.plan.horizon == 60
    assert not study.fold.exploratory
    assert study.fold.declared.horizon == 40


@pytest.mark.parametrize(
    "changes",
    [{"horizon": 60}, {"confidence": 0.9}, {"claim": "first better"}, {"rule": "nscore"}, {"margin": 0.05}],
    ids=lambda changes: next(iter(changes)),
)
def test_a_binding_change_after_a_result_makes_the_verdict_exploratory(changes):
    study = driven(begun(), outcomes(1, new=0.9, old=0.3), 4)
    study.amend(changes, reason="second thoughts")
    driven(study, outcomes(2, new=0.95, old=0.2))
    study.unblind(reason="done")
    assert study.fold.exploratory
    said = [line for line in deviations(study.fold) if "amended after 4 results" in line]
    assert len(said) == 1
    assert "exploratory" in said[0]
    assert "second thoughts" in said[0]
    made = sf.report(study)
    assert "Exploratory" in str(made)
    assert "exploratory" in made.html()
    assert sf.verify(study.store).sound


@pytest.mark.parametrize("changes", [{"horizon": 80}, {"confidence": 0.99}, {"rule": "wsr"}, {"margin": 0.1}])
def test_a_decision_stays(changes):
    study = finished()
    before = study.store.read()
    with pytest.raises(StudyError, match=r"is decided, and a decision stays: .* To ask again, begin another study"):
        study.amend(changes, reason="more")
    assert study.store.read() == before
    study.amend({"reset": "Home the arm."}, reason="clearer")  # words still may


def test_an_undecided_end_may_be_extended():
    study = driven(begun(horizon=4), lambda turn: True)
    assert study.finished
    study.amend({"horizon": 8}, reason="too short")
    assert not study.finished
    assert study.status().exploratory


def test_a_result_that_was_undone_was_seen_before_the_change():
    study = begun()
    turn = study.next_turn()
    study.record(turn, False)
    study.undo(turn, reason="slip")
    study.amend({"confidence": 0.8}, reason="second thoughts")
    assert study.fold.exploratory
    assert "amended after 1 result (" in deviations(study.fold)[0]
    assert deviations(study.fold)[0].endswith("The verdict is exploratory.")


def test_the_log_keeps_a_change_as_the_plan_has_it():
    study = begun()
    study.amend({"horizon": np.int64(60), "rule": None, "confidence": np.float32(0.75)}, reason="from a notebook")
    changes = study.store.read()[-1].event.body["changes"]
    assert changes == {"horizon": 60, "rule": "exact", "confidence": 0.75}
    assert {type(value) for value in changes.values()} == {int, str, float}


def test_a_change_of_words_does_not():
    study = driven(begun(), outcomes(1, new=0.9, old=0.3), 4)
    study.amend({"reset": "Home the arm.", "time_limit": 30}, reason="clearer")
    assert not study.fold.exploratory
    (said,) = deviations(study.fold)
    assert "reset from nothing to Home the arm.; time limit from nothing to 30." in said
    assert "exploratory" not in said


def test_a_range_that_results_have_left_cannot_be_declared():
    study = begun(measure="score", high=2.0)
    study.record(study.next_turn(), 1.5)
    with pytest.raises(StudyError, match=r"score in \[0, 1\]"):
        study.amend({"high": 1.0}, reason="tidy")


# --- deviations ---


def test_a_clean_study_has_none():
    study = finished()
    assert deviations(study.fold) == ()
    study.unblind(reason="done")
    assert deviations(study.fold) == ()


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


def test_each_departure_is_a_sentence():
    study = untidy()
    said = "\n".join(deviations(study.fold))
    policy = study.fold.turns[5].policy
    for part in (
        "unblinded before it was decided, after 6 results",
        "results came after that, not blind",
        "could not wait",
        "1 pair was voided (wrong set-up 1), by the policy whose rollout was voided: ",
        "1 pair was voided after an outcome had been seen (turn 1 (",
        f"Turn 5 ({policy}): a success was undone and recorded again as a failure. Reason: wrong key.",
        f"1 result took longer than the time limit of 90 s: turn 5 ({policy}, 95.5 s).",
        "1 turn went to another holder when the first one's time had run out",
    ):
        assert part in said
    assert len(deviations(study.fold)) == 6


def test_results_after_the_decision_are_counted_apart():
    study = begun()
    ahead = study.next_turns(60)
    for turn in ahead:
        study.record(turn, turn.policy == "new")
    late = 60 - 2 * len(study.fold.counted)
    assert late > 0
    assert worst_case(study.fold) == (study.verdict,)
    assert f"{late} results came in after the decision and did not count." in deviations(study.fold)


def test_results_before_the_decision_of_later_pairs_are_told_as_what_they_are():
    study = begun()
    first, *ahead = study.next_turns(40)
    for turn in ahead:
        study.record(turn, turn.policy == "new")
    study.record(first, first.policy == "new")
    last = max(study.fold.counted)
    assert (
        f"{40 - 2 * last} results of later pairs were recorded while an earlier pair was still being run. The rule "
        f"reads pairs in the order in which they were scheduled and decided at pair {last}, so they were not needed "
        "and did not count."
    ) in deviations(study.fold)
    assert not any("after the decision" in told for told in deviations(study.fold))


def test_a_turn_handed_back_is_no_departure():
    study = begun()
    study.release(study.next_turn(holder="arm 1"))
    study.next_turn(holder="arm 2")
    assert deviations(study.fold) == ()


def test_the_worst_case_counts_seen_voids_against_the_winner():
    study = begun(horizon=40)
    clean = driven(begun(horizon=40), lambda turn: turn.policy == "new")
    needed = len(clean.fold.counted)
    for number in range(3):
        one, two = study.next_turns(2)
        study.record(one, True)
        study.void(two, reason="operator error")
        assert study.fold.voids[number + 1].body["seen"]
    driven(study, lambda turn: turn.policy == "new")
    assert study.verdict is sf.Verdict.BETTER
    assert len(study.fold.counted) == needed
    pairs = [(0.0, 1.0)] * 3 + [(1.0, 0.0)] * needed
    assert worst_case(study.fold) == (run(study.fold.decision.rule, pairs)[-1].verdict,) == (sf.Verdict.UNDECIDED,)
    study.unblind(reason="done")
    assert any("would be 'undecided' instead of 'better'" in line for line in deviations(study.fold))


def test_voids_before_any_outcome_change_no_worst_case():
    study = begun()
    study.void(study.next_turn(), reason="hardware fault")
    driven(study, lambda turn: turn.policy == "old")
    assert worst_case(study.fold) == (study.verdict,) == (sf.Verdict.WORSE,)
    study.unblind(reason="done")
    (said,) = deviations(study.fold)
    assert said.startswith("1 pair was voided (hardware fault 1), by the policy whose rollout was voided: ")


def test_a_list_that_was_changed_is_shown_whole():
    study = begun()
    study.amend({"void_reasons": ["rain", "safety stop"]}, reason="we work outdoors")
    (said,) = deviations(study.fold)
    assert "void reasons from " in said
    assert " to rain, safety stop. " in said


# --- blinded: only progress ---


def leaks(text):
    """Words and numbers that would give a policy away."""
    plain = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    return re.findall(r"\bnew\b|\bold\b|better|worse|evidence|p = |success|failure", plain)


def test_nothing_of_a_policy_is_reachable_while_blinded():
    study = begun(time_limit=1.0, title="Mugs")
    driven(study, outcomes(5, new=0.95, old=0.3), 6)
    study.undo(2, reason="slip")
    study.record(2, True, duration=5.0)
    study.void(3, reason="safety stop")
    driven(study, outcomes(5, new=0.95, old=0.3))
    assert study.finished
    made = sf.report(study)
    shown = made.study
    assert shown.finding is None
    for text in (str(made), made.html(), made.markdown(), *shown.deviations, str(sf.verify(study.store))):
        assert leaks(text) == []
    assert "Stop: decided" in str(made)
    data = json.dumps({**made.data()["study"], "plan": None})
    assert leaks(data) == []
    assert leaks(json.dumps({**study.status().to_dict(), "head": None})) == []
    assert study.status().verdict is None
    assert study.fold.blinded


def test_a_blinded_report_can_be_written(tmp_path):
    made = sf.report(driven(begun(), outcomes(1, new=0.9, old=0.5), 3))
    assert isinstance(made, sf.ProgressReport)
    for name in ("a.html", "a.md", "a.json"):
        assert made.save(tmp_path / name).stat().st_size > 100
    with pytest.raises(ValueError, match=r"\.html, \.md or \.json"):
        made.save(tmp_path / "a.tex")
    assert sf.ProgressReport.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    assert "Continue." in str(made)


# --- the report of a study that is not blinded ---


@pytest.mark.parametrize(
    "changes",
    [
        {"rule": "exact", "horizon": 20, "tasks": ("mug", "towel")},
        {"rule": "mixture", "margin": 0.05},
        {"measure": "score", "levels": (0.0, 0.5, 1.0)},
        {"policies": ("new", "old", "none")},
        {"rule": "fixed", "horizon": 12},
    ],
    ids=["exact", "margin", "score", "ranking", "fixed"],
)
def test_the_declared_rule_speaks_first(changes, tmp_path):
    study = driven(begun(blinded=False, **changes), lambda turn: float(turn.policy == "new"))
    made = sf.report(study)
    assert isinstance(made, sf.Report)
    assert made.study.finding.verdict is study.verdict is sf.Verdict.BETTER
    assert str(made).startswith(("new is better than", "new is better"))
    assert made.overview.comparisons == ()
    assert made.overview.ranking is None
    page = made.html()
    assert page.index("new is better") < page.index("Where each policy stands")
    assert made.study.fingerprint in page
    assert len(re.findall(r'\bid="([^"]+)"', page)) == len(set(re.findall(r'\bid="([^"]+)"', page)))
    for name in ("a.html", "a.md", "a.tex", "a.json"):
        made.save(tmp_path / name)
    assert Account.from_dict(json.loads(json.dumps(made.study.to_dict()))) == made.study
    if len(study.plan.policies) == 2:
        assert made.study.finding.steps[-1].pairs == len(study.fold.counted)
        assert "sequence" in made.figures()


@pytest.mark.parametrize(
    ("changes", "rule", "promise", "needs"),
    [
        ({"rule": "exact", "horizon": 40}, "exact binary design rule, read after every pair, 40 pairs at most",
         "over all looks together, is at most 5%: 2.5% in each direction", "Pairs are independent of one another"),
        ({"rule": "mixture", "confidence": 0.9875}, "finite-horizon mixture rule",  # a promise is rounded up
         "is at most 1.25%: 0.63% in each direction", "random order that the study drew"),
        ({"rule": "mixture", "claim": "first better", "environments": "shared", "conditions": ("a", "b")},
         "finite-horizon mixture rule, read after every pair",
         "is not better than old, the chance that it is called so",
         "Both policies of a pair met the same task and condition"),
        ({"rule": "fixed", "horizon": 30}, "fixed size rule, read once, after 30 pairs",
         "a wrong verdict is at most 5%",
         "Whoever scored a rollout did not know its policy"),
        ({"policies": ("new", "old", "older")}, "ranking by the finite-horizon mixture", "any wrong statement",
         "random order that the study drew"),
    ],
)  # fmt: skip
def test_the_deciding_rule_its_promise_and_what_it_needs_are_on_the_page(changes, rule, promise, needs):
    study = driven(begun(**changes), outcomes(5, new=0.95, old=0.3, older=0.1))
    study.unblind(reason="decided")
    page = html.unescape(sf.report(study).html())
    methods, must = page[page.index("<h3>Methods") :].split("<h3>What must hold")
    assert rule in methods
    assert promise in methods
    assert needs in must
    assert methods.index(rule) < methods.index("interval for each policy")


@pytest.mark.parametrize(
    ("rule", "seed", "note"),
    [
        ("savi", 1, "not from the rule: it may hold 0 after a verdict"),
        ("mixture", 8, "The end at 0 is not in the interval: the verdict excludes 0."),
    ],
)
def test_an_interval_that_touches_0_beside_a_verdict_is_explained_wherever_it_is_shown(rule, seed, note):
    study = driven(begun(rule=rule, horizon=60), outcomes(seed, new=0.95, old=0.2))
    study.unblind(reason="decided")
    assert study.verdict is sf.Verdict.BETTER
    assert study.fold.decision.state.interval.low < 0.0005
    made = sf.report(study)
    for text in (str(made), made.html(), made.markdown(), live_of(study.fold).curves[-1].summary):
        assert text.count(note) == 1


def test_a_study_that_goes_on_gives_no_verdict():
    study = driven(begun(blinded=False), lambda turn: turn.policy == "new", 4)
    assert str(sf.report(study)).startswith("Not decided yet")


def test_an_undecided_end_is_said_so():
    study = driven(begun(blinded=False, horizon=5, futility=0), lambda turn: True)
    assert study.status().decision == "stop: nothing more can be decided"
    assert str(sf.report(study)).startswith("Cannot tell whether new is better than old.")


# --- futility ---

EXACT = {"rule": "exact", "horizon": 50, "environments": "independent"}


def alike(turn):
    """Both policies succeed in every second pair."""
    return turn.block % 2 == 0


def test_a_study_of_equal_policies_stops_early_and_says_why():
    study = driven(begun(**EXACT), alike)
    assert study.plan.futility == 0.02
    status = study.status()
    assert (status.decision, status.finished) == ("stop: hardly any chance left to decide", True)
    assert status.blocks < len(driven(begun(**EXACT, futility=0), alike).fold.counted) < 50
    assert sf.verify(study.store).sound


def test_an_override_goes_on_and_is_a_deviation():
    study = driven(begun(**EXACT, blinded=False), alike)
    stopped = study.status()
    assert study.next_turn() is None
    status = study.override(reason="the robot is free until Friday").status
    assert (status.decision, status.version) == ("continue", stopped.version + 1)
    driven(study, lambda turn: turn.policy == "new")
    state = study.fold.decision.state
    assert (state.overridden, state.verdict, state.ending) == (True, sf.Verdict.BETTER, "verdict")
    assert state.interval == state.anytime_interval
    (said,) = deviations(study.fold)
    assert f"the study went on all the same after {stopped.recorded} results" in said
    assert "Reason: the robot is free until Friday." in said
    assert not study.fold.exploratory
    assert sf.verify(study.store).sound
    again = sf.Study.restore(study.export(), MemoryStore())
    assert again.fold.decision == study.fold.decision


def test_an_override_stands_when_an_earlier_result_is_corrected():
    study = driven(begun(**EXACT, blinded=False), alike)
    study.override(reason="more time")
    driven(study, alike, 4)
    study.undo(1, reason="a wrong tap")
    study.record(1, True, reason="corrected")
    assert study.fold.decision.state.overridden
    assert not study.finished
    assert sf.verify(study.store).sound


@pytest.mark.parametrize(
    ("study", "said"),
    [
        (lambda: driven(begun(**EXACT), alike, 6), "The study goes on: there is no stop to override"),
        (lambda: driven(begun(**EXACT), lambda turn: turn.policy == "new"), "Only a stop for futility can be"),
        (lambda: driven(begun(**EXACT, futility=0), alike), "Only a stop for futility can be overridden"),
    ],
    ids=["goes on", "decided", "out of reach"],
)
def test_only_a_stop_for_futility_is_overridden(study, said):
    made = study()
    lines = made.version
    with pytest.raises(RefusedError, match=said):
        made.override(reason="why not")
    assert made.version == lines


def test_an_override_needs_a_reason_the_owner_and_the_log_as_it_stands():
    study = driven(begun(**EXACT), alike)
    with pytest.raises(RefusedError, match="A reason must be given"):
        study.override(reason=" ")
    with pytest.raises(RefusedError, match="The study has moved on"):
        study.override(reason="more time", version=study.version - 1)
    study.role = "operator"
    with pytest.raises(RefusedError, match="This is for the owner"):
        study.override(reason="more time")
    study.role = "owner"
    assert study.override(reason="more time", version=study.version).status.decision == "continue"


def test_a_log_with_an_override_out_of_place_does_not_verify():
    study = driven(begun(**EXACT), alike, 6)
    forged = Line.after(study.fold.last, Event("overridden", {"reason": "x"}, "", study.fold.last.event.time))
    assert any("had not stopped for futility" in fault for fault in verified([*study.store.read(), forged]).faults)


def test_voids_in_the_worst_way_follow_an_override():
    def went_on(turns=None):
        study = begun(**EXACT, blinded=False)
        for _ in range(2):
            turn = study.next_turn()
            study.record(turn, True)
            study.void(turn, reason="hardware fault")
        driven(study, alike)
        study.override(reason="more time")
        before = len(study.fold.results)
        return driven(study, lambda turn: turn.policy == "new", turns), before

    study, before = went_on()
    assert study.verdict is sf.Verdict.BETTER
    study, _ = went_on(len(study.fold.results) - before - 2)  # one pair short of it
    assert study.verdict is sf.Verdict.UNDECIDED
    assert worst_case(study.fold) == (sf.Verdict.UNDECIDED, sf.Verdict.BETTER)


def test_strings_of_the_study_are_escaped_on_its_pages():
    evil = '<script>alert("x")</script>'
    study = begun(title=evil, policies=(evil, "old"), void_reasons=(evil,))
    driven(study, lambda turn: turn.policy == evil, 4)
    study.void(1, reason=evil)
    assert "<script" not in sf.report(study).html()
    study.unblind(reason=evil)
    page = sf.report(study).html()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_a_report_before_the_first_result_is_refused():
    with pytest.raises(StudyError, match="Nothing was recorded yet"):
        sf.report(begun(blinded=False))


def test_an_account_of_the_fold_is_plain_data():
    study = untidy()
    told = account(study.fold, sf.verify(study.store))
    assert json.loads(json.dumps(told.to_dict()))["deviations"] == list(told.deviations)


# --- export, import, old logs ---


def test_an_export_is_restored_whole(tmp_path):
    study = finished()
    study.unblind(reason="done")
    text = study.export()
    again = Study.restore(text, tmp_path / "copy.db")
    assert again.export() == text
    assert again.verdict is study.verdict
    assert sf.verify(tmp_path / "copy.db").head == sf.verify(study.store).head
    with pytest.raises(StudyError, match="already holds a study"):
        Study.restore(text, tmp_path / "copy.db")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda rows: [], "it is empty"),
        (lambda rows: ["nonsense", *rows], "Line 1 of the exported log is not JSON"),
        (lambda rows: ["3", *rows], "not an event"),
        (lambda rows: [*rows[:4], *rows[5:]], "line 5 is missing"),
        (lambda rows: [row.replace('"result":true', '"result":false') for row in rows], "was changed by hand"),
        (lambda rows: [rows[0].replace('"schema":2', '"schema":9'), *rows[1:]], "newer surefoot"),
        (lambda rows: [re.sub(r'"seed":"."', '"seed":"x"', rows[0]), *rows[1:]], "seed"),
        (
            lambda rows: [row[: len(row) // 2] if i == 9 else row for i, row in enumerate(rows)],
            "Line 10 .* is not JSON",
        ),
        (lambda rows: ['{"number": 1}', *rows[1:]], "not an event"),
    ],
)
def test_a_damaged_export_restores_nothing(tmp_path, damage, said):
    study = finished()
    study.unblind(reason="done")
    rows = study.export().splitlines()
    rows[0] = re.sub(r'"seed":"[^"]*"', f'"seed":"{"0" if "seed" in said else ""}{study.fold.seed.reveal()}"', rows[0])
    with pytest.raises(StudyError, match=said):
        Study.restore("\n".join(damage(rows)), tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists() or SQLiteStore(tmp_path / "copy.db").read() == []


def test_a_newer_log_is_refused_with_a_hint():
    data = {**Event("checked", {"items": [], "note": ""}, "", "2026").to_dict(), "schema": 3}
    with pytest.raises(StudyError, match="Use a newer surefoot"):
        Event.from_dict(data)


def test_events_say_all_and_only_what_their_kind_says():
    with pytest.raises(StudyError, match="must be one of"):
        Event("won", {}, "", "2026")
    with pytest.raises(StudyError, match="must say"):
        Event("checked", {"items": []}, "", "2026")


def test_a_hash_covers_the_line_before():
    event = Event("checked", {"items": [], "note": ""}, "", "2026")
    assert chained("a", 1, event) != chained("b", 1, event) != chained("b", 2, event)


def test_there_are_old_logs():
    assert len(OLD) >= 3


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_old_logs_open_for_ever(path, tmp_path):
    """Made by an earlier version (tests/fixtures/studies/README.md); they and their verdicts never change."""
    text = path.read_text(encoding="utf-8")
    known = json.loads(path.with_suffix(".json").read_text())
    study = Study.restore(text, tmp_path / "study.db")
    assert study.export().startswith(text)  # a later version adds the log's length and head at its end
    assert study.verdict.value == known["verdict"]
    assert study.plan.fingerprint == known["fingerprint"]
    assert [study.fold.turns[n].policy for n in sorted(study.fold.turns)] == known["policies"]
    assert len(study.fold.counted) == known["counted"]
    assert len(deviations(study.fold)) == known["deviations"]
    found = sf.verify(study.store)
    assert found.sound
    assert found.head == known["head"]
