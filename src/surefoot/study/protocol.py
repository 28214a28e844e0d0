"""What can be asked of a study, in a file, in a database or behind a server.

`Study` and `Client` both are a `StudyOperations`, and one suite of tests holds them to the same behaviour.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

from surefoot.study.clips import Clip
from surefoot.study.leases import LEASE
from surefoot.study.plans import Plan
from surefoot.study.recording import Ended
from surefoot.study.schedules import Turn
from surefoot.study.status import Receipt, Status

POLL = 1.0
HAND_BACK = "If that device is no longer in use, hand its turns back: on the console, or with `surefoot study release`."
LOG = logging.getLogger(__name__)


class StudyOperations(Protocol):
    """A study as whoever runs it sees it: ask for a turn, run it, record it."""

    @property
    def plan(self) -> Plan:
        """The plan, amendments included."""

    def status(self) -> Status:
        """Progress, and whether to go on: nothing that gives a policy away while the study is blinded."""

    def next_turn(self, *, holder: str = "", rig: str = "", lease: timedelta = LEASE, wait: bool = True) -> Turn | None:
        """The rollout to run next, held for you until the lease ends; None when the study needs no further one.

        Asking again before recording gives the same turn to the same holder.

        Args:
            holder: The robot's or the device's name: started again under it, it gets its turn back. Without a name it
                gets it back as soon as the process that held it has ended.
            rig: The rig where you stand, as the plan names it: turns on other rigs are left to others. Left out, any.
            lease: After this long another holder may take the turn.
            wait: While turns that others hold must come in first, wait, and log for whom; otherwise answer None at
                once, and `status()` tells whether the study is `finished` and what it `waits` for.
        """
        told = None
        while True:
            found = self.next_turns(1, holder=holder, rig=rig, lease=lease)
            if found or not wait:
                return next(iter(found), None)
            status = self.status()
            if status.finished:
                return None
            waits = status.waits
            if waits is not None and (waits.turn, waits.holder) != told:
                told = (waits.turn, waits.holder)
                LOG.warning("surefoot: waiting. %s %s", waits.sentence, HAND_BACK)
            time.sleep(POLL)

    def next_turns(self, count: int, *, holder: str = "", rig: str = "", lease: timedelta = LEASE) -> list[Turn]:
        """The rollouts to run next, up to `count`, all held for you; it never waits."""

    def together(self) -> contextlib.AbstractContextManager[None]:
        """What is written within is kept at once at its end, all of it or nothing, where the study is kept here."""
        return contextlib.nullcontext()

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
        """Keep a turn's result for good."""

    def crash(
        self, turn: Turn | int, *, ended: Ended = "crash", note: str = "", request: str = "", holder: str = ""
    ) -> Receipt:
        """Say that a turn's rollout gave no result; the plan says what that counts as."""

    def clip(
        self, turn: Turn | int, clip: str | Path | Clip, *, holder: str = "", attempt: int | None = None
    ) -> Receipt:
        """Add a clip to a result that was recorded without one: a file's path, or a link."""

    def undo(self, turn: Turn | int, *, reason: str, attempt: int | None = None) -> Receipt:
        """Take back a turn's result, with the reason; both stay in the log."""

    def void(self, turn: Turn | int, *, reason: str, note: str = "") -> Receipt:
        """Declare that the turn's whole block does not count, for one of the plan's reasons; another is scheduled."""

    def release(self, turn: Turn | int | None = None, *, holder: str = "") -> Receipt:
        """Hand back a turn that will not be run, or all that a holder has; the receipt names them."""

    def check(self, items: Iterable[str], *, note: str = "") -> Receipt:
        """Log that a session's checklist was gone through."""

    def amend(self, changes: Mapping[str, Any], *, reason: str, version: int | None = None) -> Receipt:
        """Change the plan, with the reason."""

    def unblind(self, *, reason: str, version: int | None = None) -> Receipt:
        """Reveal which policy each code meant."""

    def override(self, *, reason: str, version: int | None = None) -> Receipt:
        """Go on although the rule has stopped for futility, with the reason."""

    def withdraw(self, policy: str, *, reason: str) -> Receipt:
        """Run a policy of a race no more, because it is broken or lost."""

    def export(self) -> str:
        """The log as JSON lines; refused while the study is blinded."""
