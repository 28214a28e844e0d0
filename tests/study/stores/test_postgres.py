"""Tests of `surefoot.study.stores.postgres`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from surefoot.study.events import broken
from surefoot.study.plans import Plan
from surefoot.study.stores import ConflictError, StoreError, open_store
from surefoot.study.studies import Study
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
    with psycopg.connect(plain, autocommit=True) as link:
        link.execute("alter role postgres set synchronous_commit = off")
    try:
        store = open_store(postgres.address("lax"))
        assert store._ask("show synchronous_commit", ()) == [("on",)]
    finally:
        with psycopg.connect(plain, autocommit=True) as link:
            link.execute("alter role postgres reset synchronous_commit")


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
