"""How does the API describe itself? One table of operations, written out as OpenAPI 3.1."""

from __future__ import annotations

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
GIVEN: dict[str, Any] = {"type": "string", "pattern": "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f]*$"}
REASON: dict[str, Any] = {**GIVEN, "minLength": 1, "maxLength": 500, "description": "Kept in the log."}
WHOLE: dict[str, Any] = {"type": "integer", "minimum": 1}
VERSION = {**WHOLE, "description": "The log's version you have seen; refused with 409 when the study has moved on."}
ATTEMPT = {**WHOLE, "description": "Which try at this turn; refused with 409 when somebody was faster."}


def _object(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    shape: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**shape, "required": list(required)} if required else shape


def _body(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    """What may be left out may also be null."""
    for name, shape in properties.items():
        if name not in required:
            types = shape["type"] if isinstance(shape["type"], list) else [shape["type"]]
            properties[name] = {**shape, "type": [*types, "null"]}
    return _object(required, **properties)


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


SCHEMAS: dict[str, Any] = {
    "Error": _object(("error",), error=TEXT, hint=TEXT),
    "Status": {
        "type": "object",
        "description": "Progress that gives no policy away; `verdict` only once the study is not blinded.",
        "required": ["study", "title", "recorded", "blocks", "horizon", "voided", "finished", "blinded", "version"],
        "properties": {
            "study": TEXT,
            "title": TEXT,
            "recorded": {"type": "integer"},
            "blocks": {"type": "integer", "description": "Pairs that have entered the rule."},
            "horizon": {"type": "integer"},
            "voided": {"type": "integer"},
            "finished": {"type": "boolean"},
            "blinded": {"type": "boolean"},
            "exploratory": {"type": "boolean"},
            "version": {"type": "integer"},
            "decision": {"enum": ["continue", "stop: decided", "stop: nothing more can be decided"]},
            "waits": {
                "type": ["object", "null"],
                "description": "The pair that the rule waits for while later ones are complete, and who holds it.",
                "properties": {
                    "block": WHOLE,
                    "turn": WHOLE,
                    "holder": TEXT,
                    "minutes": {"type": "integer"},
                    "later": WHOLE,
                    "stalled": {"type": "boolean", "description": "No further pair is begun until it is in."},
                    "sentence": TEXT,
                },
            },
            "verdict": {"enum": ["better", "worse", "same", "undecided"]},
        },
    },
    "Turn": {
        "type": "object",
        "required": ["number", "block", "code", "task", "condition", "attempt"],
        "properties": {
            "number": WHOLE,
            "block": WHOLE,
            "code": TEXT,
            "task": TEXT,
            "condition": TEXT,
            "attempt": WHOLE,
            "policy": {**TEXT, "description": "For the runner only, while the study is blinded."},
            "holder": TEXT,
            "current": {"type": "boolean"},
            "recorded": {"type": "boolean"},
            "voided": {"type": "boolean"},
        },
    },
    "Turns": {"type": "object", "properties": {"turns": {"type": "array", "items": _ref("Turn")}}},
    "Next": {
        "type": "object",
        "required": ["turn", "ahead", "finished", "waiting", "status"],
        "properties": {
            "turn": {"oneOf": [_ref("Turn"), {"type": "null"}]},
            "ahead": {"type": "array", "items": _ref("Turn")},
            "finished": {"type": "boolean"},
            "waiting": {"type": "boolean", "description": "Turns that others hold must come in first; see the status."},
            "status": _ref("Status"),
        },
    },
    "Done": {
        "type": "object",
        "required": ["status"],
        "properties": {
            "turn": {"type": "integer"},
            "repeated": {"type": "boolean", "description": "It had been done before; nothing changed."},
            "released": {"type": "integer"},
            "plan": {"type": "object"},
            "status": _ref("Status"),
        },
    },
    "Plan": {
        "type": "object",
        "properties": {"plan": {"type": "object"}, "fingerprint": TEXT, "version": {"type": "integer"}},
    },
    "Results": {"type": "object"},
}

BODIES: dict[str, Any] = {
    "next": _body(
        holder={**GIVEN, "maxLength": 100, "description": "Who holds the turn: one name for each robot."},
        ahead={"type": "integer", "minimum": 0, "maximum": 20, "description": "Further turns to hold in reserve."},
        lease={"type": "number", "minimum": 1, "maximum": 86400, "description": "Seconds the turns are held."},
    ),
    "record": _body(
        ("result",),
        result={"type": ["boolean", "number"], "description": "Success, or a score of the plan's range or rubric."},
        duration={"type": "number", "minimum": 0, "maximum": 10000000},
        note={**GIVEN, "maxLength": 2000},
        failure={**GIVEN, "maxLength": 200},
        request={**GIVEN, "maxLength": 100, "description": "Idempotency key: the same word again changes nothing."},
        attempt=ATTEMPT,
        holder={
            **GIVEN,
            "maxLength": 200,
            "description": "Who had the turn; refused with 409, and logged, when it went to another.",
        },
    ),
    "undo": _body(("reason",), reason=REASON, attempt=ATTEMPT),
    "void": _body(
        ("reason",),
        reason={**GIVEN, "minLength": 1, "description": "One that the plan names."},
        note={**GIVEN, "maxLength": 2000},
    ),
    "release": _body(holder={**GIVEN, "maxLength": 200, "description": "Your own turns when left out."}),
    "check": _body(
        items={"type": "array", "maxItems": 50, "items": {**GIVEN, "maxLength": 200}},
        note={**GIVEN, "maxLength": 2000},
    ),
    "amend": _body(
        ("changes", "reason"),
        changes={"type": "object", "minProperties": 1},
        reason=REASON,
        version=VERSION,
    ),
    "unblind": _body(("reason",), reason=REASON, version=VERSION),
}

# path, method, operation, what it tells, answer's schema, refusals besides 401 and 503
OPERATIONS = (
    ("/status", "get", "status", "Progress, and whether to go on.", "Status", ()),
    ("/plan", "get", "plan", "The plan, amendments included.", "Plan", ()),
    ("/turns", "get", "turns", "The turns being run now.", "Turns", ()),
    ("/turns/next", "post", "next", "The turn to run next, held for you.", "Next", (409,)),
    ("/turns/{number}", "get", "turn", "One turn that was handed out.", "Turn", (404,)),
    ("/turns/{number}/record", "post", "record", "Keep a turn's result, once.", "Done", (404, 409)),
    ("/turns/{number}/undo", "post", "undo", "Take back a turn's result.", "Done", (404, 409)),
    ("/turns/{number}/void", "post", "void", "Declare that the turn's block does not count.", "Done", (404, 409)),
    ("/release", "post", "release", "Hand back turns that will not be run.", "Done", (409,)),
    ("/checks", "post", "check", "Log a session's checklist.", "Done", ()),
    ("/amend", "post", "amend", "Owner: change the plan.", "Done", (409,)),
    ("/unblind", "post", "unblind", "Owner: reveal which policy each code meant.", "Done", (409,)),
    ("/results", "get", "results", "Evidence and tallies, once not blinded.", "Results", ()),
    ("/export", "get", "export", "Owner: the log as JSON lines, once not blinded.", None, (409,)),
    ("/events", "get", "events", "Progress as server-sent events.", None, (429,)),
)

REFUSALS = {
    400: "The body is not JSON.",
    401: "No token, or a wrong one.",
    403: "Not for this role, or not while the study is blinded, or from another site.",
    404: "No such turn was handed out.",
    409: "Somebody was faster, or the study does not allow it now; nothing was changed.",
    413: "The body is too large.",
    422: "A field is missing or outside what the plan allows.",
    429: "Too many wrong tokens; wait.",
    503: "The store cannot be reached; nothing was changed, the same request may be sent again.",
}


def _operation(method: str, name: str, tells: str, answer: str | None, refusals: tuple[int, ...]) -> dict[str, Any]:
    media = {"export": "application/jsonl", "events": "text/event-stream"}.get(name, "application/json")
    schema = _ref(answer) if answer else TEXT
    codes = sorted({401, 403, 429, 503, *refusals, *((400, 413, 422) if method == "post" else ())})
    responses: dict[str, Any] = {"200": {"description": "Done.", "content": {media: {"schema": schema}}}}
    for code in codes:
        content = {"application/json": {"schema": _ref("Error")}}
        responses[str(code)] = {"description": REFUSALS[code], "content": content}
    operation: dict[str, Any] = {"operationId": name, "summary": tells, "responses": responses}
    if method == "post":
        content = {"application/json": {"schema": BODIES[name]}}
        required = bool(BODIES[name].get("required"))
        operation["requestBody"] = {"required": required, "content": content}
    return operation


def _paths() -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for path, method, name, tells, answer, refusals in OPERATIONS:
        entry = paths.setdefault(f"/api/v1{path}", {})
        entry[method] = _operation(method, name, tells, answer, refusals)
        if "{number}" in path:
            number = {"name": "number", "in": "path", "required": True, "schema": WHOLE}
            entry["parameters"] = [number]
    return paths


DESCRIPTION: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "surefoot study",
        "version": "1",
        "description": "Drive a blind, randomised study: ask for a turn, run it, record it.",
    },
    "paths": _paths(),
    "components": {
        "schemas": SCHEMAS,
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    },
    "security": [{"token": []}],
}
