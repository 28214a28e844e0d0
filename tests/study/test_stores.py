"""One suite for every store: what it keeps, refuses and survives."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
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
from surefoot.study.events import Event, Line, broken, head_of
from surefoot.study.plans import Plan
from surefoot.study.schedules import seed_hash
from surefoot.study.stores import ConflictError, StoreError, open_store
from surefoot.study.stores.memory import MemoryStore
from surefoot.study.stores.postgres import PostgresStore
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study
from surefoot.study.verification import verify

PLAN = Plan(policies=("new", "old"), rule="mixture", horizon=40)


def events(count, kind="checked"):
    return [Event(kind, {"items": [str(i)], "note": "täst \x00 \u2028"}, "Ann", "2026-01-01") for i in range(count)]


def chain(count, after=None):
    lines = []
    for event in events(count):
        after = Line.after(after, event)
        lines.append(after)
    return lines


def result(number, turn, attempt=1):
    body = {"turn": turn, "attempt": attempt, "result": True, "duration": 1.5, "note": "", "failure": "", "request": ""}
    return Line(number, Event("recorded", body, "Ann", "2026-01-01", "", 1), "0" * 64)


def put(store, lines, after=None):
    """Append after what is there."""
    kept = store.read()
    store.append(lines, after=head_of(kept[-1] if kept else None) if after is None else after)


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


def test_two_studies_share_a_database_apart(postgres):
    one, two = postgres.address("first study"), postgres.address("second")
    Study.create(PLAN, one).next_turn()
    Study.create(PLAN, two)
    assert (Study.open(one).version, Study.open(two).version) == (2, 1)


def test_makers_of_the_table_do_not_trip_over_each_other(postgres):
    import psycopg

    with psycopg.connect(postgres.address("x").split("?")[0], autocommit=True) as link:
        link.execute("drop table if exists surefoot_race.surefoot_log")
        link.execute("create schema if not exists surefoot_race")
    address = postgres.address("x").split("?")[0] + "?options=-c%20search_path%3Dsurefoot_race&study=x"
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(lambda _: open_store(address), range(8)))
    assert all(store.read() == [] for store in stores)


def test_a_server_that_is_lax_is_made_to_keep_its_word(postgres):
    import psycopg

    plain = postgres.address("x").split("?")[0]
    with psycopg.connect(plain, autocommit=True) as link:
        link.execute("alter role postgres set synchronous_commit = off")
    try:
        store = open_store(postgres.address("lax"))
        assert store._ask("show synchronous_commit", ()) == [("on",)]
    finally:
        with psycopg.connect(plain, autocommit=True) as link:
            link.execute("alter role postgres reset synchronous_commit")


# --- faults ---


def test_sqlite_is_set_to_survive_a_power_cut(tmp_path):
    store = SQLiteStore(tmp_path / "log.db")
    put(store, chain(1))
    assert store._link.execute("pragma journal_mode").fetchone() == ("delete",)  # every line in the file itself
    assert store._link.execute("pragma synchronous").fetchone() == (2,)


def test_a_full_disk_loses_nothing_and_says_so(tmp_path):
    store = SQLiteStore(tmp_path / "study.db")
    study = Study.create(PLAN, store)
    store._link.execute(f"pragma max_page_count = {store._link.execute('pragma page_count').fetchone()[0] + 2}")
    kept = []

    def fill():
        while (turn := study.next_turn()) is not None:
            study.record(turn, True, note="x" * 500)
            kept.append(turn.number)

    with pytest.raises(StoreError, match=r"disk is full.*free some space, then try again"):
        fill()
    assert sorted(study.fold.results) == kept
    store._link.execute("pragma max_page_count = 1000000")
    turn = study.next_turn()
    study.record(turn, True)
    assert sorted(Study.open(tmp_path / "study.db").fold.results) == [*kept, turn.number]


FILLING = """
import resource, sys
from surefoot.errors import StudyError
from surefoot.study.studies import Study
from surefoot.study.verification import verify
study = Study.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
done = 0
try:
    while (turn := study.next_turn()) is not None:
        study.record(turn, True, note="x" * 3000)
        done += 1
        print(turn.number, flush=True)
except StudyError as error:
    print(error, flush=True)
"""


def test_a_file_that_may_not_grow_loses_nothing_and_says_so(tmp_path):
    Study.create(replace(PLAN, horizon=400), tmp_path / "study.db")
    words = [sys.executable, "-c", FILLING, tmp_path / "study.db"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    *numbers, said = done.stdout.split("\n")[:-1]
    assert "full" in said
    assert "try again" in said
    study = Study.open(tmp_path / "study.db")
    assert sorted(study.fold.results) == [int(number) for number in numbers]
    study.record(study.next_turn(), True)


@contextlib.contextmanager
def somebody_else():
    """Not root, whom no permission stops."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def folder(tmp_path_factory):
    """A folder that anybody can reach."""
    path = tmp_path_factory.mktemp("open")
    for parent in (path, *path.parents[:3]):
        with contextlib.suppress(PermissionError):
            parent.chmod(0o755)
    path.chmod(0o777)
    yield path
    path.chmod(0o777)


def test_a_read_only_folder_is_named(folder):
    with somebody_else():
        Study.create(PLAN, folder / "study.db")
    folder.chmod(0o555)
    with somebody_else(), pytest.raises(StoreError, match=r"read-only|folder must exist and be writable"):
        Study.create(PLAN, folder / "other.db")
    folder.chmod(0o777)
    with somebody_else():
        assert Study.open(folder / "study.db").version == 1


def test_a_study_in_a_read_only_folder_is_read(folder):
    """As in an archive: it opens and verifies, and nothing can be added."""
    with somebody_else():
        study = Study.create(PLAN, folder / "study.db")
        study.record(study.next_turn(), True)
        study.store.close()
    folder.chmod(0o555)
    with somebody_else():
        archived = Study.open(folder / "study.db")
        assert archived.version == 3
        assert verify(folder / "study.db").sound
        with pytest.raises(StoreError, match=r"read-only, so nothing was recorded: make both writable"):
            archived.next_turn()
    folder.chmod(0o777)
    assert Study.open(folder / "study.db").next_turn().block == 2  # the first pair is left to who began it


def test_a_read_only_file_is_named(folder):
    with somebody_else():
        study = Study.create(PLAN, folder / "study.db")
        study.store.close()
        (folder / "study.db").chmod(0o444)
    folder.chmod(0o555)
    with somebody_else(), pytest.raises(StoreError, match=r"read-only, so nothing was recorded: make both writable"):
        Study.open(folder / "study.db").next_turn()


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(StoreError, match="folder must exist"):
        Study.create(PLAN, tmp_path / "no" / "study.db")


def opened(path):
    """What becomes of a damaged file."""
    try:
        return f"{Study.open(path).version} lines"
    except StudyError as error:
        return "refused: damaged" if "study restore" in str(error) else "refused: no study"


def test_a_torn_file_is_refused_or_whole(tmp_path):
    study = Study.create(PLAN, tmp_path / "study.db")
    for _ in range(20):
        study.record(study.next_turn(), True)
    whole = study.version
    study.store.close()
    good = (tmp_path / "study.db").read_bytes()
    rng, said = random.Random(3), Counter()
    for _ in range(60):
        torn = tmp_path / "torn.db"
        torn.write_bytes(good[: rng.randrange(1, len(good))])
        said[opened(torn)] += 1
        for path in tmp_path.glob("torn.db*"):
            path.unlink()
    assert set(said) <= {f"{whole} lines", "refused: damaged", "refused: no study"}
    assert said["refused: damaged"] > 40


def test_scribbled_bytes_never_pass_for_a_log(tmp_path):
    study = Study.create(PLAN, tmp_path / "study.db")
    for _ in range(20):
        study.record(study.next_turn(), True)
    study.store.close()
    good = (tmp_path / "study.db").read_bytes()
    whole = Study.open(tmp_path / "study.db").store.read()
    rng = random.Random(5)
    for _ in range(60):
        bad, at = bytearray(good), rng.randrange(100, len(good) - 8)
        bad[at : at + 8] = rng.randbytes(8)
        torn = tmp_path / "torn.db"
        torn.write_bytes(bad)
        with contextlib.suppress(StudyError):
            assert Study.open(torn).store.read()[1:] == whole[1:]
        for path in tmp_path.glob("torn.db*"):
            path.unlink()


@pytest.mark.parametrize("content", [b"", b"hello, this is no database at all" * 100])
def test_a_file_that_is_no_study_is_left_alone(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StudyError, match=r"not a study|no study here"):
        Study.open(path)
    if content:
        assert path.read_bytes() == content


def test_another_database_is_not_a_study(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as link:
        link.execute("create table log (id integer)")
        link.commit()
    with pytest.raises(StudyError, match="not a study"):
        Study.open(tmp_path / "other.db")


def test_a_killed_database_comes_back_with_all_it_acknowledged(postgres):
    address = postgres.address()
    study = Study.create(replace(PLAN, horizon=400), address)
    kept = []
    for round_ in range(3):
        for _ in range(5):
            turn = study.next_turn()
            study.record(turn, True)
            kept.append(turn.number)
        postgres.kill()
        with pytest.raises(StoreError, match=r"see that the server runs.*try again"):
            study.record(study.next_turn(), True)
        postgres.start()
        turn = study.next_turn()
        study.record(turn, False, request=f"word {round_}")
        study.record(turn, False, request=f"word {round_}")
        kept.append(turn.number)
    opened = Study.open(address)
    assert sorted(opened.fold.results) == kept
    assert broken(opened.store.read()) is None


def test_a_line_kept_while_the_connection_was_cut_is_not_written_twice(postgres, monkeypatch):
    store = open_store(postgres.address())
    asked = store._ask
    lines = chain(3)

    def cut(query, values):
        answer = asked(query, values)
        if "insert" in query:
            raise StoreError("cut off after the server had kept it")
        return answer

    monkeypatch.setattr(store, "_ask", cut)
    put(store, lines)
    assert store.read() == lines


def test_a_line_lost_while_the_connection_was_cut_is_said_to_be(postgres, monkeypatch):
    store = open_store(postgres.address())
    asked = store._ask

    def cut(query, values):
        if "insert" in query:
            raise StoreError("cut off before the server had it")
        return asked(query, values)

    monkeypatch.setattr(store, "_ask", cut)
    with pytest.raises(StoreError, match="cut off before"):
        put(store, chain(1))
    assert store.read() == []


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
