"""Text logs of LIBERO evaluations, as OpenVLA writes to a file and openpi to its output."""

from __future__ import annotations

import re
from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import filled
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.table.findings import own_total

ABOUT = About(
    name="LIBERO text logs",
    file="EVAL-*.txt of OpenVLA, the log of openpi",
    becomes="an episode's number is its start",
    example="surefoot compare new.txt old.txt",
)

SUITE = re.compile(r"Task suite: (?P<name>\S+)")
TASK = re.compile(r"(?:^|[\s:\]])Task: (?P<name>.+?)\s*$")
EPISODE = re.compile(r"Starting episode (?P<number>\d+)")
SUCCESS = re.compile(r"Success: (?P<value>True|False)\b")
CAUGHT = re.compile(r"Caught exception: (?P<what>.*)")
TOTAL = re.compile(r"# successes: (?P<count>\d+)")


def recognises(head: Head) -> bool:
    """Episodes that start and end in a success or not."""
    return bool(head.text) and not head.is_json and bool(EPISODE.search(head.text) and SUCCESS.search(head.text))


def load(head: Head) -> Sheet:
    """One row per episode; the episode's number within its task is its start, which LIBERO fixes."""
    rows: list[dict[str, Any]] = []
    suite = task = episode = failure = None
    caught, total = 0, None
    for line_number, line in enumerate(head.whole_text().splitlines(), 1):
        if match := SUITE.search(line):
            suite = match["name"]
        elif match := EPISODE.search(line):
            if episode is not None:
                raise DataError(
                    f"episode {episode} must end with a Success line; line {line_number} starts another one before it.",
                    source=head.name,
                )
            episode, failure = match["number"], None
        elif match := CAUGHT.search(line):
            failure, caught = match["what"].strip() or "exception", caught + 1
        elif match := SUCCESS.search(line):
            if episode is None:
                raise DataError(
                    f"line {line_number}: an outcome must follow the start of its episode.", source=head.name
                )
            success = match["value"] == "True"
            row = {"task": task, "dataset": suite, "condition": episode, "order": len(rows) + 1, "success": success}
            rows.append({**row, "failure": failure})
            episode = None
        elif match := TOTAL.search(line):
            total = int(match["count"][:15])
        elif match := TASK.search(line):
            task = match["name"]
    filled(rows, "the log must hold finished episodes", head.name)
    notes = ["An episode's number within its task is its condition: in LIBERO, equal numbers have the same start."]
    if episode is not None:
        notes.append(f"The last episode, {episode} of {task!r}, has no outcome and is left out: the run was cut off.")
    if caught:
        notes.append(f"{caught} episodes ended in an exception; their Success lines in the log say how they count.")
    counted = sum(row["success"] for row in rows)
    wrong = total is not None and total != counted
    findings = (own_total("# successes", float(total or 0), float(counted)),) if wrong else ()
    return Sheet(frame_of(rows, head.name), "LIBERO text log", tuple(notes), findings, named={"condition": "episode"})
