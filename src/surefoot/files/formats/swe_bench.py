"""SWE-bench reports: which instances a system resolved, `<model>.<run>.json`, and the leaderboard's results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import filled, number
from surefoot.files.importers import ITEMS, About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.table.findings import Finding, own_total

ABOUT = About(
    name="SWE-bench",
    file="<model>.<run>.json, the harness's report",
    becomes="an instance is the condition; errors and empty patches are failures; what was not submitted was not run",
    example="surefoot compare new.run1.json old.run1.json",
)

FAILED = {"unresolved_ids": None, "empty_patch_ids": "empty patch", "error_ids": "error"}
"""Lists of a run's report whose instances failed, and how; the later one is the more telling."""
UNKNOWN = "infra_failure_ids"
STAGES = (
    *("generated", "with_logs", "applied", "no_generation", "no_apply", "install_fail", "reset_failed"),
    *("test_errored", "test_timeout", "no_logs"),
)
"""Lists of the older report, of instances that were attempted."""
ALL_RUN = frozenset(("generated", "applied", "with_logs"))
"""Without one of these, the instances that were tried and not resolved are listed nowhere."""


def recognises(head: Head) -> bool:
    """Lists of instances by how they ended, or instances that say whether they are resolved."""
    document = head.json_object
    lists = {name for name, value in document.items() if isinstance(value, list)}
    if "resolved_ids" in lists or ("resolved" in lists and bool(lists & set(STAGES))):
        return True
    said = [isinstance(one, dict) and isinstance(one.get("resolved"), bool) for one in document.values()]
    return bool(said) and all(said)


def load(head: Head) -> Sheet:
    """One row per instance that was submitted."""
    document = head.json_object
    notes: list[str] = []
    if "resolved_ids" in document:
        ended = _run(document, notes, head.name)
    elif isinstance(document.get("resolved"), list):
        ended = _stages(document, head.name)
    else:
        ended = {name: (one["resolved"], None) for name, one in document.items()}
    filled(ended, "the report must hold instances that were submitted", head.name)
    rows = [
        {"condition": name, "success": success, "failure": failure}
        for name, (success, failure) in sorted(ended.items())
    ]
    failed = sum(row["failure"] in FAILED.values() and row["failure"] is not None for row in rows)
    if failed:
        notes.append(f"{failed:,} instances with an empty patch or an error count as failures.")
    return Sheet(
        frame_of(rows, head.name),
        "SWE-bench report",
        tuple(notes),
        _totals(document, ended, head.name),
        ordered=False,
        named={"policy": "model", "condition": "instance"},
        roles=ITEMS,
    )


Ended = dict[str, tuple[bool | None, str | None]]
"""How each instance ended: resolved or not, none where it is not known, and why it failed."""


def _run(document: Mapping[str, Any], notes: list[str], source: str) -> Ended:
    ended: Ended = {}
    for listed, why in FAILED.items():
        ended |= dict.fromkeys(_ids(document, listed, source), (False, why))
    resolved = _ids(document, "resolved_ids", source)
    twice = [name for name in resolved if name in ended]
    if twice:
        raise DataError(
            f"an instance must be listed as resolved or as unresolved; {twice[0]!r} is listed as both.", source=source
        )
    unknown = [name for name in _ids(document, UNKNOWN, source) if name not in resolved]
    ended |= dict.fromkeys(unknown, (None, "infrastructure failure"))
    ended |= dict.fromkeys(resolved, (True, None))
    if unknown:
        notes.append(
            f"{len(unknown):,} instances were hit by a failure of the infrastructure: their outcome is not known."
        )
    away = len(_ids(document, "incomplete_ids", source))
    if away:
        notes.append(f"{away:,} instances were not submitted: they were not run and are not counted.")
    lost = [name for name in _ids(document, "submitted_ids", source) if name not in ended]
    if lost:
        notes.append(f"{len(lost):,} submitted instances are in no list of outcomes; they are left out.")
    return ended


def _stages(document: Mapping[str, Any], source: str) -> Ended:
    if not ALL_RUN & set(document):
        raise DataError(
            "the report must list the instances that were tried; it lists the resolved ones and those without a patch "
            "or logs. Read the run's own report, <model>.<run>.json, which lists all.",
            source=source,
        )
    ended: Ended = {name: (False, None) for stage in STAGES for name in _ids(document, stage, source)}
    ended |= dict.fromkeys(_ids(document, "no_generation", source), (False, "empty patch"))
    return ended | dict.fromkeys(_ids(document, "resolved", source), (True, None))


def _ids(document: Mapping[str, Any], listed: str, source: str) -> list[str]:
    found = document.get(listed) or []
    if not isinstance(found, list) or not all(isinstance(name, str) and name for name in found):
        raise DataError(f"`{listed}` must be a list of instances; got {str(found)[:60]!r}.", source=source)
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise DataError(f"`{listed}` must name an instance once; got {twice!r} twice.", source=source)
    return found


def _totals(document: Mapping[str, Any], ended: Ended, source: str) -> tuple[Finding, ...]:
    found = []
    for name in ("resolved", *(listed.removesuffix("_ids") for listed in FAILED)):
        says = number(document.get(f"{name}_instances"), source, f"{name}_instances")
        listed = document.get(f"{name}_ids")
        counted = len(listed) if isinstance(listed, list) else sum(success is True for success, _ in ended.values())
        if says is not None and says != counted:
            found.append(own_total(f"{name}_instances of {source}", says, counted))
    return tuple(found)
