"""The console's JSON operations: what they do, refuse, repeat and keep back."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surefoot.study.stores import StoreError
from tests.support.consoles import Console, ran, study
from tests.support.operations import kinds, paths

TURN = "/api/v1/turns/1"


@pytest.fixture
def console(tmp_path):
    return Console(study(tmp_path))


def test_a_study_is_driven_to_its_verdict_and_unblinded(console):
    runner, owner = console.client("runner"), console.client("owner")
    while (answer := runner.post("/api/v1/turns/next").json())["turn"] is not None:
        turn = answer["turn"]
        done = runner.post(f"/api/v1/turns/{turn['number']}/record", json={"result": turn["policy"] == "new"})
        assert done.json()["turns"] == [turn["number"]]
    assert answer["status"]["finished"]
    assert not answer["waiting"]
    status = runner.get("/api/v1/status").json()
    assert status["decision"] == "stop: decided"
    assert status["verdict"] is None
    assert owner.post("/api/v1/unblind", json={"reason": "decided"}).json()["status"]["verdict"] == "better"
    results = owner.get("/api/v1/results").json()
    assert results["verdict"] == "better"
    assert [row["policy"] for row in results["policies"]] == ["new", "old"]
    assert results["sequence"][-1]["evidence"] >= results["threshold"] * (1 - 1e-9)
    assert results["sequence"][-1]["low"] > 0
    lines = owner.get("/api/v1/export").text.splitlines()
    assert json.loads(lines[-2])["kind"] == "unblinded"
    assert json.loads(lines[-1])["lines"] == len(lines) - 1


# --- what they repeat ---


def test_the_same_request_records_once(console):
    client = console.client("operator")
    client.post("/api/v1/turns/next")
    entry = {"result": True, "request": "word"}
    assert not client.post(f"{TURN}/record", json=entry).json()["repeated"]
    assert client.post(f"{TURN}/record", json=entry).json()["repeated"]
    assert client.post(f"{TURN}/record", json={"result": True}, headers={"Idempotency-Key": "word"}).json()["repeated"]
    assert kinds(console.study).count("recorded") == 1
    client.post(f"{TURN}/undo", json={"reason": "wrong key"})
    assert client.post(f"{TURN}/record", json=entry).json()["repeated"]
    assert 1 not in console.study.fold.results


def test_a_request_word_is_for_one_turn(console):
    client = console.client("operator")
    client.post("/api/v1/turns/next", json={"ahead": 1})
    client.post(f"{TURN}/record", json={"result": True, "request": "word"})
    answer = client.post("/api/v1/turns/2/record", json={"result": True, "request": "word"})
    assert answer.status_code == 409
    assert "cannot record turn 2" in answer.json()["error"]


def test_a_result_is_never_overwritten(console):
    one, two = console.browser("operator", "Ann"), console.browser("operator", "Bob")
    ran(one, [True])
    answer = two.post(f"{TURN}/record", json={"result": False, "request": "other"})
    assert answer.status_code == 409
    assert answer.json() == {
        "error": "Turn 1 already has a result, from Ann.",
        "hint": "It was not overwritten: undo it first if it is wrong.",
        "why": "recorded",
    }
    assert console.study.fold.results[1].score == 1.0


def test_stale_attempts_and_versions_are_refused(console):
    client, owner = console.client("operator"), console.client("owner")
    ran(client, [True])
    client.post(f"{TURN}/undo", json={"reason": "wrong key", "attempt": 1})
    assert client.post(f"{TURN}/record", json={"result": True, "attempt": 1}).status_code == 409
    assert client.post(f"{TURN}/undo", json={"reason": "wrong key", "attempt": 1}).json()["repeated"]
    assert client.post(f"{TURN}/undo", json={"reason": "wrong key", "attempt": 2}).status_code == 409
    for path, body in (("amend", {"changes": {"title": "x"}}), ("unblind", {})):
        answer = owner.post(f"/api/v1/{path}", json={**body, "reason": "r", "version": 1})
        assert answer.status_code == 409
        assert "has changed since" in answer.json()["error"]
    version = owner.get("/api/v1/status").json()["version"]
    assert owner.post("/api/v1/amend", json={"changes": {"title": "x"}, "reason": "r", "version": version}).is_success


# --- what they refuse ---


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("turns/9/record", {"result": True}, 404, "never handed out"),
        ("turns/0/record", {"result": True}, 404, "no such turn"),
        ("turns/x/record", {"result": True}, 404, "no such turn"),
        ("turns/1/record", {}, 422, "`result` must be given"),
        ("turns/1/record", {"result": 0.5}, 422, "true or false"),
        ("turns/1/record", {"result": "yes"}, 422, "true or false"),
        ("turns/1/record", {"result": []}, 422, "true or false"),
        ("turns/1/record", {"result": True, "reuslt": 1}, 422, "known fields only ('result', "),
        ("turns/1/record", {"result": True, "duration": -1}, 422, "`duration` must be a number from 0"),
        ("turns/1/record", {"result": True, "note": 7}, 422, "`note` must be a text"),
        ("turns/1/record", {"result": True, "note": "x" * 2001}, 422, "at most 2000 characters"),
        ("turns/1/record", {"result": True, "note": "a\x00b"}, 422, "control characters"),
        ("turns/1/record", {"result": True, "attempt": 0}, 422, "`attempt`"),
        ("turns/1/undo", {"reason": "x"}, 409, "no result to undo"),
        ("turns/1/undo", {"reason": " "}, 422, "`reason` must be given"),
        ("turns/1/void", {"reason": "did badly"}, 422, "one that the plan names"),
        ("turns/next", {"ahead": 1000}, 422, "from 0 to 20"),
        ("turns/next", {"lease": 0}, 422, "`lease`"),
        ("turns/next", {"holder": "Ann (0123abcd)"}, 422, "`holder` must not be a browser's name"),
        ("turns/1/record", {"result": 1e13}, 422, "A number must be within ±1e+12."),
        ("turns/1/crash", {"ended": "exploded"}, 422, "`ended` must be one of "),
        ("checks", {"items": "all"}, 422, "list of at most 50 texts"),
        ("checks", {"items": ["x" * 201]}, 422, "`items` must hold texts of at most 200 characters."),
        ("amend", {"changes": {"rool": 1}, "reason": "r"}, 422, "no field rool"),
        (
            "amend",
            {"changes": {"policies": ["a", "b"]}, "reason": "r"},
            409,
            "cannot change once turns were handed out",
        ),
        ("amend", {"changes": {"blinded": False}, "reason": "r"}, 409, "unblind the study"),
        ("amend", {"changes": {"title": {"a": 1}}, "reason": "r"}, 422, "`title` must be a str"),
        ("amend", {"changes": [], "reason": "r"}, 422, "`changes` must be an object"),
        ("amend", {"changes": {"title": "x"}}, 422, "`reason` must be given"),
        ("unblind", {}, 422, "`reason` must be given"),
        ("override", {}, 422, "`reason` must be given"),
        ("override", {"reason": "more time"}, 409, "there is no stop to override"),
    ],
)
def test_bad_requests_are_refused_with_a_sentence(console, path, body, status, said):
    client = console.client("owner")
    client.post("/api/v1/turns/next")
    before = kinds(console.study)
    answer = client.post(f"/api/v1/{path}", json=body)
    assert answer.status_code == status
    assert said in answer.json()["error"]
    assert kinds(console.study) == before


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"[]",
        b'"x"',
        b'{"result": NaN}',
        b'{"result": 1e999}',
        b"\xff\xfe",
        b"[" * 50_000,
        b'{"result": ' + b"9" * 5000,
    ],
)
def test_bodies_that_are_not_json_objects_are_refused(console, raw):
    client = console.client("owner")
    client.post("/api/v1/turns/next")
    answer = client.post(f"{TURN}/record", content=raw)
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]


@pytest.mark.parametrize(("raw", "status"), [(b"", 200), (b" \t\r\n", 200), (b"\x0c", 400), (b"\x0b", 400)])
def test_only_what_json_calls_blank_is_an_empty_body(console, raw, status):
    assert console.client("runner").post("/api/v1/checks", content=raw).status_code == status


def test_broken_characters_are_refused(console):
    client = console.client("owner")
    answer = client.post("/api/v1/checks", content=b'{"note": "\\ud800"}')
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("role", "method", "path"),
    [
        ("operator", "POST", "amend"),
        ("operator", "POST", "unblind"),
        ("operator", "POST", "override"),
        ("operator", "GET", "export"),
        ("runner", "POST", "amend"),
        ("runner", "POST", "unblind"),
        ("runner", "POST", "override"),
        ("runner", "GET", "export"),
    ],
)
def test_what_is_the_owners_is_refused_to_others(console, role, method, path):
    answer = console.client(role).request(method, f"/api/v1/{path}")
    assert answer.status_code == 403
    assert answer.json()["error"] == f"Only the owner may do this; you are the {role}."


# --- nothing breaks them ---

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(
    [
        "result",
        "duration",
        "note",
        "failure",
        "request",
        "attempt",
        "reason",
        "ahead",
        "lease",
        "holder",
        "items",
        "changes",
    ]
)
fields_ = st.sampled_from(
    ["horizon", "title", "rule", "claim", "levels", "confidence", "tasks", "low", "blinded", "policies"]
)
bodies = st.dictionaries(names, values, max_size=4) | st.fixed_dictionaries(
    {"changes": st.dictionaries(fields_, values, min_size=1, max_size=2), "reason": st.just("r")}
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=paths, body=bodies, role=st.sampled_from(["operator", "runner", "owner"]))
def test_no_request_makes_the_server_fail(console, where, body, role):
    path, method = where
    client = console.client(role, raise_server_exceptions=True)
    client.post("/api/v1/turns/next", json={"ahead": 1})
    raw = json.dumps(body).encode()
    answer = client.request(method.upper(), path, content=raw if method == "post" else None)
    assert answer.status_code < 500
    if answer.status_code >= 400:
        assert answer.json()["error"]


def test_a_whole_number_may_be_written_with_a_point(console):
    answer = console.client("owner").post("/api/v1/turns/next", content=b'{"ahead": 2.0}')
    assert (answer.status_code, len(answer.json()["ahead"])) == (200, 2)


TURN = "/api/v1/turns/1"


def test_a_store_that_fails_records_nothing_and_says_so(console, monkeypatch, caplog):
    client = console.client("operator")
    client.post("/api/v1/turns/next")
    append = console.study._store.append

    def full(lines, *, after):
        raise StoreError("study.db: database or disk is full. Free some space and record again.")

    monkeypatch.setattr(console.study._store, "append", full)
    entry = {"result": True, "request": "word"}
    answer = client.post(f"{TURN}/record", json=entry)
    assert answer.status_code == 503
    assert "disk is full" in answer.json()["error"]
    assert answer.headers["retry-after"]
    assert client.post(f"{TURN}/record", json=entry).status_code == 503
    assert [line for line in caplog.messages if "disk is full" in line] == caplog.messages[:1]  # told once in a minute
    monkeypatch.setattr(console.study._store, "append", append)
    assert client.post(f"{TURN}/record", json=entry).json()["repeated"] is False
    assert kinds(console.study).count("recorded") == 1
