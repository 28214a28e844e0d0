"""Tests of `surefoot.console.authentication`."""

from __future__ import annotations

import stat
import time

import pytest

from surefoot._secret import Secret
from surefoot.console.app import create_app
from surefoot.console.authentication import ROLES, SESSION_SECONDS, Attempts, Session, Tokens, seal, unseal
from surefoot.errors import StudyError
from tests.support.consoles import OURS, Console, study
from tests.support.security import POSTS

GETS = ["status", "plan", "turns", "turns/1", "results", "export", "events"]
PAGES = ["/run", "/mirror", "/runner", "/live", "/owner", "/report"]


@pytest.fixture
def console(tmp_path):
    return Console(study(tmp_path))


# --- strangers ---


@pytest.mark.parametrize("path", PAGES)
def test_a_stranger_is_asked_for_a_token(console, path):
    answer = console.client().get(path)
    assert answer.status_code == 401
    assert "Join the study" in answer.text
    assert "Mug on the shelf" not in answer.text


@pytest.mark.parametrize(("method", "name"), [*[("GET", name) for name in GETS], *[("POST", name) for name in POSTS]])
def test_no_operation_without_a_token(console, method, name):
    path = f"/api/v1/{name}"
    assert console.client().request(method, path).status_code == 401
    wrong = console.client().request(method, path, headers={"Authorization": "Bearer not-the-token-at-all"})
    assert wrong.status_code == 401
    assert wrong.json()["error"] == "The token is wrong."
    basic = console.client().request(method, path, headers={"Authorization": f"Basic {console.tokens.owner.reveal()}"})
    assert basic.status_code == 401


def test_wrong_tokens_are_limited_for_joining_and_for_scripts(console):
    client = console.client()
    for _ in range(10):
        assert client.post("/join", data={"token": "x" * 24}, headers=OURS).status_code == 401
    wrong = client.post("/join", data={"token": "x" * 24}, headers=OURS)
    assert wrong.status_code == 429
    assert int(wrong.headers["retry-after"]) > 0
    assert client.get("/api/v1/status", headers={"Authorization": "Bearer yesterday's"}).status_code == 429


def test_right_tokens_are_served_after_ten_wrong_ones_from_the_same_address(console):
    client = console.client()
    for _ in range(12):
        client.get("/api/v1/status", headers={"Authorization": "Bearer yesterday's token"})
    assert client.get("/api/v1/status", headers=console.bearer("runner")).status_code == 200
    right = client.post("/join", data={"token": console.tokens.owner.reveal()}, headers=OURS, follow_redirects=False)
    assert right.status_code == 303


def test_those_who_joined_before_are_not_locked_out(console):
    browser = console.browser("operator")
    for _ in range(12):
        console.client().post("/join", data={"token": "x" * 24}, headers=OURS)
    assert browser.post("/api/v1/turns/next").status_code == 200


def test_attempts_are_forgotten_after_a_minute_and_memory_is_bounded():
    now = [0.0]
    attempts = Attempts(most=2, seconds=60, clock=lambda: now[0])
    attempts.failed("a")
    attempts.failed("a")
    assert attempts.wait("a") == 60
    assert attempts.wait("b") == 0
    now[0] = 60.5
    assert attempts.wait("a") == 0
    for number in range(20_000):
        attempts.failed(str(number))
    assert len(attempts._wrong) <= 10_001


def test_the_cookie_is_strict_and_holds_no_token(console):
    answer = console.client().post(
        "/join", data={"token": console.tokens.owner.reveal()}, headers=OURS, follow_redirects=False
    )
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert console.tokens.owner.reveal() not in cookie
    assert "Secure" not in cookie
    secure = create_app(console.study, console.tokens, secure=True)
    from starlette.testclient import TestClient

    client = TestClient(secure, base_url="https://localhost", headers={"Origin": "https://localhost"})
    answer = client.post("/join", data={"token": console.tokens.owner.reveal()}, follow_redirects=False)
    assert "Secure" in answer.headers["set-cookie"]


def test_leaving_ends_the_session(console):
    browser = console.browser("operator")
    browser.post("/leave")
    assert browser.get("/run").status_code == 401


def test_a_changed_or_old_cookie_or_another_token_is_nobody():
    tokens, session = Tokens.fresh(), Session("operator", "abcd", "Ann", browser=True)
    cookie = seal(session, tokens)
    assert unseal(cookie, tokens) == session
    assert unseal(cookie, Tokens.fresh()) is None
    assert unseal(cookie, tokens, time.time() + SESSION_SECONDS + 1) is None
    text, mark = cookie.split(".")
    forged = seal(Session("owner", "abcd", "Ann"), Tokens.fresh()).split(".")[0]
    bad = [
        f"{forged}.{mark}",
        f"{text}.{mark[:-1]}",
        f"{text}.",
        text,
        "",
        "é.é",
        f"{text}é.{mark}",
        ".",
        "e30.x",
        "W10.x",
    ]
    assert [unseal(value, tokens) for value in bad] == [None] * len(bad)


def test_tokens_are_kept_for_their_owner_only(tmp_path):
    path = tmp_path / "tokens.json"
    tokens = Tokens.kept(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Tokens.kept(path) == tokens
    assert all(getattr(tokens, role).reveal() not in repr(tokens) for role in ROLES)
    path.write_text("{}")
    with pytest.raises(StudyError, match="tokens cannot be used"):
        Tokens.kept(path)


def test_tokens_must_be_long_and_different():
    with pytest.raises(StudyError, match="at least 16 characters"):
        Tokens(*map(Secret, ("short", "b" * 20, "c" * 20)))
    with pytest.raises(StudyError, match="a token of its own"):
        Tokens(*map(Secret, ("a" * 20, "a" * 20, "c" * 20)))


def test_what_was_entered_for_another_study_is_not_taken(console):
    answer = console.client("owner").get("/api/v1/status", headers={"X-Surefoot-Study": "another"})
    assert (answer.status_code, answer.json()["error"]) == (421, "Another study is served here now.")
