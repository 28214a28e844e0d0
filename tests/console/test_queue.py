"""Many requests at one moment: one trip to the store, every answer right, nothing kept but what was acknowledged."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter

import pytest

from surefoot.console.authentication import Session
from surefoot.console.operations import Refusal
from surefoot.console.service import Service
from surefoot.study.stores import ConflictError, StoreError, TimeLimitError
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study
from tests.support.consoles import study

OPERATOR = Session("operator", "x")


class Counting:
    """A store that counts its appends, and can be made to fail, at once or after a wait."""

    def __init__(self, store):
        self.store, self.sizes, self.fault, self.clips = store, [], None, store.clips
        self.gives_up = threading.Event()
        self.gives_up.set()

    def append(self, lines, *, after):
        if self.fault is not None:
            self.gives_up.wait(30)
            fault, self.fault = self.fault, None
            raise fault
        self.store.append(lines, after=after)
        self.sizes.append(len(lines))

    def read(self, after=0):
        return self.store.read(after)


@pytest.fixture
def store(tmp_path):
    made = study(tmp_path, horizon=500)
    made._store.close()
    return Counting(SQLiteStore(tmp_path / "study.db"))


def recorded_by(service, device, number, **changes):
    body = {"result": number % 2 == 0, "attempt": 1, "request": f"word {number}", "duration": 1.0, "holder": device}
    return service.ask("record", OPERATOR, number=number, **{**body, **changes})


def next_for(service, device):
    return service.ask("next", OPERATOR, holder=device, ahead=0, lease=None)


def all_asked(service, turns, **changes):
    return [recorded_by(service, device, number, **changes) for device, number in turns.items()]


def all_recorded(service, turns, **changes):
    """Each device records its turn."""
    return all_of(*all_asked(service, turns, **changes))


async def all_of(*questions):
    return await asyncio.gather(*questions, return_exceptions=True)


def recorded(store):
    return Counter(e.body["turn"] for e in Study.open(store.store).fold.history if e.kind == "recorded")


async def taken(service, count):
    """So many devices take a turn each; their turns by device."""
    names = [f"device {n}" for n in range(count)]
    answers = await all_of(*(next_for(service, name) for name in names))
    return {name: answer["turn"]["number"] for name, answer in zip(names, answers, strict=True)}


def test_requests_that_wait_together_share_an_append(store):
    service = Service(Study.open(store))

    async def run():
        turns = await taken(service, 30)
        assert sorted(turns.values()) == list(range(1, 61, 2))  # a pair stays with one device
        await all_recorded(service, turns)

    asyncio.run(run())
    service.close()
    assert recorded(store) == Counter(range(1, 61, 2))
    assert sum(store.sizes) == 60
    assert len(store.sizes) <= 10


@pytest.mark.parametrize("fault", [ConflictError("somebody else was first"), StoreError("the disk is full")])
def test_when_a_shared_append_fails_each_is_carried_out_alone(store, fault):
    service = Service(Study.open(store))

    async def run():
        turns = await taken(service, 12)
        store.fault = fault
        return await all_recorded(service, turns)

    answers = asyncio.run(run())
    service.close()
    acknowledged = [answer["turns"][0] for answer in answers if not isinstance(answer, Exception)]
    assert len(acknowledged) >= 11  # the first may have gone alone, before the others came, and met the fault
    assert recorded(store) == Counter(acknowledged)


def test_a_refusal_among_others_stays_its_own(store):
    service = Service(Study.open(store))

    async def run():
        turns = await taken(service, 6)
        good = [recorded_by(service, device, number) for device, number in turns.items()]
        bad = [recorded_by(service, "device 1", turns["device 1"], request="other"), recorded_by(service, "x", 99)]
        return await all_of(*good, *bad)

    *good, twice, never = asyncio.run(run())
    service.close()
    assert all(answer["repeated"] is False for answer in good)
    assert isinstance(twice, Refusal)
    assert (twice.status, never.status) == (409, 404)
    assert recorded(store) == Counter(range(1, 12, 2))


def test_a_fault_of_ours_reaches_whoever_waits(store, monkeypatch):
    service = Service(Study.open(store))

    def broken(*_, **__):
        raise ZeroDivisionError

    async def run():
        turns = await taken(service, 4)
        monkeypatch.setattr(service, "_passed_on", broken)
        first = await all_recorded(service, turns)
        monkeypatch.undo()
        return first, await all_recorded(service, turns)

    first, second = asyncio.run(run())
    service.close()
    assert all(isinstance(answer, ZeroDivisionError) for answer in first)
    assert [answer["turns"] for answer in second] == [[1], [3], [5], [7]]
    assert recorded(store) == Counter(range(1, 8, 2))


def test_a_store_that_gives_no_answer_is_told_to_everybody_at_once(store):
    service = Service(Study.open(store))

    async def run():
        turns = await taken(service, 12)
        store.fault = TimeLimitError("no answer within 3 s")
        store.gives_up.clear()

        async def last():  # begun after all others: they wait by now
            store.gives_up.set()

        *first, _ = await all_of(*all_asked(service, turns), last())
        return first, await all_recorded(service, turns)

    first, second = asyncio.run(run())
    service.close()
    assert {answer.status for answer in first} == {503}  # one wait for all of them, not one each
    assert [str(answer) for answer in second if isinstance(answer, Exception)] == []


def test_two_servers_at_once_lose_and_double_nothing(store):
    one, two = Service(Study.open(store)), Service(Study.open(Counting(SQLiteStore(store.store.path))))

    async def device(service, name):
        turns = []
        for _ in range(8):
            while (given := (await next_for(service, name))["turn"]) is None:
                await asyncio.sleep(0.01)  # turns that others hold must come in first
            turn = given["number"]
            await recorded_by(service, name, turn, request=f"{name} {turn}")
            turns.append(turn)
        return turns

    async def run():
        return await asyncio.gather(
            *(device(service, f"{place} {n}") for place, service in enumerate((one, two)) for n in range(5))
        )

    turns = [turn for run_ in asyncio.run(run()) for turn in run_]
    one.close()
    two.close()
    assert len(set(turns)) == len(turns) == 80
    assert recorded(store) == Counter(turns)
