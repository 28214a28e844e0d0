"""May a result be kept, and as what?

A turn belongs to whoever it was handed to last. Somebody whose turn went to another meanwhile may come back with a
result: it is refused, whichever of the two was faster, because which rollout counts must not hang on how it went; and
the refusal is a line of the log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surefoot import _check
from surefoot.errors import StudyError
from surefoot.study import holders
from surefoot.study.folds import Fold


@dataclass(frozen=True, slots=True)
class Entry:
    """A result that somebody wants to record."""

    turn: int
    result: Any
    duration: float | None
    note: str
    failure: str
    request: str
    holder: str  # empty when it is not known who had the turn

    def __post_init__(self) -> None:
        if self.duration is not None:
            object.__setattr__(self, "duration", _check.real(self.duration, "duration"))
            if self.duration < 0:
                raise StudyError(_check.refusal("duration", "be 0 or more", self.duration))
        for name in ("note", "failure", "request", "holder"):
            _check.instance(getattr(self, name), name, str)

    def late(self, fold: Fold) -> str:
        """Why it comes too late: its turn went to another holder; empty when it did not."""
        lease = fold.leases.get(self.turn)
        if not self.holder or lease is None or lease.holder == self.holder or self.request in fold.requests:
            return ""
        return (
            f"Turn {self.turn} went to {holders.known_as(lease.holder)} meanwhile, so this result of "
            f"{holders.known_as(self.holder)} was not recorded; the log and the report say so."
        )

    def event(self, fold: Fold) -> tuple[str, dict[str, Any]] | None:
        """The kind and content of the event to write; None when it was written before.

        Raises:
            StudyError: The result cannot be recorded.
        """
        number = self.turn
        if self.request and self.request in fold.requests:
            before = fold.requests[self.request]
            if before != number:
                raise StudyError(f"Request {self.request!r} recorded turn {before}; it cannot record turn {number}.")
            if number not in fold.results:
                raise StudyError(f"Turn {number} was recorded by this request and undone since.")
            return None
        found = fold.find(number)
        value = fold.plan.value(self.result)
        result = bool(value) if fold.plan.measure == "success" else value
        if self.late(fold):
            said = {"turn": number, "holder": self.holder, "result": result, "request": self.request}
            return None if (number, self.holder) in fold.refused else ("refused", said)
        if found.block in fold.voids:
            raise StudyError(f"Turn {number} was voided; ask for the next turn.")
        if number in fold.results:
            raise StudyError(f"Turn {number} already has a result; undo it first to record another.")
        body = {
            "turn": number,
            "attempt": fold.attempts.get(number, 0) + 1,
            "result": result,
            "duration": self.duration,
            "note": self.note,
            "failure": self.failure,
            "request": self.request,
        }
        return "recorded", body
