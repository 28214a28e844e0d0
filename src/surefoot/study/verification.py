"""Whether a study's log is what was written, and its verdict follows from it.

The chain shows every change within the log. That its end was cut off, or that all of it was written anew, shows only to
whoever knows a hash of it from elsewhere: a witness.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.errors import StudyError
from surefoot.study.clips import ClipFolder, faults_of
from surefoot.study.decision import rule_of
from surefoot.study.events import Line, breaks, seeded
from surefoot.study.item_lists import NOT_DRAWN, declared_list
from surefoot.study.log_files import SHORT, Mark, mark_of
from surefoot.study.plans import Plan
from surefoot.study.schedules import Turn, block, seed_hash
from surefoot.study.state import Fold
from surefoot.study.stores import Store, StoreError, open_store

SKEW = timedelta(minutes=2)
"""How far the clocks of two machines may differ before it is said."""


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
        mark: The log's length and head in one word, for a witness to keep.
        notes: What is odd and breaks nothing, each as a sentence: a clock that jumped.
        witnesses: How many marks kept elsewhere were found in the log.
        clips: How many clips of rollouts are the ones that were recorded.
        exploratory: Whether something that binds was changed after the first result.
    """

    lines: int
    head: str
    fingerprint: str
    blinded: bool
    verdict: Verdict | None
    faults: tuple[str, ...]
    table: str = ""
    mark: str = ""
    notes: tuple[str, ...] = ()
    witnesses: int = 0
    clips: int = 0
    exploratory: bool = False

    @property
    def sound(self) -> bool:
        """Whether everything holds."""
        return not self.faults

    def __str__(self) -> str:
        if self.faults:
            return "The study does not verify.\n" + "\n".join(f"  ! {fault}" for fault in self.faults)
        said = "replays the same" if self.verdict is None else f"replays the same: {self.verdict.value}"
        said += ", exploratory: a binding part of the plan was amended after the first result" * self.exploratory
        plan = f"plan {self.fingerprint[:16]}" + (f", exact table {self.table[:12]}" if self.table else "")
        clips = f"\nClips: {self.clips:,}, each as it was recorded." if self.clips else ""
        known = f"\nWitnesses: {formatting.counted(self.witnesses, 'mark')} kept elsewhere, all in the log."
        return (
            f"The study verifies: {formatting.counted(self.lines, 'line')}, unbroken; {plan}; the verdict {said}.\n"
            f"Head of the log: {self.lines}:{self.head}{clips}{known if self.witnesses else ''}"
        ) + "".join(f"\n  note: {note}" for note in self.notes)


def verify(
    store: Store | str | Path,
    *,
    heads: Iterable[str] = (),
    witnesses: Mapping[str, Iterable[Mark]] | None = None,
    clips: str | Path | Literal[False] | None = None,
) -> Verification:
    """Check a study's chain of lines, its plan's fingerprint, its seed, its verdict by a second path, and its clips.

    Args:
        store: Where the log is kept.
        heads: Marks that somebody wrote down: a line's number and at least 16 characters of its hash, such as
            ``12:9f2c51d0a7b3e466``, or a whole hash.
        witnesses: What others know of the log, by their name: the marks in a report, an anchor, a receipt.
        clips: The folder of its clips, if they are not where the store keeps them; False does not check them.

    Raises:
        StudyError: There is no study, or its store cannot be read at all.
    """
    told = {name: tuple(each) for name, each in (witnesses or {}).items()}
    kept = open_store(store) if isinstance(store, str | Path) else store
    try:
        lines = seeded(kept.read())
    except StoreError:
        raise
    except StudyError as error:  # a line that is no event any more
        return Verification(0, "", "", True, None, (str(error),))
    if not lines:
        raise StudyError("There is no study here yet; create one.")
    found, fold = verified_fold(lines, tuple(heads), told)
    if clips is False:
        return found
    results = sorted(fold.results.items())
    kept_clips = [(turn, one.clip) for turn, one in results if one.clip is not None and one.clip.sha256]
    wrong = faults_of(kept_clips, ClipFolder(kept.clips if clips is None else clips)) if kept_clips else []
    return replace(found, faults=(*found.faults, *wrong), clips=len(kept_clips) - len(wrong))


def verified(
    lines: list[Line], heads: tuple[str, ...] = (), witnesses: Mapping[str, tuple[Mark, ...]] | None = None
) -> Verification:
    """The same, of lines already read."""
    return verified_fold(lines, heads, witnesses)[0]


def verified_fold(
    lines: list[Line], heads: tuple[str, ...] = (), witnesses: Mapping[str, tuple[Mark, ...]] | None = None
) -> tuple[Verification, Fold]:
    """What was found, and what the lines amount to as far as they make sense."""
    faults = [f"{clause[0].upper()}{clause[1:]}." for clause in breaks(lines)]
    faults += _declared(lines) + _times(lines)
    told = {f"The mark {head}": (Mark.written(head),) for head in heads} | {**(witnesses or {})}
    faults += _contradicted(lines, told)
    fold, fault = taken(lines)
    if fault and not (faults and fold.last is None):
        faults.append(fault)
    verdict = None
    if fold.last is not None:
        again = None if fold.foreign else last_state(lines, fold)
        verdict = None if again is None else _verdict(again, fold)
        if fold.foreign:
            faults.append(f"{fold.foreign} The verdict was not replayed; chain, plan and seed were checked.")
        elif verdict is not fold.decision.verdict:
            faults.append("The verdict computed from the pairs in scheduled order differs from the study's own.")
        elif not fold.plan.in_pairs and _told(again) != _told(fold.decision.state):
            faults.append("What was found from the rounds in scheduled order differs from what the study says.")
    found = Verification(
        lines=len(lines),
        head=lines[-1].hash,
        fingerprint=str(lines[0].event.body.get("fingerprint", "")),
        blinded=fold.last is None or fold.blinded,
        verdict=None if fold.last is None or fold.blinded else verdict,
        faults=tuple(dict.fromkeys(faults)),
        table="" if fold.last is None else fold.table,
        mark=str(mark_of(lines)),
        notes=tuple(_jumps(lines)),
        witnesses=sum(len(each) for each in told.values()),
        exploratory=fold.last is not None and fold.exploratory,
    )
    return found, fold


def _contradicted(lines: list[Line], witnesses: Mapping[str, tuple[Mark, ...]]) -> list[str]:
    """Marks that were kept elsewhere and that the log contradicts; last, the first line that differs."""
    study, numbers = mark_of(lines).study, {line.hash: line.number for line in lines}
    known, end = {number: hash_ for hash_, number in numbers.items()}, lines[-1].number
    found, same, other = [], 0, end + 1
    for name, each in witnesses.items():
        ours = sorted((mark for mark in each if mark.study in ("", study)), key=lambda mark: mark.lines)
        if not ours:
            found.append(f"{name} is not a witness of this study: it holds no mark of its log.")
        wrong = [mark for mark in ours if not _stands(mark, known, numbers)]
        same = max([same, *(mark.lines for mark in ours if mark not in wrong)])
        other = min([other, *(mark.lines for mark in wrong if mark.lines)])
        for mark in wrong[:1]:
            if not mark.lines:
                found.append(f"No line of the log has the head {mark.head[:SHORT]} that was kept elsewhere.")
            elif mark.lines > end:
                found.append(f"{name} knows line {mark.lines}; the log ends at line {end}: it was cut off.")
            else:
                found.append(f"{name} knows another line {mark.lines}: the log was rewritten.")
    if other <= end:
        where = f"line {other}" if other == same + 1 else f"one of lines {same + 1} to {other}"
        found.append(f"The first line that differs is {where}.")
    return found


def _stands(mark: Mark, known: Mapping[int, str], numbers: Mapping[str, int]) -> bool:
    return known.get(mark.lines, "").startswith(mark.head) if mark.lines else mark.head in numbers


def _jumps(lines: list[Line]) -> list[str]:
    """Where the clock of whoever wrote went back: it had jumped ahead before, or was set back."""
    found = []
    for before, after in pairwise(lines):
        if after.event.schema == 1:
            continue
        try:
            back = datetime.fromisoformat(before.event.time) - datetime.fromisoformat(after.event.time)
        except (ValueError, TypeError):
            continue  # told as a fault
        if back > SKEW:
            found.append(
                f"Line {after.number} is dated {_minute(after.event.time)}, {_long(back)} before line {before.number}: "
                "the clock of one of the two writers was wrong. No lease depends on it."
            )
    return found


def _minute(time: str) -> str:
    return f"{time[:16].replace('T', ' ')} UTC"


def _long(span: timedelta) -> str:
    minutes = round(span.total_seconds() / 60)
    size, noun = (1, "minute") if minutes < 120 else (60, "hour") if minutes < 2880 else (1440, "day")
    return formatting.counted(round(minutes / size), noun)


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
    """The verdict by a path of its own; see `last_state`."""
    return _verdict(last_state(lines, fold), fold)


def _verdict(state: Any, fold: Fold) -> Verdict:
    """What a last state says of the first-named policy; it is better only where all have joined."""
    if fold.plan.in_pairs:
        return Verdict(state.verdict)
    met = len(state.rule.names) == len(fold.plan.policies)
    return state.of_first if met or state.of_first is Verdict.WORSE else Verdict.UNDECIDED


def _told(state: Any) -> tuple[Any, ...]:
    """What a state of a ranking has found."""
    return state.claim, state.ranks, state.rollouts, state.running


def last_state(lines: list[Line], fold: Fold) -> Any:
    """The last state by a path of its own: results as they stand, put in scheduled order, through the rule at once."""
    plan, standing, voided, gives_up = fold.declared, dict[int, float](), set[int](), True
    first_plan, joins, leaves, blocks = plan, dict[str, int](), dict[str, int](), 0
    for line in lines[1 : fold.version]:
        body = line.event.body
        if line.event.kind == "amended":
            added = plan.joining(body["changes"]) if blocks else ()
            joins |= dict.fromkeys(added, blocks)
            plan = plan.amended(body["changes"])
            first_plan = first_plan if added else plan
        elif line.event.kind == "leased":
            blocks = max(blocks, fold.turns[body["turn"]].block)
        elif line.event.kind == "recorded":
            standing[body["turn"]] = plan.value(body["result"])
        elif line.event.kind == "undone":
            del standing[body["turn"]]
        elif line.event.kind == "voided":
            voided.add(body["block"])
        elif line.event.kind == "withdrawn":
            leaves[body["policy"]] = blocks
        elif line.event.kind == "overridden":
            gives_up = False
    two = plan.in_pairs
    plan = plan if gives_up or not two else plan.amended({"futility": 0.0})
    rounds: list[tuple[int, dict[str, list[float]]]] = []
    for number in range(1, len(fold.blocks) + 1):
        turns = _pair(plan, fold, number) if two else fold.blocks[number]
        if number in voided:
            continue
        if not all(turn.number in standing for turn in turns):
            break
        names = dict.fromkeys(turn.policy for turn in turns)
        rows = {name: [standing[turn.number] for turn in turns if turn.policy == name] for name in names}
        rounds.append((number, rows))
    if two:
        first, second = plan.policies
        state = rule_of(plan).start()
        for _, rows in rounds:
            if state.finished:
                break
            state = state.rule.step(state, (rows[first][0], rows[second][0]))
        return state
    return _place(first_plan, rounds, joins, leaves, gives_up=gives_up)


def _pair(plan: Plan, fold: Fold, number: int) -> tuple[Turn, ...]:
    return block(plan, fold.seed.reveal(), number, 2 * number - 1, plan.policies, schema=fold.schema)


def _place(
    plan: Plan,
    rounds: list[tuple[int, dict[str, list[float]]]],
    joins: Mapping[str, int],
    leaves: Mapping[str, int],
    *,
    gives_up: bool,
) -> Any:
    state, waiting, going = rule_of(plan).start(), dict(joins), dict(leaves)
    for number, rows in [*rounds, (max([*joins.values(), *leaves.values()], default=0) + 1, {})]:
        for name in [name for name, last in going.items() if last < number and not state.finished]:
            del going[name]
            if name in state.leaders:
                state = state.rule.without_policy(state, name)
        for name in [name for name, last in waiting.items() if last < number or state.finished]:
            state = state.rule.with_policy(state, name)
            del waiting[name]
        if not gives_up and state.finished and state.paused and not state.complete:
            state = state.rule.override(state)
        if rows and not state.finished:
            state = state.rule.after_block(state, rows)
    return state


def _declared(lines: list[Line]) -> list[str]:
    body, found = lines[0].event.body, []
    if lines[0].event.kind != "started":
        return ["The log does not begin with its plan."]
    try:
        if Plan.from_dict(body["plan"]).fingerprint != body["fingerprint"]:
            found.append("The plan in the log does not match its fingerprint: it was changed by hand.")
    except (StudyError, ValueError, TypeError, KeyError, AttributeError) as error:
        found.append(f"The plan in the log is no longer a valid plan: {error}.")
    kept = lines[0].private
    seeds = ["" if kept is None else kept.reveal()]
    seeds += [line.event.body["seed"] for line in lines if line.event.kind == "unblinded"]
    if any(seed_hash(seed) != body["seed_hash"] for seed in seeds):
        found.append("The secret seed does not match the hash that was declared: the schedule cannot be trusted.")
    if not found and body.get("list") != declared_list(Plan.from_dict(body["plan"]), seeds[0]):
        found.append(NOT_DRAWN)
    return found


def _times(lines: list[Line]) -> list[str]:
    """Dates that are none, and in logs of the first version, which let none go back, those that do."""
    found = [
        f"Line {line.number} is dated {line.event.time!r}, which is not a date." for line in lines if not _dated(line)
    ]
    return found + [
        f"Line {after.number} is dated {after.event.time}, before the line that it follows."
        for before, after in pairwise(lines)
        if after.event.schema == 1 and after.event.time < before.event.time
    ]


def _dated(line: Line) -> bool:
    try:
        return datetime.fromisoformat(line.event.time).tzinfo is not None or line.event.schema == 1
    except ValueError:
        return line.event.schema == 1
