"""RoboArena's server: its list of A/B evaluations as JSON, two policies per session."""

from __future__ import annotations

from typing import Any

from surefoot.files.fields import filled, listed, may, need, number, objects, text, unique
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head

ABOUT = About(
    name="RoboArena server",
    file="its list of A/B evaluations (.json)",
    becomes="the session is shared by its two policies",
    example="surefoot rank evaluations.json",
)

SIDES = ("policyA", "policyB")


def recognises(head: Head) -> bool:
    """A list of evaluations with a policy A."""
    return SIDES[0] in next(iter(listed(head.json_object, "evaluations")), {})


def load(head: Head) -> Sheet:
    """One row per policy and session; the session is the condition that the two share."""
    rows: list[dict[str, Any]] = []
    for place, session in objects(need(head.document, "evaluations", list, head.name), head.name, "evaluations"):
        for side in SIDES:
            policy = may(session, side, dict, head.name, place)
            if policy is None:
                continue
            rows.append(
                {
                    "side": side,
                    "policy": need(policy, "name", str, head.name, f"{place}.{side}"),
                    "task": text(session.get("language_instruction")),
                    "condition": text(session.get("session_id")),
                    "session": text(session.get("session_id")),
                    "score": number(policy.get("partial_success"), head.name, f"{place}.{side}.partial_success"),
                    "evaluator": text(session.get("evaluator_name")),
                    "started_at": text(session.get("completion_time")),
                }
            )
    filled(rows, "the file must hold evaluated policies", head.name)
    known = [(row["session"], row.pop("side")) for row in rows]
    unique((key for key in known if key[0] is not None), "a session's side", head.name)
    note = "partial_success is the score, in [0, 1]."
    return Sheet(
        frame_of(rows, head.name),
        "RoboArena evaluations",
        (note,),
        named={"condition": "session"},
        roles={"condition": "unit"},
    )
