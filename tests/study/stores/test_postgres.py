"""Tests of `surefoot.study.stores.postgres`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from surefoot.study import log_files
from surefoot.study.events import GENESIS, broken, seeded
from surefoot.study.plans import Plan
from surefoot.study.stores import ConflictError, StoreError, open_store
from surefoot.study.studies import Study
from tests.support.databases import Line, Pooler
from tests.support.stores import chain, put

PLAN = Plan(policies=("new", "old"), rule="mixture", horizon=40)


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


@pytest.mark.parametrize("what", ["table raced (a int)", "domain raced_too as int"])
def test_whoever_comes_second_is_told_so_whatever_postgresql_calls_it(postgres, what):
    """A table is a type as well: the second maker may be refused for either."""
    store = open_store(postgres.address())
    store._ask(f"create {what}")
    with pytest.raises(ConflictError):
        store._ask(f"create {what}")


def test_a_server_that_is_lax_is_made_to_keep_its_word(postgres):
    import psycopg

    plain = postgres.address("x").split("?")[0]
    Study.create(PLAN, postgres.address())
    with psycopg.connect(plain, autocommit=True) as link:
        link.execute("create table seen (word text)")
        link.execute(
            "create function look() returns trigger language plpgsql as "
            "$$ begin insert into seen values (current_setting('synchronous_commit')); return null; end $$"
        )
        link.execute("create trigger looks after insert on surefoot_log for each row execute function look()")
        for word in ("off", "local", "on"):
            link.execute(f"alter role postgres set synchronous_commit = {word}")
            Study.create(PLAN, postgres.address())
        link.execute("alter role postgres reset synchronous_commit")
        found = link.execute("select word from seen").fetchall()
        link.execute("drop trigger looks on surefoot_log")
    assert found == [("on",), ("local",), ("on",)]


def grown(results):
    study = Study.create(replace(PLAN, horizon=4 * results), ":memory:")
    for _ in range(results):
        study.record(study.next_turn(), True, note="it slipped " * 20)
    return study


@pytest.mark.end_to_end
def test_a_long_log_over_a_slow_line_takes_its_time(postgres):
    """More than the limit on an answer, to write and to read."""
    study = grown(600)
    text = log_files.written(seeded(study.store.read()))
    with Line(postgres, rate=len(text) / 6) as line:  # six seconds; the limit on silence is four
        kept = Study.restore(text, line.address())
        assert kept.fold.head == study.fold.head
        assert kept.store.read() == study.store.read()


def test_a_long_log_is_put_there_whole_or_not_at_all(postgres):
    study, store = grown(300), open_store(postgres.address())
    lines = study.store.read()
    store.append(lines[:1], after=GENESIS)
    bent = [*lines[1:400], replace(lines[400], number=398), *lines[401:]]
    with pytest.raises(ConflictError):
        store.append(bent, after=lines[0].hash)
    assert store.read() == lines[:1]
    store.append(lines[1:], after=lines[0].hash)
    assert store.read() == lines


def together(address, workers=4, each=9):
    """So many at once, and every result there once."""

    def robot(name):
        study = Study.open(address, author=name)
        for _ in range(each):
            study.record(study.next_turn(holder=name), True, holder=name)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(robot, [f"arm {number}" for number in range(workers)]))
    study = Study.open(address)
    assert len(study.fold.results) == workers * each
    assert broken(study.store.read()) is None


def test_a_study_behind_a_pooler_of_transactions(postgres):
    with Pooler(postgres) as pooler:
        address = pooler.address()
        Study.create(replace(PLAN, horizon=400), address)
        together(address)


def test_a_database_that_is_serializable_by_default(postgres):
    import psycopg

    plain, address = postgres.address("x").split("?")[0], postgres.address()
    Study.create(replace(PLAN, horizon=400), address)
    with psycopg.connect(plain, autocommit=True) as link:
        link.execute("alter role postgres set default_transaction_isolation = 'serializable'")
        try:
            together(address)
        finally:
            link.execute("alter role postgres reset default_transaction_isolation")


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
        with pytest.raises(StoreError, match=r"Check that the server runs.*try again"):
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
