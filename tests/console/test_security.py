"""What the console refuses: other sites, strangers, floods, and markup in people's words."""

from __future__ import annotations

import re
import stat
import time
from pathlib import Path

import pytest

import surefoot.console
from surefoot._secret import Secret
from surefoot.console.app import create_app
from surefoot.console.authentication import ROLES, SESSION_SECONDS, Attempts, Session, Tokens, seal, unseal
from surefoot.console.middleware import HEADERS, MOST_BYTES
from surefoot.console.serving import Place, serve
from surefoot.errors import StudyError
from tests.consoles import HERE, OURS, Console, ran, study

FILES = Path(surefoot.console.__file__).parent
POSTS = [
    "turns/next",
    "turns/1/record",
    "turns/1/undo",
    "turns/1/void",
    "release",
    "checks",
    "amend",
    "unblind",
    "override",
]
GETS = ["status", "plan", "turns", "turns/1", "results", "export", "events"]
PAGES = ["/run", "/mirror", "/runner", "/live", "/owner", "/report"]


@pytest.fixture
def console(tmp_path):
    return Console(study(tmp_path))


# --- other sites ---


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:9999"},
        {"Origin": HERE, "Sec-Fetch-Site": "cross-site"},
        {"Origin": HERE, "Sec-Fetch-Site": "same-site"},
        {"Origin": HERE, "Sec-Fetch-Site": "none"},
    ],
)
@pytest.mark.parametrize("path", ["/join", "/leave", *[f"/api/v1/{name}" for name in POSTS]])
def test_a_post_from_another_site_is_refused(console, path, headers):
    browser = console.browser("owner")
    before = console.study.version
    answer = browser.post(path, headers=headers, json={"reason": "r", "result": True})
    assert answer.status_code == 403
    assert answer.json()["error"] == "The request comes from another site."
    assert console.study.version == before


def test_a_cookie_alone_posts_nothing(console):
    browser = console.browser("owner")
    del browser.headers["Origin"]
    answer = browser.post("/api/v1/turns/next")
    assert answer.status_code == 403
    assert "our own page" in answer.json()["error"]
    assert browser.post("/api/v1/turns/next", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_a_browsers_own_word_counts_behind_a_proxy_that_ends_tls(console):
    browser = console.browser("operator")
    headers = {"Origin": "https://localhost", "Sec-Fetch-Site": "same-origin"}
    assert browser.post("/api/v1/turns/next", headers=headers).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "[bad"])
def test_another_name_is_not_answered(console, host):
    answer = console.client("owner").get("/api/v1/status", headers={"Host": host})
    assert answer.status_code == 421


def test_every_answer_has_the_strict_headers(console):
    client = console.client("owner")
    paths = ["/", "/join", *PAGES, "/nothing", "/static/console.css", "/static/../app.py"]
    for path in [*paths, *[f"/api/v1/{name}" for name in GETS if name != "events"]]:
        answer = client.get(path)
        for name, value in HEADERS.items():
            if (path, name) not in {("/static/console.css", "cache-control")}:
                assert answer.headers[name] == value, (path, name)
    refused = client.post("/api/v1/checks", headers={"Origin": "https://evil.example"})
    assert refused.headers["content-security-policy"] == HEADERS["content-security-policy"]
    assert "unsafe" not in HEADERS["content-security-policy"]
    assert "access-control-allow-origin" not in refused.headers


def test_pages_need_no_inline_script_or_style_and_no_other_site(console):
    client = console.browser("owner")
    for page in [client.get(path).text for path in ("/run", "/live", "/owner", "/mirror", "/join")]:
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", page)
    for file in [*FILES.glob("templates/*"), *FILES.glob("static/*")]:
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|(?:src|href)=\"//", text), file.name
        assert not re.search(r"innerHTML\s*=|insertAdjacentHTML|eval\(|document\.write", text), file.name


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


def test_pages_show_no_token_but_the_operators_to_the_owner(console):
    for role in ROLES:
        browser = console.browser(role)
        for path in PAGES:
            text = browser.get(path).text
            assert console.tokens.runner.reveal() not in text
            assert console.tokens.owner.reveal() not in text
            assert (console.tokens.operator.reveal() in text) == (role == "owner" and path == "/owner")


# --- floods ---


@pytest.mark.parametrize("path", ["/join", "/api/v1/checks"])
def test_a_large_body_is_refused_with_or_without_its_length(console, path):
    client = console.client("owner")
    large = b'{"note": "' + b"x" * MOST_BYTES + b'"}'
    assert client.post(path, content=large).status_code == 413
    assert client.post(path, content=iter([large[:1000], large[1000:]])).status_code == 413
    assert client.post(path, content=b"{}", headers={"Content-Length": "9" * 30}).status_code == 413
    assert client.post(path, content=b"{}", headers={"Content-Length": "-5"}).status_code == 400


# --- people's words ---

NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def test_every_text_is_escaped(tmp_path):
    nasty = {
        "title": NASTY,
        "reset": NASTY,
        "policies": (NASTY, "old"),
        "tasks": (NASTY,),
        "conditions": (f"{NASTY} left",),
        "void_reasons": (NASTY,),
    }
    console = Console(study(tmp_path, **nasty))
    owner, runner = console.browser("owner", NASTY[:60]), console.browser("runner", NASTY[:60])
    ran(owner, [True, False])
    owner.post("/api/v1/turns/next")
    pages = [owner.get(path).text for path in ("/run", "/mirror", "/owner", "/live")] + [runner.get("/runner").text]
    owner.post("/api/v1/unblind", json={"reason": NASTY})
    pages += [owner.get(path).text for path in ("/live", "/owner")]
    for page in pages:
        assert "alert(1)" in page
        assert "<script>alert" not in page
        assert "<img src=x" not in page


# --- the network ---


def test_only_this_machine_is_served_by_default():
    assert Place().host == "127.0.0.1"


def test_a_taken_port_is_said(tmp_path):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = Place(port=taken.getsockname()[1])
        with pytest.raises(StudyError, match="cannot be listened at: Address already in use"):
            serve(study(tmp_path), Tokens.fresh(), place)
