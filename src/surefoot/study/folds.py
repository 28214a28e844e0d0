"""What does a log amount to? Plan, turns, results and verdict are a fold of its lines, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.errors import StudyError
from surefoot.study.events import Event, Line
from surefoot.study.judging import Judge, judge_of, table_of
from surefoot.study.plans import BINDING, Plan
from surefoot.study.schedules import Turn, block, seed_hash
from surefoot.study.waits import most_later, wait_of


@dataclass(frozen=True, slots=True)
class Result(Record):
    """What was recorded for a turn."""

    turn: int
    attempt: int
    score: float
    duration: float | None
    note: str
    failure: str
    author: str
    time: str


@dataclass(frozen=True, slots=True)
class Lease(Record):
    """Who has a turn, since when and until when; past that, anybody may take it."""

    holder: str
    since: str
    until: str


@dataclass(slots=True)
class Fold:
    """The state of a study after some lines of its log. `take` adds one line; everything else reads."""

    plan: Plan = field(init=False)
    declared: Plan = field(init=False)
    seed: str = field(init=False, default="")
    last: Line | None = None
    turns: dict[int, Turn] = field(default_factory=dict)
    blocks: dict[int, tuple[Turn, ...]] = field(default_factory=dict)
    waiting: dict[int, Turn] = field(default_factory=dict)  # turns that lack a result and are not voided
    results: dict[int, Result] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)
    leases: dict[int, Lease] = field(default_factory=dict)
    refused: set[tuple[int, str]] = field(default_factory=set)  # turns and holders whose results came too late
    voids: dict[int, Event] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    history: list[Event] = field(default_factory=list)
    amended_after: list[str] = field(default_factory=list)
    table: str = ""  # the hash of the exact rule's table as declared
    foreign_table: str = ""  # the hash of the table on this machine, when it is another
    unblinded: Event | None = None
    early: bool = False
    _judge: Judge | None = None
    _judged: int = 0

    def take(self, line: Line) -> None:
        """Add one line.

        Raises:
            StudyError: The line cannot follow from those before it; the state stays what it was.
        """
        event = line.event
        try:
            if self.last is None:
                self._start(line)
            elif event.kind == "started":
                raise StudyError("a study starts once")
            else:
                getattr(self, f"_{event.kind}")(event)
        except (StudyError, KeyError, ValueError, TypeError) as error:
            reason = f"{error.args[0]!r} is unknown" if isinstance(error, KeyError) else str(error).rstrip(".")
            raise StudyError(f"Line {line.number} of the log ({event.kind}) makes no sense: {reason}.") from None
        self.history.append(event)
        self.last = line

    @property
    def version(self) -> int:
        """The number of lines taken in."""
        return 0 if self.last is None else self.last.number

    @property
    def judge(self) -> Judge:
        """The rule's word on the completed prefix of blocks, in scheduled order."""
        if self._judge is None:
            self._judge, self._judged = judge_of(self.plan), 0
        while not self._judge.finished and self._complete(self._judged + 1):
            self._judged += 1
            if self._judged not in self.voids:
                turns = self.blocks[self._judged]
                self._judge.add({turn.policy: self.results[turn.number].score for turn in turns})
        return self._judge

    @property
    def finished(self) -> bool:
        """Whether the rule needs no further block."""
        return self.judge.finished

    @property
    def counted(self) -> list[int]:
        """The blocks that entered the rule, in order."""
        _ = self.judge
        return [number for number in range(1, self._judged + 1) if number not in self.voids]

    @property
    def count(self) -> int:
        """How many blocks entered the rule."""
        _ = self.judge
        return self._judged - sum(number <= self._judged for number in self.voids)

    @property
    def reached(self) -> int:
        """The block up to which all are complete or voided."""
        _ = self.judge
        return self._judged

    @property
    def later(self) -> int:
        """How many blocks are complete beyond one that is not."""
        beyond = range(self.reached + 2, len(self.blocks) + 1)
        return sum(number not in self.voids and self._complete(number) for number in beyond)

    @property
    def blinded(self) -> bool:
        """Whether policies are hidden behind codes."""
        return self.plan.blinded and self.unblinded is None

    @property
    def exploratory(self) -> bool:
        """Whether something that binds was changed after the first result."""
        return bool(self.amended_after)

    @property
    def foreign(self) -> str:
        """What is to be said when the exact rule's table on this machine is another; empty when it is not."""
        if not self.foreign_table:
            return ""
        here, declared = self.foreign_table[:12], self.table[:12] or "none"
        return (
            f"The exact rule's table on this machine ({here}) is not the one that the study declared ({declared}), "
            "so its verdict could differ. Use the version of surefoot that began the study."
        )

    def open_turn(self, now: str, asker: str) -> Turn | None:
        """The first turn that nobody has or holds; None when there is none, or none may be begun before others are in.

        Raises:
            StudyError: This machine would judge by another table than the one declared.
        """
        if self.finished:
            return None
        if self.foreign_table:
            raise StudyError(self.foreign)
        for number in sorted(self.waiting):
            held = self.leases.get(number)
            if held is None or held.until <= now:
                return self.waiting[number]
        ahead = sum(number not in self.voids for number in range(self._judged + 1, len(self.blocks) + 1))
        if self.judge.taken + ahead >= self.plan.horizon:
            return None
        if self.later >= most_later({asker, *(self.leases[turn.number].holder for turn in self.held(now))}):
            return None
        return self._next_block()[0]

    def held(self, now: str, holder: str | None = None) -> list[Turn]:
        """The turns being run, by `holder` or by anybody, in scheduled order."""
        return [
            self.waiting[number]
            for number in sorted(self.waiting)
            if (lease := self.leases.get(number)) and lease.until > now and holder in (None, lease.holder)
        ]

    def find(self, number: int) -> Turn:
        """The turn of that number.

        Raises:
            StudyError: It was never handed out.
        """
        turn = self.turns.get(number)
        if turn is None:
            raise StudyError(f"Turn {number} was never handed out; ask for the next turn first.")
        return turn

    def _complete(self, number: int) -> bool:
        turns = self.blocks.get(number)
        return number in self.voids or (turns is not None and all(turn.number in self.results for turn in turns))

    def _next_block(self) -> tuple[Turn, ...]:
        return block(self.plan, self.seed, len(self.blocks) + 1, len(self.turns) + 1, self.judge.active)

    # One method per kind of event.

    def _start(self, line: Line) -> None:
        event = line.event
        if event.kind != "started":
            raise StudyError(f"A log must begin with its plan; this one begins with {event.kind!r}.")
        plan, seed = Plan.from_dict(event.body["plan"]), line.private or ""
        if plan.fingerprint != event.body["fingerprint"]:
            raise StudyError("The plan in the log does not match its fingerprint: it was changed by hand.")
        if seed_hash(seed) != event.body["seed_hash"]:
            raise StudyError("The secret seed does not match the hash in the plan's event: it was changed by hand.")
        self._declare(plan, event)
        self.declared, self.seed = plan, seed

    def _declare(self, plan: Plan, event: Event) -> None:
        here, declared = table_of(plan), event.body["table"]
        self.plan, self.table = plan, declared
        self.foreign_table = (here or "none") if here != declared else ""

    def _leased(self, event: Event) -> None:
        number = event.body["turn"]
        if number not in self.turns:
            opened = self._next_block()
            if number != opened[0].number:
                raise StudyError(f"turn {opened[0].number} comes next, not turn {number}")
            self.blocks[opened[0].block] = opened
            for turn in opened:
                self.turns[turn.number] = self.waiting[turn.number] = turn
        holder, before = event.body["holder"], self.leases.get(number)
        same = before is not None and before.holder == holder and before.until > event.time
        since = before.since if before is not None and same else event.time
        self.leases[number] = Lease(holder, since, event.body["until"])

    def _recorded(self, event: Event) -> None:
        body = event.body
        number = body["turn"]
        if number in self.results:
            raise StudyError(f"turn {number} has a result already")
        if self.find(number).block in self.voids:
            raise StudyError(f"turn {number} was voided")
        self.results[number] = Result(
            number,
            body["attempt"],
            self.plan.value(body["result"]),
            body["duration"],
            body["note"],
            body["failure"],
            event.author,
            event.time,
        )
        self.attempts[number] = body["attempt"]
        self.waiting.pop(number, None)
        if body["request"]:
            self.requests[body["request"]] = number

    def _refused(self, event: Event) -> None:
        self.find(event.body["turn"])
        self.refused.add((event.body["turn"], event.body["holder"]))

    def _undone(self, event: Event) -> None:
        number = event.body["turn"]
        del self.results[number]
        turn = self.turns[number]
        if turn.block not in self.voids:
            self.waiting[number] = turn  # whoever held it holds it still, to record what was meant
        if turn.block <= self._judged:
            self._judge = None

    def _voided(self, event: Event) -> None:
        number = event.body["block"]
        for turn in self.blocks[number]:
            self.waiting.pop(turn.number, None)
        self.voids[number] = event
        if number <= self._judged:
            self._judge = None

    def _amended(self, event: Event) -> None:
        changes = event.body["changes"]
        self._declare(self.plan.amended(changes), event)
        if self.attempts:  # a result that was undone was seen all the same
            self.amended_after += [name for name in changes if name in BINDING]
        self._judge = None

    def _unblinded(self, event: Event) -> None:
        self.early = not self.finished
        self.unblinded = event

    def _checked(self, event: Event) -> None:
        """A checklist changes nothing that is counted."""


def summary_of(fold: Fold, now: str) -> dict[str, Any]:
    """Progress that gives no policy away: turns done, blocks counted, whether to go on, and what is waited for."""
    done = len(fold.results)
    decision = "continue"
    if fold.finished:
        decided = fold.judge.verdict is not Verdict.UNDECIDED
        decision = "stop: decided" if decided else "stop: nothing more can be decided"
    return {
        "title": fold.plan.title,
        "recorded": done,
        "blocks": fold.count,
        "horizon": fold.plan.horizon,
        "voided": len(fold.voids),
        "finished": fold.finished,
        "blinded": fold.blinded,
        "exploratory": fold.exploratory,
        "version": fold.version,
        "decision": decision,
        "waits": None if (wait := wait_of(fold, now)) is None else wait.to_dict(),
    }


def folded(lines: Iterable[Line]) -> Fold:
    """What these lines amount to.

    Raises:
        StudyError: A line does not follow from those before it.
    """
    fold = Fold()
    for line in lines:
        fold.take(line)
    return fold
