"""How is a request refused, and what does it say?"""

from __future__ import annotations

from typing import Any


class Refusal(Exception):  # noqa: N818 - a polite answer, not a fault
    """A request that is not carried out: a status, a sentence, and what to do."""

    def __init__(self, status: int, message: str, hint: str = "", *, wait: float = 0.0) -> None:
        """Refuse with an HTTP status; `wait` is after how many seconds to try again."""
        super().__init__(message)
        self.status, self.message, self.hint, self.wait = status, message, hint, wait

    @property
    def body(self) -> dict[str, Any]:
        """What the API answers."""
        return {"error": self.message} | ({"hint": self.hint} if self.hint else {})

    @property
    def headers(self) -> dict[str, str]:
        """What goes with it."""
        headers = {"Retry-After": str(int(self.wait) + 1)} if self.wait else {}
        return headers | ({"WWW-Authenticate": "Bearer"} if self.status == 401 else {})
