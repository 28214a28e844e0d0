"""Tests of `surefoot.console.middleware`."""

from __future__ import annotations

import pytest

from surefoot.console.middleware import HEADERS, MOST_BYTES
from tests.support.consoles import HERE, Console, study
from tests.support.security import POSTS

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


# --- floods ---


@pytest.mark.parametrize("path", ["/join", "/api/v1/checks"])
def test_a_large_body_is_refused_with_or_without_its_length(console, path):
    client = console.client("owner")
    large = b'{"note": "' + b"x" * MOST_BYTES + b'"}'
    assert client.post(path, content=large).status_code == 413
    assert client.post(path, content=iter([large[:1000], large[1000:]])).status_code == 413
    assert client.post(path, content=b"{}", headers={"Content-Length": "9" * 30}).status_code == 413
    assert client.post(path, content=b"{}", headers={"Content-Length": "-5"}).status_code == 400
