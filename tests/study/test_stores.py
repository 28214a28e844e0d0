"""One suite for every store: what it keeps, refuses and survives."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from surefoot._secret import Secret
from surefoot.errors import StudyError
from surefoot.study.events import Event, Line, broken
from surefoot.study.plans import Plan
from surefoot.study.schedules import seed_hash
from surefoot.study.stores import ConflictError, open_store
from surefoot.study.stores.memory import MemoryStore
from surefoot.study.stores.postgres import PostgresStore
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study
from tests.support import plugins
from tests.support.stores import chain, events, put

PLAN = Plan(policies=("new", "old"), rule="mixture", horizon=40)


def result(number, turn, attempt=1):
    body = {"turn": turn, "attempt": attempt, "result": True, "duration": 1.5, "note": "", "failure": "", "request": ""}
    return Line(number, Event("recorded", body, "Ann", "2026-01-01", "", 1), "0" * 64)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request, tmp_path):
    """Gives stores on one log, each as another process would open it."""
    if request.param == "memory":
        one = MemoryStore()
        return lambda: one
    if request.param == "sqlite":
        return lambda: SQLiteStore(tmp_path / "log.db")
    address = request.getfixturevalue("postgres").address()
    return lambda: open_store(address)


# --- one interface ---


def test_an_empty_store_holds_nothing(place):
    assert place().read() == []


def test_lines_come_back_as_they_were(place):
    lines = chain(5)
    lines[0] = replace(lines[0], private=Secret("secret"))
    put(place(), lines)
    assert place().read() == lines
    assert place().read(3) == lines[3:]
    assert place().read(5) == []
    assert broken(place().read()) is None


def test_a_number_is_kept_once(place):
    lines = chain(2)
    put(place(), lines)
    other = replace(lines[1], event=events(9)[8])
    with pytest.raises(ConflictError):
        put(place(), [other])
    assert place().read() == lines


def test_a_key_is_kept_once(place):
    store = place()
    put(store, [result(1, turn=7)])
    with pytest.raises(ConflictError):
        put(store, [result(2, turn=7)])
    put(store, [result(2, turn=7, attempt=2)])
    assert [line.number for line in place().read()] == [1, 2]


def test_all_lines_or_none(place):
    store = place()
    first = chain(2)
    put(store, first)
    more = chain(3, after=first[-1])
    with pytest.raises(ConflictError):
        put(store, [*more[:2], replace(more[2], number=4)])
    with pytest.raises(ConflictError):
        put(store, [result(3, turn=1), result(4, turn=1)])
    assert place().read() == first
    put(store, more)  # a refused append spoils nothing
    assert len(place().read()) == 5


def test_a_long_log_goes_in_at_once(place):
    lines = chain(12_000)
    put(place(), lines)
    assert len(place().read()) == 12_000


def test_many_writers_keep_one_line_each(place):
    line, barrier = chain(1)[0], threading.Barrier(8)

    def write(author):
        store = place()
        barrier.wait()
        try:
            put(store, [replace(line, event=replace(line.event, author=str(author)))])
        except ConflictError:
            return None
        return str(author)

    with ThreadPoolExecutor(8) as pool:
        kept = [author for author in pool.map(write, range(8)) if author]
    assert [line.event.author for line in place().read()] == kept
    assert len(kept) == 1


def test_many_studies_write_one_log(place):
    Study.create(PLAN, place())
    taken = []

    def run(robot):
        study = Study.open(place())
        for _ in range(10):
            turn = study.next_turn(holder=f"arm {robot}")
            if turn is not None:
                study.record(turn, True)
                taken.append(turn.number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(4)))
    assert len(taken) == len(set(taken))
    assert sorted(taken) == sorted(Study.open(place()).fold.results)


def test_only_one_study_begins(place):
    barrier = threading.Barrier(4)

    def begin(_):
        store = place()
        barrier.wait()
        try:
            Study.create(PLAN, store)
        except StudyError as error:
            return str(error)
        return "begun"

    with ThreadPoolExecutor(4) as pool:
        said = Counter(pool.map(begin, range(4)))
    assert said["begun"] == 1
    assert all("open it" in text for text in said if text != "begun")


def test_text_that_cannot_be_written_is_refused(place):
    study = Study.create(PLAN, place())
    turn = study.next_turn()
    with pytest.raises(StudyError, match="cannot be written as text"):
        study.record(turn, True, note="\ud800")
    assert len(place().read()) == 2
    study.record(turn, True, note="\x00 fine")
    assert Study.open(place()).fold.results[1].note == "\x00 fine"


# --- addresses ---


def test_addresses_name_their_store(tmp_path, postgres):
    assert isinstance(open_store(str(tmp_path / "a.db")), SQLiteStore)
    assert isinstance(open_store(tmp_path / "a.db"), SQLiteStore)
    assert isinstance(open_store(":memory:"), MemoryStore)
    assert isinstance(open_store(postgres.address("x")), PostgresStore)
    with pytest.raises(StudyError, match="must name its study"):
        open_store("postgresql://127.0.0.1/postgres")


def test_looking_makes_no_file(tmp_path):
    with pytest.raises(StudyError, match="no study here"):
        Study.open(tmp_path / "typo.db")
    assert list(tmp_path.iterdir()) == []


BUSY = """
select count(*) from pg_stat_activity
where pid <> pg_backend_pid() and backend_type = 'client backend' and state <> 'idle'
"""
RESTORING = """
import sys
from surefoot.study.studies import Study
from surefoot.study.verification import verify
text = open(sys.argv[1]).read()
print("ready", flush=True)
Study.restore(text, sys.argv[2])
print("done", flush=True)
"""


@pytest.mark.end_to_end
@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_an_import_killed_half_way_leaves_nothing_and_can_be_repeated(tmp_path, kind, request):
    study = Study.create(replace(PLAN, horizon=1000, blinded=False), ":memory:")
    for _ in range(600):
        study.record(study.next_turn(), True, note="x" * 200)
    text = study.export()
    (tmp_path / "log.jsonl").write_text(text)
    lines, rng = study.version, random.Random(1)
    address = str(tmp_path / "study.db") if kind == "sqlite" else request.getfixturevalue("postgres").address()
    for _ in range(4):
        words = [sys.executable, "-c", RESTORING, str(tmp_path / "log.jsonl"), address]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            time.sleep(rng.uniform(0.0, 0.4))
            process.send_signal(signal.SIGKILL)
            said = process.stdout.read()
        store = open_store(address)
        while kind == "postgres" and store._ask(BUSY, ()) != [(0,)]:
            time.sleep(0.02)  # the server may still be finishing, or undoing, what the killed client had sent
        found = len(store.read())
        assert found in ((0, lines) if not said else (lines,))
        if found:
            break
    if not found:
        Study.restore(text, address)
    assert Study.open(address).export() == text


def test_two_programs_share_a_file(tmp_path):
    one, two = Study.create(PLAN, tmp_path / "study.db"), Study.open(tmp_path / "study.db")
    first = one.next_turn()
    second = two.next_turn()
    assert first.number != second.number
    two.record(second, True)
    one.record(first, False)
    with pytest.raises(StudyError, match="already has a result"):
        two.record(first, True)
    one.refresh()
    two.refresh()
    assert one.fold.results == two.fold.results
    assert seed_hash(one.fold.seed.reveal()) == one.fold.history[0].body["seed_hash"]


def test_a_copied_file_is_a_study_too(tmp_path):
    study = Study.create(PLAN, tmp_path / "study.db")
    study.record(study.next_turn(), True)
    study.store.close()
    shutil.copy(tmp_path / "study.db", tmp_path / "copy.db")
    assert Study.open(tmp_path / "copy.db").fold.results == study.fold.results


def test_an_address_is_opened_by_the_package_that_added_its_scheme(tmp_path):
    package = {"stores": {"bad": "lab:opened"}}, {"lab": "def opened(address): ..."}
    with plugins.installed(plugins.put_toy(tmp_path / "toy"), plugins.put(tmp_path / "lab", "lab", *package)):
        kept = Study.create(PLAN, f"toy://{tmp_path / 'log'}")
        kept.record(kept.next_turn(), True)
        assert Study.open(f"toy://{tmp_path / 'log'}").fold.results == kept.fold.results
        with pytest.raises(StudyError, match=r"lab 1\.0 gave no store for bad://: it must have append, read"):
            open_store("bad://here")
        with pytest.raises(
            StudyError, match=r"at an address of postgresql://, bad://, toy://; got 'new://me:\*\*\*@x'"
        ):
            open_store("new://me:secret@x")
