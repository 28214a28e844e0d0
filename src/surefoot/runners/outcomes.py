"""What a rollout gave: a result, or none and why."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from surefoot import _check, _plugins
from surefoot.core.record import Record
from surefoot.errors import StudyError
from surefoot.study.clips import checked
from surefoot.study.plans import Plan
from surefoot.study.recording import Ended
from surefoot.study.schedules import Turn


def runner_names() -> tuple[str, ...]:
    """The names of the runners that other packages add."""
    return tuple(_plugins.added("runners", _plugins.callable_only))


def runner_of(name: str) -> Rollout:
    """The runner of that name, made anew where it is a class."""
    known = _plugins.added("runners", _plugins.callable_only)
    if name not in known:
        raise ValueError(f"A runner must be one of {', '.join(known) or 'none'}; got {name!r}.")
    made: Any = known[name]() if isinstance(known[name], type) else known[name]
    if not callable(made):
        raise ValueError(f"A runner must take a turn; {name!r} of {_plugins.packages('runners')[name]} takes none.")
    runner: Rollout = made
    return runner


LOG = logging.getLogger(__name__)
T = TypeVar("T")

Rollout = Callable[[Turn], "bool | float | Outcome"]
Batch = Callable[[list[Turn]], "Sequence[bool | float | Outcome]"]
"""Runs several turns at once and gives an outcome for each, in their order."""


@dataclass(frozen=True, slots=True)
class Outcome(Record):
    """All that a rollout may tell of itself.

    Attributes:
        success: Whether it succeeded, in a study of successes.
        score: Its score, in a study of scores.
        failure: What went wrong, when it failed.
        duration: How long it took in seconds; measured from outside when not given.
        steps: How many steps it took.
        notes: A remark, kept in the log.
        clip: Its video or picture: a file's path, or a link. The study keeps a copy of a file.

    Example:
        >>> import surefoot as sf
        >>> sf.Outcome(success=False, failure="dropped it", steps=212).failure
        'dropped it'
    """

    success: bool | None = None
    score: float | None = None
    failure: str = ""
    duration: float | None = None
    steps: int | None = None
    notes: str = ""
    clip: str | Path | None = None

    def __post_init__(self) -> None:
        for name in ("failure", "notes"):
            _check.instance(getattr(self, name), name, str)
        if self.clip is not None:
            object.__setattr__(self, "clip", checked(self.clip))
        if self.success is None and self.score is None:
            raise ValueError("An outcome must have a `success` or a `score`; got neither.")


class CrashError(Exception):
    """A rollout that gave no result.

    Attributes:
        ended: How it ended.
        note: What is known about it.
    """

    def __init__(self, ended: Ended, note: str) -> None:
        """Tell how it ended."""
        super().__init__(f"{ended}: {note}")
        self.ended, self.note = ended, note[:2000]


def outcome_of(given: Any, plan: Plan) -> Outcome:
    """What a rollout returned, as an outcome that the plan knows."""
    success = plan.measure == "success"
    if isinstance(given, Outcome):
        found = given
    else:
        value = given.item() if hasattr(given, "item") and getattr(given, "size", 1) == 1 else given
        if value is None:
            raise CrashError("unreadable", "the rollout gave no result")
        found = Outcome(success=value) if success else Outcome(score=value)
    result = found.success if success else found.score
    try:
        plan.value(result)
    except (StudyError, TypeError, ValueError) as error:
        raise CrashError("unreadable", str(error)) from None
    return found


def called(rollout: Callable[[Any], T], turn: Turn | Sequence[Turn]) -> T:
    """What a rollout, or a batch of them, gives; whatever it raises is a crash."""
    caught = Caught()
    with caught:
        return rollout(turn)
    if isinstance(caught.error, CrashError | StudyError):
        raise caught.error
    which = f"turn {turn.number}" if isinstance(turn, Turn) else f"turns {turn[0].number} to {turn[-1].number}"
    LOG.warning("surefoot: %s crashed.", which, exc_info=caught.error)
    raise CrashError("crash", f"{type(caught.error).__name__}: {caught.error}")


def settled(answer: Future[T], job: Callable[[], T]) -> None:
    """Do a job for whoever waits for its answer; what it raises is theirs."""
    caught = Caught()
    with caught:
        answer.set_result(job())
    if caught.error is not None:
        answer.set_exception(caught.error)


class Caught:
    """Keeps whatever a rollout raises: it is an outcome, of whatever kind it is."""

    error: Exception | None = None

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        self.error = error if isinstance(error, Exception) else None
        return self.error is not None
