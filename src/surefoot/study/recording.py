"""What may be written to a study's log, by whom.

The one place with these rules: the command line, a script and the console only pass on what they were told.

A turn belongs to whoever it was handed to last, and only they may record it, or the owner with a reason. Somebody whose
turn went to another meanwhile may come back with a result: it is refused, whichever of the two was faster, because
which rollout counts must not hang on how it went; and the refusal is a line of the log.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from surefoot import _check
from surefoot._arguments import shown
from surefoot.core.record import Record
from surefoot.core.words import as_seen
from surefoot.errors import StudyError
from surefoot.study.clips import Clip
from surefoot.study.events import ROLES
from surefoot.study.leases import PREFIX, Wait, known_as

if TYPE_CHECKING:
    from surefoot.study.events import Role
    from surefoot.study.plans import Plan
    from surefoot.study.state import Fold

Why = Literal[
    "unknown", "held", "late", "voided", "recorded", "undone", "request", "invalid", "decided", "stale", "role"
]
"""Why something is refused: the turn is unknown, another's, went to another, was voided, has a result, its result was
undone meanwhile; the request's word stood for something else; a value is not one that the plan knows; the rule has
decided; the study has moved on; it is not for this role."""
Ended = Literal["finished", "crash", "time-out", "unreadable", "safety stop"]
"""How a rollout ended: by itself, by a crash, at its time limit, with an answer that cannot be read, or for safety."""
RETRIES = 3
"""How often a turn is run again after a crash, under `on_crash = "retry"`, before it counts as a failure."""
Made = tuple[str, Mapping[str, Any]] | None
"""An event to write, its kind and content; None when there is nothing to write."""
LONGEST_NAME = 60
"""Characters in a name that a token proves."""
CRASHED = "crash"
"""The reason of a void under `on_crash = "void"`."""
SAFETY_STOP = "safety stop"
"""How a rollout ended that was stopped for safety, and the reason of a void under `on_safety_stop = "void"`."""
WITHDRAWN = "policy withdrawn"
"""The reason of a void of a round that a withdrawn policy did not finish."""
POWERS: tuple[Role, ...] = ("owner", "local")
"""Who may record another's turn, undo and void after the decision, and hand back anybody's turns."""


class RefusedError(StudyError):
    """Something that may not be done to a study; nothing was changed.

    Attributes:
        why: The reason, as one word.
        hint: What to do instead.
    """

    def __init__(self, why: Why, message: str, hint: str = "") -> None:
        """Refuse for a reason, in a sentence."""
        super().__init__(f"{message} {hint}" if hint else message)
        self.why, self.message, self.hint = why, shown(message), hint


@dataclass(frozen=True, slots=True)
class Result(Record):
    """What was recorded for a turn, and of which policy: from a replaced checkpoint on it is another one."""

    turn: int
    attempt: int
    score: float
    duration: float | None
    note: str
    failure: str
    author: str
    time: str
    holder: str = ""
    ended: str = "finished"
    steps: int | None = None
    reason: str = ""
    clip: Clip | None = None
    stage: str = ""
    policy: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A result that somebody wants to record."""

    turn: int
    result: Any
    duration: float | None = None
    steps: int | None = None
    note: str = ""
    failure: str = ""
    ended: Ended = "finished"
    request: str = ""
    holder: str = ""
    reason: str = ""
    attempt: int | None = None
    clip: Clip | None = None
    stage: str = ""

    def __post_init__(self) -> None:
        if self.duration is not None:
            object.__setattr__(self, "duration", _check.real(self.duration, "duration"))
            if self.duration < 0:
                raise RefusedError("invalid", _check.refusal("duration", "be 0 or more", self.duration))
        if self.steps is not None:
            object.__setattr__(self, "steps", _check.whole(self.steps, "steps"))
        for name in ("note", "failure", "request", "holder", "reason", "stage"):
            _check.instance(getattr(self, name), name, str)
        _check.choice(self.ended, "ended", dict.fromkeys(get_args(Ended)))

    def event(self, fold: Fold, role: Role) -> Made:
        """The kind and content of the event to write; None when it was written before."""
        number = self.turn
        found_turn(fold, number)
        value = self._value(fold)
        if self._repeated(fold, value):
            return None
        result = bool(value) if fold.plan.measure == "success" else value
        late = self.late(fold, role)
        if late is not None:
            if (number, self.holder) in fold.refused:
                raise late
            said = {"turn": number, "holder": self.holder, "result": result, "request": self.request}
            return "refused", {**said, "salt": salt()}
        self.admitted(fold, role)
        given = ("turn", "duration", "steps", "note", "failure", "ended", "request", "reason")
        body: dict[str, Any] = {name: getattr(self, name) for name in given}
        body |= {"attempt": fold.attempts.get(number, 0) + 1, "result": result, "salt": salt()}
        if self.clip is not None:
            body["clip"] = self.clip.said()
        if self.stage:
            body["stage"] = self.stage
        return "recorded", body

    def _value(self, fold: Fold) -> float:
        """The result, or the one that the stage reached amounts to."""
        if not self.stage and self.result is None:
            raise RefusedError("invalid", "`result` must be given, or the stage that was reached.")
        if not self.stage:
            return valued(fold, self.result)
        try:
            reached = valued(fold, fold.plan.result_at(fold.turns[self.turn].task, self.stage))
        except ValueError as error:
            raise RefusedError("invalid", str(error)) from None
        if self.result is not None and valued(fold, self.result) != reached:
            hint = "Give the stage alone: its points are the result."
            raise RefusedError("invalid", f"A rollout that got as far as {self.stage!r} counts {reached:g}.", hint)
        return reached

    def admitted(self, fold: Fold, role: Role) -> None:
        """Refuse what the turn, as it stands, does not admit."""
        number = self.turn
        if fold.turns[number].block in fold.voids:
            raise RefusedError("voided", f"Turn {number} was voided meanwhile.", "Ask for the next turn.")
        if number in fold.results:
            by = f", from {known_as(fold.results[number].author)}" if fold.results[number].author else ""
            hint = "It was not overwritten: undo it first if it is wrong."
            raise RefusedError("recorded", f"Turn {number} already has a result{by}.", hint)
        if self.attempt is not None and self.attempt != fold.attempts.get(number, 0) + 1:
            raise RefusedError("undone", f"Turn {number} was recorded and undone meanwhile.", "Ask for the turn again.")
        if not self.theirs(fold, role):
            self._stands_in(fold, role)

    def _repeated(self, fold: Fold, value: float) -> bool:
        """Whether this very request was carried out before."""
        before = fold.requests.get(self.request) if self.request else None
        if before is None:
            return False
        number, kept = before
        if number != self.turn:
            raise RefusedError(
                "request", f"Request {self.request!r} recorded turn {number}; it cannot record turn {self.turn}."
            )
        if kept != value:
            raise RefusedError(
                "request",
                f"Request {self.request!r} recorded turn {number} with another result.",
                "It was not overwritten: undo it first if it is wrong.",
            )
        return True

    def late(self, fold: Fold, role: Role) -> RefusedError | None:
        """Why it comes too late: the turn was theirs and went to another holder; None when it did not."""
        lease = fold.leases.get(self.turn)
        if lease is None or self.theirs(fold, role) or self.holder not in fold.had[self.turn]:
            return None
        if self.reason and role in POWERS:
            return None
        return RefusedError(
            "late",
            f"Turn {self.turn} went to {known_as(lease.holder)} meanwhile, so this result of "
            f"{known_as(self.holder)} was not recorded; the log and the report say so.",
        )

    def theirs(self, fold: Fold, role: Role) -> bool:
        """Whether the turn belongs to whoever this comes from."""
        lease = fold.leases.get(self.turn)
        return lease is not None and owns(lease.holder, lease.role, self.holder, role)

    def _stands_in(self, fold: Fold, role: Role) -> None:
        """Allow a result that comes from somebody else than the holder: from the owner, with the reason."""
        lease = fold.leases.get(self.turn)
        if role in POWERS and self.reason.strip():
            return
        hint = "The owner may record it with a reason." if role not in POWERS else "Give a reason to record it anyway."
        if lease is None:
            raise RefusedError("held", f"Turn {self.turn} was not handed out yet; ask for the next turn first.", hint)
        raise RefusedError("held", f"Turn {self.turn} is held by {known_as(lease.holder)}, not by you.", hint)

    def attached(self, fold: Fold, role: Role) -> Made:
        """The event of a clip that comes after its result; None when the result has this very clip."""
        number = self.turn
        found_turn(fold, number)
        result = fold.results.get(number)
        if result is None or self.attempt not in (None, result.attempt):
            hint = "Record the turn first, then add its clip."
            raise RefusedError("stale", f"Turn {number} has no such result to add a clip to.", hint)
        if role not in POWERS and not self.theirs(fold, role):
            raise RefusedError("held", f"Turn {number} was run by {known_as(result.holder)}, not by you.")
        if result.clip is not None and not result.clip.fault:
            if self.clip is None or (result.clip.sha256, result.clip.link) == (self.clip.sha256, self.clip.link):
                return None
            hint = "It was not overwritten: undo the result and record it again if the clip is wrong."
            raise RefusedError("recorded", f"Turn {number} already has a clip.", hint)
        if self.clip is None:
            return None
        return "attached", {"turn": number, "attempt": result.attempt, "clip": self.clip.said(), "salt": salt()}

    def crashed(self, fold: Fold, role: Role) -> Made:
        """The event of a rollout that gave no result, as the plan counts it; None when it was written before.

        Raises:
            RefusedError: The turn is not theirs, or has a result.
        """
        number, found = self.turn, found_turn(fold, self.turn)
        if self.request and self.request in fold.crash_requests:
            return None
        tries = fold.crashes.get(number, 0)
        safety = self.ended == SAFETY_STOP
        counts = fold.plan.on_safety_stop if safety else fold.plan.on_crash
        if counts == "failure" or (counts == "retry" and tries >= RETRIES) or self.late(fold, role) is not None:
            return self.event(fold, role)
        if counts == "void" and found.block in fold.voids:
            return None
        self.admitted(fold, role)
        if counts == "void":
            note = f"{self.ended}: {self.note}" if self.note and not safety else self.note or self.ended
            return "voided", _void(fold, number, SAFETY_STOP if safety else CRASHED, note)
        return "crashed", {"turn": number, "ended": self.ended, "note": self.note, "request": self.request}


def owns(holder: str, held_in: str, name: str, role: Role) -> bool:
    """Whether a turn that `holder` took in the role `held_in` is that of `name` in `role`."""
    return holder == name and (held_in in ("", role) or role == "local")


def salt() -> str:
    """What makes a line's hash unguessable."""
    return secrets.token_hex(16)


def known_rig(plan: Plan, rig: str) -> None:
    """Refuse a rig on which no pair of the plan is run."""
    rigs = dict.fromkeys(one for one, _ in plan.stations if one)
    if rig and rig not in rigs:
        must = f"be one of {', '.join(rigs)}" if rigs else "be left out: the plan names no rigs"
        raise RefusedError("invalid", _check.refusal("rig", must, rig))


def found_turn(fold: Fold, number: int) -> Any:
    """The turn of that number."""
    turn = fold.turns.get(number)
    if turn is None:
        raise RefusedError("unknown", f"Turn {number} was never handed out; ask for the next turn first.")
    return turn


def valued(fold: Fold, result: Any) -> float:
    """A result as a score in the plan's range."""
    try:
        return fold.plan.value(result)
    except StudyError as error:
        raise RefusedError("invalid", str(error)) from None


def undone(fold: Fold, number: int, reason: str, attempt: int | None, role: Role) -> Made:
    """The event of a result that is taken back; None when it was before."""
    said(reason)
    found_turn(fold, number)
    if attempt is not None and attempt != fold.attempts.get(number):
        raise RefusedError("stale", f"Turn {number} has no result {attempt} to undo, or a newer one.")
    if number not in fold.results:
        if attempt is not None:
            return None
        raise RefusedError("stale", f"Turn {number} has no result to undo.")
    _still_open(fold, role, "undo a result")
    return "undone", {"turn": number, "attempt": fold.results[number].attempt, "reason": reason}


def voided(fold: Fold, number: int, reason: str, note: str, role: Role) -> Made:
    """The event of a block that does not count; None when it was voided before for the same reason."""
    found = found_turn(fold, number)
    if fold.plan.items:
        hint = "If a result is wrong, undo it and run the item again."
        raise RefusedError("invalid", "A pair cannot be voided here: no item of a declared list is left out.", hint)
    if reason not in fold.plan.void_reasons:
        options = ", ".join(fold.plan.void_reasons)
        message = f"A void's reason must be one that the plan names ({options}); got {reason!r}."
        raise RefusedError("invalid", message)
    if found.block in fold.voids:
        return None
    _still_open(fold, role, "void a pair")
    return "voided", _void(fold, number, reason, _check.instance(note, "note", str))


def _void(fold: Fold, number: int, reason: str, note: str) -> dict[str, Any]:
    block = fold.turns[number].block
    seen = any(other.number in fold.attempts for other in fold.blocks[block])  # undone ones too
    return {"turn": number, "block": block, "reason": reason, "note": note, "seen": seen}


def withdrawn(fold: Fold, policy: str, reason: str) -> Made:
    """The event of a policy that is withdrawn; None when it was before."""
    said(reason)
    if not fold.decision.rule.loses:
        raise RefusedError("invalid", "A policy can be withdrawn from a race only.", "Void the rounds that it missed.")
    if policy not in fold.plan.policies:
        raise RefusedError("invalid", _check.refusal("policy", f"be one of {', '.join(fold.plan.policies)}", policy))
    if policy in fold.leaves:
        return None
    if fold.finished:
        raise RefusedError("decided", "The study has stopped: no policy runs any more.")
    return "withdrawn", {"policy": policy, "reason": reason}


def missed(fold: Fold, policy: str) -> Made:
    """The event that voids the first round in which a withdrawn policy has no result; None when there is none."""
    for number, turn in sorted(fold.waiting.items()):
        if turn.policy == policy and turn.block not in fold.voids:
            return "voided", _void(fold, number, WITHDRAWN, policy if not fold.blinded else "")
    return None


def may_release(fold: Fold, number: int, own: str, role: Role, waits: Wait | None) -> None:
    """Refuse to hand back another's turn: that is for the owner, or for anybody when the study waits for it.

    Then the device that holds it must have been silent for as long as the plan says: a colleague at work keeps it.
    """
    lease = fold.leases[number]
    stalled = waits is not None and waits.stalled and waits.silent and waits.holder == lease.holder
    if role not in POWERS and not stalled and not owns(lease.holder, lease.role, own, role):
        raise RefusedError(
            "role", f"Those turns are held by {known_as(lease.holder)}.", "The owner can hand them back."
        )


def for_owner(role: Role) -> None:
    """Refuse what only the owner may do."""
    if role not in POWERS:
        raise RefusedError("role", f"Only the owner may do this; you are the {role}.")


def overridable(fold: Fold) -> None:
    """Refuse to go on where the rule has not stopped for futility."""
    ending = fold.standing.ending
    if ending == "futility":
        return
    if ending is None:
        raise RefusedError("stale", "The study goes on: there is no stop to override.")
    raise RefusedError("decided", "Only a stop for futility can be overridden; this study has stopped for good.")


def _still_open(fold: Fold, role: Role, what: str) -> None:
    """After the decision, whether a result mattered would tell which code leads."""
    if fold.finished and role not in POWERS:
        raise RefusedError("decided", f"The study has stopped: only its owner may {what} now.", "Tell the owner why.")


def said(reason: str) -> str:
    """A reason, which must be given."""
    if not _check.instance(reason, "reason", str).strip():
        raise RefusedError("invalid", "A reason must be given; it is kept in the log and shown in the report.")
    return reason


def nameable(name: str) -> str:
    """A name that a token may prove."""
    fits = name.strip() == name and 0 < len(name) <= LONGEST_NAME and name.isprintable()
    if not fits or as_seen(name) in ROLES or "/" in name or known_as(name) != name or name.startswith(PREFIX):
        must = f"have at most {LONGEST_NAME} printable characters without a slash, and be no role"
        raise RefusedError("invalid", _check.refusal("name", must, name))
    return name


def current(fold: Fold, version: int | None) -> None:
    """Refuse what was decided by looking at an older log."""
    if version is not None and version != fold.version:
        message = f"The study has changed since: its log is at version {fold.version}, not {version}."
        raise RefusedError("stale", message, "Look at it again, then repeat the request.")
