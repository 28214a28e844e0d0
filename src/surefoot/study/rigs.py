"""Rigs and operators of each pair.

Both rollouts of a pair share their rig and their operator, so they are not independent: only rules for shared or
stratified environments hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _check

if TYPE_CHECKING:
    from surefoot.study.plans import Plan


def stations(plan: Plan) -> tuple[tuple[str, str], ...]:
    """Every (rig, operator) that a pair may meet; one empty one where neither is named."""
    shared = [rig for rig in plan.rigs if all(rig in (one.rigs or plan.rigs) for one in plan.policy_details)]
    return tuple((rig, operator) for rig in shared or ("",) for operator in plan.operators or ("",))


def check_rigs(plan: Plan) -> None:
    """Refuse rigs that cannot be met, and environments that a pair on one rig contradicts.

    Raises:
        ValueError: A policy names a rig that the plan does not; no policy may use a rig; no rig is open to all; or the
            environments of a pair are said to be independent although it shares its rig or its operator.
    """
    for policy in plan.policy_details:
        if strange := [rig for rig in policy.rigs if rig not in plan.rigs]:
            hint = f"{policy.name} may run on {', '.join(policy.rigs)}."
            raise _check.refused("rigs", f"name {', '.join(strange)}", list(plan.rigs), hint)
    allowed = {name: plan.policy(name).rigs or plan.rigs for name in plan.policies}
    if unused := [rig for rig in plan.rigs if not any(rig in rigs for rigs in allowed.values())]:
        hint = "No policy may run there."
        raise _check.refused("rigs", f"leave out {', '.join(unused)}", list(plan.rigs), hint)
    if plan.rigs and not any(all(rig in rigs for rigs in allowed.values()) for rig in plan.rigs):
        told = "; ".join(f"{name}: {', '.join(rigs)}" for name, rigs in allowed.items())
        hint = "Both rollouts of a pair run on one rig."
        raise _check.wrong("rigs", f"name one on which every policy may run; got {told}.", plan.rigs, hint)
    met, places = len(plan.contexts), len(plan.stations)
    if plan.environments == "one" and met * places > 1:
        hint = "Use 'shared' (both policies meet the same one), or 'independent'."
        if places > 1:
            hint = "Use 'shared' (both policies meet the same one)."
        what = f"{met} tasks and conditions" if places == 1 else f"{met * places} rigs, operators, tasks and conditions"
        raise _check.wrong("environments", f"not be 'one' with {what} to run in.", plan.environments, hint)
    if plan.environments == "independent" and places > 1:
        hint = "Use 'shared', or 'stratified' where each rollout draws its own condition within its task."
        must = "not be 'independent' where both rollouts of a pair share their rig or operator"
        raise _check.refused("environments", must, plan.environments, hint)
