"""How is a study created, run, undone, unblinded and read?

`Study` is the one thing that grows. Every change is one event, durable before it is shown; what a study knows is a fold
of its log, so that opening it again after a crash, or on another machine, gives the same.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from surefoot import _check
from surefoot.core.verdict import Verdict
from surefoot.errors import StudyError
from surefoot.study.events import Event, Line, broken
from surefoot.study.folds import Fold, Result
from surefoot.study.judging import check_rule
from surefoot.study.plans import Plan
from surefoot.study.schedules import Turn, seed_hash
from surefoot.study.stores import ConflictError, Store

if TYPE_CHECKING:
    from surefoot.rollouts.table import Rollouts

LEASE = timedelta(minutes=30)
TRIES = 200

Clock = Callable[[], datetime]


class Study:
    """A plan being carried out: which rollout comes next, every result safe, and the moment to stop."""

    def __init__(self, store: Store, *, author: str = "", clock: Clock | None = None) -> None:
        """Use `create` or `open`."""
        self._store = store
        self._clock = clock or (lambda: datetime.now(UTC))
        self._fold = Fold()
        self.author = author

    @classmethod
    def create(cls, plan: Plan, store: Store, *, author: str = "", clock: Clock | None = None) -> Self:
        """Begin a study: the plan becomes the first event, with the hash of a fresh secret seed.

        Raises:
            StudyError: The plan's rule does not fit, or the store already holds a study.
        """
        check_rule(plan)
        if store.read():
            raise StudyError("The store already holds a study; open it, or give another place.")
        study = cls(store, author=author, clock=clock)
        seed = secrets.token_hex(32)
        body = {"plan": plan.to_dict(), "fingerprint": plan.fingerprint, "seed_hash": seed_hash(seed)}
        line = Line.after(None, study._event("started", body), private=seed)
        try:
            store.append([line])
        except ConflictError:
            raise StudyError("Somebody else began a study in this store at the same moment; open it.") from None
        study.refresh()
        return study

    @classmethod
    def open(cls, store: Store, *, author: str = "", clock: Clock | None = None) -> Self:
        """Take up a study where its log ends, after verifying the log.

        Raises:
            StudyError: There is no study, or its log was changed by hand.
        """
        study = cls(store, author=author, clock=clock)
        lines = store.read()
        if not lines:
            raise StudyError("There is no study here yet; create one.")
        fault = broken(lines)
        if fault:
            raise StudyError(f"The study's log does not verify: {fault}.")
        for line in lines:
            study._fold.take(line)
        return study

    @classmethod
    def restore(cls, text: str, store: Store, *, author: str = "", clock: Clock | None = None) -> Self:
        """Put an exported log into an empty store, all of it or nothing, and open it.

        Raises:
            StudyError: The text is no log, its chain does not hold, or the store is not empty.
        """
        if store.read():
            raise StudyError("The store already holds a study; restore into an empty place.")
        lines = []
        for place, row in enumerate(text.splitlines(), 1):
            try:
                lines.append(Line.from_dict(json.loads(row)))
            except json.JSONDecodeError as error:
                raise StudyError(f"Line {place} of the exported log is not JSON: {error}.") from None
        fault = broken(lines) if lines else "it is empty"
        if fault:
            raise StudyError(f"The exported log does not verify: {fault}. Nothing was restored.")
        store.append(lines)
        return cls.open(store, author=author, clock=clock)

    def refresh(self) -> bool:
        """Take in what others have written since; whether there was anything."""
        lines = self._store.read(self._fold.version)
        for line in lines:
            previous = self._fold.last
            if line.hash != Line.after(previous, line.event).hash:
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
    def version(self) -> int:
        """The number of the log's last line."""
        return self._fold.version

    # What is done.

    def next_turn(self, *, holder: str = "", lease: timedelta = LEASE) -> Turn | None:
        """The rollout to run next, held for you until the lease ends; None when none is needed.

        Asking again before recording gives the same turn to the same holder.
        """
        turns = self.next_turns(1, holder=holder, lease=lease)
        return turns[0] if turns else None

    def next_turns(self, count: int, *, holder: str = "", lease: timedelta = LEASE) -> list[Turn]:
        """The rollouts to run next, up to `count`, all held for you: for a device that may lose its connection."""
        name = holder or self.author
        chosen: list[Turn] = []

        def ask(fold: Fold) -> Event | None:
            now = self._now(fold)
            chosen[:] = [] if fold.finished else fold.held(now, name)[:count]
            turn = None if len(chosen) >= count else fold.open_turn(now)
            if turn is None:
                return None
            chosen.append(turn)
            until = (datetime.fromisoformat(now) + lease).isoformat()
            return self._event("leased", {"turn": turn.number, "holder": name, "until": until}, now)

        while self._write(ask) and len(chosen) < count:
            pass
        return sorted(chosen, key=lambda turn: turn.number)

    def release(self, turn: Turn | int) -> None:
        """Hand back a turn that will not be run, so that another holder may take it at once."""
        number = turn.number if isinstance(turn, Turn) else _check.whole(turn, "turn", least=1)

        def write(fold: Fold) -> Event | None:
            now = self._now(fold)
            holder, until = fold.leases.get(fold.find(number).number, ("", now))
            if until <= now:
                return None
            return self._event("leased", {"turn": number, "holder": holder, "until": now}, now)

        self._write(write)

    def record(
        self,
        turn: Turn | int,
        result: float,
        *,
        duration: float | None = None,
        note: str = "",
        failure: str = "",
        request: str = "",
    ) -> Result:
        """Keep a turn's result for good.

        Args:
            turn: The turn, or its number.
            result: Success (true or false), or a score in the plan's range.
            duration: How long the rollout took, in seconds.
            note: Anything worth remembering.
            failure: What went wrong, when it failed.
            request: A word that names this request: the same word again changes nothing and gives the same answer.

        Raises:
            StudyError: The turn was never handed out, already has a result or was voided, or the result is not one
                that the plan knows. Nothing is recorded then.
        """
        number = turn.number if isinstance(turn, Turn) else _check.whole(turn, "turn", least=1)
        if duration is not None and _check.real(duration, "duration") < 0:
            raise StudyError(_check.refusal("duration", "be 0 or more", duration))
        where: list[int] = []

        def write(fold: Fold) -> Event | None:
            if request and request in fold.requests:
                where[:] = [fold.requests[request]]
                if where != [number]:
                    raise StudyError(f"Request {request!r} recorded turn {where[0]}; it cannot record turn {number}.")
                if number not in fold.results:
                    raise StudyError(f"Turn {number} was recorded by this request and undone since.")
                return None
            found = fold.find(number)
            if found.block in fold.voids:
                raise StudyError(f"Turn {number} was voided; ask for the next turn.")
            if number in fold.results:
                raise StudyError(f"Turn {number} already has a result; undo it first to record another.")
            fold.plan.value(result)
            body = {
                "turn": number,
                "attempt": fold.attempts.get(number, 0) + 1,
                "result": bool(result) if fold.plan.measure == "success" else float(result),
                "duration": duration,
                "note": note,
                "failure": failure,
                "request": request,
            }
            where[:] = [number]
            return self._event("recorded", body, self._now(fold))

        self._write(write)
        return self._fold.results[where[0]]

    def undo(self, turn: Turn | int, *, reason: str, attempt: int | None = None) -> None:
        """Take back a turn's result, with the reason; both stay in the log.

        Args:
            turn: The turn, or its number.
            reason: Why.
            attempt: Which of the turn's results, if it matters: one undone before changes nothing, and a newer one
                is not touched.
        """
        number = turn.number if isinstance(turn, Turn) else _check.whole(turn, "turn", least=1)
        _said(reason)

        def write(fold: Fold) -> Event | None:
            if attempt is not None and attempt != fold.attempts.get(number):
                raise StudyError(f"Turn {number} has no result {attempt} to undo, or a newer one.")
            if attempt is not None and number not in fold.results:
                return None
            if number not in fold.results:
                raise StudyError(f"Turn {number} has no result to undo.")
            body = {"turn": number, "attempt": fold.results[number].attempt, "reason": reason}
            return self._event("undone", body, self._now(fold))

        self._write(write)

    def void(self, turn: Turn | int, *, reason: str, note: str = "") -> None:
        """Declare that the turn's whole block does not count, for one of the plan's reasons; another is scheduled."""
        number = turn.number if isinstance(turn, Turn) else _check.whole(turn, "turn", least=1)

        def write(fold: Fold) -> Event:
            found = fold.find(number)
            if reason not in fold.plan.void_reasons:
                options = ", ".join(fold.plan.void_reasons)
                raise StudyError(f"A void's reason must be one that the plan names ({options}); got {reason!r}.")
            if found.block in fold.voids:
                raise StudyError(f"Turn {number} is voided already.")
            seen = any(other.number in fold.results for other in fold.blocks[found.block])
            body = {"block": found.block, "reason": reason, "note": note, "seen": seen}
            return self._event("voided", body, self._now(fold))

        self._write(write)

    def amend(self, changes: Mapping[str, Any], *, reason: str) -> None:
        """Change the plan, with the reason; what binds and is changed after a result makes the verdict exploratory."""
        _said(reason)

        def write(fold: Fold) -> Event:
            if "blinded" in changes:
                raise StudyError("`blinded` cannot be amended: unblind the study, which reveals its seed.")
            fixed = [name for name in ("policies", "measure", "environments") if name in changes and fold.turns]
            if fixed:
                raise StudyError(f"`{fixed[0]}` cannot change once turns were handed out; create another study.")
            try:
                plan = fold.plan.amended(changes)
                check_rule(plan)
                for result in fold.results.values():
                    plan.value(result.score)
            except (ValueError, TypeError) as error:
                raise StudyError(f"The plan cannot be amended so: {error}") from None
            return self._event("amended", {"changes": dict(changes), "reason": reason}, self._now(fold))

        self._write(write)

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
        body = {"items": list(items), "note": note}
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
        if self._fold.blinded:
            raise StudyError("The study is blinded: its log would give outcomes away. Unblind it first.")
        self.refresh()
        rows = [line.to_dict() for line in self._store.read()]
        rows[0]["seed"] = self._fold.seed
        return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)

    def _event(self, kind: str, body: Mapping[str, Any], now: str | None = None) -> Event:
        return Event(kind, body, self.author, now or self._clock().astimezone(UTC).isoformat())

    def _now(self, fold: Fold) -> str:
        """The time, never before the last event's: a clock set back must not reorder the log or free a lease late."""
        now = self._clock().astimezone(UTC).isoformat()
        return max(now, fold.last.event.time) if fold.last is not None else now

    def _write(self, make: Callable[[Fold], Event | None]) -> bool:
        """Append the event that `make` finds right for the log as it stands; look again whenever others were faster.

        Returns:
            Whether there was anything to write.
        """
        looked = False  # the store refuses a line that others wrote first, so only a refusal needs a look before it
        for _ in range(TRIES):
            try:
                event = make(self._fold)
            except StudyError:
                if looked or not self.refresh():
                    raise
                looked = True
                continue
            if event is None:
                if looked or not self.refresh():
                    return False
                looked = True
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


def _said(reason: str) -> None:
    if not reason.strip():
        raise StudyError("A reason must be given; it is kept in the log and shown in the report.")
