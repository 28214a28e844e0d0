"""Tests of tokens for one person or robot: the log's names are proved (R25)."""

from __future__ import annotations

import pytest

from surefoot._secret import Secret
from surefoot.cli.main import run
from surefoot.console.authentication import Tokens
from surefoot.errors import StudyError
from surefoot.study.conduct import conduct_of
from surefoot.study.studies import Study
from tests.support.consoles import HERE, OURS, Console, study


@pytest.fixture
def console(tmp_path):
    return Console(study(tmp_path), Tokens.kept(tmp_path / "study.db.tokens.json"))


def invited(console, tmp_path, name, role="operator", *more):
    """The token that `surefoot study invite` prints while the server runs."""
    assert run(["study", "invite", name, str(tmp_path / "study.db"), "--role", role, *more]) == 0
    kept = Tokens.kept(tmp_path / "study.db.tokens.json").invited
    return next((one.token for one in kept if one.name == name), Secret(""))


def bearer(token, name=""):
    headers = {"Authorization": f"Bearer {token.reveal()}"}
    return headers | ({"X-Surefoot-Name": name} if name else {})


def joined(console, token, name):
    from starlette.testclient import TestClient

    client = TestClient(console.app, base_url=HERE, headers=OURS)
    answer = client.post("/join", data={"token": token.reveal(), "name": name}, follow_redirects=False)
    return client, answer


@pytest.mark.parametrize("name", ["owner", "Owner", " OWNER ", "\u043ewner", "runner", "operator", "local"])
def test_a_shared_token_cannot_call_itself_by_a_role(console, name):
    from urllib.parse import quote

    headers = console.bearer("operator", quote(name))
    answer = console.client().post("/api/v1/checks", json={"items": []}, headers=headers)
    assert answer.status_code == 403
    assert "is taken" in answer.json()["error"]
    assert joined(console, console.tokens.operator, name)[1].status_code == 403
    next_one = console.client("operator").post("/api/v1/turns/next", json={"holder": name})
    assert next_one.status_code == 403
    assert console.study.version == 1


@pytest.mark.parametrize("name", ["anna", "Anna", "\u0430nna", "anna/left", "an\u200bna"])
def test_a_name_with_a_token_of_its_own_cannot_be_claimed_without_it(console, tmp_path, name, capsys):
    from urllib.parse import quote

    token = invited(console, tmp_path, "anna")
    turn = console.client().post("/api/v1/turns/next", headers=bearer(token)).json()["turn"]
    assert turn["holder"] == "anna"
    script, path = console.client(), f"/api/v1/turns/{turn['number']}/record"
    shared = console.bearer("operator")
    assert (
        script.post(path, json={"result": True}, headers=shared | {"X-Surefoot-Name": quote(name)}).status_code == 403
    )
    assert script.post(path, json={"result": True, "holder": name}, headers=shared).status_code == 403
    assert joined(console, console.tokens.operator, name)[1].status_code == 403
    assert not console.study.recall().results


def test_the_log_holds_the_name_that_a_token_proves_and_no_other(console, tmp_path, capsys):
    token = invited(console, tmp_path, "arm-1", "runner")
    script = console.client()
    turn = script.post("/api/v1/turns/next", json={"holder": "owner"}, headers=bearer(token, "owner")).json()["turn"]
    assert turn["policy"]
    assert turn["holder"] == "arm-1/owner"
    path = f"/api/v1/turns/{turn['number']}/record"
    assert (
        script.post(path, json={"result": True, "holder": "owner"}, headers=bearer(token, "owner")).status_code == 200
    )
    events = console.study.fold.history
    assert (events[-1].kind, events[-1].author, events[-1].role) == ("recorded", "arm-1", "runner")
    assert [(one.body["name"], one.body["role"]) for one in events if one.kind == "invited"] == [("arm-1", "runner")]
    assert [one.name for one in conduct_of(console.study.fold).scorers] == ["arm-1 (own token)"]


def test_two_robots_with_their_own_tokens_cannot_record_each_others_turns(console, tmp_path, capsys):
    one, two = (invited(console, tmp_path, name, "runner") for name in ("arm-1", "arm-2"))
    script = console.client()
    turn = script.post("/api/v1/turns/next", headers=bearer(one)).json()["turn"]
    for claim in ({}, {"holder": "arm-1"}):
        path = f"/api/v1/turns/{turn['number']}/record"
        assert script.post(path, json={"result": True, **claim}, headers=bearer(two, "arm-1")).status_code == 409


def test_a_browser_that_was_invited_needs_no_name_and_keeps_its_own(console, tmp_path, capsys):
    token = invited(console, tmp_path, "anna")
    client, answer = joined(console, token, "somebody else")
    assert answer.status_code == 303
    turn = client.post("/api/v1/turns/next").json()["turn"]
    assert client.post(f"/api/v1/turns/{turn['number']}/record", json={"result": True}).status_code == 200
    assert console.study.fold.history[-1].author == "anna"
    invited(console, tmp_path, "anna", "operator", "--end")
    assert client.get("/run").status_code == 401
    assert console.client().get("/api/v1/status", headers=bearer(token)).status_code == 401


def test_a_script_hands_its_own_turns_back_under_the_name_it_gave(console, tmp_path, capsys):
    token = invited(console, tmp_path, "arm-1", "runner")
    script, me = console.client(), bearer(token, "host-7")
    turn = script.post("/api/v1/turns/next", json={"holder": "host-7"}, headers=me).json()["turn"]
    answer = script.post("/api/v1/release", json={"holder": "host-7"}, headers=me)
    assert answer.json()["turns"] == [turn["number"]]


@pytest.mark.parametrize("name", ["", " anna", "owner", "a/b", "x" * 61, "anna (0123abcd)", "unnamed@x/1/1", "a\nb"])
def test_names_that_nobody_can_have(console, tmp_path, name, capsys):
    assert run(["study", "invite", name, str(tmp_path / "study.db")]) != 0
    assert "`name` must" in capsys.readouterr().err
    assert Tokens.kept(tmp_path / "study.db.tokens.json").invited == ()


def test_invite_prints_a_link_and_replaces_an_earlier_token(console, tmp_path, capsys):
    first = invited(console, tmp_path, "anna", "operator", "--address", "http://10.0.0.5:8765/")
    assert f"http://10.0.0.5:8765/join#{first.reveal()}" in capsys.readouterr().out
    second = invited(console, tmp_path, "anna")
    script = console.client()
    assert script.get("/api/v1/status", headers=bearer(first)).status_code == 401
    assert script.get("/api/v1/status", headers=bearer(second)).status_code == 200
    assert run(["study", "invite", "ben", str(tmp_path / "study.db"), "--end"]) != 0
    assert run(["study", "invite", "ben", str(tmp_path / "study.db"), "--role", "king"]) != 0
    assert "operator, runner, owner" in capsys.readouterr().err


def test_a_study_with_invitations_verifies_and_opens(console, tmp_path, capsys):
    invited(console, tmp_path, "anna")
    assert run(["study", "verify", str(tmp_path / "study.db")]) == 0
    assert Study.open(str(tmp_path / "study.db")).status().recorded == 0


def test_two_names_may_not_share_a_token():
    tokens = Tokens.fresh()
    with pytest.raises(StudyError, match="a token of its own"):
        Tokens(tokens.operator, tokens.operator, tokens.owner)
