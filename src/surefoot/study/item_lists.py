"""The list that a study is about, and what is fixed of it before the first outcome.

A list is met in an order that the secret seed draws when the study begins. The first line of the log holds the hashes
of the list and of that order; a log whose list or order is another does not open.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from surefoot import _check

if TYPE_CHECKING:
    from surefoot.study.plans import Plan

NOT_DRAWN = "The list or its order in the log is not the one that was declared and drawn: it was changed by hand."


def checked_items(value: Any) -> tuple[str, ...]:
    """The items of a list, each once."""
    listed = isinstance(value, tuple | list)
    odd = next((one for one in value if not (isinstance(one, str) and one.strip())), None) if listed else value
    if not listed or odd is not None:
        raise _check.mistyped("items", "be a list of non-empty names", odd)
    seen: dict[str, int] = {}
    for place, item in enumerate(value, 1):
        if item in seen:
            raise _check.wrong("items", f"name each item once; got {item!r} at places {seen[item]} and {place}.")
        seen[item] = place
        if any("\ud800" <= letter <= "\udfff" for letter in item):
            raise _check.refused("items", "be whole Unicode text", item)
    return tuple(value)


def check_list(plan: Plan) -> None:
    """Refuse what a declared list does not admit."""
    if len(plan.policies) != 2:
        hint = "More can be ranked without a list."
        raise _check.wrong("items", f"be run by two policies; got {len(plan.policies)} policies.", None, hint)
    if plan.tasks or plan.conditions:
        raise _check.wrong(("tasks", "conditions"), "be left out with `items`: the list has them all.")
    if plan.environments != "shared":
        must = "be 'shared' with `items`: both policies of a pair meet the same item"
        raise _check.refused("environments", must, plan.environments)
    if plan.on_crash == "void":
        hint = "An item of a list is never left out."
        raise _check.refused("on_crash", "be 'failure' or 'retry' with `items`", plan.on_crash, hint)
    if plan.on_safety_stop == "void":
        hint = "An item of a list is never left out."
        raise _check.refused("on_safety_stop", "be 'failure' with `items`", plan.on_safety_stop, hint)
    if plan.void_reasons:
        hint = "An item of a list is never left out: undo a wrong result and run the item again."
        raise _check.refused("void_reasons", "be left out with `items`", list(plan.void_reasons), hint)
    if plan.horizon > len(plan.items):
        raise _check.refused("horizon", f"be at most {len(plan.items):,}, the items of the list", plan.horizon)


def checked_predictions(plan: Plan) -> tuple[float, ...]:
    """The predictions of a plan, one for each item."""
    given = plan.helped_by
    if not isinstance(given, tuple | list):
        raise _check.mistyped("helped_by", "hold one number for each item", given)
    column = tuple(_check.real(value, "helped_by") for value in given)
    if column and len(column) != len(plan.items):
        hint = "Predictions made for other items are no help."
        must = f"hold one number for each of the {len(plan.items):,} items of the list"
        raise _check.refused("helped_by", must, len(column), hint)
    for item, value in zip(plan.items, column, strict=False):
        if not plan.low <= value <= plan.high:
            must = f"lie in the range [{plan.low:g}, {plan.high:g}]"
            raise _check.wrong("helped_by", f"{must}; got {value:g} for {item!r}.")
    return column


def list_hash(plan: Plan) -> str:
    """The SHA-256 of the items, in the order of the list."""
    return _hash(plan.items)


def declared_list(plan: Plan, seed: str) -> dict[str, Any] | None:
    """What the first line of the log says of a list: its length, and the hashes of it, its order and predictions."""
    from surefoot.study.schedules import drawn_order

    if not plan.items:
        return None
    order = drawn_order(seed, len(plan.items))
    said = {"length": len(plan.items), "items": list_hash(plan), "order": _hash([plan.items[at] for at in order])}
    return {**said, **({"helped_by": _hash(plan.helped_by)} if plan.helped_by else {})}


def _hash(values: Any) -> str:
    return hashlib.sha256(json.dumps(list(values)).encode()).hexdigest()
