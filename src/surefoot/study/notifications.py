"""Messages to a command or a URL when a study is decided, stops, is held up, fails or serves another checkpoint.

They are sent by a thread of their own: a target that hangs, fails or is away never holds a result up.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from surefoot import _check
from surefoot._secret import without_password
from surefoot.errors import StudyError
from surefoot.sequential.rules import Ending
from surefoot.study.plan_parts import Policy
from surefoot.study.plans import Plan
from surefoot.study.status import Status

What = Literal["decided", "futile", "undecided", "paused", "error", "checkpoint mismatch"]
ENDINGS: Mapping[Ending, What] = {
    "verdict": "decided",
    "futility": "futile",
    "out of reach": "futile",
    "horizon": "undecided",
}
TRIES, PAUSE, PATIENCE, LAST = 3, 2.0, 10.0, 20.0
"""How often a message is sent, the seconds between, for an answer, and at the end of a run for what is not yet sent."""
LOG = logging.getLogger(__name__)


class Notifier:
    """Tells a target what becomes of a study, each thing once.

    The target is a URL, which gets a POST with a body of JSON, or a command, which gets it on standard input.
    """

    def __init__(self, target: str) -> None:
        """Nothing is sent yet."""
        self.target = _check.instance(target, "notify", str).strip()
        parts = urlsplit(self.target) if "://" in self.target.split(" ", 1)[0] else None
        if not self.target or (parts is not None and (parts.scheme not in ("http", "https") or not parts.hostname)):
            raise _check.refused("notify", "be a command, or an address such as https://hooks.lab/study", target)
        self._is_url = parts is not None
        self._told: set[tuple[Any, ...]] = set()
        self._waiting: queue.Queue[dict[str, Any]] = queue.Queue()
        self._worker: threading.Thread | None = None
        self._running: subprocess.Popen[bytes] | None = None
        self._first, self._over = True, False

    def saw(self, status: Status) -> None:
        """Look at a study, and tell what is new: how it ended, or that it waits for one device. The first look tells
        nothing of an end that was there before.
        """
        ending, first = status.ending, self._first
        self._first = False
        if ending is None:
            self._told = {one for one in self._told if one[0] not in ENDINGS.values()}  # it goes on: a later end is new
        elif first:
            self._told.add((ENDINGS[ending],))
        else:
            self.tell(ENDINGS[ending], status.decision, status)
        if status.waits is not None and status.waits.stalled:
            self.tell("paused", status.waits.sentence, status, status.waits.turn)

    def tell(self, what: What, message: str, status: Status | None = None, *key: Any) -> None:
        """Send a message, once for each key; it returns at once."""
        if (what, *key) in self._told:
            return
        self._told.add((what, *key))
        body: dict[str, Any] = {"event": what, "message": message, "time": datetime.now(UTC).isoformat()}
        if status is not None:
            kept = ("study", "title", "decision", "recorded", "blocks", "horizon", "blinded", "exploratory", "head")
            body |= {name: getattr(status, name) for name in kept}
            body["verdict"] = None if status.verdict is None else status.verdict.value
        self._waiting.put(body)
        if self._worker is None:
            self._worker = threading.Thread(target=self._work, daemon=True, name="surefoot-notify")
            self._worker.start()

    def close(self, patience: float = LAST) -> None:
        """Wait a little for what is not sent yet, and say if something was not."""
        until = time.monotonic() + patience
        while self._waiting.unfinished_tasks and not self._over and time.monotonic() < until:
            time.sleep(0.02)
        if self._waiting.unfinished_tasks and not self._over:
            LOG.warning("surefoot: %s did not answer within %g s: it was not told everything.", self._shown(), patience)
            self._over = True
            if self._running is not None:
                end(self._running)

    def _work(self) -> None:
        while True:
            body = self._waiting.get()
            fault = ""
            for number in range(TRIES):
                if self._over:
                    return
                if number:
                    time.sleep(PAUSE * number)
                fault = self._sent(json.dumps(body).encode())
                if not fault:
                    break
            if fault:
                LOG.warning("surefoot: %s was not told %r: %s.", self._shown(), body["event"], fault)
            self._waiting.task_done()

    def _sent(self, body: bytes) -> str:
        """Send a message; why it was not taken, empty when it was."""
        try:
            if self._is_url:
                headers = {"Content-Type": "application/json", "User-Agent": "surefoot"}
                with urllib.request.urlopen(
                    urllib.request.Request(self.target, body, headers), timeout=PATIENCE
                ) as answer:
                    answer.read(1)
            else:
                return self._commanded(body)
        except subprocess.TimeoutExpired:
            return f"no end after {PATIENCE:g} s"
        except (OSError, ValueError, urllib.error.URLError) as error:
            return str(getattr(error, "reason", error))
        return ""

    def _commanded(self, body: bytes) -> str:
        nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
        with subprocess.Popen(self.target, shell=True, stdin=pipe, stdout=nothing, start_new_session=True) as process:
            self._running = process
            try:
                process.communicate(body, timeout=PATIENCE)
            finally:
                end(process)
        return f"exit code {process.returncode}" if process.returncode else ""

    def _shown(self) -> str:
        return without_password(self.target) if self._is_url else f"The command {self.target!r}"


def end(process: subprocess.Popen[bytes]) -> None:
    """End a command, begun as a session of its own, and all that it started."""
    for word in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(process.pid, word)
            else:
                process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2.0)


def _checkpoints(plan: Plan) -> list[tuple[Policy, Path]]:
    """The policies whose checkpoint has a hash in the plan, and lies on this machine."""
    named = [(one, Path(one.checkpoint).expanduser()) for one in plan.policy_details]
    return [(one, path) for one, path in named if one.sha256 and one.checkpoint and path.exists()]


def checkpoint_stamp(plan: Plan) -> tuple[Any, ...]:
    """What changes when a file of a checkpoint is written: sizes and times, which are read without its content."""
    files = [file for _, path in _checkpoints(plan) for file in ([path] if path.is_file() else sorted(path.rglob("*")))]
    kept = []
    for file in files:
        with contextlib.suppress(OSError):
            found = file.stat()
            kept.append((str(file), found.st_size, found.st_mtime_ns))
    return tuple(kept)


def other_checkpoints(plan: Plan) -> list[tuple[str, str]]:
    """The policies whose checkpoint on this machine is not the one that the plan names, each with a sentence."""
    found = []
    for policy, _ in _checkpoints(plan):
        try:
            policy.hashed()
        except StudyError as error:
            found.append((policy.name, str(error)))
    return found
