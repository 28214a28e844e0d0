"""Studies: created, run, undone, unblinded and read.

`Study` is the one thing that grows.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot import _check
from surefoot.core.verdict import Verdict
from surefoot.errors import StudyError
from surefoot.sequential import registry
from surefoot.study import clips, recording
from surefoot.study.amendments import binding, normalised
from surefoot.study.clips import Clip
from surefoot.study.decision import table_of
from surefoot.study.events import Role
from surefoot.study.leases import LEASE, gone
from surefoot.study.log import StudyLog
from surefoot.study.protocol import StudyOperations
from surefoot.study.recording import Ended, Entry, Made, RefusedError
from surefoot.study.schedules import Turn, number_of
from surefoot.study.state import Fold
from surefoot.study.status import Receipt
from surefoot.study.stores import ConflictError

if TYPE_CHECKING:
    from surefoot.table.rollouts import Rollouts


LOG = logging.getLogger(__name__)


class Study(StudyLog, StudyOperations):
    """A plan being carried out: which rollout comes next, every result safe, and the moment to stop."""

    def next_turns(self, count: int, *, holder: str = "", rig: str = "", lease: timedelta = LEASE) -> list[Turn]:
        """The rollouts to run next, up to `count`, on a rig or on any, all held for you; it never waits."""
        _check.whole(count, "count", least=1)
        recording.known_rig(self.plan, rig)
        seconds = _check.positive(lease.total_seconds(), "lease")
        name = holder or self._name
        if count > 1:
            with contextlib.suppress(ConflictError), self.together():
                return self._leased(count, name, rig, seconds)
        return self._leased(count, name, rig, seconds)

    def _leased(self, count: int, name: str, rig: str, seconds: float) -> list[Turn]:
        chosen: list[Turn] = []

        def ask(fold: Fold) -> Made:
            last = None if fold.last is None or fold.last.event.kind != "leased" else fold.last.event.body
            if not chosen or last is None or (last["turn"], last["holder"]) != (chosen[-1].number, name):
                chosen[:] = [] if fold.finished else self._own(fold, name, rig)[:count]
                for number in sorted(fold.waiting) if len(chosen) < count and not fold.finished else ():
                    held = fold.leases.get(number)
                    if held is not None and held.seconds and gone(held.holder):
                        return self._handed_back(fold, number)
            if fold.finished or len(chosen) >= count:
                return None
            rest = fold.blocks.get(chosen[-1].block, ()) if chosen else ()  # a pair stays together
            fresh = (one for one in rest if one.number in fold.waiting and one.number not in fold.leases)
            turn = next(fresh, None) or fold.open_turn(self.clock, name, rig)
            if turn is None:
                return None
            chosen.append(turn)
            asked = {"turn": turn.number, "holder": name, "seconds": seconds}
            return "leased", {**asked, "rig": rig} if rig else asked

        while self._write(ask) and len(chosen) < count:
            pass
        self._handed |= {turn.number: name for turn in chosen}
        return sorted(chosen, key=lambda turn: turn.number)

    def _own(self, fold: Fold, name: str, rig: str) -> list[Turn]:
        """What is held under a name and in this role, on a rig or on any."""
        held = [turn for turn in fold.held(self.clock, name) if rig in ("", turn.rig)]
        return [turn for turn in held if recording.owns(name, fold.leases[turn.number].role, name, self.role)]

    def release(self, turn: Turn | int | None = None, *, holder: str = "") -> Receipt:
        """Hand back a turn that will not be run, or all that a holder has, so that another may take them at once.

        Args:
            turn: The turn, or its number; every turn of the holder when left out.
            holder: Whose, as for a device that has left; your own by default.

        Returns:
            A receipt that names the turns handed back; none of them when none was held.

        Raises:
            RefusedError: They are another's, who does not hold the study up, and you are not its owner.
        """
        number = None if turn is None else number_of(turn)
        name = self._holder(number or 0, holder)
        back: list[int] = []

        def write(fold: Fold) -> Made:
            held = [one.number for one in fold.held(self.clock, name) if number in (None, one.number)]
            if not held:
                return None
            if not back:  # once for all that they hold: with the first gone, the study may wait for nobody
                recording.may_release(fold, held[0], self._name, self.role, self.status().waits)
            back.append(held[0])
            return self._handed_back(fold, held[0])

        if number is not None:
            recording.found_turn(self.recall(turn=number), number)
        while self._write(write):
            pass
        return self._receipt(*back)

    def _holder(self, number: int, given: str) -> str:
        """Who ran a turn: whoever is named, else for whom it was asked for here."""
        return given or self._handed.get(number, "") or self._name

    def _handed_back(self, fold: Fold, number: int) -> Made:
        return "leased", {"turn": number, "holder": fold.leases[number].holder, "seconds": 0}

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
        """Keep a turn's result for good.

        Args:
            turn: The turn, or its number.
            result: Success (true or false), or a score in the plan's range; left out where a stage is given.
            stage: How far it got, as a stage that the plan names; what that counts is the result.
            duration: How long the rollout took, in seconds.
            steps: How many steps it took.
            note: A remark, kept in the log.
            failure: What went wrong, when it failed.
            request: A word that names this request: the same word again changes nothing and gives the same answer.
            holder: Who ran it; the holder to whom this study handed it, by default.
            reason: Why somebody else than the holder records it; for whoever owns the study.
            attempt: Which try at this turn; refused when somebody was faster.
            clip: Its video or picture: a file's path, of which the study keeps a copy, or a link. One that cannot be
                kept never costs the result: the log says what was wrong with it.

        Raises:
            RefusedError: The turn was never handed out, is another's, already has a result or was voided, or the
                result is not one that the plan knows. Nothing is recorded then.
        """
        number = number_of(turn)
        entry = Entry(
            turn=number,
            result=result,
            duration=duration,
            steps=steps,
            note=note,
            failure=failure,
            request=request,
            holder=self._holder(number, holder),
            reason=reason,
            attempt=attempt,
            clip=self._clip(clip),
            stage=stage,
        )
        if entry.clip is not None and entry.clip.fault:
            LOG.warning("surefoot: %s", clips.no_clip(number, entry.clip))
        return self._keep(entry, entry.event)

    def _keep(self, entry: Entry, make: Callable[[Fold, Role], Made]) -> Receipt:
        self.recall(turn=entry.turn, word=entry.request)
        new = self._write(lambda fold: make(fold, self.role))
        late, before = entry.late(self._fold, self.role), self._fold.requests.get(entry.request)
        if late is not None and (before is None or before[0] != entry.turn):  # recorded by another request, if at all
            raise late
        return self._receipt(entry.turn, repeated=not new)

    def crash(
        self, turn: Turn | int, *, ended: Ended = "crash", note: str = "", request: str = "", holder: str = ""
    ) -> Receipt:
        """Say that a rollout gave no result; the plan's `on_crash` or `on_safety_stop` says what that counts as.

        Args:
            turn: The turn, or its number.
            ended: How it ended: "crash", "time-out", "unreadable" or "safety stop".
            note: What is known about it.
            request: A word that names this request, as for `record`.
            holder: Who ran it; the holder to whom this study handed it, by default.
        """
        number = number_of(turn)
        entry = Entry(
            turn=number,
            result=self.plan.worst,
            note=note,
            failure=ended,
            ended=ended,
            request=request,
            holder=self._holder(number, holder),
        )
        return self._keep(entry, entry.crashed)

    def clip(
        self, turn: Turn | int, clip: str | Path | Clip, *, holder: str = "", attempt: int | None = None
    ) -> Receipt:
        """Add a clip to a result that was recorded without one.

        Args:
            turn: The turn, or its number.
            clip: A file's path, of which the study keeps a copy, or a link (http or https).
            holder: Who ran it; the holder to whom this study handed it, by default.
            attempt: Which of the turn's results, if it matters.

        Raises:
            RefusedError: The file cannot be kept, or the turn has no result, another's, or another clip.
        """
        number = number_of(turn)
        asked = Entry(turn=number, result=None, holder=self._holder(number, holder), attempt=attempt)
        if number not in self.recall(turn=number).results:
            self.refresh()
        asked.attached(self._fold, self.role)  # nothing is copied for a turn that is another's
        entry = replace(asked, clip=self._clip(clip))
        if entry.clip is not None and entry.clip.fault:
            raise RefusedError("invalid", clips.no_clip(number, entry.clip))
        return self._done(lambda fold: entry.attached(fold, self.role), number)

    def _clip(self, given: str | Path | Clip | None) -> Clip | None:
        if given is None or isinstance(given, Clip):
            return given
        return self.clips.kept(clips.checked(given))

    def undo(self, turn: Turn | int, *, reason: str, attempt: int | None = None) -> Receipt:
        """Take back a turn's result, with the reason; both stay in the log.

        Args:
            turn: The turn, or its number.
            reason: Why.
            attempt: Which of the turn's results, if it matters: one undone before changes nothing, and a newer one
                is not touched.
        """
        number = number_of(turn)
        self.recall(turn=number)
        return self._done(lambda fold: recording.undone(fold, number, reason, attempt, self.role), number)

    def void(self, turn: Turn | int, *, reason: str, note: str = "") -> Receipt:
        """Declare that the turn's whole block does not count, for one of the plan's reasons; another is scheduled."""
        number = number_of(turn)
        self.recall(turn=number)
        return self._done(lambda fold: recording.voided(fold, number, reason, note, self.role), number)

    def amend(self, changes: Mapping[str, Any], *, reason: str, version: int | None = None) -> Receipt:
        """Change the plan, with the reason; what binds and is changed after a result makes the verdict exploratory."""

        def write(_: Fold) -> Made:
            fold = self.fold
            recording.for_owner(self.role)
            recording.current(fold, version)
            return "amended", {**admitted(fold, changes), "reason": recording.said(reason)}

        return self._done(write)

    def unblind(self, *, reason: str, version: int | None = None) -> Receipt:
        """Reveal the seed, and with it which policy each code meant; done before the end it is a deviation."""
        recording.said(reason)

        def write(fold: Fold) -> Made:
            recording.for_owner(self.role)
            if fold.unblinded is not None:
                return None
            recording.current(fold, version)
            return "unblinded", {"seed": fold.seed.reveal(), "reason": reason}

        return self._done(write)

    def override(self, *, reason: str, version: int | None = None) -> Receipt:
        """Go on although the rule has stopped for futility: a deviation, which the report lists.

        The verdict and its p-value hold as before. The interval of the gain is then the one that holds at any moment,
        which is wider, and the study does not stop for futility again.

        Raises:
            RefusedError: The study has not stopped for futility, no reason is given, or you are not its owner.
        """
        recording.said(reason)

        def write(fold: Fold) -> Made:
            recording.for_owner(self.role)
            recording.current(fold, version)
            recording.overridable(fold)
            return "overridden", {"reason": reason}

        return self._done(write)

    def withdraw(self, policy: str, *, reason: str) -> Receipt:
        """Run a policy of a race no more, because it is broken or lost; rounds that it has not finished are void.

        It may still be the best one, so every later claim is made unless it is that one.

        Args:
            policy: Its name.
            reason: Why.

        Raises:
            RefusedError: The study is no race or has stopped, the plan names no such policy, no reason is given, or
                you are not its owner.
        """

        def write(fold: Fold) -> Made:
            recording.for_owner(self.role)
            return recording.withdrawn(fold, policy, reason)

        new = self._write(write)
        while self._write(lambda fold: recording.missed(fold, policy)):
            pass
        return self._receipt(repeated=not new)

    def check(self, items: Iterable[str], *, note: str = "") -> Receipt:
        """Log that a session's checklist was gone through."""
        if isinstance(items, str):
            raise _check.mistyped("items", "be a list of texts", items)
        listed = [_check.instance(item, "items", str) for item in items]
        body = {"items": listed, "note": _check.instance(note, "note", str)}
        return self._done(lambda _: ("checked", body))

    def invite(self, name: str, role: Role | None) -> Receipt:
        """Log that from now on only a token of its own proves a name; with no role, that it does so no more.

        Args:
            name: A person's or a robot's.
            role: What they may do: "operator", "runner" or "owner".

        Raises:
            RefusedError: Nobody can have that name, or you are not the owner.
        """

        def write(_: Fold) -> Made:
            recording.for_owner(self.role)
            return "invited", {"name": recording.nameable(name), "role": role or ""}

        return self._done(write)

    def rollouts(self) -> Rollouts:
        """Every recorded rollout as a table, voided ones marked; refused while the study is blinded.

        Raises:
            StudyError: The study is blinded, or nothing was recorded yet.
        """
        from surefoot.study.result_table import rollouts_of

        return rollouts_of(self.fold)


HANDED_OUT = ("policies", "measure", "environments")
"""What the turns already handed out were made from."""


def _normalised(fold: Fold, changes: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return normalised(fold.plan, changes)
    except (ValueError, TypeError, StudyError) as error:
        raise RefusedError("invalid", f"The plan cannot be amended in this way: {error}") from None


def admitted(fold: Fold, changes: Mapping[str, Any]) -> dict[str, Any]:
    """What the log keeps of a change that may be made: the fields as the amended plan has them, its rule's table."""
    if not changes:
        raise RefusedError("invalid", "An amendment must change something; got nothing.")
    if "blinded" in changes:
        raise RefusedError("decided", "`blinded` cannot be amended: unblind the study, which reveals its seed.")
    changes = _normalised(fold, changes)
    fixed = [name for name in HANDED_OUT if name in changes and fold.turns]
    joining = fold.plan.joining(changes)
    kind, present = registry.kinds(fold.plan.decides)[0], fold.plan.policies
    if fixed == ["policies"] and not joining and kind.widens:
        after = changes["policies"]
        if isinstance(after, tuple | list) and tuple(after[: len(present)]) == present and len(changes) == 1:
            raise RefusedError("decided", f"None can join so that {len(after)} policies run by {kind.title}.")
        hint = "List the present policies in their order, then the new one, and change nothing else."
        raise RefusedError("decided", f"`policies` can only grow once turns were handed out. {hint}")
    if fixed and joining and fold.decision.spent:
        raise RefusedError("decided", "No policy can join any more: all others have reached the horizon.")
    if fixed and not joining:
        raise RefusedError("decided", f"`{fixed[0]}` cannot change once turns were handed out; create another study.")
    bound = binding(changes, fold.schema)
    decided = fold.standing.ending == "verdict" or fold.standing.verdict is not Verdict.UNDECIDED
    if bound and not joining and fold.finished and decided:
        raise RefusedError(
            "decided",
            f"The study is decided, and a decision is final: `{bound[0]}` cannot be amended any more. "
            "To ask again, begin another study.",
        )
    try:
        plan = fold.plan.amended(changes)
        if "policy_details" in changes:  # a checkpoint that is new is hashed, as when the study began
            told = (one if one == fold.plan.policy(one.name) else one.hashed() for one in plan.policy_details)
            plan = replace(plan, policy_details=tuple(told))
        for result in fold.results.values():
            plan.value(result.score)
        kept = plan.to_dict()
        return {"changes": {name: kept[name] for name in changes}, "table": table_of(plan)}
    except (ValueError, TypeError, StudyError) as error:
        raise RefusedError("invalid", f"The plan cannot be amended in this way: {error}") from None
