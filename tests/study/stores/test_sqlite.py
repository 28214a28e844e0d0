"""Tests of `surefoot.study.stores.sqlite`."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

from surefoot.errors import StudyError
from surefoot.study.plans import Plan
from surefoot.study.stores import StoreError
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study
from surefoot.study.verification import verify
from tests.support.stores import chain, put

PLAN = Plan(policies=("new", "old"), rule="mixture", horizon=40)


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
