"""Many requests at one moment: one trip to the store, every answer right, nothing kept but what was acknowledged."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from surefoot.console.desks import Desk
from surefoot.console.refusals import Refusal
from surefoot.console.tokens import Session
from surefoot.study.stores import ConflictError, StoreError
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study
from tests.consoles import study

OPERATOR = Session("operator", "x")


class Counting:
    """A store that counts its appends, and can be made to fail."""

    def __init__(self, store):
        self.store, self.sizes, self.fault = store, [], None

    def append(self, lines):
        if self.fault is not None:
            fault, self.fault = self.fault, None
            raise fault
        self.store.append(lines)
        self.sizes.append(len(lines))

    def read(self, after=0):
        return self.store.read(after)


@pytest.fixture
def store(tmp_path):
    made = study(tmp_path, horizon=500)
    made._store.close()
    return Counting(SQLiteStore(tmp_path / "study.db"))


def entry(number, **changes):
    body = {
        "result": number % 2 == 0,
        "attempt": 1,
        "request": f"word {number}",
        "duration": 1.0,
        "note": "",
        "failure": "",
        "holder": "",
    }
    return {**body, **changes}


async def all_of(*questions):
    return await asyncio.gather(*questions, return_exceptions=True)


def recorded(store):
    return Counter(e.body["turn"] for e in Study.open(store.store).fold.history if e.kind == "recorded")


def taken(desk, count):
    return all_of(*(desk.ask(desk.next_turns, OPERATOR, f"device {n}", 0, None) for n in range(count)))


def test_requests_that_wait_together_share_an_append(store):
    desk = Desk(Study.open(store))

    async def run():
        first = await taken(desk, 30)
        numbers = [answer["turn"]["number"] for answer in first]
        assert sorted(numbers) == list(range(1, 31))
        await all_of(*(desk.ask(desk.record, OPERATOR, number, entry(number)) for number in numbers))

    asyncio.run(run())
    desk.close()
    assert recorded(store) == Counter(range(1, 31))
    assert sum(store.sizes) == 60
    assert len(store.sizes) <= 10


@pytest.mark.parametrize("fault", [ConflictError("somebody else was first"), StoreError("the disk is full")])
def test_when_a_shared_append_fails_each_is_carried_out_alone(store, fault):
    desk = Desk(Study.open(store))

    async def run():
        await taken(desk, 12)
        store.fault = fault
        return await all_of(*(desk.ask(desk.record, OPERATOR, number, entry(number)) for number in range(1, 13)))

    answers = asyncio.run(run())
    desk.close()
    acknowledged = [answer["turn"] for answer in answers if not isinstance(answer, Exception)]
    assert len(acknowledged) >= 11  # the first may have gone alone, before the others came, and met the fault
    assert recorded(store) == Counter(acknowledged)


def test_a_refusal_among_others_stays_its_own(store):
    desk = Desk(Study.open(store))

    async def run():
        await taken(desk, 6)
        good = [desk.ask(desk.record, OPERATOR, number, entry(number)) for number in range(1, 7)]
        bad = [
            desk.ask(desk.record, OPERATOR, 3, entry(3, request="other")),
            desk.ask(desk.record, OPERATOR, 99, entry(99)),
        ]
        return await all_of(*good, *bad)

    *good, twice, never = asyncio.run(run())
    desk.close()
    assert all(answer["repeated"] is False for answer in good)
    assert isinstance(twice, Refusal)
    assert (twice.status, never.status) == (409, 404)
    assert recorded(store) == Counter(range(1, 7))


def test_a_fault_of_ours_reaches_whoever_waits(store, monkeypatch):
    desk = Desk(Study.open(store))

    def broken(*_):
        raise ZeroDivisionError

    async def run():
        await taken(desk, 4)
        monkeypatch.setattr(desk, "_recordable", broken)
        first = await all_of(*(desk.ask(desk.record, OPERATOR, number, entry(number)) for number in range(1, 5)))
        monkeypatch.undo()
        return first, await all_of(*(desk.ask(desk.record, OPERATOR, number, entry(number)) for number in range(1, 5)))

    first, second = asyncio.run(run())
    desk.close()
    assert all(isinstance(answer, ZeroDivisionError) for answer in first)
    assert [answer["turn"] for answer in second] == [1, 2, 3, 4]
    assert recorded(store) == Counter(range(1, 5))


def test_two_servers_at_once_lose_and_double_nothing(store):
    one, two = Desk(Study.open(store)), Desk(Study.open(Counting(SQLiteStore(store.store.path))))

    async def device(desk, name):
        turns = []
        for _ in range(8):
            while (given := (await desk.ask(desk.next_turns, OPERATOR, name, 0, None))["turn"]) is None:
                await asyncio.sleep(0.01)  # turns that others hold must come in first
            turn = given["number"]
            await desk.ask(desk.record, OPERATOR, turn, entry(turn, request=f"{name} {turn}"))
            turns.append(turn)
        return turns

    async def run():
        return await asyncio.gather(
            *(device(desk, f"{place} {n}") for place, desk in enumerate((one, two)) for n in range(5))
        )

    turns = [turn for run_ in asyncio.run(run()) for turn in run_]
    one.close()
    two.close()
    assert len(set(turns)) == len(turns) == 80
    assert recorded(store) == Counter(turns)
