"""Tests of `surefoot.study.verification`."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import pytest

import surefoot as sf
from surefoot.errors import StudyError
from surefoot.study.events import Line, broken
from surefoot.study.log_files import Mark, anchor_of, marks
from surefoot.study.state import folded
from surefoot.study.stores.memory import MemoryStore
from surefoot.study.studies import Study
from surefoot.study.verification import Verification, replayed, verified
from tests.support.attacked_studies import finished as attacks_finished
from tests.support.ended_studies import altered, finished, voiding
from tests.support.studies import begun, driven, outcomes, plan

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
        assert "fault" in [one.kind for one in made.deviations]
        assert "does not verify" in str(made)


def test_the_page_of_a_changed_log_says_so(tmp_path):
    _, study = tampered(tmp_path, edit('"result":true', '"result":false'))
    assert "does not verify" in sf.report(study).html()


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


def rechained(lines):
    """The log as somebody who knows the hashes would forge it."""
    made: list[Line] = []
    for line in lines:
        after = Line.after(made[-1] if made else None, line.event, line.private)
        made.append(after)
    return made


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
    assert any("the clock of one of the two writers was wrong" in note for note in found.notes)


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


def test_a_table_declared_for_a_rule_that_has_none_is_found():
    study = begun(rule="mixture")
    line = study.store.read()[0]
    forged = Line.after(None, replace(line.event, body={**line.event.body, "table": "a" * 64}), private=line.private)
    assert "on this machine (none) is not the one" in verified([forged]).faults[0]


def test_nothing_is_verified_where_there_is_nothing():
    with pytest.raises(StudyError, match="no study here"):
        sf.verify(MemoryStore())


# --- witnesses ---


def attacks_rechained(lines):
    made: list[Line] = []
    for line in lines:
        made.append(Line.after(made[-1] if made else None, line.event, line.private))
    return made


def flipped(line):
    body = {**line.event.body, "result": not line.event.body["result"]}
    return replace(line, event=replace(line.event, body=body))


def attacks_tampered(lines):
    """Nineteen ways to bend a log; the last eleven keep every hash in order."""
    recorded = [place for place, line in enumerate(lines) if line.event.kind == "recorded"]
    first, last = recorded[0], recorded[-1]
    swap = lines.copy()
    swap[first], swap[last] = swap[last], swap[first]

    def put(place, line):
        return [*lines[:place], line, *lines[place + 1 :]]

    event = lines[first].event
    yield "a result turned round", put(first, flipped(lines[first]))
    yield "a line dropped", [*lines[:first], *lines[first + 1 :]]
    yield "two lines exchanged", swap
    yield "a line twice", [*lines[: first + 1], *lines[first:]]
    yield "an author changed", put(first, replace(lines[first], event=replace(event, author="Eve")))
    yield "a date changed", put(first, replace(lines[first], event=replace(event, time="2020-01-01T00:00:00+00:00")))
    yield "a role changed", put(first, replace(lines[first], event=replace(event, role="owner")))
    yield "a hash changed", put(first, replace(lines[first], hash="0" * 64))
    yield "the last line cut off", lines[:-1]
    yield "half of it cut off", lines[: len(lines) // 2]
    yield "all but the plan cut off", lines[:1]
    yield "an old copy that went on", attacks_rechained([*lines[:-2], lines[first]])
    yield "a result turned round and rechained", attacks_rechained(put(first, flipped(lines[first])))
    yield "the last result turned round and rechained", attacks_rechained(put(last, flipped(lines[last])))
    yield "a line dropped and rechained", attacks_rechained([*lines[:last], *lines[last + 1 :]])
    yield (
        "an author changed and rechained",
        attacks_rechained(put(first, replace(lines[first], event=replace(event, author="Eve")))),
    )
    yield (
        "a date changed and rechained",
        attacks_rechained(put(first, replace(lines[first], event=replace(event, time="2026-01-01T00:00:00.5+00:00")))),
    )
    note = {**event.body, "note": "looked fine"}
    yield (
        "a note changed and rechained",
        attacks_rechained(put(first, replace(lines[first], event=replace(event, body=note)))),
    )
    began = {**lines[0].event.body, "plan": {**lines[0].event.body["plan"], "horizon": 41}}
    yield (
        "the plan changed and rechained",
        attacks_rechained(put(0, replace(lines[0], event=replace(lines[0].event, body=began)))),
    )


def test_every_tampering_is_noticed_by_a_witness():
    study = attacks_finished()
    lines, known = study.store.read(), study.status()
    anchor = marks(anchor_of(known, study.plan.fingerprint))
    assert verified(lines, (known.head,), {"anchor.txt": anchor}).sound
    names = []
    for name, bent in attacks_tampered(lines):
        names.append(name)
        assert not verified(bent, (), {"anchor.txt": anchor}).sound, name
        assert not verified(bent, (f"{known.version}:{known.head[:16]}",)).sound, name
    assert len(set(names)) == 19


def test_robots_phones_and_papers_are_witnesses(tmp_path):
    study = Study.create(plan(), tmp_path / "study.db")
    receipt = study.record(study.next_turn(), True)
    assert (receipt.status.version, receipt.status.head) == (study.version, study.fold.head)
    driven(study, outcomes(4, new=0.9, old=0.2))
    made = sf.report(study)
    for suffix in ("html", "md", "json"):
        made.save(tmp_path / f"blinded.{suffix}")
    study.unblind(reason="decided")
    full = sf.report(study)
    for suffix in ("html", "md", "json"):
        full.save(tmp_path / f"report.{suffix}")
    (tmp_path / "log.jsonl").write_text(study.export())
    study.check(["and it goes on"])
    for path in sorted(tmp_path.iterdir()):
        if path.suffix != ".db":
            known = marks(path.read_text())
            assert len(known) == (known[-1].lines if path.suffix == ".jsonl" else 1), path
            assert sf.verify(study.store, witnesses={path.name: known}).sound
            cut = verified(study.store.read()[: known[-1].lines - 1], (), {path.name: known})
            assert any("it was cut off" in fault for fault in cut.faults)
    other = attacks_finished()
    stranger = verified(other.store.read(), (), {"report.md": marks((tmp_path / "report.md").read_text())})
    assert any("is not a witness of this study" in fault for fault in stranger.faults)


@pytest.mark.parametrize(
    "short", ["9f2c51d0", "9f2c51d0a7b3e466", "12:9f2c51d0a7b3e46", "0:9f2c51d0a7b3e466", "x:" + 20 * "a"]
)
def test_a_mark_is_a_number_and_sixteen_characters_at_least(short):
    with pytest.raises(ValueError, match="16 characters"):
        verified(attacks_finished().store.read(), (short,))


def test_several_marks_name_the_first_line_that_differs():
    study = attacks_finished()
    lines = study.store.read()
    at = {number: f"{number}:{lines[number - 1].hash[:16]}" for number in (4, 7, 12, len(lines))}
    assert verified(lines, tuple(at.values())).sound
    for first in range(2, len(lines) + 1):
        forged = attacks_rechained(
            [*lines[: first - 1], *[replace(one, event=replace(one.event, author="x")) for one in lines[first - 1 :]]]
        )
        below = max((number for number in at if number < first), default=0)
        above = min(number for number in at if number >= first)
        where = f"line {above}" if above == below + 1 else f"one of lines {below + 1} to {above}"
        assert f"The first line that differs is {where}." in verified(forged, tuple(at.values())).faults
        known = tuple(Mark("", line.number, line.hash) for line in lines)
        assert f"The first line that differs is line {first}." in verified(forged, (), {"log.jsonl": known}).faults
