"""The log of a study, which several programs append to safely.

Every change is one event, durable before it is shown; what a study knows is a fold of its log, so that opening it again
after a crash, or on another machine, gives the same.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from surefoot import _check
from surefoot._secret import Secret
from surefoot.core.verdict import Verdict
from surefoot.errors import StudyError
from surefoot.study import log_files, snapshots
from surefoot.study.clips import ClipFolder
from surefoot.study.decision import table_of
from surefoot.study.events import Event, Line, Role, broken, head_of, seeded
from surefoot.study.item_lists import declared_list
from surefoot.study.leases import Clock, LeaseClock, Unnamed
from surefoot.study.plans import Plan
from surefoot.study.recording import Made, RefusedError
from surefoot.study.schedules import Turn, seed_hash
from surefoot.study.state import Fold, folded
from surefoot.study.status import Receipt, Status, status_of
from surefoot.study.stores import ConflictError, LostError, Store, keeper_of, open_store
from surefoot.study.stores.shared import SharedStore

TRIES = 200

Place = Store | str | Path


class StudyLog:
    """A log and what it amounts to; `Study` adds what can be done."""

    def __init__(
        self, store: Place, *, author: str = "", clock: Clock | None = None, clips: str | Path | None = None
    ) -> None:
        """Use `create` or `open`."""
        self._store = open_store(store) if isinstance(store, str | Path) else store
        self.clock = LeaseClock(clock)
        self._fold = Fold()  # perhaps only of what the rule has not read yet; `fold` is whole
        self._doubtful = False  # whether the fold holds lines that the store did not keep
        self._snapshot = 0  # the line at which the last snapshot stands
        self._unnamed = Unnamed()
        self._handed: dict[int, str] = {}  # the holder for whom each turn was last asked for here
        self.author = author
        self.role: Role = "local"
        self.holder = ""
        self._clips = clips

    @classmethod
    def create(
        cls, plan: Plan, store: Place, *, author: str = "", clock: Clock | None = None, clips: str | Path | None = None
    ) -> Self:
        """Begin a study: the plan becomes the first event, with the hash of a fresh secret seed.

        Args:
            plan: What is asked, of which policies, by which rule.
            store: Where the log is kept: a file's path, ``postgresql://host/database?study=NAME``, or a store.
            author: Who writes to the log.
            clock: What tells the time; the machine's clock by default.
            clips: The folder for clips of rollouts; by default beside the file (``study.clips``), or, of a database,
                in the current folder.
        """
        study, seed = cls(store, author=author, clock=clock, clips=clips), Secret(secrets.token_hex(32))
        body: dict[str, Any] = {
            "plan": _check.instance(plan, "plan", Plan).to_dict(),
            "fingerprint": plan.fingerprint,
            "seed_hash": seed_hash(seed.reveal()),
            "table": table_of(plan),
        }
        if plan.items:
            body["list"] = declared_list(plan, seed.reveal())
        if study._store.read():
            raise StudyError("The store already holds a study, whose plan is fixed; open it, or give another place.")
        try:
            line = Line.after(None, study._event("started", body), private=seed)
            study._store.append([line], after=head_of(None))
        except ConflictError:
            raise StudyError("Somebody else began a study in this store at the same moment; open it.") from None
        study.refresh()
        return study

    @classmethod
    def open(
        cls, store: Place, *, author: str = "", clock: Clock | None = None, clips: str | Path | None = None
    ) -> Self:
        """Take up a study where its log ends, after verifying the log.

        Raises:
            StudyError: There is no study, or its log was changed by hand.
        """
        study = cls(store, author=author, clock=clock, clips=clips)
        study._load()
        study._keep_snapshot()
        return study

    def _load(self) -> None:
        """Read the log from its snapshot, or from its first line."""
        found = snapshots.opened(self._store)
        self._fold = checked(seeded(self._store.read())) if found is None else found
        self._snapshot = 0 if found is None else found.before.lines + 1

    def recall(self, *, turn: int | None = None, word: str = "", event: Event | None = None) -> Fold:
        """What the log amounts to, perhaps only of what the rule has not read yet, which is quick.

        With whatever must be known of a turn, of a request's word, or to take in an event.
        """
        if self._fold.short_of(turn=turn, word=word, event=event):
            return self.fold
        return self._fold

    def _keep_snapshot(self) -> None:
        """Keep a snapshot once enough lines were added since the last."""
        if self._fold.version - self._snapshot >= snapshots.STEP and keeper_of(self._store) is not None:
            self._snapshot = self._fold.version
            snapshots.kept(self._fold, self._store)

    @classmethod
    def restore(
        cls, text: str, store: Place, *, key: Secret | None = None, author: str = "", clock: Clock | None = None
    ) -> Self:
        """Put an exported log, or a backup, into an empty store, all of it or nothing, and open it.

        Args:
            text: What `export` or `backup` wrote.
            store: An empty place.
            key: The key of a backup.
            author: Who writes to the log from now on.
            clock: What tells the time; the machine's clock by default.
        """
        study = cls(store, author=author, clock=clock)
        lines = log_files.parsed(text, key)
        if study._store.read():
            raise StudyError("The store already holds a study; restore into an empty place.")
        study._store.append(lines, after=head_of(None))
        study.refresh()
        return study

    def refresh(self) -> bool:
        """Take in what others have written since; whether there was anything."""
        self._sure()
        known = self._fold.last
        lines = self._store.read(self._fold.version - 1 if known is not None else 0)
        if known is not None:
            if not lines or (lines[0].number, lines[0].hash) != (known.number, known.hash):
                raise LostError.at(known.number)
            lines = lines[1:]
        for line in seeded(lines) if known is None else lines:
            if line.hash != Line.after(self._fold.last, line.event).hash:
                raise StudyError(f"Line {line.number} of the log does not follow from the one before it.")
            if known is None:
                self._fold.take(line)
            else:
                self._take(line)
        return bool(lines)

    # What is known.

    @property
    def clips(self) -> ClipFolder:
        """The folder in which the clips of rollouts are kept."""
        return ClipFolder(self._store.clips if self._clips is None else self._clips)

    @property
    def plan(self) -> Plan:
        """The plan, amendments included."""
        return self._fold.plan

    @property
    def fold(self) -> Fold:
        """All that the log amounts to; whoever reads it while the study is blinded is not blind."""
        if self._fold.before.lines:
            lines = seeded(self._store.read())[: self._fold.version]
            if not lines or lines[-1].hash != self._fold.head:
                raise LostError.at(self._fold.version)
            self._fold = checked(lines)
        return self._fold

    def hash_at(self, number: int) -> str:
        """The hash of a line of the log; empty where it has none."""
        here, keeper = self._fold.hash_at(number), keeper_of(self._store)
        if here or keeper is None or not 0 < number <= self._fold.before.lines:
            return here
        found = keeper.lines(number, number)
        return found[0].hash if found else ""

    @property
    def verdict(self) -> Verdict:
        """What the declared rule has decided about the first-named policy."""
        return self._fold.decision.verdict

    @property
    def finished(self) -> bool:
        """Whether the rule needs no further rollout."""
        return self._fold.finished

    def status(self) -> Status:
        """Progress, and whether to go on: nothing that gives a policy away while the study is blinded."""
        return status_of(self._fold, self.clock)

    @property
    def store(self) -> Store:
        """Where the log is kept."""
        return self._store

    @property
    def version(self) -> int:
        """The number of the log's last line."""
        return self._fold.version

    def held(self, holder: str | None = None) -> list[Turn]:
        """The turns being run now, by `holder` or by anybody."""
        return [] if self._fold.finished else self._fold.held(self.clock, holder)

    def export(self) -> str:
        """The log as JSON lines, hashes included, with its length and head at the end; refused while blinded."""
        self.refresh()
        if self._fold.blinded:
            raise RefusedError(
                "role",
                "The study is blinded: its log would reveal outcomes.",
                "Unblind it first, or make a sealed backup with `surefoot study backup`.",
            )
        return log_files.written(seeded(self._store.read()))

    def backup(self, key: Secret) -> str:
        """The log, sealed: whoever lacks the key learns its length and head, and nothing else. `restore` reads it.

        Raises:
            StudyError: The `seal` extra is not installed.
        """
        self.refresh()
        return log_files.sealed(seeded(self._store.read()), key)

    @property
    def _name(self) -> str:
        return self.holder or self.author or self._unnamed.name

    def _event(self, kind: str, body: Mapping[str, Any]) -> Event:
        return Event(kind, body, self.author, self.clock.time(), self.role)

    def _take(self, line: Line) -> None:
        """Take in a line that was written just now, here or by another server."""
        self.recall(event=line.event).take(line)
        self._keep_snapshot()
        if line.event.kind == "leased":
            self.clock.saw(self._fold.leases[line.event.body["turn"]])

    def _receipt(self, *turns: int, repeated: bool = False) -> Receipt:
        return Receipt(turns, repeated, self.status())

    def _done(self, make: Callable[[Fold], Made], *turns: int) -> Receipt:
        """Write an event, and acknowledge it; nothing is written when it had been before."""
        return self._receipt(*turns, repeated=not self._write(make))

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Keep what is written within by one append at its end: all of it or nothing.

        Raises:
            ConflictError: Somebody else wrote meanwhile, and nothing of it was kept.
        """
        self._sure()
        store, shared, kept = self._store, SharedStore(self._store), False
        self._store = shared
        try:
            with shared.together():
                yield
            kept = True
        finally:
            self._store, self._doubtful = store, not kept
            self._sure()
        self._keep_snapshot()

    def _sure(self) -> None:
        """Read the log anew where lines were taken in that the store did not keep."""
        if self._doubtful:
            self._load()
            self._doubtful = False

    def _write(self, make: Callable[[Fold], Made]) -> bool:
        """Append the event that `make` finds right for the log as it stands; look again if others were faster."""
        self._sure()
        looked = False  # the store refuses a line that others wrote first, so only a refusal needs a look before it
        for _ in range(TRIES):
            try:
                made = make(self._fold)
            except StudyError:
                if not (looked := not looked and self.refresh()):
                    raise
                continue
            if made is None:
                if not (looked := not looked and self.refresh()):
                    return False
                continue
            line = Line.after(self._fold.last, self._event(*made))
            try:
                self._store.append([line], after=self._fold.head)
            except ConflictError:
                looked = self.refresh()
                continue
            self._take(line)
            return True
        raise StudyError("Others are writing too fast; nothing was recorded: try again.")


def checked(lines: list[Line]) -> Fold:
    """What all lines amount to, from the first, their chain verified."""
    if not lines:
        raise StudyError("There is no study here yet; create one.")
    fault = broken(lines)
    if fault:
        hint = "`surefoot study verify` lists every fault. Continue with a copy that verifies, or begin a new study."
        raise StudyError(f"The study's log does not verify: {fault}. {hint}")
    return folded(lines)
