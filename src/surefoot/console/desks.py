"""What may be asked of a study from outside, and what is answered while it is blinded?

This is the only file of the console that reads a study's fold, and so the only one that must keep policies and outcomes
back.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from surefoot.console.figures import Live, live_of
from surefoot.console.gathering import Gathering
from surefoot.console.refusals import Refusal
from surefoot.console.tokens import Session
from surefoot.console.turnstiles import Turnstile
from surefoot.errors import DataError, StudyError
from surefoot.study.folds import Fold
from surefoot.study.plans import Plan
from surefoot.study.schedules import Turn
from surefoot.study.stores import Store, StoreError
from surefoot.study.studies import Study

T = TypeVar("T")
LEASE = timedelta(hours=1)
FRESH = 1.0
"""Seconds after which a reader looks whether another server wrote to the log."""
WARN_AGAIN = 60.0
LOG = logging.getLogger(__name__)


class Desk:
    """A study, asked one thing after another."""

    def __init__(self, study: Study) -> None:
        """Serve a study; the desk reads the log by itself, so refresh `study` to see what was done here."""
        self._store = Gathering(study.store)
        self._study = Study.open(self._store)
        self._lost = False
        self._turnstile = Turnstile(self._store, self._answer, self._forget)
        self._refreshed = 0.0
        self._live: tuple[int, Live] | None = None
        self._report: tuple[int, str] | None = None
        self._writing = asyncio.Lock()
        self._warned = ("", 0.0)
        self.closing = False  # listeners look at it, so that a server can stop while pages listen
        self.id = str(study.fold.history[0].body["seed_hash"])[:16]

    async def ask(self, question: Callable[..., T], *more: Any) -> T:
        """Carry out one of the methods below, in its turn.

        Raises:
            Refusal: It cannot be done; nothing was recorded.
        """
        quick = question in (self.record, self.next_turns)
        answer: T = await self._turnstile.ask(question, more, quick=quick)
        return answer

    def _forget(self) -> None:
        """Lines were taken in that the store did not keep: read the log anew before the next answer."""
        self._lost = True

    def _answer(self, question: Callable[..., T], *more: Any) -> T:
        try:
            if self._lost:
                self._study = Study.open(self._store)
                self._lost = False
            return question(*more)
        except StoreError as error:
            self._warn(str(error))
            raise Refusal(503, str(error), "Your entry is safe on your side; it may be sent again.", wait=2) from None
        except StudyError as error:
            raise Refusal(409, str(error)) from None

    def _warn(self, fault: str) -> None:
        """Tell whoever runs the server that the store fails, once for each fault in a minute."""
        now = time.monotonic()
        if fault != self._warned[0] or now - self._warned[1] > WARN_AGAIN:
            self._warned = (fault, now)
            LOG.warning("surefoot: %s", fault)

    def close(self) -> None:
        """Let go of the thread."""
        self._turnstile.close()

    @property
    def version(self) -> int:
        """The number of the log's last line, as far as it was read."""
        return self._study.version

    @property
    def plan(self) -> Plan:
        """The plan; it names policies, and tells nothing of which turn runs which."""
        return self._study.plan

    @property
    def blinded(self) -> bool:
        """Whether policies are hidden behind codes."""
        return self._study.fold.blinded

    # What is read.

    @property
    def due(self) -> bool:
        """Whether it is time to look what other servers wrote."""
        return time.monotonic() - self._refreshed >= FRESH

    def look(self) -> None:
        """Take in what other servers wrote, at most once a second."""
        if self.due:
            if self._study.refresh():  # another server writes too: lines held back would often be refused
                self._turnstile.keep_apart()
            self._refreshed = time.monotonic()

    def status(self) -> dict[str, Any]:
        """Progress, and whether to go on; the verdict only once the study is not blinded."""
        self.look()
        return self._status()

    def _status(self) -> dict[str, Any]:
        fold = self._study.fold
        status = {"study": self.id, **self._study.status}
        return status if fold.blinded else {**status, "verdict": fold.judge.verdict.value}

    def held(self, session: Session) -> list[dict[str, Any]]:
        """The turns being run, by holder; each holder's first is the current one."""
        self.look()
        fold = self._study.fold
        seen: set[str] = set()
        rows = []
        for turn in [] if fold.finished else fold.held(_now()):
            holder = fold.leases[turn.number].holder
            rows.append({**self._turn(turn, session), "holder": holder, "current": holder not in seen})
            seen.add(holder)
        return rows

    def turn(self, number: int, session: Session) -> dict[str, Any]:
        """One turn that was handed out."""
        self.look()
        fold = self._study.fold
        turn = _found(fold, number)
        return {
            **self._turn(turn, session),
            "recorded": number in fold.results,
            "voided": turn.block in fold.voids,
        }

    def live(self) -> Live:
        """Evidence, intervals and tallies; never while the study is blinded."""
        self.look()
        fold = self._study.fold
        if fold.blinded:
            raise Refusal(403, "The study is blinded.", "Only progress is shown until its owner unblinds it.")
        if self._live is None or self._live[0] != fold.version:
            self._live = (fold.version, live_of(fold))
        return self._live[1]

    def export(self) -> str:
        """The log as JSON lines; never while the study is blinded."""
        self._study.refresh()
        if self._study.fold.blinded:
            raise Refusal(403, "The study is blinded: its log would give outcomes away.", "Unblind it first.")
        return self._study.export()

    async def report(self) -> str:
        """The study's report as a page, written aside so that recording goes on; never while the study is blinded."""
        await self.ask(self.live)
        async with self._writing:
            version = self.version
            if self._report is None or self._report[0] != version:
                self._report = (version, await asyncio.to_thread(_written, self._store.behind))
            return self._report[1]

    # What is done.

    def next_turns(self, session: Session, holder: str, ahead: int, lease: float | None) -> dict[str, Any]:
        """The turn to run now and those held in reserve."""
        self.look()
        self._study.author = session.author
        span = LEASE if lease is None else timedelta(seconds=lease)
        turns = self._study.next_turns(ahead + 1, holder=holder, lease=span)
        rows = [{**self._turn(turn, session), "holder": holder} for turn in turns]
        status = self._status()
        return {
            "turn": rows[0] if rows else None,
            "ahead": rows[1:],
            "finished": status["finished"],
            "waiting": not rows and not status["finished"],
            "status": status,
        }

    def record(self, session: Session, number: int, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Keep a result: once for each request word, and never over another."""
        repeated = self._certain(lambda: self._recordable(number, entry))
        if not repeated:
            self._study.author = session.author
            given = {name: entry[name] for name in ("duration", "note", "failure", "request", "holder")}
            try:
                self._study.record(number, entry["result"], **given)
            except StoreError:
                raise
            except StudyError:  # another server was faster: say what it did
                repeated = self._recordable(number, entry)
                if not repeated:
                    raise
        return {"turn": number, "repeated": repeated, "status": self._status()}

    def _certain(self, check: Callable[[], T]) -> T:
        """What a check finds; when it refuses, only after looking at what other servers wrote."""
        try:
            return check()
        except Refusal:
            if not self._study.refresh():
                raise
            return check()

    def _recordable(self, number: int, entry: Mapping[str, Any]) -> bool:
        """Whether this request was carried out before; it is refused if it cannot be now."""
        fold, attempt = self._study.fold, entry["attempt"]
        if entry["request"] and fold.requests.get(entry["request"]) == number:
            return True
        turn = _found(fold, number)
        if entry["holder"] and (lease := fold.leases.get(number)) and lease.holder != entry["holder"]:
            return False  # the study refuses it, and logs that
        if turn.block in fold.voids:
            raise Refusal(409, f"Turn {number} was voided meanwhile.", "Ask for the next turn.")
        if number in fold.results:
            raise Refusal(409, f"Turn {number} already has a result, from {fold.results[number].author}.", _UNDO_FIRST)
        if attempt is not None and attempt != fold.attempts.get(number, 0) + 1:
            raise Refusal(409, f"Turn {number} was recorded and undone meanwhile.", "Ask for the turn again.")
        try:
            fold.plan.value(entry["result"])
        except StudyError as error:
            raise Refusal(422, str(error)) from None
        return False

    def undo(self, session: Session, number: int, reason: str, attempt: int | None) -> dict[str, Any]:
        """Take back a result."""
        self._study.refresh()
        _found(self._study.fold, number)
        repeated = number not in self._study.fold.results and attempt == self._study.fold.attempts.get(number)
        self._study.author = session.author
        self._study.undo(number, reason=reason, attempt=attempt)
        return {"turn": number, "repeated": repeated, "status": self._status()}

    def void(self, session: Session, number: int, reason: str, note: str) -> dict[str, Any]:
        """Declare that the turn's block does not count; voided before, nothing changes."""
        self._study.refresh()
        fold = self._study.fold
        turn = _found(fold, number)
        if reason not in fold.plan.void_reasons:
            raise Refusal(422, f"`reason` must be one that the plan names: {', '.join(fold.plan.void_reasons)}.")
        repeated = turn.block in fold.voids
        if not repeated:
            self._study.author = session.author
            self._study.void(number, reason=reason, note=note)
        return {"turn": number, "repeated": repeated, "status": self._status()}

    def release(self, session: Session, holder: str) -> dict[str, Any]:
        """Hand back every turn of a holder: one's own; anybody's as the owner, or when the study waits for one."""
        self._study.refresh()
        wait = self._study.status["waits"]
        held_up = wait is not None and wait["stalled"] and wait["holder"] == holder
        if session.browser and session.role != "owner" and holder != session.holder and not held_up:
            raise Refusal(403, f"Those turns are held by {holder}.", "The owner can hand them back.")
        self._study.author = session.author
        return {"released": len(self._study.release_all(holder)), "status": self._status()}

    def check(self, session: Session, items: list[str], note: str) -> dict[str, Any]:
        """Log a session's checklist."""
        self._study.author = session.author
        self._study.check(items, note=note)
        return {"status": self._status()}

    def amend(self, session: Session, changes: dict[str, Any], reason: str, version: int | None) -> dict[str, Any]:
        """Change the plan."""
        self._current(version)
        self._study.author = session.author
        self._study.amend(changes, reason=reason)
        return {"plan": self._study.plan.to_dict(), "status": self._status()}

    def unblind(self, session: Session, reason: str, version: int | None) -> dict[str, Any]:
        """Reveal which policy each code meant."""
        self._current(version)
        self._study.author = session.author
        self._study.unblind(reason=reason)
        return {"status": self._status()}

    def _current(self, version: int | None) -> None:
        self._study.refresh()
        if version is not None and version != self._study.version:
            raise Refusal(
                409,
                f"The study has moved on: its log is at version {self._study.version}, not {version}.",
                "Look at it again, then repeat the request.",
            )

    def _turn(self, turn: Turn, session: Session) -> dict[str, Any]:
        fold = self._study.fold
        row: dict[str, Any] = {
            "number": turn.number,
            "block": turn.block,
            "code": turn.code,
            "task": turn.task,
            "condition": turn.condition,
            "attempt": fold.attempts.get(turn.number, 0) + 1,
        }
        return {**row, "policy": turn.policy} if session.role == "runner" or not fold.blinded else row


_UNDO_FIRST = "It was not overwritten: undo it first if it is wrong."


def _found(fold: Fold, number: int) -> Turn:
    try:
        return fold.find(number)
    except StudyError as error:
        raise Refusal(404, str(error)) from None


def _written(store: Store) -> str:
    """The report, from a reading of the log of its own: the desk's goes on changing."""
    from surefoot.reporting.reports import report

    try:
        return report(Study.open(store)).html()
    except (DataError, StudyError, ValueError) as error:
        raise Refusal(409, f"The report cannot be written: {error}") from None


def _now() -> str:
    return datetime.now(UTC).isoformat()
