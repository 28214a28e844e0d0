"""Responses: what a record holds, or a refusal that says why."""

from __future__ import annotations

from typing import Any

from surefoot.core.record import Record
from surefoot.study.recording import RefusedError
from surefoot.study.stores import StoreError, TimeLimitError

AWAY = 503
STATUS = {"unknown": 404, "invalid": 422, "role": 403}
"""The HTTP status of each reason for which a study refuses; 409, somebody was faster, of the others."""


class Refusal(Exception):  # noqa: N818 - a polite answer, not a fault
    """A request that is not carried out: a status, a sentence, and what to do."""

    def __init__(self, status: int, message: str, hint: str = "", *, wait: float = 0.0, why: str = "") -> None:
        """Refuse with an HTTP status; `wait` is after how many seconds to try again, `why` the study's own reason."""
        super().__init__(message)
        self.status, self.message, self.hint, self.wait, self.why = status, message, hint, wait, why
        self.late = False  # whether the store gave no answer in time, so that to ask again at once is in vain

    @classmethod
    def of(cls, error: RefusedError) -> Refusal:
        """What a study refuses, as the server says it."""
        return cls(STATUS.get(error.why, 409), error.message, error.hint, why=error.why)

    def again(self) -> Refusal:
        """The same, for somebody else."""
        other = Refusal(self.status, self.message, self.hint, wait=self.wait, why=self.why)
        other.late = self.late
        return other

    @property
    def body(self) -> dict[str, Any]:
        """What the API answers."""
        more = {"hint": self.hint, "why": self.why}
        return {"error": self.message} | {name: word for name, word in more.items() if word}

    @property
    def headers(self) -> dict[str, str]:
        """What goes with it."""
        headers = {"Retry-After": str(int(self.wait) + 1)} if self.wait else {}
        return headers | ({"WWW-Authenticate": "Bearer"} if self.status == 401 else {})


def away(error: StoreError) -> Refusal:
    """The store cannot be used now."""
    refusal = Refusal(AWAY, str(error), "Your entry is kept on your device; send it again.", wait=2)
    refusal.late = isinstance(error, TimeLimitError)
    return refusal


def plain(record: Record) -> dict[str, Any]:
    """A record as the API sends it: its fields, without type and schema."""
    answer: dict[str, Any] = _plain(record.to_dict())
    return answer


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        marked = "type" in value and "schema" in value
        return {name: _plain(item) for name, item in value.items() if not (marked and name in ("type", "schema"))}
    return [_plain(item) for item in value] if isinstance(value, list) else value
