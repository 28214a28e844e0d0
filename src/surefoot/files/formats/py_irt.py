"""py-irt JSON Lines: a line per model with its response to every item."""

from __future__ import annotations

from typing import Any

from surefoot.files.fields import filled, need, number, outcome, text
from surefoot.files.importers import ITEMS, About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.text_files import first_record, json_records

ABOUT = About(
    name="py-irt",
    file="responses.jsonl with subject_id and responses",
    becomes="a subject is the policy, an item the condition; a subject's second line is a repeat",
    example="surefoot rank responses.jsonl",
)

NAMED = {"policy": "subject", "condition": "item"}


def recognises(head: Head) -> bool:
    """A subject and an object of responses by item, in each line or in one object."""
    record = first_record(head)
    return "subject_id" in record and isinstance(record.get("responses"), dict)


def load(head: Head) -> Sheet:
    """One row per subject and item; an item without a response was not run."""
    rows: list[dict[str, Any]] = []
    lines_of: dict[str, int] = {}
    for place, line in json_records(head):
        subject = text(line.get("subject_id")) or ""
        lines_of[subject] = lines_of.get(subject, 0) + 1
        for item, value in need(line, "responses", dict, head.name, f"line {place}").items():
            response = number(value, head.name, f"line {place}.responses.{item}")
            if response is not None:
                rows.append({"policy": subject, "condition": item, "repeat": lines_of[subject], "response": response})
    filled(rows, "the file must hold responses", head.name)
    column = outcome(row["response"] for row in rows)
    several = max(lines_of.values()) > 1
    for row in rows:
        row[column] = row.pop("response")
        if not several:
            del row["repeat"]
    return Sheet(frame_of(rows, head.name), "py-irt", named=NAMED, roles=ITEMS, ordered=False)
