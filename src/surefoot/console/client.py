"""How does a robot's script or a simulator take part in a study on another machine?

Nothing but Python's own library is needed. A request that was cut off is sent again with the same word, so that a
result is recorded once.
"""

from __future__ import annotations

import http.client
import json
import logging
import secrets
import socket
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from surefoot import _check
from surefoot.errors import StudyError
from surefoot.study.schedules import Turn

AWAY = (408, 429, 502, 503, 504)
POLL = 1.0
BRIEFLY = 5.0
"""Seconds to keep trying to hand turns back: those that are not come free by themselves."""
HAND_BACK = "If that device has left, hand its turns back: on the console, or with `surefoot study release`."
LOG = logging.getLogger(__name__)


class Client:
    """A study on a server: ask for a turn, run it, record it.

    Example:
        >>> import surefoot as sf
        >>> study = sf.Client("http://127.0.0.1:8765", "the-runner's-token")
        >>> while (turn := study.next_turn()) is not None:  # doctest: +SKIP
        ...     study.record(turn, run_policy(turn.policy, turn.task, turn.condition))
    """

    def __init__(self, url: str, token: str, *, holder: str = "", patience: float = 300.0) -> None:
        """Nothing is sent yet.

        Args:
            url: Where the study is served, such as ``http://127.0.0.1:8765``.
            token: The role's token: the runner's learns policies, the operator's codes only.
            holder: The robot's name; a script that is started again under the same name gets its turn back. By
                default a fresh name, so that two scripts never share a turn.
            patience: Seconds to keep trying while the server cannot be reached; the log says so at once.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(_check.refusal("url", "be an address such as http://127.0.0.1:8765", url))
        self._address = f"{parts.scheme}://{parts.netloc}"
        self._token = token
        self.holder = holder or f"{socket.gethostname()}-{secrets.token_hex(3)}"
        self.patience = _check.positive(patience, "patience")
        self._attempts: dict[int, int] = {}
        direct: dict[str, str] | None = (
            {} if parts.hostname in ("localhost", "127.0.0.1", "::1") else None
        )  # no proxy to this machine
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler(direct), _NoRedirect())

    def __repr__(self) -> str:
        return f"Client({self._address!r}, holder={self.holder!r})"

    def next_turn(self) -> Turn | None:
        """The rollout to run next, held for you; None when the study needs no further one.

        While turns that others hold must come in first, it waits, and the log says for whom. The turn's `policy` is
        empty for an operator while the study is blinded.
        """
        told = None
        while True:
            answer = self._ask("/turns/next", {"holder": self.holder})
            row = answer["turn"]
            if row is not None:
                self._attempts[row["number"]] = row["attempt"]
                names = ("number", "block", "policy", "code", "task", "condition")
                return Turn(**{name: row.get(name, "") for name in names})
            if answer["finished"]:
                return None
            wait = answer["status"]["waits"]
            if wait is not None and (wait["turn"], wait["holder"]) != told:
                told = (wait["turn"], wait["holder"])
                LOG.warning("surefoot: waiting. %s %s", wait["sentence"], HAND_BACK)
            time.sleep(POLL)

    def record(
        self,
        turn: Turn | int,
        result: float,
        *,
        duration: float | None = None,
        note: str = "",
        failure: str = "",
        request: str = "",
    ) -> dict[str, Any]:
        """Keep a turn's result for good, once, however often the connection drops.

        Args:
            turn: The turn, or its number.
            result: Success (true or false), or a score in the plan's range.
            duration: How long the rollout took, in seconds.
            note: Anything worth remembering.
            failure: What went wrong, when it failed.
            request: A word that names this request; a fresh one by default.

        Returns:
            The study's status after it.

        Raises:
            StudyError: The turn was never handed out, already has a result or was voided, or the result is not one
                that the plan knows. Nothing was recorded then.
        """
        number = _number(turn)
        value = result.item() if hasattr(result, "item") else result  # a numpy number or truth value
        body: dict[str, Any] = {
            "result": value,
            "note": note,
            "failure": failure,
            "request": request or secrets.token_hex(16),
        }
        if duration is not None:
            body["duration"] = float(duration)
        if number in self._attempts:
            body |= {"attempt": self._attempts[number], "holder": self.holder}
        return self._status(f"/turns/{number}/record", body)

    def undo(self, turn: Turn | int, *, reason: str) -> dict[str, Any]:
        """Take back a turn's result, with the reason; both stay in the log."""
        number = _number(turn)
        attempt = {"attempt": self._attempts[number]} if number in self._attempts else {}
        return self._status(f"/turns/{number}/undo", {"reason": reason, **attempt})

    def void(self, turn: Turn | int, *, reason: str, note: str = "") -> dict[str, Any]:
        """Declare that the turn's whole block does not count, for one of the plan's reasons."""
        return self._status(f"/turns/{_number(turn)}/void", {"reason": reason, "note": note})

    def release(self, *, holder: str = "") -> dict[str, Any]:
        """Hand back what you hold and will not run, so that another robot may take it at once.

        Args:
            holder: Whose turns, when a robot has left and cannot hand back its own; those of this client by default.

        Returns:
            The study's status after it, and how many turns were `released`.
        """
        answer = self._ask("/release", {"holder": holder or self.holder}, min(BRIEFLY, self.patience))
        return {**answer["status"], "released": answer["released"]}

    def status(self) -> dict[str, Any]:
        """Progress, and whether to go on; the verdict once the study is not blinded."""
        return self._ask("/status")

    def plan(self) -> dict[str, Any]:
        """The plan, amendments included."""
        answer: dict[str, Any] = self._ask("/plan")["plan"]
        return answer

    def unblind(self, *, reason: str) -> dict[str, Any]:
        """For the owner: reveal which policy each code meant."""
        return self._status("/unblind", {"reason": reason})

    def results(self) -> dict[str, Any]:
        """Evidence, confidence sequence and each policy's interval, once the study is not blinded."""
        return self._ask("/results")

    def _status(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = self._ask(path, body)["status"]
        return answer

    def _ask(self, path: str, body: dict[str, Any] | None = None, patience: float | None = None) -> dict[str, Any]:
        """One answer; cut off or away, the same request is sent again until patience ends."""
        patience = self.patience if patience is None else patience
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        headers["X-Surefoot-Name"] = self.holder.encode("ascii", "replace").decode()
        until, pause, warned = time.monotonic() + patience, 0.1, False
        while True:
            question = urllib.request.Request(f"{self._address}/api/v1{path}", data, headers)
            try:
                with self._opener.open(question, timeout=30) as answer:
                    content: dict[str, Any] = json.load(answer)
                    return content
            except urllib.error.HTTPError as error:
                with error:
                    said = _said(error)
                    wait = float(error.headers.get("Retry-After") or 0)
                if error.code not in AWAY:
                    raise StudyError(said) from None
            except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
                why = getattr(error, "reason", error)
                said, wait = f"The study's server cannot be reached at {self._address}: {why}.", 0.0
            if time.monotonic() + max(wait, pause) > until:
                raise StudyError(f"{said} Given up after {patience:g} s; it is safe to try again.") from None
            if not warned:
                LOG.warning("surefoot: %s Trying again for up to %g s.", said, patience)
                warned = True
            time.sleep(max(wait, pause))
            pause = min(1.0, 2 * pause)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The token is for one server: never carried on to another."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Do not follow."""


def _number(turn: Turn | int) -> int:
    return turn.number if isinstance(turn, Turn) else _check.whole(turn, "turn", least=1)


def _said(error: urllib.error.HTTPError) -> str:
    try:
        content = json.load(error)
        return " ".join(content[name] for name in ("error", "hint") if content.get(name))
    except (ValueError, TypeError, KeyError, AttributeError, OSError):
        return f"The server answered {error.code}."
