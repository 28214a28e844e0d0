"""The client of a study on another machine.

Nothing but Python's own library is needed. A request that was cut off is sent again with the same word, so that a
result is recorded once. Each acknowledgement carries the mark of the log's last line; it is kept on this machine's disk
and sent with the next request, so that every client is a witness.
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import json
import logging
import os
import secrets
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote, urlencode, urlsplit

from surefoot import _check
from surefoot._files import write_whole
from surefoot._secret import Secret
from surefoot.console.operations import OPERATIONS, Refusal
from surefoot.core.verdict import Verdict
from surefoot.errors import StudyError
from surefoot.study import log_files
from surefoot.study.clips import MOST_BYTES, Clip, checked, clip_of, no_clip
from surefoot.study.leases import LEASE, Wait
from surefoot.study.log_files import SHORT, Mark
from surefoot.study.plans import Plan
from surefoot.study.protocol import StudyOperations
from surefoot.study.recording import Ended, RefusedError, Why
from surefoot.study.schedules import Turn, number_of
from surefoot.study.status import Receipt, Status

AWAY = (408, 429, 502, 503, 504)
ANSWER = 30.0
BRIEFLY = 5.0
"""Seconds to keep trying to hand turns back: those that are not come free by themselves."""
TURN = tuple(field.name for field in dataclasses.fields(Turn))
LOG = logging.getLogger(__name__)


class Client(StudyOperations):
    """A study on a server: ask for a turn, run it, record it.

    Example:
        >>> import surefoot as sf
        >>> study = sf.Client("http://127.0.0.1:8765", "the-runner's-token")
        >>> while (turn := study.next_turn()) is not None:  # doctest: +SKIP
        ...     study.record(turn, run_policy(turn.policy, turn.task, turn.condition))
    """

    def __init__(
        self, url: str, token: str, *, holder: str = "", patience: float = 300.0, marks: str | Path | None = None
    ) -> None:
        """Nothing is sent yet.

        Args:
            url: Where the study is served, such as ``http://127.0.0.1:8765``.
            token: The role's token: the runner's learns policies, the operator's codes only.
            holder: The robot's name; a script that is started again under the same name gets its turn back. By
                default a fresh name, so that two scripts never share a turn.
            patience: Seconds to keep trying while the server cannot be reached; the log says so at once.
            marks: The folder in which the last mark of each study is kept; by default ``~/.local/state/surefoot``.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise _check.refused("url", "be an address such as http://127.0.0.1:8765", url)
        self._address = f"{parts.scheme}://{parts.netloc}"
        self._token = Secret(token)
        self.holder = holder or f"{socket.gethostname()}-{secrets.token_hex(3)}"
        self.patience = _check.positive(patience, "patience")
        self.mark: Mark | None = None
        self._marks = state_folder() if marks is None else Path(marks)
        self._looked = False  # whether what was kept of this study was looked for
        self._taken: dict[int, tuple[int, str]] = {}  # by turn, the attempt and the holder for whom it was asked for
        direct: dict[str, str] | None = (
            {} if parts.hostname in ("localhost", "127.0.0.1", "::1") else None
        )  # no proxy to this machine
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler(direct), _NoRedirect())

    def __repr__(self) -> str:
        return f"Client({self._address!r}, holder={self.holder!r})"

    @property
    def plan(self) -> Plan:
        """The plan, amendments included; asked of the server each time."""
        return Plan.from_dict(self._ask("plan")["plan"])

    def status(self) -> Status:
        """Progress, and whether to go on; the verdict once the study is not blinded."""
        return self._status(self._ask("status"))

    def next_turns(self, count: int, *, holder: str = "", rig: str = "", lease: timedelta = LEASE) -> list[Turn]:
        """The rollouts to run next, up to `count`, on a rig or on any, all held for you; it never waits.

        A turn's `policy` is empty for an operator while the study is blinded.
        """
        name, seconds = holder or self.holder, _check.positive(lease.total_seconds(), "lease")
        ahead = _check.whole(count, "count", least=1) - 1
        answer = self._ask("next", holder=name, rig=rig, ahead=ahead, lease=seconds)
        self._status(answer["status"])
        rows = [row for row in (answer["turn"], *answer["ahead"]) if row is not None]
        self._taken |= {row["number"]: (row["attempt"], name) for row in rows}
        return [Turn(**{field: row.get(field, "") for field in TURN}) for row in rows]

    def record(
        self,
        turn: Turn | int,
        result: float | None = None,
        *,
        stage: str = "",
        duration: float | None = None,
        steps: int | None = None,
        note: str = "",
        failure: str = "",
        request: str = "",
        holder: str = "",
        reason: str = "",
        attempt: int | None = None,
        clip: str | Path | Clip | None = None,
    ) -> Receipt:
        """Keep a turn's result for good, once, however often the connection drops; told as to `Study.record`.

        A clip's file follows the result that was recorded, so that one that cannot be sent never costs the result.
        """
        number = number_of(turn)
        told = None if clip is None else _looked(clip)
        receipt = self._receipt(
            "record",
            number,
            result=_plain(result),  # a numpy number or truth value
            stage=stage,
            duration=None if duration is None else float(duration),
            steps=steps,
            note=note,
            failure=failure,
            request=request or secrets.token_hex(16),
            holder=self._holder(number, holder),
            reason=reason,
            attempt=self._attempt(number, attempt),
            clip=None if told is None or told.sha256 else told.said(),
        )
        if told is None or not told.sha256:
            return receipt
        try:
            return dataclasses.replace(self.clip(turn, checked(clip), holder=holder), repeated=receipt.repeated)
        except StudyError as error:  # the result is safe
            LOG.warning("surefoot: The clip of turn %s was not kept: %s", number, error)
            return receipt

    def clip(
        self, turn: Turn | int, clip: str | Path | Clip, *, holder: str = "", attempt: int | None = None
    ) -> Receipt:
        """Add a clip to a result that was recorded without one: a file's path, or a link.

        Raises:
            RefusedError: The file cannot be kept, or the turn has no result, another's, or another clip.
        """
        number, found = number_of(turn), _looked(clip)
        if found.fault:
            raise RefusedError("invalid", no_clip(number, found))
        name = self._holder(number, holder)
        given = {"name": found.name, "link": found.link, "holder": name, "attempt": attempt}
        path = None if found.link else Path(checked(clip))
        return self._received(json.loads(self._fetch("clip", number, given, self.patience, path)))

    def crash(
        self, turn: Turn | int, *, ended: Ended = "crash", note: str = "", request: str = "", holder: str = ""
    ) -> Receipt:
        """Say that a turn's rollout gave no result; the plan's `on_crash` says what that counts as."""
        number = number_of(turn)
        name = self._holder(number, holder)
        word = request or secrets.token_hex(16)
        return self._receipt("crash", number, ended=ended, note=note, request=word, holder=name)

    def undo(self, turn: Turn | int, *, reason: str, attempt: int | None = None) -> Receipt:
        """Take back a turn's result, with the reason; both stay in the log."""
        number = number_of(turn)
        return self._receipt("undo", number, reason=reason, attempt=self._attempt(number, attempt))

    def void(self, turn: Turn | int, *, reason: str, note: str = "") -> Receipt:
        """Declare that the turn's whole block does not count, for one of the plan's reasons."""
        return self._receipt("void", number_of(turn), reason=reason, note=note)

    def release(self, turn: Turn | int | None = None, *, holder: str = "") -> Receipt:
        """Hand back a turn that will not be run, or all that a holder has; the receipt names them."""
        number = None if turn is None else number_of(turn)
        name = self._holder(number or 0, holder)
        return self._receipt("release", None, min(BRIEFLY, self.patience), holder=name, turn=number)

    def check(self, items: Iterable[str], *, note: str = "") -> Receipt:
        """Log that a session's checklist was gone through."""
        if isinstance(items, str):
            raise _check.mistyped("items", "be a list of texts", items)
        return self._receipt("check", items=list(items), note=note)

    def amend(self, changes: Mapping[str, Any], *, reason: str, version: int | None = None) -> Receipt:
        """For the owner: change the plan, with the reason."""
        return self._receipt("amend", changes=dict(changes), reason=reason, version=version)

    def unblind(self, *, reason: str, version: int | None = None) -> Receipt:
        """For the owner: reveal which policy each code meant."""
        return self._receipt("unblind", reason=reason, version=version)

    def override(self, *, reason: str, version: int | None = None) -> Receipt:
        """Go on although the rule has stopped for futility, with the reason."""
        return self._receipt("override", reason=reason, version=version)

    def withdraw(self, policy: str, *, reason: str) -> Receipt:
        """For the owner: run a policy of a race no more."""
        return self._receipt("withdraw", policy=policy, reason=reason)

    def export(self) -> str:
        """For the owner: the log as JSON lines, once the study is not blinded."""
        return self._fetch("export", None, {}, self.patience).decode()

    def results(self) -> dict[str, Any]:
        """Evidence, confidence sequence and each policy's interval, once the study is not blinded."""
        return self._ask("results")

    def _holder(self, number: int, given: str) -> str:
        return given or (self._taken[number][1] if number in self._taken else self.holder)

    def _attempt(self, number: int, given: int | None) -> int | None:
        return given or (self._taken[number][0] if number in self._taken else None)

    def _receipt(self, name: str, number: int | None = None, patience: float | None = None, **fields: Any) -> Receipt:
        return self._received(self._ask(name, number, patience, **fields))

    def _received(self, answer: dict[str, Any]) -> Receipt:
        return Receipt(tuple(answer["turns"]), answer["repeated"], self._status(answer["status"]))

    def _status(self, row: dict[str, Any]) -> Status:
        """The status, and what it tells of the log, kept as a witness.

        Raises:
            StudyError: The log is shorter than it was: what was acknowledged is lost.
        """
        told = {field.name: row[field.name] for field in dataclasses.fields(Status)}
        told["waits"] = None if row["waits"] is None else Wait(**row["waits"])
        told["verdict"] = None if row["verdict"] is None else Verdict(row["verdict"])
        status, before = Status(**told), self.mark
        now = Mark(status.study, status.version, status.head)
        if before is not None and before.study == now.study:
            if now.lines < before.lines:
                raise _lost(before, f"it has {now.lines}")
            if now.lines == before.lines and now.head != before.head:
                raise _lost(before, f"its line {now.lines} is another now")
        if now != before:
            self.mark = now
            self._keep(now)
        return status

    def _keep(self, mark: Mark) -> None:
        """Write the mark down; whoever cannot be a witness after a restart still is one until then."""
        try:
            self._marks.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._marks / f"{mark.study}.mark", f"{mark}\n", private=True)
        except OSError as error:
            LOG.warning("surefoot: The mark of the log cannot be kept in %s: %s", self._marks, error)

    def _look(self) -> None:
        """Before the first request: what an earlier run on this machine knew of the study that is served."""
        self._looked = True
        if self.mark is not None or not any(self._marks.glob("*.mark")):
            return
        study = self._ask("status")["study"]
        with contextlib.suppress(OSError):
            text = (self._marks / f"{study}.mark").read_text(encoding="utf-8", errors="replace")
            self.mark = next((mark for mark in log_files.marks(text) if mark.study == study), None)

    def _ask(
        self, name: str, number: int | None = None, patience: float | None = None, **fields: Any
    ) -> dict[str, Any]:
        """The answer of an operation of the table."""
        answer: dict[str, Any] = json.loads(self._fetch(name, number, fields, patience or self.patience))
        return answer

    def _headers(self) -> dict[str, str]:
        """Who asks, and what is known here of the log."""
        headers = {"Authorization": f"Bearer {self._token.reveal()}", "Content-Type": "application/json"}
        headers["X-Surefoot-Name"] = quote(self.holder)
        if self.mark is not None:
            headers["X-Surefoot-Mark"] = str(dataclasses.replace(self.mark, head=self.mark.head[:SHORT]))
        return headers

    def _fetch(
        self, name: str, number: int | None, fields: dict[str, Any], patience: float, file: Path | None = None
    ) -> bytes:
        """One answer; cut off or away, the same request is sent again until patience ends."""
        operation, data, query = OPERATIONS[name], None, ""
        if operation.method == "POST":
            given = {field: value for field, value in fields.items() if value not in (None, "")}
            try:
                operation.checked(given)
                query = f"?{urlencode(given)}" if operation.file else ""
                data = b"" if operation.file else json.dumps(given, allow_nan=False).encode()
            except Refusal as refusal:
                raise RefusedError("invalid", refusal.message) from None
        if not self._looked:
            self._look()
        mark, headers = self.mark, self._headers()
        until, pause, warned = time.monotonic() + patience, 0.1, False
        address = f"{self._address}{operation.at(number)}{query}"
        while True:
            try:
                question = urllib.request.Request(address, data if file is None else file.read_bytes(), headers)
                with self._opener.open(question, timeout=ANSWER) as answer:
                    content: bytes = answer.read()
                    shown = answer.headers.get("X-Surefoot-Mark")
                    if operation.answer != "application/jsonl":
                        json.loads(content)
                if mark is not None and shown is not None and shown != str(mark):
                    raise _lost(mark, f"its line {mark.lines} is another now")
                return content
            except urllib.error.HTTPError as error:
                with error:
                    refused = _refused(error)
                    wait = float(error.headers.get("Retry-After") or 0)
                if error.code not in AWAY:
                    raise refused from None
                said = str(refused)
            except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
                why = getattr(error, "reason", error)
                said, wait = f"The study's server cannot be reached at {self._address}: {why}.", 0.0
            if time.monotonic() + max(wait, pause) > until:
                raise StudyError(f"{said} It did not work within {patience:g} s. It is safe to try again.") from None
            if not warned:
                LOG.warning("surefoot: %s Trying again for up to %g s.", said, patience)
                warned = True
            time.sleep(max(wait, pause))
            pause = min(1.0, 2 * pause)


def state_folder() -> Path:
    """Where this machine keeps what it knows of studies."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "surefoot"


def _lost(mark: Mark, now: str) -> StudyError:
    return StudyError(
        f"The study's log has lost lines that it had confirmed: it had {mark.lines} lines, and {now}. "
        f"Tell its owner, and keep this: {mark}"
    )


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The token is for one server: never carried on to another."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Do not follow."""


def _plain(result: Any) -> Any:
    """A numpy number or truth value as Python's."""
    return result.item() if hasattr(result, "item") else result


def _looked(clip: str | Path | Clip) -> Clip:
    """What is known here of a clip that is to be sent."""
    found = clip if isinstance(clip, Clip) else clip_of(checked(clip))
    if isinstance(clip, Clip) and clip.sha256:
        raise _check.mistyped("clip", "be a file's path or a link", clip)
    return Clip(name=found.name, fault="too large") if found.bytes > MOST_BYTES else found


def _refused(error: urllib.error.HTTPError) -> StudyError:
    """What the server refuses, as the study itself would say it."""
    try:
        content = json.load(error)
        message, hint, why = str(content["error"]), str(content.get("hint", "")), content.get("why")
    except (ValueError, TypeError, KeyError, AttributeError, OSError):
        return StudyError(f"The server answered {error.code}.")
    if why in get_args(Why):
        return RefusedError(why, message, hint)
    return StudyError(f"{message} {hint}" if hint else message)
