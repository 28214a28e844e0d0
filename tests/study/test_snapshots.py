"""Tests of `surefoot.study.snapshots`."""

from __future__ import annotations

import random
import sqlite3
import zlib
from dataclasses import replace

import pytest

from surefoot.errors import StudyError
from surefoot.study import snapshots
from surefoot.study.leases import LeaseClock
from surefoot.study.recording import RefusedError
from surefoot.study.snapshots import MisfitError, read, written
from surefoot.study.state import folded
from surefoot.study.status import status_of
from surefoot.study.stores.memory import MemoryStore
from surefoot.study.studies import Study
from surefoot.study.verification import verify
from tests.support.studies import Clock, begun, driven, outcomes

SIX = tuple("abcdef")
KINDS = {
    "mixture": {"futility": 0.05, "claim": "either"},
    "mixture of scores": {"measure": "score", "tasks": ("one", "two"), "on_crash": "retry"},
    "a list": {"items": tuple(map(str, range(30))), "horizon": 30, "rule": "mixture"},
    "wsr": {"rule": "wsr"},
    "nscore": {"rule": "nscore"},
    "savi": {"rule": "savi"},
    "fixed": {"rule": "fixed"},
    "exact": {"rule": "exact", "blinded": True},
    "exact, shared": {"rule": "exact", "environments": "shared", "conditions": ("left", "right")},
    "closed": {"rule": "closed", "policies": SIX[:4], "futility": 0.05},
    "closed, best": {"rule": "closed", "policies": SIX, "question": "best"},
    "closed, best or tied": {"rule": "closed", "policies": SIX, "question": "best or tied"},
    "closed, against": {"rule": "closed", "policies": SIX[:4], "question": "against b"},
    "race": {"rule": "race", "policies": SIX, "question": "best", "within": 0.2},
    "holm": {"rule": "holm", "policies": SIX[:3]},
    "halve": {"rule": "halve", "policies": SIX, "question": "best", "budget": 120, "horizon": 68},
}


def grown(seed: int, operations: int = 60, store=None, **plan) -> Study:
    """A study in which all that can happen happens, in an order of chance."""
    rng = random.Random(seed)
    study = begun(MemoryStore() if store is None else store, Clock(), seed=seed + 1, **plan)
    rates = {name: rng.random() for name in study.plan.policies}
    for _ in range(operations):
        try:
            happened(study, rng, rates)
        except RefusedError:
            continue
    return study


def happened(study, rng, rates):
    who = f"robot {rng.randrange(3)}"
    if rng.random() < 0.8:
        turn = study.next_turn(holder=who, wait=False)
        if turn is None or rng.random() < 0.2:
            return
        if rng.random() < 0.1:
            study.crash(turn, holder=who, request=f"crash {rng.random()}")
            return
        value = rng.random() < rates[turn.policy] if study.plan.measure == "success" else rng.random()
        study.record(turn, value, holder=who, request=f"word {rng.random()}", note="é\x00")
        return
    turn = rng.randrange(1, len(study.fold.turns) + 2)
    what = rng.choice(("undo", "void", "clip", "check", "release", "unblind", "late"))
    if what == "undo":
        study.undo(turn, reason="a slip")
    elif what == "void":
        study.void(turn, reason=(*study.plan.void_reasons, "none")[0])
    elif what == "clip":
        study.clip(turn, "https://host/clip.mp4", holder=who)
    elif what == "check":
        study.check(["light"])
    elif what == "release":
        study.release(holder=who)
    elif what == "unblind" and rng.random() < 0.1:
        study.unblind(reason="at last")
    elif what == "late":
        study.record(turn, 1, holder=who)


def told(fold):
    """All that a fold says, without a clock."""
    return replace(status_of(fold, LeaseClock(Clock())), waits=None), fold.decision, written(fold)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_a_snapshot_at_any_line_and_the_lines_after_it_are_the_whole_log(kind, seed, every):
    """The law of snapshots: from every cut, or every sixth, the rest of the log gives what all of it gives."""
    lines = grown(seed, **KINDS[kind]).store.read()
    whole, quick = told(folded(lines)), 0
    fold = folded(lines[:1])
    for cut in range(1, len(lines) + 1):
        again = read(written(fold), lines[0], lines[cut - 1])
        if cut < len(lines):
            fold.take(lines[cut])
        if cut % every:
            continue
        for line in lines[cut:]:
            if again.short_of(event=line.event):  # it must be held against what was left out
                again = folded(lines[: line.number - 1])
            again.take(line)
        assert told(again) == whole
        quick += again.before.blocks > 0
        assert all(again.hash_at(line.number) in ("", line.hash) for line in lines)
        assert again.hash_at(len(lines)) == lines[-1].hash
    assert quick or not fold.reached or every > 1  # some were continued without the beginning


def test_what_a_fold_left_out_is_asked_for_where_it_is_needed():
    study = driven(begun(), outcomes(1, new=0.9, old=0.3), 12)
    study.record(study.next_turn(), True, request="a word")
    lines = study.store.read()
    fold = read(written(folded(lines)), lines[0], lines[-1])
    assert (fold.before.blocks, fold.before.turns, fold.recorded) == (6, 12, 13)
    assert fold.short_of(turn=12)
    assert not fold.short_of(turn=13)
    assert not fold.short_of(turn=99)
    assert fold.short_of(word="a word")
    assert not fold.short_of(word="another")
    assert not fold.short_of(word="")
    event = lines[-1].event
    assert fold.short_of(event=replace(event, body={**event.body, "turn": 1}))
    assert not fold.short_of(event=event)


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(snapshots, "STEP", 10)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    if request.param == "sqlite":
        return tmp_path / "study.db"
    return request.getfixturevalue("postgres").address()


@pytest.mark.usefixtures("short")
def test_a_long_study_is_opened_without_its_log(place, monkeypatch):
    study = driven(begun(place), outcomes(1, new=0.6, old=0.5), 30)
    monkeypatch.setattr("surefoot.study.log.checked", lambda _: pytest.fail("the whole log was read"))
    again = Study.open(place)
    assert again.status() == study.status()
    assert [again.hash_at(number) for number in range(1, 60)] == [study.fold.hash_at(n) for n in range(1, 60)]
    turn = again.next_turn()
    assert again.record(turn, True).status.recorded == 31
    monkeypatch.undo()
    assert again.fold.results.keys() == set(range(1, 32))  # whoever wants all of it gets all of it
    assert verify(place).sound


@pytest.mark.usefixtures("short")
def test_a_study_opened_from_a_snapshot_does_all_that_another_does(place):
    study = begun(place)
    for number in range(30):
        study.record(study.next_turn(), number % 3 == 0, request=f"word {number}")
    again = Study.open(place)
    assert again.recall().before.blocks
    with pytest.raises(RefusedError, match="already has a result"):
        again.record(3, True)
    again = Study.open(place)
    assert again.record(2, False, request="word 1").repeated
    assert Study.open(place).undo(2, reason="a slip").status.recorded == 29
    assert study.record(study.next_turn(), True).turns == (2,)
    again = Study.open(place)
    again.void(5, reason=again.plan.void_reasons[0])
    again = Study.open(place)
    again.amend({"horizon": 50}, reason="more time")
    study.refresh()
    assert (again.status(), len(study.fold.results)) == (study.status(), 30)
    assert Study.open(place).fold.results == study.fold.results
    assert verify(place).sound


def changed(path, statement, *values):
    link = sqlite3.connect(path)
    with link:
        link.execute(statement, values)
    link.close()


def body_of(path):
    link = sqlite3.connect(path)
    (body,) = link.execute("select body from snapshot").fetchone()
    link.close()
    return body


FORGED = {
    "another line": lambda path: changed(path, "update snapshot set number = number - 3"),
    "another hash": lambda path: changed(path, "update snapshot set hash = ?", "0" * 64),
    "damaged": lambda path: changed(path, "update snapshot set body = substr(body, 1, 99)"),
    "no snapshot": lambda path: changed(path, "update snapshot set body = ?", zlib.compress(b'{"format": 1}')),
    "of a newer version": lambda path: changed(
        path, "update snapshot set body = ?", zlib.compress(zlib.decompress(body_of(path)).replace(b"3", b"9", 1))
    ),
    "runs code": lambda path: changed(
        path,
        "update snapshot set body = ?",
        zlib.compress(zlib.decompress(body_of(path)).replace(b"surefoot.study.decision", b"os")),
    ),
}


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("forged", FORGED)
def test_a_snapshot_that_does_not_fit_is_thrown_away_and_said(tmp_path, forged, caplog):
    path = tmp_path / "study.db"
    study = driven(begun(path), outcomes(1, new=0.6, old=0.5), 30)
    FORGED[forged](path)
    again = Study.open(path)
    assert not again.recall().before.lines
    assert again.status() == study.status()
    assert "the study's snapshot was thrown away" in caplog.text
    caplog.clear()
    assert Study.open(path).recall().before.lines
    assert not caplog.text


@pytest.mark.usefixtures("short")
def test_a_snapshot_never_hides_that_the_log_was_changed(tmp_path):
    path = tmp_path / "study.db"
    driven(begun(path), outcomes(1, new=0.6, old=0.5), 30)
    number = Study.open(path).recall().before.lines + 1
    for statement in (
        f"update log set event = replace(event, '2026', '2025') where number = {number}",
        f"update log set event = replace(event, '2026', '2025') where number = {number + 1}",
        f"delete from log where number = {number - 3}",
    ):
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        changed(copy, statement)
        with pytest.raises(StudyError, match="does not verify"):
            Study.open(copy)


def test_a_snapshot_of_another_study_is_refused():
    one, other = begun(seed=1), begun(seed=2)
    lines = other.store.read()
    with pytest.raises(MisfitError, match="it was made for another line"):
        read(written(one.fold), lines[0], lines[-1])


def test_an_old_study_opens_and_a_short_one_has_no_snapshot(tmp_path):
    path = tmp_path / "study.db"
    driven(begun(path), outcomes(1, new=0.6, old=0.5), 30)
    link = sqlite3.connect(path)
    assert link.execute("select name from sqlite_master where type = 'table'").fetchall() == [("log",)]
    link.close()


@pytest.mark.usefixtures("short")
def test_a_store_that_is_only_read_opens_all_the_same(tmp_path, monkeypatch):
    path = tmp_path / "study.db"
    study = driven(begun(path), outcomes(1, new=0.6, old=0.5), 30)
    changed(path, "drop table snapshot")
    with monkeypatch.context() as patched:
        patched.setattr("surefoot.study.stores.sqlite.SQLiteStore._archived", lambda _: True)
        assert Study.open(path).status() == study.status()


def test_a_rule_of_another_package_has_no_snapshot_and_loses_nothing():
    study = driven(begun(), outcomes(1, new=0.6, old=0.5), 10)
    fold = study.fold
    foreign = type("Foreign", (), {"__module__": "elsewhere"})()
    fold._decisions[-1] = replace(fold.decision, rule=foreign)
    with pytest.raises(TypeError, match="cannot be kept"):
        written(fold)
