"""What can be asked of a study from outside, and what is answered while it is blinded.

This is the only file of the console that reads a study's fold, and so the only one that must keep policies and outcomes
back. What may be written, and by whom, the study itself knows.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from surefoot.console.authentication import MARKED, Session
from surefoot.console.live_figures import Live, live_of
from surefoot.console.operations import Refusal, away, plain
from surefoot.console.queue import Queue
from surefoot.errors import DataError, StudyError
from surefoot.study.clips import Clip, Quota
from surefoot.study.conduct import Counts, counts_of
from surefoot.study.leases import LEASE
from surefoot.study.notifications import Notifier, checkpoint_stamp, other_checkpoints
from surefoot.study.plans import Plan
from surefoot.study.recording import Entry, RefusedError, found_turn
from surefoot.study.schedules import Turn
from surefoot.study.status import Receipt, Status, id_of
from surefoot.study.stores import Store, StoreError
from surefoot.study.stores.shared import SharedStore
from surefoot.study.studies import Study

FRESH = 1.0
"""Seconds after which a reader looks whether another server wrote to the log."""
WARN_AGAIN = 60.0
CHECKPOINTS = 5.0
"""Seconds between looks whether a checkpoint's files are others."""
WITNESS = "Tell the study's owner: the whole log must be put back. What you entered is kept on your device."
QUICK = ("record", "next")
"""Operations that write a line or two, and may share a trip to the store."""
BROWSER = re.compile(r" \([0-9a-f]{8}\)$")
LOG = logging.getLogger(__name__)

Answer = dict[str, Any]


class Service:
    """A study, asked one thing after another."""

    def __init__(self, study: Study) -> None:
        """Serve a study; the service reads the log by itself, so refresh `study` to see what was done here."""
        self.free: Callable[[str], str] = str  # gives back a name that anybody may use, and refuses one that is proved
        self._store = SharedStore(study.store)
        self.clips, self.quota = study.clips, Quota()
        self._study = Study.open(self._store, clips=self.clips.path)
        self._lost = False
        self._queue = Queue(self._store, self._answer, self._forget)
        self._refreshed = 0.0
        self._notifier: Notifier | None = None
        self._others: list[tuple[str, str]] = []
        self._looked = ""  # the fingerprint of the plan that they were looked for
        self._seen = -1  # the log's version that was looked at to notify
        self._live: tuple[int, Live] | None = None
        self._report: tuple[int, str] | None = None
        self._writing = asyncio.Lock()
        self._warned = ("", 0.0)
        self.closing = False  # listeners look at it, so that a server can stop while pages listen
        self.id = id_of(study.recall())

    async def ask(self, name: str, session: Session, **values: Any) -> Any:
        """Carry out one of the table's operations, in its turn.

        Raises:
            Refusal: It cannot be done; nothing was recorded.
        """
        operation = getattr(self, f"_{name}", None) or partial(self._passed_on, name)

        def carried_out() -> Any:
            self._known(session)
            self._study.author, self._study.role, self._study.holder = session.author, session.role, session.holder
            self._study.clock.hears(session.holder)
            return operation(session, **values)

        return await self._queue.ask(carried_out, quick=name in QUICK)

    def follow(self, notifier: Notifier | None) -> None:
        """Tell somebody when the study ends, is held up, or its store fails; and look after its checkpoints."""
        self._notifier = notifier
        if notifier is not None:
            notifier.saw(self._study.status())
        if any(one.sha256 for one in self.plan.policy_details):
            threading.Thread(target=self._look_after_checkpoints, daemon=True, name="surefoot-checkpoints").start()

    def _look_after_checkpoints(self) -> None:
        """Hash the checkpoints on this machine now, and whenever a file of theirs is another."""
        before: Any = None
        while not self.closing:
            plan = self.plan
            stamp = (plan.fingerprint, checkpoint_stamp(plan))
            if stamp != before:
                before, self._others, self._looked = stamp, other_checkpoints(plan), plan.fingerprint
                for name, sentence in self._others:
                    LOG.warning("surefoot: %s", sentence)
                    if self._notifier is not None:
                        self._notifier.tell("checkpoint mismatch", sentence, self._study.status(), name, stamp)
            time.sleep(CHECKPOINTS)

    def other_checkpoints(self, session: Session) -> list[str]:
        """Which checkpoints on this machine are not the planned ones; nothing for whoever must stay blind."""
        known = session.role in ("runner", "owner") and self._looked == self.plan.fingerprint
        return [sentence for _, sentence in self._others] if known else []

    def _noticed(self) -> None:
        if self._notifier is not None and self.version != self._seen:
            self._seen = self.version
            self._notifier.saw(self._study.status())

    def shown(self, session: Session) -> dict[str, str]:
        """The whole hash of the line that a device knows the beginning of, so that it need not believe us."""
        mark = session.mark if session.mark and session.mark.study == self.id else None
        return {MARKED: str(replace(mark, head=self._study.hash_at(mark.lines)))} if mark else {}

    def _known(self, session: Session) -> None:
        """Hold the log against what a device knows of it."""
        mark = session.mark
        if mark is None or mark.study != self.id:
            return
        if mark.lines > self.version:  # perhaps another server wrote it
            self._study.refresh()
        here = self._study.hash_at(mark.lines)
        if not here.startswith(mark.head) or not here:
            ends = f"its line {mark.lines} is another" if here else f"it ends at line {self.version}"
            fault = f"{session.holder} knows line {mark.lines} of the study's log; here {ends}."
            self._warn(f"{fault} Lines were cut off or rewritten. Its mark: {mark}")
            raise Refusal(
                409, f"{fault} Lines were cut off or rewritten; nothing was recorded.", WITNESS, why="witness"
            )

    async def prepare(self) -> None:
        """Load what the rule decides by, so that the first who completes a pair need not wait for it."""
        await self._queue.ask(self._rehearse, quick=False)
        if self.clips.path.is_dir():
            await asyncio.to_thread(self._sweep)

    def _sweep(self) -> None:
        """Finish what a killed server had begun with clips; the log is read aside, so that recording goes on."""
        told = (line.event.body.get("clip") for line in self._store.behind.read())
        for said in self.clips.sweep([Clip.of(one) for one in told if one]):
            LOG.warning("surefoot: %s", said)

    async def now(self) -> Status:
        """Progress, and whether to go on."""
        found: Status = await self._queue.ask(self._fresh_status, quick=False)
        return found

    async def counts(self) -> Counts:
        """How many rollouts were run, and what became of them."""
        found: Counts = await self._queue.ask(lambda: counts_of(self._study.fold), quick=False)
        return found

    async def held(self, session: Session) -> list[Answer]:
        """The turns being run, by holder; each holder's first is the current one."""
        rows: list[Answer] = (await self.ask("turns", session))["turns"]
        return rows

    async def live(self) -> Live:
        """Evidence, intervals and tallies; never while the study is blinded."""
        found: Live = await self._queue.ask(self._figures, quick=False)
        return found

    async def report(self) -> str:
        """The study's report as a page, written aside so that recording goes on; never while the study is blinded."""
        await self.live()
        async with self._writing:
            version = self.version
            if self._report is None or self._report[0] != version:
                self._report = (version, await asyncio.to_thread(_written, self._store.behind))
            return self._report[1]

    def _forget(self) -> None:
        """Lines were taken in that the store did not keep: read the log anew before the next answer."""
        self._lost = True

    def _answer(self, question: Callable[[], Any]) -> Any:
        try:
            if self._lost:
                clock = self._study.clock
                self._study = Study.open(self._store, clips=self.clips.path)
                self._study.clock, self._lost = clock, False
            answer = question()
            self._noticed()
            return answer
        except StoreError as error:
            self._warn(str(error))
            raise away(error) from None
        except RefusedError as error:
            raise Refusal.of(error) from None
        except StudyError as error:
            raise Refusal(409, str(error)) from None

    def _warn(self, fault: str) -> None:
        """Tell whoever runs the server that the store fails, once for each fault in a minute."""
        now = time.monotonic()
        if fault != self._warned[0] or now - self._warned[1] > WARN_AGAIN:
            self._warned = (fault, now)
            if self._notifier is not None:
                self._notifier.tell("error", fault, None, int(now // WARN_AGAIN))
            LOG.warning("surefoot: %s", fault)

    def close(self) -> None:
        """Let go of the thread."""
        self._queue.close()

    @property
    def version(self) -> int:
        """The number of the log's last line, as far as it was read."""
        return self._study.version

    @property
    def plan(self) -> Plan:
        """The plan; it names policies, and tells nothing of which turn runs which."""
        return self._study.plan

    @property
    def due(self) -> bool:
        """Whether it is time to look what other servers wrote."""
        return time.monotonic() - self._refreshed >= FRESH

    def _look(self) -> None:
        """Take in what other servers wrote, at most once a second."""
        if self.due:
            if self._study.refresh():  # another server writes too: lines held back would often be refused
                self._queue.keep_apart()
            self._refreshed = time.monotonic()

    def _fresh_status(self) -> Status:
        self._look()
        return self._study.status()

    def _rehearse(self) -> None:
        decision = self._study.recall().decision
        if not decision.finished:
            worst = float(self.plan.worst)
            decision.after(
                {name: [worst] * often for name, often in decision.turns.items()}
            )  # a value that nobody keeps

    def _figures(self) -> Live:
        self._look()
        if self._study.recall().blinded:
            raise Refusal(403, "The study is blinded.", "Only progress is shown until its owner unblinds it.")
        if self._live is None or self._live[0] != self.version:
            self._live = (self.version, live_of(self._study.fold))
        return self._live[1]

    # One method per operation of the table that is not the study's own.

    def _status(self, _: Session) -> Answer:
        return plain(self._fresh_status())

    def _plan(self, _: Session) -> Answer:
        self._look()
        return {"plan": self.plan.to_dict(), "fingerprint": self.plan.fingerprint, "version": self.version}

    def _turns(self, session: Session) -> Answer:
        self._look()
        fold = self._study.recall()
        seen: set[str] = set()
        rows = []
        for turn in self._study.held():
            holder = fold.leases[turn.number].holder
            rows.append({**self._row(turn, session), "holder": holder, "current": holder not in seen})
            seen.add(holder)
        return {"turns": rows}

    def _turn(self, session: Session, number: int) -> Answer:
        self._look()
        fold = self._study.recall(turn=number)
        turn = found_turn(fold, number)
        return {
            **self._row(turn, session),
            "recorded": number in fold.results,
            "voided": turn.block in fold.voids,
        }

    def _results(self, _: Session) -> Answer:
        return self._figures().data

    def _export(self, _: Session) -> str:
        return self._study.export()

    def _next(self, session: Session, holder: str, ahead: int | None, lease: float | None, rig: str = "") -> Answer:
        self._look()
        name = self._holder(session, holder)
        span = LEASE if lease is None else timedelta(seconds=lease)
        turns = self._study.next_turns((ahead or 0) + 1, holder=name, rig=rig, lease=span)
        rows = [{**self._row(turn, session), "holder": name} for turn in turns]
        status = self._study.status()
        waiting = not rows and not status.finished
        return {"turn": rows[0] if rows else None, "ahead": rows[1:], "waiting": waiting, "status": plain(status)}

    def _clip(
        self, session: Session, number: int, clip: Clip | None, holder: str, attempt: int | None, size: int
    ) -> Answer:
        """Add a clip; without one, only hear whether it may be, and whether there is room for it."""
        self._look()
        name = self._holder(session, holder)
        entry = Entry(turn=number, result=None, holder=name, attempt=attempt, clip=clip)
        made = entry.attached(self._study.recall(turn=number), session.role)
        before = self._study.recall(turn=number).results[number].clip
        again = made is None and before is not None and before.sha256  # perhaps its file was not put in its place
        left, why = self.quota.left(self._study.recall().clip_bytes, session.author)
        if size > max(left, 0) and not again:
            raise Refusal(413, f"{why}.", "The result is kept. Ask the study's owner for room, or give a link.")
        return {} if clip is None else plain(self._study.clip(number, clip, holder=name, attempt=attempt))

    def _download(self, _: Session, number: int) -> Clip:
        """The clip of a turn."""
        self._look()
        fold = self._study.recall(turn=number)
        if fold.blinded:
            raise Refusal(403, "The study is blinded.", "Clips are shown once its owner unblinds it.")
        found_turn(fold, number)
        result = fold.results.get(number)
        if result is None or result.clip is None or not result.clip.sha256:
            raise Refusal(404, f"Turn {number} has no clip that is kept here.")
        return result.clip

    def _passed_on(self, name: str, session: Session, number: int | None = None, **values: Any) -> Answer:
        """What the study itself does under that name, with those fields."""
        if name not in QUICK:
            self._study.refresh()
        if name == "release":  # of anybody who is named: the study knows who may
            values["holder"] = self._of_holder(session, values["holder"] or session.holder)
        elif "holder" in values:
            values["holder"] = self._holder(session, values["holder"])
        if number is not None:
            values["turn"] = number
        receipt: Receipt = getattr(self._study, name)(**values)
        return plain(receipt)

    def _holder(self, session: Session, claimed: str) -> str:
        """Whose turns these are: a browser's are its own, whatever it says; a script says under which name it works."""
        if session.browser or not claimed:
            return session.holder
        if BROWSER.search(claimed):
            raise Refusal(422, "`holder` must not be a browser's name.", "Give the robot a name of its own.")
        name = session.own(claimed if session.proved else self.free(claimed))
        self._study.clock.hears(name)
        return name

    def _of_holder(self, session: Session, claimed: str) -> str:
        """Who is meant: a script knows itself by the name that it gave."""
        return session.holder if session.own(claimed) == session.holder else claimed

    def _row(self, turn: Turn, session: Session) -> Answer:
        fold = self._study.recall(turn=turn.number)
        others = [one.number for one in fold.blocks[turn.block] if one.number < turn.number]
        told = ["number", "block", "code", "task", "condition", "rig", "operator"]
        told += ["policy"] if session.role == "runner" or not fold.blinded else []
        return {name: getattr(turn, name) for name in told} | {
            "attempt": fold.attempts.get(turn.number, 0) + 1,
            "same_start_as": others[0] if others and fold.plan.environments == "shared" else None,
        }


def _written(store: Store) -> str:
    """The report, from a reading of the log of its own: the service's goes on changing."""
    from surefoot.reporting.reports import report

    try:
        return report(Study.open(store)).html(scripts=False)  # the page is served in a sandbox that would run none
    except (DataError, StudyError, ValueError) as error:
        raise Refusal(409, f"The report cannot be written: {error}") from None
