"""The stored reference values: `cases(group)` gives (in, out) pairs; README.md says where they came from."""

import json
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("oracle.json")


@cache
def _groups() -> dict[str, Any]:
    return json.loads(_FILE.read_text(encoding="utf-8"))["groups"]


def groups() -> list[str]:
    """Names of all stored groups."""
    return list(_groups())


def doc(group: str) -> str:
    """The conventions of one group: sides, ties, end rules."""
    return str(_groups()[group]["doc"])


def cases(group: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """All (in, out) pairs of one group, in file order."""
    return [(case["in"], case["out"]) for case in _groups()[group]["cases"]]
