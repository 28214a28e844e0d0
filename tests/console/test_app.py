"""Tests of `surefoot.console.app`."""

from __future__ import annotations

import pytest

from surefoot.console import app
from tests.support.consoles import Console, study


@pytest.fixture
def console(tmp_path):
    return Console(study(tmp_path))


def test_other_methods_and_paths_are_refused_as_json(console):
    client = console.client("owner")
    for method, path, status in [
        ("DELETE", "status", 405),
        ("PUT", "turns/next", 405),
        ("GET", "turns/next", 405),
        ("GET", "nothing", 404),
    ]:
        answer = client.request(method, f"/api/v1/{path}")
        assert answer.status_code == status
        assert answer.json()["error"]


def test_a_listener_too_many_is_told_to_wait(console, monkeypatch):
    monkeypatch.setattr(app, "MOST_LISTENERS", 0)
    answer = console.client("owner").get("/api/v1/events")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "6")
    assert answer.json()["error"] == "Too many pages are listening."
