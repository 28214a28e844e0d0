"""Tests of `surefoot.console.service`."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from surefoot.console import service
from surefoot.console.openapi import DESCRIPTION
from surefoot.study.stores.sqlite import SQLiteStore
from surefoot.study.studies import Study
from tests.support.consoles import Console, clock, plan, ran, study, threaded
from tests.support.operations import kinds

TURN = "/api/v1/turns/1"


@pytest.fixture
def console(tmp_path):
    return Console(study(tmp_path))


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


def test_a_report_that_cannot_be_written_says_why(tmp_path):
    answer = Console(study(tmp_path, blinded=False)).client("owner").get("/report")
    assert answer.status_code == 409
    assert "The report cannot be written: " in answer.text


def test_a_report_is_written_once_for_each_version_of_the_log(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(service, "_written", lambda _: written.append(1) or f"page {len(written)}")
    console = Console(study(tmp_path, blinded=False))
    client = console.client("owner")
    assert [client.get("/report").text for _ in range(2)] == ["page 1", "page 1"]
    client.post("/api/v1/turns/next")
    assert client.get("/report").text == "page 2"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"rule": "exact", "horizon": 20},
        {"measure": "score", "low": -1.0, "high": 5.0},
        {"measure": "score", "levels": (0.25, 0.5)},
        {"policies": ("a", "b", "c"), "rule": "closed"},
    ],
)
def test_a_server_that_prepares_leaves_its_study_as_it_is(tmp_path, changes):
    made = study(tmp_path, **changes)
    serving = service.Service(made)
    before = serving._study.fold.decision
    asyncio.run(serving.prepare())
    assert serving._study.fold.decision is before
    made.refresh()
    assert made.version == serving.version == 1
    serving.close()


def test_after_preparing_the_first_pair_loads_nothing(tmp_path):
    """The first who completed a pair waited a fifth of a second and more for what the rule computes with."""
    study(tmp_path).store.close()
    script = (
        "import asyncio, sys; from surefoot.console.service import Service;"
        "from surefoot.console.authentication import Session; from surefoot.study.studies import Study\n"
        f"serving, who = Service(Study.open({str(tmp_path / 'study.db')!r})), Session('operator', 'x')\n"
        "async def pair():\n"
        "    await serving.prepare(); before = set(sys.modules)\n"
        "    for number in (1, 2):\n"
        "        await serving.ask('next', who, holder='x', ahead=0, lease=None)\n"
        "        await serving.ask('record', who, number=number, result=True, attempt=1, request=str(number),"
        " duration=1.0, holder='x')\n"
        "    print(sorted(set(sys.modules) - before))\n"
        "asyncio.run(pair()); serving.close()"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"
