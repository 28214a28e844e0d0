"""What does a log amount to? Plan, turns, results and decision are a fold of its lines, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from surefoot._secret import Secret
from surefoot.errors import StudyError
from surefoot.study.amendments import changed, replaced
from surefoot.study.clips import Clip
from surefoot.study.decision import Decision, decision_of, table_of, with_changes
from surefoot.study.events import Before, Event, Line, head_of
from surefoot.study.item_lists import NOT_DRAWN, declared_list
from surefoot.study.leases import Lease, LeaseClock, most_later, seconds_of
from surefoot.study.plans import Plan
from surefoot.study.recording import Result
from surefoot.study.schedules import Turn, block, seed_hash


@dataclass(slots=True)
class Fold:
    """The state of a study after some lines of its log. `take` adds one line; everything else reads.

    One made from a snapshot leaves out what was `before`: `short_of` tells for which lines that is too little.
    """

    plan: Plan = field(init=False)
    declared: Plan = field(init=False)
    seed: Secret = field(init=False, default=Secret(""))
    schema: int = field(init=False, default=0)  # of the first line, by which orders are drawn
    last: Line | None = None
    hashes: bytearray = field(default_factory=bytearray)  # of every line, 32 bytes each
    turns: dict[int, Turn] = field(default_factory=dict)
    blocks: dict[int, tuple[Turn, ...]] = field(default_factory=dict)
    waiting: dict[int, Turn] = field(default_factory=dict)  # turns that lack a result and are not voided
    results: dict[int, Result] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)
    leases: dict[int, Lease] = field(default_factory=dict)
    had: dict[int, set[str]] = field(default_factory=dict)  # every holder to whom each turn was ever handed
    refused: set[tuple[int, str]] = field(default_factory=set)  # turns and holders whose results came too late
    crashes: dict[int, int] = field(default_factory=dict)  # how often each turn is run again after a crash
    crash_requests: set[str] = field(default_factory=set)
    voids: dict[int, Event] = field(default_factory=dict)
    requests: dict[str, tuple[int, float]] = field(default_factory=dict)  # turn and result of each request's word
    history: list[Event] = field(default_factory=list)
    amended_after: list[str] = field(default_factory=list)
    joins: dict[str, int] = field(default_factory=dict)  # after which block each policy joins that was added later
    leaves: dict[str, int] = field(
        default_factory=dict
    )  # after which block each policy runs no more that was withdrawn
    checkpoints: dict[str, int] = field(default_factory=dict)  # of policies whose checkpoint was replaced, how many
    clip_bytes: dict[str, int] = field(default_factory=dict)  # how large the clips are that each author added
    table: str = ""  # the hash of the exact rule's table as declared
    foreign_table: str = ""  # the hash of the table on this machine, when it is another
    unblinded: Event | None = None
    early: bool = False
    overridden: bool = False  # whether the study goes on where its rule stops for futility
    _decisions: list[Decision] = field(default_factory=list)  # before the first block, and after each one read
    _stopped: Decision | None = None  # the decision at which the study stopped first
    before: Before = field(default_factory=Before)

    def take(self, line: Line) -> None:
        """Add one line."""
        event = line.event
        try:
            kept = bytes.fromhex(line.hash)
            if self.last is None:
                self._start(line)
            elif event.kind == "started":
                raise StudyError("a study starts once")
            else:
                getattr(self, f"_{event.kind}")(event)
        except (StudyError, KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
            reason = f"{error.args[0]!r} is unknown" if isinstance(error, KeyError) else str(error).rstrip(".")
            raise StudyError(
                f"Line {line.number} of the log ({event.kind}) does not fit the lines before it: {reason}."
            ) from None
        self.history.append(event)
        self.last = line
        self.hashes += kept

    def hash_at(self, number: int) -> str:
        """The hash of a line; empty where the log has none, or where it was left out."""
        place = 32 * (number - 1 - self.before.lines)
        return self.hashes[place : place + 32].hex() if place >= 0 else ""

    @property
    def begun(self) -> Event:
        """The event with which the study began."""
        return self.history[0]

    @property
    def recorded(self) -> int:
        """How many results stand."""
        return self.before.results + len(self.results)

    def short_of(self, *, turn: int | None = None, word: str = "", event: Event | None = None) -> bool:
        """Whether more must be known of what was left out: of a turn, of a request's word, or to take in an event."""
        if event is not None:
            turn = event.body.get("turn")
            if event.kind == "amended":
                return self.before.turns > 0
        return (isinstance(turn, int) and 0 < turn <= self.before.turns) or (bool(word) and self.before.knows(word))

    @property
    def version(self) -> int:
        """The number of lines taken in."""
        return 0 if self.last is None else self.last.number

    @property
    def head(self) -> str:
        """The hash of the last line."""
        return head_of(self.last)

    @property
    def decision(self) -> Decision:
        """The rule's word on the completed prefix of blocks, in scheduled order."""
        return self._decisions[-1]

    @property
    def states(self) -> list[Any]:
        """The rule's states, from before the first block that counted to now."""
        kept = self._decisions
        return [one.state for place, one in enumerate(kept) if place == 0 or one.state is not kept[place - 1].state]

    @property
    def standing(self) -> Decision:
        """What the study says: a decision that it stopped at stays while it is blinded, whatever is corrected since.

        That a corrected result sets it going again would tell which code leads.
        """
        return self._stopped if self.blinded and self._stopped is not None else self.decision

    @property
    def beginning(self) -> Decision:
        """The rule's word before the first block."""
        return self._decisions[0]

    @property
    def finished(self) -> bool:
        """Whether the rule needs no further block."""
        return self.standing.finished

    @property
    def counted(self) -> list[int]:
        """The blocks that entered the rule, in order."""
        kept = self._decisions
        return [number for number in range(1, len(kept)) if kept[number].taken > kept[number - 1].taken]

    @property
    def readings(self) -> list[tuple[Decision, Decision]]:
        """The decision before and after each block that was reached, from the first."""
        return list(pairwise(self._decisions))

    @property
    def count(self) -> int:
        """How many blocks entered the rule."""
        return self.decision.taken

    @property
    def most_blocks(self) -> int:
        """How many blocks may count: whoever joined later may still meet the horizon."""
        rule: Any = self.decision.rule
        late = 0 if not self.joins or rule.finds_one else max(rule.joined)
        return self.plan.horizon + late

    @property
    def reached(self) -> int:
        """The block up to which all are complete or voided."""
        return self.before.blocks + len(self._decisions) - 1

    @property
    def scheduled(self) -> int:
        """How many blocks were scheduled."""
        return self.before.blocks + len(self.blocks)

    @property
    def later(self) -> int:
        """How many blocks are complete beyond one that is not."""
        reached = self.reached
        open_ = {turn.block for turn in self.waiting.values()} | self.voids.keys()
        return max(0, self.scheduled - reached - len({reached + 1, *(one for one in open_ if one > reached)}))

    @property
    def blinded(self) -> bool:
        """Whether policies are hidden behind codes."""
        return self.plan.blinded and self.unblinded is None

    def run_as(self, policy: str) -> list[str]:
        """The names under which a policy's rollouts are told: from a replaced checkpoint on it is another policy."""
        later = range(2, self.checkpoints.get(policy, 1) + 1)
        return [policy, *(f"{policy}, checkpoint {place}" for place in later)]

    @property
    def policies(self) -> list[str]:
        """The policies that were run, each checkpoint by itself unless the plan said that it may change."""
        return [name for policy in self.plan.policies for name in self.run_as(policy)]

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

    def open_turn(self, clock: LeaseClock, asker: str, rig: str = "") -> Turn | None:
        """The turn to hand out next; None when there is none, or none may be begun before others are in.

        At a rig it is the first on that rig. Blocks on other rigs that come before it are opened with it, and wait for
        whoever asks there: the rule reads all blocks in scheduled order, whoever runs them.

        The first that nobody has or holds; but the rest of a pair stays with whoever ran its beginning, where it can:
        it is set up alike there, and scored by the same eyes.
        """
        if self.finished:
            return None
        if self.foreign_table:
            raise StudyError(self.foreign)
        held = set(clock.holding(self.leases, self.waiting))
        free = [number for number in sorted(self.waiting.keys() - held) if rig in ("", self.waiting[number].rig)]
        mine = [number for number in free if asker in self._at(number)]
        others = [number for number in free if not self._expected_of_another(number, asker, clock)]
        if mine or others:
            return self.waiting[(mine or others)[0]]
        ahead = sum(number not in self.voids for number in range(self.reached + 1, self.scheduled + 1))
        at_work = {asker, *(self.leases[number].holder for number in held)}
        if self.later < most_later(at_work):
            coming = self._next_blocks(rig, self.decision.room - ahead)
            if coming:
                return coming[-1][0]
        return self.waiting[free[0]] if free else None

    def _at(self, number: int) -> set[str]:
        """Who was handed another turn of the same block."""
        turns = self.blocks[self.turns[number].block]
        return {self.leases[one.number].holder for one in turns if one.number != number and one.number in self.leases}

    def _expected_of_another(self, number: int, asker: str, clock: LeaseClock) -> bool:
        """Whether the turn is left to somebody who runs, or has just run, another turn of its block."""
        turns = self.blocks[self.turns[number].block]
        begun = (self.leases[one.number] for one in turns if one.number in self.leases)
        return number not in self.leases and any(one.holder != asker and clock.live(one) for one in begun)

    def held(self, clock: LeaseClock, holder: str | None = None) -> list[Turn]:
        """The turns being run, by `holder` or by anybody, in scheduled order."""
        held = clock.holding(self.leases, sorted(self.waiting))
        return [self.waiting[number] for number in held if holder in (None, self.leases[number].holder)]

    def _complete(self, number: int) -> bool:
        turns = self.blocks.get(number)
        return number in self.voids or (turns is not None and all(turn.number in self.results for turn in turns))

    def _next_blocks(self, rig: str, most: float) -> list[tuple[Turn, ...]]:
        """The blocks that come next, up to the first on a rig; none where none of so many is on it."""
        found: list[tuple[Turn, ...]] = []
        first = self.before.turns + len(self.turns) + 1
        while len(found) < most:
            number = self.scheduled + len(found) + 1
            turns = with_changes(self.decision, self.joins, self.leaves, number).turns  # with those that join meanwhile
            active = [name for name, often in turns.items() for _ in range(often)]
            found.append(block(self.plan, self.seed.reveal(), number, first, active, schema=self.schema))
            first += len(active)
            if rig in ("", found[-1][0].rig):
                return found
        return []

    def rows(self, number: int) -> dict[str, list[float]]:
        """The results of a complete block, by policy, in the order in which its turns were scheduled."""
        found: dict[str, list[float]] = {}
        for turn in self.blocks[number]:
            found.setdefault(turn.policy, []).append(self.results[turn.number].score)
        return found

    def _read_on(self, *, again_from: int | None = None) -> None:
        """Let the rule read the blocks that are complete now; from block `again_from` anew, if it had read it."""
        if again_from is not None:
            del self._decisions[max(1, again_from - self.before.blocks) :]
        self._adjust()
        while not self.decision.finished and self._complete(self.reached + 1):
            number = self.reached + 1
            found = self.decision
            if number not in self.voids:
                found = found.after(self.rows(number))
            self._decisions.append(found)
            self._adjust()
        if self._stopped is None and self.decision.finished:
            self._stopped = self.decision

    def _adjust(self) -> None:
        """Let policies join or leave where they do, and go on where the rule stopped for futility, if so ordered."""
        self._decisions[-1] = with_changes(self.decision, self.joins, self.leaves, self.reached)
        if self.overridden and self.decision.ending == "futility":
            self._decisions[-1] = self.decision.overridden()

    # One method per kind of event.

    def _start(self, line: Line) -> None:
        event = line.event
        if event.kind != "started":
            raise StudyError(f"A log must begin with its plan; this one begins with {event.kind!r}.")
        plan, seed = Plan.from_dict(event.body["plan"]), line.private or Secret("")
        if plan.fingerprint != event.body["fingerprint"]:
            raise StudyError("The plan in the log does not match its fingerprint: it was changed by hand.")
        if seed_hash(seed.reveal()) != event.body["seed_hash"]:
            raise StudyError("The secret seed does not match the hash in the plan's event: it was changed by hand.")
        if event.body.get("list") != declared_list(plan, seed.reveal()):
            raise StudyError(NOT_DRAWN)
        self._declare(plan, event)
        self.declared, self.seed, self.schema = plan, seed, event.schema

    def _declare(self, plan: Plan, event: Event) -> None:
        here, declared = table_of(plan), event.body["table"]
        self.plan, self.table = plan, declared
        self.foreign_table = (here or "none") if here != declared else ""
        self._decisions, self._stopped = [decision_of(plan)], None
        self._read_on()

    def _leased(self, event: Event) -> None:
        number, holder = event.body["turn"], event.body["holder"]
        first = event.schema == 1
        seconds = seconds_of(event.time, event.body["until"]) if first else float(event.body["seconds"])
        if number not in self.turns:
            rig = event.body.get("rig", "")
            opened = self._next_blocks(rig, self.plan.horizon if rig else 1)
            if not opened or number != opened[-1][0].number:
                comes = opened[-1][0].number if opened else "none"
                raise StudyError(f"turn {comes} comes next, not turn {number}")
            for turns in opened:
                self.blocks[turns[0].block] = turns
                for turn in turns:
                    self.turns[turn.number] = self.waiting[turn.number] = turn
        self.leases[number] = Lease(holder, event.role, event.time, seconds, self.version + 1)
        self.had.setdefault(number, set()).add(holder)

    def _recorded(self, event: Event) -> None:
        body, number = event.body, event.body["turn"]
        if number not in self.turns or (event.schema > 1 and number not in self.leases and not body["reason"]):
            raise StudyError(f"turn {number} was never handed out")
        if number in self.results:
            raise StudyError(f"turn {number} has a result already")
        if self.turns[number].block in self.voids:
            raise StudyError(f"turn {number} was voided")
        score, lease = self.plan.value(body["result"]), self.leases.get(number)
        told = ("turn", "attempt", "duration", "note", "failure", "ended", "steps", "reason", "stage")
        self.results[number] = Result(
            **{name: body[name] for name in told if name in body},  # the first schema lacks the last three
            score=score,
            policy=self.run_as(self.turns[number].policy)[-1],
            author=event.author,
            time=event.time,
            holder="" if lease is None else lease.holder,
            clip=None if body.get("clip") is None else Clip.of(body["clip"]),
        )
        self._weigh(event)
        self.attempts[number] = body["attempt"]
        self.waiting.pop(number, None)
        if body["request"]:
            self.requests[body["request"]] = (number, score)
        self._read_on()

    def _attached(self, event: Event) -> None:
        """A clip that came after its result changes nothing that is counted."""
        result = self.results[event.body["turn"]]
        if result.attempt != event.body["attempt"]:
            raise StudyError(f"turn {result.turn} has another result")
        self.results[result.turn] = replace(result, clip=Clip.of(event.body["clip"]))
        self._weigh(event)

    def _weigh(self, event: Event) -> None:
        clip = event.body.get("clip")
        size = Clip.of(clip).bytes if clip else 0
        if size:
            self.clip_bytes[event.author] = self.clip_bytes.get(event.author, 0) + size

    def _crashed(self, event: Event) -> None:
        """A rollout that is run again changes nothing that is counted; the report lists it."""
        number = self.turns[event.body["turn"]].number
        self.crashes[number] = self.crashes.get(number, 0) + 1
        if event.body["request"]:
            self.crash_requests.add(event.body["request"])

    def _refused(self, event: Event) -> None:
        _ = self.turns[event.body["turn"]]
        self.refused.add((event.body["turn"], event.body["holder"]))

    def _undone(self, event: Event) -> None:
        number = event.body["turn"]
        del self.results[number]
        turn = self.turns[number]
        if turn.block not in self.voids:
            self.waiting[number] = turn  # whoever held it holds it still, to record what was meant
        self._read_on(again_from=turn.block)

    def _voided(self, event: Event) -> None:
        number = event.body["block"]
        for turn in self.blocks[number]:
            self.waiting.pop(turn.number, None)
        self.voids[number] = event
        self._read_on(again_from=number)

    def _amended(self, event: Event) -> None:
        changes = event.body["changes"]
        if self.turns and (added := self.plan.joining(changes)):
            self._joined(self.plan.amended(changes), added)
            return
        before = self.plan
        self._declare(before.amended(changes), event)
        if self.attempts:  # a result that was undone was seen all the same
            run = {turn.task for turn in self.turns.values()}
            self.amended_after += changed(before, self.plan, changes, run, self.schema)
            for name in replaced(before, self.plan):
                self.checkpoints[name] = self.checkpoints.get(name, 1) + 1

    def _joined(self, plan: Plan, added: Iterable[str]) -> None:
        """Policies that join after the blocks handed out by now.

        No error is paid for it, so the verdict stays what it is: the rule's hypotheses grow with them, and what was
        claimed stays claimed.
        """
        self.plan, self._stopped = plan, None
        self.joins |= dict.fromkeys(added, self.scheduled)
        self._decisions = [replace(one, plan=plan) for one in self._decisions]
        self._read_on()

    def _withdrawn(self, event: Event) -> None:
        """A policy that runs no more after the blocks handed out by now."""
        name = event.body["policy"]
        if not self.decision.rule.loses or name not in self.plan.policies or name in self.leaves:
            raise StudyError(f"{name} cannot be withdrawn")
        self.leaves[name] = self.scheduled
        self._read_on()

    def _unblinded(self, event: Event) -> None:
        self.early = not self.finished
        self.unblinded = event

    def _overridden(self, _: Event) -> None:
        if self.standing.ending != "futility":
            raise StudyError("the study had not stopped for futility")
        self.overridden, self._stopped = True, None
        self._read_on()

    def _checked(self, event: Event) -> None:
        """A checklist changes nothing that is counted."""

    def _invited(self, event: Event) -> None:
        """Nor does a token."""


def folded(lines: Iterable[Line]) -> Fold:
    """What these lines amount to.

    Raises:
        StudyError: A line does not follow from those before it.
    """
    fold = Fold()
    for line in lines:
        fold.take(line)
    return fold
