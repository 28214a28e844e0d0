"""The console's JSON operations: what they do, refuse, repeat and keep back."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surefoot.console import live_figures
from surefoot.console.openapi import DESCRIPTION
from surefoot.study.stores import StoreError
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study
from tests.consoles import Console, clock, plan, ran, study, threaded

TURN = "/api/v1/turns/1"


@pytest.fixture
def console(tmp_path):
    return Console(study(tmp_path))


def kinds(study_):
    study_.refresh()
    return [event.kind for event in study_.fold.history]


# --- what they do ---


def test_an_exact_rule_shows_its_lead_and_the_region_where_it_goes_on(tmp_path):
    """It has no evidence to draw: the lead leaves the region when, and only when, the rule decides."""
    console = Console(study(tmp_path, rule="exact", horizon=50, environments="independent"))
    runner, owner = console.client("runner"), console.client("owner")
    while (turn := runner.post("/api/v1/turns/next").json()["turn"]) is not None:
        lucky = turn["block"] % 3 == 0
        result = (turn["policy"] == "new") != lucky
        runner.post(f"/api/v1/turns/{turn['number']}/record", json={"result": result})
    owner.post("/api/v1/unblind", json={"reason": "decided"})
    results = owner.get("/api/v1/results").json()
    assert "threshold" not in results
    rows = results["sequence"]
    outside = [not row["worse_beyond"] <= row["lead"] <= row["better_beyond"] for row in rows]
    assert outside == [False] * (len(rows) - 1) + [results["verdict"] != "undecided"]
    assert rows[-1]["estimate"] == pytest.approx(rows[-1]["lead"] / rows[-1]["pairs"])
    page = owner.get("/live").text
    assert f"new is {rows[-1]['lead']} successes ahead after {rows[-1]['pairs']} pairs." in page
    assert "Evidence" not in page.split("<h2>Each policy</h2>")[1]


@pytest.mark.parametrize(
    ("evidence", "shown"),
    [(19.97, "19.9"), (20.0 * (1 - 1e-12), "20"), (0.012399, "0.0123"), (0.0, "0"), (31.46, "31.5")],
)
def test_evidence_that_has_not_decided_is_not_rounded_to_what_would(evidence, shown):
    curve = live_figures._evidence_curve([{"pairs": 7, "evidence": evidence}], 20.0)
    assert curve.summary == f"Evidence is {shown} after 7 pairs; the rule decides at 20."


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


def test_scores_by_rubric_and_many_policies_are_shown(tmp_path):
    console = Console(study(tmp_path, policies=("a", "b", "c"), measure="score", levels=(0.0, 0.5, 1.0), horizon=6))
    runner, owner = console.client("runner"), console.browser("owner")
    ran(runner, [0.5, 1.0, 0.0] * 6)
    owner.post("/api/v1/unblind", json={"reason": "done"})
    page = owner.get("/live")
    assert page.status_code == 200
    assert re.search(r'of at most <span id="horizon">6</span> rounds', page.text)
    console.study.refresh()
    fold = console.study.fold
    scores = {name: [r.score for n, r in fold.results.items() if fold.turns[n].policy == name] for name in "abc"}
    shown = {row["policy"]: row["estimate"] for row in owner.get("/api/v1/results").json()["policies"]}
    assert shown == pytest.approx({name: sum(own) / len(own) for name, own in scores.items()})


def test_a_device_holds_turns_in_reserve_and_hands_them_back(console):
    one, two = console.browser("operator", "Ann"), console.browser("operator", "Bob")
    first = one.post("/api/v1/turns/next", json={"ahead": 3}).json()
    assert [first["turn"]["number"], *[turn["number"] for turn in first["ahead"]]] == [1, 2, 3, 4]
    assert two.post("/api/v1/turns/next").json()["turn"]["number"] == 5
    again = one.post("/api/v1/turns/next", json={"ahead": 3}).json()
    assert again == first | {"status": first["status"] | {"version": 6, "head": again["status"]["head"]}}
    held = two.get("/api/v1/turns").json()["turns"]
    assert [(turn["number"], turn["current"]) for turn in held] == [
        (1, True),
        *[(n, False) for n in (2, 3, 4)],
        (5, True),
    ]
    assert two.post("/api/v1/release", json={"holder": held[0]["holder"]}).status_code == 403
    owner = console.client("owner")
    assert owner.post("/api/v1/release", json={"holder": held[0]["holder"]}).json()["turns"] == [1, 2, 3, 4]
    last = two.post("/api/v1/turns/next", json={"ahead": 2}).json()
    assert [last["turn"]["number"], *[turn["number"] for turn in last["ahead"]]] == [1, 5, 6]  # its own pair first


def test_a_browser_cannot_take_turns_under_another_name(console):
    browser = console.browser("operator")
    browser.post("/api/v1/turns/next", json={"holder": "somebody else"})
    assert console.study.fold.leases[1].holder.startswith("Ann (")


def test_undo_gives_the_turn_back_to_whoever_held_it(console):
    client = console.browser("operator")
    ran(client, [True])
    client.post("/api/v1/turns/next")
    assert client.post(f"{TURN}/undo", json={"reason": "wrong key", "attempt": 1}).status_code == 200
    turn = client.post("/api/v1/turns/next").json()["turn"]
    assert (turn["number"], turn["attempt"]) == (1, 2)
    assert client.post(f"{TURN}/record", json={"result": False, "attempt": 2}).status_code == 200
    assert kinds(console.study).count("recorded") == 2


def test_void_takes_the_pair_out_and_another_is_scheduled(console):
    client = console.client("runner")
    ran(client, [True])
    answer = client.post(f"{TURN}/void", json={"reason": "hardware fault", "note": "gripper"})
    assert answer.json()["status"]["voided"] == 1
    assert client.post("/api/v1/turns/next").json()["turn"]["number"] == 3
    assert client.post(f"{TURN}/void", json={"reason": "hardware fault"}).json()["repeated"]
    assert client.post("/api/v1/turns/2/record", json={"result": True}).status_code == 409


def test_the_log_names_who_did_it(console):
    ran(console.browser("operator", "Ann"), [True])
    ran(console.client("runner"), [True])
    console.browser("operator", "Bob").post("/api/v1/checks", json={"items": ["homed"]})
    console.study.refresh()
    authors = [event.author for event in console.study.fold.history if event.kind in ("recorded", "checked")]
    assert authors == ["Ann", "runner", "Bob"]


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
        assert "moved on" in answer.json()["error"]
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
        ("turns/1/record", {"result": True, "reuslt": 1}, 422, "known fields only; got 'reuslt'"),
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
        ("checks", {"items": "all"}, 422, "list of at most 50 texts"),
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
    assert answer.json()["error"] == f"This is for the owner; you are the {role}."


def test_a_store_that_fails_records_nothing_and_says_so(console, monkeypatch):
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
    monkeypatch.setattr(console.study._store, "append", append)
    assert client.post(f"{TURN}/record", json=entry).json()["repeated"] is False
    assert kinds(console.study).count("recorded") == 1


def test_two_servers_share_one_file(tmp_path):
    one = Console(study(tmp_path))
    two = Console(Study.open(SQLiteStore(tmp_path / "study.db")), one.tokens)
    first, second = one.client("operator"), two.client("runner")
    turns = [client.post("/api/v1/turns/next").json()["turn"]["number"] for client in (first, second)]
    assert turns == [1, 3]
    assert first.post("/api/v1/turns/3/record", json={"result": True}).status_code == 409  # the other's
    assert second.post("/api/v1/turns/3/record", json={"result": True}).status_code == 200
    assert second.post("/api/v1/turns/3/record", json={"result": False}).status_code == 409


# --- what they keep back ---

EVERYTHING = ["status", "plan", "turns", "turns/1", "turns/2", "turns/3", "results", "export"]
PAGES = ["/run", "/mirror", "/live", "/owner", "/runner", "/report"]


def same(one, two, consoles):
    """Whether two answers are alike but for the log's head, which is salted and tells nothing."""
    heads = [console.study.fold.head for console in consoles]
    texts = [
        answer.content.replace(head.encode(), b"").replace(head[:12].encode(), b"")
        for answer, head in zip((one, two), heads, strict=True)
    ]
    return texts[0] == texts[1]


def test_while_blinded_no_answer_depends_on_an_outcome(tmp_path):
    """Two studies alike in all but their outcomes give the same bytes to every role, on every page and operation."""
    day = clock(datetime.now(UTC))
    first = Study.create(plan(), SQLiteStore(tmp_path / "one.db"), clock=day)
    first._store.close()
    shutil.copy(tmp_path / "one.db", tmp_path / "two.db")
    consoles = []
    for name in ("one.db", "two.db"):
        opened = Study.open(SQLiteStore(tmp_path / name), clock=day)
        consoles.append(Console(opened, consoles[0].tokens if consoles else Console(opened).tokens))
    outcomes = [True, True, False, True]
    for console, results in zip(consoles, (outcomes, [not outcome for outcome in outcomes]), strict=True):
        client = console.client("runner")
        client.post("/api/v1/turns/next", json={"ahead": 5})
        for number, result in enumerate(results, 1):
            body = {"result": result, "request": f"word {number}"}
            assert client.post(f"/api/v1/turns/{number}/record", json=body).status_code == 200
        client.post("/api/v1/turns/4/undo", json={"reason": "wrong key"})
    seen = []
    for role in ("operator", "runner", "owner"):
        one, two = (console.client(role) for console in consoles)
        for path in [f"/api/v1/{name}" for name in EVERYTHING] + PAGES:
            answers = [client.get(path) for client in (one, two)]
            assert same(*answers, consoles), (role, path)
            seen.append(answers[0].status_code)
        posts = [
            ("turns/1/record", {"result": True, "request": "other"}),
            ("turns/next", {}),
        ]
        for path, body in posts:
            answers = [client.post(f"/api/v1/{path}", json=body) for client in (one, two)]
            assert same(*answers, consoles), (role, path)
    assert seen.count(200) >= 25


def test_only_the_runner_learns_policies_while_blinded(console):
    for role in ("operator", "owner"):
        client = console.client(role)
        answer = client.post("/api/v1/turns/next", json={"ahead": 2}).json()
        listed = [answer["turn"], *answer["ahead"], *client.get("/api/v1/turns").json()["turns"]]
        assert all("policy" not in turn for turn in [*listed, client.get(TURN).json()])
    assert console.client("runner").get(TURN).json()["policy"] in ("new", "old")
    assert console.client("runner").get("/runner").status_code == 200
    assert "<strong>new</strong>" not in console.client("runner").get("/mirror").text
    for path in ("results", "export"):
        assert console.client("owner").get(f"/api/v1/{path}").status_code == 403


def test_events_tell_progress_at_once_and_after_every_change(console):
    import urllib.request

    with threaded(console.study, console.tokens) as address:
        question = urllib.request.Request(f"{address}/api/v1/events", headers=console.bearer("operator"))
        with urllib.request.urlopen(question, timeout=20) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")

            def status():
                while not (line := stream.readline().decode()).startswith("data: "):
                    pass
                return json.loads(line[6:])

            assert status()["recorded"] == 0
            console.study.next_turn(holder="x")
            other = Study.open(SQLiteStore(console.study._store.path))
            other.record(1, True, holder="x")
            told = status()
            while told["recorded"] != 1:
                told = status()
            assert set(told) == {*DESCRIPTION["components"]["schemas"]["Status"]["properties"]}
            assert told["verdict"] is None


# --- how they describe themselves ---


def test_the_description_names_every_route(console):
    described = {
        (path, method.upper())
        for path, entry in DESCRIPTION["paths"].items()
        for method in entry
        if method != "parameters"
    }
    served = {
        (route.path.replace("{number:int}", "{number}"), method)
        for route in console.app.routes
        if getattr(route, "path", "").startswith("/api/")
        for method in route.methods - {"HEAD"}
    }
    assert described == served - {("/api/v1/openapi.json", "GET")}
    assert console.client().get("/api/v1/openapi.json").json() == json.loads(json.dumps(DESCRIPTION))


def test_statuses_fit_the_description(console):
    schema = DESCRIPTION["components"]["schemas"]
    client = console.client("runner")
    assert set(client.get("/api/v1/status").json()) <= set(schema["Status"]["properties"])
    assert set(client.post("/api/v1/turns/next").json()) == set(schema["Next"]["required"])


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
paths = st.sampled_from(
    [
        (path.replace("{number}", number), method)
        for path, entry in DESCRIPTION["paths"].items()
        for method in entry
        if method != "parameters" and not path.endswith("events")
        for number in ("1", "2", "77", "99999999999999999999")
    ]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def test_other_methods_and_paths_are_refused_as_json(console):
    client = console.client("owner")
    for method, path, status in [("DELETE", "status", 405), ("PUT", "turns/next", 405), ("GET", "nothing", 404)]:
        answer = client.request(method, f"/api/v1/{path}")
        assert answer.status_code == status
        assert answer.json()["error"]
