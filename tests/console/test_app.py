"""Tests of `surefoot.console.app`."""

from __future__ import annotations

import asyncio

import pytest

from surefoot.console import app
from surefoot.console.authentication import Door
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
    assert answer.json()["error"] == "Too many pages follow this study."


def test_events_tell_the_status_once_and_then_a_sign_of_life(console, monkeypatch):
    monkeypatch.setattr(app, "LOOK_EVERY", 0.0)
    monkeypatch.setattr(app, "SIGN_OF_LIFE", 0.0)
    service = console.app.state.service
    left = iter([False, False, False, True])

    class Page:
        async def is_disconnected(self):
            return next(left)

    async def heard():
        return [part async for part in app.Api(service, Door(console.tokens, service.id))._news(Page())]

    begin, status, *signs = asyncio.run(heard())
    assert begin == "retry: 2000\n\n"
    assert status.startswith("id: 1\nevent: status\ndata: {")
    assert signs == [": still here\n\n"] * 2
    service.closing = True
    assert asyncio.run(heard()) == ["retry: 2000\n\n"]  # a server that stops lets its pages go
