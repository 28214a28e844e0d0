"""RoboArena session YAML: one session, several policies, one instruction."""

from __future__ import annotations

import re
from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import filled, text
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.yaml_files import value_of, yaml_of

ABOUT = About(
    name="RoboArena sessions",
    file="metadata.yaml of every session (extra: yaml)",
    becomes="the session is shared by its policies",
    example="surefoot rank evaluation_sessions/",
)

MARKS = re.compile(r"^(language_instruction|preference|evaluator_name|session_creation_timestamp)\s*:", re.MULTILINE)
POLICIES = re.compile(r"^policies\s*:", re.MULTILINE)
THRESHOLD = "binary_success is 1 exactly when partial_success is 1: success is the score cut at 1. It adds no evidence."


def recognises(head: Head) -> bool:
    """Policies under letters beside an instruction or a preference."""
    return bool(head.text) and not head.is_json and bool(POLICIES.search(head.text) and MARKS.search(head.text))


def load(head: Head) -> Sheet:
    """One row per policy run in the session; the session is the condition they share."""
    session = yaml_of(head)
    policies = session.get("policies")
    if not isinstance(policies, dict):
        raise DataError("`policies` must hold a policy per letter.", source=head.name)
    folder = head.path.absolute().parent.name
    rows: list[dict[str, Any]] = []
    for letter, policy in policies.items():
        if value_of(policy) is None:
            continue
        if not isinstance(policy, dict) or not value_of(policy.get("policy_name")):
            raise DataError(f"`policies.{letter}` must have a policy_name.", source=head.name)
        rows.append(
            {
                "policy": text(value_of(policy["policy_name"])),
                "task": text(value_of(session.get("language_instruction"))),
                "condition": folder,
                "session": folder,
                "success": _cell(policy, "binary_success"),
                "score": _cell(policy, "partial_success"),
                "duration": _cell(policy, "duration"),
                "evaluator": text(value_of(session.get("evaluator_name"))),
                "started_at": text(value_of(session.get("session_creation_timestamp"))),
            }
        )
    filled(rows, "the session must hold at least one policy", head.name)
    return Sheet(
        frame_of(rows, head.name),
        "RoboArena session",
        (THRESHOLD,),
        named={"condition": "session"},
        roles={"condition": "unit"},
    )


def _cell(policy: dict[str, Any], key: str) -> str | None:
    return text(value_of(policy.get(key)))
