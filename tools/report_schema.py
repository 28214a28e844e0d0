"""What is in a report written as JSON? Its schema, made from the dataclasses: `python tools/report_schema.py`.

A test fails when docs/reference/report.schema.json lags behind them.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import types
import typing
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from surefoot.core.record import Record, hints_of
from surefoot.core.words import Worded
from surefoot.reporting.reports import KEPT, ProgressReport, Report

PLACE = Path(__file__).parents[1] / "docs" / "reference" / "report.schema.json"
PLAIN: dict[Any, str] = {float: "number", int: "integer", str: "string", bool: "boolean", type(None): "null"}
ADDED: dict[str, dict[str, Any]] = {
    "Scores": {"count": {"type": "integer", "description": "How many, where there are too many to list."}}
}
"""What a report adds to a record when it leaves a long list out."""
LEFT_OUT = f"Empty when there are more than {KEPT:,}; the hash of the data stands for them."
DESCRIBED = {
    ("Scores", "values"): f"{LEFT_OUT} `count` then says how many.",
    **{("Band", name): LEFT_OUT for name in ("points", "uppers", "lowers")},
}
"""What a reader of the JSON must know of a field."""


def schema() -> dict[str, Any]:
    """The JSON schema of what `Report.save("report.json")` writes."""
    known: dict[str, Any] = {}
    roots = [_of(kind, known) for kind in (Report, ProgressReport)]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A surefoot report",
        "description": "Every record names its type and its schema version.",
        "anyOf": roots,
        "$defs": dict(sorted(known.items())),
    }


def _of(hint: Any, known: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_of(each, known) for each in arguments]}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return {"type": "array", "items": _of(arguments[0], known)}
        parts = [_of(each, known) for each in arguments]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    if isinstance(hint, type) and issubclass(hint, Record):
        known_fields = dataclasses.is_dataclass(hint)
        return _record(hint, known) if known_fields else {"type": "object", "required": ["type", "schema"]}
    if hint in (dict, Mapping) or origin in (dict, Mapping):
        return {"type": "object"}
    return {}


def _record(kind: type[Record], known: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in known:
        known[name] = {}  # named before it is described: a record may hold others of its kind
        hints = hints_of(kind)
        names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
        body = {field: _of(hints[field], known) for field in names}
        for field in names:
            if (name, field) in DESCRIBED:
                body[field] = {**body[field], "description": DESCRIBED[name, field]}
        made = {kind._made: {"type": "string", "description": "The sentence made from it."}} if kind._made else {}
        needed = [field for field in names if field != "words" or not issubclass(kind, Worded)]  # only where unusual
        same = {"type": {"const": name}, "schema": {"const": kind._schema}}
        known[name] = {
            "type": "object",
            "description": (kind.__doc__ or name).strip().splitlines()[0],
            "properties": {**same, **body, **made, **ADDED.get(name, {})},
            "required": ["type", "schema", *needed, *made],
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{name}"}


def text() -> str:
    """The schema as the file holds it."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PLACE.write_text(text(), encoding="utf-8")
    print(f"Wrote {PLACE}")
    sys.exit(0)
