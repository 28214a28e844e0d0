"""Is a study's log what was written, and does its verdict follow from it?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from surefoot.core import words
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.errors import StudyError
from surefoot.sequential import run
from surefoot.study.events import Line, breaks, seeded
from surefoot.study.folds import Fold
from surefoot.study.judging import ranking_rule_of, rule_of
from surefoot.study.plans import Plan
from surefoot.study.schedules import Turn, block, seed_hash
from surefoot.study.stores import Store, StoreError, open_store


@dataclass(frozen=True, slots=True)
class Verification(Record):
    """What a study's log was found to be.

    Attributes:
        lines: Lines in the log.
        head: The hash of the last line: written down elsewhere, it proves later that nothing before was changed.
        fingerprint: The hash of the plan as it was declared.
        blinded: Whether the study is blinded.
        verdict: The verdict, computed again from the pairs in scheduled order; none while the study is blinded.
        faults: What does not hold, each as a sentence; none when all does.
        table: The hash of the exact rule's table as the study declared it; empty for a rule that needs none.
    """

    lines: int
    head: str
    fingerprint: str
    blinded: bool
    verdict: Verdict | None
    faults: tuple[str, ...]
    table: str = ""

    @property
    def sound(self) -> bool:
        """Whether everything holds."""
        return not self.faults

    def __str__(self) -> str:
        if self.faults:
            return "The study does not verify.\n" + "\n".join(f"  ! {fault}" for fault in self.faults)
        said = "replays the same" if self.verdict is None else f"replays the same: {self.verdict.value}"
        plan = f"plan {self.fingerprint[:16]}" + (f", exact table {self.table[:12]}" if self.table else "")
        return (
            f"The study verifies: {words.counted(self.lines, 'line')}, unbroken; {plan}; the verdict {said}.\n"
            f"Head of the log: {self.head}"
        )


def verify(store: Store | str | Path) -> Verification:
    """Check a study's chain of lines, its plan's fingerprint, its seed, and its verdict by a second path.

    Raises:
        StudyError: There is no study, or its store cannot be read at all.
    """
    kept = open_store(store) if isinstance(store, str | Path) else store
    try:
        lines = seeded(kept.read())
    except StoreError:
        raise
    except StudyError as error:  # a line that is no event any more
        return Verification(0, "", "", True, None, (str(error),))
    if not lines:
        raise StudyError("There is no study here yet; create one.")
    return verified(lines)


def verified(lines: list[Line]) -> Verification:
    """The same, of lines already read."""
    faults = [f"{clause[0].upper()}{clause[1:]}." for clause in breaks(lines)]
    faults += _declared(lines) + _times(lines)
    fold, fault = taken(lines)
    if fault and not (faults and fold.last is None):
        faults.append(fault)
    verdict = None
    if fold.last is not None:
        verdict = None if fold.foreign else replayed(lines, fold)
        if fold.foreign:
            faults.append(f"{fold.foreign} The verdict was not replayed; chain, plan and seed were checked.")
        elif verdict is not fold.judge.verdict:
            faults.append("The verdict computed from the pairs in scheduled order differs from the study's own.")
    return Verification(
        lines=len(lines),
        head=lines[-1].hash,
        fingerprint=str(lines[0].event.body.get("fingerprint", "")),
        blinded=fold.last is None or fold.blinded,
        verdict=None if fold.last is None or fold.blinded else verdict,
        faults=tuple(dict.fromkeys(faults)),
        table="" if fold.last is None else fold.table,
    )


def taken(lines: list[Line]) -> tuple[Fold, str]:
    """The fold of as many lines as make sense, and why the next does not."""
    fold = Fold()
    for line in lines:
        try:
            fold.take(line)
        except StudyError as error:
            return fold, str(error)
    return fold, ""


def replayed(lines: list[Line], fold: Fold) -> Verdict:
    """The verdict by a path of its own: results as they stand, put in scheduled order, through the rule at once."""
    plan, standing, voided = fold.declared, dict[int, float](), set[int]()
    for line in lines[1 : fold.version]:
        body = line.event.body
        if line.event.kind == "amended":
            plan = plan.amended(body["changes"])
        elif line.event.kind == "recorded":
            standing[body["turn"]] = plan.value(body["result"])
        elif line.event.kind == "undone":
            del standing[body["turn"]]
        elif line.event.kind == "voided":
            voided.add(body["block"])
    two = len(plan.policies) == 2
    rounds = []
    for number in range(1, len(fold.blocks) + 1):
        turns = _pair(plan, fold.seed, number) if two else fold.blocks[number]
        if number in voided:
            continue
        if not all(turn.number in standing for turn in turns):
            break
        rounds.append({turn.policy: standing[turn.number] for turn in turns})
    if two:
        first, second = plan.policies
        states = run(rule_of(plan), [(scores[first], scores[second]) for scores in rounds])
        return states[-1].verdict if states else Verdict.UNDECIDED
    return _place(plan, rounds)


def _pair(plan: Plan, seed: str, number: int) -> tuple[Turn, ...]:
    return block(plan, seed, number, 2 * number - 1, plan.policies)


def _place(plan: Plan, rounds: list[dict[str, float]]) -> Verdict:
    rule = ranking_rule_of(plan)
    state = rule.start()
    for scores in rounds:
        if not state.finished and set(state.running) <= set(scores):
            state = rule.step(state, {name: scores[name] for name in state.running})
    said = {state.verdict(plan.policies[0], other) for other in plan.policies[1:]}
    if Verdict.WORSE in said:
        return Verdict.WORSE
    return Verdict.BETTER if said == {Verdict.BETTER} else Verdict.UNDECIDED


def _declared(lines: list[Line]) -> list[str]:
    body, found = lines[0].event.body, []
    if lines[0].event.kind != "started":
        return ["The log does not begin with its plan."]
    try:
        if Plan.from_dict(body["plan"]).fingerprint != body["fingerprint"]:
            found.append("The plan in the log does not match its fingerprint: it was changed by hand.")
    except (StudyError, ValueError, TypeError, KeyError, AttributeError) as error:
        found.append(f"The plan in the log is no plan any more: {error}.")
    seeds = [lines[0].private or "", *(line.event.body["seed"] for line in lines if line.event.kind == "unblinded")]
    if any(seed_hash(seed) != body["seed_hash"] for seed in seeds):
        found.append("The secret seed does not match the hash that was declared: the schedule cannot be trusted.")
    return found


def _times(lines: list[Line]) -> list[str]:
    return [
        f"Line {after.number} is dated {after.event.time}, before the line that it follows."
        for before, after in pairwise(lines)
        if after.event.time < before.event.time
    ]
