"""How is a whole study run by a Python function, unattended?

A rollout that crashes, runs out of time or answers what cannot be read is an outcome like any other: the plan says what
it counts as, the log keeps it, and the study goes on. Several workers run turns at the same moment; the rule reads
their results in the order in which the turns were scheduled, whatever order they finish in.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from surefoot import _check
from surefoot.errors import StudyError
from surefoot.runners.camera_folders import CameraFolder
from surefoot.runners.outcomes import CrashError, Outcome, Rollout, called, outcome_of, settled
from surefoot.study.leases import LEASE, Unnamed
from surefoot.study.plans import Plan
from surefoot.study.protocol import StudyOperations
from surefoot.study.recording import RefusedError
from surefoot.study.schedules import Turn
from surefoot.study.status import Receipt, Status
from surefoot.study.stores import StoreError

PATIENCE, PAUSE = 300.0, 2.0
"""Seconds to keep trying while the store is away, and between tries."""
MARGIN = 600.0
"""Seconds for which a turn is held beyond its time limit."""
LOG = logging.getLogger(__name__)

Told = Callable[[Turn, Receipt], None]


def run_study(
    study: StudyOperations,
    rollout: Rollout,
    *,
    workers: int = 1,
    batch: int = 1,
    turns: int | None = None,
    time_limit: float | None = None,
    holder: str = "",
    progress: Told | None = None,
    clips_from: str | Path | None = None,
) -> Status:
    """Run a study to its end: a function for every turn, several at a time if you like.

    Stopped and called again, it goes on where it was. A crash of the function is an outcome: the plan's `on_crash` says
    what it counts as.

    Args:
        study: The study, opened here or on a server (`Study` or `Client`).
        rollout: Runs one turn and returns whether it succeeded, its score, or an `Outcome`.
        workers: How many turns to run at the same moment, each in a thread of its own.
        batch: How many turns to give a command at once; a function gets one.
        turns: Stop after this many turns.
        time_limit: Seconds after which a rollout is given up; the plan's time limit when not given.
        holder: This machine's name, when several run the study.
        progress: Called after each turn with the turn and its receipt.
        clips_from: A folder into which a camera writes: the newest clip that appeared there during a turn goes with its
            result, unless the outcome names one. For one worker.

    Returns:
        The study's status at the end.

    Example:
        >>> import surefoot as sf
        >>> study = sf.Study.create(sf.Plan(policies=("new", "old"), horizon=40), ":memory:")
        >>> sf.run_study(study, lambda turn: turn.policy == "new").decision
        'stop: decided'
    """
    _check.whole(workers, "workers", least=1)
    if turns is not None:
        _check.whole(turns, "turns", least=1)
    several = getattr(rollout, "several", None) if _check.whole(batch, "batch", least=1) > 1 else None
    if batch > 1 and several is None:
        raise _check.refused(
            "batch", "be 1 for a function, which gets one turn at a time", batch, "Use several workers."
        )
    if clips_from is not None and (workers > 1 or batch > 1):
        raise _check.refused("clips_from", "be left out with several workers or a batch", str(clips_from))
    plan = study.plan
    run = _Run(
        study=study,
        plan=plan,
        carry=getattr(rollout, "within", None) or partial(_within, rollout),
        several=several,
        batch=batch,
        left=turns,
        limit=plan.time_limit if time_limit is None else _check.positive(time_limit, "time_limit"),
        clips=None if clips_from is None else CameraFolder(clips_from),
        progress=progress,
    )
    begin = getattr(rollout, "begin", None) or (lambda _: contextlib.nullcontext())
    with begin(study):  # a runner may look whether all that the study names is there, and clear up at the end
        _through(run, workers, holder)
    return study.status()


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


def _within(rollout: Rollout, turn: Turn, limit: float | None) -> Any:
    """Run a turn by a function with a time limit: one that does not come back is left behind."""
    if limit is None:
        return called(rollout, turn)
    answer: Future[Any] = Future()
    work = partial(settled, answer, partial(called, rollout, turn))
    threading.Thread(target=work, daemon=True, name=f"surefoot-turn-{turn.number}").start()
    try:
        return answer.result(limit)
    except TimeoutError:
        if answer.done():  # the function's own
            raise
        raise CrashError("time-out", f"not done after {limit:g} s") from None


@dataclass(slots=True, kw_only=True)
class _Run:
    """What the workers of one run share."""

    study: StudyOperations
    plan: Plan
    carry: Callable[[Turn, float | None], Any]
    several: Callable[[list[Turn], float | None], list[Any]] | None
    batch: int
    left: int | None  # turns that may still be run
    limit: float | None
    clips: CameraFolder | None
    progress: Told | None
    lock: threading.RLock = field(default_factory=threading.RLock)  # a study is asked one thing after another
    stop: threading.Event = field(default_factory=threading.Event)

    def worker(self, holder: str) -> None:
        """Run turns until none is needed."""
        while not self.stop.is_set() and (count := self._claimed()):
            turns = self._next(holder, count)
            if not turns:
                return
            if self.several is None:
                self._once(turns[0], self.carry)
            else:
                self._together(turns, self.several)

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
                found = self.study.next_turns(count, holder=holder, lease=span)
                if found:
                    self.left = None if self.left is None else self.left + count - len(found)
                    return found
                status = self.study.status()
            if status.finished:
                return []
            if status.waits is not None and (status.waits.turn, status.waits.holder) != told:
                told = (status.waits.turn, status.waits.holder)
                LOG.warning("surefoot: waiting. %s", status.waits.sentence)
            self.stop.wait(PAUSE / 4)
        return []

    def _together(self, turns: list[Turn], several: Callable[[list[Turn], float | None], list[Any]]) -> None:
        """Run turns by one call, and keep what each gave, in their order."""
        began, found = time.monotonic(), None
        try:
            found = several(turns, None if self.limit is None else self.limit * len(turns))
        finally:
            if found is None:
                for turn in turns:
                    with contextlib.suppress(StudyError), self.lock:
                        self.study.release(turn)
        each = round((time.monotonic() - began) / len(turns), 3)
        for turn, one in zip(turns, found, strict=True):
            self._once(turn, lambda *_, one=one: _given(one, each))

    def _once(self, turn: Turn, carry: Callable[[Turn, float | None], Any]) -> None:
        began, settled = time.monotonic(), False
        before = {} if self.clips is None else self.clips.seen()
        try:
            try:
                outcome = outcome_of(carry(turn, self.limit), self.plan)
            except CrashError as crash:
                told = partial(self.study.crash, turn, ended=crash.ended, note=crash.note)
                receipt = self._kept(told)
            else:
                took = round(time.monotonic() - began, 3) if outcome.duration is None else outcome.duration
                if self.clips is not None and outcome.clip is None:
                    outcome = replace(outcome, clip=self.clips.newest(before))
                receipt = self._kept(self._recorder(turn, outcome, took))
            settled = True
        except RefusedError as refused:  # voided, or taken over, meanwhile: the study goes on
            LOG.warning("surefoot: turn %s was not recorded: %s", turn.number, refused)
            settled = True
            return
        finally:
            if not settled:
                with contextlib.suppress(StudyError), self.lock:  # it comes free by itself when its time runs out
                    self.study.release(turn)
        if self.progress is not None:
            with self.lock:
                self.progress(turn, receipt)

    def _recorder(self, turn: Turn, outcome: Outcome, took: float) -> Callable[..., Receipt]:
        result = outcome.success if self.plan.measure == "success" else outcome.score
        return partial(
            self.study.record,
            turn,
            result,  # type: ignore[arg-type]  # outcome_of has seen that the plan knows it
            duration=took,
            steps=outcome.steps,
            note=outcome.notes,
            failure=outcome.failure,
            clip=outcome.clip,
        )

    def _kept(self, write: Callable[..., Receipt]) -> Receipt:
        """Write once, however long the store is away: the rollout was run, and must not be lost."""
        word, until = secrets.token_hex(16), time.monotonic() + PATIENCE
        while True:
            try:
                with self.lock:
                    return write(request=word)
            except StoreError as error:
                if time.monotonic() > until:
                    raise
                LOG.warning("surefoot: %s Trying again.", error)
                time.sleep(PAUSE)


def _given(one: Any, each: float) -> Outcome:
    """What a turn of several gave; without a duration of its own, its share of the time of all."""
    if isinstance(one, CrashError):
        raise one
    outcome: Outcome = one
    return outcome if outcome.duration is not None else replace(outcome, duration=each)
