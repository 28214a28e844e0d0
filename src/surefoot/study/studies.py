"""How is a study created, run, undone, unblinded and read?

`Study` is the one thing that grows. Every change is one event, durable before it is shown; what a study knows is a fold
of its log, so that opening it again after a crash, or on another machine, gives the same.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from surefoot import _check
from surefoot.core.verdict import Verdict
from surefoot.errors import StudyError
from surefoot.study import amendments, holders, transfers
from surefoot.study.entries import Entry
from surefoot.study.events import Event, Line, broken, seeded
from surefoot.study.folds import Fold, Result, folded, summary_of
from surefoot.study.judging import table_of
from surefoot.study.plans import Plan
from surefoot.study.schedules import Turn, seed_hash
from surefoot.study.stores import ConflictError, Store, open_store

if TYPE_CHECKING:
    from surefoot.rollouts.table import Rollouts

LEASE = timedelta(minutes=30)
TRIES = 200

Clock = Callable[[], datetime]
Place = Store | str | Path


class Study:
    """A plan being carried out: which rollout comes next, every result safe, and the moment to stop."""

    def __init__(self, store: Place, *, author: str = "", clock: Clock | None = None) -> None:
        """Use `create` or `open`."""
        self._store = open_store(store) if isinstance(store, str | Path) else store
        self._clock = clock or (lambda: datetime.now(UTC))
        self._fold = Fold()
        self._unnamed = holders.Unnamed()
        self._handed: dict[int, str] = {}  # the holder for whom each turn was last asked for here
        self.author = author

    @classmethod
    def create(cls, plan: Plan, store: Place, *, author: str = "", clock: Clock | None = None) -> Self:
        """Begin a study: the plan becomes the first event, with the hash of a fresh secret seed.

        Args:
            plan: What is asked, of which policies, by which rule.
            store: Where the log is kept: a file's path, ``postgresql://host/database?study=NAME``, or a store.
            author: Who writes to the log.
            clock: What tells the time; the machine's clock by default.

        Raises:
            StudyError: The plan's rule does not fit, or the store already holds a study.
        """
        study, seed = cls(store, author=author, clock=clock), secrets.token_hex(32)
        body = {
            "plan": _check.instance(plan, "plan", Plan).to_dict(),
            "fingerprint": plan.fingerprint,
            "seed_hash": seed_hash(seed),
            "table": table_of(plan),
        }
        if study._store.read():
            raise StudyError("The store already holds a study, whose plan is fixed; open it, or give another place.")
        try:
            study._store.append([Line.after(None, study._event("started", body), private=seed)])
        except ConflictError:
            raise StudyError("Somebody else began a study in this store at the same moment; open it.") from None
        study.refresh()
        return study

    @classmethod
    def open(cls, store: Place, *, author: str = "", clock: Clock | None = None) -> Self:
        """Take up a study where its log ends, after verifying the log.

        Raises:
            StudyError: There is no study, or its log was changed by hand.
        """
        study = cls(store, author=author, clock=clock)
        lines = study._store.read()
        if not lines:
            raise StudyError("There is no study here yet; create one.")
        fault = broken(lines)
        if fault:
            hint = "Ask `surefoot study verify` for all of it; go on with a copy that verifies, or begin anew."
            raise StudyError(f"The study's log does not verify: {fault}. {hint}")
        study._fold = folded(seeded(lines))
        return study

    @classmethod
    def restore(cls, text: str, store: Place, *, author: str = "", clock: Clock | None = None) -> Self:
        """Put an exported log into an empty store, all of it or nothing, and open it.

        Raises:
            StudyError: The text is no log, its chain does not hold, or the store is not empty.
        """
        study = cls(store, author=author, clock=clock)
        lines = transfers.parsed(text)
        if study._store.read():
            raise StudyError("The store already holds a study; restore into an empty place.")
        study._store.append(lines)
        study.refresh()
        return study

    def refresh(self) -> bool:
        """Take in what others have written since; whether there was anything."""
        lines = self._store.read(self._fold.version)
        for line in seeded(lines) if self._fold.last is None else lines:
            if line.hash != Line.after(self._fold.last, line.event).hash:
                raise StudyError(f"Line {line.number} of the log does not follow from the one before it.")
            self._fold.take(line)
        return bool(lines)

    # What is known.

    @property
    def plan(self) -> Plan:
        """The plan, amendments included."""
        return self._fold.plan

    @property
    def fold(self) -> Fold:
        """All that the log amounts to; whoever reads it while the study is blinded is not blind."""
        return self._fold

    @property
    def verdict(self) -> Verdict:
        """What the declared rule has decided about the first-named policy."""
        return self._fold.judge.verdict

    @property
    def finished(self) -> bool:
        """Whether the rule needs no further rollout."""
        return self._fold.finished

    @property
    def status(self) -> dict[str, Any]:
        """Progress, and whether to go on: nothing that gives a policy away."""
        return summary_of(self._fold, self._now(self._fold))

    @property
    def store(self) -> Store:
        """Where the log is kept."""
        return self._store

    @property
    def version(self) -> int:
        """The number of the log's last line."""
        return self._fold.version

    # What is done.

    def next_turn(self, *, holder: str = "", lease: timedelta = LEASE) -> Turn | None:
        """The rollout to run next, held for you until the lease ends; None when none is needed or free.

        Asking again before recording gives the same turn to the same holder. None while the study is not `finished`
        means that turns which others hold must come in first; `status["waits"]` says which.

        Args:
            holder: The robot's or the device's name: started again under it, it gets its turn back. Without a name it
                gets it back as soon as the process that held it has ended.
            lease: After this long another holder may take the turn.
        """
        return next(iter(self.next_turns(1, holder=holder, lease=lease)), None)

    def next_turns(self, count: int, *, holder: str = "", lease: timedelta = LEASE) -> list[Turn]:
        """The rollouts to run next, up to `count`, all held for you: for a device that may lose its connection."""
        _check.whole(count, "count", least=1)
        _check.positive(lease.total_seconds(), "lease")
        name = holder or self.author or self._unnamed.name
        chosen: list[Turn] = []
        asked = self._time()  # one moment for all: no lease ends while the next is taken

        def ask(fold: Fold) -> Event | None:
            now = self._now(fold, asked)
            chosen[:] = [] if fold.finished else fold.held(now, name)[:count]
            if fold.finished or len(chosen) >= count:
                return None
            for left in fold.held(now):
                if holders.gone(fold.leases[left.number].holder):
                    return self._handed_back(fold, left.number, now)
            turn = fold.open_turn(now, name)
            if turn is None:
                return None
            chosen.append(turn)
            until = (datetime.fromisoformat(now) + lease).isoformat()
            return self._event("leased", {"turn": turn.number, "holder": name, "until": until}, now)

        while self._write(ask) and len(chosen) < count:
            pass
        self._handed |= {turn.number: name for turn in chosen}
        return sorted(chosen, key=lambda turn: turn.number)

    def release(self, turn: Turn | int) -> bool:
        """Hand back a turn that will not be run, so that another holder may take it at once; whether it was held."""
        number = _number(turn)
        return self._release(number, self._handed.get(number, ""))

    def release_all(self, holder: str) -> list[Turn]:
        """Hand back every turn that a holder has, as for a device that has left; those turns."""
        self.refresh()
        turns = self._fold.held(self._now(self._fold), holder)
        for turn in turns:
            self._release(turn.number, holder)
        return turns

    def _release(self, number: int, holder: str) -> bool:
        def write(fold: Fold) -> Event | None:
            now, held = self._now(fold), fold.leases.get(fold.find(number).number)
            theirs = held is not None and held.until > now and holder in ("", held.holder)
            return self._handed_back(fold, number, now) if theirs else None

        return self._write(write)

    def _handed_back(self, fold: Fold, number: int, now: str) -> Event:
        return self._event("leased", {"turn": number, "holder": fold.leases[number].holder, "until": now}, now)

    def record(
        self,
        turn: Turn | int,
        result: float,
        *,
        duration: float | None = None,
        note: str = "",
        failure: str = "",
        request: str = "",
        holder: str = "",
    ) -> Result:
        """Keep a turn's result for good.

        Args:
            turn: The turn, or its number.
            result: Success (true or false), or a score in the plan's range.
            duration: How long the rollout took, in seconds.
            note: Anything worth remembering.
            failure: What went wrong, when it failed.
            request: A word that names this request: the same word again changes nothing and gives the same answer.
            holder: Who ran it; the holder to whom this study handed it, by default.

        Raises:
            StudyError: The turn was never handed out, went to another holder meanwhile, already has a result or was
                voided, or the result is not one that the plan knows. Nothing is recorded then.
        """
        number = _number(turn)
        entry = Entry(number, result, duration, note, failure, request, holder or self._handed.get(number, ""))

        def write(fold: Fold) -> Event | None:
            said = entry.event(fold)
            return None if said is None else self._event(*said, self._now(fold))

        self._write(write)
        late = entry.late(self._fold)
        if late:
            raise StudyError(late)
        return self._fold.results[number]

    def undo(self, turn: Turn | int, *, reason: str, attempt: int | None = None) -> None:
        """Take back a turn's result, with the reason; both stay in the log.

        Args:
            turn: The turn, or its number.
            reason: Why.
            attempt: Which of the turn's results, if it matters: one undone before changes nothing, and a newer one
                is not touched.
        """
        number = _number(turn)
        _said(reason)

        def write(fold: Fold) -> Event | None:
            if attempt is not None and attempt != fold.attempts.get(number):
                raise StudyError(f"Turn {number} has no result {attempt} to undo, or a newer one.")
            if number not in fold.results:
                if attempt is not None:
                    return None
                raise StudyError(f"Turn {number} has no result to undo.")
            body = {"turn": number, "attempt": fold.results[number].attempt, "reason": reason}
            return self._event("undone", body, self._now(fold))

        self._write(write)

    def void(self, turn: Turn | int, *, reason: str, note: str = "") -> None:
        """Declare that the turn's whole block does not count, for one of the plan's reasons; another is scheduled."""
        number = _number(turn)

        def write(fold: Fold) -> Event:
            found = fold.find(number)
            if reason not in fold.plan.void_reasons:
                options = ", ".join(fold.plan.void_reasons)
                raise StudyError(f"A void's reason must be one that the plan names ({options}); got {reason!r}.")
            if found.block in fold.voids:
                raise StudyError(f"Turn {number} is voided already.")
            seen = any(other.number in fold.attempts for other in fold.blocks[found.block])  # undone ones too
            told = {"reason": reason, "note": _check.instance(note, "note", str), "seen": seen}
            return self._event("voided", {"turn": number, "block": found.block, **told}, self._now(fold))

        self._write(write)

    def amend(self, changes: Mapping[str, Any], *, reason: str) -> None:
        """Change the plan, with the reason; what binds and is changed after a result makes the verdict exploratory."""
        _said(reason)
        self._write(
            lambda fold: self._event(
                "amended", {**amendments.admitted(fold, changes), "reason": reason}, self._now(fold)
            )
        )

    def unblind(self, *, reason: str) -> None:
        """Reveal the seed, and with it which policy each code meant; done before the end it is a deviation."""
        _said(reason)

        def write(fold: Fold) -> Event | None:
            if fold.unblinded is not None:
                return None
            return self._event("unblinded", {"seed": fold.seed, "reason": reason}, self._now(fold))

        self._write(write)

    def check(self, items: Iterable[str], *, note: str = "") -> None:
        """Log that a session's checklist was gone through."""
        if isinstance(items, str):
            raise TypeError(_check.refusal("items", "be a list of texts", items))
        said = [_check.instance(item, "items", str) for item in items]
        body = {"items": said, "note": _check.instance(note, "note", str)}
        self._write(lambda fold: self._event("checked", body, self._now(fold)))

    # What others read.

    def rollouts(self) -> Rollouts:
        """Every recorded rollout as a table, voided ones marked; refused while the study is blinded.

        Raises:
            StudyError: The study is blinded, or nothing was recorded yet.
        """
        from surefoot.study.tables import rollouts_of

        return rollouts_of(self._fold)

    def export(self) -> str:
        """The log as JSON lines, hashes included; refused while the study is blinded."""
        self.refresh()
        if self._fold.blinded:
            raise StudyError("The study is blinded: its log would give outcomes away. Unblind it first.")
        return transfers.written(seeded(self._store.read()))

    def _event(self, kind: str, body: Mapping[str, Any], now: str | None = None) -> Event:
        return Event(kind, body, self.author, now or self._time())

    def _time(self) -> str:
        return self._clock().astimezone(UTC).isoformat()

    def _now(self, fold: Fold, told: str = "") -> str:
        """The time, never before the last event's: a clock set back must not reorder the log or free a lease late."""
        return max(told or self._time(), fold.last.event.time if fold.last is not None else "")

    def _write(self, make: Callable[[Fold], Event | None]) -> bool:
        """Append the event that `make` finds right for the log as it stands; look again if others were faster."""
        looked = False  # the store refuses a line that others wrote first, so only a refusal needs a look before it
        for _ in range(TRIES):
            try:
                event = make(self._fold)
            except StudyError:
                if not (looked := not looked and self.refresh()):
                    raise
                continue
            if event is None:
                if not (looked := not looked and self.refresh()):
                    return False
                continue
            line = Line.after(self._fold.last, event)
            try:
                self._store.append([line])
            except ConflictError:
                looked = self.refresh()
                continue
            self._fold.take(line)
            return True
        raise StudyError("Others are writing too fast; nothing was recorded: try again.")


def _number(turn: Turn | int) -> int:
    return turn.number if isinstance(turn, Turn) else _check.whole(turn, "turn", least=1)


def _said(reason: str) -> None:
    if not _check.instance(reason, "reason", str).strip():
        raise StudyError("A reason must be given; it is kept in the log and shown in the report.")
