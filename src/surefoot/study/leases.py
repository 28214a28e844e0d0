"""Leases of turns: who has which, for how long, and which pairs they hold up.

A turn belongs to whoever it was handed to last, until the lease ends. Its age is measured by the steady clock of the
process that handed it out or saw it handed out: a date that jumps frees no turn early and holds none for ever.

Two programs must never hold the same turn; and a program that crashed must get its turn back at once when it is started
again. So whoever gives no name is named by machine and process, and a lease of a process that has ended is no lease.

The rule reads pairs in the order in which they were scheduled, so one turn that stays out holds up every pair after it.
Whoever asks is told which turn that is. And no new pair is begun while more of them are complete and unread than the
devices at work explain: they would be run for nothing if the rule decides before them.
"""

from __future__ import annotations

import itertools
import os
import re
import socket
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from surefoot.core import formatting
from surefoot.core.record import Record

if TYPE_CHECKING:
    from surefoot.study.state import Fold

Clock = Callable[[], datetime]
LEASE = timedelta(hours=1)
"""How long a turn is held, unless told otherwise."""
REACH = 2
"""Pairs for each device that may be complete beyond the one that the rule waits for."""
PREFIX = "unnamed@"
_serials = itertools.count(1)
_living: WeakValueDictionary[int, Unnamed] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Lease(Record):
    """Who has a turn; past its time, anybody may take it.

    Attributes:
        holder: The robot's or the device's name.
        role: In which role it was taken; empty in logs of the first version.
        since: When, by the clock of whoever handed it out.
        seconds: For how long; 0 once it was handed back.
        line: The line of the log that says so.
    """

    holder: str
    role: str
    since: str
    seconds: float
    line: int


class LeaseClock:
    """Tells the time for the log, and how old a lease is."""

    def __init__(self, clock: Clock | None = None) -> None:
        """Use the machine's clocks, or one that a test turns."""
        self._wall: Clock = clock or (lambda: datetime.now(UTC))
        self._steady = time.monotonic if clock is None else (lambda: clock().timestamp())
        self._began: dict[int, float] = {}  # by line, the steady clock's moment at which the lease began
        self._heard: dict[str, float] = {}  # when each holder last asked for anything

    def time(self) -> str:
        """The time as the log keeps it."""
        return self._wall().astimezone(UTC).isoformat()

    def saw(self, lease: Lease) -> None:
        """It was handed out just now, here or by another server."""
        self._began[lease.line] = self._steady()

    def age(self, lease: Lease) -> float:
        """Seconds since it was handed out; one read from an old log is dated by its date, never by one to come."""
        if lease.line not in self._began:
            past = (self._wall() - _moment(lease.since)).total_seconds()
            self._began[lease.line] = self._steady() - max(0.0, past)
        return self._steady() - self._began[lease.line]

    def hears(self, holder: str) -> None:
        """A holder asked for something just now."""
        self._heard[holder] = self._steady()

    def silence(self, lease: Lease) -> float:
        """Seconds since the holder took the turn, or was heard of after that."""
        heard = self._heard.get(lease.holder)
        return self.age(lease) if heard is None else min(self.age(lease), self._steady() - heard)

    def live(self, lease: Lease | None) -> bool:
        """Whether the turn is still held."""
        return lease is not None and self.age(lease) < lease.seconds and not gone(lease.holder)

    def holding(self, leases: Mapping[int, Lease], turns: Iterable[int]) -> list[int]:
        """Those of the turns that are still held; each holder is looked for once."""
        ended: dict[str, bool] = {}
        found = []
        for turn in turns:
            lease = leases.get(turn)
            if lease is not None and self.age(lease) < lease.seconds:
                if lease.holder not in ended:
                    ended[lease.holder] = gone(lease.holder)
                if not ended[lease.holder]:
                    found.append(turn)
        return found


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def seconds_of(since: str, until: str) -> float:
    """How long a lease of the first version was for, which kept its end in place of its length."""
    return max(0.0, (_moment(until) - _moment(since)).total_seconds())


# Holders.


class Unnamed:
    """A holder without a name of its own, for as long as it exists."""

    __slots__ = ("__weakref__", "serial")

    def __init__(self) -> None:
        self.serial = next(_serials)
        _living[self.serial] = self

    @property
    def name(self) -> str:
        """Its machine, process and number."""
        return f"{PREFIX}{_machine()}/{os.getpid()}/{self.serial}"


def known_as(name: str) -> str:
    """A holder's name as people know it: on one line, without the device that makes a browser's name unique."""
    return re.sub(r" \([0-9a-f]{8}\)$", "", formatting.one_line(name))


def gone(name: str) -> bool:
    """Whether a holder without a name of its own has certainly ended; never of a named one or on another machine."""
    process, serial = _process_of(name) if name.startswith(PREFIX) else (0, 0)
    if not process:
        return False
    if process == os.getpid():
        return serial not in _living
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)  # sends nothing: asks whether it is there
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # somebody else's process, or a number that none can have
        return False
    return False


@lru_cache(maxsize=64)
def _process_of(name: str) -> tuple[int, int]:
    """The process and the number of a holder without a name, if it is or was on this machine; 0 otherwise."""
    machine, _, rest = name.removeprefix(PREFIX).partition("/")
    process, _, serial = rest.partition("/")
    here = machine == _machine() and process.isdecimal() and serial.isdecimal()
    return (int(process), int(serial)) if here else (0, 0)


@cache
def _machine() -> str:
    space = Path("/proc/self/ns/pid")  # in a container, process numbers are its own
    try:
        inside = f".{space.readlink().name.strip('pid:[]')}"
    except OSError:
        inside = ""
    return f"{socket.gethostname().replace('/', '-')}{inside}"


# Waiting.


@dataclass(frozen=True, slots=True)
class Wait(Record):
    """A pair that is not complete although later ones are.

    Attributes:
        block: The pair's number, or the round's.
        turn: The turn that it lacks.
        holder: Who holds that turn; empty when whoever asks next gets it.
        minutes: For how long.
        later: How many later pairs are complete, and wait with it.
        stalled: Whether no further pair is begun until it is in.
        sentence: All this, in words.
        silent: Whether its holder was silent for as long as the plan says: only then may another device take over.
    """

    block: int
    turn: int
    holder: str
    minutes: int
    later: int
    stalled: bool
    sentence: str
    silent: bool = False


def wait_of(fold: Fold, clock: LeaseClock) -> Wait | None:
    """What the rule waits for while later pairs are complete; None when it waits for nothing."""
    number, later = fold.reached + 1, fold.later
    if fold.finished or not later:
        return None
    missing = [turn.number for turn in fold.blocks[number] if turn.number in fold.waiting]
    held = [turn for turn in missing if clock.live(fold.leases.get(turn))]
    turn = (held or missing)[0]
    holder, minutes = "", 0
    if held:
        lease = fold.leases[turn]
        holder = lease.holder
        minutes = int(clock.age(lease) // 60)
    unit = fold.plan.unit
    at = f" at {fold.turns[turn].rig}" if fold.turns[turn].rig else ""
    who = f"which nobody holds: whoever asks next{at} gets it"
    if holder:
        long = formatting.counted(minutes, "minute") if minutes else "less than a minute"
        who = f"held by {known_as(holder)} for {long}"
    behind = (
        f"1 later {unit} is complete and counts" if later == 1 else f"{later:,} later {unit}s are complete and count"
    )
    sentence = f"{unit.capitalize()} {number} waits for turn {turn}, {who}; {behind} only after it."
    stalled = bool(held) and later >= most_later({fold.leases[one.number].holder for one in fold.held(clock)})
    silent = bool(held) and clock.silence(fold.leases[turn]) >= 60.0 * fold.plan.take_over_minutes
    return Wait(number, turn, holder, minutes, later, stalled, sentence, silent)


def most_later(at_work: Collection[str]) -> int:
    """How many pairs may be complete beyond the one that the rule waits for, before no further one is begun."""
    return REACH * max(2, len(at_work))  # whoever holds it up, and whoever asks
