"""Studies run by a Python function, unattended.

A rollout that crashes, runs out of time or answers what cannot be read is an outcome like any other: the plan says what
it counts as, the log keeps it, and the study goes on. Several workers run turns at the same moment; the rule reads
their results in the order in which the turns were scheduled, whatever order they finish in.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from surefoot import _check
from surefoot.errors import StudyError
from surefoot.runners.outcomes import Batch, CrashError, Rollout, called, outcome_of, settled
from surefoot.study.clips import HEAD, kind_of
from surefoot.study.leases import LEASE, Unnamed
from surefoot.study.notifications import Notifier, other_checkpoints
from surefoot.study.plans import Plan
from surefoot.study.protocol import StudyOperations
from surefoot.study.recording import RefusedError
from surefoot.study.schedules import Turn
from surefoot.study.status import Receipt, Status
from surefoot.study.stores import ConflictError, StoreError

SETTLES, PATIENCE = 0.2, 5.0
"""Seconds for which a file must not grow before it is taken for whole, and for which to wait for that."""


class CameraFolder:
    """A folder into which a camera or a recorder writes: the newest clip that appeared during a turn is the turn's."""

    def __init__(self, path: str | Path) -> None:
        """Look at a folder."""
        self.path = Path(path)
        if not self.path.is_dir():
            raise _check.refused("clips_from", "be a folder that exists", str(path))

    def seen(self) -> dict[str, int]:
        """Every file that is there now, with the moment when it was last written."""
        found = {}
        for one in self._files():
            with contextlib.suppress(OSError):  # gone meanwhile
                if one.is_file():
                    found[one.name] = one.stat().st_mtime_ns
        return found

    def _files(self) -> list[Path]:
        with contextlib.suppress(OSError):  # a folder that went away costs no result
            return list(self.path.iterdir())
        return []

    def newest(self, before: dict[str, int]) -> Path | None:
        """The newest clip written since, once it no longer grows; none when there is none."""
        written = {name: when for name, when in self.seen().items() if before.get(name) != when}
        for name in sorted(written, key=lambda one: (written[one], one), reverse=True):
            path, until = self.path / name, time.monotonic() + PATIENCE
            with contextlib.suppress(OSError):
                size = -1
                while size != (size := path.stat().st_size) and time.monotonic() < until:
                    time.sleep(SETTLES)
                with path.open("rb") as file:
                    if kind_of(file.read(HEAD)) is not None:
                        return path
        return None


PATIENCE, PAUSE = 300.0, 2.0
"""Seconds to keep trying while the store is away, and between tries."""
MARGIN = 600.0
"""Seconds for which a turn is held beyond its time limit."""
LOG = logging.getLogger(__name__)

Told = Callable[[Turn, Receipt], None]
Write = Callable[..., Receipt]
T = TypeVar("T")


def run_study(
    study: StudyOperations,
    rollout: Rollout | Batch,
    *,
    workers: int = 1,
    batch: int = 1,
    turns: int | None = None,
    time_limit: float | None = None,
    holder: str = "",
    rig: str = "",
    progress: Told | None = None,
    clips_from: str | Path | None = None,
    notify: str | None = None,
) -> Status:
    """Run a study to its end: a function for every turn, several at a time if you like.

    Stopped and called again, it goes on where it was. A crash of the function is an outcome: the plan's `on_crash` says
    what it counts as.

    Args:
        study: The study, opened here or on a server (`Study` or `Client`).
        rollout: Runs one turn and returns whether it succeeded, its score, or an `Outcome`. With `batch` it gets a list
            of turns and returns a list with one of these for each, in their order.
        workers: How many turns to run at the same moment, each in a thread of its own.
        batch: The most turns to run by one call, as a vectorised simulator does. They are in scheduled order, of all
            policies. Results that come after the decision are kept in the log as surplus.
        turns: Stop after this many turns.
        time_limit: Seconds after which a rollout is given up; the plan's time limit when not given.
        holder: This machine's name, when several run the study.
        rig: The rig of this machine, as the plan names it: only turns on it are run. Left out, all.
        progress: Called after each turn with the turn and its receipt.
        clips_from: A folder into which a camera writes: the newest clip that appeared there during a turn goes with its
            result, unless the outcome names one. For one worker.
        notify: A command or a URL that is told, as JSON, when the study is decided or stops, is held up, fails, or when
            a checkpoint is not the one that the plan names. It never holds a result up.

    Returns:
        The study's status at the end.

    Example:
        >>> import surefoot as sf
        >>> study = sf.Study.create(sf.Plan(policies=("new", "old"), horizon=40), ":memory:")
        >>> sf.run_study(study, lambda turn: turn.policy == "new").decision
        'stop: decided'
        >>> study = sf.Study.create(sf.Plan(policies=("new", "old"), horizon=40), ":memory:")
        >>> sf.run_study(study, lambda turns: [turn.policy == "new" for turn in turns], batch=8).decision
        'stop: decided'
    """
    _check.whole(workers, "workers", least=1)
    if turns is not None:
        _check.whole(turns, "turns", least=1)
    several = _several(rollout) if _check.whole(batch, "batch", least=1) > 1 else None
    if clips_from is not None and (workers > 1 or batch > 1):
        raise _check.refused("clips_from", "be left out with several workers or a batch", str(clips_from))
    plan = study.plan
    run = _Run(
        study=study,
        plan=plan,
        carry=getattr(rollout, "within", None) or partial(_within, rollout),
        several=several,
        batch=batch,
        rig=rig,
        left=turns,
        limit=plan.time_limit if time_limit is None else _check.positive(time_limit, "time_limit"),
        clips=None if clips_from is None else CameraFolder(clips_from),
        progress=progress,
        notifier=None if notify is None else Notifier(notify),
    )
    begin = getattr(rollout, "begin", None) or (lambda _: contextlib.nullcontext())
    with _telling(run), begin(study):  # a runner may look whether all that the study names is there
        _through(run, workers, holder)
    return study.status()


@contextlib.contextmanager
def _telling(run: _Run) -> Iterator[None]:
    """Say where a checkpoint is another, and tell of the end of a run, also where it fails."""
    others, notifier = other_checkpoints(run.plan), run.notifier
    for name, sentence in others:
        LOG.warning("surefoot: %s", sentence)
        if notifier is not None:
            notifier.tell("checkpoint mismatch", sentence, run.study.status(), name)
    if notifier is None:
        yield
        return
    notifier.saw(run.study.status())
    try:
        yield
    finally:
        failed = sys.exc_info()[1]
        if failed is not None:
            notifier.tell("error", f"{type(failed).__name__}: {failed}")
        notifier.close()


def _several(rollout: Any) -> Callable[[list[Turn], float | None], list[Any]]:
    """What runs several turns at once."""
    if hasattr(rollout, "several"):
        found: Callable[[list[Turn], float | None], list[Any]] = rollout.several
        return found
    if hasattr(rollout, "within"):
        name = type(rollout).__name__
        raise ValueError(f"A {name} runs one turn at a time: use `workers`, or a function of a list of turns.")
    return _Batches(rollout).several


def _through(run: _Run, workers: int, holder: str) -> None:
    if workers == 1:
        run.worker(holder)
        return
    unnamed = [Unnamed() for _ in range(workers)]  # gone with this call, and their turns come free
    names = [f"{holder} #{place}" if holder else one.name for place, one in enumerate(unnamed, 1)]
    with ThreadPoolExecutor(workers, thread_name_prefix="surefoot-rollout") as pool:
        each = [pool.submit(run.worker, name) for name in names]
        try:
            wait(each, return_when=FIRST_EXCEPTION)
        finally:
            run.stop.set()  # one that failed, or Ctrl+C, ends them all after the turn that they run
        for one in each:
            one.result()


def _within(rollout: Rollout | Batch, turn: Any, limit: float | None) -> Any:
    """Run a turn, or several, by a function with a time limit: one that does not come back is left behind."""
    if limit is None:
        return called(rollout, turn)
    answer: Future[Any] = Future()
    work = partial(settled, answer, partial(called, rollout, turn))
    threading.Thread(target=work, daemon=True, name="surefoot-turn").start()
    try:
        return answer.result(limit)
    except TimeoutError:
        if answer.done():  # the function's own
            raise
        raise CrashError("time-out", f"not done after {limit:g} s") from None


class _Batches:
    """A function that gets several turns at once."""

    def __init__(self, function: Batch) -> None:
        self.function, self.works = function, False

    def several(self, turns: list[Turn], limit: float | None) -> list[Any]:
        """An outcome for each turn; a batch that gives none is a crash of each of its turns."""
        try:
            given = _within(self.function, turns, limit)
        except CrashError as crash:
            if not self.works:
                raise StudyError(
                    f"The first batch of {len(turns)} turns gave nothing ({crash}). With `batch` a function gets a "
                    "list of turns and returns an outcome for each. Nothing was recorded."
                ) from None
            return [crash] * len(turns)
        found = given.tolist() if hasattr(given, "tolist") else given
        if not isinstance(found, list | tuple) or len(found) != len(turns):
            size = f"{len(found)} outcomes" if isinstance(found, list | tuple) else type(given).__name__
            raise StudyError(
                f"With `batch` a function must return a list with an outcome for each turn; got {size} for "
                f"{len(turns)} turns. Nothing of this batch was recorded."
            )
        self.works = True
        return list(found)


@dataclass(slots=True, kw_only=True)
class _Run:
    """What the workers of one run share."""

    study: StudyOperations
    plan: Plan
    carry: Callable[[Turn, float | None], Any]
    several: Callable[[list[Turn], float | None], list[Any]] | None
    batch: int
    rig: str
    left: int | None  # turns that may still be run
    limit: float | None
    clips: CameraFolder | None
    progress: Told | None
    notifier: Notifier | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)  # a study is asked one thing after another
    stop: threading.Event = field(default_factory=threading.Event)
    settled: set[int] = field(default_factory=set)  # turns being run whose results were kept, or refused for good

    def worker(self, holder: str) -> None:
        """Run turns until none is needed."""
        while not self.stop.is_set() and (count := self._claimed()):
            turns = self._next(holder, count)
            if not turns:
                return
            try:
                writes = [self._once(turns[0])] if self.several is None else self._at_once(turns, self.several)
                self._settle(list(zip(turns, writes, strict=True)))
            finally:
                for turn in turns:  # those without a result: they come free by themselves when their time runs out
                    if turn.number not in self.settled:
                        with contextlib.suppress(StudyError), self.lock:
                            self.study.release(turn)
            self.settled -= {turn.number for turn in turns}

    def _claimed(self) -> int:
        """How many turns a worker may run now."""
        with self.lock:
            count = self.batch if self.left is None else min(self.batch, self.left)
            if self.left is not None:
                self.left -= count
            return count

    def _next(self, holder: str, count: int) -> list[Turn]:
        """The next turns, once there are any; asked without waiting, so that the other workers may record theirs."""
        most = 0.0 if self.limit is None else self.limit * count + MARGIN
        span = type(LEASE)(seconds=max(LEASE.total_seconds(), most))
        told = None
        while not self.stop.is_set():
            with self.lock:
                found = self.study.next_turns(count, holder=holder, rig=self.rig, lease=span)
                if found:
                    self.left = None if self.left is None else self.left + count - len(found)
                    return found
                status = self.study.status()
            if status.finished:
                return []
            if self.notifier is not None:
                self.notifier.saw(status)
            if status.waits is not None and (status.waits.turn, status.waits.holder) != told:
                told = (status.waits.turn, status.waits.holder)
                LOG.warning("surefoot: waiting. %s", status.waits.sentence)
            self.stop.wait(PAUSE / 4)
        return []

    def _once(self, turn: Turn) -> Write:
        """Run a turn; what writes its result down."""
        began, before = time.monotonic(), {} if self.clips is None else self.clips.seen()
        clip = None if self.clips is None else partial(self.clips.newest, before)
        return self._write(turn, partial(self.carry, turn, self.limit), began, clip=clip)

    def _at_once(self, turns: list[Turn], several: Callable[[list[Turn], float | None], list[Any]]) -> list[Write]:
        """Run turns by one call; what writes the result of each down. Each took its share of the time of all."""
        began = time.monotonic()
        found = several(turns, None if self.limit is None else self.limit * len(turns))
        each = (time.monotonic() - began) / len(turns)
        return [self._write(turn, partial(_given, one), None, each) for turn, one in zip(turns, found, strict=True)]

    def _write(
        self,
        turn: Turn,
        carry: Callable[[], Any],
        began: float | None,
        took: float = 0.0,
        clip: Callable[[], Path | None] | None = None,
    ) -> Write:
        try:
            outcome = outcome_of(carry(), self.plan)
        except CrashError as crash:
            return partial(self.study.crash, turn, ended=crash.ended, note=crash.note)
        took = took if began is None else time.monotonic() - began
        result = outcome.success if self.plan.measure == "success" else outcome.score
        return partial(
            self.study.record,
            turn,
            result,
            duration=round(took, 3) if outcome.duration is None else outcome.duration,
            steps=outcome.steps,
            note=outcome.notes,
            failure=outcome.failure,
            clip=outcome.clip if outcome.clip is not None or clip is None else clip(),
        )

    def _settle(self, writes: list[tuple[Turn, Write]]) -> None:
        """Write results down, in scheduled order, and tell of each; several of them at once where that can be."""
        todo = [(turn, write, secrets.token_hex(16)) for turn, write in writes]
        kept: dict[int, Receipt] = {}
        if len(todo) > 1:
            with contextlib.suppress(ConflictError):  # another device writes too: one by one then
                kept = self._patiently(partial(self._all, todo))
        for turn, write, word in todo:
            try:
                receipt = kept.get(turn.number) or self._patiently(partial(self._one, write, word))
            except RefusedError as refused:  # voided, or taken over, meanwhile: the study goes on
                LOG.warning("surefoot: turn %s was not recorded: %s", turn.number, refused)
                self.settled.add(turn.number)
                continue
            self.settled.add(turn.number)
            kept[turn.number] = receipt
            if self.notifier is not None:
                self.notifier.saw(receipt.status)
            if self.progress is not None:
                with self.lock:
                    self.progress(turn, receipt)
        over = [number for number, receipt in kept.items() if receipt.status.finished]
        if len(over) > 1:
            LOG.warning(
                "surefoot: the rule decided at turn %s; %s later rollouts of its batch are kept in the log as surplus.",
                over[0],
                len(over) - 1,
            )

    def _all(self, todo: list[tuple[Turn, Write, str]]) -> dict[int, Receipt]:
        """Several results by one append; one that is refused here is asked about again by itself."""
        kept = {}
        with self.lock, self.study.together():
            for turn, write, word in todo:
                with contextlib.suppress(RefusedError):
                    kept[turn.number] = write(request=word)
        return kept

    def _one(self, write: Write, word: str) -> Receipt:
        with self.lock:
            return write(request=word)

    def _patiently(self, write: Callable[[], T]) -> T:
        """Write once, however long the store is away: the rollouts were run, and must not be lost."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return write()
            except StoreError as error:
                if time.monotonic() > until:
                    raise
                LOG.warning("surefoot: %s Trying again.", error)
                time.sleep(PAUSE)


def _given(one: Any) -> Any:
    """What a turn of several gave."""
    if isinstance(one, CrashError):
        raise one
    return one
