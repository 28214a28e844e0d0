"""Plans as commented TOML files."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot.core.record import Record
from surefoot.errors import StudyError
from surefoot.sequential import registry
from surefoot.study.amendments import DETAILS
from surefoot.study.plan_parts import Policy, Stage, Task, TimeBudget

if TYPE_CHECKING:
    from surefoot.study.plans import Plan

FIELDS = {
    "title": "What the study is called.",
    "policies": "The policies. Every verdict is about the first one.",
    "claim": '"either" asks which is better; "first better" asks only whether the first is, and needs fewer rollouts.',
    "measure": 'What a rollout gives: "success" (yes or no) or "score" (a number in a range fixed here).',
    "low": "The lowest score possible.",
    "high": "The highest score possible.",
    "levels": "The rubric, when a score can take only these values.",
    "rule": "The rule that decides:",
    "question": (
        "What is asked of three policies or more:\n"
        '  "ranking"       every place\n'
        '  "best"          which one is better than all others; of two, and of more than seven, perhaps tied\n'
        '  "best or tied"  one that no other is better than\n'
        '  "top 3"         three of them, each at least as good as every other one\n'
        '  "against NAME"  each against one of them'
    ),
    "within": "Of the best: how far below it the one named may be, such as 0.05; it needs fewer rollouts.",
    "budget": "Of the best: the most rollouts of all policies together, in place of a horizon.",
    "confidence": "The confidence of the verdict, over all looks together.",
    "horizon": "The most pairs that will be run. Choose too many rather than too few: a later increase "
    "is an amendment.",
    "margin": "A gain that would not matter (0 for none).",
    "futility": (
        "Stop, undecided, once the chance of a verdict is below this (0 for never). It saves a third of the pairs\n"
        "when the policies are equal, and costs about one percentage point of power."
    ),
    "environments": (
        "How the environment of each rollout is drawn:\n"
        '  "independent"  each rollout draws its own task and condition at random\n'
        '  "shared"       both policies of a pair meet the same task and condition\n'
        "                 (fewer rollouts if the outcomes of a pair are alike)\n"
        '  "stratified"   both policies of a pair meet the same kind of environment, each drawn afresh\n'
        '  "one"          every rollout is in the same environment'
    ),
    "tasks": "The tasks; the study mixes them.",
    "conditions": "The initial conditions, scenes or items; the study mixes them too. Names, how many there are (20),\n"
    'or every combination of some: {pose = 5, object = ["mug", "cup"]}.',
    "items": (
        "A declared list, in place of tasks and conditions: both policies meet each item once, in an order drawn at\n"
        "random when the study begins. The verdict is about what a complete run of this list would show. It takes far\n"
        "fewer pairs, and says nothing about other items. The list cannot be changed later."
    ),
    "helped_by": "A prediction of the result on each item, in the order of the list: from a simulator or "
    "earlier policies.",
    "blinded": "If true, the person who judges a rollout sees a code instead of the policy's name.",
    "time_limit": "Seconds a rollout may take.",
    "instruction": "What is read aloud, or sent to the policy, at the start of a rollout.",
    "reset": "What to do before each rollout, shown to the operator: a line, or a list of things to tick off.",
    "stages": "How far a rollout may get, each stage with the points that it has then, in order. The result is a\n"
    "score of these points; with a `success_stage` and no `measure` it is a success.",
    "success_stage": "The stage from which on a rollout is a success; the last, if left out.",
    "failure_tags": "What can go wrong, as tags to choose from.",
    "rigs": "The robots or stations. Both rollouts of a pair run on the same one, and each is met equally often.",
    "operators": "The people who run rollouts. Both rollouts of a pair are one person's, and each has equally many.",
    "safety_stops": "What ends a rollout for safety.",
    "on_safety_stop": "How to count such a rollout:\n"
    '  "failure"      a failure; of scores, the lowest\n'
    '  "void"         its pair does not count, and another is run',
    "take_over_minutes": "A device that was silent for so many minutes may have its turns taken over by another.",
    "void_reasons": "Why a pair may be declared not to count. Failing is not a reason.",
    "on_crash": (
        "How to count a rollout that crashed, ran out of time or gave an unreadable answer:\n"
        '  "failure"      a failure; of scores, the lowest\n'
        '  "void"         its pair does not count, and another is run\n'
        '  "retry"        it is run again, three times at most; the report says how often, policy by policy'
    ),
}
RANKED = {
    "futility": (
        "Pause two policies once the chance to tell them apart within the horizon is below this: 0.05 is careful,\n"
        "0.1 saves more, 0 for never. Pausing cannot make a claim wrong."
    ),
    "policies": "The policies. One more can be added while the study runs, by an amendment, with no more "
    "risk of error.",
}
"""What is said of three policies or more in another way."""
EXAMPLES = {
    "levels": [0.0, 0.5, 1.0],
    "tasks": ["place mug", "fold towel"],
    "conditions": ["lid left", "lid right"],
    "items": ["issue 1", "issue 2"],
    "time_limit": 90.0,
    "reset": "Put the mug on the blue mark.",
    "within": 0.05,
    "budget": 500,
    "instruction": "Put the mug on the shelf.",
    "stages": {"grasped": 0.25, "lifted": 0.5, "placed": 1.0},
    "success_stage": "placed",
    "failure_tags": ["missed grasp", "dropped"],
    "rigs": ["left arm", "right arm"],
    "operators": ["Ana", "Ben"],
    "safety_stops": ["joint limit", "person in the cell"],
}
OF_A_LAB = ("rigs", "operators", "stages", "success_stage", "failure_tags", "instruction", "safety_stops")
"""What a plan shows as an example where it is left out, with what belongs to it."""
TIME_FIELDS = {
    "rollout_minutes": "Minutes that a rollout takes.",
    "reset_minutes": "Minutes between two rollouts, to reset and to score.",
    "hours_a_day": "Hours a day.",
    "days": "Days.",
    "rigs_at_once": "How many rigs run at the same time.",
}
POLICY_FIELDS = {
    "name": "The policy's name.",
    "checkpoint": "What is served: a file, a folder, a URL, a commit or a model's name.",
    "sha256": "Its hash; computed when the study begins, where the checkpoint is a file or a folder.",
    "serving": "How it is served, such as {temperature = 0.0, action_horizon = 16}.",
    "rigs": "The rigs on which it may run; all, if left out.",
    "checkpoint_may_change": "Whether another checkpoint under this name is still this policy. If not, changing it "
    "after the first result makes the verdict exploratory.",
}
TASK_FIELDS = {
    "name": "The task's name.",
    "conditions": "Its own initial conditions: names, how many there are, or every combination of some.",
    "instruction": "What is read aloud, or sent to the policy.",
    "reset": "What to do before each rollout: a line, or a list of things to tick off.",
    "time_limit": "Seconds a rollout may take.",
    "stages": "How far a rollout may get: {grasped = 0.25, lifted = 0.5, placed = 1.0}.",
    "success_stage": "The stage from which on a rollout is a success; the last, if left out.",
    "failure_tags": "What can go wrong, as tags to choose from.",
}
PARTS = {
    "time_budget": ("The time that the study may take; it sets the horizon where none is given.", TIME_FIELDS),
    "policies": (
        "A policy; one such table for each, in place of `policies` above.",
        POLICY_FIELDS,
    ),
    "tasks": ("A task; one such table for each, in place of `tasks` above. What is left out is as above.", TASK_FIELDS),
}
"""The tables of a plan, which stand after its plain fields."""
HEAD = """\
# The plan of a study, for `surefoot study create`. All of it is fixed before the first rollout and fingerprinted.
# A later change of the question, the rule, the confidence, the horizon, the range, the tasks and their conditions and
# stages, the rigs or a checkpoint is possible (an amendment, with a reason), but after the first result it makes the
# verdict exploratory, and the report says so. A decision is final: after it, none of these can be changed.
"""


def written(plan: Plan) -> str:
    """The plan as commented TOML; what was left out stands as a commented example."""
    lines = [HEAD]
    for name, comment in FIELDS.items():
        if _hidden(plan, name):
            continue
        value, many = getattr(plan, name), not plan.in_pairs
        if many:  # what is a pair of two is a round of more
            comment = comment.replace("pair", "round").replace("both policies", "all policies")
            if name == "futility" or plan.joining({"policies": (*plan.policies, "another")}):
                comment = RANKED.get(name, comment)
        if name == "rule":
            comment = "\n".join((comment, *_rules(plan)))
        lines += [f"# {part}" for part in comment.split("\n")]
        left_out = name in EXAMPLES and not value
        shown = EXAMPLES[name] if left_out else value
        text = _toml_lines(value) if name in LONG and value else _toml(shown)
        lines += [f"{'# ' if left_out else ''}{name} = {text}", ""]
    return "\n".join([*lines, *_tables(plan)])


def _hidden(plan: Plan, name: str) -> bool:
    """Whether a field has nothing to say in this plan, or is said in a table below."""
    many, given = not plan.in_pairs, bool(getattr(plan, name))
    return (
        (plan.measure == "success" and name in ("low", "high", "levels"))
        or (name in ("low", "high", "levels") and any(task.stages for task in plan.described))
        or (name in ("within", "budget") and not plan.question.startswith("best"))
        or (name == "horizon" and (plan.budget is not None or plan.timed))
        or (name == "question" and not many)
        or (name == "items" and many)
        or (name == "helped_by" and not given)
        or (name in ("policies", "tasks") and bool(getattr(plan, DETAILS[name])))
        or (name == "on_safety_stop" and not plan.safety_stops)
        or (bool(plan.items) and name in ("rigs", "operators") and not given)
    )


LONG = ("items", "helped_by")


def _tables(plan: Plan) -> list[str]:
    """The tables: of the time budget, and of policies and tasks of which more is known than their names."""
    lines = _table("[time_budget]", "time_budget", [] if plan.time_budget is None else [plan.time_budget])
    for name, kind in (("policies", Policy), ("tasks", Task)):
        known = {part.name: part for part in getattr(plan, DETAILS[name])}
        lines += _table(f"[[{name}]]", name, [known.get(one) or kind(name=one) for one in getattr(plan, name) if known])
    return lines


def _table(head: str, name: str, parts: Sequence[Record]) -> list[str]:
    """The tables of one kind, or how one would look."""
    about, fields = PARTS[name]
    lines = [f"# {about}"]
    if not parts:
        example = TABLE_EXAMPLES[name].items()
        return [*lines, f"# {head}", *(f"# {field} = {_toml(value)}" for field, value in example), ""]
    for part in parts:
        values = {field: getattr(part, field) for field in fields}
        kept = {field: value for field, value in values.items() if value not in ("", (), None, False) and value != {}}
        lines += [head, *(f"{field} = {_toml(value)}" for field, value in kept.items()), ""]
    return lines


TABLE_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "time_budget": {"rollout_minutes": 1.5, "reset_minutes": 0.5, "hours_a_day": 6.0, "days": 1.0},
    "policies": {"name": "new", "checkpoint": "checkpoints/new", "serving": {"temperature": 0.0}},
    "tasks": {"name": "place mug", "conditions": 5, "instruction": "Put the mug on the shelf."},
}


def fields_in(text: str) -> dict[str, Any]:
    """The fields of a plan's file."""
    from surefoot.study.plans import Plan

    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"The plan must be TOML; {error}.") from None
    known = {field.name for field in dataclasses.fields(Plan)} - set(DETAILS.values())
    unknown = sorted(set(fields) - known)
    if unknown:
        raise StudyError(f"The plan must use known fields only; got {', '.join(unknown)}.")
    if "policies" not in fields:
        raise StudyError('The plan must name its `policies`, such as policies = ["new", "old"].')
    return fields


def documented() -> str:
    """Every field of a plan in one table of Markdown."""
    from surefoot.study.plans import Plan

    rows = [("field", "what it says", "if left out"), ("---",) * 3]
    kinds: dict[str, tuple[type[Record], Mapping[str, str]]] = {"": (Plan, FIELDS)}
    parts = {"time_budget": TimeBudget, "policies": Policy, "tasks": Task}
    kinds |= {f"{name}.": (kind, PARTS[name][1]) for name, kind in parts.items()}
    for prefix, (kind, texts) in kinds.items():
        usual = {one.name: one.default for one in dataclasses.fields(kind)}  # type: ignore[arg-type]
        rows += [
            (f"`{prefix}{name}`", " ".join(said.split()), _usual(usual[name], needed=name in NEEDED))
            for name, said in texts.items()
        ]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


NEEDED = ("name", "policies", "rollout_minutes")


def _usual(value: Any, *, needed: bool) -> str:
    if needed:
        return "must be given"
    if value is None:
        return "what fits, or none"
    return f"`{_toml(value)}`" if isinstance(value, str | bool | int | float) and value != "" else "none"


def _rules(plan: Plan) -> list[str]:
    """A line for every rule that fits."""
    those = registry.fitting(plan.setting)
    width = max(len(kind.name) for kind in those) + 2
    return [f"  {json.dumps(kind.name):<{width}}  {kind.summary}" for kind in those]


def _toml(value: Any) -> str:
    """One value; JSON writes strings, numbers and lists as TOML reads them, but for the delete character."""
    if isinstance(value, tuple) and value and isinstance(value[0], Stage):
        value = {stage.name: stage.points for stage in value}
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(key)} = {_toml(one)}' for key, one in value.items())}}}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    """A key as it is, or in quotes where it must be."""
    plain = name and all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in name)
    return name if plain else _toml(name)


def _toml_lines(values: Sequence[Any]) -> str:
    """A long list, a line for each value."""
    return "\n".join(["[", *(f"    {_toml(value)}," for value in values), "]"])
