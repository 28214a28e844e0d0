"""How did a study depart from its plan? Each departure is a value with its sentence; none of them is hidden.

While a study is blinded the sentences name no policy and no outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from surefoot.core.formatting import counted, one_line
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.study.amendments import DETAILS, changed, replaced
from surefoot.study.conduct import fates
from surefoot.study.decision import with_changes
from surefoot.study.events import Event
from surefoot.study.leases import known_as
from surefoot.study.plan_parts import Stage
from surefoot.study.plans import Plan
from surefoot.study.recording import CRASHED, SAFETY_STOP
from surefoot.study.state import Fold

MOST = 12
"""Turns named one by one in a sentence; beyond, they are counted."""


@dataclass(frozen=True, slots=True)
class Deviation(Record):
    """One departure from the plan.

    Attributes:
        kind: What it is: "fault", "amendment", "policy added", "withdrawal", "unblinding", "override", "void",
            "seen void", "crash", "undo", "stand-in", "over time", "not needed", "late", "refusal", "twice", or "note"
            for what verification remarks. Sentences of reports before schema 2 are notes.
        says: The sentence.
        values: The turns, counts and names in it; while a study is blinded none tells of a policy or an outcome.
    """

    kind: str
    says: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "says", one_line(self.says))  # reasons and names of the log add no lines of their own

    def __hash__(self) -> int:
        return hash((self.kind, self.says))

    def __str__(self) -> str:
        return self.says


def from_earlier(said: Sequence[Any]) -> list[Any]:
    """Deviations as JSON has them, where earlier versions wrote sentences."""
    return [Deviation("note", one).to_dict() if isinstance(one, str) else one for one in said]


def deviations(fold: Fold, faults: Sequence[str] = ()) -> tuple[Deviation, ...]:
    """Every departure from the plan, the gravest first.

    Args:
        fold: What the log amounts to.
        faults: What verification found.
    """
    found = [Deviation("fault", f"The log does not verify: {fault}", {"fault": fault}) for fault in faults]
    found += _amendments(fold) + _withdrawals(fold) + _unblinding(fold) + _overrides(fold) + _voids(fold)
    found += (
        _crashes(fold) + _undos(fold) + _stood_in(fold) + _over_time(fold) + _late(fold) + _twice(fold) + _refused(fold)
    )
    return tuple(found)


def worst_case(fold: Fold) -> tuple[Verdict, ...]:
    """The verdicts, had every pair voided after an outcome was seen counted against the policy that won.

    Against the first-named policy if it was found better, for it if it was found worse; both when nothing was decided.
    """
    verdict = fold.decision.verdict
    sides = {Verdict.BETTER: (True,), Verdict.WORSE: (False,)}.get(verdict, (True, False))
    return tuple(_had_they_counted(fold, against=side) for side in sides)


def _had_they_counted(fold: Fold, *, against: bool) -> Verdict:
    plan, found = fold.plan, fold.beginning
    ends = {True: plan.low, False: plan.high}
    for number, turns in sorted(fold.blocks.items()):
        void = fold.voids.get(number)
        found = with_changes(found, fold.joins, fold.leaves, number - 1)
        if fold.overridden and found.ending == "futility":
            found = found.overridden()
        if found.finished:
            break
        if void is not None and void.body["seen"]:
            worst = {name: ends[(name == plan.policies[0]) is against] for name in plan.policies}
            found = found.after(
                {name: [worst[name]] * often for name, often in Counter(t.policy for t in turns).items()}
            )
        elif void is None:
            if not all(turn.number in fold.results for turn in turns):
                break
            found = found.after(fold.rows(number))
    return found.verdict


def _amendments(fold: Fold) -> list[Deviation]:
    found, plan, results, begun = [], fold.declared, 0, False
    times: Counter[str] = Counter()
    run: set[str] = set()
    for event in fold.history:
        results += event.kind == "recorded"  # those undone since were seen all the same
        begun = begun or event.kind == "leased"
        run |= {fold.turns[event.body["turn"]].task} if event.kind == "leased" else set()
        if event.kind != "amended":
            continue
        after = plan.amended(event.body["changes"])
        added = plan.joining(event.body["changes"]) if begun else ()
        if added:
            found.append(_added(fold, event, added, results))
            plan = after
            continue
        parts = [part for name in event.body["changes"] for part in _changed(name, plan, after)]
        when = f"after {counted(results, 'result')}" if results else "before the first result"
        binds = bool(results) and bool(changed(plan, after, event.body["changes"], run, fold.schema))
        therefore = " The verdict is exploratory." if binds else ""
        for name in replaced(plan, after) if results else ():
            times[name] += 1
            therefore += (
                f" From then on tables call it {name}, checkpoint {times[name] + 1}; "
                f"what the rule says of {name} is of all its checkpoints together."
            )
        said = f"The plan was amended {when} ({_day(event)}): {'; '.join(parts)}. {_why(event)}{therefore}"
        told = {"changes": dict(event.body["changes"]), "results": results, "binding": binds}
        found.append(Deviation("amendment", said, told))
        plan = after
    return found


def _changed(name: str, before: Plan, after: Plan) -> list[str]:
    """What a change of one field came to: of what is known of policies and tasks, field by field."""
    if name not in DETAILS.values():
        return [f"{name.replace('_', ' ')} from {_shown(getattr(before, name))} to {_shown(getattr(after, name))}"]
    known = [{part.name: part for part in getattr(plan, name)} for plan in (before, after)]
    found, left = [], getattr(after, next(listed for listed, details in DETAILS.items() if details == name))
    for each in (key for key in dict.fromkeys(key for parts in known for key in parts) if key in left):
        old, new = ({} if each not in parts else parts[each].to_dict() for parts in known)
        found += [
            f"{field.replace('_', ' ')} of {each} from {_shown(old.get(field))} to {_shown(new.get(field))}"
            for field in dict.fromkeys((*old, *new))
            if field not in ("type", "schema", "name") and (old.get(field) or None) != (new.get(field) or None)
        ]
    return found


def _added(fold: Fold, event: Event, added: tuple[str, ...], results: int) -> Deviation:
    """Who was added while the study ran, when, and what it means for the promise."""
    names = " and ".join(added)
    joined = fold.joins[added[0]]
    said = (
        f"{names} {_was(len(added))} added after {counted(results, 'result')} ({_day(event)}), to run from round "
        f"{joined + 1} on. The promise holds as declared: every claim made before stays, and all policies are compared "
        f"under the same total error. {_why(event)}"
    )
    return Deviation("policy added", said, {"policies": added, "results": results, "round": joined + 1})


def _withdrawals(fold: Fold) -> list[Deviation]:
    """Policies of a race that ran no more, when, and what it means for the promise."""
    found, results = [], 0
    for event in fold.history:
        results += event.kind == "recorded"
        if event.kind == "withdrawn":
            name = event.body["policy"]
            said = (
                f"{name} was withdrawn after {counted(results, 'result')} ({_day(event)}). It may still be the best "
                f"one, and every later claim is made unless it is. {_why(event)}"
            )
            found.append(Deviation("withdrawal", said, {"policy": name, "results": results}))
    return found


def _unblinding(fold: Fold) -> list[Deviation]:
    if fold.unblinded is None or not fold.plan.blinded or not fold.early:
        return []
    place = fold.history.index(fold.unblinded)
    before = sum(event.kind == "recorded" for event in fold.history[:place])
    after = sum(event.kind == "recorded" for event in fold.history[place:])
    known = f"; {counted(after, 'result')} after that {_was(after)} not blind" if after else ""
    when = f"before it was decided, after {counted(before, 'result')}"
    said = f"The study was unblinded {when} ({_day(fold.unblinded)}){known}. {_why(fold.unblinded)}"
    return [Deviation("unblinding", said, {"before": before, "after": after})]


def _overrides(fold: Fold) -> list[Deviation]:
    found = []
    for place, event in enumerate(fold.history):
        if event.kind == "overridden":
            results = sum(one.kind == "recorded" for one in fold.history[:place])
            holds = "The verdict holds as declared; the interval of the gain is the one that holds at any moment."
            if not fold.plan.in_pairs:
                holds = "Every claim of the ranking holds as declared."
            after = f"after {counted(results, 'result')} ({_day(event)}). {holds} {_why(event)}"
            said = f"The rule had stopped for futility, but the study was continued {after}"
            found.append(Deviation("override", said, {"results": results}))
    return found


def _voids(fold: Fold) -> list[Deviation]:
    if not fold.voids:
        return []
    unit = fold.plan.unit
    reasons = _tallied(event.body["reason"] for event in fold.voids.values())
    total = f"{counted(len(fold.voids), unit)} {_was(len(fold.voids))} voided ({reasons})"
    seen = [event for event in fold.voids.values() if event.body["seen"]]
    if fold.blinded:
        said = f"{total}; {len(seen)} of them after an outcome had been seen."
        return [Deviation("void", said, {"voided": len(fold.voids), "seen": len(seen)})]
    of = Counter(fold.turns[event.body["turn"]].policy for event in fold.voids.values())
    said = f"{total}, by the policy whose rollout was voided: {_tallied(of)}."
    found = [Deviation("void", said, {"voided": len(fold.voids), "seen": len(seen), "policies": dict(of)})]
    if seen:
        turns = ", ".join(f"{event.body['turn']} ({fold.turns[event.body['turn']].policy})" for event in seen[:MOST])
        more = f" and {len(seen) - MOST} more" if len(seen) > MOST else ""
        verdict, worst = fold.decision.verdict, worst_case(fold)
        other = next((one for one in worst if one is not verdict), None)
        then = "would be the same" if other is None else f"would be {other.value!r} instead of {verdict.value!r}"
        said = (
            f"{counted(len(seen), unit)} {_was(len(seen))} voided after an outcome had been seen (turn {turns}{more}). "
            f"If {'it' if len(seen) == 1 else 'they'} had counted in the worst way for the verdict, the verdict {then}."
        )
        told = {"turns": tuple(event.body["turn"] for event in seen), "worst": tuple(one.value for one in worst)}
        found.append(Deviation("seen void", said, told))
    return found


def _crashes(fold: Fold) -> list[Deviation]:
    """Rollouts that gave no result or were stopped for safety, whatever the plan counts them as."""
    ended = _ended(fold)
    stopped = [one for one in ended if one[1] == SAFETY_STOP]
    crashed = [one for one in ended if one[1] != SAFETY_STOP]
    return [
        *_without_result(fold, crashed, fold.plan.on_crash, "gave no result"),
        *_without_result(fold, stopped, fold.plan.on_safety_stop, "ended by a safety stop"),
    ]


def _ended(fold: Fold) -> list[tuple[str, str]]:
    """The policy of each such rollout, and how it ended."""
    ended: list[tuple[str, str]] = []
    for event in fold.history:
        if event.kind == "crashed" or (event.kind == "recorded" and event.body.get("ended", "finished") != "finished"):
            ended.append((fold.turns[event.body["turn"]].policy, event.body["ended"]))
        elif event.kind == "voided" and event.body["reason"] == CRASHED:
            ended.append((fold.turns[event.body["turn"]].policy, CRASHED))
    return ended


def _without_result(fold: Fold, ended: list[tuple[str, str]], counted_as: str, what: str) -> list[Deviation]:
    if not ended:
        return []
    counts = {"failure": "a failure", "void": "no rollout: the pair is void", "retry": "one to run again"}
    means = f"the plan counts that as {counts[counted_as]}"
    total = f"{counted(len(ended), 'rollout')} {what}"
    if fold.blinded:
        return [Deviation("crash", f"{total}; {means}.", {"crashed": len(ended)})]
    by = "; ".join(
        f"{policy}: {_told(Counter(how for name, how in ended if name == policy))}"
        for policy in fold.plan.policies
        if any(name == policy for name, _ in ended)
    )
    told = {"crashed": len(ended), "policies": dict(Counter(name for name, _ in ended))}
    return [Deviation("crash", f"{total} ({by}); {means}.", told)]


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {how}" for how, count in counts.most_common())


def _stood_in(fold: Fold) -> list[Deviation]:
    """Results that somebody else than the holder recorded, with the reason."""
    events = [event for event in fold.history if event.kind == "recorded" and event.body.get("reason")]
    return [
        Deviation(
            "stand-in",
            f"Turn {event.body['turn']} was recorded by {known_as(event.author) or event.role} instead of its holder. "
            f"{_why(event)}",
            {"turn": event.body["turn"]},
        )
        for event in events
    ]


def _undos(fold: Fold) -> list[Deviation]:
    events = [event for event in fold.history if event.kind == "undone"]
    if fold.blinded and events:
        said = f"{counted(len(events), 'result')} {_was(len(events))} undone ({_tallied(_reason(e) for e in events)})."
        return [Deviation("undo", said, {"undone": len(events)})]
    return [_undo(fold, event) for event in events]


def _undo(fold: Fold, event: Event) -> Deviation:
    number, attempt = event.body["turn"], event.body["attempt"]
    given = {
        (other.body["turn"], other.body["attempt"]): _result(other.body["result"])
        for other in fold.history
        if other.kind == "recorded"
    }
    after = given.get((number, attempt + 1))
    then = f"and recorded again as {after}" if after else "and not recorded again"
    said = f"Turn {number} ({fold.turns[number].policy}): {given[number, attempt]} was undone {then}. {_why(event)}"
    return Deviation("undo", said, {"turn": number, "policy": fold.turns[number].policy, "again": bool(after)})


def _over_time(fold: Fold) -> list[Deviation]:
    limit = fold.plan.time_limit
    if limit is None:
        return []
    over = [one for one in fold.results.values() if one.duration is not None and one.duration > limit]
    if not over:
        return []
    told = {"results": len(over), "limit": limit}
    text = f"{counted(len(over), 'result')} took longer than the time limit of {limit:g} s"
    if fold.blinded or len(over) > MOST:
        by = "" if fold.blinded else f": {_tallied(fold.turns[one.turn].policy for one in over)}"
        return [Deviation("over time", f"{text}{by}.", told)]
    turns = ", ".join(f"turn {one.turn} ({fold.turns[one.turn].policy}, {one.duration:.1f} s)" for one in over)
    return [Deviation("over time", f"{text}: {turns}.", told)]


def _late(fold: Fold) -> list[Deviation]:
    """Results that the rule did not look at, because it decided at an earlier pair: in before it did, and after."""
    used, last = set(fold.counted), max(fold.counted, default=0)
    surplus = [number for number, fate in fates(fold).items() if fate == "surplus"]
    later = {number for number in surplus if fold.turns[number].block > last}
    places = {event.body["turn"]: place for place, event in enumerate(fold.history) if event.kind == "recorded"}
    decided = max((place for number, place in places.items() if fold.turns[number].block in used), default=0)
    before = sum(places[number] < decided for number in later)
    unit, found = fold.plan.unit, list[Deviation]()
    if dropped := len(surplus) - len(later):
        said = (
            f"{counted(dropped, 'result')} did not count: the {unit} was handed out before the rule dropped the policy."
        )
        found.append(Deviation("not needed", said, {"results": dropped}))
    if before:
        ended = "decided" if fold.decision.ending == "verdict" else "ended"
        said = (
            f"{counted(before, 'result')} of later {unit}s {_was(before)} recorded while an earlier {unit} was still "
            f"being run. The rule reads {unit}s in the order in which they were scheduled and {ended} at {unit} "
            f"{last}, so {'it was' if before == 1 else 'they were'} not needed and did not count."
        )
        found.append(Deviation("not needed", said, {"results": before, "decided at": last}))
    if len(later) > before:
        said = f"{counted(len(later) - before, 'result')} came in after the decision and did not count."
        found.append(Deviation("late", said, {"results": len(later) - before}))
    return found


def _refused(fold: Fold) -> list[Deviation]:
    """Results of a turn that had gone to another holder meanwhile."""
    events = [event for event in fold.history if event.kind == "refused"]
    if fold.blinded and events:
        turns = ", ".join(str(event.body["turn"]) for event in events[:MOST])
        told = f"{counted(len(events), 'result')} came after the turn had gone to another holder"
        said = f"{told} and {_was(len(events))} refused (turn {turns})."
        return [Deviation("refusal", said, {"turns": tuple(event.body["turn"] for event in events)})]
    return [
        Deviation(
            "refusal",
            f"Turn {event.body['turn']} ({fold.turns[event.body['turn']].policy}): {_result(event.body['result'])} of "
            f"{known_as(event.body['holder'])} came after the turn had gone to another holder, and was refused.",
            {"turn": event.body["turn"]},
        )
        for event in events
    ]


def _twice(fold: Fold) -> list[Deviation]:
    """Turns that went to a second holder although the first may have run them: those it had in hand, not in reserve.

    A device runs its turns in order, so of several that it held when its time ran out, it may have run the first only.
    """
    hand: dict[str, list[int]] = {}  # the turns that each holder has, in the order in which it runs them
    again = set()
    for event in fold.history:
        body = event.body
        if event.kind == "leased":
            number, holder = body["turn"], body["holder"]
            back = body["until"] <= event.time if event.schema == 1 else not body["seconds"]
            for other, turns in hand.items():
                if number not in turns:
                    continue
                if not back and other != holder and min(turns) == number:
                    again.add(number)
                    turns.clear()  # what else they held, they had not come to
                else:
                    turns.remove(number)
            if not back:
                hand.setdefault(holder, []).append(number)
        elif event.kind in ("recorded", "voided"):
            settled = [body["turn"]] if event.kind == "recorded" else [t.number for t in fold.blocks[body["block"]]]
            hand = {holder: [one for one in turns if one not in settled] for holder, turns in hand.items()}
    if not again:
        return []
    shown = ", ".join(str(number) for number in sorted(again)[:MOST])
    said = (
        f"{counted(len(again), 'turn')} went to another holder when the first one's time had run out, and may "
        f"have been run twice (turn {shown}): only a result of the holder who had it last counts."
    )
    return [Deviation("twice", said, {"turns": tuple(sorted(again))})]


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _tallied(words: Iterable[str]) -> str:
    return ", ".join(f"{word} {count}" for word, count in Counter(words).most_common())


def _reason(event: Event) -> str:
    return str(event.body["reason"]).strip()


def _why(event: Event) -> str:
    by = f" ({event.author})" if event.author else ""
    return f"Reason{by}: {_reason(event).rstrip('.')}."


def _day(event: Event) -> str:
    return f"{event.time[:16].replace('T', ' ')} UTC"


def _result(value: object) -> str:
    return {True: "a success", False: "a failure"}[value] if isinstance(value, bool) else f"{value:g}"


def _shown(value: object) -> str:
    if isinstance(value, Stage):
        return f"{value.name} {value.points:g}"
    if isinstance(value, Mapping) and "points" in value:  # a stage
        return f"{value['name']} {value['points']:g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_shown(one)}" for name, one in value.items()) or "nothing"
    if isinstance(value, tuple | list):
        return ", ".join(map(_shown, value)) or "nothing"
    return f"{value:g}" if isinstance(value, float) else str(value or "nothing")
