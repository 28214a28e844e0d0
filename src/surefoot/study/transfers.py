"""How does a log leave a store as text, and come back?"""

from __future__ import annotations

import json

from surefoot.errors import StudyError
from surefoot.study.events import Line, broken, seeded
from surefoot.study.folds import folded
from surefoot.study.plans import canonical


def written(lines: list[Line]) -> str:
    """The lines as JSON lines, hashes included, with the seed beside the first."""
    rows = [line.to_dict() for line in lines]
    rows[0]["seed"] = lines[0].private
    return "".join(canonical(row) + "\n" for row in rows)


def parsed(text: str) -> list[Line]:
    """The lines of an exported log, verified.

    Raises:
        StudyError: The text is no log, or its chain does not hold.
    """
    lines = []
    for place, row in enumerate(filter(None, text.split("\n")), 1):
        try:
            data = json.loads(row)
        except json.JSONDecodeError as error:
            raise StudyError(f"Line {place} of the exported log is not JSON: {error}. Nothing was restored.") from None
        if not isinstance(data, dict):
            raise StudyError(f"Line {place} of the exported log is not an event. Nothing was restored.")
        lines.append(Line.from_dict(data))
    fault = broken(lines) if lines else "it is empty"
    if fault:
        raise StudyError(f"The exported log does not verify: {fault}. Nothing was restored.")
    lines = seeded(lines)
    folded(lines)
    return lines
