"""What a person does to a study by accident: copies, moves, deletes, replaces or rolls back what it is kept in.

Nothing that was acknowledged is missing from what is then answered as whole.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import threading
from dataclasses import replace

import pytest

import surefoot as sf
from surefoot.errors import StudyError
from surefoot.study.events import Line, head_of
from surefoot.study.recording import RefusedError
from surefoot.study.stores import ConflictError, LostError, StoreError, open_store
from surefoot.study.studies import Study
from tests.support.studies import begun, driven, outcomes, plan


@pytest.fixture(params=["sqlite", "postgres"])
def address(request, tmp_path):
    return str(tmp_path / "study.db") if request.param == "sqlite" else request.getfixturevalue("postgres").address()


def behind(address, statement, *values):
    """Do something to the log behind everybody's back."""
    if address.startswith("postgresql"):
        store = open_store(address)
        store._ask(statement.replace("LOG", f"surefoot_log where study = '{store.study}' and"), None)
        store.close()
        return
    with sqlite3.connect(address) as link:
        link.execute(statement.replace("LOG", "log where"), values)
    link.close()


def test_a_copy_of_a_live_file_has_all_that_was_acknowledged(tmp_path):
    study = Study.create(plan(horizon=100), tmp_path / "study.db")
    for number in range(1, 61):
        study.record(study.next_turn(), number % 2 == 0)
        if number % 10 == 0:
            shutil.copy(tmp_path / "study.db", tmp_path / "copy.db")
            assert len(Study.open(tmp_path / "copy.db").fold.results) == number
            assert sf.verify(tmp_path / "copy.db").lines == study.version
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "study.db"]


def test_a_file_of_the_first_version_is_turned_into_one_file(tmp_path):
    study = Study.create(plan(), tmp_path / "study.db")
    study.store.close()
    with sqlite3.connect(tmp_path / "study.db") as link:
        link.execute("pragma journal_mode = wal")
    link.close()
    again = Study.open(tmp_path / "study.db")
    again.record(again.next_turn(), True)
    assert not (tmp_path / "study.db-wal").exists()


@pytest.mark.parametrize("what", ["moved", "deleted", "replaced", "older copy"])
def test_a_file_taken_away_is_noticed_before_anything_is_acknowledged(tmp_path, what):
    path = tmp_path / "study.db"
    study = Study.create(plan(), path)
    turn = study.next_turn()
    shutil.copy(path, tmp_path / "older.db")
    study.record(turn, True)
    after = study.next_turn()
    if what == "moved":
        path.rename(tmp_path / "elsewhere.db")
    elif what == "deleted":
        path.unlink()
    else:
        other = tmp_path / "older.db"
        if what == "replaced":
            Study.create(plan(), tmp_path / "other.db").store.close()
            other = tmp_path / "other.db"
        other.replace(path)
    with pytest.raises(StoreError, match="while the study ran"):
        study.record(after, True)
    with pytest.raises(StoreError, match="while the study ran"):
        study.refresh()
    if what == "moved":
        (tmp_path / "elsewhere.db").rename(path)
        study.record(after, True)
        assert len(Study.open(path).fold.results) == 2


def test_a_file_overwritten_in_place_with_an_older_copy_is_noticed(tmp_path):
    path = tmp_path / "study.db"
    study = Study.create(plan(), path)
    turn = study.next_turn()
    older = path.read_bytes()
    study.record(turn, True)
    after = study.next_turn()
    with path.open("r+b") as file:
        file.write(older)
        file.truncate()
    with pytest.raises(StoreError):
        study.record(after, True)
    assert len(Study.open(path).fold.results) == 0


def test_lines_lost_under_a_live_writer_are_noticed(address):
    """As on a replica that lags behind: an append proves the line that it follows."""
    study = Study.create(plan(), address)
    for _ in range(3):
        study.record(study.next_turn(), True)
    behind(address, "delete from LOG number > 5")
    with pytest.raises(LostError, match="line 7 is missing or was replaced"):
        study.next_turn()
    with pytest.raises(LostError):
        study.refresh()
    assert Study.open(address).version == 5  # no hole was made: it opens again
    again = Study.open(address)
    again.record(again.next_turn(), True)
    with pytest.raises((LostError, StudyError)):
        study.refresh()


def test_another_line_in_the_last_ones_place_is_noticed(address):
    study = Study.create(plan(), address)
    turn = study.next_turn()
    behind(address, "delete from LOG number = 2")
    other = Study.open(address)
    other.check(["somebody else's"])
    with pytest.raises((LostError, ConflictError, StudyError)):
        study.record(turn, True)
    assert not Study.open(address).fold.results


def test_an_append_must_follow_the_last_line(address):
    study = Study.create(plan(), address)
    store, first = study.store, study.store.read()[0]
    event = replace(first.event, kind="checked", body={"items": [], "note": ""})
    second = Line.after(first, event)
    for after in ("0" * 64, "f" * 64):
        with pytest.raises((ConflictError, StoreError)):
            store.append([second], after=after)
    with pytest.raises(LostError):
        store.append([Line.after(second, event)], after=second.hash)
    store.append([second], after=first.hash)
    assert [line.hash for line in store.read()] == [first.hash, second.hash]
    assert head_of(None) == "0" * 64


def test_a_study_is_for_its_owners_eyes(tmp_path):
    before = os.umask(0o022)
    try:
        study = Study.create(plan(), tmp_path / "study.db")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "study.db").stat().st_mode) == 0o600
    assert study.fold.seed.reveal() in (tmp_path / "study.db").read_bytes().decode("latin-1")


def test_the_head_tells_nothing_of_an_outcome():
    """Two lines that say the same have other hashes: nobody can try which outcome gives the hash that is shown."""
    study = Study.create(plan(), ":memory:")
    turn = study.next_turn()
    study.record(turn, True)
    event = study.store.read()[-1].event
    assert len(event.body["salt"]) == 32
    guess = replace(event, body={**event.body, "salt": "0" * 32})
    assert Line.after(study.store.read()[-2], guess).hash != study.fold.head


# --- under load, behind a server ---


def test_copies_made_under_load_have_all_that_was_acknowledged_before_them(tmp_path):
    study = Study.create(plan(horizon=400, confidence=0.9999), tmp_path / "study.db")
    acknowledged, stop, copies = [0], threading.Event(), []

    def copy():
        number = 0
        while not stop.is_set() and number < 60:
            before = acknowledged[0]
            shutil.copy(tmp_path / "study.db", tmp_path / f"{number}.db")
            copies.append((tmp_path / f"{number}.db", before))
            number += 1

    copying = threading.Thread(target=copy)
    copying.start()
    while (turn := study.next_turn()) is not None and acknowledged[0] < 200:
        study.record(turn, turn.number % 4 < 2)
        acknowledged[0] += 1
    stop.set()
    copying.join()
    whole = missing = 0
    for path, before in copies:
        try:
            found = sf.verify(path)
            kept = len(Study.open(path).fold.results)
        except StudyError:  # torn in the middle of a write, and it says so
            continue
        whole += found.sound
        missing += found.sound and kept < before
    assert len(copies) > 5
    assert whole > len(copies) // 2
    assert missing == 0


def test_a_server_whose_file_is_gone_answers_503_until_it_is_back(tmp_path):
    pytest.importorskip("uvicorn", reason="needs the extra `console`")
    from tests.support.consoles import Console
    from tests.support.consoles import study as served

    console = Console(served(tmp_path))
    client, path = console.client("runner"), tmp_path / "study.db"
    client.post("/api/v1/turns/next")
    path.rename(tmp_path / "elsewhere.db")
    entry = {"result": True, "request": "word"}
    refused = client.post("/api/v1/turns/1/record", json=entry)
    assert (refused.status_code, "moved or deleted" in refused.json()["error"]) == (503, True)
    (tmp_path / "elsewhere.db").rename(path)
    kept = client.post("/api/v1/turns/1/record", json=entry).json()
    assert (kept["repeated"], kept["status"]["recorded"]) == (False, 1)
    assert (kept["status"]["version"], kept["status"]["head"]) == (console.study.version, console.study.fold.head)


def test_a_client_notices_that_the_log_went_back(tmp_path):
    pytest.importorskip("uvicorn", reason="needs the extra `console`")
    from surefoot.console.authentication import Tokens
    from tests.support.consoles import study as served
    from tests.support.consoles import threaded

    tokens, path = Tokens.fresh(), tmp_path / "study.db"
    with threaded(served(tmp_path), tokens) as address:
        client = sf.Client(address, tokens.runner.reveal(), holder="arm")
        older = path.read_bytes()
        client.record(client.next_turn(), True)
    path.write_bytes(older)  # an old copy, put back between two runs of the server
    with threaded(Study.open(path), tokens) as address:
        client._address = address
        with pytest.raises(StudyError, match="arm knows line 3 of the study's log; here it ends at line 1"):
            client.status()


@pytest.mark.parametrize(
    ("field", "value"),
    [("time", 7), ("time", "yesterday"), ("author", None), ("role", 3), ("schema", "2"), ("body", [])],
)
def test_a_line_that_holds_something_else_is_told_in_a_sentence(tmp_path, field, value):
    study = Study.create(plan(), tmp_path / "study.db")
    study.check(["homed"])
    study.store.close()
    with sqlite3.connect(tmp_path / "study.db") as link:
        (text,) = link.execute("select event from log where number = 2").fetchone()
        link.execute("update log set event = ? where number = 2", (json.dumps({**json.loads(text), field: value}),))
    link.close()
    found = sf.verify(tmp_path / "study.db")
    assert not found.sound
    assert not any("not supported" in fault for fault in found.faults)


@pytest.mark.sample(5)
@pytest.mark.parametrize("start", range(0, 200, 40))
def test_nobody_learns_from_the_stopped_study_which_code_leads(start):
    """Two hundred studies, stopped and blinded: an operator's requests and the owner's undo tell the same of all."""
    told = set()
    for seed in range(start, start + 40):
        rates = {"new": 0.95, "old": 0.1} if seed % 2 else {"new": 0.1, "old": 0.95}
        study = driven(begun(seed=seed + 1, horizon=25), outcomes(seed, **rates))
        before = study.status()
        number = 1 + seed % before.recorded
        study.role = "operator"
        with pytest.raises(RefusedError) as refused:
            study.undo(number, reason="slip")
        told.add(refused.value.why)
        with pytest.raises(RefusedError) as refused:
            study.void(number, reason="safety stop")
        told.add(refused.value.why)
        study.role = "owner"
        after = study.undo(number, reason="slip").status
        told.add((after.decision == before.decision, after.blocks == before.blocks, after.finished, after.verdict))
    assert told == {"decided", (True, True, True, None)}
