"""The stored reference values: `cases(group)` gives (in, out) pairs; README.md says where they came from."""

import json
from functools import cache
from pathlib import Path
from typing import Any

_FILES = [Path(__file__).with_name(name) for name in ("oracle.json", "oracle2.json")]


@cache
def _groups() -> dict[str, Any]:
    tables = [json.loads(file.read_text(encoding="utf-8"))["groups"] for file in _FILES]
    return {name: group for table in tables for name, group in table.items()}


def groups() -> list[str]:
    """Names of all stored groups."""
    return list(_groups())


def doc(group: str) -> str:
    """The conventions of one group: sides, ties, end rules."""
    return str(_groups()[group]["doc"])


def cases(group: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """All (in, out) pairs of one group, in file order."""
    return [(case["in"], case["out"]) for case in _groups()[group]["cases"]]


def listed(group: str) -> list[dict[str, Any]]:
    """All cases of one list of `oracle3.json`, in file order."""
    found: list[dict[str, Any]] = json.loads(Path(__file__).with_name("oracle3.json").read_text(encoding="utf-8"))[
        group
    ]
    return found
