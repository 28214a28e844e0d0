"""Changes of a plan after the first result, and which of them make the verdict exploratory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.study.plan_parts import Policy
    from surefoot.study.plans import Plan

BINDING = (
    "policies",
    "within",
    "budget",
    "measure",
    "levels",
    "low",
    "high",
    "rule",
    "claim",
    "question",
    "confidence",
    "horizon",
    "margin",
    "futility",
    "environments",
    "on_crash",
    "tasks",
    "conditions",
    "time_limit",
    "instruction",
    "stages",
    "success_stage",
    "rigs",
    "operators",
    "policy_details",
    "task_details",
    "on_safety_stop",
)
"""What may not change after the first result without making the verdict exploratory."""
UNBOUND: Mapping[int, frozenset[str]] = dict.fromkeys((1, 2), frozenset({"tasks", "conditions", "time_limit"}))
"""What logs of earlier schemas were free to change: they are read as they were declared."""
DETAILS = {"policies": "policy_details", "tasks": "task_details"}
"""Where what is known of a name stands, by the field with the names."""


def binding(names: Iterable[str], schema: int) -> list[str]:
    """Those of the names whose change after a result makes the verdict of a log of this schema exploratory."""
    return [name for name in names if name in BINDING and name not in UNBOUND.get(schema, ())]


def changed(before: Plan, after: Plan, changes: Iterable[str], run: Collection[str], schema: int) -> list[str]:
    """Those of the changed fields that make the verdict exploratory, now that there are results.

    Details bind where they touch what has been run: a policy's checkpoint and serving, unless its plan said
    beforehand that they may change, and what was asked of a task that has been run.

    Args:
        before: The plan before the change.
        after: The plan after it.
        changes: The fields that are changed.
        run: The tasks of which a rollout was handed out.
        schema: That of the log's first line.
    """
    found = binding(changes, schema)
    if "policy_details" in found and not _policies_differ(before, after):
        found.remove("policy_details")
    if "task_details" in found and not _tasks_differ(before, after, run):
        found.remove("task_details")
    if "tasks" in found and before.tasks == after.tasks and "task_details" not in found:
        found.remove("tasks")
    return found


def _policies_differ(before: Plan, after: Plan) -> bool:
    """Whether a policy is another one now."""
    for name in before.policies:
        old, new = before.policy(name), after.policy(name)
        if old.rigs != new.rigs or old.checkpoint_may_change != new.checkpoint_may_change:
            return True
    return bool(replaced(before, after))


def replaced(before: Plan, after: Plan) -> list[str]:
    """The policies whose checkpoint or serving is another now, although the plan did not say that it may change."""
    known = [(before.policy(name), after.policy(name)) for name in before.policies if name in after.policies]
    return [old.name for old, new in known if not old.checkpoint_may_change and _served(old) != _served(new)]


def _served(policy: Policy) -> Policy:
    return replace(policy, rigs=(), checkpoint_may_change=False)


def _tasks_differ(before: Plan, after: Plan, run: Collection[str]) -> bool:
    """Whether tasks, their conditions, or what was asked in one that has been run are others now.

    What is reset, and tags of failures, change no rollout's result.
    """
    if before.contexts != after.contexts:
        return True
    return any(
        replace(old, reset=(), failure_tags=()) != replace(new, reset=(), failure_tags=())
        for old, new in zip(before.described, after.described, strict=True)
        if old.name in run or not before.tasks
    )


def normalised(plan: Plan, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes with tables of policies and tasks taken apart: names that stay as they are are no change of them."""
    found = dict(changes)
    for listed, details in DETAILS.items():
        if listed in changes:
            after = plan.amended({listed: changes[listed]})
            if getattr(after, details) != getattr(plan, details):
                found[details] = getattr(after, details)
            found[listed] = getattr(after, listed)
            if getattr(after, listed) == getattr(plan, listed) and details in found:
                del found[listed]
    return found
