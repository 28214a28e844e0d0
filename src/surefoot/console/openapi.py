"""How does the API describe itself? The table of operations and the records that it answers, as OpenAPI 3.1."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterable
from enum import Enum
from typing import Any

from surefoot.console.operations import BASE, LONG, OPERATIONS, Field, Operation
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.study.leases import Wait
from surefoot.study.recording import Why
from surefoot.study.status import DECISIONS, Receipt, Status

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
GIVEN: Schema = {"type": "string", "pattern": "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f]*$"}
NAME: Schema = {"type": "string", "pattern": "^[^\\u0000-\\u001f]*$"}
BINARY: Schema = {"type": "string", "format": "binary"}
WHOLE: Schema = {"type": "integer", "minimum": 1}
TURN: Schema = {**WHOLE, "maximum": 999_999_999}
FLAG: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}


def _object(properties: Schema, required: Iterable[str] = ()) -> Schema:
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needed}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _or_null(*options: Schema) -> Schema:
    return {"oneOf": [*options, {"type": "null"}]}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _type(hint: Any) -> dict[str, Any]:
    """A type as a schema."""
    options = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    if typing.get_origin(hint) is typing.Literal:
        return {"enum": list(typing.get_args(hint))}
    if types.NoneType in options:
        return _or_null(*(_type(one) for one in options if one is not types.NoneType))
    if typing.get_origin(hint) is tuple:
        return _list(_type(typing.get_args(hint)[0]))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [one.value for one in hint]}
    if isinstance(hint, type) and issubclass(hint, Record):
        return _ref(hint.__name__)
    return {"type": {bool: "boolean", int: "integer", float: "number", str: "string"}[hint]}


def _record(kind: type[Record], **more: dict[str, Any]) -> dict[str, Any]:
    """A record as a schema: its fields, by their types."""
    hints = typing.get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return _object({name: {**_type(hints[name]), **more.get(name, {})} for name in names}, names)


SCHEMAS: dict[str, Schema] = {
    "Error": {
        **_object({"error": TEXT, "hint": TEXT, "why": {"enum": list(typing.get_args(Why))}}, ["error"]),
        "additionalProperties": False,
    },
    "Wait": _record(Wait),
    "Status": _record(Status, decision={"enum": list(dict.fromkeys(DECISIONS.values()))}),
    "Receipt": _record(Receipt),
    "Turn": _object(
        {
            "number": WHOLE,
            "block": WHOLE,
            "code": TEXT,
            "task": TEXT,
            "condition": TEXT,
            "rig": TEXT,
            "operator": TEXT,
            "attempt": WHOLE,
            "same_start_as": {
                **_or_null(WHOLE),
                "description": "The earlier turn of its pair whose environment it shares.",
            },
            "policy": {**TEXT, "description": "For the runner only, while the study is blinded."},
            "holder": TEXT,
            "current": FLAG,
            "recorded": FLAG,
            "voided": FLAG,
        },
        ["number", "block", "code", "task", "condition", "rig", "operator", "attempt", "same_start_as"],
    ),
    "Turns": _object({"turns": _list(_ref("Turn"))}),
    "Next": _object(
        {
            "turn": _or_null(_ref("Turn")),
            "ahead": _list(_ref("Turn")),
            "waiting": {**FLAG, "description": "Results of turns that others hold must come first; see the status."},
            "status": _ref("Status"),
        },
        ["turn", "ahead", "waiting", "status"],
    ),
    "Plan": _object({"plan": OBJECT, "fingerprint": TEXT, "version": {"type": "integer"}}),
    "Results": _object(
        {
            "verdict": {"enum": [one.value for one in Verdict]},
            "threshold": {"type": "number"},
            "policies": _list(OBJECT),
            "sequence": _list(OBJECT),
            "gain": {"type": ["object", "null"]},
            "observed": {"type": ["number", "null"]},
        }
    ),
    "object": OBJECT,
}

REFUSALS = {
    400: "The body is not JSON.",
    401: "No token, or a wrong one.",
    403: "Not for this role, or not while the study is blinded, or from another site.",
    404: "No such turn was handed out.",
    408: "The body did not arrive in time.",
    409: "Somebody else was first, or the study does not allow it now; nothing was changed.",
    413: "The body is too large, or no more clips are kept for this person or study.",
    422: "A field is missing or outside what the plan allows.",
    429: "Too many wrong tokens, or too many pages follow the study; wait.",
    503: "The store cannot be reached. Nothing was changed; send the same request again.",
}


def _field(field: Field) -> dict[str, Any]:
    """A field's limits as a schema; what may be left out may also be null."""
    shapes: dict[str, dict[str, Any]] = {
        "text": {**(GIVEN if field.most >= LONG else NAME), "maxLength": int(field.most)},
        "texts": {**_list({**GIVEN, "maxLength": 200}), "maxItems": int(field.most)},
        "whole": {"type": "integer", "minimum": int(field.least), "maximum": int(field.most)},
        "number": {"type": "number", "minimum": field.least, "maximum": field.most},
        "result": {"type": ["boolean", "number"]},
        "mapping": {"type": "object", "minProperties": 1},
        "clip": {"type": "object", "properties": dict.fromkeys(("name", "link", "fault"), TEXT)},
    }
    shape = {**shapes[field.kind], "description": field.tells}
    if field.kind == "text" and field.required:
        shape["minLength"] = 1
    if field.options:
        shape["enum"] = [*field.options, *(() if field.required else ("", None))]
    if not field.required:
        kinds = shape["type"] if isinstance(shape["type"], list) else [shape["type"]]
        shape["type"] = [*kinds, "null"]
    return shape


def _body(operation: Operation) -> dict[str, Any]:
    required = [field.name for field in operation.fields if field.required]
    shape = _object({field.name: _field(field) for field in operation.fields}, required)
    return {**shape, "additionalProperties": False}


def _operation(operation: Operation) -> dict[str, Any]:
    known = operation.answer in SCHEMAS
    media, schema = ("application/json", _ref(operation.answer)) if known else (operation.answer, TEXT)
    posts = operation.method == "POST"
    codes = sorted({401, 403, 429, 503, *operation.refusals, *((400, 408, 413, 422) if posts else ())})
    responses: dict[str, Any] = {"200": {"description": "Done.", "content": {media: {"schema": schema}}}}
    for code in codes:
        content = {"application/json": {"schema": _ref("Error")}}
        responses[str(code)] = {"description": REFUSALS[code], "content": content}
    told: dict[str, Any] = {"operationId": operation.name, "summary": operation.tells, "responses": responses}
    if operation.file:
        told["requestBody"] = {"required": False, "content": {"application/octet-stream": {"schema": BINARY}}}
        told["parameters"] = [{"name": one.name, "in": "query", "schema": _field(one)} for one in operation.fields]
    elif posts:
        shape = _body(operation)
        told["requestBody"] = {"required": "required" in shape, "content": {"application/json": {"schema": shape}}}
    return told


def _paths() -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for operation in OPERATIONS.values():
        if operation.name == "openapi":
            continue
        entry = paths.setdefault(f"{BASE}{operation.path}", {})
        entry[operation.method.lower()] = _operation(operation)
        if "{number}" in operation.path:
            entry["parameters"] = [{"name": "number", "in": "path", "required": True, "schema": TURN}]
    return paths


DESCRIPTION: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "surefoot study",
        "version": "2",
        "description": "Drive a blind, randomised study: ask for a turn, run it, record it.",
    },
    "paths": _paths(),
    "components": {
        "schemas": SCHEMAS,
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    },
    "security": [{"token": []}],
}
